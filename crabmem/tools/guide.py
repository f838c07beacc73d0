"""The context before a conversation, with the guide to the tools that are offered in it."""

from collections.abc import Iterable

from ..operations import context as texts
from ..prompt.context import Context
from ..prompt.profile import Kind
from ..session.session import Session
from .tool import Tool
from .toolbox import Toolbox


def context(
    session: Session,
    kind: Kind | None = None,
    as_of: str | None = None,
    *,
    guide: bool = True,
    overview: bool = True,
    limit: int | None = None,
) -> Context:
    """The context before a conversation of that kind (None: the kind of this session), with an account of each part.

    With `as_of`, the files are those of that revision or time, the tools those of today. Without `guide` the tools are
    not mentioned, for hosts that offer none; without `overview` it is left out, for hosts that read the file
    themselves. `limit` is the most characters: the last files are shortened first, with a line that says where the rest
    is. Other parts, as the guide, are never shortened: a limit below what they need is exceeded.

    Raises:
        InvalidArguments: there is no such kind of session, or `limit` is below 1 or no whole number.
        NotFound: there is no such revision or time.
    """
    asked = session if kind is None or kind == session.kind else session.of_kind(kind)
    tools = Toolbox(asked).names if guide else []
    return texts.context(asked, tools, as_of, overview=overview, limit=limit)


def prompt(
    session: Session,
    as_of: str | None = None,
    *,
    kind: Kind | None = None,
    guide: bool = True,
    overview: bool = True,
    limit: int | None = None,
) -> str:
    """The text of `context`: who the agent is, what is always in view, how to use the tools."""
    return context(session, kind, as_of, guide=guide, overview=overview, limit=limit).text


def guidance(session: Session, tools: Iterable[Tool] | None = None) -> str:
    """The guide to using memory with these tools (None: those that are offered); "" without any tool."""
    names = Toolbox(session).names if tools is None else [tool.name for tool in tools]
    return texts.guidance(session, names)
