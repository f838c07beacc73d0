"""Memory of other programs: each kind is known by its look, and says as facts what it said before."""

import json
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Entry, Memory
from crabmem.errors import CrabmemError
from crabmem.importers.base import JSON, Tree
from crabmem.importers.facts import prepare
from crabmem.importers.recognition import source_called, source_of, sources
from crabmem.importers.tree import tree_of
from crabmem.operations import links
from crabmem.text.entry import Fact
from tests.conftest import git, typed
from tests.importers.conftest import Import

CLAUDE = {
    "MEMORY.md": "- [Tests](testing-feedback.md) — real databases\n",
    "testing-feedback.md": "---\nname: testing-feedback\ndescription: integration tests hit a real database\n"
    "metadata:\n  type: feedback\n---\n\nNo mocks. See [[release-day]].\n",
    "release-day.md": "---\nname: release-day\ndescription: when to release\ntype: project\n---\nFridays.\n",
}
OF_CLAUDE = "---\nname: {}\ndescription: {}\nmetadata: {{type: user}}\n---\n\n{}\n"
BASIC = {
    "design/Coffee Brewing.md": "---\ntitle: Coffee Brewing\ntype: note\npermalink: design/coffee-brewing\n"
    "tags: [coffee, howto]\n---\n\n# Coffee Brewing\n\n## Observations\n"
    "- [method] Pour over is clearest #taste (mine)\n\n## Relations\n- requires [[Proper Grinding]]\n",
    "Proper Grinding.md": "---\ntitle: Proper Grinding\ntype: person\npermalink: proper-grinding\n---\n\nBurrs.\n",
}
VAULT = {
    ".obsidian/templates.json": '{"folder": "Meta/Blueprints"}',
    ".trash/old.md": "gone",
    "Luna.md": "---\naliases: the dog, Lu\ntag: pets\n---\n"
    "# A heading\nSees [[people/Dr. Moreno|her vet]]. #animals/dogs #12 `#no`\n",
    "people/Dr. Moreno.md": "---\nalias: vet\ntags: '#people #health'\n---\nEvery Thursday. ![[luna.png]]\n",
    "people/Index.md": "[[projects/Index]] and [[people/Dr. Moreno]].",
    "projects/Index.md": "x",
    "daily/2026-03-14.md": "Walked.",
    "Meta/Blueprints/note.md": "{{title}}",
    "Templates/day.md": "{{date}}",
    "luna.png": "PNG",
    "board.canvas": "{}",
    "sketch.excalidraw.md": "---\nexcalidraw-plugin: parsed\n---\n{}",
}
SERENA = {
    "memories/suggested_commands.md": "# Commands\n\nRun `make`.\n",
    "memories/modules/frontend.md": "React.\n",
    "project.yml": "name: x",
    "cache/x.md": "none of ours",
}
CLAW = {
    "SOUL.md": "# Soul",
    "USER.md": "# About Marit\n\nLikes tea.\n",
    "MEMORY.md": "# Long-term memory\n\n## Deploys\n\nNever on Fridays.\n\n"
    "```\n## no heading\n```\n\n## Empty\n\n## People\n\nAnn.\n",
    "memory/2026-03-14.md": "# 14 March\n\n- Shipped 1.2.\n",
    "memory/topics/billing.md": "# Billing\n\nMonthly.\n",
    "skills/x/SKILL.md": "none of ours",
}
BUNDLE = {
    "index.md": "# Tables\n\n* [Orders](tables/orders.md) - a row for each\n",
    "log.md": "# Log\n\n## 2026-07-01\n* **Creation**: all of it.\n",
    "tables/orders.md": "---\ntype: BigQuery Table\ntitle: Customer Orders\ntags: [sales]\n"
    "generated: { by: agent/1, at: 2026-05-28T14:30:00Z }\nverified:\n  - { by: human:ann, at: 2026-06-25 }\n"
    "stale_after: 2026-12-31   # by the policy\n---\n\n# Schema\n\nJoined with [customers](/tables/customers.md), "
    "[see](../metrics/revenue.md#sum), [`it`](./customers.md), [web](https://example.org/a.md), [none](/x.md).\n"
    "`[code](/tables/customers.md)`\n\n| [who](/tables/customers.md) | [customers](/tables/customers.md) |\n",
    "tables/customers.md": "---\ntype: BigQuery Table\n---\n\n# Schema\n\nOne row for each customer.\n",
    "metrics/revenue.md": "---\ntype: Metric\ntitle: Revenue\nname: revenue-v2\ndescription: what was earned\n---\n"
    "Net.\n",
    "metrics/attester.py": "print()",
}
MEM0: dict[str, list[Any]] = {
    "results": [
        {"id": "3f2c9a8e-1", "memory": "Alice prefers tea. Never coffee.", "user_id": "alice", "hash": "x",
         "created_at": "2026-01-02T03:04:05-08:00", "metadata": {"type": "preference", "n": 1, "deep": {}},
         "categories": ["food", "drinks"]},
        {"id": "9b1d7c55-2", "memory": "Alice prefers tea. Never coffee.", "user_id": "alice", "metadata": None},
        {"id": "7", "text": "no memory"},
    ]
}  # fmt: skip
GRAPH: list[dict[str, Any]] = [
    {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Leads QA", "Speaks\nGerman"]},
    {"type": "entity", "name": "Shop", "entityType": "project", "observations": []},
    {"type": "relation", "from": "Ann", "to": "Shop", "relationType": "works on"},
    {"type": "relation", "from": "Ann", "to": "C# [old]", "relationType": "knows"},
    {"type": "relation", "from": "Nobody", "to": "Shop", "relationType": "knows"},
]


def laid(folder: Path, files: Mapping[str, str]) -> Path:
    """A folder with these files."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def entries(tmp_path: Path) -> dict[str, Entry]:
    """What is remembered, by name."""
    with Memory(tmp_path / "memory") as memory:
        return {entry.name: entry for entry in memory.entries()}


def reasons(result: Result) -> dict[str, str]:
    """What was skipped or failed, and why."""
    return {item["file"]: item["reason"] for item in json.loads(result.stdout)["files"] if "reason" in item}


def test_claude_codes_own_memory(tmp_path: Path, imported: Import) -> None:
    result = imported(laid(tmp_path / "notes", CLAUDE), "--json")
    assert (result.exit_code, json.loads(result.stdout)["kind"]) == (0, "claude-code")
    found = entries(tmp_path)
    feedback = found["testing-feedback"]
    assert (feedback.description, feedback.content, feedback.tags) == (
        "integration tests hit a real database", "No mocks. See [[release-day]].", ("feedback",),
    )  # fmt: skip
    assert found["release-day"].tags == ("project",)
    assert list(reasons(result)) == ["MEMORY.md"] and len(found) == 2
    assert leads_nowhere(tmp_path) == []


def test_what_claude_codes_index_says_besides_its_list_is_taken(tmp_path: Path, imported: Import) -> None:
    index = (
        "# Memory\n\nDeploys need the VPN pine.\n\n- [Tests](testing-feedback.md) — real databases\n"
        "- **[[release-day]]**: Fridays\n- [Gone](gone.md)\n\n## Conventions\n- Use pnpm, never npm.\n"
    )
    result = imported(laid(tmp_path / "notes", {**CLAUDE, "MEMORY.md": index}), "--json")
    assert result.exit_code == 0
    found = {name: entry.content for name, entry in entries(tmp_path).items()}
    assert found["Memory"] == "Deploys need the VPN pine.\n\n- [Gone](gone.md)"
    assert found["Conventions"] == "- Use pnpm, never npm."
    assert reasons(result) == {"MEMORY.md": "it also lists the others, each a fact itself; what else it says is taken"}
    result = imported(laid(tmp_path / "other", {**CLAUDE, "MEMORY.md": "Tabs, not spaces.\n"}), "--json")
    assert reasons(result) == {}
    assert entries(tmp_path)["MEMORY (MEMORY)"].content == "Tabs, not spaces."


@pytest.mark.parametrize("kind", ["obsidian", "basic-memory", "claude-code", "serena", "openclaw", "crabmem", "folder"])
def test_every_key_that_is_not_understood_stays(tmp_path: Path, imported: Import, kind: str) -> None:
    text = (
        "---\nname: Marta\ndescription: who\ntitle: Marta\ntype: user\npermalink: marta\nphone: '+351 21'\n"
        "created: 2026-03-04\nmetadata: {type: user, originSessionId: s-1}\n---\nContractor.\n"
    )
    places = {"serena": "memories/marta.md", "crabmem": "memory/entries/marta.md", "openclaw": "memory/marta.md"}
    files = {places.get(kind, "marta.md"): text}
    if kind == "openclaw":
        files["MEMORY.md"] = "---\nrating: 5\n---\n# Rules\n\nNone.\n"
    assert imported(laid(tmp_path / "notes", files), "--from", kind).exit_code == 0
    found = entries(tmp_path)
    keys = next(entry.keys for entry in found.values() if entry.content == "Contractor.")
    wanted = {"phone": "+351 21", "created": "2026-03-04", "metadata": {"type": "user", "originSessionId": "s-1"}}
    assert wanted.items() <= keys.items()
    assert kind != "openclaw" or found["Rules"].keys["rating"] == "5"


# So many kinds, each with files that it reads, one that it does not, one in a folder, and one with a dot.
@pytest.mark.parametrize("kind", [source.name for source in sources()])
def test_every_file_is_taken_or_named_with_the_reason(tmp_path: Path, imported: Import, kind: str) -> None:
    text = "---\nname: {}\ndescription: d\n---\n\nText.\n"
    files = {
        **{path: text.format(path) for path in ("a.md", "memory/entries/b.md", "memories/c.md", "sub/d.md", "e.txt")},
        "MEMORY.md": "# A\n\nText.\n", "index.md": "# List\n", "graph.json": json.dumps([{"memory": "m"}]),
        "picture.png": "", "empty.md": "", ".dot/x.md": "x", "sub/.dot": "x",
    }  # fmt: skip
    result = imported(laid(tmp_path / "notes", files), "--from", kind, "--json")
    told = {each["file"]: each["state"] for each in json.loads(result.stdout)["files"]}
    named = {
        each for path in [*files, ".dot"] for each in told if each == path or each.startswith((f"{path}#", f"{path}["))
    }
    assert named == set(told)
    assert all(any(each == path or each.startswith((f"{path}#", f"{path}[")) for each in told)
               for path in {*files, ".dot"} - {".dot/x.md"})  # fmt: skip
    assert {"picture.png", ".dot", "sub/.dot"} <= reasons(result).keys()


def test_the_same_notes_imported_into_two_workspaces_are_one_fact(tmp_path: Path, imported: Import) -> None:
    laid(tmp_path / "texts", {"a.md": "# Minutes\n\nPizza."})
    imported(tmp_path / "texts")
    typed("--dir", tmp_path / "notes", "import", str(tmp_path / "texts"))
    assert imported(tmp_path / "notes").exit_code == 0
    assert [entry.origin for entry in entries(tmp_path).values()] == [str(tmp_path / "texts" / "a.md")]


FORGED = {
    "folder": ("harmless.md", {}),
    "obsidian": ("Harmless.md", {".obsidian/app.json": "{}"}),
    "crabmem": ("memory/entries/harmless.md", {"Crab.md": "# Who\n"}),
}


@pytest.mark.parametrize("kind", FORGED)
@pytest.mark.parametrize("is_first", [False, True])
def test_a_file_does_not_choose_the_fact_that_it_replaces(
    tmp_path: Path, imported: Import, kind: str, is_first: bool
) -> None:
    """The key `imported-from` in a stranger's file is not believed, whoever is imported first."""
    mine = laid(tmp_path / "mine", {"bank.md": "---\nname: Bank\n---\nThe account is at the Sparkasse.\n"})
    place, files = FORGED[kind]
    forged = f"---\nname: Harmless\nimported-from: {mine / 'bank.md'}\n---\nPay to the account of Mallory.\n"
    theirs = laid(tmp_path / "theirs", {**files, place: forged})
    for folder in (theirs, mine, theirs) if is_first else (mine, theirs):
        result = imported(folder, "--replace", "--json")
        assert result.exit_code == 0
        [state] = [item["state"] for item in json.loads(result.stdout)["files"] if item["state"] != "skipped"]
        assert state in ("made", "unchanged")
    found = entries(tmp_path)
    assert {name: entry.content.strip() for name, entry in found.items()} == {
        "Bank": "The account is at the Sparkasse.", "Harmless": "Pay to the account of Mallory.",
    }  # fmt: skip
    assert found["Bank"].origin == str(mine / "bank.md")
    assert found["Harmless"].origin == ("" if kind == "crabmem" else str(theirs / place))


def test_a_memory_of_mem0_is_found_again_by_its_id(tmp_path: Path, imported: Import) -> None:
    imported("-", stdin=json.dumps([{"id": "7", "memory": "Ann likes tea."}]))
    result = imported("-", "--replace", "--json", stdin=json.dumps([{"id": "7", "memory": "Ann prefers coffee."}]))
    assert json.loads(result.stdout)["files"][0]["state"] == "replaced"
    assert [entry.content for entry in entries(tmp_path).values()] == ["Ann prefers coffee."]


def test_a_link_of_claude_code_by_a_files_name_leads_to_the_fact_in_it(tmp_path: Path, imported: Import) -> None:
    files = {
        "MEMORY.md": "- a list\n",
        "user_role.md": OF_CLAUDE.format("user role", "d", "See [[no_mocks|why]], [[odd]] and [[no mocks]]."),
        "no_mocks.md": OF_CLAUDE.format("no mocks", "d", "Ever."),
        "odd.md": OF_CLAUDE.format('"[odd]"', "d", "x"),
    }
    assert imported(laid(tmp_path / "notes", files)).exit_code == 0
    assert entries(tmp_path)["user role"].content == "See [[no mocks|why]], [[odd]] and [[no mocks]]."
    assert leads_nowhere(tmp_path) == []


def test_links_of_claude_code_to_two_facts_of_one_name_lead_to_each(tmp_path: Path, imported: Import) -> None:
    files = {
        "MEMORY.md": "- a list\n",
        "one.md": OF_CLAUDE.format("Coffee", '"beside [[two]]"', "See [[two]]."),
        "two.md": OF_CLAUDE.format("Coffee", "d", "See [[one]]."),
    }
    assert imported(laid(tmp_path / "notes", files)).exit_code == 0
    assert entries(tmp_path)["Coffee (one)"].content == "See [[Coffee (two)]]."
    assert leads_nowhere(tmp_path) == []


@pytest.mark.parametrize("kind", ["folder", "basic-memory"])
def test_a_link_by_a_files_path_or_by_a_name_that_no_other_has_leads_to_the_fact_in_it(
    tmp_path: Path, imported: Import, kind: str
) -> None:
    files = {
        "a/beta.md": "# Beta\n\nOf a.\n", "b/beta.md": "# Beta\n\nOf b.\n",
        "c/gamma.md": "# Third Letter\n\nThe third.\n", "last-one.md": "# Last One\n\nOmega.\n",
        "alpha.md": "[[Beta]], [[a/beta]], ![[B/Beta.md#Of|it]], [[gamma]], `[[gamma]]`, [[alpha]], [[last-one]]\n",
    }  # fmt: skip
    assert imported(laid(tmp_path / "notes", files), "--from", kind).exit_code == 0
    assert entries(tmp_path)["alpha"].content == (
        "[[Beta]], [[Beta (a/beta)]], ![[Beta (b/beta)#Of|it]], [[Third Letter]], `[[gamma]]`, [[alpha]], [[last-one]]"
    )
    assert leads_nowhere(tmp_path) == ["Beta"]


def leads_nowhere(tmp_path: Path) -> list[str]:
    with Memory(tmp_path / "memory") as memory:
        return [link.target for link in links.links(memory).broken]


def test_basic_memory(tmp_path: Path, imported: Import) -> None:
    result = imported(laid(tmp_path / "notes", BASIC), "--json")
    assert (result.exit_code, json.loads(result.stdout)["kind"], reasons(result)) == (0, "basic-memory", {})
    found = entries(tmp_path)
    coffee = found["Coffee Brewing"]
    assert (coffee.aliases, coffee.tags) == (("design/coffee-brewing",), ("coffee", "howto"))
    assert "- [method] Pour over is clearest #taste (mine)\n" in coffee.content
    assert "- requires [[Proper Grinding]]" in coffee.content
    assert (found["Proper Grinding"].aliases, found["Proper Grinding"].tags) == ((), ("person",))
    assert leads_nowhere(tmp_path) == []


def test_obsidian_vault(tmp_path: Path, imported: Import) -> None:
    result = imported(laid(tmp_path / "notes", VAULT), "--json")
    assert (result.exit_code, json.loads(result.stdout)["kind"]) == (0, "obsidian")
    found = entries(tmp_path)
    assert set(found) == {"Luna", "Dr. Moreno", "people/Index", "projects/Index", "2026-03-14"}
    luna, vet = found["Luna"], found["Dr. Moreno"]
    assert (luna.aliases, luna.tags) == (("the dog", "Lu"), ("pets", "animals/dogs"))
    assert (vet.aliases, vet.tags) == (("vet",), ("people", "health"))
    assert "[[Dr. Moreno|her vet]]" in luna.content
    assert leads_nowhere(tmp_path) == []
    assert {path: words.partition(";")[0] for path, words in reasons(result).items()} == {
        ".obsidian": "it is Obsidian's own",
        ".trash": "it is Obsidian's trash",
        "Meta/Blueprints/note.md": "it is a template",
        "Templates/day.md": "it is a template",
        "luna.png": "it is no note",
        "board.canvas": "it is no note",
        "sketch.excalidraw.md": "it is a drawing",
    }


@pytest.mark.parametrize("place", [".serena", ".serena/memories"])
def test_serenas_memories(tmp_path: Path, imported: Import, place: str) -> None:
    laid(tmp_path / "project" / ".serena", SERENA)
    result = imported(tmp_path / "project" / place, "--json")
    assert (result.exit_code, json.loads(result.stdout)["kind"]) == (0, "serena")
    found = entries(tmp_path)
    assert {name: entry.description for name, entry in found.items()} == {
        "suggested_commands": "Run `make`.", "modules/frontend": "React.",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("place", "mark", "name"),
    [
        ("atlas.md", ".obsidian/app.json", "atlas"),
        (".serena/memories/atlas.md", "", "atlas"),
        ("memory/2026-01-16-sava.md", "SOUL.md", "2026-01-16-sava"),
    ],
)
def test_a_heading_that_says_more_than_the_name_stays_in_the_text(
    tmp_path: Path, imported: Import, place: str, mark: str, name: str
) -> None:
    heading = "# The Atlas of Dr. Sava"
    files = {place: f"{heading}\n\nBound in calf.\n", **({mark: "{}"} if mark else {})}
    folder = laid(tmp_path / "notes", files)
    assert imported(folder / ".serena" if place[0] == "." else folder).exit_code == 0
    found = entries(tmp_path)[name]
    assert (found.content, found.description) == (f"{heading}\n\nBound in calf.", "Bound in calf.")


def test_a_heading_stays_in_the_text_when_the_name_is_another_or_cut_short(tmp_path: Path, imported: Import) -> None:
    note = "---\ntitle: Coffee\nname: Brewing\npermalink: coffee\n---\n\n# Brewing\n\nPour over.\n"
    assert imported(laid(tmp_path / "basic", {"coffee.md": note})).exit_code == 0
    assert entries(tmp_path)["Coffee"].content == "# Brewing\n\nPour over."
    long = f"# {'long ' * 60}end"
    assert imported(laid(tmp_path / "long", {"long.md": f"{long}\n\nText.\n"})).exit_code == 0
    assert f"{long}\n\nText." in [entry.content for entry in entries(tmp_path).values()]


def test_openclaw_and_camelagi(tmp_path: Path, imported: Import) -> None:
    result = imported(laid(tmp_path / "notes", CLAW), "--json")
    assert (result.exit_code, json.loads(result.stdout)["kind"]) == (0, "openclaw")
    found = entries(tmp_path)
    assert set(found) == {"Deploys", "People", "About Marit", "2026-03-14", "Billing"}
    assert (found["Deploys"].description, found["2026-03-14"].tags) == ("Never on Fridays.", ("daily",))
    assert "## no heading" in found["Deploys"].content
    headings = {"MEMORY.md#Long-term memory", "MEMORY.md#Empty"}
    assert set(reasons(result)) == {"SOUL.md", "skills/x/SKILL.md", *headings}
    assert {reasons(result)[each] for each in headings} == {"there is no text right below that heading"}


def test_memory_of_an_agent_without_headings_is_one_fact(tmp_path: Path, imported: Import) -> None:
    imported(laid(tmp_path / "notes", {"SOUL.md": "x", "MEMORY.md": "- Ann likes tea.\n- So does Bo.\n"}))
    assert entries(tmp_path)["MEMORY"].content == "- Ann likes tea.\n- So does Bo."


def test_another_workspace_of_crabmem(tmp_path: Path, imported: Import) -> None:
    with Memory(tmp_path / "notes") as other:
        other.remember("Wifi", "the network", "\nPinguin.\n", aliases=["wlan"], tags=["home"])
        other.write_overview("# Overview")
    result = imported(tmp_path / "notes", "--json")
    assert json.loads(result.stdout)["kind"] == "crabmem"
    assert set(reasons(result)) == {"Crab.md", "memory/MEMORY.md", ".git"}
    with Memory(tmp_path / "notes") as other:
        assert entries(tmp_path) == {"Wifi": other.get("wifi")}


def test_the_files_of_another_workspace_are_taken_over_as_the_reasons_say(tmp_path: Path, imported: Import) -> None:
    fact = "---\nname: a\n---\n\nA.\n"
    laid(tmp_path / "my notes", {"memory/MEMORY.md": "Overview.\n", "Crab.md": "# Me\n", "memory/entries/a.md": fact})
    said = reasons(imported(tmp_path / "my notes", "--json"))
    for path, verb in {"memory/MEMORY.md": "overview", "Crab.md": "identity"}.items():
        way = shlex.split(said[path].split("`")[1])[1:]
        assert way[0] == verb, "a former name of a verb is in no help"
        assert typed("--dir", tmp_path / "memory", *way).exit_code == 0
    with Memory(tmp_path / "memory") as memory:
        assert (memory.overview().text, memory.identity().text) == ("Overview.\n", "# Me\n")


def test_a_fact_of_another_workspace_keeps_its_bytes_and_its_folder(tmp_path: Path, imported: Import) -> None:
    texts = {
        "P/m.md": "---\nname: m\nrating: 5\n# mine\n---\n\nIn a folder.\n",
        "P/deep/n.md": "---\nname: n\ndescription: ''\ndone: false\n---\n\nDeeper.\n",
        "o.md": "---\nname: o\nmetadata:\n  type: user\n  order: 1\n---\n\nIn none.\n",
    }
    laid(tmp_path / "notes", {"Crab.md": "# Me", **{f"memory/entries/{path}": text for path, text in texts.items()}})
    assert imported(tmp_path / "notes").exit_code == 0
    place = tmp_path / "memory" / "memory" / "entries"
    assert {str(file.relative_to(place)): file.read_text() for file in place.rglob("*.md")} == texts
    again = json.loads(imported(tmp_path / "notes", "--json").stdout)
    assert {item["state"] for item in again["files"]} == {"unchanged", "skipped"}


def test_a_fact_of_another_workspace_without_a_frontmatter_gets_no_empty_description(
    tmp_path: Path, imported: Import
) -> None:
    laid(tmp_path / "notes", {"Crab.md": "# Me", "memory/entries/a/plain.md": "Just text.\n"})
    imported(tmp_path / "notes")
    text = (tmp_path / "memory/memory/entries/a/plain.md").read_text()
    assert text == "---\nname: plain\n---\n\nJust text.\n\n"


@pytest.mark.parametrize("form", ["results", "list", "lines"])
def test_mem0(tmp_path: Path, imported: Import, form: str) -> None:
    rows = MEM0["results"]
    texts = {"results": json.dumps(MEM0), "list": json.dumps(rows), "lines": "\n".join(map(json.dumps, rows))}
    file = tmp_path / "export.json"
    file.write_text(texts[form])
    result = imported(file, "--json")
    assert (result.exit_code, json.loads(result.stdout)["kind"]) == (0, "mem0")
    found = entries(tmp_path)
    assert set(found) == {f"Alice prefers tea. Never coffee. ({part})" for part in ("3f2c9a8e", "9b1d7c55")}
    first = found["Alice prefers tea. Never coffee. (3f2c9a8e)"]
    assert (first.description, first.tags) == ("Alice prefers tea.", ("food", "drinks"))
    assert first.content == (
        "Alice prefers tea. Never coffee.\n\n- recorded: 2026-01-02\n- user: alice\n- type: preference\n- n: 1"
    )
    assert reasons(result) == {
        "export.json:3" if form == "lines" else "export.json[2]": "it has no text under `memory`"
    }
    assert first.keys["mem0"] == {"hash": "x", "created_at": "2026-01-02T03:04:05-08:00"}


def test_what_an_export_of_mem0_holds_beside_its_memories_is_named(tmp_path: Path, imported: Import) -> None:
    relations = [{"source": "ann", "relationship": "likes", "target": "tea"}]
    export = {"results": [{"memory": "Ann likes tea."}], "relations": relations, "next": None}
    (tmp_path / "export.json").write_text(json.dumps(export))
    result = imported(tmp_path / "export.json", "--json")
    assert (result.exit_code, list(entries(tmp_path))) == (0, ["Ann likes tea."])
    assert reasons(result) == {"export.json[relations]": "it is none of the memories; these alone are taken"}


def test_every_field_of_an_export_that_is_not_understood_stays_or_is_named(tmp_path: Path, imported: Import) -> None:
    long = "x" * 300
    memory = {
        "memory": "Tea.", "score": 0.5, "immutable": True, "expires": None, "embedding": [0.25] * 1_000,
        "metadata": {"n": 1, "deep": {"a": [1, None]}, "long": long},
    }  # fmt: skip
    graph = [{"type": "entity", "name": "Ann", "observations": ["QA"], "created": "2026-01-02"}]
    (tmp_path / "a.json").write_text(json.dumps([memory]))
    (tmp_path / "b.json").write_text(json.dumps(graph))
    result = imported(tmp_path / "a.json", "--json")
    assert reasons(result) == {"a.json[0].embedding": "it is too long for a frontmatter"}
    imported(tmp_path / "b.json")
    found = entries(tmp_path)
    assert found["Tea."].keys["mem0"] == {
        "score": "0.5", "immutable": "true", "metadata": {"deep": {"a": ["1"]}, "long": long},
    }  # fmt: skip
    assert found["Ann"].keys["mcp-memory"] == {"created": "2026-01-02"}


@pytest.mark.parametrize("form", ["lines", "whole"])
def test_graph_of_the_mcp_server(tmp_path: Path, imported: Import, form: str) -> None:
    kinds = {"entities": "entity", "relations": "relation"}
    whole = {key: [row for row in GRAPH if row["type"] == kind] for key, kind in kinds.items()}
    file = tmp_path / "memory.jsonl"
    file.write_text("\n".join(map(json.dumps, GRAPH)) if form == "lines" else json.dumps(whole))
    result = imported(file, "--json")
    assert (result.exit_code, json.loads(result.stdout)["kind"]) == (0, "mcp-memory")
    found = entries(tmp_path)
    assert (found["Ann"].description, found["Ann"].tags) == ("Leads QA", ("person",))
    assert found["Ann"].content == "- Leads QA\n- Speaks\n  German\n\n- works on [[Shop]]\n- knows C# [old]"
    assert (found["Shop"].description, found["Shop"].content) == ("project", "")
    assert [words for words in reasons(result).values()] == ["there is nothing called Nobody that it is from"]
    assert leads_nowhere(tmp_path) == []


def test_export_on_stdin(tmp_path: Path, imported: Import) -> None:
    result = imported("-", stdin=json.dumps(MEM0["results"][:1]))
    assert (result.exit_code, result.stderr.splitlines()[0]) == (0, "read as mem0: 1 made")
    assert imported("-", "-t", "inbox", stdin="# Wifi\n\nPinguin.").exit_code == 0
    assert entries(tmp_path)["Wifi"].tags == ("inbox",)


def test_a_bundle_of_the_open_knowledge_format(tmp_path: Path, imported: Import) -> None:
    result = imported(laid(tmp_path / "notes", BUNDLE), "--json")
    assert (result.exit_code, json.loads(result.stdout)["kind"]) == (0, "okf")
    found = entries(tmp_path)
    assert {name: entry.path.removeprefix("memory/entries/") for name, entry in found.items()} == {
        "Customer Orders": "tables/orders.md", "customers": "tables/customers.md", "revenue-v2": "metrics/revenue.md",
    }  # fmt: skip
    orders = found["Customer Orders"]
    assert orders.content == (
        "# Schema\n\nJoined with [[customers]], [[revenue-v2#sum|see]], [[customers|`it`]], "
        "[web](https://example.org/a.md), [none](/x.md).\n`[code](/tables/customers.md)`\n\n"
        r"| [[customers\|who]] | [[customers]] |"
    )
    assert (orders.tags, orders.kind, orders.keys["stale_after"]) == (("sales",), "BigQuery Table", "2026-12-31")
    assert orders.keys["verified"] == [{"by": "human:ann", "at": "2026-06-25"}]
    assert "stale_after: 2026-12-31   # by the policy\n" in (tmp_path / "memory" / orders.path).read_text()
    assert found["customers"].description == "One row for each customer."
    assert (found["revenue-v2"].keys["title"], found["revenue-v2"].description) == ("Revenue", "what was earned")
    assert reasons(result) == {
        "index.md": "it lists the others, each a fact itself",
        "log.md": "it says what was done when; facts alone are taken",
        "metrics/attester.py": "it is not Markdown",
    }
    assert leads_nowhere(tmp_path) == []


def test_a_text_on_stdin_that_begins_like_json_is_taken_when_it_is_named(tmp_path: Path, imported: Import) -> None:
    text = "[Luna](luna.md) is the dog."
    assert "name whose it is with --from" in imported("-", stdin=text).stderr
    assert imported("-", "--from", "folder", stdin=text).exit_code == 0
    assert [entry.content for entry in entries(tmp_path).values()] == [text]


@pytest.mark.parametrize(
    ("data", "endings", "file"),
    [
        ("# Wifi", None, "stdin.md"),
        ("\ufeff [1]", None, "stdin.json"),
        ('{"a": 1}\n{"a": 2}', (".jsonl",), "stdin.jsonl"),
        ("word,meaning", (".csv", ".tsv"), "stdin.csv"),
        ("[1],2", (".csv",), "stdin.csv"),
        ("not json", JSON, "stdin.json"),
    ],
)
def test_stdin_is_a_file_with_an_ending_that_the_source_reads(
    data: str, endings: tuple[str, ...] | None, file: str
) -> None:
    tree = tree_of(data.encode()) if endings is None else tree_of(data.encode(), endings)
    assert list(tree.files) == [file] and tree.read(file) == data.encode()


def test_who_is_surest_of_its_look_is_asked_first() -> None:
    ours = [
        "crabmem",
        "crabmem-json",
        "okf",
        "serena",
        "obsidian",
        "claude-code",
        "openclaw",
        "basic-memory",
        "mcp-memory",
        "mem0",
        "folder",
    ]
    names = [source.name for source in sources()]
    assert [name for name in names if name in ours] == ours and names[-1] == "folder"


ALL: dict[str, Mapping[str, str]] = {
    "claude": CLAUDE, "basic": BASIC, "vault": VAULT, "claw": CLAW,
    "bundle": BUNDLE, "graph": {"m.jsonl": "\n".join(map(json.dumps, GRAPH))}, "mem0": {"m.json": json.dumps(MEM0)},
}  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_twice_is_harmless_and_a_dry_run_says_the_same(tmp_path: Path, imported: Import, name: str) -> None:
    folder = laid(tmp_path / "notes", ALL[name])
    place = next(folder.iterdir()) if len(ALL[name]) == 1 else folder
    tried = json.loads(imported(place, "--dry-run", "--json").stdout)
    assert tried["commit"] is None and not (tmp_path / "memory").exists()
    done = json.loads(imported(place, "--json").stdout)
    assert [item | {"diff": ""} for item in tried["files"]] == [item | {"diff": ""} for item in done["files"]]
    head = git(tmp_path / "memory", "rev-parse", "HEAD")
    assert git(tmp_path / "memory", "log", "--format=%s", "--grep=^import").count("import: ") == 1
    again = json.loads(imported(place, "--json").stdout)
    assert {item["state"] for item in again["files"]} <= {"unchanged", "skipped", "failed"}
    assert git(tmp_path / "memory", "rev-parse", "HEAD") == head


def test_kind_is_as_it_looks_or_as_it_is_named(tmp_path: Path, imported: Import) -> None:
    folder = laid(tmp_path / "notes", CLAUDE)
    result = imported(folder, "--from", "folder", "--json")
    assert (json.loads(result.stdout)["kind"], len(entries(tmp_path))) == ("folder", 3)
    wrong = imported(folder, "--from", "evernote")
    assert (wrong.exit_code, "evernote is no kind of memory; there are: chatgpt, " in wrong.stderr) == (2, True)
    shown = imported("--help").stdout
    assert all(source.name in shown for source in sources())


@pytest.mark.parametrize(
    ("name", "text"), [("a.json", "{"), ("a.json", '{"a": 1}'), ("a.jsonl", "[" * 100_000), ("a.json", "")]
)
def test_json_of_nobody_is_an_error_of_one_line(tmp_path: Path, imported: Import, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    result = imported(tmp_path / name)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "no JSON of an export that is known" in result.stderr
    assert not (tmp_path / "memory").exists()


def test_broken_lines_are_named_and_stop_nothing_else(tmp_path: Path, imported: Import) -> None:
    lines = [json.dumps(GRAPH[0]), "{broken", "[" * 100_000, '"text"', json.dumps(GRAPH[1]), '{"type": "entity"}']
    (tmp_path / "memory.jsonl").write_text("\n\n".join(lines))
    result = imported(tmp_path / "memory.jsonl", "--json")
    assert (result.exit_code, set(entries(tmp_path))) == (0, {"Ann", "Shop"})
    assert reasons(result) == {
        "memory.jsonl:3": "line 3: it is not JSON (expecting property name enclosed in double quotes)",
        "memory.jsonl:5": "line 5: it is not JSON (it is nested too deeply)",
        "memory.jsonl:7": "it is neither an entity with a name nor a relation",
        "memory.jsonl:11": "it is neither an entity with a name nor a relation",
    }
    (tmp_path / "export.json").write_text('[\n  {"memory": "a"},\n  {"memory": }\n]')
    result = imported(tmp_path / "export.json", "--from", "mem0", "--json")
    assert reasons(result) == {"export.json": "line 3: it is not JSON (expecting value)"}


def test_what_no_file_of_memory_may_hold_is_named(tmp_path: Path, imported: Import) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
    rows = [{"memory": text} for text in (f"The token is {token}", "a\x00b", "\ud800", "x" * 300_000, "fine")]
    (tmp_path / "export.json").write_text(json.dumps(rows))
    result = imported(tmp_path / "export.json", "--json")
    assert (result.exit_code, set(entries(tmp_path))) == (0, {"fine"})
    assert len(reasons(result)) == 4 and token not in result.output


def test_large_export_is_read_whole_and_in_time(tmp_path: Path, imported: Import) -> None:
    """Thousands of facts in one file that is larger than any of memory's own."""
    rows = [{"id": f"{n:08}", "memory": f"Fact {n} is about number {n * 7}.", "user_id": "a"} for n in range(3_000)]
    (tmp_path / "export.json").write_text(json.dumps(rows, indent=400))
    assert (tmp_path / "export.json").stat().st_size > 5_000_000
    began = time.perf_counter()
    result = imported(tmp_path / "export.json", "--dry-run")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (
        0,
        "read as mem0: would make 3,000; nothing was written",
    )
    assert time.perf_counter() - began < 60


def test_reason_that_many_have_is_said_a_few_times(tmp_path: Path, imported: Import) -> None:
    files = {".obsidian/app.json": "{}", "a.md": "a", **{f"{n}.png": "" for n in range(40)}}
    result = imported(laid(tmp_path / "notes", files))
    assert result.stdout.count("attachments stay where they are") == 6
    assert "skipped    35 more: it is no note" in result.stdout


JSONS: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["memory", "id", "type", "name", "from", "to", "relationType", "observations", "entities",
                         "results", "metadata", "categories", "user_id", "created_at", "entityType"]),
        inner | st.sampled_from(["entity", "relation"]), max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(JSONS, max_size=4), st.booleans(), st.sampled_from([source.name for source in sources()]))
def test_no_json_is_more_than_facts_and_reasons(values: list[Any], as_lines: bool, kind: str) -> None:
    text = "\n".join(map(json.dumps, values)) if as_lines else json.dumps(values)
    tree = Tree(("a",), {"x.json": None}, lambda path: text.encode())
    for item in prepare(source_called(kind).facts(tree), ["t"]):
        assert isinstance(item.what, Fact) or str(getattr(item.what, "reason", item.what))
    try:
        source_of(tree)
    except CrabmemError as error:
        assert "--from" in str(error)


TEXTS = st.lists(
    st.sampled_from(["---\n", "title: a\n", "permalink: b/c\n", "name: x\n", "description: d\n", "type: user\n",
                     "# H\n", "## I\n", "[[a/b]]", "#tag ", "`", "```\n", "\r\n", "\ufeff", "\0",
                     "<<<<<<< a\n", "text. "]),
    max_size=10,
).map("".join)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["a.md", "MEMORY.md", "SOUL.md", "x/a.md", "memory/2026-01-01.md",
                                        "memory/entries/a.md", "b.txt", "c.png"]), TEXTS, min_size=1))  # fmt: skip
def test_no_text_is_more_than_a_fact_or_a_reason(files: dict[str, str]) -> None:
    for source in sources():
        tree = Tree(("a",), dict.fromkeys(sorted(files)), lambda path: files[path].encode(), frozenset([".obsidian"]))
        source.is_it(tree)
        for item in prepare(source.facts(tree), []):
            assert isinstance(item.what, Fact) or str(getattr(item.what, "reason", item.what))
