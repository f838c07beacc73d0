"""Commands in messages, as a shell takes them when they are typed."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

# Variables that choose a memory inside the one of --dir, each with the option that overrides it with none.
_WITHIN = (("CRABMEM_PROJECT", "--project ''"), ("CRABMEM_WORKSPACE", "--workspace ''"))


def command(verb: str, name: str, options: str = "", program: str = "crabmem") -> str:
    """`crabmem VERB NAME OPTIONS` for a quoted name; one that begins with a dash stands last, behind `--`."""
    words = (verb, options, "--", quote(name)) if name.startswith("-") else (verb, quote(name), options)
    return " ".join((program, *filter(None, words)))


def program_at(folder: str, environment: Mapping[str, str]) -> str:
    """Return the beginning of a command that reaches the memory in `folder` whatever the `environment` chooses."""
    unset = (option for name, option in _WITHIN if environment.get(name))
    return " ".join((f"crabmem --dir {quote(folder)}", *unset))
