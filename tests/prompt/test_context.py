"""What goes before a conversation, from the data of a profile, and its account."""

import json
import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem import Memory
from crabmem.errors import InvalidArguments, InvalidSettings
from crabmem.prompt.context import Context, Piece, assemble, guidance
from crabmem.prompt.profile import KINDS, Generated, Kind, Profile, load_profile, parse_profile, profile_names
from crabmem.session.view import View
from crabmem.text.quoting import units
from tests.conftest import typed
from tests.text.test_quoting import HOSTILE

FAMILY = """
about = "a family of its own"
missing = "[MISSING] Expected at: {path}"
budget = { part = 200, total = 300, mark = "[…]", least = 20 }
[kinds.group]
hides = ["MEMORY.md", "memory/*.md"]

[[part]]
words = "You are an agent."

[[part]]
file = "RULES.md"
title = "## {file}"

[[part]]
file = "USER.md"
kinds = ["main", "group"]

[[part]]
file = "MEMORY.md"
tag = "memory"

[[part]]
say = "cut"
"""
SAYINGS: dict[Generated, str] = {"tools": "- `recall`: search"}


def context(files: dict[str, str], kind: Kind = "main", limit: int | None = None) -> Context:
    profile = parse_profile(FAMILY, "family.toml")
    return assemble(profile, kind, pieces(profile, kind, files), SAYINGS, ("recall",), limit)


def pieces(profile: Profile, kind: Kind, files: dict[str, str]) -> list[Piece]:
    view = View.of(profile, kind)
    return [
        Piece(part, part.file, files.get(part.file), is_hidden=not view.allows(part.file))
        if part.file
        else Piece(part, "", part.words)
        for part in profile.parts_for(kind)
    ]


def test_parts_come_in_order_each_in_its_frame() -> None:
    found = context({"RULES.md": "Be kind.", "USER.md": "Ann.", "MEMORY.md": "Likes tea. </memory>"})
    assert found.text == (
        "You are an agent.\n\n## RULES.md\n\nBe kind.\n\nAnn.\n\n<memory>\nLikes tea. &lt;/memory>\n</memory>"
    )
    assert [(told.name, told.status, told.raw, told.injected) for told in found.parts] == [
        ("RULES.md", "ok", 8, 8), ("USER.md", "ok", 4, 4), ("MEMORY.md", "ok", 20, 23),
    ]  # fmt: skip


def test_a_file_that_is_not_there_or_blank_is_told_as_missing() -> None:
    found = context({"RULES.md": " \n"})
    assert "## RULES.md\n\n[MISSING] Expected at: RULES.md" in found.text
    assert {(told.status, told.injected) for told in found.parts} == {("missing", 0)}


def test_what_is_cut_or_finds_no_room_is_in_the_account_and_in_the_text() -> None:
    found = context({"RULES.md": "r" * 500, "USER.md": "u" * 100, "MEMORY.md": "m" * 50})
    assert [(told.name, told.status) for told in found.parts] == [
        ("RULES.md", "truncated"), ("USER.md", "ok"), ("MEMORY.md", "left out"),
    ]  # fmt: skip
    assert "Shortened here, to fit: RULES.md, MEMORY.md." in found.text and "mmm" not in found.text


def test_a_group_never_sees_what_is_hidden_from_it() -> None:
    files = {"RULES.md": "Be kind.", "USER.md": "Ann.", "MEMORY.md": "Likes tea."}
    profile = parse_profile(FAMILY, "family.toml")
    assert "tea" not in context(files, "group").text and "tea" in context(files, "main").text
    group, main = View.of(profile, "group"), View.of(profile, "main")
    assert not group.allows("memory.md") and not group.allows("Memory/2026-03-14.md")
    assert not group.allows("memory/2026-03-14.md") and main.allows("memory/2026-03-14.md")
    assert [told.name for told in context(files, "subagent").parts] == ["RULES.md", "MEMORY.md"]
    assert [told.status for told in context(files, "group").parts] == ["ok", "ok", "hidden"]


PARTS = """
about = "parts of every kind"
between = "\\n---\\n"
shares = { learned = 100 }
budget = { mark = "[…]", least = 10 }
[[part]]
file = "errors.md"
lines = 3
share = "learned"
keep = "tail"
title = "# Errors"
is_titled = true
[[part]]
file = "corrections.md"
share = "learned"
keep = "tail"
title = "# Corrections"
is_titled = true
"""


def of_parts(errors: str, corrections: str) -> Context:
    profile = parse_profile(PARTS, "parts.toml")
    texts = (errors, corrections)
    return assemble(profile, "main", [*map(Piece, profile.part, ("errors.md", "corrections.md"), texts)], {}, ())


def test_only_the_last_lines_go_in_and_a_heading_where_there_is_none() -> None:
    found = of_parts("old\n1\n2\n3", "# Mine\nno")
    assert found.text == "# Errors\n\n1\n2\n3\n---\n# Mine\nno"
    assert [told.status for told in found.parts] == ["truncated", "ok"]


def test_parts_with_a_share_have_it_together_and_keep_the_newest() -> None:
    found = of_parts("e" * 60, "old " + "c" * 60 + " new")
    assert [told.injected for told in found.parts] == [60, 40]
    assert found.text.endswith("[…]" + "c" * 33 + " new") and "old" not in found.text


@given(
    st.dictionaries(st.sampled_from(["RULES.md", "USER.md", "MEMORY.md"]), st.text(max_size=600)),
    st.sampled_from(KINDS),
)
def test_files_never_have_more_than_their_budget(files: dict[str, str], kind: Kind) -> None:
    found = context(files, kind)
    assert all(told.injected <= 200 for told in found.parts)
    assert sum(told.injected for told in found.parts) <= 300


@pytest.mark.parametrize("limit", [400, 150, 120])
def test_a_host_with_less_room_gets_the_last_file_cut_first(limit: int) -> None:
    found = context({"RULES.md": "Be kind.\n" * 5, "USER.md": "Ann.", "MEMORY.md": "Likes tea.\n" * 15}, limit=limit)
    assert len(found.text) <= max(limit, 180) and "You are an agent." in found.text
    assert "cut here" in found.text or limit == 400


def test_a_file_that_the_profile_cut_at_its_end_still_fits_into_the_limit_of_a_host(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("word " * 2_600)
    with Memory(tmp_path, profile="legion") as memory:
        assert all(len(memory.prompt(limit=limit)) <= limit for limit in range(9_990, 10_010))


@pytest.mark.parametrize("limit", [0, -1, 1.5, 2e3])
def test_a_limit_that_is_no_number_of_characters_is_refused(memory: Memory, limit: int) -> None:
    with pytest.raises(InvalidArguments, match=f"limit must be a whole number of at least 1, not {limit}"):
        memory.prompt(limit=limit)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('say = "cut"', 'say = "cuts"'), "part[4].say cannot be 'cuts'; did you mean `cut`?"),
        (('kinds = ["main", "group"]', 'kinds = ["grup"]'), "part[2].kinds[0] cannot be 'grup'; did you mean `group`?"),
        (("[[part]]\nwords", "[[part]]\nword"), "unknown setting `part[0].word`; did you mean `words`?"),
        (('say = "cut"', 'title = "nothing"'), "part 5 must name one of file, notes, words, template, say"),
        (("least", "lest"), "unknown setting `budget.lest`; did you mean `least`?"),
        (("about =", "abut ="), "did you mean `about`?"),
    ],
)
def test_a_wrong_profile_is_told_where_and_what_could_be_there(change: tuple[str, str], message: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        parse_profile(FAMILY.replace(*change, 1), "family.toml")
    assert message in str(caught.value) and str(caught.value).startswith("family.toml: ")


@pytest.mark.parametrize("name", profile_names())
def test_built_in_profiles_are_as_profiles_have_to_be(name: str) -> None:
    assert load_profile(name).about and load_profile(name).part


def test_an_unknown_profile_names_those_there_are() -> None:
    with pytest.raises(InvalidArguments, match=r"no profile nope; there are .*crab.*, or give a \.toml file"):
        load_profile("nope")


@pytest.mark.parametrize("names", [["recall"], ["remember", "recall", "forget", "memory", "soul"]])
def test_the_guidance_names_exactly_the_tools_that_are_offered(names: list[str]) -> None:
    parts = load_profile("crab").parts_for("main")
    text = guidance(parts, ", ".join(f"`{name}`" for name in names))
    assert re.findall(r"`(\w+)`", text) == names
    assert "{" not in text and not guidance(parts, "")


@given(HOSTILE, HOSTILE.map(lambda text: text * 9), st.integers(3_000, 6_000))
def test_guidance_is_never_cut_and_the_limit_holds(identity: str, overview: str, limit: int) -> None:
    crab = load_profile("crab")
    texts = (identity, overview, "How to use it: {tools}" + "." * 2_000)
    found = [Piece(part, part.file, text) for part, text in zip(crab.parts_for("main"), texts, strict=True)]
    whole, said = (
        assemble(crab, "main", found, {"tools": "recall"}, (), most, Path("/n")).text for most in (None, limit)
    )
    assert said.endswith("...") and units(said) <= limit
    assert said == whole or units(whole) > limit


@pytest.mark.parametrize("sign", ["a b\n", "é\u200b", "\u200b\u200b\u200bx"])
def test_an_overview_of_megabytes_costs_a_prompt_no_more_than_there_is_room_for(tmp_path: Path, sign: str) -> None:
    text = "HEAD " + sign * (2_000_000 // len(sign.encode())) + " TAIL"
    with Memory(tmp_path, agent="me") as memory:
        memory.init()
        overview = memory.layout.overview
        memory.write_overview("x")
        memory.file(overview).write_text(text, "utf-8")
        tracemalloc.start()
        try:
            prompt = memory.prompt()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        told = next(part for part in memory.context().parts if part.name == overview)
    assert "HEAD" in prompt and "TAIL" in prompt and f" characters are here; read {tmp_path}/" in prompt
    assert (told.status, told.raw) == ("truncated", len(text)) and told.injected <= 8_000
    assert peak < 130_000_000


def test_the_account_tells_the_limits_of_each_file_and_of_all(tmp_path: Path) -> None:
    root = tmp_path / "m"
    with Memory(root, profile="legion") as memory:
        memory.init()
        found = memory.context()
    limits = {told.name: told.limit for told in found.parts}
    assert (limits["SOUL.md"], limits["AGENTS.md"], limits["learnings/wins.md"]) == (4_000, 12_000, 3_000)
    assert (found.most_of_a_file, found.most_of_all, found.shares) == (12_000, 48_000, {"learnings": 3_000})
    words = ["--dir", str(root), "--profile", "camel", "context"]
    table = typed(*words).stdout
    assert re.search(r"^SOUL.md +.*  20,000$", table, re.MULTILINE)
    assert "\nlimits: 20,000 characters a file, 150,000 of all files\n" in table
    data = json.loads(typed(*words, "--json").stdout)
    assert data["limits"] == {"file": 20_000, "total": 150_000, "shares": {}}
    assert {part["limit"] for part in data["parts"]} == {20_000}
