"""Brute force: the semi-naive models from the rows by plain loops, hidden cells by writing out every completion."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import AODE, SPODE, TAN, KDependence
from bayes_engine.models.semi_naive import SemiNaive
from tests.conftest import crossed

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
CLASSES = ["no", "yes"]
NAMES = ["colour", "sound", "navel", "root", "sugar"]
TEXT = NAMES[:4]
Cells = Mapping[str, Any]


def table(seed: int, hole: float) -> tuple[pd.DataFrame, list[str]]:
    """Twenty-four melons whose text columns depend on each other and on the class, and one column of numbers."""
    rng = np.random.default_rng(seed)
    y = rng.choice(CLASSES, 24).tolist()
    colour = rng.choice(["green", "dark", "pale"], 24)
    sound = np.where(rng.random(24) < 0.7, np.where(colour == "green", "dull", "crisp"), "clear")
    navel = np.where(rng.random(24) < 0.7, sound, np.where(np.array(y) == "yes", "dull", "flat"))
    root = np.where(rng.random(24) < 0.6, navel, colour)
    X = pd.DataFrame({"colour": colour, "sound": sound, "navel": navel, "root": root})
    X["sugar"] = rng.normal(0.4, 0.1, 24) + 0.3 * (colour == "green")
    return X.mask(rng.random(X.shape) < hole), y


def known(value: Any) -> bool:
    return value is not None and value == value


def records(X: pd.DataFrame, y: list[str]) -> list[tuple[Cells, str]]:
    """The rows and their classes, with None for a missing cell."""
    rows = ({n: v if known(v) else None for n, v in row.items()} for row in X.to_dict("records"))
    return list(zip(rows, y, strict=True))


class Plain:
    """P(c) and P(x_j|c, pa) of a structure, counted row by row; a missing cell is a level where `level` says so."""

    def __init__(self, X: pd.DataFrame, y: list[str], parents: Mapping[str, Iterable[str]], alpha: float, level: bool):
        self.rows = records(X, y)
        self.parents = {n: tuple(parents.get(n, ())) for n in X.columns}
        self.alpha, self.level = alpha, level
        self.terms: dict[tuple[Any, ...], float] = {}
        self.levels = {n: sorted({r[n] for r, _ in self.rows} - {None}) for n in TEXT if n in X.columns}
        for n, values in self.levels.items():
            if level and any(r[n] is None for r, _ in self.rows):
                values.append(None)

    def there(self, row: Cells, names: Iterable[str]) -> bool:
        return all(row[n] is not None or (n in self.levels and None in self.levels[n]) for n in names)

    def term(self, name: str, cells: Cells, c: str) -> float:
        """P(x_j = its value | c, the parents' values), counted once."""
        asked = (name, c, cells[name], *(cells[p] for p in self.parents[name]))
        if asked not in self.terms:
            self.terms[asked] = self.counted(name, cells, c)
        return self.terms[asked]

    def counted(self, name: str, cells: Cells, c: str) -> float:
        above = self.parents[name]
        cell = [
            r for r, k in self.rows if k == c and self.there(r, (*above, name)) and all(r[p] == cells[p] for p in above)
        ]
        if name in self.levels:
            count, total, a = sum(r[name] == cells[name] for r in cell), len(cell), self.alpha
            a = 1.0 if a == 0 and total == 0 else a
            return (count + a) / (total + a * len(self.levels[name]))
        of_class = [r[name] for r, k in self.rows if k == c and r[name] is not None]
        mean, variance = moments(of_class)
        x = [r[name] for r in cell]
        if above and x and self.alpha > 0:  # α imagined rows with the class's mean and variance
            n, (own, spread) = len(x), moments(x)
            middle = (n * own + self.alpha * mean) / (n + self.alpha)
            variance = (n * (spread + (own - middle) ** 2) + self.alpha * (variance + (mean - middle) ** 2)) / (
                n + self.alpha
            )
            mean = middle
        elif above and len(x) > 1:
            mean, variance = moments(x)
        return math.exp(-((cells[name] - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)

    def joint(self, cells: Cells, c: str) -> float:
        """p(c, x) of a row without a hidden cell, but for numbers: nothing hangs on them."""
        p = sum(k == c for _, k in self.rows) / len(self.rows)
        return p * math.prod(self.term(n, cells, c) for n in self.parents if n in self.levels or n in cells)

    def fixed(self, cells: Cells, given: Iterable[str]) -> Cells:
        """What is known; a value never seen is not."""
        asked = {n: cells[n] if known(cells[n]) else None for n in given}
        return {n: v for n, v in asked.items() if (v in self.levels[n] if n in self.levels else v is not None)}

    def completions(self, cells: Cells, given: Iterable[str]) -> Iterator[Cells]:
        """Every way to fill in what is not known."""
        there = self.fixed(cells, given)
        free = [n for n in self.levels if n not in there]
        for values in itertools.product(*(self.levels[n] for n in free)):
            yield {**there, **dict(zip(free, values, strict=True))}


def needed(plain: Plain, fixed: Cells) -> set[str]:
    """The columns that are known, and those that something known hangs on."""
    found = set(fixed)
    while more := {p for n in found for p in plain.parents[n]} - found:
        found |= more
    return found


def moments(x: list[float]) -> tuple[float, float]:
    mean = sum(x) / len(x)
    return mean, sum((v - mean) ** 2 for v in x) / len(x)


def structure(model: Any) -> dict[str, tuple[str, ...]]:
    return {f.variable.name: tuple(d.variable.name for d in f.parents) for f in model.factor_.families}


MODELS: dict[str, SemiNaive] = {
    "TAN": TAN(discretize=None),
    "TAN from a leaf": TAN("root", discretize=None, alpha=0.5),
    "SPODE": SPODE("navel", discretize=None),
    "SPODE without smoothing": SPODE("sound", discretize=None, alpha=0),
    "two parents": KDependence(2, discretize=None),
    "three parents": KDependence(3, discretize=None, alpha=0.5),
    "two parents, missing is a level": KDependence(2, discretize=None, missing="category"),
    "TAN, missing is a level": TAN(discretize=None, missing="category"),
}


@pytest.mark.parametrize(
    ("name", "given"),
    crossed(sorted(MODELS), [NAMES, ["sound", "sugar"], ["root"], ["colour", "navel"], ["sugar"]]),
)
def test_hidden_cells_are_summed_out(name: str, given: list[str]) -> None:
    """p(c, x_known) is the sum of the joint over all completions h; its ledger rows are E[log φ] and H(h | x, c)."""
    X, y = table(len(name), hole=0.12)
    model: Any = MODELS[name].fit(X, y)
    plain = Plain(X, y, structure(model), model.alpha, model.missing == "category")
    asked = table(99, hole=0.35)[0][:8]
    ledger = model.explain(asked, given=given)
    if given == NAMES and model.missing == "marginalize":
        np.testing.assert_allclose(model.predict_joint_log_proba(asked), ledger.joint(), rtol=1e-10)
    for i, row in enumerate(asked.to_dict("records")):
        for k, c in enumerate(CLASSES):
            whole = {tuple(h.items()): plain.joint(h, c) for h in plain.completions(row, given)}
            total = sum(whole.values())
            assert math.exp(ledger.joint()[i, k]) == pytest.approx(total, rel=1e-10)
            if total == 0:
                continue
            weigh = [(p / total, dict(h)) for h, p in whole.items() if p > 0]
            met = needed(plain, plain.fixed(row, given))
            for entry, term in ledger.rows:
                if entry.child in plain.parents:
                    want = 0.0
                    if entry.child in met:
                        want = sum(q * math.log(plain.term(entry.child, h, c)) for q, h in weigh)
                    assert term[i, k] == pytest.approx(want, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_entropy_row_is_the_entropy_of_the_cells_that_something_hangs_on(name: str) -> None:
    X, y = table(3, hole=0.0)
    model: Any = MODELS[name].fit(X, y)
    graph = structure(model)
    plain = Plain(X, y, graph, model.alpha, level=False)
    hidden = next(p for n in NAMES for p in graph[n])  # somebody's parent
    ledger = model.explain(X[:6], given=[n for n in NAMES if n != hidden])
    entropy = next(term for row, term in ledger.rows if row.kind == "entropy")
    for i, row in enumerate(X[:6].to_dict("records")):
        for k, c in enumerate(CLASSES):
            p = [plain.joint({**row, hidden: v}, c) for v in plain.levels[hidden]]
            q = [v / sum(p) for v in p if v > 0] if sum(p) else []
            want = -sum(v * math.log(v) for v in q) if q else -math.inf
            assert entropy[i, k] == pytest.approx(want, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_chain_of_unknown_parents(seed: int) -> None:
    """Only the last of a chain and the number on its end are known."""
    X, y = table(seed, hole=0.0)
    chain = {"sound": ("colour",), "navel": ("sound",), "root": ("navel",), "sugar": ("root",)}
    model = TAN(discretize=None).fit(X, y)
    factor = model._directed(model.stats_, chain)
    plain = Plain(X, y, chain, 1.0, level=False)
    for given in (["sugar"], ["root"], ["colour", "sugar"]):
        row = X.iloc[[seed]].assign(**{n: None if n in TEXT else np.nan for n in NAMES if n not in given})
        joint = factor.log(model._encode(row))[0]
        for k, c in enumerate(CLASSES):
            want = sum(plain.joint(h, c) for h in plain.completions(row.iloc[0].to_dict(), given))
            assert math.exp(joint[k]) == pytest.approx(want, rel=1e-10)


# AODE -----------------------------------------------------------------------------------------------------------------


def averaged(X: pd.DataFrame, y: list[str], row: Cells, alpha: float, least: float, classes: list[str]) -> list[float]:
    """p(c, x) as Weka computes it: super-parents and children that are missing are passed over, n(x_i) and n(c, x_i)
    being the rows where the columns in question are known; with none left, naive Bayes
    over a class prior smoothed in the same way."""
    rows = records(X, y)
    levels = {n: len({r[n] for r, _ in rows} - {None}) for n in X.columns}
    there = [n for n in X.columns if known(row[n])]
    able = [n for n in there if sum(r[n] == row[n] for r, _ in rows) >= least]
    found = []
    for c in classes:
        total = 0.0
        for i in able:
            n_known = sum(r[i] is not None for r, _ in rows)
            both = sum(k == c and r[i] == row[i] for r, k in rows)
            p = (both + alpha) / (n_known + alpha * len(classes) * levels[i])
            for j in there:
                if j != i:
                    cell = [r[j] for r, k in rows if k == c and r[i] == row[i] and r[j] is not None]
                    p *= (cell.count(row[j]) + alpha) / (len(cell) + alpha * levels[j])
            total += p / len(able)
        if not able:
            total = (sum(k == c for _, k in rows) + alpha) / (len(rows) + alpha * len(classes))
            for j in there:
                cell = [r[j] for r, k in rows if k == c and r[j] is not None]
                total *= (cell.count(row[j]) + alpha) / (len(cell) + alpha * levels[j])
        found.append(total)
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("alpha", "least"), [(1.0, 0), (1.0, 1), (0.5, 6), (2.0, 11), (1.0, 1000)])
def test_aode_with_missing_super_parents_and_children(seed: int, alpha: float, least: float) -> None:
    X, y = table(seed, hole=0.25)
    X = X[TEXT]
    model = AODE(alpha=alpha, min_frequency=least).fit(X, y)
    asked = pd.concat([X[:8], pd.DataFrame([dict.fromkeys(TEXT)])], ignore_index=True)
    found = np.exp(model.predict_joint_log_proba(asked))
    for i, row in enumerate(asked.to_dict("records")):
        np.testing.assert_allclose(found[i], averaged(X, y, row, alpha, least, CLASSES), rtol=1e-12)


def test_aode_smoothed_jointly_has_one_margin_for_all_tables() -> None:
    """Σ_xj P(c, x_i) P(x_j|c, x_i) P(c)-wise: from either side of a pair the smoothed joint table is the same."""
    X, y = table(5, hole=0.0)
    model = AODE(smoothing="joint", alpha=2.0).fit(X[TEXT], y)
    factor: Any = model.factor_
    a, b = factor.members[0], factor.members[1]
    for c in range(2):
        for s, t in itertools.product(range(a.domain.size), range(b.domain.size)):
            sides = []
            for member, own, place, other in ((a, s, t, b), (b, t, s, a)):
                child = next(f for f in member.families if f.variable.name == other.name)
                first = (member.counts[c, own] + member.alpha) / (24 + 2 * 2.0)
                sides.append(first * math.exp(child.log_cpt[c, own, place]))
            assert sides[0] == pytest.approx(sides[1], rel=1e-12)
