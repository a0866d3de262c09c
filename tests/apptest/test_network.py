"""The page Network, its frame and the tab *ask*: numbers against the engine and the books."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.datasets import load_network
from bayes_engine.inference.beliefs import node_beliefs
from pages.active import network_source as sources
from pages.active.files import NETWORK
from pages.runtime.state import State, decode, encode
from pages.views.network.separation import SeparationQuery, after_click
from tests.apptest.opened import APP, give, opened, sent_to, showing, written
from tests.conftest import PATIENCE

PLACE = load_network("asia").network.position


def network(table: str = "watermelon3a", **view: object) -> AppTest:
    return opened("network", showing(State(table=table, language="en"), **view))


def nodes(app: AppTest) -> dict[str, dict[str, Any]]:
    return {node["id"]: node for node in sent_to(app, "bayes_graph")["nodes"]}


def shares(app: AppTest, node: str) -> list[float]:
    return [bar["share"] for bar in nodes(app)[node]["bars"]]


def text(app: AppTest) -> str:
    return "\n".join(str(e.value) for e in (*app.markdown, *app.caption))


def state_of(app: AppTest) -> State:
    token = app.query_params["s"]
    state = decode(token[0] if isinstance(token, list) else token)
    assert state is not None
    return state


def edit(app: AppTest, change: Any) -> AppTest:
    """After a callback of the drawing."""
    app.session_state["state"] = change(app.session_state["state"])
    app.run()
    assert not app.exception
    return app


def test_the_page_opens_on_the_chest_clinic_with_its_priors() -> None:
    app = network()
    assert app.title[0].value == "What does a finding change elsewhere?"
    assert shares(app, "lung") == pytest.approx([0.055, 0.945])
    assert "before" not in nodes(app)["lung"]["bars"][0]
    assert "Nothing is observed yet" in text(app)


def test_a_finding_moves_every_bar_and_stands_in_the_address() -> None:
    app = edit(network(), lambda s: sources.toggled(s, PLACE["dysp"], 0))
    expected = node_beliefs(load_network("asia").network, {"dysp": "yes"})
    for name, posterior in expected.posterior.items():
        assert shares(app, name) == pytest.approx(posterior)
        assert [b["before"] for b in nodes(app)[name]["bars"]] == pytest.approx(expected.prior[name])
    assert [b["selected"] for b in nodes(app)["dysp"]["bars"]] == [True, False]
    assert app.metric[0].value == "0.4360"
    assert dict(state_of(app).view)["net_evidence"] == ((PLACE["dysp"], 0),)
    assert "bronchitis \\= yes: 0.4500 → **0.8340**" in text(app) or "bronchitis = yes: 0.4500 → **0.8340**" in text(
        app
    )
    app.button(key=f"net_clear_{PLACE['dysp']}").click().run()
    assert shares(app, "lung") == pytest.approx([0.055, 0.945]) and not app.metric


def test_the_story_is_one_click_away() -> None:
    app = network(net="burglary")
    app.button(key="net_try").click().run()
    assert shares(app, "burglary")[0] == pytest.approx(0.2842, abs=5e-5)
    assert app.metric[0].value == "0.002084"


def test_impossible_findings_are_named_and_cleared() -> None:
    impossible = ((PLACE["tub"], 0), (PLACE["smoke"], 0), (PLACE["either"], 1))
    app = network(net_evidence=impossible)
    assert "**tuberculosis = yes, tuberculosis or cancer = no** has probability 0" in text(app).replace("\\", "")
    tones = {name for name, node in nodes(app).items() if node["tone"] == "shut"}
    assert tones == {"tub", "either"}
    assert not [s for s in app.subheader if s.value == "Most probable explanation"]
    app.button(key=f"net_conflict_{PLACE['either']}").click().run()
    assert shares(app, "either") == pytest.approx([1.0, 0.0])
    assert dict(state_of(app).view)["net_evidence"] == tuple(sorted(impossible[:2]))


def test_the_most_probable_explanation_is_shown_with_its_probability() -> None:
    evidence = {"敲声": "浊响", "根蒂": "蜷缩"}
    app = network(net="watermelon", net_evidence=((2, 0), (4, 0)))
    found = node_beliefs(load_network("watermelon").network, evidence)
    table = written(app, "node")
    assert table["node"].tolist() == ["good melon", "sweetness", "colour"]
    assert table["in the explanation"].tolist() == ["good", "high", "green"]
    assert table["alone"].tolist() == ["good", "high", "dark **≠**"]
    assert found.best["色泽"] == "青绿" and "= **0.1399**" in text(app)


@pytest.mark.slow
def test_the_joint_of_two_nodes_says_whether_they_are_independent() -> None:
    app = network(net="watermelon", net_joint_a=0, net_joint_b=1)
    assert "Independent: every cell is the product" in text(app)
    app = network(net="watermelon", net_joint_a=0, net_joint_b=1, net_evidence=((3, 0),))
    assert "Dependent given the findings" in text(app)
    app.selectbox(key="net_joint_b").set_value(2).run()
    assert dict(state_of(app).view)["net_joint_b"] == 2


# tables -----------------------------------------------------------------------------------------------------------


def test_an_edited_table_changes_the_answers_and_can_be_reset() -> None:
    numbers = (0.5, 0.5, 0.01, 0.99)
    app = network(net_part="tables", net_node=PLACE["lung"], net_cpts=((PLACE["lung"], numbers),))
    assert shares(app, "lung")[0] == pytest.approx(0.255)
    assert "Your numbers are in the address" in text(app)
    app.button(key="net_reset").click().run()
    assert shares(app, "lung")[0] == pytest.approx(0.055)


def test_a_bad_row_is_named_and_normalized_on_request() -> None:
    numbers = (0.3, 0.9, 0.01, 0.99)
    app = network(net_part="tables", net_node=PLACE["lung"], net_cpts=((PLACE["lung"], numbers),))
    assert "P(lung cancer | smoker = yes) sums to **1.2**, not to 1." in text(app).replace("\\", "")
    assert shares(app, "lung")[0] == pytest.approx(0.055)  # the table as it was
    app.button(key="net_normalize_0").click().run()
    assert shares(app, "lung")[0] == pytest.approx(0.5 * 0.25 + 0.5 * 0.01)
    assert "sums to" not in text(app)
    (entry,) = dict(state_of(app).view)["net_cpts"]
    assert entry[1] == pytest.approx((0.25, 0.75, 0.01, 0.99))


# d-separation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("click", "then"), [
    ("a", ("", "b", ("c",))), ("b", ("a", "", ("c",))), ("c", ("a", "b", ())), ("d", ("a", "b", ("c", "d"))),
])  # fmt: skip
def test_a_click_lets_go_or_takes_a_node(click: str, then: tuple[str, str, tuple[str, ...]]) -> None:
    assert after_click(SeparationQuery("a", "b", ("c",)), click) == then
    for place in ({"a": ""}, {"b": ""}):  # a free place is filled, also by one of the set
        filled = after_click(SeparationQuery("a", "b", ("c", "d"))._replace(**place), "d")
        assert filled == SeparationQuery("a", "b", ("c",))._replace(**dict.fromkeys(place, "d"))


def test_a_trail_opens_when_what_is_below_a_v_structure_is_given() -> None:
    asked = {"net_part": "separation", "net_sep": True, "net_sep_a": PLACE["asia"], "net_sep_b": PLACE["smoke"]}
    app = network(**asked)
    assert "**d-separated** by the empty set" in text(app)
    assert nodes(app)["either"]["tone"] == "shut" and nodes(app)["either"]["sub"] == "V-structure · blocked"
    app.multiselect(key="net_sep_given").set_value([PLACE["dysp"]]).run()
    assert "**can depend** on each other given short of breath" in text(app)
    assert "open, for short of breath, a descendant of tuberculosis or cancer, is known." in text(app)
    lit = {(e["source"], e["target"]) for e in sent_to(app, "bayes_graph")["edges"] if e["tone"] == "lit"}
    assert lit == {("asia", "tub"), ("tub", "either"), ("lung", "either"), ("smoke", "lung")}
    app.multiselect(key="net_sep_given").set_value([PLACE["dysp"], PLACE["lung"]]).run()
    assert nodes(app)["dysp"]["sub"] == "V-structure · open"  # round by bronchitis
    app.multiselect(key="net_sep_given").set_value([PLACE["dysp"], PLACE["lung"], PLACE["bronc"]]).run()
    assert nodes(app)["lung"]["sub"] == "chain · blocked"


def test_the_other_forms_of_the_graph() -> None:
    moral = network(net_part="separation", net_graph_view="moral")
    married = [e for e in sent_to(moral, "bayes_graph")["edges"] if e["tone"] == "married"]
    assert {(e["source"], e["target"]) for e in married} == {("tub", "lung"), ("bronc", "either")}
    assert not any(e["directed"] for e in sent_to(moral, "bayes_graph")["edges"])
    same = network(net_part="separation", net_graph_view="class")
    free = {(e["source"], e["target"]) for e in sent_to(same, "bayes_graph")["edges"] if not e["directed"]}
    assert free == {("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc")}
    blanket = network(net_part="separation", net_graph_view="blanket", net_node=PLACE["lung"])
    inside = {name for name, node in nodes(blanket).items() if node["tone"] == "evidence"}
    assert inside == {"smoke", "either", "tub"}


# elimination ------------------------------------------------------------------------------------------------------


def test_elimination_ends_at_the_exact_answer() -> None:
    asked = {"net_part": "elimination", "net_evidence": ((PLACE["dysp"], 0),)}
    app = network(**asked)
    assert "**The tables.** 7 factors" in text(app) and "Left out at once: X-ray" in text(app).replace("\\", "")
    costs = app.dataframe[0].value
    assert costs["order"].tolist() == ["● smallest table first", "children before parents", "parents before children"]
    app.slider(key="net_step").set_value(6).run()
    assert "**Multiply what is left:**" in text(app) and "= 0.4360" in text(app)
    result = next(d.value for d in app.dataframe if "P(q | e)" in d.value.columns)
    exact = node_beliefs(load_network("asia").network, {"dysp": "yes"}).posterior["lung"]
    assert [float(v) for v in result["P(q | e)"]] == pytest.approx(exact, abs=5e-5)
    app.selectbox(key="net_order").set_value("own").run()
    app.multiselect(key="net_own_order").set_value([PLACE["either"]]).run()
    app.button(key="net_step_next").click().run()
    assert "**Sum out tuberculosis or cancer.**" in text(app)


# sources ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_network_is_learned_from_the_table_in_use() -> None:
    app = network("iris", net="table")
    assert set(nodes(app)) == {"sepal length", "sepal width", "petal length", "petal width", "species"}
    assert sum(shares(app, "species")) == pytest.approx(1.0) and len(shares(app, "petal length")) == 3
    assert "Numbers are cut into 3 intervals with equally many rows each" in text(app)


def test_arcs_drawn_by_hand_are_taken_and_a_cycle_is_not() -> None:
    drawn = network("play-tennis", net="table", net_drawn=True, net_arcs=((4, 0), (4, 1)))
    names = list(nodes(drawn))
    arcs = [(e["source"], e["target"]) for e in sent_to(drawn, "bayes_graph")["edges"]]
    assert arcs == [(names[4], names[0]), (names[4], names[1])]
    network("play-tennis", net="table", net_drawn=True, net_arcs=((4, 0), (0, 4)))


@pytest.mark.parametrize("forged", [
    {"net": "no-such", "net_tab": "x"}, {"net": 3, "net_part": "x", "net_target": 99},
    {"net_evidence": ((99, 0), (1, 9), 5), "net_cpts": ((3, (1.0,)), (0, "a"), 7)}, {"net_sep": True, "net_sep_a": 77},
    {"net": "table", "net_bins": 99, "net_method": "x", "net_score": "y", "net_parents": -4, "net_alpha": -1},
    {"net_joint_a": 5, "net_joint_b": 5}, {"net_part": "elimination", "net_step": 999, "net_own_order": (1, "x")},
    {"net_part": "separation", "net_sep": True, "net_sep_a": 1, "net_sep_b": 1, "net_sep_given": (1, 88, "x")},
    {"net": "file:0123456789abcdef"},
])  # fmt: skip
def test_a_forged_address_shows_a_page(forged: dict[str, Any]) -> None:
    assert not network(**forged).exception


def test_a_hostile_file_is_shown_as_the_characters_it_holds() -> None:
    evil = "![x](http://a.b) <b>$"
    levels = '{ type discrete [ 2 ] { "<i>", "[y](z)" }; }'
    bif = f'variable "{evil}" {levels} probability ( "{evil}" ) {{ table 0.5 0.5; }}'
    for part in ("beliefs", "tables", "separation", "elimination", "exchange"):
        app = AppTest.from_file(APP, default_timeout=PATIENCE)
        source = f"file:{give(app, NETWORK, f'{evil}.bif', bif.encode())}"
        view = showing(State(language="en"), net=source, net_part=part, net_evidence=((0, 0),))
        app.query_params["s"] = encode(view)
        app.switch_page("pages/network.py").run()
        assert not app.exception and app.selectbox(key="net").value == source
        assert "![x](" not in text(app) and "<b>" not in text(app)
    assert len(app.get("download_button")) == 4


SIDE = 20
"""Of a grid of nodes, whose largest clique has more nodes than a side."""


@pytest.mark.slow
def test_a_network_out_of_reach_of_exact_inference_is_refused_in_words_and_can_be_sampled() -> None:
    names = [[f"v{i}_{j}" for j in range(SIDE)] for i in range(SIDE)]
    lines = [f"variable {name} {{ type discrete [ 2 ] {{ a, b }}; }}" for row in names for name in row]
    for i, j in itertools.product(range(SIDE), range(SIDE)):
        above = [*([names[i - 1][j]] if i else []), *([names[i][j - 1]] if j else [])]
        rows = "".join(f"({', '.join(given)}) 0.3, 0.7; " for given in itertools.product("ab", repeat=len(above)))
        given = f" | {', '.join(above)}" if above else ""
        lines.append(f"probability ( {names[i][j]}{given} ) {{ {rows if above else 'table 0.4, 0.6; '}}}")
    grid = "\n".join(["network g { }", *lines]).encode()

    def shown(**view: object) -> AppTest:
        app = AppTest.from_file(APP, default_timeout=PATIENCE)
        source = f"file:{give(app, NETWORK, 'grid.bif', grid)}"
        app.query_params["s"] = encode(showing(State(language="en"), net=source, **view))
        app.switch_page("pages/network.py").run()
        assert not app.exception
        return app

    app = shown()
    assert "exact inference would need tables of" in app.error[0].value
    assert not shown(net_part="tables").error  # tables can be read and changed all the same
    app = shown(net_part="elimination")
    assert f"{SIDE**2 - 1} nodes would have to be summed out" in app.error[0].value
    assert app.button(key="net_to_gibbs").label == "Sample it on the tab Gibbs"
    assert not shown(net_tab="gibbs", net_g_sweeps=50, net_g_chains=4, net_g_burn=0).error


def test_alpha_also_acts_where_em_completed_the_cells() -> None:
    drawn = {}
    for alpha in (1.0, 500.0):
        app = network("penguins", net="table", net_alpha=alpha)
        assert not app.exception and "completed by EM" in text(app)
        drawn[alpha] = [shares(app, node) for node in nodes(app)]
    assert drawn[1.0] != drawn[500.0]
