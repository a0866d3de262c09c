"""Sampling a network from its roots down: forward samples, and likelihood weighting for a posterior. pgmpy's likelihood
weighting gives rows with weights, and no error of the estimate.

A node is drawn after its parents from its row of P(x_j | pa_j). With evidence e the nodes of e are not drawn but
clamped, and the row weighs w = Π_{j in e} P(e_j | pa_j) (Fung & Chang 1990; Shachter & Peot 1990): the mean weight
estimates P(e), the weighted share of rows with Q = q estimates P(Q = q | e).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.factors.network import HIDDEN, Network
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.priors import checked_whole
from bayes_engine.progress import steps
from bayes_engine.stats.counts import as_one

BITS = 31
"""A draw is an integer of so many bits: probabilities are kept to multiples of 2⁻³¹."""
BLOCK = 16_384
"""Rows that are drawn at a time: they stay in the cache."""

Places = NDArray[np.intp]
"""Rows (n, d), or one (d,): the place of each node's level, HIDDEN where nothing is known."""


def thresholds(p: Array) -> NDArray[np.uint32]:
    """(S − 1, K) cumulated probabilities of the rows of `p` (K, S), as integers: level s is drawn where s of them are
    at most a draw of `bits`.

    A level keeps its probability to 2⁻³¹; one with a probability above 0 is never rounded to 0, and one with 0 is
    never drawn. A row of zeros draws its first level.
    """
    parts = np.rint(p * 2.0**BITS).astype(np.int64)
    parts[(p > 0) & (parts == 0)] = 1
    parts[np.arange(len(p)), p.argmax(axis=1)] += 2**BITS - parts.sum(axis=1)
    return np.ascontiguousarray(parts.cumsum(axis=1)[:, :-1].T.astype(np.uint32))


def bits(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.uint32]:
    """Uniform integers below 2³¹, in this shape."""
    n = shape[0] * shape[1]
    words = rng.integers(0, 2**64, size=(n + 1) // 2, dtype=np.uint64).view(np.uint32)[:n]
    words >>= np.uint32(32 - BITS)
    return words.reshape(shape)


@dataclass(frozen=True)
class _Node:
    """How a node is drawn, or weighed where it is clamped, from the rows above it."""

    column: int
    parents: tuple[int, ...]
    sizes: tuple[int, ...]
    thresholds: NDArray[np.uint32]
    log: Array
    """(K, S) log P(x_j | pa_j), a row for each joint place of the parents."""


def _nodes(network: Network) -> list[_Node]:
    """The nodes, parents first."""
    nodes = []
    for name in network.graph.order:
        cpt = network[name]
        above = network.axes(cpt.scope[:-1])
        size = cpt.p.shape[-1]
        nodes.append(
            _Node(
                network.position[name],
                above,
                tuple(network.sizes[j] for j in above),
                thresholds(cpt.p.reshape(-1, size)),
                cpt.log.reshape(-1, size),
            )
        )
    return nodes


def _drawn(
    rng: np.random.Generator, nodes: Iterable[_Node], x: NDArray[np.uint8 | np.uint16], evidence: Places
) -> Array:
    """Fill x (d, n), a column each, and give log w (n,)."""
    n = x.shape[1]
    weight = np.zeros(n)
    for node in nodes:
        code = as_one((x[parent] for parent in node.parents), node.sizes, n).astype(np.intp)
        given = evidence[node.column]
        if given != HIDDEN:
            x[node.column] = given
            weight += node.log[:, given].take(code)
            continue
        draw = bits(rng, (1, n))[0]
        x[node.column] = 0
        for level in node.thresholds:
            x[node.column] += draw >= level.take(code)
    return weight


def _pieces(
    rng: np.random.Generator, network: Network, evidence: Places, n: int
) -> Iterator[tuple[NDArray[np.uint8 | np.uint16], Array]]:
    checked_whole("n", n, 1)
    nodes = _nodes(network)
    width = np.uint8 if max(network.sizes, default=1) <= 256 else np.uint16
    for begin in steps(range(0, n, BLOCK)):
        x = np.empty((len(network.cpts), min(BLOCK, n - begin)), dtype=width)
        weight = _drawn(rng, nodes, x, evidence)
        yield x, weight


def checked_evidence(network: Network, evidence: Places) -> Places:
    """`evidence` as a row (d,) of places; raises ParameterError where it is none of this network."""
    row = np.array(evidence, dtype=np.intp)
    if row.shape != (len(network.cpts),):
        raise ParameterError(
            "the evidence has shape {found}; the network has {d} nodes", found=str(row.shape), d=len(network.cpts)
        )
    for name, place, size in zip(network.names, row, network.sizes, strict=True):
        if not HIDDEN <= place < size:
            raise ParameterError(
                "the evidence puts '{name}' at place {place}; it has {size} levels",
                name=name,
                place=int(place),
                size=size,
            )
    return row


def sample(network: Network, n: int, rng: np.random.Generator) -> Places:
    """(n, d) places of n independent rows from P(x)."""
    nothing = np.full(len(network.cpts), HIDDEN, dtype=np.intp)
    return np.concatenate([x.T for x, _ in _pieces(rng, network, nothing, n)]).astype(np.intp)


def weighted_sample(
    network: Network, evidence: Places, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.uint8 | np.uint16], Array]:
    """n rows with the evidence clamped, as columns (d, n), and their log-weights (n,) in nats."""
    drawn = list(_pieces(rng, network, checked_evidence(network, evidence), n))
    return np.concatenate([x for x, _ in drawn], axis=1), np.concatenate([weight for _, weight in drawn])


@dataclass(frozen=True, eq=False)
class LikelihoodWeightingRun:
    """What likelihood weighting found. `marginals` and `mc_error`: for each node P(x_j | e) (S_j,) and its standard
    error; `log_evidence` estimates log P(e) in nats, `log_evidence_error` its standard error; `ess` = (Σw)²/Σw², the
    number of rows of equal weight that would say as much; n rows were drawn."""

    names: tuple[str, ...]
    marginals: tuple[Array, ...]
    mc_error: tuple[Array, ...]
    log_evidence: float
    log_evidence_error: float
    ess: float
    n: int

    def __getitem__(self, name: str) -> Array:
        """P(x_j | e) of one node."""
        return self.marginals[self.names.index(name)]


def likelihood_weighting(
    network: Network, evidence: Places, n: int, rng: np.random.Generator
) -> LikelihoodWeightingRun:
    """P(x_j | e) of every node from n weighted rows.

    The estimate is p̂ = Σ w 1[x_j = s] / Σ w; its standard error √(Σ w² (1[x_j = s] − p̂)²) / Σ w is that of a ratio of
    means (delta method). It is honest only while `ess` is not small: with rare evidence a few rows carry all weight.
    Raises ParameterError where every row has weight 0.
    """
    evidence = checked_evidence(network, evidence)
    first = np.concatenate([[0], np.cumsum(network.sizes)])
    sums = np.zeros((2, first[-1] + 1))  # Σ w 1[x_j = s] and Σ w² 1[x_j = s], last Σ w and Σ w²; w in units of exp(top)
    top = -np.inf
    for x, weight in _pieces(rng, network, evidence, n):
        highest = weight.max()
        if highest > top:
            sums *= exp(np.array([[-1.0], [-2.0]]) * (highest - top))
            top = highest
        if top == -np.inf:
            continue
        w = exp(weight - top)
        both = np.stack([w, w * w])
        sums[:, -1] += both.sum(axis=1)
        for j, size in enumerate(network.sizes):
            for k in range(2):
                sums[k, first[j] : first[j] + size] += np.bincount(x[j], both[k], size)
    if top == -np.inf:
        raise ParameterError(
            "none of {n} samples agrees with the evidence: it is impossible, or too rare for likelihood weighting", n=n
        )
    total = sums[:, -1]
    p = sums[0] / total[0]
    variance = (sums[1] * (1.0 - 2.0 * p) + p * p * total[1]) / total[0] ** 2
    error = np.sqrt(np.maximum(variance, 0.0))
    relative = (total[1] / total[0] ** 2 - 1.0 / n) * n / max(n - 1, 1)  # var(w) / (n w̄²)
    cut = [slice(a, b) for a, b in itertools.pairwise(first)]
    return LikelihoodWeightingRun(
        network.names,
        tuple(p[s] for s in cut),
        tuple(error[s] for s in cut),
        float(top + log(total[0]) - log(float(n))),
        float(np.sqrt(max(relative, 0.0))),
        float(total[0] ** 2 / total[1]),
        n,
    )


def resampled(rng: np.random.Generator, log_weight: Array, n: int) -> Places:
    """(n,) which rows to keep, each expected n w/Σw times: systematic resampling (Kitagawa 1996), in random order."""
    share = exp(log_weight - log_sum(log_weight)).cumsum()
    drawn = np.searchsorted(share / share[-1], (np.arange(n) + rng.random()) / n, side="right")
    return rng.permutation(np.minimum(drawn, len(share) - 1))
