"""`python -m tests.benchmarks ablation --data FOLDER`: what recall finds without each of its rules.

Each half has its own paired intervals, in which sets count alike; `*` marks a set whose own does not hold 0.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import astuple
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from crabmem.recall import labels, passages
from crabmem.search import Index, dates, english, identifiers, scoring, scripts, vocabulary
from crabmem.search.query import parse_query, terms_of
from crabmem.text.entry import Entry
from crabmem.text.evaluation import FIGURE_NAMES

from .finding import Values, bootstrapped, laid_out
from .mixed import loaded_or_made
from .sets import DEPTH, DataSet, scored

SETS = {
    "locomo_turn": "turns", "locomo_obs": "facts", "locomo_session": "sessions", "docs_fastmcp": "documentation",
    "cranfield": "Cranfield", "beam_dev": "chats", "locomo_turn_beside_session": "turns beside sessions",
    "docs_section_beside_page": "sections beside pages",
}  # fmt: skip
tokens = import_module("crabmem.search.tokens")  # whose name in its package is that of a function
_FIGURES = ("r@10", "ndcg@10")
_NO_STEMMER = SimpleNamespace(Stemmer=lambda *_: SimpleNamespace(stemWord=str))
_fields, _names = labels.fields, identifiers.names


def _named_once(*given: Any) -> dict[str, list[str]]:
    found = _fields(*given)
    return found | {name: found[name][: len(found[name]) // labels.TIMES] for name in ("name", "aliases")}


#: The replacement of each rule, and its place.
RULES: Mapping[str, Sequence[tuple[Any, str, Any]]] = {
    "passages of long texts": [(labels, "parts_of", lambda text: [None])],
    "the whole beside its passages": [(passages, "_WHOLE", passages._SHORT)],
    "no whole above 6,000 characters": [(passages, "_WHOLE", 10**9)],
    "names, aliases, beginnings and a person's turns four times (once)": [(labels, "TIMES", 1)],
    "of these, names and aliases (once)": [(labels, "fields", _named_once)],
    "only the first 12 words of a description (all)": [(labels, "_BEGINNING", 10**9)],
    "a person's turn four times (once)": [(labels, "_PERSON", ())],
    "b of 0.6 (0.75)": [(scoring, "B", 0.75)],
    "endings of words": [(tokens, "Stemmer", _NO_STEMMER), (scripts, "Stemmer", _NO_STEMMER)],
    "words that say nothing left out": [(english, "SILENT", frozenset[str]())],
    "irregular forms": [(english, "BASES", dict[str, str]())],
    "parts of identifiers": [(identifiers, "names", lambda it: _names(it)[-1:])],
    "wholes of identifiers beside their parts": [(identifiers, "names", lambda it: _names(it)[:-1] or _names(it))],
    "dates": [(dates, "without_dates", lambda text, _: (text, [])), (dates, "date_words", lambda *_: iter(()))],
    "long numbers in groups as one": [(tokens, "_joined_digits", lambda text: iter(()))],
    "an unknown word in longer ones": [(vocabulary, "substitutes", lambda *_: ())],
}
#: Why a rule stays though an interval holds 0.
REASONS = {
    "passages of long texts": "chats, and turns beside sessions",
    "the whole beside its passages": "sessions",
    "b of 0.6 (0.75)": "turns beside sessions; it is a number, no code",
    "no whole above 6,000 characters": "an index of longer texts is 1.4 times as large without it",
    "of these, names and aliases (once)": "most names of the sets are numbers; it costs no line",
    "only the first 12 words of a description (all)": "descriptions of a page, beside turns",
    "wholes of identifiers beside their parts": "`parseinvoice` finds `parse_invoice`",
    "dates": "`9 June 2024` finds `2024-06-09`",
    "long numbers in groups as one": "no set has any; `600123456` finds +34 600 123 456",
    "an unknown word in longer ones": "languages that write words in one, as German",
}


def main(arguments: Sequence[str]) -> None:
    """Measure recall as it is, and without each rule."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks ablation", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="where the sets are, a folder each")
    parser.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS), metavar="NAME,…")
    given = parser.parse_args(arguments)
    every = [loaded_or_made(given.data, name) for name in given.sets]
    print(laid_out(list(_table(every)), markdown=True))


def _table(every: Sequence[DataSet]) -> Iterator[tuple[str, ...]]:
    shown = [SETS.get(each.name, each.name) for each in every]
    yield "without", "half", *(f"{figure}, sets alike" for figure in _FIGURES), *shown, "stays for"
    base = [_figures(each) for each in every]
    for rule, replaced in RULES.items():
        with ExitStack() as patched:
            for place, name, other in replaced:
                patched.enter_context(patch.object(place, name, other))
            less = [_figures(each) - before for each, before in zip(every, base, strict=True)]
        for half, is_tuned in (("tuned", True), ("untouched", False)):
            mine = [rows[np.array(each.is_tuned) == is_tuned] for each, rows in zip(every, less, strict=True)]
            alike = np.concatenate([rows / len(rows) for rows in mine])
            alike *= len(alike) / len(mine)
            each = ("/".join(_marked(rows[:, at]) for at in (0, 1)) for rows in mine)
            yield rule, half, *(str(bootstrapped(alike[:, at])) for at in (0, 1)), *each, REASONS.get(rule, "")


def _figures(data: DataSet) -> Values:
    """Both figures of each question, asked of an index alone; kept words are forgotten, as other rules make others."""
    found = list[tuple[float, ...]]()
    tokens._terms.clear()
    scripts.spellings.cache_clear()
    for store in data.stores:
        entries = (Entry(each.id, "", each.name, each.description, each.content) for each in store.records)
        index = Index().updated({each.path: labels.document(each, b"0", "english") for each in entries})
        for query in store.queries:
            ranked = index.search(terms_of(parse_query(query.text), index, "english"), DEPTH)
            found.append(astuple(scored([each.key for each in ranked], query)))
    return np.array(found)[:, [FIGURE_NAMES.index(figure) for figure in _FIGURES]]


def _marked(differences: Values) -> str:
    it = bootstrapped(differences)
    return "0" if abs(it.mean) < 0.0005 else f"{it.mean:+.3f}" + "*" * (it.low > 0 or it.high < 0)
