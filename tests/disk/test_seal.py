"""A seal tells what this user made on this machine from what came with a folder."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from crabmem.disk.seal import Seal


def test_what_was_sealed_is_known_again_by_another_process(tmp_path: Path) -> None:
    text = Seal(tmp_path / "keys", "purge").sealed(b"order")
    assert Seal(tmp_path / "keys", "purge").opened(text) == (b"order", True)


def test_another_user_another_purpose_and_another_text_are_told_apart(tmp_path: Path) -> None:
    text = Seal(tmp_path / "keys", "purge").sealed(b"order")
    assert Seal(tmp_path / "others", "purge").opened(text) == (b"order", False)
    assert Seal(tmp_path / "keys", "journal").opened(text) == (b"order", False)
    assert Seal(tmp_path / "keys", "purge").opened(text + b"!") == (b"order!", False)


@given(st.binary())
def test_no_text_of_a_stranger_is_taken_for_a_sealed_one(text: bytes) -> None:
    assert not Seal(None, "purge").opened(text)[1]


def test_without_a_place_for_a_key_a_process_knows_its_own_texts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for folder in (None, tmp_path / "file" / "keys"):
        assert Seal(folder, "purge").opened(Seal(folder, "purge").sealed(b"order")) == (b"order", True)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_the_key_is_the_users_alone_and_made_once(tmp_path: Path) -> None:
    Seal(tmp_path / "keys", "purge").sealed(b"order")
    key = tmp_path / "keys" / "key"
    before = key.read_bytes()
    assert (key.stat().st_mode & 0o777, (tmp_path / "keys").stat().st_mode & 0o777) == (0o600, 0o700)
    Seal(tmp_path / "keys", "purge").sealed(b"order")
    assert (key.read_bytes(), len(before)) == (before, 32)
    assert [file.name for file in (tmp_path / "keys").iterdir()] == ["key"]


def test_a_key_that_is_a_link_or_cut_short_is_none(tmp_path: Path) -> None:
    text = Seal(tmp_path / "keys", "purge").sealed(b"order")
    key = tmp_path / "keys" / "key"
    elsewhere = tmp_path / "elsewhere"
    key.rename(elsewhere)
    key.symlink_to(elsewhere)
    assert not Seal(tmp_path / "keys", "purge").opened(text)[1]
    key.unlink()
    key.write_bytes(elsewhere.read_bytes()[:-1])
    assert not Seal(tmp_path / "keys", "purge").opened(text)[1]
