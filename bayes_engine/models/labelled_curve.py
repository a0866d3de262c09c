"""How much rows without a label help: accuracy on rows held out as more and more labels are seen, by the labelled rows
alone and by EM on all (Nigam, McCallum, Thrun & Mitchell 2000, Figure 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from bayes_engine.em import Collapse
from bayes_engine.errors import TableError, listen
from bayes_engine.logspace import Array
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from bayes_engine.progress import steps

HELD_OUT = 0.3
"""The share of the rows that is held out for the accuracy."""
SPLITS = 5
"""So many times the rows are divided anew."""
SIZES = 6
"""So many numbers of labels are tried, each about as many times as large as the one before."""


@dataclass(frozen=True)
class LabelledCurve:
    """Accuracy on `held_out` rows with `labels` (m,) labelled rows among `rows`: `supervised` and `em`, each (splits,
    m), NaN where a class lost all of its rows."""

    labels: tuple[int, ...]
    rows: int
    held_out: int
    supervised: Array
    em: Array


def accuracy_by_labels(
    X: pd.DataFrame,
    y: pd.Series,
    estimator: NaiveBayes,
    *,
    seed: int = 0,
    splits: int = SPLITS,
    unlabeled_weight: float = 1.0,
    hard: bool = False,
    max_iter: int = 200,
) -> LabelledCurve:
    """The curve of a table of rows X with all labels y. A split by `seed` holds rows out, and of the rest the first m
    keep their labels, one of each class before all others; more labels are those and further ones. EM has the others of
    the rest as well, at `unlabeled_weight`.

    Raises TableError where a class has fewer than two rows.

    >>> X = pd.DataFrame({"note": ["win cash", "cash now", "see you", "you there"] * 5})
    >>> y = pd.Series(["spam", "spam", "ham", "ham"] * 5)
    >>> model = NaiveBayes(likelihoods={"note": "multinomial"})
    >>> curve = accuracy_by_labels(X, y, model, splits=1)
    >>> curve.labels, curve.held_out
    ((2, 3, 4, 6, 9, 14), 6)
    """
    codes, levels = pd.factorize(y)
    if np.bincount(codes).min() < 2:
        raise TableError("a class has one row only: it cannot be both learnt and held out")
    n = len(codes)
    held = round(HELD_OUT * n)
    sizes = _sizes(len(levels), n - held)
    supervised, em = np.full((2, splits, len(sizes)), np.nan)
    rng = np.random.default_rng(seed)
    for i, (test, rest) in enumerate(_splits(rng, codes, held, splits)):
        frame, truth = X.iloc[test], codes[test]
        for j in steps(range(len(sizes))):
            seen = rest[: sizes[j]]
            labels = np.full(n, None, dtype=object)
            labels[seen] = np.asarray(levels, dtype=object)[codes[seen]]
            with listen():
                alone = clone(estimator).fit(X.iloc[seen], pd.Series(labels[seen], name="class"))
                supervised[i, j] = _right(alone, frame, truth, levels)
                try:
                    climbed = SemiSupervisedNB(clone(estimator), classes=list(levels), hard=hard, max_iter=max_iter,
                                               unlabeled_weight=unlabeled_weight)  # fmt: skip
                    climbed.fit(X.iloc[rest], pd.Series(labels[rest], name="class"))
                    em[i, j] = _right(climbed, frame, truth, levels)
                except Collapse:
                    pass
    return LabelledCurve(tuple(sizes), n - held, held, supervised, em)


def _right(model: Any, frame: pd.DataFrame, truth: NDArray[np.intp], levels: Any) -> float:
    """The share of rows whose likeliest class is the true one; one without a posterior is wrong."""
    own = pd.Index(levels).get_indexer(pd.Index(model.classes_))
    joint = model.predict_joint_log_proba(frame)
    return float(np.mean(own[joint.argmax(axis=1)] == truth))


def _sizes(classes: int, rows: int) -> list[int]:
    """Numbers of labels, from one a class to all of the rows, each about as many times as large as the one before."""
    return sorted({round(s) for s in np.geomspace(classes, rows, SIZES)})


def _splits(
    rng: np.random.Generator, codes: NDArray[np.intp], held: int, splits: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The rows held out and the rest in the order in which labels are seen, the first of each class before all others;
    each class keeps a row in the rest."""
    for _split in range(splits):
        order = rng.permutation(len(codes))
        first = np.unique(codes[order], return_index=True)[1]  # one of each class is learnt from
        others = np.delete(order, first)
        yield others[:held], np.concatenate([order[np.sort(first)], others[held:]])
