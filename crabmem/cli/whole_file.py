"""A group of verbs for one whole file: show, set and edit."""

from collections.abc import Callable

import click

from ..disk import fs
from ..results import Changed, Document, Proposed, json_of
from ..session.session import Session
from ..text.hashes import short
from .app import ABOUT_A_FILE, open_session, verb
from .input import TEXT, content_of
from .options import as_of_option, json_option
from .output import diff_of_commit, plain, show, tell, tell_recorded, warn


def file_group(
    name: str,
    after: str,
    file_name: str,
    about: str,
    read: Callable[[Session, str | None], Document],
    write: Callable[[Session, str, str | None], Changed],
    seed: Callable[[Session], str],
    check: Callable[[Session], None],
) -> None:
    """Make the verb `name`, with show, set and edit for one file.

    `after` is its place in the help, `about` the words for the file there. `read` returns the file as it is, or as it
    was at a revision or time. `write` replaces its text; its last argument is the version that it must still be, None
    for any. `seed` is the text that an editor begins with if there is no file. `check` raises before the editor opens
    if the session may not write the file.
    """

    @verb(
        name,
        after=after,
        cls=click.Group,
        invoke_without_command=True,
        help=_with_examples(ABOUT_A_FILE.format(about), f"{name}", f"{name} edit"),
    )
    @as_of_option
    @json_option
    @click.pass_context
    def group(ctx: click.Context, as_of: str | None, json_wanted: bool) -> None:
        if ctx.invoked_subcommand is None:
            ctx.invoke(show_, as_of=as_of, json_wanted=json_wanted)

    @group.command("show", hidden=True, help=_with_examples(f"Print {file_name}.", f"{name} show --as-of '2 days ago'"))
    @as_of_option
    @json_option
    def show_(as_of: str | None, json_wanted: bool) -> None:
        document = read(open_session(), as_of)
        show(json_wanted, json_of(document), lambda: plain(document.text))
        if not (document.text.strip() or json_wanted):
            tell(f"{file_name} says nothing yet: `crabmem {name} edit` begins it")

    @group.command(
        "set",
        help=_with_examples(
            f"Replace {file_name} by -c TEXT, --file F, or - for stdin.",
            f"{name} set --file new.md",
            f"{name} show | sed s/May/June/ | crabmem {name} set -",
        ),
    )
    @click.argument("source", metavar="[-]", required=False)
    @click.option("-c", "--content", type=TEXT, help="The whole new text, or -; '' empties the file.")
    @click.option("--file", type=click.Path(), help="Read it from a file.")
    @click.option("--if-version", metavar="V", help=f"Only if it is still this version (`{name} show --json`).")
    @json_option
    def set_(
        source: str | None, content: str | None, file: str | None, if_version: str | None,
        json_wanted: bool,
    ) -> None:  # fmt: skip
        show_changed(json_wanted, write(open_session(), content_of(content, file, source), if_version))

    @group.command(
        "edit",
        help=_with_examples(
            f"Open {file_name} in your editor ($VISUAL, $EDITOR), and record what you changed as yours; with --agent, "
            "as the agent's.",
            f"{name} edit",
        ),
    )
    def edit() -> None:
        from ..operations import adoption, setup  # late: showing a file needs none of it
        from ..session.rules import check_may_write
        from .editor import edit_copy, edit_file

        memory = open_session()
        check_may_write(memory)
        check(memory)
        setup.init(memory)
        file = memory.file(read(memory, None).path)
        if memory.actor.is_agent:
            done = edit_copy(file, lambda text, version: write(memory, text, version), seed(memory))
            return show_changed(False, done) if done else tell("nothing changed")
        # A file that is made only for the editor is removed again if the person leaves it as it was.
        made, text = not file.exists(), seed(memory)
        if made:
            fs.make_folder(file.parent)
            fs.create(file, text.encode())
        try:
            edit_file(file)
        finally:
            if made and file.exists() and file.read_bytes() == text.encode():
                fs.unlink(file)
        tell_recorded(memory, adoption.adopt(memory))


def _with_examples(about: str, *commands: str) -> str:
    """The help that says `about` and shows commands, each on a line."""
    return "\n\n".join([about, "\n".join(["\b", *(f"crabmem {command}" for command in commands)])])


def show_changed(json_wanted: bool, done: Changed) -> None:
    """Print what was written to a file, or waits for the person, with the diff; then the warnings."""
    state = "updated" if done.commit else "said so already"
    if isinstance(done, Proposed):
        state = f"not changed: `crabmem review apply {short(done.proposal.id)}` would"
    show(json_wanted, json_of(done), lambda: f"{done.path} {state}\n{diff_of_commit(done)}")
    warn(done.warnings)
