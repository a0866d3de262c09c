"""Why evidence is impossible: a smallest set of findings that exclude each other.

Findings are left out one by one as long as the rest stays impossible; then all smaller sets are tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.factors.network import HIDDEN, Network
from bayes_engine.logspace import Array
from bayes_engine.table.schema import Level

MOST_SETS = 20_000
"""Sets of findings that are tried."""


class Conflict(NamedTuple):
    """(node, level) of findings with P = 0, none of which could be left out; `smallest`: no smaller set is impossible
    (otherwise there were too many to try them all)."""

    findings: tuple[tuple[str, Level], ...]
    smallest: bool


def conflict(
    network: Network, log_evidence: Callable[[NDArray[np.intp]], Array], row: NDArray[np.intp]
) -> Conflict | None:
    """The conflict in one row of evidence (d,), `log_evidence` being the junction tree's; None where it can occur. Of
    several smallest sets the first in the order of the nodes is named."""

    def impossible(sets: list[tuple[int, ...]]) -> list[bool]:
        rows = np.full((len(sets), len(row)), HIDDEN)
        for into, kept in zip(rows, sets, strict=True):
            into[list(kept)] = row[list(kept)]
        return [bool(out) for out in np.isneginf(log_evidence(rows))]

    evidence = tuple(np.flatnonzero(row != HIDDEN).tolist())
    if not impossible([evidence])[0]:
        return None
    every = evidence
    for j in every:
        rest = tuple(i for i in evidence if i != j)
        if impossible([rest])[0]:
            evidence = rest
    left, smallest = MOST_SETS, True
    for size in range(len(evidence)):
        if math.comb(len(every), size) > left:
            smallest = False
            break
        left -= math.comb(len(every), size)
        sets = list(combinations(every, size))
        hit = next((s for s, out in zip(sets, impossible(sets), strict=True) if out), None)
        if hit is not None:
            evidence = hit
            break
    cpts = network.cpts
    return Conflict(tuple((cpts[j].name, cpts[j].variable.levels[int(row[j])]) for j in evidence), smallest)
