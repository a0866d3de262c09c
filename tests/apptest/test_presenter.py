"""Presenter mode: the button begins and ends it, smoothing and λ stay at hand, and a lesson's steps stay in it."""

from __future__ import annotations

import pytest

from bayes_engine.workbench.lessons.lesson_format import Lesson, LessonList
from bayes_engine.workbench.lessons.lesson_list import write_list
from pages.active import lesson_in_use, own_lessons
from pages.active.files import LESSONS
from pages.runtime.state import State
from tests.apptest.opened import give, opened, seen, showing
from tests.conftest import slowly

MELONS = State(language="en", table="watermelon3")


@pytest.mark.slow
def test_the_button_begins_it_and_the_bar_ends_it() -> None:
    app = opened("case", MELONS)
    assert not [b for b in app.button if b.key == "presenter_leave"]
    app.button(key="present").click().run()
    assert seen(app.session_state["state"], "presenting")
    app.button(key="presenter_leave").click().run()
    assert not app.exception and not seen(app.session_state["state"], "presenting")


@pytest.mark.slow
def test_smoothing_and_losses_are_changed_where_one_presents() -> None:
    app = opened("case", showing(MELONS, presenting=True))
    app.slider(key="presenter_alpha_slider").set_value(2.0).run()
    assert app.session_state["state"].shelf[0].parameters == (("alpha", 2.0), ("smoothing", "all"))
    app.number_input(key="presenter_loss_1_0").set_value(9.0).run()
    assert not app.exception and app.session_state["state"].losses == ((0.0, 1.0), (9.0, 0.0))


WATERMELONS = State(language="en", table="watermelon2")
BDEU = (("net", "table"), ("net_tab", "learn"), ("net_score", "bdeu"))


@pytest.mark.parametrize(
    ("page", "state", "at_hand"),
    [  # the smoothing that the figure depends on, and whether it depends on λ
        slowly("start", MELONS, ("presenter_alpha_slider", True)),
        ("data", MELONS, ("", False)),
        slowly("model", MELONS, ("presenter_alpha_slider", False)),
        slowly("model", showing(MELONS, model_view="compare"), ("presenter_alpha_slider", True)),
        slowly("decisions", MELONS, ("presenter_alpha_slider", True)),
        slowly("case", MELONS, ("presenter_alpha_slider", True)),
        slowly("case", showing(MELONS, case_view="nomogram"), ("presenter_alpha_slider", True)),
        slowly("case", showing(MELONS, case_view="ask"), ("presenter_alpha_slider", True)),
        ("classify", MELONS, ("presenter_alpha_slider", True)),
        slowly("dependence", WATERMELONS, ("", False)),  # counted, not smoothed
        slowly("dependence", showing(WATERMELONS, dependence_tab="super-parents"), ("", False)),
        slowly("dependence", showing(WATERMELONS, dependence_tab="dial"), ("presenter_own", True)),
        slowly("dependence", showing(WATERMELONS, dependence_tab="twice"), ("presenter_own", True)),
        slowly("dependence", showing(WATERMELONS, dependence_tab="doubled"), ("presenter_own", False)),
        slowly("network", State(language="en", view=(("net", "asia"), ("net_tab", "ask"))), ("", False)),
        slowly("network", showing(WATERMELONS, net="table", net_tab="ask"), ("presenter_own", False)),
        ("network", showing(WATERMELONS, net_tab="hidden"), ("presenter_own", False)),
        slowly("network", WATERMELONS.showing(*BDEU), ("presenter_own", False)),
        slowly("network", showing(WATERMELONS, net="table", net_tab="learn"), ("", False)),
        slowly("projection", MELONS, ("", False)),
        slowly("hidden", State(language="en"), ("", False)),
        slowly("laboratory", MELONS, ("", False)),  # its losses stand beside the figure
        slowly("laboratory", showing(MELONS, lab_tab="smoothing"), ("presenter_own", True)),
        ("laboratory", showing(MELONS, lab_tab="fitted"), ("", False)),
        ("laboratory", showing(MELONS, lab_tab="rare", lab_rare_of="sms-spam-zh"), ("presenter_own", False)),
    ],
)
def test_what_a_figure_depends_on_is_at_hand_and_nothing_else(
    page: str, state: State, at_hand: tuple[str, bool]
) -> None:
    app = opened(page, showing(state, presenting=True))
    sliders = [s.key for s in app.slider if (s.key or "").startswith("presenter_")]
    losses = [s.key for s in app.number_input if (s.key or "").startswith("presenter_loss")]
    assert (",".join(sliders), bool(losses)) == at_hand


@pytest.mark.slow
def test_the_smoothing_of_a_page_is_changed_where_one_presents() -> None:
    app = opened("laboratory", showing(MELONS, lab_tab="smoothing", presenting=True))
    app.slider(key="presenter_own").set_value(5.0).run()
    assert not app.exception and seen(app.session_state["state"], "lab_m") == 5.0
    app = opened("network", showing(WATERMELONS, net_tab="hidden", presenting=True))
    app.slider(key="presenter_own").set_value(3.0).run()
    assert not app.exception and seen(app.session_state["state"], "net_alpha") == 3.0


@pytest.mark.slow
def test_steps_stay_in_presenter_mode_and_a_step_of_a_list_does_not_hold_it() -> None:
    state = lesson_in_use.begun("naive-bayes", showing(MELONS, presenting=True))
    assert seen(state, "presenting") and seen(state.on_table("iris"), "presenting")
    app = opened("case", state)
    steps = LessonList("", (Lesson(title="One", page="case", state={"view": {"presenting": True}}),))
    mark = give(app, LESSONS, "one.toml", write_list(steps).encode())
    app.session_state["state"] = showing(MELONS, own_list=mark, chapter_part="own")
    app.switch_page("pages/chapter.py").run()
    app.button(key="own_begin").click().run()
    now = app.session_state["state"]
    assert not app.exception and not seen(now, "presenting") and seen(now, "own_step") == 0
    assert "view" not in own_lessons.values_of(showing(State(), presenting=True, own_list="0" * 16))


@pytest.mark.slow
def test_a_table_that_cannot_be_fitted_presents_nothing_and_does_not_fail() -> None:
    app = opened("start", showing(State(language="en", columns=((0, "ignore", "", ()),)), presenting=True))
    assert not app.exception
