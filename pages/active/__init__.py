"""What the pages show, in five rooms: `tables` (the one in use), `files`, `model_settings` (of the shelf),
`models` (their fits), `case_and_losses` (and the prior of use).

Caches are keyed by a digest of the content and by parameters, hold immutable results, and hold neither words nor
colours.
"""

from pages.active.case_and_losses import (
    case_amount,
    case_codes,
    case_frame,
    case_losses,
    case_values,
    losses,
    prior_of_use,
    refusal,
    row_values,
    same_amount,
    story_losses,
    text_columns,
)
from pages.active.model_settings import NAIVE, likelihood_of, setting, settings, shelf_of, uncalibrated
from pages.active.models import (
    Fitted,
    active_model,
    explained,
    fit,
    held_out_rows,
    is_tiny,
    repeated_rows,
    runs_for,
    seeds_to_repeat,
)
from pages.active.tables import FittableTable, TableInUse, UnfittableTable, fittable, in_use, table_in_use

__all__ = [
    "NAIVE",
    "FittableTable",
    "Fitted",
    "TableInUse",
    "UnfittableTable",
    "active_model",
    "case_amount",
    "case_codes",
    "case_frame",
    "case_losses",
    "case_values",
    "explained",
    "fit",
    "fittable",
    "held_out_rows",
    "in_use",
    "is_tiny",
    "likelihood_of",
    "losses",
    "prior_of_use",
    "refusal",
    "repeated_rows",
    "row_values",
    "runs_for",
    "same_amount",
    "seeds_to_repeat",
    "setting",
    "settings",
    "shelf_of",
    "story_losses",
    "table_in_use",
    "text_columns",
    "uncalibrated",
]
