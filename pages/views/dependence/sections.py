"""The parts of the page, and of the first the choice between the map and the tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from pages import active
from pages.active import predicting, units
from pages.components.held_back import held_back
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.widgets import choose
from pages.views.dependence.cells import draw_list, draw_map
from pages.views.dependence.dependences import (
    Dependences,
    choose_cut_method,
    chosen_pair,
    is_overall,
    is_tree,
    why_no_pair,
)
from pages.views.dependence.pair import contingency_tables
from pages.views.dependence.spanning_tree import choose_root, chosen_edges, tree_growth


def sections(drawn: Mapping[str, Callable[[], None]]) -> None:
    """The page's parts, of which one is drawn."""
    titles = {
        "pairs": _("Pairs"),
        "super-parents": _("Super-parents"),
        "dial": _("Does it matter?"),
        "twice": _("Counted twice"),
        "doubled": _("A feature doubled"),
        "examples": _("Two interactive examples"),
    }
    shown = choose(_("Part of the page"), keys.DEPENDENCE_TAB, {name: titles[name] for name in drawn}, titled=False)
    try:
        if predicting.shows(f"dependence/{shown}"):
            drawn[shown]()
        else:
            held_back(active.fittable(active.table_in_use()))
    except BayesEngineError as error:
        st.warning(error.message.local(md))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        units.choose_evidence_unit()
        units.choose_loss_unit()


def pairs(table: active.FittableTable, dependences: Dependences) -> None:
    """The map or the tree beside the list of pairs; the pair that is chosen, opened beneath."""
    if not dependences.pairs:
        why_no_pair(table, dependences)
        return
    overall = is_overall()
    ordered = sorted(dependences.pairs, key=lambda p: -p.of(overall).dependence.information)
    chosen = chosen_pair(table, ordered)
    figure, listed = st.columns(2, gap="small")
    with figure:
        if is_tree():
            tree_growth(table, dependences, chosen)
        else:
            draw_map(table, dependences, chosen)
    with listed:
        draw_list(table, dependences, ordered, chosen)
    _controls(table, dependences)
    by_chance = st.container()  # filled last: it takes the longest
    contingency_tables(table, dependences, chosen)
    if is_tree():
        with by_chance:
            chosen_edges(table, dependences)


def _controls(table: active.FittableTable, dependences: Dependences) -> None:
    """Map or tree, and what each of them can be asked."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if choose(_("View"), keys.DEPENDENCE_VIEW, {"map": _("Map"), "tree": _("Tree")}) == "tree":
            choose_root(table, dependences)
        else:
            of = {"class": _("given the class"), "overall": _("overall")}
            choose(_("Dependence"), keys.DEPENDENCE_OF, of, also=(keys.PAIR_CELL.to(()),))
            orders = {"table": _("as in the table"), "clustered": _("alike side by side")}
            choose(_("Order"), keys.DEPENDENCE_ORDER, orders)
        if any(v.numeric for v in table.features):
            choose_cut_method(table)
