"""The likelihood of a column, chosen on Model; its class-conditional and the rows behind it; the same on One case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, poisson
from streamlit.testing.v1 import AppTest

from bayes_engine import NaiveBayes
from bayes_engine.datasets import load_dataset
from pages.active.model_settings import TERMS
from pages.runtime.state import Spec, State
from tests.apptest.opened import behind, listed, opened, showing, uploaded
from tests.conftest import crossed, slowly

MELONS = State(table="watermelon3", language="en", labels="file", shelf=(Spec("laplace"),))
DENSITY = 6
CREDIT = State(table="german-credit", language="en", labels="file", shelf=(Spec("laplace"),))
DURATION = 1
SMS = State(table="sms-spam", language="en", labels="file")


def own(app: AppTest) -> tuple[tuple[int, str], ...]:
    state: State = app.session_state["state"]
    return dict(state.shelf[state.active].parameters).get("likelihoods", ())


def said(app: AppTest) -> str:
    return "\n".join(e.value for e in [*app.markdown, *app.caption, *app.info, *app.warning, *app.error])


def with_own(state: State, *pairs: tuple[int, str], **parameters: object) -> State:
    return replace(state, shelf=(Spec("laplace", tuple(sorted({"likelihoods": pairs, **parameters}.items()))),))


def by_class(app: AppTest) -> pd.DataFrame:
    return listed(app, "by_class")


def estimated(app: AppTest) -> pd.DataFrame:
    return listed(app, "estimates_table")


@pytest.mark.slow
def test_only_the_likelihoods_that_the_values_allow_are_offered_and_the_others_say_why() -> None:
    app = opened("model", showing(MELONS, column=DENSITY))
    parameter = app.selectbox(key="column_likelihood")
    assert parameter.value == "gaussian"
    kernels = ["kernel density, Silverman", "kernel density, by the range"]
    cuts = ["cut by MDLP", "cut at equal width", "cut by quantiles"]
    assert parameter.options == ["Gaussian", *kernels, "categorical", *cuts]
    forbidden = next(c for c in app.caption if c.value.startswith("Not applicable here"))
    assert forbidden.value == "Not applicable here: Poisson, Bernoulli"
    assert "in row 1, which is no count" in forbidden.help


def test_a_kernel_density_with_its_bandwidth_and_its_rows() -> None:
    app = opened("model", showing(MELONS, column=DENSITY))
    app.selectbox(key="column_likelihood").set_value("kernel").run()
    assert not app.exception
    assert own(app) == ((DENSITY, "kernel"),)
    x = load_dataset("watermelon3").frame.query("好瓜 == '是'")["密度"]
    h = x.std() * (4 / (3 * len(x))) ** 0.2
    good = by_class(app).iloc[0]
    assert (good["n"], good["bandwidth h"], good["sd s"]) == ("8", f"{h:.6g}", f"{x.std():.6g}")
    assert any(f"={h:.6g}$" in m.value for m in app.markdown)
    assert behind(app)["密度"].astype(float).tolist() == x.tolist()
    assert "Kernel densities: no parameter but a bandwidth for each class; they keep the 17" in said(app)


@pytest.mark.slow
def test_set_back_a_likelihood_leaves_no_trace_and_a_preset_leaves_it() -> None:
    app = opened("model", showing(with_own(MELONS, (DENSITY, "kernel")), column=DENSITY, knobs=True))
    app.segmented_control(key="preset").set_value("textbook").run()
    assert own(app) == ((DENSITY, "kernel"),)
    app.selectbox(key="column_likelihood").set_value("gaussian").run()
    assert app.session_state["state"].shelf == (Spec("textbook"),)


@pytest.mark.slow
def test_all_columns_with_one_of_their_own_are_listed_among_the_parameters_and_can_be_taken_off() -> None:
    app = opened("model", showing(with_own(MELONS, (6, "kernel"), (7, "mdlp")), knobs=True))
    listed = app.multiselect(key="parameter_likelihoods")
    assert listed.options == ["密度: kernel density, Silverman", "含糖率: cut by MDLP"]
    listed.set_value([7]).run()
    assert own(app) == ((7, "mdlp"),)


@pytest.mark.slow
def test_what_a_forged_link_says_of_a_column_that_cannot_have_it_is_dropped() -> None:
    app = opened("model", showing(with_own(MELONS, (0, "kernel"), (6, "kernel"), (99, "poisson")), knobs=True))
    app.selectbox(key="parameter_discretize").set_value("mdlp").run()
    assert own(app) == ((6, "kernel"),)


def test_a_poisson_rate_its_variance_and_its_interval() -> None:
    app = opened("model", showing(with_own(CREDIT, (DURATION, "poisson")), column=DURATION))
    frame = load_dataset("german-credit").frame
    y, x = frame["credit_risk"] if "credit_risk" in frame else frame[frame.columns[-1]], frame["duration"]
    first = load_dataset("german-credit").schema.target.levels[0]
    mine = x[y == first]
    rate = (mine.sum() + x.mean()) / (len(mine) + 1)
    shown = by_class(app).iloc[0]
    assert (shown["Σx"], shown["rate μ"]) == (f"{mine.sum():.0f}", f"{rate:.6g}")
    assert shown["variance of the rows"] == f"{mine.var(ddof=0):.6g}"
    assert "Poisson columns: 2 rates" in said(app)
    three = estimated(app).iloc[0]
    assert (float(three["ML"]), float(three["Laplace"])) == pytest.approx((mine.mean(), rate), rel=1e-4)


def test_of_a_kernel_density_the_page_says_why_no_interval_is_there() -> None:
    app = opened("model", showing(with_own(CREDIT, (DURATION, "kernel")), column=DURATION))
    assert "How sure are these numbers?" in [s.value for s in app.subheader]
    assert "there is no band for 'duration': a kernel density has no parameter" in said(app)


@pytest.mark.parametrize("counting", ["counts", "bernoulli"])
def test_a_words_probability_by_three_estimates_and_jeffreys_where_nothing_is_added(counting: str) -> None:
    app = opened("model", replace(SMS, shelf=(Spec("textbook", (("counting", counting),)),)))
    assert "the intervals are those under Jeffreys' prior" in said(app)
    sms = load_dataset("sms-spam").frame
    spam = sms["message"][sms["label"] == "spam"].str.lower().str.findall(r"\w+")
    vocabulary = {word for text in sms["message"].str.lower().str.findall(r"\w+") for word in text}
    if counting == "counts":
        n, total, kinds = sum(text.count("call") for text in spam), sum(map(len, spam)), len(vocabulary)
    else:
        n, total, kinds = sum("call" in text for text in spam), len(spam), 2
    row = estimated(app).set_index("message").loc["call | spam"]
    assert float(row["ML"]) == float(row["in use"]) == pytest.approx(n / total, rel=5e-3)
    assert float(row["Laplace"]) == pytest.approx((n + 1) / (total + kinds), rel=5e-3)


def test_cut_points_of_a_column_alone_and_no_cut_as_a_finding() -> None:
    app = opened("model", showing(with_own(MELONS, (DENSITY, "mdlp")), column=DENSITY))
    assert any(i.value.startswith("No cut found: the best one gains") for i in app.info)
    names = listed(app, "column_list")["column"].tolist()
    assert "密度 · no cut found" in names and "含糖率" in names  # the other number is a Gaussian still
    assert "含糖率 · no cut found" not in names


@pytest.mark.slow
def test_a_text_is_fitted_without_any_parameter_and_lists_its_telling_words() -> None:
    app = opened("model", showing(SMS, knobs=True))
    sms = load_dataset("sms-spam").frame
    model = NaiveBayes(likelihoods={"message": "multinomial"}, priors="laplace").fit(sms[["message"]], sms["label"])
    terms = listed(app, "telling_words")
    assert terms["term"].tolist()[:3] == ["i", "my", "call"]
    factor = model.factor_.parts[1]
    v = factor.counts.names.index("call")
    ham, spam = (int(factor.counts.sums[k, v]) for k in (0, 1))
    call = terms[terms["term"] == "call"].iloc[0]
    assert call["P(w | spam)"].startswith(f"({spam}+1)/(") and call["P(w | ham)"].startswith(f"({ham}+1)/(")
    rows = behind(app)
    assert rows["message"].str.lower().str.contains("i").all() and (rows["×"].astype(int) > 0).all()
    assert "Only models on naive Bayes take texts" in said(app)


@pytest.mark.slow
@pytest.mark.parametrize(("table", "reading"), crossed(
    ["sms-spam", "sms-spam-zh"], [("words", "bernoulli"), ("characters", "once"), ("pairs", "counts")]
))  # fmt: skip
def test_texts_are_read_and_counted_as_the_parameters_say(table: str, reading: tuple[str, str]) -> None:
    terms, counting = reading
    parameters = tuple(k for k in (("counting", counting), ("terms", terms)) if k[1] not in ("counts", "words"))
    app = opened("model", showing(State(table=table, language="en", shelf=(Spec("laplace", parameters),)), knobs=True))
    assert app.selectbox(key="parameter_terms").value == terms
    assert app.selectbox(key="parameter_counting").value == counting
    found = listed(app, "telling_words")["term"].tolist()
    assert len(found) == 20
    rule = TERMS[terms]
    texts = load_dataset(table).frame.iloc[:, 0]
    v = len(rule.vectorizer().fit(texts).vocabulary_)
    assert any(f"{v:,}" in c.value for c in app.caption)
    kind = "Bernoulli" if counting == "bernoulli" else "Multinomial"
    assert any(kind + ":" in c.value for c in app.caption)


OTHERS = ("data", "case", "classify", "dependence", "network", "projection", "hidden")


@pytest.mark.parametrize("page", ["start", "decisions", *map(slowly, OTHERS)])
def test_every_page_stands_on_a_table_of_texts(page: str) -> None:
    app = opened(page, SMS)
    if page in ("start", "decisions"):
        assert "A text has no place on an axis" in said(app)


def test_one_case_works_out_rates_kernels_and_words() -> None:
    state = with_own(CREDIT, (DURATION, "poisson"))
    app = opened("case", showing(state, factor=2, of=0))
    frame = load_dataset("german-credit")
    x, y = frame.frame["duration"], frame.frame[frame.schema.target.name]
    mine = x[y == frame.schema.target.levels[0]]
    rate = (mine.sum() + x.mean()) / (len(mine) + 1)
    label = app.button(key="factor_2_0").label
    assert label.startswith(f"Poisson(48; {rate:.6g})")
    assert float(label.split(" = ")[-1]) == pytest.approx(poisson.pmf(48, rate), rel=1e-3)
    assert any(rf"\mu &= \frac{{{mine.sum():.0f}+1\times" in e.value for e in [*app.markdown, *app.get("latex")])


def test_a_typed_number_is_a_whole_count_and_levels_are_chosen() -> None:
    content = b"calls,hour,busy\n" + b"".join(
        f"{i % 5},{7 + i % 4}.5,{'yes' if i % 3 else 'no'}\n".encode() for i in range(24)
    )
    app = uploaded(content, page="case")
    assert app.number_input(key="case_0").step == 1.0 and app.number_input(key="case_0").min == 0.0
    state = app.session_state["state"]
    shelf = (Spec("laplace", (("likelihoods", ((0, "poisson"), (1, "categorical"))),)),)
    app.session_state["state"] = replace(state, shelf=shelf)
    app.run()
    assert not app.exception
    assert app.number_input(key="case_0").step == 1.0
    assert app.selectbox(key="case_1").options == ["(missing)", "7.5", "8.5", "9.5", "10.5"]
    app.selectbox(key="case_1").set_value(9.5).run()
    assert app.session_state["state"].case[1] == 9.5


def test_one_kernel_of_all_numbers() -> None:
    state = State(table="iris", language="en", shelf=(Spec("laplace", (("discretize", "kernel"),)),))
    app = opened("case", state)
    iris = load_dataset("iris")
    names = list(iris.schema.features.names)
    x = iris.frame[iris.frame[iris.schema.target.name] == iris.schema.target.levels[0]][names[0]]
    h = x.std() * (4 / (3 * len(x))) ** 0.2
    at = app.session_state["state"].case or tuple(iris.frame[names].iloc[0])
    shown = float(app.button(key="factor_1_0").label.split(" = ")[-1])
    case = app.number_input(key="case_0").value
    assert shown == pytest.approx(float(np.mean(norm.pdf(case, x, h))), rel=1e-3), at


@pytest.mark.slow
def test_naive_bayes_is_told_apart_from_its_probabilities() -> None:
    app = opened("model", showing(State(table="breast-cancer", language="en"), model_view="compare"))
    assert "Naive Bayes is called a good classifier and a bad estimator. Here it is both: right on 93.0%" in said(app)
