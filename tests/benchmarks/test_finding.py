"""What is measured of recall is what the definitions say, on data made on the spot."""

import gzip
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import InvalidArguments
from crabmem.text.evaluation import Figures
from tests.benchmarks.__main__ import main
from tests.benchmarks.ablation import REASONS, RULES
from tests.benchmarks.engines import OTHERS, crabmem, others, remembered
from tests.benchmarks.finding import bootstrapped
from tests.benchmarks.halves import half
from tests.benchmarks.mixed import (
    all_names,
    loaded_or_made,
    sections_beside_pages,
    together,
    turns_at_length,
    turns_beside_sessions,
    turns_beside_stretches,
)
from tests.benchmarks.sets import DataSet, Query, Record, Store, loaded, scored
from tests.benchmarks.silence import Heard, Verdict, above, auc, judge, keeping, shares
from tests.benchmarks.speaking import HALVES, Share, Speaking, own

GARDEN = {
    "roses": ("how to prune roses", "In March, above an outward bud, with clean shears."),
    "compost": ("what goes on the compost", "Peelings, leaves, coffee grounds; no cooked food."),
    "beans": ("when to sow beans", "After the last frost, five to a pole."),
    "slugs": ("keeping slugs off lettuce", "Copper tape, and a board to collect them under."),
}
HARBOUR = {
    "berths": ("which berths are free", "Berth nine until the ferry is back."),
    "tide": ("where the tide table hangs", "Beside the radio, a new one each January."),
    "crane": ("who may use the crane", "Whoever has the yellow card, never alone."),
}
QUESTIONS = {
    "garden": [("prune the roses", [["roses"]]), ("peelings or frost", [["compost"], ["beans"]])],
    "harbour_log": [("yellow card for the crane", [["crane"]]), ("submarine", [["tide"]])],
}


def write(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    with gzip.open(file, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two sets of one store each."""
    for name, entries in (("garden", GARDEN), ("harbour_log", HARBOUR)):
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        texts = ({"name": f"About {key}", "description": d, "content": c, "id": key} for key, (d, c) in entries.items())
        write(folder / "entries.jsonl.gz", ({"store": "s", **row} for row in texts))
        asked = list(enumerate(QUESTIONS[name]))
        write(folder / "queries.jsonl.gz", ({"store": "s", "qid": f"q{at}", "query": it[0]} for at, it in asked))
        write(folder / "qrels.jsonl.gz", ({"store": "s", "qid": f"q{at}", "units": it[1]} for at, it in asked))
    return tmp_path / "data"


def run(monkeypatch: pytest.MonkeyPatch, *words: object) -> None:
    monkeypatch.setattr(sys, "argv", ["-", "recall", *map(str, words)])
    main()


def test_a_run_has_a_table_for_each_set_and_one_for_silence(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "--data", data, "--json", tmp_path / "f.json")
    printed = capsys.readouterr()
    found = json.loads((tmp_path / "f.json").read_text("utf-8"))
    assert set(found["sets"]) == {"garden", "harbour_log"}
    garden, harbour = found["sets"]["garden"], found["sets"]["harbour_log"]
    assert (garden["entries"], garden["questions"], garden["counts"]) == (4, 2, "r@5")
    assert garden["figures"]["crabmem"] == {"r@1": 0.75, "r@5": 1, "r@10": 1, "mrr": 1, "ndcg@10": 1}
    assert harbour["figures"]["crabmem"]["r@10"] == harbour["figures"]["bm25s"]["r@10"] == 0.5
    assert harbour["differences"]["bm25s"]["r@10"] == {"mean": 0, "low": 0, "high": 0}
    for name in OTHERS:
        assert (name in garden["figures"]) != (f"{name} is not installed" in printed.err)
    silence = found["auto_recall"]
    assert (silence["all"]["on"], silence["all"]["off"]) == (4, 4) and silence["garden"]["auc"] == 1
    assert "crabmem − it, r@5" in printed.out and "keeps 90% at" in printed.out
    spoken = found["speaking"]["garden"]
    assert sum(of["bare"]["messages"] for of in spoken.values()) == 2
    assert sum(of["other domain"]["messages"] for of in spoken.values()) == 2
    for of in spoken.values():
        assert of["opening"]["messages"] == of["bare"]["messages"] and of["small talk"]["spoken"] == 0
    told = [of[column] for of in spoken.values() for column in ("right fact first", "in recall")]
    assert sorted((it["messages"], it["spoken"]) for it in told) == [(0, 0), (0, 0), (1, 1), (1, 1)]
    assert garden["within"]["shown"]["mean"] == 1 and harbour["within"]["shown"]["mean"] == 0.5
    assert "speaks at 0.24 to" in printed.out and "untouched" in printed.out
    assert "within 4,000 characters" in printed.out and "right fact first" in printed.out


def test_a_run_may_be_of_one_set_of_first_words_and_of_names_and_print_markdown(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--data", data, "--sets", "harbour_log", "--json", tmp_path / "f.json")
    run(monkeypatch, *words, "--words", 1, "--markdown", "--names")
    found = json.loads((tmp_path / "f.json").read_text("utf-8"))
    assert list(found["sets"]) == ["harbour_log"] and found["auto_recall"] == {"threshold": 0.24}
    assert capsys.readouterr().out.startswith("| harbour_log | r@5 | r@10 | ndcg@10 | mrr | crabmem − it, r@5 |")


def test_what_is_lost_without_a_rule_is_told_for_each_half_and_set(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [f"pruning of rose number {number}" for number in range(8)]
    write(data / "garden/queries.jsonl.gz", ({"store": "s", "qid": text, "query": text} for text in asked))
    write(data / "garden/qrels.jsonl.gz", ({"store": "s", "qid": text, "units": [["roses"]]} for text in asked))
    monkeypatch.setattr(sys, "argv", ["-", "ablation", "--data", str(data), "--sets", "garden"])
    main()
    head, _, *lines = capsys.readouterr().out.splitlines()
    cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in (head, *lines)]
    assert cells[0] == ("without", "half", "r@10, sets alike", "ndcg@10, sets alike", "garden", "stays for")
    assert len(lines) == 2 * len(RULES) and {half for _, half, *_ in cells[1:]} == {"tuned", "untouched"}
    lost = "-1.000 [-1.000, -1.000]"
    assert [each for each in cells if each[0] == "endings of words"] == [
        ("endings of words", half, lost, lost, "-1.000*/-1.000*", "") for half in ("tuned", "untouched")
    ]
    assert all(each[-2] == "0/0" for each in cells if each[0] == "dates") and set(REASONS) < set(RULES)


@pytest.mark.parametrize("words", [("--sets", "attic"), ("--sets", "garden,attic")])
def test_a_set_that_is_not_there_is_wrong_usage(
    data: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(monkeypatch, "--data", data, *words)
    assert "has no set attic; it has: garden, harbour_log" in capsys.readouterr().err


def test_every_engine_finds_the_same_plain_words_and_names_only_when_given_them(tmp_path: Path) -> None:
    records = [Record(key, f"About {key}", *texts) for key, texts in GARDEN.items()]
    with remembered(records, tmp_path / "m") as memory:
        assert crabmem(memory, records)("About roses!", 1) == ["roses"]
    for name, search in others(records, with_names=False).items():
        assert search("Who put COPPER (tape)?", 2)[:1] == ["slugs"], name
        assert search("!?", 2) == search("submarine", 2) == [] == search("about", 2), name
    for name, search in others(records, with_names=True).items():
        assert search("about compost", 1) == ["compost"], name


def test_two_entries_of_one_name_are_no_set_to_measure_on(tmp_path: Path) -> None:
    records = [Record("1", "Roses", "d", "c"), Record("2", "roses", "d", "e")]
    with pytest.raises(InvalidArguments, match="roses is there twice"), remembered(records, tmp_path / "m"):
        pass


def test_both_halves_of_the_questions_are_told_apart(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "--data", data, "--json", tmp_path / "f.json")
    found = json.loads((tmp_path / "f.json").read_text("utf-8"))["sets"]
    for each in found.values():
        assert sum(it["questions"] for it in each["halves"].values()) == each["questions"]
        overall = sum(it["questions"] * it["ours"]["mean"] for it in each["halves"].values())
        assert overall / each["questions"] == pytest.approx(each["figures"]["crabmem"]["r@10"])
    assert "R@10" in (printed := capsys.readouterr().out) and "untouched" in printed


def test_of_several_stores_every_second_one_is_tuned_on_and_of_one_about_half_of_the_questions() -> None:
    queries = tuple(Query(f"question {number}", ()) for number in range(100))
    several = DataSet("a", tuple(Store(name, (), queries[:3]) for name in "xyz"))
    assert several.is_tuned == [True] * 3 + [False] * 3 + [True] * 3
    assert 30 < sum(DataSet("a", (Store("x", (), queries),)).is_tuned) < 70


# Mixed lengths

TURNS = [
    Record(f"d{session}-{at}", f"t{session}-{at}", "Ann, 5 May", f"said {at}")
    for session in (1, 2)
    for at in range(1, 31)
]
ASKED = (Query("who", (frozenset({"d1-13"}), frozenset({"d2-2", "d2-30"}))),)


def test_a_session_stands_whole_or_as_its_turns_and_evidence_is_where_it_stands() -> None:
    sessions = tuple(Record(f"s{number}", f"session-{number}", "all", "said") for number in (1, 2))
    turns = DataSet("t", (Store("x", tuple(TURNS), ASKED),))
    [mixed] = turns_beside_sessions(turns, DataSet("s", (Store("x", sessions, ()),)))
    assert [record.id for record in mixed.records] == [f"d1-{at}" for at in range(1, 31)] + ["s2"]
    assert mixed.queries == (Query("who", (frozenset({"d1-13"}), frozenset({"s2"}))),)


def test_twelve_turns_stand_alone_and_the_next_twelve_as_one() -> None:
    [mixed] = turns_beside_stretches(DataSet("t", (Store("x", tuple(TURNS), ASKED),)))
    ids = [record.id for record in mixed.records]
    assert len(ids) == 2 * (12 + 1 + 6) and ids[12] == "d1-13" and ids[13] == "d1-25"
    joined = mixed.records[12]
    assert (joined.name, joined.description) == ("t1-13 to t1-24", "5 May")
    assert joined.content.splitlines()[::11] == ["Ann: said 13", "Ann: said 24"]
    assert mixed.queries == ASKED


def test_who_speaks_second_is_long_winded_and_says_the_same(data: Path) -> None:
    said = [
        Record(f"d1-{at}", f"t{at}", f"{who}, 5 May", f"said {at}") for at, who in enumerate(("Ann", "Bo", "Ann", "Bo"))
    ]
    [mixed] = turns_at_length(DataSet("t", (Store("x", tuple(said), ASKED),)), loaded(data / "garden"))
    assert [record.content for record in mixed.records[::2]] == ["said 0", "said 2"]
    roses, compost, beans, slugs = (content for _, content in GARDEN.values())
    assert mixed.records[1].content == f"said 1\n\n{roses}\n\n{compost}"
    assert mixed.records[3].content == f"said 3\n\n{beans}\n\n{slugs}" and mixed.queries == ASKED


def test_five_sections_stand_alone_and_the_next_five_as_a_page() -> None:
    [mixed] = sections_beside_pages(DataSet("t", (Store("x", tuple(TURNS[:12]), ASKED),)))
    assert [record.id for record in mixed.records] == [*(f"d1-{at}" for at in range(1, 7)), "d1-11", "d1-12"]
    assert mixed.records[5].content.splitlines()[:4] == ["Ann, 5 May", "said 6", "", "Ann, 5 May"]
    [units] = [query.units for query in mixed.queries]
    assert units[0] == frozenset({"d1-13"})


def test_sets_that_stand_together_keep_their_questions_apart(data: Path) -> None:
    sets = [loaded(data / name) for name in ("garden", "harbour_log")]
    [both] = together(*sets)
    assert len(both.records) == 7 and len({record.id for record in both.records}) == 7
    assert [len(query.units) for query in both.queries] == [1, 2, 1, 1]
    assert {item for query in both.queries for unit in query.units for item in unit} <= {
        each.id for each in both.records
    }


def test_mixed_sets_are_there_where_their_parts_are(data: Path) -> None:
    assert all_names(data) == ["garden", "harbour_log"]
    (data / "garden").rename(data / "docs_fastmcp")
    (data / "harbour_log").rename(data / "agentnotes")
    assert all_names(data)[-2:] == ["docs_section_beside_page", "docs_beside_notes"]
    made = loaded_or_made(data, "docs_beside_notes")
    assert (made.is_mixed, made.entries, len(made.queries)) == (True, 7, 4)


# Figures


def test_a_unit_is_covered_once_and_by_any_of_its_ids() -> None:
    query = Query("", tuple(map(frozenset, ({"a", "b"}, {"b", "c"}, {"d"}))))
    assert scored(["b", "d"], query) == Figures(2 / 3, 1, 1, 1, 1)
    assert scored(["x", "a", "b", "c"], query).r10 == pytest.approx(2 / 3)
    assert scored(["a", "c", "b", "d"], query).ndcg10 < scored(["d", "b"], query).ndcg10 < 1
    assert scored([*"xxxxxxxxxx", "b"], query) == Figures(0, 0, 0, 0, 0)


def test_the_interval_of_a_difference_holds_its_mean_and_narrows_with_more_questions() -> None:
    random = np.random.default_rng(5)
    few, many = (bootstrapped(random.choice([-1.0, 0.0, 1.0], count)) for count in (30, 3_000))
    for it in (few, many):
        assert it.low < it.mean < it.high
    assert many.high - many.low < (few.high - few.low) / 3
    assert bootstrapped(np.full(7, 0.25)) == bootstrapped(np.full(9, 0.25))
    values = random.random(400)
    assert bootstrapped(values).high - bootstrapped(values).low == pytest.approx(4 * 0.98 * values.std() / 20, rel=0.1)


# Speaking


def test_a_share_has_wilsons_interval() -> None:
    low, high = Share(8, 10).interval  # Wilson's own formula, by hand: 0.490 to 0.943
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert Share(0, 0).interval == (0, 1) and Share(5, 5).interval[1] == 1 and Share(0, 5).interval[0] == 0


def test_each_half_stands_within_openings_of_its_own() -> None:
    messages, openings = own()
    questions, asked = [f"who is number {number}" for number in range(8)], list[str]()

    def sure(text: str) -> float:
        asked.append(text)
        return 0.0

    Speaking().listen_within(sure, questions, openings)
    assert {half(text) for text in openings} == {half(message.text) for message in messages} == set(HALVES)
    made = {opening.replace("{message}", text): (opening, text) for opening in openings for text in questions}
    assert len(asked) == len(questions) and {half(text) for text in questions} == set(HALVES)
    assert all(half(opening) == half(text) for opening, text in map(made.__getitem__, asked))


# Silence

VALUES = st.lists(st.floats(0, 1).map(lambda value: round(value, 1)), min_size=1, max_size=30).map(np.array)


@given(VALUES, VALUES)
def test_auc_is_the_share_of_pairs_in_the_right_order(on: "np.ndarray[Any, Any]", off: "np.ndarray[Any, Any]") -> None:
    pairs = [(a > b) + (a == b) / 2 for a in on for b in off]
    assert auc(on, off) == pytest.approx(sum(pairs) / len(pairs))


@given(VALUES)
def test_the_threshold_keeps_enough_and_no_higher_one_does(on: "np.ndarray[Any, Any]") -> None:
    threshold = keeping(on)
    assert above(on, threshold) >= 0.9
    assert above(on, threshold + 1e-6) < 0.9


def test_a_message_of_another_domain_has_a_smaller_share_and_none_has_more_than_all(data: Path, tmp_path: Path) -> None:
    [garden] = loaded(data / "garden").stores
    with remembered(garden.records, tmp_path / "m") as memory:
        heard = Heard()
        off = ["which berth has the ferry", "?!", "the yellow submarine"]
        heard.listen(judge(memory), [query.text for query in garden.queries], off)
    assert all(0 < share < 1 for share in shares(heard.on)) and max(shares(heard.off)) < min(shares(heard.on))
    found = Verdict.of(heard, 0.0)
    assert (found.on, found.off, found.auc, found.fired, found.kept_at, found.fired_at) == (2, 3, 1, 0, 1, 1)
