"""The nomogram of the case: of an additive model every value of every attribute as a point on one ruler of log-odds,
the case's connected, its total, probability and decision at the foot. A point that is dragged changes the case.

Two elements stand behind a drawing, as behind the plane: the terms of all values, which stay while the model does, and
a small live part with the case. The browser adds the terms up; posterior and decision are decide.js's.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.errors import BayesEngineError, ParameterError
from bayes_engine.language import Listing, Message, _
from bayes_engine.logspace import normalize
from bayes_engine.models.naive_bayes import PRESETS, NaiveBayes
from bayes_engine.table.encode import positions
from bayes_engine.table.levels import sort_levels
from bayes_engine.workbench.derivation.derive import Working
from bayes_engine.workbench.derivation.nomogram import (
    PRIOR_OF_USE,
    AttributeScale,
    AttributeValues,
    Nomogram,
    Ruler,
    logistic_nomogram,
    nomogram,
    ruler_of,
    values_of,
)
from bayes_engine.workbench.derivation.texts import TextRead, read_text, text_steps
from pages import active
from pages.active import units, words
from pages.active.text_terms import shown
from pages.components import pixels
from pages.components.component import (
    component,
    follower,
    ink,
    last_message,
    needs_besides,
    packed,
    read_message,
    read_position,
)
from pages.components.losses import editor_part
from pages.components.plane import action_inks
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.job_queue import in_worker
from pages.runtime.state import change, current
from pages.runtime.widgets import choose
from pages.views.case import text_message
from pages.views.case.editor import CaseInUse, as_read, case_editor, case_listed, decided, with_cells
from pages.views.case.verdict import choose_sides, decision_and_risks

MOST = 24
"""As many attributes have a scale, those of the largest range: as many as can be read on a page of paper."""
MOST_WORDS = 12
"""As many terms of a text have a point."""

_scene = component(__file__, "bayes_nomogram_scene", uses=("decide", "stage"))
_live = follower(
    __file__, "bayes_nomogram", '<div class="nomogram" data-testid="nomogram"></div>',
    draws="bayesNomogram", event="bayes-nomogram",
)  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """A nomogram under its key on the page, with a heading where there are two; what it is `of`: what judges the
    case, whose working knows the terms of a text, a preset of smoothing, or logistic regression."""

    key: str
    title: str
    drawn: Nomogram
    of: str = "own"

    @property
    def of_working(self) -> bool:
        return self.of == "own"


def nomogram_view(one: CaseInUse) -> None:
    """The decision, the nomogram, and the case to be changed."""
    try:
        working = decided(one, active.prior_of_use(one.table), active.case_losses(one.table))
        own = _of_model(one, "own", active.prior_of_use(one.table))
    except BayesEngineError as error:
        why = _on_screen(one, error.message)
        st.info(_("There is no nomogram here: {why}.").format(why=why.local(md)))
        st.caption(
            _("A nomogram needs a model that is additive, log P(c | x) = b + Σ of one term for each attribute: naive "
              "Bayes in all its forms, LDA, logistic regression, complement naive Bayes once it is calibrated. In TAN "
              "and AODE a term takes two attributes, in QDA all of them.")
        )  # fmt: skip
        return
    with st.container(key="nomogram_sentence"):
        decision_and_risks(one, working)
    with st.container(key="nomogram_controls"):
        pair = choose_sides(one, working)
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            orders = {"size": _("by range"), "table": _("as in the table")}
            choose(_("Order"), keys.ORDER, orders, titled=False)
            units.choose_evidence_unit()
            _choose_beside(one)
    drawings = _side_by_side(one, own)
    ruler = ruler_of([s.drawn for s in drawings], *pair)
    with st.container(key="nomogram_drawn"):
        for cell, drawing in zip(st.columns(len(drawings), gap="medium"), drawings, strict=True):
            with cell:
                if drawing.title:
                    st.markdown(f"**{md(drawing.title, 60)}**")
                _draw(one, working, drawing, pair, ruler)
    st.caption(_reading(one, working, drawings, pair, ruler))
    with st.container(key="case_editor"):
        if one.seed:
            case_listed(one)
            return
        st.subheader(_("The case"))
        texts = active.text_columns(one.table)
        if texts:
            text_message.typed_case(one, working)
        image = pixels.picture(one.table)
        case_editor(one.table, one.values, drawn=image.names if image else texts)


def _on_screen(one: CaseInUse, message: Message) -> Message:
    """Columns by their names on screen."""
    names = {v.name: one.table.column(v.name) for v in one.table.features}
    column, others = message.params.get("column"), message.params.get("others")
    shown: dict[str, Any] = {"column": names.get(str(column), str(column))} if column is not None else {}
    if isinstance(others, Listing):
        shown["others"] = Listing(names.get(str(name), str(name)) for name in others.parts)
    return replace(message, params={**message.params, **shown})


# what is drawn --------------------------------------------------------------------------------------------------------


def _choose_beside(one: CaseInUse) -> None:
    options = {"": _("this model only")}
    if isinstance(one.model, NaiveBayes):
        options["smoothing"] = _("no smoothing and Laplace side by side")
    if not one.seed:
        options["logistic"] = _("logistic regression beside")
    if len(options) > 1:
        choose(_("Beside"), keys.NOMOGRAM_BESIDE, options, titled=False)


def _side_by_side(one: CaseInUse, own: Nomogram) -> list[Shown]:
    chosen, prior = current().seen(keys.NOMOGRAM_BESIDE), active.prior_of_use(one.table)
    try:
        if chosen == "smoothing" and isinstance(one.model, NaiveBayes):
            return [
                Shown("nomogram", words.preset("textbook"), _of_model(one, "textbook", prior), "textbook"),
                Shown("nomogram_beside", words.preset("laplace"), _of_model(one, "laplace", prior), "laplace"),
            ]
        if chosen == "logistic" and not one.seed:
            beside = _of_logistic(one, prior)
            own_title = words.spec(one.fitted.spec)
            return [
                Shown("nomogram", own_title, own),
                Shown("nomogram_beside", _("Logistic regression"), beside, "logistic"),
            ]
    except BayesEngineError as error:
        st.warning(error.message.local(md))
    return [Shown("nomogram", "", own)]


def _judging(one: CaseInUse, which: str) -> Any:
    """What judges the case; or the same counts smoothed as a preset does, without a calibration."""
    if which == "own":
        return one.judging
    return one.model.with_params(**{k: PRESETS[which][k] for k in ("smoothing", "alpha", "priors")})


@cached(max_entries=32)
def _of_model(one: CaseInUse, which: str, prior_of_use: Mapping[Any, float] | None) -> Nomogram:
    judging, read, values = _judging(one, which), as_read(one.table), {}
    for variable in one.table.parts.schema.features.variables:
        column, levels = one.table.parts.X[variable.name], variable.levels if variable.discrete else ()
        known = values_of(read.get(variable.name, variable), column, levels)
        values[variable.name] = AttributeValues(()) if known is None else known
    return nomogram(judging, one.case, values, prior_of_use, one.table.classes)


@cached(max_entries=32)
def _of_logistic(one: CaseInUse, prior_of_use: Mapping[Any, float] | None) -> Nomogram:
    parts, labels = one.table.parts, sort_levels(one.table.classes)
    values = {}
    for variable in parts.schema.features.variables:
        known = values_of(variable, parts.X[variable.name], variable.levels if variable.discrete else ())
        if known is not None:
            values[variable.name] = known
    pipeline = _logistic(one.table)
    both = None if prior_of_use is None else (_shares(one.table), prior_of_use)
    return logistic_nomogram(pipeline, one.case, values, parts.X, labels, both, one.table.classes)


def _shares(table: active.FittableTable) -> dict[Any, float]:
    """The classes' shares of the rows."""
    parts = table.parts
    weight = pd.Series(1.0, index=parts.y.index) if parts.weight is None else parts.weight
    return {c: float(weight[parts.y == c].sum() / weight.sum()) for c in sort_levels(table.classes)}


@cached(max_entries=4, activity=Message("fitting logistic regression"))
def _logistic(table: active.FittableTable) -> Any:
    from bayes_engine.models.discriminative import discriminative_counterpart  # it takes long to import

    parts, labels = table.parts, sort_levels(table.classes)
    weight = {} if parts.weight is None else {"logistic__sample_weight": parts.weight.to_numpy()}
    model = discriminative_counterpart(parts.schema)
    codes = positions(parts.y, labels)
    if len(set(codes.tolist())) < len(labels):
        raise ParameterError("logistic regression needs rows of every class")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return in_worker(model.fit, parts.X, codes, **weight)


# the drawing ----------------------------------------------------------------------------------------------------------


def _draw(one: CaseInUse, working: Working, drawing: Shown, pair: tuple[int, int], ruler: Ruler) -> None:
    key, drawn, table = drawing.key, drawing.drawn, one.table

    def moved() -> None:
        cells = read_message(key, "moved", lambda edit: read_cells(edit.get("cells"), drawn.scales))
        if cells:
            change(lambda state: with_cells(state, table, {n: _code(table, n, v) for n, v in cells.items()}))

    needs_besides(key, lambda: _editor(one, drawing))
    digest, scene = scene_bytes(one, drawn, key)
    with st.container(gap=None):
        _live(key=key, data=_live_part(one, working, drawing, digest, pair, ruler), on_moved_change=moved)
        _scene(key=f"{key}-scene", data=scene, height=1)


def _editor(one: CaseInUse, drawing: Shown) -> dict[str, Any]:
    """What a saved file needs so that the foot follows an editor of λ and of the prior of use: the editor, which class
    of it each of the drawing's is, the prior of the drawing's model, and which term is that of the prior of use."""
    table, drawn, bus = one.table, drawing.drawn, drawing.key
    ledger = one.judging.explain(one.case)
    own = _shares(table) if drawing.of == "logistic" else _judging(one, drawing.of).prior_by_class
    sent = editor_part(table, one.fitted, ledger, bus)
    names = [row.name for row, _term in drawn.base]
    p = normalize(drawn.joint()[None])[0]
    place = [drawn.classes.index(c) for c in table.classes]
    return {
        "losses": {**sent, "posterior": [float(p[k]) for k in place] if p.any() else []},
        "classes": [table.classes.index(c) for c in drawn.classes],
        "own": [float(own[c]) for c in drawn.classes],
        "use": names.index(PRIOR_OF_USE) if PRIOR_OF_USE in names else -1,
        "amount": sent["amount"],
        "label": _("prior of use"),
    }


def read_cells(value: object, scales: Sequence[AttributeScale]) -> dict[str, Any] | None:
    """The cells that a browser changed, by column, each to one of the values that have a point; None for anything else:
    pairs of the place of a scale and that of a value."""
    if not isinstance(value, list):
        return None
    cells = {}
    for entry in value:
        if not isinstance(entry, list) or len(entry) != 2:
            return None
        scale = read_position(entry[0], len(scales))
        place = None if scale is None else read_position(entry[1], len(scales[scale].values.cells))
        if scale is None or place is None:
            return None
        cells[scales[scale].column] = scales[scale].values.cells[place]
    return cells


def _code(table: active.FittableTable, name: str, value: Any) -> Any:
    """A cell as the state keeps it."""
    variable = next(v for v in table.features if v.name == name)
    return variable.levels.index(value) if variable.discrete else float(value)


def scene_bytes(one: CaseInUse, drawn: Nomogram, key: str) -> tuple[str, bytes]:
    """The digest of the heavy part, and it: the names and values of the scales, behind them the terms of each (m, K) as
    64-bit numbers, in nats."""
    scales = [
        {"name": clean(words.with_unit(one.table, s.column), 60), "curve": s.values.curve, "values": _labels(one, s)}
        for s in drawn.scales
    ]
    return packed({"key": key, "scales": scales}, b"".join(s.to_bytes() for s in drawn.scales), 8)


def _labels(one: CaseInUse, scale: AttributeScale) -> list[Any]:
    if scale.values.curve:
        return list(scale.values.cells)
    return [_shown(one, scale.column, v) for v in scale.values.names or scale.values.cells]


def _shown(one: CaseInUse, column: str, value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.10g}".replace("-", "−")
    return clean(one.table.level(column, value), 40)


def _live_part(
    one: CaseInUse, working: Working, drawing: Shown, scene: str, pair: tuple[int, int], ruler: Ruler
) -> dict[str, Any]:
    drawn, table = drawing.drawn, one.table
    loss = active.case_losses(table).for_classes(drawn.classes)
    of = [table.classes.index(a) if a in table.classes else None for a in loss.actions]
    actions = action_inks([table.action(a) for a in loss.actions], of)
    by_range = drawn.by_range(*pair)
    kept = by_range[:MOST] if current().seen(keys.ORDER) == "size" else sorted(by_range[:MOST])
    base = [(_base_name(one, row.name), term) for row, term in drawn.base]
    if rest := by_range[MOST:]:
        base.append((_("{n} others").format(n=len(rest)), drawn.sum_of_own(rest)))
    steps = text_steps(working.steps) if drawing.of_working else ()
    texts = {read.column: read for read in (read_text(working.steps[j], *pair) for j in steps)}
    return {
        "key": drawing.key,
        "scene": scene,
        "label": _("Nomogram: {name} against {other}").format(
            name=clean(table.class_(drawn.classes[pair[0]]), 40), other=clean(table.class_(drawn.classes[pair[1]]), 40)
        ),
        "classes": [ink(clean(table.class_(c), 40), k) for k, c in enumerate(drawn.classes)],
        "actions": [{"label": clean(a.label, 60), "light": a.light, "dark": a.dark} for a in actions],
        "loss": loss.table.tolist(),
        "order": loss.by_name.tolist(),
        "for": pair[0],
        "against": pair[1],
        "extent": [ruler.low, ruler.high],
        "endless": ruler.endless,
        "scales": kept,
        "base": [{"label": name, "terms": _sent(term)} for name, term in base],
        "own": [_own(one, scale, pair, texts.get(scale.column)) for scale in drawn.scales],
        "moves": drawn.moves,
        "fixed": bool(one.seed),
        "unit": {"perNat": units.evidence(1.0), "word": units.evidence_unit()},
        "seen": last_message(drawing.key),
        "words": {
            "missing": _("missing"),
            "total": _("log-odds"),
            "decision": _("decision"),
            "nowhere": _("impossible under this model"),
            "readout": _("P({class}) = {p} → {action}"),
            "share": "P({name})" if len(drawn.classes) == 2 else _("P({name} | one of the two)"),
            "everyone": _("each class: its sum below the largest, and its probability"),
        },
    }


def _sent(term: Any) -> list[Any]:
    """Terms as JSON has them: None for −∞."""
    return [float(v) if math.isfinite(v) else None for v in term]


def _own(one: CaseInUse, scale: AttributeScale, pair: tuple[int, int], read: TextRead | None) -> dict[str, Any]:
    """The case's value on a scale; of a text the terms that tell most, whose sum a calibration may multiply."""
    value = one.values.get(scale.column)
    known = None if value is None else float(value) if scale.values.curve else _own_label(one, scale, value)
    own: dict[str, Any] = {"value": known, "at": scale.place, "terms": _sent(scale.own)}
    own["text"] = "" if known is None else _shown(one, scale.column, known) if scale.values.curve else known
    if read is not None and read.nats and math.isfinite(read.nats):
        slope = float(scale.own[pair[0]] - scale.own[pair[1]]) / read.nats
        terms = sorted(read.terms, key=lambda t: -abs(t.nats))[:MOST_WORDS]
        own["marks"] = [{"label": clean(shown(t.term), 24), "nats": t.nats * slope} for t in terms]
    return own


def _own_label(one: CaseInUse, scale: AttributeScale, value: Any) -> str:
    if scale.column in active.text_columns(one.table):
        return clean(str(value), 40)
    return _shown(one, scale.column, float(value) if scale.values.names and not isinstance(value, str) else value)


def _base_name(one: CaseInUse, name: str) -> str:
    if name == one.table.target.name:
        return _("prior")
    names = {
        PRIOR_OF_USE: _("prior of use"), "calibration": _("calibration"), "intercept": _("intercept"),
        "absent terms": _("absent words"),
    }  # fmt: skip
    if name in one.table.features.names:
        return clean(one.table.column(name), 40)
    return names.get(name, clean(name, 40))


# in words -------------------------------------------------------------------------------------------------------------


def _reading(one: CaseInUse, working: Working, drawings: Sequence[Shown], pair: tuple[int, int], ruler: Ruler) -> str:
    name, other = (md(one.table.class_(working.classes[k]), 24) for k in pair)
    texts = [
        _("A point is what a value adds to the log-odds of {name} against {other}, on the ruler above. Add up those of "
          "a case: the sum and the probability it stands for are at the foot. Drag a point, or click another value, "
          "and the case changes.").format(name=name, other=other)
    ]  # fmt: skip
    if any(s.folds(*pair) for d in drawings for s in d.drawn.scales):
        texts.append(_("Where the log-odds of a number rise and fall again, its branches stand one above the other."))
    if any(ruler.endless):
        texts.append(_("An arrowhead beyond the ruler is −∞ or +∞: the value was never seen in one of the classes, so "
                       "alone it decides; a cross: in neither."))  # fmt: skip
    if any(d.drawn.moves for d in drawings):
        texts.append(_("The calibration's term depends on the sum of all others: it is that of this case."))
    if any(len(d.drawn.scales) > MOST for d in drawings):
        texts.append(_("The {n} attributes of largest range have a scale; the others stand together.").format(n=MOST))
    if left_out := dict.fromkeys(n for d in drawings for n in d.drawn.left_out):
        listed = _(", ").join(md(one.table.column(n), 40) for n in left_out)
        text = _("Missing here, and without a scale: {columns}. LDA integrates them out; known, each would change the "
                 "weights of the others.")  # fmt: skip
        texts.append(text.format(columns=listed))
    if any(d.title == _("Logistic regression") for d in drawings):
        texts.append(_("In logistic regression an attribute is 0 at its mean in the table; what that leaves is the "
                       "intercept."))  # fmt: skip
    return " ".join(texts)
