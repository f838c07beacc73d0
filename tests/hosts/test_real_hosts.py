"""The hosts themselves, with the permissions they come with: installed into, they know the memory and may use it;
uninstalled from, they and their configs are as before.

tests/hosts/install.sh folder           installs them there from npm
CRABMEM_HOSTS=folder pytest -m hosts    where a node_modules in one of these folders holds each host, or else PATH
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT
from tests.docs.plugin_table import lines
from tests.hosts import model as stub
from tests.hosts.rig import FACTS, Rig, make_rig, program

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(400)]

QUESTION = "where is the deploy key?"
# Only hooks and instructions know these: the first is said when a session starts, the second tells what memory is for.
OVERVIEW_SAYS, GUIDE_SAYS = "named Marabou", "outlives this conversation"
FACT = {"name": "Release day", "description": "when we release", "content": "On Fridays."}
SAVED = "remembered: Release day"
#: What stands where crabmem was; None for nothing.
BROKEN = {
    "gone": None,
    "a veto": "#!/bin/sh\necho no >&2\nexit 2\n",
    "an error": "#!/bin/sh\necho no >&2\nexit 1\n",
    "words": "#!/bin/sh\necho crabmem has moved\n",
    "20 MB": "#!/bin/sh\nhead -c 20000000 /dev/zero | tr '\\0' x\n",
    "hangs": "#!/bin/sh\nsleep 40\n",
}
#: Hosts that ask the person before a tool is called, unless that is allowed once and for all.
ASKING = ("claude-code", "gemini", "copilot")
#: How a host is asked to show the id of its session, and where it does.
IDS = {
    "claude-code": (["--output-format", "json"], r'"session_id":"([^"]+)"'),
    "codex": ([], r"session id: (\S+)"),
    "copilot": ([], r"--resume=(\S+)"),
}


@dataclass(frozen=True)
class Case:
    """A host: a config somebody had before, with the address of the `MODEL` in it, and how to put one question to it.

    `others` are configs that it writes itself while it runs.
    """

    host: str
    program: str
    config: str
    text: str
    ask: Sequence[str]
    environment: Callable[[str], dict[str, str]] = lambda url: {}
    others: dict[str, str] = field(default_factory=dict)

    def question(self, rig: Rig, url: str, question: str = QUESTION) -> str:
        """What the host says to the question."""
        words = [word.replace("QUESTION", question) for word in self.ask]
        return rig.run(program(self.program), *words, **self.environment(url))

    def servers(self, rig: Rig, url: str) -> str:
        """The servers the host knows of."""
        return rig.run(program(self.program), "mcp", "list", **self.environment(url))


def _claude(url: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "stub",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }


def _gemini(url: str) -> dict[str, str]:
    return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "stub", "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def _opencode(url: str) -> dict[str, str]:
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }


def _copilot(url: str) -> dict[str, str]:
    return {
        "COPILOT_PROVIDER_BASE_URL": url,
        "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_API_KEY": "stub",
        "COPILOT_MODEL": "claude-sonnet-4.5",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }


CASES = [
    Case(
        "claude-code",
        "claude",
        ".claude/settings.json",
        '{\n      "includeCoAuthoredBy" : false,\n   "hooks": {"Stop": [ ]},\n "env": {"A": "b"}   }',
        ["-p", "QUESTION", "--model", "claude-sonnet-4-5"],
        _claude,
        {".claude.json": '{"numStartups": 3, "mcpServers": {}}'},
    ),
    Case(
        "codex",
        "codex",
        ".codex/config.toml",
        '# how I work\nmodel = "stub"\nmodel_provider = "stub"   # on this machine\n\n\n  # my own\n'
        '[model_providers.stub]\nname = "stub"\nbase_url = "MODEL/v1"\nwire_api = "responses"\n# the end',
        ["exec", "--skip-git-repo-check", "QUESTION"],
    ),
    Case(
        "gemini",
        "gemini",
        ".gemini/settings.json",
        '{\n // how I work\n "security": {"auth": {"selectedType": "gemini-api-key"}}, /* my own */\n'
        '    "privacy": {\n\t"usageStatisticsEnabled": false } }\n',
        ["-p", "QUESTION", "-m", "gemini-2.5-flash"],
        _gemini,
    ),
    Case(
        "opencode",
        "opencode",
        ".config/opencode/opencode.jsonc",
        '{\n   "$schema": "https://opencode.ai/config.json", // how I work\n\n   "model": "stub/stub",\n'
        '   "autoupdate": false, "provider": {"stub": {\n'
        '      "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "MODEL/v1", "apiKey": "x"},\n'
        '      "models": {"stub": {}}}},\n}\n',
        ["run", "QUESTION"],
        _opencode,
    ),
    Case(
        "copilot",
        "copilot",
        ".copilot/settings.json",
        '{\n  // how I work\n    "banner" : "never", "autoUpdate": false }\n',
        ["-p", "QUESTION"],
        _copilot,
        {".copilot/mcp-config.json": '{"mcpServers": {} }'},
    ),
]
#: What a person who installs crabmem without being asked says.
INSTALL = ["--yes", "--allow", "--memory", "only"]
TRUST = ["--dangerously-bypass-hook-trust"]


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return make_rig(tmp_path)


@pytest.fixture
def model() -> Iterator[stub.Model]:
    model = stub.Model([("remember", FACT)])
    server = stub.serve(model)
    yield model
    server.shutdown()
    server.server_close()


@pytest.fixture(params=CASES, ids=[case.host for case in CASES])
def case(request: pytest.FixtureRequest, rig: Rig, model: stub.Model) -> Case:
    """A host that is installed here, with the config in the home folder that somebody had before."""
    case: Case = request.param
    program(case.program)
    for path, text in {case.config: case.text, **case.others}.items():
        rig.write(path, text.replace("MODEL", model.url))
    return case


def with_words(case: Case, *words: str) -> Case:
    """The case with more words on its command line."""
    return replace(case, ask=[case.ask[0], *words, *case.ask[1:]])


def installed(case: Case) -> Case:
    """The case as it is asked once crabmem is installed, and a person trusts its hooks."""
    return with_words(case, *TRUST) if case.host == "codex" else case


def facts_in(request: dict[str, Any]) -> list[str]:
    """The names of the facts whose contents a model reads in a request."""
    text = json.dumps(request, ensure_ascii=False)
    return [name for name, _, content in FACTS if json.dumps(content, ensure_ascii=False)[1:-1] in text]


def first(model: stub.Model) -> dict[str, Any]:
    """The first request of a conversation: hosts also ask for a title, without any tools."""
    return next(request for request in model.requests if request.get("tools"))


def test_installed_it_knows_the_memory_and_uninstalled_all_is_as_before(
    case: Case, rig: Rig, model: stub.Model
) -> None:
    before = {path: (rig.home / path).read_bytes() for path in (case.config, *case.others)}
    rig.call("install", case.host, *INSTALL)
    assert rig.call("install", case.host, *INSTALL).startswith("already installed")
    assert "crabmem" in case.servers(rig, model.url)

    said = installed(case).question(rig, model.url)

    assert stub.DONE in said
    request = first(model)
    assert facts_in(request) == ["Deploy key"], said
    text = json.dumps(request, ensure_ascii=False)
    assert [text.count(words) for words in (OVERVIEW_SAYS, GUIDE_SAYS)] == [1, 1]
    [commit] = json.loads(rig.call("log", "-n", "1", "--json"))["commits"]
    assert (commit["subject"], commit["agent"]) == ("remember: Release day", case.host)
    # Hosts put something around what a tool says; data for programs would be longer.
    [answer] = stub.results(model.requests[-1])
    assert SAVED in answer and commit["commit"][:7] not in answer and len(answer) < 150

    rig.call("uninstall", case.host, "--yes")
    assert {path: (rig.home / path).read_bytes() for path in (case.config,)} == {case.config: before[case.config]}
    model.requests.clear()
    assert "crabmem" not in case.servers(rig, model.url)
    assert stub.DONE in case.question(rig, model.url)
    assert model.requests and not stub.definitions(first(model), "crabmem")
    assert OVERVIEW_SAYS not in model.heard and facts_in(first(model)) == []


def test_what_a_model_writes_that_tidies_waits_for_the_person(case: Case, rig: Rig, model: stub.Model) -> None:
    rig.call("install", case.host, *INSTALL)  # with a server of the same name that would write at once
    before, models = (
        rig.call("log", "-n", "1"),
        {"ANTHROPIC_MODEL": "claude-sonnet-4-5", "GEMINI_MODEL": "gemini-2.5-flash"},
    )
    path = f"{Path(program(case.program)).parent}:{rig.environment()['PATH']}"

    said = rig.run(str(rig.crabmem), "tidy", "--with", case.program, **case.environment(model.url), **models, PATH=path)

    assert "1 proposal waits for you: `crabmem review --in tidy-" in said
    assert "Nobody is there to ask" in json.dumps(first(model))
    assert SAVED not in said and rig.call("log", "-n", "1") == before
    [answer] = stub.results(model.requests[-1])
    assert "Nothing is written yet: it waits for the person" in answer
    [proposal] = json.loads(rig.call("review", "list", "--json"))["proposals"]
    assert (proposal["agent"], proposal["session"][:5]) == (case.host, "tidy-")


def test_a_fact_of_one_session_comes_back_in_the_next(case: Case, rig: Rig, model: stub.Model) -> None:
    rig.call("install", case.host, *INSTALL)
    assert stub.DONE in installed(case).question(rig, model.url, "we release on Fridays, please remember that")
    model.requests.clear()
    model.calls = [("recall", {"query": "when do we release?"})]
    assert stub.DONE in installed(case).question(rig, model.url, "on which day is the release day?")
    assert FACT["content"] in json.dumps(first(model))
    [found] = stub.results(model.requests[-1])
    assert FACT["content"] in found and "memory/entries/release-day.md" in found


def test_what_is_not_allowed_is_asked_for(case: Case, rig: Rig, model: stub.Model) -> None:
    if case.host not in ASKING:
        pytest.skip(f"{case.host} lets its agent call any tool of a server that a person registered")
    rig.call("install", case.host, "--yes", "--no-allow", "--memory", "only")
    assert stub.DONE in installed(case).question(rig, model.url)
    assert facts_in(first(model)) == ["Deploy key"]
    assert "remember" not in rig.call("log", "-n", "1")


def test_a_config_that_the_host_writes_itself_is_the_same_but_for_us(case: Case, rig: Rig, model: stub.Model) -> None:
    rig.call("install", case.host, *INSTALL)
    installed(case).question(rig, model.url)
    rig.call("uninstall", case.host, "--yes")
    files = [rig.home / path for path in (case.config, *case.others)]
    after = [file.read_bytes() for file in files]
    assert not any(b"crabmem" in data.replace(str(rig.home).encode(), b"") for data in after)
    rig.call("install", case.host, *INSTALL)
    rig.call("uninstall", case.host, "--yes")
    assert [file.read_bytes() for file in files] == after


@pytest.mark.parametrize("host", IDS)
def test_a_session_has_the_id_that_the_host_shows(rig: Rig, model: stub.Model, host: str) -> None:
    [case] = [case for case in CASES if case.host == host]
    program(case.program)
    for path, text in {case.config: case.text, **case.others}.items():
        rig.write(path, text.replace("MODEL", model.url))
    rig.call("install", host, *INSTALL)
    said = replace(installed(case), ask=[*installed(case).ask, *IDS[host][0]]).question(rig, model.url)
    found = re.search(IDS[host][1], said)
    assert found, said
    [commit] = json.loads(rig.call("log", "-n", "1", "--json"))["commits"]
    assert commit["session"] == found[1]
    rig.call("undo", "--in", found[1])
    assert json.loads(rig.call("recall", "release day", "--json"))["hits"] == []


@pytest.mark.parametrize("broken", BROKEN)
def test_a_program_that_is_broken_stops_no_host(case: Case, broken: str, rig: Rig, model: stub.Model) -> None:
    rig.call("install", case.host, "--no-server", "--yes")
    rig.crabmem.unlink()
    if text := BROKEN[broken]:
        rig.crabmem.write_text(text)
        rig.crabmem.chmod(0o755)
    asked = with_words(case, *TRUST) if case.host == "codex" else case

    began = time.monotonic()
    said = asked.question(rig, model.url)

    assert stub.DONE in said and QUESTION in model.heard
    assert "has moved" not in model.heard + said and "xxxx" not in model.heard + said
    assert time.monotonic() - began < 60
    print(f"{case.host}, {broken}: {time.monotonic() - began:.1f} s")


def test_a_crabmem_that_hangs_holds_no_host_for_long(case: Case, rig: Rig, model: stub.Model) -> None:
    """Its hooks and its server. Copilot CLI waits a minute for a server, and has no setting for that."""
    rig.call("install", case.host, "--yes")
    rig.crabmem.write_text("#!/bin/sh\nexec sleep 300\n")
    asked, began = with_words(case, *TRUST) if case.host == "codex" else case, time.monotonic()
    assert stub.DONE in asked.question(rig, model.url)
    assert time.monotonic() - began < (100 if case.host == "copilot" else 60)


#: How a model sends out an agent, by host.
TASK = "look for what the dog eats"
SENDING: dict[str, tuple[str, dict[str, Any]]] = {
    "claude-code": ("Agent", {"description": "look", "prompt": TASK, "subagent_type": "general-purpose"}),
    "opencode": ("task", {"description": "look", "prompt": TASK, "subagent_type": "general"}),
    "copilot": (
        "task",
        {"description": "look", "prompt": TASK, "agent_type": "explore", "name": "look", "mode": "sync"},
    ),
}


@pytest.mark.parametrize("case", [case for case in CASES if case.host in SENDING], ids=SENDING, indirect=True)
def test_an_agent_that_is_sent_out_knows_the_overview_and_how_to_recall(
    case: Case, rig: Rig, model: stub.Model
) -> None:
    rig.call("install", case.host, "--no-server", "--yes")
    model.calls[:] = [SENDING[case.host]]

    said = case.question(rig, model.url)

    assert stub.DONE in said
    heard = [json.dumps(request, ensure_ascii=False) for request in model.requests]
    sent = [text for text in heard if "look whether memory knows" in text]
    assert sent and all(TASK in text and text.count(OVERVIEW_SAYS) == 1 for text in sent), said


def test_codex_skips_hooks_in_silence_until_they_are_trusted(rig: Rig, model: stub.Model) -> None:
    [codex] = [case for case in CASES if case.host == "codex"]
    rig.write(codex.config, codex.text.replace("MODEL", model.url))
    program("codex")
    rig.call("install", "codex", *INSTALL)
    assert stub.DONE in codex.question(rig, model.url)
    assert OVERVIEW_SAYS not in model.heard
    assert json.loads(rig.call("log", "-n", "1", "--json"))["commits"][0]["agent"] == "codex"


def test_a_project_of_claude_code_has_it_once_it_is_approved(rig: Rig, model: stub.Model) -> None:
    [claude] = [case for case in CASES if case.host == "claude-code"]
    program("claude")
    rig.call("install", "claude-code", "--here", *INSTALL)
    assert "Pending approval" in claude.servers(rig, model.url)
    rig.write(".claude/settings.json", '{"enabledMcpjsonServers": ["crabmem"]}')
    assert stub.DONE in claude.question(rig, model.url)
    assert OVERVIEW_SAYS in model.heard
    rig.call("uninstall", "claude-code", "--here", "--yes")
    assert not [path for path in rig.project.rglob("*") if path.is_file()]


def test_claude_codes_own_memory_goes_to_the_workspace(rig: Rig, model: stub.Model) -> None:
    [claude] = [case for case in CASES if case.host == "claude-code"]
    program("claude")
    rig.call("install", "claude-code", "--yes", "--allow", "--memory", "inside")
    text = "---\nname: Coffee\ndescription: how we take it\n---\n\nBlack.\n"
    model.calls = [("Write", {"file_path": str(rig.home / ".crabmem/memory/coffee.md"), "content": text})]
    eager = replace(claude, ask=[*claude.ask, "--permission-mode", "acceptEdits"])
    assert stub.DONE in eager.question(rig, model.url)
    assert str(rig.home / ".crabmem/memory") in model.heard
    [commit] = json.loads(rig.call("log", "-n", "1", "--json"))["commits"]
    assert (commit["agent"], commit["paths"]) == ("claude-code", ["memory/coffee.md"])
    assert commit["session"]


def test_the_plugin_of_claude_code_is_valid_and_works(rig: Rig, model: stub.Model) -> None:
    [claude] = [case for case in CASES if case.host == "claude-code"]
    host, folder = program("claude"), str(rig.project / "plugin")
    rig.call("bundle", "claude-plugin", folder)
    for place in (folder, f"{folder}/.claude-plugin/plugin.json"):
        assert "Validation passed" in rig.run(host, "plugin", "validate", "--strict", place)
    path = f"{rig.home}/bin:{rig.environment()['PATH']}"
    words = ["--plugin-dir", folder, "--allowedTools", "mcp__plugin_crabmem_crabmem", *claude.ask[2:4]]
    assert stub.DONE in rig.run(host, "-p", QUESTION, *words, **{**_claude(model.url), "PATH": path})
    assert OVERVIEW_SAYS in model.heard and facts_in(first(model)) == ["Deploy key"]
    assert json.loads(rig.call("log", "-n", "1", "--json"))["commits"][0]["subject"] == "remember: Release day"


def test_the_plugin_of_codex_is_taken_and_brings_the_server(rig: Rig) -> None:
    host, folder = program("codex"), str(rig.project / "plugin")
    rig.call("bundle", "codex-plugin", folder)
    rig.run(host, "plugin", "marketplace", "add", folder)
    assert "Added plugin `crabmem`" in rig.run(host, "plugin", "add", "crabmem@crabmem")
    assert "--agent codex mcp" in rig.run(host, "mcp", "list")


def test_the_plugin_of_copilot_cli_works(rig: Rig, model: stub.Model) -> None:
    host, folder = program("copilot"), str(rig.project / "plugin")
    rig.call("bundle", "copilot-plugin", folder)
    path = f"{rig.home}/bin:{rig.environment()['PATH']}"
    words = ["--plugin-dir", folder, "--allow-tool=crabmem"]
    assert stub.DONE in rig.run(host, "-p", QUESTION, *words, **{**_copilot(model.url), "PATH": path})
    assert OVERVIEW_SAYS in model.heard and facts_in(first(model)) == ["Deploy key"]
    assert json.loads(rig.call("log", "-n", "1", "--json"))["commits"][0]["subject"] == "remember: Release day"


@pytest.mark.parametrize("host", ["Claude Code", "Codex", "GitHub Copilot CLI"])
def test_this_repository_is_a_marketplace(host: str, rig: Rig) -> None:
    typed = lines(str(ROOT), "")[host]
    name, path = typed[0].split()[0], f"{rig.home}/bin:{rig.environment()['PATH']}"
    for line in typed:
        rig.run(program(name), *line.split()[1:], PATH=path)
    listing = ("plugin", "list") if name == "copilot" else ("mcp", "list")
    told = rig.run(program(name), *listing, PATH=path)
    assert re.search(r"crabmem@crabmem|crabmem +--agent", told), told


def test_the_extension_of_gemini_cli_is_valid(rig: Rig) -> None:
    host, folder = program("gemini"), str(rig.project / "extension")
    rig.call("bundle", "gemini-extension", folder)
    assert "successfully validated" in rig.run(host, "extensions", "validate", folder)


def test_the_bundle_for_claude_desktop_is_valid_and_says_what_it_needs(rig: Rig) -> None:
    packer, file, folder = program("mcpb"), rig.project / "crabmem.mcpb", rig.project / "inside"
    rig.call("bundle", "mcpb", str(file))
    rig.run(packer, "unpack", str(file), str(folder))
    assert "validation passes" in rig.run(packer, "validate", str(folder / "manifest.json"))
    again = rig.run(str(rig.crabmem), "bundle", "mcpb", str(file))
    assert "is there already" in again
