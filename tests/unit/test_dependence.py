"""Dependence opened: every pair and its test, the contingency table and its sum, the map, the tree as it grows."""

from __future__ import annotations

import math
import warnings
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from bayes_engine.datasets import load_dataset
from bayes_engine.errors import EstimationWarning
from bayes_engine.models.spode import SPODE
from bayes_engine.models.tan import TAN
from bayes_engine.structure.chow_liu import Dependence, conditional_information, spanning_tree
from bayes_engine.table.roles import take_apart
from bayes_engine.workbench.derivation import dependence
from bayes_engine.workbench.derivation.contingency import contingency
from bayes_engine.workbench.derivation.dependence import (
    LEVEL,
    PairTest,
    all_tested,
    clustered,
    map_of,
    pair_tests,
    strongest,
    varying,
)
from bayes_engine.workbench.derivation.tree_growth import grow, path, tree_by_chance
from bayes_engine.workbench.figures.comparison import MeasurePanel
from bayes_engine.workbench.figures.dependence import EDGES, dependence_map, super_parent_scores, tint
from tests.conftest import slowly

TEXTBOOK = {
    ("根蒂", "脐部"): 0.5975,
    ("纹理", "脐部"): 0.3820,
    ("根蒂", "敲声"): 0.3529,
    ("纹理", "触感"): 0.3204,
    ("色泽", "纹理"): 0.2804,
}


def fitted(name: str, **parameters: object) -> tuple[TAN, pd.DataFrame]:
    """A tree fitted to an embedded table, and the frame of its features and target."""
    dataset = load_dataset(name)
    parts = take_apart(dataset.frame, dataset.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimationWarning)  # columns without a cut are set aside
        model = TAN(schema=parts.schema, **parameters).fit(parts.X, parts.y)
    return model, parts.X.assign(**{parts.target.name: parts.y})


@pytest.fixture(scope="module")
def melons() -> tuple[TAN, pd.DataFrame]:
    return fitted("watermelon2")


def test_a_pair_without_a_degree_of_freedom_is_no_test() -> None:
    two, alone = np.array([[[4.0, 0.0], [0.0, 5.0]]]), np.array([[[4.0, 5.0]]])
    tables = {("a", "b"): alone, ("a", "c"): two, ("b", "c"): alone}
    found = {edge: conditional_information(table) for edge, table in tables.items()}
    by_edge = pair_tests(found, tables)
    assert [by_edge[edge].holm for edge in tables] == [1.0, pytest.approx(1 / math.comb(9, 4)), 1.0]


def test_the_pairs_of_the_textbook(melons: tuple[TAN, pd.DataFrame]) -> None:
    pairs = all_tested(melons[0])
    found = {p.edge: round(p.given_class.dependence.information, 4) for p in pairs}
    assert found.items() >= TEXTBOOK.items()
    nats = [p.given_class.dependence.information for p in pairs]
    assert nats == sorted(nats, reverse=True)
    assert len(pairs) == 15
    assert [p.edge for p in pairs if p.given_class.significant] == [("根蒂", "脐部")]
    assert all(p.of(o).holm >= p.of(o).p for p in pairs for o in (False, True))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["watermelon2", "watermelon3", "penguins", slowly("mushroom")])
def test_a_table_sums_to_the_number_and_counts_its_rows(name: str) -> None:
    model, frame = fitted(name)
    dependences = model.dependences()
    for pair in all_tested(model)[:6]:
        for overall in (False, True):
            cells = contingency(model, *pair.edge, overall=overall)
            found = (dependences.overall if overall else dependences.given_class)[pair.edge]
            assert cells.information == pytest.approx(found.information, abs=1e-12)
            assert cells.by_class.sum() == pytest.approx(found.information, abs=1e-12)
            assert cells.n == pytest.approx(found.n)
            assert cells.expected.sum() == pytest.approx(found.n)
            for place in product(*map(range, cells.counts.shape)):
                assert len(cells.rows(frame, *place)) == cells.counts[place]


def test_a_missing_cell_as_a_level_has_its_rows() -> None:
    model, frame = fitted("mushroom", missing="category")
    cells = contingency(model, "stalk-root", "habitat")
    assert cells.levels_a[0] is None
    assert cells.n == len(frame)
    assert len(cells.rows(frame, 0, 0, 1)) == cells.counts[0, 0, 1]


def test_one_cell_by_hand(melons: tuple[TAN, pd.DataFrame]) -> None:
    """Good melons, 根蒂 = 蜷缩 and 脐部 = 凹陷: 5/17 log [(5/8) / (5/8 · 5/8)]."""
    cells = contingency(melons[0], "根蒂", "脐部", ["是", "否"])
    assert cells.factors(0, 0, 0) == (5.0, 8.0, 5.0, 5.0)
    assert cells.terms[0, 0, 0] == pytest.approx(5 / 17 * math.log(8 / 5))
    assert cells.weightiest == (0, 1, 1)  # 3/17 log (8/3) is the largest term
    assert cells.expected[0, 0, 0] == pytest.approx(25 / 8)
    assert cells.sparse == (13, 13)
    turned = contingency(melons[0], "脐部", "根蒂", ["否", "是"])
    assert turned.counts.tolist() == cells.counts[::-1].transpose(0, 2, 1).tolist()


def test_the_sum_without_the_class_prior(melons: tuple[TAN, pd.DataFrame]) -> None:
    """As the notes print eq. 7.22, 根蒂–脐部 comes to 1.2022, and the tree keeps its five edges."""
    model, _frame = melons
    names = list(model.feature_names_in_)
    printed = {pair: contingency(model, *pair).without_class_prior for pair in combinations(names, 2)}
    assert printed["根蒂", "脐部"] == pytest.approx(1.2022, abs=5e-5)
    taken = {frozenset(step.edge) for step in spanning_tree(names, printed) if step.taken}
    assert taken == {frozenset(edge) for edge in TEXTBOOK}
    table = pd.DataFrame({"a": list("xxxyyy"), "b": list("uuvuvv")})
    cells = contingency(TAN().fit(table, list("nynyny")), "a", "b", overall=True)
    assert cells.counts.tolist() == [[[2.0, 1.0], [1.0, 2.0]]]
    assert cells.without_class_prior == pytest.approx(cells.information)  # without a class there is no P(c) to miss


@pytest.mark.slow
def test_columns_of_one_value_are_set_aside() -> None:
    model, _frame = fitted("mushroom")
    assert "veil-type" not in varying(model)  # two levels are declared, one is there
    assert not any("veil-type" in p.edge for p in all_tested(model))
    grown = grow(model)
    assert "veil-type" not in grown.names
    assert len(grown.arcs) == len(grown.names) - 1
    uncut, _frame = fitted("watermelon3a")
    assert varying(uncut) == ()
    assert grow(uncut).arcs == ()
    assert all_tested(uncut) == ()


# by chance ------------------------------------------------------------------------------------------------------------


def test_the_five_edges_are_what_they_were_found_to_be(melons: tuple[TAN, pd.DataFrame]) -> None:
    """Shuffled within the classes: p = .003, .042, .114, .021, .35; 色泽–纹理 has .2804 where chance averages .2408."""
    pairs = {p.edge: p.given_class for p in all_tested(melons[0])}
    assert [round(pairs[e].p, 3) for e in TEXTBOOK] == [0.003, 0.042, 0.114, 0.021, 0.352]
    assert round(pairs["色泽", "纹理"].chance, 4) == 0.2408
    strongest_pair = pairs["根蒂", "脐部"]
    assert (strongest_pair.method, round(strongest_pair.holm, 3)) == ("exact", 0.044)
    assert round(15 * strongest_pair.dependence.p_value, 4) == 0.0163
    assert {p.method for p in pairs.values()} == {"exact"}


def test_where_the_tables_are_many_p_is_drawn_and_where_all_cells_are_full_it_is_chi2() -> None:
    ways = {p.edge: p.given_class.method for p in all_tested(fitted("penguins")[0])}
    assert set(ways.values()) == {"chi2", "exact", "bound", "drawn"}


def of_rare_levels(rows: int, columns: int, levels: int) -> tuple[TAN, pd.DataFrame]:
    """Columns of many rare levels; the first three have something of each other in both classes."""
    rng, share = np.random.default_rng(0), np.arange(1, levels + 1) ** -1.5
    share /= share.sum()
    shared, y = rng.choice(levels, rows, p=share), rng.integers(0, 2, rows)
    X = pd.DataFrame({f"x{j}": rng.choice(levels, rows, p=share) for j in range(columns)})
    for name in ("x0", "x1", "x2"):
        X[name] = np.where(rng.random(rows) < 0.3, shared, X[name])
    X = "level " + X.astype(str)
    return TAN().fit(X, y), X.assign(y=y)


@pytest.mark.slow
def test_on_a_long_table_of_rare_levels_every_p_value_is_drawn_and_holm_finds_the_pairs_that_depend() -> None:
    model, frame = of_rare_levels(5000, 6, 12)
    pairs = {p.edge: p.given_class for p in all_tested(model)}
    assert {p.method for p in pairs.values()} <= {"drawn", "bound"}
    assert {e for e, p in pairs.items() if p.significant} == {("x0", "x1"), ("x0", "x2"), ("x1", "x2")}
    least = pairs["x0", "x1"]
    assert least.is_bound and least.holm <= 0.5 * LEVEL
    # another pair against the permutation of rows within the classes
    rng, tested = np.random.default_rng(2), pairs["x3", "x4"]
    codes = [pd.factorize(frame[name])[0] for name in ("x3", "x4", "y")]

    def information(b: np.ndarray) -> float:
        counts = np.zeros((12, 12, 2))
        np.add.at(counts, (codes[0], b, codes[2]), 1.0)
        return conditional_information(np.moveaxis(counts, 2, 0)).information

    own, shuffled = information(codes[1]), []
    for _draw in range(400):
        b = codes[1].copy()
        for c in (0, 1):
            b[codes[2] == c] = rng.permutation(b[codes[2] == c])
        shuffled.append(information(b))
    assert tested.dependence.information == pytest.approx(own)
    assert tested.p == pytest.approx(np.mean(np.array(shuffled) >= own - 1e-12), abs=0.1)
    assert tested.chance == pytest.approx(np.mean(shuffled), rel=0.02)


def test_where_tables_cannot_be_drawn_p_is_by_chi2_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    model, frame = of_rare_levels(400, 3, 12)
    weighted = TAN().fit(frame[["x0", "x1", "x2"]], frame["y"], np.full(400, 0.5))
    assert {p.given_class.method for p in all_tested(weighted)} == {"weighted"}
    monkeypatch.setattr(dependence, "DRAWING", (0.0, 0.0))
    assert {p.given_class.method for p in all_tested(model)} == {"too large"}
    for pair in (*all_tested(weighted), *all_tested(model)):
        assert pair.given_class.p == pair.given_class.dependence.p_value and not pair.given_class.is_bound


@pytest.mark.slow
def test_a_tree_s_edges_are_held_against_trees_that_chose_too(melons: tuple[TAN, pd.DataFrame]) -> None:
    """Against trees fitted anew to frames whose columns are shuffled within each class."""
    model, frame = melons
    chance = tree_by_chance(model, grow(model))
    assert chance is not None
    rng, drawn = np.random.default_rng(1), []
    for _draw in range(40):
        shuffled = frame.groupby("好瓜", group_keys=False).apply(
            lambda rows: rows.apply(lambda column: rng.permutation(column.to_numpy())), include_groups=False
        )
        tree = TAN(schema=model.schema).fit(shuffled[list(model.feature_names_in_)], frame.loc[shuffled.index, "好瓜"])
        drawn.append([s.weight for s in tree.trace_ if s.taken])
    mean, error = np.mean(drawn, axis=0), np.std(drawn, axis=0) / math.sqrt(len(drawn))
    assert np.abs(mean - [e.chance for e in chance.edges]).max() < 4 * error.max()
    assert [e.edge for e in chance.edges] == list(TEXTBOOK)
    assert chance.total.weight == pytest.approx(1.93324, abs=5e-6)


# the tree -------------------------------------------------------------------------------------------------------------


def test_the_tree_of_the_textbook_grows(melons: tuple[TAN, pd.DataFrame]) -> None:
    grown = grow(melons[0])
    assert [s.edge for s in grown.steps if s.taken] == list(TEXTBOOK)
    assert f"{grown.total:.5f}" == "1.93324"
    assert [round(grown.total_after(k), 4) for k in (0, 1, 4, 5)] == [0.0, 0.5975, 1.6528, 1.6528]
    assert (grown.left, grown.most) == (9, pytest.approx(0.59753454))
    assert grown.cycle(4) == ["根蒂", "脐部", "纹理"]
    assert grown.cycle(0) == []
    assert grown.roots == (grown.root,) == ("纹理",)
    assert set(map(frozenset, grown.arcs)) == set(map(frozenset, TEXTBOOK))


def test_a_root_turns_the_arcs_and_nothing_else(melons: tuple[TAN, pd.DataFrame]) -> None:
    turned = grow(melons[0].with_params(root="触感"))
    assert turned.roots == ("触感",)
    assert turned.steps == grow(melons[0]).steps
    assert ("触感", "纹理") in turned.arcs


def test_what_nothing_joins_hangs_from_roots_of_its_own() -> None:
    table = pd.DataFrame({"a": list("xxyy") * 2, "b": list("uvuv") * 2, "c": list("rrss") * 2})
    grown = grow(TAN().fit(table, list("nnnnyyyy")))
    assert grown.arcs == (("a", "c"),)
    assert set(grown.roots) == {"a", "b"}
    assert grown.roots[0] == grown.root


def test_a_path() -> None:
    edges = [("b", "a"), ("b", "c"), ("c", "d"), ("e", "f")]
    assert path(edges, "a", "d") == ["a", "b", "c", "d"]
    assert path(edges, "d", "a") == ["d", "c", "b", "a"]
    assert path(edges, "a", "e") == []


# the map --------------------------------------------------------------------------------------------------------------


def test_the_map_holds_every_pair_once_in_any_order(melons: tuple[TAN, pd.DataFrame]) -> None:
    pairs = all_tested(melons[0])
    names = list(varying(melons[0]))
    for order in (names, names[::-1], clustered(pairs, names), clustered(pairs, names, overall=True)):
        drawn = map_of(pairs, order)
        assert sorted(order) == sorted(names)
        assert int((~np.isnan(drawn.nats)).sum()) == len(pairs)
        assert np.isnan(drawn.nats[np.triu_indices(6)]).all()
        place = drawn.place(("根蒂", "脐部"))
        assert place is not None
        assert drawn.nats[place] == pytest.approx(0.5975, abs=5e-5)
        assert drawn.significant[place]
        assert drawn.significant.sum() == 1
    assert abs(order.index("根蒂") - order.index("脐部")) <= 2
    assert map_of(pairs, names[:2]).place(("根蒂", "脐部")) is None


def test_the_strongest_columns_stay_in_their_order(melons: tuple[TAN, pd.DataFrame]) -> None:
    pairs, names = all_tested(melons[0]), varying(melons[0])
    assert strongest(pairs, names, 3) == ["根蒂", "纹理", "脐部"]
    assert strongest(pairs, names, 99) == list(names)


def test_a_cell_of_the_figure_is_hollow_where_nothing_is_shown(melons: tuple[TAN, pd.DataFrame]) -> None:
    pairs, names = all_tested(melons[0]), varying(melons[0])
    drawn = map_of(pairs, names)
    figure = dependence_map(drawn, list(names), chosen=drawn.place(("根蒂", "脐部")), dark=False)
    z = np.asarray(figure.data[0].z, dtype=float)
    for i, j in product(range(6), range(6)):
        middle = z[5 * i + 2, 5 * j + 2]
        assert (not math.isnan(middle)) == bool(drawn.significant[i, j])
        assert (not math.isnan(z[5 * i + 1, 5 * j + 2])) == (j < i)
    points = figure.data[2]
    assert len(points.customdata) == 15
    assert dict(zip(zip(points.y, points.x, strict=True), points.text, strict=True))[4, 1].startswith("0.598<br>")
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].y0) == (0.5, 3.5)
    hole, narrow, figure_wide = EDGES[3] - EDGES[2], 50, 6.5  # pixels: a cell at a projector, a figure of 13 px
    assert all(figure_wide * len(line) <= hole * narrow for text in points.text for line in text.split("<br>"))


def test_the_scores_of_the_super_parents_are_drawn_as_they_are() -> None:
    dataset = load_dataset("watermelon2")
    parts = take_apart(dataset.frame, dataset.schema)
    scores = SPODE(schema=parts.schema).fit(parts.X, parts.y).candidate_scores_
    losses = scores["log_loss"].to_list()
    panel = MeasurePanel("log-loss", losses, [f"{v:.4f}" for v in losses])
    figure = super_parent_scores(scores, list(scores.index), panel, dark=True)
    assert list(figure.data[0].x) == scores["accuracy"].to_list()
    assert list(figure.data[1].x) == scores["log_loss"].to_list()
    endless = pd.DataFrame({"accuracy": [0.5, 0.5], "log_loss": [0.7, math.inf]}, index=["a", "b"])
    figure = super_parent_scores(
        endless, ["a", "b"], panel._replace(values=[0.7, math.inf], words=["0.7000", "∞"]), dark=False
    )
    assert list(figure.data[1].text) == ["0.7000", "∞"]
    assert all(map(math.isfinite, figure.data[1].x))


def test_a_tint_grows_with_the_term() -> None:
    strength = [float(tint(v, dark=True).split(",")[-1].rstrip(")")) for v in (0.0, 0.3, -0.6, 2.0)]
    assert strength == sorted(strength)
    assert tint(0.5, dark=False) != tint(-0.5, dark=False)


def test_significance_is_by_the_corrected_p_value() -> None:
    one = Dependence(0.5, 9.0, 1, 0.01, 9.0)
    assert PairTest(one, 0.2, 0.01, "chi2", 0.049).significant
    assert not PairTest(one, 0.2, 0.01, "chi2", LEVEL).significant
    assert PairTest(one, 0.2, 0.01, "drawn", 0.03, 99).is_bound
    assert not PairTest(one, 0.2, 0.02, "drawn", 0.03, 99).is_bound
