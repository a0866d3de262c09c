"""NaiveBayes: every numeric fault it can meet, its parameters and its errors, by their text."""

from __future__ import annotations

import pickle
import threading
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from bayes_engine import (
    TAN,
    BayesEngineError,
    BayesianNetworkClassifier,
    Dirichlet,
    EstimationWarning,
    GaussianNB,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    Schema,
    Status,
    UndefinedPosterior,
    Variable,
)
from bayes_engine.errors import NotASubset, ParameterError, PrecisionLost, SchemaMismatch, TableError, UnseenLevel
from bayes_engine.factors.gaussian import GaussianLeaf
from bayes_engine.factors.table import TableLeaf
from bayes_engine.models.naive_bayes import PRESETS
from tests.conftest import crossed, slowly

LABELS = ["a", "a", "a", "b", "b", "b"]


@pytest.fixture
def mixed() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "colour": ["green", "green", "dark", "dark", "dark", "dark"],
            "mass": [1.0, 2.0, 4.0, 6.0, 7.0, 9.0],
        }
    )


def numbers(*columns: list[float]) -> pd.DataFrame:
    return pd.DataFrame({f"x{j}": column for j, column in enumerate(columns)})


# undefined posteriors ------------------------------------------------------------------------------------------------


@pytest.fixture
def strict() -> NaiveBayes:
    """Without smoothing: u is only seen in a, w only in b, and the pair (u, w) in none."""
    X = pd.DataFrame({"x": ["u", "u", "v", "v", "v", "v"], "z": ["s", "s", "s", "w", "w", "s"]})
    return NaiveBayes(smoothing="none").fit(X, LABELS)


def test_NF01_impossible_evidence_raises_in_predict_and_is_flagged_elsewhere(strict: NaiveBayes) -> None:
    rows = pd.DataFrame({"x": ["v", "u", "v", "u"], "z": ["s", "w", "w", "w"]})
    for predict in (strict.predict, strict.predict_proba, strict.predict_log_proba):
        with pytest.raises(
            UndefinedPosterior, match=r"no posterior for 2 rows: 1, 3. Their likelihood is 0 in every class"
        ) as error:
            predict(rows)
        assert error.value.rows == (1, 3)
    decision, ledger = strict.decide(rows), strict.explain(rows)
    expected = [Status.OK, Status.IMPOSSIBLE, Status.OK, Status.IMPOSSIBLE]
    assert decision.status.tolist() == ledger.status.tolist() == expected
    assert decision.action.tolist()[1::2] == [None, None] and decision.position.tolist()[1::2] == [-1, -1]
    assert ledger.posterior()[1].tolist() == [0.0, 0.0]
    assert np.isinf(strict.risk(rows)[1]).all() and np.isinf(decision.risk[1]) and np.isinf(decision.gap[1])
    assert not np.isnan(strict.predict_joint_log_proba(rows)).any()


def test_NF02_never_seen_in_one_class(strict: NaiveBayes) -> None:
    row = pd.DataFrame({"x": ["u"], "z": ["s"]})
    assert strict.predict_proba(row).tolist() == [[1.0, 0.0]]
    assert strict.predict_log_proba(row).tolist() == [[0.0, -np.inf]]
    assert strict.explain(row).contributions("a", "b")["x"].tolist() == [np.inf]


@pytest.mark.slow
@pytest.mark.parametrize("d", [3_000, slowly(10_000)])
def test_NF03_thousands_of_features_do_not_underflow(d: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (20, d)), np.repeat([0, 1], 10)
    schema = Schema(tuple(Variable(f"x{j}", "binary", (0, 1), declared=True) for j in range(d)))
    model = NaiveBayes(schema=schema).fit(X, y)
    ledger = model.explain(X)
    joint, p = ledger.joint(), ledger.posterior()
    assert np.isfinite(joint).all() and (joint < -800).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert np.isfinite(ledger.contributions(1, 0).to_numpy().sum())


@pytest.mark.parametrize("far", [1e155, 1e200, -1.7e308])
def test_NF04_a_far_point_is_out_of_range(mixed: pd.DataFrame, far: float) -> None:
    model = NaiveBayes().fit(mixed, LABELS)
    decision = model.decide(pd.DataFrame({"colour": ["dark", "dark"], "mass": [far, 8.0]}))
    assert decision.status.tolist() == [Status.OUT_OF_RANGE, Status.OK]
    assert decision.action.tolist() == [None, "b"]


def test_NF04_a_far_point_that_still_has_a_density_has_a_posterior(mixed: pd.DataFrame) -> None:
    row = pd.DataFrame({"colour": ["dark"], "mass": [1e150]})
    assert NaiveBayes(variance="unbiased").fit(mixed, LABELS).predict_proba(row).sum() == 1.0


def test_NF04_many_far_cells_whose_sum_overflows() -> None:
    X = numbers(*[[1.0, 2.0, 3.0, 5.0]] * 8)
    model = NaiveBayes().fit(X, list("aabb"))
    far = numbers(*[[1.3e154]] * 8)
    assert model.decide(far).status.tolist() == [Status.OUT_OF_RANGE]
    assert model.explain(far).status.tolist() == [Status.OUT_OF_RANGE]


def test_NF04_impossible_in_one_class_and_far_in_the_other_is_out_of_range(mixed: pd.DataFrame) -> None:
    model = NaiveBayes(smoothing="none").fit(mixed, LABELS)
    rows = pd.DataFrame({"colour": ["green"], "mass": [1e200]})
    assert model.decide(rows).status.tolist() == [Status.OUT_OF_RANGE]


def test_NF31_infinity_at_predict_refuses_its_row_only(mixed: pd.DataFrame) -> None:
    model = NaiveBayes().fit(mixed, LABELS)
    rows = pd.DataFrame({"colour": ["dark"] * 3, "mass": [np.inf, 8.0, -np.inf]})
    decision = model.decide(rows)
    assert decision.status.tolist() == [Status.REFUSED, Status.OK, Status.REFUSED]
    assert decision.action.tolist() == [None, "b", None]
    with pytest.raises(UndefinedPosterior, match=r"no posterior for 2 rows: 0, 2"):
        model.predict(rows)
    assert model.predict(rows[1:2]).tolist() == ["b"]


# estimation ----------------------------------------------------------------------------------------------------------


def test_NF07_NF08_a_constant_column_is_set_aside_and_named(mixed: pd.DataFrame) -> None:
    with pytest.warns(EstimationWarning, match=r"column\(s\) height have the same value in every row"):
        model = NaiveBayes().fit(mixed.assign(height=0.1), LABELS)
    plain = NaiveBayes().fit(mixed, LABELS)
    np.testing.assert_array_equal(model.predict_proba(mixed.assign(height=7.0)), plain.predict_proba(mixed))


def test_NF08_nothing_but_constants_leaves_the_prior() -> None:
    with pytest.warns(EstimationWarning, match=r"column\(s\) x0, x1 have the same value"):
        model = NaiveBayes().fit(numbers([1.0] * 6, [2.0] * 6), ["a"] * 4 + ["b"] * 2)
    assert model.predict_proba(numbers([5.0], [5.0]))[0] == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize("n", [6, 1024])
def test_NF08_nothing_but_constants_has_a_row_of_terms_for_each_row_and_no_other_model_s(n: int) -> None:
    X = np.ones((n, 2))
    model = NaiveBayes().fit(X, np.arange(n) % 3 > 0)
    joint = model.predict_joint_log_proba(X)
    assert joint.shape == model.predict_log_proba(X).shape == (n, 2)
    joint[:] = [0.0, 5.0]
    assert model.predict_proba(X)[0] == pytest.approx(model.class_prior_)


def test_NF08_constant_after_forgetting_is_constant() -> None:
    X, y = numbers([0.1, 0.1, 0.1, 0.1, 0.1, 7e5], [1.0, 2.0, 3.0, 5.0, 4.0, 6.0]), list("aabbab")
    with pytest.warns(EstimationWarning, match="no spread"):
        model = NaiveBayes().fit(X, y)
    with pytest.raises(PrecisionLost, match=r"column\(s\) x0 "):  # whether they are one value only their rows say
        model.forget(X[5:], y[5:])
    with pytest.warns(EstimationWarning, match=r"column\(s\) x0 have the same value"):
        model.fit(X[:5], y[:5])
    assert [f.variable.name for f in model.factor_.parts if isinstance(f, GaussianLeaf)] == ["x1"]


def test_NF09_zero_variance_in_one_class_is_floored_and_named() -> None:
    X = numbers([1.0, 1.0, 1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 1.0, 2.0, 4.0])
    with pytest.warns(EstimationWarning, match=r"column\(s\) x0: a class has one row, or no spread, there"):
        model = NaiveBayes(var_floor=1e-4).fit(X, LABELS)
    factor = next(f for f in model.factor_.parts if isinstance(f, GaussianLeaf))
    assert factor.variance[0] == pytest.approx(1e-4 * X["x0"].var(ddof=0)) and factor.replaced.tolist() == [True, False]
    assert model.predict(X).tolist()[:3] == ["a"] * 3


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize(
    ("scale", "values"),
    crossed(
        [1e-140, 1e-150, 1e-158, 1e-162, 1e-200, 5e-324], [[0, 0, 0, 1, 2, 3], [0, 0, 3, 1, 2, 1], [1, 1, 1, 2, 2, 2]]
    ),
)
def test_NF09_a_spread_too_small_to_be_squared_draws_no_nan(scale: float, values: list[int]) -> None:
    X = numbers([scale * v for v in values])
    models = [NaiveBayes(likelihoods=name) for name in ("gaussian", "kernel", "kernel-range")]
    for model in (*models, NaiveBayes(tied_variance=True), GaussianNB(), GaussianNB(var_smoothing=0)):
        told = model.fit(X, LABELS).predict_proba(X)
        np.testing.assert_allclose(told.sum(axis=1), 1.0)
        assert not np.isnan(model.leave_one_out_log_proba(X, LABELS)).any()
        if scale < 1e-145:
            assert np.ptp(told, axis=0).max() == 0


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize("likelihood", ["gaussian", "kernel"])
def test_NF09_the_share_of_a_floor_may_vanish(likelihood: Any) -> None:
    X = numbers([0, 0, 0, 1e-3, 2e-3, 3e-3])
    model = NaiveBayes(likelihoods=likelihood, var_floor=1e-320).fit(X, LABELS)
    np.testing.assert_allclose(model.predict_proba(X)[[0, 3]], np.eye(2), atol=1e-12)
    assert not np.isnan(model.leave_one_out_log_proba(X, LABELS)).any()


def test_NF10_a_tiny_column_beside_a_huge_one_still_decides() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = np.stack([rng.normal(size=100) * 1e6, 1e-12 * (rng.normal(size=100) + 10 * y)], axis=1)
    assert (NaiveBayes().fit(X, y).predict(X) == y).all()


def test_NF11_an_offset_of_a_billion(mixed: pd.DataFrame) -> None:
    far = mixed.assign(mass=mixed["mass"] + 1e9)
    p = NaiveBayes().fit(mixed, LABELS).predict_proba(mixed)
    np.testing.assert_allclose(NaiveBayes().fit(far, LABELS).predict_proba(far), p, rtol=1e-6)
    as_objects = far.astype({"mass": object})
    schema = Schema((Variable("colour", "categorical", ("dark", "green")), Variable("mass", "continuous")))
    np.testing.assert_allclose(NaiveBayes(schema=schema).fit(as_objects, LABELS).predict_proba(far), p, rtol=1e-6)


@pytest.mark.parametrize("variance", ["mle", "unbiased"])
def test_NF12_a_class_of_one_takes_the_pooled_variance(variance: Any) -> None:
    X = numbers([1.0, 2.0, 4.0, 9.0])
    with pytest.warns(
        EstimationWarning, match=r"column\(s\) x0: a class has one row, or no spread, there; its variance is the pooled"
    ):
        model = NaiveBayes(variance=variance).fit(X, ["a", "a", "a", "b"])
    factor = next(f for f in model.factor_.parts if isinstance(f, GaussianLeaf))
    squares = ((X["x0"][:3] - X["x0"][:3].mean()) ** 2).sum()
    assert factor.variance[1] == pytest.approx(squares / (4 if variance == "mle" else 2))  # n, or n - K
    assert factor.replaced.tolist() == [False, True]


@pytest.mark.parametrize("y", [["a"] * 6, pd.Categorical(["a"] * 6, ["a"])])
def test_NF13_one_class(mixed: pd.DataFrame, y: Any) -> None:
    with pytest.raises(
        TableError, match=r"the target holds 1 class \('a'\); a classifier needs two classes. Choose another target"
    ):
        NaiveBayes().fit(mixed, y)


@pytest.mark.parametrize(
    ("priors", "text", "posterior"),
    [
        ("empirical", r"class\(es\) c have the prior 0: they are never predicted", 0.0),
        ("laplace", r"class\(es\) c have no row: they rest on their prior alone", None),
        ("uniform", r"class\(es\) c have no row", None),
    ],
)
def test_NF14_an_empty_declared_class(mixed: pd.DataFrame, priors: Any, text: str, posterior: float | None) -> None:
    y = pd.Categorical(LABELS, ["a", "b", "c"])
    with pytest.warns(EstimationWarning, match=text):
        model = NaiveBayes(priors=priors).fit(mixed, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    p = model.predict_proba(mixed)
    assert np.isfinite(p).all()
    assert (p[:, 2] == posterior).all() if posterior is not None else (p[:, 2] > 0).all()


def test_NF20_a_prior_of_zero_is_said_and_kept(mixed: pd.DataFrame) -> None:
    with pytest.warns(EstimationWarning, match=r"class\(es\) b have the prior 0: they are never predicted"):
        model = NaiveBayes(priors={"a": 1.0, "b": 0}).fit(mixed, LABELS)
    assert model.predict(mixed).tolist() == ["a"] * 6


def test_NF23_priors_by_label_in_any_order(mixed: pd.DataFrame) -> None:
    one, other = (NaiveBayes(priors=p).fit(mixed, LABELS) for p in ({"a": 0.9, "b": 0.1}, {"b": 0.1, "a": 0.9}))
    assert one.prior_by_class == other.prior_by_class == {"a": 0.9, "b": 0.1}


@pytest.mark.parametrize("unseen", ["ignore", "smooth", "error"])
def test_NF32_an_unseen_value(mixed: pd.DataFrame, unseen: Any) -> None:
    model = NaiveBayes(unseen=unseen).fit(mixed, LABELS)
    row = pd.DataFrame({"colour": ["pink"], "mass": [3.0]})
    if unseen == "error":
        with pytest.raises(
            UnseenLevel, match="column 'colour' holds 'pink', not seen in training; choose unseen='ignore'"
        ):
            model.predict(row)
        return
    term = {r.name: t[0] for r, t in model.explain(row).rows}["colour"]
    assert np.exp(term) == pytest.approx([1.0, 1.0] if unseen == "ignore" else [1 / (3 + 3), 1 / (3 + 3)])


@pytest.mark.parametrize("missing", ["marginalize", "category", "error"])
def test_NF30_a_missing_cell(mixed: pd.DataFrame, missing: Any) -> None:
    model = NaiveBayes(missing=missing).fit(mixed, LABELS)  # nothing missing in training: no level of its own
    row = pd.DataFrame({"colour": [None], "mass": [3.0]})
    if missing == "error":
        with pytest.raises(
            TableError, match=r"column 'colour' has a missing cell \(NaN\) in row 1; choose missing='marginalize'"
        ):
            model.predict(row)
        return
    np.testing.assert_allclose(
        model.predict_proba(row), NaiveBayes().fit(mixed[["mass"]], LABELS).predict_proba(row[["mass"]]), atol=1e-12
    )


def test_missing_is_a_level_where_training_had_it(mixed: pd.DataFrame) -> None:
    gaps = mixed.assign(colour=["green", None, None, "dark", "dark", "green"])
    model = NaiveBayes(missing="category").fit(gaps, LABELS)
    factor = next(f for f in model.factor_.parts if isinstance(f, TableLeaf))
    assert factor.counts.tolist() == [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]  # dark, green, missing
    term = {r.name: t[0] for r, t in model.explain(gaps.iloc[[1]]).rows}["colour"]
    assert np.exp(term) == pytest.approx([3 / 6, 1 / 6])


def test_missing_refused_in_training(mixed: pd.DataFrame) -> None:
    with pytest.raises(
        TableError, match=r"column 'mass' has a missing cell \(NaN\) in row 2; choose missing='marginalize'"
    ):
        NaiveBayes(missing="error").fit(mixed.assign(mass=[1.0, np.nan, 2.0, 3.0, 4.0, 5.0]), LABELS)


@pytest.mark.parametrize("alpha", [0, 0.0, 1e-300])
def test_NF35_alpha_zero_is_no_smoothing(mixed: pd.DataFrame, alpha: float) -> None:
    model = NaiveBayes(alpha=alpha).fit(mixed, LABELS)
    p = model.predict_proba(mixed)
    assert p[0, 1] == pytest.approx(0.0, abs=1e-250)
    np.testing.assert_allclose(p, NaiveBayes(smoothing="none").fit(mixed, LABELS).predict_proba(mixed), atol=1e-250)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        pytest.param({"alpha": -1}, "alpha=-1; smoothing needs a number of 0 and more", id="NF35-negative"),
        pytest.param({"alpha": float("nan")}, "alpha=nan; smoothing needs", id="NF35-nan"),
        pytest.param({"alpha": 1e308}, r"alpha=1e\+308 outweighs the 6 rows", id="NF34"),
        pytest.param({"priors": {"a": 1.0}}, "priors give no probability for class 'b'", id="NF22"),
        pytest.param({"priors": {"a": 0.5, "b": 0.6}}, "priors sum to 1.1, not 1", id="NF21"),
        pytest.param(
            {"priors": Dirichlet(1e308)}, r"priors=Dirichlet\(amount=1e\+308.*outweighs the 6 rows", id="priors"
        ),
        pytest.param({"smoothing": "some"}, "smoothing='some' is none of 'all', 'zero-only', 'none'", id="smoothing"),
        pytest.param({"variance": "biased"}, "variance='biased' is none of 'mle', 'unbiased'", id="variance"),
        pytest.param({"unseen": None}, "unseen=None is none of 'ignore', 'smooth', 'error'", id="unseen"),
        pytest.param({"missing": "drop"}, "missing='drop' is none of 'marginalize', 'category', 'error'", id="missing"),
        pytest.param({"var_floor": 0}, "var_floor=0 is no share between 0 and 1", id="NF07-floor"),
        pytest.param({"var_floor": 2.0}, "var_floor=2.0 is no share", id="floor-above"),
        pytest.param({"var_floor": None}, "var_floor=None is no share", id="floor-none"),
    ],
)
def test_parameters_refused(mixed: pd.DataFrame, parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text) as error:
        NaiveBayes(**parameters).fit(mixed, LABELS)
    assert isinstance(error.value, BayesEngineError) and isinstance(error.value, ValueError)


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        pytest.param([0] * 6, "sample_weight is zero in every row", id="zero"),
        pytest.param([1, 1, 1, 1, 1, -1], "sample_weight is -1.0 in row 6", id="negative"),
        pytest.param([1e308] * 6, "sample_weight sums to inf, 2", id="NF38"),
        pytest.param(["heavy"] * 6, "sample_weight holds what is no number", id="text"),
        pytest.param([1, 1, 1, 0, 0, 0], r"the target holds 1 class \('a'\)", id="one-class-left"),
    ],
)
def test_NF36_weights_refused(mixed: pd.DataFrame, weight: list[float], text: str) -> None:
    with pytest.raises(BayesEngineError, match=text):
        NaiveBayes().fit(mixed, LABELS, weight)


def test_NF36_rows_that_weigh_nothing_change_nothing_that_is_there(mixed: pd.DataFrame) -> None:
    """A part of the rows may have none that counts, if it is not the first: partial_fit is fit, however it is split."""
    X, y = mixed[["mass"]], list("aabbab")
    model = NaiveBayes().partial_fit(X[:4], y[:4]).partial_fit(X[4:], y[4:], sample_weight=[0, 0])
    whole = NaiveBayes().fit(X, y, [1, 1, 1, 1, 0, 0])
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-12)
    with pytest.raises(BayesEngineError, match="sample_weight is zero in every row"):
        NaiveBayes().partial_fit(X, y, sample_weight=[0] * 6)


def test_NF36_a_class_whose_rows_all_weigh_nothing_is_absent(mixed: pd.DataFrame) -> None:
    y = ["a", "a", "b", "b", "c", "c"]
    with pytest.warns(EstimationWarning, match=r"class\(es\) c have the prior 0"):
        model = NaiveBayes().fit(mixed, y, [1, 1, 1, 1, 0, 0])
    absent = NaiveBayes().fit(mixed[:4], y[:4])
    np.testing.assert_allclose(model.predict_proba(mixed)[:, :2], absent.predict_proba(mixed), atol=1e-12)


# what fit refuses ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "text"),
    [
        pytest.param(
            [*LABELS[:5], None],
            r"Input y contains NaN: 1 label is missing, the first in row 6; leave these",
            id="none",
        ),
        pytest.param(
            [0, 1, np.nan, 0, 1, 1], r"Input y contains NaN: 1 label is missing, the first in row 3", id="nan"
        ),
        pytest.param([0, 1, np.inf, 0, 1, 1], "Input y contains infinity: class labels must be finite", id="inf"),
        pytest.param([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "Unknown label type: continuous", id="continuous"),
        pytest.param(LABELS[:5], "X has 6 rows and y has 5; each row needs one class", id="short"),
        pytest.param(None, "requires y to be passed, but the target y is None", id="no-y"),
    ],
)
def test_targets_refused(mixed: pd.DataFrame, y: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        NaiveBayes().fit(mixed, y)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        pytest.param([True] * 3 + [False] * 3, [False, True], id="bool"),
        pytest.param([2, 2, 2, 10, 10, 10], [2, 10], id="int"),
        pytest.param(pd.array([2, 2, 2, 10, 10, 10], dtype="Int64"), [2, 10], id="nullable"),
        pytest.param(np.array([2, 2, 2, 10, 10, 10], dtype=object), [2, 10], id="object"),
        pytest.param(pd.Series(["2", "2", "2", 10, 10, 10], dtype=object), [10, "2"], id="mixed"),
        pytest.param(pd.Categorical(LABELS, ["b", "a"]), ["a", "b"], id="categorical-is-sorted"),
    ],
)
def test_targets_of_every_kind(mixed: pd.DataFrame, y: Any, classes: list[Any]) -> None:
    model = NaiveBayes().fit(mixed, y)
    assert model.classes_.tolist() == classes
    assert model.predict(mixed).tolist()[-1] == list(y)[-1]
    assert model.decide(mixed).action.tolist()[-1] == list(y)[-1]


@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame], ids=["array", "frame"])
@pytest.mark.parametrize("cell", [np.inf, -np.inf])
def test_infinity_among_many_numbers_refuses_its_rows_only(frame: Any, cell: float) -> None:
    """Rows that are multiplied as one matrix, of which no pass looks for infinity; a mean of 0 has a weight of 0."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20_000)
    X = rng.normal(size=(60_000, 3)) + y[:, None]
    X[y == 0, 1] -= X[y == 0, 1].mean()
    model = NaiveBayes().fit(frame(X), y)
    odd = X.copy()
    odd[[7, 45_000], [1, 2]] = cell
    odd[8, 0] = np.nan
    for ask in (model.predict_proba, model.predict):
        with pytest.raises(UndefinedPosterior) as refused:
            ask(frame(odd))
        assert refused.value.rows == (7, 45_000)
    odd[[7, 45_000]] = np.nan
    expected = model.predict_proba(frame(X))
    others = np.setdiff1d(np.arange(len(X)), [7, 8, 45_000])
    np.testing.assert_allclose(model.predict_proba(frame(odd))[others], expected[others], rtol=1e-12)
    assert model.predict_proba(frame(odd))[7] == pytest.approx(model.class_prior_, abs=1e-12)


@pytest.mark.parametrize("make", [NaiveBayes, LinearDiscriminantAnalysis])
def test_many_rows_of_an_array_are_checked_as_those_of_a_frame(make: Any) -> None:
    """They are read without a frame around them."""
    X = np.random.default_rng(0).normal(size=(3000, 3))
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(NotFittedError):
        make().predict(X)
    named = pd.DataFrame(X, columns=["mass", "size", "age"])
    model = make().fit(named, y)
    expected = model.predict_proba(named)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)
    unnamed = make().fit(X, y)
    for kind in (np.asarray, np.asfortranarray):
        np.testing.assert_allclose(unnamed.predict_proba(kind(X)), expected, rtol=1e-12)
    with pytest.warns(UserWarning, match="X has feature names"):
        unnamed.predict(named)
    for narrow in (X[:, :2], named[["mass", "size"]].to_numpy()):
        with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
            unnamed.predict(narrow)


def test_a_missing_cell_among_many_rows_of_an_array_is_named() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 3))
    model = NaiveBayes(missing="error").fit(X, X[:, 0] > 0)
    X[7, 1] = np.nan
    with pytest.raises(TableError, match=r"column 'x1'.* row 8"):
        model.predict(X)


def test_infinity_in_a_column_set_aside_refuses_its_row() -> None:
    X, y = np.random.default_rng(0).normal(size=(4000, 3)), np.arange(4000) % 2
    X[:, 2] = 0.1
    with pytest.warns(EstimationWarning, match="same value in every row"):
        model = NaiveBayes().fit(X, y)
    X[5, 2] = np.inf
    for ask in (model.predict_proba, model.predict):
        with pytest.raises(UndefinedPosterior, match="no posterior for 1 row: 5"):
            ask(X)


def test_infinity_in_fit_names_the_column_and_the_row(mixed: pd.DataFrame) -> None:
    with pytest.raises(TableError, match="column 'mass' holds infinity or a value too large to be squared in row 5"):
        NaiveBayes().fit(mixed.assign(mass=[1.0, 2.0, 3.0, 4.0, np.inf, 5.0]), LABELS)


def test_text_in_a_numeric_column(mixed: pd.DataFrame) -> None:
    schema = Schema((Variable("colour", "categorical"), Variable("mass", "continuous")))
    text = mixed.assign(mass=["1", "2", "3", "heavy", "5", None])
    with pytest.raises(TableError, match="column 'mass' should hold numbers, but row 4 holds 'heavy'"):
        NaiveBayes(schema=schema).fit(text, LABELS)
    with pytest.raises(TableError, match="column 'mass' should hold numbers, but row 1 holds 'heavy'"):
        NaiveBayes().fit(mixed, LABELS).predict(text[3:4])


def test_a_schema_that_does_not_fit_the_table(mixed: pd.DataFrame) -> None:
    schema = Schema((Variable("colour", "categorical"), Variable("height", "continuous")))
    with pytest.raises(TableError, match="the schema's column 'height' is not in X"):
        NaiveBayes(schema=schema).fit(mixed, LABELS)
    with pytest.raises(TableError, match="the schema has 2 features and X has 3 columns"):
        NaiveBayes(schema=schema).fit(np.zeros((6, 3)), LABELS)
    closed = Schema((Variable("colour", "categorical", ("dark",), declared=True),))
    with pytest.raises(SchemaMismatch, match="column 'colour' holds 'green', which is not among its declared levels"):
        NaiveBayes(schema=closed).fit(mixed[["colour"]], LABELS)


def test_a_column_named_like_the_target_keeps_both_terms() -> None:
    X = pd.DataFrame({"class": [1.0, 2.0, 3.0, 5.0]})
    ledger = NaiveBayes().fit(X, list("aabb")).explain(X)
    joint = ledger.joint()
    np.testing.assert_allclose(ledger.contributions("a", "b").sum(axis=1), joint[:, 0] - joint[:, 1])
    assert len(ledger.by_variable().rows) == 2


def test_a_column_of_nothing(mixed: pd.DataFrame) -> None:
    plain = NaiveBayes().fit(mixed, LABELS).predict_proba(mixed)
    empty = mixed.assign(note=pd.Series([None] * 6, dtype=object))
    np.testing.assert_array_equal(NaiveBayes().fit(empty, LABELS).predict_proba(empty), plain)
    with pytest.warns(EstimationWarning, match=r"column\(s\) note have the same value"):
        model = NaiveBayes().fit(mixed.assign(note=np.nan), LABELS)
    np.testing.assert_array_equal(model.predict_proba(mixed.assign(note=1.0)), plain)


# growing, forgetting, parameters -------------------------------------------------------------------------------------


def test_partial_fit_with_declared_classes(mixed: pd.DataFrame) -> None:
    model = NaiveBayes()
    with pytest.warns(EstimationWarning, match=r"class\(es\) b have the prior 0"):
        model.partial_fit(mixed[:3], LABELS[:3], classes=["b", "a"])
    model.partial_fit(mixed[3:], LABELS[3:])
    np.testing.assert_allclose(
        model.predict_proba(mixed), NaiveBayes().fit(mixed, LABELS).predict_proba(mixed), atol=1e-12
    )
    with pytest.raises(TableError, match="y holds the class 'c', which is not among the declared classes a, b"):
        model.partial_fit(mixed[:1], ["c"])


def test_partial_fit_takes_arrays_after_frames_by_position() -> None:
    X = numbers([1.0, 2.0, 4.0, 5.0])
    model = NaiveBayes().fit(X, list("aabb"))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.partial_fit(X.to_numpy(), list("aabb"))
    assert model.stats_.class_weight.tolist() == [4.0, 4.0]


def test_a_call_that_fails_changes_nothing(mixed: pd.DataFrame) -> None:
    model = NaiveBayes().fit(mixed, LABELS)
    before = model.predict_proba(mixed)
    model.set_params(alpha=-1)
    for call in (model.partial_fit, model.forget):
        with pytest.raises(ParameterError):
            call(mixed, LABELS)
    model.set_params(alpha=1.0)
    with pytest.raises(NotASubset):
        model.forget(pd.concat([mixed, mixed]), LABELS * 2)
    np.testing.assert_array_equal(model.predict_proba(mixed), before)
    assert model.stats_.class_weight.tolist() == [3.0, 3.0]


def test_a_fit_that_fails_leaves_no_model(mixed: pd.DataFrame) -> None:
    model = NaiveBayes().fit(mixed, LABELS)
    with pytest.raises(TableError):
        model.fit(mixed, ["a"] * 6)
    with pytest.raises(ValueError, match="not fitted yet"):
        model.predict(mixed)


def test_forget_what_was_never_there(mixed: pd.DataFrame) -> None:
    model = NaiveBayes().fit(mixed, LABELS)
    with pytest.raises(NotASubset, match="cannot take away rows of a class that was never counted"):
        model.forget(mixed[:1], ["c"])
    with pytest.raises(NotASubset, match="a count would fall below zero"):
        model.forget(mixed[:1], ["b"])  # no green one in b
    with pytest.raises(NotASubset, match="cannot take away rows of a class that was never counted"):
        model.leave_one_out_log_proba(mixed[:1], ["c"])
    with pytest.raises(NotASubset, match="column 'colour': a row to leave out was never counted"):
        model.leave_one_out_log_proba(mixed[:1], ["b"])
    with pytest.raises(NotASubset, match="its class has less weight than the row"):
        model.leave_one_out_log_proba(mixed[:1], ["a"], [5.0])


def test_forgetting_everything_and_learning_again(mixed: pd.DataFrame) -> None:
    model = NaiveBayes().fit(mixed, LABELS)
    before = model.predict_proba(mixed)
    with pytest.warns(EstimationWarning):
        model.forget(mixed, LABELS)
    assert model.predict_proba(mixed).tolist() == [[0.5, 0.5]] * 6
    model.partial_fit(mixed, LABELS)
    np.testing.assert_allclose(model.predict_proba(mixed), before, atol=1e-12)


def test_a_heavy_row_does_not_empty_the_other_class_in_leave_one_out(mixed: pd.DataFrame) -> None:
    y, weight = ["a", "b", "b", "b", "b", "b"], np.array([1e11, 1.0, 1.0, 1.0, 1.0, 1.0])
    with pytest.warns(EstimationWarning):
        model = NaiveBayes().fit(mixed, y, weight)
    assert model.leave_one_out_log_proba(mixed, y, weight)[0].tolist() == [-np.inf, 0.0]


def test_merging_models_of_other_columns(mixed: pd.DataFrame) -> None:
    model = NaiveBayes().fit(mixed, LABELS)
    with pytest.raises(SchemaMismatch, match="do not merge"):
        model.merge(NaiveBayes().fit(mixed[["mass"]], LABELS))
    text = mixed.assign(mass=mixed["mass"].astype(str))
    with pytest.warns(EstimationWarning, match=r"column\(s\) mass hold numbers written as strings"):
        other = NaiveBayes().fit(text, LABELS)
    with pytest.raises(
        SchemaMismatch, match=r"column 'mass' \(continuous\) does not match column 'mass' \(categorical\)"
    ):
        model.merge(other)


def test_the_last_row_of_a_class_leaves_nothing_behind_but_rounding() -> None:
    X, y, weight = numbers([1.0, 2.0, 3.0, 4.0, 6.0]), list("aaabb"), np.array([0.1, 0.2, 0.3, 1.0, 1.0])
    model = NaiveBayes().fit(X, y, weight)
    with pytest.warns(EstimationWarning, match="a class has one row"):
        model.forget(X[:2], y[:2], weight[:2])
    assert 0 < abs(model.stats_.class_weight[0] - 0.3) < 1e-15  # 0.6 - 0.3, in binary
    assert model.leave_one_out_log_proba(X[2:3], y[2:3], weight[2:3]).tolist() == [[-np.inf, 0.0]]


def test_merging_an_open_domain_into_a_declared_one_keeps_it_closed() -> None:
    declared = pd.DataFrame({"x": pd.Categorical(["v", "u", "v", "u"], ["w", "v", "u"])})
    opened = pd.DataFrame({"x": ["u", "u", "v", "v"]})
    first, second = (NaiveBayes().fit(X, list("aabb")) for X in (declared, opened))
    for merged in (first.merge(second), second.merge(first)):
        assert merged.schema_["x"] == Variable("x", "categorical", ("w", "v", "u"), declared=True)
    grown = NaiveBayes().fit(opened, list("aabb")).merge(NaiveBayes().fit(pd.DataFrame({"x": ["t", "u"]}), list("ab")))
    assert grown.schema_["x"].levels == ("u", "v", "t")  # what is known keeps its place
    with pytest.raises(SchemaMismatch, match="column 'x' holds 'z', which is not among its declared levels"):
        first.merge(NaiveBayes().fit(pd.DataFrame({"x": ["z", "u"]}), list("ab")))


def test_with_params_refuses_what_needs_a_recount(mixed: pd.DataFrame) -> None:
    model = NaiveBayes().fit(mixed, LABELS)
    for name, value in (("missing", "category"), ("schema", None), ("beta", 2)):
        with pytest.raises(ParameterError, match=f"with_params cannot change '{name}': it acts when rows are counted"):
            model.with_params(**{name: value})


def test_with_params_leaves_the_first_model_alone(mixed: pd.DataFrame) -> None:
    model = NaiveBayes().fit(mixed, LABELS)
    before = model.predict_proba(mixed)
    other = model.with_params(alpha=5.0, priors="laplace")
    assert other.alpha == 5.0 and model.alpha == 1.0 and other.stats_ is model.stats_
    np.testing.assert_array_equal(model.predict_proba(mixed), before)
    assert other.feature_names_in_.tolist() == ["colour", "mass"]


def test_a_loss_edit_neither_counts_nor_estimates(mixed: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"_count": 0, "_estimate": 0}
    for name in calls:
        whole = getattr(NaiveBayes, name)

        def counted(self: NaiveBayes, *args: Any, name: str = name, whole: Any = whole) -> Any:
            calls[name] += 1
            return whole(self, *args)

        monkeypatch.setattr(NaiveBayes, name, counted)
    model = NaiveBayes().fit(mixed, LABELS)
    assert calls == {"_count": 1, "_estimate": 1}
    for cost in range(10):
        loss = {"a": {"a": 0, "b": cost}, "b": {"a": 1, "b": 0}}
        model.decide(mixed, loss)
        model.risk(mixed, loss)
    assert calls == {"_count": 1, "_estimate": 1}
    model.with_params(alpha=2.0)
    assert calls == {"_count": 1, "_estimate": 2}


def test_presets_are_complete_and_cannot_be_changed() -> None:
    assert set(PRESETS) == {"textbook", "laplace", "zero-only", "scikit-learn"}
    defaults = NaiveBayes().get_params()
    assert all(PRESETS["scikit-learn"][k] == defaults[k] for k in PRESETS["scikit-learn"])
    with pytest.raises(TypeError):
        PRESETS["mine"] = {}  # type: ignore[index]


# one model, many uses ------------------------------------------------------------------------------------------------


def test_NF62_pickle_keeps_every_bit(mixed: pd.DataFrame) -> None:
    model = NaiveBayes(smoothing="zero-only", missing="category").fit(mixed, LABELS)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again.predict_proba(mixed), model.predict_proba(mixed))
    assert again.schema_ == model.schema_


@pytest.mark.slow
def test_NF59_two_threads_agree(mixed: pd.DataFrame) -> None:
    expected = NaiveBayes().fit(mixed, LABELS).predict_proba(mixed)
    results: list[Any] = []

    def work() -> None:
        results.extend(
            np.array_equal(NaiveBayes().fit(mixed, LABELS).predict_proba(mixed), expected) for _ in range(20)
        )

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 40


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_clean_data_draw_no_warning(mixed: pd.DataFrame, preset: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NaiveBayes(**PRESETS[preset]).fit(mixed, LABELS).explain(mixed)


@pytest.mark.parametrize("missing", ["marginalize", "category", "error"])
def test_features_that_are_not_given_are_integrated_out(missing: str) -> None:
    """As if their columns had never been there, whatever is done with missing cells."""
    X = pd.DataFrame({"u": list("aabbab"), "v": list("pqpqqp"), "w": [1.0, 2.0, 4.0, 5.0, 3.0, 2.5]})
    if missing == "category":
        X.loc[1, "v"] = None
    y, asked = list("ststts"), X[["u", "w"]].assign(v=None)[["u", "v", "w"]]
    model = NaiveBayes(missing=missing).fit(X, y)  # type: ignore[arg-type]
    found = model.explain(asked, given=["u", "w"])
    want = NaiveBayes().fit(X[["u", "w"]], y).explain(X[["u", "w"]])
    np.testing.assert_allclose(found.posterior(), want.posterior(), rtol=1e-12)
    assert [row.child for row, _ in found.rows if row.parents] == ["u", "w"]


@pytest.mark.parametrize("schema", [3, "a", {"a": 1}, [1], ("a", "b"), pd.DataFrame({"a": [1]})])
@pytest.mark.parametrize("family", [NaiveBayes, TAN, LinearDiscriminantAnalysis, BayesianNetworkClassifier])
def test_what_is_no_schema_is_refused(family: type, schema: Any) -> None:
    with pytest.raises(ParameterError, match=r"schema is a \w+, not a Schema"):
        family(schema=schema).fit(pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0]}), list("stst"))


def test_an_undefined_posterior_says_from_where_rows_are_counted(strict: NaiveBayes) -> None:
    with pytest.raises(UndefinedPosterior, match=r"for 1 row: 0\. .* Rows count from 0\.") as error:
        strict.predict(pd.DataFrame({"x": ["u"], "z": ["w"]}))
    assert error.value.rows == (0,)
