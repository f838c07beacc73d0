"""Which commit changed an answer: found by few looks, in a history as people and agents make it."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from crabmem import InvalidArguments, Memory, NotFound
from crabmem.git.walk import Line
from crabmem.operations.bisect import Claim, Found, claim_in, halved, last_good, spread
from crabmem.results import Step
from crabmem.session.snapshot import Snapshot
from tests.conftest import ANN, git, typed


class Looks:
    """A trial whose verdicts are known, and what was looked at."""

    def __init__(self, verdicts: Sequence[bool | None]) -> None:
        self.verdicts = verdicts
        self.places: list[int] = []

    def __call__(self, place: int, more: int) -> bool | None:
        if place not in self.places:
            self.places.append(place)
        return self.verdicts[place]


# By halving


@given(st.integers(1, 500), st.integers(0, 499))
def test_the_change_is_found_in_as_many_looks_as_the_commits_can_be_halved(good: int, bad: int) -> None:
    looks = Looks([True] * good + [False] * (bad + 1))
    assert halved(looks, Found(0, good + bad)) == (good - 1, good)
    assert len(looks.places) <= math.ceil(math.log2(good + bad)) if good + bad else not looks.places


@given(st.lists(st.sampled_from([True, False, None]), max_size=60))
def test_what_is_found_is_good_and_bad_with_nothing_between_that_tells(between: list[bool | None]) -> None:
    looks = Looks([True, *between, False])
    good, bad = halved(looks, Found(0, len(between) + 1))
    assert looks.verdicts[good] is True and looks.verdicts[bad] is False
    assert set(looks.verdicts[good + 1 : bad]) <= {None}


@given(st.integers(1, 300), st.integers(1, 300))
def test_the_last_good_moment_is_looked_for_in_doubling_steps(good: int, bad: int) -> None:
    looks = Looks([True] * good + [False] * bad)
    line = Line().continued(0, [(f"{number:040x}", number) for number in range(good + bad)])
    assert halved(looks, last_good(looks, line)) == (good - 1, good)
    assert len(looks.places) <= 2 * math.log2(2 * bad) + 3


def test_many_that_cannot_be_told_side_by_side_do_not_stop_the_search() -> None:
    looks = Looks([True] * 100 + [None] * 300 + [True] * 200 + [False] * 100)
    assert halved(looks, Found(0, 699)) == (599, 600)
    assert len(looks.places) < 20


def test_places_are_tried_all_over() -> None:
    assert [spread(number) for number in range(1, 8)] == [1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8, 7 / 8]


# In a history


def returns(query: str, name: str) -> Claim:
    return Claim(query, name, True)


QUESTIONS = [
    ("what does PW-12 mean", "Error PW-12", None, None),
    ("up to 50 percent", "Discount rule", "HEAD~50", "2026-02-14"),
    ("team chat", "Deploy key", "HEAD~50", "2026-02-05"),
    ("label printer", "Broken printer", None, "2026-02-01"),
    ("meeting monday", "Meeting notes", None, "2026-02-25"),
]


@pytest.mark.parametrize(("query", "name", "since", "until"), QUESTIONS)
def test_the_commit_is_the_one_that_a_look_at_every_commit_finds(
    story: Path, query: str, name: str, since: str | None, until: str | None
) -> None:
    with Memory(story) as memory:
        ids = [commit.commit for commit in memory.log()]
        answers = [returns(query, name).holds(memory.recall(query, as_of=commit)) for commit in ids]
        changes = {new for new, older, a, b in zip(ids, ids[1:], answers, answers[1:], strict=False) if a != b}
        end = answers[ids.index(memory.timeline.commit_at(until or "HEAD"))]
        claim = Claim(query, name, not end)
        done = memory.bisect(lambda moment: claim.holds(moment.recall(query)), since, until)
        assert done.commit and done.commit.commit == done.bad in changes
        assert done.commit.parents[0] == done.good
        assert done.looked_at <= 2 * math.log2(len(ids)) + 2


def test_author_and_session_of_the_change_are_named(story: Path) -> None:
    with Memory(story) as memory:
        done = memory.bisect(lambda moment: "memory/entries/error-pw-12.md" in moment.entries.paths)
        assert done.commit
        told = (done.commit.subject, done.commit.author, done.commit.agent, done.commit.session)
        assert told == ("forget: Error PW-12", "planner", "planner", "s-2")


def test_each_look_is_told_of_and_they_come_out_about_as_said(story: Path) -> None:
    steps = list[Step]()
    with Memory(story) as memory:
        done = memory.bisect(lambda moment: b"Fridays" not in (moment.read("memory/MEMORY.md") or b""), "HEAD~50",
                             "2026-02-20", steps.append)  # fmt: skip
    assert [step.number for step in steps] == list(range(1, done.looked_at + 1))
    assert steps[0].is_good is False and steps[1].is_good is True
    assert all(abs(step.about - done.looked_at) <= 2 for step in steps)


def test_it_says_so_when_there_is_nothing_to_find(story: Path) -> None:
    with Memory(story) as memory:
        with pytest.raises(InvalidArguments, match=r"^it is good at 7981f6fd, so that there is nothing to find"):
            memory.bisect(lambda moment: True)
        with pytest.raises(InvalidArguments, match=r"^it is bad already at .*; begin earlier"):
            memory.bisect(lambda moment: False, since="HEAD~5")
        with pytest.raises(
            InvalidArguments, match=r"bad wherever we looked, back to the first commit, .*; say since when"
        ):
            memory.bisect(lambda moment: False)
        with pytest.raises(InvalidArguments, match="it cannot be told; end at another commit"):
            memory.bisect(lambda moment: None)
        with pytest.raises(InvalidArguments, match="it cannot be told; begin at another commit"):
            memory.bisect(
                lambda moment: None if "memory/entries/rate-limits.md" not in moment.entries.paths else False, "HEAD~50"
            )
        with pytest.raises(InvalidArguments, match="HEAD is no commit on the way to HEAD~3"):
            memory.bisect(lambda moment: False, since="HEAD", until="HEAD~3")
        with pytest.raises(NotFound, match="no revision named nowhere"):
            memory.bisect(lambda moment: False, since="nowhere")


def test_without_a_history_there_is_nothing_to_look_into(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory, pytest.raises(NotFound, match="no history yet"):
        memory.bisect(lambda moment: False)


def test_the_first_commit_alone_is_told_as_such(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.init()
        with pytest.raises(InvalidArguments, match="back to the first commit"):
            memory.bisect(lambda moment: False)


def test_where_it_cannot_be_told_all_that_may_have_done_it_are_named(story: Path) -> None:
    with Memory(story) as memory:
        ids = [commit.commit for commit in memory.log()][::-1]
        verdicts = {commit: at < 20 or (None if at < 24 else False) for at, commit in enumerate(ids)}
        done = memory.bisect(lambda moment: verdicts[moment.commit or ""])
        assert done.commit is None
        assert [commit.commit for commit in done.suspects] == ids[20:25]
        assert (done.good, done.bad) == (ids[19], ids[24])


def test_commits_with_the_same_files_are_looked_at_once(story: Path) -> None:
    git(story, *ANN, "commit", "-q", "--allow-empty", "-m", "again")
    seen = list[str]()

    def test(moment: Snapshot) -> bool:
        seen.append(moment.commit or "")
        return False

    with Memory(story) as memory, pytest.raises(InvalidArguments, match="bad already"):
        memory.bisect(test, since="HEAD~1")
    assert len(seen) == 1


def test_what_a_merge_of_a_person_brought_is_looked_through(story: Path) -> None:
    git(story, "checkout", "-q", "-b", "side", "HEAD~5")
    for number in range(4):
        (story / f"memory/entries/side-{number}.md").write_text(f"side number {number}\n")
        git(story, "add", "-A")
        git(story, *ANN, "commit", "-qm", f"side {number}")
    side = git(story, "rev-parse", "HEAD").strip()
    git(story, "checkout", "-q", "main")
    git(story, *ANN, "merge", "-q", "--no-ff", "-m", "merge side", "side")
    with Memory(story, agent="coder") as memory:
        memory.remember("After", "what came after", "Nothing.")
        claim = Claim("side number", "side-2", False)

        def test(moment: Snapshot) -> bool:
            return claim.holds(moment.recall(claim.query))

        merged = memory.bisect(test)
        assert merged.commit and merged.commit.subject == "side 2"
        within = memory.bisect(test, until=side)
        assert within.commit and within.commit.subject == "side 2"


def test_files_head_and_what_is_kept_of_the_past_stay_as_they_were(story: Path) -> None:
    def look() -> list[str]:
        return [git(story, *words) for words in (("status", "--porcelain"), ("rev-parse", "HEAD"), ("show-ref",))]

    before, times = look(), {file: file.stat().st_mtime_ns for file in story.rglob("*.md")}
    with Memory(story) as memory:
        memory.bisect(lambda moment: returns("PW-12", "Error PW-12").holds(moment.recall("PW-12")))
    assert look() == before
    assert {file: file.stat().st_mtime_ns for file in story.rglob("*.md")} == times
    assert not (story / ".git/crabmem/index/past").exists()


# Claims


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("where is the vet must return Luna's vet", Claim("where is the vet", "Luna's vet", True)),
        ("  who\nmust  not return  X ", Claim("who", "X", False)),
        ("what must return must return The must", Claim("what must return", "The must", True)),
        ("a must not return b", Claim("a", "b", False)),
    ],
)
def test_a_claim_is_a_sentence(text: str, claim: Claim) -> None:
    assert claim_in(text) == claim


@pytest.mark.parametrize("text", ["", "must return X", "where is it", "where must return", "a must never return b"])
def test_another_sentence_is_refused(text: str) -> None:
    with pytest.raises(InvalidArguments, match="say QUERY must return NAME, or QUERY must not return NAME"):
        claim_in(text)


@pytest.mark.parametrize("name", ["Deploy key", "deploy KEY", "deploy-key", "release key"])
def test_a_claim_names_an_entry_as_one_would_look_it_up(memory: Memory, name: str) -> None:
    memory.remember("Deploy key", "where it is", "In the vault.", aliases=["release key"])
    assert Claim("vault", name, True).holds(memory.recall("vault"))
    assert not Claim("vault", name, False).holds(memory.recall("vault"))
    assert Claim("vault", "another", False).holds(memory.recall("vault"))


# On the command line


def run(root: Path, *words: str) -> Result:
    return typed("--dir", root, "bisect", *words)


def test_the_command_line_names_the_commit_and_who_made_it(story: Path) -> None:
    done = run(story, "--good", "what does PW-12 mean must return Error PW-12")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "ff921ac8  forget: Error PW-12",
        "  2026-02-04 18:00 by planner, session s-2",
        "  memory/entries/error-pw-12.md",
        "good at bf178aaf, bad at ff921ac8; 11 of 60 commits looked at",
    ]
    assert done.stderr.splitlines()[0] == "step 1 of about 14: bad at 7981f6fd"
    found = json.loads(run(story, "--bad", "who grants discounts must not return Discount rule", "--json").stdout)
    assert found["commit"]["subject"] == "remember: Discount rule"
    assert (found["commit"]["session"], found["bad"]) == ("s-2", found["commit"]["commit"])


def test_a_command_decides_in_a_folder_of_its_own(story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "check.sh"
    script.write_text(f'#!/bin/sh\npwd >> {tmp_path}/where\n[ "$CRABMEM_DIR" = "$PWD" ] || exit 3\n'
                      'grep -q Fridays memory/MEMORY.md || exit 0\n[ -e memory/entries/return-label.md ] || exit 125\n'
                      'exit 1\n')  # fmt: skip
    script.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    done = run(story, "--until", "f480b82d", "--", "./check.sh")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("one of these 7, as it cannot be told between them:\nbd326e16  memory: MEMORY.md\n")
    assert "cannot be told at" in done.stderr
    folders = (tmp_path / "where").read_text().split()
    assert len(set(folders)) == len(folders) > 5 and not any(map(Path.exists, map(Path, folders)))


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "say what is wrong by --bad or --good, or by a command after --\n"),
        (("--bad", "a must not return b", "--", "true"), 2, "a command after --: one of the two"),
        (("--bad", "deploy must return Deploy key"), 2, "--bad takes 'QUERY must not return NAME'"),
        (("--good", "deploy must not return Deploy key"), 2, "--good takes 'QUERY must return NAME'"),
        (("--good", "deploy"), 2, "crabmem: deploy: say QUERY must return NAME"),
        (("--bad", "deploy must not return Deploy kee"), 1, 'no fact called Deploy kee. Did you mean "Deploy key"?'),
        (("--good", "deploy key must return Deploy key"), 1, "crabmem: it is good at 7981f6fd"),
        (("--limit", "0", "--bad", "a must not return b"), 2, "limit"),
        (("--", "nowhere-to-be-found"), 1, "nowhere-to-be-found cannot be run: no such file"),
        (("--until", "1999-01-01", "--good", "a must return b"), 1, "the history begins after 1999-01-01"),
    ],
)
def test_errors_say_what_to_do(story: Path, words: tuple[str, ...], code: int, said: str) -> None:
    done = run(story, *words)
    assert (done.exit_code, said in done.stderr) == (code, True), done.output
    assert done.stdout == ""
