"""LangGraph's store over a memory: the same answers as LangGraph's own, in files that a person can edit."""

import asyncio
import re
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from crabmem import HoldsSecret, InvalidArguments, Memory
from crabmem.adapters.langgraph import Store
from crabmem.adapters.langgraph import _fact as as_fact
from crabmem.adapters.langgraph import _value as as_value
from crabmem.entry import checked, parsed, written
from crabmem.slots import Slot
from tests.conftest import git

USER = ("users", "Ada")


@pytest.fixture
def store(memory: Memory) -> Store:
    return Store(memory)


# The same as LangGraph's own

keys = st.sampled_from(["a", "A", "b", "users/Ada/a", " a ", "Zoë 🦀", "", "x\ny", "null", "[]"])
namespaces = st.lists(st.sampled_from(["users", "Ada", "ada", "memory", "7"]), min_size=1, max_size=3).map(tuple)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.dictionaries(
    st.sampled_from(["content", "text", "data", "description", "name", "key", "namespace"]) | texts,
    st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)),
    max_size=4,
)
simple = st.fixed_dictionaries({"score": st.integers(0, 3)}, optional={"content": texts, "at": st.lists(st.integers())})
filters = st.one_of(
    st.none(),
    st.fixed_dictionaries({"score": st.integers(0, 3)}),
    st.fixed_dictionaries(
        {"score": st.dictionaries(st.sampled_from(["$gt", "$gte", "$lt", "$lte", "$ne"]), st.just(1))}
    ),
    st.fixed_dictionaries({"at": st.lists(st.integers(), max_size=1)}),
)
conditions = st.builds(
    MatchCondition,
    st.sampled_from(["prefix", "suffix"]),
    st.lists(st.sampled_from(["users", "Ada", "*"]), max_size=2).map(tuple),
)
ops = st.one_of(
    st.builds(PutOp, namespaces, keys, simple | values | st.none(), st.none(), st.none()),
    st.builds(GetOp, namespaces, keys),
    st.builds(
        SearchOp,
        st.lists(st.sampled_from(["users", "Ada"]), max_size=2).map(tuple),
        filters,
        st.integers(0, 4),
        st.integers(0, 2),
        st.none(),
    ),
    st.builds(
        ListNamespacesOp,
        st.none() | st.lists(conditions, max_size=2).map(tuple),
        st.none() | st.integers(1, 2),
        st.integers(0, 4),
        st.integers(0, 2),
    ),
)


def told(result: Any) -> Any:
    """What an operation answered, without times."""
    if isinstance(result, Item):
        return result.namespace, result.key, result.value
    return list(map(told, result)) if isinstance(result, list) else result


class Model:
    """LangGraph's own store, sorted, and without the namespaces that were only asked for."""

    def __init__(self) -> None:
        self._store = InMemoryStore()

    def batch(self, ops: list[Op]) -> list[Any]:
        """Answers to what is asked, each alone, then what is put; NotImplemented where that store stumbles."""
        answers = [None if isinstance(op, PutOp) else self._asked(op) for op in ops]
        self._store.batch([op for op in ops if isinstance(op, PutOp)])
        return answers

    def _asked(self, op: Op) -> Any:
        spaces = {space: dict(sorted(items.items())) for space, items in sorted(self._store._data.items()) if items}
        self._store._data.clear()
        self._store._data.update(spaces)
        try:
            return self._store.batch([op])[0]
        except TypeError:  # a filter for more than a number, and a value without one
            return NotImplemented


# feature: 79
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(batches=st.lists(st.lists(ops, min_size=1, max_size=6), min_size=1, max_size=4))
def test_any_operations_are_answered_as_langgraphs_own_store_answers_them(
    batches: list[list[Op]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = Model()
    with Memory(tmp_path_factory.mktemp("store") / "memory") as memory:
        for batch in batches:
            pairs = zip(Store(memory).batch(batch), model.batch(batch), strict=True)
            assert all(told(ours) == told(theirs) for ours, theirs in pairs if theirs is not NotImplemented)
        kept = [told(item) for item in Store(memory).search((), limit=100)]
        assert kept == told(model.batch([SearchOp((), limit=100)])[0])


@settings(max_examples=60, deadline=None)
@given(value=values)
@example({"content": "x\n\n```json\n{}\n```"})
@example({"content": "```json\n{}\n```", "n": 1})
@example({"text": "\n\nspaced \n", "description": " padded "})
@example({"content": ""})
@example({"content": "one\r\ntwo\r"})
@example({"description": "two\nlines"})
@example({"description": 5, "content": {"data": "nested"}, "data": "flat"})
def test_a_value_is_read_back_from_the_text_of_its_entry_exactly_as_it_was_put(value: dict[str, Any]) -> None:
    fact = as_fact(Slot(USER, "a"), value)
    assert fact is not None
    text = written(checked(replace(fact, keys={**fact.keys, **Slot(USER, "a").keys})), None)
    assert as_value(parsed("memory/entries/a.md", text.encode())) == value


# What a person sees, and does


def test_an_item_is_a_file_that_reads_like_any_other(memory: Memory, store: Store) -> None:
    store.put(USER, "drinks", {"text": "Tea, no milk.", "description": "what Ada drinks", "sure": 0.9, "at": None})
    file = memory.file("memory/entries/users-ada-drinks.md")
    assert file.read_text() == (
        "---\nname: users/Ada/drinks\ndescription: what Ada drinks\nfield: text\nnamespace: [users, Ada]\nkey: drinks\n"
        '---\n\nTea, no milk.\n\n```json\n{\n  "sure": 0.9,\n  "at": null\n}\n```\n'
    )


def test_a_value_without_a_text_is_all_json_and_found_by_its_words(memory: Memory, store: Store) -> None:
    store.put(USER, "1", {"food": {"likes": "pizza"}})
    assert memory.get("users/ada/1").content == '```json\n{\n  "food": {\n    "likes": "pizza"\n  }\n}\n```'
    assert [item.key for item in store.search(USER, query="pizza")] == ["1"]


def test_what_a_person_edits_is_what_the_graph_reads(memory: Memory, store: Store) -> None:
    store.put(USER, "drinks", {"content": "Tea.", "sure": 1})
    file = memory.file("memory/entries/users-ada-drinks.md")
    file.write_text(file.read_text().replace("Tea.", "Coffee,\nblack.").replace('"sure": 1', '"sure": 2, "mine": true'))
    item = store.get(USER, "drinks")
    assert item and item.value == {"content": "Coffee,\nblack.", "sure": 2, "mine": True}
    memory.adopt()


def test_a_file_that_a_person_renames_moves_and_names_anew_keeps_its_key(memory: Memory, store: Store) -> None:
    store.put(USER, "drinks", {"content": "Tea."})
    file = memory.file("memory/entries/users-ada-drinks.md")
    file.rename(memory.file("memory/entries/tea.md"))
    moved = memory.file("memory/entries/tea.md")
    moved.write_text(moved.read_text().replace("name: users/Ada/drinks", "name: What Ada drinks"))
    store.put(USER, "drinks", {"content": "Coffee."})
    assert [(entry.name, entry.content) for entry in memory.entries()] == [("What Ada drinks", "Coffee.")]


def test_what_a_person_adds_to_the_frontmatter_stays_when_the_graph_writes(memory: Memory, store: Store) -> None:
    store.put(USER, "drinks", {"text": "Tea."})
    file = memory.file("memory/entries/users-ada-drinks.md")
    file.write_text(file.read_text().replace("key: drinks\n", "key: drinks\ntags: [ada]\nrating: 5 # mine\n"))
    store.put(USER, "drinks", {"content": "Coffee."})
    assert "field:" not in file.read_text() and "rating: 5 # mine\n" in file.read_text()
    assert memory.get("users/Ada/drinks").tags == ("ada",)


def test_what_no_graph_made_is_in_the_namespace_memory_under_its_name(memory: Memory, store: Store) -> None:
    memory.remember("Deploy key", "where it lives", "In the vault.", tags=["ops"])
    assert store.list_namespaces() == [("memory",)]
    [item] = store.search((), query="vault")
    assert (item.namespace, item.key) == (("memory",), "Deploy key")
    assert item.value == {"content": "In the vault.", "description": "where it lives"}
    store.put(("memory",), "Deploy key", {"content": "On a card."})
    entry = memory.get("deploy key")
    assert (entry.content, entry.description, entry.tags) == ("On a card.", "", ("ops",))
    store.delete(("memory",), "Deploy key")
    assert memory.entries() == []


def test_an_entry_that_ends_with_json_of_its_own_is_not_taken_apart(memory: Memory, store: Store) -> None:
    content = 'The answer:\n\n```json\n{"ok": true}\n```'
    memory.remember("API", "what it says", content)
    item = store.get(("memory",), "API")
    assert item and item.value["content"] == content


def test_keys_that_differ_in_case_alone_and_names_that_are_taken_have_files_of_their_own(
    memory: Memory, store: Store
) -> None:
    memory.remember("users/Ada/a", "a person's own", "mine")
    store.batch([PutOp(USER, "a", {"content": "1"}), PutOp(USER, "A", {"content": "2"})])
    store.put(("users",), "Ada/a", {"content": "3"})
    assert [store.get(USER, key).value["content"] for key in "aA"] == ["1", "2"]  # type: ignore[union-attr]
    assert memory.get("users/Ada/a").content == "mine" and len(memory.entries()) == 4


def test_a_copy_that_a_person_made_hides_nothing(memory: Memory, store: Store) -> None:
    store.put(USER, "a", {"content": "1"})
    file = memory.file("memory/entries/users-ada-a.md")
    file.with_name("zcopy.md").write_text(file.read_text().replace("1", "copied"))
    assert [item.value["content"] for item in store.search(USER)] == ["1", "copied"]
    item = store.get(USER, "a")
    assert item and item.value["content"] == "1"
    memory.adopt()


# History, times and search


def test_a_batch_is_one_commit_that_says_who_and_how_many(memory: Memory, store: Store) -> None:
    store.put(USER, "old", {"content": "x"})
    store.batch([PutOp(USER, "a", {"content": "1"}), PutOp(USER, "b", {"content": "2"}), PutOp(USER, "old", None)])
    [last, single, _] = memory.log()
    assert (last.subject, single.subject) == ("store: 2 facts saved, 1 removed", "remember: users/Ada/old")
    assert (last.agent, last.session, single.entries) == ("coder", "s-1", ("users/Ada/old",))
    assert "Session: s-1" in git(memory.root, "log", "-1", "--format=%B")


def test_what_is_there_already_and_what_was_never_there_make_no_commit(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory") as memory:
        Store(memory).delete(USER, "a")
        assert not memory.root.exists()
        Store(memory).put(USER, "a", {"n": 1})
        Store(memory).put(USER, "a", {"n": 1})
        assert len(memory.log()) == 2


def test_times_are_those_of_the_history_and_of_the_disk_for_what_it_lacks(memory: Memory, store: Store) -> None:
    store.put(USER, "a", {"content": "1"})
    first = memory.log()[0].time
    item = store.get(USER, "a")
    assert item and item.created_at == item.updated_at == first
    memory.file("memory/entries/users-ada-a.md").write_text("---\nnamespace: [users, Ada]\nkey: a\n---\n\n2\n")
    item = store.get(USER, "a")
    assert item and item.created_at == first <= item.updated_at <= datetime.now(UTC)
    memory.adopt()


def test_a_search_with_a_query_is_recall_in_its_namespace_with_its_scores(memory: Memory, store: Store) -> None:
    likes = {("users", "Ada"): "tea", ("users", "Bob"): "coffee with milk", ("teams",): "coffee"}
    store.batch([PutOp(space, "likes", {"content": f"Likes {what}.", "n": 1}) for space, what in likes.items()])
    found = store.search(("users",), query="who likes coffee?")
    assert [item.namespace[-1] for item in found] == ["Bob", "Ada"]
    assert [item.score for item in found] == [
        hit.score for hit in memory.recall("likes coffee") if "users" in hit.entry.name
    ]
    assert [item.namespace[-1] for item in store.search(("users",), query="who likes coffee?", offset=1)] == ["Ada"]
    assert store.search((), query="coffee", filter={"n": {"$gt": 1}}) == []
    assert len(store.search((), query="coffee", limit=0)) == 0
    assert store.search(("users",), query="submarine") == []


def test_a_question_longer_than_recall_takes_is_asked_by_its_beginning(store: Store) -> None:
    store.put(USER, "a", {"content": "tea"})
    assert [item.key for item in store.search((), query="tea " + "and more " * 5_000)] == ["a"]


# What cannot be kept


@pytest.mark.parametrize(
    ("op", "words"),
    [
        (PutOp(USER, "a", {"when": datetime(2026, 1, 1)}), "must be what JSON can say"),
        (PutOp(USER, "a", {"n": float("nan")}), "must be what JSON can say"),
        (PutOp(USER, "a", {"content": "x"}, ttl=5), "without a ttl"),
        (PutOp(USER, "a\0", {"content": "x"}), "without NUL"),
        (PutOp(USER, "a" * 20_000, {"content": "x"}), "characters"),
        (PutOp(USER, "\ud800", {"content": "x"}), "surrogate"),
        (PutOp(USER, "a", {"content": "x" * 300_000}), "at most 262144"),
        (GetOp(USER, "a\0"), "without NUL"),
        (SearchOp((), filter={"n": {"$like": 1}}), "filters do not know $like"),
        (SearchOp((), limit=-1), "at least 0"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_of_its_batch_is_written(
    memory: Memory, store: Store, op: Op, words: str
) -> None:
    store.put(USER, "n", {"n": 1})
    with pytest.raises(InvalidArguments, match=re.escape(words)):
        store.batch([PutOp(USER, "fine", {"content": "fine"}), op])
    assert [item.key for item in store.search(())] == ["n"] and len(memory.log()) == 2


def test_a_time_to_live_is_refused_by_langgraph_itself(store: Store) -> None:
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(USER, "a", {"content": "x"}, ttl=5)


def test_a_credential_is_refused_wherever_it_stands_in_a_value(store: Store) -> None:
    with pytest.raises(HoldsSecret):
        store.put(USER, "a", {"nested": {"key": "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2}})
    assert store.search(()) == []


# In a graph


class State(TypedDict):
    question: str
    answer: str


def test_a_compiled_graph_keeps_and_finds_through_its_store(memory: Memory, store: Store) -> None:
    def learn(state: State, *, store: BaseStore) -> None:
        store.put(USER, "drinks", {"content": "Ada drinks tea."})

    async def answer(state: State, *, store: BaseStore) -> State:
        [item] = await store.asearch(USER, query=state["question"])
        return {"question": state["question"], "answer": item.value["content"]}

    graph = StateGraph(State).add_node("learn", learn).add_node("answer", answer)
    compiled = graph.add_edge(START, "learn").add_edge("learn", "answer").add_edge("answer", END).compile(store=store)
    said = asyncio.run(compiled.ainvoke({"question": "What does Ada drink?", "answer": ""}))
    assert said["answer"] == "Ada drinks tea."
    assert memory.log()[0].subject == "remember: users/Ada/drinks"


def test_many_tasks_at_once_lose_nothing_and_run_off_the_event_loop(store: Store) -> None:
    threads = set[int]()

    async def put(number: int) -> None:
        await store.aput(USER, str(number), {"n": number})
        threads.add(threading.get_ident())

    async def all_of_them() -> list[SearchItem]:
        await asyncio.gather(*map(put, range(12)))
        return await store.asearch(USER, limit=50)

    found = asyncio.run(all_of_them())
    assert sorted(item.value["n"] for item in found) == list(range(12)) and len(threads) == 1
