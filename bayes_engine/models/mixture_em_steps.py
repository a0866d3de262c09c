"""The E and the M step of a mixture of Gaussians, for full and for diagonal covariances, in standard units.

Where no component is tight, log p(x, k) is linear in φ(x) = (1, x, xxᵀ), and both steps are one matrix product each;
where one is, deviations from its mean are taken first, because m² − 2mx + x² would cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.covariance import pivots
from bayes_engine.factors import LOG_2PI
from bayes_engine.factors.leaf import dot
from bayes_engine.logspace import Array, log
from bayes_engine.models.mixture_components import (
    Components,
    ComponentStatistics,
    EMSteps,
    Form,
    RowBlock,
    StandardizedRows,
    Wishart,
)
from bayes_engine.progress import steps
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import Moments
from bayes_engine.stats.scatter import Scatter, scatter

BLOCK = 1500
"""Rows at a time: their φ stays in the cache."""
TIGHT = 1e-4
"""Below this share of a column's variance a component is taken by deviations from its mean."""
COLLAPSED = 1e-10
"""A component whose variance, given the columns before, is below this share of the data's own has collapsed."""


class FullCovarianceSteps(EMSteps[Scatter]):
    """Full covariances, one for each component or one for all (tied)."""

    def estimate(self, stats: ComponentStatistics[Scatter]) -> Components:
        weight, m2 = stats.weight, stats.moments.m2
        mean = self._mean(weight, stats.moments.mean)
        if self.form == "tied":
            m2, size = m2.sum(axis=-3, keepdims=True), weight.sum(axis=-1, keepdims=True)
        else:
            size = weight
        if self.prior is not None:  # the mode of p(Σ) Π N: (M2 + Λ)/(n + ν + d + 1)
            m2, size = m2 + self.prior.matrix, size + self.prior.freedom + m2.shape[-1] + 1
        spread = m2 / size[..., None, None] + np.diag(self.ridge)
        self._bounded(spread, weight)
        return Components(weight / weight.sum(axis=-1, keepdims=True), mean, spread)

    def _bounded(self, spread: Array, weight: Array) -> None:
        if not self._has_spread(spread):
            matrices = spread.reshape(-1, *spread.shape[-2:])
            raise self._collapsed(next(k for k, matrix in enumerate(matrices) if not self._has_spread(matrix)), weight)

    def _has_spread(self, spread: Array) -> bool:
        """Whether a covariance, or each of several, has not collapsed."""
        try:
            squared_pivots = np.diagonal(np.linalg.cholesky(spread), axis1=-2, axis2=-1) ** 2
        except np.linalg.LinAlgError:
            return False
        free = self.prior is None and not self.ridge.any()
        return not (free and (squared_pivots < COLLAPSED * self._own_pivots).any())

    @cached_property
    def _own_pivots(self) -> Array:
        return pivots(self.rows.covariance)

    def complete(self, stats: ComponentStatistics[Scatter], theta: Components) -> float:
        white, log_det = _whitened(theta.spread)
        weight = stats.weight
        away = stats.moments.mean - theta.means
        m2 = stats.moments.m2 + weight[:, None, None] * away[:, :, None] * away[:, None, :]
        square = np.einsum("kij,kjl,kil->", np.broadcast_to(white, m2.shape), m2, np.broadcast_to(white, m2.shape))
        each = log(theta.weights) - 0.5 * (len(self.ridge) * LOG_2PI + log_det)
        return float(dot(weight, each) - 0.5 * square) - self.rows.log_scale - self._filled

    def log_prior(self, theta: Components) -> Any:
        if self.prior is None:
            return 0.0
        white, log_det = _whitened(theta.spread)
        square = np.einsum("...kij,jl,...kil->...", white, self.prior.matrix, white)
        power = self.prior.freedom + len(self.ridge) + 1
        return -0.5 * (power * log_det.sum(axis=-1) + square)

    def slack(self, stats: ComponentStatistics[Scatter], before: Components, after: Components) -> Any:
        old, new = ((_whitened(theta.spread)[0] ** 2 @ self.ridge).sum(axis=-1) for theta in (before, after))
        return np.maximum(0.0, 0.5 * (stats.weight * (old - new)).sum(axis=-1))

    def gathered(self, r: Array) -> ComponentStatistics[Scatter]:
        """A missing cell stands at the mean, with the column's variance."""
        second = scatter(self._names, np.zeros(len(self.ridge)), self.rows.z.T, Labels(r.shape[1], soft=r))
        if self.rows.seen is not None:
            second = replace(second, m2=second.m2 + np.stack([np.diag(a) for a in (~self.rows.seen @ r).T]))
        return ComponentStatistics(r.sum(axis=0), second)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(map(str, range(len(self.ridge))))

    @property
    def _filled(self) -> float:
        return self.rows.total * float(np.log(self.rows.scale).sum()) - self.rows.log_scale

    def _work(self, theta: Components) -> tuple[Iterator[RowBlock], Callable[[], ComponentStatistics[Scatter]]]:
        shape, d = theta.weights.shape, theta.means.shape[-1]
        white, log_det = _whitened(theta.spread)
        white = np.broadcast_to(white, (*shape, d, d))
        loose = bool((np.diagonal(white, axis1=-2, axis2=-1) ** 2 < 1.0 / TIGHT).all())
        products = np.zeros((*shape, 1 + d + d * (d + 1) // 2))
        first, second, weight = np.zeros((*shape, d)), np.zeros((*shape, d, d)), np.zeros(shape)  # about the means

        def from_products(phi: Array, r: Array) -> None:
            products[:] += r @ phi.T

        def from_deltas(deltas: Array, covariance: Array, r: Array) -> None:
            """`deltas` (K, d, b) from the component's mean, `covariance` (K, d, d) of the missing cells."""
            size = r.sum(axis=-1)
            weight[:] += size
            for c in np.ndindex(shape):
                first[c] += deltas[c] @ r[c]
                second[c] += (deltas[c] * r[c]) @ deltas[c].T + size[c] * covariance[c]

        def pieces() -> Iterator[RowBlock]:
            constant = log(theta.weights) - 0.5 * log_det
            nothing, known = np.zeros(shape), np.zeros((*shape, d, d))
            room = np.empty((products.shape[-1], min(BLOCK, self.rows.n)))
            coefficients = _coefficients(constant - 0.5 * d * LOG_2PI, theta.means, white)
            for seen, rows in self.rows.patterns:
                for begin in steps(range(0, len(rows), BLOCK)):
                    end = min(begin + BLOCK, len(rows))
                    where = slice(begin, end) if self.rows.seen is None else rows[begin:end]
                    z = self.rows.z[:, where]
                    if not seen.all():
                        joint, hidden, deltas, covariance = _partly_seen(z, seen, theta)
                        yield RowBlock(where, joint, hidden, partial(from_deltas, deltas, covariance))
                    elif loose:
                        phi = _products(z, room)
                        yield RowBlock(where, coefficients @ phi, nothing, partial(from_products, phi))
                    else:
                        deltas = z - theta.means[..., None]
                        square = ((white @ deltas) ** 2).sum(axis=-2)
                        joint = (constant - 0.5 * d * LOG_2PI)[..., None] - 0.5 * square
                        yield RowBlock(where, joint, nothing, partial(from_deltas, deltas, known))

        def gathered() -> ComponentStatistics[Scatter]:
            sums, squares = products[..., 1 : 1 + d], _square(products[..., 1 + d :], d)
            about_zero = _scatter(self._names, products[..., 0], sums, squares)
            if not weight.any():  # no component was tight
                return ComponentStatistics(about_zero.weight, about_zero)
            about_means = _scatter(self._names, weight, first, second)
            moved = replace(about_means, mean=about_means.mean + theta.means)
            both = about_zero + moved
            return ComponentStatistics(both.weight, both)

        return pieces(), gathered


class DiagonalCovarianceSteps(EMSteps[Moments]):
    """A variance for each component and column, or one for each component in the data's own units (spherical)."""

    def estimate(self, stats: ComponentStatistics[Moments]) -> Components:
        cells, m2 = stats.moments.weight, stats.moments.m2
        mean = self._mean(stats.weight, stats.moments.mean)
        unit = self.rows.scale**2
        if self.form == "spherical":
            m2, cells = (m2 * unit).sum(axis=-1, keepdims=True), cells.sum(axis=-1, keepdims=True)
        scale, extra = (0.0, 0.0) if self.prior is None else (self._prior_scale, self.prior.freedom + 2.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = (m2 + scale) / (cells + extra)  # the mode of p(σ²) Π N: (M2 + ς²)/(n + ν + 2)
        spread = np.broadcast_to(spread / unit if self.form == "spherical" else spread, mean.shape) + self.ridge
        least = COLLAPSED if self.prior is None and not self.ridge.any() else 0.0
        if not (spread > least).all():
            raise self._collapsed(int((~(spread > least)).any(axis=-1).argmax()), stats.weight)
        return Components(stats.weight / stats.weight.sum(axis=-1, keepdims=True), mean, spread)

    @property
    def _prior_scale(self) -> Array:
        """ς² of every column in standard units; of all together, in the data's own, for a spherical component."""
        assert self.prior is not None
        own = np.diagonal(self.prior.matrix)
        return np.asarray((own * self.rows.scale**2).mean()) if self.form == "spherical" else own

    def complete(self, stats: ComponentStatistics[Moments], theta: Components) -> float:
        cells, v = stats.moments.weight, theta.spread
        square = (stats.moments.m2 + cells * (stats.moments.mean - theta.means) ** 2) / v
        terms = -0.5 * float((cells * (LOG_2PI + np.log(v)) + square).sum())
        return dot(stats.weight, log(theta.weights)) + terms - self.rows.log_scale

    def log_prior(self, theta: Components) -> Any:
        if self.prior is None:
            return 0.0
        v = theta.spread * self.rows.scale**2 if self.form == "spherical" else theta.spread
        v = v[..., :1] if self.form == "spherical" else v
        return (-0.5 * ((self.prior.freedom + 2.0) * np.log(v) + self._prior_scale / v)).sum(axis=(-2, -1))

    def slack(self, stats: ComponentStatistics[Moments], before: Components, after: Components) -> Any:
        old, new = (stats.moments.weight * self.ridge / theta.spread for theta in (before, after))
        return np.maximum(0.0, 0.5 * (old - new).sum(axis=(-2, -1)))

    def gathered(self, r: Array) -> ComponentStatistics[Moments]:
        z = self.rows.z
        seen = self._seen(slice(None))
        cells = seen @ r
        mean = (z @ r) / np.maximum(cells, 1e-300)
        m2 = np.stack([((z - m[:, None]) ** 2 * seen) @ s for m, s in zip(mean.T, r.T, strict=True)])
        return ComponentStatistics(r.sum(axis=0), self._moments(cells.T, mean.T, m2))

    def _seen(self, where: Any) -> Array:
        """(d, b) 1 for a cell that is known, 0 for one that is not; (1, b) where all are."""
        z = self.rows.z[:, where]
        return np.ones((1, z.shape[1])) if self.rows.seen is None else self.rows.seen[:, where].astype(float)

    def _moments(self, cells: Array, mean: Array, m2: Array) -> Moments:
        names, pivot = tuple(map(str, range(len(self.ridge)))), np.zeros(len(self.ridge))
        return Moments(names, pivot, np.broadcast_to(cells, mean.shape), mean, m2)

    @property
    def _filled(self) -> float:
        return 0.0

    def _work(self, theta: Components) -> tuple[Iterator[RowBlock], Callable[[], ComponentStatistics[Moments]]]:
        shape, d = theta.weights.shape, theta.means.shape[-1]
        loose = bool((theta.spread > TIGHT).all())
        origin = np.zeros((1, d)) if loose else theta.means
        apart = 1 if self.rows.seen is None else d  # columns with weights of their own
        weight = np.zeros(shape)
        sums = np.zeros((*shape, apart + 2 * d))  # of the cells seen: 1, x − origin, (x − origin)²

        def gather(phi: Array, r: Array) -> None:
            weight[:] += r.sum(axis=-1)
            sums[:] += r @ phi[0].T if loose else np.einsum("...kb,...kpb->...kp", r, phi)

        def pieces() -> Iterator[RowBlock]:
            away, v = theta.means - origin, theta.spread
            each = -0.5 * (LOG_2PI + np.log(v) + away**2 / v)
            each = each if apart == d else each.sum(axis=-1, keepdims=True)
            coefficients = np.concatenate([each, away / v, -0.5 / v], axis=-1)
            start = log(theta.weights)[..., None]
            for begin in steps(range(0, self.rows.n, BLOCK)):
                where = slice(begin, min(begin + BLOCK, self.rows.n))
                seen, z = self._seen(where), self.rows.z[None, :, where]  # 0 in missing cells
                z = z if loose else (z - origin[..., None]) * seen
                known = np.broadcast_to(seen, (*z.shape[:-2], *seen.shape))
                phi = np.concatenate([known, z, z * z], axis=-2)  # (1 or K, apart + 2d, b)
                joint = coefficients @ phi[0] if loose else np.einsum("...kp,...kpb->...kb", coefficients, phi)
                yield RowBlock(where, start + joint, np.zeros(shape), partial(gather, phi))

        def gathered() -> ComponentStatistics[Moments]:
            cells, first, second = np.split(sums, [apart, apart + d], axis=-1)
            mean = first / np.where(cells > 0, cells, 1.0)
            m2 = np.maximum(second - mean * first, 0.0)
            return ComponentStatistics(weight, self._moments(cells, origin + mean, m2))

        return pieces(), gathered


def em_steps(
    rows: StandardizedRows, form: Form, ridge: Array, prior: Wishart | None = None
) -> FullCovarianceSteps | DiagonalCovarianceSteps:
    """The steps for these rows; `ridge` (d,) in standard units."""
    return (FullCovarianceSteps if form in ("full", "tied") else DiagonalCovarianceSteps)(rows, form, ridge, prior)


def _whitened(spread: Array) -> tuple[Array, Array]:
    """L⁻¹ (K, d, d) and log |Σ| (K,) of Σ = L Lᵀ."""
    root = np.linalg.cholesky(spread)
    return np.linalg.inv(root), 2.0 * np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)


def _products(z: Array, room: Array) -> Array:
    """φ (1 + d + d(d+1)/2, b): 1, every x_i, and x_i x_j for i ≤ j; written into `room`, new memory being slow."""
    d, b = z.shape
    phi = room[:, :b]
    phi[0], phi[1 : 1 + d] = 1.0, z
    z = phi[1 : 1 + d]  # in the cache
    row = 1 + d
    for i in range(d):
        np.multiply(z[i:], z[i], out=phi[row : row + d - i])
        row += d - i
    return phi


def _coefficients(constant: Array, means: Array, white: Array) -> Array:
    """(K, 1 + d + d(d+1)/2) what φ is multiplied with to give log p(x, k)."""
    precision = white.swapaxes(-1, -2) @ white
    linear = np.einsum("...ij,...j->...i", precision, means)
    i, j = _upper(means.shape[-1])
    quadratic = np.where(i == j, -0.5, -1.0) * precision[..., i, j]
    return np.concatenate([(constant - 0.5 * (linear * means).sum(axis=-1))[..., None], linear, quadratic], axis=-1)


@cache
def _upper(d: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where i ≤ j in a matrix (d, d): a step of EM on a small table takes no longer than NumPy takes to list that."""
    return np.triu_indices(d)


def _square(upper: Array, d: int) -> Array:
    """(K, d, d) symmetric matrices from their upper triangles (K, d(d+1)/2)."""
    i, j = _upper(d)
    full = np.empty((*upper.shape[:-1], d, d))
    full[..., i, j] = full[..., j, i] = upper
    return full


def _scatter(names: tuple[str, ...], weight: Array, first: Array, second: Array) -> Scatter:
    """Scatter from Σ r, Σ r x and Σ r xxᵀ."""
    mean = first / np.where(weight > 0, weight, 1.0)[..., None]
    return Scatter(names, np.zeros(len(names)), weight, mean, second - first[..., :, None] * mean[..., None, :])


def given_seen(seen: NDArray[np.bool_], covariance: Array) -> tuple[Array, Array, Array]:
    """For cells `seen` (d,) under `covariance` (d, d): L⁻¹ of Σ_oo, the gain Σ_mo L⁻ᵀ, and Σ_m|o = Σ_mm − gain gainᵀ.

    >>> _, gain, rest = given_seen(np.array([True, False]), np.array([[4.0, 2.0], [2.0, 5.0]]))
    >>> gain.tolist(), rest.tolist()
    ([[1.0]], [[4.0]])
    """
    white = np.linalg.inv(np.linalg.cholesky(covariance[np.ix_(seen, seen)]))
    gain = covariance[np.ix_(~seen, seen)] @ white.T
    return white, gain, covariance[np.ix_(~seen, ~seen)] - gain @ gain.T


def _partly_seen(z: Array, seen: NDArray[np.bool_], theta: Components) -> tuple[Array, Array, Array, Array]:
    """For rows with one pattern of missing cells: joint (K, b), entropy of the missing cells (K,), the rows filled, as
    deviations (K, d, b), and the covariance of what was filled in (K, d, d)."""
    shape, (d, b) = theta.weights.shape, z.shape
    joint, hidden = np.empty((*shape, b)), np.empty(shape)
    deltas, covariance = np.zeros((*shape, d, b)), np.zeros((*shape, d, d))
    log_weight, absent = log(theta.weights), int((~seen).sum())
    spread = np.broadcast_to(theta.spread, covariance.shape)
    for c in np.ndindex(shape):
        white, gain, rest = given_seen(seen, spread[c])
        deltas[c][seen] = z[seen] - theta.means[c][seen, None]
        u = white @ deltas[c][seen]
        constant = log_weight[c] + np.log(np.diagonal(white)).sum() - 0.5 * (d - absent) * LOG_2PI
        joint[c] = constant - 0.5 * (u**2).sum(axis=0)
        deltas[c][~seen] = gain @ u
        covariance[c][np.ix_(~seen, ~seen)] = rest
        hidden[c] = 0.5 * (absent * (1.0 + LOG_2PI) + np.linalg.slogdet(rest)[1])
    return joint, hidden, deltas, covariance
