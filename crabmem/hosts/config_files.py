"""Configs of hosts on the disk: reading them, and changing several at once, with a copy of what was there before."""

import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
    """A change of one file: its text before and after, None where there is none.

    `file` is the target where the config is a link. `makes_backup`: `before` is to be kept beside it.
    `drops_backup`: what was kept is needed no more.
    """

    file: Path
    before: str | None
    after: str | None
    makes_backup: bool = False
    drops_backup: bool = False

    @property
    def backup(self) -> Path:
        """Where the text from before the installation is kept."""
        return self.file.with_name(self.file.name + _BACKUP)

    @property
    def changes_anything(self) -> bool:
        """Whether anything changes."""
        return self.is_edit or self.makes_backup or self.drops_backup

    @property
    def is_edit(self) -> bool:
        """Whether the config itself changes, not only what is kept beside it."""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        return unified_diff(self.before, self.after, self.file.as_posix().lstrip("/"))


def write_changes(changes: Sequence[Change], stop: Path) -> None:
    """Make the changes durably, all or none, each file whole. Folders that are empty then are removed, up to `stop`.

    Raises:
        BadConfig: somebody changed a file meanwhile.
        Unwritable: the disk refused.
    """
    done: list[tuple[Change, str | None]] = []
    try:
        for change in changes:
            with errors_about(change.backup):
                done.append((change, config_text(change.backup)))
            with errors_about(change.file):
                _write_change(change, stop)
    except CrabmemError as error:
        _undo(done, stop, str(error).removesuffix(_NOTHING))
        raise


def _write_change(change: Change, stop: Path) -> None:
    if config_text(change.file) != change.before:
        raise BadConfig(_CHANGED)
    if change.makes_backup and change.before is not None:
        _write(change.backup, change.before, change.file)
    if change.is_edit:
        _exchange(change, stop)
    if change.drops_backup:
        fs.unlink(change.backup)


def _exchange(change: Change, stop: Path) -> None:
    if change.after is None:
        fs.unlink(change.file)
        return _tidy(change.file.parent, stop)
    fs.make_folder(change.file.parent)
    _write(change.file, change.after, change.file, change.before)


def _undo(done: Sequence[tuple[Change, str | None]], stop: Path, error: str) -> None:
    """Put back what was changed before `error`, with the backups.

    Raises:
        Unwritable: some file cannot be put back; the message names each with its backup.
    """
    stuck = []
    for change, kept in reversed(done):
        try:
            _restore(change, kept, stop)
        except (OSError, CrabmemError):
            stuck.append(change)
    if stuck:
        files = ", ".join(f"{change.file} (before: {change.backup})" for change in stuck)
        raise Unwritable(f"{error}, and what was written already cannot be put back: {files}") from None


def _restore(change: Change, kept: str | None, stop: Path) -> None:
    if change.is_edit and config_text(change.file) == change.after:
        _exchange(Change(change.file, change.after, change.before), stop)
    if kept is None and change.backup.exists():
        fs.unlink(change.backup)
    elif kept is not None and config_text(change.backup) != kept:
        _write(change.backup, kept, change.file)


def _write(file: Path, text: str, like: Path, before: str | None = None) -> None:
    """Exchange `file` whole, with the rights that `like` has; with `before`, only while it says that.

    Raises:
        BadConfig: it says something else.
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
    """Move `fresh` to `file`; where that was to say `before`, what a host saved at this moment comes back."""
    if before is None:
        return fs.rename(fresh, file)
    fs.exchange(fresh, file)
    if config_text(fresh) != before:
        fs.exchange(fresh, file)
        raise BadConfig(_CHANGED)


def _tidy(folder: Path, stop: Path) -> None:
    """Remove `folder` and those above it as far as they are empty."""
    while folder != stop and stop in folder.parents and not any(folder.iterdir()):
        fs.remove_folder(folder)
        folder = folder.parent


def resolved_file(config: Config, here: Surroundings) -> Path:
    """The file of a config, behind links: people keep their configs elsewhere and link to them.

    Raises:
        BadConfig: a link leads nowhere.
    """
    file = config.file(here)
    try:
        return file.resolve(strict=file.is_symlink())
    except (OSError, RuntimeError):
        raise BadConfig(f"{file} is a link that leads nowhere; nothing was written") from None


def config_text(file: Path) -> str | None:
    """The text of a file that may be rewritten; None where there is none.

    Raises:
        BadConfig: it cannot be read, is not UTF-8, or begins with a byte order mark.
        Unwritable: it is read-only.
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
    """Have errors name the file, and say that it is as it was."""
    try:
        yield
    except RecursionError:
        raise BadConfig(f"{file}: it is too deeply nested{_NOTHING}") from None
    except OSError as error:
        raise Unwritable(f"{file}: it cannot be written: {fs.reason(error)}{_NOTHING}") from None
    except (BadConfig, Unwritable) as error:
        raise type(error)(f"{file}: {error}{_NOTHING}") from None
