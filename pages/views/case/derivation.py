"""The working on screen: its look, how it is shown, what a calculator gives instead, and the whole of it to copy."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from bayes_engine.factors.gaussian import Density
from bayes_engine.language import _
from bayes_engine.numerals import plain
from bayes_engine.workbench.derivation import factor_names, latex, render
from bayes_engine.workbench.derivation.derive import Working, rounded
from pages.active import shelf, words
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import current, on_click
from pages.runtime.widgets import bound_to, choose
from pages.views.case.editor import CaseInUse, another_exercise
from pages.views.case.factor_table import MOST_CLASSES, is_one_of_several

FORMS = {"latex": latex.to_latex, "markdown": render.to_markdown, "text": render.to_text}


_SHARE = {n: f"calc((100% + 1rem) * {1.5 / (1.25 + 1.5 * n):.6f})" for n in range(1, MOST_CLASSES + 1)}
"""The width of a number's column with the gap before it: as in a line of columns of 1.25 and n times 1.5."""
_PLACES = {
    "CELL": ":is(GRID > [st=ElementContainer], GRID > [st=LayoutWrapper] > :not(.st-key-opened))",
    "TITLE": ":is(TERMS > [st=ElementContainer]:not([class*=st-key-]), [class*=st-key-title_], FIRST)",
    "FIRST": ", ".join(f"[class*=st-key-factor_grid_{n}_]:not(TERMS) > :nth-child({n + 1}n + 1)" for n in _SHARE),
    "LINE": ":is(.st-key-factors, .st-key-super_parents) > * > [st=HorizontalBlock]",
    "TERMS": "[class*=_terms]",
    "GRID": "[class*=st-key-factor_grid_]",
}
"""The cells of the grids, and those with a name: where nothing is opened among them, the first of each line. No `:has`
here: each element that a chart adds or removes would have the whole page styled anew."""
_STYLE = """
.st-key-factors, .st-key-factors [st=VerticalBlock], .st-key-super_parents { gap: 0; }
GRID { display: grid; gap: 0; align-items: stretch; }
GRID > [st=LayoutWrapper] { display: contents; }
GRID .st-key-opened { grid-column: 1 / -1; min-width: 0; }
CELL {
  width: auto; min-width: 0; height: auto; margin: 0; align-self: stretch; display: flex; align-items: center;
  justify-content: flex-start; padding-left: 1rem; border-bottom: 1px solid rgba(128,128,128,.2);
}
TITLE { padding-left: 0; }
CELL [st=Button], CELL > [st=Button] button { width: auto; margin: 0; justify-content: flex-start; }
LINE { padding: .22rem 0; border-bottom: 1px solid rgba(128,128,128,.2); }
CELL, LINE [st=HorizontalBlock] { row-gap: 0; }
:is(CELL, LINE) [st=CaptionContainer] p { font-size: 13px; }
:is(CELL, LINE) [st=MarkdownContainer] { margin: 0; }
:is(CELL, LINE) [st=MarkdownContainer] p { margin: 0; font-size: .95rem; font-variant-numeric: tabular-nums; }
:is(CELL, LINE) [st=BaseButton-tertiary] { min-height: 1.7rem; padding: 0; text-align: left; }
:is(CELL, LINE) [st=BaseButton-tertiary] p {
  text-decoration: underline dotted rgba(128,128,128,.7); text-underline-offset: 4px;
}
:is(CELL, LINE) [st=MarkdownContainer] span { white-space: normal; }
LINE [st=TextInput] { padding: .12rem 0; }
.st-key-factors .st-key-opened { margin: .4rem 0; }
.st-key-factors .st-key-opened, .st-key-factors .st-key-opened [st=VerticalBlock] { gap: .5rem; }
.st-key-sums .katex { font-size: 1.05rem; }
.st-key-opened .katex { font-size: .98rem; }
.st-key-sums .katex-display, .st-key-opened .katex-display { margin: 0; padding: .35rem 0 .5rem; overflow-x: auto; }
[class*=st-key-case_fields_] { display: grid; grid-template-columns: 1fr 1fr; }
[class*=st-key-case_fields_] > * { width: auto; min-width: 0; }
@media (max-width: 640px) { /* the name on a line of its own, beneath it the classes side by side */
  CELL { padding-left: .6rem; }
  TITLE { grid-column: 1 / -1; padding-left: 0; border-bottom: 0; }
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
  .st-key-controls, .st-key-waterfall_controls, .st-key-left_out, .st-key-copy,
  .st-key-case_view, .st-key-nomogram_controls { display: none !important; }
  .st-key-nomogram_sentence .st-key-case_verdict { display: none !important; } /* the foot has the same numbers */
  [st=MainBlockContainer] { padding: 0 !important; }
}
""" + "".join(
    f"""
[class*=st-key-factor_grid_{n}_] {{ grid-template-columns: minmax(0, 1fr) repeat({n}, {share}); }}
@media (max-width: 640px) {{
  [class*=st-key-factor_grid_{n}_] {{ grid-template-columns: repeat({n}, minmax(0, 1fr)); }}
}}
"""
    for n, share in _SHARE.items()
)


def _sheet() -> str:
    sheet = _STYLE
    for place, selector in _PLACES.items():  # each may name those after it
        sheet = sheet.replace(place, selector)
    return private.style(sheet)


_SHEET = _sheet()


def style() -> None:
    """The look of the table of factors, on screen and printed."""
    st.html(_SHEET)


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
    plain_naive = spec.family == "naive-bayes" and not spec.parameters
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


def by_hand(one: CaseInUse, exact: Working) -> None:
    """What a calculator gives when every factor is rounded to three digits first, beside what is right."""
    hand = rounded(exact)
    lines = []
    for step, short in zip(exact.steps, hand.steps, strict=True):
        for k, (right, wrong) in enumerate(zip(step.sources, short.sources, strict=True)):
            typed, true = render.hand(short.factors[k], 3), render.hand(step.factors[k], 3)
            if isinstance(right, Density) and isinstance(wrong, Density) and typed != true:
                name = md(factor_names.name_of(step, exact.classes[k], exact.target, one.table), 120)
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
