"""A file of rows, classified: joints once, decisions as often as the losses change, reasons and results in blocks.

Everything here goes over blocks of rows, and a file's are read again whenever they are wanted, so that memory is
bounded by what is kept for a row: K joints, a status and the truth.
"""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.decision.loss import Decision, LossMatrix, decide_ledger
from bayes_engine.ledger import CALIBRATION, JOINT, STATUS_NAMES, Ledger, Status
from bayes_engine.logspace import Array
from bayes_engine.numerals import signed
from bayes_engine.progress import tick
from bayes_engine.table.encode import encode
from bayes_engine.table.matrix import slices
from bayes_engine.table.schema import Schema
from bayes_engine.table.write import free_names, write_csv
from bayes_engine.workbench.incoming.bad_cells import LISTED, BadCell
from bayes_engine.workbench.incoming.file_tally import FileTally
from bayes_engine.workbench.incoming.second_table import Incoming, IncomingFile, Reception

BLOCK = 50_000
"""Rows that are decided at once."""
CELLS = 200_000
"""Cells that are explained at once: AODE has a term for every two of a row."""
STRONGEST = 3
"""How many contributions make a reason, and how many words of a text."""
LEAST = 0.005
"""Bits or nats below which a contribution is none: it would be printed as 0.00."""
LONGEST = 60
"""Characters of a cell that stand in a reason."""
Rows = Incoming | IncomingFile


@dataclass(frozen=True)
class ScoredRows:
    """The joints of n rows as a `summed` ledger, −inf for a row that was not given to the model; its class `prior`."""

    ledger: Ledger
    prior: Mapping[Any, float]

    def __len__(self) -> int:
        return len(self.ledger.status)

    def of(self, rows: slice) -> ScoredRows:
        """The joints of some of the rows."""
        joint = self.ledger.rows[0][1][rows]
        return replace(self, ledger=Ledger(((JOINT, joint),), self.ledger.classes, self.ledger.status[rows]))

    def posterior(self, prior_of_use: Mapping[Any, float] | None = None) -> Array:
        """(n, K) P(c|x), shifted from the model's prior to `prior_of_use` if given; zeros where there is none.

        Raises ParameterError where the prior of use wants a class that the model excludes.
        """
        return self.ledger.at_prior(self.prior, prior_of_use).posterior()

    def decide(
        self, loss: LossMatrix, prior_of_use: Mapping[Any, float] | None = None, *, amount: Any = None
    ) -> Decision:
        """The action of least risk for every row; with the rows' amounts (n,), each under its own losses. A row whose
        amount is missing, infinite or negative is not decided: its status is UNREADABLE."""
        sizes = None if amount is None else np.asarray(amount, dtype=float)
        parts = [
            self.of(rows)._decide(loss, prior_of_use, None if sizes is None else sizes[rows])
            for rows in (slice(i, i + BLOCK) for i in range(0, max(len(self), 1), BLOCK))
        ]
        return parts[0] if len(parts) == 1 else Decision(*map(np.concatenate, zip(*parts, strict=True)))

    def _decide(self, loss: LossMatrix, prior_of_use: Mapping[Any, float] | None, amount: Array | None) -> Decision:
        ledger = self.ledger.at_prior(self.prior, prior_of_use)
        if amount is None:
            return decide_ledger(ledger, loss)
        fine = np.isfinite(amount) & (amount >= 0)
        ledger = replace(ledger, status=np.where(fine, ledger.status, Status.UNREADABLE).astype(np.int8))
        return decide_ledger(ledger, loss, amount=np.where(fine, amount, 0.0))


@dataclass(frozen=True)
class DecisionCounts:
    """What became of the rows: how often each action was decided, how many are undecided; and where the truth is known,
    how many of the `known` were decided, how many of those `right`, and the mean loss of the decisions; `strange` rows
    have a truth that is no class of the model, and are counted nowhere else. `confusion` (A, K): how often an action
    was decided where the truth is a class."""

    actions: Mapping[Any, int]
    undecided: int
    known: int
    right: int
    mean_loss: float
    strange: int
    confusion: NDArray[np.intp]


def score_file(model: Any, reception: Reception) -> tuple[IncomingFile, ScoredRows]:
    """The rows of a file and their joints, in one pass over it. What is kept of a row is its joints, its status, its
    truth and its amount."""
    tally, bad, truth, amount = FileTally(), list[BadCell](), list[Any](), list[Any]()

    def joints() -> Iterator[tuple[Array, NDArray[np.int8]]]:
        for block in reception.blocks(tally=tally):
            above = tally.rows - len(block)
            bad.extend(cell._replace(row=cell.row + above) for cell in block.bad[: LISTED - len(bad)])
            truth.append(block.truth)
            amount.append(block.amount)
            yield _joints(model, block)

    scored = _gathered(model, joints())
    whole = np.concatenate(amount) if reception.amount else None
    notes, doubts = reception.notes(tally), tuple(reception.unlike(tally))
    return IncomingFile(reception, tuple(bad), np.concatenate(truth), notes, doubts, whole), scored


def _gathered(model: Any, parts: Iterable[tuple[Array, NDArray[np.int8]]]) -> ScoredRows:
    joint, status = (np.concatenate(part) for part in zip(*parts, strict=True))
    judging = model if hasattr(model, "prior_by_class") else model.estimator_  # what EM fitted has the prior
    return ScoredRows(Ledger(((JOINT, joint),), tuple(model.classes_.tolist()), status), judging.prior_by_class)


def summed(model: Any, X: pd.DataFrame, given: Collection[str] | None = None) -> Ledger:
    """`model.explain(X, given).summed()` of n ≥ 1 rows, a block of them at a time."""
    size = max(1, CELLS // X.shape[1])
    blocks: list[Ledger] = [model.explain(X.iloc[rows], given).summed() for rows in slices(len(X), size)]
    joint, status = (np.concatenate(part) for part in zip(*((b.joint(), b.status) for b in blocks), strict=True))
    return Ledger(((JOINT, joint),), blocks[0].classes, status)


def _joints(model: Any, rows: Incoming) -> tuple[Array, NDArray[np.int8]]:
    """(n, K) joints and (n,) statuses of a block."""
    joint = np.full((len(rows), len(model.classes_)), -np.inf)
    status = np.full(len(rows), Status.UNREADABLE, dtype=np.int8)
    readable = np.flatnonzero(~rows.unreadable)
    if len(readable):
        ledger = _explained(model, rows.frame if len(readable) == len(rows) else rows.frame.iloc[readable])
        joint[readable], status[readable] = ledger.apart(), ledger.status
    return joint, status


def _explained(model: Any, frame: pd.DataFrame) -> Ledger:
    """The ledger of a block; columns that the model was given and does not use are there for it, and empty."""
    given = getattr(model, "feature_names_in_", None)
    ledger: Ledger = model.explain(frame if given is None else frame.reindex(columns=given))
    return ledger


def decision_counts(
    rows: Rows, decision: Decision, loss: LossMatrix, classes: tuple[Any, ...], *, amount: Any = None
) -> DecisionCounts:
    """Counts of the decisions; `classes` are the target's, in the order in which `rows.truth` counts them; `amount`
    (n,) as the rows were decided with."""
    counts = np.bincount(decision.position[decision.position >= 0], minlength=len(loss.actions))
    known = (rows.truth >= 0) & (decision.position >= 0)
    action, truth = decision.position[known], rows.truth[known].astype(np.intp)
    meant = np.array([classes.index(a) if a in classes else -1 for a in loss.actions])
    size = None if amount is None else np.asarray(amount)[known]
    costs = loss.for_classes(classes).cost(action, truth, size)
    shape = (len(loss.actions), len(classes))
    return DecisionCounts(
        actions=dict(zip(loss.actions, counts.tolist(), strict=True)),
        undecided=int((decision.position < 0).sum()),
        known=int(known.sum()),
        right=int((meant[action] == truth).sum()),
        mean_loss=float(costs.mean()) if known.any() else float("nan"),
        strange=int((rows.truth == -2).sum()),
        confusion=np.bincount(action * shape[1] + truth, minlength=shape[0] * shape[1]).reshape(shape),
    )


SILENT = "no column supports it: the prior or the losses decide"
"""The reason where no column's contribution favours the decided class."""
NOWHERE: Mapping[int, str] = {
    Status.IMPOSSIBLE: "impossible under this model: its likelihood is 0 in every class",
    Status.OUT_OF_RANGE: "outside the range of the data: every density underflows",
}
"""The reason where no cell alone is why a row has no posterior."""


@dataclass(frozen=True)
class Wording:
    """How reasons are written: `words` has for the sentences here, for what a cell can be (`Why`) and for the unit how
    a person says them in another language; contributions are in bits, or in nats."""

    words: Mapping[str, str] = field(default_factory=dict)
    bits: bool = True

    def of(self, english: str) -> str:
        return self.words.get(english, english)

    def contribution(self, value: float) -> str:
        """«+1.20 bits»."""
        return f"{signed(value)} {self.of('bits' if self.bits else 'nats')}"

    @property
    def nats_a_unit(self) -> float:
        return math.log(2.0) if self.bits else 1.0


IN_BITS = Wording()
"""The English sentences as they are, and bits: the default of `wording`."""


OF_NO_COLUMN = frozenset({"prior", "entropy", "constant"})
"""Kinds of rows of a ledger that speak of no column: of the class, or of which super-parent AODE takes."""


def reasons(
    model: Any,
    rows: Incoming,
    decision: Decision,
    posterior: Array,
    positions: NDArray[np.intp],
    wording: Wording = IN_BITS,
) -> list[str]:
    """For each of the rows at these `positions`, the up to three columns that speak loudest for the decided class and
    against its most probable rival, with their contributions to the log-odds: `density = 0.697 (+1.73 bits), …`; of
    a text also its words that do: `message = Call now … (+7.50 bits: call, now)`.

    A decision that is no class (refuse) is explained by the most probable class. Where no column speaks for the class,
    prior or losses decided, and the reason is SILENT; for a row not decided it names the cell, or is one of NOWHERE.
    """
    sentences = np.full(len(positions), "", dtype=object)
    bad_cells = {
        cell.row: f"{cell.column} = {_short(cell.value)} ({wording.of(cell.why)})" for cell in reversed(rows.bad)
    }
    decided = decision.position[positions] >= 0
    for place in np.flatnonzero(~decided):
        nowhere = NOWHERE.get(int(decision.status[positions[place]]), "")
        sentences[place] = wording.of(nowhere) or bad_cells.get(int(positions[place]), "")
    places, positions = np.flatnonzero(decided), positions[decided]
    if not len(positions):
        return sentences.tolist()
    frame = rows.frame.iloc[positions]
    ledger = _explained(model, frame)
    rivals = _rivals(ledger.classes, decision.action[positions], posterior[positions])
    n = np.arange(len(positions))
    terms = [
        (row.child, term)
        for row, term in ledger.by_variable().rows
        if row.kind not in OF_NO_COLUMN and row != CALIBRATION
    ]
    silent = wording.of(SILENT)
    if not terms:
        sentences[places] = silent
        return sentences.tolist()
    with np.errstate(invalid="ignore"):
        pull = np.nan_to_num(
            np.stack([t[n, rivals[:, 0]] - t[n, rivals[:, 1]] for _, t in terms], axis=1), nan=0.0, posinf=np.inf
        )
    top = np.argsort(-pull, axis=1, kind="stable")[:, :STRONGEST]
    least = LEAST * wording.nats_a_unit
    parts = []
    for j in range(len(terms)):  # a column at a time: its cells and its contributions have few different spellings
        loud = np.flatnonzero((top == j).any(axis=1) & (pull[:, j] >= least))
        words = _words(model, frame.iloc[loud], terms[j][0], rivals[loud], least)
        spelled = _spelled(rows, terms[j][0], positions[loud])
        parts.append((loud, _parts(terms[j][0], spelled, pull[loud, j], words, wording)))
    texts = np.full((len(positions), len(terms)), "", dtype=object)
    for j, (loud, part) in enumerate(parts):
        texts[loud, j] = part
    chosen = np.take_along_axis(texts, top, axis=1).tolist()
    sentences[places] = [", ".join([part for part in three if part]) or silent for three in chosen]
    return sentences.tolist()


def _spelled(rows: Incoming, name: str, positions: NDArray[np.intp]) -> pd.Series | None:
    """The cells of the model's column `name` in the rows at these `positions`, as the file writes them; None where the
    file has no such column: it is what the model weighs besides, such as which super-parent."""
    column = rows.called.get(name, "")
    return rows.cells[column].iloc[positions] if column else None


def _parts(name: str, spelled: pd.Series | None, pull: Array, words: Sequence[str], wording: Wording) -> list[str]:
    """What a column says in each row: `density = 0.697 (+1.73 bits)`, with the words of a text behind the number."""
    if spelled is None:
        cells = np.full(len(pull), name, dtype=object)
    else:
        codes, texts = pd.factorize(spelled)
        cells = np.array([f"{name} = {_short(str(text))}" for text in texts], dtype=object)[codes]
    numbers, levels = np.unique(np.round(pull / wording.nats_a_unit, 2), return_inverse=True)
    weights = np.array([wording.contribution(float(v)) for v in numbers], dtype=object)[levels]
    return [f"{cell} ({own}{word})" for cell, own, word in zip(cells, weights, words, strict=True)]


def _words(model: Any, frame: pd.DataFrame, name: str, rivals: NDArray[np.intp], least: float) -> Sequence[str]:
    """Of each row's text the words that speak loudest for one class and against another, after a colon; nothing where
    the column is no text."""
    whole = getattr(getattr(model, "estimator_", model), "factor_", None)
    part = None if whole is None else whole.part_of(name)
    if part is None or not part[0].variable.textual or not len(frame):
        return [""] * len(frame)
    factor = part[0]
    counts = encode(frame[[name]], Schema((factor.variable,)))[name].counts
    weight = factor.terms.present if factor.terms.absent is None else factor.terms.present - factor.terms.absent
    phrases = []
    for i, (a, b) in enumerate(rivals.tolist()):
        row = slice(counts.indptr[i], counts.indptr[i + 1])
        term_columns = counts.indices[row]
        pull = counts.data[row] * (weight[a, term_columns] - weight[b, term_columns])
        top = [k for k in np.argsort(-pull, kind="stable")[:STRONGEST] if pull[k] >= least]
        phrases.append(": " + ", ".join(factor.counts.names[term_columns[k]] for k in top) if top else "")
    return phrases


def results(
    model: Any,
    rows: Incoming,
    scored: ScoredRows,
    decision: Decision,
    posterior: Array,
    classes: Iterable[Any],
    positions: NDArray[np.intp],
    wording: Wording = IN_BITS,
) -> pd.DataFrame:
    """The columns of the answer for the rows at these `positions`, under names that no column of the file has:
    decision, risk, gap, P(class) in the order of `classes`, status, reason (`wording` as in `reasons`). Numbers are NaN
    where a row is not decided."""
    fine = decision.position[positions] >= 0
    labels = ["" if action is None else str(action) for action in decision.action[positions]]
    columns: dict[str, Any] = {
        "decision": pd.Series(labels, dtype="str"),
        "risk": np.where(fine, decision.risk[positions], np.nan),
        "gap": np.where(fine, decision.gap[positions], np.nan),
    }
    for label in classes:
        columns[f"P({label})"] = np.where(fine, posterior[positions, scored.ledger.classes.index(label)], np.nan)
    named = np.array([STATUS_NAMES[status] for status in sorted(STATUS_NAMES)], dtype=object)
    columns["status"] = pd.Series(named[decision.status[positions]], dtype="str")
    columns["reason"] = pd.Series(reasons(model, rows, decision, posterior, positions, wording), dtype="str")
    frame = pd.DataFrame(columns)
    return frame.set_axis(free_names(list(frame.columns), set(rows.names)), axis=1)


def answers(
    model: Any,
    rows: Rows,
    scored: ScoredRows,
    loss: LossMatrix,
    classes: Iterable[Any],
    prior_of_use: Mapping[Any, float] | None = None,
    *,
    amount: Any = None,
    wording: Wording = IN_BITS,
) -> Iterator[pd.DataFrame]:
    """The file with the answers beside it, a block at a time: every cell as the text it was, then `results`; `amount`
    (n,) as in `ScoredRows.decide`, `wording` as in `reasons`.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> from bayes_engine.workbench.incoming.file_blocks import open_cells
    >>> model = NaiveBayes().fit(pd.DataFrame({"size": [1.0, 2.0, 4.0, 5.0]}), ["small", "small", "big", "big"])
    >>> rows, scored = score_file(model, Reception(open_cells(b"size\\n1.50\\nwide\\n"), model.schema_, model.target_))
    >>> loss = LossMatrix.zero_one(["big", "small"])
    >>> (answer,) = answers(model, rows, scored, loss, loss.classes)
    >>> answer[["size", "decision", "status", "reason"]].values.tolist()
    [['1.50', 'small', 'ok', 'size = 1.50 (+25.97 bits)'], ['wide', '', 'unusable cell', 'size = wide (no number)']]
    """
    classes, start = tuple(classes), 0
    for block in rows.blocks():
        part = slice(start, start + len(block))
        tick(start, len(rows))
        own = scored.of(part)
        decision = own.decide(loss, prior_of_use, amount=None if amount is None else np.asarray(amount)[part])
        here = np.arange(len(block))
        answer = results(model, block, own, decision, own.posterior(prior_of_use), classes, here, wording)
        yield pd.concat([block.cells.reset_index(drop=True), answer], axis=1)
        start += len(block)


def csv_of(frame: pd.DataFrame) -> bytes:
    """A frame as a file to be classified; one without rows is a template to be filled in."""
    out = io.BytesIO()
    write_csv(out, [frame])
    return out.getvalue()


def _short(cell: str) -> str:
    """A cell within a reason: of a long text its beginning, on one line."""
    return cell if len(cell) <= LONGEST and "\n" not in cell else " ".join(cell.split())[: LONGEST - 1] + "…"


def _rivals(classes: tuple[Any, ...], actions: NDArray[Any], posterior: Array) -> NDArray[np.intp]:
    """(n, 2) positions of the class decided (the most probable one where the action is no class), for which a reason
    speaks, and of the most probable other class, against which it does."""
    order = np.argsort(-posterior, axis=1, kind="stable")
    where = {label: k for k, label in enumerate(classes)}
    for_ = np.array([where.get(a, order[i, 0]) for i, a in enumerate(actions)], dtype=np.intp)
    return np.stack([for_, np.where(order[:, 0] == for_, order[:, 1], order[:, 0])], axis=1)
