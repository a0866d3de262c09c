"""Where EM for a mixture of Gaussians begins, and in which order its components stand at the end."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array
from bayes_engine.models.component_forms import pivots
from bayes_engine.models.components import Components, Form, MixtureParameters, Problem, Rows

SAME = 1e-6
"""Component means closer than this share of a column's standard deviation are equal in the ordering."""


def begin(work: Problem[Any], start: Any, k: int, rng: np.random.Generator) -> Components:
    """Θ to begin with: "kmeans", "random" (k distinct rows as means), means (k, d), responsibilities (n, k), or
    MixtureParameters. Where the start names no covariances, all components have that of the data, or of k-means within
    its clusters.

    Raises ParameterError on a start of another shape, Collapse where responsibilities leave a component no spread.
    """
    rows = work.rows
    if isinstance(start, MixtureParameters):
        return to_standard(_checked(start, work.form, k, len(rows.z)), rows.center, rows.scale)
    everywhere, even = np.ones((rows.n, 1)), np.full(k, 1.0 / k)
    if isinstance(start, str):
        if start == "random":
            return Components(even, rows.z.T[_distinct(rows, rng, k)], _spread(work, everywhere, k))
        labels = KMeans(k, n_init=1, random_state=int(rng.integers(2**31))).fit(rows.z.T).labels_
        one_hot = np.eye(k)[labels]
        return Components(one_hot.mean(axis=0), _means(rows, one_hot), _spread(work, one_hot, k))
    given = np.asarray(start, dtype=float)
    if given.shape == (k, len(rows.z)) and np.isfinite(given).all():
        return Components(even, (given - rows.center) / rows.scale, _spread(work, everywhere, k))
    if given.shape == (rows.n, k) and (given >= 0).all() and np.allclose(given.sum(axis=1), 1.0):
        return work.estimate(work.gathered(given))
    raise ParameterError(
        "init has the shape {shape}; a start is {means} for means, or {shares} for responsibilities whose rows "
        "sum to 1",
        shape=str(given.shape),
        means=str((k, len(rows.z))),
        shares=str((rows.n, k)),
    )


def _checked(theta: MixtureParameters, form: Form, k: int, d: int) -> MixtureParameters:
    expected = {"full": (k, d, d), "tied": (d, d), "diagonal": (k, d), "spherical": (k,)}[form]
    shapes = tuple(np.shape(a) for a in theta[:3])
    if theta.form != form or shapes != ((k,), (k, d), expected):
        raise ParameterError(
            "init has {form} covariances and the shapes {shapes}; wanted are {wanted} ones and {expected}",
            form=theta.form,
            shapes=str(shapes),
            wanted=form,
            expected=str(((k,), (k, d), expected)),
        )
    return theta


def _means(rows: Rows, r: Array) -> Array:
    seen = np.ones_like(rows.z) if rows.seen is None else rows.seen
    return np.asarray(((rows.z @ r) / np.maximum(seen @ r, 1.0)).T)


def _spread(work: Problem[Any], r: Array, k: int) -> Array:
    """One for all components: the covariance within the groups r (n, G), or the data's where that is too small."""
    own, means = work.rows.covariance, _means(work.rows, r)
    within = own - (means.T * r.mean(axis=0)) @ means
    if not (pivots(within) > 1e-3 * pivots(own)).all():
        within = own
    within = within + np.diag(work.ridge)
    if work.form in ("full", "tied"):
        return np.repeat(within[None], 1 if work.form == "tied" else k, axis=0)
    variance = np.diagonal(within)
    if work.form == "spherical":
        unit = work.rows.scale**2
        variance = (variance * unit).mean() / unit
    return np.repeat(variance[None], k, axis=0)


def to_standard(theta: MixtureParameters, center: Array, scale: Array) -> Components:
    """Parameters in standard units, from the data's."""
    c, d = np.asarray(theta.covariances, dtype=float), len(scale)
    if theta.form in ("full", "tied"):
        spread = c.reshape(-1, d, d) / np.outer(scale, scale)
    else:
        spread = (c if theta.form == "diagonal" else np.repeat(c[:, None], d, axis=1)) / scale**2
    return Components(np.asarray(theta.weights, dtype=float), (np.asarray(theta.means) - center) / scale, spread)


def to_natural(
    theta: Components, order: NDArray[np.intp], form: Form, center: Array, scale: Array
) -> MixtureParameters:
    """Parameters in the data's units, from standard ones, the components in the given order."""
    if form == "tied":
        covariances = theta.spread[0] * np.outer(scale, scale)
    elif form == "full":
        covariances = theta.spread[order] * np.outer(scale, scale)
    else:
        covariances = theta.spread[order] * scale**2
        covariances = covariances[:, 0] if form == "spherical" else covariances
    return MixtureParameters(theta.weights[order], theta.means[order] * scale + center, covariances, form)


def in_order(means: Array) -> NDArray[np.intp]:
    """(K,) the components in ascending order of their means (K, d), in standard units: by the first column, where that
    is equal to `SAME` by the next; equal ones stay as they stand.

    >>> in_order(np.array([[1.0, 0.0], [0.0, 2.0], [1.0 + 1e-9, -3.0]])).tolist()
    [1, 2, 0]
    """

    def before(a: int, b: int) -> int:
        apart = np.flatnonzero(np.abs(means[a] - means[b]) > SAME)
        return 0 if not len(apart) else -1 if means[a, apart[0]] < means[b, apart[0]] else 1

    return np.array(sorted(range(len(means)), key=cmp_to_key(before)), dtype=np.intp)


def _keys(rows: Rows, of: Any) -> Array:
    """Rows as they are told apart, a missing cell being like any other missing cell."""
    z = rows.z[:, of]
    return np.concatenate([z, np.zeros((0, z.shape[1])) if rows.seen is None else rows.seen[:, of]]).T


def distinct_rows(rows: Rows, wanted: int) -> int:
    """How many distinct rows there are, counted no farther than is needed to find those wanted."""
    found = len(np.unique(_keys(rows, slice(0, 50 * wanted)), axis=0))
    return found if found >= wanted else len(np.unique(_keys(rows, slice(None)), axis=0))


def _distinct(rows: Rows, rng: np.random.Generator, k: int) -> NDArray[np.intp]:
    """(k,) rows drawn at random, no two alike."""
    order = rng.permutation(rows.n)
    for size in (min(50 * k, rows.n), rows.n):
        first = np.sort(np.unique(_keys(rows, order[:size]), axis=0, return_index=True)[1])
        if len(first) >= k:
            break
    return order[first[:k]]
