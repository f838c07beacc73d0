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


class _Trust:
    """Whether somebody who fails is worth asking: not for a while, after so many failures in a row."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._failures = 0
        self._last: datetime | None = None

    def __bool__(self) -> bool:
        return self._failures < FAILURES or self._last is None or self._clock() >= self._last + PAUSE

    def gain(self) -> None:
        """It worked."""
        self._failures = 0

    def lose(self) -> None:
        """It did not."""
        self._failures, self._last = self._failures + 1, self._clock()


class _Choice(NamedTuple):
    """The maker of vectors that these settings name."""

    rules: Vectors
    embedder: "Embedder"


class Meaning:
    """What recall knows of meaning, as the settings have it. Nothing is loaded while they name nobody who knows it."""

    def __init__(
        self,
        workspace: Workspace,
        environment: Mapping[str, str],
        clock: Callable[[], datetime],
        embedder: "Embedder | None" = None,
        file: str = state.VECTORS,
    ) -> None:
        """`environment` has the keys of services, and says where it is kept what this user allowed. An `embedder` that
        is given wins over the settings, and needs no permission.

        `file` is the name of the derived file in `disk/state`, where other texts have vectors, too.
        """
        self._root = workspace.root
        self._cache = Cache(workspace.private, file)
        self._environment = environment
        self._allowed = Allowed(environment)
        self._given = embedder
        self._choice: _Choice | None = None
        self._kept: VectorTable | None = None
        self._unsaved = 0
        #: The entries of today, None while they are not known.
        self._keys: frozenset[bytes] | None = None
        self._places: tuple[Mapping[str, bytes], VectorTable, dict[str, int], Array] | None = None
        # One may understand questions and choke on entries.
        self._asking, self._making, self._has_reported = _Trust(clock), _Trust(clock), False
        #: For whom it was said that a permission is missing.
        self._refused: Vectors | None = None
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
        """The best by words and meaning, and the first time that this cannot be, why `search` alone says which.

        Nothing is loaded or sent, and no key read, before this user allowed it. `search` finds by words at most so
        many, all of which `accept` accepts; what it finds first is among them.
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
        """The paths of what is much like `text` in meaning, the likest first; none where nobody tells.

        Only what has vectors: none are made, as somebody waits who asked nothing.
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
        """Who makes vectors, those that are kept, and that of `text`; or None, and the first time why."""
        if refusal := self._refusal(rules):
            was_reported, self._refused = self._refused == rules, rules
            return None, "" if was_reported else f"by words alone: {refusal}"
        if not self._asking:
            return None, ""
        try:
            embedder, kept = self._embedder_and_table(rules)
            vector = self._vector(embedder, text)
            if len(vector) != kept.model.dimension:
                kept = self._start_over(embedder, len(vector))
            self._asking.gain()
        except EmbedderFailed as error:
            return None, self._report(error, self._asking)
        return (embedder, kept, vector), ""

    def embed(self, source: EntrySource, rules: Vectors, progress: Progress | None = None) -> Reindexed:
        """Make the vectors of all entries that have none. May download the model that the settings name.

        Raises:
            EmbedderFailed: they cannot be made; those that were are kept.
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
        """Whether it works, and which entries have no vectors yet."""
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
        """Keep for the next process the vectors that were made, when they are so many and there is a place.

        With `least` of 1, as at the end, a thread that makes some just now is waited for: nobody saves them later.
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

    def _report(self, error: EmbedderFailed, trust: _Trust) -> str:
        """What to say of a failure, the first time."""
        trust.lose()
        was_reported, self._has_reported = self._has_reported, True
        return "" if was_reported else f"by words alone: {error}"

    def _embedder_and_table(self, rules: Vectors) -> "tuple[Embedder, VectorTable]":
        with self._beginning:
            if self._choice is None or self._choice.rules != rules or self._kept is None:
                _, embedder = self._choose(rules)
                self._kept = self._matching(embedder)
                # Not before: who asks next would mix its vectors with another's.
                self._choice = _Choice(rules, embedder)
            return self._choice.embedder, self._kept

    def _choose(self, rules: Vectors, in_a_hurry: bool = True) -> "tuple[str, Embedder]":
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
        """Why nobody is asked whom the settings name: this user has not allowed it; "" where they have."""
        if self._given is not None or self._allowed.reach(self._root).vectors == rules.named:
            return ""
        # What the settings say may be a stranger's words, so they are not repeated here, where a model may read them.
        way_out = f"`{program_at(str(self._root), self._environment)} config allow`"
        return f"[vectors] in {SETTINGS} is not allowed on this machine; {way_out} says what it would do, and allows it"

    def _matching(self, embedder: "Embedder") -> "VectorTable":
        """The vectors that are kept of this embedder; none of another."""
        from ..embeddings.table import load, matching

        return matching((self._kept if self._unsaved else None) or load(self._cache.place), embedder)

    def _start_over(self, embedder: "Embedder", dimension: int) -> "VectorTable":
        """No vectors yet: who is asked has become another under the same name."""
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
        """The vectors with those of entries that had none, `first` before others, as far as there is time for it."""
        _, places = self._positions(source, kept)
        has_all = not len(places) or int(places.max()) < len(kept)
        if has_all or not self._making or not self._growing.acquire(timeout=0):
            return kept, ""  # or somebody is at it: what there is will do
        try:
            kept = self._latest(kept)
            missing = _missing(source.versions, kept, first)
            end = time.monotonic() + PATIENCE
            self._add(kept, _embed(embedder, source, missing, lambda done: time.monotonic() < end), source)
            self._making.gain()
            return self._latest(kept), ""
        except EmbedderFailed as error:
            return self._latest(kept), self._report(error, self._making)
        finally:
            self._growing.release()

    def _latest(self, kept: "VectorTable") -> "VectorTable":
        """What there is by now of the same model; another thread may have begun with another."""
        return self._kept if self._kept is not None and self._kept.model == kept.model else kept

    def _add(self, kept: "VectorTable", made: "Iterator[dict[bytes, Array]]", source: EntrySource) -> None:
        """Keep what is `made`, also when it ends in an error."""
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
        """The position of each path, and by position where its vectors are."""
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
    """The best by words and likeness, which is given by the positions of paths."""
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
    """The vectors of some entries at once, while `goes_on` says so, which hears how many are done."""
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
