"""Recall by meaning: joins entries with the vectors of their texts. Words go on without it, whatever happens to it.

An entry gets its vectors when a recall comes upon it, within a second, the likeliest first; `embed` gives them to all.
They are kept by the id of the entry's blob, so that an edited one gets others, and one that is brought back has them.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..disk import state
from ..disk.allowed import Allowed
from ..disk.derived import Cache
from ..disk.fork_lock import Guard, loading
from ..errors import EmbedderFailed
from ..results import Finding, Reindexed
from ..search import Ranked
from ..text.commands import program_at
from ..workspace.layout import SETTINGS
from ..workspace.settings import Vectors
from ..workspace.workspace import Workspace
from .catalog import Progress
from .entries import EntrySource

if TYPE_CHECKING:
    from ..embeddings.embedder import Array, Embedder
    from ..embeddings.table import VectorTable


#: Seconds that a recall spends on entries without vectors.
PATIENCE = 1.0
#: After so many failures in a row an embedder is left alone for a while.
FAILURES = 3
PAUSE = timedelta(seconds=60)
# Seconds for one batch of texts, when nobody waits for an answer.
_NO_HURRY = 60.0
#: Texts in one batch for an embedder.
AT_ONCE = 64
# New vectors that are worth writing the file, and after how many `embed` writes it anyway.
_WORTH_SAVING, _SAVED_EVERY = 32, 1_000
# Told unasked is only what is this many times as like a message as texts with something in common (`Model.floor`). With
# all-MiniLM-L6-v2 notes of agents are told before .91 instead of .73 of the questions, and no more than one message of
# small talk in a hundred is spoken to besides; with 1.2 times it was two to four.
_MUCH = 1.4
_ALONE, _IN_PART = "by words alone: ", "facts without vectors count by words alone: "


class _Trust:
    """A circuit breaker for an embedder: falsy for `PAUSE` after `FAILURES` failures in a row."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._failures = 0
        self._last: datetime | None = None
        #: The message about the last failure.
        self.trouble = ""

    def __bool__(self) -> bool:
        return self._failures < FAILURES or self._last is None or self._clock() >= self._last + PAUSE

    def gain(self) -> None:
        """Note a success: the count of failures begins anew."""
        self._failures = 0

    def lose(self, error: EmbedderFailed) -> str:
        """Note a failure, and return the message about it."""
        self._failures, self._last, self.trouble = self._failures + 1, self._clock(), str(error)
        return self.trouble


class _Choice(NamedTuple):
    """The maker of vectors that these settings name."""

    rules: Vectors
    embedder: "Embedder"


class Meaning:
    """Ranks by meaning with the embedder that the settings name, and keeps its vectors in a derived file.

    Safe between threads. No model is loaded before the first question.
    """

    def __init__(
        self,
        workspace: Workspace,
        environment: Mapping[str, str],
        clock: Callable[[], datetime],
        embedder: "Embedder | None" = None,
        file: str = state.VECTORS,
    ) -> None:
        """`environment` holds the keys of services, and locates this user's permissions. A given `embedder` overrides
        the settings and needs no permission.

        `file` is one of the names in `disk/state`: entries and sections keep their vectors in different files.
        """
        self._root = workspace.root
        self._cache = Cache(workspace.private, file)
        self._environment = environment
        self._allowed = Allowed(environment)
        self._given = embedder
        #: The loaded embedder with the settings it was chosen by; None before the first question.
        self._choice: _Choice | None = None
        #: Its vectors, on disk or not, and how many of them the file lacks.
        self._kept: VectorTable | None = None
        self._unsaved = 0
        #: Blob ids of the current entries: saving drops other vectors. None while unknown, as after a look at the past.
        self._keys: frozenset[bytes] | None = None
        #: The last answer of `_positions`, with the versions and the table that it was computed from.
        self._places: tuple[Mapping[str, bytes], VectorTable, dict[str, int], Array] | None = None
        # Two, as an embedder may fail on long entries and still embed questions.
        self._asking, self._making = _Trust(clock), _Trust(clock)
        # `_beginning` is held to choose the embedder, `_growing` to make or save vectors.
        self._beginning, self._growing = Guard(), Guard()

    def rank(
        self,
        source: EntrySource,
        rules: Vectors,
        query: str,
        search: Callable[[int | None], list[Ranked]],
        limit: int,
        accept: Callable[[str], bool] | None = None,
    ) -> tuple[list[Ranked], str]:
        """Return the best entries by words and meaning, and a message if all or some are ranked by words alone.

        `search(limit)` ranks by words and already applies `accept`. Entries
        without vectors get some, for at most `PATIENCE` seconds. Nothing is loaded or sent, and no key is read, before
        this user allowed it.
        """
        asked, trouble = self._asked(rules, query)
        if asked is None:
            return search(limit), trouble
        embedder, kept, vector = asked
        by_words = search(None)
        kept, trouble = self._with_missing(embedder, kept, source, (found.key for found in by_words))
        positions, places = self._positions(source, kept)
        likeness = kept.model.likeness(kept.cosines(vector))[places]
        return _fuse(positions, likeness, by_words, limit, accept, rules.weight, kept.model.floor), trouble

    def likest(self, source: EntrySource, rules: Vectors, text: str) -> list[str]:
        """The paths of entries close to `text` in meaning, the closest first; empty if no embedder answers.

        Considers only entries that have vectors and makes none: this runs before a turn, when nobody asked a question.
        """
        asked, _ = self._asked(rules, text)
        if asked is None:
            return []
        _, kept, vector = asked
        positions, places = self._positions(source, kept)
        likeness = kept.model.likeness(kept.cosines(vector))[places]
        least, paths = _MUCH * kept.model.floor, list(positions)
        return [paths[at] for at in (-likeness).argsort(kind="stable").tolist() if likeness[at] >= least]

    def _asked(self, rules: Vectors, text: str) -> "tuple[tuple[Embedder, VectorTable, Array] | None, str]":
        """Return the embedder, its table of vectors and the vector of `text`; or None with a message why not.

        A failure counts towards the pause in which the embedder is not asked.
        """
        if refusal := self._refusal(rules):
            return None, f"{_ALONE}{refusal}"
        if not self._asking:
            return None, f"{_ALONE}{self._asking.trouble}"
        try:
            embedder, kept = self._embedder_and_table(rules)
            vector = self._vector(embedder, text)
            if len(vector) != kept.model.dimension:
                kept = self._start_over(embedder, len(vector))
            self._asking.gain()
        except EmbedderFailed as error:
            return None, f"{_ALONE}{self._asking.lose(error)}"
        return (embedder, kept, vector), ""

    def embed(self, source: EntrySource, rules: Vectors, progress: Progress | None = None) -> Reindexed:
        """Make the vectors of all entries that have none. May download the model that the settings name.

        Raises:
            EmbedderFailed: the embedder failed; vectors made before that are kept.
        """
        name, embedder = self._choose(rules, in_a_hurry=False)
        with self._growing:  # one thread at a time makes vectors
            kept = self._matching(embedder)
            self._choice, self._kept = None, kept  # the embedder chosen before may be another, and its vectors, too
            missing = _missing(source.versions, kept)

            def report(before: int, done: int) -> bool:
                if progress:
                    progress(before + done, len(missing))
                return True  # never stop early: nobody waits for an answer

            for start in range(0, len(missing), _SAVED_EVERY):
                some = missing[start : start + _SAVED_EVERY]
                self._add(kept, _embed(embedder, source, some, partial(report, start)), source)
                kept = self._latest(kept)
                self._write()
        self._choice = None  # somebody who asked meanwhile may have loaded the table before it was written
        # It works: recall need not leave it alone for its failures any more.
        self._asking.gain()
        self._making.gain()
        return Reindexed(len(source.versions), name, kept.model.dimension, len(missing))

    def findings(self, source: EntrySource, rules: Vectors) -> Iterator[Finding]:
        """For `doctor`: whether the embedder answers, and how many entries have vectors. Asks it one short text."""
        try:
            name, embedder = self._choose(rules)
            self._vector(embedder, "Does it work?")
            kept = self._matching(embedder)
        except EmbedderFailed as error:
            yield Finding("warning", SETTINGS, f"recall goes by words alone: {error}")
            return
        keys = [key for path, key in source.versions.items() if path not in source.notes]
        there = sum(key in kept for key in keys)
        rest = "" if there == len(keys) else "; recalls make the others, or `crabmem doctor --reindex` now"
        about = f"recall by meaning asks {name}, {kept.model.dimension} dimensions"
        yield Finding("info", "", f"{about}; {there} of {len(keys)} facts have vectors{rest}")

    def save(self, least: int = _WORTH_SAVING) -> None:
        """Save vectors for the next process if at least `least` are unsaved. Do nothing if they cannot be written.

        With `least=1`, as at closing, wait for a thread that is making vectors, since nobody would save them later.
        Otherwise a busy thread means not saving now.
        """
        if self._unsaved >= least and self._growing.acquire(timeout=0 if least > 1 else PATIENCE):
            try:
                self._write()
            finally:
                self._growing.release()

    def _write(self) -> None:
        """Save the vectors, or forget them after a purge. Call it with `_growing` held."""
        if self._cache.renew():
            self._kept = None  # it has vectors of what was purged
        elif self._kept is not None:
            with suppress(OSError):
                self._cache.keep(self._put)

    def _put(self, file: Path) -> None:
        if self._kept is not None:
            self._kept, self._unsaved = self._kept.saved(file, self._keys), 0

    # Who is asked

    def _embedder_and_table(self, rules: Vectors) -> "tuple[Embedder, VectorTable]":
        with self._beginning:
            if self._choice is None or self._choice.rules != rules or self._kept is None:
                _, embedder = self._choose(rules)
                self._kept = self._matching(embedder)
                # Last: if `_matching` raised after this, the next question would mix this embedder with the old table.
                self._choice = _Choice(rules, embedder)
            return self._choice.embedder, self._kept

    def _choose(self, rules: Vectors, in_a_hurry: bool = True) -> "tuple[str, Embedder]":
        """Return the embedder of the settings and its name for messages. Not in a hurry, it may download its model.

        Raises:
            EmbedderFailed: this user has not allowed it, its key is missing, or it cannot be loaded.
        """
        with loading():
            from ..embeddings.providers import EmbedderOptions, choose_embedder
        if self._given is not None:
            return type(self._given).__name__, self._given
        if refusal := self._refusal(rules):
            raise EmbedderFailed(refusal)
        key = self._environment.get(rules.key, "").strip() if rules.key else ""
        if rules.key and not (key.isascii() and key.isprintable() and key):
            raise EmbedderFailed(f"the environment variable {rules.key} holds no key; vectors.key names it")
        timeout = rules.timeout if in_a_hurry else max(rules.timeout, _NO_HURRY)
        wanted = EmbedderOptions(rules.model, rules.url, key, timeout, self._root, may_download=not in_a_hurry)
        name, embedder = choose_embedder(rules.provider, wanted)
        return f"{name} {rules.model}".strip(), embedder

    def _refusal(self, rules: Vectors) -> str:
        """The message that this user has not allowed the embedder in the settings; "" if allowed, or one was given."""
        if self._given is not None or self._allowed.reach(self._root).vectors == rules.named:
            return ""
        # What the settings say may be a stranger's words, so they are not repeated here, where a model may read them.
        way_out = f"`{program_at(str(self._root), self._environment)} config allow`"
        return f"[vectors] in {SETTINGS} is not allowed on this machine; {way_out} says what it would do, and allows it"

    def _matching(self, embedder: "Embedder") -> "VectorTable":
        """The saved vectors, or unsaved ones of this process, if they are of this embedder; else an empty table."""
        from ..embeddings.table import load, matching

        return matching((self._kept if self._unsaved else None) or load(self._cache.place), embedder)

    def _start_over(self, embedder: "Embedder", dimension: int) -> "VectorTable":
        """Begin an empty table: the service now has a model of another dimension under the same name."""
        from ..embeddings.embedder import probe
        from ..embeddings.table import VectorTable

        kept = VectorTable(probe(embedder))
        kept.check_dimension(dimension)
        self._kept = kept
        return kept

    # Vectors

    def _vector(self, embedder: "Embedder", query: str) -> "Array":
        from ..embeddings.embedder import embed_checked, pieces

        vector: Array = embed_checked(embedder, pieces(query)[:1])[0]
        return vector

    def _with_missing(
        self, embedder: "Embedder", kept: "VectorTable", source: EntrySource, first: Iterable[str]
    ) -> "tuple[VectorTable, str]":
        """Return the table with vectors for entries that had none, made for at most `PATIENCE` seconds.

        Entries in `first` come first. Nothing is made while the embedder is in a pause, or another thread is at it.
        A failure is returned as a message.
        """
        _, places = self._positions(source, kept)
        has_all = not len(places) or int(places.max()) < len(kept)
        if has_all:
            return kept, ""
        if not self._making:
            return kept, f"{_IN_PART}{self._making.trouble}"
        if not self._growing.acquire(timeout=0):
            return kept, ""  # somebody is at it: what there is will do
        try:
            kept = self._latest(kept)
            missing = _missing(source.versions, kept, first)
            end = time.monotonic() + PATIENCE
            self._add(kept, _embed(embedder, source, missing, lambda done: time.monotonic() < end), source)
            self._making.gain()
            return self._latest(kept), ""
        except EmbedderFailed as error:
            return self._latest(kept), f"{_IN_PART}{self._making.lose(error)}"
        finally:
            self._growing.release()

    def _latest(self, kept: "VectorTable") -> "VectorTable":
        """The newest table if it is of the same model, else `kept`: another thread may have switched models."""
        return self._kept if self._kept is not None and self._kept.model == kept.model else kept

    def _add(self, kept: "VectorTable", made: "Iterator[dict[bytes, Array]]", source: EntrySource) -> None:
        """Add all vectors that `made` yields to the table in memory, also those yielded before it raises."""
        new: dict[bytes, Array] = {}
        try:
            for some in made:
                for rows in some.values():
                    kept.check_dimension(rows.shape[1])
                new.update(some)
        finally:
            self._keys = None if source.is_past else frozenset(source.versions.values())
            if self._kept is None or self._kept.model == kept.model:
                self._kept = kept.plus(new)
                self._unsaved += len(new)

    def _positions(self, source: EntrySource, kept: "VectorTable") -> "tuple[dict[str, int], Array]":
        """Return the position of each path, and by position the place of its vectors in the table.

        The place of an entry without vectors is `len(kept)`, behind all others. The last answer is cached.
        """
        placed = self._places
        if placed is None or placed[0] is not source.versions or placed[1] is not kept:
            positions = {path: position for position, path in enumerate(source.versions)}
            placed = source.versions, kept, positions, kept.places(source.versions.values())
            self._places = placed
        return placed[2], placed[3]


def _fuse(
    positions: Mapping[str, int],
    likeness: "Array",
    by_words: list[Ranked],
    limit: int,
    accept: Callable[[str], bool] | None,
    weight: float,
    floor: float,
) -> list[Ranked]:
    """Return the best by words and likeness that `accept` accepts. `likeness` is indexed by the positions of paths.

    Hits by words were accepted by the search already, so only hits by meaning alone are checked again.
    """
    import numpy as np

    from ..embeddings.fusion import fuse

    words = np.zeros(len(positions))
    for found in by_words:
        words[positions[found.key]] = found.score
    paths, best = list(positions), list[Ranked]()
    for position, score, by_meaning in fuse(words, likeness, weight, floor, limit):
        if accept is None or words[position] > 0 or accept(paths[position]):
            best.append(Ranked(paths[position], score, by_meaning))
        if len(best) == limit:
            break
    return best


def _missing(versions: Mapping[str, bytes], kept: "VectorTable", first: Iterable[str] = ()) -> list[str]:
    return [path for path in dict.fromkeys((*first, *versions)) if versions[path] not in kept]


def _embed(
    embedder: "Embedder", source: EntrySource, paths: list[str], goes_on: Callable[[int], bool]
) -> "Iterator[dict[bytes, Array]]":
    """Yield the vectors of the entries by blob id, a batch at a time, until `goes_on(done)` returns False.

    An entry has a row for each piece of its text, as models take only short texts.
    """
    import numpy as np

    from ..embeddings.embedder import embed_checked, pieces

    for start in range(0, len(paths), AT_ONCE):
        some = paths[start : start + AT_ONCE]
        texts = [
            pieces("\n".join((entry.name, *entry.aliases, entry.description, entry.content)))
            for entry in map(source.at, some)
        ]
        rows = iter(embed_checked(embedder, [piece for text in texts for piece in text]))
        yield {
            source.versions[path]: np.stack([next(rows) for _ in text]) for path, text in zip(some, texts, strict=True)
        }
        if not goes_on(start + len(some)):
            return
