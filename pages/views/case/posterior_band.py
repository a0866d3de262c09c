"""How sure the posterior of a case is: its band over all plausible models, and how often the decision flips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.numerals import certain, signed
from bayes_engine.uncertainty.plausible import Flips, LogOdds, Plausible, log_odds, plausible
from bayes_engine.workbench.derivation.derive import Working
from bayes_engine.workbench.derivation.log_odds import odds_needed
from bayes_engine.workbench.figures.credible import bands, histogram_of
from bayes_engine.workbench.figures.theme import colour_of
from pages import active
from pages.active.units import evidence, evidence_text
from pages.components.chart import chart
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.job_queue import in_worker
from pages.runtime.state import current, dark, on_click
from pages.runtime.widgets import choose, select
from pages.views.case.editor import CaseInUse

DRAWN = 2000
"""So many plausible models are drawn."""
MOST = 8
"""As many classes have a band: the likeliest."""
SEEDS = 1000


@cached(max_entries=64, activity=Message("drawing plausible models"))
def _plausible(one: CaseInUse, seed: int) -> Plausible | Message:
    """The plausible models of a case, or why there are none."""
    try:
        return in_worker(plausible, one.model, one.case, n=DRAWN, rng=seed)
    except BayesEngineError as error:
        return error.message


@cached(max_entries=64)
def _flips_of(
    one: CaseInUse, seed: int, losses: LossMatrix, prior_of_use: Mapping[Any, float] | None, _models: Plausible
) -> Flips:
    """How often the plausible models, at the prior of use, decide the case otherwise."""
    return _models.flips(losses)


@cached(max_entries=64)
def _log_odds(one: CaseInUse, for_: Any, against: Any, prior_of_use: Mapping[Any, float] | None) -> LogOdds | None:
    return log_odds(one.model, one.case, for_, against, prior_of_use)


def posterior_band(one: CaseInUse, working: Working) -> None:
    """How far the posterior would be another one had other rows of the same world been seen."""
    seed = current().seen(keys.DRAWS) % SEEDS
    models = _plausible(one, seed)
    if isinstance(models, Message):
        st.caption(":material/help: " + _named(one, models).local(md))
        return
    losses, use = active.case_losses(one.table).for_classes(models.classes), active.prior_of_use(one.table)
    models = models if use is None else models.at_prior(use)
    flips = _flips_of(one, seed, losses, use, models)
    order = sorted(range(len(one.table.classes)), key=lambda k: -working.posterior[k])
    k = current().seen_among(keys.PLAUSIBLE_CLASS, order, 0 if len(order) == 2 else order[0])
    label = one.table.classes[k]
    position = models.classes.index(label)
    low, _middle, high = (float(v) for v in models.band()[:, position])
    with st.container(border=True, key="plausible"):
        within = [_written(low), _written(high)]
        alike = within[0] == within[1]
        sentence = _("In 95% of the plausible models {p} is **{low}**;") if alike else _(
            "In 95% of the plausible models {p} lies between **{low}** and **{high}**;")  # fmt: skip
        sentence = sentence.format(p=f"P({md(one.table.class_(label), 24)} | x)", low=within[0], high=within[1])
        st.markdown(f"{sentence} {_flips(one, flips)}")
        if len(order) > 2:
            shown = sorted(order[:MOST])
            figure = bands(
                models,
                [models.classes.index(one.table.classes[j]) for j in shown],
                classes=[plotly_text(one.table.class_(one.table.classes[j]), 24) for j in shown],
                colours=[colour_of(j, dark()) for j in shown],
                dark=dark(),
            )
            chart(figure, key="plausible_bands", alt=_("P(class | x) over all plausible models"))
        line = None
        if len(order) == 2 and len(losses.actions) == 2:
            line = odds_needed(losses, label, one.table.classes[1 - k])
        figure = histogram_of(
            models,
            label,
            name=plotly_text(one.table.class_(label), 24),
            colour=colour_of(k, dark()),
            needed=line,
            dark=dark(),
        )
        chart(figure, key="plausible_histogram", alt=_("histogram of P(class | x) over all plausible models"))
        with st.container(horizontal=True, gap="medium", vertical_alignment="center", key="plausible_controls"):
            _choose_class(one, order, k)
            st.button(
                _("Resample"),
                key="plausible_draw",
                icon=":material/casino:",
                type="tertiary",
                help=_("{n} models drawn from the posterior of all parameters, with the seed {seed}.").format(
                    n=DRAWN, seed=seed
                ),
                **on_click(lambda s: s.showing(keys.DRAWS.to((seed + 1) % SEEDS))),
            )
        st.caption(_reading(one, models, order, use, dotted=line is not None))


def _written(p: float) -> str:
    """A probability to three digits; near 0 and 1 up to a millionth."""
    if p < 1e-6:
        return "< 0.000001"
    return "> 0.999999" if p > 1.0 - 1e-6 else certain(p, 3)


def _flips(one: CaseInUse, flips: Flips) -> str:
    """How often the decision is another one; of more than two decisions, which."""
    if not flips.share:
        return _("the decision flips in **none** of the {n} drawn.").format(n=DRAWN)
    sentence = _("the decision flips in **{share}** of them (± {se}).").format(
        share=f"{flips.share:.1%}".replace("%", " %"), se=f"{flips.se:.1%}".replace("%", " %")
    )
    to = [(a, share) for a, share in flips.actions.items() if a != flips.action][:3]
    if len(to) > 1:
        each = (f"{md(one.table.action(a), 24)} {share:.1%}".replace("%", " %") for a, share in to)
        sentence += " " + _("It becomes {actions}.").format(actions=_(", ").join(each))
    return sentence


def _choose_class(one: CaseInUse, order: list[int], k: int) -> None:
    names = {j: f"P({clean(one.table.class_(one.table.classes[j]), 30)} | x)" for j in range(len(order))}
    if len(order) > 2:
        select(_("Class"), keys.PLAUSIBLE_CLASS, names, otherwise=k, titled=False, width=260)
    else:
        shown = {j: md(name) for j, name in names.items()}
        choose(_("Class"), keys.PLAUSIBLE_CLASS, shown, otherwise=k, titled=False)


def _reading(
    one: CaseInUse,
    models: Plausible,
    order: list[int],
    use: Mapping[Any, float] | None,
    *,
    dotted: bool,
) -> str:
    """How to read it, with the exact spread of the log-odds and what the parameters' prior is."""
    first, second = (one.table.classes[j] for j in (sorted(order) if len(order) == 2 else order[:2]))
    sentences = [
        _(
            "A plausible model has other conditional probabilities, means and variances that agree with the counted "
            "rows."
        )
    ]
    exact = _log_odds(one, first, second, use)
    if exact is not None:
        sentences.append(
            _("The log-odds of {a} against {b} are {mean} ± {sd}, exactly.").format(
                a=md(one.table.class_(first), 24),
                b=md(one.table.class_(second), 24),
                mean=signed(evidence(exact.mean)),
                sd=evidence_text(exact.sd, 2),
            )
        )
    if dotted:
        sentences.append(_("Dotted: where the decision turns under your losses."))
    if use is not None:
        sentences.append(_("Under your prior of use, the same in every model."))
    if one.judging is not one.model:
        sentences.append(_("All of it before calibration."))
    sentences += [_named(one, note).local(md) for note in models.notes]
    return " ".join(sentences)


def _named(one: CaseInUse, note: Message) -> Message:
    """A note with its columns' names on screen."""
    column, names = note.params.get("column"), note.params.get("names")
    if isinstance(column, str):
        return replace(note, params={**note.params, "column": clean(one.table.column(column), 30)})
    if not isinstance(names, str):
        return note
    return replace(note, params={**note.params, "names": _(", ").join(
        clean(one.table.column(name), 30) for name in names.split(", "))})  # fmt: skip
