"""What is installed is the whole product: library, app, data sets, catalogues, configuration."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_wheel

import bayes_engine
from bayes_engine import __version__
from bayes_engine.workbench import launch
from tests.conftest import ROOT, running_app

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_lowest_versions_that_are_tried_are_those_that_are_promised() -> None:
    tried = (ROOT / ".ci" / "lowest.txt").read_text(encoding="utf-8").split()
    assert {bound.replace(">=", "==") for bound in PROJECT["dependencies"]} <= set(tried)


def test_the_neighbours_are_told_alike_in_both_languages() -> None:
    """Cell by cell, as far as a cell is one word."""
    words = {"yes": "能", "no": "不能", "–": "–", "add only": "只能增加"}
    tables = [
        [
            row.strip("| ").split(" | ")[1:]
            for row in text.read_text(encoding="utf-8").splitlines()
            if row.count("|") == 8
        ]
        for text in (ROOT / "README.md", ROOT / ".github" / "README.zh.md")
    ]
    english, chinese = ([cell for row in table[2:] for cell in row] for table in tables)
    assert [words.get(cell) for cell in english] == [cell if cell in words.values() else None for cell in chinese]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel unpacked, as in site-packages."""
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        wheel = folder / build_wheel(str(folder))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_brings_one_package_and_everything_in_it(installed: Path) -> None:
    names = {path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()}
    assert {name.split("/")[0] for name in names} == {"bayes_engine", f"bayes_engine-{__version__}.dist-info"}
    for folder in ("pages", "datasets", ".streamlit"):
        shipped = {p for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts}
        assert {f"bayes_engine/_app/{p.relative_to(ROOT).as_posix()}" for p in shipped} <= names
    assert {
        "bayes_engine/_app/app.py",
        "bayes_engine/py.typed",
        "bayes_engine/locale/zh/LC_MESSAGES/messages.mo",
    } <= names
    assert not [name for name in names if name.endswith(".pyc")]


@pytest.mark.slow
def test_the_installed_library_needs_no_browser_and_finds_its_data_and_words(installed: Path, tmp_path: Path) -> None:
    """It imports with its four dependencies alone."""
    code = (
        "import sys\n"
        "extras = ('streamlit', 'plotly', 'chardet', 'python_calamine', 'babel', 'pyarrow')\n"
        "sys.modules |= dict.fromkeys(extras)\n"
        "import bayes_engine as b, bayes_engine.language as language\n"
        f"assert b.__file__.startswith({str(installed)!r})\n"
        "table = b.load_dataset('iris')\n"
        "X, y = table.frame[list(table.schema.features.names)], table.frame[table.schema.target.name]\n"
        "assert b.NaiveBayes().fit(X, y).predict(X).shape == (150,)\n"
        "language.set_language('zh'); language._('x')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, env=environment, check=True)


@pytest.mark.slow
def test_the_installed_app_starts_anywhere(installed: Path, tmp_path: Path) -> None:
    script = installed / "bayes_engine" / "_app" / "app.py"
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    code = (
        "import sys; from streamlit.testing.v1 import AppTest; import bayes_engine\n"
        f"app = AppTest.from_file({str(script)!r}, default_timeout=120).run()\n"
        "assert not app.exception, app.exception\n"
        "assert len(app.main.children) > 1\n"
        "loaded = (bayes_engine, sys.modules['pages.shell.router'])\n"
        f"assert all(module.__file__.startswith({str(installed)!r}) for module in loaded)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)


@pytest.mark.slow
def test_the_configuration_beside_the_installed_script_is_read(installed: Path, tmp_path: Path) -> None:
    script = installed / "bayes_engine" / "_app" / "app.py"
    with running_app(tmp_path, script, PYTHONPATH=str(installed)) as server:
        assert "http://127.0.0.1" in server.log.read_text(encoding="utf-8")


def test_the_console_command_runs_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(launch, "put_in_front", lambda address: None)
    monkeypatch.setattr(launch.runpy, "run_module", lambda name, **_: ran.append((name, list(sys.argv))))
    monkeypatch.setattr(sys, "argv", ["bayes-workbench", "--server.port", "8600"])
    launch.main()
    assert ran == [("streamlit", ["streamlit", "run", str(ROOT / "app.py"), "--server.port", "8600"])]
    assert PROJECT["scripts"] == {"bayes-workbench": "bayes_engine.workbench.launch:main"}


def test_without_the_app_extra_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"pip install 'bayes-engine\[app\]'"):
        launch.main()


def test_help_names_everything_public() -> None:
    named = set(re.findall(r"`(\w+)`", bayes_engine.__doc__ or ""))
    assert not set(bayes_engine.__all__) - named
