"""Bayesian classifiers over mergeable sufficient statistics, with every posterior open to inspection.

Tables. `read_table` reads CSV, Excel, Parquet or ARFF into a `Reading`; `Schema` and `Variable` say what each column
holds (`help(Variable)` lists the kinds); `dataset_names` and `load_dataset` give the embedded data sets;
`MDLPDiscretizer` cuts numbers into intervals.

Naive Bayes. `NaiveBayes` takes strings, numbers, texts and missing cells in one model, with any `Dirichlet` prior;
`LazyNaiveBayes` counts when it is asked, `WeightedNaiveBayes` weighs the columns, `SelectiveNaiveBayes` (or
`select_features`) chooses them by exact leave-one-out. `GaussianNB`, `CategoricalNB`, `MultinomialNB`, `BernoulliNB`
and `ComplementNB` have scikit-learn's names and parameters; `ComplementNaiveBayes` takes a table of texts. `LookUp`
compiles a model into a table and writes it as a Python file that needs nothing but Python; `costs` says what look-up,
lazy and incremental use cost.

One-dependence models: `SPODE`, `TAN`, `AODE`, `KDependence`.

Bayesian networks. `BayesianNetwork` learns a structure (hill climbing, K2, the exact optimum), answers (`query`,
`most_probable`), samples (`gibbs`, `likelihood_weighting`, `sample`), completes what is missing or hidden by EM, and
reads and writes BIF; its structure is a `DAG`, what it has learnt a `Network` of one `CPT` a column.
`BayesianNetworkClassifier` predicts one of its nodes. `bayes_engine.exchange` has XMLBIF and CSV.

Gaussians. `LinearDiscriminantAnalysis`, `QuadraticDiscriminantAnalysis`, `FisherDiscriminant` (a projection).

EM. `GaussianMixture` (it may start at `MixtureParameters`; `mixture_table` compares numbers of components by BIC, AIC
and ICL) and `SemiSupervisedNB` (labels partly or all hidden).

Every generative classifier is a `GenerativeClassifier`, which a model of one's own extends (`SemiNaive`, the base of
the one-dependence models, need not be named). What each has besides scikit-learn's methods: `partial_fit`, `merge` and
`forget`, which add and subtract statistics and agree with `fit` (counts exactly, variances to nine digits; where an
outlier leaves fewer, `forget` raises `PrecisionLost`); `with_params` (new estimation parameters, no recount); exact
`leave_one_out_log_proba`; `explain`, a `Ledger` of the log terms behind each posterior, with a `Status` for each row;
`risk` and `decide`. `class_prior_` holds numbers in the order of `classes_`, `prior_by_class` the same by label.

Decisions. `LossMatrix` (rows decide, columns are the truth; `with_refusal`, and `with_amount` for losses per unit of a
row's amount) makes a `Decision`. Its `flip_margins` are `FlipMargins` of `FlipMargin`s, `implied_losses` gives
`ImpliedLosses`, `refusal_for_error` a `Refusal`. `MinimumRiskClassifier` decides inside a pipeline, `risk_scorer`
scores in a grid search, `held_out` and `estimated_risk` evaluate under losses and a prior of use. `ask` and `interview`
say what to observe next (`Inquiry`).

How sure. `CalibratedClassifier` (temperature, Platt, isotonic); `credible` intervals of the parameters; `plausible`
bands on P(c|x).

Larger than memory. `collect_parquet`, `collect_csv` and `collect_batches` count block by block what a fit on all rows
would count (`bayes_engine.scale`), `cut_schema` finds cut points in a pass before; `fit_stats` makes it a model, and
`fit_files` goes through all passes (`fit_batches` over batches that a function gives anew), `learn_files` through those
of a structure search. `held_out_risk` judges it in folds of the files, `evaluate_files` on other files;
`classify_files` writes decisions and posteriors beside the rows.

Files. `save_model` writes an estimator to one file without pickle, `load_model` gives back the same model to the last
bit; any other file is refused with a `StoreError`.

Errors are a `BayesEngineError` (`UndefinedPosterior` where a row has no posterior); an `EstimationWarning` names an
estimate that had to be replaced or a column that was set aside.
"""

import gc
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayes_engine.datasets import dataset_names, load_dataset
    from bayes_engine.decision.ask import Inquiry, ask, interview
    from bayes_engine.decision.evaluate import estimated_risk, risk_scorer
    from bayes_engine.decision.held_out import held_out
    from bayes_engine.decision.loss import Decision, LossMatrix
    from bayes_engine.decision.margins import FlipMargin, FlipMargins, ImpliedLosses
    from bayes_engine.decision.refusal import Refusal
    from bayes_engine.errors import BayesEngineError, EstimationWarning, StoreError, UndefinedPosterior
    from bayes_engine.factors.network import CPT, Network
    from bayes_engine.ledger import Ledger, Status
    from bayes_engine.models.aode import AODE
    from bayes_engine.models.base import GenerativeClassifier
    from bayes_engine.models.calibrated import CalibratedClassifier
    from bayes_engine.models.complement import ComplementNaiveBayes
    from bayes_engine.models.costs import costs
    from bayes_engine.models.counted_naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB
    from bayes_engine.models.discretizer import MDLPDiscretizer
    from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from bayes_engine.models.fisher import FisherDiscriminant
    from bayes_engine.models.gaussian_naive_bayes import GaussianNB
    from bayes_engine.models.k_dependence import KDependence
    from bayes_engine.models.lazy import LazyNaiveBayes
    from bayes_engine.models.look_up import LookUp
    from bayes_engine.models.minimum_risk import MinimumRiskClassifier
    from bayes_engine.models.mixture import GaussianMixture, mixture_table
    from bayes_engine.models.mixture_components import MixtureParameters
    from bayes_engine.models.naive_bayes import NaiveBayes
    from bayes_engine.models.network import BayesianNetwork
    from bayes_engine.models.network_classifier import BayesianNetworkClassifier
    from bayes_engine.models.selective import SelectiveNaiveBayes, select_features
    from bayes_engine.models.semi_supervised import SemiSupervisedNB
    from bayes_engine.models.spode import SPODE
    from bayes_engine.models.tan import TAN
    from bayes_engine.models.weighted import WeightedNaiveBayes
    from bayes_engine.priors import Dirichlet
    from bayes_engine.scale import (
        classify_files,
        collect_batches,
        collect_csv,
        collect_parquet,
        cut_schema,
        evaluate_files,
        fit_batches,
        fit_files,
        held_out_risk,
        learn_files,
    )
    from bayes_engine.store import load_model, save_model
    from bayes_engine.structure.graph import DAG
    from bayes_engine.table.read import Reading, read_table
    from bayes_engine.table.schema import Schema, Variable
    from bayes_engine.uncertainty.credible import credible
    from bayes_engine.uncertainty.plausible import plausible

__all__ = [
    "AODE",
    "CPT",
    "DAG",
    "SPODE",
    "TAN",
    "BayesEngineError",
    "BayesianNetwork",
    "BayesianNetworkClassifier",
    "BernoulliNB",
    "CalibratedClassifier",
    "CategoricalNB",
    "ComplementNB",
    "ComplementNaiveBayes",
    "Decision",
    "Dirichlet",
    "EstimationWarning",
    "FisherDiscriminant",
    "FlipMargin",
    "FlipMargins",
    "GaussianMixture",
    "GaussianNB",
    "GenerativeClassifier",
    "ImpliedLosses",
    "Inquiry",
    "KDependence",
    "LazyNaiveBayes",
    "Ledger",
    "LinearDiscriminantAnalysis",
    "LookUp",
    "LossMatrix",
    "MDLPDiscretizer",
    "MinimumRiskClassifier",
    "MixtureParameters",
    "MultinomialNB",
    "NaiveBayes",
    "Network",
    "QuadraticDiscriminantAnalysis",
    "Reading",
    "Refusal",
    "Schema",
    "SelectiveNaiveBayes",
    "SemiSupervisedNB",
    "Status",
    "StoreError",
    "UndefinedPosterior",
    "Variable",
    "WeightedNaiveBayes",
    "ask",
    "classify_files",
    "collect_batches",
    "collect_csv",
    "collect_parquet",
    "costs",
    "credible",
    "cut_schema",
    "dataset_names",
    "estimated_risk",
    "evaluate_files",
    "fit_batches",
    "fit_files",
    "held_out",
    "held_out_risk",
    "interview",
    "learn_files",
    "load_dataset",
    "load_model",
    "mixture_table",
    "plausible",
    "read_table",
    "risk_scorer",
    "save_model",
    "select_features",
]

__version__ = "0.1.0"

_HOMES = {
    "datasets": "dataset_names load_dataset",
    "decision.ask": "Inquiry ask interview",
    "decision.evaluate": "estimated_risk risk_scorer",
    "decision.held_out": "held_out",
    "decision.loss": "Decision LossMatrix",
    "decision.margins": "FlipMargin FlipMargins ImpliedLosses",
    "decision.refusal": "Refusal",
    "errors": "BayesEngineError EstimationWarning StoreError UndefinedPosterior",
    "factors.network": "CPT Network",
    "ledger": "Ledger Status",
    "models.aode": "AODE",
    "models.base": "GenerativeClassifier",
    "models.calibrated": "CalibratedClassifier",
    "models.complement": "ComplementNaiveBayes",
    "models.costs": "costs",
    "models.counted_naive_bayes": "BernoulliNB CategoricalNB ComplementNB MultinomialNB",
    "models.discretizer": "MDLPDiscretizer",
    "models.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "models.fisher": "FisherDiscriminant",
    "models.gaussian_naive_bayes": "GaussianNB",
    "models.k_dependence": "KDependence",
    "models.lazy": "LazyNaiveBayes",
    "models.look_up": "LookUp",
    "models.minimum_risk": "MinimumRiskClassifier",
    "models.mixture": "GaussianMixture mixture_table",
    "models.mixture_components": "MixtureParameters",
    "models.naive_bayes": "NaiveBayes",
    "models.network": "BayesianNetwork",
    "models.network_classifier": "BayesianNetworkClassifier",
    "models.selective": "SelectiveNaiveBayes select_features",
    "models.semi_supervised": "SemiSupervisedNB",
    "models.spode": "SPODE",
    "models.tan": "TAN",
    "models.weighted": "WeightedNaiveBayes",
    "priors": "Dirichlet",
    "scale": (
        "classify_files collect_batches collect_csv collect_parquet cut_schema evaluate_files fit_batches fit_files"
        " held_out_risk learn_files"
    ),
    "store": "load_model save_model",
    "structure.graph": "DAG",
    "table.read": "Reading read_table",
    "table.schema": "Schema Variable",
    "uncertainty.credible": "credible",
    "uncertainty.plausible": "plausible",
}
"""The modules that the public names are in. They are imported when a name is asked for."""
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

_RENAMED = {"Stand": "FlipMargin"}
"""Names that were public once, with what they are called now."""


def _imported(name: str) -> ModuleType:
    """A module of the package, imported without collections of garbage: each goes through all that SciPy, pandas and
    scikit-learn have made so far, and finds next to nothing (a tenth of the time)."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(f"{__name__}.{name}")
    finally:
        if collects:
            gc.enable()


if not TYPE_CHECKING:  # it would have every misspelt name pass

    def __getattr__(name: str) -> object:
        """A public name or a part of the package, at its first use. Raises AttributeError where it is neither."""
        if name in _RENAMED:
            warnings.warn(
                f"bayes_engine.{name} is called {_RENAMED[name]} now; the old name will go",
                DeprecationWarning,
                stacklevel=2,
            )
            return getattr(sys.modules[__name__], _RENAMED[name])
        if name in _HOME:
            globals()[name] = value = getattr(_imported(_HOME[name]), name)
            return value
        if name.isidentifier() and not name.startswith("_") and find_spec(f"{__name__}.{name}"):
            return _imported(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
