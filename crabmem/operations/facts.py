"""Facts: saved, found by name, listed, renamed and forgotten."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import islice

from ..errors import CrabmemError, InvalidArguments, NotFound
from ..git.commits import one_line
from ..recall.catalog import Progress
from ..recall.names import note_of
from ..results import Changed, Forgotten, Saved
from ..session import rules
from ..session.init import init
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.entry import Entry, Fact, checked, checked_or_why, entry_in, render_entry
from ..text.words import counted
from ..write.writer import Draft
from .changes import saved, write_file
from .last_changed import changed_within
from .plan import Plan
from .uses import forget_gone

# So many facts are saved between two calls of `progress`.
_PROGRESS_EVERY = 50


def remember(
    session: Session,
    name: str,
    description: str,
    content: str,
    *,
    aliases: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    if_version: str | None = None,
) -> Saved:
    """Save a fact under its name, replacing the entry of that name.

    `aliases` and `tags` of None leave those there are. With `if_version` the entry must still
    be that version.

    Raises:
        InvalidArguments: something given cannot be kept.
        Stale: the entry is not at `if_version` any more.
        HoldsSecret: there is a credential in it, and the settings refuse that.
    """
    fact = checked(Fact(name, description, content, labels_of(aliases), labels_of(tags)))
    screen = rules.screen(session, fact.words)

    def decide(now: Snapshot) -> Draft[str]:
        plan = Plan(now, screen)
        path = plan.add(fact)
        if now.view.allows(path):  # else the write is refused, and says no more
            session.timeline.check_version(path, now.scan.files.get(path), if_version, now.view.allows)
        return Draft(plan.files, rules.note(session, "remember", plan.name_at(path)), path)

    done = session.write(decide)
    return saved(session, done, done.result)


def remember_all(
    session: Session,
    facts: Iterable[Fact],
    source: str,
    dry_run: bool = False,
    replace: bool = True,
    progress: Progress | None = None,
) -> list[Saved | CrabmemError]:
    """Save many facts in one commit, `import: N facts from <source>`; what became of each, in their order.

    A fact that cannot be kept stands in the answer as the error that says why, and stops no other. Without
    `replace`, entries that say something else stay, and are an `AlreadyThere`. With `dry_run` nothing is written,
    and the answer is what it would be, without a commit. `progress` is called with how much of all of it is done.
    """
    given = [checked_or_why(fact) for fact in facts]
    screen = rules.screen(session, *(fact.words for fact in given if isinstance(fact, Fact)))
    text_of = cache(render_entry)  # others wait while it is asked for the second time
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


def forget(session: Session, name: str) -> Forgotten:
    """Remove the entry called `name` from memory; history keeps it, and `purge` erases it from there too.

    Raises:
        NotFound: there is none.
        Unreadable: there is none, and a file that may be it cannot be read.
    """

    def decide(now: Snapshot) -> Draft[str]:
        entry = now.get(name)
        return Draft({entry.path: None}, rules.note(session, "forget", entry.name), entry.path)

    done = session.write(decide)
    forget_gone(session)
    path = done.result
    entry = entry_in(path, done.before[path] or b"")
    return Forgotten(entry.name if entry else name, path, done.commit)


def rewrite_entry(session: Session, name: str, text: str, if_version: str | None = None) -> Changed:
    """Replace the whole file of the entry called `name`, frontmatter and all: `edit: NAME`.

    Raises:
        NotFound: there is no such entry.
        Stale: the entry is not at `if_version` any more.
        HoldsSecret: there is a credential in it, and the settings refuse that.
    """
    entry = get(session, name)
    return write_file(session, entry.path, text, "edit", if_version, called=entry.name)


def get(session: Session, name: str, at: str | None = None) -> Entry:
    """The entry called `name`, now or as it was at a revision or time; else the daily note of that day, whole.

    Raises:
        NotFound: there is none.
        Unreadable: there is none, and a file that may be it cannot be read.
    """

    def read(now: Snapshot) -> Entry:
        try:
            return now.get(name)
        except NotFound:
            if note := note_of(now.entries, name):
                return note
            raise

    return session.look(read, at)


def entries(session: Session, at: str | None = None, *, since: str | None = None) -> list[Entry]:
    """All entries in the order of their paths, now or as they were at a revision or time.

    With `since`, only those last changed after that revision or time.
    """
    return entries_and_unreadable(session, at, since=since)[0]


def entries_and_unreadable(
    session: Session, at: str | None = None, *, since: str | None = None
) -> tuple[list[Entry], int]:
    """What `entries` returns, and how many files could not be read as one."""

    def read(now: Snapshot) -> tuple[list[Entry], int]:
        fits = changed_within(session, now, since, None)
        found = [now.entries.at(path) for path in now.entries.paths if fits is None or fits(path)]
        return found, len(now.entries.unreadable)

    return session.look(read, at)


def page(session: Session, after: str, limit: int) -> list[Entry]:
    """The first `limit` entries whose paths come after `after`, in the order of their paths; no other is read."""

    def read(now: Snapshot) -> list[Entry]:
        return [now.entries.at(path) for path in islice((path for path in now.entries.paths if path > after), limit)]

    return session.look(read)


def labels_of(labels: Sequence[str] | None) -> tuple[str, ...] | None:
    """Aliases or tags as they were given; None for none given.

    Raises:
        InvalidArguments: they are one text.
    """
    if isinstance(labels, str):
        raise InvalidArguments(f"aliases and tags are lists of texts: give [{labels!r}]")
    return None if labels is None else tuple(labels)


def _reporter(progress: Progress | None, size: int, stages: int, stage: int) -> Callable[[int], None]:
    """Calls `progress` with how much of a stage is done, of so many that each have the same size."""

    def report(done: int) -> None:
        if progress and (done % _PROGRESS_EVERY == 0 or done == size):
            progress(stage * size + done, stages * size)

    return report
