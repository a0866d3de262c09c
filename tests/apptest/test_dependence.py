"""The page Dependence: the pairs of watermelon 2.0 to the printed digits, the tree step by step, a pair to its rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.datasets import load_dataset
from bayes_engine.decision.compare import compare
from bayes_engine.models.spode import SPODE
from bayes_engine.models.tan import TAN
from bayes_engine.progress import watched
from bayes_engine.table.roles import take_apart
from pages.runtime.state import Spec, State
from pages.views.dependence import families
from tests.apptest.opened import behind, filmed, listed, opened, sent_to, showing, uploaded
from tests.conftest import slowly

MELONS = showing(State(table="watermelon2", language="en", labels="file"), unit="nats", loss_unit="nats")
COLOUR, STALK, KNOCK, TEXTURE, NAVEL, TOUCH = range(6)
TREE = {
    "根蒂 – 脐部": "0.5975",
    "纹理 – 脐部": "0.3820",
    "根蒂 – 敲声": "0.3529",
    "纹理 – 触感": "0.3204",
    "色泽 – 纹理": "0.2804",
}


def pairs_of(app: AppTest) -> dict[str, dict[str, str]]:
    """The list of pairs, by pair."""
    return {row["pair"]: row for row in listed(app, "dependence_list").to_dict("records")}


def counts(app: AppTest, k: int) -> list[list[str]]:
    """The contingency table of the k-th class as it is shown."""
    return listed(app, f"pair_counts_{k}").to_numpy().tolist()


def said(app: AppTest) -> str:
    return "\n".join(e.value for e in [*app.markdown, *app.caption, *app.subheader, *app.latex])


@pytest.mark.slow
def test_the_pairs_of_the_textbook_and_the_answer_in_words() -> None:
    app = opened("dependence", MELONS)
    assert app.title[0].value.endswith("?")
    pairs = pairs_of(app)
    assert len(pairs) == 15
    assert {name: row["nats"] for name, row in pairs.items() if row["tree"]} == TREE
    strongest = pairs["根蒂 – 脐部"]
    assert float(strongest["G"]) == pytest.approx(2 * 17 * 0.59753454, abs=0.005)
    assert float(strongest["p, Holm"]) == pytest.approx(15 * float(strongest["p"]), rel=5e-3)
    assert (strongest["p, Holm"], strongest["by chance"]) == ("0.0436", "0.2120")  # exact; by χ² 0.0163
    assert "p is exact, over all tables with these margins; by χ² it would be 0.00109" in said(app)
    assert "**1 of 15**" in said(app)
    assert "log-loss, nats 0.7040 against 0.6038" in said(
        app
    )  # naive Bayes and TAN, learnt anew without each row, α = 1


def test_overall_is_another_number() -> None:
    app = opened("dependence", MELONS)
    app.segmented_control(key="dependence_of").set_value("overall").run()
    assert not app.exception
    dataset = load_dataset("watermelon2")
    parts = take_apart(dataset.frame, dataset.schema)
    model = TAN(schema=parts.schema).fit(parts.X, parts.y)
    want = model.dependences().overall["根蒂", "脐部"].information
    assert pairs_of(app)["根蒂 – 脐部"]["nats"] == f"{want:.4f}"
    assert "**all rows** · 17 rows" in said(app)
    assert r"I(x_i;x_j)&=" in app.latex[0].value


def test_a_pair_opens_into_the_sum_behind_its_number() -> None:
    app = opened("dependence", showing(MELONS, pair=(STALK, NAVEL), pair_cell=(0, 0, 0)))
    assert app.subheader[0].value.endswith("0.5975 nats, by chance 0.2120 nats")
    assert counts(app, 0)[:2] == [
        ["蜷缩", "5  (3.12)", "0  (1.88)", "0  (0.00)"],
        ["稍蜷", "0  (1.88)", "3  (1.12)", "0  (0.00)"],
    ]
    terms = [listed(app, f"pair_terms_{k}").iloc[:, 1:] for k in range(2)]
    total = sum(float(v.replace("−", "-")) for frame in terms for v in frame.to_numpy().ravel())
    assert total == pytest.approx(0.5975, abs=3e-4)
    assert "=0.3113 + 0.2862=0.5975" in app.latex[0].value
    assert r"\frac{5}{17}\,\ln\frac{5/8}{(5/8)(5/8)}=+0.1382" in app.latex[1].value
    assert "would give 1.2022" in said(app)
    assert list(behind(app).index) == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_a_cell_chosen_shows_its_rows_and_one_without_rows_none() -> None:
    app = opened("dependence", showing(MELONS, pair=(STALK, NAVEL), pair_cell=(1, 2, 2)))
    assert list(behind(app).index) == [10, 11]
    assert set(behind(app)["根蒂"]) == {"硬挺"}
    app = opened("dependence", showing(MELONS, pair=(STALK, NAVEL), pair_cell=(0, 2, 2)))
    assert behind(app).empty
    assert app.latex[1].value.strip("$\n") == r"0\cdot\log 0=0"


def test_the_tree_grows_to_its_total_step_by_step() -> None:
    app = opened("dependence", showing(MELONS, dependence_view="tree"))
    assert "1.93324 nats" in said(app)
    filmed(app, "tree", 0)
    assert "so far: 0.00000 nats" in said(app)
    told = []
    for step in range(1, 7):
        filmed(app, "tree", step)
        told.append(next(m.value for m in app.markdown if m.value.startswith("Step ")))
    assert [name.split(" – ")[0] in line for name, line in zip(TREE, told[:4], strict=False)] == [True] * 4
    assert "0.3004" in told[4]
    assert "close a cycle with 根蒂 – 脐部 – 纹理" in told[4]
    assert "0.2804 nats (by chance 0.2408 nats), is taken" in told[5]
    assert "1.93324 nats" in said(app)
    filmed(app, "tree", 7)
    assert "point away from **纹理**" in said(app)
    filmed(app, "tree", 5)
    assert "so far: 1.65281 nats" in said(app)
    assert dict(app.session_state["state"].view)["tree_step"] == 5


@pytest.mark.slow
def test_the_tree_s_edges_stand_beside_those_of_trees_that_chose_too() -> None:
    app = opened("dependence", showing(MELONS, dependence_view="tree"))
    edges = listed(app, "tree_by_chance")
    assert edges["edge"].to_list() == [*TREE, "all edges"]
    assert edges["p of the pair"].to_list() == ["0.00291", "0.0421", "0.114", "0.0208", "0.352", ""]
    chosen, own = (edges.iloc[:5][name].astype(float) for name in ("by chance, chosen", "by chance"))
    assert chosen.is_monotonic_decreasing and chosen.iloc[0] > 1.5 * own.iloc[0]
    assert "1,999 trees refitted" in said(app)


@pytest.mark.slow
def test_information_is_in_bits_until_nats_are_chosen() -> None:
    app = opened("dependence", State(table="watermelon2", language="en", labels="file"))
    assert pairs_of(app)["根蒂 – 脐部"]["bits"] == f"{0.59753454 / math.log(2):.4f}"
    assert "(by chance 0.3059 bits)" in said(app) and r"\log_2" in app.latex[0].value
    assert "P(truth) 49.5% against 54.7%" in said(app)
    app.segmented_control(key="case_unit").set_value("nats").run()
    assert pairs_of(app)["根蒂 – 脐部"]["nats"] == "0.5975"


@pytest.mark.slow
def test_a_root_is_chosen_and_the_tree_put_on_the_shelf() -> None:
    app = opened("dependence", showing(MELONS, dependence_view="tree"))
    app.selectbox(key="tree_root").set_value(TOUCH).run()
    assert "all but **触感**" in said(app)
    app.button(key="shelve_tan").click().run()
    state: State = app.session_state["state"]
    assert state.shelf[state.active] == Spec("textbook", (("root", TOUCH),), "tan")
    app.button(key="shelve_tan").click().run()
    assert len(app.session_state["state"].shelf) == 2  # it is there already


@pytest.mark.slow
def test_how_little_the_root_matters_is_shown() -> None:
    dataset = load_dataset("watermelon2")
    parts = take_apart(dataset.frame, dataset.schema)
    posteriors = [
        TAN(schema=parts.schema, root=name).fit(parts.X, parts.y).predict_proba(parts.X[:1])[0].max()
        for name in parts.X.columns
    ]
    app = opened("dependence", showing(MELONS, dependence_view="tree"))
    assert f"lies between {min(posteriors):.6f} and {max(posteriors):.6f}." in said(app)


def test_playing_is_a_state_that_a_link_reopens() -> None:
    app = opened("dependence", showing(MELONS, dependence_view="tree", tree_step=2))
    assert not sent_to(app, "bayes_film")["plays"]
    filmed(app, "tree", 2, plays=True)
    assert not app.exception
    link = app.session_state["state"]
    assert dict(link.view)["tree_plays"]
    assert sent_to(opened("dependence", link), "bayes_film") | {"words": {}} == {
        "step": 2, "last": 8, "plays": True, "pace": 900.0, "words": {}, "seen": 0,
    }  # fmt: skip
    filmed(app, "tree", 8, plays=True)  # at its end it stands
    assert not dict(app.session_state["state"].view)["tree_plays"]


@pytest.mark.slow
def test_the_super_parents_are_the_model_s_own() -> None:
    app = opened("dependence", showing(MELONS, dependence_tab="super-parents"))
    dataset = load_dataset("watermelon2")
    parts = take_apart(dataset.frame, dataset.schema)
    best = SPODE(schema=parts.schema).fit(parts.X, parts.y).super_parent_
    assert f"The best is **{best}**" in said(app)
    assert "Exact leave-one-out" in said(app)
    app.button(key="shelve_spode").click().run()
    state: State = app.session_state["state"]
    assert state.shelf[state.active] == Spec(family="spode")


@pytest.mark.slow
def test_cut_points_that_a_row_had_a_say_in_are_said_of_the_super_parents() -> None:
    state = showing(State(table="watermelon3", language="en"), dependence_tab="super-parents")
    words = said(opened("dependence", state))
    assert "Leave-one-out with α = 1, the cut points kept from all rows, which flatters" in words


@pytest.mark.parametrize("tab", ["super-parents", "examples", *map(slowly, ("twice", "dial", "doubled"))])
def test_every_tab_opens(tab: str) -> None:
    app = opened("dependence", showing(MELONS, dependence_tab=tab))
    assert not app.exception
    assert "stalk" not in said(app)  # labels as in the file


@pytest.mark.slow
def test_numbers_are_cut_and_a_column_without_a_cut_is_named() -> None:
    app = opened("dependence", State(table="watermelon3", language="en", labels="file"))
    assert len(pairs_of(app)) == 15
    assert "no cut point was found" in said(app)
    assert "密度" in said(app)
    app.segmented_control(key="dependence_cut").set_value("quantile").run()
    assert len(pairs_of(app)) == 28


@pytest.mark.slow
def test_where_mdlp_leaves_no_pair_numbers_are_cut_into_quarters_and_that_is_said() -> None:
    alpha = showing(State(table="watermelon3a", language="en"), unit="nats", loss_unit="nats")
    app = opened("dependence", alpha)
    assert len(pairs_of(app)) == 1
    assert app.segmented_control(key="dependence_cut").value == "quantile"
    assert "MDLP finds no place to cut density, sugar" in said(app)
    assert "the one pair tested, **density – sugar**, is not shown to be dependent" in said(app)
    assert "Filled: dependent at the 5% level. Hollow: not shown to be." in said(app)  # nothing to correct for
    assert "quarters of the 17 rows" in said(app)
    dataset = load_dataset("watermelon3a")
    parts = take_apart(dataset.frame, dataset.schema)
    model = TAN(schema=parts.schema, discretize="quantile", bins=4).fit(parts.X, parts.y)
    [pair] = model.dependences().given_class.values()
    assert pairs_of(app)["density – sugar"]["nats"] == f"{pair.information:.4f}"
    assert "log-loss, nats 0.5370 against 0.5180" in said(app)  # both in quarters; uncut they would be one model


def test_who_chose_mdlp_is_told_why_nothing_is_there_and_quarters_are_one_click_away() -> None:
    alpha = showing(State(table="watermelon3a", language="en"), unit="nats", loss_unit="nats")
    app = opened("dependence", showing(alpha, dependence_cut="mdlp"))
    assert "finds no place in density, sugar" in app.info[0].value
    app.button(key="into_quarters").click().run()
    assert len(pairs_of(app)) == 1
    assert "MDLP finds no place" not in said(app)  # it was asked for
    assert dict(app.session_state["state"].view)["dependence_cut"] == "quantile"


@pytest.mark.slow
def test_the_other_tabs_cut_numbers_as_the_pairs_are() -> None:
    alpha = showing(State(table="watermelon3a", language="en"), unit="nats", loss_unit="nats")
    app = opened("dependence", showing(alpha, dependence_tab="dial"))
    assert app.segmented_control(key="dial_numbers").value == "quantile"
    assert "Numbers are cut into quarters of their rows." in said(app)
    app.segmented_control(key="dial_numbers").set_value("gaussian").run()
    assert "Numbers have Gaussians." in said(app)
    app = opened("dependence", showing(alpha, dependence_tab="super-parents"))
    app.button(key="shelve_spode").click().run()
    state: State = app.session_state["state"]
    assert state.shelf[state.active] == Spec(family="spode", parameters=(("bins", 4), ("discretize", "quantile")))


@pytest.mark.slow
def test_a_tree_that_stays_in_parts_says_so() -> None:
    """a and b are copies, and so are c and d, independent of them: two edges, and nothing between."""
    rows = [f"{a},{a},{c},{c},{y}\n" for a in "xz" for c in "pq" for y in "yn" for _copy in range(3)]
    content = ("a,b,c,d,label\n" + "".join(rows)).encode()
    app = uploaded(content, dependence_view="tree", tree_step=3)
    assert "No pair that is left joins the 2 parts: between them every weight is 0." in said(app)
    assert "whole" not in said(app)
    assert sum(bool(row["tree"]) for row in pairs_of(app).values()) == 2
    assert "is taken" in said(uploaded(content, dependence_view="tree", tree_step=2))


def test_a_table_with_one_feature_and_one_with_names_like_markup() -> None:
    app = uploaded(b"one,label\n" + b"a,y\nb,n\n" * 6)
    assert "There is no pair" in app.info[0].value
    app = uploaded(b"<b>x</b> $y$ *z*,two,label\n" + b"a,u,y\nb,v,n\na,v,y\nb,u,y\n" * 5, dependence_view="tree")
    assert len(pairs_of(app)) == 1
    assert "*z*" not in app.subheader[0].value.replace("\\*z\\*", "")


@pytest.mark.slow
@pytest.mark.parametrize("view", ["tree", "map"])
def test_a_wide_table_is_trimmed_with_a_word(view: str) -> None:
    rows = ["".join(f"{(i * (j + 2) // 3) % 3}," for j in range(37)) + f"{'yn'[i % 2]}\n" for i in range(60)]
    content = ("".join(f"c{j}," for j in range(37)) + "label\n" + "".join(rows)).replace("0,", "a,").replace("1,", "b,")
    app = uploaded(content.replace("2,", "d,").encode(), dependence_view=view)
    if view == "map":
        assert "32 of" in said(app)
    else:
        assert "drawn to" in said(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    "view",
    [
        {"pair": (99, -1), "pair_cell": (0, 9, 9), "dependence_tab": "nowhere", "dependence_of": "x"},
        {"pair": ("a",), "pair_cell": ("x", 1, 2), "dependence_order": "y", "dependence_cut": "z"},
        {"dependence_view": "tree", "tree_step": 999, "tree_root": 77, "pair_cell": (True, False, True)},
    ],
)
def test_a_forged_link_opens_the_page(view: dict[str, object]) -> None:
    app = opened("dependence", showing(MELONS, **view))
    assert app.subheader[0].value.endswith("0.5975 nats, by chance 0.2120 nats")


def test_models_are_compared_in_a_job_that_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def noted(*args: Any, **more: Any) -> Any:
        seen.append(watched())
        return compare(*args, **more)

    monkeypatch.setattr(families, "compare", noted)
    app = opened("dependence", replace(MELONS, prior=(0.43, 0.57)))  # which nobody else has asked for
    assert "log-loss, nats" in said(app)
    assert seen and all(seen)


def test_a_difference_between_two_percentages_says_that_it_is_a_ratio() -> None:
    assert "49.5% against 54.7%" in (text := said(opened("dependence", State(table="watermelon2", language="en"))))
    assert "the first relative to the second **−9.54%**" in text
