"""What Git itself says about a repository under test."""

import os
import re
import subprocess
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

#: Has Git commit as a person called Ann.
ANN = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")


def git(root: Path, *words: str, when: str = "") -> str:
    """What the `git` command prints; it runs without anybody's settings, and commits as at `when`."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    if when:
        environment |= {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, env=environment, check=True)
    return done.stdout


def complaints(root: Path) -> list[str]:
    """What `git fsck --strict` finds; dangling objects are ordinary.

    A pack that is replaced while it reads is missing to it, and a compaction goes on when who began it is killed: then
    Git is asked again.
    """
    while True:
        packs = _packs(root)
        try:
            found = git(root, "fsck", "--strict", "--full")
        except subprocess.CalledProcessError:
            if _packs(root) != packs:
                continue
            raise
        return [line for line in found.splitlines() if "dangling" not in line]


def _packs(root: Path) -> set[str]:
    return {file.name for file in (root / ".git/objects/pack").glob("*.idx")}


def assert_clean(root: Path) -> None:
    """`git status` has nothing to say and `git fsck --strict` nothing but dangling objects."""
    status = git(root, "status", "--porcelain")
    assert status == "", f"git status is not clean: {status[:500]}"
    assert complaints(root) == []


def reachable(root: Path) -> str:
    """Every text that any reference still reaches."""
    return git(root, "log", "--all", "--format=", "-p", "-U0", "--diff-merges=first-parent", "--reverse")


def texts_of(root: Path, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """The bytes of objects by their ids, as Git reads them."""
    given = "".join(f"{oid}\n" for oid in oids).encode()
    read = subprocess.run(["git", "-C", str(root), "cat-file", "--batch"], input=given, capture_output=True, check=True)
    at = 0
    while at < len(read.stdout):
        head = read.stdout[at : at + 80].partition(b"\n")[0]
        oid, _, size = head.decode().split(" ")
        start = at + len(head) + 1
        yield oid, read.stdout[start : start + int(size)]
        at = start + int(size) + 1


def traces(root: Path, *words: str) -> list[str]:
    """Where one of `words` stands: in an object as Git reads it, or the name or bytes of a file, inflated or not."""
    wanted, found = [word.encode() for word in words], list[str]()
    oids = git(root, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    found += [f"object {oid}: {word!r}" for oid, data in texts_of(root, oids) for word in wanted if word in data]
    for file in sorted(root.rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            if re.search(r"/objects/[0-9a-f]{2}/|/recent/", file.as_posix()):
                data += zlib.decompress(data)
            found += [f"{file}" for word in wanted if word in data or word in os.fsencode(file.name)]
    return found
