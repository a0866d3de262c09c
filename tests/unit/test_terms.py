"""Sums of terms in shared words: those of the dense product, over many blocks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bayes_engine.stats import terms
from bayes_engine.stats.labels import Labels
from bayes_engine.table.matrix import Matrix


@pytest.mark.parametrize("classes", [1, 2, 3, 5, 9, 40])
@pytest.mark.parametrize("most", [0, 1, 9, 10**5, 2**40, 2**50])
def test_words_are_unpacked_before_a_sum_is_larger_than_its_share(
    monkeypatch: pytest.MonkeyPatch, classes: int, most: int
) -> None:
    rng = np.random.default_rng(classes)
    X = rng.integers(0, most, (900, 4), endpoint=True) * (rng.random((900, 4)) < 0.5)
    codes = np.minimum(rng.integers(0, classes, 900), rng.integers(0, classes, 900))  # classes are not alike in number
    added, unpacked = [], []
    add, unpack = terms._SharedWords.add, terms._SharedWords.unpack
    monkeypatch.setattr(terms._SharedWords, "add", lambda self, *a: (added.append(a), add(self, *a)))
    monkeypatch.setattr(terms._SharedWords, "unpack", lambda self: (unpacked.append(self), unpack(self)))
    monkeypatch.setattr(terms, "SPARSE_CELLS", 100)
    counts = terms.term_counts(Matrix.of(sparse.csr_array(X)), Labels(classes, codes), ("a", "b", "c", "d"))
    exact = [[int(total) for total in X[codes == c].astype(object).sum(axis=0)] for c in range(classes)]
    if max(map(max, exact)) < 2**53:
        assert counts.sums.tolist() == exact
    np.testing.assert_allclose(counts.sums, np.array(exact, dtype=float), rtol=1e-15)
    if most == 1 and classes < 5:
        assert len(unpacked) <= 2 < 8 <= len(added)
