"""What to ask next: an interview about a case of which little is known, one question at a time, until none pays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.decision.answer_distributions import Outcome
from bayes_engine.decision.ask import Inquiry, Question, outcomes, value_of_everything
from bayes_engine.factors.joint_multinomial import together
from bayes_engine.language import _
from bayes_engine.ledger import Status
from bayes_engine.numerals import number, signed
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.figures.ask import questions
from pages import active
from pages.active import units, words
from pages.components.chart import chart
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import State, current, dark, on_click
from pages.runtime.widgets import bound_to, choose, control, select
from pages.views.case.editor import CaseInUse
from pages.views.case.interview import (
    Interview,
    answered_by_row,
    answering,
    interview_in_use,
    value_of_code,
    with_answers,
)
from pages.views.case.verdict import draw_risks

MOST_BARS = 14
"""As many questions are drawn until all are asked for: those of most value."""
MOST_ANSWERS = 12
"""A question with more levels is answered from a list."""
MOST_DECISIONS = 6
"""As many decisions are drawn: those of least risk."""

_STYLE = private.style("""
.st-key-answer [st=NumberInputContainer] button { display: none; } /* a step would be an answer */
""")


def interview(one: CaseInUse) -> None:
    """The whole view: the next question and its answers, what all questions are worth, and what is known so far."""
    if one.fitted.scores:
        st.info(
            _(
                "There is nothing to weigh a question with: complement naive Bayes has probabilities only when its "
                "scores are calibrated, and a calibrator is learnt from whole rows and knows nothing of half-known "
                "ones."
            )
        )
        return
    st.html(_STYLE)
    talk = interview_in_use(one)
    now = talk.inquiry(len(talk.answers))
    main, side = st.columns([5, 4], gap="medium")
    with side:
        _settings(talk)
        if one.fitted.calibrated is not None:
            st.caption(
                _(
                    "Questions are weighed with the model's own probabilities: a calibrator is learnt from whole rows "
                    "and knows nothing of half-known ones."
                )
            )
    with main:
        if not now.defined:
            st.warning(_("No posterior: {why}.").format(why=words.status(int(now.decision.status[0]))))
            with st.container(horizontal=True, gap="small"):
                _take_back(talk)
            return
        _next_question(talk, now)
        _values(talk, now)
    with side:
        _belief(talk, now)
        _history(talk)
        _play(talk, now)


# the next question ------------------------------------------------------------------------------------------------


def _next_question(talk: Interview, now: Inquiry) -> None:
    """The best question, or that none pays; and the widgets that answer it."""
    table, action = talk.one.table, now.decision.action[0]
    decided = md(words.decision_name(table, action, clean), 40)
    if texts := [v.name for v in table.features if v.textual]:
        st.caption(_("{column} is a text: no question, for its answers cannot be listed.").format(
            column=md(table.column(texts[0]), 40)))  # fmt: skip
    if joint := together(talk.one.fitted.model.schema_):
        st.caption(_("{column} is one of {n} columns that are one multinomial: no question, for how large a count will "
                     "be depends on the total of the row.").format(
                         column=md(table.column(joint[0]), 40), n=len(joint)))  # fmt: skip
    if not now.questions:
        _headline(_("Nothing is left to ask: **{decision}**.").format(decision=decided))
        with st.container(horizontal=True, gap="small"):
            _take_back(talk)
        return
    best = now.best
    if best is None:
        _headline(_("No question pays: **{decision}**.").format(decision=decided))
        first = now.questions[0]
        st.caption(
            _("The best one left, {name}, would lower the risk by {gain} on average and costs {cost}.").format(
                name=md(table.column(first.feature), 40), gain=number(first.gain), cost=number(first.cost)
            )
        )
    else:
        _headline(
            _("Ask **{name}**: worth {value}.").format(
                name=md(table.column(best.feature), 40), value=number(best.value)
            )
        )
        st.caption(
            _("Now: {decision}, risk {risk}. The answer lowers the risk by {gain} on average and costs {cost}.").format(
                decision=decided, risk=number(now.risk), gain=number(best.gain), cost=number(best.cost)
            )
        )
    open_ = {q.feature: q for q in now.questions}
    names = [v.name for v in talk.features]
    ranked = [names.index(q.feature) for q in now.questions]
    labels = {j: f"{clean(table.column(names[j]), 60)}  {signed(open_[names[j]].value, 4)}" for j in ranked}
    about = _("The best question stands first; another may be asked instead.")
    j = select(_("Question"), keys.ASK_ABOUT, labels, about=about)
    _answers(talk, talk.features[j], j, open_[names[j]])
    with st.container(horizontal=True, gap="small"):
        st.button(
            _("Don't know"),
            key="answer_unknown",
            icon=":material/help:",
            help=_("It stays open and is not asked again."),
            **on_click(answering(j, None)),
        )
        _take_back(talk)


def _headline(sentence: str) -> None:
    with st.container(key="ask_sentence"):
        st.markdown("#### " + sentence)


def _answers(talk: Interview, variable: Variable, j: int, question: Question) -> None:
    """One button a level, each with what it would lead to; a number is typed, with the intervals that decide."""
    prior = active.prior_of_use(talk.one.table)
    case = active.case_frame(talk.one.table, talk.known(len(talk.answers)))
    results = outcomes(talk.one.model, case, variable.name, talk.loss, prior_of_use=prior)
    codes = _levels(talk, variable)
    if codes and len(codes) <= MOST_ANSWERS:
        rows = st.container(gap="xxsmall")
        for code, outcome in zip(codes, results, strict=True):
            button, text = rows.columns([2, 5], vertical_alignment="center", gap="small")
            button.button(
                md(codes[code], 40),
                key=f"answer_{code}",
                width="stretch",
                **on_click(answering(j, code)),
            )
            text.markdown(_leads_to(talk, outcome))
    else:
        if codes:
            shown = {code: clean(name, 80) for code, name in codes.items()}
            st.selectbox(
                _("Answer"),
                list(shown),
                format_func=shown.__getitem__,
                **control("answer", None, lambda s, c: answering(j, c)(s)),
            )
        else:
            st.number_input(
                words.with_unit(talk.one.table, variable.name),
                value=None,
                min_value=0.0 if variable.kind == "count" else None,
                step=1.0 if variable.kind == "count" else None,
                format="%.10g",
                placeholder=_("type the answer"),
                **control("answer", None, lambda s, v: s if v is None else answering(j, float(v))(s)),
            )
        _intervals(talk, results, codes)
    if question.error:
        st.caption(_("The density has no closed form here: known up to {error}.").format(error=number(question.error)))


def _levels(talk: Interview, variable: Variable) -> dict[Any, str]:
    """The levels that can be answered, by their code in the state; none of a number, unless its numbers are levels to
    the model."""
    read = talk.one.model.schema_[variable.name]
    if variable.discrete:
        return {code: talk.one.table.level(variable.name, v) for code, v in enumerate(variable.levels)}
    if read.discrete and read.cuts is None:
        return {float(v): f"{float(v):.10g}" for v in read.levels}
    return {}


def _intervals(talk: Interview, results: Sequence[Outcome], codes: Mapping[Any, str]) -> None:
    """The decisions along a number, or of the likeliest of many levels; ends that nobody answers are left out."""
    if codes:
        likely = sorted(zip(codes.values(), results, strict=True), key=lambda pair: -pair[1].probability)[:MOST_ANSWERS]
        names, shown = [clean(name, 40) for name, _outcome in likely], [outcome for _name, outcome in likely]
    else:
        shown = [o for o in results if o.probability >= 5e-7]
        ends = [-math.inf, *(o.low for o in shown[1:]), math.inf]
        cut = [clean(str(o.level), 40) for o in shown if o.level is not None]  # the model's own steps of the number
        names = cut or [_interval(low, high) for low, high in pairwise(ends)]
    for name, outcome in zip(names, shown, strict=True):
        left, right = st.columns([2, 5], gap="small")
        left.markdown(md(name, 60))
        right.markdown(_leads_to(talk, outcome))


def _interval(low: float, high: float) -> str:
    a, b = (f"{end:.4g}".replace("-", "−") for end in (low, high))
    if math.isinf(low):
        return _("any number") if math.isinf(high) else _("up to {high}").format(high=b)
    return _("above {low}").format(low=a) if math.isinf(high) else _("{low} to {high}").format(low=a, high=b)


def _leads_to(talk: Interview, outcome: Outcome) -> str:
    """How probable an answer is, and what is decided then."""
    if not outcome.probability:
        return _("never, says the model")
    return _("{share} → **{decision}**, risk {risk}").format(
        share=f"{100 * outcome.probability:.3g}%",
        decision=md(words.decision_name(talk.one.table, outcome.action, clean), 30),
        risk=number(outcome.risk),
    )


def _take_back(talk: Interview) -> None:
    st.button(
        _("Take back"),
        key="ask_back",
        icon=":material/undo:",
        disabled=not talk.answers,
        **on_click(lambda s: with_answers(s, s.seen(keys.TOLD)[:-1])),
    )
    st.button(
        _("Start again"),
        key="ask_restart",
        icon=":material/restart_alt:",
        disabled=not talk.answers,
        **on_click(lambda s: with_answers(s, ())),
    )


# what the questions are worth -------------------------------------------------------------------------------------


def _values(talk: Interview, now: Inquiry) -> None:
    """All open questions, the most valuable first."""
    if not now.questions:
        return
    table, every = talk.one.table, current().seen(keys.ASK_ALL)
    shown = now.questions if every else now.questions[:MOST_BARS]
    about = current().seen(keys.ASK_ABOUT)
    names = [q.feature for q in shown]
    asked_name = talk.features[about].name if 0 <= about < len(talk.features) else ""
    figure = questions(
        shown,
        [plotly_text(table.column(name), 28) for name in names],
        chosen=names.index(asked_name) if asked_name in names else 0,
        bits=units.in_bits(),
        dark=dark(),
    )
    chart(figure, key="ask_values", alt=_("value of each open question"))
    if len(now.questions) > MOST_BARS:
        st.toggle(_("All {n} questions").format(n=len(now.questions)), **bound_to(keys.ASK_ALL))
    prior = active.prior_of_use(table)
    whole = value_of_everything(
        talk.one.model, active.case_frame(table, talk.known(len(talk.answers))), talk.loss, prior_of_use=prior
    )
    text = _("Vertical mark: what the question costs; the number is its value, the fall less the cost.") + " "
    text += _("To know the true class would be worth {perfect}: no question can be worth more.").format(
        perfect=number(now.perfect)
    )
    if whole is not None and len(now.questions) > 1:
        text += " " + _("All open questions together lower the risk by {whole}.").format(whole=number(whole))
    st.caption(
        text
        + " "
        + _("The search looks one question ahead, not more: two that are worthwhile only together are not found.")
    )


# what is known ----------------------------------------------------------------------------------------------------


def _settings(talk: Interview) -> None:
    """Where the interview starts, and what a question costs."""
    starts = {"nothing": _("nothing known"), "case": _("the case")}
    about = _("The cells that are missing in the case are asked, or all.")
    choose(_("Start from"), keys.ASK_FROM, starts, also=(keys.TOLD.to(()), keys.ASK_ABOUT.to(-1)), about=about)
    dearest = float(abs(talk.loss.table).max()) or 1.0
    top = max(0.2 * dearest, current().seen(keys.ASK_COST))
    st.slider(
        _("Cost of a question"),
        0.0,
        top,
        step=dearest / 200,
        format="%.4g",
        help=_("In the unit of the losses."),
        **bound_to(keys.ASK_COST),
    )
    _own_costs(talk)


def _own_costs(talk: Interview) -> None:
    own = {j: float(cost) for j, cost in current().seen(keys.ASK_COSTS)}
    label = _("Costs of single questions") + (f" ({len(own)})" if own else "")
    panel = st.popover(label, key="ask_costs_open", on_change="rerun", width="content")
    if not panel.open:
        return
    with panel:
        st.caption(_("A blank field has the cost of all."))
        cells = [cell for _pair in talk.features[::2] for cell in st.columns(2)]
        for j, variable in enumerate(talk.features):
            cells[j].number_input(
                md(talk.one.table.column(variable.name), 40),
                0.0,
                1e9,
                value=None,
                format="%g",
                placeholder=f"{current().seen(keys.ASK_COST):g}",
                **control(f"ask_cost_{j}", own.get(j), _set_cost(j)),
            )


def _set_cost(j: int) -> Callable[[State, float | None], State]:
    def edit(state: State, value: float | None) -> State:
        rest = tuple(entry for entry in state.seen(keys.ASK_COSTS) if entry[0] != j)
        return state.showing(keys.ASK_COSTS.to(rest if value is None else (*rest, (j, float(value)))))

    return edit


def _belief(talk: Interview, now: Inquiry) -> None:
    """The posterior and the risk of each decision as they stand."""
    likely = dict(zip(now.classes, now.posterior.tolist(), strict=True))
    risks = talk.loss.for_classes(now.classes).risk(now.posterior[None])[0].tolist()
    risk, decided = dict(zip(talk.loss.actions, risks, strict=True)), now.decision.action[0]
    draw_risks(talk.one.table, likely, risk, decided, key="ask_verdict", most=MOST_DECISIONS, narrow=True)


def _history(talk: Interview) -> None:
    """The answers so far, each with the decision and the risk after it."""
    if talk.given:
        cells = _(", ").join(
            f"{md(talk.one.table.column(n), 24)} = {md(talk.one.table.level(n, v), 24)}" for n, v in talk.given.items()
        )
        st.caption(_("Known from the case: {cells}").format(cells=cells))
    if not talk.answers:
        st.caption(_("Nothing has been asked yet."))
        return
    rows, then = [], talk.decisions()
    for k, (j, code) in enumerate(talk.answers):
        variable = talk.features[j]
        answer = _("don't know") if code is None else talk.one.table.level(variable.name, value_of_code(variable, code))
        fine = then.status[k] == Status.OK
        rows.append(
            {
                _("answer"): f"{clean(talk.one.table.column(variable.name), 40)} = {clean(answer, 40)}",
                _("decision"): clean(talk.one.table.action(then.action[k]), 30) if fine else "–",
                _("risk"): number(float(then.risk[k])) if fine else "–",
            }
        )
    st.dataframe(pd.DataFrame(rows), key="ask_history", height="content", hide_index=True)
    st.caption(_("{n} asked, {paid} paid.").format(n=len(talk.answers), paid=number(talk.paid)))
    codes = active.case_codes(talk.one.table, talk.known(len(talk.answers)))
    st.button(
        _("Open as the case"),
        key="ask_open",
        icon=":material/open_in_full:",
        **on_click(
            lambda s: replace(s, case=codes, row=-1).showing(keys.CASE_VIEW.to("decision"), keys.LEFT_OUT.to(False))
        ),
    )


def _play(talk: Interview, now: Inquiry) -> None:
    """Let a row of the table answer: a step, or until no question pays."""
    table = talk.one.table
    rows = table.parts.X
    n = min(current().seen(keys.ASK_ROW), len(rows) - 1)
    st.number_input(
        _("Row that answers (1 to {n})").format(n=len(rows)),
        1,
        len(rows),
        step=1,
        **control(keys.ASK_ROW.widget, n + 1, lambda s, v: with_answers(s.showing(keys.ASK_ROW.to((v or 1) - 1)), ())),
    )
    best = now.best
    with st.container(horizontal=True, gap="small"):
        st.button(
            _("Next answer"),
            key="ask_step",
            icon=":material/skip_next:",
            disabled=best is None,
            **on_click(lambda s: answered_by_row(s, talk, n, 1)),
        )
        st.button(
            _("To the end"),
            key="ask_play",
            icon=":material/fast_forward:",
            disabled=best is None,
            **on_click(lambda s: answered_by_row(s, talk, n, len(talk.features))),
        )
    if talk.answers and best is None:
        truth = md(table.class_(table.parts.y.iloc[n]), 24)
        st.caption(_("Row {n} of the table is **{name}**.").format(n=int(table.parts.rows[n]) + 1, name=truth))
