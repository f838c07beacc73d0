"""Vectors from a model on this machine: model2vec's, which are tables of words and need neither torch nor a GPU."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..disk.fork_lock import Guard, loading
from ..errors import EmbedderFailed
from ..text.extras import how_to_get

if TYPE_CHECKING:
    from model2vec import StaticModel

    from .embedder import Array


_FILES = ["*.json", "*.safetensors", "README.md"]
# The identity of a model is a hash of every 97th row of its table: fast, and other models differ there.
_SAMPLED_EVERY = 97


class Model2Vec:
    """A model in a folder, or by its name on Hugging Face when it lies in the cache already.

    A model that is neither is fetched only with `may_download`; nothing else ever uses the network.

    Raises:
        EmbedderFailed: the library or the model is not on this machine.
    """

    def __init__(self, model: str, within: Path = Path(), may_download: bool = False) -> None:
        """`within` is the folder that a relative path such as "./model" starts from."""
        if not is_installed():
            raise EmbedderFailed(f"the local model {model} needs model2vec: `{how_to_get('vectors')}`")
        folder = _folder(model, within) or _cached(model, may_download)
        self._model = _loaded(folder)
        self._guard = Guard()
        table = self._model.embedding
        sign = hashlib.sha256(f"{table.shape}".encode() + table[::_SAMPLED_EVERY].tobytes()).hexdigest()[:16]
        self.identity = f"model2vec {sign}"

    def embed(self, texts: Sequence[str], /) -> Array:
        """Vectors for `texts`; one of zeros for a text of unknown words."""
        with self._guard:  # its tokenizer is not for several threads
            return self._model.encode(texts, normalize=True, use_multiprocessing=False)


def is_at_hand(model: str, within: Path) -> bool:
    """Whether a model can be loaded without a download."""
    try:
        return is_installed() and bool(_folder(model, within) or _cached(model, may_download=False))
    except EmbedderFailed:
        return False


def is_installed() -> bool:
    """Whether the extra is installed; nothing is loaded to know it."""
    return importlib.util.find_spec("model2vec") is not None


def folder_of(model: str, within: Path) -> Path | None:
    """Return the folder that `model` is the path of; None for a name on Hugging Face.

    A path begins with "/", "~", "./" or "../", so that a folder which happens to have a model's name is not taken.
    """
    if not model.startswith(("/", "~", "./", "../")):
        return None
    try:
        return within / Path(model).expanduser()
    except RuntimeError:  # nobody here has that home
        return within / model


def _folder(model: str, within: Path) -> Path | None:
    """Return the folder that `model` is the path of; None for a name.

    Raises:
        EmbedderFailed: there is no such folder.
    """
    folder = folder_of(model, within)
    if folder and not folder.is_dir():
        raise EmbedderFailed(f"there is no folder {folder} with a model")
    return folder


def _cached(model: str, may_download: bool) -> Path:
    """Return the folder of a model in the cache of Hugging Face, into which it is fetched with `may_download`.

    Raises:
        EmbedderFailed: `model` is no name of a model there, or the model is not in the cache and was not fetched.
    """
    if "/" not in model:  # the name of a service's, say: nothing is loaded to know that
        raise EmbedderFailed(f"{model} is neither a folder nor a name like minishlab/potion-base-8M")
    with loading():
        from huggingface_hub import snapshot_download
    try:
        return Path(snapshot_download(model, allow_patterns=_FILES, local_files_only=not may_download))
    except Exception as error:
        if may_download:
            raise EmbedderFailed(f"the model {model} could not be fetched: {_first_line(error)}") from error
        raise EmbedderFailed(
            f"the model {model} is not on this machine; `crabmem doctor --reindex` fetches it from Hugging Face"
        ) from error


def _loaded(folder: Path) -> StaticModel:
    with loading():
        from model2vec import StaticModel
    try:
        return StaticModel.from_pretrained(folder)  # what is a folder is not looked for elsewhere
    except Exception as error:
        raise EmbedderFailed(f"{folder} holds no model of model2vec: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
