"""The families from naive Bayes to k-DB side by side on rows they have not seen, and the bill of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.decision.compare import LEVEL, bins_for, compare, compare_risk, differences
from bayes_engine.decision.curves import calibration
from bayes_engine.decision.description_length import DescriptionLength, mdl
from bayes_engine.decision.held_out import KEPT, HeldOut
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.numerals import number
from bayes_engine.workbench.figures.comparison import MeasurePanel
from bayes_engine.workbench.figures.comparison import reliability as reliability_figure
from pages import active
from pages.active import shelf, units, words
from pages.active.dependence_models import family_models, treatment_of_numbers
from pages.active.procedures import extremes, how_compared, why_no_verdict, with_interval, without_posterior
from pages.components.chart import chart
from pages.components.readings import readings as draw_readings
from pages.components.tables import column, grid
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import md
from pages.runtime.jobs import of_model, part_of_page
from pages.runtime.state import Spec, State, change, current, dark
from pages.runtime.widgets import bound_to, choose, control, within_limits

JUDGED, FITTED, DRAWN = 0.2, 0.6, 0.8
"""The parts of the page's bar that are full once all families are judged, once their cross-validations are
repeated, and once it is drawn."""
Runs = Mapping[str, tuple[HeldOut, ...]] | Message | None
"""The repeated cross-validations of each model, or why there are none; None: not asked for."""


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
    """The models that could be fitted and judged, by place; why the others could not."""

    fitted: dict[str, active.Fitted]
    held: dict[str, HeldOut]
    faults: dict[str, BayesEngineError]

    @property
    def kept(self) -> bool:
        """Whether any is judged under what each row had its say in: a structure, cut points or a vocabulary."""
        return any(held.kept for held in self.held.values())

    def name_of(self, place: str) -> str:
        """The model's name, with what was kept where rows were left out."""
        kept = _(", ").join(KEPT[what].local() for what in self.held[place].kept)
        return _("{model}, {what} kept").format(model=name_of(place), what=kept) if kept else name_of(place)


def compare_families(table: active.FittableTable) -> None:
    """NB → SPODE → TAN → AODE → k-DB on the same held-out rows, with parameters and MDL bill."""
    specs = family_models(table)
    here = _place(table, specs)
    anew = current().seen(keys.DIAL_ANEW) or not active.is_tiny(table)
    _controls(table, specs, here, anew=anew)
    readings = _read(table, specs, anew=anew)
    if "naive-bayes" not in readings.held:
        raise readings.faults["naive-bayes"]
    runs = repeated(table, readings.fitted, readings.held, JUDGED, FITTED) if anew else None
    use = active.prior_of_use(table)
    key = (table.key, *(specs[p] for p in readings.held), anew, tuple((use or {}).values()))
    page, loss = (table.key, "dependence"), active.losses(table)
    with part_of_page(page, FITTED, (FITTED + DRAWN) / 2.0):
        scores = scores_of(repr(key), readings.held, use)
    with part_of_page(page, (FITTED + DRAWN) / 2.0, DRAWN):
        amount = table.parts.amount
        priced = _priced(repr(key), loss, readings.held, use, amount)
        apart = {
            measure: apart_from("naive-bayes", repr(key), measure, loss, readings.held, runs, use, amount)
            for measure in ("log_loss", "risk")
        }
    bills = {place: mdl(f.model) for place, f in readings.fitted.items()}
    _figure(table, specs, here, readings, scores, priced, bills)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _words(table, readings, scores, apart, runs)
    with right:
        _trust(readings, here, scores, use)
    _costs(readings, apart, bills)
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
                "Bayes). Choosing one adds that model to the candidates, as the active one."
            ),
            **control("dial", here, lambda s, place: with_family_model(table, specs, place)(s) if place else s),
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
    """Which of these the active model is."""
    models = active.shelf_of(table)
    return next((p for p, spec in specs.items() if _same(spec, models[shelf.active_place(table)])), None)


def _same(one: Spec, other: Spec) -> bool:
    """A preset says nothing of a model that is not naive Bayes."""
    naive = one.family == "naive-bayes"
    return (one.family, one.parameters) == (other.family, other.parameters) and (
        not naive or one.preset == other.preset
    )


def with_family_model(table: active.FittableTable, specs: Mapping[str, Spec], place: str) -> Callable[[State], State]:
    """An edit of the state that makes one of these models the active one: the one on the shelf, or in the place of the
    active one if that is one of them or the shelf is full, or added."""

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
    part = JUDGED / len(specs)
    for i, (place, spec) in enumerate(specs.items()):
        with of_model(name_of(place)), part_of_page((table.key, "dependence"), i * part, (i + 1) * part):
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


def repeated(
    table: active.FittableTable,
    fitted: Mapping[str, active.Fitted],
    held: Mapping[str, HeldOut],
    begin: float,
    end: float,
) -> Runs:
    """What differences between the models are judged by; it fills this part of the page's bar."""
    part, runs = (end - begin) / len(fitted), {}
    for i, (place, one) in enumerate(fitted.items()):
        with (
            of_model(name_of(place)),
            part_of_page((table.key, "dependence"), begin + i * part, begin + (i + 1) * part),
        ):
            try:
                every = active.repeated_rows(table, one)
            except BayesEngineError as error:  # a class of one row, say
                return error.message
        runs[place] = every if active.is_tiny(table) else (held[place], *every)
    return runs


@cached(max_entries=32, activity=Message("comparing the models"))
def apart_from(
    reference: str,
    key: str,
    measure: str,
    loss: LossMatrix | None,
    _held: Mapping[str, HeldOut],
    _runs: Runs,
    _use: Mapping[Any, float] | None,
    _amount: Any,
) -> pd.DataFrame:
    """How far each other model is above the reference, by place; `key` as in `scores_of`."""
    runs = None if isinstance(_runs, Message) else _runs
    return differences(
        _held, measure, loss, runs=runs, reference=reference, prior_of_use=_use, amount=_amount
    ).set_index("one")


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
            change(with_family_model(table, specs, judged[int(point["point_index"])]))

    active_at = judged.index(here) if here in judged else -1
    with st.container(key="dial_drawn"):
        draw_readings([readings.name_of(p) for p in judged], panels, active_at, key=f"dial_figure_{here}", on_pick=pick)


def _words(
    table: active.FittableTable,
    readings: _Readings,
    scores: pd.DataFrame,
    apart: Mapping[str, pd.DataFrame],
    runs: Runs,
) -> None:
    """What the figure says, and how it was come by."""
    st.markdown(_verdicts(table, readings, apart, runs))
    n = len(table.parts.y)
    parts = [
        _("Each row is left out of the counts, but has had a say in what is kept.")
        if readings.kept
        else words.held_out_scheme(next(iter(readings.held.values())).scheme, one_by_one=active.is_tiny(table)),
        shared_settings(table),
        _(
            "Filled mark: the best on these rows. Grey bar: 95% interval of one model's risk, the rows drawn again "
            "(bootstrap). ECE: how far confidence is from the share that is right, on average over {bins} bins."
        ).format(bins=bins_for(n)),
    ]
    if isinstance(runs, Mapping):
        parts.append(how_compared(n))
    if any(frame["p"].notna().any() for frame in apart.values()):
        corrected = _("Better or worse: p < {level} by Holm's correction for the {n} comparisons of a measure.")
        parts += [corrected.format(level=f"{LEVEL:g}", n=len(readings.held) - 1), extremes()]
    if active.prior_of_use(table):
        parts.append(_("Rows weighted to the prior of use."))
    parts += without_posterior(scores)
    st.caption(" ".join(parts))


def _verdicts(table: active.FittableTable, readings: _Readings, apart: Mapping[str, pd.DataFrame], runs: Runs) -> str:
    """Which models are better or worse than naive Bayes as procedures, as far as that can be said."""
    if runs is None:
        return _(
            "Differences from naive Bayes are those on these rows alone: each row took part in choosing what judges "
            "it. The switch above refits everything without it."
        )

    def named(places: pd.Series[bool]) -> str:
        return _(", ").join(f"**{readings.name_of(str(p))}**" for p in places.index[places])

    verdicts, alone = [], []
    for name, frame in ((_("log-loss"), apart["log_loss"]), (_("estimated risk"), apart["risk"])):
        real, known = frame["real"], frame["p"].notna()
        cases = {
            _("better {models}"): real & (frame["difference"] < 0),
            _("worse {models}"): real & (frame["difference"] > 0),
            _("none shown to differ"): known & (not real.any()),
            _("no number for {models}, by which a true class was held impossible"): frame["difference"].isna(),
        }
        parts = [case.format(models=named(places)) for case, places in cases.items() if places.any()]
        if parts:
            verdicts.append(f"{name}{_(': ')}{_(', ').join(parts)}")
        only = known & ~real & ((frame["low"] > 0) | (frame["high"] < 0))
        if only.any():
            alone.append(f"{name}{_(': ')}{named(only)}")
    sentences = [
        _("Against naive Bayes, on average over samples of {n} rows: {verdicts}.").format(
            n=f"{len(table.parts.y):,}", verdicts=_("; ").join(verdicts)
        )
        if verdicts
        else _("No model is called better or worse than naive Bayes.")
    ]
    if alone:
        sentences.append(
            _("Different also if only one comparison were made, without the correction: {models}.").format(
                models=_("; ").join(alone)
            )
        )
    if any((frame["p"].isna() & frame["difference"].notna()).any() for frame in apart.values()):
        sentences.append(why_no_verdict(table, runs if isinstance(runs, Message) else None))
    return " ".join(sentences)


def _costs(
    readings: _Readings, apart: Mapping[str, pd.DataFrame], bills: Mapping[str, DescriptionLength | None]
) -> None:
    """The bill in its parts, and the differences from naive Bayes with their intervals."""
    st.markdown("**" + _("Description length, and what changes against naive Bayes") + "**")
    places = list(readings.held)

    def of_bill(shown: Callable[[DescriptionLength], str]) -> list[str]:
        return ["–" if (bill := bills[place]) is None else shown(bill) for place in places]

    unit = units.evidence_unit()
    likelihood = _("Of the training rows, under maximum-likelihood estimates; {unit}.").format(unit=unit)
    paired = _("Above naive Bayes on these rows, paired; in brackets 95% over samples of this size.")

    def above(measure: str) -> list[str]:
        rows = apart[measure][["difference", "low", "high"]].to_numpy().tolist()
        shown = {place: with_interval(measure, row) for place, row in zip(apart[measure].index, rows, strict=True)}
        return [shown.get(place, "0") for place in places]

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
            "log_loss": column("Δ " + units.loss_measure(), above("log_loss"), paired),
            "risk": column(_("Δ risk"), above("risk"), paired),
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
    bins = {p: calibration(readings.held[p], equal="width", prior_of_use=use) for p in shown}
    figure = reliability_figure([(readings.name_of(p), frame) for p, frame in bins.items()], dark=dark())
    chart(figure, key="dial_reliability", alt=_("share that is right against confidence"))


def _bill(value: float) -> str:
    return f"{value:,.1f}" if abs(value) < 1e5 else f"{value:,.0f}"
