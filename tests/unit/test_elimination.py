"""Variable elimination against writing out every assignment."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_engine.errors import ParameterError
from bayes_engine.inference.elimination import Potential, log_partition, marginals
from tests.conftest import examples


@st.composite
def products(draw: st.DrawFn) -> tuple[list[Potential], dict[str, int]]:
    """A random product over up to five hidden variables, two rows, two classes, some potentials 0 in places."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = {name: int(rng.integers(1, 4)) for name in "abcde"[: draw(st.integers(1, 5))]}
    potentials = []
    for _ in range(draw(st.integers(1, 6))):
        scope = tuple(rng.permutation([n for n in sizes if rng.random() < 0.5]).tolist())
        values = rng.random((2, 2, *(sizes[n] for n in scope)))
        values[rng.random(values.shape) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
        with np.errstate(divide="ignore"):
            potentials.append(Potential(scope, np.log(values)))
    return potentials, sizes


@examples(60)
@given(products())
def test_partition_and_marginals_are_sums_over_every_assignment(product: Any) -> None:
    potentials, sizes = product
    hidden = sorted({n for p in potentials for n in p.scope})
    total = np.zeros((2, 2))
    shares = [np.zeros(p.log.shape) for p in potentials]
    for values in itertools.product(*(range(sizes[n]) for n in hidden)):
        at = dict(zip(hidden, values, strict=True))
        cells = [(slice(None), slice(None), *(at[n] for n in p.scope)) for p in potentials]
        weight = np.exp(sum(p.log[cell] for p, cell in zip(potentials, cells, strict=True)))
        total += weight
        for share, cell in zip(shares, cells, strict=True):
            share[cell] += weight
    log_z, found = marginals(potentials, sizes)
    np.testing.assert_allclose(np.exp(log_partition(potentials, sizes)), total, rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_z), total, rtol=1e-12)
    for share, belief in zip(shares, found, strict=True):
        whole = total.reshape(2, 2, *[1] * (share.ndim - 2))
        want = np.divide(share, whole, out=np.zeros_like(share), where=whole > 0)
        np.testing.assert_allclose(np.exp(belief), want, rtol=1e-10, atol=1e-15)


def test_a_table_too_large_is_refused_before_it_is_made() -> None:
    star = [Potential((name, "center"), np.zeros((1, 1, 300, 300))) for name in "abc"]
    sizes = dict.fromkeys(["a", "b", "c", "center"], 300)
    assert log_partition(star, sizes)[0, 0] == pytest.approx(4 * np.log(300))  # leaves first: never more than 90 000
    ring = [Potential(pair, np.zeros((1, 1, 300, 300))) for pair in itertools.combinations("abc", 2)]
    with pytest.raises(
        ParameterError, match=r"would need a table of 2\.7e\+07 cells for each row; fill in some of them"
    ):
        log_partition(ring, sizes)
