"""The values of a memory as plain data for JSON: what `--json` prints and tools return."""

from collections.abc import Mapping
from typing import Any

from .entry import Entry
from .results import (
    Answer,
    Changed,
    Commit,
    Document,
    Evaluation,
    Finding,
    Forgotten,
    Hit,
    Purge,
    Recall,
    Reindexed,
    Restored,
    Saved,
    Standing,
    Stats,
)

Data = dict[str, Any]


def entry(item: Entry) -> Data:
    """Everything about one entry."""
    return {
        "name": item.name,
        "slug": item.slug,
        "path": item.path,
        "description": item.description,
        "content": item.content,
        "aliases": list(item.aliases),
        "tags": list(item.tags),
        "version": item.version,
    }


def recall(found: Recall) -> Data:
    """The answer to a query."""
    hits = [_hit(hit) for hit in found]
    left_out = list(found.left_out)
    return {"query": found.query, "hits": hits, "searched": found.searched, "note": found.note, "left_out": left_out}


def saved(item: Saved) -> Data:
    """What remembering did."""
    return {
        "name": item.entry.name,
        "slug": item.entry.slug,
        **changed(item),
    }


def changed(item: Changed) -> Data:
    """What writing a whole file did."""
    return {
        "path": item.path,
        "version": item.version,
        "commit": item.commit,
        "created": item.created,
        "diff": item.diff,
        "warnings": list(item.warnings),
    }


def forgotten(item: Forgotten) -> Data:
    """What forgetting did."""
    return {"name": item.name, "path": item.path, "commit": item.commit}


def reindexed(item: Reindexed) -> Data:
    """What reading everything anew came to."""
    return {"entries": item.entries, "embedder": item.embedder, "dimension": item.dimension, "made": item.made}


def restored(item: Restored) -> Data:
    """What going back did."""
    return {"commit": item.commit, "to": item.to, "paths": list(item.paths), "diff": item.diff}


def purge(item: Purge) -> Data:
    """What a purge will do, or did."""
    done = {key: value for key, value in vars(item).items() if key not in ("is_done", "standing")}
    found = item.standing
    return {**done, "entries": list(item.entries), "paths": list(item.paths), "purged": item.is_done,
            "standing": standing(found) if found else None}  # fmt: skip


def standing(item: Standing) -> Data:
    """A look at all that there is."""
    return {"objects": item.objects, "files": item.files, "bytes": item.size, "places": list(item.places)}


def document(item: Document) -> Data:
    """A whole file."""
    return {"path": item.path, "text": item.text, "version": item.version}


def commit(item: Commit) -> Data:
    """One line of the log."""
    return {
        "commit": item.commit,
        "time": item.time.isoformat(),
        "author": item.author,
        "subject": item.subject,
        "tool": item.tool,
        "agent": item.agent,
        "session": item.session,
        "paths": list(item.paths),
    }


def stats(item: Stats) -> Data:
    """How much there is, and how often it spoke."""
    return {**vars(item), "since": item.since.isoformat() if item.since else None}


def finding(item: Finding) -> Data:
    """One thing `doctor` says."""
    return {"level": item.level, "check": item.check, "path": item.path, "message": item.message}


def evaluation(item: Evaluation) -> Data:
    """How good recall is, and was."""
    past = None
    if item.past:
        better, worse = ([_pair(*pair) for pair in pairs] for pairs in (item.better, item.worse))
        past = {**_standing(item.past), "better": better, "worse": worse}
    return {"limit": item.limit, "elsewhere": len(item.elsewhere), **_standing(item), "past": past}


def _standing(item: Evaluation) -> Data:
    misses = [_answer(answer) for answer in item.misses]
    return {"questions": len(item.answers), "figures": item.figures, "misses": misses}


def _answer(answer: Answer) -> Data:
    question = answer.question
    return {
        "query": question.query,
        "find": list(question.find),
        "first": question.first,
        "missing": list(answer.missing),
        "found": [hit.entry.slug for hit in answer.recall],
        "figures": answer.figures.by_name(),
    }


def _pair(then: Answer, now: Answer) -> Data:
    return {"query": now.question.query, "past": _answer(then), "now": _answer(now)}


def _hit(hit: Hit) -> Data:
    plain: Mapping[str, Any] = entry(hit.entry)
    why = [{"word": it.word, "field": it.field, "added": it.added} for it in hit.matches]
    return {
        **plain,
        "content": hit.shown,
        "is_cut": hit.passage is not None,
        "score": hit.score,
        **({"matches": why} if why else {}),
    }
