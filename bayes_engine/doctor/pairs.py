"""What columns say of one another: copies, rows that stand twice, and what naive Bayes would count twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtrc

from bayes_engine.doctor.columns import without_strays
from bayes_engine.doctor.finding import AddModel, Finding, Mend, Repair, SetRole
from bayes_engine.doctor.look import Look, holm
from bayes_engine.language import Message
from bayes_engine.logspace import Array, exp, log
from bayes_engine.progress import tick
from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.structure.tree import Dependence, conditional_informations, gaussian_information, information

BY_CHANCE = 7.0
"""Nats beyond the logarithm of the number of pairs: two columns of these shares agree throughout by chance once in a
thousand such tables."""
LINEAR = 1e-4
"""1 − r² of two columns that are one in other units: what rounding to a hundredth of the standard deviation leaves."""
NEARLY_LINEAR = 0.05
"""1 − r² beyond which, around the means of all their cells, two columns with gaps are not looked at again."""
TWICE, BEYOND_CHANCE = 0.01, 10.0
"""A share of rows that stand a second time, and how many times more such pairs there are than the columns make by
themselves: rounded measurements meet by chance."""
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
NEEDLE = 1e-6
"""A class's share of the column's variance up to which it has no spread there."""
MOST, WIDEST = 60, 50
"""Columns whose pairs are looked at (those that tell most of the class), and levels of a column among them."""


def duplicate_columns(look: Look) -> Iterator[Finding]:
    """Columns that are equal, equal up to the names of their levels, or equal up to units.

    >>> from bayes_engine.doctor.look import look
    >>> x = np.sin(np.arange(50.0))
    >>> seen = look(pd.DataFrame({"cm": x, "inch": x / 2.54}))
    >>> [(finding.code, finding.columns) for finding in duplicate_columns(seen)]
    [('duplicate-column', ('inch', 'cm'))]
    """
    partitions: dict[bytes, list[str]] = {}
    pairs = max(len(look.features) * (len(look.features) - 1) / 2, 1.0)
    for v in look.features:
        if not v.discrete and not v.numeric:
            continue
        codes = pd.factorize(look.frame[v.name])[0]
        counts = np.bincount(codes[codes >= 0])
        if len(counts) < 2 or len(counts) > look.n / 2:
            continue
        share = counts / counts.sum()
        if -float(share @ log(share)) * look.n >= log(pairs) + BY_CHANCE:
            partitions.setdefault(codes.astype(np.int32).tobytes(), []).append(v.name)
    said: set[str] = set()
    for names in partitions.values():
        for other in names[1:]:
            same = _equal(look.frame[names[0]], look.frame[other])
            said.add(other)
            yield _twice(look, names[0], other, same)
    numeric = [name for name in look.numbers if name not in said]
    if len(numeric) >= 2 and look.n >= 10:
        Z, M = _standardized([look.numbers[name] for name in numeric])
        squares = 1.0 - _correlations(Z, M) ** 2
        both = M.T @ M
        for i, j in zip(*np.nonzero(np.triu((squares < NEARLY_LINEAR) & (both >= look.n / 2.0), 1)), strict=True):
            a, b = numeric[i], numeric[j]
            shared = (M[:, i] * M[:, j]) > 0  # where one of them has gaps, the rest must agree as well
            x, z = look.numbers[a][shared], look.numbers[b][shared]
            if a in said or b in said or shared.sum() < 10 or x.std() == 0.0 or z.std() == 0.0:
                continue
            r = float(np.corrcoef(x, z)[0, 1])
            if 1.0 - r**2 < LINEAR:
                if M[:, i].sum() < M[:, j].sum():  # the one with more gaps is the one to do without
                    a, b = b, a
                said.add(b)
                yield _twice(look, a, b, bool((x == z).all()), r)


def _equal(a: pd.Series, b: pd.Series) -> bool:
    return bool(((a.astype(object) == b.astype(object)) | (a.isna() & b.isna())).all())


def _twice(look: Look, a: str, b: str, same: bool, r: float | None = None) -> Finding:
    known = (look.frame[a].notna() & look.frame[b].notna()).to_numpy(dtype=bool)
    n = int(known.sum())
    gaps = bool((look.frame[a].isna() != look.frame[b].isna()).any())
    facts = {"column": b, "other": a, "r": r, "n": n}
    said = Message("'{column}' and '{other}' are one column under other names for the same values: what it says counts "
                   "twice.", facts)  # fmt: skip
    if same and gaps:
        said = Message("'{column}' is the same as '{other}' in all {n:,} rows where both are known: what it says "
                       "counts twice.", facts)  # fmt: skip
    elif same:
        said = Message("'{column}' is the same as '{other}' in every row: what it says counts twice.", facts)
    elif r is not None:
        said = Message("'{column}' is '{other}' in other units (r = {r:.6f}): what it says counts twice.", facts)
    evidence: tuple[tuple[Message, object], ...] = (
        (Message("rows in which both are known"), n),
        (Message("different values"), int(look.frame[a][known].nunique())),
    )
    if r is not None:
        evidence = (*evidence, (Message("correlation"), r))
    return Finding("duplicate-column", "warning", (b, a), said, evidence, (SetRole(b, "ignore"), SetRole(a, "ignore")))


def duplicate_rows(look: Look) -> Iterator[Finding]:
    """Rows that stand twice, where the columns' own shares do not make as many pairs.

    >>> from bayes_engine.doctor.look import look
    >>> x = np.sin(np.arange(50.0))
    >>> seen = look(pd.DataFrame({"x": [*x, *x[:5]], "y": [*x, *x[:5]]}))
    >>> [finding.evidence[0][1] for finding in duplicate_rows(seen)]
    [5]
    """
    names = [v.name for v in look.features]
    if not names or look.n < 10:
        return
    codes = np.stack([pd.factorize(look.frame[name])[0] for name in names] + [look.y])
    group = pd.factorize(pd.util.hash_pandas_object(pd.DataFrame(codes.T), index=False))[0]
    sizes = np.bincount(group)
    again = look.n - len(sizes)
    met = float((sizes * (sizes - 1)).sum()) / 2.0
    by_chance = 0.0
    for rows in look.rows_of if look.k else [np.arange(look.n)]:
        alike = 0.0
        for column in codes[:-1]:
            counts = np.bincount(column[rows] + 1).astype(float)
            pairs = max(len(rows) * (len(rows) - 1.0), 1.0)
            alike += float(log(float(counts @ (counts - 1.0)) / pairs))
        by_chance += len(rows) * (len(rows) - 1) / 2.0 * float(exp(alike))
    if again >= TWICE * look.n and met >= BEYOND_CHANCE * max(by_chance, 0.1):
        second = pd.Series(group).duplicated().to_numpy()
        yield Finding(
            "duplicate-rows", "note", (),
            Message("{n} rows stand a second time, class and all ({share:.1%}); a row held out may have been seen.",
                    {"n": again, "share": again / look.n}),
            ((Message("rows that stand a second time"), again), (Message("pairs of equal rows"), int(met)),
             (Message("pairs expected by chance"), round(by_chance, 2))),
            (Repair("drop-duplicates"),), look.shown(second),
        )  # fmt: skip


# numbers --------------------------------------------------------------------------------------------------------------


def _standardized(columns: Sequence[Array]) -> tuple[Array, Array]:
    """(n, d) the columns in units of their sd around their mean, 0 where missing; and (n, d) 1 where known."""
    X = np.stack(columns, axis=1)
    known = ~np.isnan(X)
    count = np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, X, 0.0)
    centred = np.where(known, X - centred.sum(axis=0) / count, 0.0)
    sd = np.sqrt((centred**2).sum(axis=0) / count)
    return np.divide(centred, sd, out=np.zeros_like(centred), where=sd > 0), known.astype(float)


def _correlations(Z: Array, M: Array) -> Array:
    """(d, d) correlations over the rows where both are known."""
    squares = (Z**2).T @ M
    scale = np.sqrt(squares * squares.T)
    return np.asarray(np.clip(np.divide(Z.T @ Z, scale, out=np.zeros_like(scale), where=scale > 0), -1.0, 1.0))


class Within(NamedTuple):
    """Correlations given the class: `names`, `r` (K, d, d) in each class, `n` (K, d, d) the rows they rest on, and
    `pooled` (d, d) around the class means."""

    names: tuple[str, ...]
    r: Array
    n: Array
    pooled: Array


def within(look: Look) -> Within | None:
    """Correlations of the numbers within classes; None where there are fewer than two columns with any spread.

    >>> from bayes_engine import load_dataset
    >>> from bayes_engine.doctor.look import look
    >>> iris = load_dataset("iris")
    >>> seen = look(iris.frame, iris.schema)
    >>> found = within(seen)
    >>> found.names[2:], round(float(found.pooled[2, 3]), 4)
    (('petal length', 'petal width'), 0.4845)
    """
    return look.once("within", lambda: _within(look))


def _within(look: Look) -> Within | None:
    names = tuple(
        name for name, x in look.numbers.items() if np.nanmax(x, initial=-np.inf) > np.nanmin(x, initial=np.inf)
    )
    if len(names) < 2:
        return None
    X = np.stack([without_strays(look.numbers[name]) for name in names], axis=1)
    per, counts = [], []
    products, squares = np.zeros((2, len(names), len(names)))
    for rows in look.rows_of if look.k else [np.arange(look.n)]:
        own = X[rows]
        known = ~np.isnan(own)
        M = known.astype(float)
        mean = np.where(known, own, 0.0).sum(axis=0) / np.maximum(M.sum(axis=0), 1.0)
        Z = np.where(known, own - mean, 0.0)
        per.append(_correlations(Z, M))
        counts.append(M.T @ M)
        products, squares = products + Z.T @ Z, squares + (Z**2).T @ M
    scale = np.sqrt(squares * squares.T)
    pooled = np.divide(products, scale, out=np.zeros_like(scale), where=scale > 0)
    return Within(names, np.stack(per), np.stack(counts), np.clip(pooled, -1.0, 1.0))


class Collinear(NamedTuple):
    """`vif` (d,) of the columns `names`, the `condition` number of their correlations within classes, and the `partner`
    (d,) each has the largest partial correlation with."""

    names: tuple[str, ...]
    vif: Array
    condition: float
    partner: NDArray[np.intp]


def inflation(look: Look) -> Collinear | None:
    """Variance inflation within classes, 1/(1 − R²) of each column on the others: the diagonal of the inverse of their
    correlations. None where there are too few rows to tell (n − K < 2d).

    >>> from bayes_engine import load_dataset
    >>> from bayes_engine.doctor.look import look
    >>> iris = load_dataset("iris")
    >>> seen = look(iris.frame, iris.schema)
    >>> inflation(seen).vif.round(2).tolist()
    [2.87, 1.64, 2.74, 1.54]
    """
    found = within(look)
    if found is None:
        return None
    known = np.diagonal(found.n.sum(axis=0))
    spread = (np.diagonal(found.pooled) > 0) & (known >= look.n / 2.0)
    names = tuple(name for name, there in zip(found.names, spread, strict=True) if there)
    if len(names) < 2 or look.n - look.k < 2 * len(names):
        return None
    R = found.pooled[np.ix_(spread, spread)]
    np.fill_diagonal(R, 1.0)
    values = np.linalg.eigvalsh(R)
    precision = np.linalg.inv(R + max(1e-12 - float(values[0]), 0.0) * np.eye(len(R)))
    own = np.maximum(np.diagonal(precision), 1.0)
    partial = np.abs(precision) / np.sqrt(np.outer(own, own))
    np.fill_diagonal(partial, 0.0)
    return Collinear(names, own, float(values[-1] / max(values[0], 1e-12)), partial.argmax(axis=1))


def collinear(look: Look) -> Iterator[Finding]:
    """Columns of numbers that the others determine, or nearly, within the classes.

    >>> from bayes_engine.doctor.look import look
    >>> x, z = np.sin(np.arange(60.0)), np.cos(np.arange(60.0) ** 2)
    >>> seen = look(pd.DataFrame({"a": x, "b": z, "sum": x + z + 0.01 * x * z}))
    >>> [finding.code for finding in collinear(seen)]
    ['collinear']
    """
    found = inflation(look)
    if found is None or found.vif.max() < VIF:
        return
    worst = int(found.vif.argmax())
    order = [int(j) for j in np.argsort(-found.vif) if found.vif[j] >= VIF]
    name, other, vif = found.names[worst], found.names[int(found.partner[worst])], float(found.vif[worst])
    shrunk: tuple[Mend, ...] = ()
    if look.k and discriminable(look):
        shrunk = (AddModel("lda", "laplace", (("shrinkage", "auto"),)),)
    facts = {"column": name, "other": other, "r2": 1.0 - 1.0 / vif}
    said = Message("Within the classes '{column}' can be told from the other numbers (R² = {r2:.4f}), above all from "
                   "'{other}': their covariance is hardly invertible, and coefficients mean little.",
                   facts)  # fmt: skip
    if not look.k:
        said = Message("'{column}' can be told from the other numbers (R² = {r2:.4f}), above all from '{other}': their "
                       "covariance is hardly invertible, and coefficients mean little.", facts)  # fmt: skip
    yield Finding(
        "collinear", "warning" if vif >= VIF**2 else "note", tuple(found.names[j] for j in order), said,
        ((Message("condition number of the correlations"), float(f"{_finite(found.condition):.4g}")),
         *((Message("variance inflation of '{column}'", {"column": found.names[j]}), _finite(found.vif[j]))
           for j in order[:6])),
        (SetRole(name, "ignore"), *shrunk),
    )  # fmt: skip


def _finite(value: float) -> float:
    return round(float(value), 1) if value < ENDLESS else np.inf


def discriminable(look: Look) -> bool:
    """Whether LDA and QDA can be fitted: numbers only, two of them or more, no cell missing.

    >>> from bayes_engine import load_dataset
    >>> from bayes_engine.doctor.look import look
    >>> iris = load_dataset("iris")
    >>> seen = look(iris.frame, iris.schema)
    >>> discriminable(seen)
    True
    """
    numbers = look.numbers
    return (
        len(numbers) >= 2
        and len(numbers) == len(look.features)
        and not any(np.isnan(x).any() for x in numbers.values())
    )


# dependence -----------------------------------------------------------------------------------------------------------


class Shared(NamedTuple):
    """A pair of columns, `nats` a row that they share given the class beyond chance (information less degrees/2n; none
    in a row where one of them is missing), and the `p_value`, adjusted over all pairs."""

    pair: tuple[str, str]
    nats: float
    p_value: float


def dependences(look: Look, least: float) -> tuple[tuple[Shared, ...], tuple[Shared, ...]]:
    """The pairs that share `least` nats given the class, the strongest first: those with a column of levels, and
    those of two numbers. I(a; b | c) of tables, of Gaussians by level, and −½ Σ P(c) log(1 − r_c²) of two numbers.

    >>> from bayes_engine import load_dataset
    >>> from bayes_engine.doctor.look import look
    >>> iris = load_dataset("iris")
    >>> seen = look(iris.frame, iris.schema)
    >>> _levels, numbers = dependences(seen, 0.2)
    >>> [(shared.pair, round(shared.nats, 2)) for shared in numbers]
    [(('sepal length', 'petal length'), 0.37), (('sepal length', 'sepal width'), 0.22)]
    """
    pairs = look.once("pairs", lambda: _pairs(look))
    strong = sorted((s for s in pairs if s.p_value < LEVEL and s.nats >= least), key=lambda s: -s.nats)
    both = [all(name in look.numbers for name in s.pair) for s in strong]
    return (
        tuple(s for s, numeric in zip(strong, both, strict=True) if not numeric),
        tuple(s for s, numeric in zip(strong, both, strict=True) if numeric),
    )


def _pairs(look: Look) -> list[Shared]:
    found: dict[tuple[str, str], Dependence] = {**_with_levels(look), **_of_numbers(look)}
    p = holm(np.array([d.p_value for d in found.values()]))
    return [
        Shared(pair, (d.information - d.degrees / (2.0 * max(d.n, 1.0))) * d.n / max(look.n, 1), float(own))
        for (pair, d), own in zip(found.items(), p, strict=True)
    ]


def _with_levels(look: Look) -> dict[tuple[str, str], Dependence]:
    k, names = max(look.k, 1), [n for n in look.codes if 2 <= len(look.schema[n].levels) <= WIDEST]
    y = look.y if look.k else np.zeros(look.n, dtype=np.intp)
    told = {n: information(look.table(n)).information if look.k else 0.0 for n in names}
    names = sorted(names, key=lambda n: -told[n])[:MOST]
    tables: dict[tuple[int, ...], dict[tuple[str, str], Array]] = {}
    for i, (a, b) in enumerate(combinations(names, 2)):
        if i % 64 == 0:
            tick(0, 0)
        u, v = look.codes[a], look.codes[b]
        shape = (k, len(look.schema[a].levels), len(look.schema[b].levels))
        known = (u >= 0) & (v >= 0)
        flat = (y * shape[1] + u) * shape[2] + v
        met = np.bincount(flat if known.all() else flat[known], minlength=int(np.prod(shape)))
        tables.setdefault(shape, {})[a, b] = met.reshape(shape).astype(float)
    found: dict[tuple[str, str], Dependence] = {}
    for alike in tables.values():
        found.update(zip(alike, conditional_informations(np.stack(list(alike.values()))), strict=True))
    numeric = [(n, without_strays(x)) for n, x in list(look.numbers.items())[:MOST] if np.isfinite(x).any()]
    without = {name: _needles(x, y, k)[y] for name, x in numeric}
    for a in names:
        size = len(look.schema[a].levels)
        cell = y * size + look.codes[a]
        for name, x in numeric:
            known = (look.codes[a] >= 0) & ~np.isnan(x) & ~without[name]
            at, values = cell[known], x[known] - (x[known].mean() if known.any() else 0.0)
            weight = np.bincount(at, minlength=k * size).astype(float)
            mean = np.bincount(at, values, minlength=k * size) / np.maximum(weight, 1.0)
            m2 = np.bincount(at, (values - mean[at]) ** 2, minlength=k * size).astype(float)
            found[a, name] = gaussian_information(ColumnMoments(weight, mean, m2, 0.0), k, 1e-9)
    return found


def _needles(x: Array, y: NDArray[np.intp], k: int) -> NDArray[np.bool_]:
    """(k,) the classes in which a column has next to no spread: it shares nothing there."""
    whole = NEEDLE * float(np.nanvar(x))
    own = (x[(y == c) & ~np.isnan(x)] for c in range(k))
    return np.array([len(cells) > 0 and float(cells.var()) <= whole for cells in own])


def _of_numbers(look: Look) -> dict[tuple[str, str], Dependence]:
    found = within(look)
    if found is None:
        return {}
    lost = np.where(found.n > 3, -0.5 * log(np.maximum(1.0 - found.r**2, 1e-12)), 0.0)  # of two rows r is always 1
    n = found.n.sum(axis=0)
    information_ = (found.n * lost).sum(axis=0) / np.maximum(n, 1.0)
    degrees = (found.n > 3).sum(axis=0)
    p = chdtrc(np.maximum(degrees, 1), 2.0 * n * information_)
    return {
        (found.names[i], found.names[j]): Dependence(
            float(information_[i, j]), float(2.0 * n[i, j] * information_[i, j]), int(degrees[i, j]),
            float(p[i, j]), float(n[i, j]))
        for i, j in zip(*np.triu_indices(len(found.names), 1), strict=True)
    }  # fmt: skip


def dependent(look: Look) -> Iterator[Finding]:
    """Columns that depend on one another given the class, against what naive Bayes assumes; nothing without a class.

    >>> from bayes_engine.table.schema import Schema
    >>> from bayes_engine.doctor.look import look
    >>> frame = pd.DataFrame({"a": ["x", "y"] * 30, "b": ["u", "v"] * 30, "c": ["p", "p", "q"] * 20})
    >>> seen = look(frame, Schema.from_dtypes(frame).with_role("c", "target"))
    >>> [(finding.code, finding.columns) for finding in dependent(seen)]
    [('dependence', ('a', 'b'))]
    """
    if look.target is None:
        return
    with_levels, of_numbers = dependences(look, DEPENDENT)
    with_levels = tuple(s for s in with_levels if s.nats >= OF_NUMBERS or not set(s.pair) & set(look.numbers))
    of_numbers = tuple(s for s in of_numbers if s.nats >= OF_NUMBERS)
    cut = AddModel("tan", "laplace", (("discretize", "mdlp"),))
    normal: tuple[Mend, ...] = (AddModel("lda"), AddModel("qda")) if discriminable(look) else ()
    averaged: tuple[Mend, ...] = (AddModel("aode"),) if len(look.codes) >= 2 else ()
    for strong, mends in ((with_levels, (AddModel("tan"), *averaged)), (of_numbers, (*normal, cut))):
        if not strong:
            continue
        (a, b), nats, _p = strong[0]
        more = len(strong) - 1
        said = Message("'{column}' and '{other}' say the same given the class: {nats:.2f} nats a row, which naive "
                       "Bayes counts twice.", {"column": a, "other": b, "nats": nats})  # fmt: skip
        if more:
            said = Message("'{column}' and '{other}' say the same given the class: {nats:.2f} nats a row, which naive "
                           "Bayes counts twice; so do {more} other pair(s) of columns.",
                           {"column": a, "other": b, "nats": nats, "more": more})  # fmt: skip
        columns = tuple(dict.fromkeys(name for s in strong for name in s.pair))
        yield Finding(
            "dependence", "warning" if nats >= STRONG else "note", columns, said,
            tuple((Message("'{column}' – '{other}', nats", {"column": s.pair[0], "other": s.pair[1]}), round(s.nats, 3))
                  for s in strong[:6]),
            mends,
        )  # fmt: skip
