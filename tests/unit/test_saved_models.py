"""The models saved in `tests/fixtures/models` open, and say what they said when they were saved.

To the last bit where the processor and the libraries are those of that day, else within rounding.
"""

from __future__ import annotations

import gzip
import json
import warnings
from functools import cache
from typing import Any

import pytest

from bayes_engine import load_model, save_model
from bayes_engine.errors import listen
from bayes_engine.store import unpack
from tests.conftest import one_in
from tests.fixtures.answers import SUMMED_ANEW, answers, differences, plain, processor
from tests.fixtures.make_models import HERE
from tests.fixtures.zoo import ZOO

FILES = sorted((HERE / "models").glob("*.bayes"))
REFITTED = 1e-6
"""Relative: a fit's own sums and iterations round too, and EM's amplify it."""
LEARNT_ANEW = {
    "calibrated-temperature": 0.1,
    "calibrated-isotonic-three": 0.1,
    "complement-naive-bayes-calibrated": 0.3,
}
"""Relative: when these were stored, rows that a calibrator holds out had a say in the model's cut points or, of the
last, its vocabulary."""


@cache
def stored() -> Any:
    return json.loads(gzip.decompress((HERE / "models.json.gz").read_bytes()))


def exact(name: str) -> bool:
    """Whether this model said it on a processor like this one; of most it is the file's."""
    return bool(stored()["models"][name].get("processor", stored()["processor"]) == processor())


def test_every_kind_of_estimator_is_among_them() -> None:
    from bayes_engine.store.forms import FORMS

    assert {path.stem for path in FILES} == stored()["models"].keys() == ZOO.keys()
    held = {next(iter(unpack(path.read_bytes(), "model").content)) for path in FILES}
    assert held == {*FORMS, "LookUp"}


@pytest.mark.filterwarnings("ignore::bayes_engine.EstimationWarning")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_saved_model_says_what_it_said(path: Any) -> None:
    kept = stored()["models"][path.stem]
    found = answers(load_model(path), kept["rows"], kept["classes"])
    assert differences(found, kept["says"], exact=exact(path.stem)) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_saved_model_is_saved_as_it_was(path: Any) -> None:
    with listen():  # of one that is not fitted
        saved = save_model(load_model(path)) or b""
    assert written(saved) == written(path.read_bytes())


def written(data: bytes) -> Any:
    """What a file holds, with its arrays in their places instead of their numbers."""
    content, blobs = unpack(data, "model")

    def resolved(value: Any) -> Any:
        match value:
            case {"array": str(name)}:
                return {"array": [blobs[name].dtype.str, blobs[name].shape, bytes(blobs[name])]}
            case {"strings": [lengths, text]}:
                return {"strings": [bytes(blobs[lengths]), bytes(blobs[text])]}
            case dict():
                return {key: resolved(inner) for key, inner in value.items()}
            case list():
                return [resolved(inner) for inner in value]
        return value

    return resolved(content)


@pytest.mark.parametrize("name", one_in(4, ZOO))
def test_a_fit_gives_the_numbers_that_it_gave(name: str) -> None:
    kept = stored()["models"][name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ZOO[name]()
        found = answers(fitted.model, kept["rows"], kept["classes"])
    assert plain(fitted.asked) == kept["rows"]
    assert (
        differences(
            found, kept["says"], exact=exact(name) and name not in LEARNT_ANEW, rtol=LEARNT_ANEW.get(name, REFITTED)
        )
        == []
    )


@pytest.mark.parametrize("path", FILES[::9], ids=lambda path: path.stem)
def test_another_number_is_seen(path: Any) -> None:
    """Every answer of numbers, moved a little, is found to be another one."""
    kept = stored()["models"][path.stem]["says"]
    moved = 0
    for verb, said in kept.items():
        other, changed = _moved(said)
        moved += changed
        assert bool(differences({verb: other}, {verb: said}, exact=False)) == changed
        least = 1e-9 if verb in SUMMED_ANEW else 1e-15
        assert bool(differences({verb: _moved(said, least)[0]}, {verb: said}, exact=True)) == changed
    assert moved


def _moved(value: Any, by: float = 1e-9) -> tuple[Any, bool]:
    """The value with its largest number another one, and whether there was any."""
    numbers = [*_floats(value)]
    if not numbers:
        return value, False
    largest = max(numbers, key=abs)
    return json.loads(json.dumps(value).replace(repr(largest), repr(largest * (1 + by) + by))), largest != 0


def _floats(value: Any) -> Any:
    if isinstance(value, float) and abs(value) < float("inf"):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _floats(inner)
