"""What the app calls things, in one place: presets, kinds, roles, statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayes_engine.decision.loss import Decision
from bayes_engine.language import _
from bayes_engine.ledger import Ledger, Status
from pages.shared.escape import md
from pages.shared.state import Spec

if TYPE_CHECKING:
    from pages.shared.data import InUse


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


def verdict(table: InUse, ledger: Ledger, decision: Decision) -> str:
    """One sentence: what is decided, how probable it is, at what risk, and what speaks for it most."""
    action, posterior = decision.action[0], ledger.posterior()[0]
    likely = sorted(range(len(posterior)), key=lambda k: -posterior[k])
    best, other = (ledger.classes[k] for k in likely[:2])
    shown = ", ".join(f"P({md(table.class_(c), 24)}) = {posterior[ledger.classes.index(c)]:.4g}" for c in (best, other))
    head = _("Judged **{action}**: {posterior}; risk {risk}, the runner-up {gap} more.").format(
        action=md(table.action(action), 24), posterior=shown, risk=f"{decision.risk[0]:.4g}", gap=f"{decision.gap[0]:.4g}"
    )
    if decision.tied[0]:
        head += " " + _("It is a tie, settled by name.")
    return head + " " + because(table, ledger, best, other)


def because(table: InUse, ledger: Ledger, best: Any, other: Any) -> str:
    """What speaks for the likeliest class against the next, in nats."""
    nats = ledger.by_variable().contributions(best, other).iloc[0]
    names = {row.name: prior_word(row.name, row.kind) or table.column(row.child) for row, _term in ledger.rows}
    strongest = sorted(nats.items(), key=lambda item: -abs(item[1]))[:3]
    parts = ", ".join(f"{md(names[str(name)], 24)} {value:+.2f}" for name, value in strongest if value)
    return _("For {best} against {other} (nats): {parts}.").format(
        best=md(table.class_(best), 24), other=md(table.class_(other), 24), parts=parts
    )


def prior_word(name: str, kind: str) -> str:
    """The on-screen name of the ledger's rows that are no column; "" for a column."""
    if name == "prior of use":
        return _("prior of use")
    return _("class prior") if kind == "prior" else ""
