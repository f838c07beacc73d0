"""Renaming: an entry gets another name, links lead where they led, and history knows it as before."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import Disabled, Fact, HoldsSecret, InvalidArguments, Memory, NotFound, Saved, Unwritable
from crabmem.operations import history
from crabmem.operations import links as links_operations
from crabmem.results import Links
from tests.conftest import FIXTURES, git
from tests.conftest import typed_in as run
from tests.examples import examples

VET, DOCTOR, WIFI = "memory/entries/luna-s-vet.md", "memory/entries/dr-moreno.md", "memory/entries/wifi.md"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2


@pytest.fixture
def linked(memory: Memory) -> Memory:
    """Two facts and an overview that link to each other in every form."""
    memory.remember("Luna's vet", "who looks after the dog", "Dr. Moreno; see [[Wifi]].", aliases=["dog doctor"])
    memory.remember("Wifi", "the network", "[[luna-s-vet|her]] ![[Luna's vet#Hours]] [[dog doctor]] `[[Luna's vet]]`")
    memory.write_overview("- [[entries/luna-s-vet.md]]\n- [[LUNA'S VET]]\n- [[nobody]]\n")
    return memory


def files(memory: Memory) -> dict[str, bytes]:
    """All files of a memory."""
    found = (file for file in memory.root.rglob("*.md") if ".git" not in file.parts)
    return {file.relative_to(memory.root).as_posix(): file.read_bytes() for file in found}


def test_rename_leads_every_link_there_in_one_commit(linked: Memory) -> None:
    before = linked.log(1)[0].commit
    done = linked.rename("luna's vet", "Dr. Moreno")
    assert (done.name, done.before, done.path, done.path_before) == ("Dr. Moreno", "Luna's vet", DOCTOR, VET)
    assert done.paths == ("memory/MEMORY.md", DOCTOR, VET, WIFI) or set(done.paths) == {
        "memory/MEMORY.md", DOCTOR, VET, WIFI,
    }  # fmt: skip
    assert linked.get("wifi").content == ("[[dr-moreno|her]] ![[Dr. Moreno#Hours]] [[dog doctor]] `[[Luna's vet]]`")
    assert linked.overview().text == "- [[entries/dr-moreno.md]]\n- [[Dr. Moreno]]\n- [[nobody]]\n"
    assert not (linked.root / VET).exists()
    [commit] = linked.log(1)
    assert (commit.parents, commit.subject) == ((before,), "rename: Luna's vet to Dr. Moreno")
    assert (commit.tool, commit.agent, commit.entries) == ("rename", "coder", ("Dr. Moreno", "Luna's vet"))
    with pytest.raises(NotFound):
        linked.get("Luna's vet")


def test_rename_back_gives_the_same_bytes(linked: Memory) -> None:
    linked.write_overview("- [[entries/luna-s-vet.md]] [[Luna's vet]]\n")
    before = files(linked)
    linked.rename("Luna's vet", "Dr. Moreno")
    linked.rename("Dr. Moreno", "Luna's vet")
    assert files(linked) == before


NAMES = st.text(alphabet="abc éÜ-.'", min_size=1, max_size=8).map(str.strip).filter(lambda name: name.strip(".-' "))
FORMS = st.sampled_from(["[[{}]]", "[[{}|x]]", "![[{}#h]]", "`[[{}]]`", "```\n[[{}]]\n```\n"])


@settings(max_examples=examples(15))
@given(st.data(), st.lists(NAMES, min_size=3, max_size=5, unique_by=lambda name: name.casefold().strip(".-' ")))
def test_links_lead_where_they_led_and_back_again(data: st.DataObject, names: list[str]) -> None:
    """Whatever is renamed to what; links that led nowhere before may lead somewhere after it."""
    *others, new = names
    with TemporaryDirectory() as folder, Memory(Path(folder) / "m") as memory:
        memory.root.mkdir()
        memory.file("crabmem.toml").write_text('durability = "fast"\n')
        tried = memory.remember_all([Fact(name, "d", "c") for name in others], "tests", dry_run=True)
        targets = st.sampled_from([*others, *(saved.entry.slug for saved in tried if isinstance(saved, Saved))])
        linked = [data.draw(st.lists(st.tuples(FORMS, targets), max_size=4)) for _ in others]
        texts = ["\n".join(form.format(target) for form, target in links) for links in linked]
        facts = [Fact(name, "see [[a b]]", text) for name, text in zip(others, texts, strict=True)]
        memory.remember_all(facts, "tests")
        before, led = files(memory), led_to(memory)
        try:
            done = memory.rename(others[0], new)
        except InvalidArguments:
            assert files(memory) == before  # another entry answers to it
            return
        moved = {done.path_before: done.path}
        after = led_to(memory)
        for path, found in led.items():
            pairs = zip(found, after[moved.get(path, path)], strict=True)
            assert all(now == moved.get(to, to) for to, now in pairs if to is not None)
        memory.rename(new, others[0])
        again = led_to(memory)
        assert again.keys() == led.keys()
        for path, found in led.items():
            assert all(now == to for to, now in zip(found, again[path], strict=True) if to is not None)
        # Else nobody can tell links by name from links by file name, or a link that led nowhere goes with the fact.
        if Path(done.path).stem != new and again == led:
            assert files(memory) == before


def led_to(memory: Memory) -> dict[str, list[str | None]]:
    """Where the links of each file lead, in their order; None for one that leads nowhere."""
    found: dict[str, list[str | None]] = {}
    for entry in memory.entries():
        for link in links_operations.links(memory, entry.slug).out:
            found.setdefault(link.path, []).append(link.to)
    return found


def test_link_that_would_lead_to_the_renamed_entry_goes_on_to_its_own(memory: Memory) -> None:
    memory.remember("Old", "d", "c")
    memory.remember("Other", "d", "c", aliases=["brand-new"])
    memory.remember("Third", "d", "[[brand-new]]")
    memory.rename("old", "Brand new")
    assert memory.get("third").content == "[[other]]"


def test_old_name_stays_as_an_alias_when_asked(linked: Memory) -> None:
    linked.rename("Luna's vet", "Dr. Moreno", keep_alias=True)
    assert linked.get("Luna's vet").aliases == ("dog doctor", "Luna's vet")
    assert "![[Dr. Moreno#Hours]]" in linked.get("wifi").content


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nrating: 5 # mine\nname: Vet\r\n---\n\nx", "---\nrating: 5 # mine\nname: Doc\r\n---\n\nx"),
        ("---\nalias: v\nname: 'Vet'\n---\nx\n", "---\nalias: v\nname: Doc\n---\nx\n"),
        ("---\ndescription: d\n---\nx\n", "---\ndescription: d\nname: Doc\n---\nx\n"),
        ("no frontmatter\r\n", "---\r\nname: Doc\r\n---\r\n\r\nno frontmatter\r\n"),
        ("\ufeff---\nname: Vet\n---\n[[doc]] [[Vet]]", "\ufeff---\nname: Doc\n---\n[[doc]] [[Doc]]"),
    ],
)
def test_all_other_bytes_stay(memory: Memory, text: str, expected: str) -> None:
    memory.init()
    memory.file("memory/entries").mkdir(parents=True)
    memory.file("memory/entries/vet.md").write_bytes(text.encode())
    path = memory.rename("vet", "Doc").path
    assert (path, memory.file(path).read_bytes()) == ("memory/entries/doc.md", expected.encode())


def test_file_without_a_name_of_its_own_goes_on_so(memory: Memory) -> None:
    memory.init()
    memory.file("memory/entries").mkdir(parents=True)
    memory.file("memory/entries/vet.md").write_text("Dr. Moreno.\n")
    memory.rename("vet", "doctor")
    assert memory.file("memory/entries/doctor.md").read_text() == "Dr. Moreno.\n"


def test_file_that_a_person_named_keeps_its_name(linked: Memory) -> None:
    linked.file(VET).rename(linked.file("memory/entries/mine.md"))
    done = linked.rename("Luna's vet", "Dr. Moreno")
    assert done.path == done.path_before == "memory/entries/mine.md"
    assert linked.get("mine").name == "Dr. Moreno"
    assert linked.log(2)[1].subject.startswith("edit: Luna's vet")


def test_new_file_name_that_is_taken_gets_a_suffix(memory: Memory) -> None:
    memory.remember("a b", "d", "first")
    memory.remember("x", "d", "second")
    done = memory.rename("x", "a_b")
    assert done.path.startswith("memory/entries/a-b-") and memory.get("a_b").content == "second"
    assert memory.rename("a_b", "y").path == "memory/entries/y.md"


@pytest.mark.parametrize("folder", ["memory", "memory/entries"])
def test_file_never_moves_to_where_it_would_be_no_entry_or_another_file_is(memory: Memory, folder: str) -> None:
    memory.write_overview("# Overview\n")
    note = memory.file(memory.write_note("A note of the day.").path)
    memory.file(f"{folder}/plan.md").parent.mkdir(exist_ok=True)
    memory.file(f"{folder}/plan.md").write_text("The cellar needs paint.\n")
    before, name = note.read_bytes(), "plan"
    for new in ("memory", "MEMORY", note.stem, "plan"):
        done = memory.rename(name, new)
        assert done.path.startswith(f"{folder}/") and memory.get(new).content.strip() == "The cellar needs paint."
        assert [hit.entry.name for hit in memory.recall("paint in the cellar")] == [new]
        name = new
    assert (note.read_bytes(), memory.overview().text) == (before, "# Overview\n")


def test_only_the_case_of_a_name_is_changed_in_place(memory: Memory) -> None:
    memory.remember("wifi", "d", "c")
    done = memory.rename("wifi", "WiFi")
    assert (done.path, memory.get("wifi").name) == (WIFI, "WiFi")


@pytest.mark.parametrize(
    ("old", "new", "error", "words"),
    [
        ("nobody", "x", NotFound, "no fact called nobody"),
        ("wifi", "luna-s-vet", InvalidArguments, "luna-s-vet.md answers to already"),
        ("wifi", "Dog Doctor", InvalidArguments, "answers to already"),
        ("wifi", " ", InvalidArguments, "the name is empty"),
        ("wifi", "two\nlines", InvalidArguments, "one line"),
        ("wifi", TOKEN, HoldsSecret, "GitHub token"),
    ],
)
def test_what_cannot_be_renamed_so_changes_nothing(
    linked: Memory, old: str, new: str, error: type[Exception], words: str
) -> None:
    before, head = files(linked), git(linked.root, "rev-parse", "HEAD")
    with pytest.raises(error, match=words):
        linked.rename(old, new)
    assert (files(linked), git(linked.root, "rev-parse", "HEAD")) == (before, head)


def test_broken_frontmatter_is_not_guessed_at(memory: Memory) -> None:
    memory.init()
    memory.file("memory/entries").mkdir(parents=True)
    memory.file("memory/entries/vet.md").write_text("---\n- [\n---\nx")
    with pytest.raises(Unwritable, match=r"vet.md cannot be renamed, .*mend it first"):
        memory.rename("vet", "doctor")


def test_same_name_again_is_no_commit(linked: Memory) -> None:
    done = linked.rename("wifi", "Wifi")
    assert (done.commit, done.paths, done.diff) == (None, (), "")


def test_dry_run_shows_it_and_writes_nothing(linked: Memory) -> None:
    before = files(linked)
    done = linked.rename("wifi", "Net", dry_run=True)
    assert (done.commit, done.path, files(linked)) == (None, "memory/entries/net.md", before)
    assert "+name: Net\n" in done.diff


def test_agent_leaves_the_identity_alone_and_is_told(linked: Memory) -> None:
    linked.file("Crab.md").write_text("I serve [[Wifi]].\n")
    done = linked.rename("wifi", "Net")
    assert (done.left, linked.identity().text) == (("Crab.md",), "I serve [[Wifi]].\n")
    with Memory(linked.root, is_person=True) as person:
        person.rename("net", "Wifi")
        person.rename("wifi", "Guests")
        assert person.identity().text == "I serve [[Guests]].\n"
    with pytest.raises(Disabled):
        linked.write_identity("mine")


def test_undo_takes_a_rename_back_whole(linked: Memory) -> None:
    before = files(linked)
    linked.rename("Luna's vet", "Dr. Moreno")
    linked.undo()
    assert files(linked) == before


# History


@pytest.mark.parametrize("content", ["Dr. Moreno, every Thursday, at the old mill.", "x"])
def test_history_follows_a_rename(memory: Memory, content: str) -> None:
    """Also where Git would not, as hardly anything of a short file is the same."""
    first = memory.remember("The one who looks after Luna", "d", content)
    memory.rename("the one who looks after luna", "Dr. Moreno at the veterinary clinic")
    last = memory.remember("dr. moreno at the veterinary clinic", "d", f"{content}\nNew line.")
    subjects = [commit.subject.partition(":")[0] for commit in memory.log(name="dr. moreno at the veterinary clinic")]
    assert subjects == ["remember", "rename", "remember"]
    said = {line.text: line.commit for line in memory.blame("dr. moreno at the veterinary clinic")}
    assert (said[content], said["New line."]) == (first.commit, last.commit)
    [hit] = memory.recall("moreno", blame=True)
    assert hit.provenance and hit.provenance.learned and hit.provenance.learned.commit == first.commit
    assert first.commit and "+description: d" in history.patch(
        memory, first.commit, "dr. moreno at the veterinary clinic"
    )


def test_log_of_the_old_name_finds_the_entry(linked: Memory) -> None:
    linked.rename("Luna's vet", "Dr. Moreno")
    assert [commit.subject for commit in linked.log(name="Luna's vet")] == [
        "rename: Luna's vet to Dr. Moreno",
        "remember: Luna's vet",
    ]


def test_name_that_is_used_again_begins_a_history_of_its_own(linked: Memory) -> None:
    linked.rename("Luna's vet", "Dr. Moreno")
    linked.remember("Luna's vet", "d", "Dr. Fellini now.")
    assert len(linked.log(name="Dr. Moreno")) == 2
    assert linked.log(name="Luna's vet")[0].subject == "remember: Luna's vet"
    linked.purge("Dr. Moreno")
    assert linked.get("Luna's vet").content == "Dr. Fellini now."


def test_rollback_and_diff_go_back_beyond_a_rename(linked: Memory) -> None:
    linked.rename("Luna's vet", "Dr. Moreno")
    linked.remember("Dr. Moreno", "d", "On Fridays.")
    assert f"--- a/{VET}\n+++ /dev/null" in linked.diff("HEAD~2", name="Dr. Moreno")
    linked.remember("Luna's vet", "d", "another")
    with pytest.raises(InvalidArguments, match=r"luna-s-vet.md, where it was at HEAD~3, is another fact now"):
        linked.rollback("HEAD~3", "Dr. Moreno")
    linked.forget("Luna's vet")
    done = linked.rollback("HEAD~4", "Dr. Moreno")
    assert set(done.paths) == {VET, DOCTOR}
    assert linked.get("Luna's vet").content == "Dr. Moreno; see [[Wifi]]." and not linked.file(DOCTOR).exists()


def test_purge_goes_back_beyond_a_rename(linked: Memory) -> None:
    linked.write_overview("")
    linked.rename("Luna's vet", "Dr. Moreno")
    linked.rename("Dr. Moreno", "Dr. Fellini")
    done = linked.purge("dr. fellini")
    assert done.standing and done.standing.places == ()
    assert set(done.paths) >= {VET, DOCTOR, "memory/entries/dr-fellini.md"}
    assert "looks after the dog" not in git(linked.root, "log", "--all", "-p")


# Links


def test_links_say_what_leads_where(linked: Memory) -> None:
    found = links_operations.links(linked, "wifi")
    assert [(link.target, link.to) for link in found.out] == [
        ("luna-s-vet", VET), ("Luna's vet", VET), ("dog doctor", VET),
    ]  # fmt: skip
    assert [(link.path, link.target) for link in found.into] == [(VET, "Wifi")]
    broken = links_operations.links(linked).broken
    assert [(link.path, link.target) for link in broken] == [("memory/MEMORY.md", "nobody")]
    assert links_operations.links(linked, "MEMORY.md").broken == broken


def test_pictures_and_other_files_of_memory_are_no_broken_links(memory: Memory) -> None:
    memory.remember("A", "d", "![[dog.png]] [[MEMORY]] [[2026-03-01]] [[Crab#x]] [[Node.js]]")
    memory.write_overview("# Overview")
    memory.file("memory/2026-03-01.md").write_text("- [[a]]\n")
    memory.adopt()
    assert [link.target for link in links_operations.links(memory).broken] == ["Node.js"]
    assert [link.path for link in links_operations.links(memory, "a").into] == ["memory/2026-03-01.md"]


def test_links_of_what_was_never_written_are_none(memory: Memory) -> None:
    assert links_operations.links(memory) == Links(None, (), (), ())
    with pytest.raises(NotFound):
        links_operations.links(memory, "nobody")


def test_a_link_that_stands_twice_in_a_text_is_told_once(memory: Memory) -> None:
    memory.remember("Wifi", "d", "[[Nobody]] and [[Nobody]]; [[Wifi]] and [[wifi]] and [[Wifi]].")
    shown, broken = run(memory.root, "links", "wifi"), run(memory.root, "links")
    assert len(shown.stdout.splitlines()) == len(set(shown.stdout.splitlines())) == 3
    assert (broken.stdout, broken.stderr) == ("memory/entries/wifi.md: [[Nobody]]\n", "1 link leads nowhere\n")
    assert len(json.loads(run(memory.root, "links", "wifi", "--json").stdout)["out"]) == 5


def test_verbs_say_it_to_people_and_programs(linked: Memory) -> None:
    shown = run(linked.root, "links", "wifi")
    assert "out  [[Luna's vet]]" in shown.stdout and f"in   [[Wifi]]{' ' * 34}{VET}" in shown.stdout
    broken = run(linked.root, "links")
    assert (broken.stdout, broken.stderr) == ("memory/MEMORY.md: [[nobody]]\n", "1 link leads nowhere\n")
    data = json.loads(run(linked.root, "links", "--json").stdout)
    assert data["broken"] == [{"path": "memory/MEMORY.md", "target": "nobody", "to": None}]
    done = json.loads(run(linked.root, "rename", "wifi", "Net", "--json").stdout)
    assert (done["name"], done["before"], done["path_before"], done["left"]) == ("Net", "Wifi", WIFI, [])
    again = run(linked.root, "rename", "net", "Net")
    assert again.stdout == "it is called Net already\n"


def test_sample_memories_have_no_broken_links(sample: Callable[[str], Path]) -> None:
    for folder in FIXTURES.iterdir():
        if folder.is_dir() and folder.name != "broken":
            with Memory(sample(folder.name)) as memory:
                wanted = {"claude-code": ["release-checklist"]}.get(folder.name, [])  # as that host writes them
                assert [link.target for link in links_operations.links(memory).broken] == wanted


def test_workspace_opens_as_a_vault(memory: Memory) -> None:
    """What Obsidian keeps for itself is none of memory's; properties as it writes them are."""
    memory.remember("Wifi", "the network", "Pinguin.")
    for path in (".obsidian/app.json", ".obsidian/plugins/x.md", ".trash/old.md", "memory/entries/.trash/gone.md"):
        memory.file(path).parent.mkdir(parents=True, exist_ok=True)
        memory.file(path).write_text("[[nowhere]]")
    memory.file("memory/entries/Luna.md").write_text(
        '---\naliases:\n  - the dog\ntags:\n  - pets\nvet: "[[Wifi|her]]"\ncssclasses: []\n---\nWags.\n'
    )
    assert {entry.name: (entry.aliases, entry.tags) for entry in memory.entries()} == {
        "Luna": (("the dog",), ("pets",)), "Wifi": ((), ()),
    }  # fmt: skip
    assert links_operations.links(memory).broken == () and [
        link.to for link in links_operations.links(memory, "the dog").out
    ] == [WIFI]
    memory.rename("wifi", "Net")
    assert 'vet: "[[Net|her]]"\n' in memory.file("memory/entries/Luna.md").read_text()
    assert git(memory.root, "ls-files").split() == ["Crab.md", "memory/entries/Luna.md", "memory/entries/net.md"]
