"""Whatever is done, in whatever order and layout: no text is lost, recall finds what is on disk and nothing else."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import CrabmemError, Fact, Key, Memory
from crabmem.operations import adoption, files, keyvalue
from tests.conftest import assert_clean, git, needs_git
from tests.examples import examples

#: Names that share a slug, a key or a file that has a meaning, and some that do not.
NAMES = ["Luna", "luna", "a b", "a_b", "memory", "Crab", "2026-11-20", "wifi", "C++"]
FILES = ["luna", "wifi", "2026-11-20", "odd name"]
STEPS = ["remember", "rename", "rewrite", "move", "keep", "wrote", "outside", "moved", "undo", "rollback", "purge",
         "note", "forget", "import", "adopt"]  # fmt: skip


class Play:
    """One memory, what it acknowledged (`said`), and what was purged from it."""

    def __init__(self, root: Path, layout: str, data: st.DataObject) -> None:
        (root / "crabmem.toml").write_text(f'layout = "{layout}"\n')
        self.root, self._data, self._serial = root, data, 0
        self.memory = Memory(root, agent="coder", session="s-1")
        self.memory.init()
        self._folders = self.memory.layout.entries
        self.said: set[str] = set()
        self.purged: set[str] = set()

    def step(self) -> None:
        """One thing that an agent, a host or a person does, or is refused."""
        kind, known = self._data.draw(st.sampled_from(STEPS)), set(self.on_disk().values())
        self._serial += 1
        token = f"token{self._serial}x"
        try:
            kept = getattr(self, f"_{kind}")(token)
        except CrabmemError:
            assert kind in ("wrote", "outside", "moved") or set(self.on_disk().values()) == known
        else:
            self.said |= {token} if kept else set()

    def on_disk(self) -> dict[str, str]:
        """The text of every file of memory."""
        return {file.relative_to(self.root).as_posix(): file.read_text() for file in self.root.rglob("*.md")}

    def _name(self) -> str:
        entries = [entry.path for entry in self.memory.entries()]
        return self._data.draw(st.sampled_from([*entries, *NAMES]))

    def _new(self) -> str:
        return self._data.draw(st.sampled_from(NAMES))

    def _text(self, token: str) -> str:
        return f"{token} and [[{self._new()}]]\n"

    def _file(self) -> Path:
        file = self.root / self._data.draw(st.sampled_from(self._folders)) / f"{self._one_of(FILES)}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def _one_of(self, names: list[str]) -> str:
        return self._data.draw(st.sampled_from(names))

    def _remember(self, token: str) -> bool:
        self.memory.remember(self._new(), "what it is", self._text(token))
        return True

    def _rename(self, token: str) -> bool:
        def tokens() -> set[str]:
            return {word for text in self.on_disk().values() for word in text.split() if word.startswith("token")}

        before, new = tokens(), self._new()
        done = self.memory.rename(self._name(), new)
        assert tokens() == before and done.path in [entry.path for entry in self.memory.entries()]
        return False

    def _rewrite(self, token: str) -> bool:
        path = self._one_of(["MEMORY.md", "luna.md", "entries/wifi.md", "people/ada.md", "MEMORY.md/x.md", "Crab.md"])
        text = self._text(token)
        return files.rewrite(self.memory, "put", lambda tree: {path: text}).commit is not None

    def _move(self, token: str) -> bool:
        old, new = self._one_of(["luna.md", "entries/wifi.md", "people/ada.md"]), self._one_of(["x.md", "people/x.md"])
        files.rewrite(self.memory, "move", lambda tree: {old: None, new: tree.text(old)} if old in tree else {})
        return False

    def _keep(self, token: str) -> bool:
        keys = [Key(("memory",), self._new()), Key(("users", "ada"), self._new())]
        fact = Fact(keys[0].name, "what a store keeps", self._text(token))
        keyvalue.keep(self.memory, {keys[0]: fact, keys[1]: None})
        return True

    def _outside(self, token: str) -> bool:
        self.memory.adopt()  # what a person saves over is recorded: that is what a watcher is for
        self._file().write_text(self._text(token))
        return True

    def _wrote(self, token: str) -> bool:
        self.memory.adopt()
        file = self._file()
        file.write_text(self._text(token))
        adoption.adopt_written(self.memory, [str(file)])
        return True

    def _moved(self, token: str) -> bool:
        self.memory.adopt()
        old, new = self._file(), self._file()
        with suppress(FileNotFoundError):
            old.rename(new)
        return False

    def _undo(self, token: str) -> bool:
        self.memory.undo()
        return False

    def _rollback(self, token: str) -> bool:
        name = self._name() if self._data.draw(st.booleans()) else None
        self.memory.rollback(self._one_of(["HEAD~1", "HEAD~3"]), name)
        return False

    def _purge(self, token: str) -> bool:
        for text in sorted(self.said)[:1]:
            standing = self.memory.purge(text=text).standing
            assert standing and standing.places == ()
            self.said.remove(text)
            self.purged.add(text)
        return False

    def _note(self, token: str) -> bool:
        return self.memory.write_note(token).commit is not None

    def _forget(self, token: str) -> bool:
        self.memory.forget(self._name())
        return False

    def _import(self, token: str) -> bool:
        [saved] = self.memory.remember_all([Fact(self._new(), "what it is", self._text(token))], "a folder")
        return not isinstance(saved, CrabmemError)

    def _adopt(self, token: str) -> bool:
        self.memory.adopt()
        return False


def looks(root: Path, warm: Memory) -> Iterator[Memory]:
    """The memory as who did all of it has it, and as a new process does."""
    yield warm
    with Memory(root) as fresh:
        yield fresh


@needs_git
@pytest.mark.timeout(120)
@settings(max_examples=examples(15))
@given(layout=st.sampled_from(["ordinary", "flat"]), steps=st.integers(5, 15), data=st.data())
def test_nothing_is_lost_and_recall_finds_what_is_on_disk(layout: str, steps: int, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        play = Play(Path(folder), layout, data)
        for _ in range(steps):
            play.step()
        play.memory.adopt()
        assert_clean(play.root)
        history, disk = git(play.root, "log", "--all", "-p", "-m", "--format=%B"), play.on_disk()
        assert [token for token in play.said if token not in history] == []
        assert [token for token in play.purged if token in history + "".join(disk.values())] == []
        entries = {path: text for path, text in disk.items() if play.memory.layout.is_entry(path)}
        recalled = {path: text for path, text in disk.items() if play.memory.layout.is_recalled(path)}
        for memory in looks(play.root, play.memory):
            assert {entry.path for entry in memory.entries()} == entries.keys()
            for token in sorted(play.said | play.purged):
                found = {hit.entry.path for hit in memory.recall(token, limit=50)}
                assert found == {path for path, text in recalled.items() if token in text.split()}
        play.memory.close()
