"""The column whose class-conditionals are looked at: the list of columns with how much each tells of the class, and the
values that its parents are held at."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from bayes_engine.factors.joint_multinomial import together
from bayes_engine.factors.leaf import Domain
from bayes_engine.language import _
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation.conditionals import (
    Conditional,
    choices,
    class_entropy,
    conditional,
    information,
    levels_of,
    parents,
    super_parents,
)
from bayes_engine.workbench.derivation.likelihoods import Other
from pages import active
from pages.active import units
from pages.components import tables
from pages.components.tables import Bar, Head
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.state import State, change, current
from pages.runtime.widgets import choose, control, select

LIST = 388
"""Height of the list of columns in pixels: as high as the figure beside it."""


# the columns ------------------------------------------------------------------------------------------------------


@cached(max_entries=64)
def _information(fitted: active.Fitted) -> tuple[dict[str, float], float]:
    return information(fitted.model), class_entropy(fitted.model)


@cached(max_entries=64)
def _super_parents(fitted: active.Fitted) -> tuple[str, ...]:
    return super_parents(fitted.model)


def information_by_column(table: active.FittableTable, fitted: active.Fitted) -> dict[str, float]:
    """How much each column tells of the class, in nats."""
    return _information(fitted)[0]


def choose_column(table: active.FittableTable, fitted: active.Fitted) -> Variable:
    """The column looked at: a list that says how much each tells of the class."""
    nats, entropy = _information(fitted)
    features = list(table.features)
    by_table = current().seen(keys.COLUMNS_BY) == "table"
    joint = together(fitted.model.schema_)
    tells = {v.name: None if v.textual or v.name in joint else nats.get(v.name, 0.0) for v in features}
    order = {name: math.inf if value is None else value for name, value in tells.items()}  # each word says its own
    listed = features if by_table else sorted(features, key=lambda v: -order[v.name])
    position = {v.name: i for i, v in enumerate(features)}
    here = current().seen(keys.COLUMN)
    looked_at = super_parent(table, fitted)  # under it the other columns are looked at
    best = max([v for v in features if v.name != looked_at] or features, key=lambda v: order[v.name])
    chosen = features[here] if 0 <= here < len(features) else best
    texts = all(v.textual or v.name in joint for v in features)  # each word says its own: nothing to put in order
    if not texts:
        orders = {"information": _("most informative"), "table": _("table order")}
        choose(_("Columns"), keys.COLUMNS_BY, orders, titled=False)
    kept = getattr(fitted.model, "kept_", None)
    heads: list[Head] = []
    shown: list[list[str | tables.Bar]] = []
    if not texts:
        heads.append(Head("I(x; c)", _measure(fitted, entropy), width=92))
        most = max(entropy, 1e-9)
        measured = (tells[v.name] for v in listed)
        shown.append([Bar("–", 0.0) if b is None else Bar(f"{units.evidence(b):.3f}", b / most) for b in measured])
    if kept is not None:
        heads.append(Head(_("kept"), _("Whether the selection kept the column."), width=60))
        shown.append(["✓" if v.name in kept else "–" for v in listed])
    heads.append(Head(_("column")))
    shown.append([_listed(table, fitted, v) for v in listed])
    if has_parents_by_column(fitted):
        heads.append(Head(_("given"), _("What the column depends on besides the class.")))
        above = [parents(fitted.model, v.name, looked_at) for v in listed]
        shown.append([_(", ").join(clean(table.column(d.variable.name), 30) for d in of) for of in above])

    def look_at(row: int, _column: int) -> None:
        column = position[listed[row].name]
        change(lambda s: s.showing(keys.COLUMN.to(column), keys.CELL.to(())))

    tables.word_table(
        heads,
        list(zip(*shown, strict=True)),
        key="column_list",
        label=_("columns"),
        height=LIST,
        choice=tables.Choice(by="row", chosen=(listed.index(chosen), 0), on_choice=look_at),
    )
    units.choose_evidence_unit()
    return chosen


def column_widths(fitted: active.Fitted) -> tuple[int, int]:
    """The room of what is shown of a column, and of the list of columns: a list of texts has names only."""
    features = fitted.model.schema_.features
    if all(v.textual or v.name in together(features) for v in features):
        return 3, 1
    return (3, 2) if has_parents_by_column(fitted) or hasattr(fitted.model, "kept_") else (2, 1)


def has_dependences(fitted: active.Fitted) -> bool:
    """Whether columns may depend on each other within a class, by tables."""
    return fitted.spec.family in ("spode", "tan", "aode", "k-db", "network")


def has_parents_by_column(fitted: active.Fitted) -> bool:
    """Whether each column may have parents of its own; in AODE it is the super-parent looked at for all."""
    return has_dependences(fitted) and fitted.spec.family != "aode"


def _measure(fitted: active.Fitted, entropy: float) -> str:
    """What the bars of the list show."""
    how = (
        _(
            "Mutual information of column and class, in {unit}, each column for itself: under naive Bayes of the same "
            "counts and smoothing."
        )
        if has_dependences(fitted) or fitted.spec.family in ("weighted", "selective")
        else _(
            "Mutual information of column and class under this model, in {unit}: the evidence its value is expected to "
            "give."
        )
    )
    full = _("A full bar is all there is to know, {most}.").format(most=units.evidence_text(entropy))
    return how.format(unit=units.evidence_unit()) + " " + full


def _listed(table: active.FittableTable, fitted: active.Fitted, variable: Variable) -> str:
    """A column's name; where it could not be cut, it says nothing of the class, and the list says so."""
    name, cuts = clean(table.column(variable.name), 60), fitted.model.schema_[variable.name].cuts
    return _("{column} · no cut found").format(column=name) if cuts == () else name


# the parents ------------------------------------------------------------------------------------------------------


def super_parent(table: active.FittableTable, fitted: active.Fitted) -> str | None:
    """The super-parent of AODE that is looked at: the one chosen, otherwise the most telling; None for other models."""
    names = _super_parents(fitted)
    here = current().seen(keys.SUPER_PARENT)
    chosen = table.features.names[here] if 0 <= here < len(table.features) else ""
    return chosen if chosen in names else next(iter(names), None)


def choose_conditional(table: active.FittableTable, fitted: active.Fitted, column: Variable) -> Conditional | Other:
    """P(column | class, parents), with a selector for each parent's value; of AODE one for the
    super-parent. Raises ParameterError where the model has no factor for the column."""
    looked_at = super_parent(table, fitted)
    above = parents(fitted.model, column.name, looked_at)
    held = _held(table, fitted, above)
    if looked_at or above:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            if looked_at:
                _choose_super_parent(table, fitted, looked_at)
            for domain in above:
                _choose_level(table, domain, held[domain.variable.name])
    return conditional(fitted.model, column.name, table.classes, given=held, super_parent=looked_at)


def _choose_super_parent(table: active.FittableTable, fitted: active.Fitted, looked_at: str) -> None:
    names = table.features.names
    shown = {names.index(n): clean(table.column(n), 40) for n in _super_parents(fitted)}
    select(
        _("Super-parent shown"),
        keys.SUPER_PARENT,
        shown,
        otherwise=names.index(looked_at),
        also=(keys.CELL.to(()),),
        about=_("AODE is the mean of one model for each super-parent; the most informative one comes first."),
        width=220,
    )


def _held(table: active.FittableTable, fitted: active.Fitted, above: tuple[Domain, ...]) -> dict[str, Any]:
    """The values that the parents are held at: those chosen, otherwise the case's, otherwise the most frequent."""
    if not above:
        return {}
    case = levels_of(fitted.model, active.case_frame(table, active.case_values(table)))
    stands, held = current().seen(keys.HELD), {}
    chosen = dict(stands)
    for domain in above:
        name, values = domain.variable.name, choices(domain)
        place = chosen.get(table.features.position[name], -1)
        often = domain.counted(fitted.model.stats_.counts.tables[name], 1).sum(axis=0).argmax()
        held[name] = values[place] if 0 <= place < len(values) else case.get(name, values[int(often)])
    return held


def _choose_level(table: active.FittableTable, domain: Domain, stands: Any) -> None:
    name, values = domain.variable.name, choices(domain)
    position = table.features.position[name]
    shown = [clean(table.value(domain.variable, value), 40) for value in values]

    def hold(state: State, level: int) -> State:
        rest = (pair for pair in state.seen(keys.HELD) if pair[0] != position)
        return state.showing(keys.HELD.to(tuple(sorted((*rest, (position, level))))), keys.CELL.to(()))

    st.selectbox(
        f"{md(table.column(name), 30)} =",
        range(len(values)),
        format_func=shown.__getitem__,
        width=180,
        **control(f"held_{position}", values.index(stands), hold),
    )
