"""The derivations of the page Projection: of the scatter and its objectives, of Fisher's and LDA's line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from bayes_engine.errors import TableError
from bayes_engine.models.projection import NumericRows
from bayes_engine.workbench.derivation.chains.chain import Chain
from bayes_engine.workbench.derivation.chains.discriminant import boundary_chain, fisher_lda_chain, two_classes
from bayes_engine.workbench.derivation.chains.scatter import (
    MOST_COLUMNS,
    ratio_trace_chain,
    scatter_chain,
    trace_ratio_chain,
)
from pages import active
from pages.active.projected import line_in_use, numeric_columns, rows_of
from pages.components.derivations import Offer

OfRows = Callable[[NumericRows, Sequence[str], Sequence[str]], Chain]
Pair = tuple[str, str]


def of_projection(table: active.TableInUse, pair: Pair | None) -> Mapping[str, Offer]:
    """The derivations of the two columns looked at, the objectives' of all columns of numbers where they are few."""

    def of(make: OfRows, *, every: bool = False) -> Offer:
        def made() -> Chain:
            known, own = _columns(table, pair)
            names = tuple(v.name for v in numeric_columns(known))
            names = names if every and len(names) <= MOST_COLUMNS else own
            rows = rows_of(known, names)
            return make(rows, [known.column(n) for n in names], [known.class_(c) for c in rows.classes])

        return Offer(made)

    return {
        "scatter": of(scatter_chain),
        "ratio-trace": of(ratio_trace_chain, every=True),
        "trace-ratio": of(trace_ratio_chain, every=True),
        "fisher-lda": Offer(lambda: _fisher_lda(*_columns(table, pair))),
        "boundary": Offer(lambda: _boundary(*_columns(table, pair))),
    }


def _columns(table: active.TableInUse, pair: Pair | None) -> tuple[active.FittableTable, Pair]:
    if pair is None or not isinstance(table, active.FittableTable):
        raise TableError("the table in use has no two columns of numbers and a class to be told by them")
    return table, pair


class TwoClasses(NamedTuple):
    """The rows of two classes, how columns and classes are called, the prior of the two, and the losses among them."""

    rows: NumericRows
    columns: list[str]
    labels: list[str]
    prior: list[float]
    losses: list[list[float]]


def _two_classes(table: active.FittableTable, pair: Pair) -> TwoClasses:
    """The two classes, of several those that are hardest to tell apart; under the prior of use, else that of the rows,
    and under the losses in use."""
    rows = rows_of(table, pair)
    first, second = (0, 1) if len(rows.classes) == 2 else sorted(line_in_use(table, pair).projection.pair)
    two = two_classes(rows, first, second)
    of_use = active.prior_of_use(table)
    prior = [float(two.weight[two.y == k].sum()) if of_use is None else of_use[c] for k, c in enumerate(two.classes)]
    if min(prior) <= 0:
        raise TableError("a class with prior 0 is never decided: there is no boundary; set another prior of use")
    places = [table.classes.index(c) for c in two.classes]
    matrix = active.case_losses(table).table
    return TwoClasses(
        two,
        [table.column(n) for n in pair],
        [table.class_(c) for c in two.classes],
        [p / sum(prior) for p in prior],
        [[float(matrix[i][j]) for j in places] for i in places],
    )


def _fisher_lda(table: active.FittableTable, pair: Pair) -> Chain:
    two = _two_classes(table, pair)
    return fisher_lda_chain(two.rows, two.columns, two.labels, two.prior)


def _boundary(table: active.FittableTable, pair: Pair) -> Chain:
    two, values = _two_classes(table, pair), active.case_values(table)
    x = [values[name] for name in pair]
    return boundary_chain(two.rows, two.columns, two.labels, two.prior, two.losses, None if None in x else x)
