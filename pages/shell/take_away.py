"""What of the page can be taken along, where it is shared: its live pictures, each as one file that works offline."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

import streamlit as st

from bayes_engine.language import _, current_language
from pages import active
from pages.active import shelf, words
from pages.components import live_pictures, take_away
from pages.components.component import on_screen
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import current
from pages.shell import frame

KB = 1000


def entry(address: str, code: str, code_says: str) -> None:
    """A button for each picture; `address` opens the state, `code` is its QR code as SVG."""
    run = on_screen()
    pictures = live_pictures.pictures(run)
    if run is None or not pictures:
        return
    st.markdown(
        f"**{_('Take away as a file')}** · "
        + _("one HTML file that opens by a double click and works without a network")
    )
    about = _about(run.page, address, code, code_says)
    with st.container(horizontal=True, gap="small"):
        _buttons(pictures, about)
    if current().table.startswith("upload:"):
        st.caption(_("A saved picture holds what it shows, so also cells of your table: the rows drawn and the case."))


def _buttons(pictures: Sequence[live_pictures.Picture], about: take_away.About) -> None:
    for n, picture in enumerate(pictures):
        taken = take_away.take(picture, about, current_language())
        if (size := len(taken.content)) > take_away.MOST:
            st.warning(
                _(
                    "{picture}: the file would have {size} kB, and {most} kB are the limit. A table with fewer classes "
                    "or fewer levels on the axes, or fewer attributes, makes it smaller."
                ).format(picture=md(picture.title), size=-(-size // KB), most=take_away.MOST // KB)
            )
            continue
        st.download_button(
            md(picture.title) + " · " + _("{n} kB").format(n=-(-size // KB)),
            taken.content,
            _file_name(picture.name),
            "text/html",
            key=f"take_away_{n}",
            icon=":material/download:",
            on_click="ignore",
        )
        if taken.without_rows:
            st.caption(_("{picture}: without the rows; with them the file would be larger than {most} kB.").format(
                picture=md(picture.title), most=take_away.MOST // KB))  # fmt: skip


def _about(page: str, address: str, code: str, code_says: str) -> take_away.About:
    table = active.table_in_use()
    of_app = page == "laboratory" and current().seen(keys.LAB_TAB) in ("densities", "likelihood")
    parts = [_("numbers of the laboratory")] if of_app else [clean(table.title, 80)]
    if isinstance(table, active.FittableTable) and not of_app:
        specs = active.shelf_of(table)
        parts.append(clean(words.spec(specs[shelf.active_place(table)]), 80))
    data = ""
    if (info := table.info) and not of_app:
        language = current_language()
        data = _("Data: {source}. Licence: {licence}.").format(
            source=info.source.rstrip(".。"), licence=info.text("licence", language).rstrip(".。")
        )
    of_table = page != "network" and not of_app and clean(table.question, 160)
    title = of_table or clean(frame.place_of(page).asks(current()), 160)
    date = dt.datetime.now().astimezone().date().isoformat()
    return take_away.About(title, " · ".join(parts), date, address, code, code_says, data)


def _file_name(picture: str) -> str:
    table = re.sub(r"[^A-Za-z0-9-]+", "-", active.table_in_use().title if current().table.startswith("upload:") else
                   current().table).strip("-")[:40]  # fmt: skip
    return f"bayes-{picture}{'-' + table if table else ''}.html"
