"""Complement naive Bayes over a table of texts or counts (Rennie, Shih, Teevan & Karger, Tackling the Poor Assumptions
of Naive Bayes Text Classifiers, ICML 2003): each class is judged by the terms of all other classes.

    s(c, x) = log P(c) − Σ_v x_v log θ_c̃v,   θ_c̃v = (N_c̃v + α)/(N_c̃ + αV)

N_c̃v is how often the term v stands in the texts that are *not* of class c: more rows than c's own, and more alike in
number from class to class. `counted_naive_bayes.ComplementNB` is the same of a matrix of terms, by scikit-learn's name.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import TableError
from bayes_engine.factors import Factor, Product
from bayes_engine.factors.joint_multinomial import (
    JOINT_MULTINOMIAL,
    ComplementCountsLeaf,
    JointCounts,
    joint_counts,
    refuse_bands_of_scores,
)
from bayes_engine.factors.leaf import Estimation, LeftOutRows
from bayes_engine.factors.sources import Complement, Source
from bayes_engine.factors.text import TextLeaf, Words
from bayes_engine.logspace import Array
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.counted_naive_bayes import refuse_infinite_weights, refuse_scores
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.table_reader import given_schema
from bayes_engine.priors import Alpha, ClassPriors, checked_alphas, dirichlet, pseudo_counts
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.terms import TermCounts
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Schema, Variable


@dataclass(frozen=True)
class ComplementLeaf(TextLeaf):
    """Of a text with n_w times the term w: − Σ_w n_w log θ_c̃w, a score. `counts` are those of all other classes."""

    @property
    def kind(self) -> Literal["score"]:
        return "score"

    def _of(self, column: Any) -> Array:
        return 0.0 - super()._of(column)

    def term(self, X: Table, hidden: tuple[str, ...] = (), left: LeftOutRows | None = None) -> Array:
        if left is not None:
            raise NotImplementedError("a row left out of one class is left out of the complement of every other")
        return super().term(X, hidden)

    def sources(self, X: Table) -> tuple[Source, ...]:
        return tuple(
            Complement(words.log_value, replace(words, log_value=0.0 - words.log_value), -1.0)
            for words in super().sources(X)
            if isinstance(words, Words)
        )

    def posterior(self, target: Variable) -> Any:
        refuse_bands_of_scores()


@dataclass(eq=False, repr=False)
class ComplementNaiveBayes(GenerativeClassifier):
    """A score of each class for a row of texts or counts, log P(c) − Σ_v x_v log θ_c̃v; wrap it in a
    `CalibratedClassifier`.

    The scores are no log-probabilities, so that `risk` and `decide` refuse until they are calibrated; `predict_proba`
    is their normalized exponential, as scikit-learn has it. A text column is one vocabulary, and all columns of counts
    are one together; the scores of several add up. Terms outside it say nothing, nor does a missing cell; in `fit` no
    count is missing.

    Parameters
    ----------
    alpha : what is added to the count of every term, as in `NaiveBayes`; 0 is refused where a weight would be infinite.
    priors : P(c), as in `NaiveBayes`; Rennie et al. take it uniform, and scikit-learn leaves it out, which is the same.
    text : how texts are read, as in `NaiveBayes`. schema : kinds of the columns; None: every column of strings is a
        text, every column of numbers a count.

    Attributes: those of `GenerativeClassifier`. Raises TableError where a column is neither a text counted by its terms
    nor a count.

    >>> mails = pd.DataFrame({"text": ["win a prize", "lunch at noon", "a prize for you", "noon again"]})
    >>> model = ComplementNaiveBayes().fit(mails, ["spam", "ham", "spam", "ham"])
    >>> ledger = model.explain(pd.DataFrame({"text": ["a prize"]}))
    >>> [(row.name, row.kind, term.round(3).tolist()) for row, term in ledger.rows]
    [('class', 'prior', [[-0.693, -0.693]]), ('text', 'score', [[3.348, 5.278]])]
    """

    takes_text: ClassVar[bool] = True
    estimation_parameters: ClassVar[frozenset[str]] = frozenset({"alpha", "priors"})
    missing = "marginalize"
    unseen = "ignore"

    _: KW_ONLY
    alpha: Alpha = 1.0
    priors: ClassPriors = "uniform"
    text: Any = None
    schema: Schema | None = None

    def _reader(self, likelihoods: dict[str, Any] | None = None) -> NaiveBayes:
        """What reads the columns as texts and counts, and counts them."""
        return NaiveBayes(likelihoods=likelihoods, text=self.text, schema=self.schema)

    def _initial_schema(self, frame: pd.DataFrame, labels: Labels) -> Schema:
        given = self.schema is not None
        known = given_schema(self.schema).features if given else self._kinds(frame)
        return self._reader(self._chosen(known, given))._initial_schema(frame, labels)

    def with_texts(self, schema: Schema, *, given: bool) -> Schema:
        """A schema with every column as a text or a count, as it is read; `given` by whoever calls, or as the dtypes
        have it. Raises TableError on a column that is neither."""
        reader = self._reader(self._chosen(schema, given))
        return Schema(
            tuple(
                replace(v, likelihood=JOINT_MULTINOMIAL, pivot=0.0) if v.numeric else v
                for v in reader.with_texts(schema)
            )
        )

    def _chosen(self, known: Schema, given: bool) -> dict[str, str]:
        """The likelihood of each column."""
        for variable in known:
            is_text = variable.kind == "text" if given else not variable.numeric
            if (not is_text or variable.likelihood == "bernoulli") and not variable.numeric:
                raise TableError(
                    "column '{column}' is neither a text whose terms are counted nor a count, and complement naive "
                    "Bayes takes no other; take naive Bayes, or set it aside",
                    column=variable.name,
                )
        return {v.name: JOINT_MULTINOMIAL if v.numeric else "multinomial" for v in known}

    def _first_read(self, frame: Any, schema: Schema) -> Table:
        return self._reader()._first_read(frame, schema)

    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        return self._reader()._count(X, labels, target)

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        self._check(stats.schema, float(stats.class_weight.sum()))
        counts = self._complement_counts(stats)
        leaves = tuple(
            self._leaf(stats, v)
            if v.textual
            else ComplementCountsLeaf(v, stats.target.name, counts, Estimation(dirichlet(self.alpha, v.name)))
            for v in stats.schema
        )
        return Product((self._prior(stats), *leaves))

    def _check(self, schema: Schema, total: float) -> None:
        super()._check(schema, total)
        checked_alphas(self.alpha, schema.names, total)

    def _complement_counts(self, stats: SufficientStatistics) -> JointCounts:
        """The counts of all other classes; of no column where there are only texts."""
        names = [v.name for v in stats.schema if not v.textual]
        if not names:
            return JointCounts((), np.zeros((len(stats.class_weight), 0)), ())
        own = joint_counts(stats, [dirichlet(self.alpha, name) for name in names], "all")
        others = TermCounts(own.columns, stats.class_weight, own.sums).others
        counts = replace(own, sums=others)
        refuse_infinite_weights(others + counts.added)
        return counts

    def _leaf(self, stats: SufficientStatistics, variable: Variable) -> ComplementLeaf:
        own, prior = stats.texts.columns[variable.name], dirichlet(self.alpha, variable.name)
        others = TermCounts(own.names, own.weight.sum() - own.weight, own.others)
        added = pseudo_counts(others.sums, prior, "all")
        refuse_infinite_weights(others.sums + added)
        return ComplementLeaf(variable, stats.target.name, others, added, Estimation(prior))

    def _posterior(self, X: Any) -> tuple[Array, NDArray[np.int8]]:
        refuse_scores(type(self).__name__)
