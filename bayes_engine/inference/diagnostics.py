"""Has a Markov chain run long enough? R̂, autocorrelation and the Monte-Carlo error of groups of draws.

Written here because neither NumPy nor SciPy has them, and ArviZ, which does, wants every draw in memory where a run
keeps counts alone. Draws are (T, C): T steps of C chains. Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021,
"Rank-normalization, folding, and localization: an improved R̂", Bayesian Analysis 16(2), ask for R̂ < 1.01 and 400
effective draws of four chains or more. For an indicator (draws of 0 or 1) ranks are an affine map of the draws, and
folding at the median leaves them or a constant: there the rank-normalized R̂ is the split R̂, which `gibbs` computes.
"""

from __future__ import annotations

import numpy as np

from bayes_engine.logspace import Array


def gelman_rubin(means: Array, variances: Array, n: float) -> Array:
    """R̂ = √(((n − 1)/n · W + B/n) / W) from the chains' means and variances (…, C), n draws each: B/n is the variance
    of the means, W the mean variance. NaN where nothing varies, ∞ where the chains differ and none of them moves."""
    within = variances.mean(axis=-1)
    between = means.var(axis=-1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt((n - 1) / n + between / within))


def autocovariance(draws: Array) -> Array:
    """(T, C) Σ_t (x_t − x̄)(x_{t+k} − x̄) / T for the lags k = 0 … T − 1, by Fourier transform."""
    centred = np.asarray(draws, dtype=float) - np.mean(draws, axis=0)
    n = len(centred)
    width = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, width, axis=0)
    return np.asarray(np.fft.irfft(spectrum * spectrum.conj(), width, axis=0)[:n] / n)


def autocorrelation(draws: Array, lags: int = 50) -> Array:
    """(lags + 1,) the correlation of a chain with itself k steps later, over all chains about their common mean.

    About the common mean, a chain that never moves is correlated with itself by 1, as it should be. NaN where no draw
    differs from another.
    """
    draws = np.asarray(draws, dtype=float)
    lags = min(lags, len(draws) - 1)
    seen = len(draws) - np.arange(lags + 1)
    inside = autocovariance(draws)[: lags + 1].mean(axis=1) * len(draws) / seen
    total = inside + draws.mean(axis=0).var()
    with np.errstate(invalid="ignore"):
        return np.asarray(total / total[0])


def error_of_groups(means: Array, sizes: Array) -> Array:
    """(…) the standard error of the mean over all, from the means (…, G) of G groups of draws that are independent of
    each other; `sizes` (G,) are their draws: √(G/(G−1) Σ n_g² (x̄_g − x̄)²) / Σ n_g. Groups are chains, sets of chains,
    or batches of one chain long enough to forget the one before (batch means). NaN for one group."""
    count = len(sizes)
    if count < 2:
        return np.full(means.shape[:-1], np.nan)
    mean = (means @ sizes / sizes.sum())[..., None]
    return np.asarray(np.sqrt(count / (count - 1) * ((sizes * (means - mean)) ** 2).sum(axis=-1)) / sizes.sum())
