"""What all verbs share: the global options, how results and errors are shown."""

import difflib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from .. import __version__, fs
from ..api import Memory
from ..errors import CrabmemError, InvalidArguments, MassLoss
from ..guard import BEYOND_TIME
from ..prompt import visible
from ..results import Commit
from ..workspace import root_of

_SURROGATES = re.compile("[\ud800-\udfff]")
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
# Fewer entries are read before anybody has read that.
_MANY = 2_000
_EPILOG = """\b
First steps:
  crabmem try                                  a guided minute in a throw-away folder
  crabmem remember "Deploy key" -d "where the deploy key lives" -c "In the vault."
  crabmem recall where is the deploy key
  crabmem log

The workspace is --dir, else $CRABMEM_DIR, else ~/.crabmem. Every file in it is yours to edit."""

_PROFILE = "A family's files, prompt and tools, or a file.toml; else what crabmem.toml says.  [env: CRABMEM_PROFILE]"
_KIND = "main (default), subagent, scheduled, heartbeat or group: who reads along.  [env: CRABMEM_KIND]"


@dataclass(frozen=True)
class Wanted:
    """The global options: which workspace, and who writes."""

    folder: str | None
    workspace: str | None
    agent: str | None
    session: str | None
    profile: str | None
    kind: str

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return root_of(self.folder, self.workspace, os.environ, Path.home())


class Failure(click.ClickException):
    """An error of crabmem as one line on stderr."""

    def show(self, file: Any = None) -> None:
        text = f"crabmem: {visible(self.message)}"
        click.echo(click.style(text, fg="red") if in_colour(sys.stderr) else text, err=True)


class Verbs(click.Group):
    """The group of verbs: keeps their order, and shows our errors without a traceback.

    Each verb is in the `COMMANDS` of the module that `homes` names.
    """

    homes: Mapping[str, str] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.homes and cmd_name not in self.commands:
            for command in import_module(self.homes[cmd_name]).COMMANDS:
                self.add_command(command)
        return self.commands.get(cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MassLoss as error:
            verb = self.get_command(ctx, ctx.invoked_subcommand or "")
            is_offered = verb is not None and any(option.name == "yes_really" for option in verb.params)
            raise Failure(error.told("--yes-really" if is_offered else "forget them one by one")) from None
        except CrabmemError as error:
            raise Failure(" ".join(str(error).split())) from None
        except OverflowError as error:
            if "_PyTime_t" not in str(error):
                raise
            raise Failure(BEYOND_TIME) from None
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise  # whoever reads what a verb prints has read enough, which click knows
            raise Failure(f"{error.filename or 'the system'}: {fs.reason(error)}") from None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            near = difflib.get_close_matches(args[0], self.homes, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"No such command '{args[0]}'.{hint}", ctx) from None


@contextmanager
def bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """What shows on a terminal how much of how much is done, once it is told."""
    with ExitStack() as stack:
        shown = list[Any]()

        def told(done: int, total: int) -> None:
            if not shown:
                hidden = not sys.stderr.isatty()
                made = click.progressbar(length=total, label=label, file=sys.stderr, hidden=hidden)
                shown.append(stack.enter_context(made))
            shown[0].update(done - shown[0].pos)

        yield told


def completed(of: Callable[[Memory], Iterable[str]]) -> Callable[..., list[str]]:
    """What a shell completes an argument with: of the texts that `of` finds in the workspace, those that begin so."""

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
        given = ctx.find_root().params  # no verb runs now, and so nobody has made a `Wanted` of them
        folder = root_of(given.get("folder"), None, os.environ, Path.home())
        try:
            with Memory(folder, profile=given.get("profile")) as memory:
                return [text for text in of(memory) if text.startswith(begun)]
        except CrabmemError:
            return []

    return complete


def complete_profiles(ctx: click.Context, param: click.Parameter, begun: str) -> list[Any]:
    """The profiles whose names begin so, else files."""
    from click.shell_completion import CompletionItem

    from ..profile import names

    return [CompletionItem(name) for name in names() if name.startswith(begun)] or [CompletionItem(begun, type="file")]


def _complete_kinds(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    from ..profile import KINDS

    return [kind for kind in KINDS if kind.startswith(begun)]


complete_agents = completed(lambda memory: [agent.name for agent in memory.agents()])
_WORKSPACE = "The own workspace of agent W inside it.  [env: CRABMEM_WORKSPACE]"


@click.group(cls=Verbs, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--dir", "folder", metavar="D", help="Workspace folder.  [env: CRABMEM_DIR]")
@click.option("--workspace", metavar="W", shell_complete=complete_agents, help=_WORKSPACE)
@click.option("--agent", metavar="A", envvar="CRABMEM_AGENT", help="Who writes, for the history.  [env: CRABMEM_AGENT]")
@click.option("--session", metavar="S", envvar="CRABMEM_SESSION", help="In which session.  [env: CRABMEM_SESSION]")
@click.option("--profile", metavar="P", envvar="CRABMEM_PROFILE", shell_complete=complete_profiles, help=_PROFILE)
@click.option("--kind", metavar="K", envvar="CRABMEM_KIND", default="main", shell_complete=_complete_kinds, help=_KIND)
@click.version_option(__version__, message="crabmem %(version)s")
@click.pass_context
def cli(
    ctx: click.Context,
    folder: str | None,
    workspace: str | None,
    agent: str | None,
    session: str | None,
    profile: str | None,
    kind: str,
) -> None:
    """Plain-file memory for AI agents, with its history in Git.

    Each fact is one Markdown file you can open in any editor; every write is a commit you can read
    with `git log -p`.
    """
    ctx.color = None if in_colour(sys.stdout) else False
    ctx.obj = Wanted(folder, workspace, agent, session, profile or None, kind or "main")


def wanted_of(ctx: click.Context) -> Wanted:
    """The global options."""
    wanted = ctx.find_object(Wanted)
    assert wanted is not None
    return wanted


def opened(ctx: click.Context, is_person: bool = True) -> Memory:
    """The memory that the global options name, closed when the verb is done.

    Who types a verb without naming an agent is the person, unless `is_person` says otherwise.
    """
    wanted, progress = wanted_of(ctx), _reading if sys.stderr.isatty() else None
    memory = Memory(
        wanted.root,
        agent=wanted.agent,
        session=wanted.session,
        is_person=is_person,
        progress=progress,
        profile=wanted.profile,
        kind=wanted.kind,
    )
    ctx.call_on_close(partial(memory.close, wait=False))
    for repair in memory.recovered:
        tell(repair)
    return memory


def _reading(done: int, total: int) -> None:
    """Say how far the first reading of many entries is."""
    if total >= _MANY:
        click.echo(f"\rreading entries: {done:,} of {total:,}" if done < total else "\r\033[K", nl=False, err=True)


def use_profile(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Take a profile that stands after the verb for the one that stands before it."""
    ctx.obj = replace(wanted_of(ctx), profile=value or wanted_of(ctx).profile)


as_profile = click.option(
    "--profile",
    metavar="P",
    callback=use_profile,
    expose_value=False,
    shell_complete=complete_profiles,
    help="A family, or a file.toml.",
)
as_json = click.option("--json", "json_wanted", is_flag=True, help="Print JSON for programs.")
dry = click.option("--dry-run", is_flag=True, help="Only show what would change.")
sure = click.option("--yes", is_flag=True, help="Do not ask.")


def show(json_wanted: bool, data: object, text: Callable[[], str]) -> None:
    """Print `data` as JSON, or `text` for a person; nothing for an empty text."""
    if json_wanted:
        return click.echo(as_text(data, indent=2))
    words = _SURROGATES.sub("\ufffd", text())
    if words:
        click.echo(words if words.endswith("\n") else words + "\n", nl=False)


def as_text(data: object, indent: int | None = None) -> str:
    """`data` as JSON, in which what nobody sees, or no terminal should, is escaped."""
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)


def plain(text: str) -> str:
    """`text` without what would steer a terminal, when it goes to one."""
    return visible(text) if sys.stdout.isatty() else text


def tell(text: str) -> None:
    """Say something to the person, beside the data."""
    click.echo(visible(text), err=True)


def warn(warnings: Iterable[str]) -> None:
    """Say what the person should mind."""
    for words in warnings:
        click.secho(f"crabmem: warning: {visible(words)}", err=True, fg="yellow" if in_colour(sys.stderr) else None)


def confirm(question: str, refused: str) -> None:
    """Ask the person, where there is one.

    Raises:
        Failure: nobody is there, and so it was `refused`.
    """
    if not sys.stdin.isatty():
        raise Failure(f"nothing was {refused}: give --yes to do it")
    click.confirm(question, abort=True, err=True)


def recorded(memory: Memory, commit: Commit | None) -> None:
    """Say what became of the person's own edit."""
    tell(f"recorded: {commit.subject}" if commit else "nothing changed")
    warn_of_secrets(memory, commit.paths if commit else ())


def warn_of_secrets(memory: Memory, paths: Iterable[str]) -> None:
    """Say which of the person's files hold what looks like a credential."""
    warn(f"{found.path}: {found.message}" for found in memory.secrets(paths))


def in_colour(stream: Any) -> bool:
    """Whether `stream` is a terminal whose owner wants colours."""
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR")


def coloured_diff(diff: str) -> str:
    """`diff` with what went in red and what came in green."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = plain(diff).split("\n")
    return "\n".join(click.style(line, fg=colours[line[0]]) if line[:1] in colours else line for line in lines)


def content_of(text: str | None, file: str | None, source: str | None) -> str:
    """The content a person gave: as an option's text, in a file, or on stdin for `-`.

    Raises:
        InvalidArguments: not UTF-8, or the file cannot be read.
    """
    given = [item for item in (text, file, source) if item is not None]
    if len(given) != 1 or source not in (None, "-"):
        raise click.UsageError("give the content once: -c TEXT, --file F, or - for stdin")
    try:
        data = text.encode() if text is not None else _bytes_of(file)
        return data.decode("utf-8")
    except OSError as error:
        raise InvalidArguments(f"{file} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except UnicodeError:
        raise InvalidArguments(f"{file or 'the content'} is not UTF-8 text") from None


def edited(file: Path) -> None:
    """Open `file` in the person's editor and wait.

    Raises:
        Failure: there is no such editor, or it says that it failed.
    """
    try:
        click.edit(filename=str(file))
    except click.ClickException as error:
        raise Failure(f"{error.message}; set $EDITOR to another") from None


def _bytes_of(file: str | None) -> bytes:
    return Path(file).read_bytes() if file else sys.stdin.buffer.read()
