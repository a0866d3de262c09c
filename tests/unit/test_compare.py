"""Models beside each other: scores by hand, paired differences, and the bill of description length."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bayes_engine.datasets import load_dataset
from bayes_engine.decision.compare import compare, compare_risk, score
from bayes_engine.decision.curves import calibration
from bayes_engine.decision.decision_boundaries import log_proba
from bayes_engine.decision.description_length import DescriptionLength, mdl
from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.fold_models import _learnt
from bayes_engine.decision.held_out import Folds, HeldOut, held_out, read_folds, repeated
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import ParameterError, TableError, listen
from bayes_engine.language import Message
from bayes_engine.models.aode import AODE
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis
from bayes_engine.models.k_dependence import KDependence
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.spode import SPODE
from bayes_engine.models.tan import TAN
from bayes_engine.workbench.derivation.parameter_count import model_size

LOSS = LossMatrix(("a", "b"), ("a", "b"), [[0, 5], [1, 0]])


def judged(p: list[float], truth: list[int]) -> HeldOut:
    """Held-out rows of two classes with these probabilities of the first."""
    posterior = np.array([[v, 1.0 - v] for v in p])
    half = np.full(posterior.shape, 0.5)
    with np.errstate(divide="ignore"):
        return HeldOut(("a", "b"), np.log(posterior), half, np.array(truth), np.ones(len(p)), Message("by hand"))


def melons() -> tuple[pd.DataFrame, pd.Series]:
    data = load_dataset("watermelon2")
    return data.frame[list(data.schema.features.names)], data.frame["好瓜"]


# on held-out rows -----------------------------------------------------------------------------------------------------


def test_the_scores_are_the_sums_written_by_hand() -> None:
    p, truth = [0.9, 0.8, 0.3, 0.6], [0, 1, 1, 0]
    found = score(judged(p, truth))
    of_truth = [0.9, 0.2, 0.7, 0.6]
    assert found["accuracy"] == 0.75
    assert found["confidence"] == pytest.approx((0.9 + 0.8 + 0.7 + 0.6) / 4)
    assert found["log_loss"] == pytest.approx(-sum(map(math.log, of_truth)) / 4)
    assert found["brier"] == pytest.approx(sum(2 * (1 - v) ** 2 for v in of_truth) / 4)
    # five bins below 200 rows: [0.6, 0.8) holds 0.7 and 0.6, both right; [0.8, 1] holds 0.9 right and 0.8 wrong
    assert found["ece"] == pytest.approx(0.5 * abs(1.0 - 0.65) + 0.5 * abs(0.5 - 0.85))
    bins = calibration(judged(p, truth), equal="width")
    assert bins["share"].tolist() == [0.5, 0.5] and bins["true"].tolist() == [1.0, 0.5]
    assert bins["said"].tolist() == pytest.approx([0.65, 0.85])
    assert found["ece"] == pytest.approx((bins["share"] * (bins["true"] - bins["said"]).abs()).sum())


def test_a_prior_of_use_shifts_posteriors_and_reweighs_rows() -> None:
    """π_use = (0.8, 0.2) of a table with half and half: odds times four, rows of a weigh 1.6, those of b 0.4."""
    found = score(judged([0.5, 0.5], [0, 1]), {"a": 0.8, "b": 0.2})
    assert found["accuracy"] == pytest.approx(0.8)
    assert found["log_loss"] == pytest.approx(-(0.8 * math.log(0.8) + 0.2 * math.log(0.2)))


def test_more_is_the_mean_difference_on_the_rows() -> None:
    rng = np.random.default_rng(0)
    p, truth = rng.uniform(0.2, 0.8, 300), rng.integers(0, 2, 300)
    one = judged(p.tolist(), truth.tolist())
    other = judged((p**1.1).tolist(), truth.tolist())
    found = compare({"one": one, "other": other})
    gap = -other.log_posterior[np.arange(300), truth] + one.log_posterior[np.arange(300), truth]
    assert found["more"].tolist() == [0.0, pytest.approx(gap.mean())]


def test_the_risk_is_that_of_estimated_risk_and_its_difference_that_of_the_rows() -> None:
    one, other = judged([0.9, 0.9, 0.1, 0.1], [0, 1, 1, 0]), judged([0.9, 0.1, 0.1, 0.1], [0, 1, 1, 0])
    amount = [1.0, 2.0, 3.0, 4.0]
    found = compare_risk({"one": one, "other": other}, LOSS, amount=amount)
    for name, held in (("one", one), ("other", other)):
        report = estimated_risk(held, LOSS, amount=amount)
        assert (report.risk, *report.interval) == tuple(found.loc[name, ["risk", "low", "high"]])
    assert found["risk"].tolist() == [(2 * 5 + 4 * 1) / 4, 4 * 1 / 4]
    assert found.loc["other", "more"] == -2.5


def test_an_impossible_truth_has_an_infinite_loss_and_no_difference() -> None:
    found = compare({"one": judged([0.9, 0.5], [0, 1]), "other": judged([1.0, 1.0], [0, 1])})
    assert found.loc["other", "log_loss"] == math.inf
    assert math.isnan(found.loc["other", "more"])
    assert found.loc["other", "brier"] == 1.0


def test_rows_of_a_class_that_is_not_in_use_have_no_weight() -> None:
    """Their loss is infinite, for the posterior of their class is 0; they stand for no row of the use."""
    held = {"one": judged([0.9, 0.5], [0, 1]), "other": judged([0.6, 0.8], [0, 1])}
    found = compare(held, prior_of_use={"a": 1.0, "b": 0.0})
    assert found["log_loss"].tolist() == [0.0, 0.0]
    assert found["more"].tolist() == [0.0, 0.0]


def test_rows_that_not_all_have_a_posterior_for_are_left_out_and_counted() -> None:
    gap = judged([0.9, 0.5, 0.5], [0, 1, 0])
    gap.log_posterior[2] = -np.inf
    found = compare({"one": judged([0.9, 0.5, 0.1], [0, 1, 0]), "other": gap})
    assert found["undecided"].tolist() == [0, 1]
    assert found.loc["one", "log_loss"] == found.loc["other", "log_loss"]
    gap.log_posterior[:] = -np.inf
    with pytest.raises(TableError, match="no held-out row has a posterior"):
        compare({"other": gap})


@pytest.mark.slow
def test_leave_one_out_with_everything_learnt_anew() -> None:
    """Of naive Bayes nothing is chosen from the rows, so it is the exact one; of a tree the choice is made anew."""
    X, y = melons()
    naive = NaiveBayes().fit(X, y)
    exact = held_out(naive, X, y)
    assert str(exact.scheme) == "leave-one-out, exact"
    for i in (0, 9):
        rest = X.index != X.index[i]
        fresh = NaiveBayes(schema=naive.schema_).fit(X[rest], y[rest])
        np.testing.assert_allclose(exact.log_posterior[i], fresh.predict_log_proba(X.iloc[[i]])[0], atol=1e-12)
        np.testing.assert_allclose(exact.prior[i], fresh.class_prior_)
    tree = TAN().fit(X, y)
    anew, kept = held_out(tree, X, y), held_out(tree, X, y, refit=False)
    assert str(anew.scheme) == "leave-one-out, everything learnt anew"
    assert str(kept.scheme) == "leave-one-out, structure kept"
    for i in (0, 9):
        rest = X.index != X.index[i]
        np.testing.assert_allclose(
            anew.log_posterior[i], TAN(schema=tree.schema_).fit(X[rest], y[rest]).predict_log_proba(X.iloc[[i]])[0]
        )
    assert np.abs(anew.log_posterior - kept.log_posterior).max() > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("model", [SPODE(), KDependence(2), NaiveBayes(discretize="mdlp"), AODE(discretize=None)])
def test_rows_encoded_for_all_folds_are_learnt_from_as_if_read_anew(model: Any) -> None:
    table = load_dataset("watermelon3a")
    X, y = table.frame[list(table.schema.features.names)], table.frame[table.schema.target.name].to_numpy()
    weight = np.arange(len(y)) % 3 + 0.5
    with listen():  # of a column that no fold cuts
        cut = clone(model).set_params(schema=table.schema.features).fit(X, y, weight).schema_
        for schema in (cut, table.schema.features):  # cut points that were not given are learnt anew
            fitted = model.set_params(schema=schema).fit(X, y, weight)
            held = held_out(fitted, X, y, sample_weight=weight, folds=np.arange(len(y)))
            for i in range(len(y)):
                rest = np.arange(len(y)) != i
                fold, _ = _learnt(fitted, X[rest], y[rest], weight[rest])
                np.testing.assert_allclose(held.log_posterior[i], log_proba(fold, X[~rest])[0], rtol=1e-12)
                np.testing.assert_allclose(held.prior_by_row[i], fold.class_prior_)


def test_models_that_cut_alike_share_the_folds_that_are_read() -> None:
    rng = np.random.default_rng(4)
    y = np.repeat(["a", "b"], 40)
    X = pd.DataFrame({"x": rng.normal(size=80) + 2 * (y == "a"), "z": rng.normal(size=80), "c": list("uv" * 40)})
    models: list[Any] = [NaiveBayes(discretize="quantile", bins=3), TAN(discretize="quantile", bins=3)]
    for model in models:
        model.fit(X, y)
    read = read_folds(models[0], X, y, (0, 1))
    for model in models:
        anew = [held_out(model, X, y, seed=seed, in_folds=True) for seed in (0, 1)]
        for one, other in zip(repeated(model, None, None, (0, 1), read=read), anew, strict=True):
            assert one.log_posterior.tolist() == other.log_posterior.tolist()
            assert one.scheme == other.scheme
        kept = Folds(model, read=read[1]).held_out(alpha=3.0)
        assert kept.log_posterior.tolist() == Folds(model, X, y, seed=1).held_out(alpha=3.0).log_posterior.tolist()
    for other in (TAN(discretize="quantile", bins=4), TAN(discretize="equal-width", bins=3), TAN(discretize=None)):
        with pytest.raises(ParameterError, match="not read for TAN"):
            read[0].held_out(other.fit(X, y))


# to write down --------------------------------------------------------------------------------------------------------


def test_the_bill_of_naive_bayes_on_the_melons_by_hand() -> None:
    """P(good) = 8/17 and the 34 cells counted: 23 free parameters (MISSION: 971 against 23)."""
    X, y = melons()
    by_hand = 8 * math.log(8 / 17) + 9 * math.log(9 / 17)
    for column in X:
        for label, n in (("是", 8), ("否", 9)):
            by_hand += sum(k * math.log(k / n) for k in X[column][y == label].value_counts() if k)
    for alpha in (0.0, 1.0, 7.0):  # whatever the model's own smoothing
        bill = mdl(NaiveBayes(alpha=alpha).fit(X, y))
        assert bill is not None
        assert bill.parameters == 23
        assert bill.log_likelihood == pytest.approx(by_hand, abs=1e-10)
        assert bill.total == pytest.approx(-by_hand + 0.5 * math.log(17) * 23)


@pytest.mark.parametrize("model", [SPODE("根蒂"), SPODE(), TAN(), TAN(root="色泽"), KDependence(0), KDependence(2)])
def test_the_likelihood_is_that_of_the_brute_force_joint(model: Any) -> None:
    """Fitted without smoothing, the joint over all cells sums to 1 and gives the rows what the bill says."""
    X, y = melons()
    X = X[["色泽", "根蒂", "敲声"]]
    if isinstance(model, TAN | SPODE | KDependence):
        model = model.fit(X, y)
    exact = type(model)(**{**model.get_params(), "alpha": 0.0}).fit(X, y)
    if isinstance(model, SPODE):
        exact = model.with_params(alpha=0.0)
    cells = pd.DataFrame(itertools.product(*(sorted(set(X[c])) for c in X)), columns=list(X))
    joint = np.exp(exact.predict_joint_log_proba(cells))
    assert joint.sum() == pytest.approx(1.0)
    at = {tuple(row): i for i, row in enumerate(cells.to_numpy())}
    k = {c: i for i, c in enumerate(exact.classes_.tolist())}
    likelihood = sum(math.log(joint[at[tuple(x)], k[c]]) for x, c in zip(X.to_numpy(), y, strict=True))
    bill = mdl(model)
    assert bill is not None
    assert bill.log_likelihood == pytest.approx(likelihood, abs=1e-9)
    assert bill.parameters == model_size(model).factor_free


def test_numbers_have_densities_and_two_parameters_a_cell() -> None:
    data = load_dataset("penguins")
    rows = data.frame.dropna()
    X, y = rows[list(data.schema.features.names)], rows[data.schema.target.name]  # type: ignore[union-attr]
    for model in (NaiveBayes(alpha=0.0).fit(X, y), TAN(alpha=0.0, discretize=None).fit(X, y)):
        bill, size = mdl(model), model_size(model)
        own = model.predict_joint_log_proba(X)[np.arange(len(X)), np.searchsorted(model.classes_, y)]
        assert bill is not None
        assert bill.log_likelihood == pytest.approx(own.sum(), rel=1e-9)
        assert bill.parameters == (size.factor_free or 0) + size.gaussian


def test_weights_are_rows_that_stand_there_more_often() -> None:
    X, y = melons()
    weight = np.arange(17) % 3
    twice = np.repeat(np.arange(17), weight)
    for model in (NaiveBayes(), TAN()):
        one, other = (
            mdl(model.fit(X, y, weight)), mdl(type(model)(schema=model.schema_).fit(X.iloc[twice], y.iloc[twice]))
        )  # fmt: skip
        assert one is not None and other is not None
        assert one == pytest.approx(other)


def test_a_cell_whose_parent_is_not_known_is_billed_by_its_class() -> None:
    """Both columns known in 8 rows, b alone in two more of class n: they cost 2 log P(b=x|n) = 2 log 3/6."""
    X = pd.DataFrame({"a": [*"xxyyxxyy", None, None], "b": [*"xyyxxyyx", "x", "y"]})
    y = [*"nyny" * 2, "n", "n"]
    model = SPODE("a").fit(X, y)
    whole, rest = mdl(model), mdl(SPODE("a").fit(X.iloc[:8], y[:8]))
    assert whole is not None and rest is not None
    prior = [6 * math.log(0.6) + 4 * math.log(0.4), 8 * math.log(0.5)]
    known_b = int((X["b"][[i for i, c in enumerate(y) if c == "n"]] == "x").sum())
    own = math.log(known_b / 6) + math.log(1 - known_b / 6)
    assert whole.log_likelihood - prior[0] == pytest.approx(rest.log_likelihood - prior[1] + own)
    mixed = X.assign(a=X["a"], size=[1.0, 2.0, 4.0, 8.0, 1.5, 2.5, 4.5, 7.5, 3.0, 5.0])
    bill = mdl(SPODE("a", discretize=None).fit(mixed, y))
    assert bill is not None
    size = mixed["size"][[c == "n" for c in y]]
    density = [-0.5 * math.log(2 * math.pi * size.var(ddof=0)) - (v - size.mean()) ** 2 / 2 / size.var(ddof=0)
               for v in (3.0, 5.0)]  # fmt: skip
    inside = 0.0
    for (_c, _a), part in mixed["size"][:8].groupby([y[:8], mixed["a"][:8]]):
        inside += sum(-0.5 * math.log(2 * math.pi * part.var(ddof=0)) - (v - part.mean()) ** 2 / 2 / part.var(ddof=0)
                      for v in part)  # fmt: skip
    assert bill.log_likelihood - whole.log_likelihood == pytest.approx(inside + sum(density))


def test_a_mean_of_models_and_a_covariance_have_no_bill() -> None:
    X, y = melons()
    assert mdl(AODE().fit(X, y)) is None
    iris = load_dataset("iris")
    numbers = iris.frame[list(iris.schema.features.names)]
    assert mdl(LinearDiscriminantAnalysis().fit(numbers, iris.frame[iris.schema.target.name])) is None  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_k_dependence_of_degree_0_is_naive_bayes_on_the_dial() -> None:
    data = load_dataset("watermelon3")
    X, y = data.frame[list(data.schema.features.names)], data.frame["好瓜"]
    naive, none = NaiveBayes(discretize="mdlp").fit(X, y), KDependence(0).fit(X, y)
    np.testing.assert_allclose(held_out(naive, X, y).log_posterior, held_out(none, X, y).log_posterior, atol=1e-12)
    one, other = mdl(naive), mdl(none)
    assert one is not None and other is not None and one == pytest.approx(other)


def test_a_bill_adds_up() -> None:
    bill = DescriptionLength(-10.0, 4, math.e**2)
    assert (bill.penalty, bill.total) == pytest.approx((4.0, 14.0))
