"""Naive Bayes with the columns that help it (Langley & Sage, Induction of Selective Bayesian Classifiers, UAI 1994).

Which columns those are is asked of every row by the model without it. To leave a column out is to leave its rows out
of the ledger, so no candidate is ever fitted: the terms of the rows left out are made once, and added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.errors import ParameterError
from bayes_engine.factors import Factor, Product
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array, log_normalize, normalize
from bayes_engine.models.lazy import LazyNaiveBayes
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.naive_bayes_wrapper import LeftOutTerms, NaiveBayesWrapper, left_out_terms
from bayes_engine.priors import checked_word
from bayes_engine.progress import tick
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.labels import Labels
from bayes_engine.table.dataframes import to_pandas
from bayes_engine.table.encode import Table

Criterion = Literal["accuracy", "log_loss", "risk"]
Direction = Literal["forward", "backward"]
CRITERIA: tuple[Criterion, ...] = ("accuracy", "log_loss", "risk")
"""The share decided rightly; the mean log-loss in nats; the mean loss of the decisions of least risk."""
DIRECTIONS: tuple[Direction, ...] = ("forward", "backward")
EQUAL = 1e-12
"""Scores this near are one score, and the name decides: sums of floats must not choose."""


@dataclass(frozen=True)
class SelectionStep:
    """One step of the search: the `column` that came in or went out (None at the start), the columns `kept` after it,
    their `score`, and the scores of all columns that were `tried`, by name."""

    column: str | None
    kept: tuple[str, ...]
    score: float
    tried: Mapping[str, float]


@dataclass(frozen=True)
class Selection:
    """The columns `kept`, in the table's order, and the `trace` of the search. `refused` are the scores that the next
    step would have had: empty where no column was left to try."""

    kept: tuple[str, ...]
    criterion: str
    direction: str
    trace: tuple[SelectionStep, ...]
    refused: Mapping[str, float]


def select_features(
    model: NaiveBayes,
    X: Any,
    y: Any,
    *,
    criterion: Criterion = "accuracy",
    loss: Any = None,
    direction: Direction = "forward",
    sample_weight: Any = None,
) -> Selection:
    """The columns of a fitted model's rows X (n, d), y (n,) that a greedy search keeps, by exact leave-one-out.

    "forward" begins with none and adds the best column while that makes the score better; "backward" begins with all
    and takes off the one whose going is best while that makes the score no worse. Columns that are equal go by name.
    `loss` prices the decisions of "risk", as `LossMatrix.from_any` takes it. Levels, cut points and pivots stay those
    of the fit. A row that is alone of its class cannot be right when left out, and is passed over; any other without a
    posterior counts as wrong, as infinite log-loss, as the dearest decision.

    Raises ParameterError for another criterion or direction, NotASubset where rows were never counted, LossError where
    the loss speaks of other classes.

    >>> X = pd.DataFrame({"noise": list("xyyxxyyx"), "sound": list("ddddcccc")})
    >>> y = list("yyyynnnn")
    >>> found = select_features(NaiveBayes().fit(X, y), X, y)
    >>> found.kept, [(step.column, step.score) for step in found.trace]
    (('sound',), [(None, 0.0), ('sound', 1.0)])
    """
    checked(criterion, direction)
    check_is_fitted(model, "stats_")
    model = model.counted() if isinstance(model, LazyNaiveBayes) else model
    table, labels = model._counted_rows(X, y, sample_weight)
    judge = _Judge(left_out_terms(model, table, labels), labels, criterion, model._loss(loss))
    return _search(judge, direction)


def checked(criterion: str, direction: str) -> None:
    """Raises ParameterError where criterion or direction is none."""
    checked_word("criterion", criterion, CRITERIA)
    checked_word("direction", direction, DIRECTIONS)


class _Judge:
    """Scores of sets of columns by the terms of rows left out."""

    def __init__(self, left: LeftOutTerms, labels: Labels, criterion: str, loss: LossMatrix) -> None:
        self.left, self.truth, self.weight = left.judged(labels)
        self.criterion, self.loss = criterion, loss
        self.sign = 1.0 if criterion == "accuracy" else -1.0  # greater is better, after it

    def __call__(self, joint: Array) -> float:
        """The score of a joint (n, C)."""
        tick()
        total = self.weight.sum()
        if not total > 0:
            return 0.0
        if self.criterion == "log_loss":
            return float(self.weight @ -log_normalize(joint)[np.arange(len(joint)), self.truth] / total)
        status = np.where(np.isneginf(joint).all(axis=1), Status.IMPOSSIBLE, Status.OK).astype(np.int8)
        rule = self.loss if self.criterion == "risk" else LossMatrix.zero_one(self.loss.classes)
        action = decide(normalize(joint), rule, status).position
        cost = float(self.weight @ rule.cost(action, self.truth) / total)
        return 1.0 - cost if self.criterion == "accuracy" else cost

    def with_one_more(self, kept: Sequence[str]) -> dict[str, float]:
        """The score with each of the other columns."""
        joint = self.left.joint(kept)
        return {name: self(joint + term) for name, term in self.left.terms.items() if name not in kept}

    def with_one_less(self, kept: Sequence[str]) -> dict[str, float]:
        """The score without each of the columns: what stands before it and what stands after it are added, for
        nothing can be taken from −∞."""
        after = [np.zeros_like(self.left.log_prior)]
        for name in reversed(kept[1:]):
            after.append(after[-1] + self.left.terms[name])
        before, scores = self.left.log_prior, {}
        for name in kept:
            scores[name] = self(before + after.pop())
            before = before + self.left.terms[name]
        return scores


def _search(judge: _Judge, direction: str) -> Selection:
    forward = direction == "forward"
    names = tuple(judge.left.terms)
    kept: tuple[str, ...] = () if forward else names
    trace = [SelectionStep(None, kept, judge(judge.left.joint(kept)), {})]
    while True:
        tried = judge.with_one_more(kept) if forward else judge.with_one_less(kept)
        if not tried:
            break
        best = max(judge.sign * s for s in tried.values())
        near = EQUAL * max(1.0, abs(best)) if np.isfinite(best) else 0.0
        column = min(name for name, s in tried.items() if judge.sign * s >= best - near)
        least = judge.sign * trace[-1].score + (near if forward else -near)
        if not np.isfinite(best) or not (best > least if forward else best >= least):
            break
        members = {*kept, column} if forward else {*kept} - {column}
        kept = tuple(name for name in names if name in members)
        trace.append(SelectionStep(column, kept, tried[column], tried))
    return Selection(kept, judge.criterion, direction, tuple(trace), tried)


@dataclass(eq=False, repr=False)
class SelectiveNaiveBayes(TransformerMixin, NaiveBayesWrapper):  # type: ignore[misc]
    """Naive Bayes with the columns that `select_features` keeps; as a transformer, the table with these columns.

    The first fit chooses; as rows come and go afterwards counts change and the choice stays. The other columns are
    counted too, and have no row in the ledger.

    Parameters
    ----------
    estimator : a NaiveBayes; NaiveBayes() if None.
    criterion, loss, direction : as in `select_features`.

    Attributes: `kept_`, the names of the columns; `selection_`, with the trace; those of `GenerativeClassifier`.

    >>> X = pd.DataFrame({"noise": list("xyyxxyyx"), "sound": list("ddddcccc")})
    >>> model = SelectiveNaiveBayes().fit(X, list("yyyynnnn"))
    >>> model.kept_, [row.name for row, _term in model.explain(X).rows], model.transform(X).columns.tolist()
    (('sound',), ['class', 'sound'], ['sound'])
    """

    structural: ClassVar[tuple[str, ...]] = ("kept_", "selection_")

    estimator: NaiveBayes | None = None
    _: KW_ONLY
    criterion: Criterion = "accuracy"
    loss: Any = None
    direction: Direction = "forward"

    def _choose(self, X: Table, labels: Labels, stats: SufficientStatistics) -> SufficientStatistics:
        checked(self.criterion, self.direction)
        model = self._settled(stats)
        judge = _Judge(left_out_terms(model, X, labels), labels, self.criterion, model._loss(self.loss))
        self.selection_ = _search(judge, self.direction)
        self.kept_ = self.selection_.kept
        return stats

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        if not hasattr(self, "kept_"):
            raise ParameterError("the choice of columns needs the rows: call fit; or fit a NaiveBayes to the columns")
        prior, columns = self._factors(stats)
        return Product((prior, *(part for name, part in columns.items() if name in self.kept_)))

    def transform(self, X: Any) -> Any:
        """The columns of X (n, d) that are kept: of a frame a frame, of an array an array.

        >>> SelectiveNaiveBayes().fit([[0, 1], [1, 2], [0, 5], [1, 6]], list("aabb")).transform([[7, 8]]).tolist()
        [[8]]
        """
        check_is_fitted(self, "stats_")
        X = to_pandas(X)
        frame = self._frame(X, reset=False)
        if isinstance(X, pd.DataFrame):
            return frame[list(self.kept_)]
        return np.asarray(X)[:, self.get_support(indices=True)]

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """(d,) whether each column is kept; or the places of those that are.

        >>> SelectiveNaiveBayes().fit([[0, 1], [1, 2], [0, 5], [1, 6]], list("aabb")).get_support().tolist()
        [False, True]
        """
        check_is_fitted(self, "stats_")
        mask = np.array([name in self.kept_ for name in self.schema_.names])
        return np.flatnonzero(mask) if indices else mask

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns that are kept."""
        check_is_fitted(self, "stats_")
        return np.array(self.kept_, dtype=object)
