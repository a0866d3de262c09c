"""What is to be counted of files, compared with what they hold before a row is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from bayes_engine.errors import ParameterError, SchemaMismatch, TableError
from bayes_engine.scale.arrow import SORTS, CountPlan, Sort, sort_of_type, variable_of
from bayes_engine.table.schema import Schema, Variable

Found = Mapping[str, Any]
"""The Arrow types of a file's columns."""


class Described(Protocol):
    """Where rows come from, as far as it is known before they are read: what each file is called and which types its
    columns have, which of them are pandas' indices, and whether types come from the first rows alone."""

    names: list[str]
    found: list[dict[str, Any]]
    indices: set[str]

    @property
    def sampled(self) -> bool: ...


def compared(
    columns: Sequence[str], names: Sequence[str], of_files: Sequence[Found], given: Collection[str]
) -> dict[str, Sort]:
    """What each of these columns holds, alike in all files. Raises TableError where a file lacks one, SchemaMismatch
    where two files hold different sorts of cells in one, TableError on a type without a likelihood."""
    sorts: dict[str, Sort] = {}
    for column in columns:
        first: dict[Sort, str] = {}
        for name, types in zip(names, of_files, strict=True):
            if column not in types:
                other = next((n for n, t in zip(names, of_files, strict=True) if column in t), None)
                if other is None:
                    raise TableError(
                        "there is no column '{column}' in '{file}'; the columns are {known}",
                        column=column,
                        file=name,
                        known=", ".join(f"'{c}'" for c in types),
                    )
                raise TableError(
                    "column '{column}' is not in '{file}', and '{other}' has it; write the file with it, or leave the "
                    "column out by columns=",
                    column=column,
                    file=name,
                    other=other,
                )
            sort = sort_of_type(types[column])
            if sort is None:
                raise TableError(
                    "column '{column}' in '{file}' is of the type {kind}, for which there is no likelihood; turn it "
                    "into numbers or strings, or leave it out by columns=",
                    column=column,
                    file=name,
                    kind=str(types[column]),
                )
            if sort != "nothing":
                first.setdefault(sort, name)
        if column in given and first.keys() == {"numbers", "levels that are numbers"}:
            first = dict([next(iter(first.items()))])
        if len(first) > 1:
            (one, here), (two, there) = list(first.items())[:2]
            raise SchemaMismatch(
                "column '{column}' holds {one} in '{here}' and {two} in '{there}', which do not merge: 1 "
                "and '1' are two levels; write both files with one type",
                column=column,
                one=SORTS[one],
                here=here,
                two=SORTS[two],
                there=there,
            )
        sorts[column] = next(iter(first), "nothing")
    return sorts


def refuse_other_sorts(source: Described, schema: Schema) -> None:
    """Raises TableError where a file lacks a column of a model's `schema`, SchemaMismatch where one holds another sort
    of cells than the model was fitted to; what CSV holds is known cell by cell only."""
    compared(schema.names, source.names, source.found, schema.names)
    if source.sampled:
        return
    for name, types in zip(source.names, source.found, strict=True):
        for v in schema:
            sort, meant = sort_of_type(types[v.name]), _sorts(v)
            if meant and sort not in (*meant, "nothing"):
                raise SchemaMismatch(
                    "column '{column}' holds {one} in '{here}', and the model was fitted to {two}: 1 and '1' are two "
                    "levels; write the file with the same type",
                    column=v.name,
                    one=SORTS[sort or "nothing"],
                    here=name,
                    two=SORTS[meant[0]],
                )


def _sorts(variable: Variable) -> tuple[Sort, ...]:
    """What a column of the model may hold in a file; nothing where anything may stand."""
    if variable.textual:
        return ("strings",)
    if not variable.discrete or variable.cuts is not None:
        return "numbers", "levels that are numbers"
    kinds = {bool if isinstance(v, bool | np.bool_) else str if isinstance(v, str) else float for v in variable.levels}
    if len(kinds) != 1:
        return ()
    [kind] = kinds
    return (
        ("truth values",) if kind is bool else ("strings",) if kind is str else ("numbers", "levels that are numbers")
    )


class CountRequest(NamedTuple):
    """What the caller asks: the arguments of `collect_parquet` by these names."""

    target: str | None
    schema: Schema | None
    columns: Sequence[str] | None
    weight: str | None
    want: str
    also: tuple[str, ...] = ()
    """Columns that are read and not counted."""
    unlabelled: bool = False
    """Whether there may be no target."""
    texts: bool = False
    """Whether there may be texts whose vocabulary is not known."""


def target_of(schema: Schema | None, target: str | None) -> str | None:
    """The column of the classes, where it is said."""
    return target if target is not None or schema is None or schema.target is None else schema.target.name


def planned(source: Described, request: CountRequest) -> CountPlan:
    """What is to be counted, compared with what the files have."""
    target, schema, columns, weight, want, also, unlabelled, texts = request
    names, of_files = source.names, source.found
    target = target_of(schema, target)
    if target is None and not unlabelled:
        raise ParameterError("target= names no column: say which holds the classes")
    if columns is not None:
        wanted = [str(c) for c in ([columns] if isinstance(columns, str) else columns)]
    elif schema is not None:
        wanted = list(schema.features.names)
    else:
        wanted = list(dict.fromkeys(c for types in of_files for c in types if c not in source.indices))
    wanted = [c for c in wanted if c not in (target, weight, *also)]
    if not wanted:
        raise ParameterError("there is no column to count besides the target")
    if len(set(wanted)) < len(wanted):
        raise ParameterError("columns= names a column twice")
    described = {} if schema is None else {v.name: v for v in schema.features if v.name in wanted}
    sorts = compared([*wanted, *(n for n in (target, weight) if n is not None), *also], names, of_files, described)
    variables = []
    for name in wanted:
        if sorts[name] == "nothing" and source.sampled and name not in described:
            raise TableError(
                "column '{column}' has no value in '{file}' as far as it is read to learn its kind; say by schema= "
                "what it holds, or leave it out by columns=",
                column=name,
                file=names[0],
            )
        variables.append(described.get(name, variable_of(name, sorts[name])))
    unknown = [v.name for v in variables if v.textual and not (v.declared and want == "columns")]
    if unknown and not texts:
        raise TableError(
            "column '{column}' is a text, and the count of its terms needs their vocabulary first: fit_files finds it "
            "for naive Bayes in a pass of its own, or schema= declares it for want='columns'",
            column=unknown[0],
        )
    if weight is not None and sorts[weight] not in ("numbers", "nothing"):
        raise TableError(
            "the weight '{column}' holds {sort}; weights are numbers", column=weight, sort=SORTS[sorts[weight]]
        )
    every = columns is None and schema is None
    return CountPlan(Schema(tuple(variables)), target or "", weight, want, frozenset(described), also, every=every)
