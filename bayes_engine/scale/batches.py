"""A model from batches that a function gives anew for each pass: what a database, a dataset or a stream that can be
begun again yields, where there is no file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.scale.arrow import CountPlan
from bayes_engine.scale.block import Block, End, Reached
from bayes_engine.scale.collect import PathLike
from bayes_engine.scale.fit import fit_rows
from bayes_engine.scale.network import FilesAsked
from bayes_engine.scale.scan import Progress
from bayes_engine.scale.sources import Batches, as_table
from bayes_engine.stats.partial import MergeTree
from bayes_engine.table.schema import Schema

M = TypeVar("M")


class RepeatedBatches(Batches):
    """What a function gives anew for each pass. Raises ParameterError where it is none, or gives an iterator that it
    gave before; TableError where a pass has another number of rows than the first."""

    def __init__(self, batches: Callable[[], Iterable[Any]]) -> None:
        if not callable(batches):
            raise ParameterError(
                "batches is a {kind}, which would be exhausted after one pass; give a function that makes a fresh "
                "iterator for each",
                kind=type(batches).__name__,
            )
        self._make, self._made, self._passes, self._begun = batches, None, 0, True
        self.rows = None
        super().__init__(self._anew())

    def share(self, rows: int) -> float | None:
        """The share of all rows, from the second pass on."""
        return rows / self.rows if self.rows else None

    def blocks(self, plan: CountPlan, tree: MergeTree | Reached, *, apart: bool = False) -> Iterator[Block | End]:
        """A block for each that this pass yields; the first goes on where the types were looked at."""
        if not self._begun:
            self._rest = self._anew()
            self._first = next(self._rest, None)
        self._begun = False
        yield from super().blocks(plan, tree, apart=apart)

    def _anew(self) -> Iterator[Any]:
        """The tables of a fresh iterator."""
        self._passes += 1
        made: Any = iter(self._make())
        if made is self._made:
            raise ParameterError(
                "pass {n} was given the iterator of the pass before, which is exhausted; batches must make a fresh one "
                "at each call",
                n=self._passes,
            )
        self._made = made
        return self._counted(made)

    def _counted(self, made: Iterator[Any]) -> Iterator[Any]:
        rows = 0
        for number, batch in enumerate(made, start=1):
            table = as_table(batch, number)
            rows += table.num_rows
            yield table
        if self.rows is None:
            self.rows = rows or None
        elif rows != self.rows:
            raise TableError(
                "pass {n} yields {rows} rows, and the first yielded {said}: batches must give the same rows at each "
                "call, and an iterator that is not exhausted",
                n=self._passes,
                rows=rows,
                said=self.rows,
            )


def fit_batches(
    model: M,
    batches: Callable[[], Iterable[object]],
    *,
    target: str | None = None,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    progress: Callable[[Progress], object] | None = None,
    resume: PathLike | None = None,
    threads: int | None = None,
) -> M:
    """As `fit_files`, of the rows that a function gives in batches: it is called once for each pass (EM takes one for
    each step), and each time makes a fresh iterator of the same Arrow batches or tables, or frames of pandas, polars
    and others, in the same order. Over batches that are the row groups of a file it takes the steps that it takes over
    the file, to the last bit; of more than 65,536 rows a `GaussianMixture` draws its start from another sample. With
    `resume` the batches must be those of the run that was broken off, too, which is not checked.

    Raises ParameterError where `batches` is no function, or gives an iterator that it gave before; TableError where a
    pass yields another number of rows than the first; what `fit_files` raises.

    >>> import pandas as pd
    >>> from bayes_engine import GaussianMixture, fit_batches
    >>> frame = pd.DataFrame({"mass": [1.0, 1.2, 0.8, 7.0, 7.2, 6.8]})
    >>> model = fit_batches(GaussianMixture(2, random_state=0), lambda: (frame[i : i + 2] for i in (0, 2, 4)))
    >>> sorted(model.means_[:, 0].round(3).tolist())
    [1.0, 7.0]
    """
    rows = FilesAsked(RepeatedBatches(batches), schema, columns, weight)
    return fit_rows(model, rows, target, progress, resume, threads)
