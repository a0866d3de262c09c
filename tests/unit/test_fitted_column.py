"""Maximum likelihood on a column, against scipy, the worked example and the models' own parameters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayes_engine import NaiveBayes, load_dataset
from bayes_engine.errors import ParameterError
from bayes_engine.workbench.laboratory import fitted_column as lab


def melons(column: str, label: str = "是") -> lab.ClassValues:
    frame = load_dataset("watermelon3").frame
    return lab.class_values(frame[column], frame["好瓜"], label)


def test_the_density_of_the_good_melons_is_the_book_s_and_scipy_s() -> None:
    rows = melons("密度")
    best, unbiased = lab.likeliest(rows), lab.likeliest(rows, 1)
    assert (round(best.mean, 5), round(unbiased.sd, 5)) == (0.57375, 0.12921)
    assert round(unbiased.density(0.697), 4) == 1.9590
    for place in (best, unbiased, lab.gaussian_place(rows, 0.7, 0.05)):
        theirs = stats.norm.logpdf(rows.values, place.mean, place.sd).sum()
        assert place.log_likelihood == pytest.approx(theirs, abs=1e-10)
    mean, sd = stats.norm.fit(rows.values)
    assert (best.mean, best.sd) == pytest.approx((mean, sd), rel=1e-12)
    assert best.log_likelihood > unbiased.log_likelihood
    # by hand: the squares divided by n − 1 cost n/2 (log(n/(n − 1)) − 1/n) nats
    assert best.log_likelihood - unbiased.log_likelihood == pytest.approx(4 * (np.log(8 / 7) - 1 / 8), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("ddof", [0, 1])
def test_both_are_the_models_own_parameters(ddof: int) -> None:
    data = load_dataset("watermelon3")
    features = data.schema.features
    variance = ("mle", "unbiased")[ddof]
    model = NaiveBayes(variance=variance, schema=features).fit(data.frame[list(features.names)], data.frame["好瓜"])
    for name in ("密度", "含糖率"):
        leaf = model.factor_.part_of(name)[0]
        for k, label in enumerate(model.classes_):
            place = lab.likeliest(melons(name, label), ddof)
            assert place.sd**2 == pytest.approx(leaf.variance[k], rel=1e-12)
            assert place.mean == pytest.approx(leaf.moments.mean[k], rel=1e-12)


@pytest.mark.slow
def test_weights_are_rows_and_missing_cells_none() -> None:
    x, y = pd.Series([1.0, 2.0, None, 5.0, 9.0]), pd.Series(["a", "a", "a", "a", "b"])
    thrice = lab.class_values(x, y, "a", pd.Series([3.0, 1.0, 7.0, 2.0, 1.0]))
    plain = lab.class_values(pd.Series([1.0, 1, 1, 2, 5, 5]), pd.Series(["a"] * 6), "a")
    for ddof in (0, 1):
        assert lab.likeliest(thrice, ddof) == pytest.approx(lab.likeliest(plain, ddof), rel=1e-12)
    for cells in ([2.0, 2.0], [2.0], [float("nan")]):
        with pytest.raises(ParameterError, match="no maximum"):
            lab.class_values(pd.Series(cells), pd.Series(["a"] * len(cells)), "a")


@pytest.mark.slow
def test_frequencies_are_the_top_of_the_simplex_at_its_boundary_too() -> None:
    frame = load_dataset("watermelon3").frame
    counts = lab.class_counts(frame["敲声"], frame["好瓜"], "是", ["浊响", "沉闷", "清脆"])
    assert counts.tolist() == [6, 2, 0]
    places = lab.shares_places(counts)
    assert places["frequency"].theta == (0.75, 0.25, 0.0)  # the boundary
    assert places["laplace"].theta == pytest.approx((7 / 11, 3 / 11, 1 / 11))
    ways = stats.multinomial.logpmf([6, 2, 0], 8, [7 / 11, 3 / 11, 1 / 11]) - np.log(28)  # one order out of 8 over 2
    assert places["laplace"].log_likelihood == pytest.approx(ways, abs=1e-10)
    rng = np.random.default_rng(0)
    others = [lab.shares_place(counts, theta).log_likelihood for theta in rng.dirichlet(np.ones(3), 500)]
    assert max(others) < places["frequency"].log_likelihood
    assert lab.shares_place(counts, (0.5, 0.0, 0.5)).log_likelihood == -np.inf
