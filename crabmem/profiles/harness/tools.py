"""The harness' tools: files below `memory/` by their names, read, written and edited as they stand there, and the
identity, for which an agent proposes a section.
"""

import os
from collections.abc import Callable
from functools import partial
from typing import Annotated, TypedDict

from msgspec import Meta

from ...errors import InvalidArguments
from ...operations import files as files_operations
from ...operations import proposals
from ...results import Changed, Document, Proposed, json_of
from ...session.session import Session
from ...text.edit import BOM, NoSuchLine, NotOnce, in_breaks_of, insert_lines, replace_once
from ...text.hashes import version_of
from ...text.markdown import with_section
from ...text.words import counted
from ...tools.entries import Version
from ...tools.files import Reason, identity_result
from ...tools.result import Refusal, Result, warned
from ...tools.tool import ADDS, EDITS, READS, REPLACES, SAVES, ToolFunction
from ...workspace.layout import way
from ...write.tree import Tree, check_markdown, inside

_MAX_LISTED = 1_000
_ESCAPES = "Error: filename must not escape memory directory."

Filename = Annotated[
    str, Meta(description="Name of a Markdown file in the memory directory, such as CONTEXT.md or projects/harbour.md.")
]


class FilesData(TypedDict):
    """The names of all files there are."""

    files: tuple[str, ...]


def memory_read(memory: Session, filename: Filename) -> Annotated[Result, Document]:
    """Read a file of memory whole. Look here for decisions and insights of earlier sessions before you ask for them."""
    path = _path_of(memory, filename)
    text = files_operations.browse(memory, partial(_text, path, filename))
    found = Document(memory.layout.memory_path(path), text, version_of(text.encode()))
    return Result(text, json_of(found))


def memory_write(
    memory: Session,
    filename: Filename,
    content: Annotated[str, Meta(description="The whole new text of the file, not just what is added.")],
    if_version: Version = None,
) -> Annotated[Result, Changed]:
    """Write a file of memory, in place of what it said. What must outlast this session has to be in a file."""
    reply = f"Memory file '{filename}' written successfully."
    return _change_file(memory, "write", filename, partial(_in_old_style, content), reply, if_version)


def memory_replace(
    memory: Session,
    filename: Filename,
    old_str: Annotated[str, Meta(description="The text to replace, exactly as it stands there, and there only once.")],
    new_str: Annotated[str, Meta(description="The text to put in its place.")],
) -> Annotated[Result, Changed]:
    """Replace a text that stands in a file of memory once. Nothing else of the file changes."""
    if not old_str:
        raise InvalidArguments("old_str is empty; give the text that is to be replaced")
    change = partial(_with_replacement, filename, old_str, new_str)
    return _change_file(memory, "replace in", filename, change, f"Replaced in '{filename}'.")


def memory_insert(
    memory: Session,
    filename: Filename,
    line: Annotated[int, Meta(ge=0, description="The line after which to insert; 0 is the top of the file.")],
    text: Annotated[str, Meta(description="What to insert, as lines of its own.")],
    if_version: Version = None,
) -> Annotated[Result, Changed]:
    """Insert lines into a file of memory, at its top or after a line. Nothing else of the file changes."""
    reply = f"Inserted at line {line} in '{filename}'."
    change = partial(_with_insertion, filename, line, text)
    return _change_file(memory, "insert into", filename, change, reply, if_version)


def memory_list(memory: Session) -> Annotated[Result, FilesData]:
    """List the files of memory, to see what earlier sessions left."""
    files = files_operations.browse(memory, Tree.paths)
    if not files:
        is_there = os.path.isdir(memory.file(memory.layout.memory))
        return Result("No memory files yet." if is_there else "Memory directory not found.", {"files": []})
    more = len(files) - _MAX_LISTED
    rest = [f"({counted(more, 'more file')} not listed)"] if more > 0 else []
    return Result("\n".join([*files[:_MAX_LISTED], *rest]), {"files": files})


def prompt_propose(
    memory: Session,
    section: Annotated[str, Meta(description="The heading in your identity that it is about; a new one is added.")],
    reason: Reason,
    proposal: Annotated[str, Meta(description="All that should stand under that heading, in Markdown.")],
) -> Annotated[Result, Proposed]:
    """Propose a change to a section of the file that says who you are. Nothing changes before a person decides."""
    text = with_section(files_operations.identity(memory).text, section, proposal)
    return identity_result(proposals.propose_identity(memory, text, reason))


def _change_file(
    memory: Session,
    verb: str,
    filename: str,
    change: Callable[[str | None], str],
    reply: str,
    if_version: str | None = None,
) -> Result:
    """Change a file in one commit and return `reply`."""
    path = _path_of(memory, filename)
    done = files_operations.rewrite_file(memory, f"{verb} {path}", path, change, if_version)
    return Result(warned(reply, done.warnings), json_of(done))


def _path_of(memory: Session, filename: str) -> str:
    """Return the path below `memory/` that a file name means.

    The check for links only makes the message clearer: writes never follow a link anyway.

    Raises:
        Refusal: the name leads out of the folder, or is a folder.
        InvalidArguments: the name does not end in `.md`.
    """
    path = None if "\\" in filename or "\0" in filename else inside(filename)
    if path is None or any(os.path.islink(memory.file(place)) for place in way(memory.layout.memory_path(path))):
        raise Refusal(_ESCAPES)
    if not path or os.path.isdir(memory.file(memory.layout.memory_path(path))):
        raise Refusal(f"'{filename}' is a directory; name a file in it.")
    check_markdown(path)
    return path


def _text(path: str, filename: str, tree: Tree) -> str:
    return _existing(tree.text(path) if path in tree else None, filename)


def _existing(text: str | None, filename: str) -> str:
    if text is None:
        raise Refusal(f"Memory file '{filename}' not found.")
    return text


def _in_old_style(content: str, before: str | None) -> str:
    """`content` with the byte order mark and the line breaks of what it replaces."""
    if before is None:
        return content
    mark = BOM if before.startswith(BOM) and not content.startswith(BOM) else ""
    return mark + in_breaks_of(content, before)


def _with_replacement(filename: str, old: str, new: str, before: str | None) -> str:
    try:
        return replace_once(_existing(before, filename), old, new)[0]
    except NotOnce as error:
        many = f"Multiple occurrences found at lines {error.lines}. Provide more context to make old_str unique."
        raise Refusal(many if error.lines else f"String not found in '{filename}'.") from None


def _with_insertion(filename: str, line: int, text: str, before: str | None) -> str:
    try:
        return insert_lines(_existing(before, filename), line, text)
    except NoSuchLine as error:
        raise Refusal(f"Line {line} is beyond end of file ({error.count} lines).") from None


TOOLS = (
    ToolFunction(memory_read, "Read a memory file", READS),
    ToolFunction(memory_write, "Write a memory file", REPLACES),
    ToolFunction(memory_replace, "Replace in a memory file", EDITS),
    ToolFunction(memory_insert, "Insert into a memory file", ADDS),
    ToolFunction(memory_list, "List memory files", READS),
    ToolFunction(prompt_propose, "Propose a change of the identity", SAVES),
)
