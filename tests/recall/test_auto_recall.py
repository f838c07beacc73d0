"""What is injected before a turn, and when nothing is."""

from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.operations import maintenance
from tests.conftest import git

ON_TOPIC = [
    "Hey, quick one: who looks after the dog while we are away?",
    "ok so the boiler shows fault code F28 again, any idea what I should do about it?",
    "Could you please tell me what the wifi password for guests is?",
    "Emi ate a peanut, where is the adrenaline pen?",
]
OFF_TOPIC = [
    "thanks, that was perfect!",
    "Can you refactor this function so that it uses a generator instead of a list?",
    "Write me a haiku about the first snow on a mountain railway.",
    "Explain how transformers use attention, in two sentences, to somebody who knows statistics.",
    "ok",
    "What is the capital of Australia, and how many people live there?",
]


@pytest.fixture
def household(sample: object) -> Memory:
    assert callable(sample)
    memory = Memory(sample("household"), session="s-1")
    memory.adopt()
    return memory


@pytest.mark.parametrize("message", ON_TOPIC)
def test_it_speaks_when_a_message_is_about_what_it_holds(household: Memory, message: str) -> None:
    block = household.before_turn(message)
    assert block.startswith("<recall>") and household.recall(message)[0].entry.name in block


@pytest.mark.parametrize("message", OFF_TOPIC)
def test_it_is_silent_when_a_message_is_about_something_else(household: Memory, message: str) -> None:
    assert household.before_turn(message) == ""


@pytest.fixture
def services(memory: Memory) -> Memory:
    """Of each service who owns it, how it is deployed and which database it has."""
    for name in ("billing", "checkout", "ledger", "mailer"):
        made = f"make deploy SVC={name}.\nprod: {name}.example.com"
        memory.remember(f"{name} owner", f"who owns {name}", "Bruno owns it")
        memory.remember(f"deploy of {name}", f"how {name} is deployed", made)
        memory.remember(f"{name} database", f"which database {name} uses", "PostgreSQL")
    return memory


@pytest.mark.parametrize("name", ["billing", "checkout", "ledger", "mailer"])
@pytest.mark.parametrize(
    "message",
    ["who owns {}", "hi, could you tell me who owns {}?", "could you tell me who owns {} please",
     "do you know who owns {}", "which database does {} use"],
)  # fmt: skip
def test_what_recall_finds_first_is_told_first_however_politely_it_is_asked(
    services: Memory, name: str, message: str
) -> None:
    asked = message.format(name)
    wanted = f"{name} database" if "database" in asked else f"{name} owner"
    assert services.recall(asked)[0].entry.name == wanted
    block = services.before_turn(asked)
    assert block.partition("## ")[2].splitlines()[0] == wanted


def test_what_recall_finds_first_alone_is_no_reason_to_speak(services: Memory) -> None:
    assert services.before_turn("what is the capital of a country with an owner in every port?") == ""


def test_a_memory_of_one_fact_speaks_too(memory: Memory) -> None:
    memory.remember("Luna's vet", "who looks after the dog", "Dr. Moreno, every Friday.")
    assert "Moreno" in memory.before_turn("Remind me, who is looking after our dog on Friday?")


def test_nothing_is_said_twice_in_a_session_until_it_changes(household: Memory) -> None:
    asked = ON_TOPIC[0]
    first = household.before_turn(asked)
    assert first and household.before_turn(asked).count("(from ") == 0
    with Memory(household.root, session="s-1") as same, Memory(household.root, session="s-2") as other:
        assert same.before_turn(asked) == "" and other.before_turn(asked) == first
        [path] = [hit.entry.path for hit in other.recall(asked, 1)]
        file = other.root / path
        file.write_text(file.read_text() + "\nNew: she has moved.\n")
        assert "she has moved" in same.before_turn(asked)
        same.adopt()


def test_a_session_may_have_any_name(household: Memory) -> None:
    for session in ("a\nb", "s\ud800", "\0t", "ß" * 200):
        for is_first in (True, False):
            with Memory(household.root, session=session) as memory:
                assert bool(memory.before_turn(ON_TOPIC[0])) == is_first


def test_without_a_session_it_remembers_as_long_as_it_is_open(household: Memory) -> None:
    with Memory(household.root) as one, Memory(household.root) as two:
        assert one.before_turn(ON_TOPIC[0]) and not one.before_turn(ON_TOPIC[0])
        assert two.before_turn(ON_TOPIC[0])


def test_a_host_that_keeps_nothing_in_view_is_told_again(household: Memory) -> None:
    block = household.before_turn(ON_TOPIC[0])
    assert household.before_turn(ON_TOPIC[0], again=True) == block
    assert household.before_turn(ON_TOPIC[0]) == ""


def test_what_the_prompt_says_anyway_is_not_said_again(memory: Memory) -> None:
    fact = "Dr. Moreno on Harbour Street sees the dog\nevery Friday at ten."
    memory.remember("Luna's vet", "who looks after the dog", fact)
    memory.write_overview(f"# Overview\n\n- {' '.join(fact.split())}\n")
    assert memory.before_turn("who looks after the dog?") == ""
    memory.write_overview("# Overview\n\n- Dr. Moreno\n")
    assert "Harbour" in memory.before_turn("who looks after the dog?")


def test_a_short_text_that_stands_in_the_prompt_by_chance_is_still_said(memory: Memory) -> None:
    memory.remember("Birthplace", "where Emi was born", "Bern")
    memory.write_overview("They moved from Bern to Oslo.")
    assert "Bern" in memory.before_turn("where was Emi born?")
    memory.write_overview("Birthplace of Emi: Bern")
    assert memory.before_turn("so where was Emi born?") == ""


def test_what_is_injected_keeps_its_characters(household: Memory) -> None:
    settings = household.root / "crabmem.toml"
    for characters in (40, 300, 2_000):
        settings.write_text(f"[auto_recall]\ncharacters = {characters}\nthreshold = 0.0\n")
        with Memory(household.root) as memory:
            block = memory.before_turn("who looks after the dog and the house in winter?")
            overhead = len("<recall>\n</recall>\n") + 200
            assert block and len(block) <= characters + overhead


def test_a_message_full_of_operators_is_plain_words(memory: Memory) -> None:
    memory.remember("Luna's vet", "who looks after the dog", "Dr. Moreno, every Friday.")
    assert "Moreno" in memory.before_turn('the "dog vet" looks* after "whom?')


def test_eight_words_are_read_where_the_settings_say_so(memory: Memory) -> None:
    memory.remember("Luna's vet", "who looks after the dog", "Dr. Moreno, every Friday.")
    message = "one two three four five six seven eight dog vet Moreno Friday"
    assert memory.before_turn(message)
    (memory.root / "crabmem.toml").write_text("[auto_recall]\nwords = 8\nthreshold = 0.0\n")
    with Memory(memory.root) as again:
        assert again.before_turn(message) == ""
        assert again.before_turn(message.removeprefix("one "))
    memory.adopt()


def test_stats_tell_how_often_it_spoke(household: Memory) -> None:
    assert maintenance.stats(household).since is None
    blocks = [household.before_turn(message) for message in [*ON_TOPIC, *OFF_TOPIC]]
    stats = maintenance.stats(Memory(household.root))
    assert (stats.turns, stats.spoke, stats.sessions) == (len(blocks), len(ON_TOPIC), 1)
    assert stats.characters == sum(map(len, blocks)) and stats.facts == sum(block.count("(from ") for block in blocks)
    assert stats.entries == len(household.entries()) and stats.unreadable == 0


def test_a_turn_changes_no_file_of_memory_and_no_commit(household: Memory) -> None:
    head = git(household.root, "rev-parse", "HEAD")
    household.before_turn(ON_TOPIC[0])
    assert git(household.root, "rev-parse", "HEAD") == head and git(household.root, "status", "--porcelain") == ""


def test_a_workspace_without_history_gets_no_file(tmp_path: Path) -> None:
    entries = tmp_path / "memory/entries"
    entries.mkdir(parents=True)
    (entries / "a.md").write_text("the quokka lives on an island")
    with Memory(tmp_path, session="s") as memory:
        assert memory.before_turn("where does the quokka live?")
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["a.md", "entries", "memory"]
