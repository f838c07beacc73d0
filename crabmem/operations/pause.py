"""A pause: for a while memory does not speak unasked, and asks for nothing to be stored. A person's alone."""

from datetime import timedelta

from ..disk.pause import Pause, remove_pause, write_pause
from ..errors import BY_A_PERSON, CrabmemError, Disabled, InvalidArguments, NotFound
from ..results import Paused
from ..session.init import is_begun
from ..session.session import Session
from ..write.writer import unwritable


def paused(session: Session) -> Paused | None:
    """The pause of this workspace; None where there is none."""
    found = session.engine.pause()
    return Paused(found.since, found.until, _keeps_tools(session)) if found else None


def _keeps_tools(session: Session) -> bool:
    """Return whether agents keep their tools in a pause; False where no settings can be read, as tools fail then."""
    try:
        return session.settings.pause == "auto"
    except CrabmemError:
        return False


def pause(session: Session, lasting: timedelta | None = None) -> Paused:
    """Pause memory on this machine, for a while or until it is resumed: no auto-recall, no reminders.

    Whether agents keep their tools meanwhile, the setting `pause` says. A pause that is under way is replaced.

    Raises:
        Disabled: an agent asks.
        InvalidArguments: `lasting` is no time to come, or ends after the year 9999.
        NotFound: there is no memory here.
        Unwritable: the disk refused.
    """
    _check_person(session)
    if not is_begun(session):
        raise NotFound("there is nothing to pause: no memory has begun here")
    now, private = session.engine.clock(), session.engine.workspace.private
    try:
        until = None if lasting is None else now + lasting
    except OverflowError:
        raise InvalidArguments(
            "lasting: nobody waits beyond the year 9999; without it, it lasts until resumed"
        ) from None
    if until is not None and until <= now:
        raise InvalidArguments(f"lasting must be a time to come, not {lasting}; without it, it lasts until resumed")
    try:
        write_pause(private, Pause(now, until))
    except OSError as error:
        raise unwritable(error) from error
    found = paused(session)
    assert found, "a pause is read as it was written"
    return found


def resume(session: Session) -> Paused | None:
    """End the pause; the one that was, None where there was none.

    Raises:
        Disabled: an agent asks.
        Unwritable: the disk refused.
    """
    _check_person(session)
    before, private = paused(session), session.engine.workspace.private
    try:
        remove_pause(private)
    except OSError as error:
        raise unwritable(error) from error
    return before


def _check_person(session: Session) -> None:
    if session.actor.is_agent:
        raise Disabled("a person pauses and resumes memory, and no agent", BY_A_PERSON)
    if session.kind != "main":
        raise Disabled(
            f"memory is paused and resumed in a session of kind main, and this one is of kind {session.kind}"
        )
