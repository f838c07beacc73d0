"""The work of hooks at each event of a session.

Every hook loads this module and a host waits for it, so what only one event needs is imported in its function.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from ...disk import fs, state
from ...disk.pause import pause_words, read_pause
from ...disk.turns import Talk, Turn, Turns
from ...session.locate import known_settings_at, settings_at
from ...workspace.layout import DEFAULT
from ...workspace.settings import Hooks, Settings
from ...workspace.workspace import Workspace
from ...write.actor import PROPOSE, is_on
from ...write.bylines import Bylines, bylines_for, kept_paths
from ..host import PRE_COMPACT, PROMPT, SESSION_END, SESSION_START, STOP, SUBAGENT_START, WROTE, Json
from .input import HookInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from ...disk.turns import Kind
    from ...session.session import Session

SUBAGENT = "subagent"
# A hook looks for untidy facts in a memory of at most so many: each takes half a millisecond.
_MAX_TIDIED = 2_000
# The folder of the Git references of proposals, which wait for a person's word.
_PROPOSALS = "refs/crabmem/proposals"


class Call(NamedTuple):
    """An event at a host, and the workspace that it concerns. The history names `agent` and `session` as the author.

    `without` is "overview" if the host reads the overview by itself. With `is_guide` a session begins with the guide to
    memory, too, which in most hosts the server gives. `claim` takes the right to answer (`Reply.claim`): False means
    that the host will not get this answer, so its text must not count as injected. `kind` is the kind of the session
    (see the glossary), `project` the folder from which it works.
    """

    workspace: Workspace
    input: HookInput
    agent: str
    session: str | None
    now: datetime
    claim: Callable[[], bool] = lambda: True
    kind: str = "main"
    environment: Mapping[str, str] = MappingProxyType({})
    without: str = ""
    is_guide: bool = False
    project: str = ""

    @property
    def has_memory(self) -> bool:
        """Whether there is a memory. Without one, hooks answer nothing and make none."""
        return fs.is_own_folder(self.workspace.private)

    @property
    def turns(self) -> Turns:
        """The record of what hooks injected and noted, by session."""
        return Turns(self.workspace.private / state.TURNS)

    @property
    def settings(self) -> Settings:
        """The settings of the workspace. A main session, which sees everything, goes on without keys that are unknown.

        Raises:
            InvalidSettings: the settings are wrong; for another kind of session also if a key is unknown.
        """
        root = self.workspace.root
        return known_settings_at(root)[0] if self.kind == "main" else settings_at(root)

    def context(self, text: str) -> Json:
        """Return the answer by which this host gives its model a text."""
        return self.input.dialect.context(self.input.host_event, text)

    def notice(self, text: str) -> Json:
        """Return the part of an answer that the person sees and the model does not; {} if the host has no such part."""
        key = self.input.dialect.notice
        return {key: f"crabmem: {text}"} if key and text else {}

    def note(self, kind: Kind) -> None:
        """Record that `kind` happened in this session, with the size of its transcript now; not for a nameless one."""
        if self.session:
            self.turns.add(Turn(self.now, self.session, (), 0, kind, self.size()))

    def size(self) -> int:
        """Return the bytes of the host's transcript of the session; 0 if that is unknown."""
        try:
            return os.stat(self.input.transcript).st_size if self.input.transcript else 0
        except (OSError, ValueError):
            return 0


def answer(call: Call) -> Json:
    """Do what an event calls for, and return the answer to the host; {} for none.

    Without a memory only `wrote` does something: files that the host's tool wrote may begin one.
    """
    handle = _HANDLERS.get(call.input.event or "")
    return handle(call) if handle and (call.has_memory or call.input.event == WROTE) else {}


def _session_start(call: Call) -> Json:
    """Answer with the identity and the overview, at the beginning and again after the context was emptied.

    Also records the beginning, and begins a sync. The person alone gets notices: facts that are gone, a pause,
    proposals that wait, what to tidy, syncing that has failed for long.
    """
    call.note("begun")
    if call.input.is_emptied:
        call.note("anew")
    from ...tools.guide import prompt

    is_known = call.without == "overview"  # the host's own memory is this workspace, so it reads the overview itself
    with _memory(call) as memory:
        _sync(memory)
        text = prompt(memory, guide=call.is_guide, limit=call.input.dialect.limit, overview=not is_known)
        notices = _missing(call, memory), _pause(call), _waiting(call, memory), _untidy(call, memory), _trouble(memory)
        return call.context(text) | call.notice("; ".join(filter(None, notices)))


def _missing(call: Call, memory: Session) -> str:
    """Return words about facts that are gone from the disk and whose loss nobody confirmed; "" if they are not many.

    "" also for a host that shows the person nothing.
    """
    if not call.input.dialect.notice:
        return ""
    from ...operations.adoption import unrecorded_in

    held = unrecorded_in(memory)
    return held.words if held else ""


def _pause(call: Call) -> str:
    """Return words about a pause of memory, and how to end it; "" for no pause."""
    found = read_pause(call.workspace.private, call.now)
    return f"{pause_words(found, call.now)}; `crabmem resume` ends that" if found else ""


def _waiting(call: Call, memory: Session) -> str:
    """Return how many proposals wait for the person, and since when; "" for none, or outside of a main session."""
    if not call.input.dialect.notice or call.kind != "main" or not _may_have_proposals(call.workspace.git):
        return ""
    from ...operations.status import waiting, waiting_words

    count, since = waiting(memory)
    return waiting_words(count, since, call.now) if count else ""


def _untidy(call: Call, memory: Session) -> str:
    """Return how much waits to be tidied, if the settings want that; "" otherwise, or if it was said within a week.

    Records that it was said. A memory of more than `_MAX_TIDIED` facts would take too long, and counts as tidy.
    """
    is_wanted = memory.settings.hooks.tidy and call.input.dialect.notice and call.kind == "main" and call.session
    if not is_wanted or call.turns.has_told_to_tidy(call.now - timedelta(days=7)):
        return ""
    from ...operations.tidy import tidy
    from ...text.words import counted

    found = tidy(memory) if memory.look(lambda now: len(now.entries.paths)) <= _MAX_TIDIED else ()
    if found:
        call.note("tidy")
    return f"{counted(len(found), 'thing')} to look at in memory: `crabmem tidy`" if found else ""


def _may_have_proposals(git: Path) -> bool:
    """Whether there may be a proposal, by its Git reference, loose or packed. A quick look, which saves most hooks from
    loading the code that reads history.
    """
    with suppress(OSError):
        if os.listdir(git / _PROPOSALS):
            return True
    with suppress(OSError):
        return _PROPOSALS.encode() in fs.read(git / "packed-refs")[0]
    return False


def _subagent_start(call: Call) -> Json:
    """Answer with the prompt of the profile for a subagent.

    If the session itself is of another kind than main, the prompt is the one for that kind, so that its subagents see
    no more than it does.
    """
    from ...tools.guide import prompt

    kind = SUBAGENT if call.kind == "main" else call.kind
    with _memory(call._replace(kind=kind)) as memory:
        text = prompt(memory, limit=call.input.dialect.limit)
        return call.context(text) if text else {}


def _prompt(call: Call) -> Json:
    """Answer with what memory holds that bears on the message; nothing for a message that no person wrote.

    If memory is empty, the person is told of facts that are gone, as at the start of a session.
    """
    if not call.input.message:
        return {}
    from ...operations.context import before_turn

    with _memory(call) as memory:
        text = before_turn(memory, call.input.message, is_heard=call.claim)
        # Only if memory seems to be empty: the look into the history would delay every other message.
        is_empty = not text and not memory.look(lambda now: len(now.entries.index))
        return call.context(text) if text else call.notice(_missing(call, memory) if is_empty else "")


def _stop(call: Call) -> Json:
    """Give the agent one more turn to store what is worth keeping, after much talk since it last stored something.

    Not twice in a row, nor during a pause. Records that it was asked, or that it has stored something by itself; either
    begins the count anew.
    """
    if call.input.is_again or not call.session or read_pause(call.workspace.private, call.now):
        return {}
    talk = call.turns.talk(call.session)
    if not is_due(talk.messages, call.size() - talk.transcript, call.settings.hooks):
        return {}
    if _has_stored(call, talk):
        call.note("stored")
        return {}
    from ...text.templates import storing_prompt

    text = storing_prompt("stop").strip()
    if not call.claim():
        return {}
    call.note("asked")
    return call.input.dialect.turn(call.input.host_event, text)


def _has_stored(call: Call, talk: Talk) -> bool:
    """Whether this agent has committed something since `talk` began."""
    if talk.since is None:
        return False
    from ...operations.history import commits

    since = talk.since - timedelta(seconds=1)  # commit times are whole seconds, and only later ones than this are found
    with _memory(call) as memory:
        found = commits(memory, agent=call.agent, since=since.isoformat(timespec="seconds"))
        return next(found, None) is not None


def _pre_compact(call: Call) -> Json:
    """Record that the context is emptied, so that facts injected before may be injected again.

    No host lets the model store anything at this moment; `_stop` asked for that before.
    """
    call.note("anew")
    return {}


def _session_end(call: Call) -> Json:
    """Commit what is on disk but in no commit, and begin a sync.

    Files that the host reported as written by its agent (`_wrote`) are recorded as the agent's, all others as the
    person's, whose edits they may be.
    """
    from ...operations.adoption import adopt

    with _memory(call) as memory:
        adopt(memory)
        _sync(memory)
    return {}


def _wrote(call: Call) -> Json:
    """Commit the files that a tool of the host wrote in the workspace, as the agent's. This may begin the history."""
    root, files = call.workspace.root, call.input.files
    if paths := kept_paths(call.workspace, files):
        # First of all note whose they are: a watcher may be about to record them as the person's.
        said = bylines_for(root, paths, call.agent, call.session, is_on(PROPOSE, os.environ))
        Bylines(call.workspace.private / state.BYLINES).add(said)
        from ...operations.adoption import adopt_written

        with _memory(call) as memory:
            adopt_written(memory, files)
    return {}


def is_due(messages: int, grown: int, rules: Hooks) -> bool:
    """Whether enough was said since something was stored, to ask the agent to store more.

    `messages` counts the person's; `grown` is by how many bytes the host's transcript grew. A limit of 0 never applies.
    """
    return bool((rules.messages and messages >= rules.messages) or (rules.transcript and grown >= rules.transcript))


def _sync(memory: Session) -> None:
    """Begin to sync in the background, if the settings say so. The next message finds what the sync brings."""
    from ...sync.auto import begin

    begin(memory)


def _trouble(memory: Session) -> str:
    """Return words for the person about syncing that fails; "" for none, and if the workspace was never synced."""
    if not os.path.exists(memory.engine.workspace.private / state.SYNC):
        return ""
    from ...sync.standing import state as standing
    from ...sync.standing import trouble

    return trouble(standing(memory), memory.engine.clock())


def _memory(call: Call) -> Session:
    """Open the memory as the agent of this session; the caller closes it."""
    from ...session.engine import Options
    from ...session.opening import session_at
    from ...write.actor import Actor

    profile = call.workspace.profile or DEFAULT  # found already, and not always in the settings
    options = Options(profile=profile, is_brief=True, project=call.project)
    return session_at(call.workspace.root, Actor(call.agent, call.session), call.kind, options)


_HANDLERS: dict[str, Callable[[Call], Json]] = {
    SESSION_START: _session_start,
    SUBAGENT_START: _subagent_start,
    PROMPT: _prompt,
    WROTE: _wrote,
    STOP: _stop,
    PRE_COMPACT: _pre_compact,
    SESSION_END: _session_end,
}
