"""Laws of saving: whatever goes into a file comes out of it, to the last bit."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, integer_dtypes
from sklearn.isotonic import IsotonicRegression

from bayes_engine import NaiveBayes, StoreError, load_model, save_model
from bayes_engine.errors import listen
from bayes_engine.store import pack, unpack
from bayes_engine.store.values import ValueReader, ValueWriter
from tests.conftest import examples

laws = examples(60)

texts = st.text(max_size=8)
numbers = st.floats(allow_nan=True) | st.integers(-(2**70), 2**70)
plain = st.none() | st.booleans() | numbers | texts
keys = texts | st.integers() | st.booleans() | st.tuples(texts, st.integers())
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
        | st.lists(texts, min_size=64, max_size=80).map(tuple)
    ),
    max_leaves=12,
)
tables = arrays(
    st.sampled_from([np.float64, np.float32, np.bool_]) | integer_dtypes(),
    array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
)


def through(value: Any) -> Any:
    writer = ValueWriter(lambda value, writer, where: None)
    written = writer.write(value, "value")
    content, blobs = unpack(pack("model", written, writer.blobs), "model")
    return ValueReader(blobs, {}).read(content)


@laws
@given(values)
def test_a_value_comes_back_with_its_type(value: Any) -> None:
    assert repr(through(value)) == repr(value)


@laws
@given(tables, st.randoms(use_true_random=False))
def test_an_array_comes_back_with_its_bits_and_the_order_of_its_memory(table: np.ndarray, draw: Any) -> None:
    turned = table.transpose(draw.sample(range(table.ndim), table.ndim))
    back = through(turned)
    assert back.dtype == turned.dtype.newbyteorder("<") and back.shape == turned.shape
    assert back.tobytes() == turned.astype(back.dtype).tobytes()
    if turned.size:  # an axis of one entry has no place in the order
        strides = zip(back.shape, back.strides, turned.copy(order="K").strides, strict=True)
        assert all(a == b for size, a, b in strides if size > 1)


names = st.lists(texts, min_size=1, max_size=3, unique=True)


@laws
@given(st.lists(texts, min_size=2, max_size=4, unique=True), names, st.data())
def test_a_model_of_any_labels_and_columns_says_the_same(labels: list[str], columns: list[str], data: Any) -> None:
    n = 12
    y = [labels[i % len(labels)] for i in range(n)]
    cells = data.draw(st.lists(st.lists(st.sampled_from(["a", "", None, "瓜"]), min_size=n, max_size=n),
                               min_size=len(columns), max_size=len(columns)))  # fmt: skip
    X = pd.DataFrame(dict(zip(columns, cells, strict=True)), dtype=object)
    with listen():
        model = NaiveBayes(missing="marginalize").fit(X, y)
        saved = save_model(model)
        assert saved is not None
        loaded = load_model(saved)
        assert loaded.predict_joint_log_proba(X).tobytes() == model.predict_joint_log_proba(X).tobytes()
        assert loaded.classes_.tolist() == model.classes_.tolist()
        grown, again = (m.partial_fit(X[:3], y[:3]).predict_proba(X).tobytes() for m in (loaded, model))
    assert grown == again


points = st.tuples(st.integers(-30, 30).map(lambda i: i / 8), st.booleans(), st.integers(1, 5))


@laws
@given(st.lists(points, min_size=1, max_size=40))
def test_an_isotonic_curve_is_its_thresholds(rows: list[tuple[float, bool, int]]) -> None:
    x, y, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(x, y, w)
    odds = np.concatenate([x, np.linspace(-5, 5, 101)])
    assert through(curve).predict(odds).tobytes() == curve.predict(odds).tobytes()


@laws
@given(st.binary(max_size=200), st.integers(0, 400), st.integers(0, 400))
def test_bytes_put_into_a_file_are_refused(noise: bytes, start: int, gone: int) -> None:
    with listen():  # it is not fitted
        data = save_model(NaiveBayes(alpha=0.5)) or b""
    spoilt = data[:start] + noise + data[start + gone :]
    try:
        loaded = load_model(spoilt)
    except StoreError:
        return
    assert spoilt == data and loaded.alpha == 0.5


said = st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers() | texts
contents = st.dictionaries(texts, st.recursive(said, lambda inner: st.lists(inner, max_size=3), max_leaves=6))


@laws
@given(contents, st.dictionaries(texts, st.binary(max_size=70), max_size=3))
def test_a_workspace_comes_back(content: dict[str, Any], files: dict[str, bytes]) -> None:
    found, blobs = unpack(pack("workspace", content, files), "workspace")
    assert json.dumps(found) == json.dumps(content)
    assert {name: bytes(blob) for name, blob in blobs.items()} == files
