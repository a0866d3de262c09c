"""The posterior of the parameters: against scipy's distributions, the textbook's numbers, and simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from sklearn.linear_model import LogisticRegression

from bayes_engine import (
    AODE,
    SPODE,
    TAN,
    BayesianNetworkClassifier,
    CategoricalNB,
    GaussianNB,
    KDependence,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    NaiveBayes,
    load_dataset,
)
from bayes_engine.errors import ParameterError
from bayes_engine.factors.class_prior import ClassPosterior
from bayes_engine.factors.leaf import Domain
from bayes_engine.factors.normal_posterior import NormalPosterior
from bayes_engine.factors.poisson import GammaPosterior
from bayes_engine.factors.posterior import log_gamma
from bayes_engine.factors.table import DirichletPosterior, TableLeaf
from bayes_engine.factors.text import TextPosterior
from bayes_engine.logspace import exp
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.priors import Dirichlet
from bayes_engine.table.encode import encode
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.uncertainty.credible import credible

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")


def melons(**parameters: Any) -> NaiveBayes:
    data = load_dataset("watermelon3")
    return NaiveBayes(**parameters).fit(data.frame[list(data.schema.features.names)], data.frame["好瓜"])


def test_a_table_is_scipys_dirichlet_and_beta() -> None:
    model = melons(**PRESETS["laplace"])
    found = credible(model)
    for part in model.factor_.parts:
        if not hasattr(part, "log_cpt"):
            continue
        belief = found.columns[part.variable.name]
        assert isinstance(belief, DirichletPosterior)
        np.testing.assert_allclose(belief.mean, exp(part.log_cpt), atol=1e-15)
        for c, counts in enumerate(part.counts):
            dirichlet = stats.dirichlet(counts + 1.0)
            np.testing.assert_allclose(belief.mean[c], dirichlet.mean(), atol=1e-15)
            np.testing.assert_allclose(belief.variance[c], dirichlet.var(), atol=1e-15)
            beta = stats.beta(counts + 1.0, counts.sum() + len(counts) - counts - 1.0)
            for level in (0.5, 0.95):
                interval = belief.interval(level)
                np.testing.assert_allclose(interval.low[c], beta.ppf((1 - level) / 2), atol=1e-12)
                np.testing.assert_allclose(interval.high[c], beta.ppf((1 + level) / 2), atol=1e-12)
    assert found.prior is not None
    np.testing.assert_allclose(found.prior.mean[0], [10 / 19, 9 / 19])
    assert found.prior.variable == model.target_


def test_a_gaussian_is_scipys_t_and_chi_square() -> None:
    data = load_dataset("watermelon3")
    good = data.frame["密度"][data.frame["好瓜"] == "是"]
    n, mean, s = len(good), good.mean(), good.std(ddof=1)
    for preset in ("textbook", "scikit-learn"):  # the divisor of the estimate does not enter
        belief = credible(melons(**PRESETS[preset])).columns["密度"]
        assert isinstance(belief, NormalPosterior)
        for level in (0.5, 0.95):
            t = stats.t(n - 1, mean, s / np.sqrt(n)).interval(level)
            np.testing.assert_allclose([v[1] for v in belief.mean_interval(level)], t, rtol=1e-10)
            tails = stats.chi2(n - 1).ppf([(1 + level) / 2, (1 - level) / 2])
            np.testing.assert_allclose(
                [v[1] for v in belief.variance_interval(level)], (n - 1) * s**2 / tails, rtol=1e-9
            )


def test_one_variance_for_all_classes_has_the_degrees_of_all() -> None:
    belief = credible(melons(tied_variance=True)).columns["密度"]
    assert isinstance(belief, NormalPosterior)
    assert belief.tied
    assert belief.degrees.tolist() == [15.0, 15.0]
    assert len(set(belief.square.tolist())) == 1


@pytest.mark.parametrize("tied", [True, False])
def test_classes_with_one_variance_draw_it_together(tied: bool) -> None:
    of = NormalPosterior(
        Variable("mass", "continuous"), (), np.zeros(2), np.zeros(2), np.full(2, 5.0), np.ones(2), np.ones(2), tied
    )
    row: Any = {"mass": np.array([1.0])}
    drawn = of.draw(row, (), 50, np.random.default_rng(0))
    assert drawn.shape == (50, 2) and (drawn[:, 0] == drawn[:, 1]).all() == tied


def test_the_interval_shrinks_with_the_root_of_the_rows() -> None:
    few = credible(melons()).columns["敲声"]
    data = load_dataset("watermelon3")
    X, y = data.frame[list(data.schema.features.names)], data.frame["好瓜"]
    many = credible(NaiveBayes().fit(X, y, sample_weight=np.full(17, 100.0))).columns["敲声"]
    assert isinstance(few, DirichletPosterior)
    assert isinstance(many, DirichletPosterior)
    width = [b.interval().high - b.interval().low for b in (few, many)]
    assert ((width[0] / width[1])[few.counts > 0] > 7).all()  # a tenth, but for the imagined rows


# what is said ---------------------------------------------------------------------------------------------------------


def test_without_smoothing_it_is_jeffreys_and_says_so() -> None:
    found = credible(melons(**PRESETS["textbook"]))
    sound = found.columns["敲声"]
    assert isinstance(sound, DirichletPosterior)
    assert set(np.unique(sound.added)) == {0.5}
    assert found.prior is not None
    assert set(np.unique(found.prior.added)) == {0.5}
    said = " ".join(map(str, found.notes))
    assert "Nothing is added to the counts (α = 0)" in said
    assert "plain frequency: its band takes Jeffreys'" in said
    assert "reference prior" in said
    assert "Nothing is added" not in " ".join(map(str, credible(melons()).notes))


@pytest.mark.parametrize("priors", ["uniform", {"是": 0.5, "否": 0.5}])
def test_a_stated_class_prior_has_no_posterior(priors: Any) -> None:
    found = credible(melons(priors=priors))
    assert found.prior is None
    assert "stated, not estimated" in str(found.notes[0])
    balanced = NaiveBayes(priors=priors).fit([["a"], ["b"]] * 2, ["是", "否"] * 2)  # also where it is the frequency
    assert credible(balanced).prior is None


def test_zero_only_has_none() -> None:
    with pytest.raises(ParameterError, match="no band under zero-only smoothing"):
        credible(melons(**PRESETS["zero-only"]))


def test_others_are_refused_by_name() -> None:
    data = load_dataset("watermelon3")
    X, y = data.frame[list(data.schema.features.names)], data.frame["好瓜"]
    with pytest.raises(ParameterError, match="no band for AODE"):
        credible(AODE().fit(X, y))
    with pytest.raises(ParameterError, match="no band for '密度': a kernel density has no parameter"):
        credible(melons(likelihoods={"密度": "kernel"}))
    with pytest.raises(ParameterError, match="no band for LDA and QDA"):
        credible(LinearDiscriminantAnalysis().fit(X[["密度", "含糖率"]], y))
    with pytest.raises(ParameterError, match="no band for LogisticRegression"):
        credible(LogisticRegression())  # type: ignore[arg-type]


def test_a_class_with_one_value_has_no_band_of_its_variance() -> None:
    X = pd.DataFrame({"mass": [1.0, 2.0, 3.0, 7.0]})
    found = credible(NaiveBayes().fit(X, list("aaab")))
    belief = found.columns["mass"]
    assert isinstance(belief, NormalPosterior)
    assert belief.degrees.tolist() == [2.0, 0.0]
    assert np.isfinite(belief.mean_interval().high).all()
    assert belief.variance_interval().high[1] == np.inf
    assert "mass" in str(found.notes[-1])


# other models ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        SPODE("纹理", alpha=Dirichlet.m_estimate(2.0)),
        TAN(alpha={"根蒂": 0.5, "*": 2.0}),
        KDependence(k=2, unseen="smooth"),
        BayesianNetworkClassifier(),
    ],
    ids=lambda m: type(m).__name__,
)
def test_tables_of_families_have_the_estimate_as_mean(model: GenerativeClassifier) -> None:
    data = load_dataset("watermelon3")
    model.fit(data.frame[list(data.schema.features.names)], data.frame["好瓜"])
    found = credible(model)
    for family in model.factor_.families:
        if isinstance(family, TableLeaf):
            belief = found.columns[family.variable.name]
            assert isinstance(belief, DirichletPosterior)
            np.testing.assert_allclose(belief.mean, exp(family.log_cpt), atol=1e-14)
            alpha, rest = belief._betas  # the places outside the domain too
            np.testing.assert_allclose(alpha / (alpha + rest), exp(family.lookup), atol=1e-14)
    assert found.prior is not None


def test_a_cells_gaussian_counts_imagined_rows_as_rows() -> None:
    r = np.random.default_rng(1)
    X = pd.DataFrame({"side": r.choice(list("lr"), 60), "mass": r.normal(size=60)})
    y = np.where(X["mass"] + r.normal(size=60) > 0, "a", "b")
    model = SPODE("side", alpha=2.0, discretize=None).fit(X, y)
    belief, family = credible(model).columns["mass"], model.factor_.families[1]
    assert isinstance(belief, NormalPosterior)
    here = X["mass"][(X["side"] == "l") & (y == "a")]
    cls = X["mass"][y == "a"]
    assert belief.kappa[0, 0] == len(here) + 2
    assert belief.degrees[0, 0] == len(here) + 1
    mean = (here.sum() + 2 * cls.mean()) / (len(here) + 2)
    square = ((here - here.mean()) ** 2).sum() + 2 * cls.var(ddof=0)
    square += len(here) * 2 / (len(here) + 2) * (here.mean() - cls.mean()) ** 2
    assert belief.mean[0, 0] == pytest.approx(mean, rel=1e-9)
    assert belief.square[0, 0] == pytest.approx(square, rel=1e-9)
    assert belief.kappa[0, -1] == len(cls)  # an unseen value of the parent: the class's own
    assert family.parents[0].variable.name == "side"


def test_those_with_scikit_learns_names_have_one_too() -> None:
    r = np.random.default_rng(0)
    X, y = r.normal(size=(30, 2)), r.integers(0, 2, 30)
    assert all(isinstance(b, NormalPosterior) for b in credible(GaussianNB().fit(X, y)).columns.values())
    codes = r.integers(0, 3, (30, 2))
    model = CategoricalNB(alpha=0.5).fit(codes, y)
    for belief, theirs in zip(credible(model).columns.values(), model.feature_log_prob_, strict=True):
        assert isinstance(belief, DirichletPosterior)
        np.testing.assert_allclose(belief.mean, exp(theirs), atol=1e-14)
    with pytest.raises(ParameterError, match="no band for 'MultinomialNB' \\(TermColumns\\)"):
        credible(MultinomialNB().fit(codes, y))


# draws ----------------------------------------------------------------------------------------------------------------


def test_NF53_log_gamma_is_a_gamma_also_where_floats_end() -> None:
    rng = np.random.default_rng(0)
    shapes = np.array([0.02, 0.5, 3.0])
    drawn = log_gamma(shapes, 4000, rng)
    for k, a in enumerate(shapes):
        assert stats.kstest(exp(drawn[:, k]), stats.gamma(a).cdf).pvalue > 1e-3
    tiny = log_gamma(np.array([1e-4]), 1000, rng)
    assert np.isfinite(tiny).all()
    assert (tiny < -1000).any()  # exp of it is 0
    assert np.isneginf(log_gamma(np.array([0.0, 1.0]), 3, rng)[:, 0]).all()


@pytest.mark.slow
def test_intervals_cover_what_they_say() -> None:
    """Drawn parameters, drawn rows: of 600 tables and Gaussians, 95 % hold the truth inside."""
    rng = np.random.default_rng(7)
    inside = np.zeros((600, 3), dtype=bool)
    for i in range(600):
        p, mu, sd = rng.dirichlet(np.ones(3)), rng.normal(), float(exp(rng.normal()))
        codes, x = rng.choice(3, 12, p=p), rng.normal(mu, sd, 12)
        X = pd.DataFrame({"s": pd.Categorical.from_codes(codes, list("uvw")), "x": x})
        X = pd.concat([X, X], ignore_index=True)
        found = credible(NaiveBayes().fit(X, ["a"] * 12 + ["b"] * 12)).columns
        table, normal = found["s"], found["x"]
        assert isinstance(table, DirichletPosterior)
        assert isinstance(normal, NormalPosterior)
        for k, (low, high, truth) in enumerate((
            (*(v[0, 0] for v in table.interval()), p[0]),
            (*(v[0] for v in normal.mean_interval()), mu),
            (*(v[0] for v in normal.variance_interval()), sd**2),
        )):  # fmt: skip
            inside[i, k] = low <= truth <= high
    assert (abs(inside.mean(axis=0) - 0.95) < 3.5 * np.sqrt(0.95 * 0.05 / 600)).all()


# counts and texts -----------------------------------------------------------------------------------------------------

MAILS = pd.DataFrame(
    {"text": ["win a prize", "lunch at noon", "a prize for you", "noon", "you win"], "links": [4, 0, 3, 1, 2]}
)
TEXT = {"columns": ["text"]}
SPAM = ["spam", "ham", "spam", "ham", "spam"]


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_a_poisson_rate_is_scipys_gamma(alpha: float) -> None:
    model = NaiveBayes(alpha=alpha, likelihoods={"links": "poisson"}).fit(MAILS[["links"]], SPAM)
    found = credible(model)
    belief = found.columns["links"]
    assert isinstance(belief, GammaPosterior)
    shape, rate = (9 + 0.5, 3.0) if alpha == 0 else (9 + 2.0 * 2.0, 5.0)  # the column's mean is 2
    gamma = stats.gamma(shape, scale=1 / rate)
    assert (belief.mean[1], belief.variance[1]) == pytest.approx((gamma.mean(), gamma.var()))
    assert [v[1] for v in belief.interval(0.9)] == pytest.approx(list(gamma.interval(0.9)))
    assert ("Nothing is added" in " ".join(map(str, found.notes))) == (alpha == 0)
    if alpha:
        np.testing.assert_allclose(belief.mean, model.factor_.parts[1].rate)


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("alpha", [1.0, Dirichlet.m_estimate(2.0)], ids=["1", "m"])
def test_a_text_has_the_estimate_as_mean(kind: Any, alpha: Any) -> None:
    model = NaiveBayes(alpha=alpha, likelihoods={"text": kind}, text=TEXT).fit(MAILS[["text"]], SPAM)
    belief = credible(model).columns["text"]
    assert isinstance(belief, TextPosterior)
    np.testing.assert_allclose(belief.mean, exp(model.factor_.parts[1].terms.present), atol=1e-14)
    interval = belief.interval()
    assert ((interval.low < belief.mean) & (belief.mean < interval.high)).all()
    k = belief.terms.index("prize")
    beta = stats.beta(belief.present[1, k], belief.other[1, k])
    assert [v[1, k] for v in interval] == pytest.approx(list(beta.interval(0.95)))
    assert belief.variance[1, k] == pytest.approx(beta.var())


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli"])
def test_a_text_without_smoothing_takes_jeffreys(kind: Any) -> None:
    belief = credible(NaiveBayes(alpha=0, likelihoods={"text": kind}, text=TEXT).fit(MAILS[["text"]], SPAM)).columns[
        "text"
    ]
    assert isinstance(belief, TextPosterior)
    k = belief.terms.index("noon")
    assert belief.present[1, k] == 0.5  # never in spam, whose texts are 3 and whose words 9
    assert belief.other[1, k] == (3.5 if kind == "bernoulli" else 9 + 0.5 * (len(belief.terms) - 1))


def test_a_class_without_rows_is_drawn_as_it_is_estimated() -> None:
    none, some = np.array([0.0, 5.0]), np.array([0.0, 4.0])
    of = NormalPosterior(
        Variable("mass", "continuous"), (), np.array([2.0, 2.0]), none, some, np.ones(2), np.full(2, 9.0)
    )
    row: Any = {"mass": np.array([5.0])}
    drawn = of.draw(row, (), 50, np.random.default_rng(0))
    np.testing.assert_allclose(drawn[:, 0], stats.norm.logpdf(5.0, 2.0, 3.0), rtol=1e-12)
    assert len(set(drawn[:, 1])) == 50


def test_the_class_of_a_known_parent_is_compared_within_its_cell() -> None:
    wet, kind = (Domain(Variable(name, "categorical", ("no", "yes"))) for name in ("wet", "kind"))
    counts = np.array([[[6.0, 2.0], [1.0, 4.0]]])
    of = ClassPosterior(kind, (wet,), counts, np.ones_like(counts))
    row = encode(pd.DataFrame({"wet": ["yes"]}), Schema((wet.variable,)))
    mean, variance = of.log_ratio(row, 0, 1)
    assert mean == pytest.approx(special.digamma(2.0) - special.digamma(5.0))
    assert variance == pytest.approx(special.polygamma(1, 2.0) + special.polygamma(1, 5.0))
