"""Recall: the entries that answer a question, now and at any moment, and how well."""

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from ..disk.scan import Scan
from ..recall.ranking import check_question, path_filter
from ..results import Evaluation, Recall
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.entry import Entry
from ..text.evaluation import Expectation
from .facts import labels_of
from .provenance import changed_within, with_provenance

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

    With `as_of`, from the memory as it was at that revision or time, with the settings of then: what a workspace
    would find that holds those files. Meaning counts for it while the settings still name who was asked then.

    Raises:
        InvalidArguments: a blank or endless query, too many tags, or a limit or budget out of its bounds.
        NotFound: there is no such revision or time.
    """
    check_question(query, limit, tags, budget)
    labels = labels_of(tags) or ()
    engine = session.engine

    def read(now: Snapshot) -> Recall:
        fits = path_filter(now.entries, changed_within(session, now, since, until), tuple(namespace), where)
        found = now.recall(query, limit, labels, budget, explain, fits)
        found = replace(found, as_of=now.commit, notes=0 if namespace or where else found.notes)
        if blame:
            found = with_origins(session, found, None if now.is_past else now.scan)
        if not now.is_past:
            nested = [item for item in now.listing.unreadable if item.is_repository]
            return _troubled(found, *(f"{item.path}: {item.reason}" for item in nested))
        is_mute = now.ranker is None and engine.meaning.is_wanted(now.settings.vectors)
        return _troubled(found, _ASKS_OTHERS if is_mute and not found.trouble else "")

    found = session.look(read, as_of)
    engine.catalog.save()
    engine.meaning.save()
    # Asked at each recall only where it was so before.
    return _troubled(found, engine.find_denied()) if engine.denied else found


def _troubled(found: Recall, *troubles: str) -> Recall:
    """`found`, with what troubled it besides."""
    return replace(found, trouble="; ".join(filter(None, (found.trouble, *troubles)))) if any(troubles) else found


def with_origins(session: Session, found: Recall, scan: Scan | None) -> Recall:
    """`found`, each hit with where it comes from, as far as this session may know."""
    hits = with_provenance(found.hits, session.engine.history, scan, found.as_of)
    view = session.view
    return replace(found, hits=tuple(replace(hit, provenance=view.of_provenance(hit.provenance)) for hit in hits))


def evaluate(
    session: Session,
    questions: Iterable[Expectation],
    limit: int = 10,
    since: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """How well recall answers `questions`, with `limit` hits each; those for other workspaces are passed over.

    With `since`, also how well it would have in the memory as it was at that revision or time, with the settings
    of then. `progress` is called with how many questions of how many were asked.

    Raises:
        NotFound: what must be found is no entry, now or then; or there is no such revision.
        InvalidArguments: a question cannot be asked, or none is for this workspace.
    """
    from .evaluate import evaluated

    session.view.check_whole()
    asked = list(questions)
    past = None if since is None else session.look(lambda then: then, since)
    return session.look(lambda now: evaluated(asked, session.root.name, limit, now, past, progress))
