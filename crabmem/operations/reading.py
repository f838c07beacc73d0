"""Reading memory: looks at the disk, takes no lock, changes nothing."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from ..disk.store import Scan, Store
from ..errors import Disabled, InvalidArguments, NotFound
from ..git.provenance import with_provenance
from ..recall.catalog import Listing, Shelf, found, note_of
from ..recall.ranking import PathFilter, check_question, narrowed
from ..recall.snapshots import Past
from ..recall.source import Source
from ..results import Commit, Document, Evaluation, Finding, Links, Provenance, Recall, Reference
from ..session import Handle, T
from ..text import templates as prompt
from ..text.credentials import warnings
from ..text.edit import lenient_text
from ..text.entry import MAX_NAME, Entry, decode, parse_entry
from ..text.evaluation import Expectation
from ..text.hashes import version_of
from ..text.slug import slug_of
from ..workspace.layout import DEFAULT, Layout
from ..workspace.workspace import Workspace
from ..write.losses import Losses
from ..write.tree import Tree
from .evaluate import evaluated

if TYPE_CHECKING:
    from ..prompt.profile import Profile

#: Asks a source, of what was changed when that was asked for.
_Answer: TypeAlias = Callable[[Source, PathFilter | None], Recall]
_identity, _overview = attrgetter("identity"), attrgetter("overview")
_ASKS_OTHERS = "by words alone: the settings name another model than then"


class Reading(Handle):
    """What memory holds, now and at any moment."""

    def recall(
        self,
        query: str,
        limit: int | None = None,
        tags: Sequence[str] = (),
        *,
        since: str | None = None,
        until: str | None = None,
        budget: int | None = None,
        explain: bool = False,
        blame: bool = False,
        as_of: str | None = None,
        namespace: Sequence[str] = (),
        where: Callable[[Entry], bool] | None = None,
    ) -> Recall:
        """The entries that answer `query` best, at most `limit` (None: the setting), having all `tags`.

        Where the profile recalls daily notes they are found, too, and `Hit.passage` is what answers of one; not with
        `tags`, `namespace` or `where`.

        `deploy*` in it stands for all words that begin so, and `"deploy key"` has to stand there word by word.
        Only those last changed after the revision or time `since`, and not after `until`. With `budget`, so
        many characters of text at most: of long facts the passage that matched, and the last are left out
        rather than cut to nothing; name and description of the first are always there. Only those in `namespace`,
        or below it, and of which `where` says so: for stores of keys and values. With `explain`, hits say
        what their scores are made of, with `blame` who wrote them when.

        With `as_of`, from the memory as it was at that revision or time, with the settings of then: what a workspace
        would find that holds those files. Meaning counts for it while the settings still name who was asked then.

        Raises:
            InvalidArguments: a blank or endless query, too many tags, or a limit or budget out of its bounds.
            NotFound: there is no such revision or time.
        """
        check_question(query, limit, tags, budget)
        labels = labels_of(tags) or ()

        def answer(source: Source, changed: PathFilter | None) -> Recall:
            asked = narrowed(source.shelf, changed, tuple(namespace), where)
            found = source.recall(query, limit, labels, budget, explain, self._in_sight(asked))
            notes = 0 if namespace or where else found.notes
            return self._counted(replace(found, notes=notes), source, bool(labels or asked))

        look = self._recalled if as_of is None else partial(self._recalled_of_old, as_of)
        found = self._steadily(lambda: look(answer, since, until))
        if self._denied and (trouble := self._find_denied()):  # asked at each recall only where it was so before
            found = replace(found, trouble="; ".join(filter(None, (found.trouble, trouble))))
        if hidden := [] if found.as_of else self._hidden_repositories():
            found = replace(found, trouble="; ".join(filter(None, (found.trouble, *hidden))))
        if blame:
            scan = None if found.as_of else self._store.scan()
            found = self._with_provenance(found, scan)
        self._catalog.save()
        self._meaning.save()
        return found

    def evaluate(
        self,
        questions: Iterable[Expectation],
        limit: int = 10,
        since: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Evaluation:
        """How well recall answers `questions`, with `limit` hits each; those for other workspaces are passed over.

        With `since`, also how well it would have in the memory as it was at that revision or time, with the settings
        of then. `progress` is told how many questions of how many were asked.

        Raises:
            NotFound: what must be found is no entry, now or then; or there is no such revision.
            InvalidArguments: a question cannot be asked, or none is for this workspace.
        """
        self._check_whole()
        asked, then = list(questions), None if since is None else self._timeline.commit_at(since)
        past = None if then is None else self._source(then)

        return self._steadily(lambda: evaluated(asked, self.root.name, limit, self._source_now(), past, progress))

    def get(self, name: str, at: str | None = None) -> Entry:
        """The entry called `name`, now or as it was at a revision or time; else the daily note of that day, whole.

        Raises:
            NotFound: there is none.
        """
        shelf: Shelf = self._listing() if at is None else self._past(self._timeline.commit_at(at))
        try:
            return found(shelf, name, self._sees)
        except NotFound:
            note = note_of(shelf, name)
            if note is not None and self._sees(note.path):
                return note
            for path in self._places_of(slug_of(name[:MAX_NAME])) if at is None else ():
                if self._sees(path) and (data := self._store.read(path)):
                    parse_entry(path, data)  # says so when the file is there and cannot be read
            raise

    def entries(self, at: str | None = None, *, since: str | None = None) -> list[Entry]:
        """All entries in the order of their paths, now or as they were at a revision or time.

        With `since`, only those last changed after that revision or time.
        """
        commit = None if at is None else self._timeline.commit_at(at)

        def read() -> list[Entry]:
            shelf = self._listing() if commit is None else self._past(commit)
            fits = self._changed_within(shelf.blob, since, None, commit)
            return [entry for entry in shelf.entries if self._sees(entry.path) and (fits is None or fits(entry.path))]

        return self._steadily(read)

    def page(self, after: str, limit: int) -> list[Entry]:
        """The first `limit` entries whose paths come after `after`, in the order of their paths; no other is read."""

        def read() -> list[Entry]:
            listing = self._listing()
            paths = (path for path in listing.paths if path > after and self._sees(path))
            return [listing.at(path) for path in islice(paths, limit)]

        return self._steadily(read)

    def blobs(self) -> dict[str, str]:
        """The id of the blob of every file that crabmem keeps the history of, by path, as they are on disk now."""
        files = self._steadily(self._look).files
        return {path: file.blob for path, file in files.items() if self._sees(path)}

    def overview(self, at: str | None = None) -> Document:
        """`MEMORY.md`; an agent's own workspace without one shows its parent's.

        With `at`, as it was at a revision or time.
        """
        return self._document(_overview, at)

    def identity(self, at: str | None = None) -> Document:
        """`Crab.md`, else the parent's, else the text a new workspace begins with; with `at`, as it was then."""
        document = self._document(_identity, at)
        is_there = document.text or document.version or not self._sees(document.path)
        return document if is_there else Document(document.path, prompt.template("identity"), None)

    def links(self, name: str | None = None) -> Links:
        """The `[[links]]` out of an entry (or MEMORY.md, Crab.md) and into it; without a name, all that lead nowhere.

        A link leads to a file's name, else to a name, else to an alias. Every file is read for that.

        Raises:
            NotFound: there is no such entry.
        """
        from .rename import references

        links = self._steadily(lambda: tuple(references(self._listing())))
        found = tuple(self._leading(link) for link in links if self._sees(link.path))
        if name is None:
            return Links(None, (), (), tuple(link for link in found if link.to is None))
        path = self._whole_file(name) or self.get(name).path
        own = tuple(link for link in found if link.path == path)
        into = tuple(link for link in found if link.to == path != link.path)
        return Links(path, own, into, tuple(link for link in own if link.to is None))

    def browse(self, read: Callable[[Tree], T]) -> T:
        """What `read` makes of the files below `memory/`; it may be asked again when one of them is being changed."""
        return self._steadily(lambda: read(Tree(self._store.scan(), self.layout, self._sees)))

    def secrets(self, paths: Iterable[str]) -> list[Finding]:
        """Warnings about what looks like a credential in the files at `paths`, unless the settings want none."""
        scan = self._store.scan()
        texts = {path: lenient_text(scan.data(path)) or "" for path in filter(self._sees, paths)}
        rule = self.settings.secrets
        return [Finding("warning", path, words) for path in texts for words in warnings(texts[path], None, rule)]

    def unrecorded(self) -> Losses | None:
        """What was lost on disk, when it is so many entries that no write records it before it is confirmed.

        `restore` brings them back; `adopt(even_if_many=True)` records that they are gone.
        """
        return self._writer.unrecorded(self._store.scan())

    def _recalled(self, answer: _Answer, since: str | None, until: str | None) -> Recall:
        source = self._source_now()
        return answer(source, self._changed_within(source.shelf.blob, since, until))

    def _recalled_of_old(self, as_of: str, answer: _Answer, since: str | None, until: str | None) -> Recall:
        commit = self._timeline.commit_at(as_of)
        source = self._source(commit)
        found = answer(source, self._changed_within(source.shelf.blob, since, until, commit))
        is_mute = source.ranking is None and self._meaning.is_wanted(source.rules.vectors)
        return replace(found, as_of=commit, trouble=found.trouble or (_ASKS_OTHERS if is_mute else ""))

    def _changed_within(
        self, blob: Callable[[str], str | None], since: str | None, until: str | None, latest: str | None = None
    ) -> PathFilter | None:
        """Whether what `blob` says is at a path was not there yet at `since`, and already at `until`.

        With `latest`, the commit that is looked at: what came after it is not known there.
        """
        if since is None and until is None:
            return None
        before = {} if since is None else self._timeline.state_since(since, latest)
        after = None if until is None else self._timeline.state_since(until, latest, is_end=True)

        def fits(path: str) -> bool:
            own = blob(path)
            return before.get(path) != own and (after is None or after.get(path) == own)

        return fits

    def _past(self, commit: str, keep: bool = True) -> Past:
        """The entries as they were at a commit; with `keep` the next process knows them, too."""
        return self._pasts.at(commit, self._rules_of(commit).language, keep)

    def _source_now(self) -> Source:
        return self._source_of(self._listing())

    def _source_of(self, listing: Listing) -> Source:
        rules = self._settings_of(listing.scan)
        return Source(listing, rules, self._today, self._ranking(listing, rules))

    def _source(self, commit: str, keep: bool = True) -> Source:
        """The entries of a commit, with the settings of then. Whom those of today do not name is asked nothing."""
        shelf, rules = self._past(commit, keep), self._rules_of(commit)
        return Source(shelf, rules, self._today, self._ranking_as_asked_now(shelf, rules))

    def _in_sight(self, fits: PathFilter | None) -> PathFilter | None:
        """`fits`, of what a session of this kind may see."""
        if self.kind == "main":
            return fits
        return lambda path: self._sees(path) and (fits is None or fits(path))

    def _counted(self, found: Recall, source: Source, is_filtered: bool) -> Recall:
        """`found`, which looked at no more than a session of this kind may see; `is_filtered`: less was asked for."""
        if self.kind == "main":
            return found
        shelf = source.shelf
        broken = (item if isinstance(item, str) else item.path for item in shelf.unreadable)
        profile = self.profile  # looked at once, for all files
        hidden = partial(profile.hides, kind=self.kind)
        unreadable, notes = (sum(not hidden(path) for path in paths) for paths in (broken, shelf.notes))
        searched = sum(not hidden(path) for path in shelf.index.marks()) - notes
        notes = min(notes, found.notes)
        return replace(found, searched=searched, unreadable=unreadable, is_filtered=is_filtered, notes=notes)

    def _with_provenance(self, found: Recall, scan: Scan | None) -> Recall:
        """`found`, each hit with where it comes from, as far as a session of this kind may know."""
        hits = with_provenance(found.hits, self._history, scan, found.as_of)
        return replace(found, hits=tuple(replace(hit, provenance=self._known_of(hit.provenance)) for hit in hits))

    def _known_of(self, origin: Provenance | None) -> Provenance | None:
        if origin is None or self.kind == "main":
            return origin
        learned, changed = map(self._told_of, (origin.learned, origin.changed))
        return replace(origin, learned=learned, changed=changed)

    def _told_of(self, commit: Commit | None) -> Commit | None:
        """`commit`, without its words and paths where these name what a session of this kind may not see."""
        if commit is None or all(map(self._sees, commit.paths)):
            return commit
        seen = tuple(filter(self._sees, commit.paths))
        return dataclasses.replace(commit, subject="", entries=(), paths=seen, renamed=None)

    def _hidden_repositories(self) -> list[str]:
        """What to say of folders of facts that recall did not look into, as they are repositories of their own."""
        unreadable = self._listing().unreadable
        return [f"{item.path}: {item.reason}" for item in unreadable if item.is_repository]

    def _leading(self, link: Reference) -> Reference:
        """A link; one to what a session of this kind may not see leads nowhere."""
        return link if link.to is None or self._sees(link.to) else replace(link, to=None)

    def _check_whole(self) -> None:
        """Refuse what tells of all files at once to a session of a kind that may not see them all."""
        if self._kind != "main" and self.profile.hides_any(self._kind):
            raise Disabled(f"sessions of the kind {self._kind} see only some files; ask in one of the kind main")

    def _check_seen(self, path: str, words: str) -> None:
        """Raise NotFound for what a session of this kind may not see."""
        if not self._sees(path):
            raise NotFound(words)

    def _document(self, path_in: Callable[[Layout], str], at: str | None = None) -> Document:
        """A whole file; the parent's, without a version to write over, where there is none."""
        path = path_in(self.layout)
        if not self._sees(path):
            return Document(path, "", None)
        data = self._own(path, at)
        text = decode(path, (self._parents(path_in, at) if data is None else data) or b"")
        return Document(path, text, None if data is None else version_of(data))

    def _own(self, path: str, at: str | None) -> bytes | None:
        """The bytes of a file, now or as it was at a revision or time; None where there is none."""
        if at is not None:
            return self._timeline.file(self._timeline.commit_at(at), path)
        data = self._store.read(path)
        if data is None:
            self._check_not_moved()
        return data

    def _parents(self, path_in: Callable[[Layout], str], at: str | None) -> bytes | None:
        """The bytes of a file of the workspace around an agent's own; None where there is none, of either."""
        if (parent := self._parent) is None:
            return None
        path = path_in(parent.layout)
        if self._kind != "main" and _profile_of(parent).hides(path, self._kind):
            return None
        if at is not None:
            return self._timeline.file_of(parent, self._timeline.commit_at(at), path)
        return Store(parent, self._clock_ns).read(path)

    def _places_of(self, slug: str) -> list[str]:
        """Where an entry whose file is called `slug` may be, though it cannot be read."""
        broken = (item.path for item in self._listing().unreadable)
        nested = [path for path in broken if path.endswith(f"/{slug}.md") and self.layout.is_entry(path)]
        return [*self.layout.places(slug), *nested]

    def _whole_file(self, name: str) -> str | None:
        """The path of MEMORY.md, Crab.md or the settings, where `name` means one; an entry's path means the entry."""
        path = self.layout.whole_file(name)
        is_of_entry = path is not None and self.layout.is_entry(name) and name in self._listing().scan.files
        return None if is_of_entry else path

    def _path_of(self, name: str) -> str:
        """Where the entry called `name` is, or was when it was last written about; or MEMORY.md, Crab.md."""
        try:
            path = self._whole_file(name) or self.get(name).path
        except NotFound:
            last = self._timeline.last_path(name)
            if last is None or not self._sees(last):
                raise
            return last
        self._check_seen(path, f"no entry named: {name}")
        return path

    def _path_at(self, name: str, commit: str) -> str:
        """Where the entry called `name` is, or else was at `commit`, or else when it was last written about."""
        try:
            return self._path_of(name)
        except NotFound:
            return self.get(name, commit).path


def _profile_of(workspace: Workspace) -> "Profile":
    from ..prompt.profile import named  # late: most sessions are main

    return named(workspace.profile or DEFAULT)


def labels_of(labels: Sequence[str] | None) -> tuple[str, ...] | None:
    """Aliases or tags as they were given; None for none given.

    Raises:
        InvalidArguments: they are one text.
    """
    if isinstance(labels, str):
        raise InvalidArguments(f"aliases and tags are lists of texts: give [{labels!r}]")
    return None if labels is None else tuple(labels)
