"""The three ways held against each other: they agree, and where they would not it shows; what a row takes with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import NaiveBayes, costs
from bayes_engine.errors import NotASubset
from bayes_engine.models.costs import MODES_OF_USE
from bayes_engine.workbench.derivation import modes_of_use
from bayes_engine.workbench.figures.modes_of_use import work_lines


def table(n: int = 60) -> tuple[pd.DataFrame, pd.Series, Any]:
    """Levels, a number, gaps, and weights."""
    rng = np.random.default_rng(3)
    y = pd.Series(rng.choice(["no", "yes"], n))
    X = pd.DataFrame({"sky": rng.choice(list("abc"), n), "warm": rng.normal(20, 4, n) + 3 * (y == "yes")})
    X.loc[4, "sky"], X.loc[7, "warm"] = None, np.nan
    return X, y, rng.uniform(0.5, 3.0, n)


def test_the_ways_agree_on_weighted_rows_with_gaps() -> None:
    X, y, weight = table()
    model = NaiveBayes(unseen="smooth").fit(X, y, weight)
    found = modes_of_use.agreement(model, X, y, X[4:5], weight)
    assert found.difference < 1e-12
    assert (found.rows, found.without) == (60, 0)
    expected = model.predict_proba(X[4:5])[0]
    for way in MODES_OF_USE:
        np.testing.assert_allclose(found.of_case[way], expected, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_a_disagreement_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _weight = table()
    model = NaiveBayes().fit(X, y)
    other = NaiveBayes(alpha=5.0).fit(X, y)
    monkeypatch.setattr(modes_of_use, "_lazy", lambda *_args: other)
    p, q = model.predict_proba(X), other.predict_proba(X)
    assert modes_of_use.agreement(model, X, y, X[:1]).difference == pytest.approx(np.abs(p - q).max(), abs=1e-12)
    never = NaiveBayes(priors={"no": 1.0, "yes": 0.0}, smoothing="none").fit(X.assign(sky=y), y)
    monkeypatch.setattr(modes_of_use, "_lazy", lambda *_args: NaiveBayes().fit(X.assign(sky=y), y))
    assert modes_of_use.agreement(never, X.assign(sky=y), y, X[:1].assign(sky="no")).difference == float("inf")


def test_the_numbers_that_move_are_those_of_a_count_without_the_row() -> None:
    X, y, weight = table()
    model = NaiveBayes().fit(X, y, weight)
    gone = [4, 7, 11]
    less = modes_of_use.without_rows(model, X, y, gone, weight)
    assert model.stats_.class_weight.sum() == pytest.approx(weight.sum())  # the model itself is left as it was
    keep = np.setdiff1d(np.arange(len(X)), gone)
    anew = NaiveBayes(schema=model.schema_).fit(X.iloc[keep], y.iloc[keep], weight[keep]).stats_
    moved = modes_of_use.moved_numbers(model.stats_, less.stats_)
    assert len(moved) > 5
    for line in moved.itertuples():
        c = anew.target.levels.index(line[4])
        if line.column is None:
            right = anew.class_weight[c]
        elif line.column == "sky":
            levels = (None, *anew.schema["sky"].levels)
            right = anew.counts.tables["sky"][c, levels.index(line.level)]
        else:
            m = anew.moments
            right = {"n": m.weight, "mean": m.pivot + m.mean, "squares": m.m2}[line.entry][c, 0]
        assert line.after == pytest.approx(right, rel=1e-9)
        assert line.after != line.before
    assert "missing" in set(moved["entry"])


def test_rows_that_were_never_there_cannot_go() -> None:
    X, y, _weight = table()
    with pytest.raises(NotASubset):
        modes_of_use.without_rows(NaiveBayes().fit(X[:20], y[:20]), X, y, slice(0, 60))


def test_the_work_is_that_of_one_update_and_the_predictions() -> None:
    X, y, weight = table()
    bill = costs(NaiveBayes().fit(X, y, weight), X, y, sample_weight=weight)
    unit, lines = modes_of_use.work(bill, [0.0, 2.0])
    at = {(c.mode, c.moment): c.read + c.entries + c.additions for c in bill}
    assert unit == "steps"
    assert lines["lazy"] == [at["lazy", "update"], at["lazy", "update"] + 2 * at["lazy", "predict"]]
    assert lines["lazy"][0] < lines["incremental"][0] < lines["look-up"][0]
    assert lines["incremental"][1] < lines["lazy"][1]
    stored = {c.moment: c.bytes for c in costs(NaiveBayes().fit(X, y), X, y) if c.mode == "lazy"}
    assert next(c.bytes for c in bill if c.mode == "lazy") == stored["fit"] + weight.nbytes
    timed, seconds = modes_of_use.work(costs(NaiveBayes().fit(X, y), X, y, measure=True, repeats=1), [1.0])
    assert timed == "s"
    assert all(0 < line[0] < 5 for line in seconds.values())


def test_the_figure_has_a_line_for_each_way() -> None:
    names: Any = {"look-up": "table", "lazy": "lazy &lt;b&gt;", "incremental": "counts"}
    figure = work_lines([0.1, 10.0], {way: [1.0, 2.0] for way in MODES_OF_USE}, names=names, measured=True)
    assert [trace.name for trace in figure.data] == list(names.values())
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    assert len({trace.line.dash for trace in figure.data}) == 3
