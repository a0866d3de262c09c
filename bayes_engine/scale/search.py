"""Structure search over files: what a search asks to be counted is counted together, pass by pass, until it asks for
nothing more. It is then the search over the same rows in memory: the same counts, the same moves.

The first pass counts each two columns and draws a sample of the rows, by a hash of where they stand; of files with no
more rows it is all of them, and no pass follows. After it the search goes as far ahead as `bayes_engine.structure.
requests` guesses by the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.logspace import Array
from bayes_engine.models.network_classifier import BayesianNetworkClassifier, with_missing
from bayes_engine.priors import checked_word
from bayes_engine.scale.arrow import CountPlan, encoded_columns, row_weights
from bayes_engine.scale.em_passes import Found, KeptPasses, Steps
from bayes_engine.scale.folds import Division, folds_of, place_hashes
from bayes_engine.scale.scan import FAMILIES
from bayes_engine.scale.sources import Source
from bayes_engine.scale.stream import Piece, Workers
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.requests import (
    AHEAD,
    MOST_PARTS,
    AskedCounts,
    AskingScorer,
    EnoughAsked,
    Request,
    first_requests,
    united,
)
from bayes_engine.structure.scores import ScoreName, Scorer
from bayes_engine.structure.search import Method, SearchOptions, SearchResult, search
from bayes_engine.table.encode import MISSING, Table, code_dtype
from bayes_engine.table.schema import Schema, Variable

SAMPLE = 2**15
"""Rows that what is asked next is guessed by."""
SEARCHED: tuple[Method, ...] = ("hill-climb", "k2", "exact")
"""Methods that files are searched by."""


@dataclass(frozen=True)
class SearchNodes:
    """The columns that a search is over, as they are read, their levels known; of those in `missing` a missing cell is
    a level more. `without` is the fold whose rows are not learnt from, None where all are."""

    schema: Schema
    missing: frozenset[str] = frozenset()
    without: int | None = None

    @property
    def variables(self) -> Schema:
        """The nodes, with the levels that they have."""
        none = np.zeros(0, dtype=np.uint8)
        return Schema(tuple(with_missing(v, none)[0] if v.name in self.missing else v for v in self.schema))

    @property
    def levels(self) -> tuple[int, ...]:
        """How many levels each node has, in the order of their names."""
        return tuple(len(v.levels) for v in sorted(self.variables, key=lambda v: v.name))

    def table(self, piece: Piece, plan: CountPlan, fold: NDArray[np.intp] | None) -> tuple[Table, NDArray[np.intp]]:
        """The rows of a batch that are learnt from and show all columns, and which they are."""
        table = encoded_columns(piece.batch, replace(plan, schema=self.schema), piece.block.declared, {}, piece.row)
        columns = [
            with_missing(v, column)[1] if v.name in self.missing else column
            for v, column in zip(self.schema, table.columns, strict=True)
        ]
        shown = np.ones(table.n, dtype=bool) if fold is None or self.without is None else fold != self.without
        for column in columns:
            shown &= column != MISSING
        rows = np.flatnonzero(shown)
        return Table(self.variables, tuple(column[rows] for column in columns), len(rows)), rows


def class_nodes(
    model: BayesianNetworkClassifier, stats: SufficientStatistics, without: int | None = None
) -> SearchNodes:
    """The class and the columns that a classifier's search is over."""
    held = model.nodes_of(stats)
    target = Variable(stats.target.name, "categorical", stats.target.levels)
    schema = Schema((target, *(stats.schema[name] for name in held)))
    return SearchNodes(schema, frozenset(name for name, level in held.items() if level), without)


def nodes_plan(plan: CountPlan, schema: Schema) -> CountPlan:
    """The plan of a pass over these columns without a class; those of `plan` that are read also are."""
    return replace(plan, schema=schema, target="", want=FAMILIES, given=frozenset(schema.names))


class Asked(NamedTuple):
    """What one search asks for."""

    nodes: SearchNodes
    requests: tuple[Request, ...]


def bytes_asked(asked: Sequence[Asked]) -> float:
    """What the tables of these take at most."""
    return 8.0 * sum(r.kept(a.nodes.levels) for a in asked for r in a.requests)


@dataclass(frozen=True)
class StructureSearch:
    """What is searched for: the score, the method, and what it is told."""

    score: ScoreName
    method: Method
    options: SearchOptions
    share: int = 1
    """Of how many searches that are counted for together this is one."""

    def check(self) -> None:
        """Raises ParameterError where files are not searched so."""
        checked_word("method", self.method, SEARCHED)
        given = {name: getattr(self.options, name) for name in ("time_budget", "cancel", "progress")}
        for name, value in given.items():
            if value is not None:
                raise ParameterError(
                    "{name}= is of a search in memory; one of files is bounded by max_steps=, restarts= and "
                    "perturbations=, and stopped by what progress raises: resume= takes it up again",
                    name=name,
                )

    @property
    def said(self) -> str:
        """What a file of passes says of it."""
        options = {**vars(self.options), "rng": type(self.options.rng).__name__}
        settings = sorted(options.items(), key=lambda item: item[0])
        return f"search={self.score}, {self.method}, {settings!r}, tables in {MOST_PARTS} parts"


def searching(
    model: Any,
    source: Source,
    plan: CountPlan,
    wanted: StructureSearch,
    workers: Workers,
    resume: Path | None = None,
    *,
    steps: Steps,
) -> KeptPasses:
    """The passes of a search. Raises ParameterError where files are not searched so."""
    wanted.check()
    return KeptPasses(model, source, plan, steps=steps, workers=workers, resume=resume, asked=(wanted.said,))


def structures(
    passes: KeptPasses, nodes: Sequence[SearchNodes], wanted: StructureSearch, division: Division | None = None
) -> list[SearchResult]:
    """The graph of each of these sets of columns and rows, all searched at once: one pass counts what all of them ask.

    Raises TableError where no row shows all columns, or a search hangs on a table with too many cells that occur.
    """
    wanted = replace(wanted, share=len(nodes))
    asked = [Asked(each, first_requests(each.levels)) for each in nodes]
    look = partial(_first_look, plan=passes.plan, asked=asked, division=division)
    made = partial(_first_made, asked=asked, wanted=wanted)
    searches = [_Search(a, wanted, part) for a, part in zip(asked, passes.run(look, _looked, made=made), strict=True)]
    while open_ := [one for one in searches if not one.run()]:
        asked = [one.asks() for one in open_]
        work = partial(_counted, plan=passes.plan, asked=asked, division=division)
        made = partial(_made, open_=open_)
        for one, part in zip(open_, passes.run(work, _added, made=made, counts=bytes_asked(asked)), strict=True):
            one.take(part)
    return [one.result for one in searches if one.result is not None]


@dataclass
class _Search:
    """One search: what it knows, and its result once there is one."""

    of: Asked
    wanted: StructureSearch
    first: Found
    result: SearchResult | None = None
    scorer: AskingScorer = field(init=False)

    def __post_init__(self) -> None:
        n, rows, codes, weight, *numbers = self.first
        self.first = ()
        sample = _sample(self.of.nodes.variables, codes, weight)
        if rows <= codes.shape[1]:  # it is all rows
            self.result = self._search(sample, self.wanted.score)
            return
        self.scorer = asking_scorer(self.of.nodes.variables, n, rows, sample, self.wanted)
        self.take(tuple(numbers))

    def _search(self, counts: FamilyCounts, score: ScoreName | Scorer) -> SearchResult:
        options = replace(self.wanted.options, rng=deepcopy(self.wanted.options.rng))
        return search(counts, score, method=self.wanted.method, options=options)

    def run(self) -> bool:
        """Search as far as what is counted goes, and on by guesses; whether it needed none."""
        if self.result is None:
            try:
                result = self._search(self.scorer.counts, self.scorer.again())
            except EnoughAsked:
                return False
            if self.scorer.asked:
                return False
            self.scorer.refuse_beyond()
            self.result = result
        return self.result is not None

    def asks(self) -> Asked:
        """What it asks for now."""
        self.of = self.of._replace(requests=tuple(self.scorer.asked))
        return self.of

    def take(self, numbers: Found) -> None:
        for request, each in zip(self.of.requests, numbers, strict=True):
            self.scorer.take(request, each)


def asking_scorer(
    variables: Schema, n: float, rows: int, sample: FamilyCounts, wanted: StructureSearch
) -> AskingScorer:
    """The scorer of a search whose counts come by passes."""
    size = wanted.options.sample_size
    sampled = Scorer(sample, wanted.score, sample_size=size)
    ahead = AHEAD if wanted.method == "hill-climb" else np.inf
    ahead = max(ahead, len(sample.names))
    return AskingScorer(AskedCounts(variables, n, rows), wanted.score, size, sampled, ahead, wanted.share)


# what is done with a batch -------------------------------------------------------------------------------------------


def _first_look(piece: Piece, plan: CountPlan, asked: Sequence[Asked], division: Division | None) -> Found:
    """For each search: its first tables, the number of its rows, and those whose hashes are smallest: hashes, codes
    and weights."""
    hashes = place_hashes(piece, 0).view(np.int64)
    looks = []
    for table, weight, rows, requests in _learnt_from(piece, plan, asked, division):
        codes = np.array([c.astype(np.int32) for c in table.columns])
        own = np.zeros(0) if weight is None else weight
        looks.append(_fewest((_tables_of(table, weight, requests), table.n, hashes[rows], codes, own)))
    return tuple(looks)


def _fewest(look: Found) -> Found:
    counts, n, hashes, codes, weight = look
    if len(hashes) <= SAMPLE:
        return look
    keep = np.sort(np.argpartition(hashes, SAMPLE)[:SAMPLE])
    return counts, n, hashes[keep], codes[:, keep], weight[keep] if len(weight) else weight


def _looked(a: Found, b: Found) -> Found:
    looks = []
    for (counts, n, *sample), (more, m, *other) in zip(a, b, strict=True):
        both = [np.concatenate(pair, axis=-1) for pair in zip(sample, other, strict=True)]
        looks.append(_fewest((_both(counts, more), n + m, *both)))
    return tuple(looks)


def _first_made(looks: Found, asked: Sequence[Asked], wanted: StructureSearch) -> Found:
    """For each search: the weight of its rows, their number, the sample, and what its scores need of the tables."""
    made = []
    for (nodes, requests), (counts, rows, _hashes, codes, weight) in zip(asked, looks, strict=True):
        if not rows:
            raise TableError("no row shows all columns that a structure is searched over; leave out those with the "
                             "most missing cells, or take missing='category'")  # fmt: skip
        variables = nodes.variables
        levels = nodes.levels
        tables = _weights(counts)
        n, numbers = float(tables[0][: levels[0]].sum()), list[Array]()
        if rows > codes.shape[1]:
            scorer = asking_scorer(variables, n, rows, _sample(variables, codes, weight), wanted)
            numbers = [scorer.read(request, table) for request, table in zip(requests, tables, strict=True)]
        made.append((n, rows, codes, weight, *numbers))
    return tuple(made)


def _counted(piece: Piece, plan: CountPlan, asked: Sequence[Asked], division: Division | None) -> Found:
    """For each search the tables that it asks for."""
    each = _learnt_from(piece, plan, asked, division)
    return tuple(_tables_of(table, weight, requests) for table, weight, _, requests in each)


def _learnt_from(
    piece: Piece, plan: CountPlan, asked: Sequence[Asked], division: Division | None
) -> Iterator[tuple[Table, Array | None, NDArray[np.intp], tuple[Request, ...]]]:
    """For each search the rows of a batch that it learns from, of a weight above 0: codes, weights and places."""
    weight = row_weights(piece.batch, plan, piece.row)
    fold = None if division is None else folds_of(division.hashes(piece), division.folds)
    for nodes, requests in asked:
        table, rows = nodes.table(piece, plan, fold)
        if weight is not None and not (own := weight[rows]).all():
            there = np.flatnonzero(own)
            table, rows = table.take(there), rows[there]
        yield table, None if weight is None else weight[rows], rows, requests


def _tables_of(table: Table, weight: Array | None, requests: Sequence[Request]) -> Found:
    """The table of each request as a vector; of one too large to be kept whole the cells that occur with their
    weights."""
    levels = tuple(len(v.levels) for v in sorted(table.schema, key=lambda v: v.name))
    if not table.n:
        none = np.zeros(0, dtype=np.int64), np.zeros(0)
        return tuple(none if r.sparse(levels) else np.zeros(r.size(levels)) for r in requests)
    counts = FamilyCounts(table, weight)
    return tuple(_table_of(counts, request) for request in requests)


def _table_of(counts: FamilyCounts, request: Request) -> Any:
    if request.sparse(counts.levels):
        return request.of(counts)
    joint = counts.every(request.columns)
    return (counts.with_all(joint) if request.beside else counts.weights(joint)).ravel()


def _added(a: Found, b: Found) -> Found:
    return tuple(_both(mine, other) for mine, other in zip(a, b, strict=True))


def _both(mine: Found, other: Found) -> Found:
    """The sum of each two tables, whole ones in the memory of the first, but where another process sent it: that is
    read-only."""
    return tuple(
        united(a, b) if isinstance(a, tuple) else np.add(a, b, out=a if a.flags.writeable else None)
        for a, b in zip(mine, other, strict=True)
    )


def _made(sums: Found, open_: Sequence[_Search]) -> Found:
    """What the scores need of the tables."""
    made = []
    for one, counts in zip(open_, sums, strict=True):
        asked = zip(one.of.requests, _weights(counts), strict=True)
        made.append(tuple(np.zeros(0) if w is None else one.scorer.read(request, w) for request, w in asked))
    return tuple(made)


def _weights(tables: Found) -> list[Any]:
    """The cells of each table, of the large ones those that occur; None where these are too many."""
    return [table if not isinstance(table, tuple) else table[1] if table else None for table in tables]


def _sample(variables: Schema, codes: NDArray[np.int32], weight: Array) -> FamilyCounts:
    columns = tuple(c.astype(code_dtype(len(v.levels))) for c, v in zip(codes, variables, strict=True))
    return FamilyCounts(Table(variables, columns, codes.shape[1]), weight if len(weight) else None)
