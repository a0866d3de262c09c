"""An upload is held in little memory, and nothing is different for it: kinds, roles, pages and numbers."""

from __future__ import annotations

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import NaiveBayes
from bayes_engine.table.read import read_table
from pages.active import files
from pages.active.files import File, digest, read_uploaded_table
from pages.runtime.state import State, encode
from tests.apptest.opened import opened, step_to
from tests.conftest import crossed

ROWS = 60
TABLE = "self,size,when,code,note,y\n" + "".join(
    f"{('red', 'green', 'blue')[i % 3]},{('S', 'M', '')[i * 7 % 3]},2024-01-{i % 28 + 1:02d},{i % 4},"
    f"word{i} of it,{'yes' if i * 5 % 7 > 2 else 'no'}\n"
    for i in range(ROWS)
)


@pytest.fixture(scope="module")
def at() -> AppTest:
    app = opened("data")
    app.file_uploader(key="upload_file").set_value(("t.csv", TABLE.encode(), "text/csv")).run()
    assert not app.exception
    return app


def test_named_levels_are_codes_and_the_cells_are_the_same() -> None:
    reading = read_table(TABLE.encode(), name="t.csv")
    held = read_uploaded_table(File.of("t.csv", TABLE.encode()))
    assert isinstance(held.frame["self"].dtype, pd.CategoricalDtype)
    assert list(held.frame.columns) == list(reading.frame.columns)
    for name in reading.frame:
        before, after = reading.frame[name].astype(object), held.frame[name].astype(object)
        assert before.where(before.notna(), None).tolist() == after.where(after.notna(), None).tolist()
    assert held.schema == reading.schema


def test_a_table_takes_less_than_its_file_besides_numbers() -> None:
    content = ("colour,fruit\n" + "vermilion,apple\nultramarine,a very long name of a pear\n" * 5000).encode()
    held = read_uploaded_table(File.of("t.csv", content))
    assert held.frame.memory_usage(deep=True).sum() < len(content) / 5


def test_a_fit_is_the_same_to_the_last_bit() -> None:
    reading = read_table(TABLE.encode(), name="t.csv")
    held = read_uploaded_table(File.of("t.csv", TABLE.encode()))
    schema = reading.schema.with_role("y", "target")
    for name in ("when", "note"):
        schema = schema.with_role(name, "ignore")
    columns = [v.name for v in schema.features]
    fits = [NaiveBayes(schema=schema.features).fit(f[columns], f["y"]) for f in (reading.frame, held.frame)]
    one, other = (m.predict_proba(f[columns]) for m, f in zip(fits, (reading.frame, held.frame), strict=True))
    assert (one == other).all()


@pytest.mark.slow
def test_the_bytes_of_a_file_are_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[bytes] = []
    digest = files.digest
    monkeypatch.setattr(files, "digest", lambda content: hashed.append(content) or digest(content))
    app = opened("data")
    app.file_uploader(key="upload_file").set_value(("t.csv", TABLE.encode(), "text/csv")).run()
    app.checkbox(key="read_trim").uncheck().run()
    app.switch_page("pages/model.py").run()
    assert not app.exception and app.session_state["state"].table == f"upload:{digest(TABLE.encode())}"
    assert hashed == [TABLE.encode()]


@pytest.mark.parametrize(
    ("kind", "position"), crossed(["categorical", "continuous", "count", "identifier", "text", "binary"], [0, 1, 3])
)
@pytest.mark.slow
def test_every_kind_is_still_to_be_had(at: AppTest, kind: str, position: int) -> None:
    """A column made another kind, on the pages that read the table: a sentence or a model, never an exception."""
    mark = digest(TABLE.encode())
    state = State(table=f"upload:{mark}", columns=((5, "target", "", ()), (position, "feature", kind, ())))
    step_to(at, encode(state))
    for page in ("data", "model", "decisions", "case"):
        at.switch_page(f"pages/{page}.py").run()
        assert not at.exception, (page, at.exception[0].message, at.exception[0].stack_trace)
        assert at.session_state["state"].columns == state.columns
