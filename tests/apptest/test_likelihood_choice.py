"""Model: multinomial, Bernoulli or categorical, which is mine?"""

from __future__ import annotations

from bayes_engine.workbench.derivation.likelihood_choice import compared
from pages.runtime.state import State
from tests.apptest.opened import opened, showing


def open_section(**state):
    return opened("model", showing(State(**state), which=True))


def told(at) -> str:
    return " ".join(m.value for m in [*at.markdown, *at.caption])


def test_a_message_under_the_three() -> None:
    at = open_section(table="watermelon3")
    assert "multinomial: **spam** (0.6382)" in told(at)
    assert "Bernoulli: **ham** (0.5339)" in told(at)
    assert "(2 + 1)/(8 + 10) = 0.1667" in told(at)
    at.text_input(key="which_message").set_value("lunch at the zebra").run()
    assert not at.exception
    found = compared("lunch at the zebra")
    assert f"multinomial: **ham** ({max(found.posterior[0]):.4f})" in told(at)
    assert "the, zebra" in told(at)


def test_the_table_at_hand_has_its_own_answer() -> None:
    assert "answers to separate questions" in told(open_section(table="watermelon3"))
    assert "counts of separate things" in told(open_section(table="spam-words"))
    assert "none of the three" in told(open_section(table="iris"))
