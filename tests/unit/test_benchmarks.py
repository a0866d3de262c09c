"""`python -m tests.bench`: its goals are found, one that fails does not end the rest, and its table takes the place of
the last one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import __main__ as whole
from tests.bench.__main__ import BEGIN, END, FIRST, PAGE, Quiet, Ran, chosen, main, run, section, summary, written
from tests.bench.goals import SHORT, Goal, cpu, goal_in, tell, tried


def test_a_goal_that_is_told_is_found_again(capsys: pytest.CaptureFixture[str]) -> None:
    goals = [Goal("a page ≤ 60 ms CPU: 71 (1.2 × bare)", False), Goal("a fit ≤ 1.1 × scikit-learn's: 0.91", True)]
    assert tell(goals) == 1
    assert [goal_in(line) for line in capsys.readouterr().out.splitlines()] == goals
    assert goal_in("  0.12   0.50                       memory, GaussianNB.fit") == Goal(
        "memory, GaussianNB.fit ≤ 0.50: 0.12", True
    )
    for line in ("MISSED", "start   53    4.9 ×", " ratio  bound   ours/ms", "  -56013.15   -56012.00  alarm"):
        assert goal_in(line) is None


def test_a_part_that_fails_has_missed_its_goal_and_the_next_goes_on() -> None:
    [goal] = tried("visitors", lambda: [Goal(str(1 // 0), True)])
    assert not goal.holds and goal.what.startswith("visitors: failed, ZeroDivisionError")


def test_what_is_short_is_done_once_before_it_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that each finds its memory as it left it; what takes long is not done twice."""
    clock, done = [0.0], list[str]()

    def job(name: str, seconds: float) -> None:
        clock[0] += seconds if done[-1:] == [name] else seconds + 0.1  # the other had the machine meanwhile
        done.append(name)

    monkeypatch.setattr("time.process_time", lambda: clock[0])
    short, long = cpu(lambda: job("short", 0.01), lambda: job("long", 2 * SHORT), repeats=3)
    assert short == pytest.approx(0.01) and long == pytest.approx(2 * SHORT + 0.1)
    assert done == ["short", "long", "short", "short", "long", "short", "short", "long"]


def test_the_table_takes_the_place_of_the_last_one() -> None:
    ran = [Ran("bench_a", [Goal("x | y ≤ 2: 1", True), Goal("z ≤ 1: 2", False)], "", False, 60.0),
           Ran("bench_b", [], "failed: KeyError", True, 1.0, 123.4)]  # fmt: skip
    table = section(ran, "2026-11-27 01:00 UTC", Quiet(0.1, 0.3), Quiet(1.0, 41.5))
    assert table.startswith("2026-11-27 01:00 UTC, on ") and "1 of 2 goals hold" in table
    assert "Load of the machine 0.1 before and 1.0 after; 8 MB left alone for a second took 0.3 and 41.5 ms" in table
    assert "| `bench_a` | x \\| y ≤ 2: 1 | yes |" in table and "| `bench_b` | failed: KeyError | **failed** |" in table
    page = written(f"above\n\n{BEGIN}\nof yesterday\n{END}\n\nbelow\n", table)
    assert written(page, table) == page and "of yesterday" not in page
    assert page.startswith("above\n\n") and page.endswith(f"{END}\n\nbelow\n")
    assert [line.split()[0] for line in summary(ran)] == ["holds", "MISSED", "-", "FAILED"]
    assert "| `bench_b` | memory of its largest process, at most: 123 MB | – |" in table
    now = PAGE.read_text(encoding="utf-8")
    assert now.count(BEGIN) == now.count(END) == 1


def test_what_a_visitor_feels_comes_first() -> None:
    assert [*chosen([])][: len(FIRST)] == [*FIRST] == [*chosen(["first"])]
    assert [*chosen(["rerun", "hostile"])] == ["bench_rerun", "bench_hostile"]


def test_the_table_is_written_whatever_befalls_a_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that cannot be run is named and the others go on; one in which the run is called off leaves what was."""
    page = tmp_path / "page.md"
    page.write_text(f"above\n{BEGIN}\n{END}\n", encoding="utf-8")
    monkeypatch.setattr(whole, "PAGE", page)
    done = Ran("bench_b", [Goal("x ≤ 2: 1", True)], "left out: Weka, WEKA_JAR is not set", False, 1.0)

    def runs(name: str, arguments: object, limit: float) -> Ran:
        if name == "bench_start":
            raise OSError("no process can be begun")
        if name == "bench_load" and called_off:
            raise KeyboardInterrupt
        return done._replace(name=name)

    monkeypatch.setattr(whole, "run", runs)
    monkeypatch.setattr(whole, "IDLE", 0.0)
    for called_off in (False, True):
        if called_off:
            with pytest.raises(KeyboardInterrupt):
                main([])
        else:
            assert main([]) == 1
        table = page.read_text(encoding="utf-8")
        assert "| `bench_start` | failed: OSError no process can be begun | **failed** |" in table
        assert (
            "| `bench_rerun` | x ≤ 2: 1 | yes |\n| `bench_rerun` | left out: Weka, WEKA_JAR is not set | – |" in table
        )
        assert table.count("the run was called off") == (len(chosen([])) - 2 if called_off else 0)


@pytest.mark.slow
def test_one_that_fails_or_hangs_does_not_end_the_rest(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYAGRUM_PYTHON", raising=False)
    alone = run("bench_gibbs", ("10",), 120.0)
    assert (
        not alone.failed
        and 20 < alone.megabytes < 2000
        and alone.why == "left out: pyAgrum, no peer: PYAGRUM_PYTHON is not set"
    )
    missing = run("bench_of_nothing", (), 60.0)
    assert missing.goals == [] and missing.failed and "bench_of_nothing" in missing.why
    late = run("bench_hostile", (), 0.2)
    assert late.failed and late.why.startswith("not done after")
    assert main(["--dry", "--minutes", "0", "hostile"]) == 1
    assert "not begun" in capfd.readouterr().out
