"""The tab *Gibbs*: the textbook's chain walking, why it may be stuck, and better estimates beside it."""

from __future__ import annotations

import streamlit as st

from bayes_engine.errors import BayesEngineError, TooLarge
from bayes_engine.language import Message, _
from bayes_engine.numerals import certain
from bayes_engine.workbench.derivation.gibbs_walk import (
    CommunicatingClasses,
    SamplerComparison,
    Walk,
    communicating_classes,
    exact,
    walk,
)
from pages.active import predicting
from pages.active.network_source import Source
from pages.components.derivations import derivations
from pages.runtime.cache import cached
from pages.runtime.escape import md
from pages.runtime.job_queue import in_worker
from pages.views.network.derived import of_gibbs
from pages.views.network.gibbs_communicating_classes import communicating_classes as show_classes
from pages.views.network.gibbs_question import Question, question
from pages.views.network.gibbs_runs import Settings, comparison, controls, diagnostics, results, settings
from pages.views.network.gibbs_walk import player
from pages.views.network.tables import tables


def gibbs(source: Source) -> None:
    """The question, the walk, the communicating classes, the comparison and its diagnostics."""
    picture = st.container()
    asked = question(source)
    if not predicting.shows("network/gibbs"):
        tables(source)
        return
    now = settings(asked)
    truth = _exact(asked)
    film = _walk(asked, now.settings.sweeps, now.seed)
    with picture:
        with st.container(key="gibbs_sentence"):
            _answer(asked, truth)
        player(asked, film, truth)
        derivations("gibbs", of_gibbs(asked))
    try:
        by_sampler = results(asked, truth, now)
        classes = _classes(asked, now, by_sampler)
    except BayesEngineError:  # a parameter forbids it: it can be turned back
        st.subheader(_("The same question, three ways"))
        controls(asked, now)
        raise
    stuck = by_sampler.textbook.kernel.irreducibility
    if stuck.kind == "reducible":
        show_classes(asked, stuck, classes, by_sampler.improved.kernel.irreducibility)
    st.subheader(_("The same question, three ways"))
    controls(asked, now)
    comparison(asked, by_sampler)
    diagnostics(asked, by_sampler)


def _answer(asked: Question, truth: float | None) -> None:
    question = md(asked.whole(), 300)
    if truth is None:
        st.markdown(_("{question} is out of reach of the junction tree.").format(question=question))
    else:
        st.markdown(_("{question} = **{p}**, exactly").format(question=question, p=md(certain(truth, 5))))


@cached(max_entries=128)
def _exact(asked: Question) -> float | None:
    try:
        return exact(asked.network, asked.evidence, asked.event)
    except TooLarge:
        return None


@cached(max_entries=32, activity=Message("running the chains"))
def _walk(asked: Question, sweeps: int, seed: int) -> Walk:
    return in_worker(walk, asked.network, asked.evidence, asked.event, sweeps, seed)


@cached(max_entries=64)
def _classes(asked: Question, with_: Settings, _by_sampler: SamplerComparison) -> CommunicatingClasses | None:
    members = [unit.members for unit in _by_sampler.improved.kernel.units]
    return communicating_classes(_by_sampler.textbook.kernel, asked.event, members)
