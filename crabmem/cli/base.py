"""What all verbs share: the global options, how results and errors are shown."""

import difflib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import __version__
from ..disk import fs
from ..disk.allowed import Allowed
from ..disk.fork_lock import BEYOND_TIME
from ..errors import CrabmemError, InvalidArguments, NotFound
from ..text.quoting import visible
from ..workspace.workspace import root_of

if TYPE_CHECKING:  # what opens a memory is loaded by the verb that opens one
    from ..results import Commit
    from ..session.session import Session

_SURROGATES = re.compile("[\ud800-\udfff]")
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
# Where a context notes that standard input was read.
_IS_READ = "crabmem.stdin"
# Fewer entries are read before anybody has read that.
_MANY = 2_000
_EPILOG = """\b
First steps:
  crabmem try                                  a guided minute in a throw-away folder
  crabmem remember "Deploy key" -d "where the deploy key lives" -c "In the vault."
  crabmem recall where is the deploy key
  crabmem log

The workspace is --dir, else $CRABMEM_DIR, else ~/.crabmem. Every file in it is yours to edit.
Options may also stand after the verb, where it has none of that name: crabmem recall --dir ~/notes tea"""

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
    no_pager: bool = False

    @property
    def root(self) -> Path:
        """The folder of the workspace."""
        return root_of(self.folder, self.workspace, os.environ, Path.home())

    @property
    def names_agent(self) -> bool:
        """Whether it is an agent's own workspace in one that was named, too."""
        return self.root != root_of(self.folder, "", os.environ, Path.home())


#: What the command line calls the arguments that errors offer as ways out, where a verb has them.
_FLAGS = {
    "even_if_many=True": "--yes-really",
    'take="ours"': "--ours",
    'take="theirs"': "--theirs",
    "force=True": "--force",
    "agents.purge_everywhere": "--agents",
    "root=…": "--dir",
    "profile=…": "--profile",
}


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
    #: The verbs of each part of the help, by its title.
    groups: Mapping[str, str] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.homes and cmd_name not in self.commands:
            for command in import_module(self.homes[cmd_name]).COMMANDS:
                _take_global_options(command)
                self.add_command(command)
        return self.commands.get(cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CrabmemError as error:
            verb = self.get_command(ctx, ctx.invoked_subcommand or "") or self
            known = {flag for option in verb.params for flag in option.opts}
            names = {argument: flag for argument, flag in _FLAGS.items() if flag in known}
            raise Failure(" ".join(error.text(names).split())) from None
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
            if args[0] in _WITHIN:
                return _WITHIN[args[0]](self, ctx, args[1:])
            near = (
                [_ELSEWHERE[args[0]]] if args[0] in _ELSEWHERE else difflib.get_close_matches(args[0], self.homes, n=1)
            )
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"No such command '{args[0]}'.{hint}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, verbs in self.groups.items():
            commands = [(verb, self.get_command(ctx, verb)) for verb in verbs.split()]
            with formatter.section(title):
                formatter.write_dl([(verb, each.get_short_help_str(_WHOLE)) for verb, each in commands if each])


def _help(group: Verbs, ctx: click.Context, words: list[str]) -> Any:
    """`crabmem help VERB` is `crabmem VERB --help`."""
    if words:
        name, command, rest = group.resolve_command(ctx, words)
        return name, command, [*rest, "--help"]
    click.echo(ctx.get_help())
    ctx.exit()


def _version(group: Verbs, ctx: click.Context, words: list[str]) -> Any:
    click.echo(_VERSION % {"version": __version__})
    ctx.exit()


# Words that are no verbs, and still mean something.
_WITHIN: dict[str, Callable[[Verbs, click.Context, list[str]], Any]] = {"help": _help, "version": _version}
# What other programs call a verb of ours.
_ELSEWHERE = {
    "get": "show", "cat": "show", "read": "show", "view": "show", "search": "recall", "find": "recall",
    "grep": "recall", "query": "recall", "ask": "recall", "add": "remember", "save": "remember", "store": "remember",
    "set": "remember", "new": "remember", "put": "remember", "rm": "forget", "delete": "forget", "del": "forget",
    "remove": "forget", "erase": "purge", "history": "log", "changes": "log", "ls": "list", "all": "list",
    "mv": "rename", "move": "rename", "status": "stats", "info": "stats", "check": "doctor", "fsck": "doctor",
    "settings": "config", "serve": "mcp", "server": "mcp", "commit": "adopt", "record": "adopt", "reset": "rollback",
    "checkout": "rollback", "agent": "agents", "identity": "soul", "overview": "memory", "annotate": "blame",
}  # fmt: skip
_VERSION = "crabmem %(version)s"
# Characters of a verb's first sentence: all of them.
_WHOLE = 1_000


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


def completed(of: "Callable[[Session], Iterable[str]]", is_around: bool = False) -> Callable[..., list[str]]:
    """What a shell completes an argument with: of the texts that `of` finds in the workspace, those that begin so.

    With `is_around`, in the workspace around an agent's own.
    """

    def complete(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
        from ..session.engine import Options
        from ..session.opening import session_at

        try:
            wanted = _wanted_so_far(ctx)
            folder = replace(wanted, workspace="").root if is_around else wanted.root
            with session_at(folder, options=Options(profile=wanted.profile)) as memory:
                return [text for text in of(memory) if text.startswith(begun)]
        except CrabmemError:
            return []

    return complete


def _wanted_so_far(ctx: click.Context) -> Wanted:
    """The global options as far as they are typed: while a shell completes, no verb runs that would know them."""
    given: dict[str, Any] = {**ctx.find_root().params, **ctx.meta.get(_AFTER, {})}
    named: dict[str, Any] = {name: given.get(name) for name in _GLOBAL}
    return Wanted(**named)


def complete_names(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The files of facts whose names begin so, without their ending: they name facts too, and none need be read."""
    from ..session.locate import workspace_at

    try:
        wanted = _wanted_so_far(ctx)
        layout = workspace_at(wanted.root, wanted.profile, Allowed(os.environ)).layout
    except CrabmemError:
        return []
    found = set()
    for folder in layout.entries:
        for place, _, files in os.walk(wanted.root / folder):
            inside = Path(place).relative_to(wanted.root).as_posix()
            paths = (file if inside == "." else f"{inside}/{file}" for file in files if file.startswith(begun))
            found |= {Path(path).stem for path in paths if layout.is_entry(path)}
    return sorted(found)


def complete_profiles(ctx: click.Context, param: click.Parameter, begun: str) -> list[Any]:
    """The profiles whose names begin so, else files."""
    from click.shell_completion import CompletionItem

    from ..prompt.profile import profile_names

    return [CompletionItem(name) for name in profile_names() if name.startswith(begun)] or [
        CompletionItem(begun, type="file")
    ]


def _complete_kinds(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    from ..prompt.profile import KINDS

    return [kind for kind in KINDS if kind.startswith(begun)]


def _agents(memory: "Session") -> list[str]:
    from ..operations.agents import agents

    return [agent.name for agent in agents(memory)]


def _tags(memory: "Session") -> list[str]:
    from ..operations.facts import entries

    return sorted({tag for entry in entries(memory) for tag in entry.labels})


def _writers(memory: "Session") -> list[str]:
    from ..operations.history import log

    return sorted({commit.agent for commit in log(memory, limit=200) if commit.agent})


complete_agents, complete_tags, complete_writers = (
    completed(_agents, is_around=True),
    completed(_tags),
    completed(_writers),
)
_WORKSPACE = "The own workspace of agent W inside it.  [env: CRABMEM_WORKSPACE]"


@click.group(cls=Verbs, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--dir", "folder", metavar="D", help="Workspace folder.  [env: CRABMEM_DIR]")
@click.option("--workspace", metavar="W", shell_complete=complete_agents, help=_WORKSPACE)
@click.option(
    "--agent",
    metavar="A",
    envvar="CRABMEM_AGENT",
    shell_complete=complete_writers,
    help="Who writes, for the history.  [env: CRABMEM_AGENT]",
)
@click.option("--session", metavar="S", envvar="CRABMEM_SESSION", help="In which session.  [env: CRABMEM_SESSION]")
@click.option("--profile", metavar="P", envvar="CRABMEM_PROFILE", shell_complete=complete_profiles, help=_PROFILE)
@click.option("--kind", metavar="K", envvar="CRABMEM_KIND", default="main", shell_complete=_complete_kinds, help=_KIND)
@click.option("--no-pager", is_flag=True, help="Print what is long at once, on a terminal too.")
@click.version_option(__version__, message=_VERSION)
@click.pass_context
def cli(
    ctx: click.Context,
    folder: str | None,
    workspace: str | None,
    agent: str | None,
    session: str | None,
    profile: str | None,
    kind: str,
    no_pager: bool,
) -> None:
    """Plain-file memory for AI agents, with its history in Git.

    Each fact is one Markdown file you can open in any editor; every write is a commit you can read
    with `git log -p`.
    """
    ctx.color = None if in_colour(sys.stdout) else False
    ctx.obj = Wanted(folder, workspace, agent, session, profile or None, kind or "main", no_pager)


def wanted_of(ctx: click.Context) -> Wanted:
    """The global options."""
    wanted = ctx.find_object(Wanted)
    assert wanted is not None
    return wanted


def opened(ctx: click.Context, is_person: bool = True, tells_place: bool = True) -> "Session":
    """The memory that the global options name, closed when the verb is done.

    Who types a verb without naming an agent is the person, unless `is_person` says otherwise. Where there is no memory
    yet, the person is told, for the folder may be mistyped; not so without `tells_place`.
    """
    from ..session.engine import Options
    from ..session.init import is_begun
    from ..session.opening import session_at
    from ..session.rules import settings_problem
    from ..write.actor import Actor

    wanted, progress = wanted_of(ctx), _reading if sys.stderr.isatty() else None
    options = Options(progress=progress, profile=wanted.profile, is_parent_named=wanted.names_agent)
    memory = session_at(wanted.root, Actor(wanted.agent, wanted.session, is_person), wanted.kind, options)
    ctx.call_on_close(partial(memory.close, wait=False))
    if is_person and tells_place and not is_begun(memory):
        ctx.with_resource(_telling_place(memory))
    for repair in memory.recovered:
        tell(repair)
    if problem := settings_problem(memory):
        warn([problem])
    return memory


@contextmanager
def _telling_place(memory: "Session") -> Iterator[None]:
    """Say of a folder without a memory that it is one, or that a verb began a memory there.

    Raises:
        NotFound: the verb did not find something, which says now that there is nothing at all.
    """
    from ..session.init import is_begun
    from ..session.locate import neighbours

    near = difflib.get_close_matches(memory.root.name, neighbours(memory.engine.workspace), n=1)
    hint = f"; did you mean --workspace {near[0]}?" if near else ""
    nothing = f"there is no memory in {memory.root} yet{hint}"
    try:
        yield
    except NotFound as error:
        raise NotFound(f"{error}; {nothing}") from None
    if not is_begun(memory):
        tell(nothing)
    elif memory.root != Path.home() / ".crabmem":  # which nobody mistypes
        tell(f"began a new memory in {memory.root}{hint}")


def _reading(done: int, total: int) -> None:
    """Say how far the first reading of many entries is."""
    if total >= _MANY:
        click.echo(f"\rreading entries: {done:,} of {total:,}" if done < total else "\r\033[K", nl=False, err=True)


def _take_global_options(command: click.Command) -> None:
    """Have `command`, and each one below it, take the global options too, as if they stood before the verb.

    One that the command has itself means something else there, which its help then says.
    """
    own = {name for param in command.params for name in param.opts}
    for option in cli.params:
        if isinstance(option, click.Option) and option.name in _GLOBAL and own.isdisjoint(option.opts):
            twin = copy(option)
            twin.name = f"{_AFTER}.{option.name}"  # an argument of the verb may be called so
            twin.callback, twin.expose_value, twin.hidden = use_global, False, True
            twin.default = twin.envvar = None  # what holds without it is known from before the verb
            command.params.append(twin)
    if other := [name for name in ("--agent", "--session") if name in own]:
        command.epilog = f"Here {' and '.join(other)} choose what is meant; who writes is said before the verb."
    for each in command.commands.values() if isinstance(command, click.Group) else ():
        _take_global_options(each)


def use_global(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Take a global option that stands after the verb for the one that stands before it."""
    name = (param.name or "").rpartition(".")[2]
    if value or (value is not None and name == "workspace"):  # which is none of an agent's when it is ""
        ctx.meta[_AFTER] = {**ctx.meta.get(_AFTER, {}), name: value}  # all that a completion knows
        ctx.obj = replace(wanted_of(ctx), **{name: value})


_AFTER = "crabmem.after_the_verb"
_GLOBAL = ("folder", "workspace", "agent", "session", "profile", "kind", "no_pager")
as_profile = click.option(
    "--profile",
    metavar="P",
    callback=use_global,
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


def paged(ctx: click.Context, pieces: Iterable[str]) -> None:
    """Print pieces of text as they come; through $PAGER, else `less`, on a terminal whose owner has not said otherwise.

    As for Git, less ends at once when all of it fits the screen.
    """
    if wanted_of(ctx).no_pager or not sys.stdout.isatty():
        for piece in pieces:
            show(False, None, partial(str, piece))
        return
    os.environ.setdefault("LESS", "FRX")
    click.echo_via_pager(_parted(_SURROGATES.sub("\ufffd", piece) for piece in pieces), color=in_colour(sys.stdout))


def _parted(pieces: Iterable[str]) -> Iterator[str]:
    """Pieces as a pager is given them, which gets the last end of a line from click."""
    between = ""
    for piece in filter(None, pieces):
        yield between + piece.removesuffix("\n")
        between = "\n"


def names_of(tools: str | None) -> list[str] | None:
    """The tools that an option names; None without it.

    Raises:
        UsageError: it names none.
    """
    names = None if tools is None else [name.strip() for name in tools.split(",") if name.strip()]
    if names == []:
        raise click.UsageError("--tools names none; leave it out for the usual ones")
    return names


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


def can_ask() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty()


def confirm(question: str, refused: str) -> None:
    """Ask the person, where there is one.

    Raises:
        Failure: nobody is there, and so it was `refused`.
    """
    if not can_ask():
        raise Failure(f"nothing was {refused}: give --yes to do it")
    click.confirm(question, abort=True, err=True)


def recorded(memory: "Session", commit: "Commit | None") -> None:
    """Say what became of the person's own edit."""
    tell(f"recorded: {commit.subject}" if commit else "nothing changed")
    warn_of_secrets(memory, commit.paths if commit else ())


def warn_of_secrets(memory: "Session", paths: Iterable[str]) -> None:
    """Say which of the person's files hold what looks like a credential."""
    from ..operations.files import secrets

    warn(f"{found.path}: {found.message}" for found in secrets(memory, paths))


def here(time: datetime) -> datetime:
    """`time` in the zone of who reads, whoever wrote it where; as it is where that is no zone."""
    try:
        return time.astimezone()
    except (ValueError, OverflowError):  # TZ is more than a day away
        return time


def in_colour(stream: Any) -> bool:
    """Whether `stream` is a terminal whose owner wants colours."""
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR")


def coloured_diff(diff: str) -> str:
    """`diff` with what went in red, what came in green, and the names of files in bold."""
    return "\n".join(map(_coloured, plain(diff).split("\n")))


def _coloured(line: str) -> str:
    if line.startswith(("--- a/", "+++ b/", "--- /dev/null", "+++ /dev/null")):
        return click.style(line, bold=True)
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return click.style(line, fg=colours[line[0]]) if line[:1] in colours else line


def _text(value: str) -> str:
    """The type of an option or argument that is a text: `-` is what standard input says."""
    ctx = click.get_current_context()
    return value if value != "-" or ctx.resilient_parsing else standard_input(ctx)


def _line(value: str) -> str:
    """The same of a text on one line: the line breaks that end standard input are none of it."""
    return value if value != "-" else _text(value).rstrip("\r\n")


_text.__name__ = _line.__name__ = "text"  # as the help calls it
TEXT, LINE = _text, _line


def standard_input(ctx: click.Context) -> str:
    """All of standard input.

    Raises:
        UsageError: something else of this command was read from it.
        InvalidArguments: not UTF-8.
    """
    if ctx.meta.get(_IS_READ):
        raise click.UsageError("- is standard input, and only one text can be read from it; give the others as text")
    ctx.meta[_IS_READ] = True
    return _decoded(sys.stdin.buffer.read(), "standard input")


def words_of(ctx: click.Context, words: Sequence[str]) -> str:
    """The text that words on the command line are; of a single `-`, standard input."""
    return standard_input(ctx).rstrip("\r\n") if tuple(words) == ("-",) else " ".join(words)


def content_of(ctx: click.Context, text: str | None, file: str | None, source: str | None) -> str:
    """The content a person gave: as an option's text, in a file, or on stdin for `-`.

    Raises:
        InvalidArguments: not UTF-8, or the file cannot be read.
    """
    given = [item for item in (text, file, source) if item is not None]
    if len(given) != 1 or source not in (None, "-"):
        raise click.UsageError("give the content once: -c TEXT, --file F, or - for stdin")
    if text is not None:
        return _decoded(text.encode("utf-8", "surrogatepass"), "the content")
    return standard_input(ctx) if file in (None, "-") else text_in(file)


def text_in(file: str) -> str:
    """What a file says that a person named.

    Raises:
        InvalidArguments: not UTF-8, or it cannot be read.
    """
    try:
        return _decoded(Path(file).read_bytes(), file)
    except OSError as error:
        raise InvalidArguments(f"{file} cannot be read: {(error.strerror or str(error)).lower()}") from None


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidArguments(f"{where} is not UTF-8 text") from None
