"""The pages Start and Decisions: the sentence, the risks and the held-out figures are the engine's under the losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.feature_selection import f_classif
from streamlit.testing.v1 import AppTest

from bayes_engine import LossMatrix, NaiveBayes, load_dataset
from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.held_out import held_out
from bayes_engine.models.naive_bayes import PRESETS
from pages.runtime import state
from pages.runtime import view_keys as keys
from pages.runtime.state import Spec, State, decode, encode
from pages.shell.classroom import short
from tests.apptest.opened import edited, opened, sent_to, uploaded
from tests.conftest import slowly

MELONS = State(table="watermelon3a", language="en")


def said(app: AppTest) -> str:
    return "\n".join(str(m.value) for m in app.main.markdown)


def fitted() -> tuple[NaiveBayes, object, object]:
    melons = load_dataset("watermelon3a")
    X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    return NaiveBayes(**PRESETS[melons.info.preset]).fit(X, y), X, y


@pytest.mark.slow
def test_start_judges_its_melon_and_a_loss_turns_it() -> None:
    app = opened("start", MELONS)
    assert "Judged **good**" in said(app)
    edited(app, ((0.0, 1000.0), (1.0, 0.0)))  # deciding good of a bad one
    assert not app.exception and "Judged **bad** although" in said(app)
    assert app.session_state["state"].losses == ((0.0, 1000.0), (1.0, 0.0))
    app.button(key="preset_zero_one").click().run()
    assert "Judged **good**" in said(app)


@pytest.mark.slow
@pytest.mark.parametrize("dear", [1.0, 5.0])
def test_decisions_estimates_the_risk_of_the_losses_on_rows_left_out(dear: float) -> None:
    model, X, y = fitted()
    held, loss = held_out(model, X, y), LossMatrix(["是", "否"], ["是", "否"], [[0, dear], [1, 0]])
    ours = estimated_risk(held, loss)
    plain = estimated_risk(held, loss, decide_by=LossMatrix.zero_one(held.classes))
    app = opened("decisions", State(table="watermelon3a", language="en", losses=((0.0, dear), (1.0, 0.0))))
    shown = sent_to(app, "bayes_consequences")
    told = [shown["report"][k] for k in ("risk", "naive", "accuracy", "low", "high")]
    assert told == pytest.approx([ours.risk, plain.risk, ours.accuracy, *ours.interval])
    assert "leave-one-out, exact" in shown["scheme"]


@pytest.mark.slow
def test_a_prior_of_use_moves_the_posterior() -> None:
    before, after = (opened("decisions", replace(MELONS, prior=p)) for p in ((), (0.02, 0.98)))
    assert "Judged **good**" in said(before) and "Judged **bad**" in said(after)


def test_of_many_levels_decisions_draws_the_most_frequent_and_says_so() -> None:
    rows = "".join(f"p{i % 130:03},q{i * 7 % 130:03},{'yn'[i % 2]}\n" for i in range(390))
    app = uploaded(f"a,b,class\n{rows}".encode(), page="decisions")
    assert not app.exception
    captions = [c.value for c in app.caption]
    for name in "ab":
        drawn = (
            f"Of the 130 levels of {name} the 100 most frequent are drawn, and the rows and the case with one of them."
        )
        assert drawn in captions
    assert [len(sent_to(app, "bayes_plane")[side]["levels"]) for side in "xy"] == [100, 100]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "sugar"), [("start", 0.312), ("decisions", 0.313)])
def test_a_run_makes_one_token_and_explains_its_case_once(
    page: str, sugar: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def noted(owner: object, name: str) -> None:
        original = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given, **more: (made.append(name), original(*given, **more))[1])

    app = opened(page, replace(MELONS, case=(0.5, 0.311)))
    noted(state, "_link_token")
    noted(NaiveBayes, "explain")
    edited(app, ((0.0, 7.25), (1.0, 0.0)))
    assert not app.exception and made == ["_link_token"]
    app.session_state["state"] = replace(app.session_state["state"], case=(0.5, sugar))
    made.clear()
    app.run()
    assert not app.exception and sorted(made) == ["_link_token", "explain"]
    made.clear()
    app.run()
    assert not app.exception and not made


@pytest.mark.slow
def test_another_alpha_counts_no_row_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    count = NaiveBayes._count

    def noted(model: NaiveBayes, X: Any, labels: Any, target: Any) -> Any:
        counted.append(X.n)
        return count(model, X, labels, target)

    monkeypatch.setattr(NaiveBayes, "_count", noted)
    rows = "".join(f"{i % 7},{'uvw'[i % 3]},{'yn'[i % 2]}\n" for i in range(100))
    app = uploaded(f"a,b,class\n{rows}".encode(), page="decisions")
    assert sorted(counted) == [80] * 5 + [100]  # the folds of all of its kind, and the model
    counted.clear()
    before = sent_to(app, "bayes_consequences")["scene"]  # the digest of the posteriors of the rows held out
    app.session_state["state"] = replace(app.session_state["state"], shelf=(Spec("laplace", (("alpha", 90.0),)),))
    app.run()
    assert not counted and sent_to(app, "bayes_consequences")["scene"] != before


def axes_of(app: AppTest) -> list[int]:
    return [app.selectbox(key=key).value for key in ("axis_x", "axis_y")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", slowly("wine"), slowly("breast-cancer")])
def test_a_table_that_is_opened_shows_the_two_columns_of_most_difference(name: str) -> None:
    """Whatever columns it has then; an address that says nothing of axes shows the first two, as it always did."""
    data = load_dataset(name)
    numbers = data.frame[[v.name for v in data.schema.features]]
    f, _p = f_classif(numbers, data.frame[data.schema.target.name])
    fresh = State(language="en").on_table(name)
    app = opened("decisions", fresh)
    assert axes_of(app) == sorted(f.argsort()[-2:])
    app.session_state["state"] = replace(fresh, columns=((int(f.argmax()), "ignore", "", ()),))
    assert axes_of(app.run()) == sorted(np.delete(f, f.argmax()).argsort()[-2:])
    app.session_state["state"] = State(table=name, language="en")
    assert axes_of(app.run()) == [0, 1]
    app.session_state["state"] = fresh.showing(keys.AXIS_X.to(1), keys.AXIS_Y.to(0))
    assert axes_of(app.run()) == [1, 0]


def by_example(app: AppTest) -> None:
    app.button(key="open_loan").click().run()


def by_card(app: AppTest) -> None:
    app.button(key="use_iris").click().run()


def by_story(app: AppTest) -> None:
    app.button_group(key="story").select("hospital").run()


def by_file(app: AppTest) -> None:
    content = load_dataset("iris").frame.to_csv(index=False).encode()
    app.file_uploader(key="upload_file").set_value(("iris.csv", content, "text/csv")).run()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "way"),
    [("start", by_example), ("data", by_card), ("decisions", by_story), ("data", by_file)],
)
def test_every_way_to_open_a_table_says_what_its_planes_open_on(page: str, way: Callable[[AppTest], None]) -> None:
    app = opened(page, MELONS)
    way(app)
    now = app.session_state["state"]
    assert now.table != MELONS.table and now.seen(keys.AXES_AT_FIRST) == "discriminating"
    assert decode(encode(now)) == now and short(now).seen(keys.AXES_AT_FIRST) == "discriminating"
