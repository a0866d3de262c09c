"""What a pass holds at a time, so that it stays within memory: rows of a batch, threads, and what they give back."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from ctypes import CDLL
from threading import local
from typing import Any

from bayes_engine.errors import ParameterError
from bayes_engine.scale.arrow import CountPlan, arrow
from bayes_engine.stats.partial import PartialNode

BATCH = 2**16
"""Rows that are decoded and counted at a time, at most: half a megabyte for each column of numbers."""

CELLS = 2**20
"""Cells of such a batch, at most."""

THREAD_BYTES = 2e8
"""What the threads may hold together where their number is not said."""

MOST_THREAD_BYTES = 2.3e8
"""What they may hold where it is said: with what the process holds besides, 500 MB."""

M_MMAP_THRESHOLD, LARGE = -3, 2**22
"""glibc's name of the bytes from which memory is mapped by itself, and how many."""

TIDY_CELLS = 2**22
"""Cells after which a thread gives back what it has let go of: those of four batches of sixteen columns."""

TEXT = 255
"""A text takes as much room as so many columns: it has its characters, and many terms."""

MOST_POINTS = 2**16
"""Distinct values of a column that are told apart for its cut points."""


def batch_rows(columns: int) -> int:
    """Rows of so many columns that are decoded and counted at a time."""
    return max(1, min(BATCH, CELLS // max(columns, 1)))


def threads_of(threads: int | None, client: Any = None, plan: CountPlan | None = None, made: int = 0) -> int:
    """How many threads count. None is one a core, 8 at most, and no more than what they hold of the columns of a plan,
    and of those that are `made` of them, is expected to fit into THREAD_BYTES; a number is how many at the most, as far
    as they fit into MOST_THREAD_BYTES. Raises ParameterError on less than one, and where a cluster has threads of its
    own."""
    if threads is not None and client is not None:
        raise ParameterError("threads= is of this machine: the workers of client= have threads of their own")
    if threads is None:
        cores = min(os.cpu_count() or 1, 8)
        return cores if plan is None else max(1, min(cores, int(THREAD_BYTES / held_by_thread(plan, made))))
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ParameterError("threads={value}: take a whole number of 1 or more", value=repr(threads))
    return threads if plan is None else max(1, min(threads, int(MOST_THREAD_BYTES / held_by_thread(plan, made))))


def at_a_time(threads: int, plan: CountPlan, counts: float, kept: float = 0.0) -> int:
    """How many blocks, or batches, are counted at a time once it is known how many bytes the counts of one have: a
    thread holds three such, the sum so far, that of a batch and the new sum, or the tables of a batch as they are
    made. So many bytes are `kept` beside the threads: of what is counted and not yet merged."""
    return max(1, min(threads, int((MOST_THREAD_BYTES - kept) / (held_by_thread(plan) + 3.0 * counts))))


def bytes_of(node: PartialNode) -> float:
    """The bytes of what a block counted."""
    if node.stats is None:
        return 0.0
    stats = node.stats
    tables = (*stats.counts.tables.values(), *stats.families.tables.values())
    return sum(table.nbytes for table in tables) + (0.0 if stats.scatter is None else stats.scatter.m2.nbytes)


def bytes_kept(nodes: Sequence[PartialNode]) -> float:
    """The bytes of what blocks counted, with the values of columns."""
    columns = (column for node in nodes if node.stats for column in node.stats.values.columns.values())
    return sum(column.points.nbytes + column.weight.nbytes for column in columns) + sum(map(bytes_of, nodes))


def held_by_thread(plan: CountPlan, made: int = 0) -> float:
    """The bytes that a thread is expected to hold: what is read of each column, a batch as Arrow has it and encoded,
    and of values the points by class of a batch, of what is counted, and of both; and columns that are `made` of it.

    >>> from bayes_engine.table.schema import Schema, Variable
    >>> plan = CountPlan(Schema(tuple(Variable(f"x{j}", "continuous") for j in range(15))), "y", None, "columns")
    >>> round(held_by_thread(plan) / 1e6)
    50
    """
    read = len(plan.read) + texts_as_columns(plan) + made
    rows = batch_rows(read)
    return read * (2.0**20 + 32.0 * rows) + 3.0 * bytes_of_points(plan)


def bytes_of_points(plan: CountPlan) -> float:
    """What the distinct values of all columns are expected to take where they are counted, by four classes."""
    return 5.0 * 8.0 * MOST_POINTS * sum(v.numeric for v in plan.schema) if plan.want == "values" else 0.0


def texts_as_columns(plan: CountPlan) -> int:
    """As how many more columns the texts of a plan count."""
    return TEXT * sum(v.textual for v in plan.schema)


def release() -> None:
    """Give back to the system what a pass has let go of: glibc's heap and Arrow's pool would keep it, and the next pass
    would come on top. Large arrays go back as they are freed from now on; else glibc raises what is large to 32 MB, and
    each thread's heap keeps its own holes."""
    arrow().default_memory_pool().release_unused()
    libc: Any = CDLL(None) if sys.platform == "linux" else None
    if hasattr(libc, "malloc_trim"):  # other libraries of C have none
        libc.mallopt(M_MMAP_THRESHOLD, LARGE)
        libc.malloc_trim(0)


class Tidy(local):
    """How many cells a thread has counted since it gave memory back: of Arrow's pool each thread has its own part,
    which another cannot give back."""

    cells = 0

    def after(self, cells: int) -> None:
        """So many cells more are counted."""
        self.cells += cells
        if self.cells >= TIDY_CELLS:
            self.cells = 0
            release()


TIDY = Tidy()
