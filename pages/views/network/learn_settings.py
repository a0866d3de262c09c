"""The settings of the tab *learn*: method, score, parents, constraints, and what else a search is told."""

from __future__ import annotations

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State, current
from pages.runtime.widgets import bound_to, control, sets, within_limits
from pages.views.network import learn_words
from pages.views.network.learn_search import METHODS, SCORES, SEARCHED, TIERS, LearningData, SearchTask

AT_END = (keys.LEARN_STEP.to(-1), keys.LEARN_PLAYS.to(False))
"""A new search is shown at its end."""


def settings(here: LearningData, asked: SearchTask) -> None:
    """All of them: the four that matter in a row, the others behind two buttons."""
    searched = asked.method in SEARCHED
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            _("Method"),
            METHODS,
            format_func=learn_words.method,
            width=180,
            help=" ".join(f"{learn_words.method(m)}{_(': ')}{learn_words.method_help(m)}" for m in METHODS),
            **bound_to(keys.NET_METHOD, also=AT_END),
        )
        st.selectbox(
            _("Score"), SCORES, format_func=learn_words.score, width=136, **bound_to(keys.NET_SCORE, also=AT_END)
        )
        st.selectbox(
            _("Parents at most"),
            range(1, 9),
            width=116,
            disabled=not searched,
            **bound_to(keys.NET_PARENTS, asked.parents, also=AT_END),
        )
        n = len(asked.required) + len(asked.forbidden) + sum(map(bool, asked.tiers))
        label = _("Constraints ({n})").format(n=n) if n else _("Constraints")
        with st.popover(label, icon=":material/rule:", disabled=not searched, width="content"):
            _constraints(here, asked)
        with st.popover(_("More"), icon=":material/tune:", width="content"):
            _more(here, asked)
        if asked.start:
            st.button(
                _("Start from no arcs again"),
                icon=":material/restart_alt:",
                key="learn_restart",
                help=_("The climb starts from your graph, {n} arcs.").format(n=len(asked.start)),
                **sets(keys.LEARN_START.to(()), *AT_END),
            )
    if asked.method == "k2":
        _order(here, asked)


def _order(here: LearningData, asked: SearchTask) -> None:
    """The order of K2: the columns named come first, as they are named; the others follow in the table's order."""
    named = current().seen(keys.LEARN_ORDER)
    st.multiselect(
        _("Order: causes first"),
        range(len(here.names)),
        format_func=lambda i: clean(here.table.column(here.names[i]), 30),
        placeholder=_("the table's order"),
        help=_("A column may only have parents that stand before it. Columns not named follow in the table's order."),
        **bound_to(keys.LEARN_ORDER, tuple(i for i in asked.order if i in named), also=AT_END),
    )
    st.caption(" → ".join(md(here.table.column(here.names[i]), 24) for i in asked.order))


def _more(here: LearningData, asked: SearchTask) -> None:
    st.number_input(
        _("Seconds at most"),
        step=1.0,
        format="%g",
        help=_("When they are up, the best graph so far is shown, and said to be that."),
        **within_limits(keys.LEARN_SECONDS, also=AT_END),
    )
    st.number_input(
        _("Climb again, so many times"),
        step=1,
        disabled=asked.method != "hill-climb",
        help=_(
            "a → b and b → a often gain the same; which is taken decides how far a climb gets. The "
            "first two climbs break ties by a rule each, further ones at random; the best is shown. "
            "The library goes further by default: 30 times or more (twice for every column) it changes "
            "the best graph at random and climbs from there."
        ),
        **within_limits(keys.LEARN_RESTARTS, also=AT_END),
    )
    st.number_input(
        _("Equivalent sample size of BDeu"),
        step=1.0,
        format="%g",
        disabled=asked.score != "bdeu",
        **within_limits(keys.LEARN_SAMPLE, also=AT_END),
    )
    if here.rows.cut:
        st.number_input(
            _("Intervals of a column of numbers"),
            step=1,
            help=_("Every node is discrete: numbers are cut at quantiles, so that each interval has as many rows."),
            **within_limits(keys.NET_BINS, also=AT_END),
        )


# constraints ------------------------------------------------------------------------------------------------------


def _constraints(here: LearningData, asked: SearchTask) -> None:
    """Arcs that must or must not be there, tiers in time; a contradiction is named at once."""
    names = here.labels()
    pair = current().seen(keys.LEARN_BOUND)
    a, b = pair if len(set(pair) & set(names)) == 2 else (0, min(1, len(names) - 1))
    left, right = st.columns(2)
    with left:
        st.selectbox(
            _("From"),
            list(names),
            format_func=names.__getitem__,
            **control("learn_bound_from", a, lambda s, i: s.showing(keys.LEARN_BOUND.to((i, b if i != b else a)))),
        )
    with right:
        st.selectbox(
            _("To"),
            list(names),
            format_func=names.__getitem__,
            **control("learn_bound_to", b, lambda s, i: s.showing(keys.LEARN_BOUND.to((a if i != a else b, i)))),
        )

    with st.container(horizontal=True, gap="small"):
        for key, arcs, name, words in (
            (keys.LEARN_REQUIRED, asked.required, "learn_require", _("Require {a} → {b}")),
            (keys.LEARN_FORBIDDEN, asked.forbidden, "learn_forbid", _("Forbid {a} → {b}")),
        ):
            label = words.format(a=md(names[a], 20), b=md(names[b], 20))
            st.button(label, key=name, **sets(key.to(tuple(sorted({*arcs, (a, b)}))), *AT_END))
    for key, heading, arcs in (
        (keys.LEARN_REQUIRED, _("Required arcs"), asked.required),
        (keys.LEARN_FORBIDDEN, _("Forbidden arcs"), asked.forbidden),
    ):
        if arcs:
            st.multiselect(
                heading,
                list(arcs),
                format_func=lambda arc: f"{names[arc[0]]} → {names[arc[1]]}",
                **bound_to(key, arcs, also=AT_END),
            )
    tiers = (*asked.tiers, *((),) * TIERS)[:TIERS]
    heads = (_("First tier: no later tier points here"), _("Second tier"), _("Third tier"))
    for k in range(TIERS):
        elsewhere = {i for j, tier in enumerate(tiers) if j != k for i in tier}

        def settle(state: State, entered: list[int], k: int = k) -> State:
            kept = [tuple(sorted(entered)) if j == k else tier for j, tier in enumerate(tiers)]
            return state.showing(keys.LEARN_TIERS.to(tuple(kept) if any(kept) else ()), *AT_END)

        st.multiselect(
            heads[k],
            [i for i in names if i not in elsewhere],
            format_func=names.__getitem__,
            placeholder=_("no column"),
            **control(f"learn_tier_{k}", list(tiers[k]), settle),
        )
    try:
        here.constraints(asked)
    except BayesEngineError as error:
        st.error(error.message.local(md))
