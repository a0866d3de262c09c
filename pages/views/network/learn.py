"""The tab *learn*: a structure searched for in the table in use, played step by step, and drawn by hand against it."""

from __future__ import annotations

import math
import time

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.numerals import certain, count
from bayes_engine.structure.search import SearchResult
from bayes_engine.workbench.lessons.in_use import case_as_row
from pages import active
from pages.active import network_source, predicting, required, units
from pages.active.network_source import Source
from pages.components.derivations import derivations
from pages.components.held_back import held_back
from pages.runtime import jobs, private
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.job_queue import Job
from pages.runtime.widgets import bound_to, choose
from pages.views.network import learn_words
from pages.views.network.derived import of_learning
from pages.views.network.learn_film import film
from pages.views.network.learn_hand import by_hand
from pages.views.network.learn_search import (
    AFFORDABLE,
    AT_ONCE,
    SEARCHED,
    LearningData,
    Run,
    SearchTask,
    UnderWay,
    exact_task,
    forget,
    forget_others,
    hill_climb_task,
    learning_data,
    optimum,
    run_key,
    scorer,
    search_result,
    task_in_use,
    wants_optimum,
)
from pages.views.network.learn_settings import settings


def learn(source: Source) -> None:
    """The tab, whichever network is chosen: what is learned is the table in use."""
    table = required.fittable(active.table_in_use())
    try:
        here = learning_data(table)
    except BayesEngineError as error:
        required.columns_refused(error)
        return
    asked = task_in_use(here)
    _rows(here)
    answer = st.container()  # what was found, above what it depends on
    settings(here, asked)
    if not predicting.shows("network/learn"):
        with answer:
            held_back(table)
        return
    wanted = (asked, hill_climb_task(asked), *((exact_task(asked),) if wants_optimum(here) else ()))
    forget_others([run_key(here, t) for t in wanted])
    try:
        result = search_result(here, asked)
        best = result if result.status == "optimum" else optimum(here, asked)
        climb = search_result(here, hill_climb_task(asked)) if asked.method == "exact" and result is best else None
    except UnderWay as search:
        with answer:
            _waiting(search.run, search.job)
        return
    with answer:
        _answer(here, asked, result, best, climb)
        names = {"search": _("the search, step by step"), "hand": _("by hand: beat the search")}
        view = choose(_("Graph"), keys.LEARN_VIEW, names, also=(keys.LEARN_PLAYS.to(False),), titled=False)
        if view == "search":
            film(here, asked, result, best, source)
        else:
            by_hand(here, asked, result, best, source)
        _of_case(here, result, source)
        derivations("learning", of_learning(here, asked, result.graph))
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        units.choose_evidence_unit()
        st.caption(learn_words.formula(here, asked), width="stretch")


def _rows(here: LearningData) -> None:
    frame, left_out = here.rows.frame, here.counts.left_out
    sentence = _("From the table in use, **{table}**: {n} rows, {d} columns, {y} among them.").format(
        table=md(here.table.title), n=count(len(frame)), d=len(here.names), y=md(here.table.column(here.target), 40)
    )
    if left_out:
        words = _(
            "{n} rows with a missing cell count for no score; the tables are then estimated from all rows, by EM."
        )
        sentence += " " + words.format(n=count(left_out))
    st.caption(sentence)


def _waiting(run: Run, job: Job) -> None:
    """How far a long search is, and a button that stops it; once it is done, the page is drawn with its result."""

    def update(elements: private.Elements) -> None:
        elements["markdown"].markdown.body = _how_far(run)

    with jobs.following(job, update), st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.button(
            _("Stop and show the best so far"),
            icon=":material/stop_circle:",
            key="learn_stop",
            disabled=run.stop.is_set(),
            on_click=run.stop.set,
        )
        st.markdown(_how_far(run))


def _how_far(run: Run) -> str:
    lines = [_("Searching: {n} s").format(n=f"{time.monotonic() - run.begun:.0f}")]
    if (far := run.far) is not None:
        total = "" if far.total is None else f" / {far.total}"
        lines.append(_("steps: {n}").format(n=f"{far.done}{total}"))
        if math.isfinite(far.score):
            lines.append(_("best so far: {value}").format(value=learn_words.score_value(far.score)))
    return " · ".join(lines)


def _answer(
    here: LearningData, asked: SearchTask, result: SearchResult, best: SearchResult | None, climb: SearchResult | None
) -> None:
    """What was found, and whether it is the best there is."""
    short = learn_words.score_short_name(asked.score)
    n = len(result.graph.arcs)
    head = _("By **{method}**: {n} arcs, {score} **{value}** {unit}.").format(
        method=learn_words.method(asked.method),
        n=n,
        score=short,
        value=learn_words.score_value(result.score),
        unit=units.evidence_unit(),
    )
    sentences = [head, learn_words.why_ended(result)]
    if not n and asked.method in SEARCHED:
        sentences.append(
            _("No arc is worth its penalty here: each would add more to the penalty than to the likelihood.")
        )
    sentences += _compared(here, asked, result, best, climb)
    with st.container(key="learn_sentence"):
        (st.warning if result.status in ("time", "cancelled") else st.markdown)(" ".join(sentences))
    if result.status == "cancelled":
        st.button(
            _("Search again"),
            icon=":material/play_arrow:",
            key="learn_again",
            on_click=forget,
            args=(run_key(here, asked),),
        )
    if best is None and AT_ONCE < len(here.names) <= AFFORDABLE:
        st.toggle(
            _("Compute the optimum too"),
            help=_("By dynamic programming over sets of columns; it may use all of the seconds allowed."),
            **bound_to(keys.LEARN_OPTIMUM),
        )


def _of_case(here: LearningData, result: SearchResult, source: Source) -> None:
    """What the network says of the case in use, where the network of the page is the one that was found."""
    if source.learned is None or set(source.network.graph.arcs) != set(result.graph.arcs):
        return
    table, model = here.table, network_source.model_of(source)
    row = case_as_row(active.case_frame(table, active.case_values(table)), here.target)
    value = float(model.score_samples(row)[0])
    levels = model.network_[here.target].variable.levels
    shares = model.posterior(row, here.target)[0].tolist()
    if not math.isfinite(value):
        st.markdown(
            _(
                "The case in use has probability 0 in this network: one of its values was never seen beside those of "
                "its parents, and α = 0."
            )
        )
        return
    listed = _(", ").join(f"{md(table.class_(c), 24)} **{certain(p)}**" for c, p in zip(levels, shares, strict=True))
    st.markdown(
        _(
            "The case in use in this network, its tables smoothed with α = {alpha}: log P(x) = **{value}** {unit}; "
            "P(c | x): {shares}."
        ).format(
            alpha=f"{source.learned.model.alpha:g}",
            value=learn_words.score_value(value),
            unit=units.evidence_unit(),
            shares=listed,
        )
    )


def _compared(
    here: LearningData, asked: SearchTask, result: SearchResult, best: SearchResult | None, climb: SearchResult | None
) -> list[str]:
    """Did the greedy search find the optimum? In words; `climb` is that search where the optimum was asked for."""
    tolerance = scorer(here, asked).tolerance
    if climb is not None:
        lost = result.score - climb.score
        if lost <= tolerance:
            return [_("Did the greedy search find it? Yes: hill climbing ends at the same score.")]
        return [
            _("Did the greedy search find it? No: hill climbing ends at {value}, {gain}.").format(
                value=learn_words.score_value(climb.score), gain=learn_words.gain_with_unit(-lost)
            )
        ]
    if best is None:
        if len(here.names) > AFFORDABLE and asked.method in SEARCHED:
            text = _("Whether it is the best of all graphs cannot be checked: with {d} columns there are too many.")
            return [text.format(d=len(here.names))]
        return []
    lost = best.score - result.score
    if asked.method in ("hill-climb", "k2"):
        if lost <= tolerance:
            return [_("Did the greedy search find the optimum? Yes: no graph scores higher.")]
        return [
            _("Did the greedy search find the optimum? No: the best graph scores {value}, {gain} more.").format(
                value=learn_words.score_value(best.score), gain=learn_words.gain_with_unit(lost)
            )
        ]
    if lost < -tolerance:  # the arcs of a fixed structure need not keep to the constraints
        return [_("The best graph that keeps to the bound on parents scores {value}.").format(
            value=learn_words.score_value(best.score))]  # fmt: skip
    return [_("The best of all graphs scores {value}, {gain} more.").format(
        value=learn_words.score_value(best.score), gain=learn_words.gain_with_unit(lost))]  # fmt: skip
