"""What goes out is what the other side lacks, in as few bytes as it can be said in."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crabmem.errors import DamagedHistory, Unreachable, Untrusted
from crabmem.git.objects import Objects
from crabmem.git.packs import Growing
from crabmem.git.reach import outgoing
from crabmem.remotes import remote as module
from crabmem.remotes.limit import Limit
from crabmem.remotes.remote import pack_of
from tests.conftest import git
from tests.faults.repository import ANN
from tests.remotes.sides import Side


@pytest.fixture
def side(tmp_path: Path) -> Side:
    made = Side(tmp_path / "here", str(tmp_path))
    made.remember(3)
    return made


@pytest.fixture
def objects(side: Side) -> Iterator[Objects]:
    with closing(Objects(side.root / ".git/objects")) as found:
        yield found


@pytest.fixture
def sent(side: Side, objects: Objects) -> Callable[[list[str], list[str]], set[str]]:
    def ids(tips: list[str], haves: list[str]) -> set[str]:
        folder = side.root / ".git"
        return {piece.oid for piece in outgoing(folder, folder / "crabmem", objects, tips, haves)}

    return ids


def reached(side: Side, *words: str) -> set[str]:
    return set(git(side.root, "rev-list", "--objects", "--no-object-names", *words).split())


Sent = Callable[[list[str], list[str]], set[str]]


def test_of_a_line_of_commits_exactly_what_is_new_goes(side: Side, sent: Sent) -> None:
    old, new = side.head(), side.remember(4)
    assert sent([new], [old]) == reached(side, new, f"^{old}")
    assert sent([new], []) == reached(side, new)
    assert sent([old], [new]) == sent([new], [new]) == set()
    assert sent([new], ["1" * 40]) == reached(side, new)  # what is not here is passed over


def test_of_a_merge_nothing_is_missing(side: Side, sent: Sent) -> None:
    base = side.head()
    git(side.root, *ANN, "commit", "-q", "--allow-empty", "-m", "theirs")
    theirs = side.head()
    git(side.root, "reset", "-q", "--hard", base)
    ours = side.remember(2)
    git(side.root, *ANN, "merge", "-q", "-m", "both", theirs)
    for haves in ([base], [ours], [theirs], [ours, theirs]):
        assert sent([side.head()], haves) >= reached(side, "HEAD", *(f"^{have}" for have in haves))


def test_a_tag_goes_with_what_it_is_about(side: Side, sent: Sent) -> None:
    git(side.root, *ANN, "tag", "-a", "-m", "first", "v1")
    tag = git(side.root, "rev-parse", "v1").strip()
    assert sent([tag], []) == reached(side, "v1") | {tag}
    assert sent([tag], [side.head()]) == {tag}


def test_what_cannot_be_read_is_said(side: Side, sent: Sent) -> None:
    tree = git(side.root, "rev-parse", "HEAD^{tree}").strip()
    (side.root / ".git/objects" / tree[:2] / tree[2:]).unlink()
    (side.root / ".git/crabmem/redo").unlink()
    with pytest.raises(DamagedHistory):
        sent([side.head()], [])


def packed(side: Side, objects: Objects, tips: list[str], haves: list[str], thin: bool) -> Growing:
    folder = side.root / ".git"
    pieces = outgoing(folder, folder / "crabmem", objects, tips, haves)
    return pack_of(pieces, objects, Limit("there", 20), thin)


def test_a_thin_pack_of_a_large_folder_is_a_hundredth(side: Side, objects: Objects, tmp_path: Path) -> None:
    for number in range(3_000):
        (side.root / f"memory/entries/fact-{number}.md").write_text(f"fact {number}\n")
    old, new = side.remember(), side.remember()
    whole, thin = (packed(side, objects, [new], [old], each) for each in (False, True))
    assert set(whole.ids()) == set(thin.ids()) and thin.size < 2_000 < 60_000 < whole.size
    git(tmp_path, "clone", "-q", "--bare", str(side.root), "bare.git")
    git(tmp_path / "bare.git", "update-ref", "refs/heads/main", old)
    git(tmp_path / "bare.git", "gc", "-q", "--prune=now")
    command = ["git", "-C", str(tmp_path / "bare.git"), "index-pack", "--fix-thin", "--strict", "--stdin"]
    subprocess.run(command, input=thin.finish()[1], capture_output=True, check=True)


def test_a_pack_that_is_whole_stands_on_nothing_outside(side: Side, objects: Objects, tmp_path: Path) -> None:
    old, new = side.head(), side.remember(5)
    (tmp_path / "whole.pack").write_bytes(packed(side, objects, [new], [old], False).finish()[1])
    git(side.root, "index-pack", str(tmp_path / "whole.pack"))


def test_packing_ends_when_the_time_is_over_or_it_is_too_much(
    side: Side, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = [*outgoing(side.root / ".git", side.root / ".git/crabmem", objects, [side.head()], [])]
    with pytest.raises(Unreachable):
        pack_of(iter(pieces), objects, Limit("there", -1))
    monkeypatch.setattr(module, "MOST_PACK", 100)
    with pytest.raises(Untrusted, match="100 bytes"):
        pack_of(iter(pieces), objects, Limit("there", 20))
