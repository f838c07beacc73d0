"""Repositories in pieces, files that are no entries, each made by a few lines; and what has to hold all the same."""

import atexit
import importlib
import os
import re
import shutil
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crabmem import CrabmemError, Memory
from crabmem.text.hashes import blob_id
from crabmem.workspace.layout import ORDINARY

from . import Say
from .crashes import copied
from .repository import complaints, git

LUNA = "memory/entries/luna.md"
OTHER = "memory/entries/other.md"
OVERVIEW = "memory/MEMORY.md"
#: Seconds that a call may take, and those that reading one bad file may add.
PATIENCE = 4.0
BAD_FILE = 0.02
#: What is as long as a book takes longer than that: seconds per byte.
PER_BYTE = 1e-6
_NOBODY = 65_534
_LONG_AGO = 20 * 60
_DEAD = 2**22 + 7  # above the largest process number that Linux gives


@dataclass(frozen=True)
class Damage:
    """One way to break a repository. `harm` may return another folder to use.

    `heals`: the next write works; otherwise it refuses with words that match `says`. `told`: what a finding of
    the doctor or a repair has to match. `whole`: `git fsck` has nothing to say afterwards; `clean`: nor has
    `git status`. `keeps`: every commit that can be read stays reachable.
    """

    name: str
    harm: Callable[[Path], Path | None]
    heals: bool = True
    says: str = ""
    told: str = ""
    whole: bool = True
    clean: bool = True
    keeps: bool = True
    permissions: bool = False


DAMAGES: dict[str, Damage] = {}
Harm = Callable[[Path], Path | None]


def _broken(
    heals: bool = True,
    says: str = "",
    told: str = ".",
    whole: bool = True,
    clean: bool = True,
    keeps: bool = True,
    permissions: bool = False,
) -> Callable[[Harm], Harm]:
    """Put the function among the damages; no `told` means that nobody needs to hear of it."""

    def listed(harm: Harm) -> Harm:
        name = harm.__name__.strip("_")
        DAMAGES[name] = Damage(name, harm, heals, says, told, whole and heals, clean, keeps, permissions)
        return harm

    return listed


@cache
def _prepared_once() -> tuple[Path, float]:
    """What `prepared` gives copies of, made once in a process, and the seconds that a recall of it takes."""
    folder = Path(tempfile.mkdtemp(prefix="crabmem-damage-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = folder / "prepared"
    with Memory(root, agent="before") as memory:
        memory.remember("Luna", "the dog", "Every Thursday.")
        memory.remember("Other", "something else", "A zebra.")
        memory.write_overview("# Overview\n\nThe garden.\n")
        memory.remember("Gone", "to be forgotten", "Soon.")
        (root / OTHER).write_text((root / OTHER).read_text() + "A line of the person.\n")
        memory.forget("Gone")
        memory.remember("Luna", "the dog", "Every Friday.")
    (root / ".git/crabmem/redo").unlink()  # it heals much of this at once
    return root, _recall_seconds(copied(root, folder / "recalled"))


def prepared(folder: Path) -> Path:
    """A memory with some history: writes of an agent, an edit of the person, and something forgotten."""
    return copied(_prepared_once()[0], folder / "prepared")


# Objects


def _object(root: Path, revision: str) -> Path:
    """The file of an object, made writable."""
    oid = git(root, "rev-parse", revision).strip()
    file = root / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    return file


def _current(kind: str, revision: str, how: str, change: Callable[[Path], object]) -> None:
    """A commit that is broken stays so, in Git's logs at least; so does an old text that only reading finds broken."""

    def harm(root: Path) -> None:
        change(_object(root, revision))

    harm.__name__ = f"{how}_{kind}"
    hidden = kind == "unchanged_blob" and how in ("truncated", "garbage")
    _broken(whole=kind != "commit" and not hidden)(harm)


_CURRENT = {
    "blob": f"HEAD:{LUNA}",
    "unchanged_blob": f"HEAD:{OTHER}",
    "tree": "HEAD:memory",
    "root_tree": "HEAD^{tree}",
}
_CHANGES: dict[str, Callable[[Path], object]] = {
    "zero_length": lambda file: file.write_bytes(b""),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:12]),
    "garbage": lambda file: file.write_bytes(bytes(range(256))),
    "missing": lambda file: file.unlink(),
}
for _kind, _revision in {**_CURRENT, "commit": "HEAD"}.items():
    for _how, _change in _CHANGES.items():
        _current(_kind, _revision, _how, _change)


@_broken(whole=False)
def missing_blob_of_an_old_commit(root: Path) -> None:
    _object(root, f"HEAD~6:{LUNA}").unlink()


@_broken(whole=False, keeps=False)
def missing_old_commit(root: Path) -> None:
    _object(root, "HEAD~4").unlink()


@_broken()
def object_of_another_kind(root: Path) -> None:
    shutil.copyfile(_object(root, f"HEAD:{LUNA}"), _object(root, "HEAD:memory"))


@_broken(heals=False, says="[Mm]ove")
def objects_folder_missing(root: Path) -> None:
    shutil.rmtree(root / ".git/objects")


@_broken(heals=False, says="[Mm]ove")
def objects_folder_is_a_file(root: Path) -> None:
    shutil.rmtree(root / ".git/objects")
    (root / ".git/objects").write_text("")


def _packed(root: Path) -> Path:
    git(root, "repack", "-adq")
    git(root, "prune-packed", "-q")
    [pack] = (root / ".git/objects/pack").glob("*.pack")
    for file in pack.parent.iterdir():
        file.chmod(0o644)
    return pack


@_broken(whole=False)
def pack_truncated(root: Path) -> None:
    pack = _packed(root)
    pack.write_bytes(pack.read_bytes()[:-200])


@_broken(heals=False, says="[Mm]ove")
def pack_zero_length(root: Path) -> None:
    _packed(root).write_bytes(b"")


@_broken(heals=False, says="[Mm]ove")
def pack_without_its_list(root: Path) -> None:
    _packed(root).with_suffix(".idx").unlink()


@_broken(heals=False, says="[Mm]ove")
def pack_with_a_garbage_list(root: Path) -> None:
    file = _packed(root).with_suffix(".idx")
    file.write_bytes(file.read_bytes()[:1032] + bytes(range(256)) * 8)


@_broken(heals=False, says="[Mm]ove")
def pack_with_a_list_and_no_pack(root: Path) -> None:
    _packed(root).unlink()


# References


def _writes(name: str, file: str, data: bytes, told: str = ".", whole: bool = True) -> None:
    def harm(root: Path) -> None:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_bytes(data)

    harm.__name__ = name
    _broken(told=told, whole=whole, clean=whole)(harm)


_GARBAGE = bytes(range(256)) * 3
_MAIN, _KEEP = ".git/refs/heads/main", ".git/refs/crabmem/keep"
_writes("head_garbage", ".git/HEAD", _GARBAGE)
_writes("head_empty", ".git/HEAD", b"")
_writes("head_of_nul_bytes", ".git/HEAD", bytes(21))
_writes("head_names_a_missing_branch", ".git/HEAD", b"ref: refs/heads/nowhere\n", told="")
_writes("head_names_no_reference", ".git/HEAD", b"ref: ../../etc/passwd\n")
_writes("head_is_a_missing_commit", ".git/HEAD", b"1" * 40 + b"\n")
_writes("branch_zero_length", _MAIN, b"")
_writes("branch_of_nul_bytes", _MAIN, bytes(41))
_writes("branch_garbage", _MAIN, _GARBAGE)
_writes("branch_is_a_missing_commit", _MAIN, b"1" * 40 + b"\n")
_writes("keep_zero_length", _KEEP, b"")
_writes("keep_garbage", _KEEP, _GARBAGE)
_writes("keep_is_a_missing_commit", _KEEP, b"1" * 40 + b"\n")
_writes("log_of_head_garbage", ".git/logs/HEAD", _GARBAGE, told="")
_writes("packed_references_cut_short", ".git/packed-refs", b"# pack-refs with: peeled\n" + b"1" * 30, whole=False)
_writes("packed_references_garbage", ".git/packed-refs", _GARBAGE, whole=False)


@_broken()
def head_missing(root: Path) -> None:
    (root / ".git/HEAD").unlink()


@_broken()
def branch_missing(root: Path) -> None:
    (root / _MAIN).unlink()


@_broken()
def references_missing(root: Path) -> None:
    shutil.rmtree(root / ".git/refs")


@_broken()
def branch_and_log_zero_length(root: Path) -> None:
    for name in (_MAIN, ".git/logs/HEAD", ".git/logs/refs/heads/main"):
        (root / name).write_bytes(b"")


@_broken(heals=False, says="refs/heads/main", told="")
def branch_is_a_folder(root: Path) -> None:
    (root / _MAIN).unlink()
    (root / _MAIN).mkdir()


@_broken(told="")
def keep_missing(root: Path) -> None:
    (root / _KEEP).unlink()


# The index


def _index(change: Callable[[bytes], bytes]) -> Harm:
    def harm(root: Path) -> None:
        file = root / ".git/index"
        file.write_bytes(change(file.read_bytes()))

    return harm


for _name, _changed in {
    "truncated": lambda data: data[:60],
    "zero_length": lambda data: b"",
    "with_a_bad_checksum": lambda data: data[:-20] + bytes(20),
    "garbage": lambda data: _GARBAGE,
    "of_nul_bytes": lambda data: bytes(len(data)),
}.items():
    _harm = _index(_changed)
    _harm.__name__ = f"index_{_name}"
    _broken(told="")(_harm)


@_broken(told="")
def index_missing(root: Path) -> None:
    (root / ".git/index").unlink()


@_broken(told="")
def index_of_version_4(root: Path) -> None:
    git(root, "update-index", "--index-version", "4")


@_broken(told="", clean=False)
def index_with_conflicts(root: Path) -> None:
    oid = git(root, "rev-parse", f"HEAD:{OTHER}").strip()
    lines = "".join(f"100644 {oid} {stage}\t{OTHER}\n" for stage in (1, 2, 3))
    words = ["git", "-C", str(root), "update-index", "--index-info"]
    subprocess.run(words, input=f"0 {'0' * 40}\t{OTHER}\n{lines}".encode(), check=True)


@_broken(heals=False, says="index")
def index_is_a_folder(root: Path) -> None:
    (root / ".git/index").unlink()
    (root / ".git/index").mkdir()


# What is ours beside it

_writes("journal_garbage", ".git/crabmem/journal", _GARBAGE, told="")
_writes("journal_of_nul_bytes", ".git/crabmem/journal", bytes(300), told="")
_writes("journal_not_utf8", ".git/crabmem/journal", b'{"subject": "\xff"}', told="")
_writes("journal_of_nested_lists", ".git/crabmem/journal", b"[" * 200_000, told="")
_writes("displaced_garbage", ".git/crabmem/displaced", _GARBAGE, told="")
_writes("displaced_not_utf8", ".git/crabmem/displaced", b'{"\xff": "Crab.md"}\n', told="")
_writes("displaced_names_others", ".git/crabmem/displaced", b'{"../../HEAD": "Crab.md"}\n', told="")
_writes("index_behind_garbage", ".git/crabmem/index-behind", _GARBAGE + b"\n/etc/passwd\n../x\n.git/HEAD", told="")
_writes("repairs_not_utf8", ".git/crabmem/repairs.log", b"\xff\xfe\n")
_writes("lock_holder_garbage", ".git/crabmem/lock.pid", _GARBAGE, told="")
_writes("unknown_text_left_over", ".git/crabmem/tmp/write-0123456789abcdef", b"nobody knows this\n")
_writes("unreadable_text_left_over", ".git/crabmem/tmp/write-0123456789abcdef", b"\xff" * 5_000_001)
_writes("mark_of_a_dead_gc", ".git/gc.pid", f"{_DEAD} {os.uname().nodename}".encode(), told="")
_writes("mark_of_a_gc_empty", ".git/gc.pid", b"", told="")
_writes("mark_of_a_gc_garbage", ".git/gc.pid", _GARBAGE, told="")
_writes("configuration_garbage", ".git/config", _GARBAGE, whole=False)
_writes("configuration_empty", ".git/config", b"", told="")
_writes("exclude_garbage", ".git/info/exclude", b"\xff\xfe", told="")
_writes("shallow_garbage", ".git/shallow", _GARBAGE, whole=False)


@_broken(told="")
def our_folder_missing(root: Path) -> None:
    shutil.rmtree(root / ".git/crabmem")


@_broken(told="")
def our_temporary_folder_missing(root: Path) -> None:
    shutil.rmtree(root / ".git/crabmem/tmp")


@_broken(heals=False, says="tmp", told="")
def our_temporary_folder_is_a_file(root: Path) -> None:
    shutil.rmtree(root / ".git/crabmem/tmp")
    (root / ".git/crabmem/tmp").write_text("")


@_broken(heals=False, says="displaced", told="")
def displaced_is_a_folder(root: Path) -> None:
    (root / ".git/crabmem/displaced").unlink(missing_ok=True)
    (root / ".git/crabmem/displaced").mkdir()


@_broken(heals=False, says="journal")
def journal_is_a_folder(root: Path) -> None:
    (root / ".git/crabmem/journal").unlink(missing_ok=True)
    (root / ".git/crabmem/journal").mkdir()


# Locks


def _stale(name: str, heals: bool = False) -> None:
    def harm(root: Path) -> None:
        lock = root / ".git" / name
        lock.write_bytes(b"")
        then = time.time() - _LONG_AGO
        os.utime(lock, (then, then))

    harm.__name__ = f"stale_{name.replace('/', '_').replace('.', '_')}"
    _broken(heals=heals, says=re.escape(name) if not heals else "", told=re.escape(name), clean=name != "index.lock")(
        harm
    )


for _lock in ("refs/heads/main.lock", "refs/crabmem/keep.lock"):
    _stale(_lock)
for _lock in ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock"):
    _stale(_lock, heals=True)


# Folders that are not what they were


@_broken(told="")
def git_folder_removed(root: Path) -> None:
    shutil.rmtree(root / ".git")


@_broken(heals=False, says="not a folder")
def git_folder_is_a_file(root: Path) -> None:
    shutil.rmtree(root / ".git")
    (root / ".git").write_text("gitdir: /nowhere\n")


@_broken(heals=False, says="not a folder")
def git_folder_is_a_link(root: Path) -> None:
    (root / ".git").rename(root.parent / "elsewhere.git")
    (root / ".git").symlink_to(root.parent / "elsewhere.git")


@_broken(heals=False, says="[Mm]ove")
def git_folder_empty(root: Path) -> None:
    shutil.rmtree(root / ".git")
    (root / ".git").mkdir()


@_broken(told="")
def shallow_clone(root: Path) -> Path:
    git(root, "clone", "-q", "--depth", "1", f"file://{root}", str(root.parent / "shallow"))
    return root.parent / "shallow"


@_broken(told="")
def full_clone(root: Path) -> Path:
    git(root, "clone", "-q", str(root), str(root.parent / "clone"))
    return root.parent / "clone"


@_broken(heals=False, says="not a folder")
def worktree(root: Path) -> Path:
    git(root, "worktree", "add", "-q", str(root.parent / "tree"), "-b", "side")
    return root.parent / "tree"


@_broken(heals=False, says="not a folder")
def submodule(root: Path) -> Path:
    outer = root.parent / "outer"
    git(root.parent, "init", "-q", str(outer))
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "notes")
    return outer / "notes"


@_broken(heals=False, says="permission", told="", permissions=True)
def objects_folder_read_only(root: Path) -> None:
    for folder in (root / ".git/objects", *(root / ".git/objects").iterdir()):
        folder.chmod(0o500)


# What has to hold


def survived(damage: Damage) -> None:
    """Break a memory, and check that looking goes on, that writing works or says why not, and that nothing is lost.

    Raises:
        AssertionError: a promise was broken.
    """
    with tempfile.TemporaryDirectory(prefix="crabmem-damage-") as folder:
        root = prepared(Path(folder))
        commits = set(git(root, "rev-list", "--all").split())
        root = damage.harm(root) or root
        before = texts(root)
        with Memory(root, agent="next") as memory, _not_as_root(Path(folder)) if damage.permissions else nullcontext():
            _assert_readable(memory)
            heard = _heard(memory)
            refusal = _refusal(memory)
            assert refusal is None if damage.heals else refusal, f"the write was not refused, or for: {refusal}"
            assert re.search(damage.says, refusal or ""), f"the refusal does not say {damage.says!r}: {refusal}"
            heard += _heard(memory)
            _assert_readable(memory)
        assert not damage.told or re.search(damage.told, heard), f"nobody heard of it: {heard!r}"
        _assert_nothing_lost(root, before, damage)
        if damage.whole:
            _assert_whole(root)
        if damage.clean and damage.heals:
            _assert_clean(root)
        if damage.keeps and damage.heals:
            _assert_reachable(root, commits)
        _unlocked(Path(folder))


@contextmanager
def _not_as_root(folder: Path) -> Iterator[None]:
    """Work as a user whom permissions bind, with everything in `folder` that user's."""
    if os.geteuid():
        yield
        return
    importlib.import_module("secrets")  # which seals load late, from where that user may not read
    for each in (folder, *folder.rglob("*")):
        os.chown(each, _NOBODY, _NOBODY)
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def _unlocked(folder: Path) -> None:
    """Let the folder be removed."""
    for each in folder.rglob("*"):
        if each.is_dir() and not each.is_symlink():
            each.chmod(0o700)


def texts(root: Path) -> dict[str, bytes]:
    """Every file that history is kept of."""
    files = {file.relative_to(root).as_posix(): file for file in root.rglob("*.md") if file.is_file()}
    return {path: file.read_bytes() for path, file in files.items() if ORDINARY.is_kept(path)}


def _assert_readable(memory: Memory) -> None:
    assert memory.recall("zebra").hits, "an entry that is on disk is not recalled"
    assert "The garden." in memory.prompt(), "the overview is not in the prompt"
    assert memory.get("Other").description == "something else"


def _heard(memory: Memory) -> str:
    """What the doctor says; errors are words too."""
    found = [item for item in memory.doctor() if item.level != "info" or item.path.startswith(".git")]
    findings = "\n".join(f"{item.path}: {item.message}" for item in found)
    with suppress(CrabmemError):
        memory.log()
    return findings + "\n"


def _refusal(memory: Memory) -> str | None:
    """Write twice, a new entry and an old; why it was refused, None when both writes worked."""
    began = time.monotonic()
    try:
        assert memory.remember("After", "written after the damage", "It works.").commit
        assert memory.remember("Luna", "the dog", "Every Sunday.").commit
        assert memory.remember("After", "written after the damage", "It works again.").commit
    except CrabmemError as error:
        assert "\n" not in str(error)
        return str(error)
    finally:
        assert time.monotonic() - began < 2 * PATIENCE, f"writing took {time.monotonic() - began:.1f} s"
    assert memory.get("After").content == "It works again." and memory.get("Luna").content == "Every Sunday."
    return None


def _assert_nothing_lost(root: Path, before: Mapping[str, bytes], damage: Damage) -> None:
    """What was on disk is there, and, when a write worked, also in history."""
    now = texts(root)
    for path, data in before.items():
        assert now[path] == data or path == LUNA, f"{path} is not what it was"
        if damage.heals and damage.whole:
            assert git(root, "cat-file", "blob", blob_id(data)).encode() == data, f"{path} is not in history"


def _assert_whole(root: Path) -> None:
    """What Git itself finds in order."""
    done = subprocess.run(["git", "-C", str(root), "fsck", "--strict", "--full"], capture_output=True)
    lines = (done.stdout + done.stderr).decode("utf-8", "replace").splitlines()
    bad = [line for line in lines if not re.match("dangling|notice", line)]
    assert not bad, f"git fsck: {bad[:3]}"


def _assert_clean(root: Path) -> None:
    status = git(root, "status", "--porcelain")
    assert not status, f"git status: {status!r}"


def _assert_reachable(root: Path, commits: set[str]) -> None:
    """Every commit that can still be read with all it stands on is reached from a reference."""
    done = subprocess.run(
        ["git", "-C", str(root), "rev-list", "--all"], capture_output=True, text=True, errors="replace"
    )
    lost = []
    for commit in commits - set(done.stdout.split()):
        readable = subprocess.run(["git", "-C", str(root), "rev-list", "--objects", commit], capture_output=True)
        if readable.returncode == 0:
            lost.append(commit)
    assert not lost, f"{len(lost)} commits are reached from no reference any more"


# Files that are no entries


@dataclass(frozen=True)
class BadFile:
    """A file among the entries. `told`: whether the doctor has to name it. `served`: whether its word is recalled."""

    name: str
    make: Callable[[Path], None]
    told: bool = True
    served: bool | None = None


BAD_FILES: dict[str, BadFile] = {}
WORD = "quagga"


def _bytes(data: bytes) -> Callable[[Path], None]:
    return lambda file: void(file.write_bytes(data))


def void(_: object) -> None:
    """Nothing, whatever it is given."""


def _bad(case: str, data: bytes | str, told: bool = True, served: bool | None = None, name: str = "bad.md") -> None:
    BAD_FILES[case] = BadFile(name, _bytes(data if isinstance(data, bytes) else data.encode()), told, served)


def _header(case: str, lines: str, told: bool = True) -> None:
    """A file whose frontmatter is odd, and whose text is found all the same."""
    _bad(case, f"---\n{lines}\n---\n\nThe {WORD} stands here.\n", told, served=True)


_header("nested flow lists", "a: " + "[" * 5_000 + "]" * 5_000)
_header("nested flow lists that never end", "[" * 50_000)
_header("nested flow mappings", "{a: " * 3_000)
_header("nested block lists", "- " * 5_000)
_header("nested block mappings", "\n".join(" " * depth + "a:" for depth in range(300)))
_header(
    "alias bomb",
    "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "\n".join(f"{b}: &{b} [" + f"*{a}," * 9 + "]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
)
_header(
    "merge key bomb",
    "a: &a {k: v}\n" + "\n".join(f"b{n}: &b{n} {{<<: [" + ",".join(["*a"] * 50) + "]}" for n in range(9)),
)
_header("alias that is not defined", "name: *nobody")
_header("anchor to itself", "name: &a [*a]")
_header("python object", "name: !!python/object/apply:os.system ['touch /tmp/never']")
_header("binary tag", "name: !!binary /////w==", told=False)
_header("unknown tag", "name: !custom x", told=False)
_header("timestamp that cannot be", "name: 2024-02-30", told=False)
_header("number of five thousand digits", "name: " + "9" * 5_000, told=False)
_header("colon in a name", "name: KB: x")
_header("tab before a value", "name:\tx\n\tdescription: y")
_header("at sign", "name: @x")
_header("backtick", "name: `x`")
_header("per cent", "name: %x")
_header("template braces", "name: {{ name }}")
_header("quote that never ends", 'name: "x')
_header("apostrophe that never ends", "name: 'x")
_header("directive", "%YAML 9.9\n--- x")
_header("scalar", "just words")
_header("list", "- a\n- b")
_header("key that is a list", "? [a, b]\n: c")
_header("duplicate keys", "name: a\nname: b")
_header("control characters", "name: a\x07b")
_header("huge header", "\n".join(f"k{n}: v" for n in range(60_000)))
_header("long line", "description: " + "x" * 200_000)
_header("many documents", "name: a\n--- \nname: b")
_header("values of wrong kinds", "name: [a]\ndescription: {b: c}\naliases: {d: e}\ntags: 3", told=False)

_TEXT = f"---\nname: Bad\n---\n\nThe {WORD} stands here.\n"
_bad("empty", b"", served=False)
_bad("blank", b"  \n\n", served=False)
_bad("one line break", b"\n", served=False)
_bad("NUL bytes only", bytes(4_096), served=False)
_bad("NUL bytes at the end", _TEXT.encode() + bytes(500), served=False)
_bad("NUL in the frontmatter", _TEXT.replace("Bad", "B\0d"), served=False)
_bad("cut short in the frontmatter", f"---\nname: Bad\ndescription: {WORD}", served=False)
_bad("frontmatter that is never closed", f"---\nname: Bad\n\nThe {WORD} stands here.\n", served=False)
_bad("three dashes", b"---", served=False)
_bad("three dashes and a line break", b"---\n", served=False)
_bad(
    "conflict in the frontmatter",
    f"---\n<<<<<<< ours\nname: A\n=======\nname: B\n>>>>>>> theirs\n---\n\n{WORD}\n",
    served=False,
)
_bad("conflict in the text", f"{_TEXT}<<<<<<< HEAD\nmine\n=======\nyours\n>>>>>>> main\n", served=False)
_bad("conflict in three ways", f"{_TEXT}<<<<<<< a\n1\n||||||| b\n2\n=======\n3\n>>>>>>> c\n", served=False)
_bad("UTF-16", _TEXT.encode("utf-16"), served=False)
_bad("UTF-32", _TEXT.encode("utf-32"), served=False)
_bad("Latin-1", f"caf\xe9 {WORD}\n".encode("latin-1"), served=False)
_bad("cut in a character", f"{WORD} ".encode() + "🦀".encode()[:3], served=False)
_bad("surrogates", f"{WORD} ".encode() + b"\xed\xa0\x80", served=False)
_bad("overlong encoding", f"{WORD} ".encode() + b"\xc0\xaf", served=False)
_bad("a picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 400, served=False)
_bad("a program", b"\x7fELF" + bytes(range(256)) * 4_000, served=False)
_bad("all bytes", bytes(range(256)), served=False)
_bad("larger than we take", f"{WORD}\n".encode() * 800_000, served=False)
_bad("byte order mark", b"\xef\xbb\xbf" + _TEXT.encode(), told=False, served=True)
_bad("two byte order marks", b"\xef\xbb\xbf" * 2 + _TEXT.encode(), served=True)
_bad("CR line breaks", _TEXT.replace("\n", "\r"), told=False, served=True)
_bad("CRLF line breaks", _TEXT.replace("\n", "\r\n"), told=False, served=True)
_bad("mixed line breaks", _TEXT.replace("\n", "\r\n", 2), told=False, served=True)
_bad("no frontmatter", f"The {WORD}.\n", served=True)
_bad("JSON", f'{{"name": "x", "word": "{WORD}"}}', served=True)
_bad("one long word", WORD + " " + "x" * 200_000, served=True)
_bad("escape sequences", f"\x1b[2J\x1b]0;x\x07 {WORD}\n", served=True)
_bad("text from right to left", _TEXT.replace("Bad", "\u202edaB"), told=False, served=True)
_bad("a thousand marks on a letter", f"e{chr(0x301) * 1_000} {WORD}\n", served=True)
_bad("temporary name", _TEXT, told=False, served=False, name="bad.md.tmp")
_bad("swap file", _TEXT, told=False, served=False, name=".bad.md.swp")
_bad("backup", _TEXT, told=False, served=False, name="bad.md~")
_bad("editor's lock", _TEXT, told=False, served=False, name=".#bad.md")
_bad("sync conflict", _TEXT, told=False, served=True, name="other.sync-conflict-20260301-120000-ABCDEFG.md")
_bad("conflicted copy", _TEXT, told=False, served=True, name="other (conflicted copy 2026-03-01).md")
_bad("name of 255 bytes", _TEXT, told=False, served=True, name="x" * 252 + ".md")
_bad("name in NFD", _TEXT, told=False, served=True, name="cafe\u0301.md")
_bad("name with a line break", _TEXT, served=False, name="a\nb.md")
_bad("name with quotes", _TEXT, told=False, served=True, name="\"'`$(x).md")
_bad("name that hides its end", _TEXT, told=False, served=True, name="a\u202edm.md")
_bad("name with a backslash", _TEXT, told=False, served=True, name="a\\..\\b.md")
_bad("name of a device", _TEXT, told=False, served=True, name="con.md")
_bad("name in capitals", _TEXT, told=False, served=True, name="OTHER.md")
_bad("only an ending", _TEXT, told=False, served=False, name=".md")
_bad("name that is not UTF-8", _TEXT, served=False, name=os.fsdecode(b"\xff\xfe.md"))


def _made(case: str, make: Callable[[Path], object], told: bool = True) -> None:
    BAD_FILES[case] = BadFile("bad.md", lambda file: void(make(file)), told, False)


def _listening(file: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(file.parent)  # a socket's path is short
        try:
            made.bind(file.name)
        finally:
            os.chdir(here)


_made("a pipe", os.mkfifo)
_made("a socket", _listening)
_made("a folder", os.mkdir)
_made("a link to nothing", lambda file: file.symlink_to("nowhere"))
_made("a link to itself", lambda file: file.symlink_to("bad.md"))
_made("a link out of the memory", lambda file: file.symlink_to("/etc/passwd"))
_made("a link to a device", lambda file: file.symlink_to("/dev/zero"))
_made("a link to an entry", lambda file: file.symlink_to("other.md"))
if os.geteuid() == 0:
    _made("a device", lambda file: os.mknod(file, 0o600 | stat.S_IFCHR, os.makedev(1, 5)))


def endured(bad: BadFile) -> float:
    """Put a file among entries: the others are recalled, a write works, the doctor names it. Seconds it cost a recall.

    Raises:
        AssertionError: a promise was broken.
    """
    with tempfile.TemporaryDirectory(prefix="crabmem-damage-") as folder:
        root = prepared(Path(folder))
        _, without = _prepared_once()
        file = root / "memory/entries" / bad.name
        bad.make(file)
        before = file.lstat()
        took = _recall_seconds(root) - without
        with Memory(root, agent="next") as memory:
            _assert_endured(memory, bad)
        assert os.path.samestat(before, file.lstat()) and before.st_size == file.lstat().st_size, "the file was touched"
        assert complaints(root) == []
        room = max(BAD_FILE, before.st_size * PER_BYTE)
    assert took < room, f"{took * 1000:.0f} ms more for a recall"
    return took


def _assert_endured(memory: Memory, bad: BadFile) -> None:
    assert memory.recall("zebra").hits and memory.get("Other")
    found = any(WORD in hit.entry.content for hit in memory.recall(WORD))
    assert bad.served is None or found == bad.served, f"its text is {'' if found else 'not '}recalled"
    named = [item for item in memory.doctor() if item.path.endswith(bad.name) or bad.name in item.message]
    assert named or not bad.told, "the doctor does not name it"
    if bad.served is False and bad.told and not (memory.root / "memory/entries" / bad.name).is_dir():
        assert memory.recall("nothing of that kind").note, "recall does not say that a file was left out"
    assert memory.remember("After", "written beside it", "It works.").commit
    assert memory.recall("works").hits and memory.entries("HEAD")
    memory.doctor(), memory.prompt(), memory.diff("HEAD~1"), memory.before_turn("zebra")


def _recall_seconds(root: Path) -> float:
    """How long the first recall of a memory works, at best."""
    took = []
    for _ in range(5):
        with Memory(root, agent="next") as memory:
            began = time.process_time()
            memory.recall("zebra")
            took.append(time.process_time() - began)
    return min(took)


def run(long: bool, say: Say) -> Mapping[str, int]:
    """Break a repository in every way there is, and put every bad file among entries; in short form, every sixth."""
    stride = 1 if long else 6
    damages, bad_files = list(DAMAGES.values())[::stride], list(BAD_FILES.items())[::stride]
    for damage in damages:
        with _named(f"repository {damage.name}"):
            survived(damage)
    slowest = 0.0
    for name, bad in bad_files:
        with _named(f"file {name}"):
            slowest = max(slowest, endured(bad))
    say(f"  the slowest bad file cost a recall {slowest * 1000:.1f} ms")
    return {"repositories": len(damages), "bad files": len(bad_files)}


@contextmanager
def _named(case: str) -> Iterator[None]:
    """Say in which case a promise was broken."""
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{case}: {error!r}") from error
