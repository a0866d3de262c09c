"""The active model's parameters: what it does, in a line, and all of estimation that can be set, over its preset."""

from __future__ import annotations

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.models.network_classifier import SEARCHED
from pages import active
from pages.active import words
from pages.active.shelf import (
    choose_model,
    edit_shelf,
)
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import Spec, current, end_page
from pages.runtime.widgets import bound_to
from pages.views.model.parameters import BINNED, acting, parameter_widgets, prior_by_hand


def summary(table: active.FittableTable, spec: Spec) -> str:
    """What the model does, in a line: of its parameters those that act on this table, and those that differ."""
    values, on = active.settings(spec), acting(table, spec)
    smoothed = ["alpha"] if values.get("smoothing") != "none" else []
    shown = [
        *("objective", "largest", "direction"),
        *(["criterion"] if spec.family == "selective" else []),
        *("super_parent", "root", "k", "structure"),
        *(("criterion", "max_parents") if spec.family == "network" and values.get("structure") in SEARCHED else ()),
        *(["smoothing", *smoothed] if on.counted else []),
        *("priors", "shrinkage", "min_frequency"),
        *(["discretize"] if on.numbers else []),
        *(["terms", "counting"] if any(v.textual for v in table.features) else []),
        *(["bins"] if on.numbers and values.get("discretize") in BINNED else []),
        *(["variance"] if on.gaussian and spec.family not in ("lda", "qda") else []),
    ]
    searched = spec.family != "network" or values["structure"] in SEARCHED
    idle = set() if searched else {"criterion", "max_parents"}
    others = [name for name, _value in spec.parameters if name not in shown and name not in idle]
    return " · ".join(words.setting(name, values[name], table) for name in [*shown, *others] if name in values)


def choose_fitted_model(table: active.FittableTable) -> active.Fitted:
    """The shelf with the parameters of its active model, fitted; where one forbids the fit, the page ends with why, and
    it can be turned back here."""
    spec = choose_model(table)
    try:
        fitted = active.fit(table, spec)
    except BayesEngineError as error:
        _panel(table, spec, tuple(1.0 / len(table.classes) for _label in table.classes))
        st.error(error.message.local(md))
        end_page()
    _panel(table, spec, tuple(fitted.prior[c] for c in table.classes))
    return fitted


def _panel(table: active.FittableTable, spec: Spec, prior: tuple[float, ...]) -> None:
    """What the model does, in a line; and where it is unfolded the shelf, the family, and all of estimation that can be
    turned over the preset. `prior` is what setting it by hand starts from."""
    st.caption(f"{words.family(spec.family)} · {md(summary(table, spec), 400)}")
    settings = st.expander(_("Settings"), icon=":material/tune:", **bound_to(keys.PARAMETERS_OPEN))
    if not current().seen(keys.PARAMETERS_OPEN):
        return
    with settings:
        edit_shelf(table)
        widgets = parameter_widgets(table, spec, prior)
        for start in range(0, len(widgets), 4):
            for draw, cell in zip(widgets[start : start + 4], st.columns(4, gap="medium"), strict=False):
                with cell:
                    draw()
        by_hand = active.setting(spec, "priors")
        if isinstance(by_hand, tuple):
            prior_by_hand(table, by_hand)
