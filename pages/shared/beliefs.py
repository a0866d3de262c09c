"""A column's class-conditionals on screen: the list of columns, bars or curves, and the rows behind every number."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.figures.conditionals import STRIP, density_curves, level_bars
from bayes_engine.language import _
from bayes_engine.numerals import count, near, number
from bayes_engine.table.schema import Variable
from bayes_engine.working.conditionals import (
    Conditional,
    Gaussians,
    LevelTable,
    class_entropy,
    information,
    rows_of,
    values_of,
)
from bayes_engine.working.derive import Density, Step
from bayes_engine.working.render import fraction
from pages.shared import data, words
from pages.shared.chart import chart
from pages.shared.escape import clean, md, plotly_text
from pages.shared.state import Spec, bound, change, current, dark

BARS = 40
"""A column with more levels is drawn with its most frequent ones."""
SIDE_BY_SIDE = 60
"""A table of fractions up to this many characters wide leaves room for the rows beside it."""
LIST = 388
"""Height of the list of columns in pixels: as high as the figure beside it."""


# the columns ------------------------------------------------------------------------------------------------------


@st.cache_resource(max_entries=64, show_spinner=False)
def _information(key: str, spec: Spec, _fitted: data.Fitted) -> tuple[dict[str, float], float]:
    return information(_fitted.model), class_entropy(_fitted.model)


def choose_column(table: data.InUse, fitted: data.Fitted) -> Variable:
    """The column looked at: a list that says how much each tells of the class."""
    nats, entropy = _information(table.key, fitted.spec, fitted)
    features = list(table.features)
    by_table = current().seen("columns_by", "information") == "table"
    told = {v.name: nats.get(v.name, 0.0) for v in features}
    listed = features if by_table else sorted(features, key=lambda v: -told[v.name])
    position = {v.name: i for i, v in enumerate(features)}
    here = current().seen("column", -1)
    best = max(features, key=lambda v: told[v.name])
    chosen = features[here] if 0 <= here < len(features) else best
    st.segmented_control(
        _("Columns"),
        ["information", "table"],
        required=True,
        label_visibility="collapsed",
        format_func=lambda o: {"information": _("most telling"), "table": _("table order")}[o],
        **bound("columns_by", "table" if by_table else "information", lambda s, o: s.showing(columns_by=o)),
    )
    frame = pd.DataFrame(
        {
            "nats": [told[v.name] for v in listed],
            "name": [clean(table.column(v.name), 60) for v in listed],
        }
    )
    key, row = "column_list", listed.index(chosen)

    def pick() -> None:
        name = listed[_clicked(key, row)].name
        change(lambda s: s.showing(column=position[name], cell=()))

    _select(key, {"rows": [row], "cells": []})
    st.dataframe(
        frame,
        key=key,
        on_select=pick,
        selection_mode=["single-row-required", "single-cell"],
        hide_index=True,
        height=_high(len(listed), LIST),
        alt=_("columns"),
        column_config={
            "nats": st.column_config.ProgressColumn(
                "I(x; c)",
                width=92,
                format="%.3f",
                min_value=0.0,
                max_value=max(entropy, 1e-9),
                help=_(
                    "Mutual information of column and class under this model, in nats: the evidence its value is "
                    "expected to give. A full bar is all there is to know, {nats} nats."
                ).format(nats=f"{entropy:.3f}"),
            ),
            "name": st.column_config.TextColumn(_("column")),
        },
    )
    return chosen


def _high(rows: int, most: int) -> int:
    """As high as its rows, header and borders included."""
    return min(38 + 35 * max(rows, 1), most)


def _clicked(key: str, before: int) -> int:
    """The row of a table that was clicked, at its mark or in any cell; without either the one from before."""
    selection = st.session_state[key]["selection"]
    cells, rows = selection.get("cells", ()), selection.get("rows", ())
    return int(cells[0][0] if cells else rows[0] if rows else before)


def _select(key: str, selection: dict[str, Any]) -> None:
    """Make a table's selection a view of the state."""
    shown = st.session_state.get(key, {}).get("selection", {})
    if any(json.dumps(shown.get(part, ())) != json.dumps(value) for part, value in selection.items()):
        st.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": [], **selection}}


def _width(table: data.InUse, found: LevelTable) -> int:
    """About how many characters the table of fractions is wide."""
    levels = max(len(clean(_level(table, found, step), 60)) for step in found.steps)
    cells = max(len(fraction(source)) for step in found.steps for source in step.sources)
    return levels + len(found.classes) * (cells + len(" = 0.1234"))


# discrete columns -------------------------------------------------------------------------------------------------


def draw(table: data.InUse, found: Conditional) -> None:
    """The class-conditionals: bars for a discrete column, curves for a numeric one."""
    on_dark = dark()
    letter = "P" if isinstance(found, LevelTable) else "p"
    asked = f"{md(table.column(found.variable.name), 60)} \\| {md(table.column(table.target.name), 40)}"
    st.markdown(f"**{letter}({asked})** · {words.kind(found.variable.kind)}")
    if isinstance(found, LevelTable):
        _bars(table, found, on_dark)
    else:
        _curves(table, found, on_dark)


def _bars(table: data.InUse, found: LevelTable, on_dark: bool) -> None:
    drawn = found
    if len(found.steps) > BARS:
        often = sorted(found.steps, key=lambda step: -_total(step))[:BARS]
        drawn = replace(found, steps=tuple(step for step in found.steps if step in often))
    figure = level_bars(
        drawn,
        levels=[plotly_text(_level(table, found, step), 22) for step in drawn.steps],
        classes=[plotly_text(_class(table, c)) for c in found.classes],
        dark=on_dark,
    )
    chart(figure, key="conditionals", alt=_("P(level | class)"))
    if drawn is not found:
        st.caption(
            _("The {n} most frequent of {all} levels are drawn; the table has all.").format(
                n=BARS, all=len(found.steps)
            )
        )
    elif found.smoothed:
        st.caption(_("Filled: the model's estimate, smoothed. Outline: the bare fraction of counts."))


def _total(step: Step) -> float:
    return sum(getattr(source, "count", 0.0) for source in step.sources)


def _level(table: data.InUse, found: Conditional, step: Step) -> str:
    return _("missing") if step.value is None else table.level(found.variable.name, step.value)


def _class(table: data.InUse, label: Any) -> str:
    return f"{clean(table.column(table.target.name), 24)} = {clean(table.class_(label), 40)}"


def _fractions(table: data.InUse, found: LevelTable) -> tuple[Step, Any]:
    """Level × class with the fraction each probability is; the (level, class) chosen there."""
    steps = list(found.steps)
    left_out = any(found.missing)
    listed: list[dict[str, str]] = []
    for step in steps:
        cells = {
            f"c{k}": f"{fraction(s)} = {number(p)}"
            for k, (s, p) in enumerate(zip(step.sources, step.factors, strict=True))
        }
        listed.append({"level": clean(_level(table, found, step), 60), **cells})
    if left_out:
        steps.append(replace(steps[0], value=None))
        cells = {f"c{k}": _("{n} left out").format(n=count(n)) for k, n in enumerate(found.missing)}
        listed.append({"level": _("missing"), **cells})
    counted = [(s, k) for s in range(len(found.steps)) for k, f in enumerate(found.fractions(s)) if f.count]
    s, k = _chosen_cell(len(steps), len(found.classes), otherwise=counted[0] if counted else (0, 0))
    key = "fractions"

    def pick() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        row, name = cells[0] if cells else (s, "")
        change(lambda state: state.showing(cell=(int(row), int(name[1:]) if name.startswith("c") else k)))

    _select(key, {"cells": [(s, f"c{k}")]})
    st.dataframe(
        pd.DataFrame(listed),
        key=key,
        on_select=pick,
        selection_mode="single-cell",
        hide_index=True,
        height=_high(len(listed), LIST),
        column_config={
            "level": st.column_config.TextColumn(clean(table.column(found.variable.name), 40)),
            **{f"c{k}": st.column_config.TextColumn(_class(table, c)) for k, c in enumerate(found.classes)},
        },
    )
    return steps[s], found.classes[k]


def _chosen_cell(rows: int, columns: int, otherwise: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """The cell whose rows are shown: the one chosen, or where there is none of the kind (a forged link) `otherwise`."""
    cell = current().seen("cell", ())
    fits = len(cell) == 2 and all(isinstance(v, int) for v in cell) and 0 <= cell[0] < rows and 0 <= cell[1] < columns
    return (cell[0], cell[1]) if fits else otherwise


# numeric columns --------------------------------------------------------------------------------------------------


def _curves(table: data.InUse, found: Gaussians, on_dark: bool) -> None:
    assert table.parts is not None
    values = values_of(found, table.parts.X, table.parts.y)
    figure = density_curves(
        found,
        values,
        name=plotly_text(table.column(found.variable.name)),
        classes=[plotly_text(_class(table, c)) for c in found.classes],
        dark=on_dark,
    )
    chart(figure, key="conditionals", alt=_("p(x | class)"))
    peak = max(d.value for d in found.densities)
    said = _("Beneath: the very values. Bar at the waist of a curve: mean ± one standard deviation.")
    if max(map(len, values)) > STRIP:
        said += " " + _("Of a class with more than {n} values so many are drawn, evenly by rank.").format(n=STRIP)
    if peak > 1:
        said += " " + _(
            "A density may exceed 1 (here up to {peak}): the probability of an interval of width ε is p·ε, and "
            "ε is the same for every class, so it cancels in the posterior."
        ).format(peak=f"{peak:.4g}")
    st.caption(said)


def _moments(table: data.InUse, found: Gaussians) -> tuple[Step, Any]:
    """n, mean, squared deviations, variance for each class; the class chosen there."""
    key, k = "moments", _chosen_cell(1, len(found.classes))[1]
    listed = pd.DataFrame(
        [
            {
                "class": clean(table.class_(c), 60),
                "n": count(d.n),
                "mean": near(d.mean, d.sd),
                "m2": f"{d.m2:.6g}",
                "df": count(d.n - d.ddof),
                "variance": f"{d.variance:.6g}" + (" †" if d.replaced else ""),
                "sd": f"{d.sd:.6g}",
                "missing": count(m),
            }
            for c, d, m in zip(found.classes, found.densities, found.missing, strict=True)
        ]
    )

    def pick() -> None:
        clicked = _clicked(key, k)
        change(lambda s: s.showing(cell=(0, clicked)))

    _select(key, {"rows": [k], "cells": []})
    st.dataframe(
        listed if any(found.missing) else listed.drop(columns="missing"),
        key=key,
        on_select=pick,
        selection_mode=["single-row-required", "single-cell"],
        hide_index=True,
        height=_high(len(listed), LIST),
        column_config={
            "class": st.column_config.TextColumn(clean(table.column(table.target.name), 40)),
            "n": st.column_config.TextColumn("n", width=50),
            "mean": st.column_config.TextColumn(_("mean x̄")),
            "m2": st.column_config.TextColumn("Σ(x − x̄)²"),
            "df": st.column_config.TextColumn("n − 1" if found.densities[0].ddof else "n", width=60),
            "variance": st.column_config.TextColumn(_("variance")),
            "sd": st.column_config.TextColumn(_("sd")),
            "missing": st.column_config.TextColumn(_("missing"), width=70),
        },
    )
    _variance_line(found, found.densities[k])
    return found.step, found.classes[k]


def _variance_line(found: Gaussians, d: Density) -> None:
    """How the variance of the chosen class came about."""
    if found.tied:
        within, degrees = sum(g.m2 for g in found.densities), sum(g.n - g.ddof for g in found.densities)
        formula = rf"\frac{{\sum_c\sum_{{x \in c}}(x-\bar x_c)^2}}{{{'n-K' if d.ddof else 'n'}}}"
        st.markdown(rf"$\displaystyle\sigma^2={formula}=\frac{{{within:.6g}}}{{{count(degrees)}}}={d.variance:.6g}$")
    elif not d.replaced:
        formula = rf"\frac{{\sum(x-\bar x)^2}}{{{'n-1' if d.ddof else 'n'}}}"
        below = f"{count(d.n)}-1" if d.ddof else count(d.n)
        st.markdown(rf"$\displaystyle\sigma^2={formula}=\frac{{{d.m2:.6g}}}{{{below}}}={d.variance:.6g}$")
    if any(g.replaced for g in found.densities):
        st.caption(_("† too few rows or no spread in this class: the pooled variance, or the floor, stands in."))


# the rows behind --------------------------------------------------------------------------------------------------


def behind(table: data.InUse, found: Conditional) -> None:
    """Where the numbers come from: fractions or moments, and the very rows of the one that is chosen."""
    st.subheader(_("The rows behind it"))
    if isinstance(found, Gaussians):
        st.caption(_("Choose a class; its rows stand below."))
        _rows_behind(table, found, *_moments(table, found))
        return
    if _width(table, found) > SIDE_BY_SIDE:
        st.caption(_("Choose a cell; its rows stand below."))
        _rows_behind(table, found, *_fractions(table, found))
        return
    counted, rows = st.columns([1, 1], gap="medium")
    with counted:
        st.markdown(f":gray[{_('Choose a cell.')}]")
        chosen = _fractions(table, found)
    with rows:
        _rows_behind(table, found, *chosen)


def _rows_behind(table: data.InUse, found: Conditional, step: Step, label: Any) -> None:
    """The very rows of the table that a number was counted from."""
    parts, column = table.parts, found.variable.name
    assert parts is not None
    whole = parts.X.assign(**{parts.target.name: parts.y})
    if parts.weight is not None:
        whole = whole.assign(**{str(parts.weight.name): parts.weight})
    whole = whole.set_axis(parts.rows + 1, axis=0).rename_axis(_("row"))
    rows = rows_of(found, whole, step, label)
    of_class = int((parts.y == label).sum())
    condition = md(_class(table, label))
    if isinstance(found, LevelTable):
        condition = f"{md(table.column(column))} = {md(_level(table, found, step))} · {condition}"
    st.markdown(f"**{condition}** · " + _("{n} of the {all} rows of this class").format(n=len(rows), all=of_class))
    made = [name for name in rows.columns if name not in whole.columns]
    first = [column, *made, parts.target.name]
    shown = rows[[*first, *(name for name in rows.columns if name not in first)]]
    st.dataframe(
        _on_screen(table, shown),
        height=_high(len(shown), LIST),
        key=f"rows_{abs(hash((column, str(step.value), str(label)))):x}",  # other rows, other widths
        alt=_("the rows counted"),
        column_config={n: st.column_config.NumberColumn(format="%.6g") for n in made},
    )


def _on_screen(table: data.InUse, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with the names and levels in the interface's language, where the table has any."""
    if table.dataset is None:  # levels may be of several types (a new one is named); cells are of one
        return frame.astype({n: object for n in frame if isinstance(frame[n].dtype, pd.CategoricalDtype)})
    known = {v.name for v in table.schema}
    shown = {}
    for name in frame.columns:
        if name not in known:
            shown[name] = frame[name]
            continue
        names = {level: table.level(name, level) for level in table.schema[name].levels}
        shown[table.column(name)] = frame[name].astype(object).map(names, na_action="ignore") if names else frame[name]
    return pd.DataFrame(shown)
