"""The band on P(c|x) and how often a decision flips: exact moments, full redrawn tables, laws of sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import polygamma, psi

from bayes_engine import SPODE, TAN, BayesianNetworkClassifier, KDependence, LossMatrix, NaiveBayes, load_dataset
from bayes_engine.errors import ParameterError, UndefinedPosterior
from bayes_engine.factors.text import TextPosterior
from bayes_engine.logspace import exp, log, normalize
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.uncertainty.credible import credible
from bayes_engine.uncertainty.plausible import log_odds, plausible
from tests.conftest import crossed

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
N = 20_000


def data(columns: Any = None) -> tuple[pd.DataFrame, pd.Series]:
    melons = load_dataset("watermelon3")
    X = melons.frame[list(melons.schema.features.names)]
    return (X if columns is None else X[columns]), melons.frame["好瓜"]


def table(n: int = 60, hole: float = 0.0) -> tuple[pd.DataFrame, pd.Series]:
    """Four text columns that hang together and one of numbers, three classes."""
    r = np.random.default_rng(5)
    y = pd.Series(r.choice(list("abc"), n), name="class")
    one = np.where(r.random(n) < 0.6, np.where(y == "a", "u", "v"), r.choice(list("uvw"), n))
    two = np.where(r.random(n) < 0.7, one, "v")
    X = pd.DataFrame({"one": one, "two": two, "three": r.choice(list("uv"), n), "mass": r.normal(size=n) + (y == "b")})
    return X.mask(r.random(X.shape) < hole), y


def test_two_columns_by_hand() -> None:
    """Log-odds of 7 : 3 rows, level 'u' in 5 of 7 and 1 of 3, everything Laplace: sums of digammas."""
    X = pd.DataFrame({"s": ["u"] * 5 + ["v"] * 2 + ["u"] + ["v"] * 2})
    model = NaiveBayes(priors="laplace").fit(X, ["a"] * 7 + ["b"] * 3)
    exact = log_odds(model, pd.DataFrame({"s": ["u"]}), "a", "b")
    assert exact is not None
    assert exact.mean == pytest.approx(psi(8) - psi(4) + psi(6) - psi(9) - psi(2) + psi(5), abs=1e-12)
    parts = [polygamma(1, v) for v in (8, 4, 6, 2)], [polygamma(1, v) for v in (9, 5)]
    assert exact.sd == pytest.approx(np.sqrt(sum(parts[0]) - sum(parts[1])), abs=1e-12)


@pytest.mark.parametrize("name", ["laplace", "textbook", "scikit-learn", "tied", "uniform prior"])
def test_the_draws_have_the_exact_moments(name: str) -> None:
    parameters: dict[str, Any] = {"tied": {"tied_variance": True}, "uniform prior": {"priors": "uniform"}}.get(
        name, PRESETS.get(name, {})
    )
    X, y = data()
    model = NaiveBayes(**parameters).fit(X, y)
    found, exact = plausible(model, X.iloc[[7]], n=N, rng=1), log_odds(model, X.iloc[[7]], "是", "否")
    assert exact is not None
    odds = found.joint[:, 1] - found.joint[:, 0]
    assert odds.mean() == pytest.approx(exact.mean, abs=4.5 * exact.sd / np.sqrt(N))
    assert odds.std() == pytest.approx(exact.sd, rel=0.04)


def test_the_mean_of_the_joints_is_the_models_own() -> None:
    """Under the prior that smoothed it: E[P(c) Π P(x_j|c)] = E[P(c)] Π E[P(x_j|c)]."""
    X, y = data(["色泽", "根蒂", "敲声", "纹理"])
    model = NaiveBayes(priors="laplace", alpha="jeffreys").fit(X, y)
    found = plausible(model, X.iloc[[3]], n=N, rng=2)
    drawn = exp(found.joint)
    own = model.predict_joint_log_proba(X.iloc[[3]])[0]
    error = drawn.std(axis=0) / np.sqrt(N)
    assert (abs(drawn.mean(axis=0) - exp(own)) < 4.5 * error).all()


def test_seeded_and_reproducible() -> None:
    X, y = data()
    model = NaiveBayes().fit(X, y)
    one, same, other = (plausible(model, X.iloc[[2]], rng=s) for s in (3, np.random.default_rng(3), 4))
    np.testing.assert_array_equal(one.p, same.p)
    assert not np.array_equal(one.p, other.p)
    np.testing.assert_allclose(one.p.sum(axis=1), 1.0, atol=1e-12)


def test_the_band_shrinks_as_rows_grow_a_hundredfold() -> None:
    X, y = data()
    few = plausible(NaiveBayes().fit(X, y), X.iloc[[7]], n=4000).band()
    many = plausible(NaiveBayes().fit(X, y, sample_weight=np.full(17, 100.0)), X.iloc[[7]], n=4000)
    width = [(b[2] - b[0])[0] for b in (few, many.band())]
    assert width[0] > 4 * width[1]
    assert many.band()[0, 1] < many.own[1] < many.band()[2, 1]
    assert many.flips().share <= plausible(NaiveBayes().fit(X, y), X.iloc[[7]], n=4000).flips().share


def test_other_names_and_orders_change_nothing_but_chance() -> None:
    X, y = table()
    model = NaiveBayes().fit(X, y)
    renamed = NaiveBayes().fit(X[X.columns[::-1]], y.map({"a": "z", "b": "y", "c": "x"}))
    one, other = plausible(model, X[:1], n=N), plausible(renamed, X[X.columns[::-1]][:1], n=N)
    for k, label in enumerate("abc"):
        same = other.p[:, other.classes.index({"a": "z", "b": "y", "c": "x"}[label])]
        assert stats.ks_2samp(one.p[:, k], same).pvalue > 1e-3
    np.testing.assert_allclose(one.own, other.own[::-1], atol=1e-12)


# against full tables --------------------------------------------------------------------------------------------------


def redrawn(model: GenerativeClassifier, row: pd.DataFrame, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, C) posteriors of models whose tables are all drawn whole, written out over every completion of the row."""
    factor, names = model.factor_, [f.variable.name for f in model.factor_.families]
    cells = {f.variable.name: int(f.domain.places(model._encode(row))[0]) for f in factor.families}
    hidden = [name for name in names if cells[name] < 0]
    sizes = {f.variable.name: f.domain.size for f in factor.families}
    found = np.empty((n, len(model.classes_)))
    for t in range(n):
        weight = factor.prior.weight + (factor.prior.added or 0.5)
        above = factor.above
        prior = rng.dirichlet(weight) if above is None else None
        over = None
        if above is not None:
            alpha = np.moveaxis(above.counts, 0, -1) + above.alpha
            over = np.array([rng.dirichlet(a) for a in alpha.reshape(-1, alpha.shape[-1])]).reshape(alpha.shape)
        tables = {}
        for f in factor.families:
            alpha = f.counts + f.added
            flat = np.array([rng.dirichlet(a) for a in alpha.reshape(-1, alpha.shape[-1])])
            tables[f.variable.name] = flat.reshape(alpha.shape)
        joint = np.zeros(found.shape[1])
        for values in np.ndindex(*(sizes[name] for name in hidden)):
            here = cells | dict(zip(hidden, values, strict=True))
            for c in range(len(joint)):
                p = prior[c] if over is None else over[(*(here[d.variable.name] for d in above.parents), c)]
                for f in factor.families:
                    at = (c if f.of_class else 0, *(here[d.variable.name] for d in f.parents), here[f.variable.name])
                    p *= tables[f.variable.name][at]
                joint[c] += p
        found[t] = joint / joint.sum()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("model", "hole"), crossed(
    [
        SPODE("one"),
        TAN(root="two", alpha=0.5),
        KDependence(k=2),
        BayesianNetworkClassifier([("one", "class"), ("class", "two"), ("one", "two"), ("two", "three")]),
    ],
    [(), ("two",), ("one", "two"), ("one",)],
))  # fmt: skip
def test_only_the_touched_cells_are_drawn_and_it_is_the_same(
    model: GenerativeClassifier, hole: tuple[str, ...]
) -> None:
    X, y = table()
    X = X[["one", "two", "three"]]
    model.fit(X, y)
    row = X.iloc[[4]].copy()
    row[list(hole)] = None
    fast = plausible(model, row, n=3000, rng=0).p
    whole = redrawn(model, row, 600, np.random.default_rng(1))
    for k in range(3):
        assert stats.ks_2samp(fast[:, k], whole[:, k]).pvalue > 1e-3


def test_a_missing_cell_of_naive_bayes_has_no_part() -> None:
    X, y = data()
    row = X.iloc[[7]].copy()
    row["敲声"] = None
    less = X.drop(columns="敲声")
    without = plausible(NaiveBayes().fit(less, y), less.iloc[[7]], n=500, rng=0)
    np.testing.assert_array_equal(plausible(NaiveBayes().fit(X, y), row, n=500, rng=0).p, without.p)


@pytest.mark.slow
def test_unseen_values_by_their_policy() -> None:
    X, y = table()
    row = X[:1].assign(two="never")
    gone = plausible(NaiveBayes().fit(X, y), row, n=300)
    np.testing.assert_array_equal(gone.p, plausible(NaiveBayes().fit(X, y), row.assign(two=None), n=300).p)
    for model in (NaiveBayes(unseen="smooth", priors="laplace"), SPODE("one", unseen="smooth"), TAN(unseen="smooth")):
        found = plausible(model.fit(X, y), row, n=N)
        assert abs(found.mean - found.own).max() < 0.1
    reserved = NaiveBayes(unseen="smooth").fit(X[["two"]], y)
    n_c = reserved.stats_.class_weight
    found = plausible(reserved, row[["two"]], n=N, prior_of_use={"a": 0.2, "b": 0.3, "c": 0.5})
    alone = stats.beta(1.0, n_c[0] + 3).rvs(N, random_state=0)
    assert stats.ks_2samp(exp(found.joint[:, 0] - log(0.2)), alone).pvalue > 1e-3


# what is made of it ---------------------------------------------------------------------------------------------------


def test_flips_are_the_share_that_decides_otherwise() -> None:
    X, y = data()
    found = plausible(NaiveBayes().fit(X, y), X.iloc[[7]], n=2000)
    flips = found.flips()
    assert flips.action == "是"
    assert flips.share == (found.p[:, 0] > found.p[:, 1]).mean()
    assert flips.actions == {"是": 1 - flips.share, "否": flips.share}
    k = flips.share * 2000
    assert flips.se == pytest.approx(stats.beta(k + 0.5, 2000 - k + 0.5).std(), rel=1e-9)
    dear = found.flips({"是": {"是": 0, "否": 50}, "否": {"是": 1, "否": 0}})
    assert dear.action == "否"
    assert dear.share == (found.p[:, 1] > 50 * found.p[:, 0]).mean()
    loan = LossMatrix(("是", "否"), ("是", "否"), [[0, 1], [30, 0]]).with_amount([("是", "否")])
    assert (
        found.flips(loan, amount=10).share
        == found.flips(loan.at_amount(10)).share
        != found.flips(loan.at_amount(300)).share
    )
    sure = plausible(NaiveBayes().fit(X, y, sample_weight=np.full(17, 1e5)), X.iloc[[0]], n=500).flips()
    assert sure.share == 0 < sure.se < 0.01


def test_a_prior_of_use_takes_the_place_of_the_models() -> None:
    X, y = data()
    model, use = NaiveBayes().fit(X, y), {"是": 0.1, "否": 0.9}
    found = plausible(model, X.iloc[[7]], n=N)
    moved, stated = found.at_prior(use), plausible(model.with_params(priors=use), X.iloc[[7]], n=N)
    np.testing.assert_allclose(moved.own, stated.own, atol=1e-12)
    assert stats.ks_2samp(moved.p[:, 0], stated.p[:, 0]).pvalue > 1e-3
    assert found.flips(prior_of_use=use) == moved.flips()
    np.testing.assert_allclose(moved.at_prior(use).p, moved.p, atol=1e-12)
    exact, again = (
        log_odds(m, X.iloc[[7]], "是", "否", u) for m, u in ((model, use), (model.with_params(priors=use), None))
    )
    assert exact == pytest.approx(again)
    with pytest.raises(ParameterError, match="priors give no probability"):
        found.at_prior({"是": 1.0})


def test_the_histogram_holds_every_model() -> None:
    X, y = data()
    shares, edges = plausible(NaiveBayes().fit(X, y), X.iloc[[7]], n=500).histogram("是", bins=10)
    assert shares.sum() == pytest.approx(1.0)
    assert (edges[0], edges[-1], len(edges)) == (0.0, 1.0, 11)
    with pytest.raises(ParameterError, match="no class 'x'"):
        plausible(NaiveBayes().fit(X, y), X.iloc[[7]], n=10).histogram("x")


def test_where_the_model_has_no_posterior_the_plausible_ones_have() -> None:
    X = pd.DataFrame({"s": list("uuvv"), "t": list("ppqq")})
    model = NaiveBayes(**PRESETS["textbook"]).fit(X, list("aabb"))
    found = plausible(model, pd.DataFrame({"s": ["u"], "t": ["q"]}), n=2000)
    assert found.own.tolist() == [0.0, 0.0]
    assert found.mean == pytest.approx([0.5, 0.5], abs=0.05)
    with pytest.raises(UndefinedPosterior, match="no decision that could flip"):
        found.flips()


def test_refused() -> None:
    X, y = table()
    model = NaiveBayes().fit(X, y)
    with pytest.raises(ParameterError, match="of one case; this table has 2 rows"):
        plausible(model, X[:2])
    with pytest.raises(UndefinedPosterior, match="infinite"):
        plausible(model, X[:1].assign(mass=np.inf))
    with pytest.raises(ParameterError, match="zero-only"):
        plausible(model.with_params(smoothing="zero-only"), X[:1])


def test_hidden_cells_are_no_product() -> None:
    X, y = table()
    model = TAN(root="one").fit(X[["one", "two", "three"]], y)
    row = X[["one", "two", "three"]][:1]
    assert log_odds(model, row, "a", "b") is not None
    assert log_odds(model, row.assign(one=None), "a", "b") is None


# counts and texts -----------------------------------------------------------------------------------------------------

MAILS = pd.DataFrame(
    {
        "text": ["win a prize", "lunch at noon", "a prize prize for you", "noon", "you win", None],
        "links": [4, 0, 3, 1, 2, 1],
    }
)
TEXT = {"columns": ["text"]}
SPAM = ["spam", "ham", "spam", "ham", "spam", "ham"]


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("row", [0, 2, 3])
def test_texts_and_rates_are_drawn_with_their_exact_moments(kind: Any, row: int) -> None:
    model = NaiveBayes(priors="laplace", likelihoods={"text": kind, "links": "poisson"}, text=TEXT).fit(MAILS, SPAM)
    case = MAILS.iloc[[row]]
    found, exact = plausible(model, case, n=N), log_odds(model, case, "spam", "ham")
    assert exact is not None
    odds = found.joint[:, 1] - found.joint[:, 0]
    assert odds.mean() == pytest.approx(exact.mean, abs=4.5 * exact.sd / np.sqrt(N))
    assert odds.std() == pytest.approx(exact.sd, rel=0.05)


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
def test_a_text_is_the_sum_over_whole_drawn_vocabularies(kind: Any) -> None:
    model = NaiveBayes(priors="uniform", likelihoods={"text": kind}, text=TEXT).fit(MAILS[["text"]], SPAM)
    case = MAILS[["text"]].iloc[[2]]
    fast = plausible(model, case, n=3000).p[:, 1]
    belief, rng = credible(model).columns["text"], np.random.default_rng(1)
    assert isinstance(belief, TextPosterior)
    times = np.array([{"prize": 2, "a": 1, "for": 1, "you": 1}.get(t, 0) for t in belief.terms])
    joint = np.empty((3000, 2))
    for c in range(2):
        if kind == "multinomial":
            theta = rng.dirichlet(belief.present[c], 3000)
            joint[:, c] = log(theta) @ times
        else:
            theta = rng.beta(belief.present[c], belief.other[c], (3000, len(times)))
            joint[:, c] = np.where(times > 0, log(theta), log(1 - theta)).sum(axis=1)
    assert stats.ks_2samp(fast, normalize(joint)[:, 1]).pvalue > 1e-3


def test_a_missing_text_has_no_part() -> None:
    model = NaiveBayes(priors="uniform", likelihoods={"text": "multinomial"}).fit(MAILS[["text"]], SPAM)
    assert plausible(model, MAILS[["text"]].iloc[[5]], n=50).p.tolist() == [[0.5, 0.5]] * 50


def test_no_model_is_no_band() -> None:
    model = NaiveBayes(priors="uniform", likelihoods={"text": "multinomial"}).fit(MAILS[["text"]], SPAM)
    with pytest.raises(ParameterError, match="n=0; it must be a whole number of 1 and more"):
        plausible(model, MAILS[["text"]].iloc[[2]], n=0)
