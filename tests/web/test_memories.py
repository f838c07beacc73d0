"""The page of a memory from which others are seen."""

from collections.abc import Iterator

import pytest

from crabmem import Memory
from crabmem.operations import facts
from crabmem.operations.moving import move
from crabmem.session.session import Session
from tests import samples
from tests.conftest import typed
from tests.web.browsing import Site, site_of


@pytest.fixture
def both(person: Session) -> Iterator[Site]:
    samples.see_a_team(person.root)
    with site_of(person) as site:
        yield site


def test_each_memory_that_is_seen_has_pages_of_its_own(both: Site, person: Session) -> None:
    own = both.get("/facts")
    name = person.engine.scopes.own
    assert f'<a href="./" aria-current="true">{name}</a> <a href="./team/">team</a>' in own.text
    theirs = both.get("/team/facts")
    assert f'<a href="../">{name}</a> <a href="../team/" aria-current="true">team</a>' in theirs.text
    assert "who deploys" in theirs.text and "who deploys" not in own.text
    assert "Nobody." in both.get("/team/fact?path=memory/entries/deploys.md").text


def test_what_a_form_of_one_memory_says_is_written_there(both: Site, person: Session) -> None:
    head, new = person.timeline.head(), {"name": "Tea", "description": "which tea", "content": "Oolong."}
    done = both.post("/team/new", new)
    assert done.status == 303 and "remember: Tea" in both.get(f"/team/{done.place.removeprefix('./')}").text
    assert person.timeline.head() == head
    with Memory(person.root.parent / "team") as team:
        assert team.get("Tea").content == "Oolong." and team.log(limit=1)[0].is_person


def test_a_memory_that_is_not_seen_any_more_has_no_page(both: Site, person: Session) -> None:
    assert both.get("/other/facts").status == 404
    (person.root / "crabmem.toml").write_text("")
    assert both.get("/team/facts").status == 404 and both.post("/team/new", {"name": "x"}).status == 404
    assert 'aria-label="Memories"' not in both.get("/facts").text


def test_a_fact_that_was_moved_is_told_as_moved_and_not_offered_again(both: Site, person: Session) -> None:
    facts.remember(person, "Cups", "which cups go to work", "Two.")
    facts.remember(person, "Mugs", "which mugs go to work", "One.")
    move(person, "Cups", "team")
    facts.forget(person, "Mugs")
    page = both.get("/forgotten").text
    moved, gone = (
        next(row for row in page.split("<li") if f"<bdi>{name}</bdi></a></p>" in row) for name in ("Cups", "Mugs")
    )
    assert "Restore" in gone and "Restore" not in moved and "It was moved to <bdi>team</bdi>" in moved
    told = typed("--dir", person.root, "digest", "--since", "1 hour ago").stdout
    assert "## Moved to another memory (1)\n\n- **Cups**: which cups go to work, now in team (" in told
    assert "## Learned and dropped again (1)\n\n- **Mugs**" in told
    html = typed("--dir", person.root, "digest", "--since", "1 hour ago", "--html", "-").stdout
    assert "Moved to another memory (1)" in html
