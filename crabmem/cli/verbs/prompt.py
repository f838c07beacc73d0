"""`crabmem prompt`: what goes before a conversation."""

import click

from ...prompt.context import Context
from ...results import json_of
from ...session.session import Session
from ...tools import guide
from ..app import verb
from ..opening import open_session
from ..options import as_of_option, json_option
from ..output import show, warn


@verb(after="review")
@click.option(
    "--account", is_flag=True, help="Account for it: each file, how much of it there is, goes in, and may go in."
)
@as_of_option
@json_option
def prompt(account: bool, as_of: str | None, json_wanted: bool) -> None:
    """Print what goes before a conversation.

    That is the identity, the overview, and how to use the tools.

    Which files these are, in which order and how much of each, says the profile. In the account tokens are
    counted as four characters each.

    \b
    crabmem prompt
    crabmem prompt --account
    crabmem --kind subagent prompt --as-of yesterday
    """
    memory = open_session()
    found = guide.context(memory, as_of=as_of)
    warn(f"left out of the prompt: {part.trouble}" for part in found.parts if part.trouble)
    if account:
        return show(json_wanted, {"workspace": str(memory.root), **json_of(found)}, lambda: _account(memory, found))
    show(json_wanted, {"prompt": found.text}, lambda: found.text)


def _account(memory: Session, found: Context) -> str:
    """Return the account: a table of the files with their size, what is injected and the limit; then the totals."""
    rows = [["file", "", "characters", "tokens", "injected", "tokens", "limit"]]
    for part in found.parts:
        counts = (part.raw, part.raw_tokens, part.injected, part.injected_tokens, part.limit)
        rows.append([part.name, part.status, *(f"{count:,}" for count in counts)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(_column(at, text, widths[at]) for at, text in enumerate(row)).rstrip() for row in rows]
    tools = ", ".join(found.tools) or "none"
    total = f"{found.characters:,} characters, about {found.tokens:,} tokens, for a session of the kind {found.kind}"
    most = [f"{found.most_of_a_file:,} characters a file", f"{found.most_of_all:,} of all files"]
    most += [f"{count:,} of {share} together" for share, count in found.shares.items()]
    account = (f"limits: {', '.join(most)}", f"prompt: {total}", f"tools: {tools}")
    return "\n".join([f"{memory.root}", "", *lines, "", *account])


def _column(at: int, text: str, width: int) -> str:
    """Words to the left, numbers to the right."""
    return text.ljust(width) if at < 2 else text.rjust(width)
