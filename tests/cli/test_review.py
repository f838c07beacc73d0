"""`crabmem review` and the decisions one by one, as a person types them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.operations import proposals
from crabmem.write.actor import Actor
from tests import forked
from tests.conftest import assert_clean, git, typed
from tests.opening import opened_with

VET, WIFI, DOOR = ("memory/entries/vet.md", "memory/entries/wifi.md", "memory/entries/door.md")
#: Three facts that wait, a second between.
WAITING = (
    ("coder", "s-1", "Vet", "who", "Dr. Ortega.", ["person"]),
    ("coder", "s-1", "Wifi", "which", "On the router.", None),
    ("painter", "s-2", "Door", "which", "The green one.", None),
)
Crab = Callable[..., subprocess.CompletedProcess[str]]


def _same(moment: datetime) -> datetime:
    return moment


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A workspace in which three facts of an agent wait."""
    root = tmp_path / "memory"
    root.mkdir()
    (root / "crabmem.toml").write_text('[review]\nwait = ["entries"]\n')
    with Memory(root, is_person=True) as person:
        person.remember("Vet", "who", "Dr. Moreno.")
    for number, (agent, session, name, about, text, tags) in enumerate(WAITING):
        then = datetime.now(UTC) - timedelta(seconds=9 - number)
        with opened_with(root, Actor(agent, session), partial(_same, then), environment=os.environ) as memory:
            memory.remember(name, about, text, tags=tags)
    yield root
    assert_clean(root)


@pytest.fixture
def crab(root: Path, tmp_path: Path) -> Crab:
    """Runs `crabmem …` with an editor that does what some Python says of `text`, the file's."""

    def run(*words: str, editor: str = "pass", **environment: str) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "editor.py"
        script.write_text(
            "import pathlib, sys\nfile = pathlib.Path(sys.argv[1])\ntext = file.read_text()\n"
            f"{editor}\nfile.write_text(text)\n"
        )
        bare = {name: value for name, value in os.environ.items() if not name.startswith("CRABMEM_")}
        env = {**bare, "EDITOR": f"{sys.executable} {script}", "VISUAL": "", **environment}
        return subprocess.run(
            [*forked.COMMAND, "--dir", str(root), *words], capture_output=True, text=True, env=env,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    return run


def waiting(root: Path) -> list[str]:
    with Memory(root, is_person=True) as person:
        return [each.path for each in proposals.proposals(person)]


def ids(root: Path) -> list[str]:
    with Memory(root, is_person=True) as person:
        return [each.id for each in proposals.proposals(person)]


def blocks(code: str) -> str:
    """An editor that has the blocks of the file as a list and puts them together again."""
    return f"head, *blocks = text.split('\\n%%% [')\n{code}\ntext = '\\n%%% ['.join(['%%%', *blocks])"


def test_what_is_left_is_applied_what_is_deleted_rejected_and_what_is_reworded_applied_so(
    root: Path, crab: Crab
) -> None:
    editor = blocks("del blocks[1]\nblocks[1] = blocks[1].replace('green', 'red')")
    done = crab("review", "--yes", editor=editor)
    assert done.returncode == 0, done.stderr
    assert "Dr. Ortega." in (root / VET).read_text() and "The red one." in (root / DOOR).read_text()
    assert not (root / WIFI).exists() and waiting(root) == []
    words = [line.split("  ")[1] for line in done.stdout.splitlines()]
    assert words == ["applied: remember: Vet", "rejected: remember: Wifi", "applied, reworded: remember: Door"]
    assert git(root, "log", "-2", "--format=%an %s").splitlines() == [
        "person apply: Door as painter proposed, reworded",
        "person apply: Vet as coder proposed",
    ]


def test_what_is_to_wait_waits(root: Path, crab: Crab) -> None:
    done = crab("review", "--yes", editor=blocks("blocks[0] += '\\n# later'\nblocks[2] += '\\n# Later '"))
    assert waiting(root) == [VET, DOOR] and (root / WIFI).exists()
    assert "2 proposals wait still" in done.stderr


@pytest.mark.parametrize("editor", ["pass", "text = ''", "text = ' \\n'", "text += '\\n\\n'"])
def test_a_file_that_is_empty_or_as_it_was_decides_nothing(root: Path, crab: Crab, editor: str) -> None:
    done = crab("review", "--yes", editor=editor)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "nothing was decided\n")
    assert waiting(root) == [VET, WIFI, DOOR]


def test_nothing_is_decided_where_nobody_is_there_to_ask(root: Path, crab: Crab) -> None:
    done = crab("review", editor="text = '%%%'")
    assert (done.returncode, done.stderr) == (1, "crabmem: nothing was decided: this needs a terminal, or --yes\n")
    assert waiting(root) == [VET, WIFI, DOOR]


@pytest.mark.parametrize("words", [["review", "--yes"], ["review", "apply", "--all", "--yes"],
                                   ["review", "reject", "--by", "coder", "--yes"]])  # fmt: skip
def test_no_agent_decides_on_many_either(root: Path, crab: Crab, words: list[str]) -> None:
    for done in (crab("--agent", "a", *words, editor="text = '%%%'"), crab(*words, CRABMEM_AGENT="coder")):
        assert (done.returncode, done.stdout) == (1, "")
        assert "a person decides on proposals, and no agent" in done.stderr
    assert waiting(root) == [VET, WIFI, DOOR]


def test_a_file_that_cannot_be_read_decides_nothing_and_stays(root: Path, crab: Crab) -> None:
    done = crab("review", "--yes", editor="text = 'hello\\n' + text")
    assert done.returncode == 2 and "line 1 belongs to no file" in done.stderr
    [kept] = [line.removeprefix("what you wrote is in ") for line in done.stderr.splitlines() if "wrote is in" in line]
    assert Path(kept).read_text().startswith("hello\n")
    assert waiting(root) == [VET, WIFI, DOOR]


def test_what_was_changed_while_the_editor_was_open_is_merged_or_waits(root: Path, crab: Crab) -> None:
    vet = ids(root)[0]
    change = (
        f"vet = pathlib.Path({str(root / VET)!r})\nvet.write_text(vet.read_text().replace('Moreno', 'Vega'))\n"
        "text = text.replace('green', 'red')"
    )
    done = crab("review", "--yes", "--json", editor=change)
    told = {each["id"]: each for each in json.loads(done.stdout)["proposals"]}
    assert told[vet]["done"] == "later" and "changed since" in told[vet]["why"]
    assert waiting(root) == [VET] and "Vega" in (root / VET).read_text()
    assert "The red one." in (root / DOOR).read_text()


def test_both_texts_are_shown_of_what_does_not_fit_and_it_waits(root: Path, crab: Crab, tmp_path: Path) -> None:
    (root / VET).write_text((root / VET).read_text().replace("Moreno", "Vega"))
    copy = f"pathlib.Path({str(tmp_path / 'seen')!r}).write_text(text)\n"
    crab("review", "--yes", editor=copy + "text = text.replace('green', 'red')")
    seen = (tmp_path / "seen").read_text()
    assert "%%%   -Dr. Vega." in seen and "\nDr. Ortega.\n" in seen and "\n# later\n%%% file 1: memory" in seen
    assert waiting(root) == [VET]
    crab("review", "--yes", editor="text = text.replace('# later\\n%%% file', '%%% file')")
    assert waiting(root) == [] and "Ortega" in (root / VET).read_text()


def test_a_selection_is_opened_alone(root: Path, crab: Crab) -> None:
    crab("review", "--by", "painter", "--yes", editor="text = '%%%'")
    assert waiting(root) == [VET, WIFI]
    crab("review", "--tag", "Person", "--yes", editor="text = '%%%'")
    assert waiting(root) == [WIFI]
    crab("review", "--in", "s-1", "--yes", editor="text = '%%%'")
    assert waiting(root) == []
    assert crab("review").stderr == "nothing to review\n"


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["--by", "coder"], [DOOR]),
        (["--in", "s-2"], [VET, WIFI]),
        (["--tag", "person"], [WIFI, DOOR]),
        (["--tag", "person", "--by", "painter"], [VET, WIFI, DOOR]),
        (["--all"], []),
    ],
)
def test_several_are_applied_or_rejected_at_once(root: Path, crab: Crab, words: list[str], left: list[str]) -> None:
    assert crab("review", "apply", *words).returncode == (1 if len(left) < 3 else 0)
    assert waiting(root) == [VET, WIFI, DOOR]
    done = crab("review", "apply", *words, "--yes", "--json")
    assert len(json.loads(done.stdout)["proposals"]) == 3 - len(left)
    assert waiting(root) == left
    crab("review", "reject", "--all", "--yes")
    assert waiting(root) == []


@pytest.mark.parametrize("words", [["review"], ["review", "list"], ["review", "apply"], ["review", "reject"]])
def test_where_nothing_fits_it_is_told_with_how_many_wait(root: Path, crab: Crab, words: list[str]) -> None:
    done = crab(*words, "--by", "no body", "--tag", "person", *(["--yes"] if words[-1] != "list" else []))
    way = "`--by 'no body' --tag person`"
    assert done.stderr == f"nothing that waits here fits {way}; 3 proposals wait: `crabmem review list`\n"
    assert (done.returncode, done.stdout) == (0, "") and waiting(root) == [VET, WIFI, DOOR]


def test_a_proposal_is_reworded_in_an_editor(root: Path, crab: Crab) -> None:
    id = ids(root)[0][:8]
    assert "still waits" in crab("review", "edit", id).stderr
    assert waiting(root) == [VET, WIFI, DOOR]
    done = crab("review", "edit", id, editor="text = text.replace('Ortega', 'Ortega-Ruiz')")
    assert "+Dr. Ortega-Ruiz." in done.stdout
    assert waiting(root) == [WIFI, DOOR]


@pytest.mark.parametrize("words", [[], ["--all", "--by", "x", "abcd1234"], ["abcd1234", "--tag", "t"]])
def test_what_is_meant_has_to_be_said_once(root: Path, crab: Crab, words: list[str]) -> None:
    assert crab("review", "reject", *words, "--yes").returncode == 2


def test_a_note_and_a_lesson_say_that_they_wait_and_the_same_note_again_is_noted(root: Path, crab: Crab) -> None:
    (root / "crabmem.toml").write_text('[review]\nwait = ["everything"]\n')
    note, win = ("note", "Called the vet"), ("learn", "win", "Asking first")
    for _ in range(2):
        assert crab("--agent", "coder", *note).stdout.startswith("waits: memory/")
        assert crab("--agent", "coder", *win).stdout.startswith("waits: memory/learnings/wins.md\n")
        assert crab(*note).stdout.startswith("noted in memory/")
    (root / "crabmem.toml").unlink()
    for state in ("learned", "said so already"):
        assert crab(*win).stdout.startswith(f"{state}: memory/learnings/wins.md\n")


def test_an_agent_is_told_on_the_command_line_what_waits(root: Path, crab: Crab) -> None:
    done = crab("--agent", "coder", "remember", "Cat", "-d", "whose", "-c", "Mine.")
    assert (
        done.stdout.startswith("waits: Cat\n")
        and "not written yet, as it waits for the person (entries)" in done.stderr
    )
    assert crab("--agent", "coder", "forget", "vet").stdout == "waits: Vet\n"
    assert crab("--agent", "coder", "rename", "vet", "Doctor").stdout.startswith("waits: Vet to Doctor\n")
    for words in (["undo", "HEAD"], ["revert", "HEAD"], ["restore", "--to", "HEAD~1"]):
        assert crab("--agent", "coder", *words).stdout.splitlines()[:1] == ["waits"], words
    data = json.loads(crab("--agent", "coder", "forget", "vet", "--json").stdout)["facts"][0]
    assert data["commit"] is None and data["proposal"]


def test_status_says_how_many_wait_and_since_when(root: Path, crab: Crab) -> None:
    assert "3 proposals wait for you, since today: `crabmem review`" in crab("status").stdout
    data = json.loads(crab("status", "--json").stdout)
    assert data["proposals"] == 3 and data["waiting_since"]


@pytest.mark.parametrize("answer", ["n", "y"])
def test_a_summary_is_shown_and_asked_for_before_anything_happens(
    root: Path, scripted_editor: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    scripted_editor("sed -i -e 's/green/red/' -e 's/On the router./&\\n# later/' \"$1\"")
    monkeypatch.setattr("crabmem.cli.verbs.review.can_ask", lambda: True)
    monkeypatch.setattr("crabmem.cli.output.can_ask", lambda: True)
    done = typed("--dir", root, "review", stdin=f"{answer}\n")
    told = done.stderr
    assert "apply 2 (1 reworded) and keep waiting 1:" in told and "Do this? [y/N]" in told
    lines = re.findall(r"  (keep waiting|apply)  +[0-9a-f]{8}  remember: (.*)", told)
    assert lines == [("keep waiting", "Wifi"), ("apply", "Door  (reworded)"), ("apply", "Vet")]
    assert waiting(root) == ([WIFI] if answer == "y" else [VET, WIFI, DOOR])
    assert ("what you wrote is in" in told) is (answer == "n")


def test_of_several_one_that_does_not_fit_stops_no_other(root: Path, crab: Crab) -> None:
    (root / VET).write_text((root / VET).read_text().replace("Moreno", "Vega"))
    done = crab("review", "apply", "--all", "--yes")
    assert done.returncode == 1 and "changed since" in done.stderr
    assert [line.split("  ")[1][:7] for line in done.stdout.splitlines()] == ["waits s", "applied", "applied"]
    assert waiting(root) == [VET]


def test_what_was_rejected_waits_again_as_long_as_git_has_it(root: Path, crab: Crab) -> None:
    waited, before = ids(root), waiting(root)
    assert crab("review", "reject", "--all", "--yes").returncode == 0 and waiting(root) == []
    done = crab("review", "restore", *(id[:8] for id in waited))
    assert done.returncode == 0 and done.stdout.count("waits again: ") == 3
    assert (waiting(root), ids(root)) == (before, waited)
    head = git(root, "rev-parse", "HEAD").strip()
    of_none = next(
        digits for digits in ("0000", "1111", "2222", "3333") if not any(id.startswith(digits) for id in waited)
    )
    for strange in (head, of_none, "HEAD", "refs/heads/main", "x"):
        assert "no proposal" in crab("review", "restore", strange).stderr
    assert ids(root) == waited
    assert crab("--agent", "coder", "review", "restore", waited[0]).returncode != 0


def test_the_way_back_from_a_rejection_has_all_that_was_rejected(root: Path, crab: Crab) -> None:
    with Memory(root, agent="coder") as memory:
        for number in range(4):
            memory.remember(f"Key {number}", f"which is {number}", f"It is {number}.")
    waited = ids(root)
    told = crab("review", "reject", "--all", "--yes").stderr
    assert told == f"`crabmem review restore {' '.join(id[:8] for id in waited)}` has them wait again\n"
    assert crab(*told.split("`")[1].split()[1:]).returncode == 0 and ids(root) == waited
    told = crab("review", "reject", waited[0][:8], "--yes").stderr
    assert told == f"`crabmem review restore {waited[0][:8]}` has it wait again\n"


def test_what_was_applied_and_is_undone_waits_again(root: Path, crab: Crab) -> None:
    waited = ids(root)
    assert crab("review", "apply", waited[0]).returncode == 0
    assert crab("undo").returncode == 0
    assert ids(root) == waited and "Moreno" in (root / VET).read_text()


def test_an_agent_that_undoes_has_nothing_wait_again(root: Path, crab: Crab) -> None:
    assert crab("review", "apply", ids(root)[0]).returncode == 0
    left = ids(root)
    (root / "crabmem.toml").write_text("")
    crab("record")
    with Memory(root, agent="coder") as agent:
        agent.revert("HEAD~1")
        agent.undo()
    assert ids(root) == left


@pytest.mark.parametrize(
    "ending", ["file.write_text(text); sys.exit(1)", "file.write_text(text); raise KeyboardInterrupt"]
)
def test_what_was_written_stays_when_the_editor_fails(root: Path, crab: Crab, ending: str) -> None:
    done = crab("review", "--yes", editor=f"text = text.replace('green', 'red'); {ending}")
    assert done.returncode == 1 and len(waiting(root)) == 3
    [kept] = re.findall(r"what you wrote is in (.*)", done.stderr)
    assert "The red one." in Path(kept).read_text()


def test_words_for_what_is_to_wait_stay_in_the_file_and_are_told_of(root: Path, crab: Crab) -> None:
    done = crab("review", "--yes", editor="text = text.replace('The green one.', 'The red one.\\n  #later')")
    assert done.returncode == 0 and "without your words" in done.stdout and waiting(root) == [DOOR]
    [kept] = re.findall(r"what you wrote is in (.*)", done.stderr)
    assert "The red one." in Path(kept).read_text()


def test_two_reviews_at_once_tell_of_what_the_other_one_decided(root: Path, crab: Crab) -> None:
    other = [*forked.COMMAND, "--dir", str(root), "review", "apply", ids(root)[0]]
    meanwhile = f"import subprocess; subprocess.run({other!r})"
    done = crab("review", "--yes", editor=f"{meanwhile}\ntext = text.replace('green', 'red')")
    assert done.returncode != 0 and "decided already" in done.stdout and waiting(root) == []


def test_words_that_break_a_fact_are_not_applied(root: Path, crab: Crab) -> None:
    done = crab("review", "--yes", editor="text = text.replace('description: which\\n---\\n\\nThe', 'The')")
    assert done.returncode != 0 and "memory/entries/door.md" in done.stderr and waiting(root) == [DOOR]


def test_signs_that_nobody_sees_are_spelled_where_a_person_looks_at_what_waits(root: Path, crab: Crab) -> None:
    with Memory(root, agent="coder") as agent:
        agent.remember("Odd", "d", "a \u202e b\rOVER")
    done = crab("review", "show", ids(root)[-1])
    assert "\u202e" not in done.stdout and "U+202E" in done.stdout
    assert "remember: Odd" in crab("review", "list").stdout


def test_a_path_is_no_text_of_the_file(root: Path, crab: Crab) -> None:
    done = crab(
        "review",
        "--yes",
        editor="text = text.replace('file 1: memory/entries/door.md', 'file 1: memory/entries/gate.md')",
    )
    assert done.returncode != 0 and "a path stays as it is" in done.stderr and len(waiting(root)) == 3


def test_an_edit_of_what_does_not_fit_any_more_says_that_it_replaces_what_is_there(root: Path, crab: Crab) -> None:
    (root / VET).write_text((root / VET).read_text().replace("Moreno", "Vega"))
    done = crab("review", "edit", ids(root)[0], editor="text = text.replace('Ortega', 'Ortega, once Vega')")
    assert done.returncode == 0 and "what you save replaces what is there" in done.stderr
    assert "Dr. Ortega, once Vega." in (root / VET).read_text()
