"""A large file is opened only where it may lie, and its sample is drawn as it is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import chisquare, kstest

from bayes_engine import LossMatrix, NaiveBayes, Schema
from bayes_engine.errors import BayesEngineError, ReadError, TableError
from bayes_engine.progress import Cancelled, watching
from bayes_engine.scale import sample
from bayes_engine.scale.sample import sample_files
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.incoming import large_file, unfinished
from bayes_engine.workbench.incoming.large_file import CsvForm, SampleOf, csv_form, draw, files_at, folders, sample_of
from bayes_engine.workbench.incoming.unfinished import Unfinished

ROWS = pd.DataFrame(
    {"row": range(50), "sound": ["dull", "crisp", None, "dull", "dull"] * 10, "good": [True, False] * 25}
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    ROWS.to_parquet(tmp_path / "melons.parquet", row_group_size=7)
    return tmp_path / "melons.parquet"


def test_the_same_seed_draws_the_same_rows_in_their_order(file: Path) -> None:
    first, again, other = (sample_files(file, 9, seed=seed).table.to_pandas() for seed in (3, 3, 4))
    assert first.equals(again) and not first.equals(other)
    assert first["row"].is_monotonic_increasing and first["row"].is_unique
    assert first.equals(ROWS.iloc[first["row"]].reset_index(drop=True))
    assert sample_files(file, 50).table.to_pandas().equals(ROWS)


def test_csv_is_drawn_as_parquet_and_whole_numbers_stay_such(file: Path) -> None:
    ROWS.to_csv(file.with_suffix(".csv"), index=False)
    one, two = (sample_files(path, 9, seed=1).table.to_pandas() for path in (file, file.with_suffix(".csv")))
    assert one["row"].tolist() == two["row"].tolist() and two["row"].dtype == np.int64


def test_a_column_whose_fractions_come_late_is_read_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayes_engine.scale.csv_blocks.CSV_BLOCK", 64)
    (tmp_path / "x.csv").write_text("x,y\n" + "1,a\n" * 60 + "1.5,b\n")
    assert sample_files(tmp_path / "x.csv", 100).table["x"].to_pylist() == [1.0] * 60 + [1.5]


@pytest.mark.slow
def test_every_row_is_as_likely_as_any_other(file: Path) -> None:
    """1,000 draws of 5 of 50 rows: how often each row, and each pair of neighbours, is in them."""
    ROWS[["row"]].to_parquet(file)
    drawn = np.array([sample_files(file, 5, seed=seed).table["row"].to_numpy() for seed in range(1_000)])
    counts = np.bincount(drawn.ravel(), minlength=50)
    assert chisquare(counts).pvalue > 1e-3
    together = sum((np.diff(rows) == 1).sum() for rows in drawn)  # expected: 49 · (5 · 4)/(50 · 49) each
    assert abs(together - 1_000 * 0.4) < 4 * np.sqrt(1_000 * 0.4)


@pytest.mark.parametrize("seed", [0, 5])
def test_a_column_made_with_the_same_seed_does_not_decide_what_is_drawn(seed: int, tmp_path: Path) -> None:
    made = np.random.default_rng(seed).random(4_000)
    pq.write_table(pa.table({"made": made}), tmp_path / "made.parquet", row_group_size=1_000)
    drawn = sample_files(tmp_path / "made.parquet", 400, seed=seed).table["made"].to_numpy()
    assert kstest(drawn, "uniform").pvalue > 1e-3


@pytest.mark.slow
def test_rows_drawn_across_many_batches_are_uniform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayes_engine.scale.sources.BATCH", 1_000)
    pq.write_table(pa.table({"row": np.arange(200_000)}), tmp_path / "long.parquet", row_group_size=20_000)
    drawn = sample_files(tmp_path / "long.parquet", 2_000, seed=7)
    assert drawn.rows == 200_000 and drawn.table.num_rows == 2_000
    assert kstest(drawn.table["row"].to_numpy() / 200_000, "uniform").pvalue > 1e-3


def test_what_is_damaged_or_empty_is_said(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReadError, match=r"'melons\.parquet' cannot be read as Parquet"):
        sample_files(file, 5)
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), file)
    with pytest.raises(TableError, match="no rows to draw"):
        sample_files(file, 5)
    pq.write_table(pa.table({}), file)
    with pytest.raises(TableError, match=r"no column in 'melons\.parquet'"):
        sample_files(file, 5)
    with pytest.raises(BayesEngineError, match="1 or more"):
        sample_files(file, 0)


def test_a_column_that_one_file_lacks_or_has_otherwise_names_both(file: Path) -> None:
    ROWS.assign(row="1").to_parquet(file.with_name("other.parquet"))
    with pytest.raises(BayesEngineError, match=r"'row' holds .*'melons.parquet'.*'other.parquet'"):
        sample_files(file.parent, 5)
    ROWS[["row", "good"]].to_parquet(file.with_name("other.parquet"))
    with pytest.raises(TableError, match=r"'sound' is not in 'other\.parquet', and 'melons\.parquet' has it"):
        sample_files(file.parent, 5)


# where it may lie -------------------------------------------------------------------------------------------------


def test_a_path_leads_into_the_folders_or_nowhere(file: Path, tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    secret = outside / "secret.parquet"
    secret.write_bytes(file.read_bytes())
    mine = inside / "mine.parquet"
    mine.write_bytes(file.read_bytes())
    within = folders(f"{inside}:relative:{tmp_path / 'absent'}:{inside}")
    assert within == (inside.resolve(),)
    assert files_at(str(mine), within) == files_at("mine.parquet", within) == files_at(f"{inside}/.", within) == [mine]
    (inside / "link.parquet").symlink_to(secret)
    (inside / "fine.parquet").symlink_to(mine)
    assert files_at("fine.parquet", within) == [mine]
    (inside / "fine.parquet").unlink()  # or the folder held the file twice
    said = set()
    for path in (
        secret,
        outside / "absent",
        inside / "link.parquet",
        "../out/secret.parquet",
        "\0",
        "/",
        "~",
        within[0],
    ):
        with pytest.raises(ReadError) as refused:
            files_at(str(path), within)
        said.add(refused.value.message.template)
    assert len(said) == 1  # of what lies outside is not said whether it is there
    with pytest.raises(ReadError, match="there is no file"):
        files_at("absent.parquet", within)
    with pytest.raises(ReadError, match="no path is given; name a file, or a folder of files, in "):
        files_at(" ", within)
    assert folders("") == ()
    with pytest.raises(ReadError, match="in none of the folders"):
        files_at(str(mine), ())


def test_a_path_that_the_system_refuses_is_said(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one whose name is too long, or of links that lead to themselves, or in a folder that may not be looked at."""
    within, long = folders(str(tmp_path)), "瓜" * 300
    (tmp_path / "round").symlink_to(tmp_path / "round")
    for path in (long, f"{long}.parquet", str(tmp_path / long), f"{long}/melons.parquet", "a/" * 3_000):
        with pytest.raises(ReadError, match="cannot be read: File name too long"):
            files_at(path, within)
    for path in ("round", "round/melons.parquet", "a\0b", "\ud800", "~nobody-here/x"):
        with pytest.raises(ReadError):
            files_at(path, within)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "round").write_bytes(file.read_bytes())
    assert files_at("round", (*within, tmp_path / "other")) == [tmp_path / "other" / "round"]
    assert large_file.stamp_of([tmp_path / long, tmp_path / "round", file]) == large_file.stamp_of([file])

    def refused(*_given: object) -> bool:
        raise PermissionError(13, "Permission denied")

    for asks in ("is_dir", "is_file", "open"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, asks, refused)
            with pytest.raises(ReadError, match="cannot be read: Permission denied"):
                files_at(str(tmp_path if asks == "open" else file), within)


# how it is written ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "form"), [
    ("a,b\n1,x\n2,y\n", CsvForm()), ("a;b\n1.5;x\n2;y\n", CsvForm(";", "utf-8")),
    ("瓜,好\n青绿,是\n乌黑,否\n".encode("gb18030"), CsvForm(",", "gb18030")),
])  # fmt: skip
def test_how_a_csv_is_written_is_seen_at_its_beginning(text: str | bytes, form: CsvForm, tmp_path: Path) -> None:
    place = tmp_path / "t.csv"
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert csv_form(place) == form
    names = draw([place], 10, 0)
    assert names.form == form and names.of == SampleOf("t.csv", 2, 2, 0) and names.of.is_whole


@pytest.mark.parametrize(("text", "why"), [
    ("A title\n\na;b;c\n" + "1;x;2\n" * 9, "the names of the columns in its first line"),
    ("a;b\n1,5;x\n2,5;y\n", "points as decimal marks"),
    ("@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n1,x\n", "neither Parquet nor CSV"),
])  # fmt: skip
def test_what_is_not_read_in_blocks_is_refused(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ReadError, match=why):
        csv_form(tmp_path / "t.csv")


def test_of_a_long_head_whole_lines_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_file, "HEAD", 50)
    (tmp_path / "t.csv").write_text("a;b\n" + "1.5;x\n2.5;y\n" * 50)
    assert csv_form(tmp_path / "t.csv").delimiter == ";"
    with pytest.raises(ReadError, match="cannot be read"):
        csv_form(tmp_path / "absent.csv")


# what a sample says of itself -------------------------------------------------------------------------------------


def test_a_sample_says_what_it_is_of(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = draw([file], 20, 5)
    assert sample_of(drawn.content) == drawn.of == SampleOf("melons.parquet", 50, 20, 5)
    assert not drawn.of.is_whole
    assert draw([file], 20, 5).content == drawn.content  # so a link finds it again
    assert sample_of(file.read_bytes()) is None
    monkeypatch.setattr(large_file, "MOST_CELLS", 12)
    assert draw([file], 20, 5).of.drawn == 4


FORGED: list[Callable[[], bytes]] = [
    lambda: b"PAR1 and nothing more",
    *(
        lambda said=said: _marked(said)
        for said in (b"{", b"[1]", b'{"file": 1, "rows": 2, "drawn": 1, "seed": 0}',
                     json.dumps({"file": "x", "rows": 1, "drawn": 2, "seed": 0}).encode())
    ),
]  # fmt: skip


def _marked(said: bytes) -> bytes:
    out = BytesIO()
    pq.write_table(pa.table({"x": [1]}).replace_schema_metadata({large_file.MARK: said}), out)
    return out.getvalue()


@pytest.mark.parametrize("content", FORGED)
def test_what_a_forged_file_says_of_itself_is_passed_over(content: Callable[[], bytes]) -> None:
    assert sample_of(content()) is None


def test_the_keys_are_drawn_once_for_each_row(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows with the smallest of the numbers that the seed gives, worked out by hand."""
    keys = np.random.default_rng((11, sample.OWN)).random(50)
    want = np.sort(np.argsort(keys)[:6])
    assert sample.sample_files(file, 6, seed=11).table["row"].to_pylist() == want.tolist()


# beside it --------------------------------------------------------------------------------------------------------


def test_answers_lie_beside_the_file_under_a_name_that_none_has(tmp_path: Path) -> None:
    within = (tmp_path,)
    (tmp_path / "many").mkdir()
    for name in ("t.csv.gz", "u.parquet", "t.classified.csv", "many/a.csv", "many/b.csv"):
        (tmp_path / name).touch()
    beside = large_file.answer_beside
    assert beside([tmp_path / "t.csv.gz"], ".csv", within) == tmp_path / "t.classified-2.csv"
    assert beside([tmp_path / "u.parquet"], ".parquet", within) == tmp_path / "u.classified.parquet"
    assert beside([tmp_path / f"{'名' * 83}.csv"], ".csv", within) == tmp_path / f"{'名' * 66}.classified.csv"
    many = [tmp_path / "many" / name for name in ("a.csv", "b.csv")]
    assert beside(many, ".csv", within) == tmp_path / "many.classified.csv"
    with pytest.raises(ReadError, match="give one of the files"):
        beside(many, ".csv", (tmp_path / "many",))


def test_all_rows_are_fitted_judged_and_classified_as_told(file: Path, tmp_path: Path) -> None:
    """Each tells how far all its passes are, and stops where it is asked to."""
    rows = large_file.AllRows.of([file], CsvForm())
    model = NaiveBayes(discretize="equal-width", bins=2, missing="marginalize")
    columns = large_file.Columns("good", Schema((Variable("row", "continuous"), Variable("sound", "categorical"))))
    part = large_file.place_of_part("count", tmp_path / "counts")
    assert part is not None
    told: list[float] = []
    with watching(lambda: False, lambda done, total: told.append(done / total), 0.0):
        fitted = large_file.fit_all(model, rows, columns, part)
    assert told == sorted(told) and told[-1] == 1.0 and 0.4 < told[len(told) // 2] <= 1.0
    X = ROWS[["row", "sound"]]
    own = model.fit(X, ROWS["good"])
    np.testing.assert_allclose(fitted.predict_proba(X), own.predict_proba(X), rtol=1e-12)
    loss = LossMatrix.zero_one((False, True))
    risk = large_file.judge_all(model, rows, columns, loss, None)
    assert risk.rows == 50 and risk.passes == 3
    done = large_file.classify_all(fitted, rows, tmp_path / "answers.parquet", loss, None)
    assert done.rows == 50 and pq.read_table(done.path).num_rows == 50
    with watching(lambda: True), pytest.raises(Cancelled):
        large_file.fit_all(model, rows, columns, part)
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(ReadError, match="has changed since it was opened"):
        large_file.fit_all(model, rows, columns, None)


def test_what_is_unfinished_is_noted_and_read_with_care(file: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    stamp = large_file.stamp_of([file])
    work = Unfinished("ab", "fit", "melons.parquet", 50, stamp, stamp, 20, 5, "")
    unfinished.remember(work, counts)
    unfinished.remember(work._replace(name="cd", what="classify", answer=str(tmp_path / "a.csv")), counts)
    (counts / "xy.work.json").write_text("[1]")
    (counts / "zz.work.json").write_text(json.dumps(work._replace(what="burn")._asdict()))
    found = {one.name: one for one in unfinished.notes(counts)}
    assert found.keys() == {"ab", "cd"} and found["ab"] == work and work.is_as_it_was
    assert unfinished.rows_kept(work, counts) == 0
    rows = large_file.AllRows.of([file], CsvForm())
    columns = large_file.Columns("good", Schema((Variable("sound", "categorical"),)))
    model = large_file.fit_all(NaiveBayes(), rows, columns, counts / "ab")
    assert unfinished.rows_kept(work, counts) == 50
    large_file.judge_all(NaiveBayes(), rows, columns, LossMatrix.zero_one((False, True)), None, counts / "ab.judge")
    assert unfinished.rows_kept(work, counts) == 50 and large_file.rows_of(rows) == 50
    folder = unfinished.answers_in(str(tmp_path / "a.csv"), "cd")
    large_file.classify_all(model, rows, tmp_path / "a.csv", LossMatrix.zero_one((False, True)), None, folder)
    folder.mkdir()
    unfinished.forget_answers(found["cd"])
    (counts / ".ab.0123abcd.part").touch()  # of a program that was killed as it wrote
    unfinished.forget("ab", counts)
    assert not folder.exists() and [one.name for one in unfinished.notes(counts)] == ["cd"]
    assert not list(counts.glob("*ab*"))
    file.write_bytes(b"")
    assert not work.is_as_it_was and large_file.rows_of(rows) == 0
    assert unfinished.notes(tmp_path / "absent") == []


def test_parts_of_counts_are_bounded_and_where_none_can_be_kept_there_is_none(tmp_path: Path) -> None:
    for i in range(40):
        (tmp_path / f"{i:02}").touch()
    assert large_file.place_of_part("00", tmp_path) == tmp_path / "00"
    assert len([*tmp_path.iterdir()]) <= 2 * large_file.KEPT + 1 and (tmp_path / "00").exists()
    (tmp_path / "file").touch()
    assert large_file.place_of_part("x", tmp_path / "file" / "within") is None
