"""Operations that tasks of one event loop ask for at once, done together: one look at the files, one commit."""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from langgraph.store.base import Op, Result


class _Request(NamedTuple):
    ops: Sequence[Op]
    answer: asyncio.Future[list[Result]]


class Lane:
    """What is asked for on one event loop. While a batch is being done on a thread, the next one gathers.

    LangGraph's `AsyncBatchedBaseStore` does the same, but has to be made on the loop, keeps its synchronous methods
    from it, and fails everybody's operations for the fault of one.
    """

    def __init__(self, work: Callable[[Sequence[Op]], list[Result]]) -> None:
        self._work = work
        self._waiting: list[_Request] = []
        self._task: asyncio.Task[None] | None = None

    async def do(self, ops: Sequence[Op]) -> list[Result]:
        """The answers to `ops`."""
        loop = asyncio.get_running_loop()
        request = _Request(ops, loop.create_future())
        self._waiting.append(request)
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._empty())
        return await request.answer

    async def _empty(self) -> None:
        while self._waiting:
            together, self._waiting = [each for each in self._waiting if not each.answer.done()], []
            try:
                await self._do(together)
            finally:
                for each in together:
                    each.answer.cancel()  # which does nothing to those that have one

    async def _do(self, together: Sequence[_Request]) -> None:
        try:
            results = await asyncio.to_thread(self._work, [op for each in together for op in each.ops])
        except Exception as error:
            if len(together) == 1:
                return _fail(together[0], error)
            for each in together:  # so that nobody fails for what another one asked
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
