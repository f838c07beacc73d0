"""A host as a value: a program that runs agents, its configs, its own memory, and how it talks to hooks.

Every hook loads this module and `table`, and a host waits for every hook. So the values are NamedTuples, which take
0.05 ms to define where a dataclass takes 0.8, and what edits configs is imported for type checking alone.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from .desired import Desired
    from .options import InstallOptions
    from .surroundings import Surroundings

#: What crabmem is called in the configs of hosts.
NAME = "crabmem"
#: Bytes of the largest config that is read: Claude Code keeps what was said in all projects in its own.
MAX_CONFIG_BYTES = 50_000_000
ABOUT = "Plain-file memory for AI agents, with its history in Git"

SESSION_START = "session-start"
SUBAGENT_START = "subagent-start"
PROMPT = "prompt"
STOP = "stop"
PRE_COMPACT = "pre-compact"
SESSION_END = "session-end"
WROTE = "wrote"
#: The events of a session, by our names, in the order in which they happen.
EVENTS = (SESSION_START, PROMPT, SUBAGENT_START, WROTE, STOP, PRE_COMPACT, SESSION_END)

Json: TypeAlias = dict[str, object]
#: Makes the answer to a hook from the host's name of the event and a text.
Shape: TypeAlias = Callable[[str, str], Json]
#: `json` is read by a program that takes no comments; `text` is a file that is all ours.
Format: TypeAlias = Literal["json", "jsonc", "toml", "yaml", "text"]
Folder: TypeAlias = "Callable[[Surroundings], Path]"
#: Returns what crabmem wants in a config, for the options of an installation.
Content: TypeAlias = "Callable[[InstallOptions], Sequence[Desired]]"


class Config(NamedTuple):
    """A config file of a host: the first of `names` in `folder` that exists, else the first.

    `content` registers crabmem: the server and the hooks. `choices` is what the person decides: permissions, and
    whose memory is used. `against` is what a person may have written there that keeps the host from using it.
    """

    folder: Folder
    names: tuple[str, ...]
    format: Format
    content: Content = lambda want: ()
    choices: Content = lambda want: ()
    against: Content = lambda want: ()

    def file(self, here: "Surroundings") -> "Path":
        """The path of the file."""
        files = [self.folder(here) / name for name in self.names]
        return next((file for file in files if file.exists() or file.is_symlink()), files[0])


class OwnMemory(NamedTuple):
    """The memory that a host keeps itself.

    `places` returns the files and folders that hold it, for all projects or, if its second argument is True, for this
    one. `note` is what only the person can do about this memory. `can_unite`: the host can keep it in the workspace.
    `source` is the name of the importer for its files; None for texts of no special kind.
    """

    title: str
    places: "Callable[[Surroundings, bool], Sequence[Path]]" = lambda here, in_project: ()
    note: str = ""
    can_unite: bool = False
    source: str | None = None


class HookDialect(NamedTuple):
    """How a host talks to its hooks.

    `events` has our name for each event name of the host. If two have the same one, an answer uses the first of them.
    `context` makes an answer that gives the model a text, `turn` one that gives it one more turn with a text as the
    next message. `limit` is the largest text that arrives whole, in UTF-16 units; None for no limit. At the events in
    `mute` the host gives its model whatever a hook prints, so an answer without content is no output at all. `notice`
    is the key of an answer whose text the person sees and the model does not; "" for none. `shows_instructions`: the
    host shows its model the instructions of our server, so that hooks need not repeat them.

    `is_sender` recognises the host by what it wrote to a hook, for a command without `--host`. `other_sender` looks at
    the same and names another host, which runs the hooks of this one as its own; None if this host itself wrote it.

    `project` is the environment variable with the folder in which the session began; "" for none.
    """

    events: Mapping[str, str]
    context: Shape
    turn: Shape
    limit: int | None = None
    mute: frozenset[str] = frozenset()
    notice: str = ""
    shows_instructions: bool = True
    is_sender: Callable[[Mapping[str, object]], bool] = lambda given: False
    other_sender: Callable[[Mapping[str, object]], str | None] = lambda given: None
    project: str = ""

    def name_of(self, event: str) -> str:
        """The host's name of an event of ours; our name where the host has none."""
        return next((name for name, ours in self.events.items() if ours == event), event)


class Headless(NamedTuple):
    """How a host runs one prompt unattended, with our server and no other: the command, additional variables for its
    environment, and files for its current folder, by path."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = MappingProxyType({})
    files: Mapping[str, str] = MappingProxyType({})


class Host(NamedTuple):
    """A program that runs agents.

    `program` is its command. `folder` returns a folder of its own, whose existence shows that the host is on this
    machine. `user` and `project` are the configs of each scope; empty for a scope that the host does not have. `hooks`
    is None for a host that gets only the server. `next_step` is what the person has to do after an installation.
    `permission` is what the person can do so that the agent need not ask, if no config takes a permission. `headless`
    makes a run from the command that starts our server and a prompt; None for a host that has no such mode, or that
    cannot be given a server for one run alone.
    """

    name: str
    title: str
    program: str
    folder: Folder
    user: tuple[Config, ...]
    next_step: str
    project: tuple[Config, ...] = ()
    next_step_in_project: str = ""
    permission: str = ""
    own_memory: OwnMemory | None = None
    hooks: HookDialect | None = None
    headless: Callable[[Sequence[str], str], Headless] | None = None
