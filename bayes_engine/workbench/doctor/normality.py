"""Where the numbers of a class are no Gaussian: its shape in a column, and the covariances of the classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from bayes_engine.errors import TableError
from bayes_engine.language import Message
from bayes_engine.logspace import Array, exp, log
from bayes_engine.progress import steps
from bayes_engine.stats.assumptions import BoxM, box_m
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.multiple_tests import holm
from bayes_engine.stats.scatter import scatter
from bayes_engine.table.sentinels import sentinel
from bayes_engine.workbench.doctor.examined_table import ExaminedTable
from bayes_engine.workbench.doctor.finding import (
    AddModel,
    Finding,
    Mend,
    Nats,
    SetLikelihood,
    SetParameter,
)
from bayes_engine.workbench.doctor.pairs import ENDLESS, discriminable, inflation

TINY_VARIANCE = 1e-6
"""A class's share of the column's variance below which its Gaussian is a needle: an sd of a thousandth."""
LEVEL = 0.01
"""Holm-adjusted level of the tests of normality."""
SKEWED, HEAVY = 2.0, 7.0
"""Skewness (2: an exponential) and excess kurtosis (7: Student's t with less than five degrees of freedom), each the
average over the classes."""
LOST = 0.1
"""Nats a row that a Gaussian a class loses against the ten cells it should fill alike: 20,000 rows reject any shape,
this asks whether it matters. A uniform loses 0.1, an exponential 0.2, two separate peaks 0.3 and more."""
LEAST = 20
"""D'Agostino's test is meant for so many rows and more."""
GAIN = 0.2
"""Nats a row that covariances of their own gain, after the price of their parameters (BIC)."""
KERNEL_ROWS = 5_000
"""Up to so many rows a kernel density, which keeps them all, is offered first."""


class ClassShapes(NamedTuple):
    """How a column of numbers is spread in each class, (K,) each: rows `n`, `variance`, `skewness`, excess `kurtosis`,
    D'Agostino and Pearson's `p_value` of normality, and `lost`, nats a row against ten cells that a Gaussian with the
    class's mean and variance fills alike, less what chance makes of them (9/2n). NaN where a class is too small."""

    n: Array
    variance: Array
    skewness: Array
    kurtosis: Array
    p_value: Array
    lost: Array

    def mean(self, what: Array) -> float:
        """The average over the classes where it is known, by their rows."""
        known = ~np.isnan(what)
        return float(np.average(what[known], weights=self.n[known])) if known.any() else 0.0


def shapes(examined: ExaminedTable) -> dict[str, ClassShapes]:
    """The shape of every column of numbers."""
    return {name: _shape([x[rows] for rows in examined.rows_of]) for name, x in steps(examined.numbers.items())}


def _shape(by_class: list[Array]) -> ClassShapes:
    rows = np.full((6, len(by_class)), np.nan)
    for c, cells in enumerate(by_class):
        x = cells[~np.isnan(cells)]
        n = len(x)
        rows[0, c] = n
        if n < 2:
            continue
        variance = rows[1, c] = float(x.var())
        if n < LEAST or variance <= 1e-24 * float(np.mean(x**2)) or len(np.unique(x)) < 3:
            continue
        z = (x - x.mean()) / np.sqrt(variance)
        rows[2, c], rows[3, c] = float(np.mean(z**3)), float(np.mean(z**4) - 3.0)
        rows[4, c] = _normal(n, rows[2, c], rows[3, c])
        share = _tenths(x)
        met = share > 0
        rows[5, c] = float(share[met] @ log(10.0 * share[met])) - 9.0 / (2.0 * n)
    return ClassShapes(*rows)


def _normal(n: int, skewness: float, kurtosis: float) -> float:
    """The p-value of D'Agostino and Pearson's K² = z₁² + z₂² (Biometrika 60, 1973), z₁ of the skewness as D'Agostino
    (1970), z₂ of the excess kurtosis as Anscombe and Glynn (1983): `scipy.stats.normaltest`, of moments that are known.
    """
    beta = 3.0 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2.0) * (n + 5) * (n + 7) * (n + 9))
    w2 = np.sqrt(2.0 * (beta - 1.0)) - 1.0
    y = skewness * np.sqrt((n + 1) * (n + 3) / (6.0 * (n - 2))) / np.sqrt(2.0 / (w2 - 1.0))
    z1 = np.arcsinh(y) / np.sqrt(0.5 * log(w2))
    variance = 24.0 * n * (n - 2) * (n - 3) / ((n + 1.0) ** 2 * (n + 3) * (n + 5))
    x = (kurtosis + 6.0 / (n + 1)) / np.sqrt(variance)
    b = 6.0 * (n * n - 5 * n + 2) / ((n + 7.0) * (n + 9)) * np.sqrt(6.0 * (n + 3) * (n + 5) / (n * (n - 2.0) * (n - 3)))
    a = 6.0 + 8.0 / b * (2.0 / b + np.sqrt(1.0 + 4.0 / b**2))
    part = 2.0 / (9.0 * a)
    z2 = (1.0 - part - np.cbrt((1.0 - 2.0 / a) / (1.0 + x * np.sqrt(2.0 / (a - 4.0))))) / np.sqrt(part)
    return float(exp(-0.5 * (z1**2 + z2**2)))


def _tenths(x: Array) -> Array:
    """(10,) the share of x in each tenth of the Gaussian with its mean and variance. A rounded value stands for all
    that would have been rounded to it, so that rounding alone is no other shape.

    >>> _tenths(np.linspace(-1.7, 1.7, 1001)).round(2).tolist()  # a uniform: too few in the ends and the middle
    [0.13, 0.13, 0.09, 0.08, 0.07, 0.07, 0.08, 0.09, 0.13, 0.13]
    """
    values, counts = np.unique(x, return_counts=True)
    half = float(np.diff(values).min()) / 2.0 if len(values) < len(x) / 2 else 0.0
    mean, sd = float(x.mean()), float(x.std())
    low, high = ndtr((values - half - mean) / sd), ndtr((values + half - mean) / sd)
    if half == 0.0 or (high <= low).any():
        return np.bincount(np.minimum((10.0 * low).astype(int), 9), counts, minlength=10) / len(x)
    edges = np.arange(11)[:, None] / 10.0
    below = np.clip((edges - low) / (high - low), 0.0, 1.0) @ counts
    return np.asarray(np.diff(below) / len(x))


def forms(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns of numbers whose classes are no Gaussians: needles, skew ones, heavy tails, other shapes."""
    by_column = shapes(examined) if examined.target is not None else {}
    names = list(by_column)
    if not names:
        return
    p = np.array([by_column[name].p_value for name in names]).reshape(len(names), -1)
    tested = ~np.isnan(p)
    adjusted = np.ones_like(p)
    adjusted[tested] = holm(p[tested])
    odd: list[Finding] = []
    for name, own in zip(names, adjusted, strict=True):
        shape = by_column[name]
        yield from _needles(examined, name, shape)
        surely = own < LEVEL
        lost = float(np.nansum(np.where(surely, shape.lost * shape.n, 0.0)) / max(shape.n.sum(), 1.0))
        skew, heavy = (shape.mean(np.where(surely, what, 0.0 * what)) for what in (shape.skewness, shape.kurtosis))
        rejected = int(surely.sum())
        evidence = (
            (Message("skewness, average of the classes"), round(shape.mean(shape.skewness), 2)),
            (Message("excess kurtosis, average of the classes"), round(shape.mean(shape.kurtosis), 2)),
            (Message("classes in which D'Agostino's test rejects (Holm)"), rejected),
            (Message("lost a row by a Gaussian"), Nats(lost)),
        )
        if abs(skew) >= SKEWED and lost >= LOST / 2.0:
            x = examined.numbers[name]
            message = Message("Within the classes '{column}' is skewed ({skew:.1f}): a Gaussian puts its weight where "
                              "no rows are.", {"column": name, "skew": skew})  # fmt: skip
            log_skew = np.inf
            if np.nanmin(x) > 0:
                on_logs = _shape([log(x[rows]) for rows in examined.rows_of])
                log_skew = round(on_logs.mean(on_logs.skewness), 1) + 0.0  # no −0.0
            if abs(log_skew) < abs(skew) / 2.0:
                message = Message("Within the classes '{column}' is skewed ({skew:.1f}): a Gaussian puts its weight "
                                  "where no rows are. Its logarithm is not ({log_skew:.1f}).",
                                  {"column": name, "skew": skew, "log_skew": log_skew})  # fmt: skip
            odd.append(Finding("skew", "warning", (name,), message, evidence))
        elif heavy >= HEAVY:
            odd.append(Finding(
                "heavy-tails", "warning", (name,),
                Message("Within the classes '{column}' has heavy tails (excess kurtosis {kurtosis:.1f}): a "
           "Gaussian takes every row out there as conclusive evidence.", {"column": name, "kurtosis": heavy}), evidence,
            ))  # fmt: skip
        elif lost >= LOST:
            odd.append(Finding(
                "not-normal", "note", (name,),
                Message("Within {rejected} class(es) '{column}' is not Gaussian: {lost} a row are lost by "
                        "taking it so.", {"rejected": rejected, "column": name, "lost": Nats(lost)}), evidence,
            ))  # fmt: skip
    everywhere = tuple(f.columns[0] for f in odd)
    for finding in odd:
        mends: list[Mend] = [SetLikelihood(finding.columns, "kernel"), SetLikelihood(finding.columns, "mdlp")]
        first = 0 if examined.class_rows.sum() <= KERNEL_ROWS and finding.code == "not-normal" else 1
        mends = [mends[first], mends[1 - first]]
        if len(everywhere) > 1:
            mends.append(SetLikelihood(everywhere, mends[0].likelihood))  # type: ignore[union-attr]
        yield Finding(finding.code, finding.severity, finding.columns, finding.message, finding.evidence, tuple(mends))


def _needles(examined: ExaminedTable, name: str, shape: ClassShapes) -> Iterator[Finding]:
    if examined.target is None:
        return
    whole = float(np.nanvar(examined.numbers[name])) if np.isfinite(examined.numbers[name]).any() else 0.0
    thin = np.flatnonzero((shape.n >= 2) & (shape.variance <= TINY_VARIANCE * whole) & (whole > 0))
    if thin.size:
        c = int(thin[0])
        yield Finding(
            "tiny-variance", "warning", (name,),
            Message("In {n} class(es), such as '{label}', '{column}' hardly varies: its Gaussian is extremely narrow, "
                    "and any other value rules the class out.",
                    {"n": int(thin.size), "label": str(examined.target.levels[c]), "column": name}),
            tuple((Message("variance in '{label}' ({n} rows), as a share of the column's",
                           {"label": str(examined.target.levels[c]), "n": int(shape.n[c])}),
                   float(f"{shape.variance[c] / whole:.3g}")) for c in thin[:6]),
            (SetParameter("var_floor", 0.01), SetParameter("tied_variance", True), SetLikelihood((name,), "mdlp")),
        )  # fmt: skip


# covariances ----------------------------------------------------------------------------------------------------------


class Covariances(NamedTuple):
    """Box's test, and the nats a row that a covariance of its own for each class gains over one for all, less the price
    of the parameters (BIC)."""

    box: BoxM
    gain: float


def covariances(examined: ExaminedTable) -> Covariances | None:
    """Do the classes have one covariance? None where that cannot be asked: cells missing, a class with no more rows
    than columns, columns that determine one another. Rows with a cell that is no measurement (`sentinel`) are left
    aside: Box's M is all theirs."""
    return examined.once("covariances", lambda: _covariances(examined))


def _covariances(examined: ExaminedTable) -> Covariances | None:
    if not discriminable(examined) or examined.k < 2:
        return None
    names = tuple(examined.numbers)
    meant = np.ones(examined.n, dtype=bool)
    for x in examined.numbers.values():
        if (value := sentinel(x)) is not None:
            meant &= x != value
    X = np.stack([examined.numbers[name] for name in names], axis=1)[meant]
    of_class = np.bincount(examined.y[meant], minlength=examined.k)
    if (of_class[of_class > 0] <= len(names)).any():
        return None
    together = inflation(examined)
    if together is not None and together.vif.max() >= ENDLESS:  # Box's M would be of the last digits
        return None
    try:
        box = box_m(scatter(names, X.mean(axis=0), X, Labels(examined.k, examined.y[meant])))
    except TableError:
        return None
    price = 0.5 * box.df * float(log(float(len(X))))
    return Covariances(box, (0.5 * box.m - price) / len(X))


def unequal_covariances(examined: ExaminedTable) -> Iterator[Finding]:
    """Classes whose covariances differ so much that QDA pays for them."""
    comparison = covariances(examined)
    if comparison is None or comparison.gain < GAIN or comparison.box.p_value >= LEVEL:
        return
    yield Finding(
        "covariances", "note", tuple(examined.numbers),
        Message("The classes' covariances differ (Box's M = {m:.0f}, {df} degrees of freedom): one for each (QDA) "
                "gains {gain} a row over one for all (LDA), parameters paid.",
                {"m": comparison.box.m, "df": comparison.box.df, "gain": Nats(comparison.gain)}),
        ((Message("Box's M"), round(comparison.box.m, 1)), (Message("χ²"), round(comparison.box.chi2, 1)),
         (Message("degrees of freedom"), comparison.box.df), (Message("p"), comparison.box.p_value)),
        (AddModel("qda"),),
    )  # fmt: skip
