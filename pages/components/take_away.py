"""A live picture as one file to take along: an HTML page that holds the drawings of `component.py` with what they were
sent, and works by a double click, without a network and without the app.

In place of the app stands `take_away.js`: it calls the drawings as Streamlit does, and answers what a person does in
them. Which pictures can be taken says `live_pictures.py`. What is from data is in the file as JSON that no HTML can
end, or as escaped text; its policy lets no script run but the one that it was saved with, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from bayes_engine.language import _
from bayes_engine.workbench.figures.decisions import grid_residuals
from pages.components.component import SOURCES, bare
from pages.components.live_pictures import Picture, Piece

MOST = 300_000
"""Bytes of a file."""
ANSWERED = {"bayes_graph": "take_away_network"}
"""Components whose answers stand in a script of their own, which only their files bring."""
_HERE = Path(__file__).parent
_EXPORTS = re.compile(r"^export default ", re.MULTILINE)


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
