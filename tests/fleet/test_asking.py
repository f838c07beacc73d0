"""A question to every memory: the answer of a local index, and nothing of what one may not see."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.errors import InvalidArguments, NotFound
from crabmem.fleet.postgres import Postgres
from crabmem.results import Recall
from tests.examples import examples
from tests.fleet.conftest import Fleet
from tests.fleet.filled import EVERY_KIND, Files, fill

WORDS = st.sampled_from(
    ["otter", "otters", "key", "deploy", "vault", "Müller", "Mueller", "犬が好き", "2026-03-14", "x_y"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
#: A long text has passages.
CONTENTS = st.one_of(TEXTS, st.lists(TEXTS, min_size=80, max_size=120).map("\n".join))
FACTS = st.lists(st.tuples(TEXTS, TEXTS, CONTENTS), max_size=6)
MAIN, GROUP = 1, 16


def files_of(facts: list[tuple[str, str, str]], kinds: int = EVERY_KIND, first: int = 0) -> Files:
    """Facts as files, each for sessions of these kinds."""
    return {
        f"memory/entries/{at:03}.md": (f"---\nname: {name}\ndescription: {about}\n---\n\n{content}\n", kinds)
        for at, (name, about, content) in enumerate(facts, first)
    }


def seen(found: Recall) -> list[tuple[str, str, float]]:
    """Whose each hit is, its path, and its score."""
    return [(hit.scope, hit.entry.path, round(hit.score, 7)) for hit in found]


@pytest.fixture
def local(tmp_path: Path) -> Memory:
    """An empty memory on this machine, open for the length of a test."""
    return Memory(tmp_path / "local")


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(facts=FACTS, others=FACTS, query=TEXTS)
def test_within_one_memory_hits_and_scores_are_those_of_a_local_recall(
    fleet: Fleet, tmp_path: Path, facts: list[tuple[str, str, str]], others: list[tuple[str, str, str]], query: str
) -> None:
    files = files_of(facts)
    with fleet.index() as index:
        fill(index, {"mine": files, "others": files_of(others)})
    folder = tmp_path / "local" / "memory" / "entries"
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    for path, (text, _) in files.items():
        (folder / path.rpartition("/")[2]).write_text(text)

    everywhere = fleet.ask(query, within="mine", limit=10)

    with Memory(tmp_path / "local") as memory:
        here = memory.recall(query, 10)
    assert [each[1:] for each in seen(everywhere)] == [each[1:] for each in seen(here)]
    assert everywhere.searched == here.searched


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shown=FACTS, hidden=FACTS, others=FACTS, query=TEXTS)
def test_no_hit_score_or_number_tells_of_what_one_may_not_see(
    fleet: Fleet,
    shown: list[tuple[str, str, str]],
    hidden: list[tuple[str, str, str]],
    others: list[tuple[str, str, str]],
    query: str,
) -> None:
    """What a reader is answered is what an index says that never had the rest: neither another's memory, nor a fact
    that is hidden from sessions of its kind."""
    kept = files_of(shown)
    url = _as_reader(fleet, {"mine": {**kept, **files_of(hidden, MAIN, 100)}, "others": files_of(others)})
    answered = fleet.ask(query, url, limit=20)
    with Postgres(url) as reader:
        followed = [(each.name, each.facts) for each in reader.followed()]

    with fleet.index() as index:
        fill(index, {"mine": kept})
    alone = fleet.ask(query, limit=20)

    assert seen(answered) == seen(alone)
    assert (answered.searched, answered.note) == (alone.searched, alone.note)
    assert followed == [("mine", len(kept))]


def _as_reader(fleet: Fleet, memories: Mapping[str, Files]) -> str:
    """The address of a reader who asks as group sessions, and only of `mine`."""
    with fleet.index() as index:
        fill(index, memories)
    return fleet.grant("ann", "mine", "group")


def test_a_session_that_others_read_sees_less_by_the_same_role(fleet: Fleet) -> None:
    with fleet.index() as index:
        fill(index, {"mine": {**files_of([("Otter", "a", "b")], MAIN), **files_of([("Otter two", "a", "b")], first=1)}})
    main, group = fleet.grant("ann", "*", "main"), fleet.grant("bob", "*", "group")
    names = {kind: [hit.entry.name for hit in fleet.ask("otter", main, kind)] for kind in ("main", "group")}
    assert names == {"main": ["Otter", "Otter two"], "group": ["Otter two"]}
    assert [hit.entry.name for hit in fleet.ask("otter", group)] == ["Otter two"]
    with pytest.raises(NotFound, match="no memory may be asked"):
        fleet.ask("otter", group, "heartbeat")


def test_of_a_pattern_only_those_memories_count(fleet: Fleet) -> None:
    with fleet.index() as index:
        fill(index, {name: files_of([("Otter", name, "x")]) for name in ("team/a", "team/b", "other")})
    assert {hit.scope for hit in fleet.ask("otter", within="team/*")} == {"team/a", "team/b"}
    assert fleet.ask("otter", within="team/*").searched == 2
    with pytest.raises(NotFound, match="nobody"):
        fleet.ask("otter", within="nobody*")


def test_each_memory_is_asked_in_its_own_language(fleet: Fleet) -> None:
    with fleet.index() as index:
        index.add("de", "/srv/de.git", "srv/de")
        index.add("en", "/srv/en.git", "srv/en")
        from tests.fleet.filled import put

        german, english = index.spaces()
        put(index, german, files_of([("Häuser", "die Häuser am Fluss", "x")]), "german")
        put(index, english, files_of([("Houses", "houses", "x")]))
    assert [hit.scope for hit in fleet.ask("Haus")] == ["de"]
    assert [hit.scope for hit in fleet.ask("house")] == ["en"]


def test_a_budget_cuts_and_leaves_out_as_it_does_here(fleet: Fleet) -> None:
    with fleet.index() as index:
        fill(index, {"mine": files_of([(f"Otter {at}", "about", "otter word " * 200) for at in range(4)])})
    found = fleet.ask("otter", budget=900)
    assert len(found) < 4 and found.left_out
    assert found.hits[0].is_cut


@pytest.mark.parametrize("given", [{"tags": ["a"]}, {"as_of": "HEAD"}, {"sessions": True}, {"since": "2 days ago"}])
def test_what_narrows_a_question_here_is_refused_everywhere(fleet: Fleet, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments, match="every memory"):
        fleet.ask("otter", **given)


def test_while_the_database_is_silent_what_is_here_answers_and_says_so(fleet: Fleet, tmp_path: Path) -> None:
    with Memory(tmp_path / "asking") as memory:
        memory.remember("Otter", "about", "here")
    found = fleet.ask("otter", f"postgresql://owner@/nothing?host={tmp_path}")
    assert [hit.entry.name for hit in found] == ["Otter"]
    assert found.trouble.startswith("only what is here was searched: the database does not answer")


def test_a_database_that_accepts_and_says_nothing_is_given_up_after_two_seconds(fleet: Fleet, tmp_path: Path) -> None:
    import socket
    import time

    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        found = fleet.ask("otter", f"postgresql://owner@127.0.0.1:{silent.getsockname()[1]}/x")
    assert time.monotonic() - began < 10
    assert "only what is here was searched" in found.trouble


def test_without_a_database_the_answer_says_what_to_set(local: Memory) -> None:
    local.engine.environment = {name: value for name, value in os.environ.items() if name != "CRABMEM_FLEET"}
    with pytest.raises(NotFound, match="set CRABMEM_FLEET"):
        local.recall("otter", everywhere=True)


def test_a_server_that_was_started_again_is_asked_again(fleet: Fleet) -> None:
    with fleet.index() as index:
        fill(index, {"mine": files_of([("Otter", "a", "b")])})
        assert len(fleet.ask("otter")) == 1
        index.connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()"
            " and datname = current_database()"
        )
    assert len(fleet.ask("otter")) == 1
