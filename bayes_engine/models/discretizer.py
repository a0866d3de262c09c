"""Discretization as a scikit-learn transformer, so that folds and pipelines learn their own cuts. scikit-learn's
KBinsDiscretizer does not look at the class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bayes_engine.errors import TableError
from bayes_engine.models.numeric_input import numeric_input
from bayes_engine.models.target import encode_target
from bayes_engine.priors import checked_word
from bayes_engine.stats.labels import checked_weights
from bayes_engine.table.dataframes import to_pandas
from bayes_engine.table.discretize import Split, accepted_cuts, checked_method, cuts_for, interval_names, mdlp_trace

ENCODINGS = ("ordinal", "interval")


@dataclass(eq=False, repr=False)
class MDLPDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Numbers (n, d) to intervals, cut where the classes change (Fayyad & Irani 1993); a missing cell stays missing.

    Parameters
    ----------
    method : "mdlp" | "equal-width" | "quantile"; the last two do not read y.
    bins : the most intervals of a column under "equal-width" and "quantile"; "mdlp" finds the number.
    encode : "ordinal", the number of the interval from 0 as a float, NaN where missing; or "interval", a pandas
        DataFrame of ordered categoricals whose levels are the intervals by name, which `NaiveBayes` takes as discrete.

    Attributes: `cuts_`, the cuts by column name; `trace_`, the `Split`s that "mdlp" looked at by column name (the first
    is of the whole column: its best cut, taken or not), otherwise empty; `n_features_in_`, `feature_names_in_`.

    >>> model = MDLPDiscretizer().fit([[1.0], [2.0], [3.0], [7.0], [8.0]], ["low", "low", "low", "high", "high"])
    >>> model.cuts_, model.transform([[0.0], [5.0], [6.0], [float("nan")]]).ravel().tolist()
    ({'x0': (5.0,)}, [0.0, 0.0, 1.0, nan])
    """

    method: Literal["mdlp", "equal-width", "quantile"] = "mdlp"
    bins: int = 10
    encode: Literal["ordinal", "interval"] = "ordinal"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the cuts of every column of X (n, d) with classes y (n,).

        Raises ParameterError, TableError where parameters, table or labels do not allow it (both are ValueErrors).
        """
        checked_method(self.method, self.bins)
        checked_word("encode", self.encode, ENCODINGS)
        X = to_pandas(X)
        if isinstance(X, pd.DataFrame) and not X.columns.is_unique:
            duplicate = str(X.columns[X.columns.duplicated()][0])
            raise TableError("the column name '{column}' stands twice; rename one of the columns", column=duplicate)
        X = numeric_input(self, X, reset=True, dtype=np.float64, ensure_all_finite="allow-nan")
        weight = checked_weights(sample_weight, len(X))
        codes, n_classes = np.zeros(len(X), dtype=np.intp), 1
        if self.method == "mdlp":
            target, codes = encode_target(y, None, len(X))
            n_classes = len(target.levels)
        cuts: dict[str, tuple[float, ...]] = {}
        trace: dict[str, tuple[Split, ...]] = {}
        for name, column in zip(map(str, self.get_feature_names_out()), X.T, strict=True):
            if self.method == "mdlp":
                trace[name] = mdlp_trace(column, codes, n_classes, weight)
                cuts[name] = accepted_cuts(trace[name])
            else:
                cuts[name] = cuts_for(self.method, column, codes, n_classes, weight, self.bins)
        self.cuts_, self.trace_ = cuts, trace
        return self

    def transform(self, X: Any) -> Any:
        """(n, d) the interval of every cell, as `encode` says.

        >>> model = MDLPDiscretizer("equal-width", bins=2, encode="interval").fit([[0.0], [10.0]])
        >>> model.transform([[3.0], [7.0]])["x0"].tolist()
        ['≤ 5', '> 5']
        """
        check_is_fitted(self, "cuts_")
        X = to_pandas(X)
        rows = X.index if isinstance(X, pd.DataFrame) else None
        X = numeric_input(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        codes = np.empty(X.shape)
        for j, cuts in enumerate(self.cuts_.values()):
            codes[:, j] = np.searchsorted(cuts, X[:, j], side="left")
        codes[np.isnan(X)] = np.nan
        if self.encode == "ordinal":
            return codes
        levels = np.nan_to_num(codes, nan=-1).astype(np.intp)
        columns = {
            name: pd.Categorical.from_codes(levels[:, j], dtype=pd.CategoricalDtype([*interval_names(cuts)], True))
            for j, (name, cuts) in enumerate(self.cuts_.items())
        }
        return pd.DataFrame(columns, index=rows)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cuts_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.method == "mdlp"
        return tags
