"""Row groups worked on by the workers of a `distributed.Client`, which keep the results and merge them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar

from bayes_engine.errors import BayesEngineError, ParameterError, ReadError
from bayes_engine.scale.block import Block
from bayes_engine.scale.cluster import Engine, Task

T = TypeVar("T")


class DaskEngine(Engine[T]):
    """Futures whose results the workers hold."""

    methods = ("submit", "cancel")

    def __init__(self, client: Any, task: Task[T]) -> None:
        super().__init__(client, task)
        if getattr(client, "asynchronous", False):
            raise ParameterError("client= waits for its results: give a distributed.Client that is not asynchronous")
        self._task = self.submitted(partial(_same, task), pure=False)  # it travels once, as a result does

    def work(self, blocks: Sequence[Block]) -> Any:
        """As `Engine` has it."""
        return self.submitted(partial(Task.of, blocks=blocks), self._task, pure=False)

    def merge(self, parts: Sequence[Any]) -> Any:
        """As `Engine` has it, on a worker, before blocks that wait."""
        return self.submitted(Task.merged, self._task, *parts, pure=False, priority=1)

    def error(self, future: Any, first: Block) -> BayesEngineError | None:
        """As `Engine` has it. A result that is lost is made again, and no error."""
        if future.status == "cancelled":
            return ReadError("the scheduler has called all off, or is gone; look into its log, and ask again")
        if future.status != "error":
            return None
        error = future.exception()
        if type(error).__name__ != "KilledWorker":
            return super().error(future, first)
        lost = ReadError(
            "{n} worker(s) that worked on it, or added up the row groups from here on, were lost, one after the other; "
            "look into the log of the last",
            n=error.args[2] + 1,
        )
        return first.refused(lost)

    def refuse_nobody(self) -> None:
        """As `Engine` has it."""
        if not self.client.nthreads():
            raise ReadError("no worker is connected to the scheduler; start some, look into their log, and ask again")

    def end(self, futures: Sequence[Any]) -> None:
        """As `Engine` has it, but for waiting."""
        self.client.cancel(list(futures))


def _same(task: T) -> T:
    return task
