"""What a shell completes arguments with: names of facts, agents, tags, profiles."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import CrabmemError
from ..text.values import replace
from .options import options_so_far

if TYPE_CHECKING:  # what opens a memory is loaded by the verb that opens one
    from ..session.session import Session


def complete_from(of: "Callable[[Session], Iterable[str]]", is_around: bool = False) -> Callable[..., list[str]]:
    """What a shell completes an argument with: of the texts that `of` finds in the workspace, those that begin so.

    With `is_around`, in the workspace around an agent's own.
    """

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
        from ..session.engine import Options
        from ..session.opening import session_at

        try:
            wanted = options_so_far(ctx)
            folder = replace(wanted, workspace="").root if is_around else wanted.root
            with session_at(folder, options=Options(profile=wanted.profile)) as memory:
                return [text for text in of(memory) if text.startswith(begun)]
        except CrabmemError:
            return []

    return complete


def complete_names(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The files of facts whose names begin so, without their ending: they name facts too, and none need be read."""
    from ..disk.allowed import Allowed
    from ..session.locate import workspace_at

    try:
        wanted = options_so_far(ctx)
        layout = workspace_at(wanted.root, wanted.profile, Allowed(os.environ)).layout
    except CrabmemError:
        return []
    found = set()
    for folder in layout.entries:
        for place, _, files in os.walk(wanted.root / folder):
            inside = Path(place).relative_to(wanted.root).as_posix()
            paths = (file if inside == "." else f"{inside}/{file}" for file in files if file.startswith(begun))
            found |= {Path(path).stem for path in paths if layout.is_entry(path)}
    return sorted(found)


def complete_profiles(ctx: click.Context, param: click.Parameter, begun: str) -> list[Any]:
    """The profiles whose names begin so, else files."""
    from click.shell_completion import CompletionItem

    from ..prompt.profile import profile_names

    return [CompletionItem(name) for name in profile_names() if name.startswith(begun)] or [
        CompletionItem(begun, type="file")
    ]


def complete_kinds(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    from ..prompt.profile import KINDS

    return [kind for kind in KINDS if kind.startswith(begun)]


def _agents(memory: "Session") -> list[str]:
    from ..operations.agents import agents

    return [agent.name for agent in agents(memory)]


def _tags(memory: "Session") -> list[str]:
    from ..operations.facts import entries

    return sorted({tag for entry in entries(memory) for tag in entry.labels})


def _writers(memory: "Session") -> list[str]:
    from ..operations.history import log

    return sorted({commit.agent for commit in log(memory, limit=200) if commit.agent})


complete_agents, complete_tags, complete_writers = (
    complete_from(_agents, is_around=True),
    complete_from(_tags),
    complete_from(_writers),
)
