"""The answer to `crabmem recall WORDS` in a fresh process, when nothing about it is out of the ordinary.

Reads the status of every file, as any recall does, and loads next to nothing: the command line, the
settings and YAML take longer than the search. Whatever is not plain is left to the whole program.
"""

import os
import stat
import sys

from .disk import regular, state
from .disk import stat as stamp
from .disk.derived import are_ours
from .disk.user_state import key_of_user
from .search import SIGNS, load, rules, tokens
from .text import answers, plain
from .text.daily_notes import is_note
from .text.limits import DEEPEST, MAX_LIMIT, MAX_QUERY, RECALL_LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .search import Index

_MEMORY, _ENTRIES = "memory/", "memory/entries/"
_OVERVIEW = "MEMORY.md"
# What the whole program takes for an entry is no larger.
_LARGEST = 5_000_000
_ODD = ("CRABMEM_WORKSPACE", "CRABMEM_PROFILE", "CRABMEM_KIND", "_CRABMEM_COMPLETE")
# From here on there are characters that nobody sees.
_MARKS = "\u0300"
# Bytes of a blob's id, as `version.short` has of the digits; to load that takes as long as all of this.
_VERSION = 4
_FOLDER = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)


def answered(arguments: "Sequence[str]", environment: "Mapping[str, str]") -> bool:
    """Whether the command was one for us, and is done."""
    asked = _asked(arguments, environment)
    if asked is None or os.listdir not in os.supports_fd:
        return False
    try:
        text = _found(environment, *asked)
    except (OSError, ValueError):
        return False  # the whole program says what is wrong
    if text:
        _print(text)
    return bool(text)


def _asked(arguments: "Sequence[str]", environment: "Mapping[str, str]") -> "tuple[str, str, int] | None":
    """The workspace, the question and how many facts it wants; None for any other command."""
    if any(map(environment.get, _ODD)):
        return None
    match list(arguments):
        case ["--dir", root, "recall", *words] if root:
            pass
        case ["recall", *words]:
            root = environment.get("CRABMEM_DIR") or "~/.crabmem"
        case _:
            return None
    limit = RECALL_LIMIT
    match words:
        case [*asked, "--limit", number] if number.isdecimal() and len(number) <= len(str(MAX_LIMIT)):
            words, limit = asked, int(number)
    question = " ".join(words)
    odd = not question.isprintable() or len(question) > MAX_QUERY or any(word.startswith("-") for word in words)
    odd = odd or not SIGNS.isdisjoint(question)
    return None if odd or not 1 <= limit <= MAX_LIMIT else (os.path.expanduser(root), question, limit)


def _found(environment: "Mapping[str, str]", root: str, question: str, limit: int) -> str:
    """The facts that answer, as text; "" when the whole program has to look."""
    words = tokens(question)
    is_agents = os.path.basename(os.path.dirname(os.path.abspath(root))) == "agents"  # whose profile is around it
    if not words or is_agents or os.path.exists(f"{root}/crabmem.toml"):
        return ""
    index = as_kept(root, environment)
    if index is None:
        return ""
    keys, known = [found.key for found in index.search(words, limit)], index.marks()
    if any(key[: len(_ENTRIES)] != _ENTRIES and is_note(key[len(_MEMORY) :]) for key in keys):
        return ""  # of which only a passage is shown
    # An index in which a key stands twice could name what was not looked at.
    is_persons = sys.stdout.isatty()
    if not all(map(known.__contains__, keys)):
        return ""
    texts = [_text(f"{root}/{key}", "" if is_persons else key, known[key][stamp.BLOB]) for key in keys]
    if not all(texts):
        return ""
    if is_persons:
        if not all(key.isascii() and key.isprintable() for key in keys):
            return ""
        from .recall.marking import on_terminal

        in_colour = not environment.get("NO_COLOR")
        texts = [on_terminal(text, key, question, in_colour=in_colour) for key, text in zip(keys, texts, strict=True)]
        return answers.BETWEEN.join(texts)
    return answers.answer_text(texts) if texts else ""


def as_kept(root: str, environment: "Mapping[str, str]", language: str = "english") -> "Index | None":
    """The index that the last process kept, when nothing has changed since and nothing waits to be finished."""
    private = f"{root}/{state.FOLDER}"
    if _size(f"{private}/{state.JOURNAL}") or os.path.exists(f"{private}/{state.PURGING}"):
        return None
    key = key_of_user(environment)
    if key is None or not are_ours(private, key):
        return None
    index = load(f"{private}/{state.INDEX}")
    return index if index is not None and _is_as_known(root, index.marks(), language) else None


def _size(file: str) -> int:
    return os.stat(file).st_size if os.path.exists(file) else 0


def _is_as_known(root: str, marks: "Mapping[str, bytes]", language: str) -> bool:
    """Whether every entry and daily note is a file that the index knows, and has not changed since."""
    memory = os.open(f"{root}/memory", _FOLDER)
    entries = os.open("entries", _FOLDER, dir_fd=memory)
    outer, names = os.listdir(memory), os.listdir(entries)
    if ".git" in outer or ".git" in names:
        return False  # a repository of its own, whose files are none of memory's
    beside = {_MEMORY + name for name in _markdown(outer) if name != _OVERVIEW}
    if not beside <= marks.keys():
        return False
    rest = marks
    if beside:
        rest = {path: mark for path, mark in marks.items() if path not in beside}
    are_flat = "".join(rest).count("/") == len(rest) * _ENTRIES.count("/")
    # Without folders, as many are there: when each of these is, they are the same.
    if not (are_flat and len(names) == len(rest)) and {*_entries_in(entries, _ENTRIES, names)} != rest.keys():
        return False
    return _are_same(rest, entries, len(_ENTRIES), language) and _are_same(
        {path: marks[path] for path in beside}, memory, len(_MEMORY), language
    )


def _entries_in(folder: int, prefix: str, names: "Sequence[str]") -> "Iterator[str]":
    """The paths, which begin with `prefix`, of the entries that `names` in an open folder are, or that lie below."""
    for name in names:
        if name[0] == ".":
            continue
        if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            if name[-3:] == ".md":
                yield prefix + name
        elif prefix.count("/") < DEEPEST:
            below = os.open(name, _FOLDER, dir_fd=folder)
            try:
                inside = os.listdir(below)
                yield from () if ".git" in inside else _entries_in(below, f"{prefix}{name}/", inside)
            finally:
                os.close(below)


def _markdown(names: "Sequence[str]") -> "Sequence[str]":
    return [name for name in names if name[-3:] == ".md" and name[0] != "."]


def _are_same(marks: "Mapping[str, bytes]", folder: int, beginning: int, language: str) -> bool:
    """Whether files of an open folder, whose name is the beginning of their paths, look as they are known."""
    pack, size, status, words = stamp.BEGINNING.pack, stamp.BEGINNING.size, os.stat, rules(language)
    for path, mark in marks.items():
        found = status(path[beginning:], dir_fd=folder, follow_symlinks=False)
        if mark[-4:] != words or mark[:size] != pack(found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino):
            return False
    return True


def _text(file: str, path: str, blob: bytes) -> str:
    """An entry with the path it is from, if one is given; "" when there is more to it than plain words.

    More are also those that are quoted where they come from a path.
    """
    with open(regular.opened(file, limit=_LARGEST), encoding="utf-8", newline="") as opened:
        found = plain.read_plain(opened.read())
    if found is None:
        return ""
    keys, content = found
    name, description = keys.get("name"), keys.get("description", "")
    if not isinstance(name, str) or not isinstance(description, str):
        return ""
    if path and any(map(_is_quoted, (name, description, path, *content.split("\n")))):
        return ""
    text = answers.entry_layout(name, description, content, path, blob[:_VERSION].hex())
    shown = text.replace("\n", "").replace("\t", "")
    is_seen = shown.isascii() or (max(shown) < _MARKS and sys.stdout.encoding.lower() == "utf-8")
    return text if is_seen and shown.isprintable() and "---" not in text else ""


def _is_quoted(line: str) -> bool:
    """Whether a line may look like one that is put around facts."""
    return "<" in line or line.lstrip()[:1] in ("(", "#")


def _print(text: str) -> None:
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
