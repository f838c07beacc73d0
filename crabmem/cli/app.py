"""The command `crabmem`: finds its verbs, takes the global options, opens the memory they name, and words errors.

A verb is a module of `verbs`, called like it; see there. It is loaded when it is typed.
"""

import gc
import sys
from collections.abc import Callable
from copy import copy
from importlib import import_module
from inspect import cleandoc  # which click has loaded
from keyword import iskeyword
from pathlib import Path
from typing import Any, TypeVar, overload

import click

from .. import __version__
from ..disk import fs
from ..disk.fork_lock import BEYOND_TIME
from ..errors import CrabmemError, Inapplicable, InvalidArguments
from ..text.comparison import nearest
from .opening import open_session as open_session
from .options import AFTER, GLOBAL, GlobalOptions, completing, use_global, with_global_options
from .output import Failure, WrongUsage, in_colour

C = TypeVar("C", bound=click.Command)

#: The part of the help that `--help` alone leaves out: verbs for programs, and what few people type.
MORE = "More"
_SHORT = """\
Plain-file memory for AI agents, with its history in Git. First: `crabmem try`
Options and programs' verbs: crabmem --help --all. A verb: crabmem VERB --help"""
_EPILOG = """\b
First steps:
  crabmem try                                  a guided minute in a throw-away folder
  crabmem remember "Deploy key" -d "where the deploy key lives" -c "In the vault."
  crabmem recall where is the deploy key
  crabmem log

The workspace is --dir, else $CRABMEM_DIR, else ~/.crabmem. Every file in it is yours to edit.
With --project . a Git repository has a memory of its own in it, which all of its worktrees share.
Options may also stand after the verb, where it has none of that name: crabmem recall --dir ~/notes tea"""

#: The help of a verb about one file, see `whole_file`.
ABOUT_A_FILE = "Show, set or edit {}."
#: The parts of the help.
TITLES = ("Facts", "Files", "History", "Agents", "Upkeep", MORE)
_VERBS = Path(__file__).parent / "verbs"


def _summary_in(module: Path) -> tuple[str, str]:
    """Return the place of a verb in the help (`after` of `verb`) and its help text, both read from its module's source.

    Both are "" if only an import can tell. Importing all verbs takes ten times as long as reading their sources.
    """
    text = module.read_text("utf-8")
    _, group, rest = text.partition("\nfile_group(")
    if group:  # its first four arguments are texts in quotes: name, after, file_name, about
        _, place, _, about = rest.split('"')[1:9:2]
        return place, ABOUT_A_FILE.format(about)
    _, head, rest = text.partition('\n@verb(after="')
    place, _, rest = rest.partition('"')
    said = rest.partition("\ndef ")[2].split('"""', 2)[1:2]
    return (place, cleandoc(said[0])) if head and said else ("", "")


class Verbs(click.Group):
    """The group of verbs, each loaded when it is asked for. Shows our errors without a traceback."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        #: For each known verb the one that it follows in the help, or the title of the part that it begins.
        self.places: dict[str, str] = {}
        #: Verbs that are loaded and have the global options.
        self._complete = set[str]()
        #: Help texts of all verbs, once `parts` was called.
        self._summaries: dict[str, str] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        # A verb that is a word of Python has an underscore after it in its module's name.
        return sorted(file.stem.removesuffix("_") for file in _VERBS.glob("[!_]*.py"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._complete and cmd_name in self.list_commands(ctx):
            import_module(f"{__package__}.verbs.{cmd_name}{'_' * iskeyword(cmd_name)}")
            self._take_global_options(self.commands[cmd_name])
            self._complete.add(cmd_name)
        return self.commands.get(cmd_name)

    def parts(self, ctx: click.Context) -> dict[str, list[str]]:
        """The verbs of each part of the help, by its title."""
        for name in self.list_commands(ctx):
            place, about = _summary_in(_VERBS / f"{name}{'_' * iskeyword(name)}.py")
            if not about and (command := self.get_command(ctx, name)):
                place, about = self.places[name], command.help or ""
            self.places[name], self._summaries[name] = place, about
        return {title: self._after(title) for title in TITLES}

    def summary(self, name: str) -> str:
        """Return the first sentence of a verb's help. Call `parts` before."""
        return click.Command(name, help=self._summaries[name]).get_short_help_str(_WHOLE)

    def _after(self, place: str) -> list[str]:
        """Return the verbs that follow `place`, a verb or a title, each with those that follow it in turn.

        If several verbs follow the same place, the one with the longest chain behind it comes last.
        """
        chains = [[name, *self._after(name)] for name, after in self.places.items() if after == place]
        return [name for chain in sorted(chains, key=lambda chain: (len(chain), chain)) for name in chain]

    def invoke(self, ctx: click.Context) -> Any:
        gc.enable()  # `__main__` disabled it while modules load; but some verbs run for long
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            for verb, beginning, hint in _SLIPS:
                if ctx.invoked_subcommand == verb and error.message.startswith(beginning):
                    raise click.UsageError(f"{error.message.rstrip('.')}: {hint}", error.ctx) from None
            raise
        except (CrabmemError, OverflowError, OSError) as error:
            raise _error_to_show(error, self.get_command(ctx, ctx.invoked_subcommand or "") or self) from None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the verb that the words begin with: by its name, by a former one, or `help` and `version`.

        Raises:
            UsageError: there is no such verb; the message names a similar one.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            if args[0] in _FORMER:
                return self.resolve_command(ctx, _todays_words(self, ctx, args))
            if args[0] in _WITHIN:
                return _WITHIN[args[0]](self, ctx, args[1:])
            similar = nearest(args[0], self.list_commands(ctx))
            near = [_ELSEWHERE[args[0]]] if args[0] in _ELSEWHERE else similar
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"No such command '{args[0]}'.{hint}", ctx) from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take `--help --all` at the end, in either order, for a help that names all verbs."""
        if {*args[-2:]} in ({"--help", "--all"}, {"-h", "--all"}):
            ctx.meta[_WITH_ALL] = True
            args = [*args[:-2], "--help"]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.meta.get(_WITH_ALL):
            return super().format_help(ctx, formatter)
        self.format_usage(ctx, formatter)
        formatter.write(f"{_SHORT}\n\n")
        parts = self.parts(ctx)
        width = max(map(len, self.places))
        for title in TITLES[:-1]:
            formatter.write(f"{title}\n")
            for verb in parts[title]:
                formatter.write(f"  {verb:{width}}  {self.summary(verb)}\n")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, verbs in self.parts(ctx).items():
            with formatter.section(title):
                formatter.write_dl([(verb, self.summary(verb)) for verb in verbs])

    def _take_global_options(self, command: click.Command) -> None:
        """Let `command`, and each command below it, take the global options too, as if they stood before the verb.

        An option of the command's own with the same name wins. The added ones are not in its help.
        """
        own = {name for param in command.params for name in param.opts}
        for option in self.params:
            if isinstance(option, click.Option) and option.name in GLOBAL and own.isdisjoint(option.opts):
                twin = copy(option)
                twin.name = f"{AFTER}.{option.name}"  # the plain name may be that of an argument of the verb
                twin.callback, twin.expose_value, twin.hidden = use_global, False, True
                twin.default = twin.envvar = None  # the option before the verb has taken these into account
                command.params.append(twin)
        for each in command.commands.values() if isinstance(command, click.Group) else ():
            self._take_global_options(each)


def _error_to_show(error: CrabmemError | OverflowError | OSError, verb: click.Command) -> BaseException:
    """Return the exception by which the command line shows an error of `verb`, on one line.

    Ways out in the message are named by options, if `verb` has them. An error that click or Python is to handle is
    returned unchanged.
    """
    if isinstance(error, CrabmemError):
        known = {flag for option in verb.params for flag in option.opts}
        names = {argument: flag for argument, flag in _FLAGS.items() if flag in known}
        is_wrong_usage = isinstance(error, InvalidArguments) and not isinstance(error, Inapplicable)
        return (WrongUsage if is_wrong_usage else Failure)(" ".join(error.text(names).split()))
    if isinstance(error, OverflowError):
        return Failure(BEYOND_TIME) if "_PyTime_t" in str(error) else error
    if isinstance(error, BrokenPipeError):
        return error  # the reader of the output, as `head`, has closed it: click ends quietly
    return Failure(f"{error.filename or 'the system'}: {fs.reason(error)}")


def _todays_words(group: Verbs, ctx: click.Context, args: list[str]) -> list[str]:
    """Translate a command line that begins with a former verb into today's verb and options (`_FORMER`).

    `proposals VERB` becomes `review VERB`, and `proposals` alone `review list`.
    """
    verb, *rest = args
    words, options = _FORMER[verb]
    if verb == "proposals" and isinstance(review := group.get_command(ctx, words[0]), click.Group):
        words = words[:1] if rest and rest[0] in review.commands else words
    found = list[str]()
    for word in rest:
        name, equals, value = word.partition("=")
        if name not in options:
            found.append(word)
        elif options[name]:
            found.append(options[name] + equals + value)
        elif equals:
            found.append(value)
    return [*words, *found]


def _help(group: Verbs, ctx: click.Context, words: list[str]) -> Any:
    """`crabmem help VERB` is `crabmem VERB --help`."""
    ctx.meta[_WITH_ALL] = words == ["--all"]
    if words and not ctx.meta[_WITH_ALL]:
        name, command, rest = group.resolve_command(ctx, words)
        return name, command, [*rest, "--help"]
    click.echo(ctx.get_help())
    ctx.exit()


def _version(group: Verbs, ctx: click.Context, words: list[str]) -> Any:
    click.echo(_VERSION % {"version": __version__})
    ctx.exit()


#: For each former verb today's words, and today's names of its options; for "" the option's name is dropped and its
#: value becomes an argument. The next version drops these.
_FORMER: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "memory": (("overview",), {}),
    "soul": (("identity",), {}),
    "proposals": (("review", "list"), {}),
    "resolve": (("review", "resolve"), {}),
    "rollback": (("restore",), {"--entry": ""}),
    "revert": (("undo",), {"--agent": "--by", "--session": "--in"}),
    "stats": (("status",), {}),
    "path": (("status", "--path"), {}),
    "tags": (("list", "--tags"), {}),
    "context": (("prompt", "--account"), {}),
    "reindex": (("doctor", "--reindex"), {}),
}
# Words that are no verbs, and still mean something.
_WITHIN: dict[str, Callable[[Verbs, click.Context, list[str]], Any]] = {"help": _help, "version": _version}
_TAGGED = "the facts with a tag are `crabmem list --tag TAG`, a search is `crabmem recall`"
_IN_QUOTES = 'a name or a text of several words goes in quotes, as in crabmem remember "Deploy key" -d DESC -c TEXT'
# Habits of other programs: the verb, the beginning of click's error, and a hint that is added to it.
_SLIPS = (
    ("remember", "Got unexpected extra argument", _IN_QUOTES),
    ("list", "Got unexpected extra argument", _TAGGED),
    ("log", "No such option '--oneline'", "each commit is one line as it is; -p shows more"),
    ("config", "No such command", "settings are changed in the file crabmem.toml, and `crabmem config` prints them"),
)
# Our verbs by the names that they have in other programs.
_ELSEWHERE = {
    "get": "show", "cat": "show", "read": "show", "view": "show", "search": "recall", "find": "recall",
    "grep": "recall", "query": "recall", "ask": "recall", "add": "remember", "save": "remember", "store": "remember",
    "set": "remember", "new": "remember", "put": "remember", "rm": "forget", "delete": "forget", "del": "forget",
    "remove": "forget", "erase": "purge", "history": "log", "changes": "log", "ls": "list", "all": "list",
    "mv": "rename", "info": "status", "check": "doctor", "fsck": "doctor",
    "settings": "config", "serve": "mcp", "server": "mcp", "commit": "record", "reset": "restore",
    "checkout": "restore", "agent": "agents", "annotate": "blame", "redo": "undo",
}  # fmt: skip
_VERSION = "crabmem %(version)s"
#: Options by the Python arguments that errors offer as ways out; used where a verb has the option.
_FLAGS = {
    "even_if_many=True": "--yes-really",
    "is_meant=True": "--yes-really",
    'take="ours"': "--ours",
    'take="theirs"': "--theirs",
    "force=True": "--yes-really",
    "agents.purge_everywhere": "--all",
    "root=…": "--dir",
    "profile=…": "--profile",
}
# Key in a context's `meta`: the help is to name all verbs.
_WITH_ALL = "crabmem.help_with_all"
# Characters to which click cuts a verb's first sentence: more than any has.
_WHOLE = 1_000


@click.group(cls=Verbs, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@with_global_options
@click.version_option(__version__, "-V", "--version", message=_VERSION)
@click.pass_context
def cli(ctx: click.Context, /, **said: Any) -> None:
    """Plain-file memory for AI agents, with its history in Git.

    Each fact is one Markdown file you can open in any editor; every write is a commit you can read
    with `git log -p`.
    """
    ctx.color = in_colour(sys.stdout)
    ctx.obj = GlobalOptions.of(**said)


@overload
def verb(name: str = "", *, after: str, cls: type[C], **about: Any) -> Callable[[Callable[..., Any]], C]: ...
@overload
def verb(name: str = "", *, after: str, **about: Any) -> Callable[[Callable[..., Any]], click.Command]: ...
def verb(name: str = "", *, after: str, **about: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a verb, called like its module, or `name`; `about` is what `click.command` takes.

    The help lists it after the verb `after`, or first in the part with that title.
    """

    def add(function: Callable[..., Any]) -> click.Command:
        own = name or function.__module__.rpartition(".")[2].removesuffix("_")
        make: Callable[..., click.Command] = click.command(own, **about)
        cli.add_command(command := make(function))
        cli.places[own] = after
        return command

    return add


profile_option = click.option(
    "--profile",
    metavar="P",
    callback=use_global,
    expose_value=False,
    shell_complete=completing("complete_profiles"),
    help="A family, or a file.toml.",
)
