"""Posteriors of rows by models that have not seen them: leave-one-out or folds, everything learnt anew where it was
chosen from the rows.

They are computed once; every loss, prior of use and amount is applied to them afterwards (`decision.evaluate`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.decision.decision_boundaries import log_proba, log_proba_of
from bayes_engine.decision.fold_models import (
    Fold,
    Rows,
    encoded_for_folds,
    learnt_from_tables,
    learnt_in_folds,
    rows_to_hold_out,
    splits,
    way_of_cutting,
)
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.language import Listing, Message
from bayes_engine.ledger import Status, prior_shift
from bayes_engine.logspace import Array, normalize
from bayes_engine.priors import given_prior
from bayes_engine.progress import steps, tick
from bayes_engine.table.encode import Table

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

    >>> import pandas as pd
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X, y = pd.DataFrame({"size": [1.0, 2.0, 3.0, 9.0, 10.0, 11.0]}), ["small"] * 3 + ["big"] * 3
    >>> held = held_out(NaiveBayes().fit(X, y), X, y)
    >>> str(held.scheme), held.posterior()[0].argmax(axis=1).tolist()
    ('leave-one-out, exact', [1, 1, 1, 0, 0, 0])
    """
    rows = rows_to_hold_out(model, X, y, groups, sample_weight)
    alone = groups is None and len(rows.truth) <= TINY and not in_folds and np.ndim(folds) == 0
    chosen = getattr(model, "_chosen_from_rows", ("structure",))
    if alone and not (refit and chosen) and hasattr(model, "leave_one_out_log_proba"):
        left = np.repeat(model.stats_.class_weight[None, :], len(rows.truth), axis=0)
        left[np.arange(len(rows.truth)), rows.truth] -= rows.weight
        prior = model._prior_of(np.maximum(left, 0.0), rows.classes)
        log_posterior = model.leave_one_out_log_proba(rows.X, y, sample_weight)
        scheme = _kept(chosen) if chosen else Message("leave-one-out, exact")
        return HeldOut(rows.classes, log_posterior, prior, rows.truth, rows.weight, scheme, kept=chosen)
    if alone:
        every = np.arange(len(rows.truth))
        parts: Any = [(np.delete(every, i), every[i : i + 1]) for i in every]
        scheme = ANEW
    else:
        parts, scheme = splits(rows.truth, rows.groups, folds, seed)
        parts = list(parts)
    return _judged(rows, scheme, learnt_in_folds(model, rows, parts, one_by_one=alone), len(parts))


def repeated(
    model: Any,
    X: Any,
    y: Any,
    seeds: Sequence[int],
    *,
    groups: Any = None,
    sample_weight: Any = None,
    read: Sequence[ReadFolds] = (),
) -> list[HeldOut]:
    """`held_out` in folds by each of the seeds; the arguments are its own. `read` are these folds, where they are read
    already: then nobody asks for the rows."""
    if read:
        return [folds.held_out(model) for folds in steps(read)]
    return [
        held_out(model, X, y, groups=groups, sample_weight=sample_weight, seed=seed, in_folds=True)
        for seed in steps(seeds)
    ]


def _kept(chosen: tuple[str, ...]) -> Message:
    return Message("leave-one-out, {what} kept", {"what": Listing([KEPT[what] for what in chosen])})


def _judged(rows: Rows, scheme: Message, folds: Iterable[Fold], n: int) -> HeldOut:
    """What `n` folds, one after the other, say of the rows that they have not seen. They tell how many are done."""
    log_posterior = np.full((len(rows.truth), len(rows.classes)), -np.inf)
    prior = np.zeros((n, len(rows.classes)))
    of = np.zeros(len(rows.truth), dtype=np.min_scalar_type(n))
    for i, (model, known, learnt, test, unseen) in enumerate(folds):
        columns = np.array([rows.classes.index(c) for c in known.tolist()])
        log_p = log_proba_of(model, unseen) if isinstance(unseen, Table) else log_proba(model, unseen)
        log_posterior[np.ix_(test, columns)] = log_p
        stated = getattr(model, "prior_by_class", None)  # any other has learnt the frequencies of its rows
        prior[i] = learnt / learnt.sum() if stated is None else [stated.get(c, 0.0) for c in rows.classes]
        of[test] = i
    return HeldOut(rows.classes, log_posterior, prior, rows.truth, rows.weight, scheme, rows.groups, of)


class ReadFolds:
    """Rows in folds as `held_out` reads them: numbers cut into intervals for each fold by the rows that it learns from.
    All models of one `way_of_cutting` share them.

    The arguments are those of `held_out`, for a model that has a `way_of_cutting`; it raises what that raises.

    >>> import pandas as pd
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> from bayes_engine.models.tan import TAN
    >>> X, y = pd.DataFrame({"size": [1.0, 2.0, 9.0, 10.0] * 5}), list("nnyy" * 5)
    >>> model, tree = NaiveBayes(discretize="mdlp").fit(X, y), TAN().fit(X, y)
    >>> read, anew = ReadFolds(model, X, y).held_out(tree), held_out(tree, X, y, in_folds=True)
    >>> bool((read.log_posterior == anew.log_posterior).all())
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
        self._way = way_of_cutting(model)
        rows = rows_to_hold_out(model, X, y, groups, sample_weight)
        parts, self._scheme = splits(rows.truth, rows.groups, folds, seed)
        parts = list(parts)
        self._folds = list(encoded_for_folds(model, rows, parts))
        self._rows = rows._replace(X=None, labels=None)  # nobody asks for them as they were given

    def held_out(self, model: Any) -> HeldOut:
        """As `held_out` of a model that was fitted on these rows.

        Raises ParameterError for one that cuts numbers otherwise.
        """
        return _judged(self._rows, self._scheme, self._learnt(model), len(self._folds))

    def _learnt(self, model: Any) -> Iterator[Fold]:
        if self._way is None or way_of_cutting(model) != self._way:
            raise ParameterError(
                "these rows were not read for {model}: it cuts other columns, or otherwise",
                model=type(model).__name__,
            )
        return learnt_from_tables(model, self._rows, steps(self._folds))


def read_folds(model: Any, X: Any, y: Any, seeds: Sequence[int], **rest: Any) -> list[ReadFolds]:
    """`ReadFolds` by each of the seeds."""
    return [ReadFolds(model, X, y, seed=seed, **rest) for seed in steps(seeds)]


class Folds:
    """The models that `held_out` learns from all folds but one, kept: under other estimation parameters, such as α,
    they judge the rows without counting any of them again.

    The arguments are those of `held_out`, for a generative model and rows in folds, or these as they are `read`; it
    raises what that raises.

    >>> import pandas as pd
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
        X: Any = None,
        y: Any = None,
        *,
        folds: Any = 5,
        groups: Any = None,
        sample_weight: Any = None,
        seed: int = 0,
        read: ReadFolds | None = None,
    ) -> None:
        if read is None:
            rows = rows_to_hold_out(model, X, y, groups, sample_weight)
            parts, self._scheme = splits(rows.truth, rows.groups, folds, seed)
            parts = list(parts)
            self._folds = list(learnt_in_folds(model, rows, parts))
            self._rows = rows._replace(X=None, labels=None)
        else:
            self._rows, self._scheme = read._rows, read._scheme
            self._folds = list(read._learnt(model))

    def held_out(self, **parameters: Any) -> HeldOut:
        """As `held_out` of the model under other estimation parameters.

        Raises ParameterError for one that acts in counting (`with_params`).
        """
        folds = (fold._replace(model=fold.model.with_params(**parameters)) for fold in steps(self._folds))
        return _judged(self._rows, self._scheme, folds, len(self._folds))
