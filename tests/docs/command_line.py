"""`docs/command-line.md`: every verb with its arguments and options, as the program declares them."""

import inspect
import re
from collections.abc import Iterator

import click

from crabmem.cli.app import cli

_HEAD = """# The command line

Every verb, as the program describes it: `crabmem VERB --help` prints the same, and `crabmem --help` the verbs that
people type most; the last group is what programs call, and what few people need. `--json` gives data, always an object,
on every verb that prints some. Options of [crabmem itself](#crabmem) stand before the verb, or after it where it has
none of that name. WHEN is [a moment](time-machine.md#how-to-name-a-moment): a commit, a date, `'2 days ago'`.
Exit status: 0 done, 1 refused, not found or, as with grep, nothing matches, 2 what was typed or given cannot be used.
What is data goes to standard output, what is said about it to standard error, and with `-q` nowhere. A terminal gets
colours, all else with `CLICOLOR_FORCE`, none with `NO_COLOR`.
"""


def page() -> str:
    """The whole page."""
    top = click.Context(cli, info_name="crabmem")
    parts = cli.parts(top)
    table = [f"| {title.lower()} | {' '.join(map(_link, verbs))} |" for title, verbs in parts.items()]
    sections = [_section(cli, top, "## ")]
    for title, verbs in parts.items():
        sections += [f"## {title}\n", *(text for verb in verbs for text in _sections(verb, cli, top))]
    return "\n".join([_HEAD, "| | |\n|---|---|", *table, "", *sections]).rstrip() + "\n"


def _link(verb: str) -> str:
    return f"[`{verb}`](#crabmem-{verb})"


def _sections(name: str, group: click.Group, above: click.Context) -> Iterator[str]:
    """A verb, and each one below it."""
    command = group.get_command(above, name)
    assert command
    context = click.Context(command, info_name=name, parent=above)
    yield _section(command, context, "### ")
    if isinstance(command, click.Group):
        for below in command.list_commands(context):  # a hidden one is what the group alone does
            if (found := command.get_command(context, below)) and not found.hidden:
                yield from _sections(below, command, context)


def _section(command: click.Command, context: click.Context, marks: str) -> str:
    usage = f"```text\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}".rstrip() + "\n```"
    told = "" if command is cli else _markdown(command.help or "")
    epilog = "" if command is cli else _markdown(command.epilog or "")
    parts = [f"{marks}{context.command_path}", usage, told, _options(command, context), epilog]
    return "\n\n".join(part for part in parts if part) + "\n"


def _options(command: click.Command, context: click.Context) -> str:
    records = [record for param in command.get_params(context) if (record := param.get_help_record(context))]
    rows = [f"| {_code(name)} | {_cell(about)} |" for name, about in records if "--help" not in name]
    return "\n".join(["| option | |", "|---|---|", *rows]) if rows else ""


def _code(text: str) -> str:
    return f"`{' '.join(text.split())}`".replace("|", "\\|")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _markdown(text: str) -> str:
    """The help of a verb: what click would not wrap is a block, all else are paragraphs."""
    made = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text.replace("\f", ""))):
        lines = paragraph.splitlines()
        if lines and lines[0].strip() == "\b":
            made.append("```text\n" + inspect.cleandoc("\n".join(lines[1:])) + "\n```")
        else:
            made.append(_cell(paragraph))
    return "\n\n".join(made)
