"""The working on screen: the table of factors, each number open to its rows, and the sums after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.dataset_format import Erratum
from bayes_engine.factors.gaussian import Density
from bayes_engine.factors.kernel import KernelEstimate
from bayes_engine.factors.poisson import Rate
from bayes_engine.factors.sources import Complement, Fraction, Given, Linear, Parametric, Power, Shift, Term
from bayes_engine.factors.text import Words
from bayes_engine.language import _, current_language
from bayes_engine.ledger import CALIBRATION
from bayes_engine.models.aode import AODE
from bayes_engine.models.calibrated import Temperature
from bayes_engine.numerals import certain, count, number, plain, signed
from bayes_engine.workbench.derivation import latex, render
from bayes_engine.workbench.derivation.calibration_map import map_steps
from bayes_engine.workbench.derivation.derive import (
    Cell,
    Working,
    WorkingStep,
    bare,
    rounded,
    rows_behind,
    variance_from,
)
from bayes_engine.workbench.derivation.misprints import WorkingPlace, misprints
from pages.active import shelf, words
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State, bound_to, choose, current, on_click
from pages.views.case.editor import CaseInUse, another_exercise

MOST_CLASSES = 4
"""As many classes have a column at once."""
PAGE = 40
"""As many factors are shown at once."""
MOST_ROWS = 300
"""As many rows are shown behind a number."""
TALLEST = 24
"""As many rows of a table stand on the page without scrolling."""
TYPESET = 6
"""Up to this many classes the sums are typeset; beyond, they are lines of text."""
FORMS = {"latex": latex.to_latex, "markdown": render.to_markdown, "text": render.to_text}

_STYLE = private.style(
    """
.st-key-factors, .st-key-factors [st=VerticalBlock], .st-key-super_parents { gap: 0; }
LINE { padding: .22rem 0; border-bottom: 1px solid rgba(128,128,128,.2); }
LINE [st=HorizontalBlock] { row-gap: 0; }
LINE [st=CaptionContainer] p { font-size: 13px; }
LINE [st=MarkdownContainer] { margin: 0; }
LINE [st=MarkdownContainer] p { margin: 0; font-size: .95rem; font-variant-numeric: tabular-nums; }
LINE [st=BaseButton-tertiary] { min-height: 1.7rem; padding: 0; text-align: left; }
LINE [st=BaseButton-tertiary] p {
  text-decoration: underline dotted rgba(128,128,128,.7); text-underline-offset: 4px;
}
LINE [st=MarkdownContainer] span { white-space: normal; }
LINE [st=TextInput] { padding: .12rem 0; }
.st-key-factors .st-key-opened { margin: .4rem 0; }
.st-key-factors .st-key-opened, .st-key-factors .st-key-opened [st=VerticalBlock] { gap: .5rem; }
.st-key-sums .katex { font-size: 1.05rem; }
.st-key-opened .katex { font-size: .98rem; }
.st-key-sums .katex-display, .st-key-opened .katex-display { margin: 0; padding: .35rem 0 .5rem; overflow-x: auto; }
.st-key-case_editor [st=Column] { min-width: 0; }
.st-key-case_editor [st=HorizontalBlock] { overflow: visible; }
@media (max-width: 640px) { /* the name on a line of its own, beneath it the classes side by side */
  LINE { flex-wrap: wrap; overflow: visible; gap: 0 .6rem; }
  LINE > [st=Column] { min-width: 0; flex: 1 1 0; }
  LINE > [st=Column]:first-child { flex-basis: 100%; }
  .st-key-sums .katex { font-size: .82rem; }
}
@media (max-width: 1200px) {
  .st-key-case_editor [st=NumberInputStepDown], .st-key-case_editor [st=NumberInputStepUp] {
    display: none;
  }
}
@media print {
  [st=Sidebar], [st=Header], [st=Toolbar], .st-key-case_editor,
  .st-key-controls, .st-key-waterfall_controls, .st-key-left_out, .st-key-copy { display: none !important; }
  [st=MainBlockContainer] { padding: 0 !important; }
}
""".replace("LINE", ":is(.st-key-factors, .st-key-super_parents) > [st=LayoutWrapper] > [st=HorizontalBlock]")
)


def style() -> None:
    """The look of the table of factors, on screen and printed."""
    st.html(_STYLE)


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


def controls(one: CaseInUse, working: Working, *, filling: bool) -> str:
    """How the working is shown: as blanks or with its numbers, and with how many digits (which are returned)."""
    digits = current().seen(keys.DIGITS)
    kinds = {"": _("4 digits"), "hand": _("rounded to 3, as by hand"), "full": _("8 digits")}
    with st.container(horizontal=True, gap="medium", vertical_alignment="center", key="controls"):
        unasked = _("The terms of this model are no counts that could be filled in.") if working.additive else None
        st.toggle(_("Let me fill in"), disabled=working.additive, help=unasked, **bound_to(keys.FILL, filling))
        if not (one.seed or working.complement):
            st.button(_("Another exercise"), key="exercise", icon=":material/exercise:",
                      help=_("Rows drawn anew from this table, a made-up case."), **on_click(another_exercise)
                      )  # fmt: skip
        if not filling:
            choose(_("Digits"), keys.DIGITS, kinds, titled=False)
    spec = one.fitted.spec
    plain_naive = spec.family == "naive-bayes" and not spec.knobs
    rule = f"{words.preset_help(spec.preset)} " if plain_naive else f"{md(shelf.title(spec, one.table), 200)} · "
    st.caption(rule + (_("Fractions such as 3/8 are fine; three digits are enough. Known mistakes are named.")
                             if filling else
                             _("These are scores, not log-probabilities: they add up, and with the calibration's term "
                               "they make the posterior. A click on one says what it is.")
                             if working.complement else
                             _("The terms are logarithms, in nats: they add up. A click on one says what it is.")
                             if working.additive else
                             _("A click on a number opens what it was counted from.")))  # fmt: skip
    return digits


# the table of factors -------------------------------------------------------------------------------------------


def factor_table(one: CaseInUse, working: Working, digits: int) -> None:
    """A row for each factor, a column for each class; a click on a number opens it. Then the product and posterior."""
    columns, notes = shown_classes(working), _notes(one, working)
    opened, of = current().seen(keys.FACTOR), current().seen(keys.FACTOR_CLASS)
    with st.container(key="factors"):
        class_heads(one, working, columns)
        for i, step in _page(working):
            cells = cells_of_line(columns)
            title(cells[0], one, step)
            for cell, k in zip(cells[1:], columns, strict=True):
                with cell.container(horizontal=True, vertical_alignment="center", gap="small"):
                    label = _factor_label(working, step, k, digits, wide=len(columns) < MOST_CLASSES)
                    st.button(label, key=f"factor_{i}_{k}", type="tertiary", wrap=True,
                              **on_click(_open(i, k, closing=(i, k) == (opened, of))))  # fmt: skip
                    _badges(notes.get(WorkingPlace(i, k, "factor"), []) + notes.get(WorkingPlace(i, k, "mean"), []))
            if i == opened and of in columns:
                with st.container(border=True, key="opened"):
                    _behind(one, working, step, of, digits)
        left_out(one, working)
        _totals(one, working, columns, notes, digits)
    _remarks(one, working)


def title(cell: Any, one: CaseInUse, step: WorkingStep) -> None:
    """A factor's name, and beneath it what it is given besides the class."""
    cell.markdown(md(render.title_of(step, one.table), 60))
    if step.given:
        beyond = _(", ").join(md(r.spaced, 40) for r in render.given_of(step, one.table))
        cell.caption(_("given {cells}").format(cells=beyond))


def cells_of_line(columns: Sequence[int]) -> Sequence[Any]:
    """The cells of one line: the factor's name, then one for each class with a column."""
    return st.columns([1.25, *[1.5] * len(columns)], vertical_alignment="center", gap="small", wrap=False)


def class_heads(one: CaseInUse, working: Working, columns: Sequence[int], first: str = "") -> None:
    cells = cells_of_line(columns)
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
    one: CaseInUse, working: Working, columns: Sequence[int], notes: dict[WorkingPlace, list[Erratum]], digits: int
) -> None:
    def line(word: str, about: str, number: Callable[[Working, int, int], str]) -> None:
        head, *cells = cells_of_line(columns)
        head.markdown(f"**{word}**", help=about)
        for cell, k in zip(cells, columns, strict=True):
            cell.markdown(f"**{number(working, k, digits)}**")

    if working.additive:
        line(render.log_joint_word(working), _("All terms of the column added up."), render.log_joint)
    cells = cells_of_line(columns)
    explained = _("e to the power of the sum.") if working.additive else _(
        "P(c) Π p(x | c): all factors of the column multiplied.")  # fmt: skip
    if working.scores and not working.complement:
        explained = _("All factors of the column multiplied: with weights it is a score, not a probability.")
    cells[0].markdown(f"**{render.joint_word(working)}**", help=explained)
    for cell, k in zip(cells[1:], columns, strict=True):
        with cell.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{render.joint(working, k, digits)}**", width="content")
            _badges(notes.get(WorkingPlace(None, k, "joint"), []))
    if is_one_of_several(one):
        return
    share = _("The score over the sum of the scores of all classes: what the weights were fitted to.") if (
        working.scores) else _("The joint over the sum of the joints of all classes.")  # fmt: skip
    if working.complement:
        share = _("This over the sum of the same of all classes.")
    line(_("posterior"), share, render.posterior)


def errata(one: CaseInUse) -> tuple[Erratum, ...]:
    """The misprints of the table's source; an exercise has none."""
    return one.table.info.errata if one.table.info and not one.seed else ()


def _notes(one: CaseInUse, working: Working) -> dict[WorkingPlace, list[Erratum]]:
    """The misprints of the source, by the number they speak of."""
    misprinted: dict[WorkingPlace, list[Erratum]] = {}
    for place, erratum in misprints(working, errata(one)):
        misprinted.setdefault(place, []).append(erratum)
    return misprinted


def _badges(misprinted: Sequence[Erratum]) -> None:
    for erratum in misprinted:
        label = _("rounded: {printed}") if erratum.rounded else _("misprint: {printed}")
        st.badge(label.format(printed=md(erratum.printed, 40)), icon=":material/edit_note:",
                 color="gray" if erratum.rounded else "orange",
                 help=md(erratum.text("note", current_language()), 400))  # fmt: skip


def _remarks(one: CaseInUse, working: Working) -> None:
    """A density above 1; what rounding by hand changes."""
    dense = [(step, k, s.value) for step in working.steps for k, s in enumerate(step.sources)
             if isinstance(s, Density) and s.value > 1]  # fmt: skip
    if dense:
        step, k, value = max(dense, key=lambda d: d[2])
        name = md(render.name_of(step, working.classes[k], working.target, one.table), 120)
        epsilon = 10.0 ** (-3 - math.floor(math.log10(value)))
        st.caption(
            _("{name} = {density} is a density, and a density may be above 1. A probability is p·ε, that of an "
              "interval of width ε around the value: for ε = {epsilon} it is {share}. The same ε stands in every "
              "class and cancels in the posterior.").format(
                  name=name, density=number(value), epsilon=f"{epsilon:g}", share=number(value * epsilon))
        )  # fmt: skip


def by_hand(one: CaseInUse, exact: Working) -> None:
    """What a calculator gives when every factor is rounded to three digits first, beside what is right."""
    hand = rounded(exact)
    lines = []
    for step, short in zip(exact.steps, hand.steps, strict=True):
        for k, (right, wrong) in enumerate(zip(step.sources, short.sources, strict=True)):
            typed, true = render.hand(short.factors[k], 3), render.hand(step.factors[k], 3)
            if isinstance(right, Density) and isinstance(wrong, Density) and typed != true:
                name = md(render.name_of(step, exact.classes[k], exact.target, one.table), 120)
                lines.append(
                    _("{name}: with x̄ = {mean} and s = {sd} a calculator gives {typed}, not {true}.").format(
                        name=name, mean=plain(wrong.mean), sd=plain(wrong.sd), typed=typed, true=true)
                )  # fmt: skip
    if exact.position >= 0 and not is_one_of_several(one):
        k = max(range(len(exact.classes)), key=lambda k: exact.posterior[k])
        lines.append(
            _("Posterior of {name}: {typed} by hand, {true} from unrounded numbers.").format(
                name=md(one.table.class_(exact.classes[k]), 30),
                typed=render.posterior(hand, k),
                true=render.posterior(exact, k),
            )
        )
    if is_one_of_several(one):
        lines.append(_("Rounded are the factors under this super-parent; the mean, and what follows from it, is not."))
    if lines:
        st.info("  \n".join(lines), icon=":material/calculate:")


# behind a number ------------------------------------------------------------------------------------------------


def _behind(one: CaseInUse, working: Working, step: WorkingStep, k: int, digits: int) -> None:
    """How one factor came about, and the rows it was counted from."""
    label, source, position = working.classes[k], step.sources[k], working.steps.index(step)
    formulas = [*latex.latex_behind(working, step, k), latex.latex_value(working, step, k, digits)]
    heading, weight = render.heading(working, step, k, one.table), None
    if isinstance(source, Power) and not step.complement:
        weight, step, source = source.weight, bare(step), source.base
    st.markdown(f"**{md(heading, 200)}**")
    words, rows = st.columns([1.35, 1], gap="medium")
    with words:
        typeset(formulas)
        st.caption(_origin(one, working, step, k))
        if weight is not None:
            st.caption(_("The factor stands to the power of the column's weight, {w}: log P is multiplied by it, so "
                         "the product is a score.").format(w=plain(weight)))  # fmt: skip
        for place, errata in _notes(one, working).items():
            if place[:2] == (position, k):
                for erratum in errata:
                    sentence = (
                        _("The lecture notes on this example round: {printed} for {where}, unrounded {right}. {note}")
                        if erratum.rounded
                        else _(
                            "The lecture notes on this example print {printed} for {where}; right is {right}. {note}"
                        )
                    )
                    st.caption("⚠ " * (not erratum.rounded) + sentence.format(
                        printed=md(erratum.printed), where=md(erratum.where), right=md(erratum.right),
                        note=md(erratum.text("note", current_language()), 400)))  # fmt: skip
    if isinstance(source, Fraction | Density) and (source.total if isinstance(source, Fraction) else source.n):
        with rows:
            _rows(one, working, step, label, source)


def _origin(one: CaseInUse, working: Working, step: WorkingStep, k: int) -> str:
    source, table = step.sources[k], one.table
    target = md(table.column(working.target), 40)
    own = md(table.class_(working.classes[k]), 40)
    name = ", ".join([own, *(md(r.spaced, 40) for r in render.given_of(step, table))])
    if isinstance(source, Shift):
        return _("The prior of use over the model's own: the joint moves from the frequencies of the table to those "
                 "of the place where you decide.")  # fmt: skip
    if isinstance(source, Term):
        return _origin_of_term(one, step, source)
    if isinstance(source, Density):
        return _origin_of_density(one, step, k, source, target, own if source.stands_in else name)
    if not isinstance(source, Fraction):
        return _("This number was set, not counted.")
    column, value = md(table.column(step.row.child), 40), md(render.shown(step, table), 40)
    if step.alike or (step.row.kind == "prior" and step.given):
        return _origin_of_network(one, step, source, f"{column} = {value}" if step.alike else f"{target} = {own}")
    if not source.total:
        text = _("No row has {target} = {name}: each of the {levels} values of {column} counts as equally likely.")
        return text.format(target=target, name=name, levels=source.levels, column=column)
    if step.joint:
        text = _("{count} of the {total} rows where {column} is known have {target} = {name} and {column} = {value}.")
    elif not step.row.parents:
        text = _("{count} of the {total} rows have {target} = {name}.")
    else:
        text = _("{count} of the {total} rows with {target} = {name} have {column} = {value}.")
    sentence = text.format(
        count=count(source.count), total=count(source.total), target=target, name=name, column=column, value=value
    )
    if source.pseudo_total:
        sentence += " " + _origin_of_smoothing(source, joint=step.joint)
    return sentence


def _origin_of_smoothing(source: Fraction, *, joint: bool = False) -> str:
    """What is added to a count, and to the total."""
    if source.uneven is not None:
        more = _("Smoothing adds pseudo-counts of {total} in all and shares them out among the {levels} values as "
                 "the whole column does: this one gets {added}.")  # fmt: skip
        return more.format(total=count(source.pseudo_total), added=number(source.added), levels=source.levels)
    more = _("Smoothing adds {added} to the count of each of the {levels} pairs of a class and a value.") if (
        joint) else _("Smoothing adds {added} to the count of each of the {levels} values.")  # fmt: skip
    return more.format(added=count(source.added), levels=source.levels)


def _origin_of_network(one: CaseInUse, step: WorkingStep, source: Fraction, cell: str) -> str:
    """Of a network: a share of rows of every class, for a column that the class is no parent of, or for the class."""
    given = _(", ").join(md(r.spaced, 40) for r in render.given_of(step, one.table))
    if not source.total:
        text = _("No row has {given}: each of the {levels} values counts as equally likely.")
    elif given:
        text = _("{count} of the {total} rows with {given} have {cell}.")
    else:
        text = _("{count} of the {total} rows have {cell}.")
    sentences = [text.format(count=count(source.count), total=count(source.total), given=given, cell=cell,
                        levels=source.levels)]  # fmt: skip
    if source.pseudo_total and source.total:
        sentences.append(_origin_of_smoothing(source))
    if step.alike:
        sentences.append(
            _("The class is no parent of this column: the factor is the same for every class and cancels.")
        )
    return " ".join(sentences)


def _origin_of_density(one: CaseInUse, step: WorkingStep, k: int, source: Density, target: str, name: str) -> str:
    origin = {
        "own": _("A normal density is fitted to the {n} values of {column} in the rows with {target} = {name}."),
        "smoothed": _("A normal density is fitted to the {n} values of {column} in the rows with {target} = {name}, "
                      "smoothed by pseudo-observations (α = {added}) with the mean and the variance of the whole "
                      "class."),
        "pooled": _("The mean is that of the {n} values of {column} in the rows with {target} = {name}; the "
                    "variance is common to all classes."),
        "replaced": _("The mean is that of the {n} values of {column} in the rows with {target} = {name}; they "
                      "have no spread of their own, so the variance is the pooled one or the least allowed."),
    }[variance_from(step, k)]  # fmt: skip
    text = origin.format(n=count(source.n), column=md(one.table.column(step.row.child), 40), target=target, name=name,
                         added=count(source.pseudo_counts.rows) if source.pseudo_counts else "")  # fmt: skip
    if source.stands_in:
        beyond = _(", ").join(md(r.spaced, 40) for r in render.given_of(step, one.table))
        short = _("Too few of its rows have {cells} to fit a density to them, so that of the whole class stands in.")
        text = short.format(cells=beyond) + " " + text
    return text


def _origin_of_term(one: CaseInUse, step: WorkingStep, source: Term) -> str:
    if step.row == CALIBRATION and one.fitted.scores:
        return _("The map from the scores to probabilities: log q of the class, less the logarithm of e^score over the "
                 "sum of e^score of all classes. It was learnt from the scores of rows held out.")  # fmt: skip
    if isinstance(source, Complement) and isinstance(source.base, Words):
        return _origin_of_complement(source.base, bare(step))
    kind, column = step.row.kind, md(one.table.column(step.row.child), 40) if step.variable else ""
    if kind == "expected":
        return _("A cell that this factor depends on is not known. The joint is summed over all its values; of this "
                 "sum the factor's part is e to the power of its mean logarithm, each value weighted by its "
                 "probability given the rest of the case. With «cells not known» below, the parts multiply to the sum "
                 "exactly.")  # fmt: skip
    if kind == "entropy":
        return _("e to the power of the entropy of the cells not known, given the rest of the case and this class: how "
                 "many values they could have. Mean logarithms and entropy together make the sum over these cells "
                 "exact: log P(c, x) = Σ E log P + H.")  # fmt: skip
    if step.row == CALIBRATION:
        return _("The calibrated probability over the model's own, q/p: rows held out show how well a "
                 "posterior such as this one is calibrated. The model becomes more or less confident; no "
                 "factor above changes.")  # fmt: skip
    if isinstance(source, Rate):
        return _origin_of_rate(column, source)
    if isinstance(source, Parametric):
        known = [*source.stated, *((q.symbol, q.value) for q in source.estimated)]
        return _("The distribution {name} at x = {x}, with {parameters}, estimated from the {n} values of {column} in "
                 "this class.").format(name=words.likelihood(source.name), x=count(source.x), n=count(source.n),
                                       parameters=_(", ").join(f"{s} = {plain(v)}" for s, v in known),
                                       column=column)  # fmt: skip
    if isinstance(source, KernelEstimate):
        return _origin_of_kernel(column, source)
    if isinstance(source, Words):
        return _origin_of_words(step, source)
    if kind == "constant":
        return _("The same in every class: it cancels in the posterior.")
    if isinstance(source, Linear):
        return _("Its weight w = Σ⁻¹(μ − x̄), by the covariance that all classes share, times how far the value is from "
                 "the point half-way between the class's mean and the mean of all. It may have either sign: only the "
                 "differences between the classes count.")  # fmt: skip
    if step.variable is not None:
        return _("The part of the log-density that {column} stands for in this class, {nats} nats. It may have either "
                 "sign: only the differences between the classes count.").format(
                     column=column, nats=signed(source.log_value, 4))  # fmt: skip
    if step.row.name == "−½ log det Σ":
        return _("−½ log det Σ of the class's covariance: a class that is spread widely is less dense everywhere.")
    return _("−½ (x−μ)ᵀΣ⁻¹(x−μ): how far the case is from the class's mean, measured by the class's own "
             "covariance.")  # fmt: skip


def _origin_of_rate(column: str, source: Rate) -> str:
    text = _("A Poisson distribution: λ^x e^−λ/x! at x = {x}, with the rate λ = {rate}. The {n} values of {column} in "
             "this class sum to {total}.").format(x=count(source.x), rate=plain(source.rate), n=count(source.n),
                                                  column=column, total=count(source.total))  # fmt: skip
    if source.added:
        added = _("Smoothing adds pseudo-observations (α = {added}) with the mean of the whole column, {mean}.")
        text += " " + added.format(added=count(source.added), mean=plain(source.mean))
    return text


def _origin_of_kernel(column: str, source: KernelEstimate) -> str:
    texts = [_("A kernel density: a bump of width h = {h} stands on each of the {n} values of {column} in this class, "
              "and the factor is the mean of their heights at {x}.").format(
                  h=plain(source.bandwidth), n=count(source.n), column=column, x=count(source.x))]  # fmt: skip
    if source.precision is not None:
        texts.append(_("The values are rounded to multiples of {p}, and each bump is the mean over as much.").format(
            p=plain(source.precision)))  # fmt: skip
    if source.stands_in:
        texts.append(_("The class has no spread of its own, so the width is the pooled one or the least allowed."))
    most = [f"{plain(b.value)} ({b.share:.1%})" for b in render.largest_bumps(source)[:6]]
    if most:
        texts.append(_("The values that add most: {values}.").format(values=_(", ").join(most)))
    return " ".join(texts)


def _origin_of_words(step: WorkingStep, source: Words) -> str:
    """What each word of a text adds, those that tell the classes apart first."""
    if not source.terms and not source.absent:
        return _("No word of the text occurred in a training text: it is no evidence.")
    asked = step.variable is not None and step.variable.likelihood == "bernoulli"
    texts = [_("The product of the words' probabilities to stand in a text of this class, and not to of those that do "
              "not stand here.") if asked else
            _("The product of the words' probabilities in this class, each as often as it stands in the "
              "text.")]  # fmt: skip
    terms = [source.terms[v] for v in render.most_discriminating(step)]
    if terms:
        listed = [f"{md(t.term, 40)}{f' × {count(t.times)}' if t.times != 1 else ''} "
                  f"({render.fraction(t.source)})" for t in terms[: render.MOST_OPENED]]  # fmt: skip
        texts.append(_("Those that tell the classes apart most: {words}.").format(words=_(", ").join(listed)))
    if len(terms) > render.MOST_OPENED:
        rest = sum(t.log_value for t in terms[render.MOST_OPENED :])
        texts.append(_("The {n} others add {nats} nats.").format(
            n=len(terms) - render.MOST_OPENED, nats=signed(rest, 4)))  # fmt: skip
    if asked:
        texts.append(_("The absent ones add {nats} nats together.").format(nats=signed(source.absent, 4)))
    return " ".join(texts)


def _origin_of_complement(words: Words, step: WorkingStep) -> str:
    """What each word of a text adds to the score, those that tell the classes apart first."""
    if not words.terms:
        return _("No word of the text occurred in a training text: it is no evidence.")
    terms = [words.terms[v] for v in render.most_discriminating(step)]
    listed = [f"{md(t.term, 40)}{f' × {count(t.times)}' if t.times != 1 else ''} "
              f"(−log {render.fraction(t.source)})" for t in terms[: render.MOST_OPENED]]  # fmt: skip
    texts = [
        _("A score: each word adds minus the logarithm of its share among the words of all *other* classes, as often "
          "as it stands in the text. A word that is rare there speaks for this class."),
        _("Those that tell the classes apart most: {words}.").format(words=_(", ").join(listed)),
    ]  # fmt: skip
    if rest := terms[render.MOST_OPENED :]:
        texts.append(_("The {n} others add {nats} nats.").format(
            n=len(rest), nats=signed(-sum(t.log_value for t in rest), 4)))  # fmt: skip
    return " ".join(texts)


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


def _rows(one: CaseInUse, working: Working, step: WorkingStep, label: Any, source: Fraction | Density) -> None:
    """The rows of the class, the counted ones first; for a density its values with their squared deviations."""
    if isinstance(source, Density) and source.stands_in:
        step = replace(step, given=())
    counted = rows_behind(one.counted, working.target, step, label)
    column, table = step.row.child, one.table
    if isinstance(source, Density):
        x = counted[column].astype(float)
        away = x - source.own_mean
        shown = pd.DataFrame({"x": x, "x − x̄": away, "(x − x̄)²": away**2})
        six = {name: st.column_config.NumberColumn(format="%.6g") for name in shown.columns}
        st.dataframe(shown.head(MOST_ROWS), height=min(320, 38 + 35 * len(shown)), column_config=six, key="rows_behind")
        st.caption(f"n = {count(source.n)}, Σx = {plain(source.own_mean * source.n)}, "
                   f"Σ(x − x̄)² = {plain(source.m2)}")  # fmt: skip
    else:
        whole = one.counted
        if not (step.joint or step.alike or step.row.kind == "prior"):
            whole = whole.loc[whole[working.target] == label]
        for cell in step.given:
            whole = whole.loc[cell.held_by(whole[cell.variable.name])]
        if step.variable is not None:
            if counted.empty or not counted[column].isna().any():
                whole = whole.loc[whole[column].notna()]
        elif not step.row.parents:
            whole = one.counted
        order = [*counted.index, *whole.index.difference(counted.index)][:MOST_ROWS]
        shown = pd.DataFrame({_("counted"): [i in set(counted.index) for i in order]}, index=order)
        own = [] if step.variable is None else [Cell(step.variable, step.value)]
        for cell in [*own, *step.given]:
            name, numeric = cell.variable.name, pd.api.types.is_numeric_dtype(whole[cell.variable.name].dtype)
            values = whole.loc[order, name]
            shown[clean(table.column(name), 40)] = (
                values if numeric and cell.variable.cuts is not None
                else [None if pd.isna(v) else clean(table.level(name, v), 40) for v in values]
            )  # fmt: skip
        shown[clean(table.column(working.target), 40)] = [
            clean(table.class_(v), 40) for v in whole.loc[order, working.target]
        ]
        st.dataframe(shown, height=min(320, 38 + 35 * len(shown)), key="rows_behind")
        st.caption(_("{k} rows counted of {n}.").format(k=len(counted), n=len(whole)))
    if len(counted) > MOST_ROWS:
        st.caption(_("The first {n} are shown.").format(n=MOST_ROWS))


# after the table ------------------------------------------------------------------------------------------------


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
                "notes sums over i; another words λ_ij the other way round, but its formula is this one."
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


def copy_buttons(
    one: CaseInUse, working: Working, final: Working, digits: int, before: Mapping[str, str] | None = None
) -> None:
    """The whole working as text to take along: what stands `before` it in each format, its factors, the sums."""
    is_open = current().seen(keys.COPY_OPEN)
    if is_open is None:
        is_open = bool(current().seen(keys.COPY_FORM))  # a format was chosen before there was a switch
    opened = bound_to(keys.COPY_OPEN, is_open)
    with st.container(key="copy"), st.expander(_("Copy the working"), icon=":material/content_copy:", **opened):
        forms = {"latex": "LaTeX", "markdown": "Markdown", "text": _("text")}
        form = choose(_("Format"), keys.COPY_FORM, forms, titled=False)
        if not is_open:  # what colours the text is 0.5 MB to load
            return
        text = FORMS[form](working, one.table, digits, final if before else None)
        st.code((before[form] + "\n\n" if before else "") + text, language=None if form == "text" else form,
                wrap_lines=True, height=360)  # fmt: skip
