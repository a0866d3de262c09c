"""The dial from naive to full: the families side by side on rows they have not seen, and the bill of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.decision.compare import DescriptionLength, bins_for, compare, compare_risk, mdl, reliability
from bayes_engine.decision.evaluate import KEPT, HeldOut
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.numerals import number, signed
from bayes_engine.workbench.figures.comparison import MeasurePanel
from bayes_engine.workbench.figures.comparison import dial as dial_figure
from bayes_engine.workbench.figures.comparison import reliability as reliability_figure
from pages import active
from pages.active import shelf, units, words
from pages.components.chart import chart
from pages.components.tables import column, grid
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import md
from pages.runtime.jobs import part_of_page
from pages.runtime.state import Spec, State, bound_to, change, choose, control, current, dark, within_limits
from pages.views.dependence.dependences import cut_method, with_cut

FITTED, DRAWN = 0.6, 0.8
"""The parts of the page's bar that are full once all models of the dial are fitted and judged, and once it is drawn."""
DEGREES = (1, 2, 3)
"""The k of k-DB on the dial; k = 0 is naive Bayes."""


def dial_models(table: active.FittableTable) -> dict[str, Spec]:
    """The models of the dial, from naive to full: alike in all but what depends on what."""
    numeric = any(v.numeric for v in table.features)
    alpha, kind = float(current().seen(keys.DIAL_ALPHA)), treatment_of_numbers(table)

    def alike(family: str, **knobs: Any) -> Spec:
        spec = Spec("scikit-learn" if family == "naive-bayes" else Spec.preset, (), family)
        for knob, value in {"alpha": alpha, **knobs}.items():
            spec = shelf.with_knob(spec, knob, value)
        return with_cut(spec, None if kind == "gaussian" else kind) if numeric else spec

    by_degree = {f"k-db-{k}": alike("k-db", k=k) for k in DEGREES}
    return {name: alike(name) for name in ("naive-bayes", "spode", "tan", "aode")} | by_degree


def treatment_of_numbers(table: active.FittableTable) -> str:
    """How all models of the page take numbers: "gaussian", or cut as the pairs are where nothing else was chosen."""
    return current().seen(keys.DIAL_NUMBERS) or cut_method(table)


def name_of(place: str) -> str:
    return f"k-DB k={place[-1]}" if place.startswith("k-db") else words.family(place)


def shared_settings(table: active.FittableTable) -> str:
    """What the models of the page share, in a sentence."""
    numeric = any(v.numeric for v in table.features)
    sentence = _("All with α = {alpha:g} and the rows' own class prior.").format(alpha=current().seen(keys.DIAL_ALPHA))
    cut = {
        "mdlp": _("Numbers are cut by MDLP."),
        "quantile": _("Numbers are cut into quarters of their rows."),
        "gaussian": _("Numbers have Gaussians."),
    }[treatment_of_numbers(table)]
    return f"{sentence} {cut}" if numeric else sentence


@dataclass(frozen=True)
class _Readings:
    """The models of the dial that could be fitted and judged, by place; why the others could not."""

    fitted: dict[str, active.Fitted]
    held: dict[str, HeldOut]
    faults: dict[str, BayesEngineError]

    @property
    def kept(self) -> bool:
        """Whether any is judged under a structure or cut points that each row had its say in."""
        return any(held.scheme == KEPT for held in self.held.values())

    def name_of(self, place: str) -> str:
        """The model's name, and whether it is so."""
        kept = self.held[place].scheme == KEPT
        return _("{model}, structure kept").format(model=name_of(place)) if kept else name_of(place)


def dial(table: active.FittableTable) -> None:
    """NB → SPODE → TAN → AODE → k-DB on the same held-out rows, with parameters and MDL bill."""
    specs = dial_models(table)
    here = _place(table, specs)
    anew = current().seen(keys.DIAL_ANEW) or not active.is_tiny(table)
    _controls(table, specs, here, anew=anew)
    readings = _read(table, specs, anew=anew)
    if "naive-bayes" not in readings.held:
        raise readings.faults["naive-bayes"]
    use = active.prior_of_use(table)
    key = (table.key, *(specs[p] for p in readings.held), anew, tuple((use or {}).values()))
    page, loss = (table.key, "dependence"), active.losses(table)
    with part_of_page(page, FITTED, (FITTED + DRAWN) / 2.0):
        scores = scores_of(repr(key), readings.held, use)
    with part_of_page(page, (FITTED + DRAWN) / 2.0, DRAWN):
        priced = _priced(repr(key), loss, readings.held, use, table.parts.amount)
    bills = {place: mdl(f.model) for place, f in readings.fitted.items()}
    _figure(table, specs, here, readings, scores, priced, bills)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _words(table, readings, scores, priced)
    with right:
        _trust(readings, here, scores, use)
    _costs(readings, scores, priced, bills)
    for place, fault in readings.faults.items():
        st.caption(f"{name_of(place)}{_(': ')}{fault.message.local(md)}")


def _controls(table: active.FittableTable, specs: Mapping[str, Spec], here: str | None, *, anew: bool) -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.segmented_control(
            _("From naive to full"),
            list(specs),
            format_func=name_of,
            help=_(
                "From naive to full: each column depends on the class and on no other, on the same one (SPODE), on "
                "one of its own (TAN), on each in turn and averaged (AODE), on up to k others (k-DB; k = 0 is naive "
                "Bayes). Choosing one puts that model on the shelf, as the active one."
            ),
            **control("dial", here, lambda s, place: with_dial_model(table, specs, place)(s) if place else s),
        )
        st.number_input(
            "α",
            step=0.5,
            width=130,
            help=_("Smoothing, the same for all models here."),
            **within_limits(keys.DIAL_ALPHA),
        )
        if any(v.numeric for v in table.features):
            kinds = {"mdlp": _("cut by MDLP"), "quantile": _("quarters"), "gaussian": _("Gaussian")}
            choose(_("Numbers"), keys.DIAL_NUMBERS, kinds, otherwise=treatment_of_numbers(table))
        if active.is_tiny(table):
            st.toggle(
                _("learn all anew without each row"),
                help=_(
                    "On: super-parent, tree and cut points are chosen anew without the row that is judged. Off: it is "
                    "taken out of the counts alone, which is quick and flatters models whose structure is chosen: see "
                    "by how much."
                ),
                **bound_to(keys.DIAL_ANEW, anew),
            )


def _place(table: active.FittableTable, specs: Mapping[str, Spec]) -> str | None:
    """Where on the dial the active model stands."""
    models = active.shelf_of(table)
    return next((p for p, spec in specs.items() if _same(spec, models[shelf.active_place(table)])), None)


def _same(one: Spec, other: Spec) -> bool:
    """A preset says nothing of a model that is not naive Bayes."""
    naive = one.family == "naive-bayes"
    return (one.family, one.knobs) == (other.family, other.knobs) and (not naive or one.preset == other.preset)


def with_dial_model(table: active.FittableTable, specs: Mapping[str, Spec], place: str) -> Callable[[State], State]:
    """An edit of the state that makes a model of the dial the active one: the one on the shelf, or in the place of the
    active one if that is of the dial or the shelf is full, or added."""

    def edited(state: State) -> State:
        models, slot = active.shelf_of(table), shelf.active_place(table)
        there = [i for i, spec in enumerate(models) if _same(spec, specs[place])]
        if there:
            return replace(state, shelf=models, active=there[0])
        if _place(table, specs) is None and len(models) < shelf.MOST:
            return replace(state, shelf=(*models, specs[place]), active=len(models))
        return replace(state, shelf=(*models[:slot], specs[place], *models[slot + 1 :]), active=slot)

    return edited


# computing ------------------------------------------------------------------------------------------------------------


def _read(table: active.FittableTable, specs: Mapping[str, Spec], *, anew: bool) -> _Readings:
    """Each model fitted and judged, once; meanwhile the page says which."""
    readings = _Readings({}, {}, {})
    part = FITTED / len(specs)
    for i, (place, spec) in enumerate(specs.items()):
        says = _("{model}: judging rows it has not seen …").format(model=md(name_of(place)))
        with st.spinner(says), part_of_page((table.key, "dependence"), i * part, (i + 1) * part):
            try:
                fitted = active.fit(table, spec)
                held = active.held_out_rows(table, fitted, refit=anew)
            except BayesEngineError as error:
                readings.faults[place] = error
                continue
        readings.fitted[place], readings.held[place] = fitted, held
    return readings


@cached(max_entries=32, activity=Message("comparing the models"))
def scores_of(key: str, _held: Mapping[str, HeldOut], _use: Mapping[Any, float] | None) -> pd.DataFrame:
    """Models on the same held-out rows, by place; `key` says the table, the models, how rows were held out, and the
    prior of use."""
    return compare(_held, prior_of_use=_use)


@cached(max_entries=32, activity=Message("comparing the models"))
def _priced(
    key: str, loss: LossMatrix, _held: Mapping[str, HeldOut], _use: Mapping[Any, float] | None, _amount: Any
) -> pd.DataFrame:
    return compare_risk(_held, loss, prior_of_use=_use, amount=_amount)


# showing --------------------------------------------------------------------------------------------------------------


def _figure(
    table: active.FittableTable,
    specs: Mapping[str, Spec],
    here: str | None,
    readings: _Readings,
    scores: pd.DataFrame,
    priced: pd.DataFrame,
    bills: Mapping[str, DescriptionLength | None],
) -> None:
    judged = list(scores.index)
    totals = [math.nan if (bill := bills[p]) is None else units.evidence(bill.total) for p in judged]
    panels = [
        MeasurePanel(_("accuracy"), list(scores["accuracy"]), [words.share(v) for v in scores["accuracy"]], more=True),
        MeasurePanel(
            units.loss_measure(),
            [units.loss_shown(v) for v in scores["log_loss"]],
            [units.loss_text(v) for v in scores["log_loss"]],
            more=units.as_probability(),
        ),
        MeasurePanel("ECE", list(scores["ece"]), [number(v, 3) for v in scores["ece"]]),
        MeasurePanel(
            _("estimated risk"),
            list(priced["risk"]),
            [number(v, 3) for v in priced["risk"]],
            list(zip(priced["low"], priced["high"], strict=True)),
        ),
        MeasurePanel(
            _("MDL score, {unit}").format(unit=units.evidence_unit()),
            totals,
            [_("none") if math.isnan(v) else _bill(v) for v in totals],
        ),
    ]

    def pick(point: Mapping[str, Any]) -> None:
        if "point_index" in point:
            change(with_dial_model(table, specs, judged[int(point["point_index"])]))

    active_at = judged.index(here) if here in judged else -1
    chart(
        dial_figure([readings.name_of(p) for p in judged], panels, active=active_at, dark=dark()),
        key=f"dial_figure_{here}",
        alt=_("accuracy, log-loss, calibration, risk and MDL score of each model"),
        on_pick=pick,
    )


def _words(table: active.FittableTable, readings: _Readings, scores: pd.DataFrame, priced: pd.DataFrame) -> None:
    """What the figure says, and how it was come by."""
    sentences = []
    for name, frame in ((_("log-loss"), scores), (_("estimated risk"), priced)):
        real = [
            f"**{readings.name_of(p)}**"
            for p in frame.index[1:]
            if frame["more_low"][p] > 0 or frame["more_high"][p] < 0
        ]
        every = len(real) == len(frame) - 1 > 1
        sentences.append(f"{name}{_(': ')}{_('all of them') if every else _(', ').join(real) or _('none')}")
    sentence = _("Differences from naive Bayes that are real, their 95 % interval being without 0: {found}.").format(
        found=_("; ").join(sentences)
    )
    if readings.kept:
        sentence += " " + _(
            "But each row took part in choosing the structure that judges it; with the switch above "
            "everything is learnt anew without it."
        )
    st.markdown(sentence)
    parts = [
        _("Structure kept: each row is left out of the counts, not of the choice of structure and cut points.")
        if readings.kept
        else words.held_out_scheme(next(iter(readings.held.values())).scheme, one_by_one=active.is_tiny(table)),
        shared_settings(table),
        _("Filled mark: the best. Grey bar: 95 % interval of the risk (bootstrap). ECE: how far confidence is from "
          "the share that is right, on average over {bins} bins.").format(bins=bins_for(len(table.parts.y))),
    ]  # fmt: skip
    if active.prior_of_use(table):
        parts.append(_("Rows weighted to the prior of use."))
    left_out = int(scores["undecided"].max())
    if left_out:
        parts.append(
            _(
                "{n} rows have no posterior: each counts as wrong and costs what the dearest action costs under its "
                "true class. Log-loss, Brier score and ECE leave them out."
            ).format(n=left_out)
        )
    st.caption(" ".join(parts))


def _costs(
    readings: _Readings, scores: pd.DataFrame, priced: pd.DataFrame, bills: Mapping[str, DescriptionLength | None]
) -> None:
    """The bill in its parts, and the differences from naive Bayes with their intervals."""
    st.markdown("**" + _("Description length, and what changes against naive Bayes") + "**")
    places = list(scores.index)

    def of_bill(shown: Callable[[DescriptionLength], str]) -> list[str]:
        return ["–" if (bill := bills[place]) is None else shown(bill) for place in places]

    unit = units.evidence_unit()
    likelihood = _("Of the training rows, under maximum-likelihood estimates; {unit}.").format(unit=unit)
    paired = _("Paired, with its 95 % bootstrap interval.")
    grid(
        {
            "model": column(_("model"), [readings.name_of(place) for place in places]),
            "parameters": column(
                _("parameters"),
                of_bill(lambda b: f"{b.parameters:,}"),
                _("Free parameters, class node included."),
            ),
            "likelihood": column("−log L", of_bill(lambda b: _bill(units.evidence(-b.log_likelihood))), likelihood),
            "penalty": column(
                "½ log m · p",
                of_bill(lambda b: _bill(units.evidence(b.penalty))),
                _("m rows, p parameters; {unit}.").format(unit=unit),
            ),
            "log_loss": column(
                "Δ " + units.loss_measure(), [_difference(scores, place, loss_difference) for place in places], paired
            ),
            "risk": column(
                _("Δ risk"), [_difference(priced, place, lambda v: signed(v, 3)) for place in places], paired
            ),
        },
        key="dial_costs",
        alt=_("parameters, description length and differences of each model"),
        whole=True,
    )
    st.caption(
        _("MDL score = −log L + ½ log m · p. AODE has none: its tables are no maximum-likelihood estimates of the "
          "mean of models.")
    )  # fmt: skip


def _trust(readings: _Readings, here: str | None, scores: pd.DataFrame, use: Mapping[Any, float] | None) -> None:
    """Naive Bayes's confidence beside another model's."""
    others = scores["log_loss"].drop("naive-bayes")
    other = here if here in others.index else str(others.idxmin()) if len(others) else None
    shown = ["naive-bayes", *([other] if other else [])]
    st.markdown("**" + _("Is a confidence of 0.9 right nine times in ten?") + "**")
    figure = reliability_figure([(readings.name_of(p), reliability(readings.held[p], use)) for p in shown], dark=dark())
    chart(figure, key="dial_reliability", alt=_("share that is right against confidence"))


def _difference(frame: pd.DataFrame, place: str, text: Callable[[float], str]) -> str:
    if place == "naive-bayes":
        return "0"
    more, low, high = (float(frame[c][place]) for c in ("more", "more_low", "more_high"))
    if math.isnan(more):
        return "–"
    if text is loss_difference and units.as_probability():  # more loss is less of it
        low, high = high, low
    return f"{text(more)} [{text(low)}, {text(high)}]"


def loss_difference(nats: float, decimals: int = 3) -> str:
    """A difference of log-losses in the unit chosen, with so many decimals where it is no probability."""
    return units.loss_difference_text(nats) if units.as_probability() else signed(units.loss_shown(nats), decimals)


def _bill(value: float) -> str:
    return f"{value:,.1f}" if abs(value) < 1e5 else f"{value:,.0f}"
