"""One case in two figures: what speaks for a class against another, and the posterior beside the risk of deciding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from bayes_engine.language import _
from bayes_engine.numerals import certain, signed
from bayes_engine.workbench.derivation.log_odds import LogOddsTerms
from bayes_engine.workbench.figures.figure import Figure, subplots
from bayes_engine.workbench.figures.theme import GROUND, INK, MUTED, named_rows, sized

BIT = math.log(2.0)
"""One bit in nats."""
PHONE = 200
"""Pixels that the bars have beside their names on a screen 390 wide."""


class ClassStyle(NamedTuple):
    """How a class is drawn: its name, already escaped, and its colour."""

    name: str
    colour: str


def waterfall(
    balance: LogOddsTerms,
    labels: Sequence[str],
    sides: tuple[ClassStyle, ClassStyle],
    *,
    bits: bool = False,
    needed: float | None = None,
    dark: bool = False,
) -> Figure:
    """The log-odds as a sum: each bar begins where the one above it ended; the last is the total.

    `labels` (already escaped) name the weights, `sides` are the class for and the class against. `needed` (nats) draws
    the line that the log-odds must pass under the losses. A weight of a class never seen is a bar without an end.
    """
    unit = BIT if bits else 1.0
    starts, ends = _stairs(balance, unit)
    total = balance.total
    line = [] if needed is None else [needed / unit]
    numbers = [(end, w.nats / unit) for end, w in zip(ends, balance.weights, strict=True) if not w.never]
    if total is not None and math.isfinite(total):
        numbers.append((total / unit, total / unit))
    low, high = _span([0.0, *starts, *ends, *line], numbers, balance)
    last = len(balance.weights)
    figure = Figure()
    for place in line:
        figure.add_vline(x=place, line={"dash": "dot", "width": 1.5, "color": INK[dark]})
    figure.add_scatter(
        x=[v for end in ends[:-1] for v in (end, end, None)],
        y=[v for i in range(last - 1) for v in (i, i + 1, None)],
        mode="lines",
        line={"width": 1, "color": MUTED["other"]},
        hoverinfo="skip",
    )
    for i, weight in enumerate(balance.weights):
        side = sides[weight.nats < 0]
        if not weight.never:
            _bar(figure, i, starts[i], ends[i], side.colour, f"{labels[i]}<br>{_says(weight.nats, side)}")
            _beside(figure, i, ends[i], weight.nats / unit, dark)
        elif len(weight.never) == 2:
            _endless(figure, i, low, high, low, _("never seen in either class"), MUTED["other"], dark)
        else:
            unseen = sides[weight.never[0] != balance.for_]
            edge, other = (low, high) if unseen is sides[0] else (high, low)
            why = _("never seen in {name}").format(name=unseen.name)
            _endless(figure, i, starts[i], edge, other, why, side.colour, dark)
    if total is None:
        _note(figure, last, (low + high) / 2, _("none: both classes are impossible"), "center", dark)
    elif math.isinf(total):
        edge, other = (low, high) if total < 0 else (high, low)
        _endless(figure, last, 0.0, edge, other, signed(total, 3), sides[total < 0].colour, dark)
    else:
        side = sides[total < 0]
        _bar(figure, last, 0.0, total / unit, side.colour, _says(total, side), edge=INK[dark])
        _beside(figure, last, total / unit, total / unit, dark)
    named_rows(figure, [*labels, _("log-odds")], chosen=last)
    towards = f"← {sides[1].name}   {_('bits') if bits else _('nats')}   {sides[0].name} →"
    figure.update_xaxes(range=[low, high], zeroline=True, title={"text": towards, "font": {"size": 13}}, nticks=9)
    figure.update_layout(showlegend=False, bargap=0.28, barmode="overlay")
    return sized(figure, 86 + 26 * (last + 1), left=4, bottom=40)


def verdict(
    names: Sequence[str],
    posterior: Sequence[float | None],
    risks: Sequence[float],
    colours: Sequence[str],
    *,
    decided: int,
    narrow: bool = False,
) -> Figure:
    """For each decision the posterior of its class (None for one that is no class) and its conditional risk; the least
    risk is drawn full. `names` are escaped already. `narrow` leaves room for short numbers only."""
    figure = subplots(cols=2, shared_yaxes=True, horizontal_spacing=0.06, column_titles=["P(c|x)", "R(a|x)"])
    rows = list(range(len(names)))
    for col, values in ((1, posterior), (2, risks)):
        known = [v for v in values if v is not None]
        says = ["" if v is None else _brief(v) if narrow else certain(v, 6) for v in values]
        room = 1.8 + (0.28 * max(0, max(map(len, says)) - 4) if narrow else 0.0)  # the number stands beside its bar
        figure.add_bar(
            x=list(values),
            y=rows,
            orientation="h",
            row=1,
            col=col,
            cliponaxis=False,
            marker={"color": list(colours), "opacity": [1.0 if col == 1 or i == decided else 0.35 for i in rows]},
            text=says,
            textposition="outside",
            hovertemplate="%{x:.8g}<extra></extra>",
        )
        reach = [min(0.0, *known) * room, (max(0.0, *known) or (0.0 if min(known) < 0 else 1.0)) * room]
        figure.update_xaxes(range=reach, showticklabels=False, ticks="", showgrid=False, row=1, col=col)
    named_rows(figure, names, chosen=decided)
    figure.update_layout(showlegend=False, bargap=0.3)
    return sized(figure, 44 + 30 * len(rows), left=4, right=4, top=26, bottom=4)


def _brief(value: float) -> str:
    """A number in few characters: 1 − 6.1e-13 where it would take many digits to tell it from 1."""
    text = certain(value, 6)
    if len(text) <= 9:
        return text
    return f"1 − {1.0 - value:.0e}" if 0.5 < value < 1 else certain(value, 3)


def _stairs(balance: LogOddsTerms, unit: float) -> tuple[list[float], list[float]]:
    """Where each bar begins and ends; one without an end leaves the sum where it was."""
    starts, ends, height = [], [], 0.0
    for weight in balance.weights:
        starts.append(height)
        height += 0.0 if weight.never else weight.nats / unit
        ends.append(height)
    return starts, ends


def _span(places: list[float], numbers: Sequence[tuple[float, float]], balance: LogOddsTerms) -> tuple[float, float]:
    """The ends of the axis: all places, with room for bars without an end and for the `numbers` at the ends of the
    others, each a place and a value: as much as they need on a phone, to the right of what is added, to the left of
    what is taken away."""
    low, high = min(places), max(places)
    reach = (high - low) or 1.0
    share = min(0.32, max((8 + 7 * len(signed(v, 3)) for _place, v in numbers), default=0) / PHONE)
    left = [place for place, value in numbers if value < 0]
    right = [place for place, value in numbers if value >= 0]
    room = reach * share / (1.0 - share * (bool(left) + bool(right)))
    never = [weight.never for weight in balance.weights]
    low_side, high_side = (any(label in n for n in never) for label in (balance.for_, balance.against))
    lowest = low - (0.6 if low_side else 0.02) * reach
    highest = high + (0.6 if high_side else 0.02) * reach
    return min([lowest, *(place - room for place in left)]), max([highest, *(place + room for place in right)])


def _bar(figure: Figure, row: int, start: float, end: float, colour: str, hover: str, edge: str = "") -> None:
    figure.add_bar(
        **_from_to(row, start, end),
        width=0.5 if edge else 0.72,
        marker={"color": colour, "line": {"width": 2 if edge else 0, "color": edge or colour}},
        hovertext=[hover],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _from_to(row: int, start: float, end: float) -> dict[str, Any]:
    return {"x": [end - start], "y": [row], "base": [start], "orientation": "h"}


def _beside(figure: Figure, row: int, end: float, value: float, dark: bool) -> None:
    """The number at the end of a bar."""
    _note(figure, row, end, signed(value, 3), "left" if value >= 0 else "right", dark)


def _endless(
    figure: Figure, row: int, start: float, edge: float, other: float, why: str, colour: str, dark: bool
) -> None:
    """A hatched bar to the edge of the figure, and why it has no end: beside its start, where the row is free to the
    `other` edge, or on the bar where that has more room. They never run over the names of the rows."""
    figure.add_bar(
        **_from_to(row, start, edge),
        width=0.72,
        hoverinfo="skip",
        marker={
            "color": "rgba(0,0,0,0)",
            "line": {"width": 1, "color": colour},
            "pattern": {"shape": "/", "size": 6, "fgcolor": colour},
        },
    )
    beside = abs(other - start) > abs(edge - start)
    _note(figure, row, start if beside else edge, why, "left" if edge < start else "right", dark)


def _note(figure: Figure, row: int, place: float, text: str, anchor: str, dark: bool) -> None:
    figure.add_annotation(
        x=place,
        y=row,
        text=text,
        showarrow=False,
        xanchor=anchor,
        xshift={"left": 3, "right": -3}.get(anchor, 0),
        bgcolor=GROUND[dark],
        borderpad=1,
    )


def _says(nats: float, side: ClassStyle) -> str:
    """A weight in words: nats and bits, and whom it speaks for."""
    both = f"{signed(nats, 3)} {_('nats')} = {signed(nats / BIT, 3)} {_('bits')}"
    return both + "<br>" + _("supports {name}").format(name=side.name)
