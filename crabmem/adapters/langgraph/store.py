"""The store itself: what LangGraph asks, in terms of a memory."""

import asyncio
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from datetime import datetime
from functools import partial
from weakref import WeakKeyDictionary

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from ...errors import CrabmemError, InvalidArguments
from ...memory import Memory
from ...operations import keyvalue
from ...text.keys import Key, key_of, ttl_of
from .filters import listed
from .lane import Lane
from .searching import Found, found
from .values import fact_of, value_of
from .vectors import WAITING_LOOP, Vectors

# What an operation finds, before the times of what it finds are known.
_Answer = list[Found] | list[tuple[str, ...]]
# Between two sweeps, where nobody says.
_SWEEP_MINUTES = 5.0


class Store(BaseStore):
    """A store over one memory. A batch is one commit, and so is what tasks of one event loop put at the same time.

    A search with a query is recall; with an `index` it goes by the embeddings that are named there, as LangGraph's own
    stores do. `put` with `index=False`, or with the paths to search an item by, holds in either case.

    An item with a `ttl` is gone once that is over: nothing here gives it any more, and `sweep_ttl` removes it from the
    files. History keeps it, as everything that was forgotten.
    """

    supports_ttl = True

    def __init__(self, memory: Memory, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> None:
        """`index` and `ttl` are those of LangGraph's own stores; what is expired is always omitted."""
        self._memory = memory
        self._vectors = Vectors(memory, index) if index else None
        self._lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, Lane] = WeakKeyDictionary()
        self._sweeper: _Sweeper | None = None
        self.index_config = index
        self.embeddings = self._vectors.embeddings if self._vectors else None
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all of `ops`: what is asked is answered as it was before what is put."""
        given = list(ops)
        puts = {Key(tuple(op.namespace), op.key): op for op in given if isinstance(op, PutOp)}
        facts = {
            key: None if op.value is None else fact_of(key, op.value, _paths(op), op.ttl) for key, op in puts.items()
        }
        answers = self._answers(given)
        if facts:
            keyvalue.keep(self._memory, facts)
            keyvalue.prolong(
                self._memory, (key for key, op in puts.items() if op.value is not None and op.ttl is not None)
            )
        return answers

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same on a thread, so that nobody waits for the disk, together with what others ask for meanwhile."""
        loop = asyncio.get_running_loop()
        lane = self._lanes.get(loop)
        if lane is None:
            lane = self._lanes[loop] = Lane(partial(self._batch_for, loop))
        return await lane.do(list(ops))

    def sweep_ttl(self) -> int:
        """Remove the items that are expired, all in one commit; how many there were."""
        return keyvalue.sweep(self._memory)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """Sweep now and then on a thread of its own, until `stop_ttl_sweeper`, or until nobody has the store any more.

        `sweep_interval_minutes` of None is what the configuration says, or five.
        """
        usual = (self.ttl_config or {}).get("sweep_interval_minutes")
        minutes = next((each for each in (sweep_interval_minutes, usual) if each is not None), _SWEEP_MINUTES)
        Store.stop_ttl_sweeper(self)  # of an `AsyncStore`, too, whose own is awaited
        self._sweeper = _Sweeper(self._memory, minutes * 60)

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop sweeping; whether that ended within so many seconds."""
        sweeper, self._sweeper = self._sweeper, None
        return sweeper is None or sweeper.stop(timeout)

    def __del__(self) -> None:
        if sweeper := getattr(self, "_sweeper", None):
            sweeper.stop(0)

    def _batch_for(self, loop: asyncio.AbstractEventLoop, ops: Sequence[Op]) -> list[Result]:
        WAITING_LOOP.set(loop)  # in the context of this call alone: a thread's work runs in a copy of its caller's
        return self.batch(ops)

    def _answers(self, ops: Sequence[Op]) -> list[Result]:
        """What `ops` ask, one look for all that ask the same."""
        gone = keyvalue.expired(self._memory) if any(not isinstance(op, PutOp) for op in ops) else frozenset[str]()
        answers = dict[str, tuple[Op, _Answer]]()  # by what each operation says: it cannot be hashed itself
        for op in ops:
            if not isinstance(op, PutOp) and repr(op) not in answers:
                answers[repr(op)] = op, self._answer(op, gone)
        self._prolong_read(answers.values())
        results = dict(zip(answers, self._results(answers.values()), strict=True))
        return [None if isinstance(op, PutOp) else copy(results[repr(op)]) for op in ops]

    def _answer(self, op: Op, gone: frozenset[str]) -> _Answer:
        if isinstance(op, GetOp):
            entry = keyvalue.item(self._memory, Key(tuple(op.namespace), op.key))
            return [] if entry is None or entry.path in gone else [Found(entry, None)]
        if isinstance(op, SearchOp):
            return found(self._memory, op, self._vectors, gone)
        if isinstance(op, ListNamespacesOp):
            return listed(keyvalue.namespaces(self._memory, without=gone), op)
        raise InvalidArguments(f"this store does not know the operation {type(op).__name__}")

    def _prolong_read(self, answers: Iterable[tuple[Op, _Answer]]) -> None:
        """Have lives begin anew where reading does that, as the configuration says."""
        if (self.ttl_config or {}).get("refresh_on_read"):
            read = (each for op, answer in answers if getattr(op, "refresh_ttl", False) for each in _found(answer))
            keyvalue.prolong(self._memory, {key_of(each.entry) for each in read if ttl_of(each.entry.keys) is not None})

    def _results(self, answers: Collection[tuple[Op, _Answer]]) -> list[Result]:
        """Answers as LangGraph has them; when things were written is looked up once for all."""
        entries = list({each.entry.path: each.entry for _, answer in answers for each in _found(answer)}.values())
        times = dict(zip((entry.path for entry in entries), keyvalue.times(self._memory, entries), strict=True))
        return [_result(op, answer, times) for op, answer in answers]


class AsyncStore(Store):
    """The same, with sweeps that are awaited, as those of LangGraph's own asynchronous stores are."""

    async def sweep_ttl(self) -> int:  # type: ignore[override]
        return await asyncio.to_thread(super().sweep_ttl)

    async def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:  # type: ignore[override]
        super().start_ttl_sweeper(sweep_interval_minutes)

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # type: ignore[override]
        return await asyncio.to_thread(super().stop_ttl_sweeper, timeout)


class _Sweeper:
    """Sweeps a memory every so many seconds, on a thread that ends with the process."""

    def __init__(self, memory: Memory, seconds: float) -> None:
        self._memory = memory
        self._seconds = seconds
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="crabmem sweeper", daemon=True)
        self._thread.start()

    def stop(self, timeout: float | None) -> bool:
        """Whether it ended within so many seconds."""
        self._is_over.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._is_over.wait(self._seconds):
            with suppress(CrabmemError):  # somebody writes, or the disk is full: the next time is soon
                keyvalue.sweep(self._memory)


def _paths(op: PutOp) -> Sequence[str] | None:
    """The paths that an item is searched by, as a put says: none for False, None for the usual ones."""
    return [] if op.index is False else op.index


def _found(answer: _Answer) -> list[Found]:
    return [each for each in answer if isinstance(each, Found)] if isinstance(answer, list) else []


def _result(op: Op, answer: _Answer, times: Mapping[str, tuple[datetime, datetime]]) -> Result:
    if isinstance(op, ListNamespacesOp):
        return [each for each in answer if not isinstance(each, Found)]
    items = [SearchItem(*key_of(each), value_of(each), *times[each.path], score) for each, score in _found(answer)]
    return items if isinstance(op, SearchOp) else next(map(_unscored, items), None)


def _unscored(item: SearchItem) -> Item:
    return Item(
        value=item.value,
        key=item.key,
        namespace=item.namespace,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )
