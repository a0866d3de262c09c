"""The derivations of the page Projection: of the scatter and its objectives, of Fisher's and LDA's line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bayes_engine.errors import TableError
from bayes_engine.models.projection import NumericRows
from bayes_engine.workbench.derivation.chains.chain import Chain
from bayes_engine.workbench.derivation.chains.scatter import (
    MOST_COLUMNS,
    ratio_trace_chain,
    scatter_chain,
    trace_ratio_chain,
)
from pages import active
from pages.active.projected import numeric_columns, rows_of
from pages.components.derivations import Offer

OfRows = Callable[[NumericRows, Sequence[str], Sequence[str]], Chain]


def of_projection(table: active.TableInUse, pair: tuple[str, str] | None) -> Mapping[str, Offer]:
    """The derivations of the two columns looked at, the objectives' of all columns of numbers where they are few."""

    def of(make: OfRows, *, every: bool = False) -> Offer:
        def made() -> Chain:
            if pair is None or not isinstance(table, active.FittableTable):
                raise TableError("the table in use has no two columns of numbers and a class to be told by them")
            names = tuple(v.name for v in numeric_columns(table))
            names = names if every and len(names) <= MOST_COLUMNS else pair
            rows = rows_of(table, names)
            return make(rows, [table.column(n) for n in names], [table.class_(c) for c in rows.classes])

        return Offer(made)

    return {
        "scatter": of(scatter_chain),
        "ratio-trace": of(ratio_trace_chain, every=True),
        "trace-ratio": of(trace_ratio_chain, every=True),
    }
