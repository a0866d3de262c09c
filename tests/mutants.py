"""Mutation testing of the library's core: `python -m tests.mutants --sample 400 --seed 0` (half an hour on one core).

Are the tests strong, or only many? A mutant is one change of the code that a test should notice: an operator, a
comparison, a constant, a condition, the order of two arguments or a returned value. A seeded sample is drawn,
stratified by file; every mutant runs in a process of its own against the tests that its line is covered by, the fastest
first, until one fails. A mutant that fails one, or takes five times as long, is killed; the others are listed, to be
read.

mutmut 3.8 draws no sample, and imports a copy of the tree in which each function stands once for every mutant;
cosmic-ray starts one test command anew for each, chooses no tests, and the imports alone take 2 s. Here one process
imports library and tests, and forks.

`--files` restricts to paths that hold this text, `--budget` is the CPU seconds of the tests for one mutant, and
`--recorded` names a file that keeps which test meets which line from one run to the next.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import io
import json
import os
import random
import resource
import signal
import sys
import time
import types
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
CORE = ("stats", "priors.py", "factors", "ledger.py", "decision", "inference")
SUBJECTS = {
    "brute": """
        brute_gibbs brute_joint brute_network brute_network_models brute_semi_naive
    """,
    "golden": """
        golden
    """,
    "laws": """
        laws_decisions laws_gaussian laws_likelihoods laws_modes_of_use laws_naive_bayes laws_network laws_semi_naive
    """,
    "oracles": """
        gaussian likelihoods mixture network_classifier network_em scikit_learn scikit_learn_named
    """,
    "unit": """
        amounts ask ask_likelihoods averaged_fast calibrated chow_liu classes_without_rows compare complement
        conditionals counted credible curves dependence derivation derivation_likelihoods dirichlet double_counting
        elimination em errors estimates evaluate expected_counts family_counts fixed_point forward_sampling gaussian
        gibbs gibbs_walk joint_multinomial junction_tree labels ledger left_out_quickly likelihood_choice likelihoods
        likelihoods_elsewhere logspace look_up_and_lazy loss margins mixture modes_of_use moments multiple_tests
        naive_bayes network_classifier network_models networks new_likelihood numeric_faults odd_cells one_dependence
        plausible priors procedures_compared regions selective semi_supervised size_limits small_figures text
        text_columns truth values weighted
    """,
}
"""The tests of the core in each folder: those of readers, pages and processes would only take time."""
TESTS = [f"tests/{room}/test_{name}.py" for room, names in SUBJECTS.items() for name in names.split()]
CALLS = 20
"""So many calls of a function are followed line by line in each test: tracing all takes thrice the time."""

SWAPPED: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
"""What takes an operator's place."""


class Mutant:
    """One change of a file: the line, and what stands there after it. `apply` changes the tree, `undo` restores it."""

    def __init__(self, path: Path, line: int, what: str, node: Any, field: str, value: Any) -> None:
        self.path, self.line, self.what = path, line, what
        self.node, self.field, self.value = node, field, value

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        old = getattr(self.node, self.field)
        setattr(self.node, self.field, self.value)
        try:
            yield
        finally:
            setattr(self.node, self.field, old)

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.what}"


def mutants(path: Path, tree: ast.Module) -> Iterator[Mutant]:
    """Every mutant inside the functions of a file."""
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.Lambda)):
            body = function.body if isinstance(function.body, list) else [function.body]
            for statement in body:
                for node in ast.walk(statement):
                    if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
                        yield from _changes(path, node)


def _changes(path: Path, node: ast.AST) -> Iterator[Mutant]:
    line = getattr(node, "lineno", 0)
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in SWAPPED:
        if isinstance(node, ast.BinOp) and any(isinstance(side, ast.JoinedStr) for side in (node.left, node.right)):
            return
        new = SWAPPED[type(node.op)]()
        yield Mutant(path, line, f"{_name(node.op)} becomes {_name(new)} in {_text(node)}", node, "op", new)
    elif isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            new = SWAPPED[type(op)]()
            ops = [new if j == k else o for j, o in enumerate(node.ops)]
            yield Mutant(path, line, f"{_name(op)} becomes {_name(new)} in {_text(node)}", node, "ops", ops)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield Mutant(path, line, f"{node.value} becomes {not node.value}", node, "value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield Mutant(path, line, f"{node.value} becomes {node.value + 1}", node, "value", node.value + 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield Mutant(path, line, f"the sign goes in {_text(node)}", node, "op", ast.UAdd())
    elif isinstance(node, (ast.If, ast.IfExp)):
        for value in (True, False):
            test = ast.copy_location(ast.Constant(value), node.test)
            yield Mutant(path, line, f"if {_text(node.test)} becomes if {value}", node, "test", test)
    elif isinstance(node, ast.Call) and len(node.args) >= 2 and not any(isinstance(a, ast.Starred) for a in node.args):
        swapped = [node.args[1], node.args[0], *node.args[2:]]
        yield Mutant(path, line, f"the first two arguments change places in {_text(node)}", node, "args", swapped)
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        none = ast.copy_location(ast.Constant(None), node.value)
        yield Mutant(path, line, f"{_text(node)} becomes return None", node, "value", none)


def _name(op: object) -> str:
    return type(op).__name__


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:90]


# the tests that meet a line --------------------------------------------------------------------------------------


class Recorder:
    """A plugin of pytest: which lines of the core each test runs, and how long it takes."""

    def __init__(self) -> None:
        self.met: dict[tuple[str, int], set[str]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.items: dict[str, pytest.Item] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.items = {item.nodeid: item for item in items}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        lines: set[tuple[str, int]] = set()
        start = time.process_time()
        with recorded(lines):
            result = yield
        self.seconds[item.nodeid] = time.process_time() - start
        for line in lines:
            self.met[line].add(item.nodeid)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def kept_in(self, path: Path) -> None:
        """Read what was recorded from a file, or write it there."""
        if path.exists():
            met, self.seconds, failed = json.loads(path.read_text(encoding="utf-8"))
            self.failed = set(failed)
            for file, line, names in met:
                self.met[file, line] = set(names) & self.items.keys()
        else:
            lines = [(file, line, sorted(names)) for (file, line), names in self.met.items()]
            path.write_text(json.dumps((lines, self.seconds, sorted(self.failed))), encoding="utf-8")


@contextlib.contextmanager
def recorded(lines: set[tuple[str, int]]) -> Iterator[None]:
    """The lines of the core that run meanwhile."""
    left: dict[types.CodeType, int] = {}
    core = tuple(str(ROOT / "bayes_engine" / name) for name in CORE)

    def local(frame: types.FrameType, event: str, arg: object) -> Any:
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def called(frame: types.FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        if code not in left:
            left[code] = CALLS if code.co_filename.startswith(core) else 0
        if not left[code]:
            return None
        left[code] -= 1
        return local(frame, event, arg)

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(before)


# running ---------------------------------------------------------------------------------------------------------


def functions_by_file() -> dict[str, list[types.FunctionType]]:
    """Every function there is, by the file that it stands in."""
    gc.unfreeze()  # tests/conftest.py freezes what was collected, and hides it from here
    found: dict[str, list[types.FunctionType]] = defaultdict(list)
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType):
            found[thing.__code__.co_filename].append(thing)
    return found


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of everything in a module."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def outcome(
    mutant: Mutant, tree: ast.Module, functions: list[types.FunctionType], tests: list[pytest.Item], seconds: float
) -> str:
    """What becomes of a mutant: "survived", or how it was killed. The functions get the changed code in place: whoever
    imported them has it too."""
    with mutant.applied():
        code = compile(ast.fix_missing_locations(tree), str(mutant.path), "exec")
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.nice(5)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 2, int(seconds) + 4))
        os._exit(_tried(code, functions, tests))
    end = time.monotonic() + 10 * seconds + 60
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if os.WIFSIGNALED(status):
                return "killed by time or memory"
            return "survived" if os.WEXITSTATUS(status) == 0 else "killed"
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "killed by time or memory"


def _tried(code: types.CodeType, functions: list[types.FunctionType], tests: list[pytest.Item]) -> int:
    changed = {(c.co_qualname, c.co_firstlineno): c for c in codes(code)}
    for function in functions:
        new = changed.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if new is not None and new.co_freevars == function.__code__.co_freevars:
            function.__code__ = new
    failed: list[bool] = []

    class Watch:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            failed.append(report.failed)

    session = tests[0].session
    session.config.pluginmanager.register(Watch())
    for k, item in enumerate(tests):
        following = tests[k + 1] if k + 1 < len(tests) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if any(failed):
            return 1
    return 0


class Main:
    """A plugin that runs the tests once with the recorder, then the mutants, while all fixtures can still be had."""

    def __init__(self, recorder: Recorder, asked: argparse.Namespace) -> None:
        self.recorder, self.asked = recorder, asked
        self.trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in core_files(asked.files)}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        known = self.asked.recorded
        if known is None or not known.exists():
            for k, item in enumerate(session.items):
                following = session.items[k + 1] if k + 1 < len(session.items) else None
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        session.config.pluginmanager.unregister(self.recorder)
        if known is not None:
            self.recorder.kept_in(known)
        self._mutate()
        return True

    def _mutate(self) -> None:
        recorder, asked = self.recorder, self.asked
        functions, tally = functions_by_file(), defaultdict[str, int](int)
        every = {p: list({(m.line, str(m)): m for m in mutants(p, t)}.values()) for p, t in self.trees.items()}
        met = {p: [m for m in own if (str(p), m.line) in recorder.met] for p, own in every.items()}
        chosen = drawn(met, asked.sample, random.Random(asked.seed))
        n, covered = (sum(map(len, of.values())) for of in (every, met))
        told(f"{n} mutants, {covered} on lines that a test meets, {len(chosen)} drawn")
        told(f"{len(recorder.seconds)} tests, {len(recorder.failed)} of them failed without a mutant and are left out")
        for k, mutant in enumerate(chosen, start=1):
            names = sorted(recorder.met[str(mutant.path), mutant.line] - recorder.failed, key=recorder.seconds.get)
            spent = [sum(recorder.seconds[name] for name in names[: i + 1]) for i in range(len(names))]
            tests = [recorder.items[name] for i, name in enumerate(names) if i == 0 or spent[i] <= asked.budget]
            seconds = 5 * spent[max(len(tests) - 1, 0)] + 5 if tests else 0.0
            tree, own = self.trees[mutant.path], functions[str(mutant.path)]
            end = outcome(mutant, tree, own, tests, seconds) if tests else "survived"
            tally[end] += 1
            if end == "survived":
                told(f"survived {len(tests)} of {len(names)} tests: {mutant}")
            if k % 20 == 0:
                told(f"{k}: {dict(tally)}")
        killed = len(chosen) - tally["survived"]
        told(f"killed {killed} of {len(chosen)}: {killed / max(len(chosen), 1):.1%}")


def drawn(met: dict[Path, list[Mutant]], sample: int, rng: random.Random) -> list[Mutant]:
    """So many mutants, of each file in proportion to how many it has, in an order of their own."""
    total = max(sum(map(len, met.values())), 1)
    found: list[Mutant] = []
    for own in met.values():
        share = sample * len(own) / total
        found += rng.sample(own, min(int(share) + (rng.random() < share % 1), len(own)))
    rng.shuffle(found)
    return found


def told(line: str) -> None:
    """A line for whoever watches; what the tests print is kept back."""
    print(line, file=sys.__stdout__, flush=True)


def core_files(part: str = "") -> list[Path]:
    """The files that are mutated."""
    paths = [ROOT / "bayes_engine" / name for name in CORE]
    files = sorted(f for p in paths for f in (p.glob("*.py") if p.is_dir() else [p]))
    return [f for f in files if part in str(f.relative_to(ROOT))]


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutation testing of the library's core.")
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--files", default="")
    parser.add_argument("--budget", type=float, default=20.0)
    parser.add_argument("--recorded", type=Path, default=None)
    parser.add_argument("tests", nargs="*", default=[*TESTS, *(f"bayes_engine/{name}" for name in CORE)])
    asked = parser.parse_args()
    os.environ["CI"] = "1"  # the same examples every time
    recorder = Recorder()
    with contextlib.redirect_stdout(io.StringIO()):
        code = pytest.main(
            ["-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly", *asked.tests],
            plugins=[recorder, Main(recorder, asked)],
        )
    return 0 if code in (0, 1) else int(code)


if __name__ == "__main__":
    sys.exit(main())
