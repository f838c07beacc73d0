"""Memory: every operation once, a few lines each, over the parts below. Returns values, raises `CrabmemError`."""

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from . import fs, prompt
from .bounds import MAX_REASON
from .bylines import kept
from .catalog import NAME, Progress, found, readable
from .credentials import refuse_new, warnings
from .edit import appended, counted, grown, in_style_of, shortened, shown, unified_diff
from .entry import MAX_NOTE, Entry, Fact, check_text, checked, decoded, parsed
from .erasing import Wanted
from .errors import CrabmemError, Disabled, InvalidArguments, NotFound
from .facts import ALIKE, SAME, filed, name_of
from .history import Note, Packed, identity
from .history.commit import moving, one_line
from .learnings import Lesson, learned
from .merging import Conflicting, Take
from .plan import Plan
from .proposals import Now, Proposals, against, applied
from .reading import labels_of
from .results import (
    CREATOR,
    Begun,
    Changed,
    Commit,
    Finding,
    Forgotten,
    Proposal,
    Proposed,
    Purge,
    Reindexed,
    Renamed,
    Restored,
    Reverted,
    Rewritten,
    Saved,
    Standing,
)
from .reverting import Unwanted, noted, subject
from .slots import Slot, check_slot
from .slug import name_key
from .speaking import likest, said_in
from .store import Scan
from .timeline import undoing
from .tree import Tree, drafted
from .using import Using
from .version import short, version_of
from .workspace import SETTINGS
from .writer import Draft, Written

# Of a fact, so much stands in a note: a line.
_NOTED = 300

if TYPE_CHECKING:
    from .linking import Renaming
    from .purging import Purger


class Memory(Using):
    """An agent's handle on one workspace. Safe between threads; any number of processes may have one.

    Nothing is made on disk before the first write.
    """

    def recover(self) -> None:
        """Finish what a crash interrupted, unless somebody is writing at this moment."""
        if self._writer.is_interrupted():
            known = len(self._writer.repairs())
            with suppress(CrabmemError):  # the next write says what is wrong; reading goes on
                self._writer.recover()
                self.recovered = tuple(self._writer.repairs()[known:])

    def init(self, claim: bool = False, is_seeded: bool = True, dry_run: bool = False) -> Begun:
        """Make the workspace, with the files that its profile has one begin with; nothing where there is one.

        With `claim`, also in an ordinary repository that holds no memory yet. Without `is_seeded` no file is made.
        With `dry_run` nothing is written, and the answer says what would be.
        """
        if self._history.has_begun():
            return Begun(str(self.root), False, None, (), ())
        note = Note("init: a new memory", identity(CREATOR))
        return self._begin(self._seeds if is_seeded else lambda scan: {}, note, claim, dry_run)

    def use_profile(self, claim: bool = False, dry_run: bool = False) -> Begun:
        """Have the settings name the profile that this was opened with, and make the files that it begins with.

        All in one commit, which may be the first. Nothing that is there, or once was, is made again. `claim` and
        `dry_run` are as for `init`.
        """
        from .seeding import naming  # late: few writes seed anything

        def wanted(scan: Scan) -> dict[str, bytes]:
            text = naming(decoded(SETTINGS, scan.data(SETTINGS) or b""), self._profile_here())
            return {SETTINGS: text.encode(), **self._seeds(scan)}

        note = Note(f"init: the profile {one_line(self._profile_here())}", identity(CREATOR))
        return self._begin(wanted, note, claim, dry_run)

    def remember(
        self,
        name: str,
        description: str,
        content: str,
        *,
        aliases: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        if_version: str | None = None,
    ) -> Saved:
        """Save a fact under its name, replacing the entry of that name.

        `aliases` and `tags` of None leave those there are. With `if_version` the entry must still
        be that version.

        Raises:
            InvalidArguments: something given cannot be kept.
            Stale: the entry is not at `if_version` any more.
            HoldsSecret: there is a credential in it, and the settings refuse that.
        """
        fact = checked(Fact(name, description, content, labels_of(aliases), labels_of(tags)))

        def decide(scan: Scan) -> Draft:
            plan = self._plan(scan)
            path = plan.add(fact)
            self._timeline.check_version(path, scan.files.get(path), if_version)
            return Draft(plan.files, self._note("remember", fact.name))

        done = self._write(decide)
        [path] = done.after
        return self._saved(done, path)

    def save_fact(self, content: str, category: str | None = None) -> Saved:
        """Save a fact of which only the words are given, and note it in the note of today, in one commit.

        It is called by its first sentence, and replaces what is called so; the same again changes nothing. Its
        category is its first tag; without one a new fact gets that of a fact that is much alike. Of one that says as
        good as the same a warning tells: what only seems to be the same is never merged.

        Raises: as `remember`.
        """
        name, now = name_of(content), self._clock()
        if not name:
            raise InvalidArguments("the content is blank; say the fact")
        before, like = self._known(name, content)
        tags = filed(category, before, like)
        fact = checked(Fact(name, before.description if before else "", content, tags=tags))

        def decide(scan: Scan) -> Draft:
            plan = self._plan(scan)
            plan.add(fact)
            noted = self._noted(scan, now, f"- [{now:%H:%M}] {shortened(content, _NOTED)}\n") if plan.changed else {}
            return Draft({**plan.files, **noted}, self._note("remember", fact.name))

        done = self._write(decide)
        saved = self._saved(done, next(iter(done.after)))
        if like is None or not _is_twin(content, like.content, self.settings.language):
            return saved
        twin = f"{like.name} says nearly the same; forget one of them"
        return dataclasses.replace(saved, warnings=(*saved.warnings, twin))

    def remember_all(
        self, facts: Iterable[Fact], source: str, dry_run: bool = False, replace: bool = True
    ) -> list[Saved | CrabmemError]:
        """Save many facts in one commit, `import: N facts from <source>`; what became of each, in their order.

        A fact that cannot be kept stands in the answer as the error that says why, and stops no other. Without
        `replace`, entries that say something else stay, and are an `AlreadyThere`. With `dry_run` nothing is written,
        and the answer is what it would be, without a commit.
        """
        given, places = list(facts), list[str | CrabmemError]()

        def decide(scan: Scan) -> Draft:
            plan = self._plan(scan)
            places[:] = [plan.tried(fact, replace) for fact in given]
            words = f"{counted(len(plan.changed), 'fact')} from {one_line(source)}"
            return Draft(plan.files, self._note("import", words))

        done = self._tried(decide) if dry_run else self._write(decide)
        return [place if isinstance(place, CrabmemError) else self._saved(done, place) for place in places]

    def keep(self, items: Mapping[Slot, Fact | None]) -> str | None:
        """Save facts in slots and empty those of None, all in one commit; its id, None when nothing was to be done.

        What is in a slot already keeps its name; a new fact whose name another has gets a digest of its slot after it.

        Raises: as `remember`.
        """
        for slot in items:
            check_slot(slot)
        facts = {
            slot: fact and checked(dataclasses.replace(fact, keys={**fact.keys, **slot.keys}))
            for slot, fact in items.items()
        }
        if not any(facts.values()) and not any(self.item(slot) for slot in facts):
            return None

        def decide(scan: Scan) -> Draft:
            plan = self._plan(scan)
            names = [(fact, plan.keep(slot, fact)) for slot, fact in facts.items()]
            return Draft(plan.files, self._kept_note([(fact is None, name) for fact, name in names if name]))

        return self._write(decide).commit

    def forget(self, name: str) -> Forgotten:
        """Remove the entry called `name` from memory; history keeps it, and `purge` erases it from there too.

        Raises:
            NotFound: there is none.
        """

        def decide(scan: Scan) -> Draft:
            entry = found(self._catalog.listing(scan), name)
            return Draft({entry.path: None}, self._note("forget", entry.name))

        done = self._write(decide)
        self._forget_uses()
        [(path, before)] = done.before.items()
        entry = next(iter(readable([(path, before or b"")])), None)
        return Forgotten(entry.name if entry else name, path, done.commit)

    def rename(self, old: str, new: str, *, keep_alias: bool = False, dry_run: bool = False) -> Renamed:
        """Give the entry called `old` another name, and lead every `[[link]]` to it there, all in one commit.

        Its file moves along when it is called by the old name; history follows. The old name is none of its
        names any more, unless `keep_alias` says so. With `dry_run` nothing is written.

        Raises:
            NotFound: there is no such entry.
            InvalidArguments: the new name cannot be one, or another entry answers to it.
        """
        from .linking import renaming

        name, plans = checked(Fact(new, "", "")).name, list[tuple[Entry, "Renaming"]]()

        def decide(scan: Scan) -> Draft:
            entry = found(listing := self._catalog.listing(scan), old)
            plan = renaming(listing, entry, name, keep_alias, self._kept_from_agents())
            refuse_new(shown(plan.files[plan.path]) or "", shown(scan.data(entry.path)), self.settings.secrets)
            plans.append((entry, plan))
            return Draft(plan.files, self._renaming_note(entry, name, plan.path))

        done = self._tried(decide) if dry_run else self._write(decide)
        entry, plan = plans[-1]
        paths = tuple(path for path, data in done.after.items() if data != done.before[path])
        return Renamed(name, entry.name, plan.path, entry.path, done.commit, paths, plan.left, _diff(done))

    def write_overview(self, content: str, if_version: str | None = None) -> Changed:
        """Replace `MEMORY.md`; with `if_version`, only if it still is that version."""
        return self._write_file(self.layout.overview, content, "memory", if_version)

    def write_identity(self, content: str, if_version: str | None = None, reason: str = "") -> Changed:
        """Replace `Crab.md`; with `if_version`, only if it still is that version. `reason` is for the history.

        Where the settings let agents only propose that, it is a `Proposed`, and the file stays as it is.

        Raises:
            Disabled: the settings do not let agents do that.
        """
        if self.soul_editable:
            return self._write_file(self.layout.identity, content, "soul", if_version, reason)
        if self.settings.soul == "propose":
            return self.propose_identity(content, reason, if_version)
        raise Disabled(
            f"writing {self.layout.identity} is disabled; a person may edit the file, or set soul_editable = true in "
            'crabmem.toml, or soul = "propose" to be asked'
        )

    def propose_identity(self, content: str, reason: str = "", if_version: str | None = None) -> Proposed:
        """Propose what `Crab.md` should say, for a person to decide on: no file changes, and the branch does not move.

        The same text again, while it waits, is the same proposal.

        Raises:
            InvalidArguments: it is blank, cannot be kept, or is what the file says.
            Full: too many wait already.
            HoldsSecret: there is a credential in it, and the settings refuse that.
        """
        path = self.layout.identity
        check_text("content", content, self.profile.largest)
        if not content.strip():
            raise InvalidArguments(f"a proposal is the whole new text of {path}, and this one is blank")
        waiting, note = self._proposals, self._reasoned("propose", path, reason)

        def decide(scan: Scan) -> bytes:
            return self._file_written(scan, path, content, if_version, reason)

        def propose(scan: Scan) -> Proposed:
            now, before = self._identity_in(scan), scan.data(path)
            made = against(waiting.add(decide(scan), now, note, self._clock()), now)
            told = warnings(f"{shown(made.data)}\n{reason}", now.text, self.settings.secrets)
            origin = partial(self._timeline.origin, path, None)
            return Proposed(path, version_of(before or b""), None, False, made.diff, told, origin, made)

        if not self._history.has_begun():
            decide(self._store.scan())  # what is refused anyway makes no workspace
            self.init()
        return self._writer.beside(propose)

    def proposals(self) -> list[Proposal]:
        """What waits for a person to decide, the oldest first."""
        found, now = self._proposals.all(), self._identity_now()
        return [against(each, now) for each in found]

    def proposal(self, id: str) -> Proposal:
        """The proposal whose id begins so.

        Raises:
            NotFound: there is none.
            InvalidArguments: there are several.
        """
        return against(self._proposals.named(id), self._identity_now())

    def apply_proposal(self, id: str) -> Changed:
        """Write the identity as it was proposed, with what was changed since, in a person's commit.

        Raises:
            Disabled: it is an agent that asks.
            Conflicting: the same lines were changed since.
            NotFound: there is no such proposal.
        """
        proposal = self._to_decide_on(id)
        path, words = proposal.path, f"{proposal.path.rpartition('/')[2]} as {proposal.author} proposed"
        keys = (("Proposal", proposal.id), ("Proposed-by", proposal.author))
        plain = self._note("apply", words)
        note = dataclasses.replace(plain, body=proposal.reason, trailers=(*plain.trailers, *keys))

        def decide(scan: Scan) -> Draft:
            done = applied(proposal, scan.data(path))
            if done.conflicts:
                raise Conflicting(
                    done.conflicts, f"nothing was applied: edit {path} yourself, then reject the proposal"
                )
            return Draft({path: done.data}, note)

        changed = self._changed(self._write(decide), path)
        self._writer.beside(lambda scan: self._proposals.drop(proposal))
        return changed

    def reject_proposal(self, id: str) -> Proposal:
        """Let a proposal go. History keeps it no longer, and Git removes it by and by; `purge` does at once.

        Raises:
            Disabled: it is an agent that asks.
            NotFound: there is no such proposal.
        """
        proposal = self._to_decide_on(id)
        self._writer.beside(lambda scan: self._proposals.drop(proposal))
        return proposal

    def write_note(self, text: str, title: str = "") -> Changed:
        """Add `text`, under a heading with the time and `title`, to the note of today, `memory/YYYY-MM-DD.md`.

        Nothing that is there changes, whoever adds to it at the same moment. For what is to be kept and is no fact
        yet: a person and Git read notes, recall does not.

        Raises:
            InvalidArguments: it cannot be kept.
            HoldsSecret: there is a credential in it, and the settings refuse that.
        """
        check_text("note", text, MAX_NOTE)
        if not text.strip():
            raise InvalidArguments("the note is empty; give it a text")
        now = self._clock()
        heading = f"{now:%H:%M} ({one_line(title)})" if title else f"{now:%H:%M}"
        path = self.layout.note_path(now.date())

        def decide(scan: Scan) -> Draft:
            files = self._noted(scan, now, f"## {heading}\n\n{text}\n")
            return Draft(files, self._note("note", path.rpartition("/")[2]))

        return self._changed(self._write(decide), path)

    def learn(self, lesson: Lesson) -> Changed:
        """Add what was learned of a mistake to the file of its kind, as `learnings/errors.md`; one line, one commit.

        What the last line there says already is not said again. Of a file of more than 50,000 bytes the older half
        goes; history keeps it.

        Raises:
            InvalidArguments: it cannot be kept, or the profile names a folder for it whose history is not kept.
            HoldsSecret: there is a credential in it, and the settings refuse that.
        """
        check_text("lesson", lesson.words)
        path = self.layout.learning_path(lesson.kind)
        if not self.layout.is_kept(path):
            raise InvalidArguments(f"the history of {path} is not kept; name its folder in `beside` of the profile")

        def decide(scan: Scan) -> Draft:
            before = decoded(path, scan.data(path) or b"")
            after = learned(before, lesson, self._clock())
            refuse_new(after, before, self.settings.secrets)
            return Draft({path: after.encode()}, self._note("learn", lesson.kind))

        return self._changed(self._write(decide), path)

    def rewrite(
        self, what: str, work: Callable[[Tree], Mapping[str, str | None]], *, even_if_many: bool = False
    ) -> Rewritten:
        """Write, move or remove files below `memory/` in one commit: what `work` says, by path, None for no file.

        `work` is given the files as they are while nobody else writes; what it raises, nothing is written
        after. It may be asked twice. `what` becomes the subject of the commit, `memory: <what>`.

        Raises:
            InvalidArguments: a path or a text cannot be kept.
            HoldsSecret: there is a credential in a text, and the settings refuse that.
            Disabled: it would change what is in a file that only grows, unless `even_if_many`.
            MassLoss: more than a third of the entries would be gone; `even_if_many` says that this is meant.
        """

        def decide(scan: Scan) -> Draft:
            tree = Tree(scan, self.layout, self._sees)
            files = self._drafted(tree, work(tree), may_shrink=even_if_many)
            return Draft(files, self._note("memory", one_line(what)), even_if_many)

        done = self._write(decide)
        return Rewritten(done.commit, tuple(done.after), _diff(done), self._minded(done, done.after))

    def rewrite_file(
        self, what: str, path: str, change: Callable[[str | None], str], if_version: str | None = None
    ) -> Changed:
        """Write the file at `path` below `memory/`: what `change` makes of what it says, None for no file.

        Otherwise as `rewrite`; with `if_version`, only if the file still is that version.
        """
        whole = self.layout.memory_path(path)

        def decide(scan: Scan) -> Draft:
            tree = Tree(scan, self.layout, self._sees)
            file = scan.files[whole] if path in tree else None
            self._timeline.check_version(whole, file, if_version)
            text = change(tree.text(path) if file else None)
            return Draft(self._drafted(tree, {path: text}), self._note("memory", one_line(what)))

        return self._changed(self._write(decide), whole)

    def adopt(self, even_if_many: bool = False) -> Commit | None:
        """Record what was changed on disk from outside as a commit of the person; None when nothing was.

        That more than a third of the entries are gone is recorded only with `even_if_many`; see `unrecorded`.
        """
        self.init()
        before = self._history.head()
        after = self._writer.adopt(even_if_many)
        return self._history.commit(after) if after and after != before else None

    def wrote(self, files: Iterable[str]) -> Commit | None:
        """Record `files` that a tool of the agent's host wrote as a commit of this agent, `write: NAME`.

        What others changed is recorded before it, as the person's. Passed over are files elsewhere, and those whose
        history is not kept. An agent that writes `Crab.md` so cannot be stopped any more: that is recorded, too. When
        this fails, whoever records the files next still says who wrote them, unless they were changed again. None
        when there was nothing of these files to record.

        Raises:
            Unwritable: the folder is in a repository of something else.
        """
        paths = kept(self._workspace, files)
        before = self._history.head() if self._history.exists() else None
        after = self._writer.adopt_written(paths, self._voice) if paths else None
        made = self._history.commits(after, before) if after and after != before else ()
        return next((each for each in made if each.tool == "write" and not set(paths).isdisjoint(each.paths)), None)

    def restore(self) -> Restored:
        """Bring back the files that are gone from disk and were not forgotten, and the entries that were emptied there.

        Those that `unrecorded` tells of, and any others that were deleted since the last write. An agent does not
        bring back the identity, which it may not write, or the settings.
        """
        scan, head = self._store.scan(), self._timeline.head()
        outside = self._writer.outside(scan)
        held = self._writer.unrecorded(scan)
        gone = {path for path, file in outside.items() if file is None} | set(held.paths if held else ())
        blobs = {path: self._history.file(head, path) for path in gone - self._kept_from_agents()}
        if not blobs:
            return Restored(None, head or "", (), "")
        return self._restored(head or "", lambda scan: blobs, self._note("restore", counted(len(blobs), "file")))

    def rollback(
        self, to: str, name: str | None = None, *, dry_run: bool = False, even_if_many: bool = False
    ) -> Restored:
        """Bring back the files as they were at a revision or time, as a new commit; nothing is erased.

        With `name`, that entry alone, with the name and file name it had. With `dry_run` nothing is written, and the
        answer says what would be.

        Raises:
            NotFound: there is no such revision, the history begins later, or there was no such entry then.
            InvalidArguments: another entry has the file name that it had.
            MassLoss: more than a third of the entries would be gone; `even_if_many` says that this is meant.
        """
        commit = self._timeline.commit_at(to)
        words = f"to {short(commit)}" if commit.startswith(to) else f"to {to} ({short(commit)})"
        if name is None:
            state = self._timeline.state_of(commit)
            note = noted(self._note("rollback", words), restored=commit)
            return self._restored(
                commit, lambda scan: {**dict.fromkeys(scan.files), **state}, note, dry_run, even_if_many
            )
        path, note = self._path_at(name, commit), self._note("rollback", f"{name} {words}")
        then = self._timeline.path_at(path, commit)
        blob = self._history.file(commit, then)
        if blob is None:
            raise NotFound(f"there was no {then} at {to}; `crabmem forget` removes what is there now")
        if then != path and then in self._store.scan().files:
            raise InvalidArguments(f"{then}, where it was at {to}, is another entry now; rename that one first")
        return self._restored(commit, lambda scan: {path: None, then: blob}, note, dry_run)

    def revert(
        self,
        commits: str | Sequence[str] = (),
        *,
        session: str | None = None,
        agent: str | None = None,
        since: str | None = None,
        take: Take = None,
        dry_run: bool = False,
        even_if_many: bool = False,
    ) -> Reverted:
        """Take back `commits`, or what a session or an agent did, as one new commit; later work stays.

        Of a session or an agent, only what was done after the revision or time `since`, and was not taken back
        before. Where the same lines were changed since, `take` decides: "ours" keeps what is there now, "theirs"
        takes them back all the same. Of a merge, what it brought into the branch is taken back. With `dry_run`
        nothing is written, and the answer says what would be.

        Raises:
            Conflicting: the same lines were changed since, and `take` is None.
            NotFound: there is no such commit.
            MassLoss: more than a third of the entries would be gone; `even_if_many` says that this is meant.
        """
        named = (commits,) if isinstance(commits, str) else tuple(commits)
        unwanted = Unwanted(named, session, agent, since)
        chosen = self._reverting.chosen(unwanted)

        def decide(scan: Scan) -> Draft:
            files = self._reverting.without(chosen, scan, take)
            self._check_may_restore(set(files))
            note = noted(self._note("revert", subject(chosen, unwanted)), chosen)
            return Draft(files, note, even_if_many)

        done = self._tried(decide) if dry_run else self._write(decide)
        return Reverted(done.commit, tuple(chosen), tuple(done.after), _diff(done))

    def undo(self, *, even_if_many: bool = False) -> Restored:
        """Take back the newest commit as a new one; undoing again brings it back.

        Raises:
            InvalidArguments: there is nothing to undo, or its files were changed since.
            MassLoss: more than a third of the entries would be gone; `even_if_many` says that this is meant.
        """
        commit, before, state = self._timeline.undone()
        note = noted(self._note("rollback", undoing(commit.subject)), [commit])
        return self._restored(before, state, note, even_if_many=even_if_many)

    def purge_plan(self, name: str | None = None, *, text: str | None = None, pattern: str | None = None) -> Purge:
        """What `purge` would do; nothing is changed.

        Raises:
            NotFound: there is nothing to purge.
            Unwritable: this history cannot be rewritten alone.
        """
        return self._purger().plan(Wanted(name, text, pattern))

    def purge(
        self, name: str | None = None, *, text: str | None = None, pattern: str | None = None, force: bool = False
    ) -> Purge:
        """Erase an entry, a text, or what a regular expression finds, from the files and all of their history.

        Every commit from the first that holds it on gets another id; all else of them stays, but signatures.
        Nothing brings it back. Then every object and file is read: `standing` says where it still stands.

        Raises:
            NotFound: there is nothing to purge.
            Unwritable: this history cannot be rewritten alone, or, without `force`, remotes have what is purged.
        """
        self._upkeep.close()
        done = self._purger().purge(Wanted(name, text, pattern), force)
        self._forget_uses()
        return done

    def standing(self, name: str | None = None, *, text: str | None = None, pattern: str | None = None) -> Standing:
        """Where an entry, a text, or what a regular expression finds, stands in any object or file; changes nothing."""
        return self._purger().standing(Wanted(name, text, pattern))

    def doctor(self, progress: Callable[[int], None] | None = None) -> list[Finding]:
        """What is wrong or odd about the workspace, errors first; nothing is changed.

        Reads the whole history, as `git fsck` does: `progress` is told how many objects it has seen.
        """
        from .doctor import Patient, examined

        try:
            scan = self._store.scan()
        except CrabmemError as error:
            return [Finding("error", "", str(error), "files")]
        parts = (self._workspace, self._history, self._writer, self._catalog, self._meaning, lambda: self.settings)
        return examined(Patient(*parts, self.profile.finds, scan, self._clock(), progress or (lambda count: None)))

    def compact(self, progress: Callable[[int], None] | None = None) -> Packed | None:
        """Pack what writes left behind, as happens by itself now and then; None when nothing was to be done.

        Others may read and write meanwhile. `progress` is told how many objects are packed. Work of that
        kind that was begun here is waited for.
        """
        self._upkeep.close()
        return self._history.compact(progress, whole=True)

    def reindex(self, progress: Progress | None = None) -> Reindexed:
        """Read every entry, and every file that is searched, anew, and make the vectors that meaning lacks, if wanted.

        Needed for nothing: recall does it by and by. `progress` is told of how many entries there are vectors. A
        model that the settings name is fetched when it is not on this machine; nothing else ever does that.

        Raises:
            EmbedderFailed: vectors cannot be made; words are found all the same.
        """
        self._catalog.begin_anew()
        listing = self._steadily(self._listing)
        self._catalog.save(least=1)
        sections, rules = self._sections_anew(), self.settings.vectors
        if not self._meaning.is_wanted(rules):
            return Reindexed(len(listing.index), sections=len(sections.index) if sections else 0)
        done = self._meaning.embed(listing, rules, progress)
        if sections is None:
            return done
        more = self._meaning_of_sections.embed(sections, rules, progress)
        return replace(done, made=done.made + more.made, sections=more.entries)

    def mend(self) -> list[str]:
        """Mend what can be mended without a choice; what was done, a line each.

        Finishes an interrupted write, stores again what the history lost and the disk has, brings Git's
        index in step, and keeps other users of the machine out.
        """
        from .doctor import open_to_others

        if not self._history.has_begun():
            return []
        done = self._writer.mend()
        if open_to_others(self.root):
            fs.chmod(self.root, fs.PRIVATE_FOLDER)
            done.append(f"{self.root} was made private")
        return done

    # What the operations share

    def _purger(self) -> "Purger":
        from .purging import Purger

        return Purger(self._workspace, self._history, self._writer, lambda: self._steadily(self._listing))

    def _write(self, decide: Callable[[Scan], Draft]) -> Written:
        def seen(scan: Scan) -> Draft:
            draft = decide(scan)
            for path in draft.changes:
                self._refuse_hidden(path)
            return draft

        if not self._history.has_begun():
            seen(self._store.scan())  # what is refused anyway makes no workspace
            self.init()
        done = self._writer.write(seen)
        self._upkeep.nudge()
        return done

    def _grown(self, scan: Scan, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """Those of `files` that the profile lets only grow: what is there, in its own bytes, and more.

        Raises:
            Disabled: something that is there would be gone.
        """
        profile = self.profile
        paths = [path for path in files if path in scan.files and profile.only_grows(path)]
        texts = {path: grown(shown(scan.data(path)) or "", shown(files[path]) or "") for path in paths}
        if changed := next((path for path, text in texts.items() if text is None), None):
            raise Disabled(
                f"{changed} only grows, and something in it would change; read it again and add to its end, "
                "or use the tool note"
            )
        return {path: (text or "").encode() for path, text in texts.items()}

    def _refuse_hidden(self, path: str) -> None:
        if not self._sees(path):
            raise Disabled(f"{path} is not for sessions of the kind {self.kind}; leave it to one of the kind main")

    def _tried(self, decide: Callable[[Scan], Draft]) -> Written:
        """What a write would do now."""
        scan = self._store.scan()
        changes = decide(scan).changes
        return Written(None, {path: scan.data(path) for path in changes}, changes)

    def _plan(self, scan: Scan) -> Plan:
        return Plan(self._catalog.listing(scan), scan, self.settings.secrets)

    def _begin(
        self, wanted: Callable[[Scan], Mapping[str, bytes]], note: Note, claim: bool = False, dry_run: bool = False
    ) -> Begun:
        """Write the files that are wanted where nothing stands, and settings; the first commit, where there is none."""
        left, made = list[str](), not self._history.exists()

        def decide(scan: Scan) -> Draft:
            files = wanted(scan)
            left[:] = [path for path in files if path != SETTINGS and os.path.lexists(self.file(path))]
            return Draft({path: data for path, data in files.items() if path not in left}, note)

        if claim and not dry_run and not made and not self._history.has_begun():
            self._history.claim()
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

    def _drafted(
        self, tree: Tree, changes: Mapping[str, str | None], may_shrink: bool = False
    ) -> dict[str, bytes | None]:
        files = drafted(tree, changes, self.settings.secrets, self.profile.largest)
        return files if may_shrink else files | self._grown(tree.scan, files)

    def _write_file(self, path: str, content: str, tool: str, if_version: str | None, reason: str = "") -> Changed:
        check_text("content", content, self.profile.largest)
        self._refuse_hidden(path)
        note = self._reasoned(tool, path, reason)

        def decide(scan: Scan) -> Draft:
            return Draft({path: self._file_written(scan, path, content, if_version, reason)}, note)

        return self._changed(self._write(decide), path)

    def _file_written(self, scan: Scan, path: str, content: str, if_version: str | None, reason: str) -> bytes:
        """What a whole file holds with `content`, which may be kept, as `reason` may."""
        self._timeline.check_version(path, scan.files.get(path), if_version)
        before = decoded(path, scan.data(path) or b"")
        text = in_style_of(content, before)
        refuse_new(f"{text}\n{reason}", before, self.settings.secrets)
        return text.encode()

    def _reasoned(self, tool: str, path: str, reason: str) -> Note:
        """The words of a commit about a whole file."""
        check_text("reason", reason, MAX_REASON)
        note = self._note(tool, path.rpartition("/")[2])
        return dataclasses.replace(note, body=prompt.visible(reason).strip())

    def _identity_in(self, scan: Scan) -> Now:
        data = scan.data(path := self.layout.identity)
        return Now(data, self.identity().text if data is None else decoded(path, data))

    def _identity_now(self) -> Now:
        return self._steadily(lambda: self._identity_in(self._store.scan()))

    @property
    def _proposals(self) -> Proposals:
        self._refuse_hidden(self.layout.identity)
        return Proposals(self._history, self.layout.identity)

    def _to_decide_on(self, id: str) -> Proposal:
        """The proposal whose id begins so, for a person to decide on."""
        if self._voice.agent:
            raise Disabled("a person decides on proposals, and no agent; ask the person to look at `crabmem proposals`")
        return self._proposals.named(id)

    def _restored(
        self,
        to: str,
        wanted: Callable[[Scan], Mapping[str, str | None]],
        note: Note,
        dry_run: bool = False,
        even_if_many: bool = False,
    ) -> Restored:
        """Write the blobs that `wanted` names by path (None: no file), and say what that changed."""

        def decide(scan: Scan) -> Draft:
            blobs = wanted(scan)
            changed = {path for path, blob in blobs.items() if blob != scan.blob(path)}
            self._check_may_restore(changed)
            data = {path: self._history.blob(blob) if (blob := blobs[path]) else None for path in sorted(changed)}
            return Draft(data, note, even_if_many)

        done = self._tried(decide) if dry_run else self._write(decide)
        return Restored(done.commit, to, tuple(done.after), _diff(done))

    def _check_may_restore(self, paths: set[str]) -> None:
        """Refuse an agent the way back to an identity or settings that the person has changed since."""
        if changed := sorted(paths & self._kept_from_agents()):
            raise Disabled(f"that would change {changed[0]}, which an agent may not; a person may go back")

    def _kept_from_agents(self) -> set[str]:
        """The files that whoever speaks here may not bring back: an agent those that are the person's."""
        if not self._voice.agent:
            return set()
        return {SETTINGS} if self.soul_editable else {SETTINGS, self.layout.identity}

    def _renaming_note(self, entry: Entry, name: str, path: str) -> Note:
        note = self._note("rename", f"{entry.name} to {name}")
        keys = (("Entry", name), ("Entry", entry.name), moving(entry.path, path))
        return dataclasses.replace(note, trailers=(*note.trailers, *keys))

    def _changed(self, done: Written, path: str) -> Changed:
        """What a write did to the file at `path`."""
        before, data = done.before[path], done.after[path]
        commit = None if before == data else done.commit
        diff = unified_diff(shown(before), shown(data), path)
        origin = partial(self._timeline.origin, path, commit)
        told = self._minded(done, [path])
        return Changed(path, version_of(data or b""), commit, before is None, diff, told, origin)

    def _minded(self, done: Written, paths: Iterable[str]) -> tuple[str, ...]:
        """What to mind about a write of `paths`."""
        rule = self.settings.secrets
        texts = ((shown(done.after[path]) or "", shown(done.before[path])) for path in paths)
        told = tuple(words for text, before in texts for words in warnings(text, before, rule))
        return (*told, done.unrecorded.words) if done.unrecorded else told

    def _saved(self, done: Written, path: str) -> Saved:
        change = self._changed(done, path)
        entry = parsed(path, done.after[path] or b"")
        return Saved(**vars(change), entry=entry)

    def _noted(self, scan: Scan, now: datetime, text: str) -> dict[str, bytes | None]:
        """The note of a day with `text` after a blank line, by its path; lines of one list go together.

        Raises:
            HoldsSecret: there is a credential in it, and the settings refuse that.
        """
        path = self.layout.note_path(now.date())
        before = decoded(path, scan.data(path) or b"")
        is_listed = text.startswith("- ") and before.rstrip("\r\n").rpartition("\n")[2].startswith("- ")
        after = appended(before or f"# {now.date().isoformat()}\n", text if is_listed else f"\n{text}")
        refuse_new(after, before, self.settings.secrets)
        return {path: after.encode()}

    def _known(self, name: str, content: str) -> tuple[Entry | None, Entry | None]:
        """The entry of that name; or, without one, another that says much of `content`."""
        language = self.settings.language

        def look() -> tuple[Entry | None, Entry | None]:
            listing = self._listing()
            if same := listing.having(NAME + name_key(name)):
                return same[0], None
            like = likest(content, listing, language, self._in_sight(None))
            return None, like if like and said_in(content, like.content, language) >= ALIKE else None

        return self._steadily(look)

    def _forget_uses(self) -> None:
        """Forget how what is gone was used."""
        if self._workspace.uses.exists():
            self._uses.keep(self._steadily(lambda: list(self._listing().index.marks())))

    def _kept_note(self, names: Sequence[tuple[bool, str]]) -> Note:
        """The words for facts that are saved or, where True, removed: of a single one those of its tool."""
        if len(names) == 1:
            [(is_gone, name)] = names
            return self._note("forget" if is_gone else "remember", name)
        gone = sum(is_gone for is_gone, _ in names)
        parts = (f"{counted(len(names) - gone, 'fact')} saved", f"{gone} removed" if gone else "")
        return self._note("store", ", ".join(filter(None, parts)))

    def _note(self, tool: str, what: str) -> Note:
        return self._voice.note(tool, what, self.settings.person)


def _diff(done: Written) -> str:
    """What a write changed, as a unified diff."""
    return "".join(unified_diff(shown(done.before[path]), shown(data), path) for path, data in done.after.items())


def _is_twin(one: str, other: str, language: str) -> bool:
    """Whether two texts say nearly the same."""
    return min(said_in(one, other, language), said_in(other, one, language)) >= SAME
