"""The derivation of minimum description length: the code of the rows under a network, and the code of its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import rel_entr, xlogy
from scipy.stats import entropy

from bayes_engine.language import Message
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import ScoreName, Scorer
from bayes_engine.workbench.derivation.chains.chain import Chain, Line, checked, counted, label, listed, plus, value

PRICES: dict[ScoreName, float] = {"aic": 1.0, "log-likelihood": 0.0}
"""f(θ) of the other scores of this form."""


def mdl_chain(counts: FamilyCounts, graph: DAG, names: Callable[[str], str], score: ScoreName = "mdl") -> Chain:
    """S(B|D) = ½ ln m · |B| − LL(B|D) (Zhou, eq. 7.28) of a graph over counted columns, called by `names`; `score` is
    the one in use."""
    m, nodes = counts.n, list(graph.nodes)
    parents = {node: graph.parents[node] for node in nodes}
    tables = {node: counts.counts(node, parents[node]) for node in nodes}
    fit = {node: sum(map(fit_alone, t)) for node, t in tables.items()}
    by_entropy = [-sum(row.sum() * entropy(row) for row in t if row.sum() > 0) for t in tables.values()]
    free = {node: t.shape[0] * (t.shape[1] - 1) for node, t in tables.items()}
    likelihood, numbers, price = math.fsum(fit.values()), sum(free.values()), 0.5 * math.log(m)
    total = numbers * price - likelihood
    scorer = Scorer(counts, "mdl")
    scored = [scorer.family(node, parents[node]) for node in nodes]
    alone = {node: counts.counts(node)[0] for node in nodes}
    plain = math.fsum(map(fit_alone, alone.values()))
    plain_free = sum(len(t) - 1 for t in alone.values())
    shared = {node: _information(tables[node]) for node in nodes}
    size = m * (abs(math.log(m)) + 1.0) * len(nodes) + abs(total)
    first_linked = sorted(nodes, key=lambda node: not parents[node])
    called = {node: label(names(node)) for node in nodes}
    cells = [(c, n) for node in first_linked for row in tables[node] if (n := row.sum()) > 0 for c in row if c > 0]
    often, among = max(cells, key=lambda cell: (cell[0] < cell[1], cell[0]))
    lines = [
        Line(
            (r"L(B,D)=L(B)+L(D\mid B)",),
            (rf"m={counted(m)},\quad d={len(nodes)}",),
            Message(
                "Someone is to be sent the table: first the network, then the rows in a code made for it. The "
                "network for which both together are shortest is chosen. Lengths are in nats."
            ),
            checked(total, numbers * price + math.fsum(-f.log_likelihood for f in scored), size),
        ),
        Line(
            (r"L(D\mid B)=-\sum_i\ln P_B(x_i)=-LL(B\mid D)",),
            (rf"L(D\mid B)={value(-likelihood)}",),
            Message(
                "The best code gives a row of probability P a length of −ln P (Shannon): frequent rows get short words."
            ),
            checked(-likelihood, -math.fsum(by_entropy), size),
        ),
        Line(
            (r"LL=\sum_j\sum_{k,s}n_{jks}\ln\frac{n_{jks}}{n_{jk}}",),
            listed([rf"{called[node]}:\;{value(fit[node])}" for node in first_linked], most=3),
            Message(
                "A row's probability is a product over nodes, and the best tables are shares: one term for "
                "each node j, its parents' configuration k and its level s, such as {n} · ln {p}.",
                {"n": counted(often), "p": f"({counted(often)}/{counted(among)})"},
            ),
            checked([fit[node] for node in nodes], [f.log_likelihood for f in scored], size),
        ),
        Line(
            (r"L(B)=\tfrac12\ln m\cdot|B|,\quad|B|=\sum_jq_j(S_j-1)",),
            (rf"|B|={numbers},\quad\tfrac12\ln {counted(m)}={value(price)}", rf"L(B)={value(numbers * price)}"),
            Message(
                "A share estimated from m rows is known to about $1/\\sqrt m$: more digits are not worth "
                "sending, so each free number costs $\\tfrac12\\ln m$. $q_j$ counts the configurations of the "
                "parents, $S_j$ the levels."
            ),
            checked(
                [numbers, numbers * price], [sum(f.free for f in scored), math.fsum(f.penalty for f in scored)], size
            ),
        ),
        Line(
            (r"S(B\mid D)=\tfrac12\ln m\cdot|B|-LL(B\mid D)",),
            (rf"{value(numbers * price)}-({value(likelihood)})={value(total)}",),
            Message("Both lengths together, to be made small: the negative of BIC."),
            checked(total, -math.fsum(f.score for f in scored), size),
        ),
        Line(
            (r"LL(B\mid D)-LL(\varnothing\mid D)=m\sum_j\hat I(x_j;\mathrm{pa}_j)",),
            (
                rf"{value(likelihood)}-({value(plain)})={value(likelihood - plain, size)}",
                *listed(
                    [rf"m\,\hat I({called[node]})={value(shared[node], size)}" for node in nodes if parents[node]],
                    most=3,
                ),
            ),
            Message(
                "Without arcs the rows cost more: an arc shortens their code by m times the mutual information "
                "of a node and its parents."
            ),
            checked(likelihood - plain, math.fsum(shared.values()), size),
        ),
        Line(
            (r"S(B)-S(\varnothing)=\tfrac12\ln m\,\big(|B|-|\varnothing|\big)-m\sum_j\hat I",),
            (
                plus([value(price * (numbers - plain_free)), f"-{value(likelihood - plain, size)}"])
                + f"={value(price * (numbers - plain_free) - likelihood + plain, size)}",
            ),
            Message(
                "So arcs pay where what they save of the rows' code is more than what their numbers cost: "
                "below 0 the network is the shorter description, and as rows come only dependence that is "
                "there pays."
            ),
            checked(
                total - (plain_free * price - plain), price * (numbers - plain_free) - math.fsum(shared.values()), size
            ),
        ),
    ]
    if score in PRICES:
        other = PRICES[score] * numbers - likelihood
        peer = Scorer(counts, score)
        lines.append(
            Line(
                (r"S(B\mid D)=f(\theta)\,|B|-LL(B\mid D)",),
                (rf"f={PRICES[score]:g}:\;{value(other)}",),
                Message("The score in use takes another price for a number: 1 for AIC, 0 for the likelihood alone."),
                checked(other, -math.fsum(peer.family(node, parents[node]).score for node in nodes), size),
            )
        )
    subject = Message(
        "The network of {d} columns with {n} arc(s), and {m} rows.",
        {"d": len(nodes), "n": len(graph.arcs), "m": counted(m)},
    )
    return Chain("mdl", subject, tuple(lines), "7.28")


def fit_alone(counts: np.ndarray) -> float:
    """Σ n_s ln(n_s/n) of one column."""
    n = counts.sum()
    return float(xlogy(counts, counts).sum() - xlogy(n, n))


def _information(table: np.ndarray) -> float:
    """m Î(x; pa) in nats, from the counts (q, r)."""
    m = table.sum()
    apart = np.outer(table.sum(axis=1), table.sum(axis=0)) / m
    return float(rel_entr(table, apart).sum())
