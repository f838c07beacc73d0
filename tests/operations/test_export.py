"""`crabmem export`: what memory holds in the forms of other programs, from which it comes back as it was."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from crabmem import Fact, Memory, Saved
from crabmem.disk import fs
from crabmem.disk.export_folder import MARK, hash_of
from crabmem.importers.facts import prepare
from crabmem.importers.recognition import source_of
from crabmem.importers.tree import tree_at
from crabmem.operations import export as operation
from crabmem.operations.links import links
from crabmem.session.init import init
from crabmem.text import frontmatter as header
from tests.conftest import typed
from tests.conftest import typed_in as run
from tests.examples import examples
from tests.refusing import Refusing, once

VET = "---\nname: Luna's vet\ndescription: 'who looks: the dog'\ntags: [pets]\nrating: 5   # mine\n---\n\nDr. Moreno.\n"


def laid(root: Path, files: Mapping[str, str]) -> Path:
    """A workspace with these files."""
    root.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


def files_in(folder: Path) -> dict[str, str]:
    """The texts of a folder by their paths, but for what says that it is an export."""
    every = (file for file in folder.rglob("*") if file.is_file() and file.name != MARK)
    return {file.relative_to(folder).as_posix(): file.read_bytes().decode() for file in every}


def concepts_in(folder: Path) -> dict[str, str]:
    """The texts of the facts of a bundle by their paths."""
    return {path: text for path, text in files_in(folder).items() if re.search("^type: (?!Crabmem [OI])", text, re.M)}


def took_in(place: Path, memory: Memory) -> None:
    """Import what lies at `place` as what it looks like."""
    tree = tree_at(place, memory.root)
    found = prepare(source_of(tree).facts(tree), [], str(place))
    done = memory.remember_all([item.what for item in found if isinstance(item.what, Fact)], "there")
    assert all(isinstance(item, Saved) for item in done), done


def facts_of(memory: Memory, *without: str) -> dict[str, Any]:
    """All that facts say, by their names, and the names of what they link to."""
    entries = memory.entries()
    names = {entry.path: entry.name for entry in entries}
    return {
        entry.name: (
            entry.description, entry.content, entry.aliases, entry.tags,
            {key: said for key, said in entry.keys.items() if key not in ("imported-from", *without)},
            [names.get(link.to or "") for link in links(memory, entry.path).out],
        )
        for entry in entries
    }  # fmt: skip


# What comes back


SIGNS = "aB é[]()|#\"'\\`!:{}<>-*_.,/&%"
LINES = st.text(SIGNS, min_size=1, max_size=9).map(lambda text: " ".join(text.split())).filter(str.strip)
STEMS = st.sampled_from(["a", "b", "A b", "MEMORY", "2026-01-02", "é", "x-2", "notes"])
PLACES = st.tuples(st.sampled_from(["", "People/", "People/Old/"]), STEMS).map("".join)
VALUES: Any = st.recursive(
    LINES | st.sampled_from(["5", "yes", "2026-01-02", "", "Crabmem"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["by", "at"]), inner, max_size=2),
    max_leaves=3,
)
KEYS = st.dictionaries(
    st.sampled_from(["type", "title", "resource", "sources", "status", "generated", "metadata", "verified"]),
    VALUES,
    max_size=3,
).filter(lambda keys: keys.get("type", "x") not in ("", "Crabmem Fact", [], {}))
#: What is imported nowhere, and both memories have: links may lead there.
WHOLE = {"memory/MEMORY.md": "# Overview\n", "Crab.md": "# Who\n"}
PIECES = st.sampled_from(["\n", " ", "- ", "`", "``", "```\n", "!", "[", "](", "|", "word", "\\", "[^1]", "<", "\r\n"])
FORMS = ["[[{}]]", "[[{}|{}]]", "![[{}]]", "[[{}#Head]]", "[[{}#a b|{}]]", "| [[{}\\|x]] |", "`[[{}]]`", "[[{}.md]]"]


@st.composite
def memories(draw: Any) -> dict[str, str]:
    """The files of entries, some of which link to others."""
    names = draw(st.lists(LINES, min_size=1, max_size=4, unique_by=lambda name: name.casefold()))
    places = draw(st.lists(PLACES, min_size=len(names), max_size=len(names), unique_by=str.casefold))
    called = ["MEMORY", "Crab", *names, *(place.rpartition("/")[2] for place in places), *places]
    linked = st.builds(
        lambda form, one, two: form.format(one, two), st.sampled_from(FORMS), st.sampled_from(called), LINES
    )
    files = dict(WHOLE)
    for name, place in zip(names, places, strict=True):
        keys = {"name": name, **draw(KEYS)}
        keys |= draw(st.fixed_dictionaries({}, optional={
            "description": LINES, "tags": st.lists(st.sampled_from(["x", "y z"]), max_size=2),
            "aliases": st.lists(st.sampled_from([f"{name} too", "é!"]), max_size=1),
        }))  # fmt: skip
        body = "".join(draw(st.lists(PIECES | linked, max_size=6)))
        newline = draw(st.sampled_from(["\n", "\r\n"]))
        comment = draw(st.sampled_from(["", "# a comment\n"]))
        lines = f"---\n{comment}{header.dump(keys, chr(10))}---\n\n{body}\n".replace("\r\n", "\n").replace(
            "\n", newline
        )
        files[f"memory/entries/{place}.md"] = lines
    return files


@pytest.mark.parametrize("form", operation.FORMS)
def test_what_was_exported_is_imported_as_the_same_facts(form: operation.Form) -> None:
    """Names, descriptions, contents, labels, every other key and where links lead; what is exported again is the same.

    `generated` says in a bundle who wrote a fact that did not say so itself, which is then a key of it.
    """

    @settings(max_examples=examples(40))
    @given(memories())
    def holds(files: dict[str, str]) -> None:
        with TemporaryDirectory() as scratch:
            here, again = Path(scratch, "there"), Path(scratch, "again")
            roots = laid(Path(scratch, "one"), files), laid(Path(scratch, "two"), WHOLE)
            with Memory(roots[0]) as one, Memory(roots[1]) as two:
                operation.export(one, here, form)
                took_in(here, two)
                before, after = facts_of(one), facts_of(two)
                added = {name for name, said in before.items() if "generated" not in said[4]} if form == "okf" else ()
                for name in added:
                    assert after[name][4].pop("generated").keys() == {"by", "at"}
                assert after == before
                operation.export(two, again, form)
                if form == "okf":
                    assert concepts_in(again) == concepts_in(here)

    holds()


@pytest.mark.parametrize("form", operation.FORMS)
def test_a_daily_note_in_an_export_is_named_and_becomes_no_fact(tmp_path: Path, form: operation.Form) -> None:
    fact = "---\nname: Luna\n---\n\nSee [[2026-03-14]].\n"
    root = laid(tmp_path / "memory", {"memory/2026-03-14.md": "Walked.\n", "memory/entries/luna.md": fact})
    assert run(root, "export", tmp_path / "out", "--format", form).exit_code == 0
    said = json.loads(run(tmp_path / "new", "import", tmp_path / "out", "--json").stdout)["files"]
    told = [each["reason"] for each in said if "2026-03-14" in each["file"]]
    assert told == ["it is a daily note; facts alone are taken"]
    with Memory(root) as memory, Memory(tmp_path / "new") as new:
        assert facts_of(new, "generated") == facts_of(memory)


def test_a_bundle_is_what_the_format_asks_for(tmp_path: Path) -> None:
    """Every file but the lists has a type, in YAML that any reader takes; a fact says who wrote it, and when."""
    root = laid(tmp_path / "memory", {"memory/entries/luna.md": VET, "memory/entries/People/log.md": "Only [[luna]]."})
    with Memory(root, agent="bot", session="s-1") as memory:
        memory.remember("Wifi", "the network", "Pinguin. See [[Luna's vet]] and [[Nobody]].")
        memory.write_overview("# Overview\n\n[[Wifi]]")
    (root / "memory" / "2026-03-14.md").write_text("Walked.\n")
    assert run(root, "export", tmp_path / "bundle", "--format", "okf").exit_code == 0
    found = files_in(tmp_path / "bundle")
    assert found.keys() == {
        "index.md", "luna.md", "wifi.md", "MEMORY.md", "Crab.md", "notes/index.md", "notes/2026-03-14.md",
        "People/index.md", "People/log-2.md",
    }  # fmt: skip
    for path, text in found.items():
        if not path.endswith("index.md"):
            keys = yaml.safe_load(text.split("---\n")[1])
            assert isinstance(keys["type"], str) and keys["type"] and keys["title"]
    wifi = yaml.safe_load(found["wifi.md"].split("---\n")[1])
    assert (wifi["generated"]["by"], wifi["generated"]["at"].year > 2025) == ("bot/crabmem", True)
    assert "human:" in found["luna.md"] and "rating: 5   # mine" in found["luna.md"]
    assert "Pinguin. See [Luna's vet](/luna.md) and [[Nobody]]." in found["wifi.md"]
    assert found["index.md"].startswith('---\nokf_version: "0.2"\n---\n\n# Facts\n\n* [Crab](Crab.md)')
    assert "* [Wifi](wifi.md) - the network\n" in found["index.md"] and "* [People](People/)\n" in found["index.md"]


def test_a_fact_in_a_file_with_a_name_that_the_format_keeps_is_linked_to_still(tmp_path: Path) -> None:
    root = laid(tmp_path / "memory", {
        "memory/entries/index.md": "---\nname: All\ndescription: d\n---\n\nx\n", "memory/entries/a.md": "[[index]]",
    })  # fmt: skip
    with Memory(root) as memory, Memory(tmp_path / "new") as new:
        operation.export(memory, tmp_path / "bundle", "okf")
        took_in(tmp_path / "bundle", new)
        assert facts_of(new)["a"][5] == ["All"]


def test_who_wrote_a_fact_is_not_said_to_be_who_wrote_what_stood_there(tmp_path: Path) -> None:
    """What an import or a person says in `generated` holds until an agent writes the fact."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("---\ntitle: A\ngenerated: {by: 'human:ann', at: 2026-01-02}\n---\nOld.\n")
    root = tmp_path / "memory"
    run(root, "import", tmp_path / "notes")
    run(root, "export", tmp_path / "one", "--format", "okf")
    assert "generated: {by: 'human:ann', at: 2026-01-02}" in files_in(tmp_path / "one")["a.md"]
    run(root, "--agent", "bot", "remember", "A", "-d", "d", "-c", "New.")
    run(root, "export", tmp_path / "one", "--format", "okf")
    assert 'generated: { by: "bot/crabmem", at: ' in files_in(tmp_path / "one")["a.md"]


def test_markdown_is_all_files_but_the_settings_as_they_are(tmp_path: Path) -> None:
    files = {
        "memory/entries/luna.md": VET.replace("\n", "\r\n"), "memory/own.md": "mine", "memory/state.json": "{}",
        "memory/2026-03-14.md": "Walked.\n", "Crab.md": "# Who\n",
        "memory/entries/bad.md": "<<<<<<< a\n=======\n>>>>>>> b\n",
    }  # fmt: skip
    root = laid(tmp_path / "memory", files | {"crabmem.toml": 'person = "Ann"\n', "other.py": "no memory"})
    result = run(root, "export", tmp_path / "all", "--json")
    said = json.loads(result.stdout)
    assert (result.exit_code, files_in(tmp_path / "all")) == (0, files)
    assert said["left_out"] == [{"file": "crabmem.toml", "reason": "settings are of this workspace alone"}]
    run(tmp_path / "new", "import", tmp_path / "all")
    assert (tmp_path / "new/memory/entries/luna.md").read_bytes().decode() == files["memory/entries/luna.md"]


def test_json_is_one_file_or_standard_output(tmp_path: Path) -> None:
    root = laid(tmp_path / "memory", {"memory/entries/luna.md": VET, "memory/MEMORY.md": "# Overview\n"})
    with Memory(root, agent="bot") as memory:
        memory.remember("Wifi", "the network", "Pinguin.")
    data = json.loads(run(root, "export", "-").stdout)
    assert [(fact["name"], fact["keys"]) for fact in data["facts"]] == [("Luna's vet", {"rating": "5"}), ("Wifi", {})]
    assert (data["facts"][1]["changed"]["agent"], data["overview"]) == ("bot", "# Overview\n")
    run(root, "export", tmp_path / "data", "--format", "json")
    assert json.loads((tmp_path / "data" / "memory.json").read_text()) == data
    assert run(root, "export", "-", "--format", "okf").exit_code == 2
    piped = typed("--dir", tmp_path / "new", "import", "-", "--json", stdin=json.dumps(data))
    done = {each["file"]: each["state"] for each in json.loads(piped.stdout)["files"]}
    assert (piped.exit_code, done) == (0, {
        "stdin.json[0]": "made", "stdin.json[1]": "made", "stdin.json[identity]": "skipped",
        "stdin.json[overview]": "skipped",
    })  # fmt: skip


# Into a folder


def test_an_earlier_export_is_renewed_and_what_is_gone_is_removed(tmp_path: Path) -> None:
    root = laid(tmp_path / "memory", {"memory/entries/People/luna.md": VET, "memory/entries/b.md": "b"})
    out = tmp_path / "out"
    run(root, "record")  # which may be a second later than the files, and a concept says when it was made
    run(root, "export", out, "--format", "okf")
    (out / "mine.txt").write_text("somebody's")
    run(root, "forget", "luna")
    run(root, "remember", "C", "-d", "d", "-c", "c")
    result = run(root, "export", out, "--format", "okf", "--dry-run")
    assert (out / "People" / "luna.md").exists() and "would remove   People/luna.md" in result.stdout
    result = run(root, "export", out, "--format", "okf")
    assert result.stderr == "okf: 1 made, 1 replaced, 2 unchanged, 2 removed\n"
    assert files_in(out).keys() == {"index.md", "b.md", "c.md", "Crab.md", "mine.txt"}
    assert not (out / "People").exists()


def test_what_somebody_changed_in_an_export_is_neither_overwritten_nor_removed_unasked(tmp_path: Path) -> None:
    root, out = laid(tmp_path / "memory", {"memory/entries/a.md": "a", "memory/entries/b.md": "b"}), tmp_path / "out"
    run(root, "export", out)
    (out / "memory/entries/a.md").write_text("theirs")
    (out / "memory/entries/b.md").write_text("theirs")
    (root / "memory/entries/b.md").unlink()
    result = run(root, "export", out)
    assert (result.exit_code, "memory/entries/a.md; --yes-really overwrites" in result.stderr) == (1, True)
    assert run(root, "export", out, "--yes-really").exit_code == 0
    assert files_in(out) == {"memory/entries/a.md": "a", "memory/entries/b.md": "theirs"}


def test_a_changed_file_of_a_forgotten_fact_is_told_at_every_export(tmp_path: Path) -> None:
    root, out = laid(tmp_path / "memory", {"memory/entries/a.md": "a", "memory/entries/b.md": "b"}), tmp_path / "out"
    run(root, "export", out)
    (out / "memory/entries/b.md").write_text("theirs")
    (root / "memory/entries/b.md").unlink()
    for _ in range(2):
        told = run(root, "export", out).stdout
        assert "memory/entries/b.md: memory has it no more, and it was changed here since" in told
    (out / "memory/entries/b.md").write_text("b")  # as it was exported
    assert "removed    memory/entries/b.md" in run(root, "export", out).stdout


def test_no_folder_is_written_to_that_holds_something_else(tmp_path: Path) -> None:
    root = laid(tmp_path / "memory", {"memory/entries/a.md": "a"})
    full = laid(tmp_path / "full", {"memory/entries/a.md": "theirs", "b": "b"})
    for place, words in ((full, "is not empty"), (full / "b", "is a file"), (root / "x", "in the workspace itself")):
        result = run(root, "export", place)
        assert (result.exit_code, words in result.stderr, result.stderr.count("\n")) == (1, True, 1)
    assert files_in(full) == {"memory/entries/a.md": "theirs", "b": "b"}
    with Memory(tmp_path / "other") as other:
        init(other)
    assert "is a memory itself" in run(root, "export", tmp_path / "other", "--yes-really").stderr
    assert run(root, "export", full, "--yes-really").exit_code == 0
    assert files_in(full) == {"memory/entries/a.md": "a", "b": "b"}


def test_an_export_follows_no_link_and_believes_no_mark_that_leads_out(tmp_path: Path) -> None:
    root, out = laid(tmp_path / "memory", {"memory/entries/a.md": "a"}), tmp_path / "out"
    outside = laid(tmp_path / "outside", {"entries/a.md": "a", "precious": "p"})
    out.mkdir()
    (out / "memory").symlink_to(outside)
    known = {path: [hash_of(b"p")] for path in ("../outside/precious", "memory/precious")}
    (out / MARK).write_text(json.dumps({"files": known}))
    result = run(root, "export", out)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert files_in(outside) == {"entries/a.md": "a", "precious": "p"}
    for broken in ("", "[]", '{"files": 1}', '{"files": {"a": 1}}', "[" * 100_000):
        (out / MARK).write_text(broken)
        assert run(root, "export", out).exit_code == 1


def test_an_export_removes_nothing_of_the_repository_that_it_is_in(tmp_path: Path) -> None:
    """Nor of one in a folder of it, whatever the list of an earlier export says."""
    root, out = laid(tmp_path / "memory", {"memory/entries/a.md": "a"}), tmp_path / "out"
    theirs = {".git/HEAD": "h", "deeper/.GIT/HEAD": "h"}
    laid(out, theirs)
    (out / MARK).write_text(json.dumps({"files": {path: [hash_of(b"h")] for path in theirs}}))
    assert run(root, "export", out).exit_code == 0
    assert theirs.items() <= files_in(out).items()


@pytest.mark.parametrize("stop", range(1, 12))
def test_an_export_that_was_interrupted_goes_on(tmp_path: Path, stop: int, monkeypatch: pytest.MonkeyPatch) -> None:
    root, out = laid(tmp_path / "memory", {f"memory/entries/{n}.md": f"{n}" for n in range(3)}), tmp_path / "out"
    with Memory(root) as memory:
        operation.export(memory, out, "okf")
        for n in range(3):
            (root / f"memory/entries/{n}.md").write_text(f"new {n}")
        with monkeypatch.context() as patched:
            patched.setattr(fs, "before", Refusing(once(stop), lambda _, path: path.startswith(str(out))))
            with pytest.raises(Exception, match="no space left"):
                operation.export(memory, out, "okf")
        operation.export(memory, out, "okf")
        assert all(f"new {n}" in (out / f"{n}.md").read_text() for n in range(3))


def test_a_session_that_does_not_see_a_file_exports_nothing_of_it(tmp_path: Path) -> None:
    root = laid(tmp_path / "memory", {"memory/2026-03-14.md": "hidden words", "MEMORY.md": "hidden words"})
    run(root, "init", "--profile", "claw")
    result = typed("--dir", root, "--kind", "group", "export", str(tmp_path / "out"))
    assert result.exit_code == 0
    assert "hidden words" not in "".join(files_in(tmp_path / "out").values())


def test_what_was_is_exported_as_it_was(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    run(root, "remember", "A", "-d", "d", "-c", "first")
    run(root, "remember", "A", "-d", "d", "-c", "second")
    run(root, "export", tmp_path / "out", "--as-of", "HEAD~1")
    assert "first" in files_in(tmp_path / "out")["memory/entries/a.md"]


def test_a_file_that_cannot_be_read_is_named_and_the_exit_status_says_so(tmp_path: Path) -> None:
    root = laid(
        tmp_path / "memory", {"memory/entries/a.md": "a", "memory/entries/bad.md": "<<<<<<< a\n=======\n>>>>>>> b\n"}
    )
    result = run(root, "export", tmp_path / "out", "--format", "okf", "--json")
    assert result.exit_code == 1 and "memory/entries/bad.md" in result.stderr
    assert json.loads(result.stdout)["unreadable"][0]["file"] == "memory/entries/bad.md"
    (root / "memory/entries/two\nlines.md").write_text("no file of memory's")
    for form in operation.FORMS:
        assert "lines.md: its name has a line break" in run(root, "export", tmp_path / form, "--format", form).stdout
    assert "a.md" in files_in(tmp_path / "out")
