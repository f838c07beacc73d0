"""A long history in a moment, by `git fast-import`: many commits over many entries, a secret where one can be."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from crabmem import Memory

_WHO = "coder <coder@crabmem.invalid>"
_BEGAN = 1_750_000_000


def built(root: Path, commits: int, entries: int, secret: str = "") -> None:
    """A workspace at `root` whose history has so many commits; every hundredth has `secret` in one place or another."""
    root.mkdir(parents=True)
    _git(root, "init", "-q", "-b", "main")
    told = "".join(_stream(commits, entries, secret)).encode()
    _git(root, "fast-import", "--quiet", told=told)
    _git(root, "reset", "-q", "--hard", "main")
    with Memory(root) as memory:
        memory.init(claim=True)


def _git(root: Path, *words: str, told: bytes = b"") -> None:
    subprocess.run(["git", "-C", str(root), *words], input=told, check=True, capture_output=True)


def _stream(commits: int, entries: int, secret: str) -> Iterator[str]:
    """The first commit makes all entries, each later one changes one; the last of them hold no secret any more."""
    for number in range(1, commits + 1):
        where = number % 500 // 100 if secret and number % 100 == 0 and number < commits - 500 else None
        subject = f"remember: Fact {number}" if where != 0 else f"remember: with {secret} in it"
        yield f"commit refs/heads/main\ncommitter {_WHO} {_BEGAN + number * 60} +0000\n{_data(subject)}"
        names = range(entries) if number == 1 else [number * 37 % entries]
        if where == 1:
            yield _file(
                f"memory/entries/with-{secret.lower()}-{number}.md", _page(f"With {secret} {number}", "x", number)
            )
        if where == 2:
            yield _file("memory/MEMORY.md", f"# Overview\n\nThe key is {secret}, {number} times.\n")
        for each in names:
            text = f"It holds {secret} for now." if where == 3 else "Nothing to hide."
            yield _file(f"memory/entries/fact-{each}.md", _page(f"Fact {each}", text, number))
        yield "\n"


def _page(name: str, text: str, number: int) -> str:
    body = "\n".join(f"Line {line} of what is known as of {number if line == 3 else 0}." for line in range(8))
    return f"---\nname: {name}\ndescription: what {name} is about\n---\n\n{text}\n{body}\n"


def _file(path: str, text: str) -> str:
    return f"M 100644 inline {path}\n{_data(text)}"


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"
