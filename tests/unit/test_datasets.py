"""The embedded data sets: every TOML keeps its format, every CSV keeps to its TOML, and the counts are the books'."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_engine import datasets
from bayes_engine.dataset_toml import parse_cover, parse_info
from bayes_engine.datasets import Dataset, dataset_cover, dataset_info, dataset_names, datasets_folder, load_dataset
from bayes_engine.errors import BayesEngineError, TableError

ROWS_AND_MISSING = {
    "watermelon3a": (17, 0),
    "watermelon3": (17, 0),
    "watermelon2": (17, 0),
    "loan": (10, 0),
    "three-attributes": (5, 0),
    "play-tennis": (14, 0),
    "iris": (150, 0),
    "penguins": (344, 19),
    "wine": (178, 0),
    "breast-cancer": (569, 0),
    "mushroom": (8124, 2480),
    "spam-words": (600, 0),
    "german-credit": (1000, 0),
    "digits": (1797, 0),
    "sms-spam": (600, 0),
    "sms-spam-zh": (120, 0),
}
FOLDER = Path(__file__).parents[2] / "datasets"


@pytest.fixture(params=dataset_names())
def dataset(request: pytest.FixtureRequest) -> Dataset:
    return load_dataset(request.param)


# --- every data set -------------------------------------------------------------------------------------------------


def test_the_gallery_shows_every_file_once_and_in_its_order() -> None:
    names = dataset_names()
    for ending in ("csv", "toml"):
        assert sorted(names) == sorted(path.stem for path in FOLDER.glob(f"*.{ending}"))
    assert [name for name in names if name in ROWS_AND_MISSING] == list(ROWS_AND_MISSING)


def test_the_folder_stays_small() -> None:
    assert sum(p.stat().st_size for p in FOLDER.iterdir()) < 2e6


@pytest.mark.parametrize("name", ROWS_AND_MISSING)
def test_rows_and_missing_cells(name: str) -> None:
    frame = load_dataset(name).frame
    assert (len(frame), int(frame.isna().to_numpy().sum())) == ROWS_AND_MISSING[name]


def test_source_and_licence_are_stated(dataset: Dataset) -> None:
    info = dataset.info
    assert len(info.source) > 20
    assert any(known in info.licence for known in ("CC BY 4.0", "CC0 1.0", "facts"))
    assert info.url.startswith("https://doi.org/") or "CC BY" not in info.licence


def test_a_licence_is_told_in_chinese_too_and_keeps_its_name(dataset: Dataset) -> None:
    told = dataset.info.text("licence", "zh")
    assert [*re.findall(r"CC[A-Z0-9. ]+\d", told)] == [*re.findall(r"CC[A-Z0-9. ]+\d", dataset.info.licence)]
    assert re.fullmatch(r"CC0 1\.0", told) or re.search(r"[一-鿿]", told)


def test_the_schema_and_the_frame_say_the_same(dataset: Dataset) -> None:
    assert [v.name for v in dataset.schema] == list(dataset.frame.columns)
    for variable, column in zip(dataset.schema, dataset.info.columns, strict=True):
        values = dataset.frame[variable.name]
        assert (variable.kind, variable.role, variable.levels) == (column.kind, column.role, column.levels)
        assert variable.declared == isinstance(values.dtype, pd.CategoricalDtype) == bool(variable.levels)
        if variable.declared:
            assert tuple(values.cat.categories) == variable.levels
            assert not values.cat.ordered
        elif variable.kind == "continuous":
            assert values.dtype == np.float64


def test_every_class_has_rows_and_no_target_is_missing(dataset: Dataset) -> None:
    target = dataset.frame[dataset.info.target]
    assert target.notna().all()
    assert target.value_counts().min() > 0


def test_words_are_there_in_both_languages(dataset: Dataset) -> None:
    info = dataset.info
    told = [info, info.loss, *info.cases, *info.columns, *info.errata]
    for thing in told:
        for name in ("title", "question", "summary", "story", "unit", "note", "meaning"):
            if hasattr(thing, f"{name}_zh") and getattr(thing, name):
                chinese = thing.text(name, "zh")
                assert any("\u4e00" <= sign <= "\u9fff" for sign in chinese), (name, chinese)
                assert thing.text(name, "en") == getattr(thing, name)
    assert info.cases


def test_chinese_tables_have_english_labels_throughout() -> None:
    for name in ("watermelon2", "watermelon3", "watermelon3a", "sms-spam-zh"):
        data = load_dataset(name)
        for column in data.info.columns:
            assert data.label(column.name, "en").isascii()
            assert all(data.level_label(column.name, level, "en").isascii() for level in column.levels)
            assert data.label(column.name, "zh") == column.name


def test_labels_fall_back_to_the_file() -> None:
    tennis = load_dataset("play-tennis")
    assert tennis.label("wind", "en") == "wind"
    assert tennis.label("wind", "zh") == "风"
    assert tennis.level_label("wind", "strong", "zh") == "强"
    assert tennis.level_label("wind", "a gale", "zh") == "a gale"
    assert load_dataset("three-attributes").level_label("A1", 1, "zh") == "1"


def test_the_loss_of_each_story_is_a_decision_problem(dataset: Dataset) -> None:
    """The right decision costs least under every truth, and a wrong one costs something."""
    loss = dataset.info.loss
    table = np.array(loss.table)
    assert table.shape == (len(loss.actions), len(loss.classes))
    for j, truth in enumerate(loss.classes):
        right = loss.actions.index(truth)
        assert table[right, j] == 0
        assert (np.delete(table[:, j], right) > 0).all()
    assert len({dataset.action_label(action, "zh") for action in loss.actions}) == len(loss.actions)


# --- what the books print -------------------------------------------------------------------------------------------


def test_watermelon_counts() -> None:
    frame = load_dataset("watermelon3").frame
    good, bad = frame[frame["好瓜"] == "是"], frame[frame["好瓜"] == "否"]
    query = {"色泽": "青绿", "根蒂": "蜷缩", "敲声": "浊响", "纹理": "清晰", "脐部": "凹陷", "触感": "硬滑"}
    assert [int((good[c] == v).sum()) for c, v in query.items()] == [3, 5, 6, 7, 5, 6]
    assert [int((bad[c] == v).sum()) for c, v in query.items()] == [3, 3, 4, 2, 2, 6]
    assert (len(good), len(bad), int((good["敲声"] == "清脆").sum())) == (8, 9, 0)
    assert good["密度"].mean() == pytest.approx(0.57375)
    assert good["密度"].std() == pytest.approx(0.12921, abs=5e-6)


def test_the_three_watermelon_tables_are_one() -> None:
    full = load_dataset("watermelon3").frame
    for name in ("watermelon2", "watermelon3a"):
        part = load_dataset(name).frame
        pd.testing.assert_frame_equal(part, full[list(part.columns)])


def test_errata_of_watermelon_point_at_their_numbers() -> None:
    errata = dataset_info("watermelon3").errata
    assert [(e.column, e.level, e.class_, e.step) for e in errata] == [
        ("脐部", "凹陷", "是", ""),
        ("", "", "是", "joint"),
        ("", "", "否", "joint"),
        ("密度", "", "是", "mean"),
        ("密度", "", "是", "density"),
    ]
    assert [(e.printed, e.right) for e in errata][:4] == [
        ("6/8 = 0.750", "5/8 = 0.625"),
        ("0.063", "0.052"),
        ("6.80e-05", "6.858e-05"),
        ("0.547", "0.574"),
    ]


def test_loan_as_printed() -> None:
    printed = (FOLDER / "loan.csv").read_text(encoding="utf-8").splitlines()
    assert printed[:2] == ["Tid,Gender,Married,Income,Defaulted", "1,Female,No,125K,No"]
    data = load_dataset("loan")
    assert data.frame["Tid"].tolist() == [str(i) for i in range(1, 11)]
    assert data.info.column("Income").unit == "K"
    income = data.frame.groupby("Defaulted", observed=True)["Income"].agg(["mean", "var"])
    assert income.loc["No"].tolist() == pytest.approx([110, 2975])
    assert income.loc["Yes"].tolist() == pytest.approx([90, 25])
    assert not ((data.frame["Gender"] == "Female") & (data.frame["Defaulted"] == "Yes")).any()


def test_three_attributes_rows() -> None:
    frame = load_dataset("three-attributes").frame.astype(int)
    assert frame.to_numpy().tolist() == [[1, 1, 0, 1], [0, 1, 1, 1], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0]]


def test_play_tennis_joint_of_the_printed_query() -> None:
    """Mitchell, section 6.9.1: .0053 for yes, .0206 for no."""
    data = load_dataset("play-tennis")
    joint = {}
    for answer, days in data.frame.groupby("play", observed=True):
        joint[answer] = len(days) / 14
        for column, value in data.info.cases[0].values.items():
            joint[answer] *= (days[column] == value).mean()
    assert joint == {"yes": pytest.approx(0.0053, abs=5e-5), "no": pytest.approx(0.0206, abs=5e-5)}


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("iris", {"setosa": 50, "versicolor": 50, "virginica": 50}),
        ("wine", {"cultivar 1": 59, "cultivar 2": 71, "cultivar 3": 48}),
        ("breast-cancer", {"malignant": 212, "benign": 357}),
        ("penguins", {"Adelie": 152, "Chinstrap": 68, "Gentoo": 124}),
        ("mushroom", {"edible": 4208, "poisonous": 3916}),
        ("german-credit", {"good": 700, "bad": 300}),
        ("sms-spam", {"ham": 480, "spam": 120}),
        ("sms-spam-zh", {"正常": 64, "垃圾": 56}),
    ],
)
def test_class_counts(name: str, counts: dict[str, int]) -> None:
    data = load_dataset(name)
    assert data.frame[data.info.target].value_counts().to_dict() == counts


@pytest.mark.parametrize("name", ["iris", "wine", "breast-cancer", "digits"])
def test_numbers_are_those_of_scikit_learn(name: str) -> None:
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

    theirs = {"iris": load_iris, "wine": load_wine, "breast-cancer": load_breast_cancer, "digits": load_digits}[name]()
    data = load_dataset(name)
    np.testing.assert_array_equal(data.frame.drop(columns=data.info.target).to_numpy(), theirs.data)
    np.testing.assert_array_equal(data.frame[data.info.target].cat.codes, theirs.target)


def test_pixels_are_the_first_columns_and_cases_are_drawn() -> None:
    data = load_dataset("digits")
    image = data.info.image
    assert image is not None
    assert image.names == tuple(data.frame.columns[:64]) == tuple(v.name for v in data.schema.features)
    assert (image.names[0], image.names[10], image.names[-1]) == ("p00", "p12", "p77")
    assert data.info.column("p12").meaning == "ink in row 1, column 2 (from 0): how many of its 4 × 4 dots are on"
    seven, _, half, stray = data.info.cases
    assert [seven.values[name] for name in image.names] == data.frame.loc[7, list(image.names)].tolist()
    assert set(half.values) == set(image.names[:32])
    assert [name for name in image.names if stray.values[name] != seven.values[name]] == ["p70"]


def test_missing_cells_are_where_they_should_be() -> None:
    penguins = load_dataset("penguins").frame.isna().sum()
    assert penguins[penguins > 0].to_dict() == {
        "bill_length_mm": 2,
        "bill_depth_mm": 2,
        "flipper_length_mm": 2,
        "body_mass_g": 2,
        "sex": 11,
    }
    mushroom = load_dataset("mushroom").frame
    assert int(mushroom["stalk-root"].isna().sum()) == 2480
    assert int((mushroom["odor"] == "none").sum()) == 3528
    assert mushroom["veil-type"].nunique() == 1


@pytest.mark.parametrize(("name", "column"), [("sms-spam", "message"), ("sms-spam-zh", "短信")])
def test_messages_are_whole_and_differ(name: str, column: str) -> None:
    messages = load_dataset(name).frame[column]
    assert messages.is_unique
    assert messages.str.len().min() >= 8
    assert not messages.str.contains(r"&lt;|&amp;|[\x80-\x9f\n\t]", regex=True).any()


# --- the loader -----------------------------------------------------------------------------------------------------


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(BayesEngineError, match="'melons' is not known; choose one of: watermelon3a, watermelon3,"):
        load_dataset("melons")


def test_a_loaded_frame_is_ones_own() -> None:
    frame = load_dataset("iris").frame
    frame.loc[0, "sepal length"] = -1.0
    assert load_dataset("iris").frame.loc[0, "sepal length"] == 5.1


def test_an_installed_wheel_uses_the_folder_inside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, beside = tmp_path / "bayes_engine" / "_app" / "datasets", tmp_path / "datasets"
    beside.mkdir()
    monkeypatch.setattr(datasets, "__file__", str(tmp_path / "bayes_engine" / "datasets.py"))
    assert datasets.datasets_folder() == beside
    inside.mkdir(parents=True)
    assert datasets.datasets_folder() == inside


SMALL = """
title = "Fruit"
title_zh = "水果"
question = "q"
question_zh = "q"
summary = "s"
summary_zh = "s"
source = "made up"
licence = "CC0 1.0"
target = "kind"
preset = "laplace"
group = "real"
place = 1
missing = ["?"]

[[columns]]
name = "weight"
kind = "continuous"
meaning = "m"
meaning_zh = "m"
unit = "g"

[[columns]]
name = "kind"
kind = "binary"
role = "target"
meaning = "m"
meaning_zh = "m"
levels = ["NA", "pear"]

[[cases]]
name = "c"
name_zh = "c"
values = { weight = 3 }

[loss]
story = "s"
story_zh = "s"
unit = "u"
unit_zh = "u"
actions = ["NA", "pear", "ask"]
classes = ["NA", "pear"]
table = [[0, 1], [2, 0], [0.5, 0.5]]
actions_zh = { ask = "问" }

[prior_of_use]
priors = { NA = 0.25, pear = 0.75 }
note = "n"
note_zh = "n"

[[errata]]
where = "w"
printed = "p"
right = "r"
note = "n"
note_zh = "n"
column = "kind"
level = "pear"
class = "NA"
step = "mean"
"""


def test_a_small_description_is_read_whole() -> None:
    info = parse_info(SMALL, "fruit.toml")
    assert info.columns[0].unit == "g"
    assert info.loss.table[1] == (2.0, 0.0)
    assert info.prior_of_use is not None
    assert info.prior_of_use.priors == {"NA": 0.25, "pear": 0.75}
    assert info.errata[0].class_ == "NA"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "Fruit"', 'titel = "Fruit"', "key 'titel' is not known here; known keys: title, title_zh"),
        ('unit = "g"', 'units = "g"', r"key 'columns\[0\].units' is not known here"),
        ('licence = "CC0 1.0"\n', "", "key 'licence' is missing"),
        ('story = "s"\n', "", "key 'loss.story' is missing"),
        ("place = 1", 'place = "1"', "key 'place' must be int, not '1'"),
        ("place = 1", "place = true", "key 'place' must be int, not 'True'"),
        ('preset = "laplace"', 'preset = "best"', "key 'preset' must be textbook | laplace"),
        ('missing = ["?"]', 'missing = "?"', "key 'missing' must be a list"),
        ("values = { weight = 3 }", "values = 3", r"key 'cases\[0\].values' must be a table, not '3'"),
        ("{ weight = 3 }", '{ weight = "3" }', "the value does not fit the column's kind"),
        ("{ weight = 3 }", "{ size = 3 }", "there is no such feature"),
        ('target = "kind"', 'target = "weight"', "key 'target': exactly this column"),
        ('kind = "binary"', 'kind = "continuous"', "key 'columns.kind': levels"),
        ('levels = ["NA", "pear"]', 'levels = ["NA", "NA"]', "a level comes twice"),
        ('levels = ["NA", "pear"]', 'levels = ["NA", "pear", "fig"]', "a binary column has two levels"),
        ('levels = ["NA", "pear"]', 'levels = ["NA", "pear"]\nlevels_zh = ["无"]', "one label per level"),
        ('name = "weight"', 'name = "kind"', "a name comes twice"),
        ('classes = ["NA", "pear"]', 'classes = ["NA", "fig"]', "key 'loss.classes': must be the target's levels"),
        (", [0.5, 0.5]", "", "one row per action"),
        ("[2, 0]", "[2]", "one cell per class"),
        ("[2, 0]", "[nan, 0]", "every cell is a number"),
        ('{ ask = "问" }', '{ pear = "梨" }', "names an action that is a class"),
        ("pear = 0.75", "pear = 0.7", "key 'prior_of_use.priors': must sum to 1"),
        ("NA = 0.25, pear = 0.75", "NA = -0.25, pear = 1.25", "a probability is negative"),
        ("NA = 0.25, ", "", "one probability per class"),
        ('column = "kind"', 'column = "size"', r"key 'errata\[0\].column': there is no such column"),
        ('level = "pear"', 'level = "fig"', r"key 'errata\[0\].level': there is no such level"),
        ('class = "NA"', 'class = "fig"', r"key 'errata\[0\].class': there is no such class"),
        ("[loss]", "[loss", "is not valid TOML"),
    ],
)
def test_a_wrong_description_names_the_file_and_the_key(old: str, new: str, said: str) -> None:
    assert SMALL.count(old) >= 1
    with pytest.raises(BayesEngineError, match=said) as caught:
        parse_info(SMALL.replace(old, new, 1), "fruit.toml")
    assert "fruit.toml" in str(caught.value)


DRAWN = """
[image]
rows = 1
cols = 2
top = 3
meaning = "ink at {row}, {col}"
meaning_zh = "第 {row} 行第 {col} 列"

[[cases]]
name = "d"
name_zh = "d"
pixels = [[3, -1]]
"""


def test_a_picture_adds_its_pixels_to_columns_and_cases() -> None:
    info = parse_info(SMALL + DRAWN, "fruit.toml")
    assert [c.name for c in info.columns] == ["p00", "p01", "weight", "kind"]
    assert (info.columns[1].kind, info.columns[1].meaning, info.columns[1].meaning_zh) == (
        "count", "ink at 0, 1", "第 0 行第 1 列"
    )  # fmt: skip
    assert dict(info.cases[1].values) == {"p00": 3}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("rows = 1", "rows = 0", "key 'image': rows, cols and top are at least 1"),
        ("cols = 2", "cols = 2000", "key 'image': rows, cols and top are at least 1, and there are at most 1024"),
        ("rows = 1\n", "", "key 'image.rows' is missing"),
        ("{row}, {col}", "{line}", "key 'image.meaning': only {row} and {col} stand in braces"),
        ("第 {row} 行", "{", "key 'image.meaning': only {row} and {col} stand in braces"),
        ("[[3, -1]]", "[[3]]", r"key 'cases\[1\].pixels': rows × cols numbers"),
        ("[[3, -1]]", "[[3, 4]]", r"key 'cases\[1\].pixels': rows × cols numbers from 0 to top"),
        ("[[3, -1]]", '[["3", 1]]', r"key 'cases\[1\].pixels\[0\]\[0\]' must be int"),
    ],
)
def test_a_picture_that_does_not_fit_is_named(old: str, new: str, said: str) -> None:
    assert DRAWN.count(old) == 1
    with pytest.raises(BayesEngineError, match=said):
        parse_info(SMALL + DRAWN.replace(old, new), "fruit.toml")


def test_pixels_in_a_table_without_pictures_are_refused() -> None:
    with pytest.raises(BayesEngineError, match=r"key 'cases\[0\].pixels': the table has no image"):
        parse_info(SMALL.replace("values = { weight = 3 }", "pixels = [[1]]"), "fruit.toml")


def test_only_the_empty_cell_and_what_is_listed_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "fruit.csv"
    path.write_text("weight,kind\n12g,NA\n,pear\n?,NA\n7.5 g,\n", encoding="utf-8")
    frame = datasets._read_frame(path, parse_info(SMALL, "fruit.toml"))
    assert frame["weight"].tolist() == pytest.approx([12.0, np.nan, np.nan, 7.5], nan_ok=True)
    assert frame["kind"].isna().tolist() == [False, False, False, True]
    assert frame["kind"].tolist()[:3] == ["NA", "pear", "NA"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("weight,sort\n1,NA\n", "the header of 'fruit.csv' is weight, sort, its TOML describes weight, kind"),
        ("weight,kind\n1,NA\n2,fig\n", "'fruit.csv', line 3, column 'kind': 'fig' is not a declared level"),
        ("weight,kind\nheavy,NA\n", "'fruit.csv', line 2, column 'weight': 'heavy' is not a number"),
    ],
)
def test_a_table_that_breaks_its_description_names_the_cell(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "fruit.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match=said):
        datasets._read_frame(path, parse_info(SMALL, "fruit.toml"))


def test_the_cover_of_a_data_set_says_what_the_whole_says() -> None:
    for name in dataset_names():
        cover, info = dataset_cover(name), dataset_info(name)
        assert all(getattr(cover, f.name) == getattr(info, f.name) for f in fields(cover))
    text = (datasets_folder() / "iris.toml").read_text(encoding="utf-8")
    several = re.sub(r"^licence_zh = .*$", 'licence_zh = """\n[1]"""', text, flags=re.MULTILINE)
    assert several != text and parse_cover(several, "iris.toml") == dataset_cover("iris")
    with pytest.raises(BayesEngineError, match=r"'iris\.toml': key 'group' is missing"):
        parse_cover(text.replace("\ngroup", "\ngruppe", 1), "iris.toml")
