"""What becomes of multinomial and complement naive Bayes as one class becomes rarer (Rennie, Shih, Teevan & Karger
2003, §3.1): an embedded table of texts or counts, of which fewer and fewer documents of one class are kept for
training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayes_engine.datasets import load_dataset
from bayes_engine.errors import listen
from bayes_engine.logspace import Array
from bayes_engine.models.counted_naive_bayes import ComplementNB, MultinomialNB
from bayes_engine.progress import steps
from bayes_engine.table.text import TextRule

Counted = Literal["sms-spam", "sms-spam-zh", "digits"]
RARE: dict[str, Any] = {"sms-spam": "spam", "sms-spam-zh": "垃圾", "digits": 8}
"""The tables, and the class of each that becomes rare."""
HELD_OUT, DRAWS, SIZES = 0.3, 5, 10
"""The share of each class that is held out, how many times training documents are drawn, and how many sizes of the
rare class are tried, each about as many times as large as the one before."""


@dataclass(frozen=True)
class RareClass:
    """Of the two models, multinomial first, as the class `rare` has `sizes` (m,) training documents: `recall` of it and
    `accuracy`, each (2, draws, m), on held-out documents; `norm` (2, C, m) Σ_v |log θ_cv| or Σ_v |log θ_c̃v| of each
    class's weights, a mean over the draws. `documents` (C,) are those of each class for training when none is left out,
    of V `terms`; `held_out` (C,) those to be judged."""

    classes: tuple[Any, ...]
    rare: int
    terms: int
    documents: tuple[int, ...]
    held_out: tuple[int, ...]
    sizes: tuple[int, ...]
    recall: Array
    accuracy: Array
    norm: Array

    def place(self, n: int) -> int:
        """The place of the size nearest to n; the largest where n is 0."""
        return len(self.sizes) - 1 if n <= 0 else int(np.argmin(np.abs(np.array(self.sizes) - n)))


@lru_cache(maxsize=8)
def rare_class(
    table: Counted, seed: int = 0, *, alpha: float = 1.0, fit_prior: bool = True, draws: int = DRAWS
) -> RareClass:
    """The study of one of the tables, with the pseudo-count `alpha` of each term. Training documents of the rare class
    are drawn in an order by `seed`, so that a larger number holds the smaller ones; those held out are the same for
    every number of a draw. `fit_prior` is whether the multinomial has the class prior of its training documents, or a
    uniform one; complement naive Bayes has none.

    >>> study = rare_class("sms-spam-zh", draws=2)
    >>> study.classes[study.rare], study.sizes[0], study.recall.shape == (2, 2, len(study.sizes))
    ('垃圾', 2, True)
    """
    counts, codes, classes = documents_of(table)
    rare, k = classes.index(RARE[table]), len(classes)
    rng = np.random.default_rng(seed)
    held = np.array([round(HELD_OUT * n) for n in np.bincount(codes)])
    whole = np.bincount(codes) - held
    sizes = sorted({round(s) for s in np.geomspace(2, whole[rare], SIZES)})
    recall, accuracy = np.zeros((2, 2, draws, len(sizes)))
    norm = np.zeros((2, k, len(sizes)))
    for i in range(draws):
        order = [rng.permutation(np.flatnonzero(codes == c)) for c in range(k)]
        test = np.concatenate([rows[:n] for rows, n in zip(order, held, strict=True)])
        for j in steps(range(len(sizes))):
            train = training_rows(order, held, rare, sizes[j])
            for m, model in enumerate(_fitted(counts[train], codes[train], alpha, fit_prior)):
                guess = model.predict(counts[test])
                right = guess == codes[test]
                recall[m, i, j], accuracy[m, i, j] = right[codes[test] == rare].mean(), right.mean()
                norm[m, :, j] += np.abs(model.feature_log_prob_).sum(axis=1) / draws
    return RareClass(
        classes,
        rare,
        counts.shape[1],
        tuple(whole.tolist()),
        tuple(held.tolist()),
        tuple(sizes),
        recall,
        accuracy,
        norm,
    )


def training_rows(order: list[NDArray[np.intp]], held: NDArray[np.intp], rare: int, size: int) -> NDArray[np.intp]:
    """The rows of each class that are not held out, of the rare one the first `size`."""
    kept = [rows[n:] for rows, n in zip(order, held, strict=True)]
    kept[rare] = kept[rare][:size]
    return np.concatenate(kept)


def _fitted(counts: Any, codes: NDArray[np.intp], alpha: float, fit_prior: bool) -> tuple[MultinomialNB, ComplementNB]:
    with listen():
        multinomial = MultinomialNB(alpha=alpha, fit_prior=fit_prior).fit(counts, codes)
        return multinomial, ComplementNB(alpha=alpha).fit(counts, codes)


@lru_cache(maxsize=4)
def documents_of(table: Counted) -> tuple[Any, NDArray[np.intp], tuple[Any, ...]]:
    """The counts (n, V), CSR, of the documents of a table, their classes (n,) as places, and the classes."""
    data = load_dataset(table)
    target = data.schema.target
    assert target is not None
    classes = tuple(target.levels)
    codes = np.array([classes.index(label) for label in data.frame[target.name]], dtype=np.intp)
    text = next((v.name for v in data.schema if v.kind == "text"), None)
    if text is None:
        names = list(data.schema.features.names)
        return sparse.csr_array(data.frame[names].to_numpy(dtype=float)), codes, classes
    return sparse.csr_array(TextRule().vectorizer().fit_transform(data.frame[text])), codes, classes
