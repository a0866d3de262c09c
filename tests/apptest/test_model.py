"""Page Model: presets, parameters, shelf; the class-conditionals and the rows behind them, to the printed digits."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from streamlit.dataframe_util import convert_pandas_df_to_arrow_bytes
from streamlit.testing.v1 import AppTest

from bayes_engine.datasets import dataset_info, dataset_names
from bayes_engine.priors import with_share
from pages import active
from pages.active import shelf
from pages.active.files import TABLE
from pages.active.tables import embedded
from pages.components import tables
from pages.runtime import view_keys as keys
from pages.runtime.cache import content_key
from pages.runtime.state import Spec, State, decode, encode, state_from_json
from tests.apptest.opened import APP, behind, give, listed, opened, showing, uploaded
from tests.cache_contents import forget
from tests.conftest import PATIENCE, crossed, slowly

MELONS = State(table="watermelon3", language="en", labels="file")
KNOCK, DENSITY = 2, 6


def spec(app: AppTest) -> Spec:
    state: State = app.session_state["state"]
    return state.shelf[state.active]


def column_list(app: AppTest) -> list[str]:
    return list(listed(app, "column_list")["column"])


def fractions(app: AppTest) -> list[list[str]]:
    return listed(app, "fractions").to_numpy().tolist()


def moments(app: AppTest) -> pd.DataFrame:
    return listed(app, "moments").rename(columns=lambda head: {"mean x̄": "mean"}.get(head, head))


def rows(app: AppTest) -> list[int]:
    return list(behind(app).index)


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.caption])


@pytest.mark.slow
def test_the_table_opens_with_its_own_preset_and_its_most_telling_column() -> None:
    app = opened("model", MELONS)
    assert app.title[0].value
    assert column_list(app)[:3] == ["纹理", "脐部", "含糖率"]
    assert fractions(app) == [
        ["清晰", "7/8 = 0.8750", "2/9 = 0.2222"],
        ["稍糊", "1/8 = 0.1250", "4/9 = 0.4444"],
        ["模糊", "0/8 = 0", "3/9 = 0.3333"],
    ]
    assert rows(app) == [1, 2, 3, 4, 5, 6, 8]
    assert not [box for box in app.selectbox if box.key.startswith("parameter_")], "folded, the settings are not drawn"


@pytest.mark.slow
def test_a_preset_smooths_and_the_cell_chosen_shows_its_rows() -> None:
    app = opened("model", showing(MELONS, column=KNOCK, cell=(2, 1), knobs=True))
    assert fractions(app)[2] == ["清脆", "0/8 = 0", "2/9 = 0.2222"]
    app.segmented_control(key="preset").set_value("laplace").run()
    assert spec(app) == Spec("laplace")
    assert fractions(app)[2][1:] == ["(0+1)/(8+3) = 0.0909", "(2+1)/(9+3) = 0.2500"]
    app.segmented_control(key="preset").set_value("zero-only").run()
    assert fractions(app)[2][1:] == ["(0+1)/(8+3) = 0.0909", "2/9 = 0.2222"]
    assert rows(app) == [10, 11]


@pytest.mark.slow
def test_a_numeric_column_opens_to_mean_deviations_and_variance() -> None:
    app = opened("model", showing(MELONS, column=DENSITY, knobs=True))
    good, bad = moments(app).to_dict("records")
    assert (good["n"], good["mean"], good["÷ (n − 1)"], good["sd"]) == ("8", "0.57375", "7", "0.129211")
    assert (bad["n"], bad["÷ (n − 1)"]) == ("9", "8")
    assert rows(app) == list(range(1, 9))
    squares = behind(app)["(x − x̄)²"].astype(float)
    assert squares.sum() == pytest.approx(float(good["Σ(x − x̄)²"]), rel=1e-5)
    assert squares.sum() / 7 == pytest.approx(0.12921**2, rel=1e-3)
    app.selectbox(key="parameter_variance").set_value("mle").run()
    assert moments(app)["÷ n"].tolist() == ["8", "9"]
    assert spec(app) == Spec("textbook", (("variance", "mle"),))


@pytest.mark.slow
def test_a_parameter_set_back_leaves_no_trace_and_alpha_never_counts_again() -> None:
    app = opened("model", showing(MELONS, column=KNOCK, knobs=True))
    app.segmented_control(key="preset").set_value("laplace").run()
    app.number_input(key="parameter_alpha").set_value(0.5).run()
    assert spec(app) == Spec("laplace", (("alpha", 0.5),))
    assert fractions(app)[2][1] == "(0+0.5)/(8+1.5) = 0.0526"
    assert app.slider(key="parameter_alpha_slider").value == 0.5
    app.slider(key="parameter_alpha_slider").set_value(1.0).run()
    assert spec(app) == Spec("laplace")
    assert fractions(app)[2][1] == "(0+1)/(8+3) = 0.0909"


def test_models_that_estimate_differently_share_their_counts() -> None:
    forget()  # of the tests before one fit may still be there, and its counts not
    table = active.in_use(MELONS)
    one, other = (active.fit(table, Spec("laplace", parameters)) for parameters in ((), (("alpha", 7.25),)))
    assert one.model.stats_ is other.model.stats_
    assert one.model.factor_ is not other.model.factor_


@pytest.mark.slow
def test_the_shelf_takes_six_and_keeps_the_last() -> None:
    app = opened("model", showing(MELONS, knobs=True))
    assert app.button(key="shelf_remove").disabled
    for _more in range(5):
        app.button(key="shelf_add").click().run()
    state: State = app.session_state["state"]
    assert len(state.shelf) == shelf.MOST and state.active == 5 and app.button(key="shelf_add").disabled
    app.segmented_control(key="preset").set_value("laplace").run()
    app.segmented_control(key="shelf").set_value(1).run()
    state = app.session_state["state"]
    assert [s.preset for s in state.shelf] == ["textbook"] * 5 + ["laplace"] and state.active == 1
    app.button(key="shelf_remove").click().run()
    assert [s.preset for s in app.session_state["state"].shelf] == ["textbook"] * 4 + ["laplace"]


@pytest.mark.slow
def test_a_prior_by_hand_keeps_the_sum_and_reaches_the_model() -> None:
    app = opened("model", showing(MELONS, knobs=True))
    app.selectbox(key="parameter_priors").set_value("by hand").run()
    assert app.number_input(key="parameter_prior_0").value == pytest.approx(8 / 17, abs=1e-6)
    app.number_input(key="parameter_prior_0").set_value(0.9).run()
    assert dict(spec(app).parameters)["priors"] == pytest.approx((0.9, 0.1))
    assert app.number_input(key="parameter_prior_1").value == pytest.approx(0.1)
    app.selectbox(key="parameter_priors").set_value("empirical").run()
    assert spec(app) == Spec("textbook")


@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_shares_sum_to_one_whatever_is_set(k: int, p: float) -> None:
    for prior in ((0.2, 0.3, 0.5), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)):
        moved = with_share(prior, k, p)
        assert moved[k] == p and sum(moved) == pytest.approx(1.0, abs=1e-12) and min(moved) >= 0.0


def test_cells_and_free_parameters_of_watermelon_2_are_named_apart() -> None:
    (counted,) = [m.value for m in opened("model", State(table="watermelon2")).markdown if "$972$" in m.value]
    cells, free = counted.splitlines()[2:]
    assert [cell.strip() for cell in cells.split("|")[2:4]] == ["$972$", "$34$"]
    assert [cell.strip() for cell in free.split("|")[2:4]] == ["$971$", "$23$"]


def test_missing_cells_are_left_out_with_their_number_or_become_a_level() -> None:
    sex = 5
    app = opened(
        "model", showing(State(table="penguins", shelf=(Spec("textbook"),)), column=sex, cell=(2, 0), knobs=True)
    )
    table = fractions(app)
    assert [row[1] for row in table] == ["73/146 = 0.5000", "73/146 = 0.5000", "6 left out"]
    assert len(rows(app)) == 6
    app.selectbox(key="parameter_missing").set_value("category").run()
    assert [row[1] for row in fractions(app)] == ["73/152 = 0.4803", "73/152 = 0.4803", "6/152 = 0.0395"]
    assert len(rows(app)) == 6


def test_a_parameter_that_forbids_the_fit_says_so_and_can_be_turned_back() -> None:
    app = opened("model", showing(State(table="penguins"), knobs=True))
    app.selectbox(key="parameter_missing").set_value("error").run()
    assert not app.exception and "missing" in app.error[0].value
    app.selectbox(key="parameter_missing").set_value("marginalize").run()
    assert not app.error and rows(app)


def test_a_table_without_a_target_says_what_to_do() -> None:
    target = embedded("iris").schema.names.index("species")
    app = opened("model", State(table="iris", columns=((target, "ignore", "", ()),)))
    assert "target" in app.error[0].value
    assert not app.dataframe


MORE = [n for n in dataset_names() if dataset_info(n).group != "text"
        and n not in ("watermelon3", "penguins")]  # fmt: skip


@pytest.mark.parametrize("name", ["watermelon3", "penguins", *map(slowly, MORE)])
@pytest.mark.slow
def test_every_table_and_every_column_of_it(name: str) -> None:
    features = len(embedded(name).schema.features)
    for column in range(0, features, max(2, features // 8)):
        app = opened("model", showing(State(table=name), column=column, columns_by="table"))
        assert not app.error
        assert len(column_list(app)) == features and rows(app)


STRANGE = """**bold** $x^2$,<b>a</b> | ![i](http://evil.test/i.png),[c](javascript:1) `k`
<i>one</i>,1.5,$\\alpha$ yes
<i>one</i>,2.5,$\\alpha$ yes
https://evil.test,3.5,*no* :red[x]
https://evil.test,4.5,*no* :red[x]
# three,2.25,*no* :red[x]
%{x},,$\\alpha$ yes
"""


@pytest.mark.slow
@pytest.mark.parametrize("column", [0, 1])
def test_strange_names_stand_as_they_are(column: int) -> None:
    content = STRANGE.encode()
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    mark = give(app, TABLE, "strange.csv", content)
    app.query_params["s"] = encode(showing(State(table=f"upload:{mark}"), column=column))
    app.switch_page("pages/model.py").run()
    assert not app.exception and not app.warning
    for raw in ("**bold** $x^2$", "![i](", "[c](javascript:1)", "$\\alpha$", ":red[x]", "https://evil"):
        assert raw not in said(app), "Markdown would read it"
    shown = said(app).replace("\\", "")
    assert "[c](javascript:1) `k` = " + ("$alpha$ yes" if column else "*no* :red[x]") in shown
    assert column_list(app) == ["<b>a</b> | ![i](http://evil.test/i.png)", "**bold** $x^2$"]


@pytest.mark.slow
def test_a_forged_link_is_read_as_far_as_it_makes_sense() -> None:
    forged = (Spec("evil"), Spec("laplace", (("alpha", "x"), ("priors", (0.5, 0.2)), ("zz", 1), ("var_floor", 1e-6))))
    app = opened(
        "model", showing(State(table="watermelon3", shelf=forged, active=1), column=999, cell=(7, "x"), knobs=True)
    )
    assert rows(app)
    app.number_input(key="parameter_alpha").set_value(2.0).run()
    assert spec(app) == Spec("laplace", (("alpha", 2.0), ("var_floor", 1e-6)))


@pytest.mark.slow
def test_in_english_the_rows_wear_english_labels() -> None:
    app = opened("model", showing(State(table="watermelon3", language="en"), column=KNOCK))
    assert fractions(app)[0][0] == "muffled"
    assert set(behind(app)["knock"]) == {"muffled"}
    app = opened("model", showing(State(table="watermelon3", language="en", labels="file"), column=KNOCK))
    assert set(behind(app)["敲声"]) == {"浊响"}


# every family ---------------------------------------------------------------------------------------------------


def model(table: str, family: str, **parameters: object) -> State:
    held = tuple(sorted(parameters.items()))
    return State(table=table, language="en", labels="file", shelf=(Spec("textbook", held, family),))


def sizes(app: AppTest) -> list[list[str]]:
    """Cells and free parameters: full joint table, naive Bayes, this model."""
    (counted,) = [m.value for m in app.markdown if "full joint table" in m.value]
    return [[cell.strip().strip("$") for cell in line.split("|")[2:-1]] for line in counted.splitlines()[2:]]


MELON_COLUMNS = {"colour": 0, "stalk": 1, "knock": 2, "texture": 3, "navel": 4, "touch": 5}


def test_aode_of_the_book_with_its_fractions() -> None:
    """Zhou, after eq. 7.25: P̂(是, 浊响) = 7/23, P̂(凹陷 | 是, 浊响) = 4/9."""
    app = opened("model", showing(model("watermelon2", "aode"), super_parent=KNOCK, column=MELON_COLUMNS["navel"]))
    assert app.selectbox(key="held_2").value == 0, "the case's level"
    assert fractions(app)[0] == ["凹陷", "(3+1)/(6+3) = 0.4444", "(1+1)/(4+3) = 0.2857"]
    assert "P(是, 敲声 = 浊响) = (6+1)/(17+6) = 0.3043" in said(app).translate(dict.fromkeys(map(ord, "\\\u2060")))
    assert rows(app) == [1, 3, 5]
    app.selectbox(key="held_2").set_value(1).run()
    assert fractions(app)[0][1] == "(2+1)/(2+3) = 0.6000"
    assert "(2+1)/(17+6)" in said(app).replace("\\", "")


@pytest.mark.slow
def test_aode_has_of_the_super_parent_itself_the_joint_with_the_class() -> None:
    app = opened("model", showing(model("watermelon2", "aode"), super_parent=KNOCK, column=KNOCK))
    assert fractions(app)[0] == ["浊响", "(6+1)/(17+6) = 0.3043", "(4+1)/(17+6) = 0.2174"]
    assert rows(app) == [1, 3, 5, 6, 7, 8]
    app.selectbox(key="super_parent").set_value(MELON_COLUMNS["texture"]).run()
    assert fractions(app)[0][1] == "(5+1)/(7+3) = 0.6000", "now under texture = clear"


@pytest.mark.slow
def test_aode_opens_with_the_most_telling_super_parent_and_the_next_column_under_it() -> None:
    app = opened("model", model("watermelon2", "aode"))
    assert app.selectbox(key="super_parent").value == MELON_COLUMNS["texture"]
    assert "P(脐部 | 好瓜, 纹理 = 清晰)" in said(app).replace("\\", "")


@pytest.mark.parametrize(
    ("family", "parameters", "cells", "free"),
    [
        ("spode", {}, ["972", "34", "90"], ["971", "23", "59"]),  # 2·3 + 2·3·(3+3+3+3+2); 1 + 2·2 + 2·3·(2+2+2+2+1)
        slowly("tan", {}, ["972", "34", "90"], ["971", "23", "59"]),
        slowly("aode", {}, ["972", "34", "514"], ["971", "23", "338"]),
        slowly("k-db", {"k": 0}, ["972", "34", "34"], ["971", "23", "23"]),
        slowly("k-db", {"k": 2}, ["972", "34", "222"], ["971", "23", "143"]),
    ],
)
def test_cells_and_free_parameters_of_every_family(
    family: str, parameters: dict[str, object], cells: list[str], free: list[str]
) -> None:
    assert sizes(opened("model", model("watermelon2", family, **parameters))) == [cells, free]


@pytest.mark.slow
def test_spode_says_how_its_super_parents_did_and_takes_another() -> None:
    app = opened("model", showing(model("watermelon2", "spode"), knobs=True))
    table = active.in_use(State(table="watermelon2"))
    fitted = active.fit(table, Spec("textbook", (), "spode"))
    best = fitted.model.candidate_scores_.iloc[0]
    assert f"**纹理** {best.accuracy:.1%} right, log-loss {best.log_loss:.3f}" in said(app)
    app.selectbox(key="parameter_super_parent").set_value(KNOCK).run()
    assert spec(app) == Spec("textbook", (("super_parent", KNOCK),), "spode")
    assert set(listed(app, "column_list")["given"]) == {"", "敲声"}


@pytest.mark.slow
def test_tan_names_each_column_s_parent_and_another_root_turns_the_tree() -> None:
    app = opened("model", showing(model("watermelon2", "tan"), columns_by="table", knobs=True))
    fitted = active.fit(active.in_use(State(table="watermelon2")), Spec("textbook", (), "tan"))
    tree = {child: parent for parent, child in fitted.model.tree_}
    assert list(listed(app, "column_list")["given"]) == [tree.get(n, "") for n in fitted.model.schema_.names]
    app.selectbox(key="parameter_root").set_value(KNOCK).run()
    assert listed(app, "column_list")["given"][KNOCK] == ""


@pytest.mark.slow
def test_k_parents_each_with_a_selector_of_its_own() -> None:
    app = opened("model", showing(model("watermelon2", "k-db", k=2), column=MELON_COLUMNS["colour"]))
    texture, hollow = app.selectbox(key="held_3"), app.selectbox(key="held_4")
    assert (texture.value, hollow.value) == (0, 0)
    assert rows(app) == [1, 4], "green, good, clear and hollow"
    texture.set_value(1).run()
    assert fractions(app)[0][1] == "(0+1)/(0+3) = 0.3333"


def test_a_family_keeps_the_parameters_that_both_have() -> None:
    app = opened("model", showing(MELONS, column=KNOCK, knobs=True))
    app.selectbox(key="parameter_kind").set_value("laplace").run()
    app.number_input(key="parameter_alpha").set_value(0.5).run()
    app.segmented_control(key="family").set_value("aode").run()
    assert spec(app) == Spec("textbook", (("alpha", 0.5),), "aode")
    app.segmented_control(key="family").set_value("k-db").run()
    app.segmented_control(key="parameter_k").set_value(0).run()
    assert fractions(app)[2][1] == "(0+0.5)/(8+1.5) = 0.0526", "k = 0 is naive Bayes"
    app.segmented_control(key="family").set_value("naive-bayes").run()
    assert spec(app) == Spec("textbook", (("alpha", 0.5),))


@pytest.mark.slow
def test_discriminants_are_offered_to_complete_numbers_only() -> None:
    iris = opened("model", showing(State(table="iris", language="en"), knobs=True))
    assert {"LDA", "QDA"} <= set(iris.segmented_control(key="family").options)
    melons = opened("model", showing(MELONS, knobs=True))
    assert not {"LDA", "QDA"} & set(melons.segmented_control(key="family").options)
    assert "LDA and QDA take numbers only; 色泽 is none" in said(melons)


def test_a_discriminant_believes_its_marginals() -> None:
    app = opened("model", showing(model("iris", "lda"), column=2, knobs=True))
    found = moments(app)
    assert found["mean"].tolist() == ["1.462", "4.26", "5.552"]
    assert set(found["variance"]) == {f"{(1.4778 + 10.82 + 14.9248) / 150:.6g}"}
    assert "22 parameters" in said(app) and "naive Bayes has 24" in said(app)
    app.segmented_control(key="family").set_value("qda").run()
    assert moments(app)["variance"].tolist() == [f"{m2 / 50:.6g}" for m2 in (1.4778, 10.82, 14.9248)]
    app.selectbox(key="parameter_shrinkage").set_value("by hand").run()
    app.slider(key="parameter_gamma").set_value(1.0).run()
    assert dict(spec(app).parameters) == {"shrinkage": 1.0}
    assert "†" in moments(app)["variance"][0] and "shrunk" in said(app)


@pytest.mark.slow
def test_numbers_cut_by_the_classes_are_intervals_and_their_rows_lie_in_them() -> None:
    app = opened("model", showing(State(table="iris", language="en", shelf=(Spec(),)), column=2, knobs=True))
    app.selectbox(key="parameter_discretize").set_value("mdlp").run()
    assert [row[0] for row in fractions(app)] == ["≤ 2.45", "2.45 – 4.75", "> 4.75"]
    assert fractions(app)[1][2] == "44/50 = 0.8800"
    app.selectbox(key="parameter_discretize").set_value("quantile").run()
    app.number_input(key="parameter_bins").set_value(2).run()
    assert len(fractions(app)) == 2 and dict(spec(app).parameters) == {"bins": 2, "discretize": "quantile"}
    app.selectbox(key="parameter_discretize").set_value("").run()
    assert spec(app) == Spec(spec(app).preset, (("bins", 2),)), "Gaussians again"


@pytest.mark.slow
def test_no_cut_is_a_finding_with_its_bits() -> None:
    app = opened("model", showing(model("watermelon3", "naive-bayes", discretize="mdlp"), column=DENSITY))
    assert {"密度 · no cut found", "纹理"} <= set(column_list(app))
    assert "0.262 bits, and 0.396 are needed" in app.info[0].value


def test_numbers_under_a_parent_are_smoothed_towards_their_class_and_say_how() -> None:
    """Bill length of the Adelie penguins on Biscoe, with one pseudo-observation like all Adelie penguins."""
    app = opened("model", showing(model("penguins", "aode", discretize=None), super_parent=0, column=1))
    adelie, chinstrap, gentoo = moments(app).to_dict("records")
    assert (adelie["n"], adelie["mean"], adelie["mean, smoothed"], adelie["variance, smoothed"]) == (
        "44",
        "38.975",
        "38.9709",
        "6.03872",
    )
    assert chinstrap["species"] == "Chinstrap ‡" and chinstrap["n"] == "68", "none lives there: the whole class"
    assert gentoo["species"] == "Gentoo" and gentoo["n"] == "123" and gentoo["missing"] == "1"
    assert len(rows(app)) == 44


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "name"), crossed(["spode", "tan", "aode", "k-db"], ["loan", "penguins", "breast-cancer", "mushroom"])
)
def test_every_family_on_tables_of_every_kind(family: str, name: str) -> None:
    for parameters in ({}, {"discretize": None}):
        app = opened("model", model(name, family, **parameters))
        assert not app.error and not app.warning


def test_forged_parents_and_super_parents_fall_back() -> None:
    state = showing(model("watermelon2", "aode"), super_parent=99, column=4, held=((2, 9), ("x", 1), 7, (3, 1)))
    app = opened("model", state)
    assert app.selectbox(key="super_parent").value == MELON_COLUMNS["texture"]
    assert app.selectbox(key="held_3").value == 1 and rows(app)


@pytest.mark.slow
def test_a_family_that_cannot_take_the_table_says_why_and_can_be_left() -> None:
    app = opened("model", showing(model("watermelon3", "lda"), knobs=True))
    assert "discriminant analysis needs numbers" in app.error[0].value
    app.segmented_control(key="family").set_value("tan").run()
    assert not app.error and spec(app).family == "tan"


@pytest.mark.parametrize(
    ("labels", "name"), [("", "column(s) density, sugar:"), slowly("file", "column(s) 密度, 含糖率:")]
)
def test_a_note_names_columns_as_the_page_does(labels: str, name: str) -> None:
    app = opened("model", State(table="watermelon3", language="en", labels=labels, shelf=(Spec("laplace", (), "tan"),)))
    assert name in said(app)


@pytest.mark.slow
def test_the_columns_of_a_note_are_listed_as_the_language_lists_them() -> None:
    for language, names in (("en", "p00, p40, p47 have"), ("zh", "列 p00、p40、p47 ")):
        app = opened("model", State(language=language, table="digits", shelf=(Spec("laplace"),)))
        assert any(names in e.value for e in (*app.caption, *app.markdown, *app.info))


@pytest.mark.slow
@pytest.mark.parametrize("page", ["model", slowly("projection"), slowly("decisions"), slowly("dependence")])
def test_a_long_table_does_not_travel_to_the_browser_point_by_point(page: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 30_000)
    long = pd.DataFrame({"a": rng.normal(y), "b": rng.normal(size=len(y)), "y": np.where(y == 1, "pos", "neg")})
    app = uploaded(long.round(4).to_csv(index=False).encode(), page=page)
    drawn = [len(e.proto.spec) for e in app.get("plotly_chart")]
    sent = [len(e.proto.json or e.proto.mixed.json) for e in app.get("bidi_component")]
    assert [*drawn, *sent] and max([*drawn, *sent]) < 250_000
    assert all(len(e.value) <= 5000 for e in app.dataframe)
    if page == "model":
        assert "The first 5000 are shown" in said(app) and len(behind(app)) == 5000


# names of the models --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_two_models_of_the_shelf_show_one_name() -> None:
    app = opened("model", showing(State(table="watermelon3", language="en"), knobs=True))
    for _more in range(2):
        app.button(key="shelf_add").click().run()
    assert [re.sub(r"[\\\u2060]", "", name)[4:] for name in app.segmented_control(key="shelf").options] == [
        "textbook, as printed", "textbook, as printed (2)", "textbook, as printed (3)",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_model_is_called_as_a_person_says_in_links_and_comparisons_and_as_a_file() -> None:
    app = opened("model", showing(State(table="watermelon3", language="en"), knobs=True))
    app.session_state["shelf_rename"] = True
    app.button(key="shelf_add").click().run()
    app.text_input(key="shelf_name").set_value("  cautious *1* ").run()
    assert not app.exception and [s.name for s in app.session_state["state"].shelf] == ["", "cautious *1*"]
    token = encode(app.session_state["state"])
    assert (decode(token) or State()).shelf[1].name == "cautious *1*"
    app.segmented_control(key="shelf").set_value(0).run()
    app.text_input(key="shelf_name").set_value("cautious *1*").run()  # it is taken: a number is put behind it
    assert [s.name for s in app.session_state["state"].shelf] == ["cautious *1* (2)", "cautious *1*"]
    app.button(key="shelf_add").click().run()
    assert app.session_state["state"].shelf[2].name == ""
    app.segmented_control(key="shelf").set_value(1).run()
    app.segmented_control(key="preset").set_value("laplace").run()
    assert spec(app).name == "cautious *1*" and spec(app).preset == "laplace"
    app.text_input(key="shelf_name").set_value("").run()
    assert spec(app).name == ""
    again = opened("model", (decode(token) or State()).showing(keys.SAVE_OPEN.to(True)))
    assert "cautious-1.model.bayes" in again.code[0].value
    judged = opened("model", (decode(token) or State()).showing(keys.MODEL_VIEW.to("compare")))
    assert any("cautious" in str(e.proto) for e in judged.get("plotly_chart"))


def test_a_name_fits_no_model_anew() -> None:
    named, plain = Spec("laplace", (), "tan", "mine"), Spec("laplace", (), "tan")
    assert named == plain and content_key(named) == content_key(plain)
    assert state_from_json('{"shelf":[["laplace",[],"tan"],["laplace",[],"tan","mine",7]]}') is not None
    assert decode(encode(State(shelf=(named, plain)))).shelf[0].name == "mine"  # type: ignore[union-attr]


def test_rows_behind_a_number_are_looked_for_once_in_a_long_table(monkeypatch: pytest.MonkeyPatch) -> None:
    table = active.fittable(active.in_use(State(table="watermelon3")))
    monkeypatch.setattr(tables, "MOST", 3)
    looked: list[int] = []

    def chosen(frame: pd.DataFrame) -> pd.DataFrame:
        looked.append(len(frame))
        return frame[frame[number] > 0.5].assign(double=2 * frame[number])

    number = next(v.name for v in table.features if v.numeric)
    there = np.flatnonzero((table.parts.X[number] > 0.5).to_numpy())
    for _time in range(2):
        behind = tables.rows_behind(table, ("dense", "in a test"), chosen)
        rows = behind.frame
        assert behind.n == len(there) > 3 and rows.index.tolist() == (there[:3] + 1).tolist()
        assert rows["double"].tolist() == (2 * table.parts.X[number].iloc[there[:3]]).tolist()
        assert rows[table.target.name].tolist() == table.parts.y.iloc[there[:3]].tolist()
    assert looked == [17]


def test_rows_that_are_no_arrow_table_are_a_grid_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table = active.fittable(active.in_use(State(table="watermelon3")))
    monkeypatch.setattr(tables, "FEW", 3)
    cells = pd.DataFrame({"mixed": [1, "1", 2.5, 10**400, None]}, index=pd.Index([4, 7, 8, 9, 17]))
    drawn: list[pd.DataFrame] = []
    monkeypatch.setattr(tables.st, "dataframe", lambda shown, **_: drawn.append(shown))
    tables.rows(table, tables.RowsBehind(("mixed",), cells, 5), ["mixed"], of="mixed", height=200)
    assert convert_pandas_df_to_arrow_bytes(drawn[0]) and drawn[0]["mixed"].tolist() == cells["mixed"].tolist()
    assert drawn[0].index.tolist() == [4, 7, 8, 9, 17]
