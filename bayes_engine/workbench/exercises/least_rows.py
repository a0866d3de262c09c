"""A sheet on the rows that AODE needs, in the best order and in the worst (Zhou, exercise 7.7)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from bayes_engine.language import Message
from bayes_engine.workbench.derivation.least_rows import rows_needed
from bayes_engine.workbench.exercises.sheet import Drawn, ExerciseSheet, Part, Short, blanks

PRIOR_ALONE = Message("That is enough for P(c) alone. P(c, xᵢ) needs as many for each value of each column.")
NOT_SHARED = Message("A row counts for a value of every column at once: the columns share their rows.")
BEST = Message("At best all columns fill evenly: every value of a column needs m rows in each class.")
WORST = Message(
    "At worst the first m rows of a class are alike; after that each row adds to one value of one column alone."
)


def least_rows(drawn: Drawn) -> ExerciseSheet:
    """The sheet with this number; it takes nothing from the table."""
    rng = drawn.rng()
    each, columns = int(rng.choice([5, 10, 20, 30, 50])), int(rng.integers(2, 11))
    levels, classes = int(rng.integers(2, 5)), int(rng.integers(2, 4))

    def solve(_short: Short, slip: str) -> Mapping[str, float]:
        needed = rows_needed(each, columns, levels, classes)
        if slip == "prior":
            return {"best": needed.prior, "worst": needed.prior}
        if slip == "not shared":
            return dict.fromkeys(("best", "worst"), float(each * columns * levels * classes))
        return {"best": needed.best, "worst": needed.worst}

    asked = {"best": (Message("rows at best"), BEST), "worst": (Message("rows at worst"), WORST)}
    given = pd.DataFrame({"m": [each], "d": [columns], "S": [levels], "K": [classes]}, index=pd.Index([""]))
    return ExerciseSheet(
        Message(
            "AODE estimates P(c, xᵢ) from m rows at least. How many rows does it take with d columns of S values and K "
            "classes, if the rows come in the best order, and how many at worst, if each row still helps?"
        ),
        ((Message("Given"), given),),
        (Part(Message("Rows"), blanks(solve, asked, [("prior", PRIOR_ALONE), ("not shared", NOT_SHARED)])),),
    )
