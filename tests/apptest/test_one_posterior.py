"""One case has one posterior: Start, Decisions and One case show what a sum over counts says, written here anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayes_engine import load_dataset
from pages.runtime.state import Spec, State
from tests.apptest.opened import opened, sent_to

Case = dict[str, Any]


class Counts:
    """The rows of an embedded table, looked up one by one."""

    def __init__(self, table: str) -> None:
        dataset = load_dataset(table)
        self.frame, self.features = dataset.frame, [*dataset.schema.features]
        self.truth = self.frame[dataset.schema.target.name]  # type: ignore[union-attr]
        self.classes = [c for c in dataset.schema.target.levels if (self.truth == c).any()]  # type: ignore[union-attr]

    def of(self, c: Any, **cells: Any) -> int:
        rows = self.truth == c
        for name, level in cells.items():
            rows &= self.frame[name] == level
        return int(rows.sum())

    def prior(self, *, laplace: bool) -> np.ndarray:
        n = np.array([self.of(c) for c in self.classes], dtype=float) + laplace
        return n / n.sum()


def naive_bayes(rows: Counts, case: Case) -> np.ndarray:
    """α = 1 for levels and classes; a Gaussian with the sample variance for numbers."""
    joint = rows.prior(laplace=True)
    for k, c in enumerate(rows.classes):
        for v in rows.features:
            x = case[v.name]
            if x is None:
                continue
            if v.discrete:
                joint[k] *= (rows.of(c, **{v.name: x}) + 1) / (rows.of(c) + len(v.levels))
            else:
                own = rows.frame[v.name][rows.truth == c]
                joint[k] *= stats.norm.pdf(x, own.mean(), own.std(ddof=1))
    return joint


def aode(rows: Counts, case: Case) -> np.ndarray:
    """α = 1 in both tables; what is not known is neither super-parent nor child (Weka's rule)."""
    known = [v for v in rows.features if case[v.name] is not None]
    joint = np.zeros(len(rows.classes))
    for parent in known:
        at = {parent.name: case[parent.name]}
        for k, c in enumerate(rows.classes):
            p = (rows.of(c, **at) + 1) / (len(rows.truth) + len(rows.classes) * len(parent.levels))
            for v in known:
                if v is not parent:
                    p *= (rows.of(c, **at, **{v.name: case[v.name]}) + 1) / (rows.of(c, **at) + len(v.levels))
            joint[k] += p * bool((rows.frame[parent.name] == at[parent.name]).any())
    return joint


def drawn(rows: Counts, rng: np.random.Generator, missing: float) -> Case:
    """A case of random cells, some of them not known."""
    case: Case = {}
    for v in rows.features:
        if rng.random() < missing:
            case[v.name] = None
        elif v.discrete:
            case[v.name] = v.levels[rng.integers(len(v.levels))]
        else:
            case[v.name] = float(f"{rng.uniform(rows.frame[v.name].min(), rows.frame[v.name].max()):.3g}")
    return case


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "family", "joint"),
    [("watermelon3", "naive-bayes", naive_bayes), ("iris", "naive-bayes", naive_bayes),
     ("play-tennis", "aode", aode), ("watermelon2", "aode", aode)],
)  # fmt: skip
def test_every_page_shows_what_the_counts_say(
    table: str, family: str, joint: Callable[[Counts, Case], np.ndarray]
) -> None:
    rows, rng = Counts(table), np.random.default_rng(20)
    for missing, moved in ((0.0, False), (0.0, True), (0.3, False), (0.3, True)):
        case = drawn(rows, rng, missing)
        posterior, use = joint(rows, case), ()
        if moved:  # each class by how much more frequent it is in use
            use = tuple(np.eye(len(rows.classes))[0] * 0.4 + 0.6 / len(rows.classes))
            posterior = posterior / rows.prior(laplace=True) * use
        posterior = posterior / posterior.sum()
        codes = tuple(
            v.levels.index(case[v.name]) if v.discrete and case[v.name] is not None else case[v.name]
            for v in rows.features
        )
        state = State(table=table, language="en", labels="file", shelf=(Spec("laplace", (), family),), case=codes,
                      prior=tuple(map(float, use)))  # fmt: skip
        for page in ("start", "decisions", "case"):
            app = opened(page, state)
            words = "\n".join(str(m.value) for m in app.main.markdown).replace("\\", "").replace("\u2060", "")
            judged = re.search(r"Judged .*?P\((.+?)\) = ([\d.]+\d)", words)
            assert judged, words
            likeliest = int(posterior.argmax())
            assert judged[1] == str(rows.classes[likeliest])
            assert float(judged[2]) == pytest.approx(posterior[likeliest], abs=0.6 * 10.0 ** -len(judged[2][2:]))
            if page == "decisions":
                assert sent_to(app, "bayes_consequences")["posterior"] == pytest.approx(posterior.tolist(), abs=1e-9)
            if page != "case" and (handle := sent_to(app, "bayes_plane")["case"]):
                assert handle["posterior"] == pytest.approx(posterior.tolist(), abs=1e-9)
