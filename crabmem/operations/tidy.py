"""Facts and notes that need tidying, and the prompt that asks a model to do it. Writes nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from shlex import quote

from ..recall.duplicates import near_duplicate
from ..results import SourceState, Untidy, lost_of, told_sources
from ..session.session import Session
from ..session.snapshot import Snapshot
from ..text.commands import command
from ..text.daily_notes import day_in
from ..text.entry import Entry
from ..text.quoting import block, one_line
from ..text.slug import name_key
from ..text.templates import template
from ..text.words import counted, listed, shortened
from .facts import get
from .history import commits
from .last_changed import changed_on_disk

#: The prefix of the names of sessions in which a model tidies, and the tools that it has in them.
SESSION, TOOLS = "tidy-", ("remember", "forget", "recall", "get", "list", "confirm")
#: The kinds of findings in the order they are shown: what each is called, the verb that mends it, and its options.
KINDS = {
    "stale": ("stale", "confirm", ""),
    "alike": ("nearly the same", "forget", ""),
    "clash": ("called the same", "edit", ""),
    "undescribed": ("without a description", "remember", "-d WHAT"),
    "source": ("code changed since", "remember", ""),
    "unused": ("not told for long", "confirm", ""),
    "note": ("daily notes", "show", ""),
}
#: Days after which a fact counts as unused.
UNUSED = 90
# Days back for which daily notes are listed, and newest commits that are searched for the last tidying.
_NOTES, _COMMITS = 30, 1_000
_FACTS, _WIDTH, _NAMED = 400, 160, 3


def tidy(session: Session, days: int = UNUSED) -> list[Untidy]:
    """Return all that needs a look, kind by kind; see `KINDS`.

    These are facts that are stale, say nearly the same, share a name, have no description, rest on code that changed,
    or were not used for `days` days; and the daily notes since a tidying was last committed. Items of stores of keys
    are left out.
    """

    def read(now: Snapshot) -> list[Untidy]:
        entries = [entry for entry in map(now.entries.at, now.entries.paths) if "namespace" not in entry.keys]
        today, clashes = session.engine.today().isoformat(), list(_clashes(entries))
        stale = [
            _of("stale", each, about=f"since {each.stale_after}") for each in entries if "" < each.stale_after < today
        ]
        bare = [each for each in entries if not each.description.strip() and not each.content.startswith(each.name)]
        found = [*stale, *_alike(session, now, entries, {frozenset(each.paths) for each in clashes}), *clashes]
        found += [_of("undescribed", each) for each in bare]
        rest = ((each, session.engine.sources_of(each)) for each in entries)
        lost = ((each, told_sources(lost_of(sources)), sources) for each, sources in rest)
        found += [_of("source", each, about=told, options=_resting_on(sources)) for each, told, sources in lost if told]
        since = session.engine.clock() - timedelta(days)
        return [*found, *_unused(session, now, entries, since), *_notes(session, now)]

    return session.look(read)


def _of(kind: str, *entries: Entry, mend: str = "", about: str = "", options: str = "") -> Untidy:
    """A finding about `entries`; its command names `mend`, else the first of them."""
    _, verb, usual = KINDS[kind]
    way = command(verb, mend or entries[0].name, options or usual)
    return Untidy(kind, tuple(each.name for each in entries), tuple(each.path for each in entries), about, way)


def _resting_on(sources: Iterable[SourceState]) -> str:
    """The `--source` options that note the sources anew where they are now, without sources that are gone.

    If all are gone, `--source ""`, which removes them.
    """
    there = [each.now or each.source for each in sources if each.state != "gone"]
    return " ".join(f"--source {quote(place)}" for place in there or [""])


def _alike(session: Session, now: Snapshot, entries: Sequence[Entry], known: set[frozenset[str]]) -> Iterator[Untidy]:
    """Pairs of facts that say nearly the same, each pair of paths once; not those in `known`, which is added to."""
    for entry in entries:
        other = near_duplicate(entry, now.entries, session.settings.language)
        if other and (pair := frozenset((entry.path, other.path))) not in known:
            known.add(pair)
            less, more = sorted((entry, other), key=lambda each: len(each.content))
            is_clear = name_key(less.name) != name_key(more.name)
            yield _of("alike", less, more, mend=less.name if is_clear else less.path)


def _clashes(entries: Sequence[Entry]) -> Iterator[Untidy]:
    """Groups of facts that share a name or an alias, each group once."""
    called = defaultdict[str, dict[str, Entry]](dict)
    for entry in entries:
        for name in (entry.name, *entry.aliases):
            called[name_key(name)][entry.path] = entry
    for paths, same in {tuple(same): same for same in called.values() if len(same) > 1}.items():
        yield _of("clash", *same.values(), mend=paths[-1])


def _unused(session: Session, now: Snapshot, entries: Sequence[Entry], since: datetime) -> Iterator[Untidy]:
    """Facts older than `since` that were neither told before a turn nor asked for by name since then.

    None if the record of turns does not reach back so far: nobody can tell then.
    """
    turns, used = session.engine.turns.all(), session.engine.uses.known()
    told = {version for turn in turns if turn.when >= since for version in turn.versions}
    for entry in entries if turns and turns[0].when < since else ():
        use = used(entry.path)
        is_told = entry.version in told or (use is not None and use.last >= since)
        if not is_told and changed_on_disk(session, now, entry.path) < since:
            yield _of("unused", entry)


def _notes(session: Session, now: Snapshot) -> Iterator[Untidy]:
    """The daily notes since the last commit of a tidying session, at most of the last 30 days."""
    since = session.engine.clock() - timedelta(_NOTES)
    ours = (each.time for each in islice(commits(session), _COMMITS) if (each.session or "").startswith(SESSION))
    first = max(since, next(ours, since)).date().isoformat()
    for path in sorted(path for path in now.files if session.layout.is_note(path) and day_in(path) >= first):
        yield Untidy("note", (day_in(path),), (path,), "", f"crabmem show {day_in(path)}")


def prompt(session: Session, found: Sequence[Untidy], entry: str = "", is_alone: bool = False) -> str:
    """The prompt that asks a model to tidy. It lists the facts there are, first those that were `found`, and why.

    With `entry`, the model is to look above all at what has to do with that fact. With `is_alone` no person answers the
    model, and all that it writes is a proposal.

    Raises:
        NotFound: there is no fact called `entry`.
    """
    why = defaultdict[str, str](str)
    for each in found:
        for path in each.paths:
            others = [
                other if each.names.count(name) > 1 else name  # a name that several have says nothing
                for name, other in zip(each.names, each.paths, strict=True)
                if other != path
            ]
            why[path] += f" [{KINDS[each.kind][0]} {each.about or listed(others, _NAMED)}".rstrip() + "]"
    entries = session.look(lambda now: [now.entries.at(path) for path in now.entries.paths])
    entries.sort(key=lambda each: each.path not in why)
    called = Counter(name_key(each.name) for each in entries)
    lines = [
        f"- {shortened(f'{_told_name(it, called)}{why[it.path]}: {it.description or it.content}', _WIDTH)}"
        for it in entries
    ]
    more = f"({counted(len(lines) - _FACTS, 'more fact')})"
    facts = "\n".join([*map(one_line, lines[:_FACTS]), *([more] if len(lines) > _FACTS else [])])
    about = f", above all what has to do with {get(session, entry).name}" if entry else ""
    return words(about, block("memory", facts or "none yet"), is_alone)


def _told_name(entry: Entry, called: Counter[str]) -> str:
    """The name of an entry, followed by its path if another entry has the same name: tools find it by that."""
    return entry.name if called[name_key(entry.name)] == 1 else f"{entry.name} ({entry.path})"


def words(about: str, facts: str, is_alone: bool = False) -> str:
    """The text that asks a model to tidy: the template with `about`, which may be "", and the list of `facts` in it."""
    consent = template("tidying" if is_alone else "tidying-asked").strip()
    return template("tidy").replace("{about}", about).replace("{consent}", consent).replace("{facts}", facts)
