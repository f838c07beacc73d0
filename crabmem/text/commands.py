"""Commands in messages, as a shell takes them when they are typed."""

from shlex import quote


def command(verb: str, name: str, options: str = "", program: str = "crabmem") -> str:
    """`crabmem VERB NAME OPTIONS` for a quoted name; one that begins with a dash stands last, behind `--`."""
    words = (verb, options, "--", quote(name)) if name.startswith("-") else (verb, quote(name), options)
    return " ".join((program, *filter(None, words)))
