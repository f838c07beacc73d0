"""What is done at each event. Every hook loads this, so that what one event needs is loaded there."""

import os
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from .. import hooks
from ..disk import fs
from ..disk.bylines import Bylines, kept, signed
from ..disk.turns import Kind, Talk, Turn, Turns
from ..hooks.hosts import PRE_COMPACT, PROMPT, SESSION_END, SESSION_START, STOP, SUBAGENT_START, WROTE, Json
from ..locate import known_settings_at, settings_at
from ..workspace.layout import DEFAULT
from ..workspace.settings import Settings
from ..workspace.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..api import Memory

SUBAGENT = "subagent"


class Call(NamedTuple):
    """An event in the workspace that it is about; `agent` and `session` are who writes, for the history.

    `without` is what the host knows already. With `is_guide` a session begins with how to use memory, too, which in
    most hosts the server says. `claim` says whether the host will hear the answer: what it never hears does not count
    as said.
    """

    workspace: Workspace
    asked: hooks.Asked
    agent: str
    session: str | None
    now: datetime
    claim: Callable[[], bool] = lambda: True
    kind: str = "main"
    environment: Mapping[str, str] = MappingProxyType({})
    without: str = ""
    is_guide: bool = False

    @property
    def is_at_home(self) -> bool:
        """Whether there is a memory: a host without one hears nothing, and none is made for it."""
        return fs.is_own_folder(self.workspace.private)

    @property
    def turns(self) -> Turns:
        """What was said before turns."""
        return Turns(self.workspace.turns)

    @property
    def settings(self) -> Settings:
        """The settings of the workspace; a session that sees everything goes on without the keys that are unknown.

        Raises:
            InvalidSettings: they cannot be read.
        """
        root = self.workspace.root
        return known_settings_at(root)[0] if self.kind == "main" else settings_at(root)

    def note(self, kind: Kind) -> None:
        """Remember something of this session, if it has a name."""
        if self.session:
            self.turns.add(Turn(self.now, self.session, (), 0, kind, self.size()))

    def size(self) -> int:
        """How many bytes the host's record of the session has; 0 where that is unknown."""
        try:
            return os.stat(self.asked.transcript).st_size if self.asked.transcript else 0
        except (OSError, ValueError):
            return 0


def answer(call: Call) -> Json:
    """What the host hears."""
    happens = _EVENTS.get(call.asked.event or "")
    return happens(call) if happens and (call.is_at_home or call.asked.event == WROTE) else {}


def _session_start(call: Call) -> Json:
    """Who the agent is and the overview: again, too, when the context was emptied."""
    call.note("begun")
    if call.asked.is_emptied:
        call.note("anew")
    is_known = call.without == "overview"  # a host whose own memory is the workspace reads it there
    with _memory(call) as memory:
        words = memory.prompt(guide=call.is_guide, limit=call.asked.host.limit, overview=not is_known)
        return call.asked.host.context(call.asked.called, words)


def _subagent_start(call: Call) -> Json:
    """What an agent that another one has sent is to know: what the profile says to such a session.

    In a session that does not see everything it is what that session may see.
    """
    kind = SUBAGENT if call.kind == "main" else call.kind
    with _memory(call._replace(kind=kind)) as memory:
        said = memory.prompt(limit=call.asked.host.limit)
        return call.asked.host.context(call.asked.called, said) if said else {}


def _prompt(call: Call) -> Json:
    """What memory holds that bears on the message, if anything. Of one that no person wrote nothing is asked."""
    if not call.asked.message:
        return {}
    from .quickly import before_turn

    said = None
    if call.kind == "main":
        said = before_turn(
            call.workspace, call.asked.message, call.settings, call.session, call.now, call.claim, call.environment
        )
    if said is None:
        with _memory(call) as memory:
            said = memory.before_turn(call.asked.message, is_heard=call.claim)
    return call.asked.host.context(call.asked.called, said) if said else {}


def _stop(call: Call) -> Json:
    """One more turn to store what is worth keeping, when there was much talk and the agent stored nothing of it."""
    if call.asked.is_again or not call.session:
        return {}
    talk = call.turns.talk(call.session)
    if not hooks.is_due(talk.messages, call.size() - talk.transcript, call.settings.hooks):
        return {}
    if _has_stored(call, talk):
        call.note("stored")
        return {}
    from ..text.templates import storing_prompt

    words = storing_prompt("stop").strip()
    if not call.claim():
        return {}
    call.note("asked")
    return call.asked.host.turn(call.asked.called, words)


def _has_stored(call: Call, talk: Talk) -> bool:
    """Whether the agent has written to memory since the talk began."""
    if talk.since is None:
        return False
    since = talk.since - timedelta(seconds=1)  # commits know no smaller time, and are asked for after it
    with _memory(call) as memory:
        found = memory.commits(agent=call.agent, since=since.isoformat(timespec="seconds"))
        return next(found, None) is not None


def _pre_compact(call: Call) -> Json:
    """Remember that what was said goes out of sight. No host gives the model a turn now: `stop` asked before."""
    call.note("anew")
    return {}


def _session_end(call: Call) -> Json:
    """Record what is on disk and in no commit.

    Of the agent is only what its host said that it wrote; all else may be the person's, and is recorded as theirs.
    """
    with _memory(call) as memory:
        memory.adopt()
    return {}


def _wrote(call: Call) -> Json:
    """Record the files that a tool of the host wrote in the workspace; this may begin its history."""
    root, files = call.workspace.root, call.asked.files
    if paths := kept(call.workspace, files):
        # A watcher may be about to record them as the person's.
        Bylines(call.workspace.bylines).add(signed(root, paths, call.agent, call.session))
        with _memory(call) as memory:
            memory.wrote(files)
    return {}


def _memory(call: Call) -> "Memory":
    from ..api import Memory

    profile = call.workspace.profile or DEFAULT  # it was looked for already, and the settings may not be who said it
    return Memory(call.workspace.root, agent=call.agent, session=call.session, profile=profile, kind=call.kind)


_EVENTS: dict[str, Callable[[Call], Json]] = {
    SESSION_START: _session_start,
    SUBAGENT_START: _subagent_start,
    PROMPT: _prompt,
    WROTE: _wrote,
    STOP: _stop,
    PRE_COMPACT: _pre_compact,
    SESSION_END: _session_end,
}
