"""Texts in files: the vocabulary and the counts are those of a fit in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from bayes_engine import (
    TAN,
    BernoulliNB,
    ComplementNaiveBayes,
    ComplementNB,
    LossMatrix,
    MultinomialNB,
    NaiveBayes,
    Schema,
    SemiSupervisedNB,
    classify_files,
    collect_parquet,
    evaluate_files,
    fit_batches,
    fit_files,
    held_out_risk,
    load_model,
    save_model,
)
from bayes_engine.decision.compare import score
from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.held_out import held_out
from bayes_engine.errors import BayesEngineError, NoTerms, ParameterError, StoreError, TableError
from bayes_engine.scale import Progress, texts
from bayes_engine.scale.folds import Division, folds_of
from bayes_engine.scale.plan import CountRequest, planned
from bayes_engine.scale.score import RiskInFiles
from bayes_engine.scale.sources import opened
from bayes_engine.scale.stream import pieces
from bayes_engine.scale.texts import TermTally
from tests.unit.test_scale_cluster import NearBy
from tests.unit.test_scale_em import Stop, stopping

WORDS = np.array(
    ["win", "a", "prize", "now", "call", "free", "lunch", "at", "noon", "免费", "领奖", "day", "again", "x1", "Z"]
)


def mails(n: int, *, missing: float = 0.1, seed: int = 0) -> pd.DataFrame:
    """Words of unequal frequency, a second text, a level, a number, counts."""
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 2, n)
    share = 1.0 / np.arange(1, len(WORDS) + 1)
    drawn = [" ".join(rng.choice(WORDS, rng.integers(0, 9), p=np.roll(share, 5 * k) / share.sum()).tolist()) for k in c]
    drawn = [f"{text} only{i}" if i % 7 == 0 else text for i, text in enumerate(drawn)]
    frame = pd.DataFrame({"text": pd.Series(drawn, dtype=object), "title": pd.Series(drawn[::-1], dtype=object)})
    frame["from"] = np.where(rng.random(n) < 0.5, "home", "work")
    frame["size"] = rng.normal(c, 1.0)
    frame["links"] = rng.poisson(1 + c).astype(float)
    frame["w"] = rng.integers(1, 4, n).astype(float)
    frame["kind"] = np.array(["ham", "spam"])[c]
    frame.loc[rng.random(n) < missing, "text"] = None
    return frame


def written(frame: pd.DataFrame, folder: Path, group: int = 30) -> Path:
    folder.mkdir(exist_ok=True)
    for i, part in enumerate(np.array_split(np.arange(len(frame)), 2)):
        frame.iloc[part].to_parquet(folder / f"part{i}.parquet", row_group_size=group)
    return folder


def assert_same(ours: Any, theirs: Any, X: pd.DataFrame) -> None:
    """Vocabulary, counts and answers."""
    assert ours.schema_.names == theirs.schema_.names
    for v in theirs.schema_:
        if v.textual:
            assert ours.schema_[v.name] == v
            a, b = ours.stats_.texts.columns[v.name], theirs.stats_.texts.columns[v.name]
            assert a.names == b.names
            np.testing.assert_array_equal(a.sums, b.sums)
            np.testing.assert_array_equal(a.weight, b.weight)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-12)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()


MULTINOMIAL = {"text": "multinomial"}


def test_a_vocabulary_of_files_is_that_of_a_fit(tmp_path: Path) -> None:
    frame, told = mails(60), list[Progress]()
    X = frame[["text", "size"]]
    model = NaiveBayes(likelihoods=MULTINOMIAL, text={"min_df": 2, "max_features": 6})
    folder = written(frame, tmp_path / "rows")
    ours = fit_files(model, folder, target="kind", columns=list(X), progress=told.append, threads=1)
    assert_same(ours, model.fit(X, frame["kind"]), X)
    assert {(far.step, far.steps) for far in told} == {(1, 2), (2, 2)}


def test_complement_naive_bayes_of_files(tmp_path: Path) -> None:
    frame = mails(40)
    X = frame[["text", "links"]]
    folder = written(frame, tmp_path / "rows")
    ours = fit_files(ComplementNaiveBayes(), folder, target="kind", columns=list(X), threads=1)
    assert_same(ours, ComplementNaiveBayes().fit(X, frame["kind"]), X)


def refused(error: type[BayesEngineError], model: Any, path: Any, **ask: Any) -> str:
    with pytest.raises(error) as raised:
        fit_files(model, path, target="kind", threads=1, **ask)
    return str(raised.value)


def test_what_texts_in_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = mails(30)
    folder = written(frame, tmp_path / "rows")
    model = NaiveBayes(likelihoods=MULTINOMIAL)
    said = refused(NoTerms, NaiveBayes(likelihoods=MULTINOMIAL, text={"min_df": 99}), folder, columns=["text"])
    assert "'text' hold no term that stands in 99" in said
    assert "cannot have the likelihood" in refused(ParameterError, NaiveBayes(likelihoods={"size": "multinomial"}),
                                                   folder, columns=["text", "size"])  # fmt: skip
    fitted = model.fit(frame[["text"]], frame["kind"])
    assert "which TAN cannot read" in refused(TableError, TAN(), folder, schema=fitted.schema_)
    with pytest.raises(TableError, match="fit_files finds it for naive Bayes"):
        collect_parquet(folder, target="kind", schema=fitted.schema_)
    with pytest.raises(ParameterError, match="calibrate it first"):
        held_out_risk(ComplementNaiveBayes(), folder, target="kind", columns=["text"])
    monkeypatch.setattr(texts, "MOST_TERMS", 3)
    assert "vocabulary of column 'text' has" in refused(TableError, model, folder, columns=["text"])
    monkeypatch.setattr(texts, "MOST_MET", 40)
    with pytest.raises(TableError, match="'text' holds more than 40 distinct terms in 5 folds, each counted by itself"):
        held_out_risk(model, folder, target="kind", columns=["text"])
    monkeypatch.setattr(texts, "MOST_MET", 5)
    assert "'text' holds more than 5 distinct terms" in refused(TableError, model, folder, columns=["text"])


def judged_in_memory(model: Any, frame: pd.DataFrame, names: list[str], folder: Path, ask: dict[str, Any]) -> Any:
    """Each fold by a fit to the rows of the others, vocabulary and all."""
    source = opened(folder)
    plan = planned(source, CountRequest("kind", None, ["size"], None, "columns"))
    folds = ask.get("folds", 5)
    fold = np.concatenate([folds_of(Division(folds, None, 0).hashes(p), folds) for p in pieces(source, plan)])
    weight = frame[ask["weight"]] if "weight" in ask else None
    whole = clone(model).fit(frame[names], frame["kind"], **({} if weight is None else {"sample_weight": weight}))
    return held_out(whole, frame[names], frame["kind"], folds=fold, sample_weight=weight)


def assert_judged_alike(ours: RiskInFiles, theirs: Any) -> None:
    report = estimated_risk(theirs, LossMatrix.zero_one(theirs.classes))
    np.testing.assert_array_equal(ours.confusion, report.confusion)
    assert ours.log_loss == pytest.approx(score(theirs)["log_loss"], rel=1e-10)


def test_each_fold_learns_its_vocabulary_from_the_others(tmp_path: Path) -> None:
    frame, told = mails(90, missing=0.0), list[Progress]()
    folder, ask = written(frame, tmp_path / "rows"), {"folds": 3}
    model = NaiveBayes(likelihoods=MULTINOMIAL, text={"min_df": 2, "max_features": 8})
    ours = held_out_risk(model, folder, target="kind", columns=["text", "size"], progress=told.append, threads=1, **ask)
    assert_judged_alike(ours, judged_in_memory(model, frame, ["text", "size"], folder, ask))
    assert ours.passes == 3 and {(far.step, far.steps) for far in told} == {(1, 3), (2, 3), (3, 3)}
    assert str(ours.scheme).endswith("row group and place, the vocabulary of each learnt from the others")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize("model", [
    NaiveBayes(likelihoods={"text": "multinomial", "title": "multinomial"}, text={"min_df": 3}, discretize="mdlp"),
    NaiveBayes(likelihoods={"text": "multinomial"}, text={"ngrams": (1, 2), "max_features": 30, "presence": True}),
])  # fmt: skip
def test_vocabularies_by_fold_with_weights_cut_points_a_cluster_and_taken_up_again(model: Any, tmp_path: Path) -> None:
    frame = mails(400)
    folder, names = written(frame, tmp_path / "rows"), ["text", "title", "from", "size"]
    names = [n for n in names if n != "title" or "title" in model.likelihoods]
    ask: dict[str, Any] = {"target": "kind", "columns": names, "weight": "w"}
    ours = held_out_risk(model, folder, **ask, resume=tmp_path / "kept")
    assert_judged_alike(ours, judged_in_memory(model, frame, names, folder, {"weight": "w"}))
    assert (tmp_path / "kept.terms").exists()
    again = held_out_risk(model, folder, **ask, resume=tmp_path / "kept")
    there = held_out_risk(model, folder, **ask, client=NearBy())
    assert again.log_loss == there.log_loss == ours.log_loss


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_em_finds_the_vocabulary_in_a_pass_before(tmp_path: Path) -> None:
    frame, told = mails(60, missing=0.0), list[Progress]()
    frame["kind"] = frame["kind"].where(np.arange(60) % 3 == 0)
    folder, X = written(frame, tmp_path / "rows"), frame[["text"]]
    model = SemiSupervisedNB(NaiveBayes(likelihoods=MULTINOMIAL, text={"min_df": 2}), max_iter=2, tol=0.0)
    ours = fit_files(model, folder, target="kind", columns=["text"], threads=1, progress=told.append,
                     resume=tmp_path / "kept")  # fmt: skip
    theirs = clone(model).fit(X, frame["kind"])
    assert ours.estimator_.schema_ == theirs.estimator_.schema_
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert {far.step for far in told} == {1, 2, 3, 4, 5} and {far.steps for far in told} == {5}
    assert (tmp_path / "kept.terms").exists()


def test_a_tally_of_terms_travels_as_bytes() -> None:
    tally = TermTally("text", {"a": 2, "\ud800": 1}, {"a": 3.0, "\ud800": 1.0})
    empty = TermTally("other")
    assert texts.unpacked_tallies(texts.packed_tallies((tally, empty)), ["text", "other"]) == (tally, empty)


MODELS = [
    NaiveBayes(likelihoods=MULTINOMIAL),
    NaiveBayes(likelihoods=MULTINOMIAL, text={"ngrams": (1, 2), "presence": True, "max_features": 20}),
    NaiveBayes(likelihoods={"text": "bernoulli", "title": "multinomial"}, text={"columns": ["text"], "min_df": 3}),
    NaiveBayes(likelihoods=MULTINOMIAL, text={"analyzer": "char_wb", "ngrams": (1, 3), "lowercase": False}),
    NaiveBayes(likelihoods=MULTINOMIAL, discretize="mdlp", missing="category"),
]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("kind", ["parquet", "csv", "batches"])
def test_every_reading_of_texts(model: NaiveBayes, kind: str, tmp_path: Path) -> None:
    frame = mails(400)
    X = frame[["text", "title", "from", "size"]]
    ask: dict[str, Any] = {"target": "kind", "columns": list(X), "weight": "w"}
    if kind == "batches":
        ours = fit_batches(model, lambda: (frame[i : i + 90] for i in range(0, 400, 90)), **ask)
    elif kind == "csv":
        frame.to_csv(tmp_path / "rows.csv", index=False)
        frame = pd.read_csv(tmp_path / "rows.csv")
        X = frame[list(X)]
        ours = fit_files(model, tmp_path / "rows.csv", **ask)
    else:
        ours = fit_files(model, written(frame, tmp_path / "rows"), **ask)
    theirs = NaiveBayes(**model.get_params()).fit(X, frame["kind"], frame["w"])
    assert_same(ours, theirs, X)


@pytest.mark.slow
@pytest.mark.parametrize("closed", [False, True])
def test_known_terms_of_a_schema_stay_in_front(closed: bool, tmp_path: Path) -> None:
    frame = mails(200)
    X = frame[["text", "from"]]
    first = NaiveBayes(likelihoods=MULTINOMIAL, text={"min_df": 2} if closed else None).fit(X[:20], frame["kind"][:20])
    model = NaiveBayes(schema=first.schema_)
    told: list[Progress] = []
    ours = fit_files(model, written(frame, tmp_path / "rows"), target="kind", progress=told.append)
    theirs = NaiveBayes(schema=first.schema_).fit(X, frame["kind"])
    assert told[-1].steps == 2 - closed
    assert_same(ours, theirs, X)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_a_closed_vocabulary_is_counted_and_taken_by_em(tmp_path: Path) -> None:
    frame = mails(200, missing=0.0)
    folder = written(frame, tmp_path / "rows")
    X = frame[["text", "size"]]
    first = NaiveBayes(likelihoods=MULTINOMIAL, text={"min_df": 2}).fit(X, frame["kind"])
    stats = collect_parquet(folder, target="kind", schema=first.schema_)
    np.testing.assert_array_equal(stats.texts.columns["text"].sums, first.stats_.texts.columns["text"].sums)
    with pytest.raises(TableError, match="schema= declares it for want='columns'"):
        collect_parquet(folder, target="kind", schema=first.schema_, want="pairs")
    assert held_out_risk(NaiveBayes(), folder, target="kind", schema=first.schema_).risk < 0.5
    hidden = frame.assign(kind=frame["kind"].where(np.arange(200) % 3 == 0))
    half = written(hidden, tmp_path / "half")
    model = SemiSupervisedNB(NaiveBayes(schema=first.schema_), max_iter=5, tol=0.0)
    ours = fit_files(model, half, target="kind")
    theirs = SemiSupervisedNB(NaiveBayes(schema=first.schema_), max_iter=5, tol=0.0).fit(X, hidden["kind"])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_a_model_of_texts_is_saved_and_judges_and_classifies_files(tmp_path: Path) -> None:
    frame = mails(300)
    X = frame[["text", "title", "size"]]
    folder = written(frame, tmp_path / "rows")
    model = NaiveBayes(likelihoods={"text": "multinomial", "title": "multinomial"})
    ours = fit_files(model, folder, target="kind", columns=list(X))
    save_model(ours, tmp_path / "model.bayes")
    np.testing.assert_array_equal(load_model(tmp_path / "model.bayes").predict_proba(X), ours.predict_proba(X))
    wrong = float((ours.predict(X) != frame["kind"]).mean())
    assert evaluate_files(ours, folder, target="kind").risk == pytest.approx(wrong)
    classify_files(ours, folder, tmp_path / "answers.parquet")
    assert pd.read_parquet(tmp_path / "answers.parquet").shape[0] == 300
    more = ours.partial_fit(X, frame["kind"])
    np.testing.assert_array_equal(more.stats_.class_weight, 2 * ours.stats_.class_weight / 2)


@pytest.mark.slow
def test_missing_texts_are_refused_where_the_model_says_so(tmp_path: Path) -> None:
    frame = mails(100)
    model = NaiveBayes(likelihoods=MULTINOMIAL, missing="error")
    assert "missing" in refused(TableError, model, written(frame, tmp_path / "rows"), columns=["text"])


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 2])
def test_the_passes_of_texts_go_on_where_they_were_broken_off(step: int, tmp_path: Path) -> None:
    frame = mails(300)
    X = frame[["text", "size"]]
    folder, kept = written(frame, tmp_path / "rows"), tmp_path / "kept"
    model = NaiveBayes(likelihoods=MULTINOMIAL, text={"max_features": 9})
    ask: dict[str, Any] = {"target": "kind", "columns": list(X), "resume": kept, "threads": 1}

    def stopping(far: Progress) -> None:
        if far.step == step and far.rows > 100:
            raise Stop

    with pytest.raises(Stop):
        fit_files(model, folder, progress=stopping, **ask)
    assert (tmp_path / "kept.terms").exists() and kept.exists() == (step == 2)
    told: list[Progress] = []
    ours = fit_files(model, folder, progress=told.append, **ask)
    assert all(far.rows_now < 300 for far in told if far.step == step)
    assert_same(ours, model.fit(X, frame["kind"]), X)
    with pytest.raises(StoreError, match="another text"):
        fit_files(NaiveBayes(likelihoods=MULTINOMIAL, text={"ngrams": 2}), folder, **ask)


@pytest.mark.slow
def test_texts_on_the_workers_of_a_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    frame = mails(300)
    X = frame[["text", "size"]]
    folder = written(frame, tmp_path / "rows")
    model = NaiveBayes(likelihoods=MULTINOMIAL, text={"max_features": 9})
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        ours = fit_files(model, folder, target="kind", columns=list(X), client=client)
    assert_same(ours, model.fit(X, frame["kind"]), X)


@pytest.mark.slow
def test_schema_of_kinds_alone(tmp_path: Path) -> None:
    """A schema that calls a column a text, and a model that says how it is read."""
    frame = mails(100)
    X = frame[["from", "text"]]
    schema = Schema.infer(frame[["from", "text", "kind"]])
    schema = Schema(tuple(v for v in schema if v.name != "text") + tuple(
        type(v)(v.name, "text") for v in schema if v.name == "text"))  # fmt: skip
    model = NaiveBayes(likelihoods=MULTINOMIAL, schema=schema)
    ours = fit_files(model, written(frame, tmp_path / "rows"), target="kind")
    theirs = model.fit(X, frame["kind"])
    assert ours.schema_["text"].levels == theirs.schema_["text"].levels
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()


def assert_same_pipeline(ours: Any, theirs: Any, X: list[str]) -> None:
    assert ours[0].vocabulary_ == theirs[0].vocabulary_
    for a, b in zip(ours[:-1], theirs[:-1], strict=True):
        assert hasattr(a, "idf_") == hasattr(b, "idf_")
        if hasattr(b, "idf_"):
            np.testing.assert_array_equal(a.idf_, b.idf_)
    np.testing.assert_allclose(ours[-1].feature_count_, theirs[-1].feature_count_, rtol=1e-12)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10)


def test_tf_idf_of_files_is_that_of_a_fit(tmp_path: Path) -> None:
    frame, told = mails(40, missing=0.0), list[Progress]()
    folder, X = written(frame, tmp_path / "rows"), frame["text"].tolist()
    model = make_pipeline(CountVectorizer(min_df=2, max_df=0.8, max_features=8), TfidfTransformer(), ComplementNB())
    ask: dict[str, Any] = {"columns": ["text"], "resume": tmp_path / "kept", "threads": 1}
    ours = fit_files(model, folder, target="kind", progress=told.append, **ask)
    assert_same_pipeline(ours, clone(model).fit(X, frame["kind"]), X)
    assert {(far.step, far.steps) for far in told} == {(1, 2), (2, 2)} and not hasattr(model[0], "vocabulary_")
    told.clear()
    again = fit_files(model, folder, target="kind", progress=told.append, **ask)
    np.testing.assert_array_equal(again[-1].feature_log_prob_, ours[-1].feature_log_prob_)
    assert not any(far.rows_now for far in told)
    assert "reads one column" in refused(ParameterError, model, folder)
    other = make_pipeline(CountVectorizer(vocabulary=["a"]), ComplementNB())
    assert "neither with a vocabulary given" in refused(ParameterError, other, folder, columns="text")
    none = make_pipeline(CountVectorizer(min_df=99), ComplementNB())
    assert "stands in 99" in refused(NoTerms, none, folder, columns="text")


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(TfidfVectorizer(), MultinomialNB()),
        make_pipeline(
            TfidfVectorizer(sublinear_tf=True, smooth_idf=False, ngram_range=(1, 2)), ComplementNB(norm=True)
        ),
        make_pipeline(TfidfVectorizer(use_idf=False, norm="l1", min_df=0.02), MultinomialNB(alpha=0.1)),
        make_pipeline(CountVectorizer(binary=True, max_features=7), BernoulliNB()),
        make_pipeline(CountVectorizer(analyzer="char", ngram_range=(1, 2)), TfidfTransformer(), MultinomialNB()),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["parquet", "csv", "batches"])
def test_every_weighing_of_terms(model: Any, kind: str, tmp_path: Path) -> None:
    frame = mails(400, missing=0.0)
    frame["text"] = frame["text"] + " end"
    X = frame["text"].tolist()
    ask: dict[str, Any] = {"target": "kind", "columns": "text", "weight": "w"}
    if kind == "batches":
        ours = fit_batches(model, lambda: (frame[i : i + 90] for i in range(0, 400, 90)), **ask)
    elif kind == "csv":
        frame.to_csv(tmp_path / "rows.csv", index=False)
        ours = fit_files(model, tmp_path / "rows.csv", **ask)
    else:
        ours = fit_files(model, written(frame, tmp_path / "rows"), **ask)
    last = model.steps[-1][0]
    assert_same_pipeline(ours, clone(model).fit(X, frame["kind"], **{f"{last}__sample_weight": frame["w"]}), X)


@pytest.mark.slow
def test_a_missing_text_has_no_tf_idf(tmp_path: Path) -> None:
    frame = mails(100)
    row = int(frame["text"].isna().to_numpy().argmax()) + 1
    model = make_pipeline(TfidfVectorizer(), MultinomialNB())
    said = refused(BayesEngineError, model, written(frame, tmp_path / "rows"), columns="text")
    assert f"column 'text' has no text in row {row}" in said


@pytest.mark.slow
def test_tf_idf_goes_on_where_it_was_broken_off_and_on_a_cluster(tmp_path: Path) -> None:
    """In each of its passes; of another vectorizer, or with files that have come, the kept sums are not taken."""
    frame = mails(300, missing=0.0)
    folder, kept = written(frame, tmp_path / "rows"), tmp_path / "kept"
    model = make_pipeline(TfidfVectorizer(min_df=2), MultinomialNB())
    ask: dict[str, Any] = {"target": "kind", "columns": "text"}
    whole = fit_files(model, folder, **ask)
    for step in (1, 2):
        with pytest.raises(Stop):
            fit_files(model, folder, **ask, threads=1, resume=kept, progress=stopping(step))
    ours = fit_files(model, folder, **ask, resume=kept)
    for one in (ours, fit_files(model, folder, **ask, client=NearBy())):
        assert one[0].vocabulary_ == whole[0].vocabulary_
        np.testing.assert_array_equal(one[-1].feature_log_prob_, whole[-1].feature_log_prob_)
    other = make_pipeline(TfidfVectorizer(min_df=3), MultinomialNB())
    with pytest.raises(StoreError, match="holds a count with another"):
        fit_files(other, folder, **ask, resume=kept)
    mails(90, missing=0.0, seed=5).to_parquet(folder / "part2.parquet")
    with pytest.raises(StoreError, match="another weights"):
        fit_files(model, folder, **ask, resume=kept)
    kept.unlink()  # the terms are gone on with
    more = fit_files(model, folder, **ask, resume=kept)
    assert more[0].vocabulary_ == fit_files(model, folder, **ask)[0].vocabulary_
