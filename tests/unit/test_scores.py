"""Counts of families, and the bill of a graph."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure import scores
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import SCORES, Move, ScoreName, Scorer, decomposed_score, score_change
from bayes_engine.table.encode import encode
from bayes_engine.table.schema import Schema, Variable

RNG = np.random.default_rng(5)
FRAME = pd.DataFrame({name: RNG.integers(0, size, 60) for name, size in (("a", 2), ("b", 3), ("c", 2))}).astype(str)
FRAME["d"] = np.where(RNG.random(60) < 0.8, FRAME["a"], "2")


def counted(frame: pd.DataFrame = FRAME, weight: object = None, **how: str) -> FamilyCounts:
    return FamilyCounts.of(frame, weight, **how)  # type: ignore[arg-type]


def test_counts_are_cross_tables_whatever_the_order_of_the_parents() -> None:
    expected = pd.crosstab([FRAME["d"], FRAME["b"]], FRAME["a"], dropna=False).to_numpy()
    assert (counted().counts("a", ("d", "b")) == expected).all()
    assert counted().counts("b").tolist() == [[float(n) for n in FRAME["b"].value_counts().sort_index()]]
    with pytest.raises(ParameterError, match="no column 'x'; the columns are 'a', 'b', 'c', 'd'"):
        counted().counts("x")


def test_rows_alike_are_one_row_with_their_weight() -> None:
    counts = counted()
    assert counts.n == 60 and counts.n_distinct == len(FRAME.drop_duplicates())
    twice = counted(pd.concat([FRAME, FRAME]))
    heavy = counted(weight=np.full(60, 2.0))
    assert (twice.table("abcd") == heavy.table("abcd")).all() and twice.n == heavy.n == 120


def test_a_weight_of_zero_takes_a_row_away() -> None:
    weight = np.r_[np.zeros(10), np.full(50, 0.5)]
    assert (counted(weight=weight).table("ab") == 0.5 * counted(FRAME[10:]).table("ab")).all()


def test_missing_cells_are_refused_or_their_rows_left_out() -> None:
    holes = FRAME.copy()
    holes.loc[3, "b"] = None
    with pytest.raises(TableError, match=r"column 'b' has a missing cell in row 4.*by EM, which keeps every row"):
        counted(holes)
    counts = counted(holes, missing="complete")
    assert counts.left_out == 1
    assert (counts.table("abcd") == counted(FRAME.drop(3)).table("abcd")).all()
    with pytest.raises(TableError, match=r"no row is complete.*'b' first"):
        counted(FRAME.assign(b=pd.Series([None] * 60, dtype=object)).astype({"b": pd.CategoricalDtype(["0", "1"])}),
                missing="complete")  # fmt: skip
    with pytest.raises(ParameterError, match="'error', 'complete'"):
        counted(missing="drop")


def test_numbers_are_to_be_discretized_first() -> None:
    with pytest.raises(TableError, match="column 'x' has no levels to count; discretize it"):
        counted(FRAME.assign(x=1.5))


def test_a_level_without_rows_costs_all_the_same() -> None:
    schema = Schema((Variable("a", "categorical", ("0", "1", "2"), declared=True),))
    assert Scorer(FamilyCounts(encode(FRAME[["a"]], schema))).family("a").free == 2


@pytest.mark.parametrize("score", SCORES)
def test_a_bill_adds_up(score: ScoreName) -> None:
    graph = DAG("abcd", [("a", "b"), ("a", "d"), ("b", "d")])
    found = decomposed_score(counted(), graph, score)
    assert found.score == pytest.approx(found.log_likelihood - found.penalty, abs=1e-9)
    assert found.free == 1 + 4 + 1 + 12
    price = {"aic": 1.0, "bic": 0.5 * math.log(60), "mdl": 0.5 * math.log(60), "log-likelihood": 0.0}.get(score)
    if price is not None:
        assert found.penalty == pytest.approx(price * found.free)
    assert found.by_child["d"].parents == ("a", "b")


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("move", [Move("add", "c", "b"), Move("delete", "a", "d"), Move("reverse", "b", "d")])
def test_the_bill_of_a_change_is_the_difference_of_two_bills(score: ScoreName, move: Move) -> None:
    counts, graph = counted(), DAG("abcd", [("a", "b"), ("a", "d"), ("b", "d")])
    change = score_change(counts, graph, move, score)
    assert change.delta == pytest.approx(
        decomposed_score(counts, change.graph, score).score - decomposed_score(counts, graph, score).score
    )
    assert len(change.families) == (2 if move.operation == "reverse" else 1)


def test_moves_that_cannot_be_made_say_why() -> None:
    graph = DAG("abc", [("a", "b"), ("b", "c")])
    with pytest.raises(ParameterError, match="a → b is already in the graph"):
        score_change(counted(), graph, Move("add", "a", "b"))
    with pytest.raises(ParameterError, match="a → c is not in the graph"):
        score_change(counted(), graph, Move("delete", "a", "c"))
    with pytest.raises(ParameterError, match="close a cycle: a → b → c → a"):
        score_change(counted(), graph, Move("add", "c", "a"))


@pytest.mark.slow
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("weight", [None, "whole", "broken"])
def test_counting_all_further_parents_at_once_gives_the_same_scores(score: ScoreName, weight: str | None) -> None:
    weights = {None: None, "whole": RNG.integers(0, 4, 60), "broken": RNG.random(60)}[weight]
    scorer = Scorer(counted(weight=weights), score)
    for child in range(4):
        for parents in (m for m in range(16) if not m >> child & 1):
            wide = scorer.widened(child, parents)
            for further in range(4):
                if further != child and not parents >> further & 1:
                    assert wide[further] == pytest.approx(scorer.value(child, parents | 1 << further), abs=1e-8)


@pytest.mark.parametrize("score", SCORES)
def test_columns_of_many_levels_are_scored_one_by_one(score: ScoreName, monkeypatch: pytest.MonkeyPatch) -> None:
    together = [Scorer(counted(), score).widened(c, 0) for c in range(4)]
    monkeypatch.setattr(scores, "WIDEST", 10)
    for c, wide in enumerate(together):
        alone = Scorer(counted(), score).widened(c, 0)
        assert np.delete(alone, c) == pytest.approx(np.delete(wide, c), abs=1e-8)


def test_joint_codes_are_those_of_a_table_however_many_there_are() -> None:
    frame = pd.DataFrame({f"x{j:02}": RNG.integers(0, 3, 50) for j in range(35)}).astype(str)
    counts = counted(frame)  # 3 ** 35 is below 2 ** 62; codes of one byte to eight
    for k in (1, 5, 6, 10, 11, 20, 21, 35):
        joint = counts.every(range(k))
        codes = [counts.codes(j).astype(np.int64) for j in range(k)]
        assert joint.size == 3**k
        assert (joint.codes == np.ravel_multi_index(codes, [3] * k)).all()
        cells = counts.cells(range(k))
        assert sorted(cells[cells > 0]) == sorted(frame.iloc[:, :k].value_counts())


def test_bits_and_rows_count_alike() -> None:
    shuffled = (FRAME.sample(frac=1, random_state=k, ignore_index=True).add_suffix(str(k)) for k in range(6))
    wide = pd.concat([FRAME, *shuffled], axis=1)
    counts = counted(wide)
    assert counts.n_distinct == 60  # no row twice: no weights, so bits are counted
    for columns in ((0,), (3,), (1, 2)):
        joint = counts.joint(columns)
        assert (counts._with_bits(joint, counts.weights(joint)) == counts._with_rows(joint)).all()
        table = counts.with_all(joint)
        for j, start in enumerate(counts.starts):
            names = [counts.sorted_names[c] for c in (*columns, j)]
            if j not in columns:
                part = table[:, start : start + counts.levels[j]]
                assert (part == counts.table(names).reshape(joint.size, -1)).all()


def test_scores_by_name_and_size() -> None:
    with pytest.raises(ParameterError, match="score='bde' is none of 'log-likelihood'"):
        Scorer(counted(), "bde")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="equivalent sample size"):
        Scorer(counted(), "bdeu", sample_size=0.0)


def test_the_sign_is_the_books_with_a_minus() -> None:
    """Zhou, eq. 7.28–7.31: s(B|D) = f(θ)|B| − LL(B|D), MDL with f(θ) = ½ log m."""
    counts, graph = counted(), DAG("abcd", [("a", "d")])
    likelihood = decomposed_score(counts, graph, "log-likelihood").score
    assert -decomposed_score(counts, graph, "mdl").score == pytest.approx(
        0.5 * math.log(60) * (1 + 2 + 1 + 4) - likelihood
    )
    assert likelihood < 0


@pytest.mark.parametrize("score", ["mdl", "aic"])
def test_a_parent_that_is_no_candidate_loses(score: ScoreName, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 12, 300)
    data = {"a": a, "b": (a + rng.integers(0, 2, 300)) % 12, "c": a % 3, "d": rng.integers(0, 9, 300)}
    counts = counted(pd.DataFrame(data).map(lambda level: f"v{level:02}"))
    every = Scorer(counts, score)
    families = [(c, mask) for c in range(4) for mask in range(16) if not mask >> c & 1]
    assert sum(every.candidates(c, mask).sum() for c, mask in families) == sum(3 - m.bit_count() for _, m in families)
    monkeypatch.setattr(scores, "LARGE", 0)
    out = [(c, m, j) for c, m in families for j in np.flatnonzero(~every.candidates(c, m)) if j != c and not m >> j & 1]
    assert len(out) > 8
    assert all(every.value(c, mask | 1 << int(j)) < every.value(c, mask) for c, mask, j in out)
    assert Scorer(counts, "k2").candidates(0, 2).tolist() == [False, False, True, True]


@pytest.mark.parametrize("score", ["mdl", "k2"])
def test_a_family_of_more_cells_than_an_integer_holds_has_candidates(score: ScoreName) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (30, 70))
    counts = counted(pd.DataFrame(rows, columns=[f"x{j:02}" for j in range(70)]).map(lambda level: f"v{level}"))
    there = Scorer(counts, score).candidates(0, 2**68 - 2)
    assert not there[:68].any() and there[68:].tolist() == [score == "k2"] * 2
