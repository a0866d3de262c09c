"""What may be answered to a question: P(c, x_j | x) over the answers, what one is worth, and what each leads to.

Levels are summed. Of Gaussians the line is cut exactly where the decision changes; counts are summed between bounds
beyond which there is nothing to speak of; any other density is integrated, with its error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, xlogy

from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.decision.risk import near_least
from bayes_engine.factors import LOG_2PI, normal_log_density
from bayes_engine.logspace import Array, exp, log, normalize

REACH = np.linspace(-9.0, 9.0, 73)
"""Where a Gaussian is looked at first, in its standard deviations; 2·10⁻¹⁹ of it lies beyond."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
FEW = 64
"""Of more densities than this, those of a kernel, the line is shared out among their common points."""
FEWER_NODES = np.polynomial.legendre.leggauss(3)
"""What suffices for panels of a quarter of a bump."""
CLOSE = 1e-8
"""How closely a point where the decision changes is found, in standard deviations. Both risks are equal there, so that
the integral is off by the square of it."""
ROUNDING = 1e-13
"""A difference of risks that is this small beside their terms is none."""
PANELS = 2**13
"""Panels after which a quadrature stops refining."""
MOST_DENSITIES = 2**22
"""Densities that are computed at once."""


class Outcome(NamedTuple):
    """One answer, or an interval (`low`, `high`] of answers with one decision: how probable it is, P(c | x, answer),
    and the decision that it leads to."""

    level: Any
    low: float
    high: float
    probability: float
    posterior: tuple[float, ...]
    action: Any
    risk: float


class Answers(Protocol):
    """P(c, x_j | x) over what may be answered."""

    def gain(self, table: Array) -> tuple[float, float]:
        """min_a R(a) − E[min_a R(a | answer)] under losses (A, C), and its error."""

    def information(self) -> float:
        """I(c; x_j | x), in nats."""

    def outcomes(self, loss: LossMatrix) -> Iterator[Outcome]:
        """What each answer leads to."""


@dataclass(frozen=True)
class LevelAnswers(Answers):
    """`share` (S, C): P(c, x_j = s | x) of the `levels` s."""

    share: Array
    levels: Any

    def gain(self, table: Array) -> tuple[float, float]:
        risks = self.share @ table.T
        return float(risks.sum(axis=0).min() - risks.min(axis=1).sum()), 0.0

    def information(self) -> float:
        own, of_class = self.share.sum(axis=1, keepdims=True), self.share.sum(axis=0)
        return float(xlogy(self.share, self.share).sum() - xlogy(own, own).sum() - xlogy(of_class, of_class).sum())

    def outcomes(self, loss: LossMatrix) -> Iterator[Outcome]:
        for level, share in zip(self.levels, self.share, strict=True):
            yield _outcome(share, loss, None, level=level)


@dataclass(frozen=True)
class GaussianAnswers(Answers):
    """P(c, x_j | x) = Σ_m w_m N(x_j; μ_m, σ_m), each Gaussian of one class: `weight`, `mean`, `sd`, `owner` (M,)."""

    weight: Array
    mean: Array
    sd: Array
    owner: NDArray[np.intp]
    classes: int

    def density(self, x: Array) -> Array:
        """(n, M) w_m N(x; μ_m, σ_m)."""
        return self.weight * exp(normal_log_density(x[:, None], self.mean, self.sd**2))

    def mass(self, low: Array, high: Array) -> Array:
        """(n, C) P(c, low < x_j ≤ high | x)."""
        ends = [(end[:, None] - self.mean) / self.sd for end in (low, high)]
        return np.asarray((self.weight * _between(*ends)) @ self._owned)

    def gain(self, table: Array) -> tuple[float, float]:
        low, high, action = self.pieces(table)
        risks = self.mass(low, high) @ table.T
        before = np.bincount(self.owner, self.weight, minlength=self.classes) @ table.T
        return float(before.min() - risks[np.arange(len(action)), action].sum()), 0.0

    def pieces(self, table: Array) -> tuple[Array, Array, NDArray[np.intp]]:
        """The line cut where argmin_a Σ_m λ_a,c(m) w_m N(x; μ_m, σ_m) changes: `low`, `high`, and the action between.

        A piece in which one action is best at both ends, and no other can dip below it by their tangents, is settled;
        the others are halved until they are closer than `CLOSE`.
        """
        cost = table[:, self.owner]
        x = self._grid
        width = CLOSE * float(self.sd.min())
        low, high, settled = x[:-1], x[1:], []
        risk, slope, size = (np.stack([v[:-1], v[1:]]) for v in self._at(x, cost))
        while True:
            split, action = _unsettled(high - low, risk, slope, size)
            split &= high - low > np.maximum(width, 4 * np.spacing(np.abs(low)))
            settled.append((low[~split], high[~split], action[~split]))
            if not split.any():
                break
            low, high = low[split], high[split]
            middle = (low + high) / 2.0
            risk, slope, size = (
                np.concatenate([[v[0, split], m], [m, v[1, split]]], axis=1)
                for v, m in zip((risk, slope, size), self._at(middle, cost), strict=True)
            )
            low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        low, high, action = (np.concatenate(parts) for parts in zip(*settled, strict=True))
        order = np.argsort(low, kind="stable")
        low, high, action = low[order], high[order], action[order]
        starts = np.flatnonzero(np.append(True, action[1:] != action[:-1]))
        low, action = low[starts], action[starts]
        low[0] = -np.inf
        return low, np.append(low[1:], np.inf), action

    def information(self) -> float:
        nodes, weights = (NODES, WEIGHTS) if len(self.weight) <= FEW else FEWER_NODES
        x = self._grid
        half = np.diff(x) / 2.0
        points = ((x[:-1] + half)[:, None] + half[:, None] * nodes).ravel()
        step, owned = max(MOST_DENSITIES // len(self.weight), 1), self._owned
        share = np.concatenate([self.density(points[i : i + step]) @ owned for i in range(0, len(points), step)])
        of_class = np.bincount(self.owner, self.weight, minlength=self.classes)
        own = share.sum(axis=1)
        apart = xlogy(own, own) + xlogy(share, of_class).sum(axis=1)
        return float((half[:, None] * weights).ravel() @ (xlogy(share, share).sum(axis=1) - apart))

    def outcomes(self, loss: LossMatrix) -> Iterator[Outcome]:
        low, high, action = self.pieces(loss.table)
        for a, b, k, share in zip(low.tolist(), high.tolist(), action, self.mass(low, high), strict=True):
            yield _outcome(share, loss, int(k), low=a, high=b)

    @property
    def _owned(self) -> Array:
        """(M, C) 1 where the Gaussian is the class's."""
        return np.asarray(self.owner[:, None] == np.arange(self.classes), dtype=float)

    @property
    def _reach(self) -> Array:
        """Where each of them is looked at first, in its standard deviations."""
        return REACH

    @property
    def _grid(self) -> Array:
        reach = self._reach
        if len(self.mean) <= FEW:
            return np.unique(self.mean + self.sd * reach[:, None])
        step = self.sd * (reach[1] - reach[0])  # those of one width look at the same points, however many they are
        return np.unique(np.rint(self.mean / step + np.rint(reach / (reach[1] - reach[0]))[:, None]) * step)

    def slope(self, x: Array, density: Array) -> Array:
        """(n, M) the derivatives of the densities (n, M)."""
        return np.asarray(density * (self.mean - x[:, None]) / self.sd**2)

    def _at(self, x: Array, cost: Array) -> tuple[Array, Array, Array]:
        """Risk (n, A) of every action, its slope, and its magnitude, of what is summed."""
        step = max(MOST_DENSITIES // len(self.weight), 1)
        blocks = []
        for some in (x[i : i + step] for i in range(0, len(x), step)):
            density = self.density(some)
            blocks.append((density @ cost.T, self.slope(some, density) @ cost.T, density @ np.abs(cost).T))
        risk, slope, size = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return risk, slope, size


@dataclass(frozen=True)
class AveragedAnswers(GaussianAnswers):
    """Kernels of rounded values: each averaged over ± half the `width` about its mean, (Φ(b) − Φ(a))/width with a and b
    the ends in standard deviations."""

    width: float

    def density(self, x: Array) -> Array:
        return np.asarray(self.weight / self.width * _between(*self._ends(x)))

    def slope(self, x: Array, density: Array) -> Array:
        low, high = (exp(-0.5 * (end * end + LOG_2PI)) for end in self._ends(x))
        return np.asarray(self.weight / (self.width * self.sd) * (high - low))

    def mass(self, low: Array, high: Array) -> Array:
        part = self._below(high) - self._below(low)
        return np.asarray((self.weight * np.clip(part, 0.0, 1.0)) @ self._owned)

    def _below(self, x: Array) -> Array:
        """(n, M) ∫ up to x, by ∫Φ(z) dz = zΦ(z) + φ(z) =: G(z): σ/width (G(b) − G(a))."""
        finite = np.where(np.isfinite(x), x, 0.0)
        a, b = (z * ndtr(z) + exp(-0.5 * (z * z + LOG_2PI)) for z in self._ends(finite))
        return np.where(np.isfinite(x)[:, None], (b - a) * self.sd / self.width, (x > 0)[:, None])

    def _ends(self, x: Array) -> tuple[Array, Array]:
        z, half = (x[:, None] - self.mean) / self.sd, 0.5 * self.width / self.sd
        return z - half, z + half

    @property
    def _reach(self) -> Array:
        """A bump is up to six standard deviations wide."""
        return np.arange(-48.0, 49.0) / 4.0


class CountAnswers(LevelAnswers):
    """`share` (n, C): P(c, x_j = k | x) of the counts k at `levels` (n,) ascending, beyond which there is nothing to
    speak of; of very many each stands for those up to the next."""

    def outcomes(self, loss: LossMatrix) -> Iterator[Outcome]:
        yield from _runs(self.share, loss, self.levels[:-1])


@dataclass(frozen=True)
class DensityAnswers(Answers):
    """P(c, x_j | x) known by its values alone: `density(x)` (n, C) up to a common factor, integrated from `low` to
    `high` by Gauss and Legendre's rule of 8 nodes on panels that are halved until nothing changes.

    The stated error is what the last two halvings changed, the larger: one alone may be luck where the decision changes
    inside a panel."""

    density: Any
    low: float
    high: float

    def gain(self, table: Array) -> tuple[float, float]:
        before, changed, panels = math.inf, math.inf, 64
        while True:
            share = self._shares(panels)
            risks = share @ table.T
            gain = float(risks.sum(axis=0).min() - risks.min(axis=1).sum())
            change = abs(gain - before)
            error = max(change, changed)
            size = float((share.sum(axis=0) @ np.abs(table).T)[risks.sum(axis=0).argmin()])
            if error <= 1e-9 * size or panels >= PANELS:
                return gain, error
            before, changed, panels = gain, change, 2 * panels

    def information(self) -> float:
        return LevelAnswers(self._shares(512), ()).information()

    def outcomes(self, loss: LossMatrix) -> Iterator[Outcome]:
        x = self._nodes(512)[0]
        yield from _runs(self._shares(512), loss, (x[:-1] + x[1:]) / 2.0)

    def _nodes(self, panels: int) -> tuple[Array, Array]:
        half = (self.high - self.low) / (2.0 * panels)
        middles = self.low + half * (2.0 * np.arange(panels) + 1.0)
        return (middles[:, None] + half * NODES).ravel(), np.tile(half * WEIGHTS, panels)

    def _shares(self, panels: int) -> Array:
        x, weight = self._nodes(panels)
        return shares(np.asarray(self.density(x)) + log(weight)[:, None])


def _unsettled(width: Array, risk: Array, slope: Array, size: Array) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Which cells hold a point where the action changes, or may, and the best action at their left ends. `risk`,
    `slope` and `size` (2, n, A) at the ends."""
    n = np.arange(len(width))
    first, last = near_least(risk, size, ROUNDING).argmax(axis=2)  # a tie: the first
    least = ROUNDING * (size + size[:, n, first][..., None])
    over = np.abs(risk[:, n, first] - risk[:, n, last]) > least[:, n, last]
    crossing = (over[0] & (risk[0, n, last] > risk[0, n, first])) | (over[1] & (risk[1, n, first] > risk[1, n, last]))
    gap = risk - risk[:, n, first][..., None]
    turn = slope - slope[:, n, first][..., None]
    bend = turn[1] - turn[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (gap[0] - gap[1] + turn[1] * width[:, None]) / bend  # where the tangents at both ends meet
        dip = (turn[0] < 0) & (turn[1] > 0) & (gap[0] + turn[0] * meet < -least[0])
    return ((first != last) & crossing) | ((first == last) & dip.any(axis=1)), first


def _runs(share: Array, loss: LossMatrix, between: Array) -> Iterator[Outcome]:
    """The intervals of answers with one decision, for the `share` (n, C) of each answer; `between` (n − 1,) is where
    one ends and the next begins."""
    action = (share @ loss.table.T).argmin(axis=1)
    starts = np.flatnonzero(np.append(True, action[1:] != action[:-1]))
    ends = [-math.inf, *between[starts[1:] - 1].tolist(), math.inf]
    for k, part in enumerate(np.split(share, starts[1:])):
        yield _outcome(part.sum(axis=0), loss, int(action[starts[k]]), low=ends[k], high=ends[k + 1])


def _outcome(
    share: Array,
    loss: LossMatrix,
    action: int | None,
    *,
    level: Any = None,
    low: float = -math.inf,
    high: float = math.inf,
) -> Outcome:
    """An outcome whose classes have these shares (C,) of all there is; without an `action`, with the best one."""
    p = float(share.sum())
    posterior = share / p if p > 0 else share
    k = int(decide(posterior[None], loss).position[0]) if action is None else action
    risk = float(loss.table[k] @ posterior)
    return Outcome(level, low, high, p, tuple(posterior.tolist()), loss.actions[k], risk)


def _between(low: Array, high: Array) -> Array:
    """Φ(high) − Φ(low); the small tail keeps its digits."""
    return np.asarray(np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low)))


def shares(log_joint: Array) -> Array:
    """exp of an array of log terms, so that all of it sums to 1; zeros where it is −inf throughout."""
    return normalize(log_joint.reshape(1, -1)).reshape(log_joint.shape)
