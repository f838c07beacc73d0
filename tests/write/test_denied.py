"""Folders and files that this user may not look into: one line that names them and the way out, and no traceback."""

import ctypes
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from click.testing import Result

from crabmem import CrabmemError, DeniedHistory, Memory, Unreadable
from crabmem.cli import app
from crabmem.disk import fs
from crabmem.operations import adoption, agents, files, history, links, maintenance, proposals, purge, salient_facts
from tests.conftest import assert_clean, typed
from tests.serving import command, piped

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="drops capabilities as Linux has them")
T = TypeVar("T")
PLACES = ("", ".git", ".git/crabmem", ".git/objects", ".git/refs", "memory", "memory/entries", "memory/entries/vet.md")
MODES = (0o000, 0o400, 0o100, 0o500)
#: Those that read entries alone.
READ_ENTRIES = ("recall boiler", "list", "prompt", 'call recall {"query":"boiler"}')
OTHERS = ("remember New -d d -c text", "forget Boiler", "log", "diff", "doctor", "undo", "digest", "purge Boiler --yes")
VERBS = (*READ_ENTRIES, *OTHERS)
_NO_TAG = "no fact has a tag; `crabmem remember NAME -t TAG` gives one\n"


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def _drop() -> None:
    """Have permissions stop this thread, and who it starts, even if it is root's."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP: nor do programs that it starts get it back
    header, data = _Header(0x20080522, 0), (_Data * 2)()
    assert libc.capget(ctypes.byref(header), data) == 0
    for kind in ("effective", "permitted", "inheritable"):
        setattr(data[0], kind, getattr(data[0], kind) & ~0b110)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(ctypes.byref(header), data) == 0


def stopped(work: Callable[[], T]) -> T:
    """What `work` gives where permissions stop it; what it raises is raised."""
    done, raised = list[T](), list[BaseException]()

    def run() -> None:
        _drop()
        try:
            done.append(work())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return done[0]


class Shut:
    """A workspace in which something is shut with a mode while this lasts; "" is the workspace."""

    def __init__(self, root: Path, place: str, mode: int) -> None:
        self._file, self._mode, self._before = root / place, mode, 0

    def __enter__(self) -> None:
        self._before = os.stat(self._file).st_mode
        os.chmod(self._file, self._mode)

    def __exit__(self, *raised: object) -> None:
        if self._file.exists():
            os.chmod(self._file, self._before)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace of two facts."""
    root = tmp_path / "notes"
    with Memory(root, agent="coder") as memory:
        memory.remember("Vet", "who looks after the dog", "Dr. Moreno.")
        memory.remember("Boiler", "where the boiler is", "In the cellar.")
    return root


def said(root: Path, words: str) -> Result:
    """What a verb says where permissions stop it."""
    return stopped(lambda: typed("--dir", root, "--agent", "coder", *words.split(" ")))


@pytest.mark.parametrize("mode", MODES, ids="{:03o}".format)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place or "workspace")
def test_a_verb_that_may_not_look_says_so_in_one_line_and_nothing_is_lost(
    root: Path, place: str, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without the last net of the command line: it must be an error of ours before that.
    monkeypatch.setattr(app, "OSError", AssertionError, raising=False)
    for words in VERBS:
        with Shut(root, place, mode):
            done = said(root, words)
        assert done.exception is None or isinstance(done.exception, SystemExit), (words, done.exc_info)
        if done.exit_code and not words.startswith("doctor"):
            [line] = done.stderr.splitlines()
            is_nothing_found = words.startswith("recall") and "unreadable" in line
            assert done.exit_code == 1 and (line.startswith("crabmem: ") or is_nothing_found), words
            if "permission denied" in line:
                # What a tool says is said to a model, which hears no path of the machine.
                shown = (place or "the workspace") if words.startswith("call ") else root / place
                assert f"`chmod -R u+rwX {shown}`" in line, words
    with Memory(root, agent="coder") as memory:
        memory.adopt()
        memory.remember("After", "d", "it is open again")
        assert memory.get("Vet").content == "Dr. Moreno."
    assert_clean(root)


@pytest.mark.parametrize("mode", [0o000, 0o400], ids="{:03o}".format)
@pytest.mark.parametrize("place", [place for place in PLACES if place.startswith(".git")])
def test_recall_goes_on_without_the_history_and_says_that_it_cannot_be_read(root: Path, place: str, mode: int) -> None:
    words = f"the history cannot be read: permission denied; `chmod -R u+rwX {root / place}` gives you access"
    with Shut(root, place, mode):
        for verb in READ_ENTRIES:
            assert said(root, verb).exit_code == 0, verb
        done = said(root, "recall boiler")
        assert "In the cellar." in done.stdout and done.stderr == f"{words}\n"
        for verb in ("log", "remember New -d d -c text"):
            assert (said(root, verb).exit_code, said(root, verb).stderr) == (1, f"crabmem: {words}\n")


def test_a_memory_says_so_until_it_may_look_again(root: Path) -> None:
    def recalled() -> list[str]:
        with Memory(root) as memory:
            before = memory.recall("boiler").note
            with pytest.raises(DeniedHistory, match="permission denied; `chmod"):
                memory.log()
            os.chmod(root / ".git", 0o700)
            return [before, memory.recall("boiler").note]

    with Shut(root, ".git", 0o000):
        before, after = stopped(recalled)
    assert before.startswith("the history cannot be read: permission denied; ") and after == ""


@pytest.mark.parametrize("place", ["memory/entries/vet.md", "memory/entries", "memory"])
def test_what_cannot_be_read_is_not_recorded_as_removed(root: Path, place: str) -> None:
    def adopted() -> object:
        with Memory(root) as memory:
            return memory.adopt()

    with Shut(root, place, 0o000):
        assert stopped(adopted) is None
        assert said(root, "remember Vet -d d -c other").exit_code == 1


@pytest.mark.parametrize("words", ["purge Vet --yes", "purge Vet --dry-run", "purge --text cellar --yes"])
@pytest.mark.parametrize("place", ["memory/entries/vet.md", "memory/entries/vet.md~", "memory/MEMORY.md", ".git/hooks"])
def test_a_purge_does_nothing_while_what_it_looks_into_may_not_be_read(root: Path, words: str, place: str) -> None:
    file = root / place
    if place == ".git/hooks":
        file.mkdir(exist_ok=True)
    elif not file.exists():
        file.write_text("Dr. Moreno looks into the cellar.")
    with Memory(root) as memory:
        memory.adopt()
        head = history.newest(memory)
    with Shut(root, place, 0o000):
        done = said(root, words)
        assert (done.exit_code, done.stdout) == (1, "")
        assert f"{place} cannot be read: permission denied; `chmod -R u+rwX" in done.stderr
    with Memory(root) as memory:
        assert history.newest(memory) == head and memory.get("Vet").content == "Dr. Moreno."
        purge.purge(memory, "Vet")
        memory.remember("After", "d", "it is open again")
        assert purge.standing(memory, "Vet").places == ()
        assert [commit.subject for commit in memory.log() if "Vet" in commit.subject] == []


def test_a_purge_names_every_file_that_it_may_not_read(root: Path) -> None:
    entries = "memory/entries"
    with Shut(root, f"{entries}/vet.md", 0o000), Shut(root, f"{entries}/boiler.md", 0o000):
        done = said(root, "purge Vet --yes")
    assert done.exit_code == 1
    assert all(f"{entries}/{name}.md cannot be read" in done.stderr for name in ("vet", "boiler"))


def test_a_purge_fails_when_nobody_can_say_whether_another_file_has_it(root: Path) -> None:
    (root / ".git/info/exclude").write_text("/photo\n")
    (root / "photo").write_text("Dr. Moreno.")
    with Shut(root, "photo", 0o000):
        done = said(root, "purge --text Moreno --yes")
        verified = said(root, "purge --text Moreno --verify")
    assert (done.exit_code, verified.exit_code) == (1, 1)
    assert "purged where it could be looked for" in done.stdout and "not looked into: photo (" in done.stdout
    with Memory(root) as memory:
        assert purge.standing(memory, text="Moreno").places == ("photo",)


def test_a_purge_says_that_it_may_not_look_into_the_workspace_of_an_agent(root: Path) -> None:
    with Memory(root) as memory:
        agents.new_agent(memory, "bob")
    with Shut(root, "agents/bob/.git", 0o000):
        done = said(root, "purge Vet --yes")
    assert done.exit_code == 1 and "purged, but not everywhere" in done.stdout
    assert "agents/bob (its history was not looked into: " in done.stdout


def test_a_file_that_is_shut_while_a_purge_runs_is_not_called_erased(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = root / "memory/entries/vet.md"

    def shuts(operation: str, path: str) -> None:
        if operation == "rename" and path.endswith(".git-purging"):
            file.chmod(0o000)

    monkeypatch.setattr(fs, "before", shuts)
    done = said(root, "purge Vet --yes")
    monkeypatch.undo()
    assert done.exit_code == 1 and "erased:" not in done.stdout and "permission denied" in done.stderr
    assert file.stat().st_mode & 0o777 == 0
    file.chmod(0o600)
    assert said(root, "show Vet").exit_code == 0 and said(root, "doctor").exit_code == 0
    assert "erased:" in said(root, "purge Vet --yes").stdout


def test_an_object_that_may_not_be_read_is_not_taken_for_a_damaged_one(root: Path) -> None:
    with Memory(root) as memory:
        head = history.newest(memory)
    assert head
    file = root / ".git/objects" / head[:2] / head[2:]
    with Shut(root, f".git/objects/{head[:2]}/{head[2:]}", 0o000):
        for verb in ("log", "remember New -d d -c text"):
            done = said(root, verb)
            assert (done.exit_code, f"`chmod -R u+rwX {file}`" in done.stderr) == (1, True), verb
        assert "broken" not in said(root, "doctor").stdout
    with Memory(root) as memory:
        assert history.newest(memory) == head


def test_of_another_users_folder_the_owner_is_told(root: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(root / ".git", 12_345, -1)
    with Shut(root, ".git", 0o700):
        words = said(root, "log").stderr
    os.chown(root / ".git", 0, -1)
    assert f'{root}/.git belongs to another user: `sudo chown -R "$(id -u)" {root}/.git` makes it yours' in words


@pytest.mark.parametrize(
    ("place", "shown", "tags"),
    [("memory/entries/vet.md", "boiler  Boiler: where the boiler is\n", _NO_TAG), ("memory/entries", "", "")],
)
def test_verbs_that_list_say_how_much_they_could_not_read(root: Path, place: str, shown: str, tags: str) -> None:
    note = "1 file unreadable (`crabmem doctor` names them)\n"
    with Shut(root, place, 0o000):
        done = {verb: said(root, verb) for verb in ("list", "tags", "links", "list --json", "tags --json")}
    assert (done["list"].stdout, done["list"].stderr) == (shown, note)
    assert done["tags"].stderr == note + tags
    assert done["links"].stderr == f"{note}0 links lead nowhere\n"
    for verb in ("list --json", "tags --json"):
        assert done[verb].stderr == note and isinstance(json.loads(done[verb].stdout), dict)


@pytest.mark.parametrize("place", ["memory/entries/vet.md", "memory/entries"])
@pytest.mark.parametrize("verb", ["show Vet", "forget Vet", "rename Vet Doctor", "blame Vet", "links Vet"])
def test_a_fact_whose_file_cannot_be_read_is_not_said_to_be_missing(root: Path, place: str, verb: str) -> None:
    with Shut(root, place, 0o000):
        done = said(root, verb)
    words = f"crabmem: memory/entries/vet.md: permission denied; `chmod -R u+rwX {root / place}` gives you access\n"
    assert (done.exit_code, done.stderr) == (1, words)


@pytest.mark.parametrize("place", ["memory/entries/boiler.md", "memory/entries", "memory"])
@pytest.mark.parametrize("verb", ["undo", "undo --redo", "revert HEAD", "revert HEAD --ours"])
def test_what_cannot_be_read_is_not_said_to_have_changed(root: Path, place: str, verb: str) -> None:
    with Memory(root) as memory:
        memory.remember("Boiler", "where the boiler is", "In the attic.")
        if verb == "undo --redo":
            memory.undo()
    with Shut(root, place, 0o000):
        done = said(root, verb)
    why = "permission denied" if place.endswith(".md") else "the folder cannot be listed: permission denied"
    words = f"crabmem: {place}: {why}; `chmod -R u+rwX {root / place}` gives you access\n"
    assert (done.exit_code, done.stderr, done.stdout) == (1, words, "")


def test_a_hook_says_nothing_and_ends_well(root: Path) -> None:
    for place in PLACES:
        with Shut(root, place, 0o000):
            asked = json.dumps({"session_id": "s", "prompt": "where is the boiler"}).encode()
            done = stopped(
                lambda asked=asked: subprocess.run(  # type: ignore[misc]
                    [sys.executable, "-m", "crabmem", "--dir", str(root), "hook", "prompt", "--host", "claude-code"],
                    input=asked,
                    capture_output=True,
                )
            )
        assert (done.returncode, done.stderr) == (0, b"") and json.loads(done.stdout) is not None, place


@pytest.mark.parametrize("place", [".git", ".git/objects", "memory", "memory/entries"])
def test_a_server_starts_and_says_it_to_who_calls(root: Path, place: str) -> None:
    def called() -> tuple[str, str, int]:
        # A process of its own: the one that others are forks of may look where this user may not.
        with piped(command(root, program=[sys.executable, "-m", "crabmem"])) as wire:
            answers = [
                wire.call(tool, **given)
                for tool, given in (
                    ("recall", {"query": "boiler"}),
                    ("remember", {"name": "N", "description": "d", "content": "c"}),
                )
            ]
            texts = [answer["content"][0]["text"] for answer in answers]
            assert answers[1]["isError"]
            return texts[0], texts[1], wire.end()[0]

    with Shut(root, place, 0o000):
        recalled, remembered, status = stopped(called)
    assert (status == 0 and "In the cellar." in recalled) or not place.startswith(".git")
    assert "permission denied" in remembered and f"`chmod -R u+rwX {place}`" in remembered


def test_memory_raises_errors_of_ours_alone(root: Path) -> None:
    def each(memory: Memory) -> None:
        ways: list[Callable[[], object]] = [
            memory.entries, memory.overview, memory.identity, memory.log, memory.diff, memory.digest,
            memory.doctor, memory.adopt, memory.init, memory.prompt,
            *(partial(work, memory) for work in (links.links, maintenance.stats, agents.agents, proposals.proposals)),
            *(partial(work, memory) for work in (files.blobs, files.notes, history.newest, maintenance.mend)),
            *(partial(work, memory) for work in (maintenance.compact, maintenance.reindex, adoption.unrecorded)),
            lambda: memory.get("Vet"), lambda: memory.blame("Vet"), lambda: memory.before_turn("where is the boiler?"),
            lambda: memory.when("boiler"), lambda: purge.standing(memory, "Vet"),
            lambda: purge.purge(memory, "Vet", dry_run=True),
            lambda: memory.search("boiler"), lambda: salient_facts.salient(memory),
            lambda: list(history.commits(memory)),
            lambda: memory.recall("boiler", as_of="1 minute ago"), lambda: memory.write_note("x"),
        ]  # fmt: skip
        for way in ways:
            try:
                way()
            except CrabmemError:
                continue

    def tried() -> None:
        with Memory(root) as memory:
            each(memory)

    for place in PLACES:
        for mode in MODES:
            with Shut(root, place, mode):
                stopped(tried)


def test_a_workspace_that_may_not_be_listed_is_unreadable(root: Path) -> None:
    with Shut(root, "", 0o000), pytest.raises(Unreadable, match="cannot be listed: permission denied; `chmod"):
        stopped(lambda: Memory(root).entries())


def test_an_error_of_the_system_that_nobody_took_is_one_line_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failed(memory: Memory, progress: object) -> None:
        raise OSError(5, "Input/output error", "/some/file")

    monkeypatch.setattr(maintenance, "doctor", failed)
    done = typed("--dir", root, "doctor")
    assert (done.exit_code, done.stderr) == (1, "crabmem: /some/file: input/output error\n")


@pytest.mark.parametrize("place", [".git/crabmem", ".git/objects", ".git/refs/heads"])
def test_doctor_names_a_folder_of_the_repository_that_cannot_be_written(root: Path, place: str) -> None:
    with Shut(root, place, 0o500), Memory(root) as memory:
        [found] = [each for each in stopped(memory.doctor) if each.check == "permissions" and place in each.message]
    assert found.level == "error" and found.message.startswith(f"{root}/{place} cannot be written to; `chmod -R")
