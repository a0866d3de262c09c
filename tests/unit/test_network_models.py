"""BayesianNetwork as a model of a table: estimated, learned, asked, edited, sampled, saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bayes_engine import BayesianNetwork, load_dataset
from bayes_engine.errors import ImpossibleEvidence, ParameterError, TableError
from bayes_engine.factors.network import CPT, Network
from bayes_engine.table.schema import Variable

MELONS = load_dataset("watermelon2").frame
COLUMNS = ["色泽", "根蒂", "敲声", "好瓜"]
ARCS = [("好瓜", "色泽"), ("好瓜", "根蒂"), ("根蒂", "敲声"), ("好瓜", "敲声")]


def chest() -> Network:
    """Lung cancer and tuberculosis, either of which shows on the X-ray; `either` is their logical or."""
    names = ("smoke", "tub", "lung", "either", "xray")
    smoke, tub, lung, either, xray = (Variable(n, "categorical", ("yes", "no")) for n in names)
    return Network([
        CPT(smoke, (), [0.5, 0.5]),
        CPT(tub, (), [0.01, 0.99]),
        CPT(lung, (smoke,), [[0.1, 0.9], [0.01, 0.99]]),
        CPT(either, (tub, lung), [[[1, 0], [1, 0]], [[1, 0], [0, 1]]]),
        CPT(xray, (either,), [[0.98, 0.02], [0.05, 0.95]]),
    ])  # fmt: skip


def test_tables_are_counted_and_smoothed() -> None:
    model = BayesianNetwork(ARCS, alpha=0.0).fit(MELONS[COLUMNS])
    table = pd.crosstab([MELONS["好瓜"], MELONS["根蒂"]], MELONS["敲声"], normalize="index")
    cpt = model.network_["敲声"]
    assert [v.name for v in cpt.parents] == ["根蒂", "好瓜"]
    for i, stem in enumerate(cpt.parents[0].levels):
        for j, good in enumerate(cpt.parents[1].levels):
            if (good, stem) in table.index:
                assert cpt.p[i, j] == pytest.approx(table.loc[(good, stem)].reindex(cpt.variable.levels).to_numpy())
            else:
                assert cpt.p[i, j] == pytest.approx(1 / 3)  # nothing was counted
    smooth = model.with_params(alpha=1.0)
    good = MELONS.loc[MELONS["好瓜"] == "是", "色泽"]
    expected = (good == "乌黑").sum() + 1, len(good) + 3
    assert smooth.query("色泽", {"好瓜": "是"})["乌黑"] == pytest.approx(expected[0] / expected[1])


def test_bdeu_spreads_its_sample_size_over_the_table() -> None:
    model = BayesianNetwork([("好瓜", "色泽")], alpha=6.0, smoothing="bdeu").fit(MELONS[["好瓜", "色泽"]])
    good = MELONS.loc[MELONS["好瓜"] == "是", "色泽"]
    assert model.query("色泽", {"好瓜": "是"})["乌黑"] == pytest.approx(((good == "乌黑").sum() + 1) / (len(good) + 3))


def test_merge_is_a_batch_and_weights_are_repeats() -> None:
    frame = MELONS[COLUMNS].astype({name: pd.CategoricalDtype(sorted(MELONS[name].unique())) for name in COLUMNS})
    whole = BayesianNetwork(ARCS).fit(frame)
    halves = BayesianNetwork(ARCS).fit(frame[:9]).merge(BayesianNetwork(ARCS).fit(frame[9:]))
    weight = np.arange(17) % 3
    repeated = BayesianNetwork(ARCS).fit(frame.loc[np.repeat(frame.index, weight)])
    weighted = BayesianNetwork(ARCS).fit(frame, sample_weight=weight)
    for a, b in ((whole, halves), (repeated, weighted)):
        for one, other in zip(a.network_.cpts, b.network_.cpts, strict=True):
            assert one.p == pytest.approx(other.p, abs=1e-12)
    assert BayesianNetwork(ARCS).fit_stats(whole.stats_).score(frame) == pytest.approx(whole.score(frame))


def test_the_chest_clinic_answers() -> None:
    model = BayesianNetwork.of(chest())
    lung = 0.5 * 0.1 + 0.5 * 0.01
    either = 1 - (1 - lung) * 0.99
    xray = either * 0.98 + (1 - either) * 0.05
    assert model.query("lung", {"xray": "yes"})["yes"] == pytest.approx(lung * 0.98 / xray)
    assert model.probability({"xray": "yes"}) == pytest.approx(xray)
    joint = model.query(["tub", "lung"], {"xray": "yes"})
    assert joint["yes", "no"] == pytest.approx(0.01 * (1 - lung) * 0.98 / xray)
    marginals = model.marginals({"xray": "yes"})
    assert marginals["lung"]["yes"] == pytest.approx(lung * 0.98 / xray)
    assert list(marginals) == list(model.network_.names)
    assert pd.DataFrame(marginals).loc["yes", "lung"] == marginals["lung"]["yes"]  # pandas takes a dict for columns
    assert all(p.sum() == pytest.approx(1.0) and p.name == "P" for p in marginals.values())
    best, log_p = model.most_probable({"either": "yes"})
    assert best == {"smoke": "yes", "tub": "no", "lung": "yes", "either": "yes", "xray": "yes"}
    assert log_p == pytest.approx(np.log(0.5 * 0.99 * 0.1 * 0.98))
    frame = pd.DataFrame({"smoke": ["yes", None], "tub": ["no", "no"], "lung": [None, None], "either": [None, None], "xray": ["yes", "no"]})  # noqa: E501  # fmt: skip
    found = model.posterior(frame, "lung")
    for i, row in enumerate(frame.to_dict("records")):
        told = {k: v for k, v in row.items() if k != "lung"}  # what is None or NaN says nothing
        assert found[i] == pytest.approx(model.query("lung", told).to_numpy())
        assert model.score_samples(frame)[i] == pytest.approx(
            np.log(model.probability({k: v for k, v in row.items() if v}))
        )


@pytest.mark.parametrize("evidence", [{}, {"xray": "yes"}])
def test_what_is_written_into_one_answer_shows_in_no_other(evidence: dict[str, str]) -> None:
    model = BayesianNetwork.of(chest())
    answers = model.marginals(evidence)
    others = {name: p.copy() for name, p in answers.items() if name != "lung"}
    before = answers["lung"].copy()
    answers["lung"].loc["yes"] = 7.0
    answers["lung"].index.name = "cancer"
    again = model.marginals(evidence)
    assert answers["lung"].loc["yes"] == 7.0 and again["lung"].equals(before)
    assert all(answers[name].equals(p) and again[name].equals(p) for name, p in others.items())
    assert [again[name].index.name for name in again] == list(model.network_.names)


@pytest.mark.parametrize("ask", [lambda m, e: m.query("xray", e), lambda m, e: m.gibbs(e), lambda m, e: m.likelihood_weighting(e, 10)])  # noqa: E501  # fmt: skip
def test_NF49_impossible_evidence_is_named(ask: Any) -> None:
    with pytest.raises(ImpossibleEvidence, match=r"lung = yes, either = no|either = no, lung = yes"):
        ask(BayesianNetwork.of(chest()), {"smoke": "yes", "lung": "yes", "either": "no"})


def test_NF47_a_table_edited_by_hand() -> None:
    model = BayesianNetwork.of(chest())
    edited = model.with_cpt("tub", [0.5, 0.5])
    assert edited.query("tub")["yes"] == 0.5 and model.query("tub")["yes"] == 0.01
    with pytest.raises(ParameterError, match=r"P\(lung \| smoke = no\) sums to 1.01, not 1"):
        model.with_cpt("lung", [[0.1, 0.9], [0.02, 0.99]])


def test_NF47_rows_within_a_millionth_of_one_are_divided_by_their_sum() -> None:
    model = BayesianNetwork.of(chest())
    assert model.with_cpt("tub", [0.5, 0.4999995]).network_["tub"].p.sum() == 1.0
    with pytest.raises(ParameterError, match=r"P\(tub\) sums to 0\.999998"):
        model.with_cpt("tub", [0.5, 0.499998])


def test_an_edited_table_is_never_lost_to_the_counts() -> None:
    model = BayesianNetwork(ARCS).fit(MELONS[COLUMNS])
    edited = model.with_cpt("好瓜", [0.9, 0.1])
    for again in (lambda: edited.with_params(alpha=2.0), lambda: edited.merge(model), lambda: model.merge(edited)):
        with pytest.raises(ParameterError, match="edited by hand"):
            again()
    assert model.with_params(alpha=2.0).network_["好瓜"].p.sum() == pytest.approx(1.0)


def test_names_that_are_numbers_are_asked_for_as_they_are() -> None:
    rows = pd.DataFrame([["a", "b"], ["b", "c"], ["b", "c"]], columns=[1, 2])
    model = BayesianNetwork([(1, 2)]).fit(rows)  # type: ignore[list-item]
    assert model.query(2, {1: "b"}).tolist() == [0.25, 0.75]  # type: ignore[arg-type, dict-item]
    hidden = BayesianNetwork([(7, 1), (7, 2)], hidden={7: np.int64(2)}, n_init=1).fit(rows)  # type: ignore[list-item, dict-item]
    assert hidden.graph_.nodes == ("1", "2", "7") and hidden.n_features_in_ == 2


def test_infinity_is_refused_and_a_number_that_is_none_as_well() -> None:
    rows = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": list("xyxy")})
    model = BayesianNetwork([("a", "b")], bins=2).fit(rows)
    far = rows.assign(a=[1.0, np.inf, 3.0, 4.0])
    for ask in (model.score_samples, model.fit, lambda X: model.posterior(X, "b")):
        with pytest.raises(TableError, match="infinity in row 2"):
            ask(far)
    for value in ("three", np.inf):
        with pytest.raises(ParameterError, match="is no level of 'a'"):
            model.query("b", {"a": value})


def test_rows_without_weight_need_not_be_possible() -> None:
    """b = q occurs in a row that does not count alone: EM without smoothing says it never occurs."""
    rows = pd.DataFrame({"a": ["x", "x", "y", None, "y"], "b": ["p", "p", "p", "p", "q"]})
    weighted = BayesianNetwork([("a", "b")], alpha=0).fit(rows, sample_weight=[1, 1, 1, 1, 0])
    without = BayesianNetwork([("a", "b")], alpha=0, schema=weighted.schema_).fit(rows[:4])
    for p, q in zip(weighted.network_.cpts, without.network_.cpts, strict=True):
        np.testing.assert_allclose(p.p, q.p, atol=1e-12)


def test_a_missing_cell_is_refused_in_this_models_own_words() -> None:
    with pytest.raises(TableError, match="column '色泽' has a missing cell in row 3; choose missing='em'"):
        BayesianNetwork(missing="error").fit(MELONS[COLUMNS].assign(色泽=MELONS["色泽"].where(MELONS.index != 2)))


@pytest.mark.slow
def test_the_levels_of_a_hidden_node_stand_by_weight_whatever_the_seed() -> None:
    rng = np.random.default_rng(5)
    z = rng.random(400) < 0.3
    rows = pd.DataFrame({f"x{j}": np.where(rng.random(400) < np.where(z, 0.9, 0.15), "y", "n") for j in range(4)})
    arcs = [("z", f"x{j}") for j in range(4)]
    models = [
        BayesianNetwork(arcs, hidden={"z": ["most", "few"]}, tol=1e-15, n_init=2, random_state=seed).fit(rows)
        for seed in range(4)
    ]
    for model in models:
        assert model.query("z")["most"] == pytest.approx(0.7, abs=0.05)
        for p, q in zip(model.network_.cpts, models[0].network_.cpts, strict=True):
            np.testing.assert_allclose(p.p, q.p, atol=1e-5)
        assert model.trace_ is not None
        np.testing.assert_array_equal(model.trace_.last.parameters["z"].p, model.network_["z"].p)
        assert model.runs_ is not None
        assert model.trace_.last.objective == pytest.approx(max(t.last.objective for t in model.runs_.traces))
    again = models[0].set_params(structure=[], hidden=None).fit(rows)  # nothing of the fit before is left
    assert again.trace_ is None and again.runs_ is None


@pytest.mark.parametrize("ending", ["bif", "xml"])
def test_files_hold_the_network(tmp_path: Path, ending: str) -> None:
    model = BayesianNetwork(ARCS).fit(MELONS[COLUMNS])
    path = tmp_path / f"melons.{ending}"
    model.save_bif(path)
    again = BayesianNetwork.load_bif(path)
    assert again.graph_ == model.graph_
    for one, other in zip(model.network_.cpts, again.network_.cpts, strict=True):
        np.testing.assert_array_equal(one.p, other.p)
    frames = BayesianNetwork.from_frames(model.to_frames())
    assert frames.query("好瓜", {"敲声": "浊响"}).to_dict() == model.query("好瓜", {"敲声": "浊响"}).to_dict()


def test_numbers_are_cut_and_evidence_may_be_a_number() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    frame = pd.DataFrame({"x": x, "y": np.where(x + 0.3 * rng.normal(size=400) > 0, "up", "down")})
    model = BayesianNetwork([("x", "y")]).fit(frame)
    assert len(model.network_["x"].variable.levels) == 4
    assert model.query("y", {"x": 2.0})["up"] > 0.95 > 0.05 > model.query("y", {"x": -2.0})["up"]
    assert (
        model.query("y", {"x": 2.0}).to_dict()
        == model.query("y", {"x": model.network_["x"].variable.levels[-1]}).to_dict()
    )
    with pytest.raises(TableError, match="holds numbers"):
        BayesianNetwork([("x", "y")], discretize=None).fit(frame)


def test_learning_finds_the_tree_that_made_the_rows() -> None:
    rows = BayesianNetwork.of(chest()).sample(4000, random_state=1)
    model = BayesianNetwork().learn(rows, method="exact")
    assert model.search_ is not None and model.search_.status == "optimum"
    pairs = {frozenset(arc) for arc in model.graph_.arcs}
    assert {frozenset(("lung", "either")), frozenset(("tub", "either")), frozenset(("either", "xray"))} <= pairs
    climbed = BayesianNetwork().learn(rows)
    assert climbed.search_ is not None and climbed.search_.score <= model.search_.score + 1e-6
    again = clone(BayesianNetwork(random_state=3)).learn(rows, "bdeu", method="k2", order=list(rows.columns))
    assert again.search_ is not None and again.search_.method == "k2"
    with pytest.raises(ParameterError, match="hidden node"):
        BayesianNetwork(hidden={"h": 2}).learn(rows)


def test_samples_have_the_marginals() -> None:
    rows = BayesianNetwork.of(chest()).sample(20_000, random_state=2)
    assert (rows["either"] == "yes").mean() == pytest.approx(1 - 0.945 * 0.99, abs=0.006)
    assert ((rows["tub"] == "yes") | (rows["lung"] == "yes")).equals(rows["either"] == "yes")


def test_em_keeps_every_row_and_refuses_to_merge() -> None:
    frame = MELONS[COLUMNS].copy()
    frame.loc[::4, "根蒂"] = None
    model = BayesianNetwork(ARCS).fit(frame)
    assert model.trace_ is not None and model.stats_.counts.tables["根蒂"].sum() == pytest.approx(17)
    with pytest.raises(ParameterError, match="do not merge"):
        model.merge(model)
    with pytest.raises(ParameterError, match="refit"):
        model.with_params(alpha=2.0)
    with pytest.raises(TableError, match="missing cell"):
        BayesianNetwork(ARCS, missing="error").fit(frame)
    known = BayesianNetwork(ARCS, missing="known").fit(frame)
    assert known.trace_ is None and known.stats_.families.tables["根蒂", "好瓜"][0, 1:, 1:].sum() == 12


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda: BayesianNetwork([("色泽", "x")]).fit(MELONS[COLUMNS]), "is no node"),
        (lambda: BayesianNetwork([("色泽", "根蒂"), ("根蒂", "色泽")]).fit(MELONS[COLUMNS]), "色泽 → 根蒂 → 色泽"),
        (lambda: BayesianNetwork(alpha=-1).fit(MELONS[COLUMNS]), "alpha=-1"),
        (lambda: BayesianNetwork(missing="drop").fit(MELONS[COLUMNS]), "missing='drop'"),
        (lambda: BayesianNetwork(hidden={"色泽": 2}).fit(MELONS[COLUMNS]), "name of a column"),
        (lambda: BayesianNetwork().fit(MELONS[COLUMNS]).query("甜度"), "no node '甜度'"),
        (lambda: BayesianNetwork().fit(MELONS[COLUMNS]).query("好瓜", {"色泽": "红"}), "no level of '色泽'"),
        (lambda: BayesianNetwork().fit(MELONS[COLUMNS].assign(空=None)), "no value at all"),
        (lambda: BayesianNetwork().fit(MELONS[COLUMNS]).query([]), "no target"),
        (lambda: BayesianNetwork(structure="tan").fit(MELONS[COLUMNS]), "structure='tan' is no list of arcs"),
        (lambda: BayesianNetwork(arc for arc in ARCS).fit(MELONS[COLUMNS]), "no list of arcs"),
        (lambda: BayesianNetwork([("色泽",)]).fit(MELONS[COLUMNS]), "is no arc"),
        (lambda: BayesianNetwork(hidden={"h": 1}).fit(MELONS[COLUMNS]), "hidden=1"),
        (lambda: BayesianNetwork(hidden={"h": ["a", "a"]}).fit(MELONS[COLUMNS]), "'h' needs two levels or more"),
        (lambda: BayesianNetwork(hidden={"h": ["a", None]}).fit(MELONS[COLUMNS]), "'h' needs two levels or more"),
        (lambda: BayesianNetwork(hidden=["h"]).fit(MELONS[COLUMNS]), "give a dict"),
        (lambda: BayesianNetwork(discretize="mdlp").fit(MELONS[COLUMNS]), "discretize='mdlp'"),  # needs classes
        (lambda: BayesianNetwork(hidden={"h": 2}).fit_stats(BayesianNetwork().fit(MELONS[COLUMNS]).stats_), "'h'"),
        (lambda: BayesianNetwork.of(chest()).with_params(alpha=2.0), "no counts to use"),
        (lambda: BayesianNetwork.of(chest()).merge(BayesianNetwork.of(chest())), "no counts to use"),
        (lambda: BayesianNetwork.of(chest()).with_cpt("tub", ["a", "b"]), "'tub' holds what is no number"),
        (lambda: BayesianNetwork.of(chest()).with_cpt("lung", [[0.5, 0.5], [1]]), "'lung' holds what is no number"),
    ],
)
def test_what_cannot_be_is_said(change: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        change()
