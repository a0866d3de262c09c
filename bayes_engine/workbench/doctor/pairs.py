"""What columns say of one another: what the others determine, and what naive Bayes would count twice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from bayes_engine.language import Message
from bayes_engine.logspace import Array, log
from bayes_engine.progress import steps, tick
from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.stats.multiple_tests import holm
from bayes_engine.structure.chow_liu import Dependence, conditional_informations, gaussian_information, information
from bayes_engine.workbench.doctor.examined_table import ExaminedTable
from bayes_engine.workbench.doctor.finding import AddModel, Finding, Mend, Nats, SetRole
from bayes_engine.workbench.doctor.outliers import without_outliers

BY_CHANCE = 7.0
"""Nats beyond the logarithm of the number of pairs: two columns of these shares agree throughout by chance once in a
thousand such tables."""
VIF = 10.0
"""The variance inflation 1/(1 − R²) from which on collinearity is usually feared: R² = 0.9. Ten times that is R² =
0.99, where coefficients have lost their sign."""
ENDLESS = 1e9
"""A variance inflation, or a condition number, from which on it is infinite but for the rounding of the last digits."""
LEVEL = 0.01
"""The Holm-adjusted level of the tests of dependence."""
DEPENDENT, OF_NUMBERS, STRONG = 0.25, 0.4, 0.5
"""Nats a row that two columns share given the class, more than chance makes, and that naive Bayes counts twice. Two
columns of two levels share 0.69 at most; two Gaussians share 0.4 at r = 0.74, and half a nat at r = 0.8."""
WEAK = 0.1
"""Nats that say nothing of naive Bayes being wrong, but of what else could be tried: r = 0.43."""
LEAST_ROWS = 20
"""With fewer rows three columns exclude one another by chance."""
NEEDLE = 1e-6
"""A class's share of the column's variance up to which it has no spread there."""
MOST, WIDEST = 60, 50
"""Columns whose pairs are looked at (those that tell most of the class), and levels of a column among them."""
BLOCK, WIDE, ROOM = 64, 1_000, 20_000_000
"""Columns of numbers whose products with all others are taken at once; the first so many whose pairs are looked at; and
cells of all classes' covariances up to which discriminant analysis is thought of."""
CELLS, AT_ONCE = 50_000, 4_000_000
"""Cells of a pair's table up to which it is looked at, for more than twice as many as there are rows show nothing; and
cells that are kept at once."""


def _shared(A: Array, M: Array) -> Array:
    """(d, d) AᵀM, which is the sums of A where all is known."""
    return np.repeat(A.sum(axis=0)[:, None], A.shape[1], axis=1) if M.all() else _products(A, M)


def _products(A: Array, B: Array) -> Array:
    """(d, d) AᵀB, some columns at a time, so that it can be called off."""
    return np.concatenate([A[:, start : start + BLOCK].T @ B for start in steps(range(0, A.shape[1], BLOCK))])


def pair_correlations(products: Array, squares: Array, of_others: Array) -> Array:
    """Σ z_i z_j / √(Σ z_i² Σ z_j²), all sums over the rows where both are known."""
    scale = np.sqrt(squares) * np.sqrt(of_others)
    return np.asarray(np.clip(np.divide(products, scale, out=np.zeros_like(scale), where=scale > 0), -1.0, 1.0))


class WithinCorrelations(NamedTuple):
    """Correlations given the class of the columns `names`, (d, d) each: `pooled` around the class means, `n` the rows
    that they rest on, `lost` −½ Σ n_c log(1 − r_c²) in nats over the classes that have more than three rows, which are
    the `degrees` of freedom."""

    names: tuple[str, ...]
    pooled: Array
    n: Array
    lost: Array
    degrees: Array


def within_correlations(examined: ExaminedTable) -> WithinCorrelations | None:
    """Correlations of the numbers within classes; None where there are fewer than two columns with any spread."""
    return examined.once("within", lambda: _within(examined))


def _within(examined: ExaminedTable) -> WithinCorrelations | None:
    spread = (n for n, x in examined.numbers.items() if np.nanmax(x, initial=-np.inf) > np.nanmin(x, initial=np.inf))
    names = tuple(islice(spread, WIDE))
    if len(names) < 2:
        return None
    X = np.stack([without_outliers(examined.numbers[name]) for name in steps(names)], axis=1)
    n, lost, degrees, products, squares = np.zeros((5, len(names), len(names)))
    for rows in steps(examined.rows_of):
        own = X[rows]
        known = ~np.isnan(own)
        M = known.astype(float)
        mean = np.where(known, own, 0.0).sum(axis=0) / np.maximum(M.sum(axis=0), 1.0)
        Z = np.where(known, own - mean, 0.0)
        of_class, around, there = _products(Z, Z), _shared(Z**2, M), _shared(M, M)
        r = pair_correlations(of_class, around, around.T)
        enough = there > 3  # of two rows r is always 1
        lost += np.where(enough, -0.5 * there * log(np.maximum(1.0 - r**2, 1e-12)), 0.0)
        n, degrees, products, squares = n + there, degrees + enough, products + of_class, squares + around
    return WithinCorrelations(names, pair_correlations(products, squares, squares.T), n, lost, degrees)


class Collinear(NamedTuple):
    """`vif` (d,) of the columns `names`, the `condition` number of their correlations within classes, and the `partner`
    (d,) each has the largest partial correlation with."""

    names: tuple[str, ...]
    vif: Array
    condition: float
    partner: NDArray[np.intp]


def inflation(examined: ExaminedTable) -> Collinear | None:
    """Variance inflation within classes, 1/(1 − R²) of each column on the others: the diagonal of the inverse of their
    correlations. None where there are too few rows to tell (n − K < 2d)."""
    correlations = within_correlations(examined)
    if correlations is None:
        return None
    known = np.diagonal(correlations.n)
    spread = (np.diagonal(correlations.pooled) > 0) & (known >= examined.n / 2.0)
    names = tuple(name for name, there in zip(correlations.names, spread, strict=True) if there)
    if len(names) < 2 or examined.n - examined.k < 2 * len(names):
        return None
    R = correlations.pooled[np.ix_(spread, spread)]
    np.fill_diagonal(R, 1.0)
    values = np.linalg.eigvalsh(R)
    precision = np.linalg.inv(R + max(1e-12 - float(values[0]), 0.0) * np.eye(len(R)))
    own = np.maximum(np.diagonal(precision), 1.0)
    partial = np.abs(precision) / np.sqrt(np.outer(own, own))
    np.fill_diagonal(partial, 0.0)
    return Collinear(names, own, float(values[-1] / max(values[0], 1e-12)), partial.argmax(axis=1))


def collinear(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns of numbers that the others determine, or nearly, within the classes."""
    inflated = inflation(examined)
    if inflated is None or inflated.vif.max() < VIF:
        return
    worst = int(inflated.vif.argmax())
    order = [int(j) for j in np.argsort(-inflated.vif) if inflated.vif[j] >= VIF]
    name, other, vif = inflated.names[worst], inflated.names[int(inflated.partner[worst])], float(inflated.vif[worst])
    shrunk: tuple[Mend, ...] = ()
    if examined.k and discriminable(examined):
        shrunk = (AddModel("lda", "laplace", (("shrinkage", "auto"),)),)
    facts = {"column": name, "other": other, "r2": 1.0 - 1.0 / vif}
    message = Message("Within the classes '{column}' can be predicted from the other numbers (R² = {r2:.4f}), "
                      "above all from '{other}': their covariance is hardly invertible, and coefficients mean "
                      "little.",
                      facts)  # fmt: skip
    if not examined.k:
        message = Message("'{column}' can be predicted from the other numbers (R² = {r2:.4f}), above all from "
                          "'{other}': "
                          "their covariance is hardly invertible, and coefficients mean little.", facts)  # fmt: skip
    yield Finding(
        "collinear", "warning" if vif >= VIF**2 else "note", tuple(inflated.names[j] for j in order), message,
        ((Message("condition number of the correlations"), float(f"{_finite(inflated.condition):.4g}")),
         *((Message("variance inflation of '{column}'", {"column": inflated.names[j]}), _finite(inflated.vif[j]))
           for j in order[:6])),
        (SetRole(name, "ignore"), *shrunk),
    )  # fmt: skip


def _finite(value: float) -> float:
    return round(float(value), 1) if value < ENDLESS else np.inf


def discriminable(examined: ExaminedTable) -> bool:
    """Whether LDA and QDA can be fitted: numbers only, two of them or more, no cell missing, and no covariances that
    take long and much room."""
    numbers = examined.numbers
    return (
        2 <= len(numbers) <= WIDE
        and len(numbers) == len(examined.features)
        and examined.k * len(numbers) ** 2 <= ROOM
        and not any(np.isnan(x).any() for x in numbers.values())
    )


# dependence -----------------------------------------------------------------------------------------------------------


class DependentPair(NamedTuple):
    """A pair of columns, `nats` a row that they share given the class beyond chance (information less degrees/2n; none
    in a row where one of them is missing), and the `p_value`, adjusted over all pairs."""

    pair: tuple[str, str]
    nats: float
    p_value: float


def dependences(examined: ExaminedTable, least: float) -> tuple[tuple[DependentPair, ...], tuple[DependentPair, ...]]:
    """The pairs that share `least` nats given the class, `WEAK` or more, the strongest first: those with a column of
    levels, and those of two numbers. I(a; b | c) of tables, of Gaussians by level, and −½ Σ P(c) log(1 − r_c²) of two
    numbers."""
    pairs = examined.once("pairs", lambda: _pairs(examined))
    strong = sorted((s for s in pairs if s.p_value < LEVEL and s.nats >= least), key=lambda s: -s.nats)
    both = [all(name in examined.numbers for name in s.pair) for s in strong]
    return (
        tuple(s for s, numeric in zip(strong, both, strict=True) if not numeric),
        tuple(s for s, numeric in zip(strong, both, strict=True) if numeric),
    )


def all_looked_at(examined: ExaminedTable) -> bool:
    """Whether `dependences` looks at every two columns.

    >>> from bayes_engine import load_dataset
    >>> from bayes_engine.workbench.doctor.examined_table import examined_table
    >>> mushroom = load_dataset("mushroom")
    >>> all_looked_at(examined_table(mushroom.frame, mushroom.schema))
    True
    """
    sizes = sorted(len(examined.schema[name].levels) for name in examined.codes)
    known = len(sizes) <= MOST and max(sizes, default=0) <= WIDEST
    return (
        known
        and max(examined.k, 1) * math.prod(sizes[-2:]) <= CELLS
        and len(examined.numbers) <= (MOST if sizes else WIDE)
    )


def _pairs(examined: ExaminedTable) -> list[DependentPair]:
    """All that share WEAK nats and more; p-values are adjusted for the others as well."""
    levels, numbers, n = _with_levels(examined), within_correlations(examined), max(examined.n, 1)
    i, j = np.triu_indices(len(numbers.names) if numbers else 0, 1)
    lost, degrees = (a[i, j] for a in (numbers.lost, numbers.degrees)) if numbers else np.zeros((2, 0))
    p = holm(np.r_[[d.p_value for d in levels.values()], chdtrc(np.maximum(degrees, 1.0), 2.0 * lost)])
    of_levels = zip(levels.items(), p, strict=False)
    pairs = [DependentPair(pair, (d.statistic - d.degrees) / (2.0 * n), float(own)) for (pair, d), own in of_levels]
    nats = (lost - degrees / 2.0) / n
    if numbers:
        names = numbers.names
        pairs += [DependentPair((names[i[t]], names[j[t]]), float(nats[t]), float(p[len(levels) + t]))
                  for t in np.flatnonzero(nats >= WEAK).tolist()]  # fmt: skip
    return [shared for shared in pairs if shared.nats >= WEAK]


def _with_levels(examined: ExaminedTable) -> dict[tuple[str, str], Dependence]:
    k, names = max(examined.k, 1), [n for n in examined.codes if 2 <= len(examined.schema[n].levels) <= WIDEST]
    y = examined.y if examined.k else np.zeros(examined.n, dtype=np.intp)
    information_of = {n: information(examined.table(n)).information if examined.k else 0.0 for n in steps(names)}
    names = sorted(names, key=lambda n: -information_of[n])[:MOST]
    tested: dict[tuple[str, str], Dependence] = {}
    alike: dict[tuple[int, int, int], list[tuple[str, str]]] = {}
    for a, b in combinations(names, 2):
        shape = (k, len(examined.schema[a].levels), len(examined.schema[b].levels))
        if math.prod(shape) <= CELLS:
            alike.setdefault(shape, []).append((a, b))
    for shape, pairs in alike.items():
        size = max(1, AT_ONCE // math.prod(shape))
        for some in (pairs[start : start + size] for start in range(0, len(pairs), size)):
            tables = np.stack([_met(examined.codes[a], examined.codes[b], y, shape) for a, b in some])
            tested.update(zip(some, conditional_informations(tables), strict=True))
    numeric = [(n, without_outliers(x)) for n, x in list(examined.numbers.items())[:MOST] if np.isfinite(x).any()]
    without = {name: _needles(x, y, k)[y] for name, x in numeric}
    for a in steps(names):
        size = len(examined.schema[a].levels)
        cell = y * size + examined.codes[a]
        for name, x in numeric:
            known = (examined.codes[a] >= 0) & ~np.isnan(x) & ~without[name]
            cells, values = cell[known], x[known] - (x[known].mean() if known.any() else 0.0)
            weight = np.bincount(cells, minlength=k * size).astype(float)
            mean = np.bincount(cells, values, minlength=k * size) / np.maximum(weight, 1.0)
            m2 = np.bincount(cells, (values - mean[cells]) ** 2, minlength=k * size).astype(float)
            tested[a, name] = gaussian_information(ColumnMoments(weight, mean, m2, 0.0), k, 1e-9)
    return tested


def _met(u: NDArray[np.intp], v: NDArray[np.intp], y: NDArray[np.intp], shape: tuple[int, ...]) -> Array:
    """(K, S_u, S_v) how often the levels of two columns meet in each class, where both are known."""
    tick(0, 0)
    known = (u >= 0) & (v >= 0)
    flat = (y * shape[1] + u) * shape[2] + v
    met = np.bincount(flat if known.all() else flat[known], minlength=math.prod(shape))
    return met.reshape(shape).astype(float)


def _needles(x: Array, y: NDArray[np.intp], k: int) -> NDArray[np.bool_]:
    """(k,) the classes in which a column has next to no spread: it shares nothing there."""
    whole = NEEDLE * float(np.nanvar(x))
    own = (x[(y == c) & ~np.isnan(x)] for c in range(k))
    return np.array([len(cells) > 0 and float(cells.var()) <= whole for cells in own])


def dependent(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns that depend on one another given the class, against what naive Bayes assumes; nothing without a class."""
    if examined.target is None:
        return
    with_levels, of_numbers = dependences(examined, DEPENDENT)
    with_levels = tuple(s for s in with_levels if s.nats >= OF_NUMBERS or not set(s.pair) & set(examined.numbers))
    one = [set(names) for names, _on in _indicators(examined)]  # of these `indicators` speaks
    with_levels = tuple(s for s in with_levels if not any(own.issuperset(s.pair) for own in one))
    of_numbers = tuple(s for s in of_numbers if s.nats >= OF_NUMBERS)
    cut = AddModel("tan", "laplace", (("discretize", "mdlp"),))
    normal: tuple[Mend, ...] = (AddModel("lda"), AddModel("qda")) if discriminable(examined) else ()
    averaged: tuple[Mend, ...] = (AddModel("aode"),) if len(examined.codes) >= 2 else ()
    for strong, mends in ((with_levels, (AddModel("tan"), *averaged)), (of_numbers, (*normal, cut))):
        if not strong:
            continue
        (a, b), nats, _p = strong[0]
        more = len(strong) - 1
        message = Message("'{column}' and '{other}' share information given the class: {shared} a row, which "
                          "naive Bayes counts twice.", {"column": a, "other": b, "shared": Nats(nats)})  # fmt: skip
        if more:
            message = Message("'{column}' and '{other}' share information given the class: {shared} a row, "
                              "which naive Bayes counts twice; so do {more} other pair(s) of columns.",
                              {"column": a, "other": b, "shared": Nats(nats), "more": more})  # fmt: skip
        columns = tuple(dict.fromkeys(name for s in strong for name in s.pair))
        yield Finding(
            "dependence", "warning" if nats >= STRONG else "note", columns, message,
            tuple((Message("'{column}' – '{other}'", {"column": s.pair[0], "other": s.pair[1]}), Nats(s.nats))
                  for s in strong[:6]),
            mends,
        )  # fmt: skip


def indicators(examined: ExaminedTable) -> Iterator[Finding]:
    """One variable that is written in three columns of two levels and more; nothing without a class."""
    if examined.target is not None:
        yield from (_one_variable(examined, names, on) for names, on in _indicators(examined))


def _indicators(examined: ExaminedTable) -> list[tuple[tuple[str, ...], int]]:
    """The columns that are one variable, and which of their levels only one of them has in a row."""
    return examined.once("indicators", lambda: list(_grouped(examined)))


def _grouped(examined: ExaminedTable) -> Iterator[tuple[tuple[str, ...], int]]:
    two = [
        name for name in examined.codes if len(examined.schema[name].levels) == 2 and (examined.codes[name] >= 0).all()
    ]
    end = 0
    for start in steps(range(len(two) if examined.n >= LEAST_ROWS else 0)):
        groups = ((_one_of(examined, two[start : start + WIDEST], on), on) for on in (1, 0) if start >= end)
        for names, on in (own for own in groups if own[0]):
            end = start + len(names)
            yield names, on
            break


def _one_of(examined: ExaminedTable, names: list[str], on: int) -> tuple[str, ...]:
    """The first of these columns, three and more, of which in every row exactly one has this level; () if none."""
    levels, taken = examined.schema[names[0]].levels, np.zeros(examined.n, dtype=bool)
    for i, name in enumerate(names):
        own = examined.codes[name] == on
        if examined.schema[name].levels != levels or not own.any() or (taken & own).any():
            return ()
        taken |= own
        if taken.all():
            return tuple(names[: i + 1]) if i >= 2 else ()
    return ()


def _one_variable(examined: ExaminedTable, names: tuple[str, ...], on: int) -> Finding:
    level = str(examined.schema[names[0]].levels[on])
    counts = [int((examined.codes[name] == on).sum()) for name in names]
    message = Message("{n} columns, '{column}' to '{other}', are one variable: in every row exactly one of them is "
                      "'{level}'. Naive Bayes counts it {n} times; one column with their names would count once.",
                      {"n": len(names), "column": names[0], "other": names[-1], "level": level})  # fmt: skip
    evidence = tuple((Message("rows in which '{column}' is '{level}'", {"column": name, "level": level}), count)
                     for name, count in list(zip(names, counts, strict=True))[:6])  # fmt: skip
    return Finding("dependence", "note", names, message, evidence, (AddModel("aode"), AddModel("tan")))
