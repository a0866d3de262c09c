"""What of each estimator travels, and how it is put together again.

Parameters and statistics travel. What is derived from them (factors, scatter matrices, directions) is estimated anew by
the code that a fit runs, so a loaded model can be updated, merged and re-smoothed as the one that was saved; and a
parameter that was set without a fit is in force from then on. Of EM the figures of every step travel, the parameters
and the responsibilities of the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.em import EMTrace, Runs
from bayes_engine.errors import StoreError
from bayes_engine.factors.network import Network
from bayes_engine.models.aode import AODE
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.calibrated import CalibratedClassifier, Isotonic, Platt, Temperature
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.models.counted_naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB
from bayes_engine.models.discretizer import MDLPDiscretizer
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.estimator_around import take_columns
from bayes_engine.models.fisher import FisherDiscriminant
from bayes_engine.models.gaussian_naive_bayes import GaussianNB
from bayes_engine.models.k_dependence import KDependence
from bayes_engine.models.lazy import LazyNaiveBayes, StoredRows
from bayes_engine.models.minimum_risk import MinimumRiskClassifier
from bayes_engine.models.mixture import GaussianMixture
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.network import BayesianNetwork
from bayes_engine.models.network_classifier import BayesianNetworkClassifier
from bayes_engine.models.selective import Selection, SelectiveNaiveBayes
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from bayes_engine.models.spode import SPODE
from bayes_engine.models.tan import TAN
from bayes_engine.models.weighted import WeightedNaiveBayes
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.store.validation import (
    check_calibrator,
    check_rows,
    check_schema,
    check_shares,
    check_statistics,
)
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.search_trace import SearchResult
from bayes_engine.table.discretize import Split
from bayes_engine.table.schema import Schema

State = Mapping[str, Any]


def _held(model: Any, form: Form) -> dict[str, Any]:
    """The attributes as they are."""
    return {name: getattr(model, name) for name in (*form.fitted, *form.optional) if hasattr(model, name)}


class Form(NamedTuple):
    """How one estimator is stored: its `fitted` attributes by name, with what each must be; `settle` puts them back
    into one with its parameters, `of` takes them from a model; those that may be absent are `optional`."""

    cls: type
    fitted: Mapping[str, Any]
    settle: Callable[[Any, State], None]
    optional: Mapping[str, Any] = MappingProxyType({})
    of: Callable[[Any, Form], dict[str, Any]] = _held


def _put(model: Any, state: State) -> None:
    for name, value in state.items():
        setattr(model, name, value)


# models of statistics -------------------------------------------------------------------------------------------------


def _settle_counted(model: GenerativeClassifier, state: State) -> None:
    stats = state["stats_"]
    if isinstance(stats, SufficientStatistics):
        check_statistics(stats)
    else:
        check_rows(stats)
    columns = len(stats.schema) or (0 if stats.terms is None else len(stats.terms.names))
    wide = state["n_features_in_"]  # a schema may name fewer columns than a fit was given
    if wide < columns or len(state.get("feature_names_in_", range(wide))) != wide:
        raise StoreError("there are statistics of {n} columns, not of those that are named", n=columns)
    parents = state.get("parents_", {})
    chosen = {*parents, *state.get("kept_", ()), *(name for names in parents.values() for name in names)}
    if not chosen <= set(stats.schema.names):
        raise StoreError("the columns that the model chose are not in its table")
    _put(model, {name: value for name, value in state.items() if name != "stats_"})
    model._settle(stats)


_NAMED: Mapping[str, Any] = {"feature_names_in_": NDArray[np.object_]}
_CHOSEN: Mapping[str, Any] = {
    "candidate_scores_": pd.DataFrame,
    "graph_": DAG,
    "kept_": tuple[str, ...],
    "learnt_": dict[str, float],
    "ledoit_wolf_": dict[Any, float],
    "parents_": dict[str, tuple[str, ...]],
    "search_": SearchResult | None,
    "selection_": Selection,
    "trace_": tuple[float, ...],
}
"""What a first fit chooses from its rows (`structural`), and what that is."""


def _counted(cls: type[GenerativeClassifier], stats: type = SufficientStatistics) -> Form:
    chosen = {name: hint for name, hint in _CHOSEN.items() if name in cls.structural}
    return Form(cls, {"stats_": stats, "n_features_in_": int}, _settle_counted, {**_NAMED, **chosen})


# models around models -------------------------------------------------------------------------------------------------


def _settle_calibrated(model: CalibratedClassifier, state: State) -> None:
    inner = state["estimator_"]
    n_classes = len(inner.classes_)
    check_calibrator(state["calibrator_"], n_classes)
    check_shares(state["class_prior_"], n_classes, "class_prior_")
    _put(model, {name: state[name] for name in ("calibrator_", "class_prior_")})
    model._around(inner)


def _settle_minimum_risk(model: MinimumRiskClassifier, state: State) -> None:
    inner = state["estimator_"]
    LossMatrix.from_any(state["loss_"], inner.classes_.tolist())  # raises where it is of other classes
    _put(model, {"estimator_": inner, "classes_": inner.classes_, "loss_": state["loss_"]})
    take_columns(model, inner)


def _settle_discretizer(model: MDLPDiscretizer, state: State) -> None:
    rising = (np.isfinite(cuts).all() and (np.diff(cuts) > 0).all() for cuts in state["cuts_"].values())
    if len(state["cuts_"]) != state["n_features_in_"] or not all(rising):
        raise StoreError("the cuts do not rise, or are not of as many columns as there are")
    _put(model, state)


# models of EM ---------------------------------------------------------------------------------------------------------


def _thin(trace: EMTrace[Any], *, last: bool = True) -> EMTrace[Any]:
    """The figures of every step; of the last one its responsibilities too, and if asked its parameters."""
    steps = [replace(step, parameters=None, responsibilities=None) for step in trace.steps[:-1]]
    end = trace.last if last else replace(trace.last, parameters=None)
    return replace(trace, steps=(*steps, end))


def _thin_runs(runs: Runs[Any], *, last: bool = True) -> Runs[Any]:
    return Runs(tuple(_thin(trace, last=last) for trace in runs.traces), runs.collapsed)


def _with_steps(traces: tuple[EMTrace[Any], ...]) -> None:
    if not all(trace.steps for trace in traces):
        raise StoreError("a trace of EM has no step")


def _of_mixture(model: GaussianMixture, form: Form) -> dict[str, Any]:
    return {**_held(model, form), "trace_": _thin(model.trace_), "runs_": _thin_runs(model.runs_)}


def _settle_mixture(model: GaussianMixture, state: State) -> None:
    _with_steps((state["trace_"], *state["runs_"].traces))
    theta, d = state["trace_"].last.parameters, state["n_features_in_"]
    k = len(theta.weights)
    check_shares(theta.weights, k, "weights_")
    shapes = {"full": (k, d, d), "tied": (d, d), "diagonal": (k, d), "spherical": (k,)}
    sound = theta.form == model.covariance and k == model.n_components and theta.means.shape == (k, d)
    if not sound or theta.covariances.shape != shapes[theta.form]:
        raise StoreError("the mixture's means and covariances are not those of its components")
    units = state["_center"].shape == state["_scale"].shape == (d,) and (state["_scale"] > 0).all()
    finite = all(np.isfinite(a).all() for a in (theta.means, theta.covariances, state["_center"], state["_scale"]))
    least = np.linalg.eigvalsh(theta.covariances) if finite and theta.form in ("full", "tied") else theta.covariances
    if not units or not finite or (least <= 0).any():
        raise StoreError("the mixture has a covariance or a scale that is not positive")
    _put(model, {name: value for name, value in state.items() if name != "lower_bound_"})
    model._settle(1.0)
    model.lower_bound_ = state["lower_bound_"]


def _of_semi_supervised(model: SemiSupervisedNB, form: Form) -> dict[str, Any]:
    return {**_held(model, form), "runs_": _thin_runs(model.runs_, last=False)}


def _settle_semi_supervised(model: SemiSupervisedNB, state: State) -> None:
    """The parameters of the best run's last step are the estimator's; those of other runs do not travel."""
    inner, runs = state["estimator_"], state["runs_"]
    _with_steps(runs.traces)
    best = runs.best
    if best is None:
        raise StoreError("a trace of EM has no step")
    end = replace(best.last, parameters=inner.factor_)
    model.trace_ = replace(best, steps=(*best.steps[:-1], end))
    model.runs_ = Runs(tuple(model.trace_ if t is best else t for t in runs.traces), runs.collapsed)
    model.converged_, model.n_iter_ = best.converged, max(best.n_iter, 1)
    if best.last.responsibilities is not None:  # there are none of a fit to files
        model.responsibilities_ = best.last.responsibilities
    _put(model, {name: state[name] for name in ("estimator_", "n_features_in_", *_NAMED) if name in state})


def _of_network(model: BayesianNetwork, form: Form) -> dict[str, Any]:
    """Where the tables come from counts alone, the graph and the counts."""
    whole = _held(model, form)
    if model.trace_ is not None:
        whole["trace_"] = _thin(model.trace_, last=False)
    if model.runs_ is not None:
        whole["runs_"] = _thin_runs(model.runs_)
    counted = hasattr(model, "stats_") and model.trace_ is None
    return {name: value for name, value in whole.items() if name != ("network_" if counted else "graph_")}


def _settle_network(model: BayesianNetwork, state: State) -> None:
    check_schema(state["schema_"])
    stats, trace = state.get("stats_"), state["trace_"]
    if stats is not None:
        check_statistics(stats)
    if stats is not None and trace is None:
        model._settle(stats, state["graph_"])
    else:
        network = state["network_"]
        if trace is not None:
            _with_steps((trace,))
            trace = replace(trace, steps=(*trace.steps[:-1], replace(trace.last, parameters=network)))
        if stats is not None:
            model.stats_ = stats
        model.schema_, model.runs_ = state["schema_"], state["runs_"]
        model._take(network, trace)
    if set(model.network_.names) != set(model.schema_.names):
        raise StoreError("the network has other nodes than its schema")
    model.search_ = state["search_"]


# the closed table -----------------------------------------------------------------------------------------------------

_CLASSIFIER = GenerativeClassifier
_OURS = GenerativeClassifier | FisherDiscriminant | CalibratedClassifier | SemiSupervisedNB | MinimumRiskClassifier
FORMS: Mapping[str, Form] = {
    "AODE": _counted(AODE),
    "BayesianNetwork": Form(
        BayesianNetwork,
        {"schema_": Schema, "search_": SearchResult | None, "runs_": Runs | None, "trace_": EMTrace | None},
        _settle_network,
        {"stats_": SufficientStatistics, "network_": Network, "graph_": DAG},
        _of_network,
    ),
    "BayesianNetworkClassifier": _counted(BayesianNetworkClassifier),
    "BernoulliNB": _counted(BernoulliNB),
    "CalibratedClassifier": Form(
        CalibratedClassifier,
        {"estimator_": _CLASSIFIER, "calibrator_": Temperature | Platt | Isotonic, "class_prior_": NDArray[np.float64]},
        _settle_calibrated,
    ),
    "CategoricalNB": _counted(CategoricalNB),
    "ComplementNB": _counted(ComplementNB),
    "ComplementNaiveBayes": _counted(ComplementNaiveBayes),
    "FisherDiscriminant": Form(
        FisherDiscriminant,
        {"gaussian_": LinearDiscriminantAnalysis},
        lambda model, state: model._settle(state["gaussian_"]),
    ),
    "GaussianMixture": Form(
        GaussianMixture,
        {
            "n_features_in_": int,
            "_center": NDArray[np.float64],
            "_scale": NDArray[np.float64],
            "prior_": str | None,
            "trace_": EMTrace,
            "runs_": Runs,
            "lower_bound_": float,
        },
        _settle_mixture,
        _NAMED,
        _of_mixture,
    ),
    "GaussianNB": _counted(GaussianNB),
    "KDependence": _counted(KDependence),
    "LazyNaiveBayes": _counted(LazyNaiveBayes, StoredRows),
    "LinearDiscriminantAnalysis": _counted(LinearDiscriminantAnalysis),
    "MDLPDiscretizer": Form(
        MDLPDiscretizer,
        {"cuts_": dict[str, tuple[float, ...]], "trace_": dict[str, tuple[Split, ...]], "n_features_in_": int},
        _settle_discretizer,
        _NAMED,
    ),
    "MinimumRiskClassifier": Form(
        MinimumRiskClassifier, {"estimator_": _OURS, "loss_": LossMatrix}, _settle_minimum_risk
    ),
    "MultinomialNB": _counted(MultinomialNB),
    "NaiveBayes": _counted(NaiveBayes),
    "QuadraticDiscriminantAnalysis": _counted(QuadraticDiscriminantAnalysis),
    "SPODE": _counted(SPODE),
    "SelectiveNaiveBayes": _counted(SelectiveNaiveBayes),
    "SemiSupervisedNB": Form(
        SemiSupervisedNB,
        {"estimator_": _CLASSIFIER, "runs_": Runs, "n_features_in_": int},
        _settle_semi_supervised,
        _NAMED,
        _of_semi_supervised,
    ),
    "TAN": _counted(TAN),
    "WeightedNaiveBayes": _counted(WeightedNaiveBayes),
}
"""Every estimator that a file may hold, by its tag in files. A tag stays as it is when its class is renamed."""
