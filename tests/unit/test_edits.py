"""What a click, a drag or a typed number makes of the state, and what a page then says of it: functions of the pages
without a browser."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from bayes_engine import (
    TAN,
    BayesianNetworkClassifier,
    LinearDiscriminantAnalysis,
    LossMatrix,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    load_dataset,
)
from bayes_engine.errors import BayesEngineError
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.uncertainty.plausible import plausible
from bayes_engine.workbench.derivation import latex, render
from bayes_engine.workbench.derivation.conditionals import class_steps
from bayes_engine.workbench.derivation.derive import Working, derive
from pages import active
from pages.active import shelf, tables, unfinished
from pages.active.on_screen import OnScreen
from pages.components import losses, regions
from pages.components.flip_margins import flip_margins_of
from pages.runtime import view_keys as keys
from pages.runtime.state import START, Spec, State
from pages.shell import lesson_question, presenter
from pages.views.case import factor_sources, posterior_band, text_message
from pages.views.case.editor import case_in_use
from pages.views.chapter import own
from pages.views.classify import rows as classified_rows
from pages.views.hidden import mixture
from pages.views.laboratory import smoothing
from pages.views.model import prior_and_parameter_count, structures
from pages.views.model.compare import evaluated
from pages.views.network import learn_hand

At = Callable[..., active.FittableTable]
MELONS = load_dataset("watermelon3")


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> At:
    """The table of a state that is on screen."""

    def table(state: State = START, **more: Any) -> active.FittableTable:
        monkeypatch.setattr(st, "session_state", {"state": state, **more})
        return active.fittable(active.table_in_use())

    return table


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """What is written, in the kinds of elements that are asked here."""
    heard: dict[str, list[Any]] = {"caption": [], "dataframe": []}
    for kind, texts in heard.items():
        monkeypatch.setattr(st, kind, lambda what, texts=texts, **_more: texts.append(what))
    return heard


def now() -> State:
    state: State = st.session_state["state"]
    return state


# edits --------------------------------------------------------------------------------------------------------------


def test_a_loss_that_a_presenter_types_is_one_cell_of_the_matrix(at: At) -> None:
    state = State(table="watermelon3")
    table = at(state)
    assert presenter._with_loss(table, 0, 1, state, 5.0).losses == ((0.0, 5.0), (1.0, 0.0))
    assert presenter._with_loss(table, 0, 1, state, None) is state is presenter._with_loss(table, 1, 0, state, 1e300)
    smoothed = presenter._edited(table, shelf.with_prior_strength, state, 3.0)
    assert active.setting(smoothed.shelf[0], "alpha") == 3.0


def test_a_model_is_copied_named_apart_and_taken_off(at: At) -> None:
    state = State(table="watermelon3")
    table = at(state)
    two = shelf.add_model(table, state)
    assert two.active == 1 and two.shelf[0] == two.shelf[1]
    table = at(two)
    called = shelf.named(table, two, " mine\u202e ")
    assert called.shelf[1].name == "mine"
    other = replace(called, active=0)
    assert shelf.named(at(other), other, "mine").shelf[0].name == "mine (2)"
    table = at(called)
    assert shelf.named(table, called, "").shelf[1].name == ""
    one = shelf.remove_model(table, called)
    assert len(one.shelf) == 1 and one.active == 0
    table = at(one)
    assert shelf.remove_model(table, one).shelf == one.shelf  # the last one stays
    assert evaluated.with_rivals(table, one).shelf[0] == one.shelf[0] != evaluated.with_rivals(table, one).shelf[1]
    assert evaluated._distinguishing_parameters(called.shelf, 1, table) == ["mine"]
    apart = tuple(Spec(family="naive-bayes", preset=preset) for preset in list(PRESETS)[:2])
    names = [evaluated._distinguishing_parameters(apart, i, table) for i in (0, 1)]
    assert len(names[0]) == len(names[1]) == 2 and names[0] != names[1]


def test_a_point_dragged_in_the_plane_is_the_case(at: At) -> None:
    state = State(table="watermelon3")
    table = at(state)
    touch, density = table.features["触感"], table.features["密度"]
    across = SimpleNamespace(levels=touch.levels)
    moved = regions._moved(state, table, regions.Axes(touch, density, True, False), SimpleNamespace(  # type: ignore[arg-type]
        x=across, y=SimpleNamespace(levels=())), 1.0, 0.123456)  # fmt: skip
    at(moved)
    values = active.case_values(table)
    assert (values["触感"], values["密度"], moved.row) == (touch.levels[1], 0.1235, -1)


@pytest.mark.parametrize("name", ["iris", "titanic_passengers", "watermelon3"])
def test_a_row_as_a_case_holds_what_the_table_holds_and_stays_when_a_point_is_dragged(at: At, name: str) -> None:
    table = at(State(table=name))
    before = dict(active.row_values(table, 0))
    cells = table.parts.X.iloc[0]
    assert {type(value) for value in before.values()} <= {float, int, str, type(None)}
    assert all(value == cells[name] or (value is None and pd.isna(cells[name])) for name, value in before.items())
    a, b = (v for v in list(table.features)[-2:])
    place = SimpleNamespace(levels=())
    regions._moved(State(table=name), table, regions.Axes(a, b, True, False),
                   SimpleNamespace(x=place, y=place), 1.0, 0.25)  # type: ignore[arg-type]  # fmt: skip
    assert active.row_values(table, 0) == before
    assert active.row_values(table, 1) != before


def test_flip_margins_are_kept_by_all_that_they_hang_on(at: At) -> None:
    table = at(State(table="watermelon3"))
    zero_one = LossMatrix.zero_one(table.classes)
    even, rare = (dict(zip(table.classes, prior, strict=True)) for prior in ((0.5, 0.5), (0.1, 0.9)))
    asked = [
        ((0.7, 0.3), zero_one, even, None),
        ((0.6, 0.4), zero_one, even, None),
        ((0.7, 0.3), LossMatrix(table.classes, table.classes, [[0.0, 3.0], [1.0, 0.0]]), even, None),
        ((0.7, 0.3), zero_one, rare, None),
        ((0.7, 0.3), zero_one.with_amount(), even, 2.0),
    ]
    for posterior, loss, prior, amount in asked * 2:
        kept = flip_margins_of(table, posterior, loss, prior, amount)
        assert kept == loss.flip_margins(posterior, prior, amount=amount)
        assert flip_margins_of(table, posterior, loss, dict(prior), amount) is kept


def test_how_often_plausible_models_decide_otherwise_is_kept_by_all_that_it_hangs_on(at: At) -> None:
    table = at(State(table="watermelon3"))
    one = case_in_use(table)
    zero_one = LossMatrix.zero_one(table.classes)
    dear = LossMatrix(table.classes, table.classes, [[0.0, 3.0], [0.1, 0.0]])
    use = dict(zip(table.classes, (0.02, 0.98), strict=True))
    for seed, loss, prior in [(0, zero_one, None), (1, zero_one, None), (0, dear, None), (0, zero_one, use)] * 2:
        models = plausible(one.model, one.case, n=200, rng=seed)
        models = models if prior is None else models.at_prior(prior)
        kept = posterior_band._flips_of(one, seed, loss, prior, models)
        assert kept == models.flips(loss)
        assert posterior_band._flips_of(one, seed, loss, prior, models) is kept


def test_a_value_chosen_in_the_smoothing_laboratory_is_the_cases(at: At) -> None:
    state = State(table="watermelon2")
    table = at(state)
    for level in (2, -1):
        at(smoothing._with_value(state, table, "色泽", level))
        assert active.case_values(table)["色泽"] == (None if level < 0 else table.features["色泽"].levels[level])


def test_a_start_of_em_is_set_by_hand_as_far_as_its_numbers_tell(at: At) -> None:
    table = at(State(table="iris"))
    mixture._moved(table, 1, 2.00000001, 0.5)
    assert now().seen(keys.EM_START) == "hand" and now().seen(keys.EM_POINTS)[1] == (2.0, 0.5)
    assert len(now().seen(keys.EM_POINTS)) == 3  # a component for each species


def test_columns_are_joined_by_clicks(at: At) -> None:
    at(State(table="watermelon2"))
    here: Any = SimpleNamespace(names=("a", "b", "c"))
    for clicks, pair in (
        ([("node", "0")], (0,)), ([("node", "0"), ("node", "2")], (0, 2)), ([("node", "1"), ("node", "1")], ()),
        ([("node", "0"), ("node", "2"), ("node", "1")], (1,)), ([("edge", "2", "1")], (2, 1)),
    ):  # fmt: skip
        state = State(table="watermelon2")
        at(state)
        for click in clicks:
            state = learn_hand.after_click(here, state, click)  # type: ignore[arg-type]
            at(state)
        assert state.seen(keys.LEARN_PAIR) == pair
    for chosen, pair in (((None,), ()), ((1,), (1,)), ((1, 1), (1,)), ((1, 2), (1, 2))):
        assert learn_hand._paired(START, *chosen).seen(keys.LEARN_PAIR) == pair


def test_a_row_of_a_classified_file_is_the_case_without_what_the_model_cannot_read(at: At) -> None:
    state = State(table="watermelon3")
    table = at(state)
    frame = MELONS.frame[list(table.features.names)].iloc[[5, 9]].assign(密度=[np.inf, 0.25])
    for i, density, amount in ((0, None, -1.0), (1, 0.25, 7.0)):
        taken = classified_rows._case_of(state, table, SimpleNamespace(frame=frame, amount=np.array([-3.0, 7.0])), i)  # type: ignore[arg-type]
        at(taken)
        values = active.case_values(table)
        assert values["密度"] == density and values["色泽"] == frame["色泽"].iloc[i] and taken.amount == amount


def test_a_row_without_a_case_is_the_case(at: At) -> None:
    """As a link that was too long has it."""
    for table in ("watermelon3", "play-tennis"):  # both have worked cases
        for row in (3, 7):
            shown = at(State(table=table, row=row))
            own = load_dataset(table).frame.iloc[row]
            assert active.case_values(shown) == {name: own[name] for name in shown.features.names}
        beyond, worked = at(State(table=table, row=9999)), at(State(table=table))
        assert active.case_values(beyond) == active.case_values(worked)


def test_losses_pasted_with_a_further_row_have_a_refusal(at: At) -> None:
    table = at(State(table="watermelon3"))
    assert losses.pasted_losses(table, "0\t5\n2\t0") == (((0.0, 5.0), (2.0, 0.0)), "")
    assert losses.pasted_losses(table, "0\t5\n2\t0\n1\t1") == (((0.0, 5.0), (2.0, 0.0), (1.0, 1.0)), "refuse")
    with pytest.raises(BayesEngineError):
        losses.pasted_losses(table, "0\tx\n2\t0")


def test_a_lesson_that_is_dropped_is_in_hand_or_said_not_to_be(at: At) -> None:
    text = b'[[lesson]]\ntitle = "One"\npage = "case"\nstate = {table = "iris"}\n'
    for content, opens in ((text, True), (b"\x00", False)):
        file = SimpleNamespace(name="a.toml", getvalue=lambda content=content: content)
        at(START, own_turn=0, key=file)
        own._dropped("key")
        assert (st.session_state["own_refused"] is None) == opens == bool(now().seen(keys.OWN_LIST))
        assert st.session_state["own_turn"] == 1  # the uploader lets go of it
    at(START, own_turn=0)
    own._dropped("key")
    assert st.session_state["own_turn"] == 0 and now() == START
    assert own.read_edit({"act": "title", "i": 0, "title": " ", "of": "a"}, "a", 1) is None


def test_work_that_is_not_to_be_kept_leaves_no_note(monkeypatch: pytest.MonkeyPatch, at: At) -> None:
    at(START)
    monkeypatch.setattr(unfinished, "folder", lambda: None)
    assert unfinished.of("classify", "key", None, "a.csv", 9) is None  # type: ignore[arg-type]
    assert unfinished.offered() == [] and not unfinished.is_offered("key")
    with unfinished.under_way(None):
        assert not unfinished._live
    unfinished.forget_all()
    gone: Any = SimpleNamespace(state="", is_as_it_was=False, file="a.csv", what="count", name="a")
    unfinished.go_on(gone)
    assert "'a.csv' has changed since it was opened" in str(st.session_state["unfinished_said"])
    unfinished.discard(gone)


def test_numbers_that_a_person_predicts() -> None:
    shares = [lesson_question.percent(p) for p in (0.998692, 0.5, 1e-5, 0.9999997, 1.0)]
    assert shares == ["99.87 %", "50 %", "0.001 %", "99.99997 %", "100 %"]
    steps = [
        lesson_question._step(SimpleNamespace(prediction=SimpleNamespace(kind=kind, whole=whole)), 0.0, high)  # type: ignore[arg-type]
        for kind, whole, high in (("probability", False, 1.0), ("number", True, 9.0), ("number", False, 3.0))
    ]
    assert steps[:2] == [1.0, 1.0] and 0 < steps[2] <= 3.0 / 50 * 2


# what the quantities of lessons are asked of -------------------------------------------------------------------------


def test_the_quantities_of_a_page_are_of_what_is_on_it(at: At) -> None:
    at(State(table="watermelon3"))
    screen = OnScreen()
    assert screen.y.tolist() == MELONS.frame["好瓜"].tolist()
    assert [type(model).__name__ for model in screen.families] == ["NaiveBayes", "TAN", "AODE"]
    with pytest.raises(BayesEngineError, match="no search has found this network"):
        _ = screen.search
    at(State(table="watermelon3").showing(keys.AWAY.to((3, 999))))
    assert OnScreen().removed == (3,)
    values = active.case_values(at(State(table="iris")))
    assert OnScreen().mixture_case.tolist() == [list(values.values())[2:]]  # the petals


def test_levels_of_a_link_have_the_type_of_the_columns(at: At) -> None:
    whole = SimpleNamespace(levels=(1, 3))
    assert [tables._level(whole, code) for code in (1, "2", "nan", "x")] == [3, 2, "nan", "x"]  # type: ignore[arg-type]
    table = at(State(table="iris"))
    assert len(tables.sample_of(table, 30).parts.X) < 60 and len(tables.sample_of(table, 30).frame) == 150


# sentences ----------------------------------------------------------------------------------------------------------


def origins(
    table: active.FittableTable, model: Any, case: pd.DataFrame, classes: Any = None
) -> tuple[Working, list[str]]:
    """The working of a case, and of the first class where each factor came from."""
    working = derive(model, case, classes=classes)
    one: Any = SimpleNamespace(table=table, fitted=SimpleNamespace(scores=False), model=model)
    return working, [factor_sources._origin(one, working, step, 0) for step in working.steps]


def test_where_the_terms_of_discriminants_come_from_is_said(at: At) -> None:
    table = at(State(table="iris"))
    X, y = table.parts.X, table.parts.y.astype(str)
    for model in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()):
        working, texts = origins(table, model.fit(X, y), X.iloc[[60]])
        assert len(texts) == len(working.steps)
        assert sum("cancels" in text or "how far" in text or "log det" in text or "nats" in text for text in texts) > 1


def test_a_density_says_what_smoothed_it_and_what_stands_in(at: At) -> None:
    table = at(State(table="watermelon3"))
    X, y = table.parts.X, table.parts.y.astype(str)
    model = TAN(discretize=None, alpha=2.0, schema=table.schema.features).fit(X, y)
    (parent,) = (a for a, b in model.tree_ if b == "密度")
    label = table.classes[0]
    seen, unseen = (
        X.index[(y == label)][0],
        next(v for v in X[parent].unique() if v not in set(X[parent][y == label])),
    )
    for case, part in ((X.loc[[seen]], "smoothed by pseudo-observations (α = 2)"),
                       (X.loc[[seen]].assign(**{parent: unseen}), "so that of the whole class stands in")):  # fmt: skip
        working, texts = origins(table, model, case, table.classes)
        place = next(i for i, step in enumerate(working.steps) if step.row.child == "密度")
        assert part in texts[place]
        source: Any = working.steps[place].sources[0]
        moments = render.moments(working, working.steps[place], 0)
        assert f"s = {source.sd:.4g}"[:8] in moments and (" → " in moments) == (source.pseudo_counts is not None)
        lines = latex.latex_moments(working, working.steps[place], 0)
        assert (r"\mu" in lines[0]) == (source.pseudo_counts is not None)


def test_a_share_of_what_no_row_has_is_said_to_be_even(at: At, said: dict[str, list[Any]]) -> None:
    table = at(State(table="watermelon2"))
    X, y = table.parts.X, table.parts.y.astype(str)
    arcs = [("色泽", "好瓜"), ("触感", "好瓜"), ("好瓜", "根蒂"), ("敲声", "纹理"), ("脐部", "纹理")]
    model = BayesianNetworkClassifier(arcs, schema=table.schema.features).fit(X, y)
    case = X.iloc[[0]].assign(敲声="清脆", 脐部="凹陷")
    texts = origins(table, model, case)[1]
    assert any("No row has" in text and "equally likely" in text for text in texts)
    assert any("The class is no parent of this column" in text for text in texts)
    structures._network(table, model)
    sentence = said["caption"].pop()
    assert "colour → good melon" in sentence and "The class has parents: **colour**, **touch**" in sentence
    assert "Markov blanket alone: **colour**, **stalk**, **touch**" in sentence
    steps = class_steps(model, table.classes)
    prior_and_parameter_count._class_given_parents(table, steps)
    (drawn,) = said["dataframe"]
    shown = {name: X[name].map(lambda v, name=name: table.level(name, v)) for name in ("色泽", "触感")}
    counted = pd.crosstab([shown["色泽"], shown["触感"]], y)
    for row in drawn.itertuples(index=False):
        n = counted.loc[(row[0], row[1])] if (row[0], row[1]) in counted.index else {"是": 0, "否": 0}
        share = float(row[2 + table.classes.index("是")].split(" = ")[1])
        assert share == pytest.approx((n["是"] + 1) / (n["是"] + n["否"] + 2), abs=5e-5)


def test_a_kernel_density_says_where_a_class_has_no_spread(at: At) -> None:
    table = at(State(table="iris"))
    X, y = table.parts.X, table.parts.y.astype(str)
    model = NaiveBayes(likelihoods="kernel").fit(X.assign(**{X.columns[0]: np.where(y == y[0], 5.0, X.iloc[:, 0])}), y)
    texts = origins(table, model, X.iloc[[0]])[1]
    assert any("A kernel density" in text and "has no spread of its own" in text for text in texts)


def test_a_text_without_a_known_word_is_no_evidence(at: At) -> None:
    at(START)
    X, y = pd.DataFrame({"words": ["a b", "b c", "c c", "a"]}), ["u", "v", "v", "u"]
    plain = NaiveBayes(likelihoods={"words": "multinomial"}, text={"columns": ["words"]}).fit(X, y)
    asked = NaiveBayes(likelihoods={"words": "bernoulli"}, text={"columns": ["words"]}).fit(X, y)
    scores = ComplementNaiveBayes(text={"columns": ["words"]}).fit(X, y)
    for model, part in ((plain, "it is no evidence"), (asked, "The absent ones add"), (scores, "it is no evidence")):
        named: Any = SimpleNamespace(column=str, class_=str, classes=("u", "v"), level=lambda _c, v: str(v))
        assert any(part in text for text in origins(named, model, pd.DataFrame({"words": ["zz"]}))[1])


def test_the_absent_words_of_a_text_are_listed_with_their_counts(
    said: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch, at: At
) -> None:
    at(START)
    monkeypatch.setattr(st, "expander", lambda *_label, **_more: nullcontext())
    X, y = pd.DataFrame({"words": ["a b", "b c", "c c", "a"]}), ["u", "v", "v", "u"]
    model = NaiveBayes(likelihoods={"words": "bernoulli"}, text={"columns": ["words"]}).fit(X, y)
    named: Any = SimpleNamespace(column=str, class_=str, features=SimpleNamespace(position={"words": 0}))
    one: Any = SimpleNamespace(table=named, model=model)
    summaries = {}
    for text in ("a zz", ""):
        working = derive(model, pd.DataFrame({"words": [text]}))
        (read,) = text_message.reads_of(working, (0, 1)).values()
        summaries[text] = text_message._summary(read, known=True)
    text_message._absent(one, working, read, (0, 1))
    (drawn,) = said["dataframe"]
    # of the two texts of each class so many hold the word, smoothed by 1 and 2; in bits, as on screen
    have = {"a": (2, 0), "b": (1, 1), "c": (0, 2)}
    assert set(drawn["term"]) == have.keys()
    for row in drawn.itertuples():
        u, v = ((n + 1) / 4 for n in have[row.term])
        assert row.nats == pytest.approx(np.log2((1 - u) / (1 - v)))
    assert "2 words, 1 of them not seen" in summaries["a zz"] and "the absent words" in summaries["a zz"]
    assert "every word the model knows is absent" in summaries[""]
    assert "has no factor" in text_message._summary(None, known=False)
    assert "left this column out" in text_message._summary(None, known=True)
    assert text_message.read_typed({"text": None}) == (None,) and text_message._beyond(None) == ""
