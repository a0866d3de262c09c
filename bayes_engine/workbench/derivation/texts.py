"""A text under a model: what each of its words says for one class against another, where it stands; the words that are
absent; and one word looked up."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayes_engine.errors import ParameterError
from bayes_engine.factors.sources import Fraction, Power
from bayes_engine.factors.text import Words
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.table.text import TermPlace, TextRule, term_places
from bayes_engine.workbench.derivation.derive import WorkingStep, bare
from bayes_engine.workbench.derivation.likelihoods import WordTable, column_factors
from bayes_engine.workbench.derivation.log_odds import EvidenceWeight, LogOddsTerms


class TermEvidence(NamedTuple):
    """A term that the model knows, what it adds to log p(text|for)/p(text|against) in nats, all its `times` together,
    and where its probability was counted in the two classes; `never`: the places (0, 1) of those where it is 0."""

    term: str
    times: float
    nats: float
    sources: tuple[Fraction, Fraction]
    never: tuple[int, ...] = ()


class TextUnit(NamedTuple):
    """A word of the text, or a character where terms are runs of characters: what it adds where it stands, together
    with equal parts of the longer terms that it is in; `terms` are the places of all these among those known. `again`:
    they all stood there before, and count once."""

    start: int
    end: int
    nats: float
    terms: tuple[int, ...]
    again: bool = False

    @property
    def known(self) -> bool:
        """Whether a term at this place stood in a training text."""
        return bool(self.terms)


@dataclass(frozen=True)
class TextRead:
    """A text as the model reads it: `terms` in the order in which they first stand in it, `units` from its beginning to
    its end; `absent` is what the terms add that do not stand there, None where only those that do count.

    The nats of all terms, or of all units, and `absent` are the contribution of the column, `nats`.
    """

    column: str
    text: str
    terms: tuple[TermEvidence, ...]
    units: tuple[TextUnit, ...]
    absent: float | None
    weight: float = 1.0

    @property
    def complement(self) -> bool:
        """Whether each word's probability is that in all other classes, and speaks against the class."""
        return self.weight < 0

    @property
    def nats(self) -> float:
        return _total([*(t.nats for t in self.terms), self.absent or 0.0])

    @property
    def reach(self) -> float:
        """The nats drawn in full colour: the largest of a unit; 1 where none says anything.

        >>> unit = TextUnit(0, 2, -0.5, (0,))
        >>> TextRead("text", "hi", (), (unit, unit._replace(nats=2.0)), None).reach
        2.0
        """
        return max((abs(u.nats) for u in self.units if np.isfinite(u.nats) and u.nats), default=1.0)


def text_steps(steps: Sequence[WorkingStep]) -> list[int]:
    """The places of the steps that are texts."""
    return [j for j, step in enumerate(steps) if isinstance(bare(step).sources[0], Words)]


def read_text(step: WorkingStep, for_: int, against: int) -> TextRead:
    """The text of a step, word by word, for one class against another, by their places.

    >>> from bayes_engine import NaiveBayes
    >>> from bayes_engine.workbench.derivation.derive import derive
    >>> mails = pd.DataFrame({"text": ["win a prize", "lunch at noon", "a prize for you"]})
    >>> model = NaiveBayes(likelihoods={"text": "multinomial"}).fit(mails, ["spam", "ham", "spam"])
    >>> working = derive(model, pd.DataFrame({"text": ["A prize, dear!"]}), classes=["spam", "ham"])
    >>> read = read_text(working.steps[1], 0, 1)
    >>> [(read.text[u.start : u.end], round(u.nats, 2), u.known) for u in read.units]
    [('A', 0.79, True), ('prize', 0.79, True), ('dear', 0.0, False)]
    """
    assert step.variable is not None and step.variable.text is not None
    weight = next((s.weight for s in step.sources if isinstance(s, Power)), 1.0)
    plain, rule, text = bare(step), step.variable.text, str(step.value)
    pair = plain.sources[for_], plain.sources[against]
    first, second = pair
    assert isinstance(first, Words) and isinstance(second, Words)
    words = {
        a.term: TermEvidence(
            a.term, a.times, float(_difference(a.log_value, b.log_value, weight)), (a.source, b.source),
            tuple(k for k, t in enumerate((a, b)) if np.isneginf(t.log_value)))
        for a, b in zip(first.terms, second.terms, strict=True)
    }  # fmt: skip
    asked = step.variable.likelihood == "bernoulli"
    absent = float(_difference(first.absent, second.absent, weight)) if asked else None
    places = [place for place in term_places(rule, text) if place.term in words]
    order = {term: i for i, term in enumerate(dict.fromkeys(p.term for p in sorted(places, key=lambda p: p.start)))}
    terms = tuple(words[term] for term in order)
    return TextRead(step.row.child, text, terms, _units(rule, text, places, order, terms), absent, weight)


def _units(
    rule: TextRule, text: str, places: Sequence[TermPlace], order: Mapping[str, int], terms: Sequence[TermEvidence]
) -> tuple[TextUnit, ...]:
    smallest = replace(rule, analyzer="word" if rule.analyzer == "word" else "char", ngrams=(1, 1))
    units = term_places(smallest, text)
    units = [u for i, u in enumerate(units) if not i or u.start >= units[i - 1].end]  # lowercase made two of one
    starts, ends = [u.start for u in units], [u.end for u in units]
    nats: list[list[float]] = [[] for _unit in units]
    held: list[dict[int, None]] = [{} for _unit in units]
    fresh = [False] * len(units)
    left = {i: t.times for i, t in enumerate(terms)}
    for place in sorted(places, key=lambda p: p.start):
        i = order[place.term]
        here = range(bisect_left(ends, place.start + 1), bisect_right(starts, place.end - 1))
        counted = left[i] > 0
        left[i] -= 1
        for u in here:
            held[u][i] = None
            fresh[u] |= counted
            if counted:
                nats[u].append(terms[i].nats / terms[i].times / len(here))
    return tuple(
        TextUnit(unit.start, unit.end, _total(nats[u]), tuple(held[u]), bool(held[u]) and not fresh[u])
        for u, unit in enumerate(units)
    )


def opened(
    balance: LogOddsTerms, reads: Mapping[int, TextRead]
) -> tuple[LogOddsTerms, dict[int, tuple[TextRead, TermEvidence | None]]]:
    """The balance with a weight for every term of the texts `reads` (by the position of their rows) instead of one for
    the whole text, and for the position of each such weight the text and the term; None stands for all absent ones."""
    free = max((w.position for w in balance.weights), default=0) + 1
    sides = (balance.for_, balance.against)
    weights: list[EvidenceWeight] = []
    names: dict[int, tuple[TextRead, TermEvidence | None]] = {}
    for weight in balance.weights:
        read = reads.get(weight.position)
        if read is None:
            weights.append(weight)
            continue
        for term in (*read.terms, *([None] if read.absent is not None else [])):
            place = free + len(names)
            names[place] = (read, term)
            nats = (read.absent or 0.0) if term is None else term.nats
            never = () if term is None else tuple(sides[k] for k in term.never)
            weights.append(EvidenceWeight(place, nats, never))
    return replace(balance, weights=tuple(weights)), names


def absent_terms(
    model: GenerativeClassifier, read: TextRead, for_: Any, against: Any, n: int = 12
) -> list[TermEvidence]:
    """Of the terms that do not stand in a text the n that say most by that, where it counts that they do not."""
    factor = column_factors(model).get(read.column)
    if factor is None or not factor.variable.textual or factor.terms.absent is None:
        return []
    own = list(model.target_.levels)
    a, b = own.index(for_), own.index(against)
    here = {t.term for t in read.terms}
    nats = _difference(factor.terms.absent[a], factor.terms.absent[b], read.weight)
    rest = [v for v in np.argsort(-np.abs(nats), kind="stable").tolist() if factor.counts.names[v] not in here][:n]
    return [
        TermEvidence(
            factor.counts.names[v], 0.0, float(nats[v]), (factor.term_fraction(a, v), factor.term_fraction(b, v))
        )
        for v in rest
    ]


# one term, looked up --------------------------------------------------------------------------------------------


class LookedUp(NamedTuple):
    """A term in the texts of each class: in how many `texts` of `of` it stands, and its place in the vocabulary, −1 of
    one that stood in no training text."""

    term: str
    place: int
    texts: tuple[int, ...]
    of: tuple[int, ...]


def look_up(words: WordTable, frame: pd.DataFrame, typed: str) -> LookedUp:
    """The term that a person typed, read as the texts are read: of several words the longest run that is a term.

    Raises ParameterError where no word is typed.
    """
    rule = words.variable.text
    assert rule is not None
    places = term_places(rule, typed)
    if not places:
        raise ParameterError("'{typed}' holds no word; type one", typed=typed)
    order = {term: v for v, term in enumerate(words.terms)}
    longest = sorted(places, key=lambda p: p.start - p.end)
    term = next((p.term for p in longest if p.term in order), longest[0].term)
    known = frame[words.variable.name].notna()
    classes = [frame.loc[known & (frame[words.target] == label), words.variable.name] for label in words.classes]
    texts = tuple(int((holding(rule, column, term) > 0).sum()) for column in classes)
    return LookedUp(term, order.get(term, -1), texts, tuple(len(column) for column in classes))


def holding(rule: TextRule, column: pd.Series, term: str) -> Array:
    """(n,) how often the term stands in each text of a column without missing ones; where presence counts, once.

    >>> holding(TextRule(), pd.Series(["to be or not to be", "not"]), "be").tolist()
    [2.0, 0.0]
    """
    if not len(column):
        return np.zeros(0)
    return np.asarray(rule.vectorizer(vocabulary=[term]).transform(column.astype(str)).toarray()[:, 0])


def weights_of_evidence(words: WordTable) -> Array:
    """(C, V) log P(w|c) − log of the mean of the other classes' P(w|c'): how far a word moves the odds of c against
    the others, alike in weight. Of two classes it is the log ratio and its negative; 0 where a term is 0 in all."""
    others = log(np.array(len(words.log_p) - 1.0))
    rest = [log_sum(np.delete(words.log_p, k, axis=0), axis=0) - others for k in range(len(words.log_p))]
    return np.asarray(_difference(words.log_p, np.stack(rest), 1.0))


def discriminating_terms(words: WordTable, n: int) -> list[list[int]]:
    """For each class the places of the n terms that speak for it most, by what a text of the class gets from each on
    average: P(w|c) times the weight of evidence. Rare words have large weights and seldom come; this is what tells."""
    weight = weights_of_evidence(words)
    p = exp(words.log_p)
    with np.errstate(invalid="ignore"):
        gain = np.where(p > 0, p * weight, 0.0)
    names = np.array(words.terms)
    return [[int(v) for v in np.lexsort((names, -of_class))[:n] if of_class[v] > 0] for of_class in gain]


def _difference(a: Any, b: Any, weight: float) -> Any:
    """weight · (a − b) of log terms, 0 where both are impossible or the weight is 0."""
    with np.errstate(invalid="ignore"):
        nats = (np.asarray(a) - np.asarray(b)) * weight
    return np.where(np.isnan(nats), 0.0, nats)[()]


def _total(nats: Sequence[float]) -> float:
    """Their sum; 0 where one is impossible in either class."""
    with np.errstate(invalid="ignore"):
        total = float(np.sum(nats)) if len(nats) else 0.0
    return 0.0 if np.isnan(total) else total
