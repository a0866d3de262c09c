"""A long file, looked at a block at a time: what comes out is what reading it whole gives, in every format."""

import io
import zipfile
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest

from bayes_engine import LossMatrix, NaiveBayes, SemiSupervisedNB, read_table
from bayes_engine.errors import ReadError, SchemaMismatch, TableError
from bayes_engine.progress import Cancelled, watching
from bayes_engine.table import sheet
from bayes_engine.table.guard import guarded, unguarded
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.table.sheet import SheetWriter, typed, typed_columns
from bayes_engine.table.write import WRITERS
from bayes_engine.workbench.incoming import classified_file, file_blocks
from bayes_engine.workbench.incoming.bad_cells import LISTED
from bayes_engine.workbench.incoming.classified_file import answers, decision_counts, results, score_file
from bayes_engine.workbench.incoming.columns import names_alike
from bayes_engine.workbench.incoming.file_blocks import CellBlocks, FileForm, open_cells
from bayes_engine.workbench.incoming.second_table import CellRules, IncomingFile, Reception
from tests.classified_files import as_csv, as_file, receive, score
from tests.conftest import at_least, every_other

TRAIN = pd.DataFrame({
    "height": [160.0, 165.0, 170.0, 180.0, 185.0, 190.0],
    "city": ["Oslo", "Oslo", "Rome", "Rome", "Lima", "Lima"],
})  # fmt: skip
LABELS = pd.Series(["no", "no", "no", "yes", "yes", "yes"], name="tall")
MODEL = NaiveBayes().fit(TRAIN, LABELS)
CLASSES = ("no", "yes")
ZERO_ONE = LossMatrix.zero_one(CLASSES)


def long_text(rows: int = 1000, mark: str = ".", cell: Callable[[int], str] = lambda i: "") -> str:
    """A file of regular rows, of some eighty kilobytes with its notes; `cell` puts something else in a row."""
    lines = ["note;city;height;tall\n"]
    for i in range(rows):
        height = cell(i) or f"{150 + i % 50}{mark}{i % 10}"
        note = '"a;b, ""c""\nd"' if i % 7 == 0 else f"{'n' * 80}{i}"
        lines.append(f"{note};{('Oslo', 'Rome', 'Lima', '')[i % 4]};{height};{CLASSES[i % 2]}\n")
    return "".join(lines)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_blocks, "LEAST", 1 << 16)
    monkeypatch.setattr(file_blocks, "PIECE", 1 << 15)


def in_pieces(cells: CellBlocks) -> bool:
    return isinstance(cells._read, file_blocks._Rows)


def whole(cells: CellBlocks) -> pd.DataFrame:
    return pd.concat(list(cells.blocks()))


# reading ----------------------------------------------------------------------------------------------------------


REGULAR = {
    "plain": long_text().encode(),
    "byte-order mark": long_text().encode("utf-8-sig"),
    "carriage returns": long_text().replace("\n", "\r\n").encode(),
    "another encoding": long_text().replace("Oslo", "奥斯陆").encode("gb18030"),
    "a title and units": ("Sales 2024\n\n" + long_text()).encode(),
    "a named delimiter": ("sep=;\n" + long_text()).encode(),
    "blank lines": long_text().replace("\nnnnn", "\n\nnnnn", 225).encode(),
    "no line end at the end": long_text().rstrip("\n").encode(),
}


@pytest.mark.slow
@pytest.mark.parametrize("content", every_other(REGULAR.values()), ids=REGULAR)
def test_a_regular_text_in_pieces_is_the_text_read_whole(content: bytes) -> None:
    cells, reading = open_cells(content), read_table(content, typed=False)
    assert in_pieces(cells)
    assert (len(cells), list(cells.names)) == (len(reading.frame), list(reading.frame.columns))
    assert whole(cells).to_dict("list") == reading.frame.to_dict("list")
    assert cells.head(3).to_dict("list") == reading.frame.head(3).to_dict("list")
    assert (cells.report, cells.recipe) == (reading.report, reading.recipe)


def tail(line: str) -> bytes:
    return (long_text() + line).encode()


RAGGED = long_text(500) + "x;Rome;170;yes;more\ny;Oslo\nnote;city;height;tall\nz;Rome;1;no;\n" + long_text(500)[21:]
ODD = {
    "a row too long": tail("x;Rome;170;yes;more\n"),
    "a row too short": tail("x;Rome\n"),
    "a footer": tail("# made by hand\n"),
    "empty rows at the end": tail(";;;\n;;;\n"),
    "a quote within a cell": tail('5" pipe;Rome;170;yes\n'),
    "a quote never closed": tail('"open;Rome;170;yes\n'),
    "the header again": tail("note;city;height;tall\nx;Rome;170;yes\n"),
    "no name over a column": long_text().replace("note;", ";", 1).encode(),
}


@pytest.mark.parametrize("content", every_other(ODD.values()), ids=ODD)
def test_an_odd_text_in_pieces_is_the_text_read_whole(content: bytes) -> None:
    cells, reading = open_cells(content), read_table(content, typed=False)
    assert in_pieces(cells)
    assert whole(cells).to_dict("list") == reading.frame.to_dict("list")
    assert (cells.report, cells.recipe) == (reading.report, reading.recipe)


@pytest.mark.slow
@pytest.mark.parametrize("below", every_other(["", "\n# made by hand\n", "\nSource: me, you\n", ";;;\n"]))
def test_odd_rows_are_no_hindrance(below: str) -> None:
    content = (RAGGED + below).encode()
    cells, reading = open_cells(content), read_table(content, typed=False)
    assert in_pieces(cells)
    assert cells.names == ("note", "city", "height", "tall", "extra")
    assert whole(cells).to_dict("list") == reading.frame.to_dict("list")
    assert cells.report == reading.report
    kept, untrimmed = open_cells(content, form=FileForm(trim=False)), read_table(content, typed=False, trim=False)
    assert whole(kept).to_dict("list") == untrimmed.frame.to_dict("list")


def test_other_formats_and_short_texts_are_frames() -> None:
    out = io.BytesIO()
    TRAIN.to_parquet(out)
    assert open_cells(out.getvalue()).recipe.format == "parquet"
    assert not in_pieces(open_cells(b"a;b\n1;2\n"))
    with pytest.raises(ReadError, match="no rows"):
        open_cells(b"height,city\n")


# receiving --------------------------------------------------------------------------------------------------------


def received(content: bytes) -> tuple[IncomingFile, pd.DataFrame]:
    reception = Reception(open_cells(content), MODEL.schema_, MODEL.target_)
    rows, _scored = score_file(MODEL, reception)
    return rows, pd.concat([block.frame for block in rows.blocks()])


CELLS: dict[str, tuple[str, Callable[[int], str]]] = {
    "plain": (".", lambda i: ""),
    "decimal commas": (",", lambda i: ""),
    "bad and infinite": (".", lambda i: {3: "tall", 625: "inf", 999: "NA"}.get(i, "")),
    "a comma that shows late": (".", lambda i: "1,5" if i == 998 else "1,234"),
    "two marks": (".", lambda i: {1: "1.5", 990: "12,5"}.get(i, "7")),
    "two signs": (".", lambda i: {1: "5 %", 990: "$5"}.get(i, "7")),
    "leading zeros": (".", lambda i: f"{i:05d}"),
    "empty": (".", lambda i: "?"),
}


@pytest.mark.parametrize(("mark", "cell"), every_other(CELLS.values()), ids=CELLS)
@pytest.mark.slow
def test_a_file_received_in_blocks_is_the_file_received_whole(mark: str, cell: Callable[[int], str]) -> None:
    content = long_text(mark=mark, cell=cell).encode()
    rows, frame = received(content)
    once = receive(read_table(content, typed=False).frame, MODEL.schema_, MODEL.target_)
    np.testing.assert_array_equal(frame["height"], once.frame["height"])
    assert frame["city"].astype(object).tolist() == once.frame["city"].astype(object).tolist()
    assert rows.bad == once.bad[:LISTED]
    assert rows.notes == once.notes
    assert rows.truth.tolist() == once.truth.tolist()
    scored = score(MODEL, rows)
    np.testing.assert_array_equal(scored.ledger.joint(), score(MODEL, once).ledger.joint())
    both = (as_csv(MODEL, r, scored, ZERO_ONE, CLASSES) for r in (rows, once))
    assert next(both) == next(both)


@pytest.mark.slow
def test_every_row_not_decided_says_why_however_many_there_are() -> None:
    rows, _ = received(long_text(2 * LISTED, cell=lambda i: "tall").encode())
    assert len(rows.bad) == LISTED
    told = pd.concat(list(answers(MODEL, rows, score(MODEL, rows), ZERO_ONE, CLASSES)))
    assert set(told["reason"]) == {"height = tall (no number)"}


def test_amounts_are_received_with_the_rows() -> None:
    text = "city,sum\nRome,1200 DM\nOslo,-5\nOslo,\n"
    reception = Reception(
        open_cells(text.encode()), MODEL.schema_, MODEL.target_, rules=CellRules(units={"sum": " DM"}), amount="sum"
    )
    rows, scored = score_file(MODEL, reception)
    np.testing.assert_array_equal(rows.amount, [1200.0, np.nan, np.nan])
    assert [(cell.row, cell.why) for cell in rows.bad] == [(1, "negative"), (2, "missing")]
    told = next(answers(MODEL, rows, scored, ZERO_ONE, CLASSES, amount=rows.amount))
    assert told["reason"].tolist()[1:] == ["sum = -5 (negative)", "sum =  (missing)"]
    notes = [str(note.message) for note in rows.notes]
    assert ("column 'sum': cells that are no amount, a number of 0 and more: 2, the first in row 2 ('-5'); these rows "
            "are not decided") in notes  # fmt: skip


def test_how_amounts_are_read_is_told() -> None:
    cells = open_cells(b'city,sum\nRome,"1,000"\nOslo,"2,500"\n')
    rows, _ = score_file(MODEL, Reception(cells, MODEL.schema_, MODEL.target_, amount="sum"))
    assert rows.amount is not None and rows.amount.tolist() == [1000.0, 2500.0]
    assert any("column 'sum': commas are thousands separators" in str(note.message) for note in rows.notes)


def test_what_em_fitted_classifies_a_file_too() -> None:
    fitted = SemiSupervisedNB().fit(TRAIN, LABELS.where(LABELS.index != 2, None))
    reception = Reception(open_cells(TRAIN.to_csv(index=False).encode()), *_of(fitted.estimator_))
    rows, scored = score_file(fitted, reception)
    np.testing.assert_allclose(scored.posterior(), fitted.predict_proba(TRAIN), atol=1e-12)
    assert len(pd.concat(list(answers(fitted, rows, scored, ZERO_ONE, CLASSES)))) == 6


def test_a_model_that_leaves_columns_of_its_table_out_classifies_a_file_without_them() -> None:
    narrow = NaiveBayes(schema=Schema((MODEL.schema_["height"],))).fit(TRAIN, LABELS)
    rows, scored = score_file(narrow, Reception(open_cells(b"height\n162\n187\n"), *_of(narrow)))
    assert scored.decide(ZERO_ONE).action.tolist() == ["no", "yes"]
    assert next(answers(narrow, rows, scored, ZERO_ONE, CLASSES))["reason"].str.startswith("height = 1").all()


def _of(fitted: NaiveBayes) -> tuple[Schema, Variable]:
    return fitted.schema_, fitted.target_


@pytest.mark.parametrize("kind", WRITERS)
def test_half_a_character_spoils_no_file(kind: str) -> None:
    cells = pd.DataFrame({"height": ["170", "\udfff"], "note": ["=\ud800", "😀"]}, dtype=object)
    rows, scored = score_file(MODEL, Reception(CellBlocks.of(cells), MODEL.schema_, MODEL.target_))
    back = _read(kind, as_file(kind, MODEL, rows, scored, ZERO_ONE, CLASSES))
    assert back["note"].tolist() == ["'=\ufffd" if kind == "csv" else "=\ufffd", "😀"]
    assert back["status"].tolist() == ["ok", "unusable cell"]


def _read(kind: str, content: bytes) -> pd.DataFrame:
    file = io.BytesIO(content)
    return (pd.read_csv(file) if kind == "csv" else pd.read_parquet(file) if kind == "parquet"
            else pd.read_excel(file, engine="calamine"))  # fmt: skip


def test_what_looks_like_the_notation_of_a_character_stays_text_in_a_spreadsheet() -> None:
    texts = ["_x0041_", "_x005F_x0041_", "_x000D\x01", "a_x000D_x000D_", "_x00_", "\r_x000D_"]
    out = io.BytesIO()
    WRITERS["xlsx"](out, iter([pd.DataFrame({"t": pd.Series(texts, dtype="str")})]), len(texts))
    back = pd.read_excel(io.BytesIO(out.getvalue()), engine="calamine", na_filter=False)
    assert back["t"].tolist() == texts


def test_a_long_file_says_how_far_it_is_and_can_be_called_off() -> None:
    far: list[float] = []
    with watching(lambda: False, lambda done, total: far.append(done / total if total else 0.0)):
        received(REGULAR["plain"])
    assert far and all(0 <= f <= 1 for f in far)
    asked = iter(range(10))
    with pytest.raises(Cancelled), watching(lambda: next(asked, 9) >= 0):
        received(REGULAR["plain"])


# names -------------------------------------------------------------------------------------------------------------


def test_names_alike_are_taken_where_that_is_said() -> None:
    cells = pd.DataFrame({"Ｈｅｉｇｈｔ": ["170"], "CITY ": ["Rome"], "Tall": ["yes"]})
    with pytest.raises(SchemaMismatch):
        receive(cells, MODEL.schema_, MODEL.target_)
    rows = receive(cells, MODEL.schema_, MODEL.target_, alike=True)
    assert rows.frame["height"].tolist() == [170.0] and rows.truth.tolist() == [1]
    assert rows.names == ("Ｈｅｉｇｈｔ", "CITY ", "Tall")  # the results keep the file's own names
    assert "column 'CITY ' of the file is taken as 'city'" in [str(n.message) for n in rows.notes]
    told = next(answers(MODEL, rows, score(MODEL, rows), ZERO_ONE, CLASSES))
    assert "height = 170" in told["reason"].iloc[0] or "city = Rome" in told["reason"].iloc[0]


def test_names_alike_are_not_taken_where_two_would_do() -> None:
    assert names_alike(["Size", "SIZE "], ["size"]) == {}
    assert names_alike(["Size", "size"], ["size"]) == {}
    assert names_alike(["e\u0301t\u00e9"], ["\u00e9t\u00e9"]) == {"\u00e9t\u00e9": "e\u0301t\u00e9"}


# what a spreadsheet opens ------------------------------------------------------------------------------------------

HOSTILE = ("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1", "＋x", "－x", "＠x", "'=1", "''@x", "=", "-",
           " =1", "  @x", "\u00a0+x", "\u3000＝x", "' =1",
           "=HYPERLINK(\"http://x\")")  # fmt: skip
HARMLESS = ("-5", "+3.2e4", "-12 %", "−7", "-1.234,56", "+$5", "1=1", "a@b", "'s-Gravenhage", "'-5", "", " -5", " x =1",
            "5'")  # fmt: skip


def test_texts_are_guarded_numbers_are_not_and_the_guard_is_undone() -> None:
    safe = guarded(pd.Series([*HOSTILE, *HARMLESS], dtype="str")).tolist()
    assert safe == [*(f"'{text}" for text in HOSTILE), *HARMLESS]
    assert [unguarded(text) for text in safe] == [*HOSTILE, *HARMLESS]


def test_a_file_of_results_gives_its_cells_back() -> None:
    cells = pd.DataFrame({"=note": [*HOSTILE, *HARMLESS], "city": "Rome"}, dtype="str")
    first = receive(cells, MODEL.schema_, MODEL.target_)
    written = as_csv(MODEL, first, score(MODEL, first), ZERO_ONE, CLASSES)
    again = open_cells(written)
    rows, scored = score_file(MODEL, Reception(again, MODEL.schema_, MODEL.target_))
    back = next(rows.blocks()).cells
    assert back["=note"].tolist() == cells["=note"].tolist()
    assert "the apostrophes" in str(rows.notes[0].message)
    twice = as_csv(MODEL, rows, scored, ZERO_ONE, CLASSES)
    table = read_table(twice, typed=False).frame
    assert table["'=note"].tolist() == guarded(cells["=note"]).tolist()
    assert "decision_2" in table.columns


def written(kind: str, cells: pd.DataFrame) -> tuple[bytes, pd.DataFrame]:
    rows = receive(cells, MODEL.schema_, MODEL.target_)
    scored = score(MODEL, rows)
    content = as_file(kind, MODEL, rows, scored, ZERO_ONE, CLASSES)
    return content, pd.concat(list(answers(MODEL, rows, scored, ZERO_ONE, CLASSES)))


STRANGE = pd.DataFrame({
    "height": ["170", "007", "1.5", "", "tall", "1e400"],
    "city": ["=Rome", "京都 & <b>", " a  b ", "x\x0b\x01y\r\nz", "_x0041_", "😀"],
    "decision": ["-5", "TRUE", "2024-01-02", "1/2", "1E5", "None"],
    "status": "mine",
}, dtype="str")  # fmt: skip


def test_a_spreadsheet_has_every_cell_as_text_and_the_answers_as_numbers() -> None:
    content, want = written("xlsx", STRANGE)
    back = pd.read_excel(io.BytesIO(content), engine="calamine", na_filter=False, dtype=object)
    assert list(back.columns) == list(want.columns)
    for name in STRANGE:
        assert back[name].tolist() == STRANGE[name].tolist()
    assert back["decision_2"].tolist() == want["decision_2"].tolist()
    fine = want["risk"].notna()
    assert fine.tolist() == [True, True, True, True, False, False]
    for name in ("risk", "gap", "P(no)", "P(yes)"):
        assert back.loc[fine, name].tolist() == want.loc[fine, name].tolist()
        assert back.loc[~fine, name].tolist() == ["", ""]


def test_a_spreadsheet_holds_no_formula_and_another_program_reads_it() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    content, _ = written("xlsx", STRANGE)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")
    cells = openpyxl.load_workbook(io.BytesIO(content)).active
    assert {cell.data_type for row in cells.iter_rows() for cell in row} <= {"inlineStr", "s", "n"}
    assert cells["B2"].value == "=Rome" and cells["B2"].data_type != "f" and cells["A3"].value == "007"


def test_columns_of_numbers_and_of_days_are_such_in_a_spreadsheet() -> None:
    cells = pd.DataFrame({
        "sum": ["1.50", "", "-3", "0.25"], "n": ["1", "0", "12", "999999999999999"], "code": ["007", "1", "2", "3"],
        "card": ["4556737586899855", "1", "2", "3"], "id": ["1", "2", "3", "4"], "power": ["1E5", "1", "2", "3"],
        "day": ["2024-01-02", "", "1999-12-31", "1900-03-01"], "no day": ["2024-02-30", "2024-01-01", "", ""],
        "old": ["1899-01-01", "2024-01-01", "", ""], "empty": [""] * 4, "long": ["1." + "1" * 16, "1", "2", "3"],
    }, dtype="str")  # fmt: skip
    types = typed_columns([cells[:2], cells[2:]], {"id"})
    assert {cells.columns[j]: kind for j, kind in types.items()} == {"sum": "number", "n": "number", "day": "day"}
    out = io.BytesIO()
    WRITERS["xlsx"](out, (typed(block, types) for block in (cells[:2], cells[2:])), 4)
    back = pd.read_excel(out, engine="calamine", na_filter=False, dtype=object)
    assert back["sum"].tolist() == [1.5, "", -3, 0.25] and back["n"].tolist() == [1, 0, 12, 999999999999999]
    assert [str(v)[:10] for v in back["day"]] == ["2024-01-02", "", "1999-12-31", "1900-03-01"]
    assert not isinstance(back["day"][0], str)
    for name in ("code", "card", "id", "power", "no day", "old", "long"):
        assert back[name].tolist() == cells[name].tolist()


def test_what_a_spreadsheet_cannot_hold_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    with pytest.raises(TableError, match="1,048,576 rows of 2 columns do not fit a spreadsheet"):
        SheetWriter(out, ["a", "b"], 1_048_576)
    with pytest.raises(TableError, match="16,384 columns"):
        SheetWriter(out, ["a"] * 16_385, 1)
    assert out.getvalue() == b""
    long = pd.DataFrame({"city": ["x" * sheet.MAX_TEXT, "y" * (sheet.MAX_TEXT + 1), "😀" * 20_000]}, dtype="str")
    assert WRITERS["xlsx"](out, iter([long]), 3) == 2
    back = pd.read_excel(io.BytesIO(out.getvalue()), engine="calamine")["city"]
    assert back.tolist() == ["x" * 32_767, "y" * 32_767, "😀" * 16_383]


def test_parquet_has_the_cells_as_strings_and_the_answers_typed() -> None:
    content, want = written("parquet", STRANGE)
    back = pd.read_parquet(io.BytesIO(content))
    text = "str" if at_least("pandas", 3) else "object"
    assert {name: str(back[name].dtype) for name in ("height", "P(no)", "risk", "decision_2")} == {
        "height": text, "P(no)": "float64", "risk": "float64", "decision_2": text}  # fmt: skip
    pd.testing.assert_frame_equal(back, want.reset_index(drop=True), check_dtype=False)


def test_the_bytes_of_a_csv_are_those_that_pandas_writes() -> None:
    frame = pd.DataFrame({
        "text": ["a,b", 'say "x"', "", "one\r\ntwo", "京都"], "=n": [0.1, 1e-300, np.nan, -np.inf, 1 / 3],
        "whole": [1, -2, 3, 2**60, 0], "yes": [True, False, True, True, False],
    })  # fmt: skip
    out = io.BytesIO()
    WRITERS["csv"](out, iter([frame[:2], frame[2:]]), len(frame))
    want = frame.rename(columns={"=n": "'=n"}).to_csv(index=False, lineterminator="\r\n")
    assert out.getvalue().decode("utf-8-sig") == want
    alone = io.BytesIO()
    WRITERS["csv"](alone, iter([frame[["text"]]]), len(frame))
    assert alone.getvalue().decode("utf-8-sig") == frame[["text"]].to_csv(index=False, lineterminator="\r\n")


def test_a_long_csv_can_be_packed() -> None:
    rows, _ = received(REGULAR["plain"])
    out, scored = io.BytesIO(), score(MODEL, rows)
    WRITERS["csv"](out, answers(MODEL, rows, scored, ZERO_ONE, CLASSES), len(rows), packed=True)
    back = read_table(out.getvalue(), typed=False).frame
    assert back["note"].tolist() == whole(open_cells(REGULAR["plain"]))["note"].tolist()


# counts and reasons -------------------------------------------------------------------------------------------------


def test_decisions_against_the_truth_with_strange_labels_apart() -> None:
    text = "height,tall\n160,no\n161,yes\n190,yes\n190,TRUE\n190,\n"
    rows = receive(read_table(text.encode(), typed=False).frame, MODEL.schema_, MODEL.target_)
    count = decision_counts(rows, score(MODEL, rows).decide(ZERO_ONE), ZERO_ONE, CLASSES)
    assert count.confusion.tolist() == [[1, 1], [0, 1]]
    assert (count.known, count.right, count.strange) == (3, 2, 1)


def test_the_reason_of_a_text_names_its_loudest_words() -> None:
    texts = ["free prize call", "call free now", "lunch at noon", "see you at noon"]
    table = pd.DataFrame({"message": texts, "links": [1.0, 2.0, 0.5, 0.0]})
    for kind in ("multinomial", "bernoulli"):
        model = NaiveBayes(text={"columns": ["message"]}, likelihoods={"message": kind}).fit(
            table, ["spam", "spam", "ham", "ham"]
        )
        cells = pd.DataFrame({"message": ["a free lunch, call", "", "noon"]}, dtype="str")
        rows = receive(cells, model.schema_, model.target_)
        scored = score(model, rows)
        decision = scored.decide(LossMatrix.zero_one(("ham", "spam")))
        told = results(model, rows, scored, decision, scored.posterior(), ("ham", "spam"), np.arange(3))["reason"]
        assert decision.action[0] == "spam"
        assert told[0].startswith("message = a free lunch, call (+") and told[0].endswith(": call, free)")
        assert told[2].endswith(": noon)")
        opened = model.explain(rows.frame, opened=["message"]).contributions("spam", "ham").iloc[0]
        loud = opened[[name for name in opened.index if name.startswith("message: ") and opened[name] > 0]]
        assert {"message: call", "message: free"} <= set(loud.index)


def blocks(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    return CellBlocks.of(cells).blocks(2)


@pytest.mark.slow
def test_wide_tables_come_in_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_blocks, "BLOCK", file_blocks.BLOCK // 20)
    wide = pd.DataFrame({f"c{i}": ["1"] * 60 for i in range(1000)}, dtype="str")
    most = file_blocks.BLOCK // 1000
    assert 1 < most < 60
    assert [len(block) for block in CellBlocks.of(wide).blocks()] == [min(most, 60 - at) for at in range(0, 60, most)]
    assert [block.index.tolist() for block in blocks(wide.iloc[:3, :2])] == [[0, 1], [2]]


def test_the_ledger_of_a_long_table_is_summed_a_block_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pd.concat([TRAIN, pd.DataFrame({"height": [np.nan, np.inf, 172.0], "city": [None, "Oslo", "Paris"]})])
    expected = MODEL.explain(rows).summed()
    monkeypatch.setattr(classified_file, "CELLS", 8)
    looks: list[int] = []
    with watching(lambda: looks.append(1) is not None, pace=0.0):
        found = classified_file.summed(MODEL, rows)
    assert len(looks) >= 3 and found.classes == expected.classes
    np.testing.assert_array_equal(found.joint(), expected.joint())
    np.testing.assert_array_equal(found.status, expected.status)
