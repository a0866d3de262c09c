"""What naive Bayes counts twice: the evidence that two attributes share, once the class is known.

Naive Bayes multiplies P(x_j|c) where a tree multiplies P(x_j|c, x_p). Along each edge of the tree the two differ by
log P(x_j|c, x_p)/P(x_j|c) = log P(x_j, x_p|c)/(P(x_j|c) P(x_p|c)), so that for two classes, exactly,

    log-odds(naive) − log-odds(tree) = − Σ_edges [log P(x_j|c, x_p)/P(x_j|c) − the same under c′].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

from bayes_engine.decision.held_out import HeldOut, held_out
from bayes_engine.factors.table import TableLeaf
from bayes_engine.inference.averaged import AveragedFactor
from bayes_engine.ledger import Ledger
from bayes_engine.logspace import Array, log, log_normalize, normalize
from bayes_engine.models.aode import AODE
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.tan import TAN
from bayes_engine.structure.chow_liu import TIE, conditional_information
from bayes_engine.structure.permutation import grown_trees, informations, is_whole, shuffled_tables
from bayes_engine.table.schema import Schema
from bayes_engine.table.write import free_names
from bayes_engine.workbench.derivation.log_odds import EvidenceWeight, LogOddsTerms
from bayes_engine.workbench.derivation.tree_growth import draws_of_trees

# one case -------------------------------------------------------------------------------------------------------------


class SharedEvidence(NamedTuple):
    """Two attributes of a case, and the `nats` by which naive Bayes overstates the log-odds for counting them as if
    they were independent; negative where it understates them. `edge`: it is an edge of the tree."""

    parent: str
    child: str
    nats: float
    edge: bool


@dataclass(frozen=True)
class DoubleCounting:
    """The log-odds of `for_` against `against`, in nats, by naive Bayes and by a tree, and all between the two.

    `edges` are the tree's in order of size, `rest` what is left (cells not known; classes with a prior of their own):
    naive − Σ edges − rest = tree. `pairs` are all two known attributes, one of them discrete, in order of size.
    """

    for_: Any
    against: Any
    naive: float
    tree: float
    edges: tuple[SharedEvidence, ...]
    rest: float
    pairs: tuple[SharedEvidence, ...]

    @property
    def nats(self) -> float:
        """What naive Bayes counts twice (negative: overlooks), all in all."""
        return self.naive - self.tree

    @property
    def largest_pair(self) -> SharedEvidence | None:
        """The edge that does most of it."""
        same = [e for e in self.edges if e.nats * self.nats > 0]
        return max(same, key=lambda e: abs(e.nats), default=None)

    def balance(self) -> LogOddsTerms:
        """Naive Bayes's log-odds, less each edge (position 1 and on), less the rest: the tree's."""
        steps = [EvidenceWeight(0, self.naive), *(EvidenceWeight(1 + i, -e.nats) for i, e in enumerate(self.edges))]
        if abs(self.rest) > 1e-9:
            steps.append(EvidenceWeight(1 + len(self.edges), -self.rest))
        return LogOddsTerms(self.for_, self.against, tuple(steps))


def double_counting(
    naive: NaiveBayes,
    tree: TAN,
    mean: AODE,
    case: pd.DataFrame,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
) -> DoubleCounting | None:
    """What `naive` counts twice of a case (a frame of one row) by the light of `tree`, for its likeliest class against
    the next; `mean` gives the pairs that are no edge. All three are fitted to the same rows, with the same smoothing.

    None where one of the two has no posterior, or excludes a class altogether.

    >>> from bayes_engine.datasets import load_dataset
    >>> melons = load_dataset("watermelon2")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> counted = double_counting(NaiveBayes().fit(X, y), TAN().fit(X, y), AODE().fit(X, y), X.iloc[[0]])
    >>> counted.for_, round(counted.nats, 4), round(sum(e.nats for e in counted.edges), 4)
    ('是', -1.6769, -1.6769)
    """
    ledgers = [m.explain(case).at_prior(m.prior_by_class, prior_of_use) for m in (naive, tree)]
    joints = [ledger.joint()[0] for ledger in ledgers]
    best, other = np.argsort(-joints[0], kind="stable")[:2]
    if any(ledger.status[0] for ledger in ledgers) or not np.isfinite([j[[best, other]] for j in joints]).all():
        return None
    own, treed = (_terms(ledger, int(best), int(other)) for ledger in ledgers)
    known = [name for name in tree.schema_.names if name in own and pd.notna(case[name].iloc[0])]
    arcs = [(p, c) for p, c in tree.tree_ if p in known and c in known]
    edges = tuple(SharedEvidence(p, c, own[c] - treed[c], True) for p, c in arcs)
    totals = [float(j[best] - j[other]) for j in joints]
    classes = naive.classes_.tolist()
    return DoubleCounting(
        for_=classes[best],
        against=classes[other],
        naive=totals[0],
        tree=totals[1],
        edges=_by_size(edges),
        rest=totals[0] - totals[1] - sum(e.nats for e in edges),
        pairs=_by_size(
            (*edges, *_other_pairs(mean, case, own, known, {frozenset(a) for a in arcs}, tree, best, other))
        ),
    )


class DoubleCountingByChance(NamedTuple):
    """The mean of |what is counted twice| over tables with all columns shuffled within the classes, in nats, and the
    share of the `draws` that give as much as was counted (p)."""

    nats: float
    p: float
    draws: int


def double_counting_by_chance(tree: TAN, case: pd.DataFrame, counted: DoubleCounting) -> DoubleCountingByChance | None:
    """What the edges of trees grown on shuffled tables count twice of the case, though all columns are independent
    given the class: a tree takes the pairs that happen to agree. None where the tree has columns of numbers, or weights
    of rows are no whole numbers.

    >>> from bayes_engine.datasets import load_dataset
    >>> melons = load_dataset("watermelon2")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> tree = TAN().fit(X, y)
    >>> counted = double_counting(NaiveBayes().fit(X, y), tree, AODE().fit(X, y), X.iloc[[0]])
    >>> round(double_counting_by_chance(tree, X.iloc[[0]], counted).nats)
    1
    """
    leaves = {leaf.variable.name: leaf for leaf in tree.factor_.families if isinstance(leaf, TableLeaf)}
    names, tables = list(leaves), tree.stats_.counts.tables
    if len(names) < max(len(tree.factor_.families), 2) or not all(is_whole(tables[name]) for name in names):
        return None
    sides = [tree.classes_.tolist().index(c) for c in (counted.for_, counted.against)]
    table = tree._encode(case)
    place = {name: int(leaf.domain.places(table)[0]) for name, leaf in leaves.items()}
    known = [name for name in names if 0 <= place[name] < leaves[name].domain.size]

    def weight(name: str, counts: Array) -> Array:
        """log P(x|for)/P(x|against) of the case's cell, from counts (…, C, S)."""
        log_p = leaves[name].rule.log_smoothed(counts, 1.0)[..., place[name]]
        return np.asarray(log_p[..., sides[0]] - log_p[..., sides[1]])

    alone = {name: weight(name, leaves[name].domain.counted(tables[name], 1)) for name in known}
    n, first = float(tree.stats_.class_weight.sum()), 0 if tree.missing == "category" else 1
    draws, totals = draws_of_trees(len(names), n), []
    for block in shuffled_tables({name: tables[name] for name in names}, draws):
        shared = np.zeros((len(next(iter(block.values()))), len(names), len(names)))
        for (a, b), both in block.items():
            if a in alone and b in alone:
                i, j = names.index(a), names.index(b)
                counts = leaves[b].domain.counted(leaves[a].domain.counted(both, 2), 3)
                shared[:, i, j] = alone[b] - weight(b, counts[:, :, place[a]])
                shared[:, j, i] = alone[a] - weight(a, counts[:, :, :, place[b]])
        weights = {e: informations(both[:, :, first:, first:], n) for e, both in block.items()}
        grown = grown_trees(names, weights, names.index(tree.root_) if tree.root_ in names else 0)
        each = shared[np.arange(len(shared))[:, None], grown.parent, grown.child]
        totals.append(np.where(grown.weights > TIE, each, 0.0).sum(axis=1))
    size, own = np.abs(np.concatenate(totals)), abs(sum(e.nats for e in counted.edges))
    return DoubleCountingByChance(float(size.mean()), float((1 + (size >= own - TIE).sum()) / (1 + draws)), draws)


def most_double_counting(naive: NaiveBayes, tree: TAN, X: pd.DataFrame) -> tuple[int, float] | None:
    """The row of X of whose log-odds (likeliest class against the next) naive Bayes counts most twice, by the light of
    the tree, and how many nats; the first of equals. None where no row has a posterior by both."""
    naive_joint, tree_joint = (m.predict_joint_log_proba(X) for m in (naive, tree))
    order = np.argsort(-naive_joint, axis=1, kind="stable")[:, :2]
    odds = []
    for joint in (naive_joint, tree_joint):
        best, other = np.take_along_axis(joint, order, axis=1).T
        odds.append(
            np.where(np.isfinite(best) & np.isfinite(other), best - np.where(np.isfinite(other), other, 0), np.nan)
        )
    more = odds[0] - odds[1]
    if np.isnan(more).all():
        return None
    row = int(np.nanargmax(np.round(more, 12)))
    return row, float(more[row])


def _terms(ledger: Ledger, best: int, other: int) -> dict[str, float]:
    """Each column's term of the log-odds."""
    return {
        row.child: float(t[0, best] - t[0, other]) for row, t in ledger.rows if row.parents and row.kind != "entropy"
    }


def _other_pairs(
    mean: AODE, case: pd.DataFrame, own: Mapping[str, float], known: list[str], arcs: set[frozenset[str]], tree: TAN,
    best: Any, other: Any,
) -> list[SharedEvidence]:  # fmt: skip
    """The pairs that are no edge: log P(x_j|c, x_i) is read from the mean's SPODE of x_i, x_i being the one nearer to
    the tree's root (the two directions differ by smoothing alone)."""
    factor, table = mean.factor_, mean._encode(case)
    assert isinstance(factor, AveragedFactor)
    place = {family.variable.name: i for i, family in enumerate(tree.factor_.upward)}
    pairs = []
    for member in factor.members:
        for family in member.families:
            i, j = member.name, family.variable.name
            if {i, j} <= set(known) and frozenset((i, j)) not in arcs and place[i] < place[j]:
                term = family.term(table, (), None)[0]
                pairs.append(SharedEvidence(i, j, own[j] - float(term[best] - term[other]), False))
    return pairs


def _by_size(shared: tuple[SharedEvidence, ...]) -> tuple[SharedEvidence, ...]:
    return tuple(sorted(shared, key=lambda s: -abs(s.nats)))


# one column, again and again ------------------------------------------------------------------------------------------


def copied(X: pd.DataFrame, schema: Schema, column: str, copies: int) -> tuple[pd.DataFrame, Schema]:
    """The rows and the schema with `copies` more columns that repeat one of them."""
    names = free_names([f"{column} {2 + i}" for i in range(copies)], set(schema.names))
    more = pd.DataFrame(dict.fromkeys(names, X[column])) if names else X[[]]
    variables = (*schema.variables, *(replace(schema[column], name=name) for name in names))
    return pd.concat([X, more], axis=1), Schema(variables)


def posterior_with_copies(
    naive: NaiveBayes,
    case: pd.DataFrame,
    column: str,
    copies: int,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
) -> Array:
    """(C,) naive Bayes's posterior of a case when a column stands there `copies` more times: its term so many times
    more, log P(c, x) + k log P(x_j|c); what a refit on the longer table gives, without one."""
    ledger = naive.explain(case).at_prior(naive.prior_by_class, prior_of_use)
    terms = [term for row, term in ledger.rows if row.child == column and row.parents]
    joint = ledger.joint() + (copies * sum(terms) if copies and terms else 0.0)
    return np.asarray(normalize(joint)[0])


class TrainingRows(NamedTuple):
    """The rows a model is fitted on: features, classes, groups that stay together, weights."""

    X: pd.DataFrame
    y: Any
    groups: Any = None
    weight: Any = None


def held_out_alone(naive: NaiveBayes, rows: TrainingRows, column: str) -> HeldOut:
    """Held-out posteriors of naive Bayes on one of its columns by itself, on the folds of the whole table."""
    return _anew(naive, rows._replace(X=rows.X[[column]]), Schema((_schema(naive)[column],)))[1]


def refit_with_copies(
    model: GenerativeClassifier, rows: TrainingRows, case: pd.DataFrame, column: str, copies: int
) -> tuple[Ledger, HeldOut]:
    """A model like this one learnt from the table with `copies` more of a column: what it says of the case, which has
    them too, and of rows held out."""
    longer, schema = copied(rows.X, _schema(model), column, copies)
    anew, held = _anew(model, rows._replace(X=longer), schema)
    return anew.explain(copied(case, _schema(model), column, copies)[0]), held


def _schema(model: GenerativeClassifier) -> Schema:
    """Kinds and levels as the model was told, or saw, them; a column of intervals is one of numbers again."""
    if model.schema is not None:
        return model.schema.features
    numbers = {v.name for v in model.schema_ if v.cuts is not None}
    plain = (replace(v, cuts=None, levels=(), declared=False) if v.name in numbers else v for v in model.schema_)
    return Schema(tuple(plain))


def _anew(model: GenerativeClassifier, rows: TrainingRows, schema: Schema) -> tuple[GenerativeClassifier, HeldOut]:
    anew = clone(model).set_params(schema=schema).fit(rows.X, rows.y, rows.weight)
    return anew, held_out(anew, rows.X, rows.y, groups=rows.groups, sample_weight=rows.weight)


def held_out_with_copies(held: HeldOut, alone: HeldOut, copies: int) -> HeldOut:
    """The held-out posteriors of naive Bayes when a column stands there `copies` more times: `held` of the whole table,
    `alone` of that column by itself, on the same folds.

    log P(c|x_j) − log P(c) is log P(x_j|c) up to what no class depends on; so the result is what a refit of every fold
    on the longer table gives, and for leave-one-out of every row.
    """
    if copies == 0:
        return held
    prior = alone.prior_by_row
    possible = prior > 0
    with np.errstate(invalid="ignore"):
        term = np.where(possible, alone.log_posterior - log(prior), 0.0)
    nowhere = np.isneginf(alone.log_posterior).all(axis=1, keepdims=True)  # no posterior: no more with copies
    joint = held.log_posterior + copies * np.where(nowhere, -np.inf, term)
    return replace(held, log_posterior=log_normalize(joint))


# two live examples ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """Two yes-or-no attributes and a class, known exactly: `joint` (2, 2, 2) is P(y, x₁, x₂), no before yes."""

    joint: Array

    @property
    def overall(self) -> float:
        """I(x₁; x₂), in nats."""
        return conditional_information(self.joint.sum(axis=0, keepdims=True)).information

    @property
    def given_class(self) -> float:
        """I(x₁; x₂ | y), in nats."""
        return conditional_information(self.joint).information

    @property
    def exact(self) -> Array:
        """(2, 2) P(y = yes | x₁, x₂)."""
        return _of_yes(self.joint)

    @property
    def naive(self) -> Array:
        """(2, 2) the same by naive Bayes with the true P(y), P(x₁|y), P(x₂|y)."""
        prior = self.joint.sum(axis=(1, 2), keepdims=True)
        return _of_yes(self.joint.sum(axis=2, keepdims=True) * self.joint.sum(axis=1, keepdims=True) / prior)


def _of_yes(joint: Array) -> Array:
    both: Array = joint.sum(axis=0)
    return np.asarray(np.divide(joint[1], both, out=np.full_like(both, 0.5), where=both > 0))


def weight_lifters(difference: float) -> Example:
    """Dependent overall, and less so within the class: y a weight-lifter, x₁ a man, x₂ can lift 100 kg (the lecture
    notes' example, which has no numbers; all of these are made up). Half are lifters, .8 of them men and .5 of the
    others; .9 of the lifters can, whoever they are, of the others .2·(1 + difference) of the men and
    .2·(1 − difference) of the women."""
    man = np.array([[0.5, 0.5], [0.2, 0.8]])  # [y, x₁]
    can = np.array([[0.2 * (1.0 - difference), 0.2 * (1.0 + difference)], [0.9, 0.9]])
    return Example(0.5 * man[:, :, None] * np.stack([1.0 - can, can], axis=-1))


def two_switches(effect: float) -> Example:
    """Independent overall, dependent given the class: two switches of one lamp, each up half of the time; the lamp is
    lit with ½ + ½·effect where they stand differently, ½ − ½·effect where alike."""
    lit = np.array([[1.0 - effect, 1.0 + effect], [1.0 + effect, 1.0 - effect]]) / 2.0
    return Example(np.stack([1.0 - lit, lit]) / 4.0)
