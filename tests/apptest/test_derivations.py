"""Derivations where their formulas stand: they open, step, say where they do not go, and lessons lead to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.workbench.derivation.chains.chain import TITLES
from bayes_engine.workbench.lessons.built_in import lessons
from pages.active import derived, lesson_in_use
from pages.runtime.state import START, State
from tests.apptest.opened import opened, seen, showing
from tests.conftest import slowly


def lines(app: AppTest) -> int:
    return len(formulas(app)) // 2


def formulas(app: AppTest) -> list[str]:
    return [e.value for e in app.markdown if e.value.startswith("$$")]


def shows(app: AppTest, name: str) -> bool:
    return any(e.value.startswith(f"**{TITLES[name].local()}**") for e in app.markdown)


def example(name: str, **settings: Any) -> State:
    return showing(derived.on_example(name, State(language="en")), **settings)


@pytest.mark.parametrize("language", ["zh", slowly("en")])
@pytest.mark.parametrize("name", [name if name == "gibbs" else slowly(name) for name in TITLES])
def test_a_derivation_opens_on_its_example_line_by_line(name: str, language: str) -> None:
    at = replace(example(name), language=language)
    app = opened(derived.STANDINGS[name].page, at)
    assert lines(app) == 1
    app = opened(derived.STANDINGS[name].page, showing(at, derived_line=-1))
    assert lines(app) >= 6
    assert not any(":material/error:" in e.value for e in app.caption)


@pytest.mark.slow
def test_a_choice_opens_the_first_line_and_closes() -> None:
    app = opened("projection", State(language="en", table="watermelon3a"))
    assert lines(app) == 0
    choice = next(w for w in app.get("button_group") if w.key == "derived_projection")
    choice.set_value("scatter").run()
    assert lines(app) == 1 and seen(app.session_state["state"], "derived_line") == 1
    choice = next(w for w in app.get("button_group") if w.key == "derived_projection")
    choice.set_value("").run()
    assert lines(app) == 0 and seen(app.session_state["state"], "derived") == ""


@pytest.mark.slow
def test_smoothing_and_column_change_the_numbers() -> None:
    at = example("laplace", derived_line=-1)
    one = formulas(opened("model", at))
    more = replace(at, shelf=(replace(at.shelf[0], parameters=(("alpha", 2.0),)),))
    assert formulas(opened("model", more)) != one
    assert formulas(opened("model", showing(at, column=0))) != one
    assert formulas(opened("model", showing(at, cell=(0, 1)))) != one


@pytest.mark.parametrize(
    ("name", "state", "key"),
    [
        slowly("laplace", State(language="en", table="watermelon3", view=(("column", 6),)), "nearest"),
        ("laplace", State(language="en", table="iris"), "example"),
        ("gaussian", State(language="en", table="watermelon2"), "example"),
        slowly("scatter", State(language="en", table="watermelon2"), "example"),
        slowly("ratio-trace", State(language="en", table="watermelon2"), "example"),
        ("boundary", State(language="en", table="watermelon3a", losses=((1.0, 0.0), (1.0, 0.0))), "example"),
        ("em", State(language="en", table="iris", view=(("em_part", "none"),)), "nearest"),
        slowly("em", State(language="en", table="watermelon2"), "example"),
    ],
)
def test_where_a_derivation_does_not_go_one_click_leads_to_where_it_does(name: str, state: State, key: str) -> None:
    page = derived.STANDINGS[name].page
    app = opened(page, state.showing(*derived.opening(name)))
    assert lines(app) == 0 and any(TITLES[name].local() in e.value for e in app.info)
    app.button(key=f"derived_{key}_{name}").click().run()
    assert not app.exception and app.session_state["page"] == page
    assert lines(app) == 1 and shows(app, name)


@pytest.mark.slow
def test_too_many_states_are_said_with_a_way_to_an_example() -> None:
    learned = State(language="en", table="watermelon2", view=(("net", "table"),))
    app = opened("network", derived.opened("gibbs", learned))
    assert lines(app) == 0 and any("joint states" in e.value for e in app.info)
    assert app.button(key="derived_example_gibbs")


@pytest.mark.slow
def test_prior_of_use_losses_and_case_change_the_boundary() -> None:
    at = example("boundary", derived_line=-1)
    one = formulas(opened("projection", at))
    for other in (
        replace(at, prior=(0.2, 0.8)),
        replace(at, losses=((0.0, 5.0), (1.0, 0.0))),
        replace(at, case=(0.5, 0.2)),
        showing(at, line_x=1, line_y=0),
    ):
        assert formulas(opened("projection", other)) != one


@pytest.mark.slow
def test_the_step_of_em_and_its_kind_change_the_bound() -> None:
    at = example("em", derived_line=-1)
    one = formulas(opened("hidden", at))
    for settings in ({"em_step": 2}, {"em_hard": True}, {"em_k": 2}, {"em_prior": True}):
        assert formulas(opened("hidden", showing(at, **settings))) != one


@pytest.mark.slow
def test_evidence_tables_and_arcs_change_the_network_s() -> None:
    at = example("gibbs", derived_line=-1)
    one = formulas(opened("network", at))
    assert formulas(opened("network", showing(at, net_evidence=((3, 1),)))) != one
    assert formulas(opened("network", showing(at, net_cpts=((0, (0.2, 0.8)),)))) != one
    learned = example("mdl", derived_line=-1)
    two = formulas(opened("network", learned))
    assert formulas(opened("network", showing(learned, net_score="aic"))) != two
    assert formulas(opened("network", replace(learned, table="watermelon3"))) != two


@pytest.mark.parametrize(
    ("lesson", "name"),
    [
        (pytest.param if lesson == "structure-score" else slowly)(lesson, name)
        for lesson, one in lessons().items()
        for name in one.derivations
    ],
)
def test_a_lesson_goes_deeper_by_its_derivations(lesson: str, name: str) -> None:
    begun = lesson_in_use.begun(lesson, replace(START, language="en"))
    app = opened(lessons()[lesson].page, begun)
    app.button(key=f"lesson_derivation_{name}").click().run()
    assert not app.exception and app.session_state["page"] == derived.STANDINGS[name].page
    assert lines(app) == 1 and shows(app, name)
    assert seen(app.session_state["state"], "lesson") == lesson
