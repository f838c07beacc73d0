"""Configs on the disk: what would change, and the change itself, with a copy of what was there before."""

import json
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..disk import fs
from ..errors import BadConfig, CrabmemError, Unwritable
from ..text.edit import unified_diff
from .desired import Wish, holds, installed, is_claimed, is_installed, programs, uninstalled, without
from .document import Document, read
from .host import NAME, Config, Order, Surroundings

# Claude Code keeps what was said in all projects in its config.
_LARGEST = 50_000_000
_BACKUP = ".before-crabmem"
_BOM = "\ufeff"
_NOTHING = "; nothing was written"
_CHANGED = "somebody changed it meanwhile; try again"


@dataclass(frozen=True)
class Change:
    """What becomes of one file: its text before and after, None where there is none.

    `file` is the one itself where the config is a link. `keeps` says that `before` is to be kept beside it;
    `spent` that what was kept is needed no more.
    """

    file: Path
    before: str | None
    after: str | None
    keeps: bool = False
    spent: bool = False

    @property
    def backup(self) -> Path:
        """Where the text from before the installation is kept."""
        return self.file.with_name(self.file.name + _BACKUP)

    @property
    def is_one(self) -> bool:
        """Whether anything changes."""
        return self.is_edit or self.keeps or self.spent

    @property
    def is_edit(self) -> bool:
        """Whether the config itself changes, not only what is kept beside it."""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        return unified_diff(self.before, self.after, self.file.as_posix().lstrip("/"))


def installation(config: Config, here: Surroundings, order: Order, is_sure: bool) -> Change:
    """How `config` comes to say what is ordered, and no more what was chosen otherwise before.

    `is_sure` says that something of ours is in the host already.
    """
    wishes, every = config.wanted(order), config.everything(order)
    file = _file(config, here)
    with _named(file):
        text = _text(file)
        found = read(config.format, text or "")
        change = Change(file, text, None)
    with _named(change.backup):
        kept = _text(change.backup)
    with _named(file):
        gone = [wish for wish in config.options(order) if wish not in wishes] if is_sure else []
        wanted = installed(without(found, gone, _before(kept, config, every)), wishes)
    after = None if wanted.text == "" and text is None else wanted.text
    if is_sure and kept is None and after != text and not wanted.data:
        after = None  # what was only there for another choice
    return Change(file, text, after, keeps=_keeps(text, after, kept, found, every, is_sure))


def _keeps(
    text: str | None, after: str | None, kept: str | None, found: Document, every: Sequence[Wish], is_sure: bool
) -> bool:
    """Whether `text` is what a later removal has to come back to: what is ours already is nothing of the kind.

    A permission that stands there before anything of ours is the person's; it is kept even where nothing changes, so
    that it is known whose it is. With something of ours in the host it is taken for ours.
    """
    if text is None or is_installed(found, every):
        return False
    is_claim = is_claimed(found, every)
    if is_sure:
        return after != text and kept is None and not is_claim
    return after != text or (is_claim and kept != text)


def removal(config: Config, here: Surroundings, order: Order, is_sure: bool) -> Change:
    """How `config` comes to say what it said before, with what was changed since.

    `is_sure` says that something of ours is in the host.
    """
    wishes = config.everything(order)
    file = _file(config, here)
    with _named(file):
        text = _text(file)
    change = Change(file, text, text)
    if text is None:
        return change
    with _named(change.backup):
        before = _before(_text(change.backup), config, wishes)
    with _named(file):
        left = uninstalled(read(config.format, text), wishes, before, is_sure)
    after = text if left.text == text else left.text if left.data or before else None
    return Change(file, text, after, spent=is_sure and before is not None and after == before.text)


def has_ours(config: Config, here: Surroundings, order: Order) -> bool:
    """Whether anything in `config` can only be of an installation, of the hooks alone or the server alone, too."""
    file = _file(config, here)
    with _named(file):
        return is_installed(read(config.format, _text(file) or ""), config.everything(order))


def stands(configs: Sequence[Config], here: Surroundings, order: Order) -> bool:
    """Whether what `order` chooses is in the configs of a host as they are."""
    for config in configs:
        file = _file(config, here)
        with _named(file):
            found = read(config.format, _text(file) or "")
            if not all(holds(found, wish) for wish in config.choices(order)):
                return False
    return True


def gone(config: Config, here: Surroundings, order: Order) -> list[str]:
    """The programs that what is ours in `config` calls, and that are not there. A config of others is not taken apart.

    Raises:
        BadConfig: it cannot be read.
    """
    file = _file(config, here)
    with _named(file):
        text = _text(file) or ""
        if NAME not in text:
            return []
        called = programs(_quickly_read(config, text), config.everything(order))
    return sorted(program for program in called if shutil.which(program) is None)


def _quickly_read(config: Config, text: str) -> Document:
    """`read`, for what is changed by nobody: Claude Code keeps megabytes in its config."""
    with suppress(ValueError, RecursionError):
        data = json.loads(text) if config.format in ("json", "jsonc") else None
        if isinstance(data, dict):
            return Document(config.format, text, data)
    return read(config.format, text)


def make(changes: Sequence[Change], stop: Path) -> None:
    """Make the changes durably, all or none, each file whole. Folders that are empty then are removed, up to `stop`.

    Raises:
        BadConfig: somebody changed a file meanwhile.
        Unwritable: the disk refused.
    """
    done: list[tuple[Change, str | None]] = []
    try:
        for change in changes:
            with _named(change.backup):
                done.append((change, _text(change.backup)))
            with _named(change.file), _refusals():
                _make(change, stop)
    except CrabmemError as error:
        _undo(done, stop, str(error).removesuffix(_NOTHING))
        raise


def _make(change: Change, stop: Path) -> None:
    if _text(change.file) != change.before:
        raise BadConfig(_CHANGED)
    if change.keeps and change.before is not None:
        _write(change.backup, change.before, change.file)
    if change.is_edit:
        _exchange(change, stop)
    if change.spent:
        fs.unlink(change.backup)


def _exchange(change: Change, stop: Path) -> None:
    if change.after is None:
        fs.unlink(change.file)
        return _tidy(change.file.parent, stop)
    fs.make_folder(change.file.parent)
    _write(change.file, change.after, change.file, change.before)


def _undo(done: Sequence[tuple[Change, str | None]], stop: Path, error: str) -> None:
    """Put back what was changed before `error`, with the copies that were kept; what cannot be is told."""
    stuck = [change for change, kept in reversed(done) if not _is_restored(change, kept, stop)]
    if stuck:
        files = ", ".join(f"{change.file} (before: {change.backup})" for change in stuck)
        raise Unwritable(f"{error}, and what was written already cannot be put back: {files}") from None


def _is_restored(change: Change, kept: str | None, stop: Path) -> bool:
    try:
        _restore(change, kept, stop)
    except (OSError, CrabmemError):
        return False
    return True


def _restore(change: Change, kept: str | None, stop: Path) -> None:
    if change.is_edit and _text(change.file) == change.after:
        _exchange(Change(change.file, change.after, change.before), stop)
    if kept is None and change.backup.exists():
        fs.unlink(change.backup)
    elif kept is not None and _text(change.backup) != kept:
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
    if _text(fresh) != before:
        fs.exchange(fresh, file)
        raise BadConfig(_CHANGED)


def _tidy(folder: Path, stop: Path) -> None:
    """Remove `folder` and those above it as far as they are empty."""
    while folder != stop and stop in folder.parents and not any(folder.iterdir()):
        fs.remove_folder(folder)
        folder = folder.parent


def _file(config: Config, here: Surroundings) -> Path:
    """The file itself: people keep their configs elsewhere and link to them."""
    file = config.file(here)
    try:
        return file.resolve(strict=file.is_symlink())
    except (OSError, RuntimeError):
        raise BadConfig(f"{file} is a link that leads nowhere; nothing was written") from None


def _text(file: Path) -> str | None:
    """The text of a file that may be rewritten; None where there is none."""
    try:
        data, status = fs.read(file, limit=_LARGEST)
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
    if text.startswith(_BOM):
        raise BadConfig("line 1: it begins with a byte order mark; save it without one")
    return text


def _before(kept: str | None, config: Config, wishes: Sequence[Wish]) -> Document | None:
    """What was there before an installation, if it was kept and can be read."""
    try:
        found = None if kept is None else read(config.format, kept)
    except CrabmemError:
        return None
    return None if found is None or is_installed(found, wishes) else found


@contextmanager
def _refusals() -> Iterator[None]:
    """What the disk refuses is an error of ours."""
    try:
        yield
    except OSError as error:
        raise Unwritable(f"it cannot be written: {fs.reason(error)}") from None


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Errors name the file, and say that it is as it was."""
    try:
        yield
    except RecursionError:
        raise BadConfig(f"{file}: it is too deeply nested{_NOTHING}") from None
    except (BadConfig, Unwritable) as error:
        raise type(error)(f"{file}: {error}{_NOTHING}") from None
