"""Three models that fit the table, because …: chosen by its shape, judged by leaving out one row where it is cheap."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from itertools import islice

import numpy as np

from bayes_engine.decision.held_out import TINY
from bayes_engine.errors import BayesEngineError, EstimationWarning
from bayes_engine.language import Message
from bayes_engine.models.aode import AODE
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.naive_bayes import PRESETS, NaiveBayes
from bayes_engine.models.spode import SPODE
from bayes_engine.models.tan import TAN
from bayes_engine.progress import tick
from bayes_engine.stats.families import MOST_BYTES
from bayes_engine.table.encode import positions
from bayes_engine.workbench.doctor.examined_table import ExaminedTable
from bayes_engine.workbench.doctor.finding import AddModel, Finding, Nats, Suggestion
from bayes_engine.workbench.doctor.normality import GAIN, KERNEL_ROWS, covariances
from bayes_engine.workbench.doctor.pairs import (
    OF_NUMBERS,
    WEAK,
    DependentPair,
    all_looked_at,
    dependences,
    discriminable,
    within_correlations,
)

THREE = 3
CHEAP, CHEAP_KERNEL = 60_000, 12_000
"""Cells times classes up to which every candidate is judged by leaving out one row at a time; and up to which a kernel
density is, where each row left out is a density anew."""
JOINED, AVERAGED = 100, 60
"""Up to so many columns a tree, or levels in turn as parents, is thought of: both keep a table for every two columns;
and up to so many where numbers are cut for it."""
ROWS_A_CELL = 5.0
"""Rows to a cell of P(x | parent, class) from which on one tree is estimated well; with fewer, averaging is safer."""
ROWS_A_COLUMN, ALIKE = 10.0, 0.99
"""Rows to a column from which on a covariance is estimated well; a correlation at which it hardly has an inverse."""
FAMILIES: Mapping[str, type[GenerativeClassifier]] = {
    "naive-bayes": NaiveBayes,
    "tan": TAN,
    "aode": AODE,
    "lda": LinearDiscriminantAnalysis,
    "qda": QuadraticDiscriminantAnalysis,
}


def suggest(examined: ExaminedTable, findings: tuple[Finding, ...] = ()) -> tuple[Suggestion, ...]:
    """The three models, the best first; none where there is no target with two classes, or nothing to learn from. Every
    one can be fitted to the table as it is.

    >>> from bayes_engine import load_dataset
    >>> from bayes_engine.workbench.doctor.examined_table import examined_table
    >>> iris = load_dataset("iris")
    >>> seen = examined_table(iris.frame, iris.schema)
    >>> [suggestion.model.family for suggestion in suggest(seen)]
    ['lda', 'qda', 'naive-bayes']
    """
    fits = examined.target is not None and (np.bincount(examined.y, minlength=max(examined.k, 1)) > 0).sum() >= 2
    if not fits or not len(examined.features) or any(f.code == "infinite" for f in findings):
        return ()
    reasons: dict[AddModel, Message] = {}
    for model, reason in _candidates(examined, findings):
        if model.family not in ("tan", "aode") or _joinable(examined):
            reasons.setdefault(model, reason)
    possible = ((model, reason) for model, reason in reasons.items() if _possible(examined, model))
    if not _cheap(examined):
        return tuple(Suggestion(model, reason) for model, reason in islice(possible, THREE))
    return _best([Suggestion(model, reason, _error(examined, model)) for model, reason in possible], examined.n)


def _best(judged: list[Suggestion], n: int) -> tuple[Suggestion, ...]:
    """Three, one after the other: the first whose error is within a standard error (two, where the rows are few) of the
    least that is left: such differences are luck."""
    times = 2.0 if n <= TINY else 1.0
    chosen: list[Suggestion] = []
    left = [s for s in judged if s.error is not None]
    while left and len(chosen) < THREE:
        least = min(float(s.error or 0.0) for s in left)
        within_error = least + times * float(np.sqrt(max(least * (1.0 - least), 1.0 / n) / n))
        chosen.append(next(s for s in left if float(s.error or 0.0) <= within_error))
        left.remove(chosen[-1])
    return tuple([*chosen, *(s for s in judged if s.error is None)][:THREE])


def _cheap(examined: ExaminedTable) -> bool:
    """Whether every candidate can be judged by leaving out one row at a time."""
    return examined.n * len(examined.features) * examined.k <= CHEAP and not any(v.textual for v in examined.features)


def _joinable(examined: ExaminedTable) -> bool:
    """Whether every two columns can have a table of their own; the words of a text have none."""
    sizes = np.array([1.0 + len(examined.schema[name].levels) for name in examined.codes])
    cells = examined.k * (sizes.sum() ** 2 - (sizes**2).sum()) / 2.0
    affordable = bool(cells * SPODE.cost.cell_bytes <= MOST_BYTES)
    return len(examined.features) <= JOINED and not any(v.textual for v in examined.features) and affordable


def _rows(examined: ExaminedTable) -> int:
    """The rows of the table that have a class, of which some are looked at."""
    return int(examined.class_rows.sum())


def _candidates(examined: ExaminedTable, findings: tuple[Finding, ...]) -> Iterator[tuple[AddModel, Message]]:
    """Models that fit, the first the likeliest, at least three."""
    numbers, levels = list(examined.numbers), list(examined.codes)
    copies = {frozenset(f.columns) for f in findings if f.code == "duplicate-column"}
    with_levels, of_numbers = (
        tuple(s for s in strong if frozenset(s.pair) not in copies) for strong in dependences(examined, WEAK)
    )
    shape = {f.columns[0]: f.code for f in findings if f.code in ("skew", "heavy-tails", "not-normal")}
    odd = list(shape)
    bent = sum(code != "not-normal" for code in shape.values())
    mostly = bent > len(numbers) / 2  # what most numbers are, a covariance of their own for each class cannot say
    yield from _texts(examined)
    tree = () if with_levels else _tree_of_numbers(of_numbers)
    averaged = _average_of_numbers(examined, of_numbers)
    joined = tree + averaged if tree or (of_numbers and not with_levels) else ()
    if not mostly:
        if not _cheap(examined) and covariances(examined) is None:  # a class is flat in a direction, and no Gaussian
            yield from joined
        yield from _discriminants(examined)
    if not (mostly or _cheap(examined)):
        yield from joined
    if odd:
        first, *others = _other_shapes(examined, odd, cut_first=mostly or not _cheap(examined))
        yield first
        if mostly:
            yield from tree if _cheap(examined) else joined
            yield from (own for own in _discriminants(examined) if own[0].family == "lda")
        yield from others
    if levels:
        yield from _joined(examined, with_levels)
    yield from tree
    if any(f.code == "collinear" for f in findings) and discriminable(examined):
        yield _shrunk(examined)
    yield AddModel("naive-bayes"), _naive(examined, bool(with_levels or of_numbers))
    if numbers and not odd:
        yield from _other_shapes(examined, odd, cut_first=True)
    if len(levels) >= 2:
        facts = {"levels": len(levels), "numbers": len(numbers), "d": len(examined.features), "n": _rows(examined)}
        reason = Message("{levels} columns of levels are parents in turn, and the average of {levels} models with "
                         "{n:,} rows is steadier than any one tree", facts)  # fmt: skip
        if numbers:
            reason = Message("{levels} columns of levels and {numbers} of numbers, cut where the classes change, are "
                             "parents in turn, and the average of {d} models with {n:,} rows is steadier than any one "
                             "tree", facts)  # fmt: skip
        yield AddModel("aode"), reason
        if _rows(examined) >= max(ROWS_A_CELL * _cells(examined), TINY):
            yield AddModel("tan"), Message(
                "a tree lets each of {d} columns depend on one other besides the class, and {n:,} rows suffice for its "
                "tables of {cells} cells or so",
                {"d": len(examined.features), "cells": _cells(examined), "n": _rows(examined)})  # fmt: skip
    if numbers and len(examined.features) > 1 and examined.n > TINY:
        yield AddModel("tan"), Message(
            "in a tree each of {d} columns can depend on one other, {numbers} column(s) of numbers cut where the "
            "classes change", {"d": len(examined.features), "numbers": len(numbers)})  # fmt: skip
    yield from averaged
    if levels:
        yield AddModel("naive-bayes", "zero-only"), Message(
            "only pairs of a value and a class that never occur are smoothed; all other frequencies of the {n:,} rows "
            "stay as they are", {"n": _rows(examined)})  # fmt: skip
    yield AddModel("naive-bayes", parameters=(("priors", "uniform"),)), Message(
        "with every class as likely as any other ({k} classes, the largest holds {share:.0%} of "
        "the rows), only the columns decide",
        {"k": examined.k, "share": float(examined.class_rows.max() / examined.class_rows.sum())})  # fmt: skip


def _texts(examined: ExaminedTable) -> Iterator[tuple[AddModel, Message]]:
    text_columns = [(i, v.name) for i, v in enumerate(examined.features) if v.textual]
    if text_columns:
        yield AddModel("naive-bayes"), Message(
            "'{column}' is a text, and naive Bayes adds up the evidence of its words, however many",
            {"column": text_columns[0][1]})  # fmt: skip
        likelihoods = tuple((i, "bernoulli") for i, _name in text_columns)
        yield AddModel("naive-bayes", parameters=(("likelihoods", likelihoods),)), Message(
            "in short texts, as in '{column}', it may matter whether a word is there, not how often",
            {"column": text_columns[0][1]})  # fmt: skip


def _discriminants(examined: ExaminedTable) -> Iterator[tuple[AddModel, Message]]:
    """LDA or QDA, by Box's M, where all columns are complete numbers."""
    if not discriminable(examined):
        return
    d, comparison, together = len(examined.numbers), covariances(examined), within_correlations(examined)
    r = 0.0
    if together is not None:
        off = np.abs(together.pooled - np.diag(np.diagonal(together.pooled)))
        r = float(off.max())
    if comparison is None:
        least = int(examined.class_rows[examined.class_rows > 0].min())
        reason = Message("all {d} columns are numbers, but within a class some have no spread or determine one "
                         "another: one covariance for all classes, shrunk towards its diagonal, is what {n:,} rows "
                         "carry",
                         {"d": d, "n": _rows(examined)})  # fmt: skip
        if least <= d:
            reason = Message("all {d} columns are numbers, but the smallest class has {least} row(s): one covariance "
                             "for all classes, shrunk towards its diagonal, is what {n:,} rows carry",
                             {"d": d, "least": least, "n": _rows(examined)})  # fmt: skip
        yield AddModel("lda", parameters=(("shrinkage", "auto"),)), reason
        return
    quadratic = AddModel("qda"), Message(
        "the classes' covariances differ (Box's M = {m:.0f}): one for each gains {gain} a row, and "
        "correlations within classes reach {r:.2f}",
        {"m": comparison.box.m, "gain": Nats(comparison.gain), "r": r})  # fmt: skip
    if comparison.gain < GAIN:
        quadratic = AddModel("qda"), Message(
            "a covariance of its own for each class may bend the boundary, though it gains only {gain} a row "
            "(Box's M = {m:.1f})", {"gain": Nats(comparison.gain), "m": comparison.box.m})  # fmt: skip
    facts = {"d": d, "r": r, "n": _rows(examined)}
    reason = Message("all {d} columns are numbers without gaps, correlated within classes up to {r:.2f}, and {n:,} "
                     "rows estimate one covariance for all classes well", facts)  # fmt: skip
    if examined.n < ROWS_A_COLUMN * d or r >= ALIKE:
        reason = Message("all {d} columns are numbers without gaps, correlated within classes up to {r:.2f}, which one "
                         "covariance for all classes takes into account", facts)  # fmt: skip
    linear = AddModel("lda"), reason
    yield from (
        (quadratic, linear) if comparison.gain >= GAIN else (linear, quadratic) if comparison.gain > 0 else (linear,)
    )


def _shrunk(examined: ExaminedTable) -> tuple[AddModel, Message]:
    """LDA with shrinkage, where columns determine one another."""
    return AddModel("lda", parameters=(("shrinkage", "auto"),)), Message(
        "some of the {d} columns of numbers can be predicted from the others: a covariance "
        "shrunk towards its diagonal is steadier for it", {"d": len(examined.numbers)})  # fmt: skip


def _tree_of_numbers(strong: tuple[DependentPair, ...]) -> tuple[tuple[AddModel, Message], ...]:
    """TAN, where numbers depend on one another given the class more than naive Bayes should count twice."""
    pairs = sum(s.nats >= OF_NUMBERS for s in strong)
    if not pairs:
        return ()
    (a, b), nats, _p = strong[0]
    return ((AddModel("tan"), Message(
        "numbers depend on one another given the class ('{column}' and '{other}': {shared}; strong pairs: "
        "{pairs}); cut where the classes change, each can hang on one other in a tree",
        {"column": a, "other": b, "shared": Nats(nats), "pairs": pairs})),)  # fmt: skip


def _average_of_numbers(
    examined: ExaminedTable, dependent: tuple[DependentPair, ...]
) -> tuple[tuple[AddModel, Message], ...]:
    """AODE, where the parents are intervals of numbers: of three columns and more, but not so many that the tables of
    their pairs are no longer cheap."""
    d = len(examined.features)
    if not examined.numbers or len(examined.codes) >= 2 or examined.n <= TINY or not 3 <= d <= AVERAGED:
        return ()
    reason = Message("cut where the classes change, each of {d} columns is the parent of all others in turn, and the "
                     "average over these models is steadier than any one tree", {"d": d})  # fmt: skip
    if dependent:
        (a, b), nats, _p = dependent[0]
        reason = Message("numbers depend on one another given the class ('{column}' and '{other}': {shared}); "
                         "cut where the classes change, each of {d} columns is a parent in turn, and no one tree need "
                         "be chosen", {"column": a, "other": b, "shared": Nats(nats), "d": d})  # fmt: skip
    return ((AddModel("aode"), reason),)


def _other_shapes(examined: ExaminedTable, odd: list[str], *, cut_first: bool) -> Iterator[tuple[AddModel, Message]]:
    """Numbers as densities of any shape, or as intervals; these first where the shapes are skew rather than odd, or
    where there are many rows."""
    names = examined.features.names
    kernel = tuple((names.index(name), "kernel") for name in (odd or examined.numbers))
    facts = {"odd": len(odd), "d": len(examined.numbers), "n": _rows(examined), "column": odd[0] if odd else ""}
    dense = Message("with {n:,} rows a kernel density can be kept for each of {d} column(s) of numbers, should they "
                    "not be Gaussian", facts)  # fmt: skip
    cut = Message("intervals of the {d} column(s) of numbers, cut where the classes change, assume no "
                  "shape and are robust to outliers", facts)  # fmt: skip
    if len(odd) == 1:
        dense = Message("1 column of numbers, '{column}', is not Gaussian within the classes: a kernel density takes "
                        "its shape from the {n:,} rows", facts)  # fmt: skip
        cut = Message("1 column of numbers, '{column}', is not Gaussian within the classes: intervals cut where the "
                      "classes change need no shape", facts)  # fmt: skip
    elif odd:
        dense = Message("{odd} of {d} columns of numbers are not Gaussian within the classes, such as '{column}': a "
                        "kernel density takes their shape from the {n:,} rows", facts)  # fmt: skip
        cut = Message("{odd} of {d} columns of numbers are not Gaussian within the classes, such as '{column}': "
                      "intervals cut where the classes change need no shape", facts)  # fmt: skip
    candidates = [(AddModel("naive-bayes", parameters=(("discretize", "mdlp"),)), cut)]
    if examined.class_rows.sum() <= KERNEL_ROWS:
        place = 1 if cut_first else 0
        candidates.insert(place, (AddModel("naive-bayes", parameters=(("likelihoods", kernel),)), dense))
    yield from candidates


def _joined(examined: ExaminedTable, strong: tuple[DependentPair, ...]) -> Iterator[tuple[AddModel, Message]]:
    """A tree or an average of them, where columns depend on one another given the class."""
    if not strong:
        return
    (a, b), nats, _p = strong[0]
    n, cells = _rows(examined), _cells(examined)
    facts = {"column": a, "other": b, "shared": Nats(nats), "n": n, "cells": cells, "pairs": len(strong)}
    tree = AddModel("tan"), Message(
        "{pairs} pair(s) of columns depend on one another given the class ('{column}' and '{other}': {shared}), "
        "and {n:,} rows suffice for a tree's tables of {cells} cells or so", facts)  # fmt: skip
    averaged = AddModel("aode"), Message(
        "{pairs} pair(s) of columns depend on one another given the class ('{column}' and '{other}': {shared}); "
        "an average over parents needs no choice among them", facts)  # fmt: skip
    if n >= ROWS_A_CELL * cells:
        yield tree
    if len(examined.codes) >= 2:
        yield averaged


def _naive(examined: ExaminedTable, dependent: bool) -> Message:
    """Why naive Bayes: it always can be, and sometimes should."""
    rows = examined.frame if examined.target is None else examined.whole[examined.whole[examined.target.name].notna()]
    gaps = sum(int(rows[name].isna().sum()) for name in examined.features.names)
    d, n = len(examined.features), _rows(examined)
    levels = sum(len(examined.schema[name].levels) - 1 for name in examined.codes)
    facts = {"d": d, "n": n, "parameters": examined.k * (levels + 2 * len(examined.numbers) + 1) - 1}
    if gaps:
        return Message("{gaps:,} missing cells need not be filled in: a factor that is not known is left out, and {d} "
                       "columns take {n:,} rows", {"gaps": gaps, "d": d, "n": n})  # fmt: skip
    if d == 1:
        return Message("there is one column: nothing can depend on another, and naive Bayes is Bayes")
    if not dependent and n <= TINY:
        return Message("{n} rows are too few to tell which of the {d} columns depend on one another, and naive Bayes "
                       "estimates each by itself, with {parameters:,} parameters in all", facts)  # fmt: skip
    if not dependent and all_looked_at(examined):
        return Message("nothing in {n:,} rows shows that two of the {d} columns share {least} or more given the "
                       "class: what naive Bayes assumes holds well enough",
                       {"n": n, "d": d, "least": Nats(WEAK)})  # fmt: skip
    return Message("each of {d} columns is estimated by itself, with {parameters:,} parameters in all for "
                   "{n:,} rows; it may decide well even where columns repeat one another", facts)  # fmt: skip


def _cells(examined: ExaminedTable) -> int:
    """Cells of a table P(x | parent, class), on average: K S̄²."""
    sizes = [len(examined.schema[name].levels) for name in examined.codes]
    return round(examined.k * float(np.mean(sizes)) ** 2) if sizes else 0


def _possible(examined: ExaminedTable, model: AddModel) -> bool:
    """Whether it can be fitted, for a covariance may be singular; and, where that is cheap to ask, whether cutting the
    numbers leaves what it speaks of: a column that says anything, and two where one depends on another."""
    least = {"tan": 2, "aode": 2}.get(model.family, 1 if "discretize" in dict(model.parameters) else 0)
    if least and _cheap(examined):
        fitted = _fitted(examined, model)
        return fitted is not None and sum(v.cuts != () for v in fitted.schema_) >= least
    return model.family not in ("lda", "qda") or _fitted(examined, model) is not None


def _error(examined: ExaminedTable, model: AddModel) -> float | None:
    """The share of rows decided wrongly, each by the model without it (structure and cut points stay)."""
    dense = [position for position, name in dict(model.parameters).get("likelihoods", ()) if name == "kernel"]
    if examined.n * len(dense) * examined.k > CHEAP_KERNEL:
        return None
    fitted = _fitted(examined, model)
    if fitted is None or examined.target is None:
        return None
    X, y = examined.frame[list(examined.features.names)], examined.frame[examined.target.name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimationWarning)
        decided = fitted.leave_one_out_log_proba(X, y).argmax(axis=1)
    return float(np.mean(decided != positions(y, tuple(fitted.classes_.tolist()))))


def _fitted(examined: ExaminedTable, model: AddModel) -> GenerativeClassifier | None:
    """The model, fitted once; None where it cannot be."""
    return examined.once(repr(model), lambda: _fit(examined, model))


def _fit(examined: ExaminedTable, model: AddModel) -> GenerativeClassifier | None:
    assert examined.target is not None
    tick()
    parameters = dict(model.parameters)
    if "likelihoods" in parameters:
        parameters["likelihoods"] = {
            examined.features.names[position]: name for position, name in parameters["likelihoods"]
        }
    preset = PRESETS[model.preset] if model.family == "naive-bayes" else {}
    X, y = examined.frame[list(examined.features.names)], examined.frame[examined.target.name]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EstimationWarning)
            return FAMILIES[model.family](schema=examined.schema, **{**preset, **parameters}).fit(X, y)
    except BayesEngineError:
        return None
