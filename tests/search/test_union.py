"""Several indexes that are searched as one."""

from hypothesis import given
from hypothesis import strategies as st

from crabmem.search import Index
from crabmem.search.segment import Document
from crabmem.search.union import Union

WORDS = ["harbour", "ferry", "pilot", "tide", "rope"]
_texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=1, max_size=3)
_members = st.lists(st.dictionaries(st.sampled_from("abcdefgh"), _texts, max_size=6), min_size=1, max_size=3)
_changes = st.dictionaries(st.sampled_from("abcdefgh"), st.none() | _texts, max_size=3)


def _document(key: str, texts: list[list[str]]) -> Document:
    return Document(key, key.encode()[-1:], texts[0], ["note"] if key[-1] < "c" else [], texts[1:])


def _changed(index: Index, changes: dict[str, list[list[str]] | None], name: str = "") -> Index:
    keyed = {f"{name}{key}": texts for key, texts in changes.items()}
    return index.updated({key: None if texts is None else _document(key, texts) for key, texts in keyed.items()})


@given(_members, st.lists(_changes, min_size=3, max_size=3), st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
def test_a_union_answers_as_one_index_of_all_documents_to_the_last_bit(
    members: list[dict[str, list[list[str]]]], changes: list[dict[str, list[list[str]] | None]], asked: list[str]
) -> None:
    whole, parts = Index(), dict[str, Index]()
    for number, documents in enumerate(members):
        name = str(number)
        parts[name] = _changed(_changed(Index(), dict(documents)).joined(), changes[number])
        whole = _changed(_changed(whole, dict(documents), f"{name}:").joined(), changes[number], f"{name}:")
    union = Union(parts)
    assert union.search(asked, None) == whole.search(asked, None)
    assert union.search(asked, 2) == whole.search(asked, 2)
    assert union.marks() == whole.marks() and len(union) == len(whole)
    assert [union.idf(word) for word in WORDS] == [whole.idf(word) for word in WORDS]
    assert sorted(union.labelled("note")) == sorted(whole.labelled("note"))
    keys = list(whole.marks())
    assert union.explained(asked, keys) == whole.explained(asked, keys)
    assert union.best_passages(asked, keys) == whole.best_passages(asked, keys)


def test_of_equal_scores_the_first_member_comes_first() -> None:
    one = Index().updated({"x": Document("x", b"1", ["tide"])})
    union = Union({"zebra": one, "ant": one})
    assert [each.key for each in union.search(["tide"])] == ["zebra:x", "ant:x"]
