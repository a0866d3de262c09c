"""Texts word by word: where each term stands, what it says, and that the parts are the whole."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_engine import NaiveBayes, WeightedNaiveBayes
from bayes_engine.datasets import load_dataset
from bayes_engine.errors import ParameterError
from bayes_engine.models.discriminative import discriminative_counterpart
from bayes_engine.models.likelihoods import as_texts
from bayes_engine.table.schema import Schema
from bayes_engine.table.text import TextRule, term_places
from bayes_engine.workbench.derivation import latex, render
from bayes_engine.workbench.derivation.derive import Working, derive
from bayes_engine.workbench.derivation.likelihoods import WordTable, likelihood
from bayes_engine.workbench.derivation.log_odds import log_odds_terms
from bayes_engine.workbench.derivation.texts import (
    TextRead,
    absent_terms,
    discriminating_terms,
    look_up,
    opened,
    read_text,
    text_steps,
    weights_of_evidence,
)
from bayes_engine.workbench.figures.discriminating_words import discriminating_words
from tests.conftest import crossed, examples

SMS = load_dataset("sms-spam").frame
PRIZE = "Congratulations! You have won a free phone. Call now to claim your prize, claim it: zebra"
RULES = {
    "words": {},
    "pairs": {"ngrams": (1, 2)},
    "characters": {"analyzer": "char", "ngrams": (1, 3)},
    "within words": {"analyzer": "char_wb", "ngrams": (2, 3)},
    "only pairs": {"ngrams": (2, 2)},
}


@examples(200)
@given(
    st.text(st.sampled_from(list("aA Σİßﬁ 免费\n\t_1!'\u200d")), max_size=25) | st.text(max_size=20),
    st.sampled_from(["word", "char", "char_wb"]),
    st.sampled_from([(1, 1), (1, 2), (1, 3), (2, 3), (3, 3)]),
    st.booleans(),
)
def test_the_places_are_scikit_learns_terms_where_they_stand(text, analyzer, ngrams, lowercase) -> None:
    rule = TextRule(analyzer=analyzer, ngrams=ngrams, lowercase=lowercase)
    places = term_places(rule, text)
    assert [p.term for p in places] == list(rule.vectorizer().build_analyzer()(text))
    assert all(0 <= p.start <= p.end <= len(text) for p in places)
    if analyzer == "char" and not lowercase:
        assert all(text[p.start : p.end].split() == p.term.split() for p in places)


def fitted(likelihood: str = "multinomial", rule: str = "words", *, presence: bool = False, **more) -> NaiveBayes:
    text = {"columns": ["message"], "presence": presence, **RULES[rule]}
    return NaiveBayes(likelihoods={"message": likelihood}, text=text, **more).fit(SMS[["message"]], SMS["label"])


def worked(model, text: str | None) -> Working:
    return derive(model, pd.DataFrame({"message": pd.Series([text], dtype=object)}), classes=["spam", "ham"])


def read(model, text: str) -> TextRead:
    working = worked(model, text)
    (j,) = text_steps(working.steps)
    return read_text(working.steps[j], 0, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "counted"), crossed(list(RULES), [("multinomial", False), ("multinomial", True), ("bernoulli", False)])
)
def test_terms_and_units_add_up_to_the_columns_contribution(rule: str, counted: tuple[str, bool]) -> None:
    how, presence = counted
    model = fitted(how, rule, presence=presence)
    found = read(model, PRIZE)
    case = pd.DataFrame({"message": [PRIZE]})
    whole = model.explain(case).contributions("spam", "ham")["message"].iloc[0]
    assert found.nats == pytest.approx(whole, abs=1e-9)
    assert sum(t.nats for t in found.terms) == pytest.approx(sum(u.nats for u in found.units), abs=1e-9)
    rows = model.explain(case, opened=["message"]).contributions("spam", "ham").iloc[0]
    for term in found.terms:
        assert rows[f"message: {term.term}"] == pytest.approx(term.nats, abs=1e-12)
    if how == "bernoulli":
        assert found.absent == pytest.approx(rows["message: absent terms"], abs=1e-9)
    else:
        assert found.absent is None


def test_the_numbers_are_the_fractions_of_the_counts() -> None:
    found = read(fitted(), PRIZE)
    claim = next(t for t in found.terms if t.term == "claim")
    spam, ham = claim.sources
    assert claim.times == 2
    words = SMS["message"].str.lower().str.findall(r"[^\W]+")
    assert spam.count == sum(w.count("claim") for w in words[SMS["label"] == "spam"])
    assert claim.nats == pytest.approx(2 * math.log(spam.value / ham.value))
    text = [found.text[u.start : u.end] for u in found.units]
    assert text[:3] == ["Congratulations", "You", "have"]
    zebra = found.units[text.index("zebra")]
    assert not zebra.known and zebra.nats == 0.0


def test_a_word_that_counts_once_says_so_the_second_time() -> None:
    for model in (fitted("bernoulli"), fitted(presence=True)):
        found = read(model, "claim it, claim it now")
        assert [u.again for u in found.units] == [False, False, True, True, False]
        assert found.units[2].nats == 0.0
    assert not any(u.again for u in read(fitted(), "claim it, claim it now").units)


def test_chinese_needs_no_segmenter() -> None:
    sms = load_dataset("sms-spam-zh").frame
    model = NaiveBayes(likelihoods={"短信": "multinomial"}, text={"columns": ["短信"], "ngrams": (1, 2)})
    model.fit(sms[["短信"]], sms["类别"])
    working = derive(model, pd.DataFrame({"短信": ["点击链接,免费!"]}), classes=["垃圾", "正常"])
    found = read_text(working.steps[1], 0, 1)
    assert [found.text[u.start : u.end] for u in found.units] == list("点击链接免费")
    assert {"点击", "链接", "免费"} <= {t.term.replace(" ", "") for t in found.terms}


@pytest.mark.slow
def test_empty_missing_and_impossible_texts() -> None:
    assert read(fitted(), "").nats == 0.0
    assert read(fitted("bernoulli"), "").absent == pytest.approx(read(fitted("bernoulli"), "").nats)
    assert text_steps(worked(fitted(), None).steps) == []
    bare = read(fitted(alpha=0.0, smoothing="none"), "claim my lunch")
    claim = next(t for t in bare.terms if t.term == "claim")
    mine = next(t for t in bare.terms if t.term == "my")
    assert claim.nats == math.inf and claim.never == (1,) and mine.nats == -math.inf and mine.never == (0,)
    assert bare.nats == 0.0 and math.isfinite(bare.reach)


def test_a_weight_of_the_column_weighs_every_word() -> None:
    model = WeightedNaiveBayes(fitted(), weights={"message": 0.25}).fit(SMS[["message"]], SMS["label"])
    half, whole = read(model, PRIZE), read(fitted(), PRIZE)
    assert half.weight == 0.25
    assert [t.nats for t in half.terms] == pytest.approx([0.25 * t.nats for t in whole.terms])


def test_the_opened_balance_has_the_same_total() -> None:
    working = worked(fitted("bernoulli", "pairs"), PRIZE)
    balance = log_odds_terms(working.ledger, "spam", "ham")
    found, names = opened(balance, {1: read_text(working.steps[1], 0, 1)})
    assert found.total == pytest.approx(balance.total, abs=1e-9)
    assert sum(term is None for _read, term in names.values()) == 1
    assert {w.position for w in found.weights} == {0, *names}


def test_absent_terms_are_those_that_say_most_by_not_being_there() -> None:
    model = fitted("bernoulli")
    found = absent_terms(model, read(model, PRIZE), "spam", "ham", n=5000)
    assert sum(t.nats for t in found) == pytest.approx(read(model, PRIZE).absent, abs=1e-9)
    assert found[0].term == max(found, key=lambda t: abs(t.nats)).term
    assert absent_terms(fitted(), read(fitted(), PRIZE), "spam", "ham") == []


def table(model: NaiveBayes) -> WordTable:
    found = likelihood(model, "message", ["spam", "ham"])
    assert isinstance(found, WordTable)
    return found


def test_a_word_is_looked_up_in_messages_not_in_occurrences() -> None:
    found = look_up(table(fitted()), SMS, "FREE!")
    free = SMS["message"].str.contains(r"(?i)(?<![^\W])free(?![^\W])")
    spam = SMS["label"] == "spam"
    assert (found.term, found.texts, found.of) == ("free", (int((free & spam).sum()), int((free & ~spam).sum())),
                                                   (120, 480))  # fmt: skip
    assert look_up(table(fitted()), SMS, "zebra").place == -1
    assert look_up(table(fitted(rule="pairs")), SMS, "please call now").term in ("please call", "call now")
    with pytest.raises(ParameterError, match="holds no word"):
        look_up(table(fitted()), SMS, " !? ")


def test_the_weight_of_evidence_of_two_classes_is_the_log_ratio() -> None:
    found = table(fitted())
    weight = weights_of_evidence(found)
    assert np.allclose(weight[0], found.log_p[0] - found.log_p[1]) and np.allclose(weight[0], -weight[1])
    spam, ham = discriminating_terms(found, 12)
    assert {"call", "free", "claim"} <= {found.terms[v] for v in spam} and "my" in {found.terms[v] for v in ham}
    labels = {v: found.terms[v] for v in (*spam, *ham)}
    figure = discriminating_words(weight, (spam, ham), labels, labels, ["spam", "ham"], asked=spam[3])
    (bars,) = figure.data
    assert sorted(bars.x) == list(bars.x) and len(bars.x) == 24
    assert sum(width == 2 for width in bars.marker.line.width) == 1


def test_three_classes_and_a_word_without_end() -> None:
    frame = pd.DataFrame({"message": ["red red", "green", "blue", "red green"], "label": list("abca")})
    model = NaiveBayes(likelihoods={"message": "multinomial"}, text={"columns": ["message"]}, alpha=0.0)
    found = likelihood(model.fit(frame[["message"]], frame["label"]), "message")
    assert isinstance(found, WordTable)
    weight, chosen = weights_of_evidence(found), discriminating_terms(found, 3)
    assert [found.terms[v] for of_class in chosen for v in of_class] == ["red", "green", "blue"]
    assert weight[0, found.terms.index("red")] == math.inf
    labels = {v: found.terms[v] for v in range(3)}
    figure = discriminating_words(weight, chosen, labels, labels, list("abc"))
    assert len(figure.data) == 3 and all(np.isfinite(bar.x).all() for bar in figure.data)


@pytest.mark.slow
def test_the_working_of_a_long_text_stays_short() -> None:
    text = " ".join(SMS["message"])[:40_000]
    for how in ("multinomial", "bernoulli"):
        working = worked(fitted(how), text)
        written = latex.to_latex(working)
        assert all(len(form(working)) < 6000 for form in (latex.to_latex, render.to_markdown, render.to_text))
        assert "more terms" in written and (how == "multinomial") != ("absent terms" in written)


def test_logistic_regression_reads_the_words_too() -> None:
    schema = as_texts(load_dataset("sms-spam").schema, {"message": "multinomial"}, None)
    model = discriminative_counterpart(schema).fit(SMS[["message"]], SMS["label"])
    assert model.score(SMS[["message"]], SMS["label"]) > 0.99
    mixed = SMS.assign(length=SMS["message"].str.len())[["length", "message"]]
    mixed.loc[3, "message"] = None
    both = as_texts(Schema.from_dtypes(mixed), {"message": "multinomial"}, {"columns": ["message"]})
    model = discriminative_counterpart(both).fit(mixed, SMS["label"])
    assert model[-1].coef_.shape[1] > 2000
