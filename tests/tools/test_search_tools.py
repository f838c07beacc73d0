"""The two families of tools that search and read files: exact answers, and what is refused."""

import json
from pathlib import Path

import jsonschema
import pytest

from crabmem import Memory
from crabmem.profiles.claw import tools as claw
from crabmem.tools.formats import openai_chat
from tests.conftest import typed
from tests.searched import profile, write

FILES = {
    "MEMORY.md": "# Memory\n\nLuna's vet is Dr. Moreno.\n",
    "SOUL.md": "I am nobody's memory.\n",
    "memory/2026-03-14.md": "# 2026-03-14\n\nThe boiler hums.\nIt is an E-4711.\n\nLuna slept.\n",
}
OUTSIDE = ["/etc/passwd", "../ab/MEMORY.md", "memory/../../ab/MEMORY.md", "memory/../SOUL.md", "memory\\..\\SOUL.md"]
ELSEWHERE = ["", "SOUL.md", "memory", "memory/", "notes.txt", "memory/a.txt", "agents/b/MEMORY.md", ".git/config",
             "crabmem.toml", "memory/.git/a.md"]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "ab", {"MEMORY.md": "a secret\n"})
    return write(tmp_path / "a", FILES)


def in_text(root: Path, kind: str = "main") -> Memory:
    return Memory(root, profile=profile(root.parent, "paragraph", "camel", snippet=500), kind=kind)


def in_json(root: Path, kind: str = "main") -> Memory:
    return Memory(root, profile=profile(root.parent, "chunk", "claw"), kind=kind)


def test_both_families_offer_two_tools_that_only_look(root: Path) -> None:
    for memory in (in_text(root), in_json(root)):
        with memory:
            assert [tool.name for tool in memory.tools] == ["memory_search", "memory_get"]
            assert all(tool.annotations.read_only for tool in memory.tools)
            assert "from" in memory.tools[1].input_schema["properties"]


def test_data_is_as_the_schemas_say(root: Path) -> None:
    for memory, path in ((in_text(root), "filePath"), (in_json(root), "path")):
        with memory:
            search, get = memory.tools
            for query in ("boiler luna", "zebra"):
                data = memory.call("memory_search", {"query": query}).data
                jsonschema.validate(data, search.output_schema)
            for name in FILES.keys() - {"SOUL.md"}:
                jsonschema.validate(memory.call("memory_get", {path: name}).data, get.output_schema)


def test_the_command_line_calls_them_too(root: Path) -> None:
    asked = json.dumps({"path": "MEMORY.md", "from": 3})
    options = ["--dir", str(root), "--profile", profile(root.parent), "call", "memory_get", asked, "--json"]
    done = typed(*options)
    assert done.exit_code == 0 and json.loads(done.stdout)["data"]["text"] == "Luna's vet is Dr. Moreno.\n"


def test_other_hosts_are_given_their_schemas(root: Path) -> None:
    with in_json(root) as memory:
        for strict in (False, True):
            [_, get] = openai_chat(memory.tools, strict=strict)
            assert set(get["function"]["parameters"]["properties"]) == {"path", "from", "lines"}


# In text


def test_paragraphs_are_answered_with_place_score_and_footer(root: Path) -> None:
    with in_text(root) as memory:
        result = memory.call("memory_search", {"query": "Luna E-4711"})
    scores = [f"{hit['score']:.1f}".removesuffix(".0") for hit in result.data["hits"]]
    assert result.text == (
        f"[1] memory/2026-03-14.md (score: {scores[0]})\nThe boiler hums.\nIt is an E-4711.\n\n---\n\n"
        f"[2] memory/2026-03-14.md (score: {scores[1]})\nLuna slept.\n\n---\n\n"
        f"[3] MEMORY.md (score: {scores[2]})\nLuna's vet is Dr. Moreno.\n\n"
        "Searched 2 file(s)."
    )
    assert [(hit["start"], hit["end"]) for hit in result.data["hits"]] == [(3, 4), (6, 6), (3, 3)]


def test_scores_of_a_small_memory_tell_hits_apart_in_the_profile_for_paragraphs(tmp_path: Path) -> None:
    write(tmp_path, {"MEMORY.md": "# Memory\n\nLuna's vet is Dr. Moreno.\n"})
    with Memory(tmp_path, profile="camel") as memory:
        memory.write_note("The boiler hums.")
        texts = [memory.call("memory_search", {"query": query}).text for query in ("vet", "boiler", "the vet of Luna")]
    vet, boiler, both = (float(text.partition("(score: ")[2].partition(")")[0]) for text in texts)
    assert 1 <= vet < boiler <= 4.5 and both > vet  # a note of today counts half as much more


def test_a_score_is_never_told_as_none(root: Path) -> None:
    write(root, {f"memory/n{at}.md": "The boiler hums.\n" for at in range(40)})
    with in_text(root) as memory:
        result = memory.call("memory_search", {"query": "boiler"})
    assert "(score: 0)" not in result.text and 0 < result.data["hits"][0]["score"] < 0.05


def test_a_long_paragraph_is_cut_to_500_characters_around_what_matched(root: Path) -> None:
    write(root, {"memory/long.md": "filler words here. " * 100 + "The pump is blue."})
    with in_text(root) as memory:
        [hit] = memory.call("memory_search", {"query": "pump"}).data["hits"]
    assert "The pump is blue." in hit["snippet"] and len(hit["snippet"]) <= 500


def test_it_is_said_in_text_why_nothing_was_found(root: Path, tmp_path: Path) -> None:
    size = sum(len(text) for path, text in FILES.items() if path != "SOUL.md") / 1024
    with in_text(tmp_path / "empty") as memory:
        told = memory.call("memory_search", {"query": "vet"})
        assert told.text == "No memory files found. The memory directory is empty." and not told.is_error
    with in_text(root) as memory:
        assert memory.call("memory_search", {"query": "zebra"}).text == (
            f"No memory matches found. Searched 2 file(s) ({size:.1f} KB total). Try different keywords."
        )
        assert "nothing to search for" in memory.call("memory_search", {"query": "the of"}).text


def test_as_many_paragraphs_are_answered_as_are_asked_for(root: Path) -> None:
    write(root, {f"memory/{number}.md": "Luna.\n" for number in range(20)})
    with in_text(root) as memory:
        assert len(memory.call("memory_search", {"query": "luna"}).data["hits"]) == 6
        assert len(memory.call("memory_search", {"query": "luna", "maxResults": 9}).data["hits"]) == 9
        assert memory.call("memory_search", {"query": "luna", "maxResults": 0}).is_error
        assert memory.call("memory_search", {"query": "  "}).is_error


def test_lines_are_answered_with_their_numbers(root: Path) -> None:
    with in_text(root) as memory:
        assert memory.call("memory_get", {"filePath": "MEMORY.md"}).text == (
            "1: # Memory\n2: \n3: Luna's vet is Dr. Moreno."
        )
        part = memory.call("memory_get", {"filePath": "memory/2026-03-14.md", "from": 3, "lines": 2})
        assert part.text == "3: The boiler hums.\n4: It is an E-4711."
        assert part.data["lines"] == ["The boiler hums.", "It is an E-4711."] and part.data["total"] == 6
        late = memory.call("memory_get", {"filePath": "MEMORY.md", "from": 4})
        assert late.text == "MEMORY.md has 3 line(s); there is none from 4 on." and not late.is_error


def test_what_is_not_memory_is_refused_in_text(root: Path) -> None:
    with in_text(root) as memory:
        for path in OUTSIDE:
            told = memory.call("memory_get", {"filePath": path})
            assert told.is_error and told.text == "Error: Path traversal detected.", path
        for path in ELSEWHERE:
            told = memory.call("memory_get", {"filePath": path})
            assert told.is_error and told.text == (
                "Error: Can only read MEMORY.md or files under memory/. Use the read tool for other files."
            ), path
        told = memory.call("memory_get", {"filePath": "memory/2026-03-15.md"})
        assert told.is_error and told.text == "File not found: memory/2026-03-15.md. It may not exist yet."


# In JSON


def test_chunks_are_answered_with_path_lines_score_and_snippet(root: Path) -> None:
    write(root, {"memory/long.md": "".join(f"Line {number} of many words.\n" for number in range(200)) + "A zebra.\n"})
    with in_json(root) as memory:
        result = memory.call("memory_search", {"query": "zebra"})
    assert json.loads(result.text) == result.data
    [hit] = result.data["results"]
    assert set(hit) == {"path", "startLine", "endLine", "score", "snippet"}
    assert hit["path"] == "memory/long.md" and 100 < hit["startLine"] < hit["endLine"] == 201
    assert "A zebra." in hit["snippet"] and len(hit["snippet"]) <= 700


def test_search_is_described_as_what_comes_before_an_answer(root: Path) -> None:
    with in_json(root) as memory:
        about = memory.tools[0].description
    assert all(word in about for word in ("Mandatory", "prior work", "dates", "people", "preferences", "todos"))


def test_it_is_said_in_json_why_nothing_was_found(root: Path, tmp_path: Path) -> None:
    with in_json(tmp_path / "empty") as memory:
        assert memory.call("memory_search", {"query": "vet"}).data["note"] == "there are no memory files yet"
    with in_json(root) as memory:
        data = memory.call("memory_search", {"query": "zebra"}).data
        assert data == {"results": [], "searched": 2, "note": "no match in 2 files"}


def test_a_search_that_fails_says_so(root: Path) -> None:
    with in_json(root) as memory:
        (root / "crabmem.toml").write_text("language = 7\n")
        told = claw.memory_search(memory, "luna")
    assert told.is_error and told.data["results"] == [] and told.data["disabled"] is True
    assert "language" in told.data["error"]


def test_a_slice_is_answered_as_it_is(root: Path) -> None:
    write(root, {"memory/crlf.md": "one\r\n two\n\nfour"})
    with in_json(root) as memory:
        assert memory.call("memory_get", {"path": "memory/crlf.md"}).data["text"] == "one\r\n two\n\nfour"
        assert memory.call("memory_get", {"path": "memory/crlf.md", "from": 2, "lines": 1}).data == {
            "path": "memory/crlf.md", "text": " two\n", "status": "ok",
        }  # fmt: skip


def test_what_is_not_there_yet_is_no_error(root: Path) -> None:
    with in_json(root) as memory:
        for asked in ({"path": "memory/2026-03-15.md"}, {"path": "MEMORY.md", "from": 4}):
            told = memory.call("memory_get", asked)
            assert not told.is_error and told.data["text"] == "" and told.data["status"] == "not_found"


@pytest.mark.parametrize("path", [*OUTSIDE, *ELSEWHERE])
def test_what_is_not_memory_is_refused_in_json(root: Path, path: str) -> None:
    with in_json(root) as memory:
        told = memory.call("memory_get", {"path": path})
        assert told.is_error and told.text.startswith("path required")


@pytest.mark.parametrize("wrong", [{"from": 0}, {"from": -1}, {"lines": 0}, {"from": "two"}, {"from_": 1}])
def test_lines_that_cannot_be_are_errors(root: Path, wrong: dict[str, object]) -> None:
    for memory, name in ((in_text(root), "filePath"), (in_json(root), "path")):
        with memory:
            told = memory.call("memory_get", {name: "MEMORY.md", **wrong})
            assert told.is_error and told.text.startswith("invalid arguments")


def test_a_group_session_gets_nothing_of_what_is_hidden_from_it(root: Path) -> None:
    write(root, {"memory/public.md": "Luna is a dog.\n"})
    for open_, name in ((in_text, "filePath"), (in_json, "path")):
        with open_(root, "group") as memory:
            told = memory.call("memory_search", {"query": "luna vet moreno boiler"})
            assert "memory/public.md" in told.text
            assert not any(hidden in told.text for hidden in ("Moreno", "MEMORY.md", "boiler", "2026-03-14"))
            for path in ("MEMORY.md", "memory/2026-03-14.md"):
                got = memory.call("memory_get", {name: path})
                assert "File not found" in got.text or got.data["status"] == "not_found"
                assert not any(hidden in got.text for hidden in ("Moreno", "boiler"))
