"""The tab *hidden node*: a column of the table is taken out and learned back by EM, as a node that no row shows."""

from __future__ import annotations

import streamlit as st

from bayes_engine.errors import TableError
from bayes_engine.exchange import write_bif
from bayes_engine.language import _
from bayes_engine.numerals import number
from bayes_engine.workbench.derivation.hidden_column import HiddenColumn, nearest
from bayes_engine.workbench.figures.graph_layout import layered
from pages import active
from pages.active import hidden_node as hiding
from pages.active import predicting, required
from pages.active.hidden_node import HiddenNodeTask
from pages.active.network_source import Source
from pages.components.graph import Edge, Node, graph
from pages.components.held_back import held_back
from pages.components.tables import markdown_table
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.widgets import bound_to, choose, within_limits

MOST_DRAWN = 30
"""So many nodes are drawn: of a larger network those nearest to the hidden one."""


def hidden_node(source: Source) -> None:
    """The tab, whichever network is chosen: the columns are those of the table in use."""
    table = required.fittable(active.table_in_use())
    try:
        names, asked = hiding.columns_to_hide(table), hiding.task_in_use(table)
    except TableError as error:
        required.columns_refused(error)
        return
    answer = st.container()
    _settings(table, names, asked)
    with answer:
        if predicting.shows("network/hidden"):
            _answer(table, asked, hiding.learned_back(table, asked))
        else:
            held_back(table)


# what is asked --------------------------------------------------------------------------------------------------------


def _settings(table: active.FittableTable, names: dict[int, str], asked: HiddenNodeTask) -> None:
    column, number_of, arcs, more = st.columns([3, 2, 4, 2], vertical_alignment="bottom")
    column.selectbox(
        _("Column to hide"),
        list(names),
        format_func=lambda i: clean(table.column(names[i]), 40),
        help=_("EM never sees this column. Afterwards its states are held against it."),
        **bound_to(
            keys.NET_HIDE,
            next(i for i, name in names.items() if name == asked.name),
            also=(keys.NET_HIDE_STATES.to(0),),
        ),
    )
    number_of.number_input(
        _("States"),
        2,
        hiding.MOST_STATES,
        step=1,
        help=_("As many as the column has levels, unless you say otherwise."),
        **bound_to(keys.NET_HIDE_STATES, asked.states),
    )
    with arcs:
        choose(
            _("Arcs"),
            keys.NET_HIDE_ARCS,
            {"parent": _("parent of all other columns"), "graph": _("as on the tab Learn")},
            about=_(
                "On the tab Learn the graph was found with the column in sight; here its tables are learned without."
            ),
        )
    with more.popover(_("More"), icon=":material/tune:", width="stretch"):
        st.slider(
            _("Random starts"),
            step=1,
            help=_("EM ends at a local maximum: the best of several starts is taken."),
            **within_limits(keys.NET_HIDE_STARTS),
        )
        st.number_input(_("Seed"), step=1, **within_limits(keys.NET_HIDE_SEED))


# what came of it ------------------------------------------------------------------------------------------------------


def _answer(table: active.FittableTable, asked: HiddenNodeTask, learned: HiddenColumn) -> None:
    title = md(table.column(asked.name), 40)
    st.markdown(
        _(
            "EM never saw **{column}**. Its states, each matched with one level, agree with the column in "
            "**{right} of {n}** rows; one state for all would agree in {commonest}."
        ).format(column=title, right=learned.right, n=learned.rows, commonest=learned.commonest)
    )
    if not any(asked.name in arc for arc in asked.arcs):
        st.warning(_("In this graph no arc touches the hidden node: the rows say nothing of it."))
    drawing, beside = st.columns([5, 4], gap="large")
    with drawing:
        _draw(table, asked, learned)
    with beside:
        _matches(table, asked, learned)
        _starts(learned)
        st.download_button(
            _("Save this network"),
            write_bif(learned.model.network_),
            file_name="hidden-node.bif",
            mime="text/plain",
            icon=":material/download:",
            key="net_hide_save",
            on_click="ignore",
            help=_("As a BIF file; under Ask, Exchange it opens here, too."),
        )
    with st.expander(_("The tables that EM found")):
        _tables(table, asked, learned)


def _state(k: int) -> str:
    return _("state {k}").format(k=k + 1)


def _matches(table: active.FittableTable, asked: HiddenNodeTask, learned: HiddenColumn) -> None:
    """How many rows of each level have each state as their likeliest; the matched pairs in bold."""
    heads = ["", *(md(table.level(asked.name, level), 24) for level in learned.levels), "P"]
    lines = [heads]
    for k, counts in enumerate(learned.crossed.tolist()):
        cells = [f"**{n}**" if learned.state_of[s] == k else f"{n}" for s, n in enumerate(counts)]
        lines.append([_state(k), *cells, number(float(learned.p[k]), 3)])
    markdown_table(lines)
    st.caption(
        _(
            "Rows of each level by their likeliest state. States have no names and no order: each is matched with "
            "the level (bold) so that most rows agree. P is the state's probability."
        )
    )


def _starts(learned: HiddenColumn) -> None:
    reached = learned.objectives
    if not reached:
        return
    best = sum(value >= reached[0] - 1e-4 * max(1.0, abs(reached[0])) for value in reached)
    top, low = (number(value, 6).replace("-", "−") for value in (reached[0], reached[-1]))
    if best == len(reached):
        st.caption(_("All {n} random starts end at the same maximum: {top} nats.").format(n=best, top=top))
        return
    st.caption(
        _("{best} of {n} random starts end at the best maximum, {top} nats; the worst at {low}.").format(
            best=best, n=len(reached), top=top, low=low
        )
    )


def _draw(table: active.FittableTable, asked: HiddenNodeTask, learned: HiddenColumn) -> None:
    network = learned.model.network_
    names = nearest(network, asked.name, MOST_DRAWN)
    arcs = [(a, b) for a, b in network.graph.arcs if a in names and b in names]
    places = layered(names, arcs)
    nodes = [
        Node(
            n,
            table.column(n),
            *places[n],
            sub=_("hidden") if n == asked.name else "",
            tone="class" if n == asked.name else "",
        )
        for n in names
    ]
    graph(
        nodes,
        [Edge(a, b) for a, b in arcs],
        key="net_hide_graph",
        label=_("the network with its hidden node"),
    )
    if len(names) < len(network.names):
        st.caption(
            _(
                "Drawn are {some} of {all} nodes: the hidden one and those nearest to it by arcs, in the order of the "
                "table. The tables beneath and the saved network have all."
            ).format(some=len(names), all=len(network.names))
        )


def _tables(table: active.FittableTable, asked: HiddenNodeTask, learned: HiddenColumn) -> None:
    """P(child | state) of the columns whose one parent is the hidden node; of the others, which."""
    network, beyond = learned.model.network_, []
    for cpt in network.cpts:
        if [p.name for p in cpt.parents] != [asked.name]:
            if asked.name in [p.name for p in cpt.parents]:
                beyond.append(md(table.column(cpt.name), 40))
            continue
        heads = [md(table.column(cpt.name), 40), *map(_state, range(asked.states))]
        levels = [table.level(cpt.name, v) for v in cpt.variable.levels]
        lines = [[md(level, 40), *(number(float(p), 3) for p in cpt.p[:, i])] for i, level in enumerate(levels)]
        markdown_table([heads, *lines])
    if beyond:
        names = _(", ").join(beyond)
        st.caption(_("With further parents, in the saved file: {names}.").format(names=names))
