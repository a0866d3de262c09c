"""Sharing what is on screen: the address of the current state and its QR code, for the others in the room."""

from __future__ import annotations

import io
import os
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

import segno
import streamlit as st

from bayes_engine.language import Message, _, current_language
from bayes_engine.workbench.hosts import is_own
from bayes_engine.workbench.launch import CLASSROOM
from bayes_engine.workbench.qr_drawing import qr_drawn
from pages.active import own_lessons
from pages.components.component import component
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import State, current, encode, link_token, use_session_language
from pages.shell import take_away

EASY = 97
"""Modules on a side of the largest code that a phone reads from a projector across a room (version 20: about 850
characters); a module of a larger one is finer than what its camera tells apart."""
PIXELS = 1200
"""A code is drawn at least this wide, so that it is sharp on a projector."""

_component = component(__file__, "bayes_sidebar")
_LINKS = private.selectors("[st=Sidebar] [st=PageLink] a")
_HERE = private.selectors("[st=Sidebar] .st-key-menu_here")
_MAIN = private.selectors("[st=MainBlockContainer]")
_CLOSE = private.selectors("[st=SidebarCollapseButton] button")


CODED = 2_900
"""Characters of an address that a QR code holds."""


class Code(NamedTuple):
    """A QR code: the picture, and how many modules it has on a side."""

    png: bytes
    modules: int


def share() -> None:
    """The button that shows the address; and what puts the sidebar away on a phone, and says the page's language."""
    if st.button(_("Share"), key="share", icon=":material/qr_code_2:", type="tertiary",
                 help=_("The address of what is on screen, with its QR code; its live pictures as files that work "
                        "offline.")):  # fmt: skip
        st.dialog(_("Share what is on screen"), width="large", icon=":material/qr_code_2:")(_inside)()
    _component(
        key="sidebar_away",
        data={"language": current_language(), "links": _LINKS, "here": _HERE, "close": _CLOSE, "main": _MAIN},
    )


def in_classroom() -> bool:
    return os.environ.get(CLASSROOM, "0") not in ("", "0")


def qr(address: str) -> Code:
    """The QR code of an address, black on white with its rim whatever the theme; with the strongest correction of
    errors that costs no modules."""
    code, out = segno.make(address, micro=False, error="l"), io.BytesIO()
    modules = int(code.symbol_size(border=0)[0])
    code.save(out, kind="png", border=4, scale=-(-PIXELS // (modules + 8)))
    return Code(out.getvalue(), modules)


def address_of(token: str, here: str | None, server: str | None) -> str:
    """The address that opens the state of `token` on the page `here`; where the browser calls this computer by a name
    that only it understands, the `server`'s own address stands in.

    >>> address_of("1.eNo", "http://localhost:8501/decisions", "192.168.0.7")
    'http://192.168.0.7:8501/decisions?s=1.eNo'
    >>> address_of("", "http://bayes.example.org/", None)
    'http://bayes.example.org/'
    """
    there = urlsplit(here or "http://localhost:8501/")
    host = there.netloc
    if server and is_own(there.hostname or ""):
        host = server if there.port is None else f"{server}:{there.port}"
    return urlunsplit((there.scheme, host, there.path, f"s={token}" if token else "", ""))


def short(state: State) -> State:
    """What a link keeps where little room is: the table, and what its planes open on."""
    return State(table=state.table, view=state.settings(keys.AXES_AT_FIRST))


def beside(here: str | None, page: str) -> str:
    """The address of another page of the app.

    >>> beside("http://localhost:8501/app/decisions?s=1.eNo", "chapter")
    'http://localhost:8501/app/chapter'
    """
    there = urlsplit(here or "http://localhost:8501/")
    return urlunsplit((there.scheme, there.netloc, there.path.rpartition("/")[0] + f"/{page}", "", ""))


def _inside() -> None:
    use_session_language()  # a fragment starts from the context's default
    take_away.entry(*code_of_state())
    _link()


def code_of_state() -> tuple[str, str, str]:
    """The address of the state, its QR code as SVG, and what is said beside it: of a state that no code holds the code
    is that of page and table."""
    server = st.get_option("browser.serverAddress") if in_classroom() else None
    address = address_of(link_token(), st.context.url, server)
    if len(address) <= CODED and (code := qr_drawn(address)):
        return address, code, _("Opens this state where the app runs:")
    brief = address_of(encode(short(current())), st.context.url, server)
    return address, qr_drawn(brief), _("Opens this state where the app runs (the code, page and table only):")


def _link() -> None:
    server = st.get_option("browser.serverAddress") if in_classroom() else None
    here = st.context.url
    token = link_token()
    reached = in_classroom() or not is_own(urlsplit(here or "").hostname or "localhost")
    what = _what(reached and qr(address_of(token, here, server)).modules > EASY)
    if what == "lesson":
        here, token = beside(here, "chapter"), own_lessons.link_to_list(current())
    elif what == "brief":
        token = encode(short(current()))
    address = address_of(token, here, server)
    if what == "lesson" and len(token) > own_lessons.LONGEST_LINK:
        st.warning(
            _(
                "Your lesson is too long for a link: {n} characters, and {most} are carried everywhere. Save it as a "
                "file on the page Chapter, and hand that on."
            ).format(n=len(token), most=own_lessons.LONGEST_LINK)
        )
        return
    if not reached:
        st.code(address, language=None, wrap_lines=True)
        st.markdown(_("This address works on this computer only. To let others in the room open it, end the "
                      "app and start it as a classroom in your terminal:"))  # fmt: skip
        st.code("bayes-workbench --classroom", language=None)
        _clear_message(what)
        return
    if len(address) > CODED:
        st.warning(
            _(
                "Your lesson is too long for a QR code, which holds {n} characters. Send the link, or save the file."
            ).format(n=CODED)
        )
        st.code(address, language=None, wrap_lines=False)
        return
    code = qr(address)
    picture, words = st.columns([3, 2], gap="medium")
    with picture, st.container(key="share_code"):
        st.image(code.png, width="stretch", alt=_("QR code of the address"))
    with words:
        st.markdown("#### " + md(address_of("", here, server)))
        if what == "lesson":
            st.markdown(_("Whoever opens this address has your lesson, and steps through it alone."))
        else:
            st.markdown(
                _("Whoever opens this address sees what you see, and then works alone: nobody changes your screen.")
            )
        if code.modules > EASY:
            st.warning(_("This state makes a dense code: from a projector a phone may fail to read it. Come "
                         "close, or share page and table only.") if what != "lesson" else
                       _("A lesson of this length makes a dense code: from a projector a phone may fail to read "
                         "it. Come close, or send the link."))  # fmt: skip
        st.code(address, language=None, wrap_lines=len(address) <= 120)
        _clear_message(what)


def _what(dense: bool) -> str:
    """What the link opens: "all", or where it is dense "brief", or the "lesson" in hand."""
    choices = {"all": _("All of it")}
    if dense:
        choices["brief"] = _("Page and table only")
    if n := len(own_lessons.in_hand(current()).lessons):
        choices["lesson"] = Message("My lesson, {n} step(s)", {"n": n}).local(md)
    if len(choices) == 1:
        return "all"
    chosen = st.segmented_control(
        _("What the link opens"), list(choices), format_func=choices.__getitem__, default="all", required=True,
        key="share_what",
    )  # fmt: skip
    return str(chosen or "all")


def _clear_message(what: str) -> None:
    if what == "lesson":
        st.caption(_("The link holds the whole lesson. A step on an uploaded file names it, and never holds a cell of "
                     "it."))  # fmt: skip
        return
    st.caption(_("Every page's state is in its address: Back in the browser undoes the last change, and a link kept "
                 "today opens the same numbers later, in English or in 中文."))  # fmt: skip
    st.caption(_("The link holds names, numbers and settings, never a cell of an uploaded file: others upload the same "
                 "file on the page Data, and everything is as it is here."))  # fmt: skip
    if st.session_state.get("too_long"):
        st.caption(_("This state is too large for a link: losses, case and column changes are not in the address."))
