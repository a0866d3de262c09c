"""Models as files: `save_model` and `load_model`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import IO, Any, NoReturn

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from bayes_engine.errors import EstimationWarning, StoreError, listen, report
from bayes_engine.language import Message
from bayes_engine.models.look_up import LookUp
from bayes_engine.store.container import MOST_BYTES, damage_refused, pack, read_file, unpack, write_file
from bayes_engine.store.forms import FORMS, Form
from bayes_engine.store.type_hints import fits
from bayes_engine.store.validation import check_answers, check_look_up
from bayes_engine.store.values import MOST_TEXTS, ValueReader, ValueWriter, stored_name


def save_model(
    model: Any, path_or_file: str | os.PathLike[str] | IO[bytes] | None = None, *, limit: int = MOST_BYTES
) -> bytes | None:
    """Write a model of this library, fitted or not, to a path or an open file; without either, return the bytes.

    Of a model that is not fitted it warns: the file holds its parameters alone.
    Predictions of the loaded model are bit-identical, and its statistics are those of the saved one. A path is written
    whole or not at all. A LazyNaiveBayes keeps its rows, and so does its file. Raises StoreError where the model, or
    something in it, has no place in a file, or the file would have more than `limit` bytes.

    >>> from bayes_engine import NaiveBayes, load_model, save_model
    >>> X, y = [["dull"], ["crisp"], ["dull"]], ["good", "bad", "bad"]
    >>> model = load_model(save_model(NaiveBayes().fit(X, y)))
    >>> model.partial_fit([["crisp"]], ["good"]).stats_.class_weight.tolist()
    [2.0, 2.0]
    """
    if not isinstance(model, _ANY):
        _refuse(model, type(model).__name__)
    writer = ValueWriter(_write)
    data = pack("model", writer.write(model, type(model).__name__), writer.blobs, limit=limit)
    if not isinstance(model, LookUp) and not _is_fitted(model):
        report(
            EstimationWarning(
                "{model} is not fitted: the file holds its parameters, and no model that predicts; fit it first",
                model=type(model).__name__,
            ),
            stacklevel=2,
        )
    if path_or_file is None:
        return data
    if isinstance(path_or_file, str | os.PathLike):
        write_file(path_or_file, data)
    else:
        path_or_file.write(data)
    return None


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def load_model(
    path_or_bytes: str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes], *, limit: int = MOST_BYTES
) -> Any:
    """The model that `save_model` wrote. No file can run code, or take more memory than its own size and a little.

    Raises StoreError, with the reason, on a file that is anything else, holds statistics that no fit has, or has more
    than `limit` bytes.

    >>> from bayes_engine import load_model
    >>> load_model(b"PK")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    bayes_engine.errors.StoreError: the format is not recognized: this is not a model or a workspace...
    """
    content, blobs = unpack(read_file(path_or_bytes, limit), "model", limit=limit)
    # what an estimate has to tell was told at the fit
    with damage_refused(Message("a model")), listen(), np.errstate(all="ignore"):
        model = ValueReader(blobs, _READERS).read(content)
        if isinstance(model, LookUp):
            check_look_up(model)
        elif isinstance(model, _ANY):
            check_answers(model)
    if not isinstance(model, _ANY):
        raise StoreError("the file does not hold a model, but a {kind}", kind=type(model).__name__)
    return model


_FIXED = {"solver": "svd", "reg_param": 0.0}
"""Parameters that have one value only: it is not written, so that a file stays what it was before them."""


def _write(value: Any, writer: ValueWriter, where: str) -> Any:
    tag = _TAGS.get(type(value))
    if tag is None:
        return _refuse(value, where) if hasattr(value, "get_params") else None
    form = FORMS[tag]
    given = value.get_params(deep=False)
    params = {n: writer.write(v, f"{where}.{n}") for n, v in given.items() if n not in _FIXED or v != _FIXED[n]}
    body: dict[str, Any] = {"params": params}
    if any(hasattr(value, n) for n in form.fitted):
        state = form.of(value, form)
        body["state"] = {stored_name(tag, n): writer.write(v, f"{where}.{n}") for n, v in state.items()}
    if hasattr(value, "_sklearn_output_config"):  # set_output
        body["output"] = value._sklearn_output_config.get("transform", "default")
    return {tag: body}


def _refuse(value: Any, where: str) -> NoReturn:
    raise StoreError(
        "{where} is a {kind}, which is no model of this library: how to store its state is not known here. Save it by "
        "the means of its own library, or take one of {known}",
        where=where,
        kind=type(value).__name__,
        known=", ".join(cls.__name__ for cls in (*_TAGS, LookUp)),
    )


def _read(tag: str, form: Form, body: Any, reader: ValueReader) -> Any:
    """The estimator with its parameters and, where it was fitted, its state."""
    if not isinstance(body, dict) or not {"params"} <= body.keys() <= {"params", "state", "output"}:
        raise StoreError("a model does not consist of params, state and output")
    params, known = body["params"], form.cls().get_params(deep=False)
    if not params.keys() <= known.keys():
        raise StoreError(
            "{model} has no parameter '{name}'",
            model=form.cls.__name__,
            name=next(n for n in params if n not in known)[:80],
        )
    model = form.cls(**{name: reader.read(value) for name, value in params.items()})
    if "state" in body:
        allowed = {**form.fitted, **form.optional}
        attributes = {stored_name(tag, n): n for n in allowed}
        stored = {name: reader.read(value) for name, value in body["state"].items()}
        for name in (*(stored_name(tag, n) for n in form.fitted), *stored):
            if name not in attributes or name not in stored or not fits(stored[name], allowed[attributes[name]]):
                raise StoreError("{model} has no such '{name}'", model=form.cls.__name__, name=name[:80])
        state = {attributes[name]: value for name, value in stored.items()}
        if state.get("n_features_in_", 0) > MOST_TEXTS:  # the number takes no room in the file, what it counts does
            raise StoreError("{model} has more than {most} columns", model=form.cls.__name__, most=MOST_TEXTS)
        form.settle(model, state)
    if "output" in body:
        if body["output"] not in ("default", "pandas", "polars"):
            raise StoreError("{model} has no such '{name}'", model=form.cls.__name__, name="output")
        model.set_output(transform=body["output"])
    return model


_TAGS: Mapping[type, str] = {form.cls: tag for tag, form in FORMS.items()}
_ANY = (LookUp, *_TAGS)
_READERS = {tag: partial(_read, tag, form) for tag, form in FORMS.items()}
