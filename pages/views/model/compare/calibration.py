"""«Predicts well, but its probabilities are not true»: the active model before and after calibration."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.calibrated import METHODS
from bayes_engine.numerals import number
from bayes_engine.workbench.figures.curves import CurveStyle
from bayes_engine.workbench.figures.curves import calibration as calibration_figure
from pages import active
from pages.active.units import as_probability, loss_difference_text, loss_measure, loss_text
from pages.active.words import share
from pages.components.chart import chart
from pages.runtime import view_keys as keys
from pages.runtime.state import current, dark
from pages.runtime.widgets import choose
from pages.views.model.compare.evaluated import Evaluated, calibrated, of_one
from pages.views.model.compare.scores import as_good_as_any

GAP = 0.01
"""Confidence and accuracy no further apart than this are called equal."""


def calibrator_name(method: str) -> str:
    return {
        "none": _("as they are"),
        "temperature": _("temperature"),
        "platt": "Platt",
        "isotonic": _("isotonic"),
    }[method]


def before_and_after(evaluated: Evaluated) -> None:
    """Accuracy beside reliability, before and after."""
    if active.active_model(evaluated.table).scores:
        st.subheader(_("Right, and as sure as it is right?"))
        st.markdown(
            _("Before its calibration complement naive Bayes has scores, which claim no confidence: there is no before "
              "to hold against what is shown above.")
        )  # fmt: skip
        return
    chosen = current().seen(keys.TRUST_CALIBRATOR)
    name = evaluated.active
    before = evaluated.raw[name]
    with evaluated.costs.stage("calibrated"):
        after = calibrated(evaluated.table, evaluated.specs, name, before, chosen)
    one, reliability = of_one(evaluated, before, name)
    two, calibrated_reliability = of_one(evaluated, after, f"{name} {chosen}")
    st.subheader(_("Right, and as sure as it is right?"))
    words, picture = st.columns(2, gap="large")
    with words:
        choose(_("Calibrator"), keys.TRUST_CALIBRATOR, {name: calibrator_name(name) for name in METHODS})
        sentence = (
            _("**{model}** is right on **{accuracy}** of the rows it had not seen; its mean confidence is "
              "**{confidence}**.")
            if before is evaluated.held[name]
            else _("**{model}**, before calibration, is right on **{accuracy}** of the rows it had not seen; its mean "
                   "confidence is **{confidence}**.")
        )  # fmt: skip
        st.markdown(
            sentence.format(
                model=evaluated.title(name), accuracy=share(one["accuracy"]), confidence=share(one["confidence"])
            )
            + " "
            + _verdict(evaluated, name, one)
        )
        _quarrel(evaluated, one)
        st.markdown(
            _("After calibration it is right on {accuracy}, with a mean confidence of {confidence}.").format(
                accuracy=share(two["accuracy"]), confidence=share(two["confidence"])
            )
        )
        with st.container(horizontal=True, gap="small"):
            was, now = one["log_loss"], two["log_loss"]
            change = loss_difference_text(now - was).replace("−", "-") if _step(now - was) else None
            _metric(loss_measure(), (loss_text(was), loss_text(now)), change, more=as_probability())
            for key, label in {"brier": "Brier", "ece": "ECE"}.items():
                _metric(label, (number(one[key], 3), number(two[key], 3)), _step(two[key] - one[key]))
        st.caption(_about(chosen))
    with picture:
        how = _("calibrated, {how}").format(how=calibrator_name(chosen))
        frames = [(_("as it is"), 0, reliability), (how, 2, calibrated_reliability)]
        figure = calibration_figure(
            [(CurveStyle(title, place, active=place == 2), frame) for title, place, frame in frames],
            _("confidence: largest posterior"),
            height=330,
            dark=dark(),
        )
        chart(figure, key="trust_figure", alt=_("share that is right against confidence, before and after calibration"))


def _metric(label: str, values: tuple[str, str], change: str | None, *, more: bool = False) -> None:
    """A score before and after; `more` of it is better."""
    st.metric(
        label,
        values[1],
        change,
        delta_color="normal" if more else "inverse",
        help=_("After calibration; before it was {value}.").format(value=values[0]),
        width="content",
    )


def _step(change: float) -> str | None:
    return f"{change:+.3g}" if abs(change) > 1e-12 and abs(change) != float("inf") else None


def _verdict(evaluated: Evaluated, name: str, measured: dict[str, float]) -> str:
    """Whether it predicts well, and whether its probabilities are true."""
    gap = measured["confidence"] - measured["accuracy"]
    if gap < -GAP:
        return _("It is right more often than its confidence says.")
    if gap <= GAP:
        return _("On average it is as sure as it is right.")
    if as_good_as_any(evaluated, name):
        return _(
            "No model here was shown to be more often right; but its probabilities are overconfident: evidence "
            "counted twice makes a model more confident, not more accurate."
        )
    return _("Its probabilities are overconfident.")


def _quarrel(evaluated: Evaluated, measured: dict[str, float]) -> None:
    """What these rows say to the old question of naive Bayes: good decisions, and the probabilities?"""
    if active.active_model(evaluated.table).spec.family not in active.NAIVE:
        return
    often = float(evaluated.table.parts.y.value_counts(normalize=True).max())
    gap = measured["confidence"] - measured["accuracy"]
    fields = {"accuracy": share(measured["accuracy"]), "often": share(often), "gap": share(abs(gap)),
            "confidence": share(measured["confidence"])}  # fmt: skip
    if measured["accuracy"] <= often:
        text = _(
            "Naive Bayes is said to decide well though its probabilities are poor. Not here: always naming the "
            "commonest class is right on {often}."
        )
    elif gap > GAP:
        text = _(
            "Naive Bayes is called a good classifier and a bad estimator. Here it is both: right on {accuracy}, where "
            "always naming the commonest class is right on {often}, and overconfident by {gap}. Its decisions can be "
            "trusted, its probabilities after calibration."
        )
    elif gap < -GAP:
        text = _(
            "Naive Bayes is called a good classifier and a bad estimator. Here it decides well, right on {accuracy} "
            "against {often} for the commonest class, and is underconfident by {gap}."
        )
    else:
        text = _(
            "Naive Bayes is called a good classifier and a bad estimator. On this table the second is not so on "
            "average: right on {accuracy}, mean confidence {confidence}."
        )
    st.markdown(text.format(**fields))


def _about(method: str) -> str:
    return {
        "temperature": _("log q = log p / T, one T for all classes: no prediction changes, only how sure it is."),
        "platt": _("A line in the log-odds of each class against the rest, then divided by their sum."),
        "isotonic": _(
            "An increasing step function of each class's log-odds against the rest, then divided by their sum. It may "
            "say 0: then one surprise makes the log-loss infinite."
        ),
    }[method]
