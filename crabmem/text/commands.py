"""Commands in messages, as a shell takes them when they are typed."""

from shlex import quote


def command(verb: str, name: str, options: str = "") -> str:
    """`crabmem VERB NAME OPTIONS` for a quoted name; one that begins with a dash stands last, behind `--`."""
    words = (verb, options, "--", quote(name)) if name.startswith("-") else (verb, quote(name), options)
    return " ".join(("crabmem", *filter(None, words)))
