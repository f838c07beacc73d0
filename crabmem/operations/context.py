"""Texts of memory for a model: the parts of a profile before a conversation, facts about a message before a turn."""

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from operator import methodcaller

from ..errors import InvalidArguments, NotFound, Unreadable
from ..prompt import compaction
from ..prompt import context as prompt_context
from ..prompt.compaction import Due
from ..prompt.context import Context, Piece, assemble, fixed_text
from ..prompt.profile import Generated, Part
from ..recall.auto_recall import Injection, best_confidence
from ..session.scopes import others
from ..session.session import Session
from ..text.addresses import address
from ..text.entry import decode
from ..text.own_words import own_words
from ..text.templates import template
from ..text.words import counted
from ..workspace.layout import Layout
from .salient_facts import salient_text


def context(
    session: Session,
    tools: Sequence[str],
    as_of: str | None = None,
    *,
    overview: bool = True,
    limit: int | None = None,
) -> Context:
    """The context before a conversation of this session's kind, with an account of each part.

    `tools` are the names of the tools that the guide mentions. With `as_of`, the files are those of that revision or
    time. Without `overview` the overview is left out, for hosts that read the file themselves. `limit` is the most
    characters: the last files are shortened first, with a line that says where the rest is. Other parts, as the guide,
    are never shortened: a limit below what they need is exceeded.

    Raises:
        InvalidArguments: `limit` is below 1, or no whole number.
        NotFound: there is no such revision or time.
    """
    if limit is not None and (limit < 1 or not isinstance(limit, int)):
        raise InvalidArguments(f"limit must be a whole number of at least 1, not {limit}")
    sayings: dict[Generated, str] = {"tools": listed(tools), **_generated_texts(session, as_of)}
    shown = [piece for piece in pieces(session, as_of) if overview or piece.path != session.layout.overview]
    return assemble(session.profile, session.kind, shown, sayings, list(tools), limit, session.root)


def guidance(session: Session, tools: Sequence[str]) -> str:
    """How to use memory with the tools of these names."""
    return prompt_context.guidance(session.profile.parts_for(session.kind), listed(tools))


def listed(tools: Sequence[str]) -> str:
    """The names of tools as a prompt lists them: names alone, as a model is given the definitions anyway."""
    return ", ".join(f"`{name}`" for name in tools)


def before_turn(
    session: Session, message: str, again: bool = False, is_heard: Callable[[], bool] = lambda: True
) -> str:
    """The facts that bear on `message`, as a `<recall>` block; "" if there are none, or while memory is paused.

    Text that hosts, tools and memories put around a message, as `<system-reminder>`, is not searched for. Left out are
    facts that the prompt has anyway, facts that were told in this session before, and facts with too little in common
    with the message. With `again`, facts told before are told again: for hosts that do not keep them in view.

    What is returned is noted as told in this session, which changes no file of memory. `is_heard` is called last: if it
    returns False, as the host waits no longer, the answer is "" and nothing is noted. Hosts call this; crabmem
    itself never does.
    """
    if session.engine.pause():
        return ""
    said = would_say(session, message, again)
    session.engine.keep()
    if not is_heard():
        return ""
    session.speaker.record(said, session.engine.clock())
    return said.text


def would_say(session: Session, message: str, again: bool = True) -> Injection:
    """The answer that `before_turn` would give, and the facts it would tell, without noting them as told."""
    rules, seen, message = session.settings, _text_in_view(session), own_words(message)
    speaker = session.speaker
    engine, told = session.engine, (rules.auto_recall, rules.language, seen, again)
    return session.look(
        lambda now: speaker.injection(message, now.source, *told, engine.today, now.likest, engine.sources_of)
    )


def confidence(session: Session, message: str) -> float:
    """The confidence of the fact that bears most on `message`, as the setting `auto_recall.threshold` measures it."""
    rules = session.settings
    return session.look(lambda now: best_confidence(message, now.entries, rules.auto_recall, rules.language))


def may_flush(session: Session) -> bool:
    """Whether this session is to be asked to store what a full window would lose.

    Its profile must ask sessions of its kind, the session must see today's note, the folder must be writable, and
    memory must not be paused.
    """
    folder = next(folder for folder in (session.root, *session.root.parents) if os.path.exists(folder))
    is_seen = session.view.allows(session.layout.note_path(session.engine.today()))
    may_write = is_seen and os.access(folder, os.W_OK)
    return session.profile.flushes(session.kind) and may_write and session.engine.pause() is None


def due(session: Session, tokens: int | None, window: int, *, cycle: int = 0, flushed: int | None = None) -> Due:
    """The steps that are due in this session, and the texts for the model; see `compaction.due`.

    `tokens` (None: unknown) are in a context window of `window` tokens. `cycle` is how often the conversation was
    shortened, `flushed` the cycle in which it was last asked to store, which the host remembers. The date is that of
    this machine, as for `write_note`.
    """
    today = session.engine.today()
    note = session.layout.note_path(today)
    return compaction.due(session.profile.window, tokens, window, cycle, flushed, may_flush(session), note, today)


def pieces(session: Session, at: str | None = None) -> list[Piece]:
    """The parts of the profile with their texts in this workspace, for a session of this kind, now or at a moment.

    Placeholders in words, as {tools}, are not filled in yet.
    """
    parts = session.profile.parts_for(session.kind)
    return [piece for part in parts if _is_given(session, part.given, at) for piece in _pieces(session, part, at)]


def _text_in_view(session: Session) -> str:
    """The text that the model reads before the conversation."""
    text = assemble(session.profile, session.kind, pieces(session), {}, ()).text
    return f"{text}\n{salient_text(session)}"


def _is_given(session: Session, file: str, at: str | None) -> bool:
    """Whether the file without which a part is left out is there and not blank; True for a part that names none.

    Also True for a file that cannot be read: the part that it is says so.
    """
    try:
        return not file or bool((_file_text(session, "nearest", file, at) or "").strip())
    except Unreadable:
        return True


def _pieces(session: Session, part: Part, at: str | None) -> list[Piece]:
    """The pieces of a part: one for each day of daily notes, one for each memory's overview, else a single one."""
    if part.notes:
        days = (session.engine.today() - timedelta(days=ago) for ago in range(part.notes))
        return [_piece(session, part, "own", session.layout.note_path(day), at) for day in days]
    if not part.file:
        return [Piece(part, "", fixed_text(part))]
    own = _piece(session, part, part.of, part.file, at)
    return [own, *_overviews_beside(session, part, at)] if own.path == session.layout.overview else [own]


def _overviews_beside(session: Session, part: Part, at: str | None) -> Iterator[Piece]:
    """The overviews of the other memories that the session sees, without empty ones, each under its address."""
    seen = others(session)
    moment = session.timeline.moment(at) if seen and at is not None else None
    for scope, other in seen.items():
        path = other.layout.overview
        place = address(scope, path)
        try:
            with suppress(NotFound):
                if data := other.read(path, moment):
                    yield Piece(part, place, f"(from {place})\n\n{decode(place, data)}")
        except Unreadable as error:
            yield Piece(part, place, None, trouble=str(error))


def _piece(session: Session, part: Part, of: str, file: str, at: str | None) -> Piece:
    """The piece of a part whose text is a file: its default text if the file is missing, no text if it is hidden or
    cannot be read.
    """
    path = session.layout.named(file)
    if not session.view.allows(path):
        return Piece(part, path, None, is_hidden=True)
    try:
        text = _file_text(session, of, file, at)
    except Unreadable as error:
        return Piece(part, path, None, trouble=str(error))
    return Piece(part, path, template(part.default) if text is None and part.default else text)


def _file_text(session: Session, of: str, file: str, at: str | None) -> str | None:
    """The text of a file of this workspace (`of` "own"), of its parent's ("parent"), or of the first that has one.

    A workspace without a parent reads its own for "parent". None if there is no such file, or the view hides it.

    Raises:
        Unreadable: the file cannot be read, or is not UTF-8.
    """
    path_in: Callable[[Layout], str] = methodcaller("named", file)
    path = path_in(session.layout)
    is_own = of != "parent" or session.engine.parent() is None
    data = session.read(path, at) if is_own else session.read_of_parent(path_in, at)
    if data is None and of == "nearest":
        data = session.read_of_parent(path_in, at)
    return None if data is None else decode(path, data)


def _generated_texts(session: Session, as_of: str | None) -> dict[Generated, str]:
    """The generated texts that parts of the profile name. Not the salient facts with `as_of`: they are those of now."""
    makers: dict[Generated, Callable[[Session], str]] = {
        "time": _time,
        "place": _place,
        "notes": _notes,
        "salient": salient_text,
    }
    wanted = {part.say for part in session.profile.parts_for(session.kind)} - ({"salient"} if as_of else set())
    return {say: make(session) for say, make in makers.items() if say in wanted}


def _time(session: Session) -> str:
    now = session.engine.clock()
    return f"It is {now:%A, %Y-%m-%d, %H:%M} ({now.tzname()}, UTC{now:%z})."


def _place(session: Session) -> str:
    host = f"Host: {platform.node()} ({platform.system()} {platform.release()})"
    runtime = f"Runtime: Python {platform.python_version()}"
    return "\n".join([f"Workspace: {session.root}", f"Working directory: {os.getcwd()}", host, runtime])


def _notes(session: Session) -> str:
    folder = session.file(session.layout.note_path(session.engine.today())).parent
    count = session.look(lambda now: sum(map(now.layout.is_note, now.files)))
    return f"{counted(count, 'daily note')} in {folder}"
