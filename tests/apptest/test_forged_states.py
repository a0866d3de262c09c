"""Addresses made by hand: states of every page, mutated. The whole form is checked once, at the door, and what it lets
in opens without an exception."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.workbench.derivation import dependence
from pages.runtime.state import State, decode, encode, state_from_json
from pages.runtime.view_keys import KEYS
from tests.apptest.opened import APP, uploaded
from tests.conftest import PATIENCE
from tests.fixtures.addresses import ADDRESSES, at, spec

PAGES = (*dict.fromkeys(address.page for address in ADDRESSES), "chapter")
LESSONS = ("laplace-correction", "spam-words", "no such lesson", "own", "0", "../laplace-correction", "")
ANSWERS = ("", "0", "1/2", "nan", "0.5;", "*", "2**9999", "[1", "0,5", "\ud800")
CHAPTER: tuple[dict[str, Any], ...] = tuple(
    {"view": [["chapter_part", part], ["lesson", lesson], ["lesson_answer", answer], ["lesson_shown", True],
              ["own_list", "0" * 64], ["own_step", "1"], ["own_given", "1"]]}
    for part, lesson, answer in zip(("lessons", "words", "errata", "examples", "own"), LESSONS, ANSWERS, strict=False)
)  # fmt: skip
"""States of the chapter, and of a lesson that runs on it."""
EACH = 180
DEAR = {"dependence": 60, "decisions": 140}
"""Mutated states a page: 2,000 and a few over all pages. All go through the door; of every ninth the page opens."""
ODD = (
    None, True, False, 0, 1, -1, 2, 3, 7, 99, 10**6, 2**53, -(2**53), 0.5, -0.5, 1e-300, 1e300, -1e300, "", "a", "-1",
    "nan", "upload:", "file:", "table", "own", "\ud800", "x" * 600, "青", "__class__", "{name}", [], [[]], [0], [-1],
    [0, 0], [1, 0], [[0, 0]], [[1, 0], [0, 1]], [[0, 1], [0, 1]], ["", ""], {}, {"": 0}, [{}], [None], [True],
)  # fmt: skip
"""What a value is exchanged for."""
KINDS = ("categorical", "binary", "continuous", "count", "text", "date", "identifier", "constant", "empty", "")
ROLES = ("feature", "target", "ignore", "id", "group", "weight", "amount", "")
REPAIRS = ("drop-duplicates", "drop-rare", "merge-spellings", "merge-look-alikes", "infinite-missing", "value-missing",
           "outliers-missing", "text-missing", "days")  # fmt: skip
TABLES = ("watermelon3", "watermelon3a", "watermelon2", "iris", "play-tennis", "loan", "penguins", "spam-words")


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) below a value."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [found for key in keys for found in ((value, key), *places(value[key]))]


def mutated(state: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A state of which some things are other ones, as a person could write them by hand."""
    state = copy.deepcopy(state)
    for _ in range(rng.choice((1, 1, 2, 3))):
        match rng.randrange(8):
            case 0:
                container, key = rng.choice(places(state))
                container[key] = rng.choice(ODD)
            case 1:
                container, key = rng.choice(places(state))
                if isinstance(container, list):
                    container.insert(rng.choice((0, len(container))), copy.deepcopy(container[key]))
            case 2:
                container, key = rng.choice(places(state))
                del container[key]
            case 3:
                value = rng.choice((rng.choice(ODD), rng.randrange(12), [rng.randrange(9) for _ in range(3)],
                                    [[rng.randrange(9), rng.randrange(9)] for _ in range(2)]))  # fmt: skip
                key = KEYS[rng.choice(list(KEYS))]
                value = rng.choice(key.options) if key.options and rng.random() < 0.7 else value
                value = rng.choice(LESSONS) if key.name == "lesson" else value
                value = rng.choice(ANSWERS) if key.name == "lesson_answer" else value
                view = state.get("view")
                state["view"] = [*(view if isinstance(view, list) else ()), [key.name, value]]
            case 4:
                role, kind = rng.choice(ROLES), rng.choice(KINDS)
                column = [rng.randrange(9), role, kind, rng.choice(([], [], [1, 0], ["a"], [0, 0], ["nan", 1]))]
                state["columns"] = [*(state.get("columns") or ()), column, *([column] if rng.random() < 0.2 else [])]
            case 5:
                repair = [rng.choice(REPAIRS), rng.randrange(-1, 9), rng.choice((0, 1, -1, 3.5, -2))]
                state["repairs"] = [*(state.get("repairs") or ()), repair]
            case 6:
                family = rng.choice(("naive-bayes", "weighted", "selective", "spode", "tan", "aode", "k-db", "network",
                                     "lda", "qda"))  # fmt: skip
                parameters = {name: rng.choice(ODD) for name in rng.sample(PARAMETERS, 3)}
                state["shelf"] = [*(state.get("shelf") or ()), spec(family, **parameters)]
            case 7:
                state["table"] = rng.choice(TABLES)
    return state


PARAMETERS = ("alpha", "alphas", "priors", "tied_variance", "discretize", "likelihoods", "terms", "counting", "bins",
              "k", "structure", "criterion", "max_parents", "min_frequency", "calibration", "shrinkage", "root",
              "super_parent", "smoothing", "missing", "unseen", "var_floor", "largest", "direction")  # fmt: skip


def crash(page: str, text: str) -> str:
    """What the page of a state says when it trips; "" where it does not, or where the door refuses the state."""
    state = state_from_json(text)
    if state is None:
        return ""
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    app.query_params["s"] = encode(state)
    app.switch_page(f"pages/{page}.py").run()
    return f"{app.exception[0].message}\n{''.join(app.exception[0].stack_trace)}" if app.exception else ""


def mutants(page: str, n: int = 0) -> list[str]:
    rng = random.Random(page)
    states = [address.state for address in ADDRESSES if address.page == page] or list(CHAPTER)
    return [json.dumps(mutated(rng.choice(states), rng)) for _ in range(n or DEAR.get(page, EACH))]


@pytest.fixture
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """By how many drawn tables a p-value is known trips no page: some, instead of thousands for each mutant."""
    drawn = dependence.drawn_p_value
    monkeypatch.setattr(dependence, "drawn_p_value", lambda table, draws, **how: drawn(table, min(draws, 199), **how))


@pytest.mark.slow
@pytest.mark.usefixtures("_few_draws")
@pytest.mark.parametrize("page", PAGES)
def test_no_page_trips_over_a_mutated_state(page: str) -> None:
    crashes = {text: said for text in mutants(page)[::9] if (said := crash(page, text))}
    assert not crashes


@pytest.mark.slow
def test_what_the_door_lets_in_can_be_hashed_and_written() -> None:
    states = [state for page in PAGES for text in mutants(page) if (state := state_from_json(text)) is not None]
    assert len(states) > 1000
    for state in states:
        assert isinstance(hash(state), int)
        assert decode(encode(state)) == state
        assert len({entry[0] for entry in state.columns}) == len(state.columns)


@pytest.mark.parametrize(
    "state",
    [
        {"columns": [[0, "", "date", []]]},
        {"columns": [[0, "", "constant", []]]},
        {"columns": [[-1, "ignore", "", []]]},
        {"columns": [[1, "ignore", "", []], [1, "feature", "", []]]},
    ],
)
def test_what_nobody_may_choose_is_no_state(state: dict[str, Any]) -> None:
    assert state_from_json(json.dumps(state)) is None


@pytest.mark.parametrize(
    ("page", "state"),
    [
        ("model", {"shelf": [["textbook", [["terms", {}]], "naive-bayes"]]}),
        ("hidden", at("watermelon3", {"em_part": "some"}, columns=[[7, "target", "binary", []]])),
        ("case", at("sms-spam", repairs=[["text-missing", 0, 1]])),
        ("start", at("german-credit", repairs=[["text-missing", 1, 1], ["text-missing", 2, 0]])),
    ],
)
def test_a_link_that_tripped_a_page_opens_it(page: str, state: dict[str, Any]) -> None:
    assert not crash(page, json.dumps(state))


@pytest.mark.parametrize(("page", "view"), [("hidden", {"em_part": "some"}), ("network", {"net": "table"})])
@pytest.mark.parametrize("kind", ["", "categorical", "binary"])
def test_a_constant_target_is_refused_in_words(page: str, view: dict[str, Any], kind: str) -> None:
    rows = "".join(f"{i % 7},{'ab'[i % 2]},k\n" for i in range(30))
    app = uploaded(f"x,y,c\n{rows}".encode(), page=page, state=State(columns=((2, "target", kind, ()),)), **view)
    assert any("'c'" in e.value for e in (*app.error, *app.warning, *app.info)), [
        e.value for e in (*app.error, *app.warning, *app.info)
    ]
