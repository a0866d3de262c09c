"""A column's class-conditionals on screen: bars or curves, and the rows behind every number."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Any

import streamlit as st

from bayes_engine.factors.gaussian import Density
from bayes_engine.language import _
from bayes_engine.numerals import count, near, number
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation.column_values import rows_of
from bayes_engine.workbench.derivation.conditionals import (
    Conditional,
    GaussianConditionals,
    LevelConditionals,
    Smoothed,
    best_cut,
    conditional,
)
from bayes_engine.workbench.derivation.derive import Cell, WorkingStep
from bayes_engine.workbench.derivation.likelihoods import Curves, Other, ShareTable, WordTable
from bayes_engine.workbench.derivation.render import fraction
from bayes_engine.workbench.figures.conditionals import STRIP, cut_histogram, density_curves, level_bars
from pages import active
from pages.active import words
from pages.components import tables
from pages.components.chart import chart
from pages.components.tables import Head
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import change, dark
from pages.views.model import likelihoods, structures
from pages.views.model.column_choice import LIST, super_parent

BARS = 40
"""A column with more levels is drawn with its most frequent ones."""
SIDE_BY_SIDE = 52
"""A table of fractions up to this many characters wide leaves room for the rows beside it, also at 1024 pixels."""
BESIDE = 4
"""So many features the rows beside it have at most."""


def _holds(table: active.FittableTable, variable: Variable, value: Any) -> str:
    """«knock = muffled», «sugar ≤ 0.2», in Markdown."""
    name, shown = md(table.column(variable.name), 60), table.value(variable, value)
    bound_only = variable.cuts is not None and shown[:1] in "≤>"
    return f"{name} {md(shown, 60)}" if bound_only else f"{name} = {md(shown, 60)}"


def _conditions(table: active.FittableTable, given: tuple[Cell, ...]) -> list[str]:
    return [_holds(table, cell.variable, cell.value) for cell in given]


# discrete columns -------------------------------------------------------------------------------------------------


def draw_conditional(table: active.FittableTable, fitted: active.Fitted, estimates: Conditional | Other) -> None:
    """The class-conditionals: bars for a discrete column, curves for a numeric one, words for a text."""
    on_dark = dark()
    letter = "p" if isinstance(estimates, GaussianConditionals | Curves) else "P"
    name, target = md(table.column(estimates.variable.name), 60), md(table.column(table.target.name), 40)
    kind = words.kind(estimates.variable.kind)
    if not isinstance(estimates, LevelConditionals | GaussianConditionals):
        heading = f"{letter}({name} \\| {target})"
        if isinstance(estimates, WordTable) and estimates.complement:
            heading = _("weights of {column} for each class").format(column=name)
        if isinstance(estimates, ShareTable):
            heading = _("{n} columns of counts, one multinomial").format(n=len(estimates.terms))
        st.markdown(f"**{heading}** · {kind}")
        structures.selected_or_weighted(fitted, estimates.variable.name)
        likelihoods.draw_likelihood(table, estimates)
        return
    if estimates.variable.cuts:
        kind = _("{kind}, in {n} intervals").format(kind=kind, n=len(estimates.variable.levels))
    if isinstance(estimates, LevelConditionals) and estimates.joint:
        st.markdown(f"**P({target}, {name})** · {kind}")
        st.caption(_("What AODE estimates of a super-parent: the joint probability of class and value."))
    else:
        alike = isinstance(estimates, LevelConditionals) and estimates.alike
        asked = _(", ").join([*([] if alike else [target]), *_conditions(table, estimates.given)])
        heading = f"{name} \\| {asked}" if asked else name
        st.markdown(f"**{letter}({heading})** · {kind}")
        if alike:
            st.caption(_("The class is no parent of this column: its table is the same for every class."))
        _super_parent_line(table, fitted, estimates)
        structures.selected_or_weighted(fitted, estimates.variable.name)
    if isinstance(estimates, LevelConditionals):
        if estimates.variable.cuts is not None:
            _histogram(table, fitted, estimates, on_dark)
        if estimates.variable.cuts != ():  # one interval holds all
            _bars(table, estimates, on_dark)
    else:
        _curves(table, estimates, on_dark)


def _super_parent_line(table: active.FittableTable, fitted: active.Fitted, estimates: Conditional) -> None:
    """Of AODE, P(c, x_i) at the value of the super-parent that is looked at."""
    looked_at = super_parent(table, fitted)
    if looked_at is None or not estimates.given:
        return
    joint = conditional(fitted.model, looked_at, table.classes, super_parent=looked_at)
    if not isinstance(joint, LevelConditionals) or not joint.joint:
        return
    step = next((s for s in joint.steps if s.value == estimates.given[0].value), None)
    if step is None:
        return
    shown = _conditions(table, estimates.given)[0]
    st.caption(" · ".join(
        f"P({md(table.class_(c), 24)}, {shown}) = {md(fraction(source))} = {number(p)}"
        for c, source, p in zip(joint.classes, step.sources, step.factors, strict=True)
    ))  # fmt: skip


@cached(max_entries=256)
def _best_cut(table: active.FittableTable, column: str) -> tuple[float, float] | None:
    """Gain and threshold, in bits, of the best cut of a whole column."""
    parts = table.parts
    weight = None if parts.weight is None else parts.weight.to_numpy()
    cut = best_cut(parts.schema[column], parts.X[column], parts.y, weight)
    return (cut.gain, cut.threshold) if cut else None


def _histogram(table: active.FittableTable, fitted: active.Fitted, estimates: LevelConditionals, on_dark: bool) -> None:
    """The values that were cut, and where; or that nothing was worth a cut."""
    place = table.features.position[estimates.variable.name]
    if not estimates.variable.cuts and active.likelihood_of(table, fitted.spec, place) == "mdlp":
        best = _best_cut(table, estimates.variable.name)
        sentence = _("No cut found: the best one gains {gain} bits, and {needed} are needed.")
        nothing = _("No cut found: there is nothing to cut.")
        st.info(
            sentence.format(gain=f"{best[0]:.3f}", needed=f"{best[1]:.3f}") if best else nothing,
            icon=":material/content_cut:",
        )
    figure = cut_histogram(
        estimates,
        likelihoods.values_behind(table, replace(estimates, given=())),
        name=plotly_text(table.column(estimates.variable.name)),
        classes=[plotly_text(table.given_class(c)) for c in estimates.classes],
        dark=on_dark,
    )
    chart(figure, key="cuts", alt=_("histogram with the cut points"))


def _bars(table: active.FittableTable, estimates: LevelConditionals, on_dark: bool) -> None:
    drawn = estimates
    if len(estimates.steps) > BARS:
        often = sorted(estimates.steps, key=lambda step: -_total(step))[:BARS]
        drawn = replace(estimates, steps=tuple(step for step in estimates.steps if step in often))
    figure = level_bars(
        drawn,
        levels=[plotly_text(table.value(estimates.variable, step.value), 22) for step in drawn.steps],
        classes=[plotly_text(table.given_class(c)) for c in estimates.classes],
        dark=on_dark,
    )
    chart(figure, key="conditionals", alt=_("P(level | class)"))
    if drawn is not estimates:
        st.caption(
            _("The {n} most frequent of {all} levels are drawn; the table has all.").format(
                n=BARS, all=len(estimates.steps)
            )
        )
    elif estimates.smoothed:
        st.caption(_("Solid: the model's estimate, smoothed. Pale behind it: the bare fraction of counts."))


def _total(step: WorkingStep) -> float:
    return sum(getattr(source, "count", 0.0) for source in step.sources)


def _fractions(table: active.FittableTable, estimates: LevelConditionals) -> tuple[WorkingStep, Any]:
    """Level × class with the fraction each probability is; the (level, class) chosen there."""
    steps = list(estimates.steps)
    lines = [[table.value(estimates.variable, step.value), *map(_is, step.sources, step.factors)] for step in steps]
    if any(estimates.missing):
        steps.append(replace(steps[0], value=None))
        lines.append([_("missing"), *(_("{n} left out").format(n=count(n)) for n in estimates.missing)])
    counted = [(s, k) for s in range(len(estimates.steps)) for k, f in enumerate(estimates.fractions(s)) if f.count]
    s, k = likelihoods.chosen_cell(len(steps), len(estimates.classes), otherwise=counted[0] if counted else (0, 0))

    def look_at(row: int, column: int) -> None:
        change(lambda state: state.showing(keys.CELL.to((row, column - 1 if column else k))))

    tables.word_table(
        [
            Head(table.column(estimates.variable.name)),
            *(Head(table.given_class(c), right=True) for c in estimates.classes),
        ],
        lines,
        key="fractions",
        label=_("P(level | class)"),
        height=LIST,
        choice=tables.Choice(by="cell", chosen=(s, k + 1), on_choice=look_at),
        narrow=True,
    )
    return steps[s], estimates.classes[k]


def _is(source: Any, p: float) -> str:
    return f"{fraction(source)} = {number(p)}"


# numeric columns --------------------------------------------------------------------------------------------------


def _curves(table: active.FittableTable, estimates: GaussianConditionals, on_dark: bool) -> None:
    values = likelihoods.values_behind(table, estimates)
    figure = density_curves(
        estimates,
        values,
        name=plotly_text(table.column(estimates.variable.name)),
        classes=[plotly_text(table.given_class(c)) for c in estimates.classes],
        dark=on_dark,
    )
    chart(figure, key="conditionals", alt=_("p(x | class)"))
    peak = max(d.value for d in estimates.densities)
    sentence = _("Beneath: the very values. Bar at the waist of a curve: mean ± one standard deviation.")
    if max(map(len, values)) > STRIP:
        sentence += " " + _("Of a class with more than {n} values so many are drawn, evenly by rank.").format(n=STRIP)
    if peak > 1:
        sentence += " " + _(
            "A density may exceed 1 (here up to {peak}): the probability of an interval of width ε is p·ε, and "
            "ε is the same for every class, so it cancels in the posterior."
        ).format(peak=f"{peak:.4g}")
    st.caption(sentence)


def _moments(table: active.FittableTable, estimates: GaussianConditionals) -> tuple[WorkingStep, Any]:
    """n, mean, squared deviations, variance for each class; the class chosen there."""
    k = likelihoods.chosen_cell(1, len(estimates.classes))[1]
    smoothed = any(_drawn(estimates, j) for j in range(len(estimates.classes)))
    densities = estimates.densities
    columns = {
        "n": [count(d.n) for d in densities],
        _("mean x̄"): [near(x, d.sd) for x, d in zip(estimates.means, densities, strict=True)],
        "Σ(x − x̄)²": [f"{d.m2:.6g}" for d in densities],
    }
    if smoothed:
        columns[_("mean, smoothed")] = [near(d.mean, d.sd) for d in densities]
    else:
        columns["÷ (n − 1)" if densities[0].ddof else "÷ n"] = [count(d.n - d.ddof) for d in densities]
    columns[_("variance, smoothed") if smoothed else _("variance")] = [
        f"{d.variance:.6g}" + (" †" if d.replaced and not _drawn(estimates, j) else "") for j, d in enumerate(densities)
    ]
    columns[_("sd")] = [f"{d.sd:.6g}" for d in densities]
    marks = [" ‡" if estimates.borrowed(j) else "" for j in range(len(densities))]
    label = _("mean and variance of each class")
    likelihoods.class_table(table, estimates, k, columns, marks=marks, key="moments", label=label)
    _variance_line(estimates, k)
    return estimates.step, estimates.classes[k]


def _drawn(estimates: GaussianConditionals, k: int) -> bool:
    """Whether pseudo-counts draw the k-th class's Gaussian towards that of the whole class."""
    return bool(estimates.smoothed) and not estimates.smoothed[k].borrowed and estimates.smoothed[k].alpha > 0


def _variance_line(estimates: GaussianConditionals, k: int) -> None:
    """How the variance of the chosen class came about."""
    d = estimates.densities[k]
    if _drawn(estimates, k):
        _smoothed_line(d, estimates.smoothed[k])
    elif d.replaced:
        pass
    elif estimates.tied:
        within, degrees = sum(g.m2 for g in estimates.densities), sum(g.n - g.ddof for g in estimates.densities)
        formula = rf"\frac{{\sum_c\sum_{{x \in c}}(x-\bar x_c)^2}}{{{'n-K' if d.ddof else 'n'}}}"
        st.markdown(rf"$\displaystyle\sigma^2={formula}=\frac{{{within:.6g}}}{{{count(degrees)}}}={d.variance:.6g}$")
    else:
        formula = rf"\frac{{\sum(x-\bar x)^2}}{{{'n-1' if d.ddof else 'n'}}}"
        below = f"{count(d.n)}-1" if d.ddof else count(d.n)
        st.markdown(rf"$\displaystyle\sigma^2={formula}=\frac{{{d.m2:.6g}}}{{{below}}}={d.variance:.6g}$")
    if any(estimates.borrowed(j) for j in range(len(estimates.classes))):
        st.caption(_("‡ too few rows of the class in this cell of the parents: the Gaussian of the whole class."))


def _smoothed_line(d: Density, s: Smoothed) -> None:
    """Mean and variance with a pseudo-count α of the class's own."""
    a, n, whole = f"{s.alpha:g}", count(d.n), s.whole
    mean, of_class = near(s.mean, d.sd), near(whole.mean, whole.sd)
    share = d.n * s.alpha / (d.n + s.alpha)
    st.markdown(
        rf"$\displaystyle\mu=\frac{{n\bar x+\alpha\mu_c}}{{n+\alpha}}"
        rf"=\frac{{{n}\cdot {mean}+{a}\cdot {of_class}}}{{{n}+{a}}}={near(d.mean, d.sd)}$"
    )
    spread = f"{d.m2:.6g}+{a}\\cdot {whole.variance:.6g}+{share:.6g}\\cdot ({s.mean - whole.mean:.6g})^2"
    degrees = rf"{n}{'-1' if d.ddof else ''}+{a}"
    top = r"\sum(x-\bar x)^2+\alpha\sigma_c^2+\frac{n\alpha}{n+\alpha}(\bar x-\mu_c)^2"
    st.markdown(
        rf"$\displaystyle\sigma^2=\frac{{{top}}}{{n{'-1' if d.ddof else ''}+\alpha}}"
        rf"=\frac{{{spread}}}{{{degrees}}}={d.variance:.6g}$"
    )
    st.caption(_("Smoothed by α pseudo-observations that have the mean μ and the variance σ² of the whole class c."))


def _notes(fitted: active.Fitted, estimates: GaussianConditionals) -> None:
    if not any(d.replaced and not _drawn(estimates, k) for k, d in enumerate(estimates.densities)):
        return
    if fitted.spec.family in ("lda", "qda"):
        st.caption(_("† shrunk: drawn away from the variance of these rows by the amount of shrinkage chosen."))
    else:
        st.caption(_("† too few rows or no spread in this class: the pooled variance, or the floor, stands in."))


# the rows behind --------------------------------------------------------------------------------------------------


def rows_behind(table: active.FittableTable, fitted: active.Fitted, estimates: Conditional | Other) -> None:
    """Where the numbers come from: fractions or moments, and the very rows of the one that is chosen."""
    st.subheader(_("The rows behind it"))
    if not isinstance(estimates, LevelConditionals | GaussianConditionals):
        likelihoods.rows_behind(table, fitted, estimates)
        return
    if isinstance(estimates, GaussianConditionals):
        st.caption(_("Choose a class; its rows stand below."))
        chosen = _moments(table, estimates)
        _notes(fitted, estimates)
        _rows_behind(table, fitted, estimates, *chosen)
        return
    if _width(table, estimates) > SIDE_BY_SIDE or len(table.features) > BESIDE:
        st.caption(_("Choose a cell; its rows stand below."))
        _rows_behind(table, fitted, estimates, *_fractions(table, estimates))
        return
    counted, rows = st.columns([4, 3], gap="medium")
    with counted:
        st.markdown(f":gray[{_('Choose a cell.')}]")
        chosen = _fractions(table, estimates)
    with rows:
        _rows_behind(table, fitted, estimates, *chosen)


def _width(table: active.FittableTable, estimates: LevelConditionals) -> int:
    """About how many characters the table of fractions is wide."""
    names = [clean(table.value(estimates.variable, step.value), 60) for step in estimates.steps]
    levels = max(sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in name) for name in names)
    cells = max(len(fraction(source)) for step in estimates.steps for source in step.sources)
    return levels + len(estimates.classes) * (cells + len(" = 0.1234"))


def _rows_behind(
    table: active.FittableTable, fitted: active.Fitted, estimates: Conditional, step: WorkingStep, label: Any
) -> None:
    """The very rows of the table that a number was counted from."""
    parts, column = table.parts, estimates.variable.name
    given = tuple((cell.variable.name, cell.value, cell.raw) for cell in estimates.given)
    of = (fitted.key, column, given, step.row.kind, step.value, label)
    behind = tables.rows_behind(table, of, lambda whole: rows_of(estimates, whole, step, label))
    of_class = tables.rows_in_class(table, label)
    alike = isinstance(estimates, LevelConditionals) and estimates.alike
    condition = "" if alike else md(table.given_class(label))
    if isinstance(estimates, LevelConditionals):
        condition = " · ".join([_holds(table, estimates.variable, step.value), *([condition] if condition else [])])
    whole_class = isinstance(estimates, GaussianConditionals) and estimates.borrowed(estimates.classes.index(label))
    condition = " · ".join([condition, *(() if whole_class else _conditions(table, estimates.given))])
    share = (
        _("{n} of the {all} rows of the table").format(n=behind.n, all=len(parts.y))
        if alike
        else _("{n} of the {all} rows of this class").format(n=behind.n, all=of_class)
    )
    st.markdown(f"**{condition}** · {share}")
    own = {*parts.X.columns, parts.target.name, *(() if parts.weight is None else (parts.weight.name,))}
    made = [name for name in behind.frame.columns if name not in own]
    first = [column, *made, parts.target.name, *(cell.variable.name for cell in estimates.given)]
    tables.rows(table, behind, first, of=(column, str(step.value), str(label)), height=LIST, made=made)
