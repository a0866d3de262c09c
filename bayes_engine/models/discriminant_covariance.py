"""The covariances of discriminant analysis where they have no full rank: mended, refused, or warned of. scikit-learn's
LDA drops such directions, whether the classes differ there or not.
"""

from __future__ import annotations

import numpy as np

from bayes_engine.covariance import ILL_CONDITIONED, collinear, inverse_root, listed
from bayes_engine.errors import TableError
from bayes_engine.logspace import Array
from bayes_engine.models.fit_warnings import warn
from bayes_engine.stats.scatter import Scatter

FLOOR = 1e-9
"""The variance within classes, as a share of that between them, in a direction in which no class has any."""


def rounding_variance(counted: Scatter) -> Array:
    """(d,) the variance that is nothing but the rounding of values of this size."""
    return np.asarray((1e-14 * (np.abs(counted.pivot) + np.abs(counted.centre))) ** 2)


def floored_covariance(covariance: Array, counted: Scatter) -> Array:
    """Σ (d, d) with something in every direction in which the classes differ.

    In a direction without spread within classes: where the classes agree there, nothing is to be told apart, and the
    span of Σ is enough (collinear columns). Where they differ, Σ gets FLOOR × their variance in that direction, as the
    variance floor of naive Bayes; unless there are too few rows for this to mean anything, which is refused.

    Warns in both cases, and where Σ is nearly singular, with the condition number; raises TableError in the last.
    """
    n, d = float(counted.weight.sum()), len(counted.names)
    present = int((counted.weight > 0).sum())
    between = counted.between / n
    variance = np.diagonal(covariance)
    bare = variance <= rounding_variance(counted)
    mended = np.where(bare[:, None] | bare, 0.0, covariance)
    mended[bare, bare] = np.diagonal(FLOOR * between)[bare]
    root = inverse_root(mended)
    sd = np.sqrt(np.diagonal(mended))
    apart = np.einsum("jk,ji,ik->k", root.flat, between / np.outer(sd, sd), root.flat)
    rounding = 100.0 * d * np.finfo(float).eps * (d + float((np.diagonal(between) / sd**2)[~bare].sum()))
    differ = apart > rounding
    names = collinear(np.hstack([root.flat[:, differ], np.eye(d)[:, bare]]), counted.names)
    if names and n - present < d:
        raise TableError(
            "the classes differ in a direction of the columns {names} in which no class has any spread ({n:g} rows, "
            "{d} columns): there is no density to compare. Take shrinkage='auto', more rows, or fewer columns",
            names=listed(names),
            n=n,
            d=d,
        )
    if names:
        warn(
            "in a direction of the columns {names} the classes differ and no class has any spread; the variance there "
            "is {floor:g} of the variance between the classes",
            names=listed(names),
            floor=FLOOR,
        )
        axes = sd[:, None] * root.flat[:, differ]
        mended = mended + FLOOR * (axes * apart[differ]) @ axes.T
        root = inverse_root(mended)
    if root.flat.size:
        warn(
            "the columns {names} determine one another within the classes (condition number {condition:.3g} or more): "
            "only the {rank} directions with spread are used",
            names=listed(collinear(root.flat, counted.names)),
            condition=root.condition,
            rank=root.rank,
        )
    elif root.condition > ILL_CONDITIONED and not names:
        warn(
            "the covariance within classes is nearly singular, with the condition number {condition:.3g}; leave out a "
            "column that others nearly determine, or take shrinkage='auto'",
            condition=root.condition,
        )
    return mended


def check_covariance(label: str, weight: float, covariance: Array, whole: Array, counted: Scatter) -> None:
    """Raises TableError where a class's Σ (d, d) has no inverse, `whole` being that of all rows; warns where it nearly
    has none."""
    none = np.diagonal(covariance) <= rounding_variance(counted) + 1e-26 * np.diagonal(whole)
    if none.any():
        names = tuple(np.array(counted.names, dtype=object)[none].tolist())
        condition = float("inf")
    else:
        root = inverse_root(covariance)
        names, condition = collinear(root.flat, counted.names), root.condition
    if names:
        raise TableError(
            "class '{label}' ({weight:g} row(s), {d} columns) has no spread of its own in some direction of the "
            "columns {names}: its covariance cannot be inverted. Take shrinkage='auto' or pooling > 0, leave out "
            "a column that others determine, or use LinearDiscriminantAnalysis",
            label=label,
            weight=weight,
            d=len(counted.names),
            names=listed(names),
        )
    if condition > ILL_CONDITIONED:
        warn(
            "class '{label}': the covariance is nearly singular, with the condition number {condition:.3g}; leave "
            "out a column that others nearly determine, or take shrinkage='auto'",
            label=label,
            condition=condition,
        )
