"""What more is asked of the projection, one question at a time."""

from __future__ import annotations

from bayes_engine.language import _
from pages import active
from pages.runtime import view_keys as keys
from pages.runtime.state import choose
from pages.views.projection import discriminants
from pages.views.projection.equivalence import equivalence
from pages.views.projection.projection import numeric_columns, or_explain


def sections(table: active.FittableTable, pair: tuple[str, str]) -> None:
    """The questions that this table allows; `pair` are the columns looked at."""
    titles = {"demo": _("Fisher = LDA = Bayes?"), "dial": _("LDA ↔ QDA"), "naive": _("Before naive Bayes")}
    if len(table.classes) > 2:
        titles = {"planes": _("All columns on two directions"), **titles}
    section = choose(_("Look further"), keys.SECTION, titles)
    names = tuple(v.name for v in numeric_columns(table))
    if section == "demo":
        equivalence()
    elif section == "planes":
        or_explain(lambda: discriminants.discriminant_planes(table, names))
    elif section == "dial":
        or_explain(lambda: discriminants.pooling_and_shrinkage(table, pair, names))
    else:
        or_explain(lambda: discriminants.projections_before_naive_bayes(table, names))
