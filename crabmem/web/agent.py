"""Memory as an agent has it: what recall answers and why, what is said before a message, and the prompt."""

from collections import Counter
from typing import Any, get_args

from ..operations import context, recall
from ..prompt.profile import Kind
from ..results import Hit
from ..tools import guide
from .asking import Ask, Page

_LIMIT = 20


def search(ask: Ask) -> Page:
    """Show what recall answers to `q`, with the share of each word, and what memory would say before `message`."""
    query, message, as_of, blame = (ask.query.one(name).strip() for name in ("q", "message", "as_of", "blame"))
    shown: dict[str, Any] = {"title": "Recall", "q": query, "message": message, "as_of": as_of, "found": None}
    shown["blame"] = bool(blame)  # asked for separately: it is slow where there are many facts
    if query:
        found = recall.recall(ask.session, query, _LIMIT, explain=True, blame=bool(blame), as_of=as_of or None)
        best = max((hit.score for hit in found), default=0.0)
        shown |= {"found": found, "rows": [(hit, _shares(hit), hit.score / best if best else 0.0) for hit in found]}
    if message:
        shown |= {
            "said": context.would_say(ask.session, message),
            "confidence": context.confidence(ask.session, message),
            "threshold": ask.session.settings.auto_recall.threshold,
        }
    return Page("recall", shown)


def _shares(hit: Hit) -> list[tuple[str, float, str]]:
    """Return each word of the question, the largest share first: its share of what words added, and its fields."""
    added, fields = Counter[str](), dict[str, dict[str, None]]()
    for match in hit.matches:
        added[match.word] += match.added  # type: ignore[assignment]
        fields.setdefault(match.word, {})[match.field] = None
    total = sum(added.values()) or 1
    return [(word, share / total, ", ".join(fields[word])) for word, share in added.most_common()]


def prompt(ask: Ask) -> Page:
    """Show what goes before a conversation of one kind: the account as a picture, and the text."""
    kinds = get_args(Kind)
    asked = ask.query.one("kind")
    kind: Kind = asked if asked in kinds else "main"  # type: ignore[assignment]
    found = guide.context(ask.session, kind)
    files = sum(part.injected for part in found.parts)
    return Page("prompt", {"title": "Prompt", "context": found, "kinds": kinds, "rest": found.characters - files})
