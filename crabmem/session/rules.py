"""What the settings let the actor of a session do, and the words of what they do."""

from __future__ import annotations

from ..errors import BY_A_PERSON, CrabmemError, Disabled, InvalidSettings
from ..workspace.layout import SETTINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..git.commits import Note
    from ..text.credentials import Screen
    from ..workspace.settings import Settings
    from .session import Session


def settings_problem(session: Session) -> str:
    """The message about unknown keys in `crabmem.toml`; "" for none, or if the file cannot be read.

    Agents may not write while a key is unknown: it may be a mistyped one that was to restrict them. Kinds other than
    main cannot even read then, so for them the answer is always "".
    """
    if session.kind != "main":
        return ""
    try:
        return session.engine.settings_now()[1]
    except CrabmemError:  # whoever needs the settings says what is wrong with them
        return ""


def checked_settings(session: Session) -> Settings:
    """The settings, if all keys are known.

    Raises:
        InvalidSettings: a key is unknown, or a value invalid.
    """
    if problem := settings_problem(session):
        raise InvalidSettings(problem)
    return session.settings


def check_may_write(session: Session) -> None:
    """Refuse writes of sessions that only read, and of agents while the settings have an unknown key.

    Raises:
        Disabled: the actor only reads.
        InvalidSettings: a key is unknown.
    """
    if session.actor.only_reads:
        name = session.engine.profile_name
        words = f"sessions of the kind {session.kind} only read, as the tools do that the profile {name} gives them"
        raise Disabled(f"{words}; leave it to one of the kind main")
    if session.actor.is_agent:
        checked_settings(session)


def check_may_erase(session: Session) -> None:
    """Refuse a purge, which cannot be undone, to an actor whose writes may have to wait for a person.

    Raises:
        Disabled: writes of the actor may have to wait, or the session only reads.
    """
    check_may_write(session)
    if session.actor.may_wait(session.settings.review):
        raise Disabled("a person purges where what is written waits for one", BY_A_PERSON)


def soul_editable(session: Session) -> bool:
    """Whether agents may write `Crab.md`."""
    given = session.engine.options.soul_editable
    return session.settings.soul_editable if given is None else given


def may_write_soul(session: Session) -> bool:
    """Whether the actor's writes to `Crab.md` take effect at once: a person's do; an agent's if the settings allow
    them and do not have them wait."""
    waits = {"soul", "everything"}.intersection(session.settings.review.wait)
    return not session.actor.is_agent or (soul_editable(session) and not waits)


def may_propose_soul(session: Session) -> bool:
    """Whether agents may propose what `Crab.md` should say."""
    rules = session.settings
    return rules.soul == "propose" or "soul" in rules.review.wait or soul_editable(session)


def kept_from_actor(session: Session) -> frozenset[str]:
    """The files that a restore, or a rename that updates links, must not change for the actor: for an agent the
    settings, and `Crab.md` unless it may edit that."""
    if not session.actor.is_agent:
        return frozenset()
    return frozenset({SETTINGS} if soul_editable(session) else {SETTINGS, session.layout.identity})


def note(session: Session, tool: str, what: str) -> Note:
    """The words of a commit of the actor's."""
    return session.actor.note(tool, what, session.settings.person)


def screen(session: Session, *texts: str) -> Screen:
    """The check for credentials, by the settings. Searches `texts` now, before the lock is taken, and caches that."""
    from ..text.credentials import Screen

    return Screen(session.settings.secrets, *texts)
