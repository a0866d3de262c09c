"""The curves of all models for one class: reliability, risk against threshold, ROC, precision–recall, cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from bayes_engine.decision.curves import ErrorCosts, best_point, calibration, error_costs
from bayes_engine.language import _
from bayes_engine.numerals import number
from bayes_engine.workbench.figures import curves as drawn
from pages.components import tables
from pages.components.chart import chart
from pages.components.tables import Head
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import dark
from pages.runtime.widgets import choose, select
from pages.views.model.compare.evaluated import ClassCurves, Evaluated, class_curves, reports
from pages.views.model.compare.scores import HIGH


def _name(kind: str) -> str:
    return {
        "calibration": _("Reliability"),
        "threshold": _("Risk by threshold"),
        "roc": "ROC",
        "recall": _("Precision–recall"),
        "cost": _("Cost curves"),
    }[kind]


def curves(evaluated: Evaluated) -> None:
    """One kind of curve, all models over one another; what it says beside it."""
    classes = evaluated.table.classes
    st.subheader(_("Thresholds and probabilities"))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        kind = choose(_("Curve"), keys.COMPARE_CURVE, {kind: _name(kind) for kind in keys.COMPARE_CURVE.options})
        whose = _("of the class") if len(classes) == 2 else _("of the class, against the rest")
        named = [evaluated.table.class_(c) for c in classes]
        if len(classes) <= 6:
            place = choose(whose, keys.COMPARE_CLASS, {k: md(name, 24) for k, name in enumerate(named)})
        else:
            place = select(whose, keys.COMPARE_CLASS, {k: clean(name, 24) for k, name in enumerate(named)})
    label = classes[place]
    by_model = class_curves(evaluated, label)
    picture, words = st.columns([4, 3], gap="medium")
    drawing = {
        "calibration": _calibration,
        "threshold": _threshold,
        "roc": _roc,
        "recall": _recall,
        "cost": _cost,
    }[kind]
    figure, sentence, rows = drawing(evaluated, label, by_model)
    heads = dict.fromkeys(head for row in rows.values() for head in row)
    with picture:
        chart(figure, key=f"compare_{kind}", alt=_name(kind))
    words.markdown(sentence)
    tables.word_table(  # as wide as the page: names of models are long
        [Head(_("model")), *(Head(head, right=True) for head in heads)],
        [[evaluated.title(n, clean), *(rows[n].get(head, "–") for head in heads)] for n in by_model],
        key=f"compare_{kind}_numbers",
        label=_name(kind),
        height=HIGH,
        narrow=True,
    )


_Drawn = tuple[Any, str, dict[str, dict[str, str]]]
"""A figure, what it says, and of each model its numbers by their heads."""


def _looks(evaluated: Evaluated, by_model: dict[str, ClassCurves], value: Callable[[ClassCurves], Any]) -> list[Any]:
    return [(evaluated.look(n), value(one)) for n, one in by_model.items()]


def _class(evaluated: Evaluated, label: Any) -> str:
    return md(evaluated.table.class_(label), 24)


def _calibration(evaluated: Evaluated, label: Any, by_model: dict[str, ClassCurves]) -> _Drawn:
    frames = {n: calibration(evaluated.held[n], label, prior_of_use=evaluated.use) for n in by_model}
    axis = f"P({plotly_text(evaluated.table.class_(label), 24)} | x)"
    figure = drawn.calibration([(evaluated.look(n), f) for n, f in frames.items()], axis, dark=dark())
    rows = {
        n: {
            _("mean gap"): number(float((f["share"] * (f["said"] - f["true"]).abs()).sum()), 3),
            _("largest"): number(float((f["said"] - f["true"]).abs().max()), 3),
            _("bins off"): f"{int(((f['said'] < f['low']) | (f['said'] > f['high'])).sum())} / {len(f)}",
        }
        for n, f in frames.items()
    }
    words = _(
        "Where a model gives P({name}) = 0.8, eight in ten rows should be of that class. On the "
        "diagonal they are; above it the model's probability is too low, below it too high. Each "
        "point holds the same weight of rows; the bars on the active model's are 95% Wilson "
        "intervals, and bins off are those whose interval excludes the predicted probability."
    ).format(name=_class(evaluated, label))
    return figure, words, rows


def _threshold(evaluated: Evaluated, label: Any, by_model: dict[str, ClassCurves]) -> _Drawn:
    priced = error_costs(evaluated.loss, label, 0.5)
    used = priced.threshold() if priced and evaluated.loss.by_amount is None else None  # else each row has its own
    steps = {n: one.steps for n, one in by_model.items() if one.steps is not None}
    figure = drawn.risk_steps([(evaluated.look(n), s) for n, s in steps.items()], used, dark=dark())
    asked = _("least-risk rule") if used is None else _("risk there")
    rows = {}
    for n, s in steps.items():
        t, least = s.best()
        risk = reports(evaluated)[n].risk if used is None else s.at(used)
        rows[n] = {asked: number(risk, 3), _("least"): number(least, 3), _("at"): f"P ≥ {number(t, 3)}"}
    name = _class(evaluated, label)
    words = [_("The risk of deciding {name} from each threshold on; every step is exact.").format(name=name)]
    if used is not None:
        words.append(
            _("The losses ask for P ≥ **{t}** (line), whatever the model, if its probabilities are calibrated.").format(
                t=number(used, 3)
            )
        )
        words.append(
            _("Where a curve's lowest point (ring) lies far from the line, the probabilities are not "
              "calibrated; but a ring is chosen in hindsight, on these very rows.")
        )  # fmt: skip
    else:
        words.append(_("Below the threshold the cheapest of the other decisions is taken."))
        if evaluated.loss.by_amount is not None and evaluated.amount is not None:
            words.append(_("What the losses ask for depends on a row's amount: each row has a threshold of its own."))
        words.append(_("A ring is a curve's lowest point, chosen in hindsight, on these very rows."))
    return figure, " ".join(words), rows


def _roc(evaluated: Evaluated, label: Any, by_model: dict[str, ClassCurves]) -> _Drawn:
    first = next(iter(by_model.values())).swept
    priced = _prices(evaluated, label, first.share)
    figure = drawn.roc(_looks(evaluated, by_model, lambda one: one.swept), priced, dark=dark())
    words = [
        _(
            "The area is how often a row of {name} ranks above a row of another class, whatever the probabilities are."
        ).format(name=_class(evaluated, label))
    ]
    rows = {n: {_("area (AUC)"): number(one.swept.area)} for n, one in by_model.items()}
    if priced is not None and priced.threshold() is not None:
        words.append(
            _("Along a grey line the risk is the same; its slope **{slope}** is π₋(λ₊₋−λ₋₋) / π₊(λ₋₊−λ₊₊), from your "
              "losses and π₊ = {share}. The ring is the active model's point of least risk; it always lies on the "
              "convex hull.").format(slope=number(priced.slope(first.share), 3), share=number(first.share, 3))
        )  # fmt: skip
        for n, one in by_model.items():
            k = best_point(one.swept, priced)
            least = float(priced.risk(one.swept)[k]) * one.stake
            threshold = min(float(one.swept.threshold[k]), 1.0)
            rows[n] |= {_("least risk"): number(least, 3), _("from"): f"P ≥ {number(threshold, 3)}"}
    elif priced is None:
        words.append(_("Lines of equal risk exist for two classes; here see Risk by threshold."))
    if evaluated.amount is not None and evaluated.staked:
        words.append(_("The weight of a row is the factor by which its amount multiplies its losses."))
    return figure, " ".join(words), rows


def _prices(evaluated: Evaluated, label: Any, share: float) -> ErrorCosts | None:
    """The two prices, where they are all that a row's error costs but for its weight."""
    return error_costs(evaluated.loss, label, share) if evaluated.staked else None


def _recall(evaluated: Evaluated, label: Any, by_model: dict[str, ClassCurves]) -> _Drawn:
    figure = drawn.precision_recall(_looks(evaluated, by_model, lambda one: one.swept), dark=dark())
    share = next(iter(by_model.values())).swept.share
    words = _(
        "Precision: of the rows decided for {name}, the share that are; against recall: of the rows that are, the "
        "share so decided. Deciding so for every row has precision **{share}** (dotted). More informative than ROC "
        "where the class is rare."
    ).format(name=_class(evaluated, label), share=number(share, 3))
    return (
        figure,
        words,
        {n: {_("average precision"): number(one.swept.average_precision)} for n, one in by_model.items()},
    )


def _cost(evaluated: Evaluated, label: Any, by_model: dict[str, ClassCurves]) -> _Drawn:
    first = next(iter(by_model.values())).swept
    priced = _prices(evaluated, label, first.share)
    now = None
    if priced is not None and priced.threshold() is not None:
        up, down = first.share * priced.miss, (1.0 - first.share) * priced.false_alarm
        now = up / (up + down)
    figure = drawn.cost_curves(_looks(evaluated, by_model, lambda one: one.cost), now, dark=dark())
    words = [
        _("Every prior and every pair of losses at once: PC₊ = π₊C₊ / (π₊C₊ + π₋C₋). Solid: each row decided by the "
          "model's own posterior. Dotted: the best threshold in hindsight. The gap between them is what miscalibrated "
          "probabilities cost; above the grey triangle a model is worse than none.")
    ]  # fmt: skip
    if now is not None:
        words.append(_("Your losses and prior stand at PC₊ = **{now}** (line).").format(now=number(now, 3)))
    rows = {
        n: {_("mean, own"): number(one.cost.mean_own, 3), _("mean, best"): number(one.cost.mean_best, 3)}
        for n, one in by_model.items()
    }
    return figure, " ".join(words), rows
