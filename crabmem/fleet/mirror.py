"""A remote's branch, read from a mirror of it in a folder of the follower's own.

The mirror is fetched as `sync` fetches: through a quarantine, within limits, with the person's keys, and nothing of it
is run. It is thrown away when the branch was rewritten, so that it keeps nothing of what was purged.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ..disk import fs
from ..disk.allowed import Allowed
from ..errors import CrabmemError, DamagedHistory, NotFound, Unreadable, Untrusted
from ..git.history import History
from ..git.objects import Objects
from ..git.purged import read_record
from ..git.refs import MAIN, PURGED
from ..git.repository import create
from ..git.timeline import Timeline
from ..recall.labels import document
from ..recall.reader import EntryReader
from ..remotes.address import parse_address
from ..remotes.limit import Limit
from ..remotes.remote import Offer, remote
from ..search import rules
from ..session.locate import workspace_at
from ..session.view import View
from ..text.entry import Entry
from ..workspace.layout import DEFAULT, SETTINGS
from ..workspace.settings import Settings, read_settings
from ..workspace.workspace import Workspace
from .protocol import BITS, Contents, Passage, Row, Space

_FETCH_SECONDS = 120.0


@dataclass(frozen=True)
class Mirror:
    """The mirrors of one follower: a folder in `place` for each memory."""

    place: Path
    environment: Mapping[str, str]

    @contextmanager
    def look(self, space: Space) -> Iterator[Contents | None]:
        """Fetch the branch, and yield its contents; None if the index has this commit already.

        The contents can be read only within the block. A mirror that is damaged, or in which the branch was rewritten,
        is removed.

        Raises:
            SyncError: the remote does not answer, or its data fails a check.
            NotFound: the remote has no branch.
        """
        root = self.place / space.mirror
        try:
            with fs.durability(waits=False):  # what a power cut breaks here is fetched anew
                yield from self._looked(space, root)
        except (DamagedHistory, Untrusted):
            fs.remove_tree(root)
            raise

    def _looked(self, space: Space, root: Path) -> Iterator[Contents | None]:
        """`look` within one mirror, at `root`.

        The index is up to date if commit, record of purges and rules for words are all as it has them. Nothing is
        fetched then, unless the mirror stands at another commit, perhaps one that holds purged text.
        """
        address, is_stale = parse_address(space.address, self.place), False
        if not (root / ".git").is_dir():
            create(root)
        workspace = Workspace(root)
        history = History(workspace)
        try:
            limit = Limit(address.shown, _FETCH_SECONDS)
            with remote(address, workspace.git, workspace.private, self.environment, limit) as other:
                offer = other.refs()
                tip, record = _tip(offer), offer.refs.get(PURGED)
                if tip is None:
                    raise NotFound(f"{address.shown} has no branch: push to it first")
                is_known = (tip, record) == (space.commit, space.purges) and space.rules == rules(space.language)
                before = history.head_if_any()
                if not (is_known and before in (None, tip)):
                    wants = [tip, *([record] if record else [])]
                    other.fetch(wants, [before] if before else [], history.reaches, lasts=False)
                    history.track(MAIN, tip)
            # A commit of the mirror that has left the branch may hold purged text: remove the mirror at the end.
            is_stale = bool(before) and not _stands_on(history, tip, before)
            if is_known:
                yield None
            else:
                objects = Objects(workspace.git / "objects", workspace.private)
                gone = read_record(objects, record).refused if record else frozenset[str]()
                is_rewritten = bool(space.commit) and not _stands_on(history, tip, space.commit)
                yield self._contents(root, history, tip, record, gone, is_rewritten)
        finally:
            history.close()
            if is_stale:
                fs.remove_tree(root)

    def forget(self, known: Collection[str]) -> None:
        """Remove all mirrors but those of these names."""
        for folder in self.place.iterdir():
            if folder.name not in known:
                fs.remove_tree(folder)

    def _contents(
        self, root: Path, history: History, tip: str, record: str | None, gone: Collection[str], is_rewritten: bool
    ) -> Contents:
        """The memory at `tip`. Put its settings into the mirror's folder, since layout and profile are read from there.

        `gone` are purged blobs, which are left out. `read` yields no row for an unreadable file.
        """
        blob = history.file(tip, SETTINGS)
        settings = history.blob(blob) if blob else b""
        fs.swap_in(root / SETTINGS, settings)
        said = _settings(settings)
        workspace, views = self._views(root)
        timeline = Timeline(history, workspace.layout, datetime.now)
        held = {path: blob for path, blob in timeline.entries_at(tip).items() if blob not in gone}
        reader = EntryReader(workspace.layout)

        def read(paths: Collection[str]) -> Iterator[Row]:
            changes = history.last_changes({path: held[path] for path in paths})
            for path in paths:
                try:
                    data = history.blob(held[path])
                    entry = reader.read(path, held[path], lambda data=data: data)  # type: ignore[misc]
                except Unreadable:
                    continue
                kinds = sum(bit for bit, view in views.items() if view.allows(path))
                last = changes.get(path)
                since = last.time.astimezone(UTC) if last else None
                yield Row(
                    path, held[path], kinds, entry.is_note, data.decode(),
                    last.commit if last else None, since, passages_of(entry, said.language),
                )  # fmt: skip

        return Contents(tip, said.language, rules(said.language), blob or "", record, held, read, is_rewritten)

    def _views(self, root: Path) -> tuple[Workspace, Mapping[int, View]]:
        """The workspace in a mirror, and the view of each kind of session, by its bit.

        If the profile cannot be read here, only the kind main gets a view: nobody else sees anything.
        """
        try:
            workspace = workspace_at(root, None, Allowed(self.environment))
            return workspace, {bit: View.named(workspace.profile or DEFAULT, kind) for kind, bit in BITS.items()}
        except CrabmemError:
            return Workspace(root), {BITS["main"]: View()}


def _stands_on(history: History, tip: str, commit: str | None) -> bool:
    """Whether `commit` is `tip` or an ancestor of it; False for None and for a commit that is not in the mirror."""
    try:
        return commit is not None and commit in (tip, *history.bases(commit, tip))
    except (DamagedHistory, NotFound):
        return False


def _tip(offer: Offer) -> str | None:
    branch = offer.branch if offer.branch in offer.refs else MAIN
    return offer.refs.get(branch or MAIN)


def _settings(data: bytes) -> Settings:
    try:
        return read_settings(data, SETTINGS)[0]
    except CrabmemError:
        return Settings()


def passages_of(entry: Entry, language: str) -> list[Passage]:
    """The parts of an entry that are ranked, with their words."""
    made = document(entry, b"", language)
    return [Passage(Counter(words), length) for words, length in zip(made.passages, made.lengths, strict=True)]
