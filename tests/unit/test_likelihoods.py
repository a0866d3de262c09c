"""The choice of a likelihood for each column: what fits, what is refused and how, and the rules behind the numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_predict

from bayes_engine import TAN, BayesEngineError, NaiveBayes, Schema, SemiSupervisedNB, Status, Variable, load_dataset
from bayes_engine.errors import EstimationWarning, NotASubset, SchemaMismatch
from bayes_engine.factors.gaussian import GaussianLeaf, GaussianRule
from bayes_engine.factors.kernel import KernelEstimate, KernelLeaf, log_kernel_density
from bayes_engine.factors.leaf import BY_DEFAULT, Domain
from bayes_engine.factors.likelihoods import OF_VALUES, ValuesLeaf
from bayes_engine.factors.poisson import PoissonLeaf, Rate
from bayes_engine.factors.table import TableLeaf
from bayes_engine.factors.text import TextLeaf, Words
from bayes_engine.logspace import exp, log
from bayes_engine.models.likelihoods import every_likelihood
from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.stats.values import ColumnValues
from bayes_engine.table.schema import recast
from bayes_engine.workbench.derivation.conditionals import conditional, information
from bayes_engine.workbench.derivation.derive import derive, rounded, rows_behind
from bayes_engine.workbench.derivation.latex import to_latex
from bayes_engine.workbench.derivation.likelihoods import Curves, Rates, WordTable, likelihood
from bayes_engine.workbench.derivation.render import to_text

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")


@pytest.fixture
def table() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(5)
    y = pd.Series(rng.choice(["ham", "spam"], 60), name="kind")
    spam = y == "spam"
    X = pd.DataFrame(
        {
            "links": rng.poisson(np.where(spam, 3.0, 0.4)),
            "known": (rng.random(60) < np.where(spam, 0.2, 0.8)).astype(int),
            "hour": np.where(spam, rng.normal(3, 1, 60), rng.choice([9.0, 18.0], 60) + rng.normal(0, 0.5, 60)),
            "tone": np.where(rng.random(60) < 0.5, "loud", "calm"),
            "text": np.where(spam, "win a free prize", "lunch at noon, free?"),
        }
    )
    return X, y


# what is chosen -------------------------------------------------------------------------------------------------------


def test_each_column_has_the_factor_it_was_given(table: Any) -> None:
    X, y = table
    chosen = {"links": "poisson", "known": "bernoulli", "hour": "kernel", "tone": "bernoulli", "text": "multinomial"}
    model = NaiveBayes(likelihoods=chosen).fit(X, y)
    kinds = [type(f) for f in model.factor_.parts[1:]]
    assert kinds == [PoissonLeaf, TableLeaf, KernelLeaf, TableLeaf, TextLeaf]
    assert [row.kind for row, _ in model.explain(X[:1]).rows[1:]] == [
        "log-probability", "log-probability", "log-density", "log-probability", "log-probability"
    ]  # fmt: skip
    assert model.schema_["known"].levels == (0, 1)


def test_nothing_said_is_what_it_was(table: Any) -> None:
    X, y = table
    plain = NaiveBayes().fit(X, y)
    assert [type(f) for f in plain.factor_.parts[1:]] == [GaussianLeaf] * 3 + [TableLeaf] * 2
    said = NaiveBayes(likelihoods={"hour": "gaussian", "tone": "categorical"}).fit(X, y)
    assert said.schema_ == plain.schema_
    np.testing.assert_array_equal(said.predict_proba(X), plain.predict_proba(X))


def test_one_name_is_for_the_columns_that_can_have_it(table: Any) -> None:
    X, y = table
    model = NaiveBayes(likelihoods="kernel-range").fit(X, y)
    assert [type(f) for f in model.factor_.parts[1:]] == [KernelLeaf] * 3 + [TableLeaf] * 2


def test_a_likelihood_s_old_name_gives_the_same_with_a_warning(table: Any) -> None:
    X, y = table
    with pytest.warns(DeprecationWarning, match="the likelihood 'kernel-weka' is called 'kernel-range' now"):
        old = [NaiveBayes(likelihoods=of).fit(X, y) for of in ("kernel-weka", {"hour": "kernel-weka"})]
    for model, of in zip(old, ("kernel-range", {"hour": "kernel-range"}), strict=True):
        now = NaiveBayes(likelihoods=of).fit(X, y)
        assert model.schema_ == now.schema_
        np.testing.assert_array_equal(model.predict_proba(X), now.predict_proba(X))
    assert "kernel-weka" not in every_likelihood() and "kernel-range" in every_likelihood()
    again = NaiveBayes(likelihoods={"hour": "kernel-range"}, schema=forged_old(now.schema_)).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), now.predict_proba(X))


def forged_old(schema: Schema) -> Schema:
    """A schema as it was saved under the old name."""
    return Schema(tuple(replace(v, likelihood="kernel-weka") if v.name == "hour" else v for v in schema))


def test_a_column_may_be_cut_or_spared(table: Any) -> None:
    X, y = table
    spared = NaiveBayes(discretize="mdlp", likelihoods={"hour": "gaussian", "links": "poisson"}).fit(X, y)
    assert [v.cuts is not None for v in spared.schema_] == [False, True, False, False, False]
    cut = NaiveBayes(likelihoods={"hour": "quantile"}, bins=4).fit(X, y)
    assert len(cut.schema_["hour"].cuts) == 3 and cut.schema_["links"].cuts is None


def test_numbers_as_levels_and_a_yes_no_column(table: Any) -> None:
    X, y = table
    as_levels = NaiveBayes(likelihoods={"links": "categorical", "known": "categorical"}).fit(X, y)
    as_text = NaiveBayes().fit(X.astype({"links": str, "known": str}), y)
    written = X.astype({"links": str, "known": str})
    np.testing.assert_allclose(as_levels.predict_proba(X), as_text.predict_proba(written))
    yes = NaiveBayes(likelihoods={"known": "bernoulli"}).fit(X[["known"]], y)
    alike = NaiveBayes(likelihoods={"known": "bernoulli"}).fit(X[["known"]].astype(float), y)
    booleans = NaiveBayes(likelihoods={"known": "bernoulli"}).fit(X[["known"]].astype(bool), y)
    for other, rows in ((alike, X[["known"]].astype(float)), (booleans, X[["known"]].astype(bool))):
        np.testing.assert_allclose(other.predict_proba(rows), yes.predict_proba(X[["known"]]), rtol=1e-12)


def test_another_kind_forgets_the_likelihood_and_the_vocabulary(table: Any) -> None:
    X, y = table
    chosen = {"text": "bernoulli", "hour": "kernel"}
    schema = NaiveBayes(likelihoods=chosen, text={"columns": ["text"]}).fit(X, y).schema_
    assert recast(schema["text"], X["text"], "categorical").levels == ("lunch at noon, free?", "win a free prize")
    assert recast(schema["hour"], X["hour"], "count").likelihood is None


def test_a_schema_that_says_text_needs_only_the_name() -> None:
    data = load_dataset("sms-spam")
    X, y = data.frame[["message"]], data.frame["label"].astype(str)
    model = NaiveBayes(likelihoods={"message": "bernoulli"}, schema=data.schema).fit(X, y)
    assert model.schema_["message"].likelihood == "bernoulli" and model.schema_["message"].kind == "text"
    again = NaiveBayes(schema=model.schema_).fit(X, y)  # the schema says how its texts are read
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_folds_and_grids(table: Any) -> None:
    X, y = table
    model = NaiveBayes(likelihoods={"text": "multinomial", "hour": "kernel", "links": "poisson"})
    assert (cross_val_predict(model, X, y, cv=3) == y).mean() > 0.9
    grid = GridSearchCV(NaiveBayes(), {"likelihoods": [None, "kernel", {"hour": "mdlp"}]}, cv=3, error_score="raise")
    assert grid.fit(X[["hour", "links"]], y).best_score_ > 0.8
    assert model.fit(X, y).with_params(alpha=0.1).factor_ is not None


# what is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("likelihoods", "text", "says"),
    [
        ("normal", None, "likelihoods='normal' is none of 'gaussian', 'joint-multinomial', 'kernel'"),
        ({"hours": "kernel"}, None, "likelihoods: there is no column 'hours'; the columns are 'links', 'known'"),
        ({"tone": "kernel"}, None, "'tone' cannot have the likelihood 'kernel'; choose one of 'categorical', 'bern"),
        ({"hour": "multinomial"}, None, "'hour' cannot have the likelihood 'multinomial'; choose one of 'gaussian'"),
        ({"hour": "poisson"}, None, "column 'hour' holds .* in row 1, which is no count.*choose 'gaussian' or"),
        ({"links": "bernoulli"}, None, "'links' cannot be 'bernoulli': row . holds .*holds 0 and 1; choose"),
        ({"text": "poisson"}, {"columns": ["text"]}, "'text' cannot have the likelihood 'poisson'; choose one of 'mul"),
        (["kernel"], None, "neither a name nor a mapping"),
        (None, {"columns": ["note"]}, "text: there is no column 'note'; the columns are"),
        (None, {"columns": ["text"], "ngram": 2}, "text='ngram' is none of 'analyzer', 'ngrams'"),
        (None, {"columns": "text", "ngrams": (2, 1)}, "ngrams=1; it must be a whole number of 2 and more"),
        (None, {"columns": "text", "min_df": 999}, "the texts of column 'text' hold no term that stands in 999 of"),
        (None, "char", "text='char' is no mapping of settings"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(table: Any, likelihoods: Any, text: Any, says: str) -> None:
    with pytest.raises(BayesEngineError, match=says):
        NaiveBayes(likelihoods=likelihoods, text=text).fit(*table)


@pytest.mark.filterwarnings("default::bayes_engine.errors.EstimationWarning")
def test_a_name_for_all_that_none_can_have_is_said(table: Any) -> None:
    with pytest.warns(EstimationWarning, match="'multinomial': no column can have it; the columns are 'links'"):
        NaiveBayes(likelihoods="multinomial").fit(*table)


def test_three_levels_are_no_bernoulli_column_however_they_come(table: Any) -> None:
    X, y = table
    model = NaiveBayes(likelihoods={"tone": "bernoulli"}).fit(X[["tone"]], y)
    with pytest.raises(BayesEngineError, match="it has 3 levels, and a Bernoulli column has two; choose 'categorical'"):
        model.partial_fit(pd.DataFrame({"tone": ["shrill"]}), ["ham"])
    assert model.schema_["tone"].levels == ("calm", "loud")  # nothing has changed


def test_counts_are_whole_at_predict_too(table: Any) -> None:
    X, y = table
    model = NaiveBayes(likelihoods={"links": "poisson"}).fit(X[["links"]], y)
    for value in (2.5, -1.0):
        with pytest.raises(BayesEngineError, match=f"holds {value:g} in row 1, which is no count"):
            model.predict(pd.DataFrame({"links": [value]}))


def test_other_models_name_the_text_they_cannot_read(table: Any) -> None:
    X, y = table
    schema = NaiveBayes(likelihoods={"text": "multinomial"}).fit(X, y).schema_
    with pytest.raises(BayesEngineError, match="column 'text' is a text, which TAN cannot read; take NaiveBayes"):
        TAN(schema=schema).fit(X, y)
    hidden = y.where(y.index % 2 == 0, None)
    with pytest.raises(BayesEngineError, match="'hour' has the likelihood 'kernel', for which EM with"):
        SemiSupervisedNB(NaiveBayes(likelihoods={"hour": "kernel"})).fit(X[["hour"]], hidden)


def test_statistics_of_two_likelihoods_do_not_merge(table: Any) -> None:
    X, y = table
    kernel, gaussian = (NaiveBayes(likelihoods={"hour": w}).fit(X[["hour"]], y) for w in ("kernel", "gaussian"))
    with pytest.raises(SchemaMismatch, match="column 'hour' has another likelihood on the two sides"):
        kernel.merge(gaussian)
    for model in (NaiveBayes(likelihoods="kernel-range"), NaiveBayes(likelihoods={"hour": "mdlp"})):
        with pytest.raises(BayesEngineError, match=r"'hour' was counted for 'kernel', not for '.*'; fit"):
            model.fit_stats(kernel.stats_)
    assert NaiveBayes().fit_stats(kernel.stats_).predict(X[["hour"]]).tolist() == kernel.predict(X[["hour"]]).tolist()
    with pytest.raises(NotASubset):
        kernel.forget(pd.DataFrame({"hour": [123.0]}), ["ham"])


# kernels --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_kernel_density_integrates_to_one_and_never_underflows() -> None:
    rng = np.random.default_rng(0)
    points, weight = np.sort(rng.normal(size=3000)), rng.uniform(0, 2, 3000)
    x = np.linspace(-9, 9, 20001)
    for precision in (None, 0.02):
        density = exp(log_kernel_density(x, points, weight, 0.3, precision))
        assert np.trapezoid(density, x) == pytest.approx(1.0, abs=1e-9)
    far = log_kernel_density(np.array([-1e200, -1e9, 1e5]), points, weight, 0.3)
    assert np.isneginf(far[0]) and np.isfinite(far[1:]).all()


@pytest.mark.parametrize("precision", [None, 0.1])
def test_only_the_points_near_enough_are_looked_at_without_loss(precision: float | None) -> None:
    rng = np.random.default_rng(1)
    points, x = np.sort(rng.uniform(0, 1000, 4000)), np.sort(rng.uniform(-200, 1200, 500))
    whole = log_kernel_density(x, points, np.ones(4000), 0.7, precision)
    alone = [log_kernel_density(x[[i]], points, np.ones(4000), 0.7, precision)[0] for i in range(0, 500, 7)]
    np.testing.assert_allclose(whole[::7], alone, rtol=1e-13)
    z = np.subtract.outer(x, points) / 0.7
    if precision is None:
        brute = log(exp(-0.5 * z**2).sum(axis=1) / np.sqrt(2 * np.pi) / 0.7 / 4000)
        seen = brute > -600
        np.testing.assert_allclose(whole[seen], brute[seen], rtol=1e-11)


def test_a_class_with_one_row_has_the_pooled_width_and_one_without_the_whole_columns() -> None:
    x = pd.DataFrame({"x": [1.0, 2.0, 4.0, 9.0]})
    model = NaiveBayes(likelihoods="kernel").fit(x, ["a", "a", "a", "b"])
    factor = model.factor_.parts[1]
    assert factor.replaced == (False, True)
    pooled = np.sqrt(np.var([1.0, 2.0, 4.0], ddof=1))
    assert factor.bandwidth[1] == pytest.approx(pooled * (4 / 3) ** 0.2)
    empty = NaiveBayes(likelihoods="kernel").partial_fit(x, list("aaab"), classes=list("abc")).factor_.parts[1]
    assert (empty.weight[2] == empty.weight[:2].sum(axis=0)).all()
    constant = NaiveBayes(likelihoods="kernel").fit(x.assign(y=7.0), ["a", "a", "a", "b"])
    assert [row.name for row, _ in constant.explain(x.assign(y=7.0)).rows] == ["class", "x"]


# counts ---------------------------------------------------------------------------------------------------------------


def test_what_rounding_leaves_of_a_class_is_no_spread() -> None:
    x, y = pd.DataFrame({"x": [0.0, 0, 1, 0, 0, 0, 1, 0, 0]}), np.array(list("abcbabcbb"))
    model = NaiveBayes(likelihoods={"x": "kernel"}).fit(x, y)  # around the column's mean, M2 of b is 1e-32
    rest = np.arange(9) != 0
    refit = NaiveBayes(likelihoods={"x": "kernel"}, schema=model.schema_).partial_fit(x[rest], y[rest], model.classes_)
    left_out, refitted = model.leave_one_out_log_proba(x, y)[0], refit.predict_log_proba(x[:1])[0]
    np.testing.assert_allclose(left_out, refitted, rtol=1e-12)


@pytest.mark.parametrize("likelihood", ["kernel", "kernel-range", "poisson"])
@pytest.mark.parametrize("weighed", [False, True])
def test_rows_left_out_all_at_once_are_as_one_by_one(likelihood: str, weighed: bool) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, scale = int(rng.integers(5, 30)), rng.choice([0.3, 3.0, 50.0])
        counts, masses = rng.poisson(scale, n).astype(float), np.round(rng.normal(1e3, 3.0, n), 3 * (seed % 2))
        x = counts if likelihood == "poisson" or seed % 3 else masses
        weight = rng.choice([0.0, 0.01, 1.0, 3.25], n) if weighed else np.ones(n)
        y = rng.integers(0, 2 + seed % 2, n)  # at times a class of a single row, or of none
        points, place = np.unique(x, return_inverse=True)
        whole = np.stack([np.bincount(place, weight * (y == c), len(points)) for c in range(3)])
        column = ColumnValues(points[whole.any(axis=0)], whole[:, whole.any(axis=0)])
        if column.constant:
            continue
        leaf = OF_VALUES[likelihood].estimate(Variable("x", "count", likelihood=likelihood), "c", column, BY_DEFAULT)
        assert isinstance(leaf, ValuesLeaf)
        order = np.argsort(x, kind="stable")
        gone = column.left_out(y[order], x[order], weight[order])
        gone = gone.take(~gone.constant)
        np.testing.assert_allclose(leaf.without(column, gone), ValuesLeaf.without(leaf, column, gone), rtol=1e-12)


def test_a_rate_of_zero() -> None:
    X, y = pd.DataFrame({"n": [0, 0, 3, 5]}), ["no", "no", "yes", "yes"]
    bare = NaiveBayes(likelihoods="poisson", smoothing="none").fit(X, y)
    assert bare.predict_proba(pd.DataFrame({"n": [1]})).tolist() == [[0.0, 1.0]]
    smooth = NaiveBayes(likelihoods="poisson").fit(X, y).factor_.parts[1]
    np.testing.assert_allclose(smooth.rate, [2 / 3, 10 / 3])  # one imagined row with the column's mean, 2
    zeros = NaiveBayes(likelihoods="poisson", smoothing="zero-only").fit(X, y).factor_.parts[1]
    np.testing.assert_allclose(zeros.rate, [2 / 3, 4.0])
    ledger = smooth_ledger = NaiveBayes(likelihoods="poisson").fit(X, y).explain(pd.DataFrame({"n": [1e300, 1e308]}))
    assert np.isfinite(ledger.posterior()).all() and smooth_ledger.status[1] in (Status.OK, Status.IMPOSSIBLE)


# texts ----------------------------------------------------------------------------------------------------------------


def test_missing_empty_and_unseen_texts() -> None:
    X = pd.DataFrame({"text": ["win win prize", "lunch now", "prize now", "lunch"]})
    y = ["spam", "ham", "spam", "ham"]
    asked = pd.DataFrame({"text": [None, "", "unheard of", "unheard prize"]})
    for likelihood_, says in (("multinomial", False), ("bernoulli", True)):
        model = NaiveBayes(likelihoods=likelihood_, text={"columns": ["text"]}).fit(X, y)
        prior = np.log([0.5, 0.5])
        joint = model.predict_joint_log_proba(asked)
        np.testing.assert_allclose(joint[0], prior)
        np.testing.assert_allclose(joint[1], joint[2])
        assert np.allclose(joint[1], prior) != says
        np.testing.assert_allclose(joint[3], model.predict_joint_log_proba(pd.DataFrame({"text": ["prize"]}))[0])
    rows = [row.name for row, _ in model.explain(asked[3:], opened=["text"]).rows]
    assert rows == ["class", "text: prize", "text: absent terms"]


def test_absence_is_the_product_over_all_terms() -> None:
    X, y = pd.DataFrame({"t": ["a b", "a", "c"]}), ["x", "x", "y"]
    model = NaiveBayes(likelihoods="bernoulli", text={"columns": ["t"]}, priors="uniform").fit(X, y)
    empty = model.predict_joint_log_proba(pd.DataFrame({"t": [""]}))[0]
    expected = np.log([0.5 * (1 / 4) * (2 / 4) * (3 / 4), 0.5 * (2 / 3) * (2 / 3) * (1 / 3)])
    np.testing.assert_allclose(empty, expected)


def test_an_open_vocabulary_grows_and_a_chosen_one_does_not() -> None:
    first, second = pd.DataFrame({"t": ["b b a", "a c"]}), pd.DataFrame({"t": ["d a", "d"]})
    y = ["x", "y"]
    grown = NaiveBayes(likelihoods={"t": "multinomial"}).fit(first, y).partial_fit(second, y)
    assert grown.schema_["t"].levels == ("a", "b", "c", "d")
    batch = NaiveBayes(likelihoods={"t": "multinomial"}).fit(pd.concat([first, second]), y * 2)
    np.testing.assert_allclose(grown.predict_proba(first), batch.predict_proba(first), rtol=1e-12)
    merged = NaiveBayes(likelihoods={"t": "multinomial"}).fit(second, y).merge(grown)
    assert set(merged.schema_["t"].levels) == {"a", "b", "c", "d"}
    closed = NaiveBayes(likelihoods={"t": "multinomial"}, text={"max_features": 2}).fit(first, y)
    assert closed.partial_fit(second, y).schema_["t"].levels == ("a", "b")


def test_chinese_needs_no_segmenter() -> None:
    X = pd.DataFrame({"短信": ["免费领取 iPhone", "明天开会", "免费 prize", "开会 at 3"]})
    model = NaiveBayes(likelihoods={"短信": "multinomial"}, text={"ngrams": (1, 2)}).fit(X, ["垃圾", "正常"] * 2)
    assert {"免", "免 费", "iphone", "取 iphone", "会 at"} <= set(model.schema_["短信"].levels)
    assert model.predict(pd.DataFrame({"短信": ["免费!"]})).tolist() == ["垃圾"]
    characters = NaiveBayes(likelihoods={"短信": "multinomial"}, text={"analyzer": "char", "ngrams": (2, 2)})
    assert "免费" in characters.fit(X, ["垃圾", "正常"] * 2).schema_["短信"].levels


# the working ----------------------------------------------------------------------------------------------------------


def test_every_number_opens(table: Any) -> None:
    X, y = table
    chosen = {"links": "poisson", "hour": "kernel", "text": "bernoulli", "known": "bernoulli"}
    model = NaiveBayes(likelihoods=chosen, text={"columns": ["text"]}).fit(X, y)
    working = derive(model, X.iloc[[3]], classes=["spam", "ham"])
    np.testing.assert_allclose(working.posterior, model.predict_proba(X.iloc[[3]])[0][::-1], rtol=1e-12)
    steps = {step.row.child: step for step in working.steps}
    rate, kernel, words = (steps[name].sources[0] for name in ("links", "hour", "text"))
    assert isinstance(rate, Rate) and isinstance(kernel, KernelEstimate) and isinstance(words, Words)
    spam = y == "spam"
    assert (rate.n, rate.total) == (spam.sum(), X["links"][spam].sum())
    assert rate.rate == pytest.approx((rate.total + X["links"].mean()) / (rate.n + 1))
    assert 0.5 < sum(b.share for b in kernel.bumps) <= 1.0 + 1e-12 and len(kernel.bumps) == 12
    assert sum(t.log_value for t in words.terms) + words.absent == pytest.approx(words.log_value)
    assert {t.term: t.source.count for t in words.terms}["free"] == spam.sum()
    assert not working.additive and all(step.counted for step in working.steps)
    frame = X.assign(kind=y)
    assert len(rows_behind(frame, "kind", steps["links"], "spam")) == spam.sum()
    said = to_text(working)
    assert f"Poisson({X['links'][3]}; " in said and "K(" in said
    assert r"\sum_i" in to_latex(working)
    assert rounded(working).posterior[0] == pytest.approx(working.posterior[0], abs=0.02)


def test_a_long_text_is_rounded_though_its_factor_is_too_small_for_a_float() -> None:
    X = pd.DataFrame({"text": ["a b c " * 400, "b c d " * 400]})
    model = NaiveBayes(likelihoods={"text": "multinomial"}).fit(X, ["x", "y"])
    working = derive(model, X.iloc[[1]])
    assert working.steps[1].factors == (0.0, 0.0) and rounded(working).posterior == working.posterior == (0.0, 1.0)


def test_what_is_believed_of_a_column(table: Any) -> None:
    X, y = table
    X = X.assign(hour=X["hour"].mask(X.index < 5))
    model = NaiveBayes(likelihoods={"links": "poisson", "hour": "kernel", "text": "multinomial"}).fit(X, y)
    curves, rates, words = (likelihood(model, name, ["spam", "ham"]) for name in ("hour", "links", "text"))
    assert isinstance(curves, Curves) and isinstance(rates, Rates) and isinstance(words, WordTable)
    np.testing.assert_allclose(np.trapezoid(curves.values, curves.x), 1.0, atol=1e-3)
    assert sum(curves.missing) == 5 and len(curves.points[0][0]) == (y[5:] == "spam").sum()
    np.testing.assert_allclose(rates.observed.sum(axis=1), 1.0)
    assert words.discriminating(3)["nats"].is_monotonic_decreasing
    assert set(words.terms) == {"win", "a", "free", "prize", "lunch", "at", "noon"}
    nats = information(model)
    assert 0 < nats["hour"] < np.log(2) and 0 < nats["links"] < np.log(2)
    with pytest.raises(BayesEngineError, match="column 'tone' has no kernel density"):
        likelihood(model, "tone")
    assert isinstance(conditional(model, "hour", ["spam", "ham"]), Curves)  # the same, by whichever door


def test_a_typed_schema_may_say_it_all() -> None:
    schema = Schema((Variable("n", "count", likelihood="poisson"), Variable("x", "continuous", likelihood="kernel")))
    X = pd.DataFrame({"n": [0, 1, 5, 7], "x": [0.1, 0.2, 3.0, 3.1]})
    model = NaiveBayes(schema=schema).fit(X, list("aabb"))
    assert [type(f) for f in model.factor_.parts[1:]] == [PoissonLeaf, KernelLeaf]


def test_a_gaussian_is_as_far_from_another_as_its_means_and_spreads_are() -> None:
    def leaf(*of_class: float) -> Any:
        X = [[side * v] for v in of_class for side in (-1.0, 1.0)]
        return NaiveBayes().fit(X, np.repeat([0, 1], len(X) // 2)).factor_.parts[-1]

    near, far = leaf(2.0, 4.0), leaf(3.0, 4.0)
    assert (near.variance.tolist(), far.variance.tolist()) == ([4.0, 16.0], [9.0, 16.0])
    assert near.distance(near) == far.distance(far) == 0.0
    assert near.distance(far) == far.distance(near) == pytest.approx((3.0 - 2.0) / 3.0)


def test_a_table_is_as_far_from_another_as_its_probabilities_are() -> None:
    def leaf(cells: str) -> Any:
        return NaiveBayes(smoothing="none").fit([[c] for c in cells], list("nnnnyyyy")).factor_.parts[-1]

    near, far = leaf("uuvvuvvv"), leaf("uvvvuuuv")
    assert near.distance(near) == 0.0
    assert near.distance(far) == far.distance(near) == pytest.approx(3 / 4 - 1 / 4)


def test_a_value_to_leave_out_that_was_never_counted_is_refused_whatever_it_weighs() -> None:
    column = ColumnValues(np.array([0.0, 2.0]), np.array([[1.0, 1.0]]))
    for weight in (0.5, 1.0, 2.0):
        with pytest.raises(NotASubset, match="never counted"):
            column.left_out(np.array([0]), np.array([1.0]), np.array([weight]))
    assert column.left_out(np.array([0]), np.array([1.0]), np.array([0.0])).place.tolist() == [1]


def test_the_shares_of_weighted_rows_in_a_kernel_density_sum_to_one() -> None:
    X, weight = pd.DataFrame({"x": [1.0, 2.0, 4.0, 3.0, 7.0]}), np.array([0.5, 3.0, 1.0, 2.0, 0.25])
    model = NaiveBayes(likelihoods={"x": "kernel"}).fit(X, list("aaabb"), sample_weight=weight)
    estimates = derive(model, X.iloc[[1]], classes=["a", "b"]).steps[-1].sources
    for rows, estimate in zip((slice(0, 3), slice(3, 5)), estimates, strict=True):
        assert isinstance(estimate, KernelEstimate)
        share = {b.value: b.share for b in estimate.bumps}
        assert sum(share.values()) == pytest.approx(1.0)
        alone = weight[rows] * exp(-0.5 * ((X["x"][rows] - 2.0) / estimate.bandwidth) ** 2)
        np.testing.assert_allclose([share[v] for v in X["x"][rows]], alone / alone.sum(), rtol=1e-3)


def test_an_empty_cell_of_the_parents_has_the_gaussian_of_its_class() -> None:
    wet, x = Domain(Variable("wet", "categorical", ("no", "yes"))), Variable("x", "continuous")
    whole = ColumnMoments(np.array([4.0]), np.array([1.0]), np.array([12.0]), 0.0)
    cells = ColumnMoments(np.array([4.0, 0.0]), np.array([1.0, 0.0]), np.array([12.0, 0.0]), 0.0)
    for rows in (0.0, 2.0):
        rule = GaussianRule(ddof=1, rows=rows)
        leaf = GaussianLeaf(x, "c", whole, np.array([4.0]), np.zeros(1, dtype=bool), rule, (wet,), cells)
        mean, variance = leaf.gaussians
        assert mean[0, 1] == 1.0 and variance[0, 1] == 4.0
