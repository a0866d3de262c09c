"""Models learnt from all rows but some: in folds, or one row left out at a time."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from bayes_engine.errors import NoTerms, ParameterError, TableError
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.progress import steps, tick
from bayes_engine.stats.labels import Labels, checked_weights
from bayes_engine.table.dataframes import to_pandas
from bayes_engine.table.encode import encode_texts, positions
from bayes_engine.table.schema import Schema, Variable


class Rows(NamedTuple):
    """Rows to be held out, checked: X (n, d) with their `labels` (n,), under the target's name if it has one, of which
    `truth` (n,) are the places among the classes; `weight` (n,), None of them where all count alike."""

    X: Any
    labels: Any
    classes: tuple[Any, ...]
    truth: NDArray[np.intp]
    weight: Array
    alike: bool
    groups: NDArray[np.intp] | None

    def weight_by_class(self, rows: NDArray[np.intp]) -> Array:
        """(K,) what these rows weigh."""
        return np.bincount(self.truth[rows], self.weight[rows], minlength=len(self.classes)).astype(float)


Part = tuple[NDArray[np.intp], NDArray[np.intp]]
"""The positions of the rows that a fold learns from, and of those that it has not seen."""


class EncodedFold(NamedTuple):
    """All rows, encoded for a fold, and which of them it learns from, and has not seen."""

    table: Any
    train: NDArray[np.intp]
    test: NDArray[np.intp]


class Fold(NamedTuple):
    """A model that has learnt from all rows but some, its classes, the weight by class of the rows that it learnt from;
    the positions of those that it has not seen, and these rows, encoded or as they were given."""

    model: Any
    classes: NDArray[Any]
    learnt: Array
    test: NDArray[np.intp]
    unseen: Any


def rows_to_hold_out(model: Any, X: Any, y: Any, groups: Any, sample_weight: Any) -> Rows:
    if not hasattr(model, "classes_") or not hasattr(model, "predict_proba"):
        raise ParameterError(
            "held_out takes a fitted classifier with predict_proba, and this {kind} is not fitted or has none; call "
            "fit, or calibrate it",
            kind=type(model).__name__,
        )
    X = to_pandas(X)  # scikit-learn takes no rows of some frames
    classes = tuple(model.classes_.tolist())
    labels = np.asarray(y)
    tick()
    truth = positions(labels, classes)
    if (truth < 0).any():
        raise TableError(
            "the model was fitted without the class '{label}' of row {row}; fit it to these rows first",
            label=str(labels[truth < 0][0]),
            row=int((truth < 0).argmax()) + 1,
        )
    tick()
    alike = np.broadcast_to(1.0, len(labels))  # a table may be long, and what is held out is kept
    weight = alike if sample_weight is None else np.asarray(sample_weight, dtype=float)
    together = None if groups is None else pd.factorize(pd.Series(groups), use_na_sentinel=False)[0].astype(np.intp)
    name = model.target_.name if hasattr(model, "target_") else getattr(y, "name", None)
    named: Any = labels
    if name is not None:  # a network's arcs may name the target, and its ties fall by names
        named = pd.Series(labels, name=name, dtype=object if labels.dtype.kind == "U" else labels.dtype)
    tick()
    return Rows(X, named, classes, truth, weight, sample_weight is None, together)


def learnt_in_folds(model: Any, rows: Rows, parts: Sequence[Part], *, one_by_one: bool = False) -> Iterator[Fold]:
    """What the model learns in each of the `parts`, one after the other."""
    if _is_encoded(model):
        yield from learnt_from_tables(model, rows, encoded_for_folds(model, rows, parts, one_by_one=one_by_one))
        return
    for train, test in steps(parts):
        weight = rows.weight[train]
        weights = None if rows.alike else weight
        fold, known = _learnt(model, _safe_indexing(rows.X, train), _safe_indexing(rows.labels, train), weights)
        yield Fold(fold, known, rows.weight_by_class(train), test, _safe_indexing(rows.X, test))


def learnt_from_tables(model: Any, rows: Rows, folds: Iterable[EncodedFold]) -> Iterator[Fold]:
    """What the model learns from rows that are encoded."""
    labels = Labels(len(rows.classes), rows.truth, None if rows.alike else rows.weight)
    for table, train, test in folds:
        theirs = labels.take(train)
        checked_weights(theirs.weight, len(train))
        fold = model._learnt_from(table.take(train), theirs)
        yield Fold(fold, fold.classes_, rows.weight_by_class(train), test, table.take(test))


def encoded_for_folds(
    model: Any, rows: Rows, parts: Sequence[Part], *, one_by_one: bool = False
) -> Iterator[EncodedFold]:
    """All rows for each of the `parts`, encoded under the cut points and the pivots of those that are learnt from. Of
    rows left out `one_by_one` pivots, which need only lie near the data, are those of all, and so is the encoding where
    nothing is cut."""
    schema = _schema_of_folds(model)
    weight = None if rows.alike else rows.weight
    reader = model._copy({"schema": schema})
    frame, labels, _target = reader._read(rows.X, rows.labels, weight, model.target_, reset=False)
    is_own = schema is not model.schema_ or (not one_by_one and any(v.numeric for v in schema))
    table = None if is_own else reader._table(frame, schema, unseen="error", missing=model.missing)
    for train, test in steps(parts):
        if is_own:
            learnt = reader._observed(_safe_indexing(frame, train), labels.take(train), None)
            table = reader._table(frame, learnt, unseen="error", missing=model.missing)
        yield EncodedFold(table, train, test)


def _is_encoded(model: Any) -> bool:
    """Whether the rows are encoded before any fold learns from them: of a generative model whose texts, if any, have
    their terms from elsewhere."""
    if not hasattr(model, "_learnt_from") or "schema" not in model.get_params(deep=False):
        return False
    schema = _schema_of_folds(model)
    return schema is model.schema_ or not any(v.textual for v in schema)


def way_of_cutting(model: Any) -> Hashable | None:
    """What is alike in fitted models that cut numbers into the same intervals, where each fold finds its own; None
    where it finds none."""
    if not _is_encoded(model) or (schema := _schema_of_folds(model)) is model.schema_:
        return None
    cut = tuple((v.name, model._cutting_method(v)) for v in schema if v.numeric)
    return schema, cut, model.bins, model.missing


def _schema_of_folds(model: Any) -> Schema:
    """The model's schema without the cut points and vocabularies that its fit has found; those that it was given stay
    and one that was given open grows from what it was."""
    given = {v.name: v for v in model.schema or ()}
    variables = []
    for v in model.schema_:
        own = given.get(v.name)
        if v.cuts is not None and (own is None or own.cuts is None):
            v = replace(v, cuts=None, levels=(), declared=False)
        elif v.textual and not (own is not None and own.declared):
            v = replace(v, levels=() if own is None else own.levels, declared=False)
        variables.append(v)
    if all(a is b for a, b in zip(variables, model.schema_, strict=True)):
        return model.schema_  # type: ignore[no-any-return]
    return Schema(tuple(variables))


def _without_terms(schema: Schema, X: Any) -> Schema:
    """The schema with a closed, empty vocabulary for each text that these rows have no term of."""

    def settled(v: Variable) -> Variable:
        try:
            if v.textual:
                encode_texts(X[v.name], v, grow=True)
        except NoTerms:
            return replace(v, declared=True)
        return v

    return Schema(tuple(map(settled, schema)))


def _learnt(model: Any, X: Any, y: Any, weight: Array | None) -> tuple[Any, NDArray[Any]]:
    """A clone of the model fitted to other rows, and its classes: for one that counts, all of them, met or not."""
    fold = clone(model)
    if hasattr(model, "partial_fit") and hasattr(model, "stats_"):
        if "schema" in fold.get_params(deep=False):
            fold.set_params(schema=_schema_of_folds(model))
        try:
            fold.partial_fit(X, y, model.classes_, weight)
        except NoTerms:  # a text that these rows have no term of says nothing of the others
            fold.set_params(schema=_without_terms(fold.schema, X))
            fold.partial_fit(X, y, model.classes_, weight)
    else:
        step = f"{fold.steps[-1][0]}__" if hasattr(fold, "steps") else ""
        fold.fit(X, y, **({} if weight is None else {f"{step}sample_weight": weight}))
    return fold, np.asarray(fold.classes_)


def splits(truth: NDArray[np.intp], together: NDArray[np.intp] | None, folds: Any, seed: int) -> tuple[Any, Message]:
    """(train, test) positions of the folds of rows with these classes (n,), stratified; rows that stand `together` (n,)
    stay so. And what was done, in words. `folds` is how many, or (n,) which one each row is in.

    Raises TableError where a class or the groups are too few for two folds; ParameterError where not every row has a
    fold.
    """
    if np.ndim(folds):
        which, of = np.unique(np.asarray(folds), return_inverse=True)
        if len(of) != len(truth) or len(which) < 2:
            raise ParameterError(
                "folds= holds {n} numbers of {k} folds for {rows} rows; give each row one, of two folds or more",
                n=len(of),
                k=len(which),
                rows=len(truth),
            )
        given = [(np.flatnonzero(of != i), np.flatnonzero(of == i)) for i in range(len(which))]
        return given, Message("{k} folds, as given", {"k": len(which)})
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold  # with scipy.stats, half a second

    sizes = np.bincount(truth)
    if together is not None:
        k = min(folds, len(np.unique(together)), int(sizes.max()))
        if k < 2:
            raise TableError("the group column has one value only; risk cannot be estimated on groups left out")
        splitter = StratifiedGroupKFold(k, shuffle=True, random_state=seed)
        with warnings.catch_warnings():  # a class may be absent from a fold: it keeps its column
            warnings.filterwarnings("ignore", message="The least populated class")
            splits = list(splitter.split(truth, truth, together))
        return splits, Message("{k} folds, groups kept together", {"k": k})
    k = min(folds, int(sizes[sizes > 0].min()))
    if k < 2:
        raise TableError(
            "a class has one row only, so it cannot be held out and learnt from at once; add rows or leave the class "
            "out"
        )
    scheme = Message(
        "{k} folds, stratified" if k == folds else "{k} folds, stratified (the rarest class has {k} rows)", {"k": k}
    )
    return StratifiedKFold(k, shuffle=True, random_state=seed).split(truth, truth), scheme
