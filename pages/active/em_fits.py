"""Runs of EM on the table in use, each computed once: keyed by the table and by what the run is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from bayes_engine.errors import TableError, listen
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.models.class_numbers import classes_table
from bayes_engine.models.em_runs import (
    GaussianMixtureRun,
    HiddenLabelRun,
    InformationCriteria,
    RunEnd,
    SupervisedStep,
    at_step,
    ceiling,
    ends_of_runs,
    hidden_rows,
    information_criteria,
    nearest_rows,
    one_hot,
    run_em,
    run_with_hidden_labels,
    run_with_nameless_classes,
    supervised_step,
)
from bayes_engine.models.labelled_curve import LabelledCurve, accuracy_by_labels
from bayes_engine.models.mixture import GaussianMixture
from bayes_engine.models.mixture_components import Conditional, Form
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.workbench.derivation.likelihoods import WordTable, likelihood
from bayes_engine.workbench.figures.mixture import ComponentEllipses, EndState, Film, axis_range, drawn_rows
from pages import active
from pages.active.axes import discriminating
from pages.active.models import read_as
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.job_queue import in_worker
from pages.runtime.state import current

MAX_ITER = 300
"""M steps of a mixture at most."""
MAX_HIDDEN = 200
"""M steps of naive Bayes with hidden labels at most."""
TRIES = 3
"""Random starts of naive Bayes without a label, of which the best is kept."""
STARTS = 12
"""Random starts that are compared."""
MOST = 8
"""Components at most: as many as there are colours."""


@dataclass(frozen=True)
class MixtureRun:
    """What a run of a mixture is made of. `columns` are positions among the numeric features, the axes first;
    `points` the start set by hand, in the plane."""

    columns: tuple[int, ...]
    k: int
    form: Form = "full"
    start: str = "kmeans"
    seed: int = 0
    points: tuple[tuple[float, float], ...] = ()
    hard: bool = False
    prior: bool = False
    stop: str = "objective"
    tol: float = 1e-7


def numeric_features(table: active.FittableTable) -> list[str]:
    return [v.name for v in table.features if v.numeric]


def true_classes(table: active.FittableTable) -> Any:
    """The class of each row, as a position among the table's."""
    return table.parts.y.cat.codes.to_numpy()


def numbers_of(table: active.FittableTable, columns: Sequence[int]) -> Any:
    """The cells of some of the numeric features, by position: (n, d), NaN where one is missing."""
    names = numeric_features(table)
    return table.parts.X[[names[j] for j in columns]].to_numpy(dtype="float64", na_value=float("nan"))


def numbers_of_case(table: active.FittableTable, columns: Sequence[int]) -> Array:
    """(1, d) the case in use in some of the numeric features, by position; NaN where it has no value."""
    names, case = numeric_features(table), active.case_frame(table, active.case_values(table))
    numbers: Array = case[[names[j] for j in columns]].to_numpy(dtype="float64", na_value=float("nan"))
    return numbers


def shares_of_case(table: active.FittableTable, run: MixtureRun) -> tuple[int, Array]:
    """The iteration that is shown, and (K,) the responsibilities of the components for the case in use there."""
    climbed = mixture(table, run)
    steps, shown = climbed.trace.steps, current().seen(keys.EM_STEP)
    step = shown if 0 <= shown < len(steps) else len(steps) - 1
    return step, at_step(climbed.model, steps[step].parameters, numbers_of_case(table, run.columns))[0]


def axes(table: active.FittableTable) -> tuple[int, int]:
    """The two numeric features on the axes, by position; at first those that tell the classes apart best. Raises
    TableError where there are fewer."""
    n, state = len(numeric_features(table)), current()
    if n < 2:
        raise TableError("the table in use has no two columns of numbers and a class to be told by them")
    first = discriminating(table)
    x = state.seen_among(keys.EM_X, range(n), first[0])
    others = [j for j in range(n) if j != x]
    return x, state.seen_among(keys.EM_Y, others, next(j for j in (*first[::-1], 0) if j != x))


def run_in_use(table: active.FittableTable) -> MixtureRun:
    """The run that the state asks for; what a forged link says besides counts as not said."""
    state, n = current(), len(numeric_features(table))
    x, y = axes(table)
    rest = tuple(j for j in range(n) if j not in (x, y)) if state.seen(keys.EM_ALL) else ()
    k = min(state.seen(keys.EM_K) or len(table.classes), MOST)
    points = tuple((float(x), float(y)) for x, y in state.seen(keys.EM_POINTS))
    start = state.seen(keys.EM_START)
    if start == "labels":
        k = len(table.classes)
    run = MixtureRun(
        (x, y, *rest),
        k,
        state.seen(keys.EM_FORM),
        start,
        state.seen(keys.EM_SEED),
        (),
        state.seen(keys.EM_HARD),
        state.seen(keys.EM_PRIOR),
        state.seen(keys.EM_STOP),
        state.seen(keys.EM_TOL),
    )
    if start != "hand":
        return run
    return replace(run, points=points if len(points) == k else start_points(table, replace(run, start="kmeans")))


def start_points(table: active.FittableTable, run: MixtureRun) -> tuple[tuple[float, float], ...]:
    """Where a run begins, as points that a person may move."""
    theta = mixture(table, run).trace.steps[0].parameters
    return tuple((rounded_place(table, 0, m[0]), rounded_place(table, 1, m[1])) for m in theta.means.tolist())


def rounded_place(table: active.FittableTable, axis: int, value: float) -> float:
    """A place on an axis to some thousandth of its length: what a link needs to carry."""
    shown = _side(table, axes(table)[axis])
    length = shown.high - shown.low
    places = max(0, 3 - len(f"{length:.0f}")) + (3 if length < 1 else 1)
    return round(float(value), places if length > 1e-4 else 12)


def axis_step(table: active.FittableTable, axis: int) -> float:
    shown = _side(table, axes(table)[axis])
    return float(f"{(shown.high - shown.low) / 50:.1g}")


# the mixture --------------------------------------------------------------------------------------------------------


@cached(max_entries=64)
def _side(table: active.FittableTable, column: int) -> Any:
    return axis_range(numbers_of(table, [column])[:, 0])


def _begin(table: active.FittableTable, run: MixtureRun) -> Any:
    if run.start == "labels":
        return one_hot(true_classes(table), run.k)
    if run.start != "hand":
        return run.start
    x = numbers_of(table, run.columns)
    return [list(p) for p in run.points] if len(run.columns) == 2 else nearest_rows(x, run.points)


@cached(max_entries=64, activity=Message("climbing by EM"))
def mixture(table: active.FittableTable, run: MixtureRun) -> GaussianMixtureRun:
    """The run. Raises what EM raises where there is not even a start."""
    return in_worker(run_em, numbers_of(table, run.columns), run.k, _begin(table, run), seed=run.seed, **_keywords(run))


@cached(max_entries=64, activity=Message("climbing by EM"))
def ends_of_starts(table: active.FittableTable, plain: MixtureRun) -> list[RunEnd | None]:
    """The end of a run that begins at each of the `other_starts`, None where it collapses: all of them one job, which
    takes one turn."""
    starts = [(other.start, other.seed) for other in other_starts(plain)]
    return in_worker(ends_of_runs, numbers_of(table, plain.columns), plain.k, starts, **_keywords(plain))


def _keywords(run: MixtureRun) -> dict[str, Any]:
    return {
        "max_iter": MAX_ITER,
        "covariance": run.form,
        "prior": "inverse-wishart" if run.prior else None,
        "hard": run.hard,
        "stop": run.stop,
        "tol": run.tol,
    }


@cached(max_entries=32)
def mixture_film(table: active.FittableTable, run: MixtureRun) -> tuple[Film, list[int]]:
    """The run's film, and the rows in it."""
    climbed, x = mixture(table, run), numbers_of(table, run.columns)
    trace = climbed.trace
    rows = drawn_rows(len(x), len(trace.steps), run.k)
    shares = [
        at_step(climbed.model, s.parameters, x[rows]) if s.responsibilities is None else s.responsibilities[rows]
        for s in trace.steps
    ]
    return Film.of_mixture(trace, shares, x[rows], _sides(x)), rows.tolist()


def end_state(table: active.FittableTable, run: MixtureRun, end: RunEnd) -> EndState:
    """The end of a run from another start, in the plane of the `run` that is played."""
    x = numbers_of(table, run.columns)
    rows = drawn_rows(len(x), len(end.way), run.k)
    shares = at_step(mixture(table, run).model, end.parameters, x[rows])
    return EndState(x[rows, 0], x[rows, 1], _sides(x), shares, end.parameters.full()[:, :2, :2], end.way)


def _sides(x: Any) -> tuple[Any, Any]:
    return axis_range(x[:, 0]), axis_range(x[:, 1])


def other_starts(run: MixtureRun) -> list[MixtureRun]:
    """The same run from other starts: k-means, then random ones."""
    plain = replace(run, points=(), seed=0)
    return [replace(plain, start="kmeans"), *(replace(plain, start="random", seed=seed) for seed in range(STARTS))]


@cached(max_entries=32, activity=Message("climbing by EM"))
def criteria_by_components(
    table: active.FittableTable, columns: tuple[int, ...], form: Form, prior: bool
) -> InformationCriteria:
    """BIC, AIC and ICL over the number of components."""
    x = numbers_of(table, columns)
    prior_of_sigma = "inverse-wishart" if prior else None
    return in_worker(
        information_criteria, x, MOST, covariance=form, n_init=2, max_iter=150, tol=1e-5, prior=prior_of_sigma
    )


@cached(max_entries=32, activity=Message("climbing by EM"))
def supervised_fit(table: active.FittableTable, columns: tuple[int, ...], form: Form) -> SupervisedStep:
    """The M step with every label seen, beside the classifier it is."""
    names, levels = numeric_features(table), table.classes
    return supervised_step(
        numbers_of(table, columns),
        true_classes(table),
        len(levels),
        form,
        columns=[names[j] for j in columns],
        classes=levels,
    )


def supervised_film(table: active.FittableTable, run: MixtureRun) -> tuple[Film, list[int]]:
    """That step as a film of one picture, and the rows in it."""
    fit, x = supervised_fit(table, run.columns, run.form), numbers_of(table, run.columns)
    rows = fit.rows[drawn_rows(len(fit.rows), 1, len(table.classes))]
    certain = one_hot(true_classes(table)[rows], len(table.classes))
    return Film.of_mixture(fit.climb.trace, [certain], x[rows], _sides(x)), rows.tolist()


# hidden labels ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HiddenLabels:
    """What a run of naive Bayes with hidden labels is made of; `flipped` are rows turned over by hand."""

    share: float = 0.4
    seed: int = 0
    flipped: tuple[int, ...] = ()
    weight: float = 1.0
    hard: bool = False
    tied: bool = False
    k: int = 0
    """So many classes where no label is seen at all; 0: those of the table."""


def nameless_in_use(table: active.FittableTable) -> HiddenLabels:
    """The run that the state asks for without a label."""
    state = current()
    k = min(max(state.seen(keys.EM_K) or len(table.classes), 2), MOST)
    return HiddenLabels(
        1.0, state.seen(keys.EM_SEED), hard=state.seen(keys.EM_HARD), tied=state.seen(keys.EM_TIED), k=k
    )


@cached(max_entries=16, activity=Message("climbing by EM"))
def criteria_by_classes(table: active.FittableTable, labels: HiddenLabels) -> pd.DataFrame:
    """Information criteria and rows held out over the number of classes; a job that can be cancelled."""
    parts = table.parts
    return in_worker(
        classes_table,
        parts.X,
        range(2, MOST + 1),
        _estimator(table, labels),
        weight=None if parts.weight is None else parts.weight.to_numpy(),
        random_state=labels.seed,
        hard=labels.hard,
        n_init=TRIES,
        max_iter=MAX_HIDDEN,
    )


def labels_in_use(table: active.FittableTable) -> HiddenLabels:
    """The run that the state asks for."""
    state, n = current(), len(table.parts.X)
    return HiddenLabels(
        state.seen(keys.EM_SHARE) / 100,
        state.seen(keys.EM_HIDE_SEED),
        tuple(r for r in state.seen(keys.EM_FLIP) if r < n),
        state.seen(keys.EM_WEIGHT),
        state.seen(keys.EM_HARD),
        state.seen(keys.EM_TIED),
    )


@cached(max_entries=32, activity=Message("climbing by EM"))
def fit_hidden_labels(table: active.FittableTable, labels: HiddenLabels) -> HiddenLabelRun:
    """Naive Bayes by EM with these labels hidden. Raises Collapse."""
    parts = table.parts
    if labels.k:
        return in_worker(
            run_with_nameless_classes,
            parts.X,
            parts.y,
            labels.k,
            _estimator(table, labels),
            weight=None if parts.weight is None else parts.weight.to_numpy(),
            hard=labels.hard,
            n_init=TRIES,
            max_iter=MAX_HIDDEN,
            random_state=labels.seed,
        )
    return in_worker(
        run_with_hidden_labels,
        parts.X,
        parts.y,
        _hidden(table, labels),
        _estimator(table, labels),
        weight=None if parts.weight is None else parts.weight.to_numpy(),
        unlabeled_weight=labels.weight,
        hard=labels.hard,
        max_iter=MAX_HIDDEN,
        random_state=labels.seed,
    )


@cached(max_entries=32, activity=Message("climbing by EM"))
def right_if_all_seen(table: active.FittableTable, labels: HiddenLabels) -> int:
    """How many of the hidden rows naive Bayes has right that saw every label."""
    return in_worker(ceiling, table.parts.X, table.parts.y, _hidden(table, labels), _estimator(table, labels))


def _hidden(table: active.FittableTable, labels: HiddenLabels) -> Any:
    return hidden_rows(len(table.parts.X), labels.share, labels.seed, labels.flipped)


def _estimator(table: active.FittableTable, labels: HiddenLabels) -> NaiveBayes:
    return NaiveBayes(schema=read_as(table.parts.schema, "words", "counts"), tied_variance=labels.tied)


def words_of(table: active.FittableTable, labels: HiddenLabels) -> tuple[WordTable, ...]:
    """The terms of each text in each class, as EM ended, the classes in the table's order."""
    return _words(table, labels)


@cached(max_entries=32)
def _words(table: active.FittableTable, labels: HiddenLabels) -> tuple[WordTable, ...]:
    study = fit_hidden_labels(table, labels)
    tables = (likelihood(study.model.estimator_, v.name, study.levels) for v in table.features if v.textual)
    return tuple(one for one in tables if isinstance(one, WordTable))


@cached(max_entries=16, activity=Message("fitting with more and more labels"))
def labelled_curve(table: active.FittableTable, labels: HiddenLabels) -> LabelledCurve:
    """Accuracy on rows held out with more and more labels, of naive Bayes and of EM; a job that can be cancelled."""
    plain = replace(labels, share=0.0, flipped=())
    return in_worker(
        accuracy_by_labels,
        table.parts.X,
        table.parts.y,
        _estimator(table, plain),
        seed=plain.seed,
        unlabeled_weight=plain.weight,
        hard=plain.hard,
        max_iter=MAX_HIDDEN,
    )


def hiding_film(table: active.FittableTable, labels: HiddenLabels) -> tuple[Film, list[int]]:
    """The run's film, in the plane of two numeric features where there are two, and the rows in it."""
    return _hiding_film(table, labels, axes(table) if len(numeric_features(table)) >= 2 else ())


@cached(max_entries=32)
def _hiding_film(table: active.FittableTable, labels: HiddenLabels, plane: tuple[int, ...]) -> tuple[Film, list[int]]:
    study = fit_hidden_labels(table, labels)
    rows = drawn_rows(len(table.parts.X), len(study.shares), len(study.levels))
    shares = [r[rows] for r in study.shares]
    if len(plane) < 2:
        order = study.truth[rows].argsort(kind="stable")  # without a plane rows stand by their class
        return Film(study.trace, [r[order] for r in shares], study.weights), rows[order].tolist()
    x, names = numbers_of(table, plane), numeric_features(table)
    shape = ComponentEllipses(*study.plane(*(names[j] for j in plane)))
    return Film(study.trace, shares, study.weights, x[rows, 0], x[rows, 1], _sides(x), shape), rows.tolist()


# a missing cell -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FilledCell:
    """A cell filled: its distribution given the row's other cells, and what is known of its column without the row."""

    distribution: Conditional
    true: float | None
    mean: float
    sd: float
    notes: tuple[Message, ...]


@cached(max_entries=64, activity=Message("climbing by EM"))
def fill_cell(table: active.FittableTable, row: int, column: int, k: int, form: Form) -> FilledCell:
    """The cell as if it were missing, under a mixture fitted to the table without it."""
    names = numeric_features(table)
    x = numbers_of(table, range(len(names))).copy()
    true = float(x[row, column])
    x[row, column] = float("nan")
    frame = pd.DataFrame(x, columns=names)
    with listen() as messages:
        model = GaussianMixture(k, covariance=form, n_init=3, random_state=0, max_iter=MAX_ITER)
        conditional = model.fit(frame).conditional(frame.iloc[[row]])
    own, known = frame[names[column]], None if true != true else true
    return FilledCell(conditional, known, float(own.mean()), float(own.std(ddof=0)), tuple(messages))


def first_missing_cell(table: active.FittableTable) -> tuple[int, int]:
    """A cell to begin with: the first numeric one that is missing though others of its row are not, else the first."""
    cells = table.parts.X[numeric_features(table)].isna().to_numpy()
    for row, absent in enumerate(cells.tolist()):
        if any(absent) and not all(absent):
            return row, absent.index(True)
    return 0, 0
