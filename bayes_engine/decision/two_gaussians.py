"""Two Gaussian classes that are known: the boundaries of Fisher's midpoint rule, of LDA and of Bayes, and their errors.

All three are log-odds of degree two at most, xᵀAx + bᵀx + c > 0 for the second class; a line where A = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array, exp, log

RAYS = 201
"""Directions between two angles at which the integrand of an error rate has a corner, or nearly one."""

FAR = 100.0
"""Standard deviations beyond which there is nothing: exp(−5000) is 0."""


class Quadric(NamedTuple):
    """The rule «second class where xᵀAx + bᵀx + c > 0»: `A` (2, 2) symmetric, `b` (2,), `c`."""

    A: Array
    b: Array
    c: float

    def at(self, x: Array) -> Array:
        """(...,) its value at the points x (..., 2)."""
        return np.asarray(np.einsum("...i,ij,...j->...", x, self.A, x) + x @ self.b + self.c)


@dataclass(frozen=True, eq=False)
class TwoGaussians:
    """Two classes in the plane: `means` (2, 2), `covariances` (2, 2, 2), `prior` of the second.

    Raises ParameterError where a covariance is not positive definite or the prior not between 0 and 1.
    """

    means: Array
    covariances: Array
    prior: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 < self.prior < 1.0:
            raise ParameterError("prior={value} is no probability between 0 and 1", value=repr(self.prior))
        if (np.linalg.eigvalsh(self.covariances) <= 0).any():
            raise ParameterError("a covariance must be symmetric with eigenvalues above zero")

    @property
    def priors(self) -> Array:
        """(2,) P(c)."""
        return np.array([1.0 - self.prior, self.prior])

    @property
    def within(self) -> Array:
        """(2, 2) Σ_w = Σ_c P(c) Σ_c, what S_w/n tends to."""
        return np.asarray(np.einsum("c,cij->ij", self.priors, self.covariances))


@dataclass(frozen=True)
class ErringBoundary:
    """A boundary with its error rate, P(decided ≠ true)."""

    quadric: Quadric
    error: float


class Boundaries(NamedTuple):
    """The three rules for the same two classes; Bayes's error is the least that any rule can have."""

    fisher: ErringBoundary
    lda: ErringBoundary
    bayes: ErringBoundary


def boundaries(classes: TwoGaussians) -> Boundaries:
    """Fisher's projection with the cut midway between the projected means; LDA with the shared Σ_w and the prior;
    Bayes's rule, which knows each class's own Σ. With w = Σ_w⁻¹(μ₂ − μ₁):

        Fisher  wᵀ(x − (μ₁ + μ₂)/2) > 0
        LDA     wᵀ(x − (μ₁ + μ₂)/2) + log P(c₂)/P(c₁) > 0
        Bayes   log P(c₂) p(x|c₂) − log P(c₁) p(x|c₁) > 0

    So equal priors make the first two one, whatever the covariances; equal covariances make the last two one.
    """
    first, second = classes.means
    w = np.linalg.solve(classes.within, second - first)
    odds = float(log(classes.prior) - log(1.0 - classes.prior))
    middle = -float(w @ (first + second)) / 2.0
    inverse = np.linalg.inv(classes.covariances)
    log_det = np.linalg.slogdet(classes.covariances)[1]
    pull = np.einsum("cij,cj->ci", inverse, classes.means)
    own = -0.5 * ((pull * classes.means).sum(axis=1) + log_det)
    flat = np.zeros((2, 2))
    rules = (
        Quadric(flat, w, middle),
        Quadric(flat, w, middle + odds),
        Quadric(-0.5 * (inverse[1] - inverse[0]), pull[1] - pull[0], float(own[1] - own[0]) + odds),
    )
    return Boundaries(*(ErringBoundary(rule, error_rate(rule, classes)) for rule in rules))


def error_rate(rule: Quadric, classes: TwoGaussians) -> float:
    """P(decided ≠ true), exact to quadrature: Σ_c P(c) ∫ P(wrong | c, θ) dθ/2π. From the mean of class c, in units of
    its own Σ_c, a ray at the angle θ has a length R with P(R > r) = exp(−r²/2), and meets the boundary at the two roots
    of a quadratic."""
    wrong = 0.0
    for c, share in enumerate(classes.priors):
        mean, root = classes.means[c], np.linalg.cholesky(classes.covariances[c])
        start, slope, bend = float(rule.at(mean)), root.T @ (2.0 * rule.A @ mean + rule.b), root.T @ rule.A @ root
        theta, weight = _angles(start, slope, bend)
        ray = np.stack([np.cos(theta), np.sin(theta)], axis=-1)
        above = _share_above(np.einsum("ri,ij,rj->r", ray, bend, ray), ray @ slope, start)
        second = float(weight @ above) / (2.0 * np.pi)
        wrong += float(share) * (second if c == 0 else 1.0 - second)
    return wrong


def _angles(start: float, slope: Array, bend: Array) -> tuple[Array, Array]:
    """Nodes and weights on the circle. A ray along the level curve (slope 0), along an asymptote (bend 0) or tangent to
    the boundary (discriminant 0) ends a piece; on each piece the nodes crowd at both ends (tanh-sinh), since a boundary
    that passes close by the mean makes the integrand as good as jump there."""
    along = np.arctan2(slope[1], slope[0]) + np.pi / 2.0
    corners = [along, along + np.pi, *_zeros(bend), *_zeros(np.outer(slope, slope) - 4.0 * start * bend)]
    ends = np.sort(np.mod(corners, 2.0 * np.pi))
    halves = np.diff(ends, append=ends[0] + 2.0 * np.pi)[:, None] / 2.0
    t = np.linspace(-3.2, 3.2, RAYS)
    inner = 0.5 * np.pi * np.sinh(t)
    weight = 0.5 * np.pi * np.cosh(t) / np.cosh(inner) ** 2 * (t[1] - t[0])
    return (ends[:, None] + halves * (1.0 + np.tanh(inner))).ravel(), (halves * weight).ravel()


def _zeros(form: Array) -> list[float]:
    """The angles of u with uᵀFu = m + r cos(2θ − φ) = 0, F (2, 2) symmetric."""
    middle, even, odd = (form[0, 0] + form[1, 1]) / 2.0, (form[0, 0] - form[1, 1]) / 2.0, form[0, 1]
    radius, phase = np.hypot(even, odd), np.arctan2(odd, even)
    if radius <= abs(middle):
        return []
    half = np.arccos(-middle / radius)
    return [float((phase + sign * half) / 2.0 + turn) for sign in (-1.0, 1.0) for turn in (0.0, np.pi)]


def _share_above(bend: Array, slope: Array, start: float) -> Array:
    """(r,) P(bend R² + slope R + start > 0) for a length R of Rayleigh's distribution."""
    disc = slope**2 - 4.0 * bend * start
    # q keeps its digits where `bend` is nearly zero: the roots are q/bend and start/q
    q = -0.5 * (slope + np.where(slope < 0, -1.0, 1.0) * np.sqrt(np.maximum(disc, 0.0)))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        roots = np.stack([q / bend, start / q])
    real = (disc > 0) & (roots > 0) & (roots < FAR)
    low, high = np.sort(np.where(real, roots, FAR), axis=0)
    inside = exp(-0.5 * low**2) - exp(-0.5 * high**2)  # between the roots the sign is the other one than at the start
    positive = np.where(start != 0, start > 0, slope > 0)
    return np.asarray(np.where(positive, 1.0 - inside, inside))


def two_gaussians(
    distance: float, first: tuple[float, float], second: tuple[float, float], prior: float = 0.5
) -> TwoGaussians:
    """Two classes with their means at ∓distance/2 across; each class's covariance from its `height`, the standard
    deviation up for one of 1 across, and its correlation.

    >>> two_gaussians(2.0, (1.0, 0.0), (2.0, 0.5)).covariances[1].tolist()
    [[1.0, 1.0], [1.0, 4.0]]
    """
    spread = [[[1.0, height * r], [height * r, height**2]] for height, r in (first, second)]
    return TwoGaussians(np.array([[-distance / 2.0, 0.0], [distance / 2.0, 0.0]]), np.array(spread), prior)
