"""The page Hidden labels: the mixture and its film, hidden labels, the supervised end, a cell filled; real numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.datasets import load_dataset
from bayes_engine.models.labelled_curve import accuracy_by_labels
from bayes_engine.models.mixture import GaussianMixture, mixture_table
from bayes_engine.models.naive_bayes import NaiveBayes
from pages.active import em_fits as fits
from pages.active.files import TABLE
from pages.runtime import cache
from pages.runtime.state import State, encode
from pages.views.hidden.player import film_bytes
from tests.apptest.opened import APP, give, opened, showing, uploaded
from tests.conftest import PATIENCE, slowly

IRIS = showing(State(table="iris", language="en"), em_all=True)
MELONS = showing(State(table="watermelon3", language="en"), em_part="some")


def iris() -> np.ndarray:
    return load_dataset("iris").frame.iloc[:, :4].to_numpy(dtype=float).copy()


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.caption, *app.info])


def view(app: AppTest) -> dict[str, object]:
    state: State = app.session_state["state"]
    return dict(state.view)


def metrics(app: AppTest) -> dict[str, str]:
    return {m.label: m.value for m in app.metric}


@pytest.mark.slow
def test_iris_with_three_full_components_reaches_the_known_log_likelihood() -> None:
    app = opened("hidden", IRIS)
    assert "Log-likelihood **−180.18548** after 18 iterations" in said(app)
    assert "stopped, for the objective per row changed by less than ε = 10⁻⁷" in said(app)
    assert "The best of 13 starts**  \nlog-likelihood: −180.18548" in said(app)
    assert "no property of EM" in said(app)  # where the source text errs


@pytest.mark.parametrize("unit", ["bits", "nats"])
def test_how_far_starts_end_below_the_best_is_in_the_unit_chosen(unit: str) -> None:
    app = opened("hidden", showing(IRIS, unit=unit))
    assert f"**Where each start ends**  \n{unit} below the best" in said(app)


def test_every_iteration_obeys_the_identity_and_the_objective_never_falls() -> None:
    app = opened("hidden", showing(IRIS, em_beneath="numbers"))
    table = app.dataframe[0].value
    assert len(table) == 19
    assert np.allclose(table["q"] + table["entropy"], table["log_likelihood"], atol=1e-9)
    assert (table["log_likelihood"].diff().dropna() >= -1e-9).all()
    before = table["log_likelihood"].shift()
    bound = table["lower_bound"]
    assert ((bound >= before - 1e-9) & (bound <= table["log_likelihood"] + 1e-9))[1:].all()


def test_hard_em_climbs_the_classification_likelihood() -> None:
    app = opened("hidden", showing(IRIS, em_beneath="numbers"))
    app.segmented_control(key="em_hard").set_value(True).run()
    table = app.dataframe[0].value
    assert table["entropy"].abs().max() < 1e-9
    assert np.allclose(table["objective"], table["q"], atol=1e-9)
    assert (table["q"] <= table["log_likelihood"] + 1e-9).all()
    assert (table["objective"].diff().dropna() >= -1e-9).all()
    engine = GaussianMixture(3, hard=True, random_state=0, tol=1e-7, max_iter=300).fit(iris())
    assert table["objective"].iloc[-1] == pytest.approx(engine.trace_.last.objective, abs=1e-6)
    assert f"Classification likelihood **−{abs(table['objective'].iloc[-1]):.5f}**" in said(app)


def test_a_bad_start_stands_beside_the_best_and_can_be_played() -> None:
    app = opened("hidden", IRIS)
    assert "A bad start**  \nlog-likelihood: −192.65421" in said(app)
    app.button(key="em_play_random_1").click().run()
    assert view(app)["em_start"] == "random"
    assert view(app)["em_seed"] == 1
    assert "Log-likelihood **−192.65421**" in said(app)


def test_start_points_set_by_hand_are_in_the_link_and_decide_where_em_ends() -> None:
    hand = showing(State(language="en"), em_start="hand", em_points=((0.6, 0.05), (0.7, 0.4)))
    app = opened("hidden", showing(hand, em_beneath="numbers"))
    assert not [n for n in app.number_input if n.key.startswith("em_point")]
    app.session_state["em_more"] = True
    app.run()
    assert app.number_input(key="em_point_1_0").value == 0.7
    X = load_dataset("watermelon3a").frame.iloc[:, :2].to_numpy(dtype=float)
    engine = GaussianMixture(2, init=[[0.6, 0.05], [0.7, 0.4]], tol=1e-7, max_iter=300).fit(X)
    reached = app.dataframe[0].value["log_likelihood"].iloc[-1]
    assert reached == pytest.approx(engine.trace_.last.log_likelihood, abs=1e-9)
    app.number_input(key="em_point_0_0").set_value(0.3).run()
    assert view(app)["em_points"] == ((0.3, 0.05), (0.7, 0.4))
    engine = GaussianMixture(2, init=[[0.3, 0.05], [0.7, 0.4]], tol=1e-7, max_iter=300).fit(X)
    reached = app.dataframe[0].value["log_likelihood"].iloc[-1]
    assert reached == pytest.approx(engine.trace_.last.log_likelihood, abs=1e-9)


@pytest.mark.slow
def test_by_hand_begins_where_k_means_does_and_another_k_has_other_points() -> None:
    app = opened("hidden", showing(State(language="en"), em_start="hand"))
    app.session_state["em_more"] = True
    app.number_input(key="em_k").set_value(3).run()
    assert app.number_input(key="em_point_2_1").value is not None
    assert "Log-likelihood **" in said(app)


@pytest.mark.slow
def test_a_collapse_is_said_in_the_engines_words_and_mended_by_a_prior() -> None:
    app = opened("hidden", showing(State(table="iris", language="en"), em_k=8, em_start="random", em_seed=3))
    assert "has collapsed on" in app.warning[0].value
    assert "The animation ends at iteration 15, the last before the collapse" in said(app)
    app.button(key="em_mend").click().run()
    assert not app.warning
    assert "Log-likelihood + log prior **" in said(app)


def test_bic_over_k_is_the_engines() -> None:
    app = opened("hidden", showing(IRIS, em_beneath="k"))
    table = app.dataframe[0].value
    expected = mixture_table(iris(), [2, 3], n_init=2, max_iter=150, tol=1e-5, random_state=0)
    assert table.loc[[2, 3], "bic"].tolist() == pytest.approx(expected["bic"].tolist(), abs=1e-6)
    assert "Least: BIC: K = 2" in said(app)


def test_components_are_counted_against_the_true_classes() -> None:
    counts = opened("hidden", showing(IRIS, em_beneath="truth")).dataframe[0].value
    assert counts.to_numpy().sum(axis=0).tolist() == [50, 50, 50]
    assert counts.to_numpy().tolist() == [[50, 0, 0], [0, 45, 0], [0, 5, 50]]


@pytest.mark.parametrize(
    ("form", "peer"), [("full", "QDA"), slowly("tied", "LDA"), slowly("diagonal", "Gaussian naive Bayes")]
)
def test_with_no_label_hidden_a_classifier_with_a_name_comes_out(form: str, peer: str) -> None:
    app = opened("hidden", showing(IRIS, em_part="none", em_form=form))
    assert f"**{peer}** with the labels hidden" in said(app)
    assert float(metrics(app)["Largest difference"]) < 1e-12
    assert metrics(app)["Rows decided alike"] == "150 of 150"
    app.button(key="em_hide_all").click().run()
    assert view(app)["em_part"] == "all"
    assert view(app)["em_start"] == "labels"


def test_naive_bayes_with_hidden_labels_on_the_melons() -> None:
    app = opened("hidden", MELONS)
    assert "**Hidden labels right**, of 7" in said(app)
    assert metrics(app) == {"seen only": "5", "with EM": "7", "all seen": "7"}
    assert "Log-likelihood + log prior **−115.40250** after 8 iterations" in said(app)
    app.session_state["em_labels_more"] = True
    app.run()
    app.number_input(key="em_row_to_turn").set_value(17).run()
    app.button(key="em_turn_over").click().run()
    assert view(app)["em_flip"] == (16,)
    assert "of 8" in said(app)
    app.slider(key="em_share").set_value(0).run()
    assert "it is the supervised naive Bayes" in said(app)
    assert view(app)["em_flip"] == ()


@pytest.mark.slow
def test_a_prior_is_spoken_of_only_where_there_is_one() -> None:
    counts, numbers = (
        said(opened("hidden", MELONS)),
        said(opened("hidden", showing(State(language="en"), em_part="some"))),
    )
    assert "Log-likelihood + log prior **" in counts
    assert "Laplace's correction" in counts
    assert "Log-likelihood **14.22651** after 9 iterations" in numbers
    assert "Laplace" not in numbers


def test_what_no_label_hidden_refuses_names_the_columns() -> None:
    content = b"<b>x</b>,$x$,c\n1.5,2.5,z\n2.25,1.25,a\n3.1,9.75,z\n"
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    mark = give(app, TABLE, "t.csv", content)
    state = showing(State(table=f"upload:{mark}", language="en"), em_part="none")
    app.query_params["s"] = encode(state)
    app.switch_page("pages/hidden.py").run()
    assert not app.exception
    assert "<b>x" in app.warning[0].value.replace("\\", "")
    assert "x0" not in app.warning[0].value


def test_with_every_label_hidden_naive_bayes_is_a_mixture_without_names() -> None:
    app = opened("hidden", showing(MELONS, em_share=100))
    assert not app.metric
    counts = app.dataframe[0].value
    assert counts.to_numpy().sum(axis=0).tolist() == [8, 9]
    assert "components have no names" in said(app)


@pytest.mark.parametrize("table", ["loan", slowly("watermelon2"), slowly("mushroom")])
def test_a_table_without_two_numbers_has_naive_bayes_and_says_why(table: str) -> None:
    app = opened("hidden", showing(State(table=table, language="en"), em_part="cell"))
    assert app.segmented_control(key="em_part").options == ["Some labels hidden", "No label hidden"]
    assert "no two numeric features" in said(app)


def test_a_missing_cell_is_filled_by_its_distribution() -> None:
    app = opened("hidden", showing(IRIS, em_part="cell", em_row=70, em_column=2))
    X = iris()
    mean = np.delete(X[:, 2], 70).mean()
    X[70, 2] = np.nan
    found = GaussianMixture(3, n_init=3, random_state=0, max_iter=300).fit(X).conditional(X[70])
    assert metrics(app)["By EM: mean ± sd"] == f"{found.mean[0]:.4f} ± {found.sd[0]:.4f}" == "4.9405 ± 0.2871"
    assert metrics(app)["By the column: mean ± sd"].startswith(f"{mean:.4f}")
    assert metrics(app)["In the table"] == "4.8000"


@pytest.mark.slow
def test_a_forged_link_opens_something() -> None:
    forged = showing(
        State(table="iris", language="en"),
        em_part="nowhere",
        em_k=-4,
        em_x=99,
        em_form="round",
        em_start="x",
        em_points=((1,), "a"),
        em_step=10**6,
    )
    app = opened("hidden", forged)
    assert "Log-likelihood **" in said(app)
    opened("hidden", showing(MELONS, em_share=-5, em_flip=(99, -1), em_weight=7.0, em_hide_seed=-3))
    opened("hidden", showing(IRIS, em_part="cell", em_row=10**9, em_column=-2))
    opened("hidden", showing(IRIS, em_k=True, em_x=True, em_start="hand"))
    opened("hidden", showing(IRIS, em_part="cell", em_row=True, em_column=True))


def test_the_film_is_what_the_trace_says() -> None:
    from bayes_engine.workbench.figures.mixture import Film, axis_range

    X = load_dataset("watermelon3a").frame.iloc[:, :2].to_numpy(dtype=float)
    trace = GaussianMixture(2, random_state=0).fit(X).trace_
    film = Film.of_mixture(
        trace, [s.responsibilities for s in trace.steps], X, (axis_range(X[:, 0]), axis_range(X[:, 1]))
    )
    _digest, sent = film_bytes(film, "k")
    end = 4 + int.from_bytes(sent[:4], "little")
    assert end % 4 == 0  # a Float32Array must begin on a word
    head = json.loads(sent[4:end], parse_constant=pytest.fail)
    steps, n, k = head["T"], head["n"], head["k"]
    assert head["numbers"]["log_likelihood"][-1] == trace.last.log_likelihood
    assert head["numbers"]["lower_bound"][0] is None
    floats = np.frombuffer(sent, "<f4", 2 * n + steps * k * 6, end)
    low, high = film.sides[0]
    assert np.allclose(low + floats[:n] * (high - low), X[:, 0], atol=1e-6)
    forms = floats[2 * n :].reshape(steps, k, 6)
    assert np.allclose(forms[-1, :, 0], trace.last.parameters.weights, atol=1e-6)
    root = np.zeros((k, 2, 2))
    root[:, 0, 0], root[:, 1, 0], root[:, 1, 1] = forms[-1, :, 3], forms[-1, :, 4], forms[-1, :, 5]
    length = np.array([s.high - s.low for s in film.sides])
    assert np.allclose(root @ root.swapaxes(1, 2) * np.outer(length, length), trace.last.parameters.full(), atol=1e-6)
    shares = np.frombuffer(sent, np.uint8, offset=end + floats.nbytes).reshape(steps, n, k)
    assert np.abs(shares[-1] / 255 - trace.last.responsibilities).max() < 0.0021
    assert film.head is film.head and film.body is film.body  # once, and not for every run of the page


@pytest.mark.slow
def test_who_comes_back_with_an_own_table_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{x:.1f},{y:.2f},{'yes' if x > y else 'no'}" for x, y in rng.normal(30, 9, (60, 2))]
    app = uploaded("\n".join(["age,income,buys", *rows]).encode(), page="hidden")
    app.switch_page("pages/decisions.py").run()
    computed: list[cache.Place] = []
    monkeypatch.setattr(cache, "_put", lambda place, *_entry: computed.append(place))
    app.switch_page("pages/hidden.py").run()
    assert not app.exception and not computed


@pytest.mark.slow
def test_texts_show_the_words_of_each_class_and_the_curve_over_the_labels() -> None:
    state = State(table="sms-spam-zh", language="en")
    app = opened("hidden", showing(state, em_part="some", em_share=80, em_curve=True, em_weight=0.5))
    said = "\n".join(e.value for e in [*app.markdown, *app.caption])
    assert "that tell most**, by expected counts" in said and "Weight of the unlabelled rows 0.5" in said
    frame = load_dataset("sms-spam-zh").frame
    text, target = next(v.name for v in load_dataset("sms-spam-zh").schema if v.kind == "text"), frame.columns[-1]
    curve = accuracy_by_labels(frame[[text]], frame[target], NaiveBayes(likelihoods={text: "multinomial"}), splits=1)
    assert f"{curve.held_out} rows are held out each time" in said
    unnamed = opened("hidden", showing(state, em_part="some", em_share=100))
    said = "\n".join(e.value for e in [*unnamed.markdown, *unnamed.caption])
    assert "this is the mixture of unigrams: components are found by which words go together" in said


@pytest.mark.slow
def test_texts_without_a_label_have_as_many_components_as_one_chooses() -> None:
    spam = showing(State(table="sms-spam-zh", language="en"), em_part="classes", em_k=3)
    app = opened("hidden", spam)
    assert not app.exception and "component 3" in str(app.dataframe[0].value.index.tolist())
    assert app.dataframe[0].value.to_numpy().sum() == len(load_dataset("sms-spam-zh").frame)
    old = opened("hidden", State(table="sms-spam-zh", language="en"))
    assert "Hidden labels right" in said(old)  # a link that names no part opens what it opened before
    many = opened("hidden", showing(spam, em_beneath="k"))
    assert not many.exception and "Rows held out choose K = " in said(many)
    shown = many.dataframe[-1].value
    assert shown.index.tolist() == list(range(2, 9)) and shown["held_out"].notna().all()
    assert f"Rows held out choose K = {int(shown['held_out'].idxmax())}" in said(many)


def test_without_a_label_rows_held_out_say_how_many_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fits, "MOST", 3)
    lines = [
        f"{a} {b} note {k}" for k, (a, b) in enumerate(zip(["win cash", "see you"] * 20, "abcde" * 8, strict=True))
    ]
    content = "text,y\n" + "\n".join(f"{line},{'spam' if 'win' in line else 'ham'}" for line in lines)
    read = State(columns=((0, "feature", "text", ()),))
    app = uploaded(content.encode(), page="hidden", state=read, em_part="classes", em_k=3)
    assert app.number_input(key="em_k").value == 3
    assert "component 3" in str(app.dataframe[0].value.index.tolist())
    assert app.dataframe[0].value.to_numpy().sum() == 40
    app = uploaded(content.encode(), page="hidden", state=read, em_part="classes", em_k=3, em_beneath="k")
    shown = app.dataframe[-1].value
    assert shown.index.tolist() == [2, 3]
    assert f"Rows held out choose K = {int(shown['held_out'].idxmax())}" in said(app)
