"""The toolsets that a profile may name, each a module with `TOOLS`: those that families share, and each family's own.

To add a tool, write the function in one of these modules and name it in its `TOOLS`.
"""

from functools import cache
from importlib import import_module

from ..errors import InvalidSettings
from .tool import ToolFunction

#: The toolsets that families share. Under any profile a host may ask for their tools by name.
SHARED = ("entries", "files", "looking", "notes", "upkeep")
#: The toolset that the setting `[sync] tool` adds to those of a profile.
SYNC = "sync"


@cache
def toolsets() -> dict[str, str]:
    """The module of each toolset that a profile may name: those that families share, and each family's own.

    A profile names a toolset, never a module: it may be a stranger's file, which must not have any module imported. A
    copy of a family's profile can name the family's toolset, too.
    """
    from ..prompt.profile import families_with  # late: with no tools wanted, nothing asks for a profile

    own = {name: f"crabmem.profiles.{name}.tools" for name in families_with("tools.py")}
    return {name: f"crabmem.tools.{name}" for name in (*SHARED, SYNC)} | own


@cache
def toolset(name: str) -> tuple[ToolFunction, ...]:
    """The tools of the toolset called `name`, or the one tool that `toolset.tool` names.

    Raises:
        InvalidSettings: there is no such toolset, or no such tool in it.
    """
    home, _, tool = name.partition(".")
    modules = toolsets()
    if home not in modules:
        raise InvalidSettings(f"there is no set of tools called {home}; there are {', '.join(modules)}")
    functions: tuple[ToolFunction, ...] = import_module(modules[home]).TOOLS
    found = tuple(item for item in functions if tool in ("", item.name))
    if not found:
        raise InvalidSettings(f"no tool {tool} in {home}; there are {', '.join(item.name for item in functions)}")
    return found
