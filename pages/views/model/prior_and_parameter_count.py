"""What a model believes before any column, its class prior; and how many numbers all of it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.numerals import count, number
from bayes_engine.workbench.derivation.conditionals import class_steps, prior_step
from bayes_engine.workbench.derivation.derive import WorkingStep
from bayes_engine.workbench.derivation.parameter_count import FewestRows, Size, fewest_rows, model_size
from bayes_engine.workbench.derivation.render import fraction
from bayes_engine.workbench.figures.conditionals import prior_bars
from pages import active
from pages.active import words
from pages.components.chart import chart
from pages.components.tables import markdown_table
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import Spec, dark

MOST = 200
"""So many rows of the class's table are listed."""


def class_prior(table: active.FittableTable, fitted: active.Fitted) -> None:
    """P(class), each with its fraction."""
    st.subheader(f"{_('Class prior')} P({md(table.column(table.target.name), 40)})")
    names = [plotly_text(table.class_(c), 30) for c in table.classes]
    figure = prior_bars(prior_step(fitted.model, table.classes), classes=names, dark=dark())
    chart(figure, key="prior", alt=_("P(class)"))
    if fitted.scores:
        shares = _(", ").join(f"{md(table.class_(c), 30)} {number(fitted.prior[c])}" for c in table.classes)
        st.caption(
            _("The prior within the scores. The calibration comes after it: the posterior stands for {shares}.").format(
                shares=shares
            )
        )
    if steps := class_steps(fitted.model, table.classes):
        _class_given_parents(table, steps)


def _class_given_parents(table: active.FittableTable, steps: Sequence[WorkingStep]) -> None:
    """The table of a class with parents in a network, each number with its fraction."""
    names = {cell.variable.name: clean(table.column(cell.variable.name), 30) for cell in steps[0].given}
    listed = []
    for step in steps[:MOST]:
        held = {c.variable.name: clean(table.value(c.variable, c.value), 40) for c in step.given}
        shares = [f"{fraction(s)} = {number(p)}" for s, p in zip(step.sources, step.factors, strict=True)]
        listed.append([*held.values(), *shares])
    heads = [f"v{i}" for i in range(len(names))] + [f"c{k}" for k in range(len(table.classes))]
    shown = [*names.values(), *(clean(table.class_(c), 30) for c in table.classes)]
    st.caption(
        _("In this network the class has parents: drawn is its share over all of them, and this is its table.")
        + ("" if len(steps) <= MOST else " " + _("The first {n} of {all} rows.").format(n=MOST, all=len(steps)))
    )
    st.dataframe(
        pd.DataFrame(listed, columns=heads),
        key="class_table",
        hide_index=True,
        height=min(38 + 35 * len(listed), 388),
        alt=_("P(class | parents)"),
        column_config={h: st.column_config.TextColumn(name) for h, name in zip(heads, shown, strict=True)},
    )


def parameter_count(table: active.FittableTable, fitted: active.Fitted) -> None:
    """What the model's assumption of independence saves."""
    size = model_size(fitted.model)
    semi = fitted.spec.family not in (*active.NAIVE, "lda", "qda")
    st.subheader(_("How many numbers"))
    alone = size.joint_cells <= len(table.classes)  # no discrete column
    if not alone:
        naive = ([size.naive_cells], [size.naive_free]) if semi else ([], [])
        heads = [_("full joint table"), *([words.family("naive-bayes")] if semi else []), _("this model")]
        lines = [
            ("", *heads),
            (_("table cells"), *(f"${_big(n)}$" for n in (size.joint_cells, *naive[0], size.factor_cells))),
            (_("free parameters"), *(f"${_big(n)}$" for n in (size.joint_free, *naive[1], size.factor_free))),
        ]
        markdown_table(lines)
        st.caption(f"{_formula(fitted.spec, size)} " + _("A cell holds a probability; free is what is left to choose "
                                                        "when every distribution sums to 1."))  # fmt: skip
        if of_case := _rows_of_case(table, fitted):
            st.caption(of_case)
    sentences = [_("The class prior: {n} free.").format(n=len(table.classes) - 1)] if alone else []
    sentences += [_numbers(fitted, size)] if size.gaussian else []
    if sentences := [*sentences, *_others(table, size)]:
        st.caption(" ".join(sentences))


def _rows_of_case(table: active.FittableTable, fitted: active.Fitted) -> str:
    """What the rows say of the case in use: in the joint table, and in this model's factors; "" where none is
    counted."""
    counted = _counted_of_case(fitted, active.case_values(table), table)
    if counted is None:
        return ""
    alike, fewest = int(counted[0]), counted[1]
    sentence = _(
        "The case in use: its cells in the joint table hold {alike} of the {n} rows; of its factors in this model that "
        "of {column} given {given} has the fewest rows, **{rows}**."
    )
    return sentence.format(alike=alike, n=f"{len(table.parts.X):,}", column=md(table.column(fewest.column), 24),
                           given=md(table.given_class(fewest.label), 60), rows=count(fewest.rows))  # fmt: skip


@cached(max_entries=64)
def _counted_of_case(
    fitted: active.Fitted, case: Mapping[str, Any], _table: active.FittableTable
) -> tuple[int, FewestRows] | None:
    """How many rows are as the case in all columns of levels, and the factor with the fewest; None where none is
    counted."""
    frame, X = active.case_frame(_table, case), _table.parts.X
    names = [v.name for v in _table.features if v.discrete]
    try:
        fewest = fewest_rows(fitted.model, frame)
    except BayesEngineError:
        return None
    alike = (X[names].astype(object) == frame[names].astype(object).iloc[0]).all(axis=1)
    return int(alike.sum()), fewest


def _formula(spec: Spec, size: Size) -> str:
    if spec.family == "aode":
        formula = _(
            "Discrete columns, $K$ classes and $S_j$ levels: $K\\prod_j S_j$ cells against "
            "$K\\sum_i S_i(1+\\sum_{j\\neq i}S_j)$; free: $\\sum_i(KS_i-1)+\\sum_i KS_i\\sum_{j\\neq i}(S_j-1)$, $i$ "
            "over the super-parents."
        )
        distinct = _(
            "Pairs of columns share a table: without smoothing {n} of these can be chosen. AODE has no MDL score, "
            "for its tables are no maximum-likelihood estimates of the mean of models."
        )
        return formula + ("" if size.distinct_free is None else " " + distinct.format(n=f"{size.distinct_free:,}"))
    if spec.family == "network":
        return _(
            "Discrete columns and the class, $S_j$ values each: $\\prod_j S_j$ cells against "
            "$\\sum_j S_j\\prod_{i\\in\\mathrm{pa}(j)}S_i$, the class counted among nodes and parents; free: "
            "$\\sum_j (S_j-1)\\prod_{i\\in\\mathrm{pa}(j)}S_i$."
        )
    if spec.family in active.NAIVE:
        return _("Discrete columns, $K$ classes and $S_j$ levels: $K\\prod_j S_j$ cells against $K\\sum_j S_j$.")
    return _(
        "Discrete columns, $K$ classes and $S_j$ levels: $K\\prod_j S_j$ cells against "
        "$K\\sum_j S_j\\prod_{i\\in\\mathrm{pa}(j)}S_i$; free: $K-1+K\\sum_j (S_j-1)\\prod_{i\\in\\mathrm{pa}(j)}S_i$."
    )


def _numbers(fitted: active.Fitted, size: Size) -> str:
    """What the numeric columns cost, in a sentence."""
    family = fitted.spec.family
    if family in active.NAIVE:
        tied = bool(active.setting(fitted.spec, "tied_variance"))
        sentence = (
            _("Gaussian columns: {n} parameters more, a mean for each class and one variance a column.")
            if tied
            else _("Gaussian columns: {n} parameters more, a mean and a variance for each class and column.")
        )
    elif family == "lda":
        sentence = _(
            "Numeric columns: {n} parameters more, the classes' means and one covariance, $Kd+d(d+1)/2$; naive Bayes "
            "has {naive}."
        )
    elif family == "qda":
        sentence = _(
            "Numeric columns: {n} parameters more, means and a covariance for each class, $K(d+d(d+1)/2)$; naive Bayes "
            "has {naive}."
        )
    else:
        sentence = _(
            "Numeric columns: {n} parameters more, a mean and a variance in every cell of class and parents; naive "
            "Bayes has {naive}."
        )
    return sentence.format(n=size.gaussian, naive=size.naive_gaussian)


def _others(table: active.FittableTable, size: Size) -> list[str]:
    """What columns cost that are neither tables nor Gaussians, and the weights."""
    k, sentences = len(table.classes), []
    if size.rates:
        sentences.append(_("Poisson columns: {n} rates, one for each class and column.").format(n=size.rates))
    if size.parameters:
        sentences.append(_("Columns with a registered likelihood: {n} parameters.").format(n=size.parameters))
    if size.terms:
        text = _("Texts: {n} free probabilities, for {v} terms and {k} classes; a full joint table of which terms "
                 "stand in a text would have ${full}$ cells.")  # fmt: skip
        v = size.vocabulary
        sentences.append(text.format(n=f"{size.terms:,}", v=f"{v:,}", k=k, full=rf"{k}\times 2^{{{v}}}"))
    if size.values:
        sentences.append(_("Kernel densities: no parameter but a bandwidth for each class; they keep the {n} training "
                      "values themselves.").format(n=f"{size.values:,}"))  # fmt: skip
    if size.weights:
        sentences.append(_("Weights: {n} more, one a column, fitted to the posterior.").format(n=size.weights))
    if size.left_out:
        sentences.append(_("Of the {d} columns {n} have a factor; the full joint table is that of all.").format(
            d=len(table.features), n=len(table.features) - size.left_out))  # fmt: skip
    return sentences


def _big(n: int) -> str:
    """A whole number to the unit, from a million million on as a power of ten; in LaTeX."""
    if n < 10**12:
        return f"{n:,}".replace(",", "{,}")
    mantissa, power = f"{Decimal(n):.3e}".split("e")
    return rf"{mantissa}\times10^{{{int(power)}}}"
