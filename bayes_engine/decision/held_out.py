"""Posteriors of rows by models that have not seen them: leave-one-out or folds, everything learnt anew where it was
chosen from the rows.

They are computed once; every loss, prior of use and amount is applied to them afterwards (`decision.evaluate`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from bayes_engine.decision.decision_boundaries import log_proba, log_proba_of
from bayes_engine.errors import NoTerms, ParameterError, TableError
from bayes_engine.language import Listing, Message
from bayes_engine.ledger import Status, prior_shift
from bayes_engine.logspace import Array, normalize
from bayes_engine.priors import given_prior
from bayes_engine.progress import steps, tick
from bayes_engine.table.dataframes import to_pandas
from bayes_engine.table.encode import Table, encode_texts, positions
from bayes_engine.table.schema import Schema, Variable

TINY = 60
"""Tables of at most this many rows are evaluated by leaving out one row at a time."""

KEPT = {
    "structure": Message("structure"),
    "cut points": Message("cut points"),
    "vocabulary": Message("vocabulary"),
}
"""What a fit chooses from its rows, which each row may have had a say in that is judged by it."""

ANEW = Message("leave-one-out, everything learnt anew")


@dataclass(frozen=True)
class HeldOut:
    """Posteriors of rows by models that had not seen them.

    `log_posterior` (n, K) and the `prior` (n, K) of the model that gave it, or (F, K) those of F models, of which
    `fold` (n,) names each row's; `truth` (n,) class positions; `weight` (n,); `scheme` says how they were held out;
    `groups` (n,) numbers the groups that rows come in, where they do. `kept` names what each row has had a say in
    nevertheless: "structure", "cut points", "vocabulary".
    """

    classes: tuple[Any, ...]
    log_posterior: Array
    prior: Array
    truth: NDArray[np.intp]
    weight: Array
    scheme: Message
    groups: NDArray[np.intp] | None = None
    fold: NDArray[np.integer[Any]] | None = None
    kept: tuple[str, ...] = ()

    @property
    def prior_by_row(self) -> Array:
        """(n, K) the prior of the model that gave each row's posterior."""
        return self.prior if self.fold is None else self.prior[self.fold]

    def rows(self, rows: slice) -> HeldOut:
        """These rows alone."""
        prior, fold = (self.prior[rows], None) if self.fold is None else (self.prior, self.fold[rows])
        return replace(
            self, log_posterior=self.log_posterior[rows], prior=prior, fold=fold, truth=self.truth[rows],
            weight=self.weight[rows], groups=None if self.groups is None else self.groups[rows],
        )  # fmt: skip

    def log_posterior_in_use(self, prior_of_use: Mapping[Any, float] | None = None) -> tuple[Array, NDArray[np.int8]]:
        """(n, K) log posteriors up to a constant a row, and (n,) statuses, shifted as in `posterior`: each class in
        one piece of memory, where the largest and the sum of rows of few classes are found many times as fast."""
        tick()
        joint = self.log_posterior
        if prior_of_use is not None:
            shift = _shift_by_row(self.prior, given_prior(prior_of_use, self.classes))
            joint = joint + (shift if self.fold is None else shift[self.fold])
        joint = np.asfortranarray(joint)
        nowhere = np.isneginf(joint).all(axis=1)
        return joint, np.where(nowhere, Status.IMPOSSIBLE, Status.OK).astype(np.int8)

    def posterior(self, prior_of_use: Mapping[Any, float] | None = None) -> tuple[Array, NDArray[np.int8]]:
        """(n, K) posteriors and (n,) statuses, shifted from each model's own prior to `prior_of_use` if given."""
        joint, status = self.log_posterior_in_use(prior_of_use)
        tick()
        return normalize(joint), status

    def answered(self, prior_of_use: Mapping[Any, float] | None = None) -> tuple[Array, NDArray[np.bool_]]:
        """(n, K) log posteriors as `log_posterior_in_use` has them, and (n,) which rows have one. Raises TableError
        where none has."""
        joint, status = self.log_posterior_in_use(prior_of_use)
        rows = status == Status.OK
        refuse_without_posterior(rows)
        return joint, rows

    def in_order(self, classes: tuple[Any, ...]) -> HeldOut:
        """The same rows with the classes in another order (a table's own, say); one that the model has not met is
        impossible to it."""
        positions = [classes.index(c) for c in self.classes]
        log_posterior = np.full((len(self.truth), len(classes)), -np.inf)
        prior = np.zeros((len(self.prior), len(classes)))
        log_posterior[:, positions], prior[:, positions] = self.log_posterior, self.prior
        truth = np.asarray(positions, dtype=np.intp)[self.truth]
        return replace(self, classes=classes, log_posterior=log_posterior, prior=prior, truth=truth)


def refuse_without_posterior(rows: NDArray[np.bool_]) -> None:
    """Raises TableError where none of the `rows` (n,) has a posterior."""
    if not rows.any():
        raise TableError("no held-out row has a posterior; smooth the model (alpha > 0)")


def _shift_by_row(prior: Array, use: Any) -> Array:
    """(n, K) log π_use − log π_model for a model prior of each row; a class a fold's model excludes stays excluded."""
    floor = np.where(prior > 0, prior, 1.0)
    return np.where(prior > 0, prior_shift(floor, np.broadcast_to(np.asarray(use, dtype=float), prior.shape)), 0.0)


def held_out(
    model: Any,
    X: Any,
    y: Any,
    *,
    folds: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    seed: int = 0,
    refit: bool = True,
    in_folds: bool = False,
) -> HeldOut:
    """Held-out posteriors of a fitted classifier on its own rows: leave-one-out up to 60 rows, stratified folds beyond,
    or `in_folds` of however few; rows of one group stay together. Models of the same rows and seed share their splits.
    `folds` is how many, or (n,) which fold each row is in.

    X (n, d) and y (n,) are the rows the model was fitted on, `groups` and `sample_weight` (n,) go with them. Each row's
    model is learnt from the others alone: its structure, its cut points and the vocabulary of its texts too; the levels
    of a discrete column are its domain and stay. Where a generative model chose none of these, that is its statistics
    one row short, and nothing is fitted. Without `refit` it is so for all of them, up to 60 rows: quick, but structure,
    cut points and vocabulary stay those that the row itself had a say in; `scheme` says which, and `kept` names them. A
    classifier that states no prior has that of the rows it learnt from.
    Raises TableError where a class or the groups are too few for two folds, or y holds a class that the model has not
    met; ParameterError where the model is not fitted, or gives no probabilities.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X, y = pd.DataFrame({"size": [1.0, 2.0, 3.0, 9.0, 10.0, 11.0]}), ["small"] * 3 + ["big"] * 3
    >>> held = held_out(NaiveBayes().fit(X, y), X, y)
    >>> str(held.scheme), held.posterior()[0].argmax(axis=1).tolist()
    ('leave-one-out, exact', [1, 1, 1, 0, 0, 0])
    """
    rows = _rows(model, X, y, groups, sample_weight)
    alone = groups is None and len(rows.truth) <= TINY and not in_folds and np.ndim(folds) == 0
    chosen = getattr(model, "_chosen_from_rows", ("structure",))
    if alone and not (refit and chosen) and hasattr(model, "leave_one_out_log_proba"):
        left = np.repeat(model.stats_.class_weight[None, :], len(rows.truth), axis=0)
        left[np.arange(len(rows.truth)), rows.truth] -= rows.weight
        prior = model._prior_of(np.maximum(left, 0.0), rows.classes)
        log_posterior = model.leave_one_out_log_proba(rows.X, y, sample_weight)
        scheme = _kept(chosen) if chosen else Message("leave-one-out, exact")
        return HeldOut(rows.classes, log_posterior, prior, rows.truth, rows.weight, scheme, kept=chosen)
    if alone and _is_encoded_once(model):
        anew = list(model._log_posteriors_learnt_anew(rows.X, y, sample_weight))
        log_posterior, prior = (np.stack(part) for part in zip(*anew, strict=True))
        return HeldOut(rows.classes, log_posterior, prior, rows.truth, rows.weight, ANEW)
    if alone:
        every = np.arange(len(rows.truth))
        parts: Any = [(np.delete(every, i), every[i : i + 1]) for i in every]
        scheme = ANEW
    else:
        parts, scheme = splits(rows.truth, rows.groups, folds, seed)
        parts = list(parts)
    return _judged(rows, scheme, [partial(_fold, model, rows, train, test) for train, test in parts])


def _kept(chosen: tuple[str, ...]) -> Message:
    return Message("leave-one-out, {what} kept", {"what": Listing([KEPT[what] for what in chosen])})


class _Rows(NamedTuple):
    """Rows to be held out, checked: X (n, d) with their `labels` (n,), under the target's name if it has one, of which
    `truth` (n,) are the places among the classes; `weight` (n,), None of them where all count alike."""

    X: Any
    labels: Any
    classes: tuple[Any, ...]
    truth: NDArray[np.intp]
    weight: Array
    alike: bool
    groups: NDArray[np.intp] | None


class _Fold(NamedTuple):
    """A model that has learnt from all rows but some, its classes, the weight by class of the rows that it learnt from,
    and the positions of those that it has not seen."""

    model: Any
    classes: NDArray[Any]
    learnt: Array
    test: NDArray[np.intp]


def _rows(model: Any, X: Any, y: Any, groups: Any, sample_weight: Any) -> _Rows:
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
    return _Rows(X, named, classes, truth, weight, sample_weight is None, together)


def _fold(model: Any, rows: _Rows, train: NDArray[np.intp], test: NDArray[np.intp]) -> _Fold:
    weight = rows.weight[train]
    weights = None if rows.alike else weight
    fold, known = _learnt(model, _safe_indexing(rows.X, train), _safe_indexing(rows.labels, train), weights)
    learnt = np.bincount(rows.truth[train], weight, minlength=len(rows.classes)).astype(float)
    return _Fold(fold, known, learnt, test)


def _judged(rows: _Rows, scheme: Message, folds: Sequence[Callable[[], _Fold]], table: Table | None = None) -> HeldOut:
    """What folds, one after the other, say of the rows that they have not seen; of their `table` where all folds encode
    them alike."""
    log_posterior = np.full((len(rows.truth), len(rows.classes)), -np.inf)
    prior = np.zeros((len(folds), len(rows.classes)))
    of = np.zeros(len(rows.truth), dtype=np.min_scalar_type(len(folds)))
    for i, fold in enumerate(steps(folds)):
        model, known, learnt, test = fold()
        columns = np.array([rows.classes.index(c) for c in known.tolist()])
        if table is None:
            log_p = log_proba(model, _safe_indexing(rows.X, test))
        else:
            log_p = log_proba_of(model, table.take(test))
        log_posterior[np.ix_(test, columns)] = log_p
        stated = getattr(model, "prior_by_class", None)  # any other has learnt the frequencies of its rows
        prior[i] = learnt / learnt.sum() if stated is None else [stated.get(c, 0.0) for c in rows.classes]
        of[test] = i
    return HeldOut(rows.classes, log_posterior, prior, rows.truth, rows.weight, scheme, rows.groups, of)


class Folds:
    """The models that `held_out` learns from all folds but one, kept: under other estimation parameters, such as α,
    they judge the rows without counting any of them again.

    The arguments are those of `held_out`, for a generative model and rows in folds; it raises what that raises.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X, y = pd.DataFrame({"sound": list("abab" * 5)}), list("nnyy" * 5)
    >>> model = NaiveBayes().fit(X, y)
    >>> kept, anew = Folds(model, X, y).held_out(alpha=9.0), held_out(model.with_params(alpha=9.0), X, y, in_folds=True)
    >>> bool((kept.log_posterior == anew.log_posterior).all())
    True
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        *,
        folds: Any = 5,
        groups: Any = None,
        sample_weight: Any = None,
        seed: int = 0,
    ) -> None:
        self._rows = _rows(model, X, y, groups, sample_weight)
        parts, self._scheme = splits(self._rows.truth, self._rows.groups, folds, seed)
        self._folds = [_fold(model, self._rows, train, test) for train, test in steps(list(parts))]
        self._table = model._encode(self._rows.X) if _is_encoded_once(model) else None
        if self._table is not None:  # then nobody asks for the rows as they were given
            self._rows = self._rows._replace(X=None, labels=None)

    def held_out(self, **parameters: Any) -> HeldOut:
        """As `held_out` of the model under other estimation parameters.

        Raises ParameterError for one that acts in counting (`with_params`).
        """
        folds = [partial(_under, fold, parameters) for fold in self._folds]
        return _judged(self._rows, self._scheme, folds, self._table)


def _under(fold: _Fold, parameters: Mapping[str, Any]) -> _Fold:
    return fold._replace(model=fold.model.with_params(**parameters))


def _is_encoded_once(model: Any) -> bool:
    """Whether rows held out are read as all rows were. A text's terms and a number's cut points are those of the rows
    learnt from."""
    if not hasattr(model, "_log_posteriors_learnt_anew") or "schema" not in model.get_params(deep=False):
        return False
    return _schema_of_folds(model) is model.schema_


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
