"""What the doctor found in the table in use: examined once, and judged anew under the active model and the losses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, get_args

from bayes_engine.language import Message
from bayes_engine.workbench.doctor.examine import examine
from bayes_engine.workbench.doctor.finding import (
    AddModel,
    BalanceLosses,
    Code,
    Finding,
    Mend,
    ModelInUse,
    Repair,
    Report,
    SetLikelihood,
    SetParameter,
    SetRole,
    Severity,
)
from pages import active
from pages.runtime.cache import cached
from pages.runtime.job_queue import in_worker
from pages.runtime.state import current

LOOKED = 512
"""So many columns are examined, the target among them: pairs of more take minutes. Rows are compared in all."""
GROUPED = 3
"""From so many columns with the same finding on they are one line."""
OF_CLASSES = ("single-row-class", "rare-class", "imbalance")
OF_MODELS = (AddModel, SetParameter, SetLikelihood, BalanceLosses)
"""Mends of a model, or of the losses, rather than of the table."""


@dataclass(frozen=True)
class Examined:
    """The report, the findings that are `open`, those that are `settled`, and how many columns were `left` out."""

    report: Report
    open: tuple[Finding, ...]
    settled: tuple[Finding, ...]
    left: int

    @property
    def passed(self) -> tuple[Code, ...]:
        """What was looked for and not found."""
        codes = {f.code for f in self.report.findings}
        return tuple(code for code in get_args(Code) if code not in codes)


def examined(table: active.TableInUse) -> Examined:
    """What was found in the table; while that takes, the page ends (`jobs.UnderWay`)."""
    left = max(len(table.schema) - LOOKED, 0)
    report = _examined(table)
    model = None
    if isinstance(table, active.FittableTable):
        spec = active.shelf_of(table)[min(current().active, len(active.shelf_of(table)) - 1)]
        model = ModelInUse(spec.family, active.settings(spec))
    stated = bool(current().losses)
    findings = report.open(model, stated)
    if model is None:  # no model that could be mended, nor losses
        findings = tuple(replace(f, mends=tuple(m for m in f.mends if not isinstance(m, OF_MODELS))) for f in findings)
    return Examined(report, findings, report.settled(model, stated), left)


@cached(max_entries=32, activity=Message("examining the columns"))
def _examined(table: active.TableInUse) -> Report:
    schema = table.parts.schema if isinstance(table, active.FittableTable) else table.schema
    return in_worker(examine, table.frame, schema, most=LOOKED)


# many findings of one kind --------------------------------------------------------------------------------------------


class Group(NamedTuple):
    """Findings of one kind, and what mends all of them: one tuple of mends a button, the best first."""

    code: Code
    severity: Severity
    findings: tuple[Finding, ...]
    mends: tuple[tuple[Mend, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it is about."""
        return tuple(dict.fromkeys(name for f in self.findings for name in f.columns))


def grouped(findings: Sequence[Finding]) -> tuple[Group, ...]:
    """The findings in their order, those of a kind that stands in many columns together at the place of the first."""
    alike: dict[tuple[Code, Severity], list[Finding]] = {}
    for f in findings:
        alike.setdefault((f.code, f.severity), []).append(f)
    groups = []
    for (code, severity), own in alike.items():
        if len(own) >= GROUPED:
            groups.append(Group(code, severity, tuple(own), together(own)))
        else:
            groups += [alone(f) for f in own]
    return tuple(groups)


def alone(finding: Finding) -> Group:
    """One finding by itself, a button for each of its mends."""
    return Group(finding.code, finding.severity, (finding,), tuple((mend,) for mend in finding.mends))


def together(findings: Iterable[Finding]) -> tuple[tuple[Mend, ...], ...]:
    """One button for what is alike in the mends of many findings: the first of a kind that each of them has."""
    buttons: dict[Any, list[Mend]] = {}
    for f in findings:
        own: dict[Any, Mend] = {}
        for mend in f.mends:
            own.setdefault(_kind(mend), mend)
        for kind, mend in own.items():
            if mend not in buttons.setdefault(kind, []):
                buttons[kind].append(mend)
    return tuple(_one(mends) for mends in buttons.values())


def _kind(mend: Mend) -> Any:
    if isinstance(mend, SetRole):
        return SetRole, mend.role
    if isinstance(mend, SetLikelihood):
        return SetLikelihood, mend.likelihood
    if isinstance(mend, Repair):
        return Repair, mend.what, mend.value if mend.what == "days" else None
    return mend if isinstance(mend, SetParameter | AddModel) else type(mend)


def _one(mends: list[Mend]) -> tuple[Mend, ...]:
    likelihoods = [mend for mend in mends if isinstance(mend, SetLikelihood)]
    if likelihoods:
        names = tuple(dict.fromkeys(name for mend in likelihoods for name in mend.columns))
        return (replace(likelihoods[0], columns=names),)
    return tuple(mends)
