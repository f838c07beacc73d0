"""Plain-file memory for AI agents, with its history in Git.

with Memory("notes", agent="coder") as memory:
    memory.remember("Deploy key", "where the deploy key lives", "In the vault, under ops/deploy.")
    memory.recall("deploy key")[0].entry.content
"""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """A public name, loaded when it is asked for: `crabmem recall` answers before all of them would be."""
    if name == "__all__":
        return sorted(_homes())
    # Every import of a module from here asks first: modules are lower case, and no public name is.
    module = _homes().get(name) if name[:1].isupper() else None
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(module, __name__), name)
    return found


def __dir__() -> list[str]:
    return [*{*globals(), *_homes()}]


def _homes() -> dict[str, str]:
    """The module of each public name, as the one list of them in `__init__.pyi` says; its lines are all alike."""
    with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as stub:
        lines = (line.split() for line in stub if line.startswith("from ."))
        return {name: module for _, module, _, name, _, _ in lines}
