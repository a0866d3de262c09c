"""Which adapter a `client` has: one line for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from bayes_engine.scale.block import Block
from bayes_engine.scale.cluster import Spread
from bayes_engine.scale.dask_client import DaskSpread
from bayes_engine.scale.spark_client import SparkSpread

T = TypeVar("T")


def on_workers(
    client: Any, blocks: Sequence[Block], work: Callable[[Block], T], merge: Callable[[list[T]], T]
) -> Spread[T]:
    """`work` on each block by the workers of a `client`, results merged by `merge` in eights, file by file first. Where
    results come out alike whatever the grouping, or are merged in their order, so does the whole, whichever worker did
    what. Raises ParameterError where there is no adapter to such a client."""
    spark = type(client).__module__.partition(".")[0] == "pyspark"
    return SparkSpread(client, blocks, work, merge) if spark else DaskSpread(client, blocks, work, merge)
