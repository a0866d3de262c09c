"""What every test of a page needs."""

from __future__ import annotations

import pytest

from pages.runtime import jobs, state
from pages.views.network import learn_run

PATIENT = 60.0


def be_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine any work may take longer than a person would wait; only the tests of jobs look at that."""
    monkeypatch.setattr(jobs, "GRACE", PATIENT)
    monkeypatch.setattr(learn_run, "GRACE", PATIENT)
    monkeypatch.setattr(state, "UNHEARD", 0.0)  # no hand takes a value back as fast as a test


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)
