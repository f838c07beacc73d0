"""Prepares the facts that an import has found for being remembered."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import partial

from ..text.entry import IMPORTED, Fact
from ..text.links import is_linkable, redirect
from ..text.slug import name_key, slug_of
from ..text.values import replace
from .base import Found, Skipped, is_markdown
from .texts import stem, with_labels, without_ending


def prepare(found: Iterable[Found], tags: Iterable[str], place: str = "") -> list[Found]:
    """Return what was found, ready to be remembered: with `tags`, unique names, and a key that says what it is from.

    `place` is the folder that is imported, "" for none: then a fact without an `origin` gets no such key. Facts of one
    name get their `apart` behind it, so that none replaces another. Links by the names of files lead to their facts.
    """
    every = list(found)
    if labels := tuple(tags):
        every = [item.with_fact(partial(with_labels, tags=labels)) for item in every]
    names = Counter(name_key(item.what.name) for item in every if isinstance(item.what, Fact))
    origins = Counter[str]()
    return [_with_origin(item, place, origins) for item in _with_links([_with_own_name(item, names) for item in every])]


def if_wanted(item: Found, wanted: Iterable[str]) -> Found:
    """Return the find; as skipped, if it is a fact that is not wanted.

    `wanted` are parts of names, patterns for parts of names (as in `fnmatch`), or numbers of items in a list.
    """

    def fits(name: str, each: str) -> bool:
        return item.where.endswith(f"[{each}]") if each.isdecimal() else fnmatchcase(name, f"*{name_key(each)}*")

    is_kept = not isinstance(item.what, Fact) or any(fits(name_key(item.what.name), each) for each in wanted)
    return item if is_kept else item._replace(what=Skipped("--only names others"))


def _with_own_name(item: Found, names: Counter[str]) -> Found:
    """Return the find with `apart` behind its name, if `names` counts that more than once, and in the fact itself."""
    if not isinstance(item.what, Fact):
        return item
    apart = item.apart or without_ending(item.where)
    name = item.what.name if names[name_key(item.what.name)] == 1 else f"{item.what.name} ({apart})"
    return item._replace(what=replace(item.what, name=name, apart=apart))


def _with_links(every: list[Found]) -> list[Found]:
    """Return the finds with each link by a file's path, or by a name that one file alone has, led to the file's fact.

    Links by the name, its slug or an alias of a fact stay, as do those in facts whose files keep their names
    (`Fact.stem`).
    """
    facts = [(item.where, item.what) for item in every if isinstance(item.what, Fact)]
    files = defaultdict[str, set[str]](set)
    for where, fact in facts:
        if is_markdown(where):
            files[name_key(without_ending(where))].add(fact.name)
            files[name_key(stem(where))].add(fact.name)
    if not files:
        return every
    known = {name_key(name) for _, fact in facts for name in (fact.name, slug_of(fact.name), *(fact.aliases or ()))}

    def new(target: str) -> str | None:
        key = name_key(target).removesuffix(".md").lstrip("./")
        names = [*files.get(key, ())] if key not in known else []
        return names[0] if len(names) == 1 and is_linkable(names[0]) else None

    def led(fact: Fact) -> Fact:
        texts = {key: redirect(getattr(fact, key), new) for key in ("content", "description")}
        return fact if fact.stem else replace(fact, **texts)

    return [item.with_fact(led) for item in every]


def _with_origin(item: Found, place: str, origins: Counter[str]) -> Found:
    """Return the find with the key that says what it was imported from: its own `origin`, or its place below `place`.

    The key is never taken from the file itself, or its author could choose which entry here it replaces. If several
    have the same origin, the later ones are numbered; `origins` counts them, and is updated.
    """
    if not isinstance(item.what, Fact):
        return item
    keys = dict(item.what.keys)
    if IMPORTED in keys:  # the file's own key: None removes it
        keys[IMPORTED] = None
    if origin := f"{place}/{item.where}" if place and item.origin is None else item.origin:
        origin = origin.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        origins[origin] += 1
        keys[IMPORTED] = origin if origins[origin] == 1 else f"{origin} {origins[origin]}"
    return item._replace(what=replace(item.what, keys=keys))
