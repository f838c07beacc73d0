"""Search by an app's own embeddings, as LangGraph's stores do it: the score is the cosine of the nearest text."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, cast

from langgraph.store.base import IndexConfig, ensure_embeddings, get_text_at_path

from ...errors import EmbedderFailed
from ...memory import Memory
from ...operations import keyvalue
from ...text.entry import Entry
from .values import paths_of, value_of

if TYPE_CHECKING:
    from ...embeddings.embedder import Array

#: The event loop that waits for what this thread does; embeddings are then asked there, as they may be asynchronous.
WAITING_LOOP: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("WAITING_LOOP", default=None)
_WHOLE = ("$",)
T = TypeVar("T")


class Embedding:
    """The embeddings of an app, as memory asks an embedder."""

    def __init__(self, config: IndexConfig) -> None:
        self.embeddings = ensure_embeddings(config["embed"])
        self._dims = config["dims"]

    @property
    def identity(self) -> str:
        """Who makes the vectors, where that has a name; "" else."""
        own = self.embeddings
        model = next((name for key in ("model", "model_name") if (name := getattr(own, key, None))), None)
        return f"{type(own).__module__}.{type(own).__qualname__} {model} {self._dims}" if isinstance(model, str) else ""

    def embed(self, texts: Sequence[str], /) -> "Array":
        """The vectors of texts."""
        rows = _vectors(self.embeddings.embed_documents, self.embeddings.aembed_documents, list(texts))
        if rows.shape != (len(texts), self._dims):
            raise EmbedderFailed(
                f"the embeddings gave vectors of shape {rows.shape}; index says {self._dims} dimensions"
            )
        return rows

    def question(self, query: str) -> "Array":
        """The vector of a question, of unit length."""
        import numpy as np

        row = _vectors(self.embeddings.embed_query, self.embeddings.aembed_query, query)
        return row / (np.linalg.norm(row) or 1)


def _vectors(embed: Callable[[T], Any], aembed: Callable[[T], Coroutine[Any, Any, Any]], given: T) -> "Array":
    """What embeddings make of what is given, on the event loop that waits for it if there is one."""
    import numpy as np

    loop = WAITING_LOOP.get()
    vectors = embed(given) if loop is None else asyncio.run_coroutine_threadsafe(aembed(given), loop).result()
    return np.asarray(vectors, dtype=np.float32)


class Vectors:
    """The items of a memory by the vectors of their texts, which are made when a search first comes upon them."""

    def __init__(self, memory: Memory, config: IndexConfig) -> None:
        self._memory = memory
        self._embedding = Embedding(config)
        # LangGraph's own store in memory calls them `fields`, those over SQL `text_fields`.
        self._fields = config.get("fields") or cast("Mapping[str, list[str]]", config).get("text_fields") or _WHOLE
        self.embeddings = self._embedding.embeddings

    def ranked(self, query: str, entries: Sequence[Entry]) -> list[tuple[Entry, float]]:
        """The entries that have a text which is searched, nearest first, with their cosines from 0 to 1."""
        texts = [(entry, self._texts(entry)) for entry in entries]
        every = list(dict.fromkeys(text for _, some in texts for text in some))
        if not every:
            return []
        rows = keyvalue.vectors_of(self._memory, self._embedding, every)
        near = dict(zip(every, (rows @ self._embedding.question(query)).tolist(), strict=True))
        found = [(entry, max(near[text] for text in some)) for entry, some in texts if some]
        found.sort(key=lambda each: -each[1])
        return [(entry, min(max(cosine, 0.0), 1.0)) for entry, cosine in found]

    def _texts(self, entry: Entry) -> list[str]:
        paths, value = paths_of(entry), value_of(entry)
        return [text for path in (self._fields if paths is None else paths) for text in get_text_at_path(value, path)]
