"""Search by an app's own embeddings, as in LangGraph's stores: an item's score is the cosine of its nearest text."""

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

#: The event loop on which a task waits for this thread. Embeddings are then computed there, as they may be coroutines
#: that belong to that loop.
WAITING_LOOP: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("WAITING_LOOP", default=None)
# The path that means all of a value.
_WHOLE = ("$",)
T = TypeVar("T")


class Embedding:
    """An app's embeddings in the form of our embedders (`embeddings.embedder`)."""

    def __init__(self, config: IndexConfig) -> None:
        self.embeddings = ensure_embeddings(config["embed"])
        self._dims = config["dims"]

    @property
    def identity(self) -> str:
        """The key of cached vectors: class, model and dimensions; "" if the embeddings name no model."""
        own = self.embeddings
        model = next((name for key in ("model", "model_name") if (name := getattr(own, key, None))), None)
        return f"{type(own).__module__}.{type(own).__qualname__} {model} {self._dims}" if isinstance(model, str) else ""

    def embed(self, texts: Sequence[str], /) -> "Array":
        """Return the vectors of texts, a row for each.

        Raises:
            EmbedderFailed: they have not as many dimensions as the index says.
        """
        rows = _vectors(self.embeddings.embed_documents, self.embeddings.aembed_documents, list(texts))
        return self._checked(rows, (len(texts), self._dims))

    def question(self, query: str) -> "Array":
        """Return the vector of a question, scaled to unit length.

        Raises:
            EmbedderFailed: it has not as many dimensions as the index says.
        """
        import numpy as np

        row = _vectors(self.embeddings.embed_query, self.embeddings.aembed_query, query)
        return self._checked(row, (self._dims,)) / (np.linalg.norm(row) or 1)

    def _checked(self, rows: "Array", shape: tuple[int, ...]) -> "Array":
        if rows.shape != shape:
            raise EmbedderFailed(
                f"the embeddings gave vectors of shape {rows.shape}; index says {self._dims} dimensions"
            )
        return rows


def _vectors(embed: Callable[[T], Any], aembed: Callable[[T], Coroutine[Any, Any, Any]], given: T) -> "Array":
    """Return what embeddings make of `given`: by `aembed` on the event loop that waits for this thread, if there is
    one; else by `embed` here.
    """
    import numpy as np

    loop = WAITING_LOOP.get()
    vectors = embed(given) if loop is None else asyncio.run_coroutine_threadsafe(aembed(given), loop).result()
    return np.asarray(vectors, dtype=np.float32)


class Vectors:
    """Ranks the items of a memory by the vectors of their texts, which the first search that needs them computes."""

    def __init__(self, memory: Memory, config: IndexConfig) -> None:
        self._memory = memory
        self._embedding = Embedding(config)
        # The paths that are searched in an item that names none. LangGraph's InMemoryStore calls them `fields`, its
        # stores over SQL `text_fields`.
        self._fields = config.get("fields") or cast("Mapping[str, list[str]]", config).get("text_fields") or _WHOLE
        self.embeddings = self._embedding.embeddings

    def ranked(self, query: str, entries: Sequence[Entry]) -> list[tuple[Entry, float]]:
        """Return the entries with the cosines of their nearest texts, cut to 0 to 1, nearest first.

        Entries without a text that is searched are left out.
        """
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
        """Return the texts in an entry's value by which it is searched."""
        paths, value = paths_of(entry), value_of(entry)
        return [text for path in (self._fields if paths is None else paths) for text in get_text_at_path(value, path)]
