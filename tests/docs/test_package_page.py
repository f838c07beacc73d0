"""The page that a package index shows: README as the metadata of a release has it, rendered."""

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser

import pytest

from .pages import ROOT, anchors, links

pytest.importorskip("hatchling")
markdown_it = pytest.importorskip("markdown_it")


@cache
def made() -> tuple[str, dict[str, str]]:
    """The description and the URLs as a build writes them into the metadata."""
    from hatchling.metadata.core import ProjectMetadata
    from hatchling.plugin.manager import PluginManager

    core = ProjectMetadata(str(ROOT), PluginManager()).core
    return core.readme, core.urls


class _Targets(HTMLParser):
    """Collects what a page links to, and what it shows: `(tag, address)`."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(tag, value or "") for name, value in attrs if name in ("href", "src")]


def targets() -> Iterator[tuple[str, str]]:
    """`a` or `img` with its address, of the rendered page."""
    page = _Targets()
    page.feed(markdown_it.MarkdownIt().enable("table").render(made()[0]))
    yield from page.found


def test_no_link_and_no_picture_of_the_page_is_relative() -> None:
    assert [address for _, address in targets() if not address.startswith("https://")] == []


def test_every_link_and_picture_leads_to_a_file_at_the_tag_of_this_version() -> None:
    source, tag = made()[1]["Source"], "v" + re.findall(r"\d+\.\d+\.\d+", made()[1]["Changelog"])[0]
    raw = source.replace("github.com", "raw.githubusercontent.com")
    ours = [(tag_of, address) for tag_of, address in targets() if address.startswith((source, raw))]
    for kind, address in ours:
        base = f"{raw}/{tag}/" if kind == "img" else f"{source}/blob/{tag}/"
        assert address.startswith(base), address
        name, _, heading = address.removeprefix(base).partition("#")
        assert (ROOT / name).is_file(), address
        assert not heading or heading in anchors(ROOT / name), address
    assert len(ours) == len(list(links(ROOT / "README.md"))) > 50
    assert {kind for kind, _ in ours} == {"a", "img"}


def test_the_page_is_of_what_is_released() -> None:
    text, _ = made()
    assert "not released" not in text and "until it is released" not in text
    assert re.findall(r"^(?:pipx|.*\bpip) install.*", text, re.MULTILINE) == [
        "python3 -m venv .venv && .venv/bin/pip install --quiet crabmem && .venv/bin/crabmem try",
        "pipx install crabmem",
        "python3 -m venv .venv && .venv/bin/pip install --quiet -e '.[dev]' && .venv/bin/pytest -q",
    ]


def test_the_page_names_the_server_of_the_registry_and_the_project_its_addresses() -> None:
    text, urls = made()
    owner, name = urls["Source"].split("/")[-2:]
    assert text.endswith(f"<!-- mcp-name: io.github.{owner}/{name} -->\n")
    assert urls.keys() == {"Documentation", "Source", "Issues", "Changelog"}
