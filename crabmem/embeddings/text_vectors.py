"""Vectors of any texts, by a digest of each, for callers with an embedder of their own; kept beside the index."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..disk.derived import Cache
from ..disk.fork_lock import Guard
from ..text.hashes import blob_id
from .embedder import Array, Embedder, embed_checked
from .table import VectorTable, load, matching

_BATCH_TEXTS = 64
_MIN_UNSAVED = 32
# Above it, vectors of texts that nobody asked for in this process may be dropped.
_MAX_TEXTS = 50_000


class TextVectors:
    """The vectors of the texts that one embedder was asked for; another one begins anew."""

    def __init__(self, private: Path, file: str) -> None:
        """`file` is the name of the derived file in `disk/state`, below the folder `private`."""
        self._cache = Cache(private, file)
        self._maker: Embedder | None = None
        self._kept: VectorTable | None = None
        #: Keys that this process asked for: they stay when the file has too many.
        self._asked = set[bytes]()
        self._unsaved = 0
        self._guard = Guard()

    def of(self, embedder: Embedder, texts: Sequence[str]) -> Array:
        """Return the vectors of `texts`, of unit length; make those that are not known, and save them now and then.

        Raises:
            EmbedderFailed: the embedder cannot make them.
        """
        kept = self._matching(embedder)
        keys = {text: bytes.fromhex(blob_id(text.encode("utf-8", "replace"))) for text in texts}
        missing = [text for text, key in keys.items() if key not in kept]
        for start in range(0, len(missing), _BATCH_TEXTS):
            some = missing[start : start + _BATCH_TEXTS]
            rows = embed_checked(embedder, some)
            kept.check_dimension(rows.shape[1])
            new = {keys[text]: row[None] for text, row in zip(some, rows, strict=True)}
            kept = kept.plus(new)
            with self._guard:
                if self._maker is embedder and self._kept is not None:
                    self._kept, self._unsaved = self._kept.plus(new), self._unsaved + len(new)
        with self._guard:
            self._asked.update(keys.values())
            if self._unsaved >= _MIN_UNSAVED:
                self._save()
        return kept.first([keys[text] for text in texts])

    def save(self) -> None:
        """Keep for the next process what was made, where there is a place."""
        with self._guard:
            if self._unsaved:
                self._save()

    def _matching(self, embedder: Embedder) -> VectorTable:
        """Return the vectors known of `embedder`, from memory or else the file; forget those of another one."""
        with self._guard:
            if self._cache.renew():
                self._kept = None  # it has vectors of what was purged
            if self._kept is not None and self._maker is embedder:
                return self._kept
        # Without the guard: code of the embedder runs here, and may wait for a thread that waits for the guard.
        kept = matching(load(self._cache.place), embedder)
        with self._guard:
            if self._kept is None or self._maker is not embedder:
                self._maker, self._kept, self._unsaved = embedder, kept, 0
            return self._kept

    def _save(self) -> None:
        self._unsaved = 0
        if self._cache.renew():
            self._kept = None
        with suppress(OSError):
            self._cache.keep(self._put)

    def _put(self, file: Path) -> None:
        if self._kept is not None:
            self._kept = self._kept.saved(file, self._asked if len(self._kept) > _MAX_TEXTS else None)
