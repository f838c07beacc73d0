"""Search: ranks documents of words for a query of words. Knows nothing of files, entries or Git.

A process that asks once imports neither numpy nor bm25s: they cost more than the answer.
"""

from .cache import load, save
from .index import Index, Ranked
from .segment import Document
from .tokens import rules, tokens

__all__ = ["Document", "Index", "Ranked", "load", "rules", "save", "tokens"]
