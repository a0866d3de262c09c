"""Naive Bayes with labels partly or all hidden: EM around a classifier's own two verbs.

The E step is its prediction, the M step its fit: `_count` with the posteriors as soft labels, then `_estimate` (Nigam,
McCallum, Thrun & Mitchell 2000). With all labels hidden, word counts give the mixture of unigrams (not PLSA, in
which each document has a mixture of its own).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayes_engine.em import (
    STOPS,
    Runs,
    Stop,
    Stopping,
    runs,
)
from bayes_engine.errors import ParameterError, TableError, listen
from bayes_engine.factors import Factor
from bayes_engine.ledger import Ledger
from bayes_engine.logspace import Array
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.counted_naive_bayes import BernoulliNB, MultinomialNB
from bayes_engine.models.decision_mixin import DecisionMixin
from bayes_engine.models.estimator_around import EstimatorAround, take_columns
from bayes_engine.models.fit_warnings import warn_of_collapses, warn_unless_converged
from bayes_engine.models.hidden_labels import EstimatedFactor, HiddenLabels, fit_for_em
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.target import encode_target, lone_class
from bayes_engine.priors import checked_number, checked_whole, checked_word
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.labels import checked_weights
from bayes_engine.table.dataframes import to_pandas
from bayes_engine.table.encode import Table
from bayes_engine.table.levels import sort_levels
from bayes_engine.table.schema import Variable

RESTARTS = 5
"""Random starts tried where every run collapsed."""


@dataclass(eq=False, repr=False)
class SemiSupervisedNB(DecisionMixin, EstimatorAround, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes fitted by EM where labels are missing: h(x) = argmax_c P(c) Π_j P(x_j|c), with P(c), P(x_j|c) from
    expected counts.

    `estimator_` is the fitted classifier itself, on expected statistics; predictions, `explain`, `risk` and `decide`
    are its own. With no label hidden it is the supervised fit.

    Parameters
    ----------
    estimator : NaiveBayes (mixed tables; None takes its defaults), MultinomialNB or BernoulliNB (counts, CSR too). What
        is no maximum of a likelihood or a posterior is refused where a label is hidden: smoothing="zero-only",
        variance="unbiased", cut points found by the labels; so are kernel densities, for which there are no steps. The
        vocabulary of a text is that of all rows, those without a label too. A class that falls on the variance floor
        has collapsed.
    hidden : the value that stands for a hidden label, besides NaN and None.
    classes : None: those among the labels; a list of them; a number where all labels are hidden (they are then called
        0, 1, … in descending order of their weight, unless a start is given).
    unlabeled_weight : what a row without a label counts, beside 1.
    hard : put every row wholly into its likeliest class.
    init : "labels" (a fit on the labelled rows; where a class has none, "random") | "random" | responsibilities (n, C).
    n_init : random starts. tol, stop : as in GaussianMixture, per row. max_iter : M steps at most.
    random_state : seed of the starts.

    Attributes: `estimator_`, `trace_` (its parameters are factors), `responsibilities_` (n, C; of a fit to files
    (`bayes_engine.scale.fit_files`) none are kept), `converged_`,
    `n_iter_`, `runs_`, and `stats_`, `factor_`, `schema_`, `target_`, `classes_`, `class_prior_` of the estimator.

    >>> X = pd.DataFrame({"sound": ["dull", "crisp", "dull", "crisp", "dull"], "mass": [1.0, 5.0, 1.2, 5.5, 0.9]})
    >>> model = SemiSupervisedNB(NaiveBayes(tied_variance=True)).fit(X, ["good", "bad", None, None, None])
    >>> model.predict(X).tolist(), model.stats_.class_weight.round(2).tolist()
    (['good', 'bad', 'good', 'bad', 'good'], [2.0, 3.0])
    """

    estimator: GenerativeClassifier | None = None
    _: KW_ONLY
    hidden: Any = None
    classes: int | Sequence[Any] | None = None
    unlabeled_weight: float = 1.0
    hard: bool = False
    init: Any = "labels"
    n_init: int = 1
    tol: float = 1e-6
    stop: Stop = "objective"
    max_iter: int = 500
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to the rows X (n, d) with labels y (n,), some or all of them hidden; y=None hides all.

        Raises what the estimator's `fit` raises; ParameterError where its parameters do not go with EM; Collapse where
        a class loses its rows or its spread in every run. Warns where the iterations run out.
        """
        self._check()
        inner: GenerativeClassifier = clone(self._stated)
        target, codes = self._target(X, y)
        known = codes >= 0
        weight = checked_weights(sample_weight, len(codes))
        counted = np.where(known, 1.0, self.unlabeled_weight) * (1.0 if weight is None else weight)
        if not known.all():
            fit_for_em(inner)
            codes = np.where(known, codes, np.arange(len(codes)) % len(target.levels))  # stands in: EM decides
        levels = pd.Index(target.levels, dtype=object)
        labels = pd.Series(pd.Categorical.from_codes(codes, levels), name=target.name)
        if known.all():
            inner.fit(X, y, sample_weight)
        else:
            with listen():
                inner.fit(X, labels, sample_weight)
        return self._learn(HiddenLabels(inner, inner._encode(X), np.where(known, codes, -1), counted))

    def _learn(self, work: HiddenLabels) -> Self:
        self.estimator_ = work.inner
        take_columns(self, work.inner)
        tol = self.tol if self.stop == "parameters" else self.tol * max(work.total, 1.0)
        stopping = Stopping(self.stop, tol, self.max_iter)
        with listen():  # said once, of the last estimate
            if not work.hides:
                start = EstimatedFactor(work.inner.factor_, work.inner.stats_)
                trace = work.climb(start, replace(stopping, max_iter=0), hard=bool(self.hard))
                tried = Runs((replace(trace, converged=True),), ())
            else:
                tried = self._run(work, stopping)
        best = tried.best
        if best is None:
            raise tried.collapsed[0]
        warn_of_collapses(tried.collapsed)
        self.runs_ = Runs(tuple(t.mapped(lambda theta: theta.factor) for t in tried.traces), tried.collapsed)
        self.trace_ = next(mine for mine, t in zip(self.runs_.traces, tried.traces, strict=True) if t is best)
        self.converged_, self.n_iter_ = best.converged, max(best.n_iter, 1)  # the supervised fit is an M step too
        if best.last.responsibilities is not None:
            self.responsibilities_ = best.last.responsibilities
        if work.hides:
            work.inner._settle(best.last.parameters.stats)
        warn_unless_converged(best)
        return self

    def _run(self, work: HiddenLabels, stopping: Stopping) -> Runs[EstimatedFactor]:
        climb = partial(work.climb, stopping=stopping, hard=bool(self.hard))
        at_random = partial(work.start_at_random, work.generator(self.random_state))
        given = not isinstance(self.init, str)
        starts: list[Callable[[], EstimatedFactor]] = [at_random] * self.n_init
        if given:
            starts = [partial(work.start_given, self.init)]
        elif self.init == "labels" and work.labelled.all():
            starts = [work.start_by_labels]
        climbs = runs(starts, climb)
        if climbs.best is None and not given:
            more = runs([at_random] * RESTARTS, climb)
            climbs = Runs(more.traces, climbs.collapsed + more.collapsed)
        best = climbs.best
        if best is None or given or work.labelled.any():
            return climbs
        order = np.argsort(-best.last.parameters.stats.class_weight, kind="stable")
        first = best.steps[0].parameters
        if first.root is None or (order == np.arange(work.k)).all():
            return climbs
        again_best = climb(work.start_again(first.root, order))
        return Runs(tuple(again_best if t is best else t for t in climbs.traces), climbs.collapsed)

    def _check(self) -> None:
        checked_word("stop", self.stop, STOPS)
        if isinstance(self.init, str):
            checked_word("init", self.init, ("labels", "random"))
        for name, least in (("n_init", 1), ("max_iter", 0)):
            checked_whole(name, getattr(self, name), least)
        for name in ("unlabeled_weight", "tol"):
            checked_number(name, getattr(self, name))
        if not isinstance(self.estimator, NaiveBayes | MultinomialNB | BernoulliNB | None):
            raise ParameterError(
                "estimator={value}; it must be a NaiveBayes, MultinomialNB or BernoulliNB", value=repr(self.estimator)
            )

    def _target(self, X: Any, y: Any) -> tuple[Variable, NDArray[np.intp]]:
        """The target, its classes sorted, and (n,) codes, −1 where hidden."""
        number = isinstance(self.classes, int | np.integer) and not isinstance(self.classes, bool)
        if y is None and self.classes is None:
            raise TableError("requires y to be passed, but the target y is None; where all labels are hidden, say how "
                             "many classes there are: classes=2")  # fmt: skip
        y = to_pandas(y)
        labels = np.full(X.shape[0] if hasattr(X, "shape") else len(X), None) if y is None else _flat(y)
        column = y if isinstance(y, pd.Series) else pd.Series(labels, dtype=object)
        absent = column.isna().to_numpy()
        if self.hidden is not None:
            absent = absent | (column == self.hidden).to_numpy(dtype=bool)
        name = "class" if column.name is None else str(column.name)
        declared: Variable | None = None
        if number:
            if not absent.all():
                raise ParameterError("classes={n} is for labels that are all hidden; list the classes instead",
                                     n=repr(self.classes))  # fmt: skip
            declared = Variable(name, "categorical", tuple(range(int(self.classes))), declared=True)  # type: ignore[arg-type]
        elif self.classes is not None:
            declared = Variable(name, "categorical", sort_levels(self.classes), declared=True)  # type: ignore[arg-type]
        codes = np.full(len(column), -1, dtype=np.intp)
        if absent.all():
            if declared is None:
                raise TableError("every label is hidden; say how many classes there are: classes=2")
            target = declared
        else:
            shown = column[~absent]
            target, codes[~absent] = encode_target(shown, declared, len(shown))
        if len(target.levels) < 2:
            raise lone_class(target.levels[0])
        return target, codes

    # the estimator's own --------------------------------------------------------------------------------------------

    def _fitted(self) -> GenerativeClassifier:
        check_is_fitted(self, "estimator_")
        inner: GenerativeClassifier = self.estimator_
        return inner

    def predict(self, X: Any) -> NDArray[Any]:
        """(n,) the class with the largest posterior. Raises UndefinedPosterior where there is none."""
        return self._fitted().predict(X)

    def predict_proba(self, X: Any) -> Array:
        """(n, C) P(c|x), columns as `classes_`. Raises UndefinedPosterior where there is none."""
        return self._fitted().predict_proba(X)

    def predict_log_proba(self, X: Any) -> Array:
        """(n, C) log P(c|x)."""
        return self._fitted().predict_log_proba(X)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """(n, C) log p(c, x), in nats."""
        return self._fitted().predict_joint_log_proba(X)

    def explain(self, X: Any, given: Collection[str] | None = None) -> Ledger:
        """Every log term of the prediction, as `GenerativeClassifier.explain`."""
        return self._fitted().explain(X, given)

    def _joint(self, X: Any) -> tuple[Table, Array]:
        return self._fitted()._joint(X)

    def _posterior(self, X: Any) -> tuple[Array, NDArray[np.int8]]:
        return self._fitted()._posterior(X)

    @property
    def stats_(self) -> SufficientStatistics:
        """Expected statistics: those `factor_` is estimated from."""
        return self._fitted().stats_

    @property
    def factor_(self) -> Factor:
        return self._fitted().factor_

    @property
    def schema_(self) -> Any:
        return self._fitted().schema_

    @property
    def target_(self) -> Variable:
        return self._fitted().target_

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        return self._fitted().classes_

    @property
    def class_prior_(self) -> Any:
        return self._fitted().class_prior_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trace_")


def _flat(y: Any) -> NDArray[Any]:
    values = np.asarray(y, dtype=object)
    return values.ravel() if values.ndim == 2 and values.shape[1] == 1 else values
