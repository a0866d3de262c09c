"""Semi-naive models where the laws do not look: intervals inside the fit, sentences, structures, and the edges."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_predict

from bayes_engine import AODE, SPODE, TAN, EstimationWarning, KDependence, NaiveBayes, Schema, Status, load_dataset
from bayes_engine.errors import NotASubset, ParameterError, SchemaMismatch, TableError
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.stats.families import refuse_beyond
from bayes_engine.stats.labels import Labels
from bayes_engine.table.discretize import cuts_for
from tests.conftest import slowly

MODELS = [SPODE, TAN, AODE, KDependence]
every = pytest.mark.parametrize("model", MODELS)


@pytest.fixture
def mixed() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(7)
    y = pd.Series(rng.choice(["a", "b"], 60), name="class")
    X = pd.DataFrame({"colour": rng.choice(["green", "dark"], 60), "sugar": rng.normal(0, 0.5, 60) + 3 * (y == "a")})
    X["navel"] = np.where(rng.random(60) < 0.8, X["colour"], "flat")
    X["mass"] = rng.normal(size=60)
    return X, y


melons = load_dataset("watermelon2")
MELONS, GOOD = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]


# numbers as intervals -------------------------------------------------------------------------------------------------


@every
def test_a_column_without_a_cut_is_said_and_says_nothing(model: type[SemiNaive], mixed: Any) -> None:
    X, y = mixed
    with pytest.warns(EstimationWarning, match=r"column\(s\) mass: no cut point was found, so they carry no"):
        fitted = model().fit(X, y)
    assert fitted.schema_["mass"].cuts == ()
    assert fitted.schema_["mass"].levels == ("−∞ – ∞",)
    assert len(fitted.schema_["sugar"].cuts) == 1
    moved = X.assign(mass=X["mass"] * -50)
    np.testing.assert_array_equal(fitted.predict_joint_log_proba(moved), fitted.predict_joint_log_proba(X))
    mass = next(term for row, term in fitted.explain(X).rows if row.name == "mass")
    np.testing.assert_allclose(mass, 0.0, atol=1e-15)


@every
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_each_fold_finds_its_own_cuts(model: type[SemiNaive], mixed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = mixed
    seen = []
    whole = model._settle

    def settle(self: Any, stats: Any) -> Any:
        seen.append((stats.class_weight.sum(), stats.schema["sugar"].cuts))
        return whole(self, stats)

    monkeypatch.setattr(model, "_settle", settle)
    cross_val_predict(model(), X, y, cv=[(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))])
    for rows in (slice(0, 30), slice(30, 60)):
        cuts = cuts_for("mdlp", X["sugar"][rows], (y[rows] == "b").to_numpy().astype(int), 2)
        assert (30.0, tuple(cuts)) in seen


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_a_column_without_a_cut_is_no_super_parent(mixed: Any) -> None:
    X, y = mixed
    model, chosen = AODE().fit(X, y), SPODE().fit(X, y)
    others = X.drop(columns="mass")
    assert [m.name for m in model.factor_.members] == ["colour", "sugar", "navel"]
    np.testing.assert_allclose(model.predict_proba(X), AODE().fit(others, y).predict_proba(others), rtol=1e-12)
    assert sorted(chosen.candidate_scores_.index) == ["colour", "navel", "sugar"]
    turned = X[["mass", *others]]  # it stands before the others
    pd.testing.assert_frame_equal(SPODE().fit(turned, y).candidate_scores_, chosen.candidate_scores_)
    np.testing.assert_allclose(AODE().fit(turned, y).predict_proba(turned), model.predict_proba(X), rtol=1e-12)


@pytest.mark.slow
@every
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_infinity_is_refused_and_a_missing_number_is_not(model: type[SemiNaive], mixed: Any) -> None:
    X, y = mixed
    asked = X[:4].assign(sugar=[np.inf, 1.0, -np.inf, np.nan])
    for discretize in ("mdlp", None):
        fitted = model(discretize=discretize).fit(X, y)
        refused, fine = Status.REFUSED, Status.OK
        assert fitted.explain(asked).status.tolist() == [refused, fine, refused, fine]
        assert fitted.decide(asked).status.tolist() == [refused, fine, refused, fine]
        with pytest.raises(ValueError, match=r"no posterior for 2 rows"):
            fitted.predict(asked)
        np.testing.assert_array_equal(fitted.predict(asked[1::2]), fitted.decide(asked).action[1::2])
        with pytest.raises(TableError, match=r"infinity in row 1|infinity or a value too large to be squared in row 1"):
            model(discretize=discretize).fit(asked, list("abab"))


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_fits_with_other_cut_points_do_not_merge(mixed: Any) -> None:
    X, y = mixed
    first, second = (TAN(discretize="equal-width", bins=3).fit(X[r], y[r]) for r in (slice(0, 30), slice(30, 60)))
    with pytest.raises(SchemaMismatch, match=r"column 'sugar' has other (cut points|declared levels) on the two sides"):
        first.merge(second)


@pytest.mark.parametrize("discretize", ["equal-width", "quantile"])
@every
def test_bins(model: type[SemiNaive], discretize: Any, mixed: Any) -> None:
    fitted = model(discretize=discretize, bins=4).fit(*mixed)
    assert [len(fitted.schema_[name].cuts) for name in ("sugar", "mass")] == [3, 3]


@every
def test_a_number_far_out_is_out_of_range_and_a_level_never_met_is_impossible(
    model: type[SemiNaive], mixed: Any
) -> None:
    X, y = mixed
    here = np.where(y == "a", "p", "q")
    fitted = model(discretize=None, alpha=0).fit(X.assign(left=here, right=here), y)
    asked = X[:4].assign(left=["p", "p", None, "p"], right=["p", "q", "p", "q"], sugar=[1e200, 1.0, 1e200, 1e200])
    out, never = Status.OUT_OF_RANGE, Status.IMPOSSIBLE
    assert fitted.explain(asked).status.tolist() == [out, never, out, never]


@every
def test_one_number_in_every_row_is_said_and_set_aside(model: type[SemiNaive], mixed: Any) -> None:
    X, y = mixed
    with pytest.warns(EstimationWarning, match=r"column\(s\) flat have the same value in every row"):
        fitted = model(discretize=None).fit(X.assign(flat=2.5), y)
    without = model(discretize=None).fit(X, y)
    np.testing.assert_allclose(
        fitted.predict_joint_log_proba(X.assign(flat=9.5)), without.predict_joint_log_proba(X), rtol=1e-12
    )


# missing cells and unseen values --------------------------------------------------------------------------------------


@every
def test_a_column_without_a_single_value_is_nobody_s_parent(model: type[SemiNaive], mixed: Any) -> None:
    X, y = mixed
    X = X[["colour", "navel"]]
    own = {SPODE: {"super_parent": "navel"}, KDependence: {"k": 2}}.get(model, {})
    fitted = model(**own).fit(X.assign(blank=None), y)
    without = model(**own).fit(X, y)
    np.testing.assert_allclose(
        fitted.predict_joint_log_proba(X.assign(blank=None)), without.predict_joint_log_proba(X), rtol=1e-12
    )
    assert fitted.predict_proba(X.assign(blank="new")) == pytest.approx(without.predict_proba(X))
    if model is SPODE:
        blank = SPODE("blank").fit(X.assign(blank=None), y)  # a fold may be so: naive Bayes
        assert blank.predict_proba(X.assign(blank="new")) == pytest.approx(NaiveBayes().fit(X, y).predict_proba(X))


def test_an_unseen_value_of_a_parent_leaves_its_children_uniform() -> None:
    X = pd.DataFrame({"a": list("uuvvuv"), "b": list("xyxyxy")})
    model = SPODE("a", unseen="smooth").fit(X, list("sststt"))
    terms = {
        row.name: np.exp(term) for row, term in model.explain(pd.DataFrame({"a": ["w"] * 2, "b": ["x", "z"]})).rows
    }
    np.testing.assert_allclose(terms["a"], 1 / (3 + 3))  # (0 + 1)/(3 + 1·(2 + 1))
    np.testing.assert_allclose(terms["b"], [[1 / 2, 1 / 2], [1 / 3, 1 / 3]])


@pytest.mark.slow
@every
def test_features_that_are_not_given_are_integrated_out_though_missing_is_a_level(model: type[SemiNaive]) -> None:
    """What is not given is not the same as what is missing."""
    X = MELONS.mask(np.random.default_rng(0).random(MELONS.shape) < 0.2)
    fitted = model(missing="category").fit(X, GOOD)
    known = ["色泽", "纹理"]
    blank = X.assign(**{name: None for name in X if name not in known})
    whole, asked = fitted.explain(blank), fitted.explain(X, given=known)
    assert not np.allclose(whole.joint(), asked.joint())
    levels = {n: [*fitted.schema_[n].levels, *([None] if X[n].isna().any() else [])] for n in X if n not in known}
    if model is not AODE:  # its hidden columns are no super-parents
        every_one = pd.MultiIndex.from_product(levels.values(), names=levels.keys()).to_frame(index=False)
        every_one = every_one.astype(object).where(every_one.notna(), None)
        first = every_one.assign(**{n: X[n].iloc[0] for n in known})[list(X)]
        total = np.exp(fitted.predict_joint_log_proba(first)).sum(axis=0)
        np.testing.assert_allclose(np.exp(asked.joint()[0]), total, rtol=1e-9)


# structures -----------------------------------------------------------------------------------------------------------


def test_the_tree_of_the_watermelons_and_its_root() -> None:
    model = TAN().fit(MELONS, GOOD)
    found = model.dependences()
    assert model.root_ == max(found.with_class, key=lambda n: found.with_class[n].information) == "纹理"
    assert [step.taken for step in model.trace_].count(True) == 5 == len(model.tree_)
    assert len(model.trace_) == 15
    assert all(a.weight >= b.weight - 1e-9 for a, b in zip(model.trace_, model.trace_[1:], strict=False))
    assert {("触感", "纹理"), ("纹理", "脐部")} < set(model.with_params(root="触感").tree_)


@pytest.mark.parametrize("k", [0, 1, 2, 3, 9])
def test_sahami_s_parents(k: int) -> None:
    model = KDependence(k).fit(MELONS, GOOD)
    found = model.dependences()
    order = sorted(MELONS, key=lambda n: -found.with_class[n].information)
    shared = {frozenset(edge): d.information for edge, d in found.given_class.items()}
    for place, name in enumerate(order):
        want = sorted(order[:place], key=lambda other: -shared[frozenset((other, name))])[:k]
        assert set(model.parents_[name]) == set(want)


def test_spode_takes_the_best_candidate_and_tells_all_scores() -> None:
    model = SPODE().fit(MELONS, GOOD)
    scores = model.candidate_scores_
    assert model.super_parent_ == scores.index[0]
    assert list(scores.columns) == ["accuracy", "log_loss"]
    assert sorted(scores.index) == sorted(MELONS)
    for name in MELONS:
        loo = SPODE(name).fit(MELONS, GOOD).leave_one_out_log_proba(MELONS, GOOD)
        own = GOOD.map(model.classes_.tolist().index).to_numpy()
        assert scores.loc[name, "accuracy"] == pytest.approx((loo.argmax(axis=1) == own).mean())
        assert scores.loc[name, "log_loss"] == pytest.approx(-loo[np.arange(len(own)), own].mean())


def test_a_row_without_weight_or_posterior_is_never_right() -> None:
    X = pd.DataFrame({"a": list("xyxyxy"), "b": [str(i) for i in range(6)]})
    weight = np.array([1.0, 1, 1, 1, 1, 0])
    scores = SPODE(alpha=0).fit(X, list("ststst"), weight).candidate_scores_
    assert scores["accuracy"].tolist() == [0.0, 0.0]
    assert scores["log_loss"].tolist() == [np.inf, np.inf]


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_a_class_that_never_knows_the_parent_is_told_by_missing_as_a_category() -> None:
    """As in soybean: with "marginalize" ten rows of class b that know x count for nothing, as the docstring says."""
    X = pd.DataFrame({"p": ["x", "y"] * 10 + [None] * 10, "x": ["u", "v"] * 10 + ["u"] * 10})
    y, asked = pd.Series(["a"] * 20 + ["b"] * 10), pd.DataFrame({"p": [None], "x": ["u"]})
    by = {how: TAN(root="p", missing=how).fit(X, y) for how in ("marginalize", "category")}  # type: ignore[arg-type]
    assert by["marginalize"].tree_ == by["category"].tree_ == (("p", "x"),)
    np.testing.assert_allclose(by["marginalize"].predict_proba(asked)[0], [2 / 3, 1 / 3])  # the prior
    assert by["category"].predict_proba(asked)[0, 1] > 0.9


def test_leave_one_out_keeps_the_tree_where_a_missing_level_goes() -> None:
    X, y = MELONS.copy(), GOOD
    X.loc[4, "色泽"] = None  # the only one
    model = TAN(missing="category").fit(X, y)
    row, graph = model._encode(X.iloc[[4]]), {child: (parent,) for parent, child in model.tree_}
    gone = model._count(row, Labels(2, np.array([list(model.classes_).index(y[4])])), model.target_)
    slow = model._directed(model.stats_ - gone, graph).log(row)[0]
    fast = model.leave_one_out_log_proba(X, y)[4]
    assert fast == pytest.approx(slow - np.logaddexp(*slow), abs=1e-12)


def test_without_a_discrete_column_all_are_naive(mixed: Any) -> None:
    X, y = mixed[0][["sugar", "mass"]], mixed[1]
    for model in MODELS:
        fitted = model(discretize=None).fit(X, y)
        naive = NaiveBayes(priors=fitted.class_prior_).fit(X, y).predict_joint_log_proba(X)
        np.testing.assert_allclose(fitted.predict_joint_log_proba(X), naive, rtol=1e-10)
        assert getattr(fitted, "super_parent_", None) is None
        assert getattr(fitted, "root_", None) is None


@every
def test_pickle_and_statistics_on_their_own(model: type[SemiNaive]) -> None:
    fitted = model().fit(MELONS, GOOD)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again.predict_proba(MELONS), fitted.predict_proba(MELONS))
    naive = NaiveBayes().fit_stats(fitted.stats_)  # what a TAN counted is enough
    np.testing.assert_array_equal(naive.predict_proba(MELONS), NaiveBayes().fit(MELONS, GOOD).predict_proba(MELONS))


# sentences ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (SPODE("weight"), r"super_parent='weight' is no discrete column; take one of 'colour', 'navel', 'loo'$"),
        (SPODE("sugar", discretize=None), "super_parent='sugar' is no discrete column; take one of 'colour', 'navel'"),
        (TAN("weight"), r"root='weight' is no discrete column; take one of 'colour', 'navel', None$"),
        (KDependence(-1), "k=-1; it must be a whole number of 0 and more"),
        (KDependence(True), "k=True; it must be a whole number of 0 and more"),
        (KDependence(1.5), "k=1.5; it must be a whole number of 0 and more"),  # type: ignore[arg-type]
        (AODE(min_frequency=-1), "min_frequency=-1; it must be a number of 0 and more"),
        (AODE(min_frequency=True), "min_frequency=True; it must be a number of 0 and more"),
        (AODE(min_frequency="a"), "min_frequency='a'; it must be a number of 0 and more"),  # type: ignore[arg-type]
        (AODE(smoothing="some"), "smoothing='some' is none of 'factored', 'joint'"),  # type: ignore[arg-type]
        (TAN(alpha=-1), "alpha=-1; smoothing needs a number of 0 and more"),
        (TAN(variance="sample"), "variance='sample' is none of 'mle', 'unbiased'"),  # type: ignore[arg-type]
        (TAN(missing="drop"), "missing='drop' is none of 'marginalize', 'category', 'error'"),  # type: ignore[arg-type]
        (TAN(unseen="drop"), "unseen='drop' is none of 'ignore', 'smooth', 'error'"),  # type: ignore[arg-type]
        (TAN(var_floor=2), "var_floor=2 is no share between 0 and 1"),
        (TAN(priors="none"), "priors='none' is none of 'empirical', 'laplace', 'uniform'"),  # type: ignore[arg-type]
    ],
)
def test_a_parameter_that_cannot_be_is_named(model: SemiNaive, text: str, mixed: Any) -> None:
    X, y = mixed
    with pytest.raises(ParameterError, match=text):
        model.fit(X[["colour", "navel", *(["sugar"] if model.discretize is None else [])]], y)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        (
            {"discretize": "entropy"},
            "'entropy' is no way to discretize; choose one of 'mdlp', 'equal-width', 'quantile'",
        ),
        ({"discretize": "quantile", "bins": 1}, "bins=1: the number of intervals must be a whole number of 2 or more"),
        ({"discretize": "quantile", "bins": True}, "bins=True: the number of intervals must be a whole number"),
    ],
)
@every
def test_a_cutting_method_that_cannot_be(model: type[SemiNaive], parameters: Any, text: str, mixed: Any) -> None:
    with pytest.raises(ParameterError, match=text):
        model(**parameters).fit(*mixed)


def test_tables_of_too_many_cells_are_refused(mixed: Any) -> None:
    y = mixed[1]
    X = pd.DataFrame({f"x{j}": [f"{i}{j}" for i in range(60)] for j in range(5)})
    with pytest.raises(ParameterError, match=r"would hold 1\.\d+e\+09 cells; leave out or coarsen the columns"):
        KDependence(4).fit(X, y)


def levels(n: int, size: int, columns: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    codes = {f"c{j}": rng.integers(0, size, n) for j in range(columns)}
    return pd.DataFrame(
        {name: pd.Categorical.from_codes(c, [str(k) for k in range(size)]) for name, c in codes.items()}
    )


@pytest.mark.parametrize(
    ("model", "size", "columns", "text"),
    [
        (SPODE(), 3000, 2, r"1\.8e\+07 cells; .* 1 pairs of columns are expected to take 3\.3 GB and 0 seconds"),
        (SPODE(), 2, 2000, r"2e\+06 pairs of columns are expected to take [\d.]+ GB and 2\d\d seconds"),
        (TAN(), 5000, 2, r"expected to take 2\.5 GB .* the limits are 2 GB and 1800 seconds"),
        slowly(AODE(), 2, 2000, r"expected to take [\d.e+]+ GB"),
        slowly(KDependence(k=1), 2, 2000, r"expected to take [\d.e+]+ GB"),
    ],
)
def test_what_would_cost_too_much_is_refused_before_anything_is_counted(
    model: SemiNaive, size: int, columns: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayes_engine.models.semi_naive.collect", lambda *_: pytest.fail("it was counted"))
    with pytest.raises(ParameterError, match=text):
        model.fit(levels(6, size, columns), list("ababab"))


@pytest.mark.slow
def test_moments_of_numbers_in_every_level_are_part_of_the_cost() -> None:
    X = pd.concat([levels(6, 3000, 1), pd.DataFrame(np.ones((6, 4000))).add_prefix("x")], axis=1)
    schema, costs = Schema.from_dtypes(X), [m(discretize=None).cost for m in (AODE, TAN, SPODE)]
    for cost in costs:
        with pytest.raises(ParameterError, match="expected to take"):
            refuse_beyond(schema, 2, 6, cost)
        refuse_beyond(Schema(schema.variables[:20]), 2, 6, cost)
    with pytest.raises(ParameterError, match=r"4e\+03 pairs of columns are .* and 8\d\d\d+ seconds"):
        refuse_beyond(Schema(schema.variables), 2, 10**8, costs[0])


def test_super_parents_are_scored_a_few_at_a_time_as_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = levels(60, 3, 7), np.tile(["a", "b", "b"], 20)
    whole = SPODE().fit(X, y).candidate_scores_
    monkeypatch.setattr("bayes_engine.models.spode.STARS", 2)
    pd.testing.assert_frame_equal(SPODE().fit(X, y).candidate_scores_, whole)


def test_statistics_that_are_not_enough() -> None:
    stats = TAN().fit(MELONS, GOOD).stats_
    with pytest.raises(ParameterError, match="super_parent='loo' needs the rows: name the column, or fit the rows"):
        SPODE().fit_stats(stats)
    with pytest.raises(ParameterError, match="k=2 needs the rows: tables of more than two columns are not counted"):
        KDependence(2).fit_stats(stats)
    with pytest.raises(ParameterError, match="k=-1; it must be a whole number"):
        KDependence(-1).fit_stats(stats)
    for model in (TAN(), AODE(), SPODE("色泽"), KDependence(1)):
        with pytest.raises(ParameterError, match="these statistics hold no tables of pairs of columns; take those of"):
            model.fit_stats(NaiveBayes().fit(MELONS, GOOD).stats_)
    wide = KDependence(3).fit(MELONS, GOOD)
    with pytest.raises(SchemaMismatch, match="statistics of different families of columns do not merge"):
        wide.merge(KDependence(2).fit(MELONS, GOOD))
    with pytest.raises(ParameterError, match="with_params cannot change 'k': it acts when rows are counted"):
        wide.with_params(k=1)
    with pytest.raises(ParameterError, match="super_parent='x' is no discrete column"):
        AODE().fit(MELONS, GOOD).spode("x")


@every
def test_leaving_out_what_was_never_counted(model: type[SemiNaive]) -> None:
    fitted = model().fit(MELONS[1:], GOOD[1:])
    strange = MELONS[:1].assign(色泽="浅白", 根蒂="硬挺")
    with pytest.raises(NotASubset, match="a row to leave out was never counted"):
        fitted.leave_one_out_log_proba(strange, ["是"])
    with pytest.raises(NotASubset, match="its class has less weight than the row"):
        fitted.leave_one_out_log_proba(MELONS[1:2], GOOD[1:2], [100.0])


def test_a_fit_that_fails_leaves_the_last_one_s_answers_alone() -> None:
    model = TAN().fit(MELONS, GOOD)
    before = model.predict_proba(MELONS)
    with pytest.raises(ParameterError):
        model.with_params(root="nobody")
    np.testing.assert_array_equal(model.predict_proba(MELONS), before)
