"""The tools as definitions for function calling: what is in them, and the command line that prints and calls them."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from crabmem import Memory
from crabmem.tools import formats as functions
from tests import samples
from tests.cli.test_cli import process

VET = {"name": "Luna's vet", "description": "who looks after the dog", "content": "Dr. Moreno."}


@pytest.fixture
def free(tmp_path: Path) -> Memory:
    """A memory that offers every tool."""
    return Memory(tmp_path / "free", agent="coder", session="s-1", soul_editable=True)


def test_null_for_all_that_is_optional_does_what_leaving_it_out_does(free: Memory) -> None:
    [strict] = [item for item in functions.openai_chat(free.tools, strict=True) if item["function"]["name"] == "recall"]
    free.call("remember", VET)
    nulls = dict.fromkeys(strict["function"]["parameters"]["properties"])
    assert free.call("recall", {**nulls, "query": "dog"}) == free.call("recall", {"query": "dog"})


def test_json_schemas_are_valid_and_say_what_the_tool_is_called(free: Memory) -> None:
    schemas = functions.json_schema(free.tools)
    assert [schema["title"] for schema in schemas] == [*samples.USUAL, "soul"]
    for schema in schemas:
        Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schemas[0]).is_valid(VET)
    assert not Draft202012Validator(schemas[0]).is_valid({**VET, "colour": "red"})


@pytest.mark.parametrize("name", functions.FORMATS)
def test_who_changes_a_definition_changes_nobody_elses(free: Memory, name: str) -> None:
    definitions = functions.FORMATS[name]
    before = json.dumps(definitions(free.tools))
    for item in definitions(free.tools):
        function = item.get("function", item)
        (function.get("parameters") or function.get("input_schema") or function)["properties"].clear()
    assert json.dumps(definitions(free.tools)) == before


def test_only_offered_tools_are_defined(tmp_path: Path) -> None:
    with Memory(tmp_path / "m") as memory:
        names = [item["name"] for item in functions.anthropic(memory.tools)]
    assert names == samples.USUAL


@pytest.mark.parametrize("name", functions.FORMATS)
def test_the_command_line_prints_the_same(tmp_path: Path, name: str) -> None:
    with Memory(tmp_path / "m") as memory:
        expected = functions.FORMATS[name](memory.tools)
    done = process("--dir", str(tmp_path / "m"), "tools", "--format", name)
    assert json.loads(done.stdout) == expected and done.returncode == 0


def test_another_format_is_wrong_usage_and_names_those_there_are(tmp_path: Path) -> None:
    done = process("--dir", str(tmp_path / "m"), "tools", "--format", "gemini")
    assert done.returncode == 2 and b"'openai', 'openai-responses', 'anthropic', 'json-schema'" in done.stderr


def test_the_command_line_runs_what_is_offered_and_names_the_way_to_the_rest(tmp_path: Path) -> None:
    home = ("--dir", str(tmp_path / "m"))
    process(*home, "call", "remember", json.dumps(VET))
    refused = process(*home, "call", "log")
    assert (refused.returncode, refused.stdout) == (1, b"") and refused.stderr == (
        b"crabmem: log is not among the tools offered; ask for it by name: crabmem call --tools log log \xe2\x80\xa6\n"
    )
    asked = process(*home, "call", "--tools", "get, log", "log", '{"limit": "1"}')
    assert (asked.returncode, asked.stderr) == (0, b"") and b"remember: Luna's vet" in asked.stdout
    other = process(*home, "call", "--tools", "get", "recall", '{"query": "dog"}')
    assert other.stderr == b"crabmem: no tool named: recall (there are: get)\n" and other.returncode == 1
    assert json.loads(process(*home, "call", "log", "--json").stdout)["is_error"]
    assert process(*home, "call", "--tools", ",", "log").returncode == 2
    assert b"no tool named: nonsense (there are: remember, " in process(*home, "call", "nonsense").stderr


def test_ten_megabytes_of_arguments_are_refused_on_the_command_line_and_nothing_is_written(tmp_path: Path) -> None:
    given = json.dumps({**VET, "content": "x" * 10_000_000}).encode()
    done = process("--dir", str(tmp_path / "m"), "call", "remember", "-", stdin=given)
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "crabmem: invalid arguments: the content has 10000000 characters; at most 262144 fit\n"
    )
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("given", [b'{"query": "x"', b"[]", b"7", b"", b'{"query": "x", "limit": 1e999}'])
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_what_is_no_object_of_arguments_is_one_line_or_data_and_status_1(
    tmp_path: Path, given: bytes, words: list[str]
) -> None:
    done = process("--dir", str(tmp_path / "m"), "call", "recall", "-", *words, stdin=given)
    said = json.loads(done.stdout)["text"] if words else done.stderr.decode().removeprefix("crabmem: ")
    assert said.startswith("invalid arguments: ") and done.returncode == 1
    assert said.count("\n") == (0 if words else 1) and bool(done.stderr) != bool(words)


def test_arguments_may_be_the_json_that_a_model_wrote(free: Memory) -> None:
    assert free.call("remember", json.dumps(VET)).text == "remembered: Luna's vet"
    assert free.call("recall", "").text == "invalid arguments: `query` is missing"
