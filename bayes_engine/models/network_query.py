"""Questions to a finished Bayesian network, answered as labelled tables as the methods of `BayesianNetwork` say."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError, TableError, TooLarge
from bayes_engine.factors.network import HIDDEN, Network
from bayes_engine.inference.forward_sampling import sample
from bayes_engine.inference.junction_tree import junction_tree
from bayes_engine.logspace import Array
from bayes_engine.table.dataframes import as_frame
from bayes_engine.table.encode import encode, refuse_infinite, unseen_code
from bayes_engine.table.schema import Schema

# rows and evidence ----------------------------------------------------------------------------------------------------


def findings_of(network: Network, evidence: Mapping[str, Any] | None) -> dict[int, int]:
    """The place of its level by node of one set of findings; a number stands for its interval, None for nothing."""
    findings: dict[int, int] = {}
    for name, value in (evidence or {}).items():
        try:
            node = network.position[name]
            findings[node] = network.cpts[node].place_of[value]
            continue
        except (KeyError, TypeError):  # nothing, a number of an interval, or a mistake
            pass
        if pd.isna(value) is True:
            continue
        variable = network[str(name)].variable
        if variable.cuts is not None and isinstance(value, Real) and math.isfinite(value):
            value = variable.levels[int(np.searchsorted(variable.cuts, float(value), side="left"))]
        node = network.position[variable.name]
        findings[node] = int(network.places({variable.name: value})[node])
    return findings


def row_of(network: Network, evidence: Mapping[str, Any] | None) -> NDArray[np.intp]:
    """(1, d) the places of one set of findings."""
    return _row(network, findings_of(network, evidence))


def _row(network: Network, findings: Mapping[int, int]) -> NDArray[np.intp]:
    row = np.full((1, len(network.cpts)), HIDDEN, dtype=np.intp)
    for node, place in findings.items():
        row[0, node] = place
    return row


def possible_row(network: Network, evidence: Mapping[str, Any] | None) -> NDArray[np.intp]:
    """(d,) the places of findings that can occur together, as far as exact inference can tell."""
    row = row_of(network, evidence)
    with suppress(TooLarge):
        junction_tree(network).marginals(row, targets=[])
    return np.asarray(row[0])


def places_of(network: Network, schema: Schema, hidden: Collection[str], X: Any) -> NDArray[np.intp]:
    """(n, d) the places of rows; a value outside the levels is not known. A node without a column is hidden."""
    frame = as_frame(X)
    frame = frame.set_axis([str(c) for c in frame.columns], axis=1)
    names = [n for n in network.names if n in frame.columns]
    for name in network.names:
        if name not in names and name not in hidden:
            raise TableError("the column '{column}' is not in X", column=name)
    table = encode(frame[names], Schema(tuple(schema[n] for n in names)))
    refuse_infinite(table, frame[names])
    places = np.full((table.n, len(network.cpts)), HIDDEN, dtype=np.intp)
    for name in names:
        codes = table[name]
        places[:, network.position[name]] = np.where(codes == unseen_code(codes), 0, codes).astype(np.intp) - 1
    return places


# answers --------------------------------------------------------------------------------------------------------------


def joint_posterior(network: Network, targets: str | Sequence[str], evidence: Mapping[str, Any] | None) -> pd.Series:
    findings = findings_of(network, evidence)
    names = [str(name) for name in (targets if isinstance(targets, list | tuple) else [targets])]
    if not names:
        raise ParameterError("no target is asked for; name one node or more")
    levels = [network[name].index for name in names]
    tree = junction_tree(network)
    p = tree.joint_of_one(names, findings)
    if p is None:
        p = tree.joint(names, _row(network, findings))[0]
    if len(names) == 1:
        return pd.Series(p, index=levels[0].view(), name="P", copy=False)
    return pd.Series(p.ravel(), index=pd.MultiIndex.from_product(levels, names=names), name="P", copy=False)


def marginals(network: Network, evidence: Mapping[str, Any] | None) -> dict[str, pd.Series]:
    findings = findings_of(network, evidence)
    tree = junction_tree(network)
    p = tree.marginals_of_one(findings)
    if p is None:
        of_row = tree.marginals(_row(network, findings)).p
        p = [of_row[name][0] for name in network.names]
    of_all = pd.Series(np.concatenate(p), name="P", copy=False)  # a slice takes less than a series of its own
    answers = {}
    for cpt, (begin, end) in zip(network.cpts, pairwise(accumulate(network.sizes, initial=0)), strict=True):
        answers[cpt.name] = of_all[begin:end]
        answers[cpt.name].index = cpt.index.view()
    return answers


def most_probable(network: Network, evidence: Mapping[str, Any] | None) -> tuple[dict[str, Any], float]:
    """argmax_x P(x | evidence) by name, and its log P(x) in nats."""
    places, log_p = junction_tree(network).most_probable(row_of(network, evidence))
    named = zip(network.cpts, places[0], strict=True)
    return {cpt.name: cpt.variable.levels[i] for cpt, i in named}, float(log_p[0])


def posterior(network: Network, places: NDArray[np.intp], target: str) -> Array:
    """(n, S) P(target | the rest of each row of places); zeros where a row is impossible."""
    places = places.copy()
    places[:, network.position[network[target].name]] = HIDDEN
    return junction_tree(network).marginals(places, targets=[target], impossible="flag").p[target]


def sampled(network: Network, n: int, rng: np.random.Generator) -> pd.DataFrame:
    columns = {}
    for cpt, column in zip(network.cpts, sample(network, n, rng).T, strict=True):
        levels = pd.Index(list(cpt.variable.levels), dtype=object)
        columns[cpt.name] = pd.Categorical.from_codes(column, levels)
    return pd.DataFrame(columns)
