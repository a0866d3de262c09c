"""The quantities of a lesson that speak of the case in use, against scikit-learn, SciPy, and counts made here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st
from scipy.special import gammaln
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayes_engine.datasets import load_dataset
from bayes_engine.errors import BayesEngineError
from bayes_engine.workbench.lessons.built_in import lessons
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity
from pages.active import lesson_in_use, network_source
from pages.active.on_screen import OnScreen, answer_in_use
from pages.runtime import view_keys as keys
from pages.runtime.state import START, State

Begun = Callable[..., float]
MELONS = load_dataset("watermelon2").frame
IRIS = load_dataset("iris").frame


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Begun:
    """A function that gives the answer of a lesson where it begins, with other settings of its page."""

    def answer(name: str, *settings: keys.Setting, asked: AskedQuantity | None = None) -> float:
        state = lesson_in_use.begun(name, START).showing(*settings)
        monkeypatch.setattr(st, "session_state", {"state": state})
        return answer_in_use(asked or lessons()[name].answer)

    return answer


def tables_of_network(alpha: float = 1.0) -> tuple[list[dict[tuple[str, ...], float]], list[tuple[str, ...]]]:
    """Of each column of the melons, in the graph of the network in use, its table by the values of the column and its
    parents; and these names."""
    graph = OnScreen().network.graph
    tables, families = [], []
    for child in graph.nodes:
        family = (child, *graph.parents[child])
        n = MELONS.groupby(list(family), observed=False).size()
        sums = MELONS.groupby(list(family[1:]), observed=False).size() if family[1:] else None
        levels = MELONS[child].nunique()
        table = {}
        for at, count in n.items():
            cell = at if isinstance(at, tuple) else (at,)
            parents = cell[1:] if len(cell) > 2 else cell[1] if len(cell) == 2 else None
            total = len(MELONS) if sums is None else sums.get(parents, 0)
            table[cell] = (count + alpha) / (total + alpha * levels)
        tables.append(table)
        families.append(family)
    return tables, families


@pytest.mark.parametrize("name", [pytest.param("structure-score", marks=pytest.mark.slow), "exercise-7-9"])
def test_the_case_in_a_learned_network_is_a_product_of_its_tables(name: str, begun: Begun) -> None:
    found = begun(name)
    tables, families = tables_of_network()
    joint = {}
    for label in ("是", "否"):
        case = {**MELONS.iloc[0].to_dict(), "好瓜": label}
        cells = [tuple(case[column] for column in family) for family in families]
        joint[label] = math.prod(
            table.get(cell, 1 / MELONS[family[0]].nunique())
            for table, cell, family in zip(tables, cells, families, strict=True)
        )
    whole = sum(joint.values())
    assert found == pytest.approx(math.log(whole) if name == "structure-score" else joint["是"] / whole, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("sample", [1.0, 10.0])
def test_the_network_of_the_table_is_learned_at_the_sample_size_of_bdeu(sample: float, begun: Begun) -> None:
    found = begun("marginal-likelihood", keys.LEARN_SAMPLE.to(sample))
    graph, score = OnScreen().network.graph, 0.0
    for child in graph.nodes:
        parents, levels = list(graph.parents[child]), MELONS[child].nunique()
        q = math.prod(MELONS[name].nunique() for name in parents)
        a = sample / (q * levels)
        for _of, rows in MELONS.groupby(parents, observed=True) if parents else [((), MELONS)]:
            n = rows[child].value_counts()
            n = n[n > 0].to_numpy()
            score += gammaln(sample / q) - gammaln(sample / q + len(rows)) + (gammaln(a + n) - gammaln(a)).sum()
    assert found == pytest.approx(score, rel=1e-9)
    st.session_state["state"] = State(table="watermelon2", view=(("learn_sample", 10.0),))
    assert network_source.learning_settings().sample == 1.0  # of no other score


@pytest.mark.slow
def test_edges_add_to_the_case_what_they_add_to_all_rows_on_average(begun: Begun) -> None:
    def pair(a: str, b: str, row: int) -> float:
        case = MELONS.iloc[row]
        own = MELONS[MELONS["好瓜"] == case["好瓜"]]
        together = ((own[a] == case[a]) & (own[b] == case[b])).mean()
        return math.log(together / ((own[a] == case[a]).mean() * (own[b] == case[b]).mean()))

    found = begun("maximum-spanning-tree")
    edges = [s.edge for s in OnScreen().pairs.trace_ if s.taken]
    assert len(edges) == 5
    assert found == pytest.approx(sum(pair(a, b, 0) for a, b in edges))
    of_rows = [sum(pair(a, b, row) for a, b in edges) for row in range(17)]
    assert np.mean(of_rows) == pytest.approx(begun("maximum-spanning-tree", asked=AskedQuantity("tree_weight")))
    overall = begun("conditional-mutual-information", keys.DEPENDENCE_OF.to("overall"))
    both = ((MELONS["根蒂"] == "蜷缩") & (MELONS["脐部"] == "凹陷")).mean()
    assert overall == pytest.approx(
        math.log(both / ((MELONS["根蒂"] == "蜷缩").mean() * (MELONS["脐部"] == "凹陷").mean()))
    )


@pytest.mark.slow
def test_the_largest_responsibility_is_that_of_scikit_learn(begun: Begun) -> None:
    found = begun("em-mixture", keys.EM_TOL.to(1e-8))
    X = IRIS[["petal length", "petal width"]].to_numpy()
    peer = GaussianMixture(3, tol=1e-10, reg_covar=0, max_iter=2000, random_state=0).fit(X)
    assert peer.score(X) * len(X) == pytest.approx(-135.311, abs=1e-3)
    assert found == pytest.approx(peer.predict_proba([[5.0, 1.7]])[0].max(), abs=2e-3)
    assert begun("em-mixture", keys.EM_HARD.to(True)) == 1.0


@pytest.mark.slow
def test_naive_bayes_by_em_is_that_of_weighted_fits(begun: Begun) -> None:
    found = begun("semi-supervised")
    hidden, X, y = OnScreen().hidden_labels.hidden, IRIS.iloc[:, :4].to_numpy(), IRIS.iloc[:, 4].to_numpy(dtype=object)
    model = GaussianNB(var_smoothing=0).fit(X[~hidden], y[~hidden])
    copies, labels = np.concatenate([X] * 3), np.repeat(model.classes_, len(X))
    for _step in range(200):
        r = model.predict_proba(X)
        r[~hidden] = y[~hidden, None] == model.classes_
        model = GaussianNB(var_smoothing=0).fit(copies, labels, np.maximum(r.T.ravel(), 1e-300))
    case = [[6.0, 2.7, 5.1, 1.6]]
    assert found == pytest.approx(model.predict_proba(case)[0, list(model.classes_).index("virginica")], abs=1e-3)


@pytest.mark.slow
def test_without_weight_the_hidden_texts_leave_multinomial_naive_bayes(begun: Begun) -> None:
    found = begun("unlabelled-texts", keys.EM_WEIGHT.to(0.0))
    texts, seen = load_dataset("sms-spam").frame, ~OnScreen().hidden_labels.hidden
    words = CountVectorizer(token_pattern=r"(?u)\b\w+\b").fit_transform(texts["message"])
    model = MultinomialNB().fit(words[seen], texts["label"][seen].astype(str))
    assert found == pytest.approx(model.predict_proba(words[555])[0, 1], abs=1e-6)


def test_distances_on_the_line_are_those_of_discriminant_coordinates(begun: Begun) -> None:
    X, y = IRIS[["sepal length", "sepal width"]].to_numpy(), IRIS.iloc[:, 4].astype(str)
    peer = LinearDiscriminantAnalysis(solver="eigen", n_components=1).fit(X, y)
    mean = peer.transform([X[y == "versicolor"].mean(axis=0)])
    assert begun("fisher-projection") == pytest.approx(
        abs(float((peer.transform([[5.1, 3.5]]) - mean)[0, 0])), rel=1e-9
    )


def test_along_the_first_principal_axis_distances_are_in_standard_deviations_within(begun: Begun) -> None:
    table = load_dataset("watermelon3a").frame
    X, y = table.iloc[:, :2].to_numpy(dtype=float), table.iloc[:, 2].astype(str).to_numpy()
    axis = np.linalg.svd(X - X.mean(axis=0))[2][0]
    t = X @ axis
    within = math.sqrt(sum(((t[y == c] - t[y == c].mean()) ** 2).sum() for c in ("是", "否")) / len(t))
    assert begun("fisher-and-pca") == pytest.approx(abs(t[0] - t[y == "否"].mean()) / within, rel=1e-6)


@pytest.mark.parametrize("step", ["raw", "pca", "lda"])
def test_naive_bayes_after_a_step_is_scikit_learns_pipeline(step: str, begun: Begun) -> None:
    X, y = IRIS.iloc[:, :4].to_numpy(), IRIS.iloc[:, 4].astype(str)
    turned = {"raw": [], "pca": [PCA()], "lda": [LinearDiscriminantAnalysis()]}[step]
    peer = make_pipeline(StandardScaler(), *turned, GaussianNB()).fit(X, y)
    asked = AskedQuantity("transformed_posterior", {"step": step, "class": "virginica"})
    assert begun("project-first", asked=asked) == pytest.approx(
        peer.predict_proba([[6.0, 2.2, 5.0, 1.5]])[0, 2], abs=1e-6
    )


@pytest.mark.slow
def test_a_sum_of_logarithms_is_multinomial_naive_bayes_where_its_product_underflows(begun: Begun) -> None:
    found = begun("exercise-7-4")
    table, case = load_dataset("digits").frame, lessons()["exercise-7-4"].state["case"]
    X, y = table.iloc[:, :64].to_numpy(dtype=float), table.iloc[:, 64].astype(int)
    peer = MultinomialNB().fit(X, y)
    assert found == pytest.approx(
        peer.class_log_prior_[2] + float(np.array(case) @ peer.feature_log_prob_[2]), rel=1e-9
    )
    assert math.exp(found) == 0.0 and all(
        begun("exercise-7-4", asked=AskedQuantity("log_joint", {"class": c})) < -746 for c in range(10)
    )


def test_a_case_without_a_value_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = float("nan")
    for name, case, why in (
        ("maximum-likelihood", (0, 0, 0, 0, 0, 0, nothing, 0.46), "the case has no value in '密度'"),
        ("conditional-mutual-information", (0, None, 0, 0, 0, 0), "has no value in '根蒂'"),
        ("exercise-7-7", (None, 0, 0, 0, 0, 0), "has no value in '色泽'"),
        ("fisher-and-pca", (nothing, 0.4), "the case has no value in '密度'"),
    ):
        state = replace(lesson_in_use.begun(name, START), case=case)
        monkeypatch.setattr(st, "session_state", {"state": state})
        with pytest.raises(BayesEngineError, match=why):
            answer_in_use(lessons()[name].answer)


@pytest.mark.slow
def test_classes_without_a_label_have_no_names(begun: Begun) -> None:
    with pytest.raises(BayesEngineError, match="the classes have no names"):
        begun("semi-supervised", keys.EM_SHARE.to(100))
