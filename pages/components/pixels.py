"""Rows that are pictures of few pixels: the component that draws them, and what every drawing of them tells it."""

from __future__ import annotations

from typing import Any

from bayes_engine.dataset_format import Image
from bayes_engine.language import _
from pages import active
from pages.active.units import evidence, evidence_unit
from pages.components.component import component
from pages.runtime.escape import clean

drawing = component(
    __file__, "bayes_pixels", '<div class="pixels" data-testid="pixels"></div>', uses=("stage", "paper")
)


def picture(table: active.FittableTable) -> Image | None:
    """How the rows of the table are pictures: all pixels are features that hold numbers; otherwise None."""
    image = table.info.image if table.info else None
    if image is None:
        return None
    numbers = {v.name for v in table.features if v.numeric}
    return image if numbers.issuperset(image.names) else None


def grid(table: active.FittableTable, image: Image) -> dict[str, Any]:
    """What the component gets of the size of the pictures and the names of their pixels."""
    names = [clean(table.column(name), 40) for name in image.names]
    return {"rows": image.rows, "cols": image.cols, "top": image.top, "names": names, "draw": None, "picked": -1}


def component_words() -> dict[str, Any]:
    return {
        "place": _("{name}: row {row}, column {col}"),
        "holds": _("ink {ink} of {top}"),
        "gone": _("missing"),
        "speaks": _("{nats} for {name}"),
        "unit": {"perNat": evidence(1.0), "word": evidence_unit()},
        "silent": _("no evidence"),
    }
