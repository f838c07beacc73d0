"""The pages hang together: every link leads somewhere, every page is found, what is made is as it would be made now."""

import re
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

from crabmem import Memory
from crabmem.cli.app import cli
from crabmem.hosts.table import NAMES
from crabmem.prompt.profile import profile_names

from .host_facts import others
from .pages import DOCS, ROOT, anchors, links, pages, prose

PAGES = [*pages(), ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for file, heading in links(page):
        assert file.exists(), file
        assert not heading or heading in anchors(file), f"{file.name}#{heading}"


def test_every_page_is_reached_from_the_index() -> None:
    ahead, found = [DOCS / "README.md"], set[Path]()
    while ahead:
        if (page := ahead.pop()) not in found and page.suffix == ".md":
            found.add(page)
            ahead += [file / "README.md" if file.is_dir() else file for file, _ in links(page) if DOCS in file.parents]
    assert {page for page in DOCS.rglob("*.md")} <= found


def test_readme_fits_on_three_screens() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 180


def test_what_is_made_is_as_it_would_be_made_now() -> None:
    pytest.importorskip("griffe")
    from .generated import stale

    assert [str(path.relative_to(ROOT)) for path in stale()] == [], "python -m tests.docs --write"


@pytest.mark.parametrize("picture", sorted((DOCS / "pictures").glob("*.svg")), ids=lambda picture: picture.name)
def test_a_picture_can_be_drawn_and_says_what_it_shows(picture: Path) -> None:
    assert ElementTree.parse(picture).getroot().get("aria-label")


def test_every_verb_has_a_section() -> None:
    verbs = {f"crabmem-{verb}" for verb in cli.list_commands(click.Context(cli))}
    assert verbs <= anchors(DOCS / "command-line.md")


def test_every_tool_has_a_section(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", soul_editable=True) as memory:
        assert {tool.name for tool in memory.tools} <= anchors(DOCS / "tools.md")


def test_readme_leads_to_every_host_and_framework() -> None:
    led = {file for file, _ in links(ROOT / "README.md")} | {
        file for file, _ in links(DOCS / "frameworks" / "README.md")
    }
    assert {*(DOCS / "hosts").glob("*.md"), *(DOCS / "frameworks").glob("*.md")} <= led


def test_the_comparison_counts_hosts_and_frameworks() -> None:
    told = re.search(r"(\d+) hosts by one command, others by MCP, (\d+) SDKs", prose(DOCS / "comparison.md"))
    assert told and (int(told[1]), int(told[2])) == (len(NAMES), len(list((DOCS / "frameworks").glob("[!R]*.md"))))


def test_every_host_and_family_has_its_page() -> None:
    pages = {page.stem for page in (DOCS / "hosts").glob("*.md")}
    assert pages - {"README", "other", "servers"} <= {*NAMES}
    assert {host.name for host in others()} == {*NAMES} - pages and not any(host.hooks for host in others())
    told = "".join(prose(page) for page in (DOCS / "coming-from").glob("*.md"))
    named = set(re.findall(r"--profile ([a-z]+)", told))
    assert {"camel", "claw", "legion", "harness"} <= named <= set(profile_names())


#: How the source reads the environment: by name, by the folder that a name stands for, for an option, or for a host.
READS = (
    r'(?:environ|environment|_environ|told|folder|_folder_by)(?:\.get|\.setdefault)?\(\s*"([A-Z_]+)"|project="([A-Z_]+)"'
    r'|"((?:_?CRABMEM|[A-Z_]+_SESSION)_[A-Z_]+)"'
)


def test_every_variable_of_the_environment_that_is_read_has_its_row() -> None:
    sources = "".join(file.read_text("utf-8") for file in (ROOT / "crabmem").rglob("*.py"))
    read = {name for found in re.findall(READS, sources) for name in found if name}
    not_ours = {"_CRABMEM_COMPLETE", "COMP_WORDS", "USERPROFILE"}  # click's and bash's, and what Windows calls HOME
    rows = (DOCS / "settings.md").read_text("utf-8").partition("## In the environment")[2].partition("\n## ")[0]
    assert {"CRABMEM_DIR", "CRABMEM_SYNC_TOKEN", "CODEX_HOME", "NO_COLOR", "CLAUDE_CODE_SESSION_ID"} <= read
    assert read - not_ours - set(re.findall(r"`([A-Z_]+)", rows)) == set()


def test_the_address_over_http_is_the_one_that_is_served() -> None:
    http = pytest.importorskip("crabmem.mcp.http")
    verb = cli.get_command(click.Context(cli), "mcp")
    port = verb and next(param.default for param in verb.params if param.name == "port")
    told = re.findall(r"http://[^\s`\"]+", (DOCS / "hosts" / "other.md").read_text("utf-8"))
    assert set(told) == {f"http://{http.HOST}:{port}{http.PATH}"}


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "promises.md"], ids=lambda page: page.name)
def test_what_is_promised_is_counted_as_the_faults_were(page: Path) -> None:
    results = (ROOT / "tests" / "faults" / "RESULTS.md").read_text("utf-8")
    promised = prose(page).partition("is promised")[2].partition("\n## ")[0]
    counts = re.findall(r"\b\d{1,3}(?:,\d{3})+\b", promised)
    assert len(counts) > 3 and [count for count in counts if count not in results] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_row_of_a_table_has_its_cells(page: Path) -> None:
    """A bar within a cell has a backslash before it, between backquotes too: forges would take it for a new cell."""
    for table in re.findall(r"(?:^\|.*\|$\n?)+", prose(page), re.MULTILINE):
        rows = table.splitlines()
        counts = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
        assert len(counts) == 1 and re.fullmatch(r"\|(?: ?:?-+:? ?\|)+", rows[1]), table


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_two_headings_of_a_page_are_one_anchor(page: Path) -> None:
    headings = re.findall(r"^#+ .*$", prose(page), re.MULTILINE)
    assert len(headings) == len(anchors(page)), [each for each in headings if headings.count(each) > 1]
