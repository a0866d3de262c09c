"""Each class as a picture: mean ink, deviation or P(ink | class), and how much each pixel tells of the class."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from bayes_engine.dataset_format import Image
from bayes_engine.language import _
from bayes_engine.workbench.derivation.pixels import ClassImages, class_images
from pages import active
from pages.active import units
from pages.components import pixels
from pages.components.component import ink, last_message, read_message, read_position
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.state import change
from pages.runtime.widgets import choose
from pages.views.model import column_choice


@cached(max_entries=32)
def _class_images(fitted: active.Fitted, _table: active.FittableTable, _names: Sequence[str]) -> ClassImages:
    return class_images(fitted.model, _table.parts.X, _table.parts.y, _names, _table.classes)


def class_pictures(table: active.FittableTable, fitted: active.Fitted, image: Image, chosen: str) -> None:
    """Every class as a picture, and how much each pixel tells of the class; a click chooses the column looked at."""
    images = _class_images(fitted, table, image.names)
    kinds = {"mean": _("mean ink"), "sd": _("standard deviation")}
    values = {"mean": images.mean, "sd": images.sd}
    if images.inked is not None:
        kinds, values = {"inked": _("P(ink | class)"), **kinds}, {**values, "inked": images.inked}
    kind = choose(_("Each class as a picture"), keys.PICTURED, kinds)
    reach = {"mean": float(image.top), "sd": float(images.sd.max()) or 1.0, "inked": 1.0}[kind]
    labels, target = [clean(table.class_(c), 24) for c in table.classes], clean(table.column(table.target.name), 24)
    sheets = [
        {
            "title": label,
            "spoken": f"{target} = {label}{_(': ')}{kinds[kind]}",
            "kind": "ink",
            "colour": ink(label, k),
            "reach": reach,
            "values": [None if math.isnan(v) else round(float(v), 6) for v in row],
        }
        for k, (label, row) in enumerate(zip(labels, values[kind], strict=True))
    ]
    nats = column_choice.information_by_column(table, fitted)
    information = [None if name not in nats else units.evidence(nats[name]) for name in image.names]
    most = max([v for v in information if v is not None], default=0.0) or 1.0
    title = "I(x; c)"
    informative = any(v is not None for v in information)  # counts multinomial together have it as a whole alone
    if informative:
        sheets.append({"title": title, "spoken": title, "kind": "ink", "reach": most, "values": information})
    key = "class_pixels"

    def picked() -> None:
        pixel = read_message(key, "picked", lambda edit: read_position(edit.get("pixel"), len(image.names)))
        if pixel is not None:
            column = table.features.position[image.names[pixel]]
            change(lambda s: s.showing(keys.COLUMN.to(column), keys.CELL.to(())))

    pixels.drawing(
        key=key,
        data={
            **pixels.grid(table, image),
            "picked": image.names.index(chosen) if chosen in image.names else -1,
            "sheets": sheets,
            "words": {**pixels.component_words(), "hint": ""},
            "seen": last_message(key),
        },
        on_picked_change=picked,
    )
    st.caption(_picturing(kind, chosen, image, table, informative=informative))


def _picturing(kind: str, chosen: str, image: Image, table: active.FittableTable, *, informative: bool) -> str:
    """What the pictures show, and which pixel is framed."""
    sentence = {
        "mean": _("The stronger the colour, the more ink the class has there on average, up to {top}."),
        "sd": _("The stronger the colour, the more the ink varies within the class."),
        "inked": _("The stronger the colour, the likelier a pixel of the class has ink above its lowest step."),
    }[kind].format(top=image.top)
    if informative:
        sentence += " " + _(
            "I(x; c): how much the pixel tells about the class, in {unit}. Click a pixel to see its curve or bars."
        ).format(unit=units.evidence_unit())
    if chosen in image.names:
        sentence += " " + _("Framed: {column}.").format(column=md(table.column(chosen), 40))
    return sentence
