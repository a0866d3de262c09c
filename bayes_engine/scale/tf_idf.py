"""scikit-learn's pipeline of a vectorizer, tf-idf and naive Bayes of a matrix of terms, learnt from texts in files: one
pass finds exactly in how many texts each term stands, which is vocabulary and idf, the next sums the weights of each
term by class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from math import ceil
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import Pipeline

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.models.counted_naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from bayes_engine.models.target import lone_class
from bayes_engine.scale.arrow import CountPlan, as_text, encoded
from bayes_engine.scale.csv_blocks import levels_of
from bayes_engine.scale.em_passes import PACKING
from bayes_engine.scale.kept import KeptSum
from bayes_engine.scale.memory import threads_of
from bayes_engine.scale.network import FilesAsked
from bayes_engine.scale.plan import CountRequest, planned, target_of
from bayes_engine.scale.scan import Progress
from bayes_engine.scale.sources import Batches, Source, opened
from bayes_engine.scale.stream import Packing, Piece, Workers, added_up
from bayes_engine.scale.texts import TermTally, packed_tallies, refuse_large, unpacked_tallies
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.partial import in_order, merged
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.table.text import TextRule, no_terms

OF_TERMS = (MultinomialNB, ComplementNB, BernoulliNB)
"""The classifiers of a matrix of terms."""


class WorkersAsked(NamedTuple):
    """The arguments of `fit_files` by these names."""

    threads: int | None
    client: Any
    progress: Callable[[Progress], object] | None


def pipeline_of_files(
    model: Pipeline,
    files: FilesAsked,
    target: str | None,
    workers_asked: WorkersAsked,
    resume: Path | None,
) -> Pipeline:
    """A new pipeline, fitted to all rows by two passes, each with its file where there is one to `resume`."""
    new = clone(model)
    transformers, classifier = [part for _, part in new.steps[:-1]], new.steps[-1][1]
    _refuse_others(transformers, classifier)
    rows, schema, columns, weight, delimiter, encoding = files
    named = [columns] if isinstance(columns, str) else list(columns or ())
    if len(named) != 1:
        raise ParameterError("a Pipeline of files reads one column of texts: name it by columns=")
    target = target_of(schema, target)
    source: Source = (
        rows
        if isinstance(rows, Batches)
        else opened(rows, delimiter=delimiter, encoding=encoding, levels=levels_of(schema, target))
    )
    text = Variable(named[0], "text", likelihood="multinomial", text=TextRule())
    plan = planned(source, CountRequest(target, Schema((text,)), named, weight, "columns", texts=True))
    threads, client, progress = workers_asked
    workers = Workers(threads_of(threads, client, plan), client, progress)
    alone = CountPlan(plan.schema, "", None, "terms", plan.given)
    asked = (f"text={text.name!r}", *_asked(transformers))
    terms = None
    if resume is not None:
        terms = KeptSum(resume.with_name(f"{resume.name}.terms"), ("want=terms", *asked), source.sources)
    tally = added_up(
        source, alone, partial(_tallied, column=text.name, reader=_reader(transformers[0])), CountedTexts.add, workers,
        step=(1, 2), packing=Packing(_packed_texts, partial(_unpacked_texts, column=text.name), terms),
    )  # fmt: skip
    if tally is None:
        raise TableError("there are no rows to count: the files are empty")
    _learn(transformers, tally, text.name)
    work = partial(_summed, column=text.name, plan=plan, transformers=transformers, classifier=classifier)
    kept = None
    if resume is not None:
        by = (f"target={plan.target}", f"weight={plan.weight}", f"classifier={type(classifier).__name__}")
        kept = KeptSum(resume, (*by, *asked, f"weights={_digest(transformers)}"), source.sources)
    stats = added_up(source, plan, work, merged, workers, step=(2, 2), packing=Packing(_packed, _unpacked, kept))
    assert stats is not None
    stats = in_order(stats, stats.schema)
    if len(stats.target.levels) == 1:
        raise lone_class(stats.target.levels[0])
    classifier.fit_stats(stats)
    return new


def _asked(transformers: list[Any]) -> Iterator[str]:
    """What a file keeps the sums of: the transformers with their parameters, functions by their names."""
    for one in transformers:
        for name, value in sorted(one.get_params().items()):
            yield f"{type(one).__name__}.{name}={getattr(value, '__qualname__', repr(value))}"


def _digest(transformers: list[Any]) -> str:
    """Of the vocabulary and idf that the texts were found to have: more texts have another."""
    whole = sha256(repr(sorted(transformers[0].vocabulary_.items())).encode("utf-8", "surrogatepass"))
    for one in (*transformers[1:], getattr(transformers[0], "_tfidf", None)):
        whole.update(getattr(one, "idf_", np.zeros(0)).tobytes())
    return whole.hexdigest()


def _packed_texts(texts: CountedTexts) -> Any:
    return PACKING.pack((texts.n, np.frombuffer(packed_tallies((texts.terms,)), dtype=np.uint8)))


def _unpacked_texts(data: bytes, column: str) -> CountedTexts:
    n, raw = PACKING.unpack(data)
    (terms,) = unpacked_tallies(raw.astype(np.uint8).tobytes(), [column])
    return CountedTexts(int(n), terms)


def _packed(stats: SufficientStatistics) -> Any:
    return PACKING.pack((stats,))


def _unpacked(data: bytes) -> SufficientStatistics:
    (stats,) = PACKING.unpack(data)
    return stats  # type: ignore[no-any-return]


def _refuse_others(transformers: list[Any], classifier: Any) -> None:
    """Raises ParameterError on a pipeline that is not of a vectorizer, tf-idf and a classifier of terms."""
    first, *rest = transformers or [None]
    sound = type(first) in (CountVectorizer, TfidfVectorizer) and first.vocabulary is None
    if not sound or any(type(one) is not TfidfTransformer for one in rest) or len(rest) > 1 or (
        type(classifier) not in OF_TERMS
    ):  # fmt: skip
        raise ParameterError(
            "a Pipeline of files is CountVectorizer, then TfidfTransformer or not, or TfidfVectorizer, neither with a "
            "vocabulary given, and then one of {known}",
            known=", ".join(kind.__name__ for kind in OF_TERMS),
        )


@dataclass
class CountedTexts:
    """How many texts there are, and their terms."""

    n: int
    terms: TermTally

    def add(self, other: CountedTexts) -> CountedTexts:
        """This one, with other texts."""
        return CountedTexts(self.n + other.n, self.terms.add(other.terms))


def _reader(vectorizer: Any) -> CountVectorizer:
    """What counts all terms that the vectorizer meets."""
    own = {name: value for name, value in vectorizer.get_params().items() if name in CountVectorizer().get_params()}
    return CountVectorizer(**{**own, "min_df": 1, "max_df": 1.0, "max_features": None})


def _texts(piece: Piece, column: str) -> list[str]:
    """The texts of a batch. Raises TableError where one is missing."""
    texts = as_text(piece.batch.column(column), column)
    if (missing := texts.isna().to_numpy()).any():
        raise TableError(
            "column '{column}' has no text in row {row}, and a vectorizer needs each; fill the cell, or leave the row "
            "out",
            column=column,
            row=piece.row + int(missing.argmax()) + 1,
        )
    return texts.astype(str).tolist()


def _tallied(piece: Piece, column: str, reader: CountVectorizer) -> CountedTexts:
    texts, own = _texts(piece, column), clone(reader)
    try:
        counts = own.fit_transform(texts)
    except ValueError:  # "empty vocabulary"
        return CountedTexts(len(texts), TermTally(column))
    terms = own.get_feature_names_out().tolist()
    documents = np.bincount(counts.indices, minlength=len(terms)).tolist()
    times = np.asarray(counts.sum(axis=0)).ravel().tolist()
    tally = TermTally(column, dict(zip(terms, documents, strict=True)), dict(zip(terms, times, strict=True)))
    tally.refuse_many()
    return CountedTexts(len(texts), tally)


def _texts_of_share(least_or_most: Any, n: int) -> float:
    """In how many of n texts a term stands at the least, or the most, which may be stated as a share."""
    return float(least_or_most if isinstance(least_or_most, Integral) else least_or_most * n)


def _learn(transformers: list[Any], texts: CountedTexts, column: str) -> None:
    """Vocabulary and idf, as scikit-learn finds them in memory."""
    vectorizer, n = transformers[0], texts.n
    met = sorted(texts.terms.documents)
    documents = np.array([texts.terms.documents[term] for term in met], dtype=np.int64)
    low, high = _texts_of_share(vectorizer.min_df, n), _texts_of_share(vectorizer.max_df, n)
    kept = np.flatnonzero((documents >= low) & (documents <= high))
    if vectorizer.max_features is not None and len(kept) > vectorizer.max_features:
        times = np.array([texts.terms.times[met[v]] for v in kept], dtype=vectorizer.dtype)
        kept = np.sort(kept[(-times).argsort()[: vectorizer.max_features]])
    if not len(kept):
        raise no_terms(column, replace(TextRule(), min_df=max(1, ceil(low))))
    refuse_large(column, len(kept))
    vectorizer.vocabulary_ = {met[v]: i for i, v in enumerate(kept)}
    vectorizer.fixed_vocabulary_ = False
    weights = list(transformers[1:])
    if isinstance(vectorizer, TfidfVectorizer):
        own = {name: getattr(vectorizer, name) for name in ("norm", "use_idf", "smooth_idf", "sublinear_tf")}
        vectorizer._tfidf = TfidfTransformer(**own)
        weights.append(vectorizer._tfidf)
    for one in weights:
        one.n_features_in_ = len(kept)
        if one.use_idf:
            kind = vectorizer.dtype if vectorizer.dtype in (np.float32, np.float64) else np.float64
            smoothed = documents[kept].astype(kind) + kind(one.smooth_idf)
            one.idf_ = np.log(np.full_like(smoothed, n + int(one.smooth_idf)) / smoothed) + kind(1.0)


def _summed(
    piece: Piece, column: str, plan: CountPlan, transformers: list[Any], classifier: Any
) -> SufficientStatistics:
    """The sums of a batch by class."""
    X: Any = _texts(piece, column)
    for one in transformers:
        X = one.transform(X)
    _none, labels, target = encoded(piece.batch, replace(plan, schema=Schema(())), piece.block.declared, {}, piece.row)
    model = clone(classifier)
    frame = model._frame(X, reset=True)
    counted: SufficientStatistics = model._count(model._table(frame, Schema(()), unseen="error"), labels, target)
    return counted
