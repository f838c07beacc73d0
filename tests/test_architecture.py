"""ARCHITECTURE.md tells the truth: its table is printed by a script, and what it names is there."""

import re
from pathlib import Path

from crabmem.disk import state
from tests.rooms import PACKAGE, ROW_OF, table

ROOT = PACKAGE.parent
PAGE = (PACKAGE / "ARCHITECTURE.md").read_text("utf-8")
#: The page without its blocks, which draw what is in no folder of ours.
PROSE = re.sub(r"^```\n.*?^```\n", "", PAGE, flags=re.DOTALL | re.MULTILINE)
NAMED = sorted(set(re.findall(r"`([^`\n]+)`", PROSE)))
FILES = [name for name in NAMED if re.fullmatch(r"[\w./-]+(/|\.(py|md|toml))", name)]
#: Functions, as `name()`, and classes with what they have, as `Name.method`.
CODE = [name for name in NAMED if re.fullmatch(r"_?[a-z]\w*\(\)|[A-Z]\w*[a-z]\w*(\.\w+)?", name)]


def test_the_table_names_each_room_with_what_it_imports_and_about_how_much_is_in_it() -> None:
    """A module more is no reason to write the page anew."""
    [written], now = re.findall(r"<!-- rooms -->\n(.*?)\n<!-- /rooms -->", PAGE, re.DOTALL), table()
    figures = re.compile(r"(?<=\| )[\d,]+(?= \|)")
    assert figures.sub("", written) == figures.sub("", now), "python -m tests.rooms --write"
    for told, row in zip(written.splitlines(), now.splitlines(), strict=True):
        numbers = zip(figures.findall(told), figures.findall(row), ("modules", "lines"), strict=False)
        for one, other, what in numbers:
            behind = abs(int(one.replace(",", "")) - int(other.replace(",", "")))
            most = max(2 if what == "modules" else 100, int(other.replace(",", "")) / 10)
            assert behind <= most, f"python -m tests.rooms --write: {what} of {row}"


def test_every_room_is_in_the_picture() -> None:
    picture = re.findall(r"^```\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[0]
    assert set(re.findall(r"^  ([a-z]+)  ", picture, re.MULTILINE)) == ROW_OF.keys()


def test_every_file_that_it_names_is_there() -> None:
    assert [name for name in FILES if not any((folder / name).exists() for folder in (PACKAGE, ROOT))] == []


def test_all_code_that_it_names_is_there() -> None:
    source = "\n".join(file.read_text("utf-8") for file in PACKAGE.rglob("*.py"))
    for name in CODE:
        owner, _, member = name.removesuffix("()").partition(".")
        found = re.search(rf"^(?:class|def) {owner}\b|^{owner} = ", source, re.MULTILINE)
        assert found, name
        own = re.split(r"\n(?=\S)", source[found.end() :], maxsplit=1)[0]
        assert not member or re.search(rf"^    def {member}\b|^    .*\b{member}\b.*[:=] ", own, re.MULTILINE), name


def test_every_link_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)]+)\)", PROSE)
    assert links and all((PACKAGE / link).exists() for link in links)


def test_every_private_file_is_drawn() -> None:
    drawing = re.findall(r"^```\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)[1]
    names = {value for name, value in vars(state).items() if name.isupper() and isinstance(value, str)}
    drawn = set(re.findall(r"[\w.-]+(?:/[\w.-]+)*", drawing))
    assert names - {state.FOLDER} <= drawn


def test_other_pages_name_files_that_are_there() -> None:
    for page in (*sorted((ROOT / "docs" / "extending").glob("*.md")), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"):
        prose = re.sub(r"^```.*?^```\n", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        named = re.findall(r"`((?:crabmem|tests|docs|prompts|fixtures)/[\w./-]*)`", prose)
        assert [name for name in named if not Path(ROOT / name).exists()] == [], page.name
