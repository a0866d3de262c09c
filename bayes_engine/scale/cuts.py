"""Cut points from the distinct values of every column, counted by class in a pass of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from bayes_engine.errors import EstimationWarning, ParameterError, report
from bayes_engine.language import Listing
from bayes_engine.logspace import Array
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.values import ColumnValues
from bayes_engine.table.discretize import checked_method, cuts_for, interval_names
from bayes_engine.table.schema import Schema


def cut_schema(
    stats: SufficientStatistics, *, method: str = "mdlp", bins: int = 10, columns: Iterable[str] | None = None
) -> Schema:
    """The schema of statistics that were counted with `want="values"`, its columns of numbers cut into intervals: by
    the classes (`method="mdlp"`, Fayyad & Irani 1993), or into `bins` of equal width ("equal-width") or equal weight
    ("quantile"). `columns` says which are cut; None cuts all. Count again under it: `collect_parquet(…, schema=…)`.

    Of up to 65,536 distinct values of a column the cuts are those of a fit to the rows, to the last bit. Beyond that
    values are told apart by their leading binary digits, as many as 65,536 points allow, cuts stand between two of
    these, and an EstimationWarning says how fine they are: where two cuts are nearly as good, it may be the other one.

    Raises ParameterError where the statistics do not hold the values, or a name is no column of numbers.

    >>> import pandas as pd
    >>> from bayes_engine import TAN, collect_batches, cut_schema
    >>> frame = pd.DataFrame({"sugar": [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], "good": ["no"] * 3 + ["yes"] * 3})
    >>> schema = cut_schema(collect_batches([frame], target="good", want="values"))
    >>> schema["sugar"].cuts
    (0.5,)
    >>> stats = collect_batches([frame], target="good", schema=schema, want="pairs")
    >>> TAN().fit_stats(stats).predict(frame[["sugar"]]).tolist()
    ['no', 'no', 'no', 'yes', 'yes', 'yes']
    """
    checked_method(method, bins)
    held = stats.values.columns
    wanted = [v.name for v in stats.schema if v.numeric] if columns is None else list(columns)
    for name in wanted:
        if name not in held:
            raise ParameterError(
                "the values of column '{column}' are not in these statistics, or it is no column of numbers; count "
                "with want='values'",
                column=name,
            )
    variables, coarse = [], {}
    for v in stats.schema:
        if v.name in wanted:
            cuts = _cuts(held[v.name], method, bins)
            v = replace(v, cuts=cuts, levels=interval_names(cuts), declared=True)
            if held[v.name].dropped:
                coarse[v.name] = held[v.name].dropped
        variables.append(v)
    if coarse:
        report(
            EstimationWarning(
                "column(s) {names}: there are more than {most} distinct values, so cut points are chosen on a grid of "
                "leading binary digits, as fine as one part in {parts}; where two are nearly as good, another may be "
                "taken than from the values themselves",
                names=Listing(coarse),
                most=max(held[name].bound for name in coarse),
                parts=2 ** max(52 - max(coarse.values()), 0),
            ),
            stacklevel=2,
        )
    return Schema(tuple(variables))


def _cuts(column: ColumnValues, method: str, bins: int) -> tuple[float, ...]:
    """The cuts from each distinct value once for each class, with its weight there."""
    n_classes, n = column.weight.shape
    x, codes, weight = np.tile(column.points, n_classes), np.repeat(np.arange(n_classes), n), column.weight.ravel()
    cuts = cuts_for(method, x, codes, n_classes, weight, bins)
    return cuts if not column.dropped else tuple(_below_next(column.points, np.array(cuts)).tolist())


def _below_next(points: Array, cuts: Array) -> Array:
    """Each cut between two points of a grid as the last number below the upper one's cell: that holds the values from
    its point on, and the cell below those up to it."""
    place = np.searchsorted(points, cuts, side="right")
    return np.unique(np.nextafter(points[np.minimum(place, len(points) - 1)], -np.inf)) if len(cuts) else cuts
