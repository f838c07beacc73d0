"""Taking crabmem out of a folder again: the person's files and their history stay."""

from __future__ import annotations

import os
import re

from ..disk import fs, state
from ..disk.lock import WriterLock
from ..errors import Disabled, Inapplicable
from ..git.commits import Note, identity
from ..results import CREATOR
from ..session.session import Session
from ..workspace.layout import SETTINGS
from ..write.draft import Draft
from . import adoption, proposals

#: All that `adopt` writes into settings.
_ADOPT_SETTINGS = re.compile(rb'(layout|profile) = "[^"\n]*"\n')


def leave(session: Session, dry_run: bool = False) -> tuple[str, ...]:
    """Remove what crabmem put beside the files of a folder; what was removed, as paths in it.

    That is `.git/crabmem`, and a `crabmem.toml` that says only what `adopt` wrote. What lies on disk is recorded first.
    Facts, `.git` and its history stay; `adopt` goes on with them.

    Raises:
        Disabled: the actor is an agent.
        Inapplicable: something waits for the person there, or facts are gone that nobody forgot.
    """
    if session.actor.agent or session.actor.only_reads or session.actor.proposes:
        raise Disabled("a person takes crabmem out of a folder; leave out --agent")
    if not fs.is_own_folder(session.engine.workspace.private):
        raise Inapplicable(f"{session.root} is no workspace")
    if not dry_run:
        adoption.adopt(session)
    if missing := adoption.unrecorded(session):
        raise missing.error
    _refuse_what_waits(session)
    settings = session.look(lambda now: now.scan.data(SETTINGS))
    is_adopts = bool(settings and _ADOPT_SETTINGS.fullmatch(settings))
    removed = (state.FOLDER, *([SETTINGS] if is_adopts else ()))
    if dry_run:
        return removed
    rules, history, private = session.settings, session.engine.history, session.engine.workspace.private
    if is_adopts:
        note = Note("leave: crabmem", identity(CREATOR))
        session.engine.writer.write(lambda scan: Draft({SETTINGS: None}, note, None), session.actor)
    # The writer would ask the settings for the layout, which they do not say any more.
    with WriterLock(private / state.LOCK).held(rules.lock_timeout):
        if session.engine.writer.is_interrupted() or history.recording.waiting():
            raise Inapplicable(f"a write in {session.root} is not finished: `crabmem doctor --fix`, then leave again")
        history.mending.harden()  # what the log would make again after a power cut
        fs.remove_tree(private)
    return removed


def _refuse_what_waits(session: Session) -> None:
    """Raise if a text is only among what would be removed, or waits for a decision."""
    if session.engine.history.branch.in_progress():
        raise Inapplicable(f"Git is in the middle of a rebase or merge in {session.root}: end it first")
    private = session.engine.workspace.private
    held = [
        name for name in (state.ASIDE, state.RECOVERED) if os.path.isdir(private / name) and os.listdir(private / name)
    ]
    if held:
        raise Inapplicable(f"texts wait for you in {private / held[0]}: `crabmem doctor` says what to do with them")
    if proposals.proposals(session):
        raise Inapplicable("what agents proposed waits for you: decide on it first, with `crabmem review`")
