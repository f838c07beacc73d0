"""What goes before a conversation, with how to use the tools that are offered in it."""

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
    """What goes before a conversation of that kind (None: the kind of this session), and the account of it.

    The files are those of the revision or time `as_of`; the tools are those of today. Without `guide` nothing
    of the tools, for hosts that offer none; without `overview` nothing of that, for hosts that read the file
    themselves. With `limit`, so many characters at most: of the last files only
    the beginning, and where the rest is.

    Raises:
        InvalidArguments: there is no such kind of session.
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
    """How to use memory with these tools; None for those that are offered."""
    names = Toolbox(session).names if tools is None else [tool.name for tool in tools]
    return texts.guidance(session, names)
