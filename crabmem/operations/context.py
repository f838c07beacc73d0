"""What a model reads of memory: before a conversation the parts of a profile, before a turn what bears on it."""

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from operator import methodcaller

from ..errors import NotFound
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
    """What goes before a conversation of this session's kind, and the account of it; `tools` are the names of those
    that the guide tells of.

    The files are those of the revision or time `as_of`. Without `overview` nothing of that, for hosts that read the
    file themselves. With `limit`, so many characters at most: of the last files only the beginning, and where the
    rest is.

    Raises:
        NotFound: there is no such revision or time.
    """
    sayings: dict[Generated, str] = {"tools": listed(tools), **_generated_texts(session, as_of)}
    shown = [piece for piece in pieces(session, as_of) if overview or piece.path != session.layout.overview]
    return assemble(session.profile, session.kind, shown, sayings, list(tools), limit, session.root)


def guidance(session: Session, tools: Sequence[str]) -> str:
    """How to use memory with the tools of these names."""
    return prompt_context.guidance(session.profile.parts_for(session.kind), listed(tools))


def listed(tools: Sequence[str]) -> str:
    """Tools as a prompt names them. What each is for stands in its definition, which a model is given anyway."""
    return ", ".join(f"`{name}`" for name in tools)


def before_turn(
    session: Session, message: str, again: bool = False, is_heard: Callable[[], bool] = lambda: True
) -> str:
    """What memory holds that bears on `message`, as a `<recall>` block; "" for silence.

    What hosts, tools and memories put around a message, as in `<system-reminder>`, is not asked about.
    Silent about what the prompt says anyway, what was said in this session before, and what does not
    have enough in common with the message. With `again`, not about what was said before: for hosts that keep
    nothing of it in view. `is_heard` is asked last: where nobody hears it any more, nothing is said, nor counts
    as said. Silent while memory is paused. Changes no memory, and is never called by crabmem itself: the host decides.
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
    """What `before_turn` says, and of which facts, without anything counting as said."""
    rules, seen, message = session.settings, _text_in_view(session), own_words(message)
    speaker = session.speaker
    engine, told = session.engine, (rules.auto_recall, rules.language, seen, again)
    return session.look(
        lambda now: speaker.injection(message, now.source, *told, engine.today, now.likest, engine.sources_of)
    )


def confidence(session: Session, message: str) -> float:
    """How much of what `message` says the fact has that bears most on it: what `auto_recall.threshold` bounds."""
    rules = session.settings
    return session.look(lambda now: best_confidence(message, now.entries, rules.auto_recall, rules.language))


def may_flush(session: Session) -> bool:
    """Whether this session is to store what a full window would lose: its kind is, the disk lets it, no pause is."""
    folder = next(folder for folder in (session.root, *session.root.parents) if os.path.exists(folder))
    is_seen = session.view.allows(session.layout.note_path(session.engine.today()))
    may_write = is_seen and os.access(folder, os.W_OK)
    return session.profile.flushes(session.kind) and may_write and session.engine.pause() is None


def due(session: Session, tokens: int | None, window: int, *, cycle: int = 0, flushed: int | None = None) -> Due:
    """What is due in this session, with so many tokens (None: nobody knows) in a window of so many, and its words.

    `cycle` is how often the conversation was shortened, `flushed` in which cycle it was last asked to store: the
    host keeps that number. The date is that of this machine, as for `write_note`.
    """
    today = session.engine.today()
    note = session.layout.note_path(today)
    return compaction.due(session.profile.window, tokens, window, cycle, flushed, may_flush(session), note, today)


def pieces(session: Session, at: str | None = None) -> list[Piece]:
    """What the parts of the profile are here, for a session of this kind, now or at a revision or time.

    Words are as they are written: what stands in them for something is still there.
    """
    parts = session.profile.parts_for(session.kind)
    return [piece for part in parts if _is_given(session, part.given, at) for piece in _pieces(session, part, at)]


def _text_in_view(session: Session) -> str:
    """The text that the model reads before the conversation."""
    text = assemble(session.profile, session.kind, pieces(session), {}, ()).text
    return f"{text}\n{salient_text(session)}"


def _is_given(session: Session, file: str, at: str | None) -> bool:
    """Whether there is a file, with something in it, that a part is only for."""
    return not file or bool((_file_text(session, "nearest", file, at) or "").strip())


def _pieces(session: Session, part: Part, at: str | None) -> list[Piece]:
    """The pieces of a part here; one for each of the days whose notes it is."""
    if part.notes:
        days = (session.engine.today() - timedelta(days=ago) for ago in range(part.notes))
        return [_piece(session, part, "own", session.layout.note_path(day), at) for day in days]
    if not part.file:
        return [Piece(part, "", fixed_text(part))]
    own = _piece(session, part, part.of, part.file, at)
    return [own, *_overviews_beside(session, part, at)] if own.path == session.layout.overview else [own]


def _overviews_beside(session: Session, part: Part, at: str | None) -> Iterator[Piece]:
    """The overviews of the other memories that the session sees, those that say something."""
    seen = others(session)
    moment = session.timeline.moment(at) if seen and at is not None else None
    for scope, other in seen.items():
        path = other.layout.overview
        with suppress(NotFound):
            if data := other.read(path, moment):
                place = address(scope, path)
                yield Piece(part, place, f"(from {place})\n\n{decode(path, data)}")


def _piece(session: Session, part: Part, of: str, file: str, at: str | None) -> Piece:
    """A part that is a file."""
    path = session.layout.named(file)
    if not session.view.allows(path):
        return Piece(part, path, None, is_hidden=True)
    text = _file_text(session, of, file, at)
    return Piece(part, path, template(part.default) if text is None and part.default else text)


def _file_text(session: Session, of: str, file: str, at: str | None) -> str | None:
    """The text of an agent's own file or of its parent's; None where there is none, or it is not to be seen."""
    path_in: Callable[[Layout], str] = methodcaller("named", file)
    path = path_in(session.layout)
    is_own = of != "parent" or session.engine.parent() is None
    data = session.read(path, at) if is_own else session.read_of_parent(path_in, at)
    if data is None and of == "nearest":
        data = session.read_of_parent(path_in, at)
    return None if data is None else decode(path, data)


def _generated_texts(session: Session, as_of: str | None) -> dict[Generated, str]:
    """What the parts of the profile say that are in no file; what matters now did not at another time."""
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
