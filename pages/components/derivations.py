"""Derivations that open where their formula stands: one clicks through their lines, or sees all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.workbench.derivation.chains.chain import TITLES, Chain, Line
from pages.active import derived, predicting
from pages.components.film import film_bar, film_frame, step_shown
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import State, current, goes_to, on_click
from pages.runtime.widgets import control

PACE = 4.0
"""Seconds between two lines, where they play."""
_STYLE = private.style("""
[class*="st-key-derivation_"] { gap: .6rem; }
[class*="st-key-derivation_line_"] {
  gap: .1rem; padding: .5rem 0 .45rem; border-top: 1px solid rgb(128 128 128 / .25);
}
[class*="st-key-derivation_line_"] [st=HorizontalBlock] { row-gap: .1rem; }
[class*="st-key-derivation_line_"] [st=MarkdownContainer] { margin: 0; }
[class*="st-key-derivation_line_"] :is(p, [st=CaptionContainer]) { margin: 0; }
[class*="st-key-derivation_line_"] .katex { font-size: 1.04em; }
[class*="st-key-derivation_line_"] .katex-display {
  margin: 0; padding: .3rem 2px; text-align: left; overflow-x: auto; overflow-y: hidden;
}
[class*="st-key-derivation_line_"] .katex-display > .katex { text-align: left; font-size: 1.06rem; }
@media (min-width: 641px) {
  [class*="st-key-derivation_line_"] [st=Column] { min-width: 0; }
}
@media (max-width: 640px) {
  [class*="st-key-derivation_line_"] .katex-display > .katex { font-size: .86rem; }
}
@media print {
  [st=Sidebar], [st=Header], [st=Toolbar], [class*="st-key-derivation_bar"] { display: none !important; }
  [st=MainBlockContainer] { padding: 0 !important; }
  [st=MainBlockContainer] [st=VerticalBlock]
    > :not(:has([class*="st-key-derivation_"])):not([class*="st-key-derivation_"], [class*="st-key-derivation_"] *) {
    display: none !important;
  }
  [class*="st-key-derivation_line_"] { break-inside: avoid; }
}
""")


class Offer(NamedTuple):
    """How a derivation is made of what is on screen, which may raise; then the `nearest` case on which it goes: what a
    button says, and the state it leads to. Without one it is the derivation's own example."""

    make: Callable[[], Chain]
    nearest: tuple[str, Callable[[State], State]] | None = None


def derivations(place: str, offers: Mapping[str, Offer]) -> None:
    """The choice of a derivation of this place, by the names of TITLES; and the one that is open."""
    if not predicting.shows("derivations"):
        return
    wanted = current().seen(keys.DERIVED)
    st.segmented_control(
        _("Derivations"),
        ["", *offers],
        format_func=lambda name: TITLES[name].local(md) if name else _("closed"),
        required=True,
        help=_(
            "How the formula comes about, line by line, with the numbers of what is on screen beside the symbols. "
            "Arrow keys step where the bar is in focus; its last button shows all lines. The address holds the open "
            "derivation and its line; printing the page prints the derivation alone."
        ),
        **control(
            f"derived_{place}",
            wanted if wanted in offers else "",
            lambda state, name: state.showing(*derived.opening(name)),
        ),
    )
    if wanted not in offers:
        return
    st.html(_STYLE)
    with st.container(border=True, key=f"derivation_{place}"):
        try:
            chain = offers[wanted].make()
        except BayesEngineError as error:
            _elsewhere(wanted, offers[wanted], error)
            return
        film_frame(lambda: _shown(chain), keys.DERIVED_PLAYS)


def _elsewhere(name: str, offer: Offer, error: BayesEngineError) -> None:
    """Why the derivation does not go on what is on screen, and a button to where it does."""
    st.info(f"**{TITLES[name].local(md)}**  \n{error.message.local(md)}")
    if offer.nearest is not None:
        words, edit = offer.nearest
        st.button(words, key=f"derived_nearest_{name}", icon=":material/trending_flat:", **on_click(edit))
        return
    st.button(
        _("Follow it on an example"),
        key=f"derived_example_{name}",
        icon=":material/trending_flat:",
        **goes_to(derived.STANDINGS[name].page, lambda s: derived.on_example(name, s)),
    )


def _shown(chain: Chain) -> None:
    last = len(chain.lines)
    step = step_shown(keys.DERIVED_LINE, last)
    number = "" if not chain.equation else " · " + _("Zhou, eq. {number}").format(number=chain.equation)
    st.markdown(f"**{TITLES[chain.name].local(md)}**{number}  \n{chain.subject.local(md)}")
    with st.container(key="derivation_bar"):
        film_bar(step, last, key="derivation_film", step_key=keys.DERIVED_LINE, plays=keys.DERIVED_PLAYS, pace=PACE)
    for i, line in enumerate(chain.lines[:step], 1):
        with st.container(key=f"derivation_line_{i}"):
            _line(i, line)


def _line(i: int, line: Line) -> None:
    st.markdown(f"{i} · {line.reason.local(md)}")
    symbols, numbers = st.columns(2, gap="medium")
    symbols.markdown(_rows(line.symbols))
    numbers.markdown(_rows(line.numbers))
    check = line.check
    if not check.holds:
        st.caption(
            ":material/error: "
            + _("The two sides differ by {d} here: the numbers are too badly conditioned.").format(
                d=f"{check.difference:.1e}"
            )
        )
    elif check.at_most:
        st.caption(":material/check: " + _("checked with these numbers"))
    else:
        apart = f"{check.difference:.0e}" if check.difference else "0"
        st.caption(":material/check: " + _("checked with these numbers: the sides differ by {d}").format(d=apart))


def _rows(formulas: tuple[str, ...]) -> str:
    """Formulas below one another, on the left."""
    rows = ("&" + (f"{{-}}{f[1:]}" if f.startswith("-") else f) for f in formulas)  # a sign, not a difference
    return "$$\n\\begin{aligned}" + r"\\[.4em]".join(rows) + "\\end{aligned}\n$$"
