"""Every repair of the doctor's changes the cells that its sentence speaks of and no other, and says which they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import hypothesis.strategies as some
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from bayes_engine.table.schema import Schema, Variable
from bayes_engine.workbench.doctor import cells, classes, duplicates
from bayes_engine.workbench.doctor.changes import LISTED, changes
from bayes_engine.workbench.doctor.examine import examine
from bayes_engine.workbench.doctor.examined_table import SAMPLE, examined_table
from bayes_engine.workbench.doctor.finding import Finding, Repair
from bayes_engine.workbench.doctor.repair import repaired, treatments
from tests.conftest import examples

CHECKS = (cells.infinite, cells.spellings, cells.look_alikes, cells.mixed_types, cells.dates,
          cells.sentinels, cells.outliers, classes.sizes, duplicates.duplicate_rows)  # fmt: skip
SPOKEN: dict[str, Callable[[Finding, pd.DataFrame], int]] = {
    "infinite-missing": lambda f, table: int(f.message.params["n"]),
    "value-missing": lambda f, table: int(f.message.params["n"]),
    "outliers-missing": lambda f, table: int(f.message.params["n"]),
    "text-missing": lambda f, table: int(f.message.params["n"]),
    "merge-spellings": lambda f, table: sum(n for _level, n in f.evidence) - _most(f, cells.same_spelling),
    "merge-look-alikes": lambda f, table: sum(n for _level, n in f.evidence) - _most(f, cells.same_look),
    "days": lambda f, table: int(table[f.columns[0]].notna().sum()),  # every date becomes a number
    "drop-rare": lambda f, table: sum(n for _label, n in f.evidence[1:]),
    "drop-duplicates": lambda f, table: int(f.message.params["n"]),
}
"""How many cells, or rows, a finding speaks of, by what mends it."""


def _most(finding: Finding, grouped: Callable[[tuple[Any, ...]], dict[str, list[str]]]) -> int:
    """The cells of the most frequent spellings, which stay."""
    groups = grouped(tuple(label.params["level"] for label, _n in finding.evidence))
    counts = {label.params["level"]: n for label, n in finding.evidence}
    return sum(max(counts[level] for level in group) for group in groups.values())


@some.composite
def tables(draw: some.DrawFn) -> pd.DataFrame:
    """A table with something of everything that is mended cell by cell, or row by row."""
    random, n = np.random.default_rng(draw(some.integers(0, 2**32 - 1))), draw(some.sampled_from([60, 90]))

    def put(cells: Any, values: Any) -> Any:
        places = random.choice(n, draw(some.integers(0, 3)), replace=False)
        cells[places] = random.choice(np.array(values, dtype=object), len(places))
        return cells

    numbers = random.normal(170.0, 9.0, n).round(1).astype(object)
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(random.integers(0, 700, n), unit="D")
    ways = draw(some.lists(some.sampled_from(["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%d %b %Y"]), min_size=1))
    written = np.array([day.strftime(ways[i % len(ways)]) for i, day in enumerate(days)], dtype=object)
    city = random.choice(np.array(["Rome", "Oslo", "Bonn"], dtype=object), n)
    frame = pd.DataFrame({
        "height": pd.Series(put(numbers.copy(), [-999.0, 1e6, 3e5, None])).astype(float),
        "far": pd.Series(put(random.normal(size=n).astype(object), [1e3, 1e5, np.inf, 1e300])).astype(float),
        "dose": put(np.array([str(v) for v in numbers], dtype=object), ["n/k", "inf", "5 mg", None]),
        "when": put(written, ["soon", "30.02.2023", None, " 2023-05-06 "]),
        "city": put(city, ["rome", " Oslo", "ＯＳＬＯ", "Rom\u0435", "Òslo", "Bo\u200bnn", None]),
        "y": put(np.array(["a", "b"], dtype=object)[random.integers(0, 2, n)], ["A", "c", None]),
        "w": np.ones(n),
    })  # fmt: skip
    doubled = draw(some.integers(0, 8))
    frame.iloc[n - doubled :] = frame.iloc[:doubled].to_numpy()
    frame.loc[n - doubled :, "w"] = draw(some.sampled_from([1.0, 2.0]))
    return frame.infer_objects()


def schema_of(frame: pd.DataFrame) -> Schema:
    schema = Schema.infer(frame).with_role("y", "target").with_role("w", "weight")
    for name in ("dose", "when"):
        schema = schema.with_role(name, "feature")
    return schema


def found(frame: pd.DataFrame, schema: Schema) -> Iterator[tuple[Finding, Repair]]:
    seen = examined_table(frame, schema)
    for check in CHECKS:
        for finding in check(seen):
            yield from ((finding, mend) for mend in finding.mends if isinstance(mend, Repair))


@pytest.mark.slow
@examples(40, 10)
@given(tables())
def test_a_mend_changes_the_cells_that_its_sentence_speaks_of(frame: pd.DataFrame) -> None:
    schema = schema_of(frame)
    before, kinds = frame.copy(deep=True), schema
    for finding, mend in found(frame, schema):
        after, _schema = repaired(frame, schema, [mend])
        pd.testing.assert_frame_equal(frame, before)  # taken back, the table is what it was
        assert schema == kinds
        said = changes(frame, after, schema, mend)
        assert said.n == SPOKEN[mend.what](finding, frame), (finding, said)
        others = [name for name in frame if name != mend.column]
        pd.testing.assert_frame_equal(after[others], frame.loc[after.index, others])
        told = {cell.row: cell for cell in said.first}
        if not mend.column:
            assert sorted(told) == [i for i in range(len(frame)) if i not in after.index]
            for cell in said.first:
                assert frame.iloc[cell.row].equals(frame.iloc[cell.after])
            continue
        for row, (old, new) in enumerate(zip(frame[mend.column], after[mend.column], strict=True)):
            if row in told:
                assert told[row][1:] == tuple(None if pd.isna(value) else value for value in (old, new))
            elif not pd.isna(old):
                assert old == new or float(old) == new  # a number is no longer written as text
            else:
                assert pd.isna(new)


def test_every_repair_has_been_tried() -> None:
    tried = set()
    for seed in range(4):
        random = np.random.default_rng(seed)
        frame = pd.DataFrame({
            "height": [*random.normal(170, 9, 56), -999.0, -999.0, np.inf, 180.0],
            "far": [*random.normal(size=59), 1e4],
            "dose": [*random.normal(size=59).astype(str), "n/k"],
            "when": [f"2023-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(60)],
            "city": ["Rome", "Oslo", "oslo", "Rom\u0435"] * 15,
            "y": [*"ab" * 29, "a", "c"],
            "w": 1.0,
        })  # fmt: skip
        frame.iloc[50:56] = frame.iloc[:6].to_numpy()
        tried |= {mend.what for _finding, mend in found(frame, schema_of(frame))}
    assert tried == set(SPOKEN)


def test_rare_classes_are_left_out_but_not_a_slip_of_the_pen() -> None:
    """Its sentence speaks of 'c' alone: a rarer spelling of 'b' is merged by another mend."""
    frame = pd.DataFrame({"x": np.arange(120.0), "y": [*"ab" * 58, "c", "c", "B", "B"]})
    schema = Schema.infer(frame).with_role("y", "target")
    after, kinds = repaired(frame, schema, [Repair("drop-rare", "y")])
    assert np.flatnonzero(after["y"].isna()).tolist() == [116, 117]
    assert set(kinds["y"].levels) == {"a", "b", "B"}


def test_levels_that_look_alike_become_one_and_no_others() -> None:
    """A Cyrillic letter, an accent, a character nobody sees; case alone is another mend's."""
    cities = ["Berlin"] * 30 + ["B\u0435rlin", "Bérlin", "Ber\u200blin"] + ["Oslo"] * 20 + ["oslo"] * 7
    frame = pd.DataFrame({"city": cities, "y": ["a", "b"] * 30})
    schema = Schema.infer(frame).with_role("y", "target")
    [(finding, mend)] = [pair for pair in found(frame, schema) if pair[0].code == "look-alikes"]
    assert str(finding.message).startswith("3 levels of 'city' look like others, such as 'Berlin' and 'Ber\u200blin'")
    assert [str(label) for label, _n in finding.evidence if "U+" in str(label)] == [
        "'Ber\u200blin', with U+200B", "'Bérlin', with U+00E9", "'B\u0435rlin', with U+0435"]  # fmt: skip
    after, kinds = repaired(frame, schema, [mend])
    assert kinds["city"].levels == ("Berlin", "Oslo", "oslo")
    assert after["city"].value_counts().to_dict() == {"Berlin": 33, "Oslo": 20, "oslo": 7}


def test_a_second_file_s_look_alikes_are_merged_as_the_table_s_were() -> None:
    levels = ("Berlin", "Oslo", "oslo", "Rome")
    schema = Schema((Variable("city", "categorical", levels),))
    frame = pd.DataFrame({"city": [*levels]})
    file = pd.Series(["B\u0435rlin", "BERLIN", "Ósló", "rome"])
    for mends in ([Repair("merge-look-alikes", "city")],
                  [Repair("merge-look-alikes", "city"), Repair("merge-spellings", "city")]):  # fmt: skip
        texts = treatments(frame, schema, mends)[0]["city"].texts
        assert texts is not None
        assert texts(file).tolist() == ["Berlin", "Berlin", "Ósló", "Rome"]  # Oslo and oslo are two levels still


@pytest.mark.slow
@pytest.mark.parametrize("what", ["sentinel", "outliers", "duplicate-rows"])
def test_of_a_long_table_all_cells_are_counted(what: str) -> None:
    """Not those of the sample that is looked at."""
    n, random = SAMPLE * 2, np.random.default_rng(3)
    x = random.normal(size=n)
    x[: n // 2 : 400] = -999.0 if what == "sentinel" else 1e3
    frame = pd.DataFrame({"x": x, "z": random.normal(size=n), "y": ["a", "b"] * (n // 2)})
    if what == "duplicate-rows":
        frame.iloc[n // 2 :] = frame.iloc[: n // 2].to_numpy()
        frame = frame.infer_objects()
    schema = Schema.infer(frame).with_role("y", "target")
    [(finding, mend)] = [(f, mend) for f, mend in found(frame, schema) if f.code == what]
    after, _kinds = repaired(frame, schema, [mend])
    said = changes(frame, after, schema, mend)
    assert said.n == finding.message.params["n"] == (n // 2 if what == "duplicate-rows" else len(range(0, n // 2, 400)))
    assert len(said.first) == min(said.n, LISTED)


def test_what_became_missing_is_named_before_the_bound() -> None:
    frame = pd.DataFrame({"when": [*pd.date_range("2020-01-01", periods=400).strftime("%Y-%m-%d"), "soon"]})
    schema = Schema.from_dtypes(frame)
    mend = Repair("days", "when")
    said = changes(frame, repaired(frame, schema, [mend])[0], schema, mend)
    assert (said.n, len(said.first), said.first[0]) == (401, LISTED, (400, "soon", None))
    assert said.first[1] == (0, "2020-01-01", 0.0)


def test_rows_are_equal_in_all_columns_be_they_looked_at_or_not() -> None:
    """What is said is what the mend leaves out, also of a table with more columns than are looked at."""
    columns_of = {f"x{j}": np.random.default_rng(j).normal(size=30) for j in range(12)}
    frame = pd.DataFrame({**columns_of, "y": ["a", "b"] * 15})
    frame = pd.concat([frame, frame.iloc[:6]], ignore_index=True)
    frame.loc[32:, "x11"] = np.arange(4.0)  # of six rows that are equal in the first columns two are in all
    schema = Schema.infer(frame).with_role("y", "target")
    [finding] = [f for f in examine(frame, schema, most=5).findings if f.code == "duplicate-rows"]
    after, _schema = repaired(frame, schema, [Repair("drop-duplicates")])
    assert finding.message.params["n"] == len(frame) - len(after) == 2
    frame.loc[30:31, "x10"] = [1.0, 2.0]
    assert not any(f.code == "duplicate-rows" for f in examine(frame, schema, most=5).findings)
    assert examine(frame, schema, most=5).features == ("x0", "x1", "x2", "x3")


def test_equal_rows_of_different_weight_or_without_a_class_are_kept() -> None:
    frame = pd.DataFrame(
        {"x": [1.0, 1.0, 1.0, 2.0, 2.0], "y": ["a", "a", "a", None, None], "w": [1.0, 2.0, 1.0, 1.0, 1.0]}
    )
    schema = Schema.from_dtypes(frame).with_role("y", "target").with_role("w", "weight")
    after, _schema = repaired(frame, schema, [Repair("drop-duplicates")])
    assert after.index.tolist() == [0, 1, 3, 4]
