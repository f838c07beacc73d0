"""LangGraph's store over a memory: the same answers as LangGraph's own, in files that a person can edit."""

import asyncio
import math
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings
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

from crabmem import EmbedderFailed, HoldsSecret, InvalidArguments, Key, Memory
from crabmem.adapters.langgraph import AsyncStore, Store
from crabmem.adapters.langgraph.values import fact_of as as_fact
from crabmem.adapters.langgraph.values import value_of as as_value
from crabmem.embeddings.table import load
from crabmem.git.commits import Note, raw_commit, read_commit
from crabmem.operations import history, keyvalue
from crabmem.session import opening
from crabmem.text.entry import checked, parse_entry, render_entry
from crabmem.text.hashes import blob_id
from tests.conftest import git
from tests.embedding import Array, Own
from tests.examples import examples

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


@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
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


@settings(max_examples=examples(60))
@given(value=values)
@example({"content": "x\n\n```json\n{}\n```"})
@example({"content": "```json\n{}\n```", "n": 1})
@example({"text": "\n\nspaced \n", "description": " padded "})
@example({"content": ""})
@example({"content": "one\r\ntwo\r"})
@example({"description": "two\nlines"})
@example({"description": 5, "content": {"data": "nested"}, "data": "flat"})
def test_a_value_is_read_back_from_the_text_of_its_entry_exactly_as_it_was_put(value: dict[str, Any]) -> None:
    fact = as_fact(Key(USER, "a"), value)
    assert fact is not None
    text = render_entry(checked(replace(fact, keys={**fact.keys, **Key(USER, "a").keys})), None)
    assert as_value(parse_entry("memory/entries/a.md", text.encode())) == value


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


def test_two_writes_in_one_second_have_times_of_their_own(clock: "Clock", memory: Memory, store: Store) -> None:
    clock.now = clock.now.replace(microsecond=123456)
    store.put(USER, "a", {"content": "1"})
    clock.now = clock.now.replace(microsecond=123457)
    store.put(USER, "a", {"content": "2"})
    with Memory(memory.root) as other:
        item = Store(other).get(USER, "a")
    assert item and item.updated_at - item.created_at == timedelta(microseconds=1)
    assert item.updated_at == clock.now == memory.log()[0].time
    assert f"Time: {clock.now.isoformat()}" in git(memory.root, "log", "-1", "--format=%(trailers)")
    memory.remember("users/Ada/a", "", "3")  # to the second, and yet no time runs backwards
    later = store.get(USER, "a")
    assert later and later.updated_at >= item.updated_at


@pytest.mark.parametrize("said", ["2019-01-01T00:00:00+00:00", "soon", "2026-01-01", "2999-01-01T00:00:00+00:00"])
def test_a_trailer_that_says_another_time_than_its_commit_is_not_believed(said: str) -> None:
    when = datetime(2026, 11, 22, 20, 45, tzinfo=UTC)
    raw = raw_commit("0" * 40, [], Note("remember: a", "Ada <a@b>", trailers=(("Time", said),)), when, 0)
    assert read_commit("1" * 40, raw).time == when


def test_a_search_with_a_query_is_recall_in_its_namespace_with_its_scores(memory: Memory, store: Store) -> None:
    likes = {("users", "Ada"): "tea", ("users", "Bob"): "coffee with milk", ("teams",): "coffee"}
    store.batch([PutOp(space, "likes", {"content": f"Likes {what}.", "n": 1}) for space, what in likes.items()])
    found = store.search(("users",), query="who likes coffee?")
    assert [item.namespace[-1] for item in found] == ["Bob", "Ada"]
    scores = [hit.score for hit in memory.recall("likes coffee") if "users" in hit.entry.name]
    assert [item.score for item in found] == [score / (1 + score) for score in scores]
    assert [item.namespace[-1] for item in store.search(("users",), query="who likes coffee?", offset=1)] == ["Ada"]
    assert store.search((), query="coffee", filter={"n": {"$gt": 1}}) == []
    assert len(store.search((), query="coffee", limit=0)) == 0


def test_where_an_embedder_fails_items_are_as_near_as_by_words(tmp_path: Path) -> None:
    class Failing(Own):
        def embed(self, texts: Sequence[str], /) -> Array:
            raise EmbedderFailed("it is not there")

    drinks = ["tea", "tea, and tea with milk", "tea, coffee, juice, water and wine"]
    near = []
    for number, embedder in enumerate((None, Failing())):
        with Memory(tmp_path / str(number), embedder=embedder) as own:
            store = Store(own)
            store.batch([PutOp(USER, what, {"content": f"Ada drinks {what}."}) for what in drinks])
            near.append([[(item.key, item.score) for item in store.search(USER, query="ada tea")] for _ in range(2)])
    assert near[1] == near[0] and len({score for _, score in near[0][0]}) == 3


def test_a_search_gives_as_many_as_are_asked_for_and_pages_through_all(store: Store) -> None:
    drinks = {"e": "tea with milk", "d": "water", "c": "tea", "b": "juice", "a": "wine"}
    store.batch([PutOp(USER, key, {"content": f"Ada drinks {what}."}) for key, what in drinks.items()])
    found = store.search(USER, query="tea?", limit=4)
    assert [item.key for item in found] == ["c", "e", "a", "b"]  # then by namespace and key
    assert [item.score == 0 for item in found] == [False, False, True, True]
    pages = [store.search(USER, query="tea?", limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [[item.key for item in page] for page in pages] == [["c", "e"], ["a", "b"], ["d"], []]
    assert [item.key for item in store.search(USER, query="submarine", limit=2)] == ["a", "b"]


@settings(max_examples=examples(25), suppress_health_check=list(HealthCheck))
@given(
    words=st.lists(st.sampled_from(["tea", "milk", "tea tea milk", "wine and tea", ""]), max_size=6),
    left_out=st.sets(st.integers(0, 5)),
    embedded=st.booleans(),
    sizes=st.lists(st.integers(1, 4), min_size=6, max_size=6),
)
def test_pages_of_a_question_are_the_whole_answer_in_falling_scores_from_0_to_1(
    words: list[str], left_out: set[int], embedded: bool, sizes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Memory(tmp_path_factory.mktemp("store") / "memory", embedder=Own() if embedded else None) as memory:
        store = Store(memory)
        rows = enumerate(words)
        store.batch([PutOp(USER, str(n), {"text": text}, False if n in left_out else None) for n, text in rows])
        whole = store.search((), query="tea", limit=10)
        assert sorted(item.key for item in whole) == [str(number) for number in range(len(words))]
        scores = [-1.0 if item.score is None else item.score for item in whole]
        assert scores == sorted(scores, reverse=True) and max(scores, default=0) <= 1
        assert [item.key for item in whole if item.score is None] == sorted(str(n) for n in left_out if n < len(words))
        pages = list[str]()
        for size in sizes:
            pages += [item.key for item in store.search((), query="tea", limit=size, offset=len(pages))]
        assert pages == [item.key for item in whole][: len(pages)] and len(pages) == min(len(whole), sum(sizes))


def test_a_question_longer_than_recall_takes_is_asked_by_its_beginning(store: Store) -> None:
    store.put(USER, "a", {"content": "tea"})
    assert [item.key for item in store.search((), query="tea " + "and more " * 5_000)] == ["a"]


# What is kept out of search


def test_what_an_app_keeps_out_of_search_is_not_found_also_after_a_restart(memory: Memory, store: Store) -> None:
    store.put(USER, "log", {"content": "Ada likes tea very much."}, index=False)
    store.put(USER, "likes", {"content": "Ada likes tea."})
    store.put(USER, "number", {"content": "3"})
    for each in (store, Store(Memory(memory.root))):
        assert [item.key for item in each.search(USER, query="tea", limit=2)] == ["likes", "number"]
        assert [(item.key, item.score) for item in each.search(USER, query="tea")][2:] == [("log", None)]
    assert "\nindex: []\n" in memory.file("memory/entries/users-ada-log.md").read_text()
    store.put(USER, "log", {"content": "Ada likes tea very much."})
    assert "index" not in memory.file("memory/entries/users-ada-log.md").read_text()
    assert store.search(USER, query="tea very much", limit=1)[0].key == "log"


def test_an_item_is_found_by_the_paths_it_names_alone(store: Store) -> None:
    value = {"title": "Ada's tea", "pages": [{"text": "green"}, {"text": "black"}], "secret": "gin"}
    store.put(USER, "a", value, index=["title", "pages[*].text"])
    store.put(USER, "b", {"title": "nothing"})
    for query, is_found in (("tea", True), ("black", True), ("gin", False)):
        scores = {item.key: item.score for item in store.search(USER, query=query)}
        assert bool(scores["a"]) is is_found and scores["b"] == 0


class Letters:
    """Embeddings of an app: how often each letter stands in a text. Counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [[text.lower().count(letter) + 0.0 for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]

    async def later(self, texts: Sequence[str]) -> list[list[float]]:
        """The same, as the client of a service does it."""
        await asyncio.sleep(0)
        return self(texts)


@pytest.mark.parametrize("fields", ["fields", "text_fields"])  # the latter is what stores over SQL call it
def test_with_an_index_a_search_goes_by_the_embeddings_of_the_app(memory: Memory, fields: str) -> None:
    index: Any = {"dims": 26, "embed": Letters(), fields: ["title", "tags[*]"]}
    store = Store(memory, index=index)
    store.put(USER, "1", {"title": "aab", "tags": ["zz"], "other": "q"})
    store.put(USER, "2", {"title": "ab"})
    store.put(USER, "3", {"title": "q"}, index=["none"])
    store.put(USER, "4", {"title": "q"}, index=False)
    assert [(item.key, item.score) for item in store.search((), query="aab")] == [
        ("1", pytest.approx(1, abs=1e-5)),
        ("2", pytest.approx(3 / 10**0.5, abs=1e-3)),
        ("3", None),
        ("4", None),
    ]
    assert [item.key for item in store.search((), query="z", limit=1)] == ["1"]
    assert store.search((), query="q", limit=1)[0].score == 0  # `other` is no field that is searched
    assert [item.key for item in store.search((), query="ab", filter={"title": "aab"})] == ["1"]


def test_vectors_are_made_once_and_are_there_after_a_restart(memory: Memory) -> None:
    letters = Letters()
    store = Store(memory, index={"dims": 26, "embed": letters})
    store.batch([PutOp(USER, str(number), {"text": "x" * number}) for number in range(40)])
    store.search((), query="x")
    memory.close()
    again = Letters()
    with Memory(memory.root) as other:
        later = Store(other, index={"dims": 26, "embed": again})
        later.put(USER, "new", {"text": "new"})
        found = later.search((), query="new", limit=1)
    assert [item.key for item in found] == ["new"]
    assert sum("xxx" in text for text in letters.asked) == 37 and not any("xxx" in text for text in again.asked)


def test_embeddings_that_are_asynchronous_are_asked_on_the_loop_that_waits(memory: Memory) -> None:
    store = Store(memory, index={"dims": 26, "embed": Letters().later})

    async def ask() -> list[SearchItem]:
        await store.aput(USER, "1", {"text": "abc"})
        await store.aput(USER, "2", {"text": "xyz"})
        return await store.asearch(USER, query="yyx")

    assert [item.key for item in asyncio.run(ask())] == ["2", "1"]


def test_a_synchronous_search_on_the_loop_waits_for_no_search_that_waits_for_the_loop(memory: Memory) -> None:
    class Both(Embeddings):
        """Embeddings that take a while on the loop."""

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return Letters()(texts)

        def embed_query(self, text: str) -> list[float]:
            return Letters()([text])[0]

        async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
            asked.set()
            await asyncio.sleep(0.05)
            return Letters()(texts)

    async def ask() -> list[str]:
        waiting = asyncio.create_task(store.asearch(USER, query="yyx"))
        await asked.wait()
        now = store.search(USER, query="ab")
        return [item.key for item in (*now, *await waiting)]

    asked, store = asyncio.Event(), Store(memory, index={"dims": 26, "embed": Both()})
    store.batch([PutOp(USER, "1", {"text": "abc"}), PutOp(USER, "2", {"text": "xyz"})])
    assert asyncio.run(ask()) == ["1", "2", "2", "1"]


def test_embeddings_of_another_size_than_the_index_says_are_refused(memory: Memory) -> None:
    store = Store(memory, index={"dims": 3, "embed": Letters()})
    store.put(USER, "1", {"text": "abc"})
    with pytest.raises(EmbedderFailed, match="index says 3"):
        store.search(USER, query="a")


def test_a_question_of_another_size_than_the_index_says_is_refused(memory: Memory) -> None:
    class Short(Letters):
        def __call__(self, texts: Sequence[str]) -> list[list[float]]:
            return [
                row[:3] if text == "who?" else row for text, row in zip(texts, super().__call__(texts), strict=True)
            ]

    store = Store(memory, index={"dims": 26, "embed": Short()})
    store.put(USER, "1", {"text": "abc"})
    with pytest.raises(EmbedderFailed, match="index says 26"):
        store.search(USER, query="who?")


def test_what_is_purged_is_in_no_vector_that_is_kept(memory: Memory) -> None:
    store = Store(memory, index={"dims": 26, "embed": Letters()})
    store.batch([PutOp(USER, str(number), {"text": f"note {number}"}) for number in range(40)])
    store.search((), query="note")
    memory.purge(text="note 7")
    store.search((), query="note")
    memory.close()
    kept = load(memory.root / ".git" / "crabmem" / "index" / "item-vectors")
    assert kept is not None and len(kept) == 40
    assert bytes.fromhex(blob_id(b'{"text": "note 7"}')) not in kept
    assert bytes.fromhex(blob_id(b'{"text": "note 8"}')) in kept


# How long an item lives


class Clock:
    """What time it is, until somebody moves it on."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def pass_minutes(self, minutes: float) -> None:
        """Let time pass."""
        self.now += timedelta(minutes=minutes)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of memories that are opened after it: ask for it first."""
    clock = Clock()
    monkeypatch.setattr(opening, "local_time", lambda: clock.now)
    return clock


def test_an_item_is_gone_when_its_time_is_over_and_a_sweep_forgets_it(
    clock: Clock, memory: Memory, store: Store
) -> None:
    store.put(USER, "stays", {"content": "tea"})
    store.put(USER, "goes", {"content": "tea, today"}, ttl=5)
    store.put((*USER, "now"), "goes", {"content": "tea, now"}, ttl=0.5)
    clock.pass_minutes(1)
    assert store.list_namespaces() == [USER] and store.get((*USER, "now"), "goes") is None
    assert [item.key for item in store.search(USER, query="tea")] == ["stays", "goes"]
    clock.pass_minutes(5)
    assert store.get(USER, "goes") is None and [item.key for item in store.search(USER)] == ["stays"]
    assert [item.key for item in store.search(USER, query="today")] == ["stays"]
    before = len(memory.log())
    assert (store.sweep_ttl(), store.sweep_ttl()) == (2, 0)
    assert [entry.name for entry in memory.entries()] == ["users/Ada/stays"]
    assert len(memory.log()) == before + 1 and memory.log()[0].subject == "store: 2 expired facts removed"
    assert "tea, today" in history.patch(memory, "HEAD")  # which history keeps
    assert git(memory.root, "status", "--porcelain") == ""


def test_how_long_an_item_lives_is_in_its_file_and_known_after_a_restart(
    clock: Clock, memory: Memory, store: Store
) -> None:
    store.put(USER, "a", {"content": "x"}, ttl=5)
    assert "\nttl: 5 minutes\n" in memory.file("memory/entries/users-ada-a.md").read_text()
    (memory.root / ".git" / "crabmem" / "reads").unlink()
    with Memory(memory.root) as other:
        assert Store(other).get(USER, "a")
        clock.pass_minutes(6)
        assert Store(other).get(USER, "a") is None
    store.put(USER, "a", {"content": "x"})
    clock.pass_minutes(60)
    item = store.get(USER, "a")
    assert item and item.value == {"content": "x"} and store.sweep_ttl() == 0


def test_reading_has_a_life_begin_anew_where_the_configuration_says_so(clock: Clock, memory: Memory) -> None:
    store = Store(memory, ttl={"default_ttl": 10, "refresh_on_read": True})
    for key in ("read", "found", "looked", "forgotten"):
        store.put(USER, key, {"content": key})
    before = memory.log(), git(memory.root, "status", "--porcelain")
    clock.pass_minutes(8)
    assert store.get(USER, "read") and store.search(USER, query="found", limit=1)
    assert store.get(USER, "looked", refresh_ttl=False)
    clock.pass_minutes(8)
    assert sorted(item.key for item in store.search(USER, refresh_ttl=False)) == ["found", "read"]
    assert (memory.log(), git(memory.root, "status", "--porcelain")) == before  # reading commits nothing
    clock.pass_minutes(8)
    assert store.sweep_ttl() == 4


def test_reading_changes_no_life_where_nobody_said_so(clock: Clock, store: Store) -> None:
    store.put(USER, "a", {"content": "x"}, ttl=10)
    clock.pass_minutes(8)
    assert store.get(USER, "a")
    clock.pass_minutes(8)
    assert store.get(USER, "a") is None


def test_putting_the_same_again_has_its_life_begin_anew(clock: Clock, memory: Memory, store: Store) -> None:
    for _ in range(3):
        store.put(USER, "a", {"content": "x"}, ttl=10)
        clock.pass_minutes(8)
    assert store.get(USER, "a") and len(memory.log()) == 2


def test_what_was_put_again_lives_before_its_time_is_noted(clock: Clock, memory: Memory, store: Store) -> None:
    store.put(USER, "a", {"content": "x"}, ttl=5)
    clock.pass_minutes(10)
    keyvalue.keep(memory, {Key(USER, "a"): as_fact(Key(USER, "a"), {"content": "y"}, None, 5)})
    assert store.sweep_ttl() == 0
    item = store.get(USER, "a")
    assert item and item.value == {"content": "y"}
    clock.pass_minutes(6)
    assert store.get(USER, "a") is None and store.sweep_ttl() == 1


def test_the_sweeps_of_an_asynchronous_store_are_awaited(memory: Memory) -> None:
    async def swept() -> None:
        lives: Any = {"default_ttl": 0, "sweep_interval_minutes": 0.001}
        store = AsyncStore(memory, ttl=lives)
        await store.aput(USER, "a", {"content": "x"})
        assert await store.sweep_ttl() == 1
        await store.aput(USER, "b", {"content": "x"})
        await store.start_ttl_sweeper()
        deadline = time.monotonic() + 30
        while memory.entries() and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        assert memory.entries() == [] and await store.stop_ttl_sweeper(30)

    asyncio.run(swept())


@pytest.mark.parametrize("minutes", [0, -1, math.nan, "x", 1e300])
def test_a_sweeper_that_could_not_wait_is_refused(store: Store, minutes: Any) -> None:
    with pytest.raises(InvalidArguments, match="minutes above 0"):
        store.start_ttl_sweeper(minutes)
    assert store.stop_ttl_sweeper(0)


@pytest.mark.parametrize("page", [{"limit": -1}, {"offset": -1}])
def test_a_page_that_cannot_be_is_refused_everywhere(memory: Memory, store: Store, page: dict[str, int]) -> None:
    asks: list[Callable[..., object]] = [
        store.list_namespaces,
        partial(store.search, USER),
        partial(keyvalue.items, memory),
    ]
    for ask in asks:
        with pytest.raises(InvalidArguments, match="at least 0"):
            ask(**page)


def test_a_sweeper_sweeps_until_it_is_stopped(memory: Memory) -> None:
    store = Store(memory, ttl={"default_ttl": 0})
    store.start_ttl_sweeper(0.001)
    store.put(USER, "a", {"content": "x"})
    deadline = time.monotonic() + 30
    while memory.entries() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert memory.entries() == [] and store.stop_ttl_sweeper(30)
    store.put(USER, "b", {"content": "x"})
    time.sleep(0.2)
    assert len(memory.entries()) == 1 and store.stop_ttl_sweeper()


# What cannot be kept


@pytest.mark.parametrize(
    ("op", "words"),
    [
        (PutOp(USER, "a", {"when": datetime(2026, 1, 1)}), "must be what JSON can say"),
        (PutOp(USER, "a", {"n": float("nan")}), "must be what JSON can say"),
        (PutOp(USER, "a", {"content": "x"}, ttl=-1), "a number of minutes from 0"),
        (PutOp(USER, "a", {"content": "x"}, ttl=float("nan")), "a number of minutes from 0"),
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


def test_a_credential_is_refused_wherever_it_stands_in_a_value(store: Store) -> None:
    with pytest.raises(HoldsSecret):
        store.put(USER, "a", {"nested": {"key": "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2}})
    assert store.search(()) == []


# Many at once


def test_what_tasks_put_at_the_same_time_is_one_commit(memory: Memory, store: Store) -> None:
    async def all_of_them() -> None:
        await asyncio.gather(*(store.aput(USER, str(number), {"n": number}) for number in range(100)))
        await asyncio.gather(*(store.adelete(USER, str(number)) for number in range(3)))

    asyncio.run(all_of_them())
    asyncio.run(all_of_them())  # on another loop
    assert [each.subject for each in memory.log()][:2] == ["store: 0 facts saved, 3 removed", "store: 100 facts saved"]
    assert len(memory.log()) == 5 and len(memory.entries()) == 97


def test_what_one_task_does_wrong_fails_alone(store: Store) -> None:
    async def all_of_them() -> list[Any]:
        values: list[dict[str, Any]] = [{"n": 1}, {"n": float("nan")}, {"n": 3}]
        puts = (store.aput(USER, str(number), value) for number, value in enumerate(values))
        return await asyncio.gather(*puts, store.aget(USER, "0"), return_exceptions=True)

    done = asyncio.run(all_of_them())
    assert [isinstance(each, InvalidArguments) for each in done] == [False, True, False, False]
    assert [item.value["n"] for item in store.search(USER)] == [1, 3]


def test_a_task_that_is_cancelled_holds_nobody_back(store: Store) -> None:
    async def some() -> list[SearchItem]:
        first = asyncio.create_task(store.aput(USER, "1", {"n": 1}))
        second = asyncio.create_task(store.aput(USER, "2", {"n": 2}))
        await asyncio.sleep(0)
        first.cancel()
        await second
        return await store.asearch(USER)

    assert "2" in {item.key for item in asyncio.run(some())}


def test_loops_on_several_threads_share_a_store(store: Store) -> None:
    def run(name: str) -> None:
        async def put() -> None:
            await asyncio.gather(*(store.aput((name,), str(number), {"n": number}) for number in range(5)))

        asyncio.run(put())

    threads = [threading.Thread(target=run, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.list_namespaces() == [("a",), ("b",), ("c",)] and len(store.search((), limit=50)) == 15


def test_answers_to_the_same_question_are_lists_of_their_own(store: Store) -> None:
    store.put(USER, "a", {"n": 1})
    one, other = store.batch([SearchOp(USER), SearchOp(USER)])
    assert isinstance(one, list) and isinstance(other, list)
    one.clear()
    assert len(other) == 1


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
