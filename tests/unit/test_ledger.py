"""The ledger: contributions, roll-up, and the prior of use."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayes_engine import TAN, Ledger, NaiveBayes, Status
from bayes_engine.errors import ParameterError
from bayes_engine.factors import Row


@pytest.fixture
def ledger() -> Ledger:
    rows = (
        (Row("play", "play", (), "prior"), np.log([[0.6, 0.4], [0.6, 0.4]])),
        (Row("wind", "wind", ("play",), "log-probability"), np.array([[-1.0, -2.0], [-np.inf, -0.5]])),
        (Row("wind again", "wind", ("play",), "log-probability"), np.array([[-0.5, -0.25], [-1.0, -np.inf]])),
    )
    return Ledger(rows, ("no", "yes"), np.array([Status.OK, Status.IMPOSSIBLE], dtype=np.int8))


def test_rolled_up_by_variable(ledger: Ledger) -> None:
    rolled = ledger.by_variable()
    assert [(row.child, row.kind) for row, _ in rolled.rows] == [("play", "prior"), ("wind", "log-probability")]
    np.testing.assert_allclose(rolled.joint(), ledger.joint())


def test_contributions_of_impossible_terms_are_infinite_with_their_sign(ledger: Ledger) -> None:
    against = ledger.contributions("yes", "no").iloc[1]
    assert against["wind"] == np.inf and against["wind again"] == -np.inf
    same = Ledger(
        ((Row("x", "x", (), "log-probability"), np.full((1, 2), -np.inf)),), (0, 1), np.zeros(1, dtype=np.int8)
    )
    assert same.contributions(0, 1)["x"].tolist() == [0.0]


def test_a_wrong_class_is_named_with_the_right_ones(ledger: Ledger) -> None:
    with pytest.raises(ParameterError, match="there is no class 'maybe'; the classes are no, yes"):
        ledger.contributions("maybe", "no")


def test_evidence_and_posterior(ledger: Ledger) -> None:
    assert ledger.log_evidence()[0] == pytest.approx(np.log(np.exp(ledger.joint()[0]).sum()))
    assert ledger.log_evidence()[1] == -np.inf
    assert ledger.posterior()[1].tolist() == [0.0, 0.0]


# the prior of use -----------------------------------------------------------------------------------------------------


def model_and_rows() -> tuple[NaiveBayes, pd.DataFrame]:
    X = pd.DataFrame({"x": [1.0, 2.0, 4.0, 5.0, 7.0], "c": ["u", "u", "v", "v", "v"]})
    return NaiveBayes(smoothing="none").fit(X, list("aabba")), X


def test_at_a_prior_of_use_is_the_model_fitted_with_that_prior() -> None:
    model, X = model_and_rows()
    use = {"b": 0.9, "a": 0.1}
    moved = model.explain(X).at_prior(model.class_prior_, use)
    np.testing.assert_allclose(moved.posterior(), model.with_params(priors=use).predict_proba(X), atol=1e-12)
    assert moved.rows[-1][0].name == "prior of use" and moved.rows[-1][0].kind == "constant"
    np.testing.assert_allclose(moved.contributions("a", "b").sum(axis=1), moved.joint()[:, 0] - moved.joint()[:, 1])


def test_a_prior_of_use_that_excludes_the_only_possible_class_makes_the_row_impossible() -> None:
    model, X = model_and_rows()
    moved = model.explain(X).at_prior(model.class_prior_, {"a": 0.0, "b": 1.0})
    assert moved.status.tolist() == [Status.IMPOSSIBLE] * 2 + [Status.OK] * 3
    np.testing.assert_allclose(moved.posterior().sum(axis=1), [0, 0, 1, 1, 1])


@pytest.mark.parametrize(
    ("use", "text"),
    [
        ({"a": 1.0}, "priors give no probability for class 'b'"),
        ({"a": 0.5, "b": 0.6}, "priors sum to 1.1, not 1"),
        ({"a": 0.5, "z": 0.5}, "priors name a class 'z' that is not in the target"),
    ],
)
def test_NF22_priors_of_use_refused(use: dict[str, float], text: str) -> None:
    model, X = model_and_rows()
    with pytest.raises(ParameterError, match=text):
        model.explain(X).at_prior(model.class_prior_, use)


def test_NF20_a_class_the_model_excludes_cannot_be_brought_back() -> None:
    model, X = model_and_rows()
    with pytest.raises(ParameterError, match="the model gives a class the prior 0; no prior of use can bring it back"):
        model.explain(X).at_prior({"a": 1.0, "b": 0.0}, {"a": 0.5, "b": 0.5})


def test_of_a_class_that_the_known_cells_rule_out_one_row_says_so_and_the_others_are_silent() -> None:
    X = pd.DataFrame({"a": list("pqpqpqpq"), "b": list("uvuvvvvv"), "d": list("mmnmnnmn")})
    model = TAN(root="d", alpha=0.0).fit(X, list("yyyynnnn"))
    ledger = model.explain(pd.DataFrame({"a": [None], "b": ["u"], "d": ["m"]}))  # no row of class n has b = u
    assert ledger.classes == ("n", "y")
    log_terms = {row.name: float(term[0, 0]) for row, term in ledger.rows if row.kind != "prior"}
    assert sorted(log_terms.values()) == [-np.inf, 0.0, 0.0, 0.0]
    assert {log_terms[name] for name in X.columns} == {0.0}
