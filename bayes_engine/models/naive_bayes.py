"""Naive Bayes over one real table: strings, numbers, missing cells, unseen values, weights.

P(c|x) ∝ P(c) Π_j P(x_j|c) (Zhou Zhihua, Machine Learning, eq. 7.14–7.15): one factor a column, a table for a discrete
one, for a number a Gaussian or what else is chosen, for a text the product over its words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.factors import Factor, Row
from bayes_engine.factors.columns import MixedColumns
from bayes_engine.factors.gaussian import GaussianLeaf, GaussianRule, gaussian_leaves, known_terms_without
from bayes_engine.factors.joint_multinomial import (
    JOINT_MULTINOMIAL,
    JointCounts,
    JointMultinomialLeaf,
    joint_counts,
    together,
)
from bayes_engine.factors.leaf import Estimation, Leaf, LeftOutRows
from bayes_engine.factors.likelihoods import OF_VALUES, current
from bayes_engine.factors.table import TableLeaf, TableRule
from bayes_engine.factors.text import TextLeaf, text_leaf
from bayes_engine.language import Listing
from bayes_engine.ledger import Ledger
from bayes_engine.logspace import Array
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.decision_mixin import RANKED, leading, posterior_by_block
from bayes_engine.models.fit_warnings import warn, warn_of_constant
from bayes_engine.models.likelihoods import (
    CUTTING,
    Likelihood,
    as_texts,
    assigned,
    check_counted,
    chosen,
    of_numbers,
    text_with,
    with_likelihood,
)
from bayes_engine.models.table_reader import given_schema
from bayes_engine.priors import (
    SMOOTHING,
    Alpha,
    ClassPriors,
    Smoothing,
    checked_alphas,
    checked_share,
    checked_word,
    dirichlet,
)
from bayes_engine.progress import steps
from bayes_engine.stats.collect import SufficientStatistics, collect
from bayes_engine.stats.labels import Labels
from bayes_engine.table.discretize import checked_method
from bayes_engine.table.encode import Table, code_dtype, encode
from bayes_engine.table.likelihood_traits import traits
from bayes_engine.table.matrix import Matrix, slices
from bayes_engine.table.schema import Schema, Variable

PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType({
    "textbook": {"smoothing": "none", "alpha": 1.0, "priors": "empirical", "variance": "unbiased"},
    "laplace": {"smoothing": "all", "alpha": 1.0, "priors": "laplace", "variance": "unbiased"},
    "zero-only": {"smoothing": "zero-only", "alpha": 1.0, "priors": "empirical", "variance": "unbiased"},
    "scikit-learn": {"smoothing": "all", "alpha": 1.0, "priors": "empirical", "variance": "mle"},
})  # fmt: skip
"""The estimation presets: as printed (eq. 7.16–7.18), Laplace correction (eq. 7.19–7.20), repair zeros only,
scikit-learn's defaults."""

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "smoothing": SMOOTHING,
        "variance": ("mle", "unbiased"),
        "missing": ("marginalize", "category", "error"),
        "unseen": ("ignore", "smooth", "error"),
    }
)
"""The values of the parameters that are words."""


@dataclass(eq=False, repr=False, kw_only=True)
class NaiveBayes(GenerativeClassifier):
    """Naive Bayes for a table of discrete and numeric columns: h(x) = argmax_c P(c) Π_j P(x_j|c) (eq. 7.15).

    P(c), P(x_j|c) by eq. 7.16–7.18, smoothed by eq. 7.19–7.20. `fit`, `predict` and the rest raise as
    `GenerativeClassifier` says; log terms are in nats.

    Parameters
    ----------
    alpha : pseudo-count added to every level (eq. 7.20), 0 adds nothing | "none" | "laplace" | "jeffreys" | a Dirichlet
        (m-estimate, equivalent sample size) | one of these by column, {"colour": 2.0, "*": "jeffreys"}, "*" being all
        others.
    smoothing : "all" | "zero-only" | "none": everywhere; only for an (attribute, class) pair with a zero; nowhere.
    priors : "empirical" | "laplace" | a Dirichlet | "uniform" | {label: p} | one number for each class in the order of
        `classes_`, see `bayes_engine.priors.class_prior`.
    variance : "mle" (ddof 0) | "unbiased" (ddof 1).
    tied_variance : one variance for all classes: Gaussian discriminant analysis with a diagonal Σ.
    var_floor : the least variance, as a share of the column's own.
    likelihoods : None | a name, for all columns that can have it | {column: name}. Of a number "gaussian" (unless said
        otherwise), "kernel" (a kernel density with Silverman's bandwidth), "kernel-range" (with one from the range of
        the values), "poisson" (whole numbers; the rate is smoothed by a pseudo-count α at the column's mean),
        "joint-multinomial" (whole numbers; all columns that have it are one multinomial together, as the words of a
        text are, and a row's total says nothing of its class; in `fit` none of their cells is missing), "categorical"
        (its values are levels), "bernoulli" (0 and 1), "mdlp" | "equal-width" | "quantile" (intervals between the cut
        points `schema_[column].cuts`); of levels "categorical", or with two of them "bernoulli"; of a text
        "multinomial" (how often each term stands in it; a column of strings becomes a text by this choice) or
        "bernoulli" (whether it does).
    text : {"analyzer": "word" | "char" | "char_wb", "ngrams": (1, 1), "lowercase": True, "min_df": 1, "max_features":
        None, "presence": False, "columns": names of columns of strings to read as texts}, see
        `bayes_engine.table.text.TextRule`. Chinese needs no segmenter: each character is a word.
    missing : "marginalize" (a missing cell has no factor) | "category" (in a discrete column, a level of its own if
        training had any) | "error".
    unseen : "ignore" (no factor) | "smooth" (α/(n_c + α(S+1))) | "error", for a value not among the levels.
    discretize : None | "mdlp" | "equal-width" | "quantile": the numbers of which `likelihoods` say nothing as
        intervals, cut by the rows of the fit. bins : how many, for the latter two.
    schema : kinds and levels of the columns; None takes them from the dtypes.

    Attributes: `stats_`, `factor_`, `schema_`, `target_`, `classes_` (sorted), `n_features_in_`, `feature_names_in_`.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"colour": ["green", "dark", "dark", None], "sugar": [0.46, 0.37, 0.26, 0.09]})
    >>> model = NaiveBayes().fit(X, ["good", "good", "bad", "bad"])
    >>> model.predict(X).tolist()
    ['good', 'good', 'bad', 'bad']
    >>> mails = pd.DataFrame({"text": ["win a prize", "lunch at noon", "a prize for you"], "links": [4, 0, 3]})
    >>> mixed = NaiveBayes(likelihoods={"text": "multinomial", "links": "poisson"}).fit(mails, ["spam", "ham", "spam"])
    >>> ledger = mixed.explain(mails[:1], opened=["text"])
    >>> ledger.contributions("spam", "ham").round(2).to_dict("records")
    [{'class': 0.69, 'text: a': 0.79, 'text: prize': 0.79, 'text: win': 0.38, 'links': 1.98}]
    """

    takes_text = True
    reads_matrix = True
    _at_once: ClassVar[int] = RANKED
    """Rows whose joints are computed together: they stay in the cache until they are a posterior, or a label."""

    estimation_parameters: ClassVar[frozenset[str]] = frozenset(
        {"alpha", "smoothing", "priors", "variance", "tied_variance", "var_floor", "unseen"}
    )

    alpha: Alpha = 1.0
    smoothing: Smoothing = "all"
    priors: ClassPriors = "empirical"
    variance: Literal["mle", "unbiased"] = "mle"
    tied_variance: bool = False
    var_floor: float = 1e-9
    likelihoods: Likelihood | Mapping[str, Likelihood] | None = None
    text: Mapping[str, Any] | None = None
    missing: Literal["marginalize", "category", "error"] = "marginalize"
    unseen: Literal["ignore", "smooth", "error"] = "ignore"
    discretize: Literal["mdlp", "equal-width", "quantile"] | None = None
    bins: int = 10
    schema: Schema | None = None

    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        return collect(X, labels, target)

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        self._check(stats.schema, float(stats.class_weight.sum()))
        check_counted(self.likelihoods, stats.schema)
        weight, prior = stats.class_weight, self._prior(stats)
        parts: list[Factor] = [prior]
        constant, floored = [], []
        joint = self._joint_counts(stats)
        numbers = [v for v in stats.schema if _is_gaussian(v)]
        rule = GaussianRule(self._ddof, bool(self.tied_variance), float(self.var_floor))
        gaussians = iter(gaussian_leaves(numbers, stats.target.name, stats.moments, rule))
        for variable in stats.schema:
            gaussian = next(gaussians) if _is_gaussian(variable) else None
            if not variable.discrete and _constant(stats, variable):
                constant.append(variable.name)
                continue
            leaf = self._leaf(stats, variable, joint) if gaussian is None else gaussian
            if leaf.collapsed is not None and (leaf.collapsed & (weight > 0)).any():
                floored.append(variable.name)
            parts.append(leaf)
        warn_of_constant(constant)
        if floored:
            warn(
                "column(s) {names}: a class has one row, or no spread, there; its variance is the pooled one or the "
                "floor var_floor × the column's variance",
                names=Listing(floored),
            )
        return MixedColumns(tuple(parts))

    def _joint_counts(self, stats: SufficientStatistics) -> JointCounts | None:
        """The counts of the columns that are one multinomial; with a warning where a single one is."""
        names = together(stats.schema)
        if len(names) == 1:
            warn(
                "column '{column}' alone is no multinomial of several and says nothing of the class; choose "
                "'{likelihood}' for two columns at least",
                column=names[0],
                likelihood=JOINT_MULTINOMIAL,
            )
        return joint_counts(stats, [dirichlet(self.alpha, n) for n in names], self.smoothing) if names else None

    def _leaf(self, stats: SufficientStatistics, variable: Variable, joint: JointCounts | None) -> Leaf:
        """The distribution in each class of one column that is not Gaussian."""
        name, target = variable.name, stats.target.name
        prior = dirichlet(self.alpha, name)
        rule = Estimation(prior, self.smoothing, self._ddof, bool(self.tied_variance), float(self.var_floor))
        if variable.discrete:
            domain = self._domain(stats, variable)
            counts = domain.counted(stats.counts.tables[name], 1)
            amount, marginal = prior.per_level(counts.shape), prior.base == "marginal"
            return TableLeaf(domain, target, counts, TableRule(amount, marginal, rule.smoothing, summed=True))
        if variable.textual:
            return text_leaf(variable, target, stats.texts.columns[name], rule)
        if variable.likelihood == JOINT_MULTINOMIAL:
            assert joint is not None
            return JointMultinomialLeaf(variable, target, joint, rule)
        assert variable.likelihood is not None
        return OF_VALUES[variable.likelihood].estimate(variable, target, stats.values.columns[name], rule)

    def predict_proba(self, X: Any) -> Array:
        table = self._encode(X)
        return posterior_by_block(
            lambda few, _odds: self._joint_of(few),
            table,
            len(self.classes_),
            self._unseen_infinity(table),
            self._at_once,
        )

    def predict(self, X: Any) -> NDArray[Any]:
        table = self._encode(X)
        index, clear = np.empty(table.n, dtype=code_dtype(len(self.classes_))), ~self._unseen_infinity(table)
        for rows in slices(table.n, self._at_once):
            index[rows], alone = self._leading(table.take(rows))
            clear[rows] &= alone
        self._rank_rest(table, index, clear)
        return self._named(index)

    def _unseen_infinity(self, X: Table) -> NDArray[np.bool_]:
        """(n,) where a cell is infinite; nowhere if every column of a matrix has its Gaussian, by which the joint of
        such a row is −inf in all classes."""
        leaves = [*self.factor_.leaves()]  # the class prior, and one for each column that is not set aside as constant
        whole = isinstance(X, Matrix) and len(leaves) > len(self.schema_)
        return np.zeros(X.n, dtype=bool) if whole else X.infinite()

    def _leading(self, X: Table) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """As `leading` of the joint; of tables alone by a rougher one, in half the time."""
        fixed = self.factor_.in_fixed_point(X)
        return leading(self._joint_of(X)) if fixed is None else leading(*fixed)

    def _leave_one_out(self, X: Table, labels: Labels) -> Array:
        return self._joint_without(X, LeftOutRows.of(X, labels, self.stats_))

    def _joint_without(self, X: Table, gone: LeftOutRows) -> Array:
        """(n, C) all rows at once: a row's removal touches its own class's parameters, and what all classes share."""
        joint = self._prior_without(gone)
        parts = (self.factor_.part_of(variable.name) for variable in self.schema_)
        leaves = [cast(Leaf, part[0]) for part in parts if part]
        gaussians = known_terms_without([leaf for leaf in leaves if isinstance(leaf, GaussianLeaf)], X, gone)
        for leaf in steps(leaves):
            terms = next(gaussians) if isinstance(leaf, GaussianLeaf) else leaf.known_terms(X, gone)
            last = self._last_missing(leaf.variable, X, gone.weight)
            joint += terms if last is None else np.where(last[:, None], 0.0, terms)
        return joint

    def _rows(self, X: Table, given: Collection[str] | None) -> Iterable[tuple[Row, Array]]:
        """Of a multinomial of several columns those that are not `given` are not known: their terms would change those
        of the others."""
        names = () if given is None else set(together(X.schema)) - set(given)
        if names:
            columns = (np.full(X.n, np.nan) if v.name in names else X[v.name] for v in X.schema)
            X = replace(X, columns=tuple(columns))
        return super()._rows(X, given)

    def explain(self, X: Any, given: Collection[str] | None = None, opened: Collection[str] = ()) -> Ledger:
        """As `GenerativeClassifier.explain`; of the text columns that are `opened` every term has its own row, named
        "column: term" (`by_variable` puts them together again).

        >>> from bayes_engine import NaiveBayes
        >>> model = NaiveBayes(likelihoods={"x0": "multinomial"}).fit([["call now"], ["hi"]], ["a", "b"])
        >>> [row.name for row, _ in model.explain([["hi, call me"]], opened=["x0"]).rows]
        ['class', 'x0: call', 'x0: hi']
        """
        ledger = super().explain(X, given)
        if not opened:
            return ledger
        table = self._encode(X, self.missing if given is None else "marginalize")
        texts = {v.name: cast(TextLeaf, self.factor_.part_of(v.name)[0]) for v in self.schema_ if v.textual}  # type: ignore[index]
        rows: list[tuple[Row, Array]] = []
        for row, term in ledger.rows:
            rows += texts[row.name].by_term(table) if row.name in opened and row.name in texts else [(row, term)]
        return replace(ledger, rows=tuple(rows))

    # the likelihoods chosen -----------------------------------------------------------------------------------------

    def with_texts(self, schema: Schema) -> Schema:
        """A schema with the columns as texts that this model reads as such, each with its likelihood. Raises
        ParameterError where one cannot be a text, or is not there."""
        schema = as_texts(schema, self.likelihoods, self.text)
        if not isinstance(self.likelihoods, Mapping) or not any(v.textual for v in schema):
            return schema
        choice = chosen(self.likelihoods, schema)
        return Schema(tuple(text_with(v, choice.get(v.name)) if v.textual else v for v in schema))

    def with_likelihoods(self, schema: Schema) -> Schema:
        """A schema with the texts and the likelihoods of this model, whatever the rows hold. Raises ParameterError as
        `with_likelihood`, or where a column is not there."""
        choice = chosen(self.likelihoods, schema := self.with_texts(schema))
        return Schema(tuple(with_likelihood(v, choice.get(v.name)) for v in schema))

    def _declared(self) -> Schema:
        return as_texts(given_schema(self.schema), self.likelihoods, self.text).features

    def _kinds(self, frame: pd.DataFrame) -> Schema:
        schema = as_texts(super()._kinds(frame), self.likelihoods, self.text)
        return assigned(schema, frame, self.likelihoods)

    def _cutting_method(self, variable: Variable) -> str | None:
        stated = self.likelihoods.get(variable.name) if isinstance(self.likelihoods, Mapping) else self.likelihoods
        if stated in CUTTING:
            checked_method(stated, self.bins)
            return stated
        return None if current(stated) in of_numbers() or variable.likelihood is not None else self.discretize

    def _first_read(self, frame: pd.DataFrame, schema: Schema) -> Table:
        if any(v.textual for v in schema):
            return encode(frame, schema, unseen="error", missing=self.missing, grow=True)
        return super()._first_read(frame, schema)

    def _check(self, schema: Schema, total: float) -> None:
        super()._check(schema, total)
        checked_alphas(self.alpha, schema.names, total)
        for name, values in CHOICES.items():
            checked_word(name, getattr(self, name), values)
        checked_share("var_floor", self.var_floor)


def _is_gaussian(variable: Variable) -> bool:
    """Whether a column of numbers has no other likelihood, whether that is said of it or not."""
    return variable.numeric and not traits(variable).by_value and variable.likelihood != JOINT_MULTINOMIAL


def _constant(stats: SufficientStatistics, variable: Variable) -> bool:
    """Whether a column of numbers has the same value in every row."""
    if variable.textual or variable.likelihood == JOINT_MULTINOMIAL:
        return False  # a count of the multinomial that is always 0 has its share of what smoothing adds
    if traits(variable).by_value:
        return stats.values.columns[variable.name].constant
    return variable.name in stats.moments.constant
