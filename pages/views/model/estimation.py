"""Estimation as a subject of its own: a column's numbers by maximum likelihood, by Laplace and under the prior in use,
with what the rows leave open of each; and the prior itself, for all columns or for this one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.numerals import near, number
from bayes_engine.priors import smoothed
from bayes_engine.uncertainty.credible import credible
from bayes_engine.workbench.derivation.conditionals import Conditional, GaussianConditionals, LevelConditionals
from bayes_engine.workbench.derivation.estimates import (
    Estimates,
    MomentEstimates,
    estimates,
    plain_model,
    plausible_gaussians,
)
from bayes_engine.workbench.derivation.likelihoods import Curves, Distributions, Other, Rates, ShareTable, WordTable
from bayes_engine.workbench.figures.conditionals import STRIP
from bayes_engine.workbench.figures.credible import estimate_marks, gaussian_fans
from pages import active
from pages.active import prior_choice, shelf
from pages.components import tables
from pages.components.chart import chart
from pages.components.tables import Head
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import Spec, State, current, dark
from pages.runtime.widgets import control
from pages.views.model import likelihoods
from pages.views.model.class_conditionals import BARS

LINES = 24
"""Up to so many levels, all classes together, are drawn; the table has all."""
FAN = 40
"""So many Gaussians are drawn behind the fitted one."""
MOST_FANS = 4
"""Up to so many classes have drawn Gaussians."""


@cached(max_entries=128)
def _estimates(
    fitted: active.Fitted, column: str, given: Mapping[str, Any], _classes: tuple[Any, ...]
) -> Estimates | MomentEstimates | Message:
    """The estimates of a column at its parents' levels, or why there are none."""
    try:
        return estimates(fitted.model, column, _classes, given=given)
    except BayesEngineError as error:
        return error.message


def parameter_estimates(table: active.FittableTable, fitted: active.Fitted, conditional: Conditional | Other) -> None:
    """How sure the column's numbers are, and what smoothing does to them."""
    st.subheader(_("How sure are these numbers?"))
    spec = active.uncalibrated(fitted.spec)
    if isinstance(conditional, LevelConditionals | Rates | Distributions | WordTable) and "alpha" in active.settings(
        spec
    ):
        prior_of(table, spec, table.features.position[conditional.variable.name])
    if isinstance(conditional, Curves | Rates | Distributions | WordTable):
        _estimates_with_intervals(fitted, table, conditional)
        return
    given = {cell.variable.name: cell.value for cell in conditional.given}
    known = _estimates(fitted.uncalibrated, conditional.variable.name, given, conditional.classes)
    if isinstance(known, Message):
        st.caption(":material/help: " + known.local(md))
    elif isinstance(conditional, LevelConditionals) and isinstance(known, Estimates):
        _levels(table, spec, conditional, known)
    elif isinstance(conditional, GaussianConditionals) and isinstance(known, MomentEstimates):
        _gaussians(table, fitted, conditional, known, given)


# the prior ------------------------------------------------------------------------------------------------------------


def prior_of(table: active.FittableTable, spec: Spec, position: int) -> None:
    """The prior of this column: that of all columns, or one of its own."""
    own = dict(active.setting(spec, "alphas"))
    alone = position in own or current().seen(keys.PRIOR_OF) == "one"
    kinds, top = ("", *prior_choice.KINDS), 1e6 * len(table.parts.X)
    bases = ("uniform",) if spec.family == "aode" else prior_choice.BASES

    def edit_own(value: Any) -> Callable[[State], State]:
        kept = {other: v for other, v in own.items() if other != position}
        kept |= {} if value is None else {position: value}
        return shelf.edit_active_model(
            table, lambda old: shelf.with_parameter(old, "alphas", tuple(sorted(kept.items())))
        )

    def choose(state: State, kind: str) -> State:
        if not alone:
            return shelf.edit_active_model(table, lambda old: shelf.with_prior(old, kind))(state)
        opening = prior_choice.default_of(kind) if kind else None
        return edit_own((*opening[:2], bases[0]) if opening and kind == "m-estimate" else opening)(state)

    def turn(state: State, value: Any) -> State:
        if not alone:
            return shelf.edit_active_model(table, lambda old: shelf.with_prior_strength(old, value))(state)
        return edit_own(value)(state)

    def scope(state: State, which: str) -> State:
        shown = state.showing(keys.PRIOR_OF.to(which))
        return shown if which == "one" else edit_own(None)(shown)

    value = own.get(position, shelf.pseudo_count(spec))
    stands = prior_choice.kind_of(own[position]) if position in own else "" if alone else shelf.prior_kind(spec)
    whose = {"all": _("all columns"), "one": _("this one")}
    zeros = ("zero-only",) if spec.family in active.NAIVE else ()
    cells = st.columns([1.6, 1.9, 1, 1.1], gap="small", vertical_alignment="bottom")
    with cells[0]:
        st.segmented_control(_("Prior of"), list(whose), format_func=whose.__getitem__, required=True,
                             **control(keys.PRIOR_OF.widget, "one" if alone else "all", scope))  # fmt: skip
    with cells[1]:
        prior_choice.choose_kind("column_kind", stands, kinds if alone else (*prior_choice.KINDS, *zeros), choose,
                          about=prior_choice.kinds_help(zeros=bool(zeros)))  # fmt: skip
    with cells[2]:
        prior_choice.strength_slider("column_alpha", value, turn)
    with cells[3]:
        prior_choice.strength_input("column_alpha", value, turn, top=top, bases=bases)


# a table of probabilities ---------------------------------------------------------------------------------------------


def _levels(table: active.FittableTable, spec: Spec, conditional: LevelConditionals, known: Estimates) -> None:
    """Level by level: the three estimates, and the interval."""
    names = [clean(table.value(conditional.variable, step.value), 40) for step in conditional.steps]
    alike = conditional.alike
    classes = conditional.classes[:1] if alike else conditional.classes
    drawn = list(range(min(len(names), known.counts.shape[1])))
    if len(drawn) * len(classes) > LINES:
        often = sorted(drawn, key=lambda s: -float(known.counts[:, s].sum()))
        drawn = sorted(often[: max(LINES // len(classes), 3)][:BARS])
    figure_at, listed_at = st.columns([1, 2], gap="medium")
    with figure_at:
        figure = estimate_marks(
            known.at(drawn, len(classes)),
            levels=[plotly_text(names[s], 22) for s in drawn],
            classes=[_("every class") if alike else plotly_text(table.class_(c), 30) for c in classes],
            dark=dark(),
        )
        chart(figure, key="estimates", alt=_("three estimates of P(level | class) and credible intervals"))
        if len(drawn) < len(names):
            st.caption(_("The {n} most frequent of {all} levels are drawn; the table has all.").format(
                n=len(drawn), all=len(names)))  # fmt: skip
    with listed_at:
        _estimates_table(
            [
                Head(table.column(conditional.variable.name)),
                Head(_("Jeffreys") if known.bare else _("in use"), right=True),
                Head(_("95% credible"), right=True),
                Head("ML", _("Maximum likelihood: the bare fraction of the rows, eq. 7.17."), right=True),
                Head(_("Laplace"), right=True),
            ],
            [
                [
                    names[s] if alike else f"{names[s]} | {clean(table.class_(c), 40)}",
                    number(float(known.used.value[k, s])),
                    known.used.written(k, s),
                    number(float(known.likely.value[k, s])),
                    number(float(known.laplace.value[k, s])),
                ]
                for s in range(min(len(names), known.counts.shape[1]))
                for k, c in enumerate(classes)
            ],
        )
    position = table.features.position[conditional.variable.name]
    prior = dict(active.setting(spec, "alphas")).get(position, shelf.pseudo_count(spec))
    sentences = [_("The prior in use: {prior}.").format(prior=prior_choice.text(prior))]
    if known.bare:
        sentences = [_("The model adds nothing to its counts, so that a count of 0 would leave no uncertainty; "
                       "the intervals are those under Jeffreys' prior, ½ a level.")]  # fmt: skip
    sentences.append(
        _(
            "A row of the table is Dirichlet distributed once the rows are counted, and each number in it Beta: where "
            "few rows stand behind it, smoothing moves it far and its interval is wide."
        )
    )
    st.caption(" ".join(sentences))


# a Gaussian -----------------------------------------------------------------------------------------------------------


def _gaussians(
    table: active.FittableTable,
    fitted: active.Fitted,
    conditional: GaussianConditionals,
    known: MomentEstimates,
    given: dict[str, Any],
) -> None:
    """What so few rows say of mean and variance."""
    column = conditional.variable.name
    figure_at, listed_at = st.columns([4, 9], gap="medium")
    shown = list(range(len(conditional.classes)))[:MOST_FANS]
    with figure_at:
        drawn = [
            plausible_gaussians(fitted.model, column, conditional.classes[k], n=FAN, rng=k, given=given) for k in shown
        ]
        values = likelihoods.values_behind(table, conditional)
        figure = gaussian_fans(
            drawn,
            [(conditional.densities[k].mean, conditional.densities[k].sd) for k in shown],
            [values[k] for k in shown],
            classes=[plotly_text(table.class_(conditional.classes[k]), 30) for k in shown],
            name=plotly_text(table.column(column)),
            dark=dark(),
        )
        chart(figure, key="estimates", alt=_("the fitted Gaussians and plausible ones"))
    with listed_at:
        lines = []
        for k, (label, d) in enumerate(zip(conditional.classes, conditional.densities, strict=True)):
            mean, variance = (
                [float(end[k]) for end in interval] for interval in (known.mean_interval, known.variance_interval)
            )
            lines.append(
                [
                    table.class_(label),
                    " – ".join(number(end) if math.isinf(end) else near(end, 10 * d.sd) for end in mean),
                    " – ".join(map(number, variance)),
                    " – ".join(number(end**0.5) for end in variance),
                ]
            )
        symbols = (_("μ, 95% credible"), _("σ², 95% credible"), _("σ, 95% credible"))
        heads = [Head(table.column(table.target.name)), *(Head(symbol, right=True) for symbol in symbols)]
        _estimates_table(heads, lines)
        n = int(sum(d.n for d in conditional.densities))
        st.markdown("**" + _("How can {n} rows give a normal distribution?").format(n=n) + "**")
        st.markdown(
            _(
                "They cannot: that it is normal is assumed. Given that, the rows settle only two numbers a class, and "
                "those within bounds: each faint curve has a mean and a variance that the rows leave as plausible as "
                "the fitted ones. The mean is Student's t with ν = n − 1, the variance an inverse χ² (reference prior "
                "p(μ, σ²) ∝ 1/σ²); both close in as rows come in, the mean with √n."
            )
        )
        if max(len(values[k]) for k in shown) > STRIP:
            st.caption(_("Of a class with more than {n} values so many are drawn, evenly by rank.").format(n=STRIP))
        if not known.free.all():
            st.caption(_("Where a class has too few rows, or no spread, its variance has no interval."))


# rates and words --------------------------------------------------------------------------------------------------


def _estimates_with_intervals(fitted: active.Fitted, table: active.FittableTable, estimates: Other) -> None:
    """Each rate, or each telling term's probability, by three estimates, and what the rows leave open of it; or why
    that is not known."""
    try:
        belief = credible(plain_model(fitted.model), estimates.variable.name).columns[estimates.variable.name]
    except BayesEngineError as error:
        named = {"column": clean(table.column(estimates.variable.name), 30)} if "column" in error.message.params else {}
        why = replace(error.message, params={**error.message.params, **named})
        st.caption(":material/help: " + why.local(md))
        return
    assert not isinstance(estimates, Curves)
    low, high = belief.interval()  # type: ignore[attr-defined]
    order = [list(fitted.model.target_.levels).index(c) for c in estimates.classes]
    if isinstance(estimates, Rates):
        rows = [
            [f"λ | {clean(table.class_(c), 40)}",
             number(estimates.total[j] / estimates.n[j]) if estimates.n[j] else "–",
             number((estimates.total[j] + estimates.mean) / (estimates.n[j] + 1)), number(estimates.rate[j]),
             _within(low[k], high[k])]
            for j, (c, k) in enumerate(zip(estimates.classes, order, strict=True))
        ]  # fmt: skip
        note = _("With α pseudo-observations of the column's mean a rate is Gamma distributed once the rows are "
                 "counted; it lies in the interval with probability 95%.")  # fmt: skip
        if not any(estimates.added):
            note = _("The model adds nothing to its counts; the intervals are those of Jeffreys' prior for a rate, "
                     "½ added to Σx.")  # fmt: skip
    elif isinstance(estimates, Distributions):
        symbol, used = next(iter(estimates.parameters.items()))
        rows = [
            [f"{symbol} | {clean(table.class_(c), 40)}", "–", "–", number(used[j]), _within(low[k], high[k])]
            for j, (c, k) in enumerate(zip(estimates.classes, order, strict=True))
        ]
        note = _(
            "Given the rows and the prior that smoothed it, the parameter lies in the interval with probability 95%."
        )
    else:
        place = {term: v for v, term in enumerate(estimates.terms)}
        together = isinstance(estimates, ShareTable)
        name_of = table.column if together else str
        rows = [
            [f"{clean(name_of(term), 30)} | {clean(table.class_(c), 30)}", _bare(estimates, j, place[term]),
             number(_laplace(estimates, j, place[term])), number(estimates.source(j, place[term]).value),
             _within(low[k, place[term]], high[k, place[term]])]
            for term in likelihoods.listed_terms(estimates)
            for j, (c, k) in enumerate(zip(estimates.classes, order, strict=True))
        ]  # fmt: skip
        note = _("The probabilities of a class's terms are Dirichlet distributed once its texts are counted, and each "
                 "of them Beta; it lies in the interval with probability 95%.")  # fmt: skip
        if together:
            note = _("The shares of a class's columns are one Dirichlet distribution once its rows are counted, and "
                     "each share alone is Beta; it lies in the interval with probability 95%.")  # fmt: skip
        if not estimates.added.any():
            note = _("The model adds nothing to its counts, so that a count of 0 would leave no uncertainty; "
                     "the intervals are those under Jeffreys' prior, ½ a level.")  # fmt: skip
    heads = [
        Head(table.column(estimates.variable.name)),
        Head("ML", _("Maximum likelihood: nothing added."), right=True),
        Head(_("Laplace"), _("α = 1, whatever the model has."), right=True),
        Head(_("in use"), right=True),
        Head(_("95% credible"), right=True),
    ]
    _estimates_table(heads, rows)
    st.caption(note)


def _estimates_table(heads: Sequence[Head], rows: Sequence[Sequence[str]]) -> None:
    """The estimates of a column's numbers beside one another."""
    tables.word_table(heads, rows, key="estimates_table", label=_("estimates"), height=likelihoods.TALLEST)


def _within(low: float, high: float) -> str:
    return f"{number(float(low))} – {number(float(high))}"


def _bare(word_table: WordTable, k: int, v: int) -> str:
    """The fraction of counts without smoothing."""
    return number(float(word_table.counts[k, v]) / word_table.total[k]) if word_table.total[k] else "–"


def _laplace(word_table: WordTable, k: int, v: int) -> float:
    """With 1 added to the term's count: among all terms, or to the texts with it and to those without."""
    return float(
        smoothed(word_table.counts[k, v], word_table.total[k], 1.0, 2 if word_table.presence else len(word_table.terms))
    )
