"""Exact inference for one set of findings: a junction tree that is calibrated without any is a product of
conditionals, P(x) = P(C_r) Π_k P(C_k | S_k), seen from any clique r (Lauritzen & Spiegelhalter 1988; Koller &
Friedman, §10.4). Messages then start at findings alone, since all others are sums of a conditional, 1.

A clique's table is sliced at the findings, where many rows together are multiplied with indicators (message_passing).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.factors.network import HIDDEN
from bayes_engine.inference.message_levels import LEAST, MOST_INDICES, MessageLevels, RootedClique, index_cells
from bayes_engine.inference.triangulate import Clique, cells
from bayes_engine.logspace import Array

WHOLE = slice(None)


JOINED = 256
"""Neighbouring cliques whose joint table has at most so many cells are one: a call of NumPy takes longer than these."""

MATRIX_CELLS = 2**14
"""A message is a matrix times those that came where the matrix has at most so many cells."""
REMEMBERED = 4096
"""So many matrices are remembered, and so many of their layouts …"""
KEPT_CELLS = 2**18
"""… while each of these two have at most so many cells together: 2 MB."""


class CliqueTable(NamedTuple):
    """P(C_k) over the nodes of `scope`, in ascending order."""

    scope: tuple[int, ...]
    p: Array


class Step(NamedTuple):
    """A clique on the way to the root: P(C_k | S_k) over `scope`; `at` takes what belongs to its nodes from a list with
    an entry for every node. `own` are the axes summed out, `separator` the nodes left, `lacks` the axes that these lack
    of the clique before it, at `toward`; a message spreads over that one or this by new axes."""

    conditional: Array
    scope: tuple[int, ...]
    at: Callable[[list[Any]], Any]
    own: tuple[int, ...]
    separator: tuple[int, ...]
    toward: int
    lacks: tuple[int, ...]
    outward: tuple[Any, ...]
    inward: tuple[Any, ...]


class Rooted(NamedTuple):
    """The tree seen from the clique `root`, which is the first of its `steps`, each behind that which it goes to; for
    each node the steps from the first that holds it to the root, as bits."""

    root: int
    steps: list[Step]
    ways: list[int]


class Evidence(NamedTuple):
    """Collected at the root: the sliced tables (with what came to them) and messages of the steps that have a finding
    at them or behind them, and where each node is sliced."""

    tables: dict[int, Array]
    messages: dict[int, Array]
    slices: list[slice]


class MatrixLayout(NamedTuple):
    """Where each cell of a table of this shape stands in a step's matrix; its `cells`."""

    place: NDArray[np.intp]
    rows: int
    columns: int
    cells: tuple[NDArray[np.intp], ...]


class StepMatrix(NamedTuple):
    """The message itself where none comes; a matrix for the one that does; a matrix for the product of several, of
    each the cell that `cells` has for every cell of the table."""

    matrix: Array
    cells: tuple[NDArray[np.intp], ...]


class ConditionalTree:
    """`cliques` of nodes of these `sizes` with P(C_k), each (*sizes), without evidence.

    >>> ab, b = Clique((0, 1), 1, 1), Clique((1,), 1, -1)
    >>> tree = ConditionalTree([ab, b], (2, 2), [np.array([[0.1, 0.3], [0.4, 0.2]]), np.array([0.5, 0.5])])
    >>> p_evidence, p = tree.posterior((1,), {0: 1})
    >>> round(p_evidence, 4), p.round(4).tolist()
    (0.6, [0.6667, 0.3333])
    """

    def __init__(self, cliques: Sequence[Clique], sizes: Sequence[int], beliefs: Sequence[Array]) -> None:
        self._sizes = sizes
        ordered = [b.transpose(np.argsort(c.scope)) for c, b in zip(cliques, beliefs, strict=True)]
        tables = [CliqueTable(tuple(sorted(c.scope)), b) for c, b in zip(cliques, ordered, strict=True)]
        last = len(cliques) - 1  # components meet in the last root, by an empty separator
        toward = [c.parent if c.parent >= 0 else last for c in cliques[:last]]
        self._tables, self._near = _joined(tables, toward, sizes)
        self._rooted: dict[int, Rooted] = {}
        self._slices = [[slice(place, place + 1) for place in range(size)] for size in sizes]
        self._matrices: dict[tuple[Any, ...], StepMatrix | None] = {}
        self._layouts: dict[tuple[Any, ...], MatrixLayout | None] = {}
        self._matrix_cells = self._layout_cells = 0
        self._home = [last] * len(sizes)
        for k in sorted(self._tables, key=lambda k: -self._tables[k].p.size):
            for v in self._tables[k].scope:
                self._home[v] = k

    def posterior(self, targets: tuple[int, ...], findings: Mapping[int, int]) -> tuple[float, Array] | None:
        """P(e) and P(targets | e), an axis for each in their order, of the `findings` by node; None where no clique
        holds them all, or the evidence is less probable than LEAST."""
        wanted = set(targets)
        if len(targets) == 1:
            home = self._home[targets[0]]
        else:
            homes = [k for k, table in self._tables.items() if wanted <= set(table.scope)]
            if not homes:
                return None
            home = min(homes, key=lambda k: self._tables[k].p.size)
        rooted = self._from(home)
        kept = targets if len(targets) == 1 else tuple(v for v in rooted.steps[0].scope if v in wanted)
        joint = self._sent(rooted, kept, findings)
        total = float(np.add.reduce(joint))
        if not total >= LEAST:
            return None
        joint = joint / total
        if len(joint) < math.prod([self._sizes[v] for v in kept]):  # some are seen
            sliced, joint = joint, np.zeros([self._sizes[v] for v in kept])
            where = tuple([self._slices[v][findings[v]] if v in findings else WHOLE for v in kept])
            joint[where] = sliced.reshape(joint[where].shape)
        if len(kept) < 2:
            return total, joint
        return total, joint.reshape([self._sizes[v] for v in kept]).transpose([kept.index(v) for v in targets])

    def marginals(self, findings: Mapping[int, int]) -> tuple[float, list[Array]] | None:
        """P(e) and P(x_j | e) (S_j,) of every node; None where the evidence is less probable than LEAST."""
        return self._marginals_by_clique(findings) if self._levels is None else self._levels.marginals(findings)

    @cached_property
    def _levels(self) -> MessageLevels | None:
        """None where cliques are so large that few calls do not make up for every cell of them."""
        steps = self._from(max(self._tables)).steps
        cliques, home = [], {}
        for i, step in enumerate(steps):
            own = tuple([step.scope[a] for a in step.own])
            axes = [step.scope.index(v) for v in (*step.separator, *own)]
            cliques.append(RootedClique(step.conditional.transpose(axes), step.separator, own, step.toward))
            home.update(dict.fromkeys(own, i))
        if index_cells(cliques) > MOST_INDICES:
            return None
        return MessageLevels(cliques, self._sizes, [home[v] for v in range(len(self._sizes))])

    def _marginals_by_clique(self, findings: Mapping[int, int]) -> tuple[float, list[Array]] | None:
        """The same with tables sliced at the findings, which pays where cliques are large."""
        rooted = self._from(max(self._tables))
        tables, messages, slices = self._collected(rooted, findings)
        total = float(tables[0].sum())
        if not total >= LEAST:
            return None
        beliefs = [tables[0] / total]
        margins: list[Array | None] = [None] * len(self._sizes)
        for i, step in enumerate(rooted.steps):
            if i:
                outer = np.add.reduce(beliefs[step.toward], axis=step.lacks)
                if i in tables:
                    table, message = tables[i], messages[i]
                    outer = outer / (message + (message == 0.0))
                else:
                    table = step.conditional[step.at(slices)]
                beliefs.append(table * outer[step.inward])
            for axis, v in enumerate(step.scope):
                if margins[v] is None and slices[v] is WHOLE:
                    margins[v] = np.add.reduce(beliefs[i], axis=tuple([a for a in range(len(step.scope)) if a != axis]))
        for v, place in findings.items():
            margins[v] = certain = np.zeros(self._sizes[v])
            certain[place] = 1.0
        return total, [p for p in margins if p is not None]

    def _collected(self, rooted: Rooted, findings: Mapping[int, int]) -> Evidence:
        slices, way = [WHOLE] * len(self._sizes), 1
        for v, place in findings.items():
            slices[v] = self._slices[v][place]
            way |= rooted.ways[v]
        tables: dict[int, Array] = {}
        messages: dict[int, Array] = {}
        while way:
            i = way.bit_length() - 1
            way ^= 1 << i
            step = rooted.steps[i]
            table = tables.get(i)
            if table is None:
                table = tables[i] = step.conditional[step.at(slices)]
            if i:
                message = messages[i] = np.add.reduce(table, axis=step.own)
                outer = tables.get(step.toward)
                if outer is None:
                    before = rooted.steps[step.toward]
                    outer = before.conditional[before.at(slices)]
                tables[step.toward] = outer * message[step.outward]
        return Evidence(tables, messages, slices)

    def _sent(self, rooted: Rooted, kept: tuple[int, ...], findings: Mapping[int, int]) -> Array:
        """(·,) P(kept, e) of nodes of the root, ascending, those seen at their place alone."""
        steps, root, known = rooted.steps, rooted.root, self._matrices
        slices, places = [WHOLE] * len(self._sizes), [HIDDEN] * len(self._sizes)
        way = 1
        for v, place in findings.items():
            slices[v], places[v] = self._slices[v][place], place
            way |= rooted.ways[v]
        messages: dict[int, Array] = {}
        behind: dict[int, tuple[int, ...]] = {}
        i = -1
        while way:
            i = way.bit_length() - 1
            way ^= 1 << i
            step, came = steps[i], behind.get(i, ())
            key = (root, i or kept, step.at(places), came)
            step_matrix = known[key] if key in known else self._matrix(key, rooted, slices)
            if step_matrix is None:
                table = step.conditional[step.at(slices)]
                for k in came:
                    shape = [1 if places[v] >= 0 else self._sizes[v] for v in steps[k].separator]
                    table = table * messages[k].reshape(shape)[steps[k].outward]
                own = step.own if i else tuple(a for a, v in enumerate(step.scope) if v not in kept)
                messages[i] = np.add.reduce(table, axis=own).reshape(-1)
            elif not came:
                messages[i] = step_matrix.matrix
            elif len(came) == 1:
                messages[i] = step_matrix.matrix.dot(messages[came[0]])
            else:
                product = messages[came[0]][step_matrix.cells[0]]
                for k, cells in zip(came[1:], step_matrix.cells[1:], strict=True):
                    product = product * messages[k][cells]
                messages[i] = step_matrix.matrix.dot(product)
            behind[step.toward] = (*behind.get(step.toward, ()), i)
        return messages[i]

    def _matrix(self, key: tuple[Any, ...], rooted: Rooted, slices: list[slice]) -> StepMatrix | None:
        """How a step sends on what comes from others, given the findings there; None where that would be large."""
        _, name, _, came = key
        step = rooted.steps[name if isinstance(name, int) else 0]
        table = step.conditional[step.at(slices)]
        layout = self._layout((rooted.root, name, table.shape, came), rooted, step)
        step_matrix = None
        if layout is not None:
            sums = np.bincount(layout.place, table.reshape(-1), layout.rows * layout.columns)
            matrix = np.asarray(sums, dtype=float)
            step_matrix = StepMatrix(matrix.reshape(layout.rows, layout.columns) if came else matrix, layout.cells)
        if len(self._matrices) >= REMEMBERED or self._matrix_cells > KEPT_CELLS:
            self._matrices, self._matrix_cells = {}, 0
        self._matrices[key] = step_matrix
        self._matrix_cells += 0 if step_matrix is None else step_matrix.matrix.size
        return step_matrix

    def _layout(self, key: tuple[Any, ...], rooted: Rooted, step: Step) -> MatrixLayout | None:
        if key in self._layouts:
            return self._layouts[key]
        _, name, shape, came = key
        cells = math.prod(shape)
        places = np.indices(shape).reshape(len(shape), cells)

        def of(scope: tuple[int, ...]) -> tuple[NDArray[np.intp], int]:
            """For every cell of the table the one over some of its nodes, and how many of these there are."""
            axes = [a for a, v in enumerate(step.scope) if v in scope]
            code = np.zeros(cells, dtype=np.intp)
            for a in axes:
                code = code * shape[a] + places[a]
            return code, math.prod([shape[a] for a in axes])

        to, rows = of(step.separator if isinstance(name, int) else name)
        others = [of(rooted.steps[k].separator) for k in came]
        across, columns = (0, 1) if not came else others[0] if len(came) == 1 else (np.arange(cells), cells)
        layout = None
        if rows * columns <= MATRIX_CELLS:
            place = np.asarray(to * columns + across, dtype=np.intp)
            layout = MatrixLayout(place, rows, columns, tuple(code for code, _ in others))
        size = 0 if layout is None else layout.place.size * (1 + len(came))
        if len(self._layouts) >= REMEMBERED or self._layout_cells + size > KEPT_CELLS:
            self._layouts, self._layout_cells = {}, 0
        self._layouts[key] = layout
        self._layout_cells += size
        return layout

    def _from(self, root: int) -> Rooted:
        if root in self._rooted:
            return self._rooted[root]
        order, toward = [root], {root: -1}
        for k in order:
            for other in self._near[k]:
                if other not in toward:
                    toward[other] = k
                    order.append(other)
        place = {k: i for i, k in enumerate(order)}
        steps: list[Step] = []
        bits: list[int] = []
        ways = [0] * len(self._sizes)
        for i, k in enumerate(order):
            (scope, belief), to = self._tables[k], toward[k]
            above = self._tables[to].scope if i else ()
            own = tuple(a for a, v in enumerate(scope) if v not in above)
            steps.append(
                Step(
                    _conditional(belief, own) if i else belief,
                    scope,
                    _taking(scope),
                    own,
                    tuple(v for v in scope if v in above),
                    place[to] if i else -1,
                    tuple(a for a, v in enumerate(above) if v not in scope),
                    tuple(WHOLE if v in scope else None for v in above),
                    tuple(WHOLE if v in above else None for v in scope),
                )
            )
            bits.append((1 << i) | (bits[place[to]] if i else 0))
            for v in scope:
                ways[v] = ways[v] or bits[i]
        return self._rooted.setdefault(root, Rooted(root, steps, ways))


def _taking(scope: tuple[int, ...]) -> Callable[[list[Any]], Any]:
    """What takes the entries of these nodes from a list of one for every node, as a tuple."""
    return itemgetter(*scope) if len(scope) > 1 else lambda entries: tuple([entries[v] for v in scope])


def _conditional(p: Array, own: tuple[int, ...]) -> Array:
    """P(C) given what is not `own`; 0 where that has the probability 0."""
    given = p.sum(axis=own, keepdims=True)
    return np.asarray(p / (given + (given == 0.0)))


def _joined(
    tables: list[CliqueTable], toward: Sequence[int], sizes: Sequence[int]
) -> tuple[dict[int, CliqueTable], dict[int, list[int]]]:
    """The tables by clique, and the neighbours of each, once small ones are joined to that which they go `toward`."""
    last = len(toward)
    gone = set()
    for k, other in enumerate(toward):
        (scope, p), (added, q) = tables[other], tables[k]
        both = tuple(sorted({*scope, *added}))
        if cells(both, sizes) <= JOINED:
            q = _conditional(q, tuple(a for a, v in enumerate(added) if v not in scope))
            first, second = (tuple(WHOLE if v in of else None for v in both) for of in (scope, added))
            tables[other] = CliqueTable(both, p[first] * q[second])
            gone.add(k)
    near: dict[int, list[int]] = {last: []}
    within = {last: last}
    for k in reversed(range(last)):
        within[k] = within[toward[k]] if k in gone else k
        if k not in gone:
            near[k] = [within[toward[k]]]
            near[near[k][0]].append(k)
    return {k: tables[k] for k in near}, near
