"""The page Dependence, second half: the dial, counted twice, the live examples, a feature doubled."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.datasets import load_dataset
from bayes_engine.decision.compare import compare, differences, score
from bayes_engine.decision.description_length import mdl
from bayes_engine.decision.held_out import HeldOut, held_out
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.models.k_dependence import KDependence
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.tan import TAN
from bayes_engine.numerals import number
from pages import active
from pages.runtime import job_queue, jobs
from pages.runtime.state import Spec, State
from tests.apptest.opened import listed, opened, seen, showing, uploaded
from tests.cache_contents import forget
from tests.conftest import PATIENCE, slowly

MELONS = showing(State(table="watermelon2", language="en"), unit="nats", loss_unit="nats")
MINUS = "−"


def tab(name: str, state: State = MELONS) -> AppTest:
    return opened("dependence", showing(state, dependence_tab=name))


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.caption])


def table_of(app: AppTest, *columns: str) -> list[dict[str, str]]:
    return next(d.value for d in app.dataframe if set(columns) <= set(d.value)).to_dict("records")


def state_of(app: AppTest) -> State:
    state: State = app.session_state["state"]
    return state


def melons() -> tuple[pd.DataFrame, pd.Series]:
    data = load_dataset("watermelon2")
    return data.frame[list(data.schema.features.names)], data.frame["好瓜"]


def signed(value: float) -> float:
    return float(str(value).replace(MINUS, "-"))


# the dial -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_dial_shows_the_bills_and_the_differences() -> None:
    X, y = melons()
    fitted = {"naive": NaiveBayes().fit(X, y), "TAN": TAN().fit(X, y), "k-DB k=2": KDependence(2).fit(X, y)}
    held = {name: held_out(model, X, y) for name, model in fitted.items()}
    runs = {name: repeated(model, X, y, active.runs_for(len(X))) for name, model in fitted.items()}
    loss = LossMatrix.zero_one(held["TAN"].classes)
    apart = {
        column: differences(held, column, loss, runs=runs, reference="naive").set_index("one")
        for column in ("log_loss", "risk")
    }
    app = tab("dial")
    rows = {row["model"]: row for row in table_of(app, "parameters", "penalty")}
    assert list(rows) == ["naive Bayes", "SPODE", "TAN", "AODE", "k-DB k=1", "k-DB k=2", "k-DB k=3"]
    assert rows["naive Bayes"]["parameters"] == "23"
    assert rows["AODE"]["parameters"] == rows["AODE"]["likelihood"] == "–"
    for name in ("TAN", "k-DB k=2"):
        bill = mdl(fitted[name])
        assert bill is not None
        assert rows[name]["parameters"] == f"{bill.parameters:,}"
        assert rows[name]["likelihood"] == f"{-bill.log_likelihood:,.1f}"
        assert rows[name]["penalty"] == f"{bill.penalty:,.1f}"
        for column, frame in apart.items():
            shown = [float(v.strip("[],").replace(MINUS, "-")) for v in rows[name][column].split(" ")]
            assert shown == pytest.approx(frame.loc[name, ["difference", "low", "high"]].tolist(), abs=6e-4)
    assert "With fewer than 30 rows an interval is given, but no verdict." in said(app) and "real" not in said(app)
    assert "Each row by models learnt anew from all others" in said(app)
    assert "kept" not in said(app)


def repeated(model: Any, X: pd.DataFrame, y: pd.Series, times: int) -> list[HeldOut]:
    return [held_out(model, X, y, in_folds=True, seed=seed) for seed in range(times)]


def written(app: AppTest, measure: str) -> dict[str, str]:
    """What the dial says of each model against naive Bayes by a measure."""
    return {row["model"]: row[measure] for row in table_of(app, "parameters", "penalty")}


@pytest.mark.slow
def test_dial_headline_and_compare_give_one_interval() -> None:
    """On iris, which bears a verdict: naive Bayes and the tree, put on the shelf by the families."""
    app = tab("dial", showing(State(table="iris", language="en"), unit="nats", loss_unit="nats"))
    of_tree = written(app, "log_loss")["TAN"]
    assert "on average over samples of 150 rows" in said(app) and "Holm's correction for the 6" in said(app)
    other_way = of_tree.translate(str.maketrans({"+": MINUS, MINUS: "+"}))
    difference, low, high = (v.strip("[],") for v in other_way.split(" "))
    assert f"**{difference}**; 95% {high} … {low})" in said(app)
    shelf = []
    for place in ("naive-bayes", "tan"):
        app.segmented_control(key="dial").set_value(place).run()
        shelf.append(state_of(app).shelf[state_of(app).active])
    state = replace(state_of(app), shelf=tuple(shelf), active=0)
    pairs = listed(opened("model", showing(state, model_view="compare", compare_by="log_loss")), "compare_pairs")
    assert f"{difference} [{high}, {low}]" in pairs.to_numpy()


def test_turning_the_dial_puts_a_model_on_the_shelf_and_turns_it_there() -> None:
    app = tab("dial")
    assert app.segmented_control(key="dial").value is None
    app.segmented_control(key="dial").set_value("tan").run()
    assert not app.exception
    state = state_of(app)
    assert (len(state.shelf), state.active) == (2, 1)
    assert state.shelf[1] == Spec(family="tan")
    app.segmented_control(key="dial").set_value("k-db-2").run()
    state = state_of(app)
    assert (len(state.shelf), state.active) == (2, 1)
    assert state.shelf[1] == Spec(parameters=(("k", 2),), family="k-db")


@pytest.mark.slow
def test_smoothing_is_the_same_for_all_and_losses_do_not_refit(monkeypatch: pytest.MonkeyPatch) -> None:
    app = tab("dial")
    app.number_input(key="dial_alpha").set_value(3.0).run()
    X, y = melons()
    held = {"one": held_out(NaiveBayes(alpha=3).fit(X, y), X, y), "TAN": held_out(TAN(alpha=3).fit(X, y), X, y)}
    more = compare(held).loc["TAN", "more"]
    rows = {row["model"]: row for row in table_of(app, "parameters", "penalty")}
    assert signed(rows["TAN"]["log_loss"].split(" ")[0]) == pytest.approx(more, abs=6e-4)

    def refuse(*_args: object, **_kw: object) -> None:
        raise AssertionError("a loss fitted a model")

    for model in (NaiveBayes, TAN):
        monkeypatch.setattr(model, "fit", refuse)
        monkeypatch.setattr(model, "_count", refuse)
    state = state_of(app)
    dear = opened("dependence", State(**{**vars(state), "losses": ((0.0, 9.0), (1.0, 0.0))}))
    priced = {row["model"]: row for row in table_of(dear, "parameters", "penalty")}
    assert priced["TAN"]["log_loss"] == rows["TAN"]["log_loss"]
    assert priced["TAN"]["risk"] != rows["TAN"]["risk"]


def test_headline_and_dial_show_one_number_and_what_keeps_the_tree_is_named_so() -> None:
    """Learnt anew without each melon the tree has 0.604; the tree that saw it is no held-out number and says so."""
    X, y = melons()
    anew, kept = (held_out(TAN().fit(X, y), X, y, refit=refit) for refit in (True, False))
    losses = [score(held)["log_loss"] for held in (anew, kept)]
    assert losses == pytest.approx([0.6038, 0.3931], abs=5e-5)
    app = tab("dial")
    assert f"against {losses[0]:.4f}" in said(app) and number(losses[0], 3) in drawn(app)
    assert "kept" not in said(app) + drawn(app)
    app.toggle(key="dial_anew").set_value(False).run()
    assert f"against {losses[0]:.4f}" in said(app)  # what the headline says is held out in any case
    assert number(losses[1], 3) in drawn(app) and "TAN, structure kept" in drawn(app)
    assert "but has had a say in what is kept" in said(app)
    names = [row["model"] for row in table_of(app, "parameters", "penalty")]
    assert names[:4] == ["naive Bayes", "SPODE, structure kept", "TAN, structure kept", "AODE"]
    assert seen(state_of(app), "dial_anew") is False


def drawn(app: AppTest) -> str:
    """The dial's figure."""
    return str(next(e for e in app.get("plotly_chart")).proto.spec)


@pytest.mark.parametrize(
    ("table", "numbers"),
    [
        slowly("watermelon3", "mdlp"),
        slowly("iris", "gaussian"),
        slowly("penguins", "mdlp"),
        slowly("loan", "gaussian"),
        slowly("three-attributes", "mdlp"),
    ],
)
def test_every_table_can_be_dialled(table: str, numbers: str) -> None:
    for name in ("dial", "twice", "doubled"):
        app = tab(name, showing(State(table=table, language="en"), dial_numbers=numbers))
        assert not app.exception and not app.error


# counted twice --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_case_is_weighed_the_pair_named_and_chance_told() -> None:
    app = tab("twice")
    assert "overlooks 1.68 nats" in said(app)
    assert "By chance alone it would be **0.88 nats** on average" in said(app) and "this may be chance" in said(app)
    assert "guilty" not in said(app)
    pairs = table_of(app, "pair", "edge")
    assert pairs[0] == {"pair": "texture · touch", "nats": f"{MINUS}1.040", "edge": True}
    both = table_of(app, "naive", "tree")
    assert both[0]["class"] == "good"
    X, y = melons()
    case = X.iloc[[0]]
    for name, model in (("naive", NaiveBayes()), ("tree", TAN())):
        assert float(both[0][name]) == pytest.approx(model.fit(X, y).predict_proba(case)[0].max(), abs=1e-6)


def test_the_worst_row_is_one_click_away() -> None:
    app = tab("twice")
    button = app.button(key="twice_worst")
    assert "row 13: 4.37 nats" in button.label
    button.click().run()
    assert state_of(app).row == 12
    assert "counts 4.37 nats twice" in said(app)
    assert "p ≤ 0.0005" in said(app) and "this is beyond chance" in said(app)


@pytest.mark.slow
def test_chance_is_that_of_the_two_classes_which_a_prior_of_use_makes_likeliest() -> None:
    """Among three classes another prior of use compares two others."""
    cells = [f"{c},{i % 2},{(i // 2 + (c == 'x')) % 3},{(i * i + len(c)) % 3}" for c in "xyz" for i in range(20)]
    content = "\n".join(["class,a,b,d", *cells]).encode()

    def by_chance(*prior: float) -> str:
        state = State(prior=prior, columns=((0, "target", "", ()), *((i, "", "categorical", ()) for i in (1, 2, 3))))
        app = uploaded(content, state=state, dependence_tab="twice")
        return next(m.value for m in app.markdown if m.value.startswith("By chance alone"))

    priors = [(0.6, 0.39, 0.01), (0.01, 0.6, 0.39)]
    after_one_another = [by_chance(*prior) for prior in priors]
    alone = []
    for prior in priors:
        forget()
        alone.append(by_chance(*prior))
    assert after_one_another == alone
    assert alone[0] != alone[1]


@pytest.mark.slow
def test_under_dear_losses_the_two_may_decide_otherwise() -> None:
    """Naive Bayes gives the first melon 0.944, the tree 0.989: between them a threshold of 0.97 splits them."""
    app = tab("twice", State(**{**vars(MELONS), "losses": ((0.0, 32.0), (1.0, 0.0))}))
    assert "Under your losses naive Bayes decides **bad**, TAN **good**." in said(app)


@pytest.mark.slow
def test_the_worst_row_has_the_number_it_has_in_the_file() -> None:
    data = load_dataset("watermelon2")
    frame = pd.concat([data.frame.iloc[[0]], data.frame])
    text = frame.assign(好瓜=[None, *data.frame["好瓜"]]).to_csv(index=False)
    app = uploaded(text.encode(), dependence_tab="twice", unit="nats")
    assert "row 14: 4.37 nats" in app.button(key="twice_worst").label
    app.button(key="twice_worst").click().run()
    assert "counts 4.37 nats twice" in said(app)


@pytest.mark.parametrize("name", ["dial", "twice", slowly("doubled")])
@pytest.mark.slow
def test_a_class_that_is_not_in_use_leaves_the_page_whole(name: str) -> None:
    app = tab(name, State(**{**vars(MELONS), "prior": (1.0, 0.0)}))
    assert "nan" not in said(app) + str([d.value for d in app.dataframe])


# live examples, copies ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_examples_follow_their_sliders() -> None:
    app = tab("examples")
    assert "**0.0775**" in said(app) and "**0.3681**" in said(app)
    app.slider(key="lifters").set_value(0.0).run()
    app.slider(key="switches").set_value(1.0).run()
    assert "**0.0775**" not in said(app) and "**0.0245**" in said(app) and "**0.6931**" in said(app)


def test_copies_make_naive_bayes_sure() -> None:
    app = tab("doubled", showing(MELONS, copies_beside=False))
    X, y = melons()
    naive = NaiveBayes().fit(X, y)
    for copies in (3, 10):
        app.slider(key="copies").set_value(copies).run()
        longer = X.assign(**{f"纹理 {i}": X["纹理"] for i in range(copies)})
        p = NaiveBayes().fit(longer, y).predict_proba(longer.iloc[[0]])[0].max()
        text = next(m.value for m in app.markdown if "copies of texture" in m.value)
        assert float(text.split("**")[1]) == pytest.approx(p, rel=1e-5)
        assert f"without: {naive.predict_proba(X.iloc[[0]])[0].max():.6f}" in text
    app.selectbox(key="copied").set_value(0).run()
    assert seen(state_of(app), "copied") == 0
    assert "copies of colour" in said(app)


@pytest.mark.slow
def test_copies_are_judged_at_the_prior_of_use() -> None:
    X, y = melons()
    model = NaiveBayes(alpha=1.0).fit(X, y)
    app = tab("doubled", showing(State(**{**vars(MELONS), "prior": (0.2, 0.8)}), copies=0))
    joint = dict(zip(model.classes_, model.predict_proba(X.iloc[[0]])[0], strict=True))
    good, bad = joint["是"] * 0.2 / (8 / 17), joint["否"] * 0.8 / (9 / 17)
    assert f"**{good / (good + bad):.6f}** (without: {good / (good + bad):.6f})" in said(app)


@pytest.mark.slow
def test_the_answer_is_that_of_trees_that_had_not_seen_the_row() -> None:
    """Given the tree that all melons chose the interval is without 0; given trees chosen without the melon, not."""
    X, y = melons()
    held = {
        name: held_out(model.fit(X, y), X, y, refit=True) for name, model in (("naive", NaiveBayes()), ("tree", TAN()))
    }
    naive, tree = compare(held)["log_loss"]
    app = tab("pairs")
    assert f"these rows do not show: log-loss, nats {naive:.4f} against {tree:.4f} with a tree" in said(app)


def test_a_class_of_one_row_has_no_answer() -> None:
    app = uploaded(b"a,b,label\nx,u,y\nx,v,y\nz,u,y\nz,v,n\n")
    assert "cannot be estimated" in said(app)
    assert "nan" not in said(app)


@pytest.mark.parametrize("shown_tab", [slowly("dial"), slowly("pairs")])
def test_the_bar_of_several_models_never_goes_back(shown_tab: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[float] = []
    bar = jobs.st.progress

    def noted(share: float, words: str) -> object:
        if "all that this page computes" in words:
            shown.append(share)
        return bar(share, words)

    monkeypatch.setattr(jobs.st, "progress", noted)
    monkeypatch.setattr(job_queue, "GRACE", 0.0)
    forget()
    app = tab(shown_tab)
    for _run in range(60):
        assert all(job.done.wait(PATIENCE) for job in list(jobs._jobs.values()))
        if not app.run().get("progress"):
            break
    assert not app.exception and not app.get("progress")
    assert len(shown) >= 2 and all(one <= later for one, later in pairwise(shown))
