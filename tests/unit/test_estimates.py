"""Three estimates of one table and their intervals, given the parents; Gaussians drawn from their posterior."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayes_engine.datasets import load_dataset
from bayes_engine.errors import EstimationWarning, ParameterError
from bayes_engine.models.aode import AODE
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.network_classifier import BayesianNetworkClassifier
from bayes_engine.models.tan import TAN
from bayes_engine.priors import Dirichlet
from bayes_engine.workbench.derivation.conditionals import LevelConditionals, conditional
from bayes_engine.workbench.derivation.estimates import Estimates, MomentEstimates, estimates, plausible_gaussians
from bayes_engine.workbench.figures.conditionals import level_bars
from bayes_engine.workbench.figures.credible import estimate_marks

MELONS = load_dataset("watermelon3")
X, Y = MELONS.frame[list(MELONS.schema.features.names)], MELONS.frame["好瓜"]
DISCRETE = X[["色泽", "根蒂", "敲声", "纹理", "脐部", "触感"]]


def table(model: object, column: str, **more: object) -> Estimates:
    found = estimates(model, column, **more)  # type: ignore[arg-type]
    assert isinstance(found, Estimates)
    return found


@pytest.mark.parametrize("alpha", ["jeffreys", 2.0, Dirichlet.m_estimate(3), Dirichlet.equivalent_sample_size(6)])
def test_the_estimate_in_use_is_the_models_own(alpha: float | str | Dirichlet) -> None:
    model = NaiveBayes(alpha=alpha).fit(X, Y)
    shown = conditional(model, "敲声", ["是", "否"])
    for k, label in enumerate(shown.classes):
        found = table(model, "敲声", classes=[label])
        assert found.used.value[0] == pytest.approx([step.factors[k] for step in shown.steps], abs=1e-12)
        assert not found.bare
    both = table(model, "敲声", classes=["是", "否"])
    assert both.counts.tolist() == [[6, 2, 0], [4, 3, 2]]
    assert both.laplace.value[1] == pytest.approx([5 / 12, 4 / 12, 3 / 12])


def test_given_the_parents_the_cells_are_those_of_that_table() -> None:
    model = TAN(root="纹理", alpha=1.0).fit(DISCRETE, Y)
    given = {"纹理": "清晰"}
    column = next(child for parent, child in model.tree_ if parent == "纹理")
    found, shown = table(model, column, given=given), conditional(model, column, given=given)
    for k in range(2):
        assert found.used.value[k] == pytest.approx([step.factors[k] for step in shown.steps], abs=1e-12)
    inside = (DISCRETE["纹理"] == "清晰") & (Y == "是")
    assert found.counts.sum() == (DISCRETE["纹理"] == "清晰").sum()
    assert inside.sum() in found.counts.sum(axis=1)


def test_a_column_that_the_class_is_no_parent_of_is_the_same_for_every_class() -> None:
    model = BayesianNetworkClassifier(structure=[("好瓜", "纹理"), ("纹理", "敲声")]).fit(DISCRETE, Y)
    found = table(model, "敲声", given={"纹理": "模糊"})
    assert np.array_equal(found.counts[0], found.counts[1]) and found.counts[0].sum() == 3


def test_without_smoothing_the_interval_is_jeffreys() -> None:
    found = table(NaiveBayes(smoothing="none").fit(X, Y), "敲声", classes=["是"])
    assert found.bare and found.used.interval is not None
    assert found.used.interval.high[0, 2] == pytest.approx(stats.beta(0.5, 9.0).ppf(0.975))
    assert found.likely.value[0].tolist() == [0.75, 0.25, 0.0] and found.likely.interval is None


def test_no_posterior_where_the_model_has_none() -> None:
    with pytest.raises(ParameterError, match="AODE"):
        estimates(AODE().fit(DISCRETE, Y), "敲声")
    with pytest.raises(ParameterError, match="zero-only"):
        estimates(NaiveBayes(smoothing="zero-only").fit(X, Y), "敲声")
    with pytest.raises(ParameterError, match="neither"):
        estimates(NaiveBayes().fit(X, Y), "nothing")
    with pytest.raises(ParameterError, match="no Gaussian"):
        plausible_gaussians(NaiveBayes().fit(X, Y), "敲声", "是")


def test_gaussians_drawn_have_the_spread_that_their_intervals_say() -> None:
    model = NaiveBayes().fit(X, Y)
    found = estimates(model, "密度", ["是"])
    assert isinstance(found, MomentEstimates) and found.free.all()
    mean, sd = plausible_gaussians(model, "密度", "是", n=40_000, rng=1)
    low, high = (float(end[0]) for end in found.mean_interval)
    assert ((mean > low) & (mean < high)).mean() == pytest.approx(0.95, abs=0.005)
    low, high = (float(end[0]) for end in found.variance_interval)
    assert ((sd**2 > low) & (sd**2 < high)).mean() == pytest.approx(0.95, abs=0.005)


def test_a_class_without_spread_keeps_its_variance() -> None:
    flat = pd.DataFrame({"x": [1.0, 1.0, 1.0, 2.0, 3.0, 5.0]})
    with pytest.warns(EstimationWarning):
        model = NaiveBayes().fit(flat, list("aaabbb"))
    found = estimates(model, "x", ["a", "b"])
    assert isinstance(found, MomentEstimates) and found.free.tolist() == [False, True]
    _mean, sd = plausible_gaussians(model, "x", "a", n=5)
    assert len(set(sd.tolist())) == 1


def test_the_figures_draw_what_was_counted_behind_what_was_smoothed() -> None:
    model = NaiveBayes(alpha=1.0).fit(X, Y)
    shown = conditional(model, "敲声", ["是", "否"])
    assert isinstance(shown, LevelConditionals)
    bars = [t for t in level_bars(shown, levels=list("abc"), classes=["yes", "no"]).data if t.type == "bar"]
    ghost, full = bars[0], bars[2]
    assert list(ghost.y) == [0.75, 0.25, 0.0] and list(full.y) == pytest.approx([7 / 11, 3 / 11, 1 / 11])
    assert ghost.width > full.width and list(ghost.x) == list(full.x)
    found = table(model, "敲声", classes=["是", "否"])
    marks = estimate_marks(found.at([0, 2], 1), levels=["a", "c"], classes=["yes"])
    dots = next(t for t in marks.data if t.mode == "markers" and t.marker.symbol == "circle")
    assert list(dots.x) == pytest.approx([7 / 11, 1 / 11])
    interval = found.used.interval
    assert interval is not None
    assert list(marks.data[0].x)[:2] == pytest.approx([interval.low[0, 0], interval.high[0, 0]])
