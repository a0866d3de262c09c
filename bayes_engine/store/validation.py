"""Validation of what was read from a file: that its parts fit one another, and that the model answers.

A hash says that a file is whole, not that an honest program wrote it. Every check raises StoreError with its reason:
shapes against the schema, weights finite and not negative. Parameters that only a prediction uses, column names that no
table can have, matrices that are positive by a rounding only: each has its place in the code that predicts, and is met
there, on one row (`check_answers`), rather than listed here again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError, ParameterError, StoreError
from bayes_engine.factors.network import Network
from bayes_engine.logspace import Array
from bayes_engine.models.calibrated import Isotonic, Platt, Temperature
from bayes_engine.models.lazy import StoredRows
from bayes_engine.models.look_up import LookUp
from bayes_engine.models.look_up_tables import LevelTable, NormalTable
from bayes_engine.models.network import BayesianNetwork
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.families import Families
from bayes_engine.stats.moments import Moments
from bayes_engine.stats.scatter import Scatter
from bayes_engine.stats.terms import TermCounts
from bayes_engine.structure.graph import DAG
from bayes_engine.table.encode import code_dtype
from bayes_engine.table.schema import Level, Schema, Variable

MOST_ACTIONS = 2000
"""Actions, and classes, of a loss matrix that travels."""


def check_statistics(stats: SufficientStatistics) -> None:
    """Everything that a fit guarantees of its statistics.

    >>> from bayes_engine import NaiveBayes
    >>> stats = NaiveBayes().fit([["a"], ["b"]], ["u", "v"]).stats_
    >>> check_statistics(stats)
    >>> from dataclasses import replace
    >>> check_statistics(replace(stats, class_weight=-stats.class_weight))
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: class_weight holds a number below 0
    """
    check_schema(stats.schema)
    check_variable(stats.target)
    n_classes = len(stats.target.levels)
    if not n_classes:
        raise StoreError("the target has no class")
    _weights(stats.class_weight, (n_classes,), "class_weight")
    sizes = {v.name: 1 + len(v.levels) for v in stats.schema if v.discrete}
    numeric = tuple(v.name for v in stats.schema if v.numeric)
    if not stats.counts.tables.keys() <= sizes.keys():
        raise _other_columns("counts")
    for name, table in stats.counts.tables.items():
        _weights(table, (n_classes, sizes[name]), f"counts['{name}']")
    _moments(stats.moments, n_classes, "moments")
    if stats.moments.names != numeric:
        raise _other_columns("moments")
    _families(stats.families, n_classes, sizes, numeric)
    if stats.scatter is not None:
        _scatter(stats.scatter, n_classes, numeric)
    if stats.terms is not None:
        _terms(stats.terms, n_classes, "terms")
    for name, column in stats.values.columns.items():
        if name not in numeric:
            raise _other_columns("values")
        points = column.points
        if points.ndim != 1 or not np.isfinite(points).all() or (np.diff(points) <= 0).any():
            raise StoreError("the values of '{column}' do not rise", column=name)
        if not (0 <= column.dropped < 64 and column.bound >= 0):
            raise StoreError("the values of '{column}' are on no grid of binary digits", column=name)
        _weights(column.weight, (n_classes, len(points)), f"values['{name}']")
    vocabularies = {v.name: tuple(str(level) for level in v.levels) for v in stats.schema if v.textual}
    for name, terms in stats.texts.columns.items():
        if terms.names != vocabularies.get(name):
            raise _other_columns("texts")
        _terms(terms, n_classes, f"texts['{name}']")


def check_rows(stored: StoredRows) -> None:
    """Every code is one of a level, every number is finite or missing, every row has its class and its weight.

    >>> from bayes_engine import LazyNaiveBayes
    >>> stored = LazyNaiveBayes().fit([["a"], ["b"]], ["u", "v"]).stats_
    >>> check_rows(stored)
    >>> from dataclasses import replace
    >>> check_rows(replace(stored, blocks=()))
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: there is no block of rows
    """
    check_schema(stored.schema)
    check_variable(stored.target)
    n_classes = len(stored.target.levels)
    if not stored.blocks:
        raise StoreError("there is no block of rows")
    for table, labels in stored.blocks:
        if table.schema != stored.schema or len(table.columns) != len(stored.schema) or table.beyond is not None:
            raise _other_columns("rows")
        if labels.n_classes != n_classes or labels.codes is None or labels.soft is not None:
            raise StoreError("a block of rows has no class for each row")
        _codes(labels.codes, table.n, n_classes, "class")
        if labels.weight is not None:
            _weights(labels.weight, (table.n,), "weight")
        for variable, column in zip(stored.schema, table.columns, strict=True):
            if variable.discrete:
                if column.dtype != code_dtype(len(variable.levels)):
                    raise StoreError("'{column}' has codes of another type than its levels", column=variable.name)
                _codes(column, table.n, 1 + len(variable.levels), variable.name)
            elif column.shape != (table.n,) or column.dtype != np.float64 or np.isinf(column).any():
                raise StoreError("'{column}' holds what is no number for each row", column=variable.name)


def check_look_up(table: LookUp) -> None:
    """A column of log terms for every class, none of them above what a probability allows.

    >>> from bayes_engine import NaiveBayes
    >>> table = LookUp.of(NaiveBayes().fit([["a"], ["b"]], ["u", "v"]))
    >>> check_look_up(table)
    >>> from dataclasses import replace
    >>> check_look_up(replace(table, log_prior=table.log_prior[:1]))
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: the table of 'log_prior' does not have a number for each class
    """
    check_schema(table.schema)
    check_variable(table.target)
    n_classes = len(table.target.levels)
    _log_terms(table.log_prior, (n_classes,), "log_prior")
    for column in table.columns:
        variable = column.variable
        if variable != table.schema[variable.name]:
            raise _other_columns(variable.name)
        if isinstance(column, LevelTable):
            _log_terms(column.table, (n_classes, 2 + len(variable.levels)), variable.name)
            continue
        arrays: tuple[Array, ...]
        if isinstance(column, NormalTable):
            arrays, possible = (column.centre, column.sd, column.spread), column.sd > 0
        else:
            arrays, possible = (column.rate, column.log_rate), column.rate >= 0
        for array in arrays:
            if array.shape != (n_classes,) or np.isnan(array).any():
                raise StoreError("the table of '{column}' does not have a number for each class", column=variable.name)
        if not possible.all() or not 0 <= column.weight < np.inf:
            raise StoreError("the table of '{column}' has a spread, a rate or a weight below 0", column=variable.name)


def check_calibrator(calibrator: Any, n_classes: int) -> None:
    """A curve for every class, of two classes one.

    >>> check_calibrator(Temperature(1.5), 2)
    >>> check_calibrator(Temperature(-1.0), 2)
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: the calibrator is not one of these classes
    """
    curves = 1 if n_classes == 2 else n_classes
    sound = (
        (isinstance(calibrator, Temperature) and 0 < calibrator.temperature < np.inf)
        or (isinstance(calibrator, Isotonic) and len(calibrator.curves) == curves)
        or (isinstance(calibrator, Platt) and calibrator.slope.shape == calibrator.shift.shape == (curves,)
            and bool(np.isfinite(calibrator.slope).all() and np.isfinite(calibrator.shift).all()))
    )  # fmt: skip
    if not sound:
        raise StoreError("the calibrator is not one of these classes")


def check_shares(shares: Array, n: int, what: str) -> None:
    """n probabilities that sum to 1.

    >>> check_shares(np.array([0.25, 0.75]), 2, "prior")
    >>> check_shares(np.array([0.25, 0.25]), 2, "prior")
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: prior sums to 0.5, not 1
    """
    _weights(shares, (n,), what)
    if abs(float(shares.sum()) - 1.0) > 1e-6:
        raise StoreError("{what} sums to {total}, not 1", what=what, total=f"{float(shares.sum()):.9g}")


def check_record(record: type, fields: Mapping[str, Any]) -> None:
    """What must be known before some records are made: their own checks take long where there is much amiss.

    >>> check_record(DAG, {"nodes": ("a", "b"), "arcs": (("a", "b"),)})
    >>> check_record(DAG, {"nodes": ("a", "b"), "arcs": (("a", "b"), ("b", "a"))})
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: the arcs of a graph close a cycle
    """
    if record is DAG and "nodes" in fields:
        _check_arcs(fields["nodes"], fields.get("arcs", ()))
    elif record is Network and "cpts" in fields:
        arcs = [(parent.name, cpt.name) for cpt in fields["cpts"] for parent in cpt.parents]
        _check_arcs([cpt.name for cpt in fields["cpts"]], arcs)
    elif record is LossMatrix:
        for name in ("actions", "classes"):
            if len(fields.get(name, ())) > MOST_ACTIONS:
                raise StoreError("a loss matrix has more than {most} {name}", most=MOST_ACTIONS, name=name)


def _check_arcs(nodes: Sequence[str], arcs: Sequence[tuple[str, str]]) -> None:
    """Nodes that are named once, arcs between them that close no cycle: in one pass."""
    above: dict[str, list[str]] = {name: [] for name in nodes}
    if len(above) < len(nodes) or not all(a in above and b in above for a, b in arcs):
        raise StoreError("a graph has a node twice, or an arc to a node that there is not")
    for a, b in arcs:
        above[b].append(a)
    try:
        TopologicalSorter(above).prepare()
    except CycleError:
        raise StoreError("the arcs of a graph close a cycle") from None


def check_schema(schema: Schema) -> None:
    """Every variable of a schema; that no name stands twice the schema itself sees to.

    >>> check_schema(Schema((Variable("a", "categorical", ("x", "y")),)))
    >>> check_schema(Schema((Variable("a", "categorical", ("x", "x")),)))
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: 'a' has a level twice
    """
    for variable in schema:
        check_variable(variable)


def check_variable(variable: Variable) -> None:
    """Levels that are labels, none of them twice; cuts that rise, one interval more than cuts.

    >>> check_variable(Variable("a", "categorical", ("x", "y")))
    >>> check_variable(Variable("a", "categorical", ((), "y")))
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: 'a' has a level that is no label
    """
    if not all(isinstance(level, Level) for level in variable.levels):
        raise StoreError("'{column}' has a level that is no label", column=variable.name)
    if len(set(variable.levels)) < len(variable.levels):
        raise StoreError("'{column}' has a level twice", column=variable.name)
    if not np.isfinite(variable.pivot):
        raise StoreError("'{column}' has a pivot that is not finite", column=variable.name)
    cuts = variable.cuts
    if cuts is not None:
        rising = np.isfinite(cuts).all() and (np.diff(cuts) > 0).all()
        if not rising or len(variable.levels) != len(cuts) + 1:
            raise StoreError(
                "'{column}' has cut points that do not increase, or do not match its levels", column=variable.name
            )


# parts ----------------------------------------------------------------------------------------------------------------


def _other_columns(what: str) -> StoreError:
    return StoreError("{what} is not of the columns that the schema has for it", what=what)


def _moments(moments: Moments, rows: int, what: str) -> None:
    d = len(moments.names)
    _numbers(moments.pivot, (d,), what)
    _weights(moments.weight, (rows, d), what)
    _numbers(moments.mean, (rows, d), what)
    _weights(moments.m2, (rows, d), what)


def _families(families: Families, n_classes: int, sizes: Mapping[str, int], numeric: tuple[str, ...]) -> None:
    for names, table in families.tables.items():
        _known(names, sizes)
        _weights(table, (n_classes, *(sizes[n] for n in names)), f"families{names}")
    for names, moments in families.moments.items():
        _known(names, sizes)
        if moments.names != numeric:
            raise _other_columns("moments")
        cells = math.prod((n_classes, *(sizes[name] for name in names)))
        _moments(moments, cells, f"moments within {names}")


def _known(names: Iterable[str], sizes: Mapping[str, int]) -> None:
    if not sizes.keys() >= set(names):
        raise _other_columns("counts")


def _scatter(scatter: Scatter, n_classes: int, numeric: tuple[str, ...]) -> None:
    d = len(numeric)
    if scatter.names != numeric:
        raise _other_columns("scatter")
    _numbers(scatter.pivot, (d,), "scatter")
    _weights(scatter.weight, (n_classes,), "scatter")
    _numbers(scatter.mean, (n_classes, d), "scatter")
    _numbers(scatter.m2, (n_classes, d, d), "scatter")
    if (np.diagonal(scatter.m2, axis1=1, axis2=2) < 0).any():
        raise StoreError("{what} holds a number below 0", what="scatter")


def _terms(terms: TermCounts, n_classes: int, what: str) -> None:
    _weights(terms.weight, (n_classes,), what)
    _weights(terms.sums, (n_classes, len(terms.names)), what)


def _weights(array: Array, shape: tuple[int, ...], what: str) -> None:
    _numbers(array, shape, what)
    if array.size and array.min() < 0:
        raise StoreError("{what} holds a number below 0", what=what)


def _numbers(array: Array, shape: tuple[int, ...], what: str) -> None:
    if array.shape != shape or array.dtype != np.float64:
        raise StoreError(
            "{what} has the shape {found}, where the schema asks for {wanted}",
            what=what,
            found=str(array.shape),
            wanted=str(shape),
        )
    if not np.isfinite(array).all():
        raise StoreError("{what} holds what is no finite number", what=what)


def _log_terms(array: Array, shape: tuple[int, ...], what: str) -> None:
    if array.shape != shape or np.isnan(array).any() or np.isposinf(array).any():
        raise StoreError("the table of '{column}' does not have a number for each class", column=what)


def _codes(codes: NDArray[Any], n: int, size: int, what: str) -> None:
    if codes.shape != (n,) or codes.dtype.kind not in "iu" or (n and not 0 <= codes.min() <= codes.max() < size):
        raise StoreError("'{column}' holds a code that stands for nothing, or not one for each row", column=what)


# an answer for one row ------------------------------------------------------------------------------------------------

_VERBS = ("predict_joint_log_proba", "predict_proba", "transform", "score_samples")
_INNER = ("estimator_", "gaussian_")


def check_answers(model: Any) -> None:
    """Ask a model for what it says of one row; one that was not fitted, and knows no columns, is not asked.

    That the row is refused in words is an answer, and the model's own. Raises StoreError where what it says is no
    number, ParameterError where a parameter is what none can be; whatever else goes wrong is the caller's to tell.

    >>> from bayes_engine import NaiveBayes
    >>> model = NaiveBayes().fit([[1.0], [2.0], [4.0], [6.0]], ["u", "u", "v", "v"])
    >>> check_answers(model)
    >>> model.factor_.parts[0].p[:] = np.nan
    >>> check_answers(model)
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: the model does not answer for a row of its own columns
    """
    if not any(name in vars(model) for name in ("n_features_in_", *_INNER)):
        return
    row = _row(model)
    for verb in _VERBS:
        if not hasattr(model, verb):
            continue
        try:
            answer = getattr(model, verb)(row)
        except ParameterError:
            raise
        except BayesEngineError:
            continue
        if (
            isinstance(answer, np.ndarray)
            and answer.dtype.kind == "f"
            and (np.isnan(answer) | np.isposinf(answer)).any()
        ):
            raise StoreError("the model does not answer for a row of its own columns")


def _row(model: Any) -> NDArray[Any] | pd.DataFrame:
    """The first level of every column that has levels; of the others the pivot, 0 or an empty text."""
    names, schema = getattr(model, "feature_names_in_", None), _schema(model)
    if names is None and isinstance(model, BayesianNetwork):
        names = model.schema_.names
    called = [f"x{j}" for j in range(model.n_features_in_)] if names is None else list(names)
    if not all(type(name) is str for name in called):
        raise StoreError("a column's name is no text")
    cells = np.zeros((1, len(called)))
    if schema is not None:
        cells = np.full((1, len(called)), None, dtype=object)
        known = {v.name: v for v in schema}
        for j, name in enumerate(called):
            if (v := known.get(name)) is not None:
                discrete = v.discrete and v.cuts is None
                cells[0, j] = next(iter(v.levels), None) if discrete else "" if v.textual else v.pivot
    return cells if names is None else pd.DataFrame(cells, columns=called)


def _schema(model: Any) -> Any:
    while not hasattr(model, "schema_"):
        inner = next((name for name in _INNER if hasattr(model, name)), None)
        if inner is None:
            return None
        model = getattr(model, inner)
    return model.schema_ or None  # counts of terms have columns without one
