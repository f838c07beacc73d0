"""The profiles of CamelAGI and OpenClaw: what a session is told, what it may see, and workspaces as they leave them."""

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import pytest

from crabmem import Memory
from crabmem.errors import CrabmemError
from crabmem.operations import files as files_operations
from crabmem.operations import status as status_operations
from crabmem.prompt.profile import KINDS, Kind, load_profile, profile_names
from crabmem.session import opening
from crabmem.text.templates import template
from tests.conftest import typed
from tests.serving import connected
from tests.stories.test_fixtures import everything

Sample = Callable[[str], Path]

FAMILIES = ("camel", "claw")
TOP = "# Project context\n\nThe files of the workspace follow, as they are now."
#: East of Greenwich a new day has begun here while it has not there.
ZONE = timezone(timedelta(hours=2))
EVENING = datetime(2026, 2, 28, 23, 30, tzinfo=ZONE)
MIDNIGHT = datetime(2026, 3, 1, 0, 30, tzinfo=ZONE)

CAMEL_MAIN = ["AGENTS", "SOUL", "IDENTITY", "USER", "TOOLS", "MEMORY", "HEARTBEAT", "BOOTSTRAP"]
CAMEL: dict[Kind, list[str]] = {
    "main": CAMEL_MAIN,
    "subagent": ["AGENTS", "TOOLS"],
    "scheduled": ["AGENTS", "TOOLS"],
    "heartbeat": ["AGENTS", "TOOLS", "HEARTBEAT"],
    "group": ["AGENTS", "SOUL", "IDENTITY", "USER", "TOOLS"],
}
CLAW_ALL = ["AGENTS", "SOUL", "USER", "TOOLS", "IDENTITY"]
CLAW: dict[Kind, list[str]] = {
    "main": [*CLAW_ALL, "MEMORY", "memory/2026-02-28", "memory/2026-02-27", "BOOTSTRAP"],
    "subagent": ["AGENTS", "TOOLS"],
    "scheduled": CLAW_ALL,
    "heartbeat": [*CLAW_ALL, "HEARTBEAT"],
    "group": CLAW_ALL,
}
SESSIONS = [("camel", kind, CAMEL[kind]) for kind in KINDS] + [("claw", kind, CLAW[kind]) for kind in KINDS]


@pytest.fixture(autouse=True)
def evening(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is late on 28 February, and nobody's settings are in the way."""
    for name in ("DIR", "WORKSPACE", "AGENT", "SESSION", "PROFILE", "KIND"):
        monkeypatch.delenv(f"CRABMEM_{name}", raising=False)
    monkeypatch.setattr(opening, "local_time", lambda: EVENING)


def workspace(root: Path, **files: str) -> Path:
    """A folder with these files, `/` in their names as `__`."""
    for name, text in files.items():
        file = root.joinpath(*f"{name}.md".split("__"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return root


def full(root: Path) -> Path:
    """A workspace with every file that these families know, each saying its own name."""
    top = {name: f"I am {name}." for name in [*CAMEL_MAIN, "BOOT"]}
    days = {f"memory__2026-02-{day}": f"On the {day}th." for day in (26, 27, 28)}
    return workspace(root, **top, **days, memory__2026__old="Older.", memory__tea="Green tea.")


def told(root: Path, profile: str | None, kind: Kind = "main") -> str:
    """What a session of that kind is told of files."""
    with Memory(root, profile=profile, kind=kind) as memory:
        prompt = memory.prompt()
    assert prompt.count(TOP) == 1
    return prompt.partition(TOP)[2].strip()


def crabmem(root: Path, *words: str, stdin: str = "") -> str:
    """What `crabmem --dir root …` prints."""
    result = typed("--dir", root, *words, stdin=stdin)
    nothing = ("no match in", "memory never said that", "no commit matches", "this memory is empty")
    is_nothing_found = result.exit_code == 1 and result.stderr.startswith(nothing)
    assert result.exit_code == 0 or is_nothing_found, (words, result.output, result.exception)
    return result.stdout


def text_of(file: Path) -> str:
    return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").strip()


# Sessions


@pytest.mark.parametrize(("profile", "kind", "files"), SESSIONS)
def test_each_kind_of_session_sees_its_files_in_order(
    tmp_path: Path, profile: str, kind: Kind, files: list[str]
) -> None:
    seen = re.findall(r"^## (.*)\.md$", told(full(tmp_path), profile, kind), re.MULTILINE)
    assert seen == files
    with Memory(tmp_path, profile=profile, kind=kind) as memory:
        assert [part.name.removesuffix(".md") for part in memory.context().parts if part.status == "ok"] == files


def test_a_main_session_of_camel_is_told_exactly_this(sample: Sample) -> None:
    root = sample("camel")
    files = ["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "MEMORY.md", "HEARTBEAT.md"]
    assert told(root, "camel") == "\n\n".join(
        [
            template("session/soul").strip(),
            *(f"## {name}\n\n{text_of(root / name)}" for name in files),
            f"## Memory\n\n2 daily notes in {root / 'memory'}",
        ]
    )


def test_the_sections_of_camel_come_in_their_order(sample: Sample) -> None:
    with Memory(sample("camel"), profile="camel") as memory:
        head = memory.prompt().partition(TOP)[0]
        assert re.findall("^## .*", head, re.MULTILINE) == [
            "## Safety", "## Tools for memory", "## Date and time", "## Runtime",
        ]  # fmt: skip
        assert head.startswith("You are the personal assistant") and "2026-02-28" in head
        assert all(f"`{tool.name}`" in head for tool in memory.tools)


def test_a_main_session_of_claw_is_told_exactly_this(sample: Sample) -> None:
    root = sample("claw")
    files = ["AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md", "memory.md"]
    days = ["memory/2026-02-28.md", "memory/2026-02-27.md"]
    assert told(root, "claw") == "\n\n".join(
        [template("session/soul").strip(), *(f"## {name}\n\n{text_of(root / name)}" for name in [*files, *days])]
    )


def test_a_sub_agent_of_claw_has_a_short_prompt_and_no_tools(sample: Sample) -> None:
    with Memory(sample("claw"), profile="claw", kind="subagent") as memory:
        prompt = memory.prompt()
        assert memory.tools == [] and "memory_search" not in prompt
        assert re.findall("^##? .*", prompt.partition("## AGENTS.md")[0], re.MULTILINE) == [
            "## Workspace and runtime", "# Project context",
        ]  # fmt: skip
        assert memory.call("memory_search", {"query": "queen"}).is_error
        assert memory.call("recall", {"query": "queen"}).is_error


def test_only_a_soul_brings_the_words_about_it(tmp_path: Path) -> None:
    for profile in FAMILIES:
        assert template("session/soul").strip() not in told(workspace(tmp_path, AGENTS="Be kind."), profile)


@pytest.mark.parametrize("name", profile_names())
def test_every_text_that_a_profile_names_is_there(name: str) -> None:
    profile = load_profile(name)
    wanted = {part.template or part.default for part in profile.part} | {seed.template for seed in profile.seed}
    assert all(template(text).strip() for text in wanted - {""})


# Budgets


@pytest.mark.parametrize("profile", FAMILIES)
def test_a_file_of_20_001_characters_is_cut_and_one_of_20_000_is_not(tmp_path: Path, profile: str) -> None:
    limits = load_profile(profile).budget
    for size, status in ((20_000, "ok"), (20_001, "truncated")):
        workspace(tmp_path, AGENTS="h" * 14_000 + "-" * (size - 18_000) + "t" * 4_000)
        with Memory(tmp_path, profile=profile) as memory:
            found = memory.context()
        [part] = [part for part in found.parts if part.name == "AGENTS.md"]
        mark = limits.mark.format(file="AGENTS.md", kept=18_000, of=20_001)
        assert (part.status, part.raw) == (status, size)
        assert part.injected == (size if status == "ok" else 18_000 + len(mark))
        assert ("h" * 14_000 + mark + "t" * 4_000 in found.text) is (status == "truncated")
        assert ("AGENTS.md. Read the file" in found.text) is (status == "truncated")


@pytest.mark.parametrize(("profile", "total"), [("camel", 150_000), ("claw", 24_000)])
def test_all_files_together_stay_within_the_total_and_less_than_64_is_nothing(
    tmp_path: Path, profile: str, total: int
) -> None:
    files = [part.file for part in load_profile(profile).parts_for("main") if part.file.endswith(".md")]
    filled = dict.fromkeys((name.removesuffix(".md") for name in files), "x" * 20_000)
    with Memory(workspace(tmp_path, **filled, SOUL="s" * 19_990, MEMORY="m" * 20_000), profile=profile) as memory:
        found = memory.context()
    assert sum(part.injected for part in found.parts) <= total
    short = [part.name for part in found.parts if part.status in ("truncated", "left out")]
    assert short[-1] == "BOOTSTRAP.md" and "SOUL.md" in [part.name for part in found.parts if part.injected]
    assert f"Shortened here, to fit: {', '.join(short)}." in found.text


def test_what_has_fewer_than_64_characters_left_is_left_out(tmp_path: Path) -> None:
    for left, status in ((64, "truncated"), (63, "left out")):
        workspace(tmp_path, AGENTS="a" * 20_000, SOUL="s" * (4_000 - left), USER="u" * 100)
        with Memory(tmp_path, profile="claw") as memory:
            parts = {part.name: part for part in memory.context().parts}
        assert (parts["USER.md"].status, parts["USER.md"].injected <= left) == (status, True)


def test_claw_marks_what_is_missing_but_not_what_comes_and_goes(tmp_path: Path) -> None:
    expected = [f"## {name}\n\n[MISSING] Expected at: {name}" for name in ("USER.md", "MEMORY.md")]
    text = told(workspace(tmp_path, AGENTS="Be kind.", USER=" \n"), "claw")
    assert all(words in text for words in expected)
    assert not re.search("BOOTSTRAP|HEARTBEAT|2026-02", text)
    assert "MISSING" not in told(tmp_path, "camel")


def test_an_overview_of_30_kilobytes_is_served_head_and_tail_and_said_to_be_cut(tmp_path: Path) -> None:
    lines = [f"- fact {number:04}" for number in range(2_500)]
    root = workspace(tmp_path, MEMORY="\n".join(lines))
    for profile in FAMILIES:
        text = told(root, profile)
        assert "fact 0000" in text and "fact 2499" in text and "fact 1700" not in text
        assert "MEMORY.md. Read the file" in text
    assert (root / "MEMORY.md").read_text() == "\n".join(lines)


def _as_link(file: Path) -> None:
    file.with_name("real.md").write_text("Mirela.")
    file.symlink_to("real.md")


@pytest.mark.parametrize(
    "spoil",
    [_as_link, Path.mkdir, lambda file: file.write_bytes(b"caf\xe9"), lambda file: file.write_text("x" * 5_000_001)],
    ids=["a link", "a folder", "not UTF-8", "too large"],
)
@pytest.mark.parametrize("profile", profile_names())
def test_one_file_that_cannot_be_read_takes_nothing_else_out_of_the_prompt(
    tmp_path: Path, profile: str, spoil: Callable[[Path], None]
) -> None:
    names = [part.file for part in load_profile(profile).parts_for("main") if part.file]
    with Memory(tmp_path, profile=profile) as memory:
        paths = [memory.layout.named(name) for name in names]
        for path in paths:
            memory.file(path).parent.mkdir(parents=True, exist_ok=True)
            memory.file(path).write_text(f"This is {path}.")
        for path in paths:
            memory.file(path).unlink()
            spoil(memory.file(path))
            found = memory.context()
            assert [part.name for part in found.parts if part.status == "unreadable"] == [path]
            assert [f"This is {other}." in found.text for other in paths] == [other != path for other in paths]
            assert all(path in part.trouble for part in found.parts if part.trouble)
            assert f"{path} is left out here, as it cannot be read." in found.text
            assert any(path in words for words in status_operations.status(memory).odd)
            memory.file(path).rmdir() if memory.file(path).is_dir() else memory.file(path).unlink()
            memory.file(path).write_text(f"This is {path}.")


# Whose files


@pytest.mark.parametrize("profile", FAMILIES)
def test_an_agent_has_its_own_files_else_its_parents_and_always_the_parents_person(
    tmp_path: Path, profile: str
) -> None:
    workspace(tmp_path, AGENTS="Of all.", SOUL="The parent.", USER="Ann.", TOOLS="Hammer.", MEMORY="Parent's.")
    workspace(tmp_path / "agents" / "scribe", SOUL="The scribe.", USER="Stale.", MEMORY="Scribe's.")
    crabmem(tmp_path, "--profile", profile, "init")
    text = told(tmp_path / "agents" / "scribe", profile)
    assert all(words in text for words in ("Of all.", "The scribe.", "Ann.", "Hammer.", "Scribe's."))
    assert not re.search("The parent|Stale|Parent's", text)


@pytest.mark.parametrize("profile", FAMILIES)
def test_what_an_agent_knows_no_other_finds_not_even_one_whose_name_begins_alike(tmp_path: Path, profile: str) -> None:
    for agent in ("", "agents/a", "agents/ab"):
        with Memory(tmp_path / agent, profile=profile) as memory:
            memory.remember("Tea", "what to drink", f"Green, says {agent or 'the parent'}.")
            assert [hit.entry.content for hit in memory.recall("green tea")] == [
                f"Green, says {agent or 'the parent'}."
            ]
            outside = "memory/../../ab/memory/entries/tea.md"
            reads = [call for tool, given in calls(memory, [outside]) for call in [memory.call(tool, given)]]
            assert not any("says agents/ab" in call.text for call in reads if agent == "agents/a")


@pytest.mark.parametrize("profile", FAMILIES)
def test_a_soul_is_written_where_a_person_lets_agents_and_the_agent_is_asked_to_tell(
    tmp_path: Path, profile: str
) -> None:
    with Memory(workspace(tmp_path, SOUL="Calm."), profile=profile) as memory:
        assert memory.call("soul", {"content": "Wild."}).is_error and "soul" not in {tool.name for tool in memory.tools}
        assert (tmp_path / "SOUL.md").read_text() == "Calm."
    with Memory(tmp_path, profile=profile, agent="quill", soul_editable=True) as memory:
        [tool] = [tool for tool in memory.tools if tool.name == "soul"]
        assert memory.call("soul", {"content": "Calm, and curious."}).text.startswith("SOUL.md updated")
        assert "Tell the person" in tool.description and memory.log()[0].subject.startswith("soul: ")
    for seed in load_profile(profile).seed:
        assert seed.file != "{identity}" or re.search(
            r"(?s)When I change .*I tell the\s+person", template(seed.template)
        )


def test_an_overview_of_the_older_name_is_read_and_written_where_it_is(sample: Sample) -> None:
    root = sample("claw")
    with Memory(root, profile="claw", agent="drona") as memory:
        assert "oxalic" in memory.overview().text.casefold()
        changed = memory.write_overview(memory.overview().text + "- Bojan likes lime honey.\n")
        assert (changed.path, memory.call("memory", {"content": "# Short"}).text.split("\n")[0]) == (
            "memory.md", "memory.md updated",
        )  # fmt: skip
        assert not (root / "MEMORY.md").exists() and memory.log()[0].paths == ("memory.md",)
    workspace(root, MEMORY="The new one.")
    assert "The new one." in told(root, "claw") and "# Short" not in told(root, "claw")


@pytest.mark.parametrize(("profile", "argument"), [("camel", "filePath"), ("claw", "path")])
def test_memory_get_gives_the_overview_by_the_name_it_is_asked_for_whichever_it_has(
    tmp_path: Path, profile: str, argument: str
) -> None:
    for name, asked in (("memory.md", "MEMORY.md"), ("MEMORY.md", "memory.md"), ("memory.md", "./MEMORY.md")):
        stem = name.removesuffix(".md")
        root = workspace(tmp_path / f"{stem}-{len(asked)}", **{stem: "Wheat paste holds."})
        with Memory(root, profile=profile) as memory:
            assert "Wheat paste holds." in memory.call("memory_get", {argument: asked}).text


@pytest.mark.parametrize("profile", FAMILIES)
def test_the_older_name_in_an_agents_workspace_comes_before_the_parents_overview(sample: Sample, profile: str) -> None:
    root = sample("camel")
    crabmem(root, "--profile", profile, "init")
    text = told(root / "agents" / "scribe", profile)
    assert "## memory.md\n\nLetters to the museum begin" in text and "Wheat paste" not in text
    assert "Mirela" in text and "somebody else" not in text


# Days


def test_a_days_note_is_that_of_the_local_day_even_when_midnight_has_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(full(tmp_path), **{"memory__2026-03-01": "New month."})
    with Memory(tmp_path, profile="claw") as memory:
        assert "On the 28th." in memory.prompt() and "New month." not in memory.prompt()
        assert memory.write_note("Late.").path == "memory/2026-02-28.md"
    monkeypatch.setattr(opening, "local_time", lambda: MIDNIGHT)
    with Memory(tmp_path, profile="claw") as memory:
        text = memory.prompt()
        assert text.index("New month.") < text.index("On the 28th.") and "On the 27th." not in text
        assert "2026-03-01" in text.partition(TOP)[0] and memory.write_note("Early.").path == "memory/2026-03-01.md"


# What is hidden


@pytest.mark.parametrize("profile", FAMILIES)
def test_a_group_sees_no_memory_by_any_way(sample: Sample, profile: str) -> None:
    root, secret = (
        sample(profile),
        re.compile("PVA|in cash|Pelaria|five raised|oxalic|fondant|lime honey|hive C 3.1", re.I),
    )
    with Memory(root, profile=profile) as memory:
        assert secret.search(memory.prompt()) and memory.entries()
    with Memory(root, profile=profile, kind="group") as memory:
        said = [memory.prompt(), memory.overview().text, memory.before_turn("What about Dr. Sava, mites and Bojan?")]
        said += [
            entry.content for entry in [*memory.entries(), *(hit.entry for hit in memory.recall("mites goatskin"))]
        ]
        for tool, arguments in calls(
            memory, ["memory.md", "MEMORY.md", "memory/2026-02-27.md", "memory/people/bojan.md"]
        ):
            said.append(str(memory.call(tool, arguments)))
        assert not any(map(secret.search, said)), said
        assert {tool.name for tool in memory.tools}.isdisjoint({"memory", "soul", "note", "remember"})


@pytest.mark.parametrize("profile", FAMILIES)
def test_a_group_is_told_that_others_read_along_and_of_no_search_that_would_find_nothing(
    sample: Sample, profile: str
) -> None:
    with Memory(sample(profile), profile=profile, kind="group") as memory:
        assert "Others read along" in memory.prompt() and "Search before you answer" not in memory.prompt()
        assert memory.tools == []
        assert memory.call("memory_search", {"query": "mites"}).text.endswith("(there are: none in this session)")


@pytest.mark.parametrize("profile", ["camel", "claw", "legion", "harness"])
def test_doctor_finds_nothing_odd_about_the_files_of_a_family(sample: Sample, profile: str) -> None:
    with Memory(sample(profile), profile=profile) as memory:
        memory.adopt()
        memory.call("memory_save", {"content": "Diesel came. It was 400 l."})  # where there is such a tool
        said = [finding.message for finding in memory.doctor()]
    assert not [words for words in said if re.search("directly in|frontmatter|no description", words)]


@pytest.mark.parametrize("profile", FAMILIES)
def test_a_group_hears_nothing_of_what_was_written_about_memory(tmp_path: Path, profile: str) -> None:
    with Memory(workspace(tmp_path, SOUL="Calm."), profile=profile, agent="quill") as memory:
        memory.remember("Ana's allergy", "what Ana must not have", "Bee stings.")
        memory.file("SOUL.md").write_text("Calm, and curious.")
        memory.adopt()
        assert [commit.paths for commit in memory.log(2)] == [("SOUL.md",), ("memory/entries/ana-s-allergy.md",)]
        assert not any("Ana" in commit.subject for commit in memory.of_kind("group").log())
        assert memory.of_kind("group").log()[0].paths == ("SOUL.md",)


def calls(memory: Memory, paths: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """Calls of every tool that only reads."""
    given = {"query": ["mites, goatskin, the museum, the queen"], "path": paths, "filePath": paths, "name": paths}
    found = list[tuple[str, dict[str, Any]]]()
    for tool in memory.tools:
        if tool.annotations.read_only:
            [needed] = tool.input_schema["required"]
            found += [(tool.name, {needed: value}) for value in given[needed]]
    return found


# Search, and what a full window does


def test_camel_finds_newer_days_first_among_the_same_words(tmp_path: Path) -> None:
    days = {day: EVENING - timedelta(days=day) for day in (-1, 0, 1, 7, 8)}
    notes = {f"memory__{day:%Y-%m-%d}": "The cellar needs paint." for day in days.values()}
    with Memory(workspace(tmp_path, **notes), profile="camel") as memory:
        hits = memory.call("memory_search", {"query": "paint cellar", "maxResults": 9}).data["hits"]
    scores = {hit["path"]: hit["score"] for hit in hits}
    of_days = {day: scores[f"memory/{days[day]:%Y-%m-%d}.md"] for day in days}
    factors = {day: score / of_days[8] for day, score in of_days.items()}
    assert factors == pytest.approx({-1: 1.0, 0: 1.5, 1: 1.3, 7: 1.1, 8: 1.0}) and len(hits) == len(days)


def test_a_hit_of_either_family_says_where_it_is_and_is_read_there(sample: Sample) -> None:
    with Memory(sample("camel"), profile="camel") as memory:
        assert "[1] memory/projects/atlas.md (score: " in memory.call("memory_search", {"query": "raised cords"}).text
        lines = memory.call("memory_get", {"filePath": "memory/2026-02-27.md", "from": 3, "lines": 1}).text
        assert lines == "3: Map 14 turned up in the crate. Dr. Sava was told."
    with Memory(sample("claw"), profile="claw") as memory:
        hit = memory.call("memory_search", {"query": "who lends the extractor"}).data["results"][0]
        assert (hit["path"], hit["startLine"], hit["endLine"]) == ("memory/people/bojan.md", 1, 3)
        given = {"path": hit["path"], "from": 3, "lines": 1}
        assert "Neighbour below the road" in memory.call("memory_get", given).data["text"]


def test_each_family_stores_at_its_own_mark_of_a_full_window_and_into_the_days_note() -> None:
    camel, claw = load_profile("camel"), load_profile("claw")
    assert (camel.window.thresholds(80_000), claw.window.thresholds(200_000)) == ({"flush": 64_000}, {"flush": 176_000})
    assert camel.window.store == claw.window.store == "note"
    assert [kind for kind in KINDS if claw.flushes(kind)] == ["main", "scheduled"]


@pytest.mark.parametrize("profile", FAMILIES)
def test_a_days_note_only_grows_by_tools(sample: Sample, profile: str) -> None:
    with Memory(sample(profile), profile=profile, agent="quill") as memory:
        with pytest.raises(CrabmemError, match=r"memory/2026-02-27\.md"):
            files_operations.rewrite(memory, "tidied", lambda tree: {"2026-02-27.md": "Shorter."})
        assert not memory.log()


# Workspaces that are there already


@pytest.mark.parametrize("profile", FAMILIES)
def test_reading_an_existing_workspace_changes_no_byte_and_no_time_of_it(sample: Sample, profile: str) -> None:
    root = sample(profile)
    before = everything(root)
    verbs = [
        "prompt",
        "context",
        "list",
        "log",
        "links",
        "stats",
        "doctor",
        "tools",
        "config",
        "path",
        "diff",
        "digest",
    ]
    for words in [*verbs, "memory show", "soul show", "profile show"]:
        crabmem(root, "--profile", profile, *words.split())
    for words in ["recall sewing frame hive", "when sewing frame"]:
        assert typed("--dir", root, "--profile", profile, *words.split()).exit_code in (0, 1)
    for kind in KINDS:
        crabmem(root, "--profile", profile, "--kind", kind, "prompt", "--account", "--json")
        with Memory(root, profile=profile, kind=kind) as memory:
            assert memory.before_turn("the sewing frame, the hive and the queen") is not None
            for tool, arguments in calls(memory, ["MEMORY.md", "memory/2026-02-27.md", "memory/no.md", "../x.md"]):
                assert memory.call(tool, arguments).text
    assert everything(root) == before


@pytest.mark.parametrize("profile", FAMILIES)
def test_the_first_write_beside_existing_files_leaves_each_of_their_bytes(sample: Sample, profile: str) -> None:
    root = sample(profile)
    before = {path: data for path, (_, data) in everything(root).items() if Path(path).is_file()}
    with Memory(root, profile=profile, agent="quill") as memory:
        memory.write_note("Order 32 came in.")
    now = {path: data for path, (_, data) in everything(root).items() if path in before}
    day = str(root / "memory" / "2026-02-28.md")
    assert now.pop(day, b"").startswith(before.pop(day, b"")) and now == before


@pytest.mark.parametrize("profile", FAMILIES)
def test_a_workspace_that_is_there_is_adopted_as_it_is(sample: Sample, profile: str) -> None:
    root = sample(profile)
    before = everything(root)
    result = typed("adopt", str(root), "--profile", profile)
    assert result.exit_code == 0, result.output
    after = everything(root)
    assert all(after[path] == before[path] for path in before if Path(path).is_file())
    assert {Path(path).name for path in after.keys() - before.keys() if ".git" not in path} == {"crabmem.toml"}
    assert told(root, profile) == told(root, None)  # from now on its settings say whose it is
    assert crabmem(root, "recall", "goatskin", "or", "mites")


def test_a_clone_has_what_the_agent_knew_and_nothing_else(sample: Sample) -> None:
    root = sample("camel")
    crabmem(root, "init", "--profile", "camel")
    crabmem(root / "agents" / "scribe", "init")
    crabmem(root, "agents", "clone", "scribe", "editor")
    scribe, editor = root / "agents" / "scribe", root / "agents" / "editor"
    for name in ("SOUL.md", "TOOLS.md", "memory/2026-02-27.md"):
        assert (editor / name).read_bytes() == (scribe / name).read_bytes()
    assert (editor / "MEMORY.md").read_bytes() == (scribe / "memory.md").read_bytes()
    assert not (editor / "USER.md").exists()


# From an empty folder to a recalled fact


@pytest.mark.parametrize("profile", FAMILIES)
def test_a_story_from_an_empty_folder_to_a_recalled_fact(tmp_path: Path, profile: str) -> None:
    root = tmp_path / "home"
    crabmem(root, "--profile", profile, "init")
    seeded = {file.name for file in root.glob("*.md")}
    assert seeded == {f"{name}.md" for name in CAMEL_MAIN if name != "MEMORY"}
    (root / "BOOTSTRAP.md").unlink()
    empty = crabmem(root, "call", "memory_search", '{"query": "printer"}')
    crabmem(root, "--agent", "quill", "call", "note", '{"text": "The printer jams in damp weather."}')
    crabmem(root, "--agent", "quill", "call", "memory", '{"content": "Ann likes short answers."}')
    assert "## BOOTSTRAP" not in crabmem(root, "prompt") and "Ann likes short answers." in crabmem(root, "prompt")
    assert ("jams in damp" in crabmem(root, "prompt")) is (profile == "claw")
    assert "memory/2026-02-28.md" in crabmem(root, "call", "memory_search", '{"query": "why does the printer jam"}')
    missed = crabmem(root, "call", "memory_search", '{"query": "volcano"}')
    assert len({empty, missed, ""}) == 3
    with Memory(root) as memory:
        assert [commit.agent for commit in memory.log()][:2] == ["quill", "quill"]
    crabmem(root, "init")
    assert not (root / "BOOTSTRAP.md").exists()


@pytest.mark.parametrize(("profile", "words"), [("camel", "Radu repairs"), ("claw", "blue dot")])
def test_a_host_gets_the_tools_of_a_family_and_how_to_use_them_over_mcp(
    sample: Sample, profile: str, words: str
) -> None:
    async def talk(root: Path) -> None:
        async with connected(root, "stdio", "auto", options=["--profile", profile]) as client:
            offered = {tool.name for tool in (await client.list_tools()).tools}
            assert offered == {"memory_search", "memory_get", "note", "memory"}
            found = await client.call_tool("memory_search", {"query": "who repairs the sewing frame; the queen"})
            assert words in json.dumps(found.model_dump(mode="json"))
            told = client.instructions or ""
            assert "`memory_search`" in told and "Search before you answer" in told

    anyio.run(talk, sample(profile))
