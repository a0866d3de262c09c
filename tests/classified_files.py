"""A small file received whole, and its results as the page Classify a file hands them over."""

import io
from dataclasses import replace
from typing import Any

import pandas as pd

from bayes_engine.table.schema import Schema, Variable
from bayes_engine.table.write import WRITERS
from bayes_engine.workbench.incoming.classified_file import ScoredRows, _gathered, _joints, answers
from bayes_engine.workbench.incoming.file_blocks import CellBlocks
from bayes_engine.workbench.incoming.file_tally import FileTally
from bayes_engine.workbench.incoming.second_table import CellRules, Incoming, Reception


def receive(
    cells: pd.DataFrame, schema: Schema, target: Variable, *, amount: str = "", alike: bool = False, **rules: Any
) -> Incoming:
    """All rows of a file in one block, with what there is to say of them."""
    reception = Reception(CellBlocks.of(cells), schema, target, CellRules(**rules), amount=amount, alike=alike)
    tally = FileTally()
    rows = reception.take(cells, tally)
    return replace(rows, notes=reception.notes(tally))


def score(model: Any, rows: Incoming) -> ScoredRows:
    """What `score_file` computes, of rows that are there."""
    return _gathered(model, (_joints(model, block) for block in rows.blocks()))


def as_file(kind: str, model: Any, rows: Any, *asked: Any, **how: Any) -> bytes:
    """`answers` in one of the formats; the parameters are theirs."""
    out = io.BytesIO()
    WRITERS[kind](out, answers(model, rows, *asked, **how), len(rows))
    return out.getvalue()


def as_csv(model: Any, rows: Any, *asked: Any, **how: Any) -> bytes:
    """`answers` as one CSV text."""
    return as_file("csv", model, rows, *asked, **how)
