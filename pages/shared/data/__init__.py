"""What the pages show, in four rooms: `tables` (the one in use), `uploads`, `models` (the shelf, its fits), `question`
(case, losses, prior of use).

Caches are keyed by a digest of the content and by parameters, hold immutable results, and hold neither words nor
colours.
"""

from pages.shared.data.models import (
    CALIBRATIONS,
    EXACT,
    FAMILIES,
    STRUCTURES,
    Fitted,
    active_model,
    fit,
    held_out_rows,
    notes_of,
    setting,
    settings,
    shelf,
    uncalibrated,
)
from pages.shared.data.question import (
    amount_unsaid,
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
)
from pages.shared.data.tables import (
    InUse,
    embedded,
    in_use,
    offered,
    shown_rows,
    summaries,
    table_in_use,
)
from pages.shared.data.uploads import ENCODINGS, Upload, digest, keep_upload, overrides, upload_in

__all__ = [
    "CALIBRATIONS",
    "ENCODINGS",
    "EXACT",
    "FAMILIES",
    "STRUCTURES",
    "Fitted",
    "InUse",
    "Upload",
    "active_model",
    "amount_unsaid",
    "case_amount",
    "case_codes",
    "case_frame",
    "case_losses",
    "case_values",
    "digest",
    "embedded",
    "fit",
    "held_out_rows",
    "in_use",
    "keep_upload",
    "losses",
    "notes_of",
    "offered",
    "overrides",
    "prior_of_use",
    "refusal",
    "row_values",
    "same_amount",
    "setting",
    "settings",
    "shelf",
    "shown_rows",
    "story_losses",
    "summaries",
    "table_in_use",
    "uncalibrated",
    "upload_in",
]
