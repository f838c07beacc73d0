"""The words of a person in a message, without what hosts, tools and memories put around them. Text in, text out."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# A tag of a block. The bounds keep a text of many `<` from being read to its end for each of them.
_TAG = re.compile(r"<(?P<slash>/?)(?P<name>[A-Za-z][A-Za-z_-]{1,40}+)(?P<rest>(?:\s[^<>]{0,300})?)>")
# Blocks that nobody writes by hand: what a host tells its model, and what its commands and tools said.
_NAMES = frozenset([
    "hook_context", "session_context", "system_reminder", "system_note", "system_update", "system_notification",
    "system_notifications", "user_prompt_submit_hook", "session_start_hook", "post_tool_use_hook",
    "context_window_reminder", "reminder_instructions", "command_name", "command_message",
    "local_command_stdout", "local_command_stderr", "local_command_caveat", "bash_input", "bash_stdout",
    "bash_stderr", "user_shell_command", "user_shell_command_output", "repl_output", "persisted_output",
    "truncated_output", "background_output", "shell_metadata", "tool_result", "tool_results", "tool_output",
    "tool_use_error", "tool_call", "function_calls", "function_results", "task_notification",
    "subagent_notification", "agent_message", "cross_session_message", "non_user_message", "turn_aborted",
    "ide_opened_file", "ide_selection", "ide_diagnostics", "new_diagnostics", "editor_context",
    "environment_context", "environment_details", "environment_info", "user_info", "attached_files",
    "open_and_recently_viewed_files", "tagged_files", "file_content", "cursor_commands", "current_datetime",
    "current_time_reminder", "extension_context", "dynamic_context_board", "loaded_context", "project_context",
    "global_context", "user_project_memory", "untrusted_context", "activated_skill", "skill_content",
    "skill_context", "mcp_resource", "mcp_instructions", "user_instructions", "memory_context",
    "memory_updates", "memory_listing", "relevant_memories", "relevant_memory", "retrieved_memories",
    "user_memory", "user_memories", "recalled_memories", "recalled_context", "recent_context", "prior_summary",
    "previous_conversation", "long_term_memory", "cc_memory", "claude_mem_context", "supermemory_context",
    "session_search_context", "oai_mem_citation",
])  # fmt: skip
# Names that somebody may write about: only a block whose tags stand on lines of their own is one, as ours do.
_WORDS = frozenset(["recall", "memory", "memories", "stdout", "stderr"])
# People put their own question into these, too: they are blocks only where the host marks the words of the person.
_AROUND = frozenset(["conversation", "attachments", "context"])
_SAYS_WHOSE = re.compile(r"<(?:original[_-])?user[_-]?(?:query|message|input|request)>", re.IGNORECASE)
# What a host puts around the message itself.
_KEPT = frozenset(
    ["command_args", "user_query", "user_message", "user_input", "user_request", "userrequest", "original_user_request"]
)
# How far a line is looked at for whether a tag stands alone on it: that far a quotation may be indented.
_NEAR = 40
# Where files stand that were named in a message to Gemini CLI.
_FILES, _FILES_END = "--- Content from referenced files ---", "--- End of content ---"
# What Codex's extension for editors begins a message with, and what stands before that itself.
_EDITOR, _REQUEST = "# Context from my IDE setup:", "## My request for Codex:"


class _Tag(NamedTuple):
    name: str
    start: int
    end: int
    is_closing: bool


def own_words(message: str) -> str:
    """`message` without the blocks that others put there; "" when it is nothing else.

    What the person wrote stays: what has no end is no block, nor are tags of names that we do not know. A message with
    none of it is returned as it is.
    """
    text = _without_files(_without_editor(message))
    cuts = list(_cuts(text))
    if not cuts:
        return text if text == message else text.strip()
    pieces, place = list[str](), 0
    for start, end in sorted(cuts):
        if end > place:  # and not within what is left out already
            pieces.append(text[place : max(start, place)])
            place = end
    return "\n".join(piece for piece in map(str.strip, [*pieces, text[place:]]) if piece)


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    """Where blocks are, from the first letter to behind the last, and where the tags around the message are."""
    opened, open_of = list[_Tag](), dict[str, int]()
    for tag in _tags(text):
        if tag.name in _KEPT:
            yield tag.start, tag.end
        elif not tag.is_closing:
            # Within a sentence of the person's it is only written about; within a block it is one, wherever it stands.
            if not (opened or _begins_line(text, tag.start)):
                continue
            opened.append(tag)
            open_of[tag.name] = open_of.get(tag.name, 0) + 1
        elif open_of.get(tag.name):
            while (last := opened.pop()).name != tag.name:
                open_of[last.name] -= 1
            open_of[tag.name] -= 1
            yield last.start, tag.end


def _tags(text: str) -> Iterator[_Tag]:
    """The tags of blocks that we know, in order."""
    words = _WORDS | _AROUND if _SAYS_WHOSE.search(text) else _WORDS
    for found in _TAG.finditer(text):
        name = found["name"].lower().replace("-", "_")
        start: int | None = found.start()
        if name in words:
            start = _line_of(text, *found.span())
        elif name not in _NAMES and name not in _KEPT:
            continue
        if start is not None and not found["rest"].endswith("/"):
            yield _Tag(name, start, found.end(), bool(found["slash"]))


def _begins_line(text: str, start: int) -> bool:
    """Whether nothing stands before `start` on its line, but for marks of a quotation, or for another tag."""
    _, line_break, before = _before(text, start)
    return before.rstrip().endswith(">") or bool(line_break and not before.strip(" \t>"))


def _before(text: str, start: int) -> tuple[str, str, str]:
    """What stands near before `start`, its last line break, and what stands behind that."""
    return ("\n" + text[:start] if start < _NEAR else text[start - _NEAR : start]).rpartition("\n")


def _line_of(text: str, start: int, end: int) -> int | None:
    """Where the line begins that holds nothing else, but for marks of a quotation before; None when it holds more."""
    _, line_break, before = _before(text, start)
    after = (text[end : end + _NEAR] + ("\n" if end + _NEAR >= len(text) else "")).partition("\n")
    is_alone = line_break and after[1] and not before.strip(" \t>") and not after[0].strip()
    return start - len(before) if is_alone else None


def _without_files(text: str) -> str:
    """Without the files that Gemini CLI puts behind a message that names them."""
    pieces, place = list[str](), 0
    while (start := text.find(_FILES, place)) >= 0 and (end := text.find(_FILES_END, start)) >= 0:
        pieces.append(text[place:start])
        place = end + len(_FILES_END)
    return "".join([*pieces, text[place:]])


def _without_editor(text: str) -> str:
    """Without what an editor says of its open files before the message."""
    if not text.lstrip().startswith(_EDITOR):
        return text
    _, mark, request = text.partition(_REQUEST)
    return request if mark else text
