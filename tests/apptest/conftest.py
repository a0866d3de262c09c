"""What every test of a page needs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner_utils import script_run_context
from streamlit.testing.v1 import local_script_runner

from bayes_engine.workbench.figures.figure import Figure
from pages.active import models
from pages.runtime import job_queue, widgets
from pages.views.network import learn_search
from tests.conftest import PATIENCE

CHECKED = ("test_saved_pages", "test_surfaces")
"""Files in which Plotly checks the figures of every page."""
STORED = "test_saved_pages"
"""The file in which numbers stand as the app showed them once."""


@pytest.fixture(autouse=True, scope="session")
def components_looked_for_once() -> Iterator[None]:
    """A server asks every installed package once whether it brings components; each AppTest would ask anew, at the
    price of two runs of a page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(autouse=True, scope="session")
def scripts_waited_for() -> Iterator[None]:
    """An AppTest asks every millisecond whether the script has ended, which takes a seventh of all the time that pages
    are tested; here its thread is joined before it asks."""
    ended = local_script_runner.require_widgets_deltas

    def joined(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
        runner._script_thread.join(timeout)
        if not runner.script_stopped():  # asked here: a busy machine may be away between two looks at the clock
            ended(runner, 0.1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", joined)
        yield


@pytest.fixture(autouse=True, scope="session")
def messages_without_hashes() -> Iterator[None]:
    """By its hash a browser knows a message that it was sent before. An AppTest asks for none, and writing each message
    out for it takes a twelfth of the time of a page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(script_run_context, "populate_hash_if_needed", lambda _message: None)
        yield


def be_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine any work may take longer than a person would wait; only the tests of jobs look at that. Nobody
    else is at the door."""
    monkeypatch.setattr(job_queue, "GRACE", PATIENCE)
    monkeypatch.setattr(job_queue, "DOORS", 0.0)
    monkeypatch.setattr(learn_search, "GRACE", PATIENCE)
    monkeypatch.setattr(widgets, "UNHEARD", 0.0)  # no hand takes a value back as fast as a test


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture(autouse=True)
def few_repetitions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where models of a small table are compared, a cross-validation is repeated twice, not five times."""
    if request.path.stem != STORED:
        monkeypatch.setattr(models, "RUNS", ((300, 2), *models.RUNS[1:]))


@pytest.fixture(autouse=True)
def figures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In `CHECKED` Plotly checks the properties of every figure that is drawn; a page itself has nobody do so."""
    if request.path.stem in CHECKED:
        sent = Figure.to_dict
        monkeypatch.setattr(Figure, "to_dict", lambda figure: (figure.checked(), sent(figure))[1])
