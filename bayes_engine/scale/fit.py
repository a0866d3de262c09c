"""A model from files: the passes that its fit takes, cut points first where there are any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import clone

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.logspace import Array
from bayes_engine.models.aode import AODE
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.fisher import FisherDiscriminant
from bayes_engine.models.k_dependence import KDependence
from bayes_engine.models.mixture import GaussianMixture
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.network import BayesianNetwork
from bayes_engine.models.network_classifier import BayesianNetworkClassifier
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from bayes_engine.models.spode import SPODE
from bayes_engine.models.tan import TAN
from bayes_engine.priors import checked_whole
from bayes_engine.scale.arrow import CountPlan
from bayes_engine.scale.collect import PathLike
from bayes_engine.scale.csv_blocks import levels_of
from bayes_engine.scale.cuts import cut_schema
from bayes_engine.scale.em_passes import KeptPasses, Steps, asked_of, refuse_cuts
from bayes_engine.scale.hidden import PASSES_BEFORE as FIRST_OF_LABELS
from bayes_engine.scale.hidden import inner_of, refuse_lone, semi_supervised_of_files
from bayes_engine.scale.kept import KeptSum, digest_of_statistics
from bayes_engine.scale.memory import release, threads_of
from bayes_engine.scale.mixture import PASSES_BEFORE as FIRST_OF_MIXTURE
from bayes_engine.scale.mixture import mixture_of_files, refuse_other_columns
from bayes_engine.scale.network import FilesAsked, network_of_files
from bayes_engine.scale.pairs import blocks_of_pairs, blocks_of_wider, needs_levels, tree_in_blocks, with_wider
from bayes_engine.scale.plan import CountRequest, planned, target_of
from bayes_engine.scale.scan import FAMILIES, Pass, Progress
from bayes_engine.scale.search import StructureSearch, class_nodes, nodes_plan, searching, structures
from bayes_engine.scale.shrinkage import shrinks, shrunk_models
from bayes_engine.scale.sources import Batches, Source, opened
from bayes_engine.scale.stream import Workers
from bayes_engine.scale.super_parent import spodes
from bayes_engine.scale.texts import (
    opened_again,
    read_as_texts,
    read_by_model,
    unknown_texts,
    with_vocabularies,
)
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.families import Name
from bayes_engine.table.discretize import checked_method
from bayes_engine.table.schema import Schema, Variable

M = TypeVar("M")

WANTED: Mapping[type, str] = {
    NaiveBayes: "columns",
    ComplementNaiveBayes: "columns",
    SPODE: "pairs",
    TAN: "pairs",
    AODE: "pairs",
    KDependence: "pairs",
    BayesianNetworkClassifier: "pairs",
    LinearDiscriminantAnalysis: "scatter",
    QuadraticDiscriminantAnalysis: "scatter",
    FisherDiscriminant: "scatter",
}
"""The models that are learnt from files, and the statistics that each is estimated from."""


def wanted(model: Any) -> str:
    """Which statistics a model is estimated from. Raises ParameterError where it needs the rows themselves."""
    if isinstance(model, GaussianMixture | SemiSupervisedNB):
        raise ParameterError(
            "{model} is fitted to files by EM, a pass for each step, and that is not repeated for each fold: fit it by "
            "fit_files, and judge it on other files",
            model=type(model).__name__,
        )
    if isinstance(model, BayesianNetworkClassifier):
        model.check_search()
    want = next((w for kind, w in WANTED.items() if type(model) is kind), None)
    if want is None:
        raise ParameterError(
            "{model} is not learnt from files in blocks: it needs all rows at once. These are: {known}",
            model=type(model).__name__,
            known=", ".join(kind.__name__ for kind in (*WANTED, GaussianMixture, SemiSupervisedNB)),
        )
    return want


def refuse_parameters(model: Any, schema: Schema) -> None:
    """Raises ParameterError, before a row is read, where the model's parameters fit no rows of these columns."""
    if isinstance(model, GenerativeClassifier | FisherDiscriminant):
        model._check(schema, np.inf)


def cut_columns(model: Any, schema: Schema) -> dict[str, list[str]]:
    """The columns of numbers that a model cuts into intervals, by the method. Raises ParameterError where there is no
    such method."""
    by_method: dict[str, list[str]] = {}
    for v in schema:
        method = _cutting_method(model, v)
        if method is not None:
            checked_method(method, model.bins)
            by_method.setdefault(method, []).append(v.name)
    return by_method


def _cutting_method(model: Any, variable: Variable) -> str | None:
    if not variable.numeric or variable.likelihood is not None or not hasattr(model, "_cutting_method"):
        return None
    return model._cutting_method(variable)  # type: ignore[no-any-return]


def cut(model: Any, methods: Mapping[str, list[str]], values: SufficientStatistics, schema: Schema) -> Schema:
    """The schema to count under: these columns cut by what `values` says of their distinct values."""
    variables = {v.name: v for v in schema}
    for method, columns in methods.items():
        made = cut_schema(values, method=method, bins=model.bins, columns=columns)
        variables.update({name: made[name] for name in columns})
    return Schema(tuple(variables.values()))


def refuse_weightless(class_weight: Array, weight: str | None) -> None:
    """Raises TableError where not one row of the files counts: every weight is 0."""
    if not class_weight.any():
        raise TableError("the weight '{column}' is 0 in every row; at least one row must count", column=str(weight))


def fit_files(
    model: M,
    path_or_paths: PathLike | Iterable[PathLike],
    *,
    target: str | None = None,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    delimiter: str = ",",
    encoding: str = "utf-8",
    progress: Callable[[Progress], object] | None = None,
    resume: PathLike | None = None,
    threads: int | None = None,
    client: Any = None,
) -> M:
    """A new model with the parameters of `model`, fitted to all rows of Parquet or CSV files, block by block: one pass,
    and one before it for cut points where the model cuts columns of numbers into intervals. The other arguments are
    those of `collect_parquet` (`client` too) and `collect_csv`; `resume` keeps each pass in a file of its own, that of
    the cut points with the ending `.cuts`.

    `BayesianNetworkClassifier` counts all pairs, searches by passes (one, then one for each 64 tables or fewer that the
    search asks for; of up to 32,768 rows it ends with the first, `.search`), and takes one more for the tables of its
    graph: the graph, and what stands in its tables, are those of a fit in memory. `learn_files` does so for
    `BayesianNetwork`, and says which tables are counted in parts; here its structure is given.

    `SPODE` takes a pass more where its super-parent is chosen by leave-one-out: each row is scored under the counts
    without it (`.left-out`).

    `LinearDiscriminantAnalysis`, `QuadraticDiscriminantAnalysis` and `FisherDiscriminant` with shrinkage="auto" (Ledoit
    and Wolf) take a pass more (`.powers`): it sums the fourth powers of how far rows are from their class's mean, and
    the amount is that of a fit in memory but for rounding.

    `KDependence` with k ≥ 2 takes a pass more: the first counts all pairs, of which its parents are chosen, the second
    the tables of these families (`.families`); where they are expected to take more than 150 MB with their copies
    under way, a pass for each block of them that fits (`.families1`, …). `TAN` of more than 32 columns without numbers
    to cut takes one before, for the levels (`.levels`); where the tables of all pairs are then expected to take more
    than 250 MB with their copies under way, it takes one for each block of pairs that fits, and one for the tables of
    its tree (`.pairs1`, …, `.tree`): the tree and its tables are those of a fit in memory, and no others are kept.

    Texts (`NaiveBayes` with `likelihoods` or `text` that say so, `ComplementNaiveBayes`) take a pass before (`.terms`),
    over their columns alone: it counts exactly in how many texts each term stands (and how often, where `max_features`
    chooses by it), up to 1,048,576 distinct terms of a column, of which 262,144 may be in its vocabulary. This is that
    of a fit in memory, and so are the counts, which the next pass finds under it.

    A `Pipeline` of scikit-learn's `CountVectorizer` or `TfidfVectorizer`, `TfidfTransformer` where it is wanted, and
    `MultinomialNB`, `ComplementNB` or `BernoulliNB` takes two passes over the one text of `columns`: document
    frequencies (`.terms`), which are vocabulary and idf; then the weights, summed (to 1e-12).

    EM takes one pass for each E step, whose parts are added in an order that files and row groups fix, so that its
    trace is the same on a cluster, whichever workers are lost, and that of a fit in memory but for rounding: before it,
    a `GaussianMixture` takes two passes (means and deviations, with a sample of 65,536 rows that starts are drawn from;
    the covariance) and `SemiSupervisedNB` one (a label is hidden where the cell of the target is missing, or the
    model's `hidden`); a random start of the latter is a pass, of this machine alone. Without a target all labels are
    hidden; texts take the pass for their vocabularies, those of all rows, here too. No responsibilities are kept.
    `resume` is then one file, written after every pass, and EM goes on after the
    last; `progress` is told how many passes there are at most.

    Columns have the `likelihoods` that the model chooses. That numbers are levels ("categorical", "bernoulli") is said
    by `schema`, since which levels there are is known only when all rows are read.

    Raises ParameterError, before a row is read, where the model needs all rows at once, or a likelihood does not fit
    its column; TableError where every weight is 0; what `collect_parquet` raises.

    >>> import pandas as pd, pathlib, tempfile
    >>> from bayes_engine import TAN, fit_files
    >>> frame = pd.DataFrame({"sugar": [0.1, 0.2, 0.3, 0.7, 0.8, 0.9], "good": ["no"] * 3 + ["yes"] * 3})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame.to_parquet(pathlib.Path(folder, "melons.parquet"))
    ...     model = fit_files(TAN(), folder, target="good")
    >>> model.schema_["sugar"].cuts, model.predict(frame[["sugar"]]).tolist()
    ((0.5,), ['no', 'no', 'no', 'yes', 'yes', 'yes'])
    """
    files = FilesAsked(path_or_paths, schema, columns, weight, delimiter, encoding)
    return fit_rows(model, files, target, progress, resume, threads, client)


def fit_rows(
    model: M,
    files: FilesAsked,
    target: str | None,
    progress: Callable[[Progress], object] | None,
    resume: PathLike | None,
    threads: int | None,
    client: Any = None,
) -> M:
    """`fit_files`, or the same of batches that each pass gets anew."""
    from sklearn.pipeline import Pipeline  # the first page of the app does without

    rows, schema, columns, weight, delimiter, encoding = files
    hidden = isinstance(model, GaussianMixture | SemiSupervisedNB)
    if isinstance(model, BayesianNetwork):
        return network_of_files(model, files, None, target, progress, resume, threads, client)
    if isinstance(model, Pipeline):
        from bayes_engine.scale.tf_idf import WorkersAsked, pipeline_of_files  # scikit-learn's vectorizers

        place = None if resume is None else Path(resume)
        return cast(M, pipeline_of_files(model, files, target, WorkersAsked(threads, client, progress), place))
    want = "columns" if hidden else wanted(model)
    inner = inner_of(model) if isinstance(model, SemiSupervisedNB) else model
    schema = schema if schema is not None else getattr(inner, "schema", None)
    target = target_of(schema, target)
    if schema is not None and any(v.kind == "text" and not v.textual for v in schema):
        schema = read_as_texts(inner, schema, given=True)
    source: Source = (
        rows
        if isinstance(rows, Batches)
        else opened(rows, delimiter=delimiter, encoding=encoding, levels=levels_of(schema, target))
    )
    plan = planned(source, CountRequest(target, schema, columns, weight, want, unlabelled=hidden, texts=True))
    plan, schema = read_by_model(inner, plan, schema)
    refuse_parameters(inner, plan.schema)
    if hidden:
        passed = Workers(threads_of(threads, client, plan), client, progress)
        return _by_em(model, inner, source, plan, passed, resume)  # type: ignore[no-any-return]
    workers = threads_of(threads, client, plan)
    methods = cut_columns(model, plan.schema)
    wide, twice = needs_levels(model, len(plan.schema)), isinstance(model, KDependence) and model.k > 1
    scored, again = isinstance(model, SPODE) and model.super_parent == "loo", shrinks(model)
    unknown = plan.schema if unknown_texts(plan.schema) else None
    step, steps = 0, 1 + (bool(methods) or wide) + twice + scored + again + (unknown is not None)
    place = None if resume is None else Path(resume)
    if unknown is not None:
        assert schema is not None
        step, terms = 1, None if place is None else place.with_name(f"{place.name}.terms")
        closed = with_vocabularies(source, plan, Workers(workers, client, progress), terms, (step, steps))
        plan, schema = replace(plan, schema=closed), Schema(tuple(closed[v.name] for v in schema if v.name in closed))

    def counted(
        want: str, given: Schema | None, ending: str = "", families: tuple[Name, ...] = ()
    ) -> SufficientStatistics:
        nonlocal step
        step += 1
        now, of = step, max(step, steps)
        names = [v.name for v in plan.schema if not (v.textual and want == "values")]
        asked = CountRequest(target, given, columns if given is None else names, weight, want)
        report = None if progress is None else lambda far: progress(far._replace(step=now, steps=of))
        kept = place if place is None or not ending else place.with_name(f"{place.name}.{ending}")
        ours = replace(planned(source, asked), families=families)
        most = min(workers, threads_of(threads, client, ours))
        stats = Pass(source, ours, given, kept, report, most, client).run()
        refuse_weightless(stats.class_weight, weight)
        return stats

    def of_families(ending: str, given: Schema, families: tuple[Name, ...]) -> SufficientStatistics:
        return counted(FAMILIES, given, ending, families)

    def widened(stats: SufficientStatistics, names: list[Name]) -> SufficientStatistics:
        nonlocal steps, workers
        blocks, workers = blocks_of_wider(names, stats, workers)
        steps += len(blocks) - 1
        return with_wider(stats, blocks, of_families)

    first: SufficientStatistics | None = None
    if methods:
        first = counted("values", schema, "cuts")
        schema = cut(model, methods, first, plan.schema)
    elif wide:
        first = counted("columns", schema, "levels")
    if wide and first is not None:
        known = {v.name: v for v in schema} if methods and schema is not None else {}
        levels = Schema(tuple(known[v.name] if v.numeric and v.name in known else v for v in first.schema))
        if all(v.discrete for v in levels):
            blocks = blocks_of_pairs(levels, len(first.target.levels), workers)
            if len(blocks) > 1:
                steps = 2 + len(blocks)
                tree = tree_in_blocks(cast(TAN, model), levels, blocks, of_families)
                return clone(model).fit_stats(tree)  # type: ignore[no-any-return]
    first = None  # a pass holds what it counts, and no more
    stats = counted(want, schema)
    if isinstance(model, KDependence) and model.k > 1:
        stats = widened(stats, model.wider_families(stats))
    if scored or again:
        plan, so_far = replace(plan, schema=stats.schema), None
        if place is not None:
            summed = (*asked_of(model, plan), f"statistics={digest_of_statistics([stats])}")
            ending = "left-out" if scored else "powers"
            so_far = KeptSum(place.with_name(f"{place.name}.{ending}"), summed, source.sources)
        passes = KeptPasses(
            model, source, plan, steps=Steps(1, step), workers=Workers(workers, client, progress), resume=None,
            sum_of_pass=so_far,
        )  # fmt: skip
        return cast(
            M, (spodes(cast(SPODE, model), [stats], passes) if scored else shrunk_models(model, [stats], passes))[0]
        )
    if isinstance(model, BayesianNetworkClassifier):
        result, kept = None, None if place is None else place.with_name(f"{place.name}.search")
        if model.searches(stats):
            nodes, on_workers = class_nodes(model, stats), Workers(workers, client, progress)
            asked = StructureSearch(model.criterion, model.method, model.search_options(stats))
            passes = searching(
                model, source, nodes_plan(plan, nodes.schema), asked, on_workers, kept, steps=Steps(1, step, 1)
            )
            (result,) = structures(passes, [nodes], asked)
            step += passes.done
        if names := model.wider_families(stats, result):
            steps = step + 1
            stats = widened(stats, names)
        return clone(model).fit_graph_stats(stats, result)  # type: ignore[no-any-return]
    if unknown is not None:
        stats = opened_again(stats, unknown)
    return clone(model).fit_stats(stats)  # type: ignore[no-any-return]


def _by_em(
    model: Any,
    inner: Any,
    source: Source,
    plan: CountPlan,
    workers: Workers,
    resume: PathLike | None,
) -> Any:
    """The model fitted by a pass for each E step."""
    mixture = isinstance(model, GaussianMixture)
    if mixture:
        refuse_other_columns(plan, source.names[0])
    else:
        refuse_lone(plan, model)
        refuse_cuts([name for names in cut_columns(inner, plan.schema).values() for name in names])
    before = FIRST_OF_MIXTURE if mixture else FIRST_OF_LABELS
    most = before + 1 + checked_whole("max_iter", model.max_iter, 0)
    place = None if resume is None else Path(resume)
    model, read = clone(model), plan.schema
    texts = bool(unknown_texts(read))
    if texts:
        terms = None if place is None else place.with_name(f"{place.name}.terms")
        plan = replace(plan, schema=with_vocabularies(source, plan, workers, terms, (1, 1 + most)))
        release()
    passes = KeptPasses(model, source, plan, steps=Steps(most, int(texts)), workers=workers, resume=place)
    return mixture_of_files(model, passes) if mixture else semi_supervised_of_files(model, inner, passes, read)


def coarsened(stats: SufficientStatistics, schema: Schema) -> SufficientStatistics:
    """Statistics counted under more cut points as those under the fewer of `schema`: neighbouring intervals add up.

    >>> import numpy as np, pandas as pd
    >>> from bayes_engine import NaiveBayes
    >>> fine = Schema((Variable("x", "continuous", ("low", "middle", "high"), declared=True, cuts=(1.0, 2.0)),))
    >>> stats = NaiveBayes(schema=fine).fit(pd.DataFrame({"x": [0.5, 1.5, 2.5, 3.5]}), list("abab")).stats_
    >>> coarse = Schema((Variable("x", "continuous", ("low", "high"), declared=True, cuts=(2.0,)),))
    >>> coarsened(stats, coarse).counts.tables["x"].tolist()  # missing, low, high
    [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    """
    starts: dict[str, Any] = {}
    for v in schema:
        fine = stats.schema[v.name].cuts
        if v.cuts is not None and fine is not None and v.cuts != fine:
            starts[v.name] = np.concatenate([[0, 1], np.searchsorted(fine, v.cuts) + 2])
    if not starts:
        return replace(stats, schema=schema)

    def added(names: tuple[str, ...], table: Any) -> Any:
        for axis, name in enumerate(names, start=1):
            if name in starts:
                table = np.add.reduceat(table, starts[name], axis=axis)
        return table

    counts = replace(stats.counts, tables={n: added((n,), t) for n, t in stats.counts.tables.items()})
    tables = {names: added(names, t) for names, t in stats.families.tables.items()}
    if any(starts.keys() & set(names) for names in stats.families.moments):
        raise ParameterError("columns of numbers within intervals are not learnt from files; cut all of them, or none")
    return replace(stats, schema=schema, counts=counts, families=replace(stats.families, tables=tables))
