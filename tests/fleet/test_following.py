"""The follower: whatever became of a branch, the index says what its tip says, and nothing that went."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crabmem import Memory
from crabmem.errors import AlreadyThere, Busy, NotFound, SyncError
from crabmem.fleet import rights
from crabmem.fleet.following import follow_once, look, mirror_of, rebuild
from crabmem.fleet.postgres import NEXT, Postgres
from tests.conftest import git, needs_git
from tests.fleet.conftest import Fleet
from tests.sync.model import GIT


def texts(index: Postgres) -> str:
    """All that the tables of facts hold as text, and the postings of facts that are not there."""
    held = index.connection.execute("select fact::text from fact").fetchall()
    assert not index.connection.execute("select from post where fact not in (select id from fact)").fetchall()
    return "\n".join(text for (text,) in held)


def test_what_is_pushed_is_found_and_says_whose_it_is(fleet: Fleet) -> None:
    with fleet.memory("team/ann") as memory:
        saved = memory.remember("Otter", "who looks after the otter", "Ann does, on Mondays.")
    fleet.push("team/ann")

    looked = fleet.look()
    found = fleet.ask("who looks after the otter")

    assert [(each.name, each.changed, each.error) for each in looked] == [("team/ann", 1, "")]
    [hit] = found.hits
    assert (hit.scope, hit.entry.name, hit.entry.content) == ("team/ann", "Otter", "Ann does, on Mondays.")
    assert hit.entry.version == saved.entry.version
    assert hit.indexed is not None and hit.indexed.behind is not None and hit.indexed.behind < 60
    assert hit.address == "team/ann:memory/entries/otter.md"
    assert found.searched == 1 and not found.trouble


def test_an_edit_a_rename_and_a_removal_are_followed(fleet: Fleet) -> None:
    with fleet.memory("ann") as memory:
        memory.remember("Otter", "who looks after it", "Ann.")
        memory.remember("Heron", "where it stands", "At the pond.")
    fleet.push("ann")
    fleet.look()
    with fleet.memory("ann") as memory:
        memory.remember("Otter", "who looks after it", "Bob.")
        memory.forget("Heron")
        memory.remember("Newt", "what it eats", "Snails.")
    fleet.push("ann")
    [looked] = fleet.look()
    assert (looked.changed, looked.error) == (4, "")  # two rows go, two come
    assert [hit.entry.content for hit in fleet.ask("who looks after")] == ["Bob."]
    assert not fleet.ask("heron").hits
    assert fleet.ask("newt").hits


def test_a_second_look_does_nothing(fleet: Fleet) -> None:
    fleet.say("ann", Otter="x")
    assert [each.changed for each in fleet.look()] == [1]
    assert [each.changed for each in fleet.look()] == [0]


def test_a_hit_says_which_commit_wrote_it_and_when(fleet: Fleet) -> None:
    with fleet.memory("ann") as memory:
        first = memory.remember("Otter", "about", "x")
        memory.remember("Heron", "about", "y")
    fleet.push("ann")
    fleet.look()
    [hit] = fleet.ask("otter")
    assert hit.indexed and first.commit
    assert hit.indexed.commit == first.commit
    assert hit.indexed.words.startswith(f"since {time.strftime('%Y')}")


def test_what_was_purged_is_in_no_table_and_in_no_mirror(fleet: Fleet) -> None:
    fleet.say("ann", Secret="hushhushword", Otter="x")
    fleet.look()
    with fleet.index() as index:
        assert "hushhushword" in texts(index)
    with Memory(fleet.folder / "machines/ann", is_person=True) as person:
        person.purge("Secret")
    fleet.push("ann")
    fleet.look()
    with fleet.index() as index:
        held = texts(index)
    assert "hushhushword" not in held and "Otter" in held
    assert [hit.entry.name for hit in fleet.ask("otter")] == ["Otter"]
    assert not list(fleet.mirror().place.iterdir())
    with fleet.memory("ann") as memory:  # and the next change is followed into a new mirror
        again = memory.remember("Newt", "about", "y")
    fleet.push("ann")
    assert [each.error for each in fleet.look()] == [""]
    [hit] = fleet.ask("newt")
    assert hit.indexed and hit.indexed.commit and hit.indexed.commit == again.commit
    subprocess.run(["git", "cat-file", "-e", hit.indexed.commit], cwd=fleet.folder / "remotes/ann.git", check=True)


def test_after_a_purge_what_stayed_says_a_commit_that_is_there(fleet: Fleet) -> None:
    fleet.say("ann", Secret="hushhushword", Otter="x")
    fleet.look()
    with Memory(fleet.folder / "machines/ann", is_person=True) as person:
        person.purge("Secret")
        [commit] = [each.commit for each in person.log() if "Otter" in each.subject]
    fleet.push("ann")
    fleet.look()
    [hit] = fleet.ask("otter")
    assert hit.indexed and hit.indexed.commit == commit


@needs_git
def test_a_purged_text_that_somebody_pushes_again_is_not_indexed(fleet: Fleet) -> None:
    fleet.say("ann", Secret="hushhushword", Otter="x")
    remote, clone = fleet.folder / "remotes/ann.git", fleet.folder / "clone"
    git(fleet.folder, "clone", "-q", str(remote), str(clone))
    secret = (clone / "memory/entries/secret.md").read_bytes()
    with Memory(fleet.folder / "machines/ann", is_person=True) as person:
        person.purge("Secret")
    fleet.push("ann")
    git(clone, "fetch", "-q")
    git(clone, "reset", "-q", "--hard", "origin/main")
    (clone / "memory/entries/secret.md").write_bytes(secret)
    git(clone, "add", "-A")
    git(clone, *GIT, "commit", "-q", "-m", "back")
    git(clone, "push", "-q")
    fleet.look()
    with fleet.index() as index:
        held = texts(index)
    assert "hushhushword" not in held and "Otter" in held


@needs_git
def test_a_forced_push_is_followed(fleet: Fleet) -> None:
    fleet.say("ann", Otter="x", Heron="y")
    fleet.look()
    git(fleet.folder / "remotes/ann.git", "update-ref", "refs/heads/main", "refs/heads/main~1")
    fleet.look()
    assert fleet.ask("otter").hits and not fleet.ask("heron").hits


def test_other_settings_make_all_rows_anew(fleet: Fleet) -> None:
    with fleet.memory("ann") as memory:
        memory.remember("Häuser", "die Häuser am Fluss", "x")
    fleet.push("ann")
    fleet.look()
    assert not fleet.ask("Haus").hits
    (fleet.folder / "machines/ann/crabmem.toml").write_text('language = "german"\n')
    fleet.push("ann")
    fleet.look()
    assert fleet.ask("Haus").hits


def test_what_a_profile_hides_from_groups_is_for_main_sessions_alone(fleet: Fleet) -> None:
    root = fleet.folder / "machines/ann"
    with fleet.memory("ann"):
        pass
    (root / "crabmem.toml").write_text('profile = "claw"\n')
    with fleet.memory("ann") as memory:
        path = memory.remember("Otter", "about", "x").path
    fleet.push("ann")
    fleet.look()
    group, main = fleet.grant("gus", "*", "group"), fleet.grant("ann", "*", "main")
    assert [hit.entry.path for hit in fleet.ask("otter", main)] == [path]
    assert not fleet.ask("otter", group).hits


def test_of_a_profile_that_cannot_be_read_all_is_for_main_sessions_alone(fleet: Fleet) -> None:
    fleet.say("ann", Otter="x")
    root = fleet.folder / "machines/ann"
    (root / "crabmem.toml").write_text('profile = "/nowhere/else.toml"\n')
    git(root, "add", "-A")
    git(root, *GIT, "commit", "-qm", "another profile")
    git(root, "push", "-q", str(fleet.folder / "remotes/ann.git"), "HEAD:main")
    fleet.look()
    group, main = fleet.grant("gus", "*", "group"), fleet.grant("ann", "*", "main")
    assert fleet.ask("otter", main).hits and not fleet.ask("otter", group).hits


def test_a_remote_that_fails_is_said_and_stops_no_other(fleet: Fleet) -> None:
    fleet.say("ann", Otter="x")
    fleet.follow("gone")
    looked = {each.name: each for each in fleet.look()}
    assert looked["ann"].changed == 1 and "gone.git" in looked["gone"].error
    assert fleet.ask("otter").trouble == "1 of 2 memories not known to be up to date: gone"
    with fleet.index() as index:
        assert [space.name for space in index.spaces() if space.error] == ["gone"]


def test_what_fails_is_looked_at_ever_later_and_at_once_when_pushed_to(fleet: Fleet) -> None:
    fleet.follow("gone")
    with fleet.index() as index:
        [space] = index.spaces()
        assert index.due(0) == [space.id]
        look(index, fleet.mirror(), space.id)
        assert index.due(60) == []
        index.connection.execute("update space set tried_at = now() - interval '100 s', failures = 1")
        assert index.due(60) == []  # 120 s after the first failure
        index.connection.execute("update space set failures = 0")
        assert index.due(60) == [space.id]
        index.connection.execute("update space set tried_at = now()")
        index.pushed("gone")
        assert index.due(60) == [space.id]


def test_a_push_during_a_look_is_looked_at_afterwards(fleet: Fleet) -> None:
    fleet.follow("ann")
    with fleet.index() as index:
        [space] = index.spaces()
        with fleet.index() as other, index.alone(space.id):
            other.pushed("ann")
            index.looked(space.id)
        assert index.due(60) == [space.id]
        assert [each.pushed for each in index.followed()] == [True]


def test_of_two_followers_one_looks_at_a_memory(fleet: Fleet) -> None:
    fleet.follow("ann")
    with fleet.index() as one, fleet.index() as other:
        [space] = one.spaces()
        with one.alone(space.id) as held:
            assert held is not None
            assert look(other, fleet.mirror(), space.id) is None
        assert look(other, fleet.mirror(), space.id) is not None


def test_a_memory_that_is_followed_no_more_leaves_nothing(fleet: Fleet) -> None:
    fleet.say("ann", Otter="x")
    fleet.look()
    with fleet.index() as index:
        index.remove("ann")
        fleet.mirror().forget([space.mirror for space in index.spaces()])
        counts = [index.connection.execute(f"select count(*) from {table}").fetchone() for table in ("fact", "post")]
    assert counts == [(0,), (0,)]
    assert not list(fleet.mirror().place.iterdir())


def test_a_sync_tells_the_follower_which_finds_what_was_pushed(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.say("team/ann", Otter="x")
    fleet.look()
    monkeypatch.setenv("CRABMEM_FLEET", fleet.url)
    command = [sys.executable, "-m", "crabmem", "fleet", "follow", "--every", "3600", "--state"]
    with subprocess.Popen([*command, str(fleet.folder / "mirrors")], stderr=subprocess.PIPE, text=True) as follower:
        try:
            assert follower.stderr and follower.stderr.readline().startswith("following")
            fleet.say("team/ann", Heron="y")
            until = time.monotonic() + 30
            while not fleet.ask("heron").hits and time.monotonic() < until:
                time.sleep(0.05)
            assert fleet.ask("heron").hits
        finally:
            follower.terminate()


@pytest.mark.parametrize("place", ["team/ann", "git@forge:team/ann.git", "/srv/git/team/ann.git"])
def test_a_machine_that_pushed_names_a_memory_by_its_name_or_by_either_end_of_its_path(
    fleet: Fleet, place: str
) -> None:
    with fleet.index() as index:
        index.add("team/ann", "/srv/git/team/ann.git", "srv/git/team/ann")
        index.add("other", "/srv/git/team/anne.git", "srv/git/team/anne")
        index.connection.execute("update space set tried_at = now()")
        index.pushed(place if place == "team/ann" else rights.stem_of(place))
        [due] = index.due(60)
        assert [space.name for space in index.spaces() if space.id == due] == ["team/ann"]


def test_an_index_is_made_anew_while_the_old_one_serves(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.say("ann", Otter="x")
    fleet.look()
    url = fleet.grant("ann", "ann", "main")
    with fleet.index() as index:
        index.connection.execute("delete from post")  # what must not be there afterwards
        served = list[int]()
        facts = rebuild(
            index, fleet.folder / "mirrors", os.environ, lambda looked: served.append(fleet.ask("otter", url).searched)
        )
    assert facts == 1 and served == [1]
    assert [hit.entry.name for hit in fleet.ask("otter", url)] == ["Otter"]
    with fleet.index() as index:
        assert index.connection.execute("select to_regnamespace(%s)", (NEXT,)).fetchone() == (None,)


def test_what_is_granted_revoked_and_added_while_an_index_is_made_anew_holds(fleet: Fleet) -> None:
    for name in ("ann", "bob"):
        fleet.say(name, Otter=name)
    fleet.look()
    gone = fleet.grant("gone", "*")

    def meanwhile(looked: object) -> None:
        with fleet.index() as old:
            if any(role == fleet.role("gone") for role, _, _ in old.granted()):
                rights.revoke(old, fleet.role("gone"), None)
                old.remove("bob")
                fleet.grant("new", "ann", "group")
                fleet.follow("later")

    with fleet.index() as index:
        rebuild(index, fleet.folder / "mirrors", os.environ, meanwhile)
        assert [space.name for space in index.spaces()] == ["ann", "later"]
    with pytest.raises(NotFound, match="none for this role"):
        fleet.ask("otter", gone)
    assert [hit.scope for hit in fleet.ask("otter", fleet.address("new"))] == ["ann"]


def test_an_index_that_cannot_be_made_whole_leaves_the_old_one_and_no_copy(fleet: Fleet) -> None:
    fleet.say("ann", Otter="x")
    fleet.look()
    fleet.follow("gone")
    with fleet.index() as index:
        with pytest.raises(SyncError, match="the old index stays, as gone could not be read"):
            rebuild(index, fleet.folder / "mirrors", os.environ)
        assert index.connection.execute("select to_regnamespace(%s)", (NEXT,)).fetchone() == (None,)
    assert fleet.ask("otter").hits
    assert not list((fleet.folder / "mirrors/anew").iterdir())


def test_an_index_that_is_there_is_not_made_again(fleet: Fleet) -> None:
    with fleet.index() as index, pytest.raises(AlreadyThere, match="fleet rebuild"):
        index.create()


def test_a_mirror_that_is_damaged_is_fetched_anew(fleet: Fleet) -> None:
    fleet.say("ann", Otter="x")
    fleet.look()
    for file in (fleet.folder / "mirrors").rglob("objects/*/*"):
        os.chmod(file, 0o644)
        file.write_bytes(b"")
    fleet.say("ann", Heron="y")
    fleet.look()
    fleet.look()
    assert fleet.ask("heron").hits and fleet.ask("otter").hits


def test_following_writes_nothing_to_the_remote(fleet: Fleet) -> None:
    fleet.say("ann", Otter="x")

    def state() -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in (fleet.folder / "remotes").rglob("*") if file.is_file()}

    before = state()
    with fleet.index() as index:
        follow_once(index, fleet.mirror())
    assert state() == before


def test_followers_on_two_machines_take_turns(fleet: Fleet) -> None:
    """Whose mirror is behind what the other indexed fetches on, and keeps nothing of what was purged meanwhile."""
    fleet.say("ann", Secret="hushhushword")
    (fleet.folder / "elsewhere").mkdir()
    for turn in range(4):
        with fleet.memory("ann") as memory:
            memory.remember(f"Otter {turn}", "about", "x")
        if turn == 3:
            with Memory(fleet.folder / "machines/ann", is_person=True) as person:
                person.purge("Secret")
        fleet.push("ann")
        with fleet.index() as index:
            other = mirror_of(index, fleet.folder / "elsewhere", os.environ)
            looks = [follow_once(index, mirror) for mirror in (fleet.mirror(), other)[:: 1 if turn % 2 else -1]]
        assert [each.error for look in looks for each in look] == ["", ""]
        if turn == 1:  # each has the branch now, and need not fetch it again
            tips = [
                {file.read_text() for file in mirror.place.rglob("refs/heads/main")}
                for mirror in (fleet.mirror(), other)
            ]
            assert tips[0] == tips[1] and len(tips[0]) == 1
    assert not list(other.place.iterdir()) and not list(fleet.mirror().place.iterdir())


@needs_git
def test_a_record_of_purges_is_followed_though_the_branch_has_the_old_tip(fleet: Fleet) -> None:
    fleet.say("ann", Secret="hushhushword")
    fleet.look()
    remote = fleet.folder / "remotes/ann.git"
    old = git(remote, "rev-parse", "main").strip()
    with Memory(fleet.folder / "machines/ann", is_person=True) as person:
        person.purge("Secret")
    fleet.push("ann")
    git(remote, "update-ref", "refs/heads/main", old)
    fleet.look()
    with fleet.index() as index:
        assert "hushhushword" not in texts(index)


def test_an_index_is_not_exchanged_in_the_middle_of_a_look(fleet: Fleet) -> None:
    for name in ("gone", "ann", "bob"):
        fleet.say(name, Otter=f"text of {name}")
    with fleet.index() as index:
        index.remove("gone")  # which leaves a hole in the numbers
    fleet.look()
    with fleet.index() as follower, fleet.index() as owner:
        [ann] = [space for space in follower.spaces() if space.name == "ann"]
        with follower.alone(ann.id), Postgres(fleet.url, NEXT) as new:
            new.create()
            owner.copy_to(new)
            new.connection.execute("set lock_timeout = '300ms'")
            with pytest.raises(Busy):
                new.take_over()
