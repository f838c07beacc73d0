"""Embedders make vectors of texts: what a trial tells of one, and the pieces of texts that it takes in whole."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..errors import EmbedderFailed

Array = np.ndarray[Any, Any]

#: Sentences on a dozen subjects. No two of them mean the same to anybody.
UNRELATED = (
    "The cat sleeps on the warm stove.",
    "Invoices are paid within thirty days.",
    "How do I reset the router?",
    "The river flooded the old bridge in spring.",
    "She plays the violin in an orchestra.",
    "Compile the program with debug symbols.",
    "Bake the bread for forty minutes.",
    "The train to the coast leaves at noon.",
    "His knee hurts after running.",
    "Parliament voted on the new tax.",
    "The battery of the phone is empty.",
    "Tomatoes need sun and water.",
)
# Standard deviations above the mean. The nearest of some hundreds of unrelated entries is hardly ever so near.
_DEVIATIONS = 4.0
_MIN_FLOOR = 0.25
_MAX_BASE = 0.95

#: Words of a piece; a language that writes without spaces, or in letters of many bytes, has as much by its bytes.
WORDS = 180
BYTES = 1_200
#: Pieces of a text at most; what comes after them is found by its words.
PIECES = 100


class Embedder(Protocol):
    """Makes vectors of texts. One that has an `identity`, a text, need not show who it is by what it makes."""

    def embed(self, texts: Sequence[str], /) -> Array:
        """Vectors for `texts`: float32, shape (len(texts), dimension), rows of unit length, or of zeros."""


@dataclass(frozen=True)
class Model:
    """What is known of an embedder once it has been tried.

    `identity` is another when its vectors are. `base` is the cosine of texts that have nothing in common, `floor`
    the likeness from which on two texts have.
    """

    identity: str
    dimension: int
    base: float
    floor: float

    def likeness(self, cosines: Array) -> Array:
        """Cosines on the same scale for all models: 1 is the same, 0 has nothing in common."""
        likeness: Array = (cosines - self.base) / (1 - self.base)
        return likeness


def probe(embedder: Embedder) -> Model:
    """Try `embedder` on a few unrelated sentences, and return what is known of it then.

    Without an `identity` of its own, its class and a digest of its vectors identify it.

    Raises:
        EmbedderFailed: the embedder fails, or returns no vectors.
    """
    rows = embed_checked(embedder, UNRELATED)
    apart = (rows @ rows.T)[np.triu_indices(len(rows), 1)]
    base = min(max(float(apart.mean()), 0.0), _MAX_BASE)
    floor = max(_MIN_FLOOR, _DEVIATIONS * float(apart.std()) / (1 - base))
    seen = hashlib.sha256((np.round(rows, 2) + 0.0).tobytes()).hexdigest()[:16]
    sign = f"{type(embedder).__module__}.{type(embedder).__qualname__} {seen}"
    return Model(identity(embedder) or sign, rows.shape[1], base, floor)


def identity(embedder: Embedder) -> str:
    """Return the `identity` of an embedder; "" when it has none.

    Raises:
        EmbedderFailed: reading its `identity` fails.
    """
    try:
        return str(getattr(embedder, "identity", "")).encode("utf-8", "replace").decode()
    except Exception as error:  # it may be anybody's
        raise _failed(embedder, error) from error


def embed_checked(embedder: Embedder, texts: Sequence[str]) -> Array:
    """Return the vectors that `embedder` makes of `texts`, checked and of unit length.

    Raises:
        EmbedderFailed: the embedder raised any error, or returned another shape, or values that are not finite.
    """
    try:
        rows = np.asarray(embedder.embed(texts), dtype=np.float32)
    except EmbedderFailed:
        raise
    except Exception as error:  # it may be anybody's
        raise _failed(embedder, error) from error
    if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1]:
        raise EmbedderFailed(f"{type(embedder).__name__} gave an array of {rows.shape} for {len(texts)} texts")
    if not np.isfinite(rows).all():
        raise EmbedderFailed(f"{type(embedder).__name__} gave vectors that are not made of numbers")
    return unit_rows(rows)


def unit_rows(rows: Array) -> Array:
    """`rows`, each of unit length, or of zeros as it was."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Array = rows / np.where(lengths > 0, lengths, 1)
    return unit


def _failed(embedder: Embedder, error: Exception) -> EmbedderFailed:
    reason = " ".join(str(error).split())
    return EmbedderFailed(f"{type(embedder).__name__} failed: {type(error).__name__}{reason and f': {reason}'}")


def pieces(text: str) -> list[str]:
    """Cut a text into pieces that an embedder takes in whole, at most `PIECES`; the nearest one counts for the text.

    A text without words has one empty piece.
    """
    found, words, size = list[str](), list[str](), 0
    for word in _words(text):
        length = len(word.encode("utf-8", "replace")) + 1
        if words and (len(words) == WORDS or size + length > BYTES):
            found.append(" ".join(words))
            words, size = [], 0
        if len(found) == PIECES:
            return found
        words.append(word)
        size += length
    return [*found, " ".join(words)] if words or not found else found


def _words(text: str) -> list[str]:
    # A character has four bytes at most.
    step = BYTES // 4
    return [word[at : at + step] for word in text.split() for at in range(0, len(word), step)]
