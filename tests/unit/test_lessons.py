"""Lessons as data: their TOML, what is said of a broken one, and the quantities that they ask for."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from bayes_engine import NaiveBayes, Schema, Variable
from bayes_engine.datasets import datasets_folder
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError
from bayes_engine.structure.graph import DAG
from bayes_engine.workbench.derivation.check import mark
from bayes_engine.workbench.lessons.built_in import contents, lessons, of_section
from bayes_engine.workbench.lessons.choices import options_of, problem_of_question, right_option
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity
from bayes_engine.workbench.lessons.lesson_toml import line_of, parse_lesson
from bayes_engine.workbench.lessons.predictions import PREDICTIONS
from bayes_engine.workbench.lessons.quantities.registry import QUANTITIES
from pages import active
from pages.active import lesson_in_use
from pages.active.case_and_losses import pick_row
from pages.active.on_screen import answer_in_use
from pages.active.shelf import active_place, edit_active_model, with_prior_strength
from pages.runtime import view_keys as keys
from pages.runtime.state import START, Spec, State, decode, encode
from pages.shell.frame import places
from pages.shell.presented import PRESENTED
from tests.conftest import one_in

Ask = Callable[[AskedQuantity, State], float]
CONCEPTS, OPEN_QUESTIONS = range(1, 28), range(1, 6)
T7 = 2.364624
"""The 97.5 % point of Student's t with 7 degrees of freedom."""
FOLDER = datasets_folder() / "chapter" / "lessons"
PAGES = {place.file.removeprefix("pages/").removesuffix(".py") for place in places()}
SAMPLE = (FOLDER / "laplace-correction.toml").read_text(encoding="utf-8")


@pytest.fixture
def on_screen(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """A function that asks a quantity of a state."""

    def ask(asked: AskedQuantity, state: State) -> float:
        monkeypatch.setattr(st, "session_state", {"state": state})
        return answer_in_use(asked)

    return ask


def test_every_concept_and_open_question_is_a_lesson() -> None:
    every = lessons().values()
    assert {n for lesson in every for n in lesson.concepts} == set(CONCEPTS)
    assert {n for lesson in every for n in lesson.open_questions} == set(OPEN_QUESTIONS)
    assert all(lesson.concepts or lesson.open_questions for lesson in every)


def test_sections_are_numbered_without_a_gap() -> None:
    for section in contents().sections:
        assert [lessons()[name].place for name in of_section(section.name)] == list(
            range(1, len(of_section(section.name)) + 1)
        )
    assert sum(len(of_section(section.name)) for section in contents().sections) == len(lessons())


@pytest.mark.parametrize("name", one_in(3, lessons()))
def test_a_lesson_opens_and_its_answer_follows_the_state(name: str, on_screen: Ask) -> None:
    lesson = lessons()[name]
    begins, changed = lesson_in_use.begun(name, START), lesson_in_use.with_values(name, lesson.change, START)
    before, after = (on_screen(lesson.answer, state) for state in (begins, changed))
    assert mark(f"{before:.6g}", before) == "right"
    assert mark(f"{before:.6g}", after) == "wrong"  # the thing to try changes it by what three digits show
    assert {lesson.page, lesson.deeper.page} <= PAGES
    for state in (begins, changed, lesson_in_use.with_values(name, lesson.deeper.state, START)):
        assert decode(encode(state)) == state and len(encode(state)) < 1500


@pytest.mark.parametrize(
    ("name", "value"),
    [  # worked by hand, by the book, or by what else tests/golden has
        ("bayes-theorem", 0.009 / (0.009 + 0.0891)),
        ("laplace-correction", 1 / 11),
        ("naive-bayes", 0.998692),
        ("where-to-smooth", 0.997568),
        ("mean-and-spread", 1.9590),
        ("maximum-likelihood", NormalDist(0.57375, 0.12921 * (7 / 8) ** 0.5).pdf(0.697)),
        ("density-above-one", float(np.log(1.9590 / 1.2033))),
        ("combinatorial-explosion", 2),
        ("conditional-mutual-information", float(np.log(8 / 5))),
        ("averaged-one-dependence", 0.963299),
        ("d-separation", 0.0),
        ("gibbs-sampling", 0.4298),
        ("exercise-7-1", 5 / 8),
        ("exercise-7-2", 0.0),
        ("exercise-7-3", 0.996996),
        ("exercise-7-7", 12 * 30 - 20 - 32),
    ],
)
def test_answers_are_those_that_are_known(name: str, value: float, on_screen: Ask) -> None:
    assert on_screen(lessons()[name].answer, lesson_in_use.begun(name, START)) == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize(
    ("asked", "state", "value"),
    [
        (("least_risk", {}), State(table="watermelon3"), 1 - 0.998692),
        (("flip_prior", {"class": "是"}), State(table="watermelon3"), 0.00116),
        (("mean", {"column": "密度", "class": "是"}), State(table="watermelon3"), 0.57375),
        (
            ("mean_low", {"column": "密度", "class": "是"}),
            State(table="watermelon3"),
            0.57375 - 2.3646 * 0.12921 / 8**0.5,
        ),
        (("mixture_steps", {}), State(table="iris"), None),
        (("mixture_objective", {}), State(table="iris", view=(("em_k", 3), ("em_x", 2), ("em_y", 3))), -135.311),
        (("hidden_right", {}), State(table="iris", view=(("em_share", 40),)), None),
        (("arcs", {}), State(view=(("net", "asia"),)), 8),
        (("model_numbers", {"what": "factor_free"}), State(table="watermelon2"), 23),
        (("information", {"a": "根蒂", "b": "脐部"}), State(table="watermelon2"), 0.5975),
        (("tree_weight", {}), State(table="watermelon2"), 1.93324),
        (("separation", {}), State(table="iris", view=(("line_x", 2), ("line_y", 3))), None),
        (("correlation_within", {"step": "raw"}), State(table="iris"), (0.74255 + 0.52591 + 0.45723) / 3),
        (("underflow_columns", {}), State(view=(("lab_tab", "underflow"), ("lab_p", 0.3), ("lab_d", 1000))), 619),
        (("least_rows", {"order": "worst"}), State(), 420),
        (
            ("likelihood_peak", {"parameter": "sd"}),
            State(table="watermelon3", view=(("lab_tab", "fitted"), ("lab_fitted_column", 6), ("lab_fitted_class", 1))),
            0.12921 * (7 / 8) ** 0.5,
        ),
        (
            ("cpt_cell", {"column": "敲声", "level": "沉闷", "class": "否"}),
            State(table="watermelon3", shelf=(Spec("zero-only"),)),
            3 / 9,
        ),
        (("likelihood_peak", {"parameter": "mean"}), State(view=(("lab_tab", "likelihood"),)), 5.7037),
    ],
)
def test_quantities_that_no_built_in_lesson_asks_for(
    asked: tuple[str, dict[str, str]], state: State, value: float | None, on_screen: Ask
) -> None:
    found = on_screen(AskedQuantity(*asked), state)
    assert found >= 1 if value is None else found == pytest.approx(value, abs=2e-4)


def test_every_quantity_is_tried() -> None:
    no_lesson = "least_risk flip_prior mean mean_low mixture_steps mixture_objective hidden_right arcs model_numbers"
    asks_for = "information tree_weight separation correlation_within underflow_columns least_rows likelihood_peak"
    others = {*no_lesson.split(), *asks_for.split()}
    assert {lesson.answer.quantity for lesson in lessons().values()} | others == set(QUANTITIES)


def test_a_large_loss_parts_naive_bayes_from_the_bayes_rule(on_screen: Ask) -> None:
    lesson = lessons()["exercise-7-2"]
    state = lesson_in_use.with_values("exercise-7-2", lesson.change, START)
    # A or B in each half: the posterior is 2/3, naive Bayes' 8/9; deciding A costs 5/3 where deciding B costs 2/3
    assert on_screen(lesson.answer, state) == pytest.approx(0.5 * (5 / 3 - 2 / 3))


def test_a_quantity_without_a_value_says_why(on_screen: Ask) -> None:
    melons = State(table="watermelon3")
    for asked, why in (
        (AskedQuantity("posterior", {"class": "ripe"}), "there is no 'ripe' here, but"),
        (AskedQuantity("mean", {"column": "色泽", "class": "是"}), "has no mean here"),
        (AskedQuantity("cpt_cell", {"column": "密度", "level": 1, "class": "是"}), "has no levels here"),
        (AskedQuantity("factor", {"column": "重量", "class": "是"}), "adds nothing here"),
        (AskedQuantity("log_odds", {"for": "是", "against": "否"}), "is not finite here"),
        (AskedQuantity("likeliest_density"), "shows no column of the table"),
        (AskedQuantity("network_posterior", {"class": "是"}), "is not learned from the table"),
    ):
        crisp = State(table="watermelon3", case=(0, 0, 2, 0, 0, 0, 0.697, 0.46))  # P(good | x) = 0 without smoothing
        state = crisp if "finite" in why else melons
        with pytest.raises(BayesEngineError, match=why):
            on_screen(asked, state)


def test_leaving_a_lesson_keeps_all_else() -> None:
    state = lesson_in_use.begun("naive-bayes", State(language="zh", labels="file"))
    assert (state.language, state.labels) == ("zh", "file")
    left = lesson_in_use.left(state)
    assert left.view == () and (left.table, left.case, left.language) == (state.table, state.case, "zh")
    assert dict(state.on_table("iris").view) == {"lesson": "naive-bayes", "axes": "discriminating"}


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('title = "', 'titel = "', 1, "key 'titel' is not known here"),
        ("place = 2", 'place = "second"', 4, "key 'place' must be int"),
        ("concepts = [7]", "concepts = 7", 5, "key 'concepts' must be a list"),
        ('quantity = "cpt_cell"', 'quantity = "cpt"', 14, "there is no quantity 'cpt'"),
        ('level = "清脆", ', "", 14, "has the arguments column, level, class, not column, class"),
        ('column = "敲声"', "column = 2", 14, "the argument 'column' is a text"),
        ('page = "case"\n\n[state]', 'page = "../case"\n\n[state]', 15, "there is no such page"),
        ("formula = '", "formula = '$", 12, "a formula stands on one line"),
        ('table = "watermelon3"', "table = 2026-11-24", 17, "a state holds no date"),
        ("shelf = [", "shelf = {", 20, "is not valid TOML"),
    ],
)
def test_a_broken_lesson_says_what_is_wrong_in_which_line(old: str, new: str, line: int, says: str) -> None:
    broken = SAMPLE.replace(old, new, 1)
    assert broken != SAMPLE
    with pytest.raises(BayesEngineError) as error:
        parse_lesson(broken, "mine.toml")
    assert says in str(error.value)
    assert f"'mine.toml:{line}'" in str(error.value) or f"line {line}" in str(error.value)


def test_too_many_words_are_refused() -> None:
    words = lessons()["laplace-correction"].words
    with pytest.raises(BayesEngineError, match="words are too many; at most 80"):
        parse_lesson(SAMPLE.replace(words, "word " * 81), "mine.toml")
    zh = lessons()["laplace-correction"].words_zh
    with pytest.raises(BayesEngineError, match="131 characters are too many"):
        parse_lesson(SAMPLE.replace(zh, "字" * 131), "mine.toml")
    with pytest.raises(BayesEngineError, match="longer than"):
        parse_lesson("#" * 20_001, "mine.toml")


def test_a_state_that_is_none_is_refused() -> None:
    for values in ({"table": 3}, {"losses": [[float("inf")]]}, {"unknown": 1}, {"active": 7}, {"view": [1]}):
        with pytest.raises(BayesEngineError, match="none that the app knows"):
            lesson_in_use.opened_by(values, START)


@pytest.mark.slow
def test_no_file_breaks_the_reader() -> None:
    """Whatever is cut out, doubled or exchanged: a lesson, or an error that is said."""
    rng = random.Random(22)
    pieces = [*"[]{}='", '"', "\n", "nan", "1e999", "[[state]]", "true", '"""', "9" * 5000, "[" * 3000]
    for _n in range(400):
        text = SAMPLE
        for _change in range(rng.randint(1, 4)):
            i, j = sorted(rng.randrange(len(text)) for _end in range(2))
            text = text[:i] + rng.choice(["", text[i : i + 30], *pieces]) + text[min(j, i + rng.randrange(60)) :]
        with suppress(BayesEngineError):
            lesson_in_use.opened_by(parse_lesson(text, "fuzzed.toml").state, START)


def test_a_line_inside_long_texts_is_none_of_the_keys() -> None:
    text = 'a = """\nb = 1\n[c]\n"""\nb = 2\n[c]\nd = 3\n[c.e]\nf = 4'
    assert [line_of(text, key) for key in ("a", "b", "c.d", "c.e.f", "c.x", "z")] == [1, 5, 7, 9, 6, 1]


@pytest.mark.parametrize("name", lessons())
def test_a_lesson_is_as_short_as_it_should_be(name: str) -> None:
    """80 words; in Chinese 130 characters, which say as much: an English word is 1.6 of them. What stands between them
    in Latin letters or digits, formulas and names, counts by the word, as in English."""
    lesson = lessons()[name]
    latin = re.findall(r"[A-Za-z0-9]+(?:[.\-'’][A-Za-z0-9]+)*", lesson.words_zh)
    chinese = sum("\u4e00" <= sign <= "\u9fff" for sign in lesson.words_zh)
    assert 0 < len(lesson.words.split()) <= 80
    assert 0 < chinese <= 130 and chinese / 1.6 + len(latin) <= 80
    assert all((lesson.task, lesson.task_zh, lesson.question, lesson.question_zh, lesson.answer, lesson.deeper))


def test_the_glossary_errata_and_examples_lead_somewhere() -> None:
    chapter = contents()
    assert {one.lesson for one in chapter.corrections} <= set(lessons())
    for term in chapter.terms:  # each on its word's own screen: tests/browser/test_glossary.py
        assert term.lesson in lessons() if term.lesson else term.page in PAGES
        assert lesson_in_use.opened_by(term.state, START)
    assert (
        len({term.en for term in chapter.terms}) == len({term.zh for term in chapter.terms}) == len(chapter.terms) == 32
    )
    for example in chapter.examples:
        assert example.page in PAGES and lesson_in_use.opened_by(example.state, START)


IN_THE_SOURCES = {
    "000: the loan applicant (Male, No, 120K)": (
        "Loan default",
        AskedQuantity("posterior", {"class": "No"}),
        1 - 1.971e-7,
    ),
    "002: test melon 1": ("Watermelon 3.0, as printed", AskedQuantity("posterior", {"class": "是"}), 0.998692),
    "002: a crisp knock, 0/8": (
        "Watermelon 3.0, a crisp knock",
        AskedQuantity("cpt_cell", {"column": "敲声", "level": "清脆", "class": "是"}),
        1 / 11,
    ),
    "002: A1A2A3 = 100, the zero repaired": (
        "Three binary attributes, query 100, the zero repaired",
        AskedQuantity("posterior", {"class": 0}),
        (2 / 45) / (2 / 45 + 1 / 40),
    ),
    "002: the weight-lifter": ("The weight-lifters", None, 0.0),
    "the same melon under Laplace's correction": (
        "Watermelon 3.0, Laplace correction",
        AskedQuantity("posterior", {"class": "是"}),
        0.996996,
    ),
    "the same melon, zeros only": ("Watermelon 3.0, zeros only", AskedQuantity("posterior", {"class": "是"}), 0.997568),
    "the same melon, variance over n": (
        "Watermelon 3.0, variance over n",
        AskedQuantity("posterior", {"class": "是"}),
        0.999021,
    ),
    "A1A2A3 = 100, Laplace everywhere": (
        "Three binary attributes, query 100, Laplace everywhere",
        AskedQuantity("posterior", {"class": 0}),
        (48 / 875) / (48 / 875 + 3 / 112),
    ),
    "the tree of TAN on watermelon 2.0": ("Watermelon 2.0: the tree of TAN", AskedQuantity("tree_weight"), 1.93324),
    "AODE on the first melon": ("Watermelon 2.0: AODE", AskedQuantity("posterior", {"class": "是"}), 0.963299),
    "watermelon 3.0α under losses": ("Watermelon 3.0α", AskedQuantity("least_risk"), 0.2744),
}
"""Every example that the lecture notes work out in numbers, by the note that has it (001, 003 and 004 have none), and
the golden ones that are made of them: the title it has on the page Chapter, and a number that it comes to."""


def test_every_worked_example_of_the_sources_is_one_click_away(on_screen: Ask) -> None:
    left = list(contents().examples)
    for what, (title, asked, value) in IN_THE_SOURCES.items():
        (example,) = [one for one in left if one.title.startswith(title)]
        left.remove(example)
        state = lesson_in_use.opened_by(example.state, START)
        if asked is None:
            assert example.page == "dependence" and dict(state.view) == {"dependence_tab": "examples"}
        else:
            assert on_screen(asked, state) == pytest.approx(value, rel=0, abs=1e-9 if 0.9999 < value < 1 else 6e-6), (
                what
            )
    assert not left


FOLLOWS = {
    "λ": "bayes-decision-rule bayes-risk regret flip-margin exercise-7-2",
    "α": "laplace-correction counts-of-words counts-together cut-or-curve digit-images three-ways-of-use super-parent "
    "rare-class averaged-one-dependence marginal-likelihood exercise-7-1 exercise-7-3 exercise-7-10",
    "prior": "bayes-theorem generative-discriminative linear-discriminant fisher-equals-lda exercise-7-5",
    "row": "naive-bayes mean-and-spread where-to-smooth density-above-one counted-twice partial-evidence text-use "
    "exercise-7-6 d-separation exact-inference gibbs-sampling exercise-7-8 maximum-likelihood combinatorial-explosion "
    "conditional-mutual-information maximum-spanning-tree structure-score em-mixture semi-supervised unlabelled-texts "
    "fisher-projection fisher-and-pca project-first exercise-7-4 exercise-7-7 exercise-7-9",
}
"""Which of the four the answer of each lesson follows; most follow others too. Of a network the evidence is the row."""


def perturbed(kind: str, page: str, state: State, monkeypatch: pytest.MonkeyPatch) -> list[State]:
    """The state with other losses, another pseudo-count, another prior or another row: that of the table and its active
    model, and that of the page's own where it has one."""
    monkeypatch.setattr(st, "session_state", {"state": state})
    table = active.fittable(active.table_in_use())
    k, evidence = len(table.classes), state.seen(keys.NET_EVIDENCE)
    own = PRESENTED[page](state).own
    if kind == "λ":
        losses = tuple(
            tuple(0.0 if i == j else 2.0 + 3 * i + j for j in range(k)) for i in range(len(state.losses) or k)
        )
        return [replace(state, losses=losses), state.showing(keys.LAB_LOSSES.to(((0.0, 5.0), (1.0, 0.0))))]
    if kind == "prior":
        base, demo = state.showing(keys.LAB_BASE.to(0.2)), state.showing(keys.DEMO["prior"].to(0.86))
        shares = replace(state, prior=(0.7, *[0.3 / (k - 1)] * (k - 1)))
        return [shares, state.showing(keys.LAB_PRIORS.to((0.8, 0.2))), base, demo]
    if kind == "row":
        other = [pick_row(state, table, n) for n in (5, 15)]
        seen = {node for node, _level in evidence}
        return other + [state.showing(keys.NET_EVIDENCE.to((*evidence, (n, 0)))) for n in range(4) if n not in seen]
    smoothed = [] if own is None else [state.showing(own.key.to(2.0 * state.seen(own.key)))]
    if "alpha" in active.settings(active.shelf_of(table)[active_place(table)]):
        smoothed.append(edit_active_model(table, lambda spec: with_prior_strength(spec, 3.0))(state))
    return smoothed


def changes(kind: str, name: str, on_screen: Ask, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the lesson's answer is another one, by what three digits show, once this is."""
    lesson, begins = lessons()[name], lesson_in_use.begun(name, START)
    before = on_screen(lesson.answer, begins)
    found = False
    for state in perturbed(kind, lesson.page, begins, monkeypatch):
        try:
            found |= mark(f"{before:.6g}", on_screen(lesson.answer, state)) == "wrong"
        except BayesEngineError:  # none there, as a fourth node of three
            continue
    return found


def test_every_lesson_is_named_with_what_its_answer_follows() -> None:
    assert sorted(" ".join(FOLLOWS.values()).split()) == sorted(lessons())


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in FOLLOWS.items() for name in names.split()])
def test_the_answer_of_a_lesson_changes_with_the_state(
    kind: str, name: str, on_screen: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changes(kind, name, on_screen, monkeypatch)


# limits, choices, and quantities of what is on screen --------------------------------------------------------------

SEEN = pd.DataFrame({"a": [1.0, 3.0, None, 9.0], "b": ["u", "v", "u", "v"]})


def in_sight(**parts: Any) -> Any:
    """What is on screen, as far as a quantity asks."""
    settings = parts.pop("settings", {})
    return SimpleNamespace(**{"X": SEEN, "setting": settings.__getitem__, **parts})


def test_a_slider_goes_from_the_least_to_the_most_that_there_may_be() -> None:
    pairs = SimpleNamespace(schema_=Schema((Variable("b", "categorical", ("u", "v", "w")),)))
    loss = LossMatrix(("u", "v"), ("u", "v"), [[0, 5], [-2, 0]])
    column = {"lab_tab": "fitted", "lab_fitted_column": 0}
    for name, arguments, used, limits in (
        ("risk", {}, in_sight(loss=loss), (-2.0, 5.0)),
        ("mean", {"column": "a"}, in_sight(), (1.0, 9.0)),
        ("likelihood_peak", {"parameter": "p"}, in_sight(settings={"lab_tab": "rare"}), (0.0, 10.0)),
        ("likelihood_peak", {"parameter": "mean"}, in_sight(settings=column), (1.0, 9.0)),
        ("likelihood_peak", {"parameter": "sd"}, in_sight(settings=column), (0.0, 4.0)),
        ("information", {}, in_sight(pairs=pairs), (0.0, math.log(3))),
        ("arcs", {}, in_sight(), (0.0, 3.0)),
        ("marginal_likelihood", {}, in_sight(), (-24.0, 0.0)),
        ("network_log_probability", {}, in_sight(), (-6.0, 0.0)),
    ):
        assert PREDICTIONS[name].limits(used, arguments) == pytest.approx(limits), name


def test_a_choice_has_its_right_option_among_its_options_or_says_that_there_is_none() -> None:
    graph = DAG(("rain", "wet", "slip"), (("rain", "wet"), ("wet", "slip")))
    step = SimpleNamespace(move=SimpleNamespace(arc=("slip", "wet")))
    found = SimpleNamespace(graph=graph, trace=SimpleNamespace(steps=[step]))
    arc = AskedQuantity("first_arc")
    assert options_of(arc, in_sight(search=found)) == [("rain", "wet"), ("rain", "slip"), ("wet", "slip")]
    assert right_option(arc, in_sight(search=found)) == 2
    found.trace.steps = []
    with pytest.raises(BayesEngineError, match="the search has added no arc"):
        right_option(arc, in_sight(search=found))
    asked = AskedQuantity("separated", {"a": "rain", "b": "slip"})
    network = SimpleNamespace(names=graph.nodes, graph=graph)
    for evidence, place in (((), 1), (("wet",), 0)):  # a chain is blocked by its middle
        assert right_option(asked, in_sight(network=network, evidence=dict.fromkeys(evidence, "yes"))) == place
    assert "there is no quantity 'luck'" in str(problem_of_question(AskedQuantity("luck")))


def test_quantities_of_a_case_are_counted_without_the_rows_that_were_taken_away() -> None:
    """P(c|x) of one column by hand: (n(x, c) + 1) / (n(c) + 2) times n(c) / n."""
    X, y = pd.DataFrame({"b": ["u", "u", "v", "v", "u"]}), pd.Series(["yes", "yes", "no", "no", "no"])
    used = in_sight(X=X, y=y, model=NaiveBayes().fit(X, y), case=X.iloc[[0]], removed=(0,))
    joint = {"yes": 2 / 3 * 1 / 4, "no": 2 / 5 * 3 / 4}
    share = joint["yes"] / sum(joint.values())
    assert QUANTITIES["posterior_without"](used, "yes") == pytest.approx(share)
    scored = in_sight(settings={"net_score": "bdeu"}, search=SimpleNamespace(score=-12.5))
    assert QUANTITIES["marginal_likelihood"](scored) == -12.5
    priced = in_sight(settings={"net_score": "bic"}, search=SimpleNamespace(score=-12.5))
    with pytest.raises(BayesEngineError, match="is no marginal likelihood"):
        QUANTITIES["marginal_likelihood"](priced)
