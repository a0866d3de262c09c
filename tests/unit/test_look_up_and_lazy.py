"""A compiled table and its file, lazy rows, and what each way costs."""

from __future__ import annotations

import ast
import datetime as dt
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayes_engine import AODE, NaiveBayes, Schema, Variable, load_dataset
from bayes_engine.errors import NotASubset, ParameterError, TableError, UndefinedPosterior, UnseenLevel, listen
from bayes_engine.factors import LOG_2PI
from bayes_engine.models import lazy as lazy_module
from bayes_engine.models.costs import MODES_OF_USE, MOMENTS, costs
from bayes_engine.models.lazy import LazyNaiveBayes
from bayes_engine.models.look_up import LookUp
from bayes_engine.models.look_up_tables import literal
from bayes_engine.models.selective import SelectiveNaiveBayes
from bayes_engine.models.weighted import WeightedNaiveBayes

quiet = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")


@parametrize_with_checks([LazyNaiveBayes(), LazyNaiveBayes(missing="category", unseen="smooth", priors="uniform")])
@quiet
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


def melons() -> tuple[pd.DataFrame, pd.Series, Schema]:
    data = load_dataset("watermelon3")
    return data.frame[list(data.schema.features.names)], data.frame["好瓜"], data.schema.features


def run(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    """The file by itself, far from this library: isolated, without site-packages."""
    path = folder / "made.py"
    path.write_text(source, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-I", "-S", str(path)], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


# the table ------------------------------------------------------------------------------------------------------------


def test_the_frame_holds_the_book_s_numbers() -> None:
    X, y, schema = melons()
    table = LookUp.of(NaiveBayes(schema=schema, smoothing="none", variance="unbiased").fit(X, y))
    frame = table.frame()
    at = frame.set_index(["column", "entry", "class"])["log_p"]
    assert np.exp(at["好瓜", "prior", "是"].item()) == pytest.approx(8 / 17)
    green = frame.query("column == '色泽' and level == '青绿'").set_index("class")["log_p"]
    assert np.exp(green).to_dict() == pytest.approx({"是": 3 / 8, "否": 3 / 9})
    told = table.coefficients().set_index(["column", "class"]).loc[("密度", "是")]
    assert (told["mean"], told["sd"]) == pytest.approx((0.57375, 0.12921), abs=1e-5)  # Zhou, p. 152: 0.574, 0.129
    z = 0.697 - told["pivot"]
    assert np.exp(told["b"] + told["eta1"] * z + told["eta2"] * z**2) == pytest.approx(1.959, abs=1e-3)
    assert told["eta2"] == pytest.approx(-0.5 / told["sd"] ** 2)


def test_a_narrow_class_far_away_keeps_its_digits() -> None:
    X = np.array([[1e6], [1e6 + 1e-6], [-1e6], [2.0], [5.0]])
    model = NaiveBayes(var_floor=1e-30).fit(X, list("aabbb"))
    table = LookUp.of(model)
    np.testing.assert_array_equal(table.predict_joint_log_proba(X), model.predict_joint_log_proba(X))
    (column,) = table.columns
    np.testing.assert_array_equal(column.spread, LOG_2PI + 2.0 * np.log(column.sd))  # type: ignore[union-attr]


def test_the_table_refuses_what_the_model_refuses() -> None:
    X = pd.DataFrame({"a": list("xxyy"), "b": [1.0, 2.0, 4.0, 7.0]})
    careful = LookUp.of(NaiveBayes(unseen="error", missing="error", smoothing="none").fit(X, list("ccdd")))
    with pytest.raises(UnseenLevel, match="column 'a' holds 'z', not seen in training"):
        careful.predict(pd.DataFrame({"a": ["z"], "b": [1.0]}))
    with pytest.raises(TableError, match="column 'b' has a missing cell"):
        careful.predict(pd.DataFrame({"a": ["x"], "b": [np.nan]}))
    with pytest.raises(UndefinedPosterior, match=r"no posterior for 1 row: 1"):
        careful.predict(pd.DataFrame({"a": ["x", "x"], "b": [1.0, np.inf]}))
    with pytest.raises(TableError, match="the schema's column 'b' is not in X"):
        careful.predict(X[["a"]])
    with pytest.raises(TableError, match="the schema has 2 features and X has 1 columns"):
        careful.predict([["x"]])
    turned = X[["b", "a"]].assign(more=0)  # columns go by name
    np.testing.assert_array_equal(careful.predict(turned), careful.predict(X))
    made: dict[str, Any] = {}
    exec(careful.source(), made)  # noqa: S102
    for row, said in (
        ({"a": "z", "b": 1.0}, "'a': 'z' was not seen"),
        ({"a": "x"}, "'b': the cell is missing"),
        ({"a": "x", "b": float("inf")}, "'b': the cell is infinite"),
    ):
        with pytest.raises(ValueError, match=said):
            made["posterior"](row)


@quiet
def test_other_models_and_likelihoods_are_refused_by_name() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match="made of a NaiveBayes, not of AODE"):
        LookUp.of(AODE().fit(X, y))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"column 'x0' has a likelihood \(kernel\) that no table holds"):
        LookUp.of(NaiveBayes(likelihoods="kernel").fit(X, y))
    texts = pd.DataFrame({"words": ["win a prize", "lunch at noon"]})
    with pytest.raises(ParameterError, match=r"column 'words' has a likelihood \(text\)"):
        LookUp.of(NaiveBayes(likelihoods={"words": "multinomial"}).fit(texts, ["spam", "ham"]))
    with pytest.raises(ParameterError, match="column 'words' is a text, of which LazyNaiveBayes keeps no rows"):
        LazyNaiveBayes(likelihoods={"words": "multinomial"}).fit(texts, ["spam", "ham"])


@quiet
@pytest.mark.parametrize("unseen", ["ignore", "smooth", "error"])
def test_weighted_and_selective_models_have_tables_too(unseen: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 90)
    X = pd.DataFrame({"told": np.where(rng.random(90) < 0.8, y, "a"), "noise": rng.choice(list("xyz"), 90)})
    X["size"], X["dust"], X["flat"] = rng.normal(0, 1, 90) + (y == "b"), rng.normal(0, 1, 90), 1.0
    X["told"] = X["told"].mask(rng.random(90) < 0.1)
    inner = NaiveBayes(unseen=unseen)
    stated = WeightedNaiveBayes(inner, weights={"told": 0.5, "noise": 0.0, "dust": 0.0, "size": 0.25})
    for model in (WeightedNaiveBayes(inner), stated, SelectiveNaiveBayes(inner)):
        table = LookUp.of(model.fit(X, y))
        np.testing.assert_allclose(table.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-12)
        made: dict[str, Any] = {}
        exec(table.source(), made)  # noqa: S102
        assert made["check"]() <= 1e-12
        strange = {"told": "a", "noise": "?", "size": 0.5, "dust": 3.0}
        if unseen == "error":
            with pytest.raises(ValueError, match="'noise': '\\?' was not seen in training"):
                made["posterior"](strange)
        else:
            expected = model.predict_proba(pd.DataFrame([strange | {"flat": 1.0}]))[0]
            assert list(made["posterior"](strange).values()) == pytest.approx(expected.tolist(), abs=1e-12)
        with pytest.raises(ValueError, match="'dust': the cell is infinite"):
            made["posterior"]({"dust": float("inf")})
    assert set(stated.weights_) == set(X)


def test_numbers_read_as_levels_or_intervals() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 2.0, 3.5], "b": [0.0, 1.0, 1.0, 0.0], "c": [1.0, 4.0, 5.0, 9.0]})
    way: Any = {"a": "categorical", "b": "bernoulli", "c": "quantile"}
    model = NaiveBayes(likelihoods=way, bins=2).fit(X, list("mmnn"))
    made: dict[str, Any] = {}
    exec(LookUp.of(model).source(), made)  # noqa: S102
    assert made["check"]() <= 1e-12
    for row, p in zip(X.to_dict("records"), model.predict_proba(X), strict=True):
        assert list(made["posterior"](row).values()) == pytest.approx(p.tolist(), abs=1e-12)
    for name in X:
        odd = X[:1].assign(**{str(name): np.inf})
        with pytest.raises(UndefinedPosterior):
            LookUp.of(model).predict(odd)
        with pytest.raises(ValueError, match=f"column '{name}': the cell is infinite"):
            made["posterior"](odd.to_dict("records")[0])
    lazy = LazyNaiveBayes(likelihoods={"a": "poisson", "c": "kernel"}).fit(X.round(), list("mmnn"))
    eager = NaiveBayes(likelihoods={"a": "poisson", "c": "kernel"}).fit(X.round(), list("mmnn"))
    np.testing.assert_allclose(lazy.predict_proba(X.round()), eager.predict_proba(X.round()), rtol=0, atol=1e-12)


# the file -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("name", ["watermelon3", "loan", "penguins"])
@pytest.mark.parametrize("parameters", [{}, {"discretize": "mdlp", "unseen": "smooth"}, {"missing": "category"}])
def test_the_file_checks_itself_when_run(name: str, parameters: dict[str, Any], tmp_path: Path) -> None:
    data = load_dataset(name)
    target = data.schema.target
    assert target is not None
    rows = data.frame[target.name].notna()
    X, y = data.frame.loc[rows, list(data.schema.features.names)], data.frame.loc[rows, target.name]
    model = NaiveBayes(schema=data.schema.features, **parameters).fit(X[:300], y[:300])
    table = LookUp.of(model)
    done = run(tmp_path, table.source())
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{len(table.cases)} cases, largest difference" in done.stdout
    entries = {n for n, v in ((v.name, v) for v in model.schema_) if v.discrete and v.cuts is None}
    for n in entries:  # every entry of every table is in a test vector
        assert {case.cells[n] for case in table.cases} >= {*model.schema_[n].levels, None}


def test_a_file_that_was_changed_says_so(tmp_path: Path) -> None:
    X, y, schema = melons()
    source = LookUp.of(NaiveBayes(schema=schema).fit(X, y)).source()
    number = source.split("LOG_PRIOR = (")[1].split(",")[0]
    assert run(tmp_path, source.replace(number, "-0.7", 1)).returncode == 1
    imports = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(n) for n in imports] == ["import math"]


EVIL = [
    "'] = 1; import os; os.system('touch pwned') #",
    '"""\nraise SystemExit(3)\n"""',
    "\nraise SystemExit(3)",
    "\r\nraise SystemExit(3)",
    "\\",
    "\\'",
    "{0}{name!r}%s",
    "\u2028raise SystemExit(3)",
    "\u202e\u0000",
    "__import__('os')",
    "中文 🍉",
    "",
]


def test_no_name_is_ever_code(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice([*EVIL, "x"], 60) for name in EVIL})
    y = pd.Series(rng.choice(EVIL[:3], 60), name=EVIL[0] + "!")
    model = NaiveBayes().fit(X, y)
    source = LookUp.of(model).source()
    tree = ast.parse(source)
    calls = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    clean = ast.parse(LookUp.of(NaiveBayes().fit([["x"], ["y"]], ["a", "b"])).source())
    assert calls == {ast.unparse(n.func) for n in ast.walk(clean) if isinstance(n, ast.Call)}
    assert len(tree.body) == len(clean.body)
    done = run(tmp_path, source)
    assert (done.returncode, done.stderr) == (0, "")
    assert [p.name for p in tmp_path.iterdir()] == ["made.py"]
    made: dict[str, Any] = {}
    exec(source, made)  # noqa: S102
    for row, p in zip(X.to_dict("records")[:10], model.predict_proba(X[:10]), strict=True):
        assert list(made["posterior"](row).values()) == pytest.approx(p.tolist(), abs=1e-12)
    assert set(made["CLASSES"]) == set(EVIL[:3])


class Sly(str):
    """A string that is not what it says."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "__import__('os')"

    __str__ = __repr__


def levels(name: str) -> Schema:
    return Schema((Variable(name, "categorical"),))


def test_labels_are_written_as_what_they_are() -> None:
    assert literal(Sly("x")) == "'x'"
    assert literal("\ud800\u202e\u2028") == r"'\ud800\u202e\u2028'"  # ASCII: no editor shows another text than runs
    assert [literal(v) for v in (1, True, -2.5, float("-inf"), None)] == ["1", "True", "-2.5", "NEVER", "None"]
    days = pd.DataFrame({"day": pd.Series([dt.date(2020, 1, 1), dt.date(2020, 1, 2)] * 2, dtype=object)})
    with pytest.raises(ParameterError, match="'2020-01-01' is a date, which a file of plain Python cannot hold"):
        LookUp.of(NaiveBayes(schema=levels("day")).fit(days, list("abab"))).source()
    mixed = pd.DataFrame({"v": pd.Series([1, "1", 2.5, True, 3, "x"], dtype=object)})
    model = NaiveBayes(schema=levels("v")).fit(mixed, [0, 1, 0, 1, 0, 1])
    made: dict[str, Any] = {}
    exec(LookUp.of(model).source(), made)  # noqa: S102
    for row, p in zip(mixed.to_dict("records"), model.predict_proba(mixed), strict=True):
        assert list(made["posterior"](row).values()) == pytest.approx(p.tolist(), abs=1e-12)


@quiet
def test_the_file_holds_no_row_and_refuses_infinity_even_where_a_column_says_nothing() -> None:
    X = pd.DataFrame({"flat": [3.0] * 6, "x": [1.25, 2.5, 3.125, 4.0625, 5.5, 9.75]})
    model = NaiveBayes().fit(X, list("aaabbb"))
    source = LookUp.of(model).source()
    assert not any(repr(v) in source for v in X["x"])
    made: dict[str, Any] = {}
    exec(source, made)  # noqa: S102
    assert list(made["posterior"]({"flat": 8.0, "x": 4.0}).values()) == pytest.approx(
        model.predict_proba(pd.DataFrame({"flat": [8.0], "x": [4.0]}))[0].tolist(), abs=1e-12
    )
    with pytest.raises(ValueError, match="'flat': the cell is infinite"):
        made["posterior"]({"flat": float("inf"), "x": 4.0})


# lazy -----------------------------------------------------------------------------------------------------------------


def test_nothing_is_counted_before_a_query_and_then_only_its_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[list[str]] = []
    real = lazy_module.collect

    def watched(table: Any, *rest: Any) -> Any:
        counted.append(list(table.schema.names))
        return real(table, *rest)

    monkeypatch.setattr(lazy_module, "collect", watched)
    X, y, schema = melons()
    model = LazyNaiveBayes(schema=schema).fit(X[:10], y[:10]).partial_fit(X[10:], y[10:]).forget(X[3:5], y[3:5])
    assert counted == []
    one = X[:1].copy()
    one[[c for c in X.columns if c not in ("色泽", "密度")]] = None
    one["含糖率"] = np.nan
    model.predict_proba(one)
    assert counted == [["色泽", "密度"]]


def test_rows_are_kept_as_they_were_whatever_their_owner_does_with_them() -> None:
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(100, 2)), rng.integers(0, 2, 100), rng.random(100)
    before = LazyNaiveBayes().fit(X.copy(), y.copy(), weight.copy())
    lazy = LazyNaiveBayes().fit(X, y, weight)
    given = X.copy(), y.copy(), weight.copy()
    X *= 10
    y[:] = 1 - y
    weight[::2] *= 7
    assert (lazy.predict_proba(given[0]) == before.predict_proba(given[0])).all()
    assert lazy.forget(given[0][:9], given[1][:9], given[2][:9]).stats_.n == 91


def test_rows_go_one_by_one_and_by_part_of_their_weight() -> None:
    X = pd.DataFrame({"a": list("xxyxy"), "b": [1.0, 1.0, 2.0, np.nan, 3.0]})
    y, w = list("ppqpq"), [2.0, 1.0, 1.0, 1.0, 2.0]
    model = LazyNaiveBayes().fit(X, y, w)
    model.forget(X[:1], y[:1], [2.5])  # both rows like it, the second in part
    assert model.stats_.n == 4
    assert model.stats_.class_weight.tolist() == [1.5, 3.0]
    model.forget(X[3:4], y[3:4])
    with pytest.raises(NotASubset, match="never counted"):
        model.forget(X[3:4], y[3:4])
    with pytest.raises(NotASubset, match="never counted"):
        model.forget(X[:1], y[:1])
    with pytest.raises(NotASubset, match="never counted"):
        model.forget(pd.DataFrame({"a": ["x"], "b": [1.0]}), ["q"])
    assert model.stats_.scaled(2.0).class_weight.tolist() == [1.0, 6.0]


@pytest.mark.slow
def test_many_single_rows_stay_few_blocks() -> None:
    X, y = load_iris(return_X_y=True)
    with listen() as notes:
        model = LazyNaiveBayes().partial_fit(X[:2], y[:2], [0, 1, 2])
        for i in range(2, 150):
            model.partial_fit(X[[i]], y[[i]])
    assert {str(note) for note in notes} == {  # so far
        "class(es) 1, 2 have the prior 0: they are never predicted",
        "class(es) 2 have the prior 0: they are never predicted",
    }
    assert len(model.stats_.blocks) <= 8
    assert model.stats_.n == 150
    np.testing.assert_allclose(model.predict_proba(X), NaiveBayes().fit(X, y).predict_proba(X), rtol=0, atol=1e-12)


def test_new_levels_and_classes_come_with_later_rows() -> None:
    X = pd.DataFrame({"a": ["x", "y", "x", "w", "z"]})
    y = ["m", "z", "m", "a", "z"]
    model = LazyNaiveBayes().fit(X[:3], y[:3]).partial_fit(X[3:], y[3:])
    eager = NaiveBayes().fit(X[:3], y[:3]).partial_fit(X[3:], y[3:])
    assert model.classes_.tolist() == ["a", "m", "z"]
    np.testing.assert_allclose(model.predict_proba(X), eager.predict_proba(X), rtol=0, atol=1e-15)
    assert model.stats_.blocks[0][0].columns[0].dtype == np.uint8


def test_what_lazy_refuses() -> None:
    X, y = load_iris(return_X_y=True)
    bad = X.copy()
    bad[3, 1] = np.inf
    with pytest.raises(TableError, match="holds infinity in row 4: Input X contains infinity"):
        LazyNaiveBayes().fit(bad, y)
    with pytest.raises(ParameterError, match="keeps rows, not statistics"):
        LazyNaiveBayes().fit_stats(NaiveBayes().fit(X, y).stats_)
    with pytest.raises(ParameterError, match="alpha=-1"):
        LazyNaiveBayes(alpha=-1).fit(X, y)
    sharper = LazyNaiveBayes().fit(X, y).with_params(priors="uniform")
    np.testing.assert_array_equal(sharper.predict(X), NaiveBayes(priors="uniform").fit(X, y).predict(X))


# costs ----------------------------------------------------------------------------------------------------------------


def test_costs_are_what_they_say() -> None:
    X, y, schema = melons()
    model = NaiveBayes(schema=schema).fit(X, y)
    found = {(c.mode, c.moment): c for c in costs(model, X, y, measure=True, repeats=2)}
    assert list(found) == [(way, moment) for way in MODES_OF_USE for moment in MOMENTS]
    n, d, K = 17, 8, 2
    entries = sum(K * (len(v.levels) + 2) if v.discrete else 3 * K for v in model.schema_)
    for way in ("look-up", "incremental"):
        assert found[way, "fit"].read == n * (d + 1)
        assert found[way, "fit"].entries == entries + K
        assert (found[way, "predict"].read, found[way, "predict"].additions) == (d, K * d)
        assert found[way, "predict"].entries == 0
    assert (found["lazy", "fit"].read, found["lazy", "predict"].read) == (0, n * (d + 1))
    assert found["lazy", "update"].read == d + 1 == found["incremental", "update"].read
    assert found["look-up", "update"].read == (n + 1) * (d + 1)
    assert found["look-up", "fit"].bytes < found["incremental", "fit"].bytes
    lazy = LazyNaiveBayes(schema=schema).fit(X, y)
    assert found["lazy", "fit"].bytes == lazy.stats_.nbytes == n * (6 + 2 * 8 + 8)  # six codes, two numbers, the class
    assert all(c.seconds is not None and c.seconds > 0 for c in found.values())
    assert model.stats_.class_weight.sum() == n  # as it was
