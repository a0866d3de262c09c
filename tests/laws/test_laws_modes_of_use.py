"""The three ways of use give the same posteriors: a look-up table, lazy estimation, counts that follow the rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

from bayes_engine import NaiveBayes
from bayes_engine.ledger import Status
from bayes_engine.logspace import log_normalize
from bayes_engine.models.lazy import LazyNaiveBayes
from bayes_engine.models.look_up import LookUp
from bayes_engine.models.naive_bayes import PRESETS
from tests.conftest import examples, refusable

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
CLASSES = ["a", "b", "c"]

MODELS: dict[str, NaiveBayes] = {
    **{name: NaiveBayes(**parameters) for name, parameters in PRESETS.items()},
    "tied": NaiveBayes(tied_variance=True, variance="unbiased", priors="uniform"),
    "missing is a level": NaiveBayes(missing="category", smoothing="zero-only", alpha=0.5),
    "smooth unseen": NaiveBayes(unseen="smooth", alpha=2.0, priors="laplace"),
    "stated priors": NaiveBayes(priors={"a": 0.5, "b": 0.3, "c": 0.2}),
    "intervals": NaiveBayes(discretize="mdlp"),
    "quantiles": NaiveBayes(discretize="quantile", bins=3, smoothing="none", alpha=0.0),
}


class Story(NamedTuple):
    """Rows to begin with, rows that come, and which of them all go again."""

    X: pd.DataFrame
    y: pd.Series
    weight: np.ndarray
    begun: int
    gone: np.ndarray

    def part(self, rows: Any) -> tuple[pd.DataFrame, pd.Series, np.ndarray]:
        return self.X.iloc[rows], self.y.iloc[rows], self.weight[rows]


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """A mixed table with missing cells, weights, a rare level and a class that may come late; two rows go again."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(14, 30))
    X = pd.DataFrame(
        {
            "colour": rng.choice(["green", "dark", "pale"], n, p=[0.6, 0.3, 0.1]),
            "sound": rng.choice(["0", "1", "2"], n),
            "density": rng.normal(0.6, 0.1, n),
            "mass": rng.normal(1000.0, 3.0, n),
        }
    )
    X = X.mask(rng.random(X.shape) < draw(st.sampled_from([0.0, 0.15])))
    y = pd.Series(rng.choice(CLASSES, n), name="class")
    y.iloc[:6] = CLASSES * 2
    begun = draw(st.integers(8, n - 2))
    whole = rng.integers(1, 4, n).astype(float)
    weight = draw(st.sampled_from([whole, whole / 4.0, np.ones(n)]))
    return Story(X, y, weight, begun, rng.choice(np.arange(6, n), 2, replace=False))


def asked(story: Story) -> pd.DataFrame:
    """The rows themselves, then rows with other values and holes, and one of which nothing is known."""
    strange = story.X.iloc[:6].reset_index(drop=True).astype(object)
    strange.loc[0, "colour"] = "pink"
    strange.loc[1, "sound"] = "7"
    strange.loc[2, ["colour", "density"]] = None
    strange.loc[3, :] = None
    strange["density"], strange["mass"] = strange["density"].astype(float), strange["mass"].astype(float)
    return pd.concat([story.X, strange], ignore_index=True)


def posterior(model: Any, X: pd.DataFrame) -> np.ndarray:
    return np.exp(log_normalize(model.predict_joint_log_proba(X)))


def well_posed(before: NaiveBayes, after: NaiveBayes) -> bool:
    """Whether no variance is what is left of a much larger one: there a subtraction loses digits, and counting anew
    does not."""
    old, new = before.stats_.moments, after.stats_.moments
    return bool(((new.m2 > 0.02 * old.m2) | (old.m2 == 0)).all() and (new.weight > 1).all())


@examples(20, usually=6)
@given(stories(), st.sampled_from(sorted(MODELS)))
def test_three_ways_give_the_same_posteriors(story: Story, name: str) -> None:
    start, come = slice(0, story.begun), slice(story.begun, None)
    eager, lazy = clone(MODELS[name]), LazyNaiveBayes(**MODELS[name].get_params(deep=False))
    for model in (eager, lazy):
        model.partial_fit(*story.part(start)[:2], CLASSES, story.part(start)[2])
        for row in range(story.begun, len(story.y)):  # as they come
            model.partial_fit(*story.part([row])[:2], sample_weight=story.weight[[row]])
    kept = np.delete(np.arange(len(story.y)), story.gone)
    batch = clone(MODELS[name]).set_params(schema=eager.schema_)
    whole = clone(batch).partial_fit(*story.part(slice(None))[:2], CLASSES, story.weight)
    X = asked(story)
    for model in (eager, lazy):
        np.testing.assert_allclose(posterior(model, X), posterior(whole, X), rtol=0, atol=1e-12)
        with refusable():
            model.forget(*story.part(story.gone)[:2], story.weight[story.gone])
    batch.partial_fit(*story.part(kept)[:2], CLASSES, story.weight[kept])
    assume(well_posed(whole, batch))
    for model in (eager, lazy, LookUp.of(eager), LookUp.of(lazy), LookUp.of(batch), lazy.counted()):
        np.testing.assert_allclose(posterior(model, X), posterior(batch, X), rtol=0, atol=1e-12)
    assert come.start == story.begun


@examples(25)
@given(stories(), st.sampled_from(sorted(MODELS)))
def test_the_table_and_the_file_say_what_the_model_says(story: Story, name: str) -> None:
    model = clone(MODELS[name]).fit(story.X, story.y, story.weight)
    X = asked(story)
    ledger = model.explain(X)
    ok = ledger.status == Status.OK
    table = LookUp.of(model)
    np.testing.assert_array_equal(np.isneginf(table.predict_joint_log_proba(X)).all(axis=1), ~ok)
    np.testing.assert_allclose(table.predict_proba(X[ok]), ledger.posterior()[ok], rtol=0, atol=1e-12)
    assert table.predict(X[ok]).tolist() == model.predict(X[ok]).tolist()
    made: dict[str, Any] = {}
    exec(compile(table.source(), "made.py", "exec"), made)  # noqa: S102
    assert made["check"]() <= 1e-12
    for row, expected in zip(X[ok].to_dict("records"), ledger.posterior()[ok], strict=True):
        np.testing.assert_allclose(list(made["posterior"](row).values()), expected, rtol=0, atol=1e-12)
        assert made["predict"](row) == table.classes[int(np.argmax(expected >= expected.max() - 1e-12))]
    for row in X[~ok].to_dict("records"):
        with pytest.raises(ValueError, match="no posterior"):
            made["posterior"](row)


@examples(25)
@given(stories(), st.sampled_from(sorted(MODELS)))
def test_a_lazy_ledger_is_the_eager_one(story: Story, name: str) -> None:
    eager = clone(MODELS[name]).fit(story.X, story.y, story.weight)
    lazy = LazyNaiveBayes(**MODELS[name].get_params(deep=False)).fit(story.X, story.y, story.weight)
    for X, given_ in ((asked(story), None), (story.X[:1], None), (story.X[:3], ["colour", "mass"])):
        a, b = eager.explain(X, given_), lazy.explain(X, given_)
        assert [row for row, _ in a.rows] == [row for row, _ in b.rows]
        assert a.status.tolist() == b.status.tolist()
        for (_, s), (_, t) in zip(a.rows, b.rows, strict=True):
            np.testing.assert_allclose(s, t, rtol=1e-12, atol=1e-12)
    assert lazy.prior_by_class == eager.prior_by_class
    left = [m.leave_one_out_log_proba(story.X, story.y, story.weight) for m in (eager, lazy)]
    np.testing.assert_allclose(*left, rtol=1e-12, atol=1e-12)
    half = LazyNaiveBayes(**MODELS[name].get_params(deep=False))
    if name not in ("intervals", "quantiles"):  # whose cuts are those of the rows
        both = [clone(half).partial_fit(*story.part(rows)[:2], CLASSES, story.part(rows)[2])
                for rows in (slice(0, story.begun), slice(story.begun, None))]  # fmt: skip
        np.testing.assert_allclose(
            posterior(both[1].merge(both[0]), story.X), posterior(eager, story.X), rtol=0, atol=1e-11
        )
