"""Compare on many rows: what it costs is said before it begins, a sample is offered, and its bar never goes back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.datasets import load_dataset
from bayes_engine.decision.held_out import held_out
from bayes_engine.language import Message
from bayes_engine.models.naive_bayes import PRESETS, NaiveBayes
from bayes_engine.progress import steps, watching
from bayes_engine.table.roles import sample, take_apart
from bayes_engine.table.schema import Schema
from pages.active import models
from pages.runtime import job_queue, jobs
from pages.runtime.state import Spec, State
from pages.views.model.compare import expected
from tests.apptest.opened import listed, opened, seen, showing
from tests.cache_contents import forget
from tests.conftest import PATIENCE

IRIS = showing(State(table="iris", language="en", shelf=(Spec("laplace"),)), model_view="compare")
ALL = 150


def said(app: AppTest) -> str:
    return "\n".join(str(element.value) for element in [*app.markdown, *app.caption])


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table counts as one of many rows."""
    monkeypatch.setattr(expected, "ASKED", 0.001)
    monkeypatch.setattr(expected, "SAMPLES", (120, 60))
    forget()


@pytest.mark.slow
def test_what_takes_long_is_asked_for_before_anything_is_computed(long: None, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    for name in ("held_out", "repeated"):
        judge = getattr(models, name)
        monkeypatch.setattr(models, name, lambda *a, judge=judge, **k: calls.append(a) or judge(*a, **k))
    app = opened("model", IRIS)
    assert "Fitting and judging 2 models on all 150 rows is expected to take about 1 s of computing." in said(app)
    assert not calls and not app.get("plotly_chart")
    assert [b.label for b in app.button if str(b.key).startswith("compare_on")] == [
        "60 rows at random, about 1 s",
        "all 150 rows, about 1 s",
    ]
    app.button(key="compare_on_sample").click().run()
    assert "Judged on **60 of 150 rows**, drawn at random: of each class its share" in said(app)
    assert {len(X) for _model, X, *_others in calls} == {60}
    calls.clear()
    assert seen(app.session_state["state"], "compare_rows") == 60, "the link says it"
    data = load_dataset("iris")
    parts = sample(take_apart(data.frame, data.schema), 60)
    model = NaiveBayes(**PRESETS["laplace"], schema=data.schema.features).fit(parts.X, parts.y)
    held = held_out(model, parts.X, parts.y).in_order(data.schema.target.levels)
    accuracy = float((held.posterior()[0].argmax(axis=1) == held.truth).mean())
    assert f"is right on **{accuracy:.1%}**".replace("%", " %") in said(app) or f"{accuracy:.1%}" in said(app)
    app.selectbox(key="compare_rows").set_value(ALL).run()
    assert {len(X) for _model, X, *_others in calls} == {ALL} and "Judged on" not in said(app)
    assert len(listed(app, "compare_numbers")) == 2


def test_what_takes_a_moment_begins_unasked() -> None:
    app = opened("model", IRIS)
    assert "expected to take" not in said(app) and len(listed(app, "compare_numbers")) == 2


def test_rows_that_would_take_too_much_memory_are_not_offered(long: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "MOST_BYTES", 40_000)
    app = opened("model", showing(IRIS, compare_rows=ALL))  # nor does a link get them
    assert "It would take too much memory" in said(app) and not app.get("plotly_chart")
    assert [b.key for b in app.button if str(b.key).startswith("compare_on")] == ["compare_on_sample"]


@pytest.mark.slow
def test_the_bar_of_the_whole_page_never_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = (Spec("laplace"), Spec(family="lda"))
    state = showing(IRIS, compare_by="brier", calibrator="temperature")
    shown: list[float] = []
    bar = jobs.st.progress
    monkeypatch.setattr(jobs.st, "progress", lambda share, words: shown.append(share) or bar(share, words))
    monkeypatch.setattr(job_queue, "GRACE", 0.0)
    forget()
    app = opened("model", State(**{**vars(state), "shelf": shelf}))
    for _run in range(100):
        assert all(job.done.wait(PATIENCE) for job in list(jobs._jobs.values()))
        if not app.run().get("progress"):
            break
    assert not app.exception and not app.get("progress")
    assert len(shown) >= 10 and shown[0] < 0.3 and shown[-1] > 0.7
    assert all(one <= next_one for one, next_one in pairwise(shown))
    assert "progress" not in app.session_state


def test_every_stage_fills_its_own_part_of_the_bar() -> None:
    parts: list[jobs.Part | None] = []
    costs = expected.Expected("page", {"a": 1.0, "b": 3.0})
    for name in ("a", "b"):
        with costs.stage(name):
            parts.append(jobs._part.get())
    assert parts == [jobs.Part("page", 0.0, 0.25), jobs.Part("page", 0.25, 1.0)] and jobs._part.get() is None


def test_a_job_of_several_loops_does_not_go_back() -> None:
    job, told = job_queue.Job("a", Message("computing")), []

    def report(done: float, total: int) -> None:
        job.report(done, total)
        told.append(job.progress[0] / (job.progress[1] or 1))

    with watching(lambda: False, report, pace=0.0):
        for n in (10, 5):
            for _step in steps(range(n)):
                pass
    assert len(told) == 15 and max(told) == told[-1] == 0.9
    assert all(one <= next_one for one, next_one in pairwise(told))


def test_a_sample_keeps_the_shares_of_the_classes_and_whole_groups() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({
        "x": rng.normal(size=1000),
        "y": ["common"] * 900 + ["rare"] * 97 + ["once"] * 3,
        "of": [f"g{i // 10}" for i in range(1000)],
        "w": np.arange(1.0, 1001.0),
    })  # fmt: skip
    schema = Schema.from_dtypes(frame).with_role("y", "target").with_role("w", "weight").with_role("of", "ignore")
    drawn = sample(take_apart(frame, schema), 100)
    assert drawn.y.value_counts().to_dict() == {"common": 90, "rare": 10, "once": 3}
    assert drawn.weight is not None and (drawn.weight.to_numpy() == drawn.rows.to_numpy() + 1.0).all()
    assert (drawn.X["x"].to_numpy() == frame["x"].to_numpy()[drawn.rows]).all() and drawn.rows.is_monotonic_increasing
    grouped = sample(take_apart(frame, schema.with_role("of", "group")), 95)
    assert grouped.groups is not None and (grouped.groups.value_counts() == 10).all() and len(grouped.y) == 100
