"""Who can make vectors. Another one is a class with `embed`, a row here, and its name in the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import EmbedderFailed
from . import local
from .embedder import Embedder


@dataclass(frozen=True)
class EmbedderOptions:
    """The embedder that a person asked for; `key` is the key itself. Relative paths start from the folder `within`."""

    model: str
    url: str = ""
    key: str = ""
    timeout: float = 5.0
    within: Path = Path()
    may_download: bool = False


@dataclass(frozen=True)
class Provider:
    """A kind of embedder. `needs` are the fields of `EmbedderOptions` that must be given.

    `is_at_hand` returns whether it can be used as things are, without a download; `made` makes the embedder.
    """

    needs: tuple[str, ...]
    is_at_hand: Callable[[EmbedderOptions], bool]
    made: Callable[[EmbedderOptions], Embedder]


def _local(wanted: EmbedderOptions) -> Embedder:
    return local.Model2Vec(wanted.model, wanted.within, wanted.may_download)


def _http(wanted: EmbedderOptions) -> Embedder:
    from .http import Http

    return Http(wanted.url, wanted.model, wanted.key, wanted.timeout)


#: In the order in which "auto" asks.
PROVIDERS: dict[str, Provider] = {
    "model2vec": Provider(("model",), lambda wanted: local.is_at_hand(wanted.model, wanted.within), _local),
    "http": Provider(("url",), lambda wanted: bool(wanted.url), _http),
}


def choose_embedder(provider: str, wanted: EmbedderOptions) -> tuple[str, Embedder]:
    """Return the name of the provider, for "auto" of the first that is at hand, and the embedder that it makes.

    Raises:
        EmbedderFailed: the provider lacks a setting, its library or its model; the message names which.
    """
    able = [name for name, row in PROVIDERS.items() if all(getattr(wanted, need) for need in row.needs)]
    if provider == "auto":
        # None at hand: making the first one raises an error that names what is missing.
        provider = next((name for name in able if PROVIDERS[name].is_at_hand(wanted)), able[0])
    elif provider not in able:
        needs = " and ".join(f"vectors.{need}" for need in PROVIDERS[provider].needs)
        raise EmbedderFailed(f"vectors.provider is {provider}, which needs {needs}")
    return provider, PROVIDERS[provider].made(wanted)
