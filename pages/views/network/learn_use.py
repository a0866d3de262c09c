"""Where a learned or drawn graph goes: to the tabs ask and Gibbs, by hand, on the shelf as a classifier."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _
from bayes_engine.structure.graph import DAG
from pages import active
from pages.active import shelf
from pages.active.network_source import TABLE, Source, with_source
from pages.runtime import view_keys as keys
from pages.runtime.state import Spec, State, on_click, page_link
from pages.runtime.widgets import sets
from pages.views.network.learn_search import LearningData, SearchTask
from pages.views.network.learn_settings import AT_END


def use_buttons(here: LearningData, asked: SearchTask, graph: DAG, source: Source, *, by_hand: bool) -> None:
    spec = classifier(here, graph)
    taken = source.id == TABLE and _same(source, here, graph)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            _("Ask this network"),
            icon=":material/check:" if taken else ":material/arrow_forward:",
            key="learn_ask",
            help=_("The tabs Ask and Gibbs then use this graph, with its tables estimated from the rows."),
            **on_click(lambda s: with_network(here, s, graph)),
        )
        about = _("It predicts the class through its Markov blanket.")
        shelf.shelve_button(
            here.table, spec, _("Add to the candidates as a classifier"), key="learn_shelve", about=about
        )
        if not by_hand:
            st.button(
                _("Change it by hand"),
                icon=":material/draw:",
                key="learn_take",
                help=_("The graph as it is at this step."),
                **sets(
                    keys.LEARN_VIEW.to("hand"),
                    keys.LEARN_ARCS.to(here.pairs(graph.arcs)),
                    keys.LEARN_PAIR.to(()),
                    keys.LEARN_PLAYS.to(False),
                ),
            )
        else:
            st.button(
                _("Continue the search from here"),
                icon=":material/play_arrow:",
                key="learn_continue",
                **sets(
                    keys.LEARN_VIEW.to("search"),
                    keys.NET_METHOD.to("hill-climb"),
                    keys.LEARN_START.to(here.pairs(graph.arcs)),
                    *AT_END,
                ),
            )
    if spec in active.shelf_of(here.table):
        page_link("pages/model.py", _("See it on the page Model"), ":material/tune:")


def _same(source: Source, here: LearningData, graph: DAG) -> bool:
    """Whether the network of the page is this graph over these rows already."""
    same_rows = source.learned is not None and source.learned.table.key == here.table.key
    return same_rows and set(source.network.graph.arcs) == set(graph.arcs)


def with_network(here: LearningData, state: State, graph: DAG) -> State:
    """The network of the page is this graph over the table in use."""
    searched = {key.name for key in (keys.NET_METHOD, keys.NET_SCORE, keys.NET_PARENTS, keys.NET_BINS)}
    if state.seen(keys.NET) != TABLE:
        state = with_source(state, TABLE).showing(*(setting for setting in state.view if setting[0] in searched))
    return state.showing(
        keys.NET_DRAWN.to(True),
        keys.NET_ARCS.to(tuple((here.position[a], here.position[b]) for a, b in graph.arcs)),
        keys.NET_CPTS.to(()),  # what was edited was of other tables
        keys.NET_TAB.to("ask"),
        keys.LEARN_PLAYS.to(False),
    )


def classifier(here: LearningData, graph: DAG) -> Spec:
    """The graph as a model of the shelf: arcs by the places of the features, the class after the last."""
    features = here.table.features.names
    position = {name: i for i, name in enumerate(features)} | {here.target: len(features)}
    arcs = tuple(sorted((position[a], position[b]) for a, b in graph.arcs))
    spec = shelf.with_parameter(Spec(family="network"), "structure", arcs)
    if here.rows.cut:
        spec = shelf.with_parameter(shelf.with_parameter(spec, "discretize", "quantile"), "bins", here.bins)
    return spec
