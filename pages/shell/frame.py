"""The app's frame: what stands on a page before the engine is loaded, and around it afterwards.

Nothing here, and nothing that is imported here, needs the engine, NumPy or pandas (`tests/unit/test_loading.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from bayes_engine.datasets import dataset_cover
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import LANGUAGES, _, current_language
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import START, State, current, query_params, read_url

CHIPS = ("table", "model", "case", "losses")
"""What the sidebar's chips are of."""
_STYLE = private.style("""
body:has([st=MainBlockContainer] :is(h1, p, pre)) #skeleton { display: none; }
[st=Sidebar] [st=VerticalBlock] { gap: .45rem; }
[st=Sidebar] [st=VerticalBlock] > :has([st=Popover]) + :not(:has([st=Popover])),
[st=Sidebar] [st=CaptionContainer], [st=Sidebar] [st=ButtonGroup] { margin-top: .5rem; }
[st=Sidebar] [st=Popover] button { justify-content: flex-start; text-align: left; }
[class*="st-key-unused_"] [st=Popover] button { opacity: .7; border-style: dashed; background: none; }
[st=ButtonGroup] [role="radiogroup"] { flex-wrap: wrap; row-gap: .25rem; overflow: visible; }
.st-key-sidebar_away { position: absolute; }
.st-key-share_code img { max-height: 68vh; width: auto !important; max-width: 100%; }
[st=SidebarHeader] { height: 2.4rem; padding-bottom: 0; }
[st=MainBlockContainer] { padding: 4.25rem clamp(1rem, 3vw, 4rem) 3rem; max-width: 1500px; }
[st=MainBlockContainer] h1 { font-size: 1.9rem; padding: 0 0 .75rem; }
[st=MainBlockContainer] h2 { font-size: 1.45rem; padding: .6rem 0 .5rem; }
[st=MetricValue] { font-size: 1.6rem; }
[st=Button] [st=MarkdownContainer], [st=Button] p, [st=MarkdownBadge] {
  white-space: normal; overflow: visible; text-overflow: clip; overflow-wrap: anywhere;
}
.katex-display > .katex { padding-right: 3px; }
[st=CaptionContainer] { opacity: .75; }
[st=App] ::placeholder { color: inherit !important; opacity: .7; }
[st=MainBlockContainer] h3 { font-size: 1.25rem; }
[st=Sidebar] [st=PageLink] a:focus-visible { background: none; outline: 2px solid gray; outline-offset: -2px; }
[st=Sidebar] .st-key-menu_here a { background: rgb(128 128 128 / .18) !important; }
[class*="st-key-workspace_notice"], [class*="st-key-workspace_version"] { padding: .3rem .4rem .3rem .9rem; }
[st=LayoutWrapper]:has(> .st-key-workspace_notice) {
  position: fixed; bottom: 1rem; z-index: 98; width: auto; max-width: min(46rem, calc(100% - 2rem));
  background: Canvas; border-radius: .5rem; box-shadow: 0 2px 12px rgb(0 0 0 / .25);
}
[st=MainBlockContainer]:has(.st-key-workspace_notice) { padding-bottom: 7rem; }
@media (min-width: 700px) {
  [class*="st-key-workspace_notice"], [class*="st-key-workspace_version"], [class*="st-key-workspace_too_long"] {
    flex-wrap: nowrap;
  }
}
@media (max-width: 1200px) {
  section[st=Sidebar] { width: 14.5rem !important; min-width: 0 !important; }
  .st-key-family [role="radiogroup"] button { padding-left: .7rem; padding-right: .7rem; }
  [st=MainBlockContainer] h1 { font-size: 1.6rem; }
}
@media (max-width: 640px) {
  section[st=Sidebar] { width: 18rem !important; }
  [st=MainBlockContainer] { padding: 3.75rem 1rem 3rem; }
  [st=MarkdownContainer]:has(> table) { overflow-x: auto; }
  .katex-display > :where(.katex) { font-size: .92rem; }
  [st=MarkdownContainer] :is(th, td) { padding: .25rem .35rem; font-size: .85rem; }
  [st=LayoutWrapper]:has(> .st-key-settles_verdict) {
    position: sticky; top: 3.75rem; z-index: 99; padding: .35rem 1rem; margin: 0 -1rem;
    min-width: calc(100% + 2rem); border-bottom: 1px solid rgb(128 128 128 / .25);
    background: color-mix(in srgb, Canvas 75%, transparent); backdrop-filter: blur(14px);
  }
  .st-key-settles_verdict p { font-size: .94rem; line-height: 1.4; }
}
@media (pointer: coarse) {
  [st=ButtonGroup] button, [st=PageLink] a, [st=Checkbox] label,
  [st=ExpandSidebarButton], [st=SidebarCollapseButton] button { min-height: 2.75rem; }
  [st=ExpandSidebarButton], [st=SidebarCollapseButton] button { min-width: 2.75rem; }
}
""")


@dataclass(frozen=True)
class Place:
    """A page: its file, its name on screen, its icon, what it `asks` (its title, there before the page is), its group,
    and which of the sidebar's chips it uses."""

    file: str
    title: str
    icon: str
    asks: Callable[[State], str]
    group: str = ""
    uses: Callable[[State], Collection[str]] = lambda _state: CHIPS


def always(question: str) -> Callable[[State], str]:
    return lambda _state: question


def places() -> list[Place]:
    use, understand, learn = _("Use"), _("Understand"), _("Learn")
    listed = [
        Place("pages/start.py", _("Start"), ":material/home:", _asked_at_start),
        Place("pages/data.py", _("Data"), ":material/table:", always(_("Which table?")), use, _table),
        Place("pages/model.py", _("Model"), ":material/tune:", _asked_of_models, use),
        Place("pages/decisions.py", _("Decisions"), ":material/balance:",
              always(_("What should we decide when errors cost differently?")), use),
        Place("pages/case.py", _("One case"), ":material/search:", _asked_of_a_case, use),
        Place("pages/classify.py", _("Classify a file"), ":material/upload_file:",
              always(_("What does the model say of other rows?")), use, _all_but_case),
        Place("pages/dependence.py", _("Dependence"), ":material/device_hub:",
              always(_("Are the attributes independent, given the class, and does it matter?")), understand),
        Place("pages/network.py", _("Network"), ":material/account_tree:", _asked_of_networks, understand,
              _table_if_learned),
        Place("pages/projection.py", _("Projection"), ":material/flip:",
              always(_("Which line separates the classes best?")), understand, _table_and_case),
        Place("pages/hidden.py", _("Hidden labels"), ":material/visibility_off:",
              always(_("What if the labels are hidden?")), understand, _table_and_case),
        Place("pages/laboratory.py", _("Laboratory"), ":material/science:", _asked_in_laboratory, understand,
              _used_in_laboratory),
        Place("pages/chapter.py", _("Chapter"), ":material/school:",
              always(_("Which lesson of the chapter?")), learn, _used_in_chapter),
    ]  # fmt: skip
    return listed + further(FOLDER, frozenset(place.file for place in listed))


FOLDER = Path(__file__).parents[1]
"""Where the scripts of the pages are."""


@cache
def _scripts(folder: Path) -> dict[str, str]:
    """The scripts in a folder by their files, with what each has as its title."""
    texts = {file.name: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.py"))}
    titles = {name: re.search(r"^st\.title\(_\(\"(.+)\"\)\)", text, re.MULTILINE) for name, text in texts.items()}
    return {f"pages/{name}": title[1] if title else "" for name, title in titles.items()}


def further(folder: Path, listed: Collection[str]) -> list[Place]:
    """The pages that have no line here: each is called as its file is, and asks what its title does."""
    titles = {file: title for file, title in _scripts(folder).items() if file not in listed}
    return [
        Place(file, Path(file).stem.capitalize(), ":material/article:", always(question), _("Learn"))
        for file, question in zip(titles, map(_, titles.values()), strict=True)  # extracted where the page has it
    ]


def place_of(here: str) -> Place:
    """The page of this name."""
    return next(place for place in places() if Path(place.file).stem == here)


def _asked_at_start(state: State) -> str:
    return _question(state) or _("What should be decided here?")


def _asked_of_a_case(state: State) -> str:
    return _question(state) or _("Why this decision?")


def _asked_of_models(state: State) -> str:
    return {
        "conditionals": _("What does the model believe of each class?"),
        "ways": _("When is the counting done?"),
        "compare": _("Which model decides best, and is it really better?"),
    }[state.seen(keys.MODEL_VIEW)]


def _asked_of_networks(state: State) -> str:
    return {
        "learn": _("Which arcs do the data support?"),
        "ask": _("What does a finding change elsewhere?"),
        "hidden": _("What can be learned of a column that is never seen?"),
        "gibbs": _("How near does a random walk come to the exact answer?"),
    }[state.seen(keys.NET_TAB)]


def _asked_in_laboratory(state: State) -> str:
    return {
        "densities": _("How far from the best possible?"),
        "rates": _("A test is positive. How likely is it true?"),
        "fitted": _("Which parameters make these rows most likely?"),
        "likelihood": _("Which parameters make these rows most likely?"),
        "smoothing": _("Smooth everywhere, only where a zero is, or not at all?"),
        "rare": _("What becomes of a class that is rare?"),
        "underflow": _("Why are logarithms added?"),
    }[state.seen(keys.LAB_TAB)]


def _table(_state: State) -> Collection[str]:
    return ("table",)


def _table_and_case(_state: State) -> Collection[str]:
    return ("table", "case")


def _all_but_case(_state: State) -> Collection[str]:
    return ("table", "model", "losses")


def _table_if_learned(state: State) -> Collection[str]:
    tab, of_table = state.seen(keys.NET_TAB), state.seen(keys.NET) == "table"
    if tab == "learn" and of_table:  # it says what the network makes of the case
        return ("table", "case")
    learned = tab in ("learn", "hidden") or of_table
    return ("table",) if learned else ()


def _used_in_laboratory(state: State) -> Collection[str]:
    return {"smoothing": CHIPS, "fitted": ("table", "model", "case")}.get(state.seen(keys.LAB_TAB), ())


def _used_in_chapter(state: State) -> Collection[str]:
    """The rows that AODE lacks are those of the case."""
    rows = state.seen(keys.CHAPTER_PART) == "exercises" and state.seen(keys.SHEET) == "rows"
    return ("table", "case") if rows else ()


class Run(NamedTuple):
    """A run of the script: the pages by their files, the page that is shown, and its name."""

    listed: dict[str, st.Page]
    page: st.Page
    here: str


def begin() -> Run:
    """Begin a run: the pages are known to Streamlit, and the state is that of the address."""
    st.set_page_config(
        page_title="Bayes Workbench",
        page_icon=Path(__file__).parent / "icon.png",
        layout="wide",
        initial_sidebar_state="auto",
    )
    listed = {place.file: private.page(place.file, default=place.file == "pages/start.py") for place in places()}
    page = st.navigation(list(listed.values()), position="hidden")
    read_url(page.url_path)
    return Run(listed, page, page.url_path or "start")


def is_first(run: Run) -> bool:
    """Whether the page is the one that the app opens with, as it then is, in whatever language."""
    return run.here == "start" and replace(current(), language="") == START


def heading(more: str = "") -> None:
    """The app's style sheet, another one, and its name."""
    st.html(_STYLE + more)
    st.markdown("#### " + _("Bayes Workbench"))


def draw(run: Run) -> None:
    """What a page is before the engine is there: the sidebar, its title, and a sentence. The real ones take the same
    places."""
    title()
    st.caption(_("Opening the page …"))
    with st.sidebar:
        heading()
        for name, icon in (
            (_("Table"), "table"),
            (_("Model"), "tune"),
            (_("Case"), "search"),
            (_("Losses"), "balance"),
            (_("Workspace"), "save"),
        ):
            st.popover(f"**{name}**", icon=f":material/{icon}:", width="stretch", disabled=True)
        menu(run)
        st.segmented_control(
            _("Language"),
            list(LANGUAGES.values()),
            default=LANGUAGES[current_language()],
            label_visibility="collapsed",
            disabled=True,
        )


def title(question: str = "") -> None:
    """The title of the page that is shown: the question that its table is about, or what the page asks."""
    with st.container(key="page_title"):
        st.title(question or place_of(st.session_state["page"] or "start").asks(current()))


def _question(state: State) -> str:
    """The question of an embedded data set, "" for another table; also where a role was changed, for it speaks of the
    target."""
    if any(role for _position, role, *_rest in state.columns):
        return ""
    try:
        return md(dataset_cover(state.table).text("question", current_language()), 120)
    except BayesEngineError:
        return ""


def menu(run: Run) -> None:
    """The list of pages."""
    group, params = "", query_params()
    for place in places():  # in the language that the address has set
        if place.group != group:
            group = place.group
            st.caption(group)
        with st.container(key="menu_here") if Path(place.file).stem == run.here else nullcontext():
            st.page_link(
                run.listed[place.file], label=place.title, icon=place.icon, width="stretch", query_params=params
            )
