"""What is on screen, as the quantities of a lesson ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

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
from bayes_engine.workbench.derivation.gibbs_walk import has_zeros, row_of, softened
from bayes_engine.workbench.derivation.hidden_column import HiddenColumn
from bayes_engine.workbench.laboratory.truth import Truth
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity
from bayes_engine.workbench.lessons.quantities.registry import value_of
from pages import active
from pages.active import dependence_models, em_fits, hidden_node, network_source, projected, sandbox
from pages.runtime import view_keys as keys
from pages.runtime.state import current


def answer_in_use(answer: AskedQuantity) -> float:
    """The answer in the state that is on screen. Raises BayesEngineError where it has none."""
    return value_of(answer, OnScreen())


class OnScreen:
    """What is on screen, as `quantities.InUse` has it; each part is computed when it is asked for, by the functions
    that the pages show it with."""

    @property
    def table(self) -> active.FittableTable:
        table = active.table_in_use()
        if isinstance(table, active.UnfittableTable):
            raise table.problem
        return table

    @property
    def X(self) -> pd.DataFrame:
        return self.table.parts.X

    @property
    def y(self) -> Any:
        return self.table.parts.y

    @property
    def model(self) -> GenerativeClassifier:
        return active.active_model(self.table).model

    @property
    def ledger(self) -> Ledger:
        table = self.table
        fitted = active.active_model(table)
        return active.explained(table, fitted).at_prior(fitted.prior, active.prior_of_use(table))

    @property
    def case(self) -> pd.DataFrame:
        table = self.table
        return active.case_frame(table, active.case_values(table))

    @property
    def loss(self) -> LossMatrix:
        return active.case_losses(self.table)

    @property
    def prior(self) -> Mapping[Any, float]:
        return active.prior_of_use(self.table) or active.active_model(self.table).prior

    @property
    def families(self) -> tuple[Any, TAN, Any]:
        table = self.table
        specs = dependence_models.family_models(table)
        naive, tree, mean = (active.fit(table, specs[name]).model for name in ("naive-bayes", "tan", "aode"))
        return naive, cast(TAN, tree), mean

    @property
    def pairs(self) -> TAN:
        table = self.table
        return cast(TAN, active.fit(table, dependence_models.spec_of(table, "tan")).model)

    @property
    def network(self) -> Network:
        return network_source.source().network

    @property
    def evidence(self) -> Mapping[str, Any]:
        return network_source.evidence(network_source.source())

    @property
    def event(self) -> tuple[Network, Places, Places]:
        source = network_source.source()
        network = source.network
        if has_zeros(network):
            network = softened(network, current().seen(keys.NET_G_NOISE))
        findings = network_source.evidence(source).items()
        given = [(source.place(name), network[name].variable.levels.index(level)) for name, level in findings]
        asked: keys.Pairs = current().seen(keys.NET_G_QUERY)
        return network, row_of(network, given), row_of(network, asked)

    @property
    def search(self) -> SearchResult:
        learned = network_source.source().learned
        if learned is None or learned.model.search_ is None:
            raise BayesEngineError("no search has found this network")
        return learned.model.search_

    @property
    def learned(self) -> tuple[BayesianNetwork, str]:
        source = network_source.source()
        if source.learned is None:
            raise BayesEngineError("the network in use is not learned from the table in use")
        return network_source.model_of(source), source.learned.table.target.name

    @property
    def mixture(self) -> GaussianMixtureRun:
        return em_fits.mixture(self.table, em_fits.run_in_use(self.table))

    @property
    def hidden_labels(self) -> HiddenLabelRun:
        return em_fits.fit_hidden_labels(self.table, em_fits.labels_in_use(self.table))

    @property
    def mixture_case(self) -> Array:
        table = self.table
        return em_fits.numbers_of_case(table, em_fits.run_in_use(table).columns)

    @property
    def hidden_column(self) -> HiddenColumn:
        return hidden_node.learned_back(self.table, hidden_node.task_in_use(self.table))

    @property
    def line(self) -> tuple[Projection, float]:
        table = self.table
        columns = projected.numeric_columns(table)
        x, y = projected.columns_in_use(columns)
        line = projected.line_in_use(table, (columns[x].name, columns[y].name))
        return line.projection, line.angle

    @property
    def numbers(self) -> NumericRows:
        table = self.table
        columns = projected.numeric_columns(table)
        pair = projected.columns_in_use(columns)
        whole = current().seen(keys.DIAL_COLUMNS) == "all"
        names = tuple(v.name for v in columns) if whole else tuple(columns[j].name for j in pair)
        return projected.rows_of(table, names)

    @property
    def gaussians(self) -> TwoGaussians:
        return projected.classes_in_use()

    @property
    def known(self) -> tuple[Truth, LossMatrix]:
        setup = sandbox.in_use()
        return setup.truth(), setup.loss

    @property
    def removed(self) -> tuple[int, ...]:
        return tuple(row for row in current().seen(keys.AWAY) if row < len(self.X))[: len(self.X) - 1]

    def setting(self, name: str) -> Any:
        return current().seen(keys.KEYS[name])
