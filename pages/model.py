from pages.shared.router import boot

boot()

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.figures.conditionals import density_curves, level_bars, prior_bars
from bayes_engine.language import _, ngettext
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.table.schema import Variable
from bayes_engine.working.conditionals import (
    Conditional, Gaussians, LevelTable, class_entropy, conditional, information, model_size, prior_step, rows_of, values_of,
)  # fmt: skip
from bayes_engine.working.derive import Density, Step
from bayes_engine.working.render import count, fraction, number
from pages.shared import data, shelf, words
from pages.shared.escape import clean, md, plotly_text
from pages.shared.router import go
from pages.shared.state import Spec, State, bound, change, current

BARS = 40
"""A column with more levels is drawn with its most frequent ones."""
QUIET = {"displayModeBar": False}


# the shelf, the preset, the knobs ---------------------------------------------------------------------------------


def models(table: data.InUse) -> Spec:
    """Choose, add, remove a model; choose its preset."""
    specs, here = data.shelf(table), shelf.active(table)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.segmented_control(_("Models on the shelf"), range(len(specs)), required=True,
                             format_func=lambda i: f"{i + 1} · {md(shelf.title(specs[i]))}",
                             **bound("shelf", here, lambda s, i: replace(s, active=i)))  # fmt: skip
        st.button(_("Add a copy"), icon=":material/add:", key="shelf_add", disabled=len(specs) >= shelf.MOST,
                  help=_("A copy of the active model, to change and to compare; up to six."),
                  on_click=change, args=(lambda s: shelf.add(table, s),))  # fmt: skip
        st.button(_("Remove"), icon=":material/close:", key="shelf_remove", disabled=len(specs) == 1,
                  on_click=change, args=(lambda s: shelf.remove(table, s),))  # fmt: skip
    spec = specs[here]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.segmented_control(_("Estimated by"), list(PRESETS), format_func=words.preset, required=True,
                             **bound("preset", spec.preset, lambda s, p: shelf.on_active(table, lambda _o: Spec(p))(s)))  # fmt: skip
        st.caption(words.preset_help(spec.preset))
    return spec


def knobs(table: data.InUse, spec: Spec, own_prior: tuple[float, ...]) -> None:
    """Everything about estimation that can be turned, over the preset."""
    assert table.parts is not None
    features = table.parts.schema.features
    discrete, numeric = any(v.discrete for v in features), any(v.numeric for v in features)

    def knob(name: str, value: Any = None, read: Any = lambda v: v) -> dict[str, Any]:
        shown = shelf.setting(spec, name) if value is None else value
        return bound(f"knob_{name}", shown,
                     lambda s, v: shelf.on_active(table, lambda old: shelf.with_knob(old, name, read(v)))(s))  # fmt: skip

    def choice(name: str, label: str, options: list[str], help: str | None = None, off: bool = False) -> None:
        st.selectbox(label, options, format_func=lambda o: shelf.knob(name, o), help=help, disabled=off, **knob(name))

    with st.expander(shelf.summary(spec, discrete=discrete, numeric=numeric), icon=":material/tune:",
                     **bound("knobs_open", current().seen("knobs", False), lambda s, on: s.showing(knobs=bool(on)))):  # fmt: skip
        first, second, third, fourth = st.columns(4, gap="medium")
        with first:
            choice("smoothing", _("Smoothing"), ["all", "zero-only", "none"], off=not discrete,
                   help=_("Zeros only: the whole attribute–class pair that has a zero, nothing else; the prior is left alone."))  # fmt: skip
        alpha, idle = float(shelf.setting(spec, "alpha")), shelf.setting(spec, "smoothing") == "none" or not discrete
        with second:
            st.slider(_("α: rows imagined for each level"), 0.0, max(10.0, alpha), step=0.1, disabled=idle,
                      **bound("knob_alpha_slider", alpha, lambda s, v: shelf.on_active(
                          table, lambda old: shelf.with_knob(old, "alpha", round(v, 6)))(s)))  # fmt: skip
        with third:
            st.number_input(_("α, exactly"), 0.0, 1e6 * len(table.parts.X), step=0.1, format="%g", disabled=idle,
                            **knob("alpha", alpha, lambda v: float(v or 0.0)))  # fmt: skip
        with fourth:
            _prior_choice(table, spec, own_prior)
        first, second, third, fourth = st.columns(4, gap="medium")
        with first:
            choice("variance", _("Variance"), ["unbiased", "mle"], off=not numeric,
                   help=_("n−1 is the sample variance of the worked examples; n is maximum likelihood."))  # fmt: skip
            st.toggle(_("one for all classes"), disabled=not numeric, **knob("tied_variance", read=bool),
                      help=_("Gaussian discriminant analysis with a diagonal Σ: the classes differ in their means only."))  # fmt: skip
        with second:
            st.number_input(_("Variance floor, 10^"), -300, -1, step=1, disabled=not numeric,
                            help=_("No variance falls below this share of the column's own."),
                            **knob("var_floor", _power(shelf.setting(spec, "var_floor")), lambda v: float(f"1e{v or -9}")))  # fmt: skip
        with third:
            choice("missing", _("Missing cells"), ["marginalize", "category", "error"])
        with fourth:
            choice("unseen", _("Unseen values"), ["ignore", "smooth", "error"], off=not discrete,
                   help=_("What a value does at prediction that no row of the table had."))  # fmt: skip


def _power(floor: float) -> int:
    return int(f"{floor:e}".split("e")[1]) if floor > 0 else -300


def _prior_choice(table: data.InUse, spec: Spec, own: tuple[float, ...]) -> None:
    """The class prior by rule or by hand, class by class."""
    stands = shelf.setting(spec, "priors")
    by_hand = isinstance(stands, tuple)

    def choose(state: State, rule: str) -> State:
        value = own if rule == "by hand" else rule
        return shelf.on_active(table, lambda old: shelf.with_knob(old, "priors", value))(state)

    def said(rule: str) -> str:
        return _("prior set by hand") if rule == "by hand" else shelf.knob("priors", rule)

    st.selectbox(_("Class prior"), ["empirical", "laplace", "uniform", "by hand"], format_func=said,
                 help=_("What the model is built with. Where you will use it other frequencies may hold: see Losses."),
                 **bound("knob_priors", "by hand" if by_hand else stands, choose))  # fmt: skip
    for k, label in enumerate(table.classes if by_hand else ()):

        def put(state: State, p: float | None, k: int = k) -> State:
            moved = shelf.share(stands, k, min(max(float(p or 0.0), 0.0), 1.0))
            return shelf.on_active(table, lambda old: shelf.with_knob(old, "priors", moved))(state)

        st.number_input(f"P({md(table.class_(label), 24)})", 0.0, 1.0, step=0.01, format="%.4f",
                        **bound(f"knob_prior_{k}", round(stands[k], 6), put))  # fmt: skip


# the columns ------------------------------------------------------------------------------------------------------


@st.cache_resource(max_entries=64, show_spinner=False)
def _information(key: str, spec: Spec, _fitted: data.Fitted) -> tuple[dict[str, float], float]:
    return information(_fitted.model), class_entropy(_fitted.model)


def choose_column(table: data.InUse, fitted: data.Fitted) -> Variable:
    """The column looked at: a list that says how much each tells of the class."""
    assert table.parts is not None
    nats, entropy = _information(table.key, fitted.spec, fitted)
    features = list(table.parts.schema.features)
    by_table = current().seen("columns_by", "information") == "table"
    told = {v.name: nats.get(v.name, 0.0) for v in features}
    listed = features if by_table else sorted(features, key=lambda v: -told[v.name])
    position = {v.name: i for i, v in enumerate(features)}
    here = current().seen("column", -1)
    best = max(features, key=lambda v: told[v.name])
    chosen = features[here] if 0 <= here < len(features) else best
    st.segmented_control(
        _("Columns"), ["information", "table"], required=True, label_visibility="collapsed",
        format_func=lambda o: {"information": _("most telling first"), "table": _("as in the table")}[o],
        **bound("columns_by", "table" if by_table else "information", lambda s, o: s.showing(columns_by=o)),
    )  # fmt: skip
    frame = pd.DataFrame({
        "name": [clean(table.column(v.name), 60) for v in listed],
        "nats": [told[v.name] for v in listed],
    })  # fmt: skip
    key, row = "column_list", listed.index(chosen)

    def pick() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        change(lambda s: s.showing(column=position[listed[rows[0]].name], cell=()) if rows else s)

    _select(key, {"rows": [row]})
    st.dataframe(
        frame, key=key, on_select=pick, selection_mode="single-row-required", hide_index=True, height=388, alt=_("columns"),
        column_config={
            "name": st.column_config.TextColumn(_("column")),
            "nats": st.column_config.ProgressColumn(
                "I(x; c)", format="%.3f", min_value=0.0, max_value=max(entropy, 1e-9), width=110,
                help=_("Mutual information of column and class under this model, in nats: the evidence its value is "
                       "expected to give. A full bar is all there is to know, {nats} nats.").format(nats=f"{entropy:.3f}"),
            ),
        },
    )  # fmt: skip
    return chosen


def _select(key: str, selection: dict[str, Any]) -> None:
    """Make a table's selection a view of the state."""
    shown = st.session_state.get(key, {}).get("selection", {})
    if any(list(shown.get(part, ())) != list(value) for part, value in selection.items()):
        st.session_state[key] = {"selection": {"rows": [], "columns": [], "cells": [], **selection}}


# discrete columns -------------------------------------------------------------------------------------------------


def bars(table: data.InUse, found: LevelTable, dark: bool) -> None:
    """P(level | class) as bars."""
    drawn = found
    if len(found.steps) > BARS:
        often = sorted(found.steps, key=lambda step: -_total(step))[:BARS]
        drawn = replace(found, steps=tuple(step for step in found.steps if step in often))
    figure = level_bars(
        drawn, levels=[plotly_text(_level(table, found, step), 22) for step in drawn.steps],
        classes=[plotly_text(_class(table, c), 40) for c in found.classes], dark=dark,
    )  # fmt: skip
    st.plotly_chart(figure, key="conditionals", config=QUIET, alt=_("P(level | class)"))
    if drawn is not found:
        st.caption(_("The {n} most frequent of {all} levels are drawn; the table has all.").format(n=BARS, all=len(found.steps)))
    elif found.smoothed:
        st.caption(_("Filled: the model's estimate, smoothed. Outline: the bare fraction of counts."))


def _total(step: Step) -> float:
    return sum(getattr(source, "count", 0.0) for source in step.sources)


def _level(table: data.InUse, found: Conditional, step: Step) -> str:
    return _("missing") if step.value is None else table.level(found.variable.name, step.value)


def _class(table: data.InUse, label: Any) -> str:
    return f"{table.column(table.target.name)} = {table.class_(label)}"


def fractions(table: data.InUse, found: LevelTable) -> tuple[Step, Any]:
    """Level × class with the fraction each probability is; the (level, class) chosen there."""
    steps = list(found.steps)
    left_out = any(found.missing)
    listed: list[dict[str, str]] = []
    for step in steps:
        cells = {f"c{k}": f"{fraction(s)} = {number(p)}" for k, (s, p) in enumerate(zip(step.sources, step.factors, strict=True))}
        listed.append({"level": clean(_level(table, found, step), 60), "n": count(_total(step)), **cells})
    if left_out:
        steps.append(replace(steps[0], value=None))
        cells = {f"c{k}": _("{n} left out").format(n=count(n)) for k, n in enumerate(found.missing)}
        listed.append({"level": _("missing"), "n": count(sum(found.missing)), **cells})
    s, k = _cell(len(steps), len(found.classes))
    key = "fractions"

    def pick() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        row, name = cells[0] if cells else (s, "")
        change(lambda state: state.showing(cell=(int(row), int(name[1:]) if name.startswith("c") else k)))

    _select(key, {"cells": [(s, f"c{k}")]})
    st.dataframe(
        pd.DataFrame(listed), key=key, on_select=pick, selection_mode="single-cell", hide_index=True,
        height=38 + 35 * min(len(listed), 12),
        column_config={
            "level": st.column_config.TextColumn(clean(table.column(found.variable.name), 40)),
            "n": st.column_config.TextColumn(_("rows"), width=60),
            **{f"c{k}": st.column_config.TextColumn(clean(_class(table, c), 40)) for k, c in enumerate(found.classes)},
        },
    )  # fmt: skip
    return steps[s], found.classes[k]


def _cell(rows: int, columns: int) -> tuple[int, int]:
    """The cell whose rows are shown; a forged one counts as the first."""
    cell = current().seen("cell", ())
    fits = len(cell) == 2 and all(isinstance(v, int) for v in cell) and 0 <= cell[0] < rows and 0 <= cell[1] < columns
    return (cell[0], cell[1]) if fits else (0, 0)


# numeric columns --------------------------------------------------------------------------------------------------


def curves(table: data.InUse, found: Gaussians, dark: bool) -> None:
    """p(x | class) as curves over the values."""
    assert table.parts is not None
    figure = density_curves(
        found, values_of(found, table.parts.X, table.parts.y), name=plotly_text(table.column(found.variable.name)),
        classes=[plotly_text(_class(table, c), 40) for c in found.classes], dark=dark,
    )  # fmt: skip
    st.plotly_chart(figure, key="conditionals", config=QUIET, alt=_("p(x | class)"))
    peak = max(d.value for d in found.densities)
    said = _("Beneath: the very values. Bar at the waist of a curve: mean ± one standard deviation.")
    if peak > 1:
        said += " " + _("A density may exceed 1 (here up to {peak}): the probability of an interval of width ε is p·ε, and "
                        "ε is the same for every class, so it cancels in the posterior.").format(peak=f"{peak:.4g}")  # fmt: skip
    st.caption(said)


def moments(table: data.InUse, found: Gaussians) -> tuple[Step, Any]:
    """n, mean, squared deviations, variance for each class; the class chosen there."""
    key, k = "moments", _cell(1, len(found.classes))[1]
    listed = pd.DataFrame([
        {"class": clean(table.class_(c), 60), "n": count(d.n), "mean": f"{d.mean:.6g}", "m2": f"{d.m2:.6g}",
         "df": count(d.n - d.ddof), "variance": f"{d.variance:.6g}" + (" †" if d.replaced else ""), "sd": f"{d.sd:.6g}",
         "missing": count(m)}
        for c, d, m in zip(found.classes, found.densities, found.missing, strict=True)
    ])  # fmt: skip

    def pick() -> None:
        rows = st.session_state[key]["selection"]["rows"]
        change(lambda s: s.showing(cell=(0, int(rows[0]))) if rows else s)

    _select(key, {"rows": [k]})
    st.dataframe(
        listed if any(found.missing) else listed.drop(columns="missing"), key=key, on_select=pick,
        selection_mode="single-row-required", hide_index=True, height=38 + 35 * min(len(listed), 12),
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
    )  # fmt: skip
    chosen = found.densities[k]
    _variance_line(found, chosen)
    return found.step, found.classes[k]


def _variance_line(found: Gaussians, d: Density) -> None:
    """How the variance of the chosen class came about."""
    if found.tied:
        within, degrees = sum(g.m2 for g in found.densities), sum(g.n - g.ddof for g in found.densities)
        st.latex(rf"\sigma^2 = \frac{{\sum_c \sum (x-\bar x_c)^2}}{{n - {d.ddof or ''} K}}".replace("{n -  K}", "n") +
                 rf" = \frac{{{within:.6g}}}{{{degrees:g}}} = {d.variance:.6g}")  # fmt: skip
    elif not d.replaced:
        below = f"{d.n:g} - 1" if d.ddof else f"{d.n:g}"
        st.latex(rf"\sigma^2 = \frac{{\sum (x-\bar x)^2}}{{{'n-1' if d.ddof else 'n'}}}"
                 rf" = \frac{{{d.m2:.6g}}}{{{below}}} = {d.variance:.6g}")  # fmt: skip
    if any(g.replaced for g in found.densities):
        st.caption(_("† too few rows or no spread in this class: the pooled variance, or the floor, stands in."))


# the rows behind --------------------------------------------------------------------------------------------------


def rows_behind(table: data.InUse, found: Conditional, step: Step, label: Any) -> None:
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
    said = ngettext("{n} of the {all} rows of this class", "{n} of the {all} rows of this class", len(rows))
    st.markdown(f"**{condition}** · " + said.format(n=len(rows), all=of_class))
    made = [name for name in rows.columns if name not in whole.columns]
    first = [column, *made, parts.target.name]
    shown = rows[[*first, *(name for name in rows.columns if name not in first)]]
    st.dataframe(_on_screen(table, shown), height=38 + 35 * min(max(len(shown), 1), 9), alt=_("the rows counted"),
                 column_config={table.column(n): st.column_config.NumberColumn(format="%.6g") for n in made})  # fmt: skip


def _on_screen(table: data.InUse, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with the names and levels in the interface's language, where the table has any."""
    if table.dataset is None:
        return frame
    known = {v.name for v in table.schema}
    shown = {}
    for name in frame.columns:
        if name not in known:
            shown[name] = frame[name]
            continue
        names = {level: table.level(name, level) for level in table.schema[name].levels}
        shown[table.column(name)] = frame[name].astype(object).map(names, na_action="ignore") if names else frame[name]
    return pd.DataFrame(shown)


# prior and size ---------------------------------------------------------------------------------------------------


def prior(table: data.InUse, fitted: data.Fitted, dark: bool) -> None:
    """P(class), each with its fraction."""
    st.subheader(_("The prior of each class"))
    names = [plotly_text(_class(table, c), 40) for c in table.classes]
    st.plotly_chart(prior_bars(prior_step(fitted.model, table.classes), classes=names, dark=dark), key="prior", config=QUIET,
                    alt=_("P(class)"))  # fmt: skip


def how_many(table: data.InUse, fitted: data.Fitted) -> None:
    """What the independence assumption saves."""
    assert table.parts is not None
    discrete, gaussian = model_size(fitted.model)
    st.subheader(_("How many numbers"))
    features = table.parts.schema.features
    if any(v.discrete for v in features):
        st.markdown("\n".join([
            f"| {_('discrete columns')} | {_('full joint table')} | {_('this model')} |", "| :-- | --: | --: |",
            f"| {_('table cells')} | K·ΠS_j = **{_big(discrete.joint_cells)}** | K·ΣS_j = **{_big(discrete.factor_cells)}** |",
            f"| {_('free parameters')} | {_big(discrete.joint_free)} | {_big(discrete.factor_free)} |",
        ]))  # fmt: skip
        st.caption(_("K classes, S_j levels of column j. Cells hold a probability each; parameters are what is free when every "
                     "distribution sums to 1, the class prior included."))  # fmt: skip
    if gaussian:
        st.caption(_("Numeric columns: {n} parameters more, a mean and a variance for each class.").format(n=gaussian)
                   if not shelf.setting(fitted.spec, "tied_variance") else
                   _("Numeric columns: {n} parameters more, a mean for each class and one variance.").format(n=gaussian))  # fmt: skip


def _big(n: int) -> str:
    return f"{n:,}" if n < 10**9 else f"{n:.3e}"


# the page ---------------------------------------------------------------------------------------------------------

table = data.table_in_use()
st.title(_("What does the model believe of each class?"))
if table.parts is None:
    assert table.problem is not None
    st.error(table.problem.message.local(md))
    go("pages/data.py", _("Set the columns' roles on the page Data"), ":material/table:")
    st.stop()
spec = models(table)
problem: BayesEngineError | None = None
try:
    fitted = data.fit(table, spec)
    own_prior = tuple(fitted.prior[c] for c in table.classes)
except BayesEngineError as error:
    problem, own_prior = error, tuple(1.0 / len(table.classes) for _c in table.classes)
knobs(table, spec, own_prior)
if problem is not None:
    st.error(problem.message.local(md))
    st.stop()
dark = st.context.theme.type == "dark"

columns, figure = st.columns([3, 8], gap="medium")
with columns:
    chosen = choose_column(table, fitted)
with figure:
    try:
        found = conditional(fitted.model, chosen.name, table.classes)
    except BayesEngineError as error:
        st.info(error.message.local(md))
        found = None
    if isinstance(found, LevelTable):
        bars(table, found, dark)
    elif isinstance(found, Gaussians):
        curves(table, found, dark)

if found is not None:
    st.subheader(_("The rows behind them"))
    counted, rows = st.columns([1, 1], gap="medium")
    with counted:
        step, label = fractions(table, found) if isinstance(found, LevelTable) else moments(table, found)
    with rows:
        rows_behind(table, found, step, label)

left, right = st.columns([1, 1], gap="large")
with left:
    prior(table, fitted, dark)
with right:
    how_many(table, fitted)
for note in data.notes_of(table, fitted):
    st.caption(":material/info: " + note.local(md))
