"""A table's columns as data: what each holds (kind, levels) and what it is for (role).

Estimators take kinds from the dtype (`Schema.from_dtypes`) or from an explicit schema, never from the values, so that
two folds of one table cannot disagree. Guessing from values is `Schema.infer`, for the app.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import SchemaMismatch, TableError
from bayes_engine.language import Word
from bayes_engine.table.dataframes import as_frame, to_pandas
from bayes_engine.table.kinds import Kind as Kind  # noqa: PLC0414
from bayes_engine.table.kinds import Level as Level  # noqa: PLC0414
from bayes_engine.table.kinds import Role as Role  # noqa: PLC0414
from bayes_engine.table.levels import (
    SORTS,
    Sort,
    distinct_as_written,
    has_missing,
    observed,
    sort_levels,
    sort_of_objects,
    written,
)
from bayes_engine.table.target_names import target_strength
from bayes_engine.table.text import HAN, TextRule

DISCRETE: tuple[Kind, ...] = ("categorical", "binary")
NUMERIC: tuple[Kind, ...] = ("continuous", "count")


@dataclass(frozen=True)
class Variable:
    """One column. Its `kind` is "categorical" or "binary" (levels), "continuous" or "count" (numbers), "text", or one
    that is no feature: "date", "identifier", "constant", "empty".

    `levels` is the domain of a discrete column in its order; `declared` says that it is closed (a declared level may
    have no row; a value outside it is an error in training), otherwise it was observed and may grow at its end. `pivot`
    is the number near which a numeric column's values lie (moments are kept as offsets). `cuts` makes a column of
    numbers discrete: its levels name the intervals (−∞, c₁], (c₁, c₂], … (c_k, ∞). `likelihood` is the one chosen for
    the column, None its kind's own; `text` says how a text column is read, whose `levels` are the terms of its
    vocabulary."""

    name: str
    kind: Kind
    levels: tuple[Level, ...] = ()
    declared: bool = False
    role: Role = "feature"
    pivot: float = 0.0
    cuts: tuple[float, ...] | None = None
    likelihood: str | None = None
    text: TextRule | None = None

    @property
    def discrete(self) -> bool:
        return self.kind in DISCRETE or self.cuts is not None

    @property
    def numeric(self) -> bool:
        return self.kind in NUMERIC and self.cuts is None

    @property
    def textual(self) -> bool:
        """Whether it is a text of which is said how it is read."""
        return self.kind == "text" and self.text is not None

    def observing(self, values: Iterable[Any]) -> Variable:
        """This variable with the unknown ones of `values` appended to an open domain, in sorted order.

        Raises SchemaMismatch where the domain is declared and a value lies outside it.
        """
        known = set(self.levels)
        new = sort_levels((v for v in values if v not in known), self.name)
        if new and self.declared:
            raise SchemaMismatch(
                "column '{column}' holds '{value}', which is not among its declared levels; add the level or mend "
                "the cell",
                column=self.name,
                value=str(new[0]),
            )
        return replace(self, levels=self.levels + new) if new else self


@dataclass(frozen=True)
class Schema:
    """The variables of a table, in column order.

    >>> schema = Schema.from_dtypes(pd.DataFrame({"colour": ["green", "dark"], "sugar": [0.46, 0.37]}))
    >>> [(v.name, v.kind, v.levels) for v in schema]
    [('colour', 'categorical', ('dark', 'green')), ('sugar', 'continuous', ())]
    """

    variables: tuple[Variable, ...]

    def __post_init__(self) -> None:
        if len(self.position) < len(self):
            double = next(name for j, name in enumerate(self.names) if self.position[name] != j)
            raise TableError("the column name '{column}' stands twice; rename one of the columns", column=double)

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each column stands."""
        return {name: j for j, name in enumerate(self.names)}

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def __getitem__(self, name: str) -> Variable:
        if name in self.position:
            return self.variables[self.position[name]]
        raise SchemaMismatch("there is no column '{column}'; the columns are {known}", column=name, known=self._known)

    def __contains__(self, name: object) -> bool:
        return name in self.position

    @property
    def _known(self) -> str:
        return ", ".join(f"'{v.name}'" for v in self.variables)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(v.name for v in self.variables)

    @cached_property
    def features(self) -> Schema:
        """Only the variables a model reads: role feature, and a kind that holds information."""
        return Schema(tuple(v for v in self if v.role == "feature" and (v.discrete or v.numeric or v.textual)))

    @property
    def target(self) -> Variable | None:
        return next((v for v in self if v.role == "target"), None)

    def with_variable(self, variable: Variable) -> Schema:
        """This schema with the variable of that name replaced."""
        return Schema(tuple(variable if v.name == variable.name else v for v in self))

    def with_role(self, name: str, role: Role) -> Schema:
        """This schema with one column's role changed; a former target becomes a feature."""
        moved = (
            self
            if role != "target"
            else Schema(tuple(replace(v, role="feature") if v.role == "target" else v for v in self))
        )
        return moved.with_variable(replace(moved[name], role=role))

    @classmethod
    def from_dtypes(cls, frame: pd.DataFrame) -> Schema:
        """The schema a fit uses when none is given: numbers are continuous; strings, categoricals and booleans are
        categorical, with a pandas Categorical's levels as their declared domain.

        Raises TableError on a dtype that has no likelihood here (dates, intervals).
        """
        if len(frame) >= 2 * PIVOT_ROWS and all(kind == np.float64 for kind in frame.dtypes):
            names = map(str, frame.columns)
            return cls(tuple(Variable(n, "continuous", pivot=p) for n, p in zip(names, _middles(frame), strict=True)))
        return cls(tuple(_from_dtype(str(name), column) for name, column in frame.items()))

    @classmethod
    def infer(cls, X: Any, *, target: bool = True, numerals: bool = True) -> Schema:
        """A guess from the values of a frame of any library, for a person to correct: kinds, levels, roles, and, unless
        `target` is False (X has the features alone), as the target a column that is called the class, or what is
        usually foretold (churn, Diagnose, 是否违约), even where it is constant or empty; else the last of words; else
        the last column where it holds few whole numbers. Strings that are all numbers are read as such, unless
        `numerals` is False: their reader has already turned into numbers what is one.

        >>> table = pd.DataFrame({"Tid": range(1, 41), "sex": ["F", "M"] * 20, "age": [20.5, 31.0, 44.0, 52.5] * 10})
        >>> [(v.name, v.kind, v.role) for v in Schema.infer(table)]
        [('Tid', 'identifier', 'id'), ('sex', 'binary', 'target'), ('age', 'continuous', 'feature')]
        """
        frame = to_pandas(X)
        frame = frame if isinstance(frame, pd.DataFrame) else as_frame(frame)
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        schema = cls(tuple(_infer(str(name), column, numerals) for name, column in frame.items()))
        return _with_likely_target(schema, frame) if target else schema

    def otherwise(self, frame: pd.DataFrame) -> tuple[Variable, ...]:
        """What `infer` takes columns of strings for that dtypes made levels: numbers; identifiers and texts where the
        levels are hundreds."""
        guesses = (
            _guess(v, frame.iloc[:, j])
            for j, v in enumerate(self)
            if v.kind == "categorical" and not v.declared and (len(v.levels) > MANY_LEVELS or _numerals(v.levels))
        )
        return tuple(v for v in guesses if v.numeric or (not v.discrete and len(self[v.name].levels) > MANY_LEVELS))


def _guess(levels_of: Variable, column: pd.Series) -> Variable:
    """What `infer` takes a column of strings for, by its levels alone where they say it: each of them twice will do, if
    one stands twice, since only an identifier has none that does."""
    levels = list(levels_of.levels)
    if _numerals(levels) and column.count() > len(levels):
        column = pd.Series(levels * 2)
    return _infer(levels_of.name, column, numerals=True, known=levels)


MAX_CLASSES = 50
MANY_LEVELS = 100
"""A discrete column with more levels than this is never guessed to be the target."""

_HAN = re.compile(f"[{HAN}]")
_IDENTIFIER_WORDS = frozenset({"id", "tid", "uid", "key", "index", "no", "nr", "row", "编号", "序号", "学号"})


def infer_schema(frame: pd.DataFrame | Mapping[str, pd.Series], distinct: Mapping[str, list[str]]) -> Schema:
    """`Schema.infer` of the columns that a reader made, which knows the `distinct` values of columns of text.

    >>> infer_schema(pd.DataFrame({"good": ["no", "yes", "no"]}), {"good": ["no", "yes"]})["good"].levels
    ('no', 'yes')
    """
    columns = {str(name): column for name, column in frame.items()}
    variables = [_infer(name, column, numerals=False, known=distinct.get(name)) for name, column in columns.items()]
    return _with_likely_target(Schema(tuple(variables)), columns)


def _with_likely_target(schema: Schema, frame: Mapping[str, pd.Series] | pd.DataFrame) -> Schema:
    """The schema with the column as its target that is called so, or holds classes (see `Schema.infer`)."""
    labels = [v for v in schema if v.discrete and 2 <= len(v.levels) <= MAX_CLASSES]
    called = [(v, target_strength(v.name)) for v in schema]
    named = [(v, how) for v, how in called if how and (v in labels or _coded(v, frame))]
    hollow = [(v, how) for v, how in called if how > 1 and v.kind in ("constant", "empty")]  # a fit refuses it
    for likely in (
        *([v for v, how in (*hollow, *named) if how == strength] for strength in (3, 2, 1)),
        [v for v in labels if isinstance(v.levels[-1], str)],
        [v for v in schema.variables[-1:] if _coded(v, frame)],
        labels,
    ):
        if likely:
            v = likely[-1]
            kind: Kind = "categorical" if v.numeric else v.kind
            return schema.with_variable(recast(v, frame[v.name], kind)).with_role(v.name, "target")
    return schema


def recast(variable: Variable, column: pd.Series, kind: Kind) -> Variable:
    """`variable` read as another kind, with the levels or the pivot that go with it.

    Raises TableError where a numeric kind is wanted and the column holds text.
    """
    if kind == variable.kind:
        return variable
    if variable.likelihood is not None or variable.text is not None:  # they went with the old kind
        levels = () if variable.textual else variable.levels
        variable = replace(variable, levels=levels, likelihood=None, text=None)
    if kind in NUMERIC:
        numbers = pd.to_numeric(column.astype(object), errors="coerce")
        bad = numbers.isna() & column.notna()
        if bad.any():
            raise TableError(
                "column '{column}' cannot be {kind}: row {row} holds '{value}', which is no number",
                column=variable.name,
                kind=Word(kind),
                row=int(bad.to_numpy().argmax()) + 1,
                value=str(column[bad].iloc[0]),
            )
        pivot = middle(numbers.to_numpy(dtype=float, na_value=np.nan))
        return replace(variable, kind=kind, levels=(), declared=False, pivot=pivot)
    levels = variable.levels or sort_levels(distinct_as_written(column), variable.name) if kind in DISCRETE else ()
    return replace(variable, kind=kind, levels=levels)


def _from_dtype(name: str, column: pd.Series) -> Variable:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = tuple(v.item() if isinstance(v, np.generic) else v for v in dtype.categories)
        return Variable(name, "categorical", levels, declared=True)
    if pd.api.types.is_bool_dtype(dtype):
        return Variable(name, "categorical", (False, True), declared=True)
    if pd.api.types.is_complex_dtype(dtype):
        raise TableError("Complex data not supported: column '{column}'", column=name)
    if pd.api.types.is_numeric_dtype(dtype):
        variable = Variable(name, "continuous")
        return replace(variable, pivot=middle(numbers(column, variable)))
    sort: Sort = "string"
    if pd.api.types.is_object_dtype(dtype):
        sort = sort_of_objects(column)
        if sort == "truth value":
            return Variable(name, "categorical", (False, True), declared=True)
        if sort == "number":
            variable = Variable(name, "continuous")
            return replace(variable, pivot=middle(numbers(column, variable)))
    elif not pd.api.types.is_string_dtype(dtype):
        raise TableError(
            "column '{column}' holds {dtype}, for which there is no likelihood; turn it into a number or a category",
            column=name,
            dtype=str(dtype),
        )
    return Variable(name, "categorical", sort_levels(observed(column), name))


def numbers(column: pd.Series, variable: Variable) -> NDArray[np.float64]:
    """(n,) one numeric column as floats, NaN for missing. Raises TableError, naming the row, on what is no number."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    try:
        if column.dtype == np.float64 and isinstance(column.dtype, np.dtype):
            return column.to_numpy()  # as they lie
        if column.dtype.kind in "mMc":
            raise TypeError
        return column.to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError, OverflowError):
        row = next((int(i) for i in np.flatnonzero(column.notna()) if not _is_number(column.iloc[i])), 0)
        raise TableError(
            "column '{column}' should hold numbers, but row {row} holds '{value}'",
            column=variable.name,
            row=row + 1,
            value=written(column.iloc[row]),
        ) from None


def _is_number(cell: Any) -> bool:
    try:
        float(cell if not isinstance(cell, np.complexfloating) else str(cell))
    except (TypeError, ValueError, OverflowError):
        return False
    return True


PIVOT_ROWS = 2**10
"""Of a column with twice as many rows or more so many are enough for a number near them all."""


def middle(values: NDArray[np.float64]) -> float:
    """A number near the finite ones of `values`, to keep offsets from: their mean where that is finite; of many, that
    of some."""
    some = values[:: max(1, len(values) // PIVOT_ROWS)]
    known = np.isfinite(some)
    finite = some if known.all() else some[known]
    if not finite.size:
        return middle(values[np.isfinite(values)]) if len(some) < len(values) else 0.0
    first = finite[finite.size // 2]  # near the data first, so that the mean itself loses no digits
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(first + (finite - first).mean())
    return mean if np.isfinite(mean) else float(first)


def _middles(frame: pd.DataFrame) -> list[float]:
    """`middle` of each of many columns of floats, of which the same rows are taken together."""
    some = np.ascontiguousarray(frame.iloc[:: len(frame) // PIVOT_ROWS].to_numpy().T)
    if not np.isfinite(some).all():
        return [middle(column.to_numpy()) for _name, column in frame.items()]
    first = some[:, some.shape[1] // 2]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = first + (some - first[:, None]).mean(axis=1)
    return [float(p) for p in np.where(np.isfinite(mean), mean, first)]


def _coded(variable: Variable, frame: Mapping[str, pd.Series] | pd.DataFrame) -> bool:
    """Whether a column of numbers may hold codes of classes: whole ones, few in many rows."""
    if variable.kind not in NUMERIC:
        return False
    codes = frame[variable.name].dropna()
    distinct = codes.unique().astype(float)
    return 2 <= len(distinct) <= min(MAX_CLASSES, len(codes) / 3) and bool((distinct == np.round(distinct)).all())


def _numerals(levels: Sequence[object]) -> bool:
    """Whether strings, more than two, are numbers as they are written: not 007, nor one with more digits than fit.

    >>> _numerals(["1", "2.5", "-3e4"]), _numerals(["1", "2", "03"]), _numerals(["0", "1"])
    (True, False, False)
    """
    return len(levels) > 2 and all(isinstance(v, str) and _NUMERAL.fullmatch(v) is not None for v in levels)


_NUMERAL = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,15})?(?:[eE][-+]?[0-9]{1,2})?")


_FIRST, _FEW = 32, 1000
"""Rows of a column of numbers in which it often, and mostly, shows that there are more than two."""


def _distinct(values: pd.Series) -> tuple[list[Any], bool]:
    """The distinct values of a column without missing cells, and whether that is all of them: of numbers three will do
    for most that is asked of them, and the first rows may have as many."""
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iuf":
        for rows in (_FIRST, _FEW):
            first = list(dict.fromkeys(values.to_numpy()[:rows].tolist()))
            if len(first) > 2:
                return first, False
    return observed(values), True


def _infer(name: str, column: pd.Series, numerals: bool, known: list[Any] | None = None) -> Variable:
    """Kind and role of one column, from its dtype and its values, of which the distinct ones may be known."""
    values = column.dropna() if has_missing(column) else column
    distinct, all_of_them = _distinct(values) if known is None else (known, True)
    of_objects = column.dtype.kind == "O" and pd.api.types.is_object_dtype(column.dtype)
    if (of_objects and SORTS.get(pd.api.types.infer_dtype(values)) == "number") or (numerals and _numerals(distinct)):
        column = pd.Series(numbers(column, Variable(name, "continuous")), column.index, name=column.name)
        values = column.dropna()
    n = len(values)
    if not distinct:
        return Variable(name, "empty", role="ignore")
    if len(distinct) == 1:
        return Variable(name, "constant", sort_levels(distinct_as_written(column), name), role="ignore")
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return Variable(name, "date", role="ignore")
    if isinstance(column.dtype, pd.CategoricalDtype):
        declared = _from_dtype(name, column)
        return replace(declared, kind="binary" if len(declared.levels) == 2 else "categorical")
    named_like_id = name.strip().lower().replace("_", " ").split(" ")[-1] in _IDENTIFIER_WORDS
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        x = values.to_numpy(dtype=float)
        if len(distinct) == 2:
            return Variable(name, "binary", sort_levels(distinct_as_written(column), name))
        whole = all(bool((part == np.round(part)).all()) for part in (x[:_FEW], x[_FEW:]))
        likely = whole and n >= 5 and (named_like_id or x.max() - x.min() == n - 1)
        if likely and n == len(distinct if all_of_them else observed(values)):
            return Variable(name, "identifier", role="id")
        kind: Kind = "count" if whole and x.min() >= 0 else "continuous"
        known_or_nan = x if values is column else column.to_numpy(dtype=float, na_value=np.nan)
        return Variable(name, kind, pivot=middle(known_or_nan))
    if len(distinct) == 2:
        return Variable(name, "binary", sort_levels(distinct, name))
    texts = [str(v) for v in distinct]
    if sum(map(len, texts)) >= 30 * len(texts) or sum(len(t.split()) for t in texts) >= 5 * len(texts):
        return Variable(name, "text", role="ignore")
    if n >= 10 and len(distinct) > n / 2 and sum(len(_HAN.findall(t)) for t in texts) >= 10 * len(texts):
        return Variable(name, "text", role="ignore")  # Chinese has no spaces: about two characters are a word
    if n >= 10 and (len(distinct) == n or (named_like_id and len(distinct) > n / 2)):
        return Variable(name, "identifier", role="id")
    return Variable(name, "categorical", sort_levels(distinct, name))
