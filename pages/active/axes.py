"""The two columns that a plane opens on."""

from __future__ import annotations

from typing import Any

from bayes_engine.models.em_runs import most_discriminating_columns
from pages import active
from pages.runtime.cache import cached

ENOUGH = 20_000
"""Of more rows every second, third, … is looked at."""


@cached(max_entries=64)
def discriminating(table: active.FittableTable) -> tuple[int, int]:
    """The two numeric features of which the classes explain most, by position among the numeric ones; the first two
    where there are no more."""
    names = [v.name for v in table.features if v.numeric]
    if len(names) <= 2:
        return 0, 1
    some = slice(None, None, max(1, len(table.parts.y) // ENOUGH))
    numbers: Any = table.parts.X[names].iloc[some].to_numpy(dtype="float64", na_value=float("nan"))
    codes: Any = table.parts.y.iloc[some].cat.codes.to_numpy()
    return most_discriminating_columns(numbers, codes)
