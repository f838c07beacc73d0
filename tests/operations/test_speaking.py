"""`crabmem eval --speak`: whether memory speaks before the messages that it should, and no others."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from crabmem import InvalidArguments, Memory, NotFound
from crabmem.operations.evaluate import react
from crabmem.text.spoken_to import Message, parse_messages
from tests.conftest import FIXTURES, typed

MESSAGES = FIXTURES / "messages.toml"
ASKED = Message("Good morning, who is Luna's vet?", True, ("Luna's vet",), "question")
TALK = Message("Sounds good, let's continue tomorrow.", False, kind="talk")
FILE = """
[[message]]
text = "Good morning, who is Luna's vet?"
find = ["Luna's vet"]
[[message]]
text = "Sounds good, let's continue tomorrow."
speak = false
kind = "talk"
[[opening]]
text = "Hi there! {message} Thanks."
"""


@pytest.fixture
def known(memory: Memory) -> Memory:
    """A memory of two facts."""
    memory.remember("Luna's vet", "who looks after the dog", "Dr. Moreno.", aliases=["animal doctor"])
    memory.remember("Wifi", "the password for guests", "On the router.")
    return memory


def run(root: Path, *words: str, stdin: str = "") -> Result:
    """`crabmem --dir root eval --speak …`; an exception that no person should see fails the test."""
    return typed("--dir", root, "eval", "--speak", *words, stdin=stdin)


# In Python


def test_what_is_told_is_what_a_turn_would_be_told(known: Memory) -> None:
    done = react(known, [ASKED, TALK])
    assert [each.told for each in done.reactions] == [("luna-s-vet",), ()] and done.wrong == ()
    assert done.reactions[0].confidence >= done.threshold > done.reactions[1].confidence == 0
    assert done.figures == {"spoken": 1, "silent": 1, "right": 1}
    assert done.kinds == {
        "question": {"messages": 1, "spoken": 1, "right": 1},
        "talk": {"messages": 1, "spoken": 0, "right": 1},
    }
    assert "Moreno" in known.before_turn(ASKED.text) and not known.before_turn(TALK.text)


def test_a_message_is_judged_by_itself_whatever_was_told_before(known: Memory) -> None:
    known.write_overview("# Overview\n\nLuna's vet: Dr. Moreno.")
    assert known.before_turn(ASKED.text) == ""
    assert react(known, [ASKED, ASKED]).wrong == ()


def test_silence_where_it_is_to_speak_and_talk_where_not_and_another_entry_are_wrong(known: Memory) -> None:
    given = [Message(TALK.text, True), Message(ASKED.text, False), Message(ASKED.text, True, ("wifi",))]
    done = react(known, given)
    assert len(done.wrong) == 3 and done.figures == {"spoken": 0.5, "silent": 0, "right": 0}


def test_an_entry_that_does_not_exist_is_an_error(known: Memory) -> None:
    with pytest.raises(NotFound, match="Luna's vat"):
        react(known, [Message("who", True, ("Luna's vat",))])


def test_messages_for_other_workspaces_are_passed_over(known: Memory) -> None:
    elsewhere = Message("who", True, ("nobody",), workspace="elsewhere")
    assert react(known, [TALK, elsewhere]).unasked == 1
    with pytest.raises(InvalidArguments, match="there are no messages"):
        react(known, [])


# The file


def test_every_message_to_speak_before_is_tried_within_the_next_opening_too() -> None:
    text = '{"text": "a", "speak": true}\n{"text": "b", "speak": false}'
    assert [each.kind for each in parse_messages(text, "f")] == ["to speak", "to be silent"]
    toml = FILE + '[[message]]\ntext = "wifi?"\nspeak = true\n[[opening]]\ntext = "So: {message}"\nkind = "so"\n'
    *_, one, other = parse_messages(toml, "f")
    assert (one.text, one.kind, one.find) == (f"Hi there! {ASKED.text} Thanks.", "opening", ("Luna's vet",))
    assert (other.text, other.kind) == ("So: wifi?", "so")
    assert len(parse_messages(toml, "f", with_openings=False)) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "f has no messages; write"),
        ('[[message]]\ntext = " "', "f, message 1: no `text`; say what the message is"),
        ('[[message]]\ntext = "a"', r"f, message 1 \(a\): neither `find` nor `speak`; name a fact"),
        ('[[message]]\ntext = "a"\nfind = "b"\nspeak = false', "`find` with `speak = false`; give one"),
        ('[[message]]\ntext = "a"\nspeek = true', "f, message 1: unknown key `speek`.*speak"),
        ('[[message]]\ntext = "a"\nspeak = 1', "f, message 1: "),
        ('[[query]]\ntext = "a"', "f: unknown key `query`"),
        ('message = "a"', "`message` is not a list of tables"),
        ('[[message]]\ntext = "a"\nspeak = true\n[[opening]]\ntext = "hi"', "f, opening 1: no {message} in `text`"),
        ("{", "f, line 1 is not JSON"),
    ],
)
def test_a_file_of_messages_that_is_none_says_where(text: str, words: str) -> None:
    with pytest.raises(InvalidArguments, match=words):
        parse_messages(text, "f")


# The command line


def test_figures_by_kind_and_what_is_wrong_are_printed(known: Memory) -> None:
    done = run(known.root, "-", stdin=FILE + '[[message]]\ntext = "Where is the boat?"\nfind = "wifi"\n')
    assert done.exit_code == 0
    assert "5 messages, 3 right" in done.output and "silent   1.000" in done.output
    assert "wrong: Where is the boat?\n  silent, instead of: wifi (0.00 at a threshold of 0.24)" in done.output


def test_json_has_everything_of_speaking(known: Memory) -> None:
    data = json.loads(run(known.root, "-", "--json", stdin=FILE).stdout)
    assert data["messages"] == 3 and data["threshold"] == 0.24 and data["unasked"] == 0 and data["wrong"] == []
    assert data["figures"] == {"spoken": 1, "silent": 1, "right": 1}
    assert data["kinds"]["opening"] == {"messages": 1, "spoken": 1, "right": 1}
    missed = FILE.replace("speak = false", "speak = true")
    [wrong, _] = json.loads(run(known.root, "-", "--json", stdin=missed).stdout)["wrong"]
    assert wrong == {"text": TALK.text, "kind": "talk", "speak": True, "find": [], "told": [], "confidence": 0}


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--fail-under", "silent=1", "--fail-under", "spoken=1"), 0, ""),
        (("--fail-under", "r@5=0.5"), 2, "r@5 is no figure with --speak; there are: spoken, silent, right"),
        (("--compare", "1 day ago"), 2, "--speak with --compare"),
    ],
)
def test_gates_are_of_the_figures_of_speaking(known: Memory, words: tuple[str, ...], status: int, said: str) -> None:
    done = run(known.root, "-", *words, stdin=FILE)
    assert done.exit_code == status and said in done.stderr


def test_a_figure_of_speaking_under_its_gate_is_status_1(known: Memory) -> None:
    done = run(known.root, "-", "--fail-under", "silent=0.5", stdin=FILE.replace(TALK.text, "Where is Luna's vet"))
    assert done.exit_code == 1 and "silent is 0.0000, under 0.5" in done.stderr


def test_without_speak_its_figures_are_no_gates(known: Memory) -> None:
    question = '[[query]]\ntext = "dog"\nfind = "wifi"\n'
    words = ["--dir", str(known.root), "eval", "-", "--fail-under", "silent=1"]
    done = typed(*words, stdin=question)
    assert done.exit_code == 2 and "silent is no figure without --speak" in done.stderr


@pytest.mark.parametrize("name", ["household", "coding-agent", "claw", "broken"])
def test_in_the_sample_memories_it_hears_people_and_is_deaf_to_small_talk(
    name: str, sample: Callable[[str], Path]
) -> None:
    with Memory(sample(name)) as memory:
        done = react(memory, parse_messages(MESSAGES.read_text("utf-8"), MESSAGES.name))
    assert done.figures["spoken"] >= 0.88 and done.figures["silent"] >= 0.98 and done.figures["right"] >= 0.93
