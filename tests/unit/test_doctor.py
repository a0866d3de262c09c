"""The data doctor: a table that has each finding, one that just has not, the numbers by hand, and every mend mends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayes_engine.datasets import load_dataset
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.table.roles import take_apart
from bayes_engine.table.schema import Schema, recast
from bayes_engine.table.text import TextRule
from bayes_engine.workbench.doctor import cells, classes, columns, duplicates, leaks, normality, pairs
from bayes_engine.workbench.doctor.examine import examine
from bayes_engine.workbench.doctor.examined_table import SAMPLE, examined_table
from bayes_engine.workbench.doctor.finding import (
    AddModel,
    BalanceLosses,
    Finding,
    Mend,
    ModelInUse,
    ReadText,
    Repair,
    Report,
    SetKind,
    SetLikelihood,
    SetParameter,
    SetRole,
    label,
)
from bayes_engine.workbench.doctor.leaks import errors_alone, levels_of_numbers
from bayes_engine.workbench.doctor.normality import _shape, covariances
from bayes_engine.workbench.doctor.pairs import dependences, inflation
from bayes_engine.workbench.doctor.repair import repaired
from bayes_engine.workbench.doctor.suggest import FAMILIES
from tests.conftest import slowly

N = 240
TEXTBOOK = ModelInUse("naive-bayes", {**PRESETS["textbook"], "discretize": None, "var_floor": 1e-9, "likelihoods": ()})


def rng(seed: int = 11) -> np.random.Generator:
    return np.random.default_rng(seed)


def sound(n: int = N, k: int = 2) -> dict[str, Any]:
    """Columns of which nothing is to be said: two numbers, a column of levels, the class."""
    random = rng(7)
    y = np.arange(n) % k
    return {
        "size": (random.normal(size=n) + y).round(3),
        "mass": (random.normal(size=n) - y).round(3),
        "skin": np.array(["dull", "crisp", "soft"], dtype=object)[random.integers(0, 3, n)],
        "y": np.array(["a", "b", "c", "d"], dtype=object)[y],
    }


def table(n: int = N, k: int = 2, **columns: Any) -> tuple[pd.DataFrame, Schema]:
    frame = pd.DataFrame({**columns, **sound(n, k)} | columns)
    return frame, Schema.infer(frame).with_role("y", "target")


def as_feature(frame: pd.DataFrame, schema: Schema, *names: str) -> Schema:
    for name in names:
        schema = schema.with_role(name, "feature")
    return schema


def examined(frame: pd.DataFrame, schema: Schema) -> Report:
    """What is found; no models are suggested, which takes its time."""
    with mock.patch("bayes_engine.workbench.doctor.examine.suggest", return_value=()):
        return examine(frame, schema)


def found(frame: pd.DataFrame, schema: Schema, code: str, model: ModelInUse | None = None) -> list[Finding]:
    return [f for f in examined(frame, schema).open(model) if f.code == code]


def carried_out(
    mend: Mend, frame: pd.DataFrame, schema: Schema, model: ModelInUse
) -> tuple[pd.DataFrame, Schema, ModelInUse, bool]:
    """The table, the active model and whether losses are stated, after a mend."""
    match mend:
        case SetRole(column, role):
            return frame, schema.with_role(column, role), model, False
        case SetKind(column, kind):
            read = recast(schema[column], frame[column], kind)
            return frame, schema.with_variable(read), model, False
        case SetLikelihood(columns, likelihood):
            said = dict(model.settings["likelihoods"]) | {schema.features.names.index(c): likelihood for c in columns}
            settings = {**model.settings, "likelihoods": tuple(said.items())}
            return frame, schema, replace(model, settings=settings), False
        case SetParameter(name, value):
            return frame, schema, replace(model, settings={**model.settings, name: value}), False
        case AddModel(family, preset, parameters):
            usual = {"discretize": "mdlp"} if family in ("tan", "aode") else {}
            own = PRESETS[preset] if family == "naive-bayes" else usual
            return frame, schema, ModelInUse(family, {"likelihoods": (), **own, **dict(parameters)}), False
        case BalanceLosses():
            return frame, schema, model, True
        case ReadText(column):
            read = replace(schema[column], kind="text", levels=(), role="feature", text=TextRule())
            return frame, schema.with_variable(read), model, False
        case Repair():
            return *repaired(frame, schema, [mend]), model, False


def check(code: str, frame: pd.DataFrame, schema: Schema, column: str | None = None) -> Finding:
    """The finding of this code, which must be there, well formed, and gone after each of its mends."""
    report = examined(frame, schema)
    [finding] = [f for f in report.open(TEXTBOOK) if f.code == code and (column is None or column in f.columns)]
    assert str(finding.message)
    assert all(str(label) for label, _value in finding.evidence)
    assert finding.mends
    for mend in finding.mends:
        assert str(label(mend))
        after, kinds, model, stated = carried_out(mend, frame, schema, TEXTBOOK)
        left = examined(after, kinds).open(model, losses_stated=stated)
        assert not [f for f in left if f.code == code and (column is None or column in f.columns)], mend
    return finding


# the tables that have nothing -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_of_a_sound_table_nothing_is_said() -> None:
    assert examine(*table()).findings == ()


@pytest.mark.parametrize("name", ["iris", "watermelon3a"])
def test_textbook_tables_are_well(name: str) -> None:
    data = load_dataset(name)
    assert examined(data.frame, data.schema).open() == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["penguins", "wine", "german-credit", "play-tennis", "watermelon3", "loan"])
def test_tables_with_smoothing_have_notes_at_most(name: str) -> None:
    data = load_dataset(name)
    model = ModelInUse("naive-bayes", PRESETS["laplace"])
    assert {f.severity for f in examined(data.frame, data.schema).open(model)} <= {"note"}


# columns --------------------------------------------------------------------------------------------------------------


def test_infinite_cells() -> None:
    frame, schema = table()
    frame.loc[[3, 9], "size"] = [np.inf, -np.inf]
    finding = check("infinite", frame, schema)
    assert (finding.severity, finding.rows, finding.evidence[0][1]) == ("serious", (3, 9), 2)
    assert examine(frame, schema).suggestions == ()  # no model can be fitted


@pytest.mark.parametrize(
    "cells",
    [
        np.arange(N) + 17,  # consecutive
        np.sort(rng().choice(10_000, N, replace=False)),  # rising with the rows
        rng().choice(900_000, N, replace=False) + 100_000,  # numbers of cases
        np.array([f"K{i:04d}" for i in range(N)], dtype=object),
    ],
)
def test_identifiers(cells: Any) -> None:
    frame, schema = table(who=cells)
    schema = as_feature(frame, schema, "who")
    assert check("identifier", frame, schema).severity == "serious"
    assert [f.code for f in examined(frame, schema).open()] == ["identifier"]  # and nothing else of it


def test_what_is_set_aside_already_is_settled() -> None:
    frame, schema = table(who=np.arange(N), unit=["cm"] * N)
    assert (schema["who"].role, schema["unit"].role) == ("id", "ignore")  # as they were inferred
    report = examined(frame, schema)
    assert report.open() == ()
    assert [(f.code, f.columns, f.severity, f.mends) for f in report.settled()] == [
        ("identifier", ("who",), "note", ()),
        ("constant", ("unit",), "note", ()),
    ]


def test_whole_numbers_that_are_no_identifier() -> None:
    amounts = rng().choice(90_000, N, replace=False)  # all different, of many lengths, in no order
    assert not found(*table(cost=amounts), "identifier")
    mostly = np.array([f"K{i % 216}" for i in range(N)], dtype=object)  # 216 of 240: 90 % different
    frame, schema = table(who=mostly)
    assert not found(frame, as_feature(frame, schema, "who"), "identifier")


def test_constant_and_nearly_constant() -> None:
    frame, schema = table(unit=["cm"] * N, odd=["x"] * (N - 2) + ["z"] * 2, less=["x"] * (N - 3) + ["z"] * 3)
    schema = as_feature(frame, schema, "unit")
    check("constant", frame, schema, "unit")
    finding = check("nearly-constant", frame, schema, "odd")
    assert (finding.severity, finding.rows, finding.evidence[0][1]) == ("note", (238, 239), 2)
    assert not [f for f in found(frame, schema, "nearly-constant") if f.columns == ("less",)]  # 98.75 %


def test_spellings() -> None:
    skin = np.array(["yes", "no"], dtype=object)[rng().integers(0, 2, N)]
    skin[:3] = ["Yes", " yes", "ｙｅｓ"]
    frame, schema = table(ripe=skin)
    finding = check("spellings", frame, schema)
    assert finding.severity == "warning"
    mended, kinds = repaired(frame, schema, finding.mends[:1])  # type: ignore[arg-type]
    assert kinds["ripe"].levels == ("no", "yes")
    assert set(mended["ripe"]) == {"no", "yes"}
    assert frame["ripe"][0] == "Yes"  # the table itself is not touched
    assert not found(*table(ripe=np.array(["yes", "yes!"], dtype=object)[np.arange(N) % 2]), "spellings")


def test_mixed_types() -> None:
    cells = sound()["size"].astype(object)
    cells[[4, 8]] = ["n.d.", "?"]
    frame, schema = table(dose=cells)
    schema = schema.with_variable(replace(schema["dose"], role="feature", kind="categorical"))
    finding = check("mixed-types", frame, schema)
    assert finding.rows == (4, 8)
    mended, kinds = repaired(frame, schema, [Repair("text-missing", "dose")])
    assert (kinds["dose"].kind, int(mended["dose"].isna().sum())) == ("continuous", 2)
    children = np.array(["0", "1", "2", "3+"], dtype=object)[np.arange(N) % 4]
    assert not found(*table(children=children), "mixed-types")


@pytest.mark.slow
def test_dates_and_their_days() -> None:
    days = pd.Timestamp("2024-02-28") + pd.to_timedelta(np.arange(N) % 90, unit="D")
    frame, schema = table(when=days.strftime("%Y-%m-%d").to_numpy(dtype=object))
    schema = as_feature(frame, schema, "when")
    assert check("date", frame, schema).severity == "warning"
    mended, _kinds = repaired(frame, schema, [Repair("days", "when")])
    assert mended["when"][:3].tolist() == [0.0, 1.0, 2.0]
    frame, schema = table(when=days)
    assert schema["when"].kind == "date"
    assert check("date", frame, schema).severity == "note"


def test_texts() -> None:
    words = ["win", "a", "prize", "now", "call", "lunch", "noon", "at", "the", "office", "today", "or", "never"]
    random = rng()
    said = np.array([" ".join(random.choice(words, 9)) for _ in range(N)], dtype=object)
    frame, schema = table(said=said)
    assert schema["said"].kind == "text"
    assert check("text", frame, schema).severity == "note"
    levels = schema.with_variable(replace(schema["said"], kind="categorical", role="feature", levels=tuple(set(said))))
    assert check("text", frame, levels).severity == "warning"
    assert not found(*table(where=np.array(["New York City", "Rome"], dtype=object)[np.arange(N) % 2]), "text")


@pytest.mark.parametrize(("levels", "said"), [(60, True), (48, False)])
def test_high_cardinality(levels: int, said: bool) -> None:
    frame, schema = table(city=np.array([f"c{i % levels}" for i in range(N)], dtype=object))
    assert bool(found(frame, schema, "high-cardinality")) == said  # 4 rows a level, and 5
    if said:
        finding = check("high-cardinality", frame, schema)
        assert finding.evidence[1][1] == 4.0


@pytest.mark.slow
def test_numbers_that_are_codes() -> None:
    random = rng()
    code = random.integers(1, 6, N)
    y = np.where((code % 2 == 0) ^ (random.random(N) < 0.1), "a", "b").astype(object)
    check("codes", *table(town=code, y=y))
    y = np.where(code + random.normal(size=N) > 3, "a", "b").astype(object)
    assert not found(*table(grade=code, y=y), "codes")  # an amount: the more, the likelier


def test_missing_cells() -> None:
    cells = sound()["size"]
    half, less = cells.copy(), cells.copy()
    half[: N // 2], less[: N // 2 - 1] = np.nan, np.nan
    frame, schema = table(half=half, less=less)
    finding = check("missing", frame, schema)
    assert finding.columns == ("half",)
    assert finding.evidence[0][1] == 120


def test_missing_that_tells_of_the_class() -> None:
    data = sound()
    gone = np.where(data["y"] == "a", np.arange(N) % 4 == 0, np.arange(N) % 24 == 1)  # 60 of 120, 10 of 120
    skin, size = data["skin"].copy(), data["size"].copy()
    skin[gone], size[gone] = None, np.nan
    frame, schema = table(coat=skin, girth=size)
    finding = check("missing-tells", frame, schema, "coat")
    assert isinstance(finding.mends[0], SetParameter)
    counts = pd.crosstab(frame["coat"].isna(), frame["y"]).to_numpy()
    chi2 = stats.chi2_contingency(counts, correction=False).statistic
    assert finding.evidence[0][1] == pytest.approx(chi2, abs=0.005)
    assert finding.evidence[2][1] == pytest.approx(np.sqrt(chi2 / N), abs=0.0005)
    check("missing-tells", frame, schema, "girth")
    skin = data["skin"].copy()
    skin[np.arange(N) % 8 < 2] = None  # the same share in both
    assert not found(*table(coat=skin), "missing-tells")


@pytest.mark.slow
@pytest.mark.parametrize("value", [-1.0, 0.0, 999.0, -99.0])
def test_sentinels(value: float) -> None:
    height = 170.0 + 8.0 * rng().normal(size=N).round(2)
    height[[2, 5, 11]] = value
    frame, schema = table(height=height)
    finding = check("sentinel", frame, schema)
    assert finding.rows == (2, 5, 11)
    assert finding.mends[0] == Repair("value-missing", "height", value)
    assert [f.code for f in examined(frame, schema).open()] == ["sentinel"]  # not its skew as well


def test_numbers_that_are_no_sentinel() -> None:
    age = rng().integers(0, 100, N).astype(float)
    age[:4] = [99.0, 99.0, 0.0, 0.0]
    assert not found(*table(age=age), "sentinel")


@pytest.mark.parametrize(("times", "said"), [(10.5, True), (9.5, False)])
def test_outliers(times: float, said: bool) -> None:
    x = rng().normal(size=N)
    middle = np.median(x)
    x[17] = middle + times * 1.4826 * np.median(np.abs(x - middle))
    frame, schema = table(girth=x)
    assert bool(found(frame, schema, "outliers")) == said
    if said:
        assert check("outliers", frame, schema).rows == (17,)


def test_a_product_has_no_outliers() -> None:
    random = rng()
    income = 10.0 ** (4.0 + 0.7 * random.normal(size=N))  # beyond ten robust sd, and not in its logarithm
    assert not found(*table(income=income), "outliers")


# pairs ----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_columns_that_stand_twice() -> None:
    data = sound()
    inches = (data["size"] / 2.54 + 3.0).round(3)
    names = np.vectorize({"dull": "matt", "crisp": "knackig", "soft": "weich"}.get)(data["skin"]).astype(object)
    frame, schema = table(again=data["mass"], inches=inches, haut=names)
    said = {frozenset(f.columns): f for f in found(frame, schema, "duplicate-column")}
    assert set(said) == {frozenset(p) for p in (("again", "mass"), ("inches", "size"), ("haut", "skin"))}
    for column in ("again", "inches", "haut"):
        check("duplicate-column", frame, schema, column)
    near = (data["size"] / 2.54).round(1)  # rounded so that 1 − r² is more than 1e-4
    assert not found(*table(near=near), "duplicate-column")


def test_two_columns_of_few_rows_agree_by_chance() -> None:
    frame = pd.DataFrame({"a": list("xyxyx"), "b": list("pqpqp"), "y": list("uvvuv")})
    assert not found(frame, Schema.infer(frame).with_role("y", "target"), "duplicate-column")


def test_rows_that_stand_twice() -> None:
    frame, schema = table()
    few = pd.concat([frame, frame[:2]], ignore_index=True)
    assert not found(few, schema, "duplicate-rows")  # less than one in a hundred
    more = pd.concat([frame, frame[:3]], ignore_index=True)
    finding = check("duplicate-rows", more, schema)
    assert finding.rows == (240, 241, 242)
    coarse = pd.DataFrame({"a": ["x", "z"] * 50, "b": ["p"] * 50 + ["q"] * 50, "y": list("uuvv") * 25})
    assert not found(coarse, Schema.infer(coarse), "duplicate-rows")  # four kinds of rows must come again


def test_collinearity_is_the_inverse_of_the_correlations() -> None:
    random = rng()
    y = np.arange(N) % 2
    a, b = random.normal(size=(2, N)) + 3.0 * y
    c = a + b + 0.2 * random.normal(size=N)
    frame, schema = table(a=a, b=b, c=c)
    result = inflation(examined_table(frame, schema))
    assert result is not None
    columns = frame[list(result.names)]
    centred = columns - columns.groupby(frame["y"]).transform("mean")
    inverse = np.linalg.inv(np.corrcoef(centred.to_numpy().T))
    np.testing.assert_allclose(result.vif, np.diag(inverse), rtol=1e-6)
    assert found(frame, schema, "collinear")[0].columns[0] == "c"
    check("collinear", frame, schema)
    apart = frame.assign(c=a + b + 0.75 * random.normal(size=N))
    assert not found(apart, schema, "collinear")


@pytest.mark.slow
def test_dependence_of_levels_given_the_class() -> None:
    random = rng()
    skin = sound()["skin"]
    same = np.where(random.random(N) < 0.8, skin, "soft").astype(object)
    frame, schema = table(touch=same)
    finding = check("dependence", frame, schema)
    assert set(finding.columns) == {"skin", "touch"}
    information, degrees = 0.0, 0
    for _label, rows in frame.groupby("y"):
        counts = pd.crosstab(rows["skin"], rows["touch"]).to_numpy()
        g = stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood")
        information, degrees = information + g.statistic / (2 * N), degrees + g.dof
    assert finding.evidence[0][1] == pytest.approx(information - degrees / (2 * N), abs=6e-4)
    assert not found(*table(touch=np.where(random.random(N) < 0.15, skin, "soft").astype(object)), "dependence")


@pytest.mark.parametrize(("r", "said"), [(0.85, True), (0.6, False)])
def test_dependence_of_numbers_given_the_class(r: float, said: bool) -> None:
    random = rng()
    data = sound()
    size = data["size"] - (data["y"] == "b")
    frame, schema = table(girth=r * size + np.sqrt(1 - r * r) * random.normal(size=N))
    assert bool(found(frame, schema, "dependence")) == said
    if said:
        finding = check("dependence", frame[["girth", "size", "mass", "y"]], Schema(schema.variables[:1]
                        + tuple(schema[n] for n in ("size", "mass", "y"))))  # fmt: skip
        assert {m.family for m in finding.mends if isinstance(m, AddModel)} == {"lda", "qda", "tan"}
        [shared] = dependences(examined_table(frame, schema), 0.3)[1]
        lost = 0.0
        for _label, rows in frame.groupby("y"):
            lost -= 0.5 * np.log(1.0 - np.corrcoef(rows["girth"], rows["size"])[0, 1] ** 2) * len(rows) / N
        assert shared.nats == pytest.approx(lost - 2 / (2 * N))


# classes --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_leaks_and_copies_of_the_target() -> None:
    data = sound()
    copy = np.where(data["y"] == "a", "yes", "no").astype(object)
    late = (data["y"] == "a") * 10.0 + rng().normal(size=N)  # what is only known afterwards
    frame, schema = table(copy=copy, late=late)
    assert check("copy-of-target", frame, schema).columns == ("copy",)
    finding = check("leak", frame, schema)
    assert (finding.columns, finding.severity, finding.evidence[0][1], finding.evidence[1][1]) == (
        ("late",),
        "serious",
        0,
        120,
    )
    assert finding.evidence[3][1] == pytest.approx(np.log(2), abs=5e-5)
    copy[:3] = ["no", "yes", "no"]  # 3 of 120 errors are left: 2.5 %
    assert not found(*table(copy=copy), "leak")
    copy[:2] = data["y"][:2] == "a"
    assert errors_alone(np.arange(N), np.arange(N) % 2, 2) >= N // 2  # an identifier fools nobody


def test_neighbours_without_themselves() -> None:
    x = np.array([1.0, 1.1, 5.0, 5.0, 4.9, np.nan])
    assert levels_of_numbers(x).tolist() == [0, 0, 1, 1, 1, -1]
    assert errors_alone(levels_of_numbers(x), np.array([0, 0, 1, 1, 1, 0]), 2) == 1  # the missing one


@pytest.mark.slow
@pytest.mark.parametrize(("rare", "code"), [(1, "single-row-class"), (4, "rare-class"), (5, None)])
def test_rare_classes(rare: int, code: str | None) -> None:
    y = sound()["y"].copy()
    y[:rare] = "z"
    frame, schema = table(y=y)
    assert {f.code for f in examined(frame, schema).findings} & {"single-row-class", "rare-class"} == {code} - {None}
    if code:
        assert check(code, frame, schema).evidence[0][1] == rare  # so many folds


@pytest.mark.parametrize(("rare", "said"), [(24, True), (25, False)])  # 216 : 24 = 9
def test_imbalance(rare: int, said: bool) -> None:
    y = np.array(["common"] * (N - rare) + ["rare"] * rare, dtype=object)
    frame, schema = table(y=y)
    assert bool(found(frame, schema, "imbalance")) == said
    if said:
        [mend] = check("imbalance", frame, schema).mends
        assert isinstance(mend, BalanceLosses)
        assert dict(mend.cost) == {"common": 240 / (2 * 216), "rare": 240 / (2 * 24)}


@pytest.mark.slow
def test_zero_cells_of_the_watermelons() -> None:
    data = load_dataset("watermelon2")
    finding = check("zero-cells", data.frame, data.schema)
    by_hand = 0
    for name in data.schema.features.names:
        counts = pd.crosstab(data.frame[name], data.frame["好瓜"])
        by_hand += int((counts == 0).to_numpy().sum())
    assert finding.evidence[0][1] == by_hand == 4
    assert not found(data.frame, data.schema, "zero-cells", ModelInUse("naive-bayes", PRESETS["laplace"]))
    assert found(data.frame, data.schema, "zero-cells", ModelInUse("naive-bayes", {"smoothing": "all", "alpha": 0.0}))


def test_a_needle() -> None:
    data = sound()
    size = np.where(data["y"] == "a", 0.5, data["size"])
    frame, schema = table(size=size)
    finding = check("tiny-variance", frame, schema)
    assert finding.evidence[0][1] == 0.0
    size = np.where(data["y"] == "a", 0.5 + 0.01 * data["mass"], data["size"])
    assert not found(*table(size=size), "tiny-variance")


@pytest.mark.slow
def test_skew_tails_and_other_shapes() -> None:
    random = rng()
    n = 600
    normal = stats.norm.ppf((np.arange(n) + 0.5) / n)
    frame, schema = table(
        n,
        lognormal=10.0 ** (0.5 * random.normal(size=n)),
        tails=random.permuted(np.sign(normal) * np.abs(normal) ** 2.5),
        peaks=np.where(random.random(n) < 0.5, -3.0, 3.0) + random.normal(size=n),
    )
    skew = check("skew", frame, schema, "lognormal")
    assert "logarithm" in str(skew.message)
    by_class = [stats.skew(rows["lognormal"]) for _label, rows in frame.groupby("y")]
    assert skew.evidence[0][1] == pytest.approx(np.mean(by_class), abs=0.005)
    check("heavy-tails", frame, schema, "tails")
    check("not-normal", frame, schema, "peaks")
    assert not {f.columns[0] for f in examined(frame, schema).findings} & {"size", "mass"}


def test_many_rows_alone_make_no_finding() -> None:
    random = rng()
    n = 20_000
    nearly = random.normal(size=n)
    nearly += 0.1 * nearly**2  # rejected for sure, and harmless
    frame, schema = table(n, nearly=nearly)
    assert stats.normaltest(nearly[frame["y"] == "a"]).pvalue < 1e-6
    assert not found(frame, schema, "not-normal")


def test_rounding_is_no_shape() -> None:
    x = rng().normal(size=2000)
    for digits in (0, 1, 3):
        assert _shape([x.round(digits)]).lost[0] < 0.01


def test_box_m_asks_for_qda() -> None:
    random = rng()
    data = sound(600)
    wide = np.where(data["y"] == "a", 0.3, 3.0)
    frame = pd.DataFrame({"u": wide * random.normal(size=600), "v": wide * random.normal(size=600), "y": data["y"]})
    schema = Schema.infer(frame).with_role("y", "target")
    check("covariances", frame, schema)
    result = covariances(examined_table(frame, schema))
    assert result is not None
    own = [rows[["u", "v"]].cov().to_numpy() for _label, rows in frame.groupby("y")]
    m = 598 * np.linalg.slogdet(sum(own) / 2)[1] - 299 * sum(np.linalg.slogdet(s)[1] for s in own)
    assert result.box.m == pytest.approx(m)
    assert result.gain == pytest.approx((m / 2 - 1.5 * np.log(600)) / 600)
    assert not found(*table(), "covariances")


# the whole ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_findings_stand_worst_first_and_speak() -> None:
    data = sound()
    frame, schema = table(copy=data["y"], again=data["skin"], who=np.arange(N))
    report = examine(frame, as_feature(frame, schema, "who"))
    order = [f.severity for f in report.findings]
    assert order == sorted(order, key=["serious", "warning", "note"].index)
    assert {f.code for f in report.findings} >= {"copy-of-target", "duplicate-column", "identifier"}


def test_without_a_target_columns_are_looked_at() -> None:
    frame, schema = table(unit=["cm"] * N)
    schema = as_feature(frame, schema.with_role("y", "ignore"), "unit")
    report = examine(frame, schema)
    assert [f.code for f in report.findings] == ["constant"]
    assert report.suggestions == ()


def test_parts_are_as_good_as_the_table() -> None:
    frame, schema = table(again=sound()["skin"])
    whole, parts = examine(frame, schema), examine(take_apart(frame, schema))
    assert [f.message for f in whole.findings] == [f.message for f in parts.findings]


def test_many_rows_are_sampled_and_that_is_said() -> None:
    n = SAMPLE + 5000
    data = {"x": rng().normal(size=n), "y": np.array(["a", "b"], dtype=object)[np.arange(n) % 2]}
    frame = pd.DataFrame(data)
    frame.loc[n - 1, "x"] = np.inf  # infinite cells are looked for everywhere
    frame.loc[:2, "y"] = "rare"
    report = examine(frame, Schema.infer(frame).with_role("y", "target"))
    assert (report.rows, report.looked_at) == (n, SAMPLE)
    assert report.sampled is not None
    assert "25,000" in str(report.sampled)
    assert [f.rows for f in report.findings if f.code == "infinite"] == [(n - 1,)]
    assert "rare-class" in {f.code for f in report.findings}  # classes are counted in all rows
    again = examine(frame, Schema.infer(frame).with_role("y", "target"))
    assert again.findings == report.findings


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_tables_of_next_to_nothing(n: int) -> None:
    frame, schema = table()
    assert isinstance(examine(frame[:n], schema), Report)


def test_columns_of_nothing() -> None:
    frame, schema = table(gap=np.full(N, np.nan), none=np.full(N, None, dtype=object))
    schema = schema.with_variable(replace(schema["gap"], kind="continuous", role="feature"))
    schema = schema.with_variable(replace(schema["none"], kind="categorical", role="feature"))
    assert {f.columns[0] for f in examined(frame, schema).findings if f.code == "constant"} == {"gap", "none"}


# suggestions ----------------------------------------------------------------------------------------------------------


def fitted(model: AddModel, frame: pd.DataFrame, schema: Schema) -> Any:
    parameters = dict(model.parameters)
    if "likelihoods" in parameters:
        parameters["likelihoods"] = {schema.features.names[at]: name for at, name in parameters["likelihoods"]}
    preset = PRESETS[model.preset] if model.family == "naive-bayes" else {}
    X, y = frame[list(schema.features.names)], frame[schema.target.name]  # type: ignore[union-attr]
    return FAMILIES[model.family](schema=schema, **{**preset, **parameters}).fit(X, y)


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize(
    "name", ["iris", "watermelon2", "loan", "penguins", *map(slowly, ["watermelon3", "three-attributes", "wine"])]
)
def test_three_models_that_can_be_fitted(name: str) -> None:
    data = load_dataset(name)
    suggestions = examine(data.frame, data.schema).suggestions
    assert len({s.model for s in suggestions}) == 3
    for s in suggestions:
        model = fitted(s.model, data.frame, data.schema)
        assert any(ch.isdigit() for ch in str(s.reason)), s.reason  # facts, with numbers
        if s.error is not None:
            target = data.schema.target
            assert target is not None
            X, y = data.frame[list(data.schema.features.names)], data.frame[target.name]
            decided = model.classes_[model.leave_one_out_log_proba(X, y).argmax(axis=1)]
            assert s.error == pytest.approx(float(np.mean(decided != y.to_numpy())))


@pytest.mark.slow
def test_what_is_suggested_follows_the_table() -> None:
    iris = load_dataset("iris")
    assert examine(iris.frame, iris.schema).suggestions[0].model == AddModel("lda")
    penguins = load_dataset("penguins")
    assert not {s.model.family for s in examine(penguins.frame, penguins.schema).suggestions} & {"lda", "qda"}
    mushroom = load_dataset("mushroom")
    assert examine(mushroom.frame, mushroom.schema).suggestions[0].model.family in ("tan", "aode")


@pytest.mark.slow
@pytest.mark.parametrize(("odd", "says"), [(1, "1 column of numbers, 'a', is"), (2, "2 of 3 columns of numbers are")])
def test_one_odd_column_is_not_spoken_of_as_many(odd: int, says: str) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(400, 3))
    numbers[:, :odd] = np.exp(2.0 * numbers[:, :odd])
    frame = pd.DataFrame(numbers, columns=list("abc")).assign(y=["no", "yes"] * 200)
    reasons = [str(s.reason) for s in examine(frame, Schema.from_dtypes(frame).with_role("y", "target")).suggestions]
    assert any(says in reason for reason in reasons), reasons


def test_texts_are_read_by_naive_bayes_alone() -> None:
    mails = pd.DataFrame({"text": ["win a prize now", "lunch at noon then"] * 20, "y": ["spam", "ham"] * 20})
    schema = Schema.from_dtypes(mails).with_role("y", "target")
    schema = schema.with_variable(replace(schema["text"], kind="text", levels=(), text=TextRule()))
    suggestions = examine(mails, schema).suggestions
    assert len(suggestions) == 3
    assert {s.model.family for s in suggestions} == {"naive-bayes"}


# one small table for each check ---------------------------------------------------------------------------------------

X50, ANGLES = np.sin(np.arange(50.0)), np.arange(60.0)
SMALL: tuple[tuple[Any, dict[str, Any], str, tuple[str, ...]], ...] = (
    (cells.infinite, {"x": [1.0, np.inf, 3.0]}, "infinite", ("x",)),
    (columns.identifiers, {"case": [f"A{i}" for i in range(20)], "x": [1.0, 2.0] * 10}, "identifier", ("case",)),
    (columns.constants, {"unit": ["cm"] * 20, "x": [1.0, 2.0] * 10}, "constant", ("unit",)),
    (cells.spellings, {"city": ["Rome", "Oslo", "rome ", "Rome"] * 5}, "spellings", ("city",)),
    (cells.mixed_types, {"x": [*map(str, range(30)), "about 7"]}, "mixed-types", ("x",)),
    (cells.dates, {"day": ["2024-01-02", "2024-01-03", "2024-02-01"]}, "date", ("day",)),
    (columns.texts, {"note": [f"this is the long note number {i}" for i in range(30)]}, "text", ("note",)),
    (columns.cardinality, {"shop": [f"s{i % 12}" for i in range(40)]}, "high-cardinality", ("shop",)),
    (columns.codes, {"x": [1.0, 2.0, 3.0] * 40, "y": ["b", "a", "b"] * 40}, "codes", ("x",)),
    (columns.missing, {"x": [1.0, None, None, None]}, "missing", ("x",)),
    (cells.sentinels, {"age": [*np.arange(20.0, 60.0), 999.0, 999.0]}, "sentinel", ("age",)),
    (cells.outliers, {"size": [*np.arange(160.0, 190.0), 1750.0]}, "outliers", ("size",)),
    (classes.sizes, {"x": np.arange(100.0), "y": ["no"] * 97 + ["yes"] * 3}, "rare-class", ("y",)),
    (classes.sizes, {"x": np.arange(100.0), "y": ["no"] * 97 + ["yes"] * 3}, "imbalance", ("y",)),
    (
        leaks.leaks,
        {"paid": ["a", "b"] * 40, "x": np.arange(80.0) % 7, "y": ["no", "yes"] * 40},
        "copy-of-target",
        ("paid",),
    ),
    (duplicates.duplicate_columns, {"cm": X50, "inch": X50 / 2.54}, "duplicate-column", ("inch", "cm")),
    (duplicates.duplicate_rows, {"x": [*X50, *X50[:5]], "y": [*X50, *X50[:5]]}, "duplicate-rows", ()),
    (
        pairs.collinear,
        {
            "a": np.sin(ANGLES),
            "b": np.cos(ANGLES**2),
            "sum": np.sin(ANGLES) + np.cos(ANGLES**2) + 0.01 * np.sin(ANGLES) * np.cos(ANGLES**2),
        },
        "collinear",
        ("sum", "a", "b"),
    ),
    (
        pairs.dependent,
        {"a": ["x", "y"] * 30, "b": ["u", "v"] * 30, "y": ["p", "p", "q"] * 20},
        "dependence",
        ("a", "b"),
    ),
    (
        pairs.indicators,
        {**{name: np.arange(60) % 3 == j for j, name in enumerate("abc")}, "y": ["u", "v"] * 30},
        "dependence",
        ("a", "b", "c"),
    ),
)
SAID = {
    "constant": "'unit' has the same value in every row: it carries no information about the class.",
    "spellings": (
        "1 level of 'city' differs from others only in case, blanks or the width of letters, such as 'Rome' and "
        "'rome '."
    ),
    "mixed-types": "'x' holds numbers except in 1 cell, such as 'about 7', because of which it is read as text.",
    "high-cardinality": "'shop' has 12 levels in 40 rows, 3.3 rows each: too few to estimate anything from.",
    "missing": "'x' is missing in 75% of the rows.",
}


@pytest.mark.parametrize(("check", "cells", "code", "names"), SMALL)
def test_each_check_alone(check: Any, cells: dict[str, Any], code: str, names: tuple[str, ...]) -> None:
    frame = pd.DataFrame(cells)
    schema = Schema.from_dtypes(frame)
    if isinstance(cells.get("y"), list) and isinstance(cells["y"][0], str):
        schema = schema.with_role("y", "target")
    (finding,) = (f for f in check(examined_table(frame, schema)) if f.code == code)
    assert finding.columns == names
    assert str(finding.message) == SAID.get(code, str(finding.message))
    assert finding.rows == {"infinite": (1,), "outliers": (30,)}.get(code, finding.rows)
    if code == "sentinel":
        assert finding.mends[0] == Repair("value-missing", "age", 999.0)
    if code == "duplicate-rows":
        assert finding.evidence[0][1] == 5


@pytest.mark.parametrize(
    ("check", "name", "code", "names"),
    [
        (classes.zero_cells, "play-tennis", "zero-cells", ("outlook",)),
        (normality.forms, "wine", "not-normal", ("malic acid",)),
        (normality.unequal_covariances, "breast-cancer", "covariances", None),
    ],
)
def test_each_check_of_a_class_alone(check: Any, name: str, code: str, names: tuple[str, ...] | None) -> None:
    data = load_dataset(name)
    (finding,) = check(examined_table(data.frame, data.schema))
    assert finding.code == code
    assert finding.columns == (names or data.schema.features.names)
    assert code != "zero-cells" or finding.evidence[0][1] == 1
