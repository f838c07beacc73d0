"""Payloads that mean harm, the three faces they go through, and a workspace among files nobody may touch."""

import json
import os
import re
import sys
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from crabmem import CrabmemError, Memory
from crabmem.cli.app import cli

from .repository import complaints, git

SECRET = "the-secret-of-somebody-else"
_CLIMBS = (
    "../", "..\\", "..//", ".././", "..;/", "....//", "..../", ".. /", "..\t/", "..\n/", "..\0/", "..\x7f/",
    "%2e%2e%2f", "%2e%2e/", "..%2f", "..%5c", "%252e%252e%252f", "%25%32%65%25%32%65%2f", "%c0%ae%c0%ae/", "..%c0%af",
    "..%e0%80%af", "..%u2215", "\\u002e\\u002e\\u002f", "&#46;&#46;&#47;", "\xc0\xae\xc0\xae/",
    "\uff0e\uff0e\uff0f", "\uff0e\uff0e/", "\u2024\u2024/", "\u2025/", "\ufe52\ufe52/", "..\u2044", "..\u2215",
    "..\u29f8", "..\uff3c", "..\ufe68", ".\u200b./", ".\u200d./", ".\u2060./", "..\u2028/", "..\ufeff/",
)  # fmt: skip
_ABSOLUTE = (
    "{outside}/secret.md", "/{outside}/secret.md", "{outside}/secret", "{outside}", "/etc/passwd", "///etc/passwd",
    "/dev/stdin", "/proc/self/environ", "C:\\secret.md", "C:secret.md", "c:/secret.md", "Z:", "\\secret.md",
    "\\\\server\\share\\secret.md", "//server/share/secret.md", "\\\\?\\C:\\secret.md", "\\\\.\\NUL",
    "file:///etc/passwd", "file://{outside}/secret.md", "FILE:secret.md", "~", "~/secret.md", "~root/secret.md", "~+",
    "$HOME/secret.md", "${HOME}", "%USERPROFILE%\\secret.md", "$(cat {outside}/secret.md)", "`id`", "|id", ";id",
)  # fmt: skip
_ENDINGS = (
    "secret.md.", "secret.md ", "secret.md/", "secret.md/.", "secret.md\\", "secret.md\0", "secret.md\0.png",
    "secret.md\n", "secret.md\r\n", "secret.md::$DATA", "secret.md:stream", "secret.md...", "secret.md%00", "*", "?",
    ".", "..", "...", "/", "\\", ":", "\0", "./secret.md", ".secret.md", "#secret.md#", "secret.md~", "[a-z]*", "{a,b}",
)  # fmt: skip
_GIT = (
    ".git", ".git/config", ".GIT/config", ".Git", ".git/", ".git\\config", ".git./config", ".git /config", "./.git",
    ".git::$INDEX_ALLOCATION/config", ".g\u200cit", ".g\u200dit/config", ".gi\u200bt", ".gi\u0307t", "\uff0egit/config",
    ".ｇｉｔ/config", "git~1", "GIT~1/config", "memory/../.git/config", "../../.git/config", "../../.git/HEAD",
    ".git/hooks/post-commit", "../../.git/hooks/post-commit", ".git/crabmem/journal", ".git/refs/heads/main",
    ".gitattributes", ".gitignore", ".gitmodules", "../../.gitattributes", "HEAD:Crab.md", "refs/../../../secret.md",
    "refs/heads/../../config", "refs/heads/../../../../secret", "refs/crabmem/../../config", "@{-1}", "stash@{0}",
    "FETCH_HEAD", ":/secret", "HEAD~99999999999", "^", "~", "refs/", "refs//heads", "refs/" + "日" * 150,
    "refs/" + "a/" * 3_000, "0" * 40, "deadbeef",
)  # fmt: skip
_OURS = (
    "memory/../Crab.md", "Crab", "crab", "Crab.md", "crab.md", "CRAB.MD", "cRaB", "../../Crab.md", "..\\..\\Crab.md",
    "Crab.md\0", "Ｃrab.md", "Crab.md ", "Crab.md.", "Crab.md::$DATA", "./Crab.md", "../../CRAB", "crab~1", "CRAB~1.MD",
    "crabmem.toml", "../../crabmem.toml", "../../Crabmem.TOML", "crabmem~1.tom", "MEMORY", "MEMORY.md", "memory.md",
    "../MEMORY.md", "entries", "entries.md", "readme", "README.md", "index", "USER.md", "agents", "agents/bob",
    "agents/bob/Crab.md", "../../agents/bob/Crab.md", "../../agents", "soul", "__init__", "..Crab.md",
)  # fmt: skip
_SHAPES = (
    "café.md", "cafe\u0301.md", "Å", "A\u030a", "\u212b", "a" * 251, "a" * 255, "a" * 256, "a" * 500, "é" * 128,
    "日" * 300, "🦀" * 70, "../" * 100, "a/" * 200, "CON", "con.md", "NUL", "AUX.txt", "PRN", "COM1", "LPT9.md", "COM¹",
    "CONIN$", "CLOCK$", "-", "--", "-rf", "--dir=/etc", "--help", "--json", "-c", "-d", "--", "--as-of=HEAD", "@",
    "%s%n", "%(trailers)", "'; --", '"', "\x1b]0;x\x07", "\u202egpj.md", "\ud800", "\udcff", "\udcff/../secret.md",
)  # fmt: skip

#: Strings that mean a place outside the memory to some reader; `{outside}` is a folder with a secret.
PATHS = tuple(
    dict.fromkeys(
        [climb * depth + "secret.md" for climb in _CLIMBS for depth in (1, 3, 9)]
        + [*_ABSOLUTE, *_ENDINGS, *_GIT, *_OURS, *_SHAPES]
    )
)

#: Names of which some reader takes two for one: by case, form, lost letters, cut length or reserved words.
NAMES = (
    "C", "c", "C++", "c++", "C#", "C♯", "C!", "C?", "C.", "C-", "-C", "C --", "Ｃ", "ⓒ", "C+", "C+-", "C plus plus",
    "c sharp", "C\u0323", "Ç", "C\u0327", "Ć", "Č", "F#", "F", "F++", "A+", "A-", "A*", "A",
    "😀", "😁", "🦀", "crab", "!!!", "???", "∞", "…", "...", ".", "..", "*", "/", "\\", "---", "–", "—", "+", "++",
    "日本", "日 本", "日-本", "日本語", "にほん", "ニホン", "ﾆﾎﾝ", "北京", "Beijing", "Bei jing", "Москва", "Moskva",
    "café", "cafe\u0301", "cafe", "CAFÉ", "caffè", "Café!", "naïve", "naive", "Ångström", "A\u030angstro\u0308m",
    "\u212bngström", "Angstrom", "straße", "strase", "İstanbul", "istanbul", "Istanbul", "ıstanbul", "i̇stanbul",
    "ﬁle", "file", "ﬀ", "ff", "x²", "x2", "x_2", "x 2", "x-2", "x.2", "½", "1/2", "1⁄2", "1-2", "No.1", "№1", "№ 1",
    "CON", "con", "Con.", "con-", "aux", "AUX.md", "nul", "prn", "com1", "COM¹", "lpt1", "LPT¹", "clock$",
    "MEMORY", "memory", "memory.md", "MEMORY.md", "Crab", "Crab.md", "index", "INDEX", "readme", "README.md", "git",
    ".git", ".GIT", "entries", "entry", "Entry!", "", " ", "a" * 200, "a" * 201, "A" * 200, "a" * 120, "a" * 121,
    "日" * 200, "日" * 201, "é" * 100, "e\u0301" * 100, "é" * 101, "Luna\u200d", "Luna", "Lu\u200dna", "Luna\u200c",
    "Luna ", " Luna", "Luna  vet", "Luna vet", "Luna\u00a0vet", "Luna\u3000vet", "Luna's vet",
    "Luna’s vet", "Lunas vet",
    "α", "a", "а", "Α", "ά", "Σ", "σ", "ς", "ΣΑΣ", "σας", "κ", "k", "\u212a", "K", "ſ", "s", "ß", "ẞ", "ss",
    "Ω", "\u2126", "ω", "ё", "е\u0308", "е", "й", "и\u0306", "и", "가", "\u1100\u1161", "שָׁ", "ש\u05c1\u05b8", "ش",
)  # fmt: skip

#: What a person does not see: controls, direction marks, tags, fillers and halves of pairs.
HIDDEN = (
    *map(chr, (*range(0x01, 0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0x85), *range(0x86, 0xA0))),
    "\xad", "\u034f", "\u061c", "\u115f", "\u1160", "\u180e", "\u200b", "\u200e", "\u200f",
    *map(chr, (*range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFFF0, 0xFFFC))),
    "\u3164", "\ufeff", "\uffa0", "\U0001bca0", "\U0001d173", "\U0001d17a", "\U000e0001",
    *map(chr, range(0xE0020, 0xE0080)), "\U000e0100", "\U000e01ef", "\U000e0fff",
)  # fmt: skip

_USUAL_IN_GIT = re.compile(
    r"HEAD|config|index|info/exclude|objects/[0-9a-f]{2}/[0-9a-f]{38}|objects/(pack|info)/.+|refs/heads/main"
    r"|refs/crabmem/keep|logs/HEAD|logs/refs/heads/main"
    r"|crabmem/(lock|lock\.pid|journal|displaced|now|index-behind|repairs\.log|tmp/now|tmp/write-[0-9a-f]{16}|redo)"
    r"|crabmem/(loose|pack|packing|turns|index/(base|more|later|headers|vectors|commits|owner))"
)
_KEPT = re.compile(r"Crab\.md|crabmem\.toml|memory/MEMORY\.md|memory/entries/[^/]+\.md")
_DEVICES = re.compile(r"(con|prn|aux|nul|clock\$|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)


@contextmanager
def folder() -> Iterator[Path]:
    """A temporary folder, in memory where the system has such: what is tried here does not need the disk."""
    shared = Path("/dev/shm")
    base = shared if sys.platform == "linux" and os.access(shared, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base, prefix="crabmem-attacks-") as name:
        yield Path(name).resolve()


class Ground:
    """A workspace at `root`, and around it files with a secret that must stay unread and as they are."""

    def __init__(self, around: Path) -> None:
        self.outside = around
        self.root = around / "a" / "b" / "workspace"
        self.root.parent.mkdir(parents=True)
        for name in ("secret", "secret.md", "a/secret.md", "a/b/secret.md", "a/b/Crab.md", "home/.gitconfig"):
            file = around / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(SECRET)
        with Memory(self.root, agent="first") as memory:
            memory.remember("Known", "what was there before", "An ordinary fact.")
            memory.write_overview("# Overview\n")
        self.look_again()

    def look_again(self) -> None:
        """Take everything as it is now for what has to stay."""
        self._inside = self._fixed()
        self._around = self._looked_at()

    def is_untouched(self) -> bool:
        """Whether nothing outside was changed or read."""
        return self._looked_at() == self._around

    def payloads(self, step: int = 1, start: int = 0) -> list[str]:
        """The paths with this ground's folder in them, or every `step`th."""
        return [path.replace("{outside}", str(self.outside)) for path in PATHS[start::step]]

    def assert_untouched(self, payload: object, output: str) -> None:
        """Nothing outside was changed or read, `Crab.md` and Git's settings are as they were."""
        assert self._looked_at() == self._around, f"P12: {payload!r} reached outside the workspace"
        assert SECRET not in output, f"P12: {payload!r} read outside the workspace"
        assert self._fixed() == self._inside, f"P14: {payload!r} changed what no tool may change"

    def assert_whole(self, *own: str) -> None:
        """Only usual files are in the workspace (and `own`), with safe names; Git finds nothing to complain of."""
        for file in (file for file in self.root.rglob("*") if not file.is_dir()):
            path = file.relative_to(self.root).as_posix()
            usual = _USUAL_IN_GIT.fullmatch(path.removeprefix(".git/")) if path.startswith(".git/") else path in own
            assert usual or _KEPT.fullmatch(path), f"P12: {path!r} is nobody's file"
        entries = os.listdir(self.root / "memory" / "entries")
        assert [name for name in entries if f"memory/entries/{name}" not in own and not is_safe(name)] == []
        assert len({folded(name) for name in entries}) == len(entries), "P11: two files are one on another system"
        assert complaints(self.root) == [], "P3: git fsck has something to say"
        assert git(self.root, "status", "--porcelain") == "", "P3: git status is not clean"
        tracked = git(self.root, "ls-tree", "-rz", "--name-only", "HEAD").split("\0")[:-1]
        assert [path for path in tracked if path not in own and not _KEPT.fullmatch(path)] == []

    def _looked_at(self) -> dict[str, tuple[int, ...]]:
        """The status of every file and folder around; a read would show in the time of access."""
        return {str(place): _status(place) for place in self._places()}

    def _places(self) -> Iterator[Path]:
        for name, folders, files in os.walk(self.outside):
            folders[:] = [item for item in folders if Path(name, item) != self.root]
            yield Path(name)
            yield from (Path(name, item) for item in (*folders, *files))

    def _fixed(self) -> dict[str, bytes]:
        names = ("Crab.md", ".git/config", ".git/info/exclude", ".git/HEAD")
        files = {name: (self.root / name).read_bytes() for name in names if _is_plain(self.root / name)}
        return files | {name: b"" for name in ("crabmem.toml", ".git/hooks") if (self.root / name).exists()}


def grounds(payloads: Sequence[str], size: int = 48) -> Iterator[tuple[Ground, list[str]]]:
    """The payloads by the dozen, each few with a ground of their own, for what every write makes slower."""
    for start in range(0, len(payloads), size):
        with folder() as around:
            some = [payload.replace("{outside}", str(around)) for payload in payloads[start : start + size]]
            yield Ground(around), some


def _status(place: Path) -> tuple[int, ...]:
    """What tells a change; of a file also when it was read, which is then set back to before its last change."""
    found = place.lstat()
    read = found.st_atime_ns if place.is_file() and not place.is_symlink() else 0
    if read > 1:
        os.utime(place, ns=(1, found.st_mtime_ns))
        found = place.lstat()
    return (found.st_ino, found.st_mode, found.st_nlink, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def folded(name: str) -> str:
    """What a file system without case or composed forms makes of a name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def is_safe(name: str) -> bool:
    """Whether an entry's file may have that name on every system."""
    plain = all(char in "-." or char.isalnum() or unicodedata.category(char)[0] == "M" for char in name)
    fits = len(name.encode()) <= 200 and unicodedata.is_normalized("NFC", name)
    return plain and fits and not name.startswith(("-", ".")) and not _DEVICES.fullmatch(name)


@dataclass
class Face:
    """One way into a memory. Every method returns all that came back, errors of ours included as text."""

    root: Path
    agent: str | None = "agent"
    session: str | None = "s-1"

    def remember(self, name: str, description: str, content: str, labels: Sequence[str] = ()) -> str:
        """Save a fact, with `labels` as aliases and as tags."""
        raise NotImplementedError

    def forget(self, name: str) -> str:
        """Forget a fact."""
        raise NotImplementedError

    def recall(self, query: str, labels: Sequence[str] = (), limit: int | None = None) -> str:
        """Search, among the facts with all these tags."""
        raise NotImplementedError

    def overview(self, content: str) -> str:
        """Write the overview."""
        raise NotImplementedError

    def close(self) -> None:
        """Close what is open."""


@dataclass
class Python(Face):
    """`crabmem.Memory`."""

    memory: Memory = field(init=False)

    def __post_init__(self) -> None:
        self.memory = Memory(self.root, agent=self.agent, session=self.session)

    def remember(self, name: str, description: str, content: str, labels: Sequence[str] = ()) -> str:
        return self._said("remember", name, description, content, aliases=labels, tags=labels)

    def forget(self, name: str) -> str:
        return self._said("get", name) + self._said("forget", name)

    def recall(self, query: str, labels: Sequence[str] = (), limit: int | None = None) -> str:
        return self._said("recall", query, limit, labels) + self._said("before_turn", query)

    def overview(self, content: str) -> str:
        return self._said("write_overview", content) + self._said("prompt")

    def close(self) -> None:
        self.memory.close()

    def _said(self, operation: str, *given: Any, **more: Any) -> str:
        try:
            return repr(getattr(self.memory, operation)(*given, **more))
        except CrabmemError as error:
            return str(error)


@dataclass
class Tools(Face):
    """`memory.call`, as every host calls it: with what JSON can say."""

    memory: Memory = field(init=False)

    def __post_init__(self) -> None:
        self.memory = Memory(self.root, agent=self.agent, session=self.session)

    def remember(self, name: str, description: str, content: str, labels: Sequence[str] = ()) -> str:
        given = {"name": name, "description": description, "content": content}
        return self.call("remember", {**given, "aliases": list(labels), "tags": list(labels)})

    def forget(self, name: str) -> str:
        return self.call("forget", {"name": name})

    def recall(self, query: str, labels: Sequence[str] = (), limit: int | None = None) -> str:
        return self.call("recall", {"query": query, "tags": list(labels), "limit": limit})

    def overview(self, content: str) -> str:
        return self.call("memory", {"content": content})

    def close(self) -> None:
        self.memory.close()

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """What a tool answers: text and data."""
        return json.dumps(asdict(self.memory.call(tool, json.loads(json.dumps(arguments)), [tool])))


@dataclass
class CommandLine(Face):
    """`crabmem`, run in this process."""

    def remember(self, name: str, description: str, content: str, labels: Sequence[str] = ()) -> str:
        if not description.strip() or not content.strip():  # which the verb refuses, and a tool takes
            given = {"name": name, "description": description, "content": content}
            return self.run("call", "--", "remember", json.dumps({**given, "aliases": labels, "tags": labels}))
        options = [word for label in labels for word in (f"--alias={label}", f"--tag={label}")]
        return self.run("remember", f"--description={description}", f"--content={content}", *options, "--", name)

    def forget(self, name: str) -> str:
        return self.run("show", "--", name) + self.run("forget", "--", name)

    def recall(self, query: str, labels: Sequence[str] = (), limit: int | None = None) -> str:
        options = [*(f"--tag={label}" for label in labels), *([f"--limit={limit}"] if limit is not None else [])]
        return self.run("recall", *options, "--", query) + self.run("recall", "--json", *options, "--", query)

    def overview(self, content: str) -> str:
        return self.run("overview", "set", f"--content={content}") + self.run("prompt")

    def run(self, *words: str) -> str:
        """What a command prints; an exception that is no error of ours is raised."""
        who = [f"--agent={self.agent}"] * bool(self.agent) + [f"--session={self.session}"] * bool(self.session)
        done = CliRunner().invoke(cli, [f"--dir={self.root}", "--workspace=", *who, *words])
        if done.exception and not isinstance(done.exception, SystemExit):
            raise AssertionError(f"{words[0]} broke on {words[1:]!r}") from done.exception
        return done.output


FACES: tuple[type[Face], ...] = (Python, Tools, CommandLine)


def words_of(face: type[Face]) -> str:
    """A face's name for the list of tests."""
    return face.__name__


def _is_plain(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()
