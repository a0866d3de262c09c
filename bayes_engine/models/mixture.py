"""Gaussian mixtures by EM: p(x) = Σ_k π_k N(x; μ_k, Σ_k) (Zhou, eq. 9.29), LDA and QDA with the labels hidden.
scikit-learn's GaussianMixture refuses missing cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bayes_engine.covariance import pivots, refuse_matrices
from bayes_engine.em import (
    STOPS,
    Collapse,
    EMModel,
    EMTrace,
    Runs,
    Stop,
    Stopping,
    em,
    em_side_by_side,
    generator,
    runs,
)
from bayes_engine.errors import TableError, UndefinedPosterior
from bayes_engine.language import Listing
from bayes_engine.logspace import Array, log, log_sum, normalize
from bayes_engine.models.fit_warnings import warn, warn_of_collapses, warn_unless_converged
from bayes_engine.models.mixture_components import (
    FORMS,
    Components,
    Conditional,
    Form,
    MixtureParameters,
    StandardizedRows,
    default_prior,
    distinct_rows,
    in_order,
    standardized,
    starting_parameters,
    to_natural,
    to_standard,
)
from bayes_engine.models.mixture_em_steps import em_steps, given_seen
from bayes_engine.models.numeric_input import numeric_input
from bayes_engine.priors import checked_number, checked_whole, checked_word
from bayes_engine.progress import steps
from bayes_engine.stats.labels import checked_weights
from bayes_engine.table.dataframes import to_pandas
from bayes_engine.table.encode import infinity

SINGULAR = 1e-12
"""Below this share of its variance, what the columns before leave of a column is rounding."""
RESTARTS = 5
"""Random starts tried where every run collapsed, before the prior is called in."""


@dataclass(eq=False, repr=False)
class GaussianMixture(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A mixture of K Gaussians, its components hidden, fitted by EM.

    scikit-learn's names where it has them; from the same start and with the same `reg_covar` it takes the same steps.
    Columns are standardized inside, so that units change nothing (but for `reg_covar` and "spherical"). A row may have
    missing cells (NaN): they are hidden too, and integrated out exactly.

    Components stand in ascending order of their means in the first column, in the next where those are equal (to 1e-6
    standard deviations), and so on: runs can be compared. A start that is given keeps its own order.

    Parameters
    ----------
    n_components : K.
    covariance : "full" | "tied" (one for all) | "diagonal" | "spherical" (one variance for each component).
    prior : None: maximum likelihood | "inverse-wishart": posterior mode, the prior having d + 2 degrees of freedom and
        the data's own covariance / K^(2/d) as its matrix (Fraley & Raftery 2007): no component can collapse.
    reg_covar : added to every variance, in the data's units squared, as scikit-learn does (its default is 1e-6). It
        belongs to no likelihood: the log-likelihood may fall by what it costs.
    tol, stop : EM ends when the "objective" | "q", per row in nats, or the "parameters", in standard units, change by
        less than `tol`.
    max_iter : M steps at most. n_init : starts; the best run is kept.
    init : "kmeans" | "random" (K rows as means, the data's covariance), or a given start: means (K, d),
        responsibilities (n, K), or MixtureParameters.
    hard : put every row wholly into its best component (classification EM).
    random_state : seed of the starts.

    Without a prior and `reg_covar` a component may collapse on a few rows, where the likelihood has no bound. Such
    a run is dropped; where all are, the prior is called in; an EstimationWarning says so.

    Attributes: `weights_`, `means_`, `covariances_`, `precisions_`, `precisions_cholesky_`, `converged_`, `n_iter_`,
    `lower_bound_` (the objective per row), `parameters_`, `prior_`, `trace_` (the best run's EMTrace), `runs_` (all).

    >>> X = np.array([[1.0, 2.0], [1.5, 1.0], [0.5, 0.0], [10.0, 2.0], [10.5, 1.0], [9.5, 0.0]])
    >>> model = GaussianMixture(2, covariance="spherical", random_state=0).fit(X)
    >>> model.means_.round(2).tolist(), model.predict([[0.0, 0.0], [12.0, np.nan]]).tolist()
    ([[1.0, 1.0], [10.0, 1.0]], [0, 1])
    """

    n_components: int = 1
    _: KW_ONLY
    covariance: Form = "full"
    prior: Literal["inverse-wishart"] | None = None
    reg_covar: float = 0.0
    tol: float = 1e-6
    stop: Stop = "objective"
    max_iter: int = 500
    n_init: int = 1
    init: Any = "kmeans"
    hard: bool = False
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to the rows X (n, d); y is ignored. A row of weight w counts as w rows, one of weight 0 is left out.

        Raises TableError on an infinite cell, a constant column, collinear columns or fewer distinct rows than
        components; ParameterError on a parameter that cannot be meant. Warns (EstimationWarning) of a collapse, and
        where the iterations run out.
        """
        self._check()
        rows, start = self._rows(X, sample_weight)
        if self.covariance in ("full", "tied"):
            refuse_matrices(self.n_components, len(rows.z))
        self._check_rows(rows)
        return self._fit_rows(rows, start, generator(self.random_state), self._climb)

    def _fit_rows(
        self, rows: StandardizedRows, start: Any, rng: np.random.Generator, climb: Callable[..., Runs[Components]]
    ) -> Self:
        """The best of the runs that `climb` makes of these rows, starts, random numbers and prior."""
        given = not isinstance(start, str)
        starts = [start] * (1 if given else self.n_init)
        tried = climb(rows, starts, rng, self.prior)
        if tried.best is None and not given:
            more = climb(rows, ["random"] * RESTARTS, rng, self.prior)
            tried = Runs(more.traces, tried.collapsed + more.collapsed)
        self.prior_ = self.prior
        collapsed = tried.collapsed
        if tried.best is None and self.prior is None:
            self.prior_ = "inverse-wishart"
            tried = climb(rows, starts, rng, self.prior_)
        if tried.best is None:
            raise tried.collapsed[0]
        self._take(rows, tried, tried.best, ordered=not given)
        self._warn(collapsed)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.intp]:
        """(n,) the component of each row after fitting."""
        return self.fit(X).predict(X)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """(n,) the likeliest component, the first of equals."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def predict_proba(self, X: Any) -> Array:
        """(n, K) responsibilities P(k|x). Raises UndefinedPosterior where a row is too far out for any density."""
        joint = self.predict_joint_log_proba(X)
        nowhere = np.flatnonzero(np.isneginf(joint).all(axis=1))
        if len(nowhere):
            raise UndefinedPosterior(
                "no component for {n} row(s): {rows}. They are so far from the data that every density is 0. "
                "Rows count from 0",
                tuple(nowhere.tolist()),
            )
        return normalize(joint)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """(n, K) log p(x, k) of the cells seen, in nats."""
        check_is_fitted(self, "parameters_")
        rows = standardized(self._matrix(X, reset=False), self._center, self._scale)
        with np.errstate(over="ignore", invalid="ignore"):
            joint = self._problem(rows, None).joint(to_standard(self.parameters_, self._center, self._scale))
        return np.where(np.isnan(joint), -np.inf, joint)

    def score_samples(self, X: Any) -> Array:
        """(n,) log p(x) of the cells seen, in nats."""
        return log_sum(self.predict_joint_log_proba(X), axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of log p(x) over the rows."""
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """−2 log p(X) + p log n, p the free parameters; smaller is better, as in scikit-learn."""
        return self._criterion(X, lambda n, _: self._n_parameters() * float(np.log(n)))

    def aic(self, X: Any) -> float:
        """−2 log p(X) + 2p; smaller is better."""
        return self._criterion(X, lambda n, _: 2.0 * self._n_parameters())

    def icl(self, X: Any) -> float:
        """BIC + 2 H, H the entropy of the responsibilities: components that overlap cost (Biernacki, Celeux & Govaert
        2000); smaller is better."""

        def cost(n: int, joint: Array) -> float:
            r = normalize(joint)
            return self._n_parameters() * float(np.log(n)) - 2.0 * float((r * np.where(r > 0, log(r), 0.0)).sum())

        return self._criterion(X, cost)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Array, NDArray[np.intp]]:
        """`n_samples` rows (n, d) drawn from the mixture, by component, and their components (n,)."""
        check_is_fitted(self, "parameters_")
        n_samples = checked_whole("n_samples", n_samples, 1)
        rng = check_random_state(self.random_state if random_state is None else random_state)
        counts = rng.multinomial(n_samples, self.weights_)
        roots = np.linalg.cholesky(self.parameters_.full())
        d = self.means_.shape[1]
        X = [m + rng.standard_normal((n, d)) @ r.T for m, r, n in zip(self.means_, roots, counts, strict=True)]
        return np.concatenate(X), np.repeat(np.arange(self.n_components), counts)

    def conditional(self, x: Any) -> Conditional:
        """The distribution of the missing cells (NaN) of one row x (d,), given the others.

        Raises TableError where no cell is missing.

        >>> X = np.array([[1.0, 2.0], [2.0, 4.1], [3.0, 5.9], [4.0, 8.0]])
        >>> filled = GaussianMixture(1).fit(X).conditional([2.5, np.nan])
        >>> filled.columns, filled.mean.round(3).tolist(), filled.sd.round(3).tolist()
        (('x1',), [5.0], [0.067])
        """
        check_is_fitted(self, "parameters_")
        x = to_pandas(x)
        row = self._matrix(x if isinstance(x, pd.DataFrame) else np.asarray(x, dtype=float).reshape(1, -1), reset=False)
        seen = ~np.isnan(row[0])
        if seen.all():
            raise TableError("no cell of the row is missing; set the one in question to NaN")
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(len(seen))])
        means, covariances = [], []
        for mean, covariance in zip(self.means_, self.parameters_.full(), strict=True):
            white, gain, rest = given_seen(seen, covariance)
            means.append(mean[~seen] + gain @ white @ (row[0][seen] - mean[seen]))
            covariances.append(rest)
        columns = tuple(str(name) for name, s in zip(names, seen, strict=True) if not s)
        frame = pd.DataFrame(row, columns=names) if hasattr(self, "feature_names_in_") else row
        return Conditional(columns, self.predict_proba(frame)[0], np.array(means), np.array(covariances))

    # fitting ----------------------------------------------------------------------------------------------------

    def _rows(self, X: Any, sample_weight: Any) -> tuple[StandardizedRows, Any]:
        """The rows that count, and where to start with them."""
        x = self._matrix(X, reset=True)
        weight, start = checked_weights(sample_weight, len(x)), self.init
        if weight is None or weight.all():
            return standardized(x, weight=weight), start
        there = weight > 0
        if not isinstance(start, str | MixtureParameters) and np.shape(start)[:1] == there.shape:  # responsibilities
            start = np.asarray(start)[there]
        return standardized(x[there], weight=weight[there]), start

    def _climb(
        self,
        rows: StandardizedRows,
        starts: Iterable[Any],
        rng: np.random.Generator,
        prior: str | None,
        *,
        expect: Callable[[Any, Components, bool], Any] | None = None,
        begin: Callable[..., Components] = starting_parameters,
    ) -> Runs[Components]:
        """EM from every start. Where the rows are not in memory, `expect` is the E step of their steps, and `begin`
        makes a start."""
        work = self._problem(rows, prior)
        model = _em_model(work, partial(expect, work) if expect else work.expect)
        climb = partial(em, model=model, stopping=self._stopping(rows), hard=bool(self.hard))
        return runs((partial(begin, work, start, self.n_components, rng) for start in starts), climb)

    def _climb_side_by_side(
        self, rows: StandardizedRows, starts: Iterable[MixtureParameters]
    ) -> list[EMTrace[Components] | Collapse]:
        """EM from every start at once: steps without their lower bounds, which no other number hangs on."""
        work = self._problem(rows, self.prior)
        begun = [to_standard(start, rows.center, rows.scale) for start in starts]
        return em_side_by_side(begun, _em_model(work, work.expect), stopping=self._stopping(rows), hard=bool(self.hard))

    def _stopping(self, rows: StandardizedRows) -> Stopping:
        return Stopping(self.stop, self.tol if self.stop == "parameters" else self.tol * rows.total, self.max_iter)

    def _take(
        self, rows: StandardizedRows, tried: Runs[Components], best: EMTrace[Components], *, ordered: bool
    ) -> None:
        """The best of the runs becomes the fit; its components are `ordered` by their means, or stay as they began."""
        self._center, self._scale = rows.center, rows.scale
        order = in_order(best.last.parameters.means) if ordered else np.arange(self.n_components)
        self.trace_ = best.mapped(
            lambda theta: to_natural(theta, order, self.covariance, rows.center, rows.scale), order
        )
        self.runs_ = tried
        self._settle(rows.total)

    def _problem(self, rows: StandardizedRows, prior: str | None) -> Any:
        wishart = None if prior is None else default_prior(rows, self.n_components, self.covariance)
        return em_steps(rows, self.covariance, float(self.reg_covar) / rows.scale**2, wishart)

    def _settle(self, n: float) -> None:
        last = self.trace_.last
        self.parameters_ = last.parameters
        self.weights_, self.means_, self.covariances_, _ = last.parameters
        if self.covariance in ("full", "tied"):
            self.precisions_cholesky_ = np.linalg.inv(np.linalg.cholesky(self.covariances_)).swapaxes(-1, -2)
            self.precisions_ = self.precisions_cholesky_ @ self.precisions_cholesky_.swapaxes(-1, -2)
        else:
            self.precisions_cholesky_ = 1.0 / np.sqrt(self.covariances_)
            self.precisions_ = self.precisions_cholesky_**2
        self.converged_, self.n_iter_ = self.trace_.converged, self.trace_.n_iter
        self.lower_bound_ = last.objective / n

    def _warn(self, collapsed: tuple[Collapse, ...]) -> None:
        if collapsed and self.prior_ != self.prior:
            warn(
                "every run collapsed ({reason}); the covariances now have an inverse-Wishart prior. Fewer components, "
                "reg_covar or prior='inverse-wishart' avoid this",
                reason=collapsed[0].message,
            )
        else:
            warn_of_collapses(collapsed)
        floor = float(self.reg_covar)
        least = np.linalg.eigvalsh(self.parameters_.full())[:, 0]
        if floor and self.prior_ is None and (low := least <= 1.01 * floor).any():
            warn(
                "component(s) {names} have no more variance than reg_covar={floor}: they have collapsed on a few rows, "
                "or columns are collinear",
                names=Listing(map(str, np.flatnonzero(low) + 1)),
                floor=f"{floor:g}",
            )
        if self.max_iter > 0:
            warn_unless_converged(self.trace_)

    def _check(self) -> None:
        for name, allowed in _WORDS.items():
            checked_word(name, getattr(self, name), allowed)
        if isinstance(self.init, str):
            checked_word("init", self.init, ("kmeans", "random"))
        for name, least in (("n_components", 1), ("n_init", 1), ("max_iter", 0)):
            checked_whole(name, getattr(self, name), least)
        for name in ("reg_covar", "tol"):
            checked_number(name, getattr(self, name))

    def _matrix(self, X: Any, *, reset: bool) -> Array:
        """(n, d) floats with NaN for missing."""
        X = numeric_input(self, X, reset=reset, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=1 + reset)
        infinite = np.isinf(X)
        if infinite.any():
            j = int(infinite.any(axis=0).argmax())
            raise infinity(self._name(j), infinite[:, j])
        return np.asarray(X)

    def _name(self, j: int) -> str:
        return str(self.feature_names_in_[j]) if hasattr(self, "feature_names_in_") else f"x{j}"

    def _check_rows(self, rows: StandardizedRows) -> None:
        unknown = np.zeros(len(rows.z), dtype=bool) if rows.seen is None else np.logical_not(rows.seen.any(axis=1))
        constant = np.logical_not(rows.z.any(axis=1))
        self._check_table(rows, rows.n, distinct_rows(rows, self.n_components), unknown, constant)

    def _check_table(
        self, rows: StandardizedRows, n: int, distinct: int, unknown: NDArray[np.bool_], constant: NDArray[np.bool_]
    ) -> None:
        """Refuses n rows of which too few are `distinct`, and columns (d,) that are `unknown`, `constant`, or linear
        functions of others."""
        if distinct < self.n_components:
            raise TableError(
                "n_components={k}, but n_samples = {n}, with {found} distinct row(s); a component needs a row of its "
                "own. Take fewer components",
                k=self.n_components,
                n=n,
                found=distinct,
            )
        if unknown.any():
            raise TableError("column '{column}' is missing in every row; leave it out",
                             column=self._name(int(unknown.argmax())))  # fmt: skip
        if self.reg_covar > 0:
            return
        if constant.any():
            raise TableError("column '{column}' has the same value in every row; leave it out, or take reg_covar > 0",
                             column=self._name(int(constant.argmax())))  # fmt: skip
        singular = pivots(rows.covariance) < SINGULAR
        if self.covariance in ("full", "tied") and singular.any():
            raise TableError(
                "column '{column}' is a linear function of the columns before it, or there are too few rows: no "
                "covariance has an inverse. Leave it out, take covariance='diagonal', or reg_covar > 0",
                column=self._name(int(singular.argmax())),
            )

    def _n_parameters(self) -> int:
        check_is_fitted(self, "parameters_")
        k, d = self.means_.shape
        spread = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diagonal": k * d, "spherical": k}
        return int(k - 1 + k * d + spread[self.covariance])

    def _criterion(self, X: Any, cost: Callable[[int, Array], float]) -> float:
        joint = self.predict_joint_log_proba(X)
        return -2.0 * float(log_sum(joint, axis=1).sum()) + cost(len(joint), joint)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _em_model(work: Any, expect: Callable[[Components, bool], Any]) -> EMModel[Components, Any]:
    log_prior, slack = work.log_prior if work.prior is not None else None, work.slack if work.ridge.any() else None
    return EMModel(expect, work.estimate, work.complete, log_prior, slack)


_WORDS: dict[str, tuple[Any, ...]] = {"covariance": FORMS, "stop": STOPS, "prior": (None, "inverse-wishart")}


def mixture_table(X: Any, ks: Iterable[int], **parameters: Any) -> pd.DataFrame:
    """A GaussianMixture for every K in `ks`: log-likelihood, free parameters, BIC, AIC, ICL (smaller is better), and
    whether it converged. `parameters` are the mixture's.

    >>> X = np.array([[0.0], [0.1], [0.3], [5.0], [5.2], [5.3], [0.2], [5.1]])
    >>> table = mixture_table(X, [1, 2], random_state=0)
    >>> int(table["bic"].idxmin()), table["parameters"].tolist()
    (2, [2, 5])
    """
    lines = []
    for k in steps(ks):
        model = GaussianMixture(k, **parameters).fit(X)
        lines.append(
            {
                "k": k,
                "log_likelihood": model.trace_.last.log_likelihood,
                "parameters": model._n_parameters(),
                "bic": model.bic(X),
                "aic": model.aic(X),
                "icl": model.icl(X),
                "converged": model.converged_,
            }
        )
    return pd.DataFrame(lines).set_index("k")
