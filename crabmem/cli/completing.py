"""Completion of arguments in a shell: names of facts, agents, tags, profiles, commits, tools, files."""

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ..errors import CrabmemError
from ..text.hashes import short
from ..text.slug import name_key
from ..text.values import replace
from .options import options_so_far

if TYPE_CHECKING:  # what opens a memory is loaded by the verb that opens one
    from ..session.session import Session


# Commits that are offered, and newest commits whose agents, sessions, tools and authors are offered.
_NEWEST = 20
_LOOKED_AT = 200


def complete_from(of: "Callable[[Session], Iterable[str]]", is_around: bool = False) -> Callable[..., list[str]]:
    """Return a `shell_complete` of click's: the texts that `of` finds in the workspace, and that begin as typed.

    With `is_around`, in the workspace around an agent's own.
    """

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
        return [text for text in _find(ctx, of, is_around) if text.startswith(begun)]

    return complete


def _find(ctx: click.Context, of: "Callable[[Session], Iterable[str]]", is_around: bool = False) -> list[str]:
    """The texts that `of` finds in the workspace, in a session of the kind typed; none where it cannot be read."""
    from ..session.engine import Options
    from ..session.opening import session_at

    try:
        wanted = options_so_far(ctx)
        folder = replace(wanted, workspace="").root if is_around else wanted.root
        with session_at(folder, kind=wanted.kind or "main", options=Options(profile=wanted.profile)) as memory:
            return [*of(memory)]
    except CrabmemError:
        return []


def complete_names(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """Complete the name of a fact.

    First come slugs (file names without ending) that begin as typed, then names that do so in any case, of the other
    facts. If nothing is typed yet, only slugs are offered, as no file has to be read for them.
    """
    slugs = _slugs(ctx, begun)
    if not begun:
        return slugs

    def named(memory: "Session") -> Iterable[str]:
        from ..operations.reading import headers_and_unreadable

        for header in headers_and_unreadable(memory)[0]:
            if Path(header.path).stem not in slugs and name_key(header.name).startswith(name_key(begun)):
                yield _quoted_for_shell(header.name)

    return slugs + sorted(filter(None, _find(ctx, named)))


def _quoted_for_shell(name: str) -> str:
    """Return `name` escaped for the shell that completes; "" if that shell cannot take it.

    zsh and fish quote by themselves. bash does not, and click's script for it takes one backslash of two away. bash
    also splits words at ":" and "=", so names with these are left out. Behind an opening quote nothing is escaped.
    """
    words = os.environ.get("COMP_WORDS", "")
    if not os.environ.get("_CRABMEM_COMPLETE", "").startswith("bash") or words.rpartition("\n")[2][:1] in ("'", '"'):
        return name
    return "" if set(name) & set(":=") else re.sub(r"([^\w@%+,./-])", r"\\\\\1", name)


def _slugs(ctx: click.Context, begun: str) -> list[str]:
    """Return the slugs of facts that begin as typed: the names of their files without ending, so no file is read."""

    def named(memory: "Session") -> Iterable[str]:
        root, layout, view = memory.root, memory.layout, memory.view
        for folder in layout.entries:
            for place, _, files in os.walk(root / folder):
                inside = Path(place).relative_to(root).as_posix()
                paths = (file if inside == "." else f"{inside}/{file}" for file in files if file.startswith(begun))
                yield from (Path(path).stem for path in paths if layout.is_entry(path) and view.allows(path))

    return sorted({*_find(ctx, named)})


def complete_profiles(ctx: click.Context, param: click.Parameter, begun: str) -> list[Any]:
    """The profiles whose names begin so, else files."""
    from ..prompt.profile import profile_names

    return [CompletionItem(name) for name in profile_names() if name.startswith(begun)] or [
        CompletionItem(begun, type="file")
    ]


def complete_scopes(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The memories that are seen here."""
    from ..session.scopes import others

    return complete_from(lambda memory: (memory.engine.scopes.own, *others(memory)))(ctx, param, begun)


def complete_kinds(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    from ..prompt.profile import KINDS

    return [kind for kind in KINDS if kind.startswith(begun)]


def complete_files(ctx: click.Context, param: click.Parameter, begun: str) -> list[Any]:
    """Files, as the shell knows them."""
    return [CompletionItem(begun, type="file")]


def complete_folders(ctx: click.Context, param: click.Parameter, begun: str) -> list[Any]:
    """Folders, as the shell knows them."""
    return [CompletionItem(begun, type="dir")]


def complete_commits(ctx: click.Context, param: click.Parameter, begun: str) -> list[Any]:
    """The newest commits whose ids begin so; shells that show more than the word show what each did."""
    told: dict[str, str] = {}

    def newest(memory: "Session") -> Iterable[str]:
        from ..operations.history import log

        told.update((short(commit.commit), commit.line) for commit in log(memory, limit=_NEWEST))
        return told

    return [CompletionItem(id, help=told[id]) for id in complete_from(newest)(ctx, param, begun)]


def complete_listed_tools(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """Complete the last name in a list of tools with commas between them."""
    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}" for name in complete_tools(ctx, param, last)]


def complete_sources(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The kinds of memory that can be imported."""
    from ..importers.recognition import sources

    return [source.name for source in sources() if source.name.startswith(begun)]


def _agents(memory: "Session") -> list[str]:
    from ..operations.agents import agents

    return [agent.name for agent in agents(memory)]


def _tags(memory: "Session") -> list[str]:
    from ..operations.reading import headers_and_unreadable

    return sorted({tag for header in headers_and_unreadable(memory)[0] for tag in header.labels})


def _tools(memory: "Session") -> list[str]:
    from ..tools.toolbox import Toolbox

    return Toolbox(memory).known


def _values_of(name: str) -> "Callable[[Session], list[str]]":
    """Return a function that finds the values of the attribute `name` of the newest commits, as of "agent"."""

    def said(memory: "Session") -> list[str]:
        from ..operations.history import log

        return sorted({value for commit in log(memory, limit=_LOOKED_AT) if (value := getattr(commit, name))})

    return said


complete_agents, complete_tags, complete_tools = (
    complete_from(_agents, is_around=True),
    complete_from(_tags),
    complete_from(_tools),
)
complete_writers, complete_sessions, complete_writing_tools, complete_authors = map(
    complete_from, map(_values_of, ("agent", "session", "tool", "author"))
)
