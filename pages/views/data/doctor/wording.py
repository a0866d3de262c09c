"""The doctor in words: what a finding is called, what its sentence says on screen, what a button says and will do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bayes_engine.language import Message, _, ngettext
from bayes_engine.workbench.doctor import finding
from pages import active
from pages.active import units, words
from pages.runtime.escape import clean, md

Escape = Callable[[str], str]
ICONS: dict[finding.Severity, str] = {
    "serious": ":red[:material/error:]",
    "warning": ":orange[:material/warning:]",
    "note": ":gray[:material/info:]",
}


def long(text: str) -> str:
    """A name in a sentence of the doctor's."""
    return md(text, 60)


def title(code: finding.Code) -> str:
    """What a kind of finding is called."""
    return {
        "infinite": _("infinite cells"),
        "identifier": _("identifier"),
        "leak": _("leak"),
        "copy-of-target": _("copy of the target"),
        "single-row-class": _("class of one row"),
        "rare-class": _("rare class"),
        "imbalance": _("uneven classes"),
        "constant": _("constant"),
        "nearly-constant": _("nearly constant"),
        "duplicate-column": _("duplicated column"),
        "duplicate-rows": _("duplicated rows"),
        "spellings": _("spellings"),
        "look-alikes": _("levels that look alike"),
        "mixed-types": _("numbers and text mixed"),
        "date": _("dates"),
        "text": _("texts"),
        "high-cardinality": _("many levels"),
        "codes": _("numbers that are names"),
        "missing": _("mostly missing"),
        "missing-tells": _("informative missing cells"),
        "sentinel": _("a number for «missing»"),
        "outliers": _("far from all others"),
        "zero-cells": _("zero cells"),
        "tiny-variance": _("tiny variance"),
        "collinear": _("collinearity"),
        "skew": _("skew"),
        "heavy-tails": _("heavy tails"),
        "not-normal": _("not normal within classes"),
        "covariances": _("unequal covariances (Box's M)"),
        "dependence": _("dependence given the class"),
    }[code]


def severity(name: finding.Severity, n: int) -> str:
    """So many findings of a severity."""
    if name == "serious":
        return _("{n} serious").format(n=n)
    if name == "warning":
        return ngettext("{n} warning", "{n} warnings", n).format(n=n)
    return ngettext("{n} note", "{n} notes", n).format(n=n)


def sentence(table: active.TableInUse, message: Message, escape: Escape = long) -> str:
    """A sentence of the doctor's, columns, levels and classes as they are called on screen, evidence in its
    unit."""
    return replace(message, params=_shown(table, message.params)).local(escape)


def _shown(table: active.TableInUse, params: Any) -> dict[str, Any]:
    shown = {
        name: units.evidence_text(value, 2) if isinstance(value, finding.Nats) else value
        for name, value in params.items()
    }
    if table.dataset is None:  # the columns of a file have no other names
        return shown
    known = {v.name for v in table.schema}
    target = table.schema.target
    for name, value in params.items():
        if not isinstance(value, str):
            continue
        if name in ("column", "other") and value in known:
            shown[name] = table.column(value)
        elif name == "names":
            shown[name] = _(", ").join(table.column(c) if c in known else c for c in value.split(", "))
        elif name in ("level", "other_level") and params.get("column", "") in known:
            shown[name] = _label(table, params["column"], value)
        elif name in ("label", "other_label") and target is not None:
            shown[name] = _label(table, target.name, value)
    return shown


def _label(table: active.TableInUse, column: str, text: str) -> str:
    level = next((v for v in table.schema[column].levels if str(v) == text), text)
    return table.level(column, level)


# buttons --------------------------------------------------------------------------------------------------------------


def button(table: active.TableInUse, mends: Sequence[finding.Mend]) -> str:
    """What a button says that does these, which are of one kind."""
    first, n = mends[0], len(mends)
    if isinstance(first, finding.SetLikelihood) and len(first.columns) > 2:
        several = {"kernel": _("Kernel density for {n} columns"), "mdlp": _("Cut {n} columns by MDLP")}
        return several.get(first.likelihood, _("Count the values of {n} columns")).format(n=len(first.columns))
    if n == 1:
        return sentence(table, finding.label(first), lambda text: md(text, 40))
    if isinstance(first, finding.SetRole) and first.role == "ignore":
        return _("Leave out these {n} columns").format(n=n)
    if isinstance(first, finding.SetRole):
        return _("Make these {n} columns {role}").format(n=n, role=words.role(first.role))
    if isinstance(first, finding.SetKind):
        return _("Read these {n} columns as {kind}").format(n=n, kind=words.kind(first.kind))
    if isinstance(first, finding.ReadText):
        return _("Count the words of these {n} columns").format(n=n)
    assert isinstance(first, finding.Repair)
    if first.what == "merge-spellings":
        return _("Make one level of the spellings in {n} columns").format(n=n)
    if first.what == "merge-look-alikes":
        return _("Make one level of what looks alike in {n} columns").format(n=n)
    if first.what == "value-missing":
        return _("These numbers mean missing in {n} columns").format(n=n)
    if first.what == "days" and first.value == finding.DAY_FIRST:
        return _("Count {n} columns in days, the day first").format(n=n)
    if first.what == "days" and first.value == finding.MONTH_FIRST:
        return _("Count {n} columns in days, the month first").format(n=n)
    if first.what == "days":
        return _("Count {n} columns in days").format(n=n)
    return _("Make these cells of {n} columns missing").format(n=n)


def model(suggested: finding.AddModel) -> str:
    """What a model is called that is suggested."""
    name = finding.model_name(suggested).local(md)
    return name[:1].upper() + name[1:]


def mend_help(mend: finding.Mend) -> str:
    """What a mend will do, for the button's help."""
    if isinstance(mend, finding.SetRole):
        return {
            "ignore": _("The column stays in the table; no model reads it."),
            "id": _("The column names the rows; no model reads it."),
        }.get(mend.role, _("The column gets another role."))
    if isinstance(mend, finding.SetKind):
        return _("Each of its values becomes a level, and levels are counted.")
    if isinstance(mend, finding.ReadText):
        return _("Its words are counted, and models on naive Bayes read them.")
    if isinstance(mend, finding.SetLikelihood):
        return {
            "kernel": _("The active model takes the shape from the rows: a small bump on every value."),
            "mdlp": _("The active model counts intervals, cut where the classes change."),
            "categorical": _("The active model counts every value as a level."),
        }[mend.likelihood] + " " + _("Where the active model cannot, a naive Bayes that can is added.")  # fmt: skip
    if isinstance(mend, finding.SetParameter):
        return {
            "smoothing": _("The active model is smoothed: a pseudo-count of α = 1 for each pair that needs it."),
            "var_floor": _("No class's variance is less than this share of the column's."),
            "tied_variance": _("Every class gets the variance pooled over all classes."),
            "missing": _("A missing cell becomes a level, counted like any other."),
        }[mend.name] + " " + _("Where the active model cannot, a naive Bayes that can is added.")  # fmt: skip
    if isinstance(mend, finding.AddModel):
        return _("The model joins the candidates and is active; the others stay.")
    if isinstance(mend, finding.BalanceLosses):
        return _("λ becomes n/(K·n_truth) off the diagonal, which decides as among classes of equal size.")
    stated = mend.value if mend.what == "days" else 0.0
    first = {
        finding.DAY_FIRST: _("Where day and month could change places, the day is taken to stand first."),
        finding.MONTH_FIRST: _("Where day and month could change places, the month is taken to stand first."),
    }.get(stated)
    what = {
        "drop-duplicates": _("Of rows equal in all that is read of them the first stays."),
        "drop-rare": _("The rows of these classes lose their class and are left out of every fit."),
        "merge-spellings": _("The most frequent spelling replaces all; a second file is treated alike."),
        "merge-look-alikes": _("The most frequent of them replaces all; a second file is treated alike."),
        "infinite-missing": _("The cells count as missing, here and in a second file."),
        "value-missing": _("Cells with this number count as missing, here and in a second file."),
        "outliers-missing": _("These cells count as missing; the rows of a second file keep theirs."),
        "text-missing": _("The column becomes numbers; what is none counts as missing, in a second file as well."),
        "days": _("The column becomes the days since its first date, in a second file as well."),
    }[mend.what]
    return f"{what} {first}" if first else what


def repair_on_chip(table: active.TableInUse, repair: finding.Repair) -> str:
    """A repair that is done, on its chip."""
    name = clean(table.column(repair.column), 28) if repair.column else ""
    text = {
        "drop-duplicates": _("equal rows once"),
        "drop-rare": _("{column}: rare classes left out"),
        "merge-spellings": _("{column}: spellings merged"),
        "merge-look-alikes": _("{column}: look-alikes merged"),
        "infinite-missing": _("{column}: infinite cells missing"),
        "value-missing": _("{column}: {value} means missing"),
        "outliers-missing": _("{column}: far cells missing"),
        "text-missing": _("{column}: text cells missing"),
        "days": {
            finding.DAY_FIRST: _("{column}: counted in days, the day first"),
            finding.MONTH_FIRST: _("{column}: counted in days, the month first"),
        }.get(repair.value, _("{column}: counted in days")),
    }[repair.what]
    return text.format(column=md(name, 28), value=md(f"{repair.value:.12g}"))
