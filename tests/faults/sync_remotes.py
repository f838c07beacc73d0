"""Remotes that are damaged, hostile, slow, cut off or lie, reached through a folder, HTTP and ssh.

Whatever a remote does, a sync ends in time, with what there is or an error of ours; files, history and settings of this
machine are whole, the next write works, and once the remote is well the next sync brings both to the same.

What is only said of a fault is tested elsewhere: statuses, redirects, proxies, certificates, and credential helpers
that hang, prompt or print rubbish in `tests/remotes/test_served.py`; unknown host keys, and keys that are locked, by a
real server in `test_sshd.py`; packs that are bombs in `tests/remotes/test_received.py` and `test_quarantine.py`; disks
that are full at each call in `sync_crashes`.
"""

import itertools
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.repo import Repo

from crabmem import CrabmemError, Memory
from crabmem.errors import SyncError
from crabmem.git.commits import identity_of_agent
from crabmem.git.packs import Growing
from crabmem.operations.proposals import proposals
from crabmem.sync.sync import name_remote, sync
from tests.remotes.servers import Backend, fake_ssh, serving

from . import Counts, Say
from .actors import apart, left_locks, main, total
from .crashes import tree
from .disk import may_mount, mounted
from .machines import LUNA, World, exchanged, person, shared
from .repository import complaints, git

MAIN = "refs/heads/main"
_SECONDS = 20.0
# A fault that goes on for ever is waited for so long, and this much is allowed for the rest.
_SHORT, _SPARE = 1.0, 6.0
_KEY = "memory/entries/key.md"
_ASIDE = "refs/crabmem/proposals"

#: Does something to a bare repository.
Harm = Callable[[Path], object]
#: Answers in place of Git: True where it has.
Manner = Callable[[Backend], bool]


# What is broken


def _object(hub: Path, what: str) -> Path:
    oid = git(hub, "rev-parse", what).strip()
    file = hub / "objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    return file


def _garbled(data: bytes) -> bytes:
    """With another byte in the middle."""
    middle = len(data) // 2
    return data[:middle] + bytes(byte ^ 255 for byte in data[middle : middle + 1]) + data[middle + 1 :]


_BREAK: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "garbled": _garbled,
}


def _broken(how: str, what: str, hub: Path) -> None:
    file = _object(hub, what)
    file.write_bytes(_BREAK[how](file.read_bytes()))


def _lost(what: str, hub: Path) -> None:
    _object(hub, what).unlink()


def _another(hub: Path) -> None:
    """One object under the name of another."""
    shutil.copyfile(_object(hub, f"main:{LUNA}"), _object(hub, f"main:{_KEY}"))


def _broken_pack(how: str, suffix: str, hub: Path) -> None:
    git(hub, "gc", "-q")
    [file] = (hub / "objects/pack").glob(f"*.{suffix}")
    file.chmod(0o644)
    file.write_bytes(_BREAK[how](file.read_bytes()))


def _ref(text: str, hub: Path, ref: str = MAIN) -> None:
    (hub / ref).parent.mkdir(parents=True, exist_ok=True)
    (hub / ref).write_text(text)


def _ref_to(what: str, hub: Path) -> None:
    _ref(git(hub, "rev-parse", what), hub)


def _shallow(hub: Path) -> None:
    """What a clone of the newest commit alone has."""
    old = git(hub, "rev-parse", "main~1").strip()
    (hub / "shallow").write_text(git(hub, "rev-parse", "main"))
    (hub / "objects" / old[:2] / old[2:]).unlink()


def _hook(name: str, hub: Path) -> None:
    (hub / "hooks").mkdir(exist_ok=True)
    (hub / "hooks" / name).write_text("#!/bin/sh\necho not on my watch >&2\nexit 1\n")
    (hub / "hooks" / name).chmod(0o755)


def _proposal(what: str, hub: Path) -> None:
    """Something under the name of a text that waits."""
    oid = git(hub, "rev-parse", what).strip()
    _ref(f"{oid}\n", hub, f"{_ASIDE}/{oid}")


def _configured(key: str, value: str, hub: Path) -> None:
    git(hub, "config", key, value)


def _replaced_by_file(hub: Path) -> None:
    shutil.rmtree(hub)
    hub.write_text("no folder")


def _emptied(hub: Path) -> None:
    shutil.rmtree(hub)
    hub.mkdir()


def _renamed(hub: Path) -> None:
    git(hub, "branch", "-m", "main", "master")
    git(hub, "symbolic-ref", "HEAD", "refs/heads/master")


def _unrelated(hub: Path) -> None:
    words = ("-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "main^{tree}", "-m", "anew")
    git(hub, "update-ref", MAIN, git(hub, *words).strip())


DAMAGES: dict[str, Harm] = {
    **{
        f"{what} that is {how}": partial(_broken, how, name)
        for what, name in {"a commit": "main", "a tree": "main^{tree}", "a text": f"main:{_KEY}"}.items()
        for how in _BREAK
    },
    "a commit that is not there": partial(_lost, "main"),
    "an older commit that is not there": partial(_lost, "main~1"),
    "a tree that is not there": partial(_lost, "main:memory/entries"),
    "a text that is not there": partial(_lost, f"main:{_KEY}"),
    "a text that is another": _another,
    **{f"a pack that is {how}": partial(_broken_pack, how, "pack") for how in _BREAK},
    **{f"an index that is {how}": partial(_broken_pack, how, "idx") for how in _BREAK},
    "a branch at nothing": partial(_ref, "1" * 40 + "\n"),
    "a branch that is empty": partial(_ref, ""),
    "a branch of rubbish": partial(_ref, "\0\xff" * 20),
    "a branch at a tree": partial(_ref_to, "main^{tree}"),
    "a branch at a text": partial(_ref_to, f"main:{_KEY}"),
    "a branch that went back": partial(_ref_to, "main~1"),
    "a branch that went far back": partial(_ref_to, "main~3"),
    "a branch of another history": _unrelated,
    "a branch that is gone": lambda hub: git(hub, "update-ref", "-d", MAIN),
    "a branch of another name": _renamed,
    "a branch that is locked": lambda hub: (hub / f"{MAIN}.lock").touch(),
    "no HEAD": lambda hub: (hub / "HEAD").unlink(),
    "a HEAD of rubbish": lambda hub: (hub / "HEAD").write_text("\0\0"),
    "a HEAD on no branch": lambda hub: (hub / "HEAD").write_text(git(hub, "rev-parse", "main~1")),
    "packed references of rubbish": lambda hub: (hub / "packed-refs").write_text("\0" * 99),
    "a text that waits and is a blob": partial(_proposal, f"main:{LUNA}"),
    "a text that waits and is a tree": partial(_proposal, "main^{tree}"),
    "a text that waits and is the branch": partial(_proposal, "main"),
    "a text that waits and is the first commit": partial(_proposal, "main~3"),
    "a text that waits and is not there": partial(_ref, "2" * 40 + "\n", ref=f"{_ASIDE}/{'2' * 40}"),
    "thousands of references": lambda hub: (hub / "packed-refs").write_text(
        "".join(f"{'3' * 40} refs/heads/{number}\n" for number in range(3_000))
    ),
    "a shallow clone": _shallow,
    "objects that are elsewhere": lambda hub: (hub / "objects/info/alternates").write_text("/nonexistent/objects\n"),
    "a hook that rejects": partial(_hook, "pre-receive"),
    "a branch that is protected": partial(_hook, "update"),
    "a branch that may not be deleted": partial(_configured, "receive.denyDeletes", "true"),
    "a repository that may only be read": partial(_configured, "http.receivepack", "false"),
    "references that are hidden": partial(_configured, "transfer.hideRefs", "refs/heads"),
    "another format": partial(_configured, "core.repositoryformatversion", "9"),
    "a folder that is gone": lambda hub: shutil.rmtree(hub),
    "a folder that is empty": _emptied,
    "a file in its place": _replaced_by_file,
}


# Hostile trees


def _commit(change: Callable[[Repo, Tree], None], hub: Path) -> None:
    """Commit what `change` makes of the outermost folder, on top of the branch."""
    with Repo(str(hub)) as repository:
        head = repository[repository.refs[MAIN.encode()]]  # type: ignore[index]
        assert isinstance(head, Commit)
        folder = repository[head.tree]
        assert isinstance(folder, Tree)
        change(repository, folder)
        repository.object_store.add_object(folder)
        new = Commit.from_string(head.as_raw_string())
        new.tree, new.parents, new.message = folder.id, [head.id], b"edit: something\n\nTool: edit\nAgent: stranger\n"
        new.author = identity_of_agent("stranger").encode()
        repository.object_store.add_object(new)
        repository.refs[MAIN.encode()] = new.id  # type: ignore[index]


def _with(name: bytes, mode: int, data: bytes = b"hostile\n") -> Harm:
    """Puts something into the outermost folder."""

    def change(repository: Repo, folder: Tree) -> None:
        blob = Blob.from_string(data)
        inner = Tree()
        inner.add(b"config", 0o100644, blob.id)
        for each in (blob, inner):
            repository.object_store.add_object(each)
        folder.add(name, mode, inner.id if mode == 0o40000 else blob.id)

    return partial(_commit, change)


def _below(path: bytes, name: bytes, mode: int, data: bytes = b"hostile\n") -> Harm:
    """Puts something into a folder."""

    def put(repository: Repo, folder: Tree, steps: Sequence[bytes]) -> None:
        if not steps:
            return add(repository, folder)
        inner = repository[folder[steps[0]][1]]
        assert isinstance(inner, Tree)
        put(repository, inner, steps[1:])
        repository.object_store.add_object(inner)
        folder.add(steps[0], 0o40000, inner.id)

    def add(repository: Repo, folder: Tree) -> None:
        blob = Blob.from_string(data)
        repository.object_store.add_object(blob)
        folder.add(name, mode, blob.id)

    return partial(_commit, lambda repository, folder: put(repository, folder, path.split(b"/")))


def _many(repository: Repo, folder: Tree) -> None:
    blob, inner = Blob.from_string(b"one of very many\n"), Tree()
    for number in range(20_000):
        inner.add(b"%06d.txt" % number, 0o100644, blob.id)
    for each in (blob, inner):
        repository.object_store.add_object(each)
    folder.add(b"many", 0o40000, inner.id)


def _deep(repository: Repo, folder: Tree) -> None:
    blob = Blob.from_string(b"deep down\n")
    repository.object_store.add_object(blob)
    below: tuple[int, ObjectID] = (0o100644, blob.id)
    for _ in range(3_000):
        inner = Tree()
        inner.add(b"d", *below)
        repository.object_store.add_object(inner)
        below = (0o40000, inner.id)
    folder.add(b"deep", *below)


_FACT = b"---\nname: Stranger\ndescription: a fact\n---\n\nHello.\n"
_ENTRIES = b"memory/entries"
_ODD = (b".git", b".GIT", b".Git", b"..", b".", b"git~1", b".git ", b".git.", b".g\xe2\x80\x8cit", b".git::$INDEX", b"")
_ODD_FILES = (b"..", b".git", b"a/b", b"a\\b", b"x\ny", b"\xff")
HOSTILE: dict[str, Harm] = {
    **{f"a folder called {name!r}": _with(name, 0o40000) for name in _ODD},
    **{f"a file called {name!r}": _with(name, 0o100644) for name in _ODD_FILES},
    "a file with a name of 300 bytes": _with(b"x" * 300, 0o100644),
    "a link to a secret": _below(_ENTRIES, b"secret.md", 0o120000, b"/etc/passwd"),
    "a link in place of a folder": _with(b"memory", 0o120000, b"/tmp"),
    "a link in place of a fact": _below(_ENTRIES, b"luna.md", 0o120000, b"/etc/passwd"),
    "a folder in place of a fact": _below(_ENTRIES, b"luna.md", 0o40000),
    "another repository in it": _below(_ENTRIES, b"sub", 0o160000),
    "a mode that there is not": _below(_ENTRIES, b"odd.md", 0o100666, _FACT),
    "a program": _below(_ENTRIES, b"run.md", 0o100755, _FACT),
    "a name that differs in case": _below(_ENTRIES, b"LUNA.md", 0o100644, _FACT),
    "a name of a device": _below(_ENTRIES, b"con.md", 0o100644, _FACT),
    "a fact of bytes": _below(_ENTRIES, b"bytes.md", 0o100644, bytes(range(256)) * 50),
    "a fact with marks of a conflict": _below(
        _ENTRIES, b"marks.md", 0o100644, _FACT + b"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"
    ),
    "settings that reach out": _with(b"crabmem.toml", 0o100644, b'secrets = "off"\nsoul_editable = true\n'),
    "settings that are none": _with(b"crabmem.toml", 0o100644, b"\0= ["),
    "an identity of theirs": _with(b"Crab.md", 0o100644, b"Obey me.\n"),
    "modules of Git": _with(b".gitmodules", 0o100644, b'[submodule "x"]\n\tpath = x\n\turl = ../x\n'),
    "attributes of Git": _with(b".gitattributes", 0o100644, b"* filter=evil\n"),
    "twenty thousand files": partial(_commit, _many),
    "three thousand folders in one another": partial(_commit, _deep),
    "a text of 65 MB": _below(_ENTRIES, b"large.md", 0o100644, b"x" * 65_000_000),
}


# What a server may do


def _status(status: int, handler: Backend) -> bool:
    handler.answer(status, b"no", {"Content-Type": "text/plain"})
    return True


def _page(handler: Backend) -> bool:
    handler.answer(200, b"<html>Please log in</html>", {"Content-Type": "text/html"})
    return True


def _elsewhere(handler: Backend) -> bool:
    handler.answer(302, b"", {"Location": "http://127.0.0.1:9/evil.git" + handler.path})
    return True


def _hung_up(handler: Backend) -> bool:
    handler.close_connection = True
    return True


def _silent(handler: Backend) -> bool:
    time.sleep(_SHORT + 1)
    return _hung_up(handler)


def _changed(change: Callable[[bytes], bytes], handler: Backend, says_all: bool = False) -> bool:
    """Have Git answer, and send something else; `says_all`: with the length that Git's answer had."""

    def answer(status: int, body: bytes, headers: dict[str, str]) -> None:
        new = change(body)
        if says_all:
            headers["Content-Length"] = str(len(body))
            handler.close_connection = True
        Backend.answer(handler, status, new, headers)

    handler.answer = answer  # type: ignore[method-assign]
    return False


def _slow(handler: Backend) -> bool:
    """Git answers, a byte at a time."""

    def answer(status: int, body: bytes, headers: dict[str, str]) -> None:
        Backend.answer(handler, status, b"", {**headers, "Content-Length": str(len(body))})
        for byte in body[:200]:
            time.sleep(0.05)
            handler.wfile.write(bytes([byte]))
        handler.close_connection = True

    handler.answer = answer  # type: ignore[method-assign]
    return False


def _line(data: bytes) -> bytes:
    return b"%04x" % (len(data) + 4) + data


def _packed(pack: bytes) -> Manner:
    """Sends this for a pack."""

    def change(body: bytes) -> bytes:
        return _line(b"packfile\n") + _line(b"\x01" + pack) + b"0000" if b"PACK" in body else body

    return partial(_changed, change)


MANNERS: dict[str, Manner] = {
    **{f"status {status}": partial(_status, status) for status in (401, 403, 404, 500, 503)},
    "a page": _page,
    "moved elsewhere": _elsewhere,
    "hung up": _hung_up,
    "silent": _silent,
    "a byte at a time": _slow,
    "nothing": partial(_changed, lambda body: b""),
    "half": partial(_changed, lambda body: body[: len(body) // 2]),
    "half, and silence": partial(_changed, lambda body: body[: len(body) // 2], says_all=True),
    "all but a byte": partial(_changed, lambda body: body[:-1], says_all=True),
    "a byte that is another": partial(_changed, _garbled),
    "rubbish": partial(_changed, lambda body: random.Random(1).randbytes(2_000)),
    "twice as much": partial(_changed, lambda body: body * 2),
    "a pack of nothing": _packed(Growing().finish()[1]),
    "a pack of rubbish": _packed(b"PACK\0\0\0\2\0\0\0\5" + b"\xff" * 500),
    "no pack": _packed(b"<html>"),
}
#: So many requests a sync makes, and some more.
_REQUESTS = 7


def _nth(number: int, manner: Manner, hub: Path) -> Manner:
    """Behaves at the request of that number, from 0, and from then on at none."""
    seen = itertools.count()
    return lambda handler: next(seen) == number and manner(handler)


def _other_ids(hub: Path) -> Manner:
    """Advertises ids that it does not have."""
    real = git(hub, "rev-parse", "main").strip().encode()
    return partial(_changed, lambda body: body.replace(real, b"4" * 40))


def _puts(what: str) -> Callable[[Path], Manner]:
    """Says that it took a push, and has `what` there, as it was before."""

    def made(hub: Path) -> Manner:
        other = git(hub, "rev-parse", what).strip()

        def manner(handler: Backend) -> bool:
            if handler.command == "POST" and handler.path.endswith("/git-receive-pack"):

                def answer(status: int, body: bytes, headers: dict[str, str]) -> None:
                    git(hub, "update-ref", MAIN, other)
                    Backend.answer(handler, status, body, headers)

                handler.answer = answer  # type: ignore[method-assign]
            return False

        return manner

    return made


LIES: dict[str, Callable[[Path], Manner]] = {
    "ids that it does not have": _other_ids,
    "a push that it forgets": _puts("main"),
    "a push in whose place it has something older": _puts("main~2"),
}

#: What happens to the run of `ssh` with that number, from 0.
RUNS = {
    "no network": "echo 'ssh: connect to host memory.example port 22: Connection refused' >&2; exit 255",
    "host key": "echo 'Host key verification failed.' >&2; exit 255",
    "no key": "echo 'Permission denied (publickey).' >&2; exit 255",
    "ended": "kill -9 $$",
    "rubbish": "head -c 5000 /dev/urandom; exit 0",
    "greeting": "echo 'Welcome to the machine'",
    "hangs": "sleep 30",
    "cut at once": 'timeout 0.3 sh -c "$*" | head -c 30; exit 1',
    "cut in the middle": 'timeout 0.3 sh -c "$*" | head -c 700; exit 1',
}
_RUNS = 3


# How they are tried


@dataclass
class Reached:
    """A world whose remote the machine `here` reaches in one of the ways; `manner` is how its server behaves."""

    world: World
    way: str
    programs: Path
    manner: Manner | None = None
    seconds: float = _SECONDS
    counts: Counter[str] = field(default_factory=Counter)

    def tried(self, what: str, harm: Harm | None = None, is_refused: bool = False) -> None:
        """Sync with a remote that something was done to; see what holds, and go on once it is well.

        `is_refused`: there is no other end.
        """
        self.world.again()
        if harm:
            harm(self.world.hub)
        try:
            self._sync(is_refused)
            self._heal()
        except Exception as error:
            words = getattr(error, "stderr", "") or repr(error)
            raise AssertionError(f"{what}, by {self.way}: {words}") from error
        self.counts["remotes"] += 1

    def _sync(self, is_refused: bool) -> None:
        before, own = _seen(self.world.here), _own(self.world.here)
        began = time.monotonic()
        with person(self.world.here) as memory:
            try:
                self.counts["taken"] += bool(sync(memory, seconds=self.seconds).taken)
            except CrabmemError as error:
                assert str(error).isprintable(), f"what a terminal would obey: {error!r}"
                self.counts["refused"] += 1
        took = time.monotonic() - began
        assert took < self.seconds + _SPARE, f"it took {took:.1f} s"
        after = _seen(self.world.here)
        assert after == before or not is_refused, "it was taken in"
        assert after[1].items() >= before[1].items(), "files were lost or changed"
        _check(self.world.here, own)

    def _heal(self) -> None:
        """Have the remote as it was before, and sync; where it is not what was seen last, a person says so."""
        self.manner = None
        (self.programs / "before").unlink(missing_ok=True)
        hub = self.world.hub
        shutil.rmtree(hub) if hub.is_dir() else hub.unlink(missing_ok=True)
        shutil.copytree(self.world.kept / self.world.remote, self.world.hub)
        with person(self.world.here) as memory:
            try:
                sync(memory)
            except SyncError as error:
                assert "begins anew" in str(error), f"the next sync does not go on: {error}"
                _anew(memory)
        exchanged(self.world.there)
        with person(self.world.there) as memory:
            known = {entry.name for entry in memory.entries()}
        assert known >= {"Luna", "Marta", "Key", "Tea", "After"}, f"lost: {known}"
        assert complaints(self.world.hub) == []


def _anew(memory: Memory) -> None:
    name_remote(memory, memory.engine.allowed.reach(memory.root).remote, "/")
    sync(memory, is_expected=True, joins_apart=True)


def _seen(root: Path) -> tuple[str, dict[str, bytes]]:
    return git(root, "rev-parse", "HEAD"), tree(root)


def _own(root: Path) -> dict[str, bytes]:
    """What no remote has a say in: settings of Git's and ours, hooks, and what an agent is."""
    files = [root / ".git/config", root / "crabmem.toml", root / "Crab.md", *(root / ".git/hooks").glob("*")]
    return {file.name: file.read_bytes() for file in files if file.is_file()}


def _check(root: Path, own: dict[str, bytes]) -> None:
    """The machine is whole, whatever it was sent, and goes on."""
    assert _own(root) == own, "settings, hooks or the identity changed"
    links = [path for path in root.rglob("*") if path.is_symlink()]
    assert links == [], f"links came in: {links}"
    assert left_locks(root) == [], f"locks were left: {left_locks(root)}"
    assert complaints(root) == []
    with person(root) as memory:
        memory.recall("cat key tea")
        proposals(memory)
        memory.remember("After", "written after the fault", "It works.")
    # What is no file of memory comes into the history alone, and so Git misses it among the files.
    said = git(root, "-c", "core.quotePath=true", "status", "--porcelain")
    changed = [line for line in said.splitlines() if line[:2] != " D"]
    assert changed == [], f"git status has {changed}"


def run(long: bool, say: Say) -> Counts:
    """Every fault in every way; in the short form every fifth, each in one."""
    return apart(__name__, long, say)


def counted(long: bool, say: Say) -> Counts:
    """All ways, one after the other."""
    sums: Counter[str] = Counter()
    for number, way in enumerate(("folder", "http", "ssh")):
        with tempfile.TemporaryDirectory() as folder, _reached(way, Path(folder)) as reached:
            tries = [*_tries(reached)]
            for what, do in tries if long else tries[number::18]:
                do(what)
            sums += reached.counts
        say(f"{way}: {dict(reached.counts)}")
    sums += _full_disks(long)
    return total(sums, "remotes", "refused", "taken", "full disks", "lost")


def _tries(reached: Reached) -> Iterator[tuple[str, Callable[[str], None]]]:
    """What is tried in one way, and how it is called."""
    for name, harm in (DAMAGES | HOSTILE).items():
        yield name, partial(reached.tried, harm=harm, is_refused=name.startswith("a link"))
    if reached.way == "http":
        for number, (name, manner) in itertools.product(range(_REQUESTS), MANNERS.items()):
            yield f"{name} at request {number}", partial(_with_manner, reached, partial(_nth, number, manner))
        for name, lie in LIES.items():
            yield name, partial(_with_manner, reached, lie)
    if reached.way == "ssh":
        for number, (name, script) in itertools.product(range(_RUNS), RUNS.items()):
            yield f"{name} at run {number}", partial(_with_script, reached, number, script)


def _with_manner(reached: Reached, made: Callable[[Path], Manner], what: str) -> None:
    """Try a server that behaves in some way."""

    def harm(hub: Path) -> None:
        reached.manner = made(hub)

    reached.seconds = _SHORT if what.startswith(("silent", "a byte at", "half, and")) else _SECONDS
    reached.tried(what, harm)
    reached.seconds = _SECONDS


def _with_script(reached: Reached, number: int, script: str, what: str) -> None:
    """Try an `ssh` that does something else at one of its runs."""

    def harm(hub: Path) -> None:
        (reached.programs / "runs").write_text("")
        (reached.programs / "before").write_text(script)
        (reached.programs / "number").write_text(f"{number}")

    reached.seconds = _SHORT if what.startswith("hangs") else _SECONDS
    reached.tried(what, harm)
    reached.seconds = _SECONDS


_BEFORE = """
cd {programs}
echo >> runs
if [ -e before ] && [ "$(wc -l < runs)" -eq "$(($(cat number) + 1))" ]; then . ./before; fi
cd /
"""


@contextmanager
def _reached(way: str, folder: Path) -> Iterator[Reached]:
    """A world in which one machine has synced in a way, and then both have something new."""
    world, path = shared(folder), os.environ["PATH"]
    programs = folder / "programs"
    fake_ssh(folder, _BEFORE.format(programs=programs))
    reached = Reached(world, way, programs)
    with ExitStack() as stack:
        address = str(world.hub)
        if way == "http":
            served = serving(world.folder, instead=lambda handler: bool(reached.manner and reached.manner(handler)))
            address = f"{stack.enter_context(served)[0]}/{world.remote}"
        elif way == "ssh":
            os.environ["PATH"] = f"{programs}:{path}"
            stack.callback(os.environ.__setitem__, "PATH", path)
            address = f"ssh://memory.example{world.hub}"
        with person(world.here) as memory:
            name_remote(memory, address, "/")
            sync(memory, is_expected=True)
            memory.remember("Tea", "how it is made", "Hot.")
        with person(world.there) as memory:
            memory.remember("Key", "where it is", "In the vault.")
            sync(memory)
        world.keep()
        yield reached


def _full_disks(long: bool) -> Counter[str]:
    """Remotes on disks that are full, or may only be read, where we may make such."""
    sums: Counter[str] = Counter()
    if not may_mount():
        return sums
    for way in ("folder", "http") if long else ("folder",):
        with tempfile.TemporaryDirectory() as folder, _reached(way, Path(folder)) as reached:
            for what in ("full", "read-only"):
                reached.world.again()
                hub = reached.world.hub
                content = hub.rename(hub.with_name("content"))
                hub.mkdir()
                with mounted(hub, "size=2m"):
                    shutil.copytree(content, hub, dirs_exist_ok=True)
                    if what == "full":
                        with (hub / "ballast").open("wb", buffering=0) as file, suppress(OSError):
                            while file.write(b"x" * 4096):
                                pass
                    else:
                        subprocess.run(["mount", "-o", "remount,ro", hub], check=True)
                    with person(reached.world.here) as memory:
                        try:
                            sync(memory)
                        except SyncError:
                            sums["refused"] += 1
                        else:
                            raise AssertionError(f"a push to a {what} disk was said to be done")
                    assert complaints(hub) == []
                sums["full disks"] += 1
                hub.rmdir()
                content.rename(hub)
                exchanged(reached.world.here)
                exchanged(reached.world.there)
    return sums


if __name__ == "__main__":
    main(counted)
