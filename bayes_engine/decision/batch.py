"""A file of rows, classified: joints once, decisions as often as the losses change, reasons and CSV in blocks.

Everything here works on blocks of rows, so that memory is bounded by what is kept for a row: K joints and a status.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.decision.loss import Decision, LossMatrix, judge
from bayes_engine.ledger import CALIBRATION, JOINT, Ledger, Status
from bayes_engine.logspace import Array
from bayes_engine.numerals import signed
from bayes_engine.table.incoming import Incoming, guarded

BLOCK = 50_000
"""Rows that are explained at once."""
STRONGEST = 3
"""How many contributions make a reason."""
LONGEST = 60
"""Characters of a cell that stand in a reason."""
STATUS_NAMES: Mapping[int, str] = {
    Status.OK: "ok",
    Status.IMPOSSIBLE: "impossible",
    Status.OUT_OF_RANGE: "out of range",
    Status.REFUSED: "infinite cell",
    Status.UNREADABLE: "unusable cell",
}
"""What the status column of the results says."""


@dataclass(frozen=True)
class Scored:
    """The joints of n rows as a summed `ledger`, −inf for a row that was not given to the model; its class `prior`."""

    ledger: Ledger
    prior: Mapping[Any, float]

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
        ledger = self.ledger.at_prior(self.prior, prior_of_use)
        if amount is None:
            return judge(ledger, loss)
        fine = np.isfinite(amount) & (np.asarray(amount) >= 0)
        ledger = replace(ledger, status=np.where(fine, ledger.status, Status.UNREADABLE).astype(np.int8))
        return judge(ledger, loss, amount=np.where(fine, amount, 0.0))


@dataclass(frozen=True)
class Tally:
    """What became of the rows: how often each action was decided, how many are undecided; and where the truth is known,
    how many of the `known` were decided, how many of those `right`, and the mean loss of the decisions."""

    actions: Mapping[Any, int]
    undecided: int
    known: int
    right: int
    mean_loss: float


def score(model: Any, rows: Incoming, block: int = BLOCK) -> Scored:
    """Joints of all rows that the model can be given, a block at a time.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> from bayes_engine.table.incoming import receive
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 4.0, 5.0]})
    >>> model = NaiveBayes().fit(X, ["small", "small", "big", "big"])
    >>> rows = receive(pd.DataFrame({"size": ["1.5", "?", "wide"]}), model.schema_, model.target_)
    >>> scored = score(model, rows)
    >>> scored.decide(LossMatrix.zero_one(["big", "small"])).action.tolist(), scored.ledger.status.tolist()
    (['small', 'big', None], [0, 0, 4])
    """
    classes = tuple(model.classes_.tolist())
    joint = np.full((len(rows), len(classes)), -np.inf)
    status = np.full(len(rows), Status.UNREADABLE, dtype=np.int8)
    for at in _blocks(np.flatnonzero(~rows.unreadable), block):
        ledger: Ledger = model.explain(rows.frame.iloc[at])
        joint[at], status[at] = ledger.joint(), ledger.status
    return Scored(Ledger(((JOINT, joint),), classes, status), model.prior_by_class)


def tally(
    rows: Incoming, decision: Decision, loss: LossMatrix, classes: tuple[Any, ...], *, amount: Any = None
) -> Tally:
    """Counts of the decisions; `classes` are the target's, in the order in which `rows.truth` counts them; `amount`
    (n,) as the rows were decided with."""
    counts = np.bincount(decision.position[decision.position >= 0], minlength=len(loss.actions))
    known = (rows.truth >= 0) & (decision.position >= 0)
    action, truth = decision.position[known], rows.truth[known]
    meant = np.array([classes.index(a) if a in classes else -1 for a in loss.actions])
    size = None if amount is None else np.asarray(amount)[known]
    costs = loss.for_classes(classes).cost(action, truth, size)
    return Tally(
        actions=dict(zip(loss.actions, counts.tolist(), strict=True)),
        undecided=int((decision.position < 0).sum()),
        known=int(known.sum()),
        right=int((meant[action] == truth).sum()),
        mean_loss=float(costs.mean()) if known.any() else float("nan"),
    )


SILENT = "no column speaks for it: the prior or the losses decide"
"""The reason where no column's contribution favours the decided class."""


def reasons(
    model: Any, rows: Incoming, decision: Decision, posterior: Array, at: NDArray[np.intp], silent: str = SILENT
) -> list[str]:
    """For each of the rows `at`, the up to three columns that speak loudest for the decided class and against its most
    probable rival, with their contributions to the log-odds in nats: `density = 0.697 (+1.20), …`.

    A decision that is no class (refuse) is explained by the most probable class. Where no column speaks for the class,
    prior or losses decided, and the reason is `silent`; for a row not decided it names the cell, if a cell is why.
    """
    said = [""] * len(at)
    told = {cell.row: f"{cell.column} = {cell.value} ({cell.why})" for cell in reversed(rows.bad)}
    decided = decision.position[at] >= 0
    for place in np.flatnonzero(~decided):
        said[place] = told.get(int(at[place]), "")
    places, at = np.flatnonzero(decided), at[decided]
    if not len(at):
        return said
    ledger: Ledger = model.explain(rows.frame.iloc[at])
    for_, against = _rivals(ledger.classes, decision.action[at], posterior[at])
    n = np.arange(len(at))
    terms = [(row.child, term) for row, term in ledger.by_variable().rows if row.kind != "prior" and row != CALIBRATION]
    if not terms:
        return said
    with np.errstate(invalid="ignore"):
        pull = np.nan_to_num(np.stack([t[n, for_] - t[n, against] for _, t in terms], axis=1), nan=0.0, posinf=np.inf)
    top = np.argsort(-pull, axis=1, kind="stable")[:, :STRONGEST]
    heard = np.take_along_axis(pull, top, axis=1)
    names = [name for name, _ in terms]
    cells = [[_short(c) for c in rows.cells[name].iloc[at]] if name in rows.cells else [""] * len(at) for name in names]
    for i, (columns, pulls) in enumerate(zip(top.tolist(), heard.tolist(), strict=True)):
        strong = [(j, v) for j, v in zip(columns, pulls, strict=True) if v >= 0.005]
        said[places[i]] = ", ".join(f"{names[j]} = {cells[j][i]} ({signed(v)})" for j, v in strong) or silent
    return said


def results(
    model: Any,
    rows: Incoming,
    scored: Scored,
    decision: Decision,
    posterior: Array,
    classes: Iterable[Any],
    at: NDArray[np.intp],
    silent: str = SILENT,
) -> pd.DataFrame:
    """The columns of the answer for the rows `at`, under names that no column of the file has: decision, risk, gap,
    P(class) in the order of `classes`, status, reason."""
    taken = set(rows.cells.columns)
    fine = decision.position[at] >= 0
    columns: dict[str, Any] = {
        "decision": pd.Series(["" if a is None else str(a) for a in decision.action[at]], dtype=object),
        "risk": np.where(fine, decision.risk[at], np.nan),
        "gap": np.where(fine, decision.gap[at], np.nan),
    }
    for label in classes:
        columns[f"P({label})"] = np.where(fine, posterior[at, scored.ledger.classes.index(label)], np.nan)
    columns["status"] = [STATUS_NAMES[int(s)] for s in decision.status[at]]
    columns["reason"] = reasons(model, rows, decision, posterior, at, silent)
    frame = pd.DataFrame(columns)
    return frame.set_axis(free_names(list(frame.columns), taken), axis=1)


def predictions_csv(
    model: Any,
    rows: Incoming,
    scored: Scored,
    loss: LossMatrix,
    classes: Iterable[Any],
    prior_of_use: Mapping[Any, float] | None = None,
    block: int = BLOCK,
    *,
    amount: Any = None,
) -> bytes:
    """The file with the answers beside it, as CSV: every original cell as the text it was, then `results`; `amount`
    (n,) as in `Scored.decide`.

    UTF-8 with a byte-order mark, so that Excel reads 中文; text that a spreadsheet would run as a formula gets a
    leading apostrophe; numbers are written to their last digit.
    """
    posterior, classes = scored.posterior(prior_of_use), tuple(classes)
    decision = scored.decide(loss, prior_of_use, amount=amount)
    out = io.BytesIO()
    out.write(b"\xef\xbb\xbf")
    for k, at in enumerate(_blocks(np.arange(len(rows)), block)):
        answer = results(model, rows, scored, decision, posterior, classes, at)
        whole = pd.concat([rows.cells.iloc[at].reset_index(drop=True), answer], axis=1)
        safe = whole.apply(lambda c: c if pd.api.types.is_numeric_dtype(c.dtype) else guarded(c))
        safe.columns = pd.Index(guarded(pd.Series(whole.columns.astype(str))))
        out.write(safe.to_csv(index=False, header=k == 0).encode())
    return out.getvalue()


def template_csv(frame: pd.DataFrame, n: int = 2) -> bytes:
    """The header and the first `n` rows of `frame`: what a file to be classified looks like."""
    head = frame.head(n).astype(object)
    text = head.where(head.notna(), "").map(str)
    safe = text.apply(guarded)
    safe.columns = pd.Index(guarded(pd.Series(text.columns.astype(str))))
    return b"\xef\xbb\xbf" + safe.to_csv(index=False).encode()


def free_names(wanted: list[str], taken: set[str]) -> list[str]:
    """`wanted`, each with _2, _3, … appended where it is taken.

    >>> free_names(["decision", "risk"], {"decision", "decision_2"})
    ['decision_3', 'risk']
    """
    names, taken = [], set(taken)
    for name in wanted:
        free, k = name, 2
        while free in taken:
            free, k = f"{name}_{k}", k + 1
        taken.add(free)
        names.append(free)
    return names


def _short(cell: str) -> str:
    """A cell within a reason: of a long text its beginning, on one line."""
    return cell if len(cell) <= LONGEST and "\n" not in cell else " ".join(cell.split())[: LONGEST - 1] + "…"


def _rivals(
    classes: tuple[Any, ...], actions: NDArray[Any], posterior: Array
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions of the class decided (the most probable one where the action is no class) and of the most probable
    other class."""
    order = np.argsort(-posterior, axis=1, kind="stable")
    where = {label: k for k, label in enumerate(classes)}
    for_ = np.array([where.get(a, order[i, 0]) for i, a in enumerate(actions)], dtype=np.intp)
    return for_, np.where(order[:, 0] == for_, order[:, 1], order[:, 0])


def _blocks(positions: NDArray[np.intp], size: int) -> Iterable[NDArray[np.intp]]:
    return (positions[i : i + size] for i in range(0, len(positions), size))
