"""What follows the table of factors: the posterior and the risk of each decision, with the numbers filled in."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.calibrated import Temperature
from bayes_engine.numerals import certain, plain, signed
from bayes_engine.workbench.derivation import latex
from bayes_engine.workbench.derivation.calibration_map import map_steps
from bayes_engine.workbench.derivation.derive import Working
from pages.runtime.escape import md
from pages.views.case.editor import CaseInUse

TYPESET = 6
"""Up to this many classes the sums are typeset; beyond, they are lines of text."""


def calibration_map(one: CaseInUse, working: Working, digits: int) -> None:
    """The map from the scores to probabilities, with its numbers."""
    made = one.fitted.calibrated
    if made is None or not working.complement or working.position < 0:
        return
    st.markdown("**" + _("From the scores to probabilities") + "**")
    lines = []
    if isinstance(made.calibrator_, Temperature):
        lines.append(_("Temperature: each score is divided by T = {t}; then e to the power of it over the sum of all "
                       "classes.").format(t=plain(made.calibrator_.temperature)))  # fmt: skip
    for step in map_steps(made, working.ledger):
        asked = {"name": md(one.table.class_(step.label), 30), "d": signed(step.ahead, digits),
                 "q": certain(step.q, digits)}  # fmt: skip
        if step.slope is None or step.shift is None:
            text = _("**{name}** is {d} ahead of the rest in score; there the isotonic step function is at **{q}**.")
            lines.append(text.format(**asked))
            continue
        text = _("**{name}** is {d} ahead of the rest in score; by Platt's line its log-odds are {a} × ({d}) {b} = "
                 "{odds}, a probability of **{q}**.")  # fmt: skip
        odds = step.slope * step.ahead + step.shift
        lines.append(text.format(a=plain(step.slope), b=signed(step.shift, digits), odds=signed(odds, digits), **asked))
    if len(working.classes) > 2 and lines and not isinstance(made.calibrator_, Temperature):
        lines.append(_("These are divided by their sum."))
    st.markdown("  \n".join(lines))


def sums(one: CaseInUse, working: Working, digits: int) -> None:
    """Evidence and posterior, then the risk of each decision, with the numbers filled in."""
    if working.position < 0:
        return
    with st.container(key="sums"):
        first = _("From the scores to the posterior") if working.scores else _("From the joints to the posterior")
        first = _("From the total scores to the posterior") if working.complement else first
        st.markdown(f"**{first}**")
        _formulas(working, latex.latex_posterior(working, one.table, digits))
        st.markdown("**" + _("From the posterior to the decision") + "**")
        _formulas(working, latex.latex_risk(working, one.table, digits))
        st.caption(
            _(
                "λ_ij is the loss of deciding i where j is true, and the sum runs over the truth j. One of the lecture "
                "notes sums over i; another words λ_ij the other way round, but its formula is this one; a third puts "
                "the truth first."
            )
        )


def _formulas(working: Working, lines: Sequence[str]) -> None:
    if len(working.classes) <= TYPESET:
        typeset(lines)
    else:
        st.code("\n".join(lines), language="latex", wrap_lines=True, height=300)


def typeset(lines: Sequence[str]) -> None:
    """Lines of a formula, aligned at their signs."""
    st.latex("\\begin{aligned}" + " \\\\[7pt] ".join(lines) + "\\end{aligned}", width="content")
