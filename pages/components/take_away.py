"""A live picture as one file to take along: an HTML page that holds the drawings of `component.py` with what they were
sent, and works by a double click, without a network and without the app.

In place of the app stands `take_away.js`: it calls the drawings as Streamlit does, and answers what a person does in
them. Which pictures can be taken says `PICTURES`. What is from data is in the file as JSON that no HTML can end, or as
escaped text; its policy lets no script run but the one that it was saved with, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from bayes_engine.language import _
from bayes_engine.workbench.figures.decisions import grid_residuals
from pages.components.component import SOURCES, DrawnRun, bare

MOST = 300_000
"""Bytes of a file."""
ANSWERED = {"bayes_graph": "take_away_network"}
"""Components whose answers stand in a script of their own, which only their files bring."""
_HERE = Path(__file__).parent
_EXPORTS = re.compile(r"^export default ", re.MULTILINE)


class Piece(NamedTuple):
    """A drawing in a file: its key, its component, and what it was sent; a `hidden` one draws nothing itself."""

    key: str
    component: str
    data: Any
    hidden: bool = False


@dataclass(frozen=True)
class Picture:
    """A picture as it stands on the page: its name, in a file name as well, what it is called, its pieces in their
    order, what can be moved in the file and what cannot, and what answers beyond `take_away.js` it needs. The pieces
    stand `beside` each other where there is room. What it is `of`, and whose the `data` are, where that is not the
    table in use."""

    name: str
    title: str
    label: str
    pieces: tuple[Piece, ...]
    moves: tuple[str, ...]
    beside: bool = False
    besides: Mapping[str, Any] | None = None
    of: str = ""
    data: str = ""


class About(NamedTuple):
    """What a file says of itself: its `title`, what it is `of` (table, model), its `date`, the `address` that opens the
    state with its QR code as SVG ("" where it is too long for one), what is said of that, and whose the `data` are."""

    title: str
    of: str
    date: str
    address: str
    code: str
    code_says: str
    data: str


class Taken(NamedTuple):
    """A file, and whether the rows were left out so that it is small enough."""

    content: bytes
    without_rows: bool


# which pictures can be taken ------------------------------------------------------------------------------------------


def pictures(run: DrawnRun | None) -> list[Picture]:
    """Those that stand on the page."""
    return [] if run is None else [picture for make in PICTURES for picture in make(run)]


def _of(run: DrawnRun, component: str) -> list[str]:
    return [key for key, sent in run.sent.items() if sent.component == component]


def _with_scene(run: DrawnRun, key: str, scene: str) -> tuple[Piece, ...]:
    light, heavy = run.sent[key], run.sent.get(scene)
    return (Piece(key, *light),) if heavy is None else (Piece(key, *light), Piece(scene, *heavy, hidden=True))


def _editor(run: DrawnRun, bus: str) -> tuple[Piece, ...]:
    """The editor of losses and prior that moves a drawing; in a file the name of a further action stays, and no block
    is pasted."""
    sent = run.sent.get(f"{bus}_losses")
    return () if sent is None else (_edited(bus, sent.data),)


def _edited(bus: str, data: Mapping[str, Any]) -> Piece:
    words = {**data["words"], "hint": _("drag a number sideways, or type it")}
    return Piece(f"{bus}_losses", "bayes_losses", {**data, "name": None, "words": words})


def _planes(run: DrawnRun) -> list[Picture]:
    planes = []
    for key in _of(run, "bayes_plane"):
        pieces, editor = _with_scene(run, key, f"{key}-scene"), _editor(run, key)
        data = run.sent[key].data
        moves = [_moved_losses()] if editor else []
        if data["case"] is not None:
            moves.append(_moved_case(data))
        moves.append(_("The model, its smoothing and the rows are as they were saved."))
        title = _("The plane with losses λ and prior") if editor else _("The plane")
        planes.append(Picture("plane", title, data["label"], (*pieces, *editor), tuple(moves), beside=bool(editor)))
    return planes


def _moved_losses() -> str:
    return _("λ and the prior of use move: drag a number or a slider, type, or use the arrow keys. Every decision is "
             "computed here from the same posteriors.")  # fmt: skip


def _moved_case(data: Mapping[str, Any]) -> str:
    if data["alone"]:
        return _("The case can be dragged: what is then read is the posterior from the axes alone; that of all its "
                 "features at another place takes the model, which is in the app.")  # fmt: skip
    return _("The case can be dragged: at another place its posterior is interpolated on the grid that is drawn; where "
             "it was saved it is the model's own.")  # fmt: skip


def _simplexes(run: DrawnRun) -> list[Picture]:
    simplexes = []
    for key in _of(run, "bayes_consequences"):
        data, editor = run.sent[key].data, _editor(run, data_key := run.sent[key].data["key"])
        pieces = _with_scene(run, key, f"{data_key}_consequences_rows")
        moves = (
            *([_moved_losses()] if editor else []),
            _("Once λ or the prior was moved, the interval of the risk is the linear one instead of the bootstrap's."),
            _("The case, the model and the held-out rows are as they were saved."),
        )
        label = data["words"]["line" if len(data["truths"]) == 2 else "triangle"]
        simplexes.append(
            Picture("simplex", _("The simplex of posteriors with losses λ and prior"), label, (*editor, *pieces), moves)
        )
    return simplexes


def _nomograms(run: DrawnRun) -> list[Picture]:
    keys = _of(run, "bayes_nomogram")
    if not keys:
        return []
    pieces: list[Piece] = []
    editors: list[Piece] = []
    for key in keys:
        one, scene = _with_scene(run, key, f"{key}-scene")
        editor = dict(run.besides[key]())
        editors.append(_edited(keys[0], editor.pop("losses")))
        # the term of a calibration depends on the sum of all others, and only the model knows it
        more = {"fixed": one.data["fixed"] or one.data["moves"], "editor": {**editor, "bus": keys[0]}}
        pieces += [one._replace(data={**one.data, **more}), scene]
    live = [p for p in pieces if not p.hidden and not p.data["fixed"]]
    moves = [
        _("Points can be dragged, or another value clicked: sum, probability and decision follow.") if live else
        _("No point can be moved here: that takes the model, which is in the app."),
        _moved_losses(),
        _("The terms are as they were saved."),
    ]  # fmt: skip
    title, label = _("The nomogram with losses λ and prior"), run.sent[keys[0]].data["label"]
    return [Picture("nomogram", title, label, (*pieces, editors[0]), tuple(moves))]


def _networks(run: DrawnRun) -> list[Picture]:
    """The network with its bars, where the page says what a click in it leads to."""
    networks = []
    for key in _of(run, "bayes_graph"):
        if key not in run.besides:
            continue
        answers, sent = run.besides[key](), run.sent[key]
        if answers["tables"] is None:
            sent = sent._replace(data={**sent.data, "clicks": []})
            moves = [_("The bars stay: exact inference in this network takes the app.")]
        else:
            moves = [
                _("A click on a state observes it, another one takes that back: every bar is computed here by variable "
                  "elimination. A click on the head of a node asks about that node."),
                _("The tables are as they were saved."),
            ]  # fmt: skip
        pieces = (Piece(key, *sent),)
        title = _("The network with its bars")
        picture = Picture(
            "network", title, sent.data["label"], pieces, tuple(moves), False, answers, answers["of"], answers["data"]
        )
        networks.append(picture)
    return networks


def _alone(component: str, name: str, title: Callable[[], str], *moves: Callable[[], str]) -> Any:
    """Finds the drawings of a component that need nothing but what they were sent."""

    def find(run: DrawnRun) -> list[Picture]:
        return [
            Picture(name, title(), run.sent[key].data["words"]["label"], (Piece(key, *run.sent[key]),),
                    tuple(move() for move in moves))
            for key in _of(run, component)
        ]  # fmt: skip

    return find


_smoothing = _alone(
    "bayes_smoothing", "smoothing", lambda: _("The case under four smoothings"),
    lambda: _("The number of rows n moves: drag the line, or use the arrow keys."),
    lambda: _("The table, the case, the m of the m-estimate and the losses λ are as they were saved."),
)  # fmt: skip
_fitted = _alone(
    "bayes_fitted", "likelihood", lambda: _("Maximum likelihood on the rows of one class"),
    lambda: _("The parameters move: drag a handle, use the arrow keys, or go to a place of the list. The likelihood is "
              "computed here from the same rows."),
    lambda: _("The column, the class and its rows are as they were saved."),
)  # fmt: skip


def _projections(run: DrawnRun) -> list[Picture]:
    moves = (
        _("The line turns: drag the ring, or use the arrow keys. J is computed here from the same scatter matrices."),
        _("The columns and the rows are as they were saved."),
    )
    title = _("The line onto which two columns are projected")
    return [
        Picture("projection", title, f"{run.sent[key].data['x']}, {run.sent[key].data['y']}",
                (Piece(key, *run.sent[key]),), moves)
        for key in _of(run, "bayes_projection")
    ]  # fmt: skip


def _densities(run: DrawnRun) -> list[Picture]:
    """The laboratory's plane; what was fitted to a sample needs the app, and is paler under another truth."""
    scenes = []
    for key in _of(run, "bayes_laboratory"):
        data = {**run.sent[key].data, "bus": key}
        editor = _edited(key, run.besides[key]()["losses"])
        moves = [
            _("The densities can be dragged and stretched.") if data["draggable"] else
            _("The points are as they were saved."),
            _("The losses λ and the classes' shares move. Regions, the best possible boundary and R* are computed "
              "here; R* of another truth is a plain sum over a grid."),
            _("Fitted boundaries belong to the truth that was saved: under another one they are pale."),
        ]  # fmt: skip
        title, label = _("Known densities and the best decision, with losses λ"), data["words"]["label"]
        scenes.append(Picture("densities", title, label, (Piece(key, "bayes_laboratory", data), editor), tuple(moves),
                             beside=True))  # fmt: skip
    return scenes


def _climbs(run: DrawnRun) -> list[Picture]:
    climbs = []
    for key in _of(run, "bayes_player"):
        light, heavy = _with_scene(run, key, f"{key}-film")
        still = light._replace(data={**light.data, "starts": False, "pick": False})
        moves = (
            _("Every iteration can be looked at, and played."),
            _("Another start, and another label hidden, takes the app."),
        )
        title = _("EM, iteration by iteration")
        climbs.append(Picture("em", title, light.data["words"]["whole"], (still, heavy), moves))
    return climbs


PICTURES: Sequence[Callable[[DrawnRun], list[Picture]]] = (
    _planes, _simplexes, _nomograms, _networks, _smoothing, _fitted, _densities, _projections, _climbs,
)  # fmt: skip
"""All kinds of pictures that can be taken, each by what finds them among the drawings of a page."""


# the file -------------------------------------------------------------------------------------------------------------


def take(picture: Picture, about: About, language: str) -> Taken:
    """The file of a picture. Where it would have more than `MOST` bytes it is without the rows that are drawn; it may
    still have more."""
    whole = _file(picture, about, language)
    if len(whole) <= MOST:
        return Taken(whole, without_rows=False)
    fewer = tuple(map(without_rows, picture.pieces))
    if fewer == picture.pieces:
        return Taken(whole, without_rows=False)
    moves = (*picture.moves, _("The rows are left out: with them the file would be larger than 300 kB."))
    left = replace(picture, pieces=fewer, moves=moves)
    return Taken(_file(left, about, language), without_rows=True)


def without_rows(piece: Piece) -> Piece:
    """A drawing without the rows that it was sent, and what it says of them."""
    if piece.component == "bayes_plane_scene":
        return piece._replace(data=_headed(piece.data, 4, points=None))
    if piece.component == "bayes_consequences_rows":
        return piece._replace(data=_headed(piece.data, 8, n=0)[: _start(piece.data, 8, n=0)])
    if piece.component == "bayes_plane":
        return piece._replace(data={**piece.data, "wrong": [], "faded": []})
    if piece.component == "bayes_consequences":
        return piece._replace(data={**piece.data, "report": None})
    return piece


def _headed(data: bytes, size: int, **changed: Any) -> bytes:
    """What `component.packed` made, with another head: its digest stays, by which the light part knows it."""
    end = size + int.from_bytes(data[:size], "little")
    text = json.dumps({**json.loads(data[size:end]), **changed}, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % size)
    return len(text).to_bytes(size, "little") + text + data[end:]


def _start(data: bytes, size: int, **changed: Any) -> int:
    headed = _headed(data, size, **changed)
    return size + int.from_bytes(headed[:size], "little")


def as_json(value: Any) -> str:
    """JSON that may stand in a script: no sign in it ends the script, or a line of it.

    >>> as_json({"level": "</script>\\u2028"})
    '{"level":"\\\\u003c/script\\\\u003e\\\\u2028"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair becomes its escape


def _file(picture: Picture, about: About, language: str) -> bytes:
    used = list(dict.fromkeys(piece.component for piece in picture.pieces))
    places = {piece.key: f"piece-{n}" for n, piece in enumerate(picture.pieces)}
    given = {
        "pieces": [
            {"key": p.key, "component": p.component, "place": places[p.key], "data": _sent(p)} for p in picture.pieces
        ],
        "besides": picture.besides,
        "words": {
            "pasted": _("A block can be pasted in the app only; here type or drag the numbers."),
            "whole": _("The posterior of the whole case at this place takes the model, which is in the app."),
        },
    }
    style, script = (_HERE / "take_away.css").read_text(encoding="utf-8"), _script(used)
    templates, styles = [], [style]
    for name in used:
        source = SOURCES[name]
        sheet = f"<style>{source.style}</style>" if source.style else ""
        styles += [source.style] if source.style else []
        templates.append(f'<template id="of-{name}">{sheet}{source.html}</template>')
    policy = "; ".join(
        (
            "default-src 'none'", f"script-src {_hash(script)}", f"style-src {' '.join(map(_hash, styles))}",
            "base-uri 'none'", "form-action 'none'",
        )
    )  # fmt: skip
    text = html.escape
    drawn = "\n".join(
        f'<div class="{"unseen" if p.hidden else "piece"}" id="{places[p.key]}"></div>' for p in picture.pieces
    )
    code = f'<div class="qr">{about.code}</div>' if about.code else ""
    moves = "".join(f"<li>{text(line)}</li>" for line in picture.moves)
    licence = _("Saved from Bayes Workbench, whose program is under the BSD-3-Clause licence.")
    page = f"""<!DOCTYPE html>
<html lang="{text(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{text(about.title)} · {text(picture.title)}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1 dir="auto">{text(about.title)}</h1>
<p class="of" dir="auto">{text(picture.title)} · {text(picture.of or about.of)} · {text(about.date)}</p>
<div class="pieces{" beside" if picture.beside else ""}">
{drawn}
</div>
<div class="told" id="told" role="status"></div>
<ul class="moves">{moves}</ul>
<footer>{code}<div>
<p>{text(about.code_says)} <a href="{text(about.address)}">{text(about.address)}</a></p>
<p dir="auto">{text(picture.data or about.data)}</p>
<p>{text(licence)}</p>
</div></footer>
</main>
{"".join(templates)}
<script type="application/json" id="taken">{as_json(given)}</script>
<script>{script}</script>
</body>
</html>
"""
    return page.encode("utf-8", "replace")


def _sent(piece: Piece) -> Any:
    """As JSON has it: bytes compressed, the grid of a plane as its residuals (`grid_residuals`)."""
    data = piece.data
    if not isinstance(data, bytes):
        return data
    if piece.component == "bayes_plane_scene":
        end = 4 + int.from_bytes(data[:4], "little")
        data = data[:end] + grid_residuals(data[end:], tuple(json.loads(data[4:end])["shape"]))
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _script(used: Sequence[str]) -> str:
    """The drawings, each with its names to itself, and what stands in the app's place."""
    parts = [f"{json.dumps(name)}: (() => {{\n{_kept(SOURCES[name].script)}\nreturn drawn\n}})()" for name in used]
    more = [script for component, script in ANSWERED.items() if component in used]
    scripts = ("component", "decide", "take_away", *more)
    own = [bare((_HERE / f"{name}.js").read_text(encoding="utf-8")) for name in scripts]
    text = '"use strict"\nconst DRAWINGS = {\n' + ",\n".join(parts) + "\n}\n" + "\n".join(own) + "\n"
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError("a script of ours would end itself")
    return text


def _kept(script: str) -> str:
    """The script of a component that keeps what the module would export."""
    kept, n = _EXPORTS.subn("const drawn = ", script)
    if n != 1:
        raise ValueError(f"a component exports one function, not {n}")
    return kept


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
