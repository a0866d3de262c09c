"""Bayesian classifiers over mergeable statistics, with every posterior open to inspection."""

from bayes_engine.decision.loss import Decision, LossMatrix
from bayes_engine.errors import BayesEngineError, UndefinedPosterior
from bayes_engine.ledger import Ledger, Status
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.table.schema import Schema, Variable

__all__ = [
    "BayesEngineError",
    "Decision",
    "Ledger",
    "LossMatrix",
    "NaiveBayes",
    "Schema",
    "Status",
    "UndefinedPosterior",
    "Variable",
]

__version__ = "0.1.0"
