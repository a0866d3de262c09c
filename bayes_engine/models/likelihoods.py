"""Which likelihood each column of a naive Bayes model has: the choice, checked against the column, as a schema."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayes_engine.errors import ParameterError, TableError
from bayes_engine.factors import joint_multinomial, kernel, poisson  # noqa: F401  (which register theirs)
from bayes_engine.factors.likelihoods import current, offered
from bayes_engine.models.fit_warnings import warn
from bayes_engine.models.table_reader import refuse_unknown_columns
from bayes_engine.priors import checked_whole, checked_word
from bayes_engine.table.encode import infinity
from bayes_engine.table.levels import observed, sort_levels
from bayes_engine.table.likelihood_traits import traits
from bayes_engine.table.schema import Schema, Variable, numbers
from bayes_engine.table.text import TextRule

Likelihood = Literal[
    "gaussian", "kernel", "kernel-range", "poisson", "joint-multinomial", "categorical", "bernoulli", "multinomial",
    "mdlp", "equal-width", "quantile",
]  # fmt: skip
CUTTING = ("mdlp", "equal-width", "quantile")
OF_LEVELS = ("categorical", "bernoulli")
OF_TEXTS = ("multinomial", "bernoulli")


def of_numbers() -> tuple[str, ...]:
    """Those that a column of numbers may have, the registered ones among them."""
    return ("gaussian", *offered(), "categorical", "bernoulli", *CUTTING)


def every_likelihood() -> tuple[str, ...]:
    """All of them; a number may have any but "multinomial", a column of levels "categorical" or, with two levels,
    "bernoulli", and a text "multinomial" or "bernoulli"."""
    return ("gaussian", *offered(), "categorical", "bernoulli", "multinomial", *CUTTING)


def chosen(likelihoods: Any, schema: Schema) -> dict[str, str]:
    """The likelihood of each column of which one is said; a single name is for all columns that can have it, and warns
    if there is none.

    Raises ParameterError on a name that is none, or a column that is not there.

    >>> table = Schema((Variable("colour", "categorical"), Variable("mass", "continuous")))
    >>> chosen("kernel", table), chosen({"mass": "poisson"}, table)
    ({'mass': 'kernel'}, {'mass': 'poisson'})
    """
    if likelihoods is None:
        return {}
    if isinstance(likelihoods, str):
        likelihoods = _renamed(likelihoods)
        checked_word("likelihoods", likelihoods, every_likelihood())
        by_column = {
            v.name: likelihoods for v in schema if current(v.likelihood) == likelihoods or likelihoods in possible(v)
        }
        if not by_column:
            warn(
                "likelihoods='{likelihood}': no column can have it; the columns are {columns}",
                likelihood=likelihoods,
                columns=", ".join(f"'{v.name}'" for v in schema),
            )
        return by_column
    if not isinstance(likelihoods, Mapping):
        raise ParameterError(
            "likelihoods={value} is neither a name nor a mapping from column to name", value=repr(likelihoods)
        )
    refuse_unknown_columns("likelihoods", likelihoods, schema.names)
    for likelihood in likelihoods.values():
        checked_word("likelihoods", _renamed(likelihood), every_likelihood())
    return {name: current(likelihood) for name, likelihood in likelihoods.items()}


def _renamed(likelihood: Any) -> Any:
    """The name it has now, with a DeprecationWarning where that is another."""
    now = current(likelihood)
    if now != likelihood:
        warnings.warn(f"the likelihood '{likelihood}' is called '{now}' now", DeprecationWarning, stacklevel=2)
    return now


def possible(variable: Variable) -> tuple[str, ...]:
    """The likelihoods a column can have by its kind."""
    if variable.kind == "text":
        return OF_TEXTS
    if variable.discrete:
        return CUTTING if variable.cuts is not None else OF_LEVELS
    return of_numbers()


def text_rule(text: Mapping[str, Any] | None) -> TextRule:
    """How texts are read. Raises ParameterError on a setting that is none, or has a value that cannot be meant.

    >>> text_rule({"analyzer": "char", "ngrams": (1, 2)}).ngrams
    (1, 2)
    """
    if text is not None and not isinstance(text, Mapping):
        raise ParameterError("text={value} is no mapping of settings, such as {{'analyzer': 'char'}}", value=repr(text))
    settings = {k: v for k, v in (text or {}).items() if k != "columns"}
    known = [f.name for f in fields(TextRule)]
    for name in settings:
        checked_word("text", name, [*known, "columns"])
    rule = TextRule(**settings)
    checked_word("analyzer", rule.analyzer, ("word", "char", "char_wb"))
    ngrams: Any = rule.ngrams
    if isinstance(ngrams, int):
        ngrams = (ngrams, ngrams)
    if not isinstance(ngrams, Sequence) or isinstance(ngrams, str) or len(ngrams) != 2:
        raise ParameterError("ngrams={value}; it must be two numbers, the least and the greatest", value=repr(ngrams))
    least = checked_whole("ngrams", ngrams[0], 1)
    greatest = checked_whole("ngrams", ngrams[1], least)
    if rule.max_features is not None:
        checked_whole("max_features", rule.max_features, 1)
    return replace(
        rule,
        ngrams=(least, greatest),
        min_df=checked_whole("min_df", rule.min_df, 1),
        lowercase=bool(rule.lowercase),
        presence=bool(rule.presence),
    )


def text_columns(likelihoods: Any, text: Mapping[str, Any] | None) -> frozenset[str]:
    """The columns that the parameters say are texts, whatever their dtype."""
    named = (text or {}).get("columns", ())
    named = (named,) if isinstance(named, str) else named
    counted = likelihoods.items() if isinstance(likelihoods, Mapping) else ()
    return frozenset(named) | {name for name, likelihood in counted if likelihood == "multinomial"}


def as_texts(schema: Schema, likelihoods: Any, text: Mapping[str, Any] | None) -> Schema:
    """The schema with those columns as texts that are to be read as such; one that already says how stays as it is.

    Raises ParameterError where such a column holds numbers.
    """
    rule = text_rule(text)
    columns = text_columns(likelihoods, text)
    asked = columns | (set(likelihoods) if isinstance(likelihoods, Mapping) else set())
    refuse_unknown_columns("text", text_columns(None, text), schema.names)
    variables = []
    for v in schema:
        if v.textual or (v.name not in columns and not (v.kind == "text" and v.name in asked)):
            variables.append(v)
            continue
        if v.numeric or v.cuts is not None:
            raise unfit(v, "multinomial", of_numbers())
        variables.append(Variable(v.name, "text", role=v.role, likelihood="multinomial", text=rule))
    return Schema(tuple(variables))


def assigned(schema: Schema, frame: pd.DataFrame, likelihoods: Any) -> Schema:
    """The schema of these rows with the likelihoods chosen; cut points are left to whoever cuts.

    Raises ParameterError or TableError, naming column and cell, where a likelihood does not fit its column.
    """
    choice = chosen(likelihoods, schema)
    if not choice:
        return Schema(tuple(map(_based, schema)))
    return Schema(
        tuple(_with(v, column, choice.get(v.name)) for v, (_, column) in zip(schema, frame.items(), strict=True))
    )


def _with(variable: Variable, column: pd.Series, likelihood: str | None) -> Variable:
    if likelihood in OF_LEVELS and variable.numeric:
        return _levels(variable, column, likelihood)
    return with_likelihood(variable, likelihood)


def with_likelihood(variable: Variable, likelihood: str | None) -> Variable:
    """The variable with the likelihood chosen, if any, whatever its cells are. Raises ParameterError on one that it
    cannot have, or that makes levels of numbers: these only the cells tell."""
    if likelihood is None or likelihood == current(variable.likelihood):
        return _based(variable)
    if variable.kind == "text":
        return text_with(variable, likelihood)
    if likelihood not in possible(variable):
        raise unfit(variable, likelihood, possible(variable))
    if likelihood in CUTTING:
        return variable
    if not variable.numeric:
        return replace(variable, likelihood="bernoulli" if likelihood == "bernoulli" else None)
    if likelihood == "gaussian":
        return replace(variable, likelihood=None)
    if likelihood in OF_LEVELS:
        raise ParameterError(
            "column '{column}' holds numbers, and which levels '{likelihood}' makes of them is known only when all are "
            "read; say that it holds levels by schema=, with Variable('{column}', 'categorical')",
            column=variable.name,
            likelihood=likelihood,
        )
    return _based(replace(variable, likelihood=likelihood))


def text_with(variable: Variable, likelihood: str | None) -> Variable:
    """A text with the likelihood chosen, if any. Raises ParameterError on one that no text has."""
    if likelihood is not None and likelihood not in OF_TEXTS:
        raise unfit(variable, likelihood, OF_TEXTS)
    return variable if likelihood is None else replace(variable, likelihood=likelihood)


def _based(variable: Variable) -> Variable:
    """A count is near 0."""
    return replace(variable, pivot=0.0) if traits(variable).whole else variable


def _levels(variable: Variable, column: pd.Series, likelihood: str) -> Variable:
    """A column of numbers whose numbers are names."""
    x = numbers(column, variable)
    if np.isinf(x).any():
        raise infinity(variable.name, np.isinf(x))
    if likelihood == "categorical":
        levels = sort_levels(observed(column), variable.name)
        return replace(variable, kind="categorical", levels=levels, pivot=0.0, likelihood="categorical")
    strange = ~np.isnan(x) & (x != 0) & (x != 1)
    if strange.any():
        row = int(strange.argmax())
        raise TableError(
            "column '{column}' cannot be 'bernoulli': row {row} holds {value}, and such a column of numbers holds 0 "
            "and 1; choose 'categorical', 'poisson' or 'gaussian'",
            column=variable.name,
            row=row + 1,
            value=f"{x[row]:g}",
        )
    return replace(variable, kind="binary", levels=(0, 1), declared=True, pivot=0.0, likelihood="bernoulli")


def check_counted(likelihoods: Any, schema: Schema) -> None:
    """Raises where statistics under this schema are not those the choice asks for: ParameterError where a number or
    a text was counted for another likelihood, TableError where a Bernoulli column has more than two levels."""
    for v in schema:
        wanted = current(likelihoods.get(v.name) if isinstance(likelihoods, Mapping) else likelihoods)
        counted = current(v.likelihood) or ("gaussian" if v.numeric else None)
        if (v.numeric or v.textual) and wanted in possible(v) and wanted != counted:
            raise ParameterError(
                "column '{column}' was counted for '{counted}', not for '{likelihood}'; fit the rows anew",
                column=v.name,
                counted=str(counted),
                likelihood=str(wanted),
            )
        if v.discrete and v.likelihood == "bernoulli" and len(v.levels) > 2:
            raise TableError(
                "column '{column}' cannot be 'bernoulli': it has {n} levels, and a Bernoulli column has two; choose "
                "'categorical', or name it in text['columns'] to ask of each of its words whether it is there",
                column=v.name,
                n=len(v.levels),
            )


def unfit(variable: Variable, likelihood: str, instead: Sequence[str]) -> ParameterError:
    """The error of a likelihood that a column cannot have."""
    return ParameterError(
        "column '{column}' cannot have the likelihood '{likelihood}'; choose one of {instead}",
        column=variable.name,
        likelihood=likelihood,
        instead=", ".join(f"'{name}'" for name in instead),
    )
