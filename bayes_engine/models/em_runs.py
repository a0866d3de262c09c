"""One run of EM, shown whole: a Gaussian mixture from one start, and naive Bayes with labels that are known but hidden.

`GaussianMixture.fit` drops a run that collapses and may begin again; here a start is followed to its own end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.em import Collapse, EMTrace, Runs, responsibilities
from bayes_engine.errors import TableError, listen
from bayes_engine.factors import Factor
from bayes_engine.factors.class_prior import ClassPrior
from bayes_engine.factors.gaussian import GaussianLeaf
from bayes_engine.factors.leaf import Leaf
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.gaussian_naive_bayes import GaussianNB
from bayes_engine.models.mixture import GaussianMixture, mixture_table
from bayes_engine.models.mixture_components import (
    Components,
    MixtureParameters,
    StandardizedRows,
    standardized,
    to_natural,
    to_standard,
)
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from bayes_engine.priors import checked_whole
from bayes_engine.progress import steps

SIDE_BY_SIDE = 200_000
"""Responsibilities of runs that climb side by side, at most: with more of them a step is all work, and one of several
runs saves nothing."""


@dataclass(frozen=True)
class GaussianMixtureRun:
    """A run: the fitted `model`, or the model as it stood before it collapsed, with the engine's `collapse`."""

    model: GaussianMixture
    collapse: Collapse | None
    notes: tuple[Message, ...]

    @property
    def trace(self) -> EMTrace[MixtureParameters]:
        return self.model.trace_


def run_em(
    X: Array, k: int, start: Any, *, seed: int = 0, max_iter: int = 300, **parameters: Any
) -> GaussianMixtureRun:
    """EM from one start, "kmeans" and "random" by `seed`, or a start given as `GaussianMixture` takes it; components
    keep the order in which they begin. `parameters` are the mixture's.

    Raises what `GaussianMixture.fit` raises.
    """
    begin = _begun(X, k, start, seed, parameters)
    tried = _tried(X, k, begin, max_iter, parameters)
    if (best := tried.runs.best) is not None:
        model = tried.model
        model.prior_ = model.prior
        model._take(tried.rows, tried.runs, best, ordered=False)
        with listen() as warned:
            model._warn(())
        return GaussianMixtureRun(model, None, tuple(warned))
    steps, lost = 0, max_iter  # how far does it get?
    while lost - steps > 1:
        middle = min(2 * steps + 1, (steps + lost) // 2)
        if _tried(X, k, begin, middle, parameters).runs.best is None:
            lost = middle
        else:
            steps = middle
    with listen():
        model = GaussianMixture(k, init=begin, max_iter=steps, **parameters).fit(X)
    return GaussianMixtureRun(model, tried.runs.collapsed[0], ())


@dataclass(frozen=True, eq=False)
class RunEnd:
    """Where a run ends: its objective, the `parameters`, and the `way` (T, K, 2) of the means in the first two columns,
    or in the only one."""

    objective: float
    parameters: MixtureParameters
    way: Array


def ends_of_runs(
    X: Array, k: int, starts: Sequence[tuple[str, int]], *, max_iter: int = 300, **parameters: Any
) -> list[RunEnd | None]:
    """Where `run_em` would end from each start with its seed, None where it would collapse."""
    model, rows = _prepared(X, k, max_iter, parameters)
    together = max(SIDE_BY_SIDE // (rows.n * k), 1)
    ends: list[RunEnd | None] = []
    for first in steps(range(0, len(starts), together)):
        begun = [_begun(X, k, start, seed, parameters) for start, seed in starts[first : first + together]]
        climbed = model._climb_side_by_side(rows, begun)
        ends += [None if isinstance(run, Collapse) else _end(model, rows, run) for run in climbed]
    return ends


def _end(model: GaussianMixture, rows: StandardizedRows, run: EMTrace[Components]) -> RunEnd:
    means = np.stack([step.parameters.means[:, :2] for step in run.steps])
    theta = to_natural(run.last.parameters, np.arange(model.n_components), model.covariance, rows.center, rows.scale)
    return RunEnd(run.last.objective, theta, means * rows.scale[:2] + rows.center[:2])


def _begun(X: Array, k: int, start: Any, seed: int, parameters: dict[str, Any]) -> Any:
    """The start itself: one by its name becomes parameters."""
    if not isinstance(start, str):
        return start
    first: Any = GaussianMixture(k, init=start, max_iter=0, random_state=seed, **parameters).fit(X)
    return first.parameters_


@dataclass(frozen=True)
class _Tried:
    """The one run from a start, without the second chances that a fit gives; of a `model`, on its rows."""

    model: GaussianMixture
    rows: StandardizedRows
    runs: Runs[Components]


def _tried(X: Array, k: int, begin: Any, steps: int, parameters: dict[str, Any]) -> _Tried:
    model, rows = _prepared(X, k, steps, parameters)
    return _Tried(model, rows, model._climb(rows, [begin], np.random.default_rng(0), model.prior))


def _prepared(X: Array, k: int, steps: int, parameters: dict[str, Any]) -> tuple[GaussianMixture, StandardizedRows]:
    """A mixture that is not fitted yet, and its rows."""
    model = GaussianMixture(k, max_iter=steps, **parameters)
    model._check()
    rows = standardized(model._matrix(X, reset=True))
    model._check_rows(rows)
    return model, rows


def at_step(model: GaussianMixture, theta: MixtureParameters, X: Array) -> Array:
    """(n, K) the responsibilities of rows under the parameters of one step."""
    rows = standardized(np.asarray(X, dtype=float), model._center, model._scale)
    joint = model._problem(rows, None).joint(to_standard(theta, model._center, model._scale))
    return responsibilities(joint, hard=bool(model.hard)).responsibilities


def nearest_rows(X: Array, points: Iterable[tuple[float, float]]) -> Array:
    """(K, d) for each point of the plane of the first two columns the complete row nearest to it there, in standard
    deviations: a place in the plane becomes a place among all columns."""
    whole = X[~np.isnan(X).any(axis=1)]
    if not len(whole):
        raise TableError(
            "no row is complete, so no start can be set by hand; let it be random, or use two columns only"
        )
    plane = whole[:, :2]
    scale = np.where((spread := plane.std(axis=0)) > 0, spread, 1.0)
    away = ((plane[None] - np.asarray(list(points))[:, None]) / scale) ** 2
    return np.asarray(whole[away.sum(axis=2).argmin(axis=1)])


def most_discriminating_columns(X: Array, codes: NDArray[np.intp]) -> tuple[int, int]:
    """The two columns of which the classes explain the largest share of the variance (η²), in their own order.

    >>> X = np.array([[0.0, 0.0, 1.0], [1.0, 0.1, 0.9], [0.1, 1.0, 0.0], [0.9, 1.1, 0.2]])
    >>> most_discriminating_columns(X, np.array([0, 0, 1, 1]))
    (1, 2)
    """
    known = ~np.isnan(X)
    x = np.where(known, X, 0.0)
    one = one_hot(codes, int(codes.max(initial=0)) + 1)
    count, total = one.T @ known, one.T @ x
    mean = x.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    between = (count * (total / np.maximum(count, 1.0) - mean) ** 2).sum(axis=0)
    whole = (known * (x - mean) ** 2).sum(axis=0)
    best = np.argsort(-between / np.where(whole > 0, whole, np.inf), kind="stable")[:2]
    return int(best.min()), int(best.max())


def one_hot(codes: NDArray[np.intp], k: int) -> Array:
    """(n, k) responsibilities of labels that are seen: a start."""
    return np.eye(k)[codes]


# every label seen ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SupervisedStep:
    """The M step with every label seen beside the classifier it is: `climb` has one step, `peer` is the classifier's
    name ("" where the form has none), `difference` the largest of any weight, mean or covariance (in standard
    deviations), `alike` the rows that both decide alike, of the `rows` that are complete."""

    climb: GaussianMixtureRun
    peer: str
    difference: float
    alike: int
    rows: NDArray[np.intp]


PEERS: dict[str, type[Any]] = {
    "full": QuadraticDiscriminantAnalysis,
    "tied": LinearDiscriminantAnalysis,
    "diagonal": GaussianNB,
}
"""What a mixture is, its labels seen, by its form of covariance."""


def supervised_step(
    X: Array,
    codes: NDArray[np.intp],
    k: int,
    covariance: str,
    *,
    columns: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
) -> SupervisedStep:
    """One M step on labels that are all seen, and the classifier of the same form fitted by its own code.

    Rows with a missing cell are left out, as discriminant analysis does. Raises Collapse where a class has no spread,
    and what the classifiers' `fit` raises, which speaks of `columns` (d names) and `classes` (K labels).
    """
    kept = np.flatnonzero(~np.isnan(X).any(axis=1))
    x, y = X[kept], codes[kept]
    empty = np.bincount(y, minlength=k) == 0
    if empty.any():
        first = int(empty.argmax())
        raise TableError("class {k} has no complete row", k=first + 1 if classes is None else classes[first])
    run = run_em(x, k, one_hot(y, k), covariance=covariance, max_iter=0)
    if covariance not in PEERS:
        return SupervisedStep(run, "", 0.0, 0, kept)
    peer = PEERS[covariance]()
    if isinstance(peer, GaussianNB):
        peer.set_params(var_smoothing=0.0)
    labels = list(range(k) if classes is None else classes)
    frame = pd.DataFrame(x, columns=None if columns is None else list(columns))
    peer.fit(frame, pd.Series([labels[c] for c in y], dtype=None if classes is None else object))
    order = [list(peer.classes_).index(label) for label in labels]  # the peer sorts its classes
    theta, scale = run.trace.last.parameters, run.model._scale
    if isinstance(peer, GaussianNB):
        means, own = np.asarray(peer.theta_), np.asarray(peer.var_)[:, :, None] * np.eye(x.shape[1])
        prior = np.asarray(peer.class_prior_)
    else:
        means, own, prior = peer.means_, np.asarray(peer.covariance_), peer.priors_
    own = own if own.ndim == 2 else own[order]
    means, prior = means[order], prior[order]
    apart = (
        np.abs(theta.weights - prior).max(),
        np.abs((theta.means - means) / scale).max(),
        np.abs((theta.full() - own) / np.outer(scale, scale)).max(),
    )
    decided = np.argsort(order)[np.asarray(peer.predict_proba(frame)).argmax(axis=1)]
    alike = int((run.model.predict(x) == decided).sum())
    return SupervisedStep(run, type(peer).__name__, float(max(apart)), alike, kept)


def crossed(shares: Array, codes: NDArray[np.intp], classes: int) -> NDArray[np.intp]:
    """(K, C) how many rows of each class have each component as their likeliest.

    >>> crossed(np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]), np.array([0, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    table = np.zeros((shares.shape[1], classes), dtype=np.intp)
    np.add.at(table, (shares.argmax(axis=1), codes), 1)
    return table


# how many components ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InformationCriteria:
    """`mixture_table` over K, as far as K could be fitted, with what the fits said."""

    table: pd.DataFrame
    notes: tuple[tuple[int, Message], ...]


def information_criteria(X: Array, most: int, **parameters: Any) -> InformationCriteria:
    """BIC, AIC and ICL for K = 1 … `most`; a K for which there are too few rows ends the table."""
    checked_whole("most", most, 1)
    lines: list[pd.DataFrame] = []
    notes: list[tuple[int, Message]] = []
    for k in steps(range(1, most + 1)):
        with listen() as warned:
            try:
                lines.append(mixture_table(X, [k], random_state=0, **parameters))
            except (TableError, Collapse):
                if k == 1:
                    raise
                break
        notes += [(k, note) for note in warned]
    return InformationCriteria(pd.concat(lines), tuple(notes))


def hidden_rows(n: int, share: float, seed: int, flipped: Sequence[int] = ()) -> NDArray[np.bool_]:
    """(n,) which labels are hidden: a `share` of the rows by `seed`, a larger share hiding more of the same, with the
    rows in `flipped` turned over."""
    hidden = np.zeros(n, dtype=bool)
    hidden[np.random.default_rng(seed).permutation(n)[: round(share * n)]] = True
    turned = [row for row in flipped if 0 <= row < n]
    hidden[turned] = ~hidden[turned]
    return hidden


@dataclass(frozen=True, eq=False)
class HiddenLabelRun:
    """A run of EM over labels that are known to us but `hidden` (n,) from it; `truth` (n,) are positions in `levels`.

    `named` says whether a class's own rows tell what it is: without a single label classes have no names.
    """

    model: SemiSupervisedNB
    levels: tuple[Any, ...]
    hidden: NDArray[np.bool_]
    truth: NDArray[np.intp]
    notes: tuple[Message, ...]
    _table: Any

    @property
    def trace(self) -> EMTrace[Factor]:
        return self.model.trace_

    @property
    def named(self) -> bool:
        return not self.hidden.all()

    @cached_property
    def _order(self) -> list[int]:
        sorted_levels = self.model.classes_.tolist()
        return [sorted_levels.index(c) for c in self.levels]

    @cached_property
    def shares(self) -> tuple[Array, ...]:
        """(n, C) responsibilities of every step, columns as `levels`."""
        shares = []
        for step in self.trace.steps:
            r = step.responsibilities
            if r is None:  # too large to be kept by the trace
                r = responsibilities(step.parameters.log(self._table), hard=self.trace.hard).responsibilities
            r = r[:, self._order].copy()
            r[~self.hidden] = np.eye(len(self.levels))[self.truth[~self.hidden]]
            shares.append(r)
        return tuple(shares)

    def right(self, step: int) -> int:
        """How many hidden rows have their true class as the likeliest."""
        guess = self.shares[step][self.hidden].argmax(axis=1)
        return int((guess == self.truth[self.hidden]).sum())

    def most_moved(self, most: int) -> NDArray[np.intp]:
        """At most so many hidden rows, those whose responsibilities moved farthest on the whole way; by class, then by
        their place in the table."""
        rows = np.flatnonzero(self.hidden)
        travelled = np.zeros(len(rows))
        for before, after in pairwise(self.shares):
            travelled += np.abs(after[rows] - before[rows]).sum(axis=1)
        chosen = rows[np.sort(np.argsort(-travelled, kind="stable")[:most])]
        return chosen[np.argsort(self.truth[chosen], kind="stable")]

    def normal(self, step: int, column: str) -> tuple[Array, Array] | None:
        """(C,) means and (C,) variances of a numeric column in each class after a step."""
        part = self.trace.steps[step].parameters.part_of(column)
        if part is None or cast(Leaf, part[0]).form != "gaussian":
            return None
        leaf = cast(GaussianLeaf, part[0])
        variance = np.broadcast_to(leaf.variance, leaf.moments.mean.shape)
        return (leaf.moments.pivot + leaf.moments.offset)[self._order], variance[self._order]

    @cached_property
    def weights(self) -> Array:
        """(T, C) the class prior in every step."""
        priors = [cast(ClassPrior, next(s.parameters.leaves())).p for s in self.trace.steps]
        return np.stack(priors)[:, self._order]

    def plane(self, across: str, up: str) -> tuple[Array, Array]:
        """(T, C, 2) means and (T, C, 2, 2) covariances of two numeric columns in every step: within a class they are
        independent."""
        means = np.zeros((len(self.shares), len(self.levels), 2))
        covariances = np.zeros((*means.shape, 2))
        for step in range(len(self.shares)):
            for axis, column in enumerate((across, up)):
                marginal = self.normal(step, column)
                assert marginal is not None
                means[step, :, axis], covariances[step, :, axis, axis] = marginal
        return means, covariances


def run_with_hidden_labels(
    X: pd.DataFrame,
    y: pd.Series,
    hidden: NDArray[np.bool_],
    estimator: NaiveBayes,
    *,
    weight: Array | None = None,
    **parameters: Any,
) -> HiddenLabelRun:
    """Naive Bayes by EM, the labels in `hidden` kept from it. `y` is categorical, its categories all classes;
    `parameters` are SemiSupervisedNB's. Where the labels left make a class collapse at once, raises Collapse."""
    levels = tuple(y.cat.categories)
    labels = pd.Series(y.to_numpy(dtype=object), name=y.name, dtype=object)
    labels[hidden] = None
    with listen() as warned:
        model = SemiSupervisedNB(estimator, classes=list(levels), **parameters).fit(X, labels, weight)
    notes = tuple(warned)
    inner = model.estimator_
    return HiddenLabelRun(model, levels, hidden, np.asarray(y.cat.codes, dtype=np.intp), notes, inner._encode(X))


def run_with_nameless_classes(
    X: pd.DataFrame,
    y: pd.Series,
    k: int,
    estimator: NaiveBayes,
    *,
    weight: Array | None = None,
    **parameters: Any,
) -> HiddenLabelRun:
    """Naive Bayes by EM with no label at all and `k` classes, however many labels there are: of texts the mixture of
    unigrams. `y` is what the classes are compared with at the end; the classes are 0 … k − 1. Raises Collapse."""
    with listen() as warned:
        model = SemiSupervisedNB(estimator, classes=k, init="random", **parameters).fit(X, None, weight)
    inner = model.estimator_
    return HiddenLabelRun(model, tuple(range(k)), np.ones(len(X), dtype=bool), np.asarray(y.cat.codes, dtype=np.intp),
                          tuple(warned), inner._encode(X))  # fmt: skip


def ceiling(X: pd.DataFrame, y: pd.Series, hidden: NDArray[np.bool_], estimator: NaiveBayes) -> int:
    """How many of the hidden rows naive Bayes has right when every label is seen, those rows' own too.

    >>> X = pd.DataFrame({"mass": [1.0, 5.0, 1.2, 5.5]})
    >>> ceiling(X, pd.Series(pd.Categorical(["a", "b", "a", "b"])), np.array([False, False, True, True]), NaiveBayes())
    2
    """
    with listen():
        joint = estimator.fit(X, y).predict_joint_log_proba(X)
    guess = np.asarray(estimator.classes_, dtype=object)[joint.argmax(axis=1)]
    return int((guess[hidden] == y.to_numpy(dtype=object)[hidden]).sum())
