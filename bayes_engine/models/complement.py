"""Complement naive Bayes over a table of texts (Rennie, Shih, Teevan & Karger, Tackling the Poor Assumptions of Naive
Bayes Text Classifiers, ICML 2003): each class is judged by the terms of all other classes.

    s(c, x) = log P(c) − Σ_v x_v log θ_c̃v,   θ_c̃v = (N_c̃v + α)/(N_c̃ + αV)

N_c̃v is how often the term v stands in the texts that are *not* of class c: more rows than c's own, and more alike in
number from class to class. `counted_naive_bayes.ComplementNB` is the same of a matrix of terms, by scikit-learn's name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.factors import Factor, Product
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
        raise ParameterError(
            "there is no band for complement naive Bayes: its scores are calibrated on rows held out, no posterior is "
            "drawn from a prior of their weights"
        )


@dataclass(eq=False, repr=False)
class ComplementNaiveBayes(GenerativeClassifier):
    """A score of each class for a row of texts, log P(c) − Σ_v x_v log θ_c̃v; wrap it in a `CalibratedClassifier`.

    The scores are no log-probabilities, so that `risk` and `decide` refuse until they are calibrated; `predict_proba`
    is their normalized exponential, as scikit-learn has it. A text column is one vocabulary; the scores of several add
    up. Terms outside it say nothing, nor does a missing text.

    Parameters
    ----------
    alpha : what is added to the count of every term, as in `NaiveBayes`; 0 is refused where a weight would be infinite.
    priors : P(c), as in `NaiveBayes`; Rennie et al. take it uniform, and scikit-learn leaves it out, which is the same.
    text : how texts are read, as in `NaiveBayes`. schema : kinds of the columns; None: every column of strings is a
        text.

    Attributes: those of `GenerativeClassifier`. Raises TableError where a column is no text counted by its terms.

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

    def _reader(self, names: Iterable[str] = ()) -> NaiveBayes:
        """What reads the columns of these names as texts, and counts them."""
        return NaiveBayes(likelihoods=dict.fromkeys(names, "multinomial"), text=self.text, schema=self.schema)

    def _initial_schema(self, frame: pd.DataFrame, labels: Labels) -> Schema:
        known = self._kinds(frame) if self.schema is None else given_schema(self.schema).features
        for variable in known:
            is_text = not variable.numeric if self.schema is None else variable.kind == "text"
            if not is_text or variable.likelihood == "bernoulli":
                raise TableError(
                    "column '{column}' is no text whose terms are counted, and complement naive Bayes takes no other; "
                    "take naive Bayes, or set it aside",
                    column=variable.name,
                )
        return self._reader(map(str, frame.columns))._initial_schema(frame, labels)

    def _first_read(self, frame: Any, schema: Schema) -> Table:
        return self._reader()._first_read(frame, schema)

    def _count(self, X: Table, labels: Labels, target: Variable) -> SufficientStatistics:
        return self._reader()._count(X, labels, target)

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        checked_alphas(self.alpha, stats.schema.names, float(stats.class_weight.sum()))
        leaves = tuple(self._leaf(stats, variable) for variable in stats.schema)
        return Product((self._prior(stats), *leaves))

    def _leaf(self, stats: SufficientStatistics, variable: Variable) -> ComplementLeaf:
        own, prior = stats.texts.columns[variable.name], dirichlet(self.alpha, variable.name)
        others = TermCounts(own.names, own.weight.sum() - own.weight, own.others)
        added = pseudo_counts(others.sums, prior, "all")
        refuse_infinite_weights(others.sums + added)
        return ComplementLeaf(variable, stats.target.name, others, added, Estimation(prior))

    def _posterior(self, X: Any) -> tuple[Array, NDArray[np.int8]]:
        refuse_scores(type(self).__name__)
