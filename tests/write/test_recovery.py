"""The journal: what is under way survives, what was cut short or forged does not count."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from crabmem.disk.seal import Seal
from crabmem.git.commits import Note
from crabmem.workspace.layout import ORDINARY
from crabmem.write.intent import Intent, Step
from crabmem.write.recovery import Journal, Pending

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NAME = "write-0123456789abcdef"


def intent(path: str = "memory/entries/a.md", temporary: str = NAME) -> Intent:
    trailers = (("Tool", "remember"), ("Entry", "日本"))
    note = Note("remember: a", "x <x@x>", trailers=trailers)
    return Intent(note, NOW, {path: Step(None, "0" * 40, temporary)})


def journal_in(folder: Path, keys: str = "keys") -> Journal:
    return Journal(folder, ORDINARY, Seal(folder / keys, "journal"))


def test_intent_is_read_back_as_it_was_begun_until_it_is_cleared(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    assert (journal.pending(), journal.is_open()) == (None, False)
    journal.begin(intent())
    assert (journal_in(tmp_path).pending(), journal.is_open()) == (Pending(intent(), True), True)
    journal.clear()
    assert (journal.pending(), journal.is_open()) == (None, False)


def test_intent_that_was_cut_short_had_not_begun(tmp_path: Path) -> None:
    journal = journal_in(tmp_path)
    journal.begin(intent())
    whole = (tmp_path / "journal").read_bytes()
    for length in range(len(whole) - 1):
        (tmp_path / "journal").write_bytes(whole[:length])
        assert journal.pending() is None


@pytest.mark.parametrize(
    "path", ["../outside.md", "/etc/x.md", ".git/config", "memory/../../x.md", "memory//x.md", "x.txt"]
)
def test_forged_intent_cannot_name_a_file_that_is_not_ours(tmp_path: Path, path: str) -> None:
    journal = journal_in(tmp_path)
    journal.begin(intent(path))
    assert journal.pending() is None


@pytest.mark.parametrize("name", ["../lock", "/etc/passwd", "write-", f"{NAME}/../x", f"{NAME}\n"])
def test_forged_intent_cannot_name_another_temporary_file(tmp_path: Path, name: str) -> None:
    journal = journal_in(tmp_path)
    journal.begin(intent(temporary=name))
    assert journal.pending() is None


def test_intent_of_another_user_is_known_as_such_and_kept_aside(tmp_path: Path) -> None:
    journal_in(tmp_path).begin(intent())
    other = journal_in(tmp_path, keys="other-keys")
    pending = other.pending()
    assert pending == Pending(intent(), False)
    place = other.set_aside(pending)
    assert (other.is_open(), other.waiting()) == (False, {place: intent()})


def test_intent_without_a_seal_is_nobodys(tmp_path: Path) -> None:
    journal_in(tmp_path).begin(intent())
    file = tmp_path / "journal"
    file.write_bytes(b"\n" + file.read_bytes().partition(b"\n")[2])
    assert journal_in(tmp_path).pending() == Pending(intent(), False)
