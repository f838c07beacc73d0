"""Wiki-links: which there are, where they lead, and what is written when they shall lead elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabmem.text import frontmatter as header
from crabmem.text.links import ALIAS, FILE, MOST, NAME, Link, is_linkable, link_to, links, redirect, resolve
from crabmem.text.slug import name_key
from tests.pace import costing_less_than

#: Texts from pieces in which links, code and frontmatter meet.
PIECES = st.sampled_from(
    ["[[A]]", "[[B|b]]", "![[A#h]]", "`", "``", "```\n", "~~~\n", "\n", "\n\n", "    ", "- ", "> ", "a ", "\\", "[",
     "]", "---\n", "see: '[[A]]'\n", "k: [\"[[A]]\", x]\n", "|", "\r\n"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=14).map("".join)
TARGETS = st.text(alphabet="abC #|[]'\"\\:-é,{}&*!%@", min_size=1, max_size=8).filter(is_linkable)


def targets(text: str) -> list[str]:
    return [link.target for link in links(text)]


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[Luna's vet]]", Link("Luna's vet")),
        ("see [[ vet ]].", Link("vet")),
        ("[[vet|the vet, [that] one]]", Link("vet", label="the vet, [that] one")),
        ("[[vet#Hours]]", Link("vet", "#Hours")),
        ("[[vet#^b1|hours]]", Link("vet", "#^b1", "hours")),
        ("![[vet]]", Link("vet", is_embed=True)),
        ("| [[vet\\|the vet]] |", Link("vet", label="the vet")),
        ("[[[vet]]]", Link("vet")),
        ("---\nsee: '[[Luna''s vet]]'\n---\n", Link("Luna's vet")),
        ('---\nsee: ["[[a]]"]\n---\n', Link("a")),
        ("---\nbroken: [\n---\n[[a]]", Link("a")),
        ("- a\n\n    [[nested]]", Link("nested")),
        ("a stray ` in one item\n- [[a]] and `code`", Link("a")),
        ("- ```\n  [[code]]\n  ```\n- [[a]]", Link("a")),
    ],
)
def test_links_are_read_as_obsidian_reads_them(text: str, link: Link) -> None:
    assert links(text) == (link,)


@pytest.mark.parametrize(
    "text",
    [
        "`[[a]]`",
        "``a ` [[a]]``",
        "`over\ntwo [[a]] lines`",
        "```md\n[[a]]\n```",
        "````\n```\n[[a]]\n````",
        "~~~\n[[a]]",
        "> ```\n> [[a]]\n> ```",
        "text\n\n    [[a]]\n    [[a]]",
        "\t[[a]]",
        "\\[[a]]",
        "[[a\nb]]",
        "[[]]",
        "[[#heading]]",
        "[a](b)",
        "---\nname: '[[a]]'\naliases: ['[[a]]']\n---\n",
        "---\nlist: [[a]]\n---\n",
    ],
)
def test_code_and_other_brackets_are_no_links(text: str) -> None:
    assert links(text) == ()
    assert redirect(text, lambda target: "b") == text


@given(TEXTS)
def test_text_stays_when_nothing_is_led_elsewhere(text: str) -> None:
    assert redirect(text, lambda target: None) == text


@given(TEXTS, TARGETS)
def test_only_the_links_that_are_meant_are_led_elsewhere(text: str, new: str) -> None:
    changed = redirect(text, lambda target: new if target == "A" else None)
    assert targets(changed) == [new if target == "A" else target for target in targets(text)]
    assert [(link.heading, link.label, link.is_embed) for link in links(changed)] == [
        (link.heading, link.label, link.is_embed) for link in links(text)
    ]


@given(TEXTS)
def test_what_is_led_there_and_back_is_the_same_text(text: str) -> None:
    there = redirect(text, lambda target: "C d" if target == "A" else None)
    assert redirect(there, lambda target: "A" if target == "C d" else None) == text


@given(TARGETS, st.sampled_from(["{}", "'{}'", '"{}"', "[ x, '{}' ]", "\n  - '{}' # mine", "|\n  {}", "a {} b"]))
def test_frontmatter_says_the_new_target_whatever_is_in_it(new: str, form: str) -> None:
    text = f"---\n# kept\nsee: {form.format('see [[old]]')}\nother: 1.10 # kept\n---\nbody\n"
    changed = redirect(text, lambda target: new)
    assert targets(changed) == [new]
    assert set(header.load(header.parts_of(changed).header or "")) == {"see", "other"}
    if new.replace(" ", "").isalnum():
        assert changed == text.replace("[[old]]", f"[[{new}]]")


#: Who is called what: file names, then names, then aliases.
WORLD = {
    (FILE, "luna-s-vet"): ["memory/entries/luna-s-vet.md"],
    (FILE, "wifi"): ["memory/entries/wifi.md", "memory/wifi.md"],
    (NAME, "luna's vet"): ["memory/entries/luna-s-vet.md"],
    (NAME, "modules/frontend"): ["memory/entries/modules-frontend.md"],
    (NAME, "notes.md"): ["memory/entries/notes-md.md"],
    (ALIAS, "wifi"): ["memory/entries/net.md"],
    (ALIAS, "vet"): ["memory/entries/luna-s-vet.md"],
}


def known(kind: str, key: str) -> list[str]:
    return WORLD.get((kind, key), [])


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("luna-s-vet", "memory/entries/luna-s-vet.md"),
        ("LUNA'S  VET", "memory/entries/luna-s-vet.md"),
        ("Vet", "memory/entries/luna-s-vet.md"),
        ("luna-s-vet.md", "memory/entries/luna-s-vet.md"),
        ("wifi", "memory/entries/wifi.md"),
        ("memory/wifi", "memory/wifi.md"),
        ("entries/Wifi.MD", "memory/entries/wifi.md"),
        ("../entries/wifi", "memory/entries/wifi.md"),
        ("elsewhere/wifi", None),
        ("Modules/Frontend", "memory/entries/modules-frontend.md"),
        ("notes.md", "memory/entries/notes-md.md"),
        ("nobody", None),
    ],
)
def test_link_leads_to_a_file_name_else_a_name_else_an_alias(target: str, path: str | None) -> None:
    assert resolve(target, known) == path


@given(st.dictionaries(st.sampled_from("abcd"), st.text(alphabet="aBc|#] '-", min_size=1, max_size=5), min_size=1))
def test_rendered_link_leads_where_it_should(names: dict[str, str]) -> None:
    def lookup(kind: str, key: str) -> list[str]:
        called = {stem: {FILE: stem, NAME: name_key(name)}.get(kind) for stem, name in names.items()}
        return sorted(f"memory/entries/{stem}.md" for stem, each in called.items() if each == key)

    for stem, name in names.items():
        path = f"memory/entries/{stem}.md"
        target = link_to(path, name, lookup)
        assert target is not None and resolve(target, lookup) == path
        assert targets(f"[[{target}]] [[{target}#h|{name[0]}]]"[: len(target) + 4]) == [target]


@pytest.mark.parametrize("run", ["[[", "[[a|", "[[a#", "`", "` ``", "![[a]]`", "- ", "    \n", "[[a]]" + "`x`", "\\"])
def test_long_runs_are_read_in_time(run: str) -> None:
    with costing_less_than(5):
        text = run * (260_000 // len(run))
        assert redirect(text, lambda target: None) == text


def test_of_a_text_full_of_links_the_first_ten_thousand_are_told_at_once() -> None:
    text = "".join(f"[[note {number}]] " for number in range(400_000))
    with costing_less_than(1):
        found = links(text)
    assert [found[0].target, found[-1].target, len(found)] == ["note 0", f"note {MOST - 1}", MOST]
