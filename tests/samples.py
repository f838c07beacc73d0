"""What tests try every verb and every tool with: the one table that all of them share.

A verb or a tool needs a line here only where nothing can be made up for it of what it declares (`WORDS`, `VALUES`), or
where it is unlike most: it writes, prints no data, goes on until it is stopped. What lacks one fails with a message
that says so.
"""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import click

    from crabmem import Tool

HOUSEHOLD = Path(__file__).parent.parent / "fixtures" / "household" / "memory" / "entries"
VET = {"name": "Luna's vet", "description": "who looks after the dog", "content": "Dr. Moreno."}
WIFI = {"name": "Wifi", "description": "the password for guests", "content": "On the router."}
#: The tools that a session of profile crab has, in their order, where the settings say nothing.
USUAL = ["remember", "forget", "recall", "memory"]
#: Stands in a sample for the id of a proposal that waits.
PROPOSAL = "PROPOSAL"

# Verbs


@dataclass(frozen=True)
class Verb:
    """How a verb is tried in a workspace with the facts Deploy key and Wifi (wlan), and what it does there."""

    #: What one types after it; None for what `WORDS` has for each argument it needs.
    typed: str | None = None
    stdin: str = ""
    #: It only looks, adds a commit, or does something else.
    does: Literal["looks", "writes", "else"] = "looks"
    #: With `--json` it prints JSON.
    has_data: bool = True
    is_for_people: bool = False
    #: It ends by itself and needs no server, so that all verbs may be tried in turn; else tests of its own try it.
    ends: bool = True
    #: What a session types that may not see everything, without naming what is hidden; None for the same with and
    #: without `--json`. IMPORTED and QUESTIONS are a folder and a file.
    unseen: Sequence[str] | None = None


#: A verb of `crabmem fleet`, which looks at no memory here: tests/fleet and tests/cli/test_fleet.py try it.
NEEDS_DATABASE = Verb(does="else", has_data=False, ends=False, unseen=[])
#: What is typed for arguments and options that verbs cannot do without.
WORDS = {"name": "wifi", "names": "wifi", "query": "where is the password", "old": "wifi", "new": "'Guest network'"}
VERBS: Mapping[str, Verb] = {
    "try": Verb(does="else", has_data=False, unseen=[]),
    "init": Verb(does="else", has_data=False, unseen=["", "--dry-run"]),
    "config": Verb(),
    "config allow": Verb("--yes", does="else", is_for_people=True),
    "config disallow": Verb(does="else"),
    "completion": Verb("bash", does="else", has_data=False),
    "remember": Verb(
        "Vet -d 'who looks after the dog' -c 'Dr. Moreno.'", does="writes",
        unseen=["Wifi -d d -c text", "Vet -d d -c text", "New -d d -c text --if-version 1234"],
    ),
    "recall": Verb(unseen=[
        "feeding", "feeding --json --explain", "dawn --blame", "hand --as-of HEAD", "network --since 1h",
    ]),
    "show": Verb(unseen=["Wifi", "Vet", "Wifi --as-of HEAD", "privat", "NOTES.md"]),
    "list": Verb(unseen=["", "--json", "--as-of HEAD", "--tag feeding", "--since HEAD~1 --sort changed", "--long"]),
    "edit": Verb(does="writes", has_data=False, unseen=["Vet", "Wifi"]),
    "forget": Verb(does="writes", unseen=["Vet", "privat", "Wifi"]),
    "confirm": Verb(does="writes", unseen=["Vet", "privat", "Wifi"]),
    "tidy": Verb(unseen=["", "--json", "--days 1"]),
    "rename": Verb(does="writes", unseen=["Wifi Vet", "Vet Other", "Wifi Net --dry-run", "Wifi Net"]),
    "move": Verb("wifi --to team", does="writes", unseen=["Vet --to me", "privat --to me", "Wifi --to me"]),
    "links": Verb("wifi", unseen=["", "--json", "Wifi", "Vet"]),
    "import": Verb(
        str(HOUSEHOLD), does="writes",
        unseen=["IMPORTED --dry-run", "IMPORTED", "IMPORTED --json", "IMPORTED --replace"],
    ),
    "export": Verb("-", unseen=["- --json", "OUT --dry-run", "OUT --dry-run --format okf", "- --as-of HEAD"]),
    "learn error": Verb("exec 'exit 1'", does="writes"),
    "learn correction": Verb("'No, in May.'", does="writes"),
    "learn win": Verb("'Asking first'", does="writes"),
    "overview set": Verb("-c '# Overview'", does="writes", unseen=["-"]),
    "overview edit": Verb(does="writes", has_data=False),
    "identity set": Verb("-c '# A crab'", does="writes", unseen=["-"]),
    "identity edit": Verb(does="writes", has_data=False),
    "review show": Verb(PROPOSAL, unseen=["0"]),
    "review apply": Verb(PROPOSAL, does="else", is_for_people=True, unseen=["0"]),
    "review edit": Verb(PROPOSAL, does="else", has_data=False, is_for_people=True, unseen=["0"]),
    "review restore": Verb(PROPOSAL, does="else", is_for_people=True, unseen=["0"]),
    "review": Verb("--yes", does="else", has_data=False, is_for_people=True, unseen=["--yes", "--yes --json"]),
    "review reject": Verb(f"{PROPOSAL} --yes", does="else", is_for_people=True, unseen=["0 --yes"]),
    "prompt": Verb(unseen=["", "--as-of HEAD"]),
    "note": Verb("'Asked about tea.'", does="writes"),
    "flush": Verb("--tokens 70000 --window 80000"),
    "profile show": Verb("crab"),
    "profile check": Verb("crab"),
    "log": Verb(unseen=["", "--json", "--patch", "-n 3", "Wifi", "Vet", "--since HEAD~1"]),
    "blame": Verb(unseen=["Wifi", "Vet", "NOTES.md"]),
    "when": Verb("on the router", unseen=["feeding", "dawn"]),
    "digest": Verb(unseen=["", "--json", "--since HEAD~2", "--html -"]),
    "diff": Verb("HEAD~1", unseen=["", "HEAD~3", "HEAD~1 HEAD", "--fact Wifi", "HEAD~3 --json"]),
    "undo": Verb("HEAD", does="writes", unseen=["", "HEAD --dry-run", "HEAD", "HEAD~1 --json"]),
    "bisect": Verb(
        "--bad 'password for guests must not return wifi'",
        unseen=["--bad 'feeding must not return Wifi'", "--bad 'feeding must not return Wifi' --json"],
    ),
    "purge": Verb("wifi --yes", does="else", unseen=[
        "Wifi --dry-run", "Wifi --yes", "--text hand --dry-run", "--text hand --verify", "--pattern d.wn --dry-run",
        "Vet --dry-run --json", "Wifi --verify --json",
    ]),
    "agents new": Verb("coder", does="else"),
    "agents clone": Verb(". coder", does="else"),
    "record": Verb(does="else", unseen=["", "--json", "--yes-really"]),
    "adopt": Verb(does="else", unseen=["", "--json", "--yes-really"]),
    "restore": Verb("--to HEAD~1", does="writes", unseen=[
        "", "Wifi --to HEAD~1", "--to HEAD~2 --dry-run", "--to HEAD~2", "--to HEAD~3 --yes-really",
    ]),
    "leave": Verb("--yes", does="else", is_for_people=True, unseen=[]),
    "doctor": Verb(unseen=["", "--json", "--fix"]),
    "eval": Verb(
        "-", stdin='{"text": "password for guests", "find": "wifi"}', unseen=["QUESTIONS", "QUESTIONS --json"],
    ),
    "watch": Verb(ends=False, does="else", unseen=[]),
    "ui": Verb(ends=False, does="else", has_data=False, is_for_people=True, unseen=[]),
    "pause": Verb("--for 2h", does="else", is_for_people=True, unseen=[]),
    "resume": Verb(does="else", is_for_people=True, unseen=[]),
    "sync": Verb("--status", unseen=["--status", "--status --json"]),
    "fleet init": NEEDS_DATABASE,
    "fleet add": replace(NEEDS_DATABASE, typed="team/ann team.git"),
    "fleet grant": replace(NEEDS_DATABASE, typed="ann 'team/*'"),
    "fleet revoke": replace(NEEDS_DATABASE, typed="ann"),
    "fleet follow": NEEDS_DATABASE,
    "fleet status": replace(NEEDS_DATABASE, has_data=True),
    "fleet rebuild": replace(NEEDS_DATABASE, typed="--yes"),
    "fleet pushed": NEEDS_DATABASE,
    "fleet purge": replace(NEEDS_DATABASE, typed="--bytes --yes"),
    "review resolve": Verb(has_data=False),  # two machines are needed for what waits: see `tests/sync`
    "call": Verb("recall '{\"query\": \"password\"}'", unseen=[
        "recall '{\"query\":\"feeding\"}'", "get '{\"name\":\"Vet\"}'", "list {}", "log {}",
        "memory_search '{\"query\":\"dawn\"}'",
        'remember \'{"name":"Vet","description":"d","content":"c","if_version":"0000"}\'',
    ]),
    "mcp": Verb(ends=False, does="else", has_data=False, unseen=["--tools nothing"]),
    "hook": Verb("session-start", stdin='{"session_id": "s-1"}', does="else", unseen=[
        "prompt --host claude-code", "session-start --host claude-code", "stop --host claude-code",
    ]),
    "install": Verb(does="else", unseen=[]),
    "uninstall": Verb("codex", does="else", unseen=[]),
    "bundle": Verb("claude-plugin ~/plugin", does="else", unseen=[]),
}  # fmt: skip


def verbs() -> dict[str, "click.Command"]:
    """Every verb that does something, by what one types, those of groups too."""
    import click

    from crabmem.cli.app import cli

    def below(group: click.Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
        ctx = click.Context(group)
        for name in group.list_commands(ctx):
            command = group.get_command(ctx, name)
            assert command and command.name == name
            if not isinstance(command, click.Group) or command.invoke_without_command:
                yield f"{prefix}{name}", command
            if isinstance(command, click.Group):
                yield from below(command, f"{prefix}{name} ")

    return dict(below(cli, ""))


def verb(name: str) -> Verb:
    """How the verb of that name is tried."""
    return VERBS.get(name) or Verb()


def typed(name: str) -> list[str]:
    """What one types to try a verb, with its name."""
    import click

    sample = verb(name).typed
    if sample is not None:
        return [*name.split(), *shlex.split(sample)]
    needs = [param for param in verbs()[name].params if param.required]
    lacking = [param.name for param in needs if param.name not in WORDS or isinstance(param, click.Option)]
    assert not lacking, (
        f"how is `crabmem {name}` tried? Give it a line in VERBS of tests/samples.py: it needs {lacking}"
    )
    return [*name.split(), *(word for param in needs for word in shlex.split(WORDS[str(param.name)]))]


def unseen(name: str) -> list[list[str]]:
    """What a session types that may not see everything, each with the verb's name."""
    ways = verb(name).unseen
    if ways is None:
        return [typed(name), *([[*typed(name), "--json"]] if verb(name).has_data else [])]
    return [[*name.split(), *shlex.split(way)] for way in ways]


# Tools


@dataclass(frozen=True)
class Call:
    """A call of a tool with all its arguments, in a memory with the fact Wifi and after the calls before this one."""

    #: What it cannot do without, and what it can.
    needs: Mapping[str, Any]
    may: Mapping[str, Any] = field(default_factory=dict)
    #: Words of the answer.
    says: str = ""
    #: The keys of its data, in any order; "" for those of its schema.
    data: str = ""

    @property
    def arguments(self) -> dict[str, Any]:
        return {**self.needs, **self.may}


#: Arguments by their names; those that are not here and may be left out are.
VALUES: Mapping[str, Any] = {"name": "Wifi", "query": "password", "limit": 2}
_WRITTEN = "path version commit created diff warnings"
TOOLS: Mapping[str, Call] = {
    "remember": Call(
        VET, {
            "aliases": ["the vet"], "tags": ["dog"], "stale_after": "2099-12-31", "sources": [], "if_version": None,
        },
        "remembered: Luna's vet", f"name slug {_WRITTEN} like",
    ),
    "recall": Call(
        {"query": "password"}, {"limit": 2, "tags": None, "as_of": None},
        "\nthe password for guests\n\nOn the router.", "query hits searched note left_out",
    ),
    "get": Call(
        {"name": "luna-s-vet"}, {"at": None}, "## Luna's vet\n",
        "name slug path description content aliases tags stale_after version",
    ),
    "list": Call({}, {"limit": 3, "after": None}, "- Wifi: the password for guests", "facts total next"),
    "log": Call({}, {"limit": 2, "name": "Wifi", "since": None}, "  remember: Wifi", "commits"),
    "note": Call({"text": "Asked about tea."}, {}, "noted in memory/", _WRITTEN),
    "memory": Call({}, {"content": "# Overview\n", "if_version": None}, "MEMORY.md updated", _WRITTEN),
    "soul": Call({"content": "# A crab\n"}, {"reason": "I grew."}, "Crab.md updated", _WRITTEN),
    "confirm": Call(
        {"name": "Wifi"}, {"until": "2099-12-31"}, "confirmed: Wifi, until 2", f"name slug {_WRITTEN} like",
    ),
    "forget": Call({"name": "Wifi"}, {}, "forgot: Wifi", "name path commit"),
}  # fmt: skip


def shared_tools() -> list[str]:
    """The names of the tools that every profile may have, in their order."""
    from crabmem.tools import toolsets

    return [item.name for name in toolsets.SHARED for item in toolsets.toolset(name)]


def call(tool: "Tool") -> Call:
    """How a tool is tried."""
    if tool.name in TOOLS:
        return TOOLS[tool.name]
    names, required = tool.input_schema["properties"], tool.input_schema.get("required", ())
    lacking = [name for name in required if name not in VALUES]
    assert not lacking, f"how is the tool {tool.name} tried? Give it a line in TOOLS of tests/samples.py: {lacking}"
    needs = {name: VALUES[name] for name in required}
    return Call(needs, {name: VALUES.get(name) for name in names if name not in required})


def in_turn(tools: Sequence["Tool"]) -> list["Tool"]:
    """Tools in the order in which their samples work: those that are made up before `forget`."""
    order = [*TOOLS]
    return sorted(tools, key=lambda tool: order.index(tool.name if tool.name in TOOLS else "memory"))


def see_a_team(root: Path) -> None:
    """Have the memory in `root` see one called team beside it, as a person allowed."""
    from crabmem import Memory
    from crabmem.disk.allowed import Allowed, Reach

    with Memory(root.parent / "team") as team:
        team.remember("Deploys", "who deploys", "Nobody.")
    with (root / "crabmem.toml").open("a") as settings:
        settings.write('also = ["../team"]\n')
    Allowed(os.environ).allow(root, Reach(also=(str(root.parent / "team"),)))
    with Memory(root, is_person=True) as memory:
        memory.adopt()
