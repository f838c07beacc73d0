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

# The result of an operation before its items get their times: items, or namespaces.
_Answer = list[Found] | list[tuple[str, ...]]
# Between two sweeps, if neither the caller nor the configuration says.
_SWEEP_MINUTES = 5.0


class Store(BaseStore):
    """A store over one memory. A batch is one commit, and so are the puts of one event loop's tasks at the same time.

    A search with a query is a recall; with an `index`, a search by the embeddings that the index names, as in
    LangGraph's own stores. Either way `put` may exclude an item from search (`index=False`), or name the paths to
    search it by.

    An item with a `ttl` expires: from then on no operation returns it, and `sweep_ttl` removes it from the files.
    History keeps it, like everything that was forgotten.
    """

    supports_ttl = True

    def __init__(self, memory: Memory, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> None:
        """`index` and `ttl` are as for LangGraph's own stores; but expired items are never returned, even unswept."""
        self._memory = memory
        #: None for search by recall.
        self._vectors = Vectors(memory, index) if index else None
        #: A queue for each event loop on which `abatch` was called.
        self._lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, Lane] = WeakKeyDictionary()
        self._sweeper: _Sweeper | None = None
        self.index_config = index
        self.embeddings = self._vectors.embeddings if self._vectors else None
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do all of `ops` and return an answer for each, None for a put. Answers are from before the puts of the batch.

        Reading may begin the life of an item with a `ttl` anew, as the configuration says; putting one always does.
        """
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
        """Do as `batch`, on a thread, in one batch with what other tasks of this loop ask for at the same time."""
        loop = asyncio.get_running_loop()
        lane = self._lanes.get(loop)
        if lane is None:
            lane = self._lanes[loop] = Lane(partial(self._batch_for, loop))
        return await lane.do(list(ops))

    def sweep_ttl(self) -> int:
        """Remove the items that are expired, all in one commit; return how many."""
        return keyvalue.sweep(self._memory)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """Sweep regularly on a thread, until `stop_ttl_sweeper` or until the store is garbage-collected.

        Without `sweep_interval_minutes` the interval is that of the configuration, or else five minutes. A sweeper that
        runs already is stopped.

        Raises:
            InvalidArguments: the interval is no number of minutes above 0, or is longer than a thread can wait.
        """
        usual = (self.ttl_config or {}).get("sweep_interval_minutes")
        minutes = next((each for each in (sweep_interval_minutes, usual) if each is not None), _SWEEP_MINUTES)
        if not (isinstance(minutes, int | float) and 0 < minutes * 60 <= threading.TIMEOUT_MAX):
            raise InvalidArguments(f"the sweeper's interval must be a number of minutes above 0, not {minutes!r}")
        Store.stop_ttl_sweeper(self)  # by the class: the method of an `AsyncStore` is a coroutine
        self._sweeper = _Sweeper(self._memory, minutes * 60)

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop sweeping; return whether the thread ended within `timeout` seconds. None waits for it."""
        sweeper, self._sweeper = self._sweeper, None
        return sweeper is None or sweeper.stop(timeout)

    def __del__(self) -> None:
        if sweeper := getattr(self, "_sweeper", None):
            sweeper.stop(0)

    def _batch_for(self, loop: asyncio.AbstractEventLoop, ops: Sequence[Op]) -> list[Result]:
        """Do as `batch`, on a thread, for tasks of `loop`: embeddings are computed on that."""
        # Needs no reset: `asyncio.to_thread` runs this in a copy of its caller's context.
        WAITING_LOOP.set(loop)
        return self.batch(ops)

    def _answers(self, ops: Sequence[Op]) -> list[Result]:
        """Return the answers to `ops`, None for each put; equal operations are looked up once."""
        gone = keyvalue.expired(self._memory) if any(not isinstance(op, PutOp) for op in ops) else frozenset[str]()
        answers = dict[str, tuple[Op, _Answer]]()  # by `repr`: an operation with a filter cannot be hashed
        for op in ops:
            if not isinstance(op, PutOp) and repr(op) not in answers:
                answers[repr(op)] = op, self._answer(op, gone)
        self._prolong_read(answers.values())
        results = dict(zip(answers, self._results(answers.values()), strict=True))
        return [None if isinstance(op, PutOp) else copy(results[repr(op)]) for op in ops]

    def _answer(self, op: Op, gone: frozenset[str]) -> _Answer:
        """Return what one operation finds, without the items at the paths `gone`.

        Raises:
            InvalidArguments: the operation is unknown, or asks for something impossible.
        """
        if isinstance(op, GetOp):
            entry = keyvalue.item(self._memory, Key(tuple(op.namespace), op.key))
            return [] if entry is None or entry.path in gone else [Found(entry, None)]
        if isinstance(op, SearchOp):
            return found(self._memory, op, self._vectors, gone)
        if isinstance(op, ListNamespacesOp):
            return listed(keyvalue.namespaces(self._memory, without=gone), op)
        raise InvalidArguments(f"this store does not know the operation {type(op).__name__}")

    def _prolong_read(self, answers: Iterable[tuple[Op, _Answer]]) -> None:
        """Begin the lives of the items that were read anew, if the configuration says so (`refresh_on_read`)."""
        if (self.ttl_config or {}).get("refresh_on_read"):
            read = (each for op, answer in answers if getattr(op, "refresh_ttl", False) for each in _found(answer))
            keyvalue.prolong(self._memory, {key_of(each.entry) for each in read if ttl_of(each.entry.keys) is not None})

    def _results(self, answers: Collection[tuple[Op, _Answer]]) -> list[Result]:
        """Return answers in LangGraph's types. The times of all items are looked up together, as each look is slow."""
        entries = list({each.entry.path: each.entry for _, answer in answers for each in _found(answer)}.values())
        times = dict(zip((entry.path for entry in entries), keyvalue.times(self._memory, entries), strict=True))
        return [_result(op, answer, times) for op, answer in answers]


class AsyncStore(Store):
    """A `Store` whose methods for sweeping are coroutines, like those of LangGraph's own asynchronous stores."""

    async def sweep_ttl(self) -> int:  # type: ignore[override]
        return await asyncio.to_thread(super().sweep_ttl)

    async def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:  # type: ignore[override]
        super().start_ttl_sweeper(sweep_interval_minutes)

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # type: ignore[override]
        return await asyncio.to_thread(super().stop_ttl_sweeper, timeout)


class _Sweeper:
    """Sweeps a memory every so many seconds, on a daemon thread. Holds no store, so that one may be collected."""

    def __init__(self, memory: Memory, seconds: float) -> None:
        self._memory = memory
        self._seconds = seconds
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="crabmem sweeper", daemon=True)
        self._thread.start()

    def stop(self, timeout: float | None) -> bool:
        """Tell the thread to end; return whether it did within `timeout` seconds. None waits for it."""
        self._is_over.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._is_over.wait(self._seconds):
            with suppress(CrabmemError):  # as when another process writes, or the disk is full: try again next time
                keyvalue.sweep(self._memory)


def _paths(op: PutOp) -> Sequence[str] | None:
    """Return the paths by which a put says to search its item: [] (not at all) for False, None for the usual ones."""
    return [] if op.index is False else op.index


def _found(answer: _Answer) -> list[Found]:
    """Return the items of an answer; [] if it is of namespaces."""
    return [each for each in answer if isinstance(each, Found)] if isinstance(answer, list) else []


def _result(op: Op, answer: _Answer, times: Mapping[str, tuple[datetime, datetime]]) -> Result:
    """Return an answer as LangGraph has it for `op`: namespaces, items with scores, or one item, None for none.

    `times` has for each path when the entry was made and last changed.
    """
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
