"""Entries: what is written reads back exactly, what was there stays, and no file is too broken to read."""

import re
from pathlib import PurePosixPath

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crabmem.errors import InvalidArguments, Unreadable
from crabmem.text.entry import NO_HEADER, Entry, Fact, checked, parse_entry, render_entry, with_tags
from crabmem.text.frontmatter import parts_of
from crabmem.text.hashes import version_of
from crabmem.text.values import replace
from tests.conftest import FIXTURES
from tests.examples import examples

PATH = "memory/entries/luna.md"
BOM = "\ufeff"

TRICKY = [
    *(
        "no",
        "1.10",
        "2026-01-02",
        "A: B",
        "null",
        "~",
        "<<",
        "=",
        "- a",
        "a, b",
        "[x]",
        "{x}",
        "&a",
        "*a",
        "!!str x",
        "%x",
    ),
    *(
        '"quoted"',
        "it's",
        "# not a comment",
        "a #b",
        "---",
        "...",
        "|",
        ">",
        "?",
        "@x",
        "`x`",
        "🦀 é",
        "\\n",
        "0x1F",
        "1_000",
    ),
]
LINES = st.text(st.characters(exclude_categories=["C", "Z"]) | st.sampled_from(" \u200c\u200d"), max_size=12)
NAMES = st.sampled_from(TRICKY) | LINES.filter(lambda text: bool(text.strip(" \u200c\u200d")))
LABELS = st.none() | st.lists(
    st.sampled_from(TRICKY) | LINES.filter(lambda text: bool(text.strip(" #"))), max_size=3
).map(tuple)
PARTS = st.sampled_from(
    [*TRICKY, "\n", "\n---\n", "\r\n", "\r", "\x85", "\u2028", "\u2029", "\t", " ", "\u00a0", "\u3000", BOM]
)
TEXTS = st.lists(PARTS | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=6).map(
    "".join
)
FACTS = st.builds(Fact, NAMES, TEXTS, TEXTS, LABELS, LABELS).map(checked)

# Lines of a header as people write them: keys of their own, and ours with what stays behind the value.
THEIRS = st.sampled_from(
    [
        "# sorted by me, please leave it like this\n",
        "\n",
        "colour: green\n",
        'x-order : [3, "# 1", 2] # why\n',
        "reviewed: {by: aunt Tilda, times: 2}\n",
        "crab: 🦀 äöü # é\n",
        "list:\n  - house # not home\n  - garden\n",
        "block: |\n  name: not this one\n  # text\n\n",
        "empty:\n",
        "Name: not ours either\n",
        "metadata: \n  node_type: memory\n  type: feedback\n",
        "metadata:\n  aliases: [moved]\n  tags:\n    - there\n  originSessionId: 5ab3\n",
    ]
)
OURS = st.sampled_from(
    [
        (": old", " # yes, both kinds"),
        (': "old"', "  "),
        (": 'it''s # old'", " # c"),
        (": old\u00a0", ""),
        (": [old, older]", " # c"),
        (":\n  - old\n  - older", " # c"),
        (": |\n  old\n  older", "\n"),
        (": old\n  and folded", ""),
        (" : old", ""),
    ]
)


def read(text: str) -> Entry:
    return parse_entry(PATH, text.encode())


def fact_of(entry: Entry) -> Fact:
    return Fact(entry.name, entry.description, entry.content, entry.aliases, entry.tags)


@given(FACTS)
@example(checked(Fact("Luna", "ends in a no-break space\u00a0", "")))
@example(checked(Fact("Luna", "", "", tags=("##pets", "# #x"))))
@example(checked(Fact("Luna", "x\nname: Mallory\n---\n\nowned", "c")))
@settings(max_examples=examples(200))
def test_what_is_written_reads_back_exactly(fact: Fact) -> None:
    entry = read(render_entry(fact, None))

    assert fact_of(entry) == replace(fact, aliases=fact.aliases or (), tags=fact.tags or ())
    assert entry.problem is None


@given(FACTS)
@settings(max_examples=examples(100))
def test_any_yaml_reader_takes_what_is_written_for_text(fact: Fact) -> None:
    text = parts_of(render_entry(fact, None)).header

    labels = {"aliases": list(fact.aliases or ()), "tags": list(fact.tags or ())}
    assert yaml.safe_load(text or "") == {
        "name": fact.name,
        "description": fact.description,
        **{key: values for key, values in labels.items() if values},
    }


@st.composite
def headers(draw: st.DrawFn) -> tuple[str, str]:
    """A header and the pattern of what it may become when all four keys are set."""
    lines = [(line, re.escape(line)) for line in draw(st.lists(THEIRS, max_size=4))]
    for key in draw(st.lists(st.sampled_from(["name", "description", "aliases", "tags"]), unique=True)):
        value, rest = draw(OURS)
        pattern = f"(?:{re.escape(key + value)}|{key}: [^\r\n]+){re.escape(rest)}\n"
        lines.insert(draw(st.integers(0, len(lines))), (f"{key}{value}{rest}\n", pattern))
    return "".join(line for line, _ in lines), "".join(pattern for _, pattern in lines)


@given(FACTS, headers(), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", BOM]))
@settings(max_examples=examples(150))
def test_writing_over_a_file_keeps_every_byte_that_is_not_ours(
    fact: Fact, lines: tuple[str, str], newline: str, bom: str
) -> None:
    before = bom + f"--- \n{lines[0]}---\t\nold content\n".replace("\n", newline)

    after = render_entry(fact, before)

    added = "(?:(?:name|description|aliases|tags): [^\r\n]+\n)*"
    content = re.escape(fact.content).replace("\\\n", "\n")
    assert re.fullmatch(f"{bom}--- \n{lines[1]}{added}---\t\n\n{content}\n".replace("\n", newline), after)


@given(FACTS, headers(), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", BOM]))
@settings(max_examples=examples(100))
def test_what_is_written_over_a_file_reads_back_exactly(
    fact: Fact, lines: tuple[str, str], newline: str, bom: str
) -> None:
    before = bom + f"---\n{lines[0]}---\nold content".replace("\n", newline)
    old = read(before)

    after = render_entry(fact, before)

    kept = replace(
        fact,
        aliases=old.aliases if fact.aliases is None else fact.aliases,
        tags=old.tags if fact.tags is None else fact.tags,
    )
    assert fact_of(read(after)) == kept
    assert render_entry(fact, after) == after


@pytest.mark.parametrize("content", ["", "\n", "\nfoo", "foo\n", "foo\r", "a\nb"])
@pytest.mark.parametrize(
    "before",
    [
        "",
        BOM,
        "old text\r\nwithout frontmatter",
        "---\nname: never closed\n",
        "---\nname: KB: x\n---\n",
        "---\n- a list\n---\n",
        "---\r\nname: x\n---",
        "---\nname: x\n---\r\nold",
        "---\rname: x\rcolour: green\r---\rold\r",
        "---\nname: x\n---\rold\r",
        "{}",
        "---\n{name: x, colour: green}\n---\n",
        "---\nname: x\n...\n---\n",
    ],
)
def test_a_fact_survives_any_file_it_is_written_over(before: str, content: str) -> None:
    entry = read(render_entry(Fact("Luna", "the dog", content), before))

    assert (entry.name, entry.description, entry.content) == ("Luna", "the dog", content)


def test_an_old_file_with_lone_carriage_returns_keeps_its_keys() -> None:
    text = render_entry(Fact("Luna", "", "\nfoo"), "---\rname: x\rcolour: green # mine\r---\rold\r")

    assert "colour: green # mine" in text


def test_a_new_entry_is_what_a_person_would_write() -> None:
    text = render_entry(
        Fact("Luna's vet", "where Luna is treated", "Dr. Ekström.", ("the vet",), ("pets", "health")), None
    )

    assert text == (
        "---\nname: Luna's vet\ndescription: where Luna is treated\naliases: [the vet]\ntags: [pets, health]\n"
        "---\n\nDr. Ekström.\n"
    )


def test_labels_stay_unless_given_and_none_at_all_empties_them() -> None:
    before = render_entry(Fact("Luna", "", "c", aliases=("the dog",), tags=("pets",)), None)

    kept, emptied = (read(render_entry(Fact("Luna", "", "c", aliases, None), before)) for aliases in (None, ()))

    assert (kept.aliases, kept.tags) == (("the dog",), ("pets",))
    assert (emptied.aliases, emptied.tags) == ((), ("pets",))


@pytest.mark.parametrize(
    ("lines", "aliases", "labels"),
    [
        ("metadata:\n  type: user", (), ("user",)),
        ("type: user", (), ("user",)),
        ("metadata: \n  node_type: memory\n  aliases: \n    - the dog\n  tags: []", ("the dog",), ()),
        ("type: note\nmetadata:\n  type: user", (), ("user",)),
        ("metadata:\n  aliases: [the dog]\n  tags: pets, house", ("the dog",), ("pets", "house")),
        ("tags: []\nmetadata:\n  tags: pets\n  type: user", (), ("user",)),
        ("tags: [pets]\nmetadata: {type: [user], tags: house}", (), ("pets",)),
        ("metadata: user", (), ()),
    ],
)
def test_what_claude_code_keeps_under_metadata_is_read_where_the_key_itself_is_not_there(
    lines: str, aliases: tuple[str, ...], labels: tuple[str, ...]
) -> None:
    entry = read(f"---\n{lines}\n---\n")
    assert (entry.aliases, entry.labels) == (aliases, labels)


def test_labels_under_metadata_can_be_emptied() -> None:
    before = "---\nname: Luna\nmetadata:\n  aliases: [the dog]\n  type: user\n---\n"

    after = render_entry(Fact("Luna", "", "c", aliases=()), before)

    assert (read(after).aliases, read(after).kind) == ((), "user")


@pytest.mark.parametrize(
    ("line", "labels"),
    [
        ("tags: [pets, '#house']", ("pets", "house")),
        ("tags: pets, house", ("pets", "house")),
        ("tags: '#pets #house'", ("pets", "house")),
        ("tags: pets at home, house", ("pets at home", "house")),
        ("tags: [pets at home]", ("pets at home",)),
        ("tag: pets", ("pets",)),
        ("tag: pets\ntags: [house, pets]", ("house", "pets")),
        ("tags:\n  - pets\n  - [nested]\n  -", ("pets",)),
        ("tags: {pets: 1}", ()),
        ("tags:", ()),
    ],
)
def test_tags_are_read_as_people_write_them(line: str, labels: tuple[str, ...]) -> None:
    assert read(f"---\n{line}\n---\n").tags == labels


@pytest.mark.parametrize(
    ("lines", "aliases"),
    [
        ("aliases: the vet, Dr. M", ("the vet", "Dr. M")),
        ("alias: the vet", ("the vet",)),
        ("alias: [a, b]\naliases: b, c", ("b", "c", "a")),
    ],
)
def test_aliases_are_read_as_people_write_them(lines: str, aliases: tuple[str, ...]) -> None:
    assert read(f"---\n{lines}\n---\n").aliases == aliases


@pytest.mark.parametrize("null", ["null", "~", "Null", "NULL"])
def test_keys_of_a_fact_that_are_null_have_no_value(null: str) -> None:
    entry = read(f"---\nname: {null}\ndescription: {null}\naliases: {null}\ntags: [{null}, pets]\n---\n")
    assert (entry.name, entry.description, entry.aliases, entry.tags) == ("luna", "", (), ("pets",))
    assert read("---\nname: 'null'\ntags: [\"null\"]\n---\n").labels == ("null",)


def test_labels_that_stay_keep_the_form_a_person_gave_them() -> None:
    before = "---\nname: a\ndescription: d\nalias: the vet\ntags: '#pets house'\n---\n\nc\n"
    same = Fact("a", "d", "c", aliases=("the vet",), tags=("pets", "house"))
    assert render_entry(same, before) == before
    assert read(render_entry(replace(same, aliases=("doctor",)), before)).aliases == ("doctor",)
    assert read(render_entry(replace(same, aliases=()), before)).aliases == ()
    assert "\ntags: '#pets house'\n" in render_entry(replace(same, aliases=("x", "y")), before)


@pytest.mark.parametrize(
    ("stem", "name", "problem"),
    [
        ("no-frontmatter", "no-frontmatter", NO_HEADER),
        ("invalid-yaml", "KB: x", None),
        ("frontmatter-is-a-list", "frontmatter-is-a-list", "it is not a list of `key: value` lines"),
        ("deep-nesting", "deep-nesting", "it is nested too deeply"),
        ("alias-bomb", "alias-bomb", "it uses YAML anchors or aliases"),
        ("crlf", "CRLF", None),
        ("bom", "BOM", None),
        ("no-name", "no-name", None),
        ("unknown-keys", "Unknown keys", None),
        ("duplicate-key", "Duplicate key", None),
        ("name-is-no", "no", None),
        ("name-is-1-10", "1.10", None),
        ("name-is-a-date", "2026-01-02", None),
        ("same-name", "Same name", None),
        ("same-name-2", "Same name", None),
        ("luna", "Luna", None),
        ("garden-gate", "Garden gate", None),
        ("marmalade", "Marmalade", None),
    ],
)
def test_every_mangled_file_is_read_and_its_fault_named(stem: str, name: str, problem: str | None) -> None:
    data = (FIXTURES / "broken/memory/entries" / f"{stem}.md").read_bytes()

    entry = parse_entry(f"memory/entries/{stem}.md", data)

    assert (entry.name, entry.slug) == (name, stem)
    assert (problem or "") in (entry.problem or "") and (entry.problem is None) == (problem is None)
    if problem:
        assert (entry.description, entry.content, entry.tags) == ("", data.decode(), ())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("\ufeff \r\n", "is empty"),
        ("---\nname: Luna\n\0\0\0", "NUL characters"),
        ("---\nname: Luna\ndescri", "never closed"),
        ("---\r\n", "never closed"),
        ("---", "never closed"),
        ("---\nname: a\n---\n\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> b\n", "unresolved merge"),
        ("---\r\n<<<<<<< HEAD\r\nname: a\r\n=======\r\nname: b\r\n>>>>>>> b\r\n---\r\n", "unresolved merge"),
    ],
)
def test_half_a_text_is_no_entry_and_the_reason_is_said(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parse_entry(PATH, text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "---\nA rule above, and no header.\n",
        "a\n<<<<<<< only\n",
        "=======\nTitle\n=======\n",
        "    <<<<<<< a\n=======\n>>>>>>> b",
    ],
)
def test_what_only_resembles_half_a_text_is_read(text: str) -> None:
    assert parse_entry(PATH, text.encode()).content == text


def test_marks_of_a_merge_are_refused_where_they_would_make_an_entry_unreadable() -> None:
    with pytest.raises(InvalidArguments, match="unresolved merge"):
        checked(Fact("a", "", "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> laptop\n"))


@pytest.mark.parametrize(
    ("stem", "description", "content"),
    [
        ("crlf", "when the window cleaner comes", "First Tuesday of the month, before nine.\nHe takes cash"),
        ("bom", "bill of materials for the new rabbit hutch", "Six planks"),
        ("duplicate-key", "the second front door key is with the neighbour", "It hangs on a blue ribbon."),
        ("unknown-keys", "the ring of keys in the hall whose locks nobody knows", "Eleven keys."),
    ],
)
def test_a_mangled_file_shows_what_its_author_meant(stem: str, description: str, content: str) -> None:
    entry = parse_entry(PATH, (FIXTURES / "broken/memory/entries" / f"{stem}.md").read_bytes())

    assert entry.description == description
    assert entry.content.startswith(content)


def test_a_byte_order_mark_is_no_part_of_the_content() -> None:
    assert read(f"{BOM}just words\n").content == "just words\n"


def test_a_file_that_is_not_utf_8_is_unreadable_and_named() -> None:
    data = (FIXTURES / "broken/memory/entries/latin-1.md").read_bytes()

    with pytest.raises(Unreadable, match=r"luna\.md is not UTF-8 text \(byte \d+\)"):
        parse_entry(PATH, data)


@given(st.binary())
@example(b"---\n? [\n---\n")
@settings(max_examples=examples(200))
def test_any_bytes_are_an_entry_or_unreadable(data: bytes) -> None:
    try:
        entry = parse_entry(PATH, data)
    except Unreadable as error:
        if "not UTF-8" in str(error):
            with pytest.raises(UnicodeDecodeError):
                data.decode()
    else:
        assert entry.name


def test_the_version_is_the_id_git_gives_the_file() -> None:
    assert parse_entry(PATH, b"hello\n").version == "ce013625030b"


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        (Fact("", "", ""), "the name is empty"),
        (Fact(" \t\n", "", ""), "the name is empty"),
        (Fact("\u200d", "", ""), "the name is empty"),
        (Fact("two\nlines", "", ""), "the name must be one line"),
        (Fact("hid\u202eden", "", ""), "the name must be one line"),
        (Fact("a\0b", "", ""), "the name contains a NUL"),
        (Fact("a", "\0", ""), "the description contains a NUL"),
        (Fact("a", "", "\0"), "the content contains a NUL"),
        (Fact("a", "", "\ud83e"), "the content contains half of a surrogate pair"),
        (Fact("a", "", "", aliases=("\udd80",)), "the aliases contains half of a surrogate pair"),
        (Fact("a" * 501, "", ""), "the name has 501 characters; at most 500 fit"),
        (Fact("a", "b" * 4_001, ""), "the description has 4001 characters"),
        (Fact("a", "", "b" * 262_145), "the content has 262145 characters"),
        (Fact("a", "", "", tags=("b" * 501,)), "the tags has 501 characters"),
        (Fact("a", "", "", tags=("b",) * 101), "tags: at most 100, not 101"),
        (Fact("a", "", "", tags=("pets", " # ")), "tags: one of them is empty"),
        (Fact("a", "", "", aliases=("",)), "aliases: one of them is empty"),
        (Fact("a", "", "", aliases=("two\nlines",)), "the aliases must be one line"),
    ],
)
def test_what_no_file_can_hold_is_refused_by_name(fact: Fact, message: str) -> None:
    with pytest.raises(InvalidArguments, match=re.escape(message)):
        checked(fact)


@pytest.mark.parametrize(
    "fact",
    [
        Fact("a", "", "", aliases=tuple(f"{at:0500}" for at in range(100))),
        Fact("a" * 500, "\x01" * 4_000, ""),
        Fact("a", "two\nlines of " + "🦀" * 3_000, ""),
    ],
)
def test_what_is_too_long_for_a_header_is_refused_or_read_back(fact: Fact) -> None:
    try:
        text = render_entry(checked(fact), None)
    except InvalidArguments:
        return

    assert read(text).name == fact.name


def test_white_space_and_hash_signs_around_labels_are_not_part_of_them() -> None:
    fact = checked(Fact(" Luna\n", " kept ", " kept\n", aliases=(" the dog ",), tags=(" #pets ",)))

    assert fact == Fact("Luna", " kept ", " kept\n", aliases=("the dog",), tags=("pets",))


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]) | st.just("."), min_size=1))
def test_the_slug_of_an_entry_is_the_stem_of_its_path(name: str) -> None:
    for path in (f"{name}.md", f"memory/a.b/{name}.md", f"memory/{name}"):
        if not path.endswith(("/.", "/..")):
            assert parse_entry(path, b"text").slug == PurePosixPath(path).stem


def test_a_version_that_is_told_is_the_entrys() -> None:
    data = b"---\nname: Luna\n---\n\nA crab.\n"
    assert parse_entry(PATH, data, version_of(data)) == parse_entry(PATH, data)


@pytest.mark.parametrize(
    "text",
    [
        "# No header\r\n\r\nText.  \r\n",
        "---\nname: Luna\nmetadata:\n  tags: [dog]\n---\nText.",
        "\ufeff---\ntag: dog\n# why\nx: 1\n---\n\n\nText.\n\n",
    ],
)
def test_tags_are_all_that_a_change_of_tags_changes(text: str) -> None:
    before = parse_entry(PATH, text.encode())
    tags = ("vet", "a, b")
    changed = with_tags(PATH, text, tags)
    after = parse_entry(PATH, changed.encode())
    assert after.tags == tags and with_tags(PATH, changed, tags) == changed
    assert (after.name, after.description) == (before.name, before.description)
    assert changed.endswith(parts_of(text).content) and parse_entry(PATH, with_tags(PATH, text, ()).encode()).tags == ()
    with pytest.raises(InvalidArguments, match="tags: one of them is empty"):
        with_tags(PATH, text, ["#"])


def test_a_file_without_a_header_keeps_its_line_ends_when_its_content_is_written_back() -> None:
    before = "First line.\r\nSecond line.\r\n"
    entry = parse_entry("memory/entries/plain.md", before.encode())
    assert entry.content == "First line.\nSecond line.\n"
    after = render_entry(Fact("Plain", "what it is", entry.content), before)
    assert after.endswith("---\r\n\r\nFirst line.\r\nSecond line.\r\n\r\n") and "\r\r" not in after
