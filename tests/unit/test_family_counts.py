"""Tables of several columns, against counting row by row."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_engine.errors import ParameterError, SchemaMismatch
from bayes_engine.stats.families import Families, all_pairs, count_cells, count_families, in_order
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import Table, encode
from bayes_engine.table.schema import Schema, Variable
from tests.conftest import examples

LEVELS = {"a": ("u", "v", "w"), "b": ("x", "y"), "c": ("p", "q", "r", "s")}
SCHEMA = Schema((*(Variable(n, "categorical", levels) for n, levels in LEVELS.items()), Variable("z", "continuous")))


@st.composite
def counted(draw: st.DrawFn) -> Any:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 40))
    X = pd.DataFrame({name: rng.choice([*levels, None, "never"], n) for name, levels in LEVELS.items()})
    X["z"] = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    weight = draw(st.sampled_from([None, np.round(rng.uniform(0, 3, n), 2)]))
    return X, Labels(3, rng.integers(0, 3, n), weight)


@examples(40)
@given(counted())
def test_every_cell_row_by_row(case: Any) -> None:
    """Slot 0 is the missing cell, and a value outside the levels counts as one."""
    X, labels = case
    names = [*all_pairs(SCHEMA), ("a", "b", "c")]
    found = count_families(encode(X, SCHEMA), labels, names)
    weight = np.ones(len(X)) if labels.weight is None else labels.weight
    assert set(found) == set(names)
    for name in names:
        want = np.zeros((3, *(1 + len(LEVELS[n]) for n in name)))
        for i, row in enumerate(X.to_dict("records")):
            places = (LEVELS[n].index(row[n]) + 1 if row[n] in LEVELS[n] else 0 for n in name)
            want[(labels.codes[i], *places)] += weight[i]
        np.testing.assert_allclose(found[name], want, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("d", [2, 3, 8, 17])
def test_pairs_counted_by_groups_of_columns(d: int) -> None:
    """Columns of one level to nine, every third without a missing cell."""
    rng = np.random.default_rng(d)
    n, sizes = 3000, np.resize([3, 2, 9, 5, 1, 4], d)
    codes = {f"x{j}": rng.integers(int(j % 3 == 0), 1 + size, n).astype(np.uint8) for j, size in enumerate(sizes)}
    schema = Schema(
        tuple(Variable(name, "categorical", tuple(range(s))) for name, s in zip(codes, sizes.tolist(), strict=True))
    )
    y = rng.integers(0, 3, n)
    tables = count_families(Table(schema, tuple(codes.values()), n), Labels(3, y), all_pairs(schema))
    assert len(tables) == d * (d - 1) // 2
    for (a, b), table in tables.items():
        want = np.zeros(table.shape)
        np.add.at(want, (y, codes[a], codes[b]), 1)
        np.testing.assert_array_equal(table, want)


@examples(25)
@given(counted())
def test_moments_within_every_cell(case: Any) -> None:
    X, labels = case
    found = count_cells(encode(X, SCHEMA), labels, [("a", "b")])["a", "b"]
    weight = np.ones(len(X)) if labels.weight is None else labels.weight
    code = {n: [LEVELS[n].index(v) + 1 if v in LEVELS[n] else 0 for v in X[n]] for n in "ab"}
    for k, (c, i, j) in enumerate(itertools.product(range(3), range(4), range(3))):
        rows = (labels.codes == c) & (np.array(code["a"]) == i) & (np.array(code["b"]) == j) & X["z"].notna().to_numpy()
        w, z = weight[rows], X["z"].to_numpy()[rows]
        assert found.weight[k, 0] == pytest.approx(w.sum())
        if w.sum() > 0:
            mean = w @ z / w.sum()
            assert found.mean[k, 0] == pytest.approx(mean, abs=1e-12)
            assert found.m2[k, 0] == pytest.approx(w @ (z - mean) ** 2, abs=1e-12)


def test_whole_weights_stay_whole_past_a_block() -> None:
    n = 40_000  # more than two blocks
    X = pd.DataFrame({"a": np.resize(["u", "v", "w", None], n), "b": np.resize(["x", "y"], n)})
    schema = Schema(SCHEMA.variables[:2])
    table = count_families(encode(X, schema), Labels(1, np.zeros(n, dtype=int)), [("a", "b")])["a", "b"]
    want = [[0, 0, n // 4], [0, n // 4, 0], [0, 0, n // 4], [0, n // 4, 0]]
    np.testing.assert_array_equal(table[0], want)


def test_too_many_cells_are_refused_before_they_are_made() -> None:
    many = tuple(f"v{i}" for i in range(6000))
    schema = Schema((Variable("street", "categorical", many), Variable("name", "categorical", many)))
    table = encode(pd.DataFrame({"street": ["v0"], "name": ["v1"]}), schema)
    labels = Labels(2, np.array([0]))
    for call in (count_families, count_cells):
        with pytest.raises(ParameterError, match=r"would hold 7\.2e\+07 cells; leave out or coarsen the columns with"):
            call(table, labels, [("street", "name")])


def test_families_of_other_names_do_not_merge() -> None:
    one, other = Families({("a", "b"): np.zeros((1, 2, 2))}), Families({("a", "c"): np.zeros((1, 2, 2))})
    assert not Families() and one
    for call in (one.__add__, one.__sub__):
        with pytest.raises(SchemaMismatch, match="statistics of different families of columns do not merge; fit both"):
            call(other)
    assert in_order(SCHEMA, ("c", "a")) == ("a", "c")


def test_joint_codes_of_many_columns_stay_as_few_as_the_rows() -> None:
    rng = np.random.default_rng(0)
    schema = Schema(tuple(Variable(f"v{j:02}", "categorical", tuple("abcdefgh")) for j in range(30)))
    frame = pd.DataFrame(rng.choice(list("abcdefgh"), (20, 30)), columns=list(schema.names))
    counts = FamilyCounts(encode(frame, schema))
    joint = counts.joint(range(30))  # 8³⁰ combinations, of which 20 are there
    assert joint.size <= 4 * 20 + 64 and sorted(set(joint.codes.tolist())) == sorted(joint.codes.tolist())
