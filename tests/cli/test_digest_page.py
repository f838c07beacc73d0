"""`crabmem digest --html`: a page that loads nothing, of texts that may say anything."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from crabmem import Memory
from tests.conftest import assert_clean, typed
from tests.text.test_html import Reader

EVIL = "</div><script>alert(1)</script><img src=//evil.test onerror=x>\u202e\u200b"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A memory in which two agents wrote, and something waits."""
    root = tmp_path / "memory"
    with Memory(root, agent="coder", session="s-1") as memory:
        memory.remember("Luna's vet", "who", "Dr. Moreno, by the park.")
        memory.remember("Park", "where", "See [[Luna's vet]] and [[Nowhere]].")
    with Memory(root, agent="painter", session="s-2") as memory:
        memory.remember("Luna's vet", "who", "Dr. Ortega, by the park.")
        memory.remember("Evil", EVIL.replace("\n", " "), EVIL, tags=["evil"])
    (root / "crabmem.toml").write_text('[review]\nwait = ["entries"]\n')
    with Memory(root, agent="coder", session="s-1") as memory:
        memory.remember("Luna's vet", "who", f"Dr. Ortega, by the lake. {EVIL}")
    yield root
    with Memory(root, is_person=True) as person:
        person.adopt()
    assert_clean(root)


def page(root: Path, *words: str) -> str:
    done = typed("--dir", root, "digest", "--html", "-", *words)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_page_runs_nothing_and_loads_nothing_whatever_the_texts_say(root: Path) -> None:
    read = Reader(page(root))
    assert {tag for tag, _ in read.tags} <= {
        "html", "head", "meta", "title", "style", "body", "main", "section", "article", "h1", "h2", "h3", "p", "ul",
        "li", "div", "span", "ins", "del", "a", "code",
    }  # fmt: skip
    names = {name for _, attributes in read.tags for name in attributes}
    assert names <= {"lang", "charset", "http-equiv", "content", "name", "class", "dir", "id", "href"}
    links = [attributes["href"] or "" for tag, attributes in read.tags if tag == "a"]
    assert links and all(link.startswith("#f-") for link in links)
    assert links[0][1:] in [attributes.get("id") for _, attributes in read.tags]
    assert "url(" not in page(root) and "@import" not in page(root)
    policy = next(attributes["content"] for _, attributes in read.tags if "http-equiv" in attributes)
    assert policy and policy.startswith("default-src 'none'") and "script" not in policy


def test_it_says_what_was_written_word_by_word_by_whom_and_what_waits(root: Path) -> None:
    text = page(root)
    assert "<del>park</del>" in text and "<ins>lake</ins>" in text
    read = Reader(text).text
    for words in ("Waits for you (1)", "waits: entries", "Learned (", "painter [s-2]", "U+202E", "U+200B", "Nowhere"):
        assert words in read
    assert "\u202e" not in text and "\u200b" not in text


def test_of_a_session_only_what_it_did(root: Path) -> None:
    read = Reader(page(root, "--session", "s-2")).text
    assert "Evil" in read and "Park" not in read and "Waits for you" not in read
    assert "− Dr. Moreno, by the park.+ Dr. Ortega, by the park." in read
    assert "by coder" not in read
    read = Reader(page(root, "--agent", "coder")).text
    assert "Park" in read and "Evil" not in read and "Waits for you" in read


def test_a_page_that_is_there_is_replaced_and_one_that_cannot_be_written_is_an_error(
    root: Path, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    file.write_text("old")
    done = typed("--dir", root, "digest", "--html", str(file))
    assert (done.exit_code, done.stderr) == (0, f"wrote {file}\n")
    assert file.read_text().startswith("<!doctype html>")
    done = typed("--dir", root, "digest", "--html", str(tmp_path / "no" / "page.html"))
    assert done.exit_code == 1 and "page.html cannot be written: no such file or directory" in done.stderr
    assert list(tmp_path.glob("page*")) == [file]


def test_an_empty_time_is_a_page_too(tmp_path: Path) -> None:
    with Memory(tmp_path / "new", is_person=True) as memory:
        memory.init()
    assert re.search("Nothing was recorded", page(tmp_path / "new"))
