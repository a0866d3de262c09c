"""The smoothing laboratory: golden numbers at the table's own size, refits and scikit-learn at any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import CategoricalNB

from bayes_engine import AODE, SPODE, TAN, KDependence, NaiveBayes, load_dataset
from bayes_engine.logspace import exp
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.priors import Dirichlet
from bayes_engine.workbench.laboratory import smoothing as lab

MELON = ("青绿", "蜷缩", "浊响", "清晰", "凹陷", "硬滑", 0.697, 0.460)


def table(name: str, drop: tuple[str, ...] = ()) -> tuple[pd.DataFrame, Any, Any]:
    data = load_dataset(name)
    names = [n for n in data.schema.features.names if n not in drop]
    schema = data.schema.features
    return data.frame[names], data.frame[data.info.target], type(schema)(tuple(schema[n] for n in names))


def melons(drop: tuple[str, ...] = (), **parameters: Any) -> tuple[NaiveBayes, pd.DataFrame]:
    X, y, schema = table("watermelon3", drop)
    case = pd.DataFrame({n: [v] for n, v in zip(table("watermelon3")[0], MELON, strict=True) if n not in drop})
    return NaiveBayes(**{**PRESETS["textbook"], **parameters}, schema=schema).fit(X, y), case


@pytest.mark.slow
def test_the_worked_example_under_all_four_and_at_every_size_as_a_refit() -> None:
    model, case = melons()
    k = model.classes_.tolist().index("是")
    found = lab.curves(model, case, [1, 17, 1e5])
    assert found.posterior[:3, 1, k].round(6).tolist() == [0.998692, 0.997568, 0.996996]  # MISSION's golden numbers
    assert np.ptp(found.posterior[0, :, k]) < 1e-15  # proportions are all that counts without smoothing
    assert np.ptp(found.posterior[:, 2, k]) < 1e-6  # and in the end everywhere
    # the m-estimate by hand: (n + m p)/(N + m), m = 2, p the share in the column
    shares = np.array([6, 8, 10, 9, 7, 12]) / 17
    good = 8 / 17 * np.prod((np.array([3, 5, 6, 7, 5, 6]) + 2 * shares) / 10) * 1.9590 * 0.7881
    bad = 9 / 17 * np.prod((np.array([3, 3, 4, 2, 2, 6]) + 2 * shares) / 11) * 1.2033 * 0.0662
    assert found.posterior[3, 1, k] == pytest.approx(good / (good + bad), abs=2e-6)
    for r, one in enumerate(lab.smoothed_models(model, 2.0).values()):
        for i, n in enumerate((1, 17, 1e5)):
            assert lab.at_size(one, n).predict_proba(case)[0] == pytest.approx(found.posterior[r, i], abs=1e-13)


def test_the_cell_is_the_mean_of_belief_and_frequency() -> None:
    model, case = melons()
    k = model.classes_.tolist().index("是")
    level = model.schema_["敲声"].levels.index("清脆")
    cell = lab.curves(model, case, [17, 34, 1.7e6], 3.0, "uniform", cell=("敲声", level, k)).cell
    assert cell is not None and cell.frequency == 0.0
    assert cell.value[:, 0].tolist() == pytest.approx([0, 1 / 11, 1 / 11, 1 / 11])
    assert cell.value[:, 1].tolist() == pytest.approx([0, 1 / 19, 1 / 19, 1 / 19])
    assert cell.prior_weight[:, 0].tolist() == pytest.approx([0, 3 / 11, 3 / 11, 3 / 11])
    assert cell.value[:, 2].max() < 2e-6


@pytest.mark.slow
@pytest.mark.parametrize("n", [3.4, 17, 400])
def test_laplace_is_scikit_learn_s_categorical_at_fractional_counts(n: float) -> None:
    model, case = melons(("密度", "含糖率"))
    X, y, schema = table("watermelon3", ("密度", "含糖率"))
    codes = np.array([[v.levels.index(cell) for cell in X[v.name]] for v in schema]).T
    asked = np.array([[v.levels.index(case[v.name].iloc[0]) for v in schema]])
    weight = model.stats_.class_weight * n / 17
    found = lab.curves(model, case, [n])
    for rule, prior in (("laplace", (weight + 1) / (n + 2)), ("zero-only", None)):
        if prior is None:
            continue
        theirs = CategoricalNB(alpha=1.0, class_prior=prior, min_categories=[len(v.levels) for v in schema])
        theirs.fit(codes, y, sample_weight=np.full(17, n / 17))
        assert theirs.classes_.tolist() == model.classes_.tolist()
        assert found.posterior[lab.RULES.index(rule), 0] == pytest.approx(theirs.predict_proba(asked)[0], abs=1e-12)
    theirs = CategoricalNB(alpha=1e-300, force_alpha=True, min_categories=[len(v.levels) for v in schema])
    theirs.fit(codes, y, sample_weight=np.full(17, n / 17))
    assert found.posterior[0, 0] == pytest.approx(theirs.predict_proba(asked)[0], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("watermelon3", {"variance": "mle"}),
        ("watermelon3", {"variance": "mle", "discretize": "equal-width", "bins": 3}),
        ("mushroom", {}),
        ("german-credit", {"variance": "mle"}),
        ("iris", {"likelihoods": "kernel"}),
        ("sms-spam", {"likelihoods": {"message": "multinomial"}}),
    ],
)
def test_every_size_is_a_fit_with_weights(name: str, parameters: dict[str, Any]) -> None:
    X, y, schema = table(name)
    if name == "sms-spam":
        X, schema = load_dataset(name).frame[["message"]].astype(str), None
    model = NaiveBayes(**parameters, schema=schema).fit(X, y)
    sizes = [len(y) / 7, float(len(y)), len(y) * 30.0]
    found = lab.curves(model, X.iloc[:1], sizes, 5.0)
    for rule, one in lab.smoothed_models(model, 5.0).items():
        for i, n in enumerate(sizes):
            fresh = NaiveBayes(**{**one.get_params(deep=False), "schema": schema})
            fresh.fit(X, y, sample_weight=np.full(len(y), n / len(y)))
            log_p = fresh.predict_log_proba(X.iloc[:1])[0]
            if np.isneginf(log_p).all():
                assert np.isnan(found.posterior[lab.RULES.index(rule), i]).all()
            else:
                assert found.posterior[lab.RULES.index(rule), i] == pytest.approx(exp(log_p), rel=1e-7, abs=1e-12)


@pytest.mark.slow
def test_a_case_that_every_class_excludes_has_no_posterior_and_its_odds_are_endless() -> None:
    X = pd.DataFrame({"a": ["p", "q", "p", "q"], "b": ["r", "s", "r", "s"]})
    model = NaiveBayes(alpha=0).fit(X, ["A", "B", "A", "B"])
    case = pd.DataFrame({"a": ["p"], "b": ["s"]})
    found = lab.curves(model, case, [4, 40])
    assert np.isnan(found.posterior[0]).all() and np.isnan(found.log_odds(0)[0]).all()
    assert found.posterior[1:, :, 0] == pytest.approx(0.5)
    sure = lab.curves(model, X.iloc[:1], [4])
    assert sure.log_odds(0)[0, 0] == np.inf and sure.log_odds(1)[0, 0] == -np.inf
    assert [(z.column, z.level, z.k) for z in lab.zeros(model)] == [("a", 1, 0), ("a", 0, 1), ("b", 1, 0), ("b", 0, 1)]


@pytest.mark.slow
def test_the_prior_of_use_stands_in_for_each_model_s_own() -> None:
    model, case = melons()
    use = {"是": 0.01, "否": 0.99}
    found = lab.curves(model, case, [17], use=use)
    for r, one in enumerate(lab.smoothed_models(model, 2.0).values()):
        theirs = one.with_params(priors=use).predict_proba(case)[0]
        assert found.posterior[r, 0] == pytest.approx(theirs, abs=1e-13)
    for k in range(2):
        rows = lab.factors_at(model, case, 17, k)
        products = [np.prod(exp(np.array(logs))) for logs in zip(*(row.logs for row in rows), strict=True)]
        assert products == pytest.approx(exp(lab.curves(model, case, [17]).joint[:, 0, k]), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("model", [SPODE(), TAN(), AODE(), KDependence()], ids=lambda one: type(one).__name__)
def test_other_models_are_smoothed_as_a_fit_of_as_many_rows(model: Any) -> None:
    X, y, schema = table("watermelon2")
    case = X[:1]
    fitted = clone(model).set_params(schema=schema).fit(X, y)
    for n, times in ((17, 1), (170, 10)):
        found = lab.smoothed_elsewhere(fitted, case, n, 3.0, "uniform")
        assert list(found) == ["none", "laplace", "m-estimate"]
        many, classes = pd.concat([X] * times, ignore_index=True), pd.concat([pd.Series(y)] * times, ignore_index=True)
        for rule, alpha, priors in (
            ("none", 0.0, "empirical"),
            ("laplace", 1.0, "laplace"),
            ("m-estimate", Dirichlet.m_estimate(3.0, "uniform"), "empirical"),
        ):
            same = {"super_parent": fitted.super_parent_} if isinstance(fitted, SPODE) else {}
            fit = clone(model).set_params(schema=schema, alpha=alpha, priors=priors, **same).fit(many, classes)
            assert found[rule].posterior == pytest.approx(fit.predict_proba(case)[0], abs=1e-9), (rule, n)
    use = dict(zip(fitted.classes_.tolist(), (0.9, 0.1), strict=True))
    moved = lab.smoothed_elsewhere(fitted, case, 17, use=use)["laplace"].posterior
    plain = lab.smoothed_elsewhere(fitted, case, 17)["laplace"].posterior
    prior = np.array([(np.asarray(y) == c).sum() + 1 for c in fitted.classes_]) / 19
    odds = plain / prior * np.array([0.9, 0.1])
    assert moved == pytest.approx(odds / odds.sum())


@pytest.mark.slow
def test_a_smoothing_that_a_model_has_not_says_why() -> None:
    X, y, schema = table("watermelon2")
    found = lab.smoothed_elsewhere(AODE(schema=schema).fit(X, y), X[:1], 17, 2.0, "marginal")
    assert found["m-estimate"].posterior is None and "AODE" in str(found["m-estimate"].why)


def test_columns_of_other_likelihoods_unseen_values_and_a_prior_of_use_are_those_of_a_fit() -> None:
    X = pd.DataFrame({"n": [0.0, 2.0, 1.0, 5.0], "a": ["p", "q", "p", "q"], "words": ["x y", "y", "z", "x z"]})
    model = NaiveBayes(likelihoods={"n": "kernel", "words": "multinomial"}, text={"columns": ["words"]}, alpha=1.0,
                       unseen="smooth").fit(X, ["A", "A", "B", "B"])  # fmt: skip
    case, use = pd.DataFrame({"n": [1.5], "a": ["new"], "words": ["x x"]}), {"A": 0.9, "B": 0.1}
    found = lab.curves(model, case, [4, 40], use=use)
    for r, one in enumerate(lab.smoothed_models(model, 2.0).values()):
        for i, n in enumerate((4, 40)):
            grown = lab.at_size(one, n)
            theirs = grown.explain(case).at_prior(grown.prior_by_class, use).posterior()[0]
            np.testing.assert_allclose(
                np.nan_to_num(found.posterior[r, i]), theirs, atol=1e-12
            )  # 0 where there is none


def test_no_posterior_is_said_where_every_class_has_a_zero() -> None:
    assert lab.SmoothedElsewhere(np.full(2, -np.inf)).posterior is None
    X = pd.DataFrame({"a": list("ppqq"), "b": list("rrss")})
    found = lab.smoothed_elsewhere(AODE().fit(X, list("ABAB")), X[:1], 4)
    assert found["m-estimate"].joint is None and "AODE" in str(found["m-estimate"].why)
