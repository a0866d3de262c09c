"""Networks as tidy frames: one of edges, and one for each table, a row for each combination of levels."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from bayes_engine.errors import ParameterError
from bayes_engine.factors.network import CPT, Network
from bayes_engine.table.schema import Variable


class NetworkFrames(NamedTuple):
    """`edges` has the columns parent, child; a table of `cpts` one for each parent, one for the node, and last p.

    The columns of levels are categories, so that their order is known. Columns are read by position: a node may be
    called p.
    """

    edges: pd.DataFrame
    cpts: Mapping[str, pd.DataFrame]


def network_frames(network: Network) -> NetworkFrames:
    """The network's edges and tables.

    >>> from bayes_engine.exchange.bif import read_bif
    >>> network = read_bif("variable rain { type discrete [ 2 ] { no, yes }; } probability ( rain ) { table 0.8 0.2; }")
    >>> network_frames(network).cpts["rain"]
      rain    p
    0   no  0.8
    1  yes  0.2
    """
    edges = pd.DataFrame(list(network.graph.arcs), columns=["parent", "child"], dtype=str)
    return NetworkFrames(edges, {cpt.name: _frame(cpt) for cpt in network.cpts})


def from_frames(frames: NetworkFrames) -> Network:
    """The network of these frames, its nodes in the order of the tables.

    Raises ParameterError where a row is missing or stands twice, or the edges and the tables disagree.

    >>> rain = pd.DataFrame({"rain": ["no", "yes"], "p": [0.8, 0.2]})
    >>> from_frames(NetworkFrames(pd.DataFrame(columns=["parent", "child"]), {"rain": rain}))["rain"].p.tolist()
    [0.8, 0.2]
    """
    variables = {name: _variable(name, frame.iloc[:, -2]) for name, frame in frames.cpts.items()}
    network = Network(_cpt(name, frame, variables) for name, frame in frames.cpts.items())
    edges = {(str(a), str(b)) for a, b in frames.edges[["parent", "child"]].itertuples(index=False)}
    if odd := sorted(edges ^ set(network.graph.arcs)):
        raise ParameterError(
            "the edges and the tables disagree about {parent} → {child}", parent=odd[0][0], child=odd[0][1]
        )
    return network


def _frame(cpt: CPT) -> pd.DataFrame:
    variables = (*cpt.parents, cpt.variable)
    places = np.indices(cpt.p.shape).reshape(len(variables), -1)
    columns = [
        pd.Series(pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(list(v.levels))), name=v.name)
        for v, codes in zip(variables, places, strict=True)
    ]
    return pd.concat([*columns, pd.Series(cpt.p.ravel(), name="p")], axis=1)


def _variable(name: str, column: pd.Series) -> Variable:
    levels = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column.unique()
    return Variable(name, "categorical", tuple(levels.tolist()), declared=True)


def _cpt(name: str, frame: pd.DataFrame, variables: Mapping[str, Variable]) -> CPT:
    scope = [str(c) for c in frame.columns[:-1]]
    if scope[-1:] != [name] or any(parent not in variables for parent in scope):
        raise ParameterError(
            "the table of '{name}' needs a column for each parent, each with a table of its own, one for '{name}' and "
            "one for p, in this order; it has {found}",
            name=name,
            found=", ".join(map(str, frame.columns)),
        )
    levels = [variables[v].levels for v in scope]
    given = dict(zip(zip(*(frame.iloc[:, a] for a in range(len(scope))), strict=True), frame.iloc[:, -1], strict=True))
    wanted = list(itertools.product(*levels))
    missing = next((row for row in wanted if row not in given), None)
    if missing is not None or len(frame) != len(wanted):
        raise ParameterError(
            "the table of '{name}' has {found} rows and needs {wanted}, one for each combination of levels; the first "
            "that is missing: {row}",
            name=name,
            found=len(frame),
            wanted=len(wanted),
            row="–" if missing is None else ", ".join(map(str, missing)),
        )
    p = np.array([given[row] for row in wanted], dtype=float).reshape([len(v) for v in levels])
    *parents, variable = (variables[v] for v in scope)
    return CPT(variable, parents, p)
