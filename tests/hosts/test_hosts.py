"""What an installation changes in a host's config, as text: put in, found again, taken out without a trace."""

import json
import shlex
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from crabmem.errors import BadConfig
from crabmem.hosts.desired import Desired, Switch, holds_ours, put_all, restore
from crabmem.hosts.host import Config, Host
from crabmem.hosts.installation import desired_in, everything_desired
from crabmem.hosts.options import WHOSE, InstallOptions
from crabmem.hosts.parsed_config import parse
from crabmem.hosts.surroundings import Surroundings
from crabmem.hosts.table import HOSTS, host_named
from crabmem.text import toml_edit as tables
from tests.text.test_jsonc import documents

TOOLS = ("remember", "recall")
OPTIONS = InstallOptions(
    HOSTS[0],
    ("/opt/my tools/crabmem", "--dir", "/home/a b/notes"),
    Path("/home/a b/notes/memory"),
    tools=TOOLS,
)
WHOLE = replace(OPTIONS, allow=True, memory="inside")
MOVED = replace(WHOLE, program=("/usr/bin/crabmem",), folder=Path("/home/c/.crabmem/memory"))
CHOICES = [replace(WHOLE, allow=allow, memory=memory) for allow in (True, False) for memory in WHOSE]
CONFIGS = [(host, config) for host in HOSTS for config in (*host.user, *host.project)]
JSON = [(host, config) for host, config in CONFIGS if config.format in ("json", "jsonc")]
YAML = [(host, config) for host, config in CONFIGS if config.format == "yaml"]
TOML = [(host, config) for host, config in CONFIGS if config.format == "toml"]

COMMENTED = """\
# how I work
model = "o4" # not the small one
notes = '''
[mcp_servers.crabmem]
'''

[features] # of my own
memories = true # so far

   # who may
[mcp_servers . "my.server"]
command = "npx"
args = [
  "a", # first
  [1, 2],
]

# mine
[[hooks.Stop]]
hooks = [ {type="command", command = "say done"} ]


[projects."/home/me"]
trust_level = "trusted"
# the end"""

GOOSE = """\
# how I work
GOOSE_PROVIDER: "anthropic"   # for now
GOOSE_TEMPERATURE: 0.70
extensions:   # what it may use

  # files and shell
  developer:
    enabled: true
    type: builtin
    available_tools: []

  'my search':
    type: stdio
    cmd: npx
    args:
    - -y
    - "@me/search"
    envs: {KEY: a, "B": c}
    about: |
      crabmem:
        no key

  memory: {type: builtin, enabled: true}
  # the last of them

# mine
slash_commands:
  - command: run # quickly
    recipe_path: >-
      /me/run.yaml
# the end"""
YAML_PARTS = [
    GOOSE, "", "# mine\n", "GOOSE_MODE: auto\n", "extensions: {}\n", "extensions:   {}  # none\n", "extensions:\n",
    "extensions: {developer: {enabled: true}, memory: {enabled: true, type: builtin}} # all\n",
    "{GOOSE_MODE: auto, extensions: {\n  developer: {enabled: true},\n}}\n", "{}\n", "---\n", "...\n", "  \n",
    "a: |+\n  x\n\n", "é: \U0001f980\n", "b: *x\n",
    "extensions: &x\n  developer:\n    enabled: true\n", "extensions: [a]\n", "extensions: a\n", "c: 'it''s\n  two'\n",
]  # fmt: skip


LINES = [line + "\n" for line in (*COMMENTED.split("\n"), "", "# said", "x = 1") if "crabmem" not in line]


def wanted(host: Host, config: Config, options: InstallOptions) -> list[Desired]:
    return desired_in(config, replace(options, host=host))


def fresh(host: Host, config: Config, options: InstallOptions) -> Any:
    """The files that an installation writes where nothing was."""
    return put_all(parse(config.format, ""), wanted(host, config, options)).data


def every(host: Host, config: Config, options: InstallOptions) -> list[Desired]:
    return everything_desired(config, replace(options, host=host))


def claude_settings() -> tuple[Host, Config]:
    return next((host, config) for host, config in JSON if config.names == ("settings.json",))


def ids(pairs: list[tuple[Host, Config]]) -> list[str]:
    return [f"{host.name}-{config.names[0]}" for host, config in pairs]


@pytest.mark.parametrize(("host", "config"), CONFIGS, ids=ids(CONFIGS))
def test_twice_is_once(host: Host, config: Config) -> None:
    desired = wanted(host, config, WHOLE)
    once = put_all(parse(config.format, ""), desired)
    # A permission alone may be the person's own.
    assert holds_ours(once, desired) is bool(config.content(replace(WHOLE, host=host))) and not holds_ours(
        parse(config.format, ""), desired
    )
    assert put_all(once, desired) == once


@pytest.mark.parametrize(("host", "config"), CONFIGS, ids=ids(CONFIGS))
def test_a_program_that_moved_is_followed_and_not_registered_beside_itself(host: Host, config: Config) -> None:
    old = put_all(parse(config.format, ""), wanted(host, config, WHOLE))
    moved = put_all(old, wanted(host, config, MOVED))
    assert moved.data == fresh(host, config, MOVED)
    assert "my tools" not in json.dumps(moved.data)


@pytest.mark.parametrize(("host", "config"), CONFIGS, ids=ids(CONFIGS))
def test_what_was_installed_elsewhere_is_found_and_taken_out(host: Host, config: Config) -> None:
    old = put_all(parse(config.format, ""), wanted(host, config, OPTIONS))
    assert restore(old, wanted(host, config, MOVED), None).data == {}


@pytest.mark.parametrize(("host", "config"), JSON, ids=ids(JSON))
@given(document=documents(), options=st.sampled_from(CHOICES))
def test_json_is_the_same_bytes_after_both(
    host: Host, config: Config, document: tuple[dict[str, Any], str], options: InstallOptions
) -> None:
    assert_same_after_both(host, config._replace(format="jsonc"), document[1], options)


@pytest.mark.parametrize(("host", "config"), TOML, ids=ids(TOML))
@given(lines=st.lists(st.sampled_from(LINES)), options=st.sampled_from(CHOICES))
def test_toml_is_the_same_bytes_after_both(
    host: Host, config: Config, lines: list[str], options: InstallOptions
) -> None:
    for text in (COMMENTED, COMMENTED.replace("\n", "\r\n"), "".join(lines)):
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            continue
        assert_same_after_both(host, config, text, options)


@pytest.mark.parametrize(("host", "config"), YAML, ids=ids(YAML))
@given(
    parts=st.lists(st.sampled_from(YAML_PARTS), max_size=3), options=st.sampled_from(CHOICES), is_windows=st.booleans()
)
@example(parts=["extensions: {}\n", "extensions: [a]\n"], options=CHOICES[-1], is_windows=False)
def test_yaml_is_the_same_bytes_after_both(
    host: Host, config: Config, parts: list[str], options: InstallOptions, is_windows: bool
) -> None:
    text = "".join(parts)
    text = text.replace("\n", "\r\n") if is_windows else text
    try:
        parse("yaml", text)
    except BadConfig:
        return
    assert_same_after_both(host, config, text, options)


def test_yaml_is_only_added_to_and_is_the_same_bytes_even_when_nobody_knows_what_was_there() -> None:
    [(host, config)] = YAML
    for text in (GOOSE, "GOOSE_MODE: auto\n", "{GOOSE_MODE: auto}\n", "extensions: {memory: {}}\n"):
        there = put_all(parse("yaml", text), wanted(host, config, OPTIONS))
        entry = there.data["extensions"]["crabmem"]
        assert (entry["cmd"], entry["args"][-3:]) == (OPTIONS.program[0], ["--agent", "goose", "mcp"])
        assert (entry["type"], entry["enabled"], entry["name"]) == ("stdio", True, "crabmem")
        assert restore(there, every(host, config, MOVED), None).text == text
        rest = iter(there.text)
        assert all(letter in rest for letter in text)


def test_an_extension_in_yaml_stands_below_its_heading_and_above_the_comments_of_the_next() -> None:
    [(host, config)] = YAML
    lines = put_all(parse("yaml", GOOSE), wanted(host, config, OPTIONS)).text.split("\n")
    start = lines.index("extensions:   # what it may use")
    assert lines[start + 1 : start + 3] == ["  crabmem:", "    name: crabmem"]
    assert lines[start + 9 : start + 11] == ["", "  # files and shell"]


def test_what_goose_wrote_anew_is_followed_and_taken_out() -> None:
    [(host, config)] = YAML
    old = put_all(parse("yaml", GOOSE), wanted(host, config, WHOLE))
    rewritten = parse("yaml", yaml.safe_dump(old.data, sort_keys=False, allow_unicode=True))
    assert "    args:\n    - --dir\n" in rewritten.text
    moved = put_all(rewritten, wanted(host, config, MOVED))
    assert moved.data["extensions"]["crabmem"]["args"] == ["--agent", "goose", "mcp"] and "a b" not in moved.text
    assert restore(moved, every(host, config, WHOLE), parse("yaml", GOOSE)).text == GOOSE


@pytest.mark.parametrize(
    "text",
    ["extensions:\n", "? extensions\n: a: 1\n", "GOOSE_MODE: auto\n...\n", "extensions: [a]\n"],
)
def test_yaml_that_cannot_be_changed_safely_is_refused_with_what_to_put_there_by_hand(text: str) -> None:
    [(host, config)] = YAML
    with pytest.raises(BadConfig) as refused:
        put_all(parse("yaml", text), wanted(host, config, OPTIONS))
    line = str(refused.value).partition("by hand: below extensions goes `")[2].removesuffix("`")
    entry = yaml.safe_load(f"extensions:\n  {line}")["extensions"]["crabmem"]
    assert (entry["cmd"], entry["type"]) == (OPTIONS.program[0], "stdio")


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: 1\nb: [\n", 3), ("a: 1\n\tb: 2\n", 2), ("a: 2026-13-99\n", 1), ("a: !!int ''\n", 1), ("a: !mine 1\n", 1),
     ("a: " + "[" * 5000, 1), ("a: 1\n---\nb: 2\n", 2), ("a: \x00", 1)],
)  # fmt: skip
def test_what_is_no_yaml_is_named_by_its_line(text: str, line: int) -> None:
    with pytest.raises(BadConfig, match=f"line {line}: "):
        parse("yaml", text)


def assert_same_after_both(host: Host, config: Config, text: str, options: InstallOptions) -> None:
    before = parse(config.format, text)
    try:
        there = put_all(before, wanted(host, config, options))
    except BadConfig as error:  # something else stands where the servers or hooks should
        assert "can only stand in" in str(error) or "by hand" in str(error)
        return
    assert restore(there, every(host, config, MOVED), before).text == text
    if any(isinstance(each, Switch) for each in wanted(host, config, options)):
        return
    rest = iter(there.text)
    assert all(letter in rest for letter in text), "only added to"


def test_toml_is_the_same_bytes_even_when_nobody_knows_what_was_there() -> None:
    [(host, config), *_] = TOML
    there = put_all(parse("toml", COMMENTED + "\n"), wanted(host, config, OPTIONS))
    assert there.data["mcp_servers"]["crabmem"]["args"][-3:] == ["--agent", "codex", "mcp"]
    assert len(there.data["hooks"]["Stop"]) == 2
    assert restore(there, wanted(host, config, OPTIONS), None).text == COMMENTED + "\n"


def test_what_a_person_changed_since_stays() -> None:
    host, config = claude_settings()
    before = parse("json", '{"model": "opus"}\n')
    there = put_all(before, wanted(host, config, WHOLE))
    mine = there.put(("hooks", "Stop", 0, "hooks", 1), {"type": "command", "command": "say done"})
    mine = mine.put(("theme",), "dark")
    left = restore(mine, wanted(host, config, WHOLE), before)
    assert left.data == {
        "model": "opus",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},
        "theme": "dark",
    }


def test_a_setting_that_was_there_before_comes_back() -> None:
    host, config = claude_settings()
    before = parse("json", '{"autoMemoryDirectory": "/mine"}')
    there = put_all(before, wanted(host, config, WHOLE)).put(("theme",), "dark")
    assert there.data["autoMemoryDirectory"] == str(WHOLE.folder)
    assert restore(there, wanted(host, config, WHOLE), before).data == {"autoMemoryDirectory": "/mine", "theme": "dark"}


def test_a_comment_above_the_next_table_is_not_ours() -> None:
    text = "[a]\nx = 1\n\n# of b\n[b]\ny = 2\n"
    assert tables.drop(text, ("a",)) == "\n# of b\n[b]\ny = 2\n"


def test_tables_inside_ours_go_with_it() -> None:
    text = "[mcp.crabmem]\ncommand = 1\n[mcp.crabmem.env]\nA = 'b'\n[mcp.crabmemory]\n"
    assert tables.drop(text, ("mcp", "crabmem")) == "[mcp.crabmemory]\n"


@pytest.mark.parametrize(("host", "config"), CONFIGS, ids=ids(CONFIGS))
def test_without_hooks_nothing_calls_one(host: Host, config: Config) -> None:
    assert " hook " not in json.dumps(fresh(host, config, replace(OPTIONS, with_hooks=False)))


def as_before(data: Any) -> Any:
    """A config as it was written when a hook was called by a line that did not see to its end."""
    if isinstance(data, dict):
        return {key: as_before(item) for key, item in data.items()}
    if isinstance(data, list):
        return [as_before(item) for item in data]
    if not (isinstance(data, str) and " hook " in data and "exec sh -c " in data):
        return data
    return shlex.join(shlex.split(data.partition("exec sh -c ")[2])[1:])


HOOKED = [
    (host, config)
    for host, config in CONFIGS
    if as_before(fresh(host, config, OPTIONS)) != fresh(host, config, OPTIONS)
]


@pytest.mark.parametrize(("host", "config"), HOOKED, ids=ids(HOOKED))
def test_hooks_of_an_older_form_are_renewed_and_taken_out(host: Host, config: Config) -> None:
    data = as_before(fresh(host, config, OPTIONS))
    text = tomlkit.dumps(data) if config.format == "toml" else json.dumps(data)
    for options in (OPTIONS, MOVED):
        old = parse(config.format, text)
        assert "sh -c" not in text and holds_ours(old, wanted(host, config, options))
        assert put_all(old, wanted(host, config, options)).data == fresh(host, config, options)
        assert restore(old, wanted(host, config, options), None).data == {}


#: Where hosts keep the configs that crabmem is put into, on a Mac, as their documents say.
ON_A_MAC = {
    "claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json",
    "cline": "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/"
    "cline_mcp_settings.json",
    "goose": ".config/goose/config.yaml",
    "kiro": ".kiro/settings/mcp.json",
    "opencode": ".config/opencode/opencode.json",
    "vscode": "Library/Application Support/Code/User/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "zed": ".config/zed/settings.json",
}


@pytest.mark.parametrize("host", ON_A_MAC)
def test_the_config_of_a_host_on_a_mac_is_where_its_documents_say(host: str) -> None:
    here = Surroundings(Path("/Users/anna"), Path("/Users/anna/work"), {}, "darwin")
    assert str(host_named(host).user[0].file(here)) == f"/Users/anna/{ON_A_MAC[host]}"


def test_zed_asks_for_no_other_folder_on_a_mac() -> None:
    chosen = {"XDG_CONFIG_HOME": "/elsewhere"}
    found = [
        host_named("zed").folder(Surroundings(Path("/u"), Path("/p"), chosen, name)) for name in ("darwin", "linux")
    ]
    assert list(map(str, found)) == ["/u/.config/zed", "/elsewhere/zed"]
