"""Gibbs sampling to be looked at: the textbook's walk update by update, its estimate beside better ones,
communicating classes.

A question is two rows of places, HIDDEN where they say nothing: `evidence` e, and `event` Q = q, of one node or more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from bayes_engine.factors.network import CPT, HIDDEN, Network, sliced
from bayes_engine.inference.forward_sampling import Places, weighted_sample
from bayes_engine.inference.gibbs import Event, GibbsRun, GibbsSettings, Update, gibbs, updates
from bayes_engine.inference.gibbs_kernel import TransitionKernel, compile_gibbs, start
from bayes_engine.inference.irreducibility import irreducibility, tied_nodes
from bayes_engine.inference.junction_tree import junction_tree
from bayes_engine.logspace import Array, exp

SHOWN = 1200
"""Updates of a walk that is played, at most."""
ROWS = 100_000
"""Rows of likelihood weighting, at most."""
DRAWN = 24
"""States of the communicating classes that are drawn, at most."""
POINTS = 200
"""Places of a curve."""


def row_of(network: Network, pairs: Iterable[tuple[int, int]]) -> Places:
    """(d,) places from (node, level), both as positions."""
    row = np.full(len(network.cpts), HIDDEN, dtype=np.intp)
    for node, level in pairs:
        row[node] = level
    return row


def has_zeros(network: Network) -> bool:
    """Whether a table holds a probability of 0."""
    return any((cpt.p == 0).any() for cpt in network.cpts)


def softened(network: Network, noise: float) -> Network:
    """The network without zeros: where a row of a table has some, they share the probability `noise` in equal parts,
    and its other entries are (1 − noise) times what they were."""
    if noise == 0:
        return network
    cpts = []
    for cpt in network.cpts:
        zero = cpt.p == 0
        count = zero.sum(axis=-1, keepdims=True)
        share = np.where(zero, noise / np.maximum(count, 1), cpt.p * np.where(count > 0, 1.0 - noise, 1.0))
        cpts.append(CPT(cpt.variable, cpt.parents, share))
    return Network(cpts)


def exact(network: Network, evidence: Places, event: Places) -> float:
    """P(Q = q | e). Raises ImpossibleEvidence where P(e) = 0, TooLarge where the sum is out of reach."""
    asked = event != HIDDEN
    free = np.flatnonzero(asked & (evidence == HIDDEN))
    names = [network.names[j] for j in free]
    tree = junction_tree(network)
    if names:
        joint = tree.joint(names, evidence[None])[0]
    else:
        tree.marginals(evidence[None], targets=())  # raises where e is impossible
        joint = np.ones(())
    if (asked & (evidence != HIDDEN) & (event != evidence)).any():
        return 0.0
    return float(joint[tuple(event[free])])


# the walk -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Walk:
    """The first sweeps of one chain: its `start` (d,), every single update, and after which `sweeps` Q = q held."""

    network: Network
    hidden: tuple[int, ...]
    start: Places
    updates: tuple[Update, ...]
    hits: NDArray[np.bool_]

    @property
    def sweeps(self) -> int:
        return len(self.hits)


def walk(network: Network, evidence: Places, event: Places, sweeps: int, seed: int) -> Walk:
    """The textbook's chain of `compare_samplers` with this seed, as far as SHOWN updates go; whole sweeps."""
    rng = np.random.default_rng(seed)
    kernel = compile_gibbs(network, evidence, scan="textbook")
    first = kernel.places(start(kernel, rng, 1, "consistent"))[0]
    hidden = tuple(sorted(kernel.hidden))
    sweeps = min(sweeps, max(SHOWN // max(len(hidden), 1), 1)) if hidden else 0
    steps = updates(kernel, rng, first, sweeps * len(hidden))
    asked = event != HIDDEN
    ends = steps[len(hidden) - 1 :: len(hidden)] if hidden else []
    hits = np.array([bool((u.places[asked] == event[asked]).all()) for u in ends], dtype=bool)
    return Walk(network, hidden, first, tuple(steps), hits)


# the estimates beside one another -------------------------------------------------------------------------------------


class RunningEstimate(NamedTuple):
    """An estimate as it grows: after `states` (K,) states of the whole network its value and its standard error."""

    states: Array
    estimate: Array
    error: Array


@dataclass(frozen=True, eq=False)
class WeightedRunningEstimate:
    """Likelihood weighting: how it grows, the effective sample size of all `n` rows, and whether any had a weight."""

    line: RunningEstimate
    ess: float
    n: int

    @property
    def estimate(self) -> float:
        return float(self.line.estimate[-1])

    @property
    def error(self) -> float:
        return float(self.line.error[-1])


@dataclass(frozen=True, eq=False)
class SamplerComparison:
    """P(Q = q | e): `exact` (None where that is out of reach), from the textbook's one chain, from the improved form,
    and from likelihood weighting of as many rows as the improved form counts states (ROWS at most)."""

    exact: float | None
    textbook: GibbsRun
    improved: GibbsRun
    weighted: WeightedRunningEstimate


def compare_samplers(
    network: Network,
    evidence: Places,
    event: Places,
    truth: float | None,
    *,
    settings: GibbsSettings = GibbsSettings(),  # noqa: B008
    seed: int = 0,
) -> SamplerComparison:
    """Run all three; `truth` is the exact answer. The textbook's form is one chain from a random consistent state that
    counts from its first sweep on, and makes as many as the improved form with its `settings`."""
    textbook = GibbsSettings(chains=1, sweeps=settings.sweeps, burn_in=0, scan="textbook", begin="consistent")
    one = gibbs(network, evidence, rng=np.random.default_rng(seed), settings=textbook, event=event)
    many = gibbs(network, evidence, rng=np.random.default_rng([seed, 1]), settings=settings, event=event)
    rows = min(settings.sweeps * settings.chains, ROWS)
    return SamplerComparison(
        truth, one, many, weighted(network, evidence, event, rows, np.random.default_rng([seed, 2]))
    )


def event_of(run: GibbsRun) -> Event:
    """The estimate of the event that the run was made for."""
    assert run.event is not None
    return run.event


def line_of(run: GibbsRun) -> RunningEstimate:
    """How a run's estimate of its event grows; a state is one sweep of one chain."""
    event = event_of(run)
    return RunningEstimate(event.at.astype(float) * run.chains, event.running, event.error)


def weighted(
    network: Network, evidence: Places, event: Places, n: int, rng: np.random.Generator
) -> WeightedRunningEstimate:
    """Likelihood weighting of an event: p̂ = Σ w 1[Q = q] / Σ w over the first 1, 2, … rows, with the standard error
    √(Σ w² (1[Q = q] − p̂)²) / Σ w (delta method); NaN as long as every weight is 0."""
    x, log_w = weighted_sample(network, evidence, n, rng)
    asked = np.flatnonzero(event != HIDDEN)
    hit = (x[asked] == event[asked, None]).all(axis=0)
    top = log_w.max()
    w = exp(log_w - top) if top > -np.inf else np.zeros(n)
    draws = np.unique(np.geomspace(1, n, min(POINTS, n)).astype(np.intp))
    s1, s2, h1, h2 = (np.cumsum(v)[draws - 1] for v in (w, w * w, w * hit, w * w * hit))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = h1 / s1
        error = np.sqrt(np.maximum(h2 * (1.0 - 2.0 * p) + p * p * s2, 0.0)) / s1
        ess = s1[-1] ** 2 / s2[-1]
    return WeightedRunningEstimate(
        RunningEstimate(draws.astype(float), np.asarray(p), np.asarray(error)), float(ess) if s2[-1] > 0 else 0.0, n
    )


def shares(draws: NDArray[np.bool_], chains: int = 8, spans: int = 120) -> Array:
    """(chains, spans) how often an event held in each of the first chains, by spans of time: what a trace shows.

    >>> shares(np.array([[True, False], [True, True]]), spans=1).tolist()
    [[1.0], [0.5]]
    """
    parts = np.array_split(draws[:, :chains].astype(float), min(spans, len(draws)))
    return np.array([part.mean(axis=0) for part in parts]).T


# communicating classes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CommunicatingClasses:
    """The possible states of nodes that zeros tie. `states` (n, k) are their places, `p` (n,) P(state | e), `class_of`
    (n,) the number of a state's communicating class. `single` are pairs of states that a draw of one node leads
    between, `joined` those that only a block does. For each communicating class `weight` is its probability and
    `answer` P(Q = q | e, class): where n_q / T of a chain that starts there goes, as long as `alone` (no other zeros
    part states)."""

    nodes: tuple[str, ...]
    states: Places
    p: Array
    class_of: NDArray[np.intp]
    single: tuple[tuple[int, int], ...]
    joined: tuple[tuple[int, int], ...]
    weight: Array
    answer: Array
    alone: bool


def communicating_classes(
    kernel: TransitionKernel, event: Places, blocks: Iterable[Iterable[int]] = ()
) -> CommunicatingClasses | None:
    """The communicating classes in which draws of single nodes keep a chain, and what `blocks` (columns) join; None
    where all states communicate, or the states are more than can be drawn (DRAWN).

    >>> from bayes_engine.datasets import load_network
    >>> network = load_network("stuck").network
    >>> kernel = compile_gibbs(network, network.places({"equal": "yes"}))
    >>> classes = communicating_classes(kernel, network.places({"first": "heads"}), [(0, 1)])
    >>> classes.states.tolist(), classes.weight.round(2).tolist(), classes.answer.tolist(), classes.joined
    ([[0, 0], [1, 1]], [0.3, 0.7], [0.0, 1.0], ((0, 1),))
    """
    network, evidence = kernel.network, kernel.evidence
    lone = [(j,) for j in kernel.hidden]
    parted = irreducibility(network, evidence, lone)
    columns = network.axes(parted.tied)
    tie = next((t for t in tied_nodes(network, sliced(network, evidence)) if t.nodes == tuple(sorted(columns))), None)
    if parted.kind != "reducible" or tie is None or tie.possible is None or len(tie.possible) > DRAWN:
        return None
    states = np.array([tie.digits(k) for k in range(len(tie.possible))])
    differ = states[:, None] != states[None]
    near = differ.sum(axis=-1) == 1
    _count, class_of = connected_components(near, directed=False)
    nodes = tie.nodes
    reach = np.zeros_like(near)
    for block in blocks:
        outside = [k for k, j in enumerate(nodes) if j not in set(block)]
        reach |= ~differ[..., outside].any(axis=-1)
    names = tuple(network.names[j] for j in nodes)
    further = [int(j) for j in np.flatnonzero((event != HIDDEN) & (evidence == HIDDEN)) if j not in nodes]
    joint = junction_tree(network).joint((*names, *(network.names[j] for j in further)), evidence[None])[0]
    given = joint[tuple(states.T)]  # (n, *S_further)
    p = given.reshape(len(states), -1).sum(axis=1)
    holds = np.all([(states[:, k] == event[j]) | (event[j] == HIDDEN) for k, j in enumerate(nodes)], axis=0)
    seen = evidence != HIDDEN
    holds &= bool(((event[seen] == evidence[seen]) | (event[seen] == HIDDEN)).all())
    hit = np.where(holds, given[(slice(None), *event[further])], 0.0)
    weight: Array = np.bincount(class_of, p).astype(float)
    return CommunicatingClasses(
        names, states, p, class_of.astype(np.intp), _pairs(near), _pairs(reach & ~near), weight,
        np.asarray(np.bincount(class_of, hit) / weight), irreducibility(network, evidence, [nodes, *lone]).ergodic,
    )  # fmt: skip


def _pairs(joined: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    return tuple((int(a), int(b)) for a, b in np.argwhere(np.triu(joined, 1)))
