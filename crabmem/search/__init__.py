"""Search: ranks documents of words for a query of words. Knows nothing of files, entries or Git.

A process that only asks imports neither numpy nor bm25s, `re` nor `typing`: they cost more than the answer.
"""

from .cache import load, save
from .index import Index, Ranked
from .segment import Document
from .tokens import rules, tokens

__all__ = ["SIGNS", "Document", "Index", "Ranked", "load", "rules", "save", "tokens"]

#: Without one of these a question is words only: `query`, which few need, has nothing to see there.
SIGNS = frozenset('"*“„«')
