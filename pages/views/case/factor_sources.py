"""Behind a number of the working: the sentence that says how a factor came about, and the rows it was counted from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.factors.gaussian import Density
from bayes_engine.factors.joint_multinomial import CountShare, together
from bayes_engine.factors.kernel import KernelEstimate
from bayes_engine.factors.poisson import Rate
from bayes_engine.factors.sources import Complement, Fraction, Linear, Parametric, Power, Shift, Term
from bayes_engine.factors.text import Words
from bayes_engine.language import _, current_language
from bayes_engine.ledger import CALIBRATION
from bayes_engine.numerals import count, number, plain, signed
from bayes_engine.workbench.derivation import factor_names, latex, render
from bayes_engine.workbench.derivation.derive import Cell, Working, WorkingStep, bare, rows_behind, variance_from
from pages.active import words
from pages.runtime.escape import clean, md
from pages.views.case.editor import CaseInUse
from pages.views.case.misprints import misprints_by_place
from pages.views.case.sums import typeset

MOST_ROWS = 300
"""As many rows are shown behind a number."""


def behind(one: CaseInUse, working: Working, step: WorkingStep, k: int, digits: int) -> None:
    """How one factor came about, and the rows it was counted from."""
    label, source, position = working.classes[k], step.sources[k], working.steps.index(step)
    formulas = [*latex.latex_behind(working, step, k), latex.latex_value(working, step, k, digits)]
    heading, weight = factor_names.heading(working, step, k, one.table), None
    if isinstance(source, Power) and not step.complement:
        weight, step, source = source.weight, bare(step), source.base
    st.markdown(f"**{md(heading, 200)}**")
    words, rows = st.columns([1.35, 1], gap="medium")
    with words:
        typeset(formulas)
        st.caption(_origin(one, working, step, k))
        if weight is not None:
            st.caption(_("The factor stands to the power of the column's weight, {w}: log P is multiplied by it, so "
                         "the product is a score.").format(w=plain(weight)))  # fmt: skip
        for place, errata in misprints_by_place(one, working).items():
            if place[:2] == (position, k):
                for erratum in errata:
                    sentence = (
                        _("The lecture notes on this example round: {printed} for {where}, unrounded {right}. {note}")
                        if erratum.rounded
                        else _(
                            "The lecture notes on this example print {printed} for {where}; right is {right}. {note}"
                        )
                    )
                    st.caption("⚠ " * (not erratum.rounded) + sentence.format(
                        printed=md(erratum.printed), where=md(erratum.where), right=md(erratum.right),
                        note=md(erratum.text("note", current_language()), 400)))  # fmt: skip
    if isinstance(source, Fraction | Density) and (source.total if isinstance(source, Fraction) else source.n):
        with rows:
            _rows(one, working, step, label, source)
    share = source.base if isinstance(source, Complement) else source
    if isinstance(share, CountShare):
        with rows:
            _rows_of_shares(one, working, step, label, share, others=isinstance(source, Complement))


def _origin(one: CaseInUse, working: Working, step: WorkingStep, k: int) -> str:
    source, table = step.sources[k], one.table
    target = md(table.column(working.target), 40)
    own = md(table.class_(working.classes[k]), 40)
    name = ", ".join([own, *(md(r.spaced, 40) for r in factor_names.given_of(step, table))])
    if isinstance(source, Shift):
        return _("The prior of use over the model's own: the joint moves from the frequencies of the table to those "
                 "of the place where you decide.")  # fmt: skip
    if isinstance(source, Term):
        return _origin_of_term(one, step, source)
    if isinstance(source, Density):
        return _origin_of_density(one, step, k, source, target, own if source.stands_in else name)
    if not isinstance(source, Fraction):
        return _("This number was set, not counted.")
    column, value = md(table.column(step.row.child), 40), md(factor_names.shown(step, table), 40)
    if step.alike or (step.row.kind == "prior" and step.given):
        return _origin_of_network(one, step, source, f"{column} = {value}" if step.alike else f"{target} = {own}")
    if not source.total:
        text = _("No row has {target} = {name}: each of the {levels} values of {column} counts as equally likely.")
        return text.format(target=target, name=name, levels=source.levels, column=column)
    if step.joint:
        text = _("{count} of the {total} rows where {column} is known have {target} = {name} and {column} = {value}.")
    elif not step.row.parents:
        text = _("{count} of the {total} rows have {target} = {name}.")
    else:
        text = _("{count} of the {total} rows with {target} = {name} have {column} = {value}.")
    sentence = text.format(
        count=count(source.count), total=count(source.total), target=target, name=name, column=column, value=value
    )
    if source.pseudo_total:
        sentence += " " + _origin_of_smoothing(source, joint=step.joint)
    return sentence


def _origin_of_smoothing(source: Fraction, *, joint: bool = False) -> str:
    """What is added to a count, and to the total."""
    if source.uneven is not None:
        more = _("Smoothing adds pseudo-counts of {total} in all and shares them out among the {levels} values as "
                 "the whole column does: this one gets {added}.")  # fmt: skip
        return more.format(total=count(source.pseudo_total), added=number(source.added), levels=source.levels)
    more = _("Smoothing adds {added} to the count of each of the {levels} pairs of a class and a value.") if (
        joint) else _("Smoothing adds {added} to the count of each of the {levels} values.")  # fmt: skip
    return more.format(added=count(source.added), levels=source.levels)


def _origin_of_network(one: CaseInUse, step: WorkingStep, source: Fraction, cell: str) -> str:
    """Of a network: a share of rows of every class, for a column that the class is no parent of, or for the class."""
    given = _(", ").join(md(r.spaced, 40) for r in factor_names.given_of(step, one.table))
    if not source.total:
        text = _("No row has {given}: each of the {levels} values counts as equally likely.")
    elif given:
        text = _("{count} of the {total} rows with {given} have {cell}.")
    else:
        text = _("{count} of the {total} rows have {cell}.")
    sentences = [text.format(count=count(source.count), total=count(source.total), given=given, cell=cell,
                        levels=source.levels)]  # fmt: skip
    if source.pseudo_total and source.total:
        sentences.append(_origin_of_smoothing(source))
    if step.alike:
        sentences.append(
            _("The class is no parent of this column: the factor is the same for every class and cancels.")
        )
    return " ".join(sentences)


def _origin_of_density(one: CaseInUse, step: WorkingStep, k: int, source: Density, target: str, name: str) -> str:
    origin = {
        "own": _("A normal density is fitted to the {n} values of {column} in the rows with {target} = {name}."),
        "smoothed": _("A normal density is fitted to the {n} values of {column} in the rows with {target} = {name}, "
                      "smoothed by pseudo-observations (α = {added}) with the mean and the variance of the whole "
                      "class."),
        "pooled": _("The mean is that of the {n} values of {column} in the rows with {target} = {name}; the "
                    "variance is common to all classes."),
        "replaced": _("The mean is that of the {n} values of {column} in the rows with {target} = {name}; they "
                      "have no spread of their own, so the variance is the pooled one or the least allowed."),
    }[variance_from(step, k)]  # fmt: skip
    text = origin.format(n=count(source.n), column=md(one.table.column(step.row.child), 40), target=target, name=name,
                         added=count(source.pseudo_counts.rows) if source.pseudo_counts else "")  # fmt: skip
    if source.stands_in:
        beyond = _(", ").join(md(r.spaced, 40) for r in factor_names.given_of(step, one.table))
        short = _("Too few of its rows have {cells} to fit a density to them, so that of the whole class stands in.")
        text = short.format(cells=beyond) + " " + text
    return text


def _origin_of_term(one: CaseInUse, step: WorkingStep, source: Term) -> str:
    if step.row == CALIBRATION and one.fitted.scores:
        return _("The map from the scores to probabilities: log q of the class, less the logarithm of e^score over the "
                 "sum of e^score of all classes. It was learnt from the scores of rows held out.")  # fmt: skip
    if isinstance(source, Complement) and isinstance(source.base, Words):
        return _origin_of_complement(source.base, bare(step))
    kind, column = step.row.kind, md(one.table.column(step.row.child), 40) if step.variable else ""
    if isinstance(source, CountShare):
        return _origin_of_count(column, source)
    if isinstance(source, Complement) and isinstance(source.base, CountShare):
        return _("A score: minus the logarithm of the share of {column} among all that is counted in the rows of all "
                 "*other* classes, {share}, as often as it is counted here, {x}.").format(
                     column=column, share=render.fraction(source.base.share), x=count(source.base.x))  # fmt: skip
    if kind == "expected":
        return _("A cell that this factor depends on is not known. The joint is summed over all its values; of this "
                 "sum the factor's part is e to the power of its mean logarithm, each value weighted by its "
                 "probability given the rest of the case. With «cells not known» below, the parts multiply to the sum "
                 "exactly.")  # fmt: skip
    if kind == "entropy":
        return _("e to the power of the entropy of the cells not known, given the rest of the case and this class: how "
                 "many values they could have. Mean logarithms and entropy together make the sum over these cells "
                 "exact: log P(c, x) = Σ E log P + H.")  # fmt: skip
    if step.row == CALIBRATION:
        return _("The calibrated probability over the model's own, q/p: rows held out show how well a "
                 "posterior such as this one is calibrated. The model becomes more or less confident; no "
                 "factor above changes.")  # fmt: skip
    if isinstance(source, Rate):
        return _origin_of_rate(column, source)
    if isinstance(source, Parametric):
        known = [*source.stated, *((q.symbol, q.value) for q in source.estimated)]
        return _("The distribution {name} at x = {x}, with {parameters}, estimated from the {n} values of {column} in "
                 "this class.").format(name=words.likelihood(source.name), x=count(source.x), n=count(source.n),
                                       parameters=_(", ").join(f"{s} = {plain(v)}" for s, v in known),
                                       column=column)  # fmt: skip
    if isinstance(source, KernelEstimate):
        return _origin_of_kernel(column, source)
    if isinstance(source, Words):
        return _origin_of_words(step, source)
    if kind == "constant":
        return _("The same in every class: it cancels in the posterior.")
    if isinstance(source, Linear):
        return _("Its weight w = Σ⁻¹(μ − x̄), by the covariance that all classes share, times how far the value is from "
                 "the point half-way between the class's mean and the mean of all. It may have either sign: only the "
                 "differences between the classes count.")  # fmt: skip
    if step.variable is not None:
        return _("The part of the log-density that {column} stands for in this class, {nats} nats. It may have either "
                 "sign: only the differences between the classes count.").format(
                     column=column, nats=signed(source.log_value, 4))  # fmt: skip
    if step.row.name == "−½ log det Σ":
        return _("−½ log det Σ of the class's covariance: a class that is spread widely is less dense everywhere.")
    return _("−½ (x−μ)ᵀΣ⁻¹(x−μ): how far the case is from the class's mean, measured by the class's own "
             "covariance.")  # fmt: skip


def _origin_of_count(column: str, source: CountShare) -> str:
    share = source.share
    text = _("One multinomial of {d} columns: of all that they count in the rows of this class, {total}, {n} are of "
             "{column}; this share to the power of x = {x}.").format(
                 d=share.levels, total=count(share.total), n=count(share.count), column=column,
                 x=count(source.x))  # fmt: skip
    if share.pseudo_total:
        text += " " + _("Smoothing adds {a} to its count and {all} to the total.").format(
            a=plain(share.added), all=plain(share.pseudo_total))  # fmt: skip
    return text


def _origin_of_rate(column: str, source: Rate) -> str:
    text = _("A Poisson distribution: μ^x e^−μ/x! at x = {x}, with the rate μ = {rate}. The {n} values of {column} in "
             "this class sum to {total}.").format(x=count(source.x), rate=plain(source.rate), n=count(source.n),
                                                  column=column, total=count(source.total))  # fmt: skip
    if source.added:
        added = _("Smoothing adds pseudo-observations (α = {added}) with the mean of the whole column, {mean}.")
        text += " " + added.format(added=count(source.added), mean=plain(source.mean))
    return text


def _origin_of_kernel(column: str, source: KernelEstimate) -> str:
    texts = [_("A kernel density: a bump of width h = {h} stands on each of the {n} values of {column} in this class, "
              "and the factor is the mean of their heights at {x}.").format(
                  h=plain(source.bandwidth), n=count(source.n), column=column, x=count(source.x))]  # fmt: skip
    if source.precision is not None:
        texts.append(_("The values are rounded to multiples of {p}, and each bump is the mean over as much.").format(
            p=plain(source.precision)))  # fmt: skip
    if source.stands_in:
        texts.append(_("The class has no spread of its own, so the width is the pooled one or the least allowed."))
    most = [f"{plain(b.value)} ({b.share:.1%})" for b in render.largest_bumps(source)[:6]]
    if most:
        texts.append(_("The values that add most: {values}.").format(values=_(", ").join(most)))
    return " ".join(texts)


def _origin_of_words(step: WorkingStep, source: Words) -> str:
    """What each word of a text adds, those that tell the classes apart first."""
    if not source.terms and not source.absent:
        return _("No word of the text occurred in a training text: it is no evidence.")
    asked = step.variable is not None and step.variable.likelihood == "bernoulli"
    texts = [_("The product of the words' probabilities to stand in a text of this class, and not to of those that do "
              "not stand here.") if asked else
            _("The product of the words' probabilities in this class, each as often as it stands in the "
              "text.")]  # fmt: skip
    terms = [source.terms[v] for v in render.most_discriminating(step)]
    if terms:
        listed = [f"{md(t.term, 40)}{f' × {count(t.times)}' if t.times != 1 else ''} "
                  f"({render.fraction(t.source)})" for t in terms[: render.MOST_OPENED]]  # fmt: skip
        texts.append(_("Those that tell the classes apart most: {words}.").format(words=_(", ").join(listed)))
    if len(terms) > render.MOST_OPENED:
        rest = sum(t.log_value for t in terms[render.MOST_OPENED :])
        texts.append(_("The {n} others add {nats} nats.").format(
            n=len(terms) - render.MOST_OPENED, nats=signed(rest, 4)))  # fmt: skip
    if asked:
        texts.append(_("The absent ones add {nats} nats together.").format(nats=signed(source.absent, 4)))
    return " ".join(texts)


def _origin_of_complement(words: Words, step: WorkingStep) -> str:
    """What each word of a text adds to the score, those that tell the classes apart first."""
    if not words.terms:
        return _("No word of the text occurred in a training text: it is no evidence.")
    terms = [words.terms[v] for v in render.most_discriminating(step)]
    listed = [f"{md(t.term, 40)}{f' × {count(t.times)}' if t.times != 1 else ''} "
              f"(−log {render.fraction(t.source)})" for t in terms[: render.MOST_OPENED]]  # fmt: skip
    texts = [
        _("A score: each word adds minus the logarithm of its share among the words of all *other* classes, as often "
          "as it stands in the text. A word that is rare there speaks for this class."),
        _("Those that tell the classes apart most: {words}.").format(words=_(", ").join(listed)),
    ]  # fmt: skip
    if rest := terms[render.MOST_OPENED :]:
        texts.append(_("The {n} others add {nats} nats.").format(
            n=len(rest), nats=signed(-sum(t.log_value for t in rest), 4)))  # fmt: skip
    return " ".join(texts)


def _rows_of_shares(
    one: CaseInUse, working: Working, step: WorkingStep, label: Any, source: CountShare, *, others: bool
) -> None:
    """The rows that a share of counts was counted from: those of the class, or of all others; the largest first."""
    counted, table, column = one.counted, one.table, step.row.child
    of_class = counted[working.target] == label
    rows = counted.loc[~of_class if others else of_class]
    known = [name for name in together(one.model.schema_) if others or pd.notna(one.case[name].iloc[0])]
    shown = pd.DataFrame(
        {
            clean(table.column(column), 40): rows[column],
            _("counted in all {n} columns").format(n=len(known)): rows[known].sum(axis=1),
            clean(table.column(working.target), 40): [clean(table.class_(v), 40) for v in rows[working.target]],
        }
    ).sort_values(clean(table.column(column), 40), ascending=False, kind="stable")
    st.dataframe(shown.head(MOST_ROWS), height=min(320, 38 + 35 * len(shown)), key="rows_behind")
    st.caption(_("{k} of {n} counted, in {rows} rows.").format(
        k=count(source.share.count), n=count(source.share.total), rows=len(rows)))  # fmt: skip
    if len(rows) > MOST_ROWS:
        st.caption(_("The first {n} are shown.").format(n=MOST_ROWS))


def _rows(one: CaseInUse, working: Working, step: WorkingStep, label: Any, source: Fraction | Density) -> None:
    """The rows of the class, the counted ones first; for a density its values with their squared deviations."""
    if isinstance(source, Density) and source.stands_in:
        step = replace(step, given=())
    counted = rows_behind(one.counted, working.target, step, label)
    column, table = step.row.child, one.table
    if isinstance(source, Density):
        x = counted[column].astype(float)
        away = x - source.own_mean
        shown = pd.DataFrame({"x": x, "x − x̄": away, "(x − x̄)²": away**2})
        six = {name: st.column_config.NumberColumn(format="%.6g") for name in shown.columns}
        st.dataframe(shown.head(MOST_ROWS), height=min(320, 38 + 35 * len(shown)), column_config=six, key="rows_behind")
        st.caption(f"n = {count(source.n)}, Σx = {plain(source.own_mean * source.n)}, "
                   f"Σ(x − x̄)² = {plain(source.m2)}")  # fmt: skip
    else:
        whole = one.counted
        if not (step.joint or step.alike or step.row.kind == "prior"):
            whole = whole.loc[whole[working.target] == label]
        for cell in step.given:
            whole = whole.loc[cell.held_by(whole[cell.variable.name])]
        if step.variable is not None:
            if counted.empty or not counted[column].isna().any():
                whole = whole.loc[whole[column].notna()]
        elif not step.row.parents:
            whole = one.counted
        order = [*counted.index, *whole.index.difference(counted.index)][:MOST_ROWS]
        shown = pd.DataFrame({_("counted"): [i in set(counted.index) for i in order]}, index=order)
        own = [] if step.variable is None else [Cell(step.variable, step.value)]
        for cell in [*own, *step.given]:
            name, numeric = cell.variable.name, pd.api.types.is_numeric_dtype(whole[cell.variable.name].dtype)
            values = whole.loc[order, name]
            shown[clean(table.column(name), 40)] = (
                values if numeric and cell.variable.cuts is not None
                else [None if pd.isna(v) else clean(table.level(name, v), 40) for v in values]
            )  # fmt: skip
        shown[clean(table.column(working.target), 40)] = [
            clean(table.class_(v), 40) for v in whole.loc[order, working.target]
        ]
        st.dataframe(shown, height=min(320, 38 + 35 * len(shown)), key="rows_behind")
        st.caption(_("{k} rows counted of {n}.").format(k=len(counted), n=len(whole)))
    if len(counted) > MOST_ROWS:
        st.caption(_("The first {n} are shown.").format(n=MOST_ROWS))
