"""What every generative classifier shares. A model states two verbs, `_count` and `_estimate`; the rest is here.

fit = estimate(count(rows)); partial_fit = estimate(stats + count(rows)); forget = estimate(stats − count(rows));
with_params = estimate(stats) anew; predict = argmin of risk under 0-1 loss of the posterior of the sum of the rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayes_engine.errors import NotASubset, ParameterError, PrecisionLost, TableError
from bayes_engine.factors import Factor, Row
from bayes_engine.factors.class_prior import ClassPrior
from bayes_engine.factors.leaf import Domain, LeftOutRows
from bayes_engine.ledger import Ledger, Status
from bayes_engine.logspace import Array, log, log_normalize
from bayes_engine.models.decision_mixin import DecisionMixin, refuse_undefined
from bayes_engine.models.fit_warnings import warn_of_classes
from bayes_engine.models.table_reader import TableReader
from bayes_engine.models.target import class_array, lone_class
from bayes_engine.priors import added_to_class, class_prior
from bayes_engine.progress import steps
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.labels import Labels
from bayes_engine.table.dataframes import to_pandas
from bayes_engine.table.encode import MISSING, Table, refuse_infinite
from bayes_engine.table.levels import sort_levels
from bayes_engine.table.schema import Schema, Variable


class GenerativeClassifier(TableReader, DecisionMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers: statistics that merge by addition, factors estimated from them, rows that add up.

    A subclass states the two verbs `_count` and `_estimate`. What else it may override, each said where it stands:

    - what it is: `estimation_parameters`, `structural`, and as class attributes the parameters it fixes;
    - which parameters it refuses: `_check`;
    - what a first fit chooses from the rows: `_choose`; `_has_structure`, whether it did (`_chosen_from_rows`);
    - the class prior: `_prior_rule`, `_prior_of`, `_prior`, `_warn_of_classes`;
    - rows coming in: the hooks of `TableReader`;
    - what is read off: `_joint_of`, `_rows`, `_status`, `_posterior`, and `_leave_one_out` where a closed form is
      known; `_prior_without`, the class prior without each row.
    """

    estimation_parameters: ClassVar[frozenset[str]] = frozenset()
    """The parameters that act in `_estimate` alone: the ones `with_params` may change without a recount."""

    structural: ClassVar[tuple[str, ...]] = ()
    """Fitted attributes that the first fit chose from its rows, and that the statistics are counted for."""

    priors: Any
    variance: str

    # what a model says ------------------------------------------------------------------------------------------

    @abstractmethod
    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        """Statistics of encoded rows; `_count(A ⧺ B) == _count(A) + _count(B)`."""

    @abstractmethod
    def _estimate(self, stats: SufficientStatistics) -> Factor:
        """The factor of these statistics. Priors and smoothing enter here and nowhere else."""

    def _choose(self, X: Table, labels: Labels, stats: SufficientStatistics) -> SufficientStatistics:
        """What a first fit does besides: choose what needs the rows (a structure), and count what that asks for."""
        return stats

    @property
    def _prior_rule(self) -> Any:
        """What `bayes_engine.priors.class_prior` takes; None for the frequencies."""
        return self.priors

    def _prior(self, stats: SufficientStatistics) -> ClassPrior:
        added = added_to_class(self._prior_rule, len(stats.class_weight))
        prior = self._prior_of(stats.class_weight, stats.target.levels)
        return ClassPrior(stats.target.name, prior, stats.class_weight, added)

    def _prior_of(self, weight: Array, classes: tuple[Any, ...]) -> Array:
        """P(c) (..., C) from class weights (..., C)."""
        rule = self._prior_rule
        if isinstance(rule, pd.Series):
            rule = rule.to_dict() if set(rule.index) == set(classes) else rule.to_numpy()
        return class_prior("empirical" if rule is None else rule, weight, classes)

    @property
    def _prior_given(self) -> bool:
        """Whether the class prior is another than the frequencies of the rows."""
        rule = self._prior_rule
        return not (rule is None or (isinstance(rule, str) and rule == "empirical"))

    # fitting ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the rows of X (n, d) with classes y (n,) and estimate.

        Raises TableError, ParameterError (both ValueErrors) where table, labels or parameters do not allow it.

        >>> from bayes_engine import NaiveBayes
        >>> model = NaiveBayes().fit([["dull"], ["crisp"], ["dull"], ["crisp"]], ["good", "bad", "good", "good"])
        >>> model.prior_by_class
        {'bad': 0.25, 'good': 0.75}
        """
        for name in ("stats_", "schema_", "target_", "factor_", "classes_", *self.structural):
            self.__dict__.pop(name, None)
        return self._learn(X, y, sample_weight, classes=None, first=True)

    def fit_stats(self, stats: SufficientStatistics) -> Self:
        """Estimate from statistics that were collected elsewhere: those of another fitted model, a merged sum, or what
        `bayes_engine.scale` counted of files.

        Raises ParameterError where this model's structure, or its cut points, need the rows, or other statistics;
        TableError where there is one class, or a missing cell that `missing` refuses.

        >>> from bayes_engine import NaiveBayes
        >>> model = NaiveBayes().fit([["dull"], ["crisp"], ["dull"]], ["good", "bad", "bad"])
        >>> NaiveBayes(alpha=0).fit_stats(model.stats_ + model.stats_).predict([["crisp"]]).tolist()
        ['bad']
        """
        self._takes(stats)
        for name in self.structural:
            self.__dict__.pop(name, None)
        return self._of_stats(stats)

    def _of_stats(self, stats: SufficientStatistics) -> Self:
        names = stats.schema.names
        self.n_features_in_ = len(names)
        if names != tuple(f"x{j}" for j in range(len(names))):  # these stand for an array's columns
            self.feature_names_in_ = np.array(names, dtype=object)
        return self._settle(stats)

    def _takes(self, stats: SufficientStatistics) -> None:
        """Refuses what a fit would not have counted so."""
        if len(stats.target.levels) == 1:
            raise lone_class(stats.target.levels[0])
        for v in stats.schema:
            if v.numeric and v.likelihood is None and self._cutting_method(v) is not None:
                raise ParameterError(
                    "discretize='{method}' needs the rows, and column '{column}' is counted as numbers here; count it "
                    "under a schema with cut points (cut_schema), or take discretize=None",
                    method=str(self._cutting_method(v)),
                    column=v.name,
                )
            if self.missing == "error" and any_missing(stats, v):
                raise TableError("column '{column}' has missing cells; choose missing='marginalize'", column=v.name)

    def partial_fit(self, X: Any, y: Any, classes: Iterable[Any] | None = None, sample_weight: Any = None) -> Self:
        """Add rows X (n, d), y (n,). `classes` at the first call declares the classes; otherwise they grow.

        Raises what `fit` raises, and SchemaMismatch on a value outside a declared domain.

        >>> from bayes_engine import NaiveBayes
        >>> X, y = [["dull"], ["crisp"], ["dull"], ["crisp"]], ["good", "bad", "good", "good"]
        >>> model = NaiveBayes().partial_fit(X[:2], y[:2]).partial_fit(X[2:], y[2:])
        >>> bool((model.predict_proba(X) == NaiveBayes().fit(X, y).predict_proba(X)).all())
        True
        """
        return self._learn(X, y, sample_weight, classes, first=not hasattr(self, "stats_"))

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows X (n, d), y (n,) away, as if they had never been seen: variances agree with those of a new fit to
        nine digits. Raises NotASubset where they never were, PrecisionLost where a column would keep fewer digits
        (without an outlier that holds nearly all of its class's squares): fit anew there.

        >>> from bayes_engine import NaiveBayes
        >>> X, y = [["dull"], ["crisp"], ["dull"], ["crisp"]], ["good", "bad", "good", "good"]
        >>> NaiveBayes().fit(X, y).forget(X[2:], y[2:]).stats_.class_weight.tolist()
        [1.0, 1.0]
        """
        check_is_fitted(self, "stats_")
        return self._settle(self.stats_ - self._counted_alone(X, y, sample_weight))

    def merge(self, other: Self) -> Self:
        """A new model with the rows of both (same columns, same kinds); parameters are this one's.

        Raises SchemaMismatch where columns, kinds or declared domains differ.

        >>> from bayes_engine import NaiveBayes
        >>> X, y = [["dull"], ["crisp"], ["dull"], ["crisp"]], ["good", "bad", "good", "good"]
        >>> half = NaiveBayes().fit(X[:2], y[:2])
        >>> half.merge(half).stats_.class_weight.tolist()
        [2.0, 2.0]
        """
        check_is_fitted(self, "stats_")
        check_is_fitted(other, "stats_")
        return self._copy({})._settle(self.stats_ + other.stats_)

    def with_params(self, **parameters: Any) -> Self:
        """A new model from the same statistics under other estimation parameters; nothing is counted again.

        Raises ParameterError for a parameter that acts in counting: set it and refit.

        >>> from bayes_engine import NaiveBayes
        >>> model = NaiveBayes().fit([["dull"], ["crisp"], ["dull"]], ["good", "bad", "bad"])
        >>> sharper = model.with_params(smoothing="none")
        >>> model.predict_proba([["crisp"]]).round(4).tolist(), sharper.predict_proba([["crisp"]]).tolist()
        ([[0.75, 0.25]], [[1.0, 0.0]])
        """
        check_is_fitted(self, "stats_")
        for name in parameters:
            if name not in self.estimation_parameters:
                raise ParameterError(
                    "with_params cannot change '{name}': it acts when rows are counted, or is no parameter; set it and "
                    "refit. Without a recount: {known}",
                    name=name,
                    known=", ".join(sorted(self.estimation_parameters)),
                )
        return self._copy(parameters)._settle(self.stats_)

    # predicting -------------------------------------------------------------------------------------------------

    def predict_joint_log_proba(self, X: Any) -> Array:
        """(n, C) log p(c, x), in nats; -inf where the model says never."""
        return self.factor_.log(self._encode(X))

    def explain(self, X: Any, given: Collection[str] | None = None) -> Ledger:
        """Every log term (n, C) of the prediction, in nats and by name; never raises for a row, but carries its status.

        Features that are not among `given` are integrated out exactly, whatever `missing` says of a cell not known; by
        AODE as Weka has it: a super-parent whose value is not known drops out.
        Raises ParameterError on a name in `given` that is no feature.

        >>> from bayes_engine import NaiveBayes
        >>> model = NaiveBayes().fit([["dull"], ["crisp"], ["dull"]], ["good", "bad", "bad"])
        >>> model.explain([["crisp"]]).contributions("bad", "good").round(4).to_dict("records")
        [{'class': 0.6931, 'x0': 0.4055}]
        """
        table = self._encode(X, self.missing if given is None else "marginalize")
        for name in given or ():
            if len(self.schema_) and name not in self.schema_:  # a matrix of terms has no schema
                raise ParameterError("'{column}' is no feature of this model, so it cannot be given", column=str(name))
        rows = tuple(self._rows(table, given))
        ledger = Ledger(rows, tuple(self.classes_.tolist()), np.zeros(table.n, dtype=np.int8))
        return replace(ledger, status=self._status(table, ledger.joint(), given))

    def leave_one_out_log_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """(n, C) log P(c|x_i) of the model without row i, given schema and structure: cut points and vocabularies
        are those of all rows, with this one (`held_out` learns them anew). The rows must be among those it was fitted
        on. A row of -inf has no posterior there.

        Raises NotASubset where a row was never counted.

        >>> from bayes_engine import NaiveBayes
        >>> X, y = [["dull"], ["crisp"], ["dull"], ["crisp"]], ["good", "bad", "good", "bad"]
        >>> model = NaiveBayes().fit(X, y)
        >>> model.predict_log_proba(X[:1]).round(3).tolist()
        [[-1.386, -0.288]]
        >>> model.leave_one_out_log_proba(X[:1], y[:1]).round(3).tolist()
        [[-0.847, -0.56]]
        """
        check_is_fitted(self, "stats_")
        return log_normalize(self._leave_one_out(*self._counted_rows(X, y, sample_weight)))

    def _counted_rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, Labels]:
        """Rows that were counted, as they were encoded then. Raises NotASubset where their class never was."""
        frame, labels, target = self._read(X, y, sample_weight, self.target_, reset=False)
        if target != self.target_:
            raise NotASubset("cannot take away rows of a class that was never counted")
        return self._table(frame, self.schema_, unseen="error"), labels

    def _class_weight_without(self, gone: LeftOutRows) -> Array:
        """(n, C) the class weights without each row. Raises NotASubset where a row was never counted."""
        rows, own, weight = np.arange(len(gone.own)), gone.own, gone.weight
        left = np.repeat(self.stats_.class_weight[None, :], len(own), axis=0)
        left[rows, own] -= weight
        if (left[rows, own] < -1e-9 * weight).any():
            raise NotASubset("a row to leave out was never counted: its class has less weight than the row")
        left[rows, own] *= left[rows, own] > 1e-9 * weight
        return left

    def _prior_without(self, gone: LeftOutRows) -> Array:
        """(n, C) the log class prior without each row, class by class in memory, as the terms come."""
        if gone.one_weight is None:
            return np.asfortranarray(log(self._prior_of(self._class_weight_without(gone), self.target_.levels)))
        of_class = np.zeros((len(self.classes_), len(self.classes_)))  # those of a class share it
        there = [c for c, _ in gone.by_class]
        one = gone.take([rows[0] for _, rows in gone.by_class])
        of_class[:, there] = log(self._prior_of(self._class_weight_without(one), self.target_.levels)).T
        return np.take(of_class, gone.own, axis=1).T

    def _last_missing(self, variable: Variable, X: Table, weight: Array) -> NDArray[np.bool_] | None:
        """(n,) where a row holds the only missing cell of a column whose missing cell is a level: without it, it is
        none. None of a column in which it is no level."""
        if self.missing != "category" or not variable.discrete:
            return None
        every = self.stats_.counts.tables[variable.name][:, 0].sum()
        return np.asarray((X[variable.name] == MISSING) & (every <= weight * (1 + 1e-9)))

    def _leave_one_out(self, X: Table, labels: Labels) -> Array:
        """(n, C) joint of row i under the statistics without it. This general form re-estimates n times."""
        joint = np.empty((X.n, len(self.classes_)))
        left = LeftOutRows.of(X, labels)
        for i in steps(range(X.n)):
            joint[i] = self._estimated(self._stats_without(left, i)).log(X.take(slice(i, i + 1)))[0]
        return joint

    def _learnt_from(self, X: Table, labels: Labels) -> Self:
        """A copy that has learnt from these encoded rows alone, its structure too, under their schema."""
        new = self._copy({})
        for name in self.structural:
            new.__dict__.pop(name, None)
        return new._settle(new._choose(X, labels, new._count(X, labels, self.target_)))

    def _counted_alone(self, X: Any, y: Any, sample_weight: Any) -> SufficientStatistics:
        """The statistics of these rows alone, under the schema and the structure that there are."""
        return self._count(*self._counted_rows(X, y, sample_weight), self.target_)

    def _stats_without(self, left: LeftOutRows, i: int, *, anew: bool = False) -> SufficientStatistics:
        """The statistics without the i-th of these rows; counted from the others, if they are all here, where a
        difference has too few digits, or where it is to be `anew`. Raises PrecisionLost where they are not."""
        X, labels = left.among
        place = slice(left.place[i], left.place[i] + 1)
        whole = np.allclose(labels.by_class, self.stats_.class_weight, rtol=1e-9, atol=0.0)
        if not (anew and whole):
            gone = Labels(labels.n_classes, left.own[i : i + 1], left.weight[i : i + 1])
            try:
                return self.stats_ - self._count(X.take(place), gone, self.target_)
            except PrecisionLost:
                if not whole:
                    raise
        return self._count(*left.rest(i), self.target_)

    @property
    def _chosen_from_rows(self) -> tuple[str, ...]:
        """What the fit chose from its rows besides what is added up, of "structure", "cut points" and "vocabulary"."""
        given = {v.name for v in self.schema or () if v.cuts is not None or (v.textual and v.declared)}
        learnt = [v for v in self.schema_ if v.name not in given]
        chosen = {
            "structure": self._has_structure,
            "cut points": any(v.cuts is not None for v in learnt),
            "vocabulary": any(v.textual for v in learnt),
        }
        return tuple(what for what, whether in chosen.items() if whether)

    @property
    def _has_structure(self) -> bool:
        """Whether the fit chose anything `structural`."""
        return any(getattr(self, name, None) is not None for name in self.structural)

    @property
    def prior_by_class(self) -> dict[Any, float]:
        """The model's own prior by class label."""
        return dict(zip(self.target_.levels, self.class_prior_.tolist(), strict=True))

    @property
    def class_prior_(self) -> Array:
        """(C,) the model's own prior, in the order of `classes_`."""
        check_is_fitted(self, "stats_")
        return self._prior(self.stats_).p

    # plumbing ---------------------------------------------------------------------------------------------------

    def _learn(self, X: Any, y: Any, sample_weight: Any, classes: Iterable[Any] | None, *, first: bool) -> Self:
        y = to_pandas(y)
        name = "class" if not isinstance(y, pd.Series) or y.name is None else str(y.name)
        declared = None if classes is None else Variable(name, "categorical", sort_levels(classes), declared=True)
        known = declared if first else self.target_
        frame, labels, target = self._read(X, y, sample_weight, known, reset=first)
        schema = self._observed(frame, labels, None if first else self.schema_)
        table = self._first_read(frame, schema)
        refuse_infinite(table, frame)
        stats = self._count(table, labels, target)
        return self._settle(self._choose(table, labels, stats) if first else self.stats_ + stats)

    def _domain(self, stats: SufficientStatistics, variable: Variable) -> Domain:
        """The places of a discrete column: a missing cell is a level where the model says so and training had any."""
        as_level = self.missing == "category" and bool(stats.counts.tables[variable.name][:, 0].any())
        return Domain(variable, as_level, self.unseen == "smooth")

    @property
    def _ddof(self) -> int:
        return 1 if self.variance == "unbiased" else 0

    def _settle(self, stats: SufficientStatistics) -> Self:
        """Take these statistics as the fitted state, and estimate."""
        self.factor_ = self._estimated(stats)  # first: where it raises, nothing has changed
        self.stats_ = stats
        self.schema_ = stats.schema
        self.target_ = stats.target
        self.classes_ = class_array(stats.target.levels)
        return self

    def _estimated(self, stats: SufficientStatistics) -> Factor:
        factor = self._estimate(stats)
        self._warn_of_classes(factor, stats)
        return factor

    def _check(self, schema: Schema, total: float) -> None:
        """Raises ParameterError on parameters with which nothing is estimated of these columns, whatever their rows
        hold, which weigh `total`."""
        if isinstance(self._prior_rule, str):
            class_prior(self._prior_rule, np.ones(2), (False, True))

    def _warn_of_classes(self, factor: Factor, stats: SufficientStatistics) -> None:
        """Warn of classes that are never predicted, or that no row speaks for; refuse a prior that is none."""
        prior = self._prior(stats)
        warn_of_classes(prior.p, prior.weight, stats.target.levels)

    def _copy(self, parameters: dict[str, Any]) -> Self:
        new = clone(self).set_params(**parameters)
        for name in ("n_features_in_", "feature_names_in_", *self.structural):
            if hasattr(self, name):
                setattr(new, name, getattr(self, name))
        return new  # type: ignore[no-any-return]

    def _rows(self, X: Table, given: Collection[str] | None) -> Iterable[tuple[Row, Array]]:
        """The factor's rows without the features that are integrated out: the factor of a leaf sums to 1."""
        rows = self.factor_.rows(X)
        return rows if given is None else ((r, t) for r, t in rows if not r.parents or r.child in given)

    def _joint(self, X: Any) -> tuple[Table, Array]:
        table = self._encode(X)
        return table, self._joint_of(table)

    def _joint_of(self, X: Table) -> Array:
        """(n, C) log p(c, x) of encoded rows, up to what all classes share."""
        return self.factor_.log(X)

    def _rank_rest(self, X: Table, index: NDArray[Any], clear: NDArray[np.bool_]) -> None:
        """Write into `index` (n,) the most probable class of the rows in which it is not `clear` (n,). Raises
        UndefinedPosterior, naming the rows, where there is none."""
        rest = np.flatnonzero(~clear)
        if len(rest):
            few, without = X.take(rest), ~clear
            joint = self._joint_of(few)
            without[rest] = self._status(few, joint) != Status.OK
            refuse_undefined(without)
            index[rest] = self._most_probable(joint)

    def _status(self, X: Table, joint: Array, given: Collection[str] | None = None) -> NDArray[np.int8]:
        status = np.zeros(X.n, dtype=np.int8)
        nowhere = joint.max(axis=1) == -np.inf
        if nowhere.any():
            rows = np.flatnonzero(nowhere)
            possible = np.ones((len(rows), joint.shape[1]), dtype=bool)  # by all but the densities
            for row, term in self._rows(X.take(rows), given):
                possible &= (row.kind == "log-density") | ~np.isneginf(term)
            status[rows] = np.where(possible.any(axis=1), Status.OUT_OF_RANGE, Status.IMPOSSIBLE)
        status[X.infinite()] = Status.REFUSED
        return status

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = not self.numeric
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "stats_")


def any_missing(stats: SufficientStatistics, variable: Variable) -> bool:
    """Whether a row that counts has no value in a column of levels, numbers or texts."""
    name = variable.name
    if variable.textual:
        known = float(stats.texts.columns[name].weight.sum())
        return known < float(stats.class_weight.sum()) * (1 - 1e-12)
    if variable.discrete:
        return name in stats.counts.tables and bool(stats.counts.tables[name][:, 0].any())
    if name not in stats.moments.names:
        return False
    known = float(stats.moments.column(name).weight.sum())
    return known < float(stats.class_weight.sum()) * (1 - 1e-12)
