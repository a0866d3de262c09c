"""The maximum spanning tree, growing edge by edge."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.numerals import certain, number, p_value, signed
from bayes_engine.workbench.derivation.dependence import Pair
from bayes_engine.workbench.derivation.tree_growth import (
    ChosenEdge,
    Growth,
    TreeByChance,
    edges_of_case,
    posteriors_by_root,
    tree_by_chance,
)
from bayes_engine.workbench.figures.graph_layout import Places, circle
from bayes_engine.workbench.figures.graph_layout import tree as tidy
from pages import active
from pages.active import units
from pages.active.dependence_models import spec_of
from pages.components.film import film_bar, film_frame, step_shown
from pages.components.graph import Click, Clicking, Edge, EdgeTone, Node, graph
from pages.components.tables import Head, word_table
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.job_queue import in_worker
from pages.runtime.state import change, current
from pages.runtime.widgets import bound_to
from pages.views.dependence.dependences import Dependences, chosen_pair, column_name, edge_name, with_pair
from pages.views.dependence.parents import shelve

ROUND = 10
"""Up to so many columns stand in a ring while the tree grows, with all pairs as edges."""
ARCS = 16
"""Up to so many columns every weight is written and every arc from the class drawn."""
ROOTS = 32
"""The tree is hung from up to so many columns."""
CLASS = "y"
"""The id of the class among the nodes."""
PACE = 0.9
"""Seconds between two steps of the tree."""


def choose_root(table: active.FittableTable, dependences: Dependences) -> None:
    """The choice of the root; at first the model's own."""
    features, root = table.features.names, current().seen(keys.TREE_ROOT)
    offered = [-1, *(i for i, name in enumerate(features) if name in dependences.names)]
    own = dependences.growth.root if root not in offered[1:] else None
    most_telling = _("most informative of the class") + ("" if own is None else _(": ") + clean(table.column(own), 24))
    named_by = {i: clean(table.column(features[i]), 30) if i >= 0 else most_telling for i in offered}
    st.selectbox(
        _("Root"),
        offered,
        format_func=named_by.__getitem__,
        help=_(
            "The root is the column most informative about the class. Without smoothing, on complete "
            "data, any root gives the same joint."
        ),
        width=320,
        **bound_to(keys.TREE_ROOT, root if root in offered else -1),
    )


def _last(grown: Growth) -> int:
    """The last step of the film: the edges, then the root, then the class."""
    return len(grown.steps) + 2


def tree_growth(table: active.FittableTable, dependences: Dependences, chosen: Pair) -> None:
    """The tree at a step of its growth, with the player; where it plays, steps follow each other."""
    film_frame(
        lambda: _player(table, dependences, chosen),
        keys.TREE_PLAYS,
        over=lambda: chosen_pair(table, dependences.pairs) != chosen,
    )


def _player(table: active.FittableTable, dependences: Dependences, chosen: Pair) -> None:
    grown = dependences.growth
    step = step_shown(keys.TREE_STEP, _last(grown))
    film_bar(step, _last(grown), key="tree_film", step_key=keys.TREE_STEP, plays=keys.TREE_PLAYS, pace=PACE)
    st.markdown(_step_in_words(table, dependences, step))
    nodes, edges = _drawn(table, dependences, step)
    ends = _ends(table, chosen.edge, edges)

    def pick(click: Click) -> None:
        if click[0] == "edge" and click[1] != CLASS:  # what the class and a column share is not a pair
            change(with_pair(table, [table.features.names[int(end)] for end in click[1:]]))

    graph(
        nodes,
        edges,
        key="dependence_tree",
        selected=ends,
        height=620,
        clicking=Clicking(pick, {"edge"}),
        label=_("the maximum spanning tree"),
    )
    st.caption(
        _(
            "Sum of the weights so far: {amount} {unit}. The wider a line, the more its two columns tell about each "
            "other given {y}."
        ).format(
            amount=f"{units.evidence(grown.total_after(step)):.5f}",
            unit=units.evidence_unit(),
            y=column_name(table, table.target.name),
        )
    )
    if step > 0:
        _of_case(table, dependences, step)
    if step > len(grown.steps):
        _roots_differ(table, dependences)
    if step >= len(grown.steps):
        shelve(table, [spec_of(table, "tan")])


def _of_case(table: active.FittableTable, dependences: Dependences, step: int) -> None:
    """What the edges so far add to the likelihood of the case in use."""
    case = active.case_frame(table, active.case_values(table))
    edges = [e.edge for e in dependences.growth.taken(step)]
    with suppress(BayesEngineError):  # the case has no value in one of the columns
        adds = edges_of_case(dependences.model, edges, case).tolist()
        by_class = dict(zip(dependences.model.classes_.tolist(), adds, strict=True))
        values = (f"{md(table.class_(c), 24)} **{signed(units.evidence(by_class[c]), 4)}**" for c in table.classes)
        sentence = _(
            "To $\\log P(x\\mid c)$ of the case in use they add, in {unit}: {values}. The mean of that over the rows, "
            "each in its class, is the sum of the weights."
        )
        st.caption(sentence.format(unit=units.evidence_unit(), values=_(", ").join(values)))


def chosen_edges(table: active.FittableTable, dependences: Dependences) -> None:
    """The tree's edges beside those of trees grown on shuffled tables."""
    if not dependences.growth.total:
        return
    chance = _by_chance(dependences)
    if chance is None:
        st.caption(_("Rows have weights that are no whole numbers, so no table can be shuffled to see what is chance."))
        return
    by_edge = {p.edge: p.given_class for p in dependences.pairs}
    unit = units.evidence_unit()

    def line(name: str, edge: ChosenEdge, own: list[str]) -> list[str]:
        weights = (f"{units.evidence(v):.4f}" for v in (edge.weight, edge.chance))
        return [name, *weights, p_value(edge.p, is_bound=edge.p <= 1 / (1 + chance.draws)), *own]

    lines = []
    for e in chance.edges:
        pair = by_edge.get(e.edge)
        own = (
            ["", ""]
            if pair is None
            else [f"{units.evidence(pair.chance):.4f}", p_value(pair.p, is_bound=pair.is_bound)]
        )
        lines.append(line(" – ".join(clean(table.column(n), 24) for n in e.edge), e, own))
    word_table(
        [
            Head(_("edge")),
            Head(unit, width=70, right=True),
            Head(
                _("by chance, chosen"),
                _("The edge of the same rank in trees grown on shuffled tables, on average."),
                right=True,
            ),
            Head("p", _("The share of those trees whose edge of this rank weighs as much."), width=66, right=True),
            Head(_("by chance"), _("What this pair comes to by chance, whether chosen or not."), right=True),
            Head(_("p of the pair"), _("Before any correction."), right=True),
        ],
        [*lines, line(_("all edges"), chance.total, ["", ""])],
        key="tree_by_chance",
        label=_("the tree's edges and what they would be by chance"),
        height=320,
    )
    st.caption(
        _("A tree chooses the heaviest edges, so they are heavy by chance too: each is compared with the edge of the "
          "same rank in {n} trees refitted to tables whose columns are shuffled within each class.").format(
            n=f"{chance.draws:,}"
        )
    )  # fmt: skip


@cached(max_entries=32, activity=Message("growing trees on shuffled tables"))
def _by_chance(dependences: Dependences) -> TreeByChance | None:
    return in_worker(tree_by_chance, dependences.model, dependences.growth)


def _roots_differ(table: active.FittableTable, dependences: Dependences) -> None:
    """How much the choice of the root moves the posterior of the case in use."""
    names = dependences.names[:ROOTS]
    ledger = dependences.model.explain(case := active.case_frame(table, active.case_values(table)))
    if ledger.status[0] or len(names) < 2:
        return
    k = int(ledger.posterior()[0].argmax())
    shares = posteriors_by_root(dependences.model, case, names)[:, k]
    sentence = _(
        "Smoothed with α = {alpha:g}, the root matters a little: from root to root (of {n}), P({name}) of the case in "
        "use lies between {low} and {high}."
    )
    name = md(table.class_(ledger.classes[k]), 24)
    low, high = (certain(float(p), 6) for p in (shares.min(), shares.max()))
    st.caption(sentence.format(alpha=dependences.model.alpha, n=len(names), name=name, low=low, high=high))


def _step_in_words(table: active.FittableTable, dependences: Dependences, step: int) -> str:
    grown = dependences.growth
    if step == 0:
        return _("Every two columns are joined by an edge, its weight $I(x_i;x_j\\mid y)$; the heaviest come first.")
    if step <= len(grown.steps):
        now = grown.steps[step - 1]
        chance = next((p.given_class.chance for p in dependences.pairs if p.edge == now.edge), 0.0)
        fields = {
            "k": step,
            "edge": f"**{edge_name(table, now.edge)}**",
            "amount": units.evidence_text(now.weight),
            "chance": units.evidence_text(chance),
            "way": edge_name(table, grown.cycle(step - 1)),
        }
        sentence = (
            _("Step {k}: {edge}, {amount} (by chance {chance}), is taken.")
            if now.taken
            else _("Step {k}: {edge}, {amount}, is left out, for it would close a cycle with {way}.")
        )
        return sentence.format(**fields)
    if step == len(grown.steps) + 1:
        sentence = (
            _(
                "The tree is complete; the {n} remaining lighter pairs are not needed. All edges now "
                "point away from {root}."
            )
            if len(grown.roots) == 1
            else _(
                "No pair that is left joins the {parts} parts: between them every weight is 0. All edges now point "
                "away from {root}."
            )
        )
        return sentence.format(n=grown.left, parts=len(grown.roots), root=_root(table, dependences))
    sentence = _("TAN: every column also depends on {y} (dotted), and all but {root} on one other column.")
    if len(grown.names) > ARCS:
        sentence = _(
            "TAN: every column also depends on {y} (dotted; drawn to {root} alone), and all but {root} on one other "
            "column."
        )
    return sentence.format(y=f"**{column_name(table, table.target.name)}**", root=_root(table, dependences))


def _root(table: active.FittableTable, dependences: Dependences) -> str:
    return _(", ").join(f"**{column_name(table, name)}**" for name in dependences.growth.roots)


def _drawn(table: active.FittableTable, dependences: Dependences, step: int) -> tuple[list[Node], list[Edge]]:
    """Nodes and edges at a step; a node's id is its column's position."""
    grown, names = dependences.growth, table.features.names
    ids = {name: str(i) for i, name in enumerate(names)}
    pointed = step > len(grown.steps)
    few = len(grown.names) <= ROUND
    root = grown.root or grown.names[0]
    places = circle(grown.names) if few and not pointed else _places(grown)
    weights = {frozenset(s.edge): s.weight for s in grown.steps}

    def line(edge: Sequence[str], tone: EdgeTone = "", *, arrow: bool = False) -> Edge:
        w = weights.get(frozenset(edge), 0.0)
        label = number(units.evidence(w)) if tone != "faint" and (len(grown.names) <= ARCS or tone) else ""
        share = w / (grown.most or 1.0)
        return Edge(ids[edge[0]], ids[edge[1]], label, 0.0 if tone == "faint" else share, arrow, tone)

    edges: list[Edge] = []
    if pointed:
        edges = [line(arc, arrow=True) for arc in grown.arcs]
    else:
        now = grown.steps[step - 1] if step else None
        edges = [line(s.edge) for s in grown.taken(max(step - 1, 0))]
        edges += [line(now.edge, "new" if now.taken else "rejected")] if now else []
        passed = {s.edge for s in grown.steps[:step]}
        if few:
            edges += [line(p.edge, "faint") for p in dependences.pairs if p.edge not in passed]
    with_class = step == _last(grown)
    down = 1.0 if with_class else 0.0
    nodes = [
        Node(ids[n], table.column(n), x, y + down, tone="super" if pointed and n == root else "")
        for n, (x, y) in places.items()
    ]
    if with_class:
        middle = places[root][0]
        nodes.append(Node(CLASS, table.column(table.target.name), middle, 0.0, tone="class"))
        edges += [Edge(CLASS, ids[n], tone="class") for n in (grown.names if len(grown.names) <= ARCS else grown.roots)]
    return nodes, edges


def _places(grown: Growth) -> Places:
    """The tree, or where nothing joins its parts the trees side by side."""
    places: Places = {}
    right = 0.0
    below = {name: [arc for arc in grown.arcs if arc[0] == name] for name in grown.names}
    for root in grown.roots:
        own = list(below[root])
        for _parent, child in own:  # it grows while we walk
            own += below[child]
        beside = tidy(root, own)
        places |= {name: (x + right, y) for name, (x, y) in beside.items()}
        right += max(x for x, _y in beside.values()) + 1.0
    return places


def _ends(table: active.FittableTable, edge: Sequence[str], edges: Sequence[Edge]) -> tuple[str, str] | None:
    """The ends of the chosen pair as its edge has them, if it is drawn."""
    ids = {str(table.features.names.index(name)) for name in edge}
    return next(((e.source, e.target) for e in edges if {e.source, e.target} == ids), None)
