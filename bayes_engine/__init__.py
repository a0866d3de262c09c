"""Bayesian classifiers over mergeable statistics, with every posterior open to inspection."""

from bayes_engine.datasets import dataset_names, load_dataset
from bayes_engine.decision.ask import Inquiry, ask, interview
from bayes_engine.decision.evaluate import estimated_risk, held_out, risk_scorer
from bayes_engine.decision.loss import Decision, LossMatrix
from bayes_engine.decision.margins import FlipMargins, ImpliedLosses, Refusal, Stand
from bayes_engine.errors import BayesEngineError, EstimationWarning, StoreError, UndefinedPosterior
from bayes_engine.ledger import Ledger, Status
from bayes_engine.models.calibrated import CalibratedClassifier
from bayes_engine.models.classic import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from bayes_engine.models.costs import costs
from bayes_engine.models.discretizer import MDLPDiscretizer
from bayes_engine.models.fisher import FisherDiscriminant
from bayes_engine.models.gaussian import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.lazy import LazyNaiveBayes
from bayes_engine.models.look_up import LookUp
from bayes_engine.models.minimum_risk import MinimumRiskClassifier
from bayes_engine.models.mixture import GaussianMixture, mixture_table
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.network import BayesianNetwork
from bayes_engine.models.network_classifier import BayesianNetworkClassifier
from bayes_engine.models.one_dependence import AODE, SPODE, TAN, KDependence
from bayes_engine.models.selective import SelectiveNaiveBayes, select_features
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from bayes_engine.models.weighted import WeightedNaiveBayes
from bayes_engine.priors import Dirichlet
from bayes_engine.store import load_model, save_model
from bayes_engine.table.read import Reading, read_table
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.uncertainty.credible import credible
from bayes_engine.uncertainty.plausible import plausible

__all__ = [
    "AODE",
    "SPODE",
    "TAN",
    "BayesEngineError",
    "BayesianNetwork",
    "BayesianNetworkClassifier",
    "BernoulliNB",
    "CalibratedClassifier",
    "CategoricalNB",
    "ComplementNB",
    "Decision",
    "Dirichlet",
    "EstimationWarning",
    "FisherDiscriminant",
    "FlipMargins",
    "GaussianMixture",
    "GaussianNB",
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
    "MultinomialNB",
    "NaiveBayes",
    "QuadraticDiscriminantAnalysis",
    "Reading",
    "Refusal",
    "Schema",
    "SelectiveNaiveBayes",
    "SemiSupervisedNB",
    "Stand",
    "Status",
    "StoreError",
    "UndefinedPosterior",
    "Variable",
    "WeightedNaiveBayes",
    "ask",
    "costs",
    "credible",
    "dataset_names",
    "estimated_risk",
    "held_out",
    "interview",
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
