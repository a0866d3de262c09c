"""How right each SPODE is on rows left out, all candidates for the super-parent at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np

from bayes_engine.factors.leaf import LeftOutRows
from bayes_engine.inference.directed import DirectedFactor
from bayes_engine.inference.packed_tables import less_table, pack, row_width
from bayes_engine.logspace import Array, exp, log
from bayes_engine.progress import steps
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import slices

AT_ONCE = 5
"""Stars whose sums are in the cache together."""
EQUAL = 1e-9
"""Two log posteriors that differ by less are one, so that rounding decides nothing."""


def scores_left_out(
    X: Table,
    left: LeftOutRows,
    log_prior: Mapping[int, Array],
    stars: Mapping[int, DirectedFactor],
    weight: Array | None,
) -> tuple[Array, Array]:
    """Σ weight of the rows that are right when left out, and Σ weight × log posterior of their own class, both (m,),
    for the stars on columns of X, by their positions, each over the rows that know its parent. `weight` is (n,), None
    where all are 1.

    The rows come class by class, each to lose a weight of 1: then a class shares tables, where its own counts are one
    less, and its `log_prior` (C,); no family's smoothing hangs on the marginal of all classes.
    """
    one = next(iter(stars.values()))
    k = len(one.prior.p)
    packed = pack(X, [f.domain for f in one.tables])
    counted, without = zip(
        *([packed.tables(terms) for terms in _star_terms(star, packed.extents)] for star in stars.values()),
        strict=True,
    )
    parents = list(stars)
    hits, gains = np.zeros(len(stars)), np.zeros(len(stars))
    for c, (begin, end) in enumerate(steps(pairwise(np.searchsorted(left.own, np.arange(k + 1)).tolist()), k)):
        if begin == end:
            continue
        tables = [[table.copy() for table in of_star] for of_star in counted]
        for of_star, rest in zip(tables, without, strict=True):
            for table, less in zip(of_star, rest, strict=True):
                table[:, c] = less[:, c]
            of_star[0][:, :k] += log_prior[c]
        for some in slices(len(stars), AT_ONCE):
            for rows, sums in packed.sums(tables[some], begin, end, parents[some]):
                joint = np.ascontiguousarray(np.moveaxis(sums, 2, 0)[:k])
                joint -= np.maximum(joint.max(axis=0), np.finfo(float).min)  # in place: it fits the cache
                largest = joint[: c + 1] >= -EQUAL  # the first of equals is the one predicted
                right, gain = largest[c] & ~largest[:c].any(axis=0), joint[c].copy()
                gain -= log(np.maximum(exp(joint, out=joint).sum(axis=0), np.finfo(float).tiny))  # −∞: no posterior
                for m, i in enumerate(parents[some]):
                    if packed.extents[i] > (size := one.tables[i].domain.size):
                        hidden = packed.places[i][rows] >= size
                        right[m, hidden], gain[m, hidden] = False, 0.0
                hits[some] += np.count_nonzero(right, axis=1) if weight is None else right @ weight[rows]
                gains[some] += gain.sum(axis=1) if weight is None else gain @ weight[rows]
    return hits, gains


def _star_terms(star: DirectedFactor, extents: Sequence[int]) -> Iterator[list[Array]]:
    """Of each column (places of i, places of j, W) log P(x_j | c, x_i), 0 where j is not known, and log P(x_i | c) in
    all places of i itself; then the same with every cell having lost a weight of 1."""
    families = star.tables
    wide = [f.counts if f.parents else np.repeat(f.counts[:, :, None], f.domain.size, axis=2) for f in families]
    above = [f.totals if f.parents else np.repeat(f.totals[:, None], f.domain.size, axis=1) for f in families]
    sizes = [f.domain.size for f in families]
    amounts = [f.rule.amount for f in families]
    count, total = np.concatenate(wide, axis=2), np.stack(above, axis=2)
    places = np.concatenate([np.arange(s) + first for s, first in zip(sizes, _firsts(extents), strict=True)])
    for gone in (0.0, 1.0):
        terms = np.zeros((count.shape[1], sum(extents), row_width(len(count))))
        terms[:, places, : len(count)] = np.moveaxis(less_table(count, total, amounts, sizes, gone), 0, -1)
        yield np.split(terms, _firsts(extents)[1:], axis=1)


def _firsts(extents: Sequence[int]) -> list[int]:
    return [0, *accumulate(extents[:-1])]
