"""What the view is expected to cost, before any of it is computed: if that is much, a person says on how many rows.

The figures were measured on one core; they say about how long, and how far the whole is while it is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

import streamlit as st

from bayes_engine.decision.evaluate import DRAWS
from bayes_engine.language import _
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.models.tan import TAN
from pages import active
from pages.active.model_settings import FAMILIES
from pages.active.tables import sample_of
from pages.runtime import jobs
from pages.runtime import view_keys as keys
from pages.runtime.state import Spec, current
from pages.runtime.widgets import select, sets

ASKED = 10.0
"""Seconds beyond which nothing begins unasked."""
MOST_BYTES = 256_000_000
"""The largest memory that the results of the view may be expected to take."""
SAMPLES = (50_000, 20_000, 10_000, 5_000, 2_000, 1_000)
"""Rows of a sample, as offered."""
FITS = 6
"""A model is fitted to all rows, and once a fold."""
CELL, TEXT, KERNEL, WEIGHT, CHOICE = 0.6e-6, 4e-4, 1.2e-5, 3e-6, 9e-7
"""Seconds for all fits: a cell and class of naive Bayes, a text, a number by a kernel density, what a weight adds to a
cell and class, and what a step of a selection adds to a cell."""
LOGISTIC, DRAWN, CALIBRATED, SUMMED = 4e-7, 4.5e-8, 3.5e-6, 4e-7
"""Seconds of logistic regression a column of numbers, row and class; of a row drawn once by the bootstrap; a row and
class of a calibration; a row, model and class of all other numbers."""
KEPT = (80.0, 30.0)
"""Bytes that are kept of a row and model, and of each of its classes besides."""
FIRST = ("calibrating", "scores", "reports")
THEN = ("differences", "brier", "curves", "calibrated", "error", "regions")
"""What is computed of the models, in the order of the page: before and after the cross-validation is repeated."""


@dataclass(frozen=True)
class Expected:
    """The seconds that each stage of the view is expected to take, in the order of the page."""

    key: str
    seconds: Mapping[str, float]

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def stage(self, name: str) -> AbstractContextManager[None]:
        """What is computed inside fills the part of the page's bar that this stage is expected to take."""
        names = list(self.seconds)
        before = sum(self.seconds[n] for n in names[: names.index(name)])
        return jobs.part_of_page(self.key, before / self.total, (before + self.seconds[name]) / self.total)


def expected(table: active.FittableTable, n: int) -> Expected:
    """What the view costs on `n` of the table's rows."""
    specs, seen = active.shelf_of(table), current().seen
    classes, models = len(table.classes), len(specs) + 1
    seconds: dict[str, float] = {}
    repeated: dict[str, float] = {}
    runs = active.runs_for(n)
    for i, spec in enumerate(specs):
        whole = _of_model(table, spec, n)
        seconds |= {f"fit {i}": whole / FITS, f"judge {i}": whole * (FITS - 1) / FITS}
        repeated[f"repeat {i}"] = whole * (FITS - 1) / FITS * (runs - 1)
    columns = sum(1 if v.numeric else len(v.levels) for v in table.features if not v.textual)
    texts = sum(v.textual for v in table.features)
    seconds["counterpart"] = n * (LOGISTIC * columns * classes + TEXT * texts)
    repeated["repeat lr"] = seconds["counterpart"] * (runs - 1)
    parts = table.parts
    units = n if parts.groups is None else min(n, parts.groups.nunique())
    summed = SUMMED * n * classes * models
    every = parts.amount is not None or parts.weight is not None  # else few rows lose alike amounts
    own = seen(keys.CALIBRATOR) != "none" or any(active.setting(s, "calibration") != "none" for s in specs)
    calibrating = CALIBRATED * n * classes * own
    repeated = {name: cost + calibrating * (runs - 1) for name, cost in repeated.items()}
    seconds |= dict.fromkeys(FIRST, summed / 4) | repeated | dict.fromkeys(THEN, summed / 4)
    seconds["calibrating"] += calibrating * models
    seconds["reports"] += DRAWN * DRAWS * units * models * every
    seconds["differences"] += summed / 4 * runs
    seconds["curves"] += summed
    seconds["brier"] += summed
    seconds["calibrated"] += CALIBRATED * n * classes
    seconds["regions"] += 2.0 * LOGISTIC * 6 * n * classes
    return Expected(repr((table.key, n, specs, seen(keys.CALIBRATOR))), seconds)


def _of_model(table: active.FittableTable, spec: Spec, n: int) -> float:
    """The seconds of a model's fits to so many rows, with the posteriors of those held out."""
    classes, features = len(table.classes), table.features
    texts = [v.textual for v in features]
    cells = n * (len(features) - sum(texts))
    kernels = [active.likelihood_of(table, spec, j).startswith("kernel") for j in range(len(features))]
    seconds = CELL * cells * classes + TEXT * n * sum(texts) + KERNEL * n * sum(kernels)
    if spec.family == "weighted":
        return seconds + WEIGHT * cells * classes
    if spec.family == "selective":
        return seconds + CHOICE * cells * len(features)
    family = FAMILIES[spec.family]
    pairs = len(features) * (len(features) - 1) / 2.0
    if issubclass(family, SemiNaive):
        return seconds + FITS * family.cost.seconds(pairs, n)
    return seconds + 2.0 * FITS * TAN.cost.seconds(pairs, n) * (spec.family == "network")


def judged_table(table: active.FittableTable) -> active.FittableTable | None:
    """The table, or the sample of its rows that a person has chosen; None where the whole would take long and nobody
    has said on how many rows: then that is asked."""
    n = len(table.parts.y)
    offered = _offered(table)
    if offered == [n] and expected(table, n).total <= ASKED:
        return table
    chosen = current().seen(keys.COMPARE_ROWS)
    chosen = n if chosen >= n in offered else chosen
    if chosen not in offered:
        _ask(table, offered)
        return None
    names = {rows: _name(table, rows) for rows in offered}
    select(_("Rows"), keys.COMPARE_ROWS, names, otherwise=chosen, width=420)
    if chosen == n:
        return table
    drawn = sample_of(table, chosen)
    words = (
        _("Judged on **{n} of {all} rows**, drawn at random: of each class its share, five rows at least.")
        if drawn.parts.groups is None
        else _("Judged on **{n} of {all} rows**: groups drawn at random, whole.")
    )
    st.markdown(words.format(n=f"{len(drawn.parts.y):,}", all=f"{n:,}"))
    return drawn


def _offered(table: active.FittableTable) -> list[int]:
    """The rows that a person may choose, the fewest first: all of them alone where that takes no time."""
    n, (row, of_class) = len(table.parts.y), KEPT
    models = len(active.shelf_of(table)) + 1
    most = MOST_BYTES / (models * (row + of_class * len(table.classes)))
    if n <= most and expected(table, n).total <= ASKED:
        return [n]
    return [*(rows for rows in reversed(SAMPLES) if rows < min(n, most)), *([n] if n <= most else [])]


def _ask(table: active.FittableTable, offered: list[int]) -> None:
    """What all rows cost, and the largest sample that is quick; or another, or all."""
    n = len(table.parts.y)
    models = len(active.shelf_of(table)) + 1
    quick = [rows for rows in offered if expected(table, rows).total <= ASKED] or offered[:1]
    with st.container(border=True, width=760):
        words = [
            _("Fitting and judging {models} models on all {n} rows is expected to take {time} of computing.").format(
                models=models, n=f"{n:,}", time=_about(expected(table, n).total)
            )
        ]
        if n not in offered:
            words.append(_("It would take too much memory: choose fewer rows, or remove candidate models."))
        words.append(_("A sample drawn at random is quicker; the intervals get wider, and say by how much."))
        st.markdown(" ".join(words))
        with st.container(horizontal=True, gap="small"):
            for rows in dict.fromkeys([quick[-1], *([n] if n in offered else [])]):
                st.button(
                    _name(table, rows),
                    type="primary" if rows == quick[-1] else "secondary",
                    key=f"compare_on_{'all' if rows == n else 'sample'}",
                    **sets(keys.COMPARE_ROWS.to(rows)),
                )


def _name(table: active.FittableTable, rows: int) -> str:
    words = _("all {n} rows, {time}") if rows == len(table.parts.y) else _("{n} rows at random, {time}")
    return words.format(n=f"{rows:,}", time=_about(expected(table, rows).total))


def _about(seconds: float) -> str:
    """A time to one digit that tells."""
    if seconds < 60.0:
        return _("about {n} s").format(n=max(round(seconds), 1))
    return _("about {n} min").format(n=round(seconds / 60.0))
