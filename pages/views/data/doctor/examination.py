"""The table with what was found in it."""

from __future__ import annotations

from pages import active
from pages.runtime import jobs
from pages.views.data.doctor import findings, fitting
from pages.views.data.doctor.heads import heads
from pages.views.data.doctor.report import examined


def examine(table: active.TableInUse) -> None:
    """The table with what was found in it; while it is examined, the table alone."""
    findings.refused()
    findings.chips(table)
    try:
        found = examined(table)
    except jobs.UnderWay as there:
        jobs.progress_box(there)
        heads(table, ())
        return
    findings.summary(table, found)
    findings.of_table(table, found)
    heads(table, found.open)
    findings.of_columns(table, found)
    fitting.three(table, found)
