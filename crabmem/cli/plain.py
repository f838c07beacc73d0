"""A command line without anything odd in it, run without click: what is asked most often is answered soonest.

It means what click would take it for; `tests/cli/test_plain.py` compares the two over all verbs. What goes wrong is
worded by click, to which the error is handed.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack

from .. import __version__
from .declared import GLOBALS, VERBS, GlobalOptions, Odd, arguments_in, options_in
from .output import echo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, TypeVar

    from .declared import Verb

    T = TypeVar("T")

_VERBS = os.path.join(os.path.dirname(__file__), "verbs")
# These ask click for help, wherever they stand.
_HELP = frozenset(["-h", "--help"])


class Context:
    """What a verb is given that click did not call: as much of its context as verbs use."""

    def __init__(self, wanted: GlobalOptions) -> None:
        self._wanted = wanted
        #: What is closed when the verb is done.
        self.closing = ExitStack()
        self.meta: dict[str, Any] = {}
        self.resilient_parsing = False

    def find_object(self, kind: type) -> GlobalOptions:
        """The global options."""
        return self._wanted

    def call_on_close(self, function: Callable[..., Any]) -> None:
        """Call `function` when the verb is done."""
        self.closing.callback(function)

    def with_resource(self, manager: AbstractContextManager[T]) -> T:
        """Enter `manager` until the verb is done."""
        return self.closing.enter_context(manager)


def ran(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether the command was one for us, and is done; an error is left to click."""
    if "_CRABMEM_COMPLETE" in environment or not _HELP.isdisjoint(arguments):
        return False
    try:
        if list(arguments) == ["--version"]:
            echo(f"crabmem {__version__}\n")
        else:
            verb, wanted, named = meant(arguments, environment)
            ctx = Context(wanted)
            with ctx.closing:
                verb.function(ctx, **named)
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except Odd:
        return False
    except BaseException as error:
        from .app import fail

        fail(arguments, error)
    return True


def meant(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[Verb, GlobalOptions, dict[str, Any]]:
    """The verb, the global options and what the verb is given.

    Raises:
        Odd: only click knows.
    """
    before, rest = options_in(arguments, GLOBALS, is_group=True)
    verb = _loaded(rest[0]) if rest else None
    if verb is None:
        raise Odd
    own = {name for param in verb.params for name in param.options}
    others = [param for param in GLOBALS if own.isdisjoint(param.options)]
    said, words = options_in(rest[1:], [*verb.params, *others])
    wanted = _wanted(before, environment)
    for param in others:
        wanted = wanted.with_option(param.name, said.pop(param.name, None))
    usual = {param.name: param.usual for param in verb.params}
    return verb, wanted, usual | said | arguments_in(words, verb.params)


def _wanted(said: Mapping[str, Any], environment: Mapping[str, str]) -> GlobalOptions:
    usual = {param.name: environment.get(param.about.get("envvar", "")) or param.usual for param in GLOBALS}
    return GlobalOptions.of(**{**usual, **said})


def _loaded(name: str) -> Verb | None:
    """The verb of that name; None where there is none, or only click can call it."""
    if name.isidentifier() and name.isascii() and name[0] != "_" and os.path.exists(f"{_VERBS}/{name}.py"):
        __import__(f"{__package__}.verbs.{name}")
    return VERBS.get(name)
