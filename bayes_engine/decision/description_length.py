"""What a model costs to write down, and the rows with its help: minimum description length."""

from __future__ import annotations

from typing import Any, NamedTuple

from bayes_engine.errors import listen
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.structure.scores import mdl_price


class DescriptionLength(NamedTuple):
    """What a model costs to write down, in nats: its numbers and then, with their help, the rows.

    `log_likelihood` of the rows under maximum-likelihood estimates, `parameters` free ones, class node included, `n`
    the weight of the rows.
    """

    log_likelihood: float
    parameters: int
    n: float

    @property
    def penalty(self) -> float:
        """½ log m · |free parameters|."""
        return mdl_price(self.n) * self.parameters

    @property
    def total(self) -> float:
        """−log L + ½ log m · |free parameters|: minimum description length (Zhou, eq. 7.31, f = ½ log m)."""
        return self.penalty - self.log_likelihood


_LIKELIEST = {"alpha": 0.0, "smoothing": "none", "priors": "empirical", "variance": "mle", "unseen": "ignore"}


def mdl(model: Any) -> DescriptionLength | None:
    """The description length of a fitted naive Bayes, SPODE, TAN or k-DB, from its statistics; None for a model that
    is no product of conditional distributions of single columns (AODE is a mean of models), has a kernel density
    (which takes the rows themselves for its numbers) or counts words (whose number grows with the texts).

    The likelihood is that of class and known cells under maximum-likelihood estimates, whatever the model's smoothing;
    a cell whose parents are not all known is priced by its class alone.

    >>> import pandas as pd
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> model = NaiveBayes().fit(pd.DataFrame({"x": list("aab")}), list("yyn"))
    >>> length = mdl(model)  # 3 rows, 1 + 2·1 parameters; log L = 2 log 2/3 + log 1/3
    >>> length.parameters, round(length.log_likelihood, 4), round(length.total, 4)
    (3, -1.9095, 3.5575)
    """
    if not hasattr(model, "var_floor") or any(part.free is None for part in model.factor_.leaves()):
        return None
    changed = {k: v for k, v in _LIKELIEST.items() if k in model.estimation_parameters}
    with listen():
        factor = model.with_params(**changed).factor_
    stats: SufficientStatistics = model.stats_
    parts = list(factor.leaves())
    return DescriptionLength(
        sum(part.largest_log_likelihood(stats) for part in parts),
        sum(part.free for part in parts),
        float(stats.class_weight.sum()),
    )
