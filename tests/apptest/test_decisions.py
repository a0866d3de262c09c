"""The page Decisions: what is sent to the browser, what is believed of what comes back, stories, pasting, margins."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_engine import LossMatrix, NaiveBayes, load_dataset
from bayes_engine.decision.held_out import held_out
from bayes_engine.errors import LossError
from bayes_engine.models.naive_bayes import PRESETS
from pages import active
from pages.components.losses import pasted_losses, read_edit, shares_of, with_edit
from pages.runtime.state import State
from pages.views.decisions import consequences, refusal
from pages.views.decisions.consequences import rows_bytes
from pages.views.decisions.stories import with_story as story_state
from tests.apptest.opened import edited, opened, sent_to, showing, uploaded
from tests.conftest import slowly

MELONS = State(table="watermelon3a", language="en")


def rows_of(sent: bytes) -> dict[str, np.ndarray]:
    """The held-out rows as the browser reads them."""
    end = 8 + int.from_bytes(sent[:4], "little")
    assert end % 8 == 0  # a Float64Array must begin at a multiple of eight
    head = json.loads(sent[8:end], parse_constant=pytest.fail)
    n, k, size, at, found = head["n"], head["k"], head["size"], end, {"priors": np.array(head["priors"])}
    for name, kind, shape in (
        ("logs", f"<f{size}", (n, k)), ("weight", f"<f{size}", (n,)), ("amount", f"<f{size}", (n,)),
        ("truth", "<u2", (n,)), ("which", "<u2", (n,)),
    ):  # fmt: skip
        found[name] = np.frombuffer(sent, kind, math.prod(shape), at).reshape(shape)
        at += found[name].nbytes
    assert at == len(sent)
    return found


def test_the_browser_gets_the_held_out_rows_as_they_are() -> None:
    melons = load_dataset("watermelon3a")
    X, y = melons.frame[["密度", "含糖率"]], melons.frame["好瓜"]
    held = held_out(NaiveBayes(**PRESETS["textbook"]).fit(X, y), X, y).in_order(("是", "否"))
    got = rows_of(rows_bytes(held, None, "k")[1])
    assert np.array_equal(got["logs"], held.log_posterior)
    assert np.array_equal(got["priors"][got["which"]], held.prior_by_row)
    assert np.array_equal(got["truth"], held.truth)
    assert np.array_equal(got["amount"], np.ones(17))


@pytest.mark.parametrize("page", ["start", "decisions"])
@pytest.mark.parametrize(
    ("table", "sliced", "posterior"),
    [("play-tennis", True, 0.7353), ("watermelon3", False, 0.9987), slowly("three-attributes", False, 0.64)],
)
def test_one_case_has_one_posterior_on_the_plane_and_in_the_headline(
    page: str, table: str, sliced: bool, posterior: float
) -> None:
    """That of the whole case, as its working has it; what the axes alone say is named so."""
    app = opened(page, showing(State(table=table, language="en"), sliced=sliced))
    shown = sent_to(app, "bayes_plane")
    assert max(shown["case"]["posterior"]) == pytest.approx(posterior, abs=5e-5)
    assert any(f" = {posterior:.4f}, because of" in m.value for m in app.main.markdown)
    assert ("alone" in shown["held"], bool(shown["alone"])) == (not sliced, not sliced)


@pytest.mark.slow
def test_a_row_is_faded_where_it_differs_in_the_other_features_and_ringed_by_what_the_regions_go_by() -> None:
    state = State(table="watermelon3", language="en", row=0)
    rows = load_dataset("watermelon3").frame
    sliced, alone = (sent_to(opened("decisions", showing(state, sliced=held)), "bayes_plane") for held in (True, False))
    assert sliced["faded"] == list(range(1, 17)) and alone["faded"] == []
    two = NaiveBayes(**PRESETS["textbook"]).fit(rows[["密度", "含糖率"]], rows["好瓜"])
    wrong = np.flatnonzero(two.predict(rows[["密度", "含糖率"]]) != rows["好瓜"]).tolist()
    assert alone["wrong"] == wrong != sliced["wrong"]


@pytest.mark.parametrize(
    ("story", "table", "unit"),
    [
        ("hospital", "breast-cancer", "healthy days"),
        ("loan", "german-credit", "DM"),
        ("spam", "spam-words", "annoyance points"),
        ("watermelon", "watermelon3a", "yuan"),
    ],
)
def test_a_story_opens_its_table_with_losses_prior_and_unit(story: str, table: str, unit: str) -> None:
    app = opened("decisions", story_state(State(language="en", table="iris"), story))
    info = load_dataset(table).info
    state = app.session_state["state"]
    sent = sent_to(app, "bayes_losses")
    assert state.table == table
    assert sent["loss"] == [list(map(float, row)) for row in info.loss.table]
    assert sent["unit"] == f"in {unit}"
    assert sent_to(app, "bayes_consequences")["unit"] == unit
    assert (sent["prior"] is None) == (info.prior_of_use is None)
    assert any(info.loss.story.split(".")[0] in c.value.replace("\\", "") for c in app.caption)


def test_fewer_than_three_classes_make_no_triangle_and_that_is_said() -> None:
    rows = "\n".join(f"{x},{x % 7},{'abcd'[x % 4]}" for x in range(80))
    content = f"u,v,kind\n{rows}\n".encode()
    app = uploaded(content, page="decisions")
    choice = app.multiselect(key="three")
    likeliest = list(choice.value)
    assert len(likeliest) == 3
    assert not [c for c in app.caption if "three corners" in c.value]
    two = [k for k in range(4) if k not in likeliest[:1]][:2]
    app.multiselect(key="three").set_value(two).run()
    assert list(app.multiselect(key="three").value) == two  # what was chosen stays, so that a third can be added
    assert sent_to(app, "bayes_consequences")["three"] == likeliest
    (said,) = (c.value for c in app.caption if "three corners" in c.value)
    assert "2 of 3 are chosen" in said
    assert all("abcd"[k] in said.split(":")[-1] for k in likeliest)
    third = next(k for k in range(4) if k not in two)
    app.multiselect(key="three").set_value([*two, third]).run()
    assert sent_to(app, "bayes_consequences")["three"] == sorted([*two, third])
    assert not [c for c in app.caption if "three corners" in c.value]
    app.multiselect(key="three").set_value([]).run()
    assert sent_to(app, "bayes_consequences")["three"] == likeliest


@pytest.mark.slow
@pytest.mark.parametrize("table", ["breast-cancer", "iris"])
def test_many_rows_are_judged_by_cells_as_they_are_one_by_one(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = list[bool]()
    in_cells = consequences._counted
    monkeypatch.setattr(consequences, "_counted", lambda *args: counted.append(True) or in_cells(*args))
    one_by_one = sent_to(opened("decisions", State(table=table, language="en")), "bayes_consequences")
    assert not counted
    monkeypatch.setattr(consequences, "_MANY", 0)
    assert sent_to(opened("decisions", State(table=table, language="en")), "bayes_consequences") == one_by_one
    assert counted


@pytest.mark.slow
@pytest.mark.parametrize("three", [(0, 0), ("a", 9), (0, 1, 2, 3), slowly((9,)), slowly((True, 0))])
def test_a_forged_choice_of_classes_counts_as_none(three: tuple[object, ...]) -> None:
    content = ("u,v,kind\n" + "\n".join(f"{x},{x % 7},{'abcd'[x % 4]}" for x in range(80))).encode()
    app = uploaded(content, page="decisions", three=three)
    assert len(app.multiselect(key="three").value) == 3
    assert not [c for c in app.caption if "three corners" in c.value]


def test_the_sentences_name_the_engines_margins() -> None:
    app = opened("decisions", replace(MELONS, losses=((0.0, 5.0), (1.0, 0.0))))
    sent = sent_to(app, "bayes_losses")
    margins = LossMatrix(("是", "否"), ("是", "否"), [[0, 5], [1, 0]]).flip_margins(np.array(sent["posterior"]))
    nearest = margins.nearest(1, right=False)[0]
    said = "\n".join(str(m.value) for m in app.main.markdown).replace("\\", "")
    assert (nearest.action, nearest.truth) == ("否", "是")
    assert f"λ(decide bad, truth is good) falls below **{nearest.at:.4g}** yuan (now 1)" in said


def test_an_edit_makes_the_losses_and_the_prior_of_the_state() -> None:
    app = edited(opened("decisions", MELONS), ((0.0, 30.0), (1.0, 0.0)), prior=(0.2, 0.8))
    state = app.session_state["state"]
    assert (state.losses, state.prior) == (((0.0, 30.0), (1.0, 0.0)), (0.2, 0.8))
    assert "Judged **bad**" in "\n".join(str(m.value) for m in app.main.markdown)


def test_an_edit_of_the_prior_alone_leaves_0_1_unsaid() -> None:
    state = MELONS
    edit = read_edit({"table": [[0, 1], [1, 0]], "prior": [0.3, 0.7], "name": None}, 2, 2)
    assert edit is not None
    assert with_edit(state, active.in_use(state), edit) == replace(state, prior=(0.3, 0.7))


def test_a_further_decision_can_be_called_otherwise_but_not_like_a_class() -> None:
    state = replace(MELONS, losses=((0.0, 1.0), (1.0, 0.0), (0.2, 0.2)), extra="refuse")
    for name, kept in (("ask the grocer", "ask the grocer"), ("是", "refuse"), ("", "refuse")):
        edit = read_edit({"table": [list(row) for row in state.losses], "prior": None, "name": name}, 3, 2)
        assert edit is not None
        assert with_edit(state, active.in_use(state), edit).extra == kept


@pytest.mark.parametrize(
    "value",
    [
        {"table": [[0, 1]], "prior": None},
        {"table": [[0, 1], [1, float("nan")]], "prior": None},
        {"table": [[0, 1], [1, 2e9]], "prior": None},
        {"table": [[0, True], [1, 0]], "prior": None},
        {"table": "0", "prior": None},
        {},
    ],
)
def test_what_is_no_table_of_losses_is_not_believed(value: dict[str, object]) -> None:
    assert read_edit(value, 2, 2) is None


@pytest.mark.slow
@given(st.lists(st.floats(0.001, 1.0), min_size=2, max_size=60))
def test_a_rounded_prior_still_sums_to_one(shares: list[float]) -> None:
    assert abs(sum(shares_of(shares)) - 1.0) < 1e-9
    assert min(shares_of(shares)) >= 0


def test_refusing_opens_a_region_whatever_the_losses_or_says_below_which_cost() -> None:
    app = opened("decisions", replace(MELONS, losses=((0.0, 20.0), (1.0, 0.0))))
    app.button(key="refuse_on").click().run()
    assert app.session_state["state"].losses[2] == (0.38, 0.38)
    assert not any("never the best decision" in str(c.value) for c in app.caption)
    app.session_state["state"] = replace(app.session_state["state"], losses=((0.0, 20.0), (1.0, 0.0), (4.0, 4.0)))
    app.run()
    assert any("pays only where it costs less than 0.9524" in str(c.value) for c in app.caption)


def test_a_pasted_block_of_the_classes_leaves_the_refusal_alone() -> None:
    app = opened("decisions", replace(MELONS, losses=((0.0, 1.0), (1.0, 0.0), (0.2, 0.2)), extra="refuse"))
    table = active.in_use(app.session_state["state"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pages.components.losses.current", lambda: app.session_state["state"])
        patch.setattr("pages.active.case_and_losses.current", lambda: app.session_state["state"])
        rows, extra = pasted_losses(table, "0\t5\n1,5\t0")
        assert (rows, extra) == (((0.0, 5.0), (1.5, 0.0), (0.2, 0.2)), "refuse")
        with pytest.raises(LossError, match="is blank"):
            pasted_losses(table, "0\t5\n\t0")


def test_refusing_for_a_target_error_sets_a_row_that_reaches_it() -> None:
    app = opened("decisions", showing(State(table="spam-words", language="en"), target=2.0))
    app.session_state["refuse_open"] = True
    app.run().button(key="refuse_target").click().run()
    assert not app.exception
    state, sent = app.session_state["state"], sent_to(app, "bayes_consequences")
    assert len(state.losses) == 3
    assert state.extra == "refuse"
    assert len(set(state.losses[2])) == 1
    confusion = np.array(sent["report"]["confusion"])
    decided = confusion[:2]
    assert 0 < confusion[2].sum() < 200
    assert (decided.sum() - np.trace(decided)) / decided.sum() <= 0.02


@pytest.mark.slow
def test_a_grid_of_26_classes_is_sent_whole_and_says_that_no_link_holds_it() -> None:
    rng = np.random.default_rng(0)
    lines = ["a,b,letter", *(f"{rng.normal():.3f},{rng.normal():.3f},{chr(65 + i % 26)}" for i in range(260))]
    app = opened("data")
    app.file_uploader(key="upload_file").set_value(("l.csv", "\n".join(lines).encode(), "text/csv")).run()
    app.switch_page("pages/decisions.py").run()
    losses = tuple(tuple(float(f"{v:.6f}") for v in row) for row in rng.random((26, 26)))
    app.session_state["state"] = replace(app.session_state["state"], losses=losses, language="en")
    app.run()
    assert not app.exception
    assert np.array_equal(sent_to(app, "bayes_losses")["loss"], losses)
    assert len(sent_to(app, "bayes_consequences")["three"]) == 3
    app.run()  # the link is written at the end of a run
    assert any("too large for a link" in i.value for i in app.info)


# one's own table ------------------------------------------------------------------------------------------------------

OWN = ("size,colour,class\n" + "".join(f"{i % 7 + 0.5},{'rg'[i % 2]},{'ab'[i % 3 // 2]}\n" for i in range(40))).encode()


def test_a_story_asks_before_it_takes_the_place_of_ones_own_table() -> None:
    app = uploaded(OWN, page="decisions", state=State(losses=((0.0, 7.0), (1.0, 0.0))))
    before = app.session_state["state"]
    app.button_group(key="story").select("hospital").run()
    assert not app.exception and app.session_state["state"].table == before.table
    assert any("would take the place of yours" in m.value for m in app.markdown)
    app.button(key="story_keep").click().run()
    kept = app.session_state["state"]
    assert (kept.table, kept.losses) == (before.table, before.losses) and not app.button_group(key="story").value
    app.button_group(key="story").select("hospital").run()
    app.button(key="story_open").click().run()
    assert not app.exception and app.session_state["state"].table == "breast-cancer"
    app.button_group(key="story").select("loan").run()  # nobody's own table: at once
    assert app.session_state["state"].table == "german-credit"
    app.button(key="story_back").click().run()
    back = app.session_state["state"]
    assert not app.exception and (back.table, back.losses) == (before.table, before.losses)


@pytest.mark.parametrize(("page", "click"), [("data", "use_iris"), ("start", "open_loan")])
@pytest.mark.slow
def test_a_worked_example_leaves_a_way_back_to_ones_own_table(page: str, click: str) -> None:
    app = uploaded(OWN, page=page)
    mine = app.session_state["state"].table
    if page == "data":
        app.session_state["worked_examples_False"] = True  # a person opens the box
        app.run()
    app.button(key=click).click().run()
    app.switch_page("pages/data.py").run()
    assert app.session_state["state"].table != mine
    app.button(key="own_back").click().run()
    assert not app.exception and app.session_state["state"].table == mine


def test_a_run_that_changes_nothing_judges_no_row_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 100,000 rows that was half a second of every run."""
    runs: list[str] = []

    def counted(name: str, call: Any) -> Any:
        return lambda *given, **named: (runs.append(name), call(*given, **named))[1]

    for module, name in (
        (consequences, "estimated_risk"),
        (refusal, "refusal_for_error"),
        (consequences, "rows_bytes"),
    ):
        monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    app = opened("decisions", State(table="watermelon3", language="en", losses=((0.0, 3.37), (1.0, 0.0))))
    assert "estimated_risk" in runs and "refusal_for_error" not in runs  # nobody looks at it
    app.session_state["refuse_open"] = True
    app.run()
    assert runs.pop() == "refusal_for_error"
    runs.clear()
    app.run()
    assert runs == []
