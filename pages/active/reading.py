"""How a file was read, said and changeable: selects with the guess preselected, and the list of what was inferred."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.table.decode import first_lines
from bayes_engine.table.notes import Note
from bayes_engine.table.read import Reading
from bayes_engine.workbench.incoming.file_blocks import CellBlocks
from pages.active.files import ENCODINGS, READING, SECOND_FILE, File, Role, Upload
from pages.runtime import jobs
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.listed_buttons import listed
from pages.runtime.state import State, change, current
from pages.runtime.widgets import bound_to, control

SHORT = 6
"""How many notes are shown before the rest is folded."""
MOST = 60
"""How many are shown at all: a table of thousands of columns may have a note for each."""
T = TypeVar("T")
Read = TypeVar("Read", bound=Reading | CellBlocks)


def read_dropped(key: str, role: Role[T], then: Callable[[Upload[T]], None]) -> None:
    """For the callback of the uploader `key`: the file that was dropped is read, and then `then` is called with it.
    One in which there is nothing to read is said, and all stays."""
    dropped = st.session_state.get(key)
    st.session_state[f"{key}_said"] = None
    if dropped is None:
        jobs.cancel_callback_job()
        return
    file = File.of(clean(dropped.name), dropped.getvalue())

    def read(reading: T) -> None:
        then(Upload(role, file, (), reading))

    work, refuse = partial(role.read, file, ()), partial(_refused, key)
    jobs.run_after_callback(role.job(file, ()), work, READING, read, refuse, size=len(file.content))


def _refused(key: str, error: BayesEngineError) -> None:
    st.session_state[f"{key}_said"] = error.message


def why_refused(key: str) -> str:
    """Why the file on the uploader `key` is no table; "" where there is nothing to say."""
    message = st.session_state.get(f"{key}_said")
    return message.local(md) if message and st.session_state.get(key) else ""


Then = Callable[[State, Read, Read], State]
"""What else changes when a file was read again: (state, before, after)."""


def unchanged(state: State, _before: object, _after: object) -> State:
    """Nothing else changes when the file was read again."""
    return state


def reading_choices(upload: Upload[Read], then: Then[Read] = unchanged) -> None:
    """The choices that were made in reading a file; a change reads it again.

    A way of reading that does not fit leaves everything as it is, and is said.
    """

    def override(name: str) -> Callable[[State, Any], State]:
        return lambda state, value: _again(state, upload, name, value, then)

    def choice(place: Any, name: str, label: str, value: Any, words: Mapping[Any, str], width: Any = "stretch") -> None:
        place.selectbox(
            label,
            list(dict.fromkeys([*words, value])),
            format_func=lambda option: words.get(option, option),
            width=width,
            **control(f"{key}_{name}", value, override(name)),
        )

    recipe, key = upload.reading.recipe, upload.role.widgets
    marks = {".": _("point 1.5"), ",": _("comma 1,5")}
    refusal = st.session_state.get(f"{key}_said")
    with st.expander(_("How the file was read"), icon=":material/manage_search:", expanded=bool(refusal)):
        if refusal:
            st.error(_("That does not work: {why}. The table is as it was.").format(why=refusal.local(md)))
        if recipe.format in ("parquet", "arff"):
            st.caption(_("The file brings its own names and types; what can be read otherwise has a button above."))
            return
        cells = st.columns(4)
        if recipe.format == "text":
            encodings = {name: name for name in (recipe.encoding, *ENCODINGS)}
            choice(cells[0], "encoding", _("Encoding"), recipe.encoding, encodings)
            delimiters = {
                ",": _("comma ,"),
                ";": _("semicolon ;"),
                "\t": _("tab"),
                "|": _("bar |"),
                " ": _("space"),
                "aligned": _("aligned by spaces"),
                "": _("none: one column"),
            }
            choice(cells[1], "delimiter", _("Delimiter"), recipe.delimiter, delimiters)
            quotes = {'"': '"', "'": "'", "": _("nothing")}
            choice(cells[2], "quote", _("Cells are quoted with"), recipe.quote, quotes)
        else:
            choice(cells[0], "sheet", _("Sheet"), recipe.sheet, {name: name for name in recipe.sheets})
        line = int(recipe.header)
        header = override("header")
        cells[3].selectbox(
            _("Names in line"),
            list(dict.fromkeys([0, *range(1, 11), line])),
            format_func=lambda n: str(n) if n else _("no names in the file"),
            **control(f"{key}_header", line, lambda s, n: header(s, n or False)),
        )
        if isinstance(upload.reading, Reading):
            cells = st.columns(4)
            choice(cells[0], "decimal", _("Decimal mark"), upload.reading.recipe.decimal, marks)
            _types(upload.reading, cells[1:], override)
        else:
            decimal = dict(upload.overrides).get("decimal", "")
            choice(st, "decimal", _("Decimal mark"), decimal, {"": _("by rule"), **marks}, width=240)
        st.checkbox(
            _("Leave out footers, comments, repeated names and a second table"),
            **control(f"{key}_trim", recipe.trim, override("trim")),
        )
        if recipe.format == "text":
            st.caption(_("The file as this encoding has it"))
            shown = _first_lines(upload.file.digest, recipe.encoding, upload.file.content)
            st.code("\n".join(f"{n:>5}  {clean(text, 160)}" for n, text in shown), language=None)


@cached(max_entries=16)
def _first_lines(digest: str, encoding: str, _content: bytes) -> list[tuple[int, str]]:
    return first_lines(_content, encoding)


def _types(reading: Reading, places: Sequence[Any], override: Callable[[str], Callable[[State, Any], State]]) -> None:
    """What the cells mean: missing tokens, and a column read as something else."""
    recipe = reading.recipe
    tokens = list(recipe.missing or ())
    usual = list(dict.fromkeys([*tokens, "NA", "N/A", "?", "-", "None", "null", "-999", "缺失"]))
    missing = override("missing")
    places[0].multiselect(
        _("Only these mean missing"),
        usual,
        accept_new_options=True,
        placeholder=_("by rule"),
        help=_(
            "Besides the empty cell. By rule: NaN, ? and the like everywhere; NA, None, -, and words such as "
            "unknown or pending, only in a column that holds numbers otherwise; any other word where it stands in "
            "one row of twenty at most, among ten different numbers and more that are mostly fractions. A dash or a "
            "point that is missing among a file's numbers is missing among its words too. What was read so is said."
        ),
        **control("read_missing", tokens, lambda s, v: missing(s, tuple(v)), new_words=True),
    )
    names = list(reading.frame.columns)
    position = min(current().seen(keys.READ_COLUMN), len(names) - 1)
    places[1].selectbox(
        _("Column"),
        range(len(names)),
        format_func=lambda j: clean(names[j]),
        **bound_to(keys.READ_COLUMN, position),
    )
    kinds = {
        "auto": _("by rule"),
        "text": _("text"),
        "number": _("numbers"),
        "date": _("dates, day first"),
        "date_month_first": _("dates, month first"),
    }
    types = override("types")
    places[2].selectbox(
        _("is read as"),
        list(kinds),
        format_func=kinds.__getitem__,
        help=_(
            "By rule a column is numbers also where one thing stands beside them and can mean nothing else: a unit, a "
            "word that multiplies (1.2 Mio., 3.4万; a letter such as k or M behind fractions or amounts of money), the "
            "mark of a footnote (27.9*, 8[3]) or a statistical flag (1.9 b), an error (2.7±0.1), the same sign behind "
            "all (1,000+, 4.5/5). It is left out, and said; *Keep as text* undoes it. Limits (<0.5) stay text."
        ),
        **control("read_type", dict(recipe.types).get(position, "auto"), lambda s, kind: types(s, ((position, kind),))),
    )


def _again(state: State, upload: Upload[Read], name: str, value: Any, then: Then[Read]) -> State:
    key = upload.role.widgets
    present = dict(upload.role.wanted(state))
    if name == "types":  # of one column: the others stay as they were
        kinds = {**dict(present.get("types", ())), **dict(value)}
        value = tuple((position, kind) for position, kind in sorted(kinds.items()) if kind != "auto")
    wanted = tuple(sorted({**present, name: value}.items()))
    given, before = _given(state), upload.reading

    def read(after: Read) -> None:
        if _given(current()) == given:  # else another file is in use by now
            upload.take(wanted, after)
            change(lambda state: then(upload.role.wanting(state, wanted), before, after))

    st.session_state[f"{key}_said"] = None
    job, work, refuse = upload.role.job(upload.file, wanted), partial(upload.look, wanted), partial(_refused, key)
    jobs.run_after_callback(job, work, READING, read, refuse, size=len(upload.file.content))
    return state


def _given(state: State) -> tuple[str, str]:
    return state.table, SECOND_FILE.named(state)


def reading_notes(report: Iterable[Note], upload: Upload[Read], then: Then[Read] = unchanged) -> None:
    """What was inferred or changed, the doubtful first; beside each a button for every other way to read the file."""
    ordered, key = sorted(report, key=lambda n: n.severity != "warning"), upload.role.widgets
    typed = isinstance(upload.reading, Reading)

    def line(place: int, note: Note) -> None:
        mark = ":material/warning:" if note.severity == "warning" else ":material/check:"
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key=f"{key}_note_{place}"):
            st.markdown(f"{mark} {note.message.local(_quoted)}", width="content")
            offers = [o for o in note.offers if typed or o.keyword not in ("types", "missing")]
            for number, other in enumerate(offers):
                edit = partial(_again, upload=upload, name=other.keyword, value=other.value, then=then)
                what = (upload.file.digest, other.keyword, other.value)
                st.button(other.label.local(_quoted), type="tertiary", icon=":material/undo:",
                          **listed(f"{key}_offer_{place}_{number}", what, edit, _given))  # fmt: skip

    with st.container(gap=None):
        for place, note in enumerate(ordered[:SHORT]):
            line(place, note)
    if ordered[SHORT:]:
        with st.expander(_("{n} more").format(n=len(ordered) - SHORT)), st.container(gap=None):
            for place, note in enumerate(ordered[SHORT:MOST], start=SHORT):
                line(place, note)
            if ordered[MOST:]:
                st.caption(_("and {n} more of the same kinds").format(n=len(ordered) - MOST))


def _quoted(text: str) -> str:
    return md(text, 300)
