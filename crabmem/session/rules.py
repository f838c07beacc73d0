"""What the settings let the actor of a session do, and the words of what they do."""

from __future__ import annotations

from ..errors import CrabmemError, Disabled, InvalidSettings
from ..workspace.layout import SETTINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..git.commits import Note
    from ..text.credentials import Screen
    from ..workspace.settings import Settings
    from .session import Session


def settings_problem(session: Session) -> str:
    """Which keys of `crabmem.toml` are unknown, with the nearest that is; "" for none, or when it cannot be read.

    What agents write is refused for one: it may be a mistyped key that was to keep something from them. Sessions of
    another kind than main read nothing then, so that there is nothing to warn them of.
    """
    if session.kind != "main":
        return ""
    try:
        return session.engine.settings_now()[1]
    except CrabmemError:  # whoever needs the settings says what is wrong with them
        return ""


def checked_settings(session: Session) -> Settings:
    """The settings, of which every key has to be known.

    Raises:
        InvalidSettings: one is not.
    """
    if problem := settings_problem(session):
        raise InvalidSettings(problem)
    return session.settings


def check_may_write(session: Session) -> None:
    """Refuse every write of who only reads, and an agent's while a key of the settings is unknown: it may be one that
    was to refuse it.

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
    """Refuse what nobody can take back, where what the actor writes may have to wait for a person.

    Raises:
        Disabled: it may.
    """
    check_may_write(session)
    if session.actor.may_wait(session.settings.review):
        raise Disabled("a person purges where what is written waits for one; leave out --agent and --propose")


def soul_editable(session: Session) -> bool:
    """Whether agents may write `Crab.md`."""
    given = session.engine.options.soul_editable
    return session.settings.soul_editable if given is None else given


def may_write_soul(session: Session) -> bool:
    """Whether the actor writes `Crab.md` at once: a person does, and an agent where the settings let it and nothing of
    it waits."""
    waits = {"soul", "everything"}.intersection(session.settings.review.wait)
    return not session.actor.is_agent or (soul_editable(session) and not waits)


def may_propose_soul(session: Session) -> bool:
    """Whether agents may propose what `Crab.md` should say."""
    rules = session.settings
    return rules.soul == "propose" or "soul" in rules.review.wait or soul_editable(session)


def kept_from_actor(session: Session) -> frozenset[str]:
    """The files that the actor may not bring back or lead links out of: an agent those that are the person's."""
    if not session.actor.agent:
        return frozenset()
    return frozenset({SETTINGS} if soul_editable(session) else {SETTINGS, session.layout.identity})


def note(session: Session, tool: str, what: str) -> Note:
    """The words of a commit of the actor's."""
    return session.actor.note(tool, what, session.settings.person)


def screen(session: Session, *texts: str) -> Screen:
    """What refuses credentials, as the settings say. It looks into `texts` now, when nobody waits for the lock."""
    from ..text.credentials import Screen

    return Screen(session.settings.secrets, *texts)
