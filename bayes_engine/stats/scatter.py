"""Mean and scatter matrix of the numeric columns per class, under + and −: what full covariances are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm

from bayes_engine.errors import NotASubset
from bayes_engine.logspace import Array
from bayes_engine.progress import steps
from bayes_engine.stats.counts import less
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import FAR, Deviations, Moments, checked_squares
from bayes_engine.table.encode import code_dtype

BLOCK = 2**19
"""Numbers in a block of rows: four megabytes, which stay in the cache between the passes over them."""

PACKED = 704
"""Rows in one call of the matrix product: what OpenBLAS packs at once."""


class Scatter(Deviations):
    """`weight` (C,), `mean` (C, d), `m2` (C, d, d) = Σ_i r_ic (x_i − mean)(x_i − mean)ᵀ. Rows with a missing cell are
    not in it."""

    def __add__(self, other: Scatter) -> Scatter:
        other = other.rebased(self.pivot)
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = other.mean - self.mean
        between = (self.weight * share)[..., None, None] * (delta[..., :, None] * delta[..., None, :])
        return replace(self, weight=weight, mean=self.mean + delta * share[..., None], m2=self.m2 + other.m2 + between)

    def __sub__(self, other: Scatter) -> Scatter:
        other = other.rebased(self.pivot)
        weight = less(self.weight, other.weight)
        empty = weight == 0
        kept = np.where(empty, 1.0, weight)
        delta = other.mean - self.mean
        mean = self.mean - delta * (other.weight / kept)[:, None]
        apart = other.mean - mean
        between = (kept * other.weight / (kept + other.weight))[:, None, None] * (apart[:, :, None] * apart[:, None, :])
        m2 = self.m2 - other.m2 - between
        before, after = np.diagonal(self.m2, axis1=1, axis2=2), np.diagonal(m2, axis1=1, axis2=2)
        dust = 1e-28 * self.weight[:, None] * np.maximum(self.mean**2, other.mean**2)
        if (~empty[:, None] & (after < -1e-9 * before - dust)).any():
            raise NotASubset("cannot forget rows that were never counted: a variance would fall below zero")
        rest = replace(self, weight=weight, mean=np.where(empty[:, None], 0.0, mean), m2=m2 * ~empty[:, None, None])
        after = np.where(empty[:, None] | (after <= dust), 0.0, after)
        cancelled = np.where(empty[:, None] | (before <= dust), 0.0, before)
        nothing = checked_squares(self.names, after, cancelled, rest.moments.total) == 0
        return replace(rest, m2=np.where(nothing[:, :, None] | nothing[:, None, :], 0.0, m2))

    @property
    def moments(self) -> Moments:
        """What it says of each column by itself."""
        weight = np.repeat(self.weight[:, None], len(self.names), axis=1)
        return Moments(self.names, self.pivot, weight, self.mean, np.diagonal(self.m2, axis1=1, axis2=2).copy())

    @property
    def within(self) -> Array:
        """(d, d) S_w = Σ_c Σ_i r_ic (x_i − mean_c)(x_i − mean_c)ᵀ."""
        return np.asarray(self.m2.sum(axis=0))

    @property
    def centre(self) -> Array:
        """(d,) the mean of all rows, as an offset from the pivot."""
        return np.asarray(self.weight @ self.mean / max(float(self.weight.sum()), np.finfo(float).tiny))

    @property
    def between(self) -> Array:
        """(d, d) S_b = Σ_c n_c (mean_c − centre)(mean_c − centre)ᵀ."""
        apart = self.mean - self.centre
        return np.asarray((apart.T * self.weight) @ apart)

    @property
    def means(self) -> Array:
        """(C, d) the class means as offsets from the pivot; a class without rows has the mean of all."""
        return np.where(self.weight[:, None] > 0, self.mean, self.centre)

    def of_columns(self, columns: NDArray[np.intp]) -> Scatter:
        """That of some of the columns, by their places."""
        if len(columns) == len(self.names):
            return self
        names = tuple(self.names[j] for j in columns)
        both = np.ix_(np.arange(len(self.weight)), columns, columns)
        return replace(self, names=names, pivot=self.pivot[columns], mean=self.mean[:, columns], m2=self.m2[both])


def scatter(names: tuple[str, ...], pivot: Array, X: Array, labels: Labels) -> Scatter:
    """The scatter of the rows X (n, d), in blocks that stay in the cache, merged by Chan's formula in their order.

    A block's products are taken as the numbers lie where their mean is within ten standard deviations of 0, which
    costs no digit that counts, and around the mean otherwise. What is not finite in X is not finite in the result.

    >>> X = np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 5.0]])
    >>> scatter(("x", "y"), np.zeros(2), X, Labels(2, np.array([0, 0, 1]))).m2[0].tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    (n, d), n_classes = X.shape, labels.n_classes
    weight, mean, m2 = np.zeros(n_classes), np.zeros((n_classes, d)), np.zeros((n_classes, d, d))
    block = max(BLOCK // max(d, 1), 4 * n_classes, 64)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in steps(range(0, n, block)):
            rows = slice(start, min(start + block, n))
            for c, Z, w in _segments(X[rows], labels.take(rows)):
                there = float(len(Z) if w is None else w.sum())
                if there == 0.0:
                    continue
                centre, products = _around_the_mean(Z, w, there, pivot)
                both = weight[c] + there
                delta = centre - mean[c]
                m2[c] += products
                if weight[c] > 0:
                    m2[c] += (weight[c] * (there / both)) * np.outer(delta, delta)
                mean[c] += delta * (there / both)
                weight[c] = both
    return Scatter(names, pivot, weight, mean, m2)


def _around_the_mean(Z: Array, w: Array | None, there: float, pivot: Array) -> tuple[Array, Array]:
    """(d,) the weighted mean of the rows Z as an offset from the pivot, and (d, d) their scatter around it."""
    total, around_zero = _sums(Z, w)
    m2 = around_zero - np.outer(total, total / there)
    if (around_zero.diagonal() <= FAR * m2.diagonal()).all():
        return total / there - pivot, m2
    guess = total / there
    rest, around_guess = _sums(Z - guess, w)
    return (guess - pivot) + rest / there, around_guess - np.outer(rest, rest / there)


def _sums(Z: Array, w: Array | None) -> tuple[Array, Array]:
    """(d,) Σ w_i z_i and (d, d) Σ w_i z_i z_iᵀ, the products over as many rows at a time as the kernel packs."""
    weighted = Z if w is None else Z * w[:, None]
    products = np.zeros((Z.shape[1], Z.shape[1]), order="F")
    for start in range(0, len(Z), PACKED):
        rows = slice(start, start + PACKED)
        products = dgemm(1.0, weighted[rows].T, Z[rows].T, beta=1.0, c=products, trans_b=True, overwrite_c=True)
    return (np.ones(len(Z)) if w is None else w) @ Z, (products + products.T) / 2.0


def _segments(X: Array, labels: Labels) -> Iterator[tuple[int, Array, Array | None]]:
    """The rows of each class that has any, with their weights; hard labels are sorted once for all classes."""
    if labels.codes is None:
        yield from ((c, X[rows], w) for c, rows, w in labels.members())
        return
    order = np.argsort(labels.codes.astype(code_dtype(labels.n_classes)), kind="stable")  # small codes: a radix sort
    X = X.take(order, axis=0)
    weight = None if labels.weight is None else labels.weight[order]
    ends = np.cumsum(np.bincount(labels.codes, minlength=labels.n_classes))
    for c, end in enumerate(ends):
        rows = slice(0 if c == 0 else ends[c - 1], end)
        if rows.start < end:
            yield c, X[rows], None if weight is None else weight[rows]
