"""The table with what was found in it."""

from __future__ import annotations

from pages import active
from pages.runtime import jobs
from pages.views.data.doctor import findings, suggested_models
from pages.views.data.doctor.heads import table_with_heads
from pages.views.data.doctor.report import examined


def examine(table: active.TableInUse) -> None:
    """The table with what was found in it; while it is examined, the table alone."""
    findings.why_refused()
    findings.repair_chips(table)
    try:
        examination = examined(table)
    except jobs.UnderWay as there:
        jobs.progress_box(there)
        table_with_heads(table, ())
        return
    findings.summary(table, examination)
    findings.of_table(table, examination)
    table_with_heads(table, examination.open)
    findings.of_columns(table, examination)
    suggested_models.suggested_models(table, examination)
