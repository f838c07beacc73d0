"""Facts: saved, found by name, listed, renamed and forgotten."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from functools import cache, partial

from ..errors import CrabmemError, InvalidArguments
from ..git.commits import one_line
from ..recall.catalog import Progress
from ..recall.entries import Entries
from ..results import Changed, Forgotten, Saved
from ..session import rules
from ..session.init import init
from ..session.scopes import addressed, check_name, scope, scope_of
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.entry import Entry, Fact, HeaderValue, checked, checked_or_why, entry_in, render_entry
from ..text.staleness import STALE_AFTER, checked_day
from ..text.words import counted
from ..write.draft import Draft
from .changes import saved, write_file
from .plan import Plan
from .reading import entries as entries
from .reading import entries_and_unreadable as entries_and_unreadable
from .reading import get as get
from .reading import labels_of as labels_of
from .reading import page as page
from .uses import forget_gone

# Facts between two calls of `progress`.
_PROGRESS_EVERY = 50
# Days that a fact is confirmed for where nothing says how many.
_DAYS = 90


def remember(
    session: Session,
    name: str,
    description: str,
    content: str,
    *,
    aliases: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    stale_after: str | None = None,
    sources: Sequence[str] | None = None,
    if_version: str | None = None,
    to: str | None = None,
) -> Saved:
    """Save a fact under its name, replacing the entry of that name.

    `aliases`, `tags`, `stale_after` and `sources` of None leave what there is. `stale_after` is the last day on which
    the fact surely holds, as 2026-12-31; "" removes it. `sources` are files of the project that the session works in,
    or lines such as src/a.py:40: what stands there is noted, and compared when the fact is told. With `if_version` the
    entry must still be that version; "" is for a name that no entry has. `to` names another memory that the session
    sees. Of a new fact, `like` of the answer is the one that says nearly the same, where one surely does.

    Raises:
        InvalidArguments: something given cannot be kept; the name is an address, as `me:Editor`.
        Stale: the entry is not at `if_version` any more.
        HoldsSecret: there is a credential in it, and the settings refuse that.
        NotFound: no memory called `to` is seen.
    """
    if ":" in name:
        check_name(session, name, 'give {rest} as the name, and to="{whose}"')
    session = scope(session, to)
    keys: dict[str, HeaderValue | None] = {} if stale_after is None else {STALE_AFTER: checked_day(stale_after)}
    keys |= {} if sources is None else session.engine.sources.noted(sources)
    fact = checked(Fact(name, description, content, labels_of(aliases), labels_of(tags), keys))
    screen = rules.screen(session, fact.words)

    def decide(now: Snapshot) -> Draft[tuple[str, Entries | None]]:
        plan = Plan(now, screen)
        path = plan.add(fact)
        if now.view.allows(path):  # else the write is refused, and says no more
            session.timeline.check_version(path, now.scan.files.get(path), if_version, now.view.allows)
        among = None if path in now.scan.files else now.entries
        return Draft(plan.files, rules.note(session, "remember", plan.name_at(path)), (path, among))

    done = session.write(decide)
    return saved(session, done, *done.result)


def confirm(session: Session, name: str, until: str | None = None) -> Saved:
    """Set a later `stale_after` in the fact called `name`: `until`, else as far ahead of today as before.

    Without `until` the number of days is that by which the fact's day was ahead when it was written, or 90 where that
    is not known. An address as recall shows it, `me:Editor`, is of another memory.

    Raises:
        NotFound: there is no such fact.
        InvalidArguments: `until` is not a date after today.
    """
    session, name = addressed(session, name)
    today = session.engine.today()
    day = checked_day(until) if until is not None else None
    if until is not None and (day or "") <= today.isoformat():
        raise InvalidArguments("until must be a day to come, such as 2026-12-31")

    def decide(now: Snapshot) -> Draft[str]:
        entry = now.get(name)
        later = day or (today + timedelta(_days_it_had(session, now, entry) or _DAYS)).isoformat()
        plan = Plan(now, rules.screen(session))
        path = plan.add(Fact(entry.path, entry.description, entry.content, keys={STALE_AFTER: later}))
        return Draft(plan.files, rules.note(session, "confirm", entry.name), path)

    done = session.write(decide)
    return saved(session, done, done.result)


def _days_it_had(session: Session, now: Snapshot, entry: Entry) -> int:
    """By how many days an entry's `stale_after` was ahead when that line was committed; 0 where that is not known."""
    text, history = now.read(entry.path) or b"", session.engine.history
    owners = history.owners(text, entry.path) if history.head_if_any() else ()
    for line, owner in zip(text.splitlines(), owners, strict=False):
        if line.startswith(f"{STALE_AFTER}:".encode()) and owner and entry.stale_after:
            return max(0, (date.fromisoformat(entry.stale_after) - owner.time.date()).days)
    return 0


def remember_all(
    session: Session,
    facts: Iterable[Fact],
    source: str,
    dry_run: bool = False,
    replace: bool = True,
    progress: Progress | None = None,
) -> list[Saved | CrabmemError]:
    """Save many facts in one commit, `import: N facts from <source>`; return what became of each, in their order.

    For a fact that cannot be kept the answer has the error that says why; the others are saved. Without `replace`,
    entries that say something else stay, and the answer has an `AlreadyThere`. With `dry_run` nothing is written, and
    the answer is what it would be, without a commit. `progress` is called with the steps done and their total.

    Raises:
        HoldsSecret: there is a credential in `source`, and the settings refuse that.
    """
    given = [checked_or_why(fact) for fact in facts]
    screen = rules.screen(session, *(fact.words for fact in given if isinstance(fact, Fact)))
    screen.refuse_new(source)
    text_of = cache(render_entry)  # `decide` runs twice, the second time under the lock, where other writers wait
    stage = partial(_reporter, progress, max(len(given), 1), 2 if dry_run else 4)

    def deciding(report: Callable[[int], None]) -> Callable[[Snapshot], Draft[list[str | CrabmemError]]]:
        def decide(now: Snapshot) -> Draft[list[str | CrabmemError]]:
            plan, places = Plan(now, screen, text_of), list[str | CrabmemError]()
            for fact in given:
                places.append(plan.tried(fact, replace) if isinstance(fact, Fact) else fact)
                report(len(places))
            words = f"{counted(len(plan.changed), 'fact')} from {one_line(source)}"
            return Draft(plan.files, rules.note(session, "import", words), places)

        return decide

    if dry_run:
        done = session.write(deciding(stage(0)), dry_run=True)
    else:
        planned = session.write(deciding(stage(0)), dry_run=True)
        init(session)
        after, before = planned.after, planned.before
        new = dict.fromkeys(data for path, data in after.items() if data is not None and before[path] != data)
        with session.engine.writer.ahead(new, stage(1)):
            done = session.write(deciding(stage(2)))
    found, report = list[Saved | CrabmemError](), stage(1 if dry_run else 3)
    for place in done.result:
        found.append(place if isinstance(place, CrabmemError) else saved(session, done, place))
        report(len(found))
    return found


def forget(session: Session, name: str, *, if_version: str | None = None) -> Forgotten:
    """Remove the entry called `name` from memory; history keeps it, and `purge` erases it from there too.

    An address as recall shows it, `me:Editor`, is of another memory that the session sees. With `if_version` the entry
    must still be that version. The counts of its uses are removed, too.

    Raises:
        NotFound: there is no such entry.
        Stale: the entry is not at `if_version` any more.
        Unreadable: no entry has that name, and a file that may be the entry cannot be read.
    """
    given = session
    session, name = addressed(session, name)
    whose = scope_of(given, session)

    def decide(now: Snapshot) -> Draft[str]:
        entry = now.get(name)
        session.timeline.check_version(entry.path, now.scan.files.get(entry.path), if_version, now.view.allows)
        return Draft({entry.path: None}, rules.note(session, "forget", entry.name), entry.path)

    done = session.write(decide)
    forget_gone(session)
    path = done.result
    entry = entry_in(path, done.before[path] or b"")
    return Forgotten(entry.name if entry else name, path, done.commit, done.waits.get(path), whose)


def rewrite_entry(session: Session, name: str, text: str, if_version: str | None = None) -> Changed:
    """Replace the whole file of the entry called `name`, frontmatter and all: `edit: NAME`.

    Raises:
        NotFound: there is no such entry.
        Stale: the entry is not at `if_version` any more.
        HoldsSecret: there is a credential in it, and the settings refuse that.
    """
    entry = get(session, name)
    return write_file(session, entry.path, text, "edit", if_version, called=entry.name)


def _reporter(progress: Progress | None, size: int, stages: int, stage: int) -> Callable[[int], None]:
    """Return a function that reports how much of `stage` is done: `progress` counts all `stages`, each of `size`."""

    def report(done: int) -> None:
        if progress and (done % _PROGRESS_EVERY == 0 or done == size):
            progress(stage * size + done, stages * size)

    return report
