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
#: Makes the answer to a hook of the host's name of an event and a text.
Shape: TypeAlias = Callable[[str, str], Json]
#: `json` is read by a program that takes no comments; `text` is a file that is all ours.
Format: TypeAlias = Literal["json", "jsonc", "toml", "yaml", "text"]
Folder: TypeAlias = "Callable[[Surroundings], Path]"
#: What crabmem writes into a config, for the options of an installation.
Content: TypeAlias = "Callable[[InstallOptions], Sequence[Desired]]"


class Config(NamedTuple):
    """A config file of a host: the first of `names` in `folder` that exists, else the first.

    `content` registers crabmem: the server and the hooks. `choices` is what the person decides: permissions, and
    whose memory is used.
    """

    folder: Folder
    names: tuple[str, ...]
    format: Format
    content: Content = lambda want: ()
    choices: Content = lambda want: ()

    def file(self, here: "Surroundings") -> "Path":
        """The path of the file."""
        files = [self.folder(here) / name for name in self.names]
        return next((file for file in files if file.exists() or file.is_symlink()), files[0])


class OwnMemory(NamedTuple):
    """The memory that a host keeps itself.

    `places` gives the files and folders where it lies, for all projects or for this one. `note` is what only the
    person can do about it. `can_unite`: the host can keep it in the workspace. `source` is what an import calls its
    files; None for texts of no special kind.
    """

    title: str
    places: "Callable[[Surroundings, bool], Sequence[Path]]" = lambda here, in_project: ()
    note: str = ""
    can_unite: bool = False
    source: str | None = None


class HookDialect(NamedTuple):
    """How a host talks to its hooks.

    `events` gives our name for each event name of the host; the first name for one of ours is what an answer uses.
    `context` makes an answer that gives the model a text, `turn` one that gives it one more turn with a text as the
    next message. `limit` is how many characters of a text arrive whole, counted in UTF-16. What is printed at the
    events in `mute` becomes words that a model reads, so nothing is printed there. `notice` is the key of an answer
    whose text is shown to the person and not to the model, "" where there is none. `shows_instructions`: the model
    reads what our server says of how to use memory, so no hook says it again.

    `is_sender` recognises the host by what it wrote to a hook, for a command without `--host`. `other_sender` names
    another host that runs the hooks of this one as its own, by what that wrote; None where this host wrote it.

    `project` is the variable in which hooks find the folder that a session began in, "" where there is none.
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
    """How a host works off one prompt, with nobody there and with our server alone: the command, what it has in its
    environment, and the text of files in the folder that it stands in."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = MappingProxyType({})
    files: Mapping[str, str] = MappingProxyType({})


class Host(NamedTuple):
    """A program that runs agents.

    `folder` is a folder of its own, which shows that it is on this machine. `user` and `project` are the configs of
    each scope; none where the host has no such scope. `hooks` is None for a host that is given the server alone.
    `next_step` is what the person does after an installation. `permission` is what the person can do so that the agent
    need not ask, where no config takes a permission. `headless` makes a run of the command that starts our server and a
    prompt; None for a host that has no such mode, or in which no server can be named for one run alone.
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
