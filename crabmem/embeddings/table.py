"""Vectors by the keys of their texts, and the file they are kept in: derived, and disposable at any time.

A file that is not whole, not ours, or of another embedder counts as absent. Writers do not wait for one another: the
file is exchanged whole, with what others have put there meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec
import numpy as np

from ..disk import derived
from ..errors import EmbedderFailed
from ..text.structs import converted
from .embedder import Array, Embedder, Model, identity, probe, unit_rows

_LABEL = "vectors 2"
_KEY_BYTES = 20
# Half of what an embedder gives: what is lost changes no order that anybody would see.
_STORED_FLOAT = "<f2"
#: Keys that nobody asks for any more are dropped when they outnumber both the others and this.
SPARE = 1_000


class _Head(msgspec.Struct):
    model: Model
    keys: int
    rows: int


class VectorTable:
    """The vectors of texts, some of several pieces. Immutable: threads may share it, `plus` and `only` make others."""

    def __init__(self, model: Model, keys: Collection[bytes] = (), starts: Array | None = None,
                 rows: Array | None = None) -> None:  # fmt: skip
        self.model = model
        #: By key its place, a number: the pieces of place n are the rows from `_starts[n]` to `_starts[n + 1]`.
        self._at = {key: at for at, key in enumerate(keys)}
        self._starts = np.zeros(1, np.int64) if starts is None else starts
        self._rows = np.zeros((0, model.dimension), np.float32) if rows is None else rows

    def __len__(self) -> int:
        return len(self._at)

    def __contains__(self, key: bytes) -> bool:
        return key in self._at

    def check_dimension(self, dimension: int) -> None:
        """Refuse vectors of another dimension than these have.

        Raises:
            EmbedderFailed: `dimension` differs.
        """
        if dimension != self.model.dimension:
            both = f"{dimension} and of {self.model.dimension}"
            raise EmbedderFailed(f"vectors of {both} dimensions came from one embedder")

    def places(self, keys: Collection[bytes]) -> Array:
        """Return the place of each key; for an unknown key the place behind the last, where `cosines` has NaN."""
        return np.fromiter((self._at.get(key, len(self._at)) for key in keys), np.int64, len(keys))

    def cosines(self, vector: Array) -> Array:
        """By place, the cosine of the piece that is nearest to `vector`; NaN behind the last."""
        found = np.full(len(self) + 1, np.nan, np.float32)
        if len(self):
            found[:-1] = np.maximum.reduceat(self._rows @ vector, self._starts[:-1])
        return found

    def first(self, keys: Collection[bytes]) -> Array:
        """The vector of the first piece of each key; all have to be there. Of unit length, or zeros."""
        return unit_rows(self._rows[self._starts[self.places(keys)]])

    def plus(self, others: Mapping[bytes, Array]) -> VectorTable:
        """Return a table with `others`, too: by key a row for each piece, at least one. Keys that are here stay."""
        new = {key: rows for key, rows in others.items() if key not in self}
        if not new:
            return self
        starts = np.concatenate([self._starts, self._starts[-1] + np.cumsum([len(rows) for rows in new.values()])])
        rows = np.concatenate([self._rows, *new.values()])
        return VectorTable(self.model, [*self._at, *new], starts, rows.astype(_STORED_FLOAT).astype(np.float32))

    def only(self, keys: Collection[bytes]) -> VectorTable:
        """Return a table with only the vectors of `keys`."""
        left = [key for key in self._at if key in keys]
        return VectorTable(self.model).plus({key: self._of(key) for key in left})

    def without_spare(self, keys: Collection[bytes] | None) -> VectorTable:
        """Return a table with only the vectors of `keys` if there are many others (see `SPARE`); itself for None."""
        if keys is None:
            return self
        used = sum(key in self for key in keys)
        return self.only(keys) if len(self) - used > max(used, SPARE) else self

    def _of(self, key: bytes) -> Array:
        at = self._at[key]
        rows: Array = self._rows[self._starts[at] : self._starts[at + 1]]
        return rows

    def saved(self, file: Path, keys: Collection[bytes] | None) -> VectorTable:
        """Write these vectors, and those that `file` has of the same model, into `file`; return all that it has then.

        `keys` are those still in use: many others are dropped. None keeps them all.

        Raises:
            OSError: the file cannot be written.
        """
        other = load(file)
        both = self.plus({key: other._of(key) for key in other._at}) if other and other.model == self.model else self
        both = both.without_spare(keys)
        derived.save(file, both._packed())
        return both

    def _packed(self) -> bytes:
        head = msgspec.json.encode(_Head(self.model, len(self), len(self._rows)))
        arrays = (self._starts.astype("<u4"), self._rows.astype(_STORED_FLOAT))
        return derived.packed(_LABEL, b"".join([head, b"\n", *self._at, *(array.tobytes() for array in arrays)]))


def matching(kept: VectorTable | None, embedder: Embedder) -> VectorTable:
    """Return `kept` if its vectors are of `embedder`, else an empty table.

    The embedder is tried (`probe`), which may take long, unless its `identity` is that of the table.

    Raises:
        EmbedderFailed: reading its `identity` fails, or it makes no vectors.
    """
    if kept is not None and kept.model.identity == identity(embedder):
        return kept
    model = probe(embedder)
    return kept if kept is not None and kept.model == model else VectorTable(model)


def load(file: Path) -> VectorTable | None:
    """The table kept in `file`; None where it is not to be trusted."""
    body = derived.load(file, _LABEL)
    try:
        return None if body is None else _unpacked(bytes(body))
    except (ValueError, msgspec.DecodeError):
        return None


def _unpacked(data: bytes) -> VectorTable:
    """Return the table that `_packed` wrote: a line of JSON, then the keys, the starts and the rows without gaps."""
    at = data.index(b"\n") + 1
    head = converted(msgspec.json.decode(data[:at]), _Head)
    end = at + head.keys * _KEY_BYTES
    keys = [data[here : here + _KEY_BYTES] for here in range(at, end, _KEY_BYTES)]
    starts = np.frombuffer(data, "<u4", head.keys + 1, end).astype(np.int64)
    rows = np.frombuffer(data, _STORED_FLOAT, head.rows * head.model.dimension, end + starts.size * 4)
    return VectorTable(head.model, keys, starts, rows.reshape(head.rows, head.model.dimension).astype(np.float32))
