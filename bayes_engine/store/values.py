"""Python values as JSON and blobs, and back: plain values, arrays, and the records of a closed table.

A value that JSON has is itself, an array of JSON being a tuple; every other value is an object with one key, its kind:
{"float": "inf"}, {"list": […]}, {"dict": [[key, value], …]}, {"scalar": [dtype, value]}, {"array": blob},
{"objects": tuple} and {"texts": tuple} (arrays of labels), {"strings": [blob, blob]} (a long tuple of texts: their
lengths in bytes, and the bytes), {"frame": …}, {"Collapse": reason}, {"IsotonicRegression": [x, y]}, or the tag of a
record (`RECORDS`) with its fields.
"""

from __future__ import annotations

import hashlib
import math
import reprlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.em import Collapse, EMStep, EMTrace, Runs
from bayes_engine.errors import StoreError
from bayes_engine.factors.network import CPT, Network
from bayes_engine.models.calibrated import Isotonic, Platt, Temperature
from bayes_engine.models.lazy import StoredRows
from bayes_engine.models.look_up import LookUp
from bayes_engine.models.look_up_tables import LevelTable, NormalTable, RateTable, ReferenceCase
from bayes_engine.models.mixture_components import Components, MixtureParameters
from bayes_engine.models.selective import Selection, SelectionStep
from bayes_engine.priors import Dirichlet
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.counts import Counts
from bayes_engine.stats.families import Families
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import Moments
from bayes_engine.stats.partial import PartialNode, PartialSource, PartialStatistics
from bayes_engine.stats.scatter import Scatter
from bayes_engine.stats.terms import TermCounts, TextTerms
from bayes_engine.stats.values import ColumnValues, Values
from bayes_engine.store.container import DTYPES, Blob
from bayes_engine.store.type_hints import field_hints, fits
from bayes_engine.store.validation import check_record
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import DecomposedScore, FamilyChange, FamilyScore, Move
from bayes_engine.structure.search_trace import Candidate, SearchResult, SearchStep, SearchTrace
from bayes_engine.table.discretize import Split
from bayes_engine.table.encode import Table
from bayes_engine.table.levels import written
from bayes_engine.table.schema import Level, Schema, Variable
from bayes_engine.table.text import TextRule

if TYPE_CHECKING:
    from sklearn.isotonic import IsotonicRegression


RECORDS: Mapping[str, type] = {
    "Bill": DecomposedScore,
    "CPT": CPT,
    "Candidate": Candidate,
    "Case": ReferenceCase,
    "ColumnValues": ColumnValues,
    "Components": Components,
    "Counts": Counts,
    "DAG": DAG,
    "Dirichlet": Dirichlet,
    "EMStep": EMStep,
    "EMTrace": EMTrace,
    "Families": Families,
    "FamilyChange": FamilyChange,
    "FamilyScore": FamilyScore,
    "Isotonic": Isotonic,
    "Labels": Labels,
    "LevelTable": LevelTable,
    "LookUp": LookUp,
    "LossMatrix": LossMatrix,
    "MixtureParameters": MixtureParameters,
    "Moments": Moments,
    "Move": Move,
    "Network": Network,
    "NormalTable": NormalTable,
    "Partial": PartialStatistics,
    "PartialNode": PartialNode,
    "PartialSource": PartialSource,
    "Platt": Platt,
    "RateTable": RateTable,
    "Runs": Runs,
    "Scatter": Scatter,
    "Schema": Schema,
    "Search": SearchResult,
    "SearchStep": SearchStep,
    "SearchTrace": SearchTrace,
    "Selection": Selection,
    "Split": Split,
    "Statistics": SufficientStatistics,
    "Step": SelectionStep,
    "StoredRows": StoredRows,
    "Table": Table,
    "Temperature": Temperature,
    "TermCounts": TermCounts,
    "TextRule": TextRule,
    "TextTerms": TextTerms,
    "Values": Values,
    "Variable": Variable,
}
"""Everything with named fields that a file may hold, besides estimators, by its tag in files: nothing else can be
rebuilt. A tag stays as it is when its class is renamed."""
NOT_AT_DEFAULT: Mapping[tuple[str, str], object] = {("ColumnValues", "dropped"): 0, ("ColumnValues", "bound"): 0}
"""Fields that came later: at these values they are not written, so that a file without them is saved as it was."""
_TAGS: Mapping[type, str] = {cls: tag for tag, cls in RECORDS.items()}
STORED: Mapping[str, Mapping[str, str]] = {"Search": {"decomposed_score": "bill"}}
"""By tag: what an attribute that was renamed is called in files. Version 1 of the format began with none."""
LONG = 64
"""A tuple of so many texts is stored outside the JSON."""
MOST_TEXTS = 2**18
MOST_TEXT = 16 * 2**20
"""Texts in such tuples, all together, and their bytes."""
_ENDLESS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class ValueWriter:
    """Turns values into JSON; the arrays it meets come into `blobs`, each once. `estimator` writes what is no value,
    or returns None."""

    def __init__(self, estimator: Callable[[Any, ValueWriter, str], Any]) -> None:
        self.blobs: dict[str, Blob] = {}
        self._met: dict[tuple[Any, ...], str] = {}
        self._texts: dict[tuple[str, ...], Any] = {}
        self._texts_left, self._text_left = MOST_TEXTS, MOST_TEXT
        self._estimator = estimator

    def write(self, value: Any, where: str) -> Any:
        """`value` as JSON; `where` names it in an error. Raises StoreError where it has no place in a file."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) is np.str_:
            return {"scalar": ["U", str(value)]}
        if isinstance(value, np.generic) and value.dtype.str in DTYPES:
            return {"scalar": [value.dtype.str, self.write(value.item(), where)]}
        if (tag := _TAGS.get(type(value))) is not None:
            return {tag: self._record(tag, value, where)}
        if type(value) is tuple:
            return self._tuple(value, where)
        if type(value) is list:
            return {"list": [self.write(v, where) for v in value]}
        if type(value) is dict:
            return {"dict": [[self.write(k, where), self.write(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        if type(value) is np.ndarray:
            return self._array(value, where)
        if type(value) is pd.DataFrame:
            return {"frame": self._frame(value, where)}
        if type(value) is Collapse:
            return {"Collapse": str(value)}
        if (type(value).__module__, type(value).__name__) == ("sklearn.isotonic", "IsotonicRegression"):
            return {"IsotonicRegression": [self.write(a, where) for a in (value.X_thresholds_, value.y_thresholds_)]}
        written = self._estimator(value, self, where)
        if written is None:
            raise StoreError(
                "{where} is a {kind}, which has no place in a saved model; what can be saved are this library's "
                "models, numbers, texts, arrays, and tables of them",
                where=where,
                kind=type(value).__name__,
            )
        return written

    def _record(self, tag: str, value: Any, where: str) -> dict[str, Any]:
        written = {}
        kind: Any = type(value)
        for name, hint in field_hints(kind).items():
            held = getattr(value, name)
            if (tag, name) in NOT_AT_DEFAULT and held == NOT_AT_DEFAULT[tag, name]:
                continue
            if isinstance(value, Variable) and name == "levels":
                _refuse_levels(value)
            if not fits(held, hint):
                _misfit(f"{where}.{name}", kind, name, held)
            written[stored_name(tag, name)] = self.write(held, f"{where}.{name}")
        check_record(kind, vars(value) if kind is LossMatrix else {})
        return written

    def _tuple(self, value: tuple[Any, ...], where: str) -> Any:
        if len(value) < LONG or not all(type(v) is str for v in value):
            return [self.write(v, where) for v in value]
        if value not in self._texts:
            raw = [v.encode("utf-8", "surrogatepass") for v in value]
            self._texts_left -= len(raw)
            self._text_left -= sum(map(len, raw))
            if self._texts_left < 0 or self._text_left < 0:
                raise StoreError("{where} holds more texts than a file may; take a smaller vocabulary", where=where)
            lengths = np.array([len(r) for r in raw], dtype=np.uint32)
            self._texts[value] = {"strings": [self._blob(lengths), self._blob(b"".join(raw))]}
        return self._texts[value]

    def _array(self, value: NDArray[Any], where: str) -> Any:
        if value.dtype.kind in "OU" and value.ndim == 1:
            kind = "objects" if value.dtype.kind == "O" else "texts"
            return {kind: self.write(tuple(value.tolist()), where)}
        if value.dtype.newbyteorder("<").str not in DTYPES:
            raise StoreError("{where} is an array of {dtype}, which is not stored", where=where, dtype=str(value.dtype))
        dense = value.copy(order="K")
        alike = (dense.dtype.str, dense.shape, dense.strides, hashlib.sha256(dense.tobytes(order="A")).digest())
        if alike not in self._met:
            self._met[alike] = self._blob(dense)
        return {"array": self._met[alike]}

    def _frame(self, value: pd.DataFrame, where: str) -> dict[str, Any]:
        columns = [column.to_numpy() for _, column in value.items()]
        return {
            "index": self.write(tuple(value.index.tolist()), where),
            "name": self.write(value.index.name, where),
            "columns": self.write(tuple(value.columns.tolist()), where),
            "cells": [self._array(column, where) for column in columns],
        }

    def _blob(self, blob: Blob) -> str:
        name = str(len(self.blobs))
        self.blobs[name] = blob
        return name


class ValueReader:
    """Turns JSON back into values. `estimators` are further kinds, each with what reads it."""

    def __init__(
        self,
        blobs: Mapping[str, memoryview | NDArray[Any]],
        estimators: Mapping[str, Callable[[Any, ValueReader], Any]],
    ) -> None:
        self.blobs = blobs
        self._texts: dict[tuple[str, str], tuple[str, ...]] = {}
        self._estimators = estimators
        self._texts_left, self._text_left = MOST_TEXTS, MOST_TEXT

    def read(self, value: Any) -> Any:
        """The value that was written. Raises StoreError where none was."""
        if value is None or type(value) in (str, int, bool):
            return value
        if type(value) is float:
            if not math.isfinite(value):
                raise StoreError("a number is beyond what a float holds")
            return value
        if type(value) is list:
            return tuple(map(self.read, value))
        if len(value) != 1:
            raise StoreError("a value has {n} kinds: {names}", n=len(value), names=", ".join(value)[:80])
        ((kind, body),) = value.items()
        if kind in RECORDS:
            return self._record(kind, RECORDS[kind], body)
        if kind in self._estimators:
            return self._estimators[kind](body, self)
        if kind not in self._KINDS:
            raise StoreError("a value is of the kind '{name}', which this program does not know", name=kind[:80])
        return self._KINDS[kind](self, body)

    def _record(self, tag: str, cls: type, body: Any) -> Any:
        hints = field_hints(cls)
        fields = {stored_name(tag, name): name for name in hints}
        if not isinstance(body, dict) or not body.keys() <= fields.keys():
            raise StoreError("a {name} has fields that it cannot have", name=tag)
        held = {fields[stored]: self.read(v) for stored, v in body.items()}
        for name, v in held.items():
            if not fits(v, hints[name]):
                _misfit(f"{tag}.{name}", cls, name, v)
        check_record(cls, held)
        return cls(**held)  # a field that is not there has its default, or the class raises

    def _float(self, body: Any) -> float:
        return _ENDLESS[_text(body)]

    def _scalar(self, body: Any) -> Any:
        dtype, value = body
        if dtype == "U":
            return np.str_(_text(value))
        if dtype not in DTYPES:
            raise StoreError(
                "'{name}' has the dtype {dtype}, which is not stored", name="scalar", dtype=str(dtype)[:40]
            )
        return np.array(self.read(value), dtype=dtype)[()]

    def _list(self, body: Any) -> list[Any]:
        return list(self._tuple(body))

    def _dict(self, body: Any) -> dict[Any, Any]:
        entries = {self.read(k): self.read(v) for k, v in _listed(body)}
        if len(entries) < len(body):
            raise StoreError("a dict holds one key twice")
        return entries

    def _tuple(self, body: Any) -> tuple[Any, ...]:
        value = self.read(body)
        if not isinstance(value, tuple):
            raise StoreError("a {found} stands where a list is expected", found=type(value).__name__)
        return value

    def array(self, body: Any) -> NDArray[Any]:
        """The array of a blob's name."""
        blob = self.blobs.get(_text(body))
        if not isinstance(blob, np.ndarray):
            raise StoreError("there is no array '{name}' in the file", name=str(body)[:80])
        return blob

    def _objects(self, body: Any) -> NDArray[Any]:
        held = self._tuple(body)
        made = np.empty(len(held), dtype=object)
        for i, v in enumerate(held):
            made[i] = v
        return made

    def _texts_array(self, body: Any) -> NDArray[Any]:
        return np.array([_text(v) for v in self._tuple(body)], dtype=np.str_)

    def _strings(self, body: Any) -> tuple[str, ...]:
        lengths_name, of = (_text(name) for name in body)
        if (lengths_name, of) not in self._texts:
            lengths, raw = self.array(lengths_name), self.blobs.get(of)
            if not isinstance(raw, memoryview) or lengths.dtype.kind != "u" or lengths.ndim != 1:
                raise StoreError("there is no array '{name}' in the file", name=of[:80])
            self._texts_left -= len(lengths)
            self._text_left -= len(raw)
            if self._texts_left < 0 or self._text_left < 0 or int(lengths.sum(dtype=np.uint64)) != len(raw):
                raise StoreError("the texts in the file are too many, or not as long as stated")
            ends = np.cumsum(lengths, dtype=np.intp).tolist()
            self._texts[lengths_name, of] = tuple(
                str(raw[a:b], "utf-8", "surrogatepass") for a, b in zip([0, *ends], ends, strict=False)
            )
        return self._texts[lengths_name, of]

    def _frame(self, body: Any) -> pd.DataFrame:
        index, columns = self._tuple(body["index"]), self._tuple(body["columns"])
        cells = [self.read(cell) for cell in _listed(body["cells"])]
        if any(not isinstance(c, np.ndarray) or c.shape != (len(index),) for c in cells) or len(cells) != len(columns):
            raise StoreError("a frame's columns are not as long as its index")
        made = pd.DataFrame(dict(enumerate(cells)), index=pd.Index(index, name=self.read(body["name"])))
        return made.set_axis(pd.Index(columns), axis=1)

    def _collapse(self, body: Any) -> Collapse:
        return Collapse("{reason}", reason=_text(body))

    def _curve(self, body: Any) -> IsotonicRegression:
        """scikit-learn's, fitted to its own thresholds: the same function."""
        x, y = (self.read(a) for a in body)
        if not (len(x) == len(y) and np.isfinite(x).all() and (np.diff(x) > 0).all() and (np.diff(y) >= 0).all()):
            raise StoreError("an isotonic curve does not rise from left to right")
        from sklearn.isotonic import IsotonicRegression

        return IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(x, y)

    _KINDS: Mapping[str, Callable[[ValueReader, Any], Any]] = {
        "float": _float,
        "scalar": _scalar,
        "list": _list,
        "dict": _dict,
        "array": array,
        "objects": _objects,
        "texts": _texts_array,
        "strings": _strings,
        "frame": _frame,
        "Collapse": _collapse,
        "IsotonicRegression": _curve,
    }


def stored_name(tag: str, attribute: str) -> str:
    """What an attribute of the record or estimator of this tag is called in files: as in the code, or by `STORED`.

    >>> stored_name("CPT", "p"), stored_name("Search", "decomposed_score")
    ('p', 'bill')
    """
    return STORED.get(tag, {}).get(attribute, attribute)


def _refuse_levels(variable: Variable) -> None:
    for level in variable.levels:
        if not fits(level, Level):
            raise StoreError(
                "column '{column}' has the level {value} ({kind}), which has no place in a file: levels there are "
                "strings, numbers and truth values; turn the column into strings (astype(str)) and fit again",
                column=variable.name,
                value=written(level),
                kind=type(level).__name__,
            )


def _misfit(where: str, record: type, field: str, value: Any) -> NoReturn:
    raise StoreError(
        "{where} is {value}, and what is stored there is {hint}",
        where=where,
        value=reprlib.repr(value),
        hint=str(record.__annotations__[field]),
    )


def _text(value: Any) -> str:
    if type(value) is not str:
        raise StoreError("a {found} stands where a text is expected", found=type(value).__name__)
    return value


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise StoreError("a {found} stands where a list is expected", found=type(value).__name__)
    return value
