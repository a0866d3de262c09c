"""A graph drawn by hand against the search: choose two columns, see what every change does to the score, make it."""

from __future__ import annotations

import streamlit as st

from bayes_engine.errors import BayesEngineError, ParameterError
from bayes_engine.language import _
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import DecomposedScore, Move, score_change
from bayes_engine.structure.search import SearchResult
from pages.active import units
from pages.active.network_source import Source
from pages.components.graph import Click, Clicking, Edge, graph
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import State, change, current
from pages.runtime.widgets import bound_to, control, sets
from pages.views.network import learn_words
from pages.views.network.learn_film import arcs, drawing_height, layout_columns, move_table, nodes_of, places_by_hand
from pages.views.network.learn_search import (
    LearningData,
    SearchTask,
    arcs_by_hand,
    columns_chosen,
    decomposed_score_of,
    next_moves,
    scorer,
)
from pages.views.network.learn_use import use_buttons


def by_hand(
    here: LearningData, asked: SearchTask, result: SearchResult, best: SearchResult | None, source: Source
) -> None:
    """The graph, the change that is being weighed, and who is ahead."""
    mine = arcs_by_hand(here)
    yours = decomposed_score_of(here, asked, mine)
    drawn, weighed, hints = layout_columns(here)
    with drawn:
        _draw(here, asked, mine)
        _whole_graphs(here, mine, result)
        use_buttons(here, asked, mine, source, by_hand=True)
    with weighed:
        _weigh(here, asked, mine)
    with hints:
        _hints(here, asked, mine)
    _standing(here, asked, yours, result, best)
    st.markdown(f"**{_('Family by family: your graph and the result of the search')}**")
    learn_words.families_compared(here, yours, result.decomposed_score)


def _standing(
    here: LearningData, asked: SearchTask, yours: DecomposedScore, result: SearchResult, best: SearchResult | None
) -> None:
    short = f"{learn_words.score_short_name(asked.score)}, {units.evidence_unit()}"
    tolerance = scorer(here, asked).tolerance
    ahead = yours.score - result.score
    columns = st.columns(4 if best is not None else 3, gap="medium")
    columns[0].metric(
        _("you: {score}").format(score=short),
        learn_words.score_value(yours.score),
        learn_words.gain(ahead) if abs(ahead) > tolerance else _("as the search"),
        delta_color="off" if abs(ahead) <= tolerance else "normal" if ahead > 0 else "inverse",
        delta_arrow="off" if abs(ahead) <= tolerance else "up" if ahead > 0 else "down",
    )
    columns[1].metric(
        _("the search: {method}").format(method=learn_words.method(asked.method)), learn_words.score_value(result.score)
    )
    if best is not None:
        columns[2].metric(_("the best of all graphs"), learn_words.score_value(best.score))
    columns[-1].metric(
        _("your free numbers |B|"),
        f"{yours.free}",
        _("{n} in the search's").format(n=result.decomposed_score.free),
        delta_color="off",
        delta_arrow="off",
    )
    try:
        here.constraints(asked).admits(arcs_by_hand(here))
    except BayesEngineError as error:
        st.caption(":material/rule: " + _("Outside the constraints of the search: {why}").format(
            why=error.message.local(md)))  # fmt: skip


def _draw(here: LearningData, asked: SearchTask, mine: DAG) -> None:
    """The graph to click on: two nodes, or an arc."""
    pair = columns_chosen(here)
    edges = arcs(here, asked, mine)
    ids = {(e.source, e.target) for e in edges}
    selected: str | tuple[str, str] | None = str(pair[0]) if pair else None
    if len(pair) == 2:
        a, b = map(str, pair)
        there = next((e for e in ((a, b), (b, a)) if e in ids), None)
        selected = there or a
        if there is None:
            edges.append(Edge(a, b, "?", tone="new"))

    def pick(click: Click) -> None:
        change(lambda s: after_click(here, s, click))

    graph(
        nodes_of(here, places_by_hand(here, mine)),
        edges,
        key="learn_hand",
        selected=selected,
        height=drawing_height(here),
        clicking=Clicking(pick, ("node", "edge")),
        label=_("your graph"),
    )
    st.caption(_("Click two columns, or an arc, and choose what to do beside it. The browser's Back takes it back."))


def after_click(here: LearningData, state: State, click: Click) -> State:
    """After a click: an arc is chosen whole; a second node joins the first, a third begins anew."""
    if click[0] == "edge":
        return state.showing(keys.LEARN_PAIR.to((int(click[1]), int(click[2]))))
    clicked, pair = int(click[1]), columns_chosen(here)
    if len(pair) == 1:
        return state.showing(keys.LEARN_PAIR.to(() if pair[0] == clicked else (pair[0], clicked)))
    return state.showing(keys.LEARN_PAIR.to((clicked,)))


def _weigh(here: LearningData, asked: SearchTask, mine: DAG) -> None:
    """Two columns by click or by list, and what every change between them does to the score."""
    names = here.labels()
    pair = columns_chosen(here)
    left, right = st.columns(2)
    with left:
        st.selectbox(
            _("From"),
            list(names),
            index=None,
            format_func=names.__getitem__,
            placeholder=_("choose a column"),
            **control("learn_from", pair[0] if pair else None, lambda s, i: _paired(s, i, *pair[1:])),
        )
    with right:
        st.selectbox(
            _("To"),
            [i for i in names if not pair or i != pair[0]],
            index=None,
            format_func=names.__getitem__,
            placeholder=_("choose a column"),
            disabled=not pair,
            **control("learn_to", pair[1] if len(pair) == 2 else None, lambda s, i: _paired(s, pair[0], i)),
        )
    if len(pair) < 2:
        st.caption(_("Choose two columns: what each change between them does to the score is shown before it is made."))
        return
    for move in possible_moves(here, mine, (pair[0], pair[1])):
        _offer(here, asked, mine, move)


def _paired(state: State, first: int | None, second: int | None = None) -> State:
    if first is None:
        return state.showing(keys.LEARN_PAIR.to(()))
    return state.showing(keys.LEARN_PAIR.to((first,) if second is None or second == first else (first, second)))


def possible_moves(here: LearningData, mine: DAG, pair: tuple[int, int]) -> list[Move]:
    """What can be done between two columns."""
    a, b = (here.names[i] for i in pair)
    for parent, child in ((a, b), (b, a)):
        if (parent, child) in mine.arcs:
            return [Move("delete", parent, child), Move("reverse", parent, child)]
    return [Move("add", a, b), Move("add", b, a)]


def _offer(here: LearningData, asked: SearchTask, mine: DAG, move: Move) -> None:
    """A change with its button and its score; one that cannot be made says why."""
    do = {"add": _("Add {a} → {b}"), "delete": _("Delete {a} → {b}"), "reverse": _("Reverse {a} → {b}")}
    label = do[move.operation].format(a=md(here.table.column(move.parent), 24), b=md(here.table.column(move.child), 24))
    ends = (here.position[move.parent], here.position[move.child])
    key = f"learn_{move.operation}_{ends[0]}_{ends[1]}"
    try:
        weighed = score_change(here.counts, mine, move, scorer(here, asked))
    except ParameterError as error:
        st.button(label, key=key, disabled=True)
        st.caption(error.message.local(md))
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        chosen = keys.LEARN_PAIR.to(ends[::-1] if move.operation == "reverse" else ends)  # its arc stays chosen
        st.button(label, key=key, **sets(keys.LEARN_ARCS.to(here.pairs(weighed.graph.arcs)), chosen))
        st.markdown(f"**{learn_words.gain_with_unit(weighed.delta)}**")
    learn_words.change_table(here, weighed.families)


def _hints(here: LearningData, asked: SearchTask, mine: DAG) -> None:
    """The best next changes, for who asks."""
    st.toggle(_("Show the best changes from here"), **bound_to(keys.LEARN_HINT))
    if not current().seen(keys.LEARN_HINT):
        return
    ahead = next_moves(here, asked, mine)
    if ahead is None:
        st.caption(_("The search cannot start here: your graph breaks its constraints."))
    elif not ahead.trace.steps:
        st.caption(_("No single change gains any more."))
    else:
        step = ahead.trace.steps[0]
        move_table(here, [(step.move, step.delta), *((c.move, c.delta) for c in step.runners_up)], key="learn_best")


def _whole_graphs(here: LearningData, mine: DAG, result: SearchResult) -> None:
    """Begin anew: from nothing, or from what the search found."""
    with st.container(horizontal=True, gap="small"):
        st.button(
            _("No arcs"),
            icon=":material/restart_alt:",
            key="learn_empty",
            disabled=not mine.arcs,
            **sets(keys.LEARN_ARCS.to(()), keys.LEARN_PAIR.to(())),
        )
        st.button(
            _("The search's arcs"),
            icon=":material/content_copy:",
            key="learn_copy",
            disabled=set(mine.arcs) == set(result.graph.arcs),
            **sets(keys.LEARN_ARCS.to(here.pairs(result.graph.arcs)), keys.LEARN_PAIR.to(())),
        )
