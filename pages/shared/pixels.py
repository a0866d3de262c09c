"""Pictures of few pixels: a case that is drawn, what each of its pixels says, and each class as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from bayes_engine.datasets import Image
from bayes_engine.language import _
from bayes_engine.numerals import signed
from bayes_engine.working.balance import weigh
from bayes_engine.working.derive import Working
from bayes_engine.working.pixels import ClassImages, PixelWeights, class_images, pixel_weights
from pages.shared import beliefs, data, verdict
from pages.shared.case_editor import Study, with_cells
from pages.shared.component import component
from pages.shared.escape import clean, md
from pages.shared.kept import kept
from pages.shared.plane import class_inks
from pages.shared.state import Spec, bound, change, current, said_by

_component = component(__file__, "bayes_pixels", '<div class="pixels" data-testid="pixels"></div>')


def picture(table: data.InUse) -> Image | None:
    """How the rows of the table are pictures: all pixels are features that hold numbers; otherwise None."""
    image = table.info.image if table.info else None
    if image is None or table.parts is None:
        return None
    numbers = {v.name for v in table.features if v.numeric}
    return image if numbers.issuperset(image.names) else None


# one case -------------------------------------------------------------------------------------------------------------


def drawn_case(one: Study, image: Image, working: Working | None) -> None:
    """The case, to be drawn on, beside what each pixel says of two classes; `working` is None where there is none."""
    key = "case_pixels"
    weights, sides = None, (0, 1)
    if working is not None:
        sides = verdict.choose_sides(one, working)
        names = [working.classes[k] for k in sides]
        weights = pixel_weights(weigh(working.ledger, *names), working.ledger, image.names)

    def drawn() -> None:
        edit = read_ink(said_by(key, "drawn"), image)
        if edit is not None:
            cells, st.session_state[f"{key}-seen"] = edit
            change(lambda state: with_cells(state, one.table, dict(zip(image.names, cells, strict=True))))

    _component(
        key=key,
        data=case_part(one, image, sides, weights, seen=st.session_state.get(f"{key}-seen", 0)),
        on_drawn_change=drawn,
    )
    if weights is not None and working is not None:
        st.caption(_sum(one, working, sides, weights))


def read_ink(value: Any, image: Image) -> tuple[tuple[int | None, ...], int] | None:
    """(ink of each pixel, number of the edit) from what a browser sent, None in it for a missing pixel; None if it is
    anything else than a picture of this size.

    >>> tiny = Image(1, 2, 16, "", "")
    >>> read_ink({"ink": [16, None], "n": 3}, tiny), read_ink({"ink": [17, 0], "n": 3}, tiny)
    (((16, None), 3), None)
    """
    if not isinstance(value, dict) or type(value.get("n")) is not int:
        return None
    ink = value.get("ink")
    if not isinstance(ink, list) or len(ink) != image.rows * image.cols:
        return None
    if not all(v is None or (type(v) in (int, float) and math.isfinite(v) and 0 <= v <= image.top) for v in ink):
        return None
    return tuple(None if v is None else round(v) for v in ink), value["n"]


def case_part(
    one: Study, image: Image, sides: tuple[int, int], weights: PixelWeights | None, *, seen: int
) -> dict[str, Any]:
    """What the browser gets of a case, as JSON."""
    table = one.table
    spoken = _("The case as a picture: arrow keys move, 0 to 9, + and − set the ink, M is missing")
    sheets: list[dict[str, Any]] = [{"title": _("The case"), "kind": "ink", "values": [], "spoken": spoken}]
    if weights is not None:
        inks = class_inks([clean(table.class_(c), 24) for c in table.classes])
        for_, against = (inks[k] for k in sides)
        title = _("What each pixel says")
        spoken = _("What each pixel says: {name} against {other}").format(name=for_.label, other=against.label)
        said: dict[str, Any] = {"for": _ink(for_), "against": _ink(against), "reach": weights.reach, "spoken": spoken}
        said["beyond"] = any(v is not None and abs(v) > weights.reach for v in weights.nats)
        values = [v if v is None or math.isfinite(v) else "inf" if v > 0 else "-inf" for v in weights.nats]
        sheets.append({"title": title, "kind": "signed", "values": values, **said})
    ink = [one.values.get(name) for name in image.names]
    return {
        **_grid(table, image),
        "draw": {
            "ink": [None if v is None else min(max(float(v), 0.0), image.top) for v in ink],
            "seen": seen,
        },
        "sheets": sheets,
        "words": {
            **_words(),
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
            "hint": _("Draw on the case, or point at a pixel to see what it says."),
        },
    }


def _sum(one: Study, working: Working, sides: tuple[int, int], weights: PixelWeights) -> str:
    """What the pixels come to, and with the prior the log-odds: the total of the bars."""
    name, other = (md(one.table.class_(working.classes[k]), 24) for k in sides)
    said = _("All pixels together {pixels} nats, prior {rest} nats: log-odds of {name} against {other} {total} nats.")
    if len(working.ledger.rows) > len([v for v in weights.nats if v is not None]) + 1:
        said = _(
            "All pixels together {pixels} nats, prior and other terms {rest} nats: log-odds of {name} against {other} "
            "{total} nats."
        )
    total = weigh(working.ledger, working.classes[sides[0]], working.classes[sides[1]]).total
    text = said.format(
        pixels=signed(weights.pixels, 4),
        rest=signed(weights.rest, 4),
        total="–" if total is None else signed(total, 4),
        name=name,
        other=other,
    )
    return text + " " + _("Line: where the case's ink passes half. Dot: a pixel that says nothing.")


# each class as a picture ----------------------------------------------------------------------------------------------


@kept(max_entries=32)
def _class_images(key: str, spec: Spec, _table: data.InUse, _fitted: data.Fitted, _names: Sequence[str]) -> ClassImages:
    assert _table.parts is not None
    return class_images(_fitted.model, _table.parts.X, _table.parts.y, _names, _table.classes)


def class_pictures(table: data.InUse, fitted: data.Fitted, image: Image, chosen: str) -> None:
    """Every class as a picture, and how much each pixel tells of the class; a click chooses the column looked at."""
    found = _class_images(table.key, fitted.spec, table, fitted, image.names)
    kinds = {"mean": _("mean ink"), "sd": _("standard deviation")}
    if found.inked is not None:
        kinds = {"inked": _("P(ink | class)"), **kinds}
    kind = current().seen("pictured", "")
    kind = kind if kind in kinds else next(iter(kinds))
    st.segmented_control(
        _("Each class as a picture"),
        list(kinds),
        format_func=kinds.__getitem__,
        required=True,
        **bound("pictured", kind, lambda s, k: s.showing(pictured=k)),
    )
    values = {"mean": found.mean, "sd": found.sd, "inked": found.inked}[kind]
    assert values is not None
    reach = {"mean": float(image.top), "sd": float(found.sd.max()) or 1.0, "inked": 1.0}[kind]
    inks = class_inks([clean(table.class_(c), 24) for c in table.classes])
    heads = [f"{clean(table.column(table.target.name), 24)} = {ink.label}" for ink in inks]
    sheets = [
        {
            "title": ink.label,
            "spoken": head + _(": ") + kinds[kind],
            "kind": "ink",
            "colour": _ink(ink),
            "reach": reach,
            "values": [None if math.isnan(v) else round(float(v), 6) for v in row],
        }
        for ink, head, row in zip(inks, heads, values, strict=True)
    ]
    nats = beliefs.told(table, fitted)
    told = [nats.get(name) for name in image.names]
    most = max([v for v in told if v is not None], default=0.0) or 1.0
    title = "I(x; c)"
    sheets.append({"title": title, "spoken": title, "kind": "ink", "reach": most, "values": told})
    key = "class_pixels"

    def picked() -> None:
        at = said_by(key, "picked")
        if type(at) is int and 0 <= at < len(image.names):
            column = table.features.position[image.names[at]]
            change(lambda s: s.showing(column=column, cell=()))

    _component(
        key=key,
        data={
            **_grid(table, image),
            "picked": image.names.index(chosen) if chosen in image.names else -1,
            "sheets": sheets,
            "words": {**_words(), "hint": ""},
        },
        on_picked_change=picked,
    )
    st.caption(_picturing(kind, chosen, image, table))


def _picturing(kind: str, chosen: str, image: Image, table: data.InUse) -> str:
    """What the pictures show, and which pixel is framed."""
    said = {
        "mean": _("The stronger the colour, the more ink the class has there on average, up to {top}."),
        "sd": _("The stronger the colour, the more the ink varies within the class."),
        "inked": _("The stronger the colour, the likelier a pixel of the class has ink above its lowest step."),
    }[kind].format(top=image.top)
    said += " " + _("I(x; c): how much the pixel tells of the class, in nats. Click a pixel to see its curve or bars.")
    if chosen in image.names:
        said += " " + _("Framed: {column}.").format(column=md(table.column(chosen), 40))
    return said


# for both -------------------------------------------------------------------------------------------------------------


def _grid(table: data.InUse, image: Image) -> dict[str, Any]:
    names = [clean(table.column(name), 40) for name in image.names]
    return {"rows": image.rows, "cols": image.cols, "top": image.top, "names": names, "draw": None, "picked": -1}


def _ink(ink: Any) -> dict[str, str]:
    return {"label": ink.label, "light": ink.light, "dark": ink.dark}


def _words() -> dict[str, str]:
    return {
        "place": _("{name}: row {row}, column {col}"),
        "holds": _("ink {ink} of {top}"),
        "gone": _("missing"),
        "speaks": _("{nats} nats for {name}"),
        "silent": _("says nothing"),
    }
