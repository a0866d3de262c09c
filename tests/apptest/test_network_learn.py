"""The tab *learn* of the page Network: searches and their scores against the engine, a graph drawn by hand, the graph
taken to ask, and a network on the shelf."""

from __future__ import annotations

import json
import math
import threading
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bayes_engine import BayesianNetworkClassifier
from bayes_engine.datasets import load_dataset
from bayes_engine.errors import ParameterError
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import Move, Scorer, decomposed_score, score_change
from bayes_engine.structure.search import Method, SearchOptions, SearchResult, search
from bayes_engine.table.encode import encode
from bayes_engine.table.roles import take_apart
from bayes_engine.table.schema import Schema
from pages.active import network_source
from pages.runtime import widgets
from pages.runtime.state import Spec, State
from pages.views.network import learn_search
from pages.views.network.learn_search import Run
from tests.apptest.opened import filmed, opened, seen, shelf_in, showing
from tests.conftest import slowly

MELONS = showing(State(table="watermelon2", language="en", labels="file"), net_tab="learn", unit="nats")
NAMES = ("色泽", "根蒂", "敲声", "纹理", "脐部", "触感", "好瓜")
COLOUR, STALK, KNOCK, TEXTURE, NAVEL, TOUCH, GOOD = range(7)
METHODS = ("hill-climb", "k2", "exact", "tree", "naive", "tan")


def nats(value: float) -> str:
    """A score as the page writes it."""
    return f"{value:,.4f}".replace("-", "−")


def gain(value: float) -> str:
    """A difference of scores as the page writes it."""
    return "0" if abs(value) < 5e-5 else f"{value:+,.4f}".replace("-", "−")


def melons() -> FamilyCounts:
    """Watermelon 2.0 as the page counts it."""
    dataset = load_dataset("watermelon2")
    schema = Schema(tuple(dataset.schema[name] for name in NAMES))
    return FamilyCounts(encode(dataset.frame[list(NAMES)], schema))


def learned(method: Method = "hill-climb", **options: Any) -> SearchResult:
    return search(
        melons(), "bic", method=method, options=SearchOptions(**{"max_parents": 3, "perturbations": 0, **options})
    )


def said(app: AppTest) -> str:
    return "\n".join(str(e.value) for e in [*app.markdown, *app.caption, *app.warning])


def drawn(app: AppTest) -> set[tuple[str, str]]:
    """The arcs in the drawing, by name; one that is only being weighed is left out."""
    found = [e.proto for e in app.get("bidi_component") if e.proto.component_name == "bayes_graph"]
    sent = json.loads(found[0].json or found[0].mixed.json)
    edges = [e for e in sent["edges"] if e["label"] != "?" and e["tone"] != "rejected"]
    return {(NAMES[int(e["source"])], NAMES[int(e["target"])]) for e in edges}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_the_engines_score(method: Any) -> None:
    app = opened("network", showing(MELONS, net_method=method))
    how = {"k2": {"order": NAMES}, "naive": {"target": "好瓜", "max_parents": None}}
    how |= {"tan": {"target": "好瓜", "max_parents": None}, "tree": {"max_parents": None}}
    want = learned(method=method, **how.get(method, {}))
    assert not app.error
    assert f"{len(want.graph.arcs)} arcs, BIC **{nats(want.score)}** nats" in said(app)
    assert drawn(app) == set(want.graph.arcs)


@pytest.mark.parametrize("score", ["k2", "bdeu", slowly("aic"), slowly("log-likelihood")])
def test_every_score_is_the_engines(score: Any) -> None:
    app = opened("network", showing(MELONS, net_score=score))
    assert nats(search(melons(), score, options=SearchOptions(max_parents=3, perturbations=0)).score) in said(app)


@pytest.mark.slow
def test_the_search_is_played_step_by_step_with_its_score_by_families() -> None:
    app = opened("network", MELONS)
    trace = learned().trace
    filmed(app, "learn", 0)
    assert drawn(app) == set()
    assert nats(trace.start_score) in said(app)
    for k, step in enumerate(trace.steps[:2], start=1):
        filmed(app, "learn", k)
        assert f"Step {k} of {len(trace.steps)}" in said(app)
        assert drawn(app) == set(trace.graph_after(k).arcs)
        for family in step.families:
            assert nats(family.before.log_likelihood) in said(app)
            assert nats(family.after.penalty) in said(app)
            assert gain(family.delta) in said(app)
        runners_up = next(f.value for f in app.dataframe if "move" in f.value and "delta" not in f.value)
        assert list(runners_up["gain"]) == [gain(c.delta) for c in step.runners_up]
    filmed(app, "learn", len(trace.steps))
    assert drawn(app) == set(learned().graph.arcs)
    filmed(app, "learn", 0, plays=True)
    assert seen(app.session_state["state"], "learn_plays")
    assert not app.exception


@pytest.mark.slow
def test_whether_the_greedy_search_found_the_optimum_is_said() -> None:
    assert "Did the greedy search find the optimum? Yes" in said(opened("network", MELONS))
    assert "Did the greedy search find it? Yes" in said(opened("network", showing(MELONS, net_method="exact")))
    k2, best = learned(method="k2", order=NAMES), learned(method="exact")
    assert best.score > k2.score + 0.1
    told = said(opened("network", showing(MELONS, net_method="k2")))
    assert f"No: the best graph scores {nats(best.score)}, {gain(best.score - k2.score)} nats more" in told


def test_the_books_formula_and_its_price_are_written_once() -> None:
    told = said(opened("network", MELONS))
    assert told.count(r"S(B\mid D)=f(\theta)") == 1
    assert r"\tfrac12\ln 17=1.4166" in told


@pytest.mark.slow
def test_scores_are_in_bits_until_nats_are_chosen() -> None:
    app = opened("network", showing(MELONS, unit="bits"))
    bit = math.log(2)
    assert f"BIC **{nats(learned().score / bit)}** bits" in said(app)
    assert r"\tfrac12\log_2 17=2.0437$ bits" in said(app)
    filmed(app, "learn", 1)
    assert f"{gain(learned().trace.steps[0].delta / bit)} bits; score" in said(app)
    app.segmented_control(key="case_unit").set_value("nats").run()
    assert f"BIC **{nats(learned().score)}** nats" in said(app)


def test_a_search_that_ran_out_of_time_says_that_it_is_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = replace(learned(), status="time")
    monkeypatch.setattr("pages.views.network.learn_search.search", lambda *_a, **_k: cut)
    app = opened("network", showing(MELONS, learn_seconds=0.75))  # no other test's search is remembered for this budget
    assert "The time was up: this is the best graph found until then" in app.warning[0].value
    assert drawn(app) == set(cut.graph.arcs)


def test_an_order_for_k2() -> None:
    order = (GOOD, TEXTURE, NAVEL)
    app = opened("network", showing(MELONS, net_method="k2", learn_order=order))
    whole = [NAMES[i] for i in (*order, COLOUR, STALK, KNOCK, TOUCH)]
    want = learned(method="k2", order=whole)
    assert drawn(app) == set(want.graph.arcs)
    assert " → ".join(whole) in said(app)


def test_constraints_bind_the_search_and_contradictions_are_named() -> None:
    asked = showing(MELONS, learn_required=((COLOUR, KNOCK),), learn_forbidden=((TEXTURE, GOOD),))
    app = opened("network", asked)
    assert ("色泽", "敲声") in drawn(app)
    assert ("纹理", "好瓜") not in drawn(app)
    app = opened("network", showing(MELONS, learn_tiers=((GOOD,), (TEXTURE, TOUCH))))
    assert not {a for a in drawn(app) if a[1] == "好瓜" and a[0] in ("纹理", "触感")}
    app = opened("network", showing(MELONS, learn_required=((COLOUR, KNOCK), (KNOCK, COLOUR))))
    assert any("close a cycle" in e.value for e in app.error)
    app = opened("network", MELONS)
    app.button(key="learn_forbid").click().run()
    assert seen(app.session_state["state"], "learn_forbidden") == ((0, 1),)


@pytest.mark.slow
def test_a_graph_by_hand_what_it_changes_before_it_is_made_and_the_score_after() -> None:
    app = opened("network", showing(MELONS, learn_view="hand"))
    counts = melons()
    app.selectbox(key="learn_from").set_value(TEXTURE).run()
    app.selectbox(key="learn_to").set_value(GOOD).run()
    change = score_change(counts, DAG(NAMES), Move("add", "纹理", "好瓜"), "bic")
    assert f"**{gain(change.delta)} nats**" in said(app)
    assert nats(change.families[0].after.log_likelihood) in said(app)
    app.button(key=f"learn_add_{TEXTURE}_{GOOD}").click().run()
    assert drawn(app) == {("纹理", "好瓜")}
    yours = decomposed_score(counts, DAG(NAMES, [("纹理", "好瓜")]), "bic")
    assert app.metric[0].value == nats(yours.score)
    assert app.metric[0].delta == gain(yours.score - learned().score)
    assert app.metric[1].value == nats(learned().score)
    assert app.metric[2].value == nats(learned(method="exact").score)
    app.button(key=f"learn_reverse_{TEXTURE}_{GOOD}").click().run()
    assert drawn(app) == {("好瓜", "纹理")}
    app.button(key=f"learn_delete_{GOOD}_{TEXTURE}").click().run()
    assert drawn(app) == set()
    app.button(key="learn_copy").click().run()
    assert drawn(app) == set(learned().graph.arcs)
    assert app.metric[0].delta == "as the search"
    app.button(key="learn_empty").click().run()
    assert drawn(app) == set()


def test_an_arc_that_closes_a_cycle_cannot_be_added_and_the_cycle_is_named() -> None:
    arcs = ((COLOUR, STALK), (STALK, KNOCK))
    app = opened("network", showing(MELONS, learn_view="hand", learn_arcs=arcs, learn_pair=(KNOCK, COLOUR)))
    assert app.button(key=f"learn_add_{KNOCK}_{COLOUR}").disabled
    assert not app.button(key=f"learn_add_{COLOUR}_{KNOCK}").disabled
    with pytest.raises(ParameterError) as refused:
        DAG(NAMES, [("色泽", "根蒂"), ("根蒂", "敲声"), ("敲声", "色泽")])
    assert str(refused.value.message.params["cycle"]) in said(app)


def test_hints_are_the_best_moves_from_here() -> None:
    app = opened("network", showing(MELONS, learn_view="hand", learn_hint=True))
    best = learned().trace.steps[0]
    hints = next(f.value for f in app.dataframe if list(f.value.columns) == ["move", "gain"])
    assert hints["gain"].iloc[0] == gain(best.delta)


def test_the_search_goes_on_from_a_graph_by_hand() -> None:
    arcs = ((NAVEL, KNOCK),)
    app = opened("network", showing(MELONS, learn_view="hand", learn_arcs=arcs))
    app.button(key="learn_continue").click().run()
    want = learned(start=DAG(NAMES, [("脐部", "敲声")]))
    assert drawn(app) == set(want.graph.arcs)
    filmed(app, "learn", 0)
    assert drawn(app) == {("脐部", "敲声")}
    app.button(key="learn_restart").click().run()
    assert drawn(app) == set(learned().graph.arcs)


def test_the_graph_is_taken_to_ask_and_by_hand() -> None:
    app = opened("network", showing(MELONS, learn_step=2))
    app.button(key="learn_take").click().run()
    two = set(learned().trace.graph_after(2).arcs)
    assert drawn(app) == two
    app.button(key="learn_ask").click().run()
    assert not app.exception
    state = app.session_state["state"]
    assert seen(state, "net") == "table"
    assert seen(state, "net_tab") == "ask"
    assert {(NAMES[a], NAMES[b]) for a, b in seen(state, "net_arcs")} == two


@pytest.mark.parametrize("table", ["penguins", *map(slowly, ("watermelon3a", "iris", "mushroom", "play-tennis"))])
def test_other_tables_have_a_search_too(table: str) -> None:
    for view in ("search", "hand"):
        app = opened("network", showing(State(table=table, language="en"), net_tab="learn", learn_view=view))
        assert not app.error


@pytest.mark.slow
def test_the_rows_are_all_counted_and_what_becomes_of_incomplete_ones_is_true_of_the_table() -> None:
    app = opened("network", showing(State(table="mushroom", language="en"), net_tab="learn"))
    assert "8124 rows" in said(app) and "2480 rows with a missing cell" in said(app)
    assert "from all rows, by EM" in said(app)
    app = opened("network", showing(State(table="penguins", language="en"), net_tab="learn"))
    assert "344 rows" in said(app) and "from all rows, by EM" in said(app)


def test_a_search_that_was_stopped_shows_its_best_and_is_in_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    state = showing(MELONS, net_score="aic", net_parents=4, learn_restarts=7)  # a search of this test's own
    monkeypatch.setattr(learn_search, "Run", lambda: Run(stop=stopped()))
    app = opened("network", state)
    assert "The search was cancelled" in said(app)
    monkeypatch.undo()
    app.button(key="learn_again").click().run()
    assert not app.exception and "The search was cancelled" not in said(app)
    assert nats(
        search(melons(), "aic", options=SearchOptions(max_parents=4, restarts=7, perturbations=0)).score
    ) in said(app)


def test_a_search_under_way_is_waited_for_with_a_button_that_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn_search, "GRACE", 0.0)
    ended = threading.Event()
    monkeypatch.setattr(learn_search.Run, "work", lambda run, work: ended.wait(60))
    app = opened("network", showing(MELONS, net_score="aic", net_parents=5, learn_restarts=7))
    assert "Searching: 0 s" in said(app)
    app.button(key="learn_stop").click().run()
    (run, *_others) = app.session_state["learn_runs"].values()
    assert run.stop.is_set() and app.button(key="learn_stop").disabled
    ended.set()


def stopped() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


def test_a_forged_link_counts_as_nothing_set() -> None:
    junk = {
        "net_method": "magic", "net_score": "beauty", "net_parents": 99, "learn_step": 10**6, "learn_seconds": 1e9,
        "learn_required": ((0, 0), (1, 99), "x"), "learn_tiers": (("a",), 3), "learn_arcs": ((0, 1), (1, 0)),
        "learn_pair": (5, 5, 5), "learn_order": ("x", 99), "learn_start": (7,), "learn_bound": (3, 3),
    }  # fmt: skip
    for view in ("search", "hand"):
        app = opened("network", showing(MELONS, **junk, learn_view=view))
        assert not app.error
    assert drawn(app) == set()  # the forged arcs closed a cycle


# the classifier ---------------------------------------------------------------------------------------------------


def on_shelf(table: str, *parameters: tuple[str, Any]) -> State:
    return State(table=table, language="en", labels="file", shelf=(Spec(family="network", parameters=parameters),))


def test_a_graph_by_hand_goes_on_the_shelf_and_predicts_as_the_engine() -> None:
    arcs = ((TEXTURE, GOOD), (GOOD, NAVEL), (NAVEL, STALK))
    app = opened("network", showing(MELONS, learn_view="hand", learn_arcs=arcs))
    app.button(key="learn_shelve").click().run()
    spec = app.session_state["state"].shelf[app.session_state["state"].active]
    assert spec.family == "network"
    assert set(dict(spec.parameters)["structure"]) == set(arcs)
    app = opened("case", on_shelf("watermelon2", *spec.parameters))
    dataset = load_dataset("watermelon2")
    parts = take_apart(dataset.frame, dataset.schema)
    named = [(NAMES[a], NAMES[b]) for a, b in arcs]
    model = BayesianNetworkClassifier(named, schema=parts.schema).fit(parts.X, parts.y)
    case = parts.X.iloc[[0]].assign(**dataset.info.cases[0].values) if dataset.info.cases else parts.X.iloc[[0]]
    p = dict(zip(model.classes_, model.predict_proba(case)[0].tolist(), strict=True))
    assert f"{p['是']:.4f}" in said(app) or f"{p['否']:.4f}" in said(app)


ON_THE_SHELF = ((), (("criterion", "aic"), ("missing", "category")), (("structure", "tan"),))


@pytest.mark.parametrize(
    ("page", "table", "parameters"),
    [
        (page, table, ON_THE_SHELF[(i + j) % 3])  # each pair of two of the three is met
        for i, page in enumerate(["model", "case", "decisions", "classify"])
        for j, table in enumerate(["play-tennis", "penguins", "watermelon2", "iris", "mushroom"])
    ],
)
@pytest.mark.slow
def test_every_page_shows_a_network_of_the_shelf(
    page: str, table: str, parameters: tuple[tuple[str, Any], ...]
) -> None:
    assert not opened(page, on_shelf(table, *parameters)).error


@pytest.mark.slow
def test_the_model_page_says_where_the_class_is_no_parent_and_shows_the_classs_own_table() -> None:
    app = opened("model", showing(on_shelf("play-tennis", ("criterion", "aic")), column=1))
    assert "The class is no parent of this column" in said(app)
    assert "The class has parents: **outlook**, **wind**" in said(app)
    table = next(f.value for f in app.dataframe if "c0" in f.value and "v1" in f.value)
    assert len(table) == 6
    dataset = load_dataset("play-tennis")
    parts = take_apart(dataset.frame, dataset.schema)
    model = BayesianNetworkClassifier(criterion="aic", schema=parts.schema).fit(parts.X, parts.y)
    above = model.network_["play"]
    assert [d.name for d in above.parents] == ["outlook", "wind"]
    shown = [float(cell.split("= ")[1]) for cell in table["c0"]]
    k = [str(v) for v in above.variable.levels].index(str(parts.target.levels[0]))
    assert shown == pytest.approx(above.p[..., k].ravel().tolist(), abs=5e-5)


@pytest.mark.slow
def test_the_parameters_of_a_network_on_the_shelf() -> None:
    app = opened("model", showing(on_shelf("watermelon2"), knobs=True))
    app.selectbox(key="parameter_structure").set_value(3).run()
    assert dict(app.session_state["state"].shelf[0].parameters) == {"structure": "tan"}
    assert app.selectbox(key="parameter_criterion").disabled
    app.selectbox(key="parameter_structure").set_value(0).run()
    app.selectbox(key="parameter_criterion").set_value("aic").run()
    app.number_input(key="parameter_max_parents").set_value(1).run()
    assert dict(app.session_state["state"].shelf[0].parameters) == {"criterion": "aic", "max_parents": 1}
    dataset = load_dataset("watermelon2")
    parts = take_apart(dataset.frame, dataset.schema)
    model = BayesianNetworkClassifier(criterion="aic", max_parents=1, schema=parts.schema).fit(parts.X, parts.y)
    assert not app.error
    a, b = model.graph_.arcs[0]
    assert f"{a} → {b}" in said(app)


def test_a_factor_of_a_network_is_explained_with_its_rows() -> None:
    state = on_shelf("play-tennis", ("criterion", "aic"))
    app = opened("case", showing(state, factor=1, of=0))  # P(outlook), which the class is no parent of
    assert "5 of the 14 rows have outlook = sunny" in said(app)
    assert "The class is no parent of this column: the factor is the same for every class and cancels." in said(app)
    app = opened("case", showing(state, factor=0, of=0))  # P(play | outlook, wind)
    assert "1 of the 2 rows with outlook = sunny, wind = strong have play = yes" in said(app).replace("\\=", "=")


@pytest.mark.slow
def test_a_stated_prior_gives_way_to_a_class_with_parents() -> None:
    state = on_shelf("watermelon2", ("structure", ((TEXTURE, GOOD),)), ("priors", "uniform"))
    assert not opened("model", state).error


@pytest.mark.slow
def test_forged_arcs_of_a_shelf_network_are_dropped() -> None:
    for arcs in (((0, 1), (1, 0)), ((0, 99),), ("x",), ((True, 1),)):
        assert shelf_in(on_shelf("watermelon2", ("structure", arcs))) == on_shelf("watermelon2").shelf
    assert not opened("model", on_shelf("watermelon2", ("structure", ((0, 1), (1, 0), "x", (0, 99))))).error


def test_a_change_of_many_free_numbers_is_told_to_the_last_digit() -> None:
    names = ["edibility", "odor", "spore-print-color", "gill-color", "cap-color", "habitat"]
    schema = load_dataset("mushroom").schema
    at = {name: i for i, name in enumerate(schema.names)}
    parents = tuple((at[name], at[names[-1]]) for name in names[:-1])
    view = {"net_tab": "learn", "learn_view": "hand", "learn_arcs": parents, "learn_pair": parents[-1]}
    app = opened("network", showing(State(table="mushroom", language="en"), **view))
    q = [len(schema[name].levels) for name in names[:-1]]
    r = len(schema[names[-1]].levels)
    fewer = math.prod(q[:-1]) * (q[-1] - 1) * (r - 1)
    assert fewer >= 10_000 and f"−{fewer}" in said(app)


@pytest.mark.slow
def test_a_slow_browser_that_still_holds_the_step_before_edits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message that left before the new step arrived brings the old one."""
    monkeypatch.setattr(widgets, "UNHEARD", 60.0)
    asked = {"net": "asia", "net_part": "elimination", "net_evidence": ((7, 0),), "net_step": 1}
    app = opened("network", showing(State(language="en"), **asked))
    app.button(key="net_step_next").click().run()
    slider = "net_step"
    assert app.slider(key=slider).value == 2
    app.slider(key=slider).set_value(1).run()
    assert app.slider(key=slider).value == 2
    app.slider(key=slider).set_value(4).run()  # a hand
    assert app.slider(key=slider).value == 4
    monkeypatch.setattr(widgets, "UNHEARD", 0.0)
    app.slider(key=slider).set_value(1).run()
    assert app.slider(key=slider).value == 1


def test_what_is_no_longer_drawn_says_nothing() -> None:
    """In a slow browser a drawing can still be clicked after a run that left it out; Streamlit holds no such key."""

    def page() -> None:
        import streamlit as st

        from pages.runtime.widgets import selected, widget_message

        st.write(widget_message("graph", "clicked"), selected("counts", "cells"))

    app = AppTest.from_function(page).run()
    assert not app.exception and [e.value for e in app.markdown] == ["`None`"]


@pytest.mark.slow
@pytest.mark.parametrize("arcs", ["parent", "graph"])
def test_a_column_is_hidden_and_learned_back(arcs: str) -> None:
    state = showing(State(language="en", table="watermelon2"), net_tab="hidden", net_hide_arcs=arcs)
    app = opened("network", state)
    assert not app.exception and any("EM never saw **touch**" in m.value for m in app.markdown)
    app.selectbox(key="net_hide").select_index(4).run()
    said = next(m.value for m in app.markdown if "EM never saw" in m.value)
    assert "**navel**" in said and app.number_input(key="net_hide_states").value == 3
    if arcs == "parent":
        assert "**11 of 17**" in said
        app.number_input(key="net_hide_states").set_value(2).run()
        assert not app.exception and seen(app.session_state["state"], "net_hide_states") == 2


@pytest.mark.parametrize("sample", [10.0, pytest.param(1.0, marks=pytest.mark.slow)])
def test_the_network_in_use_is_learned_at_the_equivalent_sample_size_of_its_score(
    sample: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = State(table="three-attributes", view=(("net", "table"), ("net_score", "bdeu"), ("learn_sample", sample)))
    monkeypatch.setattr(st, "session_state", {"state": state})
    learned = network_source.source().learned
    assert learned is not None and learned.model.search_ is not None
    counts = FamilyCounts.of(learned.rows.frame)
    wanted = decomposed_score(counts, learned.model.graph_, Scorer(counts, "bdeu", sample_size=sample)).score
    assert learned.model.search_.score == pytest.approx(wanted)
