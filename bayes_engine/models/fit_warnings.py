"""What a fit warns of: columns, classes and runs of EM of which a person might expect otherwise."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayes_engine.errors import EstimationWarning, report
from bayes_engine.language import Listing
from bayes_engine.logspace import Array
from bayes_engine.table.schema import Schema

if TYPE_CHECKING:
    from bayes_engine.em import Collapse, EMTrace


def warn(template: str, **params: object) -> None:
    """Warn whoever called `fit` of what the estimate does that they might not expect."""
    report(EstimationWarning(template, **params), stacklevel=5)


def warn_of_guesses(schema: Schema, frame: pd.DataFrame, stated: Collection[str] = ()) -> None:
    """Warn of columns of strings, read as levels by their dtype, that `Schema.infer` would read otherwise; not of those
    of which it is `stated` how they are read."""
    otherwise = [v for v in schema.otherwise(frame) if v.name not in stated]
    if names := [v.name for v in otherwise if v.numeric]:
        warn(
            "column(s) {names} hold numbers written as strings, and are read as levels; turn them into numbers "
            "(pandas.to_numeric), or give schema=, such as Schema.infer(X, target=False)",
            names=Listing(names),
        )
    if names := [v.name for v in otherwise if not v.numeric]:
        warn(
            "column(s) {names} look like identifiers or texts, and their hundreds of values are read as levels; leave "
            "them out, or give schema=, such as Schema.infer(X, target=False)",
            names=Listing(names),
        )


def warn_of_constant(names: Iterable[str]) -> None:
    """Warn of columns that say nothing of the class."""
    if names := tuple(names):
        warn(
            "column(s) {names} have the same value in every row: they carry no information about the class and are "
            "set aside",
            names=Listing(names),
        )


def warn_of_collapses(collapsed: Sequence[Collapse]) -> None:
    """Warn of runs of EM that came to no end."""
    if collapsed:
        warn("{n} run(s) collapsed and were dropped: {reason}", n=str(len(collapsed)), reason=collapsed[0].message)


def warn_unless_converged(trace: EMTrace[Any]) -> None:
    """Warn where EM's iterations ran out."""
    if not trace.converged:
        warn(
            "EM has not converged after {n} iterations (last change {change}); raise max_iter or tol",
            n=str(trace.n_iter),
            change=f"{trace.last.change or 0.0:.3g}",
        )


def warn_of_classes(prior: Array, weight: Array, levels: tuple[Any, ...]) -> None:
    """Warn of classes with a `prior` (C,) of 0, or with no `weight` (C,) of rows."""
    never = [str(c) for c, p in zip(levels, prior, strict=True) if p == 0]
    if never:
        warn("class(es) {names} have the prior 0: they are never predicted", names=Listing(never))
    empty = [str(c) for c, p, w in zip(levels, prior, weight, strict=True) if p > 0 == w]
    if empty:
        warn("class(es) {names} have no row: they rest on their prior alone", names=Listing(empty))
