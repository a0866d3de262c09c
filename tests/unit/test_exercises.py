"""Drawn exercises: every number against one computed elsewhere, and every known mistake named."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import mutual_info_score
from sklearn.naive_bayes import CategoricalNB

from bayes_engine.datasets import load_dataset
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import TableError
from bayes_engine.table.roles import take_apart
from bayes_engine.workbench.derivation.factor_names import AS_IN_FILE
from bayes_engine.workbench.derivation.least_rows import rows_needed
from bayes_engine.workbench.exercises import em_step, expected_losses, fisher_direction, gibbs_update, spanning_tree
from bayes_engine.workbench.exercises.factor_products import OLDER, OWN_INCLUDED, PARENTS_ONLY
from bayes_engine.workbench.exercises.kinds import KINDS
from bayes_engine.workbench.exercises.sheet import Blank, Choice, Drawn, ExerciseSheet
from pages.runtime import view_keys as keys

SEEDS = range(1, 9)


def drawn(kind: str, seed: int, table: str = "watermelon3") -> ExerciseSheet:
    data = load_dataset(table)
    return KINDS[kind](Drawn(take_apart(data.frame, data.schema), AS_IN_FILE, seed))


def test_one_sheet_of_each_kind_is_right_by_its_key() -> None:
    for kind in KINDS:
        for step in drawn(kind, 1).asked:
            assert step.check(str(step.right) if isinstance(step, Choice) else f"{step.right:.4g}").mark == "right"


def numbers(sheet: ExerciseSheet) -> dict[str, float]:
    return {step.key: step.right for step in sheet.asked if isinstance(step, Blank)}


def frame(sheet: ExerciseSheet, place: int = 0) -> pd.DataFrame:
    return sheet.tables[place][1]


def note(sheet: ExerciseSheet, key: str, value: float) -> str:
    """What is said of a number that is filled in."""
    step = next(s for s in sheet.asked if s.key == key)
    return str(step.check(f"{value:.6g}").note)


def test_the_kinds_are_those_of_the_page() -> None:
    assert tuple(KINDS) == keys.SHEET.options


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_number_is_one_sheet_and_its_key_is_right(kind: str) -> None:
    sheets = [drawn(kind, seed) for seed in SEEDS]
    assert [numbers(s) for s in sheets] == [numbers(drawn(kind, seed)) for seed in SEEDS]
    assert len({tuple(numbers(s).values()) for s in sheets}) == len(sheets)
    for sheet in sheets:
        assert len({step.key for step in sheet.asked}) == len(sheet.asked)
        for step in sheet.asked:
            text = str(step.right) if isinstance(step, Choice) else f"{step.right:.4g}"
            assert step.check(text).mark == "right" and step.check("").mark == "blank"


@pytest.mark.slow
def test_naive_bayes_is_that_of_scikit_learn() -> None:
    for seed in SEEDS:
        sheet = drawn("naive-bayes", seed)
        rows, case = frame(sheet), frame(sheet, 1)
        X, y = rows.iloc[:, :-1], rows.iloc[:, -1]
        levels = {name: sorted(load_dataset("watermelon3").schema[name].levels) for name in X}
        codes = pd.DataFrame({n: [levels[n].index(v) for v in X[n]] for n in X})
        at = [[levels[n].index(case[n].iloc[0]) for n in X]]
        prior = np.array([(y == c).sum() + 1 for c in sorted(set(y))]) / (len(y) + 2)
        sizes = [len(levels[n]) for n in X]
        theirs = CategoricalNB(alpha=1.0, class_prior=prior, min_categories=sizes).fit(codes.to_numpy(), y)
        expected = dict(zip(theirs.classes_, theirs.predict_proba(at)[0], strict=True))
        asked = {str(s.prompt): s.right for s in sheet.asked if isinstance(s, Blank)}
        for label, p in expected.items():
            assert asked[f"P({label} | x)"] == pytest.approx(p, rel=1e-12)


def counted_joint(rows: pd.DataFrame, case: pd.Series, label: str, sizes: dict[str, int], parent: str) -> float:
    """P(c, x_i) Π P(x_j | c, x_i) with Laplace's correction, counted with pandas alone."""
    of = rows[rows.iloc[:, -1] == label]
    held = of[of[parent] == case[parent]]
    joint = (len(held) + 1) / (len(rows) + rows.iloc[:, -1].nunique() * sizes[parent])
    for name in rows.columns[:-1]:
        if name != parent:
            joint *= ((held[name] == case[name]).sum() + 1) / (len(held) + sizes[name])
    return float(joint)


@pytest.mark.slow
def test_aode_is_the_mean_of_what_is_counted_and_the_misprints_are_named() -> None:
    named = set()
    for seed in SEEDS:
        sheet = drawn("aode", seed)
        rows, case = frame(sheet), frame(sheet, 1).iloc[0]
        sizes = {n: len(load_dataset("watermelon3").schema[n].levels) for n in rows.columns[:-1]}
        asked = {(i, str(s.prompt)): s for i, part in enumerate(sheet.parts) for s in part.asked}
        parents = [str(part.title).removeprefix("Under the super-parent ") for part in sheet.parts[:-1]]
        for label in set(rows.iloc[:, -1]):
            joints = [counted_joint(rows, case, label, sizes, parent) for parent in parents]
            for i, joint in enumerate(joints):
                assert asked[i, f"P({label}, x)"].right == pytest.approx(joint, rel=1e-12)
            mean = asked[len(parents), f"P({label}, x)"]
            assert mean.right == pytest.approx(np.mean(joints), rel=1e-12)
            named.add(str(mean.check(f"{sum(joints):.6g}").note))
            older = [
                j * (len(rows) + 2 * sizes[p]) / (len(rows) + sizes[p]) for j, p in zip(joints, parents, strict=True)
            ]
            named.add(str(mean.check(f"{np.mean(older):.6g}").note))
            of = rows[rows.iloc[:, -1] == label]
            held = [(of[p] == case[p]).sum() for p in parents]
            own = [j * (n + 1) / (n + sizes[p]) for j, n, p in zip(joints, held, parents, strict=True)]
            named.add(str(mean.check(f"{np.mean(own):.6g}").note))
    assert {str(PARENTS_ONLY), str(OLDER), str(OWN_INCLUDED)} <= named


@pytest.mark.slow
def test_spode_multiplies_what_is_counted_under_its_super_parent() -> None:
    for seed in SEEDS:
        sheet = drawn("spode", seed)
        rows, case = frame(sheet), frame(sheet, 1).iloc[0]
        parent = str(sheet.task).split(" with ")[1].split(" as ")[0]
        sizes = {n: len(load_dataset("watermelon3").schema[n].levels) for n in rows.columns[:-1]}
        for step in sheet.parts[1].asked[:2]:
            label = str(step.prompt).removeprefix("P(").removesuffix(", x)")
            of = rows[rows.iloc[:, -1] == label]
            held = of[of[parent] == case[parent]]
            joint = (len(of) + 1) / (len(rows) + 2)
            joint *= (len(held) + 1) / (len(of) + sizes[parent])
            for name in rows.columns[:-1]:
                if name != parent:
                    joint *= ((held[name] == case[name]).sum() + 1) / (len(held) + sizes[name])
            assert step.right == pytest.approx(joint, rel=1e-12)


@pytest.mark.slow
def test_the_tree_is_of_the_information_that_scikit_learn_gives() -> None:
    for seed, table in product(SEEDS, ("watermelon3", "play-tennis")):
        sheet = drawn("tree", seed, table)
        rows = frame(sheet)
        y = rows.iloc[:, -1]
        weights = []
        for part in sheet.parts[:-1]:
            a, b = str(part.title).removeprefix("The pair ").split(", ")
            within = {c: mutual_info_score(g[a], g[b]) / np.log(2) for c, g in rows.groupby(y.to_numpy())}
            *of_class, whole = part.asked
            for step in of_class:
                label = str(step.prompt).removeprefix("Within ").removesuffix(", in bits")
                assert step.right == pytest.approx(within[label], abs=1e-12)
            shares = y.value_counts() / len(y)
            weights.append(sum(within[c] * shares[c] for c in within))
            assert whole.right == pytest.approx(weights[-1], abs=1e-12)
            unweighted = sum(within.values())
            if abs(unweighted - weights[-1]) > 0.01 and f"{unweighted:.2g}" != f"{unweighted:.6g}":
                assert note(sheet, whole.key, unweighted) == str(spanning_tree.NO_CLASS_WEIGHT)
            assert note(sheet, whole.key, weights[-1] * np.log(2)) != "None" or weights[-1] < 1e-9
        out = sheet.parts[-1].asked[0]
        assert isinstance(out, Choice) and out.right == int(np.argmin(weights))
        heaviest = int(np.argmax(weights))
        if weights[heaviest] > sorted(weights)[-2] + 1e-9:
            assert out.check(str(heaviest)).note == spanning_tree.HEAVIEST


@pytest.mark.slow
def test_the_decision_has_the_least_expected_loss_and_flips_where_said() -> None:
    for seed, table in product(SEEDS, ("watermelon3", "iris")):
        sheet = drawn("losses", seed, table)
        given, losses, right = frame(sheet), frame(sheet, 1), numbers(sheet)
        joint = (given.iloc[:, 0] * given.iloc[:, 1]).to_numpy()
        posterior = joint / joint.sum()
        risks = losses.to_numpy() @ posterior
        for k, p in enumerate(posterior):
            assert right[f"p{k}"] == pytest.approx(p)
        for i, risk in enumerate(risks):
            assert right[f"r{i}"] == pytest.approx(risk)
        decided = int(risks.argmin())
        choice = next(s for s in sheet.asked if isinstance(s, Choice))
        assert choice.right == decided
        flip = next(s for s in sheet.asked if s.key == "flip")
        action, truth = str(flip.prompt).removeprefix("λ(").split(")")[0].split(", ")
        for step, same in ((-1e-6, True), (1e-6, False)):
            changed = losses.astype(float)
            changed.loc[action, truth] = flip.right + step
            assert (int((changed.to_numpy() @ posterior).argmin()) == decided) is same
        turned = losses.to_numpy()[: len(posterior)].T @ posterior
        for i, risk in enumerate(turned):
            if abs(risk - risks[i]) > 0.05 and abs(risk - round(risk, 2)) > 1e-4:
                assert note(sheet, f"r{i}", risk) in (str(expected_losses.INVERTED), str(expected_losses.NO_PRIOR))


def test_a_step_of_em_is_that_of_the_definition() -> None:
    for seed, table in product(SEEDS, ("watermelon3", "play-tennis")):
        sheet = drawn("em", seed, table)
        x, start, right = frame(sheet).iloc[0].to_numpy(), frame(sheet, 1), numbers(sheet)
        density = norm.pdf(x[:, None], start["μ"].to_numpy(), start["σ"].to_numpy()) * start["π"].to_numpy()
        gamma = density[:, 0] / density.sum(axis=1)
        mean = np.average(x, weights=gamma)
        expected = {f"g{i}": g for i, g in enumerate(gamma)}
        expected |= {"n": gamma.sum(), "pi": gamma.mean(), "mu": mean, "s2": np.average((x - mean) ** 2, weights=gamma)}
        assert right == pytest.approx(expected)
        hard = x[gamma > 0.5].mean()
        if abs(hard - mean) > 0.1 * abs(mean):
            assert note(sheet, "mu", hard) == str(em_step.HARD)


def test_a_gibbs_update_is_the_conditional_of_the_joint() -> None:
    for seed in SEEDS:
        sheet = drawn("gibbs", seed)
        tables = [t for _title, t in sheet.tables]
        state = dict(zip("ABCD", (int(c) for c in str(sheet.parts[0].title) if c.isdigit()), strict=True))

        def joint(values: dict[str, int], tables: list[pd.DataFrame] = tables) -> float:
            p = 1.0
            for name, table in zip("ABCD", tables, strict=True):
                row = table
                for parent in table.columns[:-2]:
                    row = row[row[parent] == values[parent]]
                p *= float(row[f"{name} = {values[name]}"].iloc[0])
            return p

        for key, part in zip("ab", sheet.parts, strict=True):
            node = str(part.asked[-1].prompt)[2]
            if key == "b":
                before, value = str(part.title).removeprefix("The draw gives ").split(".")[0].split(" = ")
                state[before] = int(value)
            each = [joint(state | {node: v}) for v in (0, 1)]
            right = numbers(sheet)
            assert right[f"{key}p"] == pytest.approx(each[1] / sum(each))
            assert right[f"{key}1"] / right[f"{key}0"] == pytest.approx(each[1] / each[0])
            if abs(right[f"{key}1"] - right[f"{key}p"]) > 0.02:
                assert note(sheet, f"{key}p", right[f"{key}1"]) != "None"


@pytest.mark.slow
def test_fishers_direction_is_that_of_scikit_learn() -> None:
    for seed, table in product(SEEDS, ("watermelon3", "iris", "play-tennis")):
        sheet = drawn("fisher", seed, table)
        rows, right = frame(sheet), numbers(sheet)
        X, y = rows.iloc[:, 1:].to_numpy(dtype=float), rows.iloc[:, 0].to_numpy()
        w = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y).coef_[0]
        assert right["w"] == pytest.approx(w[1] / w[0], rel=1e-6)
        of = [X[y == label] for label in dict.fromkeys(y)]
        scatter = sum((len(g) - 1) * np.cov(g.T) for g in of)
        assert [right["s11"], right["s12"], right["s22"]] == pytest.approx(
            [scatter[0, 0], scatter[0, 1], scatter[1, 1]]
        )
        plain = of[0].mean(axis=0) - of[1].mean(axis=0)
        if plain[0] and abs(plain[1] / plain[0] - right["w"]) > 0.05 * abs(right["w"]):
            assert note(sheet, "w", plain[1] / plain[0]) in (
                str(fisher_direction.NO_INVERSE),
                str(fisher_direction.SIGN),
            )
        total = X - X.mean(axis=0)
        if abs((s := float(total[:, 0] @ total[:, 0])) - right["s11"]) > 0.02 * s:
            assert note(sheet, "s11", s) == str(fisher_direction.TOTAL)


@pytest.mark.slow
def test_the_childrens_tables_left_out_is_named() -> None:
    named = set()
    for seed in range(1, 30):
        sheet = drawn("gibbs", seed)
        for table, name in zip((t for _title, t in sheet.tables), "ABCD", strict=True):
            for part in sheet.parts:
                if str(part.asked[-1].prompt)[2] == name:
                    for p in table[f"{name} = 1"]:
                        named.add(str(part.asked[-1].check(f"{p:.3g}").note))
    assert str(gibbs_update.NO_CHILDREN) in named


@pytest.mark.parametrize("kind", ["naive-bayes", "spode", "aode", "tree"])
def test_a_table_without_levels_is_refused_in_words(kind: str) -> None:
    with pytest.raises(TableError, match="columns"):
        drawn(kind, 1, "iris")


def test_the_rows_needed_are_those_of_the_best_and_the_worst_order() -> None:
    """Every order of rows that still help, for few of them."""
    for each, columns, levels in ((1, 2, 2), (2, 2, 2), (1, 3, 2), (1, 2, 3), (2, 1, 3)):
        start = tuple([each] * (columns * levels))
        lengths = rows_until_full(start, columns, levels)
        needed = rows_needed(each, columns, levels, 1)
        assert (min(lengths), max(lengths)) == (needed.best, needed.worst)


def rows_until_full(left: tuple[int, ...], columns: int, levels: int) -> set[int]:
    """How many rows of one class it can take until no value of a column is wanted any more."""
    known: dict[tuple[int, ...], set[int]] = {tuple([0] * len(left)): {0}}

    def lengths(now: tuple[int, ...]) -> set[int]:
        if now not in known:
            found: set[int] = set()
            for row in product(range(levels), repeat=columns):
                cells = [j * levels + v for j, v in enumerate(row)]
                after = tuple(max(n - (i in cells), 0) for i, n in enumerate(now))
                if after != now:
                    found |= {1 + more for more in lengths(after)}
            known[now] = found
        return known[now]

    return lengths(left)


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3])
def test_losses_that_are_drawn_last_always_have_a_flip_margin(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    classes = tuple("abc"[:k])
    for seed in range(3000):
        prior, density, loss = expected_losses._surely(np.random.default_rng(seed), classes, "refuse")
        posterior = prior * density / (prior @ density)
        risk = loss.table @ posterior
        decided = int(risk.argmin())
        truth = expected_losses._flipping(loss, posterior, decided)
        assert decided == posterior.argmax() and truth is not None
        raised = loss.table.copy()
        for more, stays in ((-1e-6, True), (1e-6, False)):  # the least other risk is reached just there
            rest = np.delete(risk, decided).min()
            others = np.delete(loss.table[decided], truth) @ np.delete(posterior, truth)
            raised[decided, truth] = (rest - others) / posterior[truth] + more
            assert bool((raised @ posterior).argmin() == decided) is stays and raised[decided, truth] < 60
    monkeypatch.setattr(expected_losses, "_numbers", _none_flips)
    sheet = drawn("losses", 1)  # and a sheet is drawn even where no other draw would do
    assert all(np.isfinite(step.right) for step in sheet.asked if isinstance(step, Blank))


def _none_flips(_rng: np.random.Generator, classes: tuple[str, ...], refuse: str) -> tuple:
    """Numbers under which one refuses."""
    k = len(classes)
    losses = LossMatrix(classes, classes, 12.0 - 12.0 * np.eye(k)).with_refusal(0.001, refuse)
    return np.full(k, 1 / k), np.full(k, 0.5), losses


@pytest.mark.parametrize("k", [2, 3])
def test_losses_that_are_drawn_last_have_a_flip_margin_by_default_too(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the three thousand draws above a few."""
    for seed in range(5):
        prior, density, loss = expected_losses._surely(np.random.default_rng(seed), tuple("abc"[:k]), "refuse")
        posterior = prior * density / (prior @ density)
        risk = loss.table @ posterior
        assert risk.argmin() == posterior.argmax() and risk[-1] == pytest.approx(1.0) and risk.min() < 2 / 3
    monkeypatch.setattr(expected_losses, "_numbers", _none_flips)
    assert (
        expected_losses._flipping(_none_flips(np.random.default_rng(), ("a", "b"), "no")[2], np.full(2, 0.5), 2) is None
    )
