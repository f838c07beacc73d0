"""`Memory.evaluate` and `crabmem eval`: how well recall answers questions of one's own, now and in the past."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from crabmem import CrabmemError, Expectation, InvalidArguments, Memory, NotFound
from crabmem.cli.verbs import eval as verb
from crabmem.operations import evaluate
from tests.conftest import FIXTURES, typed
from tests.examples import examples

DOG, WIFI = Expectation("who looks after the dog", ("Luna's vet",)), Expectation("password for guests", ("wifi",))
QUESTIONS = str(FIXTURES / "queries.toml")


@pytest.fixture
def known(memory: Memory) -> Memory:
    """A memory of three facts."""
    memory.remember("Luna's vet", "who looks after the dog", "Dr. Moreno.", aliases=["animal doctor"], tags=["pets"])
    memory.remember("Wifi", "the password for guests", "On the router.", tags=["house"])
    memory.remember("Walks", "when the dog goes out", "At seven.", tags=["pets"])
    return memory


def run(root: Path, *words: str, stdin: str = "") -> Result:
    """`crabmem --dir root eval …`; an exception that no person should see fails the test."""
    return typed("--dir", root, "eval", *words, stdin=stdin)


def toml(*questions: Expectation) -> str:
    """The questions as a person would write them."""
    return "".join(f"[[query]]\ntext = {json.dumps(it.query)}\nfind = {json.dumps(it.find)}\n" for it in questions)


# In Python


def test_questions_that_recall_answers_have_the_best_figures(known: Memory) -> None:
    done = evaluate.evaluate(known, [DOG, WIFI])
    assert done.misses == () and done.past is None
    assert done.figures == {"r@1": 1, "r@5": 1, "r@10": 1, "mrr": 1, "ndcg@10": 1, "right": 1}


def test_a_question_whose_entry_shares_no_word_is_a_miss_and_says_what_came_instead(known: Memory) -> None:
    done = evaluate.evaluate(known, [DOG, Expectation("dog goes out", ("wifi", "Walks"))])
    [miss] = done.misses
    assert miss.missing == ("wifi",) and miss.recall[0].entry.name == "Walks"
    assert miss.figures.r10 == 0.5 and miss.figures.mrr == 1
    assert done.figures["right"] == 0.5 and done.figures["r@10"] == 0.75


def test_what_must_be_found_is_looked_up_by_name_file_or_alias_and_counts_once(known: Memory) -> None:
    for names in (("LUNA'S VET",), ("luna-s-vet",), ("Animal Doctor",), ("Luna's vet", "luna-s-vet", "animal doctor")):
        [answer] = evaluate.evaluate(known, [Expectation("who looks after the dog", names)]).answers
        assert answer.is_right and answer.figures.r1 == 1


def test_who_wants_the_first_place_is_told_when_another_has_it(known: Memory) -> None:
    asked = Expectation("who looks after the dog", ("Walks",))
    assert not evaluate.evaluate(known, [asked]).misses
    [miss] = evaluate.evaluate(known, [Expectation(asked.query, asked.find, first=True)]).misses
    assert miss.missing == () and miss.recall[0].entry.name == "Luna's vet"


def test_tags_and_limit_are_those_of_recall(known: Memory) -> None:
    asked = Expectation("dog password", ("Walks", "Luna's vet"))
    assert len(evaluate.evaluate(known, [asked]).answers[0].recall) == 3
    assert evaluate.evaluate(known, [Expectation(asked.query, asked.find, tags=("#pets",))]).figures["ndcg@10"] == 1
    assert len(evaluate.evaluate(known, [asked], limit=1).misses[0].recall) == 1


def test_an_entry_that_does_not_exist_is_an_error_that_names_it_and_the_nearest(known: Memory) -> None:
    with pytest.raises(NotFound, match=r"^the dog: no fact called Luna's vt\. Did you mean \"Luna's vet\"\?$"):
        evaluate.evaluate(known, [DOG, Expectation("the dog", ("Luna's vt",))])


@pytest.mark.parametrize(
    ("asked", "limit", "message"),
    [
        ([], 10, "there are no questions"),
        ([DOG], 0, "limit must be at least 1"),
        ([Expectation(" ", ("Wifi",))], 10, "the question is empty"),
        ([Expectation("a " * 6_000, ("Wifi",))], 10, "ask with fewer words"),
        (
            [Expectation("dog", ("Wifi",), workspace="elsewhere")],
            10,
            "no question is for the workspace memory; they are",
        ),
    ],
)
def test_what_cannot_be_asked_is_an_error(known: Memory, asked: list[Expectation], limit: int, message: str) -> None:
    with pytest.raises(InvalidArguments, match=message):
        evaluate.evaluate(known, asked, limit)


def test_a_name_that_several_have_is_an_error_that_says_which_files(known: Memory) -> None:
    (known.root / "memory/entries/other.md").write_text("---\nname: Wifi\n---\nAnother.\n")
    with pytest.raises(InvalidArguments, match=r"say which file: memory/entries/other\.md, memory/entries/wifi\.md$"):
        evaluate.evaluate(known, [Expectation("router", ("Wifi",))])
    assert evaluate.evaluate(known, [Expectation("another", ("other",))]).misses == ()
    known.adopt()


def test_questions_for_other_workspaces_are_passed_over(known: Memory) -> None:
    here = Expectation("dog", ("Luna's vet",), workspace=known.root.name)
    there = Expectation("cat", ("Mimi",), workspace="elsewhere")
    done = evaluate.evaluate(known, [here, there])
    assert [answer.question for answer in done.answers] == [here] and done.elsewhere == (there,)


def test_who_wants_to_know_hears_how_many_questions_were_asked(known: Memory) -> None:
    heard: list[tuple[int, int]] = []
    evaluate.evaluate(known, [DOG, WIFI], progress=lambda done, total: heard.append((done, total)))
    evaluate.evaluate(known, [DOG], since="HEAD", progress=lambda done, total: heard.append((done, total)))
    assert heard == [(1, 2), (2, 2), (1, 2), (2, 2)]


# Then and now


def test_nothing_changed_since_then_is_no_difference(sample: Callable[[str], Path]) -> None:
    with Memory(sample("household")) as memory:
        memory.adopt()
        asked = [Expectation(entry.description, (entry.slug,)) for entry in memory.entries()]
        done = evaluate.evaluate(memory, asked, since="HEAD")
    assert done.past and done.past.figures == done.figures and done.better == done.worse == ()
    for then, now in zip(done.past.answers, done.answers, strict=True):
        assert [hit.entry for hit in then.recall] == [hit.entry for hit in now.recall]
        assert [hit.score for hit in then.recall] == pytest.approx([hit.score for hit in now.recall])


def test_an_entry_that_came_later_was_not_found_then(known: Memory) -> None:
    done = evaluate.evaluate(known, [DOG, WIFI], since="HEAD~1")
    assert done.better == done.worse == ()
    done = evaluate.evaluate(known, [DOG, WIFI], since="HEAD~2")
    [pair] = done.better
    assert pair.past.missing == ("wifi",) and pair.now.is_right and done.worse == ()
    assert done.past and done.past.figures["r@10"] == 0.5


def test_an_entry_that_is_forgotten_since_is_answered_worse_and_no_error(known: Memory) -> None:
    known.forget("Wifi")
    with pytest.raises(NotFound, match="no fact called wifi"):
        evaluate.evaluate(known, [WIFI])
    [pair] = evaluate.evaluate(known, [WIFI], since="HEAD~1").worse
    assert pair.past.is_right and pair.now.missing == ("wifi",)
    with pytest.raises(NotFound, match=r"^x: no fact called Walk\. Did you mean \"Walks\"\?$"):
        evaluate.evaluate(known, [Expectation("x", ("Walk",))], since="HEAD~1")


def test_the_language_of_then_is_that_of_its_settings(memory: Memory) -> None:
    memory.remember("Bins", "what goes out", "Die Tonnen stehen bereit.")
    asked = Expectation("Tonne", ("Bins",))
    (memory.root / "crabmem.toml").write_text('language = "german"\n')
    memory.adopt()
    done = evaluate.evaluate(memory, [asked], since="HEAD~1")
    assert done.answers[0].is_right and done.past and done.past.misses
    assert [pair.now.question for pair in done.better] == [asked]


def test_a_time_before_the_history_is_an_error(known: Memory) -> None:
    with pytest.raises(NotFound, match="the history begins after"):
        evaluate.evaluate(known, [DOG], since="1999-01-01")


@given(st.lists(st.sampled_from(["dog", "vet", "guests", "router", "seven", "who", "xyz"]), min_size=1, max_size=4))
@limits(max_examples=examples(50))
def test_any_question_is_answered_as_recall_answers_it(words: list[str]) -> None:
    with Memory(FIXTURES / "household") as memory:
        [answer] = evaluate.evaluate(memory, [Expectation(" ".join(words), ("wifi",))]).answers
        assert answer.recall == memory.recall(" ".join(words), 10)
        assert answer.is_right == ("wifi" in [hit.entry.slug for hit in answer.recall])


# On the command line


def test_figures_and_misses_are_data_and_the_rest_is_talk(known: Memory) -> None:
    given = toml(DOG, Expectation("dog goes out", ("wifi", "Walks"))) + '[[query]]\ntext = "x"\nfind = "y"\n'
    result = run(known.root, "-", stdin=given + 'workspace = "elsewhere"\n')
    assert result.exit_code == 0, result.stderr
    assert result.stdout == (
        "2 questions, 1 answered right\n"
        "R@1      0.750\nR@5      0.750\nR@10     0.750\nMRR      1.000\nnDCG@10  0.807\nright    0.500\n"
        "\nmissed: dog goes out\n  not among the first 10: wifi\n  came first: Walks\n"
    )
    assert result.stderr == "1 question passed over, for other workspaces\n"


def test_a_miss_of_the_first_place_and_one_without_any_hit_say_so(known: Memory) -> None:
    given = toml(DOG, Expectation("submarine", ("Walks",))).replace("Luna's vet\"]\n", 'Walks"]\nfirst = true\n')
    told = run(known.root, "-", stdin=given).stdout
    assert "missed: who looks after the dog\n  not first: Walks\n  came first: Luna's vet\n" in told
    assert "missed: submarine\n  not among the first 10: Walks\n  no match in 3 facts\n" in told


def test_a_comparison_has_both_columns_and_what_changed(known: Memory) -> None:
    known.forget("Walks")
    known.remember("Luna's vet", "Dr. Moreno", "Thursdays.")
    questions = (WIFI, Expectation("dog goes out", ("Walks",)), Expectation("Thursdays", ("Luna's vet",)))
    result = run(known.root, "-", "--compare", "HEAD~2", stdin=toml(*questions))
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[1:3] == ["          then    now", "R@1      0.667  0.667  +0.000"]
    assert result.stdout.endswith(
        "\nbetter: Thursdays\n  not found then, place 1 now\n\nworse: dog goes out\n  place 1 then, not found now\n"
    )


def test_json_has_everything(known: Memory) -> None:
    known.forget("Walks")
    out = Expectation("dog goes out", ("Walks",))
    data = json.loads(run(known.root, "-", "--compare", "HEAD~1", "--json", stdin=toml(WIFI, out)).stdout)
    assert data["questions"] == 2 and data["limit"] == 10 and data["elsewhere"] == 0
    assert data["figures"]["r@10"] == 0.5 and data["past"]["figures"]["r@10"] == 1
    [miss] = data["misses"]
    assert (miss["query"], miss["find"], miss["missing"], miss["found"]) == (
        out.query,
        ["Walks"],
        ["Walks"],
        ["luna-s-vet"],
    )
    [worse] = data["past"]["worse"]
    assert worse["query"] == out.query and worse["now"] == miss and data["past"]["better"] == []


@pytest.mark.parametrize(
    ("gates", "status", "words"),
    [
        (["r@5=0.5", "MRR=0.5", "right=0"], 0, ""),
        (["r@5=0.6"], 1, "r@5 is 0.5000, under 0.6"),
        (["r@1=0.2", "right=1", "mrr=0.75"], 1, "right is 0.5000, under 1; mrr is 0.5000, under 0.75"),
        (["r@7=0.2"], 2, "r@7 is no figure; there are: r@1, r@5, r@10, mrr, ndcg@10, right"),
        (["r@5"], 2, "r@5: give the least that r@5 may be, from 0 to 1, as r@5=0.8"),
        (["r@5=80"], 2, "from 0 to 1"),
        (["r@5=nan"], 2, "from 0 to 1"),
    ],
)
def test_a_figure_under_its_gate_is_status_1_and_named(
    known: Memory, gates: list[str], status: int, words: str
) -> None:
    given = toml(WIFI, Expectation("submarine", ("Walks",)))
    result = run(known.root, "-", *(word for gate in gates for word in ("--fail-under", gate)), stdin=given)
    assert result.exit_code == status and words in " ".join(result.stderr.split())
    assert ("R@5" in result.stdout) == (status < 2)


@pytest.mark.parametrize(
    ("stdin", "words", "message"),
    [
        ("\n# none\n", ["-"], "crabmem: stdin has no questions; write [[query]]"),
        ("[[query", ["-"], "crabmem: stdin is not TOML: "),
        ("\x00", ["-"], "crabmem: stdin is not TOML: "),
        ("", ["/nowhere/questions.toml"], "crabmem: /nowhere/questions.toml cannot be read: no such file or directory"),
        (toml(Expectation("x", ("Wif",))), ["-"], 'crabmem: x: no fact called Wif. Did you mean "Wifi"?'),
        (toml(DOG), ["-", "--compare", "nope"], "crabmem: no revision named nope"),
    ],
)
def test_an_error_is_one_line_and_status_1_or_2_for_questions_that_cannot_be_asked(
    known: Memory, stdin: str, words: list[str], message: str
) -> None:
    result = run(known.root, *words, stdin=stdin)
    status = 1 if "x: no fact" in message or "nope" in message else 2
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (status, "", 1)
    assert result.stderr.startswith(message)


def test_the_sample_questions_are_all_answered_and_a_gate_can_say_so() -> None:
    for name in ("household", "coding-agent"):
        result = run(FIXTURES / name, QUESTIONS, "--fail-under", "right=1")
        assert (result.exit_code, result.stderr) == (0, "13 questions passed over, for other workspaces\n")
    with pytest.raises(CrabmemError, match="is for the workspace broken; they are for: coding-agent, household"):
        others = [Expectation("x", ("y",), workspace=name) for name in ("household", "coding-agent")]
        evaluate.evaluate(Memory(FIXTURES / "broken"), others)


def test_many_questions_say_how_far_they_are_and_leave_no_trace(capsys: pytest.CaptureFixture[str]) -> None:
    for done, total in ((100, 150), (99, 1_000), (100, 1_000), (1_000, 1_000)):
        verb._show_asking(done, total)
    assert capsys.readouterr().err == "\rasking: 100 of 1,000\r"  # and what clears the line, on a terminal
