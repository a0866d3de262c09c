"""A class of 60 phones answers a question on the real server, over websockets; the seconds are the bench's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bench.bench_class_question import KEY, PHONES, answers_of, expected, lesson
from tests.classrooms import classroom
from tests.conftest import finished


@pytest.mark.slow
def test_sixty_phones_answer_and_the_histogram_is_right(tmp_path: Path) -> None:
    answers = answers_of(PHONES)
    with classroom(tmp_path, "127.0.0.2") as room:
        (key,) = KEY.findall(room.log.read_text(encoding="utf-8"))
        found = finished(lesson(room.url, key, answers), within=None)
        log = room.log.read_text(encoding="utf-8", errors="replace")
    assert not found.errors
    assert found.bars == expected(answers) and sum(found.bars) == PHONES
    assert re.search(r'class="right">90–100 % ✓<', found.revealed)
    assert log.count(key) == 1 and "Traceback" not in log
