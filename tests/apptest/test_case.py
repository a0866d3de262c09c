"""The page One case: every number of the textbook examples, open to its rows; the verdict; blanks that are checked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import LossMatrix, NaiveBayes, load_dataset, numerals
from bayes_engine.decision.loss import decide
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.table.roles import take_apart
from bayes_engine.workbench.derivation import latex, render
from bayes_engine.workbench.derivation.check import read_number
from bayes_engine.workbench.derivation.derive import derive, rounded
from bayes_engine.workbench.derivation.exercise import draw
from pages.runtime.state import Spec, State, decode, encode
from pages.views.case import derivation
from tests.apptest.opened import opened, seen, showing, uploaded
from tests.conftest import crossed, slowly

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests/golden"
GOLDENS = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in GOLDEN.glob("*.toml")}
EXAMPLES = {name: example for name, example in GOLDENS.items() if "factors" in example}
NAMES_IN_FILE = {"labels": "file"}


def page(**state: Any) -> AppTest:
    """The page as a link to this state opens it."""
    return opened("case", State(**state))


def state(at: AppTest) -> State:
    found = at.session_state["state"]
    assert decode(encode(found)) == found  # whatever is on screen has a link
    return found


def click(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click().run()
    assert not at.exception
    return at


def factors(at: AppTest) -> dict[tuple[int, int], str]:
    """What stands in the table of factors, by step and class."""
    found = {}
    for button in at.button:
        kind, *where = (button.key or "").split("_")
        if kind == "factor":
            found[int(where[0]), int(where[1])] = button.label
    return found


def totals(at: AppTest, name: str, classes: int) -> list[str]:
    """The row of the joint or of the posterior."""
    texts = [m.value for m in at.markdown if "misprint" not in m.value]
    at_row = texts.index(f"**{name}**")
    return [text.strip("*") for text in texts[at_row + 1 : at_row + 1 + classes]]


def words(at: AppTest) -> str:
    """All words in the page's body."""
    parts: Sequence[Any] = [*at.main.markdown, *at.main.caption, *at.main.info, *at.main.warning, *at.main.success]
    return "\n".join(str(p.value) for p in parts).replace("\\", "").replace("\u2060", "")


def printed(shown: str, value: str) -> bool:
    """Whether the number on screen is the one in the example, to the printed digits: "5/8 = 0.6250"."""
    *fraction, decimal = value.split(" = ")
    *source, number = shown.split(" = ")
    if not source:
        fraction = []
    digits, form = len(decimal.split("e")[0].partition(".")[2]), "e" if "e" in decimal else "f"
    right = f"{float(number):.{digits}{form}}" == decimal or (decimal == "0" and float(number) == 0)
    if not fraction:
        return right
    counted = read_number(source[0])
    assert counted is not None
    return right and abs(counted - float(Fraction(fraction[0]))) < 1e-12


# the textbook examples ------------------------------------------------------------------------------------------


EXAMPLE = pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
MOMENTS = ("watermelon3-textbook",)
"""The example whose columns of numbers are opened by default; with the other variance they open apart."""


def of_example(example: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The example as a state: table, parameters, query; labels as in the file."""
    features = load_dataset(example["dataset"]).schema.features
    query = example["query"]
    codes = tuple(v.levels.index(query[v.name]) if v.discrete else float(query[v.name]) for v in features)
    preset = example.get("preset", "textbook")
    parameters = tuple((k, v) for k, v in sorted(example["parameters"].items()) if v != PRESETS[preset][k])
    return {"table": example["dataset"], "shelf": (Spec(preset, parameters),), "case": codes, **NAMES_IN_FILE} | more


@pytest.mark.slow
@EXAMPLE
def test_every_number_of_the_example_is_on_the_page(example: dict[str, Any]) -> None:
    at = page(**of_example(example, view=(("digits", "full"),)))
    classes = [str(c) for c in load_dataset(example["dataset"]).schema.target.levels]
    shown = factors(at)
    assert len(shown) == len(example["factors"]) * len(classes)
    for i, factor in enumerate(example["factors"]):
        for k, label in enumerate(classes):
            assert printed(shown[i, k], factor[label]), (shown[i, k], factor[label])
    for row in ("joint", "posterior"):
        for label, text in zip(classes, totals(at, row, len(classes)), strict=True):
            if row in example:
                assert printed(text, example[row][label]), (row, text, example[row][label])
    assert f"Judged **{example['decision']}**" in words(at)


@pytest.mark.parametrize("example", [(pytest.param if name in MOMENTS else slowly)(EXAMPLES[name], id=name)
                                     for name in EXAMPLES])  # fmt: skip
def test_the_gaussians_of_the_example_open(example: dict[str, Any]) -> None:
    names = [f["row"] for f in example["factors"]]
    at = page(**of_example(example))
    for moment in example.get("moments", []):
        for k, label in enumerate(map(str, load_dataset(example["dataset"]).schema.target.levels)):
            click(at, f"factor_{names.index(moment['column'])}_{k}")
            formulas = next(latex.value for latex in at.latex if r"\bar x" in latex.value)
            mean, variance = (line.split(" = ")[-1] for line in formulas.split(r"\\")[:2])
            assert printed(mean, moment["mean"][label])
            assert printed(variance.removesuffix(" "), moment["variance"][label])
            rows = at.dataframe[0].value
            assert rows["x − x̄"].sum() == pytest.approx(0, abs=1e-9)
            degrees = len(rows) - (1 if example["parameters"]["variance"] == "unbiased" else 0)
            assert printed(f"{rows['(x − x̄)²'].sum() / degrees}", moment["variance"][label])


@pytest.mark.slow
def test_mission_joints_at_first_sight() -> None:
    """With the digits the page opens with: watermelon 3.0 as printed, loan, three attributes."""
    melon = page(table="watermelon3", **NAMES_IN_FILE)
    assert totals(melon, "joint", 2) == ["0.052379", "6.85842e-05"]
    assert totals(melon, "posterior", 2) == ["0.998692", "0.00130768"]
    good = [factors(melon)[i, 0].split(" = ")[1] for i in range(9)]
    assert good == ["0.4706", "0.3750", "0.6250", "0.7500", "0.8750", "0.6250", "0.7500", "1.9590", "0.7881"]
    loan = page(table="loan", **NAMES_IN_FILE)
    assert totals(loan, "joint", 2) == ["2.43035e-10", "0.00123296"]
    three = page(table="three-attributes", **NAMES_IN_FILE)
    assert [float(t) for t in totals(three, "joint", 2)] == pytest.approx([1 / 40, 2 / 45], abs=5e-7)


# numbers open to their rows -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_number_leads_to_its_rows_and_closes_again() -> None:
    at = click(page(table="watermelon3"), "factor_5_0")
    assert (seen(state(at), "factor"), seen(state(at), "of")) == (5, 0)
    rows = at.dataframe[0].value
    assert rows.index[rows["counted"]].tolist() == [1, 2, 3, 4, 5]
    assert rows["navel"].tolist() == ["hollow"] * 5 + ["slightly hollow"] * 3
    assert "5 of the 8 rows with good melon = good have navel = hollow." in words(at)
    assert r"\begin{aligned}P &= \frac{5}{8} = 0.6250\end{aligned}" in at.latex[0].value
    assert not click(at, "factor_5_0").dataframe


@pytest.mark.slow
def test_the_prior_leads_to_the_class() -> None:
    at = click(page(table="watermelon3"), "factor_0_1")
    rows = at.dataframe[0].value
    assert rows["counted"].tolist() == [True] * 9 + [False] * 8
    assert rows.index[:9].tolist() == list(range(9, 18))


@pytest.mark.slow
def test_smoothing_is_said() -> None:
    at = page(table="watermelon3", shelf=(Spec("laplace"),), case=(0, 0, 2, 0, 0, 0, 0.697, 0.46))
    assert factors(at)[3, 0] == "(0+1)/(8+3) = 0.0909"
    click(at, "factor_3_0")
    assert "Smoothing adds 1 to the count of each of the 3 values." in words(at)


@pytest.mark.slow
def test_a_density_above_one_is_explained() -> None:
    assert "a density may be above 1" in words(page(table="watermelon3"))
    assert "for ε = 0.001 it is 0.001959" in words(page(table="watermelon3"))
    assert "a density may be above 1" not in words(page(table="loan"))


# misprints ------------------------------------------------------------------------------------------------------


def badges(at: AppTest) -> list[str]:
    """What lecture notes print otherwise, beside the numbers: misprints, and what they rounded."""
    found = (re.search(r"(misprint|rounded): (.*)\]", m.value.replace("\\", "")) for m in at.main.markdown)
    return [" ".join(named.groups()) for named in found if named]


@pytest.mark.slow
def test_misprints_stand_beside_their_numbers() -> None:
    at = page(table="watermelon3")
    density = "rounded 0.574, 0.129 → 1.959"
    assert badges(at) == ["misprint 6/8 = 0.750", density, "misprint 0.547", "misprint 0.063", "rounded 6.80e-05"]
    assert "notes on this example print 6/8 = 0.750" in words(click(at, "factor_5_0"))
    laplace = page(table="watermelon3", shelf=(Spec("laplace"),))
    assert badges(laplace) == [density, "misprint 0.547"]


@pytest.mark.slow
def test_an_exercise_has_no_misprints() -> None:
    assert not badges(page(table="watermelon3", view=(("exercise", 1),)))


# rounding, copies -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_rounding_gives_what_a_calculator_gives() -> None:
    at = page(table="watermelon3")
    at.segmented_control(key="digits").set_value("hand").run()
    assert factors(at)[7, 0] == "N(0.697; 0.574, 0.129²) = 1.963"
    assert factors(at)[5, 0] == "5/8 = 0.625"
    assert "with x̄ = 0.574 and s = 0.129 a calculator gives 1.963, not 1.959." in words(at)
    assert seen(state(at), "digits") == "hand"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", slowly("zh")])
def test_copies_hold_the_working(language: str) -> None:
    assert not page(table="watermelon3", language=language).code  # what colours it is loaded by those who open it
    at = page(table="watermelon3", language=language, view=(("copying", True),))
    working = derive(fitted("watermelon3"), melon(0), classes=["是", "否"])
    label = {"en": "navel", "zh": "脐部"}[language]
    for form, write in (("latex", latex.to_latex), ("markdown", render.to_markdown), ("text", render.to_text)):
        at.segmented_control(key="copy_form").set_value(form).run()
        text = at.code[0].value
        assert label in text
        assert text.count("0.052379") == write(working).count("0.052379") > 0
        assert language == "en" or ": " not in text  # a Chinese colon is a full one


@cache
def fitted(name: str, preset: str = "textbook") -> NaiveBayes:
    data = load_dataset(name)
    features = data.schema.features
    X = data.frame[list(features.names)]
    return NaiveBayes(schema=features, **PRESETS[preset]).fit(X, data.frame[data.info.target])


def melon(i: int) -> pd.DataFrame:
    """The features of one melon."""
    return load_dataset("watermelon3").frame.iloc[[i]].drop(columns="好瓜")


# the verdict ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_verdict_follows_losses_and_prior_of_use() -> None:
    fifteenth = (1, 1, 0, 0, 1, 1, 0.36, 0.37)
    at = page(table="watermelon3", case=fifteenth, losses=((0.0, 5.0), (1.0, 0.0)), prior=(0.1, 0.9))
    model = fitted("watermelon3")
    ledger = model.explain(melon(14)).at_prior(model.class_prior_, {"是": 0.1, "否": 0.9})
    loss = LossMatrix(("是", "否"), ("是", "否"), [[0, 5], [1, 0]]).for_classes(ledger.classes)
    right = decide(ledger.posterior(), loss)
    good = ledger.posterior()[0, ledger.classes.index("是")]
    decided = {"是": "good", "否": "bad"}[right.action[0]]
    assert f"Judged **{decided}**" in words(at)
    assert float(totals(at, "posterior", 2)[0]) == pytest.approx(good, abs=1e-6)
    last = max(i for i, _k in factors(at))
    assert factors(at)[last, 0] == "0.1/0.470588 = 0.2125"
    assert any(numerals.number(right.risk[0], 6) in latex.value for latex in at.latex)
    plain = page(table="watermelon3", case=fifteenth)
    assert "Judged **good**" in words(plain)
    assert all("/0.47" not in label for label in factors(plain).values())


def test_no_posterior_is_said_in_words() -> None:
    at = page(table="loan", case=(1, 1, 1e300))
    assert "No posterior: outside the range of the data" in words(at)
    assert totals(at, "posterior", 2) == ["–", "–"]
    assert "nan" not in (words(at) + "".join(factors(at).values())).lower()


def test_an_infinite_cell_comes_through_no_link() -> None:
    assert "This link could not be read" in words(page(table="loan", case=(1, 1, float("inf"))))


@pytest.mark.slow
def test_an_impossible_case_is_said_in_words() -> None:
    """Each class is ruled out by a level that only the other one has."""
    frame, schema = load_dataset("mushroom").frame, load_dataset("mushroom").schema
    case: list[int | None] = [None] * len(schema.features)
    for label in schema.target.levels:
        for j, variable in enumerate(schema.features):
            of = frame.groupby(variable.name, observed=True)[schema.target.name].agg(set)
            only = [level for level, classes in of.items() if classes == {label}]
            if only and case[j] is None:
                case[j] = variable.levels.index(only[0])
                break
    at = page(table="mushroom", shelf=(Spec("textbook"),), case=tuple(case))
    assert "No posterior: impossible under this model" in words(at)
    assert totals(at, "joint", 2) == ["0", "0"]
    assert len(at.button_group) > 0  # the contributions are drawn all the same


# the case -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_row_of_the_table_can_be_left_out() -> None:
    at = page(table="watermelon3", row=14, case=(1, 1, 0, 0, 1, 1, 0.36, 0.37))
    assert "row 15 of the table, whose class is **bad**; it is among the rows counted" in words(at)
    data = load_dataset("watermelon3")
    X, y = data.frame.drop(columns="好瓜"), data.frame["好瓜"]
    each = np.exp(fitted("watermelon3").leave_one_out_log_proba(X, y))
    good = fitted("watermelon3").classes_.tolist().index("是")
    assert f"Not counted, P(bad) would be {numerals.number(each[14, 1 - good], 6)}." in words(at)
    at.toggle(key="left_out").set_value(True).run()
    assert float(totals(at, "posterior", 2)[0]) == pytest.approx(each[14, good], abs=1e-6)
    assert factors(at)[0, 1].startswith("8/16")
    rows = click(at, "factor_0_1").dataframe[0].value
    assert 15 not in rows.index
    at.selectbox(key="case_0").set_value(0).run()
    assert not seen(state(at), "left_out")


@pytest.mark.slow
def test_typing_a_case() -> None:
    at = page(table="watermelon3")
    at.selectbox(key="case_0").set_value(2).run()
    at.number_input(key="case_6").set_value(0.5).run()
    assert state(at).case == (2, 0, 0, 0, 0, 0, 0.5, 0.46)
    assert state(at).row == -1
    case = melon(0).assign(密度=0.5, 色泽=pd.Categorical(["浅白"], categories=["青绿", "乌黑", "浅白"]))
    right = derive(fitted("watermelon3"), case, classes=["是", "否"])
    assert [float(t) for t in totals(at, "posterior", 2)] == pytest.approx(right.posterior, abs=1e-6)


@pytest.mark.slow
def test_a_missing_cell_has_no_factor() -> None:
    at = page(table="watermelon3")
    at.selectbox(key="case_1").set_value(None).run()
    at.number_input(key="case_7").set_value(None).run()
    assert state(at).case == (0, None, 0, 0, 0, 0, 0.697, None)
    assert len(factors(at)) == 7 * 2
    assert words(at).count("missing: it has no factor, the product goes on without it") == 2


def test_worked_cases_and_rows_are_quick_choices() -> None:
    at = page(table="loan")
    at.button_group(key="case_worked").set_value(1).run()
    assert state(at).case == (0, 1, 90.0)
    assert factors(at)[1, 0] == "0/3 = 0"
    at.number_input(key="case_row").set_value(3).run()
    assert state(at).row == 2
    assert "row 3 of the table" in words(at)


# let me fill in -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_blanks_are_checked_on_entry() -> None:
    at = page(table="watermelon3", view=(("fill", True),))
    shown = words(at)
    assert "0.998" not in shown
    assert "Judged" not in shown
    assert not factors(at)
    assert at.dataframe[0].value.shape == (17, 9)
    assert "0 of 22 steps right" in progress(at)
    at.text_input(key="fill_f1_0").set_value("3/8").run()
    at.text_input(key="fill_f7_0").set_value("1.963").run()
    at.text_input(key="fill_j_0").set_value("0.0524").run()
    at.text_input(key="fill_f0_0").set_value("0.5").run()
    assert "3 of 22 steps right" in progress(at)
    assert re.search(r"Early rounding.*with the printed 0.*574 and 0.*129 a calculator gives", words(at))
    assert "Count the rows with good melon = good; divide by all rows." in words(at)
    assert dict(seen(state(at), "answers")) == {"f0_0": "0.5", "f1_0": "3/8", "f7_0": "1.963", "j_0": "0.0524"}
    at.text_input(key="fill_f0_0").set_value("").run()
    assert "Count the rows" not in words(at)


def progress(at: AppTest) -> str:
    return " ".join(str(node.proto.text) for node in at.main.get("progress"))


@pytest.mark.slow
def test_a_note_says_of_whose_answer_it_speaks_where_a_line_has_two() -> None:
    at = opened("case", showing(State(table="watermelon3", language="en"), fill=True))
    at.text_input(key="fill_j_0").set_value("0.063").run()
    assert any("lightbulb: A misprint of the source" in c.value for c in at.caption)
    at.text_input(key="fill_j_1").set_value("6.80e-5").run()
    notes = [c.value.removeprefix(":material/lightbulb: ") for c in at.caption if "lightbulb" in c.value]
    assert [note.split(" ")[0] for note in notes] == ["**good**:", "**bad**:"]


def test_a_sheet_filled_in_right_is_praised() -> None:
    data = load_dataset("loan")
    case = pd.DataFrame({"Gender": ["Male"], "Married": ["No"], "Income": [120.0]})
    working = derive(fitted("loan"), case, classes=data.schema.target.levels)
    hand = rounded(working)
    answers = {f"f{i}_{k}": render.hand(s.factors[k], 3) for i, s in enumerate(hand.steps) for k in (0, 1)}
    answers |= {f"j_{k}": f"{working.joint[k]:.3g}" for k in (0, 1)}
    answers |= {f"p_{k}": f"{working.posterior[k]:.3g}" for k in (0, 1)}
    at = page(table="loan", view=(("answers", tuple(answers.items())), ("fill", True)))
    assert "12 of 12 steps right" in progress(at)
    assert "All correct." in words(at)


def test_forged_answers_do_no_harm() -> None:
    forged = (("f0_0", 3), 7, ("x",), ("f0_1", "<b>"), (("y",), "z"))
    at = page(table="loan", view=(("answers", forged), ("exercise", 2**53), ("fill", True)))
    assert "0 of " in progress(at)


@pytest.mark.slow
def test_another_exercise_is_a_new_table_and_case() -> None:
    at = click(page(table="watermelon3"), "exercise")
    assert (seen(state(at), "exercise"), seen(state(at), "fill")) == (1, True)
    assert "Exercise 1: 17 rows drawn" in words(at)
    first = at.dataframe[0].value
    data = load_dataset("watermelon3")
    drawn = draw(take_apart(data.frame, data.schema), fitted("watermelon3"), 1)
    assert first["density"].tolist() == drawn.parts.X["密度"].tolist()
    working = derive(drawn.model, pd.DataFrame({n: [v] for n, v in drawn.case.items()}), classes=["是", "否"])
    at.text_input(key="fill_p_0").set_value(f"{working.posterior[0]:.4g}").run()
    assert "1 of 22 steps right" in progress(at)
    click(at, "exercise")
    assert seen(state(at), "exercise") == 2
    assert not seen(state(at), "answers")
    assert at.dataframe[0].value["density"].tolist() != first["density"].tolist()
    at.toggle(key="fill").set_value(False).run()
    second = draw(take_apart(data.frame, data.schema), fitted("watermelon3"), 2)
    right = derive(second.model, pd.DataFrame({n: [v] for n, v in second.case.items()}), classes=["是", "否"])
    assert [float(t) for t in totals(at, "joint", 2)] == pytest.approx(right.joint, rel=1e-5)
    assert at.dataframe[0].value["feature"].tolist()[0] == "colour"
    click(at, "exercise_back")
    assert totals(at, "joint", 2) == ["0.052379", "6.85842e-05"]
    click(at, "exercise")
    click(at, "exercise_back")
    assert (seen(state(at), "exercise"), seen(state(at), "fill")) == (0, True)


def test_a_large_table_is_not_counted_by_hand() -> None:
    at = page(table="mushroom", view=(("fill", True),))
    assert "8124 rows, too many to count by hand" in words(at)
    click(at, "exercise")
    assert len(at.dataframe[0].value) <= 24


# other tables ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "steps", "classes"), [("mushroom", 23, 2), ("wine", 14, 3), ("penguins", 7, 3)])
def test_other_tables(name: str, steps: int, classes: int) -> None:
    at = page(table=name)
    assert len(factors(at)) == steps * classes
    assert sum(float(t) for t in totals(at, "posterior", classes)) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.slow
def test_a_row_with_missing_cells() -> None:
    at = page(table="penguins")
    at.number_input(key="case_row").set_value(4).run()  # no measurements, no sex
    assert len(factors(at)) == 2 * 3
    assert words(at).count("missing: it has no factor") == 5


@pytest.mark.slow
def test_contributions_of_three_classes() -> None:
    at = page(table="wine")
    assert (at.selectbox(key="case_for").value, at.selectbox(key="case_against").value) == (0, 1)
    at.selectbox(key="case_against").set_value(2).run()
    at.selectbox(key="case_for").set_value(2).run()  # the one that was against: another takes its place
    assert seen(state(at), "for") == 2
    assert at.selectbox(key="case_against").value != 2
    at.segmented_control(key="case_unit").set_value("bits").run()
    at.segmented_control(key="case_order").set_value("table").run()
    assert not at.exception
    assert (seen(state(at), "unit"), seen(state(at), "order")) == ("bits", "table")


HOSTILE = (
    "![x](http://a.b/c.png),$\\alpha$ | <b>,n {x} %{y},:red[t]\n"
    "`a`,1.5,*x*,<script>\n$b$,2.5,_y_,**no**\n`a`,3.5,*x*,**no**\n$b$,0.5,_y_,<script>\n"
)


@pytest.mark.slow
def test_hostile_names_are_shown_as_they_are() -> None:
    at = uploaded(HOSTILE.encode(), page="case")
    for i, k in dict(list(factors(at))).items():  # one a column
        click(at, f"factor_{i}_{k}")
    for text in [e.value for e in (*at.main.markdown, *at.main.caption)] + [s.label for s in at.selectbox]:
        assert "![" not in text
        assert "http:/" not in text
        assert not re.search(r"(?<!\\)\$", text)
    at.session_state["state"] = showing(state(at), fill=True, exercise=1)
    at.run()
    assert not at.exception


@pytest.mark.slow
def test_many_classes_and_many_factors() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{j}": rng.choice(["a", "b", "c"], 300) for j in range(50)})
    frame["class"] = [f"c{i % 12}" for i in range(300)]
    at = uploaded(frame.to_csv(index=False).encode(), page="case")
    assert len(factors(at)) == 40 * 4
    at.segmented_control(key="factor_page").set_value(40).run()
    assert sorted({i for i, _k in factors(at)}) == list(range(40, 51))
    at.multiselect(key="classes_shown").set_value([0, 11]).run()
    assert {k for _i, k in factors(at)} == {0, 11}


def test_no_table_no_page() -> None:
    at = page(table="loan", columns=((4, "ignore", "", ()),))
    assert at.error


# the other families ---------------------------------------------------------------------------------------------

AODE_GOLDEN = GOLDENS["watermelon2-aode"]
MELON = {"table": "watermelon2", **NAMES_IN_FILE}
GOOD_BAD = ("是", "否")
FEATURES = load_dataset("watermelon2").schema.features.names


def of_family(family: str, *parameters: tuple[str, Any]) -> dict[str, Any]:
    return {"shelf": (Spec("textbook", tuple(sorted(parameters)), family),)}


def super_parents(at: AppTest) -> list[str]:
    """The joints of the super-parents, class after class, as they stand on the page."""
    texts = [m.value for m in at.main.markdown]
    return [m.group(1) for text in texts if (m := re.match(r"(\S+) :gray\[· .*%\]", text))]


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_aode_is_the_golden_example(threshold: float) -> None:
    parameters = () if threshold == 1.0 else (("min_frequency", threshold),)
    at = page(**MELON, **of_family("aode", *parameters), view=(("digits", "full"), ("super_parent", 2)))
    assert len(super_parents(at)) == 12
    said = words(at)
    for label in GOOD_BAD:
        mean = re.search(rf"P\(text{{{label}}}.*?= ([^=$]+)\$", said)
        assert mean is not None
        value = re.sub(r" times 10\^\{(-\d+)\}", r"e\1", mean[1])
        assert float(value) == pytest.approx(float(AODE_GOLDEN["joint"][label]), rel=1e-8)
    by_class = np.array([float(v) for v in super_parents(at)]).reshape(6, 2)
    golden = [float(AODE_GOLDEN["joint"][label]) for label in GOOD_BAD]
    assert by_class.mean(axis=0) == pytest.approx(golden, rel=1e-8)
    posterior = next(latex.value for latex in at.latex if r"\frac" in latex.value)
    assert f"{float(AODE_GOLDEN['posterior']['是']):.8f}"[:9] in posterior
    assert "Judged **是**" in said


@pytest.mark.slow
def test_a_super_parent_opens_its_factors() -> None:
    (stated,) = AODE_GOLDEN["super_parents"]
    at = page(**MELON, **of_family("aode"), view=(("super_parent", FEATURES.index(stated["column"])),))
    shown = factors(at)
    assert len(shown) == 12
    child = 1 + [f for f in FEATURES if f != stated["column"]].index(stated["child"])
    for k, label in enumerate(GOOD_BAD):
        assert printed(shown[0, k], stated["joint"][label])
        assert printed(shown[child, k], stated["conditional"][label])
    click(at, f"factor_{child}_0")
    assert "3 of the 6 rows with 好瓜 = 是, 敲声 = 浊响 have 脐部 = 凹陷." in words(at)
    assert at.dataframe[0].value["counted"].sum() == 3
    click(at, "factor_0_0")
    assert "6 of the 17 rows where 敲声 is known have 好瓜 = 是 and 敲声 = 浊响." in words(at)
    click(at, "super_0")
    assert seen(state(at), "super_parent") == 0
    assert "The factors under 色泽 = 青绿" in words(at)
    assert totals(at, "joint", 2)[0] == "0.00869565"


@pytest.mark.slow
def test_what_the_misprints_of_aode_give() -> None:
    at = page(**MELON, **of_family("aode"))
    table = next(m.value for m in at.main.markdown if "older printings" in m.value)
    _head, _rule, right, own, older = table.splitlines()
    misprinted = AODE_GOLDEN["printed"]
    joints = (AODE_GOLDEN["joint"], misprinted["every_j"], misprinted["rows_and_levels"])
    for line, stated in zip((right, own, older), joints, strict=True):
        for text, label in zip(line.strip("| ").split(" | ")[-2:], GOOD_BAD, strict=True):
            assert float(text) == pytest.approx(float(stated[label]), rel=1e-4)


def test_a_rare_super_parent_takes_no_part() -> None:
    at = page(**MELON, **of_family("aode", ("min_frequency", 7.0)))
    assert "only 6 rows have it, fewer than the 7 asked for" in words(at)
    assert "5 of 6 take part" in words(at)
    alone = page(**MELON, **of_family("aode", ("min_frequency", 100.0)))
    assert "judged by naive Bayes" in words(alone)
    assert [text.split(" = ")[0] for text in list(factors(alone).values())[:2]] == ["(8+1)/(17+2)", "(9+1)/(17+2)"]


def test_aode_is_filled_in_under_one_super_parent() -> None:
    at = page(**MELON, **of_family("aode"), view=(("fill", True), ("super_parent", 2)))
    assert len(at.text_input) == 14  # six factors and the joint, for two classes; the mean is not asked
    at.text_input(key="fill_f0_0").set_value("7/23").run()
    at.text_input(key="fill_f4_0").set_value("3/9").run()
    assert "1 of 14 steps right" in at.main.get("progress")[0].proto.text
    assert "敲声 = 浊响" in words(at)
    at.selectbox(key="super_parent").set_value(0).run()
    assert not at.exception
    assert not any(field.value for field in at.text_input)


@pytest.mark.slow
def test_tan_names_its_parents() -> None:
    at = page(**MELON, **of_family("tan"), view=(("factor", 5), ("of", 1)))
    assert "0 of the 2 rows with 好瓜 = 否, 纹理 = 清晰 have 脐部 = 凹陷." in words(at)
    assert factors(at)[5, 1] == "(0+1)/(2+3) = 0.2000"
    assert "given 纹理 = 清晰" in words(at)
    copied = page(**MELON, **of_family("tan"), view=(("copy", "text"),)).code[0].value
    assert "P(脐部=凹陷 | 好瓜=否, 纹理=清晰) = (0+1)/(2+3) = 0.2000" in copied


def test_hidden_cells_are_said_and_add_up() -> None:
    hidden = page(**MELON, **of_family("tan"), case=(0, None, 0, None, 0, 0), view=(("factor", 7), ("of", 0)))
    assert "cells not known" in [m.value for m in hidden.main.markdown]
    assert "make the sum over these cells exact" in words(hidden)
    for k in range(2):
        column = [float(text.split(" = ")[-1]) for (_i, of), text in factors(hidden).items() if of == k]
        assert np.prod(column) == pytest.approx(float(totals(hidden, "joint", 2)[k]), rel=1e-3)


def test_terms_of_lda_add_up() -> None:
    at = page(table="iris", **of_family("lda"), view=(("factor", 2), ("of", 1), ("fill", True)))
    assert at.toggle(key="fill").disabled
    for k in range(3):
        terms = [float(text.split(" = ")[-1].replace("−", "-")) for (_i, of), text in factors(at).items() if of == k]
        assert sum(terms) == pytest.approx(float(totals(at, "log joint (nats)", 3)[k].replace("−", "-")), abs=1e-3)
    assert "half-way between" in words(at)


@pytest.mark.parametrize(("table", "family", "view"), crossed(
    ["watermelon3", "penguins", "iris"],
    ["spode", "tan", "aode", "k-db", "lda", "qda"],
    [(("factor", 0),), (("fill", True),), (("copy", "latex"), ("digits", "hand")), (("exercise", 2),)],
))  # fmt: skip
def test_every_family_works(table: str, family: str, view: tuple[tuple[str, Any], ...]) -> None:
    features = load_dataset(table).schema.features
    gaps = tuple(None if j % 3 == 1 else (0 if v.discrete else float(v.pivot)) for j, v in enumerate(features))
    for case in ((), gaps):
        page(table=table, case=case, **of_family(family), view=view)


@pytest.mark.slow
@pytest.mark.parametrize(("language", "labels", "formula"), [("en", "", "P(knock=crisp|good) = 0/8"),
                                                             ("zh", "", "P(敲声=清脆|好瓜) = 0/8"),
                                                             ("en", "file", "P(敲声=清脆|是) = 0/8")])  # fmt: skip
def test_a_story_names_columns_and_levels_as_the_page_does(language: str, labels: str, formula: str) -> None:
    crisp = State(table="watermelon3", case=(0, 0, 2, 0, 0, 0, 0.697, 0.46), language=language, labels=labels)
    said = "\n".join(one.value for one in opened("case", crisp).caption).replace("\\", "")
    assert formula in said
    if (language, labels) == ("en", ""):
        assert not re.search("[\u4e00-\u9fff]", said)


@pytest.mark.slow
def test_a_misprint_is_said_by_the_names_on_screen() -> None:
    app = opened("case", showing(State(table="watermelon3", language="en"), factor=5, of=0))
    said = "\n".join(one.value for one in app.caption).replace("\\", "")
    assert "P(navel=hollow|good)" in said and not re.search("[\u4e00-\u9fff]", said)


def test_no_rule_of_the_table_of_factors_looks_into_what_it_holds() -> None:
    """With `:has` every element that a chart adds had the whole page styled anew: 6 s of a processor an opening."""
    assert ":has(" not in derivation._sheet()
