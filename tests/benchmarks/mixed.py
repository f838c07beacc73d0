"""Sets of uneven lengths, made of sets that are there: long texts beside short ones in one store.

Most memories are like that: notes beside documents, questions of a line beside answers of a page.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle, groupby
from pathlib import Path

from .sets import DataSet, Query, Record, Store, loaded, names

# So many turns make a text of about 2,000 characters.
_STRETCH = 12
# So many sections make one of 8,000.
_PAGE = 5


def turns_beside_sessions(turns: DataSet, sessions: DataSet) -> tuple[Store, ...]:
    """Of each store every second session whole, the others as their turns: turn `d3-7` is one of session `s3`."""

    def mixed(short: Store, long: Store) -> Store:
        whole = {record.id: record for record in long.records[1::2]}
        turns = [record for record in short.records if _session(record.id) not in whole]

        def kept(turn: str) -> str:
            return session if (session := _session(turn)) in whole else turn

        return Store(short.name, (*turns, *whole.values()), _asked(short.queries, kept))

    return tuple(mixed(*both) for both in zip(turns.stores, sessions.stores, strict=True))


def turns_beside_stretches(turns: DataSet) -> tuple[Store, ...]:
    """Of each session twelve turns as they are, then twelve as one entry, and so on."""

    def mixed(store: Store) -> Store:
        records, joined = list[Record](), dict[str, str]()
        for _, session in groupby(store.records, key=lambda record: _session(record.id)):
            said = list(session)
            for at in range(0, len(said), _STRETCH):
                stretch = said[at : at + _STRETCH]
                is_one = at // _STRETCH % 2 == 1
                records += [_joined(stretch)] if is_one else stretch
                joined |= dict.fromkeys((record.id for record in stretch), stretch[0].id) if is_one else {}
        return Store(store.name, tuple(records), _asked(store.queries, lambda turn: joined.get(turn, turn)))

    return tuple(map(mixed, turns.stores))


def turns_at_length(turns: DataSet, texts: DataSet) -> tuple[Store, ...]:
    """Who speaks second answers at length: behind what is said stand two texts of another set, one after the other."""
    fillers = cycle(record.content for store in texts.stores for record in store.records)

    def mixed(store: Store) -> Store:
        long_winded = next(who for turn in store.records if (who := _speaker(turn)) != _speaker(store.records[0]))
        records = [
            Record(it.id, it.name, it.description, "\n\n".join([it.content, next(fillers), next(fillers)]))
            if _speaker(it) == long_winded
            else it
            for it in store.records
        ]
        return Store(store.name, tuple(records), store.queries)

    return tuple(map(mixed, turns.stores))


def _speaker(turn: Record) -> str:
    return turn.description.partition(", ")[0]


def _session(turn: str) -> str:
    return f"s{turn.removeprefix('d').partition('-')[0]}"


def _joined(turns: Sequence[Record]) -> Record:
    """Turns as one entry; the description of a turn is "who, when"."""
    content = "\n".join(f"{_speaker(turn)}: {turn.content}" for turn in turns)
    when = turns[0].description.partition(", ")[2]
    return Record(turns[0].id, f"{turns[0].name} to {turns[-1].name}", when, content)


def sections_beside_pages(sections: DataSet) -> tuple[Store, ...]:
    """Five sections as they are, then five as one page, and so on."""

    def mixed(store: Store) -> Store:
        records, joined = list[Record](), dict[str, str]()
        for at in range(0, len(store.records), _PAGE):
            page = store.records[at : at + _PAGE]
            is_one = at // _PAGE % 2 == 1
            records += [_page(page)] if is_one else page
            joined |= dict.fromkeys((record.id for record in page), page[0].id) if is_one else {}
        return Store(store.name, tuple(records), _asked(store.queries, lambda section: joined.get(section, section)))

    return tuple(map(mixed, sections.stores))


def _page(sections: Sequence[Record]) -> Record:
    content = "\n\n".join(f"{section.description}\n{section.content}" for section in sections)
    return Record(sections[0].id, sections[0].name, sections[0].description, content)


def together(*sets: DataSet) -> tuple[Store, ...]:
    """All entries of all sets in one store, and all their questions."""
    records, queries = list[Record](), list[Query]()
    for each in sets:
        for store in each.stores:
            before = f"{each.name} {store.name} "
            records += [Record(before + it.id, it.name, it.description, it.content) for it in store.records]
            queries += _asked(store.queries, before.__add__)
    return (Store("all", tuple(records), tuple(queries)),)


def _asked(queries: Iterable[Query], kept: Callable[[str], str]) -> tuple[Query, ...]:
    """The same questions, where `kept` says under which id an entry is kept now."""
    return tuple(Query(each.text, tuple(frozenset(map(kept, unit)) for unit in each.units)) for each in queries)


#: What is made of which sets, by its name.
MIXED: Mapping[str, tuple[Callable[..., tuple[Store, ...]], tuple[str, ...]]] = {
    "locomo_turn_beside_session": (turns_beside_sessions, ("locomo_turn", "locomo_session")),
    "locomo_turn_beside_stretch": (turns_beside_stretches, ("locomo_turn",)),
    "locomo_turn_at_length": (turns_at_length, ("locomo_turn", "cisi")),
    "docs_section_beside_page": (sections_beside_pages, ("docs_fastmcp",)),
    "docs_beside_notes": (together, ("docs_fastmcp", "agentnotes")),
}


def all_names(folder: Path) -> list[str]:
    """The sets in a folder, and those that can be made of them."""
    there = names(folder)
    return there + [name for name, (_, parts) in MIXED.items() if set(parts) <= set(there)]


def loaded_or_made(folder: Path, name: str) -> DataSet:
    """The set of that name, which `all_names` has."""
    if name not in MIXED:
        return loaded(folder / name)
    make, parts = MIXED[name]
    return DataSet(name, make(*(loaded(folder / part) for part in parts)), is_mixed=True)
