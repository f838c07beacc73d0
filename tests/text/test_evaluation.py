"""A person's own test set: what may be written, and errors that name the file, the place and the way out.

And the figures of retrieval: as their definitions say, computed another way, and by their laws.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import astuple
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.errors import InvalidArguments
from crabmem.text.evaluation import FIGURE_NAMES, Expectation, Figures, figures, mean, parse_questions

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(lambda text: text.strip() == text)


def test_toml_and_lines_of_json_say_the_same() -> None:
    toml = """
        [[query]]
        text = "who looks after the dog"
        find = ["Luna's vet", "dog sitter"]
        tags = ["pets"]
        first = true
        workspace = "household"

        [[query]]
        query = " wifi for guests "
        find = "Wifi"
    """
    lines = """{"text": "who looks after the dog", "find": ["Luna's vet", "dog sitter"], "tags": "pets", "first": true,\
 "workspace": "household"}\n\n{"query": " wifi for guests ", "find": "Wifi"}\n"""
    dog = Expectation("who looks after the dog", ("Luna's vet", "dog sitter"), ("pets",), True, "household")
    assert parse_questions(toml, "x") == parse_questions(lines, "x") == [dog, Expectation("wifi for guests", ("Wifi",))]


def test_a_byte_order_mark_and_crlf_are_no_part_of_the_questions() -> None:
    assert parse_questions('\ufeff[[query]]\r\ntext = "a"\r\nfind = "b"\r\n', "x") == [Expectation("a", ("b",))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "q.toml has no questions; write [[query]]"),
        ("# none yet\n", "q.toml has no questions"),
        ("query = []", "q.toml has no questions"),
        ('[[query]]\ntext = "a"\nfind = \n', "q.toml is not TOML: Invalid value (at line 3, column 8)"),
        ("x = " + "[" * 5_000, "q.toml is not TOML"),
        ('[[queries]]\ntext = "a"', "q.toml: unknown key `queries`; write [[query]]"),
        ('[query]\ntext = "a"', "q.toml: `query` is not a list of tables; write [[query]]"),
        ("query = [3]", "q.toml, query 1: it must be a table, and is 3"),
        ('[[query]]\nfind = "b"', "q.toml, query 1: no `text`; say what is asked"),
        ('[[query]]\ntext = " "\nfind = "b"', "q.toml, query 1: no `text`"),
        ('[[query]]\ntext = "a"\nquery = "a"\nfind = "b"', "q.toml, query 1: `text` and `query` are the same"),
        (
            '[[query]]\ntext = "a"\nfind = "b"\n[[query]]\ntext = "c"',
            "q.toml, query 2 (c): no `find`; name the facts",
        ),
        ('[[query]]\ntext = "a"\nfind = []', "q.toml, query 1 (a): no `find`"),
        ('[[query]]\ntext = "a"\nfind = [" "]', "q.toml, query 1 (a): no `find`"),
        ('[[query]]\ntext = "a"\nfinds = "b"', "q.toml, query 1: unknown key `finds`; did you mean `find`?"),
        ('[[query]]\ntext = "a"\nzzz = 1', "q.toml, query 1: unknown key `zzz`; known: text, query, find, tags, first"),
        ('[[query]]\ntext = 3\nfind = "b"', "q.toml, query 1: text must be a text, and is 3"),
        ('[[query]]\ntext = "a"\nfind = [3]', "q.toml, query 1: find[0] must be a text, and is 3"),
        ('{"text": "a", "find": "b"}\n{"text": ', "q.toml, line 2 is not JSON: Expecting value"),
        ('{"text": "a", "find": "b"}\n[]', "q.toml, line 2: it must be a table, and is a list"),
        ('\n{"text": "a", "fnd": "b"}', "q.toml, line 2: unknown key `fnd`; did you mean `find`?"),
        ('{"text": ' + "[" * 100_000, "q.toml, line 1 is not JSON"),
    ],
)
def test_what_is_wrong_is_one_line_with_file_and_place(text: str, message: str) -> None:
    with pytest.raises(InvalidArguments, match=re.escape(message)) as caught:
        parse_questions(text, "q.toml")
    assert "\n" not in str(caught.value)


@given(st.builds(Expectation, TEXTS, st.lists(TEXTS, min_size=1).map(tuple), st.lists(TEXTS).map(tuple), st.booleans()))
def test_a_question_written_as_json_is_the_same_question(question: Expectation) -> None:
    keys = {"text": question.query, "find": question.find, "tags": question.tags, "first": question.first}
    assert parse_questions(json.dumps(keys), "x") == [question]


@given(st.text())
def test_any_text_is_questions_or_an_error_of_one_line(text: str) -> None:
    try:
        assert parse_questions(text, "x")
    except InvalidArguments as error:
        assert "\n" not in " ".join(str(error).split())


RANKED = st.permutations(list(range(14))).map(lambda order: order[:12])
WANTED = st.sets(st.integers(0, 20), min_size=1)


def gains_of(ranked: Sequence[int], wanted: set[int]) -> list[int]:
    return [int(item in wanted) for item in ranked]


def by_definition(ranked: Sequence[int], wanted: set[int]) -> Figures:
    """The same from sets and places, without gains."""
    places = sorted(ranked.index(item) + 1 for item in wanted & set(ranked))
    r1, r5, r10 = (len(wanted & set(ranked[:depth])) / len(wanted) for depth in (1, 5, 10))
    best = sum(math.log(2) / math.log(place + 1) for place in range(1, min(len(wanted), 10) + 1))
    ours = sum(math.log(2) / math.log(place + 1) for place in places if place <= 10)
    return Figures(r1, r5, r10, 1 / min(places, default=math.inf), ours / best)


@given(RANKED, WANTED)
def test_figures_are_those_of_the_definitions(ranked: list[int], wanted: set[int]) -> None:
    found = figures(gains_of(ranked, wanted), [1] * len(wanted))
    assert astuple(found) == pytest.approx(astuple(by_definition(ranked, wanted)))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6).filter(any))
def test_the_best_order_of_gains_has_an_ndcg_of_one_and_no_other_a_higher(gains: list[int]) -> None:
    ideal = sorted(gains, reverse=True)
    scores = [figures(order, ideal).ndcg10 for order in permutations(gains)]
    assert max(scores) == pytest.approx(1) == figures(ideal, ideal).ndcg10


@given(RANKED, WANTED)
def test_figures_lie_between_nothing_and_all_and_deeper_is_no_less(ranked: list[int], wanted: set[int]) -> None:
    found = figures(gains_of(ranked, wanted), [1] * len(wanted))
    assert all(0 <= value <= 1 + 1e-9 for value in astuple(found))
    assert found.r1 <= found.r5 <= found.r10


@given(RANKED, WANTED, st.data())
def test_what_is_wanted_one_place_higher_makes_no_figure_worse(
    ranked: list[int], wanted: set[int], data: st.DataObject
) -> None:
    gains = gains_of(ranked, wanted)
    at = data.draw(st.integers(1, len(gains) - 1))
    higher = [*gains[: at - 1], max(gains[at - 1 : at + 1]), min(gains[at - 1 : at + 1]), *gains[at + 1 :]]
    before, after = (astuple(figures(each, [1] * len(wanted))) for each in (gains, higher))
    assert all(new >= old - 1e-9 for old, new in zip(before, after, strict=True))


def test_a_worked_example() -> None:
    found = figures([0, 1, 0, 1], [1, 1, 1])
    best = 1 + 1 / math.log2(3) + 1 / 2
    assert found == Figures(0, 2 / 3, 2 / 3, 1 / 2, (1 / math.log2(3) + 1 / math.log2(5)) / best)


def test_one_hit_may_bring_several_things() -> None:
    assert figures([2, 1], [2, 1]) == Figures(2 / 3, 1, 1, 1, 1)
    assert figures([1, 2], [2, 1]).ndcg10 < 1


def test_nothing_found_is_nothing_in_every_figure() -> None:
    assert set(astuple(figures([], [1]))) == set(astuple(figures([0] * 20, [1, 1]))) == {0.0}


def test_the_mean_is_of_each_figure_by_itself() -> None:
    middle = mean([Figures(0, 0, 1, 0.5, 0.25), Figures(1, 1, 1, 1, 0.75)])
    assert middle.by_name() == {"r@1": 0.5, "r@5": 0.5, "r@10": 1, "mrr": 0.75, "ndcg@10": 0.5}
    assert tuple(middle.by_name()) == FIGURE_NAMES
    assert mean([]) == Figures(0, 0, 0, 0, 0)
