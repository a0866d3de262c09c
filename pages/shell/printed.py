"""How every page is printed: what it shows and nothing to click on, in ink on white, as wide as it stands on screen,
with the QR code of its state in the corner. The browser's own command prints so, and the button."""

from __future__ import annotations

from urllib.parse import quote

import streamlit as st

from bayes_engine.language import _
from pages.components.component import component
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.state import State, current, dark
from pages.shell.classroom import code_of_state

_vectors = component(__file__, "bayes_printed", uses=("paper",))
_FRAMES = private.selectors("[st=DataFrame]")
_IN_ADDRESS = {ord(sign): quote(sign) for sign in '%#"<>'}
"""The signs of a drawing that an address of `data:` cannot hold as they are."""
ROOM = 1030
"""CSS pixels across a sheet of A4 that lies, or of Letter, within its rims."""
_CONTROLS = (
    "[st=Button], [st=ButtonGroup], [st=PageLink], [st=Popover], [st=Checkbox], [st=DownloadButton], "
    "[st=FileUploader], [st=NumberInput], [st=Radio], [st=Selectbox], [st=MultiSelect], [st=Slider]"
)
_NUMBERS = ".st-key-factors *, .st-key-super_parents *"
"""Numbers that open what they were counted from: on paper they are numbers."""
_KEPT = f"{_NUMBERS}, .st-key-sheet_body *"
"""These, and what is chosen in an exercise, which is one of its blanks."""
_STYLE = private.style(
    """
.print_corner, .paper-table, .js-plotly-plot .traced { display: none; }
@media print {
  @page { margin: 10mm; }
  :root { color-scheme: light !important; }
  html, body, #root, #root *:has([st=MainBlockContainer]) {
    background: #fff !important; height: auto !important; min-height: 0 !important; overflow: visible !important;
    position: static !important; inset: auto !important; transform: none !important;
  }
  [st=Sidebar], [st=Header], [st=Toolbar], [st=ExpandSidebarButton], [st=Dialog], [st=StatusWidget],
  [st=SkipToContent], [st=PopoverBody], [st=InputInstructions], [st=MainBlockContainer] button:not(KEPT),
  [st=MainBlockContainer] [st=ElementContainer]:has(CONTROLS):not(KEPT),
  [st=MainBlockContainer] :is(CONTROLS):not(KEPT),
  .st-key-lesson_bar, .st-key-presenter_bar, .st-key-class_line, [class*="st-key-workspace_notice"],
  .st-key-sheet_controls, .st-key-sheet_progress, [st=Expander]:has(details:not([open])), .modebar, #skeleton {
    display: none !important;
  }
  [st=MainBlockContainer] { padding: 0 !important; max-width: none !important; position: relative !important; }
  [st=MainBlockContainer], [st=MainBlockContainer] :is(
    p, li, h1, h2, h3, h4, td, th, label, summary, strong, em, .katex, [st=MetricValue], [st=CaptionContainer]
  ) { color: #1c1b1a !important; opacity: 1 !important; }
  [st=MainBlockContainer] * {
    box-shadow: none !important; text-shadow: none !important;
    --st-text-color: #1c1b1a !important; --st-background-color: #fff !important;
    --st-primary-color: #0b6e99 !important; --st-secondary-background-color: #f8f8f7 !important;
  }
  [st=DataFrame]:has(~ .paper-table), .js-plotly-plot image { display: none !important; }
  .js-plotly-plot .traced { display: inline; }
  .paper-table { display: table; border-collapse: collapse; font-size: 13px; color: #1c1b1a; }
  .paper-table :is(td, th) { border: 1px solid #d8d6d3; padding: 3px 8px; text-align: start; }
  .paper-table .number { text-align: end; font-variant-numeric: tabular-nums; }
  .paper-table th { font-weight: 600; }
  [st=PlotlyChart], .print_corner, [st=ElementContainer] { break-inside: avoid; }
  [st=ElementContainer]:has(h1, h2, h3, h4), [st=ElementContainer]:has(h1, h2, h3, h4) + :not([st=ElementContainer]) {
    break-after: avoid;  /* no heading stands alone at the foot, nor with the room of its hidden controls */
  }
  [st=MainBlockContainer] :has(.print_corner) { position: static !important; }
  [st=MainBlockContainer] [st=VerticalBlock] > :has(.print_corner):has(.print_corner):has(.print_corner) {
    display: block !important;  /* also where a derivation is printed alone */
  }
  button:is(NUMBERS) { border: 0 !important; background: none !important; }
  button:is(NUMBERS) [st=IconMaterial] { display: none !important; }
  .st-key-page_title { min-height: 33mm; padding-right: 42mm; }
  .print_corner {
    display: block; position: absolute; top: 0; right: 0; width: 38mm; font: 9pt/1.25 sans-serif; color: #1c1b1a;
    text-align: center; overflow-wrap: anywhere; print-color-adjust: exact;
  }
  .print_corner img { display: block; width: 28mm; height: 28mm; margin: 0 auto 1mm; background: #fff; }
}
""".replace("CONTROLS", _CONTROLS)
    .replace("KEPT", _KEPT)
    .replace("NUMBERS", _NUMBERS)
)
_FROM_DARK = private.style("""
@media print {
  .js-plotly-plot text { fill: #1c1b1a !important; }
  .js-plotly-plot .errorbars path { stroke: #1c1b1a !important; }
  .js-plotly-plot rect.bg { fill: #fff !important; stroke: none !important; }
  .js-plotly-plot :is(.gridlayer, .zerolinelayer) path { stroke: #d8d6d3 !important; }
  :is([st=TextInput], [st=Selectbox]) :is(div, input) { background: #fff !important; border-color: #8c8984 !important; }
  [st=TextInput] input, [st=Selectbox] :is(div, input) {
    color: #1c1b1a !important; -webkit-text-fill-color: #1c1b1a !important;
  }
  [st=MarkdownContainer] :is(td, th) { border-color: #d8d6d3 !important; }
  [st=Alert] div { background: #f4f3f0 !important; color: #1c1b1a !important; }
  [st=MetricDelta] { background: none !important; color: #1c1b1a !important; }
  [st=MetricDelta] * { color: #1c1b1a !important; }
  [st=MainBlockContainer] [st=MarkdownBadge] { background: none !important; color: #1c1b1a !important; }
}
""")
"""Of what was drawn for dark ground, in the browser and by Plotly."""
_WIDE = private.style(f"""
@media print {{
  @page {{ size: A4 landscape; }}
  [st=MainBlockContainer] {{
    width: calc(var(--print-width, {ROOM}) * 1px) !important; zoom: calc(min(1, {ROOM} / var(--print-width, {ROOM})));
  }}
}}
""")


def button() -> None:
    """The button that prints; the script of the sidebar listens to it."""
    st.button(
        _("Print"),
        key="print",
        icon=":material/print:",
        type="tertiary",
        help=_(
            "The page as a sheet: no sidebar, no controls, figures as vectors, the QR code of its state in the corner."
        ),
    )


def sheet(here: str) -> None:
    """The style of the printed page and its corner, at the end of what is drawn."""
    st.html(_STYLE + (_FROM_DARK if dark() else "") + (_WIDE if _lies(here, current()) else ""))
    _vectors(key="printed_vectors", data={"frames": _FRAMES}, height=1)
    _address, code, _says = code_of_state()
    named = code.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    picture = named.translate(_IN_ADDRESS)
    text = _("This state in Bayes Workbench")
    st.html(f'<div class="print_corner"><img alt="QR" src="data:image/svg+xml,{picture}">{text}</div>')


def _lies(here: str, state: State) -> bool:
    """Whether the sheet is wider than high: not where a page has a sheet of its own."""
    upright = here == "case" and (state.seen(keys.CASE_VIEW) == "nomogram" or state.seen(keys.DERIVED))
    return not (upright or (here == "chapter") or state.seen(keys.DERIVED))
