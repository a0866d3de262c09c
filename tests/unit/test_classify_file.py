"""A second file: aligned by name, read cell by cell, classified in blocks, written so that it can be read back."""

import io

import numpy as np
import pandas as pd
import pytest

from bayes_engine import (
    AODE,
    SPODE,
    TAN,
    BayesianNetworkClassifier,
    KDependence,
    LossMatrix,
    NaiveBayes,
    Status,
    load_dataset,
    read_table,
)
from bayes_engine.errors import SchemaMismatch
from bayes_engine.table.column_notes import unit_left_out
from bayes_engine.table.describe import describe
from bayes_engine.table.guard import guarded
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.workbench.incoming.bad_cells import BadCell
from bayes_engine.workbench.incoming.classified_file import (
    SILENT,
    Wording,
    answers,
    csv_of,
    decision_counts,
    reasons,
    results,
)
from bayes_engine.workbench.incoming.file_blocks import CellBlocks
from bayes_engine.workbench.incoming.second_table import CellRules, Reception, Treatment
from tests.classified_files import as_csv, receive, score

TRAIN = pd.DataFrame({
    "height": [160.0, 165.0, 170.0, 180.0, 185.0, 190.0],
    "city": ["Oslo", "Oslo", "Rome", "Rome", "Lima", "Lima"],
    "smokes": [True, False, True, False, True, False],
})  # fmt: skip
LABELS = pd.Series(["no", "no", "no", "yes", "yes", "yes"], name="tall")


def model(**parameters) -> NaiveBayes:
    return NaiveBayes(**parameters).fit(TRAIN, LABELS)


def incoming(text: str, fitted: NaiveBayes | None = None, **how):
    cells = read_table(text.encode(), typed=False).frame
    fitted = fitted or model()
    return receive(cells, fitted.schema_, fitted.target_, unseen=fitted.unseen, missing=fitted.missing, **how)


def said(rows) -> str:
    return "\n".join(str(note.message) for note in rows.notes)


def test_untyped_reading_keeps_every_cell_as_it_is_written():
    frame = read_table(b"a;b\n1,50;007\n;TRUE\n", typed=False).frame
    assert frame.to_dict("list") == {"a": ["1,50", ""], "b": ["007", "TRUE"]}


def test_untyped_spreadsheet_and_parquet_are_text():
    table = pd.DataFrame({"x": [1.5, None, 3.0], "c": ["a", "b", None]})
    for write in (table.to_parquet, lambda f: table.to_excel(f, index=False)):
        out = io.BytesIO()
        write(out)
        frame = read_table(out.getvalue(), typed=False).frame
        assert frame.to_dict("list") == {"x": ["1.5", "", "3"], "c": ["a", "b", ""]}


def test_columns_are_found_by_name_in_any_order_and_extra_ones_are_kept():
    rows = incoming("note,city,smokes,height\nx,Rome,TRUE,170\ny,Lima,false,181.5\n")
    assert list(rows.frame.columns) == ["height", "city", "smokes"]
    assert rows.frame["height"].tolist() == [170.0, 181.5]
    assert rows.frame["city"].tolist() == ["Rome", "Lima"]
    assert rows.frame["smokes"].tolist() == [True, False]
    assert rows.cells["note"].tolist() == ["x", "y"]
    assert "columns the model does not use, kept in the results: 'note'" in said(rows)


def test_an_absent_column_is_missing_throughout_and_equals_a_fit_without_it():
    rows = incoming("height,smokes\n170,True\n")
    assert "column 'city' is not in this file: it counts as missing in every row" in said(rows)
    without = NaiveBayes().fit(TRAIN[["height", "smokes"]], LABELS)
    want = without.predict_proba(pd.DataFrame({"height": [170.0], "smokes": [True]}))
    np.testing.assert_allclose(score(model(), rows).posterior(), want, rtol=1e-12)


def test_a_column_that_differs_in_case_is_pointed_out_not_taken():
    rows = incoming("Height,city,smokes\n170,Rome,True\n")
    assert rows.frame["height"].isna().all()
    assert "if 'Height' is meant, rename it there" in said(rows)


def test_a_file_without_any_column_of_the_model_is_refused_with_the_names():
    with pytest.raises(SchemaMismatch, match="'height', 'city', 'smokes'"):
        incoming("a,b\n1,2\n")


def test_an_unreadable_cell_costs_its_own_row_only():
    rows = incoming("height,city,smokes\n170,Rome,True\ntall,Rome,True\n181,Lima,False\n")
    assert rows.unreadable.tolist() == [False, True, False]
    assert rows.bad == (BadCell(1, "height", "tall", "no number"),)
    assert "column 'height': cells that cannot be read as numbers: 1, the first in row 2 ('tall')" in said(rows)
    scored = score(model(), rows)
    assert scored.ledger.status.tolist() == [Status.OK, Status.UNREADABLE, Status.OK]
    alone = model().predict_proba(rows.frame.iloc[[0, 2]])
    np.testing.assert_array_equal(scored.posterior()[[0, 2]], alone)
    assert scored.decide(LossMatrix.zero_one(("no", "yes"))).action.tolist() == ["no", None, "yes"]


def test_an_infinite_cell_is_refused_and_named():
    rows = incoming("height,city,smokes\ninf,Rome,True\n170,Rome,True\n")
    assert score(model(), rows).ledger.status.tolist() == [Status.REFUSED, Status.OK]
    assert rows.bad[0] == BadCell(0, "height", "inf", "infinite")
    mixed = incoming("height,city,smokes\n-inf,Rome,True\nbig,Rome,True\n")
    assert [b.why for b in mixed.bad] == ["infinite", "no number"]


def test_an_unseen_value_is_ignored_counted_and_named():
    rows = incoming("height,city,smokes\n170,Tokyo,True\n170,Tokyo,False\n170,Rome,True\n")
    assert "column 'city': values not seen in training: 'Tokyo' (2); an unseen value has no factor" in said(rows)
    blank = incoming("height,city,smokes\n170,,True\n")
    np.testing.assert_allclose(score(model(), rows).posterior()[:1], score(model(), blank).posterior(), rtol=1e-12)


def test_the_models_policies_hold_for_the_file():
    smooth, strict = model(unseen="smooth"), model(unseen="error", missing="error")
    text = "height,city,smokes\n170,Tokyo,True\n170,,True\n170,Rome,True\n"
    want = smooth.predict_proba(pd.DataFrame({"height": [170.0], "city": ["Tokyo"], "smokes": [True]}))
    np.testing.assert_allclose(score(smooth, incoming(text, smooth)).posterior()[:1], want, rtol=1e-12)
    rows = incoming(text, strict)
    assert rows.unreadable.tolist() == [True, True, False]
    assert [b.why for b in rows.bad] == ["not seen in training", "missing"]
    assert score(strict, rows).ledger.status.tolist() == [Status.UNREADABLE, Status.UNREADABLE, Status.OK]


def test_missing_cells_are_counted_per_column():
    rows = incoming("height,city,smokes\n,Rome,True\nNA,?,True\n170,Rome,True\n")
    assert "column 'height': missing cells: 2" in said(rows)
    assert "column 'city': missing cells: 1" in said(rows)
    assert np.isfinite(score(model(), rows).ledger.joint()).all()


def test_numbers_are_read_as_in_a_training_table():
    german = incoming("height;city;smokes\n1.700,5;Rome;True\n2,25;Rome;True\n")
    assert german.frame["height"].tolist() == [1700.5, 2.25]
    mixed = incoming("height;city;smokes\n170,5;Rome;True\nhigh;Rome;True\n")
    assert mixed.frame["height"].iloc[0] == 170.5


def test_levels_that_are_numbers_or_truth_values_match_by_value():
    schema = Schema((Variable("grade", "categorical", (1, 2)), Variable("ok", "binary", (False, True))))
    cells = pd.DataFrame({"grade": ["1.0", "2", "3"], "ok": ["TRUE", "False", "maybe"]})
    rows = receive(cells, schema, Variable("y", "binary", ("a", "b")))
    assert rows.frame["grade"].tolist() == [1, 2, "3"]
    assert rows.frame["ok"].tolist() == [True, False, "maybe"]
    assert "written otherwise" not in said(rows)


def test_values_that_another_program_writes_otherwise_are_taken_and_told():
    levels = {"ok": (False, True), "flag": (0, 1), "code": ("7", "10", "x"), "grade": (1, 2, 3)}
    schema = Schema(tuple(Variable(name, "categorical", its) for name, its in levels.items()))
    cells = pd.DataFrame({"ok": ["yes", "No", "1", "0.0"], "flag": ["true", "FALSE", "y", "2"],
                          "code": ["7.0", "10,00", "7.000", "07"], "grade": ["yes", "2.0", "1.000", "3"]})  # fmt: skip
    good = Variable("good", "binary", (False, True))
    rows = receive(cells.assign(good=["yes", "no", "true", "maybe"]), schema, good)
    assert rows.frame["ok"].tolist() == [True, False, True, False]
    assert rows.frame["flag"].tolist() == [1, 0, 1, "2"]
    assert rows.frame["code"].tolist() == ["7", "10", "7.000", "07"]
    assert rows.frame["grade"].tolist() == ["yes", 2, 1, 3]
    assert rows.truth.tolist() == [1, 0, 1, -2]
    told = said(rows)
    assert ("column 'ok': values of the table that are written otherwise here, taken as these: 'yes' (1), 'No' (1), "
            "'1' (1), '0.0' (1)") in told  # fmt: skip
    assert "column 'good': values of the table that are written otherwise here, taken as these: 'yes' (1)" in told
    assert "column 'grade': values not seen in training: 'yes' (1)" in told


RULES = CellRules()
TWO = NaiveBayes().fit(pd.DataFrame({"a": [1.0, 2.0, 4.0, 6.0], "b": [1.0, 2.0, 1000.0, 2000.0]}),
                       pd.Series(["u", "u", "v", "v"], name="y"))  # fmt: skip


def beside(cell: str, of: list[str], rules: CellRules = RULES) -> tuple[list[float], list[float], int]:
    """What of a column of these cells, with one other among them, and of a doubtful one beside it becomes a number, and
    how many rows cannot be read."""
    cells = pd.DataFrame({"a": [*of * 20, cell], "b": "1,234"})
    (rows,) = Reception(CellBlocks.of(cells), TWO.schema_, TWO.target_, rules).blocks()
    return rows.frame["a"].tolist()[:2], rows.frame["b"].tolist()[:1], int(rows.unreadable.sum())


@pytest.mark.parametrize("cell", ["tall", "2.5", "2,5 %", "€3", "2024-01-01", "00,7x"])
def test_one_bad_cell_changes_no_other_of_a_file_with_decimal_commas(cell: str):
    assert beside("3,5", ["1,5", "2,25"]) == ([1.5, 2.25], [1.234], 0)
    assert beside(cell, ["1,5", "2,25"]) == ([1.5, 2.25], [1.234], 1)
    assert beside(cell, ["1,5", "2,25"], CellRules(decimal=",")) == ([1.5, 2.25], [1.234], 1)


@pytest.mark.parametrize(("cell", "of"), [("7", ["5 %", "6 %"]), ("7 %", ["5", "6"]), ("€7", ["$5", "$6"]),
                                          ("6,5", ["5.0", "6.0"])])  # fmt: skip
def test_numbers_are_read_as_most_of_them_are_written(cell: str, of: list[str]):
    assert beside(cell, of) == ([5.0, 6.0], [1234.0], 1)


def test_a_number_with_leading_zeros_is_one_in_a_file_with_decimal_commas_too():
    cells = pd.DataFrame({"a": ["1,5", "2,5", "007", "2.5", "-inf"], "b": "1"})
    (rows,) = Reception(CellBlocks.of(cells), TWO.schema_, TWO.target_).blocks()
    np.testing.assert_array_equal(rows.frame["a"], [1.5, 2.5, 7.0, np.nan, -np.inf])


def test_units_and_missing_tokens_of_a_data_set():
    loan = load_dataset("loan")
    fitted = NaiveBayes(schema=loan.schema).fit(loan.frame[["Gender", "Married", "Income"]], loan.frame["Defaulted"])
    cells = pd.DataFrame({"Income": ["125K", "-"], "Gender": ["Male", "Female"], "Married": ["No", "-"]})
    rows = receive(cells, fitted.schema_, fitted.target_, units={"Income": "K"}, tokens=("-",))
    assert rows.frame["Income"].tolist()[0] == 125.0
    assert rows.frame.iloc[1].isna().tolist() == [False, True, True]
    assert not rows.unreadable.any()


def test_labels_that_are_no_class_are_counted_apart():
    lines = ("160,Oslo,True,no", "190,Lima,False,TRUE", "190,Lima,False,no", "160,Oslo,True,")
    rows = incoming("\n".join(["height,city,smokes,tall", *lines, ""]))
    assert rows.truth.tolist() == [0, -2, 0, -1]
    assert "holds labels that are no class of the model: 'TRUE' (1); the classes are 'no', 'yes'" in said(rows)
    loss = LossMatrix(("no", "yes"), ("no", "yes"), [[0, 7], [3, 0]])
    count = decision_counts(rows, score(model(), rows).decide(LossMatrix.zero_one(("no", "yes"))), loss, ("no", "yes"))
    assert (count.known, count.right, count.mean_loss, count.undecided) == (2, 1, 1.5, 0)
    assert count.actions == {"no": 2, "yes": 2}


def test_losses_and_prior_of_use_decide_without_new_joints():
    rows, fitted = incoming("height,city,smokes\n174,Rome,True\n"), model()
    scored = score(fitted, rows)
    dear = LossMatrix(("yes", "no", "ask"), ("yes", "no"), [[0, 1], [1e6, 0], [9e5, 9e5]])
    assert scored.decide(dear).action.tolist() == fitted.decide(rows.frame, dear).action.tolist() == ["yes"]
    use = {"no": 0.2, "yes": 0.8}
    want = fitted.explain(rows.frame).at_prior(fitted.class_prior_, use).posterior()
    np.testing.assert_allclose(scored.posterior(use), want, rtol=1e-12)


@pytest.mark.slow
def test_blocks_give_the_same_as_one_pass(monkeypatch):
    text = "height,city,smokes\n" + "".join(f"{150 + i},Rome,True\n" for i in range(23))
    rows = incoming(text)
    joint, zero_one = score(model(), rows).ledger.joint(), LossMatrix.zero_one(("no", "yes"))
    whole = as_csv(model(), rows, score(model(), rows), zero_one, ("no", "yes"))
    for module in ("second_table", "file_blocks"):
        monkeypatch.setattr(f"bayes_engine.workbench.incoming.{module}.BLOCK", 15)
    assert [len(block) for block in rows.blocks()] == [5, 5, 5, 5, 3]
    np.testing.assert_array_equal(score(model(), rows).ledger.joint(), joint)
    assert as_csv(model(), rows, score(model(), rows), zero_one, ("no", "yes")) == whole


def test_the_reason_names_the_three_strongest_contributions():
    fitted = model()
    rows = incoming("height,city,smokes\n188,Lima,False\n", fitted)
    scored = score(fitted, rows)
    answer = results(fitted, rows, scored, scored.decide(LossMatrix.zero_one(("no", "yes"))), scored.posterior(),
                     ("no", "yes"), np.arange(1))  # fmt: skip
    pull = fitted.explain(rows.frame).contributions("yes", "no").iloc[0].drop("tall").sort_values(ascending=False)
    want = ", ".join(f"{n} = {rows.cells[n].iloc[0]} ({v / np.log(2.0):+.2f} bits)" for n, v in pull.items())
    assert answer["reason"].iloc[0] == want
    assert want.startswith("height = 188 (+")
    own, nats = told(fitted, rows), told(fitted, rows, wording=Wording({"nats": "奈特"}, bits=False))
    assert own["reason"].tolist() == [want]
    assert nats["reason"].tolist() == [
        ", ".join(f"{n} = {rows.cells[n].iloc[0]} ({v:+.2f} 奈特)" for n, v in pull.items())
    ]


def test_a_decision_that_the_losses_force_says_so():
    fitted = NaiveBayes().fit(TRAIN[["height"]], LABELS)
    rows = receive(pd.DataFrame({"height": ["160"]}), fitted.schema_, fitted.target_)
    scored = score(fitted, rows)
    always = LossMatrix(("no", "yes"), ("no", "yes"), [[1e12, 1e12], [0, 0]])
    decision = scored.decide(always)
    assert decision.action.tolist() == ["yes"]
    answer = results(fitted, rows, scored, decision, scored.posterior(), ("no", "yes"), np.arange(1))
    assert answer["reason"].iloc[0] == "no column supports it: the prior or the losses decide"


def told(fitted, rows, **how) -> pd.DataFrame:
    (answer,) = answers(fitted, rows, score(fitted, rows), LossMatrix.zero_one(("no", "yes")), ("no", "yes"), **how)
    return answer


def test_a_row_without_a_cell_has_a_reason_too():
    answer = told(model(), incoming("height,city,smokes,note\n,,,x\n"))
    assert answer[["decision", "reason"]].values.tolist() == [["no", SILENT]]


def test_every_row_that_is_not_decided_says_why():
    strict = model(smoothing="none")
    rows = incoming("height,city,smokes\n170,Lima,True\n1e300,Oslo,True\ninf,Oslo,True\ntall,Oslo,True\n", strict)
    assert told(strict, rows)[["status", "reason"]].values.tolist()[1:] == [
        ["out of range", "outside the range of the data: every density underflows"],
        ["infinite cell", "height = inf (infinite)"],
        ["unusable cell", "height = tall (no number)"],
    ]
    twins = NaiveBayes(smoothing="none").fit(pd.DataFrame({"a": ["u", "v"], "b": ["u", "v"]}), ["no", "yes"])
    torn = receive(pd.DataFrame({"a": ["u", "u"], "b": ["v", "u"]}), twins.schema_, twins.target_)
    assert told(twins, torn)[["decision", "status", "reason"]].values.tolist() == [
        ["", "impossible", "impossible under this model: its likelihood is 0 in every class"],
        ["no", "ok", "a = u (+∞ bits), b = u (+∞ bits)"],
    ]


def test_a_model_that_takes_no_missing_cell_names_the_column_that_is_not_there():
    strict = model(missing="error")
    answer = told(strict, incoming("height,smokes\n170,True\ntall,True\n", strict))
    assert answer["decision"].tolist() == ["", ""]
    assert answer["reason"].tolist() == ["city =  (missing)", "height = tall (no number)"]


def test_reasons_are_said_in_the_readers_words():
    rows = incoming("height,city,smokes,note\ntall,Oslo,True,x\n,,,x\n")
    answer = told(model(), rows, wording=Wording({"no number": "不是数", SILENT: "没有哪一列支持它"}))
    assert answer["reason"].tolist() == ["height = tall (不是数)", "没有哪一列支持它"]


def test_results_never_take_a_name_of_the_user():
    rows = incoming("height,city,smokes,decision,reason,risk\n170,Rome,True,mine,own,5\n")
    classes = ("no", "yes")
    read = read_back(as_csv(model(), rows, score(model(), rows), LossMatrix.zero_one(classes), classes))
    own = ["height", "city", "smokes", "decision", "reason", "risk"]
    assert read.columns.tolist() == [*own, "decision_2", "risk_2", "gap", "P(no)", "P(yes)", "status", "reason_2"]
    assert read.loc[0, ["decision", "reason", "risk"]].tolist() == ["mine", "own", "5"]


def read_back(content: bytes) -> pd.DataFrame:
    assert content.startswith(b"\xef\xbb\xbf")
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, encoding="utf-8-sig")


@pytest.mark.slow
def test_the_file_comes_back_with_its_cells_and_the_models_decisions_to_the_last_digit():
    iris = load_dataset("iris")
    X, y = iris.frame[list(iris.schema.features.names)], iris.frame["species"]
    fitted = NaiveBayes(schema=iris.schema).fit(X, y)
    text = iris.frame.sample(frac=1, random_state=0).to_csv(index=False)
    cells = read_table(text.encode(), typed=False).frame
    rows = receive(cells, fitted.schema_, fitted.target_)
    classes = tuple(fitted.classes_.tolist())
    loss = LossMatrix(classes, classes, [[0, 2, 9], [1, 0, 4], [3, 5, 0]])
    read = read_back(as_csv(fitted, rows, score(fitted, rows), loss, classes))
    assert read[list(cells.columns)].to_dict("list") == cells.to_dict("list")
    want = fitted.decide(rows.frame, loss)
    assert read["decision"].tolist() == want.action.tolist()
    assert read["risk"].astype(float).tolist() == want.risk.tolist()
    np.testing.assert_array_equal(
        read[[f"P({c})" for c in classes]].to_numpy(dtype=float), fitted.predict_proba(rows.frame)
    )


def test_what_a_spreadsheet_would_run_is_made_text_and_numbers_are_not_touched():
    assert guarded(pd.Series(["=1+1", "+3", "-5", "-x", "@a", "\tb", "\rc", "d=e", ""])).tolist() == [
        "'=1+1", "+3", "-5", "'-x", "'@a", "'\tb", "'\rc", "d=e", ""]  # fmt: skip
    rows = incoming('height,city,smokes,"=cmd()"\n170,=HYPERLINK(1),True,-7\n')
    content = as_csv(model(), rows, score(model(), rows), LossMatrix.zero_one(("no", "yes")), ("no", "yes"))
    read = read_back(content)
    assert "'=cmd()" in read.columns
    assert read.loc[0, "city"] == "'=HYPERLINK(1)"
    assert read.loc[0, "'=cmd()"] == "-7"


def test_a_guarded_level_or_name_that_comes_back_is_the_same():
    schema = Schema((Variable("=x", "categorical", ("+", "-")),))
    rows = receive(pd.DataFrame({"'=x": ["'+", "-"]}), schema, Variable("y", "binary", ("a", "b")))
    assert rows.frame["=x"].tolist() == ["+", "-"]


def test_the_template_holds_no_row_and_filled_in_is_read_back_as_rows_of_the_table():
    melons = load_dataset("watermelon3")
    X = melons.frame[list(melons.schema.features.names)]
    template = csv_of(pd.DataFrame(columns=X.columns))
    assert template.decode("utf-8-sig").splitlines() == [",".join(X.columns)]
    filled = template + X.head(2).to_csv(index=False, header=False).encode()
    rows = receive(read_table(filled, typed=False).frame, melons.schema.features, melons.schema.target)
    assert not rows.unreadable.any()
    assert rows.frame.values.tolist() == X.head(2).values.tolist()


def test_a_template_of_names_that_a_spreadsheet_would_run_is_read_back():
    schema = Schema((Variable("=x", "continuous"), Variable("a,b", "continuous")))
    cells = read_table(csv_of(pd.DataFrame(columns=list(schema.names))) + b"1,2\r\n", typed=False).frame
    rows = receive(cells, schema, Variable("y", "binary", ("a", "b")))
    assert rows.frame.to_numpy().tolist() == [[1.0, 2.0]]


def test_summaries():
    table = pd.DataFrame({"n": [1.0, np.inf, 4.0, np.nan], "c": ["b", "a", "b", None], "k": ["z"] * 4})
    number, level, constant = describe(
        table,
        Schema(
            (Variable("n", "continuous"), Variable("c", "categorical", ("a", "b", "never")), Variable("k", "constant"))
        ),
    )
    assert (number.low, number.mean, number.high, number.missing, number.distinct) == (1.0, 2.5, 4.0, 1, 3)
    assert level.counts == (("a", 1), ("b", 2), ("never", 0))
    assert constant.counts == (("z", 4),)


@pytest.mark.parametrize("family", [TAN, SPODE, AODE, KDependence, BayesianNetworkClassifier])
def test_a_column_that_the_model_cuts_is_read_as_numbers(family: type) -> None:
    sizes = np.linspace(160, 190, 40)
    X = pd.DataFrame({"height": sizes, "city": np.where(np.arange(40) % 3, "Oslo", "Rome")})
    model = family().fit(X, pd.Series(np.where(sizes > 174, "yes", "no"), name="tall"))
    file = pd.DataFrame({"height": ["185,5", "abc", "inf", "", "165"], "city": ["Oslo", "Rome", "Oslo", "", " Rome"]})
    rows = receive(file, model.schema_, model.target_)
    assert rows.frame["height"].tolist()[0] == 185.5
    assert [(cell.row, cell.why) for cell in rows.bad] == [(1, "no number"), (2, "infinite")]
    assert any("the decimal mark is a comma" in str(n.message) for n in rows.notes)
    assert any("spaces around a value of the table" in str(n.message) for n in rows.notes)
    decision = score(model, rows).decide(LossMatrix.zero_one(list(model.classes_)))
    assert decision.action.tolist()[0] == "yes"
    assert decision.action.tolist()[4] == "no"
    assert (decision.position >= 0).tolist() == [True, False, False, True, True]
    if family is AODE:
        told = results(model, rows, score(model, rows), decision, score(model, rows).posterior(), ["yes", "no"],
                       np.arange(5))["reason"]  # fmt: skip
        assert not told.str.contains("super-parent =").any()


def test_a_reason_is_always_a_column() -> None:
    """AODE's ledger says as well how evenly its super-parents speak, which is no reason for a class."""
    rng = np.random.default_rng(3)
    y = pd.Series(np.where(rng.random(60) < 0.5, "yes", "no"))
    X = pd.DataFrame({f"c{j}": np.where(rng.random(60) < 0.6, y.str[0], rng.choice(list("yn"), 60)) for j in range(4)})
    model = AODE().fit(X, y)
    rows = receive(X, model.schema_, model.target_)
    scored = score(model, rows)
    decision = scored.decide(LossMatrix.zero_one(scored.ledger.classes))
    told = reasons(model, rows, decision, scored.posterior(), np.arange(60))
    assert any("(+" in text for text in told)
    assert not any("super-parent" in text for text in told)


def test_a_suffix_is_read_as_the_table_s_reader_reads_it_and_that_is_said():
    """Of what a person says that it holds numbers; and of a column of numbers that has no suffix itself."""
    cells = ["5k", "7,5k", "1,2 Mio.", "900", "much", "k"]
    table = read_table("\n".join(["pay", *(f'"{cell}"' for cell in cells)]).encode(), types={"pay": "number"})
    first = table.frame["pay"]
    schema = Schema((Variable("pay", "continuous"), Variable("code", "categorical", (5000, 7))))
    file = pd.DataFrame({"pay": cells, "code": ["5k"] * 6})
    rows = receive(file, schema, Variable("good", "binary", ("no", "yes")))
    pd.testing.assert_series_equal(rows.frame["pay"], first, check_names=False)
    assert rows.unreadable.tolist() == first.isna().tolist() == [False] * 4 + [True] * 2
    assert "column 'pay': numbers are multiplied by their suffixes ('5k' is read as 5000)" in said(rows)
    assert "column 'code': values not seen in training: '5k'" in said(rows)


def test_where_the_table_s_words_became_missing_so_do_the_file_s_suffixes():
    rules = CellRules(treated={"pay": Treatment(words=True)})
    reception = Reception(CellBlocks.of(pd.DataFrame({"pay": ["5k", "900"]})),
                          Schema((Variable("pay", "continuous"),)), Variable("good", "binary", ("no", "yes")),
                          rules)  # fmt: skip
    [rows] = reception.blocks()
    np.testing.assert_array_equal(rows.frame["pay"], [np.nan, 900.0])
    assert not rows.unreadable.any()


@pytest.mark.parametrize("chosen", [False, True])
def test_the_unit_that_a_person_s_table_was_read_without_is_left_out_of_the_file_too(chosen: bool):
    lines = ["size,y", "12 cm,a", "9 cm,b", "10 cm,a"]
    table = read_table("\n".join(lines).encode(), types={"size": "number"} if chosen else {})
    units = {str(remark.column): unit for remark in table.report if (unit := unit_left_out(remark))}
    assert units == {"size": "cm"}
    file = CellBlocks.of(pd.DataFrame({"size": ["13 cm", "8", "5 kg"]}))
    schema, target = Schema((Variable("size", "continuous"),)), Variable("y", "binary", ("a", "b"))
    [rows] = Reception(file, schema, target, CellRules(units=units)).blocks()
    np.testing.assert_array_equal(rows.frame["size"], [13.0, 8.0, np.nan])
    assert rows.unreadable.tolist() == [False, False, True]
