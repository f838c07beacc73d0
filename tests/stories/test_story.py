"""The history that others are asked about is the same wherever it is made."""

from pathlib import Path

from crabmem import Memory
from tests import story
from tests.conftest import assert_clean, git


def test_the_story_has_sixty_commits_of_two_agents_and_a_person_and_the_same_ids(tmp_path: Path) -> None:
    heads = set()
    for name in ("one", "two"):
        story.tell(tmp_path / name)
        heads.add(git(tmp_path / name, "rev-parse", "HEAD"))
    with Memory(tmp_path / "one") as memory:
        commits = memory.log()
    assert len(heads) == 1 and len(commits) == 60
    assert {commit.session for commit in commits} == {None, *story.SESSIONS}
    assert {commit.author for commit in commits} == {"crabmem", story.PERSON, "coder", "planner"}
    assert_clean(tmp_path / "one")
