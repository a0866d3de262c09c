"""What the parts of the page share: which one is shown, the axes, the form of covariance, the words for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.language import Message, _
from bayes_engine.models.mixture_components import FORMS
from pages import active
from pages.active import em_fits as fits
from pages.components.axes import choose_axes
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.widgets import bound_to, choose

AT_END = (keys.EM_STEP.to(-1),)
"""Another run is shown at its end."""


def choose_part(table: active.FittableTable) -> str:
    """Which labels are hidden, or what else is; a table without two numeric features has no mixture."""
    n = len(fits.numeric_features(table))
    words = {
        "all": _("All labels hidden"),
        "some": _("Some labels hidden"),
        "none": _("No label hidden"),
        "cell": _("A cell missing"),
        "classes": _("All labels hidden: naive Bayes") if n >= 2 else _("All labels hidden"),
    }
    without = ("some", "none", "classes")
    texts = any(v.textual for v in table.features)
    offered = {p: named for p, named in words.items() if (n >= 2 or p in without) and (p != "classes" or texts)}
    return choose(_("What is hidden"), keys.EM_PART, offered, also=AT_END, titled=False)


def plane_names(table: active.FittableTable) -> tuple[str, str]:
    """The two axes in use, by their names on screen."""
    names, (x, y) = fits.numeric_features(table), fits.axes(table)[:2]
    return table.column(names[x]), table.column(names[y])


def choose_plane(table: active.FittableTable, places: Sequence[Any]) -> tuple[str, str]:
    """The choice of the two axes, and their names on screen."""
    names, shown = fits.numeric_features(table), fits.axes(table)
    options = {j: table.column(name) for j, name in enumerate(names)}
    old_plane = (keys.EM_POINTS.to(()), *AT_END)  # a start set by hand belonged to it
    choose_axes(places, {keys.EM_X: _("Across"), keys.EM_Y: _("Up")}, shown, options, also=old_plane)
    return plane_names(table)


def choose_components(table: active.FittableTable, place: Any) -> None:
    """How many components; a start set by hand has another number of points then."""
    run = fits.run_in_use(table)
    place.number_input(
        _("Components K"),
        1,
        max(fits.MOST, run.k),
        step=1,
        disabled=run.start == "labels",
        **bound_to(keys.EM_K, run.k, also=(keys.EM_POINTS.to(()), *AT_END)),
    )


def choose_form(table: active.FittableTable, place: Any) -> None:
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
    return {
        "full": _("full"),
        "tied": _("tied (one for all)"),
        "diagonal": _("diagonal"),
        "spherical": _("spherical"),
    }[name]


def classes(table: active.FittableTable) -> list[str]:
    return [table.class_(c) for c in table.classes]


def component_names(k: int) -> list[str]:
    """The components, which have no names of their own."""
    return [_("component {k}").format(k=i + 1) for i in range(k)]


def crosstab(table: active.FittableTable, counts: Any) -> None:
    """How many rows of each class are in each component."""
    columns = [clean(c, 40) for c in classes(table)]
    st.dataframe(pd.DataFrame(counts, index=component_names(len(counts)), columns=columns), width="content")


def objective_name(*, hard: bool, prior: bool) -> str:
    """What EM climbs."""
    name = _("classification likelihood") if hard else _("log-likelihood")
    return _("{name} + log prior").format(name=name) if prior else name


def exact(value: float) -> str:
    """A log-likelihood to five decimals."""
    return f"{value:.5f}".replace("-", "−")


def caption_if_sampled(table: active.FittableTable, drawn: int) -> None:
    """Says it where not every row is drawn."""
    n = len(table.parts.X)
    if drawn < n:
        st.caption(
            _("A sample of {drawn} rows is drawn; all {n} are in the fit and in its numbers.").format(drawn=drawn, n=n)
        )


def engine_message(message: Message) -> None:
    st.warning(whole_message(message), icon=":material/warning:")


def whole_message(message: Message) -> str:
    """A message of the engine whose parts may be sentences themselves."""
    return message.local(lambda value: md(value, 400))


def power_of_ten(value: float) -> str:
    """A power of ten as it is written by hand."""
    return "10" + f"{value:.0e}".split("e")[1].replace("-0", "⁻").translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
