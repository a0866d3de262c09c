"""The active model fitted to all rows of a large file, whose sample is what the page shows; and its risk there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import streamlit as st

from bayes_engine import save_model
from bayes_engine.language import _
from bayes_engine.numerals import number
from pages import active
from pages.active import all_rows, large_files, shelf, unfinished, units
from pages.components.tables import markdown_table
from pages.runtime import jobs
from pages.runtime.escape import md
from pages.runtime.progress_box import progress_box
from pages.runtime.state import current
from pages.views.model.saved_model import MIME


def fit_to_all_rows(table: active.FittableTable, fitted: active.Fitted) -> None:
    """Where the table is a sample: the model of all rows, to be fitted, judged and saved."""
    of = large_files.sample_in_use()
    if of is None:
        return
    with st.container(border=True, key="all_rows"):
        words = _("**All rows** · {n} of {file}")
        st.markdown(":material/database: " + words.format(n=f"{of.rows:,}", file=md(of.file, 60)))
        large = large_files.opened(current())
        if large is None:
            st.caption(
                _("To fit a model to all rows, open the file again on the page Data: the same number of rows and the "
                  "same seed lead to this sample. What was counted before is kept.")
            )  # fmt: skip
            return
        if table.repairs:
            st.caption(
                _("Cells of the sample were mended, and those of the file are as they are: mend the file, or undo the "
                  "mends on the page Data. Then a model can be fitted to all rows.")
            )  # fmt: skip
            return
        known = all_rows.known(large, table, fitted)
        keys = {"fit": all_rows.key_of(large, table, fitted), "judge": all_rows.judged_key(large, table, fitted)}
        there = {"fit": known.model, "judge": known.risk}
        left = [what for what, key in keys.items() if there[what] is None and not unfinished.is_offered(key)]
        _results(table)
        if known.model is not None:
            _download(fitted, known)
        try:
            if (why := all_rows.compute_if_asked(large, table, fitted)) is not None:
                st.error(_("Not all rows: {why}.").format(why=why.message.local(md)))
        except jobs.UnderWay as under_way:
            progress_box(under_way, goes_on=partial(all_rows.is_begun, keys[all_rows.asked() or "fit"]))
            if under_way.job is not None:
                return
            left = [what for what in left if what != all_rows.asked()]  # the box has a button that begins it again
        _buttons(large, table, fitted, left)


def _results(table: active.FittableTable) -> None:
    """The models of the shelf that were fitted to all rows or judged on them."""
    large = large_files.opened(current())
    rows = []
    for spec, name in zip(active.shelf_of(table), shelf.names(table), strict=True):
        known = all_rows.known_of(large, table, spec) if large else all_rows.OfAllRows()
        if known.model is None and known.risk is None:
            continue
        cells = ["–"] * 3
        if (risk := known.risk) is not None:
            low, high = risk.interval
            cells = [f"{number(risk.risk)} [{number(low)}, {number(high)}]", f"{risk.accuracy:.2%}",
                     units.loss_text(risk.log_loss)]  # fmt: skip
        rows.append((md(name, 60), f"{large.of.rows:,}" if known.model is not None and large else "–", *cells))
    if rows:
        markdown_table([
            (_("model"), _("fitted to rows"), _("held-out risk, 95 % interval"), _("accuracy"), units.loss_measure()),
            *rows,
        ])  # fmt: skip
        st.caption(
            _("Of *all rows*: each is judged by a model learnt from four fifths that it is not in, under the losses "
              "and the prior of use that stand. Each of your models keeps its own fit, also where its parameters are "
              "changed and changed back, and on this computer after the program was ended: add models to compare "
              "them.")
        )  # fmt: skip


def _download(fitted: active.Fitted, known: all_rows.OfAllRows) -> None:
    called = re.sub(r"[^\w.-]+", "-", fitted.spec.name).strip("-.") or fitted.spec.family
    st.download_button(
        _("Download the model of all rows"), lambda: save_model(known.model) or b"", f"{called}.all-rows.model.bayes",
        MIME, key="all_rows_save", icon=":material/download:", type="primary", on_click="ignore",
    )  # fmt: skip


def _buttons(
    large: large_files.LargeFile, table: active.FittableTable, fitted: active.Fitted, left: Sequence[str]
) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if "fit" in left:
            begun = all_rows.is_begun(all_rows.key_of(large, table, fitted))
            st.button(
                _("Go on fitting to all rows") if begun else _("Fit to all rows"),
                key="all_rows_fit", icon=":material/play_arrow:", type="primary", on_click=all_rows.ask,
                args=("fit", all_rows.key_of(large, table, fitted)),
                help=_("The active model, with the parameters that it has here, counted block by block in one pass "
                       "over the file, or two where numbers are cut into intervals. A network whose graph is searched "
                       "for takes one more for each set of tables that the search asks for, and leaves out parents "
                       "that cost more than they can gain where their table is large. What is counted is kept every "
                       "few seconds, or after each pass of a search: cancelled or broken off, also by the end of the "
                       "program, it goes on from there."),
            )  # fmt: skip
        if "judge" in left:
            begun = all_rows.is_begun(all_rows.judged_key(large, table, fitted))
            st.button(
                _("Go on judging on all rows") if begun else _("Judge on all rows"),
                key="all_rows_judge", icon=":material/balance:", on_click=all_rows.ask,
                args=("judge", all_rows.judged_key(large, table, fitted)),
                help=_("Held-out risk in five folds by a hash of where each row stands; structure and cut points are "
                       "learnt in each fold anew. It takes two or three passes over the file, and what is counted is "
                       "kept as for a fit."),
            )  # fmt: skip
    if fitted.calibrated is not None:
        st.caption(_("Of all rows the model is fitted and judged without its calibration."))
