"""Recall: the entries that answer a question, now and at any moment."""

from collections.abc import Callable, Sequence
from itertools import accumulate

from ..errors import Inapplicable, InvalidArguments, Unreachable
from ..recall.ranking import check_question, passage_text, path_filter
from ..results import FileHit, Recall
from ..session.session import Session
from ..session.snapshot import Snapshot, with_troubles
from ..text.commands import program_at
from ..text.entry import Entry
from ..text.quoting import BETWEEN
from ..text.values import replace
from ..workspace.layout import SETTINGS, is_elsewhere
from .last_changed import changed_within, changed_within_each
from .reading import labels_of

_EXAMPLE = '`transcripts = ["~/.claude/projects", "~/.codex/sessions"]`'
_ASKS_OTHERS = "by words alone: the settings name another model than then"


def recall(
    session: Session,
    query: str,
    limit: int | None = None,
    tags: Sequence[str] = (),
    *,
    since: str | None = None,
    until: str | None = None,
    budget: int | None = None,
    explain: bool = False,
    blame: bool = False,
    as_of: str | None = None,
    namespace: Sequence[str] = (),
    where: Callable[[Entry], bool] | None = None,
    sessions: bool = False,
    everywhere: bool = False,
    within: str = "",
) -> Recall:
    """Return the entries that answer `query` best and have all `tags`, at most `limit` (None: the setting).

    In the query `deploy*` stands for all words that begin so, and `"deploy key"` must be found word by word. Only
    entries last changed after the revision or time `since`, and not after `until`, are returned. `namespace` and
    `where` are for stores of keys and values: only entries in or below that namespace, and accepted by `where`.

    `budget` is the most characters of text: of a long fact only the passage that matched is returned, and the last hits
    are left out rather than cut to nothing; the first one always has its name and description. With `explain`, hits
    say what their scores are made of; with `blame`, who wrote them when.

    Where the profile recalls daily notes, these are found, too, with the passage that matched in `Hit.passage`; not
    with `tags`, `namespace` or `where`. Where the session sees other memories, their entries are found, too, ranked by
    words, and `Hit.scope` names the memory; not with `namespace` or `where`.

    With `sessions`, passages of past sessions and of texts elsewhere are in `Recall.sessions`: from the folders that
    `transcripts` and `extra_paths` of the settings list and this user allowed. They are read as they are now, have no
    tags, and get half of a `budget` at most.

    With `everywhere`, the question goes to all memories that the database of $CRABMEM_FLEET lets this person see; with
    `within`, to those whose names match it, `*` standing for any characters. `Hit.scope` is the name of a memory,
    `Hit.indexed` what the index knows of it. They are ranked by words alone, `*` and quotes in the query have no
    meaning, and other arguments that narrow a question are refused. If the database is silent for two seconds, the
    answer is from the memory at hand, and `Recall.trouble` says so; with `within` that is an error.

    With `as_of`, the answer is from memory as it was at that revision or time, with its settings then: what a workspace
    with those files would find. Meaning counts only if the settings of today still name the same model.

    Raises:
        InvalidArguments: the query is blank or too long, there are too many tags, `limit` or `budget` is out of bounds,
            or `sessions` is given with tags, `since`, `until` or `as_of`; `everywhere` with what narrows a question.
        NotFound: there is no such revision or time.
        Unreachable: the database does not answer, and `within` is given.
    """
    check_question(query, limit, tags, budget)
    if everywhere or within:
        given = (tags, since, until, as_of, namespace, where, sessions, explain, blame)
        return _recall_everywhere(session, query, limit, within, budget, is_narrowed=any(given))
    beside = not namespace and where is None
    if sessions and (tags or since is not None or until is not None or as_of is not None):
        raise InvalidArguments(
            "sessions have neither tags nor a history: leave these out, and name the day in the question, "
            "as 2026-03-14 or last Tuesday"
        )
    labels = labels_of(tags) or () if tags else ()
    engine = session.engine

    def read(now: Snapshot) -> Recall:
        is_bounded = since is not None or until is not None
        within = changed_within_each if is_bounded and beside and now.others else changed_within
        changed = within(session, now, since, until)
        fits = path_filter(now.source if beside else now.entries, changed, tuple(namespace), where)
        said, why, used = _session_passages(session, now, query, limit, budget) if sessions else ((), "", 0)
        found = now.recall(query, limit, labels, budget and budget - used, explain, fits, everywhere=beside)
        found = replace(with_troubles(found, why), sessions=said)
        found = replace(found, as_of=now.commit, notes=0 if namespace or where else found.notes)
        if not found.searched:
            found = replace(found, has_overview=bool(now.shown(session.layout.overview).strip()))
        if blame:
            from .provenance import with_provenance  # late: few ask who wrote what they find

            found = with_provenance(session, now, found)
        if not now.is_past:
            if not found.hits:
                from .adoption import unrecorded_in  # late: most questions have an answer

                held = unrecorded_in(session, now.scan)
                found = replace(found, missing=held.missing if held else "")
            nested = [item for item in now.listing.unreadable if item.is_repository]
            return with_troubles(found, *(f"{item.path}: {item.reason}" for item in nested))
        is_mute = now.ranker is None and engine.is_meaning_wanted(now.settings)
        return with_troubles(found, _ASKS_OTHERS if is_mute and not found.trouble else "")

    if sessions:
        engine.searcher.begin()
    found = session.look(read, as_of)
    engine.keep()
    if sessions:
        engine.searcher.save()
        engine.meaning_of_sections.save()
    # Asked at each recall only where it was so before.
    return with_troubles(found, engine.find_denied()) if engine.denied else found


def _recall_everywhere(
    session: Session, query: str, limit: int | None, within: str, budget: int | None, is_narrowed: bool
) -> Recall:
    """`recall` with `everywhere` or `within`. `is_narrowed`: an argument was given that is refused with these.

    Raises:
        InvalidArguments: `is_narrowed`, or the libraries for the database are not installed.
        Unreachable: the database does not answer, and `within` is given.
    """
    if is_narrowed:
        raise InvalidArguments(
            "a question to every memory has words, a limit, a budget and names of memories, and nothing else"
        )
    try:
        from ..fleet.asking import recall_everywhere  # late: few have a database
    except ImportError:
        from ..text.extras import how_to_get

        raise Inapplicable(
            f"to ask every memory needs the libraries of the extra fleet: {how_to_get('fleet')}"
        ) from None
    try:
        return recall_everywhere(session, query, limit, within or "*", budget)
    except Unreachable as error:
        if within:  # these memories are wanted, and an answer from the one at hand would be none
            raise
        return with_troubles(recall(session, query, limit, budget=budget), f"only what is here was searched: {error}")


def agents_ask_everywhere(session: Session) -> bool:
    """Whether agents may ask every memory. Only the environment says so: settings may come with a stranger's folder."""
    return all(session.engine.environment.get(name) for name in ("CRABMEM_FLEET", "CRABMEM_FLEET_TOOL"))


def why_no_sessions(session: Session) -> str:
    """Why this session cannot search past sessions and texts elsewhere; "" if it can.

    Whether this user has allowed their folders is not looked at.
    """
    if not session.view.is_whole:
        return f"sessions of the kind {session.kind} see no others"
    rules = session.settings
    if rules.transcripts and not rules.extra_paths and not session.profile.search.transcripts:
        return f"the profile {session.engine.profile_name} searches no sessions"
    if rules.transcripts or rules.extra_paths:
        return ""
    file = session.root / SETTINGS
    way_out = f"`{program_at(str(session.root), session.engine.environment)} config allow`"
    return f"no past sessions: list their folders, as {_EXAMPLE}, in {file}, then {way_out}"


def _session_passages(
    session: Session, now: Snapshot, query: str, limit: int | None, budget: int | None
) -> tuple[tuple[FileHit, ...], str, int]:
    """Passages of sessions and of texts elsewhere, a remark for the answer ("" for none), and their characters.

    With a `budget` they get half of it at most.
    """
    from .files import search_in  # late: few ask for sessions

    if why := why_no_sessions(session):
        return (), why, 0
    own = session.actor.session

    def fits(path: str) -> bool:  # not the transcript of this session itself: it has the question
        return is_elsewhere(path) and not (own and path.removesuffix(".jsonl").endswith(own))

    found = search_in(session, now, query, limit, fits)
    ends = [*accumulate(len(passage_text(hit)) + len(BETWEEN) for hit in found)]
    kept = len(ends) if budget is None else sum(end <= budget // 2 for end in ends)
    lacks = "passages of sessions left out, as the budget holds no more" if kept < len(ends) else ""
    why = "; ".join(filter(None, (lacks if ends else "no match in past sessions", found.trouble)))
    return found.hits[:kept], why, sum(ends[kept - 1 : kept])
