"""Columns of counts that are one multinomial together: against scikit-learn, by hand, and the laws of every model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, dirichlet
from sklearn import naive_bayes as theirs

from bayes_engine import (
    Dirichlet,
    NaiveBayes,
    SelectiveNaiveBayes,
    SemiSupervisedNB,
    load_dataset,
    load_model,
    save_model,
)
from bayes_engine.decision.ask import ask
from bayes_engine.decision.regions import axis_of, posterior_plane
from bayes_engine.errors import EstimationWarning, ParameterError, TableError
from bayes_engine.factors.joint_multinomial import CountShare, JointCounts
from bayes_engine.factors.sources import Complement
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.uncertainty.credible import credible
from bayes_engine.uncertainty.plausible import log_odds, plausible
from bayes_engine.workbench.derivation.derive import derive
from bayes_engine.workbench.derivation.nomogram import nomogram, values_of
from tests.conftest import slowly

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
TOGETHER = "joint-multinomial"


def counted(n: int = 80, seed: int = 3) -> tuple[pd.DataFrame, pd.Series]:
    """Counts of six things, one of which never comes, and rows of other lengths."""
    rng = np.random.default_rng(seed)
    y = pd.Series(rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]))
    share = {c: rng.dirichlet(np.full(5, 0.7)) for c in "abc"}
    rows = [[*rng.multinomial(rng.integers(0, 25), share[c]), 0] for c in y]
    return pd.DataFrame(rows, columns=list("uvwxyz")), y


def test_posterior_and_scores_are_scikit_learns() -> None:
    X, y = counted()
    for alpha in (1.0, 0.2):
        ours, other = NaiveBayes(likelihoods=TOGETHER, alpha=alpha).fit(X, y), theirs.MultinomialNB(alpha=alpha)
        other.fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-12)
        joint = ours.predict_joint_log_proba(X)
        np.testing.assert_allclose(joint, other.predict_joint_log_proba(X), rtol=1e-12, atol=1e-12)
        scores = ComplementNaiveBayes(alpha=alpha).fit(X, y)
        expected = theirs.ComplementNB(alpha=alpha).fit(X, y).predict_joint_log_proba(X)
        np.testing.assert_allclose(scores.predict_joint_log_proba(X) + np.log(3), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_the_digits_are_scikit_learns() -> None:
    data = load_dataset("digits")
    X, y = data.frame[list(data.schema.features.names)], data.frame["digit"]
    ours, other = NaiveBayes(likelihoods=TOGETHER).fit(X, y), theirs.MultinomialNB().fit(X, y.astype(str))
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("alpha", [1.0, *map(slowly, ({"u": 3.0, "v": 0.5, "*": 1.0}, "jeffreys"))])
@pytest.mark.parametrize("smoothing", ["all", slowly("zero-only")])
def test_a_row_left_out_is_a_fit_without_it(alpha: object, smoothing: str) -> None:
    X, y = counted(25)
    model = NaiveBayes(likelihoods=TOGETHER, alpha=alpha, smoothing=smoothing)
    held = model.fit(X, y).leave_one_out_log_proba(X, y)
    for i in range(len(X)):
        again = NaiveBayes(likelihoods=TOGETHER, alpha=alpha, smoothing=smoothing).fit(X.drop(i), y.drop(i))
        expected = again.predict_log_proba(X.loc[[i]])[0]
        if len(again.classes_) == 3:
            np.testing.assert_allclose(held[i], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_an_alpha_by_column_is_scikit_learns_array() -> None:
    X, y = counted()
    alpha = {"u": 3.0, "v": 0.5, "*": 1.0}
    other = theirs.MultinomialNB(alpha=[3.0, 0.5, 1.0, 1.0, 1.0, 1.0]).fit(X, y)
    ours = NaiveBayes(likelihoods=TOGETHER, alpha=alpha).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_a_missing_count_leaves_the_known_ones_given_their_own_total() -> None:
    X, y = counted()
    model = NaiveBayes(likelihoods=TOGETHER).fit(X, y)
    without = theirs.MultinomialNB().fit(X.drop(columns="v"), y).predict_proba(X.drop(columns="v"))
    gap = X.astype(float).assign(v=np.nan)
    np.testing.assert_allclose(model.predict_proba(gap), without, rtol=0, atol=1e-12)
    others = [c for c in X if c != "v"]
    np.testing.assert_allclose(model.explain(X, others).posterior(), without, rtol=0, atol=1e-12)
    with pytest.raises(TableError, match="column 'v' is one multinomial with others and has missing cells in 80"):
        NaiveBayes(likelihoods=TOGETHER).fit(gap, y)
    plane = posterior_plane(
        model, model.schema_, axis_of(model.schema_["u"], X["u"]), axis_of(model.schema_["w"], X["w"])
    )
    assert plane.x.counts
    uw = theirs.MultinomialNB().fit(X[["u", "w"]], y).predict_proba(pd.DataFrame({"u": [2], "w": [3]}))[0]
    at = plane.y.ticks(200).index(3), plane.x.ticks(200).index(2)  # type: ignore[union-attr]
    np.testing.assert_allclose(plane.posterior[at], uw, atol=1e-12)


def test_merged_saved_and_derived(tmp_path: Path) -> None:
    X, y = counted()
    model = NaiveBayes(likelihoods=TOGETHER).fit(X, y)
    halves = [NaiveBayes(likelihoods=TOGETHER).fit(X[s], y[s]) for s in (slice(0, 40), slice(40, 80))]
    np.testing.assert_allclose(halves[0].merge(halves[1]).predict_proba(X), model.predict_proba(X), atol=1e-13)
    for made in (model, ComplementNaiveBayes().fit(X, y)):
        save_model(made, tmp_path / "m.json")
        np.testing.assert_array_equal(load_model(tmp_path / "m.json").predict_joint_log_proba(X),
                                      made.predict_joint_log_proba(X))  # fmt: skip
    gap = X.astype(float).iloc[[5]].assign(w=np.nan)
    for case in (X.iloc[[5]], gap):
        working = derive(model, case)
        np.testing.assert_allclose(working.posterior, model.predict_proba(case)[0], atol=1e-12)
        for step in working.steps[1:]:
            for source in step.sources:
                np.testing.assert_allclose(source.share.value**source.x, source.value, rtol=1e-12)  # type: ignore[attr-defined]
    values = {v.name: made for v in model.schema_ if (made := values_of(v, X[v.name]))}
    drawn = nomogram(model, X.iloc[[5]], values)
    np.testing.assert_allclose(drawn.joint(), model.predict_joint_log_proba(X.iloc[[5]])[0], atol=1e-12)
    assert nomogram(model, gap, values).left_out == ("w",)


def test_what_it_refuses_says_why() -> None:
    X, y = counted()
    with pytest.raises(ParameterError, match="neither weighted nor chosen one by one"):
        SelectiveNaiveBayes(NaiveBayes(likelihoods=TOGETHER)).fit(X, y)
    with pytest.warns(EstimationWarning, match="column 'u' alone is no multinomial"):
        NaiveBayes(likelihoods={"u": TOGETHER}).fit(X, y)
    with pytest.raises(TableError, match="no count"):
        NaiveBayes(likelihoods={"u": TOGETHER, "v": TOGETHER}).fit(X.assign(u=X["u"] + 0.5), y)
    model = NaiveBayes(likelihoods=dict.fromkeys("uvwxy", TOGETHER)).fit(X.assign(z=list("pq") * 40), y)
    asked = ask(model, pd.DataFrame([dict.fromkeys("uvwxyz")]))
    assert [q.feature for q in asked.questions] == ["z"]


def test_hidden_labels_are_filled_by_em_and_the_bound_rises() -> None:
    X, y = counted(200)
    hidden = y.where(np.arange(200) % 3 == 0)
    model = SemiSupervisedNB(NaiveBayes(likelihoods=TOGETHER)).fit(X, hidden)
    objective = [step.objective for step in model.trace_.steps]
    assert np.all(np.diff(objective) >= -1e-8 * np.abs(objective[0]))
    assert np.mean(model.predict(X) == y) > 0.9


def test_the_band_of_a_row_is_that_of_one_dirichlet_and_each_shares_of_its_beta() -> None:
    """Draws of NumPy's Dirichlet, of all columns and of those that are known; quantiles of SciPy's Beta."""
    X = pd.DataFrame({"a": [3, 0, 1, 4], "b": [1, 2, 0, 1], "c": [0, 5, 2, 2]})
    model = NaiveBayes(likelihoods=dict.fromkeys("abc", TOGETHER), alpha=0.5).fit(X, ["p", "q", "q", "p"])
    weight = np.array([[7.5, 2.5, 2.5], [1.5, 2.5, 7.5]])
    low, high = credible(model).columns["b"].interval()  # type: ignore[attr-defined]
    rest = weight.sum(axis=1, keepdims=True) - weight
    assert low == pytest.approx(beta.ppf(0.025, weight, rest)) and high == pytest.approx(beta.ppf(0.975, weight, rest))
    rng, n = np.random.default_rng(3), 40_000
    theta = [rng.dirichlet(row, n) for row in weight]
    for case in ([2.0, 1.0, 0.0], [np.nan, 3.0, 1.0]):
        known = ~np.isnan(case)
        x = np.array(case)[known]
        terms = [np.log(t[:, known] / t[:, known].sum(axis=1, keepdims=True)) @ x for t in theta]
        prior = rng.beta(2.5, 2.5, n)  # Jeffreys', where the class prior is the frequency
        drawn = terms[0] - terms[1] + np.log(prior / (1 - prior))
        exact = log_odds(model, pd.DataFrame([case], columns=list("abc")), "p", "q")
        own = np.log(plausible(model, pd.DataFrame([case], columns=list("abc")), n=n).p) @ [1, -1]
        assert exact is not None
        for sample in (drawn, own):
            assert abs(sample.mean() - exact.mean) < 5 * exact.sd / n**0.5
            assert sample.std() == pytest.approx(exact.sd, rel=0.02)


def test_scores_of_counts_say_their_shares_and_take_no_row_out() -> None:
    X, y = counted(20)
    model = ComplementNaiveBayes(alpha=0.5).fit(X, y)
    case = X.iloc[[2]]
    worked = derive(model, case)
    for step in (s for s in worked.steps if s.row.child in X):
        for label, source in zip(worked.classes, step.sources, strict=True):
            others = X[(y != label).to_numpy()].to_numpy().sum(axis=0) + 0.5
            j = list(X).index(step.row.child)
            share = others[j] / others.sum()
            assert isinstance(source, Complement) and isinstance(source.base, CountShare)
            assert source.base.share.value == pytest.approx(share)
            assert source.log_value == pytest.approx(-case.iloc[0, j] * np.log(share))
    leaf = model.factor_.part_of("u")[0]
    assert leaf.gathers("v") is False
    with pytest.raises(ParameterError, match="scores"):
        leaf.posterior(model.target_)


def test_the_posterior_of_shares_is_scipys_dirichlet() -> None:
    X, y = counted(20)
    model = NaiveBayes(likelihoods=TOGETHER, alpha=0.5).fit(X, y)
    leaf = model.factor_.part_of("u")[0]
    found = leaf.posterior(None)
    for c, label in enumerate("abc"):
        weight = X[(y == label).to_numpy()].to_numpy().sum(axis=0) + 0.5
        np.testing.assert_allclose(found.mean[c], dirichlet(weight).mean())
        np.testing.assert_allclose(found.variance[c], dirichlet(weight).var())
    nothing = model._encode(X.iloc[[0]] * 0)
    assert found.log_ratio(nothing, 0, 1) == (0.0, 0.0)  # of a row that counts nothing


def test_an_m_estimate_of_one_multinomial_leans_on_the_shares_of_all_rows() -> None:
    sums = np.array([[6.0, 2.0], [1.0, 5.0]])
    counts = JointCounts(("goals", "fouls"), sums, (Dirichlet.m_estimate(2.0), Dirichlet.m_estimate(2.0)))
    share = (sums + 2.0 * sums.sum(axis=0) / sums.sum()) / (sums.sum(axis=1, keepdims=True) + 2.0)
    np.testing.assert_allclose(np.exp(counts.log_share), share)
