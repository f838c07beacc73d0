"""Search: ranks documents of words for a query of words. Knows nothing of files, entries or Git."""

from .bm25 import Index, Ranked
from .tokens import tokens

__all__ = ["Index", "Ranked", "tokens"]
