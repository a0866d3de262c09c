"""Searches: their traces, constraints, ties, limits."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bayes_engine.errors import ParameterError
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.constraints import Constraints
from bayes_engine.structure.exact_search import exact
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.hill_climbing import ClimbSettings, _Changes, _Climb, hill_climb, k2
from bayes_engine.structure.scores import SCORES, ScoreName, Scorer, decomposed_score
from bayes_engine.structure.search import METHODS, Method, SearchOptions, SearchResult, search
from bayes_engine.structure.search_trace import SearchControl, SearchProgress
from tests.conftest import crossed, slowly


def sampled(n: int = 400, d: int = 7, seed: int = 3) -> pd.DataFrame:
    """Columns that copy one or two before them, with noise."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 3, (n, d))
    for j in range(1, d):
        copied = rng.random(n) < 0.7
        cells[copied, j] = (cells[copied, rng.integers(0, j)] + cells[copied, max(j - 2, 0)]) % 3
    return pd.DataFrame(cells, columns=[f"x{j}" for j in range(d)]).astype(str)


def counted(frame: pd.DataFrame) -> FamilyCounts:
    return FamilyCounts.of(frame)


COUNTS = counted(sampled())
NAMES = COUNTS.names
TWO_CLIMBS = ClimbSettings(tabu=0, perturbations=0)


def whole(found: SearchResult, counts: FamilyCounts = COUNTS, score: ScoreName = "bic") -> None:
    """A trace adds up at every step, and ends in the result."""
    trace = found.trace
    scores = [trace.start_score, *(step.score for step in trace.steps)]
    for k in range(len(trace.steps) + 1):
        assert scores[k] == pytest.approx(decomposed_score(counts, trace.graph_after(k), score).score, abs=1e-6)
    for k, step in enumerate(trace.steps, start=1):
        assert step.delta == pytest.approx(scores[k] - scores[k - 1], abs=1e-6)
        assert step.move.applied(trace.graph_after(k - 1)) == trace.graph_after(k)
        for other in step.runners_up:
            after = decomposed_score(counts, other.move.applied(trace.graph_after(k - 1)), score).score
            assert other.delta == pytest.approx(after - scores[k - 1], abs=1e-6)
    assert trace.graph_after(len(trace.steps)) == found.graph
    assert scores[-1] == pytest.approx(found.score, abs=1e-6)
    assert len(trace.table()) == len(trace.steps)


@pytest.mark.slow
@pytest.mark.parametrize(("score", "tabu"), crossed([s for s in SCORES if s != "log-likelihood"], [0, 10]))
def test_every_step_of_a_climb_is_on_the_bill(score: ScoreName, tabu: int) -> None:
    found = hill_climb(COUNTS, score, settings=ClimbSettings(tabu=tabu, perturbations=0))
    assert found.status == "local optimum" and found.trace.steps
    whole(found, COUNTS, score)


def test_without_tabu_every_step_is_the_best_and_gains_and_no_single_move_is_left() -> None:
    found = hill_climb(COUNTS, settings=TWO_CLIMBS)
    for step in found.trace.steps:
        assert step.delta > 0
        assert all(other.delta <= step.delta + 1e-6 for other in step.runners_up)
    again = hill_climb(COUNTS, start=found.graph, settings=TWO_CLIMBS)
    assert again.trace.steps == () and again.graph == found.graph


def test_tabu_and_restarts_never_end_below_the_plain_climb() -> None:
    plain = hill_climb(COUNTS, settings=TWO_CLIMBS)
    assert hill_climb(COUNTS, settings=ClimbSettings(tabu=20, perturbations=0)).score >= plain.score
    many = hill_climb(COUNTS, settings=replace(TWO_CLIMBS, restarts=8, rng=np.random.default_rng(1)))
    assert len(many.climbs) == 9 and many.score == pytest.approx(max(many.climbs), abs=1e-5)
    same = hill_climb(COUNTS, settings=replace(TWO_CLIMBS, restarts=8, rng=np.random.default_rng(1)))
    assert same.graph == many.graph and same.climbs == many.climbs
    whole(many)


@pytest.mark.slow
@pytest.mark.parametrize("score", [slowly("bic"), "bdeu", slowly("k2")])
def test_the_default_reaches_the_optimum_where_two_climbs_end_far_below(score: ScoreName) -> None:
    counts = counted(sampled(d=8, seed=6))
    two, found = hill_climb(counts, score, settings=TWO_CLIMBS), hill_climb(counts, score)
    assert two.score < found.score - 100
    assert found.score == pytest.approx(exact(counts, score).score, abs=1e-6)
    assert len(found.climbs) == 32 and found.score == pytest.approx(max(found.climbs), abs=1e-5)
    whole(found, counts, score)


@pytest.mark.slow
def test_perturbed_graphs_keep_to_constraints_and_bounds() -> None:
    rules = Constraints(required=(("x5", "x1"),), forbidden=(("x2", "x4"), ("x4", "x2")), max_parents=2)
    found = hill_climb(COUNTS, constraints=rules, settings=ClimbSettings(perturbations=5))
    assert found == hill_climb(COUNTS, constraints=rules, settings=ClimbSettings(perturbations=5))
    rules.admits(found.graph)
    whole(found)
    assert len(hill_climb(COUNTS, settings=ClimbSettings(max_steps=40)).trace.steps) <= 40
    told: list[SearchProgress] = []
    cancelled = hill_climb(COUNTS, control=SearchControl(progress=told.append, cancel=lambda: len(told) > 150))
    assert cancelled.status == "cancelled" and 2 < len(cancelled.climbs) < 32
    assert cancelled.score >= hill_climb(COUNTS, settings=ClimbSettings(perturbations=0)).score - 1e-6


def test_a_perturbed_climb_goes_on_with_the_changes_that_drawing_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    run, stale = _Climb.run, []

    def checked(climb: _Climb, *rest: object) -> None:
        stale.append(len(climb.stale))
        fresh = _Changes(climb.scorer, Constraints())
        for c in set(range(len(NAMES))) - set(climb.stale):
            np.testing.assert_allclose(climb.change[:, c], fresh.of(c, climb.mask(c)), atol=1e-9)
        run(climb, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(_Climb, "run", checked)
    hill_climb(COUNTS, settings=ClimbSettings(restarts=0, tabu=0, perturbations=3))
    assert stale[0] == len(NAMES) and max(stale[1:]) <= 2 and len(stale) == 4


def test_the_climbs_of_a_search_look_at_each_family_once(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, families = Scorer.candidates, list[tuple[int, int]]()

    def looked_at(scorer: Scorer, child: int, parents: int) -> object:
        families.append((child, parents))
        return candidates(scorer, child, parents)

    monkeypatch.setattr(Scorer, "candidates", looked_at)
    hill_climb(COUNTS, settings=ClimbSettings(restarts=1, tabu=0, perturbations=3))
    assert len(families) == len(set(families))


@pytest.mark.parametrize("seed", [0, 1, *map(slowly, range(2, 5))])
@pytest.mark.slow
def test_the_order_of_the_columns_is_never_felt(seed: int) -> None:
    frame = sampled(seed=seed)
    few = ClimbSettings(perturbations=3)
    first = hill_climb(counted(frame), settings=few)
    for order in itertools.islice(itertools.permutations(frame.columns), 0, 5040, 700):
        turned = hill_climb(counted(frame[list(order)]), settings=few)
        assert set(turned.graph.arcs) == set(first.graph.arcs)
        assert turned.score == pytest.approx(first.score, abs=1e-9)
        assert [s.move for s in turned.trace.steps] == [s.move for s in first.trace.steps]


def test_equal_moves_are_told_by_name() -> None:
    same = pd.DataFrame({"b": list("xxyy") * 5, "a": list("xxyy") * 5})
    step = hill_climb(counted(same)).trace.steps[0]
    assert step.move == ("add", "a", "b") and step.ties == 1
    assert step.runners_up[0].move == ("add", "b", "a")
    assert step.runners_up[0].delta == pytest.approx(step.delta)


@pytest.mark.slow
def test_constraints_are_kept_by_every_search() -> None:
    free = exact(COUNTS).graph
    (a, b), (c, d) = free.arcs[0], free.arcs[-1]
    rules = Constraints(required=((b, a),), forbidden=((c, d), (d, c)), max_parents=2)
    order = [b, *(n for n in NAMES if n != b)]
    climbed = hill_climb(COUNTS, constraints=rules, settings=ClimbSettings(restarts=3, perturbations=3))
    for found in (climbed, k2(COUNTS, order, constraints=rules), exact(COUNTS, constraints=rules)):
        rules.admits(found.graph)
        assert (b, a) in found.graph.arcs
        whole(found, COUNTS, found.decomposed_score.name)
    tiers = Constraints(tiers=(NAMES[4:], NAMES[:4]))
    for found in (hill_climb(COUNTS, constraints=tiers), exact(COUNTS, constraints=tiers)):
        tiers.admits(found.graph)
    assert exact(COUNTS, constraints=tiers).score <= exact(COUNTS).score


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (Constraints(required=(("x0", "x1"),), forbidden=(("x0", "x1"),)), "x0 → x1 is both required and forbidden"),
        (Constraints(required=(("x0", "x1"), ("x1", "x2"), ("x2", "x0"))), "required arcs close a cycle: x0 → x1 → x2"),
        (Constraints(required=(("x0", "x2"), ("x1", "x2")), max_parents=1), r"'x2' has 2 required parents \(x0, x1\)"),
        (Constraints(required=(("x0", "x1"),), tiers=(("x1",), ("x0",))), "x0 → x1 leads from tier 2 back to tier 1"),
        (Constraints(tiers=(("x1",), ("x1", "x0"))), "'x1' stands in two tiers"),
        (Constraints(forbidden=(("x0", "q"),)), "name 'q', which is no node"),
        (Constraints(max_parents=-1), "max_parents=-1 is below 0"),
    ],
)
def test_contradictions_are_named(rules: Constraints, words: str) -> None:
    for climb in (hill_climb, exact):
        with pytest.raises(ParameterError, match=words):
            climb(COUNTS, constraints=rules)


def test_a_start_must_keep_to_the_constraints() -> None:
    start = DAG(NAMES, [("x0", "x1"), ("x2", "x1")])
    for rules, words in (
        (Constraints(forbidden=(("x0", "x1"),)), "forbid the arc x0 → x1"),
        (Constraints(max_parents=1), "'x1' has 2 parents in the graph"),
        (Constraints(required=(("x5", "x6"),)), "lacks the required arc x5 → x6"),
    ):
        with pytest.raises(ParameterError, match=words):
            hill_climb(COUNTS, start=start, constraints=rules)
    with pytest.raises(ParameterError, match="other nodes: q"):
        hill_climb(COUNTS, start=DAG([*NAMES, "q"]))
    whole(hill_climb(COUNTS, start=start))


def test_a_budget_and_a_cancel_return_the_best_so_far() -> None:
    assert hill_climb(COUNTS, control=SearchControl(time_budget=0.0)).status == "time"
    calls = iter(range(10_000))
    found = hill_climb(COUNTS, control=SearchControl(cancel=lambda: next(calls) > 12))
    assert found.status == "cancelled" and 0 < len(found.trace.steps) < len(hill_climb(COUNTS).trace.steps)
    whole(found)
    assert hill_climb(COUNTS, settings=ClimbSettings(max_steps=2, tabu=0)).status == "steps"
    assert len(hill_climb(COUNTS, settings=ClimbSettings(max_steps=2, tabu=0)).trace.steps) == 2
    out = exact(COUNTS, control=SearchControl(time_budget=0.0))
    assert out.status == "time" and out.graph == hill_climb(COUNTS, settings=ClimbSettings(perturbations=0)).graph
    assert k2(COUNTS, NAMES, control=SearchControl(time_budget=0.0)).graph.arcs == ()
    with pytest.raises(ParameterError, match="below 0"):
        hill_climb(COUNTS, control=SearchControl(time_budget=-1.0))


@pytest.mark.slow
def test_progress_is_told() -> None:
    told: list[SearchProgress] = []
    found = hill_climb(COUNTS, control=SearchControl(progress=told.append))
    assert [p.done for p in told] == list(range(1, len(told) + 1))
    assert told[-1].score == pytest.approx(found.score, abs=1e-6)
    told.clear()
    k2(COUNTS, NAMES, control=SearchControl(progress=told.append))
    assert told[-1][:2] == (len(NAMES), len(NAMES))
    told.clear()
    exact(COUNTS, control=SearchControl(progress=told.append))
    assert told[-1][:2] == (len(NAMES), len(NAMES))


def test_k2_takes_parents_from_before_only() -> None:
    order = list(reversed(NAMES))
    found = k2(COUNTS, order)
    assert all(order.index(a) < order.index(b) for a, b in found.graph.arcs)
    whole(found, COUNTS, "k2")
    with pytest.raises(ParameterError, match="every node once in its order; see to x6"):
        k2(COUNTS, NAMES[:-1])
    with pytest.raises(ParameterError, match="x1 → x0 leads against the order"):
        k2(COUNTS, NAMES, constraints=Constraints(required=(("x1", "x0"),)))


def test_the_exact_optimum_is_refused_in_words_where_it_costs_too_much() -> None:
    wide = pd.DataFrame({f"x{j:02}": list("ab") * 10 for j in range(19)})
    with pytest.raises(ParameterError, match=r"19 columns asks for tables of 19 · 2\^19 numbers; 18 columns can be"):
        exact(counted(wide))
    rng = np.random.default_rng(0)
    long = pd.DataFrame(rng.integers(0, 2, (9000, 17)), columns=[f"x{j:02}" for j in range(17)]).astype(str)
    with pytest.raises(ParameterError, match=r"131,072 sets of columns over \d,\d+ different rows; max_parents=\d is"):
        exact(counted(long), "bdeu")


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_one_door_for_every_method(method: Method) -> None:
    found = search(
        COUNTS, "mdl", method=method, options=SearchOptions(order=NAMES, target="x0", start=DAG(NAMES, [("x3", "x1")]))
    )
    assert found.method == method and found.decomposed_score.name == "mdl"
    whole(found)


def test_the_door_says_what_is_lacking() -> None:
    for method, name in (("k2", "order"), ("naive", "target"), ("tan", "target"), ("given", "start")):
        with pytest.raises(ParameterError, match=f"method='{method}' needs {name}="):
            search(COUNTS, method=method)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="method='greedy' is none of"):
        search(COUNTS, method="greedy")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="more than max_parents=1"):
        search(COUNTS, method="tan", options=SearchOptions(target="x0", max_parents=1))
    with pytest.raises(ParameterError, match="root 'q'"):
        search(COUNTS, method="tree", options=SearchOptions(root="q"))


def test_chow_and_liu_have_the_best_likelihood_of_all_trees() -> None:
    counts = counted(sampled(d=4))
    tree = decomposed_score(counts, search(counts, method="tree").graph, "log-likelihood").score
    best = exact(counts, "log-likelihood", constraints=Constraints(max_parents=1)).score
    assert tree == pytest.approx(best, abs=1e-6)


@pytest.mark.slow
def test_tables_with_nothing_to_find() -> None:
    """One column, or columns of one level: no arc gains."""
    for frame in (pd.DataFrame({"a": list("xy")}), pd.DataFrame({"a": list("xx"), "b": list("yy")}),
                  pd.DataFrame({"a": list("xyxy"), "b": list("zzzz")})):  # fmt: skip
        counts = counted(frame)
        for method in ("hill-climb", "exact", "k2", "tree"):
            assert search(counts, method=method, options=SearchOptions(order=counts.names)).graph.arcs == ()


@pytest.mark.slow
def test_a_column_of_names_is_no_trouble() -> None:
    """As many levels as rows: a family table of all pairs would hold 4e8 cells."""
    frame = sampled(20_000, 3).assign(id=[f"r{i}" for i in range(20_000)])
    found = hill_climb(counted(frame))
    assert found.graph.parents["id"] == () and found.graph.children["id"] == ()


@pytest.mark.slow
def test_a_scorer_that_is_handed_on_remembers() -> None:
    scorer = Scorer(COUNTS, "bdeu", sample_size=4.0)
    assert hill_climb(COUNTS, scorer).decomposed_score.name == "bdeu"
    assert search(COUNTS, scorer).score == pytest.approx(
        search(COUNTS, "bdeu", options=SearchOptions(sample_size=4.0)).score
    )


@pytest.mark.slow
def test_the_default_budget_grows_with_the_columns() -> None:
    """2 climbs and 30 perturbed ones ended 200 nats below bnlearn's greedy climb on 75 columns."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (30, 17))).astype(str).add_prefix("x")
    assert len(hill_climb(counted(frame)).climbs) == 5 + 34
    assert len(hill_climb(counted(frame.iloc[:, :3])).climbs) == 2 + 30
    assert len(hill_climb(counted(frame), settings=ClimbSettings(restarts=0, perturbations=4)).climbs) == 1 + 4
