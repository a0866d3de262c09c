"""The table of factors: a row for each, a column for each class, each number open to what it was counted from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from bayes_engine.dataset_format import Erratum
from bayes_engine.factors.gaussian import Density
from bayes_engine.factors.sources import Given, Term
from bayes_engine.language import _
from bayes_engine.models.aode import AODE
from bayes_engine.numerals import number
from bayes_engine.workbench.derivation import factor_names, render
from bayes_engine.workbench.derivation.derive import Working, WorkingStep
from bayes_engine.workbench.derivation.misprints import WorkingPlace
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State, current, on_click
from pages.runtime.widgets import bound_to, choose
from pages.views.case.editor import CaseInUse
from pages.views.case.factor_sources import behind
from pages.views.case.misprints import badges, beside_badges, misprints_by_place

MOST_CLASSES = 4
"""As many classes have a column at once."""
PAGE = 40
"""As many factors are shown at once."""


def shown_classes(working: Working) -> list[int]:
    """The classes that have a column: all, or where they are many the ones chosen, at first the likeliest."""
    everyone = list(range(len(working.classes)))
    if len(everyone) <= MOST_CLASSES:
        return everyone
    chosen = [k for k in current().seen(keys.CLASSES) if k in everyone][:MOST_CLASSES]
    return chosen or sorted(sorted(everyone, key=lambda k: -working.log_joint[k])[:MOST_CLASSES])


def choose_classes(one: CaseInUse, working: Working) -> None:
    """Where the classes are many: which ones have a column."""
    if len(working.classes) > MOST_CLASSES:
        names = {k: clean(one.table.class_(c), 40) for k, c in enumerate(working.classes)}
        st.multiselect(
            _("Classes shown"), list(names), max_selections=MOST_CLASSES, format_func=names.__getitem__,
            **bound_to(keys.CLASSES, tuple(shown_classes(working))),
        )  # fmt: skip


def factor_table(one: CaseInUse, working: Working, digits: int) -> None:
    """A row for each factor, a column for each class; a click on a number opens it. Then the product and posterior."""
    columns, notes = shown_classes(working), misprints_by_place(one, working)
    opened, of = current().seen(keys.FACTOR), current().seen(keys.FACTOR_CLASS)
    with st.container(key="factors"):
        steps = _page(working)
        class_heads(one, working, columns, cells=[_grid("heads", columns)] * (1 + len(columns)))
        grid = _grid("terms", columns)
        for i, step in steps:
            factor_title(grid.container(key=f"title_{i}") if step.given else grid, one, step)
            for k in columns:
                here = notes.get(WorkingPlace(i, k, "factor"), []) + notes.get(WorkingPlace(i, k, "mean"), [])
                with beside_badges(grid, here):
                    label = _factor_label(working, step, k, digits, wide=len(columns) < MOST_CLASSES)
                    st.button(label, key=f"factor_{i}_{k}", type="tertiary", wrap=True,
                              **on_click(_open(i, k, closing=(i, k) == (opened, of))))  # fmt: skip
                    badges(here)
            if i == opened and of in columns:
                with grid.container(border=True, key="opened"):
                    behind(one, working, step, of, digits)
        left_out(one, working)
        _totals(_grid("totals", columns), one, working, columns, notes, digits)
    _remarks(one, working)


def _grid(name: str, columns: Sequence[int]) -> Any:
    """What holds the cells of several lines, each a title and a number for each class: a container for each line would
    be an element more for each."""
    return st.container(key=f"factor_grid_{len(columns)}_{name}")


def factor_title(cell: Any, one: CaseInUse, step: WorkingStep) -> None:
    """A factor's name, and beneath it what it is given besides the class."""
    cell.markdown(md(factor_names.title_of(step, one.table), 60))
    if step.given:
        beyond = _(", ").join(md(r.spaced, 40) for r in factor_names.given_of(step, one.table))
        cell.caption(_("given {cells}").format(cells=beyond))


def cells_of_line(columns: Sequence[int]) -> Sequence[Any]:
    """The cells of one line: the factor's name, then one for each class with a column."""
    return st.columns([1.25, *[1.5] * len(columns)], vertical_alignment="center", gap="small", wrap=False)


def class_heads(
    one: CaseInUse, working: Working, columns: Sequence[int], first: str = "", *, cells: Sequence[Any] = ()
) -> None:
    """The classes over their columns, in these cells or in a line of their own."""
    cells = cells or cells_of_line(columns)
    cells[0].caption(first or _("factor"))
    for cell, k in zip(cells[1:], columns, strict=True):
        target, label = one.table.column(working.target), one.table.class_(working.classes[k])
        cell.markdown(f"**{md(target, 30)} = {md(label, 30)}**")


def _page(working: Working) -> list[tuple[int, WorkingStep]]:
    """The factors in view; where they are many, a page of them."""
    numbered = list(enumerate(working.steps))
    pages = range(0, len(numbered), PAGE)
    if len(pages) == 1:
        return numbered
    first = min(current().seen(keys.FACTOR_PAGE) // PAGE * PAGE, pages[-1])
    ranges = {a: f"{a + 1}–{min(a + PAGE, len(numbered))}" for a in pages}
    choose(_("Factors"), keys.FACTOR_PAGE, ranges, otherwise=first)
    return numbered[first : first + PAGE]


def _factor_label(working: Working, step: WorkingStep, k: int, digits: int, *, wide: bool) -> str:
    source, value = step.sources[k], render.factor(working, step, k, digits)
    if isinstance(source, Given) or (isinstance(source, Density) and not wide):
        return value
    if working.additive:
        return value if isinstance(source, Term) else f"log {render.fraction(source, working.digits)} = {value}"
    return f"{render.fraction(source, working.digits)} = {value}"


def _open(i: int, k: int, *, closing: bool) -> Callable[[State], State]:
    return lambda state: state.showing(keys.FACTOR.to(-1 if closing else i), keys.FACTOR_CLASS.to(k))


def left_out(one: CaseInUse, working: Working) -> None:
    """The features without a factor, and why."""
    why = {
        "missing": _("missing: it has no factor, the product goes on without it"),
        "constant": _("the same value in every row: it carries no information about the class and has no factor"),
        "not kept": _("left out by the selection: it has no factor"),
    }
    for omitted in working.omitted:
        name, reason = st.columns([1.25, 3.0], vertical_alignment="center", wrap=False)
        name.markdown(md(one.table.column(omitted.name), 60))
        reason.caption(why[omitted.reason])


def is_one_of_several(one: CaseInUse) -> bool:
    """Whether a table of factors is that of one model among several that are averaged."""
    return isinstance(one.model, AODE)


def _totals(
    grid: Any, one: CaseInUse, working: Working, columns: Sequence[int], notes: dict[WorkingPlace, list[Erratum]],
    digits: int,
) -> None:  # fmt: skip
    def line(word: str, about: str, number: Callable[[Working, int, int], str]) -> None:
        grid.markdown(f"**{word}**", help=about)
        for k in columns:
            grid.markdown(f"**{number(working, k, digits)}**")

    if working.additive:
        line(factor_names.log_joint_word(working), _("All terms of the column added up."), render.log_joint)
    explained = _("e to the power of the sum.") if working.additive else _(
        "P(c) Π p(x | c): all factors of the column multiplied.")  # fmt: skip
    if working.scores and not working.complement:
        explained = _("All factors of the column multiplied: with weights it is a score, not a probability.")
    grid.markdown(f"**{factor_names.joint_word(working)}**", help=explained)
    for k in columns:
        here = notes.get(WorkingPlace(None, k, "joint"), [])
        with beside_badges(grid, here):
            st.markdown(f"**{render.joint(working, k, digits)}**", width="content")
            badges(here)
    if is_one_of_several(one):
        return
    share = _("The score over the sum of the scores of all classes: what the weights were fitted to.") if (
        working.scores) else _("The joint over the sum of the joints of all classes.")  # fmt: skip
    if working.complement:
        share = _("This over the sum of the same of all classes.")
    line(_("posterior"), share, render.posterior)


def _remarks(one: CaseInUse, working: Working) -> None:
    """A density above 1; what rounding by hand changes."""
    dense = [(step, k, s.value) for step in working.steps for k, s in enumerate(step.sources)
             if isinstance(s, Density) and s.value > 1]  # fmt: skip
    if dense:
        step, k, value = max(dense, key=lambda d: d[2])
        name = md(factor_names.name_of(step, working.classes[k], working.target, one.table), 120)
        epsilon = 10.0 ** (-3 - math.floor(math.log10(value)))
        st.caption(
            _("{name} = {density} is a density, and a density may be above 1. A probability is p·ε, that of an "
              "interval of width ε around the value: for ε = {epsilon} it is {share}. The same ε stands in every "
              "class and cancels in the posterior.").format(
                  name=name, density=number(value), epsilon=f"{epsilon:g}", share=number(value * epsilon))
        )  # fmt: skip
