"""The working: every number is the ledger's, every fraction the count of its rows, every sheet what was derived."""

from __future__ import annotations

import math
import re
from itertools import product, starmap

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from bayes_engine import AODE, SPODE, TAN, KDependence, LossMatrix, NaiveBayes, load_dataset, numerals
from bayes_engine.decision.loss import decide
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.factors import Factor, Row
from bayes_engine.factors.gaussian import Density
from bayes_engine.factors.sources import Fraction, Linear, Shift, Term
from bayes_engine.language import set_language
from bayes_engine.ledger import Ledger, Status
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.table.roles import Parts, take_apart
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation import factor_names, latex, render
from bayes_engine.workbench.derivation.aode import as_misprinted, average, derive_member
from bayes_engine.workbench.derivation.check import hint, mark, read_number, same
from bayes_engine.workbench.derivation.derive import (
    Working,
    WorkingStep,
    by_hand,
    derive,
    derive_from,
    rounded,
    rows_behind,
    rows_like,
    variance_from,
)
from bayes_engine.workbench.derivation.exercise import COLUMNS, draw
from bayes_engine.workbench.derivation.log_odds import log_odds_terms, odds_needed
from bayes_engine.workbench.derivation.misprints import WorkingPlace, agrees, misprints
from bayes_engine.workbench.derivation.mistakes import FilledIn
from bayes_engine.workbench.derivation.modes_of_use import without_rows
from bayes_engine.workbench.figures.comparison import MeasurePanel, measure_panels
from bayes_engine.workbench.figures.contributions import BIT, ClassStyle, verdict, waterfall
from tests.conftest import crossed, slowly

CLASSES = ["是", "否"]


def parts_of(name: str) -> Parts:
    data = load_dataset(name)
    return take_apart(data.frame, data.schema)


def fitted(parts: Parts, preset: str = "textbook", **parameters: object) -> NaiveBayes:
    return NaiveBayes(**{**PRESETS[preset], **parameters}, schema=parts.schema.features).fit(parts.X, parts.y)


@pytest.fixture(scope="module")
def melons() -> Parts:
    return parts_of("watermelon3")


@pytest.fixture(scope="module")
def working(melons: Parts) -> Working:
    return derive(fitted(melons), melons.X.iloc[[0]], classes=CLASSES)


# derive ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "preset"),
    crossed(["watermelon3", "loan", "penguins", "mushroom", "wine", "three-attributes"], list(PRESETS)),
)
def test_the_working_is_the_ledger(name: str, preset: str) -> None:
    parts = parts_of(name)
    model = fitted(parts, preset)
    for i in (0, len(parts.X) // 2, len(parts.X) - 1):
        case = parts.X.iloc[[i]]
        found = derive(model, case, classes=parts.target.levels)
        order = [model.classes_.tolist().index(c) for c in parts.target.levels]
        np.testing.assert_allclose(found.log_joint, model.predict_joint_log_proba(case)[0, order], rtol=1e-12)
        np.testing.assert_allclose(found.posterior, model.explain(case).posterior()[0, order], rtol=1e-12)
        np.testing.assert_allclose(np.sum([s.log_factors for s in found.steps], axis=0), found.log_joint, rtol=1e-9)
        for step in found.steps:
            np.testing.assert_allclose([s.value for s in step.sources], step.factors, rtol=1e-9, atol=1e-300)


@pytest.mark.slow
def test_every_fraction_counts_its_rows(melons: Parts) -> None:
    table = melons.X.assign(好瓜=melons.y)
    for i in range(len(table)):
        found = derive(fitted(melons), melons.X.iloc[[i]], classes=CLASSES)
        for step in found.steps:
            for label, source in zip(found.classes, step.sources, strict=True):
                behind = rows_behind(table, "好瓜", step, label)
                assert (behind["好瓜"] == label).all()
                if isinstance(source, Fraction):
                    assert len(behind) == source.count
                else:
                    assert isinstance(source, Density)
                    x = behind[step.row.child].astype(float)
                    assert len(x) == source.n
                    assert x.mean() == pytest.approx(source.mean)
                    assert ((x - source.mean) ** 2).sum() == pytest.approx(source.m2)
                    assert x.var(ddof=1) == pytest.approx(source.variance)


def test_a_missing_cell_has_no_factor_and_says_so(melons: Parts) -> None:
    case = melons.X.iloc[[0]].assign(密度=np.nan)
    case["色泽"] = case["色泽"].cat.set_categories(["青绿", "乌黑", "浅白"])
    case.loc[case.index[0], "色泽"] = np.nan
    found = derive(fitted(melons), case)
    assert [(o.name, o.reason) for o in found.omitted] == [("色泽", "missing"), ("密度", "missing")]
    assert [s.row.child for s in found.steps] == ["好瓜", "根蒂", "敲声", "纹理", "脐部", "触感", "含糖率"]


def test_a_constant_column_has_no_factor_and_says_so() -> None:
    X = pd.DataFrame({"same": [2.0] * 4, "x": [1.0, 2.0, 4.0, 7.0]})
    with pytest.warns(match="the same value in every row"):
        model = NaiveBayes().fit(X, ["a", "a", "b", "b"])
    assert [(o.name, o.reason) for o in derive(model, X.iloc[[0]]).omitted] == [("same", "constant")]


def test_missing_as_a_level_is_counted() -> None:
    X = pd.DataFrame({"x": ["a", None, "a", None]})
    model = NaiveBayes(missing="category", smoothing="none").fit(X, ["p", "p", "q", "p"])
    found = derive(model, X.iloc[[1]])
    assert found.steps[1].sources == (Fraction(2.0, 3.0, 0.0, 2), Fraction(0.0, 1.0, 0.0, 2))
    table = X.assign(y=["p", "p", "q", "p"])
    assert rows_behind(table, "y", found.steps[1], "p").index.tolist() == [1, 3]


def test_prior_of_use_is_the_last_step(melons: Parts) -> None:
    use = {"是": 0.3, "否": 0.7}
    model = fitted(melons)
    found = derive(model, melons.X.iloc[[0]], prior_of_use=use, classes=CLASSES)
    assert found.steps[-1].sources == (Shift(0.3, 8 / 17), Shift(0.7, 9 / 17))
    assert [s.value for s in found.steps[-1].sources] == pytest.approx(found.steps[-1].factors)
    likelihood = np.exp(model.predict_joint_log_proba(melons.X.iloc[[0]])[0]) / [9 / 17, 8 / 17]
    shifted = likelihood * [0.7, 0.3]
    assert found.posterior[::-1] == pytest.approx(tuple(shifted / shifted.sum()))


def test_risk_and_decision_follow_the_losses(melons: Parts) -> None:
    loss = LossMatrix(("是", "否", "wait"), ("否", "是"), [[5, 0], [0, 1], [0.001, 0.001]])
    found = derive(fitted(melons), melons.X.iloc[[0]], loss, classes=CLASSES)
    good, bad = found.posterior
    assert found.risk == pytest.approx((5 * bad, good, 0.001))
    assert found.action == "wait"
    assert derive(fitted(melons), melons.X.iloc[[0]], classes=CLASSES).action == "是"


def test_a_case_without_posterior_is_worked_all_the_same() -> None:
    X = pd.DataFrame({"u": ["a", "b"] * 2, "v": ["a", "b", "a", "b"]})
    model = NaiveBayes(smoothing="none").fit(X, ["p", "q"] * 2)
    found = derive(model, pd.DataFrame({"u": ["a"], "v": ["b"]}))
    assert (found.status, found.position, found.action) == (Status.IMPOSSIBLE, -1, None)
    assert found.joint == (0.0, 0.0)
    assert render.posterior(found, 0) == "–"
    assert render.to_text(found).endswith("no posterior")
    assert "no posterior" in render.to_markdown(found)
    numbers = NaiveBayes().fit(pd.DataFrame({"x": [0.0, 1.0, 5.0, 6.0]}), [0, 0, 1, 1])
    for x, status in ((1e300, Status.OUT_OF_RANGE), (np.inf, Status.REFUSED)):
        out = derive(numbers, pd.DataFrame({"x": [x]}))
        assert (out.status, out.position, out.posterior) == (status, -1, (0.0, 0.0))


def test_where_a_variance_comes_from() -> None:
    X = pd.DataFrame({"x": [0.0, 1.0, 5.0, 6.5, 9.0]})
    own = derive(NaiveBayes(variance="unbiased").fit(X, [0, 0, 1, 1, 1]), X.iloc[[1]])
    tied = derive(NaiveBayes(tied_variance=True).fit(X, [0, 0, 1, 1, 1]), X.iloc[[1]])
    with pytest.warns(match="a class has one row"):
        model = NaiveBayes(variance="unbiased").fit(X, [0, 1, 1, 1, 1])
    single = derive(model, X.iloc[[1]])
    assert [variance_from(own.steps[1], k) for k in (0, 1)] == ["own", "own"]
    assert [variance_from(tied.steps[1], k) for k in (0, 1)] == ["pooled", "pooled"]
    assert variance_from(single.steps[1], 0) == "pooled"
    assert r"\frac{0.5 + 8.16667}{5}" in "".join(latex.latex_moments(tied, tied.steps[1], 0))


@pytest.mark.slow
def test_leaving_a_row_out_is_leave_one_out(melons: Parts) -> None:
    model = fitted(melons)
    each = np.exp(model.leave_one_out_log_proba(melons.X, melons.y))
    for i in range(len(melons.X)):
        one = melons.X.iloc[[i]]
        rest = without_rows(model, melons.X, melons.y, [i])
        assert derive(rest, one).posterior == pytest.approx(tuple(each[i]), rel=1e-9)
    assert model.stats_.class_weight.sum() == 17  # the model itself has forgotten nothing


def test_rows_like_matches_missing_with_missing() -> None:
    X = pd.DataFrame({"a": ["x", None, None], "b": [1.0, np.nan, 2.0]})
    assert rows_like(X, X.iloc[[1]]) == [1]
    assert rows_like(X, pd.DataFrame({"a": ["y"], "b": [1.0]})) == []


# by hand --------------------------------------------------------------------------------------------------------


def test_by_hand_a_calculator_gives_1963(working: Working) -> None:
    hand = rounded(working)
    density = hand.steps[7].sources[0]
    assert isinstance(density, Density)
    assert (density.mean, round(density.sd, 10)) == (0.574, 0.129)
    assert render.factor(hand, hand.steps[7], 0) == "1.963"
    assert render.factor(working, working.steps[7], 0) == "1.9590"
    assert math.prod(s.factors[0] for s in hand.steps) == pytest.approx(hand.joint[0])
    assert [s.factors[0] for s in hand.steps[:7]] == [0.471, 0.375, 0.625, 0.75, 0.875, 0.625, 0.75]
    assert sum(hand.posterior) == pytest.approx(1.0)


def test_by_hand_keeps_small_numbers() -> None:
    loan = parts_of("loan")
    case = pd.DataFrame({"Gender": ["Male"], "Married": ["No"], "Income": [120.0]})
    hand = rounded(derive(fitted(loan), case, classes=["No", "Yes"]))
    assert render.factor(hand, hand.steps[3], 1) == "1.22e-09"
    assert hand.action == "No"


@given(st.floats(1e-12, 1e6))
def test_by_hand_is_close(value: float) -> None:
    assert abs(by_hand(value) - value) <= max(0.0005, 0)
    assert same(by_hand(value), value)


# numbers --------------------------------------------------------------------------------------------------------


@given(st.floats(1e-300, 1e300), st.integers(3, 10))
def test_a_number_has_the_digits_asked_for(value: float, digits: int) -> None:
    assert float(numerals.number(value, digits)) == pytest.approx(value, rel=0.5000001 * 10.0 ** (1 - digits))


@given(st.floats(-1e6, 1e5))
def test_a_number_from_its_log(log_value: float) -> None:
    text = numerals.number_of_log(log_value, 8)
    mantissa, _e, power = text.partition("e")
    assert math.log(float(mantissa)) + int(power or 0) * math.log(10) == pytest.approx(log_value, abs=1e-6, rel=1e-9)


@given(st.floats(0.0, 1.0))
def test_a_probability_is_never_rounded_to_certainty(p: float) -> None:
    assert (float(numerals.certain(p, 6)) == 1.0) == (p == 1.0)


# rendering ------------------------------------------------------------------------------------------------------


def test_text_holds_every_number(working: Working) -> None:
    text = render.to_text(working)
    for line in ("P(脐部=凹陷 | 好瓜=是) = 5/8 = 0.6250",
                 "n = 8, x̄ = 0.57375, s² = 0.116867/(8−1) = 0.0166954, s = 0.129211",
                 "joint = 0.052379", "P(是 | x) = 0.052379 / 0.052447 = 0.998692",
                 "R(是 | x) = 0 × 0.998692 + 1 × 0.00130768 = 0.00130768", "decision: 是"):  # fmt: skip
        assert line in text, line


def test_markdown_is_a_table(working: Working) -> None:
    rows = [line.strip("| ").split(" | ") for line in render.to_markdown(working).splitlines() if line.startswith("|")]
    assert {len(row) for row in rows} == {3}
    assert rows[0] == ["factor", "好瓜 = 是", "好瓜 = 否"]
    assert rows[7] == ["脐部 = 凹陷", "5/8 = 0.6250", "2/9 = 0.2222"]
    assert rows[-1] == ["posterior", "0.998692", "0.00130768"]


def test_latex_balances(working: Working) -> None:
    for written in (latex.to_latex(working), latex.to_latex(rounded(working))):
        assert written.count("{") == written.count("}")
        assert written.count(r"\begin{align*}") == written.count(r"\end{align*}") == 4
        for line in re.split(r"\\\\\n|\\end\{align\*\}", written)[:-1]:
            assert line.count("&=") == 1, line
    assert r"P(\text{脐部}=\text{凹陷} \mid \text{好瓜}=\text{是}) &= \frac{5}{8} = 0.6250" in latex.to_latex(working)


def test_smoothed_fractions_are_written_out(melons: Parts) -> None:
    found = derive(fitted(melons, "laplace"), melons.X.iloc[[0]].assign(敲声="清脆"), classes=CLASSES)
    assert render.fraction(found.steps[3].sources[0]) == "(0+1)/(8+3)"
    assert r"\frac{0+1}{8+3} = 0.0909" in latex.to_latex(found)


def test_hostile_names_stay_text() -> None:
    X = pd.DataFrame({"$a$ | **b**\n<img>": ["\\x{}", "%_^~&#", "%_^~&#"]})
    y = pd.Series(["![x](http://a)", "`c`", "`c`"], name="|t|")
    found = derive(NaiveBayes().fit(X, y), X.iloc[[1]])
    written = latex.to_latex(found)
    assert not re.search(r"(?<!\\)[$#%]", written.replace("\\\\", ""))
    assert written.count("{") - written.count(r"\{") == written.count("}") - written.count(r"\}")
    rows = [line for line in render.to_markdown(found).splitlines() if line.startswith("|")]
    assert {row.count("|") - row.count(r"\|") for row in rows} == {4}
    assert "\n<img>" not in render.to_markdown(found)


def test_words_follow_the_language(working: Working) -> None:
    set_language("zh")
    try:
        chinese = render.to_text(working)
    finally:
        set_language("en")
    assert "P(脐部=凹陷 | 好瓜=是) = 5/8 = 0.6250" in chinese


# misprints ------------------------------------------------------------------------------------------------------


def test_misprints_stand_at_their_numbers(working: Working, melons: Parts) -> None:
    errata = load_dataset("watermelon3").info.errata
    assert {place for place, _m in misprints(working, errata)} == {
        WorkingPlace(5, 0, "factor"), WorkingPlace(7, 0, "mean"), WorkingPlace(7, 0, "factor"),
        WorkingPlace(None, 0, "joint"), WorkingPlace(None, 1, "joint"),
    }  # fmt: skip
    laplace = derive(fitted(melons, "laplace"), melons.X.iloc[[0]], classes=CLASSES)
    assert {place.part for place, _m in misprints(laplace, errata)} == {"mean", "factor"}  # the Gaussian is as it was
    assert all(place.step == 7 for place, _m in misprints(laplace, errata))
    other = derive(fitted(melons), melons.X.iloc[[9]], classes=CLASSES)
    assert {place.part for place, _m in misprints(other, errata)} == {"mean"}


@pytest.mark.parametrize(("value", "right", "fits"), [(0.625, "5/8 = 0.625", True), (0.6249, "0.625", True),
                                                      (6.858424e-5, "6.858e-05", True), (6.80e-5, "6.858e-05", False),
                                                      (1.0, "no number", False)])  # fmt: skip
def test_a_right_number_is_recognized(value: float, right: str, fits: bool) -> None:
    assert agrees(value, right) is fits


# a person's own working -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "value"), [
    ("3/8", 0.375), (" 3 / 8 ", 0.375), ("(3+1)/(8+3)", 4 / 11), ("0,375", 0.375), ("３／８", 0.375), ("37.5%", 0.375),
    ("1.2e-9", 1.2e-9), ("1.2×10^-9", 1.2e-9), ("1.2*10^−9", 1.2e-9), (".5", 0.5), ("", None), ("3/0", None),
    ("1/2/3", None), ("three", None), ("__import__('os')", None), ("9" * 50, None), ("nan", None), ("1e999", None),
    ("(3+1", None),
])  # fmt: skip
def test_a_number_is_read_as_typed(text: str, value: float | None) -> None:
    assert read_number(text) == (None if value is None else pytest.approx(value))


def test_right_within_three_digits() -> None:
    assert mark("0.333", 1 / 3) == mark("1/3", 1 / 3) == mark(".3333", 1 / 3) == "right"
    assert mark("0.33", 1 / 3) == mark("0.334", 1 / 3) == "wrong"
    assert mark("0.066", 0.066198) == "right"
    assert mark("6.86e-5", 6.8584e-5) == "right"
    assert mark("0.000", 6.8584e-5) == mark("6.8e-5", 6.8584e-5) == "wrong"
    assert mark("0.0529", 0.0523787, 0.0528611) == "right"
    assert mark("0", 0.0) == "right"
    assert (mark(" ", 0.5), mark("?", 0.5)) == ("blank", "unreadable")


def test_hints_name_the_slip(working: Working, melons: Parts) -> None:
    def said(i: int, k: int, text: str, of: Working = working) -> str:
        return str(hint(of, i, k, text))

    assert said(1, 0, "3/6").startswith("That is the share of 是 among the rows with 青绿")
    assert said(1, 0, "0.9") == "Take the rows with 好瓜 = 是; of these, count the ones with 色泽 = 青绿; divide."
    assert said(0, 0, "1/2") == "Count the rows with 好瓜 = 是; divide by all rows."
    assert said(0, 0, "half").startswith("Write a number")
    swapped = np.sqrt(0.1168675 / 8)
    wrong = np.exp(-0.5 * ((0.697 - 0.57375) / swapped) ** 2) / (np.sqrt(2 * np.pi) * swapped)
    assert said(7, 0, "5") == said(7, 0, "12")
    assert mark(f"{wrong:.4f}", working.steps[7].factors[0]) == "right"  # 1.962: within rounding of 1.959
    sugar = np.sqrt(0.0929576 / 9)
    slip = np.exp(-0.5 * ((0.46 - 0.154222) / sugar) ** 2) / (np.sqrt(2 * np.pi) * sugar)
    assert said(8, 1, f"{slip:.4f}").startswith("That is the density with the squared deviations divided by n.")
    laplace = derive(fitted(melons, "laplace"), melons.X.iloc[[0]], classes=CLASSES)
    assert said(1, 0, "3/8", laplace).startswith("That is the plain share. Here 1 is added to the count, and 3 (3")


# mistakes by name -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sheet(working: Working, melons: Parts) -> FilledIn:
    return FilledIn(working, fitted(melons), melons.X.iloc[[0]], load_dataset("watermelon3").info.errata)


FACTOR, JOINT, POSTERIOR = "factor", "joint", "posterior"
PRINTED_EARLY = (
    "Early rounding. The printed number is a product of rounded factors; from unrounded ones it is 6.858e-05."
)
RECALCULATED = (
    "Early rounding. The density value is right, but it was computed from unrounded numbers: with the printed "
)
ON_EVERY_COUNT = "That is what adding 1 to every count gives, the class prior's too"
ON_ZEROS = "That is what adding 1 gives where a class has no row"


@pytest.mark.parametrize(
    ("text", "place", "judgement", "named"),
    [
        ("6/8", (5, 0, FACTOR), "wrong", "A misprint of the source: 6/8 = 0.750. Five of the eight good melons"),
        ("0.063", (None, 0, JOINT), "wrong", "A misprint of the source: 0.063. It follows from 5/8"),
        ("0.06285", (None, 0, JOINT), "wrong", "A misprint of the source: 0.063."),
        ("1.574", (7, 0, FACTOR), "wrong", "That is what a misprint of the source gives, 0.547 for μ(密度|好瓜=是)."),
        ("1.963", (7, 0, FACTOR), "right", RECALCULATED + "0.574 and 0.129 a calculator gives 1.963."),
        ("6.80e-05", (None, 1, JOINT), "right", PRINTED_EARLY),
        ("0.0529", (None, 0, JOINT), "right", "Early rounding: right, if every number on the way"),
        ("0.33", (1, 1, FACTOR), "wrong", "The right number, rounded to two digits: give three."),
        ("7.09e-05", (None, 1, JOINT), "wrong", "Early rounding: that is what two digits on the way give."),
        ("(5+1)/(8+3)", (5, 0, FACTOR), "wrong", "That is (5+1)/(8+3), with Laplace's correction. Here nothing is"),
        ("9/19", (0, 0, FACTOR), "wrong", "That is (8+1)/(17+2), with Laplace's correction."),
        ("0.025631", (None, 0, JOINT), "wrong", ON_EVERY_COUNT),
        ("7.7224e-05", (None, 1, JOINT), "wrong", ON_EVERY_COUNT),
        ("0.996996", (None, 0, POSTERIOR), "wrong", ON_EVERY_COUNT),
        ("0.0281349", (None, 0, JOINT), "wrong", ON_ZEROS),
        ("0.997568", (None, 0, POSTERIOR), "wrong", ON_ZEROS),
        ("0.044552", (None, 0, JOINT), "wrong", "That is what squared deviations divided by n give."),
        ("4.3659e-05", (None, 1, JOINT), "wrong", "That is what squared deviations divided by n give."),
        ("0.9", (None, 0, JOINT), "wrong", "Multiply all factors of this column"),
        ("0.9", (None, 0, POSTERIOR), "wrong", "Divide this column's joint"),
        ("two", (None, 0, POSTERIOR), "unreadable", "Divide this column's joint"),
    ],
)
def test_a_known_mistake_is_named(
    sheet: FilledIn, text: str, place: tuple[int | None, int, str], judgement: str, named: str
) -> None:
    """The numbers are the lecture notes' own, and those of their corrected digest."""
    checked = sheet.checked(text, WorkingPlace(*place))
    assert (checked.mark, str(checked.note)[: len(named)]) == (judgement, named)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["5/8", "0.625", "1.959", "0.052", "0.052379", "0.0524", "6.8584e-05", "0.9987", " "])
def test_what_is_right_has_no_mistake(sheet: FilledIn, text: str) -> None:
    steps = range(len(sheet.working.steps))
    places = [*(WorkingPlace(i, 0, FACTOR) for i in steps)]
    places += [WorkingPlace(None, k, part) for k in (0, 1) for part in (JOINT, POSTERIOR)]
    answers = [sheet.checked(text, place) for place in places]
    assert {c.note for c in answers if c.mark in ("right", "blank")} == {None}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "text", "named"),
    [
        ("zero-only", "3/112", ON_EVERY_COUNT),
        ("laplace", "1/40", ON_ZEROS),
        ("textbook", "3/112", ON_EVERY_COUNT),
        ("laplace", "0", "That is what the plain shares give. Here pseudo-counts are added."),
    ],
)
def test_of_three_ways_to_smooth_the_wrong_one_is_named(preset: str, text: str, named: str) -> None:
    parts = parts_of("three-attributes")
    case = pd.DataFrame({"A1": [1], "A2": [0], "A3": [0]}).astype(parts.X.dtypes.to_dict())
    model = fitted(parts, preset)
    derived = derive(model, case, classes=sorted(model.classes_, reverse=True))
    assert str(FilledIn(derived, model, case).checked(text, WorkingPlace(None, 0, JOINT)).note).startswith(named)


def test_with_a_prior_of_use_smoothing_is_named_too(melons: Parts) -> None:
    model, case, use = fitted(melons), melons.X.iloc[[0]], {"是": 0.2, "否": 0.8}
    derived = derive(model, case, classes=CLASSES, prior_of_use=use)
    repaired = derive(fitted(melons, "zero-only"), case, classes=CLASSES, prior_of_use=use)
    checked = FilledIn(derived, model, case).checked(f"{repaired.joint[0]:.5f}", WorkingPlace(None, 0, JOINT))
    assert str(checked.note).startswith(ON_ZEROS)


# exercises ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        *crossed(["watermelon3", "loan", "wine"], [1, 2, 3]),
        *starmap(slowly, product(["mushroom", "penguins", "play-tennis"], [1, 2, 3])),
    ],
)
def test_an_exercise_can_be_worked(name: str, seed: int) -> None:
    parts = parts_of(name)
    model = fitted(parts)
    before = parts.X.copy()
    drawn, again = draw(parts, model, seed), draw(parts, model, seed)
    pd.testing.assert_frame_equal(drawn.parts.X, again.parts.X)
    assert drawn.case == again.case
    assert drawn.parts.y.value_counts().reindex(parts.target.levels).min() >= 2
    assert len(drawn.case) == min(len(parts.X.columns), COLUMNS)
    assert len(drawn.parts.X) <= 20 + 2 * len(parts.target.levels)
    case = pd.DataFrame({n: [v] for n, v in drawn.case.items()})
    found = derive(drawn.model, case)
    assert found.status == Status.OK
    assert sum(found.posterior) == pytest.approx(1.0)
    for name_, value in drawn.case.items():
        assert value in drawn.parts.X[name_].tolist()
    pd.testing.assert_frame_equal(before, parts.X)


@pytest.mark.slow
def test_exercises_differ(melons: Parts) -> None:
    drawn = [draw(melons, fitted(melons), seed) for seed in range(1, 6)]
    assert len({tuple(e.parts.rows) for e in drawn}) == 5


def test_no_exercise_from_a_table_of_missing_cells() -> None:
    frame = pd.DataFrame({"x": [None] * 4, "z": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b"]})
    schema = load_dataset("penguins").schema.__class__.from_dtypes(frame.astype({"x": object})).with_role("y", "target")
    parts = take_apart(frame, schema)
    with pytest.raises(TableError, match="no exercise could be drawn"):
        draw(parts, fitted(parts), 1)


# the balance ----------------------------------------------------------------------------------------------------


def test_weights_add_up_to_the_log_odds(melons: Parts) -> None:
    ledger = fitted(melons).explain(melons.X.iloc[[0]])
    balance = log_odds_terms(ledger, "是", "否")
    joint = dict(zip(ledger.classes, ledger.joint()[0], strict=True))
    assert balance.total == pytest.approx(joint["是"] - joint["否"])
    for most in (2, 4, 9, 20):
        folded = balance.by_size().folded(most)
        assert len(folded.weights) <= most or most > len(balance.weights)
        assert folded.total == pytest.approx(balance.total)
    sizes = [abs(w.nats) for w in balance.by_size().weights]
    assert sizes == sorted(sizes, reverse=True)


def test_never_seen_is_said_not_nan(melons: Parts) -> None:
    ledger = fitted(melons).explain(melons.X.iloc[[0]].assign(敲声="清脆"))
    balance = log_odds_terms(ledger, "是", "否")
    assert [w.never for w in balance.weights if w.never] == [("是",)]
    assert balance.total == -math.inf
    assert log_odds_terms(ledger, "否", "是").total == math.inf
    X = pd.DataFrame({"u": ["a", "b"] * 2, "v": ["a", "b"] * 2, "w": ["c", "c", "d", "d"]})
    impossible = NaiveBayes(smoothing="none").fit(X, ["p", "q"] * 2)
    assert (
        log_odds_terms(impossible.explain(pd.DataFrame({"u": ["a"], "v": ["b"], "w": ["c"]})), "p", "q").total is None
    )


@given(st.lists(st.floats(-5, 5), min_size=4, max_size=4), st.floats(0.01, 0.99))
def test_the_losses_draw_their_line(cells: list[float], p: float) -> None:
    loss = LossMatrix(("a", "b"), ("a", "b"), np.reshape(cells, (2, 2)))
    line = odds_needed(loss, "a", "b")
    decision = decide(np.array([[p, 1 - p]]), loss)
    if line is not None and abs(math.log(p / (1 - p)) - line) > 1e-6:
        assert (decision.action[0] == "a") == (math.log(p / (1 - p)) > line)
    if line is None:
        sure = decide(np.array([[1.0, 0.0], [0.0, 1.0]]), loss).action.tolist()
        assert sure != ["a", "b"] or np.isclose(loss.table[0], loss.table[1]).any()


# figures --------------------------------------------------------------------------------------------------------

SIDES = (ClassStyle("good", "#111111"), ClassStyle("bad", "#999999"))


def bars(figure) -> dict[float, tuple[float, float]]:
    """row → (start, end) of every bar."""
    found = {}
    for trace in figure.data:
        if trace.type == "bar":
            found[trace.y[0]] = (trace.base[0], trace.base[0] + trace.x[0])
    return found


@pytest.mark.parametrize("bits", [False, True])
def test_waterfall_bars_join(melons: Parts, bits: bool) -> None:
    balance = log_odds_terms(fitted(melons).explain(melons.X.iloc[[0]]), "是", "否")
    drawn = bars(waterfall(balance, list("abcdefghi"), SIDES, bits=bits))
    unit = BIT if bits else 1.0
    end = 0.0
    for i, weight in enumerate(balance.weights):
        assert drawn[i] == pytest.approx((end, end + weight.nats / unit))
        end = drawn[i][1]
    assert drawn[9] == pytest.approx((0.0, balance.total / unit))


def test_waterfall_says_never_seen(melons: Parts) -> None:
    ledger = fitted(melons).explain(melons.X.iloc[[0]].assign(敲声="清脆"))
    figure = waterfall(log_odds_terms(ledger, "是", "否"), list("abcdefghi"), SIDES, needed=math.log(5))
    said = [note.text for note in figure.layout.annotations]
    why = next(note for note in figure.layout.annotations if note.text == "never seen in good")
    assert why.xanchor == "left" and why.x > 0  # beside the bar's start, which goes to the left: not over the names
    assert "never seen in good" in said
    assert "−∞" in said
    assert not any("nan" in text for text in said)
    low, high = figure.layout.xaxis.range
    assert all(low <= v <= high for ends in bars(figure).values() for v in ends)
    assert figure.layout.shapes[0].x0 == pytest.approx(math.log(5))


def test_numbers_of_the_waterfall_are_not_cut_on_a_phone(melons: Parts) -> None:
    balance = log_odds_terms(fitted(melons).explain(melons.X.iloc[[0]]), "是", "否")
    figure = waterfall(balance, list("abcdefghi"), SIDES)
    low, high = figure.layout.xaxis.range
    for note in figure.layout.annotations:
        free = high - note.x if note.xanchor == "left" else note.x - low
        assert 200 * free / (high - low) >= 7 * len(note.text) + 3


def test_names_of_readings_have_lines_of_their_own() -> None:
    panel = MeasurePanel("accuracy", (0.5, 0.7), ("50%", "70%"), more=True)
    axis = measure_panels(["a", "a long name that takes half of a phone"], [panel], active=0).layout.yaxis
    assert axis.ticklabelposition == "inside"
    assert all(axis.range[1] < place < row for place, row in zip(axis.tickvals, (0, 1), strict=True))


def test_verdict_shows_posteriors_and_risks() -> None:
    colours = ["#100", "#200", "#300"]
    figure = verdict(["good", "bad", "wait"], [0.9999998, 2e-7, None], [1e-6, 1.0, 0.2], colours, decided=0)
    assert list(figure.data[0].text) == ["0.9999998", "2.00000e-07", ""]
    assert list(figure.data[1].marker.opacity) == [1.0, 0.35, 0.35]
    gains = verdict(["a", "b"], [0.5, 0.5], [-3.0, -1.0], ["#100", "#200"], decided=0)
    low, high = gains.layout.xaxis2.range
    assert low < -3.0 < 0.0 <= high
    slim = verdict(["a", "b"], [1 - 2e-8, 2e-8], [2e-8, 1 - 2e-8], ["#100", "#200"], decided=0, narrow=True)
    assert max(slim.data[0].text, key=len) == "1 − 2e-08"
    assert slim.layout.xaxis.range[1] > 3.0  # a bar of a third of the room leaves the rest to its number


# the other families ---------------------------------------------------------------------------------------------

SEMI = {
    "spode": SPODE(), "tan": TAN(), "aode": AODE(), "k-db": KDependence(k=2),
    "tan-gaussian": TAN(discretize=None), "aode-rare": AODE(discretize=None, min_frequency=5),
    "tan-missing-level": TAN(missing="category"), "spode-unsmoothed": SPODE(alpha=0.0, discretize=None),
}  # fmt: skip


def with_gaps(X: pd.DataFrame, i: int) -> pd.DataFrame:
    """One row with every third cell missing, from another one on for each i."""
    case = X.iloc[[(7 * i) % len(X)]].copy()
    for j, name in enumerate(X.columns):
        if i and (i + j) % 3 == 0:
            case[name] = pd.Series([np.nan], index=case.index).astype(X[name].dtype)
    return case


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize(("kind", "name"), crossed(list(SEMI), ["watermelon2", "watermelon3", "penguins", "mushroom"]))
def test_the_working_of_every_family_is_the_ledger(name: str, kind: str) -> None:
    parts = parts_of(name)
    model = clone(SEMI[kind]).set_params(schema=parts.schema.features).fit(parts.X, parts.y)
    table = parts.X.assign(**{parts.target.name: parts.y.to_numpy()})
    for i in range(3):
        case = with_gaps(parts.X, i)
        found = derive(model, case, classes=parts.target.levels)
        np.testing.assert_allclose(np.sum([s.log_factors for s in found.steps], axis=0), found.log_joint, rtol=1e-9)
        for step in found.steps:
            for label, source in zip(found.classes, step.sources, strict=True):
                if isinstance(source, Term):
                    continue
                behind = rows_behind(table, parts.target.name, step, label)
                if isinstance(source, Fraction):
                    assert len(behind) == source.count
                elif isinstance(source, Density) and not source.stands_in:
                    x = behind[step.row.child].astype(float)
                    assert len(x) == source.n
                    assert x.mean() == pytest.approx(source.own_mean)
                    assert ((x - x.mean()) ** 2).sum() == pytest.approx(source.m2, rel=1e-9, abs=1e-9)
        for form in (render.to_text, render.to_markdown, latex.to_latex):
            assert form(found) and form(rounded(found))


def test_a_smoothed_cell_says_what_it_was_smoothed_by() -> None:
    parts = parts_of("watermelon3")
    model = TAN(discretize=None, alpha=2.0, schema=parts.schema.features).fit(parts.X, parts.y)
    found = derive(model, parts.X.iloc[[0]], classes=CLASSES)
    d = next(s.sources[0] for s in found.steps if s.row.child == "密度")
    assert isinstance(d, Density) and d.pseudo_counts is not None
    n, a = d.n, d.pseudo_counts.rows
    assert d.mean == pytest.approx((n * d.pseudo_counts.mean + a * d.pseudo_counts.class_mean) / (n + a))
    spread = (
        d.m2
        + a * d.pseudo_counts.class_variance
        + n * a / (n + a) * (d.pseudo_counts.mean - d.pseudo_counts.class_mean) ** 2
    )
    assert d.variance == pytest.approx(spread / (n - d.ddof + a))
    good = parts.X["密度"][parts.y == "是"]
    assert (d.pseudo_counts.class_mean, d.pseudo_counts.class_variance) == pytest.approx(
        (good.mean(), good.var(ddof=0))
    )
    assert variance_from(next(s for s in found.steps if s.row.child == "密度"), 0) == "smoothed"


def test_intervals_are_written_as_inequalities() -> None:
    cut = Variable("density", "continuous", ("≤ 0.4", "0.4 – 0.6", "> 0.6"), cuts=(0.4, 0.6))
    step = WorkingStep(Row("density", "density", ("good",), "log-probability"), "0.4 – 0.6", (0.5,),
                (Fraction(1.0, 2.0, 0.0, 3),), (), cut, 0.55)  # fmt: skip
    assert factor_names.title_of(step) == "density = 0.55 (0.4 – 0.6)"
    assert factor_names.name_of(step, "yes", "good") == "P(0.4 < density ≤ 0.6 | good=yes)"
    ends = [factor_names.relation(cut, level, factor_names.AS_IN_FILE).text for level in cut.levels]
    assert ends == ["density ≤ 0.4", "0.4 < density ≤ 0.6", "density > 0.6"]
    between = factor_names.relation(cut, "0.4 – 0.6", factor_names.AS_IN_FILE)
    assert latex.typeset(between) == r"\text{0.4}<\text{density}\le \text{0.6}"


@pytest.fixture(scope="module")
def aode() -> AODE:
    parts = parts_of("watermelon2")
    return AODE(schema=parts.schema.features).fit(parts.X, parts.y)


@pytest.mark.slow
def test_the_mean_of_the_super_parents_is_the_joint(aode: AODE) -> None:
    parts = parts_of("watermelon2")
    use = {"是": 0.2, "否": 0.8}
    for i in range(5):
        for prior in (None, use):
            case = with_gaps(parts.X, i)
            whole, mean = derive(aode, case, None, prior, CLASSES), average(aode, case, prior, CLASSES)
            assert mean.log_joint == pytest.approx(whole.log_joint)
            assert np.mean([p.joint for p in mean.active], axis=0) == pytest.approx(whole.joint)
            assert np.sum([p.share for p in mean.active], axis=0) == pytest.approx([1.0, 1.0])
            for parent in mean.parents:
                missing = case[parent.name].isna().iloc[0]
                assert (parent.why == "missing") == missing
                if missing:
                    continue
                under = derive_member(aode, case, parent.name, None, prior, CLASSES)
                assert under.log_joint == pytest.approx(parent.log_joint)
                assert np.prod([s.factors for s in under.steps], axis=0) == pytest.approx(under.joint)


def test_goldens_of_aode(aode: AODE) -> None:
    case = parts_of("watermelon2").X.iloc[[0]]
    mean = average(aode, case, classes=CLASSES)
    assert mean.joint == pytest.approx((0.01815394325, 0.0006916450575), rel=1e-9)
    assert derive(aode, case, classes=CLASSES).posterior[0] == pytest.approx(0.963299365, abs=1e-9)
    under = derive_member(aode, case, "敲声", classes=CLASSES)
    assert under.steps[0].sources[0] == Fraction(6.0, 17.0, 1.0, 6)
    assert next(s for s in under.steps if s.row.child == "脐部").factors[0] == pytest.approx(4 / 9)
    assert "P(好瓜=是, 敲声=浊响) = (6+1)/(17+6) = 0.3043" in render.to_text(under)
    assert "P(脐部=凹陷 | 好瓜=是, 敲声=浊响) = (3+1)/(6+3) = 0.4444" in render.to_text(under)
    wrong = as_misprinted(aode, case, classes=CLASSES)
    assert wrong is not None
    assert [f"{v:.5g}" for v in wrong.own_included] == ["0.014173", "0.00047632"]
    assert [f"{v:.5g}" for v in wrong.older_denominator] == ["0.020718", "0.00079198"]


def test_without_a_super_parent_naive_bayes_judges(aode: AODE) -> None:
    parts = parts_of("watermelon2")
    strict = aode.with_params(min_frequency=100.0)
    mean = average(strict, parts.X.iloc[[0]], classes=CLASSES)
    assert {p.why for p in mean.parents} == {"rare"}
    assert mean.weightiest is None
    naive = derive_member(strict, parts.X.iloc[[0]], None, classes=CLASSES)
    assert naive.log_joint == pytest.approx(derive(strict, parts.X.iloc[[0]], classes=CLASSES).log_joint)
    assert as_misprinted(strict, parts.X.iloc[[0]]) is None
    with pytest.raises(ParameterError, match="no super-parent of this case"):
        derive_member(aode, with_gaps(parts.X, 1), next(n for n in parts.X if with_gaps(parts.X, 1)[n].isna().iloc[0]))


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize("priors", ["empirical", "laplace", "uniform"])
@pytest.mark.parametrize("smoothing", ["factored", "joint"])
def test_super_parents_under_other_priors(priors: str, smoothing: str) -> None:
    parts = parts_of("watermelon3")
    model = AODE(priors=priors, smoothing=smoothing, schema=parts.schema.features).fit(parts.X, parts.y)
    case = parts.X.iloc[[3]]
    for parent in average(model, case).active:
        under = derive_member(model, case, parent.name)
        assert under.log_joint == pytest.approx(parent.log_joint)
        for step in under.steps:
            np.testing.assert_allclose([s.value for s in step.sources], step.factors, rtol=1e-9)


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()], ids=["lda", "qda"])
def test_log_terms_are_added(model: LinearDiscriminantAnalysis) -> None:
    parts = parts_of("iris")
    fitted_model = clone(model).set_params(schema=parts.schema.features).fit(parts.X, parts.y)
    for gaps in (False, True):
        case = parts.X.iloc[[60]].copy()
        if gaps:
            case.iloc[0, 1] = np.nan
        found = derive(fitted_model, case)
        assert found.additive
        assert [o.name for o in found.omitted] == (["sepal width"] if gaps else []) or len(found.omitted) == gaps
        np.testing.assert_allclose(np.sum([s.log_factors for s in found.steps], axis=0), found.log_joint)
        for step in found.steps:
            for source in step.sources:
                if isinstance(source, Linear):
                    assert source.weight * (source.x - source.middle) == pytest.approx(source.log_value, abs=1e-9)
        text = render.to_text(found)
        assert "log joint (nats) = " in text and "log P(" in text
        assert r"\log P(" in latex.to_latex(found)
        assert "e^" not in text
        hand = rounded(found)
        assert hand.log_joint == pytest.approx(found.log_joint, abs=0.01)


class _Quadratic(Factor):
    """A factor that only says its log terms."""

    def rows(self, X):
        yield Row("x", "x", ("y",), "log-density"), np.array([[-1.0, -2.5]])
        yield Row("of all", "Σ", (), "constant"), np.array([[-0.5, -0.5]])


def test_any_factor_has_a_working() -> None:
    X, y = pd.DataFrame({"x": [0.0, 1.0, 4.0, 6.0]}), pd.Series(["a", "a", "b", "b"], name="y")
    model, terms = NaiveBayes().fit(X, y), _Quadratic()
    ledger = Ledger(tuple(terms.rows(None)), ("a", "b"), np.zeros(1, dtype=np.int8))
    found = derive_from(model, ledger, list(terms.origins(model._encode(X.iloc[[0]]))), X.iloc[[0]])
    assert found.steps[0].sources == (Term(-1.0), Term(-2.5))
    assert found.additive
    assert found.log_joint == (-1.5, -3.0)
    assert "term of x=0 | y=a = −1.0000" in render.to_text(found)
    assert found.posterior[0] == pytest.approx(1 / (1 + math.exp(-1.5)))


def test_hints_speak_of_the_parents() -> None:
    parts = parts_of("watermelon2")
    model = TAN(schema=parts.schema.features).fit(parts.X, parts.y)
    found = derive(model, parts.X.iloc[[0]], classes=CLASSES)
    assert str(hint(found, 5, 1, "0.9")).startswith("Take the rows with 好瓜 = 否, 纹理 = 清晰; count those with 脐部")
    member = derive_member(AODE(schema=parts.schema.features).fit(parts.X, parts.y), parts.X.iloc[[0]], "敲声",
                           classes=CLASSES)  # fmt: skip
    assert "6 (6 pairs of a class and a value)" in str(hint(member, 0, 0, "6/17"))
    assert str(hint(member, 0, 0, "0.9")).startswith("Count the rows with 好瓜 = 是 and 敲声 = 浊响, and add 1; divide")


def test_the_hint_of_each_kind_of_factor_says_what_to_count() -> None:
    X = pd.DataFrame({"u": [3, 0, 1, 2, 4, 0], "v": [1, 2, 5, 0, 0, 3]})
    y = ["a", "a", "a", "b", "b", "b"]
    together = derive(NaiveBayes(likelihoods="joint-multinomial").fit(X, y), X[:1])
    assert "over the sum of all columns of the multinomial" in str(hint(together, 1, 0, "0.9"))
    parts = parts_of("watermelon3")
    model = TAN(discretize=None, alpha=2.0, schema=parts.schema.features).fit(parts.X, parts.y)
    found = derive(model, parts.X.iloc[[0]], classes=CLASSES)
    place = next(i for i, step in enumerate(found.steps) if step.row.child == "密度")
    assert "2 pseudo-observations with the mean and the variance of the whole class" in str(hint(found, place, 0, "9"))
