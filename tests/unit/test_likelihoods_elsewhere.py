"""Columns with a kernel density, a Poisson rate or words wherever a fitted model goes: another file, a plane, the bill
of a model, its size, its working, hidden labels, and the models that are made of a NaiveBayes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import poisson

from bayes_engine import LossMatrix, NaiveBayes, Status
from bayes_engine.decision.description_length import mdl
from bayes_engine.decision.regions import Axis, axis_of, posterior_plane
from bayes_engine.errors import ParameterError
from bayes_engine.factors.poisson import Rate
from bayes_engine.factors.text import Words
from bayes_engine.models.lazy import LazyNaiveBayes
from bayes_engine.models.look_up import LookUp
from bayes_engine.models.selective import SelectiveNaiveBayes
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from bayes_engine.models.weighted import WeightedNaiveBayes
from bayes_engine.workbench.derivation.check import hint
from bayes_engine.workbench.derivation.derive import derive, rounded
from bayes_engine.workbench.derivation.latex import to_latex
from bayes_engine.workbench.derivation.parameter_count import model_size
from bayes_engine.workbench.derivation.render import behind, most_discriminating, to_markdown, to_text
from bayes_engine.workbench.incoming.classified_file import results
from tests.classified_files import as_csv, receive, score
from tests.conftest import crossed

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
CHOSEN = {"links": "poisson", "hour": "kernel", "known": "bernoulli", "text": "multinomial"}


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(5)
    y = pd.Series(rng.choice(["ham", "spam"], 60), name="kind")
    spam = y == "spam"
    X = pd.DataFrame(
        {
            "links": rng.poisson(np.where(spam, 3.0, 0.4)),
            "hour": np.round(np.where(spam, rng.normal(3, 1, 60), rng.normal(12.0, 3.0, 60)), 1),
            "known": (rng.random(60) < np.where(spam, 0.2, 0.8)).astype(int),
            "text": np.where(spam, "win a free prize", "lunch at noon, free?"),
        }
    )
    return X, y


@pytest.fixture(scope="module")
def model(table: Any) -> NaiveBayes:
    return NaiveBayes(likelihoods=CHOSEN).fit(*table)


# another file ---------------------------------------------------------------------------------------------------------


FILE = pd.DataFrame(
    {
        "text": ["a prize, gratis!", "", "lunch", "'=win()", "free " * 40, "noon"],
        "links": ["2", "1.0", "2.5", "-1", "", "1e400"],
        "hour": ["3.5", "3", "4", "5", "4", "4"],
        "known": ["0", "1.0", "0", "7", "1", "1"],
    }
)


def test_a_cell_that_is_no_count_costs_its_own_row(model: NaiveBayes) -> None:
    rows = receive(FILE, model.schema_, model.target_)
    assert rows.unreadable.tolist() == [False, False, True, True, False, False]
    assert [(c.row, c.value, c.why) for c in rows.bad] == [
        (2, "2.5", "no count"), (3, "-1", "no count"), (5, "1e400", "infinite")
    ]  # fmt: skip
    status = score(model, rows).ledger.status
    assert status.tolist() == [Status.OK, Status.OK, Status.UNREADABLE, Status.UNREADABLE, Status.OK, Status.REFUSED]
    assert any("none of the counts 0, 1, 2, …: 2, the first in row 3 ('2.5')" in str(n.message) for n in rows.notes)


def test_texts_of_a_file_are_what_the_model_would_read(model: NaiveBayes) -> None:
    rows = receive(FILE, model.schema_, model.target_)
    plain = pd.DataFrame({"links": [2.0, 1.0, np.nan], "hour": [3.5, 3.0, 4.0], "known": [0, 1, 1],
                          "text": ["a prize", None, "free " * 40]})  # fmt: skip
    found = score(model, rows).posterior()[[0, 1, 4]]
    np.testing.assert_allclose(found, model.predict_proba(plain), rtol=1e-12)
    assert rows.frame["text"].iloc[3] == "=win()" and pd.isna(rows.frame["text"].iloc[1])
    without = receive(FILE.drop(columns="text"), model.schema_, model.target_)
    hidden = FILE.assign(text="")
    np.testing.assert_array_equal(
        score(model, without).posterior(), score(model, receive(hidden, model.schema_, model.target_)).posterior()
    )


def test_a_missing_text_where_missing_is_an_error(table: Any) -> None:
    model = NaiveBayes(likelihoods=CHOSEN, missing="error").fit(*table)
    rows = receive(FILE, model.schema_, model.target_, missing="error")
    assert [(c.row, c.column) for c in rows.bad if c.why == "missing"] == [(1, "text"), (4, "links")]
    assert score(model, rows).ledger.status.tolist() == [0, 4, 4, 4, 4, 3]


def test_a_reason_holds_no_whole_message(model: NaiveBayes) -> None:
    rows = receive(FILE, model.schema_, model.target_)
    scored, loss = score(model, rows), LossMatrix.zero_one(model.classes_.tolist())
    posterior, decision = scored.posterior(), scored.decide(loss)
    said = results(model, rows, scored, decision, posterior, model.classes_.tolist(), np.arange(6))["reason"]
    assert said[2] == "links = 2.5 (no count)" and "text = a prize, gratis! (+" in said[0]
    assert all(len(reason) < 200 for reason in said)
    assert b"'=win()" in as_csv(model, rows, scored, loss, model.classes_.tolist())


# a plane, the bill, the size ------------------------------------------------------------------------------------------


def test_a_count_is_a_stepped_axis_and_a_text_is_none(model: NaiveBayes, table: Any) -> None:
    X, _ = table
    across, up = axis_of(model.schema_["links"], X["links"]), axis_of(model.schema_["hour"], X["hour"])
    assert (across.low, across.high) == (-0.5, X["links"].max() + 0.5) and across.counts and not up.counts
    ticks = across.ticks(200)
    assert sorted(set(ticks)) == list(range(int(X["links"].max()) + 1)) and ticks == sorted(ticks)
    plane = posterior_plane(model, model.schema_, across, up, size=40)
    assert np.isfinite(plane.posterior).all() and (plane.status == Status.OK).all()
    steps = across.ticks(40)
    for j, i in ((0, 3), (25, 39)):
        case = pd.DataFrame({"links": [steps[i]], "hour": [up.ticks(40)[j]], "known": [None], "text": [None]})
        np.testing.assert_allclose(plane.posterior[j, i], model.predict_proba(case)[0], rtol=1e-12)
    sliced = posterior_plane(model, model.schema_, across, None, fixed={"text": "free prize", "known": 1}, size=10)
    assert (sliced.posterior[0, :, 1] > 0).all()
    with pytest.raises(ParameterError, match="column 'text' is a text, which is no axis"):
        axis_of(model.schema_["text"], X["text"])
    assert axis_of(model.schema_["links"], pd.Series([1e6, 2e6])).ticks(2) == [1250000.0, 1750000.0]
    plain = Axis("links", low=-0.3, high=7.4)  # as the table has it: the model counts
    assert posterior_plane(model, model.schema_, plain, None).x == Axis("links", low=-0.5, high=7.5, counts=True)
    assert Axis("n", low=-0.5, high=0.5, counts=True).ticks(2) == [0.0, 0.0]


def test_the_bill_of_a_count(table: Any) -> None:
    X, y = table
    bill = mdl(NaiveBayes(likelihoods={"links": "poisson"}).fit(X[["links"]], y))
    assert bill is not None and bill.parameters == 1 + 2
    rates = X["links"].groupby(y).mean()
    likelihood = poisson.logpmf(X["links"], y.map(rates)).sum() + np.log(y.map(y.value_counts(normalize=True))).sum()
    assert bill.log_likelihood == pytest.approx(likelihood, rel=1e-12)
    for name, likelihood in (("hour", "kernel"), ("text", "multinomial"), ("text", "bernoulli")):
        assert mdl(NaiveBayes(likelihoods={name: likelihood}, text={"columns": ["text"]}).fit(X, y)) is None


def test_how_many_numbers(model: NaiveBayes, table: Any) -> None:
    size = model_size(model)
    words = len(model.schema_["text"].levels)
    assert (size.rates, size.terms, size.values) == (2, 2 * (words - 1), 60)
    assert (size.factor_cells, size.factor_free, size.gaussian) == (4, 1 + 2, 0)
    presence = NaiveBayes(likelihoods={"text": "bernoulli"}, text={"columns": ["text"]}).fit(*table)
    assert model_size(presence).terms == 2 * words


# the working ----------------------------------------------------------------------------------------------------------


def test_every_number_is_written_out(model: NaiveBayes, table: Any) -> None:
    X, y = table
    case = pd.DataFrame({"links": [2], "hour": [4.0], "known": [1], "text": ["free free prize at once"]})
    working = derive(model, case, classes=["spam", "ham"])
    steps = {step.row.child: step for step in working.steps}
    rate, words = steps["links"].sources[0], steps["text"].sources[0]
    assert isinstance(rate, Rate) and isinstance(words, Words)
    n, total, mean = (y == "spam").sum(), X["links"][y == "spam"].sum(), X["links"].mean()
    assert behind(working, steps["links"], 0) == [f"μ = ({total}+1×{mean:.6g})/({n}+1) = {rate.rate:.6g}"]
    lines = behind(working, steps["text"], 0)
    v = len(model.schema_["text"].levels)
    nats = -2 * np.log((n + 1) / (4 * n + v))
    assert f"free × 2: 2 log ({n}+1)/({4 * n}+{v}) = −{nats:.4f}" in lines
    assert {line.split(":")[0].split(" ")[0] for line in lines} == {"free", "prize", "at"}
    assert words.terms[most_discriminating(steps["text"])[-1]].term == "free"  # which stands in every text
    (values,) = behind(working, steps["hour"], 0)
    assert values.startswith("x_i: ") and values.count("%") >= 2
    for said in (to_text(working), to_markdown(working), to_latex(working)):
        assert "Poisson(2; " in said or r"^{2}}{2!}e^" in said
    assert "    " + lines[0] in to_text(working)


def test_a_long_text_is_written_out_in_part(table: Any) -> None:
    X, y = pd.DataFrame({"text": [" ".join(f"w{i}" for i in range(30)), "w0 v"]}), ["a", "b"]
    for likelihood in ("multinomial", "bernoulli"):
        model = NaiveBayes(likelihoods={"text": likelihood}, text={"columns": ["text"]}).fit(X, y)
        working = derive(model, X[:1])
        step, source = working.steps[1], working.steps[1].sources[0]
        lines = behind(working, step, 0)
        assert isinstance(source, Words) and lines[12].startswith("18 other terms: ")
        assert (likelihood == "bernoulli") == lines[-1].startswith("all terms that do not stand in it: −")
        np.testing.assert_allclose(sum(t.log_value for t in source.terms) + source.absent, source.log_value)


def test_hints_say_what_to_reckon(model: NaiveBayes, table: Any) -> None:
    working = derive(model, table[0][:1])
    said = {step.row.child: str(hint(working, i, 0, "0.5")) for i, step in enumerate(working.steps)}
    assert "is the rate μ; then μ^x e^−μ/x! at x = 1" in said["links"]
    assert "the mean of the normal densities about each of them" in said["hour"]
    assert "over the words of text" in said["text"] and "count those with known = 0" in said["known"]
    assert all(0 <= p <= 1 for p in rounded(working).posterior)


# hidden labels --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "hard", "smoothing"), crossed(range(4), [False, True], ["all", "none"]))
def test_NF44_no_step_falls_where_a_column_counts(hard: bool, smoothing: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = pd.Series(rng.choice(["no", "yes"], 120))
    X = pd.DataFrame({"calls": rng.poisson(np.where(y == "yes", 6.0, 1.0)).astype(float),
                      "tone": np.where(rng.random(120) < 0.3, "loud", "calm")})  # fmt: skip
    X = X.mask(rng.random((120, 2)) < 0.1)
    inner = NaiveBayes(likelihoods={"calls": "poisson"}, smoothing=smoothing, alpha=3.0)
    shown = y.astype(object).mask(rng.random(120) < 0.8)
    model = SemiSupervisedNB(inner, hard=hard, tol=1e-10, init="random", random_state=seed).fit(X, shown)
    trace = model.trace_.table()
    size = 1e-9 * trace["objective"].abs().max()
    assert len(trace) > 2 and trace["change"][1:].min() >= -size
    np.testing.assert_allclose(trace["q"] + trace["entropy"], trace["objective"] - trace["log_prior"], rtol=1e-12)
    reached = trace["lower_bound"][1:].to_numpy() + trace["log_prior"][1:].to_numpy()
    assert (reached >= trace["objective"][:-1].to_numpy() - size).all()
    by_labels = SemiSupervisedNB(inner).fit(X, y)
    np.testing.assert_array_equal(by_labels.predict_proba(X), inner.fit(X, y).predict_proba(X))


def test_a_mixture_of_poissons_is_found() -> None:
    x = np.concatenate([np.random.default_rng(1).poisson(lam, 400) for lam in (2.0, 15.0)])
    inner = NaiveBayes(likelihoods={"n": "poisson"}, smoothing="none")
    model = SemiSupervisedNB(inner, classes=2, random_state=0, stop="parameters").fit(pd.DataFrame({"n": x}))
    rates = np.sort(model.factor_.parts[1].rate)
    np.testing.assert_allclose(rates, [2.0, 15.0], rtol=0.05)


@pytest.mark.parametrize("likelihoods", [{"hour": "kernel"}, {"hour": "mdlp"}, "mdlp"])
def test_what_has_no_steps_is_refused(table: Any, likelihoods: Any) -> None:
    X, y = table
    with pytest.raises(ParameterError, match="hidden labels"):
        SemiSupervisedNB(NaiveBayes(likelihoods=likelihoods)).fit(X, y.astype(object).mask(y.index > 30))


# models that are made of a NaiveBayes ---------------------------------------------------------------------------------

NUMBERS = {"links": "poisson", "hour": "kernel", "known": "bernoulli"}


def test_lazily_the_same(table: Any) -> None:
    X, y = table[0][list(NUMBERS)], table[1]
    X = X.astype(float).mask(np.random.default_rng(0).random(X.shape) < 0.1)
    for weka in ("kernel", "kernel-range"):
        chosen = {**NUMBERS, "hour": weka}
        eager, lazy = (kind(likelihoods=chosen).fit(X, y) for kind in (NaiveBayes, LazyNaiveBayes))
        np.testing.assert_allclose(lazy.predict_proba(X), eager.predict_proba(X), rtol=1e-12)
        np.testing.assert_allclose(lazy.leave_one_out_log_proba(X, y), eager.leave_one_out_log_proba(X, y), rtol=1e-12)
        parts = LazyNaiveBayes(likelihoods=chosen).partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
        np.testing.assert_allclose(parts.predict_proba(X), eager.predict_proba(X), rtol=1e-9)
        halves = [LazyNaiveBayes(likelihoods=chosen).fit(X[i::2], y[i::2]) for i in (0, 1)]
        np.testing.assert_allclose(halves[0].merge(halves[1]).predict_proba(X), eager.predict_proba(X), rtol=1e-9)
        lazy.forget(X[:5], y[:5]), eager.forget(X[:5], y[:5])
        np.testing.assert_allclose(lazy.predict_proba(X), eager.predict_proba(X), rtol=1e-9)
    with pytest.raises(ParameterError, match="column 'text' is a text, of which LazyNaiveBayes keeps no rows"):
        LazyNaiveBayes(likelihoods=CHOSEN).fit(*table)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [WeightedNaiveBayes, SelectiveNaiveBayes])
def test_weighted_and_selected(table: Any, model: NaiveBayes, kind: Any) -> None:
    X, y = table
    made = kind(NaiveBayes(likelihoods=CHOSEN)).fit(X, y)
    assert (made.predict(X) == y).mean() > 0.9
    close = made.leave_one_out_log_proba(X, y)
    rest = kind(NaiveBayes(likelihoods=CHOSEN, schema=model.schema_)).fit(X, y).forget(X[7:8], y[7:8])
    if kind is WeightedNaiveBayes:
        rest = WeightedNaiveBayes(NaiveBayes(likelihoods=CHOSEN, schema=model.schema_), weights=made.weights_)
        rest.fit(X.drop(7), y.drop(7))
    np.testing.assert_allclose(rest.predict_log_proba(X[7:8])[0], close[7], atol=1e-9)
    before = made.predict_proba(X)
    both = made.partial_fit(X[:9], y[:9]).forget(X[:9], y[:9])
    np.testing.assert_allclose(both.predict_proba(X), before, atol=1e-9)


def test_weights_of_one_are_naive_bayes(table: Any, model: NaiveBayes) -> None:
    made = WeightedNaiveBayes(NaiveBayes(likelihoods=CHOSEN), weights=dict.fromkeys(CHOSEN, 1.0)).fit(*table)
    np.testing.assert_allclose(made.predict_proba(table[0]), model.predict_proba(table[0]), rtol=1e-12)


@pytest.mark.parametrize("smoothing", ["all", "none"])
@pytest.mark.parametrize("weight", [None, 0.4, 0.0])
def test_a_count_is_compiled(table: Any, smoothing: Any, weight: float | None) -> None:
    X, y = table[0][["links", "known"]], table[1]
    model: Any = NaiveBayes(likelihoods={"links": "poisson", "known": "bernoulli"}, smoothing=smoothing)
    model = (model if weight is None else WeightedNaiveBayes(model, weights={"links": weight})).fit(X, y)
    made = LookUp.of(model)
    rows = pd.DataFrame({"links": [0.0, 3.0, np.nan, 40.0], "known": [0, 1, 1, 0]})
    np.testing.assert_allclose(made.predict_joint_log_proba(rows), model.predict_joint_log_proba(rows), rtol=1e-12)
    told = made.coefficients().set_index(["column", "class"])
    assert told.loc[("links", "spam"), "mean"] == pytest.approx(made.columns[0].rate[1])
    file: dict[str, Any] = {}
    exec(made.source(), file)  # noqa: S102
    assert file["check"]() <= 1e-12
    expected = model.predict_proba(rows)[1]
    np.testing.assert_allclose(list(file["posterior"]({"links": 3, "known": 1}).values()), expected, rtol=1e-12)
    with pytest.raises(ValueError, match=r"column 'links': 2\.5 is no count"):
        file["posterior"]({"links": 2.5})


def test_what_has_no_table_is_named(model: NaiveBayes) -> None:
    with pytest.raises(ParameterError, match=r"column 'hour' has a likelihood \(kernel\) that no table holds"):
        LookUp.of(model)
