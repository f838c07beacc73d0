"""What is done at each event of a session. Every hook loads this module, so each event loads what only it needs."""

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
from ...write.actor import PROPOSE
from ...write.bylines import Bylines, bylines_for, kept_paths
from ..host import PRE_COMPACT, PROMPT, SESSION_END, SESSION_START, STOP, SUBAGENT_START, WROTE, Json
from .input import HookInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from ...disk.turns import Kind
    from ...session.session import Session

SUBAGENT = "subagent"
# Facts of the largest memory in which a hook looks for what is untidy: each takes half a millisecond.
_MAX_TIDIED = 2_000
# Where the references of proposals are.
_PROPOSALS = "refs/crabmem/proposals"


class Call(NamedTuple):
    """An event in the workspace that it is about; `agent` and `session` are who writes, for the history.

    `without` is what the host knows already. With `is_guide` a session begins with how to use memory, too, which in
    most hosts the server says. `claim` says whether the host will hear the answer: a text that it never hears does not
    count as injected. `project` is the folder from which the session works.
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
        """Whether there is a memory: without one a host hears nothing, and none is made for it."""
        return fs.is_own_folder(self.workspace.private)

    @property
    def turns(self) -> Turns:
        """The record of turns."""
        return Turns(self.workspace.private / state.TURNS)

    @property
    def settings(self) -> Settings:
        """The settings of the workspace; a session that sees everything goes on without the keys that are unknown.

        Raises:
            InvalidSettings: they cannot be read.
        """
        root = self.workspace.root
        return known_settings_at(root)[0] if self.kind == "main" else settings_at(root)

    def context(self, text: str) -> Json:
        """The answer that gives the model a text, as the host takes it."""
        return self.input.dialect.context(self.input.host_event, text)

    def notice(self, text: str) -> Json:
        """What in an answer the host shows the person, and not the model; nothing where it shows none."""
        key = self.input.dialect.notice
        return {key: f"crabmem: {text}"} if key and text else {}

    def note(self, kind: Kind) -> None:
        """Record something of this session, if it has a name."""
        if self.session:
            self.turns.add(Turn(self.now, self.session, (), 0, kind, self.size()))

    def size(self) -> int:
        """The bytes of the host's record of the session; 0 where that is unknown."""
        try:
            return os.stat(self.input.transcript).st_size if self.input.transcript else 0
        except (OSError, ValueError):
            return 0


def answer(call: Call) -> Json:
    """The answer to the host; {} where there is nothing to say."""
    handle = _HANDLERS.get(call.input.event or "")
    return handle(call) if handle and (call.has_memory or call.input.event == WROTE) else {}


def _session_start(call: Call) -> Json:
    """Answer with who the agent is and the overview, also when the context was emptied.

    The person is told if facts are missing, if memory is paused, how much waits for them or to be tidied, and if
    syncing fails for long; the model is not.
    """
    call.note("begun")
    if call.input.is_emptied:
        call.note("anew")
    from ...tools.guide import prompt

    is_known = call.without == "overview"  # a host whose own memory is the workspace reads it there
    with _memory(call) as memory:
        _sync(memory)
        text = prompt(memory, guide=call.is_guide, limit=call.input.dialect.limit, overview=not is_known)
        notices = _missing(call, memory), _pause(call), _waiting(call, memory), _untidy(call, memory), _trouble(memory)
        return call.context(text) | call.notice("; ".join(filter(None, notices)))


def _missing(call: Call, memory: Session) -> str:
    """Return how many facts are gone from the disk without a word of the person; "" where they are not many."""
    if not call.input.dialect.notice:
        return ""
    from ...operations.adoption import unrecorded_in

    held = unrecorded_in(memory)
    return held.words if held else ""


def _pause(call: Call) -> str:
    """Until when memory is paused; "" for no pause."""
    found = read_pause(call.workspace.private, call.now)
    return f"{pause_words(found, call.now)}; `crabmem resume` ends that" if found else ""


def _waiting(call: Call, memory: Session) -> str:
    """How many proposals wait for the person, and since when; "" for none."""
    if not call.input.dialect.notice or call.kind != "main" or not _may_have_proposals(call.workspace.git):
        return ""
    from ...operations.status import waiting, waiting_words

    count, since = waiting(memory)
    return waiting_words(count, since, call.now) if count else ""


def _untidy(call: Call, memory: Session) -> str:
    """How much waits to be tidied, once a week, where the settings say so; "" otherwise."""
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
    """Whether a reference of a proposal may be there, loose or packed: asked before what reads history is loaded."""
    with suppress(OSError):
        if os.listdir(git / _PROPOSALS):
            return True
    with suppress(OSError):
        return _PROPOSALS.encode() in fs.read(git / "packed-refs")[0]
    return False


def _subagent_start(call: Call) -> Json:
    """Answer with what an agent that another one has sent is to know: what the profile says to such a session.

    In a session that does not see everything it is what that session may see.
    """
    from ...tools.guide import prompt

    kind = SUBAGENT if call.kind == "main" else call.kind
    with _memory(call._replace(kind=kind)) as memory:
        text = prompt(memory, limit=call.input.dialect.limit)
        return call.context(text) if text else {}


def _prompt(call: Call) -> Json:
    """Answer with what memory holds that bears on the message; nothing for a message that no person wrote."""
    if not call.input.message:
        return {}
    from ...operations.context import before_turn

    with _memory(call) as memory:
        text = before_turn(memory, call.input.message, is_heard=call.claim)
        # Only of a memory that seems to be empty: all others would wait for the look into the history.
        is_empty = not text and not memory.look(lambda now: len(now.entries.index))
        return call.context(text) if text else call.notice(_missing(call, memory) if is_empty else "")


def _stop(call: Call) -> Json:
    """Give the agent one more turn to store what is worth keeping, after much talk of which it stored nothing."""
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
    if talk.since is None:
        return False
    from ...operations.history import commits

    since = talk.since - timedelta(seconds=1)  # commits know no smaller time, and are asked for after it
    with _memory(call) as memory:
        found = commits(memory, agent=call.agent, since=since.isoformat(timespec="seconds"))
        return next(found, None) is not None


def _pre_compact(call: Call) -> Json:
    """Record that what was said goes out of sight. No host gives the model a turn now: `stop` asked before."""
    call.note("anew")
    return {}


def _session_end(call: Call) -> Json:
    """Commit what is on disk and in no commit.

    Only what the host said that its agent wrote is the agent's; all else may be the person's, and is recorded as
    theirs.
    """
    from ...operations.adoption import adopt

    with _memory(call) as memory:
        adopt(memory)
        _sync(memory)
    return {}


def _wrote(call: Call) -> Json:
    """Commit the files that a tool of the host wrote in the workspace; this may begin its history."""
    root, files = call.workspace.root, call.input.files
    if paths := kept_paths(call.workspace, files):
        # A watcher may be about to record them as the person's.
        said = bylines_for(root, paths, call.agent, call.session, bool(os.environ.get(PROPOSE)))
        Bylines(call.workspace.private / state.BYLINES).add(said)
        from ...operations.adoption import adopt_written

        with _memory(call) as memory:
            adopt_written(memory, files)
    return {}


def is_due(messages: int, grown: int, rules: Hooks) -> bool:
    """Whether enough was said since something was stored: messages of the person, or bytes of the host's record."""
    return bool((rules.messages and messages >= rules.messages) or (rules.transcript and grown >= rules.transcript))


def _sync(memory: Session) -> None:
    """Begin to sync where the settings say so: nobody waits for it, and what it brings the next message has."""
    from ...sync.auto import begin

    begin(memory)


def _trouble(memory: Session) -> str:
    """What the person is told of syncing, "" for nothing; what was never synced is not looked at."""
    if not os.path.exists(memory.engine.workspace.private / state.SYNC):
        return ""
    from ...sync.standing import state as standing
    from ...sync.standing import trouble

    return trouble(standing(memory), memory.engine.clock())


def _memory(call: Call) -> Session:
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
