"""A `BayesianNetwork` of files: its structure given, or searched for, and the tables of its families in a last pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.base import clone

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.models.base import any_missing
from bayes_engine.models.network import BayesianNetwork
from bayes_engine.models.network_fit import cutting, refuse_empty, wider
from bayes_engine.models.table_reader import given_schema
from bayes_engine.priors import checked_word
from bayes_engine.scale.collect import PathLike
from bayes_engine.scale.csv_blocks import levels_of
from bayes_engine.scale.cuts import cut_schema
from bayes_engine.scale.em_passes import Steps
from bayes_engine.scale.memory import release, threads_of
from bayes_engine.scale.plan import CountRequest, planned
from bayes_engine.scale.scan import FAMILIES, Pass, Progress
from bayes_engine.scale.search import SearchNodes, StructureSearch, nodes_plan, searching, structures
from bayes_engine.scale.sources import Batches, Source, opened
from bayes_engine.scale.stream import Workers
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import ScoreName
from bayes_engine.structure.search import Method, SearchOptions
from bayes_engine.table.schema import Schema


class FilesAsked(NamedTuple):
    """Which rows: the arguments of `learn_files` by these names, or batches that each pass gets anew."""

    path_or_paths: PathLike | Iterable[PathLike] | Batches
    schema: Schema | None
    columns: Sequence[str] | None
    weight: str | None
    delimiter: str = ","
    encoding: str = "utf-8"


def learn_files(
    model: BayesianNetwork,
    path_or_paths: PathLike | Iterable[PathLike],
    score: ScoreName = "mdl",
    *,
    method: Method = "hill-climb",
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    delimiter: str = ",",
    encoding: str = "utf-8",
    progress: Callable[[Progress], object] | None = None,
    resume: PathLike | None = None,
    threads: int | None = None,
    client: Any = None,
    **options: Any,
) -> BayesianNetwork:
    """A new model with the parameters of `model`, its graph searched for, of all rows of Parquet or CSV files: the
    graph, its score and what stands in its tables are those of `BayesianNetwork.learn` on the same rows in memory.

    One pass finds the levels of all columns, with cut points where there are numbers (`.cuts`, `.levels`); then the
    search goes as far as its counts are known, what it asks and is likely to ask next (guessed by a sample of 32,768
    rows) is counted together in one pass, up to 64 tables for hill climbing and at most 2,097,152 cells, and so on
    until it asks for nothing that is not counted (`.search`, written after every pass); and one pass counts the tables
    of its families. Rows with a missing cell are left out of the search, and in the tables of the families that they
    do not show. Of files with no more rows than the sample the search takes one pass.

    Memory is bounded whatever the rows. Of a table of more than 2,097,152 cells those are kept that occur, and where
    these are more than 262,144 it is counted in parts, four a pass, 64 at most. Most such tables are not asked for: by
    MDL, BIC and AIC a parent that costs more than it can gain is no candidate where the family would have more than
    1,048,576 cells, here as in memory (`bayes_engine.structure.scores.Scorer.candidates`).

    Parameters
    ----------
    score : as `BayesianNetwork.learn` takes it: "mdl" | "bic" | "aic" | "log-likelihood" | "k2" | "bdeu".
    method : "hill-climb" | "k2" (`order=`) | "exact". With up to 15 columns hill climbing is 2 climbs and 30 from
        perturbed graphs; `perturbations=0` leaves the first two, and takes fewer passes.
    options : the fields of `bayes_engine.structure.search.SearchOptions`, but `time_budget`, `cancel` and `progress`.

    The other arguments are those of `fit_files`; `progress` is told how many passes there are at least.

    Raises ParameterError where the search or the model needs the rows; TableError where a cell is missing and
    `missing="em"` would complete it, where no row shows all columns, or where the search hangs on a table of more than
    16,777,216 combinations of levels that occur, which it names; what `collect_parquet` raises.

    >>> import pandas as pd, pathlib, tempfile
    >>> from bayes_engine import BayesianNetwork, learn_files
    >>> frame = pd.DataFrame({"a": list("xxyyxxyy") * 9, "b": list("xxyyxxyy") * 9, "c": list("xyxyxyxy") * 9})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame.to_parquet(pathlib.Path(folder, "rows.parquet"))
    ...     learn_files(BayesianNetwork(), folder).graph_.arcs
    (('a', 'b'),)
    """
    wanted = StructureSearch(score, method, SearchOptions(**options))
    wanted.check()
    asked = FilesAsked(path_or_paths, schema, columns, weight, delimiter, encoding)
    return network_of_files(model, asked, wanted, None, progress, resume, threads, client)


def network_of_files(
    model: BayesianNetwork,
    asked: FilesAsked,
    wanted: StructureSearch | None,
    target: str | None,
    progress: Callable[[Progress], object] | None,
    resume: PathLike | None,
    threads: int | None,
    client: Any,
) -> BayesianNetwork:
    """The network with the graph that is `wanted`; None for the structure that is given."""
    if target is not None:
        raise ParameterError("a BayesianNetwork has no target: every column is a node; leave target= out, or take "
                             "BayesianNetworkClassifier")  # fmt: skip
    if model.hidden:
        raise ParameterError("a hidden node is EM's affair, which needs the rows; leave hidden= out for files")
    checked_word("missing", model.missing, ("em", "known", "error"))
    schema = asked.schema if asked.schema is not None else model.schema
    schema = None if schema is None else given_schema(schema).features
    source: Source = (
        asked.path_or_paths
        if isinstance(asked.path_or_paths, Batches)
        else opened(asked.path_or_paths, delimiter=asked.delimiter, encoding=asked.encoding, levels=levels_of(schema))
    )
    plan = planned(source, CountRequest(None, schema, asked.columns, asked.weight, "columns", unlabelled=True))
    place = None if resume is None else Path(resume)
    # the weights of rows do not move cut points, as in memory
    numbers = {v.name: cutting(v, model.discretize, model.bins) for v in plan.schema if v.numeric}
    step = 0

    def counted(want: str, given: Schema | None, weight: str | None, ending: str = "", **more: Any) -> Any:
        nonlocal step
        step += 1
        now = step
        report = None if progress is None else lambda far: progress(far._replace(step=now, steps=max(now, least)))
        ours = CountRequest(None, given, plan.schema.names, weight, want, unlabelled=True)
        ours_plan = replace(planned(source, ours), **more)
        kept = _beside(place, ending)
        return Pass(source, ours_plan, given, kept, report, threads_of(threads, client, ours_plan), client).run()

    least = 2 + (wanted is not None)
    first = counted("values", schema, None, "cuts") if numbers else counted("columns", schema, asked.weight, "levels")
    known = Schema(tuple(v if v.name not in numbers else plan.schema[v.name] for v in first.schema))
    if numbers:
        (method,) = set(numbers.values())
        made = cut_schema(first, method=method, bins=model.bins, columns=list(numbers))
        known = Schema(tuple(made[v.name] if v.name in numbers else v for v in known))
    refuse_empty(known)
    _refuse_missing(model, first)
    del first
    release()
    graph, result = model._given(known), None
    if wanted is not None:
        if graph.arcs and wanted.method == "hill-climb" and wanted.options.start is None:
            wanted = replace(wanted, options=replace(wanted.options, start=graph))
        workers = Workers(threads_of(threads, client, plan), client, progress)
        ours = nodes_plan(plan, known)
        passes = searching(model, source, ours, wanted, workers, _beside(place, "search"), steps=Steps(1, step, 1))
        (result,) = structures(passes, [SearchNodes(known)], wanted)
        step += passes.done
        graph = result.graph
    stats = counted(FAMILIES, known, asked.weight, families=tuple(wider(known, graph)))
    return fitted(model, stats, graph, result)


def fitted(model: BayesianNetwork, stats: SufficientStatistics, graph: DAG, result: Any) -> BayesianNetwork:
    """A new model with the tables of these statistics along a graph."""
    new: BayesianNetwork = clone(model)
    new.search_ = result
    return new._settle(stats, graph)


def _beside(place: Path | None, ending: str) -> Path | None:
    return place if place is None or not ending else place.with_name(f"{place.name}.{ending}")


def _refuse_missing(model: BayesianNetwork, stats: SufficientStatistics) -> None:
    """Raises TableError where cells are missing that `missing` does not leave out."""
    for v in stats.schema if model.missing != "known" else ():
        if any_missing(stats, v):
            raise TableError(
                "column '{column}' has missing cells, which missing='{policy}' does not leave out: EM completes them, "
                "and needs all rows at once; take missing='known' for files",
                column=v.name,
                policy=model.missing,
            )
