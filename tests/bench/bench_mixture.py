"""GaussianMixture beside scikit-learn, as ratios of CPU time in one run: `python tests/bench/bench_mixture.py`.

One BLAS thread on both sides; the same start, the same number of steps.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture as Theirs
from threadpoolctl import threadpool_info, threadpool_limits

from bayes_engine.models.mixture import GaussianMixture
from bayes_engine.models.mixture_components import MixtureParameters
from tests.bench.goals import Ratio, cpu

ROWS, COLUMNS, COMPONENTS, STEPS = 100_000, 10, 8, 20
FORMS = {"full": ("full", 0.18), "tied": ("tied", 0.5), "diagonal": ("diag", 0.5), "spherical": ("spherical", 0.5)}
"""scikit-learn's word, and the bound; full is the promise, the others are not to be slower."""


def twenty_steps(form: Any, repeats: int = 3) -> Ratio:
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 3, (COMPONENTS, COLUMNS))
    X = centres[rng.integers(0, COMPONENTS, ROWS)] + 0.7 * rng.normal(size=(ROWS, COLUMNS)) @ rng.normal(
        size=(COLUMNS, COLUMNS)
    )
    unit = {
        "full": np.stack([np.eye(COLUMNS)] * COMPONENTS),
        "tied": np.eye(COLUMNS),
        "diagonal": np.ones((COMPONENTS, COLUMNS)),
        "spherical": np.ones(COMPONENTS),
    }[form]
    start = MixtureParameters(np.full(COMPONENTS, 1 / COMPONENTS), X[:COMPONENTS], unit, form)
    name, bound = FORMS[form]
    given = {"weights_init": start.weights, "means_init": start.means, "precisions_init": unit}
    jobs = [
        lambda: GaussianMixture(COMPONENTS, covariance=form, tol=0.0, max_iter=STEPS, init=start).fit(X),
        lambda: Theirs(COMPONENTS, covariance_type=name, tol=0.0, max_iter=STEPS, **given).fit(X),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = cpu(*jobs, repeats=repeats)
    what = f"{STEPS} EM steps, {ROWS:,} x {COLUMNS}, {COMPONENTS} {form} components / GaussianMixture"
    return Ratio(what, ours, theirs, bound)


@pytest.mark.bench
@pytest.mark.parametrize("form", FORMS)
def test_ratios(form: str) -> None:
    with threadpool_limits(1):
        ratio = twenty_steps(form)
    assert ratio.value <= ratio.bound, f"{ratio.what}: {ratio.value:.2f}, wanted {ratio.bound:.2f} at most"


if __name__ == "__main__":
    with threadpool_limits(1):
        print(*(f"{pool['internal_api']}: {pool['num_threads']} thread" for pool in threadpool_info()), sep=", ")  # noqa: T201
        print(f"{'ratio':>6} {'bound':>6} {'ours/ms':>9} {'peer/ms':>9}")  # noqa: T201
        for form in FORMS:
            ratio = twenty_steps(form)
            times = f"{ratio.ours * 1e3:9.2f} {ratio.peer * 1e3:9.2f}"
            print(f"{ratio.value:6.2f} {ratio.bound:6.2f} {times}  {ratio.what}")  # noqa: T201
