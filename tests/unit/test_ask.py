"""The value of the next observation: by its definition, level by level and by quadrature; and what must always hold."""

from __future__ import annotations

import math
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import xlogy
from scipy.stats import norm

from bayes_engine import (
    AODE,
    SPODE,
    TAN,
    KDependence,
    LinearDiscriminantAnalysis,
    LossMatrix,
    MultinomialNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    load_dataset,
)
from bayes_engine.decision.answer_distributions import GaussianAnswers, _unsettled
from bayes_engine.decision.ask import Question, ask, interview, outcomes, value_of_everything
from bayes_engine.errors import EstimationWarning, LossError, ParameterError
from bayes_engine.factors import Factor
from bayes_engine.table.roles import take_apart
from bayes_engine.workbench.figures.ask import questions
from tests.conftest import every_other, examples

FAMILIES = (NaiveBayes, SPODE, TAN, KDependence, AODE)


def fitted(name: str, kind: Any, **parameters: Any) -> tuple[Any, pd.DataFrame, pd.Series]:
    data = load_dataset(name)
    parts = take_apart(data.frame, data.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimationWarning)
        return kind(schema=parts.schema, **parameters).fit(parts.X, parts.y), parts.X, parts.y


def hiding(row: pd.DataFrame, *names: str) -> pd.DataFrame:
    """The row with these cells missing."""
    return row.assign(**{n: row[n].where(np.zeros(len(row), dtype=bool)) for n in names})


def joint_at(model: Any, row: pd.DataFrame, name: str, value: Any) -> np.ndarray:
    """(C,) P(c, x, x_j = value)."""
    return np.exp(model.predict_joint_log_proba(row.assign(**{name: pd.Series([value], index=row.index)}))[0])


def by_levels(model: Any, row: pd.DataFrame, name: str, loss: LossMatrix) -> float:
    """The gain as it is defined."""
    joints = np.array([joint_at(model, row, name, s) for s in model.schema_[name].levels])
    risks = joints @ loss.table.T / joints.sum()
    return float(risks.sum(axis=0).min() - risks.min(axis=1).sum())


def joints_at(model: Any, row: pd.DataFrame, name: str, x: np.ndarray) -> np.ndarray:
    """(n, C) P(c, x, x_j) at many numbers."""
    frame = row.iloc[np.zeros(len(x), dtype=int)].reset_index(drop=True).assign(**{name: x})
    return np.exp(model.predict_joint_log_proba(frame))


def by_quadrature(model: Any, row: pd.DataFrame, name: str, loss: LossMatrix, low: float, high: float) -> float:
    """The gain as it is defined, by Gauss and Legendre's rule on panels that end where the integrand has corners."""
    bounds = [o.low for o in outcomes(model, row, name, loss)][1:]
    ends = np.unique([*np.linspace(low, high, 600), *(b for b in bounds if low < b < high)])
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(ends)[:, None] / 2
    joint = (
        joints_at(model, row, name, (ends[:-1, None] + half * (1 + nodes)).ravel()) * (half * weights).ravel()[:, None]
    )
    risks = joint @ loss.table.T / joint.sum()
    return float(risks.sum(axis=0).min() - risks.min(axis=1).sum())


def refusing(model: Any) -> LossMatrix:
    """Dear mistakes of one kind, and a refusal."""
    classes = model.classes_.tolist()
    table = 1.0 - np.eye(len(classes))
    table[0, -1] = 4.0
    return LossMatrix(classes, classes, table).with_refusal(0.3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES)
def test_levels_by_definition(kind: Any) -> None:
    model, X, _ = fitted("watermelon3", kind)
    loss = refusing(model)
    row = hiding(X.iloc[[3]], "色泽", "纹理", "触感", "密度")
    found = {q.feature: q for q in ask(model, row, loss).questions}
    assert set(found) == {"色泽", "纹理", "触感", "密度"}
    for name in ("色泽", "纹理", "触感"):
        assert found[name].gain == pytest.approx(by_levels(model, row, name, loss), abs=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["petal width", "sepal width"])
def test_a_number_by_scipys_quad(name: str) -> None:
    """Naive Bayes, three classes and a refusal: the very definition with SciPy's densities and its quad, to 1e-10."""
    model, X, y = fitted("iris", NaiveBayes)
    loss, row = refusing(model), hiding(X.iloc[[70]], "petal length", "petal width", "sepal width")
    p, own = model.predict_proba(row)[0], X[name].groupby(np.asarray(y)).agg(["mean", lambda v: v.std(ddof=0)])
    mean, sd = (own.loc[model.classes_].iloc[:, k].to_numpy() for k in (0, 1))
    ends = sorted({*np.linspace(-3, 9, 60), *(o.low for o in outcomes(model, row, name, loss)[1:])})

    def least(x: float) -> float:
        return float((loss.table @ (p * norm.pdf(x, mean, sd))).min())

    after = math.fsum(quad(least, a, b, epsabs=1e-14)[0] for a, b in pairwise(ends))
    found = next(q for q in ask(model, row, loss).questions if q.feature == name)
    assert found.gain == pytest.approx((loss.table @ p).min() - after, abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_a_number_given_others_it_depends_on(kind: Any) -> None:
    model, X, _ = fitted("iris", kind)
    loss, row = refusing(model), hiding(X.iloc[[70]], "petal width", "sepal width")
    found = {q.feature: q.gain for q in ask(model, row, loss).questions}
    for name, gain in found.items():
        assert gain == pytest.approx(by_quadrature(model, row, name, loss, -4.0, 8.0), abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", every_other([SPODE, TAN, KDependence, AODE]))
def test_a_number_whose_parent_is_not_known(kind: Any) -> None:
    """Its density is a sum of Gaussians, one for each value of the parent, or for each super-parent of AODE."""
    model, X, _ = fitted("watermelon3", kind, discretize=None)
    loss, row = refusing(model), hiding(X.iloc[[3]], "色泽", "根蒂", "纹理", "触感", "脐部", "密度", "含糖率")
    found = {q.feature: q for q in ask(model, row, loss).questions}
    for name in ("密度", "含糖率"):
        assert found[name].error == 0.0
        assert found[name].gain == pytest.approx(by_quadrature(model, row, name, loss, -1.5, 2.5), abs=1e-9)


class Silent(Factor):
    """A factor that answers nothing of itself."""

    def rows(self, X: Any) -> Any:
        return iter(())


class Opaque:
    """A model of which nothing is known but what it says."""

    def __init__(self, model: Any) -> None:
        self.model, self.schema_, self.classes_ = model, model.schema_, model.classes_
        self.factor_, self.prior_by_class, self.explain = Silent(), model.prior_by_class, model.explain


def test_a_density_of_any_form_by_quadrature() -> None:
    """What is stated as its error bounds it."""
    model, X, _ = fitted("iris", NaiveBayes)
    row = hiding(X.iloc[[60]], "petal length", "petal width")
    exact = {q.feature: q for q in ask(model, row, refusing(model)).questions}
    found = {q.feature: q for q in ask(Opaque(model), row, refusing(model)).questions}
    for name, question in found.items():
        assert 0 < question.error < 1e-5
        assert abs(question.gain - exact[name].gain) <= 2 * question.error
        assert question.information == pytest.approx(exact[name].information, abs=1e-6)


@pytest.mark.parametrize("name", ["petal width", "sepal width"])
def test_information_of_a_number(name: str) -> None:
    model, X, _ = fitted("iris", NaiveBayes)
    row = hiding(X.iloc[[60]], "petal length", "petal width", "sepal width")
    p = model.predict_proba(row)[0]
    ends = np.linspace(-6.0, 12.0, 600)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(ends)[:, None] / 2
    joint = joints_at(model, row, name, (ends[:-1, None] + half * (1 + nodes)).ravel())
    share = joint * (half * weights).ravel()[:, None] / np.exp(model.predict_joint_log_proba(row)).sum()
    expected = xlogy(share, share / share.sum(axis=1, keepdims=True).clip(1e-300) / p).sum()
    found = next(q for q in ask(model, row).questions if q.feature == name)
    assert found.information == pytest.approx(expected, abs=1e-10)


def test_information_of_levels_is_the_mutual_information() -> None:
    X = pd.DataFrame({"a": ["x", "x", "y", "y"]})
    model = NaiveBayes(smoothing="none").fit(X, ["p", "p", "q", "q"])
    assert ask(model, [[None]]).questions[0].information == pytest.approx(math.log(2))


# the line of a number ---------------------------------------------------------------------------------------------


def two_normals(means: tuple[float, float], sds: tuple[float, float]) -> Any:
    """Naive Bayes whose classes a and b have these Gaussians."""
    x = [m + s * z for m, s in zip(means, sds, strict=True) for z in (-1.0, 1.0)]
    return NaiveBayes(priors="uniform").fit(pd.DataFrame({"x": x}), ["a", "a", "b", "b"])


def test_a_decision_between_two_roots() -> None:
    """N(0, 1) against N(0, 3): a is decided between ±√(2 log 3 · 9/8), and nowhere else."""
    pieces = outcomes(two_normals((0.0, 0.0), (1.0, 3.0)), [[None]], "x")
    root = math.sqrt(2 * math.log(3) * 9 / 8)
    assert [p.action for p in pieces] == ["b", "a", "b"]
    assert [p.high for p in pieces[:2]] == pytest.approx([-root, root], abs=1e-7)


@pytest.mark.parametrize("cost", [0.49, 0.4999, 0.499999])
def test_a_strip_too_narrow_for_any_grid(cost: float) -> None:
    """Refusal wins where P(a|x) is between cost and 1 − cost: |2x| < log((1 − cost)/cost) for N(±1, 1)."""
    model = two_normals((-1.0, 1.0), (1.0, 1.0))
    pieces = outcomes(model, [[None]], "x", LossMatrix.zero_one(["a", "b"]).with_refusal(cost))
    edge = math.log((1 - cost) / cost) / 2
    assert [p.action for p in pieces] == ["a", "refuse", "b"]
    assert [p.high for p in pieces[:2]] == pytest.approx([-edge, edge], abs=1e-7)


def test_scale_does_not_matter() -> None:
    """A column in other units has the same value, also where one class is a thousand times narrower."""
    loss = LossMatrix.zero_one(["a", "b"]).with_refusal(0.2)
    gains = [
        ask(two_normals((0.1 * u, 0.3 * u), (1e-3 * u, 1.0 * u)), [[None]], loss).questions[0].gain
        for u in (1.0, 2.0**-30, 2.0**30)
    ]
    assert gains[1:] == pytest.approx([gains[0]] * 2, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "watermelon3", "penguins"])
def test_outcomes_are_the_whole(name: str) -> None:
    model, X, _ = fitted(name, NaiveBayes)
    row = hiding(X.iloc[[4]], *X.columns[1:])
    loss = refusing(model)
    now = ask(model, row, loss)
    for question in now.questions:
        answers = outcomes(model, row, question.feature, loss)
        p = np.array([a.probability for a in answers])
        assert p.sum() == pytest.approx(1.0)
        assert p @ np.array([a.posterior for a in answers]) == pytest.approx(now.posterior)
        assert now.risk - p @ [a.risk for a in answers] == pytest.approx(question.gain, abs=1e-12)


# what must always hold --------------------------------------------------------------------------------------------


@examples(25)
@given(st.integers(0, 10**6), st.integers(0, 4), st.sampled_from(FAMILIES))
def test_no_question_is_worth_less_than_minus_its_cost(seed: int, hidden: int, kind: Any) -> None:
    """0 ≤ V_j + cost_j ≤ the value of the truth, for any losses, priors, cells known; AODE as the others."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"d{j}": rng.choice(list("abc"), 30) for j in range(4)}).assign(n=rng.normal(size=30))
    y = rng.choice(["p", "q", "r"], 30)
    model = kind(**({} if kind is NaiveBayes else {"discretize": None})).fit(X, y)
    row = hiding(X.iloc[[0]], *X.columns[hidden:])
    classes = model.classes_.tolist()
    loss = LossMatrix([*classes, "wait"], classes, rng.normal(size=(len(classes) + 1, len(classes))))
    use = dict(zip(classes, rng.dirichlet(np.ones(len(classes))), strict=True))
    found = ask(model, row, loss, costs=0.1, prior_of_use=use)
    assert len(found.questions) == 5 - hidden
    for q in found.questions:
        assert q.value >= -q.cost
        assert q.information >= 0
        if kind is not AODE:
            assert q.gain <= found.perfect + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES)
def test_names_of_levels_do_not_matter(kind: Any) -> None:
    """Another name, and so another place, for every level: the same values."""
    data = fitted("watermelon2", NaiveBayes)[1].assign(好瓜=fitted("watermelon2", NaiveBayes)[2])
    X, y = data.drop(columns="好瓜").astype(object), data["好瓜"].astype(object)
    other = X.apply(lambda column: column.map({v: f"{9 - i}{v}" for i, v in enumerate(sorted(column.unique()))}))
    gains = []
    for frame in (X, other):
        model = kind().fit(frame.astype(object), y)
        questions = ask(model, hiding(frame.iloc[[0]].astype(object), *frame.columns[1:])).questions
        gains.append({q.feature: q.gain for q in questions})
    assert gains[0] == pytest.approx(gains[1], abs=1e-12)


def test_prior_of_use_and_losses_are_obeyed() -> None:
    """P(disease) 1 %, a test that finds 90 % and errs on 10 %: by hand."""
    X = pd.DataFrame({"test": ["+"] * 9 + ["-"] + ["+"] + ["-"] * 9})
    model = NaiveBayes(smoothing="none").fit(X, ["ill"] * 10 + ["well"] * 10)
    loss = {"treat": {"ill": 0, "well": 1}, "wait": {"ill": 50, "well": 0}}
    found = ask(model, [[None]], loss, prior_of_use={"ill": 0.01, "well": 0.99}, costs={"test": 0.05})
    assert found.decision.action[0] == "wait"
    assert found.risk == pytest.approx(0.5)
    after = 0.99 * 0.1 + 0.01 * 0.1 * 50  # treat whom the test points at, wait for the others
    assert found.questions[0].gain == pytest.approx(0.5 - after)
    assert found.questions[0].value == pytest.approx(0.45 - after)
    assert found.perfect == pytest.approx(0.5)


# ranking, stopping, playing ---------------------------------------------------------------------------------------


def twins() -> tuple[Any, pd.DataFrame]:
    X = pd.DataFrame({"b": list("xxyy"), "a": list("xxyy"), "c": list("xyxy")})
    return NaiveBayes().fit(X, ["p", "p", "q", "q"]), X


def test_ties_go_by_name_and_costs_break_them() -> None:
    model, X = twins()
    blank = hiding(X.iloc[[0]], *X.columns)
    assert [q.feature for q in ask(model, blank).questions] == ["a", "b", "c"]
    dear = ask(model, blank, costs={"a": 0.01})
    assert [q.feature for q in dear.questions] == ["b", "a", "c"]
    assert dear.best is not None
    assert dear.best.feature == "b"


@pytest.mark.parametrize("third", [2.0, 1e13])
def test_a_huge_loss_that_is_never_chosen_changes_no_question(third: float) -> None:
    model, X = twins()
    loss = LossMatrix(("p", "q", "sell"), ("p", "q"), [[0, 1], [1, 0], [third, third]])
    inquiry = ask(model, hiding(X.iloc[[0]], *X.columns), loss, costs={"a": 0.01})
    assert [(q.feature, round(q.value, 12)) for q in inquiry.questions] == [("b", 0.25), ("a", 0.24), ("c", 0.0)]
    numbers = NaiveBayes().fit(pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]}), ["p", "p", "q", "q"])
    gain = ask(numbers, pd.DataFrame({"x": [np.nan]}), loss).questions[0].gain
    assert gain == pytest.approx(0.5 - norm.cdf(-2.0), abs=1e-12)  # means 2 apart, of standard deviation ½


def test_no_question_pays() -> None:
    model, X = twins()
    blank = hiding(X.iloc[[0]], *X.columns)
    assert ask(model, blank, costs=0.25).best is None  # (2+1)/(2+2) right: the gain is 0.25, and no more
    assert ask(model, blank, costs=0.2499).best is not None
    assert ask(model, X.iloc[[0]]).questions == ()
    assert ask(model, X.iloc[[0]]).best is None


def test_what_everything_is_worth() -> None:
    model, X, _ = fitted("watermelon2", TAN)
    row = hiding(X.iloc[[3]], "色泽", "纹理", "触感")
    found = ask(model, row)
    whole = value_of_everything(model, row)
    assert whole is not None
    assert max(q.gain for q in found.questions) <= whole <= found.perfect
    rest = 0.0
    evidence = np.exp(model.predict_joint_log_proba(row)).sum()
    for a in model.schema_["色泽"].levels:
        for b in model.schema_["纹理"].levels:
            for c in model.schema_["触感"].levels:
                full = row.assign(色泽=[a], 纹理=[b], 触感=[c])
                rest += np.exp(model.predict_joint_log_proba(full)).min() / evidence
    assert whole == pytest.approx(found.risk - rest, abs=1e-13)
    numbers, X, _ = fitted("iris", NaiveBayes)
    assert value_of_everything(numbers, hiding(X.iloc[[0]], *X.columns)) is None


@pytest.mark.slow
def test_an_interview_asks_what_ask_would() -> None:
    model, X, _ = fitted("watermelon3", NaiveBayes)
    talk = interview(model, X.iloc[[0]], costs=0.02)
    row = hiding(X.iloc[[0]], *X.columns)
    for step in talk.steps:
        assert ask(model, row, costs=0.02).best == step.question
        assert step.answer == X[step.question.feature].iloc[0]
        row = row.assign(**{step.question.feature: X[step.question.feature].iloc[[0]]})
    assert ask(model, row, costs=0.02).best is None
    assert talk.end.risk == pytest.approx(ask(model, row).risk)
    assert talk.paid == pytest.approx(0.02 * len(talk.steps))
    assert 1 <= len(talk.steps) < 8
    assert len(interview(model, X.iloc[[0]], costs=0.02, most=1).steps) == 1


def test_a_blank_of_the_row_is_passed_over() -> None:
    model, X = twins()
    talk = interview(model, hiding(X.iloc[[0]], "a"))
    assert [s.question.feature for s in talk.steps] == ["b"]


def test_a_missing_cell_that_is_a_level_of_its_own_is_still_a_question() -> None:
    X = pd.DataFrame({"a": ["x", "x", None, "y", None, "y"], "b": list("uvuvuv")})
    model = NaiveBayes(missing="category").fit(X, list("ppppqq"))
    found = ask(model, pd.DataFrame({"a": [None], "b": [None]}, dtype=object))
    for question in found.questions:
        name = question.feature
        cells = pd.DataFrame({name: list(model.schema_[name].levels)}).reindex(columns=["a", "b"])
        joints = np.exp(model.explain(cells.astype(object), given={name}).joint())
        after = joints.min(axis=1).sum() / joints.sum()
        assert question.gain == pytest.approx(joints.sum(axis=0).min() / joints.sum() - after, abs=1e-13)
    assert found.risk == pytest.approx(1 / 3)


# what cannot be asked ---------------------------------------------------------------------------------------------


def test_no_posterior_no_questions() -> None:
    X = pd.DataFrame({"a": list("xxyy"), "b": list("uuvv"), "c": list("xyxy")})
    model = NaiveBayes(smoothing="none").fit(X, ["p", "p", "q", "q"])
    found = ask(model, pd.DataFrame({"a": ["x"], "b": ["v"], "c": [None]}))
    assert not found.defined
    assert found.questions == ()
    assert found.decision.action[0] is None


def test_refusals_say_why() -> None:
    model, X = twins()
    with pytest.raises(ParameterError, match="of one row; X has 4"):
        ask(model, X)
    with pytest.raises(ParameterError, match="X has no column 'c'"):
        ask(model, X[["a", "b"]].iloc[[0]])
    with pytest.raises(ParameterError, match="asking 'a' costs nan"):
        ask(model, hiding(X.iloc[[0]], "a"), costs=math.nan)
    with pytest.raises(ParameterError, match="'a' cannot be asked"):
        outcomes(model, X.iloc[[0]], "a")
    with pytest.raises(LossError, match="no column for the class 'q'"):
        ask(model, hiding(X.iloc[[0]], "a"), {"p": {"p": 0}})
    with pytest.raises(ParameterError, match="counts terms"):
        ask(MultinomialNB().fit([[1, 0], [0, 2]], ["p", "q"]), [[1, 0]])


def test_the_slope_of_a_density_is_its_difference_quotient() -> None:
    answers = GaussianAnswers(np.array([0.3, 0.7]), np.array([-1.0, 2.0]), np.array([0.5, 3.0]), np.array([0, 1]), 2)
    x, h = np.linspace(-4.0, 8.0, 25), 1e-5
    quotient = (answers.density(x + h) - answers.density(x - h)) / (2 * h)
    np.testing.assert_allclose(answers.slope(x, answers.density(x)), quotient, atol=1e-8)


def test_the_information_of_a_question_is_drawn_in_bits_or_nats() -> None:
    asked = [Question("a", 0.2, 0.0, math.log(2.0)), Question("b", 0.1, 0.0, 0.0)]
    for bits, unit, value in ((True, "bits", 1.0), (False, "nats", math.log(2.0))):
        figure = questions(asked, ["a", "b"], bits=bits)
        assert next(bar for bar in figure.data if bar.xaxis == "x2").x == pytest.approx((value, 0.0))
        assert unit in [note.text for note in figure.layout.annotations]


@pytest.mark.parametrize("tilt", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize(("bend", "dips"), [(1.0, True), (0.25, True), (0.15, False)])
def test_another_action_may_be_better_inside_where_its_tangents_meet_below(
    tilt: float, bend: float, dips: bool
) -> None:
    """Over a cell of width 1 the first action's risk rises by `tilt`; the other's is 0.1 above it at both ends, and its
    tangents, steeper by `bend` and as much less steep, meet halfway at 0.1 − bend/2 above it."""
    risk = np.array([[[0.0, 0.1]], [[tilt, tilt + 0.1]]])
    slope = np.array([[[tilt, tilt - bend]], [[tilt, tilt + bend]]])
    found, best = _unsettled(np.ones(1), risk, slope, np.ones_like(risk))
    assert (found.tolist(), best.tolist()) == ([dips], [0])
