"""In which unit logarithms are shown: evidence in bits or nats, a log-loss also as a probability. All pages convert
here; the library reckons in nats.

Evidence is in bits until a person chooses otherwise: n bits change the odds by 2ⁿ, which needs no table. A log-loss is
shown as the probability it stands for.
"""

from __future__ import annotations

from bayes_engine.language import _
from bayes_engine.logspace import exp
from bayes_engine.numerals import number, signed
from bayes_engine.workbench.figures.contributions import BIT
from pages.runtime import view_keys as keys
from pages.runtime.state import current
from pages.runtime.view_keys import ViewKey
from pages.runtime.widgets import choose

# evidence ---------------------------------------------------------------------------------------------------------


def in_bits() -> bool:
    """Whether evidence is shown in bits."""
    return _chosen(keys.UNIT) == "bits"


def evidence(nats: float) -> float:
    """Evidence in the unit chosen."""
    return nats / BIT if in_bits() else nats


def evidence_unit() -> str:
    """The unit's name."""
    return _("bits") if in_bits() else _("nats")


def signed_evidence(nats: float, decimals: int = 2) -> str:
    """«+1.20 bits»."""
    return f"{signed(evidence(nats), decimals)} {evidence_unit()}"


def evidence_text(nats: float, digits: int = 4) -> str:
    """«1.2 bits»."""
    return f"{number(evidence(nats), digits)} {evidence_unit()}"


def choose_evidence_unit() -> None:
    """Draw the choice of the unit."""
    about = _(
        "One bit halves or doubles the odds, so +3 bits are odds eight times as high; a nat is 1.44 bits, the unit of "
        "natural logarithms, in which the working is done."
    )
    choose(_("Unit"), keys.UNIT, {"bits": _("bits"), "nats": _("nats")}, titled=False, about=about)


# log-loss ---------------------------------------------------------------------------------------------------------


def as_probability() -> bool:
    """Whether a log-loss is shown as the probability exp(−loss), the geometric mean of what the truth was given: then
    more of it is better."""
    return _chosen(keys.LOSS_UNIT) == "percent"


def loss_measure(*, short: bool = False) -> str:
    """What is shown of a log-loss, in words; `short` where the unit is said beside."""
    if as_probability():
        return _("P(truth)")
    if short:
        return _("log-loss")
    return _("log-loss, bits") if _losses_in_bits() else _("log-loss, nats")


def loss_shown(nats: float) -> float:
    """A log-loss as it is shown: in its unit, or as a probability."""
    if as_probability():
        return float(exp(-nats))
    return nats / BIT if _losses_in_bits() else nats


def loss_text(nats: float, decimals: int = 3) -> str:
    """«78.8%», or «0.344»."""
    return f"{loss_shown(nats):.1%}" if as_probability() else number(loss_shown(nats), decimals)


def loss_difference_text(nats: float) -> str:
    """A difference of two log-losses with its sign; or by which share the probability is higher, below 0 lower."""
    value = 100.0 * (float(exp(-nats)) - 1.0) if as_probability() else loss_shown(nats)
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return f"{sign}{abs(value):.3g}%" if as_probability() else sign + number(abs(value), 3)


def choose_loss_unit() -> None:
    """Draw the choice of how log-losses are shown."""
    about = _(
        "Log-loss is the mean of −log P(truth | x). As a probability it is exp(−log-loss), the geometric mean of what "
        "the model gave to the truth, and a difference says by which share that is higher or lower; in bits it is the "
        "code length of a label; scikit-learn has it in nats."
    )
    names = {"percent": _("probability"), "bits": _("bits"), "nats": _("nats")}
    choose(_("Log-loss as"), keys.LOSS_UNIT, names, about=about)


def _losses_in_bits() -> bool:
    return _chosen(keys.LOSS_UNIT) == "bits"


def _chosen(key: ViewKey[str]) -> str:
    return current().seen(key)
