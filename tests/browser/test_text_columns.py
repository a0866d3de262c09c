"""What only a browser shows of a text: a message is judged while it is typed, and a word says what it counts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from pages.runtime.state import State, encode
from tests.browser.looking import becomes, settled, state_of

SMS = f"s={encode(State(table='sms-spam', language='en'))}"
SPAM, HAM = re.compile("Judged spam"), re.compile("Judged ham")


@pytest.mark.slow
def test_a_message_is_judged_while_it_is_typed(page: Page, app) -> None:
    page.goto(f"{app.url}/case?{SMS}")
    settled(page)
    expect(page.get_by_role("heading", name=SPAM)).to_be_visible()
    field = page.get_by_test_id("message").get_by_role("textbox")
    field.fill("")
    field.press_sequentially("see you at lunch zebra", delay=15)
    expect(page.get_by_role("heading", name=HAM)).to_be_visible()  # no key that ends it, no click elsewhere
    expect(field).to_be_focused()
    expect(field).to_have_value("see you at lunch zebra")
    words = page.get_by_test_id("message").locator(".read span")
    expect(words).to_have_text(["see", "you", "at", "lunch", "zebra"])
    expect(words.nth(4)).to_have_class(re.compile("unseen"))
    becomes(page, lambda: state_of(page).case, ("see you at lunch zebra",))

    field.press_sequentially(", you won a prize, claim it: call now")
    expect(page.get_by_role("heading", name=SPAM)).to_be_visible()
    expect(field).to_have_value("see you at lunch zebra, you won a prize, claim it: call now")


@pytest.mark.slow
def test_a_word_tells_its_counts_and_keys_walk_over_the_words(page: Page, app) -> None:
    page.goto(f"{app.url}/case?{SMS}")
    settled(page)
    message = page.get_by_test_id("message")
    message.locator(".read span").filter(has_text="free").hover()
    expect(message.locator(".card")).to_contain_text("«free»: −3.216 bits · supports spam")
    expect(message.locator(".card")).to_contain_text("P(w | spam) = (42+1)/(2791+2353) = 0.008359")
    message.locator(".read").focus()
    page.keyboard.press("ArrowRight")
    expect(message.locator(".card")).to_contain_text("«phone»")
    expect(message.locator(".quiet")).to_contain_text("«phone»")
    page.keyboard.press("Escape")
    expect(message.locator(".card")).to_be_hidden()


@pytest.mark.slow
def test_markup_is_text_and_a_missing_message_leaves_the_prior(page: Page, app) -> None:
    page.goto(f"{app.url}/case?{SMS}")
    settled(page)
    message = page.get_by_test_id("message")
    message.get_by_role("textbox").fill("<img src=x onerror=document.title='bad'> free")
    expect(message.locator(".read")).to_have_text("<img src=x onerror=document.title='bad'> free")
    becomes(page, lambda: state_of(page).case, ("<img src=x onerror=document.title='bad'> free",))  # and it is judged
    settled(page)
    assert page.title() != "bad" and message.locator("img").count() == 0
    message.get_by_role("button", name="Missing").click()
    expect(page.get_by_text("No text is known: the column has no factor.")).to_be_visible()
    becomes(page, lambda: state_of(page).case, (None,))
