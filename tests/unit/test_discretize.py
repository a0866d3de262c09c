"""Cut points against published ones, a calculation by hand, and a second implementation by brute force."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayes_engine import NaiveBayes, load_dataset
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.models.discretizer import MDLPDiscretizer
from bayes_engine.table.discretize import (
    METHODS,
    cuts_for,
    equal_width_cuts,
    interval_names,
    mdlp_trace,
    quantile_cuts,
)

# published, and as Weka 3.9 (supervised Discretize, its defaults) makes them --------------------------------------

IRIS = ((5.55, 6.15), (2.95, 3.35), (2.45, 4.75), (0.8, 1.75))
WINE = (
    (12.185, 12.78), (1.42, 2.235), (2.03,), (17.9,), (88.5,), (1.84, 2.335), (0.975, 1.575, 2.31), (0.395,), (1.27,),
    (3.46, 7.55), (0.785, 0.975, 1.295), (2.115, 2.475), (468.0, 755.0, 987.5),
)  # fmt: skip
PENGUINS = {  # with cells missing
    "bill_length_mm": (42.35, 46.05),
    "bill_depth_mm": (15.45, 16.35, 17.35),
    "flipper_length_mm": (192.5, 206.5),
    "body_mass_g": (4087.5, 4325.0, 4825.0),
}


@pytest.mark.parametrize(("load", "published"), [(load_iris, IRIS), (load_wine, WINE)])
def test_mdlp_makes_the_published_cuts(load: Any, published: Any) -> None:
    X, y = load(return_X_y=True)
    for column, cuts in zip(X.T, published, strict=True):
        assert cuts_for("mdlp", column, y, 3) == pytest.approx(cuts, rel=1e-12)


def test_mdlp_passes_over_missing_cells() -> None:
    frame = load_dataset("penguins").frame
    codes = frame["species"].astype("category").cat.codes.to_numpy()
    for name, cuts in PENGUINS.items():
        x = frame[name].to_numpy(dtype=float)
        assert np.isnan(x).any()
        assert cuts_for("mdlp", x, codes, 3) == pytest.approx(cuts, rel=1e-12)


# by hand ------------------------------------------------------------------------------------------------------------


def test_the_criterion_by_hand() -> None:
    """S = 3 of class 0 below, 1 of class 0 and 4 of class 1 above: Ent(S) = 1, S₁ = {3, 0}, S₂ = {1, 4}."""
    x, codes = [1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 0, 1, 0, 1, 1, 1]
    upper = -(0.2 * math.log2(0.2) + 0.8 * math.log2(0.8))
    gain = 1 - 5 / 8 * upper
    delta = math.log2(7) - (2 * 1 - 1 * 0 - 2 * upper)
    [split] = mdlp_trace(x, codes, 2)
    assert (split.cut, split.n, split.accepted) == (3.5, 8.0, False)
    assert split.gain == pytest.approx(gain) == pytest.approx(0.5487949)
    assert split.threshold == pytest.approx((math.log2(7) + delta) / 8) == pytest.approx(0.6323212)
    assert cuts_for("mdlp", x, codes, 2) == ()


def test_three_times_the_rows_pay_for_the_same_cut() -> None:
    x, codes = [1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 0, 1, 0, 1, 1, 1]
    root, *_ = mdlp_trace(x * 3, codes * 3, 2)
    assert (root.cut, root.n, root.accepted) == (3.5, 24.0, True)
    assert root.gain == pytest.approx(0.5487949)


def test_the_trace_begins_with_the_whole_column_and_names_every_interval() -> None:
    X, y = load_iris(return_X_y=True)
    trace = mdlp_trace(X[:, 2], y, 3)
    assert [(round(s.cut, 2), s.n, s.accepted) for s in trace] == [
        (2.45, 150, True),
        (4.75, 100, True),
        (4.45, 45, False),
        (5.15, 55, False),
    ]
    assert all(s.accepted == (s.gain > s.threshold) for s in trace)
    assert trace[0].gain == pytest.approx(0.9182958)  # log₂ 3 − 2/3: setosa alone lies below


@pytest.mark.parametrize(
    ("x", "codes"),
    [
        ([], []),
        ([2.0], [1]),
        ([2.0, 2.0, 2.0], [0, 1, 0]),
        ([1.0, 2.0, 3.0], [1, 1, 1]),
        ([np.nan, np.nan], [0, 1]),
        ([1.0, np.nan, np.inf, -np.inf], [0, 1, 1, 1]),
    ],
)
def test_where_nothing_can_be_cut(x: list[float], codes: list[int]) -> None:
    assert mdlp_trace(x, codes, 2) == ()
    if x != [1.0, 2.0, 3.0]:
        assert [cuts_for(method, x, codes, 2) for method in METHODS] == [(), (), ()]


def test_equal_values_are_never_parted_and_no_gain_is_no_cut() -> None:
    [split] = mdlp_trace([1, 1, 2, 2], [0, 1, 0, 1], 2)
    assert (split.cut, split.gain, split.accepted) == (1.5, 0.0, False)


def test_of_equal_gains_the_lowest_cut_wins_in_any_order_of_the_rows() -> None:
    half = [1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0]  # with its mirror image: in floats the upper gain is larger by a rounding
    x, codes = np.arange(22.0), np.array(half + half[::-1])
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(22)
        assert mdlp_trace(x[order], codes[order], 2)[0].cut == 2.5


@pytest.mark.slow
def test_many_classes_do_not_overflow() -> None:
    x = np.repeat(np.arange(700.0), 8)  # 3^700 is no float
    assert len(cuts_for("mdlp", x, x.astype(int), 700)) > 100


# a second implementation --------------------------------------------------------------------------------------------


def reference(x: list[float], codes: list[int]) -> list[float]:
    """Fayyad & Irani as written, over every value, in whole numbers as long as possible."""

    def entropy(labels: list[int]) -> float:
        return -sum(float(p) * math.log2(p) for p in (Fraction(m, len(labels)) for m in Counter(labels).values()))

    rows = sorted((v, c) for v, c in zip(x, codes, strict=True) if not math.isnan(v))
    labels = [c for _, c in rows]
    best = None
    for i in range(1, len(rows)):
        if rows[i - 1][0] < rows[i][0]:
            sides = labels[:i], labels[i:]
            gain = entropy(labels) - sum(len(s) / len(rows) * entropy(s) for s in sides)
            if best is None or gain > best[0] + 1e-9:
                best = gain, i, sides
    if best is None:
        return []
    gain, i, sides = best
    delta = math.log2(3 ** len(set(labels)) - 2) - len(set(labels)) * entropy(labels)
    delta += sum(len(set(side)) * entropy(side) for side in sides)
    if gain <= 1e-9 or gain <= (math.log2(len(rows) - 1) + delta) / len(rows):
        return []
    xs = [v for v, _ in rows]
    return [*reference(xs[:i], sides[0]), (xs[i - 1] + xs[i]) / 2, *reference(xs[i:], sides[1])]


@st.composite
def columns(draw: st.DrawFn, most: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """A column that follows the class more or less, with ties and missing cells."""
    n = draw(st.integers(2, most))
    codes = draw(arrays(np.intp, n, elements=st.integers(0, 2)))
    noise = draw(arrays(np.float64, n, elements=st.sampled_from([0.0, 0.5, 1.0, 2.0, 4.5, math.nan])))
    return codes * draw(st.sampled_from([0.0, 1.0, 3.0])) + noise, codes


@given(columns())
def test_the_cuts_are_those_of_brute_force(column: tuple[np.ndarray, np.ndarray]) -> None:
    x, codes = column
    assert list(cuts_for("mdlp", x, codes, 3)) == reference(x.tolist(), codes.tolist())


@given(columns(), st.data())
def test_a_weight_is_so_many_rows(column: tuple[np.ndarray, np.ndarray], data: st.DataObject) -> None:
    x, codes = column
    weight = data.draw(arrays(np.intp, len(x), elements=st.integers(0, 4)))
    for method in METHODS:
        repeated = cuts_for(method, np.repeat(x, weight), np.repeat(codes, weight), 3, bins=4)
        assert cuts_for(method, x, codes, 3, weight, bins=4) == repeated


def test_weights_that_are_no_whole_numbers_leave_no_ghost_of_a_class() -> None:
    """What is left of a class by subtraction is seldom 0; it must not count in k."""
    rng = np.random.default_rng(0)
    codes = np.sort(rng.integers(0, 4, 300))
    x, weight = codes // 2 * 10 + rng.normal(codes % 2, 1), rng.integers(1, 5, 300)
    whole, parts = (mdlp_trace(x, codes, 4, w) for w in (weight, weight * (1 + 1e-13 * rng.random(300))))
    assert [s.cut for s in parts] == [s.cut for s in whole]
    assert [s.threshold for s in parts] == pytest.approx([s.threshold for s in whole])


def test_a_total_weight_below_two_has_no_negative_code_length() -> None:
    [light] = mdlp_trace([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1], 2, [0.1, 0.5, 0.1, 0.5])
    assert light.threshold == pytest.approx((math.log2(7) - 2) / 1.2)


# the interval rule --------------------------------------------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.one_of(finite, st.integers(0, 5).map(float)), min_size=1, max_size=20), st.integers(2, 6))
def test_cuts_part_the_values_and_names_tell_the_intervals_apart(values: list[float], bins: int) -> None:
    x = np.array(values)
    codes = (x > np.sort(x)[(len(x) - 1) // 2]).astype(int)
    for method in METHODS:
        cuts = cuts_for(method, x, codes, 2, bins=bins)
        assert list(cuts) == sorted(set(cuts))
        assert all(math.isfinite(c) and x.min() <= c < x.max() for c in cuts)
        assert method == "mdlp" or len(cuts) < bins
        names = interval_names(cuts)
        assert len(names) == len(set(names)) == len(cuts) + 1
        if method != "equal-width":  # whose intervals may be empty
            assert set(np.searchsorted(cuts, x, side="left")) == set(range(len(cuts) + 1))


@pytest.mark.parametrize(
    ("low", "high"),
    [(1.0, math.nextafter(1.0, 2.0)), (math.nextafter(1.0, 0.0), 1.0), (1.5e308, 1.7e308), (-1.7e308, 1.7e308),
     (0.0, 5e-324), (-5e-324, 0.0)],
)  # fmt: skip
def test_a_cut_between_floats_that_have_no_middle(low: float, high: float) -> None:
    x, codes = [low, low, high, high], [0, 0, 1, 1]
    for cuts in (cuts_for("mdlp", x, codes, 2), quantile_cuts(x, 2)):
        assert np.searchsorted(cuts, x, side="left").tolist() == codes


# without classes ----------------------------------------------------------------------------------------------------


def test_equal_width() -> None:
    assert equal_width_cuts([2.0, 4.0, np.nan, 12.0], 5) == pytest.approx((4.0, 6.0, 8.0, 10.0))
    assert equal_width_cuts([3.0, 3.0], 4) == ()
    assert equal_width_cuts([-1.7e308, 1.7e308], 2) == (0.0,)
    assert cuts_for("equal-width", [0.0, 4.0, 100.0], [0, 1, 0], 2, [1, 1, 0], bins=2) == (2.0,)


def test_quantiles() -> None:
    x = np.random.default_rng(0).permutation(1000.0 + np.arange(1000))
    sizes = np.bincount(np.searchsorted(quantile_cuts(x, 8), x, side="left"))
    assert sizes.tolist() == [125] * 8
    assert quantile_cuts([1, 2, 3, 4, 5], 2) == (3.5,)
    assert quantile_cuts([0] * 7 + [1, 2, 3], 4) == (0.5, 1.5)  # both quartiles up to the middle fall on the zeros
    assert quantile_cuts([1, 2] + [3] * 8, 2) == (2.5,)
    assert quantile_cuts([1, 2, 3], 2, [5, 1, 1]) == (1.5,)


def test_parameters_that_cannot_be_meant() -> None:
    with pytest.raises(ParameterError, match="'chi' is no way to discretize; choose one of 'mdlp', 'equal-width'"):
        cuts_for("chi", [1.0], [0], 1)
    for bins in (1, 0, True, 2.5, "3"):
        with pytest.raises(ParameterError, match=f"bins={bins!r}: the number of intervals"):
            cuts_for("quantile", [1.0], [0], 1, bins=bins)  # type: ignore[arg-type]


def test_names() -> None:
    assert interval_names((2.45, 4.75)) == ("≤ 2.45", "2.45 – 4.75", "> 4.75")
    assert interval_names((-1.0, 3.3499999999999996)) == ("≤ −1", "−1 – 3.35", "> 3.35")
    assert interval_names((0.123456781, 0.123456789)) == (
        "≤ 0.12345678", "0.12345678 – 0.12345679", "> 0.12345679",
    )  # fmt: skip
    assert interval_names((1e-9, 1234567.5, 1e15)) == ("≤ 1e-09", "1e-09 – 1234568", "1234568 – 1e+15", "> 1e+15")
    assert interval_names(()) == ("−∞ – ∞",)


# the transformer ----------------------------------------------------------------------------------------------------


@parametrize_with_checks([MDLPDiscretizer(), MDLPDiscretizer("quantile", bins=3), MDLPDiscretizer("equal-width")])
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture
def iris() -> tuple[pd.DataFrame, pd.Series]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.set_axis(X.index + 1000)
    X.iloc[3, 1] = np.nan
    return X, y.set_axis(X.index).map(dict(enumerate(load_iris().target_names)))


def test_codes_and_missing(iris: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = iris
    model = MDLPDiscretizer().fit(X, y)
    assert list(model.cuts_) == list(model.trace_) == X.columns.tolist()
    assert model.cuts_["petal length (cm)"] == pytest.approx((2.45, 4.75))
    codes = model.transform(X)
    assert np.isnan(codes[3, 1]) and np.isnan(codes).sum() == 1
    assert set(codes[:, 2]) == {0.0, 1.0, 2.0}
    framed = clone(model).set_output(transform="pandas").fit(X, y).transform(X)
    pd.testing.assert_frame_equal(framed, pd.DataFrame(codes, index=X.index, columns=X.columns))


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_intervals_are_discrete_to_a_classifier(iris: tuple[pd.DataFrame, pd.Series], output: str) -> None:
    X, y = iris
    discretizer = MDLPDiscretizer(encode="interval").set_output(transform=output)
    pipeline = make_pipeline(discretizer, NaiveBayes()).fit(X, y)
    schema = pipeline[-1].schema_
    assert [v.kind for v in schema] == ["categorical"] * 4
    assert schema["petal width (cm)"].levels == ("≤ 0.8", "0.8 – 1.75", "> 1.75")
    intervals = discretizer.transform(X)
    assert intervals.index.equals(X.index)
    assert intervals.iloc[:, 1].isna().tolist() == [i == 3 for i in range(150)]
    seen = intervals["petal width (cm)"] == "0.8 – 1.75"
    expected = (seen & (y == "versicolor")).sum() + 1, (y == "versicolor").sum() + 3
    ledger = pipeline[-1].explain(intervals.loc[seen].iloc[[0]])
    [term] = [term for row, term in ledger.rows if row.child == "petal width (cm)"]
    assert term[0, 1] == pytest.approx(math.log(expected[0] / expected[1]))


def test_an_empty_interval_is_a_declared_level() -> None:
    model = MDLPDiscretizer("equal-width", bins=3, encode="interval")
    intervals = model.fit_transform([[0.0], [1.0], [9.0]])
    assert intervals["x0"].cat.categories.tolist() == ["≤ 3", "3 – 6", "> 6"]
    assert intervals["x0"].tolist() == ["≤ 3", "≤ 3", "> 6"]


def test_a_fit_that_cannot_be() -> None:
    X, y = [[1.0], [2.0]], ["a", "b"]
    with pytest.raises(ParameterError, match="no way to discretize"):
        MDLPDiscretizer("chi").fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="encode='onehot' is none of"):
        MDLPDiscretizer(encode="onehot").fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(TableError, match="requires y"):
        MDLPDiscretizer().fit(X)
    with pytest.raises(TableError, match="X has 2 rows and y has 1"):
        MDLPDiscretizer().fit(X, ["a"])
    with pytest.raises(TableError, match="'a' stands twice"):
        MDLPDiscretizer().fit(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), ["a"])
    assert MDLPDiscretizer("quantile", bins=2).fit(X).cuts_ == {"x0": (1.5,)}
