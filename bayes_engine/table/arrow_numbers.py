"""A long column of nothing but numbers as a program writes them and empty cells, read by Arrow as a whole: as the rules
of `convert` would have it (tested equal), without a look at every spelling."""

from __future__ import annotations

import importlib
import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.table.numbers import FEW_VERSIONS, LONGEST, MONTH_NUMBER, Mark

_SHAPE = re.compile(r"(?:[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)?")
_SEEN = 100
"""A number as a program writes it, or nothing; and how many cells are looked at before all are."""


class ArrowNumbers(NamedTuple):
    """(n,) the numbers, NaN of an empty cell, int64 where all are whole; how many cells are empty, as `absent` of a
    `ConvertedColumn`; and the decimal mark that they show."""

    values: NDArray[Any]
    absent: dict[str, int]
    mark: Mark | None


def numbers_by_arrow(column: pd.Series) -> ArrowNumbers | None:
    """The numbers of a column of text; None where the rules of `convert` must decide.

    >>> read = numbers_by_arrow(pd.Series(["1.5", "", "-2e3"], dtype="str"))
    >>> read.values.tolist(), read.absent, read.mark, numbers_by_arrow(pd.Series(["007"], dtype="str"))
    ([1.5, nan, -2000.0], {'': 1}, '.', None)
    """
    if isinstance(column.dtype, pd.CategoricalDtype) or not all(map(_SHAPE.fullmatch, column.iloc[:_SEEN])):
        return None
    try:
        arrow, compute = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.compute")
        text = arrow.array(column.array)
    except (ImportError, TypeError):
        return None

    def any_of(pattern: str) -> bool:
        return bool(compute.any(compute.match_substring_regex(text, pattern)).as_py())

    empty = compute.equal(text, "")
    plain = compute.match_substring_regex(text, f"^{_SHAPE.pattern}$")
    longest = compute.max(compute.binary_length(text)).as_py()
    if (
        longest > LONGEST
        or not compute.all(compute.or_(empty, plain)).as_py()
        or any_of(r"^[+-]?(0\d+$|\d{16})|^\+\d{8}|^\d+[eE]\d")
    ):
        return None
    dotted = any_of(r"\.")
    if dotted and not any_of(r"\.(\d{0,2}|\d{4,})$|^[+-]?(0|\d{4,})\.|[eE]"):
        return None  # 1.234 may be a thousand
    if dotted and any_of(r"\.\d{1,2}0$") and compute.count_distinct(text).as_py() <= FEW_VERSIONS:
        return None  # 1.10 may be a version
    if (
        dotted
        and compute.all(compute.or_(empty, compute.match_substring_regex(text, f"^{MONTH_NUMBER.pattern}$"))).as_py()
    ):
        return None  # 3.2024 may be a month
    values = compute.cast(compute.if_else(empty, None, text), arrow.float64()).to_numpy(zero_copy_only=False) + 0.0
    missing = np.isnan(values)
    if (
        missing.all()
        or not np.isfinite(values[~missing]).all()
        or ((values == 0).any() and any_of(r"[eE]-\d{3}|0{300}"))
    ):
        return None
    whole = not dotted and not missing.any() and not any_of("[eE]") and bool((np.abs(values) < 2.0**53).all())
    absent = {"": int(missing.sum())} if missing.any() else {}
    return ArrowNumbers(values.astype(np.int64) if whole else values, absent, "." if dotted else None)
