"""The doctor at the edges: very many classes, levels and columns, numbers too large to be squared, classes of a row or
two, one variable in several columns; and its reasons are true."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayes_engine.datasets import load_dataset
from bayes_engine.errors import TableError
from bayes_engine.language import Message
from bayes_engine.models.aode import AODE
from bayes_engine.progress import watching
from bayes_engine.table.dates import Dates, dates, read_each
from bayes_engine.table.schema import Schema
from bayes_engine.workbench.doctor import pairs
from bayes_engine.workbench.doctor.classes import zero_cells
from bayes_engine.workbench.doctor.examine import examine
from bayes_engine.workbench.doctor.examined_table import examined_table
from bayes_engine.workbench.doctor.finding import DAY_FIRST, MONTH_FIRST, AddModel, Repair, SetRole, label
from bayes_engine.workbench.doctor.leaks import class_intervals, errors_alone
from bayes_engine.workbench.doctor.normality import _normal, covariances
from bayes_engine.workbench.doctor.pairs import all_looked_at, dependences, discriminable, within_correlations
from bayes_engine.workbench.doctor.repair import repaired, treatments
from bayes_engine.workbench.doctor.suggest import _candidates, suggest
from tests.conftest import slowly
from tests.unit.test_doctor import N, as_feature, check, examined, found, rng, sound, table


def of(frame: pd.DataFrame) -> tuple[pd.DataFrame, Schema]:
    return frame, Schema.infer(frame).with_role("y", "target")


# numbers too large ----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("large", [1e150, -1e300, 1.7e308])
def test_a_number_too_large_to_be_squared_is_found_as_infinity_is(large: float) -> None:
    data = sound()
    size = data["size"].copy()
    size[[3, 8]] = large, np.inf
    frame, schema = table(size=size)
    [finding] = examined(frame, schema).findings
    assert (finding.code, finding.severity, finding.rows) == ("infinite", "serious", (3, 8))
    assert f"too large to be squared, such as {large:g}" in str(finding.message)
    assert [value for _label, value in finding.evidence] == [1, 1]
    assert finding.mends == (Repair("infinite-missing", "size"), SetRole("size", "ignore"))
    assert not examine(frame, schema).suggestions  # none of them could be fitted
    mended, kinds = repaired(frame, schema, finding.mends[:1])
    assert mended["size"].isna().sum() == 2
    assert not examined(mended, kinds).findings
    assert len(suggest(examined_table(mended, kinds))) == 3
    taken, _rest = treatments(frame, kinds, [Repair("infinite-missing", "size")])  # in another file too
    values, _unreadable = taken["size"].numbers(np.array([large, 1.0, -np.inf, np.nan]), np.zeros(4, dtype=bool))
    assert np.isnan(values).tolist() == [True, False, True, True]


@pytest.mark.slow
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("unit", [1e120, 1e-120])
def test_units_are_nothing_to_the_doctor(unit: float) -> None:
    random = rng()
    a = random.normal(size=N)
    frame, schema = table(a=a * unit, b=(0.9 * a + 0.5 * random.normal(size=N)) * unit)
    plain, kinds = table(a=a, b=frame["b"].to_numpy() / unit)
    said = [(f.code, f.columns) for f in examined(plain, kinds).findings]
    assert ("dependence", ("a", "b")) in said
    assert [(f.code, f.columns) for f in examined(frame, schema).findings] == said


def test_of_a_column_of_which_all_is_too_large_nothing_would_be_left() -> None:
    frame, schema = table(size=sound()["size"] * 1e300)
    [finding] = examined(frame, schema).findings
    assert finding.mends == (SetRole("size", "ignore"),)


# leaks ----------------------------------------------------------------------------------------------------------------


def left_out(codes: Any, y: Any, k: int) -> int:
    """Row by row: the most frequent class of the others of its level, of as frequent ones the largest of all."""
    wrong = 0
    for i, (code, own) in enumerate(zip(codes, y, strict=True)):
        others = np.arange(len(y)) != i
        all_rows = np.bincount(y[others], minlength=k)
        rest = np.bincount(y[others & (codes == code)], minlength=k) if code >= 0 else 0 * all_rows
        wrong += int((rest * len(y) + all_rows).argmax() != own)
    return wrong


@pytest.mark.parametrize("seed", range(60))
def test_a_column_alone_row_by_row(seed: int) -> None:
    random = rng(seed)
    n, k = int(random.integers(2, 40)), int(random.integers(1, 6))
    codes, y = random.integers(-1, random.integers(1, 9), n), random.integers(0, k, n)
    assert errors_alone(codes, y, k) == left_out(codes, y, k)
    assert errors_alone(codes[:0], y[:0], k) == 0


def test_of_a_row_between_two_classes_an_error_is_one() -> None:
    told = class_intervals(np.array([1.0, 1.1, 5.0, 9.0, 9.1]), np.array([0, 0, 1, 2, 2]))
    assert told is not None
    assert told.wrong == 1


def test_rows_of_which_each_is_a_class_are_not_told_by_a_number() -> None:
    """Any order keeps classes of one row together."""
    classes = np.r_[[0, 0, 0], np.arange(1, 22)]
    frame = pd.DataFrame({"x": np.arange(24.0) ** 2 + 0.5, "y": [f"c{c}" for c in classes]})
    schema = Schema.from_dtypes(frame).with_role("y", "target")
    assert class_intervals(frame["x"].to_numpy(), classes) is not None
    assert not found(frame, schema, "leak")


@pytest.mark.parametrize("classes", [2, 5])
def test_classes_of_some_rows_that_stand_apart_are_told(classes: int) -> None:
    y = np.repeat(np.arange(classes), N // classes)
    x = y * 10.0 + rng().normal(size=len(y))
    assert found(*of(pd.DataFrame({"x": x, "z": rng(1).normal(size=len(y)), "y": [f"c{c}" for c in y]})), "leak")


# normality ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [20, 55, 3000])
@pytest.mark.parametrize("shape", ["normal", "exponential", "uniform"])
def test_normality_is_d_agostino_s(n: int, shape: str) -> None:
    x = getattr(rng(n), shape)(size=n)
    z = (x - x.mean()) / x.std()
    expected = float(stats.normaltest(x).pvalue)
    assert _normal(n, float((z**3).mean()), float((z**4).mean() - 3.0)) == pytest.approx(expected, rel=1e-6, abs=1e-15)


# very many ------------------------------------------------------------------------------------------------------------


def looked(frame: pd.DataFrame, schema: Schema) -> int:
    """How often the examination could have been called off."""
    ticks = 0

    def asked() -> bool:
        nonlocal ticks
        ticks += 1
        return False

    with watching(asked, pace=0.0):
        examined(frame, schema)
    return ticks


def test_tables_of_more_cells_than_rows_can_fill_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """40 classes of two columns with 40 levels: 64,000 cells a pair; of sixty such columns 900 MB."""
    random = rng()
    levels = {f"c{j}": np.array([f"l{v}" for v in random.integers(0, 40, 2000)], dtype=object) for j in range(3)}
    frame, schema = of(pd.DataFrame({**levels, "y": [f"k{v}" for v in random.integers(0, 40, 2000)]}))
    monkeypatch.setattr(pairs, "_met", lambda *_: pytest.fail("a table was counted"))
    seen = examined_table(frame, schema)
    assert dependences(seen, 0.1) == ((), ())
    assert not all_looked_at(seen)
    reasons = [str(reason) for _model, reason in _candidates(seen, ())]
    assert not any("holds well enough" in reason for reason in reasons)  # nobody looked


def test_of_millions_of_zero_cells_a_few_are_kept() -> None:
    """1,500 levels and as many classes: 2,249,000 pairs that never occur, of which a list took 400 MB."""
    n = 1500
    at = np.arange(2 * n) % n
    frame = pd.DataFrame({"c": [f"l{v:04}" for v in at], "d": ["u", "v"] * n, "y": [f"k{v:04}" for v in at]})
    schema = Schema.from_dtypes(frame).with_role("y", "target")
    seen = examined_table(frame, schema)
    seen.codes, seen.table("c")  # what the table itself takes is not the list's
    tracemalloc.start()
    [finding] = zero_cells(seen)
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert finding.columns == ("c", "d")
    assert finding.evidence[0][1] == n * (n - 1) + n
    assert [str(label) for label, _value in finding.evidence[2:4]] == [
        "c = 'l0000' with 'k0001'", "c = 'l0000' with 'k0002'"
    ]  # fmt: skip
    assert len(finding.evidence) == 8
    assert peak < 100e6


def test_pairs_in_parts_are_those_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = load_dataset("mushroom")
    seen = examined_table(data.frame, data.schema)
    whole = dependences(seen, 0.1)
    monkeypatch.setattr(pairs, "AT_ONCE", 100)
    monkeypatch.setattr(pairs, "BLOCK", 2)
    again = examined_table(data.frame, data.schema)
    assert dependences(again, 0.1) == whole
    wine = load_dataset("wine")
    parts = within_correlations(examined_table(wine.frame, wine.schema))
    monkeypatch.undo()
    at_once = within_correlations(examined_table(wine.frame, wine.schema))
    assert parts is not None and at_once is not None
    for mine, other in zip(parts[1:], at_once[1:], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12)


def test_dependence_of_numbers_is_that_of_their_correlations_in_each_class() -> None:
    iris = load_dataset("iris")
    seen = examined_table(iris.frame, iris.schema)
    own = iris.frame.groupby("species", observed=True)[["petal length", "petal width"]]
    r = own.corr().loc[(slice(None), "petal length"), "petal width"].to_numpy()
    nats = -0.5 * float(np.log(1.0 - r**2).mean()) - 3.0 / (2.0 * 150)
    [shared] = [s for s in dependences(seen, 0.1)[1] if s.pair == ("petal length", "petal width")]
    assert shared.nats == pytest.approx(nats)


def test_rows_that_meet_by_chance_are_counted_class_by_class() -> None:
    frame, schema = table(300, k=3, y=np.array(list("abc"), dtype=object)[rng().integers(0, 3, 300)])
    frame.loc[::5, "skin"] = None
    again = pd.concat([frame, frame.iloc[:40]], ignore_index=True)
    [finding] = found(again, schema, "duplicate-rows")
    expected = 0.0
    for _label, rows in again.groupby("y"):
        pairs_there = len(rows) * (len(rows) - 1)
        alike = 1.0
        for name in ("size", "mass", "skin"):
            counts = rows[name].value_counts(dropna=False)
            alike *= float((counts * (counts - 1)).sum()) / pairs_there
        expected += pairs_there / 2.0 * alike
    assert {str(a): b for a, b in finding.evidence}["pairs expected by chance"] == round(expected, 2)


@pytest.mark.slow
@pytest.mark.parametrize("most", [100, slowly(1000)])
def test_thousands_of_columns_are_examined_column_by_column(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "WIDE", most)
    n, d = 40, most + 1
    wide = pd.DataFrame(rng().normal(size=(n, d)), columns=[f"x{j}" for j in range(d)])
    frame, schema = of(wide.assign(y=np.array(["a", "b"], dtype=object)[np.arange(n) % 2]))
    seen = examined_table(frame, schema)
    assert not discriminable(seen)  # a covariance of more columns than that
    assert {s.model.family for s in suggest(seen)} == {"naive-bayes"}
    assert looked(frame, schema) > 8 * d


def test_covariances_of_very_many_classes_are_not_thought_of() -> None:
    n = 6000
    frame, schema = of(pd.DataFrame({**{f"x{j}": rng(j).normal(size=n) for j in range(30)},
                                     "y": [f"k{v}" for v in np.arange(n) % 200]}))  # fmt: skip
    seen = examined_table(frame, schema)
    assert discriminable(seen)
    assert covariances(seen) is None  # thirty rows a class, of thirty columns
    assert not np.isnan([s.nats for s in dependences(seen, 0.1)[1]]).any()


@pytest.mark.parametrize("seed", range(6))
def test_columns_that_determine_one_another_have_no_covariance_of_each_class(seed: int) -> None:
    """Their Box's M would be made of the last digits, and QDA cannot be fitted."""
    a, b = rng(seed).normal(size=(2, N))
    frame, schema = of(pd.DataFrame({"b": b, "sum": a + b, "inch": 2.54 * a, "y": sound()["y"]}))
    assert covariances(examined_table(frame, schema)) is None
    assert covariances(examined_table(*of(frame.drop(columns="sum")))) is not None
    assert AddModel("qda") not in reasons(frame, schema)


@pytest.mark.slow
def test_no_average_is_suggested_whose_tables_nobody_can_hold() -> None:
    random = rng()
    levels = {f"c{j}": np.array([f"l{v}" for v in random.integers(0, 49, 3000)], dtype=object) for j in range(30)}
    frame, schema = of(pd.DataFrame({**levels, "y": [f"k{v}" for v in random.integers(0, 100, 3000)]}))
    assert {s.model.family for s in examine(frame, schema).suggestions} == {"naive-bayes"}


# one variable in several columns --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("on", "off"), [(1, 0), (True, False), ("yes", "no"), ("absent", "present")])
def test_one_variable_in_several_columns(on: Any, off: Any) -> None:
    city = rng().integers(0, 4, N)
    hot: dict[str, Any] = {f"city_{j}": pd.Series(np.where(city == j, on, off)) for j in range(4)}
    frame, schema = table(**hot)
    finding = check("dependence", frame, schema, "city_0")
    assert finding.columns == ("city_0", "city_1", "city_2", "city_3")
    assert f"exactly one of them is '{on}'" in str(finding.message)
    assert [value for _label, value in finding.evidence] == np.bincount(city).tolist()
    hot["city_0"] = hot["city_0"].where(np.arange(N) != 7, on)  # a row with two
    if city[7] != 0:
        assert not found(*table(**hot), "dependence")
    del hot["city_0"]  # one of them left out: it cannot be told from three properties that exclude one another
    assert not found(*table(**hot), "dependence")


def test_what_indicators_share_is_said_once() -> None:
    city = np.repeat([0, 1, 2], [116, 116, 8])[rng().permutation(N)]
    hot: dict[str, Any] = {f"in_{j}": (city == j).astype(int) for j in range(3)}
    frame, schema = table(**hot)
    assert dependences(examined_table(frame, schema), 0.4)[0][0].pair == ("in_0", "in_1")
    [finding] = found(frame, schema, "dependence")
    assert finding.columns == ("in_0", "in_1", "in_2")


def test_columns_are_set_aside_once() -> None:
    frame, schema = table(again=sound()["size"], third=rng(5).normal(size=N))
    with mock.patch("bayes_engine.workbench.doctor.pairs._within", side_effect=pairs._within) as made:
        examined(frame, schema)
    assert made.call_count == 1  # of the table without the copy; its models are not asked for here


def test_two_groups_of_indicators_are_two_variables() -> None:
    a, b = rng().integers(0, 3, N), rng(2).integers(0, 5, N)
    hot: dict[str, Any] = {f"a{j}": (a == j).astype(int) for j in range(3)} | {
        f"b{j}": (b == j).astype(int) for j in range(5)
    }
    said = [f.columns for f in found(*table(**hot), "dependence")]
    assert said == [("a0", "a1", "a2"), ("b0", "b1", "b2", "b3", "b4")]


# reasons --------------------------------------------------------------------------------------------------------------


def reasons(frame: pd.DataFrame, schema: Schema) -> dict[AddModel, str]:
    seen = examined_table(frame, schema)
    return {model: str(reason) for model, reason in _candidates(seen, examined(frame, schema).findings)}


@pytest.mark.parametrize(("name", "parameters"), [("iris", 26), ("watermelon2", 23)])
def test_naive_bayes_has_as_many_parameters_as_is_said(name: str, parameters: int) -> None:
    """LDA has 24 of iris: naive Bayes has not the fewest of all."""
    data = load_dataset(name)
    assert f"{parameters} parameters in all" in reasons(data.frame, data.schema)[AddModel("naive-bayes")]


def test_an_average_has_as_many_models_as_is_said() -> None:
    data = sound()
    frame, schema = table(tone=data["skin"], skin=rng().choice(["u", "v"], N).astype(object))
    reason = reasons(frame, schema)[AddModel("aode")]
    model = AODE(schema=schema).fit(frame[list(schema.features.names)], frame["y"])
    assert "2 columns of levels and 2 of numbers" in reason
    assert f"average of {len(model.schema_.features)} models" in reason


def test_a_covariance_that_is_hardly_invertible_is_not_estimated_well() -> None:
    a = rng().normal(size=N)
    frame, schema = of(pd.DataFrame({"a": a, "b": a + 0.02 * rng(1).normal(size=N), "y": sound()["y"]}))
    assert "well" not in reasons(frame, schema)[AddModel("lda")]
    few, kinds = of(pd.DataFrame(rng().normal(size=(60, 8))).add_prefix("x").assign(y=list("ab") * 30))
    assert "well" not in reasons(few, kinds)[AddModel("lda")]
    many, others = of(pd.DataFrame(rng().normal(size=(N, 3))).add_prefix("x").assign(y=sound()["y"]))
    assert "240 rows estimate one covariance for all classes well" in reasons(many, others)[AddModel("lda")]


def test_where_a_class_is_flat_trees_of_intervals_come_before_one_covariance() -> None:
    """As in pendigits and segment, where LDA errs twice as often as TAN and AODE."""
    n, random = 4000, rng()
    y = np.arange(n) % 4
    size = random.normal(size=n)
    numbers = {f"x{j}": size + 0.4 * random.normal(size=n) + (y == j) for j in range(5)}
    frame, schema = of(pd.DataFrame({**numbers, "flat": np.where(y == 2, 0.0, size + random.normal(size=n)),
                                     "y": np.array(list("abcd"), dtype=object)[y]}))  # fmt: skip
    assert [s.model.family for s in examine(frame, schema).suggestions] == ["tan", "aode", "lda"]


# dates that could be read in two ways ---------------------------------------------------------------------------------

WAYS = {
    "iso": "%Y-%m-%d",
    "day": "%d/%m/%Y",
    "month": "%m/%d/%Y",
    "name": "%d %b %Y",
    "dot": "%d.%m.%Y",
    "short": "%d-%m-%y",
}


def dated(*ways: str, n: int = N) -> tuple[pd.DatetimeIndex, pd.DataFrame, Schema]:
    """Days, and a table that writes them in these ways in turn."""
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng().permutation(n) * 5 % 1500, unit="D")
    cells = np.array([day.strftime(WAYS[ways[i % len(ways)]]) for i, day in enumerate(days)], dtype=object)
    frame, schema = table(n, when=cells)
    return days, frame, as_feature(frame, schema, "when")


@pytest.mark.parametrize(
    ("ways", "value", "offered"),
    [
        (["iso", "name", "dot"], 0.0, (0.0,)),  # each of them tells day from month
        (["day"], 0.0, (0.0,)),  # one format, and some of its cells show it
        (["month"], 0.0, (0.0,)),
        (["iso", "day"], DAY_FIRST, (DAY_FIRST, MONTH_FIRST)),
        (["iso", "iso", "month"], MONTH_FIRST, (MONTH_FIRST, DAY_FIRST)),
        (["day", "short"], DAY_FIRST, (DAY_FIRST, MONTH_FIRST)),  # of each other they say nothing
    ],
)
def test_dates_in_several_formats_are_read_as_they_were_written(
    ways: list[str], value: float, offered: tuple[float, ...]
) -> None:
    days, frame, schema = dated(*ways)
    finding = check("date", frame, schema, "when")
    assert [mend.value for mend in finding.mends if isinstance(mend, Repair)] == list(offered)
    mended, _kinds = repaired(frame, schema, [Repair("days", "when", value)])
    np.testing.assert_array_equal(mended["when"], (days - days.min()).days)
    if value:
        said = zip(days, ways * len(days), strict=False)
        could = [way != "iso" and day.day <= 12 and day.day != day.month for day, way in said]
        assert finding.message.params["n"] == sum(could)
        assert finding.rows == tuple(np.flatnonzero(could)[:20])
        with pytest.raises(TableError, match=f"in {sum(could)} cells .* day and month could change places"):
            repaired(frame, schema, [Repair("days", "when")])


def test_where_nothing_shows_the_order_a_person_chooses_it() -> None:
    cells = np.array([f"{1 + i % 12:02}/{1 + i // 12 % 12:02}/2021" for i in range(N)], dtype=object)
    frame, schema = table(when=cells)
    finding = check("date", frame, as_feature(frame, schema, "when"), "when")
    assert [label(mend) for mend in finding.mends[:2]] == [
        Message("Count '{column}' in days, the day first", {"column": "when"}),
        Message("Count '{column}' in days, the month first", {"column": "when"}),
    ]
    read = [repaired(frame, schema, [Repair("days", "when", first)])[0]["when"] for first in (DAY_FIRST, MONTH_FIRST)]
    for format_, days in zip(("%d/%m/%Y", "%m/%d/%Y"), read, strict=True):
        meant = pd.to_datetime(pd.Series(cells), format=format_)
        np.testing.assert_array_equal(days, (meant - meant.min()).dt.days)


def test_what_is_no_date_is_counted_and_becomes_missing() -> None:
    _days, frame, schema = dated("iso", "name")
    frame["when"] = frame["when"].where(~frame.index.isin([3, 50, 51]), ["soon", "30.02.2021", "2021-13-01"][0])
    frame.loc[50, "when"] = "30.02.2021"
    schema = schema.with_variable(replace(schema["when"], levels=tuple(sorted(set(frame["when"])))))
    finding = check("date", frame, schema, "when")
    assert (finding.message.params["no_dates"], finding.rows) == (3, (3, 50, 51))
    mended, _kinds = repaired(frame, schema, [Repair("days", "when")])
    assert np.flatnonzero(mended["when"].isna()).tolist() == [3, 50, 51]


def test_a_second_file_s_dates_are_read_in_the_table_s_order() -> None:
    _days, frame, schema = dated("iso", "day")
    cells = pd.Series(["2021-03-04", "04/03/2021", "13/03/2021", "03/13/2021", "soon", ""])
    for value, expected in (
        (DAY_FIRST, ["a", "a", "a + 9", "03/13/2021", "soon", ""]),
        (MONTH_FIRST, ["a", "a + 30", "13/03/2021", "a + 9", "soon", ""]),
    ):
        taken, _left = treatments(frame, schema, [Repair("days", "when", value)])
        treated = taken["when"]
        assert treated.texts is not None
        got = treated.texts(cells).tolist()
        at = float(got[0])
        assert got == [repr(at + float(e[3:] or 0)) if e.startswith("a") else e for e in expected]
        assert treated.first == ("day" if value == DAY_FIRST else "month")


@pytest.mark.slow
@pytest.mark.parametrize("months", ["", "month"])
def test_cells_that_are_dates_are_read_as_all_at_once(months: str) -> None:
    """`read_each` and `dates`, which the reader of files asks, agree wherever the latter has no doubt."""
    for way in WAYS.values():
        days = pd.date_range("2021-01-01", periods=400, freq="31h")
        cells = list(dict.fromkeys(days.strftime(way + (" %H:%M" if months else ""))))
        whole = dates(cells)
        assert isinstance(whole, Dates) and not whole.doubtful
        np.testing.assert_array_equal(read_each(cells).values, whole.values)


def test_one_format_says_nothing_of_another() -> None:
    """A file of 13/04/2024 and 03-04-2024: the reader says that it is in doubt."""
    read = dates(["13/04/2024", "03-04-2024"])
    assert isinstance(read, Dates) and read.doubtful and read.order == "day"
    read = dates(["13/04/2024", "03/04/2024", "21-04-2024"])
    assert isinstance(read, Dates) and not read.doubtful
