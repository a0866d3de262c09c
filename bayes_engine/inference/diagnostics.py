"""Has a Markov chain run long enough? R̂, effective sample size, autocorrelation, Monte-Carlo error.

Draws are (T, C): T steps of C chains. R̂ and the effective sample size are those of Vehtari, Gelman, Simpson, Carpenter
& Bürkner 2021, "Rank-normalization, folding, and localization: an improved R̂", Bayesian Analysis 16(2), which asks for
R̂ < 1.01 and 400 effective draws of four chains or more. For an indicator (draws of 0 or 1) ranks are an affine map of
the draws, and folding at the median leaves them or a constant: there the rank-normalized R̂ is the split R̂.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from bayes_engine.logspace import Array


def split(draws: Array) -> Array:
    """(T // 2, 2C) each chain as two: its first and its second half; of an odd T the middle draw is left out.

    >>> split(np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])).tolist()
    [[1.0, 4.0], [2.0, 5.0]]
    """
    half = len(draws) // 2
    return np.concatenate([draws[:half], draws[len(draws) - half :]], axis=1)


def rank_normalized(draws: Array) -> Array:
    """Every draw (T, C) as the normal quantile of its rank among all: Φ⁻¹((r − 3/8) / (n + 1/4)), ties at their mean
    rank.

    >>> rank_normalized(np.array([[3.0], [1.0], [2.0]])).round(3).ravel().tolist()
    [0.869, -0.869, 0.0]
    """
    rank = rankdata(draws, axis=None).reshape(draws.shape)
    return np.asarray(ndtri((rank - 0.375) / (draws.size + 0.25)))


def gelman_rubin(means: Array, variances: Array, n: float) -> Array:
    """R̂ = √(((n − 1)/n · W + B/n) / W) from the chains' means and variances (…, C), n draws each: B/n is the variance
    of the means, W the mean variance. NaN where nothing varies, ∞ where the chains differ and none of them moves.

    >>> gelman_rubin(np.array([0.0, 1.0]), np.array([1.0, 1.0]), 10).round(4).item()  # √(0.9 + 0.5)
    1.1832
    """
    within = variances.mean(axis=-1)
    between = means.var(axis=-1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt((n - 1) / n + between / within))


def split_rhat(draws: Array) -> float:
    """R̂ of the half chains, without ranks (Gelman et al., BDA3, §11.4).

    >>> split_rhat(np.array([[0.0, 1.0]] * 10)), split_rhat(np.zeros((10, 2)))
    (inf, nan)
    """
    halves = split(np.asarray(draws, dtype=float))
    return float(gelman_rubin(halves.mean(axis=0), (halves - halves[0]).var(axis=0, ddof=1), len(halves)))


def rhat(draws: Array) -> float:
    """The rank-normalized split R̂, the larger one of the draws and of the folded draws |x − median|.

    >>> rng = np.random.default_rng(0)
    >>> round(rhat(rng.normal(size=(1000, 4))), 2), rhat(rng.normal(size=(1000, 4)) + [0, 0, 0, 2]) > 1.2
    (1.0, True)
    """
    halves = split(np.asarray(draws, dtype=float))
    both = [rank_normalized(a) for a in (halves, np.abs(halves - np.median(halves)))]
    # from the first draw on, a chain that stands still has a variance of exactly 0
    found = [float(gelman_rubin(z.mean(axis=0), (z - z[0]).var(axis=0, ddof=1), len(z))) for z in both]
    return float(np.nanmax(found)) if not np.isnan(found).all() else float("nan")


def autocovariance(draws: Array) -> Array:
    """(T, C) Σ_t (x_t − x̄)(x_{t+k} − x̄) / T for the lags k = 0 … T − 1, by Fourier transform.

    >>> autocovariance(np.array([[1.0], [-1.0], [1.0], [-1.0]])).round(2).ravel().tolist()
    [1.0, -0.75, 0.5, -0.25]
    """
    centred = np.asarray(draws, dtype=float) - np.mean(draws, axis=0)
    n = len(centred)
    width = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, width, axis=0)
    return np.asarray(np.fft.irfft(spectrum * spectrum.conj(), width, axis=0)[:n] / n)


def autocorrelation(draws: Array, lags: int = 50) -> Array:
    """(lags + 1,) the correlation of a chain with itself k steps later, over all chains about their common mean.

    About the common mean, a chain that never moves is correlated with itself by 1, as it should be. NaN where no draw
    differs from another.

    >>> autocorrelation(np.array([[0.0, 1.0]] * 4), 2).tolist()
    [1.0, 1.0, 1.0]
    """
    draws = np.asarray(draws, dtype=float)
    lags = min(lags, len(draws) - 1)
    seen = len(draws) - np.arange(lags + 1)
    inside = autocovariance(draws)[: lags + 1].mean(axis=1) * len(draws) / seen
    total = inside + draws.mean(axis=0).var()
    with np.errstate(invalid="ignore"):
        return np.asarray(total / total[0])


def ess(draws: Array) -> float:
    """How many independent draws tell the mean as well as these do: T C / τ̂ of the half chains, τ̂ by Geyer's initial
    monotone sequence (1992) of the combined autocorrelations 1 − (W − mean autocovariance) / v̂ar (Vehtari et al., eq.
    10). NaN where nothing varies, or with fewer than 8 draws a chain.

    >>> independent = np.random.default_rng(0).normal(size=(1000, 4))
    >>> 3500 < ess(independent) < 4500, ess(np.repeat(independent, 10, axis=0)) < 4500
    (True, True)
    """
    halves = split(np.asarray(draws, dtype=float))
    n, chains = halves.shape
    if n < 4 or np.ptp(halves) == 0:
        return float("nan")
    covariance = autocovariance(halves).mean(axis=1)
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + halves.mean(axis=0).var(ddof=1)
    rho = 1.0 - (within - covariance * n / (n - 1)) / total
    rho[0] = 1.0
    pairs = rho[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)
    tau = -1.0 + 2.0 * float(np.minimum.accumulate(pairs[:stop]).sum()) if stop else 1.0
    size = n * chains
    return float(size / max(tau, 1.0 / np.log10(size)))


def mc_error(draws: Array) -> float:
    """The standard error of the mean of all draws (T, C): their standard deviation / √ess.

    >>> independent = np.random.default_rng(0).normal(size=(1000, 4))
    >>> round(mc_error(independent), 3)  # 1 / √4000
    0.016
    """
    draws = np.asarray(draws, dtype=float)
    return float(draws.std(ddof=1) / np.sqrt(ess(draws)))


def error_of_groups(means: Array, sizes: Array) -> Array:
    """(…) the standard error of the mean over all, from the means (…, G) of G groups of draws that are independent of
    each other; `sizes` (G,) are their draws: √(G/(G−1) Σ n_g² (x̄_g − x̄)²) / Σ n_g. Groups are chains, sets of chains,
    or batches of one chain long enough to forget the one before (batch means). NaN for one group.

    >>> error_of_groups(np.array([1.0, 3.0]), np.array([5.0, 5.0])).item()
    1.0
    """
    count = len(sizes)
    if count < 2:
        return np.full(means.shape[:-1], np.nan)
    mean = (means @ sizes / sizes.sum())[..., None]
    return np.asarray(np.sqrt(count / (count - 1) * ((sizes * (means - mean)) ** 2).sum(axis=-1)) / sizes.sum())
