"""Configs of hosts on the disk: reading them, and changing several at once, with a backup of each from before."""

import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from ..disk import fs
from ..errors import BadConfig, CrabmemError, Unwritable
from ..text.edit import BOM, unified_diff
from .host import MAX_CONFIG_BYTES, Config
from .surroundings import Surroundings

_BACKUP = ".before-crabmem"
_NOTHING = "; nothing was written"
_CHANGED = "somebody changed it meanwhile; try again"


@dataclass(frozen=True)
class Change:
    """A change of one file: its text before and after; None where there is no file.

    `file` is the target if the config is a link. `makes_backup`: `before` is to be kept beside the file.
    `drops_backup`: the backup from the installation is to be removed. `number` is that of this backup.
    """

    file: Path
    before: str | None
    after: str | None
    makes_backup: bool = False
    drops_backup: bool = False
    number: int = 1

    @property
    def backup(self) -> Path:
        """Where the text from before the installation is kept."""
        return self.file.with_name(f"{self.file.name}{_BACKUP}" + f"-{self.number}" * (self.number > 1))

    @property
    def changes_anything(self) -> bool:
        """Whether the config or its backup changes."""
        return self.is_edit or self.makes_backup or self.drops_backup

    @property
    def is_edit(self) -> bool:
        """Whether the config itself changes, not only its backup."""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        return unified_diff(self.before, self.after, self.file.as_posix().lstrip("/"))


def write_changes(changes: Sequence[Change]) -> None:
    """Make the changes durably: all or, on an error, none, and each file whole. Folders stay when a file is removed,
    empty or not: nothing tells whether the host made them.

    Raises:
        BadConfig: somebody changed a file meanwhile, or made it one that we do not rewrite.
        Unwritable: a file is read-only or cannot be written; or, after another error, cannot be put back.
    """
    # Each change begun, with the text of its backup before, and the innermost folder that was there.
    done: list[tuple[Change, str | None, Path]] = []
    try:
        for change in changes:
            with errors_about(change.backup):
                there = next(folder for folder in change.file.parents if folder.exists())
                done.append((change, config_text(change.backup), there))
            with errors_about(change.file):
                _write_change(change)
    except CrabmemError as error:
        _undo(done, str(error).removesuffix(_NOTHING))
        raise


def _write_change(change: Change) -> None:
    """Make one change, its backup first, so that the text from before is never lost.

    Raises:
        BadConfig: the file's text is no longer `change.before`.
    """
    if config_text(change.file) != change.before:
        raise BadConfig(_CHANGED)
    if change.makes_backup and change.before is not None:
        _write(change.backup, change.before, change.file)
    if change.is_edit:
        _exchange(change)
    if change.drops_backup:
        fs.unlink(change.backup)


def _exchange(change: Change) -> None:
    """Put `change.after` in the place of `change.before`; remove the file if it is None."""
    if change.after is None:
        return fs.unlink(change.file)
    fs.make_folder(change.file.parent)
    _write(change.file, change.after, change.file, change.before)


def _undo(done: Sequence[tuple[Change, str | None, Path]], error: str) -> None:
    """Put back the files and backups of all changes that were begun before `error`, the last one first; remove folders
    that they made.

    Raises:
        Unwritable: some file cannot be put back; the message is `error` and names each such file with its backup.
    """
    stuck = []
    for change, kept, there in reversed(done):
        try:
            _restore(change, kept)
            _tidy(change.file.parent, there)
        except (OSError, CrabmemError):
            stuck.append(change)
    if stuck:
        files = ", ".join(f"{change.file} (before: {change.backup})" for change in stuck)
        raise Unwritable(f"{error}, and what was written already cannot be put back: {files}") from None


def _restore(change: Change, kept: str | None) -> None:
    """Undo one change, whether it was made wholly, in part or not at all. `kept` is the text of the backup before it.

    A file that says something else than `change.after` by now is left as it is.
    """
    if change.is_edit and config_text(change.file) == change.after:
        _exchange(Change(change.file, change.after, change.before))
    if kept is None and change.backup.exists():
        fs.unlink(change.backup)
    elif kept is not None and config_text(change.backup) != kept:
        _write(change.backup, kept, change.file)


def _write(file: Path, text: str, like: Path, before: str | None = None) -> None:
    """Replace `file` whole, with the permissions of the file `like`; with `before`, only if that still is its text.

    Raises:
        BadConfig: the text of `file` is not `before`.
    """
    mode = stat.S_IMODE(like.stat().st_mode) if like.exists() else fs.PRIVATE_FILE
    fresh = file.with_name(f"{file.name}.crabmem-new")
    fs.unlink(fresh)
    try:
        fs.create(fresh, text.encode(), mode)
        _put_in_place(fresh, file, before)
    finally:
        fs.unlink(fresh)
    fs.sync_folder(file.parent)


def _put_in_place(fresh: Path, file: Path, before: str | None) -> None:
    """Move `fresh` to `file`. With `before`, swap the two and look at what came out: if a host saved something else at
    that moment, swap back, so that its save is not lost.

    Raises:
        BadConfig: the text of `file` was not `before`.
    """
    if before is None:
        return fs.rename(fresh, file)
    fs.exchange(fresh, file)
    if config_text(fresh) != before:
        fs.exchange(fresh, file)
        raise BadConfig(_CHANGED)


def _tidy(folder: Path, stop: Path) -> None:
    """Remove `folder` and those above it, below `stop`, as far as they are there and empty."""
    for each in takewhile(lambda each: each != stop, (folder, *folder.parents)):
        with suppress(OSError):
            fs.remove_folder(each)


def resolved_file(config: Config, here: Surroundings) -> Path:
    """Return the file of a config, behind links: people keep their configs elsewhere and link to them.

    Raises:
        BadConfig: the config is a link that leads nowhere, or in a circle.
    """
    file = config.file(here)
    try:
        return file.resolve(strict=file.is_symlink())
    except (OSError, RuntimeError):
        raise BadConfig(f"{file} is a link that leads nowhere; nothing was written") from None


def newest_backup(file: Path) -> int:
    """Return the number of the newest backup beside a config, as they are counted from 1 on; 1 if there is none."""
    number = 1
    while Change(file, None, None, number=number + 1).backup.exists():
        number += 1
    return number


def config_text(file: Path) -> str | None:
    """Return the text of a file that may be rewritten; None if there is no file.

    Raises:
        BadConfig: the file cannot be read, is not UTF-8, or begins with a byte order mark.
        Unwritable: the file is read-only.
    """
    try:
        data, status = fs.read(file, limit=MAX_CONFIG_BYTES)
        text = data.decode()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadConfig(f"it cannot be read: {fs.reason(error)}") from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadConfig(f"line {line}: it is not UTF-8 text") from None
    if not status.st_mode & stat.S_IWUSR:
        raise Unwritable("it is read-only; allow writing with chmod u+w")
    if text.startswith(BOM):
        raise BadConfig("line 1: it begins with a byte order mark; save it without one")
    return text


@contextmanager
def errors_about(file: Path) -> Iterator[None]:
    """In the block, turn errors into those that name `file` and say that nothing was written.

    Raises:
        BadConfig: the block raised this, or a RecursionError.
        Unwritable: the block raised this, or an OSError.
    """
    try:
        yield
    except RecursionError:
        raise BadConfig(f"{file}: it is too deeply nested{_NOTHING}") from None
    except OSError as error:
        raise Unwritable(f"{file}: it cannot be written: {fs.reason(error)}{_NOTHING}") from None
    except (BadConfig, Unwritable) as error:
        raise type(error)(f"{file}: {error}{_NOTHING}") from None
