"""One case under four smoothings side by side, at any number of rows: where to smooth, and how its effect vanishes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.numerals import certain, number_of_log, plain
from bayes_engine.priors import Base
from bayes_engine.workbench.figures.laboratory import RULE_INKS
from bayes_engine.workbench.laboratory import smoothing as lab
from pages import active
from pages.active import predicting, required, shelf
from pages.components.component import component, is_number, last_message, read_message
from pages.components.held_back import held_back
from pages.components.plane import action_inks
from pages.components.tables import markdown_table
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.state import Spec, State, change, current, on_click
from pages.runtime.widgets import bound_to, choose, control, within_limits

_PLACE = '<div class="drawing smoothing" data-testid="smoothing"></div>'
_component = component(__file__, "bayes_smoothing", _PLACE, uses=("drawing", "stage"))
COMPARED = Spec("textbook")
"""The naive Bayes that is smoothed where the active model is none."""


@dataclass(frozen=True)
class Asked:
    """What is compared: the naive Bayes of the table, the case, a class, a column with a table of probabilities and the
    level of the case there, both None where there are none."""

    table: active.FittableTable
    fitted: active.Fitted
    k: int
    column: str | None
    level: int | None

    @property
    def model(self) -> NaiveBayes:
        return cast(NaiveBayes, self.fitted.model)

    @property
    def label(self) -> Any:
        return self.model.classes_.tolist()[self.k]

    def level_words(self, column: str, level: int) -> str:
        variable = self.model.schema_[column]
        return str(variable.levels[level]) if variable.cuts else self.table.level(column, variable.levels[level])


def rule_words(rule: str) -> str:
    return {
        "none": _("no smoothing"),
        "zero-only": _("zeros only"),
        "laplace": _("Laplace"),
        "m-estimate": _("m-estimate"),
    }[rule]


def show() -> None:
    table = required.fittable(active.table_in_use())
    fitted = required.model(table)
    if not predicting.shows("laboratory/smoothing"):
        held_back(table)
        return
    naive = fitted.uncalibrated
    if not isinstance(naive.model, NaiveBayes):
        naive = active.fit(table, COMPARED)
        st.caption(
            _(
                "The active model is no naive Bayes: the curves are those of naive Bayes of the same table; the active "
                "model under the same smoothings stands beneath them."
            )
        )
    asked = _asked(table, naive)
    place = st.container()
    _controls(asked)
    m, base = current().seen(keys.LAB_M), current().seen(keys.LAB_M_BASE)
    n = current().seen(keys.LAB_SMOOTHED_N) or _rows(asked)
    sizes = tuple(lab.sizes_about(_rows(asked), n))
    cell = None if asked.column is None or asked.level is None else (asked.column, asked.level, asked.k)
    try:
        curves = _curves(naive, active.case_values(table), sizes, m, base, cell, active.prior_of_use(table), table)
    except BayesEngineError as error:
        place.error(error.message.local(md))
        return
    with place:
        _draw(asked, curves, n)
        if naive is not fitted.uncalibrated:
            _elsewhere(asked, fitted.uncalibrated, n, m, base)
        _zeros(asked, n)
    _read(asked, curves, n)
    _factors(asked, n, m, base)


def _rows(asked: Asked) -> float:
    """How many rows the table has, weights included."""
    return float(asked.model.stats_.class_weight.sum())


@cached(max_entries=32)
def _curves(
    fitted: active.Fitted, case: Mapping[str, Any], sizes: tuple[float, ...], m: float, base: Base,
    cell: tuple[str, int, int] | None, use: Mapping[Any, float] | None, _table: active.FittableTable,
) -> lab.SmoothingCurves:  # fmt: skip
    model = cast(NaiveBayes, fitted.model)
    return lab.curves(model, active.case_frame(_table, case), sizes, m, base, use=use, cell=cell)


# what is asked --------------------------------------------------------------------------------------------------------


def _asked(table: active.FittableTable, naive: active.Fitted) -> Asked:
    model, state = cast(NaiveBayes, naive.model), current()
    case = active.case_frame(table, active.case_values(table))
    names = model.schema_.names
    columns = [name for name in names if lab.has_table(model, name)]
    places = {name: lab.place_of(model, case, name) for name in columns}
    empty = [zero for zero in lab.zeros(model) if places.get(zero.column) == zero.level]
    first = empty[0] if empty else None
    classes = model.classes_.tolist()
    usual = first.k if first else _likeliest(naive, table)
    k = state.seen_among(keys.LAB_SMOOTHED_CLASS, range(len(classes)), usual)
    index = state.seen(keys.LAB_SMOOTHED_COLUMN)
    chosen = names[index] if 0 <= index < len(names) and names[index] in columns else None
    known = [name for name in columns if places[name] is not None]
    smoothed = [zero.column for zero in (*empty, *lab.zeros(model)) if zero.k == k and zero.column in known]
    column = chosen or next(iter([*smoothed, *known, *columns]), None)
    level = None if column is None else places[column] if places[column] is not None else 0
    return Asked(table, naive, k, column, level)


@cached(max_entries=64)
def _likeliest_of(fitted: active.Fitted, case: Mapping[str, Any], _table: active.FittableTable) -> int:
    joint = fitted.model.explain(active.case_frame(_table, case)).joint()[0]
    return int(joint.argmax())


def _likeliest(naive: active.Fitted, table: active.FittableTable) -> int:
    return _likeliest_of(naive, active.case_values(table), table)


def _controls(asked: Asked) -> None:
    table, model = asked.table, asked.model
    classes, names = model.classes_.tolist(), model.schema_.names
    columns = [j for j, name in enumerate(names) if lab.has_table(model, name)]
    one, two, three = st.columns(3, vertical_alignment="bottom")
    one.selectbox(
        _("Class"), range(len(classes)), format_func=lambda k: clean(table.class_(classes[k]), 40),
        **bound_to(keys.LAB_SMOOTHED_CLASS, asked.k),
    )  # fmt: skip
    if asked.column is not None:
        two.selectbox(
            _("Attribute"), columns, format_func=lambda j: clean(table.column(names[j]), 40),
            **bound_to(keys.LAB_SMOOTHED_COLUMN, names.index(asked.column)),
        )  # fmt: skip
        _value(asked, three)
    four, five = st.columns([2, 3], vertical_alignment="bottom")
    four.slider(
        _("m of the m-estimate"), step=0.5,
        help=_("So many rows are believed beforehand in each class, shared out among the levels. With m = S and equal "
               "shares it is Laplace's correction of this attribute."),
        **within_limits(keys.LAB_M) | {"max_value": max(20.0, current().seen(keys.LAB_M))},
    )  # fmt: skip
    with five:
        shares: dict[Base, str] = {"marginal": _("as in the whole column"), "uniform": _("equally")}
        about = _("As in the whole column: a level that no row of any class has stays at 0.")
        choose(_("The levels share m"), keys.LAB_M_BASE, shares, about=about)


def _value(asked: Asked, where: Any) -> None:
    """The case's value in the column: another one is another case."""
    table, column = asked.table, asked.column
    variable = next((v for v in table.features if v.name == column and v.discrete), None)
    if variable is None or column is None:
        return
    values = active.case_values(table)
    now = values.get(column)

    def edit(state: State, level: int) -> State:
        return _with_value(state, table, column, level)

    known = ([] if now is not None else [-1]) + list(range(len(variable.levels)))
    where.selectbox(
        _("Its value in the case"), known,
        format_func=lambda s: _("missing") if s < 0 else clean(table.level(column, variable.levels[s]), 40),
        **control("lab_smoothed_value", -1 if now is None else variable.levels.index(now), edit),
    )  # fmt: skip


def _with_value(state: State, table: active.FittableTable, column: str, level: int) -> State:
    codes = dict(zip(table.features.names, active.case_codes(table, active.case_values(table)), strict=True))
    codes[column] = level if level >= 0 else None
    return replace(state, case=tuple(codes.values()), row=-1, amount=active.same_amount(table))


# the drawing ----------------------------------------------------------------------------------------------------------


def _draw(asked: Asked, curves: lab.SmoothingCurves, n: float) -> None:
    key = "smoothing"

    def sized() -> None:
        size = read_message(key, "sized", lambda edit: edit.get("size"))
        if is_number(size) and 0 < size <= 1e12:
            change(lambda state: state.showing(keys.LAB_SMOOTHED_N.to(float(size))))

    _component(key=key, data=_drawn(asked, curves, n) | {"seen": last_message(key)}, on_sized_change=sized)


def _drawn(asked: Asked, curves: lab.SmoothingCurves, n: float) -> dict[str, Any]:
    table, cell = asked.table, curves.cell
    loss = active.case_losses(table).for_classes(curves.classes)
    of = [table.classes.index(a) if a in table.classes else None for a in loss.actions]
    actions = action_inks([clean(table.action(a), 40) for a in loss.actions], of)
    odds = curves.log_odds(asked.k)
    label, whole = clean(table.class_(asked.label), 24), _rows(asked)
    shown = ""
    if cell is not None and asked.column is not None and asked.level is not None:
        shown = f"{clean(table.column(asked.column), 20)} = {clean(asked.level_words(asked.column, asked.level), 20)}"
    decided = curves.decisions(loss)
    rules = []
    for r, rule in enumerate(lab.RULES):
        ink = RULE_INKS[rule]
        one: dict[str, Any] = {
            "name": rule_words(rule), "light": ink.light, "dark": ink.dark, "dash": ink.strokes, "width": ink.width,
            "odds": [_sent(v) for v in odds[r].tolist()],
            "decision": decided[r].tolist(),
        }  # fmt: skip
        if cell is not None:
            one |= {"value": cell.value[r].tolist(), "adds": cell.adds[r].tolist(), "added": cell.added[r].tolist()}
        rules.append(one)
    return {
        "sizes": curves.sizes.tolist(),
        "n": n,
        "rules": rules,
        "actions": [{"label": a.label, "light": a.light, "dark": a.dark} for a in actions],
        "cell": None
        if cell is None
        else {
            "rows": float(cell.rows[0] / curves.sizes[0]),
            "total": float(cell.total[0] / curves.sizes[0]),
            "frequency": _sent(cell.frequency),
        },
        "words": {
            "label": _("The case under four smoothings, by the number of rows"),
            "slider": _("number of rows"),
            "smoothing": _("smoothing"),
            "posterior": f"P({label} | x)",
            "estimate": f"P({shown} | {label})",
            "cell": f"P({shown} | {label})",
            "weight": _("weight of the prior"),
            "frequency": ""
            if cell is None
            else _("frequency {rows}/{total}").format(
                rows=plain(cell.rows[0] / curves.sizes[0] * whole), total=plain(cell.total[0] / curves.sizes[0] * whole)
            ),
            "rows": _("rows n, at the table's proportions"),
            "nowhere": _("no posterior: 0 in every class"),
        },
    }


def _sent(value: float) -> float | str | None:
    """A number as JSON has it."""
    return None if value != value else "+" if value == float("inf") else "-" if value == float("-inf") else value


# in words -------------------------------------------------------------------------------------------------------------


def _zeros(asked: Asked, n: float) -> None:
    """The values of the case that a class never had, or the offer to try one."""
    table, model = asked.table, asked.model
    case = active.case_frame(table, active.case_values(table))
    every = lab.zeros(model)
    own = [zero for zero in every if lab.place_of(model, case, zero.column) == zero.level]
    classes = model.classes_.tolist()
    for zero in own[:3]:
        leaf = lab.table_of(model, zero.column)
        st.markdown(
            _("**A zero:** 0 of the {total} rows of {class} have {column} = {value}. Without smoothing this one factor "
              "makes P({class} | x) = 0, whatever the other attributes say.").format(**{
                "total": plain(float(leaf.totals[zero.k])),
                "class": md(table.class_(classes[zero.k]), 24),
                "column": md(table.column(zero.column), 24),
                "value": md(asked.level_words(zero.column, zero.level), 24),
            })
        )  # fmt: skip
    with st.container(horizontal=True, gap="small"):
        offered = {v.name: v for v in table.features if v.discrete}
        tried = sorted(
            (z for z in every if z.column in offered), key=lambda z: (z.column != asked.column, z.k != asked.k)
        )
        if tried and not own:
            zero = tried[0]
            position = model.schema_.names.index(zero.column)
            value, column = asked.level_words(zero.column, zero.level), table.column(zero.column)
            st.button(
                _("Try a value never seen: {column} = {value}").format(column=md(column, 24), value=md(value, 24)),
                icon=":material/exposure_zero:", key="lab_try_zero",
                **on_click(
                    lambda s: _with_value(s, table, zero.column, zero.level).showing(
                        keys.LAB_SMOOTHED_CLASS.to(zero.k), keys.LAB_SMOOTHED_COLUMN.to(position)
                    )
                ),
            )  # fmt: skip
        if own:
            st.button(
                _("The table's first case again"), icon=":material/undo:", key="lab_first_case",
                **on_click(lambda s: replace(s, case=(), row=-1, amount=-1.0)),
            )  # fmt: skip
        if n != _rows(asked):
            st.button(
                _("n = {n}, as in the table").format(n=plain(_rows(asked))), key="lab_own_n",
                **on_click(lambda s: s.showing(keys.LAB_SMOOTHED_N.to(0.0))),
            )  # fmt: skip


def _read(asked: Asked, curves: lab.SmoothingCurves, n: float) -> None:
    """What there is to see."""
    table, model, whole = asked.table, asked.model, _rows(asked)
    weight = float(model.stats_.class_weight[asked.k])
    name = md(table.class_(asked.label), 24)
    texts = [
        _("Drag the line, or press ← and →. Every count of the table is multiplied by n/{whole}; fractions of a row "
          "are allowed: at n = {n} {class} has {rows} rows. The proportions stay, so without smoothing nothing "
          "changes. A smoothed estimate is a mean of what was believed before, the parameter prior, and of the "
          "frequency; the weight of the former falls as 1/n, and the curves join the frequency.").format(**{
            "whole": plain(whole), "n": plain(n), "class": name, "rows": _rounded(weight * n / whole),
        })
    ]  # fmt: skip
    if any(v.numeric and not v.cuts for v in model.schema_):
        texts.append(_("Means and variances of numbers are those of the table at every n."))
    st.caption(" ".join(texts))
    pairs = [(v, k) for v in model.schema_.names if lab.has_table(model, v) for k in range(len(model.classes_))]
    touched = list(dict.fromkeys((zero.column, zero.k) for zero in lab.zeros(model)))
    classes = model.classes_.tolist()
    listed = _(", ").join(f"{md(table.column(v), 20)} | {md(table.class_(classes[k]), 20)}" for v, k in touched[:6])
    listed = _(": ") + listed + (" …" if len(touched) > 6 else "") if touched else ""
    st.caption(
        _("*Zeros only* is no prior: it looks at the counts first. It smooths a whole pair of attribute and class "
          "once one of its levels has no row, its seen levels too, and leaves every other pair as counted. A single "
          "row in the empty cell, and the pair is smoothed no more. Here these are {some} of {all} pairs{listed}. "
          "Laplace's correction and the m-estimate smooth every pair alike; Laplace's smooths the class prior as well "
          "(eq. 7.19).").format(
            some=len(touched), all=len(pairs), listed=listed)
    )  # fmt: skip
    case = active.case_frame(table, active.case_values(table))
    if not any(lab.place_of(model, case, zero.column) == zero.level for zero in lab.zeros(model)):
        return
    if (curves.joint[0, -1] == -math.inf).all():
        text = _("Every class has a zero here: without smoothing there is no posterior at all. With it the classes are "
                 "compared by how their zeros vanish as n grows.")  # fmt: skip
    else:
        text = _("A proportion of 0 stays 0 at every n. So with more rows the smoothed estimates fall as 1/n, and the "
                 "posteriors go where the unsmoothed one is at once: all that smoothing says is that so few rows do "
                 "not prove «never».")  # fmt: skip
    st.caption(text)


def _elsewhere(asked: Asked, fitted: active.Fitted, n: float, m: float, base: Base) -> None:
    """The active model, which is no naive Bayes, under the same smoothings."""
    table = asked.table
    case, use = active.case_values(table), active.prior_of_use(table)
    by_rule = _smoothed_elsewhere(fitted, case, n, m, base, use, table)
    classes = fitted.model.classes_.tolist()
    loss, k = active.case_losses(table).for_classes(tuple(classes)), classes.index(asked.label)
    lines = [[_("smoothing"), f"P({md(table.class_(asked.label), 24)} | x)", _("decision")]]
    for rule, one in by_rule.items():
        if (p := one.posterior) is None:
            why = one.why.message.local(md) if one.why else _("no posterior: 0 in every class")
            lines.append([rule_words(rule), "–", why])
        else:
            action = md(table.action(loss.actions[one.decision(loss)]), 40)
            lines.append([rule_words(rule), certain(float(p[k])), action])
    spec = active.shelf_of(table)[shelf.active_place(table)]
    st.markdown(f"**{md(shelf.title(spec, table), 60)}, n = {plain(n)}**")
    markdown_table(lines, left=1)
    st.caption(
        _(
            "Its tables may have parents besides the class: their cells hold fewer rows, and smoothing does more "
            "there. Zeros only is a smoothing of naive Bayes; this model has none such."
        )
    )


@cached(max_entries=32)
def _smoothed_elsewhere(
    fitted: active.Fitted, case: Mapping[str, Any], n: float, m: float, base: Base, use: Mapping[Any, float] | None,
    _table: active.FittableTable,
) -> dict[str, lab.SmoothedElsewhere]:  # fmt: skip
    return lab.smoothed_elsewhere(fitted.model, active.case_frame(_table, case), n, m, base, use=use)


def _factors(asked: Asked, n: float, m: float, base: Base) -> None:
    """Every factor of the product, under each smoothing."""
    table = asked.table
    factors = _factors_of(asked.fitted, active.case_values(table), n, asked.k, m, base, table)
    name = md(table.class_(asked.label), 24)
    st.subheader(_("All factors of {class} at n = {n}").format(**{"class": name, "n": plain(n)}))
    lines = [[_("factor"), _("frequency"), *map(rule_words, lab.RULES)]]
    for row in factors:
        cells = [number_of_log(v) for v in row.logs]
        bold = [f"**{c}**" if v != row.logs[0] else c for c, v in zip(cells, row.logs, strict=True)]
        frequency = "–" if row.rows is None or row.total is None else f"{_rounded(row.rows)}/{_rounded(row.total)}"
        lines.append([_factor_words(asked, row.column), frequency, *bold])
    sums = [sum(logs) for logs in zip(*(row.logs for row in factors), strict=True)]
    lines.append([_("product"), "", *map(number_of_log, sums)])
    markdown_table(lines)
    st.caption(_("Bold: not the frequency. The prior of use is not in these factors; it is in the posteriors above."))


def _rounded(rows: float) -> str:
    """So many rows, to a hundredth."""
    return plain(round(rows, 2))


def _factor_words(asked: Asked, column: str) -> str:
    """What the factor is of: the class, or a column with its value in the case."""
    table = asked.table
    variable = next((v for v in table.features if v.name == column), None)
    if variable is None:
        return f"P({md(table.class_(asked.label), 24)})"
    value, name = active.case_values(table).get(column), md(table.column(column), 24)
    if variable.kind == "text" or value is None:
        return name
    return f"{name} = {md(table.value(variable, value) if variable.discrete else plain(float(value)), 24)}"


@cached(max_entries=32)
def _factors_of(
    fitted: active.Fitted, case: Mapping[str, Any], n: float, k: int, m: float, base: Base,
    _table: active.FittableTable,
) -> list[lab.SmoothedFactor]:  # fmt: skip
    return lab.factors_at(cast(NaiveBayes, fitted.model), active.case_frame(_table, case), n, k, m, base)
