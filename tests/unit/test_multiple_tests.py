"""Holm's correction against a case done by hand, and against the closed test that it is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_engine.stats.multiple_tests import holm


def test_by_hand() -> None:
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.5, 0.02])), [0.08, 0.04, 0.5, 0.06])
    assert len(holm(np.array([]))) == 0


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float]) -> None:
    """Adjusted p of a hypothesis: over all sets that hold it, the largest of min(1, |set| · least p in the set)."""
    m = len(p_values)
    for i, p in enumerate(holm(np.array(p_values))):
        sets = [s for s in product((0, 1), repeat=m) if s[i]]
        want = max(min(1.0, sum(s) * min(q for q, kept in zip(p_values, s, strict=True) if kept)) for s in sets)
        assert p == pytest.approx(want)
