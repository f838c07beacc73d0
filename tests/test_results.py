"""The JSON of every public result, key by key: what `--json` prints and tools return is a contract."""

import json
import pickle
from datetime import UTC, datetime

import pytest

from crabmem import MassLoss, Memory, Stale
from crabmem.errors import PurgeWaits
from crabmem.prompt.compaction import Due
from crabmem.prompt.context import Context, ContextRow
from crabmem.results import (
    Agent,
    Answer,
    Begun,
    Bisected,
    Changed,
    Commit,
    Digest,
    Document,
    Evaluation,
    Finding,
    Forgotten,
    Hit,
    Line,
    Links,
    Match,
    News,
    Proposal,
    Proposed,
    ProposedFile,
    Provenance,
    Purge,
    Recall,
    Reference,
    Reindexed,
    Renamed,
    Restored,
    Reverted,
    Saved,
    Sighting,
    Sightings,
    Standing,
    Stats,
    json_of,
)
from crabmem.text.entry import Entry
from crabmem.text.evaluation import Expectation, Figures
from crabmem.text.merge import Conflict, Conflicting

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
COMMIT = Commit(
    "c" * 40,
    NOW,
    "coder",
    "remember: Luna",
    "remember",
    "coder",
    "s-42",
    entries=("Luna",),
    paths=("memory/entries/luna.md",),
    parents=("b" * 40,),
)
PERSON = Commit("d" * 40, NOW, "Ann", "edit: luna.md")
ENTRY = Entry("memory/entries/luna.md", "0123456789ab", "Luna", "the dog", "A vet.", ("dog",), ("pets",), keys={"x": 1})
NOTE = Entry("memory/2026-11-20.md", "ba9876543210", "note of 2026-11-20", "in it", "Walked.", is_note=True)
CHANGED = ("memory/MEMORY.md", "0123456789ab", "c" * 40, False, "-a\n+b\n", ("mind",), lambda: None)
PROPOSAL = Proposal(
    "e" * 40,
    NOW,
    "coder",
    "coder",
    None,
    "soul: Crab.md",
    "why",
    (ProposedFile("Crab.md", b"new\n", b"old\n"),),
    "-old\n+new\n",
)
REFERENCE = Reference("a.md", "Luna", "memory/entries/luna.md")
STANDING = Standing(3, 4, 500, ("a pack",), ("old.zip", "locked"), ("locked",))
STANDING_JSON = {
    "objects": 3,
    "files": 4,
    "bytes": 500,
    "places": ["a pack"],
    "unread": ["old.zip", "locked"],
    "unreadable": ["locked"],
}
HIT = Hit(ENTRY, 1.5)
MATCHES = (Match("walk", "content", 0.25),)
FULL_HIT = Hit(NOTE, 0.5, "Wal…", MATCHES, Provenance(COMMIT, None, ("coder",), False, True), (3, 9), 0.5)
RIGHT = Answer(Expectation("dog", ("Luna",)), Recall("dog", (HIT,), 1, 0, True), (), True, Figures(1, 1, 1, 1, 1))
WRONG = Answer(
    Expectation("cat", ("Tom",), first=True), Recall("cat", (), 1, 0, True), ("Tom",), False, Figures(0, 0, 0, 0, 0)
)
PAST = Answer(WRONG.question, Recall("cat", (HIT,), 1, 0, True), (), True, Figures(0, 1, 1, 0.5, 0.5))

#: The JSON of what stands in several results.
ENTRY_JSON = {
    "name": "Luna",
    "slug": "luna",
    "path": "memory/entries/luna.md",
    "description": "the dog",
    "content": "A vet.",
    "aliases": ["dog"],
    "tags": ["pets"],
    "version": "0123456789ab",
}
_COMMIT: dict[str, object] = {
    "commit": "c" * 40,
    "time": "2026-11-20T09:30:00+00:00",
    "author": "coder",
    "subject": "remember: Luna",
    "tool": "remember",
    "agent": "coder",
    "session": "s-42",
}
_PERSON: dict[str, object] = {
    "commit": "d" * 40,
    "time": "2026-11-20T09:30:00+00:00",
    "author": "Ann",
    "subject": "edit: luna.md",
    "tool": None,
    "agent": None,
    "session": None,
}
COMMIT_JSON, COMMIT_BRIEF = {**_COMMIT, "paths": ["memory/entries/luna.md"]}, {**_COMMIT, "is_person": False}
PERSON_JSON, PERSON_BRIEF = {**_PERSON, "paths": []}, {**_PERSON, "is_person": True}
CHANGED_JSON = {
    "path": "memory/MEMORY.md",
    "version": "0123456789ab",
    "commit": "c" * 40,
    "created": False,
    "diff": "-a\n+b\n",
    "warnings": ["mind"],
}
WRONG_JSON = {
    "query": "cat",
    "find": ["Tom"],
    "first": True,
    "missing": ["Tom"],
    "found": [],
    "figures": {"r@1": 0, "r@5": 0, "r@10": 0, "mrr": 0, "ndcg@10": 0},
}
PURGE = (("Luna",), ("a.md",), 9, 2, 1, 3, 1, 0, 4, 0, {"log": 2}, {"origin": "x"}, {"y": "z"}, ("sub",), ("b.md",))
PURGE_JSON = {
    "facts": ["Luna"],
    "paths": ["a.md"],
    "commits": 9,
    "rewritten": 2,
    "messages": 1,
    "versions": 3,
    "refs": 1,
    "signatures": 0,
    "unreachable": 4,
    "leftovers": 0,
    "copies": {"log": 2},
    "remotes": {"origin": "x"},
    "unknown": {"y": "z"},
    "nested": ["sub"],
    "erased": ["b.md"],
    "purged": False,
    "standing": None,
}

CASES = {
    "entry": (ENTRY, ENTRY_JSON),
    "recall": (
        Recall("dog", (HIT, FULL_HIT), 7, 0, True, left_out=("Tom",), as_of="a" * 40),
        {
            "query": "dog",
            "hits": [
                {**ENTRY_JSON, "is_cut": False, "score": 1.5},
                {
                    "name": "note of 2026-11-20",
                    "slug": "2026-11-20",
                    "path": "memory/2026-11-20.md",
                    "description": "in it",
                    "content": "Wal…",
                    "aliases": [],
                    "tags": [],
                    "version": "ba9876543210",
                    "is_cut": True,
                    "score": 0.5,
                    "kind": "note",
                    "matches": [{"word": "walk", "field": "content", "added": 0.25}],
                    "provenance": {
                        "learned": COMMIT_BRIEF,
                        "changed": None,
                        "authors": ["coder"],
                        "is_confirmed": False,
                        "is_recorded": True,
                    },
                    "lines": [3, 9],
                    "by_meaning": 0.5,
                },
            ],
            "searched": 7,
            "note": "left out, as the budget holds no more: Tom; as memory was at aaaaaaaa",
            "left_out": ["Tom"],
            "as_of": "a" * 40,
        },
    ),
    "recall that found nothing": (
        Recall("dog", (), 7, 0, True),
        {"query": "dog", "hits": [], "searched": 7, "note": "no match in 7 facts", "left_out": []},
    ),
    "saved": (
        Saved(*CHANGED, entry=ENTRY),
        {"name": "Luna", "slug": "luna", **CHANGED_JSON, "like": None},
    ),
    "changed": (Changed(*CHANGED), CHANGED_JSON),
    "proposed": (
        Proposed(*CHANGED, PROPOSAL),
        {**CHANGED_JSON, "proposal": "e" * 40},
    ),
    "proposal": (
        PROPOSAL,
        {
            "id": "e" * 40,
            "time": "2026-11-20T09:30:00+00:00",
            "author": "coder",
            "agent": "coder",
            "session": None,
            "change": "soul: Crab.md",
            "reason": "why",
            "path": "Crab.md",
            "paths": ["Crab.md"],
            "diff": "-old\n+new\n",
            "clashes": False,
            "text": "new\n",
        },
    ),
    "forgotten": (
        Forgotten("Luna", "memory/entries/luna.md", None),
        {"name": "Luna", "path": "memory/entries/luna.md", "commit": None},
    ),
    "reindexed": (
        Reindexed(3, "http", 256, 2, 5),
        {"facts": 3, "embedder": "http", "dimension": 256, "made": 2, "sections": 5},
    ),
    "restored": (
        Restored("c" * 40, "b" * 40, ("a.md",), "-a\n", ("b.md",)),
        {
            "commit": "c" * 40,
            "to": "b" * 40,
            "paths": ["a.md"],
            "removed": ["b.md"],
            "diff": "-a\n",
        },
    ),
    "undone": (
        Restored(None, "b" * 40, (), "", operation=COMMIT),
        {
            "commit": None,
            "to": "b" * 40,
            "operation": COMMIT_JSON,
            "paths": [],
            "removed": [],
            "diff": "",
        },
    ),
    "reverted": (
        Reverted("c" * 40, (COMMIT, PERSON), ("a.md",), "-a\n", (PERSON,)),
        {
            "commit": "c" * 40,
            "reverted": ["c" * 40, "d" * 40],
            "in_part": ["d" * 40],
            "paths": ["a.md"],
            "diff": "-a\n",
        },
    ),
    "conflicts": (
        Conflicting((Conflict("a.md", "ours", None),)),
        {"conflicts": [{"path": "a.md", "ours": "ours", "theirs": None}]},
    ),
    "purge": (Purge(*PURGE), PURGE_JSON),
    "purged": (
        Purge(*PURGE, is_done=True, standing=STANDING),
        {**PURGE_JSON, "purged": True, "standing": STANDING_JSON},
    ),
    "standing": (STANDING, STANDING_JSON),
    "begun": (
        Begun("/notes", True, None, ("Crab.md",), ("memory/MEMORY.md",)),
        {"path": "/notes", "made": True, "commit": None, "paths": ["Crab.md"], "left": ["memory/MEMORY.md"]},
    ),
    "agent": (
        Agent("coder", "/notes/agents/coder", 3, NOW),
        {"name": "coder", "path": "/notes/agents/coder", "facts": 3, "written": "2026-11-20T09:30:00+00:00"},
    ),
    "due": (
        Due(("flush",), {"flush": 100}, "store", "", "NO_REPLY"),
        {"due": ["flush"], "thresholds": {"flush": 100}, "prompt": "store", "warning": "", "silent": "NO_REPLY"},
    ),
    "document": (
        Document("memory/MEMORY.md", "\ufeff# O\r\n", None),
        {"path": "memory/MEMORY.md", "text": "\ufeff# O\r\n", "version": None},
    ),
    "context": (
        Context("main", (ContextRow("overview", "ok", 10, 9, 100),), ("recall",), "text", 100, 1000, {"a": 50}),
        {
            "kind": "main",
            "parts": [
                {
                    "name": "overview",
                    "status": "ok",
                    "raw": 10,
                    "injected": 9,
                    "limit": 100,
                    "raw_tokens": 3,
                    "injected_tokens": 3,
                }
            ],
            "limits": {"file": 100, "total": 1000, "shares": {"a": 50}},
            "characters": 4,
            "tokens": 1,
            "tools": ["recall"],
        },
    ),
    "links": (
        Links("a.md", (REFERENCE,), (Reference("b.md", "a", "a.md"),), ()),
        {
            "path": "a.md",
            "out": [{"path": "a.md", "target": "Luna", "to": "memory/entries/luna.md"}],
            "in": [{"path": "b.md", "target": "a", "to": "a.md"}],
            "broken": [],
        },
    ),
    "reference": (Reference("a.md", "Tom", None), {"path": "a.md", "target": "Tom", "to": None}),
    "renamed": (
        Renamed("Luna", "Lune", "l.md", "x.md", None, ("l.md",), ("y.md",), "-a\n"),
        {
            "name": "Luna",
            "before": "Lune",
            "path": "l.md",
            "path_before": "x.md",
            "commit": None,
            "paths": ["l.md"],
            "left": ["y.md"],
            "diff": "-a\n",
        },
    ),
    "commit": (COMMIT, COMMIT_JSON),
    "line": (
        Line.of(3, "A vet.", COMMIT),
        {
            "number": 3,
            "text": "A vet.",
            "commit": "c" * 40,
            "time": "2026-11-20T09:30:00+00:00",
            "author": "coder",
            "tool": "remember",
            "agent": "coder",
            "session": "s-42",
            "is_person": False,
        },
    ),
    "line that is not recorded": (
        Line.of(3, "A vet.", None),
        {
            "number": 3,
            "text": "A vet.",
            "commit": None,
            "time": None,
            "author": None,
            "tool": None,
            "agent": None,
            "session": None,
            "is_person": True,
        },
    ),
    "provenance": (
        Provenance(COMMIT, PERSON, ("Ann", "coder"), True, False),
        {
            "learned": COMMIT_BRIEF,
            "changed": PERSON_BRIEF,
            "authors": ["Ann", "coder"],
            "is_confirmed": True,
            "is_recorded": False,
        },
    ),
    "provenance of nothing": (
        Provenance(None, None, (), False, False),
        {"learned": None, "changed": None, "authors": [], "is_confirmed": False, "is_recorded": False},
    ),
    "sightings": (
        Sightings("vet", True, (Sighting(PERSON, "appeared", "a.md", "A", (), ("A vet.",)),), ("A",), ("B",)),
        {
            "query": "vet",
            "is_exact": True,
            "steps": [
                {
                    "what": "appeared",
                    "name": "A",
                    "path": "a.md",
                    "before": [],
                    "after": ["A vet."],
                    **PERSON_BRIEF,
                }
            ],
            "now": ["A"],
            "unrecorded": ["B"],
        },
    ),
    "digest": (
        Digest(None, "c" * 40, (COMMIT, PERSON), (News("A", "a.md", "about", (PERSON, COMMIT)),), (), (), ()),
        {
            "since": None,
            "until": "c" * 40,
            "commits": 2,
            "authors": ["coder", "Ann"],
            "learned": [
                {
                    "name": "A",
                    "path": "a.md",
                    "description": "about",
                    "authors": ["Ann", "coder"],
                    "commits": [PERSON_BRIEF, COMMIT_BRIEF],
                }
            ],
            "changed": [],
            "dropped": [],
            "passing": [],
            "stale": [],
        },
    ),
    "bisected": (
        Bisected((COMMIT,), "a" * 40, "b" * 40, 3, 9),
        {
            "commit": COMMIT_JSON,
            "suspects": [COMMIT_JSON],
            "good": "a" * 40,
            "bad": "b" * 40,
            "looked_at": 3,
            "commits": 9,
        },
    ),
    "bisected in part": (
        Bisected((COMMIT, PERSON), "a" * 40, "b" * 40, 3, 9),
        {
            "commit": None,
            "suspects": [
                COMMIT_JSON,
                PERSON_JSON,
            ],
            "good": "a" * 40,
            "bad": "b" * 40,
            "looked_at": 3,
            "commits": 9,
        },
    ),
    "stats": (
        Stats(1, 2, 3, 4, 5, 6, 7, NOW),
        {
            "facts": 1,
            "unreadable": 2,
            "turns": 3,
            "spoke": 4,
            "told": 5,
            "characters": 6,
            "sessions": 7,
            "since": "2026-11-20T09:30:00+00:00",
        },
    ),
    "finding": (
        Finding("warning", "a.md", "odd", "names"),
        {"level": "warning", "check": "names", "path": "a.md", "message": "odd"},
    ),
    "evaluation": (
        Evaluation((RIGHT, WRONG), 5, (Expectation("x", ("y",)),)),
        {
            "limit": 5,
            "elsewhere": 1,
            "questions": 2,
            "figures": {"r@1": 0.5, "r@5": 0.5, "r@10": 0.5, "mrr": 0.5, "ndcg@10": 0.5, "right": 0.5},
            "misses": [WRONG_JSON],
            "past": None,
        },
    ),
    "evaluation against the past": (
        Evaluation((RIGHT, WRONG), 5, past=Evaluation((RIGHT, PAST), 5)),
        {
            "limit": 5,
            "elsewhere": 0,
            "questions": 2,
            "figures": {"r@1": 0.5, "r@5": 0.5, "r@10": 0.5, "mrr": 0.5, "ndcg@10": 0.5, "right": 0.5},
            "misses": [WRONG_JSON],
            "past": {
                "questions": 2,
                "figures": {"r@1": 0.5, "r@5": 1.0, "r@10": 1.0, "mrr": 0.75, "ndcg@10": 0.75, "right": 1.0},
                "misses": [],
                "better": [],
                "worse": [
                    {
                        "query": "cat",
                        "past": {
                            "query": "cat",
                            "find": ["Tom"],
                            "first": True,
                            "missing": [],
                            "found": ["luna"],
                            "figures": {"r@1": 0, "r@5": 1, "r@10": 1, "mrr": 0.5, "ndcg@10": 0.5},
                        },
                        "now": WRONG_JSON,
                    }
                ],
            },
        },
    ),
}


@pytest.mark.parametrize(("value", "data"), CASES.values(), ids=CASES)
def test_the_json_of_a_result(value: object, data: object) -> None:
    made = json_of(value)
    assert json.dumps(made) == json.dumps(data)  # in this order, too


def test_errors_and_what_was_written_cross_to_another_process_as_they_are(memory: Memory) -> None:
    saved = memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
    again = memory.remember("Vet", "who looks after the dog", "Dr. Sava.")
    with pytest.raises(Stale) as caught:
        memory.remember("Vet", "who looks after the dog", "Nobody.", if_version=saved.version)
    errors = [
        caught.value,
        MassLoss("too many", 3, 4, may_be_meant=True),
        PurgeWaits("a purge waits", ["vet.md goes"]),
        Conflicting((Conflict("a.md", "one", "two"),)),
    ]
    for error in errors:
        found = pickle.loads(pickle.dumps(error))
        assert type(found) is type(error) and str(found) == str(error) and found.text() == error.text()
        assert {**vars(found), "_diff": 0} == {**vars(error), "_diff": 0} | {"_ways": found._ways}
    assert pickle.loads(pickle.dumps(caught.value)).diff == caught.value.diff != ""
    found = pickle.loads(pickle.dumps(again))
    assert found == again and found.replaced == again.replaced is not None
