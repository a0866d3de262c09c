"""What .github/CONTRIBUTING.md shows as complete is complete: its model and its page run as they stand there."""

from __future__ import annotations

import re
import shutil
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import NaiveBayes, datasets, load_dataset
from pages.runtime.state import State
from pages.shell import frame
from tests.conftest import PATIENCE, ROOT


def code(word: str) -> str:
    """The one block of Python that holds this word."""
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^ *```python\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    [found] = [block for block in blocks if word in block]
    return textwrap.dedent(found)


def test_the_model_is_naive_bayes_with_variances_that_the_classes_share() -> None:
    shown: dict[str, Any] = {}
    exec(code("class MyBayes"), shown)  # noqa: S102  what the page tells contributors to write
    melons = load_dataset("watermelon3")
    X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    ours, peer = shown["MyBayes"]().fit(X, y), NaiveBayes(tied_variance=True).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(ours.leave_one_out_log_proba(X, y), peer.leave_one_out_log_proba(X, y), rtol=1e-9)


def test_a_data_set_is_offered_once_its_files_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = load_dataset("loan").frame
    for ending in ("csv", "toml"):
        shutil.copy(datasets.datasets_folder() / f"loan.{ending}", tmp_path / f"ours.{ending}")
    monkeypatch.setattr(datasets, "datasets_folder", lambda: tmp_path)
    for name in ("_stems", "_info", "_dataset", "dataset_names"):
        monkeypatch.setattr(datasets, name, cache(getattr(datasets, name).__wrapped__))
    assert datasets.dataset_names() == ("ours",)
    assert datasets.load_dataset("ours").frame.equals(shipped)


def test_the_line_of_the_page_has_its_title() -> None:
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [line] = re.findall(r"`(Place\(.*\)),`", text)
    words = {"_": str, "use": "Use", "always": lambda question: lambda _state: question}
    place = eval(line, {"Place": frame.Place} | words)  # noqa: S307  what the page tells contributors to write
    assert f'st.title(_("{place.asks(State())}"))' in code("boot()") and place.file == "pages/priors.py"
    assert place.group == "Use" and place.uses(State())


def test_the_page_stands_in_the_menu_without_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = frame.places()
    (tmp_path / "priors.py").write_text(code("boot()"), encoding="utf-8")
    (tmp_path / "start.py").write_text("", encoding="utf-8")  # which has a line
    monkeypatch.setattr(frame, "FOLDER", tmp_path)
    assert [place.file for place in frame.places()] == [*(place.file for place in listed), "pages/priors.py"]
    place = frame.place_of("priors")
    assert (place.title, place.asks(State())) == ("Priors", "How frequent is each class?")


def test_the_page_shows_the_class_priors() -> None:
    begin, page = code("boot()").split("boot()\n\n", 1)
    assert begin.strip() == "from pages.shell.router import boot"
    app = AppTest.from_string(page, default_timeout=PATIENCE).run()
    assert not app.exception
    assert [e.value for e in app.title] == ["How frequent is each class?"]
    assert "| good | 0.4706 |" in app.markdown[0].value
