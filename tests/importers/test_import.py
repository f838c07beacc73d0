"""`crabmem import` and `Memory.remember_all`: many facts, one commit, nothing passed over in silence."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import Result
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import Fact, HoldsSecret, InvalidArguments, Memory, Saved
from crabmem.disk import fs
from crabmem.importers.base import Tree
from crabmem.importers.facts import prepare
from crabmem.importers.recognition import source_called
from crabmem.importers.texts import fact_of, summary
from tests import forked
from tests.cli.test_finding import on_terminal
from tests.conftest import assert_clean, git, typed
from tests.examples import examples
from tests.importers.conftest import Import
from tests.pace import costing_less_than

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder to import, with a file of each kind."""
    texts = {
        "vet.md": "---\nname: Luna's vet\ndescription: who looks after the dog\ntags: [pets]\n---\n\nDr. Moreno.\n",
        "home/wifi.md": "# The network\n\nNamed Pinguin. The key is on the router.\n",
        "plain.txt": "# no heading\njust text",
        "picture.png": "",
        ".hidden/notes.md": "nobody's",
    }
    for path, text in texts.items():
        (tmp_path / "old notes" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "old notes" / path).write_text(text)
    return tmp_path / "old notes"


def opened(tmp_path: Path) -> Memory:
    """The memory that `imported` writes to."""
    return Memory(tmp_path / "memory")


#: What is passed over of `folder`, in lines of the terminal.
PASSED_OVER = (
    "skipped    picture.png: it is neither Markdown nor text\nskipped    .hidden: its name begins with a dot\n"
)


def states(result: Result) -> dict[str, str]:
    """What became of each file of `folder` that is no picture and has no dot, from `--json`."""
    data: dict[str, Any] = json.loads(result.stdout)
    return {each["file"]: each["state"] for each in data["files"] if each["file"] not in ("picture.png", ".hidden")}


def test_an_import_is_one_commit_of_facts_as_their_files_tell_them(imported: Import, folder: Path) -> None:
    result = imported(folder)
    assert (result.exit_code, result.stderr.splitlines()[0]) == (0, "3 made, 2 skipped")
    assert result.stdout == (
        "made       home/wifi.md: The network\nmade       plain.txt: plain\nmade       vet.md: Luna's vet\n"
        + PASSED_OVER
    )
    root = folder.parent / "memory"
    with opened(folder.parent) as memory:
        facts = {entry.name: (entry.description, entry.content, entry.tags) for entry in memory.entries()}
        assert [commit.subject for commit in memory.log()] == ["import: 3 facts from old notes", "init: a new memory"]
    assert facts == {
        "The network": ("Named Pinguin.", "Named Pinguin. The key is on the router.", ()),
        "plain": ("just text", "# no heading\njust text", ()),
        "Luna's vet": ("who looks after the dog", "Dr. Moreno.", ("pets",)),
    }
    assert_clean(root)


def test_importing_twice_makes_no_second_commit(imported: Import, folder: Path) -> None:
    imported(folder)
    head = git(folder.parent / "memory", "rev-parse", "HEAD")
    again = imported(folder)
    assert (again.exit_code, again.stderr) == (0, "3 unchanged, 2 skipped\n")
    assert git(folder.parent / "memory", "rev-parse", "HEAD") == head


def test_what_is_there_and_says_something_else_stays(imported: Import, folder: Path) -> None:
    imported(folder)
    head = git(folder.parent / "memory", "rev-parse", "HEAD")
    (folder / "plain.txt").write_text("other text")
    result = imported(folder)
    assert (result.exit_code, git(folder.parent / "memory", "rev-parse", "HEAD")) == (0, head)
    assert "skipped    plain.txt: another fact of that name is there: memory/entries/plain.md\n" in result.stdout
    assert result.stderr == (
        "2 unchanged, 3 skipped\nwhat is there and says something else stays; --replace takes these, too\n"
    )
    with opened(folder.parent) as memory:
        assert "other" not in memory.get("plain").content


def test_only_what_changed_is_replaced_and_told(imported: Import, folder: Path) -> None:
    imported(folder)
    (folder / "plain.txt").write_text("other text")
    result = imported(folder, "--json", "--replace")
    assert states(result) == {"home/wifi.md": "unchanged", "plain.txt": "replaced", "vet.md": "unchanged"}
    assert "+other text" in json.loads(result.stdout)["files"][1]["diff"]
    with opened(folder.parent) as memory:
        assert memory.log(1)[0].subject == "import: 1 fact from old notes"
        assert memory.log(1)[0].paths == ("memory/entries/plain.md",)


def test_tags_are_added_to_those_of_the_file(imported: Import, folder: Path) -> None:
    imported(folder, "-t", "old", "-t", "pets")
    with opened(folder.parent) as memory:
        assert {entry.slug: entry.tags for entry in memory.entries()} == {
            "the-network": ("old", "pets"),
            "plain": ("old", "pets"),
            "luna-s-vet": ("pets", "old"),
        }


def test_what_cannot_be_taken_is_named_and_stops_nothing_else(imported: Import, folder: Path) -> None:
    (folder / "token.md").write_text(f"The key is {TOKEN}.")
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    (folder / "empty.md").write_text("")
    (folder / "long.md").write_text("a" * 300_000)
    (folder / "huge.md").write_bytes(b"a" * 6_000_000)
    (folder / "link.md").symlink_to("/etc/hostname")
    (folder / "out").symlink_to("/etc")
    os.mkfifo(folder / "pipe.md")
    result = imported(folder, "--json")
    files = {item["file"]: item.get("reason") for item in json.loads(result.stdout)["files"]}
    assert result.exit_code == 0
    assert result.stderr.startswith(f"crabmem: warning: 7 of 13 files in {folder} could not be taken\n")
    reasons = {path: reason for path, reason in files.items() if reason}
    expected = {
        "empty.md": "it is empty",
        "huge.md": "larger than",
        "latin.txt": "it is not UTF-8",
        "link.md": "it is a link",
        "long.md": "at most 262144",
        "out": "it is a link",
        "picture.png": "neither Markdown nor text",
        ".hidden": "with a dot",
        "pipe.md": "not a regular file",
        "token.md": "GitHub token (ghp_…)",
    }
    assert {path: words in reasons[path] for path, words in expected.items()} == dict.fromkeys(reasons, True)
    assert TOKEN not in result.output


def test_files_of_one_name_become_facts_told_apart(imported: Import, folder: Path) -> None:
    for place in ("home", "office"):
        (folder / place).mkdir(exist_ok=True)
        (folder / place / "notes.md").write_text(f"# Notes\n\nOf the {place}.")
    imported(folder)
    assert states(imported(folder, "--json")) == dict.fromkeys(
        ["home/notes.md", "home/wifi.md", "office/notes.md", "plain.txt", "vet.md"], "unchanged"
    )
    with opened(folder.parent) as memory:
        assert memory.get("Notes (home/notes)").content.endswith("Of the home.")
        assert memory.get("notes (office/notes)").content.endswith("Of the office.")


def test_names_of_one_slug_get_files_of_their_own(tmp_path: Path) -> None:
    facts = [Fact(name, "d", name) for name in ("a b", "a-b", "a_b")]
    with opened(tmp_path) as memory:
        memory.remember_all(facts, "tests")
        assert {entry.name: entry.content for entry in memory.entries()} == {"a b": "a b", "a-b": "a-b", "a_b": "a_b"}


def test_remember_all_answers_for_each_fact_in_order(tmp_path: Path) -> None:
    facts = [Fact("A", "d", "a"), Fact("", "d", "c"), Fact("a", "d", "again"), Fact("Key", "d", TOKEN)]
    with opened(tmp_path) as memory:
        memory.remember("B", "d", "b")
        done = memory.remember_all([*facts, Fact("B", "d", "b"), Fact("b2", "d", "b2")], "tests")
        kinds = [type(item) for item in done]
        assert kinds == [Saved, InvalidArguments, InvalidArguments, HoldsSecret, Saved, Saved]
        commits = [item.commit for item in done if isinstance(item, Saved)]
        assert commits == [(head := memory.log(1)[0].commit), None, head]


def test_edit_of_the_person_is_recorded_before_an_import_replaces_it(imported: Import, folder: Path) -> None:
    imported(folder)
    root = folder.parent / "memory"
    (root / "memory" / "entries" / "plain.md").write_text("---\nname: plain\n---\n\nmine\n")
    imported(folder, "--replace")
    assert "mine" in git(root, "show", "HEAD~1:memory/entries/plain.md")
    assert git(root, "log", "-2", "--format=%s").splitlines() == ["import: 1 fact from old notes", "edit: plain"]


def test_the_workspace_itself_is_not_imported(imported: Import, folder: Path) -> None:
    imported(folder)
    result = imported(folder.parent / "memory")
    assert (result.exit_code, "is in this memory already" in result.stderr) == (2, True)
    beside = imported(folder.parent, "--json")
    assert {item["file"]: item.get("reason") for item in json.loads(beside.stdout)["files"]}["memory"] == (
        "it is this memory itself"
    )


def test_nothing_in_the_folder_is_changed(imported: Import, folder: Path) -> None:
    def seen() -> dict[Path, tuple[int, int]]:
        return {file: (file.stat().st_mtime_ns, file.stat().st_size) for file in sorted(folder.rglob("*"))}

    before = seen()
    imported(folder)
    assert seen() == before


def test_names_that_are_no_text_stop_nothing(imported: Import, folder: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(folder) + b"\n\xff"))
    folder.rename(odd)
    (odd / os.fsdecode(b"caf\xe9.txt")).write_text("no name for this one")
    (odd / "two\nlines.md").write_text("named like two lines")
    result = imported(odd, "--json")
    assert sorted(states(result).values()) == ["failed"] * 2 + ["made"] * 3
    assert (result.exit_code, len(result.stderr.splitlines())) == (0, 2)  # and that a memory was begun
    assert imported(odd).stdout.replace(PASSED_OVER, "").count("\n") == 5
    with opened(folder.parent) as memory:
        assert memory.log(1)[0].subject == "import: 3 facts from old notes"


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_path_or_name_as_of_a_variable_that_is_not_set_imports_nothing(
    imported: Import, folder: Path, monkeypatch: pytest.MonkeyPatch, empty: str
) -> None:
    monkeypatch.chdir(folder)
    for words, told in (([empty], "'DIR|FILE|-': it is empty; "), ([".", "--only", empty], "'--only': it is empty; ")):
        result = imported(*words)
        assert (result.exit_code, result.stdout, told in result.stderr) == (2, "", True)
    assert not (folder.parent / "memory").exists()
    assert imported(".").exit_code == 0


def test_the_exit_status_is_1_when_nothing_could_be_taken_and_0_when_it_is_there_already(
    imported: Import, folder: Path
) -> None:
    for words, told in (
        ((folder, "--only", "zzz"), f"no fact in {folder} has zzz in its name"),
        ((folder, "--only", "zzz", "--only", "12", "--dry-run"), f"no fact in {folder} has zzz or 12 in its name"),
        (("-",), "nothing in standard input could be taken"),
    ):
        result = imported(*words)
        assert (result.exit_code, told in " ".join(result.stderr.split())) == (1, True)
        assert imported(*words, "--json").exit_code == 1
    assert imported(folder, "--only", "network", "--only", "zzz").exit_code == 0
    assert imported(folder, "--only", "network").exit_code == 0
    assert imported(folder, "--sections", "overview").exit_code == 0
    (folder / "vet.md").write_text("# Luna's vet\n\nAnother one.")
    assert imported(folder / "vet.md").exit_code == 0
    assert imported(folder).exit_code == 0


def test_folder_without_texts_is_an_error_of_one_line(imported: Import, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    result = imported(tmp_path / "nothing")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"crabmem: there is no Markdown or text file in {tmp_path / 'nothing'}\n"


def test_folder_without_what_was_named_is_not_said_to_be_without_texts(imported: Import, folder: Path) -> None:
    result = imported(folder, "--from", "mem0")
    assert (result.exit_code, result.stderr) == (1, f"crabmem: there is nothing of mem0 in {folder}\n")


def test_what_is_no_file_of_a_folder_is_not_called_one(imported: Import, tmp_path: Path) -> None:
    (tmp_path / "mem0.json").write_text('[{"memory": "Likes tea."}, {"memory": ""}]')
    result = imported(tmp_path / "mem0.json", "--from", "mem0", "--json")
    assert f"1 of 2 things in {tmp_path / 'mem0.json'} could not be taken\n" in result.stderr
    empty = imported("-", "--from", "mem0", stdin="[{}]").stderr
    assert empty.endswith("crabmem: 1 of 1 things in standard input could not be taken\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Dr. Moreno, every Friday. Bring Luna.", "Dr. Moreno, every Friday."),
        ("Near St. Gallen. North.", "Near St. Gallen."),
        ("In the vault. Under ops.", "In the vault."),
        ("Why? Because.", "Why?"),
        ("Dr.", "Dr."),
    ],
)
def test_a_description_does_not_end_at_a_title(text: str, said: str) -> None:
    assert summary(text) == said


@pytest.mark.parametrize(
    "run",
    [" ", "#", "`", "- ", "1) ", ". ", "> ", "\n\n", "~~~\n", "_", "*", "[", "](", "[[", "<!--", "-|", "|", "=", "-\n"],
)
def test_long_runs_of_marks_are_read_in_time(run: str) -> None:
    with costing_less_than(5):
        fact_of("a.md", f"# a{run * 100_000}x\n\n{run * 100_000}x".encode())
        fact_of("a.md", f"# {run * 100_000}".encode())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Costs\n\n| item | EUR |\n|---|---|\n| rent | 900 |\n\nPaid on the first. Late.", "Paid on the first."),
        ("item | EUR\n--- | ---\nrent | 900\n", ""),
        ("# Brewing\n\n## Observations\n- [method] Pour over is clearest #taste", "Pour over is clearest #taste"),
        ("- [ ] call the vet\n- [x] pay", "call the vet"),
        ("- an item\n\nThe prose below it. More.", "The prose below it."),
        ("Brewing\n=======\n\nWith **care** and [water](http://w.org), see [[Grinding|the mill]].",
         "With care and water, see the mill."),
        ("![[cup.png]]\n\n<!-- a note\nto me -->\n> [!tip]\n> Warm the *cup* first.", "Warm the cup first."),
        ("Call `make` in snake_case and __init__.", "Call `make` in snake_case and __init__."),
    ],
)  # fmt: skip
def test_a_description_is_a_sentence_without_the_marks_of_markdown(text: str, said: str) -> None:
    assert summary(text) == said


def test_a_heading_that_is_the_name_is_said_once(imported: Import, folder: Path) -> None:
    (folder / "only.md").write_text("# Only a heading\n")
    imported(folder)
    with opened(folder.parent) as memory:
        assert memory.get("The network").content == "Named Pinguin. The key is on the router."
        assert memory.get("Only a heading").content == "# Only a heading"
    found = typed("--dir", folder.parent / "memory", "recall", "network").stdout
    assert found.lower().count("the network") == 1


def test_every_other_key_of_a_file_stays_as_it_is(imported: Import, folder: Path) -> None:
    (folder / "film.md").write_text(
        "---\ntitle: Paterson\nrating: 5\ncreated: 2026-03-04\nseen: [home, 2026-01-02]\n"
        "by: {name: Jim, born: 1953}\nalias: P\nempty:\n---\n\nA bus driver.\n"
    )
    imported(folder)
    with opened(folder.parent) as memory:
        entry = memory.get("Paterson")
        kept = {key: value for key, value in entry.keys.items() if key != "imported-from"}
        assert (kept, entry.aliases) == (
            {"title": "Paterson", "rating": "5", "created": "2026-03-04", "seen": ["home", "2026-01-02"],
             "by": {"name": "Jim", "born": "1953"}, "alias": "P", "empty": ""},
            ("P",),
        )  # fmt: skip


HEADER = (
    "---\ntitle: T\nrating: 5\ndone: false # not yet\ndue: 2026-01-02\n# keep me\nby: {x: [1, 2]}\n"
    "seen:\n  - 1953 # the first\n  - no\ntag: '#film'\n"
)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_frontmatter_of_a_file_goes_over_byte_for_byte(imported: Import, folder: Path, newline: str) -> None:
    (folder / "t.md").write_bytes(f"{HEADER}---\nx y z\n".replace("\n", newline).encode())
    imported(folder)
    text = (folder.parent / "memory/memory/entries/t.md").read_bytes().decode()
    origin = f"imported-from: {folder}/t.md\n"
    ours = f"name: T\ndescription: x y z\n{origin}---\n\nx y z\n"
    assert text == (HEADER + ours).replace("\n", newline)


def test_a_value_that_changed_in_a_file_is_replaced_as_it_stands_there(imported: Import, folder: Path) -> None:
    (folder / "t.md").write_text(f"{HEADER}---\nx y z\n")
    imported(folder)
    entry = folder.parent / "memory/memory/entries/t.md"
    entry.write_text(entry.read_text().replace("name: T", "mine: 1 # my own\nname: T"))
    before = entry.read_text()
    assert states(imported(folder, "--json"))["t.md"] == "unchanged"
    changed = (("rating: 5", "rating: 6"), ("{x: [1, 2]}", "{x: [1, 3]}"), ("  - no", "  - yes\n  - 0"))
    after = HEADER
    for old, new in changed:
        after, before = after.replace(old, new), before.replace(old, new)
    (folder / "t.md").write_text(f"{after}---\nx y z\n")
    assert states(imported(folder, "--json", "--replace"))["t.md"] == "replaced"
    assert entry.read_text() == before


def test_the_path_of_a_file_is_what_it_is_known_by_as_the_help_says(imported: Import, folder: Path) -> None:
    imported(folder)
    with opened(folder.parent) as memory:
        memory.forget("Luna's vet")
    (folder / "plain.txt").rename(folder / "fancy.txt")
    (folder / "home").rename(folder / "house")
    assert states(imported(folder, "--json")) == {"fancy.txt": "made", "house/wifi.md": "unchanged", "vet.md": "made"}
    told = " ".join(imported("--help").stdout.split())
    assert "renamed or moved is a new one, and its fact a second one unless name and text are the same" in told
    assert "a fact that you forgot is made again while its file is there" in told


@pytest.mark.parametrize(("line", "secret"), [(f"# {TOKEN}", TOKEN), ("password: hunter2xyz9", "hunter2")])
def test_a_credential_in_a_frontmatter_is_refused(imported: Import, folder: Path, line: str, secret: str) -> None:
    (folder / "mail.md").write_text(f"---\nto: Ann\n{line}\n---\n\nMail.\n")
    result = imported(folder)
    assert (result.exit_code, "what looks like a secret" in result.stdout, secret in result.output) == (0, True, False)


def test_a_frontmatter_that_leaves_no_room_for_what_is_added_is_refused_alone(imported: Import, folder: Path) -> None:
    (folder / "long.md").write_text(f"---\n# {'x' * 16_370}\n---\n\nLong.\n")
    result = imported(folder, "--json")
    assert (result.exit_code, states(result)["long.md"], states(result)["vet.md"]) == (0, "failed", "made")


def test_a_frontmatter_that_only_people_read_is_kept_in_quotes(imported: Import, folder: Path) -> None:
    (folder / "q.md").write_text("---\nnote: vet: looks after the dog\nrating: 5\n---\n\nText.\n")
    imported(folder)
    text = (folder.parent / "memory/memory/entries/q.md").read_text()
    assert text.startswith("---\nnote: 'vet: looks after the dog'\nrating: 5\nname: q\n")


def test_a_title_is_the_name_before_the_first_heading(imported: Import, folder: Path) -> None:
    (folder / "lunch.md").write_text("---\ntitle: Team lunch\n---\n\n# Minutes\n\nWe like pizza.\n")
    imported(folder)
    with opened(folder.parent) as memory:
        assert memory.get("Team lunch").content == "# Minutes\n\nWe like pizza."


def test_a_newcomer_of_the_same_heading_makes_no_second_fact_of_an_older_file(imported: Import, folder: Path) -> None:
    (folder / "home" / "x.md").write_text("# Minutes\n\nPizza.")
    imported(folder)
    (folder / "work").mkdir()
    (folder / "work" / "y.md").write_text("# Minutes\n\nBudget.")
    assert states(imported(folder, "--json"))["home/x.md"] == "unchanged"
    with opened(folder.parent) as memory:
        found = {entry.name: entry.content for entry in memory.entries() if entry.name.startswith("Minutes")}
        assert found == {"Minutes": "Pizza.", "Minutes (work/y)": "Budget."}
        memory.rename("Minutes", "Lunch")
    (folder / "home" / "x.md").write_text("# Minutes\n\nPasta.")
    assert states(imported(folder, "--replace", "--json"))["home/x.md"] == "replaced"
    with opened(folder.parent) as memory:
        assert memory.get("Lunch").content == "Pasta."


HEADERS = ["", *(f"---\n{key}: {name}\n---\n" for key in ("title", "name") for name in ("Minutes", "Lunch", "minutes"))]
NOTES = st.dictionaries(
    st.sampled_from(["a.md", "b.md", "x/a.md", "x/b.md", "y/a.md", "Minutes.md"]),
    st.tuples(st.sampled_from(HEADERS), st.sampled_from(["", "# Minutes\n", "# a\n"])).map("".join),
    min_size=1,
    max_size=5,
)


@settings(max_examples=examples(40))
@given(st.lists(NOTES, min_size=2, max_size=4), st.lists(st.sampled_from(["", "~/q"]), min_size=4, max_size=4))
def test_each_file_has_one_entry_however_often_it_is_imported(folders: list[Any], places: list[str]) -> None:
    """Files come, go and change between imports of two folders; each has the entry that says what it said last."""
    with TemporaryDirectory() as scratch, Memory(scratch) as memory:
        said: dict[str, str] = {}
        for step, (notes, place) in enumerate(zip(folders, places, strict=False)):
            here = place or "~/p"
            words = {path: f"Words of {path} at {step}." for path in notes}
            texts = {path: f"{head}\n{words[path]}\n".encode() for path, head in notes.items()}
            tree = Tree(("p",), dict.fromkeys(sorted(notes)), texts.__getitem__)
            found = prepare(source_called("folder").facts(tree), [], here)
            done = memory.remember_all([item.what for item in found if isinstance(item.what, Fact)], "p")
            assert all(isinstance(item, Saved) for item in done), done
            said |= {f"{here}/{path}": words[path] for path in notes}
            now = [(entry.origin, entry.content.splitlines()[-1]) for entry in memory.entries()]
            assert sorted(now) == sorted(said.items())


def test_a_second_import_of_older_facts_claims_nothing(imported: Import, folder: Path) -> None:
    """What was imported before its origin was noted is the same fact, and not another of the same name."""
    imported(folder)
    place = folder.parent / "memory" / "memory" / "entries" / "plain.md"
    place.write_text("".join(line for line in place.read_text().splitlines(True) if "imported-from" not in line))
    assert states(imported(folder, "--json"))["plain.txt"] == "unchanged"
    assert "imported-from" not in place.read_text()


def test_a_copy_of_a_folder_makes_no_second_facts(imported: Import, folder: Path) -> None:
    imported(folder)
    shutil.copytree(folder, folder.parent / "copy")
    assert set(states(imported(folder.parent / "copy", "--json", "--replace")).values()) == {"unchanged"}
    (folder.parent / "copy" / "plain.txt").write_text("other text")
    assert states(imported(folder.parent / "copy", "--json"))["plain.txt"] == "made"
    with opened(folder.parent) as memory:
        assert memory.get("plain").content == "# no heading\njust text"
        assert memory.get("plain (plain)").content == "other text"


def others_write_during(work: Callable[[], object], root: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often another process wrote, waiting one second for the lock, while `work` ran on a slow disk.

    To sync 80 files of an import and their objects takes this disk three seconds, which nobody would wait.
    """
    (root / "crabmem.toml").write_text("lock_timeout = 1\n")

    def slow(operation: str, path: str) -> None:
        if operation == "fsync" and threading.current_thread() is worker:
            time.sleep(0.02)

    worker, written = threading.Thread(target=work), 0
    monkeypatch.setattr(fs, "before", slow)
    worker.start()
    while worker.is_alive():
        command = [*forked.COMMAND, "--dir", str(root), "remember", f"Other {written}", "-d", "d"]
        result = subprocess.run([*command, "-c", "x"], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        written += 1
    worker.join()
    assert not list((root / ".git" / "crabmem" / "tmp").iterdir())
    assert_clean(root)
    return written


def test_others_write_while_many_facts_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as memory:
        memory.remember("First", "d", "x")
    facts, done = [Fact(f"Fact {number}", "d", f"Text {number}.") for number in range(80)], list[object]()

    def work() -> None:
        with opened(tmp_path) as memory:
            done.extend(memory.remember_all(facts, "notes"))

    written = others_write_during(work, tmp_path / "memory", monkeypatch)
    with opened(tmp_path) as memory:
        assert written > 1 and len(done) == 80 and len(memory.entries()) == 81 + written
        imports = [commit for commit in memory.log(limit=None) if commit.tool == "import"]
        assert [len(commit.paths) for commit in imports] == [80]


def test_others_write_while_many_files_are_adopted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as memory:
        memory.remember("First", "d", "x")
    for number in range(80):
        (tmp_path / "memory" / "memory" / "entries" / f"{number}.md").write_text(f"Text {number}.\n")
    told: list[tuple[int, int]] = []

    def work() -> None:
        with opened(tmp_path) as memory:
            memory.adopt(progress=lambda done, total: told.append((done, total)))

    written = others_write_during(work, tmp_path / "memory", monkeypatch)
    with opened(tmp_path) as memory:
        assert written and len(memory.entries()) == 81 + written
    assert told and told[-1] == (81, 81)  # with the settings


def test_an_import_tells_how_far_it_is_to_the_end(tmp_path: Path) -> None:
    facts = [Fact(f"Fact {number}", "d", "x") for number in range(120)]
    told: list[tuple[int, int]] = []
    with opened(tmp_path) as memory:
        memory.remember_all(facts, "notes", progress=lambda done, total: told.append((done, total)))
        assert told == sorted(told) and len(told) > 8 and told[-1] == (480, 480)
        told.clear()
        memory.remember_all(facts, "notes", dry_run=True, progress=lambda done, total: told.append((done, total)))
        assert told == sorted(told) and told[-1] == (240, 240)


def test_what_an_import_that_was_killed_put_ready_is_cleared_away(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    with opened(tmp_path) as memory:
        memory.remember("First", "d", "x")
        temporary = tmp_path / "memory" / ".git" / "crabmem" / "tmp"
        (temporary / f"ahead-{ended.stdout.strip()}-00").write_text("of nobody any more")
        (temporary / f"ahead-{os.getpid()}-00").write_text("of this process")
        memory.remember("Second", "d", "x")
        assert [file.name for file in temporary.iterdir()] == [f"ahead-{os.getpid()}-00"]
        assert memory.doctor() == []


def test_a_bar_of_reading_and_one_of_writing_are_shown_on_a_terminal(folder: Path) -> None:
    shown = on_terminal("--dir", str(folder.parent / "memory"), "import", str(folder))
    assert "reading" in shown and "writing" in shown and shown.count("100%") >= 2


def test_quiet_names_only_what_was_not_taken(imported: Import, folder: Path) -> None:
    (folder / "empty.md").write_text("")
    result = imported(folder, "--quiet")
    assert (result.stdout, result.stderr) == (f"skipped    empty.md: it is empty\n{PASSED_OVER}", "")
    assert imported(folder, "-q").stdout == f"skipped    empty.md: it is empty\n{PASSED_OVER}"


def test_a_dry_run_says_what_would_be_made(imported: Import, folder: Path) -> None:
    result = imported(folder, "--dry-run")
    assert result.stdout.splitlines()[0] == "would make     home/wifi.md: The network"
    assert result.stderr.splitlines()[0] == "would make 3, 2 skipped; nothing was written"


@pytest.mark.parametrize("verb", ["import", "adopt"])
def test_a_folder_that_is_not_there_is_an_error_of_one_line(tmp_path: Path, verb: str) -> None:
    options = ["--dir", str(tmp_path / "memory")] if verb == "import" else []
    result = typed(*options, verb, str(tmp_path / "nothing"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("crabmem: there is no ") and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("path", "text", "name", "description"),
    [
        ("a.md", "# Title #\n\nFirst. Second.", "Title", "First."),
        ("a.md", "no heading\nat all", "a", "no heading at all"),
        ("a.md", "```\n# code\n```\n\n## Real\n\n- item one\n- item two", "Real", "item one"),
        ("a.md", "- how\n  ```\n# code\n  ```\n\n# Title\n\nWords.", "Title", "Words."),
        ("a.md", "```\n$ a\n```sh\n# code\n```\n\n# Title\n\nWords.", "Title", "Words."),
        ("a.md", "# C#\n\nWords.", "C#", "Words."),
        ("a.md", "# Only a title", "Only a title", "Only a title"),
        ("a.md", "---\nname: a\n---\n\n# Not this\n\n> quoted\n> twice", "a", "quoted twice"),
        ("a.md", "---\ndescription: said\nname: b\n---\n\ntext", "b", "said"),
        ("a.md", "---\nbroken: [\n---\n\n# Title\n", "Title", "Title"),
        ("b/a.txt", "# a comment\r\n\r\nwords", "a", "words"),
        ("a.md", "# " + "long " * 60, ("long " * 24).rstrip()[:119].rstrip() + "…", None),
    ],
)
def test_fact_is_what_the_file_says(path: str, text: str, name: str, description: str | None) -> None:
    fact = fact_of(path, text.encode())
    assert fact.name == name
    assert description is None or fact.description == description


def test_folders_of_notes_stay_folders_and_a_second_import_finds_what_was_moved(imported: Import, folder: Path) -> None:
    for path in ("Sub Folder/Déjà vu/cellar.md", "Sub Folder/attic.md", "attic.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"It is about {path.removesuffix('.md')}.\n")
    imported(folder)
    entries = folder.parent / "memory/memory/entries"
    assert (entries / "Sub Folder/Déjà vu/cellar.md").is_file() and (entries / "home/the-network.md").is_file()
    assert {file.parent.name for file in entries.rglob("*attic*.md")} == {"entries", "Sub Folder"}
    (entries / "Sub Folder/Déjà vu/cellar.md").rename(entries / "cellar.md")
    assert set(states(imported(folder, "--json")).values()) == {"unchanged"}


RULES = "# Shop\n\nUse pnpm.\n\n## Commands\n\nRun make test.\n\n## Style\n\nTwo spaces.\n"


@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", "GEMINI.md"])
def test_what_tells_agents_what_to_do_becomes_a_fact_for_each_heading(
    imported: Import, tmp_path: Path, name: str
) -> None:
    (tmp_path / "shop/docs").mkdir(parents=True)
    (tmp_path / "shop/docs" / name).write_text(RULES)
    imported(tmp_path / "shop")
    with opened(tmp_path) as memory:
        assert {entry.name: entry.content for entry in memory.entries()} == {
            "Shop": "Use pnpm.",
            "Commands": "Run make test.",
            "Style": "Two spaces.",
        }
        assert memory.get("Style").path == "memory/entries/docs/style.md"
    assert set(states(imported(tmp_path / "shop", "--json")).values()) == {"unchanged"}


def test_text_before_the_first_heading_is_called_by_its_file_and_each_section_by_its_heading(
    imported: Import, tmp_path: Path
) -> None:
    (tmp_path / "shop/docs").mkdir(parents=True)
    (tmp_path / "shop/CLAUDE.md").write_text("Intro.\n\n" + RULES)
    imported(tmp_path / "shop", "--sections", "facts")
    with opened(tmp_path) as memory:
        assert memory.get("CLAUDE").content == "Intro."
        assert {entry.name for entry in memory.entries()} == {"CLAUDE", "Shop", "Commands", "Style"}
    (tmp_path / "shop/docs/CLAUDE.md").write_text("---\ntitle: Docs\n---\nOf the docs.\n\n" + RULES)
    found = json.loads(imported(tmp_path / "shop", "--sections", "facts", "--json").stdout)["files"]
    assert [each["name"] for each in found[4:]] == [
        "Docs",
        *(f"{name} (docs/CLAUDE)" for name in ("Shop", "Commands", "Style")),
    ]


def test_it_goes_into_the_overview_or_stays_one_fact_when_that_is_said(imported: Import, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/CLAUDE.md").write_text(RULES)
    for _ in range(2):
        assert imported(tmp_path / "shop", "--sections", "overview").exit_code == 0
    with opened(tmp_path) as memory:
        assert memory.overview().text == RULES and not memory.entries()
    imported(tmp_path / "shop", "--sections", "overview", "--dry-run")
    imported(tmp_path / "shop", "--sections", "whole")
    with opened(tmp_path) as memory:
        assert [entry.name for entry in memory.entries()] == ["Shop"]


def test_a_person_is_asked_what_it_becomes(imported: Import, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crabmem.cli.verbs.import_.can_ask", lambda: True)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/CLAUDE.md").write_text(RULES)
    done = imported(tmp_path / "shop", stdin="overview\n")
    assert "CLAUDE.md: a fact for each heading" in done.stderr
    with opened(tmp_path) as memory:
        assert memory.overview().text == RULES
