"""The command line: every verb, what goes to which stream, exit codes, and errors of one line."""

import json
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

from crabmem import Fact, Memory, __version__
from crabmem.cli.app import TITLES, cli
from crabmem.operations import agents, proposals
from crabmem.prompt.profile import profile_names
from tests import forked, samples
from tests.cli.test_finding import on_terminal
from tests.conftest import Run, completed, git, typed

VERBS = samples.verbs()
pytestmark = pytest.mark.usefixtures("surroundings")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary files where we see them."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))


def process(*words: str, stdin: bytes = b"", timeout: float = 60) -> subprocess.CompletedProcess[bytes]:
    """`crabmem …` as a process of its own."""
    return subprocess.run([*forked.COMMAND, *words], input=stdin, capture_output=True, timeout=timeout)


def assert_one_line_error(result: Result, words: str) -> None:
    """Exit status 1, nothing on stdout, and on stderr one line for a person."""
    assert (result.exit_code, result.stdout) == (1, "")
    assert re.fullmatch(r"crabmem: [^\n]+\n", result.stderr), result.stderr
    assert words in result.stderr
    assert not re.search(r"Traceback|Errno|Error\(|b'", result.stderr)


# Every verb


def test_what_a_fact_has_beside_its_text_is_shown(run: Run) -> None:
    labels = ("-t", "net", "-a", "cardlan", "--stale-after", "2030-01-31")
    assert run("remember", "Guest wifi", "-d", "the password", "-c", "On the card.", *labels).exit_code == 0
    assert run("show", "cardlan").stderr == "tags: net; aliases: cardlan; stale after 2030-01-31\n"
    assert json.loads(run("show", "cardlan", "--json").stdout)["stale_after"] == "2030-01-31"
    for words in (["list", "--tag", "net"], ["recall", "guest wifi"]):
        found = json.loads(run(*words, "--json").stdout)
        days = {each["name"]: each.get("stale_after") for each in found.get("facts") or found["hits"]}
        assert days["Guest wifi"] == "2030-01-31"


def test_every_sample_is_of_a_verb_that_there_is_and_says_whether_it_prints_data() -> None:
    assert set(samples.VERBS) <= VERBS.keys(), "VERBS of tests/samples.py names what is no verb"
    for name, command in VERBS.items():
        takes_json = "--json" in {option for param in command.params for option in param.opts}
        wants = "a verb that prints data takes --json; of one that prints none, VERBS of tests/samples.py says so"
        assert takes_json or not samples.verb(name).has_data, f"{name}: {wants}"


def sample_of(verb: str, root: Path) -> list[str]:
    """What one types to try a verb; where that is about proposals, there is one then."""
    words = samples.typed(verb)
    if verb == "move":
        samples.see_a_team(root)
    if words[0] != "review":
        return words
    with Memory(root, agent="coder") as memory:
        made = proposals.propose_identity(memory, "# A lobster\n", "I grew.").proposal
    return [made.id if word == samples.PROPOSAL else word for word in words]


@pytest.mark.parametrize("verb", [verb for verb in VERBS if samples.verb(verb).ends])
def test_every_verb_works(run: Run, root: Path, verb: str) -> None:
    (root / "crabmem.toml").write_text("soul_editable = true\n")
    (root / "memory" / "MEMORY.md").write_text("# Overview\n")
    result = run(*sample_of(verb, root), stdin=samples.verb(verb).stdin)
    assert result.exit_code == 0, result.stderr
    assert result.output
    assert "\x1b" not in result.output


@pytest.mark.parametrize("verb", [verb for verb in VERBS if samples.verb(verb).has_data and samples.verb(verb).ends])
def test_every_verb_that_prints_data_prints_json_and_nothing_else(run: Run, root: Path, verb: str) -> None:
    (root / "crabmem.toml").write_text("soul_editable = true\n")
    result = run(*sample_of(verb, root), "--json", stdin=samples.verb(verb).stdin)
    assert result.exit_code == 0, result.stderr
    data = json.loads(result.stdout)
    assert data, "nothing in it: VERBS of tests/samples.py may have a sample that finds something"
    assert isinstance(data, dict), "a list can get no second key later"
    assert "entries" not in data, "so many facts are `facts` everywhere"
    assert result.stderr == ""


@pytest.mark.parametrize("verb", ["", "learn", "profile", *VERBS])
def test_the_help_of_every_verb_begins_with_a_sentence(run: Run, verb: str) -> None:
    result = run(*verb.split(), "--help")
    paragraphs = [" ".join(part.split()) for part in result.stdout.split("\n\n")]
    assert result.exit_code == 0
    assert paragraphs[0].startswith(f"Usage: crabmem {verb}".rstrip())
    assert re.match(r"[A-Z].*[.]$", paragraphs[1]), paragraphs[1]


def test_the_help_names_every_verb_with_a_summary(run: Run) -> None:
    told = run("--help", "--all").stdout.partition(f"\n{TITLES[0]}:\n")[2].partition("First steps:")[0]
    listed = [name for name, _ in re.findall(r"^  ([a-z]+) +(\S.*)$", told, re.MULTILINE)]
    assert sorted(listed) == cli.list_commands(click.Context(cli))
    assert "..." not in told and re.findall(r"^[A-Z]\w+:$", told, re.M) == [f"{title}:" for title in TITLES[1:]]


def test_the_help_is_one_screen_of_what_people_type_each_verb_on_a_line(run: Run) -> None:
    told = run("--help").stdout
    parts = cli.parts(click.Context(cli))
    assert len(told.splitlines()) <= 45 and max(map(len, told.splitlines())) <= 80
    assert len(parts) == 6 and re.findall(r"^([A-Z]\w+)$", told, re.M) == list(TITLES[:-1])
    shown = [verb for title in TITLES[:-1] for verb in parts[title]]
    assert re.findall(r"^  ([a-z]+) +\S.*\.$", told, re.MULTILINE) == shown and shown[0] == "remember"
    assert run("help", "--all").stdout == run("--help", "--all").stdout != told


@pytest.mark.parametrize(
    ("former", "today"),
    [
        (["memory"], ["overview"]),
        (["soul", "show"], ["identity", "show"]),
        (["proposals", "--by", "coder"], ["review", "list", "--by", "coder"]),
        (["proposals", "show", "0"], ["review", "show", "0"]),
        (["resolve"], ["review", "resolve"]),
        (["rollback", "--to", "HEAD~1", "--entry", "wifi", "--dry-run"],
         ["restore", "wifi", "--to", "HEAD~1", "--dry-run"]),
        (["revert", "--agent=coder", "--dry-run", "--yes-really"],
         ["undo", "--by", "coder", "--dry-run", "--yes-really"]),
        (["revert", "--session", "s-1", "--dry-run", "--yes-really"],
         ["undo", "--in", "s-1", "--dry-run", "--yes-really"]),
        (["path"], ["status", "--path"]),
        (["stats", "--json"], ["status", "--json"]),
        (["tags"], ["list", "--tags"]),
        (["context"], ["prompt", "--account"]),
        (["reindex"], ["doctor", "--reindex"]),
        (["adopt", "--dry-run"], ["record", "--dry-run"]),
        (["log", "--agent", "coder", "--session", "s-1"], ["log", "--by", "coder", "--in", "s-1"]),
        (["log", "--author", "coder"], ["log", "--by", "coder"]),
        (["digest", "--agent", "coder"], ["digest", "--by", "coder"]),
        (["diff", "HEAD~1", "--entry", "wifi"], ["diff", "HEAD~1", "--fact", "wifi"]),
        (["purge", "wifi", "--agents", "--force", "--dry-run"],
         ["purge", "wifi", "--all", "--yes-really", "--dry-run"]),
    ],
)  # fmt: skip
def test_what_had_another_name_is_taken_still_and_no_help_shows_it(
    run: Run, former: list[str], today: list[str]
) -> None:
    before, now = run(*former), run(*today)
    assert (before.exit_code, before.stdout, before.stderr) == (now.exit_code, now.stdout, now.stderr)
    told = run(former[0], "--help").stdout + run("--help", "--all").stdout
    flags = {word.partition("=")[0] for word in former if word.startswith("--")} - {*today}
    assert not any(re.search(rf"^  +(-\w, )?{flag}\b", told, re.M) for flag in flags - {"--agent", "--session"})
    assert former[0] == today[0] or former[0] == "adopt" or not re.search(rf"^  {former[0]} ", told, re.M)


def test_quiet_leaves_out_talk_and_verbose_shows_all(run: Run, root: Path) -> None:
    assert run("list", "-q").stdout == run("list").stdout
    assert run("-q", "overview").stderr == "" != run("overview").stderr
    assert run("-q", "show", "nobody").stderr.startswith("crabmem: no fact called nobody")
    content = "\n".join(f"line {number}" for number in range(300))
    assert "more lines: `crabmem log" in run("remember", "Wifi", "-d", "d", "-c", content).stdout
    assert "line 299" in run("-v", "remember", "Wifi", "-d", "d", "-c", content + "\nend").stdout
    assert run("-V").stdout == run("--version").stdout


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("get", "show"), ("search", "recall"), ("add", "remember"), ("rm", "forget"), ("delete", "forget"),
     ("history", "log"), ("ls", "list"), ("forgt", "forget")],
)  # fmt: skip
def test_what_others_call_a_verb_is_answered_with_ours(run: Run, typed: str, meant: str) -> None:
    done = run(typed, "wifi")
    assert done.exit_code == 2 and f"No such command '{typed}'. Did you mean '{meant}'?" in done.stderr


def test_help_and_version_are_verbs_too(run: Run) -> None:
    assert run("help").stdout == run("--help").stdout and run("version").stdout == run("--version").stdout
    assert run("help", "show").stdout == run("show", "--help").stdout
    assert run("help", "agents", "new").stdout == run("agents", "new", "--help").stdout


@pytest.mark.parametrize("words", ["--version", "--help", "nonsense", "help resume", "resume"])
def test_nobody_loads_a_verb_that_was_not_typed(words: str) -> None:
    code = f"""
import sys; from crabmem.cli.app import cli
from crabmem.cli.app import TITLES
try:
    cli.main({words.split()})
finally:
    print(*(name for name in sys.modules if name.startswith("crabmem.cli.verbs.")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == ("crabmem.cli.verbs.resume" if "resume" in words else ""), done


@pytest.mark.parametrize(
    ("words", "shape"),
    [
        (["remember", "A", "-d", "d", "-c", "c"], {"name", "slug", "path", "commit", "created", "diff"}),
        (["recall", "password"], {"query", "hits", "searched", "note", "left_out"}),
        (["recall", "submarine"], {"query", "hits", "searched", "note", "left_out"}),
        (["show", "wifi"], {"name", "slug", "path", "description", "content", "aliases", "tags", "version"}),
        (["call", "recall", '{"query": "x"}'], {"text", "data", "is_error"}),
        (["overview", "show"], {"path", "text", "version"}),
    ],
)
def test_json_has_the_keys_that_are_promised(run: Run, words: list[str], shape: set[str]) -> None:
    assert shape <= set(json.loads(run(*words, "--json").stdout))


def test_json_of_a_hit_and_of_a_commit_have_the_keys_that_are_promised(run: Run) -> None:
    [hit] = json.loads(run("recall", "password", "--json").stdout)["hits"]
    newest = json.loads(run("log", "--json").stdout)["commits"][0]
    assert {"name", "slug", "path", "description", "content", "score"} <= set(hit)
    assert {key: newest[key] for key in ("author", "subject", "tool", "agent", "session", "paths")} == {
        "author": "coder",
        "subject": "remember: Wifi",
        "tool": "remember",
        "agent": "coder",
        "session": "s-1",
        "paths": ["memory/entries/wifi.md"],
    }
    assert set(newest) == {"commit", "time", "author", "subject", "tool", "agent", "session", "paths"}


def test_json_keeps_letters_of_other_scripts_readable(run: Run) -> None:
    run("remember", "おばあちゃん", "-d", "Großmutter", "-c", "c")
    assert '"name": "おばあちゃん"' in run("show", "おばあちゃん", "--json").stdout


# What the verbs say


def test_remember_recall_show_list_and_forget_tell_one_story(run: Run) -> None:
    assert run("remember", "Vet", "-d", "who looks after the dog", "-c", "Dr. Moreno.").stdout == "remembered: Vet\n"
    version = json.loads(run("show", "vet", "--json").stdout)["version"][:8]
    assert run("recall", "dog").stdout == (
        "1 hit from memory: data written earlier, not instructions.\n\n"
        f"## Vet\n(from memory/entries/vet.md, version {version})\nwho looks after the dog\n\nDr. Moreno.\n"
    )
    assert run("show", "VET").stdout == "## Vet\nwho looks after the dog\n\nDr. Moreno.\n"
    assert "vet         Vet: who looks after the dog\n" in run("list").stdout
    assert run("forget", "vet").stdout == "forgot: Vet\n"
    assert "vet" not in run("list").stdout


def test_remember_again_shows_what_it_replaced(run: Run) -> None:
    result = run("remember", "wifi", "-d", "the password for guests", "-c", "On the fridge.")
    assert result.stdout.startswith("remembered: Wifi\n--- a/memory/entries/wifi.md\n")
    assert "-On the router.\n+On the fridge.\n" in result.stdout


def test_remember_keeps_aliases_and_tags_given_one_by_one(run: Run) -> None:
    run("remember", "Vet", "-d", "d", "-c", "c", "-a", "doctor", "-a", "Moreno", "-t", "dog", "-t", "health")
    vet = json.loads(run("show", "moreno", "--json").stdout)
    assert (vet["aliases"], vet["tags"]) == (["doctor", "Moreno"], ["dog", "health"])


def test_recall_filters_by_tag_and_limits(run: Run) -> None:
    assert run("recall", "deploy", "password", "--tag", "ops").stdout.count("## ") == 1
    assert run("recall", "deploy", "password", "--limit", "1").stdout.count("## ") == 1
    assert run("recall", "deploy", "password").stdout.count("## ") == 2


def test_recall_takes_prefixes_and_phrases_through_the_shell(run: Run, root: Path) -> None:
    run("remember", "Depot", "-d", "where parcels go", "-c", "The depot is behind the old station.")
    assert "\n## Depot\n" in run("recall", "parc*").stdout
    assert b"\n## Depot\n" in process("--dir", str(root), "recall", '"behind the old station"').stdout
    unsaid = process("--dir", str(root), "recall", '"behind the station"')
    assert b"\n## Depot\n" in unsaid.stdout and b"word by word; these have the words" in unsaid.stderr
    assert "'deploy*'" in run("recall", "--help").stdout and "'\"the" in run("recall", "--help").stdout


def test_the_content_comes_from_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("# From a file\n")
    run("overview", "set", "--file", str(tmp_path / "text.md"))
    assert run("overview", "show").stdout == "# From a file\n"


@pytest.mark.parametrize(
    ("words", "status", "stderr"),
    [
        (["recall", "submarine"], 1, "no match in 2 facts\n"),
        (["recall", "?!"], 1, "nothing to search for: only common words or signs\n"),
        (["recall", "submarine", "-q"], 1, ""),
        (["list", "--tag", "ops", "--since", "HEAD"], 1, "no fact matches\n"),
        (["log", "--by", "nobody"], 1, "no commit matches\n"),
        (["when", "submarine"], 1, "memory never said that\n"),
        (["diff"], 0, "no changes\n"),
        (["edit", "wifi"], 0, "nothing changed\n"),
    ],
)
def test_what_is_no_data_is_said_on_stderr_and_what_matches_nothing_is_status_1(
    run: Run, words: list[str], status: int, stderr: str
) -> None:
    result = run(*words)
    assert (result.exit_code, result.stdout, result.stderr) == (status, "", stderr)
    if status and "-q" not in words:
        assert run(*words, "--json").exit_code == status


def test_recall_says_on_stderr_what_it_could_not_read(run: Run, root: Path) -> None:
    (root / "memory" / "entries" / "odd.md").write_bytes(b"\xff")
    result = run("recall", "password")
    assert "\n## Wifi\n" in result.stdout
    assert result.stderr == "1 file unreadable (`crabmem doctor` names them)\n"


def test_init_says_whether_it_made_the_workspace(run: Run, tmp_path: Path) -> None:
    assert run("--dir", str(tmp_path / "new"), "init").stdout == f"made {tmp_path / 'new'}\n"
    assert (tmp_path / "new" / "Crab.md").is_file()
    assert run("--dir", str(tmp_path / "new"), "init").stdout == f"already there: {tmp_path / 'new'}\n"


@pytest.mark.parametrize("verb", ["list", "log", "doctor", "path", "prompt", "config", "tools", "diff"])
def test_looking_makes_no_workspace(run: Run, tmp_path: Path, verb: str) -> None:
    assert run("--dir", str(tmp_path / "new"), verb).exit_code == 0
    assert not (tmp_path / "new").exists()


def test_log_lists_newest_first_and_for_one_fact(run: Run) -> None:
    subjects = [line.split("  ")[-1] for line in run("log").stdout.splitlines()]
    assert subjects == ["remember: Wifi", "remember: Deploy key", "init: a new memory"]
    assert re.fullmatch(r"[0-9a-f]{8}  [-\d]{10} [\d:]{5}  coder \[s-1\]  remember: Wifi\n", run("log", "wlan").stdout)
    assert len(run("log", "-n", "1").stdout.splitlines()) == 1


def test_log_is_asked_for_some_commits(run: Run) -> None:
    assert run("log", "--by", "nobody").stdout == ""
    assert len(run("log", "--by", "coder", "--session", "s-1", "--tool", "remember").stdout.splitlines()) == 2
    newest, *_ = json.loads(run("log", "--until", "HEAD~1", "--patch", "--json").stdout)["commits"]
    assert newest["subject"] == "remember: Deploy key" and "+In the vault." in newest["patch"]
    assert run("log", "--since", "HEAD").stdout == ""
    [found] = run("log", "--words", "KEY deploy").stdout.splitlines()
    assert found.endswith("remember: Deploy key") and run("log", "--words", "key giraffe").stdout == ""


def test_blame_marks_who_is_a_person_and_what_is_not_recorded(run: Run, root: Path) -> None:
    file = root / "memory/entries/wifi.md"
    file.write_text(file.read_text("utf-8") + "Ask Ann.\n", "utf-8")
    last, new = run("blame", "wlan").stdout.splitlines()[-2:]
    assert re.fullmatch(r"[0-9a-f]{8}  [-\d]{10}  coder \[s-1\] +On the router\.", last)
    assert re.fullmatch(r"-{8}  not recorded yet +Ask Ann\.", new)
    assert last.index("On the router.") == new.index("Ask Ann.")

    run("remember", "Vet", "-d", "who looks after the dog", "-c", "Dr. Moreno.")
    assert "person*" in run("blame", "wifi").stdout.splitlines()[-1]


def test_recall_says_where_hits_come_from(run: Run) -> None:
    said = run("recall", "password", "--blame").stdout.splitlines()[4]  # above what the fact says itself
    assert re.fullmatch(r"learned [-\d]{10} by coder \[s-1\] in [0-9a-f]{8}; never touched by a person", said)
    [hit] = json.loads(run("recall", "password", "--blame", "--json").stdout)["hits"]
    assert hit["provenance"]["learned"] == hit["provenance"]["changed"]
    assert (hit["provenance"]["is_confirmed"], hit["provenance"]["is_recorded"]) == (False, True)


def test_when_and_digest_tell_what_happened(run: Run) -> None:
    run("forget", "wifi")
    told = run("when", "on the router")
    assert [line.split("  ")[-1] for line in told.stdout.splitlines()[::2]] == [
        "appeared in Wifi",
        "vanished from Wifi",
    ]
    assert told.stderr == "today: nowhere\n"
    assert run("when", "giraffe").stderr == "memory never said that\n"
    text = run("digest").stdout
    assert "\n## Learned (1)\n\n- **Deploy key**: where the deploy key lives (coder)\n" in text
    assert (
        "\n## Learned and dropped again (1)\n\n- **Wifi**: the password for guests (person* and coder, 2 times)\n"
        in text
    )
    assert run("digest", "--until", "HEAD", "--since", "HEAD").stdout.endswith("Nothing was recorded in that time.\n")


def test_diff_shows_an_edit_that_is_not_recorded_yet(run: Run, root: Path) -> None:
    file = root / "memory" / "entries" / "wifi.md"
    file.write_text(file.read_text().replace("router", "fridge"))
    assert "-On the router.\n+On the fridge.\n" in run("diff").stdout


def test_diff_between_two_commits_is_for_all_files_or_one_fact(run: Run) -> None:
    assert run("diff", "HEAD~2", "HEAD").stdout.count("+++ ") == 2
    assert run("diff", "HEAD~2", "HEAD", "--entry", "wifi").stdout.count("+++ ") == 1


def test_undo_says_what_it_took_back_and_redo_and_rollback_bring_files_back(run: Run, root: Path) -> None:
    assert run("undo").stdout.startswith("undone: remember: Wifi; deleted 1 file\n--- a/memory/entries/wifi.md\n")
    assert run("list").stdout.split()[0] == "deploy-key" and "wifi" not in run("list").stdout
    assert run("undo").stdout.startswith("undone: remember: Deploy key; deleted 1 file\n")
    assert run("undo", "--redo").stdout.startswith("redone: remember: Deploy key; restored 1 file\n")
    assert run("undo", "--redo").stdout.startswith("redone: remember: Wifi; restored 1 file\n")
    assert "wifi" in run("list").stdout
    assert_one_line_error(run("undo", "--redo"), "nothing to redo")
    assert run("restore", "--to", "HEAD~6", "--yes-really").stdout.startswith("deleted 2 files as of ")
    assert (run("list").stdout, git(root, "status", "--porcelain")) == ("", "")


def test_rollback_of_one_fact_leaves_the_others(run: Run, root: Path) -> None:
    run("remember", "wifi", "-d", "the password", "-c", "On the fridge.")
    shown = run("restore", "wifi", "--to", "HEAD~1", "--dry-run").stdout
    assert shown.startswith("would restore 1 file as of ") and "-On the fridge.\n+On the router.\n" in shown
    assert "fridge" in run("show", "wifi").stdout
    assert run("restore", "wifi", "--to", "HEAD~1").stdout == shown.replace("would restore", "restored")
    assert "router" in run("show", "wifi").stdout and git(root, "status", "--porcelain") == ""


def test_revert_takes_back_a_session_and_the_revert_brings_it_back(run: Run, root: Path) -> None:
    assert run("undo", "--in", "s-1", "--dry-run").stdout.startswith("would undo 2 commits in 2 files:\n")
    done = json.loads(run("undo", "--in", "s-1", "--yes-really", "--json").stdout)
    assert [len(done[key]) for key in ("commit", "reverted", "paths")] == [40, 2, 2]
    assert run("list").stdout == ""
    assert run("undo", "--in", "s-1").stdout == "nothing to undo: all of it was taken back already\n"
    assert run("undo", done["commit"]).stdout.startswith("undone: 1 commit in 2 files: ")
    assert len(run("list").stdout.splitlines()) == 2


def test_revert_lists_what_was_changed_since_and_waits_for_a_choice(run: Run, root: Path) -> None:
    run("remember", "wifi", "-d", "the password", "-c", "On the fridge.")
    run("remember", "wifi", "-d", "the password", "-c", "On the door.")
    head = git(root, "rev-parse", "HEAD")
    done = run("undo", "HEAD~1")
    assert done.stdout.splitlines() == [
        "memory/entries/wifi.md",
        "  now:     On the door.",
        "  without: On the router.",
    ]
    assert (done.exit_code, done.stderr.count("\n"), git(root, "rev-parse", "HEAD")) == (1, 1, head)
    assert done.stderr.endswith("; --ours keeps what is there now, --theirs takes it back all the same\n")
    done = run("undo", "HEAD~1", "--json")
    [conflict] = json.loads(done.stdout)["conflicts"]
    assert (done.exit_code, conflict["ours"], conflict["theirs"]) == (1, "On the door.", "On the router.")
    assert "-On the door.\n+On the router.\n" in run("undo", "HEAD~1", "--theirs").stdout


def test_many_facts_gone_from_disk_are_told_of_and_come_back_or_go_when_that_is_meant(run: Run, root: Path) -> None:
    def lose() -> None:
        for number in range(10):
            (root / f"memory/entries/fact-{number}.md").unlink()

    with Memory(root, agent="coder") as memory:
        memory.remember_all([Fact(f"Fact {number}", "what", "x") for number in range(10)], "notes")
    lose()
    assert "10 of 12 facts are missing" in run("remember", "Wifi", "-d", "the password", "-c", "On the door.").stderr
    done = run("record")
    assert (done.exit_code, "crabmem restore" in done.stderr) == (1, True)
    assert run("restore").stdout.startswith("restored 10 files\n  memory/entries/fact-0.md\n")
    assert run("restore").stdout == "nothing is missing\n"
    lose()
    assert run("restore", "--dry-run").stdout.startswith("would restore 10 files\n  memory/entries/fact-0.md\n")
    assert not (root / "memory/entries/fact-0.md").exists()
    assert run("record", "--yes-really").stderr.startswith("recorded: edit: Fact 0, Fact 1, Fact 2 and 7 more")
    assert run("undo").exit_code == 0
    assert run("restore", "--to", "HEAD~4").exit_code == 1
    assert run("restore", "--to", "HEAD~4", "--yes-really").stdout.startswith("restored ")


def test_an_edit_in_the_editor_is_recorded_as_the_persons(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "sed -i s/router/fridge/")
    assert run("edit", "wlan").stderr == "recorded: edit: Wifi\n"
    assert "On the fridge." in run("show", "wifi").stdout
    assert json.loads(run("log", "-n", "1", "--json").stdout)["commits"][0]["author"] == "person"


def test_a_person_may_edit_the_soul_that_agents_may_not_set(
    run: Run, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lobster.md").write_text("# A lobster\n")
    monkeypatch.setenv("EDITOR", f"cp {tmp_path}/lobster.md")
    before = (root / "Crab.md").read_bytes(), git(root, "rev-parse", "HEAD")
    assert_one_line_error(run("--agent", "coder", "identity", "set", "-c", "# Somebody else"), "disabled")
    assert ((root / "Crab.md").read_bytes(), git(root, "rev-parse", "HEAD")) == before
    assert run("identity", "edit").stderr == "recorded: edit: Crab.md\n"
    assert run("identity").stdout == "# A lobster\n"


def test_editing_an_overview_that_is_not_there_and_saving_nothing_changes_nothing(run: Run, root: Path) -> None:
    head = git(root, "rev-parse", "HEAD")
    run("overview", "edit")
    assert git(root, "rev-parse", "HEAD") == head
    assert not (root / "memory" / "MEMORY.md").exists()


def test_call_prints_what_the_tool_says(run: Run) -> None:
    assert run("call", "forget", '{"name": "wifi"}').stdout == "forgot: Wifi\n"


def test_call_with_json_gives_an_error_as_data_and_status_1(run: Run) -> None:
    result = run("call", "recall", '{"query": " "}', "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["is_error"] is True


def test_tools_lists_what_call_accepts(run: Run) -> None:
    assert [line.split()[0] for line in run("tools").stdout.splitlines()] == samples.USUAL


def test_the_tools_of_a_family_are_listed_in_two_columns(run: Run) -> None:
    found = run("--profile", "camel", "tools").stdout.splitlines()
    assert len({re.sub(r"^(\w+ +).*", r"\1", line).__len__() for line in found}) == 1 and len(found) == 4


def test_config_prints_settings_that_crabmem_toml_accepts(run: Run, root: Path) -> None:
    (root / "crabmem.toml").write_text('person = "Ada \\"Countess\\" Lovelace <ada@example.org>"\nrecall_limit = 9\n')
    printed = run("config").stdout
    (root / "crabmem.toml").write_text(printed)
    assert run("config").stdout == printed
    assert "recall_limit = 9 " in printed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_names_the_command(run: Run, shell: str) -> None:
    assert "_CRABMEM_COMPLETE" in run("completion", shell).stdout


def families(begun: str) -> list[str]:
    return [name for name in profile_names() if name.startswith(begun)]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("--profile c", families("c")),
        ("--kind s", ["subagent", "scheduled"]),
        ("--workspace co", ["coder"]),
        ("init --profile le", families("le")),
        ("profile show h", families("h")),
        ("profile check mine.", ["mine."]),
        ("agents clone ", ["coder"]),
        ("review show zz", []),
        ("log --session s-", ["s-1"]),
        ("log --tool f", []),
        ("log --tool rem", ["remember"]),
        ("call re", ["remember", "recall"]),
        ("mcp --tools get,lo", ["get,log"]),
        ("eval q.toml --fail-under m", ["mrr="]),
        ("review apply ", [samples.PROPOSAL]),
    ],
)
def test_a_shell_completes_what_there_is(run: Run, root: Path, typed: str, found: list[str]) -> None:
    with Memory(root) as memory:
        agents.new_agent(memory, "coder")
        (root / "crabmem.toml").write_text('soul = "propose"\n')
        memory.write_identity("I am Ada.")
        waiting = proposals.proposals(memory)[0].id[:8]
    assert completed(f"crabmem --dir {root} {typed}") == [
        waiting if each == samples.PROPOSAL else each for each in found
    ]


def test_a_lesson_that_no_prompt_shows_is_told(run: Run) -> None:
    assert (
        "the prompt of the profile claw does not show memory/learnings/wins.md"
        in run("--profile", "claw", "learn", "win", "x").stderr
    )
    assert run("--profile", "legion", "learn", "win", "x").stderr == ""


def test_an_adopted_workspace_is_told_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text("Calm.")
    told = typed("adopt", str(tmp_path), "--profile", "claw").stderr
    assert f"2 files, 0 facts among them, in {tmp_path}: " in told


def test_recall_that_finds_no_fact_says_that_files_are_searched_otherwise(run: Run) -> None:
    told = run("--profile", "claw", "recall", "quokka").stderr
    assert "a tool for agents searches MEMORY.md, " in told and "crabmem tools" in told
    assert run("recall", "quokka").stderr.count("\n") == 1


def test_doctor_exits_with_1_when_there_is_an_error(run: Run, root: Path) -> None:
    (root / "memory" / "entries" / "odd.md").write_bytes(b"\xff")
    result = run("doctor")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "\nerror: memory/entries/odd.md: " in result.stdout and "ok: files" not in result.stdout


# Global options


def test_the_folder_is_dir_else_the_environment_else_home(
    run: Run, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [typed("status", "--path").stdout]
    monkeypatch.setenv("CRABMEM_DIR", str(tmp_path / "b"))
    folders += [typed("status", "--path").stdout, run("status", "--path").stdout]
    assert folders == [f"{tmp_path}/home/.crabmem\n", f"{tmp_path}/b\n", f"{root}\n"]


def test_a_workspace_of_an_agent_lies_inside_and_cannot_leave(run: Run, root: Path) -> None:
    assert run("--workspace", "Coder", "status", "--path").stdout == f"{root}/agents/coder\n"
    assert run("--workspace", "../../etc", "status", "--path").stdout.startswith(f"{root}/agents/")


def test_agent_and_session_may_come_from_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRABMEM_AGENT", "planner")
    monkeypatch.setenv("CRABMEM_SESSION", "s-9")
    run("forget", "wifi")
    newest = json.loads(run("log", "-n", "1", "--json").stdout)["commits"][0]
    assert (newest["agent"], newest["session"]) == ("planner", "s-9")


def test_the_version_is_printed(run: Run) -> None:
    assert run("--version").stdout == f"crabmem {__version__}\n"


# Errors


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["show", "harbour"], "no fact called harbour"),
        (["show", "wif"], 'Did you mean "Wifi"?'),
        (["forget", "harbour"], "no fact called harbour"),
        (["edit", "harbour"], "no fact called harbour"),
        (["log", "harbour"], "no fact called harbour"),
        (["call", "recal", "{}"], "no tool named: recal (there are: remember, forget, recall, memory)"),
        (["call", "recall", "{query"], "not JSON"),
        (["call", "recall", "[]"], "not a JSON object"),
        (["call", "recall", "[" * 100_000], "not JSON"),
        (["call", "recall", '{"limit": 1' + "0" * 5_000 + "}"], "not JSON"),
        (["call", "recall", '{"query": "x", "limit": 0}'], "limit must be at least 1"),
        (["call", "memory", '{"content": "x", "if_version": "0123456789ab"}'], "is not there"),
        (["overview", "set", "-c", "x", "--if-version", "0123456789ab"], "is not there"),
        (["show", "wifi", "--as-of", "nope"], "no revision named nope"),
        (["diff", "nope"], "no revision named nope"),
        (["restore", "--to", "HEAD~99"], "no revision named HEAD~99"),
        (["restore", "--to", "1999-01-01"], "the history begins after"),
    ],
)
def test_an_error_is_one_line_on_stderr_and_changes_nothing(
    run: Run, root: Path, words: list[str], reason: str
) -> None:
    head = git(root, "rev-parse", "HEAD")
    assert_one_line_error(run(*words), reason)
    assert git(root, "rev-parse", "HEAD") == head
    assert git(root, "status", "--porcelain") == ""


def test_a_revision_far_beyond_the_first_commit_is_refused_at_once(root: Path) -> None:
    done = process("--dir", str(root), "diff", f"HEAD~{10**12}", timeout=5)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"no revision named HEAD~1000000000000" in done.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("recall_limit =", "crabmem.toml is not TOML"),
        ("recall_limit = 0", "recall_limit"),
        ("soul_editable = 'yes'", "soul_editable"),
    ],
)
@pytest.mark.parametrize("verb", ["recall", "remember", "config show", "config allow"])
def test_settings_that_cannot_be_are_an_error_that_names_the_key(
    run: Run, root: Path, text: str, reason: str, verb: str
) -> None:
    (root / "crabmem.toml").write_text(text)
    assert_one_line_error(run(*samples.typed(verb)), reason)


UNKNOWN = [
    ("recal_limit = 3", "unknown setting `recal_limit`; did you mean `recall_limit`?"),
    ("soul_editabel = true", "unknown setting `soul_editabel`; did you mean `soul_editable`?"),
    ("colour = 1", "unknown setting `colour`; known: recall_limit"),
    ("[auto_recall]\nlimi = 3", "unknown setting `auto_recall.limi`; did you mean `limit`?"),
    ("[zzz]\nx = 1", "unknown setting `zzz`"),
]


@pytest.mark.parametrize(("text", "reason"), UNKNOWN)
@pytest.mark.parametrize("verb", ["recall", "show", "list", "log", "prompt", "remember", "overview set"])
def test_an_unknown_setting_is_a_warning_for_who_reads_and_for_the_person(
    run: Run, root: Path, text: str, reason: str, verb: str
) -> None:
    usual = run(*samples.typed(verb))
    (root / "crabmem.toml").write_text(f"{text}\n")
    done = run(*samples.typed(verb))
    assert done.exit_code == 0
    assert f"crabmem: warning: {root}/crabmem.toml: {reason}" in done.stderr
    assert done.stdout == usual.stdout or verb in ("log", "remember", "overview set")


@pytest.mark.parametrize(("text", "reason"), UNKNOWN)
@pytest.mark.parametrize("verb", ["remember", "forget", "overview set", "rename"])
def test_an_unknown_setting_may_be_a_protection_so_agents_write_nothing(
    run: Run, root: Path, text: str, reason: str, verb: str
) -> None:
    (root / "crabmem.toml").write_text(f"{text}\n")
    head = git(root, "rev-parse", "HEAD")
    done = run("--agent", "coder", *samples.typed(verb))
    assert done.exit_code == 1 and done.stderr.splitlines()[-1].startswith("crabmem: ")
    assert reason in done.stderr.splitlines()[-1] and git(root, "rev-parse", "HEAD") == head


def test_an_unknown_setting_may_hide_something_so_sessions_that_see_less_read_nothing(run: Run, root: Path) -> None:
    (root / "crabmem.toml").write_text('profil = "mine.toml"\n')
    assert_one_line_error(run("--kind", "group", "recall", "wifi"), "unknown setting `profil`; did you mean `profile`?")


def test_settings_with_an_unknown_key_are_shown_and_allow_nothing(run: Run, root: Path) -> None:
    (root / "crabmem.toml").write_text("recal_limit = 3\n")
    shown = run("config", "show")
    assert "unknown setting `recal_limit`" in shown.stderr and "recall_limit = 5" in shown.stdout
    assert_one_line_error(run(*samples.typed("config allow")), "unknown setting `recal_limit`")
    assert run("doctor").stdout.count("unknown setting `recal_limit`") == 1


@pytest.mark.parametrize("verb", ["list", "recall", "remember", "init", "log", "doctor"])
def test_a_workspace_that_is_a_file_is_an_error(run: Run, tmp_path: Path, verb: str) -> None:
    (tmp_path / "file").write_text("")
    words = ("--dir", str(tmp_path / "file"), *samples.typed(verb))
    assert_one_line_error(run(*words), f"{tmp_path}/file is a file; a workspace is a folder")


@pytest.mark.parametrize("verb", ["remember", "init"])
def test_a_workspace_below_a_file_is_an_error(run: Run, tmp_path: Path, verb: str) -> None:
    (tmp_path / "file").write_text("")
    assert_one_line_error(run("--dir", f"{tmp_path}/file/deeper", *samples.typed(verb)), f"{tmp_path}/file")


def test_showing_an_entry_that_cannot_be_read_says_so(run: Run, root: Path) -> None:
    (root / "memory" / "entries" / "odd.md").write_bytes(b"\xff")
    assert_one_line_error(run("show", "odd"), "UTF-8")


def test_an_overview_that_cannot_be_read_is_an_error(run: Run, root: Path) -> None:
    (root / "memory" / "MEMORY.md").write_bytes(b"caf\xe9")
    assert_one_line_error(run("memory"), "memory/MEMORY.md is not UTF-8 text (byte 3); save it as UTF-8")


def test_a_prompt_without_an_unreadable_overview_is_given_and_says_so(run: Run, root: Path) -> None:
    (root / "memory" / "MEMORY.md").write_bytes(b"caf\xe9")
    trouble = "memory/MEMORY.md is not UTF-8 text (byte 3); save it as UTF-8"
    for words in (("prompt",), ("prompt", "--account"), ("prompt", "--json")):
        result = run(*words)
        assert (result.exit_code, result.stderr) == (0, f"crabmem: warning: left out of the prompt: {trouble}\n")
    assert "# Who I am" in run("prompt").stdout
    assert re.search(r"^memory/MEMORY.md +unreadable +0 ", run("prompt", "--account").stdout, re.MULTILINE)
    assert f"left out of the prompt: {trouble}" in " ".join(run("status").stdout.split())


@pytest.mark.parametrize("verb", ["log", "diff", "undo", "remember"])
def test_a_repository_that_is_a_file_is_an_error(run: Run, root: Path, verb: str) -> None:
    shutil.rmtree(root / ".git")
    (root / ".git").write_text("gitdir: /elsewhere\n")
    assert_one_line_error(run(*samples.typed(verb)), ".git is not a folder")


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "garbage in HEAD": lambda repository: (repository / "HEAD").write_bytes(b"\0garbage\xff\n"),
    "no HEAD": lambda repository: (repository / "HEAD").unlink(),
    "garbage in the branch": lambda repository: (repository / "refs/heads/main").write_bytes(b"\0" * 41),
    "an unknown commit in the branch": lambda repository: (repository / "refs/heads/main").write_text("1" * 40),
    "no objects": lambda repository: shutil.rmtree(repository / "objects"),
    "empty objects": lambda repository: [file.write_bytes(b"") for file in repository.glob("objects/??/*")],
}


@pytest.fixture(params=DAMAGES)
def damaged(request: pytest.FixtureRequest, root: Path) -> Path:
    """A workspace whose repository is damaged, and whose log has nothing left to mend that with."""
    for file in root.glob(".git/objects/??/*"):
        file.chmod(0o600)
    (root / ".git/crabmem/redo").unlink(missing_ok=True)
    DAMAGES[request.param](root / ".git")
    return root


def test_a_damaged_repository_is_one_line_for_history_and_no_matter_for_the_rest(run: Run, damaged: Path) -> None:
    for words in (["log"], ["log", "wifi"], ["diff"], ["show", "wifi", "--as-of", "HEAD"]):
        assert_one_line_error(run(*words), "")
    for verb in ("recall", "show", "list", "prompt", "overview show", "tools"):
        assert run(*samples.typed(verb)).exit_code == 0
    assert "\nerror: .git" in run("doctor").stdout
    undone = run("undo")  # which is a write: it mends what it can, and goes on
    if undone.exit_code:
        assert_one_line_error(undone, "")
    else:
        assert undone.stdout.startswith("undone: ") and git(damaged, "fsck", "--strict") == ""


def test_a_write_into_a_damaged_repository_mends_it_or_is_one_line(run: Run, damaged: Path) -> None:
    result = run(*samples.typed("remember"))
    if result.exit_code:
        assert_one_line_error(result, "the files are untouched")
        assert not (damaged / "memory" / "entries" / "vet.md").exists()
    else:
        assert [commit["subject"] for commit in json.loads(run("log", "--json").stdout)["commits"]][:2] == [
            "remember: Vet",
            "remember: Wifi",
        ]


def test_a_folder_that_refuses_to_be_written_is_an_error(run: Run) -> None:
    assert_one_line_error(run("--dir", "/proc/nowhere", *samples.typed("remember")), "/proc/nowhere")


@pytest.mark.parametrize("path", ["memory/entries", "memory"])
def test_a_file_where_the_entries_belong_is_an_error(run: Run, root: Path, path: str) -> None:
    shutil.rmtree(root / path)
    (root / path).write_text("in the way")
    assert_one_line_error(run(*samples.typed("remember")), str(root / path))


@pytest.mark.parametrize("editor", ["false", "/nowhere/editor"])
def test_an_editor_that_fails_is_an_error(run: Run, monkeypatch: pytest.MonkeyPatch, editor: str) -> None:
    monkeypatch.setenv("EDITOR", editor)
    result = run("edit", "wifi")
    assert (result.exit_code, result.stdout) == (1, "")
    assert re.fullmatch(r"crabmem: [^\n]+\n", result.stderr), result.stderr


@pytest.mark.parametrize(
    "words", [["remember", "A", "-d", "d", "-"], ["overview", "set", "-"], ["call", "recall", "-"]]
)
def test_stdin_that_is_not_utf_8_is_an_error(root: Path, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    done = process("--dir", str(root), *words, stdin=b'{"query": "caf\xe9"}')
    assert (done.returncode, done.stdout) == (2, b"")
    assert re.fullmatch(rb"crabmem: [^\n]*UTF-8[^\n]*\n", done.stderr), done.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["recal"], "Did you mean 'recall'?"),
        (["xyzzy"], "No such command 'xyzzy'."),
        (["overview", "sho"], "Did you mean 'show'?"),
        (["recall"], "Missing argument 'QUERY...'."),
        (["recall", "x", "--limit", "many"], "'many' is not a valid integer"),
        (["remember", "A", "-d", "d"], "there is no fact called A. For a new one: -c TEXT"),
        (["remember", "A", "-d", "d", "-c", "c", "-"], "give the content once"),
        (["remember", "deploy", "key"], "in quotes: crabmem remember 'deploy key' -d DESC -c TEXT"),
        (["remember", "deploy", "key", "-c", "c"], "in quotes: crabmem remember 'deploy key' -d DESC -c TEXT"),
        (["remember", "the", "deploy", "key"], 'in quotes, as in crabmem remember "Deploy key" -d DESC -c TEXT'),
        (["remember", "a", "b", "c", "d"], 'in quotes, as in crabmem remember "Deploy key" -d DESC -c TEXT'),
        (["overview", "set"], "give the content: -c TEXT"),
        (["overview", "set", "hello"], "give the content as -c TEXT"),
        (["remember", "A", "-c", "c"], "no fact called A yet: give -d DESC"),
        (["restore", "wifi"], "say as of when"),
        (["log", "-n", "0"], "0 is not in the range"),
        (["recall", " "], "the question is empty"),
        (["remember", " ", "-d", "d", "-c", "c"], "the name is empty"),
        (["remember", "A", "-d", "d", "--file", "/nowhere/text.md"], "/nowhere/text.md"),
        (["purge"], "say what to purge, by one of"),
        (["purge", "--pattern", "("], "that is no regular expression"),
        (["undo", "--since", "HEAD~1"], "say what to take back"),
        (["undo", "--redo", "HEAD"], "--redo goes alone"),
        (["recall", "wifi", "--limit", "0"], "0 is not in the range"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
        (["list", "--colour"], "No such option"),
        (["revert", "HEAD", "--ours", "--theirs"], "give one of them"),
    ],
)
def test_wrong_usage_is_status_2_and_says_what_is_wrong(run: Run, words: list[str], reason: str) -> None:
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr


# As a process of its own


@pytest.mark.parametrize("words", [["recall", "alert"], ["prompt"]])
def test_a_terminal_is_not_steered_by_recall_and_prompt(root: Path, run: Run, words: list[str]) -> None:
    run("remember", "Alert", "-d", "red \x1b[31m alert", "-c", "bell \x07")
    shown = on_terminal("--dir", str(root), *words)
    assert "\x1b" not in re.sub(r"\x1b\[(?:1;31|2|0)m", "", shown)  # our own colours
    assert words == ["prompt"] or "red [31m" in shown


def test_watch_records_an_edit_and_ends_with_ctrl_c(root: Path) -> None:
    command = [*forked.COMMAND, "--dir", str(root), "watch"]
    file = root / "memory" / "entries" / "wifi.md"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watching:
        assert watching.stdout and watching.stderr
        assert watching.stderr.readline() == f"watching {root}; stop with Ctrl-C\n"
        file.write_text(file.read_text().replace("router", "fridge"))
        line = watching.stdout.readline() if select.select([watching.stdout], [], [], 20)[0] else ""
        watching.send_signal(signal.SIGINT)
        assert (watching.wait(20), watching.stderr.read()) == (0, "")
    assert re.fullmatch(r"[0-9a-f]{8}  edit: Wifi\n", line)


# The tour


@pytest.mark.parametrize("surroundings", [{}, {"CRABMEM_WORKSPACE": "coder", "CRABMEM_AGENT": "x", "NO_COLOR": "1"}])
def test_the_tour_shows_each_command_before_its_output_and_leaves_nothing_behind(
    tmp_path: Path, surroundings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)
    done = process("try")
    shown = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    steps = [
        '$ crabmem --agent assistant remember "Luna\'s vet"',
        "remembered: Luna's vet\n",
        "$ sed -i ",
        "$ crabmem recall ",
        "every Friday.",
        "$ crabmem --agent assistant forget ",
        "forgot: Wifi\n",
        "$ crabmem log\n",
        "edit: Luna's vet\n",
        "$ crabmem blame ",
        "person*",
        "$ crabmem undo\n",
        "undone: forget: Wifi; restored 1 file\n",
        "+name: Wifi",
        "$ crabmem show ",
        "every Thursday.",
        "$ crabmem recall vet\n",
        "every Friday.",
        "The folder is gone again",
        " install claude-code",
    ]
    places = [shown.find(steps[0])]
    for step in steps[1:]:
        places.append(shown.find(step, places[-1] + 1))
        assert places[-1] > 0, step
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / "home").exists()


def test_the_tour_leaves_its_folder_when_asked_to(tmp_path: Path) -> None:
    done = process("try", "--keep")
    [kept] = (tmp_path / "tmp").iterdir()
    assert str(kept) in done.stdout.decode()
    assert git(kept, "status", "--porcelain") == ""
