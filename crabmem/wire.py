"""The values of a memory as plain data for JSON: what `--json` prints and tools return."""

from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, cast

from msgspec.structs import asdict

from .operations.traces import Digest, Line, News, Sightings
from .results import (
    Agent,
    Answer,
    Begun,
    Bisected,
    Changed,
    Commit,
    Document,
    Evaluation,
    Finding,
    Forgotten,
    Hit,
    Links,
    Proposal,
    Proposed,
    Provenance,
    Purge,
    Recall,
    Reference,
    Reindexed,
    Renamed,
    Restored,
    Reverted,
    Saved,
    Standing,
    Stats,
)
from .text.edit import shown
from .text.entry import Entry
from .text.merge import Conflicting

if TYPE_CHECKING:
    from .prompt.compaction import Due
    from .prompt.context import Context

Data = dict[str, Any]


class EntryData(TypedDict):
    """Everything about one entry."""

    name: str
    slug: str
    path: str
    description: str
    content: str
    aliases: list[str]
    tags: list[str]
    version: str


class HitData(EntryData):
    """An entry that recall found; `content` is the passage that matched where it `is_cut`.

    `kind` is "note" for a daily note, which is no entry, and left out for all else.
    """

    is_cut: bool
    score: float
    kind: NotRequired[Literal["note"]]
    matches: NotRequired[list[Data]]
    provenance: NotRequired[Data]


class RecallData(TypedDict):
    """The answer to a query: the hits, best first, of so many entries `searched`."""

    query: str
    as_of: NotRequired[str]
    hits: list[HitData]
    searched: int
    note: str
    left_out: list[str]


class ChangedData(TypedDict):
    """A file that was written: `commit` is null when it said so already."""

    path: str
    version: str
    commit: str | None
    created: bool
    diff: str
    warnings: list[str]


class SavedData(ChangedData):
    """An entry that was written."""

    name: str
    slug: str


class DocumentData(TypedDict):
    """A whole file as it is, byte order mark and line breaks too; `version` is null while there is none."""

    path: str
    text: str
    version: str | None


class IdentityData(ChangedData):
    """The identity after a write; with a `proposal`, its id, it is as it was, and a person decides."""

    proposal: NotRequired[str]


class ForgottenData(TypedDict):
    """An entry that is gone from memory."""

    name: str
    path: str
    commit: str | None


class CommitData(TypedDict):
    """One commit; what it does not say is null."""

    commit: str
    time: str
    author: str
    subject: str
    tool: str | None
    agent: str | None
    session: str | None
    paths: list[str]


def entry(item: Entry) -> EntryData:
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


def recall(found: Recall) -> RecallData:
    """The answer to a query."""
    data: RecallData = {
        "query": found.query,
        "hits": [_hit(hit) for hit in found],
        "searched": found.searched,
        "note": found.note,
        "left_out": list(found.left_out),
    }
    if found.as_of:
        data["as_of"] = found.as_of
    return data


def saved(item: Saved) -> SavedData:
    """What remembering did."""
    return {
        "name": item.entry.name,
        "slug": item.entry.slug,
        **changed(item),
    }


def changed(item: Changed) -> ChangedData:
    """What writing a whole file did."""
    return {
        "path": item.path,
        "version": item.version,
        "commit": item.commit,
        "created": item.created,
        "diff": item.diff,
        "warnings": list(item.warnings),
    }


def identity(item: Changed) -> IdentityData:
    """What writing the identity did, or proposing to."""
    own = {"proposal": item.proposal.id} if isinstance(item, Proposed) else {}
    return cast(IdentityData, {**changed(item), **own})


def proposal(item: Proposal) -> Data:
    """What waits for a person to decide."""
    told = {key: value for key, value in vars(item).items() if key not in ("data", "base")}
    return {**told, "time": item.time.isoformat(), "text": shown(item.data)}


def forgotten(item: Forgotten) -> ForgottenData:
    """What forgetting did."""
    return {"name": item.name, "path": item.path, "commit": item.commit}


def reindexed(item: Reindexed) -> Data:
    """What reading everything anew came to."""
    return asdict(item)


def restored(item: Restored) -> Data:
    """What going back did."""
    undone = {"operation": commit(item.operation)} if item.operation else {}
    files = {"paths": list(item.paths), "removed": list(item.removed), "diff": item.diff}
    return {"commit": item.commit, "to": item.to, **undone, **files}


def reverted(item: Reverted) -> Data:
    """What taking commits back did."""
    commits, in_part = ([each.commit for each in found] for found in (item.commits, item.in_part))
    told = {"commit": item.commit, "reverted": commits, "in_part": in_part}
    return {**told, "paths": list(item.paths), "diff": item.diff}


def conflicts(error: Conflicting) -> Data:
    """Why commits could not be taken back."""
    return {"conflicts": [vars(conflict) for conflict in error.conflicts]}


def purge(item: Purge) -> Data:
    """What a purge will do, or did."""
    done = {key: value for key, value in asdict(item).items() if key not in ("is_done", "standing")}
    found = item.standing
    lists = {key: list(done[key]) for key in ("entries", "erased", "paths", "nested")}
    return {**done, **lists, "purged": item.is_done, "standing": standing(found) if found else None}


def standing(item: Standing) -> Data:
    """A look at all that there is."""
    figures = {"objects": item.objects, "files": item.files, "bytes": item.size}
    return {**figures, "places": list(item.places), "unread": list(item.unread)}


def begun(item: Begun) -> Data:
    """What a workspace was given to begin with."""
    names = {"path": item.root, "made": item.made, "commit": item.commit}
    return {**names, "paths": list(item.paths), "left": list(item.left)}


def agent(item: Agent) -> Data:
    """An agent that has a workspace of its own."""
    written = item.written.isoformat() if item.written else None
    return {"name": item.name, "path": item.root, "entries": item.entries, "written": written}


def due(item: "Due") -> Data:
    """What is due of a window."""
    words = {"prompt": item.prompt, "warning": item.warning, "silent": item.silent}
    return {"due": list(item.steps), "thresholds": item.thresholds, **words}


def document(item: Document) -> DocumentData:
    """A whole file."""
    return {"path": item.path, "text": item.text, "version": item.version}


def context(item: "Context") -> Data:
    """What goes before a conversation, by its parts; without the text."""
    parts = [
        {**asdict(part), "raw_tokens": part.raw_tokens, "injected_tokens": part.injected_tokens} for part in item.parts
    ]
    limits = {"file": item.most_of_a_file, "total": item.most_of_all, "shares": dict(item.shares)}
    totals = {"characters": item.characters, "tokens": item.tokens}
    return {"kind": item.kind, "parts": parts, "limits": limits, **totals, "tools": list(item.tools)}


def links(item: Links) -> Data:
    """What leads where."""
    kinds = {"out": item.out, "in": item.into, "broken": item.broken}
    return {"path": item.path, **{kind: [reference(each) for each in found] for kind, found in kinds.items()}}


def reference(item: Reference) -> Data:
    """One link."""
    return {"path": item.path, "target": item.target, "to": item.to}


def renamed(item: Renamed) -> Data:
    """What renaming did."""
    return {**asdict(item), "paths": list(item.paths), "left": list(item.left)}


def commit(item: Commit) -> CommitData:
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


def line(item: Line) -> Data:
    """One line of a blamed file."""
    return {**vars(item), "time": item.time.isoformat() if item.time else None}


def provenance(item: Provenance) -> Data:
    """Where a fact comes from."""
    learned, changed = (each and _brief(each) for each in (item.learned, item.changed))
    people = {"authors": list(item.authors), "is_confirmed": item.is_confirmed, "is_recorded": item.is_recorded}
    return {"learned": learned, "changed": changed, **people}


def sightings(found: Sightings) -> Data:
    """When something was known."""
    steps = [
        {
            "what": step.what,
            "name": step.name,
            "path": step.path,
            "before": list(step.before),
            "after": list(step.after),
            **_brief(step.commit),
        }
        for step in found.steps
    ]
    return {
        "query": found.query,
        "is_exact": found.is_exact,
        "steps": steps,
        "now": list(found.now),
        "unrecorded": list(found.unrecorded),
    }


def digest(item: Digest) -> Data:
    """What some time brought."""
    kinds = {"learned": item.learned, "changed": item.changed, "dropped": item.dropped, "passing": item.passing}
    news = {kind: [_news(each) for each in found] for kind, found in kinds.items()}
    ends = {"since": item.since, "until": item.until}
    return {**ends, "commits": len(item.commits), "authors": list(item.authors), **news}


def _news(item: News) -> Data:
    commits = [_brief(each) for each in item.commits]
    named = {"name": item.name, "path": item.path, "description": item.description}
    return {**named, "authors": list(item.authors), "commits": commits}


def _brief(item: Commit) -> Data:
    """Which commit it was, when and whose."""
    return {key: value for key, value in commit(item).items() if key != "paths"} | {"is_person": item.is_person}


def bisected(item: Bisected) -> Data:
    """Who changed an answer."""
    return {
        "commit": commit(item.commit) if item.commit else None,
        "suspects": [commit(suspect) for suspect in item.suspects],
        "good": item.good,
        "bad": item.bad,
        "looked_at": item.looked_at,
        "commits": item.commits,
    }


def stats(item: Stats) -> Data:
    """How much there is, and how often it spoke."""
    return {**asdict(item), "since": item.since.isoformat() if item.since else None}


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


def _hit(hit: Hit) -> HitData:
    own = {"content": hit.shown, "is_cut": hit.passage is not None, "score": hit.score}
    data = cast(HitData, {**entry(hit.entry), **own})
    if hit.entry.is_note:
        data["kind"] = "note"
    if hit.matches:
        data["matches"] = [{"word": it.word, "field": it.field, "added": it.added} for it in hit.matches]
    if hit.provenance:
        data["provenance"] = provenance(hit.provenance)
    return data
