"""Arrow's columns as codes and numbers: what `bayes_engine.table.encode` is to a frame, without objects between.

A batch becomes an encoded table with domains of its own, which merge later. Strings come as Arrow's dictionaries, so
only distinct ones are ever made; a level is one where a row holds it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import import_module
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ReadError, TableError
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.stats.labels import MAX_WEIGHT, Labels
from bayes_engine.stats.moments import LARGEST
from bayes_engine.table.encode import MISSING, Table, code_dtype, encode_texts, positions
from bayes_engine.table.levels import sort_levels, written
from bayes_engine.table.likelihood_traits import traits
from bayes_engine.table.schema import Schema, Variable, middle, numbers

NOTHING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""What stands for a missing cell in CSV: pandas' list."""

NO_TARGET = Variable("", "categorical", ("",))
"""The target of rows without one."""

Sort = Literal["numbers", "strings", "truth values", "levels that are numbers", "nothing"]
SORTS: Mapping[Sort, Message] = {
    "numbers": Message("numbers"),
    "strings": Message("strings"),
    "truth values": Message("truth values"),
    "levels that are numbers": Message("levels that are numbers"),
    "nothing": Message("nothing"),
}
"""What a column holds, as an error says it."""


def arrow(part: str = "pyarrow") -> Any:
    """A module of pyarrow. Raises ReadError, which says what to install, where there is none.

    >>> arrow("pyarrow.parquet").__name__
    'pyarrow.parquet'
    """
    try:
        return import_module(part)
    except ImportError:
        raise ReadError("reading rows in blocks needs pyarrow: pip install 'bayes-engine[scale]'") from None


def sort_of_type(kind: Any) -> Sort | None:
    """What a column of this Arrow type holds; None where a model has no likelihood for it (dates, lists, bytes).

    >>> pa = arrow()
    >>> [sort_of_type(t) for t in (pa.int8(), pa.large_string(), pa.dictionary(pa.int8(), pa.int64()), pa.date32())]
    ['numbers', 'strings', 'levels that are numbers', None]
    """
    types = arrow("pyarrow").types
    if types.is_dictionary(kind):
        held = sort_of_type(kind.value_type)
        return "levels that are numbers" if held == "numbers" else held
    if types.is_null(kind):
        return "nothing"
    if types.is_boolean(kind):
        return "truth values"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    strings = (types.is_string, types.is_large_string, getattr(types, "is_string_view", types.is_string))
    return "strings" if any(is_one(kind) for is_one in strings) else None


def variable_of(name: str, sort: Sort) -> Variable:
    """What a fit takes a column for by its type: `Schema.from_dtypes`. Levels come later."""
    if sort == "numbers":
        return Variable(name, "continuous")
    return (
        Variable(name, "categorical", (False, True), declared=True)
        if sort == "truth values"
        else Variable(name, "categorical")
    )


@dataclass(frozen=True)
class CountPlan:
    """What is counted: the columns as variables, by name and kind (`schema`), the names of target and weight, which
    statistics (`want`), which columns' kinds were `given`, which columns are read `also`, which `families` of columns
    are counted where these are what is wanted, and whether `every` column is, so that none may come later."""

    schema: Schema
    target: str
    weight: str | None
    want: str
    given: frozenset[str] = frozenset()
    also: tuple[str, ...] = ()
    families: tuple[tuple[str, ...], ...] = ()
    every: bool = False

    @property
    def read(self) -> tuple[str, ...]:
        """All columns that are read."""
        own = (*self.schema.names, *([self.target] if self.target else []), *([self.weight] if self.weight else []))
        return tuple(dict.fromkeys((*own, *self.also)))


def encoded(
    batch: Any, plan: CountPlan, declared: Collection[str], pivots: dict[str, float], before: int
) -> tuple[Table, Labels, Variable]:
    """The rows of an Arrow batch: codes and numbers, classes with weights, and the target with its classes.

    Without a target all rows are of one class, as where a `BayesianNetwork` counts.

    Of the columns `declared` the dictionary is the domain, as the categories of pandas are. `pivots` holds those of the
    columns of numbers that had a value before, and is added to. `before` rows of the file came earlier, so that an
    error names a row by its place in it. Raises TableError or SchemaMismatch on a cell that a fit would refuse.
    """
    table = encoded_columns(batch, plan, declared, pivots, before)
    if not plan.target:
        return table, Labels(1, np.zeros(table.n, dtype=np.intp), row_weights(batch, plan, before)), NO_TARGET
    target, codes = encoded_target(batch, plan, declared)
    if (absent := codes == MISSING).any():
        raise TableError(
            "the target '{column}' has no value in row {row}; leave out the rows without a class",
            column=plan.target,
            row=_row(absent, before),
        )
    levels = sort_levels(target.levels, target.name)
    place = {level: c for c, level in enumerate(levels)}
    classes = np.array([place[level] for level in target.levels], dtype=np.intp)[codes.astype(np.intp) - 1]
    return table, Labels(len(levels), classes, row_weights(batch, plan, before)), replace(target, levels=levels)


def encoded_under(
    batch: Any, plan: CountPlan, declared: Collection[str], before: int, known: tuple[Schema, tuple[Any, ...]]
) -> tuple[Table, Labels]:
    """The rows of `encoded` under the columns and the classes that are `known`, which a pass before has found."""
    schema, classes = known
    ours = replace(plan, schema=schema, given=frozenset(schema.names))
    table, labels, target = encoded(batch, ours, declared, {}, before)
    assert labels.codes is not None
    place = positions(np.array(target.levels, dtype=object), classes)
    return table, Labels(len(classes), place[labels.codes], labels.weight)


def encoded_columns(
    batch: Any, plan: CountPlan, declared: Collection[str], pivots: dict[str, float], before: int
) -> Table:
    """The columns of `encoded` by themselves."""
    variables, columns = [], []
    for variable in plan.schema:
        array = batch.column(variable.name)
        column: Any
        if variable.textual:
            column = encode_texts(as_text(array, variable.name), variable, grow=False)[1]
        elif variable.discrete and variable.cuts is None:
            variable, column = _levels(array, variable, variable.name in declared and variable.name not in plan.given)
        else:
            column = _numbers(array, variable)
            if variable.cuts is not None:
                column = _intervals(column, variable, before)
            else:
                variable = _checked(column, variable, plan.want, pivots, before)
        variables.append(variable)
        columns.append(column)
    return Table(Schema(tuple(variables)), tuple(columns), batch.num_rows)


def encoded_target(batch: Any, plan: CountPlan, declared: Collection[str]) -> tuple[Variable, NDArray[Any]]:
    """The target with the classes that the batch holds, and (n,) its codes, 0 where there is none."""
    target, codes = _levels(batch.column(plan.target), Variable(plan.target, "categorical"), plan.target in declared)
    if odd := [v for v in target.levels if isinstance(v, float) and not v.is_integer()]:
        raise TableError(
            "the target '{column}' holds {value}, a number and no class; cut it into levels first, or name another",
            column=plan.target,
            value=written(odd[0]),
        )
    return target, codes


def row_weights(batch: Any, plan: CountPlan, before: int) -> Array | None:
    """(n,) how often each row counts; None where each counts once."""
    return None if plan.weight is None else _weights(batch.column(plan.weight), plan.weight, before)


def frame_of(batch: Any, schema: Schema, before: int) -> pd.DataFrame:
    """The columns of `schema` of an Arrow batch as a model takes them: dictionaries as categories, numbers as floats.
    `before` rows of the file came earlier. Raises TableError on a cell that is none of its column's kind.

    >>> pa = arrow()
    >>> batch = pa.record_batch({"sound": pa.array(["dull", None]).dictionary_encode(), "sugar": pa.array([1, 2])})
    >>> schema = Schema((Variable("sound", "categorical", ("dull",)), Variable("sugar", "continuous")))
    >>> frame_of(batch, schema, 0).values.tolist()
    [['dull', 1.0], [nan, 2.0]]
    """
    columns: dict[str, Any] = {}
    for v in schema:
        array = batch.column(v.name)
        if v.discrete and v.cuts is None:
            columns[v.name] = _of_levels(array)
            continue
        if v.textual:
            columns[v.name] = as_text(array, v.name)
            continue
        with rows_before(before):
            columns[v.name] = _numbers(array, v)
    return pd.DataFrame(columns, index=pd.RangeIndex(batch.num_rows))


def as_text(array: Any, name: str) -> pd.Series:
    """A column of texts as pandas has it, None for missing."""
    return pd.Series(array.to_pylist(), dtype=object, name=name)


def as_read(schema: Schema) -> Schema:
    """What files are to hold for a model's columns: levels and numbers, intervals not yet cut."""
    return Schema(tuple(v if v.cuts is None else Variable(v.name, "continuous") for v in schema))


@contextmanager
def rows_before(before: int) -> Iterator[None]:
    """Errors of a batch inside name a row by its place in the file, of which `before` rows come earlier."""
    try:
        yield
    except TableError as error:
        if isinstance(row := error.message.params.get("row"), int):
            error.message = replace(error.message, params={**error.message.params, "row": before + row})
            error.args = (str(error.message),)
        raise


def cells_frame(batch: Any, schema: Schema, before: int) -> pd.DataFrame:
    """As `frame_of` of a batch of strings, the cells of a CSV as they are written: numbers where the column's are, and
    the levels that they spell.

    >>> batch = arrow().record_batch({"code": ["7", "NA"], "sugar": ["1e-1", ""]})
    >>> schema = Schema((Variable("code", "categorical", (7, 8)), Variable("sugar", "continuous")))
    >>> cells_frame(batch, schema, 0).values.tolist()
    [[7, 0.1], [None, nan]]
    """
    pa, compute = arrow(), arrow("pyarrow.compute")
    nothing = pa.array(NOTHING)
    columns: dict[str, Any] = {}
    for v in schema:
        cells = batch.column(v.name)
        absent = compute.is_in(cells, nothing) if not v.textual else compute.equal(cells, "")
        cells = compute.if_else(absent, pa.scalar(None, pa.string()), cells)
        if v.textual:
            columns[v.name] = cells.to_pandas()
        elif v.discrete and v.cuts is None:
            held = cells.dictionary_encode()
            spelled = {str(level): level for level in v.levels}
            spelled |= {word: value for value in (True, False) if value in v.levels for word in WORDS[value]}
            levels = [spelled.get(text, _as_number(text, v)) for text in held.dictionary.to_pylist()]
            every = np.array([*levels, None], dtype=object)
            columns[v.name] = every[held.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
        else:
            try:
                columns[v.name] = cells.cast(pa.float64()).to_numpy(zero_copy_only=False)
            except pa.ArrowInvalid:  # a cell that Arrow does not read as a number, and Python may
                with rows_before(before):
                    columns[v.name] = numbers(pd.Series(cells.to_pylist(), dtype=object), v)
    return pd.DataFrame(columns, index=pd.RangeIndex(batch.num_rows))


WORDS: Mapping[bool, tuple[str, ...]] = {True: ("True", "TRUE", "true"), False: ("False", "FALSE", "false")}
"""How CSV spells truth values."""


def _as_number(text: str, variable: Variable) -> object:
    """A cell of a column whose levels are numbers as one: 5.0 is 5."""
    if any(isinstance(level, str | bool) for level in variable.levels):
        return text
    try:
        return float(text)
    except ValueError:
        return text


def _number(value: Decimal) -> int | float:
    """A decimal as a level: whole numbers keep all digits."""
    whole = int(value)
    return whole if whole == value else float(value)


def _of_levels(array: Any) -> pd.Series:
    """A column of levels as pandas has it."""
    pa = arrow()
    if pa.types.is_decimal(array.type):
        held = array.dictionary_encode()
        every = np.array([*map(_number, held.dictionary.to_pylist()), None], dtype=object)
        return pd.Series(every[held.indices.fill_null(-1).to_numpy(zero_copy_only=False)])
    if pa.types.is_dictionary(array.type):
        held = array.dictionary
        if held.null_count or len(held.unique()) < len(held):  # pandas takes each category once, and no missing one
            array = array.dictionary_decode()
    elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        array = array.dictionary_encode()
    column: pd.Series = array.to_pandas(integer_object_nulls=True)
    return column


def _row(cells: NDArray[np.bool_], before: int) -> int:
    return before + int(cells.argmax()) + 1


def _intervals(values: Array, variable: Variable, before: int) -> NDArray[Any]:
    """(n,) the codes of numbers by the variable's cut points."""
    if (infinite := np.isinf(values)).any():
        raise TableError(
            "column '{column}' holds infinity in row {row}; mend the cell, or make it missing",
            column=variable.name,
            row=_row(infinite, before),
        )
    codes = np.searchsorted(np.array(variable.cuts), values, side="left") + 1
    codes[np.isnan(values)] = MISSING
    return codes.astype(code_dtype(len(variable.levels)))


def _checked(values: Array, variable: Variable, want: str, pivots: dict[str, float], before: int) -> Variable:
    """The variable of a column of numbers with its pivot."""
    name = variable.name
    low, high = (f.reduce(values) if len(values) else np.nan for f in (np.fmin, np.fmax))
    if name not in pivots and not np.isnan(low):
        pivots[name] = middle(values)
    pivot = pivots.get(name, 0.0)
    with np.errstate(over="ignore"):
        far = not np.isnan(low) and not (low - pivot > -LARGEST and high - pivot < LARGEST)
    if far:
        raise TableError(
            "column '{column}' holds infinity or a value too large to be squared in row {row}; mend the cell, make it "
            "missing, or take a larger unit",
            column=name,
            row=_row(np.abs(values) >= max(abs(low), abs(high)), before),
        )
    if traits(variable).whole and (odd := (values < 0) | (np.isfinite(values) & (values != np.round(values)))).any():
        raise TableError(
            "column '{column}' holds what is no count in row {row}: its likelihood is for the whole numbers 0, 1, 2, "
            "…; choose 'gaussian' for it, or mend the cell",
            column=name,
            row=_row(odd, before),
        )
    if want == "scatter" and (absent := np.isnan(values)).any():
        raise TableError(
            "column '{column}' has no value in row {row}; discriminant analysis is fitted to complete rows. Fill the "
            "cell, leave the row or the column out, or use NaiveBayes",
            column=name,
            row=_row(absent, before),
        )
    return replace(variable, pivot=pivot)


def _weights(array: Any, name: str, before: int) -> Array:
    """(n,) how often each row counts."""
    weight = _numbers(array, Variable(name, "continuous"))
    if not (good := (weight >= 0) & (weight < MAX_WEIGHT)).all():
        raise TableError(
            "the weight '{column}' is missing, below 0 or too large in row {row}; weights are numbers of 0 and more",
            column=name,
            row=_row(~good, before),
        )
    return weight


def _numbers(array: Any, variable: Variable) -> Array:
    """(n,) a column of numbers as floats, NaN for missing."""
    pa = arrow()
    if pa.types.is_null(array.type):
        return np.full(len(array), np.nan)
    if pa.types.is_decimal(array.type):
        array = array.cast(pa.float64())
    if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        values = array.to_numpy(zero_copy_only=False)
        return values if values.dtype == np.float64 else np.asarray(values, dtype=float)
    return numbers(pd.Series(array.to_pylist(), dtype=object), variable)


def _levels(array: Any, variable: Variable, declared: bool) -> tuple[Variable, NDArray[Any]]:
    """The variable with the levels that the column holds, or its dictionary `declared`, and (n,) its codes."""
    pa = arrow()
    if pa.types.is_null(array.type):
        return variable, np.zeros(len(array), dtype=np.uint8)
    truth, decimal = pa.types.is_boolean(array.type), pa.types.is_decimal(array.type)
    if truth:
        array = array.cast(pa.int8())
    held = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    indices = held.indices.fill_null(-1) if held.indices.null_count else held.indices
    places = indices.to_numpy(zero_copy_only=False).astype(np.intp, copy=False)
    cells = [_number(v) for v in held.dictionary.to_pylist()] if decimal else held.dictionary.to_pylist()
    values = [None if v is None or v != v else bool(v) if truth else v for v in cells]
    if declared:
        levels = tuple(dict.fromkeys(v for v in values if v is not None))
        variable = replace(variable, levels=levels, declared=True)
    else:
        there = np.bincount(places + 1, minlength=len(values) + 1)[1:].tolist()
        variable = variable.observing(v for v, n in zip(values, there, strict=True) if n and v is not None)
    code = {level: i for i, level in enumerate(variable.levels, start=1)}
    lookup = [*(MISSING if v is None else code.get(v, MISSING) for v in values), MISSING]  # the last: of place -1
    return variable, np.array(lookup, dtype=code_dtype(len(variable.levels))).take(places)
