"""Memory: every operation once, a few lines each, over the parts below. Returns values, raises `CrabmemError`.

Those that read are in the modules from `reading` on, others that write in those from `writing` on.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from .disk import fs
from .disk.bylines import kept
from .disk.store import Scan
from .errors import CrabmemError
from .git import Note, Packed
from .git.commit import TIME, moving, one_line
from .git.erasing import Wanted
from .operations.reading import labels_of
from .operations.restoring import Restoring
from .operations.writing import diff_of
from .recall.catalog import Progress, found, readable
from .results import Changed, Commit, Finding, Forgotten, Purge, Reindexed, Renamed, Rewritten, Saved, Standing
from .text.edit import lenient_text
from .text.entry import Entry, Fact, checked, checked_or_why, render_entry
from .text.keys import Key, check_key
from .text.words import counted
from .write.losses import LEAST
from .write.tree import Tree
from .write.writer import Draft

if TYPE_CHECKING:
    from .operations.purge import Purger
    from .operations.rename import Renaming

# So many facts are saved before somebody is told of it.
_TOLD_EVERY = 50


class Memory(Restoring):
    """An agent's handle on one workspace. Safe between threads; any number of processes may have one.

    Nothing is made on disk before the first write.
    """

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
        screen = self._screen(fact.words)

        def decide(scan: Scan) -> Draft:
            plan = self._plan(scan, screen)
            path = plan.add(fact)
            self._refuse_unseen([path])
            self._timeline.check_version(path, scan.files.get(path), if_version, self._sees)
            return Draft(plan.files, self._note("remember", plan.name_at(path)))

        done = self._write(decide)
        [path] = done.after
        return self._saved(done, path)

    def remember_all(
        self,
        facts: Iterable[Fact],
        source: str,
        dry_run: bool = False,
        replace: bool = True,
        progress: Progress | None = None,
    ) -> list[Saved | CrabmemError]:
        """Save many facts in one commit, `import: N facts from <source>`; what became of each, in their order.

        A fact that cannot be kept stands in the answer as the error that says why, and stops no other. Without
        `replace`, entries that say something else stay, and are an `AlreadyThere`. With `dry_run` nothing is written,
        and the answer is what it would be, without a commit. `progress` is told how much of all of it is done.
        """
        given, places = [checked_or_why(fact) for fact in facts], list[str | CrabmemError]()
        screen = self._screen(*(fact.words for fact in given if isinstance(fact, Fact)))
        text_of = cache(render_entry)  # others wait while it is asked for the second time
        stage = partial(_told, progress, max(len(given), 1), 2 if dry_run else 4)

        def decide(scan: Scan) -> Draft:
            plan, now = self._plan(scan, screen, text_of), stage(2 if places else 0)
            places.clear()
            for fact in given:
                places.append(plan.tried(fact, replace) if isinstance(fact, Fact) else fact)
                now(len(places))
            words = f"{counted(len(plan.changed), 'fact')} from {one_line(source)}"
            return Draft(plan.files, self._note("import", words))

        if dry_run:
            done = self._tried(decide)
        else:
            scan = self._store.scan()
            changes = decide(scan).changes.items()
            self._refuse_unseen(path for path, _ in changes)
            self.init()
            new = dict.fromkeys(data for path, data in changes if data is not None and scan.data(path) != data)
            with self._writer.ahead(new, stage(1)):
                done = self._write(decide)
        saved, now = list[Saved | CrabmemError](), stage(1 if dry_run else 3)
        for place in places:
            saved.append(place if isinstance(place, CrabmemError) else self._saved(done, place))
            now(len(saved))
        return saved

    def keep(self, items: Mapping[Key, Fact | None]) -> str | None:
        """Save facts in slots and empty those of None, all in one commit; its id, None when nothing was to be done.

        What is in a slot already keeps its name; a new fact whose name another has gets a digest of its slot after it.

        Raises: as `remember`.
        """
        for slot in items:
            check_key(slot)
        facts = {
            slot: fact and checked(dataclasses.replace(fact, keys={**fact.keys, **slot.keys}))
            for slot, fact in items.items()
        }
        if not any(facts.values()) and not any(self.item(slot) for slot in facts):
            return None
        screen = self._screen(*(fact.words for fact in facts.values() if fact))

        def decide(scan: Scan) -> Draft:
            plan = self._plan(scan, screen)
            names = [(fact, plan.keep(slot, fact)) for slot, fact in facts.items()]
            note = self._kept_note([(fact is None, name) for fact, name in names if name])
            note = dataclasses.replace(note, trailers=(*note.trailers, (TIME, self._clock().isoformat())))
            # Each of those that go was named, which a few are by no accident.
            return Draft(plan.files, note, even_if_many=list(facts.values()).count(None) < LEAST)

        return self._write(decide).commit

    def sweep(self) -> int:
        """Remove the items whose life is over, all in one commit; how many. History keeps them, as what is forgotten.

        Raises: as `remember`.
        """
        known = self._steadily(lambda: self._expired(self._listing()))
        if not known:
            return 0

        def decide(scan: Scan) -> Draft:
            gone = self._expired(self._catalog.listing(scan))
            note = self._note("store", f"{counted(len(gone), 'expired fact')} removed")
            return Draft(dict.fromkeys(gone), note, even_if_many=True)  # whoever put them said when

        removed = self._write(decide).after
        self._reads.tidy({slot.mark for path, slot in known.items() if path in removed})
        return len(removed)

    def forget(self, name: str) -> Forgotten:
        """Remove the entry called `name` from memory; history keeps it, and `purge` erases it from there too.

        Raises:
            NotFound: there is none.
        """

        def decide(scan: Scan) -> Draft:
            entry = found(self._catalog.listing(scan), name, self._sees)
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
        from .operations.rename import renaming

        name, plans = checked(Fact(new, "", "")).name, list[tuple[Entry, "Renaming"]]()
        screen = self._screen(name)

        def decide(scan: Scan) -> Draft:
            entry = found(listing := self._catalog.listing(scan), old, self._sees)
            plan = renaming(listing, entry, name, keep_alias, self._kept_from_agents(), self._sees)
            screen.refuse_new(name, lenient_text(scan.data(entry.path)))
            plans.append((entry, plan))
            return Draft(plan.files, self._renaming_note(entry, name, plan.path))

        done = self._tried(decide) if dry_run else self._write(decide)
        entry, plan = plans[-1]
        paths = tuple(path for path, data in done.after.items() if data != done.before[path])
        return Renamed(name, entry.name, plan.path, entry.path, done.commit, paths, plan.left, diff_of(done))

    def write_overview(self, content: str, if_version: str | None = None) -> Changed:
        """Replace `MEMORY.md`; with `if_version`, only if it still is that version."""
        return self._write_file(self.layout.overview, content, "memory", if_version)

    def rewrite_entry(self, name: str, text: str, if_version: str | None = None) -> Changed:
        """Replace the whole file of the entry called `name`, frontmatter and all: `edit: NAME`.

        Raises:
            NotFound: there is no such entry.
            Stale: the entry is not at `if_version` any more.
            HoldsSecret: there is a credential in it, and the settings refuse that.
        """
        entry = self.get(name)
        return self._write_file(entry.path, text, "edit", if_version, called=entry.name)

    def rewrite(
        self, what: str, work: Callable[[Tree], Mapping[str, str | None]], *, even_if_many: bool = False
    ) -> Rewritten:
        """Write, move or remove files below `memory/` in one commit: what `work` says, by path, None for no file.

        `work` is given the files as they are while nobody else writes; what it raises, nothing is written
        after. It is asked once before that, so that nobody waits while its texts are looked into. `what` becomes
        the subject of the commit, `memory: <what>`.

        Raises:
            InvalidArguments: a path or a text cannot be kept.
            HoldsSecret: there is a credential in a text, and the settings refuse that.
            Disabled: it would change what is in a file that only grows, unless `even_if_many`.
            MassLoss: too many of the entries would be gone at once; `even_if_many` says that this is meant.
        """

        screen = self._screen()

        def decide(scan: Scan) -> Draft:
            tree = Tree(scan, self.layout, self._sees)
            files = self._drafted(tree, work(tree), screen, may_shrink=even_if_many)
            return Draft(files, self._note("memory", one_line(what)), even_if_many)

        self._look_ahead(decide)
        done = self._write(decide)
        return Rewritten(done.commit, tuple(done.after), self._minded(done, done.after), partial(diff_of, done))

    def rewrite_file(
        self, what: str, path: str, change: Callable[[str | None], str], if_version: str | None = None
    ) -> Changed:
        """Write the file at `path` below `memory/`: what `change` makes of what it says, None for no file.

        Otherwise as `rewrite`; with `if_version`, only if the file still is that version.
        """
        whole, screen = self.layout.memory_path(path), self._screen()

        def decide(scan: Scan) -> Draft:
            tree = Tree(scan, self.layout, self._sees)
            file = scan.files[whole] if path in tree else None
            self._timeline.check_version(whole, file, if_version, self._sees)
            text = change(tree.text(path) if file else None)
            return Draft(self._drafted(tree, {path: text}, screen), self._note("memory", one_line(what)))

        self._look_ahead(decide)
        return self._changed(self._write(decide), whole)

    def adopt(self, even_if_many: bool = False, progress: Progress | None = None) -> Commit | None:
        """Record what was changed on disk from outside as a commit of the person; None when nothing was.

        In a folder without a history it begins one; then the commit is that of the files that lay there.
        That too many of the entries are gone at once is recorded only with `even_if_many`; see `unrecorded`.
        `progress` is told how many of the files that were changed are stored.
        """
        before = self._history.head() if self._history.exists() else None
        begun = self.init(progress=progress)
        self._writer.record_ahead(progress or (lambda done, total: None))
        after = self._writer.adopt(even_if_many)
        if after is None or after == before:
            return None
        edits = self._history.parent(after) if after == begun.commit else after
        return self._told_of(self._history.commit(edits if edits and edits != before else after))

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
        return self._told_of(
            next((each for each in made if each.tool == "write" and not set(paths).isdisjoint(each.paths)), None)
        )

    def purge_plan(self, name: str | None = None, *, text: str | None = None, pattern: str | None = None) -> Purge:
        """What `purge` would do; nothing is changed.

        Raises:
            NotFound: there is nothing to purge.
            Unwritable: this history cannot be rewritten alone.
        """
        self._check_whole()
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
        self._check_whole()
        self._upkeep.close()
        done = self._purger().purge(Wanted(name, text, pattern), force)
        self._forget_uses()
        return done

    def standing(self, name: str | None = None, *, text: str | None = None, pattern: str | None = None) -> Standing:
        """Where an entry, a text, or what a regular expression finds, stands in any object or file; changes nothing."""
        self._check_whole()
        return self._purger().standing(Wanted(name, text, pattern))

    def doctor(self, progress: Callable[[int], None] | None = None) -> list[Finding]:
        """What is wrong or odd about the workspace, errors first; nothing is changed.

        Reads the whole history, as `git fsck` does: `progress` is told how many objects it has seen.
        """
        from .operations.doctor import Patient, examined

        self._check_whole()
        try:
            scan = self._store.scan()
        except CrabmemError as error:
            return [Finding("error", "", str(error), "files")]
        parts = (self._workspace, self._history, self._writer, self._catalog, self._meaning, self._settings_checked)
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
            return Reindexed(len(listing.paths), sections=len(sections.index) if sections else 0)
        done = replace(self._meaning.embed(listing, rules, progress), entries=len(listing.paths))
        if sections is None:
            return done
        more = self._meaning_of_sections.embed(sections, rules, progress)
        return replace(done, made=done.made + more.made, sections=more.entries)

    def mend(self) -> list[str]:
        """Mend what can be mended without a choice; what was done, a line each.

        Finishes an interrupted write, stores again what the history lost and the disk has, brings Git's
        index in step, and keeps other users of the machine out.
        """
        from .operations.doctor import open_to_others

        self._check_whole()
        if not self._history.has_begun():
            return []
        done = self._writer.mend()
        if open_to_others(self.root):
            fs.chmod(self.root, fs.PRIVATE_FOLDER)
            done.append(f"{self.root} was made private")
        return done

    def _purger(self) -> "Purger":
        from .operations.purge import Purger

        return Purger(self._workspace, self._history, self._writer, lambda: self._steadily(self._listing))

    def _renaming_note(self, entry: Entry, name: str, path: str) -> Note:
        note = self._note("rename", f"{entry.name} to {name}")
        keys = (("Entry", name), ("Entry", entry.name), moving(entry.path, path))
        return dataclasses.replace(note, trailers=(*note.trailers, *keys))

    def _kept_note(self, names: Sequence[tuple[bool, str]]) -> Note:
        """The words for facts that are saved or, where True, removed: of a single one those of its tool."""
        if len(names) == 1:
            [(is_gone, name)] = names
            return self._note("forget" if is_gone else "remember", name)
        gone = sum(is_gone for is_gone, _ in names)
        parts = (f"{counted(len(names) - gone, 'fact')} saved", f"{gone} removed" if gone else "")
        return self._note("store", ", ".join(filter(None, parts)))


def _told(progress: Progress | None, size: int, stages: int, stage: int) -> Callable[[int], None]:
    """What tells `progress` how much of a stage is done, of so many that each have the same size."""

    def told(done: int) -> None:
        if progress and (done % _TOLD_EVERY == 0 or done == size):
            progress(stage * size + done, stages * size)

    return told
