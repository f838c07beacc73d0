"""Batches the operations that tasks of one event loop ask for at the same time: one look at the files, one commit."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from langgraph.store.base import Op, Result


class _Request(NamedTuple):
    ops: Sequence[Op]
    answer: asyncio.Future[list[Result]]


class Lane:
    """The queue of one event loop. While one batch is being done on a thread, the next one gathers here.

    LangGraph's `AsyncBatchedBaseStore` does the same, but must be made on the loop, refuses its synchronous methods
    there, and fails the operations of all tasks for the fault of one.
    """

    def __init__(self, work: Callable[[Sequence[Op]], list[Result]]) -> None:
        self._work = work
        #: Requests for the next batch.
        self._waiting: list[_Request] = []
        #: The task that does batches until no request waits; None, or done, if there is nothing to do.
        self._task: asyncio.Task[None] | None = None

    async def do(self, ops: Sequence[Op]) -> list[Result]:
        """Do `ops` in the next batch; return their answers, or raise what they alone raise."""
        loop = asyncio.get_running_loop()
        request = _Request(ops, loop.create_future())
        self._waiting.append(request)
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._empty())
        return await request.answer

    async def _empty(self) -> None:
        """Do batches until no request waits. Requests that nobody awaits any more are left out."""
        while self._waiting:
            together, self._waiting = [each for each in self._waiting if not each.answer.done()], []
            try:
                await self._do(together)
            finally:
                for each in together:
                    each.answer.cancel()  # if this task is cancelled; does nothing to a future that has its result

    async def _do(self, together: Sequence[_Request]) -> None:
        """Do requests as one batch; if that fails, one by one, so that each gets its own result or error."""
        try:
            results = await asyncio.to_thread(self._work, [op for each in together for op in each.ops])
        except Exception as error:
            if len(together) == 1:
                return _fail(together[0], error)
            for each in together:
                await self._do([each])
            return
        answers = iter(results)
        for each in together:
            own = [next(answers) for _ in each.ops]
            if not each.answer.done():
                each.answer.set_result(own)


def _fail(request: _Request, error: Exception) -> None:
    if not request.answer.done():
        request.answer.set_exception(error)
