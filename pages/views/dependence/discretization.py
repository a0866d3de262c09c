"""How the page Dependence cuts numbers: by MDLP, or into quarters of the rows where that leaves no pair to look at."""

from __future__ import annotations

from bayes_engine.language import _
from bayes_engine.models.one_dependence import TAN
from bayes_engine.workbench.derivation.dependence import varying
from pages import active
from pages.active import shelf
from pages.runtime import view_keys as keys
from pages.runtime.state import Spec, State, choose, current

INTERVALS = 4
"""Quantiles cut a column of numbers into so many."""


def cut_method(table: active.FittableTable) -> str:
    """The way that was chosen; at first MDLP, or quarters where MDLP leaves no pair."""
    return current().seen(keys.DEPENDENCE_CUT) or ("quantile" if uncut(table) else "mdlp")


def is_fallback(table: active.FittableTable) -> bool:
    """Whether the numbers are in quarters because MDLP leaves no pair, and nobody chose."""
    return not current().seen(keys.DEPENDENCE_CUT) and bool(uncut(table))


def uncut(table: active.FittableTable) -> tuple[str, ...]:
    """The columns of numbers that MDLP does not cut, where it leaves no two columns of two values and more and quarters
    may; () otherwise.

    Raises what the fit raises.
    """
    if not any(v.numeric for v in table.features):
        return ()
    model = active.fit(table, Spec(family="tan")).model
    assert isinstance(model, TAN)
    names = varying(model)
    whole = tuple(v.name for v in table.features if v.numeric and v.name not in names)
    return whole if len(names) < 2 <= len(names) + len(whole) else ()


def with_cut(spec: Spec, cut: str | None) -> Spec:
    """The model, numbers cut so; None leaves them Gaussian."""
    spec = shelf.with_knob(spec, "discretize", cut)
    return shelf.with_knob(spec, "bins", INTERVALS) if cut == "quantile" else spec


def choose_cut_method(table: active.FittableTable) -> None:
    """The choice of the way."""
    choose(
        _("Numbers"),
        keys.DEPENDENCE_CUT,
        {"mdlp": _("cut by MDLP"), "quantile": _("quarters")},
        otherwise=cut_method(table),
        also=(keys.PAIR_CELL.to(()),),
        about=_("A column of numbers is cut into intervals: where the classes change, or into quarters of its rows."),
    )


def with_cut_method(state: State, cut: str) -> State:
    """The edit that chooses the way."""
    return state.showing(keys.DEPENDENCE_CUT.to(cut), keys.PAIR_CELL.to(()))
