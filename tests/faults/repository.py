"""What Git itself says about a repository under test."""

import os
import subprocess
from pathlib import Path


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
