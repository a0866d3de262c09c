"""Links that were cut off, forged, or made for another table: never an exception, and a state that makes sense."""

import base64
import zlib
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pages.runtime import state as page_state
from pages.runtime import widgets
from pages.runtime.addresses import Addresses
from pages.runtime.state import START, Spec, State, decode, encode
from tests.apptest.opened import edited, opened, sent_to, showing, step_to
from tests.conftest import crossed, every_other

PAGES = ("start", "data", "model", "decisions", "case", "classify")


def token(text: str) -> str:
    """What a link would carry for this JSON."""
    return "1." + base64.urlsafe_b64encode(zlib.compress(text.encode())).decode().rstrip("=")


def test_a_token_brings_the_state_back():
    state = State(table="iris", case=(5.1, None, 1e300, -0.5), row=7, losses=((0.0, 2.5), (1.0, 0.0)), extra="ask",
                  columns=((1, "ignore", "count", (2, "new")),), shelf=(Spec("laplace", (("alpha", 0.5),)),),
                  )  # fmt: skip
    assert decode(encode(state)) == state
    assert decode("") == START


def test_a_word_of_an_older_link_is_read_as_it_is_called_now():
    old = decode(
        token('{"shelf": [["laplace", [["discretize", "kernel-weka"], ["likelihoods", [[1, "kernel-weka"]]]]]]}')
    )
    new = (("discretize", "kernel-range"), ("likelihoods", ((1, "kernel-range"),)))
    assert old == State(shelf=(Spec("laplace", new),))


@pytest.mark.parametrize("text", [
    "[]", "null", '{"foo": 1}', '{"table": 5}', '{"row": true}', '{"row": 1.5}', '{"active": -1}', '{"active": 1}',
    '{"case": [NaN]}', '{"case": [Infinity]}', '{"case": [1e999]}', '{"case": [1' + "0" * 400 + "]}",
    '{"prior": [-1, 2]}', '{"losses": [[1e10]]}', '{"losses": [1, 2]}', '{"view": [[1, 2]]}',
    '{"columns": [[0, "boss", "", []]]}', '{"columns": [[0, "", "gigantic", []]]}',
    '{"columns": [[0, "", "", [null]]]}', '{"columns": [[0, "", "", [1.5]]]}', '{"columns": [[0, "", "", [{}]]]}',
    '{"extra": "\\ud800"}', '{"view": [["x", "\\ud800"]]}', '{"view": ' + "[" * 50_000 + "]" * 50_000 + "}",
])  # fmt: skip
def test_what_is_no_state_is_none(text: str):
    assert decode(token(text)) is None


@pytest.mark.parametrize("link", ["!!!!", "1.", "1.é", "2" + encode(State(table="iris"))[1:],
                                  encode(State(table="iris"))[:-12], "1." + "A" * 50_000])  # fmt: skip
def test_a_broken_token_is_none(link: str):
    assert decode(link) is None


FORGED = {
    "unknown table": State(table="../../etc/passwd", row=10**6, case=(1.0,), prior=(0.2, 0.3, 0.5)),
    "upload elsewhere": State(table="upload:0000000000000000", view=(("second", "0000"),)),
    "whole-number parameters": State(table="watermelon3", shelf=(Spec("laplace", (("alpha", 3), ("alpha", 1))),)),
    "outside the range": State(shelf=(Spec("zero-only", (("var_floor", 0), ("alpha", 1e300), ("smoothing", (1,)))),)),
    "unknown preset": State(shelf=(Spec("__reduce__", (("alpha", {}),)),)),
    "losses of another shape": State(table="iris", losses=((0.0, 1.0),), extra="ask", prior=(0.5, 0.5)),
    "view": State(table="watermelon3", view=(("column", -7), ("exercise", "x"), ("level_at", -7), ("levels_of", 99),
                                             ("x", 99), ("y", ({},)))),
    "two targets": State(table="watermelon3", columns=((0, "target", "", ()), (1, "target", "", (9, "nan")))),
    "not a number as a level": State(table="iris", columns=((0, "", "categorical", ("nan", "inf", "nan")),)),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "page"), crossed(list(FORGED), PAGES))
def test_no_page_trips_over_a_forged_state(kind: str, page: str):
    assert decode(encode(FORGED[kind])) is not None
    opened(page, FORGED[kind])


@pytest.mark.parametrize("page", every_other(PAGES))
def test_another_target_of_a_data_set_leaves_its_story_behind(page: str):
    """The story's losses speak of good and bad melons; where colour is decided there are none."""
    state = State(table="watermelon3", columns=((0, "target", "", ()),), losses=((0.0, 2.0), (1.0, 0.0)))
    at = opened(page, state)
    assert "preset_story" not in {b.key for b in at.button}
    if page == "start":
        assert at.title[0].value == "What should be decided here?"


@pytest.mark.parametrize("page", ["start", "decisions", "case", "classify"])
def test_a_prior_of_use_that_the_model_excludes_is_said_and_can_be_taken_back(page: str):
    excluding = Spec("textbook", (("priors", (0.0, 1.0)),))
    at = opened(page, State(shelf=(excluding,), prior=(0.5, 0.5)))
    assert "the model gives a class the prior 0" in at.error[0].value
    next(b for b in at.main.button if b.label == "Prior of use: as in the model").click().run()
    assert not at.exception
    assert not at.error
    assert at.session_state["state"] == State(shelf=(excluding,))


@pytest.mark.slow
def test_one_can_refuse_though_a_class_is_called_so():
    at = opened("data")
    rows = "\n".join(f"{i / 7:.3f},{('refuse', 'grant')[i % 2]}" for i in range(20))
    at.file_uploader(key="upload_file").set_value(("a.csv", f"x,y\n{rows}\n".encode(), "text/csv")).run()
    at.switch_page("pages/decisions.py").run()
    at.session_state["state"] = replace(at.session_state["state"], losses=((0.0, 5.0), (1.0, 0.0)))
    at.run()
    at.button(key="refuse_on").click().run()
    assert not at.exception
    kept = at.session_state["state"]
    assert (kept.losses, kept.extra) == (((0.0, 5.0), (1.0, 0.0), (0.33, 0.33)), "refuse_2")
    at.button(key="refuse_off").click().run()
    assert at.session_state["state"] == replace(kept, losses=kept.losses[:2], extra="")


@pytest.mark.parametrize("page", ["start", "decisions"])
def test_an_axis_gives_way_when_its_column_is_ignored(page: str):
    """The x axis showed the second of two features, which is one no more."""
    at = opened(page, State(columns=((1, "ignore", "", ()),), view=(("x", 1), ("y", 0))))
    assert not at.error


@pytest.mark.slow
def test_losses_of_another_table_are_edited_from_0_1():
    at = opened("decisions", State(table="iris", losses=((0.0, 1.0), (3.0, 0.0), (1.0, 1.0)), extra="ask"))
    assert sent_to(at, "bayes_losses")["loss"] == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    edited(at, ((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 4.0, 0.0)))
    assert not at.exception
    kept = at.session_state["state"]
    assert (kept.losses, kept.extra) == (((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (1.0, 4.0, 0.0)), "")


@pytest.mark.slow
@pytest.mark.parametrize("page", ["start", "decisions"])
def test_a_feature_integrated_out_is_no_missing_cell(page: str):
    strict = Spec("textbook", (("missing", "error"),))
    said, plain = (
        opened(page, showing(State(table="watermelon3", shelf=shelf), sliced=False)) for shelf in ((strict,), ())
    )
    assert not said.error
    assert [m.value for m in said.markdown] == [m.value for m in plain.markdown]


@pytest.mark.parametrize("page", ["start", "decisions"])
def test_a_case_that_the_model_refuses_is_said(page: str):
    strict = Spec("textbook", (("missing", "error"),))
    at = opened(page, State(table="watermelon3", shelf=(strict,), case=(None, 0, 0, 0, 0, 0, 0.5, 0.3)))
    assert "missing cell" in at.error[0].value


def test_a_new_level_among_numbers_is_a_name():
    at = opened("data")
    rows = "\n".join(f"{i % 3},{i / 7:.2f},{i % 2}" for i in range(24))
    at.file_uploader(key="upload_file").set_value(("a.csv", f"n,x,y\n{rows}\n".encode(), "text/csv")).run()
    at.text_input(key="new_level").set_value("nan").run()
    assert at.session_state["state"].columns == ((2, "", "", (0, 1, "nan")),)
    at.switch_page("pages/model.py").run()
    assert not at.exception


def test_classes_are_reordered_though_the_losses_do_not_fit():
    at = opened("data", State(table="watermelon3", losses=((0.0, 1.0),), prior=(1.0,),
                              shelf=(Spec("laplace", (("priors", (1.0,)),)),)))  # fmt: skip
    at.button(key="level_1").click().run()
    assert not at.exception
    assert (at.session_state["state"].losses, at.session_state["state"].prior) == ((), ())


@pytest.mark.slow
def test_a_wrong_shift_to_the_prior_of_use_gets_a_hint():
    at = opened("case", State(table="watermelon3", prior=(0.99, 0.01), view=(("fill", True),)))
    for k in range(10):
        if f"fill_f{k}_0" in {t.key for t in at.text_input}:
            at.text_input(key=f"fill_f{k}_0").set_value("77").run()
            assert not at.exception


@pytest.mark.slow
def test_a_table_that_is_not_here_is_said() -> None:
    app = opened("decisions", replace(START, table="atlantis"))
    assert any("names a table that is not here" in warning.value for warning in app.warning)


class Address(dict[str, str]):
    """The address as a run knows it, and what the run writes."""

    def __init__(self, **known: str):
        super().__init__(known)
        self.written: list[dict[str, str]] = []

    def from_dict(self, values: dict[str, str]) -> None:
        self.written.append(values)


@pytest.mark.parametrize(("edited_before", "writes"), [(True, True), (False, False)])
def test_an_edit_taken_back_before_the_browser_heard_of_it_is_written(
    edited_before: bool, writes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, edited_state = State(row=1), State(row=2)
    address = Address(s=encode(before))  # the browser has not heard of the edit
    addresses = Addresses(encode(edited_state if edited_before else before))
    session = {"state": before, "addresses": addresses}
    for module in (page_state, page_state.private):
        monkeypatch.setattr(module, "st", SimpleNamespace(session_state=session, query_params=address))
    page_state.write_url()
    assert address.written == ([{"s": encode(before)}] if writes else []) and addresses.due == encode(before)


def test_a_row_of_buttons_that_says_nothing_while_it_is_drawn_anew_is_no_edit() -> None:
    app = opened("start", State(language="zh"))
    app.segmented_control(key="language").set_value(None).run()
    assert app.session_state["state"].language == "zh"
    assert app.segmented_control(key="language").value == "zh"


@pytest.mark.slow
def test_a_value_is_told_again_to_a_browser_that_may_have_skipped_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widgets, "TOLD_AGAIN", 60.0)
    app = opened("hidden").run()
    number = app.number_input(key="em_k").proto
    assert number.set_value and number.value == 2
    monkeypatch.setattr(widgets, "TOLD_AGAIN", 0.0)
    assert not app.run().number_input(key="em_k").proto.set_value


def test_no_run_with_the_old_address_undoes_an_upload() -> None:
    app = opened("data", State(table="iris", language="en"))
    old = app.query_params["s"]
    app.file_uploader(key="upload_file").set_value(("t.csv", b"x,y\n" + b"1,a\n2,b\n3,a\n4,b\n" * 9, "text/csv")).run()
    table = app.session_state["state"].table
    assert table.startswith("upload:")
    for page in ("data", "data", "model"):  # runs that the browser asked for before it heard of the new address
        app.query_params["s"] = old
        app.switch_page(f"pages/{page}.py").run()
        assert app.session_state["state"].table == table and decode(app.query_params["s"]) == app.session_state["state"]
    step_to(app, old)  # Back
    app.run()
    assert app.session_state["state"].table == "iris" and not app.exception
