"""Many memories, one question: what is pushed is found, with the scores of a local index, and what went is gone."""

from tests.fleet.conftest import Fleet


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
