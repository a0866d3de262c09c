"""The models of the page Dependence: a family each, alike in all but what depends on what."""

from __future__ import annotations

from typing import Any

from bayes_engine.models.tan import TAN
from bayes_engine.workbench.derivation.dependence import varying
from pages import active
from pages.active import shelf
from pages.runtime import view_keys as keys
from pages.runtime.state import Spec, current

INTERVALS = 4
"""Quantiles cut a column of numbers into so many."""
DEGREES = (1, 2, 3)
"""The k of k-DB; k = 0 is naive Bayes."""


def spec_of(table: active.FittableTable, family: str) -> Spec:
    """A model of the page: numbers cut as it is asked for, of TAN the root."""
    spec = Spec(family=family)
    if any(v.numeric for v in table.features):
        spec = with_cut(spec, cut_method(table))
    root = current().seen(keys.TREE_ROOT)
    if family == "tan" and 0 <= root < len(table.features):
        spec = shelf.with_parameter(spec, "root", root)
    return spec


def cut_method(table: active.FittableTable) -> str:
    """The way that was chosen; at first MDLP, or quarters where MDLP leaves no pair."""
    return current().seen(keys.DEPENDENCE_CUT) or ("quantile" if uncut(table) else "mdlp")


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
    spec = shelf.with_parameter(spec, "discretize", cut)
    return shelf.with_parameter(spec, "bins", INTERVALS) if cut == "quantile" else spec


def family_models(table: active.FittableTable) -> dict[str, Spec]:
    """A model of each family, from naive Bayes to k-DB: alike in all but what depends on what."""
    numeric = any(v.numeric for v in table.features)
    alpha, kind = float(current().seen(keys.DIAL_ALPHA)), treatment_of_numbers(table)

    def alike(family: str, **parameters: Any) -> Spec:
        spec = Spec("scikit-learn" if family == "naive-bayes" else Spec.preset, (), family)
        for parameter, value in {"alpha": alpha, **parameters}.items():
            spec = shelf.with_parameter(spec, parameter, value)
        return with_cut(spec, None if kind == "gaussian" else kind) if numeric else spec

    by_degree = {f"k-db-{k}": alike("k-db", k=k) for k in DEGREES}
    return {name: alike(name) for name in ("naive-bayes", "spode", "tan", "aode")} | by_degree


def treatment_of_numbers(table: active.FittableTable) -> str:
    """How all models of the page take numbers: "gaussian", or cut as the pairs are where nothing else was chosen."""
    return current().seen(keys.DIAL_NUMBERS) or cut_method(table)
