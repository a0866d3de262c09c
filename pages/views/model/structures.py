"""What a semi-naive model or a network found its columns to depend on, in a line beneath the shelf."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.network_classifier import BayesianNetworkClassifier
from bayes_engine.models.one_dependence import SPODE, TAN
from pages import active
from pages.runtime.escape import md
from pages.views.model import weights_and_selection

MOST = 12
"""So many arcs of a network are written out."""


def structure_in_a_line(table: active.FittableTable, fitted: active.Fitted) -> None:
    """What a semi-naive model chose: the super-parent and how it did, the root, the arcs; in a line."""
    spec, model = fitted.spec, fitted.model
    weights_and_selection.weights_or_selection(table, fitted)
    if isinstance(model, BayesianNetworkClassifier):
        _network(table, model)
        return
    if spec.family not in ("spode", "tan", "aode", "k-db"):
        return

    def named(name: str) -> str:
        return md(table.column(name), 30)

    if not any(v.discrete for v in model.schema_):
        st.caption(_("No column is discrete here, and only such a one can be a parent: this is naive Bayes."))
    elif isinstance(model, SPODE) and model.super_parent == "loo":
        best = _(", ").join(
            _("{column} {right} right, log-loss {loss}").format(
                column=f"**{named(name)}**" if k == 0 else named(name), right=f"{accuracy:.1%}", loss=f"{loss:.3f}"
            )
            for k, (name, accuracy, loss) in enumerate(model.candidate_scores_.head(3).itertuples())
        )
        st.caption(_("The best super-parents, leaving out one row at a time: {best}.").format(best=best))
    elif isinstance(model, TAN) and model.tree_:
        tops = {
            parent: None for parent, _child in model.tree_ if parent not in {child for _parent, child in model.tree_}
        }
        roots = _(", ").join(f"**{named(name)}**" for name in tops)
        st.caption(_("The tree is directed away from {root}.").format(root=roots))


def _network(table: active.FittableTable, model: BayesianNetworkClassifier) -> None:
    """The arcs of a network, and the class's Markov blanket: all that a complete row's posterior hangs on."""

    def named(names: Sequence[str]) -> str:
        return _(", ").join(f"**{md(table.column(name), 30)}**" for name in names)

    graph, target = model.graph_, table.target.name
    shown = [f"{md(table.column(a), 24)} → {md(table.column(b), 24)}" for a, b in graph.arcs[:MOST]]
    more = _(" and {n} more").format(n=len(graph.arcs) - MOST) if len(graph.arcs) > MOST else ""
    sentences = (
        [_("Arcs: {arcs}.").format(arcs=_(", ").join(shown) + more)] if shown else [_("The network has no arc.")]
    )
    if graph.parents[target]:
        sentences.append(_("The class has parents: {names}.").format(names=named(graph.parents[target])))
    if model.blanket_:
        sentences.append(
            _("A complete row's posterior hangs on the class's Markov blanket alone: {names}.").format(
                names=named(model.blanket_)
            )
        )
    st.caption(" ".join(sentences))
