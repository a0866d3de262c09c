"""What is on screen, as the quantities of a lesson ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pandas as pd

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.decision.two_gaussians import TwoGaussians
from bayes_engine.errors import BayesEngineError
from bayes_engine.factors.network import Network
from bayes_engine.inference.forward_sampling import Places
from bayes_engine.ledger import Ledger
from bayes_engine.logspace import Array
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.em_runs import GaussianMixtureRun, HiddenLabelRun
from bayes_engine.models.network import BayesianNetwork
from bayes_engine.models.projection import NumericRows, Projection
from bayes_engine.models.tan import TAN
from bayes_engine.structure.search_trace import SearchResult
from bayes_engine.table.roles import put
from bayes_engine.workbench.derivation.hidden_column import HiddenColumn
from bayes_engine.workbench.laboratory.truth import Truth


def case_as_row(case: pd.DataFrame, target: str) -> pd.DataFrame:
    """A case (a frame of one row) as a row of a table that has the class as a column like any other: not known."""
    return put(case, {target: pd.Series([None], index=case.index, dtype=object)})


class InUse(Protocol):
    """What is on screen, each part computed when it is asked for."""

    @property
    def X(self) -> pd.DataFrame:
        """The features of the table in use, and `y` its classes."""

    @property
    def y(self) -> Any: ...
    @property
    def model(self) -> GenerativeClassifier:
        """The active model, before any calibration."""

    @property
    def ledger(self) -> Ledger:
        """The case explained, at the prior of use."""

    @property
    def case(self) -> pd.DataFrame:
        """The case, a frame of one row."""

    @property
    def loss(self) -> LossMatrix:
        """The losses of the case."""

    @property
    def prior(self) -> Mapping[Any, float]:
        """The prior of use, or the model's own."""

    @property
    def families(self) -> tuple[Any, TAN, Any]:
        """Naive Bayes, TAN and AODE of the page Dependence."""

    @property
    def pairs(self) -> TAN:
        """The tree of the page Dependence, from which its pairs are."""

    @property
    def network(self) -> Network:
        """The network in use; `evidence` what is observed, and `event` what Gibbs sampling is asked for, as places."""

    @property
    def evidence(self) -> Mapping[str, Any]: ...
    @property
    def event(self) -> tuple[Network, Places, Places]: ...
    @property
    def search(self) -> SearchResult:
        """The search that found the network learned from the table. Raises BayesEngineError where none did."""

    @property
    def learned(self) -> tuple[BayesianNetwork, str]:
        """The network learned from the table in use, or drawn over its columns, with the tables a person edited; and
        its class. Raises BayesEngineError where the network in use is none of these."""

    @property
    def mixture(self) -> GaussianMixtureRun:
        """The run of EM on the page Hidden labels; `hidden_labels` that of naive Bayes."""

    @property
    def hidden_labels(self) -> HiddenLabelRun: ...
    @property
    def mixture_case(self) -> Array:
        """(1, d) the case in the columns of the mixture, NaN where it has no value."""

    @property
    def hidden_column(self) -> HiddenColumn:
        """The column that the page Network hides and learns back."""

    @property
    def line(self) -> tuple[Projection, float]:
        """The line of the page Projection, with its angle in degrees."""

    @property
    def numbers(self) -> NumericRows:
        """The columns to which naive Bayes is fitted on the page Projection."""

    @property
    def gaussians(self) -> TwoGaussians:
        """The two known classes of the page Projection."""

    @property
    def known(self) -> tuple[Truth, LossMatrix]:
        """The known densities of the laboratory, and its losses."""

    @property
    def removed(self) -> tuple[int, ...]:
        """The rows that are taken away on the page Model."""

    def setting(self, name: str) -> Any:
        """A page's own setting, by the name that an address has for it."""


def number_of_case(used: InUse, column: str) -> float:
    """The number that the case has in a column."""
    if pd.isna(value := used.case[column].iloc[0]):
        raise BayesEngineError("the case has no value in '{name}'", name=column)
    return float(value)
