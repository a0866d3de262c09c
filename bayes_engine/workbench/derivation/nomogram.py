"""The nomogram of an additive model: every value of every attribute with what it adds to each class's log P(c|x)
(Lubsen, Pool & van der Does, Methods Inf. Med. 1978; Možina, Demšar, Kattan & Zupan, PKDD 2004).

A model is additive where log P(c|x) + const = b_c + Σ_j t_cj(x_j): naive Bayes in all its forms, LDA, logistic
regression. The t are the model's own ledger rows, read where one attribute at a time takes each of its values and the
others are as in the case; the difference of two classes is a point on the scale of their log-odds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayes_engine.errors import ParameterError
from bayes_engine.factors import Row
from bayes_engine.language import Listing
from bayes_engine.ledger import CALIBRATION, Ledger, prior_shift
from bayes_engine.logspace import Array
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.calibrated import CalibratedClassifier, Platt, Temperature
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.models.counted_naive_bayes import ComplementNB
from bayes_engine.priors import given_prior
from bayes_engine.table.encode import encode_intervals
from bayes_engine.table.likelihood_traits import traits
from bayes_engine.table.roles import put
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation.derive import class_order

STEPS = 100
"""About so many values of a column of numbers have a place on its curve."""
PRIOR_OF_USE = "prior of use"
LEVEL = 1e-9
"""A step of a curve below this share of its largest is none."""


class AttributeValues(NamedTuple):
    """The values of an attribute that have a point: what a cell of the case holds for each, and, where they are the
    intervals of a column of numbers, their names; `curve`: they are places on a line, and those between count too."""

    cells: tuple[Any, ...]
    names: tuple[Any, ...] = ()
    curve: bool = False


@dataclass(frozen=True)
class AttributeScale:
    """One attribute: `terms` (m, C) nats of its m `values`; those of the case's own value, `own` (C,), and that value's
    place among the others, None where it is missing or none of them."""

    column: str
    values: AttributeValues
    terms: Array = field(repr=False)
    own: Array
    place: int | None

    def weights(self, for_: int, against: int) -> Array:
        """(m,) what each value adds to the log-odds of two classes, by their places; NaN where both are impossible."""
        return _difference(self.terms, for_, against)

    def folds(self, for_: int, against: int) -> bool:
        """Whether the weights along a curve turn back, so that two of its values may have the same."""
        if not self.values.curve:
            return False
        weights = self.weights(for_, against)
        steps = np.diff(weights[np.isfinite(weights)])
        telling = steps[np.abs(steps) > LEVEL * np.abs(steps).max(initial=0.0)]
        return bool((telling > 0).any() and (telling < 0).any())

    def to_bytes(self) -> bytes:
        """The terms, one value after the other, as 64-bit little-endian numbers."""
        return np.ascontiguousarray(self.terms, dtype="<f8").tobytes()


@dataclass(frozen=True)
class Nomogram:
    """The `scales` of the attributes and what is added whatever their values, `base`: each by name (C,), in nats.

    `moves` says that a calibration's row depends on the sum of all others: it stands in `base` as it is for this case.
    `left_out` are the attributes without a scale, which are missing in the case and change the others' weights.

    >>> from bayes_engine import NaiveBayes
    >>> X = pd.DataFrame({"wind": pd.Categorical(["weak", "weak", "strong", "strong"])})
    >>> model = NaiveBayes().fit(X, ["yes", "yes", "yes", "no"])
    >>> drawn = nomogram(model, X.iloc[[0]], {"wind": AttributeValues(("strong", "weak"))}, classes=["yes", "no"])
    >>> drawn.scales[0].weights(0, 1).round(4).tolist(), drawn.joint().round(4).tolist()
    ([-0.5108, 0.5878], [-0.7985, -2.4849])
    """

    classes: tuple[Any, ...]
    scales: tuple[AttributeScale, ...]
    base: tuple[tuple[Row, Array], ...]
    moves: bool = False
    left_out: tuple[str, ...] = ()

    def joint(self) -> Array:
        """(C,) log P(c|x) of the case, up to what all classes share: the sum of the case's terms."""
        terms = [*(term for _row, term in self.base), self.sum_of_own(range(len(self.scales)))]
        return np.asarray(np.sum(terms, axis=0))

    def sum_of_own(self, places: Iterable[int]) -> Array:
        """(C,) the case's terms of these scales together."""
        own = [self.scales[j].own for j in places]
        return np.asarray(np.sum(own, axis=0)) if own else np.zeros(len(self.classes))

    def by_range(self, for_: int, against: int) -> list[int]:
        """The places of the scales, the one whose points reach farthest first; one with a point at infinity before all
        others."""

        def reach(j: int) -> tuple[bool, float]:
            weights = self.scales[j].weights(for_, against)
            finite = weights[np.isfinite(weights)]
            return bool(np.isinf(weights).any()), float(np.ptp(finite)) if len(finite) else 0.0

        return sorted(range(len(self.scales)), key=reach, reverse=True)


class Ruler(NamedTuple):
    """The ends of a ruler of log-odds in nats, and whether something lies at −∞ (or is impossible in both classes) and
    at +∞."""

    low: float
    high: float
    endless: tuple[bool, bool]


def ruler_of(drawn: Sequence[Nomogram], for_: int, against: int) -> Ruler:
    """The ruler that all points of these nomograms are on, and 0."""
    terms = [term[None] for each in drawn for _row, term in each.base]
    terms += [part for each in drawn for scale in each.scales for part in (scale.terms, scale.own[None])]
    points = np.concatenate([np.zeros(1), *(_difference(part, for_, against) for part in terms)])
    finite = points[np.isfinite(points)]
    lowest = bool(np.isneginf(points).any() or np.isnan(points).any())
    return Ruler(float(finite.min()), float(finite.max()), (lowest, bool(np.isposinf(points).any())))


def nomogram(
    model: GenerativeClassifier | CalibratedClassifier,
    case: pd.DataFrame,
    values: Mapping[str, AttributeValues],
    prior_of_use: Mapping[Any, float] | None = None,
    classes: Sequence[Any] | None = None,
) -> Nomogram:
    """The nomogram of a fitted model around a case (a frame of one row), of the attributes that have `values`, at a
    prior of use, with the classes in the order wanted. Raises ParameterError where the model is not additive.

    A calibration that is a line in the log-odds, by temperature or of two classes Platt's, multiplies all terms; of
    any other the row is that of the case (`Nomogram.moves`).
    """
    inner = model.estimator_ if isinstance(model, CalibratedClassifier) else model
    if isinstance(inner, ComplementNaiveBayes | ComplementNB) and inner is model:
        raise ParameterError("complement naive Bayes has scores; only calibrated they are log-odds")
    frame, spans = _one_at_a_time(case, values)
    ledger = model.explain(frame)
    names = tuple(case.columns)
    refuse_what_is_not_additive(ledger, names, inner.target_.name)
    order = class_order(ledger.classes, classes)
    calibrator = model.calibrator_ if isinstance(model, CalibratedClassifier) else None
    line = _line_of(calibrator, len(order))
    slope = 1.0 if line is None else line[0]
    terms = {
        row: np.asarray(term)[:, order] * (1.0 if row == CALIBRATION else slope)
        for row, term in ledger.rows
        if (line is None if row == CALIBRATION else not _alike(term))
    }
    if line is not None and line[1].any():
        terms[CALIBRATION] = np.tile(line[1][order], (len(frame), 1))
    of_column = {row.child: term for row, term in terms.items() if row.child in names and row.kind != "prior"}
    nothing = np.zeros((len(frame), len(order)))
    scales, left_out = [], []
    for name, span in spans.items():
        if case[name].isna().iloc[0] and inner.factor_.gathers(name):
            left_out.append(name)  # known, it would change the weights of the others
            continue
        term = of_column.pop(name, nothing)
        scales.append(_scale(name, values[name], term[span], term[0], case))
    base = [(row, term[0]) for row, term in terms.items() if row.child not in spans or row.kind == "prior"]
    if prior_of_use is not None:
        own = [model.prior_by_class[c] for c in ledger.classes]
        base.append(_prior_of_use(prior_shift(own, given_prior(prior_of_use, ledger.classes))[order]))
    return Nomogram(
        tuple(ledger.classes[k] for k in order), tuple(scales), tuple(base),
        moves=calibrator is not None and line is None, left_out=tuple(left_out),
    )  # fmt: skip


def _line_of(calibrator: Any, classes: int) -> tuple[float, Array] | None:
    """What a calibrator multiplies all terms by, and what it adds to each class (C,); None of one that is no line."""
    if isinstance(calibrator, Temperature):
        return 1.0 / calibrator.temperature, np.zeros(classes)
    if isinstance(calibrator, Platt) and classes == 2 and calibrator.slope[0] > 0:
        return float(calibrator.slope[0]), np.array([0.0, calibrator.shift[0]])
    return None


def refuse_what_is_not_additive(ledger: Ledger, columns: Sequence[str], target: str) -> None:
    """Raises ParameterError, saying why, where the terms of the ledger are not one for each column alone."""
    for row, term in ledger.rows:
        others = [name for name in row.parents if name != target]
        if row.kind in ("expected", "entropy"):
            raise ParameterError(
                "the terms are means over what is not known (the super-parents of AODE, a missing parent): the weight "
                "of a value depends on all the others"
            )
        if others and row.kind != "constant":
            raise ParameterError(
                "the factor of '{column}' is P({column} | class, {others}): the weight of a value depends on {others}",
                column=row.child,
                others=Listing(others),
            )
        own = row.child in columns or row.kind == "prior" or row.name in ("calibration", "absent terms")
        if not own and not _alike(term):
            raise ParameterError(
                "the term '{name}' takes all columns at once, as the quadratic form of QDA does with the products of "
                "its columns: no value has a weight of its own",
                name=row.name,
            )


def logistic_nomogram(
    pipeline: Any,
    case: pd.DataFrame,
    values: Mapping[str, AttributeValues],
    rows: pd.DataFrame,
    labels: Sequence[Any],
    prior_of_use: tuple[Mapping[Any, float], Mapping[Any, float]] | None = None,
    classes: Sequence[Any] | None = None,
) -> Nomogram:
    """The nomogram of a fitted `discriminative_counterpart`, whose classes are called `labels` in its own order: its
    linear predictor, in which each attribute is 0 at its mean over the `rows` of the table (of a missing cell, and of a
    text, at the case without it). `prior_of_use`: that of the table, and the one of use."""
    frame, spans = _one_at_a_time(case, values)
    order = class_order(list(labels), classes)
    predictor = _linear_predictor(pipeline, frame)[:, order]
    at_case, scales = predictor[0], []
    for name, span in spans.items():
        column, score = rows[name], predictor[span] - at_case
        if values[name].curve:  # it is linear: at the mean it is the mean
            middle = put(case, {name: float(column.mean())})
            mean = _linear_predictor(pipeline, middle)[0, order] - at_case
        else:
            share = column.value_counts(normalize=True).reindex(list(values[name].cells)).fillna(0.0).to_numpy()
            mean = (share / (share.sum() or 1.0)) @ score
        scales.append(_scale(name, values[name], score - mean, -mean, case))
    fixed = at_case - np.sum([scale.own for scale in scales], axis=0) if scales else at_case
    base = [(Row("intercept", "intercept", (), "constant"), fixed)]
    if prior_of_use is not None:
        own, use = ([prior[c] for c in labels] for prior in prior_of_use)
        base.append(_prior_of_use(prior_shift(own, use)[order]))
    return Nomogram(tuple(labels[k] for k in order), tuple(scales), tuple(base))


def values_of(variable: Variable, column: pd.Series, levels: Sequence[Any] = ()) -> AttributeValues | None:
    """The values of a column that have a point, `variable` being how the model reads it: all its levels (those of the
    table, where it has some), its intervals by a number in each, or for a number round ones from the least to the
    largest. None of a text.

    >>> numbers = Variable("x", "continuous")
    >>> values_of(numbers, pd.Series([0.0, 0.31])).cells[:3]
    (0.0, 0.005, 0.01)
    """
    if variable.textual:
        return None
    if levels:
        return AttributeValues(tuple(levels))
    if variable.cuts is not None:
        codes, _unseen = encode_intervals(column, variable)
        ends = [column.min(), *variable.cuts, column.max()]
        inside = [column[codes == 1 + i] for i in range(len(variable.levels))]
        cells = [
            float(here.median()) if len(here) else float(ends[i] + ends[i + 1]) / 2 for i, here in enumerate(inside)
        ]
        return AttributeValues(tuple(cells), tuple(variable.levels))
    if variable.discrete:
        return AttributeValues(
            tuple(float(level) for level in variable.levels) if variable.numeric else tuple(variable.levels)
        )
    return AttributeValues(_round_numbers(column.dropna(), variable), curve=True)


def _round_numbers(column: pd.Series, variable: Variable) -> tuple[float, ...]:
    low, high = float(column.min()), float(column.max())
    if not np.isfinite(high - low) or low == high:
        return (low,) if np.isfinite(low) else (0.0,)
    rough = (high - low) / STEPS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10, 20) if m * power >= rough * 0.999)
    if variable.kind == "count" or traits(variable).whole:
        step = max(round(step), 1)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return tuple(round(i * step, digits) for i in range(first, last + 1))


def _one_at_a_time(case: pd.DataFrame, values: Mapping[str, AttributeValues]) -> tuple[pd.DataFrame, dict[str, slice]]:
    """The case, then for each column the case with each of its values; and where those rows are."""
    spans, n = {}, 1
    for name, known in values.items():
        spans[name] = slice(n, n + len(known.cells))
        n += len(known.cells)
    frame = case.iloc[np.zeros(n, dtype=int)].reset_index(drop=True)
    columns = {}
    for name in frame.columns:
        column = frame[name]
        if name in spans and values[name].cells:
            span = spans[name]
            cells = pd.Series(list(values[name].cells)).astype(column.dtype)
            column = pd.concat([column.iloc[: span.start], cells, column.iloc[span.stop :]], ignore_index=True)
        columns[name] = column
    return pd.DataFrame(columns), spans


def _scale(name: str, values: AttributeValues, terms: Array, own: Array, case: pd.DataFrame) -> AttributeScale:
    cell = case[name].iloc[0]
    place = None
    if not pd.isna(cell) and not values.names:
        place = next((i for i, value in enumerate(values.cells) if value == cell), None)
    elif not pd.isna(cell):  # the interval with the case's number has the case's terms
        place = next((i for i, term in enumerate(terms) if np.array_equal(term, own)), None)
    return AttributeScale(name, values, terms, own, place)


def _alike(term: Array) -> bool:
    """Whether a term is the same in every class."""
    return bool((term == term[:, :1]).all())


def _difference(terms: Array, for_: int, against: int) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(terms[:, for_] - terms[:, against])


def _prior_of_use(shift: Array) -> tuple[Row, Array]:
    return Row(PRIOR_OF_USE, PRIOR_OF_USE, (), "constant"), shift


def _linear_predictor(pipeline: Any, frame: pd.DataFrame) -> Array:
    """(n, C) of two classes the first is 0."""
    scores = np.asarray(pipeline.decision_function(frame))
    return np.stack([np.zeros_like(scores), scores], axis=1) if scores.ndim == 1 else scores
