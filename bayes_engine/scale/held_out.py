"""Risk on rows held out, of more rows than memory holds: what `bayes_engine.decision.held_out` and `estimated_risk` say
of a table, of files.

Each row has a fold by a hash. The counting pass adds up statistics fold by fold; those that a fold's model learns from
are the other folds' merged, its structure and its cut points found in them alone. A further pass scores each row by the
model that has not seen it, and keeps sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bayes_engine.decision.compare import bins_for
from bayes_engine.decision.decision_boundaries import log_proba
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.models.counted_naive_bayes import refuse_scores
from bayes_engine.models.k_dependence import KDependence
from bayes_engine.models.network_classifier import BayesianNetworkClassifier
from bayes_engine.models.spode import SPODE
from bayes_engine.priors import given_prior
from bayes_engine.scale.arrow import CountPlan, as_read, encoded, frame_of
from bayes_engine.scale.collect import PathLike
from bayes_engine.scale.csv_blocks import Csv, levels_of
from bayes_engine.scale.em_passes import KeptPasses, Steps, asked_of
from bayes_engine.scale.fit import (
    coarsened,
    cut,
    cut_columns,
    refuse_parameters,
    refuse_weightless,
    wanted,
)
from bayes_engine.scale.fold_counts import FoldCounts, counted_by_fold, finest, of_other_folds
from bayes_engine.scale.folds import Division, checked_folds, folds_of
from bayes_engine.scale.kept import KeptSum, digest_of, digest_of_statistics
from bayes_engine.scale.memory import at_a_time, bytes_of_points, release, threads_of
from bayes_engine.scale.pairs import joined
from bayes_engine.scale.plan import CountRequest, planned, refuse_other_sorts, target_of
from bayes_engine.scale.scan import FAMILIES, Progress
from bayes_engine.scale.score import (
    RiskInFiles,
    ScoreRule,
    ScoreSums,
    packed_array,
    packed_scores,
    summed,
    unpacked_array,
    unpacked_scores,
)
from bayes_engine.scale.search import StructureSearch, class_nodes, nodes_plan, searching, structures
from bayes_engine.scale.shrinkage import shrinks, shrunk_models
from bayes_engine.scale.sources import Parquet, opened
from bayes_engine.scale.stream import Packing, Piece, Workers, added_up
from bayes_engine.scale.super_parent import spodes
from bayes_engine.scale.texts import narrowed, read_by_model, unknown_texts, vocabularies_by_fold
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.structure.search import SearchResult
from bayes_engine.table.encode import positions
from bayes_engine.table.schema import Schema

Stats = SufficientStatistics
Prior = Mapping[Any, float] | Callable[[tuple[Any, ...]], Mapping[Any, float] | None] | None


def held_out_risk(
    model: Any,
    path_or_paths: PathLike | Iterable[PathLike],
    *,
    target: str | None = None,
    loss: Any = None,
    prior_of_use: Prior = None,
    folds: int = 5,
    groups: str | None = None,
    seed: int = 0,
    schema: Schema | None = None,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    bins: int | None = None,
    delimiter: str = ",",
    encoding: str = "utf-8",
    progress: Callable[[Progress], object] | None = None,
    resume: PathLike | None = None,
    threads: int | None = None,
    client: Any = None,
) -> RiskInFiles:
    """The risk of a model's decisions on rows of Parquet or CSV files that it has not seen, as `held_out` and
    `estimated_risk` find it for a table: equal to theirs on the same folds.

    A row's fold is a hash of its file's name, its row group and its place there (of CSV, its row), or of its cell in
    the column `groups`, so that rows of one group stay together; never of its content. Each fold's model is learnt from
    the other folds: its structure, its cut points and the vocabularies of its texts too; levels of a column are its
    domain and stay. The files are read twice, once more before for vocabularies and where columns are cut into
    intervals, and once more for k-DB with k ≥ 2, for a super-parent by leave-one-out and for Ledoit and Wolf's
    shrinkage; for a `BayesianNetworkClassifier` as often as the folds' searches ask for counts, all of them at once,
    and once more for the tables of their graphs. Memory does not grow with the rows.

    Parameters
    ----------
    model : an estimator of those that `fit_files` learns, fitted or not; its parameters are what is judged.
    loss : losses by decision and truth, as `LossMatrix.from_any` takes them, or a function that gives them for the
        classes; None is 0-1.
    prior_of_use : class frequencies where the model will be used, as in `estimated_risk`; or such a function.
    folds, groups, seed : how rows are divided; see above.
    bins : of the calibration; None for ten, five below 200 rows.

    target, schema, columns, weight, delimiter, encoding, progress, threads and client are those of `fit_files`;
    `progress` is told which pass it is. The column `groups` is no feature. Sums are merged in an order that files and
    row groups fix, so what the workers of `client` find is what one machine finds, to the last bit; and so is what is
    found where it was broken off: `resume` keeps each pass in a file of its own (the names of the others end in
    `.terms`, `.cuts`, `.left-out`, `.powers`, `.search`, `.families` and `.scores`), every few seconds and at the end;
    of a cluster whole passes.

    Raises ParameterError, before a row is read, where the model needs all rows at once; TableError where a fold has no
    row; what `collect_parquet` raises.

    >>> import pandas as pd, pathlib, tempfile
    >>> from bayes_engine import NaiveBayes, held_out_risk
    >>> frame = pd.DataFrame({"sound": ["dull", "crisp"] * 50, "good": ["yes", "no"] * 50})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame.to_parquet(pathlib.Path(folder, "melons.parquet"))
    ...     found = held_out_risk(NaiveBayes(), folder, target="good")
    >>> found.risk, str(found.scheme), found.passes
    (0.0, '5 folds by a hash of file, row group and place', 2)
    """
    want = wanted(model)
    if not hasattr(model, "predict_proba"):
        raise ParameterError(
            "{model} gives no probabilities, so its decisions have no risk", model=type(model).__name__
        )
    if isinstance(model, ComplementNaiveBayes):
        refuse_scores(type(model).__name__)
    division = Division(checked_folds(folds), groups, seed)
    schema = schema if schema is not None else getattr(model, "schema", None)
    target = target_of(schema, target)
    source = opened(path_or_paths, delimiter=delimiter, encoding=encoding, levels=levels_of(schema, target))
    also = () if groups is None else (groups,)

    def plan_for(want: str, given: Schema | None, columns: Sequence[str] | None) -> CountPlan:
        return planned(source, CountRequest(target, given, columns, weight, want, also, texts=True))

    plan, schema = read_by_model(model, plan_for(want, schema, columns), schema)
    refuse_parameters(model, plan.schema)
    before, names = plan.schema, plan.schema.names
    methods = cut_columns(model, plan.schema)
    twice = isinstance(model, KDependence) and model.k > 1
    left_out = isinstance(model, SPODE) and model.super_parent == "loo"
    again = shrinks(model)
    texts = unknown_texts(before)
    passes = 2 + bool(texts) + bool(methods) + twice + left_out + again
    workers = Workers(threads_of(threads, client, plan), client, progress)
    place = None if resume is None else Path(resume)

    def counted(what: CountPlan, by: Workers, step: tuple[int, int], ending: str = "") -> FoldCounts:
        return counted_by_fold(source, what, division, by, step, _kept(place, ending, what, division, source))

    vocabularies: list[Schema] = []
    if texts:
        keep = partial(_kept, place, "terms", division=division, source=source)
        closed, vocabularies = vocabularies_by_fold(source, plan, division, workers, keep, (1, passes))
        plan = replace(plan, schema=closed)
        release()
    schemas: list[Schema] = []
    if methods:
        first = plan_for("values", schema, [v.name for v in before if not v.textual])
        others = (division.folds - 1) * bytes_of_points(first)  # of the other folds, which are held besides
        fewer = workers._replace(threads=at_a_time(threads_of(threads, client, first), first, others))
        values = counted(first, fewer, (1 + bool(texts), passes), "cuts")
        schemas = [cut(model, methods, part, plan.schema) for part in of_other_folds(values, first.schema)[1]]
        del values
        release()
        plan = plan_for(want, finest(plan.schema, schemas), names)

    def learnt_of(counts: FoldCounts) -> tuple[Stats, list[Stats]]:
        whole, parts = of_other_folds(counts, plan.schema)
        if vocabularies:
            parts = [narrowed(part, own, before) for part, own in zip(parts, vocabularies, strict=True)]
        if not schemas:
            return whole, parts
        cuts = [
            Schema(tuple(s[v.name] if s[v.name].cuts else v for v in part.schema))
            for part, s in zip(parts, schemas, strict=True)
        ]
        return whole, [coarsened(part, s) for part, s in zip(parts, cuts, strict=True)]

    counts = counted(plan, workers, (1 + bool(texts) + bool(methods), passes))
    whole, learnt_from = learnt_of(counts)
    refuse_weightless(whole.class_weight, weight)
    if isinstance(model, KDependence) and model.k > 1:
        families = {name for part in learnt_from for name in model.wider_families(part)}
        wider = replace(plan, want=FAMILIES, families=tuple(sorted(families)))
        more = counted(wider, workers, (passes - 1, passes), "families")
        learnt_from = [joined(part, other) for part, other in zip(learnt_from, learnt_of(more)[1], strict=True)]
        del more
    structured = None
    if left_out or again:
        own = asked_of(model, plan)[0], f"statistics={digest_of_statistics(learnt_from)}"
        kept = _kept(place, "left-out" if left_out else "powers", plan, division, source, *own)
        ours = KeptPasses(
            model, source, plan, steps=Steps(1, passes - 2, 1), workers=workers, resume=None, sum_of_pass=kept
        )
        structured = spodes(model, learnt_from, ours, division) if left_out else (
            shrunk_models(model, learnt_from, ours, division)
        )  # fmt: skip
    if isinstance(model, BayesianNetworkClassifier):
        first_two = 1 + bool(methods)
        kept_search = None if place is None else place.with_name(f"{place.name}.search")
        begin = partial(searching, model, source, workers=workers, resume=kept_search, steps=Steps(1, first_two, 2))
        structured, passes = _searched(
            model, plan, division, learnt_from, begin,
            lambda wider, step: learnt_of(counted(wider, workers, step, "families"))[1], first_two,
        )  # fmt: skip
    models = [clone(model).fit_stats(part) for part in learnt_from] if structured is None else structured
    fold_rows = tuple(counts.rows)
    rule = _rule(whole.target.levels, whole.class_weight, loss, prior_of_use, bins, sum(fold_rows))
    del counts, whole, learnt_from  # the models hold what is needed of them
    kept = _kept(place, "scores", plan, division, source, *rule.asked(models, fold_rows))
    sums = _scored(source, plan, models, rule, division, workers, (passes, passes), kept)
    scheme = division.scheme
    if texts:
        scheme = Message("{scheme}, the vocabulary of each learnt from the others", {"scheme": scheme})
    return RiskInFiles.of(sums, rule, scheme, fold_rows, passes)


def _searched(
    model: BayesianNetworkClassifier,
    plan: CountPlan,
    division: Division,
    learnt_from: Sequence[Stats],
    begin: Callable[..., KeptPasses],
    counted: Callable[[CountPlan, tuple[int, int]], list[Stats]],
    before: int,
) -> tuple[list[Any], int]:
    """A classifier for each fold, its graph searched for in the others, all at once, and how many passes there are."""
    results: list[SearchResult | None] = [None] * len(learnt_from)
    step = before
    if model.searches(learnt_from[0]):
        nodes = [class_nodes(model, part, without=i) for i, part in enumerate(learnt_from)]
        wanted = StructureSearch(model.criterion, model.method, model.search_options(learnt_from[0]))
        ours = begin(plan=nodes_plan(plan, nodes[0].schema), wanted=wanted)
        results = list(structures(ours, nodes, wanted, division))
        step += ours.done
    each = list(zip(learnt_from, results, strict=True))
    families = {name for part, one in each for name in model.wider_families(part, one)}
    if families:
        step += 1
        wider = replace(plan, want=FAMILIES, families=tuple(sorted(families)))
        more = counted(wider, (step, step + 1))
        each = [(joined(part, other), one) for (part, one), other in zip(each, more, strict=True)]
    return [clone(model).fit_graph_stats(part, one) for part, one in each], step + 1


def evaluate_files(
    model: Any,
    path_or_paths: PathLike | Iterable[PathLike],
    *,
    target: str | None = None,
    loss: Any = None,
    prior_of_use: Prior = None,
    groups: str | None = None,
    weight: str | None = None,
    bins: int | None = None,
    delimiter: str = ",",
    encoding: str = "utf-8",
    progress: Callable[[Progress], object] | None = None,
    resume: PathLike | None = None,
    threads: int | None = None,
    client: Any = None,
) -> RiskInFiles:
    """The risk of a fitted model's decisions on rows that it was not fitted to, of Parquet or CSV files, in two passes:
    one counts the classes, one scores. The arguments are those of `held_out_risk`; rows of one of the `groups` are
    drawn together for the interval.

    That the model has not seen the rows cannot be checked here. Raises TableError where they hold a class that it has
    not met.
    """
    check_is_fitted(model)
    learnt = judging(model)
    known = as_read(learnt.schema_)
    target = target if target is not None else learnt.target_.name
    levels = levels_of(known) | {target: learnt.target_.levels}
    source = opened(path_or_paths, delimiter=delimiter, encoding=encoding, levels=levels)
    also = () if groups is None or groups in known.names else (groups,)
    plan = planned(source, CountRequest(target, known, known.names, weight, "columns", also, texts=True))
    refuse_other_sorts(source, known)
    division = Division(1, groups, 0)
    workers = Workers(threads_of(threads, client, plan), client, progress)
    classes = tuple(model.classes_.tolist())
    alone = replace(plan, schema=Schema(()), also=())
    place, model_is = None if resume is None else Path(resume), f"model={digest_of(model)}"
    kept = _kept(place, "", alone, division, source, model_is)
    by_class = partial(_by_class, plan=alone, classes=classes)
    held = added_up(
        source, alone, by_class, np.add, workers, step=(1, 2), packing=Packing(packed_array, unpacked_array, kept)
    )
    if held is None:
        raise TableError("there are no rows to count: the files are empty")
    totals, rows = held[0], int(held[1].sum())
    refuse_weightless(totals, weight)
    rule = _rule(classes, totals, loss, prior_of_use, bins, rows)
    kept = _kept(place, "scores", plan, division, source, *rule.asked([model], (rows,)))
    sums = _scored(source, plan, [model], rule, division, workers, (2, 2), kept)
    return RiskInFiles.of(sums, rule, Message("rows that the model was not fitted to"), (rows,), 2)


def _kept(
    place: Path | None, ending: str, plan: CountPlan, division: Division, source: Parquet | Csv, *more: str
) -> KeptSum | None:
    """The file of one pass, if any."""
    if place is None:
        return None
    asked = (
        *(f"want={plan.want}", f"target={plan.target}", f"weight={plan.weight}", f"columns={plan.schema.names!r}"),
        *(f"folds={division.folds}", f"groups={division.groups}", f"seed={division.seed}", f"schema={plan.schema!r}"),
        *(f"families={plan.families!r}", *more),
    )
    return KeptSum(place.with_name(f"{place.name}.{ending}") if ending else place, asked, source.sources)


def _by_class(piece: Piece, plan: CountPlan, classes: tuple[Any, ...]) -> Array:
    """(2, K) the weight of each class, and its rows."""
    truth, weight = _truth(piece, plan, classes)
    k = len(classes)
    return np.stack([np.bincount(truth, weight, minlength=k), np.bincount(truth, minlength=k)]).astype(float)


def judging(model: Any) -> Any:
    """What says which columns a model reads, and what its prior is: itself, or the model that it calibrates or
    fits by EM. Raises ParameterError where nothing does."""
    inner = getattr(model, "estimator_", model)
    judge = next((one for one in (model, inner) if hasattr(one, "schema_") and hasattr(one, "prior_by_class")), None)
    if judge is None:
        raise ParameterError(
            "{model} does not say which columns it reads and what its prior is, so files are not scored by it",
            model=type(model).__name__,
        )
    return judge


def _rule(
    classes: tuple[Any, ...],
    weight: Array,
    loss: Any,
    prior_of_use: Prior,
    bins: int | None,
    rows: int,
) -> ScoreRule:
    matrix = LossMatrix.from_any(loss(classes) if callable(loss) else loss, classes)
    prior_of_use = prior_of_use(classes) if callable(prior_of_use) else prior_of_use
    matrix.units(None)  # says what is amiss where losses are per unit of an amount
    shift = np.ones(len(classes))
    if prior_of_use is not None:
        share = weight / weight.sum()
        shift = given_prior(prior_of_use, classes) / np.where(share > 0, share, 1.0)
    return ScoreRule(classes, matrix, prior_of_use, shift, bins_for(rows) if bins is None else bins)


def _truth(piece: Piece, plan: CountPlan, classes: tuple[Any, ...]) -> tuple[NDArray[np.intp], Array]:
    """(n,) the class of each row, by its place, and its weight."""
    alone = plan if not len(plan.schema) else replace(plan, schema=Schema(()))
    _table, labels, target = encoded(piece.batch, alone, piece.block.declared, {}, piece.row)
    place = positions(np.array(target.levels, dtype=object), classes)
    assert labels.codes is not None
    truth = place[labels.codes]
    if (strange := truth < 0).any():
        raise TableError(
            "the model was fitted without the class '{label}' of row {row}; fit it to these rows first",
            label=str(target.levels[int(labels.codes[strange][0])]),
            row=piece.row + int(strange.argmax()) + 1,
        )
    return truth, labels.by_row


def _scored(
    source: Parquet | Csv,
    plan: CountPlan,
    models: Sequence[Any],
    rule: ScoreRule,
    division: Division,
    workers: Workers,
    step: tuple[int, int],
    kept: KeptSum | None = None,
) -> ScoreSums:
    """What each row's model says of it, added up."""
    score = _FoldScores(plan, tuple(models), rule, division)
    total = added_up(
        source,
        plan,
        score,
        ScoreSums.__add__,
        workers,
        step=step,
        packing=Packing(packed_scores, unpacked_scores, kept),
    )
    assert total is not None
    return total


@dataclass(frozen=True)
class _FoldScores:
    """What is said of a batch: each row by the model of its fold."""

    plan: CountPlan
    models: tuple[Any, ...]
    rule: ScoreRule
    division: Division

    def __call__(self, piece: Piece) -> ScoreSums:
        classes, division = self.rule.classes, self.division
        prior = np.array([[judging(m).prior_by_class.get(c, 0.0) for c in classes] for m in self.models])
        truth, weight = _truth(piece, self.plan, classes)
        frame = frame_of(piece.batch, as_read(judging(self.models[0]).schema_), piece.row)
        hashes = division.hashes(piece)
        fold = folds_of(hashes, division.folds)
        log_p = np.full((len(truth), len(classes)), -np.inf)
        for i, model in enumerate(self.models):
            rows = np.flatnonzero(fold == i)
            if len(rows):
                log_p[rows] = log_proba(model, frame if len(rows) == len(frame) else frame.iloc[rows])
        held = HeldOut(classes, log_p, prior, truth, weight, division.scheme, fold=fold)
        return summed(held, self.rule, None if division.groups is None else hashes)
