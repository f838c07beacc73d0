"""A bundle is a remote in one file, which Git reads too."""

from pathlib import Path

import pytest

from crabmem.disk import fs
from crabmem.errors import Outrun, Refused, SyncError, Unreachable, Untrusted
from tests.conftest import git
from tests.refusing import Refusing, from_then
from tests.remotes.servers import needs_git
from tests.remotes.sides import MAIN, Side, begun, is_whole, left_over, other, pushed_at_once


@pytest.fixture
def here(tmp_path: Path) -> Side:
    side = begun(tmp_path)
    side.to = str(tmp_path / "memory.bundle")
    return side


def test_what_one_side_writes_the_other_reads(here: Side) -> None:
    assert here.refs().refs == {}
    here.push()
    assert here.refs().refs == {MAIN: here.head()} and here.refs().branch == MAIN
    there = other(here)
    there.take()
    assert there.head() == here.head() and is_whole(there.root)
    there.remember()
    there.push()
    assert here.fetch() == 5 and left_over(here.root) == []


@needs_git
def test_git_clones_it_and_we_read_what_git_bundles(here: Side, tmp_path: Path) -> None:
    here.push()
    git(here.root, "bundle", "verify", "-q", here.to)
    git(tmp_path, "clone", "-q", here.to, "cloned")
    assert git(tmp_path / "cloned", "rev-parse", "HEAD").strip() == here.head()
    here.remember()
    for name, words in {"all": ["--all"], "v3": ["--version=3", "HEAD", "main"]}.items():
        here.to = str(tmp_path / f"{name}.bundle")
        git(here.root, "bundle", "create", "-q", *words[:1], here.to, *words[1:]) if name == "v3" else git(
            here.root, "bundle", "create", "-q", here.to, *words
        )
        assert here.refs().refs[MAIN] == here.head() and here.refs().branch == MAIN
        there = other(here, name)
        there.take()
        assert is_whole(there.root)


@needs_git
def test_one_that_lacks_what_it_stands_on_gives_nothing(here: Side, tmp_path: Path) -> None:
    here.to = str(tmp_path / "newest.bundle")
    git(here.root, "bundle", "create", "-q", here.to, "main~1..main")
    there = other(here)
    with pytest.raises(Untrusted, match=r"lacks|neither"):
        there.fetch()
    assert here.refs().refs == {MAIN: here.head()}


def test_who_did_not_see_the_newest_may_not_write_over_it(here: Side) -> None:
    here.push()
    there = other(here)
    there.take()
    old = here.head()
    here.remember()
    here.push()
    with pytest.raises(Outrun):
        there.push({MAIN: (old, there.remember())})
    assert here.refs().refs == {MAIN: here.head()}
    here.push({MAIN: (here.head(), None), "refs/heads/other": (None, old)})
    assert here.refs().refs == {"refs/heads/other": old}


def test_references_of_others_stay_and_are_fetched_first(here: Side) -> None:
    here.push()
    there = other(here)
    there.remember()
    with pytest.raises(Outrun, match="fetch that first"):
        there.push({"refs/heads/other": (None, there.head())})
    there.fetch()
    there.push({"refs/heads/other": (None, there.head())})
    assert here.refs().refs == {MAIN: here.head(), "refs/heads/other": there.head()}


def test_of_many_who_write_at_once_each_is_told_where_it_stands(here: Side) -> None:
    here.push()
    sides = [other(here, f"machine {number}") for number in range(4)]
    said = pushed_at_once(sides)
    assert said.count("done") == 1 and set(said) <= {"done", "Outrun", "Unreachable"}
    assert here.refs().refs[MAIN] == sides[said.index("done")].head()
    assert not Path(f"{here.to}.lock").exists()


@pytest.mark.parametrize(
    "data",
    [
        b"x", b"# v2 git bundle\n", b"# v1 git bundle\n\nPACK", b"# v2 git bundle\n" + b"x" * 100_000,
        b"# v2 git bundle\n" + b"1" * 40 + b" refs/heads/main\n\n", b"# v2 git bundle\n\n\n", b"\x00" * 50,
        b"# v2 git bundle\n" + b"1" * 40 + b" refs/heads/main\n\nPACK" + b"\xff" * 100,
        b"# v2 git bundle\n" + b"1" * 40 + b" refs/heads/../../x\n\nPACK",
    ],
)  # fmt: skip
def test_what_is_no_bundle_gives_nothing(here: Side, data: bytes) -> None:
    Path(here.to).write_bytes(data)
    with pytest.raises((SyncError, KeyError)):
        here.fetch()
    assert left_over(here.root) == []


def test_a_bundle_of_another_format_is_refused(here: Side) -> None:
    for capability in (b"@object-format=sha256", b"@filter=blob:none", b"@other"):
        Path(here.to).write_bytes(b"# v3 git bundle\n" + capability + b"\n\nPACK")
        with pytest.raises(Refused, match="form"):
            here.refs()


def test_a_lock_that_a_crash_left_is_named(here: Side) -> None:
    Path(f"{here.to}.lock").write_bytes(b"")
    with pytest.raises(Unreachable, match=r"memory\.bundle\.lock is held by another push"):
        here.push()


def test_a_push_that_fails_anywhere_leaves_the_one_before(here: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    here.push()
    before, old = Path(here.to).read_bytes(), here.head()
    here.remember()
    for stop in range(3):
        refuse = Refusing(from_then(stop + 1), lambda what, path: "memory.bundle" in path and what != "unlink")
        with monkeypatch.context() as patch:
            patch.setattr(fs, "before", refuse)
            with pytest.raises(Refused, match="no space left"):
                here.push({MAIN: (old, here.head())})
        assert Path(here.to).read_bytes() == before
        assert not Path(f"{here.to}.lock").exists()
