"""Claude's own memory tool, kept in a workspace: `/memories` is the folder `memory`, and every change is a commit.

client.beta.messages.tool_runner(tools=[MemoryTool(memory)], …)

Claude gets the same answers, word for word, as from the SDK's own tool for a plain folder. It may write what crabmem
keeps: text below `memory/`, without what looks like a credential. All of it is in the history; recall finds what is
Markdown. Three things are as in our other tools, by `text/edit`, and not as in the SDK's: lines that end with "\\r\\n"
keep doing so; a text whose occurrences overlap, as "aa" in "aaa", is not replaced; and a blank line at the end of a
file outlasts an insertion.
"""

import os
import posixpath
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from ..errors import CrabmemError
from ..memory import Memory
from ..operations import files as files_operations
from ..text.edit import NoSuchLine, NotOnce, appended, insert_lines, replace_once
from ..tools.result import warned
from ..workspace.layout import way
from ..write.tree import Tree, inside
from . import missing

try:
    from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types import beta
    from anyio import to_thread
    from pydantic import BaseModel, ValidationError
except ImportError as error:
    raise missing("anthropic", "Anthropic's SDK", "anthropic") from error

_ROOT = "/memories"
_MAX_LINES = 999_999
_WIDTH = len(str(_MAX_LINES))
_MAX_DEPTH = 2
# Files that a listing names at most. The SDK's tool has no such limit, but memory may have more facts than a model
# reads.
_MAX_LISTED = 1_000
_UNITS = "BKMG"
_COMMANDS: dict[str, type[BaseModel]] = {
    "view": beta.BetaMemoryTool20250818ViewCommand,
    "create": beta.BetaMemoryTool20250818CreateCommand,
    "str_replace": beta.BetaMemoryTool20250818StrReplaceCommand,
    "insert": beta.BetaMemoryTool20250818InsertCommand,
    "delete": beta.BetaMemoryTool20250818DeleteCommand,
    "rename": beta.BetaMemoryTool20250818RenameCommand,
}


@dataclass(frozen=True)
class Edit:
    """The changes that a command makes to the files, as texts by path (None removes one), and the reply to Claude."""

    reply: str
    changes: dict[str, str | None] = field(default_factory=dict)


class MemoryTool(BetaAbstractMemoryTool):
    """The memory tool over one memory. Every error becomes a `ToolError`, whose text Claude reads."""

    def __init__(self, memory: Memory, *, cache_control: beta.BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._memory = memory

    def call(self, input: object) -> Any:
        """Check and execute the command that Claude wrote; return the reply."""
        return super().call(_check(input))

    def view(self, command: beta.BetaMemoryTool20250818ViewCommand) -> str:
        """Return a file with numbered lines, or a listing of a folder."""
        path = self._path(command.path)
        with self._in_its_words():
            return files_operations.browse(self._memory, lambda tree: self._view_of(tree, path, command))

    def create(self, command: beta.BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new file; an error if there is one."""
        return self._commit_edit("create", command.path, partial(_create, command))

    def str_replace(self, command: beta.BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs exactly once in a file."""
        return self._commit_edit("edit", command.path, partial(_str_replace, command))

    def insert(self, command: beta.BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines after the line of a given number; 0 is the top."""
        return self._commit_edit("edit", command.path, partial(_insert, command))

    def delete(self, command: beta.BetaMemoryTool20250818DeleteCommand) -> str:
        """Remove a file, or a folder with all in it; history keeps them."""
        return self._commit_edit("delete", command.path, partial(_delete, command))

    def rename(self, command: beta.BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        new = self._path(command.new_path)
        return self._commit_edit("rename", command.old_path, partial(_rename, command, new))

    def clear_all_memory(self) -> str:
        """Remove every file below `memory/`, for the program that asks for it; history keeps them."""
        with self._in_its_words():
            files_operations.rewrite(self._memory, "clear", lambda tree: dict.fromkeys(tree.paths()), even_if_many=True)
        return "All memory cleared"

    def _commit_edit(self, verb: str, given: str, edit: Callable[[Tree, str], Edit]) -> str:
        """Make the edit in one commit; return the reply to Claude, with warnings.

        `edit` may be called twice (see `files.rewrite`): the reply is that of the last call, whose changes are written.

        Raises:
            ToolError: the path is not allowed, or the edit is refused.
        """
        path, edits = self._path(given), list[Edit]()

        def work(tree: Tree) -> dict[str, str | None]:
            edits[:] = [edit(tree, path)]
            return edits[0].changes

        with self._in_its_words():
            done = files_operations.rewrite(self._memory, f"{verb} {path or '/'}", work)
        return warned(edits[0].reply, done.warnings)

    def _path(self, given: str) -> str:
        """Return the path below `memory/` that Claude means.

        No write follows a link anyway: the check for links only gives the error the words that Claude knows.

        Raises:
            ToolError: the path leads out of `/memories`, or a link is on it.
        """
        path, memory = _path_below(given), self._memory
        for place in way(memory.layout.memory_path(path)) if path else ():
            if os.path.islink(memory.file(place)):
                raise ToolError(
                    f"Path {given} would escape {_ROOT} directory: a link is in the way, and none is followed"
                )
        return path

    @contextmanager
    def _in_its_words(self) -> Iterator[None]:
        """In the block, turn our errors into `ToolError`s, with paths as Claude knows them, not as on this machine."""
        try:
            yield
        except CrabmemError as error:
            home, root = (os.fspath(self._memory.file(path)) for path in (self._memory.layout.memory, ""))
            raise ToolError(error.text().replace(home, _ROOT).replace(root, "the workspace")) from None

    def _view_of(self, tree: Tree, path: str, command: beta.BetaMemoryTool20250818ViewCommand) -> str:
        """Return a file or a listing in the words of the SDK's own tool."""
        if path in tree:
            return _numbered_lines(tree.text(path), command)
        if path and not tree.paths(path):
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        found = _listing(tree, path)
        listed = [(self._folder_size(tree, path), command.path)]
        listed += [(self._size(tree, path, below), f"{command.path}/{below}") for below in found[:_MAX_LISTED]]
        lines = [f"{_size_text(size)}\t{name}" for size, name in listed]
        if len(found) > _MAX_LISTED:
            lines.append(f"({len(found) - _MAX_LISTED:,} more are not listed)")
        header = f"Here're the files and directories up to {_MAX_DEPTH} levels deep in {command.path}"
        return "\n".join([f"{header}, excluding hidden items:", *lines])

    def _size(self, tree: Tree, folder: str, below: str) -> int:
        path = posixpath.join(folder, below)
        return self._folder_size(tree, path) if path.endswith("/") else tree.size(path)

    def _folder_size(self, tree: Tree, path: str) -> int:
        """Return the file system's size of the folder itself, as the SDK's tool does; 0 if the folder is not there."""
        try:
            return self._memory.file(tree.whole(path).rstrip("/")).lstat().st_size
        except OSError:
            return 0


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """`MemoryTool` for the asynchronous client: the work is done on a thread beside the event loop."""

    def __init__(self, memory: Memory, *, cache_control: beta.BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = MemoryTool(memory)

    async def call(self, input: object) -> Any:
        """Check and execute the command that Claude wrote; return the reply."""
        return await super().call(_check(input))

    async def _beside(self, command: Any) -> Any:
        return await to_thread.run_sync(self._tool.execute, command)

    view = create = str_replace = insert = delete = rename = _beside

    async def clear_all_memory(self) -> str:
        """Remove every file below `memory/`, for the program that asks for it; history keeps them."""
        return await to_thread.run_sync(self._tool.clear_all_memory)


def _check(given: object) -> object:
    """Return `given`, what Claude wrote, if that is a valid command. The SDK does not check it.

    Raises:
        ToolError: the command is unknown, or an argument is missing or of a wrong type.
    """
    name = given.get("command") if isinstance(given, dict) else None
    if name is None or str(name) not in _COMMANDS:
        raise ToolError(f"Unknown command: {name}. There are {', '.join(_COMMANDS)}.")
    try:
        _COMMANDS[name].model_validate(given, strict=True)
    except ValidationError as error:
        wrong = [f"`{'.'.join(map(str, each['loc']))}`: {each['msg']}" for each in error.errors()]
        raise ToolError(f"Invalid arguments of {name}. {'; '.join(wrong)}.") from None
    return given


def _path_below(given: str) -> str:
    """Return the path below `memory/` that Claude means; "" for `/memories` itself.

    Raises:
        ToolError: the path is not below `/memories`.
    """
    below = given.removeprefix(_ROOT)
    if below == given or not (not below or below.startswith("/")):
        raise ToolError(f"Path must start with {_ROOT}, got: {given}")
    path = inside(below.lstrip("/"))
    if path is None:
        raise ToolError(f"Path {given} would escape {_ROOT} directory")
    return path


def _create(command: beta.BetaMemoryTool20250818CreateCommand, tree: Tree, path: str) -> Edit:
    if _is_there(tree, path):
        raise ToolError(f"File {command.path} already exists")
    _check_folders(tree, path)
    return Edit(f"File created successfully at: {command.path}", {path: command.file_text})


def _str_replace(command: beta.BetaMemoryTool20250818StrReplaceCommand, tree: Tree, path: str) -> Edit:
    """Return the edit; its reply shows the changed line with some lines around it, as the SDK's own tool does."""
    try:
        text, line = replace_once(_file(tree, path, command.path), command.old_str, command.new_str)
    except NotOnce as error:
        none = f"old_str `{command.old_str}` did not appear verbatim in {command.path}."
        many = (
            f"Multiple occurrences of old_str `{command.old_str}` in lines: {error.lines}. Please ensure it is unique"
        )
        words = f"No replacement was performed. {many}" if error.lines else f"No replacement was performed, {none}"
        raise ToolError(words) from None
    first = max(0, line - 3)
    shown = _lines(text.split("\n")[first : line + 2], first + 1)
    return Edit(
        f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}",
        {path: text},
    )


def _insert(command: beta.BetaMemoryTool20250818InsertCommand, tree: Tree, path: str) -> Edit:
    """Insert like the SDK's own tool: without trailing line breaks of the new text, and the file ends with one."""
    given = command.insert_text.rstrip("\r\n")
    try:
        text = insert_lines(_file(tree, path, command.path), command.insert_line, given)
    except NoSuchLine as error:
        bounds = f"It should be within the range [0, {error.count}]."
        raise ToolError(f"Invalid `insert_line` parameter: {command.insert_line}. {bounds}") from None
    return Edit(f"The file {command.path} has been edited.", {path: appended(text, "")})


def _delete(command: beta.BetaMemoryTool20250818DeleteCommand, tree: Tree, path: str) -> Edit:
    if not path:
        raise ToolError(f"Cannot delete the {_ROOT} directory itself")
    gone = [path] if path in tree else tree.paths(path)
    if not gone:
        raise ToolError(f"The path {command.path} does not exist")
    return Edit(f"Successfully deleted {command.path}", dict.fromkeys(gone))


def _rename(command: beta.BetaMemoryTool20250818RenameCommand, new: str, tree: Tree, path: str) -> Edit:
    """Return the edit that moves a file, or all files below a folder, to `new`."""
    if not path:
        raise ToolError(f"Cannot rename the {_ROOT} directory itself")
    if _is_there(tree, new):
        raise ToolError(f"The destination {command.new_path} already exists")
    if not _is_there(tree, path):
        raise ToolError(f"The path {command.old_path} does not exist")
    if new.startswith(f"{path}/"):
        raise ToolError(f"{command.old_path} cannot be moved into itself")
    _check_folders(tree, new)
    moved = [path] if path in tree else tree.paths(path)
    texts = {new + old.removeprefix(path): tree.text(old) for old in moved}
    reply = f"Successfully renamed {command.old_path} to {command.new_path}"
    return Edit(reply, {**dict.fromkeys(moved), **texts})


def _is_there(tree: Tree, path: str) -> bool:
    return not path or path in tree or bool(tree.paths(path))


def _file(tree: Tree, path: str, given: str) -> str:
    """Return the text of the file that Claude calls `given`.

    Raises:
        ToolError: there is nothing at that path, or a folder.
    """
    if not _is_there(tree, path):
        raise ToolError(f"The path {given} does not exist. Please provide a valid path.")
    if path not in tree:
        raise ToolError(f"The path {given} is not a file.")
    return tree.text(path)


def _check_folders(tree: Tree, path: str) -> None:
    """Refuse a path below a file.

    Raises:
        ToolError: a part of the path that must be a folder is a file.
    """
    for above in map(str, PurePosixPath(path).parents):
        if above in tree:
            raise ToolError(f"{_ROOT}/{above} is a file, so nothing can be put below it")


def _numbered_lines(text: str, command: beta.BetaMemoryTool20250818ViewCommand) -> str:
    """Return the lines of a file, or of the range that was asked for, with their numbers."""
    lines, first = text.split("\n"), 1
    if len(lines) > _MAX_LINES:
        raise ToolError(f"File {command.path} exceeds maximum line limit of {_MAX_LINES:,} lines.")
    if command.view_range and len(command.view_range) == 2:
        first, last = max(1, command.view_range[0]), command.view_range[1]
        lines = lines[first - 1 : None if last == -1 else last]
    return f"Here's the content of {command.path} with line numbers:\n{_lines(lines, first)}"


def _lines(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _listing(tree: Tree, folder: str) -> list[str]:
    """Return the files and folders below `folder`, two levels deep, as paths from there. A folder ends with a slash and
    precedes what is in it.
    """
    start = len(f"{folder}/") if folder else 0
    parts = [path[start:].split("/") for path in tree.paths(folder)]
    folders = {tuple(each[:depth]) for each in parts for depth in range(1, min(len(each), _MAX_DEPTH + 1))}
    files = {tuple(each) for each in parts if len(each) <= _MAX_DEPTH}
    return ["/".join(each) + "/" * (each in folders) for each in sorted(folders | files)]


def _size_text(size: int) -> str:
    """Return a number of bytes in the form of the SDK's own tool, as `1.5K`."""
    power = min(max(size.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    scaled = size / 1024**power
    return f"{int(scaled) if scaled == int(scaled) else f'{scaled:.1f}'}{_UNITS[power]}"
