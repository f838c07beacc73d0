"""Finding one's way in memory on the command line: tags, lists, completion, pages and what a terminal shows."""

import json
import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import Result

from crabmem import Memory
from crabmem.operations import agents
from tests import forked
from tests.conftest import Run, completed, typed

pytestmark = pytest.mark.usefixtures("surroundings")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three facts, with the tags ops and home, the newest first by name."""
    with Memory(tmp_path / "notes", agent="coder") as memory:
        memory.remember("Wifi", "the password for guests", "On the router.", tags=["home"])
        memory.remember("Deploy key", "where the deploy key lives", "In the vault.", tags=["Ops"])
        memory.remember("Canary", "how a deploy begins", "Two deploys at 5 %.", tags=["ops", "home"])
    for number, slug in enumerate(("wifi", "deploy-key", "canary")):
        os.utime(tmp_path / "notes" / "memory" / "entries" / f"{slug}.md", (1_700_000_000 + number,) * 2)
    return tmp_path / "notes"


def on_terminal(*words: str, **environment: str) -> str:
    """What a terminal shows of `crabmem …`."""
    ours, theirs = pty.openpty()
    command = [*forked.COMMAND, *words]
    shown = b""
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **environment}) as it:
        while it.poll() is None or select.select([ours], [], [], 0)[0]:
            if select.select([ours], [], [], 0.05)[0]:
                shown += os.read(ours, 65_536)
    os.close(ours)
    os.close(theirs)
    return shown.decode().replace("\r\n", "\n")


def test_an_explanation_names_the_lines_of_a_long_fact_that_count(run: Run, root: Path) -> None:
    nothing = "Nothing that anybody asks for.\n" * 60
    with Memory(root, agent="coder") as memory:
        memory.remember("Log", "of the machine", f"{nothing}The valve is left-handed.\n{nothing}")
    told = re.search(r"in all, for lines (\d+) to (\d+) of the content", run("recall", "valve", "--explain").stdout)
    assert told and int(told[1]) <= 61 <= int(told[2]) < 121
    assert "of the content" not in run("recall", "wifi", "--explain").stdout


def test_tags_are_listed_with_how_many_facts_have_each_whatever_their_case(run: Run) -> None:
    assert run("list", "--tags").stdout.split() == ["2", "home", "2", "ops"]
    assert json.loads(run("list", "--tags", "--json").stdout)["tags"] == [
        {"tag": "home", "facts": 2},
        {"tag": "ops", "facts": 2},
    ]


def test_no_tags_is_said(tmp_path: Path) -> None:
    with Memory(tmp_path / "bare") as memory:
        memory.remember("A", "a", "b")
    told = typed("--dir", tmp_path / "bare", "list", "--tags")
    assert (told.stdout, told.stderr[:17]) == ("", "no fact has a tag")


def test_tags_of_a_tag_that_none_has_are_one_answer(run: Run) -> None:
    told = run("list", "--tags", "--tag", "nowhere")
    assert (told.exit_code, told.stderr) == (1, "no fact has the tag nowhere\n")


def slugs(result: Result) -> list[str]:
    return [line.split()[0] for line in result.stdout.splitlines()]


def test_a_list_shows_names_and_is_narrowed_and_sorted(run: Run) -> None:
    assert "deploy-key  Deploy key: where the deploy key lives\n" in run("list").stdout
    assert slugs(run("list")) == ["canary", "deploy-key", "wifi"]
    assert slugs(run("list", "--tag", "OPS")) == ["canary", "deploy-key"]
    assert slugs(run("list", "-t", "ops", "-t", "home")) == ["canary"]
    assert slugs(run("list", "-n", "2")) == ["canary", "deploy-key"]
    assert slugs(run("list", "--since", "HEAD~1")) == ["canary"]
    assert slugs(run("list", "--sort", "changed")) == ["canary", "deploy-key", "wifi"]
    assert slugs(run("list", "--sort", "changed", "--tag", "home", "--limit", "1")) == ["canary"]
    assert slugs(run("list", "--as-of", "HEAD~1", "--since", "HEAD~2")) == ["deploy-key"]
    assert [each["name"] for each in json.loads(run("list", "--tag", "home", "--json").stdout)["facts"]] == [
        "Canary",
        "Wifi",
    ]
    assert run("list", "--sort", "changed", "--as-of", "HEAD").exit_code == 2


def test_the_long_list_says_when_each_fact_changed_and_its_tags(run: Run, root: Path) -> None:
    plain = {line.split()[0]: line for line in run("list").stdout.splitlines()}
    long = {line.split()[0]: line for line in run("list", "--long").stdout.splitlines()}
    assert plain.keys() == long.keys()
    assert re.fullmatch(r"deploy-key  +\d{4}-\d\d-\d\d  +[^ ]+  +Deploy key: .*", long["deploy-key"])
    assert len({line.index(line.split(maxsplit=2)[1]) for line in long.values()}) == 1, "columns"
    assert slugs(run("list", "--reverse")) == slugs(run("list"))[::-1]
    first = json.loads(run("list", "--long", "--sort", "changed", "-n", "1", "--json").stdout)["facts"]
    with Memory(root) as memory:
        assert [each["changed"] for each in first] == [memory.log(limit=1, name=first[0]["name"])[0].time.isoformat()]
    assert run("list", "--long", "--as-of", "HEAD").exit_code == 2
    (root / "memory/entries/wifi.md").unlink()
    assert slugs(run("list", "-l", "-r")) == slugs(run("list", "-r"))


def test_the_order_by_change_is_that_of_the_texts_recorded_or_not(run: Run, root: Path) -> None:
    entries = root / "memory" / "entries"
    (entries / "wifi.md").touch()
    assert slugs(run("list", "--sort", "changed")) == ["canary", "deploy-key", "wifi"]
    (entries / "deploy-key.md").write_bytes((entries / "deploy-key.md").read_bytes() + b"More.\n")
    assert slugs(run("list", "--sort", "changed")) == ["deploy-key", "canary", "wifi"]


@pytest.mark.parametrize("words", [["list"], ["recall", "deploy"]])
def test_a_tag_that_no_fact_has_is_said_with_the_nearest(run: Run, words: list[str]) -> None:
    told = run(*words, "--tag", "opss").stderr
    assert "no fact has the tag opss (nearest: ops)\n" in told.lower()
    assert "no fact has the tag zzz\n" in run(*words, "--tag", "zzz").stderr
    assert "no fact has the tag" not in run(*words, "--tag", "home").stderr


def test_wide_letters_are_aligned_by_their_width(run: Run, root: Path) -> None:
    with Memory(root) as memory:
        memory.remember("東京", "where the office is", "In Minato.")
    assert "東京        東京: where" in run("list").stdout


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("--dir {root} show d", ["deploy-key"]),
        ("--dir {root} show D", ["deploy\\\\ key"]),
        ("--dir {root} forget WI", ["wifi"]),
        ("show --dir {root} d", ["deploy-key"]),
        ("--dir {root} blame ", ["canary", "deploy-key", "wifi"]),
        ("--dir {root} forget w", ["wifi"]),
        ("--dir {root} rename c", ["canary"]),
        ("--dir {root} log de", ["deploy-key"]),
        ("--dir {root} list --tag h", ["home"]),
        ("--dir {root} recall --tag o", ["ops"]),
        ("--dir {root} log --by c", ["coder", "crabmem"]),
        ("--dir {root} --workspace h", ["helper"]),
        ("list --dir {root} --workspace h", ["helper"]),
        ("--dir {root} --workspace helper show ", ["own"]),
    ],
)
def test_a_shell_completes_facts_tags_and_agents(root: Path, typed: str, found: list[str]) -> None:
    with Memory(root) as memory:
        agents.new_agent(memory, "helper")
    with Memory(root / "agents" / "helper") as memory:
        memory.remember("Own", "a", "b")
    assert [each.lower() for each in completed(f"crabmem {typed.format(root=root)}")] == found


@pytest.mark.parametrize("begun", ["", "z", "Zebra"])
def test_a_shell_is_offered_nothing_that_is_hidden_from_a_session_of_its_kind(
    root: Path, begun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = root.parent / "shy.toml"
    text = 'about = "shy"\n[kinds.group]\nhides = ["memory/entries/zeb*"]\n[[part]]\nfile = "{overview}"\n'
    profile.write_text(text)
    with Memory(root) as memory:
        memory.remember("Zebra", "a plan", "Secret.")
    line = f"crabmem --dir {root} --profile {profile}"
    assert "zebra" in [each.lower() for each in completed(f"{line} show {begun}")]
    assert "zebra" not in [each.lower() for each in completed(f"{line} --kind group show {begun}")]
    monkeypatch.setenv("CRABMEM_KIND", "group")
    assert "zebra" not in [each.lower() for each in completed(f"{line} show {begun}")]
    assert "wifi" in completed(f"{line} show wi")


def test_a_terminal_shows_what_is_long_in_a_pager_and_nothing_else_does(root: Path, run: Run) -> None:
    pager = root.parent / "pager"
    pager.write_text("#!/bin/sh\necho paged; cat\n")
    pager.chmod(0o700)
    for words in (
        ["list"],
        ["log"],
        ["log", "-p"],
        ["digest"],
        ["diff", "HEAD~1"],
        ["blame", "wifi"],
        ["list", "--tags"],
    ):
        shown = on_terminal("--dir", str(root), *words, PAGER=str(pager), NO_COLOR="1")
        assert shown == "paged\n" + run(*words).stdout, words
        assert "paged" not in on_terminal("--dir", str(root), *words, "--no-pager", PAGER=str(pager))


def test_names_of_files_in_a_diff_are_bold_and_lines_are_red_and_green(root: Path) -> None:
    with Memory(root) as memory:
        memory.remember("Wifi", "the password for guests", "On the door.")
    shown = on_terminal("--dir", str(root), "--no-pager", "log", "-p", "-n", "1")
    assert "\x1b[1m--- a/memory/entries/wifi.md" in shown and "\x1b[1m+++ b/memory/entries/wifi.md" in shown
    assert "\x1b[31m-On the router." in shown and "\x1b[32m+On the door." in shown


def test_a_terminal_shows_the_file_of_each_hit_and_the_words_in_colour(root: Path, run: Run) -> None:
    shown = on_terminal("--dir", str(root), "recall", "deploying", "--limit", "2")
    assert "\x1b[1;31mdeploy\x1b[0m" in shown and "\x1b[1;31mdeploys\x1b[0m" in shown
    assert "## Canary\n\x1b[2mmemory/entries/canary.md\x1b[0m\n" in shown
    plain = on_terminal("--dir", str(root), "recall", "deploying", "--limit", "2", NO_COLOR="1")
    assert plain == re.sub(r"\x1b\[[\d;]*m", "", shown) and "\x1b" not in plain
    assert "\x1b" not in run("recall", "deploying").stdout
    assert "\x1b[1;31mrouter\x1b[0m" in on_terminal("--dir", str(root), "recall", "rou*")


def test_an_answer_on_a_terminal_is_the_same_wherever_its_options_stand(root: Path) -> None:
    time.sleep(2.6)  # files that were changed just now are read
    with Memory(root) as memory:
        memory.adopt()
        memory.recall("anything")
    found = on_terminal("--dir", str(root), "recall", "deploys", "key")
    assert found == on_terminal("--dir", str(root), "recall", "--limit", "5", "deploys", "key")
    assert found.count("memory/entries/") == 2


@pytest.mark.parametrize(("words", "status"), [(["list"], 0), (["log", "--by", "nobody"], 1), (["list", "--tags"], 0)])
def test_that_there_is_nothing_is_said(words: list[str], status: int, tmp_path: Path) -> None:
    with Memory(tmp_path / "bare") as memory:
        memory.init()
    told = typed("--dir", tmp_path / "bare", *words)
    assert (told.exit_code, told.stdout, told.stderr.count("\n")) == (status, "", 1)


def test_as_of_the_day_of_a_fact_it_is_there_and_since_that_day_too(run: Run, root: Path) -> None:
    with Memory(root) as memory:
        day = f"{memory.log(limit=1)[0].time:%Y-%m-%d}"
    assert run("show", "canary", "--as-of", day).stdout.startswith("## Canary")
    assert slugs(run("list", "--as-of", day)) == ["canary", "deploy-key", "wifi"]
    assert "## Canary" in run("recall", "deploy", "--as-of", day, "--since", day, "--until", day).stdout


@pytest.mark.parametrize("verb", [["log", "-n", "1"], ["when", "wifi"], ["agents"]])
def test_times_are_in_the_zone_of_who_reads(root: Path, verb: list[str]) -> None:
    with Memory(root / "agents" / "coder") as memory:
        memory.remember("Wifi", "d", "c")

    def hours(zone: str) -> set[int]:
        command = [*forked.COMMAND, "--dir", str(root), *verb]
        told = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TZ": zone}).stdout
        return {int(hour) for hour in re.findall(r" (\d\d):\d\d\b", told)}

    utc = hours("UTC")
    assert utc and hours("Asia/Tokyo") == {(hour + 9) % 24 for hour in utc}
