"""EM: one loop for mixtures, hidden or partly hidden labels, and missing cells. scikit-learn's GaussianMixture has its
own loop, which serves nothing else: no missing cells, labels or networks.

With X seen, Z hidden and q(Z) = P(Z|X, Θₜ), for every Θ

    F(Θ|Θₜ) = Q(Θ|Θₜ) + H(q) ≤ log p(X|Θ),   Q(Θ|Θₜ) = E_q[log p(X, Z|Θ)],   equal at Θ = Θₜ.

The E step computes q (as expected statistics), the M step maximizes Q as a supervised fit would (Dempster, Laird &
Rubin 1977; Zhou, eq. 7.36–7.37). Hard EM puts all of q on the best Z, as Zhou first words it: F is then the
classification likelihood max_Z log p(X, Z|Θ).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from bayes_engine.errors import BayesEngineError
from bayes_engine.logspace import Array, exp, log
from bayes_engine.priors import checked_word
from bayes_engine.progress import steps, tick

P = TypeVar("P")
T = TypeVar("T")
S = TypeVar("S")
A = TypeVar("A", bound=tuple[Any, ...])
Stop = Literal["objective", "q", "parameters"]
STOPS: tuple[Stop, ...] = ("objective", "q", "parameters")

ROUNDING = 1e-9
"""What is maximized may fall by this share of its size, and no more: rounding."""
KEPT = 4_000_000
"""A trace keeps the responsibilities of every step while they are at most this many numbers together."""


class Collapse(BayesEngineError):
    """A part of the model has lost its rows or its spread: the likelihood has no maximum there."""


FAINT = -700.0
"""A responsibility below e^-700 counts as 0: its products would be subnormal numbers, ten times as slow as others."""


class ObjectiveFell(BayesEngineError):
    """What EM maximizes has fallen: expectation and estimation do not belong to one model. A fault of the program."""


@dataclass(frozen=True)
class ExpectedStatistics(Generic[S]):
    """What an E step finds under Θ, in nats: the expected `stats`, `log_likelihood` = log p(X|Θ),
    `q` = E_q[log p(X, Z|Θ)], `entropy` = H(q) (0 for a hard label) and `responsibilities` (n, K), or None."""

    stats: S
    log_likelihood: float
    q: float
    entropy: float
    responsibilities: Array | None = None


@dataclass(frozen=True)
class EMStep(Generic[P]):
    """One Θ on the way: what EM knew and reached there, in nats.

    `lower_bound` is F(Θ|Θ before) = Q(Θ|Θ before) + H before, what the M step climbed to: between the log-likelihoods
    before and here (None at the start, or where Q was not given as a function). `change`, `q_change` and
    `parameter_change` are against the step before.
    """

    iteration: int
    parameters: P
    log_likelihood: float
    q: float
    entropy: float
    log_prior: float
    objective: float
    lower_bound: float | None = None
    change: float | None = None
    q_change: float | None = None
    parameter_change: float | None = None
    responsibilities: Array | None = None


@dataclass(frozen=True)
class EMTrace(Generic[P]):
    """All steps from the start (step 0) on; `objective` names what was maximized; `converged` says whether the change
    named by `stop` fell below `tol` before the iterations ran out."""

    steps: tuple[EMStep[P], ...]
    objective: str
    converged: bool
    hard: bool
    stop: Stop
    tol: float

    @property
    def last(self) -> EMStep[P]:
        return self.steps[-1]

    @property
    def n_iter(self) -> int:
        """M steps taken."""
        return len(self.steps) - 1

    def table(self) -> pd.DataFrame:
        """The numbers of every step, a row each."""
        names = ("iteration", "log_likelihood", "lower_bound", "q", "entropy", "log_prior", "objective", "change",
                 "q_change", "parameter_change")  # fmt: skip
        return pd.DataFrame({n: [getattr(s, n) for s in self.steps] for n in names}).set_index("iteration")

    def mapped(self, change: Callable[[P], T], order: NDArray[np.intp] | None = None) -> EMTrace[T]:
        """The trace with other parameters in every step, and the columns of the responsibilities in another order."""

        def moved(step: EMStep[P]) -> EMStep[T]:
            r = step.responsibilities
            r = r if r is None or order is None or (order == np.arange(len(order))).all() else r[:, order]
            return replace(step, parameters=change(step.parameters), responsibilities=r)  # type: ignore[arg-type, return-value]

        return replace(self, steps=tuple(map(moved, self.steps)))  # type: ignore[arg-type, return-value]


class Responsibilities(NamedTuple):
    """q for rows with one hidden variable each: responsibilities (n, K), and the sums over rows, in nats; of runs side
    by side each has the axes of the runs before its own."""

    responsibilities: Array
    log_likelihood: float
    q: float
    entropy: float


def responsibilities(joint: Array, *, hard: bool = False, weight: Array | None = None) -> Responsibilities:
    """q(z) of every row from its joint (n, K) log p(x, z), or (…, n, K) of runs side by side; `weight` (n,) enters the
    sums, not the responsibilities.

    What is known of z is said by −inf: a row with one finite entry has its label, and entropy 0. Hard: all on the
    largest entry, the first of equals. A row that is −inf throughout makes the log-likelihood −inf.
    """
    top = joint.max(axis=-1, keepdims=True)
    top[~np.isfinite(top)] = 0.0
    known = joint - top
    np.maximum(known, FAINT, out=known)  # finite, so that 0·(−inf) = 0
    r = exp(known)
    r *= known > FAINT
    total = r.sum(axis=-1, keepdims=True)
    log_total = log(total)
    log_likelihood = _total(weight, (top + log_total)[..., 0])
    if hard:
        r = np.zeros(joint.shape)
        np.put_along_axis(r, joint.argmax(axis=-1, keepdims=True), 1.0, axis=-1)
        return Responsibilities(r, log_likelihood, _total(weight, joint.max(axis=-1)), 0.0)
    r /= np.where(total > 0, total, 1.0)
    known *= r
    log_total[total == 0] = 0.0  # a row without any z has no entropy
    entropy = _total(weight, (log_total - known.sum(axis=-1, keepdims=True))[..., 0])
    return Responsibilities(r, log_likelihood, log_likelihood - entropy, entropy)


def _total(weight: Array | None, values: Array) -> Any:
    """Σ w v over the last axis with 0·(−inf) = 0."""
    if weight is None:
        return values.sum(axis=-1)
    return np.where(weight > 0, values, 0.0) @ weight


def largest_change(before: Any, after: Any) -> float:
    """The largest absolute change of any number in an array, or in a tuple of arrays."""
    pairs = zip(before, after, strict=True) if isinstance(before, tuple) else [(before, after)]
    return max(float(np.abs(np.subtract(b, a)).max(initial=0.0)) for b, a in pairs)


@dataclass(frozen=True)
class EMModel(Generic[P, S]):
    """The two steps of a model with hidden variables, and what else is known of it.

    Parameters
    ----------
    expect : the E step: (Θ, hard) → ExpectedStatistics.
    estimate : the M step, as in a supervised fit; it may raise Collapse.
    complete : (stats, Θ) → Q(Θ|·) = E_q[log p(X, Z|Θ)] from the statistics: gives every step its lower bound.
    log_prior : log p(Θ), up to a constant, where `estimate` is a posterior mode.
    slack : (stats, Θ before, Θ after) → by how much the objective may fall in this step, for an `estimate` that does
        not quite maximize Q (a ridge on a covariance); 0 without.
    distance : (Θ before, Θ after) → size of the change; by default the largest one of any number in a tuple of arrays.
    """

    expect: Callable[[P, bool], ExpectedStatistics[S]]
    estimate: Callable[[S], P]
    complete: Callable[[S, P], float] | None = None
    log_prior: Callable[[P], float] | None = None
    slack: Callable[[S, P, P], float] | None = None
    distance: Callable[[P, P], float] = largest_change


@dataclass(frozen=True)
class Stopping:
    """EM ends once the change named by `stop` is below `tol`: of the "objective" or of "q", in nats, or of the
    "parameters"; or after `max_iter` M steps. Raises ParameterError on another word."""

    stop: Stop = "objective"
    tol: float = 1e-6
    max_iter: int = 200

    def __post_init__(self) -> None:
        checked_word("stop", self.stop, STOPS)


def em(
    start: P, model: EMModel[P, S], *, stopping: Stopping = Stopping(), hard: bool = False, keep: int = KEPT
) -> EMTrace[P]:
    """Climb from `start`: Θ ← estimate(expect(Θ, hard).stats), until `stopping` says that it is enough. `keep` is how
    many responsibilities are kept; of a larger problem, those of the first and the last step alone.

    The objective is Q + H, plus the log prior where there is one: that is the log-likelihood for soft EM, the
    classification likelihood for hard. Raises ObjectiveFell where it falls by more than 1e-9 of its size.
    """
    expected = model.expect(start, hard)
    climbed = [_step(None, start, expected, _log_prior(model, start))]
    room = keep
    while not _has_ended(climbed[-1], stopping):
        tick()
        before, stats = climbed[-1], expected.stats
        parameters = model.estimate(stats)
        bound = None if model.complete is None else model.complete(stats, parameters) + expected.entropy
        expected = model.expect(parameters, hard)
        moved = model.distance(before.parameters, parameters)
        step = _step(before, parameters, expected, _log_prior(model, parameters), bound, moved)
        _never_falls(before, step, 0.0 if model.slack is None else model.slack(stats, before.parameters, parameters))
        if before.responsibilities is not None and before.iteration > 0:
            room -= before.responsibilities.size
            if room < 0:
                climbed[-1] = replace(before, responsibilities=None)
        climbed.append(step)
    return _trace(climbed, model, stopping, hard)


def em_side_by_side(
    starts: Sequence[A], model: EMModel[A, S], *, stopping: Stopping = Stopping(), hard: bool = False
) -> list[EMTrace[A] | Collapse]:
    """What `em` comes to from each start, or the Collapse that ends the run. Θ is a named tuple of arrays, and what the
    model computes from one it computes from several too, stacked along a first axis: of few rows a step of all runs
    takes hardly longer than one of a single run. The steps have no lower bounds, keep no
    responsibilities, and tell the change of Θ only where that ends the runs.
    """
    runs: list[list[EMStep[A]]] = [[] for _ in starts]
    collapsed: dict[int, Collapse] = {}
    going, theta = list(range(len(starts))), _like(starts[0], map(np.stack, zip(*starts, strict=True)))
    slack: Any = 0.0
    while True:
        expected = model.expect(theta, hard)
        known = (expected.log_likelihood, expected.q, expected.entropy, _log_prior(model, theta), slack)
        numbers = [np.broadcast_to(each, len(going)).tolist() for each in known]
        for i, (run, log_likelihood, q, entropy, log_prior, loss) in enumerate(zip(going, *numbers, strict=True)):
            before, own = runs[run][-1] if runs[run] else None, _like(theta, (array[i] for array in theta))
            moved = None
            if before is not None and stopping.stop == "parameters":
                moved = model.distance(before.parameters, own)
            step = _step(before, own, ExpectedStatistics(None, log_likelihood, q, entropy), log_prior, None, moved)
            if before is not None:
                _never_falls(before, step, loss)
            runs[run].append(step)
        tick(len(runs[going[0]]), stopping.max_iter)
        left = [i for i, run in enumerate(going) if not _has_ended(runs[run][-1], stopping)]
        while left:
            if len(left) < len(going):
                going, theta = [going[i] for i in left], _like(theta, (array[left] for array in theta))
                expected = model.expect(theta, hard)
            try:
                after = model.estimate(expected.stats)
                break
            except Collapse:  # of whom?
                reasons = {run: _collapse(model, runs[run][-1].parameters, hard) for run in going}
            collapsed |= {run: reason for run, reason in reasons.items() if reason is not None}
            left = [i for i, run in enumerate(going) if reasons[run] is None]
        if not left:
            break
        slack = 0.0 if model.slack is None else model.slack(expected.stats, theta, after)
        theta = after
    return [collapsed[i] if i in collapsed else _trace(run, model, stopping, hard) for i, run in enumerate(runs)]


def _like(theta: A, arrays: Iterable[Any]) -> A:
    """Parameters of the same kind."""
    return type(theta)(*arrays)


def _collapse(model: EMModel[P, Any], theta: P, hard: bool) -> Collapse | None:
    """The Collapse of the M step after Θ, if it is one."""
    try:
        model.estimate(model.expect(theta, hard).stats)
    except Collapse as reason:
        return reason
    return None


def _log_prior(model: EMModel[P, Any], theta: P) -> float:
    return 0.0 if model.log_prior is None else model.log_prior(theta)


def _step(
    before: EMStep[P] | None,
    parameters: P,
    expected: ExpectedStatistics[Any],
    log_prior: float,
    bound: float | None = None,
    moved: float | None = None,
) -> EMStep[P]:
    objective = float(expected.q + expected.entropy + log_prior)
    return EMStep(
        0 if before is None else before.iteration + 1,
        parameters,
        float(expected.log_likelihood),
        float(expected.q),
        float(expected.entropy),
        float(log_prior),
        objective,
        None if bound is None else float(bound),
        None if before is None else objective - before.objective,
        None if before is None else float(expected.q - before.q),
        moved,
        expected.responsibilities,
    )


def _is_enough(step: EMStep[Any], stopping: Stopping) -> bool:
    change = {"objective": step.change, "q": step.q_change, "parameters": step.parameter_change}[stopping.stop]
    return change is not None and abs(change) < stopping.tol


def _has_ended(step: EMStep[Any], stopping: Stopping) -> bool:
    return step.iteration >= stopping.max_iter or _is_enough(step, stopping)


def _trace(run: list[EMStep[P]], model: EMModel[P, Any], stopping: Stopping, hard: bool) -> EMTrace[P]:
    name = "classification likelihood" if hard else "log-likelihood"
    objective = name if model.log_prior is None else f"{name} + log prior"
    return EMTrace(tuple(run), objective, _is_enough(run[-1], stopping), hard, stopping.stop, stopping.tol)


def _never_falls(before: EMStep[P], after: EMStep[P], slack: float) -> None:
    size = max(1.0, abs(before.objective), abs(before.log_prior))
    if not after.objective >= before.objective - ROUNDING * size - slack:
        raise ObjectiveFell(
            "EM's objective fell from {before:.12g} to {after:.12g} in iteration {iteration}: a fault of the program, "
            "please report it",
            before=before.objective,
            after=after.objective,
            iteration=after.iteration,
        )


@dataclass(frozen=True)
class Runs(Generic[P]):
    """EM from several starts: every trace that came to an end, the `best` of them by its objective (the first of
    equals, to 1e-9), and the collapses of the others."""

    traces: tuple[EMTrace[P], ...]
    collapsed: tuple[Collapse, ...]

    @property
    def best(self) -> EMTrace[P] | None:
        if not self.traces:
            return None
        top = max(trace.last.objective for trace in self.traces)
        return next(t for t in self.traces if t.last.objective >= top - ROUNDING * max(1.0, abs(top)))


def runs(starts: Iterable[Callable[[], P]], climb: Callable[[P], EMTrace[P]]) -> Runs[P]:
    """`climb` from every start; a run that collapses is put aside with its reason."""
    traces, collapsed = [], []
    for start in steps(starts):
        try:
            traces.append(climb(start()))
        except Collapse as reason:
            collapsed.append(reason)
    return Runs(tuple(traces), tuple(collapsed))


def generator(random_state: Any) -> np.random.Generator:
    """The random numbers of a `random_state` as scikit-learn takes it, or of a generator itself."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**32, dtype=np.uint32))


def random_responsibilities(rng: np.random.Generator, n: int, k: int) -> Array:
    """(n, k) responsibilities drawn from the flat Dirichlet: a start that favours nothing."""
    return np.asarray(rng.dirichlet(np.ones(k), size=n), dtype=float)
