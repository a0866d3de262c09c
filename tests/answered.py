"""The results of a file as the page Classify a file hands them over."""

import io
from typing import Any

from bayes_engine.table.write import WRITERS
from bayes_engine.workbench.incoming.batch import answers


def as_file(kind: str, model: Any, rows: Any, *asked: Any, **how: Any) -> bytes:
    """`answers` in one of the formats; the parameters are theirs."""
    out = io.BytesIO()
    WRITERS[kind](out, answers(model, rows, *asked, **how), len(rows))
    return out.getvalue()


def as_csv(model: Any, rows: Any, *asked: Any, **how: Any) -> bytes:
    """`answers` as one CSV text."""
    return as_file("csv", model, rows, *asked, **how)
