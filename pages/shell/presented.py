"""What presenter mode shows of each page: its one figure and its one sentence, by the keys under which the page draws
them. This is the one place that says so; a page that is not named here has no presenter mode, and a test says that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from pages.runtime import view_keys as keys
from pages.runtime.state import State

TITLE = "page_title"
"""The page's title, where no sentence of the page sums up its figure."""


class Presented(NamedTuple):
    """The keys of a figure, of which the page draws the one that it has, of a sentence, and of controls of the page's
    own that the figure depends on."""

    figure: tuple[str, ...]
    sentence: str = TITLE
    controls: tuple[str, ...] = ()


def _always(*figure: str, sentence: str = TITLE) -> Callable[[State], Presented]:
    return lambda _state: Presented(figure, sentence)


def _model(state: State) -> Presented:
    return {
        "conditionals": Presented(("conditional_drawn",)),
        "compare": Presented(("compare_scores",), "compare_sentence"),
        "ways": Presented(("ways_work",)),
    }[state.seen(keys.MODEL_VIEW)]


def _case(state: State) -> Presented:
    return {
        "decision": Presented(("case_waterfall",), "case_sentence"),
        "nomogram": Presented(("nomogram_drawn",), "case_sentence"),
        "ask": Presented(("ask_values",), "ask_sentence"),
    }[state.seen(keys.CASE_VIEW)]


def _dependence(state: State) -> Presented:
    figure = {
        "pairs": ("dependence_map", "dependence_tree"),
        "super-parents": ("super_parent_scores",),
        "dial": ("dial_drawn",),
        "twice": ("twice_waterfall",),
        "doubled": ("copies_figure",),
        "examples": (f"example_{keys.LIFTERS.name}",),
    }[state.seen(keys.DEPENDENCE_TAB)]
    return Presented(figure, "dependence_sentence")


def _network(state: State) -> Presented:
    return {
        "learn": Presented(("learn_film", "learn_hand"), "learn_sentence"),
        "ask": Presented(("net_graph", "net_costs")),
        "hidden": Presented(("net_hide_graph",)),
        "gibbs": Presented(("net_g_walk",), "gibbs_sentence"),
    }[state.seen(keys.NET_TAB)]


def _laboratory(state: State) -> Presented:
    return {
        "densities": Presented(("laboratory", "lab_cells_figure"), "lab_sentence", ("lab_losses",)),
        "rates": Presented(("lab_people",), "lab_sentence"),
        "likelihood": Presented(("lab_surface", "lab_share")),
        "fitted": Presented(("fitted",)),
        "smoothing": Presented(("smoothing",)),
        "rare": Presented(("lab_rare",), "lab_sentence"),
        "underflow": Presented(("lab_underflow",), "lab_sentence"),
    }[state.seen(keys.LAB_TAB)]


PRESENTED: Mapping[str, Callable[[State], Presented]] = {
    "start": _always("start_plane", sentence="settles_verdict"),
    "data": _always("class_counts", sentence="table_summary"),
    "model": _model,
    "decisions": _always("decisions_plane", sentence="settles_verdict"),
    "case": _case,
    "classify": _always("results", "example_rows"),
    "dependence": _dependence,
    "network": _network,
    "projection": _always("projection", sentence="line_sentence"),
    "hidden": _always("em_film", "em_labels_film", "em_none_film", "em_filled"),
    "laboratory": _laboratory,
    "chapter": _always("chapter_drawn"),
}
"""By the names of the pages."""
