"""Sufficient statistics of rows that need not fit into memory. Dask and Spark compute the same sums by group-bys, which
drop rows with a missing key and give no posterior; here the library's own functions count, block by block.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bayes_engine.scale.csv_blocks import Csv, levels_of
from bayes_engine.scale.files import paths_of
from bayes_engine.scale.memory import threads_of
from bayes_engine.scale.plan import CountRequest, planned, target_of
from bayes_engine.scale.scan import Pass, Progress, checked_want
from bayes_engine.scale.sources import Batches, Parquet, Source
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.table.schema import Schema

PathLike = str | os.PathLike[str]


def collect_parquet(
    path_or_paths: PathLike | Iterable[PathLike],
    *,
    target: str | None = None,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    want: str = "columns",
    progress: Callable[[Progress], object] | None = None,
    resume: PathLike | None = None,
    threads: int | None = None,
    client: Any = None,
) -> SufficientStatistics:
    """The statistics of Parquet files, row group by row group: what `fit` on all their rows at once would count.

    Counts are those of that fit to the last bit where weights are whole; means and sums of squares agree with it to
    1e-12, and with any other run over the same files to the last bit, whatever the order in which row groups finish,
    however many threads there are, and where the run was broken off and taken up again. Memory holds one batch of
    up to 65,536 rows for each thread and a few statistics.

    Parameters
    ----------
    path_or_paths : a file, several in their order, or a folder (the *.parquet in it and in its folders, by name, but
        those that begin with a dot or "_"; what folders are called is no column).
    target : the column of the classes; None takes the target of `schema`. A row without a class is an error.
    schema : kinds and levels of columns, as an estimator's; others are taken by their type: numbers are continuous,
        strings and truth values categorical, an Arrow dictionary (pandas' Categorical) a declared domain where all
        files have the same. Cut points that it holds make intervals. A likelihood that keeps every value (a kernel
        density, a Poisson rate) is counted up to 1,048,576 distinct ones. Of a text the vocabulary is declared here,
        and counted with want="columns"; `fit_files` finds one.
    columns : which columns are counted; None takes those of `schema`, or all. Target and weight are never among them.
    weight : the column that says how often each row counts.
    want : "columns", each column by itself: `NaiveBayes` | "values", and the distinct values of numbers: what
        `cut_schema` finds cut points from, for a second pass | "pairs", and every two of levels together: `SPODE` (with
        its super-parent named), `TAN`, `AODE`, `KDependence(k=1)`, all in one pass; where the tables of all pairs are
        expected to take more than 2 GB they are refused | "scatter", the scatter matrices of complete rows of numbers:
        `LinearDiscriminantAnalysis`, `QuadraticDiscriminantAnalysis`, `FisherDiscriminant`.
    progress : is called with a `Progress` (rows, share, rate, seconds left) as blocks are done, and five times a second
        between. What it raises stops the pass, as does the `cancel` of `bayes_engine.progress.watching`.
    resume : a file for what is counted so far, written every few seconds and at the end, whole or not at all, whatever
        ends the pass. If it is there, what it holds of files that have not changed since is not counted again; files
        may have come to those it was begun with.
    threads : how many row groups are counted at a time; None for one a core, 8 at most, and no more than what they hold
        is expected to fit into 200 MB (of 15 columns and a target 3; 2 for want="values" where five are numbers). A
        number that is given is how many at the most: each holds up to 1 MB of every column that is read and a batch of
        up to 34 MB, with the target 50 MB of 15 columns, for want="values" 8 MB more for each of numbers, and three
        times its statistics; together, and with those of row groups that are not yet merged, they hold no more than
        230 MB, so that the process stays below 500 MB, or one thread is at work. Blocks are counted alike, however many
        there are.
    client : a `distributed.Client` (extra `[dask]`), a `SparkSession` (extra `[spark]`, Java 17) or an executor of
        `concurrent.futures` (a `ProcessPoolExecutor`, or one of joblib, Ray, MPI): its workers count row groups, and
        what they have counted is merged eight at a time: by the workers of Dask, by those of Spark as far as eight
        neighbours go, else here. They must see the files under the same absolute paths. The statistics are those of one
        machine to the last bit, also where workers of Dask or Spark are lost: what they did, others do again. An
        executor gives up then, which is an error that names the row group. `threads` is then the cluster's affair.

    Raises ReadError, which says what to install, without pyarrow; and, before a row is counted, TableError or
    SchemaMismatch, naming both files, where one lacks a column or holds another sort of cells in it (1 and '1');
    ReadError, naming file and row group, where a row group is damaged or a cell is refused: none of its rows is counted
    then; StoreError where `resume` holds the count of another plan, or of other files alone.

    >>> import pandas as pd, pathlib, tempfile
    >>> from bayes_engine import NaiveBayes, collect_parquet
    >>> frame = pd.DataFrame({"sound": ["dull", "crisp", None, "dull"], "sugar": [0.4, 0.2, 0.1, 0.3]})
    >>> frame["good"] = [1, 0, 0, 1]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(2):
    ...         frame[2 * i : 2 * i + 2].to_parquet(pathlib.Path(folder, f"part{i}.parquet"))
    ...     stats = collect_parquet(folder, target="good")
    >>> stats.counts.tables["sound"].tolist()  # missing, crisp, dull
    [[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    >>> NaiveBayes().fit_stats(stats).predict(frame[["sound", "sugar"]]).tolist()
    [1, 0, 0, 1]
    """
    checked_want(want)
    source = Parquet(paths_of(path_or_paths, ".parquet"))
    return _collected(source, CountRequest(target, schema, columns, weight, want), progress, resume, threads, client)


def collect_csv(
    path_or_paths: PathLike | Iterable[PathLike],
    *,
    target: str | None = None,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    want: str = "columns",
    delimiter: str = ",",
    encoding: str = "utf-8",
    progress: Callable[[Progress], object] | None = None,
    resume: PathLike | None = None,
    threads: int | None = None,
) -> SufficientStatistics:
    """The statistics of CSV files with a header, in blocks of 8 MB; as `collect_parquet`, also of .gz, .bz2 and .zst.

    A column has the type that the first 8 MB of its file show: numbers, truth values, else strings, and the cells that
    pandas takes for missing are missing. A later cell of another type is an error that names file and block; `schema`
    says which columns of numbers are levels, and where the levels that it declares are strings, cells are strings as
    they are written: 07 is '07'. A file that is read again from `resume` is parsed from its beginning.

    >>> import pathlib, tempfile
    >>> from bayes_engine import collect_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "melons.csv")
    ...     _ = file.write_text("sound,sugar,good\\ndull,0.4,yes\\ncrisp,,no\\n,0.1,no\\n")
    ...     collect_csv(file, target="good").counts.tables["sound"].tolist()  # missing, crisp, dull
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    checked_want(want)
    source = Csv(paths_of(path_or_paths, ".csv"), delimiter, encoding, levels_of(schema, target_of(schema, target)))
    return _collected(source, CountRequest(target, schema, columns, weight, want), progress, resume, threads)


def collect_batches(
    batches: Iterable[object],
    *,
    target: str | None = None,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    want: str = "columns",
    progress: Callable[[Progress], object] | None = None,
    resume: PathLike | None = None,
    threads: int | None = None,
) -> SufficientStatistics:
    """The statistics of what an iterator yields, Arrow batches or tables, or frames of pandas, polars and others; as
    `collect_parquet`, each batch being a block. With `resume` it must yield the same batches again.

    >>> import pandas as pd
    >>> from bayes_engine import collect_batches
    >>> frame = pd.DataFrame({"sound": ["dull", "crisp", "dull"], "good": ["yes", "no", "no"]})
    >>> collect_batches((frame[i : i + 1] for i in range(3)), target="good").counts.tables["sound"].tolist()
    [[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]
    """
    checked_want(want)
    return _collected(Batches(batches), CountRequest(target, schema, columns, weight, want), progress, resume, threads)


def _collected(
    source: Source,
    request: CountRequest,
    progress: Callable[[Progress], object] | None,
    resume: PathLike | None,
    threads: int | None,
    client: Any = None,
) -> SufficientStatistics:
    place = None if resume is None else Path(resume)
    plan = planned(source, request)
    return Pass(source, plan, request.schema, place, progress, threads_of(threads, client, plan), client).run()
