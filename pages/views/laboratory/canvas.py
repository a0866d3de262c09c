"""The plane of known densities as a canvas: what comes before and after it on the page.

The browser paints the regions of the Bayes rule, the optimal boundary and a running R* by itself, from the parameters;
what was moved comes back when it is let go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bayes_engine.language import _
from bayes_engine.numerals import number
from bayes_engine.workbench.figures.laboratory import INKS
from bayes_engine.workbench.figures.theme import EXTRA_COLOURS
from pages.active import sandbox as lab
from pages.active.sandbox import Setup
from pages.components.component import component, ink, is_number, last_message, needs_besides, read_message
from pages.components.losses import editor_words
from pages.runtime import view_keys as keys
from pages.runtime.state import change, current
from pages.views.laboratory.study import Sample, model_name

_component = component(
    __file__,
    "bayes_laboratory",
    '<div class="laboratory" data-testid="laboratory"></div>',
    uses=("decide", "stage", "paper"),
)
MOST_DRAWN = 600
REFUSE = {"light": EXTRA_COLOURS[0][0], "dark": EXTRA_COLOURS[0][1]}


def draw(setup: Setup, sample: Sample, models: Sequence[str], *, with_risk: bool) -> None:
    """The plane: regions, ellipses, the sample, the boundaries of these fitted models, and the Bayes risk."""
    key = "laboratory"

    def moved() -> None:
        now = lab.in_use()
        parts = read_message(key, "moved", lambda edit: lab.read_parts(edit.get("parts"), now.parts))
        if parts is not None and now.kind == "gauss":
            change(lambda s: s.showing(keys.LAB_PARTS.to(tuple(part[2:] for part in parts))))

    def drawn() -> None:
        now = lab.in_use()
        points = read_message(key, "drawn", lambda edit: _with_click(now, edit))
        if points is not None and now.kind == "drawn":
            change(lambda s: s.showing(keys.LAB_POINTS.to(points)))

    needs_besides(key, lambda: {"losses": _editor(setup, key)})
    _component(
        key=key,
        data=_drawn(setup, sample, models, with_risk) | {"seen": last_message(key)},
        on_moved_change=moved,
        on_drawn_change=drawn,
    )


def _with_click(now: Setup, edit: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The points after a click, which adds one or takes one away; None if it is anything else."""
    x, y, hit = edit.get("x"), edit.get("y"), edit.get("remove")
    if not is_number(x) or not is_number(y):
        return None
    if type(hit) is int and 0 <= hit < len(now.points):
        points: tuple[Any, ...] = now.points[:hit] + now.points[hit + 1 :]
    else:
        points = (*now.points, (pen(now), round(float(x), 2), round(float(y), 2)))
    return points if lab.read_points(points, len(now.priors)) is not None else None


def _editor(setup: Setup, key: str) -> dict[str, Any]:
    """The editor of the losses and of the classes' shares that a saved file has."""
    classes, words = [ink(c, k) for k, c in enumerate(setup.classes)], editor_words()
    named = [{**c, "head": _("decide {name}").format(name=c["label"]), "of": k} for k, c in enumerate(classes)]
    refuse = {**REFUSE, "label": _("refuse"), "head": _("refuse"), "of": None}
    return {
        "key": key,
        "seen": 0,
        "decisions": [
            {**one, "name": one["label"], "own": one["of"] is None} for one in [*named, refuse][: len(setup.losses)]
        ],
        "truths": [{**c, "name": c["label"], "head": _("truth is {name}").format(name=c["label"])} for c in classes],
        "loss": [list(row) for row in setup.losses],
        "by": None,
        "amount": 1.0,
        "order": setup.loss.by_name.tolist(),
        "own": list(setup.priors),
        "prior": None,
        "posterior": [],
        "flipped": False,
        "name": None,
        "unit": "",
        "words": {
            **words,
            "prior": _("P(c): how frequent each class is"),
            "share": _("share of {name}"),
            "own": _("as it was saved: {p}"),
            "asModel": _("As it was saved"),
            "shifted": _("Of another truth: so are the regions and R*."),
            "unshifted": _("As it was saved; drag it."),
        },
    }


def pen(setup: Setup) -> int:
    """The class of the next point."""
    return current().seen_among(keys.LAB_PEN, range(len(setup.priors)))


def _drawn(setup: Setup, sample: Sample, models: Sequence[str], with_risk: bool) -> dict[str, Any]:
    unknown = _("Bayes risk R* = ?")
    classes = [ink(c, k) for k, c in enumerate(setup.classes)]
    refuse = {**REFUSE, "label": _("refuse")}
    return {
        "scene": setup.scene,
        "classes": classes,
        "actions": [*classes, refuse][: len(setup.losses)],
        "loss": setup.losses,
        "order": setup.loss.by_name.tolist(),
        "priors": setup.priors,
        "parts": setup.shown_parts(),
        "draggable": setup.kind == "gauss",
        "drawing": setup.kind == "drawn",
        "points": sample.points[:MOST_DRAWN],
        "lines": [
            {
                "label": model_name(name),
                "light": INKS[name].light,
                "dark": INKS[name].dark,
                "dash": INKS[name].strokes,
                "width": INKS[name].width,
                "pieces": sample.lines[name],
            }
            for name in models
            if name in sample.lines
        ],
        "risk": number(sample.bayes.value) if with_risk else "",
        "words": {
            "label": _("Two columns of a known density: regions of the best decision and fitted boundaries"),
            "risk": _("Bayes risk R* = {risk}") if with_risk else unknown,
            "about": _("Bayes risk R* ≈ {risk}") if with_risk else unknown,
            "optimal": _("best possible boundary"),
            "mean": _("mean of class {class}; arrow keys move it"),
            "axis": _("spread of class {class}; up and down stretch it, left and right turn it"),
        },
    }
