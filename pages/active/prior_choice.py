"""The Dirichlet prior of the conditional tables as a parameter: of which kind it is, and its pseudo-counts.

In the state it is a number, Lidstone's α for each level, or ("m", rows a distribution, base), or ("ess", rows a table).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.numerals import count
from pages.runtime.state import State
from pages.runtime.widgets import control

BY_LEVEL = {"none": 0.0, "laplace": 1.0, "jeffreys": 0.5}
"""The kinds that are an α with a name."""
KINDS = ("none", "laplace", "lidstone", "jeffreys", "m-estimate", "ess")
BASES = ("marginal", "uniform")
Value = Any
Edit = Callable[[State, Any], State]


def kind_of(value: Value) -> str:
    if isinstance(value, tuple):
        return {"m": "m-estimate", "ess": "ess"}[value[0]]
    return next((kind for kind, alpha in BY_LEVEL.items() if alpha == value), "lidstone")


def default_of(kind: str) -> Value:
    return {**BY_LEVEL, "lidstone": 0.1, "m-estimate": ("m", 2.0, "marginal"), "ess": ("ess", 10.0)}[kind]


def kind_name(kind: str) -> str:
    return {
        "none": _("none: maximum likelihood"),
        "laplace": _("Laplace, α = 1"),
        "lidstone": _("Lidstone, α of your own"),
        "jeffreys": _("Jeffreys, α = ½"),
        "m-estimate": _("m-estimate"),
        "ess": _("equivalent sample size"),
        "zero-only": _("zeros only"),
    }[kind]


def text(value: Value) -> str:
    """A prior in a few words: «α = 0.5», «m-estimate, m = 2»."""
    if not isinstance(value, tuple):
        return f"α = {count(value)}"
    if value[0] == "ess":
        return _("equivalent sample size {n}").format(n=count(value[1]))
    if value[2] == "uniform":
        return _("m-estimate, m = {m}, evenly").format(m=count(value[1]))
    return _("m-estimate, m = {m}").format(m=count(value[1]))


def kinds_help(*, zeros: bool = False) -> str:
    text = _(
        "Pseudo-counts, added before any row is counted. Laplace, Lidstone, Jeffreys: α for each level. m-estimate: m "
        "for each class, shared out among the levels. Equivalent sample size: so many for the whole table."
    )
    if zeros:
        text += " " + _("Zeros only: the whole attribute–class pair that has a zero, nothing else.")
    return text


def choose_kind(key: str, stands: str, kinds: Sequence[str], edit: Edit, *, off: bool = False, about: str = "") -> None:
    st.selectbox(
        _("Smoothing"),
        kinds,
        format_func=lambda kind: kind_name(kind) if kind else _("as the other columns"),
        disabled=off,
        help=about or None,
        **control(key, stands, edit),
    )


def strength_slider(key: str, value: Value, edit: Edit, *, off: bool = False) -> None:
    """Its pseudo-counts, on a slider: α, m, or the equivalent sample size."""
    kind, rows, *base = value if isinstance(value, tuple) else ("slider", value)
    label, most, step, about = {
        "slider": ("α", 10.0, 0.1, _("Pseudo-count of each level of a column, in every class.")),
        "m": ("m", 20.0, 0.5, _("Pseudo-counts for each class.")),
        "ess": (_("rows a table"), 100.0, 0.5, _(
            "Pseudo-counts for the whole table of a column, every cell of class and parents alike.")),
    }[kind]  # fmt: skip

    def turned(state: State, to: float) -> State:
        return edit(state, round(to, 6) if kind == "slider" else (kind, round(to, 6), *base))

    st.slider(
        label, 0.0, max(most, float(rows)), step=step, disabled=off, help=about,
        **control(f"{key}_{kind}", float(rows), turned),
    )  # fmt: skip


def strength_input(key: str, value: Value, edit: Edit, *, top: float, bases: Sequence[str], off: bool = False) -> None:
    """The same to the digit; of an m-estimate how its rows are shared out."""
    if isinstance(value, tuple) and value[0] == "m":
        named = {"marginal": _("as the column"), "uniform": _("evenly")}
        st.selectbox(
            _("shared out"),
            bases,
            format_func=named.__getitem__,
            disabled=off,
            **control(f"{key}_base", value[2], lambda s, base: edit(s, (*value[:2], base))),
        )
        return
    alike = isinstance(value, tuple)
    st.number_input(
        _("rows a table, exactly") if alike else _("α, exactly"),
        0.0,
        top,
        step=0.1,
        format="%g",
        disabled=off,
        **control(f"{key}_rows" if alike else key, float(value[1] if alike else value),
                lambda s, v: edit(s, ("ess", float(v or 0.0)) if alike else float(v or 0.0))),
    )  # fmt: skip
