"""The verbs for whole files: the overview, the identity, and the prompt made of them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..disk import fs
from ..operations import adoption, files, proposals, setup
from ..results import Changed, Document, Proposed, json_of
from ..session.session import Session
from ..text.entry import decode
from ..text.hashes import short, version_of
from ..tools import guide
from .base import TEXT, as_json, coloured_diff, content_of, opened, plain, recorded, show, tell, wanted_of, warn
from .editing import edited, edited_by_agent

if TYPE_CHECKING:
    from ..prompt.context import Context


def _file_verbs(
    name: str,
    file_name: str,
    about: str,
    read: Callable[[Session], Document],
    write: Callable[[Session, str, str | None], Changed],
    seed: Callable[[Session], str],
    check: Callable[[Session], None],
) -> click.Group:
    """The verb `name` with show, set and edit for the file that is called so.

    `check` refuses whoever may not write it, before an editor opens.
    """

    @click.group(name, invoke_without_command=True, help=f"Show, set or edit {about}.")
    @click.pass_context
    def group(ctx: click.Context) -> None:
        if ctx.invoked_subcommand is None:
            ctx.invoke(show_, json_wanted=False)

    @group.command("show", help=f"Print {file_name}.")
    @as_json
    @click.pass_context
    def show_(ctx: click.Context, json_wanted: bool) -> None:
        document = read(opened(ctx))
        show(json_wanted, json_of(document), lambda: plain(document.text))

    @group.command("set", help=f"Replace {file_name} by -c TEXT, --file F, or - for stdin.")
    @click.argument("source", metavar="[-]", required=False)
    @click.option("-c", "--content", type=TEXT, help="The whole new text, or -.")
    @click.option("--file", type=click.Path(), help="Read it from a file.")
    @click.option("--if-version", metavar="V", help=f"Only if it is still this version (`{name} show --json`).")
    @as_json
    @click.pass_context
    def set_(
        ctx: click.Context, source: str | None, content: str | None, file: str | None, if_version: str | None,
        json_wanted: bool,
    ) -> None:  # fmt: skip
        show_changed(json_wanted, write(opened(ctx), content_of(ctx, content, file, source), if_version))

    @group.command(
        "edit",
        help=f"Open {file_name} in your editor ($VISUAL, $EDITOR), and record what you changed as yours; with --agent, "
        "as the agent's.",
    )
    @click.pass_context
    def edit(ctx: click.Context) -> None:
        memory = opened(ctx)
        check(memory)
        setup.init(memory)
        file = memory.file(read(memory).path)
        if wanted_of(ctx).agent:
            return _edit_as_agent(memory, file, seed(memory))
        made, text = not file.exists(), seed(memory)
        if made:
            fs.make_folder(file.parent)
            fs.create(file, text.encode())
        try:
            edited(file)
        finally:
            if made and file.read_bytes() == text.encode():
                fs.unlink(file)
        recorded(memory, adoption.adopt(memory))

    def _edit_as_agent(memory: Session, file: Path, seeded: str) -> None:
        before = fs.read(file)[0] if file.exists() else None
        text = seeded if before is None else decode(str(file), before)
        version = None if before is None else version_of(before)
        done = edited_by_agent(file.name, text, lambda text: write(memory, text, version))
        if done:
            show_changed(False, done)
        else:
            tell("nothing changed")

    return group


def show_changed(json_wanted: bool, done: Changed) -> None:
    """Print what became of the overview or the identity, and say what to mind."""
    state = "updated" if done.commit else "said so already"
    if isinstance(done, Proposed):
        state = f"not changed: `crabmem proposals apply {short(done.proposal.id)}` would"
    show(json_wanted, json_of(done), lambda: f"{done.path} {state}\n{coloured_diff(done.diff)}")
    warn(done.warnings)


memory_verbs = _file_verbs(
    "memory",
    "MEMORY.md",
    "the overview, MEMORY.md, which is always in the prompt",
    files.overview,
    files.write_overview,
    lambda memory: "",
    lambda memory: None,
)
soul_verbs = _file_verbs(
    "soul",
    "Crab.md",
    "the identity, Crab.md; what agents propose for it is in `crabmem proposals`",
    files.identity,
    proposals.write_identity,
    lambda memory: files.identity(memory).text,
    proposals.check_identity_is_writable,
)


as_of_option = click.option("--as-of", metavar="REV", help="The files of a commit, a date, or '2 days ago'.")


@click.command()
@as_of_option
@as_json
@click.pass_context
def prompt(ctx: click.Context, as_of: str | None, json_wanted: bool) -> None:
    """Print what goes before a conversation: identity, overview, how to use the tools.

    Which files these are, in which order and how much of each, says the profile; `crabmem context` accounts for it.
    """
    text = guide.prompt(opened(ctx), as_of)
    show(json_wanted, {"prompt": text}, lambda: text)


@click.command()
@as_of_option
@as_json
@click.pass_context
def context(ctx: click.Context, as_of: str | None, json_wanted: bool) -> None:
    """Account for what goes before a conversation: each file, how much of it there is, how much goes in, and how much
    may.

    For other kinds of sessions: `crabmem --kind group context`. Tokens are counted as four characters each.
    """
    memory = opened(ctx)
    found = guide.context(memory, as_of=as_of)
    show(json_wanted, {"workspace": str(memory.root), **json_of(found)}, lambda: _account(memory, found))


def _account(memory: Session, found: "Context") -> str:
    rows = [["file", "", "characters", "tokens", "injected", "tokens", "limit"]]
    for part in found.parts:
        counts = (part.raw, part.raw_tokens, part.injected, part.injected_tokens, part.limit)
        rows.append([part.name, part.status, *(f"{count:,}" for count in counts)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(_column(at, text, widths[at]) for at, text in enumerate(row)).rstrip() for row in rows]
    tools = ", ".join(found.tools) or "none"
    total = f"{found.characters:,} characters, about {found.tokens:,} tokens, for a session of the kind {found.kind}"
    most = [f"{found.most_of_a_file:,} characters a file", f"{found.most_of_all:,} of all files"]
    most += [f"{count:,} of {share} together" for share, count in found.shares.items()]
    account = (f"limits: {', '.join(most)}", f"prompt: {total}", f"tools: {tools}")
    return "\n".join([f"{memory.root}", "", *lines, "", *account])


def _column(at: int, text: str, width: int) -> str:
    """Words to the left, numbers to the right."""
    return text.ljust(width) if at < 2 else text.rjust(width)


COMMANDS = (memory_verbs, soul_verbs, prompt, context)
