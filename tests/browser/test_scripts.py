"""The browser's own arithmetic against the engine's: decisions and priors of use, number formats, small functions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.decision.loss import TIE, LossMatrix, decide
from bayes_engine.language import Message
from bayes_engine.ledger import JOINT, Ledger, Status, prior_shift
from bayes_engine.logspace import log
from pages.components import component
from tests.browser.looking import soon, still
from tests.conftest import ROOT

PAGES = ROOT / "pages"
SHARED = PAGES / "components"


@pytest.fixture(scope="module")
def scripts(browser: Browser) -> Iterator[Page]:
    """An empty page that knows what the shared scripts define."""
    page = browser.new_page()
    for name in ("component", "decide"):
        load(page, SHARED / f"{name}.js")
    yield page
    page.close()


def load(page: Page, file: Path) -> None:
    script = file.read_text(encoding="utf-8").replace("export default function (", "void function (")
    page.add_script_tag(content=script.replace("export default ", ""))


# decisions ------------------------------------------------------------------------------------------------------------

AB, ABC = ("a", "b"), ("a", "b", "c")
HALVES = np.array([[0.5, 0.5], [0.5 + 2e-13, 0.5 - 2e-13], [0.5 - 2e-13, 0.5 + 2e-13], [0.5 - 2e-12, 0.5 + 2e-12]])
"""A tie, two within the tolerance, one outside it."""
STEPS = np.array([[3.2 * TIE], [1.6 * TIE], [0.0]]) + 1.0
"""The second is tied with the first and with the third, which are not tied with each other."""


def random_rows(n: int, k: int, seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(k, 0.4), n)
    rows[0] = np.eye(k)[0]
    rows[1] = 0.0  # no posterior
    return rows


def loss_cases() -> dict[str, tuple[LossMatrix, np.ndarray[Any, Any], Any]]:
    """Losses, posteriors, and the rows' amounts or None."""
    rng = np.random.default_rng(18)
    wide = LossMatrix(ABC, ABC, rng.integers(0, 9, (3, 3)))
    huge = LossMatrix(ABC, ABC, [[0, 1, 1e12], [1, 0, -1e12], [1, 1, 0]])
    loan = LossMatrix(("grant", "decline", "ask"), ("repays", "defaults"), [[0, 0.6], [0.12, 0], [30, 30]])
    partly = loan.with_amount([("grant", "defaults"), ("decline", "repays")])
    amounts = np.concatenate([[0.0, 1.0, 1e-3], rng.lognormal(5, 2, 37)])
    return {
        "ties": (LossMatrix.zero_one(AB), HALVES, None),
        "ties of large losses": (LossMatrix(AB, AB, [[0, 1e9], [1e9, 0]]), HALVES, None),
        "ties go by name": (LossMatrix(("b", "a"), AB, [[1, 0], [0, 1]]), HALVES, None),
        "numbers sort as numbers": (LossMatrix(("10", "9"), ("10", "9"), [[0, 1], [1, 0]]), HALVES, None),
        "a class before other actions": (LossMatrix(("ask", "a", "b"), AB, [[0.5, 0.5], [0, 1], [1, 0]]), HALVES, None),
        "a chain of near ties": (LossMatrix(("z", "m", "a"), AB, np.tile(STEPS, 2)), random_rows(4, 2, 1), None),
        "a chain the other way": (LossMatrix(("a", "m", "z"), AB, np.tile(STEPS, 2)), random_rows(4, 2, 1), None),
        "two classes": (LossMatrix(AB, AB, [[0, 5], [1, 0]]), random_rows(60, 2, 2), None),
        "three classes": (wide, random_rows(60, 3, 3), None),
        "refusal": (LossMatrix.zero_one(ABC).with_refusal(0.25), random_rows(60, 3, 4), None),
        "many actions": (LossMatrix("abcdefghijkl", AB, rng.normal(size=(12, 2))), random_rows(60, 2, 5), None),
        "one action": (LossMatrix(("wait",), ABC, [[3, 1, 2]]), random_rows(9, 3, 6), None),
        "one class": (LossMatrix(("a", "ask"), ("a",), [[2], [1]]), np.ones((3, 1)), None),
        "all losses nothing": (LossMatrix(AB, AB, np.zeros((2, 2))), random_rows(9, 2, 7), None),
        "gains": (LossMatrix(AB, AB, [[-10, 2], [1, -3]]), random_rows(60, 2, 8), None),
        "a huge loss": (LossMatrix((*ABC, "no"), ABC, [*wide.table, [1e12] * 3]), random_rows(60, 3, 3), None),
        "a huge loss of an impossible class": (huge, np.column_stack([random_rows(9, 2, 12), np.zeros(9)]), None),
        "ties of what differs little": (LossMatrix(AB, AB, 1e3 + 1e-9 * np.eye(2)), random_rows(60, 2, 13), None),
        "amounts of some cells": (partly, random_rows(40, 2, 9), amounts),
        "amounts of all cells": (loan.with_amount(), random_rows(40, 2, 10), amounts),
        "amounts, no word of which": (loan, random_rows(40, 2, 11), amounts),
        "amounts and ties": (LossMatrix.zero_one(AB).with_amount(), HALVES, np.array([0.0, 1e9, 1e9, 1e-9])),
    }  # fmt: skip


CASES = loss_cases()
DECIDED = """([table, order, by, rows, amounts]) => {
  const losses = new Losses(table, order, by), flat = Float64Array.from(rows.flat()), K = table[0].length
  return rows.map((row, i) => {
    const amount = amounts ? amounts[i] : undefined, alone = losses.decide(row, 0, amount)
    const action = losses.decide(flat, i * K, amount), next = losses.runnerUp(action)
    if (alone !== action) throw new Error("a row alone is decided otherwise")
    return [action, [...losses.risks], next]
  })
}"""


@pytest.mark.parametrize("name", CASES)
def test_the_browser_decides_as_the_engine(scripts: Page, name: str) -> None:
    loss, rows, amounts = CASES[name]
    status = np.where(rows.any(axis=1), Status.OK, Status.IMPOSSIBLE).astype(np.int8)
    known = decide(rows, loss, status, amount=amounts)
    by = None if loss.by_amount is None else loss.by_amount.tolist()
    sizes = None if amounts is None else amounts.tolist()
    found = scripts.evaluate(DECIDED, [loss.table.tolist(), loss.by_name.tolist(), by, rows.tolist(), sizes])
    assert [action for action, _risks, _next in found] == known.position.tolist()
    np.testing.assert_allclose([risks for _a, risks, _n in found], loss.risk(rows, amounts), rtol=1e-12, atol=1e-15)
    gaps = [risks[n] - risks[a] for a, risks, n in found if a >= 0 and n >= 0]
    expected = known.gap[np.isfinite(known.gap)]
    scale = np.abs(loss.risk(rows, amounts)).max()
    np.testing.assert_allclose(np.maximum(gaps, 0), expected, atol=2 * TIE * max(scale, 1e-12))


def test_some_cases_turn_on_the_tolerance() -> None:
    """Without it, or in the order of the matrix, they would be decided otherwise."""
    turned = {
        name
        for name, (loss, rows, amounts) in CASES.items()
        if (decide(rows, loss, amount=amounts).position != loss.risk(rows, amounts).argmin(axis=1)).any()
    }
    assert {"ties", "ties of large losses", "ties go by name", "numbers sort as numbers", "a chain of near ties",
            "a chain the other way", "ties of what differs little", "amounts and ties"} <= turned  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["two classes", "three classes", "refusal", "many actions", "gains", "a huge loss", "ties of what differs little"],
)
def test_regrets_decide_alike_and_are_never_negative(scripts: Page, name: str) -> None:
    loss, rows, _amounts = CASES[name]
    rows = rows[rows.any(axis=1)]
    found = scripts.evaluate(
        """([table, order, rows]) => {
          const plain = new Losses(table, order), regret = plain.regrets()
          return rows.map(row => [plain.decide(row), regret.decide(row), Math.min(...regret.risks)])
        }""",
        [loss.table.tolist(), loss.by_name.tolist(), rows.tolist()],
    )
    assert all(plain == regret and least >= 0 for plain, regret, least in found)


def test_only_the_ratios_of_a_posterior_count(scripts: Page) -> None:
    faint, plain, strong = scripts.evaluate(
        """([rows]) => {
          const losses = new Losses([[0, 1], [1, 0]], [0, 1])
          return [1e-40, 1, 1e40].map(f => rows.map(row => losses.decide(row.map(v => v * f))))
        }""",
        [HALVES.tolist()],
    )
    assert faint == plain == strong == [0, 0, 0, 1]


# the prior of use -----------------------------------------------------------------------------------------------------

PRIORS = {
    "as it is": ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
    "moved": ([0.2, 0.3, 0.5], [0.7, 0.29, 0.01]),
    "far": ([1e-9, 0.5, 0.5 - 1e-9], [0.999, 5e-4, 5e-4]),
    "a class is gone": ([0.2, 0.3, 0.5], [0.0, 0.4, 0.6]),
    "a class was never there": ([0.0, 0.4, 0.6], [0.0, 0.9, 0.1]),
}
JOINTS = np.array(
    [[0.1, 0.1, 0.1], [1e-300, 1e-280, 0.0], [0.5, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.0], [0.3, 0.01, 0.6]]
)
SHIFTED = """([own, use, logs]) => {
  const K = own.length, shift = priorShift(own, use), flat = Float64Array.from(logs.flat(), v => v ?? -Infinity)
  const P = new Float64Array(flat.length), sums = logs.map((_, i) => posteriorAt(P, flat, i * K, K, shift))
  const at = i => [...P.subarray(i * K, (i + 1) * K)], own_ = new Float64Array(flat.length)
  const moved = logs.map((_, i) => {
    posteriorAt(own_, flat, i * K, K, [])
    return atPrior([...own_.subarray(i * K, (i + 1) * K)], shift)
  })
  return logs.map((_, i) => [at(i), Number.isFinite(sums[i]), moved[i]])
}"""


@pytest.mark.parametrize("name", PRIORS)
def test_the_posterior_is_shifted_to_a_prior_of_use(scripts: Page, name: str) -> None:
    own, use = PRIORS[name]
    logs = log(JOINTS)
    logs[:, np.array(own) == 0] = -np.inf
    impossible = np.isneginf(logs).all(axis=1)
    status = np.where(impossible, Status.IMPOSSIBLE, Status.OK).astype(np.int8)
    ledger = Ledger(((JOINT, logs),), ABC, status)
    known = ledger.at_prior(dict(zip(ABC, own, strict=True)), dict(zip(ABC, use, strict=True)))
    sent = [[None if math.isinf(v) else v for v in row] for row in logs.tolist()]
    found = scripts.evaluate(SHIFTED, [own, use, sent])
    for i, (posterior, possible, moved) in enumerate(found):
        assert possible == (known.status[i] == Status.OK)
        if possible:
            np.testing.assert_allclose(posterior, known.posterior()[i], rtol=1e-12, atol=1e-300)
            np.testing.assert_allclose(moved, known.posterior()[i], rtol=1e-12, atol=1e-300)
        else:
            assert posterior == [0, 0, 0]
            assert moved is None


def test_the_shift_is_the_engines(scripts: Page) -> None:
    for own, use in PRIORS.values():
        found = scripts.evaluate("([own, use]) => priorShift(own, use).map(String)", [own, use])
        expected = [0.0 if o == 0 else v for o, v in zip(own, prior_shift(own, use).tolist(), strict=True)]
        np.testing.assert_allclose([float(v.replace("Infinity", "inf")) for v in found], expected, rtol=1e-14)


def test_losses_at_an_amount(scripts: Page) -> None:
    loss = CASES["amounts of some cells"][0]
    assert loss.by_amount is not None
    found = scripts.evaluate(
        "([loss, by]) => [atAmount(loss, by, 250), atAmount(loss, null, 2)]",
        [loss.table.tolist(), loss.by_amount.tolist()],
    )
    assert found == [loss.at_amount(250).table.tolist(), (2 * loss.table).tolist()]


ASSESSED = """([logs, priors, truth, weight, amount, prior, table, by, order]) => {
  const n = truth.length, k = priors[0].length, flat = Float64Array.from(logs.flat(), v => v ?? -Infinity)
  const scene = { n, k, logs: flat, which: new Uint8Array(n), priors, weight, truth, amount }
  return assess(scene, posteriors(scene, prior), { table, by }, new Losses(table, order, by))
}"""


@pytest.mark.parametrize("use", [None, {"a": 0.2, "b": 0.8}])
@pytest.mark.parametrize("cells", [None, [("a", "b")]])
def test_rows_without_a_posterior_cost_the_dearest_in_the_browser_too(
    browser: Browser, use: dict[str, float] | None, cells: list[tuple[str, str]] | None
) -> None:
    page = browser.new_page()
    for file in (SHARED / "component.js", SHARED / "decide.js", PAGES / "views/decisions/consequences.js"):
        load(page, file)
    loss = LossMatrix(("a", "b", "ask"), AB, [[0, 5], [1, 0], [0.4, 0.4]])
    loss = loss if cells is None else loss.with_amount(cells)
    posterior = np.array([[0.9, 0.1], [0.0, 0.0], [0.3, 0.7], [0.0, 0.0], [0.6, 0.4]])
    truth, weight, amount = np.array([0, 1, 1, 0, 1]), np.array([1.0, 2.0, 1.0, 3.0, 0.5]), np.arange(1.0, 6.0)
    held = HeldOut(AB, log(posterior), np.array([[0.5, 0.5]] * 5), truth, weight, Message(""))
    known = estimated_risk(held, loss, prior_of_use=use, amount=amount)
    sent = [[None if math.isinf(v) else v for v in row] for row in held.log_posterior.tolist()]
    by = None if loss.by_amount is None else loss.by_amount.tolist()
    prior = None if use is None else list(use.values())
    order = loss.by_name.tolist()
    found = page.evaluate(
        ASSESSED,
        [sent, [[0.5, 0.5]], truth.tolist(), weight.tolist(), amount.tolist(), prior, loss.table.tolist(), by, order],
    )
    assert (found["risk"], found["accuracy"]) == (pytest.approx(known.risk), pytest.approx(known.accuracy))
    assert found["undecided"] == known.undecided == 2
    np.testing.assert_allclose(found["confusion"], known.confusion)
    np.testing.assert_allclose(found["cost"], known.cost)
    page.close()


# drawings -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def drawings(browser: Browser) -> Iterator[Page]:
    """An empty page that knows the stage of all drawings."""
    page = browser.new_page()
    for name in ("calls", "component", "stage"):
        load(page, SHARED / f"{name}.js")
    yield page
    page.close()


CALLS = """([order]) => {
  const events = [], create = () => ({ update: ({ data }) => events.push(data), destroy: () => events.push("end") })
  globalThis.begin = create
  const drawing = DRAWN, root = make("div", "", document.body), ends = {}
  make("div", "", root).dataset.testid = "drawing"
  const task = () => new Promise(done => setTimeout(done, 10))
  const step = async what => {
    if (what === "rest") await task()
    else if (what === "gone") root.remove()
    else if (what === "told") window.dispatchEvent(new Event("come"))
    else if (what < 0) ends[-what]()
    else ends[what] = drawing({ data: what, parentElement: root })
  }
  return order.reduce((before, what) => before.then(() => step(what)), Promise.resolve()).then(() => events)
}"""
"""What a drawing does when it is called in this order; a number is ended where it is negative."""
ORDERS: dict[str, tuple[list[Any], list[Any]]] = {
    "one run after the other": ([1, "rest", 2, "rest", "gone", -2], [1, 2, "end"]),
    "the older ends after the newer was drawn": ([1, 2, -1, "rest", 3, "rest", "gone", -3], [1, 2, 3, "end"]),
    "the older is drawn after the newer": ([2, 1, -1, "rest", "gone", -2], [2, 1, 2, "end"]),
    "the older is drawn much later": ([2, "rest", 1, -1, "rest", "gone", -2], [2, 1, 2, "end"]),
    "the older ends before the newer is drawn": ([1, -1, 2, "rest", "gone", -2], [1, "end", 2, "end"]),
    "two are older": ([3, 1, 2, -1, -2, "rest", "gone", -3], [3, 1, 2, 3, "end"]),
    "one of before goes on": ([1, "rest", 3, 2, -2, "rest", 4, "rest", "gone", -4], [1, 3, 2, 3, 4, "end"]),
    "it leaves the page at once": ([1, "rest", 2, "gone", -2], [1, 2, "end"]),
}


@pytest.mark.parametrize("order", ORDERS)
def test_a_drawing_shows_the_newest_run_in_whatever_order_they_come(drawings: Page, order: str) -> None:
    """As Streamlit calls it where a page is drawn again while the browser still fetches the script: Chromium ends
    imports that wait for one script in any order."""
    calls, drawn = ORDERS[order]
    assert drawings.evaluate(CALLS.replace("DRAWN", "drawnBy(create)"), [calls]) == drawn
    light = component.follower(
        str(SHARED / "plane.py"), "overtaken", "<p></p>", draws="begin", event="come", every=True
    )
    follows = component.SOURCES.pop(light.name).script.replace("export default", "globalThis.follows =")
    drawings.evaluate(f"() => {{ {follows} }}")
    assert drawings.evaluate(CALLS.replace("DRAWN", "follows"), [calls]) == drawn
    calls, drawn = [*calls[:-2], "told", *calls[-2:], "told"], [*drawn[:-1], drawn[-2], "end"]
    assert drawings.evaluate(CALLS.replace("DRAWN", "follows"), [calls]) == drawn


def test_the_heavy_part_of_a_drawing_is_kept_in_whatever_order_its_runs_come(drawings: Page) -> None:
    """Both runs send the same; the older comes later, and is ended at once."""
    kept, left = drawings.evaluate(
        """() => {
          const kept = new Map(), root = make("div", "", document.body)
          const read = received(kept, "heavy", 4, body => ({ body }))
          const head = new TextEncoder().encode('{"key":"a"}'), data = new Uint8Array(4 + head.length + 3)
          new DataView(data.buffer).setUint32(0, head.length, true)
          data.set(head, 4); data.set([7, 8, 9], 4 + head.length)
          const newer = read({ data, parentElement: root }), older = read({ data, parentElement: root })
          older()
          const { body } = kept.get("a")
          root.remove()
          newer()
          return [[...body], kept.size]
        }"""
    )
    assert kept == [7, 8, 9] and left == 0


TOLD = """([hidden, event]) => new Promise(done => {
  const host = make("div", "", document.body), told = new Set()
  const frames = act => requestAnimationFrame(() => requestAnimationFrame(act))
  host.hidden = hidden
  const { redraw } = stage(host, parts => parts.forEach(part => told.add(part)))
  frames(() => {
    told.clear()
    event ? document.fonts.dispatchEvent(new Event(event)) : redraw("data")
    frames(() => { const before = [...told]; host.hidden = false; frames(() => done([before, [...told].sort()])) })
  })
})"""


def test_a_drawing_hears_once_it_has_room_what_was_told_before(drawings: Page) -> None:
    assert drawings.evaluate(TOLD, [True, ""]) == [[], ["data", "stage"]]
    assert drawings.evaluate(TOLD, [True, "loadingdone"]) == [[], ["fonts", "stage"]]


def test_a_drawing_hears_of_every_font_that_comes(drawings: Page) -> None:
    assert drawings.evaluate(TOLD, [False, "loadingdone"])[0] == ["stage", "fonts"]


WAITS = """later => {
  const { hear, send, waits } = stage(make("div", "", document.body), () => {}), now = performance.now.bind(performance)
  const heard = seen => { hear({ data: { seen }, setTriggerValue() {} }); return waits() }
  heard(0); send("moved", {}); send("moved", {})
  performance.now = () => now() + later
  const waited = [heard(1), heard(2)]
  delete performance.now
  return waited
}"""


def test_an_edit_stands_over_older_answers_on_a_slow_server_and_is_given_up_where_it_was_lost(drawings: Page) -> None:
    assert drawings.evaluate(WAITS, 8_000) == [True, False]  # the first edit's answer, and the second's
    assert drawings.evaluate(WAITS, 60_000) == [False, False]


def test_a_table_is_laid_out_again_where_a_scroll_bar_takes_room(drawings: Page) -> None:
    """A border takes as much from its inside as a scroll bar would, which a browser without a window hides."""
    script = (SHARED / "tables.js").read_text(encoding="utf-8")
    drawings.add_script_tag(content=script.replace("export default ", "void "))
    drawings.evaluate("""() => {
      const host = make("div", "", document.body), heads = ["a", "b"].map(text => ({ text }))
      host.style.width = "400px"
      createListing(host).update({ data: { heads, rows: [["1", "2"]], height: 100, label: "", seen: 0 } })
    }""")
    width = partial(drawings.evaluate, "parseFloat(document.querySelector('.scroll table').style.width)")
    assert still(drawings, width) == pytest.approx(399)
    drawings.evaluate("document.querySelector('.scroll').style.borderRight = '20px solid'")
    soon(drawings, width, lambda wide: wide == pytest.approx(379))


# small functions ------------------------------------------------------------------------------------------------------


def test_numbers_are_written_as_python_writes_them(browser: Browser) -> None:
    page = browser.new_page()
    for file in (SHARED / "component.js", SHARED / "decide.js", PAGES / "views/decisions/consequences.js"):
        load(page, file)
    rng = np.random.default_rng(5)
    values = [
        0.0,
        1.0,
        -2.5,
        1e-5,
        9.9995e-5,
        99995.0,
        1e4,
        12345.678,
        -1e22,
        0.1 + 0.2,
        *(rng.normal(size=40) * 10 ** rng.uniform(-7, 9, 40)).tolist(),
    ]
    for digits in (3, 4, 5):
        found = page.evaluate("([values, digits]) => values.map(v => general(v, digits))", [values, digits])
        assert [text.replace("−", "-") for text in found] == [f"{v:.{digits}g}" for v in values]
    page.close()


def test_counts_of_rows_are_whole_with_separators(browser: Browser) -> None:
    page = browser.new_page()
    for file in (SHARED / "component.js", SHARED / "decide.js", PAGES / "views/decisions/consequences.js"):
        load(page, file)
    rows = [0, 7, 71190, 71189.99999999999, 1234567.4, 999.5, 12.25]
    shown = page.evaluate("rows => rows.map(n => rowCount(n))", rows)
    assert shown == ["0", "7", "71,190", "71,190", "1,234,567", "999.5", "12.25"]
    page.close()


def test_ticks_are_round_inside_and_about_as_many_as_wanted(scripts: Page) -> None:
    for low, high, count in ((0, 1, 5), (-3.2, 7.9, 8), (1e-7, 3e-7, 4), (-5e6, 9e6, 6), (0.2, 0.8, 3)):
        ticks = scripts.evaluate("([low, high, count]) => ticksOf(low, high, count)", [low, high, count])
        values = [v for v, _text in ticks]
        assert all(low - 1e-9 * (high - low) <= v <= high + 1e-9 * (high - low) for v in values)
        assert count / 2.5 <= len(values) <= count + 1
        read = [float(text.replace("−", "-")) for _v, text in ticks]
        np.testing.assert_allclose(read, values, atol=1e-9 * (high - low))


def test_words_colours_and_glyphs(scripts: Page) -> None:
    found = scripts.evaluate(
        """() => [
          fill("{a} of {b}, {c}", { a: 1, b: "<i>" }), clamp(5, 0, 3), clamp(-1, 0, 3),
          rgbOf("#D55E00"), rgbOf("rgb(1, 2, 3)"), isDark([14, 17, 23]), isDark([255, 255, 255]),
          new Set(Array.from({ length: 64 }, (_, k) => `${k % 8} ${glyphOf(k)}`)).size,
        ]"""
    )
    assert found == ["1 of <i>, {c}", 3, 0, [213, 94, 0], [1, 2, 3], True, False, 64]
