"""What to ask next: by how much the answer to a question is expected to lower the risk, less what asking costs.

V_j = min_a R(a | x) − E_{x_j | x}[min_a R(a | x, x_j)] − cost_j, with R(a | x) = Σ_c λ_ac P(c | x) (Howard 1966,
Information value theory). x is what is known of the case; all other cells are integrated out. The rule is myopic: it
prices one question at a time, so two questions that pay only together are not found.

The answers are weighed by the model's own P(c, x_j | x), and what is believed before the question is their sum over
x_j. That is P(c | x) where a model is one distribution; AODE, which takes in a super-parent with each answer, is not
quite one, and so no question is ever worth less than nothing but its cost.

A text is no question, for nobody can list the answers: where it is not known it stays so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from bayes_engine.covariance import inverse_root
from bayes_engine.decision.loss import TIE, Decision, LossMatrix, decide, judge
from bayes_engine.errors import ParameterError
from bayes_engine.factors import (
    LOG_2PI,
    ClassPrior,
    Factor,
    GaussianFactor,
    Product,
    TableFactor,
    normal_log_density,
)
from bayes_engine.factors.columns import Terms
from bayes_engine.factors.gaussian import LinearFactor, QuadraticFactor
from bayes_engine.factors.kernel import KernelFactor
from bayes_engine.factors.poisson import PoissonFactor
from bayes_engine.factors.text import TextFactor
from bayes_engine.inference.averaged import Averaged
from bayes_engine.inference.directed import HIDDEN, Directed, GaussianFamily, integrating
from bayes_engine.ledger import JOINT, Ledger, Status
from bayes_engine.logspace import Array, exp, log, log_sum, normalize
from bayes_engine.table.encode import Table, as_frame, encode
from bayes_engine.table.schema import Schema, Variable

REACH = np.linspace(-9.0, 9.0, 73)
"""Where a Gaussian is looked at first, in its standard deviations; 2·10⁻¹⁹ of it lies beyond."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
FEW = 64
"""Of more densities than this, those of a kernel, the line is shared out among their common points."""
FEWER_NODES = np.polynomial.legendre.leggauss(3)
"""What suffices for panels of a quarter of a bump."""
CLOSE = 1e-8
"""How closely a point where the decision changes is found, in standard deviations. Both risks are equal there, so that
the integral is off by the square of it."""
ROUNDING = 1e-13
"""A difference of risks that is this small beside their terms is none."""
PANELS = 2**13
"""Panels after which a quadrature stops refining."""
MOST_DENSITIES = 2**22
"""Densities that are computed at once."""
TAIL = 45.0
"""Of a count e⁻⁴⁵ = 3·10⁻²⁰ is left out on either side of the counts that are summed, less than a float can tell."""
MOST_COUNTS = 2**20
"""Of more counts than this every second, third, … is taken: their standard deviations are then some 10⁴ counts."""
MOST_CASES = 2_000
"""Up to this many joint answers to all questions are enumerated."""


class Model(Protocol):
    """A fitted generative classifier of this library."""

    schema_: Any
    classes_: Any
    factor_: Any

    @property
    def prior_by_class(self) -> dict[Any, float]: ...

    def explain(self, X: Any, given: Any = None) -> Ledger: ...


class Question(NamedTuple):
    """A feature that is not known: `gain`, by how much its answer is expected to lower the risk; what asking `cost`s;
    `information`, by how many nats it is expected to lower the entropy of the class; `error`, up to which the gain is
    known: 0 where it is exact."""

    feature: str
    gain: float
    cost: float
    information: float
    error: float = 0.0

    @property
    def value(self) -> float:
        """V_j, the gain less the cost."""
        return self.gain - self.cost


@dataclass(frozen=True)
class Inquiry:
    """A case that is known in part: what would be decided now, and every open question, the most valuable first.

    `posterior` (C,) in the order of `classes`; `perfect` is what knowing the true class would be worth, more than any
    questions can be; `tolerance` is the difference of values that counts as a tie, which goes by name.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X = pd.DataFrame({"spots": ["yes", "yes", "no", "no"], "age": ["old", "new", "old", "new"]})
    >>> model = NaiveBayes().fit(X, ["ill", "ill", "well", "well"])
    >>> inquiry = ask(model, pd.DataFrame({"spots": [None], "age": [None]}))
    >>> inquiry.risk, inquiry.best.feature, inquiry.perfect
    (0.5, 'spots', 0.5)
    """

    classes: tuple[Any, ...]
    posterior: Array
    decision: Decision
    questions: tuple[Question, ...]
    perfect: float
    tolerance: float

    @property
    def risk(self) -> float:
        """min_a R(a | x)."""
        return float(self.decision.risk[0])

    @property
    def defined(self) -> bool:
        """Whether there is a posterior at all."""
        return bool(self.decision.status[0] == Status.OK)

    @property
    def best(self) -> Question | None:
        """The next question; None where no question pays, max_j V_j ≤ 0: decide."""
        first = self.questions[0] if self.questions else None
        return first if first is not None and first.value > self.tolerance else None


class Outcome(NamedTuple):
    """One answer, or an interval (`low`, `high`] of answers with one decision: how probable it is, P(c | x, answer),
    and the decision that it leads to."""

    level: Any
    low: float
    high: float
    probability: float
    posterior: tuple[float, ...]
    action: Any
    risk: float


class Step(NamedTuple):
    """A question that was asked of a full row, and its answer."""

    question: Question
    answer: Any


@dataclass(frozen=True)
class Interview:
    """The questions that were asked before none paid any more, and how the case stood then."""

    steps: tuple[Step, ...]
    end: Inquiry

    @property
    def paid(self) -> float:
        """What the questions cost together."""
        return math.fsum(step.question.cost for step in self.steps)


def ask(
    model: Model,
    X: Any,
    loss: Any = None,
    *,
    costs: float | Mapping[str, float] = 0.0,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: float | None = None,
) -> Inquiry:
    """The value of every open question for X, one row whose missing cells are what may be asked.

    `loss` is as `LossMatrix.from_any` takes it, refusal rows included; `amount` is the case's own, where amounts
    multiply losses (`LossMatrix.at_amount`); `costs`, in their units, are one number or a number a feature, 0 for the
    rest. Gains are exact for discrete features, for Gaussian ones and for kernel densities; for counts they are sums
    over 0, 1, 2, … that leave out less than 10⁻¹⁹ of the probability; else by quadrature with its `error`. A text is
    never asked.

    Raises ParameterError where X is not one row, a cost is no finite number, or the model counts terms; LossError where
    the loss speaks of other classes, or the amount is negative or no number.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X = pd.DataFrame({"spots": ["yes", "yes", "no", "no"], "age": ["old", "new", "old", "new"]})
    >>> model = NaiveBayes().fit(X, ["ill", "ill", "well", "well"])
    >>> found = ask(model, pd.DataFrame({"spots": [None], "age": [None]}), costs=0.1)
    >>> [(q.feature, round(q.gain, 4), round(q.value, 4)) for q in found.questions]
    [('spots', 0.25, 0.15), ('age', 0.0, -0.1)]
    """
    return _inquiry(_case(model, X, prior_of_use), _losses(model, loss, amount), costs)


def outcomes(
    model: Model,
    X: Any,
    feature: str,
    loss: Any = None,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: float | None = None,
) -> tuple[Outcome, ...]:
    """What each answer to one question would lead to: every level of a discrete feature, and the intervals between the
    numbers at which the decision changes. Raises what `ask` raises, and ParameterError on a feature that is known.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> model = NaiveBayes().fit(pd.DataFrame({"size": [1.0, 2.0, 4.0, 5.0]}), ["small", "small", "big", "big"])
    >>> [(o.action, o.high, round(o.probability, 6)) for o in outcomes(model, [[None]], "size")]
    [('small', 3.0, 0.5), ('big', inf, 0.5)]
    """
    case, losses = _case(model, X, prior_of_use), _losses(model, loss, amount)
    if feature not in case.open:
        raise ParameterError("'{column}' cannot be asked: it is known already, or no feature", column=feature)
    answers = dict(case.answers([feature]))[feature]
    return tuple(answers.outcomes(losses))


def interview(
    model: Model,
    X: Any,
    loss: Any = None,
    *,
    costs: float | Mapping[str, float] = 0.0,
    prior_of_use: Mapping[Any, float] | None = None,
    most: int | None = None,
    amount: float | None = None,
) -> Interview:
    """Ask a full row X, from nothing known but its texts, the best question each time until none pays (or `most` were
    asked). A cell that is missing in X cannot be answered and is passed over. Raises what `ask` raises.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X = pd.DataFrame({"spots": ["yes", "yes", "no", "no"], "age": ["old", "new", "old", "new"]})
    >>> model = NaiveBayes().fit(X, ["ill", "ill", "well", "well"])
    >>> talk = interview(model, X.iloc[[2]], costs=0.1)
    >>> [(s.question.feature, s.answer) for s in talk.steps], talk.end.decision.action[0], talk.paid
    ([('spots', 'no')], 'well', 0.1)
    """
    full, losses = _case(model, X, prior_of_use), _losses(model, loss, amount)
    told = [name for name in full.known if full.schema[name].textual]
    steps: list[Step] = []
    while True:
        inquiry = _inquiry(replace(full, known=frozenset(told)), losses, costs)
        inquiry = replace(inquiry, questions=tuple(q for q in inquiry.questions if q.feature in full.known))
        best = inquiry.best
        if best is None or len(steps) == most:
            return Interview(tuple(steps), inquiry)
        steps.append(Step(best, full.row[best.feature].iloc[0]))
        told.append(best.feature)


def standing(
    model: Model,
    X: Any,
    loss: Any = None,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: float | None = None,
) -> Decision:
    """What would be decided of each of the rows X (n, d) as it stands, with every missing cell integrated out, also by
    a model that reads a missing cell as a level of its own or refuses it. Raises LossError as `ask`.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X = pd.DataFrame({"spots": ["yes", "yes", "no", "no"], "age": ["old", "new", "old", "new"]})
    >>> model = NaiveBayes(missing="error").fit(X, ["ill", "ill", "well", "well"])
    >>> standing(model, pd.DataFrame({"spots": ["yes", "no"], "age": [None, None]})).action.tolist()
    ['ill', 'well']
    """
    frame, losses = as_frame(X), _losses(model, loss, amount)
    known = [frozenset(frame.columns[there]) for there in frame.notna().to_numpy()]
    joint, status = np.empty((len(frame), len(model.classes_))), np.zeros(len(frame), dtype=np.int8)
    for given, rows in _together(model, known):
        found = model.explain(frame.iloc[rows], given)
        joint[rows], status[rows] = found.joint(), found.status
    ledger = Ledger(((JOINT, joint),), tuple(model.classes_.tolist()), status)
    return judge(ledger.at_prior(model.prior_by_class, prior_of_use), losses)


def value_of_everything(
    model: Model,
    X: Any,
    loss: Any = None,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: float | None = None,
) -> float | None:
    """What the answers to all open questions together are expected to lower the risk by, by enumeration; None where an
    open question is a number, or there are more than 2,000 joint answers. Raises what `ask` raises.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X = pd.DataFrame({"spots": ["yes", "yes", "no", "no"], "age": ["old", "new", "old", "new"]})
    >>> model = NaiveBayes().fit(X, ["ill", "ill", "well", "well"])
    >>> value_of_everything(model, pd.DataFrame({"spots": [None], "age": [None]}))
    0.25
    """
    case, losses = _case(model, X, prior_of_use), _losses(model, loss, amount)
    sizes = [len(model.schema_[name].levels) for name in case.open]
    if any(model.schema_[name].numeric for name in case.open) or math.prod(sizes) > MOST_CASES:
        return None
    cells = [dict(zip(case.open, places, strict=True)) for places in product(*map(range, sizes))]
    joint = case.ledger(cells).joint()
    return max(Levels(_shares(joint), tuple(range(len(cells)))).gain(losses.table)[0], 0.0)


def _losses(model: Model, loss: Any, amount: float | None) -> LossMatrix:
    """The losses of the case: for its amount, where it has one."""
    losses = LossMatrix.from_any(loss, model.classes_.tolist())
    return losses if amount is None else losses.at_amount(amount)


def _inquiry(case: _Case, losses: LossMatrix, costs: float | Mapping[str, float]) -> Inquiry:
    ledger = case.ledger([{}])
    decision = judge(ledger, losses)
    posterior = ledger.posterior()[0]
    tolerance = TIE * float(np.abs(losses.table).max(initial=0.0))
    perfect = 0.0
    found: list[Question] = []
    if decision.position[0] >= 0:
        perfect = max(float(decision.risk[0] - posterior @ losses.table.min(axis=0)), 0.0)
        for name, answers in case.answers(case.open):
            gain, error = answers.gain(losses.table)
            found.append(Question(name, max(gain, 0.0), _cost(costs, name), max(answers.information(), 0.0), error))
    return Inquiry(ledger.classes, posterior, decision, _ranked(found, tolerance), perfect, tolerance)


# answers --------------------------------------------------------------------------------------------------------


class Answers(Protocol):
    """P(c, x_j | x) over what may be answered."""

    def gain(self, table: Array) -> tuple[float, float]:
        """min_a R(a) − E[min_a R(a | answer)] under losses (A, C), and its error."""

    def information(self) -> float:
        """I(c; x_j | x), in nats."""

    def outcomes(self, loss: LossMatrix) -> Iterator[Outcome]:
        """What each answer leads to."""


@dataclass(frozen=True)
class Levels(Answers):
    """`share` (S, C): P(c, x_j = s | x) of the `levels` s."""

    share: Array
    levels: tuple[Any, ...]

    def gain(self, table: Array) -> tuple[float, float]:
        risks = self.share @ table.T
        return float(risks.sum(axis=0).min() - risks.min(axis=1).sum()), 0.0

    def information(self) -> float:
        own, of_class = self.share.sum(axis=1, keepdims=True), self.share.sum(axis=0)
        return float(_times_log(self.share).sum() - _times_log(own).sum() - _times_log(of_class).sum())

    def outcomes(self, loss: LossMatrix) -> Iterator[Outcome]:
        for level, share in zip(self.levels, self.share, strict=True):
            yield _outcome(share, loss, None, level=level)


@dataclass(frozen=True)
class Gaussians(Answers):
    """P(c, x_j | x) = Σ_m w_m N(x_j; μ_m, σ_m), each Gaussian of one class: `weight`, `mean`, `sd`, `owner` (M,)."""

    weight: Array
    mean: Array
    sd: Array
    owner: NDArray[np.intp]
    classes: int

    def density(self, x: Array) -> Array:
        """(n, M) w_m N(x; μ_m, σ_m)."""
        return self.weight * exp(normal_log_density(x[:, None], self.mean, self.sd**2))

    def mass(self, low: Array, high: Array) -> Array:
        """(n, C) P(c, low < x_j ≤ high | x)."""
        ends = [(end[:, None] - self.mean) / self.sd for end in (low, high)]
        upper = ends[0] > 0  # the small tail keeps its digits
        part = np.where(upper, ndtr(-ends[0]) - ndtr(-ends[1]), ndtr(ends[1]) - ndtr(ends[0]))
        return np.asarray((self.weight * part) @ self._owned)

    def gain(self, table: Array) -> tuple[float, float]:
        low, high, action = self.pieces(table)
        risks = self.mass(low, high) @ table.T
        before = np.bincount(self.owner, self.weight, minlength=self.classes) @ table.T
        return float(before.min() - risks[np.arange(len(action)), action].sum()), 0.0

    def pieces(self, table: Array) -> tuple[Array, Array, NDArray[np.intp]]:
        """The line cut where argmin_a Σ_m λ_a,c(m) w_m N(x; μ_m, σ_m) changes: `low`, `high`, and the action between.

        A piece in which one action is best at both ends, and no other can dip below it by their tangents, is settled;
        the others are halved until they are closer than `CLOSE`.
        """
        cost = table[:, self.owner]
        x = self._grid
        width = CLOSE * float(self.sd.min())
        low, high, settled = x[:-1], x[1:], []
        risk, slope, size = (np.stack([v[:-1], v[1:]]) for v in self._at(x, cost))
        while True:
            split, action = _unsettled(high - low, risk, slope, size)
            split &= high - low > np.maximum(width, 4 * np.spacing(np.abs(low)))
            settled.append((low[~split], high[~split], action[~split]))
            if not split.any():
                break
            low, high = low[split], high[split]
            middle = (low + high) / 2.0
            risk, slope, size = (
                np.concatenate([[v[0, split], m], [m, v[1, split]]], axis=1)
                for v, m in zip((risk, slope, size), self._at(middle, cost), strict=True)
            )
            low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        low, high, action = (np.concatenate(parts) for parts in zip(*settled, strict=True))
        order = np.argsort(low, kind="stable")
        low, high, action = low[order], high[order], action[order]
        starts = np.flatnonzero(np.append(True, action[1:] != action[:-1]))
        low, action = low[starts], action[starts]
        low[0] = -np.inf
        return low, np.append(low[1:], np.inf), action

    def information(self) -> float:
        nodes, weights = (NODES, WEIGHTS) if len(self.weight) <= FEW else FEWER_NODES
        x = self._grid
        half = np.diff(x) / 2.0
        at = ((x[:-1] + half)[:, None] + half[:, None] * nodes).ravel()
        step, owned = max(MOST_DENSITIES // len(self.weight), 1), self._owned
        share = np.concatenate([self.density(at[i : i + step]) @ owned for i in range(0, len(at), step)])
        of_class = np.bincount(self.owner, self.weight, minlength=self.classes)
        apart = _times_log(share.sum(axis=1)) + share @ log(np.where(of_class > 0, of_class, 1.0))
        return float((half[:, None] * weights).ravel() @ (_times_log(share).sum(axis=1) - apart))

    def outcomes(self, loss: LossMatrix) -> Iterator[Outcome]:
        low, high, action = self.pieces(loss.table)
        for a, b, k, share in zip(low.tolist(), high.tolist(), action, self.mass(low, high), strict=True):
            yield _outcome(share, loss, int(k), low=a, high=b)

    @property
    def _owned(self) -> Array:
        """(M, C) 1 where the Gaussian is the class's."""
        return np.asarray(self.owner[:, None] == np.arange(self.classes), dtype=float)

    @property
    def _reach(self) -> Array:
        """Where each of them is looked at first, in its standard deviations."""
        return REACH

    @property
    def _grid(self) -> Array:
        reach = self._reach
        if len(self.mean) <= FEW:
            return np.unique(self.mean + self.sd * reach[:, None])
        step = self.sd * (reach[1] - reach[0])  # those of one width look at the same points, however many they are
        return np.unique(np.rint(self.mean / step + np.rint(reach / (reach[1] - reach[0]))[:, None]) * step)

    def slope(self, x: Array, density: Array) -> Array:
        """(n, M) the derivatives of the densities (n, M)."""
        return np.asarray(density * (self.mean - x[:, None]) / self.sd**2)

    def _at(self, x: Array, cost: Array) -> tuple[Array, Array, Array]:
        """Risk (n, A) of every action, its slope, and the size (n,) of what is summed."""
        step, largest = max(MOST_DENSITIES // len(self.weight), 1), np.abs(cost).max(axis=0)
        found = []
        for some in (x[i : i + step] for i in range(0, len(x), step)):
            density = self.density(some)
            found.append((density @ cost.T, self.slope(some, density) @ cost.T, density @ largest))
        risk, slope, size = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return risk, slope, size


@dataclass(frozen=True)
class Averages(Gaussians):
    """Weka's kernels: each Gaussian averaged over ± half the `width` about its mean, (Φ(b) − Φ(a))/width with a and b
    the ends in standard deviations."""

    width: float

    def density(self, x: Array) -> Array:
        low, high = self._ends(x)
        upper = low > 0  # the small tail keeps its digits
        part = np.where(upper, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        return np.asarray(self.weight / self.width * part)

    def slope(self, x: Array, density: Array) -> Array:
        low, high = (exp(-0.5 * (end * end + LOG_2PI)) for end in self._ends(x))
        return np.asarray(self.weight / (self.width * self.sd) * (high - low))

    def mass(self, low: Array, high: Array) -> Array:
        part = self._below(high) - self._below(low)
        return np.asarray((self.weight * np.clip(part, 0.0, 1.0)) @ self._owned)

    def _below(self, x: Array) -> Array:
        """(n, M) ∫ up to x, by ∫Φ(z) dz = zΦ(z) + φ(z) =: G(z): σ/width (G(b) − G(a))."""
        finite = np.where(np.isfinite(x), x, 0.0)
        a, b = (z * ndtr(z) + exp(-0.5 * (z * z + LOG_2PI)) for z in self._ends(finite))
        return np.where(np.isfinite(x)[:, None], (b - a) * self.sd / self.width, (x > 0)[:, None])

    def _ends(self, x: Array) -> tuple[Array, Array]:
        z, half = (x[:, None] - self.mean) / self.sd, 0.5 * self.width / self.sd
        return z - half, z + half

    @property
    def _reach(self) -> Array:
        """A bump is up to six standard deviations wide."""
        return np.arange(-48.0, 49.0) / 4.0


@dataclass(frozen=True)
class Counts(Answers):
    """`share` (n, C): P(c, x_j = k | x) of the counts k at `x` (n,) ascending, beyond which there is nothing to speak
    of; of very many each stands for those up to the next."""

    share: Array
    x: Array

    def gain(self, table: Array) -> tuple[float, float]:
        return Levels(self.share, ()).gain(table)

    def information(self) -> float:
        return Levels(self.share, ()).information()

    def outcomes(self, loss: LossMatrix) -> Iterator[Outcome]:
        action = (self.share @ loss.table.T).argmin(axis=1)
        starts = np.flatnonzero(np.append(True, action[1:] != action[:-1]))
        ends = [-math.inf, *self.x[starts[1:] - 1].tolist(), math.inf]
        for k, part in enumerate(np.split(self.share, starts[1:])):
            yield _outcome(part.sum(axis=0), loss, int(action[starts[k]]), low=ends[k], high=ends[k + 1])


@dataclass(frozen=True)
class Curve(Answers):
    """P(c, x_j | x) known by its values alone: `at(x)` (n, C) up to a common factor, integrated from `low` to `high` by
    Gauss and Legendre's rule of 8 nodes on panels that are halved until nothing changes.

    The stated error is what the last two halvings changed, the larger: one alone may be luck where the decision changes
    inside a panel."""

    at: Any
    low: float
    high: float

    def gain(self, table: Array) -> tuple[float, float]:
        before, changed, panels = math.inf, math.inf, 64
        while True:
            share = self._shares(panels)
            risks = share @ table.T
            gain = float(risks.sum(axis=0).min() - risks.min(axis=1).sum())
            change = abs(gain - before)
            error = max(change, changed)
            if error < 1e-9 * np.abs(table).max(initial=0.0) or panels >= PANELS:
                return gain, error
            before, changed, panels = gain, change, 2 * panels

    def information(self) -> float:
        return Levels(self._shares(512), ()).information()

    def outcomes(self, loss: LossMatrix) -> Iterator[Outcome]:
        panels = 512
        share = self._shares(panels)
        action = (share @ loss.table.T).argmin(axis=1)
        starts = np.flatnonzero(np.append(True, action[1:] != action[:-1]))
        x = self._nodes(panels)[0]
        ends = [-math.inf, *((x[starts[1:] - 1] + x[starts[1:]]) / 2.0).tolist(), math.inf]
        for k, i in enumerate(starts):
            part = share[i : starts[k + 1] if k + 1 < len(starts) else None].sum(axis=0)
            yield _outcome(part, loss, int(action[i]), low=ends[k], high=ends[k + 1])

    def _nodes(self, panels: int) -> tuple[Array, Array]:
        half = (self.high - self.low) / (2.0 * panels)
        middles = self.low + half * (2.0 * np.arange(panels) + 1.0)
        return (middles[:, None] + half * NODES).ravel(), np.tile(half * WEIGHTS, panels)

    def _shares(self, panels: int) -> Array:
        x, weight = self._nodes(panels)
        return _shares(np.asarray(self.at(x)) + log(weight)[:, None])


def _unsettled(width: Array, risk: Array, slope: Array, size: Array) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Which cells hold a point where the action changes, or may, and the best action at their left ends. `risk`,
    `slope` (2, n, A) at the ends, `size` (2, n)."""
    n = np.arange(len(width))
    least = ROUNDING * size
    action = (risk <= risk.min(axis=2, keepdims=True) + least[..., None]).argmax(axis=2)  # a tie: the first
    first, last = action
    crossing = (risk[0, n, last] - risk[0, n, first] > least[0]) | (risk[1, n, first] - risk[1, n, last] > least[1])
    gap = risk - risk[:, n, first][..., None]
    turn = slope - slope[:, n, first][..., None]
    bend = turn[1] - turn[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (gap[0] - gap[1] + turn[1] * width[:, None]) / bend  # where the tangents at both ends meet
        dip = (turn[0] < 0) & (turn[1] > 0) & (gap[0] + turn[0] * meet < -least[0][:, None])
    return ((first != last) & crossing) | ((first == last) & dip.any(axis=1)), first


def _outcome(
    share: Array,
    loss: LossMatrix,
    action: int | None,
    *,
    level: Any = None,
    low: float = -math.inf,
    high: float = math.inf,
) -> Outcome:
    """An outcome whose classes have these shares (C,) of all there is; without an `action`, with the best one."""
    p = float(share.sum())
    posterior = share / p if p > 0 else share
    k = int(decide(posterior[None], loss).position[0]) if action is None else action
    risk = float(loss.table[k] @ posterior)
    return Outcome(level, low, high, p, tuple(posterior.tolist()), loss.actions[k], risk)


# the case -------------------------------------------------------------------------------------------------------

Cells = Mapping[str, int | float]
"""Cells that are tried: of a discrete column the place among its levels (beyond them: missing), else a number."""


@dataclass(frozen=True)
class _Case:
    """A row (1, d) of which the columns `known` are known; `use` is the prior of use, None for the model's own."""

    model: Model
    row: pd.DataFrame
    known: frozenset[str]
    use: Mapping[Any, float] | None

    @property
    def schema(self) -> Schema:
        schema: Schema = self.model.schema_
        return schema

    @property
    def open(self) -> tuple[str, ...]:
        """The features that may be asked, in the table's order: no text."""
        return tuple(v.name for v in self.schema if v.name not in self.known and not v.textual)

    def ledger(self, tried: Sequence[Cells]) -> Ledger:
        """The joint (n, C) of the known cells with those of `tried`, all others integrated out, at the prior of use."""
        n = len(tried)
        joint, status = np.empty((n, len(self.model.classes_))), np.zeros(n, dtype=np.int8)
        for given, rows in _together(self.model, [self.known.union(cells) for cells in tried]):
            found = self.model.explain(self._frame([tried[i] for i in rows]), given)
            joint[rows], status[rows] = found.joint(), found.status
        ledger = Ledger(((JOINT, joint),), tuple(self.model.classes_.tolist()), status)
        return ledger if self.use is None else ledger.at_prior(self.model.prior_by_class, self.use)

    def _frame(self, tried: Sequence[Cells]) -> pd.DataFrame:
        places = [0] * len(tried)
        columns = {
            v.name: self.row[v.name].iloc[places].reset_index(drop=True)
            if v.name in self.known
            else _column(v, [cells.get(v.name) for cells in tried])
            for v in self.schema
        }
        return pd.DataFrame(columns)

    @cached_property
    def table(self) -> Table:
        """The known cells, encoded, all others integrated out."""
        unseen = getattr(self.model, "unseen", "ignore")
        return integrating(encode(self._frame([{}]), self.schema, unseen=unseen), self.known)

    @cached_property
    def log_joint(self) -> Array:
        """(1, C) of the known cells alone."""
        return self.ledger([{}]).joint()

    def answers(self, names: Sequence[str]) -> Iterator[tuple[str, Answers]]:
        """What may be answered to each of these questions; the levels of all discrete ones in one go."""
        sizes = {name: len(self.schema[name].levels) for name in names if self.schema[name].discrete}
        joint = self.ledger([{name: s} for name, size in sizes.items() for s in range(size)]).joint() if sizes else None
        at = 0
        for name in names:
            if name in sizes:
                assert joint is not None
                yield name, Levels(_shares(joint[at : at + sizes[name]]), self.schema[name].levels)
                at += sizes[name]
            else:
                yield name, self._numbers(name)

    def _numbers(self, name: str) -> Answers:
        part, power = self._part(name)
        chosen = self.schema[name].likelihood is not None and isinstance(self.model.factor_, Product)
        if (part is None and chosen) or not power:  # set aside
            return Levels(_shares(self.log_joint), (None,))
        if isinstance(part, PoissonFactor):
            counts = _counts(part.rate, power)
            return Counts(_shares(self.log_joint + power * part.at(counts)), counts)
        if isinstance(part, KernelFactor) and power == 1.0:
            return self._bumps(part)
        try:
            found = _gaussians(self, name)
        except NotImplementedError:
            return self._curve(name)
        if found is None:  # a column that the model has set aside
            return Levels(_shares(self.log_joint), (None,))
        log_weight, mean, variance = (np.broadcast_to(a, found[1].shape).ravel() for a in found)
        weight = _shares(log_weight)
        owner = np.tile(np.arange(len(self.model.classes_)), len(found[1]))
        there = weight > 0
        sd = np.sqrt(variance)
        return Gaussians(weight[there], mean[there], sd[there], owner[there], len(self.model.classes_))

    def _part(self, name: str) -> tuple[Any, float]:
        """The factor that a column has to itself and, where it is weighted, its weight; None if it has none."""
        for part in _leaves(self.model.factor_):
            own = getattr(part, "part", part)
            variable = getattr(own, "variable", None)
            if variable is not None and variable.name == name:
                return own, 1.0 if own is part else float(part.weight)  # type: ignore[attr-defined]
        return None, 1.0

    def _bumps(self, part: KernelFactor) -> Gaussians:
        """The bumps of a kernel density, those of each class in its own share."""
        of_class = _shares(self.log_joint)[0] / part.weight.sum(axis=1)
        owner, at = np.nonzero((part.weight > 0) & (of_class > 0)[:, None])
        weight, mean, sd = of_class[owner] * part.weight[owner, at], part.points[at], part.bandwidth[owner]
        if part.precision is None:
            return Gaussians(weight, mean, sd, owner, len(of_class))
        return Averages(weight, mean, sd, owner, len(of_class), part.precision)

    def _curve(self, name: str) -> Curve:
        """The density is found from the middle of the column outwards, by powers of two."""
        middle = float(self.schema[name].pivot)

        def at(x: Array) -> Array:
            return self.ledger([{name: float(v)} for v in x]).joint()

        steps = np.ldexp(max(abs(middle), 1.0), np.arange(-60, 61))
        heard = np.concatenate([log_sum(at(middle - steps)), log_sum(at(middle + steps))]) + np.tile(log(steps), 2)
        loud = np.tile(steps, 2)[heard > heard.max() - 40.0]
        reach = 2.0 * float(loud.max(initial=1.0))  # at the next power nothing is heard any more
        return Curve(at, middle - reach, middle + reach)


def _together(model: Model, known: Sequence[frozenset[str]]) -> Iterator[tuple[frozenset[str], list[int]]]:
    """Rows that can be explained at once, with the columns that are given. Where a missing cell is a level of its own,
    that must be said of each row; elsewhere a missing cell is integrated out of itself."""
    if getattr(model, "missing", "") != "category":
        yield frozenset(model.schema_.names), list(range(len(known)))
        return
    groups: dict[frozenset[str], list[int]] = {}
    for i, given in enumerate(known):
        groups.setdefault(given, []).append(i)
    yield from groups.items()


def _counts(rate: Array, weight: float) -> Array:
    """The counts within which Poisson distributions of these rates (C,), to the power of a weight, lie but for e^−TAIL:
    Bernstein's inequality, P(|k − λ| ≥ t) ≤ 2 exp(−t²/(2(λ + t/3))).

    >>> _counts(np.array([0.0]), 1.0).tolist() == list(range(31))
    True
    """
    needed = TAIL / weight
    reach = needed / 3.0 + np.sqrt(needed**2 / 9.0 + 2.0 * needed * rate)
    low, high = np.maximum(np.floor(rate - reach), 0.0), np.ceil(rate + reach)
    step = np.ceil((high - low + 1.0).sum() / MOST_COUNTS)
    return np.unique(np.concatenate([np.arange(a - a % step, b + 1.0, step) for a, b in zip(low, high, strict=True)]))


def _case(model: Any, X: Any, prior_of_use: Mapping[Any, float] | None) -> _Case:
    if hasattr(model, "counted"):  # a lazy model would count for every cell that is tried
        model = model.counted()
    row = _one_row(model, X)
    return _Case(model, row, frozenset(name for name in row.columns if row[name].notna().iloc[0]), prior_of_use)


def _one_row(model: Model, X: Any) -> pd.DataFrame:
    """X as a frame of one row, its columns those of the model."""
    frame, names = as_frame(X), list(model.schema_.names)
    if any(isinstance(part, Terms) for part in _leaves(model.factor_)):
        raise ParameterError("a model that counts terms has no questions to ask: its cells are words, not features")
    if len(frame) != 1:
        raise ParameterError("a question is asked of one row; X has {n}", n=len(frame))
    if not isinstance(X, pd.DataFrame) and frame.shape[1] == len(names):
        return frame.set_axis(names, axis=1)
    for name in names:
        if name not in frame.columns:
            raise ParameterError("X has no column '{column}'; leave its cell missing to have it asked", column=name)
    return frame[names]


def _column(variable: Variable, cells: Sequence[int | float | None]) -> pd.Series:
    """The cells of one column that are tried; None is missing."""
    if not variable.discrete:
        return pd.Series([math.nan if cell is None else cell for cell in cells], dtype=float)
    size = len(variable.levels)
    codes = [int(cell) if cell is not None and cell < size else -1 for cell in cells]
    if variable.cuts is None:
        return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(variable.levels, dtype=object)))
    beyond = math.nextafter(variable.cuts[-1], math.inf) if variable.cuts else variable.pivot
    inside = [*variable.cuts, beyond, math.nan]  # a cut point belongs to the interval that it ends
    return pd.Series([inside[code] for code in codes], dtype=float)


def _gaussians(case: _Case, name: str) -> tuple[Array, Array, Array] | None:
    """log P(c, m, x) (R, C), mean and variance (R, C) of the Gaussians that a number's density is the sum of: one a
    class, and one more for each combination of the parents that are not known, or for each super-parent. None where
    the model has no term for the column; raises NotImplementedError where it is no such sum."""
    factor = case.model.factor_
    if isinstance(factor, Averaged):
        return _averaged(case, factor, name)
    if isinstance(factor, Directed):
        return _directed(case, factor, name)
    for part in _leaves(factor):
        if isinstance(part, GaussianFactor) and part.variable.name == name:
            return case.log_joint, (part.moments.pivot + part.moments.offset)[None], part.variance[None]
        if isinstance(part, LinearFactor | QuadraticFactor):
            return (case.log_joint, *_conditional(case, part, name)) if name in part.names else None
    if all(isinstance(part, _OF_ONE_COLUMN) for part in _leaves(factor)):
        return None
    raise NotImplementedError


_OF_ONE_COLUMN = (ClassPrior, GaussianFactor, TableFactor, KernelFactor, PoissonFactor, TextFactor)


def _conditional(case: _Case, part: LinearFactor | QuadraticFactor, name: str) -> tuple[Array, Array]:
    """Mean and variance (1, C) of x_j given the known x_o within each class: μ_j + Σ_jo Σ_oo⁻¹ (x_o − μ_o) and
    Σ_jj − Σ_jo Σ_oo⁻¹ Σ_oj."""
    j = part.names.index(name)
    u = np.array([case.table.columns[k][0] for k in part.columns]) - part.centre
    o = np.flatnonzero(~np.isnan(u))
    shared = isinstance(part, LinearFactor)
    mean, variance = np.empty((1, len(part.apart))), np.empty((1, len(part.apart)))
    for c, v in enumerate(part.apart):
        if c == 0 or not shared:
            covariance = part.covariance if shared else part.covariance[c]
            whiten = inverse_root(covariance[np.ix_(o, o)]).whiten
            slope = (covariance[j, o] @ whiten) @ whiten.T
            left = max(covariance[j, j] - slope @ covariance[o, j], 1e-12 * covariance[j, j])  # what the others leave
        mean[0, c], variance[0, c] = part.centre[j] + v[j] + slope @ (u[o] - v[o]), left
    return mean, variance


def _directed(case: _Case, factor: Directed, name: str) -> tuple[Array, Array, Array] | None:
    family = next((f for f in factor.families if f.variable.name == name), None)
    if family is None:
        return None
    assert isinstance(family, GaussianFamily)
    places = [int(d.places(case.table)[0]) for d in family.parents]
    free = [range(d.size) if place == HIDDEN else [place] for d, place in zip(family.parents, places, strict=True)]
    hidden = [d.variable.name for d, place in zip(family.parents, places, strict=True) if place == HIDDEN]
    cells = list(product(*free))
    tried = [
        {d.variable.name: s for d, s in zip(family.parents, at, strict=True) if d.variable.name in hidden}
        for at in cells
    ]
    log_joint = case.ledger(tried).joint() if hidden else case.log_joint
    mean, variance = (np.stack([_cell(table, at) for at in cells]) for table in family.gaussians)
    return log_joint, family.variable.pivot + mean, variance


def _averaged(case: _Case, factor: Averaged, name: str) -> tuple[Array, Array, Array] | None:
    prior = np.broadcast_to(log(factor.prior.p), (1, len(factor.prior.p)))
    joints, active = factor.joints(case.table, prior)
    taking = np.flatnonzero(active[:, 0])
    if not len(taking):
        return _directed(case, factor.naive, name)
    ledger = Ledger(((JOINT, joints[taking, 0]),), tuple(case.model.classes_.tolist()), np.zeros(len(taking), np.int8))
    if case.use is not None:
        ledger = ledger.at_prior(case.model.prior_by_class, case.use)
    means, variances = [], []
    for i in taking:
        family = next((f for f in factor.members[i].families if f.variable.name == name), None)
        if family is None:
            return None
        assert isinstance(family, GaussianFamily)
        at = [int(d.places(case.table)[0]) for d in family.parents]
        mean, variance = (_cell(table, at) for table in family.gaussians)
        means.append(family.variable.pivot + mean)
        variances.append(variance)
    return ledger.joint(), np.stack(means), np.stack(variances)


def _cell(table: Array, at: Sequence[int]) -> Array:
    """(C,) what stands in a table (C, S_p, …) at these places of the parents."""
    for place in at:
        table = table[:, place]
    return table


def _leaves(factor: Factor) -> Iterator[Factor]:
    if isinstance(factor, Product):
        for part in factor.parts:
            yield from _leaves(part)
    else:
        yield factor


def _shares(log_joint: Array) -> Array:
    """exp of an array of log terms, so that all of it sums to 1; zeros where it is −inf throughout."""
    return normalize(log_joint.reshape(1, -1)).reshape(log_joint.shape)


def _times_log(p: Array) -> Array:
    """p log p, with 0 log 0 = 0."""
    return np.asarray(p * log(np.where(p > 0, p, 1.0)))


def _cost(costs: float | Mapping[str, float], name: str) -> float:
    cost = float(costs.get(name, 0.0) if isinstance(costs, Mapping) else costs)
    if not math.isfinite(cost):
        raise ParameterError("asking '{column}' costs {cost}, which is no finite number", column=name, cost=str(cost))
    return cost


def _ranked(questions: list[Question], tolerance: float) -> tuple[Question, ...]:
    """The most valuable first; those within the tolerance of the first of them by name."""
    left, ranked = sorted(questions, key=lambda q: -q.value), []
    while left:
        tied = [q for q in left if q.value >= left[0].value - tolerance]
        ranked += sorted(tied, key=lambda q: q.feature)
        left = left[len(tied) :]
    return tuple(ranked)
