"""The derivations of the page Model: of the class prior, of a Gaussian, of Laplace's correction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bayes_engine.errors import TableError
from bayes_engine.language import _
from bayes_engine.workbench.derivation.chains.chain import Chain
from bayes_engine.workbench.derivation.chains.estimates import class_prior_chain, gaussian_chain, laplace_chain
from bayes_engine.workbench.derivation.conditionals import Conditional, LevelConditionals, prior_step
from bayes_engine.workbench.derivation.derive import class_order
from bayes_engine.workbench.derivation.likelihoods import Other
from pages import active
from pages.active.projected import numeric_columns, rows_of
from pages.components.derivations import Offer
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import State, current

MOST_COLUMNS = 2
"""Of so many columns the Gaussian is derived, the one looked at first."""


def of_estimates(
    table: active.FittableTable, fitted: active.Fitted, column: str, conditional: Conditional | Other | None
) -> Mapping[str, Offer]:
    """The derivations of a column's numbers."""
    return {
        "laplace": Offer(lambda: _laplace(table, column, conditional), _a_discrete_column(table, fitted)),
        "gaussian": Offer(lambda: _gaussian(table, column)),
    }


def of_prior(table: active.FittableTable, fitted: active.Fitted) -> Mapping[str, Offer]:
    """The derivation of the class prior."""

    def make() -> Chain:
        model = fitted.model
        order = class_order(model.target_.levels, table.classes)
        weight = model.stats_.class_weight
        labels = [table.class_(c) for c in table.classes]
        return class_prior_chain([float(weight[k]) for k in order], labels, prior_step(model, table.classes).sources)

    return {"prior": Offer(make)}


def _laplace(table: active.FittableTable, column: str, conditional: Conditional | Other | None) -> Chain:
    if not isinstance(conditional, LevelConditionals) or conditional.joint:
        raise TableError(
            "in this model '{column}' has no probabilities of levels within a class: Laplace's correction adds to the "
            "counts of levels",
            column=table.column(column),
        )
    steps = [step for step in conditional.steps if step.value is not None]
    fractions = [conditional.fractions(s) for s, step in enumerate(conditional.steps) if step.value is not None]
    cells = [(s, k) for s in range(len(steps)) for k in range(len(conditional.classes))]
    chosen = current().seen(keys.CELL)
    s, k = chosen if chosen in cells else min(cells, key=lambda cell: fractions[cell[0]][cell[1]].count)
    within = [table.class_(conditional.classes[k])]
    within += [f"{table.column(c.variable.name)} = {table.value(c.variable, c.value)}" for c in conditional.given]
    return laplace_chain(
        [counted[k] for counted in fractions],
        s,
        [table.value(conditional.variable, step.value) for step in steps],
        table.column(column),
        _(", ").join(within),
        model=steps[s].factors[k],
    )


def _a_discrete_column(
    table: active.FittableTable, fitted: active.Fitted
) -> tuple[str, Callable[[State], State]] | None:
    """A column that the model has a table of."""
    place = next((i for i, v in enumerate(table.features) if v.discrete), None)
    if place is None or fitted.spec.family == "aode":
        return None
    name = md(table.column(table.features.names[place]), 30)
    words = _("Look at {column}").format(column=name)
    return words, lambda state: state.showing(keys.COLUMN.to(place), keys.CELL.to(()))


def _gaussian(table: active.FittableTable, column: str) -> Chain:
    names = [v.name for v in numeric_columns(table)]
    if not names:
        raise TableError("the table has no column of numbers; a mean and a covariance are of numbers")
    names = sorted(names, key=lambda name: name != column)[:MOST_COLUMNS]
    rows = rows_of(table, tuple(names))
    return gaussian_chain(rows, [table.column(n) for n in names], [table.class_(c) for c in rows.classes])
