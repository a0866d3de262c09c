"""A question to a class: one answer a visitor, none after the reveal, nothing kept of who gave it; the key."""

from __future__ import annotations

import threading

import pytest

from bayes_engine.workbench.launch import announcement
from bayes_engine.workbench.lessons.choices import CHOICES
from bayes_engine.workbench.lessons.class_answers import MOST, ClassAnswers, histogram
from bayes_engine.workbench.lessons.lesson_format import Lesson
from bayes_engine.workbench.lessons.predictions import PREDICTIONS
from bayes_engine.workbench.lessons.quantities.registry import QUANTITIES

LESSON = Lesson(title="Risk", page="case", state={})


def asked(options: int = 0, limits: tuple[float, float] = (0.0, 1.0)) -> tuple[ClassAnswers, int]:
    answers = ClassAnswers()
    answers.ask(LESSON, "1.x", "", options, limits)
    assert answers.question is not None
    return answers, answers.question.serial


def test_every_quantity_and_choice_says_how_it_is_predicted() -> None:
    assert set(PREDICTIONS) == set(QUANTITIES) | set(CHOICES)
    assert {name for name, how in PREDICTIONS.items() if how.kind == "choice"} == set(CHOICES)
    assert not set(QUANTITIES) & set(CHOICES)


def test_the_last_answer_of_a_visitor_counts_and_none_after_the_reveal() -> None:
    answers, serial = asked()
    assert answers.answer(serial, "ann", 0.2) and answers.answer(serial, "ben", 0.9)
    assert answers.answer(serial, "ann", 0.95)
    assert answers.count() == 2 and answers.given("ann") == 0.95
    assert [b.n for b in answers.histogram()] == [0] * 9 + [2]
    answers.reveal()
    assert not answers.answer(serial, "ann", 0.1) and answers.given("ann") == 0.95
    assert "ann" not in repr(vars(answers))


def test_the_next_question_and_the_end_take_the_answers_away() -> None:
    answers, serial = asked(3)
    assert answers.answer(serial, "ann", 2)
    answers.ask(LESSON, "1.y", "", 3, (0.0, 1.0))
    assert answers.count() == 0 and not answers.answer(serial, "ann", 2)  # to a question that is over
    answers.end()
    assert answers.question is None and answers.histogram() == () and not answers.answer(serial + 1, "ann", 2)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 3.0, 1.5])
def test_what_is_no_option_is_not_counted(value: float) -> None:
    answers, serial = asked(3)
    assert not answers.answer(serial, "ann", value) and answers.count() == 0


def test_no_more_than_a_lecture_is_kept_and_whoever_is_in_may_still_change() -> None:
    answers, serial = asked()
    assert all(answers.answer(serial, str(i), 0.5) for i in range(MOST))
    assert not answers.answer(serial, "one more", 0.5) and answers.answer(serial, "0", 0.1)
    assert answers.count() == MOST


def test_answers_of_many_threads_all_count() -> None:
    answers, serial = asked()
    threads = [threading.Thread(target=answers.answer, args=(serial, str(i), i / 60)) for i in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.histogram() == histogram([i / 60 for i in range(60)], (0.0, 1.0)) and answers.count() == 60
    assert [b.n for b in answers.histogram()] == [6] * 10


def test_the_key_opens_however_it_is_spaced_and_no_other_does() -> None:
    answers = ClassAnswers()
    assert not answers.is_key("") and not answers.is_key("AAAA-AAAA-AAAA")
    key = answers.new_key()
    assert len(key) == 14 and answers.is_key(key) and answers.is_key(f" {key.lower().replace('-', ' ')} ")
    assert not answers.is_key(key[:-1]) and not answers.is_key(key + "A") and not answers.is_key("é" * 5000)
    assert answers.new_key() != key and not answers.is_key(key)
    assert key not in repr(vars(answers))
    assert key in announcement("http://192.168.0.7:8501", (), key)
