"""Gibbs sampling of a discrete network: P(Q = q | E = e) ≈ n_q / T (Zhou, §7.5.3, fig. 7.5). pgmpy and pyAgrum walk
node by node, and say nothing of a chain that zeros keep from coming everywhere.

From a state that agrees with the evidence, every hidden node in turn is drawn from its probabilities given all others.
One pass over all of them is a step; of T steps n_q find Q = q. The textbook's form is one chain from a random state;
beside it stand many chains in step, blocks of nodes drawn together, and starts resampled from likelihood weighting.

Has a chain run long enough? Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021, "Rank-normalization, folding, and
localization: an improved R̂", Bayesian Analysis 16(2), ask for R̂ < 1.01 and 400 effective draws of four chains or more.
NumPy and SciPy have neither; ArviZ, which does, wants every draw in memory where a run keeps counts alone. For an
indicator (draws of 0 or 1) ranks are an affine map of the draws, and folding at the median leaves them or a constant:
there the rank-normalized R̂ is the split R̂. Draws are (T, C): T steps of C chains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.factors.network import HIDDEN, Network
from bayes_engine.inference.forward_sampling import Places, bits, checked_evidence, thresholds
from bayes_engine.inference.gibbs_kernel import (
    Blocks,
    GibbsState,
    Scan,
    Start,
    TransitionKernel,
    compile_gibbs,
    conditional,
    gibbs_step,
    groups_of,
    start,
)
from bayes_engine.inference.irreducibility import certain
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.priors import checked_whole
from bayes_engine.progress import steps

Status = Literal["converged", "not yet", "cannot be ergodic", "not shown ergodic"]

BATCHES = 20
"""Batches of time of each chain where there are fewer chains than this."""
RHAT, ENOUGH = 1.01, 400.0
"""Converged below this R̂ and from so many effective draws on (Vehtari et al. 2021)."""


@dataclass(frozen=True, eq=False)
class Event:
    """P(Q = q | e) ≈ `estimate` = n_q / T over all chains, with its Monte-Carlo error, and how it came about.

    `running` (K,) is the estimate after `at` (K,) sweeps and `error` (K,) its Monte-Carlo error; `autocorrelation`
    (lags,) is that of the indicator of Q = q; `draws` (T, few) are the indicators of the first chains.
    """

    estimate: float
    mc_error: float
    rhat: float
    ess: float
    at: NDArray[np.intp]
    running: Array
    error: Array
    autocorrelation: Array
    draws: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class GibbsRun:
    """What a run found, for every node of the network in its order (a node of the evidence is certain, error 0).

    `marginals[j]` (S_j,) are the n_q / T; `mc_error[j]` their Monte-Carlo errors, between groups of chains, or between
    batches of time where chains are few; 0 where all draws agree, which tells nothing of the levels never seen.
    `rhat` (d,) the largest split R̂ of a node's levels (rank-normalization changes nothing on indicators), NaN where
    all draws agree. `ess` (d,) the least p(1 − p)/error². `walk` (K, few, d) are states of the first chains after
    `walk_at` (K,) counted sweeps, 0 before the first. `sweeps` were counted, after `burn_in` others.
    """

    kernel: TransitionKernel
    chains: int
    sweeps: int
    burn_in: int
    start: Start
    marginals: tuple[Array, ...]
    mc_error: tuple[Array, ...]
    rhat: Array
    ess: Array
    event: Event | None
    walk: Places
    walk_at: NDArray[np.intp]
    status: Status
    message: Message

    def __getitem__(self, name: str) -> Array:
        """P(x_j | e) of one node."""
        return self.marginals[self.kernel.network.position[name]]


@dataclass(frozen=True)
class GibbsSettings:
    """How the chains are run: from their start (`begin`) `burn_in` sweeps that are not counted, then `sweeps` that are,
    node after node as `scan` says, the nodes of `blocks` together. `keep` states and running estimates are kept, of
    `walkers` chains.

    Zhou's algorithm is `chains=1, burn_in=0, scan="textbook", begin="consistent"`. Raises ParameterError on numbers
    with which nothing is counted or kept.
    """

    chains: int = 64
    sweeps: int = 1000
    burn_in: int = 100
    scan: Scan = "sequential"
    begin: Start = "weighted"
    blocks: Blocks = None
    keep: int = 200
    walkers: int = 4

    def __post_init__(self) -> None:
        for name, least in (("chains", 1), ("sweeps", 1), ("burn_in", 0), ("keep", 2), ("walkers", 1)):
            checked_whole(name, getattr(self, name), least)


def gibbs(
    network: Network,
    evidence: Places,
    *,
    rng: np.random.Generator,
    settings: GibbsSettings = GibbsSettings(),
    event: Places | None = None,
) -> GibbsRun:
    """Run the chains; `event` (d,) is Q = q as places, of several nodes at once if wished.

    A run is never "converged" unless it is known to be ergodic (`Irreducibility`), there are four chains and sweeps at
    least, every node was seen at two levels unless zeros leave it one, every R̂ is below 1.01, and every effective
    sample size is 400 or more.
    """
    chains, sweeps, keep, walkers = settings.chains, settings.sweeps, settings.keep, settings.walkers
    kernel = compile_gibbs(network, evidence, scan=settings.scan, blocks=settings.blocks)
    state = start(kernel, rng, chains, settings.begin)
    for _ in steps(range(settings.burn_in)):
        state, _info = gibbs_step(rng, state, kernel)
    tally = _Tally(kernel, chains, sweeps, None if event is None else checked_evidence(network, event), keep)
    walk_at = np.unique(np.linspace(0, sweeps, min(keep, sweeps + 1)).astype(np.intp))
    wanted = set(walk_at.tolist())
    walk = [_first(kernel, state, walkers)]
    for t in steps(range(1, sweeps + 1)):
        state, _info = gibbs_step(rng, state, kernel)
        tally.add(state.x, t)
        if t in wanted:
            walk.append(_first(kernel, state, walkers))
    marginals, errors, rhat, ess = tally.nodes()
    asked = tally.event()
    status, message = _verdict(kernel, chains, sweeps, rhat, ess, asked)
    return GibbsRun(
        kernel, chains, sweeps, settings.burn_in, settings.begin, marginals, errors, rhat, ess, asked,
        np.stack(walk), walk_at, status, message,
    )  # fmt: skip


class Update(NamedTuple):
    """One draw of the textbook's chain: `node` had `before`, its levels have the probabilities `p` (S,) given all
    others, `after` was drawn; `places` (d,) is the state then."""

    sweep: int
    node: str
    before: int
    p: Array
    after: int
    places: Places


def updates(kernel: TransitionKernel, rng: np.random.Generator, places: Places, n: int) -> list[Update]:
    """n single draws from the state `places` (d,), node by node in the order of the network: the algorithm of Zhou's
    figure 7.5 in slow motion, with the probabilities as products of the tables' entries."""
    hidden = sorted(kernel.hidden)
    now = np.array(places, dtype=np.intp)
    done = []
    for t in range(n if hidden else 0):
        j = hidden[t % len(hidden)]
        p = conditional(kernel.network, j, now[None])[0]
        before = int(now[j])
        now[j] = int((bits(rng, (1, 1)) >= thresholds(p[None])).sum())
        done.append(Update(t // len(hidden), kernel.network.names[j], before, p, int(now[j]), now.copy()))
    return done


def _first(kernel: TransitionKernel, state: GibbsState, walkers: int) -> Places:
    return kernel.places(GibbsState(state.x[:, :walkers], state.sweep))


class _Tally:
    """Counts of every level by chain and batch of time, and of the event; what is read off them at the end."""

    def __init__(self, kernel: TransitionKernel, chains: int, sweeps: int, event: Places | None, keep: int) -> None:
        self.kernel, self.chains, self.sweeps = kernel, chains, sweeps
        self.groups = groups_of(chains)
        self.group_sizes = np.array([len(g) for g in self.groups], dtype=float)
        self.sizes = [kernel.network.sizes[j] for j in kernel.hidden]
        batches = min(2 if chains >= BATCHES else BATCHES, sweeps)
        self.ends = np.linspace(0, sweeps, batches + 1).astype(np.intp)[1:]
        self.batch = 0
        self.rows = [sum(size > s for size in self.sizes) for s in range(1, max(self.sizes, default=1))]
        self.counts = [np.zeros((batches, n, chains)) for n in self.rows]
        self.small = [np.zeros((n, chains), dtype=np.uint8) for n in self.rows]
        self.waiting = 0
        self.wanted: list[tuple[int, int]] | None = None
        if event is not None:
            given = kernel.evidence
            self.never = bool(((event != HIDDEN) & (given != HIDDEN) & (event != given)).any())
            self.wanted = [(r, int(event[j])) for r, j in enumerate(kernel.hidden) if event[j] != HIDDEN]
            self.hits = np.zeros((batches, chains))
            self.at = np.unique(np.linspace(1, sweeps, min(keep, sweeps)).astype(np.intp))
            self.marks = set(self.at.tolist())
            self.running: list[tuple[float, float]] = []
            self.draws = np.zeros((sweeps, max(1, min(chains, 1_000_000 // sweeps))), dtype=bool)

    def add(self, x: NDArray[np.float32], t: int) -> None:
        """Count the state after sweep t."""
        for s, (n, small) in enumerate(zip(self.rows, self.small, strict=True), start=1):
            small += (x[:n] == s).view(np.uint8)
        self.waiting += 1
        end = t == self.ends[self.batch]
        if self.wanted is not None:
            self._add_event(x, t)
        if self.waiting == 255 or end:
            for count, small in zip(self.counts, self.small, strict=True):
                count[self.batch] += small
                small[:] = 0
            self.waiting = 0
        self.batch += bool(end)

    def _add_event(self, x: NDArray[np.float32], t: int) -> None:
        assert self.wanted is not None
        hit = np.full(self.chains, not self.never)
        for r, place in self.wanted:
            hit &= x[r] == place
        self.hits[self.batch] += hit
        self.draws[t - 1] = hit[: self.draws.shape[1]]
        if t in self.marks:
            share = self.hits.sum(axis=0) / t
            error = error_of_groups(np.array([share[g].mean() for g in self.groups]), self.group_sizes)
            self.running.append((float(share.mean()), float(error)))

    @property
    def lengths(self) -> Array:
        return np.diff(self.ends, prepend=0).astype(float)

    def _read(self, count: Array) -> tuple[float, float, float, float]:
        """(estimate, Monte-Carlo error, R̂, ESS) from how often an event was seen (batches, chains)."""
        total = self.sweeps * self.chains
        p = float(count.sum() / total)
        if self.chains >= BATCHES:
            sizes = self.group_sizes * self.sweeps
            means = np.array([count[:, g].sum() for g in self.groups]) / sizes
        else:
            sizes = np.repeat(self.lengths, self.chains)
            means = count.ravel() / sizes
        error = float(error_of_groups(means, sizes))
        rhat = float("nan")
        half = len(count) // 2
        if half and self.sweeps >= 4:
            spans = self.lengths[:half].sum(), self.lengths[half:].sum()
            share = np.concatenate([count[:half].sum(axis=0) / spans[0], count[half:].sum(axis=0) / spans[1]])
            n = self.sweeps / 2
            rhat = float(gelman_rubin(share, share * (1.0 - share) * n / (n - 1.0), n))
        ess = p * (1.0 - p) / error**2 if error > 0 and 0 < p < 1 else float("nan")
        return p, error, rhat, ess

    def nodes(self) -> tuple[tuple[Array, ...], tuple[Array, ...], Array, Array]:
        network, evidence = self.kernel.network, self.kernel.evidence
        marginals = [np.eye(size)[max(place, 0)] for size, place in zip(network.sizes, evidence, strict=True)]
        errors = [np.zeros(size) for size in network.sizes]
        rhat, ess = np.full((2, len(network.cpts)), np.nan)
        for r, (j, size) in enumerate(zip(self.kernel.hidden, self.sizes, strict=True)):
            counts = [self.counts[s - 1][:, r] for s in range(1, size)]
            rest = self.lengths[:, None] - sum(counts, start=np.zeros((len(self.ends), self.chains)))
            estimates = np.array([self._read(count) for count in (rest, *counts)])
            marginals[j], errors[j] = estimates[:, 0], estimates[:, 1]
            if not np.isnan(estimates[:, 2]).all():
                rhat[j] = np.nanmax(estimates[:, 2])
            if not np.isnan(estimates[:, 3]).all():
                ess[j] = np.nanmin(estimates[:, 3])
        return tuple(marginals), tuple(errors), rhat, ess

    def event(self) -> Event | None:
        if self.wanted is None:
            return None
        p, error, rhat, ess = self._read(self.hits)
        running, band = np.array(self.running).T
        if self.chains < BATCHES:  # too few chains to tell the error at every time: it shrinks with √t
            band = error * np.sqrt(self.sweeps / self.at)
        lags = autocorrelation(self.draws)
        return Event(p, error, rhat, ess, self.at, running, band, lags, self.draws)


def _some(names: Sequence[str]) -> str:
    return ", ".join([*(f"'{name}'" for name in names[:6]), *(["…"] if len(names) > 6 else [])])


def _verdict(
    kernel: TransitionKernel, chains: int, sweeps: int, rhat: Array, ess: Array, event: Event | None
) -> tuple[Status, Message]:
    moves = kernel.irreducibility
    names = _some(moves.tied)
    worst = float(np.nanmax([*rhat, -np.inf if event is None else event.rhat, -np.inf]))
    least = float(np.nanmin([*ess, np.inf if event is None else event.ess, np.inf]))
    if moves.kind == "reducible":
        return "cannot be ergodic", Message(
            "zeros in the tables divide the possible states of {nodes} into {n} communicating "
            "classes, and no draw leads from one to another: each chain stays where it began, and "
            "n_q/T is not the posterior; draw these nodes in one block",
            {"nodes": names, "n": len(moves.communicating_classes)},
        )
    if moves.kind == "unknown":
        return "not shown ergodic", Message(
            "zeros in the tables tie {nodes}, and their joint states are too many to enumerate: "
            "whether the chain reaches all of them is not known; the largest R̂ is {rhat:.3f}, but "
            "chains stuck alike agree, too",
            {"nodes": names, "rhat": worst},
        )
    if chains < 4 or sweeps < 4:
        return "not yet", Message(
            "{n} chain(s) of {sweeps} sweep(s) cannot be compared: run 4 or more of both to judge convergence",
            {"n": chains, "sweeps": sweeps},
        )
    still = [j for j in kernel.hidden if math.isnan(rhat[j])]
    if still and (still := [j for j in still if j not in certain(kernel.network, kernel.evidence)]):
        return "not yet", Message(
            "all draws of {nodes} agree: whether the other levels are rare or were not reached cannot be told; run "
            "more sweeps, or start the chains elsewhere",
            {"nodes": _some([kernel.network.names[j] for j in sorted(still)])},
        )
    if worst == -np.inf:
        return "converged", Message("the evidence leaves every node one level: nothing is left to draw")
    if not worst < RHAT:
        return "not yet", Message(
            "the largest R̂ is {rhat:.3f}, and it should be below {limit}: the chains do not agree yet; run more sweeps",
            {"rhat": worst, "limit": RHAT},
        )
    if not least >= ENOUGH:
        return "not yet", Message(
            "the least effective sample size is {ess:.0f}, and it should be {limit:.0f} or more: run more sweeps",
            {"ess": least, "limit": ENOUGH},
        )
    return "converged", Message(
        "every R̂ is below {limit}, the largest {rhat:.3f}; the least effective sample size is {ess:.0f}",
        {"limit": RHAT, "rhat": worst, "ess": least},
    )


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
