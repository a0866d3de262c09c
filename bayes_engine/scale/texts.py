"""Text columns of files: which of a model's columns are texts, and the vocabulary of each, found in a pass before the
count, in how many texts every term stands being counted exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from bayes_engine.errors import NoTerms, TableError
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.table_reader import refuse_text
from bayes_engine.scale.arrow import CountPlan, as_text
from bayes_engine.scale.em_passes import PACKING, Found
from bayes_engine.scale.folds import Division, folds_of
from bayes_engine.scale.kept import KeptSum
from bayes_engine.scale.sources import Source
from bayes_engine.scale.stream import Packing, Piece, Workers, added_up
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.terms import TextTerms
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.table.text import TextRule, learn_terms, no_terms

MOST_MET = 2**20
"""Distinct terms that a column may hold, those included that are then left out."""
MOST_TERMS = 2**18
"""Terms of a vocabulary: as many as the file of a model holds."""


def read_as_texts(model: Any, schema: Schema, *, given: bool) -> Schema:
    """The schema with the columns as texts, and as counts, that the model reads so; `given` by whoever calls, or as the
    types of the columns have it. Raises TableError where the model reads no text."""
    if isinstance(model, NaiveBayes):
        return model.with_texts(schema)
    if isinstance(model, ComplementNaiveBayes):
        return model.with_texts(schema, given=given)
    for variable in schema:
        if variable.textual:
            refuse_text(variable, model)
    return schema


def read_by_model(model: Any, plan: CountPlan, schema: Schema | None) -> tuple[CountPlan, Schema | None]:
    """The plan with the columns as texts, and as counts, that the model reads so, and with the likelihoods that it
    chooses; and the schema given, with these."""
    if isinstance(model, NaiveBayes):
        known = model.with_likelihoods(plan.schema)
    else:
        known = read_as_texts(model, plan.schema, given=schema is not None)
    changed = {v.name for v in known if v != plan.schema[v.name]}
    if not changed:
        return plan, schema
    own = changed | plan.given
    return replace(plan, schema=known), Schema(tuple(v for v in known if v.name in own))


def unknown_texts(schema: Schema) -> list[Variable]:
    """The texts whose vocabulary the rows say."""
    return [v for v in schema if v.textual and not v.declared]


@dataclass
class TermTally:
    """Of the terms of one column: in how many texts each stands, and, where the rule chooses by it, how often."""

    column: str
    documents: dict[str, int] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)

    def add(self, other: TermTally) -> TermTally:
        """This one, with the texts of another. Raises TableError where there are more terms than MOST_MET."""
        for mine, theirs in ((self.documents, other.documents), (self.times, other.times)):
            counts: dict[str, Any] = cast(dict[str, Any], mine)
            for term, n in theirs.items():
                counts[term] = counts.get(term, 0) + n
        self.refuse_many()
        return self

    def refuse_many(self) -> None:
        """Raises TableError where there are more terms than MOST_MET."""
        if len(self.documents) > MOST_MET:
            raise TableError(
                "column '{column}' holds more than {most} distinct terms, and each is counted before any is left out; "
                "take words for n-grams, or shorter ones, or give the vocabulary by schema=",
                column=self.column,
                most=MOST_MET,
            )

    def vocabulary(self, variable: Variable) -> tuple[str, ...]:
        """The terms that a fit in memory takes: of a new vocabulary those that the rule chooses, sorted; of a known one
        these, and the others behind. Raises NoTerms, TableError."""
        rule, met = cast(TextRule, variable.text), sorted(self.documents)
        if variable.levels:
            known = set(variable.levels)
            terms = (*map(str, variable.levels), *(term for term in met if term not in known))
        else:
            there = np.flatnonzero([self.documents[term] >= rule.min_df for term in met])
            if rule.max_features is not None and len(there) > rule.max_features:
                times = np.array([self.times[met[v]] for v in there])
                there = np.sort(there[(-times).argsort()[: rule.max_features]])  # among equals as scikit-learn sorts
            terms = tuple(met[v] for v in there)
            if not terms:
                raise no_terms(variable.name, rule)
        refuse_large(variable.name, len(terms))
        return terms


def refuse_large(column: str, terms: int) -> None:
    """Raises TableError where a vocabulary has more terms than MOST_TERMS."""
    if terms > MOST_TERMS:
        raise TableError(
            "the vocabulary of column '{column}' has {n} terms, and the most is {most}; raise min_df, or set "
            "max_features",
            column=column,
            n=terms,
            most=MOST_TERMS,
        )


def with_vocabularies(
    source: Source, plan: CountPlan, workers: Workers, resume: Path | None, step: tuple[int, int]
) -> Schema:
    """The schema of the plan with the vocabularies of its texts, closed, by a pass over these columns alone. Raises
    TableError where one is too large, NoTerms where it is empty."""
    texts = unknown_texts(plan.schema)
    alone = CountPlan(Schema(tuple(texts)), "", None, "terms", frozenset(v.name for v in texts))
    kept = None
    if resume is not None:
        asked = tuple(f"text={v.name!r}, {v.text!r}" for v in texts)
        kept = KeptSum(resume, ("want=terms", *asked), source.sources)
    packing = Packing(packed_tallies, partial(unpacked_tallies, columns=[v.name for v in texts]), kept)
    work = partial(_tallied, texts=tuple(texts))
    tallies = added_up(source, alone, work, _added, workers, step=step, packing=packing)
    if tallies is None:
        raise TableError("there are no rows to count: the files are empty")
    closed = {
        v.name: replace(v, levels=tally.vocabulary(v), declared=True) for v, tally in zip(texts, tallies, strict=True)
    }
    return Schema(tuple(closed.get(v.name, v) for v in plan.schema))


def vocabularies_by_fold(
    source: Source,
    plan: CountPlan,
    division: Division,
    workers: Workers,
    keep: Callable[[CountPlan], KeptSum | None],
    step: tuple[int, int],
) -> tuple[Schema, list[Schema]]:
    """The schema of the plan with all terms that any fold's model knows, and for each fold that with the vocabularies
    that a fit to the other folds finds, by a pass over these columns alone that counts terms fold by fold. Raises as
    `with_vocabularies`, the most terms being those of all folds together."""
    texts, k = unknown_texts(plan.schema), division.folds
    alone = CountPlan(Schema(tuple(texts)), "", None, "terms", frozenset(v.name for v in texts), plan.also)
    columns = [v.name for v in texts] * k
    packing = Packing(packed_tallies, partial(unpacked_tallies, columns=columns), keep(alone))
    work = partial(_tallied_by_fold, texts=tuple(texts), division=division)
    tallies = added_up(source, alone, work, partial(_added_by_fold, k=k), workers, step=step, packing=packing)
    if tallies is None:
        raise TableError("there are no rows to count: the files are empty")
    own: list[dict[str, Variable]] = [{} for _ in range(k)]
    union = {}
    for j, v in enumerate(texts):
        by_fold = tallies[j :: len(texts)]
        for i in range(k):
            others = TermTally(v.name)
            for other in (*by_fold[:i], *by_fold[i + 1 :]):
                others.add(other)
            own[i][v.name] = replace(v, levels=others.vocabulary(v), declared=True)
        known = {*map(str, v.levels)}
        more = {str(term) for one in own for term in one[v.name].levels} - known
        refuse_large(v.name, len(known) + len(more))
        union[v.name] = replace(v, levels=(*v.levels, *sorted(more)), declared=True)
    every = (union, *own)
    whole, *each = (Schema(tuple(closed.get(v.name, v) for v in plan.schema)) for closed in every)
    return whole, each


def narrowed(stats: SufficientStatistics, closed: Schema, before: Schema) -> SufficientStatistics:
    """The statistics under the vocabularies of `closed`, which are among theirs, as a fit leaves them."""
    own = {v.name: tuple(map(str, closed[v.name].levels)) for v in unknown_texts(before)}
    columns = {name: terms.of(own[name]) if name in own else terms for name, terms in stats.texts.columns.items()}
    schema = Schema(tuple(replace(v, levels=own[v.name]) if v.name in own else v for v in stats.schema))
    return opened_again(replace(stats, schema=schema, texts=TextTerms(columns)), before)


def opened_again(stats: SufficientStatistics, before: Schema) -> SufficientStatistics:
    """The statistics with the vocabularies as a fit leaves them, open but where the rule closes them."""
    unknown: Mapping[str, Variable] = {v.name: v for v in unknown_texts(before)}
    variables = (
        replace(v, declared=v.text.closed) if v.name in unknown and v.text is not None else v for v in stats.schema
    )
    return replace(stats, schema=Schema(tuple(variables)))


def _tallied(piece: Piece, texts: Sequence[Variable]) -> tuple[TermTally, ...]:
    """The terms of a batch."""
    return tuple(_tally(as_text(piece.batch.column(v.name), v.name), cast(TextRule, v.text)) for v in texts)


def _tally(column: Any, rule: TextRule) -> TermTally:
    try:
        terms, read = learn_terms(column, replace(rule, min_df=1, max_features=None), ())
    except NoTerms:
        return TermTally(column.name)
    documents = np.bincount(read.counts.indices, minlength=len(terms)).tolist()
    times = (
        {} if rule.max_features is None else dict(zip(terms, np.asarray(read.counts.sum(axis=0)).tolist(), strict=True))
    )
    tally = TermTally(column.name, dict(zip(terms, documents, strict=True)), times)
    tally.refuse_many()
    return tally


def _added(a: tuple[TermTally, ...], b: tuple[TermTally, ...]) -> tuple[TermTally, ...]:
    """In place: whole numbers come out alike in any order, and a second dictionary would be held otherwise."""
    return tuple(mine.add(theirs) for mine, theirs in zip(a, b, strict=True))


def _tallied_by_fold(piece: Piece, texts: Sequence[Variable], division: Division) -> tuple[TermTally, ...]:
    """The terms of a batch, fold by fold, and for each text by text."""
    fold = folds_of(division.hashes(piece), division.folds)
    columns = [(as_text(piece.batch.column(v.name), v.name), cast(TextRule, v.text)) for v in texts]
    return tuple(_tally(column[fold == i], rule) for i in range(division.folds) for column, rule in columns)


def _added_by_fold(a: tuple[TermTally, ...], b: tuple[TermTally, ...], k: int) -> tuple[TermTally, ...]:
    total = _added(a, b)
    for j in range(len(total) // k):
        of_text = total[j :: len(total) // k]
        if sum(len(tally.documents) for tally in of_text) > MOST_MET:
            raise TableError(
                "column '{column}' holds more than {most} distinct terms in {k} folds, each counted by itself; take "
                "fewer folds, words for n-grams, or give the vocabulary by schema=",
                column=of_text[0].column,
                most=MOST_MET,
                k=k,
            )
    return total


def packed_tallies(tallies: tuple[TermTally, ...]) -> Any:
    """Terms as bytes: a file of passes holds fewer texts than a column."""
    arrays: list[Any] = []
    for tally in tallies:
        raw = [term.encode("utf-8", "surrogatepass") for term in tally.documents]
        arrays += [np.array(list(map(len, raw)), dtype=np.int64), np.frombuffer(b"".join(raw), dtype=np.uint8)]
        arrays.append(np.array(list(tally.documents.values()), dtype=np.int64))
        arrays.append(np.array([tally.times[term] for term in tally.documents] if tally.times else [], dtype=float))
    return PACKING.pack(tuple(arrays))


def unpacked_tallies(data: bytes, columns: Sequence[str]) -> tuple[TermTally, ...]:
    arrays: Found = PACKING.unpack(data)
    tallies = []
    for column, *parts in zip(columns, arrays[::4], arrays[1::4], arrays[2::4], arrays[3::4], strict=True):
        lengths, raw, documents, times = parts
        whole, ends = raw.tobytes(), np.cumsum(lengths).tolist()
        terms = [str(whole[a:b], "utf-8", "surrogatepass") for a, b in zip([0, *ends], ends, strict=False)]
        tally = TermTally(column, dict(zip(terms, documents.tolist(), strict=True)))
        if len(times):
            tally.times = dict(zip(terms, times.tolist(), strict=True))
        tallies.append(tally)
    return tuple(tallies)
