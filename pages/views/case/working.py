"""The working beneath the decision: worked out as asked, with its numbers or as blanks to be filled in."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bayes_engine.language import _
from bayes_engine.workbench.derivation.derive import Working, derive, rounded
from pages import active
from pages.runtime import view_keys as keys
from pages.runtime.state import current
from pages.views.case import derivation, factor_table, fill_in, sums, super_parents
from pages.views.case.editor import CaseInUse, decided
from pages.views.case.super_parents import AveragedWorking


@dataclass(frozen=True)
class CaseWorking:
    """The `exact` working of a case, of a mean of models that `under` one of them, the working whose `factors` are
    shown, and whether its terms are to be filled in."""

    exact: Working
    under: AveragedWorking | None
    factors: Working
    filling: bool


def case_working(one: CaseInUse) -> CaseWorking:
    """The working of the case. Raises BayesEngineError where it has none."""
    filling = current().seen(keys.FILL)
    losses, prior_of_use = active.case_losses(one.table), active.prior_of_use(one.table)
    exact = decided(one, prior_of_use, losses)
    under = super_parents.averaged_working(one)
    filling = filling and not (under.working if under else exact).additive
    if filling and one.judging is not one.model:  # what is filled in is counted
        exact = derive(one.model, one.case, losses, prior_of_use, one.table.classes)
    return CaseWorking(exact, under, under.working if under else exact, filling)


def working(one: CaseInUse, worked: CaseWorking) -> None:
    """The factors, the sums and what can be copied; or blanks in place of the numbers."""
    st.header(_("The working"))
    digits = derivation.controls(one, worked.factors, filling=worked.filling)
    factor_table.choose_classes(one, worked.factors)
    if worked.filling:
        if worked.under:
            super_parents.choose_super_parent(one, worked.under)
        fill_in.fill_in_blanks(one, worked.factors)
    else:
        _numbers(one, worked, digits)


def _numbers(one: CaseInUse, worked: CaseWorking, digits: str) -> None:
    exact, under = worked.exact, worked.under
    precision = 8 if digits == "full" else 4
    if under:
        super_parents.overview(one, under, exact, precision)
    if digits == "hand":
        derivation.by_hand(one, worked.factors)
    shown = rounded(worked.factors) if digits == "hand" else worked.factors
    factor_table.factor_table(one, shown, precision)
    sums.calibration_map(one, shown, precision)
    final = exact if under else shown
    sums.sums(one, final, precision)
    before = super_parents.copied_lines(one, under, exact, precision) if under else None
    derivation.copy_buttons(one, shown, final, precision, before)
