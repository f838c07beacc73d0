"""The operations of a memory: what they return, what they refuse, what stays untouched."""

import os
import threading
import time
from copy import deepcopy
from pathlib import Path

import pytest

from crabmem import Disabled, Fact, InvalidArguments, MassLoss, Memory, NotFound, Stale, Unwritable
from crabmem.operations import facts, history
from crabmem.recall import reader
from crabmem.text import entry
from crabmem.text.entry import Entry
from crabmem.write.actor import Actor
from tests.conftest import ANN, Clock, assert_clean, git
from tests.opening import opened_with

NOTE = "memory/entries/luna.md"


def subjects(memory: Memory) -> list[str]:
    return [commit.subject for commit in memory.log()]


def test_remembering_says_what_was_written(memory: Memory) -> None:
    saved = memory.remember("Luna's vet", "who treats the dog", "Thursday", aliases=["vet"], tags=["pets"])
    assert (saved.path, saved.created, saved.replaced) == ("memory/entries/luna-s-vet.md", True, None)
    assert saved.commit == memory.log(1)[0].commit
    assert saved.entry == memory.get("luna's vet")
    assert saved.version == saved.entry.version == git(memory.root, "hash-object", saved.path)[:12]


def test_remembering_again_says_who_wrote_what_was_there(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    file = memory.root / NOTE
    file.write_text(file.read_text().replace("Thursday", "Friday"))
    saved = memory.remember("LUNA", "dog", "Saturday")
    assert saved.replaced and saved.replaced.author == "person"
    assert "-Friday\n+Saturday\n" in saved.diff and "name:" not in saved.diff
    assert not saved.created and saved.entry.name == "Luna"


def test_labels_stay_unless_they_are_given(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday", aliases=["hound"], tags=["pets"])
    assert memory.remember("Luna", "dog", "Friday").entry.aliases == ("hound",)
    assert memory.remember("Luna", "dog", "Friday", aliases=[]).entry.aliases == ()
    assert memory.get("Luna").tags == ("pets",)


def test_names_that_look_alike_never_share_a_file(memory: Memory) -> None:
    names = [
        "C",
        "C++",
        "C#",
        "C!",
        "c.",
        "日本語",
        "🦀",
        "crab",
        "😀",
        "x" * 300,
        "x" * 299 + "y",
        "aux",
        "Crab",
        "MEMORY",
    ]
    for name in dict.fromkeys(names):
        memory.remember(name, "a name", f"this is {name}")
    same = {"crab": "Crab"}
    assert [memory.get(name).content for name in names] == [f"this is {same.get(name, name)}" for name in names]
    assert not (memory.root / "Crab.md").read_text().startswith("this is")


def test_composed_and_decomposed_names_are_one_entry(memory: Memory) -> None:
    memory.remember("Café", "where to go", "the old one")
    assert not memory.remember("Cafe\u0301", "where to go", "the new one").created
    assert [entry.content for entry in memory.entries()] == ["the new one"]


def test_description_cannot_rename_the_entry(memory: Memory) -> None:
    memory.remember("Luna", "dog\nname: evil\n---\n", "Thursday")
    assert [(entry.name, entry.slug) for entry in memory.entries()] == [("Luna", "luna")]


def test_a_persons_file_keeps_its_name_and_every_other_byte(memory: Memory) -> None:
    file = memory.root / "memory/entries/My Own Name.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\xef\xbb\xbf---\r\n# mine\r\nrating: 5\r\nname: Luna  # the dog\r\n---\r\n\r\nold\r\n")
    memory.remember("luna", "which dog", "new")
    lines = ["---", "# mine", "rating: 5", "name: Luna  # the dog", "description: which dog", "---", "", "new", ""]
    assert file.read_bytes() == b"\xef\xbb\xbf" + "\r\n".join(lines).encode()
    assert len(memory.entries()) == 1


def test_a_page_is_the_entries_after_a_path_and_only_they_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(tmp_path) as memory:
        memory.remember_all(
            [Fact(f"Fact {number:03}", "of many", f"Number {number}.") for number in range(300)], "here"
        )
        memory.recall("number")
    parsed: list[str] = []

    def counted(path: str, data: bytes, version: str) -> Entry:
        parsed.append(path)
        return entry.parse_entry(path, data, version)

    monkeypatch.setattr(reader, "parse_entry", counted)
    with Memory(tmp_path) as memory:
        page = facts.page(memory, "memory/entries/fact-100.md", 20)
        assert parsed == [found.path for found in page]
        entries = memory.entries()
    assert page == entries[101:121]
    assert facts.page(memory, entries[-1].path, 20) == []


def test_forgotten_entry_stays_in_history(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    memory.forget("luna")
    assert memory.entries() == [] and not (memory.root / NOTE).exists()
    assert memory.get("luna", at="HEAD~1").content == "Thursday"


@pytest.mark.parametrize("name", ["", "  ", "\u200b", "a\nb", "a\0b", "\ud800", "x" * 501, "\x1b[31m"])
def test_name_that_cannot_be_one_is_refused_and_nothing_is_written(memory: Memory, name: str) -> None:
    with pytest.raises(InvalidArguments):
        memory.remember(name, "a", "b")
    assert not memory.root.exists()


def test_overview_keeps_the_line_ends_of_the_person(memory: Memory) -> None:
    memory.init()
    (memory.root / "memory").mkdir()
    (memory.root / "memory/MEMORY.md").write_bytes(b"\xef\xbb\xbf# One\r\n")
    memory.write_overview("# Two\nthree")
    assert (memory.root / "memory/MEMORY.md").read_bytes() == b"\xef\xbb\xbf# Two\r\nthree\r\n"


def test_identity_is_written_only_when_the_settings_allow(memory: Memory) -> None:
    memory.init()
    seeded = (memory.root / "Crab.md").read_bytes()
    with pytest.raises(Disabled, match="soul_editable"):
        memory.write_identity("# Mine now")
    assert ((memory.root / "Crab.md").read_bytes(), len(memory.log())) == (seeded, 1)
    (memory.root / "crabmem.toml").write_text("soul_editable = true\n")
    memory.write_identity("# Mine now")
    assert memory.identity().text == "# Mine now\n"


def test_identity_is_seeded_once_and_never_over_a_persons(memory: Memory, tmp_path: Path) -> None:
    memory.root.mkdir()
    (memory.root / "Crab.md").write_text("I am Ann's.\n")
    memory.init()
    assert (memory.root / "Crab.md").read_text() == "I am Ann's.\n"
    (memory.root / "Crab.md").unlink()
    memory.remember("Luna", "dog", "Thursday")
    assert not (memory.root / "Crab.md").exists()
    assert "assistant" in memory.identity().text


def test_reading_makes_nothing(memory: Memory) -> None:
    assert (len(memory.recall("anything")), memory.entries(), memory.log()) == (0, [], [])
    assert memory.prompt() and memory.before_turn("hello") == "" and memory.diff() == ""
    assert not memory.root.exists()


def test_reading_changes_neither_files_nor_history_nor_times(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    (memory.root / NOTE).write_text("---\nname: Luna\n---\n\nan edit nobody recorded yet\n")
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in memory.root.rglob("*") if file.is_file()}
    assert memory.recall("edit")[0].entry.name == "Luna"
    memory.before_turn("who recorded the edit?"), memory.prompt(), memory.diff(), memory.doctor(), memory.log()
    after = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in memory.root.rglob("*") if file.is_file()}
    after.pop(memory.root / ".git/crabmem/turns")  # that it was asked before a turn
    assert after == before
    memory.adopt()


def test_recall_limit_comes_from_the_settings_as_they_now_are(memory: Memory) -> None:
    for number in range(7):
        memory.remember(f"dog {number}", "a dog", "barks")
    assert len(memory.recall("dog")) == 5
    (memory.root / "crabmem.toml").write_text("recall_limit = 2\n")
    assert (len(memory.recall("dog")), len(memory.recall("dog", limit=7))) == (2, 7)
    memory.adopt()


def test_a_prompt_without_the_guide_names_no_tool_and_says_all_else(memory: Memory) -> None:
    memory.write_overview("Ada pays.")
    bare = memory.prompt(guide=False)
    assert memory.prompt().startswith(bare) and bare.endswith("<memory>\nAda pays.\n</memory>")


def test_rollback_brings_back_exact_bytes(memory: Memory) -> None:
    odd = b"\xef\xbb\xbf---\r\nname: odd\r\n---\r\nno newline at the end \xff"
    memory.init()
    (memory.root / "memory/entries").mkdir(parents=True)
    (memory.root / "memory/entries/odd.md").write_bytes(odd)
    memory.write_overview("# Then")
    then = memory.log(1)[0].commit
    (memory.root / "memory/entries/odd.md").write_bytes(b"changed")
    memory.write_overview("# Now")
    memory.remember("Later", "came later", "x")
    done = memory.rollback(then[:8])
    assert (memory.root / "memory/entries/odd.md").read_bytes() == odd
    assert memory.overview().text == "# Then\n"
    assert done.paths == ("memory/MEMORY.md", "memory/entries/later.md", "memory/entries/odd.md")
    assert git(memory.root, "diff", "--stat", then, "HEAD") == ""


def test_rollback_to_a_time_finds_what_was_current_then(tmp_path: Path, clock: Clock) -> None:
    with opened_with(tmp_path, Actor("coder"), clock) as memory:
        memory.remember("Luna", "dog", "March")
        clock.now = clock.now.replace(month=6)
        memory.remember("Luna", "dog", "June")
        memory.rollback("2026-05-01")
        assert memory.get("luna").content == "March"
        with pytest.raises(NotFound, match="begins after"):
            memory.rollback("2020-01-01")
        with pytest.raises(NotFound, match="no revision named"):
            memory.rollback("the day before yesterday's yesterday")


def test_rollback_records_a_pending_edit_before_it_goes_back(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    (memory.root / NOTE).write_text("an edit nobody recorded yet\n")
    memory.rollback("HEAD")
    assert memory.get("luna").content == "Thursday"
    assert "an edit nobody recorded yet" in git(memory.root, "log", "-p", "--format=%s")


def test_undo_takes_back_one_write_after_the_other_and_redo_brings_them_back(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    memory.forget("Luna")
    undone = memory.undo()
    assert undone.operation and (undone.operation.subject, undone.removed) == ("forget: Luna", ())
    assert memory.get("luna").content == "Thursday"
    assert memory.undo().removed == (NOTE,)
    assert memory.entries() == []
    with pytest.raises(InvalidArguments, match="nothing to undo"):
        memory.undo()
    assert memory.redo().removed == ()
    assert memory.get("luna").content == "Thursday"
    redone = memory.redo()
    assert redone.operation and (redone.operation.subject, memory.entries()) == ("forget: Luna", [])
    with pytest.raises(InvalidArguments, match="nothing to redo"):
        memory.redo()
    assert subjects(memory)[:4] == [
        "redo: forget Luna",
        "redo: remember Luna",
        "undo: remember Luna",
        "undo: forget Luna",
    ]


def test_undo_and_redo_go_to_and_fro_as_in_an_editor(memory: Memory) -> None:
    for day in ("Monday", "Tuesday", "Wednesday"):
        memory.remember("Luna", "dog", day)

    def after(steps: str) -> str:
        for step in steps:
            memory.undo() if step == "u" else memory.redo()
        return memory.get("luna").content

    assert [after("u"), after("r"), after("u"), after("u"), after("rr"), after("uu"), after("r")] == [
        "Tuesday", "Wednesday", "Tuesday", "Monday", "Wednesday", "Monday", "Tuesday",
    ]  # fmt: skip
    memory.remember("Luna", "dog", "Sunday")
    with pytest.raises(InvalidArguments, match="nothing to redo"):
        memory.redo()
    assert [after("u"), after("u"), after("rr")] == ["Tuesday", "Monday", "Sunday"]


@pytest.mark.parametrize("is_recorded", [False, True])
def test_an_edit_that_nobody_recorded_yet_is_the_newest_to_be_undone(memory: Memory, is_recorded: bool) -> None:
    memory.remember("Luna", "dog", "Thursday")
    memory.remember("Wifi", "guests", "On the router.")
    (memory.root / NOTE).write_text("edited\n")
    if is_recorded:
        memory.adopt()
    undone = memory.undo()
    assert undone.operation and undone.operation.subject == "edit: luna"
    assert memory.get("luna").content == "Thursday"
    assert memory.undo().removed == ("memory/entries/wifi.md",)


def test_files_that_a_person_just_added_are_undone_before_what_an_agent_wrote(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    names = sorted(f"memory/entries/{number}.md" for number in range(12))
    for name in names:
        (memory.root / name).write_text("A file of the person.\n")
    with pytest.raises(MassLoss):  # they were on the disk, and nowhere else
        memory.undo()
    assert all((memory.root / name).exists() for name in names)
    assert memory.undo(even_if_many=True).removed == tuple(names)
    assert memory.get("luna").content == "Thursday"
    memory.redo()
    assert all((memory.root / name).exists() for name in names)


def test_redo_does_not_go_back_behind_an_edit_that_nobody_recorded_yet(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    memory.remember("Wifi", "guests", "On the router.")
    memory.undo()
    (memory.root / NOTE).write_text("edited\n")
    with pytest.raises(InvalidArguments, match="nothing to redo"):
        memory.redo()
    assert subjects(memory)[0] == "edit: luna"


def committed(memory: Memory, *words: str) -> None:
    """A commit as the person makes it."""
    git(memory.root, *ANN, "commit", "-q", *words)


def test_undo_and_redo_pass_over_commits_that_hold_nothing_of_memory(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    (memory.root / "code.txt").write_text("x = 1\n")
    git(memory.root, "add", "code.txt")
    committed(memory, "-m", "code")
    committed(memory, "--allow-empty", "-m", "nothing")
    (memory.root / NOTE).chmod(0o755)
    git(memory.root, "-c", "core.filemode=true", "add", NOTE)
    committed(memory, "-m", "mode")
    undone = memory.undo()
    assert (undone.operation and undone.operation.subject, undone.removed) == ("remember: Luna", (NOTE,))
    (memory.root / "code.txt").write_text("x = 2\n")
    committed(memory, "-am", "more code")
    assert memory.redo().paths == (NOTE,)
    assert memory.get("luna").content == "Thursday"


def test_undo_in_a_clone_takes_back_what_was_done_before_it_and_not_its_own_beginning(tmp_path: Path) -> None:
    root = tmp_path / "clone"
    (root / NOTE).parent.mkdir(parents=True)
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    for day in ("Thursday", "Friday"):
        (root / NOTE).write_text(f"{day}\n")
        git(root, "add", NOTE)
        git(root, *ANN, "commit", "-qm", day)
    with Memory(root) as clone:
        undone = clone.undo()
        assert (undone.operation and undone.operation.subject, undone.paths) == ("Friday", (NOTE,))


def rebased(memory: Memory) -> None:
    """Give every commit another id, and let nothing of the old ones stay."""
    git(memory.root, *ANN, "rebase", "-q", "--force-rebase", "--root")
    git(memory.root, "reflog", "expire", "--expire=now", "--all")


def test_undo_and_redo_go_on_after_a_rebase_gave_all_commits_other_ids(memory: Memory) -> None:
    for day in ("Monday", "Tuesday", "Wednesday"):
        memory.remember("Luna", "dog", day)

    def after(steps: str) -> str:
        for step in steps:
            memory.undo() if step == "u" else memory.redo()
            rebased(memory)
        return memory.get("luna").content

    assert [after("u"), after("r"), after("u"), after("u"), after("rr"), after("uu"), after("r")] == [
        "Tuesday", "Wednesday", "Tuesday", "Monday", "Wednesday", "Monday", "Tuesday",
    ]  # fmt: skip


def test_undo_after_a_rebase_tells_commits_apart_that_did_the_same(memory: Memory) -> None:
    for day in ("Monday", "Tuesday", "Monday", "Tuesday", "Monday"):
        memory.remember("Luna", "dog", day)
    for day in ("Tuesday", "Monday", "Tuesday", "Monday"):
        undone = memory.undo()
        assert memory.get("luna").content == day
        rebased(memory)
    assert undone.operation and undone.operation.subject == "remember: Luna"
    assert memory.undo().removed == (NOTE,)


def test_an_undo_of_what_was_squashed_since_is_an_operation_of_its_own(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    memory.remember("Wifi", "guests", "On the router.")
    git(memory.root, "reset", "-q", "--soft", "HEAD~2")
    committed(memory, "-m", "both")
    head = git(memory.root, "rev-parse", "HEAD").strip()
    (memory.root / "memory/entries/wifi.md").unlink()
    message = "undo: remember Wifi\n\nTool: undo\nReverts: " + "b" * 40
    committed(memory, "-am", message)
    undone = memory.undo()
    assert undone.operation and undone.operation.subject == "undo: remember Wifi"
    assert git(memory.root, "diff", "--stat", head, "HEAD") == ""
    assert memory.undo(even_if_many=True).removed == (NOTE, "memory/entries/wifi.md")


def test_undo_goes_on_after_a_purge(memory: Memory) -> None:
    for day in ("Monday", "Tuesday", "Wednesday"):
        memory.remember("Luna", "dog", day)
    memory.undo()
    memory.purge(text="Wednesday")
    memory.undo()
    assert memory.get("luna").content == "Monday"


def test_undo_after_undo_of_a_merge_goes_on_in_the_branch_that_was_merged_into(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    git(memory.root, "checkout", "-qb", "side")
    memory.remember("Wifi", "guests", "On the router.")
    git(memory.root, "checkout", "-q", "main")
    memory.remember("Luna", "dog", "Friday")
    memory.remember("Tea", "what to drink", "Green.")
    git(memory.root, *ANN, "merge", "-q", "--no-edit", "side")
    told = []
    for _ in range(3):
        undone = memory.undo().operation
        told.append(undone.subject if undone else "")
    assert told == ["Merge branch 'side'", "remember: Tea", "remember: Luna"]
    assert [(entry.name, entry.content) for entry in memory.entries()] == [("Luna", "Thursday")]


def test_a_trailer_written_by_hand_stops_no_undo(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    (memory.root / NOTE).write_text("edited\n")
    message = f"undo: remember Luna\n\nTool: undo\nReverts: {'a' * 40}\n"
    git(memory.root, *ANN, "commit", "-qam", message)
    memory.undo()
    assert memory.get("luna").content == "Thursday"


def test_undo_refuses_to_take_back_what_is_not_as_it_was_and_was_not_recorded(memory: Memory) -> None:
    memory.remember_all([Fact(f"Fact {number}", "d", "x") for number in range(12)], "notes")
    for file in (memory.root / "memory/entries").iterdir():
        file.unlink()  # so many that it may be a mishap
    with pytest.raises(InvalidArguments, match="was changed since"):
        memory.undo()
    assert len(memory.restore().paths) == 12


def test_diff_shows_unrecorded_edits_or_what_lies_between_two_moments(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    memory.remember("Wifi", "guests", "router")
    (memory.root / NOTE).write_text("edited\n")
    assert "+edited\n" in memory.diff()
    between = memory.diff("HEAD~1", "HEAD")
    assert "b/memory/entries/wifi.md" in between and "luna" not in between
    assert "wifi" not in memory.diff("HEAD~1", name="Luna")
    memory.adopt()
    assert memory.diff() == ""


def test_agents_own_workspace_reads_what_it_lacks_from_the_parent(tmp_path: Path) -> None:
    with Memory(tmp_path) as parent, Memory(tmp_path / "agents/coder", agent="coder") as own:
        parent.write_overview("# Everybody's")
        own.remember("Mine", "only mine", "x")
        assert own.overview().text == "# Everybody's\n"
        assert own.identity().text == parent.identity().text and not (own.root / "Crab.md").exists()
        own.write_overview("# Mine")
        assert (own.overview().text, parent.overview().text) == ("# Mine\n", "# Everybody's\n")
        assert [entry.name for entry in parent.entries()] == []
    assert_clean(tmp_path)
    assert_clean(tmp_path / "agents/coder")


def test_threads_share_one_memory(memory: Memory) -> None:
    def write(number: int) -> None:
        for each in range(5):
            memory.remember(f"fact {number} {each}", "what", f"{number}")
            assert memory.recall(f"{number}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory.entries()) == 20


def test_file_in_place_of_a_folder_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidArguments, match="is a file; a workspace is a folder"):
        Memory(tmp_path / "file")
    (tmp_path / "memory").write_text("x")
    with Memory(tmp_path) as memory, pytest.raises(Unwritable):
        memory.remember("Luna", "dog", "Thursday")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_read_only_folder_can_be_read_and_says_why_it_cannot_be_written(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Luna", "dog", "Thursday")
        for file in [tmp_path, *tmp_path.rglob("*")]:
            file.chmod(0o500 if file.is_dir() else 0o400)
        with pytest.raises(Unwritable, match="permission"):
            memory.remember("Wifi", "guests", "router")
        assert memory.recall("dog")[0].entry.name == "Luna"


def test_words_of_an_editor_that_held_the_file_open_are_recorded(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    with (memory.root / NOTE).open("a") as still_open:
        memory.remember("Luna", "dog", "Friday")
        still_open.write("MY OWN WORDS")
    memory.remember("Wifi", "guests", "router")
    assert "MY OWN WORDS" in git(memory.root, "log", "-p")
    assert (memory.get("luna").content, memory.diff()) == ("Friday", "")
    assert [commit.author for commit in memory.log()] == ["coder", "crabmem", "person", "coder", "coder", "crabmem"]


def test_renamed_file_is_recorded_as_renamed(memory: Memory) -> None:
    memory.remember("Wifi", "guests", "router")
    (memory.root / "memory/entries/wifi.md").rename(memory.root / "memory/entries/net.md")
    edit = memory.adopt()
    assert edit and (edit.subject, edit.entries) == ("edit: Wifi", ("Wifi",))
    body = git(memory.root, "log", "-1", "--format=%b")
    assert body.startswith("renamed memory/entries/wifi.md to memory/entries/net.md\n")


def test_removed_file_is_recorded_under_the_name_it_had(memory: Memory) -> None:
    memory.remember("Luna's vet", "who", "Dr. Moreno")
    (memory.root / "memory/entries/luna-s-vet.md").unlink()
    edit = memory.adopt()
    assert edit and edit.subject == "edit: Luna's vet"


def test_log_of_a_forgotten_name_is_still_found(memory: Memory) -> None:
    memory.remember("Wifi", "guests", "router")
    (memory.root / "memory/entries/wifi.md").rename(memory.root / "memory/entries/net.md")
    memory.adopt()
    memory.forget("wifi")
    assert [commit.subject for commit in memory.log(name="wifi")] == ["forget: Wifi", "edit: Wifi", "remember: Wifi"]


def test_patch_shows_one_commit_and_of_it_one_entry(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    (memory.root / "memory/MEMORY.md").write_text("# Mine\n")
    (memory.root / NOTE).write_text("edited\n")
    edit = memory.adopt()
    assert edit and "+# Mine\n" in history.patch(memory, edit.commit)
    assert "+edited\n" in history.patch(memory, edit.commit, "luna") and "Mine" not in history.patch(
        memory, edit.commit, "luna"
    )
    assert "+++ b/Crab.md" in history.patch(memory, "HEAD~2")


def test_diff_since_before_the_beginning_is_everything(tmp_path: Path, clock: Clock) -> None:
    with opened_with(tmp_path, Actor(), clock) as memory:
        memory.remember("Luna", "dog", "Thursday")
        assert "+Thursday\n" in memory.diff("2 years ago")


@pytest.mark.parametrize("labels", ["aliases", "tags"])
def test_text_given_as_a_list_is_refused_not_spelled_out(memory: Memory, labels: str) -> None:
    with pytest.raises(InvalidArguments, match="are lists of texts"):
        memory.remember("Luna", "dog", "Thursday", **{labels: "pets"})
    with pytest.raises(InvalidArguments, match="are lists of texts"):
        memory.recall("dog", tags="pets")


def test_refused_write_makes_no_workspace(memory: Memory) -> None:
    with pytest.raises(Stale, match="is not there"):
        memory.remember("Luna", "dog", "Thursday", if_version="0123")
    with pytest.raises(NotFound):
        memory.forget("Luna")
    assert not memory.root.exists()


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "~nobody-of-that-name/x"])
def test_folder_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(InvalidArguments):
        Memory(name)


def test_agent_of_any_name_can_write(tmp_path: Path) -> None:
    for agent in ("x\ud800", "a\nb", "<>", "日本"):
        with Memory(tmp_path).for_actor(agent, "s\ud800\n") as memory:
            memory.remember("Luna", "dog", agent.encode("utf-8", "replace").decode())
    assert_clean(tmp_path)


def test_folder_around_that_is_no_memory_is_no_parent(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/MEMORY.md").write_text("a stranger's\n")
    (tmp_path / "Crab.md").write_text("a stranger\n")
    with Memory(tmp_path / "agents/coder") as memory:
        assert "stranger" not in memory.prompt()
        memory.remember("Luna", "dog", "Thursday")
        assert (memory.root / "Crab.md").is_file()


def test_recall_goes_on_when_a_crash_and_a_broken_repository_meet(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    (memory.root / ".git/crabmem/journal").write_text("x")
    for file in (memory.root / ".git/objects").rglob("*"):
        if file.is_file():
            file.unlink()
    with Memory(memory.root) as again:
        assert again.recall("dog")[0].entry.name == "Luna"
    for file in sorted((memory.root / ".git").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    (memory.root / ".git").rmdir()


def test_mark_of_a_gc_long_gone_does_not_hold_up_a_write(memory: Memory) -> None:
    memory.remember("Luna", "dog", "Thursday")
    mark = memory.root / ".git/gc.pid"
    mark.write_text("4242 another-host")
    os.utime(mark, (1_000_000, 1_000_000))
    began = time.monotonic()
    memory.remember("Luna", "dog", "Friday")
    assert time.monotonic() - began < 3 and not mark.exists()


def test_another_language_in_the_settings_is_searched_by_at_once(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Hund", "wer mit dem Hund geht", "Der Hund liebt die Kinder.")
        assert not len(memory.recall("Kindes"))
        (tmp_path / "crabmem.toml").write_text('language = "german"\n')
        assert len(memory.recall("Kindes")) == 1
        (tmp_path / "crabmem.toml").write_text('language = "none"\n')
        assert not len(memory.recall("Kindes"))
    with Memory(tmp_path) as later:
        (tmp_path / "crabmem.toml").write_text('language = "german"\n')
        assert len(later.recall("Kindes")) == 1


def test_a_note_is_added_to_that_of_the_day_under_the_time(tmp_path: Path, clock: Clock) -> None:
    with opened_with(tmp_path, Actor("coder"), clock) as memory:
        first, second = memory.write_note("Asked about tea."), memory.write_note("Asked about coffee.")
        text = memory.file("memory/2026-03-01.md").read_text()
        assert text.split("## ")[0] == "# 2026-03-01\n\n"
        assert [part[5:] for part in text.split("## ")[1:]] == ["\n\nAsked about tea.\n\n", "\n\nAsked about coffee.\n"]
        assert (first.path, first.created, second.created) == ("memory/2026-03-01.md", True, False)
        assert memory.log(1)[0].subject == "note: 2026-03-01.md" and memory.entries() == []
        with pytest.raises(InvalidArguments, match="NUL"):
            memory.write_note("\0")


def test_what_holds_a_memory_can_be_copied_deep_and_the_copy_writes_to_the_same(tmp_path: Path, clock: Clock) -> None:
    with opened_with(tmp_path, Actor("coder"), clock) as memory:
        copied = deepcopy({"memory": memory})["memory"]
        copied.remember("Tea", "what to drink", "Green.")
        assert memory.get("tea").content == "Green." and memory.log(1)[0].agent == "coder"
