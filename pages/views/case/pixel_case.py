"""The case as a picture one can draw on, and what each of its pixels says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import streamlit as st

from bayes_engine.dataset_format import Image
from bayes_engine.language import _
from bayes_engine.workbench.derivation.derive import Working
from bayes_engine.workbench.derivation.log_odds import log_odds_terms
from bayes_engine.workbench.derivation.pixels import PixelWeights, pixel_weights
from pages.active.units import signed_evidence
from pages.components import pixels
from pages.components.component import ink, is_number, last_message, read_message
from pages.runtime.escape import clean, md
from pages.runtime.state import change
from pages.views.case import verdict
from pages.views.case.editor import CaseInUse, with_cells


def pixel_case(one: CaseInUse, image: Image, working: Working | None) -> None:
    """The case, to be drawn on, beside what each pixel says of two classes; `working` is None where there is none."""
    key = "case_pixels"
    weights, sides = None, (0, 1)
    if working is not None:
        sides = verdict.choose_sides(one, working)
        names = [working.classes[k] for k in sides]
        weights = pixel_weights(log_odds_terms(working.ledger, *names), working.ledger, image.names)

    def drawn() -> None:
        cells = read_message(key, "drawn", lambda edit: read_ink(edit, image))
        if cells is not None:
            change(lambda state: with_cells(state, one.table, dict(zip(image.names, cells, strict=True))))

    pixels.drawing(
        key=key,
        data=case_part(one, image, sides, weights) | {"seen": last_message(key)},
        on_drawn_change=drawn,
    )
    if weights is not None and working is not None:
        st.caption(_sum(one, working, sides, weights))


def read_ink(edit: Mapping[str, Any], image: Image) -> tuple[int | None, ...] | None:
    """The ink of each pixel from what a browser sent, None in it for a missing pixel; None if it is anything else than
    a picture of this size.

    >>> tiny = Image(1, 2, 16, "", "")
    >>> read_ink({"ink": [16, None]}, tiny), read_ink({"ink": [17, 0]}, tiny)
    ((16, None), None)
    """
    drawn = edit.get("ink")
    if not isinstance(drawn, list) or len(drawn) != image.rows * image.cols:
        return None
    if not all(v is None or (is_number(v) and 0 <= v <= image.top) for v in drawn):
        return None
    return tuple(None if v is None else round(v) for v in drawn)


def case_part(one: CaseInUse, image: Image, sides: tuple[int, int], weights: PixelWeights | None) -> dict[str, Any]:
    """What the browser gets of a case, as JSON."""
    table = one.table
    spoken = _("The case as a picture: arrow keys move, 0 to 9, + and − set the ink, M is missing")
    sheets: list[dict[str, Any]] = [{"title": _("The case"), "kind": "ink", "values": [], "spoken": spoken}]
    if weights is not None:
        for_, against = (ink(clean(table.class_(table.classes[k]), 24), k) for k in sides)
        spoken = _("Contribution of each pixel: {name} against {other}").format(
            name=for_["label"], other=against["label"]
        )
        sheets.append(
            {
                "title": _("Contribution of each pixel"),
                "kind": "signed",
                "values": [v if v is None or math.isfinite(v) else "inf" if v > 0 else "-inf" for v in weights.nats],
                "for": for_,
                "against": against,
                "reach": weights.reach,
                "spoken": spoken,
                "beyond": any(v is not None and abs(v) > weights.reach for v in weights.nats),
            }
        )
    shown = [one.values.get(name) for name in image.names]
    return {
        **pixels.grid(table, image),
        "draw": {"ink": [None if v is None else min(max(float(v), 0.0), image.top) for v in shown]},
        "sheets": sheets,
        "words": {
            **pixels.component_words(),
            "tools": _("drawing tools"),
            "pen": _("Pen"),
            "penHelp": _("A nib of about one pixel: a pixel's ink is the share of it that the nib has covered."),
            "value": _("Value"),
            "valueHelp": _("Sets whole pixels to the ink chosen."),
            "eraser": _("Eraser"),
            "eraserHelp": _("Makes pixels blank: ink 0."),
            "missing": _("Missing"),
            "missingHelp": _("Pixels that were not seen: their factors are left out."),
            "ink": _("ink"),
            "undo": _("Undo"),
            "clear": _("Clear"),
            "hint": _("Draw on the case, or point at a pixel to see its contribution."),
        },
    }


def _sum(one: CaseInUse, working: Working, sides: tuple[int, int], weights: PixelWeights) -> str:
    """What the pixels come to, and with the prior the log-odds: the total of the bars."""
    name, other = (md(one.table.class_(working.classes[k]), 24) for k in sides)
    template = _("All pixels together {pixels}, prior {rest}: log-odds of {name} against {other} {total}.")
    if len(working.ledger.rows) > len([v for v in weights.nats if v is not None]) + 1:
        template = _(
            "All pixels together {pixels}, prior and other terms {rest}: log-odds of {name} against {other} {total}."
        )
    total = log_odds_terms(working.ledger, working.classes[sides[0]], working.classes[sides[1]]).total
    text = template.format(
        pixels=signed_evidence(weights.pixels, 4),
        rest=signed_evidence(weights.rest, 4),
        total="–" if total is None else signed_evidence(total, 4),
        name=name,
        other=other,
    )
    return text + " " + _("Line: where the case's ink passes half. Dot: a pixel that carries no information.")
