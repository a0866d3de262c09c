"""No label at all: naive Bayes by EM with as many classes as one chooses, of texts the mixture of unigrams, and what
chooses their number."""

from __future__ import annotations

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.models.em_runs import crossed
from bayes_engine.workbench.figures.mixture import criteria_by_components, held_out_by_components
from pages import active
from pages.active import em_fits as fits
from pages.active import units
from pages.active.em_fits import HiddenLabels
from pages.components.chart import chart
from pages.runtime import view_keys as keys
from pages.runtime.escape import plotly_text
from pages.runtime.state import dark, end_page
from pages.runtime.widgets import bound_to, choose, within_limits
from pages.views.hidden import controls, labelled_texts, labels
from pages.views.hidden.player import Scene, player


def show(table: active.FittableTable) -> None:
    plane = len(fits.numeric_features(table)) >= 2
    run = fits.nameless_in_use(table)
    picture = st.container()  # above its controls, and filled after them: they stay where a run fails
    columns = st.columns([3, 3, 3, 3, 3] if plane else [3, 3, 3], vertical_alignment="bottom")
    names = controls.choose_plane(table, columns) if plane else None
    k, seed, hard = columns[-3:]
    k.number_input(
        _("Components K"),
        2,
        fits.MOST,
        step=1,
        help=_(
            "The number of hidden classes; under «How many components?» criteria and rows held out say which is best."
        ),
        **bound_to(keys.EM_K, run.k, also=controls.AT_END),
    )
    seed.number_input(_("Seed"), step=1, **within_limits(keys.EM_SEED, also=controls.AT_END))
    controls.choose_hard(hard)
    try:
        study = fits.fit_hidden_labels(table, run)
        film, rows = fits.hiding_film(table, run)
    except BayesEngineError as error:
        controls.engine_message(error.message)
        st.caption(_("Take fewer components, or another seed."))
        end_page()
    with picture:
        scene = Scene(film, controls.component_names(run.k), names, rows, controls.classes(table),
                      truth=fits.true_classes(table)[rows])  # fmt: skip
        player(scene, key="em_labels_film")
        st.caption(_("Shape: the true class, which EM never sees. Colour: the component that EM puts a row into."))
    controls.caption_if_sampled(table, len(rows))
    for note in study.notes:
        controls.engine_message(note)
    labels.objective(study, run)
    st.caption(_("The best of {n} random starts; components in the order of their weight.").format(n=fits.TRIES))
    labelled_texts.words_of_classes(table, run, study)
    words = {"truth": _("Against the true labels"), "k": _("How many components?")}
    if choose(_("Beneath"), keys.EM_BENEATH, words, titled=False) == "k":
        _how_many(table, run)
    else:
        controls.crosstab(table, crossed(study.shares[-1], study.truth, len(table.classes)))
        st.caption(
            _("Rows by their likeliest component at the end. EM never saw these labels; it groups what is alike, and "
              "need not find the classes.")
        )  # fmt: skip


def _how_many(table: active.FittableTable, run: HiddenLabels) -> None:
    by_k = fits.criteria_by_classes(table, HiddenLabels(seed=run.seed, hard=run.hard, tied=run.tied))
    known = by_k.dropna(subset=["bic", "held_out"])
    if known.empty:
        st.info(_("Every run collapsed: there are too few rows for so many components."))
        return
    held, criteria = st.columns(2, gap="medium")
    unit = units.evidence_unit()
    in_unit = known.assign(held_out=known["held_out"].map(units.evidence),
                           held_out_error=known["held_out_error"].map(units.evidence))  # fmt: skip
    up = _("log p(x) a row held out, {unit}").format(unit=unit)
    with held:
        chart(held_out_by_components(in_unit, run.k, plotly_text(up), dark=dark()), key="em_held_out",
              alt=_("The log-likelihood of rows held out over the number of components"))  # fmt: skip
    with criteria:
        chart(criteria_by_components(known, run.k, dark=dark()), key="em_bill",
              alt=_("BIC, AIC and ICL over the number of components"))  # fmt: skip
    least = [
        _("{name}: K = {k}").format(name=c.upper(), k=int(known.index.to_numpy()[known[c].argmin()]))
        for c in ("bic", "icl", "aic")
    ]
    best = int(known.index.to_numpy()[known["held_out"].argmax()])
    st.markdown(_("**Rows held out choose K = {k}**; the criteria: {list}.").format(k=best, list=" · ".join(least)))
    st.dataframe(
        in_unit,
        column_config={
            "k": st.column_config.NumberColumn("K"),
            "log_likelihood": st.column_config.NumberColumn(_("log-likelihood"), format="%.4f"),
            "parameters": st.column_config.NumberColumn(_("parameters"), format="%d"),
            **{c: st.column_config.NumberColumn(c.upper(), format="%.3f") for c in ("bic", "aic", "icl")},
            "held_out": st.column_config.NumberColumn(up, format="%.4f"),
            "held_out_error": st.column_config.NumberColumn(_("± standard error"), format="%.4f"),
        },
    )
    st.caption(
        _("Held out: a fifth of the rows, three times, the same rows for every K; words that the other rows do not "
          "have are left out. Larger is better there, smaller for BIC, AIC and ICL. Every component of a text has a "
          "probability for each word of the vocabulary, so BIC charges it ½ log n for each and seldom wants more than "
          "two.")
    )  # fmt: skip
