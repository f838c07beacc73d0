"""No argument, name, file, link or race leads out of the workspace, and no two names share a file."""

import json
import os
import shutil
import socket
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from crabmem import CrabmemError, InvalidArguments, Memory, Unreadable
from crabmem.disk.seal import Seal
from crabmem.disk.user_state import state_folder
from crabmem.text.slug import name_key
from crabmem.workspace.workspace import folder_of
from tests import forked

from .attacks import FACES, NAMES, PATHS, SECRET, CommandLine, Face, Ground, Python, folded, folder, grounds, words_of
from .repository import complaints, git

ENTRIES = "memory/entries"
each_face = pytest.mark.parametrize("face", FACES, ids=words_of)
each_step = pytest.mark.parametrize("step", [15, pytest.param(1, marks=pytest.mark.long)])
each_count = pytest.mark.parametrize("swaps", [100, pytest.param(1_000, marks=pytest.mark.long)])


@pytest.fixture
def ground() -> Iterator[Ground]:
    with folder() as around:
        yield Ground(around)


def test_the_lists_are_as_long_as_promised() -> None:
    assert len(PATHS) >= 200 and len(NAMES) >= 109


@each_face
@each_step
def test_no_name_reaches_outside(face: type[Face], step: int) -> None:
    for ground, payloads in grounds(PATHS if face is Python else PATHS[FACES.index(face) :: min(step, 8)]):
        agent = face(ground.root)
        for payload in payloads:
            ground.assert_untouched(payload, agent.remember(payload, "an attempt", "harmless"))
        for payload in payloads[FACES.index(face) :: 5]:
            ground.assert_untouched(payload, agent.forget(payload))
        agent.close()
        ground.assert_whole()


@each_face
@each_step
def test_no_label_description_or_query_reaches_outside(ground: Ground, face: type[Face], step: int) -> None:
    agent = face(ground.root)
    for payload in ground.payloads(step):
        said = agent.remember("Known", payload, payload, [payload])
        said += agent.recall(payload, [payload]) + agent.overview(payload)
        ground.assert_untouched(payload, said)
    agent.close()
    ground.assert_whole()


@each_face
@each_step
def test_no_name_of_an_agent_or_session_reaches_outside(ground: Ground, face: type[Face], step: int) -> None:
    for number, payload in enumerate(ground.payloads(step, start=FACES.index(face) % step)):
        try:
            agent = face(ground.root, payload[:200], payload[:200])
        except InvalidArguments as refused:  # nothing of it would be seen in the history
            said = str(refused)
        else:
            said = agent.overview(f"# {number}")
            agent.close()
        ground.assert_untouched(payload, said)
    ground.assert_whole()


def test_every_name_of_a_workspace_is_a_folder_right_below_agents(ground: Ground) -> None:
    agents = ground.root / "agents"
    for payload in filter(str.strip, ground.payloads()):
        root = Path(folder_of(str(ground.root), payload, {}, "/nowhere"))
        assert root.parent == agents and root == Path(folder_of(None, payload, {"CRABMEM_DIR": str(ground.root)}, "/"))
        assert ".." not in root.parts and len(os.fsencode(root.name)) <= 120, payload


def test_no_name_of_a_workspace_leads_out_of_agents(ground: Ground) -> None:
    said = ""
    for payload in ground.payloads(8):
        line = CommandLine(ground.root)
        said = line.run(f"--workspace={payload}", "recall", "fact") + line.run(f"--workspace={payload}", "prompt")
        ground.assert_untouched(payload, said)
    CommandLine(ground.root).run("--workspace=../../a/b", "remember", "x", "-d", "y", "-c", "z")
    assert [item.name for item in (ground.root / "agents").iterdir()] == ["a-b"]
    ground.assert_untouched("../../a/b", said)


@each_step
@pytest.mark.parametrize("face", [Python, CommandLine], ids=words_of)
def test_no_revision_reads_outside_or_changes_a_file(ground: Ground, face: type[Face], step: int) -> None:
    memory = Memory(ground.root)
    before = git(ground.root, "rev-parse", "HEAD")
    asked = (
        lambda revision: memory.get("Known", at=revision),
        lambda revision: memory.diff(revision, revision),
        lambda revision: memory.rollback(revision),
        lambda revision: memory.remember("Known", "x", "y", if_version=revision),
    )
    for payload in ground.payloads(1 if face is Python else step):
        if payload in ("@", "HEAD"):
            continue
        said = _answers(asked, payload) if face is Python else _typed(CommandLine(ground.root), payload)
        ground.assert_untouched(payload, said)
    memory.close()
    assert git(ground.root, "rev-parse", "HEAD") == before
    ground.assert_whole()


def _answers(asked: tuple[Callable[[str], object], ...], payload: str) -> str:
    said = ""
    for ask in asked:
        with pytest.raises(CrabmemError) as caught:
            ask(payload)
        said += str(caught.value)
    return said


def _typed(line: CommandLine, payload: str) -> str:
    return (
        line.run("show", f"--as-of={payload}", "Known")
        + line.run("diff", "--", payload, payload)
        + line.run("rollback", f"--to={payload}")
        + line.run("log", "--", payload)
    )


def test_no_value_in_a_file_reaches_outside(ground: Ground) -> None:
    own = []
    for number, payload in enumerate(ground.payloads()):
        text = json.dumps(payload)
        keys = ("name", "description", "aliases", "tags", "path", "file", "slug", "include", "version")
        header = "".join(f"{key}: {text}\n" for key in keys)
        own.append(f"{ENTRIES}/file-{number}.md")
        (ground.root / own[-1]).write_text(f"---\n{header}---\n\nWritten by hand.\n", "utf-8", "surrogatepass")
    agent = Python(ground.root)
    said = agent.remember("Other", "adopts the files", "x") + agent.recall("hand")
    ground.assert_untouched("frontmatter", said)
    for payload in ground.payloads(16):
        said = agent.remember(payload, "over the file", "x") + agent.forget(payload)
        ground.assert_untouched(payload, said)
    said = CommandLine(ground.root).run("doctor") + CommandLine(ground.root).run("list")
    agent.close()
    ground.assert_untouched("frontmatter", said)
    ground.assert_whole()


def test_no_setting_reaches_outside(ground: Ground) -> None:
    file = ground.root / "crabmem.toml"
    memory = Memory(ground.root, agent="agent")
    for number, payload in enumerate(ground.payloads(8)):
        file.write_text(f"person = {json.dumps(payload)}\n", "utf-8", "surrogatepass")
        (ground.root / "memory" / "MEMORY.md").write_text(f"{number}\n")
        with suppress(CrabmemError):  # a NUL, or half of a surrogate pair, is no TOML
            memory.remember("Known", "what is known", str(number))
    file.unlink()
    memory.adopt()
    memory.close()
    ground.assert_untouched("person", git(ground.root, "log", "-p"))
    ground.assert_whole()


@pytest.mark.parametrize("kept", ["journal", "displaced", "index-behind"])
def test_no_path_in_what_a_write_left_behind_reaches_outside(ground: Ground, kept: str) -> None:
    private = ground.root / ".git" / "crabmem"
    blob = git(ground.root, "rev-parse", "HEAD:Crab.md").strip()
    for number, payload in enumerate(ground.payloads(2 if kept == "journal" else 12)):
        staged = private / "tmp" / f"write-{number:016x}"
        staged.write_bytes((ground.root / "Crab.md").read_bytes())
        text = _left_behind(kept, payload, staged.name, blob)
        (private / kept).write_bytes(text.encode("utf-8", "surrogatepass"))
        with Memory(ground.root, agent="agent") as memory:
            if kept != "journal" or number % 10 == 0:
                memory.write_overview(f"# {number}")
        ground.assert_untouched(payload, "")
    for staged in (private / "tmp").glob("write-*"):
        staged.unlink()
    ground.assert_whole()


def _left_behind(kept: str, payload: str, staged: str, blob: str) -> str:
    if kept == "index-behind":
        return payload
    if kept == "displaced":
        return json.dumps({staged: payload, payload: "memory/entries/x.md"})
    words = {"subject": payload, "author": payload, "body": payload, "trailers": [[payload, payload]]}
    step = {"old": None, "new": blob, "temporary": staged}
    return json.dumps({**words, "when": "2026-03-01T12:00:00+00:00", "steps": {payload: step}})


# What the words and ids of a journal may do when its paths are ours.

_FORGED = [
    {"author": "a\nparent 0000000000000000000000000000000000000000 <x@x>"},
    {"author": "nobody"},
    {"author": "<<>>"},
    {"author": "\0 <x@x>"},
    {"subject": "\0\n\nTool: forged"},
    {"body": "\0"},
    {"trailers": [["Tool: forged\nAgent", "x\0"]]},
    {"new": "0" * 40},
    {"new": "../../../../secret.md"},
    {"new": ""},
]


def put_journal(root: Path, intent: Mapping[str, object]) -> None:
    """A journal that this user made: one of somebody else is not even tried."""
    sealed = Seal(state_folder(os.environ), "journal").sealed(json.dumps(intent).encode())
    (root / ".git/crabmem/journal").write_bytes(sealed)


@pytest.mark.parametrize("forged", _FORGED, ids=str)
def test_no_words_of_a_journal_make_a_commit_that_git_refuses(ground: Ground, forged: dict[str, str]) -> None:
    blob = git(ground.root, "hash-object", "-w", "Crab.md").strip()
    (ground.root / ENTRIES / "begun.md").write_bytes((ground.root / "Crab.md").read_bytes())
    step = {"old": None, "new": forged.get("new", blob), "temporary": f"write-{1:016x}"}
    steps = {f"{ENTRIES}/begun.md": {**step, "new": blob}, f"{ENTRIES}/other.md": step}
    words = {"subject": "remember: x", "author": "a <a@x>", "body": "", "trailers": [], **forged}
    intent = {**words, "when": "2026-03-01T12:00:00+00:00", "steps": steps}
    put_journal(ground.root, intent)
    with Memory(ground.root, agent="agent") as memory:
        assert memory.remember("Known", "x", "y").commit
    ground.assert_untouched(forged, "")
    ground.assert_whole()


def test_a_prune_after_a_crash_leaves_no_commit_without_its_text(ground: Ground) -> None:
    known = ground.root / ENTRIES / "known.md"
    old = git(ground.root, "rev-parse", f"HEAD:{ENTRIES}/known.md").strip()
    known.write_text("---\nname: Known\ndescription: x\n---\n\nwritten, not yet committed\n")
    new = git(ground.root, "hash-object", f"{ENTRIES}/known.md").strip()
    words = {"subject": "remember: Known", "author": "a <a@x>", "body": "", "trailers": [["Tool", "remember"]]}
    steps = {f"{ENTRIES}/known.md": {"old": old, "new": new, "temporary": f"write-{1:016x}"}}
    put_journal(ground.root, {**words, "when": "2026-03-01T12:00:00+00:00", "steps": steps})
    with Memory(ground.root, agent="agent") as memory:
        assert memory.remember("Other", "x", "y").commit
        assert memory.log(limit=2)[1].subject == "remember: Known"
    ground.assert_whole()


# Links, and what is no file

_LINKS: dict[str, Callable[[Path, Path], None]] = {
    "absolute link to a secret": lambda file, outside: file.symlink_to(outside / "secret.md"),
    "relative link to a secret": lambda file, outside: file.symlink_to(
        os.path.relpath(outside / "secret", file.parent)
    ),
    "dangling link": lambda file, outside: file.symlink_to(outside / "made-through-the-link.md"),
    "link to itself": lambda file, outside: file.symlink_to(file),
    "link to Crab.md": lambda file, outside: file.symlink_to("../../Crab.md"),
    "link to .git/config": lambda file, outside: file.symlink_to("../../.git/config"),
    "link to a folder": lambda file, outside: file.symlink_to(outside / "a", target_is_directory=True),
    "link to a pipe": lambda file, outside: file.symlink_to(_pipe(outside / "pipe")),
    "link to a device": lambda file, outside: file.symlink_to("/dev/zero"),
    "pipe": lambda file, outside: os.mkfifo(file),
    "socket": lambda file, outside: _socket(file),
    "folder": lambda file, outside: file.mkdir(),
    "folder with a file": lambda file, outside: (file / "x.md").mkdir(parents=True),
}


def _pipe(file: Path) -> Path:
    os.mkfifo(file)
    return file


def _socket(file: Path) -> None:
    here = os.getcwd()
    os.chdir(file.parent)  # the path of a socket may only have some hundred bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(file.name)
    finally:
        os.chdir(here)


@each_face
@pytest.mark.parametrize("kind", _LINKS)
def test_what_is_no_file_is_neither_followed_nor_read_nor_replaced(kind: str, face: type[Face]) -> None:
    with folder() as around:
        file = around / "a/b/workspace" / ENTRIES / "odd.md"
        ground = Ground(around)
        _LINKS[kind](file, around)
        ground.look_again()
        before = file.lstat()
        agent = face(ground.root)
        said = agent.remember("odd", "the same file", "words") + agent.recall("secret of somebody else")
        said += agent.forget("odd") + agent.remember("Other", "something else", "words") + agent.forget("Known")
        said += CommandLine(ground.root).run("doctor") + CommandLine(ground.root).run("list")
        agent.close()
        assert os.path.samestat(before, file.lstat())
        ground.assert_untouched(kind, said)
        assert not (around / "made-through-the-link.md").exists()
        assert {path.name for path in file.parent.glob("*.md")} >= {"odd.md", "other.md"}
        assert complaints(ground.root) == []


@each_face
@pytest.mark.parametrize("name", ["memory", ENTRIES, "memory/MEMORY.md", "Crab.md", "crabmem.toml", "agents"])
def test_a_link_in_place_of_our_files_and_folders_is_not_followed(ground: Ground, name: str, face: type[Face]) -> None:
    target = ground.outside / "elsewhere"
    _moved_outside(ground.root / name, target)
    ground.look_again()
    agent = face(ground.root)
    said = agent.remember("Fresh", "a fact", "words") + agent.remember("Known", "a fact", "words")
    said += agent.overview("# New") + agent.recall("secret fact") + agent.forget("Known")
    line = CommandLine(ground.root)
    said += "".join(line.run(verb) for verb in ("doctor", "prompt", "config", "list", "diff", "undo"))
    said += line.run("--workspace=bob", "remember", "x", "-d", "y", "-c", "z") if name != "agents" else ""
    agent.close()
    ground.assert_untouched(name, said)
    assert "name-of-a-file-outside" not in said
    assert complaints(ground.root) == []


def _moved_outside(place: Path, target: Path) -> None:
    """A link at `place` to `target`, which has what was there and a secret."""
    if place.suffix:
        target.write_text(SECRET)
        place.unlink(missing_ok=True)
    else:
        target.mkdir()
        (target / "entries").mkdir()
        for file in ("MEMORY.md", "known.md", "entries/secret.md", "name-of-a-file-outside.txt"):
            (target / file).write_text(f"---\nname: Known\n---\n{SECRET} fact")
        if place.exists():
            shutil.rmtree(place)
    place.symlink_to(target)


@pytest.mark.parametrize("verb", ["memory", "soul"])
def test_an_editor_is_given_no_file_outside(ground: Ground, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "touch")
    monkeypatch.delenv("VISUAL", raising=False)
    shutil.rmtree(ground.root / "memory")
    (ground.root / "Crab.md").unlink()
    (ground.outside / "elsewhere").mkdir()
    (ground.root / "memory").symlink_to(ground.outside / "elsewhere")
    (ground.root / "Crab.md").symlink_to(ground.outside / "elsewhere" / "Crab.md")
    CommandLine(ground.root).run(verb, "edit")
    assert list((ground.outside / "elsewhere").iterdir()) == []


def test_a_file_outside_with_a_second_name_among_the_entries_never_changes(ground: Ground) -> None:
    for name in ("known.md", "linked.md"):
        (ground.root / ENTRIES / name).unlink(missing_ok=True)
    victims = {"known.md": ground.outside / "secret.md", "linked.md": ground.root / "Crab.md"}
    before = {}
    for name, victim in victims.items():
        os.link(victim, ground.root / ENTRIES / name)
        before[victim] = victim.read_bytes()
    with Memory(ground.root, agent="agent") as memory:
        for count in range(3):
            memory.remember("known", "x", str(count))
            memory.remember("linked", "x", str(count))
        memory.forget("linked")
    assert {victim: victim.read_bytes() for victim in victims.values()} == before
    assert complaints(ground.root) == []


_IN_GIT = [
    "crabmem/lock", "crabmem/lock.pid", "crabmem/journal", "crabmem/displaced",
    "crabmem/index-behind", "crabmem/repairs.log", "index", "HEAD", "config", "info/exclude", "logs/HEAD",
    "refs/heads/main", "refs/crabmem/keep", "shallow", "packed-refs", "gc.pid",
]  # fmt: skip


@pytest.mark.parametrize("name", _IN_GIT)
def test_a_link_inside_git_is_not_written_through(ground: Ground, name: str) -> None:
    place, victim = ground.root / ".git" / name, ground.outside / "victim"
    victim.write_bytes(place.read_bytes() if place.exists() else b"")
    place.unlink(missing_ok=True)
    place.symlink_to(victim)
    before = victim.read_bytes()
    with suppress(CrabmemError), Memory(ground.root, agent="agent") as memory:
        memory.doctor()
        memory.remember("Known", "x", "y")
        memory.forget("Known")
    assert victim.read_bytes() == before, f"P12: wrote through .git/{name}"


@pytest.mark.parametrize("name", ["crabmem", "crabmem/tmp"])
def test_a_folder_of_ours_inside_git_that_is_a_link_is_refused(ground: Ground, name: str) -> None:
    shutil.move(ground.root / ".git" / name, ground.outside / "victim")
    (ground.root / ".git" / name).symlink_to(ground.outside / "victim")
    ground.look_again()
    with Memory(ground.root, agent="agent") as memory:
        with pytest.raises(CrabmemError):
            memory.remember("Known", "x", "y")
        assert memory.recall("ordinary").hits
    assert ground.is_untouched()


def test_a_git_folder_that_is_a_link_is_refused_and_left_alone(ground: Ground) -> None:
    shutil.move(ground.root / ".git", ground.outside / "repository")
    (ground.root / ".git").symlink_to(ground.outside / "repository")
    ground.look_again()
    with Memory(ground.root, agent="agent") as memory:
        assert memory.recall("ordinary").hits
        with pytest.raises(CrabmemError, match="is not a folder"):
            memory.remember("Known", "x", "y")
    assert ground.is_untouched()


def test_a_named_agent_is_shown_nothing_through_links_of_the_parent(ground: Ground) -> None:
    bob = ground.root / "agents" / "bob"
    with Memory(bob, agent="bob") as memory:
        memory.remember("Own", "x", "y")
    for name in ("Crab.md", "memory/MEMORY.md"):
        (ground.root / name).unlink()
        (ground.root / name).symlink_to(ground.outside / "secret.md")
        (bob / name).unlink(missing_ok=True)
    ground.look_again()
    with Memory(bob, agent="bob") as memory:
        for look in (memory.overview, memory.identity):
            with pytest.raises(Unreadable):
                look()
        assert SECRET not in memory.prompt()
        assert memory.remember("Own", "x", "z").commit
    assert ground.is_untouched()


# A race: what was a folder when it was looked at is a link when it is used.

_SWAPPER = """
import ctypes, os, sys, time
link, place = map(os.fsencode, sys.argv[1:3])
exchange = ctypes.CDLL(None, use_errno=True).renameat2
for _ in range(int(sys.argv[3])):
    for pause in (0.0005, 0.003):
        if exchange(-100, link, -100, place, 2):
            sys.exit(f"not swapped: {ctypes.get_errno()}")
        time.sleep(pause)
print("swapped")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges a folder and a link at once")
@each_count
@pytest.mark.parametrize("name", ["memory", ENTRIES])
def test_swapping_a_folder_for_a_link_never_lets_a_write_or_read_out(ground: Ground, name: str, swaps: int) -> None:
    target = ground.outside / "elsewhere"
    (target / "entries").mkdir(parents=True)
    for file in ("known.md", "entries/known.md", "MEMORY.md", "entries/luna.md"):
        (target / file).write_text(f"---\nname: Luna\n---\n{SECRET} words")
    ground.look_again()
    (ground.root / ".link").symlink_to(target)
    command = [sys.executable, "-c", _SWAPPER, str(ground.root / ".link"), str(ground.root / name), str(swaps)]
    done = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as swapper:
        with Memory(ground.root, agent="agent") as memory:
            try:
                while swapper.poll() is None:
                    said, worked = _one_round(memory, done)
                    done += worked
                    assert SECRET not in said, "P12: what is outside was read"
            finally:
                swapper.kill()
        assert swapper.communicate()[0] == "swapped\n"
    assert ground.is_untouched(), "P12: a write or a read went through the link"
    assert SECRET not in git(ground.root, "log", "--all", "-p"), "P12: what is outside was recorded"
    assert done and complaints(ground.root) == []


def _one_round(memory: Memory, number: int) -> tuple[str, int]:
    """Remember, recall and forget; what was said, and how many writes were done."""
    said, done = "", 0
    asked: tuple[Callable[[], object], ...] = (
        lambda: memory.remember("Luna", "the dog", f"words {number}"),
        lambda: memory.recall("words"),
        lambda: memory.get("Luna"),
        lambda: memory.write_overview(f"# {number}"),
        lambda: memory.forget("Luna"),
    )
    for ask in asked:
        try:
            said += repr(ask())
            done += 1
        except CrabmemError as error:
            said += str(error)
    return said, done


# Names


@each_face
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_two_names_never_share_a_file_and_one_name_never_has_two(face: type[Face], step: int) -> None:
    """Names that are close to each other stand side by side: few faces are shown all of them, one is."""
    names = NAMES if face is Python else NAMES[: len(NAMES) // step]
    for ground, some in grounds(names, len(names) if face is Python else 60):
        _assert_each_has_its_file(ground, face, some)


def _assert_each_has_its_file(ground: Ground, face: type[Face], names: list[str]) -> None:
    agent = face(ground.root)
    kept: dict[str, str] = {}
    for number, name in enumerate(names):
        said = agent.remember(name, "one of many", f"fact number {number}.")
        if face is CommandLine and not any(map(str.isalnum, name)) and "signs alone" in said:
            continue
        if any(char.isprintable() and not char.isspace() for char in name):
            kept[name_key(name.strip())] = f"fact number {number}."
        else:
            assert "empty" in said
    agent.close()
    with Memory(ground.root) as memory:
        found = {name_key(entry.name): entry.content for entry in memory.entries() if entry.name != "Known"}
        assert all(memory.get(entry.path.split("/")[-1][:-3]).path for entry in memory.entries())
    assert found == kept
    assert len(os.listdir(ground.root / ENTRIES)) == len(kept) + 1
    ground.assert_whole()


def test_names_that_only_form_or_case_tells_apart_on_disk_are_both_kept(ground: Ground) -> None:
    entries = ground.root / ENTRIES
    for stem in ("Café", "cafe\u0301", "CAFÉ"):
        (entries / f"{stem}.md").write_text(
            f"---\nname: {stem}\n---\n\nby hand: {unicodedata.normalize('NFC', stem)}\n"
        )
    before = {file.name: file.read_bytes() for file in entries.iterdir()}
    with Memory(ground.root, agent="agent") as memory:
        saved = memory.remember("café", "which of them", "the agent's")
        memory.remember("cafe", "another", "the agent's")
    after = {file.name: file.read_bytes() for file in entries.iterdir()}
    written = {saved.entry.path.rpartition("/")[2], "cafe.md"}
    assert set(after) == {*before, *written}
    assert [name for name in before if name not in written and before[name] != after[name]] == []
    assert folded("CAFÉ") == folded("cafe\u0301")


def test_real_commands_refuse_what_leads_out(ground: Ground) -> None:
    for words in (
        ["show", "--", "../../secret.md"], ["forget", f"{ground.outside}/secret.md"], ["show",
        "Known", "--as-of=../config"],
        ["rollback", "--to=refs/../../../secret.md"], ["call", "forget", '{"name": "../../../.git/config"}'],
    ):  # fmt: skip
        command = [*forked.COMMAND, f"--dir={ground.root}", *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
        ground.assert_untouched(words, done.stdout + done.stderr)
    ground.assert_whole()
