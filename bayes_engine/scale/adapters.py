"""Which engine a `client` is: one line for each adapter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, TypeVar

from bayes_engine.scale.block import Block
from bayes_engine.scale.cluster import Engine, Spread, Task, version
from bayes_engine.scale.dask_client import DaskEngine
from bayes_engine.scale.spark_client import SparkEngine

T = TypeVar("T")

ENGINES: dict[str, type[Engine[Any]]] = {"distributed": DaskEngine, "pyspark": SparkEngine}
"""By the package of the client's class, or of one that it inherits from; others are executors."""


def on_workers(
    client: Any, blocks: Sequence[Block], work: Callable[[Block], T], merge: Callable[[list[T]], T]
) -> Spread[T]:
    """`work` on each block by the workers of a `client`, results merged by `merge` in eights, file by file first. Where
    results come out alike whatever the grouping, or are merged in their order, so does the whole, whichever worker did
    what. Raises ParameterError where a client is no engine."""
    if isinstance(client, Executor):
        return Spread(Engine(client, Task(work, merge, version())), blocks)
    packages = [kind.__module__.partition(".")[0] for kind in type(client).__mro__]
    engine = next((ENGINES[name] for name in packages if name in ENGINES), Engine)
    return Spread(engine(client, Task(work, merge, version())), blocks)
