"""How a file was read, said and changeable: selects with the guess preselected, and the list of what was inferred."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.table.numbers import Note
from bayes_engine.table.read import Reading, read_table
from pages.shared import data
from pages.shared.escape import clean, md
from pages.shared.state import State, bound

SHORT = 6
"""How many notes are shown before the rest is folded."""


def taken(key: str, *, typed: bool = True) -> data.Upload | None:
    """The file that was dropped on the uploader `key`, read; None where there is none, or where it is no table, which
    is said. For a widget callback."""
    file = st.session_state[key]
    st.session_state[f"{key}_said"] = None
    if file is None:
        return None
    name, content = clean(file.name), file.getvalue()
    try:
        return data.Upload(name, content, (), read_table(content, name=name, typed=typed))
    except BayesEngineError as error:
        st.session_state[f"{key}_said"] = error.message
        return None


def refused(key: str) -> str:
    """Why the file on the uploader `key` is no table; "" where there is nothing to say."""
    said = st.session_state.get(f"{key}_said")
    return said.local(md) if said and st.session_state.get(key) else ""


Then = Callable[[State, Reading, Reading], State]
"""What else changes when a file was read again: (state, before, after)."""


def how_read(upload: data.Upload, key: str, then: Then, *, typed: bool = True) -> None:
    """The choices that were made in reading a file, kept in the state under `key`; a change reads it again.

    A way of reading that does not fit leaves everything as it is, and is said.
    """

    def override(name: str) -> Callable[[State, Any], State]:
        return lambda state, value: _again(state, upload, key, name, value, then, typed)

    recipe = upload.reading.recipe
    said = st.session_state.get(f"{key}_said")
    with st.expander(_("How the file was read"), icon=":material/manage_search:", expanded=bool(said)):
        if said:
            st.error(_("That does not work: {why}. The table is as it was.").format(why=said.local(md)))
        if recipe.format in ("parquet", "arff"):
            st.caption(_("The file brings its own names and types; there is nothing to choose."))
            return
        cells = st.columns(5)
        if recipe.format == "text":
            cells[0].selectbox(
                _("Encoding"),
                list(dict.fromkeys([recipe.encoding, *data.ENCODINGS])),
                **bound(f"{key}_encoding", recipe.encoding, override("encoding")),
            )
            marks = {
                ",": _("comma ,"),
                ";": _("semicolon ;"),
                "\t": _("tab"),
                "|": _("bar |"),
                " ": _("space"),
                "aligned": _("aligned by spaces"),
                "": _("none: one column"),
            }
            cells[1].selectbox(
                _("Delimiter"),
                list(dict.fromkeys([*marks, recipe.delimiter])),
                format_func=lambda d: marks.get(d, d),
                **bound(f"{key}_delimiter", recipe.delimiter, override("delimiter")),
            )
        else:
            cells[0].selectbox(_("Sheet"), recipe.sheets, **bound(f"{key}_sheet", recipe.sheet, override("sheet")))
        line = int(recipe.header)
        header = override("header")
        cells[2].selectbox(
            _("Names in line"),
            list(dict.fromkeys([0, *range(1, 11), line])),
            format_func=lambda n: str(n) if n else _("no names in the file"),
            **bound(f"{key}_header", line, lambda s, n: header(s, n or False)),
        )
        if not typed:
            return
        cells[3].selectbox(
            _("Decimal mark"),
            [".", ","],
            format_func={".": _("point 1.5"), ",": _("comma 1,5")}.get,
            **bound(f"{key}_decimal", recipe.decimal, override("decimal")),
        )
        tokens = list(recipe.missing or ())
        usual = list(dict.fromkeys([*tokens, "NA", "N/A", "?", "-", "None", "null", "-999", "缺失"]))
        missing = override("missing")
        cells[4].multiselect(
            _("Only these mean missing"),
            usual,
            accept_new_options=True,
            placeholder=_("by rule"),
            help=_(
                "Besides the empty cell. By rule: NaN, ? and the like everywhere; NA, None, - only "
                "in a column that holds numbers otherwise."
            ),
            **bound(f"{key}_missing", tokens, lambda s, v: missing(s, tuple(v))),
        )


def _again(state: State, upload: data.Upload, key: str, name: str, value: Any, then: Then, typed: bool) -> State:
    wanted = tuple(sorted({**dict(data.overrides(state, key)), name: value}.items()))
    before = upload.reading
    st.session_state[f"{key}_said"] = None
    try:
        upload.read(wanted, typed=typed)
    except BayesEngineError as error:
        st.session_state[f"{key}_said"] = error.message
        return state
    return then(state.showing(**{key: wanted}), before, upload.reading)


def notes(said: Iterable[Note]) -> None:
    """What was inferred or changed, the doubtful first."""
    lines = [
        f"{':material/warning:' if n.severity == 'warning' else ':material/check:'} {n.message.local(_quoted)}"
        for n in sorted(said, key=lambda n: n.severity != "warning")
    ]
    if lines:
        st.markdown("  \n".join(lines[:SHORT]))
    if lines[SHORT:]:
        with st.expander(_("{n} more").format(n=len(lines) - SHORT)):
            st.markdown("  \n".join(lines[SHORT:]))


def _quoted(text: str) -> str:
    return md(text, 300)
