"""Multinomial, Bernoulli or categorical: one short message under the three, which were taught by the same messages.

To the multinomial a row is a bag of words; to the Bernoulli a list of yes and no, in which an absent word is evidence,
too; to the categorical each word is a question, and «free: 2 times» another answer than «free: once».
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayes_engine.errors import TableError
from bayes_engine.models.likelihoods import Likelihood
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.priors import smoothed
from bayes_engine.table.text import TextRule

MESSAGES: tuple[tuple[str, str], ...] = (
    ("win a prize now", "spam"),
    ("free prize free call", "spam"),
    ("lunch at noon", "ham"),
    ("call me at lunch", "ham"),
    ("free lunch", "ham"),
)
"""What the three are taught by."""
ASKED = "free free call"
"""A message on which they part."""
NAMES: tuple[Likelihood, ...] = ("multinomial", "bernoulli", "categorical")
_TEXT = "message"


class Share(NamedTuple):
    """An estimate (n + 1)/(total + s): of `total` things counted in a class `n` are of this kind, of `s` kinds."""

    n: float
    total: float
    s: int

    @property
    def p(self) -> float:
        return float(smoothed(self.n, self.total, 1.0, self.s))


class WordEvidence(NamedTuple):
    """A word of the message, and how often it stands there; under each of NAMES the estimate for each class and its
    log-odds, the first class against the second, in nats. 0 where the model passes it over: the categorical does so
    where no message had the word as often."""

    word: str
    times: int
    shares: tuple[tuple[Share, ...], ...]
    nats: tuple[float, ...]


@dataclass(frozen=True)
class LikelihoodComparison:
    """A message under the three models of NAMES: its known `lines`; of each the log-odds of the `prior`, of all words
    that are `absent`, and the `posterior` of the `classes`. `unknown` are words that no message had."""

    classes: tuple[Any, ...]
    lines: tuple[WordEvidence, ...]
    prior: tuple[float, ...]
    absent: tuple[float, ...]
    posterior: tuple[tuple[float, ...], ...]
    unknown: tuple[str, ...]

    def decided(self, k: int) -> Any:
        """The more probable class under the k-th model."""
        return self.classes[int(np.argmax(self.posterior[k]))]


def compared(message: str = ASKED, taught: Sequence[tuple[str, str]] = MESSAGES) -> LikelihoodComparison:
    """The message under the three, all with α = 1, learnt from the messages and classes `taught` (two classes).

    Raises TableError where there are not two classes.

    >>> comparison = compared()
    >>> [comparison.decided(k) for k in range(3)]
    ['spam', 'ham', 'spam']
    >>> [(line.word, line.times, [round(v, 3) for v in line.nats]) for line in comparison.lines]
    [('call', 1, [0.054, 0.223, 0.223]), ('free', 2, [0.919, 0.223, 0.875])]
    >>> [round(v, 3) for v in comparison.absent]
    [0.0, -0.177, -0.177]
    """
    texts, y = [text for text, _label in taught], [label for _text, label in taught]
    classes = tuple(dict.fromkeys(y))
    if len(classes) != 2:
        raise TableError("two classes are compared here, and the messages have {n}", n=len(classes))
    words = TextRule().vectorizer().build_analyzer()
    bags, bag = [Counter(words(text)) for text in texts], Counter(words(message))
    known = sorted(set().union(*bags))
    asked = [word for word in known if bag[word]]
    counts = pd.DataFrame([[b[word] for word in known] for b in bags], columns=known)
    columns, questions = pd.DataFrame({_TEXT: texts}), pd.DataFrame([[bag[word] for word in known]], columns=known)
    of_text: dict[str, Any] = {"text": {"columns": [_TEXT]}}
    readings = [
        (NaiveBayes(likelihoods={_TEXT: name}, **of_text).fit(columns, y), pd.DataFrame({_TEXT: [message]}), [_TEXT])
        for name in NAMES[:2]
    ]
    readings.append((NaiveBayes(likelihoods="categorical").fit(counts, y), questions, []))
    ledgers = [model.explain(row, opened=opened) for model, row, opened in readings]
    pulls = [ledger.contributions(*classes).iloc[0].to_dict() for ledger in ledgers]
    pulls = [{str(name).removeprefix(f"{_TEXT}: "): float(v) for name, v in pull.items()} for pull in pulls]
    prior = tuple(pull.pop("class") for pull in pulls)
    lines = tuple(
        WordEvidence(
            word,
            bag[word],
            _shares(word, bag[word], bags, y, classes, len(known)),
            tuple(pull.get(word, 0.0) for pull in pulls),
        )
        for word in asked
    )
    absent = tuple(float(sum(v for name, v in pull.items() if name not in asked)) for pull in pulls)
    order = [[ledger.classes.index(c) for c in classes] for ledger in ledgers]
    posterior = tuple(tuple(ledger.posterior()[0, k].tolist()) for ledger, k in zip(ledgers, order, strict=True))
    return LikelihoodComparison(classes, lines, prior, absent, posterior, tuple(sorted(set(bag) - set(known))))


def _shares(
    word: str, times: int, bags: list[Counter[str]], y: list[str], classes: tuple[Any, ...], vocabulary: int
) -> tuple[tuple[Share, ...], ...]:
    """The estimates behind a word under each of NAMES, counted here from the messages themselves."""
    of_class = [[bag for bag, label in zip(bags, y, strict=True) if label == c] for c in classes]
    answers = len({bag[word] for bag in bags})
    return (
        tuple(Share(sum(b[word] for b in own), sum(b.total() for b in own), vocabulary) for own in of_class),
        tuple(Share(sum(b[word] > 0 for b in own), len(own), 2) for own in of_class),
        tuple(Share(sum(b[word] == times for b in own), len(own), answers) for own in of_class),
    )
