"""The working of weights and of a selection; kernel densities, rates and words; which likelihoods a column can have."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayes_engine import NaiveBayes, SelectiveNaiveBayes, WeightedNaiveBayes
from bayes_engine.datasets import load_dataset
from bayes_engine.factors.sources import Power
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation import latex, render
from bayes_engine.workbench.derivation.check import hint
from bayes_engine.workbench.derivation.conditionals import conditional, information
from bayes_engine.workbench.derivation.derive import bare, derive, rounded
from bayes_engine.workbench.derivation.estimates import estimates
from bayes_engine.workbench.derivation.likelihoods import Curves, Rates, WordTable, rows_of_class, suits
from bayes_engine.workbench.derivation.parameter_count import model_size
from bayes_engine.workbench.figures.conditionals import kernel_curves, magnified, rate_bars
from bayes_engine.workbench.figures.weights_and_selection import selection_steps, weight_bars

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
MELONS = load_dataset("watermelon3")
X, Y = MELONS.frame[list(MELONS.schema.features.names)], MELONS.frame["好瓜"]
MAILS = pd.DataFrame({"text": ["win a prize prize", "lunch at noon", "a prize for you"], "links": [4, 0, 3],
                      "hour": [1.0, 9.5, 2.0]})  # fmt: skip
KINDS = ["spam", "ham", "spam"]


@pytest.fixture(scope="module")
def weighted() -> WeightedNaiveBayes:
    return WeightedNaiveBayes(NaiveBayes(schema=MELONS.schema)).fit(X, Y)


def test_each_factor_to_the_power_of_its_weight_makes_the_posterior(weighted: WeightedNaiveBayes) -> None:
    working = derive(weighted, X.iloc[[4]], classes=["是", "否"])
    for step in working.steps[1:]:
        w = weighted.weights_[step.row.child]
        for source, plain, factor in zip(step.sources, bare(step).factors, step.factors, strict=True):
            assert isinstance(source, Power) and source.weight == w
            assert factor == pytest.approx(plain**w, rel=1e-12)
    scores = np.prod([step.factors for step in working.steps], axis=0)
    order = [list(weighted.classes_).index(c) for c in working.classes]
    assert scores / scores.sum() == pytest.approx(weighted.predict_proba(X.iloc[[4]])[0][order], rel=1e-12)
    assert working.scores and not working.additive


def test_a_weighted_working_says_score_and_never_p_of_x(weighted: WeightedNaiveBayes) -> None:
    working = derive(weighted, X.iloc[[0]])
    for copy in (render.to_text(working), render.to_markdown(working), latex.to_latex(working)):
        assert "P(x)" not in copy and r"P(\boldsymbol{x}) &" not in copy
    w = weighted.weights_["脐部"]
    assert f"P(脐部=凹陷 | 好瓜=否)^{w:.6g} = ((2+1)/(9+3))^{w:.6g} = " in render.to_text(working)
    assert rf"\left(\frac{{2+1}}{{9+3}}\right)^{{{w:.6g}}}" in latex.to_latex(working)
    assert "n = 9, x̄ = 0.496111" in render.to_text(working)  # what the weight acts on
    assert str(hint(working, 5, 0, "0.5")).endswith(f"to the power of the column's weight, {w:.6g}.")


def test_by_hand_the_weighted_factor_is_what_is_rounded(weighted: WeightedNaiveBayes) -> None:
    short = rounded(derive(weighted, X.iloc[[0]]))
    assert all(f == round(f, 3) for step in short.steps for f in step.factors)
    assert sum(short.posterior) == pytest.approx(1.0)


def test_a_class_conditional_is_the_estimators_whatever_the_weight(weighted: WeightedNaiveBayes) -> None:
    plain = NaiveBayes(schema=MELONS.schema).fit(X, Y)
    selective = SelectiveNaiveBayes(NaiveBayes(schema=MELONS.schema)).fit(X, Y)
    for model in (weighted, selective):
        assert information(model) == pytest.approx(information(plain))
        for column in ("色泽", "密度"):
            mine, theirs = conditional(model, column), conditional(plain, column)
            ours = mine.steps[0].factors if hasattr(mine, "steps") else mine.step.factors  # type: ignore[union-attr]
            assert ours == (theirs.steps[0].factors if hasattr(theirs, "steps") else theirs.step.factors)  # type: ignore[union-attr]
        assert estimates(model, "色泽").used.value.tolist() == estimates(plain, "色泽").used.value.tolist()  # type: ignore[union-attr]


def test_what_a_selection_leaves_out_is_counted_out() -> None:
    model = SelectiveNaiveBayes(NaiveBayes(schema=MELONS.schema)).fit(X, Y)
    left = [o.name for o in derive(model, X.iloc[[0]]).omitted if o.reason == "not kept"]
    assert left == [name for name in X if name not in model.kept_]
    size = model_size(model)
    assert (size.joint_cells, size.left_out) == (972, len(left))
    levels = sum(len(MELONS.schema[n].levels) for n in model.kept_ if MELONS.schema[n].discrete)
    assert size.factor_cells == 2 * levels


@pytest.mark.parametrize("likelihood", ["kernel", "kernel-range"])
def test_the_bumps_add_up_to_the_curve(likelihood: str) -> None:
    found = conditional(NaiveBayes(likelihoods={"密度": likelihood}, schema=MELONS.schema).fit(X, Y), "密度")  # type: ignore[dict-item]
    assert isinstance(found, Curves)
    for k in range(2):
        bumps = found.bumps(k, 1000)
        assert len(bumps) == len(found.points[k][0])
        at = found.x[100]
        assert sum(np.interp(at, x, y, 0.0, 0.0) for x, y in bumps) == pytest.approx(found.values[k, 100], rel=0.02)
    figure = kernel_curves(found, [v for v, _w in found.points], classes=["no", "yes"], name="density")
    assert magnified(found) == 1 and len(figure.data) == 6


def test_a_rate_beside_the_shares() -> None:
    model = NaiveBayes(likelihoods={"links": "poisson"}).fit(MAILS[["links"]], KINDS)
    found = conditional(model, "links", ["spam", "ham"])
    assert isinstance(found, Rates)
    assert found.rate[0] == pytest.approx((7 + 7 / 3) / 3)
    assert found.observed.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert len(rate_bars(found, classes=["s", "h"], name="links").data) == 6


@pytest.mark.parametrize("likelihood", ["multinomial", "bernoulli"])
def test_the_fraction_of_a_word_is_its_probability(likelihood: str) -> None:
    model = NaiveBayes(likelihoods={"text": likelihood}, text={"columns": ["text"]}).fit(MAILS[["text"]], KINDS)  # type: ignore[dict-item]
    found = conditional(model, "text", ["spam", "ham"])
    assert isinstance(found, WordTable)
    for k in range(2):
        for v in range(len(found.terms)):
            assert np.log(found.source(k, v).value) == pytest.approx(found.log_p[k, v], abs=1e-12)
    whole = MAILS.assign(kind=KINDS).rename(columns={"kind": "class"})
    rows = rows_of_class(found, whole, "spam", "prize")
    assert rows["×"].tolist() == [2, 1]


def test_the_words_of_a_text_are_a_product_in_latex() -> None:
    model = NaiveBayes(likelihoods={"text": "multinomial", "hour": "kernel"}).fit(MAILS[["text", "hour"]], KINDS)
    working = derive(model, MAILS[["text", "hour"]].iloc[[0]], classes=["spam", "ham"])
    written = latex.to_latex(working)
    assert r"\underset{\text{prize}}{\left(\frac{3+1}{8+8}\right)}^{2}" in written
    (rule,) = latex.latex_behind(working, working.steps[2], 0)
    assert rule.startswith(r"h &= s\left(\tfrac{4}{3n}\right)^{1/5}")
    assert "prize × 2: 2 log (3+1)/(8+8)" in render.to_markdown(working)


def test_what_the_values_of_a_column_forbid_is_said() -> None:
    whole = suits(Variable("n", "count"), pd.Series([0.0, 1.0, 1.0]), pd.Series(["a", "b", "b"]))
    assert all(why is None for why in whole.values())
    broken = suits(Variable("n", "continuous"), pd.Series([0.5, 2.0]), pd.Series(["a", "b"]))
    assert {name for name, why in broken.items() if why is not None} == {"joint-multinomial", "poisson", "bernoulli"}
    levels = suits(Variable("c", "categorical", ("x", "y", "z")), pd.Series(list("xyz")), pd.Series(list("aab")))
    assert levels["categorical"] is None and "it has 3 levels" in str(levels["bernoulli"])


def test_weights_and_steps_are_drawn() -> None:
    bars = weight_bars({"a": 0.5, "b": 0.0}, largest=1.0)
    assert list(bars.data[0].y) == [0, 1] and list(bars.layout.yaxis.ticktext) == ["b", "a"]
    steps = selection_steps(["none", "+ a", "stop"], [0.5, 0.8], 0.7, title="share right")
    assert list(steps.data[1].x) == [2] and list(steps.layout.xaxis.tickvals) == [0, 1, 2]
