"""The tables of a compiled naive Bayes: what one column adds to log P(c, x), by look-up or from a few coefficients; and
the Python file that they are written to.

Names and labels are anybody's, so they stand in the file as literals only, as `repr` writes them: keys and values of
dictionaries, never code, never a comment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Schema, Variable


def times(weight: float, terms: Array) -> Array:
    """w t with 0·(−inf) = 0."""
    return weight * terms if weight else np.zeros_like(terms)


@dataclass(frozen=True)
class LevelTable:
    """log P(x_j|c) of a discrete column: `table` (C, 2 + S), of a missing cell, of the levels, of any other value; with
    a weight, w times that."""

    variable: Variable
    table: Array

    def terms(self, X: Table) -> Array:
        """(C, n) by look-up."""
        return np.asarray(self.table[:, np.minimum(X[self.variable.name], self.table.shape[1] - 1)])


@dataclass(frozen=True)
class NormalTable:
    """−½ w (((z − centre_c)/sd_c)² + spread_c) with z = x − pivot: w log N(x; μ_c, σ_c²), arrays (C,), spread log 2πσ²,
    w = 1 unless the column has a weight. The square is completed, for in η₁z + η₂z² + b the digits cancel where a class
    is narrow and far from the pivot."""

    variable: Variable
    pivot: float
    centre: Array
    sd: Array
    spread: Array
    weight: float = 1.0

    def terms(self, X: Table) -> Array:
        """(C, n); a missing cell says nothing."""
        x = X[self.variable.name]
        with np.errstate(over="ignore"):
            z = (x - self.pivot - self.centre[:, None]) / self.sd[:, None]
            terms = -0.5 * (z * z + self.spread[:, None])
        return np.where(np.isnan(x), 0.0, times(self.weight, terms))

    @property
    def natural(self) -> Array:
        """(3, C) b, η₁ = wμ/σ² and η₂ = −w/(2σ²), of w log N = b + η₁ z + η₂ z²."""
        variance = self.sd**2
        return self.weight * np.stack(
            [-0.5 * (self.spread + self.centre**2 / variance), self.centre / variance, -0.5 / variance]
        )


@dataclass(frozen=True)
class RateTable:
    """w (x log λ_c − λ_c − log x!): w log P(x|c) of a count, arrays (C,)."""

    variable: Variable
    rate: Array
    log_rate: Array
    weight: float = 1.0

    def terms(self, X: Table) -> Array:
        """(C, n); a missing cell says nothing, and an infinite one is nowhere."""
        x = X[self.variable.name]
        with np.errstate(invalid="ignore", over="ignore"):
            some = np.where(x == 0, 0.0, x * self.log_rate[:, None])
            terms = some - self.rate[:, None] - gammaln(x + 1.0)
        terms = np.where(np.isnan(terms), -np.inf, terms)
        return np.where(np.isnan(x), 0.0, times(self.weight, terms))

    @property
    def natural(self) -> Array:
        """(3, C) b = −wλ, η₁ = w log λ and η₂ = 0, of w log P = b + η₁ x − w log x!."""
        return np.stack([-self.weight * self.rate, times(self.weight, self.log_rate), np.zeros_like(self.rate)])


AnyTable = LevelTable | NormalTable | RateTable


class ReferenceCase(NamedTuple):
    """A test vector: cells by column, None where missing; the model's posterior (C,), None where it has none."""

    cells: dict[str, Any]
    posterior: tuple[float, ...] | None


HEAD = '''"""Naive Bayes as a look-up table, written by bayes_engine. It needs nothing but Python.

posterior(row) gives {class: P(class|row)}, predict(row) the most probable class. A row is a dictionary {column: value};
a column that is not in it, None and NaN are missing cells. ValueError where there is no posterior.

log P(class|row) = log P(class) + the sum over columns of log P(value|class) + constant. Logarithms are natural; a tuple
has one number for each class, in the order of CLASSES. Run this file to check it against the model it was written from.
"""

import math

NEVER = -math.inf
'''

BODY = '''

def posterior(row):
    """{class: P(class|row)}."""
    joint = list(LOG_PRIOR)
    for name, column in COLUMNS.items():
        for c, term in enumerate(log_terms(name, column, row.get(name))):
            joint[c] += term
    largest = max(joint)
    if largest == NEVER:
        raise ValueError("no posterior: the row is impossible, or far out, in every class")
    shares = [math.exp(term - largest) for term in joint]
    total = sum(shares)
    return {label: share / total for label, share in zip(CLASSES, shares)}


def predict(row):
    """The most probable class; of equals the first."""
    probabilities = posterior(row)
    largest = max(probabilities.values())
    return next(label for label, p in probabilities.items() if p >= largest - 1e-12)


def log_terms(name, column, value):
    """log P(value|class) for each class."""
    if value is None or value != value:
        if column["missing"] is None:
            raise ValueError(f"column {name!r}: the cell is missing")
        return column["missing"]
    if column["kind"] == "levels":
        if column["numbers"] and isinstance(value, float) and math.isinf(value):
            raise ValueError(f"column {name!r}: the cell is infinite")
        terms = column["levels"].get(value, column["unseen"])
        if terms is None:
            raise ValueError(f"column {name!r}: {value!r} was not seen in training")
        return terms
    x = float(value)
    if math.isinf(x):
        raise ValueError(f"column {name!r}: the cell is infinite")
    if column["kind"] == "intervals":
        return column["intervals"][sum(cut < x for cut in column["cuts"])]
    if column["kind"] == "gaussian":
        return [column["weight"] * log_normal(x - column["pivot"], *moments) for moments in column["classes"]]
    if column["kind"] == "poisson":
        if x < 0 or x != math.floor(x):
            raise ValueError(f"column {name!r}: {value!r} is no count")
        return [column["weight"] * ((x * log_rate if x else 0.0) - rate) if column["weight"] else 0.0
                for rate, log_rate in column["classes"]]
    return column["missing"] or (0.0,) * len(CLASSES)  # every row of the training table had the same number here


def log_normal(z, centre, sd, spread):
    """The log density of a normal distribution at z, spread being log(2 pi sd**2)."""
    away = (z - centre) / sd
    return -0.5 * (away * away + spread)


def check():
    """The largest difference between this file's posteriors and the model's, over CASES."""
    worst = 0.0
    for row, expected in CASES:
        try:
            own = tuple(posterior(row).values())
        except ValueError:
            own = None
        if own is None or expected is None:
            worst = max(worst, 0.0 if own is expected else math.inf)
        else:
            worst = max(worst, *(abs(a - b) for a, b in zip(own, expected)))
    return worst


if __name__ == "__main__":
    difference = check()
    print(f"{len(CASES)} cases, largest difference {difference:.1e}")
    raise SystemExit(0 if difference <= 1e-12 else 1)
'''


def written(
    classes: Sequence[Any],
    log_prior: Array,
    schema: Schema,
    columns: Sequence[AnyTable],
    cases: Iterable[ReferenceCase],
    *,
    missing: str,
    unseen: str,
) -> str:
    """The file, of the fields of a `LookUp`. Raises ParameterError where a label is no string, number or truth value.

    >>> literal("'; import os  # \\n"), literal(float("inf")), literal(True)
    ('"\\'; import os  # \\\\n"', 'math.inf', 'True')
    """
    tables = {column.variable.name: column for column in columns}
    nothing = None if missing == "error" else (0.0,) * len(classes)
    lines = [
        HEAD,
        f"CLASSES = {_tuple(classes)}",
        f"LOG_PRIOR = {_numbers(log_prior)}",
        "COLUMNS = {",
        *(line for v in schema for line in _column(v, tables.get(v.name), nothing, unseen)),
        "}",
        "CASES = [  # made of levels and means, with the model's own posteriors; None where it has none",
        *(f"    ({_dict(case.cells)}, {_expected(case.posterior)})," for case in cases),
        "]",
    ]
    return "\n".join(lines) + "\n" + BODY


def literal(value: Any) -> str:
    """A label as Python writes it, whatever class of string or number it is of."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return repr(str.__str__(value))
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _number(value)
    raise ParameterError(
        "'{label}' is a {kind}, which a file of plain Python cannot hold; make the labels strings or numbers",
        label=str(value),
        kind=type(value).__name__,
    )


def _number(x: float) -> str:
    x = float(x)
    if math.isnan(x):
        return "math.nan"
    return float.__repr__(x) if math.isfinite(x) else ("math.inf" if x > 0 else "NEVER")


def _tuple(values: Iterable[Any]) -> str:
    return _written_tuple([literal(v) for v in values])


def _numbers(values: Iterable[float]) -> str:
    return _written_tuple([_number(v) for v in values])


def _written_tuple(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _dict(cells: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{literal(name)}: {literal(value)}" for name, value in cells.items()) + "}"


def _expected(posterior: tuple[float, ...] | None) -> str:
    return "None" if posterior is None else _numbers(posterior)


def _column(
    variable: Variable, column: AnyTable | None, nothing: tuple[float, ...] | None, unseen: str
) -> Iterator[str]:
    """A column's entry; `nothing` is what a missing cell adds, None where it is an error."""
    missing = "None" if nothing is None else _numbers(nothing)
    yield f"    {literal(variable.name)}: {{"
    match column:
        case None:
            yield '        "kind": "constant",'
        case LevelTable():
            yield from _levels(column, unseen)
            missing = "None" if nothing is None else _numbers(column.table[:, 0])
        case NormalTable():
            about = {"kind": '"gaussian"', "weight": _number(column.weight), "pivot": _number(column.pivot)}
            rows = zip(column.centre, column.sd, column.spread, strict=True)
            yield from _coefficients(about, "centre, sd, log(2 pi sd**2)", rows)
        case RateTable():
            about = {"kind": '"poisson"', "weight": _number(column.weight)}
            rates = zip(column.rate, column.log_rate, strict=True)
            yield from _coefficients(about, "rate, log(rate); log x! is the same in every class", rates)
    yield f'        "missing": {missing},'
    yield "    },"


def _levels(column: LevelTable, unseen: str) -> Iterator[str]:
    variable, terms = column.variable, [_numbers(of_class) for of_class in column.table.T]
    if variable.cuts is not None:
        yield '        "kind": "intervals",  # of the i-th a number is that has i cuts below it'
        yield f'        "cuts": {_tuple(variable.cuts)},'
        yield '        "intervals": ['
        yield from (f"            {term}," for term in terms[1:-1])
        yield "        ],"
        return
    yield '        "kind": "levels",'
    yield f'        "numbers": {variable.likelihood is not None},'
    yield '        "levels": {'
    yield from (f"            {literal(v)}: {t}," for v, t in zip(variable.levels, terms[1:-1], strict=True))
    yield "        },"
    yield f'        "unseen": {"None" if unseen == "error" else terms[-1]},'


def _coefficients(about: dict[str, str], head: str, rows: Iterable[Iterable[float]]) -> Iterator[str]:
    yield from (f'        "{key}": {value},' for key, value in about.items())
    yield f'        "classes": [  # {head}'
    yield from (f"            {_numbers(row)}," for row in rows)
    yield "        ],"
