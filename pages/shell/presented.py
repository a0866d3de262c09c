"""What presenter mode shows of each page: its one figure and its one sentence, by the keys under which the page draws
them. This is the one place that says so; a page that is not named here has no presenter mode, and a test says that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from bayes_engine.language import _
from bayes_engine.workbench.lessons.built_in import lessons
from pages.runtime import view_keys as keys
from pages.runtime.state import State

TITLE = "page_title"
"""The page's title, where no sentence of the page sums up its figure."""


class OwnSmoothing(NamedTuple):
    """The smoothing that a page has of its own, by the key of the state, what it is called, up to where it is slid,
    and what is set with it."""

    key: keys.ViewKey[float]
    label: str
    most: float
    also: tuple[keys.Setting, ...] = ()


class Presented(NamedTuple):
    """The keys of a figure, of which the page draws the one that it has, of a sentence, and of controls of the page's
    own that the figure depends on.

    What of a page's chips the figure depends on stays at hand: "smoothing" is that of the active model, `own` one that
    the page has instead."""

    figure: tuple[str, ...]
    sentence: str = TITLE
    controls: tuple[str, ...] = ()
    at_hand: tuple[str, ...] = ("smoothing", "losses")
    own: OwnSmoothing | None = None


def _always(*figure: str, sentence: str = TITLE) -> Callable[[State], Presented]:
    return lambda _state: Presented(figure, sentence)


def _model(state: State) -> Presented:
    """Of the class-conditionals how many numbers they take, where a lesson asks for that or for their rows."""
    lesson = lessons().get(state.seen(keys.LESSON))
    asked = None if lesson is None or lesson.answer is None else lesson.answer.quantity
    counts = asked in ("model_numbers", "fewest_case_rows")
    return {
        "conditionals": Presented(("model_numbers",), at_hand=())
        if counts
        else Presented(("conditional_drawn",), at_hand=("smoothing",)),
        "compare": Presented(("compare_scores",), "compare_sentence"),
        "ways": Presented(("ways_work",), at_hand=("smoothing",)),
    }[state.seen(keys.MODEL_VIEW)]


def _case(state: State) -> Presented:
    figure, sentence = "case_waterfall", "case_sentence"
    if state.seen(keys.FILL):  # the verdict would give the blanks away
        figure, sentence = "factors", TITLE
    elif state.seen(keys.FACTOR) >= 0:
        figure = "opened"
    elif state.seen(keys.MARGINS):
        figure = "margins"
    return {
        "decision": Presented((figure,), sentence),
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
    }[tab := state.seen(keys.DEPENDENCE_TAB)]
    own = OwnSmoothing(keys.DIAL_ALPHA, "α", 10.0) if tab in ("dial", "twice", "doubled") else None
    return Presented(figure, "dependence_sentence", (), ("losses",) if tab in ("dial", "twice") else (), own)


def _network(state: State) -> Presented:
    tables = OwnSmoothing(keys.NET_ALPHA, "α", 10.0, (keys.NET_CPTS.to(()),))
    at_end = (keys.LEARN_STEP.to(-1), keys.LEARN_PLAYS.to(False))
    score = OwnSmoothing(keys.LEARN_SAMPLE, _("Equivalent sample size of BDeu"), 100.0, at_end)
    from_table = tables if state.seen(keys.NET) == "table" else None
    return {
        "learn": Presented(
            ("learn_film", "learn_hand"), "learn_sentence", own=score if state.seen(keys.NET_SCORE) == "bdeu" else None
        ),
        "ask": Presented(("net_graph", "net_costs"), own=from_table),
        "hidden": Presented(("net_hide_graph",), own=tables),
        "gibbs": Presented(("net_g_walk",), "gibbs_sentence", own=from_table),
    }[state.seen(keys.NET_TAB)]


def _projection(state: State) -> Presented:
    """The line, unless a section beneath it was asked for."""
    return {
        "": Presented(("projection",), "line_sentence"),
        "planes": Presented(("planes_drawn",)),
        "demo": Presented(("three_boundaries",), "demo_sentence"),
        "dial": Presented(("dial_path",)),
        "naive": Presented(("before_naive",), "before_sentence"),
    }[state.seen(keys.SECTION)]


def _laboratory(state: State) -> Presented:
    return {
        "densities": Presented(("laboratory", "lab_cells_figure"), "lab_sentence", ("lab_losses",)),
        "rates": Presented(("lab_people",), "lab_sentence"),
        "likelihood": Presented(("lab_surface", "lab_share")),
        "fitted": Presented(("fitted",), at_hand=()),
        "smoothing": Presented(("smoothing",), at_hand=("losses",), own=OwnSmoothing(keys.LAB_M, "m", 20.0)),
        "rare": Presented(("lab_rare",), "lab_sentence", at_hand=(), own=OwnSmoothing(keys.LAB_RARE_ALPHA, "α", 10.0)),
        "underflow": Presented(("lab_underflow",), "lab_sentence"),
    }[state.seen(keys.LAB_TAB)]


PRESENTED: Mapping[str, Callable[[State], Presented]] = {
    "start": _always("start_plane", sentence="settles_verdict"),
    "data": _always("class_counts", sentence="table_summary"),
    "model": _model,
    "decisions": _always("decisions_plane", sentence="settles_verdict"),
    "case": _case,
    "classify": _always("results", "large_answers", "example_rows"),
    "dependence": _dependence,
    "network": _network,
    "projection": _projection,
    "hidden": _always("em_film", "em_labels_film", "em_none_film", "em_filled"),
    "laboratory": _laboratory,
    "chapter": _always("chapter_drawn"),
}
"""By the names of the pages."""
