"""What the parts of the page share: which one is shown, the axes, the form of covariance, the words for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.mixture_components import FORMS
from pages import active
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import State, bound, bound_to, change, choose, current
from pages.views.hidden import fits

AT_END = (keys.EM_STEP.to(-1),)
"""Another run is shown at its end."""


def choose_part(table: active.FittableTable) -> str:
    """Which labels are hidden, or what else is; a table without two numeric features has no mixture."""
    n = len(fits.numeric_features(table))
    allowed = [p for p in keys.EM_PART.options if n >= 2 or p in ("some", "none")]
    words = {
        "all": _("All labels hidden"),
        "some": _("Some labels hidden"),
        "none": _("No label hidden"),
        "cell": _("A cell missing"),
    }
    offered = {part: words[part] for part in allowed}
    return choose(_("What is hidden"), keys.EM_PART, offered, also=AT_END, titled=False)


def choose_axes(table: active.FittableTable, places: Sequence[Any]) -> tuple[str, str]:
    """The two axes, by their names on screen."""
    names, shown = fits.numeric_features(table), fits.axes(table)
    for axis, (key, words) in enumerate(((keys.EM_X, _("Across")), (keys.EM_Y, _("Up")))):
        places[axis].selectbox(
            words,
            range(len(names)),
            format_func=lambda j: table.column(names[j]),
            **bound(key.widget, shown[axis], _onto(shown, axis)),
        )
    return table.column(names[shown[0]]), table.column(names[shown[1]])


def _onto(shown: tuple[int, int], axis: int) -> Callable[[State, int], State]:
    """Another column on an axis: the axes change places where they would be the same; a start set by hand belonged to
    the old plane."""

    def edit(state: State, j: int) -> State:
        x, y = (j, shown[1]) if axis == 0 else (shown[0], j)
        if x == y:
            x, y = (j, shown[0]) if axis == 0 else (shown[1], j)
        return state.showing(keys.EM_X.to(x), keys.EM_Y.to(y), keys.EM_POINTS.to(()), *AT_END)

    return edit


def choose_components(table: active.FittableTable, place: Any) -> None:
    """How many components; a start set by hand has another number of points then."""
    k = fits.run_in_use(table).k
    place.number_input(
        _("Components K"),
        1,
        max(fits.MOST, k),
        step=1,
        disabled=fits.run_in_use(table).start == "labels",
        **bound_to(keys.EM_K, k, also=(keys.EM_POINTS.to(()), *AT_END)),
    )


def choose_form(table: active.FittableTable, place: Any) -> None:
    """The form of the covariances."""
    place.selectbox(
        _("Covariance"),
        FORMS,
        format_func=covariance_form,
        help=_(
            "Labels seen, a mixture of each form is a classifier: full is QDA, tied is LDA, diagonal is Gaussian "
            "naive Bayes. Columns are standardized inside, so units change nothing, but for spherical."
        ),
        **bound_to(keys.EM_FORM, also=AT_END),
    )


def choose_hard(place: Any) -> None:
    """Hard or soft EM."""
    place.segmented_control(
        _("E step"),
        (False, True),
        format_func=lambda hard: _("hard") if hard else _("soft"),
        required=True,
        help=_(
            "Soft: every row belongs to all components, in shares P(z | x). Hard: it goes wholly to its best component "
            "(«infer the best Z», as the chapter first words it)."
        ),
        **bound_to(keys.EM_HARD, also=AT_END),
    )


def covariance_form(name: str) -> str:
    """A form of covariance on screen."""
    return {
        "full": _("full"),
        "tied": _("tied (one for all)"),
        "diagonal": _("diagonal"),
        "spherical": _("spherical"),
    }[name]


def step_in_use() -> int:
    """The iteration that is shown; −1 is the last."""
    return current().seen(keys.EM_STEP)


def keep_step(t: int) -> None:
    """A step was chosen in the player."""
    change(lambda s: s.showing(keys.EM_STEP.to(t)))


def classes(table: active.FittableTable) -> list[str]:
    """The classes as they are called on screen."""
    return [table.class_(c) for c in table.classes]


def say_if_sampled(table: active.FittableTable, drawn: int) -> None:
    """Says it where not every row is drawn."""
    n = len(table.parts.X)
    if drawn < n:
        st.caption(
            _("Drawn is a sample of {drawn} rows; all {n} are in the fit and in its numbers.").format(drawn=drawn, n=n)
        )


def errata() -> None:
    """Where the source text on EM is misprinted or says too much."""
    st.caption(
        ":material/history_edu: "
        + _(
            "The source text writes LL(Θ|X, Z) with a sum over Z: that is LL(Θ|X). And «the closer Z is to the truth, "
            "the better Θ» is no property of EM: what never falls is the objective."
        )
    )


def engine_message(message: Any) -> None:
    """What the engine has to say, in its own words."""
    st.warning(whole_message(message), icon=":material/warning:")


def whole_message(message: Any) -> str:
    """A message of the engine whose parts may be sentences themselves."""
    told: str = message.local(lambda value: md(value, 400))
    return told


def power_of_ten(value: float) -> str:
    """A power of ten as it is written by hand."""
    return "10" + f"{value:.0e}".split("e")[1].replace("-0", "⁻").translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
