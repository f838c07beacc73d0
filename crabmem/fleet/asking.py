"""A question to every memory that one may see: its words in each of their languages, and the answer as `Recall`."""

import atexit
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..disk.background import in_time
from ..disk.fork_lock import Guard
from ..errors import NotFound, Unreachable
from ..prompt.profile import Kind
from ..recall.ranking import check_question, fit_to_budget, note_passage, text_of, with_staleness
from ..results import Hit, Indexed, Recall
from ..search import rules
from ..search.query import parse_query, terms_of
from ..session.session import Session
from ..text.entry import Entry, parse_entry, parse_note
from ..text.hashes import VERSION_DIGITS
from ..text.words import counted, listed
from .postgres import PATIENCE, Postgres
from .protocol import Asked, Followed, Found
from .rights import matching

#: The variable that names the database; no folder can.
VARIABLE = "CRABMEM_FLEET"
# Seconds after which an answer says that a memory is behind.
_MAX_BEHIND = 300.0
_MAX_NAMED = 3
_ALL = "*"


def address_in(environment: Mapping[str, str]) -> str:
    """The address of the database that the person named.

    Raises:
        NotFound: they named none.
    """
    if url := environment.get(VARIABLE):
        return url
    raise NotFound(f"no database is named: set {VARIABLE}, as postgresql://ann@fleet-db/crabmem")


def recall_everywhere(
    session: Session, query: str, limit: int | None = None, within: str = _ALL, budget: int | None = None
) -> Recall:
    """The facts that answer `query` best, from all memories that the database lets this person see.

    `within` is a pattern for the names of memories, in which `*` stands for any characters. Facts are ranked by words
    alone; `deploy*` and quoted phrases are plain words here. `Hit.scope` is the name of a hit's memory, `Hit.indexed`
    says how current the index is. `budget` bounds the characters of the answer.

    Raises:
        NotFound: no database is named, or no memory that may be asked has such a name.
        Unreachable: the database is silent.
        Disabled: sessions of this kind may not ask.
    """
    check_question(query, limit, (), budget)
    url, rule = address_in(session.engine.environment), session.settings
    try:
        found, followed, words = in_time(
            lambda: _answered(url, session.kind, query, within, limit or rule.recall_limit),
            time.monotonic() + PATIENCE,
        )
    except TimeoutError:
        raise Unreachable(f"the database said nothing for {PATIENCE} s") from None
    hits = with_staleness([_hit(each, words, rule.language) for each in found], session.engine.today)
    kept = tuple(hits)
    if budget is not None:
        kept = fit_to_budget(hits, budget, dict.fromkeys(words, 1.0), rule.language, text_of)
    left_out = tuple(hit.entry.name for hit in hits[len(kept) :])
    facts = sum(each.facts for each in followed)
    return Recall(query, kept, facts, 0, bool(words), left_out=left_out, trouble=lag(followed))


def _answered(
    url: str, kind: Kind, query: str, within: str, limit: int
) -> tuple[list[Found], list[Followed], Sequence[str]]:
    """Ask the index. Return the facts found, the memories that were asked, and the words of the question.

    The words are made by the rules of each memory's language. Rights are checked here once more after the server.
    """
    with _connected(url) as index:
        followed = index.followed(kind)
        if within != _ALL:
            names = set(matching((each.name for each in followed), within))
            followed = [each for each in followed if each.name in names]
        if not followed:
            called = "" if within == _ALL else f"called like {within} "
            raise NotFound(f"no memory {called}may be asked: its owner lets a role by `crabmem fleet grant`")
        scope = [each.id for each in followed] if within != _ALL else None
        asked = [asked_of(query, language) for language in sorted({each.language for each in followed})]
        found = index.search(asked, scope, kind, limit)
    seen = {each.id: each.kind for each in followed}
    found = [each for each in found if each.kinds & seen.get(each.space, 0)]  # once more what the server has checked
    return found, followed, [word for each in asked for group in each.terms for word in group]


class _Anything:
    """Stands in for a local index when a question is parsed: assumes that every word is held, knows no prefixes."""

    def is_held(self, word: str) -> bool:
        return True

    def starting(self, prefix: str) -> list[str]:
        return []


def asked_of(query: str, language: str) -> Asked:
    """The terms of a question in memories of one language, as the index takes them."""
    question = parse_query(query)
    terms = terms_of(question, _Anything(), language)
    return Asked([term if isinstance(term, tuple) else (term,) for term in terms], rules(language))


def _hit(found: Found, words: Sequence[str], language: str) -> Hit:
    version, data = found.blob[:VERSION_DIGITS], found.said.encode()
    entry: Entry = parse_note(found.path, data) if found.is_note else parse_entry(found.path, data, version)
    indexed = Indexed(found.commit, found.since, found.behind)
    passage = note_passage(entry, dict.fromkeys(words, 1.0), language) if found.is_note else None
    return Hit(entry, found.score, passage, scope=found.name, indexed=indexed)


def lag(followed: Sequence[Followed]) -> str:
    """The message about memories whose index may be out of date, "" for none.

    Those are memories with a reported push, with a failed last look, or not confirmed for `_MAX_BEHIND` seconds.
    """
    late = [
        each.name
        for each in followed
        if each.pushed or each.is_failing or each.behind is None or each.behind > _MAX_BEHIND
    ]
    if not late:
        return ""
    return f"{len(late)} of {counted(len(followed), 'memory')} not known to be up to date: {listed(late, _MAX_NAMED)}"


@contextmanager
def _connected(url: str) -> Iterator[Postgres]:
    """Yield a connection from a small pool; it goes back into the pool unless the block raises.

    The pool is kept by process id, as a forked child must not use its parent's connections.

    Raises:
        Unreachable: all connections stayed in use for `PATIENCE` seconds.
    """
    with _guard:
        if os.getpid() not in _free:
            _free[os.getpid()] = threading.BoundedSemaphore(_MAX_CONNECTIONS)
        free = _free[os.getpid()]
    if not free.acquire(timeout=PATIENCE):
        raise Unreachable("too many questions at once: the database was not asked")
    try:
        with _guard:
            kept = _idle.setdefault((os.getpid(), url), [])
            index = kept.pop() if kept else None
        if index is None or not index.is_alive():
            index = Postgres(url, patience=PATIENCE)
        try:
            yield index
        except BaseException:
            index.close()
            raise
        with _guard:
            kept.append(index)
    finally:
        free.release()


# The pool: by process, as a forked child must not use its parent's connections.
_MAX_CONNECTIONS = 4
_guard = Guard()
_free: dict[int, threading.BoundedSemaphore] = {}
_idle: dict[tuple[int, str], list[Postgres]] = {}


@atexit.register
def _close() -> None:
    for (process, _), kept in _idle.items():
        for index in kept if process == os.getpid() else ():
            index.close()
