"""Folders of a commit, spliced: the bytes are those that dulwich, and so Git, would make."""

import stat

import pytest
from dulwich.objects import ObjectID, Tree
from hypothesis import given
from hypothesis import strategies as st

from crabmem.git.trees import EMPTY, FOLDER, REGULAR, Item, Rows, check_tree, checked_like, parse_tree, row_of, rows_of

_NAMES = st.text(alphabet="ab.-/é\n", min_size=1, max_size=3).map(lambda name: name.replace("/", "0").encode())
_ITEMS = st.tuples(
    st.sampled_from([FOLDER, 0o100644, 0o100755, 0o120000, 0o160000]), st.binary(min_size=20, max_size=20)
)
_CHANGES = st.lists(st.tuples(_NAMES, st.none() | _ITEMS), max_size=12)


def reference(tree: Tree, name: bytes, item: Item | None) -> None:
    """The same change, by dulwich."""
    if name in tree:
        del tree[name]
    if item:
        tree.add(name, item[0], ObjectID(item[1].encode()))


@given(_CHANGES, _CHANGES)
def test_spliced_folder_is_what_git_would_store(
    first: list[tuple[bytes, tuple[int, bytes] | None]], second: list[tuple[bytes, tuple[int, bytes] | None]]
) -> None:
    tree, listing = Tree(), EMPTY
    for changes in (first, second):
        items = {name: (item[0], item[1].hex()) if item else None for name, item in changes}
        for name, item in items.items():
            reference(tree, name, item)
        listing = listing.changed(items)
        assert listing.raw() == tree.as_raw_string()
        assert parse_tree(listing.raw()).raw() == listing.raw()
    assert sorted(listing) == sorted((name, mode, oid.decode()) for name, mode, oid in tree.iteritems())
    assert sorted(listing.folders()) == sorted(oid for _, mode, oid in listing if stat.S_ISDIR(mode))
    assert all(listing.get(name) == (mode, oid) for name, mode, oid in listing)


def test_a_name_that_ends_like_another_entry_is_not_taken_for_it() -> None:
    listing = EMPTY.changed({b"x 100644 a.md": (0o100644, "11" * 20), b"b.md": (0o100644, "22" * 20)})
    assert listing.get(b"a.md") is None
    assert len(listing.changed({b"a.md": (0o100644, "33" * 20)})) == 3


def test_names_out_of_order_are_put_in_order() -> None:
    rows = [b"100644 %s\0%s" % (name, bytes(20)) for name in (b"b", b"a")]
    assert parse_tree(b"".join(rows)).raw() == b"".join(reversed(rows))


@pytest.mark.parametrize("raw", [b"-", b"100644 a\0short", b"100644 a\0" + bytes(21), b"\0" * 30])
def test_what_is_no_tree_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="not a tree"):
        parse_tree(raw)


# A name may end like a whole row.
_ANY_NAMES = _NAMES | st.builds(b"%s100644 %s".__mod__, st.tuples(st.sampled_from([b"", b"x", b"x "]), _NAMES))
_ROWS = st.lists(st.builds(b"100644 %s\0%s".__mod__, st.tuples(_ANY_NAMES, st.sampled_from([bytes(20), b"/" * 20]))))


@given(_ROWS, _ROWS, _ROWS, _ROWS)
def test_a_tree_taken_apart_beside_one_much_like_it_is_what_it_is_by_itself(
    begin: list[bytes], before: list[bytes], after: list[bytes], end: list[bytes]
) -> None:
    one, other = [*begin, *before, *end], [*begin, *after, *end]
    known, raw = Rows(b"".join(one), one), b"".join(other)
    assert known.like(raw).rows == rows_of(raw) == other
    gone, come = known.apart(raw)
    assert {*one} - {*other} <= {*known.rows[gone]}
    assert {*other} - {*one} <= {*come}


@given(_ROWS, st.binary(max_size=30), _ROWS)
def test_what_is_no_tree_is_refused_beside_one_much_like_it(begin: list[bytes], odd: bytes, end: list[bytes]) -> None:
    known, raw = Rows(b"".join([*begin, *end]), [*begin, *end]), b"".join([*begin, odd, *end])
    try:
        rows = rows_of(raw)
    except ValueError:
        with pytest.raises(ValueError, match="not a tree"):
            known.like(raw)
    else:
        assert known.like(raw).rows == rows


def test_a_name_that_ends_like_the_row_of_another_file_is_no_damage() -> None:
    one, other = (b"100644 %s\0%s" % (name, bytes(20)) for name in (b"a.md", b"x 100644 a.md"))
    assert Rows(one, [one]).like(other).rows == [other]
    assert Rows(other, [other]).like(one).rows == [one]


_FILES = st.lists(st.sampled_from([f"{n:02}.md" for n in range(40)]), unique=True, max_size=40)


@given(_FILES, _FILES, st.sampled_from([b"", b"100644 .git\0", b"100755 zz\0", b"40000 zz\0", b"100644 00.md\0"]))
def test_a_tree_compared_with_one_before_it_is_checked_as_one_by_itself(
    before: list[str], after: list[str], odd: bytes
) -> None:
    """Where the quick look takes a tree, the whole one does, and finds the same rows new; it takes nothing else."""
    first, second = (
        b"".join(row_of(name.encode(), REGULAR, f"{len(name) + place:040x}") for place, name in enumerate(names))
        for names in (sorted(before), after)
    )
    raw = second + (odd + bytes(20) if odd else b"")
    known = check_tree(first, set())
    found = checked_like(raw, Rows(first, rows_of(first)), known)
    if found:
        assert found[0] == check_tree(raw, known) and found[1].rows == rows_of(raw) and found[1].raw == raw
    elif after == sorted(after) and not odd:
        pytest.fail("an ordinary tree was taken apart")
