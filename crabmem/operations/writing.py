"""How memory is written: a workspace is begun, and every write is checked, made as one commit, and told of."""

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from ..disk.store import Scan
from ..errors import CrabmemError, Disabled
from ..git import Note, identity
from ..git.commit import one_line
from ..locate import outside
from ..recall.catalog import Progress
from ..results import CREATOR, Begun, Changed, Commit, Saved
from ..text.credentials import Screen, warnings
from ..text.edit import grown, in_style_of, lenient_text, unified_diff
from ..text.entry import Fact, check_text, decode, parse_entry, render_entry
from ..text.hashes import version_of
from ..text.limits import MAX_REASON
from ..text.quoting import visible
from ..workspace.layout import SETTINGS
from ..write.tree import Tree, drafted
from ..write.writer import Draft, Written
from .plan import Plan
from .salience_use import Using

#: What a person has to know whose next commit would take back what was written.
FOREIGN_INDEX = (
    "Git's index is in a form that crabmem does not write, so your next `git commit` would take this back: "
    "`git sparse-checkout disable` makes it a plain one"
)


class Writing(Using):
    """What all operations that write share. Of these only the first is here: how a workspace begins."""

    def recover(self) -> None:
        """Finish what a crash interrupted, unless somebody is writing at this moment."""
        if self._writer.is_interrupted():
            known = len(self._writer.repairs())
            with suppress(CrabmemError):  # the next write says what is wrong; reading goes on
                self._writer.recover()
                # What was repaired may be in files that a session of another kind does not see.
                self.recovered = tuple(self._writer.repairs()[known:]) if self.kind == "main" else ()
        self._find_denied()

    def init(
        self, claim: bool = False, is_seeded: bool = True, dry_run: bool = False, progress: Progress | None = None
    ) -> Begun:
        """Make the workspace, with the files that its profile has one begin with; nothing where there is one.

        With `claim`, also in an ordinary repository that holds no memory yet. Without `is_seeded` no file is made.
        With `dry_run` nothing is written, and the answer says what would be. `progress` is told how many of the files
        that are there already were stored.
        """
        if self._history.has_begun():
            return Begun(str(self.root), False, None, (), ())
        note = Note("init: a new memory", identity(CREATOR))
        return self._begin(self._seeds if is_seeded else lambda scan: {}, note, claim, dry_run, progress)

    def use_profile(self, claim: bool = False, dry_run: bool = False) -> Begun:
        """Have the settings name the profile that this was opened with, and make the files that it begins with.

        All in one commit, which may be the first. Nothing that is there, or once was, is made again. `claim` and
        `dry_run` are as for `init`. A profile that lies outside of the workspace may be read from now on.
        """
        from .seeding import naming  # late: few writes seed anything

        def wanted(scan: Scan) -> dict[str, bytes]:
            text = naming(decode(SETTINGS, scan.data(SETTINGS) or b""), self._profile_here())
            return {SETTINGS: text.encode(), **self._seeds(scan)}

        if not dry_run:
            self._allowed.allow_profile(self.root, outside(self.root, self.profile_name))
        note = Note(f"init: the profile {one_line(self._profile_here())}", identity(CREATOR))
        return self._begin(wanted, note, claim, dry_run)

    # What the operations share

    def _write(self, decide: Callable[[Scan], Draft], is_seeded: bool = True) -> Written:
        def seen(scan: Scan) -> Draft:
            draft = decide(scan)
            self._refuse_unseen(draft.changes)
            return draft

        if not self._history.has_begun():
            seen(self._store.scan())  # what is refused anyway makes no workspace
            self.init(is_seeded=is_seeded)
        done = self._writer.write(seen)
        self._upkeep.nudge()
        return done

    def _look_ahead(self, decide: Callable[[Scan], Draft]) -> None:
        """Have a write decide before it holds the lock: what its screen sees in texts is known when it does."""
        with suppress(CrabmemError):  # the write itself says what is wrong, of the files as they are then
            decide(self._store.scan())

    def _tried(self, decide: Callable[[Scan], Draft]) -> Written:
        """What a write would do now."""
        scan = self._store.scan()
        changes = decide(scan).changes
        self._refuse_unseen(changes)
        return Written(None, {path: scan.data(path) for path in changes}, changes, self.settings.secrets)

    def _begin(
        self,
        wanted: Callable[[Scan], Mapping[str, bytes]],
        note: Note,
        claim: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Begun:
        """Write the files that are wanted where nothing stands, and settings; the first commit, where there is none."""
        left, made = list[str](), not self._history.exists()

        def decide(scan: Scan) -> Draft:
            files = wanted(scan)
            left[:] = [path for path in files if path != SETTINGS and os.path.lexists(self.file(path))]
            return Draft({path: data for path, data in files.items() if path not in left}, note)

        if claim and not dry_run and not made and not self._history.has_begun():
            self._history.claim()
        if not dry_run:
            self._writer.record_ahead(progress or (lambda done, total: None))
        done = self._tried(decide) if dry_run else self._writer.write(decide)
        paths = tuple(path for path, data in done.after.items() if data != done.before[path])
        return Begun(str(self.root), made, done.commit, paths, tuple(left))

    def _seeds(self, scan: Scan, name: str = "", description: str = "") -> dict[str, bytes]:
        """What the profile has this workspace begin with; nothing that was there once and is gone."""
        from .seeding import seeds  # late: few writes seed anything

        if not self.layout.is_seeded:
            return {}
        head = self._timeline.head()
        is_new = not (scan.files.keys() | self._history.files(head).keys()) - {SETTINGS}
        about = {"name": name or self.root.name, "description": description}
        found = seeds(self.profile, self.layout, self._parent is not None, is_new, about)
        return {path: text.encode() for path, text in found.items() if path in scan.files or not self._was_there(path)}

    def _was_there(self, path: str) -> bool:
        """Whether history knows of a file at `path`."""
        return self._timeline.head() is not None and next(self._history.commits(path=path), None) is not None

    def _profile_here(self) -> str:
        """What the settings are to call the profile: a file in the workspace by its way from there."""
        file = Path(self.profile_name)
        return file.relative_to(self.root).as_posix() if file.is_relative_to(self.root) else self.profile_name

    def _plan(self, scan: Scan, screen: Screen, text_of: Callable[[Fact, str | None], str] = render_entry) -> Plan:
        return Plan(self._catalog.listing(scan), scan, screen, self._sees, text_of)

    def _screen(self, *texts: str) -> Screen:
        """What refuses credentials, as the settings say. It looks into `texts` now, when nobody waits for the lock."""
        return Screen(self.settings.secrets, *texts)

    def _refuse_hidden(self, path: str) -> None:
        if not self._sees(path):
            raise Disabled(f"{path} is not for sessions of the kind {self.kind}; leave it to one of the kind main")

    def _refuse_unseen(self, paths: Iterable[str]) -> None:
        """As `_refuse_hidden`, of what nobody named who may not see it."""
        if not all(map(self._sees, paths)):
            raise Disabled(
                f"that would change what is not for sessions of the kind {self.kind}; leave it to one of the kind main"
            )

    def _drafted(
        self, tree: Tree, changes: Mapping[str, str | None], screen: Screen, may_shrink: bool = False
    ) -> dict[str, bytes | None]:
        files = drafted(tree, changes, screen, self.profile.largest)
        return files if may_shrink else files | self._grown(tree.scan, files)

    def _grown(self, scan: Scan, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """Those of `files` that the profile lets only grow: what is there, in its own bytes, and more.

        Raises:
            Disabled: something that is there would be gone.
        """
        profile = self.profile
        paths = [path for path in files if path in scan.files and profile.only_grows(path)]
        texts = {path: grown(lenient_text(scan.data(path)) or "", lenient_text(files[path]) or "") for path in paths}
        if changed := next((path for path, text in texts.items() if text is None), None):
            raise Disabled(
                f"{changed} only grows, and something in it would change; read it again and add to its end, "
                "or use the tool note"
            )
        return {path: (text or "").encode() for path, text in texts.items()}

    def _write_file(
        self, path: str, content: str, tool: str, if_version: str | None, reason: str = "", called: str = ""
    ) -> Changed:
        """Replace the file at `path`; the commit names it, or what it is `called`."""
        check_text("content", content, self.profile.largest)
        self._refuse_hidden(path)
        note, screen = self._reasoned(tool, called or path, reason), self._screen(content, reason)

        def decide(scan: Scan) -> Draft:
            return Draft({path: self._file_written(scan, path, content, if_version, reason, screen)}, note)

        return self._changed(self._write(decide), path)

    def _file_written(
        self, scan: Scan, path: str, content: str, if_version: str | None, reason: str, screen: Screen
    ) -> bytes:
        """What a whole file holds with `content`, which may be kept, as `reason` may."""
        self._timeline.check_version(path, scan.files.get(path), if_version, self._sees)
        before = decode(path, scan.data(path) or b"")
        for text in (content, reason):
            screen.refuse_new(text, before)
        data = in_style_of(content, before).encode()
        return self._grown(scan, {path: data}).get(path) or data

    def _reasoned(self, tool: str, path: str, reason: str) -> Note:
        """The words of a commit about a whole file."""
        check_text("reason", reason, MAX_REASON)
        note = self._note(tool, path.rpartition("/")[2])
        return dataclasses.replace(note, body=visible(reason).strip())

    def _changed(self, done: Written, path: str) -> Changed:
        """What a write did to the file at `path`."""
        before, data = done.before[path], done.after[path]
        commit = None if before == data else done.commit
        diff = unified_diff(lenient_text(before), lenient_text(data), path)
        origin = partial(self._origin, path, commit)
        told = self._minded(done, [path])
        return Changed(path, version_of(data or b""), commit, before is None, diff, told, origin)

    def _origin(self, path: str, commit: str | None) -> Commit | None:
        return self._told_of(self._timeline.origin(path, commit))

    def _minded(self, done: Written, paths: Iterable[str]) -> tuple[str, ...]:
        """What to mind about a write of `paths`."""
        texts = ((lenient_text(done.after[path]) or "", lenient_text(done.before[path])) for path in paths)
        told = tuple(words for text, before in texts for words in warnings(text, before, done.secrets))
        if done.unrecorded:
            told = (*told, done.unrecorded.words)
        return (*told, FOREIGN_INDEX) if done.is_index_foreign else told

    def _saved(self, done: Written, path: str) -> Saved:
        change = self._changed(done, path)
        entry = parse_entry(path, done.after[path] or b"")
        return Saved(**vars(change), entry=entry)

    def _note(self, tool: str, what: str) -> Note:
        return self._voice.note(tool, what, self.settings.person)


def diff_of(done: Written) -> str:
    """What a write changed, as a unified diff."""
    return "".join(
        unified_diff(lenient_text(done.before[path]), lenient_text(data), path) for path, data in done.after.items()
    )
