"""A compiled naive Bayes as a Python file.

Names and labels are anybody's, so they stand in it as literals only, as `repr` writes them: keys and values of
dictionaries, never code, never a comment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array
from bayes_engine.models.look_up_tables import AnyTable, LevelTable, NormalTable, RateTable, ReferenceCase
from bayes_engine.table.schema import Schema, Variable

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
        found = column["levels"].get(value, column["unseen"])
        if found is None:
            raise ValueError(f"column {name!r}: {value!r} was not seen in training")
        return found
    x = float(value)
    if math.isinf(x):
        raise ValueError(f"column {name!r}: the cell is infinite")
    if column["kind"] == "intervals":
        return column["intervals"][sum(cut < x for cut in column["cuts"])]
    if column["kind"] == "gaussian":
        return [column["weight"] * log_normal(x - column["pivot"], *told) for told in column["classes"]]
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
            found = tuple(posterior(row).values())
        except ValueError:
            found = None
        if found is None or expected is None:
            worst = max(worst, 0.0 if found is expected else math.inf)
        else:
            worst = max(worst, *(abs(a - b) for a, b in zip(found, expected)))
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
            yield from _gaussian(column)
        case RateTable():
            yield from _poisson(column)
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


def _gaussian(column: NormalTable) -> Iterator[str]:
    yield '        "kind": "gaussian",'
    yield f'        "weight": {_number(column.weight)},'
    yield f'        "pivot": {_number(column.pivot)},'
    yield '        "classes": [  # centre, sd, log(2 pi sd**2)'
    rows = zip(column.centre, column.sd, column.spread, strict=True)
    yield from (f"            {_numbers(row)}," for row in rows)
    yield "        ],"


def _poisson(column: RateTable) -> Iterator[str]:
    yield '        "kind": "poisson",'
    yield f'        "weight": {_number(column.weight)},'
    yield '        "classes": [  # rate, log(rate); log x! is the same in every class'
    yield from (f"            {_numbers(rates)}," for rates in zip(column.rate, column.log_rate, strict=True))
    yield "        ],"
