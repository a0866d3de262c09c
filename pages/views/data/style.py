"""The look of the page's cards and findings."""

import streamlit as st

_STYLE = """<style>
[class*="st-key-card_"] { padding: .45rem .7rem .5rem; }
[class*="st-key-use_"] button { justify-content: flex-start; text-align: left; padding: 0; min-height: 0; }
[class*="st-key-finding_"] { border-left: 3px solid rgba(128, 128, 128, .35); padding: .1rem 0 .15rem .75rem; }
[class*="st-key-finding_serious"] { border-left-color: #d64545; }
[class*="st-key-finding_warning"] { border-left-color: #e0973a; }
[class*="st-key-finding_"] button, .st-key-doctor_chips button, .st-key-doctor_passed button {
  min-height: 1.9rem; padding: .1rem .6rem; }
.st-key-doctor_chips button { border-radius: 1rem; }
[class*="st-key-read_note_"] { min-height: 1.9rem; }
[class*="st-key-read_note_"] button { min-height: 1.6rem; padding: 0 .3rem; }
</style>"""


def style() -> None:
    """Cards, and findings with the colour of how serious they are."""
    st.html(_STYLE)
