"""Whether a value is what a field's annotation says: the closed schema of a saved model is the one of the code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

_NUMBERS: Mapping[Any, tuple[type, ...]] = {
    float: (float, int, np.floating, np.integer),
    int: (int, np.integer),
    bool: (bool, np.bool_),
}


@cache
def field_hints(record: Any) -> dict[str, Any]:
    """The annotation of every field of a dataclass or NamedTuple.

    >>> from bayes_engine.priors import Dirichlet
    >>> sorted(field_hints(Dirichlet))
    ['amount', 'base', 'per']
    """
    from sklearn.isotonic import IsotonicRegression  # an annotation's, whose module imports it where it is used

    return get_type_hints(record, localns={"IsotonicRegression": IsotonicRegression})


@cache
def _parts(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    origin, args = get_origin(hint), get_args(hint)
    if (alias := getattr(origin, "__value__", None)) is not None:  # NumPy 2.5: `type NDArray[kind] = ndarray[…]`
        return _parts(alias[args])
    return origin, args


def fits(value: Any, hint: Any) -> bool:
    """Whether `value` is a `hint`: a class, a union, a literal, a tuple, a mapping, an array; Any is everything.

    >>> fits((1, 2.5), tuple[float, ...]), fits(("a", 1), tuple[str, str]), fits(True, int), fits(None, str | None)
    (True, False, False, True)
    """
    if type(hint) is type and hint not in _NUMBERS:
        return isinstance(value, hint)
    if hint is Any or isinstance(hint, TypeVar):
        return True
    if hint is None:
        return value is None
    origin, args = _parts(hint)
    if origin is Union or origin is UnionType:
        return any(fits(value, arg) for arg in args)
    if origin is Literal:
        return any(type(value) is type(word) and value == word for word in args)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if args[-1] is Ellipsis:
            return all(fits(v, args[0]) for v in value)
        return len(value) == len(args) and all(map(fits, value, args))
    if origin is np.ndarray:
        (kind,) = get_args(args[-1])  # NDArray[kind] is ndarray[shape, dtype[kind]]
        return isinstance(value, np.ndarray) and (kind is Any or np.issubdtype(value.dtype, kind))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(fits(k, args[0]) and fits(v, args[1]) for k, v in value.items())
    if hint in _NUMBERS:
        return isinstance(value, _NUMBERS[hint]) and (hint is bool or not isinstance(value, bool))
    return isinstance(value, origin if isinstance(origin, type) else hint)
