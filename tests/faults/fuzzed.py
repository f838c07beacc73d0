"""What is fuzzed: for each parser and each way in, what has to hold for any bytes at all.

A target is a function of bytes that raises when a promise is broken. A crabmem error is an answer.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from dulwich.index import Index as WrittenIndex
from dulwich.objects import Commit as RawCommit

from crabmem import CrabmemError, InvalidArguments, Memory
from crabmem.cli.app import cli
from crabmem.disk import state
from crabmem.disk.seal import Seal
from crabmem.git import repository as git_folder
from crabmem.git.changes import Changes, Origin
from crabmem.git.commits import Note, identity, raw_commit, read_commit
from crabmem.git.commits import header as header_of
from crabmem.git.history import History
from crabmem.git.index import Index, Settled
from crabmem.git.objects import Objects
from crabmem.git.parts import Parts
from crabmem.git.redo import Redo
from crabmem.git.refs import Refs
from crabmem.git.trees import Trees
from crabmem.git.walk import Graph, Walk
from crabmem.operations import history as history_operations
from crabmem.search import Document as Asked
from crabmem.search import Index as Search
from crabmem.search import load, save, tokens
from crabmem.text import frontmatter as header
from crabmem.text import quoting
from crabmem.text.edit import in_style_of, unified_diff
from crabmem.text.entry import Fact, checked, parse_entry, render_entry
from crabmem.text.hashes import blob_id
from crabmem.text.plain import read_plain
from crabmem.text.slug import free_slug, name_key, slug_of
from crabmem.text.times import parse_time
from crabmem.workspace import settings
from crabmem.workspace.layout import ORDINARY
from crabmem.workspace.settings_file import as_toml
from crabmem.workspace.workspace import Workspace, agent_folder
from crabmem.write.outside_edits import Edit, edit_note
from crabmem.write.recovery import Displaced, Journal

PATH = "memory/entries/luna.md"
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=timezone(timedelta(hours=2)))
FIXTURES = Path(__file__).parent.parent.parent / "fixtures"

#: What breaks parsers, as text: YAML, line ends, marks nobody sees, tags, times, revisions, paths.
TEXTS = (
    *("---\n", "---", "\n---\n", "...\n", "---\r\n", "---\r", "\n", "\r\n", "\r", "\t", " ", "\0", "\ufeff", "\x85"),
    *("name: ", "name: x\n", "description: ", "aliases: ", "tags: [a, b]\n", "tags: a, #b\n", "name:\n  - x\n"),
    *("aliases:\n- a\n# why\n- b\n", "colour: green # why\n", "x-order : [3, '# 1']\n", "block: |\n  name: no\n\n"),
    *("name: KB: x\n", "name: @x\n", "name: `x`\n", "name: %x\n", "name: {{x}}\n", 'name: "unbalanced\n', "name: 'x\n"),
    *("name: no\n", "name: 1.10\n", "name: 2024-02-30\n", "name: 12:30:45\n", "name: 0o17\n", "name: ~\n"),
    *("? a\n: b\n",),
    *("&a [x, x]", "*a", "<<: *a\n", "b: &b [*a,*a,*a,*a]\n", "!!python/object/apply:os.system [id]\n"),
    *("!!binary aGk=",),
    *("[" * 40, "{" * 40, "]" * 20, "}" * 20, "- " * 40, "[[[[", "{a: {b: ", "%YAML 1.1\n", "%TAG ! x\n", "!<x> "),
    *("key: >-\n",),
    *("<<<<<<< ours\n", "=======\n", ">>>>>>> theirs\n", "\u2028", "\u2029", "\u200d", "\u200b", "\u202e"),
    *("\u2066", "\ufe0f"),
    *("é", "e\u0301", "ß", "İ", "ﬀ", "🦀", "日本", "漢字かな", "가", "ไทย", "हिन्दी", "שלום", "\u00a0", "\u3000"),
    *("\U000e0041", "\x1b[2J"),
    *("</memory>", "<memory>", "</recall>", "< / m e m o r y >", "</mem\u00adory>", "<recall", "&lt;", "<", ">"),
    *("/", "\\"),
    *("con", "aux", "nul.txt", "com1", "lpt9", "..", "../", ".git", "C++", "C#", "a" * 130, "é" * 199, ":", "*"),
    *("|", '"'),
    *("2 days ago", "yesterday", "today", "99999999999 years ago", "1 week", "2026-03-01T12:00:00+02:00"),
    *("0001-01-01", "9999-12-31"),
    *("HEAD", "HEAD~1", "HEAD~999999999", "^", "~", "main", "refs/heads/main", "refs/", "refs/crabmem/keep", "@"),
    *("deadbeef",),
    *("ref: ", "ref: refs/heads/main\n", "0" * 40, "f" * 40, "# pack-refs with: peeled fully-peeled sorted\n"),
    *("^" + "0" * 40,),
    *("name = 1\n", "recall_limit = ", "[auto_recall]\n", "limit = 3\n", "lock_timeout = nan\n", 'person = "x"\n'),
    *("[[a]]\n", "soul_editable = true\n"),
    *("if", "[core]\n\trepositoryformatversion = 1\n", "[extensions]\n\tobjectformat = "),
    *("[include]\n\tpath = ~/x\n", '[a "b"]\n'),
)  # fmt: skip
_BYTES = (b"\xff", b"\xff\xfe", b"\x80", b"\xed\xa0\x80", b"\xc3", b"\x00" * 20)
FRAGMENTS = (*(text.encode() for text in TEXTS), *_BYTES)
SURROGATES = ("\ud800", "\udfff", "a\udc80b")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?\Z", re.IGNORECASE)
# The code points that Unicode calls ignorable, but for joiners and variation selectors, which words and emoji need.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)


class Source:
    """Bytes of a fuzzer as values: each is taken from the front, and defaults once nothing is left."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def take(self, count: int) -> bytes:
        """The next bytes, as many as there are."""
        taken, self._data = self._data[:count], self._data[count:]
        return taken

    def number(self, below: int) -> int:
        """A number from 0 on."""
        return int.from_bytes(self.take(1 if below <= 256 else 3), "big") % below

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(len(self._data))

    def text(self, most: int = 12, surrogates: bool = False) -> str:
        """Some of what breaks parsers, and letters as they come."""
        return "".join(self._piece(surrogates) for _ in range(self.number(most)))

    def _piece(self, surrogates: bool) -> str:
        kind = self.number(8)
        if kind < 4:
            return TEXTS[self.number(len(TEXTS))]
        if kind == 4 and surrogates:
            return SURROGATES[self.number(len(SURROGATES))]
        if kind == 5:
            return chr(self.number(0x110000)).encode("utf-8", "ignore").decode()
        return self.take(1 + self.number(6)).decode("utf-8", "ignore")

    def json(self, depth: int = 3) -> Any:
        """Any JSON value."""
        kind = self.number(9 if depth else 6)
        if kind < 3:
            return self.text(surrogates=True)
        if kind < 6:
            return (None, True, False, 0, -1, 1, 3.5, 2**70, float("inf"), [], {})[self.number(11)]
        if kind < 8:
            return [self.json(depth - 1) for _ in range(self.number(4))]
        return {self.text(3, surrogates=True): self.json(depth - 1) for _ in range(self.number(4))}


@dataclass(frozen=True)
class Target:
    """Something that is fed: `check` raises when a promise is broken; `seeds` are inputs to begin with."""

    name: str
    check: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    slow: bool = False


TARGETS: dict[str, Target] = {}


def _nothing() -> list[bytes]:
    return []


def target(
    seeds: Callable[[], list[bytes]] = _nothing, slow: bool = False
) -> Callable[[Callable[[bytes], None]], None]:
    """Make the function a target."""

    def named(check: Callable[[bytes], None]) -> None:
        TARGETS[check.__name__] = Target(check.__name__, check, seeds, slow)

    return named


# What is read


def samples() -> list[bytes]:
    """Every file of the sample workspaces, and a few lines of what breaks YAML."""
    files = [file.read_bytes() for file in sorted(FIXTURES.rglob("*.md"))]
    made = [f"---\n{text}\n---\n\nbody\n".encode() for text in TEXTS if ":" in text or text[:1] in "&*!?[{%"]
    return files + made


@target(samples)
def entry(data: bytes) -> None:
    """Any bytes are an entry or unreadable; what is then written over it reads back as what was given."""
    try:
        found = parse_entry(PATH, data)
    except CrabmemError:
        return
    text = data.decode()
    assert found.problem or header.parts_of(text).header is not None
    assert found.problem is None or (found.name, found.description) == ("luna", "")
    _assert_kept(Fact("Luna", "dog", "Thursday", ("vet",), None), text)
    with suppress(InvalidArguments):
        given = checked(Fact(found.name, found.description, found.content, found.aliases, found.tags))
        _assert_kept(given, text)


def _assert_kept(fact: Fact, before: str | None) -> None:
    """What is written reads back exactly, again the same, and keeps what was not ours."""
    try:
        parse_entry(PATH, (before or "text").encode())  # what cannot be read is not written over
        text = render_entry(fact, before)
    except CrabmemError:
        return
    now = parse_entry(PATH, text.encode())
    assert now.problem is None, now.problem
    assert (now.name, now.description, now.content) == (fact.name, fact.description, fact.content)
    assert fact.aliases in (None, now.aliases) and fact.tags in (None, now.tags)
    assert render_entry(fact, text) == text
    assert _theirs(text) == _theirs(before or "") or _theirs(before or "") is None


def _theirs(text: str) -> dict[str, Any] | None:
    """The keys of a header that are not ours; None when it cannot be read."""
    parts = header.parts_of(text)
    try:
        found = header.load(parts.header or "")
    except header.BadHeader:
        return None
    return {key: value for key, value in found.items() if key not in ("name", "description", "aliases", "tags")}


@target()
def fact(data: bytes) -> None:
    """Any fact that is accepted is read back, whatever the file said before."""
    source = Source(data)
    labels = [tuple(source.text(5) for _ in range(source.number(4))) if source.number(3) else None for _ in "at"]
    before = None if source.number(3) == 0 else f"---\n{source.text()}\n---\n{source.text(4)}"
    try:
        given = checked(Fact(source.text(5), source.text(), source.text(), labels[0], labels[1]))
    except InvalidArguments:
        return
    _assert_kept(given, before)


@target()
def foreign_keys(data: bytes) -> None:
    """Lines of a person's own keep every byte when one of our keys changes."""
    source = Source(data)
    lines = [_THEIRS[source.number(len(_THEIRS))].replace("KEY", f"k{number}") for number in range(source.number(6))]
    ours = ["name: Luna\n", "aliases: [vet] # theirs\n", "tags:\n  - a\n"][: source.number(4)]
    place = source.number(len(lines) + 1)
    head = "".join([*lines[:place], *ours, *lines[place:]])
    text = render_entry(Fact(f"Luna {source.number(9)}", "dog", "Thursday", ("b",), ("c",)), f"---\n{head}---\n")
    missing = [line for line in lines if line not in text]
    assert not missing, missing


_THEIRS = (
    *("KEY: green # why\n", "KEY : [3, '# 1', 2]\n", "KEY: {by: tilda, times: 2}\n"),
    *("KEY: |\n  name: not this\n  # no\n\n",),
    *("KEY:\n  - house # not home\n  - garden\n", "KEY: 'it''s'\n", 'KEY: "a\\tb"\n'),
    *("KEY: >-\n  folded\n  text\n", "KEY:\n"),
    *("# KEY by me\n", "KEY: 🦀 äöü\n", "? KEY\n: complex\n", "KEY: !local x\n", "KEY: 2026-01-02\n", "KEY: no\n"),
)  # fmt: skip


@target(samples)
def frontmatter(data: bytes) -> None:
    """The parts are the text again; a header that loads can be changed and keeps the rest."""
    text = data.decode("utf-8", "replace")
    parts = header.parts_of(text)
    joined = parts.bom + parts.opening + (parts.header or "") + parts.closing + parts.content
    assert joined == text
    header.keys(text)
    try:
        before = header.load(parts.header or "")
        changes: dict[str, header.Value] = {"name": "A: B", "tags": ["x", "#y"]}
        after = header.load(header.with_keys(parts.header or "", changes, parts.newline))
    except header.BadHeader:
        return
    assert after == {**before, **changes}


@target()
def slugs(data: bytes) -> None:
    """A file name for any name: short, safe everywhere, the same again, and another when it is taken."""
    name = Source(data).text(20, surrogates=True)
    slug = slug_of(name)
    for each in (slug, free_slug(name, {name_key(slug)})):
        assert 0 < len(each.encode()) <= 120, each
        assert unicodedata.normalize("NFC", each) == each, each
        assert not re.search(r"[\s/\\:*?\"<>|.\x00-\x1f]", each) and not _RESERVED.match(each), each
        assert ORDINARY.is_kept(f"memory/entries/{each}.md")
    assert slug_of(slug) == slug, (slug, slug_of(slug))
    assert name_key(name_key(name)) == name_key(name)
    with suppress(CrabmemError):
        assert agent_folder(name)


def _toml() -> list[bytes]:
    return [as_toml(settings.Settings()).encode(), *(text.encode() for text in TEXTS if "=" in text)]


@target(_toml)
def toml(data: bytes) -> None:
    """Settings are read, or refused in one line; what is read can be shown and read again."""
    try:
        found = settings.parse_settings(data, "crabmem.toml")
    except CrabmemError as error:
        assert str(error).strip()
        return
    assert settings.parse_settings(as_toml(found).encode(), "again") == found


@target(samples)
def prompts(data: bytes) -> None:
    """No text closes the block it stands in, and nothing in it is hidden."""
    text = data.decode("utf-8", "replace") if data[:1] > b"@" else Source(data).text(30, surrogates=True)
    for tag in ("memory", "recall"):
        block = quoting.block(tag, text)
        assert not _HIDDEN.search(block), repr(_HIDDEN.search(block))
        bare = "".join(char for char in block.lower() if unicodedata.category(char)[0] not in "CZM")
        tags = [bare.count(f"{bracket}{name}>") for name in ("memory", "recall") for bracket in ("<", "</")]
        assert not block or sum(tags) == 2, block
    shown = quoting.entry_text(text[:50], text[50:100], text)
    assert not _HIDDEN.search(shown)
    assert len(quoting.fitting([shown, shown], 100)) <= 100


@target()
def times(data: bytes) -> None:
    """A time or none; a time can be compared and printed."""
    source = Source(data)
    text = source.text() if source.number(2) else source.rest().decode("utf-8", "replace")
    when = parse_time(text, NOON)
    if when:
        assert when.tzinfo and isinstance(when.timestamp(), float) and f"{when:%Y-%m-%d %H:%M}"


@target(samples)
def words(data: bytes) -> None:
    """Words are not empty, and a text is found by its own."""
    found = tokens(data.decode("utf-8", "replace"))
    assert all(found) and not any(re.search(r"\s", word) for word in found)
    if data[:1] < b"\x10":
        index = Search().updated({"a": Asked("a", b"1", found), "b": Asked("b", b"2", ["other"])})
        assert not found or index.search(found)


def _kept_indexes() -> list[bytes]:
    folder = scratch() / "kept"
    save(Search().updated({name: Asked(name, b"1", [name, "both"]) for name in ("a", "b")}), folder)
    return [(folder / name).read_bytes() for name in ("base", "later")]


@target(_kept_indexes)
def kept_index(data: bytes) -> None:
    """What was kept of an index is believed when it is whole, and is none otherwise."""
    for name in ("base", "later"):
        folder = scratch() / "index"
        folder.mkdir(exist_ok=True)
        (folder / "base").write_bytes(_kept_indexes()[0])
        (folder / name).write_bytes(data)
        index = load(folder)
        if index is not None:
            assert {found.key for found in index.search(["both"])} <= {"a", "b"} and len(index.marks()) == len(index)


@target(samples)
def plain_entries(data: bytes) -> None:
    """A text of the plain form says what YAML says of it."""
    text = data.decode("utf-8", "replace")
    found = read_plain(text)
    if found:
        parts = header.parts_of(text)
        assert parts.header is not None and header.load(parts.header) == found[0]
        assert parts.content.removeprefix("\n").removesuffix("\n") == found[1]


@target(samples)
def diffs(data: bytes) -> None:
    """A diff is the change and nothing else; a text keeps the style of the file it goes to."""
    before, _, after = data.decode("utf-8", "replace").partition("---")
    told = unified_diff(before, after, "x.md")
    assert (told == "") == (before == after)
    assert all(line[:1] in "+- @\\" for line in told.split("\n") if line)
    styled = in_style_of(after, before)
    assert "\r\r\n" in after or in_style_of(styled, before) == styled
    edit_note({PATH: Edit(before.encode(), data), "Crab.md": Edit(None, data)}, before, ORDINARY)


# What lies in .git


@cache
def scratch() -> Path:
    """A folder of this process, made empty; on a disk in memory where there is one."""
    folder = _scratch_of(os.getpid())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _scratch_of(pid: int) -> Path:
    disk = Path("/dev/shm")
    return (disk if os.access(disk, os.W_OK) else Path(tempfile.gettempdir())) / f"crabmem-fuzz-{pid}"


def clear_scratch(pid: int | None = None) -> None:
    """Remove what this process made, or another that has ended."""
    shutil.rmtree(_scratch_of(pid or os.getpid()), ignore_errors=True)


@cache
def prepared() -> Path:
    """A small memory with some history, part of it in a pack."""
    root = scratch() / "prepared"
    with Memory(root, agent="fuzzer") as memory:
        memory.remember("Luna", "dog", "Thursday", aliases=["vet"], tags=["dog"])
        memory.remember("Other", "something else", "Friday")
        memory.write_overview("# Overview\n\nThe garden.\n")
        memory.remember("Luna", "dog", "Friday")
    subprocess.run(["git", "-C", str(root), "repack", "-q", "-d"], check=True)
    with Memory(root, agent="fuzzer") as memory:
        memory.remember("Third", "a third", "Saturday")
    return root


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the small memory for one input."""
    root = scratch() / "copy"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(prepared(), root, symlinks=True)
    yield root


def _put(name: str, data: bytes) -> Path:
    file = scratch() / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def _journals() -> list[bytes]:
    step = {"old": "0" * 40, "new": None, "temporary": "write-0123456789abcdef"}
    words = {"subject": "edit: x", "author": "a <a@b>", "body": "", "trailers": [["Tool", "x"]]}
    return [
        json.dumps({**words, "when": NOON.isoformat(), "steps": {path: step}}).encode() for path in (PATH, "../x.md")
    ]


@target(_journals)
def journal(data: bytes) -> None:
    """A journal holds an intent for files of ours, or none."""
    file = _put("journal", data)
    pending = Journal(file.parent, ORDINARY, Seal(None, "journal")).pending()
    assert pending is None or all(map(ORDINARY.is_kept, pending.intent.steps))
    assert pending is None or all(step.temporary.startswith("write-") for step in pending.intent.steps.values())
    assert pending is None or not pending.is_ours


@target(lambda: [b'{"write-0123456789abcdef": "memory/entries/luna.md"}\n', b'{"../x": "Crab.md"}\n{'])
def displaced(data: bytes) -> None:
    """What was displaced belongs to files of ours; any other line is none."""
    found = Displaced(_put("displaced", data).parent, ORDINARY).all()
    assert all(map(ORDINARY.is_kept, found.values()))


def _indexes() -> list[bytes]:
    whole = (prepared() / ".git/index").read_bytes()
    return [whole, whole[:-20] + bytes(20), whole[:40], b"", b"DIRC" + bytes(8) + whole[12:]]


@target(_indexes)
def index(data: bytes) -> None:
    """Any index is read or made anew, and settled."""
    workspace = Workspace(scratch() / "index")
    git, private = workspace.git, workspace.private
    (private / state.TEMPORARY).mkdir(parents=True, exist_ok=True)
    (git / "index").write_bytes(data)
    head = {PATH: (0o100644, "1" * 40), "memory/x.md": (0o100644, "2" * 40)}
    found = Index(Parts.of(workspace, Redo(private / state.REDO)), lambda: head)
    found.expect(["memory/x.md", PATH])
    found.settle({PATH: Settled.file("3" * 40), "Crab.md": Settled(None)})
    if not (private / state.INDEX_BEHIND).exists():
        settled = WrittenIndex(str(git / "index"))
        assert settled.get_sha1(PATH.encode()) == b"3" * 40 and b"Crab.md" not in settled


@target(lambda: [b"ref: refs/heads/main\n", b"\0" * 41, b"f" * 40 + b" refs/heads/main\n^" + b"0" * 40])
def references(data: bytes) -> None:
    """HEAD, a branch and packed references of any bytes: where they point, or damage."""
    git = scratch() / "refs.git"
    (git / "refs/heads").mkdir(parents=True, exist_ok=True)
    (git / "logs").mkdir(exist_ok=True)
    places = ("HEAD", "refs/heads/main", "packed-refs", "logs/HEAD")
    for name in places:
        (git / name).write_bytes(data if name == "HEAD" or data[:1] > b"\x7f" else b"f" * 40)
    refs = Refs(git, git / "logs")
    for ask in (refs.head, refs.all, lambda: refs.read("refs/heads/main"), lambda: list(refs.last_noted("HEAD"))):
        with suppress(CrabmemError):
            ask()


def _loose() -> list[bytes]:
    folder = prepared() / ".git/objects"
    files = [file for file in sorted(folder.glob("??/*")) if len(file.name) == 38]
    return [bytes([kind]) + zlib.decompress(file.read_bytes()) for file in files for kind in (0, 1)]


@target(_loose)
def objects(data: bytes) -> None:
    """An object of any bytes is one or is damaged; a commit or tree of any bytes is read or damaged."""
    oid = "ab" + "0" * 38
    raw = data[1:] if data[:1] == b"\1" else zlib.compress(data[1:], 1)
    (scratch() / "loose/pack").mkdir(parents=True, exist_ok=True)
    _put(f"loose/ab/{'0' * 38}", raw)
    store = Objects(scratch() / "loose")
    trees, walk = Trees(store), Walk(store, Graph(scratch()))
    changes = Changes(store, trees, walk)
    asked = (
        store.raw,
        store.verified,
        store.blob,
        store.has,
        trees.files,
        store.starting_with,
        changes.of,
        walk.line,
        lambda oid: list(walk.commits(oid)),
        lambda oid: changes.touches(oid, PATH),
        lambda oid: changes.origins(Origin(oid, PATH, oid)),
        lambda oid: trees.grafted(oid, {PATH: oid}),
    )
    for ask in asked:
        with suppress(CrabmemError):
            ask(oid)
    with suppress(CrabmemError):
        assert json.dumps(changes.commit(oid).subject)


def _packs() -> list[bytes]:
    return [file.read_bytes() for file in sorted((prepared() / ".git/objects/pack").glob("*.*"))]


@target(_packs)
def packs(data: bytes) -> None:
    """A pack or its list of any bytes stops no reading of what lies elsewhere."""
    folder = scratch() / "packed"
    if not folder.exists():
        shutil.copytree(prepared() / ".git/objects", folder)
    kind = ".idx" if data[:4] == b"\xfftOc" else ".pack"
    for file in sorted((prepared() / ".git/objects/pack").glob("*.*")):
        shutil.copyfile(file, folder / "pack" / f"fuzz{file.suffix}")
        (folder / "pack" / file.name).unlink(missing_ok=True)
    (folder / f"pack/fuzz{kind}").write_bytes(data)
    store = Objects(folder)
    head = (prepared() / ".git/refs/heads/main").read_text().strip()
    for ask in (
        lambda: list(Walk(store, Graph(folder)).commits(head)),
        lambda: Trees(store).files(store.header(head).tree),
    ):
        with suppress(CrabmemError):
            ask()
    store.has("ab" * 20)
    store.close()


@target()
def commits(data: bytes) -> None:
    """Any words make a commit that passes Git's checks and reads back."""
    source = Source(data)
    who = identity(source.text(surrogates=True))
    trailers = tuple((key, source.text(surrogates=True)) for key in ("Tool", "Agent", "Session", "Entry"))
    note = Note(f"edit: {source.text(surrogates=True)}", who, source.text(4).replace("\0", ""), trailers)
    when = NOON.replace(tzinfo=timezone(timedelta(minutes=source.number(1439) - 720)))
    raw = raw_commit("4b825dc642cb6eb9a060e54bf8d69288fbee4904", [], note, when, 0)
    again = RawCommit.from_string(raw)
    again.check()
    read = read_commit(again.id.decode(), raw)
    assert read.subject.startswith("edit:") and "\n" not in read.subject and read.author
    assert note.message == again.message.decode() or "\ufffd" in again.message.decode()
    assert (header_of(raw).committed, header_of(raw).authored) == (again.commit_time, again.author_time)
    assert read.author == who.partition(" <")[0]
    _noted.append(raw)


_noted: list[bytes] = []


def assert_git_takes_commits() -> int:
    """Let Git itself check the last commits that were made up; how many."""
    chosen = _noted[-300:]
    if chosen:
        root = scratch() / "commits"
        history = History(Workspace(root))
        history.ownership.prepare()
        store = Objects(root / ".git/objects", root / ".git/crabmem/tmp")
        store.put("tree", b"")
        for raw in chosen:
            store.put("commit", raw)
        store.flush()
        done = subprocess.run(["git", "-C", str(root), "fsck", "--strict"], capture_output=True)
        lines = (done.stdout + done.stderr).decode("utf-8", "replace").splitlines()
        bad = [line for line in lines if "dangling" not in line and "notice" not in line]
        assert not bad, bad[:3]
    return len(chosen)


@target(
    lambda: [
        git_folder._CONFIG.format(more=git_folder._FOLDING).encode(),
        *(text.encode() for text in TEXTS if text.startswith("[")),
    ]
)
def git_config(data: bytes) -> None:
    """Git's settings of any bytes are read or count as none."""
    git = _put("config.git/config", data).parent
    git_folder.foreign_format(git)
    git_folder.is_sparse(git)


# The whole

#: Files that a crash, a sync program or a person may leave in any state.
_PLACES = (
    *(".git/crabmem/journal", ".git/crabmem/displaced", ".git/crabmem/index-behind", ".git/crabmem/repairs.log"),
    *(".git/crabmem/lock.pid", ".git/crabmem/tmp/write-0123456789abcdef", ".git/crabmem/tmp/lock-0123456789abcdef"),
    *(".git/HEAD", ".git/refs/heads/main", ".git/refs/crabmem/keep", ".git/packed-refs", ".git/index", ".git/config"),
    *(".git/info/exclude", ".git/shallow", ".git/logs/HEAD", ".git/logs/refs/heads/main", ".git/gc.pid"),
    *(PATH, "memory/MEMORY.md", "Crab.md", "memory/entries/new.md", "memory/extra/x.md", "crabmem.toml"),
)


@target(lambda: [bytes([number]) + b"\xff\xfe\0x" for number in range(len(_PLACES))], slow=True)
def workspaces(data: bytes) -> None:
    """Whatever one file holds: looking goes on, and a write works or says why not; nothing on disk is lost."""
    source = Source(data)
    place = _PLACES[source.number(len(_PLACES))]
    with copied() as root:
        file = root / place
        file.parent.mkdir(parents=True, exist_ok=True)
        old = file.read_bytes() if file.is_file() else b""
        new = old[: source.number(len(old) + 1)] + source.rest() if source.number(2) else source.rest()
        file.write_bytes(new)
        _assert_goes_on(root, place, new)


def _assert_goes_on(root: Path, place: str, new: bytes) -> None:
    with Memory(root, agent="next") as memory:
        if place != "crabmem.toml":
            assert memory.recall("Saturday").hits
        for look in (memory.prompt, memory.doctor, memory.log, lambda: memory.recall("dog"), memory.diff):
            with suppress(CrabmemError):
                look()
        kept = (root / place).read_bytes()
        try:
            memory.remember("After", "written after", "It works.")
            assert memory.get("After").content == "It works."
            stored = ORDINARY.is_kept(place) and memory.engine.history.has(blob_id(new))
        except CrabmemError as error:
            assert str(error).strip() and "\n" not in str(error)
            stored = False
        if ORDINARY.is_kept(place):
            assert kept == new == (root / place).read_bytes()
            assert stored or place == "crabmem.toml" or not (root / "memory/entries/after.md").exists()


@target(slow=True)
def file_names(data: bytes) -> None:
    """Whatever a file among the entries is called, the others are found and a write works."""
    name = re.sub(rb"[/\0]", b"", data[:251]) or b"x"
    with copied() as root:
        (root / "memory/entries" / os.fsdecode(name + b".md")).write_text("Sunday\n")
        with Memory(root, agent="next") as memory:
            assert memory.recall("Saturday").hits
            memory.remember("After", "written after", "It works.")
            memory.doctor(), memory.log(), memory.diff("HEAD~1"), memory.entries("HEAD")
            assert memory.recall("works").hits


_opened: list[Memory] = []
_ASKED_BEFORE_FRESH = 200


def _asked() -> Memory:
    """A memory to ask; a fresh one after a while, before its history grows long."""
    if not _opened or len(_opened) >= _ASKED_BEFORE_FRESH:
        for memory in _opened[:1]:
            memory.close()
        shutil.rmtree(scratch() / "asked", ignore_errors=True)
        root = shutil.copytree(prepared(), scratch() / "asked", symlinks=True)
        _opened[:] = [Memory(root, agent="caller", session="s", soul_editable=True)]
    _opened.append(_opened[0])
    return _opened[0]


_NAMES = ("remember", "recall", "forget", "memory", "soul")
_ARGUMENTS = ("name", "description", "content", "query", "limit", "tags", "aliases", "if_version", "as_of")


def _call(source: Source) -> tuple[str, dict[str, Any]]:
    """A tool and arguments that are nearly right."""
    name = _NAMES[source.number(5)] if source.number(12) else source.text(3)
    needed = {"remember": 3, "recall": 1, "forget": 1}.get(name, 1)
    first = {"recall": "query", "memory": "content", "soul": "content"}.get(name)
    wanted = (first,) if first else _ARGUMENTS[:needed]
    given: dict[str, Any] = {key: source.text(surrogates=True) for key in wanted}
    for _ in range(source.number(3)):
        given[_ARGUMENTS[source.number(len(_ARGUMENTS))]] = source.json()
    return name, given


@target(slow=True)
def tools(data: bytes) -> None:
    """Whatever a tool is given, the answer is a result, as text and as data."""
    name, given = _call(Source(data))
    result = _asked().call(name, given, [name])
    assert isinstance(result.text, str) and result.text and isinstance(result.is_error, bool)
    json.dumps(result.data, ensure_ascii=False)


@target(slow=True)
def revisions(data: bytes) -> None:
    """Any text as a revision, a time, a version or a name is answered or refused."""
    source = Source(data)
    memory, one, other = _asked(), source.text(4, surrogates=True), source.text(4, surrogates=True)
    asked: tuple[Callable[[], object], ...] = (
        *(lambda: memory.entries(one), lambda: memory.diff(one, other), lambda: memory.log(3, one)),
        *(
            lambda: memory.get(one, other or None),
            lambda: history_operations.patch(memory, one),
            lambda: memory.rollback(one),
        ),
        *(lambda: memory.recall(one), lambda: memory.before_turn(one), lambda: memory.get(one)),
        *(lambda: memory.blame(one), lambda: memory.when(one), lambda: memory.digest(one, other or None)),
        *(lambda: memory.log(3, since=one, author=other), lambda: memory.recall(one, blame=True)),
        *(lambda: memory.recall(other, as_of=one), lambda: memory.prompt(one)),
        lambda: memory.write_overview(one, other or None),
    )
    for ask in asked:
        with suppress(CrabmemError):
            ask()


@target(lambda: [b'["call", "recall", "{\\"query\\": \\"dog\\"}"]'], slow=True)
def command_line(data: bytes) -> None:
    """Whatever stands on the command line ends with 0, 1 or 2, and says so in words."""
    source = Source(data)
    name, given = _call(source)
    text = json.dumps(given) if source.number(5) else source.text(surrogates=False)
    flags = ["--json"] if source.number(2) else []
    words = [
        "--dir",
        str(_asked().root),
        "call",
        *flags,
        "--",
        name,
        text[: 1 + source.number(4000)] if source.number(4) == 3 else text,
    ]
    done = CliRunner().invoke(cli, [word.replace("\0", "") for word in words])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 1, 2), done.exit_code
    assert "Traceback" not in done.output
