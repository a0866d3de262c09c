"""A likelihood that is registered from outside shows on Model and on One case, with the words that came along."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

import pytest
from scipy.stats import nbinom

from bayes_engine.datasets import load_dataset
from pages.runtime import cache
from tests.apptest.opened import opened, showing
from tests.apptest.test_likelihoods import CREDIT, DURATION, by_class, estimated, said, with_own
from tests.negative_binomial import NAME, R, registered


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a server that began with it: nothing is kept from before."""
    monkeypatch.setattr(cache, "_entries", OrderedDict())
    monkeypatch.setattr(cache, "_taken", {"": 0})
    with registered():
        yield


def p_of_first() -> float:
    data = load_dataset("german-credit")
    assert data.schema.target is not None
    x, y = data.frame["duration"], data.frame[data.schema.target.name]
    mine = x[y == data.schema.target.levels[0]]
    return float(R * (len(mine) + 1) / (R * (len(mine) + 1) + mine.sum() + x.mean()))


def test_model_offers_it_draws_it_and_says_how_sure_it_is() -> None:
    app = opened("model", showing(with_own(CREDIT, (DURATION, NAME)), column=DURATION))
    parameter = app.selectbox(key="column_likelihood")
    assert parameter.value == NAME and "Negative binomial" in parameter.options
    shown = by_class(app).iloc[0]
    assert (shown["p"], shown["r"]) == (f"{p_of_first():.6g}", "2")
    low, high = map(float, estimated(app).iloc[0]["95% credible"].split(" – "))
    assert low < p_of_first() < high
    assert "Columns with a registered likelihood: 2 parameters." in said(app)


def test_one_case_opens_the_factor() -> None:
    app = opened("case", showing(with_own(CREDIT, (DURATION, NAME)), factor=DURATION + 1, of=0))
    assert f"The distribution Negative binomial at x = 48, with r = 2, p = {p_of_first():.6g}" in said(app)
    label = app.button(key=f"factor_{DURATION + 1}_0").label
    assert label.startswith(f"{NAME}(48; r = 2, p = ")
    assert float(label.split(" = ")[-1]) == pytest.approx(nbinom.pmf(48, R, p_of_first()), rel=1e-3)
