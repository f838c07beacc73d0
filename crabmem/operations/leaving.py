"""Taking crabmem out of a folder again: the person's files and their history stay."""

from __future__ import annotations

import os
import re

from ..disk import fs, state
from ..disk.lock import WriterLock
from ..errors import BY_A_PERSON, Disabled, Inapplicable
from ..git.commits import Note, identity
from ..results import CREATOR
from ..session.session import Session
from ..workspace.layout import SETTINGS
from ..write.draft import Draft
from . import adoption, proposals

#: Settings in which nothing stands but the one line that `adopt` writes.
_ADOPT_SETTINGS = re.compile(rb'(layout|profile) = "[^"\n]*"\n')


def leave(session: Session, dry_run: bool = False) -> tuple[str, ...]:
    """Remove what crabmem put beside the files of a folder; return the paths that were removed.

    These are `.git/crabmem`, and a `crabmem.toml` that has only what `adopt` wrote. Outside edits are recorded first.
    Facts, `.git` and its history stay, and `adopt` can take them up again. With `dry_run` nothing is removed, and the
    answer says what would be.

    Raises:
        Disabled: the actor is an agent, only reads, or only proposes.
        Inapplicable: the folder is no workspace, something in it waits for the person, or a write is not finished.
        MassLoss: many facts are gone from disk, and nobody confirmed that.
    """
    if session.actor.is_agent or session.actor.only_reads:
        raise Disabled("a person takes crabmem out of a folder, and no agent", BY_A_PERSON)
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
    # The lock alone, not a write: the writer would read the layout from the settings, which are removed by now.
    with WriterLock(private / state.LOCK).held(rules.lock_timeout):
        if session.engine.writer.is_interrupted() or history.recording.waiting():
            raise Inapplicable(f"a write in {session.root} is not finished: `crabmem doctor --fix`, then leave again")
        # Make the commits durable: after a power cut only the log in `private`, which goes, could restore them.
        history.mending.harden()
        fs.remove_tree(private)
    return removed


def _refuse_what_waits(session: Session) -> None:
    """Refuse to leave while a text is kept only in `.git/crabmem`, or waits for a decision.

    Raises:
        Inapplicable: a rebase or merge is under way, texts were set aside or recovered, or proposals wait.
    """
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
