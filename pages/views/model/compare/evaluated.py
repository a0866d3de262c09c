"""What is compared: the models of the shelf and logistic regression, all judged on the same rows they had not seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pandas as pd

from bayes_engine.decision import compare as scoring
from bayes_engine.decision.curves import (
    BrierParts,
    CostCurve,
    RiskSteps,
    ThresholdSweep,
    brier_parts,
    calibration,
    cost_curve,
    cost_weights,
    one_against_rest,
    risk_by_threshold,
    threshold_sweep,
)
from bayes_engine.decision.evaluate import RiskReport, estimated_risk
from bayes_engine.decision.held_out import HeldOut, held_out
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.models.calibrated import calibrate
from bayes_engine.models.discriminative import discriminative_counterpart
from bayes_engine.progress import steps
from bayes_engine.table.encode import positions
from bayes_engine.table.levels import sort_levels
from bayes_engine.workbench.figures.curves import CurveStyle
from pages import active
from pages.active import shelf, words
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import md, plotly_text
from pages.runtime.job_queue import in_worker
from pages.runtime.jobs import of_model
from pages.runtime.state import Spec, State, current
from pages.views.model.compare.expected import Expected, expected

T = TypeVar("T")
COUNTERPART = "lr"
AS_THEY_ARE = keys.CALIBRATOR.default


@dataclass(frozen=True)
class Evaluated:
    """The models that could be fitted and judged. `raw` by name: a place on the shelf, or COUNTERPART; `held` the same
    after the calibration asked for, of each by its one of the `methods`; `faults` say why others are not there; `loss`
    and `use` are those of this run."""

    table: active.FittableTable
    specs: tuple[Spec, ...]
    raw: Mapping[str, HeldOut]
    held: Mapping[str, HeldOut]
    methods: Mapping[str, str]
    faults: Mapping[str, BayesEngineError]
    key: str
    loss: LossMatrix
    use: Mapping[Any, float] | None
    costs: Expected

    @property
    def active(self) -> str:
        """The active model, or where it could not be judged another."""
        here = str(shelf.active_place(self.table))
        return here if here in self.held else next(iter(self.held))

    @property
    def amount(self) -> Any:
        return self.table.parts.amount

    @property
    def staked(self) -> bool:
        """Whether a weight a row is all that amounts change of the two prices of an error."""
        held = next(iter(self.held.values()))
        return self.amount is None or cost_weights(self.loss, held, self.amount) is not None

    def title(self, name: str, escape: Callable[[str], str] = md) -> str:
        if name == COUNTERPART:
            return _("logistic regression")
        every = range(len(self.specs))
        called = shelf.distinct_names(" · ".join(_distinguishing_parameters(self.specs, i, self.table)) for i in every)
        shown = escape(called[int(name)])
        return f"{int(name) + 1} · {shown}" if len(every) > 1 else shown

    def look(self, name: str) -> CurveStyle:
        place = len(self.specs) if name == COUNTERPART else int(name)
        return CurveStyle(self.title(name, plotly_text), place, name == self.active, name == COUNTERPART)


def _distinguishing_parameters(specs: tuple[Spec, ...], position: int, table: active.FittableTable) -> list[str]:
    """The family of a model, and what tells it from the others of its family on the shelf; or its own name."""
    spec = specs[position]
    if spec.name:
        return [spec.name]
    others = [s for i, s in enumerate(specs) if i != position and s.family == spec.family]
    parts = [words.family(spec.family)]
    if spec.family == "naive-bayes" and any(s.preset != spec.preset for s in others):
        parts.append(words.preset(spec.preset))
    parameters = [k for k in spec.parameters if any(k not in s.parameters for s in others)]
    return parts + [words.option(name, value, table) for name, value in parameters[:1]]


def evaluate(table: active.FittableTable) -> Evaluated:
    """Every model fitted and evaluated, once; meanwhile the page says which."""
    specs, raw, faults = active.shelf_of(table), {}, {}
    costs = expected(table, len(table.parts.y))
    method = current().seen(keys.CALIBRATOR)
    asked = {COUNTERPART: method}  # for all alike; else as each stands on the shelf
    for i, (spec, called) in enumerate(zip(specs, shelf.names(table), strict=True)):
        with of_model(called):
            try:
                with costs.stage(f"fit {i}"):
                    fitted = active.fit(table, active.uncalibrated(spec))
                with costs.stage(f"judge {i}"):
                    raw[str(i)] = active.held_out_rows(table, fitted)
                own = active.setting(spec, "calibration")
                asked[str(i)] = own if method == AS_THEY_ARE else method
            except BayesEngineError as error:
                faults[str(i)] = error
    try:
        with costs.stage("counterpart"):
            (raw[COUNTERPART],) = _counterpart(table)
    except BayesEngineError as error:
        faults[COUNTERPART] = error
    except ValueError as fault:
        faults[COUNTERPART] = BayesEngineError("scikit-learn: {why}", why=str(fault)[:200])
    key = repr((table.key, [(name, specs[int(name)]) for name in raw if name != COUNTERPART], COUNTERPART in raw))
    held = {}
    for name, one in raw.items():
        try:
            as_it_is = asked[name] == AS_THEY_ARE
            with costs.stage("calibrating"):
                held[name] = one if as_it_is else calibrated(table, specs, name, one, asked[name])
        except BayesEngineError as error:  # no rows to learn a calibrator from
            faults[name] = error
    use = active.prior_of_use(table)
    key = repr((key, method, tuple((use or {}).values())))
    return Evaluated(table, specs, raw, held, asked, faults, key, active.losses(table), use, costs)


def calibrated(
    table: active.FittableTable, specs: tuple[Spec, ...], name: str, held: HeldOut, method: str, *, seed: int = -1
) -> HeldOut:
    """The posteriors of a model calibrated, those shown or those of the repetition with this seed."""
    spec = None if name == COUNTERPART else active.uncalibrated(specs[int(name)])
    return _calibrated(table.key, spec, method, seed, held)


@cached(max_entries=64, activity=Message("calibrating the model"))
def _calibrated(key: str, spec: Spec | None, method: str, seed: int, _held: HeldOut) -> HeldOut:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return calibrate(_held, method)


@cached(max_entries=8, activity=Message("fitting logistic regression"))
def _counterpart(table: active.FittableTable, seeds: tuple[int, ...] = ()) -> tuple[HeldOut, ...]:
    """Logistic regression on the same splits, or in folds by each of the seeds: the labels are coded in the order in
    which the models sort them."""
    parts, labels = table.parts, sort_levels(table.classes)
    codes = positions(parts.y, labels)
    weight = None if parts.weight is None else parts.weight.to_numpy()
    model = discriminative_counterpart(parts.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(parts.X, codes, **({} if weight is None else {"logistic__sample_weight": weight}))
        every = [
            in_worker(
                held_out,
                model,
                parts.X,
                codes,
                groups=parts.groups,
                sample_weight=weight,
                seed=seed,
                in_folds=bool(seeds),
            )
            for seed in steps(seeds or (0,))
        ]
    return tuple(replace(h, classes=tuple(labels[int(c)] for c in h.classes)).in_order(table.classes) for h in every)


# computed once for a state of the models, the losses and the prior of use --------------------------------------------


@cached(max_entries=160, activity=Message("comparing the models"))
def _computed(what: str, key: str, _evaluated: Evaluated, _compute: Callable[[], T]) -> T:
    return _compute()


def _at(stage: str, what: str, key: str, evaluated: Evaluated, compute: Callable[[], T]) -> T:
    """What is computed of the models, at its stage of the page."""
    with evaluated.costs.stage(stage):
        return _computed(what, key, evaluated, compute)


def _of_each(evaluated: Evaluated, compute: Callable[[HeldOut], T]) -> dict[str, T]:
    return {name: compute(held) for name, held in steps(evaluated.held.items())}


def _under_losses(evaluated: Evaluated) -> str:
    """The key of what hangs on the losses, too."""
    loss = evaluated.loss
    marked = None if loss.by_amount is None else loss.by_amount.tolist()
    return repr((evaluated.key, loss.actions, loss.table.tolist(), marked))


def scores(evaluated: Evaluated) -> pd.DataFrame:
    """Accuracy, log-loss, Brier and so on of each model, on the rows that all have a posterior for."""

    def compute() -> pd.DataFrame:
        return scoring.compare(evaluated.held, prior_of_use=evaluated.use)

    return _at("scores", "scores", evaluated.key, evaluated, compute)


def reports(evaluated: Evaluated) -> dict[str, RiskReport]:
    """The estimated risk of each model's decisions under the losses, with interval and confusion."""

    def report(held: HeldOut) -> RiskReport:
        return estimated_risk(held, evaluated.loss, prior_of_use=evaluated.use, amount=evaluated.amount)

    return _at("reports", "reports", _under_losses(evaluated), evaluated, lambda: _of_each(evaluated, report))


def repetitions(evaluated: Evaluated) -> dict[str, tuple[HeldOut, ...]] | Message:
    """Repeated cross-validations of each model, calibrated as it is; or why there are none."""
    table, out = evaluated.table, {}
    seeds = active.seeds_to_repeat(table)
    try:
        for name, method in evaluated.methods.items():
            if name not in evaluated.held:
                continue
            with evaluated.costs.stage(f"repeat {name}"):
                if name == COUNTERPART:
                    every = _counterpart(table, seeds)
                else:
                    with of_model(evaluated.title(name, str)):
                        fitted = active.fit(table, active.uncalibrated(evaluated.specs[int(name)]))
                        every = active.repeated_rows(table, fitted)
                if method != AS_THEY_ARE:
                    pairs = zip(seeds, every, strict=True)
                    every = tuple(calibrated(table, evaluated.specs, name, h, method, seed=seed) for seed, h in pairs)
            out[name] = every if active.is_tiny(table) else (evaluated.held[name], *every)
    except BayesEngineError as error:  # a class of one row, say
        return error.message
    return {name: out[name] for name in evaluated.held}


def differences(evaluated: Evaluated, measure: str, stage: str = "differences") -> pd.DataFrame:
    """Every two models compared."""
    repeated = repetitions(evaluated)
    runs = None if isinstance(repeated, Message) else repeated

    def compute() -> pd.DataFrame:
        return scoring.differences(
            evaluated.held, measure, evaluated.loss, runs=runs, prior_of_use=evaluated.use, amount=evaluated.amount
        )

    key = _under_losses(evaluated) if measure == "risk" else evaluated.key  # of the others no loss changes anything
    return _at(stage, f"differences of {measure}", key, evaluated, compute)


@dataclass(frozen=True)
class ClassCurves:
    """One model's curves for one class against the rest."""

    swept: ThresholdSweep
    steps: RiskSteps | None
    cost: CostCurve
    stake: float = 1.0
    """By what amounts multiply the price of an error, on average."""


def class_curves(evaluated: Evaluated, label: Any) -> dict[str, ClassCurves]:
    """The curves of each model for one class, on the rows it has a posterior for."""
    loss, asked = evaluated.loss, {"prior_of_use": evaluated.use, "amount": evaluated.amount}

    def curves(held: HeldOut) -> ClassCurves:
        staked = None if evaluated.amount is None else cost_weights(loss, held, evaluated.amount)
        seen = one_against_rest(held, label, prior_of_use=evaluated.use)
        weighed = one_against_rest(held, label, prior_of_use=evaluated.use, amount=staked)
        swept = threshold_sweep(weighed)
        steps = risk_by_threshold(held, loss, label, **asked) if label in loss.actions else None
        return ClassCurves(swept, steps, cost_curve(swept), float(weighed.weight.sum() / seen.weight.sum()))

    what, key = f"curves of {label!r}", _under_losses(evaluated)
    return _at("curves", what, key, evaluated, lambda: _of_each(evaluated, curves))


def brier_decomposition(evaluated: Evaluated) -> dict[str, BrierParts]:
    """The Brier score of each model, taken apart."""

    def parts(held: HeldOut) -> BrierParts:
        return brier_parts(held, evaluated.use)

    return _at("brier", "brier", evaluated.key, evaluated, lambda: _of_each(evaluated, parts))


def of_one(evaluated: Evaluated, held: HeldOut, key: str) -> tuple[dict[str, float], pd.DataFrame]:
    """One model's scores and its reliability; `key` says what the model is, and how it was calibrated."""

    def compute() -> tuple[dict[str, float], pd.DataFrame]:
        return scoring.score(held, evaluated.use), calibration(held, prior_of_use=evaluated.use)

    return _at("calibrated", f"reliability of {key}", evaluated.key, evaluated, compute)


# the shelf -----------------------------------------------------------------------------------------------------------


def families_not_on_shelf(table: active.FittableTable) -> list[Spec]:
    """The families that are not on the shelf and can take the table, set as on the page Dependence: what a full shelf
    would show beside the ones that are there."""
    here = active.shelf_of(table)
    closed, there = shelf.unavailable_families(table), {spec.family for spec in here}
    numeric = any(v.numeric for v in table.features)
    naive = Spec("laplace")
    wanted = [Spec(family=family) for family in ("tan", "aode", "lda", "qda", "spode")]
    wanted = [
        shelf.with_parameter(s, "discretize", "mdlp") if numeric and s.family not in ("lda", "qda") else s
        for s in wanted
    ]
    if numeric:
        wanted.insert(0, shelf.with_parameter(naive, "discretize", "mdlp"))
    free = [s for s in wanted if s.family not in closed and (s.family not in there or s.family == "naive-bayes")]
    return [s for s in free if s not in here][: shelf.MOST - len(here)]


def with_rivals(table: active.FittableTable, state: State) -> State:
    """The shelf with the rivals added; the active model stays."""
    return replace(
        state, shelf=(*active.shelf_of(table), *families_not_on_shelf(table)), active=shelf.active_place(table)
    )
