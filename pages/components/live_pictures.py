"""The live pictures of a page that can be taken along as a file (`take_away.py`): the drawings of each, and what can be
moved in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bayes_engine.language import _
from pages.components.component import DrawnRun


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
