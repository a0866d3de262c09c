"""What is wrong between the columns and the class: classes too rare, columns that give it away, shapes that models do
not expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

from bayes_engine.decision.held_out import TINY
from bayes_engine.errors import TableError
from bayes_engine.language import Listing, Message
from bayes_engine.logspace import Array, exp, log
from bayes_engine.progress import steps
from bayes_engine.stats.assumptions import BoxM, box_m
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.multiple_tests import holm
from bayes_engine.stats.scatter import scatter
from bayes_engine.table.sentinels import sentinel
from bayes_engine.workbench.doctor.cells import same_spelling
from bayes_engine.workbench.doctor.examined_table import ExaminedTable
from bayes_engine.workbench.doctor.finding import (
    AddModel,
    BalanceLosses,
    Code,
    Finding,
    Mend,
    Nats,
    Repair,
    SetLikelihood,
    SetParameter,
    SetRole,
)
from bayes_engine.workbench.doctor.pairs import BY_CHANCE, ENDLESS, discriminable, inflation

FOLDS = 5
"""Cross-validation here makes so many folds: a class with fewer rows is not in all of them."""
UNEVEN = 9.0
"""Rows of the largest class to one of the smallest from which on deciding for the largest is hard to beat: 90 : 10."""
LOPSIDED = 99.0
"""And from which on the errors of that are hard to see: one row in a hundred."""
GIVEN_AWAY, ERRORS = 0.02, 10
"""A single column that leaves at most so much of the errors of always deciding for the largest class, one row left out
at a time; and the errors there must be to begin with. An attribute as good as the odour of mushrooms leaves 3 %."""
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


def sizes(examined: ExaminedTable) -> Iterator[Finding]:
    """Classes with too few rows, and classes of very different size."""
    if examined.target is None:
        return
    name, rows, labels = examined.target.name, examined.class_rows, examined.target.levels
    n, there = int(rows.sum()), rows > 0
    alone = there & ~_misspelt(labels, rows)  # of a slip of the pen `spellings` speaks
    need = rows_needed(n)
    rare = np.flatnonzero(rare_classes(labels, rows))
    if rare.size:
        shown = Listing(f"{labels[c]} ({rows[c]})" for c in rare[:6])
        least = int(rows[rare].min())
        evidence = tuple((Message("rows of '{label}'", {"label": str(labels[c])}), int(rows[c])) for c in rare[:6])
        facts = {"n": int(rare.size), "folds": FOLDS, "classes": shown, "least": least}
        message = Message("{n} class(es) have fewer than {folds} rows: {classes}. Every class can be in {least} folds "
                          "at most, and what is learnt of these rests on a handful of rows.", facts)  # fmt: skip
        if least < 2:
            message = Message("{n} class(es) have too few rows to be held out and learnt from at once: {classes}. One "
                              "that has a single row can never be recognized when this row is held out.",
                              facts)  # fmt: skip
        yield Finding(
            "single-row-class" if least < 2 else "rare-class", "serious" if least < 2 and n > TINY else "warning",
            (name,), message, ((Message("folds in which every class can be"), least), *evidence),
            (Repair("drop-rare", name),), examined.shown(np.isin(examined.y, rare)),
        )  # fmt: skip
    held = alone & (rows >= need)  # of the others that was said already, and no loss makes up for it
    held = held if held.sum() > 1 else alone
    if held.sum() < 2:
        return
    most, least_at = int(rows.argmax()), int(np.where(held, rows, n + 1).argmin())
    ratio = float(rows[most] / rows[least_at])
    if ratio >= UNEVEN:
        cost = tuple(
            (label, n / (int(there.sum()) * r) if r else 0.0) for label, r in zip(labels, rows.tolist(), strict=True)
        )
        yield Finding(
            "imbalance", "warning" if ratio >= LOPSIDED else "note", (name,),
            Message("'{label}' has {ratio:.0f} times as many rows as '{other_label}': always deciding for it is right "
                    "in {share:.1%}. If the rare class is the one that matters, say so in the losses.",
                    {"label": str(labels[most]), "ratio": ratio, "other_label": str(labels[least_at]),
                     "share": float(rows[most] / n)}),
            tuple((Message("rows of '{label}'", {"label": str(labels[c])}), int(rows[c]))
                  for c in np.argsort(-rows, kind="stable")[:8] if rows[c]),
            (BalanceLosses(cost),),
        )  # fmt: skip


def rows_needed(n: int) -> int:
    """How many rows a class needs in a table of n."""
    return 2 if n <= TINY else FOLDS


def rare_classes(labels: tuple[Any, ...], rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """(K,) whether a class has rows, too few to be held out and learnt from, and is no slip of the pen."""
    return (rows > 0) & (rows < rows_needed(int(rows.sum()))) & ~_misspelt(labels, rows)


def _misspelt(labels: tuple[Any, ...], rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """(K,) whether a class is a rarer spelling of another."""
    size = dict(zip(labels, rows.tolist(), strict=True))
    slips = {s for g in same_spelling(labels).values() for s in sorted(g, key=lambda label: -size[label])[1:]}
    return np.array([label in slips for label in labels], dtype=bool)


# leaks ----------------------------------------------------------------------------------------------------------------


def errors_alone(codes: NDArray[np.intp], y: NDArray[np.intp], k: int) -> int:
    """How many rows a column of codes decides wrongly by itself, each left out of the counts it is judged by: the most
    frequent class among the other rows of its level, and among all others where there are none."""
    n, rows = len(y), np.bincount(y, minlength=k)
    if not n:
        return 0
    cells, met = np.unique((codes + 1) * k + y, return_counts=True)  # what occurs: all may be far more
    level, cls = cells // k, cells % k
    nothing = (level == 0) | (np.bincount(level, met)[level] == 1)  # missing, or alone in its level
    by_level = _still_first(level, met * n + rows[cls], n + 1)  # of as frequent ones the larger of all
    by_size = _still_first(np.zeros(k, dtype=np.intp), rows, 1)[cls]
    return int(met[~np.where(nothing, by_size, by_level)].sum())


def _still_first(group: NDArray[np.intp], score: NDArray[np.intp], less: int) -> NDArray[np.bool_]:
    """Whether each has the greatest score of its group, and before the others that have it, though its own is less."""
    order = np.lexsort((-score, group))
    starts = np.flatnonzero(np.append(True, np.diff(group[order]) != 0))
    top, rival = order[starts], np.append(order, order[-1])[starts + 1]
    own, its = score[top] - less, score[rival]
    first = np.zeros(len(group), dtype=bool)
    first[top] = (group[rival] != group[top]) | (rival == top) | (own > its) | ((own == its) & (top < rival))
    return first


def levels_of_numbers(x: Array) -> NDArray[np.intp]:
    """(n,) numbers as groups of neighbours: equal ones together, a number that stands once with the nearest other.

    >>> levels_of_numbers(np.array([1.0, 1.1, 5.0, 5.0, 4.9])).tolist()
    [0, 0, 1, 1, 1]
    """
    known = ~np.isnan(x)
    values, value_index, counts = np.unique(x[known], return_inverse=True, return_counts=True)
    codes = np.full(len(x), -1, dtype=np.intp)
    if not len(values):
        return codes
    gap = np.diff(values)
    nearer_below = np.r_[np.inf, gap] <= np.r_[gap, np.inf]
    joined = np.zeros(len(values), dtype=bool)  # whether a value is joined to the one below
    alone = counts == 1
    joined[alone & nearer_below] = True
    up = np.flatnonzero(alone & ~nearer_below)
    joined[up[up + 1 < len(values)] + 1] = True
    joined[0] = False
    codes[known] = (np.cumsum(~joined) - 1)[value_index]
    return codes


class ClassIntervals(NamedTuple):
    """Numbers on which every class has an interval of its own: (n,) its place as `codes`, and the rows that are decided
    `wrong` where each is left out and goes with the nearer of its neighbours."""

    codes: NDArray[np.intp]
    wrong: int


def class_intervals(x: Array, y: NDArray[np.intp]) -> ClassIntervals | None:
    """The intervals of the classes on known numbers; None where two classes overlap."""
    order = np.argsort(x, kind="stable")
    values, classes = x[order], y[order]
    last = np.flatnonzero(np.diff(classes))
    if len(last) + 1 != len(np.unique(y)) or (values[last] == values[last + 1]).any():
        return None
    codes = np.empty(len(x), dtype=np.intp)
    codes[order] = np.r_[0, np.cumsum(np.diff(classes) != 0)] if len(x) else 0
    wrong = set()
    for position, own, other in (
        (i, step, i + beyond) for i in last for i, step, beyond in ((i, -1, 1), (i + 1, 1, -1))
    ):
        kin = position + own
        alike = 0 <= kin < len(x) and classes[kin] == classes[position]
        if not alike or abs(values[position] - values[other]) < abs(values[position] - values[kin]):
            wrong.add(position)  # once, though it has neighbours of two classes
    return ClassIntervals(codes, len(wrong))


def leaks(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns that decide the class alone: in practice they hold what is only known afterwards, or the class itself."""
    if examined.target is None or (np.bincount(examined.y, minlength=examined.k) > 0).sum() < 2:
        return
    for name in steps((*examined.codes, *examined.numbers)):
        codes = examined.codes[name] if name in examined.codes else levels_of_numbers(examined.numbers[name])
        known = codes >= 0
        own, y = codes[known], examined.y[known]
        rows = np.bincount(y, minlength=examined.k)
        n, there = len(y), int((rows > 0).sum())
        if there < 2:
            known, own, y, n = np.ones(examined.n, dtype=bool), codes, examined.y, examined.n
            rows = np.bincount(y, minlength=examined.k)
        wrong, base = errors_alone(own, y, examined.k), n - int(rows.max())
        intervals = (
            class_intervals(examined.numbers[name][known], y) if name in examined.numbers and there > 1 else None
        )
        if intervals is not None:  # a threshold: its neighbours are few among the rows, but close
            own, wrong = intervals.codes, min(wrong, intervals.wrong)
        share = rows[rows > 0] / n
        entropy = -float(share @ log(share))
        cells = examined.codes[name][known] if name in examined.codes else examined.numbers[name][known]
        copied = wrong == 0 and len(np.unique(cells)) == there == int((examined.class_rows > 0).sum())
        chance = BY_CHANCE + float(log(float(max(len(examined.features), 1))))
        by_chance = entropy * n < chance
        given = wrong <= GIVEN_AWAY * base
        if intervals is not None:  # of all orders of the rows, how few keep the classes together
            orders = float(gammaln(n + 1) - gammaln(there + 1) - gammaln(rows + 1).sum())
            given |= 2 * wrong <= base and orders >= chance
        if not ((base >= ERRORS and given) or (copied and base and not by_chance)):
            continue
        evidence = (
            (Message("rows it decides wrongly alone, each left out"), wrong),
            (Message("rows that always the largest class decides wrongly"), base),
            (Message("I(column; class)"), Nats(_information(own, y, examined.k))),
            (Message("H(class)"), Nats(entropy)),
        )
        facts = {
            "column": name,
            "other": examined.target.name,
            "right": 1.0 - wrong / n,
            "base": 1.0 - base / n,
            "n": n,
        }
        message = _given_away(facts, copied=copied, everywhere=n == examined.n)
        code: Code = "copy-of-target" if copied else "leak"
        yield Finding(code, "serious", (name,), message, evidence, (SetRole(name, "ignore"),))


def _given_away(facts: Mapping[str, object], *, copied: bool, everywhere: bool) -> Message:
    """The sentence of a leak: a copy of the target or not, in every row or where the column is known."""
    if copied and everywhere:
        return Message("'{column}' is the target '{other}' under another name: each of its values goes with one class, "
                       "and each class with one value.", facts)  # fmt: skip
    if copied:
        return Message("'{column}' is the target '{other}' under another name in all {n:,} rows where it is known: "
                       "each of its values goes with one class, and each class with one value.", facts)  # fmt: skip
    if everywhere:
        return Message("'{column}' alone predicts the class: leaving out one row at a time, it is right on "
                       "{right:.2%} of the rows (always deciding for the largest class: {base:.1%}). Is it known "
                       "before the class is?",
                       facts)  # fmt: skip
    return Message("'{column}' alone predicts the class: leaving out one row at a time, it is right on {right:.2%} of "
                   "the {n:,} rows where it is known (always deciding for the largest class: {base:.1%}). Is it known "
                   "before the class is?", facts)  # fmt: skip


def _information(codes: NDArray[np.intp], y: NDArray[np.intp], k: int) -> float:
    """I(column; class) of the known cells, from those (level, class) pairs that occur."""
    known = codes >= 0
    n = int(known.sum())
    pairs, counts = np.unique(codes[known] * k + y[known], return_counts=True)
    level, cls = np.bincount(codes[known]), np.bincount(y[known], minlength=k)
    ratio = counts * n / (level[pairs // k] * cls[pairs % k])
    return float(counts @ log(ratio)) / max(n, 1)


# tables and Gaussians -------------------------------------------------------------------------------------------------


def zero_cells(examined: ExaminedTable) -> Iterator[Finding]:
    """Values that never occur with a class: without smoothing each is a veto."""
    if examined.target is None or examined.k < 2:
        return
    empty: dict[str, int] = {}
    some: list[tuple[str, int, int]] = []  # of millions, a few are kept
    pairs, alone = 0, np.zeros(examined.n, dtype=bool)
    there = np.bincount(examined.y, minlength=examined.k) > 0
    for name, codes in steps(examined.codes.items()):
        table = examined.table(name)
        met = table.sum(axis=1) > 0
        zero = (table == 0) & met[:, None] & there[None, :]
        if zero.any():
            empty[name] = int(zero.sum())
            some += [(name, *divmod(int(cell), examined.k)) for cell in np.flatnonzero(zero)[: 6 - len(some)]]
        pairs += int(met.sum() * there.sum())
        alone |= (codes >= 0) & (table[codes, examined.y] == 1)
    if not empty:
        return
    (name, s, c), levels, n = some[0], examined.target.levels, sum(empty.values())
    size = int(examined.table(name)[s].sum())
    yield Finding(
        "zero-cells", "warning", tuple(empty),
        Message("{n} of {all} pairs of a value and a class never occur together, such as {column} = '{level}' "
                "({size} row(s)) and '{label}': without smoothing such a value rules the class out, whatever else is "
                "known.",
                {"n": n, "all": pairs, "column": name, "level": str(examined.schema[name].levels[s]), "size": size,
                 "label": str(levels[c])}),
        ((Message("pairs that never occur"), n),
         (Message("rows that would rule out their own class if left out"), int(alone.sum())),
         *((Message("{column} = '{level}' with '{label}'",
                    {"column": name, "level": str(examined.schema[name].levels[s]), "label": str(levels[c])}), 0)
           for name, s, c in some)),
        (SetParameter("smoothing", "all"), SetParameter("smoothing", "zero-only")), examined.shown(alone),
    )  # fmt: skip


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
