"""The names of the library: all there, loaded when they are asked for; renamed ones still import, with a warning."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from rlcompleter import Completer

import pytest

import bayes_engine
from tests.conftest import ROOT


def test_every_public_name_is_there_and_sorted_once() -> None:
    assert len(set(bayes_engine.__all__)) == len(bayes_engine.__all__)
    assert all(hasattr(bayes_engine, name) for name in bayes_engine.__all__)


def test_a_name_is_loaded_from_where_type_checkers_are_sent_to() -> None:
    """The names that stand in `__all__`, in the imports for types and in the table of modules are the same."""
    tree = ast.parse(Path(bayes_engine.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imported = {alias.name: line.module for line in block.body if isinstance(line, ast.ImportFrom)
                for alias in line.names}  # fmt: skip
    assert {name: f"bayes_engine.{module}" for name, module in bayes_engine._HOME.items()} == imported
    assert sorted(imported) == sorted(bayes_engine.__all__)


def after(code: str) -> list[str]:
    """The modules that a fresh process has loaded after the code."""
    code += "\nimport sys; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_what_needs_no_arrays_loads_none() -> None:
    light = ("language", "errors", "numerals", "progress", "workbench.launch")
    code = "; ".join(f"import bayes_engine.{module}" for module in light)
    loaded = after(code + "\nfrom bayes_engine.datasets import dataset_info; dataset_info('iris').text('title', 'zh')")
    assert {"numpy", "scipy", "pandas", "sklearn", "plotly"}.isdisjoint(loaded)
    assert "bayes_engine.models" not in loaded


@pytest.mark.slow
def test_a_model_loads_what_it_needs() -> None:
    loaded = after("import bayes_engine\nbayes_engine.NaiveBayes().fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])")
    unneeded = {"bayes_engine.em", "bayes_engine.datasets", "bayes_engine.models.mixture", "bayes_engine.inference",
                "bayes_engine.decision.loss", "bayes_engine.store", "bayes_engine.exchange", "bayes_engine.table.read",
                "sklearn.cluster", "plotly"}  # fmt: skip
    assert unneeded.isdisjoint(loaded)


@pytest.mark.slow
def test_a_name_is_loaded_without_collections_and_leaves_the_collector_as_it_was() -> None:
    code = (
        "import gc, sys; collected = []; gc.callbacks.append(lambda phase, info: collected.append(len(sys.modules)))\n"
        "import bayes_engine; before = len(sys.modules); bayes_engine.NaiveBayes; after = len(sys.modules)\n"
        "print(sum(before < n < after for n in collected), gc.isenabled()); gc.disable()\n"
        "bayes_engine.AODE; print(gc.isenabled()); gc.enable()\n"
        "try: bayes_engine.nothing_of_that_name\n"
        "except AttributeError: print(gc.isenabled())"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["0", "True", "False", "True"]


@pytest.mark.slow
def test_each_name_loads_first() -> None:
    """A name of each module, with nothing of the library loaded before it and another module's name after it; a process
    of its own, in which what others wrote is loaded once."""
    names = list({home: name for name, home in bayes_engine._HOME.items()}.values())
    code = (
        "import sys\n"
        f"for name in {names}:\n"
        "    for module in [m for m in sys.modules if m.split('.')[0] == 'bayes_engine']: del sys.modules[module]\n"
        "    exec(f'from bayes_engine import {name}, GaussianMixture')\n"
        "    assert 'bayes_engine.models.mixture' in sys.modules\n"
        "    print(name)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.stdout.split() == names, ran.stderr


def test_all_of_it_is_listed_completed_and_imported_by_a_star() -> None:
    assert set(bayes_engine.__all__) | {"__version__", "language"} <= set(dir(bayes_engine))
    assert "bayes_engine.NaiveBayes" in "".join(
        Completer({"bayes_engine": bayes_engine}).attr_matches("bayes_engine.Naive")
    )
    names: dict[str, object] = {}
    exec("from bayes_engine import *", names)  # noqa: S102
    assert names.keys() - {"__builtins__"} == set(bayes_engine.__all__)


def test_a_part_of_the_package_is_an_attribute_of_it() -> None:
    """As it was when all was loaded at once."""
    assert bayes_engine.exchange.read_bif and bayes_engine.numerals.number(1.0) == "1.0000"


def test_a_renamed_name_imports_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="bayes_engine.Stand is called FlipMargin now"):
        from bayes_engine import Stand
    assert Stand is bayes_engine.FlipMargin
    assert "Stand" not in bayes_engine.__all__


@pytest.mark.parametrize("name", ["Nothing", "_nothing", "nothing.at_all", "__wrapped__"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
        getattr(bayes_engine, name)


@pytest.mark.slow
def test_a_type_checker_knows_every_name_and_no_other(tmp_path: Path) -> None:
    code = tmp_path / "code.py"
    code.write_text(
        "from bayes_engine import *\nfrom bayes_engine import Dirichlet, Nothing\nimport bayes_engine\n"
        "reveal_type(NaiveBayes())\nreveal_type(bayes_engine.load_dataset)\nreveal_type(Dirichlet)\n"
        + "".join(f"bayes_engine.{name}\n" for name in bayes_engine.__all__)
    )
    command = [sys.executable, "-m", "mypy", "--strict", str(code)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    errors = [line for line in ran.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1 and 'has no attribute "Nothing"' in errors[0], ran.stdout
    for shown in ("models.naive_bayes.NaiveBayes", "datasets.Dataset", "priors.Dirichlet"):
        assert f"bayes_engine.{shown}" in ran.stdout
