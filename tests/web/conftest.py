"""The page of the story, which two agents and a person wrote."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crabmem.session.opening import session_at
from crabmem.session.session import Session
from crabmem.write.actor import Actor
from tests.web.browsing import Site, site_of


@pytest.fixture
def person(story: Path) -> Iterator[Session]:
    """The story's memory, as Ann has it."""
    with session_at(story, Actor(is_person=True)) as session:
        yield session


@pytest.fixture
def site(person: Session) -> Iterator[Site]:
    """Its page."""
    with site_of(person) as site:
        yield site
