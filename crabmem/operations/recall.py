"""Recall: the entries that answer a question, now and at any moment."""

from __future__ import annotations

from ..recall.ranking import check_question, path_filter
from ..text.values import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..results import Recall
    from ..session.session import Session
    from ..session.snapshot import Snapshot
    from ..text.entry import Entry

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
) -> Recall:
    """The entries that answer `query` best, at most `limit` (None: the setting), having all `tags`.

    Where the profile recalls daily notes they are found, too, and `Hit.passage` is what answers of one; not with
    `tags`, `namespace` or `where`.

    `deploy*` in it stands for all words that begin so, and `"deploy key"` has to stand there word by word.
    Only those last changed after the revision or time `since`, and not after `until`. With `budget`, so
    many characters of text at most: of long facts the passage that matched, and the last are left out
    rather than cut to nothing; name and description of the first are always there. Only those in `namespace`,
    or below it, and of which `where` says so: for stores of keys and values. With `explain`, hits say
    what their scores are made of, with `blame` who wrote them when.

    Where the session sees other memories, theirs are found, too, and `Hit.scope` says whose each is; not with
    `namespace` or `where`. They are ranked by words.

    With `as_of`, from the memory as it was at that revision or time, with the settings of then: what a workspace
    would find that holds those files. Meaning counts for it while the settings still name who was asked then.

    Raises:
        InvalidArguments: a blank or endless query, too many tags, or a limit or budget out of its bounds.
        NotFound: there is no such revision or time.
    """
    check_question(query, limit, tags, budget)
    everywhere = not namespace and where is None
    labels: tuple[str, ...] = ()
    if tags:
        from .facts import labels_of

        labels = labels_of(tags) or ()
    engine = session.engine

    def read(now: Snapshot) -> Recall:
        if since is not None or until is not None:
            from . import last_changed  # late, as what follows: few who recall ask for it

            within = last_changed.changed_within_each if everywhere and now.others else last_changed.changed_within
            changed = within(session, now, since, until)
        else:
            changed = None
        fits = path_filter(now.source if everywhere else now.entries, changed, tuple(namespace), where)
        found = now.recall(query, limit, labels, budget, explain, fits, everywhere=everywhere)
        found = replace(found, as_of=now.commit, notes=0 if namespace or where else found.notes)
        if not found.searched:
            found = replace(found, has_overview=bool(now.shown(session.layout.overview).strip()))
        if blame:
            from .provenance import with_provenance

            found = with_provenance(session, now, found)
        if not now.is_past:
            if not found.hits:
                from .adoption import unrecorded_in

                held = unrecorded_in(session, now.scan)
                found = replace(found, missing=held.missing if held else "")
            nested = [item for item in now.listing.unreadable if item.is_repository]
            return _troubled(found, *(f"{item.path}: {item.reason}" for item in nested))
        is_mute = now.ranker is None and engine.is_meaning_wanted(now.settings)
        return _troubled(found, _ASKS_OTHERS if is_mute and not found.trouble else "")

    found = session.look(read, as_of)
    engine.keep()
    # Asked at each recall only where it was so before.
    return _troubled(found, engine.find_denied()) if engine.denied else found


def _troubled(found: Recall, *troubles: str) -> Recall:
    """`found`, with what troubled it besides."""
    return replace(found, trouble="; ".join(filter(None, (found.trouble, *troubles)))) if any(troubles) else found
