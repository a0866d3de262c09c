"""The doctor judged: near misses, gaps, few rows, no target; what it says is true of the table, and said once."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayes_engine.errors import listen
from bayes_engine.models.aode import AODE
from bayes_engine.progress import Cancelled, watching
from bayes_engine.table.dates import compact_days
from bayes_engine.table.schema import Schema, recast
from bayes_engine.table.sentinels import sentinel
from bayes_engine.table.text import TextRule
from bayes_engine.workbench.doctor.examine import examine
from bayes_engine.workbench.doctor.examined_table import examined_table
from bayes_engine.workbench.doctor.finding import AddModel, Repair, SetKind, SetLikelihood, SetParameter, SetRole, label
from bayes_engine.workbench.doctor.leaks import class_intervals
from bayes_engine.workbench.doctor.normality import covariances
from bayes_engine.workbench.doctor.outliers import outlying
from bayes_engine.workbench.doctor.pairs import dependences
from bayes_engine.workbench.doctor.repair import parsed_dates, repaired, treatments
from bayes_engine.workbench.doctor.suggest import _candidates, suggest
from tests.unit.test_doctor import N, as_feature, check, examined, found, rng, sound, table


def codes(frame: pd.DataFrame, schema: Schema) -> list[str]:
    return [f.code for f in examined(frame, schema).findings]


# identifiers ----------------------------------------------------------------------------------------------------------


def test_numbers_of_rows_of_which_two_came_again() -> None:
    cells = np.r_[rng().permutation(N - 2) + 1, [5, 9]]
    frame, schema = table(who=cells)
    assert schema["who"].role == "feature"
    [finding] = found(frame, schema, "identifier")
    assert (finding.severity, finding.evidence[0][1], finding.mends[0]) == ("serious", N - 2, SetRole("who", "id"))
    by_lot = rng().integers(1, N, N)  # of the same range, but 63 % different
    assert not found(*table(who=by_lot), "identifier")


@pytest.mark.parametrize("rows", [12, N])
def test_amounts_in_order_are_no_identifier_where_they_are_few(rows: int) -> None:
    frame, schema = table(rows, weight=np.cumsum(rng().integers(2, 9, rows)))
    assert bool(found(frame, schema, "identifier")) == (rows == N)


def test_round_amounts_of_six_digits_are_no_identifier() -> None:
    price = rng().choice(9_000, N, replace=False) * 100 + 100_000
    assert not found(*table(price=price), "identifier")
    case = price + rng().integers(0, 10, N)
    assert found(*table(case=case), "identifier")


def test_long_keys_name_rows_and_have_no_words_to_count() -> None:
    keys = np.array([f"{v:032x}" for v in range(10**9, 10**9 + N)], dtype=object)
    frame, schema = table(key=keys)
    assert (schema["key"].kind, schema["key"].role) == ("text", "ignore")
    [finding] = examined(frame, schema).findings
    assert (finding.code, finding.settled, finding.mends) == ("identifier", True, ())


# leaks ----------------------------------------------------------------------------------------------------------------


def test_a_copy_of_the_target_with_gaps() -> None:
    data = sound()
    copy = np.where(data["y"] == "a", "yes", "no").astype(object)
    copy[::9] = None
    frame, schema = table(copy=copy)
    [finding] = found(frame, schema, "copy-of-target")
    known = frame["copy"].notna()
    assert f"all {int(known.sum())} rows where it is known" in str(finding.message)
    assert finding.evidence[1][1] == int(frame.loc[known, "y"].value_counts().min())
    copy[[2, 4, 6]] = "no"  # three errors of some hundred
    assert not found(*table(copy=copy), "leak")


def test_a_leak_with_gaps_is_judged_where_it_is_known() -> None:
    late = (sound()["y"] == "a") * 10.0 + rng().normal(size=N)
    late[::3] = np.nan
    [finding] = found(*table(late=late), "leak")
    assert "it is right on 100.00% of the 160 rows where it is known" in str(finding.message)


@pytest.mark.parametrize(("rare", "said"), [(8, True), (1, False)])
def test_a_copy_of_a_rare_class(rare: int, said: bool) -> None:
    y = np.where(np.arange(N) < rare, "ill", "well").astype(object)
    frame, schema = table(test=np.where(y == "ill", "pos", "neg").astype(object), y=y)
    assert bool(found(frame, schema, "copy-of-target")) == said  # that two single rows meet is no wonder


def test_of_ten_rows_a_copy_may_be_chance() -> None:
    frame = pd.DataFrame({"res": list("uuvvuuvvuv"), "x": rng().normal(size=10), "y": list("aabbaabbab")})
    assert not found(frame, Schema.infer(frame).with_role("y", "target"), "copy-of-target")


# constants ------------------------------------------------------------------------------------------------------------


def test_one_value_and_gaps_is_not_the_same_in_every_row() -> None:
    unit = np.array(["cm"] * N, dtype=object)
    unit[np.arange(N) % 4 < 2] = None  # in both classes alike
    frame, schema = table(unit=unit)
    [finding] = [f for f in examined(frame, schema).findings if f.code == "constant"]
    assert "every row" not in str(finding.message)
    assert "missing in 120 of the 240 rows" in str(finding.message)
    assert [value for _label, value in finding.evidence] == [120, 120]


def test_a_mark_or_nothing_tells_of_the_class() -> None:
    mark = np.where((sound()["y"] == "a") & (np.arange(N) % 3 > 0), "x", None)
    frame, schema = table(mark=mark)
    assert (schema["mark"].kind, schema["mark"].role) == ("constant", "ignore")
    [finding] = examined(frame, schema).open()
    assert (finding.code, finding.mends) == ("missing-tells", (SetKind("mark", "categorical"),))
    read = recast(schema["mark"], frame["mark"], "categorical")
    after = schema.with_variable(read).with_role("mark", "feature")
    [finding] = found(frame, after, "missing-tells")
    assert finding.mends == (SetParameter("missing", "category"), SetRole("mark", "ignore"))  # missing in most rows
    assert "constant" not in codes(frame, after)


def test_a_threshold_decides_the_class_though_rows_stand_close_to_it() -> None:
    score = rng().normal(50.0, 10.0, N).round(3)
    y = np.where(score > 50.0, "passed", "failed").astype(object)
    [finding] = found(*table(score=score, y=y), "leak")
    told = {str(label): value for label, value in finding.evidence}
    share = pd.Series(y).value_counts(normalize=True)
    assert told["I(column; class)"] == pytest.approx(told["H(class)"]) == pytest.approx(float(stats.entropy(share)))
    assert told["rows it decides wrongly alone, each left out"] <= 2
    y[np.argsort(score)[:: N // 8]] = "passed"  # some below it passed as well
    assert not found(*table(score=score, y=y), "leak")


def test_of_rows_apart_the_nearer_neighbour_decides_each_left_out() -> None:
    random = rng()
    x = np.unique(random.normal(size=60).round(4))
    for y in ((x > 0.2).astype(int), np.digitize(x, [-0.5, 0.4])):
        gap = np.abs(x[:, None] - x[None, :]) + np.diag(np.full(len(x), np.inf))
        told = class_intervals(x, y)
        assert told is not None
        assert told.wrong == int((y[gap.argmin(axis=1)] != y).sum())
        assert told.codes.tolist() == y.tolist()
    assert class_intervals(np.array([1.0, 2.0, 2.0, 3.0]), np.array([0, 0, 1, 1])) is None  # a tie


def test_an_identifier_of_levels_that_decides_by_group_is_a_leak() -> None:
    shop = rng().integers(0, 24, N)
    y = np.array(["stays", "goes"], dtype=object)[rng(3).integers(0, 2, 24)[shop]]
    [finding] = found(*table(shop=np.array([f"s{k}" for k in shop], dtype=object), y=y), "leak")
    assert finding.columns == ("shop",)


def test_of_a_copy_in_numbers_nothing_else_is_said() -> None:
    y = np.array(["low", "mid", "high"], dtype=object)[np.arange(N) % 3]
    code = pd.Series(y).map({"low": 10, "mid": 20, "high": 30})
    assert codes(*table(code=code, y=y)) == ["copy-of-target"]  # no needle, and it shares nothing within a class


# gaps -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_of_gaps_that_tell_and_fill_most_of_a_column_one_finding_offers_either_mend() -> None:
    gaps = rng().random(N) < np.where(sound()["y"] == "a", 0.85, 0.45)
    mark = np.where(gaps, None, sound()["skin"])
    frame, schema = table(mark=mark)
    finding = check("missing-tells", frame, schema, "mark")
    assert finding.mends == (SetParameter("missing", "category"), SetRole("mark", "ignore"))
    assert finding.severity == "warning"
    assert "missing" not in codes(frame, schema)  # it would say the same, and offer one of the two alone
    assert f"missing in {frame['mark'].isna().mean():.0%} of the rows, and that" in str(finding.message)
    number = np.where(gaps, np.nan, sound()["size"])
    finding = check("missing-tells", *table(number=number), "number")
    assert [type(m) for m in finding.mends] == [AddModel, SetRole]


def test_the_test_of_gaps_is_pearson_s_as_its_statistic() -> None:
    gaps = (np.arange(N) % 8 > 5) | ((sound()["y"] == "a") & (rng().random(N) < 0.2))
    frame, schema = table(mark=np.where(gaps, None, sound()["skin"]))
    [finding] = found(frame, schema, "missing-tells")
    told = {str(label): value for label, value in finding.evidence}
    want = stats.chi2_contingency(pd.crosstab(frame["mark"].isna(), frame["y"]), correction=False)
    assert told["χ²"] == round(want.statistic, 2)
    assert told["p (Holm)"] == pytest.approx(want.pvalue)
    assert told["Cramér's V"] == round(float(np.sqrt(want.statistic / N)), 3)
    assert told["missing cells"] == int(frame["mark"].isna().sum())


# columns that stand twice ---------------------------------------------------------------------------------------------


def test_equal_numbers_are_said_to_be_equal_and_once() -> None:
    frame, schema = table(again=sound()["size"])
    [finding] = examined(frame, schema).findings  # and neither collinear nor dependent as well
    assert (finding.code, finding.columns) == ("duplicate-column", ("size", "again"))
    assert "the same as" in str(finding.message)
    assert {str(label): value for label, value in finding.evidence}["rows in which both are known"] == N


def test_a_copy_with_gaps_is_the_one_to_leave_out() -> None:
    again = sound()["size"].copy()
    again[::7] = np.nan
    frame, schema = table(again=again)
    [finding] = examined(frame, schema).findings
    assert (finding.code, finding.mends[0]) == ("duplicate-column", SetRole("again", "ignore"))
    assert f"all {int(frame['again'].notna().sum())} rows where both are known" in str(finding.message)
    half = again.copy()
    half[: N // 2 + 20] = np.nan  # in too few rows to say so
    assert not found(*table(half=half), "duplicate-column")


def test_what_a_copy_shares_with_others_is_said_of_the_column() -> None:
    touch = np.where(rng().random(N) < 0.8, sound()["skin"], "soft").astype(object)
    renamed = np.vectorize({"dull": "1", "crisp": "2", "soft": "3"}.get)(touch).astype(object)
    frame, schema = table(touch=touch, tact=renamed)
    assert found(frame, schema, "duplicate-column")[0].columns == ("tact", "touch")
    [finding] = found(frame, schema, "dependence")
    assert set(finding.columns) == {"touch", "skin"}


# classes --------------------------------------------------------------------------------------------------------------


def test_a_class_of_two_rows_is_not_balanced_by_losses() -> None:
    y = sound()["y"].copy()
    y[:2] = "z"
    assert {"rare-class"} == set(codes(*table(y=y))) & {"rare-class", "imbalance"}
    rare = np.array(["well"] * (N - 3) + ["ill"] * 3, dtype=object)
    assert {"rare-class", "imbalance"} <= set(codes(*table(y=rare)))  # of two classes it is the one that matters


def test_a_misspelt_class_is_a_spelling_and_nothing_else() -> None:
    y = sound()["y"].copy()
    y[:3] = "A"
    assert set(codes(*table(y=y))) - {"zero-cells"} == {"spellings"}


# dates ----------------------------------------------------------------------------------------------------------------


def test_days_written_as_whole_numbers() -> None:
    days = pd.Timestamp("2021-12-20") + pd.to_timedelta(rng().integers(0, 400, N), unit="D")
    frame, schema = table(when=days.strftime("%Y%m%d").astype(int))
    assert (schema["when"].kind, schema["when"].role) == ("count", "feature")
    [finding] = examined(frame, schema).findings
    assert (finding.code, finding.severity, finding.mends[0]) == ("date", "warning", Repair("days", "when"))
    mended, kinds = repaired(frame, schema, [Repair("days", "when")])
    np.testing.assert_array_equal(mended["when"], (days - days.min()).days)
    assert kinds["when"].kind == "continuous"
    taken, _rest = treatments(frame, kinds, [Repair("days", "when")])
    assert taken["when"].texts is not None
    start = days.min()
    later = (start + pd.Timedelta(days=33)).strftime("%Y%m%d")
    assert taken["when"].texts(pd.Series([later, f"{later}.0", "", "soon"])).tolist() == ["33.0", "33.0", "", "soon"]


def test_days_counted_of_a_row_a_day_are_no_identifier() -> None:
    days = pd.date_range("2024-01-01", periods=N)
    frame, schema = table(when=days)
    assert codes(frame, schema) == ["date"]
    mended, kinds = repaired(frame, schema, [Repair("days", "when")])
    assert mended["when"].tolist() == list(range(N))
    assert codes(mended, kinds) == []


@pytest.mark.parametrize("value", [20211301, 20210230, 18991231, 21010101, 20210101.5])
def test_whole_numbers_that_are_no_days(value: float) -> None:
    assert compact_days(np.array([20210101.0, 20210102.0, np.nan, 20210103.0])) is not None
    assert compact_days(np.array([20210101.0, 20210102.0, 20210103.0, value])) is None


def test_years_and_other_amounts_are_no_dates() -> None:
    assert parsed_dates(pd.Series([1999.0, 2001.0, 2004.0])).isna().all()
    assert not found(*table(year=rng().integers(1990, 2020, N)), "date")
    assert not found(*table(cost=rng().integers(20_000_000, 20_300_000, N)), "date")


def test_a_date_has_evidence() -> None:
    days = pd.Timestamp("2024-02-28") + pd.to_timedelta(np.arange(N) % 90, unit="D")
    [finding] = found(*table(when=days), "date")
    assert [str(value) for _label, value in finding.evidence] == ["90", "2024-02-28, 2024-05-27"]


# numbers --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "value", [-999.9, 999.9, -9.99, -888.0, 99_999_999.0, -1000.0, 1e9, 1e20, 2.0**31 - 1, -32768.0, 998.0]
)
def test_what_is_written_for_unknown(value: float) -> None:
    height = 170.0 + 8.0 * rng().normal(size=N).round(2)
    height[[2, 5, 11]] = value
    [finding] = examined(*table(height=height)).findings
    assert (finding.code, finding.mends[0]) == ("sentinel", Repair("value-missing", "height", value))
    assert f"{value:.12g}" in str(finding.message)
    assert f"{value:.12g}" in str(label(finding.mends[0]))


def test_a_few_answers_and_a_number_for_none() -> None:
    likert = rng().integers(1, 6, N).astype(float)
    assert sentinel(likert) is None
    assert sentinel(np.where(np.arange(N) % 20 == 0, 99.0, likert)) == 99.0
    assert sentinel(np.where(np.arange(N) % 20 == 0, -9.0, likert)) == -9.0
    assert sentinel(np.where(np.arange(N) % 2 == 0, -1.0, np.arange(N) % 4 // 2 * 1.0)) is None  # −1, 0, 1: answers
    assert sentinel(np.where(np.arange(N) % 5 > 0, -999.0, 170.0 + np.arange(N) % 30)) == -999.0  # in most of the rows
    assert sentinel(np.r_[np.arange(60.0, 99.0), 99.0, 99.0]) is None  # nearly a hundred of a hundred


def test_what_is_no_measurement_makes_no_columns_dependent() -> None:
    a, b = rng().normal(100.0, 5.0, (2, N))
    a[:9], a[9:14], b[:9], b[9:14] = -999.0, 999.0, -999.0, 999.0
    frame, schema = table(a=a, b=b)
    assert dependences(examined_table(frame, schema), 0.1) == ((), ())


@pytest.mark.parametrize("answers", [(0.0, 1.0), (1.0, 2.0), (1.0, 2.0, 3.0, 4.0, 5.0)])
def test_nine_is_no_answer_of_a_questionnaire(answers: tuple[float, ...]) -> None:
    coded = rng().choice(answers, N)
    coded[[3, 30, 77, 150]] = 9.0
    [finding] = examined(*table(coded=coded)).findings
    assert (finding.code, finding.mends[0]) == ("sentinel", Repair("value-missing", "coded", 9.0))
    assert sentinel(np.r_[coded, 6.0, 7.0]) is None  # a count, then


def test_codes_of_unknown_are_neither_names_nor_covariances() -> None:
    random = rng()
    y = np.arange(N) % 2
    answers = np.clip(np.round(3.0 + 0.8 * random.normal(size=(3, N)) + 0.7 * y), 1.0, 5.0)
    answers[1][y == 1] = np.where(random.random(N // 2) < 0.2, 99.0, answers[1][y == 1])
    frame = pd.DataFrame({"a": answers[0], "b": answers[1], "c": answers[2], "y": np.array(["u", "v"], object)[y]})
    schema = Schema.infer(frame).with_role("y", "target")
    assert set(codes(frame, schema)) - {"duplicate-rows"} == {"sentinel"}
    clean = frame[frame["b"] != 99.0].reset_index(drop=True)
    both = covariances(examined_table(frame, schema)), covariances(examined_table(clean, schema))
    assert both[0] is not None and both[1] is not None
    assert both[0].box.m == pytest.approx(both[1].box.m)


def test_what_is_done_to_several_columns_is_done_to_those_alone_that_need_it() -> None:
    skew = np.exp(rng().normal(size=(2, N)) * 1.2)
    height = np.exp(rng(5).normal(size=N) * 1.2)
    height[:4] = -999.0
    frame, schema = table(first=skew[0], second=skew[1], height=height)
    [finding, _other] = found(frame, schema, "skew")
    assert [m.columns for m in finding.mends if isinstance(m, SetLikelihood)][-1] == ("first", "second")


def test_columns_that_determine_one_another_to_the_last_digit_inflate_without_end() -> None:
    a, b = rng().normal(size=(2, N)).round(2)
    [finding] = found(*table(a=a, b=b, total=a + b), "collinear")
    assert [value for _label, value in finding.evidence] == [np.inf] * 4
    assert "R² = 1.0000" in str(finding.message)


def test_a_key_of_twelve_digits_though_some_begin_with_zero() -> None:
    sku = rng().integers(0, 10**12, N)
    assert len({len(str(v)) for v in sku}) > 1
    assert found(*table(sku=sku), "identifier")
    revenue = np.exp(rng().normal(23.0, 2.0, N)).round()  # of as many digits, but spread over them
    assert not found(*table(revenue=revenue), "identifier")


def test_numbers_read_as_text_are_no_levels_without_rows() -> None:
    cells = np.array([f"{v:.2f}" for v in rng().normal(10.0, 2.0, N)], dtype=object)
    cells[::15] = "about 9"
    frame, schema = table(cells=cells)
    assert codes(frame, as_feature(frame, schema, "cells")) == ["mixed-types"]


def test_a_class_in_a_thousand_is_more_than_a_note() -> None:
    y = np.where(np.arange(6000) % 1000 == 0, "fault", "well").astype(object)
    frame = pd.DataFrame({"x": rng().normal(size=6000), "z": rng(1).normal(size=6000), "y": y})
    [finding] = found(frame, Schema.infer(frame).with_role("y", "target"), "imbalance")
    assert finding.severity == "warning"


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_products_of_either_sign_have_no_outliers(sign: float) -> None:
    income = sign * 10.0 ** (4.0 + 0.7 * rng().normal(size=N))
    assert not outlying(income).any()


def test_an_age_of_455_is_an_outlier() -> None:
    age = np.clip(rng().normal(53.0, 19.0, 3000).round(), 1.0, 94.0)
    age[77] = 455.0
    assert np.flatnonzero(outlying(age)).tolist() == [77]  # though its logarithm is not far: the others grow by sums


def test_a_long_tail_of_levels() -> None:
    city = np.array([f"c{i}" for i in range(60)] + ["Rome"] * 2000 + ["Oslo"] * 1000, dtype=object)
    frame = pd.DataFrame({"city": city, "y": np.array(["a", "b"], dtype=object)[np.arange(len(city)) % 2]})
    [finding] = found(frame, Schema.infer(frame).with_role("y", "target"), "high-cardinality")
    assert str(finding.message).startswith("60 of the 62 levels of 'city' have fewer than 5 rows")
    assert finding.severity == "note"


def test_pairs_known_in_a_few_rows_share_little() -> None:
    a, b = np.full((2, N), np.nan)
    a[:4] = b[:4] = [1.0, 3.0, 2.0, 7.0]  # of two rows a class the correlation is always one
    a[10:60], b[60:120] = rng().normal(size=50), rng().normal(size=60)
    frame, schema = table(a=a, b=b)
    assert not found(frame, schema, "dependence")


# without a target -----------------------------------------------------------------------------------------------------


def test_without_a_target_no_class_is_spoken_of() -> None:
    x, z = rng().normal(size=(2, N))
    frame = pd.DataFrame({"a": x, "b": z, "c": x + z + 0.05 * rng().normal(size=N), "d": np.exp(2.0 * x)})
    schema = Schema.infer(frame)
    assert schema.target is None
    report = examine(frame, schema)
    assert {f.code for f in report.findings} == {"collinear"}
    assert not any("class" in str(f.message) for f in report.findings)
    assert not any(isinstance(m, AddModel) for f in report.findings for m in f.mends)


# suggestions ----------------------------------------------------------------------------------------------------------


def test_of_few_rows_nothing_is_claimed() -> None:
    frame, schema = table(17)
    reasons = [str(s.reason) for s in examine(frame, schema).suggestions]
    assert not any("holds well enough" in reason for reason in reasons)


def test_numbers_that_are_mostly_skew_are_cut_before_covariances_are_thought_of() -> None:
    n, d = 4000, 12
    random = rng()
    y = np.array(["a", "b"], dtype=object)[np.arange(n) % 2]
    wide = np.where(y == "a", 1.0, 4.0)
    counts = {f"f{j}": np.where(random.random(n) < 0.7, 0.0, random.exponential(wide)).round(2) for j in range(d)}
    frame = pd.DataFrame({**counts, "y": y})
    suggestions = examine(frame, Schema.infer(frame).with_role("y", "target")).suggestions
    assert suggestions[0].model == AddModel("naive-bayes", parameters=(("discretize", "mdlp"),))
    assert AddModel("qda") not in {s.model for s in suggestions}


@pytest.mark.slow
def test_columns_that_determine_one_another_ask_for_shrinkage() -> None:
    random = rng()
    n = 200
    y = np.arange(n) % 2
    size = random.normal(size=n)
    numbers = {f"x{j}": size + 0.3 * j * y + 0.05 * random.normal(size=n) for j in range(4)}
    frame = pd.DataFrame({**numbers, "y": np.array(["a", "b"], dtype=object)[y]})
    schema = Schema.infer(frame).with_role("y", "target")
    report = examine(frame, schema)
    assert "collinear" in {f.code for f in report.findings}
    seen = suggest(examined_table(frame, schema), report.findings)
    assert AddModel("lda", parameters=(("shrinkage", "auto"),)) in {s.model for s in seen}


def test_reasons_speak_of_all_rows_of_the_table() -> None:
    n = 25_000
    data: dict[str, Any] = {f"c{j}": rng(j).choice(list("uvw"), n) for j in range(4)}
    data["c0"] = data["c0"].astype(object)
    data["c0"][:1000] = None
    frame = pd.DataFrame({**data, "y": rng(9).choice(["a", "b"], n)})
    report = examine(frame, Schema.infer(frame).with_role("y", "target"))
    assert report.looked_at < n
    reasons = " ".join(str(s.reason) for s in report.suggestions)
    assert "1,000 missing cells" in reasons
    assert "25,000 rows" in reasons
    assert "20,000" not in reasons


def skewed(seed: int, n: int, columns: int) -> tuple[pd.DataFrame, Schema]:
    """Numbers that grow as products, depend on one another and are spread by the class."""
    random = rng(seed)
    y, size = np.arange(n) % 3, random.exponential(size=n)
    spread = [0.8 * size + 0.5 * random.normal(size=n) + 0.6 * ((y + j) % 3 == 0) * size for j in range(columns)]
    numbers = {f"x{j}": np.exp(own).round(3) for j, own in enumerate(spread)}
    frame = pd.DataFrame({**numbers, "y": np.array(list("abc"), dtype=object)[y]})
    return frame, Schema.infer(frame).with_role("y", "target")


@pytest.mark.slow
def test_numbers_that_are_cut_are_parents_in_turn() -> None:
    frame, schema = skewed(3, 300, 6)
    [averaged] = [s for s in examine(frame, schema).suggestions if s.model.family == "aode"]
    assert averaged.model == AddModel("aode")
    X = frame.drop(columns="y")
    with listen():
        left_out = AODE(schema=schema.features).fit(X, frame["y"]).leave_one_out_log_proba(X, frame["y"])
    assert averaged.error == pytest.approx((left_out.argmax(axis=1) != np.arange(300) % 3).mean())


def test_where_rows_are_too_many_to_judge_dependent_numbers_are_averaged_before_each_is_taken_alone() -> None:
    n = 6000
    random = rng()
    y, size = np.arange(n) % 3, random.normal(size=n)
    numbers = {f"x{j}": size + 1.2 * random.normal(size=n) + 0.4 * (y == j % 3) for j in range(6)}
    frame = pd.DataFrame({**numbers, "y": np.array(list("abc"), dtype=object)[y]})
    suggestions = examine(frame, Schema.infer(frame).with_role("y", "target")).suggestions
    assert [s.model.family for s in suggestions] == ["lda", "aode", "naive-bayes"]
    assert "0.1" in str(suggestions[1].reason)


def test_where_nothing_is_cut_no_model_is_suggested_that_lives_on_it() -> None:
    random = rng(2)
    frame = pd.DataFrame({**{f"x{j}": random.normal(size=N) for j in range(3)}, "y": sound()["y"]})
    suggestions = examine(frame, Schema.infer(frame).with_role("y", "target")).suggestions
    assert len(suggestions) == 3
    assert not {"tan", "aode"} & {s.model.family for s in suggestions}
    assert not any(dict(s.model.parameters).get("discretize") for s in suggestions)


@pytest.mark.slow
def test_texts_and_very_many_columns_have_no_tables_of_pairs() -> None:
    data = sound()
    frame, schema = table(
        tone=data["skin"], note=np.array([f"the {w} one came late again" for w in data["skin"]], object)
    )
    schema = schema.with_variable(replace(schema["note"], kind="text", levels=(), role="feature", text=TextRule(),
                                          likelihood="multinomial"))  # fmt: skip
    assert {s.model.family for s in examine(frame, schema).suggestions} == {"naive-bayes"}
    letters = {f"s{j}": rng(j).choice(list("ACGT"), 20) for j in range(120)}
    wide = pd.DataFrame({**letters, "y": list("ab") * 10})
    suggestions = examine(wide, Schema.infer(wide).with_role("y", "target")).suggestions
    assert {s.model.family for s in suggestions} == {"naive-bayes"}


def test_copies_are_no_reason_for_a_tree() -> None:
    size = sound()["size"]
    frame, schema = table(again=size)
    assert not any("'again'" in str(s.reason) for s in examine(frame, schema).suggestions)


@pytest.mark.parametrize("columns", [2, 61])
def test_two_columns_are_no_average_and_very_many_no_cheap_one(columns: int) -> None:
    frame, schema = skewed(3, 300, columns)
    assert "aode" not in {model.family for model, _reason in _candidates(examined_table(frame, schema), ())}


# time -----------------------------------------------------------------------------------------------------------------


def test_a_long_look_is_called_off_at_once() -> None:
    frame = pd.DataFrame(rng().normal(size=(60, 10)), columns=[f"x{j}" for j in range(10)])
    frame["y"] = np.array(["a", "b"], dtype=object)[np.arange(60) % 2]
    schema = Schema.infer(frame).with_role("y", "target")

    def asked_until(last: float) -> int:
        times = 0

        def asked() -> bool:
            nonlocal times
            times += 1
            return times >= last

        with suppress(Cancelled), watching(asked, pace=0.0):
            examine(frame, schema)
        return times

    every = asked_until(math.inf)
    assert every > 4 * 10  # several times a column
    assert [asked_until(k) for k in (1, every // 2, every)] == [1, every // 2, every]


def test_the_same_is_done_to_the_cells_of_another_file() -> None:
    frame = pd.DataFrame({"ok": ["yes", "Yes"], "x": [1.0, -999.0]})
    repairs = [Repair("merge-spellings", "ok"), Repair("value-missing", "x", -999.0)]
    by_column, rest = treatments(frame, Schema.from_dtypes(frame.assign(ok="yes")), repairs)
    texts = by_column["ok"].texts
    assert texts is not None
    assert texts(pd.Series(["YES", "no"])).tolist() == ["yes", "no"]
    assert (by_column["x"].absent, rest) == ((-999.0,), ())
