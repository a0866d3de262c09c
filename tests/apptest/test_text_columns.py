"""A text on the pages: typed and judged word by word, the words that tell, and what never gets into a link."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import NaiveBayes
from bayes_engine.datasets import load_dataset
from pages import active
from pages.active.files import TABLE
from pages.runtime.state import Spec, State, decode, encode
from pages.views.case.text_message import read_typed, with_text
from tests.apptest.opened import APP, behind, give, opened, sent_to, showing
from tests.conftest import PATIENCE, every_other, slowly

SMS = showing(State(table="sms-spam", language="en", labels="file"), unit="nats")
FRAME = load_dataset("sms-spam").frame
PAYLOADS = (
    "<img src=x onerror=alert(1)> free prize",
    "![x](http://evil.example/a.png) **bold** :red[hi] free",
    "$\\frac{1}{0}$ `code` lunch",
    "=cmd|' /C calc'!A0 %{x} &amp; lunch",
    "pay\u202enow\x07 free",
    "line1\nline2\ttab {n} %s lunch",
)


def under(likelihood: str = "multinomial", **text) -> NaiveBayes:
    model = NaiveBayes(likelihoods={"message": likelihood}, text={"columns": ["message"], **text}, priors="laplace")
    return model.fit(FRAME[["message"]], FRAME["label"])


def said(app: AppTest) -> str:
    return "\n".join(e.value for kind in (app.caption, app.markdown, app.info, app.warning) for e in kind)


def state_of(app: AppTest) -> State:
    """What the address says."""
    token = app.query_params["s"]
    state = decode(token if isinstance(token, str) else token[0])
    assert state is not None
    return state


def typed(app: AppTest, text: str | None) -> AppTest:
    """After a text came back from the browser."""
    state = app.session_state["state"]
    app.session_state["state"] = with_text(state, active.in_use(state), "message", text)
    return app.run()


@pytest.mark.parametrize(
    ("parameters", "same"),
    [
        ((), {}),
        slowly((("counting", "bernoulli"),), {"likelihood": "bernoulli"}),
        slowly((("terms", "pairs"),), {"ngrams": (1, 2)}),
        slowly((("terms", "characters"),), {"analyzer": "char", "ngrams": (1, 3)}),
        slowly((("counting", "once"),), {"presence": True}),
    ],
)
def test_the_marked_words_are_the_engines_terms(parameters, same) -> None:
    model = under(**same)
    app = opened("case", replace(SMS, shelf=(Spec("laplace", parameters),)))
    sent = sent_to(app, "bayes_message")
    text = load_dataset("sms-spam").info.cases[0].values["message"]
    assert "".join(p if isinstance(p, str) else p["text"] for p in sent["pieces"]) == text == sent["text"]
    rows = model.explain(pd.DataFrame({"message": [text]}), opened=["message"]).contributions("ham", "spam").iloc[0]
    assert sent["for"]["label"] == "ham"
    total = sum(p["nats"] for p in sent["pieces"] if not isinstance(p, str))
    absent = rows.get("message: absent terms", 0.0)
    assert total == pytest.approx(rows.sum() - rows["label"] - absent, abs=1e-9)
    assert f"log-odds of ham against spam {f'{rows.sum():+.3f}'.replace('-', '−')} nats" in said(app)
    bars = next(e for e in app.get("plotly_chart") if "case_waterfall" in e.proto.id)
    assert "absent words" in bars.proto.spec if absent else "absent words" not in bars.proto.spec
    assert bool(absent) == any(e.label.startswith("Contribution of the absent words") for e in app.expander)


def test_a_typed_message_is_judged_and_its_loudest_words_named() -> None:
    app = opened("case", SMS)
    assert any(m.value.startswith("#### Judged **spam**") and "«claim»" in m.value for m in app.markdown)
    assert "13 words, all seen in training; together" in said(app)
    typed(app, "see you at lunch, my friend")
    assert any(m.value.startswith("#### Judged **ham**") and "«my»" in m.value for m in app.markdown)
    assert state_of(app).case == ("see you at lunch, my friend",)
    typed(app, "zebra free")
    sent = sent_to(app, "bayes_message")
    assert [bool(p["terms"]) for p in sent["pieces"] if not isinstance(p, str)] == [False, True]
    assert "2 words, 1 of them not seen in training" in said(app)
    assert sent["terms"][0]["lines"][1] == "P(w | spam) = (42+1)/(2791+2353) = 0.008359"


def test_a_missing_text_has_no_factor_and_an_empty_one_says_so() -> None:
    app = opened("case", replace(SMS, case=(None,)))
    assert "No text is known: the column has no factor." in said(app)
    assert sent_to(app, "bayes_message")["text"] is None
    typed(app, "")
    assert sent_to(app, "bayes_message")["text"] == ""
    assert "A text without a word is no evidence" in said(app)
    odds = math.log(481 / 121)
    assert f"log-odds of ham against spam +{odds:.3f} nats" in said(app)
    app = opened("case", replace(SMS, case=("",), shelf=(Spec("laplace", (("counting", "bernoulli"),)),)))
    assert "every word the model knows is absent, and that is evidence" in said(app)


def test_a_text_in_a_link_is_short_or_it_is_none() -> None:
    assert decode(encode(replace(SMS, case=("x" * 500,)))) is not None
    assert decode(encode(replace(SMS, case=("x" * 501,)))) is None
    app = opened("case", SMS)
    typed(app, "free " * 400)
    assert app.session_state["too_long"] and state_of(app).case == ()
    assert "«free»" in said(app)
    assert read_typed({"text": "a\ud800"}) == ("a?",)
    assert read_typed({"text": "x" * 50_000}) is None and read_typed({}) is None


@pytest.mark.slow
def test_a_row_of_the_table_travels_by_its_number() -> None:
    app = opened("case", SMS)
    app.number_input(key="case_row").set_value(3).run()
    assert state_of(app).case == (2,)
    assert sent_to(app, "bayes_message")["text"] == FRAME["message"].iloc[2]
    typed(app, "something else")
    assert state_of(app).case == ("something else",)


def upload(page: str, columns=((0, "feature", "text", ()),), **state) -> AppTest:
    rows = [(f"{text} w{i}", "spam" if "free" in text else "ham", f"{i % 7}.5")
            for i, text in enumerate(PAYLOADS * 12)]  # fmt: skip
    content = pd.DataFrame(rows, columns=["mess*age", "label", "amount"]).to_csv(index=False).encode()
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    mark = give(app, TABLE, "t.csv", content)
    app.query_params["s"] = encode(State(table=f"upload:{mark}", language="en", columns=columns, **state))
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def tokens(app: AppTest) -> str:
    """All that the address and every link on the page say."""
    links = [e.proto.query_string.removeprefix("s=") for e in app.get("page_link")]
    return " ".join(map(str, (state_of(app), *map(decode, links))))


@pytest.mark.slow
def test_an_uploaded_text_is_shown_as_it_is_and_stays_out_of_the_address() -> None:
    app = upload("case", case=(0, 1.5), row=0)
    for row, payload in enumerate(PAYLOADS):
        app.session_state["state"] = replace(app.session_state["state"], case=(row, 1.5), row=row)
        app.run()
        sent = sent_to(app, "bayes_message")
        shown = "".join(p if isinstance(p, str) else p["text"] for p in sent["pieces"])
        assert sent["text"] == f"{payload} w{row}".strip()
        assert shown.replace("[U+202E]", "\u202e").replace("[U+0007]", "\x07") == sent["text"]
        assert "evil" not in tokens(app) and "free" not in tokens(app)
        words = [m.value for m in (*app.markdown, *app.caption)]
        assert not [m for m in words if re.search(r"(?<!\\)<img|\](?<!\\\])\(http", m)]
    app.number_input(key="case_1").set_value(2.5).run()  # another cell typed: the text is the row's still
    assert state_of(app).case == (row, 2.5)
    app.session_state["state"] = replace(app.session_state["state"], case=("my own secret words", 2.5), row=-1)
    app.run()
    assert "secret" not in tokens(app) and sent_to(app, "bayes_message")["text"] == "my own secret words"
    assert "What you type on a file of your own is not put into the address." in said(app)


@pytest.mark.parametrize(
    "page",
    every_other(["start", "data", "model", "decisions", "classify", "dependence", "network", "projection", "hidden"]),
)
def test_every_page_stands_on_an_uploaded_text(page: str) -> None:
    app = upload(page)
    assert "evil.example" not in tokens(app)
    if page == "dependence":
        assert "is a text. Its words are taken as independent" in said(app)
    if page == "hidden":
        assert "that tell most**, by expected counts" in said(app)


def test_a_word_is_looked_up_on_the_page_model() -> None:
    app = opened("model", SMS)
    app.text_input(key="look_up").set_value("Free!").run()
    free = FRAME["message"].str.contains(r"(?i)(?<![^\W])free(?![^\W])")
    n = [int((free & (FRAME["label"] == c)).sum()) for c in ("ham", "spam")]
    told = said(app)
    assert f"in {n[0]} of the 480 ham texts" in told and f"in {n[1]} of the 120 spam texts" in told
    assert (
        "each occurrence supports spam with +2\\.229 nats" in told
        or "each occurrence supports spam with +2.229 nats" in told
    )
    rows = behind(app)
    assert len(rows) == n[1] and set(rows["label"]) == {"spam"}
    app.button_group(key="look_class").set_value(0).run()
    assert len(behind(app)) == n[0]
    app.text_input(key="look_up").set_value("zebra").run()
    assert "occurs in no training text" in said(app)


def test_a_word_of_a_file_is_looked_up_by_its_place() -> None:
    app = upload("model")
    app.text_input(key="look_up").set_value("evil").run()
    assert "**«evil»**: in 0 of the 36 ham texts" in said(app) and "in 12 of the 36 spam texts" in said(app)
    assert "evil" not in tokens(app)
    (look,) = [v for k, v in state_of(app).view if k == "look"]
    assert type(look) is tuple and type(look[0]) is int


@pytest.mark.slow
def test_the_parameters_change_the_words_at_once() -> None:
    def names(*parameters) -> str:
        app = opened("model", replace(SMS, table="sms-spam-zh", shelf=(Spec("laplace", parameters),)))
        spec = next(e.proto.spec for e in app.get("plotly_chart") if "telling" in e.proto.id)
        return str(json.loads(spec)["layout"]["annotations"])

    assert "'链 接'" in names(("terms", "pairs")) and "'链 接'" not in names()
    app = opened("model", replace(SMS, shelf=(Spec("textbook"),)))
    assert "makes the class impossible" in said(app)
    words = FRAME["message"].str.lower().str.findall(r"[^\W]+").explode().value_counts()
    assert f"{len(words):,} terms in all, {(words == 1).sum():,} of them only once" in said(app)
    assert "Complement naive Bayes" in said(app)


def test_a_classified_files_text_becomes_the_case_but_no_link() -> None:
    app = opened("case", SMS)
    app.session_state["from_files"] = frozenset({"a stranger's message, free"})  # as keep_out_of_links notes them
    typed(app, "a stranger's message, free")
    assert sent_to(app, "bayes_message")["text"] == "a stranger's message, free"
    assert "stranger" not in tokens(app)
