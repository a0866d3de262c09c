"""The second file, whose rows are classified: kept by the session, named in the state by its digest."""

from __future__ import annotations

import io
import tempfile
import weakref
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import IO, Any

import pandas as pd
import streamlit as st

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _, current_language
from bayes_engine.ledger import Status
from bayes_engine.table.notes import Note, listed, note
from bayes_engine.table.read import MAX_BYTES
from bayes_engine.table.roles import put
from bayes_engine.table.sheet import too_long
from bayes_engine.table.write import WRITERS
from bayes_engine.workbench.doctor.finding import Repair
from bayes_engine.workbench.incoming.batch import NOWHERE, SILENT, Scored, Tally, answers, results, score_file
from bayes_engine.workbench.incoming.incoming import (
    CellRules,
    Incoming,
    IncomingFile,
    Reception,
    Treatment,
    Why,
    names_alike,
    no_amounts,
)
from bayes_engine.workbench.incoming.pieces import Cells
from pages import active
from pages.active import reading, words
from pages.active.second_file import SecondFile, look
from pages.runtime import jobs
from pages.runtime.cache import kept
from pages.runtime.escape import clean, md
from pages.runtime.links import go
from pages.runtime.state import State, bound, change, current, keep_out_of_links, selected

SHOWN = 1000
"""How many rows are on screen; the download has all."""
COLUMNS = 60
"""How many of the file's own columns are on screen, the model's before the others."""
MONEY = 100.0
"""From such risks on they are amounts, and two decimals tell enough; below, probabilities times small losses."""
AT_ONCE = 20_000
"""Rows whose results are written when they are asked for; those of more are written beforehand."""
PACKED = 200_000
"""Rows from which on the CSV is packed: the server holds a download in memory."""


def drop() -> None:
    """Where the file is given. One that is no table is said, and what was on screen stays."""
    st.file_uploader(_("A second file"), key="second_file", on_change=_take, max_upload_size=MAX_BYTES // 1_000_000)
    if why := reading.refused("second_file"):
        st.error(_("This file could not be read: {why}.").format(why=why))


def _take() -> None:
    reading.take_in("second_file", look, _in_use)


def _in_use(name: str, content: bytes, found: Cells) -> None:
    mark = active.digest(content)
    st.session_state["second"] = (mark, SecondFile(name, content, (), found))
    if current().seen("second", "") != mark:
        change(lambda state: state.showing(second=mark, read_second=(), second_alike=False))


def given() -> SecondFile | None:
    """The second file the state names, if this session has it, read as the state wants."""
    mark, upload = st.session_state.get("second", ("", None))
    if upload is None or current().seen("second", "") != mark:
        return None
    upload.read_as(active.overrides(current(), "read_second"))
    found: SecondFile = upload
    return found


def offer_alike(table: active.InUse, fitted: active.Fitted, upload: SecondFile) -> None:
    """Columns whose names are the model's but for case, spaces or width: taken, or left, by one click."""
    wanted = (*fitted.model.schema_.names, table.target.name, *([table.amount_column] if table.amount_column else []))
    near = names_alike(upload.reading.names, wanted)
    if not near:
        return
    taken = current().seen("second_alike", False)
    told = _("; ").join(
        (_("'{other}' is taken as '{column}'") if taken else _("'{other}' could be '{column}'")).format(
            other=md(other, 40), column=md(name, 40)
        )
        for name, other in list(near.items())[:12]
    ) + (" …" if len(near) > 12 else "")
    icon = "check" if taken else "warning"
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(
            f":material/{icon}: " + _("Names that differ only in case, spaces or width: {pairs}.").format(pairs=told),
            width="content",
        )
        st.button(
            _("Leave them out") if taken else _("Take them"),
            key="alike",
            on_click=change,
            args=(lambda state: state.showing(second_alike=not taken),),
        )


def scored(
    table: active.InUse, fitted: active.Fitted, upload: SecondFile, loss: LossMatrix
) -> tuple[IncomingFile, Scored]:
    """The rows as the model sees them and their joints; computed once for a file and a model, whatever the losses.

    Raises SchemaMismatch where the file has none of the model's columns, or no amounts where the losses need them.
    """
    if loss.by_amount is not None and table.amount_column and table.amount_column not in _names(table, fitted, upload):
        raise no_amounts(table.amount_column)
    return _scored(_mark(upload), table.key, fitted.spec, current().seen("second_alike", False), table, fitted, upload)


def _names(table: active.InUse, fitted: active.Fitted, upload: SecondFile) -> set[str]:
    """The columns that the file has, under the names the model knows."""
    names = upload.reading.names
    alike = names_alike(names, (*fitted.model.schema_.names, table.target.name, table.amount_column))
    return {*names, *(alike if current().seen("second_alike", False) else ())}


def _mark(upload: SecondFile) -> str:
    """The file, and how it is read."""
    decimal = dict(upload.overrides).get("decimal", "")
    return f"{st.session_state['second'][0]}|{hash(upload.reading.recipe):x}|{decimal}"


@kept(max_entries=4)
def _scored(mark: str, key: str, spec: Any, alike: bool, _table: active.InUse, _fitted: active.Fitted,
            _upload: SecondFile) -> tuple[IncomingFile, Scored]:  # fmt: skip
    model, table = _fitted.model, _table
    units = {c.name: c.unit for c in table.info.columns if c.unit} if table.info else {}
    tokens = table.reading.recipe.missing if table.reading else table.info.missing if table.info else None

    treated, left = active.treated(table)

    def work() -> tuple[IncomingFile, Scored]:
        rules = CellRules(
            unseen=model.unseen, missing=model.missing, units=units, tokens=tokens or None, treated=treated,
            decimal=dict(_upload.overrides).get("decimal") or None,
        )  # fmt: skip
        reception = Reception(
            _upload.reading, model.schema_, table.target, rules, amount=table.amount_column, alike=alike
        )
        rows, found = score_file(_fitted.judging, reception)
        return replace(rows, notes=(*_mended(treated, left), *rows.notes)), found

    return jobs.run(("classify", mark, key, spec, alike), work, Message("classifying the rows of the file"))


def _mended(treated: Mapping[str, Treatment], left: Sequence[Repair]) -> Iterator[Note]:
    """What was done to the cells because it was done to the table's, and what was not."""
    if treated:
        yield note("cells are mended as the table's were, in columns: {names}", names=listed(tuple(treated), 12))
    far = [repair.column for repair in left if repair.what == "outliers-missing"]
    if far:
        yield note("cells far from all others were made missing in the table, and are taken as they are here, in "
                   "columns: {names}", "warning", names=listed(far, 12))  # fmt: skip


def needed(table: active.InUse) -> pd.DataFrame:
    """The columns that a file has to have: the features, and the one that multiplies losses."""
    assert table.parts is not None
    amount = table.parts.amount
    return table.parts.X if amount is None else put(table.parts.X, {table.amount_column: amount})


# the results as a file ------------------------------------------------------------------------------------------


def _flaws() -> dict[Why, str]:
    """What is said of a cell for which its row is not decided."""
    return {"no number": _("no number"), "no count": _("no count: 0, 1, 2, …"), "infinite": _("infinite"),
            "missing": _("missing"), "not seen in training": _("not seen in training"),
            "negative": _("negative")}  # fmt: skip


def _said_here() -> dict[str, str]:
    """The words of the reasons, in the language of whoever reads them."""
    return {SILENT: _("no column speaks for it: the prior or the losses decide"), **_flaws(),
            **{sentence: words.status(code) for code, sentence in NOWHERE.items()}}  # fmt: skip


class Format:
    """A format of the results: what a person calls it, the end of the file's name, its type."""

    def __init__(self, kind: str, rows: int) -> None:
        self.kind = kind
        self.packed = kind == "csv" and rows > PACKED
        self.ending = f"{kind}.gz" if self.packed else kind
        self.mime = {
            "csv": "application/gzip" if self.packed else "text/csv",
            "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "parquet": "application/vnd.apache.parquet",
        }[kind]


class Results:
    """The results of a file under losses and a prior of use, to be written in any format."""

    def __init__(self, table: active.InUse, fitted: active.Fitted, upload: SecondFile, rows: IncomingFile,
                 found: Scored, loss: LossMatrix, use: Mapping[Any, float] | None) -> None:  # fmt: skip
        self.rows = rows
        self.blocks = partial(answers, fitted.judging, rows, found, loss, table.classes, use, amount=rows.amount,
                              said_as=_said_here())  # fmt: skip
        prior = None if use is None else tuple(use.items())
        alike = current().seen("second_alike", False)
        self.key: tuple[Hashable, ...] = (_mark(upload), table.key, fitted.spec, alike, loss, prior, current_language())

    def write(self, out: IO[bytes], kind: Format) -> int:
        """Write them; how many texts had to be cut."""
        return WRITERS[kind.kind](out, self.blocks(), len(self.rows), packed=kind.packed)

    def too_long(self) -> int:
        """How many texts of the file have to be cut for a spreadsheet."""
        return sum(too_long(column) for block in self.rows.reception.cells.blocks() for _, column in block.items())

    def at_once(self, kind: Format) -> bytes:
        """The whole file."""
        out = io.BytesIO()
        self.write(out, kind)
        return out.getvalue()

    def to_disk(self, kind: Format) -> OnDisk:
        """The whole file, written a block at a time."""
        file = OnDisk()
        file.cut = self.write(file.content, kind)
        return file


class OnDisk:
    """A temporary file of results, gone with its last user; `cut` is how many texts had to be cut."""

    def __init__(self) -> None:
        self.content: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by the finalizer)
        self.cut = 0
        weakref.finalize(self, self.content.close)

    def read(self) -> bytes:
        """All of it."""
        self.content.seek(0)
        return self.content.read()


def download(result: Results) -> None:
    """The results in the format of one's choice; those of a long file are written first, which can be called off."""
    kinds = {"csv": _("CSV"), "xlsx": _("Excel (xlsx)"), "parquet": _("Parquet")}
    chosen = current().seen("results_as", "csv")
    kind = Format(chosen if chosen in kinds else "csv", len(result.rows))
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        st.selectbox(
            _("Results as"),
            list(kinds),
            format_func=lambda k: kinds.get(k, k),
            width=170,
            **bound("results_as", kind.kind, lambda state, v: state.showing(results_as=v)),
        )
        place = st.empty()
    below = st.empty()
    key = (*result.key, kind.ending)
    content: Any = None
    cut = 0
    if len(result.rows) <= AT_ONCE:
        content = partial(result.at_once, kind)
        cut = result.too_long() if kind.kind == "xlsx" else 0
    else:
        written, file = st.session_state.get("second_written", (None, None))
        if written == key:
            content, cut = file.read, file.cut
    if content is not None:
        place.download_button(
            _("Download"),
            content,
            f"predictions.{kind.ending}",
            kind.mime,
            key="predictions",
            icon=":material/download:",
            type="primary",
            on_click="ignore",
        )
    else:
        place.button(_("Write the file"), icon=":material/edit_document:", type="primary", key="write_results",
                     on_click=_ask, args=(key,))  # fmt: skip
    if cut:
        below.caption(
            _("Texts longer than the 32,767 characters a spreadsheet's cell holds, which are cut there: {n}. CSV and "
              "Parquet have them whole.").format(n=f"{cut:,}")
        )  # fmt: skip
    elif kind.packed:
        below.caption(_("A file this long is packed with gzip."))


def _ask(key: Hashable) -> None:
    st.session_state["second_asked"] = key


def write_if_asked(result: Results) -> None:
    """Write the results that were asked for; while that takes, the page ends here with how far it is."""
    chosen = current().seen("results_as", "csv")
    kind = Format(chosen if chosen in WRITERS else "csv", len(result.rows))
    key = (*result.key, kind.ending)
    if st.session_state.get("second_asked") != key or len(result.rows) <= AT_ONCE:
        return
    try:
        file = jobs.run(("results", key), lambda: result.to_disk(kind), Message("writing the results"))
    except BayesEngineError as error:
        st.session_state["second_asked"] = None
        st.error(error.message.local(md))
        return
    st.session_state["second_asked"] = None
    st.session_state["second_written"] = (key, file)
    st.rerun()


# the rows on screen ---------------------------------------------------------------------------------------------


def row_table(table: active.InUse, fitted: active.Fitted, rows: IncomingFile, found: Scored, loss: LossMatrix,
              use: Mapping[Any, float] | None) -> None:  # fmt: skip
    """The first rows: decision, posterior and reason, then the file's own cells; a chosen row becomes the case, with
    its own amount where it has one."""
    first = rows.head(min(SHOWN, len(rows)))
    n = len(first)
    own = found.of(slice(0, n))
    decision = own.decide(loss, use, amount=first.amount)
    here = pd.RangeIndex(n).to_numpy()
    answer = results(fitted.judging, first, own, decision, own.posterior(use), table.classes, here,
                     _said_here())  # fmt: skip
    decided, risk, gap, *posterior, status, reason = answer.columns
    called = {a: clean(table.action(a)) for a in decision.action if a is not None}
    answer[decided] = [called.get(a, "") for a in decision.action]
    answer[status] = [words.status(s) for s in decision.status]
    known = [c for c in first.names if c in set(first.called.values())]
    columns = [*known, *(c for c in first.names if c not in set(known))][:COLUMNS]
    columns = [c for c in first.names if c in set(columns)]
    cells = first.cells[columns].reset_index(drop=True)
    shown = pd.concat([answer, cells], axis=1).set_axis(range(1, n + 1), axis=0)
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    dear = pd.concat([answer[risk], answer[gap]]).abs().max() >= MONEY
    fine = "%.2f" if dear else "%.6f"
    config = {
        decided: text(_("decision"), pinned=True),
        **{name: number(f"P({clean(table.class_(c), 18)})", format="%.6f", width=96)
           for name, c in zip(posterior, table.classes, strict=True)},
        risk: number(_("risk"), format=fine, width=90, help=_("R(a|x), the conditional risk of the decision")),
        gap: number(_("gap"), format=fine, width=90, help=_("by how much the second-best decision costs more")),
        status: text(_("status"), width=150),
        reason: text(_("reason"), width=380, help=_("the columns that speak loudest for the class decided and against "
                                                    "its strongest rival: log-odds in nats")),
        **{name: text(clean(name)) for name in cells.columns},
    }  # fmt: skip
    unclear = [status] if (decision.status != Status.OK).any() else []

    def choose() -> None:
        if chosen := selected("results", "rows"):
            change(lambda state: _case_of(state, table, first, chosen[0]))

    picked = st.dataframe(
        shown, key="results", on_select=choose, selection_mode="single-row", column_config=config, hide_index=False,
        column_order=[decided, *unclear, *posterior, reason, risk, gap, *cells.columns],
        height=min(38 + 35 * len(shown), 458), placeholder="",
        alt=_("the rows of the file with decision, posterior, reason and risk"),
    )  # fmt: skip
    if picked.selection.rows:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_("Row {n} is now the case.").format(n=picked.selection.rows[0] + 1))
            go("pages/case.py", _("Open it in One case"), ":material/search:")
    else:
        st.caption(_("Choose a row to open it in One case: the working, number by number."))
    if len(rows) > SHOWN:
        st.caption(_("The first {n} of {all} rows; the download has them all.").format(
            n=f"{SHOWN:,}", all=f"{len(rows):,}"))  # fmt: skip
    if len(first.names) > len(columns):
        st.caption(_("{n} of the file's {all} columns; the download has them all.").format(
            n=len(columns), all=f"{len(first.names):,}"))  # fmt: skip


def _case_of(state: State, table: active.InUse, rows: Incoming, i: int) -> State:
    """The state with row i of the file as its case; what the model cannot read there is missing."""
    cells = rows.frame.iloc[i]
    values = {k: None if pd.isna(v) or v in (float("inf"), float("-inf")) else v for k, v in cells.items()}
    keep_out_of_links(str(values[v.name]) for v in table.features if v.textual and values.get(v.name) is not None)
    own = -1.0 if rows.amount is None or not rows.amount[i] >= 0 else float(rows.amount[i])
    return replace(state, case=active.case_codes(table, values), row=-1, amount=own)


def against_truth(table: active.InUse, count: Tally, loss: LossMatrix) -> None:
    """How often each action was decided where the file says what is true; labels of no class counted apart."""
    if not count.known and not count.strange:
        return
    with st.expander(_("Decisions against the classes in the file"), icon=":material/fact_check:"):
        if count.known:
            told = pd.DataFrame(
                count.confusion,
                index=[words.deciding(table, action, clean) for action in loss.actions],
                columns=[_("truth is {label}").format(label=clean(table.class_(c), 40)) for c in table.classes],
            )
            st.dataframe(told, width="content", alt=_("decisions by true class"))
        if count.strange:
            st.caption(
                _("Rows whose label is no class of the model, counted neither as right nor as wrong: {n}.").format(
                    n=f"{count.strange:,}"
                )
            )


def bad_cells(rows: IncomingFile, n: int) -> None:
    """The cells for which rows are not decided, one by one."""
    if not rows.bad:
        return
    why = _flaws()
    listed = pd.DataFrame({
        "row": [cell.row + 1 for cell in rows.bad],
        "column": [clean(cell.column) for cell in rows.bad],
        "value": [clean(cell.value) for cell in rows.bad],
        "why": [why[cell.why] for cell in rows.bad],
    })  # fmt: skip
    with st.expander(_("Rows not decided: {n}; the cells that are why").format(n=f"{n:,}"), icon=":material/warning:"):
        st.dataframe(
            listed, hide_index=True, height=min(38 + 35 * len(listed), 283), alt=_("bad cells"),
            column_config={"row": _("row"), "column": _("column"), "value": _("value"), "why": _("why")},
        )  # fmt: skip
