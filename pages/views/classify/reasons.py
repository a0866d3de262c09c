"""The reasons that are given for a row, in the language of whoever reads them."""

from __future__ import annotations

from bayes_engine.language import _
from bayes_engine.workbench.incoming.classified_file import NOWHERE, SILENT
from bayes_engine.workbench.incoming.second_table import Why
from pages.active import words


def cell_problems() -> dict[Why, str]:
    """What is said of a cell for which its row is not decided."""
    return {"no number": _("no number"), "no count": _("no count: 0, 1, 2, …"), "infinite": _("infinite"),
            "missing": _("missing"), "not seen in training": _("not seen in training"),
            "negative": _("negative")}  # fmt: skip


def reasons() -> dict[str, str]:
    """What stands among the reasons besides columns."""
    return {SILENT: _("no column speaks for it: the prior or the losses decide"), **cell_problems(),
            **{sentence: words.status(code) for code, sentence in NOWHERE.items()}}  # fmt: skip
