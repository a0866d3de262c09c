"""How sure, on screen: the Dirichlet prior as a setting, three estimates with their intervals, and the band on
P(c|x) with the share of plausible models that decide otherwise; every number against the engine or scipy."""

from __future__ import annotations

from typing import Any

import pytest
from scipy import stats
from streamlit.testing.v1 import AppTest

from bayes_engine.priors import Dirichlet
from bayes_engine.uncertainty.plausible import log_odds, plausible
from pages import active
from pages.runtime.state import Spec, State
from pages.views.case.posterior_band import DRAWN
from tests.apptest.opened import edited, listed, opened, seen, shelf_in, showing
from tests.conftest import every_other

MELONS = State(table="watermelon3", language="en", labels="file")
LAPLACE = State(table="watermelon3", language="en", labels="file", shelf=(Spec("laplace"),))
KNOCK, DENSITY = 2, 6


def spec(app: AppTest) -> Spec:
    state: State = app.session_state["state"]
    return state.shelf[state.active]


def fractions(app: AppTest) -> list[list[str]]:
    return listed(app, "fractions").to_numpy().tolist()


def estimated(app: AppTest) -> list[dict[str, str]]:
    """The table of estimates and intervals."""
    shown = listed(app, "estimates_table")
    named = {"95% credible": "interval", "in use": "used", "Jeffreys": "used", shown.columns[0]: "of"}
    return shown.rename(columns=named).to_dict("records")


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.caption]).replace("\\", "")


def ends(text: str) -> list[float]:
    return [float(part) for part in text.split(" – ")]


# Model: the prior as a setting ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_kind_of_prior_from_one_widget() -> None:
    app = opened("model", showing(LAPLACE, column=KNOCK, knobs=True))
    assert app.selectbox(key="parameter_kind").value == "laplace"
    shown = {
        "none": ("0/8 = 0", (("smoothing", "none"),)),
        "jeffreys": ("(0+0.5)/(8+1.5) = 0.0526", (("alpha", 0.5),)),
        "lidstone": ("(0+0.1)/(8+0.3) = 0.0120", (("alpha", 0.1),)),
        "ess": ("(0+1.667)/(8+5) = 0.1282", (("alpha", ("ess", 10.0)),)),
        "m-estimate": ("(0+0.2353)/(8+2) = 0.0235", (("alpha", ("m", 2.0, "marginal")),)),
        "zero-only": ("(0+1)/(8+3) = 0.0909", (("smoothing", "zero-only"),)),
        "laplace": ("(0+1)/(8+3) = 0.0909", ()),
    }
    for kind, (cell, parameters) in shown.items():
        app.selectbox(key="parameter_kind").set_value(kind).run()
        assert not app.exception
        assert fractions(app)[2][1] == cell, kind
        assert spec(app) == Spec("laplace", parameters)
        assert app.selectbox(key="parameter_kind").value == kind


def test_m_and_its_base_and_the_equivalent_sample_size_are_set_to_the_digit() -> None:
    app = opened("model", showing(LAPLACE, column=KNOCK, knobs=True))
    app.selectbox(key="parameter_kind").set_value("m-estimate").run()
    app.slider(key="parameter_alpha_m").set_value(6.0).run()
    app.selectbox(key="parameter_alpha_base").set_value("uniform").run()
    assert fractions(app)[2][1] == "(0+2)/(8+6) = 0.1429"
    app.selectbox(key="parameter_kind").set_value("ess").run()
    app.number_input(key="parameter_alpha_rows").set_value(6.0).run()
    assert spec(app) == Spec("laplace", (("alpha", ("ess", 6.0)),))
    assert fractions(app)[2][1] == "(0+1)/(8+3) = 0.0909", "6 rows over 2 classes and 3 levels"


def test_sliding_alpha_from_none_smooths() -> None:
    app = opened("model", showing(MELONS, column=KNOCK, knobs=True))
    assert app.selectbox(key="parameter_kind").value == "none" and app.slider(key="parameter_alpha_slider").value == 0
    app.slider(key="parameter_alpha_slider").set_value(0.5).run()
    assert fractions(app)[2][1] == "(0+0.5)/(8+1.5) = 0.0526"
    assert app.selectbox(key="parameter_kind").value == "jeffreys"


def test_one_column_has_a_prior_of_its_own_and_loses_it_again() -> None:
    app = opened("model", showing(LAPLACE, column=KNOCK))
    app.segmented_control(key="prior_of").set_value("one").run()
    assert spec_is(app, Spec("laplace")), "nothing is set yet"
    app.selectbox(key="column_kind").set_value("jeffreys").run()
    assert spec(app) == Spec("laplace", (("alphas", ((KNOCK, 0.5),)),))
    assert fractions(app)[2][1] == "(0+0.5)/(8+1.5) = 0.0526"
    other = opened("model", showing(app.session_state["state"], column=0))
    assert fractions(other)[0][1] == "(3+1)/(8+3) = 0.3636"
    app.segmented_control(key="prior_of").set_value("all").run()
    assert spec(app) == Spec("laplace")


def spec_is(app: AppTest, wanted: Spec) -> bool:
    state: State = app.session_state["state"]
    return not state.shelf or state.shelf[state.active] == wanted


@pytest.mark.slow
def test_a_prior_of_one_column_where_no_other_is_smoothed() -> None:
    own = State(table="watermelon3", language="en", shelf=(Spec("textbook", (("alphas", ((KNOCK, 1.0),)),)),))
    assert fractions(opened("model", showing(own, column=KNOCK)))[2][1] == "(0+1)/(8+3) = 0.0909"
    assert fractions(opened("model", showing(own, column=0)))[2][1] == "1/8 = 0.1250"


@pytest.mark.parametrize("family", every_other(["spode", "tan", "k-db", "network", "aode"]))
@pytest.mark.slow
def test_every_family_of_tables_takes_every_prior(family: str) -> None:
    table = active.in_use(MELONS)
    for value in (0.5, ("m", 3.0, "uniform"), ("ess", 4.0)):
        fitted = active.fit(table, Spec("textbook", (("alpha", value),), family))
        wanted = {"m": Dirichlet.m_estimate(3, "uniform"), "ess": Dirichlet.equivalent_sample_size(4)}
        assert fitted.model.alpha == (value if isinstance(value, float) else wanted[value[0]])
    app = opened(
        "model", showing(State(table="watermelon3", language="en", shelf=(Spec("textbook", (), family),)), knobs=True)
    )
    assert "zero-only" not in app.selectbox(key="parameter_kind").options
    app.selectbox(key="parameter_kind").set_value("m-estimate").run()
    assert not app.exception and not app.error


@pytest.mark.parametrize(
    "parameter",
    [
        ("alpha", ("m", -1.0, "marginal")), ("alpha", ("m", 2.0, "evil")), ("alpha", ("ess",)), ("alpha", ("zz", 1.0)),
        ("alphas", ((99, 1.0),)), ("alphas", ((0, "x"),)), ("alphas", ((0, 1.0), (0, 2.0))), ("alphas", 3.0),
    ],
)  # fmt: skip
def test_a_forged_prior_is_none(parameter: tuple[str, object]) -> None:
    state = State(table="watermelon3", shelf=(Spec("laplace", (parameter,)),))
    assert shelf_in(state) == (Spec("laplace"),)


def test_a_forged_prior_leaves_the_parameters_as_the_preset_has_them() -> None:
    parameters = (("alpha", ("m", 2.0, "evil")), ("alphas", ((99, 1.0), (0, "x"))))
    app = opened(
        "model", showing(State(table="watermelon3", language="en", shelf=(Spec("laplace", parameters),)), knobs=True)
    )
    assert app.selectbox(key="parameter_kind").value == "laplace"


# Model: three estimates, and the interval -----------------------------------------------------------------------------


@pytest.mark.slow
def test_maximum_likelihood_against_laplace_against_the_prior_in_use() -> None:
    app = opened("model", showing(LAPLACE, column=KNOCK, knobs=True))
    app.selectbox(key="parameter_kind").set_value("jeffreys").run()
    crisp = next(row for row in estimated(app) if row["of"] == "清脆 | 是")
    assert (crisp["ML"], crisp["Laplace"], crisp["used"]) == ("0", "0.0909", "0.0526")
    wanted = stats.beta(0.5, 9.0).ppf([0.025, 0.975])
    assert ends(crisp["interval"]) == pytest.approx(wanted, rel=2e-3)
    assert len(estimated(app)) == 6


def test_without_smoothing_the_interval_is_jeffreys_and_says_so() -> None:
    app = opened("model", showing(MELONS, column=KNOCK))
    muffled = estimated(app)[0]
    assert (muffled["of"], muffled["ML"]) == ("浊响 | 是", "0.7500")
    assert ends(muffled["interval"]) == pytest.approx(stats.beta(6.5, 3.0).ppf([0.025, 0.975]), rel=2e-3)
    assert "under Jeffreys' prior" in said(app)


@pytest.mark.slow
def test_so_few_melons_leave_mean_and_variance_open() -> None:
    app = opened("model", showing(MELONS, column=DENSITY))
    good = estimated(app)[0]
    x = active.in_use(MELONS).parts.X["密度"][:8].to_numpy(dtype=float)  # type: ignore[union-attr]
    t = stats.t(7, x.mean(), x.std(ddof=1) / 8**0.5)
    assert ends(good["μ, 95% credible"]) == pytest.approx(t.ppf([0.025, 0.975]), rel=1e-4)
    square = ((x - x.mean()) ** 2).sum()
    assert ends(good["σ², 95% credible"]) == pytest.approx(square / stats.chi2(7).ppf([0.975, 0.025]), rel=2e-3)
    assert "How can 17 rows give a normal distribution?" in said(app)


def test_zeros_only_has_no_interval_and_says_why() -> None:
    app = opened("model", showing(State(table="watermelon3", language="en", shelf=(Spec("zero-only"),)), column=KNOCK))
    assert "no band under zero-only smoothing" in said(app)
    app.selectbox(key="column_kind").set_value("laplace").run()
    assert len(estimated(app)) == 6


# One case: the band ---------------------------------------------------------------------------------------------------


def of_engine(state: State) -> tuple[active.FittableTable, Any, Any]:
    """The table, the model fitted to it, and the case that the page opens with."""
    table = active.in_use(state)
    model = active.fit(table, state.shelf[0]).model
    assert table.info is not None
    first = table.info.cases[0].values
    return table, model, active.case_frame(table, {v.name: first.get(v.name) for v in table.features})


@pytest.mark.slow
def test_the_band_and_the_flips_are_those_of_the_engine() -> None:
    state = showing(State(table="play-tennis", language="en", shelf=(Spec("laplace"),)), unit="nats")
    app = opened("case", state)
    table, model, case = of_engine(state)
    found = plausible(model, case, n=DRAWN, rng=0)
    low, _middle, high = found.band()[:, found.classes.index(table.classes[0])]
    flips = found.flips()
    assert f"lies between **{low:.3f}** and **{high:.3f}**" in said(app)
    assert 0.1 < flips.share < 0.4
    share, error = (f"{p:.1%}".replace("%", " %") for p in (flips.share, flips.se))
    assert f"flips in **{share}** of them (± {error})" in said(app)
    exact = log_odds(model, case, table.classes[0], table.classes[1])
    assert f"{exact.mean:+.2f}".replace("-", "−") + f" ± {exact.sd:.2f} nats" in said(app)  # type: ignore[union-attr]


@pytest.mark.slow
def test_losses_and_a_prior_of_use_move_the_flips_but_draw_nothing_anew() -> None:
    state = showing(State(table="play-tennis", language="en", shelf=(Spec("laplace"),)), unit="nats")
    app = opened("case", state)
    table, model, case = of_engine(state)
    found = plausible(model, case, n=DRAWN, rng=0)
    edited(app, ((0.0, 1.0), (9.0, 0.0)))
    dear = found.flips(
        active.losses(table).for_classes(found.classes).with_cell(table.classes[1], table.classes[0], 9.0)
    )
    assert f"flips in **{dear.share:.1%}".replace("%", " %") in said(app)
    edited(app, ((0.0, 1.0), (1.0, 0.0)), prior=(0.5, 0.5))
    even = found.flips(prior_of_use=dict.fromkeys(table.classes, 0.5))
    assert f"flips in **{even.share:.1%}".replace("%", " %") in said(app)
    assert "Under your prior of use" in said(app)
    exact = log_odds(model.with_params(priors="uniform"), case, *table.classes)
    assert f"{exact.mean:+.2f}".replace("-", "−") + f" ± {exact.sd:.2f} nats" in said(app)  # type: ignore[union-attr]


@pytest.mark.slow
def test_other_draws_are_another_seed_in_the_link() -> None:
    state = State(table="play-tennis", language="en", shelf=(Spec("laplace"),))
    app = opened("case", state)
    before = next(m.value for m in app.markdown if "plausible models" in m.value)
    app.button(key="plausible_draw").click().run()
    after = next(m.value for m in app.markdown if "plausible models" in m.value)
    assert before != after and seen(app.session_state["state"], "draws") == 1
    again = opened("case", app.session_state["state"])
    assert after in [m.value for m in again.markdown]


@pytest.mark.slow
def test_of_three_classes_each_has_a_band_and_one_a_histogram() -> None:
    state = State(table="iris", language="en", shelf=(Spec("laplace"),), case=(6.1, 2.8, 4.9, 1.7))
    app = opened("case", state)
    assert "P(virginica | x) lies between" in said(app)
    app.selectbox(key="plausible_class").set_value(1).run()
    assert "P(versicolor | x) lies between" in said(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "why"),
    [
        (Spec("zero-only"), "zero-only smoothing"),
        (Spec("textbook", (), "aode"), "no band for AODE"),
        (Spec("laplace", (("likelihoods", ((6, "kernel"),)),)), "no band for 'density': a kernel density has no"),
    ],
)
def test_where_there_is_no_band_the_page_says_why(model: Spec, why: str) -> None:
    app = opened("case", State(table="watermelon3", language="en", shelf=(model,)))
    assert not app.exception and why in said(app)


@pytest.mark.slow
def test_under_no_smoothing_the_notes_name_jeffreys() -> None:
    app = opened("case", State(table="loan", language="en", shelf=(Spec("textbook"),)))
    assert "½ a level" in said(app) and "½ a class" in said(app)


@pytest.mark.slow
def test_the_row_left_out_is_left_out_of_the_plausible_models_too() -> None:
    state = State(table="play-tennis", language="en", shelf=(Spec("laplace"),), row=0, case=(0, 0, 0, 0))
    app = opened("case", state)
    counted = said(app)
    without = opened("case", showing(state, left_out=True))
    assert without.toggle(key="left_out").value, "the row is one of the table"
    assert next(m for m in said(without).split("\n") if "plausible models" in m) not in counted


def test_an_m_estimate_says_how_its_rows_are_shared_out() -> None:
    shelf = (Spec("laplace", (("alpha", ("m", 2.0, "marginal")),)),)
    app = opened("case", showing(State(table="play-tennis", language="en", shelf=shelf), factor=1, of=0))
    assert "Smoothing adds pseudo-counts of 2 in all" in said(app) and "this one gets 0.7143" in said(app)
