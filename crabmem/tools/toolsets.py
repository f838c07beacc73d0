"""The toolsets that a profile may name, each a module with `TOOLS`: those that families share, and each family's own.

To add a tool, write the function in one of these modules and name it in its `TOOLS`.
"""

from functools import cache
from importlib import import_module

from ..errors import InvalidSettings
from .tool import ToolFunction

#: The toolsets that several families have. In every profile a host may ask for their tools by name.
SHARED = ("entries", "files", "looking", "notes", "upkeep")
#: The toolset that the settings add to that of a profile.
SYNC = "sync"


@cache
def toolsets() -> dict[str, str]:
    """The module of each toolset that a profile may name: those that families share, and each family's own.

    A profile names one of these and never a module: it may be the file of somebody who is not trusted. A copy of a
    family's profile has the family's tools by this name, too.
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
