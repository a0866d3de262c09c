"""scikit-learn's four naive Bayes classifiers of counts, by its names, parameters and fitted attributes, on statistics
that merge: CategoricalNB, MultinomialNB, BernoulliNB and ComplementNB.

Numbers are scikit-learn's to 1e-9, except where that yields NaN, wraps counts or takes negative weights. What is
derived from the statistics is derived when read, so `fit` and `partial_fit` cannot disagree; weights count as repeated
rows everywhere. Two classes at least; a prior may also be a mapping from
class label to probability, and must sum to 1.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.factors import Factor
from bayes_engine.factors.columns import PriorAndColumns, TableColumns, TermColumns
from bayes_engine.factors.leaf import Domain
from bayes_engine.factors.table import TableLeaf, TableRule
from bayes_engine.logspace import Array, log
from bayes_engine.models.fit_warnings import warn
from bayes_engine.models.matrix_classifier import MatrixClassifier, numbered_names
from bayes_engine.priors import checked_alpha, checked_word, log_normalized, log_smoothed
from bayes_engine.stats.collect import SufficientStatistics, collect
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.terms import term_counts
from bayes_engine.table.encode import Table, code_dtype
from bayes_engine.table.matrix import Matrix
from bayes_engine.table.schema import Schema, Variable

LEAST_ALPHA = 1e-10
"""What a smaller alpha becomes with force_alpha=False."""
MOST_CATEGORIES = 2**23
"""Categories of a column: with more the numbers in it are no categories, and their table takes over 2 GB."""


@dataclass(eq=False, repr=False, kw_only=True)
class SmoothingParameters:
    """What the four classifiers of counts share: the pseudo-counts, and the class prior asked for."""

    estimation_parameters: ClassVar[frozenset[str]] = frozenset({"alpha", "force_alpha", "fit_prior", "class_prior"})
    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None

    @property
    def _prior_rule(self) -> Any:
        """The class prior asked for: its numbers, or None for the frequencies, or "uniform"."""
        return self.class_prior if self.class_prior is not None else None if self.fit_prior else "uniform"

    @property
    def class_log_prior_(self: Any) -> Array:
        """(C,) log P(c)."""
        return log(self._prior(self.stats_).p)


def alpha_of(model: CategoricalNB | _TermNB, stats: SufficientStatistics) -> Array:
    """α, () or (V,). Raises ParameterError where it is no pseudo-count."""
    alpha = np.asarray(model.alpha)
    if alpha.ndim and alpha.shape != (model.n_features_in_,):
        raise ParameterError(
            "When alpha is an array, it should contain one number for each feature: {n} for {d} features",
            n=alpha.size,
            d=model.n_features_in_,
        )
    for extreme in (alpha.min(), alpha.max()) if alpha.ndim else (model.alpha,):
        checked_alpha(extreme, float(stats.class_weight.sum()))
    checked = alpha.astype(float)
    if not model.force_alpha and checked.min() < LEAST_ALPHA:
        warn("alpha is below {least} and becomes that; keep it with force_alpha=True", least=f"{LEAST_ALPHA:.0e}")
        checked = np.maximum(checked, LEAST_ALPHA)
    return checked


@dataclass(eq=False, repr=False, kw_only=True)
class CategoricalNB(SmoothingParameters, MatrixClassifier):
    """P(x_j = s | c) = (n_cs + α)/(n_c + α S_j) for columns of whole numbers 0 … S_j − 1.

    Parameters
    ----------
    alpha, force_alpha : pseudo-count of every category; below 1e-10 it is raised to that unless forced.
    fit_prior, class_prior : the frequencies, uniform if False; or one number a class in sorted order, or {label: p}.
    min_categories : None | the least S_j, one number or one a column.
    unseen : "error" | "ignore" (no factor) | "smooth" (α/(n_c + α(S_j + 1))), for a category not seen in training.

    Attributes: `category_count_`, `feature_log_prob_` (lists of (C, S_j)), `n_categories_`, `class_count_`,
    `class_log_prior_`, and those of every classifier.

    >>> model = CategoricalNB().fit([[0, 1], [1, 1], [0, 2], [1, 0]], ["a", "b", "a", "b"])
    >>> model.predict([[0, 0]]).tolist(), model.n_categories_.tolist()
    (['a'], [2, 3])
    """

    estimation_parameters: ClassVar[frozenset[str]] = SmoothingParameters.estimation_parameters | {"unseen"}
    not_negative = True

    min_categories: Any = None
    unseen: Literal["error", "ignore", "smooth"] = "error"

    def _frame(self, X: Any, *, reset: bool) -> Any:
        """Whole numbers in the smallest type that holds them, column after column in memory."""
        values = self._validated(X, reset=reset)
        codes = np.empty(values.shape[::-1], dtype=np.uint8)
        low, high = 0.0, 0.0
        for rows, block in Matrix.of(values).blocks():
            if not _in_a_byte(block):
                low, high = min(low, block.min()), max(high, block.max())
            if low > -1.0 and high < 256.0:
                codes[:, rows] = block.astype(np.uint8).T
        self._refuse_negative(int(low))
        if high >= MOST_CATEGORIES:
            return Matrix.of(values)
        return Matrix.of(codes.T if high < 256.0 else np.asfortranarray(values.astype(np.min_scalar_type(int(high)))))

    def _observed(self, frame: Matrix, labels: Labels, known: Schema | None) -> Schema:
        most = frame.values.max(axis=0)
        if (most >= MOST_CATEGORIES).any():
            raise TableError(
                "column '{column}' holds {value}, and categories are numbered 0, 1, 2 and so on; number them first "
                "(scikit-learn's OrdinalEncoder), or take NaiveBayes",
                column=self._names()[int(most.argmax())],
                value=f"{most.max():.12g}",
            )
        sizes = np.maximum(most.astype(np.int64) + 1, self._least_sizes())
        if known is None:
            known = Schema(tuple(Variable(name, "categorical") for name in self._names()))
        return Schema(tuple(v.observing(range(len(v.levels), s)) for v, s in zip(known, sizes.tolist(), strict=True)))

    def _least_sizes(self) -> NDArray[np.int64]:
        least = np.asarray(0 if self.min_categories is None else self.min_categories)
        if least.dtype.kind not in "iu" or least.shape not in ((), (self.n_features_in_,)):
            raise ParameterError(
                "min_categories={value} is neither a whole number nor one for each of the {d} columns",
                value=repr(self.min_categories),
                d=self.n_features_in_,
            )
        return least.astype(np.int64)

    def _table(self, frame: Matrix, schema: Schema, *, unseen: str, missing: str = "error") -> Table:
        kind = code_dtype(max(len(variable.levels) for variable in schema))
        columns = np.empty((len(schema), frame.n), dtype=kind)  # one place for all: many small ones come slower
        for codes, values, variable in zip(columns, frame.values.T, schema, strict=True):
            size = len(variable.levels)
            strange = values >= size if values.max() >= size else None
            with np.errstate(invalid="ignore"):  # a strange one may be anything
                np.add(values, 1, out=codes, casting="unsafe")  # 0 stands for missing
            if strange is not None:
                if unseen == "error":
                    raise TableError(
                        "column '{column}' holds {value}, not seen in training; raise min_categories, or choose "
                        "unseen='ignore'",
                        column=variable.name,
                        value=f"{values[strange][0]:.12g}",
                    )
                codes[strange] = np.iinfo(kind).max
        return Table(schema, tuple(columns), frame.n)

    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        return collect(X, labels, target)

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        checked_word("unseen", self.unseen, ("error", "ignore", "smooth"))
        checked_alpha(self.alpha, float(stats.class_weight.sum()))  # one number: columns have other categories
        alpha = float(alpha_of(self, stats))
        parts = []
        for variable in stats.schema:
            counts = stats.counts.tables[variable.name][:, 1:]
            domain = Domain(variable, smooth_unseen=self.unseen == "smooth")
            parts.append(TableLeaf(domain, stats.target.name, counts, TableRule(alpha, summed=True)))
        return PriorAndColumns((self._prior(stats), TableColumns(tuple(parts))))

    @property
    def category_count_(self) -> list[Array]:
        """(C, S_j) for each column."""
        return [self.stats_.counts.tables[name][:, 1:] for name in self.schema_.names]

    @property
    def feature_log_prob_(self) -> list[Array]:
        """(C, S_j) log P(x_j = s | c) for each column."""
        return [part.log_cpt for part in self.factor_.parts[1].parts]

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """(d,) S_j."""
        return np.array([len(v.levels) for v in self.schema_], dtype=np.int64)


def _in_a_byte(block: NDArray[Any]) -> bool:
    """Whether these are whole numbers of 0 … 255, by one pass over them."""
    return block.dtype.kind in "iu" and 0 <= int(np.bitwise_or.reduce(block, axis=None)) < 256


class _TermNB(SmoothingParameters, MatrixClassifier):
    """Naive Bayes of a matrix of terms, dense or CSR, from the sums of each term by class."""

    takes_sparse = True

    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        assert isinstance(X, Matrix)
        return replace(collect(X, labels, target), terms=term_counts(X, labels, self._vocabulary()))

    def _posterior_of(self, table: Table) -> Array:
        fixed = self.factor_.linear_in_fixed_point
        posterior = None if fixed is None else fixed.posterior(table)
        return super()._posterior_of(table) if posterior is None else np.asarray(posterior)

    def _largest(self, table: Table) -> NDArray[np.intp]:
        fixed = self.factor_.linear_in_fixed_point
        decided = None if fixed is None else fixed.argmax(table)
        if decided is None:
            return super()._largest(table)
        if decided.close.any():
            decided.largest[decided.close] = super()._largest(table.take(decided.close))
        return np.asarray(decided.largest)

    def _vocabulary(self) -> tuple[str, ...]:
        known = getattr(self, "stats_", None)
        return self._names() if known is None else known.terms.names

    def fit_stats(self, stats: SufficientStatistics) -> Self:
        if stats.terms is None:
            raise ParameterError("these statistics hold no sums of terms; count them with a model of terms")
        self.n_features_in_ = len(stats.terms.names)
        if stats.terms.names != numbered_names(self.n_features_in_):  # these stand for an array's columns
            self.feature_names_in_ = np.array(stats.terms.names, dtype=object)
        return self._settle(stats)

    def _rows(self, X: Table, given: Collection[str] | None) -> Any:
        if given is None:
            return self.factor_.rows(X)
        *prior, terms = self.factor_.parts
        return PriorAndColumns((*prior, terms.of(given))).rows(X)

    @property
    def feature_count_(self) -> Array:
        """(C, V) the sum of each term over the rows of each class."""
        assert self.stats_.terms is not None
        return self.stats_.terms.sums

    @property
    def feature_log_prob_(self) -> Array:
        """(C, V) log P(term | class); the weights of complement naive Bayes."""
        return np.asarray(self.factor_.parts[-1].present)


class MultinomialNB(_TermNB):
    """P(v|c) = (N_cv + α)/(N_c + α V), once for every time the term v stands in the row.

    Parameters
    ----------
    alpha : pseudo-count of every term, one number or one a term.
    force_alpha, fit_prior, class_prior : as in CategoricalNB.

    Attributes: `feature_count_`, `feature_log_prob_` (C, V), `class_count_`, `class_log_prior_`, and those of every
    classifier.

    >>> words = [[2, 0, 1], [0, 3, 0], [1, 0, 2]]
    >>> MultinomialNB().fit(words, ["pets", "law", "pets"]).predict([[0, 1, 0]]).tolist()
    ['law']
    """

    not_negative = True

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        assert stats.terms is not None
        smoothed = stats.terms.sums + alpha_of(self, stats)
        smoothed = np.where(smoothed.sum(axis=1, keepdims=True) > 0, smoothed, 1.0)  # not one word: uniform
        return PriorAndColumns(
            (self._prior(stats), TermColumns(stats.target.name, stats.terms.names, log_normalized(smoothed)))
        )


@dataclass(eq=False, repr=False, kw_only=True)
class BernoulliNB(_TermNB):
    """P(v in the row | c) = (N_cv + α)/(N_c + 2α), N_c rows of the class, N_cv of them with the term v.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior : as in MultinomialNB.
    binarize : a term is in the row where its value is above this; None where X holds only 0 and 1.

    Attributes: as MultinomialNB.

    >>> words = [[2, 0, 1], [0, 3, 0], [1, 0, 2]]
    >>> BernoulliNB().fit(words, ["pets", "law", "pets"]).predict_proba([[0, 1, 0]]).round(4).tolist()
    [[0.9046, 0.0954]]
    """

    binarize: float | None = 0.0

    def _frame(self, X: Any, *, reset: bool) -> Any:
        above = self.binarize
        if above is not None and not above >= 0:
            raise ParameterError("binarize={value} is neither None nor a number of 0 and more", value=repr(above))
        values = self._validated(X, reset=reset)
        if sparse.issparse(values) and not values.has_canonical_format:
            values = values.astype(np.result_type(values.dtype, np.int64))  # a copy, whose sums do not wrap
            values.sum_duplicates()  # a term is in a row or is not
        cells = values.data if sparse.issparse(values) else values
        if above is None and cells.size and not (cells.min() >= 0 and cells.max() <= 1):
            raise TableError("binarize=None takes X as it is, and X holds values outside 0 … 1; choose a threshold")
        return Matrix.of(values, above)

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        assert stats.terms is not None
        alpha, weight = alpha_of(self, stats), stats.class_weight[:, None]
        alpha = np.where(weight + alpha == 0, 1.0, alpha)  # a class without rows or pseudo-counts: one half
        present, absent = (log_smoothed(n, weight, alpha, 2) for n in (stats.terms.sums, stats.terms.absent))
        return PriorAndColumns((self._prior(stats), TermColumns(stats.target.name, stats.terms.names, present, absent)))


def refuse_scores(model: str = "ComplementNB") -> NoReturn:
    """Raises ParameterError where a loss would be weighed with scores."""
    raise ParameterError(
        "{model} gives scores, and a risk needs probabilities; calibrate it first (CalibratedClassifier), or take "
        "another naive Bayes",
        model=model,
    )


def refuse_infinite_weights(others: Array) -> None:
    """Raises ParameterError where a term of (C, V) smoothed counts of all other classes has none."""
    if not (others > 0).all():
        raise ParameterError(
            "{n} term(s) occur in one class only, or in none: without alpha their weight would be "
            "infinite; take alpha > 0",
            n=int((others <= 0).any(axis=0).sum()),
        )


@dataclass(eq=False, repr=False, kw_only=True)
class ComplementNB(_TermNB):
    """A score for c: − Σ_v x_v log θ_v, θ_v the share of the term v in all classes *but* c (Rennie et al., ICML 2003).

    The class of the largest score is predicted: lecture notes that print argmax_c of Σ_v x_v log θ_v mean argmin.
    The values are scores, not log-probabilities: `predict_proba` is scikit-learn's normalized exponential of them, and
    `risk` and `decide` refuse until the model is calibrated.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior : as in MultinomialNB; the prior does not enter the scores.
    norm : whether the weights of each class are divided by their sum.

    Attributes: as MultinomialNB, and `feature_all_` (V,).

    For texts Rennie et al. weigh terms by tf-idf first. What idf is needs all rows, so that it stands before the model,
    where folds find their own:

    >>> words = [[2, 0, 1], [0, 3, 0], [1, 0, 2]]
    >>> ComplementNB().fit(words, ["pets", "law", "pets"]).predict([[0, 1, 0]]).tolist()
    ['law']
    >>> from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    >>> from sklearn.pipeline import make_pipeline
    >>> of_texts = make_pipeline(CountVectorizer(), TfidfTransformer(), ComplementNB())
    >>> of_texts.fit(["cat and dog", "court and law", "dog food"], ["pets", "law", "pets"]).predict(["a cat"]).tolist()
    ['pets']
    """

    estimation_parameters: ClassVar[frozenset[str]] = SmoothingParameters.estimation_parameters | {"norm"}
    not_negative = True

    norm: bool = False

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        assert stats.terms is not None
        sums, alpha = stats.terms.sums, alpha_of(self, stats)
        others = sums.sum(axis=0) + alpha - sums  # in scikit-learn's order, with its digits
        others = np.where(others > 0, others, stats.terms.others + alpha)  # a small alpha was lost beside large sums
        refuse_infinite_weights(others)
        weight = log(others.sum(axis=1, keepdims=True)) - log(others)
        if self.norm:
            total = -weight.sum(axis=1, keepdims=True)
            weight = np.divide(-weight, total, out=np.zeros_like(weight), where=total != 0)
        return PriorAndColumns((TermColumns(stats.target.name, stats.terms.names, weight, kind="score"),))

    def _warn_of_classes(self, factor: Factor, stats: SufficientStatistics) -> None:
        self._prior(stats)  # a prior that is none is refused; a class without rows has scores, and may be predicted

    def _posterior(self, X: Any) -> tuple[Array, NDArray[np.int8]]:
        refuse_scores()

    @property
    def feature_all_(self) -> Array:
        """(V,) the sum of each term over all rows."""
        return np.asarray(self.feature_count_.sum(axis=0))
