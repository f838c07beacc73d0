"""Workspaces built to attack whoever opens them, and a look at what opening them does.

A process that has crabmem loaded forks for each command, so that what the command opens, starts and connects to is
seen from inside, and what it takes can be measured. The outside is a folder with files that nobody may read or touch.
"""

import io
import json
import os
import random
import resource
import select
import shutil
import signal
import stat
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from typing import Any

from crabmem import Memory
from crabmem.operations import adoption, maintenance
from tests import fork_server, samples
from tests.faults.repository import git
from tests.pace import pace

ROOT = Path(__file__).parents[2]
CANARY = "CANARY-of-somebody-else"
#: What a command may take, in seconds of the processor and bytes; in seconds by the clock a loaded machine is slow.
#: What explodes takes hours: `doctor` goes through all of 250,000 names three times: 2 s, or 3 beside other work.
SECONDS, WALL, BYTES = 5.0, 15.0, 300_000_000

_PROMPT = json.dumps(
    {"prompt": "where is the vet of Luna?", "session_id": "s-1", "hook_event_name": "UserPromptSubmit"}
)
_ASKED = json.dumps({"session_id": "s-1", "source": "startup", "transcript_path": ""})
_MCP = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "stranger", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "recall", "arguments": {"query": "vet"}},
    },
    {"jsonrpc": "2.0", "id": 4, "method": "resources/list"},
]
_LINES = "".join(f"{json.dumps(line)}\n" for line in _MCP)

#: Every way to look into a workspace: the words of the command line, and what it reads. Verbs that look are tried as
#: elsewhere, with the fact that is here.
VERBS: dict[str, tuple[Sequence[str], str]] = {
    **{
        name: ([word.replace("wifi", "Vet") for word in samples.typed(name)], samples.verb(name).stdin)
        for name in samples.verbs()
        if samples.verb(name).does == "looks" and samples.PROPOSAL not in samples.typed(name)
    },
    "recall": (("recall", "vet"), ""),
    "recall --json": (("recall", "vet", "--json"), ""),
    "recall --as-of": (("recall", "vet", "--as-of", "HEAD~1"), ""),
    "show --as-of": (("show", "Vet", "--as-of", "HEAD"), ""),
    "links": (("links",), ""),
    "diff": (("diff",), ""),
    "when": (("when", "vet"), ""),
    "call": (("call", "recall", '{"query": "vet"}'), ""),
    "hook prompt": (("hook", "prompt", "--host", "claude-code"), _PROMPT),
    "hook session-start": (("hook", "session-start", "--host", "claude-code"), _ASKED),
    "mcp": (("mcp",), _LINES),
    "what a hook leaves to read": ((), ""),
    "Memory()": ((), ""),
}
#: Those that reach every part; the others are tried in the long form, and on workspaces made by hand.
MAIN = ("recall", "recall --as-of", "log", "doctor", "prompt", "hook prompt")


@dataclass
class Seen:
    """What a command did: everything it should not have, what it took, and how it ended."""

    verb: str
    violations: list[str] = field(default_factory=list)
    seconds: float = 0.0
    wall: float = 0.0
    peak: int = 0
    status: int = 0
    said: str = ""

    def faults(self) -> list[str]:
        """What is wrong, in words."""
        found = [f"{self.verb}: {each}" for each in self.violations]
        excess = max(self.seconds / SECONDS, self.wall / WALL)
        if excess > 1 and excess > pace():
            found.append(f"{self.verb}: took {self.seconds:.1f} s of the processor, {self.wall:.1f} s in all")
        if self.peak > BYTES:
            found.append(f"{self.verb}: took {self.peak:,} bytes")
        if self.status < 0:
            found.append(f"{self.verb}: was ended by signal {-self.status}")
        if "Traceback (most recent call last)" in self.said:
            found.append(f"{self.verb}: a traceback: {self.said[-600:]}")
        if CANARY in self.said:
            found.append(f"{self.verb}: said what is somebody else's: {self.said[:300]!r}")
        return found


# Seeing


def watched(root: Path, verbs: Sequence[str]) -> list[Seen]:
    """What each of these commands does to the workspace at `root`."""
    return [_seen(root, verb) for verb in verbs]


def _seen(root: Path, verb: str) -> Seen:
    report, output = root.parent / "report", root.parent / "output"
    report.write_text("")
    began = time.monotonic()
    child = os.fork()
    if not child:
        _be_watched(root, verb, report, output)
    seen = Seen(verb)
    over = os.pidfd_open(child)
    if not select.select([over], [], [], WALL)[0]:
        os.kill(child, signal.SIGKILL)
        seen.violations.append("it hangs")
    os.close(over)
    _, status, used = os.wait4(child, 0)
    seen.wall, seen.seconds = time.monotonic() - began, used.ru_utime + used.ru_stime
    seen.peak, seen.status = used.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)
    seen.violations += sorted({line for line in report.read_text().splitlines() if line})
    seen.said = output.read_bytes().decode("utf-8", "replace")
    return seen


def _be_watched(root: Path, verb: str, report: Path, output: Path) -> None:
    """Run a command in this process, with a note of each forbidden thing in `report`; never returns."""
    words, read = VERBS[verb]
    told = os.open(report, os.O_WRONLY | os.O_APPEND)
    out = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    given = root.parent / "given"
    given.write_text(read)
    os.dup2(os.open(given, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    sys.argv = ["crabmem", "--dir", str(root), *words]
    os.chdir("/")
    _forbid(root, told)
    code = 1
    try:
        if words:
            from crabmem.__main__ import main

            main()
            code = 0
        elif verb == "Memory()":
            code = _as_python(root)
        else:
            from crabmem.hosts.hooks import read_ahead

            read_ahead.main(str(root))
            code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _as_python(root: Path) -> int:
    from crabmem import CrabmemError

    with suppress(CrabmemError), Memory(root) as memory:
        for look in (
            lambda: memory.recall("vet"),
            memory.entries,
            memory.prompt,
            lambda: memory.before_turn("where is the vet?"),
            memory.log,
            lambda: memory.call("recall", {"query": "vet"}),
            lambda: memory.tools,
        ):
            with suppress(CrabmemError):
                look()
    return 0


_STARTS = (
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.forkpty",
    "os.spawn",
    "pty.spawn",
)
_NET = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind")
_CHANGES = tuple(
    f"os.{name}" for name in ("rename", "remove", "rmdir", "mkdir", "link", "symlink", "truncate", "utime", "chmod")
)


def _forbid(root: Path, told: int) -> None:
    """From here on, note each file outside that is opened, each process and each connection."""
    fine = _system(root)
    real_open = os.open

    def note(words: str) -> None:
        os.write(told, f"{words}\n".encode("utf-8", "replace"))

    def is_fine(path: str) -> bool:
        return path.startswith(fine)

    def opened(path: Any, flags: int, *rest: Any, **options: Any) -> int:
        handle = real_open(path, flags, *rest, **options)
        where = os.readlink(f"/proc/self/fd/{handle}")
        if where.startswith("/") and not is_fine(where):
            note(f"opens {where}")
        return handle

    def hear(event: str, given: tuple[Any, ...]) -> None:
        if event in _STARTS or event.startswith("os.exec"):
            if given[0] != sys.executable:  # its own work, which is a verb here
                note(f"starts {given[0]!r}")
        elif event in _NET:
            note(f"asks the net: {event} {given[1:]!r}")
        elif event in _CHANGES or (event == "open" and not given[2] & os.O_NOFOLLOW):
            for path in given[:2]:
                if isinstance(path, str | bytes | os.PathLike) and os.path.isabs(os.fsdecode(path)):
                    folder, name = os.path.split(os.fsdecode(path))
                    where = os.path.join(os.path.realpath(folder), name)  # what has the name is changed, be it a link
                    if not is_fine(os.path.realpath(where) if event == "open" else where):
                        note(f"{event} {where}")

    os.open = opened
    sys.addaudithook(hear)


def _system(root: Path) -> tuple[str, ...]:
    """What any process of Python reads, and what is the workspace's or the user's own."""
    own = [root, ROOT / "crabmem", ROOT / "prompts", ROOT / "tests", Path(os.environ["XDG_STATE_HOME"])]
    python = [sys.prefix, sys.base_prefix, *(each for each in sys.path if each.startswith("/") and each != str(ROOT))]
    system = ["/usr/", "/lib", "/etc/", "/proc/", "/sys/", "/dev/null", "/dev/urandom", "/dev/pts", "/dev/tty"]
    return tuple(os.path.realpath(each) for each in map(str, [*own, *python])) + tuple(system)


# Building


def ordinary(root: Path) -> None:
    """A memory in use: every file that crabmem keeps below `.git` is there."""
    with Memory(root, agent="maker", session="s-0") as memory:
        memory.remember("Vet", "where the vet of Luna is", "In the old town, see [[Luna]].")
        memory.remember("Luna", "the dog", "Eats at eight.")
        memory.write_overview("# Overview\n\nLuna is a dog.\n")
        maintenance.compact(memory)
        memory.forget("Luna")
        memory.purge(text="at eight")
        memory.remember("Vet", "where the vet of Luna is", "In the new town.")
        memory.before_turn("where is the vet of Luna?")
        adoption.adopt_written(memory, [str(root / "memory/entries/vet.md")])
        memory.search("vet") if hasattr(memory, "search") else None
        (root / "memory/2026-01-01.md").write_text("- walked Luna\n")
        memory.adopt()
        maintenance.compact(memory)
        memory.recall("vet", as_of="HEAD~1")
        list(memory.log())
    with Memory(root) as memory:
        memory.recall("vet")
    private = root / ".git/crabmem"
    for name in ("recovered", "aside"):
        (private / name).mkdir(exist_ok=True)
    (root / "crabmem.toml").write_text("recall_limit = 5\n")


def places(root: Path) -> list[str]:
    """Every file whose contents something reads, with those that are not always there."""
    head = git(root, "rev-parse", "HEAD").strip()
    packs = [file.relative_to(root).as_posix() for file in (root / ".git/objects/pack").iterdir()]
    private = [
        *("journal", "displaced", "index-behind", "bylines", "unconfirmed", "turns", "uses", "repairs.log", "lock"),
        "lock.pid",
        *("packing", "purges", "loose", "pack", "pack.coming", "purging", "purging.done", "watch"),
        *("index", "index/base", "index/more", "index/later", "index/commits", "index/past"),
        *("index/headers", "index/sections", "index/vectors", "recovered/text", "aside"),
        *("aside/journal-000000000000", "redo", "tmp"),
        *("tmp/write-0123456789abcdef", "tmp/lock-0123456789abcdef", "hooks.log"),
    ]
    of_git = [
        *("HEAD", "config", "config.worktree", "index", "packed-refs", "shallow", "logs/HEAD", "logs/refs/heads/main"),
        *(
            "refs/heads/main",
            "refs/crabmem/keep",
            "refs/stash",
            "refs/heads",
            "objects/info/alternates",
            "info/exclude",
        ),
        *("objects/info/commit-graph", "objects/pack/multi-pack-index", "gc.pid", "MERGE_HEAD", "ORIG_HEAD", "objects"),
        *("refs", "logs", "crabmem"),
    ]
    files = ["Crab.md", "crabmem.toml", "memory", "memory/MEMORY.md", "memory/entries", "memory/entries/vet.md"]
    files += ["memory/entries/new.md", "memory/2026-01-01.md", "agents", "agents/bob", ".git"]
    loose = f".git/objects/{head[:2]}/{head[2:]}"
    return [
        *(f".git/crabmem/{name}" for name in private),
        *(f".git/{name}" for name in of_git),
        *packs,
        loose,
        *files,
    ]


def _cleared(file: Path) -> Path:
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)
    if file.parent.is_symlink() or (file.parent.exists() and not file.parent.is_dir()):
        file.parent.unlink()
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _fifo(file: Path, outside: Path) -> None:
    os.mkfifo(_cleared(file))


def _endless(file: Path, outside: Path) -> None:
    _cleared(file).symlink_to("/dev/zero")


def _device(file: Path, outside: Path) -> None:
    os.mknod(_cleared(file), 0o600 | stat.S_IFCHR, os.makedev(1, 5))


def _linked(file: Path, outside: Path) -> None:
    """A link to a file, or to a folder where a folder was."""
    target = outside / ("folder" if file.is_dir() else "secret.md")
    _cleared(file).symlink_to(target)


def _as_folder(file: Path, outside: Path) -> None:
    _cleared(file).mkdir()


def _huge(file: Path, outside: Path) -> None:
    with open(_cleared(file), "wb") as opened:
        opened.truncate(20 << 30)


def _torn(file: Path, outside: Path) -> None:
    data = file.read_bytes() if file.is_file() else b""
    noise = random.Random(file.name).randbytes(100)
    _cleared(file).write_bytes(data[: len(data) // 2] + noise)


def _foreign(file: Path, outside: Path) -> None:
    """What lies there in another memory; where nothing does, a file of another kind."""
    root = next(parent for parent in file.parents if (parent / "memory").exists() or (parent / ".git").exists())
    other = outside.parent / "other" / file.relative_to(root)
    data = other.read_bytes() if other.is_file() else b'{"a": [1]}\n'
    _cleared(file).write_bytes(data)


#: What may lie in the place of a file.
KINDS: dict[str, Callable[[Path, Path], None]] = {
    "fifo": _fifo,
    "endless": _endless,
    "device": _device,
    "link": _linked,
    "folder": _as_folder,
    "huge": _huge,
    "torn": _torn,
    "foreign": _foreign,
}


def _left_of_purge(path: str) -> Callable[[Path, Path], None]:
    """What a purge may leave at `path`, made by hand: it leads out."""

    def build(root: Path, outside: Path) -> None:
        (root / path).mkdir()
        (root / path / "folder").symlink_to(outside / "folder")
        (root / path / "HEAD").hardlink_to(outside / "secret.md")

    return build


def _linked_beside(root: Path, outside: Path) -> None:
    """No repository, and a link where a purge may leave one."""
    shutil.rmtree(root / ".git")
    (root / ".git-purging").symlink_to(outside / "repository/.git")


def _written(path: str, text: Callable[[Path], str]) -> Callable[[Path, Path], None]:
    def build(root: Path, outside: Path) -> None:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text(outside))

    return build


def _loose(root: Path, kind: str, data: bytes) -> str:
    raw = f"{kind} {len(data)}\0".encode() + data
    oid = sha1(raw).hexdigest()
    file = root / ".git/objects" / oid[:2] / oid[2:]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(zlib.compress(raw, 1))
    return oid


def _commit(root: Path, tree: str, parents: Sequence[str] = (), words: str = "x") -> str:
    who = "a <a@b> 1767225600 +0000"
    lines = [f"tree {tree}", *(f"parent {each}" for each in parents), f"author {who}", f"committer {who}", "", words]
    return _loose(root, "commit", "\n".join(lines).encode())


def _set_head(root: Path, commit: str) -> None:
    (root / ".git/refs/heads/main").write_text(f"{commit}\n")
    for name in ("packed-refs", "refs/crabmem/keep"):
        (root / ".git" / name).unlink(missing_ok=True)


def _entry_tree(root: Path, blob: str) -> str:
    entries = _loose(root, "tree", b"100644 vet.md\0" + bytes.fromhex(blob))
    memory = _loose(root, "tree", b"40000 entries\0" + bytes.fromhex(entries))
    return _loose(root, "tree", b"40000 memory\0" + bytes.fromhex(memory))


def _bomb(root: Path, outside: Path) -> None:
    """A version of an entry that a few bytes make two gigabytes."""
    size = 2 << 30
    packing = zlib.compressobj(9)
    raw = packing.compress(f"blob {size}\0".encode())
    block = bytes(1 << 24)
    name = sha1(f"blob {size}\0".encode())
    for _ in range(size >> 24):
        raw += packing.compress(block)
        name.update(block)
    oid = name.hexdigest()
    file = root / ".git/objects" / oid[:2] / oid[2:]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(raw + packing.flush())
    _set_head(root, _commit(root, _entry_tree(root, oid), [_commit(root, _entry_tree(root, oid))]))


def _tree_bomb(root: Path, outside: Path) -> None:
    """Folders in folders, ten of each name, that are a billion files when they are taken apart."""
    blob = _loose(root, "blob", b"x\n")
    tree = _loose(root, "tree", b"".join(b"100644 %d.md\0" % n + bytes.fromhex(blob) for n in range(10)))
    for _ in range(8):
        tree = _loose(root, "tree", b"".join(b"40000 %d\0" % n + bytes.fromhex(tree) for n in range(10)))
    memory = _loose(root, "tree", b"40000 memory\0" + bytes.fromhex(tree))
    _set_head(root, _commit(root, memory, [_commit(root, memory)]))


def _deep_tree(root: Path, outside: Path) -> None:
    blob = _loose(root, "blob", b"x\n")
    tree = _loose(root, "tree", b"100644 x.md\0" + bytes.fromhex(blob))
    for _ in range(5_000):
        tree = _loose(root, "tree", b"40000 d\0" + bytes.fromhex(tree))
    memory = _loose(root, "tree", b"40000 memory\0" + bytes.fromhex(tree))
    _set_head(root, _commit(root, memory, [_commit(root, memory)]))


def _delta_bomb(root: Path, outside: Path) -> None:
    """A pack in which a delta of some kilobytes copies its base into gigabytes."""
    base = bytes(1 << 20)
    size = 2 << 30
    delta = _varint(len(base)) + _varint(size) + bytes([0x80 | 0x40, 0x10]) * (size >> 20)
    name = sha1(f"blob {size}\0".encode())
    for _ in range(size >> 20):
        name.update(base)
    _pack(root, base, delta, name.hexdigest())
    _set_head(
        root, _commit(root, _entry_tree(root, name.hexdigest()), [_commit(root, _entry_tree(root, name.hexdigest()))])
    )


def _varint(number: int) -> bytes:
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def _pack(root: Path, base: bytes, delta: bytes, oid: str, base_of_base: str = "") -> None:
    """A pack of a base and of a delta to it; the base may be a delta, too, to `base_of_base`."""
    from dulwich.pack import write_pack_index_v2

    def head(kind: int, size: int) -> bytes:
        first, rest = kind << 4 | size & 15, size >> 4
        return bytes([first | 0x80]) + _varint(rest) if rest else bytes([first])

    base_oid = sha1(f"blob {len(base)}\0".encode() + base).digest()
    one = head(3, len(base)) + zlib.compress(base)
    if base_of_base:
        one = head(7, len(delta)) + bytes.fromhex(base_of_base) + zlib.compress(delta)
    other = head(7, len(delta)) + base_oid + zlib.compress(delta)
    data = b"PACK" + struct.pack(">LL", 2, 2) + one + other
    rows = [(base_oid, 12, zlib.crc32(one)), (bytes.fromhex(oid), 12 + len(one), zlib.crc32(other))]
    index = io.BytesIO()
    write_pack_index_v2(index, sorted(rows), sha1(data).digest())
    name = root / ".git/objects/pack" / f"pack-{sha1(data).hexdigest()}"
    name.with_suffix(".pack").write_bytes(data + sha1(data).digest())
    name.with_suffix(".idx").write_bytes(index.getvalue())


def _borrowing(root: Path, outside: Path) -> None:
    """HEAD is a commit of another repository, from which this one borrows."""
    other = outside / "repository"
    (root / ".git/objects/info").mkdir(exist_ok=True)
    (root / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")
    (root / ".git/refs/heads/main").write_text(git(other, "rev-parse", "HEAD"))


def _many_parents(root: Path, outside: Path) -> None:
    tree = _entry_tree(root, _loose(root, "blob", b"x\n"))
    first = _commit(root, tree)
    _set_head(root, _commit(root, tree, [first] * 100_000))


def _nested_frontmatter(root: Path, outside: Path) -> None:
    laughs = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 1}]" for n in range(12))
    (root / "memory/entries/laughs.md").write_text(f"---\nname: Vet bomb\n{laughs}\n---\nvet\n")
    (root / "memory/entries/deep.md").write_text(f"---\nname: {'[' * 50_000}\n---\nvet\n")
    (root / "memory/entries/python.md").write_text(
        f"---\nname: !!python/object/apply:os.system ['touch {outside}/pwned']\n---\nvet\n"
    )


def _programs(root: Path, outside: Path) -> None:
    """Every setting of Git's that names a program, and hooks."""
    program = outside / "program"
    with (root / ".git/config").open("a") as config:
        config.write(
            f"[core]\n\tfsmonitor = {program}\n\tpager = {program}\n\teditor = {program}\n\thooksPath = {outside}\n"
            f'\tsshCommand = {program}\n[filter "x"]\n\tclean = {program}\n\tsmudge = {program}\n\trequired = true\n'
            f'[diff]\n\texternal = {program}\n[diff "x"]\n\ttextconv = {program}\n[credential]\n\thelper = {program}\n'
            f"[alias]\n\tlog = !{program}\n[gpg]\n\tprogram = {program}\n[include]\n\tpath = {outside}/secret.md\n"
            f'[includeIf "gitdir:**"]\n\tpath = {outside}/secret.md\n[remote "origin"]\n\turl = ext::{program}\n'
        )
    (root / ".gitattributes").write_text("* filter=x diff=x\n")
    for hook in ("pre-commit", "post-commit", "post-index-change", "reference-transaction"):
        (root / ".git/hooks").mkdir(exist_ok=True)
        (root / ".git/hooks" / hook).write_text(f"#!/bin/sh\ntouch {outside}/pwned\n")
        (root / ".git/hooks" / hook).chmod(0o755)


def _head_elsewhere(text: str) -> Callable[[Path, Path], None]:
    return _written(".git/HEAD", lambda outside: text.format(outside=outside))


def _links_everywhere(root: Path, outside: Path) -> None:
    """Folders on the way, each of which leads out."""
    for name in ("entries", "notes"):
        folder = root / "memory" / name
        if folder.is_dir():
            shutil.rmtree(folder)
        folder.symlink_to(outside / "folder")
    (root / "agents").mkdir(exist_ok=True)
    (root / "agents/bob").symlink_to(outside / "repository")


def _dotted_profile(root: Path, outside: Path) -> None:
    (root / "crabmem.toml").write_text('profile = "family.toml"\n')
    (root / "family.toml").write_text(f'about = "x"\n[{"a." * 100_000}a]\nb = 1\n')


def _lying_index(root: Path, outside: Path) -> None:
    """An index in which a path that leads out stands twice, once as a document that counts no more."""
    from crabmem.search.segment import counted_postings, numbers, segment_of, texts

    key = f"{'../' * 20}{outside}/secret.md".replace("//", "/")
    folder = root / ".git/crabmem/index"
    for file in [file for file in folder.iterdir() if file.is_file()]:
        file.unlink()
    postings = [*counted_postings(enumerate([["vet"]] * 2)), *counted_postings([])]
    sections = [
        *texts([key, key]),
        ("B", bytes(200)),
        numbers([]),
        numbers([1, 1]),
        *postings,
        ("B", b""),
        numbers([1]),
    ]
    (folder / "base").write_bytes(bytes(segment_of(sections).data))
    for entry in (root / "memory/entries").iterdir():
        entry.unlink()


def _circle(root: Path, outside: Path) -> None:
    """A commit that stands on itself, if the cache is believed."""
    from crabmem.git.commits import Header
    from crabmem.git.walk import Graph, Line

    head = git(root, "rev-parse", "HEAD").strip()
    graph = Graph(root / ".git/crabmem")
    for _ in range(1_000):
        graph.add(head, Header("", (head,), 0, 0), [])
    graph.save(Line())


def _delta_circle(root: Path, outside: Path) -> None:
    oid = sha1(b"blob 1\0x").hexdigest()
    _pack(root, b"x", _varint(1) + _varint(1) + b"\x01x", oid, base_of_base=oid)
    _set_head(root, _commit(root, _entry_tree(root, oid), [_commit(root, _entry_tree(root, oid))]))


_VECTORS = '[vectors]\nurl = "http://127.0.0.1:9/v1"\nmodel = "x"\n{more}'

#: Workspaces made by hand, by what they try.
TRAPS: dict[str, Callable[[Path, Path], None]] = {
    "a purge that began": _left_of_purge(".git/crabmem/purging"),
    "a purge that ended": _left_of_purge(".git/crabmem/purging.done"),
    "a purge beside": _left_of_purge(".git-purging"),
    "a purge that is a link": _linked_beside,
    "a journal": _written(
        ".git/crabmem/journal",
        lambda outside: json.dumps(
            {
                "subject": "remember: x",
                "author": "a <a@x>",
                "body": "",
                "trailers": [],
                "when": "2026-03-01T12:00:00+00:00",
                "steps": {"memory/entries/vet.md": {"old": None, "new": None, "temporary": f"write-{1:016x}"}},
            }
        ),
    ),
    "vectors by http": _written("crabmem.toml", lambda outside: _VECTORS.format(more="")),
    "vectors with a key": _written("crabmem.toml", lambda outside: _VECTORS.format(more='key = "OPENAI_API_KEY"\n')),
    "vectors of a folder": _written("crabmem.toml", lambda outside: f'[vectors]\nmodel = "{outside}/folder"\n'),
    "vectors of a hub": _written("crabmem.toml", lambda outside: '[vectors]\nmodel = "stranger/model"\n'),
    "a profile elsewhere": _written("crabmem.toml", lambda outside: f'profile = "{outside}/profile.toml"\n'),
    "a profile on the way up": _written("crabmem.toml", lambda outside: 'profile = "../outside/profile.toml"\n'),
    "a profile at home": _written("crabmem.toml", lambda outside: 'profile = "~/profile.toml"\n'),
    "a profile that is a device": _written("crabmem.toml", lambda outside: 'profile = "/dev/zero.toml"\n'),
    "settings that wait": _written("crabmem.toml", lambda outside: "lock_timeout = 86400\n"),
    "settings that are endless": _written("crabmem.toml", lambda outside: "a = " + "[" * 100_000),
    "settings of dots": _written("crabmem.toml", lambda outside: f"a{'.a' * 20_000} = 1\n"),
    "a profile of dots": _dotted_profile,
    "an index that lies": _lying_index,
    "a cache of changes that goes in circles": _circle,
    "deltas that refer to each other": _delta_circle,
    "borrowed objects": _borrowing,
    "a bomb": _bomb,
    "a bomb of deltas": _delta_bomb,
    "a bomb of folders": _tree_bomb,
    "folders without end": _deep_tree,
    "parents without end": _many_parents,
    "frontmatter that explodes": _nested_frontmatter,
    "programs of Git's": _programs,
    "a branch that is a path": _head_elsewhere("ref: refs/heads/../../../../outside/secret.md\n"),
    "a branch that is absolute": _head_elsewhere("ref: {outside}/secret.md\n"),
    "a branch that is HEAD": _head_elsewhere("ref: HEAD\n"),
    "links everywhere": _links_everywhere,
    "packed references of odd names": _written(
        ".git/packed-refs", lambda outside: "".join(f"{'0' * 40} ../../{n}\n" for n in range(200_000))
    ),
    "words that hang": _written("memory/MEMORY.md", lambda outside: "x <" + " " * 200_000 + "y\n[[" + " " * 50_000),
}


def surroundings(folder: Path) -> tuple[Path, Path]:
    """A memory to copy, and the outside with files that are somebody else's."""
    template, outside = folder / "template", folder / "outside"
    ordinary(template)
    ordinary(folder / "other")
    (outside / "folder").mkdir(parents=True)
    (outside / "secret.md").write_text(f"---\nname: Vet {CANARY}\n---\nvet {CANARY}\n")
    shutil.copy(outside / "secret.md", outside / "folder/vet.md")
    (outside / "profile.toml").write_text(f'about = "{CANARY}"\n[[part]]\nwords = "{CANARY}"\n')
    (outside / "program").write_text(f"#!/bin/sh\ntouch {outside}/pwned\n")
    (outside / "program").chmod(0o755)
    with Memory(outside / "repository") as memory:
        memory.remember("Vet", f"vet {CANARY}", CANARY)
    return template, outside


def fingerprint(folder: Path, passed_over: tuple[str, ...] = ()) -> dict[str, tuple[int, int, bytes]]:
    """Mode, time of the last change and bytes of everything below a folder, special files by their kind alone."""
    found = {}
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            file = Path(place, name)
            path = file.relative_to(folder).as_posix()
            if path.startswith(passed_over):
                continue
            status = file.lstat()
            is_small = stat.S_ISREG(status.st_mode) and status.st_size < 50_000_000
            data = file.read_bytes() if is_small else b""
            is_folder = stat.S_ISDIR(status.st_mode)
            found[path] = (status.st_mode, 0 if is_folder else status.st_mtime_ns, data)
    return found


#: What looking may leave behind: caches, and a record of what was said.
OURS = tuple(f".git/crabmem/{name}" for name in ("index", "turns", "uses", "watch", "hooks.log", "reading"))


def tried(template: Path, outside: Path, folder: Path, build: Callable[[Path, Path], None],
          verbs: Sequence[str]) -> Iterator[str]:  # fmt: skip
    """What is wrong after a workspace was built, and looked at in each of these ways."""
    root = folder / "workspace"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(template, root, symlinks=True)
    build(root, outside)
    before, around = fingerprint(root, OURS), fingerprint(outside)
    for seen in watched(root, verbs):
        yield from seen.faults()
    if around != fingerprint(outside):
        yield "something outside was changed"
    after = fingerprint(root, OURS)
    changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    if changed:
        yield f"looking changed {changed}"


def main(arguments: Mapping[str, Any]) -> dict[str, list[str]]:
    """Try what is asked for; by its name, what is wrong."""
    folder, always, verbs, few = Path(arguments["folder"]), *(arguments[name] for name in ("always", "verbs", "few"))

    def looks(number: int) -> list[str]:
        """So many of the verbs, other ones for each number, and those that always look."""
        return [*always, *(verbs[(number * few + each) % len(verbs)] for each in range(min(few, len(verbs))))]

    template, outside = surroundings(folder)
    fork_server.load(is_server="mcp" in {*always, *verbs})  # once, and not in each fork
    found = {}
    for number, name in enumerate(arguments["traps"]):
        found[name] = list(tried(template, outside, folder, TRAPS[name], looks(number)))
    for kind in arguments["kinds"]:
        for number, place in enumerate(places(template), list(KINDS).index(kind)):
            build = lambda root, outside, place=place, kind=kind: KINDS[kind](root / place, outside)  # noqa: E731
            found[f"{kind} at {place}"] = list(tried(template, outside, folder, build, looks(number)))
    return found


if __name__ == "__main__":
    print(json.dumps({name: faults for name, faults in main(json.loads(sys.argv[1])).items() if faults}))
