"""The first steps, shown with numbers: Bayes' theorem and base rates, maximum likelihood, why logs are added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayes_engine.factors import LOG_2PI, normal_log_density
from bayes_engine.logspace import Array, exp, log, log_sum

STEPS = 18
"""Of a climb that is drawn."""

# Bayes' theorem -------------------------------------------------------------------------------------------------------


class BaseRate(NamedTuple):
    """Bayes' theorem for «ill» after a test is positive `times` times: `prior` P(c), `likelihood` P(x|c), `other`
    P(x|¬c), `evidence` P(x), `posterior` P(c|x); and of a thousand people, in whole ones, how many are ill and found,
    ill and missed, well and alarmed, well and left alone."""

    prior: float
    likelihood: float
    other: float
    evidence: float
    posterior: float
    of_thousand: tuple[int, int, int, int]


def base_rate(prior: float, sensitivity: float, specificity: float, times: int = 1) -> BaseRate:
    """P(c|x) = P(x|c) P(c) / P(x) with P(x) = Σ_c P(x|c) P(c) (Zhou, eq. 7.8); repeated tests are taken to be
    independent given the class. The thousand are rounded by largest remainder, so that they are a thousand.

    >>> rate = base_rate(0.01, 0.9, 0.91)
    >>> round(rate.posterior, 4), rate.of_thousand
    (0.0917, (9, 1, 89, 901))
    """
    likelihood, other = sensitivity**times, (1.0 - specificity) ** times
    joint, rest = prior * likelihood, (1.0 - prior) * other
    evidence = joint + rest
    shares = [joint, prior - joint, rest, 1.0 - prior - rest]
    whole = [int(1000.0 * s + 1e-9) for s in shares]
    order = sorted(range(4), key=lambda i: (whole[i] - 1000.0 * shares[i], i))
    for i in order[: 1000 - sum(whole)]:
        whole[i] += 1
    posterior = joint / evidence if evidence > 0 else float("nan")
    return BaseRate(prior, likelihood, other, evidence, posterior, (whole[0], whole[1], whole[2], whole[3]))


def posterior_curve(sensitivity: float, specificity: float, times: int = 1) -> tuple[Array, Array]:
    """Priors from 0 to 1, close together near both ends, and the posterior of each."""
    priors = (1.0 - np.cos(np.linspace(0.0, np.pi, 181))) / 2.0
    up, down = priors * sensitivity**times, (1.0 - priors) * (1.0 - specificity) ** times
    return priors, np.divide(up, up + down, out=np.zeros_like(up), where=up + down > 0)


# the likelihood -------------------------------------------------------------------------------------------------------


def log_gaussian(x: Array, mean: float | Array, sd: float | Array) -> Array:
    """log N(x; μ, σ²) of each x; of several Gaussians (n, 1) each has its row."""
    return normal_log_density(x, np.array(mean), np.array(sd) ** 2)


class Climbed(NamedTuple):
    """log p(x | μ, σ) of some rows: its value at a place and at the `best` (μ̂, σ̂), its gradient (∂/∂μ, ∂/∂σ) there;
    the surface `below` the maximum over `means` × `sds`; the `path` (t, 2) of a climb from there."""

    value: float
    top: float
    best: tuple[float, float]
    gradient: tuple[float, float]
    means: Array
    sds: Array
    below: Array
    path: Array


def climb(rows: Sequence[float], mean: float, sd: float) -> Climbed:
    """LL(μ, σ) = Σ log N(xᵢ; μ, σ²). Its gradient is zero where μ̂ = Σxᵢ/n and σ̂² = Σ(xᵢ − μ̂)²/n, the closed form. The
    climb goes along F⁻¹∇, F = diag(n, 2n)/σ² (Fisher scoring), by half steps, so that one sees it go."""
    x = np.asarray(rows, dtype=float)
    n, centre = len(x), float(x.mean())
    spread = max(float(x.std()), 1e-3)

    def gradient(mu: float, sigma: float) -> tuple[float, float]:
        return float((x - mu).sum()) / sigma**2, float(((x - mu) ** 2).sum()) / sigma**3 - n / sigma

    path = [(mean, sd)]
    for _step in range(STEPS):
        mu, sigma = path[-1]
        slope_mu, slope_sd = gradient(mu, sigma)
        up = 0.5 * sigma**2 * slope_sd / (2 * n)
        path.append((mu + 0.5 * sigma**2 * slope_mu / n, max(sigma + min(up, 0.6 * sigma), 0.3 * sigma)))
    low, high = centre - 3.2 * spread, centre + 3.2 * spread
    means = np.linspace(min(low, mean - 0.3 * spread), max(high, mean + 0.3 * spread), 97)
    sds = np.linspace(0.35 * min(spread, sd), max(3.0 * spread, 1.25 * sd), 97)
    squares = n * (centre - means) ** 2 + n * float(x.var())
    surface = -0.5 * squares[None, :] / sds[:, None] ** 2 - n * log(sds)[:, None] - 0.5 * n * LOG_2PI
    top = float(log_gaussian(x, centre, spread).sum())
    value = float(log_gaussian(x, mean, sd).sum())
    return Climbed(
        value, top, (centre, spread), gradient(mean, sd), means, sds, np.asarray(surface - top), np.array(path)
    )


def numbers_drawn(n: int, seed: int) -> list[float]:
    """A seeded sample of N(5, 2²), to two decimals; a longer one begins with the shorter.

    >>> numbers_drawn(5, 1)[:3] == numbers_drawn(3, 1)
    True
    """
    return [round(float(v), 2) for v in np.random.default_rng(seed).normal(5.0, 2.0, 200)[:n]]


def levels_drawn(n: int, seed: int) -> tuple[int, ...]:
    """How often each level came in n seeded draws with θ = 0.5, 0.3, 0.2; a longer sample contains the shorter.

    >>> sum(levels_drawn(12, 3))
    12
    """
    drawn = np.random.default_rng(seed).choice(3, size=200, p=[0.5, 0.3, 0.2])[:n]
    return tuple(int(c) for c in np.bincount(drawn, minlength=3))


class Shares(NamedTuple):
    """log p(counts | θ) = Σ_s n_s log θ_s of the rows in their order, here and at the best θ̂_s = n_s/n; the gradient
    along the simplex; the curve over θ₁, the others in proportion, as `shares` and `curve`."""

    value: float
    top: float
    best: tuple[float, ...]
    gradient: tuple[float, ...]
    shares: Array
    curve: Array


def multinomial(counts: Sequence[int], theta: Sequence[float]) -> Shares:
    """The log-likelihood of a multinomial. With Σθ = 1 its gradient is n_s/θ_s − n, 0 at the closed form n_s/n."""
    seen, here = np.asarray(counts, dtype=float), np.asarray(theta, dtype=float)
    n = float(seen.sum())
    best = seen / n

    def value(share: Array) -> float:
        return float((seen[seen > 0] * log(share[seen > 0])).sum())

    shares = np.linspace(0.002, 0.998, 250)
    rest = here[1:] / here[1:].sum()
    curve = np.array([value(np.concatenate([[t], (1.0 - t) * rest])) for t in shares])
    gradient = tuple(float(g) for g in seen / here - n)
    return Shares(value(here), value(best), tuple(best.tolist()), gradient, shares, curve)


# underflow ------------------------------------------------------------------------------------------------------------


class Underflow(NamedTuple):
    """Products of d probabilities in floating point. `steps` (m,) numbers of columns, `log10` of the true product at
    each, `double` and `single` log₁₀ of what float64 and float32 hold (NaN from where it is 0); `double_dies` and
    `single_dies` the first d at which the product is 0, or `stuck`: no longer falls, as every factor above ½ is rounded
    back up to the smallest number there is; None if it never is; the `logs` (2,) of the two classes' joints, their
    `products` in float64, and the `posterior` of the first by way of logs."""

    steps: Array
    log10: Array
    double: Array
    single: Array
    double_dies: int | None
    single_dies: int | None
    logs: tuple[float, float]
    products: tuple[float, float]
    posterior: float
    stuck: bool


def underflow(d: int, typical: float, lean: float) -> Underflow:
    """d columns whose value has the probability `typical` in the second class and typical·exp(lean) in the first, equal
    priors."""
    steps = np.arange(1, d + 1)
    one = float(log(typical))
    double: Array = np.asarray(np.cumprod(np.full(d, typical)), dtype=float)
    single = np.cumprod(np.full(d, typical, dtype=np.float32), dtype=np.float32)

    def held(product: Array) -> tuple[Array, int | None]:
        alive = product > 0
        shown = np.where(alive, log(np.where(alive, product, 1.0)) / float(log(10.0)), np.nan)
        true = alive & np.append(True, np.diff(product) < 0)
        return shown, None if true.all() else int(true.argmin()) + 1

    double_shown, double_dies = held(double)
    single_shown, single_dies = held(np.asarray(single, dtype=float))
    logs = (d * (one + lean) + float(log(0.5)), d * one + float(log(0.5)))
    products = tuple(float(np.cumprod([0.5, *[float(exp(one + shift))] * d])[-1]) for shift in (lean, 0.0))
    posterior = float(exp(logs[0] - log_sum(np.array(logs))))
    every = np.unique(np.linspace(0, d - 1, min(d, 400)).astype(int))
    ends = [v - 1 for v in (double_dies, single_dies) if v is not None]
    kept = np.unique(np.concatenate([every, ends, [v - 1 for v in ends if v]]).astype(int))
    return Underflow(
        steps[kept], (steps * one / float(log(10.0)))[kept], double_shown[kept], single_shown[kept],
        double_dies, single_dies, logs, (products[0], products[1]), posterior,
        single_dies is not None and bool(single[-1] > 0),
    )  # fmt: skip


def log_sum_steps(a: float, b: float) -> dict[str, float]:
    """log(eᵃ + eᵇ) = m + log(eᵃ⁻ᵐ + eᵇ⁻ᵐ), m the larger: what is computed on the way.

    >>> {k: round(v, 6) for k, v in log_sum_steps(-1000.0, -1001.0).items()}
    {'plain': -inf, 'm': -1000.0, 'first': 1.0, 'second': 0.367879, 'sum': -999.686738, 'posterior': 0.731059}
    """
    m = max(a, b)
    total = float(log_sum(np.array([a, b])))
    plain = float(log(float(exp(a)) + float(exp(b))))
    return {
        "plain": plain, "m": m, "first": float(exp(a - m)), "second": float(exp(b - m)), "sum": total,
        "posterior": float(exp(a - total)),
    }  # fmt: skip
