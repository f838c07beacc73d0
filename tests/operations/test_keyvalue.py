"""Entries by namespace and key: what a store of keys and values sees of a memory."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crabmem import Fact, InvalidArguments, Key, MassLoss, Memory
from crabmem.operations import keyvalue
from crabmem.text.entry import Entry, checked, parse_entry, render_entry
from crabmem.text.keys import DEFAULT_NAMESPACE, key_in, key_of, key_with_label

ADA = ("users", "Ada")
parts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
keys = st.builds(Key, st.lists(parts, max_size=4).map(tuple), parts)


def fact(content: str, name: str = "n") -> Fact:
    return Fact(name, "", content)


@given(one=keys, other=keys)
def test_keys_have_one_label_each_and_are_read_back_from_it(one: Key, other: Key) -> None:
    assert key_with_label(one.label) == one
    assert (one.label == other.label) == (one == other)


@given(key=keys)
@example(Key(("a\n---\nb",), "---"))
@example(Key((), "null"))
@example(Key(("7", "~", ""), "\x85\u2028\ufffe"))
def test_a_key_is_read_back_from_the_frontmatter_of_its_entry_exactly(key: Key) -> None:
    text = render_entry(checked(Fact(key.name, "", "x", keys=key.keys)), None)
    entry = parse_entry("memory/entries/x.md", text.encode())
    assert (key_in(entry.keys), entry.problem) == (key, None)


@pytest.mark.parametrize(
    "lines",
    [
        "key: C major",
        "namespace: [a]",
        "namespace: a\nkey: b",
        "namespace: [[a]]\nkey: b",
        'namespace: ["a\\0"]\nkey: b',
    ],
)
def test_frontmatter_that_names_no_whole_key_is_a_persons_own(lines: str) -> None:
    entry = parse_entry("memory/entries/song.md", f"---\nname: Song\n{lines}\n---\n\nx\n".encode())
    assert key_of(entry) == Key(DEFAULT_NAMESPACE, "Song")


@pytest.mark.parametrize("keys", [{"name": "x"}, {"": "x"}, {"a\nb": "x"}, {"a": "\0"}, {"a": ["x"] * 3_000}])
def test_keys_that_would_not_be_read_back_are_refused(keys: dict[str, str | list[str]]) -> None:
    with pytest.raises(InvalidArguments):
        render_entry(checked(Fact("a", "b", "c", keys=keys)), None)


def test_keys_of_a_fact_are_set_and_removed_and_all_others_stay() -> None:
    before = render_entry(Fact("a", "b", "c", keys={"one": "1", "two": ["x", "y"]}), None).replace(
        "one: '1'", "one: 1 # mine"
    )
    after = render_entry(Fact("a", "b", "c", keys={"two": None, "three": "3"}), before)
    assert after == "---\nname: a\ndescription: b\none: 1 # mine\nthree: '3'\n---\n\nc\n"
    assert parse_entry("memory/entries/a.md", after.encode()).keys == {"one": "1", "three": "3"}


def test_recall_looks_in_one_namespace_and_where_it_is_told_today_and_in_the_past(memory: Memory) -> None:
    facts = {Key(ADA, "a"): fact("tea", "a"), Key(("users", "Bob"), "b"): fact("tea", "b")}
    keyvalue.keep(memory, {**facts, Key(DEFAULT_NAMESPACE, "c"): fact("tea", "c")})

    def found(as_of: str | None = None, namespace: tuple[str, ...] = (), without: str = "") -> list[str]:
        hits = memory.recall("tea", namespace=namespace, where=lambda entry: entry.name != without, as_of=as_of)
        return sorted(hit.entry.name for hit in hits)

    keyvalue.keep(memory, {Key(ADA, "a"): None})
    assert (found(), found(namespace=("users",)), found(without="b")) == (["b", "c"], ["b"], ["c"])
    assert found("HEAD~1", ("users",)) == ["a", "b"] and found("HEAD~1", ADA) == ["a"]
    assert found(namespace=DEFAULT_NAMESPACE) == ["c"]


def test_entries_of_a_namespace_come_by_namespace_and_key_in_pages(memory: Memory) -> None:
    keyvalue.keep(memory, {Key((space,), key): fact("x", f"{space}{key}") for space in "ba" for key in "21"})

    def is_first(entry: Entry) -> bool:
        return key_of(entry).key == "1"

    assert [entry.name for entry in keyvalue.items(memory)] == ["a1", "a2", "b1", "b2"]
    assert [entry.name for entry in keyvalue.items(memory, ("b",), offset=1)] == ["b2"]
    assert [entry.name for entry in keyvalue.items(memory, where=is_first, offset=1, limit=1)] == ["b1"]
    assert keyvalue.namespaces(memory) == {("a",), ("b",)}


def test_a_new_process_knows_the_keys_that_an_earlier_one_made(memory: Memory) -> None:
    keyvalue.keep(memory, {Key(ADA, str(number)): fact("x", str(number)) for number in range(40)})
    memory.entries()
    memory.close()
    with Memory(memory.root) as other:
        found = keyvalue.item(other, Key(ADA, "7"))
        assert found and found.name == "7"
        assert keyvalue.item(other, Key(("users",), "7")) is None


def test_removing_many_keys_at_once_takes_the_same_word_as_any_mass_loss(memory: Memory) -> None:
    made = [Key(ADA, str(number)) for number in range(12)]
    keyvalue.keep(memory, {key: fact("x", key.key) for key in made})
    with pytest.raises(MassLoss):
        keyvalue.keep(memory, dict.fromkeys(made))
    assert len(keyvalue.items(memory, ADA)) == 12


def test_a_page_of_a_listing_is_by_namespace_and_key_and_reads_no_other_file(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyvalue.keep(memory, {Key(ADA, key): fact("x", key) for key in ("b", "A", "c")})
    memory.remember_all([Fact(name, "", "x") for name in ("zebra", "Ant", "bee")], "notes")
    read: list[str] = []

    def noted(path: str, data: bytes, version: str) -> Entry:
        read.append(path)
        return parse_entry(path, data, version)

    with Memory(memory.root) as other:
        other.recall("x")
        monkeypatch.setattr("crabmem.recall.reader.parse_entry", noted)
        other.engine.catalog.reader._parsed.clear()
        assert [entry.name for entry in keyvalue.items(other, (), None, 1, 2)] == ["bee", "zebra"] and len(read) == 2
        assert [entry.name for entry in keyvalue.items(other)] == ["Ant", "bee", "zebra", "A", "b", "c"]
