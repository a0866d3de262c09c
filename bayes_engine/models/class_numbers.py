"""How many classes, where no label is seen: information criteria of naive Bayes by EM, and rows held out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from bayes_engine.em import Collapse
from bayes_engine.errors import listen
from bayes_engine.factors.leaf import Leaf
from bayes_engine.logspace import Array, log, log_sum, normalize
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from bayes_engine.progress import steps

SPLITS, HELD_OUT = 3, 0.2
"""The table is divided so often, and so large a share of it is held out."""


def classes_table(
    X: pd.DataFrame,
    ks: Iterable[int],
    estimator: NaiveBayes,
    *,
    weight: Array | None = None,
    splits: int = SPLITS,
    random_state: int = 0,
    **parameters: Any,
) -> pd.DataFrame:
    """Naive Bayes by EM without a label for every number of classes in `ks`, from 2: log-likelihood at the end of EM,
    free parameters p, BIC = −2 log L + p log n, AIC = −2 log L + 2p and ICL = BIC + 2 H (less is better), with n the
    weight of the rows and H the entropy of the responsibilities; `held_out`, the mean log p(x) of rows not seen, over
    `splits` divisions that are the same for every number (more is better), and `held_out_error`, its standard error. Of
    texts p(x) leaves out the orderings of the words, and words that the other rows do not have. `parameters` are
    SemiSupervisedNB's. NaN where a class collapses in every run.

    >>> X = pd.DataFrame({"note": ["win cash", "cash now win", "see you", "you there see"] * 10})
    >>> table = classes_table(X, [2, 3], NaiveBayes(likelihoods={"note": "multinomial"}), n_init=3)
    >>> table["parameters"].tolist(), int(table["bic"].idxmin())
    ([11, 17], 2)
    """
    total = np.ones(len(X)) if weight is None else weight
    held = [np.random.default_rng((random_state, s)).random(len(X)) < HELD_OUT for s in range(splits)]
    lines = []
    for k in steps(ks):
        line = {"k": k, **dict.fromkeys(("log_likelihood", "parameters", "bic", "aic", "icl"), np.nan)}

        def fit(rows: Any, k: int = k) -> SemiSupervisedNB:
            model = SemiSupervisedNB(
                clone(estimator), classes=k, init="random", random_state=random_state, **parameters
            )
            with listen():
                return model.fit(X.iloc[rows], None, total[rows])

        try:
            whole = fit(np.arange(len(X)))
        except Collapse:
            pass
        else:
            joint = whole.predict_joint_log_proba(X)
            r, n = normalize(joint), float(total.sum())
            likelihood = float(total @ log_sum(joint, axis=1))
            entropy = -float(total @ np.where(r > 0, r * log(r), 0.0).sum(axis=1))
            inner = whole.estimator_
            leaves = (leaf for leaf in inner.factor_.leaves() if isinstance(leaf, Leaf))
            size = k - 1 + float(sum(leaf.size(inner.stats_) for leaf in leaves))
            bic = size * float(np.log(n)) - 2.0 * likelihood
            line |= {"log_likelihood": likelihood, "parameters": round(size), "bic": bic,
                     "aic": 2.0 * size - 2.0 * likelihood, "icl": bic + 2.0 * entropy}  # fmt: skip
        means = []
        for test in held:
            try:
                joint = fit(np.flatnonzero(~test)).predict_joint_log_proba(X[test])
            except Collapse:
                continue
            means.append(float(total[test] @ log_sum(joint, axis=1) / total[test].sum()))
        line["held_out"] = float(np.mean(means)) if means else np.nan
        line["held_out_error"] = float(np.std(means, ddof=1) / len(means) ** 0.5) if len(means) > 1 else np.nan
        lines.append(line)
    return pd.DataFrame(lines).set_index("k")
