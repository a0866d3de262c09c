"""What the app calls things, in one place: presets, kinds, roles, statuses."""

from __future__ import annotations

from bayes_engine.language import _
from bayes_engine.ledger import Status
from pages.shared.state import Spec


def preset(name: str) -> str:
    """An estimation preset on screen."""
    return {
        "textbook": _("textbook, as printed"),
        "laplace": _("Laplace correction"),
        "zero-only": _("repair zeros only"),
        "scikit-learn": _("scikit-learn's defaults"),
    }[name]


def preset_help(name: str) -> str:
    """What a preset does, in a sentence."""
    return {
        "textbook": _("No smoothing, empirical prior, sample variance (n−1): eq. 7.16–7.18."),
        "laplace": _("One imagined row for each class and each level (α=1), sample variance: eq. 7.19–7.20."),
        "zero-only": _("Only an attribute–class pair with a zero is smoothed; the prior is left alone."),
        "scikit-learn": _("α=1 on the conditionals, empirical prior, maximum-likelihood variance (n)."),
    }[name]


def spec(model: Spec) -> str:
    """A model of the shelf on screen: its preset, marked where a knob differs."""
    return preset(model.preset) + (" *" if model.knobs else "")


def kind(name: str) -> str:
    """A column's kind on screen."""
    return {
        "categorical": _("categorical"),
        "binary": _("binary"),
        "continuous": _("continuous"),
        "count": _("count"),
        "text": _("text"),
        "date": _("date"),
        "identifier": _("identifier"),
        "constant": _("constant"),
        "empty": _("empty"),
    }[name]


def role(name: str) -> str:
    """A column's role on screen."""
    return {
        "feature": _("feature"),
        "target": _("target"),
        "ignore": _("ignore"),
        "id": _("id"),
        "group": _("group"),
        "weight": _("weight"),
        "amount": _("amount"),
    }[name]


def status(code: int) -> str:
    """Why a row has no posterior."""
    return {
        Status.OK: _("ok"),
        Status.IMPOSSIBLE: _("impossible under this model: its likelihood is 0 in every class"),
        Status.OUT_OF_RANGE: _("outside the range of the data: every density underflows"),
        Status.REFUSED: _("a cell is infinite"),
    }[Status(code)]
