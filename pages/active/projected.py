"""What the page Projection looks at: two columns and the line onto which they are projected; two known classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayes_engine.decision.two_gaussians import TwoGaussians, two_gaussians
from bayes_engine.errors import TableError
from bayes_engine.language import Message
from bayes_engine.models.projection import DirectionSeparation, NumericRows, Projection, numeric_rows, project
from bayes_engine.table.schema import Variable
from pages import active
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.state import current


@cached(max_entries=32)
def numeric_columns(table: active.FittableTable) -> list[Variable]:
    """The features that are numbers and not the same in every row."""
    return [v for v in table.features if v.numeric and table.parts.X[v.name].nunique() > 1]


def columns_in_use(columns: Sequence[Variable]) -> tuple[int, int]:
    """The positions of the two columns among the numeric ones, at first the first two. Raises TableError where there
    are fewer."""
    if len(columns) < 2:
        raise TableError("the table in use has no two columns of numbers and a class to be told by them")
    places = range(len(columns))
    x, y = current().seen(keys.LINE_X), current().seen(keys.LINE_Y)
    x = x if x in places else next(i for i in places if i != y)
    return x, y if y in places and y != x else next(i for i in places if i != x)


@cached(max_entries=32)
def rows_of(table: active.FittableTable, names: tuple[str, ...]) -> NumericRows:
    """The rows with all cells of these columns."""
    return numeric_rows(table.parts, names)


@cached(max_entries=32, activity=Message("looking for directions"))
def _project(table: active.FittableTable, names: tuple[str, ...], standardized: bool | None) -> Projection:
    return project(numeric_rows(table.parts, names), standardized=standardized)


@cached(max_entries=64)
def along(
    table: active.FittableTable,
    names: tuple[str, ...],
    standardized: bool | None,
    angle: float,
    _projection: Projection,
) -> DirectionSeparation:
    return _projection.along(angle)


@dataclass(frozen=True)
class Line:
    """The line in use: the columns' projection, its angle in degrees, and the direction it is ("" for any other)."""

    projection: Projection
    angle: float
    direction: str


def line_in_use(table: active.FittableTable, names: tuple[str, str]) -> Line:
    """The line the state names, at first Fisher's; a direction by its name holds for whatever columns are chosen."""
    projection = _project(table, names, current().seen(keys.LINE_UNITS))
    direction = current().seen(keys.LINE)
    angles = {"fisher": projection.fisher, "pca": projection.pca, "lda": projection.lda}
    if direction in angles:
        return Line(projection, angles[direction], direction)
    return Line(projection, current().seen(keys.ANGLE) % 180.0, "")


def unequal() -> bool:
    """Whether the second class has a covariance of its own."""
    return current().seen(keys.DEMO_UNEQUAL)


def classes_in_use() -> TwoGaussians:
    """The two classes that the sliders describe."""
    k = {name: current().seen(key) for name, key in keys.DEMO.items()}
    second = ("stretch_2", "lean_2") if unequal() else ("stretch", "lean")
    return two_gaussians(k["distance"], (k["stretch"], k["lean"]), (k[second[0]], k[second[1]]), k["prior"])
