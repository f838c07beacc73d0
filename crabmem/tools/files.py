"""The tools for whole files: memory (the overview) and soul (the identity)."""

from typing import Annotated, NotRequired, TypedDict

from msgspec import Meta

from ..operations import files, proposals
from ..results import Changed, Document, Proposed, json_of
from ..session import rules
from ..session.session import Session as _Memory
from ..text.hashes import short
from ..text.quoting import DATA, block, visible
from .entries import Version
from .result import Result, changed_text
from .tool import REPLACES, ToolFunction

Reason = Annotated[str, Meta(description="Why, in a sentence or two, for the person.")]


class Overview(TypedDict):
    """The overview as it was read, with its `content`, or what a write did to it."""

    path: str
    version: str | None
    content: NotRequired[str]
    commit: NotRequired[str | None]
    created: NotRequired[bool]
    diff: NotRequired[str]
    warnings: NotRequired[list[str]]
    proposal: NotRequired[str]


def memory(
    memory: _Memory,
    content: Annotated[
        str | None, Meta(description="The whole new overview in Markdown, not only what is added; without it: read.")
    ] = None,
    if_version: Version = None,
) -> Annotated[Result, Overview]:
    """Read the overview, the page that each conversation begins with; with `content`, replace all of it. Keep it short
    and curated."""
    if content is None:
        return _read(files.overview(memory))
    changed = files.write_overview(memory, content, if_version)
    name = changed.path.rpartition("/")[2]
    text = f"{name} updated" if content.strip() else f"{name} is empty now: nothing of it is in view any more"
    return Result(changed_text(text, changed), json_of(changed))


def _read(overview: Document) -> Result:
    data = {"path": overview.path, "version": overview.version, "content": overview.text}
    if not overview.text.strip():
        return Result(f"{overview.path} is empty: nothing is in view when a conversation begins", data)
    version = f", version {overview.version}" if overview.version else ""
    return Result(f"{overview.path}{version} ({DATA}):\n{block('memory', visible(overview.text))}", data)


def soul(
    memory: _Memory,
    content: Annotated[str, Meta(description="The whole new identity in Markdown.")],
    reason: Reason = "",
) -> Annotated[Result, Proposed]:
    """Replace the file that says who you are, or propose that where a person decides. Tell the person when you do."""
    return identity_result(proposals.write_identity(memory, content, reason=reason))


def identity_result(done: Changed) -> Result:
    """The answer to an agent that wrote the identity, or proposed a change of it."""
    return Result(changed_text(_words(done), done), json_of(done))


def _words(done: Changed) -> str:
    if not isinstance(done, Proposed):
        return f"{done.path.rpartition('/')[2]} updated"
    return (
        f"{done.path} is as it was: this is proposal {short(done.proposal.id)} now, and the person decides. Tell them "
        "what you propose and why; `crabmem review list` shows it to them"
    )


TOOLS = (
    ToolFunction(memory, "Read or replace the overview", REPLACES, is_blind=True),
    ToolFunction(soul, "Replace the identity", REPLACES, rules.may_propose_soul),
)
