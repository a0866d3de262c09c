"""The derivation that Gibbs sampling leaves P(·|e) in place, with the states and transition matrices of a small network
written out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from bayes_engine.errors import TableError
from bayes_engine.factors.network import HIDDEN, Network
from bayes_engine.inference.forward_sampling import Places
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.workbench.derivation.chains.chain import Chain, Line, checked, label, value

MOST_STATES = 512
"""Of more joint states no transition matrix is written out."""
POWERS = (1, 10, 100)
"""Sweeps after which the distance from P(·|e) is shown."""


def states_of(network: Network, evidence: Places) -> tuple[NDArray[np.intp], Array]:
    """The possible states (S, d) that agree with the evidence, and P(state | e) (S,), by enumeration. Raises TableError
    where they are too many, or the evidence is impossible."""
    hidden = np.flatnonzero(evidence == HIDDEN)
    n = math.prod(network.sizes[j] for j in hidden)
    if n > MOST_STATES:
        raise TableError(
            "the hidden nodes have {n} joint states, too many for a matrix of all transitions (at most "
            "{most}): observe more nodes, or take a smaller network",
            n=n,
            most=MOST_STATES,
        )
    states = np.tile(np.where(evidence == HIDDEN, 0, evidence), (n, 1)).astype(np.intp)
    states[:, hidden] = np.array(list(product(*(range(network.sizes[j]) for j in hidden))), dtype=np.intp).reshape(
        n, -1
    )
    p = np.ones(n)
    for cpt in network.cpts:
        p *= cpt.p[tuple(states[:, network.position[name]] for name in cpt.scope)]
    possible = p > 0
    if not possible.any():
        raise TableError("the evidence is impossible in this network: no state agrees with it")
    return states[possible], p[possible] / p.sum()


def update_matrix(states: NDArray[np.intp], pi: Array, node: int) -> Array:
    """(S, S) the transitions of one update of a node: drawn given all others."""
    others = np.delete(states, node, axis=1)
    alike = (others[:, None] == others[None]).all(axis=2)
    mass = alike @ pi
    return np.asarray(alike * pi[None] / mass[:, None])


def gibbs_chain(
    network: Network, evidence: Places, names: Callable[[int], str], levels: Callable[[int, int], str]
) -> Chain:
    """Single updates satisfy detailed balance, their product keeps P(·|e) without being reversible, and its powers
    converge only where it is irreducible and aperiodic; `names` and `levels` call a node and its level by their
    positions. Raises TableError as `states_of` does, and where nothing is hidden."""
    hidden = [int(j) for j in np.flatnonzero(evidence == HIDDEN)]
    if not hidden:
        raise TableError("every node is observed: there is nothing to draw")
    states, pi = states_of(network, evidence)
    updates = {j: update_matrix(states, pi, j) for j in hidden}
    sweep = np.linalg.multi_dot([*updates.values(), np.eye(len(pi))]) if len(hidden) > 1 else updates[hidden[0]]
    back = np.linalg.multi_dot([*reversed(updates.values()), np.eye(len(pi))]) if len(hidden) > 1 else sweep
    x, y, node = _pair(states, pi, hidden)
    one = updates[node]
    flow, reverse = pi[:, None] * sweep, (pi[:, None] * sweep).T
    a, b = np.unravel_index(int(np.abs(flow - reverse).argmax()), flow.shape)
    reversible = bool(np.abs(flow - reverse).max() < 1e-12)
    n_classes, class_of = connected_components(sweep > 0, directed=True, connection="strong")
    target = _limit(pi, class_of)
    gaps = [float(np.abs(np.linalg.matrix_power(sweep, t) - target).max()) for t in POWERS]
    # eigenvalues of a sweep need not be real; one of size 1 for each communicating class
    sizes = np.sort(np.abs(np.linalg.eigvals(sweep)))[::-1]
    second = float(sizes[n_classes]) if len(sizes) > n_classes else 0.0
    held = float(np.abs(pi @ target - pi).max())

    def shown(state: int) -> str:
        parts = [rf"{label(names(j))}{{=}}{label(levels(j, int(states[state, j])))}" for j in hidden[:3]]
        return r",\,".join([*parts, r"\dots"] if len(hidden) > 3 else parts)

    xi = label(names(node))
    balance = [np.abs(pi[:, None] * P - (pi[:, None] * P).T).max() for P in updates.values()]
    lines = [
        Line(
            (r"\pi(x)=P(x\mid e)\propto\prod_jP(x_j\mid\mathrm{pa}_j)",),
            (rf"x:\;{shown(x)}", rf"y:\;{shown(y)}", rf"\pi(x)={value(pi[x])},\quad\pi(y)={value(pi[y])}"),
            Message(
                "The distribution to be sampled: {n} possible state(s) of {k} hidden node(s). Two of them, x "
                "and y, are followed, which differ in one node.",
                {"n": len(pi), "k": len(hidden)},
            )
            if x != y
            else Message(
                "The distribution to be sampled: {n} possible state(s) of {k} hidden node(s). No two of them "
                "differ in one node only, so x and y are one state.",
                {"n": len(pi), "k": len(hidden)},
            ),
            checked(pi.sum(), 1.0),
        ),
        Line(
            (r"P_j(x\to y)=\begin{cases}\pi(y_j\mid x_{-j})&y_{-j}=x_{-j}\\0&y_{-j}\ne x_{-j}\end{cases}",),
            (rf"j={xi}:\;P_j(x\to y)={value(one[x, y])}", rf"P_j(y\to x)={value(one[y, x])}"),
            Message("One update: node j is drawn from its probabilities given all others, which stay."),
            checked([P.sum(axis=1) for P in updates.values()], np.ones((len(hidden), len(pi)))),
        ),
        Line(
            (
                r"\pi(x)P_j(x\to y)",
                r"\quad=\pi(x_{-j})\,\pi(x_j\mid x_{-j})\,\pi(y_j\mid x_{-j})",
                r"\quad=\pi(y)P_j(y\to x)",
            ),
            (
                rf"{value(pi[x])}\times {value(one[x, y])}={value(pi[x] * one[x, y])}",
                rf"{value(pi[y])}\times {value(one[y, x])}={value(pi[y] * one[y, x])}",
            ),
            Message(
                "Detailed balance: the middle is the same read from x or from y, as the others are equal. So "
                "each single update is reversible."
            ),
            checked(balance, np.zeros(len(balance))),
        ),
        Line(
            (
                r"(\pi P_j)(y)=\sum_x\pi(x)P_j(x\to y)",
                r"\quad=\sum_x\pi(y)P_j(y\to x)=\pi(y)",
            ),
            (rf"(\pi P_j)(y)={value((pi @ one)[y])}=\pi(y)",),
            Message("Summed over x: each update leaves π in place."),
            checked([pi @ P for P in updates.values()], np.tile(pi, (len(hidden), 1))),
        ),
        Line(
            (r"P=P_1P_2\cdots P_m,\quad \pi P=\pi",),
            (rf"(\pi P)(x)={value((pi @ sweep)[x])},\quad(\pi P)(y)={value((pi @ sweep)[y])}",),
            Message("A sweep is the product of the updates in turn: each leaves π, so does their product."),
            checked(pi @ sweep, pi),
        ),
        Line(
            (r"\pi(a)P(a\to b)=\pi(b)\tilde P(b\to a)", r"\tilde P=P_m\cdots P_1"),
            (
                (rf"\pi(a)P(a\to b)={value(flow[a, b])}", rf"\pi(b)P(b\to a)={value(flow[b, a])}")
                if not reversible
                else (r"\pi(a)P(a\to b)=\pi(b)P(b\to a)",)
            ),
            Message(
                "Read backwards the sweep is the one in the opposite order, another chain: the sweep keeps π "
                "without being reversible. The numbers are those of the two states that differ most."
            )
            if not reversible
            else Message(
                "Read backwards the sweep is the one in the opposite order. Here both are the same (one hidden "
                "node, nodes that do not depend on each other, or draws that change nothing), so it is "
                "reversible; in general it is not."
            ),
            checked(flow, (pi[:, None] * back).T),
        ),
        Line(
            (r"P^t(x\to y)\to\pi(y)\quad(t\to\infty)", r"P^t\to\Pi=\mathbf{1}\,\pi")
            if n_classes == 1
            else (r"P^t\to\Pi\ne\mathbf{1}\,\pi\quad(t\to\infty)",),
            (
                *(rf"t={t}:\;\max|P^t-\Pi|={value(gap, 1.0)}" for t, gap in zip(POWERS, gaps, strict=True)),
                rf"|\sigma_2|={value(second, 1.0)}"
                if n_classes == 1
                else rf"|\sigma_1|=\dots=|\sigma_{{{n_classes}}}|=1",
            ),
            Message(
                "Keeping π is not yet reaching it: the powers converge only where P is irreducible and "
                "aperiodic. Here every state reaches every other, and an update may draw the value that "
                "stands, so there is no period; the second largest eigenvalue says how fast."
            )
            if n_classes == 1
            else Message(
                "Keeping π is not yet reaching it: the powers converge only where P is irreducible and "
                "aperiodic. Here the states fall into {n} communicating classes, and a chain stays in the one "
                "it begins in: the powers converge to π within each class, Π, and not to π.",
                {"n": int(n_classes)},
            ),
            checked(
                [int((sizes > 1 - 1e-9).sum()), held, np.linalg.matrix_power(sweep, 2**20).min()],
                [n_classes, 0.0, target.min()],
                1e4,
            ),
        ),
    ]
    subject = Message("{k} hidden node(s), the others observed.", {"k": len(hidden)})
    return Chain("gibbs", subject, tuple(lines))


def _pair(states: NDArray[np.intp], pi: Array, hidden: list[int]) -> tuple[int, int, int]:
    """The likeliest state, the likeliest other one that differs in one node, and the node; a state twice where no other
    differs so."""
    for x in np.argsort(-pi, kind="stable"):
        differ = states != states[x]
        near = np.flatnonzero(differ.sum(axis=1) == 1)
        if len(near):
            y = int(near[pi[near].argmax()])
            return int(x), y, int(np.flatnonzero(differ[y])[0])
    top = int(pi.argmax())
    return top, top, hidden[0]


def _limit(pi: Array, class_of: NDArray[np.intp]) -> Array:
    """(S, S) what the powers of an aperiodic sweep converge to: π within the communicating class that one begins in."""
    alike = class_of[:, None] == class_of[None]
    return np.asarray(alike * pi[None] / (alike @ pi)[:, None])
