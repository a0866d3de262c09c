"""AODE on the page One case: every super-parent's share in the mean, one of them chosen to be opened, the mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.ledger import CALIBRATION
from bayes_engine.models.aode import AODE
from bayes_engine.numerals import count, number, number_of_log
from bayes_engine.workbench.derivation import factor_names, latex, render
from bayes_engine.workbench.derivation.aode import Mean, SuperParent, as_misprinted, average, derive_member
from bayes_engine.workbench.derivation.derive import Working
from pages import active
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State, current, on_click
from pages.runtime.widgets import control
from pages.views.case.editor import CaseInUse
from pages.views.case.factor_table import cells_of_line, class_heads, shown_classes

TALLEST = 12
"""As many super-parents stand on the page without scrolling."""
TYPESET = 10
"""Up to this many summands the mean is written out."""


@dataclass(frozen=True)
class AveragedWorking:
    """The mean of a case, the super-parent that is opened (None: naive Bayes judges), and the working of its model."""

    mean: Mean
    chosen: SuperParent | None
    working: Working


def averaged_working(one: CaseInUse) -> AveragedWorking | None:
    """The mean and the super-parent asked for, at first the one with the largest share; None where the model is no
    mean."""
    if not isinstance(one.model, AODE):
        return None
    table = one.table
    asked: Any = (active.prior_of_use(table), table.classes)
    mean = average(one.model, one.case, *asked)
    position = current().seen(keys.SUPER_PARENT)
    known = [p for p in mean.parents if p.why != "missing"] if mean.active else []
    chosen = next((p for p in known if mean.parents.index(p) == position), mean.weightiest)
    name = chosen.name if chosen else None
    return AveragedWorking(mean, chosen, derive_member(one.model, one.case, name, active.case_losses(table), *asked))


def _opening(i: int) -> Callable[[State], State]:
    return lambda state: state.showing(keys.SUPER_PARENT.to(i), keys.FACTOR.to(-1), keys.ANSWERS.to(()))


def choose_super_parent(one: CaseInUse, under: AveragedWorking) -> None:
    if under.chosen is None:
        st.caption(_no_super_parent(under.mean))
        return
    names = {i: clean(_named(p, one), 60) for i, p in enumerate(under.mean.parents) if p.why != "missing"}
    st.selectbox(
        _("Super-parent"),
        list(names),
        format_func=names.__getitem__,
        help=_("The factors of one super-parent are filled in at a time."),
        width=420,
        **control(keys.SUPER_PARENT.widget, under.mean.parents.index(under.chosen), lambda s, i: _opening(i)(s)),
    )


def overview(one: CaseInUse, under: AveragedWorking, exact: Working, digits: int) -> None:
    """All super-parents with their joints and shares; a click opens one. Then their mean, and what misprints give."""
    mean = under.mean
    if under.chosen is None:
        st.info(_no_super_parent(mean), icon=":material/info:")
        return
    columns = shown_classes(exact)
    st.markdown("**" + _("The super-parents") + "**")
    tall = len(mean.parents) > TALLEST
    with st.container(key="super_parents", height=440 if tall else "content", border=tall):
        class_heads(one, exact, columns, _("super-parent"))
        best = max(range(len(mean.classes)), key=lambda k: mean.log_joint[k])
        numbered = list(enumerate(mean.parents))
        for i, parent in sorted(numbered, key=lambda p: -p[1].share[best]) if tall else numbered:
            cells = cells_of_line(columns)
            if parent.why == "missing":
                cells[0].markdown(md(one.table.column(parent.name), 40))
                cells[1].caption(_("missing: it takes no part"))
                continue
            opened = parent is under.chosen
            with cells[0].container(horizontal=True, vertical_alignment="center", gap="small"):
                st.button(
                    md(_named(parent, one), 60),
                    key=f"super_{i}",
                    type="tertiary",
                    wrap=True,
                    icon=":material/arrow_drop_down:" if opened else ":material/arrow_right:",
                    **on_click(_opening(i)),
                )
                st.markdown(f":gray[{_('{n} rows').format(n=count(parent.frequency))}]", width="content")
            if parent.why == "rare":
                cells[1].caption(
                    _("only {n} rows have it, fewer than the {least} asked for: it takes no part").format(
                        n=count(parent.frequency), least=count(mean.threshold)
                    )
                )
                continue
            for cell, k in zip(cells[1:], columns, strict=True):
                cell.markdown(f"{_joint(parent, k, digits)} :gray[· {100 * parent.share[k]:.3g}%]")
    st.caption(
        _(
            "In each row: how many rows of the table have the value, the product of all factors under that "
            "super-parent, P(c, x_i) Π P(x_j | c, x_i), and its share in the sum. A click opens the factors below. {m} "
            "of {d} take part; the joint is their mean."
        )
        .replace("_i", "ᵢ")
        .replace("_j", "ⱼ")
        .format(m=len(mean.active), d=len(mean.parents))
    )
    for k in columns:  # in a line of text a long sum breaks where it must
        st.markdown(f"${latex_mean(one, mean, k, digits).replace(' &= ', ' = ')}$")
    for k in columns:
        if formula := latex_calibrated(one, exact, k, digits):
            st.markdown(f"${formula.replace(' &= ', ' = ')}$")
    _misprinted(one, exact, mean, columns, digits)
    st.markdown("**" + _("The factors under {name}").format(name=md(_named(under.chosen, one), 60)) + "**")


def _named(parent: SuperParent, one: CaseInUse) -> str:
    cell = parent.cell
    return factor_names.relation(cell.variable, cell.value, one.table).spaced


def _joint(parent: SuperParent, k: int, digits: int) -> str:
    return number_of_log(parent.log_joint[k], digits + 2)


def _no_super_parent(mean: Mean) -> str:
    if not mean.parents:
        return _("No column is discrete, so there is no super-parent: the case is judged by naive Bayes.")
    return _(
        "No known value of this case has the {least} rows that a super-parent must have: the case is judged by naive "
        "Bayes."
    ).format(least=count(mean.threshold))


def latex_mean(one: CaseInUse, mean: Mean, k: int, digits: int) -> str:
    """1/m Σ_i of the joints with the numbers filled in, for one class."""
    label = latex.tex(one.table.class_(mean.classes[k]))
    joints = [latex.power(number_of_log(p.log_joint[k], digits)) for p in mean.active]
    if len(joints) > TYPESET:
        joints = [*joints[:3], r"\cdots", joints[-1]]
    value = latex.power(number_of_log(mean.log_joint[k], digits + 2))
    m = len(mean.active)
    return rf"P({label}, \boldsymbol{{x}}) &= \tfrac{{1}}{{{m}}}\,({' + '.join(joints)}) = {value}"


def latex_calibrated(one: CaseInUse, exact: Working, k: int, digits: int) -> str:
    """What calibration makes of the mean, for one class; "" where there is none."""
    steps = [step for step in exact.steps if step.row == CALIBRATION]
    if not steps:
        return ""
    label, shift = latex.tex(one.table.class_(exact.classes[k])), steps[0].log_factors[k]
    before, after = (
        latex.power(number_of_log(v, digits + 2)) for v in (exact.log_joint[k] - shift, exact.log_joint[k])
    )
    times = latex.power(number_of_log(shift, digits))
    of = rf"{latex.tex(_('calibration'))}({label})"
    return rf"P({label}, \boldsymbol{{x}}) \times {of} &= {before} \times {times} = {after}"


def _misprinted(one: CaseInUse, exact: Working, mean: Mean, columns: Sequence[int], digits: int) -> None:
    """What the formulas give as the sources print them."""
    assert isinstance(one.model, AODE)
    variants = as_misprinted(one.model, one.case, active.prior_of_use(one.table), one.table.classes)
    if variants is None:
        return
    with st.expander(_("As misprinted"), icon=":material/edit_note:"):
        names = [md(one.table.class_(exact.classes[k]), 30) for k in columns]
        lines = [
            (_("right: the mean over j ≠ i"), mean.joint),
            (_("the product over all j, j = i too"), variants.own_included),
            (_("the older printings' |D| + Sᵢ below"), variants.older_denominator),
        ]
        rows = ["| " + " | ".join(["", *names]) + " |", "| --- " * (len(names) + 1) + "|"]
        for words, v in lines:
            rows.append(f"| {md(words)} | " + " | ".join(number(v[k], digits + 2) for k in columns) + " |")
        st.markdown("\n".join(rows))
        st.caption(
            _(
                "Lecture notes print AODE's product over every j, i itself included, which counts P(xᵢ | c, xᵢ) as a "
                "factor though it is certain, and its sum up to m instead of the number of columns (one says OADE). "
                "Older printings of the book divide P(c, xᵢ) by |D| + Sᵢ; the pairs of a class and a value are K·Sᵢ. "
                "The book's own example takes the discrete columns of watermelon 3.0, the notes' that of 2.0."
            ).replace("|", "\\|")
        )


def copied_lines(one: CaseInUse, under: AveragedWorking, exact: Working, digits: int) -> dict[str, str]:
    """The mean for the copies, in each of their formats."""
    mean, table = under.mean, one.table
    if under.chosen is None:
        formula = _no_super_parent(mean)
        return {"latex": f"% {formula}", "markdown": formula, "text": formula}
    labels = [table.class_(c) for c in mean.classes]
    latex = [latex_mean(one, mean, k, digits) for k in range(len(labels))]
    latex += [formula for k in range(len(labels)) if (formula := latex_calibrated(one, exact, k, digits))]
    rows = [
        [_named(p, one), *(_joint(p, k, digits) if p.why == "takes part" else "–" for k in range(len(labels)))]
        for p in mean.parents
    ]
    rows.append([_("mean"), *(number_of_log(v, digits + 2) for v in mean.log_joint)])
    rows += [
        [_("calibration"), *(number_of_log(v, digits) for v in step.log_factors)]
        for step in exact.steps
        if step.row == CALIBRATION
    ]
    title = _("The factors under {name}").format(name=_named(under.chosen, one))
    return {
        "latex": "\\begin{align*}\n" + " \\\\\n".join(latex) + "\n\\end{align*}",
        "markdown": render.markdown_table([[_("super-parent"), *labels], *rows]) + f"\n\n{render.escaped(title)}",
        "text": "\n".join([f"{r[0]}: " + ", ".join(map(" = ".join, zip(labels, r[1:], strict=True))) for r in rows])
        + f"\n\n{title}",
    }
