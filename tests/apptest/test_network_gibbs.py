"""The tab *Gibbs* of the page Network: numbers on screen are the engine's, and «converged» is never said too early."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.datasets import load_network
from bayes_engine.inference.gibbs import GibbsSettings
from bayes_engine.workbench.derivation.gibbs_walk import compare_samplers, exact, row_of, walk
from pages.runtime.state import State
from pages.views.network import gibbs_walk
from tests.apptest.opened import opened, showing
from tests.conftest import slowly

GIVEN = {"asia": ((7, 0),), "stuck": ((2, 1),), "burglary": ((3, 0), (4, 0)), "sprinkler": ()}


def tab(net: str, **settings: Any) -> State:
    given = settings.pop("net_evidence", GIVEN[net])
    return showing(State(language="en"), net_tab="gibbs", net=net, net_evidence=given, net_g_sweeps=200, **settings)


def said(app: AppTest) -> str:
    boxes = [*app.markdown, *app.caption, *app.info, *app.warning, *app.success, *app.error]
    return "\n".join(box.value for box in boxes).replace("\\", "")


def view(app: AppTest) -> dict[str, Any]:
    state: State = app.session_state["state"]
    return dict(state.view)


@pytest.fixture
def films(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the browser is sent."""
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(gibbs_walk, "_walk", lambda key, data, on_stepped_change: sent.append(data))
    return sent


@pytest.mark.slow
@pytest.mark.parametrize("net", ["asia", slowly("burglary"), slowly("sprinkler")])
def test_the_numbers_are_the_engines(net: str) -> None:
    app = opened("network", tab(net))
    stored = load_network(net)
    network = stored.network
    evidence = row_of(network, GIVEN[net])
    event = row_of(network, [(network.position[stored.info.target], 0)])
    truth = exact(network, evidence, event)
    found = compare_samplers(network, evidence, event, truth, settings=GibbsSettings(sweeps=200, blocks="tied"), seed=1)
    table = app.dataframe[0].value
    one, many = found.textbook.event, found.improved.event
    assert one is not None and many is not None
    assert table["P(Q = q | e)"].tolist() == [
        f"{p:.5f}" for p in (truth, one.estimate, many.estimate, found.weighted.estimate)
    ]
    assert table["± error"].tolist()[1:] == [f"{p:.5f}" for p in (one.mc_error, many.mc_error, found.weighted.error)]
    assert table["R̂"].tolist()[2] == f"{many.rhat:.3f}" and table["ESS"].tolist()[3] == f"{found.weighted.ess:.0f}"
    assert f"= **{truth:.5f}**" in said(app)
    rows = app.dataframe[1].value
    assert len(rows) == sum(s for s, e in zip(network.sizes, evidence, strict=True) if e < 0)
    assert rows["R̂"].tolist()[0] == f"{found.improved.rhat[min(found.improved.kernel.hidden)]:.4f}"


@pytest.mark.slow
def test_a_joint_event_of_two_nodes() -> None:
    app = opened("network", tab("burglary", net_g_query=((0, 0), (1, 1))))
    network = load_network("burglary").network
    truth = exact(network, row_of(network, GIVEN["burglary"]), row_of(network, [(0, 0), (1, 1)]))
    assert "P(burglary = yes, earthquake = no | " in said(app) and f"**{truth:.5f}**" in said(app)


@pytest.mark.slow
def test_the_stuck_network_says_why_and_what_each_start_leads_to() -> None:
    app = opened("network", tab("stuck"))
    text = said(app)
    assert "= **0.70000**" in text
    assert "cannot be reached from each other by changing one node at a time" in text
    assert "Communicating class 1 holds 30.00%" in text and "Communicating class 2 holds 70.00%" in text
    assert "One chain: cannot converge" in text and "Many chains: converged" in text  # blocks mend it
    assert app.dataframe[0].value["P(Q = q | e)"].tolist()[1] in ("0.00000", "1.00000")


@pytest.mark.slow
def test_nothing_converges_while_nodes_are_drawn_one_by_one() -> None:
    app = opened("network", tab("stuck"))
    app.selectbox(key="net_g_blocks").set_value("none").run()
    assert not app.exception and view(app)["net_g_blocks"] == "none"
    assert "Many chains: cannot converge" in said(app) and not app.success
    app.select_slider(key="net_g_noise").set_value(0.005).run()
    text = said(app)
    assert not app.exception and not app.success
    assert "Many chains: not shown to have converged" in text and "Why one chain is stuck" not in text
    app.select_slider(key="net_g_noise").set_value(0.3).run()
    app.selectbox(key="net_g_sweeps").set_value(1000).run()
    assert "Many chains: converged" in said(app)


def test_asias_or_is_drawn_with_its_causes() -> None:
    text = said(opened("network", tab("asia")))
    assert "Drawn together: tuberculosis + tuberculosis or cancer" in text.replace("lung cancer + ", "")
    assert "One chain: cannot converge" in text
    assert "tuberculosis, lung cancer, tuberculosis or cancer into 2 communicating classes" in text


def test_a_block_of_ones_own() -> None:
    app = opened("network", tab("stuck", net_g_blocks="own"))
    assert "Many chains: cannot converge" in said(app)
    app.multiselect(key="net_g_own").set_value([0, 1]).run()
    assert "Drawn together: first coin + second coin" in said(app) and app.success


@pytest.mark.slow
def test_the_film_is_the_engines_walk(films: list[dict[str, Any]]) -> None:
    opened("network", tab("asia", net_g_step=5))
    network = load_network("asia").network
    evidence, event = row_of(network, GIVEN["asia"]), row_of(network, [(3, 0)])
    known, film = walk(network, evidence, event, 200, seed=1), films[-1]
    assert film["step"] == 5 and film["start"] == known.start.tolist() and film["hits"] == known.hits.tolist()
    assert film["drawn"] == [u.after for u in known.updates]
    assert film["p"][3] == pytest.approx(known.updates[3].p.tolist(), abs=1e-6)
    assert film["exact"] == pytest.approx(exact(network, evidence, event))
    assert film["evidence"] == [7] and film["asked"] == [3] and len(film["algorithm"]) == 7
    assert film["graph"]["nodes"][6]["subs"] == ["abnormal", "normal"]


@pytest.mark.slow
def test_another_seed_is_another_walk(films: list[dict[str, Any]]) -> None:
    app = opened("network", tab("burglary", net_g_step=7))
    app.button(key="net_g_another").click().run()
    assert view(app)["net_g_seed"] == 2 and films[-1]["step"] == 0
    assert films[-1]["id"] != films[0]["id"] and films[-1]["look"] == films[0]["look"]


@pytest.mark.slow
def test_evidence_is_shared_and_the_storys_is_one_click_away() -> None:
    app = opened("network", tab("stuck", net_evidence=()))
    assert "into **4 communicating classes**" in said(app) or "Communicating class 4" in said(app)
    app.button(key="net_g_try").click().run()
    assert view(app)["net_evidence"] == ((2, 1),)
    app.multiselect(key="net_g_given").set_value(["0:1", "0:0"]).run()  # of one node, the later
    assert view(app)["net_evidence"] == ((0, 0),) and not app.exception


def test_impossible_evidence_and_forged_settings() -> None:
    app = opened("network", tab("asia", net_evidence=((3, 0), (5, 1))))
    assert len(app.error) == 1 and not app.dataframe
    forged = tab(
        "sprinkler", net_g_chains=7, net_g_scan="x", net_g_own=("a", 99), net_g_query=((9, 9), "x"), net_g_step=-4
    )
    app = opened("network", forged)
    assert not app.error and app.selectbox(key="net_g_chains").value == 64


@pytest.mark.slow
def test_a_network_learned_from_the_table() -> None:
    state = showing(State(language="en", table="watermelon2"), net_tab="gibbs", net="table", net_g_sweeps=50)
    app = opened("network", state)
    assert len(app.dataframe[0].value) == 4


@pytest.mark.slow
def test_a_network_of_many_nodes_begins_with_fewer_sweeps() -> None:
    for table, sweeps in (("watermelon2", 1000), ("mushroom", 200)):
        state = showing(State(language="en", table=table), net_tab="gibbs", net="table", net_g_chains=4, net_g_burn=0)
        given = ((0, 0),) if table == "mushroom" else ()
        app = opened("network", showing(state, net_evidence=given, net_drawn=True, net_arcs=()))
        assert app.selectbox(key="net_g_sweeps").value == sweeps
