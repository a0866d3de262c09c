"""The doctor on the page Data: every finding stands in a column's head, and every button of it mends in one click."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from unittest import mock

import hypothesis.strategies as some
import pandas as pd
import pytest
from hypothesis import given
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from bayes_engine import load_dataset
from bayes_engine.errors import TableError, listen
from bayes_engine.table.read import Reading
from bayes_engine.workbench.doctor import finding
from bayes_engine.workbench.doctor.examine import examine
from bayes_engine.workbench.doctor.finding import Finding, ModelInUse, ReadText, Repair, SetKind, SetRole
from bayes_engine.workbench.doctor.finding import label as label_of
from bayes_engine.workbench.doctor.repair import treatments
from bayes_engine.workbench.incoming.file_blocks import CellBlocks
from bayes_engine.workbench.incoming.second_table import CellRules, Reception
from pages import active
from pages.active.files import TABLE, File, Upload
from pages.active.tables import cells_as_read
from pages.runtime.state import START, Spec, State, decode, encode, state_from_json
from pages.views.classify.judged import _mended
from pages.views.data import columns
from pages.views.data.doctor import edits, wording
from tests.apptest.opened import opened, seen, sent_to, showing, uploaded
from tests.conftest import PATIENCE, examples, one_in, slowly
from tests.unit.test_doctor_claims import skewed


def settled(at: AppTest) -> AppTest:
    """The page once nothing is computed any more."""
    end = time.monotonic() + PATIENCE
    while any((b.key or "").startswith("job_cancel") for b in at.button):
        assert time.monotonic() < end
        time.sleep(0.1)
        at.run()
        assert not at.exception
    return at


def page(content: str) -> AppTest:
    return settled(uploaded(content.encode(), page="data"))


def heads(at: AppTest) -> dict[str, dict[str, int]]:
    """The marks in the heads, by column."""
    return {c["name"]: dict(map(tuple, c["marks"])) for c in sent_to(at, "bayes_heads")["columns"]}


def shown_role(at: AppTest, name: str) -> str:
    return next(c["sub"] for c in sent_to(at, "bayes_heads")["columns"] if c["name"] == name)


def press(at: AppTest, label: str) -> AppTest:
    found = [b for b in at.button if label in b.label.replace("\\", "")]
    assert found, (label, [b.label for b in at.button if b.key and b.key.startswith("mend_")])
    found[0].click().run()
    assert not at.exception
    return settled(at)


def keyed(at: AppTest, key: str) -> Button:
    """The button of a list, whose key goes on with what it does."""
    return next(b for b in at.button if (b.key or "").startswith(f"{key}_"))


def late(at: AppTest, button: Button) -> AppTest:
    """A click on a button of a run before the last comes, which the browser still showed."""
    states = at._tree.get_widget_states()
    states.widgets.append(button.click()._widget_state)
    at._run(states)
    assert not at.exception
    return settled(at)


def told(at: AppTest) -> str:
    return "\n".join(m.value for m in at.markdown).replace("\\", "")


def table(rows: int, **columns: Callable[[int], object]) -> str:
    lines = [",".join(columns)]
    lines += [",".join(str(make(i)) for make in columns.values()) for i in range(rows)]
    return "\n".join(lines) + "\n"


def noise(seed: int, n: int = 400) -> list[float]:
    lot = random.Random(seed)
    return [round(lot.gauss(0.0, 1.0), 3) for _i in range(n)]


X, Z, U = noise(1), noise(2), noise(3)


def y(i: int) -> str:
    return "pos" if X[i] + Z[i] > 0 else "neg"


def word(i: int) -> str:
    return "abcd"[int(abs(U[i]) * 10) % 4]


def months(i: int) -> str:
    return f"20{10 + i % 9}-0{1 + i % 9}-{10 + i % 18}"


CASES: dict[str, tuple[str, str, str]] = {
    "leak": (table(80, x=lambda i: X[i], late=lambda i: 5 + 10 * (y(i) == "pos") + i % 3, y=y),
             "alone predicts the class", "Leave out 'late'"),
    "copy-of-target": (table(80, x=lambda i: X[i], same=lambda i: "AB"[y(i) == "pos"], y=y), "under another name",
                       "Leave out 'same'"),
    "single-row-class": (table(80, x=lambda i: X[i], y=lambda i: "odd" if i == 7 else y(i)), "too few rows",
                         "Leave out the rows"),
    "rare-class": (table(80, x=lambda i: X[i], y=lambda i: "odd" if i < 3 else y(i)), "fewer than 5 rows",
                   "Leave out the rows"),
    "imbalance": (table(200, x=lambda i: X[i], y=lambda i: "yes" if i % 20 == 0 else "no"), "times as many rows",
                  "Make an error costlier"),
    "nearly-constant": (table(300, x=lambda i: X[i], c=lambda i: "b" if i == 9 else "a", y=y), "has one value in",
                        "Leave out 'c'"),
    "duplicate-column": (table(80, x=lambda i: X[i], again=lambda i: X[i], y=y), "counted twice", "Leave out 'again'"),
    "duplicate-rows": (table(80, x=lambda i: X[i % 60], z=lambda i: Z[i % 60], y=lambda i: y(i % 60)),
                       "stand a second time", "Keep one of equal rows"),
    "spellings": (table(120, x=lambda i: X[i], w=lambda i: ("yes", "no", "no", "Yes", "yes")[i % 5] if i > 6 else "YES",
                        y=y), "differ from others only in case", "Make one level"),
    "mixed-types": (table(120, x=lambda i: X[i], m=lambda i: "n/k" if i % 16 == 5 else Z[i], y=y),
                    "holds numbers except", "Make these cells"),
    "date": (table(120, x=lambda i: X[i], when=months, y=y), "holds dates", "in days"),
    "high-cardinality": (table(120, x=lambda i: X[i], w=lambda i: f"w{i % 45}", y=y), "too few to estimate",
                         "Leave out 'w'"),
    "codes": (table(400, x=lambda i: X[i], c=lambda i: 1 + i % 4, y=lambda i: "pos" if i % 4 in (0, 2) and i % 7 else
                    "neg"), "as names than as amounts", "Read 'c' as categorical"),
    "missing": (table(80, x=lambda i: X[i], h=lambda i: Z[i] if i % 4 == 0 else "", y=y), "is missing in",
                "Leave out 'h'"),
    "missing-tells": (table(200, x=lambda i: X[i], h=lambda i: "" if y(i) == "pos" and i % 3 else word(i), y=y),
                      "is missing is informative", "Count missing as a level"),
    "sentinel": (table(120, x=lambda i: X[i], h=lambda i: -999 if i in (4, 40, 77) else 170 + round(Z[i] * 5, 1), y=y),
                 "may mean that the value is not known", "means missing"),
    "outliers": (table(200, x=lambda i: X[i], h=lambda i: 5000.5 if i == 8 else 20 + Z[i], y=y), "robust standard",
                 "Make these cells"),
    "tiny-variance": (table(120, h=lambda i: (3 if y(i) == "neg" else 3 + Z[i] * 1e3), x=lambda i: U[i], y=y),
                      "hardly varies", "One variance for all"),
    "skew": (table(400, h=lambda i: round(math.exp(2.2 * U[i]), 4), x=lambda i: X[i], y=y), "is skewed", "by MDLP"),
    "not-normal": (table(400, h=lambda i: round(((-1) ** int(U[i] * 100)) * 5 + Z[i] / 3, 3), x=lambda i: X[i], y=y),
                   "are lost by taking it so", "Kernel density for h"),
    "collinear": (table(300, a=lambda i: X[i], b=lambda i: Z[i], c=lambda i: round(X[i] + Z[i] + U[i] / 30, 4), y=y),
                  "can be predicted from the other numbers", "Leave out"),
    "dependence": (table(300, a=word, b=lambda i: word(i) if i % 9 else "a", x=lambda i: X[i], y=y),
                   "which naive Bayes", "Add TAN"),
    "covariances": (table(400, a=lambda i: X[i] if y(i) == "pos" else 4 * X[i], b=lambda i: Z[i] if y(i) == "pos" else
                          round(Z[i] / 5, 3), y=y), "degrees of freedom)", "Add QDA"),
}  # fmt: skip
"""A table in which a finding is met, what of its sentence is looked for, and its button."""


@pytest.mark.parametrize("code", one_in(4, CASES))
def test_a_finding_is_gone_once_it_is_mended(code: str, held: Callable[[str], State]):
    content, sentence, button = CASES[code]
    state = held(content)
    finding = next(f for f in still_open(state) if sentence in str(f.message))
    mended = edits.with_mends_done(state, [next(mend for mend in finding.mends if button in str(label_of(mend)))])
    assert mended != state
    assert not [str(f.message) for f in still_open(mended) if sentence in str(f.message)]


def still_open(state: State) -> tuple[Finding, ...]:
    """What there is to mend under the active model and the losses of this state."""
    here = active.in_use(state)
    spec = (state.shelf or active.shelf_of(here))[state.active]
    model = ModelInUse(spec.family, active.settings(spec))
    return examine(here.frame, here.parts.schema).open(model, bool(state.losses))


@pytest.mark.slow
@pytest.mark.parametrize("code", [code if code in ("leak", "dependence") else slowly(code) for code in CASES])
def test_a_finding_is_said_and_gone_after_one_click(code: str):
    content, sentence, button = CASES[code]
    at = page(content)
    assert sentence in told(at), told(at)
    press(at, button)
    assert sentence not in told(at), told(at)
    assert at.session_state["state"] != START


@pytest.mark.slow
def test_an_identifier_that_is_read_is_named_and_set_aside():
    at = page(table(60, key=lambda i: f"R{i:04d}x", x=lambda i: X[i], y=y))
    assert "identifies the row" not in told(at)  # its role takes care of it already
    state = at.session_state["state"]
    at.session_state["state"] = State(table=state.table, columns=((0, "feature", "categorical", ()),))
    settled(at.run())
    assert "identifies the row" in told(at) and heads(at)["key"]["serious"] == 1
    press(at, "Make 'key' id")
    assert shown_role(at, "key") == "id · categorical"
    assert "identifies the row" not in told(at)


@pytest.mark.slow
def test_a_repair_is_a_chip_that_undoes_it_and_is_in_the_link():
    at = page(CASES["sentinel"][0])
    press(at, "-999 in 'h' means missing")
    state = at.session_state["state"]
    assert state.repairs == (("value-missing", 1, -999.0),)
    assert decode(encode(state)) == state
    shown = next(c for c in sent_to(at, "bayes_heads")["columns"] if c["name"] == "h")
    assert [shown["texts"][i] for i in (4, 40, 77)] == [None] * 3
    chip = next(b for b in at.button if (b.key or "").startswith("undo_0_"))
    assert "-999 means missing" in chip.label.replace("\\", "")
    chip.click().run()
    settled(at)
    assert at.session_state["state"].repairs == ()
    assert CASES["sentinel"][1] in told(at)


@pytest.mark.slow
def test_a_late_click_on_a_mend_is_none_of_the_table_or_finding_in_its_place():
    columns = {"x": lambda i: X[i], "h": lambda i: -999 if i in (4, 40, 77) else 170 + U[i] * 5,
               "k": lambda i: -888 if i in (5, 41, 78) else 60 + U[-i] * 5}  # fmt: skip
    at = page(table(120, **columns, y=y))
    mend = next(b for b in at.button if "-999 in 'h' means missing" in b.label.replace("\\", ""))
    mend.click().run()
    settled(at)
    once = at.session_state["state"]
    assert [r[:2] for r in once.repairs] == [("value-missing", 1)]
    assert any(b.key.rsplit("_", 1)[0] == mend.key.rsplit("_", 1)[0] for b in at.button if b.key)
    undo = keyed(at, "undo_0")
    late(at, mend)
    assert at.session_state["state"] == once
    at.session_state["state"] = State(table="iris", language="en", repairs=(("outliers-missing", 1, 0.0),), row=3)
    settled(at.run())
    there = at.session_state["state"]
    assert keyed(at, "undo_0")
    late(at, undo)
    late(at, mend)
    assert at.session_state["state"] == there


@pytest.mark.slow
def test_days_written_as_whole_numbers_are_counted_and_given_back():
    content = table(120, x=lambda i: X[i], when=lambda i: months(i).replace("-", ""), y=y)
    at = page(content)
    assert "dates written as whole numbers" in told(at)
    press(at, "Count 'when' in days")
    texts = next(c["texts"] for c in sent_to(at, "bayes_heads")["columns"] if c["name"] == "when")
    assert "0" in texts and max(map(float, texts)) > 365.0
    assert "dates written as whole numbers" not in told(at)
    keyed(at, "undo_0").click().run()
    settled(at)
    assert at.session_state["state"].repairs == ()
    assert "dates written as whole numbers" in told(at)


@pytest.mark.slow
def test_a_mark_or_nothing_is_read_as_a_column_and_then_its_gaps():
    at = page(table(200, x=lambda i: X[i], mark=lambda i: "x" if y(i) == "pos" and i % 3 else "", y=y))
    assert shown_role(at, "mark").startswith("ignore")
    assert "That 'mark' is missing is informative about the class" in told(at)
    press(at, "Read 'mark' as categorical")
    assert shown_role(at, "mark") == "categorical"
    press(at, "Count missing as a level")
    assert "That 'mark' is missing" not in told(at)
    state = at.session_state["state"]
    assert ("missing", "category") in state.shelf[state.active].parameters
    keyed(at, "reset_1").click().run()
    assert shown_role(settled(at), "mark").startswith("ignore")


@pytest.mark.slow
@pytest.mark.parametrize("button", ["Count missing as a level", "Leave out 'mark'"])
def test_of_a_column_with_telling_gaps_one_mend_is_chosen_and_the_other_goes(button: str):
    at = page(table(200, x=lambda i: X[i], mark=lambda i: "uv"[i % 2] if y(i) == "pos" and i % 3 else "", y=y))
    assert "of the rows, and that is informative about the class" in told(at)
    assert told(at).count("'mark' is missing") == 1
    offered = [b.label for b in at.button if str(b.key).startswith("mend_") and "Evidence" not in b.label]
    assert len([b for b in offered if "missing" in b or "mark" in b]) == 2
    press(at, button)
    assert "'mark' is missing" not in told(at)
    assert not [b for b in at.button if str(b.key).startswith("mend_") and "mark" in b.label]


def test_without_a_target_buttons_mend_the_table_alone():
    at = page(table(200, a=lambda i: X[i], b=lambda i: Z[i], c=lambda i: round(X[i] + Z[i] + U[i] / 40, 4),
                    h=lambda i: -999.9 if i in (4, 40, 77) else 170 + round(abs(U[i]) * 5, 1)))  # fmt: skip
    said = told(at)
    assert "can be predicted from the other numbers" in said and "the class" not in said
    labels = [b.label for b in at.button if str(b.key).startswith("mend_")]
    assert not [label for label in labels if "Add" in label or "MDLP" in label], labels
    press(at, "-999.9 in 'h' means missing")
    assert "hold -999.9" not in told(at)
    press(at, "Leave out 'c'")
    assert "can be predicted from the other numbers" not in told(at)


def test_a_link_with_repairs_that_fit_no_column_changes_nothing():
    repairs = (("value-missing", 9, 0.0), ("days", 0, 0.0), ("merge-spellings", 0, 0.0), ("drop-rare", -1, 0.0))
    state = State(table="iris", repairs=repairs)
    assert decode(encode(state)) == state
    at = settled(opened("data", state))
    assert active.in_use(state).frame.equals(load_dataset("iris").frame)
    assert not [b for b in at.button if str(b.key).startswith("undo_")]
    for forged in (("exec", 0, 0.0), ("days", "0", 0.0), ("days", -2, 0.0), ("days", 0, True), ("days", 0)):
        assert decode(encode(State(repairs=(forged,)))) is None


@pytest.mark.slow
def test_many_columns_of_one_finding_are_one_line_with_one_button_for_all():
    columns = {f"c{j}": (lambda i, j=j: "b" if i == j else "a") for j in range(6)}
    at = page(table(300, x=lambda i: X[i], **columns, y=y))
    assert "nearly constant** in 6 columns" in told(at)
    press(at, "Leave out these 6 columns")
    assert [c[:2] for c in at.session_state["state"].columns] == [(j, "ignore") for j in range(1, 7)]
    assert "nearly constant" not in told(at)
    several = any((b.key or "").startswith("reset_all") for b in at.button)
    keyed(at, "reset_all" if several else "reset_1").click().run()
    assert not at.exception


@pytest.mark.parametrize(("key", "value"), [("role_3_", "ignore"), ("kind_3_", "text")])
@pytest.mark.slow
def test_a_choice_for_a_column_never_hits_one_of_another_table(key: str, value: str):
    """A browser may send it before it has drawn the table that is in use by then."""
    melons, loans = (showing(State(table=name), doctor_column=3) for name in ("watermelon3", "loan"))
    at = settled(opened("data", melons))
    (box,) = [s for s in at.selectbox if s.key.startswith(key)]
    box.set_value(value)
    at.session_state["state"] = loans
    at.run()
    assert (at.session_state["state"].columns, at.session_state["state"].repairs) == ((), ())
    at = settled(opened("data", melons))
    (box,) = [s for s in at.selectbox if s.key.startswith(key)]
    box.set_value(value).run()
    assert at.session_state["state"].columns or at.session_state["state"].repairs


def test_the_head_of_a_column_opens_its_findings(held: Callable[[str], State]):
    content = CASES["outliers"][0]
    at, here = page(content), active.in_use(held(content))
    found = [f for f in still_open(held(content)) if "h" in f.columns]
    assert "outliers" in {f.code for f in found}
    assert sum(heads(at)["h"].values()) == len(found)
    at.session_state["state"] = showing(at.session_state["state"], doctor_column=here.schema.position["h"])
    settled(at.run())
    assert sent_to(at, "bayes_heads")["picked"] == here.schema.position["h"]
    assert any(s.key.startswith(f"role_{here.schema.position['h']}_") for s in at.selectbox)
    sentences = [m.value for m in at.markdown if "robust standard" in m.value]
    assert len(sentences) == 1
    at.button(key="unpick").click().run()
    assert sent_to(at, "bayes_heads")["picked"] is None


@pytest.mark.slow
def test_a_model_that_fits_is_taken_and_the_three_are_compared():
    at = settled(opened("data", State(table="wine", language="en")))
    here = active.in_use(at.session_state["state"])
    report = examine(here.frame, here.parts.schema)
    specs = [edits.spec_of(s.model) for s in report.suggestions]
    assert len(specs) == 3
    shown = [c.value for c in at.caption if "decided wrongly" in c.value]
    assert [f"{s.error:.1%}" in text for s, text in zip(report.suggestions, shown, strict=True)] == [True] * 3
    keyed(at, "take_0").click().run()
    state = at.session_state["state"]
    assert state.shelf[state.active] == specs[0]
    settled(at)
    at.button(key="compare_three").click().run()
    state = at.session_state["state"]
    assert set(specs) <= set(state.shelf) and seen(state, "model_view") == "compare"
    assert any("Which model decides best" in t.value for t in at.title)


def test_balanced_losses_weigh_every_class_alike():
    at = page(CASES["imbalance"][0])
    press(at, "Make an error costlier")
    ((zero, of_yes), (of_no, nought)) = at.session_state["state"].losses
    assert (zero, nought) == (0.0, 0.0)
    assert math.isclose(of_no * 190, 100.0, rel_tol=1e-3) and math.isclose(of_yes * 10, 100.0, rel_tol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["aode", "qda"])
def test_a_mend_that_the_active_model_cannot_take_adds_a_naive_bayes(family: str):
    at = page(CASES["missing-tells"][0] if family == "aode" else CASES["skew"][0])
    at.session_state["state"] = replace(at.session_state["state"], shelf=(Spec(family=family),))
    settled(at.run())
    press(at, "Count missing as a level" if family == "aode" else "by MDLP")
    state = at.session_state["state"]
    assert [spec.family for spec in state.shelf] == ([family] if family == "aode" else [family, "naive-bayes"])
    assert state.active == len(state.shelf) - 1
    parameter = ("missing", "category") if family == "aode" else ("likelihoods", ((0, "mdlp"),))
    assert parameter in state.shelf[-1].parameters


@pytest.mark.parametrize("content", [
    "a\n" + "".join(f"{i % 3}\n" for i in range(30)),
    "x,z\n" + "".join(f"{X[i]},{Z[i]}\n" for i in range(60)),
    "x,y\n1,a\n2,b\n",
    '"![x](http://127.0.0.1:9/p.png)","$y$"\n' + "".join(f'"<b>{"ab"[i % 2]}</b>",:red[{"uv"[i % 3 == 0]}]\n' for i in
                                                        range(60)),
])  # fmt: skip
def test_tables_without_much_in_them_are_shown(content: str):
    at = page(content)
    assert not at.exception and heads(at)
    assert not any("](http:" in m.value for m in (*at.markdown, *at.caption))
    assert not any("](http:" in b.label for b in at.button)


@pytest.mark.slow
def test_of_very_many_columns_a_hundred_are_shown_and_some_are_examined():
    names = ",".join(f"x{j}" for j in range(600))
    lot = random.Random(0)
    lines = [",".join(str(lot.randrange(1000) / 8) for _j in range(600)) for _i in range(30)]
    at = page(f"{names},y\n" + "\n".join(f"{line},{'ab'[i % 2]}" for i, line in enumerate(lines)))
    sent = sent_to(at, "bayes_heads")
    assert len(sent["columns"]) == 100
    assert any("Of the columns the first" in c.value for c in at.caption)
    at.selectbox(key="doctor_from").select(600).run()
    assert [c["name"] for c in sent_to(at, "bayes_heads")["columns"]] == ["y"]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], State]:
    """A state whose table is a file, as the session of a page would hold it."""

    def hold(content: str) -> State:
        file = File.of("t.csv", content.encode())
        upload = Upload(TABLE, file, (), TABLE.read(file))
        monkeypatch.setattr("pages.active.tables.upload_in", lambda _state: upload.reading)
        return State(table=f"upload:{file.digest}")

    return hold


def test_what_means_missing_is_the_number_that_was_said(held: Callable[[str], State]):
    rows = "".join(f"{i % 7 - 2},{'ab'[i % 2]}\n" for i in range(70))
    state = held(f"x,y\n{rows}")
    mended = {value: active.in_use(replace(state, repairs=(("value-missing", 0, value),))) for value in (-1.0, -2.0)}
    assert mended[-1.0].key != mended[-2.0].key
    for value, table in mended.items():
        left = {float(v) for v in range(-2, 5)} - {value}
        assert {float(v) for v in table.frame["x"].dropna()} == left


def test_the_average_over_cut_numbers_is_taken_as_it_was_judged(held: Callable[[str], State]):
    frame, _schema = skewed(3, 300, 6)
    content = frame.to_csv(index=False)
    at, here = page(content), active.in_use(held(content))
    suggestions = examine(here.frame, here.parts.schema).suggestions
    [place] = [k for k, s in enumerate(suggestions) if s.model.family == "aode"]
    keyed(at, f"take_{place}").click().run()
    state = at.session_state["state"]
    with listen():
        model = active.fit(here, state.shelf[state.active]).model
    assert (type(model).__name__, model.discretize) == ("AODE", "mdlp")
    left_out = model.leave_one_out_log_proba(here.parts.X, here.parts.y).argmax(axis=1)
    wrong = sum(model.classes_[c] != label for c, label in zip(left_out, here.parts.y, strict=True))
    assert wrong == round(suggestions[place].error * 300)


def test_a_second_file_is_mended_as_the_table_was(held: Callable[[str], State]):
    def city(i: int) -> str:
        return ("yes", "no", "no", "Yes")[i % 4] if i > 6 else "YES"

    def height(i: int) -> float:
        return -999 if i % 9 == 4 else round(170 + 3 * Z[i], 1)

    state = held(table(60, w=city, when=lambda i: f"2020-01-{1 + i % 28:02}", h=height, y=y))
    wanted = (("merge-spellings", 0), ("days", 1), ("value-missing", 2), ("outliers-missing", 2))
    state = replace(state, repairs=tuple((what, at, -999.0 if "value" in what else 0.0) for what, at in wanted))
    here = active.in_use(state)
    assert isinstance(here, active.FittableTable) and here.features.names == ("w", "when", "h")
    found, left = treatments(cells_as_read(state), here.schema, [r for _entry, r in here.repairs])
    file = pd.DataFrame({"w": ["yEs", "no"], "when": ["2020-01-11", "11/01/2020"], "h": ["-999", "171.5"]})
    reception = Reception(CellBlocks.of(file), here.features, here.target, rules=CellRules(treated=found))
    got = reception.take(file).frame
    assert got["w"].tolist() == [next(v for v in here.schema["w"].levels if v != "no"), "no"]
    assert [reception.take(file[at : at + 1]).frame["when"].item() for at in range(2)] == [10.0, 10.0]
    assert math.isnan(got["h"][0]) and got["h"][1] == 171.5
    assert [repair.what for repair in left] == ["outliers-missing"]
    notes = [str(note.message) for note in _mended(found, left)]
    assert any("'when': the day stands first" in said for said in notes)


def test_amounts_counted_in_days_by_a_forged_link_are_refused_in_words(held: Callable[[str], State]):
    state = held(table(60, cost=lambda i: 20210000 + 7 * i % 60 + i, x=lambda i: X[i], y=y))
    assert active.in_use(state).schema["cost"].kind == "count"
    problem = active.in_use(replace(state, repairs=(("days", 0, 0.0),))).problem
    assert problem is not None and "cannot be read" in str(problem)


def test_changes_of_columns_stay_where_cells_are_mended(held: Callable[[str], State]):
    state = columns.with_repairs(held(CASES["spellings"][0]), [Repair("merge-spellings", "w")])
    merged = active.in_use(state).schema["w"].levels
    assert len(merged) == 2
    state = columns.with_levels(state, 1, merged[::-1])
    assert active.in_use(state).schema["w"].levels == merged[::-1]
    undone = columns.without_repair(state, ("merge-spellings", 1, 0.0))
    assert set(merged) < set(active.in_use(undone).schema["w"].levels)
    counted = columns.with_repairs(held(CASES["date"][0]), [Repair("days", "when")])
    assert active.in_use(columns.with_role(counted, 1, "ignore")).schema["when"].role == "ignore"


def everything(i: int) -> tuple[object, ...]:
    """A row of a table with something of everything that is mended."""
    when = (f"2023-0{1 + i % 9}-{10 + i % 18}", f"{1 + i % 12:02}/0{1 + i % 9}/2023")[i % 2]
    dose, far = "n/k" if i % 16 == 5 else Z[i], 1e4 if i == 8 else round(20 + U[i], 2)
    mark = "" if y(i) == "pos" and i % 3 else word(i)
    return (
        X[i],
        when,
        dose,
        far,
        -999 if i % 20 == 4 else 170 + i % 13,
        ("Oslo", "oslo", "Rome", "Rom\u0435")[i % 4],
        mark,
        1 + i % 4,
    )


def test_mended_and_undone_the_table_is_as_it_was(held: Callable[[str], State]):
    """Every mend that is offered, also of columns of which a person had said something before."""
    rows = [(*everything(i), "odd" if i == 7 else y(i)) for i in range(118)]
    lines = [",".join(map(str, row)) for row in (*rows, *rows[:4])]
    state = held("\n".join(["x,when,dose,far,height,city,mark,code,y", *lines, "inf,,1,,,,,,pos", "1e300,,,,,,,,neg"]))
    read = columns.with_role(columns.with_kind(state, 2, "categorical"), 1, "feature")
    every = {"days", "text-missing", "outliers-missing", "value-missing", "merge-spellings", "merge-look-alikes",
             "drop-rare", "SetRole"}  # fmt: skip
    for before in (state, columns.with_levels(read, 5, ("Rome", "oslo", "Oslo"))):
        here, tried = active.in_use(before), set()
        offered = [mend for finding in examine(here.frame, here.schema).open() for mend in finding.mends]
        for mend in dict.fromkeys(offered):
            after = edits.with_mends_done(before, [mend])
            undone, mended = after, active.in_use(after)
            for (entry, _repair), made in zip(mended.repairs, mended.changes, strict=True):
                assert made.n > 0, mend
                undone = columns.without_repair(undone, entry)
            for position in {c[0] for c in after.columns} - {c[0] for c in before.columns}:
                undone = columns.as_inferred(undone, position)
            if not isinstance(mend, SetRole | SetKind | ReadText) or here.schema.position[mend.column] not in (1, 2, 5):
                again = active.in_use(undone)
                assert again.frame.equals(here.frame), mend
                assert again.schema == here.schema, mend
                assert (undone.columns, undone.repairs) == (before.columns, before.repairs), mend
            tried.add(mend.what if isinstance(mend, Repair) else type(mend).__name__)
        assert tried >= every, every - tried


MENDS = (Repair("days", "when", 1.0), Repair("days", "when", 2.0), Repair("text-missing", "dose"),
         Repair("outliers-missing", "far"), Repair("value-missing", "height", -999.0), Repair("infinite-missing", "x"),
         Repair("merge-spellings", "city"), Repair("merge-look-alikes", "city"), Repair("drop-rare", "y"),
         Repair("drop-duplicates"))  # fmt: skip


@cache
def read_once() -> tuple[File, Upload[Reading]]:
    lines = [",".join(map(str, (*everything(i % 70), "odd" if i == 7 else y(i)))) for i in range(74)]
    file = File.of("t.csv", "\n".join(["x,when,dose,far,height,city,mark,code,y", *lines]).encode())
    return file, Upload(TABLE, file, (), TABLE.read(file))


@pytest.mark.slow
@examples(60, 4)
@given(data=some.data(), said=some.sets(some.sampled_from(["when", "dose", "city"])))
def test_any_mends_undone_in_any_order_give_back_the_table(data: some.DataObject, said: set[str]):
    file, upload = read_once()
    with mock.patch("pages.active.tables.upload_in", return_value=upload.reading):
        before = State(table=f"upload:{file.digest}")
        position = active.in_use(before).schema.position
        for name in sorted(said):
            before = columns.with_levels(before, position[name], active.in_use(before).schema[name].levels[::-1])
        here = active.in_use(before)
        after = columns.with_repairs(before, data.draw(some.lists(some.sampled_from(MENDS), unique=True, max_size=5)))
        for entry in data.draw(some.permutations(after.repairs)):
            after = columns.without_repair(after, entry)
        again = active.in_use(after)
        assert (after.columns, after.repairs) == (before.columns, before.repairs)
        assert again.frame.equals(here.frame)
        assert again.schema == here.schema


def test_a_mend_that_a_column_s_kind_forbids_is_refused_in_words(held: Callable[[str], State]):
    with pytest.raises(TableError, match="'height' as it is read cannot be mended so"):
        columns.with_repairs(held("height,y\n" + "".join(f"{i % 9},{'ab'[i % 2]}\n" for i in range(60))),
                             [Repair("merge-spellings", "height")])  # fmt: skip


def test_a_mend_of_a_column_that_a_person_made_numbers_is_done(held: Callable[[str], State]):
    """Years that name rows, read as numbers: what is done to cells is done under the kind that was chosen."""
    state = held("key,x,y\n" + "".join(f"{1 + i},{X[i]},{y(i)}\n" for i in range(60)))
    assert active.in_use(state).schema["key"].kind == "identifier"
    state = columns.with_role(columns.with_kind(state, 0, "count"), 0, "feature")
    after = columns.with_repairs(state, [Repair("value-missing", "key", 7.0)])
    assert active.in_use(after).changes[0].first == ((6, 7, None),)


def test_levels_in_a_person_s_order_stay_where_a_role_is_taken_back(held: Callable[[str], State]):
    state = columns.with_levels(held(CASES["spellings"][0]), 1, ("no", "yes", "Yes", "YES"))
    ignored = edits.with_mends_done(state, [SetRole("w", "ignore")])
    assert ignored != state and columns.as_inferred(ignored, 1) == state


def test_what_a_mend_changed_is_a_list_of_cells():
    at = page(CASES["sentinel"][0])
    press(at, "-999 in 'h' means missing")
    at.session_state["doctor_changes"] = True
    settled(at.run())
    assert any("-999 means missing**: 3 cells" in m.value.replace("\\", "") for m in at.markdown)
    shown = next(d.value for d in at.dataframe if "before" in d.value)
    assert shown.astype(str).to_numpy().tolist() == [[str(row), "h", "-999", "missing"] for row in (5, 41, 78)]


@pytest.mark.slow
def test_dates_that_a_link_left_in_doubt_are_asked_for():
    """A link of before, when they were guessed cell by cell: the chip undoes it, or one says which is first."""
    content = table(120, x=lambda i: X[i], y=y, when=lambda i: everything(i)[1])
    at = page(content)
    state = replace(at.session_state["state"], repairs=(("days", 2, 0.0),))
    at.session_state["state"], at.session_state["edited"] = state, True
    settled(at.run())
    assert any("day and month could change places" in e.value for e in at.error)
    assert any((b.key or "").startswith("undo_0_") for b in at.button)
    press(at, "Count 'when' in days, the month first")
    assert at.session_state["state"].repairs == (("days", 2, 2.0),)
    assert not at.error
    assert any("in days, the month first" in b.label for b in at.button if (b.key or "").startswith("undo_0_"))


def test_undone_by_its_chip_a_mend_gives_back_the_losses_and_priors_that_it_reset(held: Callable[[str], State]):
    """As Back does; unless the classes are others by now, for which those losses were not."""
    rows = [f"{X[i]},{'c' if i == 7 else 'B' if i in (3, 9, 11, 20, 31) else 'ab'[i % 2]}" for i in range(80)]
    state = held("\n".join(["x,y", *rows]))
    classes = active.fittable(active.in_use(state)).classes
    assert classes == ("B", "a", "b", "c")
    losses = tuple(tuple(0.0 if i == j else 1.0 + i for j in range(4)) for i in range(5))
    shelf = (Spec("laplace", (("priors", (0.1, 0.2, 0.3, 0.4)),)), Spec("textbook"))
    stated = replace(state, losses=losses, extra="ask", fixed=((0, 1),), prior=(0.4, 0.3, 0.2, 0.1), shelf=shelf)
    for mend in (Repair("drop-rare", "y"), Repair("merge-spellings", "y")):
        mended = columns.with_repairs(stated, [mend])
        assert (mended.losses, mended.prior, mended.shelf[0].parameters) == ((), (), ())
        again = decode(encode(mended))  # a link and a workspace keep it
        assert again == mended
        ((entry, done),) = active.in_use(again).repairs
        assert done == mend
        assert columns.without_repair(again, entry) == stated
        first = columns.without_repair(columns.with_repairs(again, [Repair("drop-duplicates")]), entry)
        assert replace(first, repairs=()) == stated
    both = columns.with_repairs(mended, [Repair("drop-rare", "y")])
    others = columns.without_repair(both, both.repairs[0])  # B is there again, but c is not
    assert active.fittable(active.in_use(others)).classes == ("B", "a", "b") and not others.losses


def test_a_forged_entry_of_a_mend_is_no_state():
    entry = ["drop-rare", 1, 0.0, ["0" * 8, [[0.0, 1.0]], "", [], [], [[0, "naive-bayes", [["priors", [1.0]]]]]]]
    assert state_from_json(json.dumps({"repairs": [entry]})) is not None
    for place, wrong in ((0, 3), (1, [["x"]]), (2, 1), (3, [[-1, 0]]), (4, [2.0]), (5, [[0, "lda", [["x"]]]])):
        kept = [wrong if i == place else own for i, own in enumerate(entry[3])]
        assert state_from_json(json.dumps({"repairs": [[*entry[:3], kept]]})) is None
    assert state_from_json(json.dumps({"repairs": [["days", *entry[1:]]]})) is None
    assert state_from_json(json.dumps({"repairs": [[*entry[:3], ["", "", []]]]})) is None


def test_a_button_for_several_columns_says_how_many() -> None:
    of = finding.Repair
    several: dict[str, tuple[finding.Mend, ...]] = {
        "Leave out these 2 columns": (finding.SetRole("a", "ignore"), finding.SetRole("b", "ignore")),
        "Make these 2 columns id": (finding.SetRole("a", "id"), finding.SetRole("b", "id")),
        "Read these 2 columns as categorical": (
            finding.SetKind("a", "categorical"),
            finding.SetKind("b", "categorical"),
        ),
        "Count the words of these 2 columns": (finding.ReadText("a"), finding.ReadText("b")),
        "Make one level of the spellings in 2 columns": (of("merge-spellings", "a"), of("merge-spellings", "b")),
        "Make one level of what looks alike in 2 columns": (of("merge-look-alikes", "a"), of("merge-look-alikes", "b")),
        "These numbers mean missing in 2 columns": (of("value-missing", "a", -9.0), of("value-missing", "b", -1.0)),
        "Count 2 columns in days, the day first": (of("days", "a", finding.DAY_FIRST), of("days", "b")),
        "Count 2 columns in days, the month first": (of("days", "a", finding.MONTH_FIRST), of("days", "b")),
        "Count 2 columns in days": (of("days", "a"), of("days", "b")),
        "Make these cells of 2 columns missing": (of("text-missing", "a"), of("text-missing", "b")),
        "Kernel density for 3 columns": (finding.SetLikelihood(("a", "b", "c"), "kernel"),),
    }
    table = active.in_use(START)
    assert {wording.button(table, mends) for mends in several.values()} == several.keys()


def test_the_evidence_of_columns_is_one_table_and_what_was_not_found_is_listed() -> None:
    """Four columns that hold one value nearly always, a name of each row, and rows that stand there twice."""
    columns = {f"c{j}": (lambda i, j=j: "b" if i == j else "a") for j in range(4)}
    content = table(300, id=lambda i: f"n{i // 2}", x=lambda i: X[i // 2], **columns, y=lambda i: y(i // 2))
    at = page(content)
    for key in ("doctor_passed", *(f"line_{i}_why" for i in range(6))):
        at.session_state[key] = True
    at.run()
    assert not at.exception
    captions = "\n".join(c.value for c in at.caption)
    assert "Looked for, and not found: " in captions and "taken care of by" in captions
    shown = [frame.value for frame in at.dataframe if "column" in frame.value]
    assert any(frame["column"].tolist() == [*columns] for frame in shown)


def test_beneath_a_warning_of_the_reader_nothing_else_is_to_be_mended():
    chance = random.Random(1)
    rows = ["size,kind,y"]
    for _ in range(300):
        y = chance.choice(("no", "yes"))
        rows.append(f"{chance.choice(('large', 'small'))},{chance.choice((y, 'other'))},{y}")
    clean = "\n".join(rows) + "\n"
    for text, said in ((clean, "nothing to mend"), (clean + "# by hand\n", "nothing else to mend")):
        at = opened("data")
        at.file_uploader(key="upload_file").set_value(("sizes.csv", text.encode(), "text/csv")).run()
        assert not at.exception
        assert [m.value for m in at.markdown if "to mend" in m.value] == [f"**:green[:material/check_circle:] {said}**"]
