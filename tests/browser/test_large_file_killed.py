"""A fit to all rows of a large file, the server killed (SIGKILL) in the middle and started again: what was counted is
offered, and goes on to the model of one run, to the last bit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, expect

from bayes_engine import fit_files, load_model
from bayes_engine.errors import StoreError
from bayes_engine.store.statistics import load_partial
from pages.active import large_files
from tests.browser.looking import settled, soon
from tests.browser.test_workspace import Server
from tests.conftest import PATIENCE

ROWS, GROUP = 2_000_000, 100_000
GATE = '''
"""Row groups after the tenth wait for a file; what is counted is kept at once."""
import sys, time
from importlib.machinery import PathFinder
from pathlib import Path

HERE = Path(__file__).parent


class Patched:
    def find_spec(self, name, path=None, target=None):
        if name not in ("bayes_engine.scale.scan", "bayes_engine.scale.kept"):
            return None
        spec = PathFinder.find_spec(name, path)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            if name.endswith("kept"):
                module.SAVED_EACH = module.COST = 0.0
                return
            own = module.counted

            def counted(block, *rest):
                while block.number > 10 and not (HERE / "open").exists():
                    (HERE / "waiting").touch()
                    time.sleep(0.05)
                with (HERE / "counted").open("a") as log:
                    log.write(f"{block.number}\\n")
                return own(block, *rest)

            module.counted = counted

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Patched())
'''


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.kill()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB", viewport={"width": 1440, "height": 900})
    context.set_default_timeout(1000 * PATIENCE)
    yield context.new_page()
    context.close()


def kept_rows(part: Path) -> int:
    """How many rows the file of the count holds."""
    found = [file for file in part.glob("*") if len(file.name) == 64] if part.is_dir() else []
    try:
        return sum(node.rows for file in found for node in load_partial(file).nodes)
    except StoreError:
        return 0


@pytest.mark.slow
def test_a_fit_goes_on_after_the_server_was_killed(server: Server, page: Page, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    good = rng.random(ROWS) < 0.4
    numbers = {f"x{j}": rng.normal(good * (0.2 + j / 5)) for j in range(4)}
    sound = pa.array(np.where(rng.random(ROWS) < 0.3 + 0.4 * good, "dull", "crisp"))
    table = pa.table({**numbers, "sound": sound, "good": pa.array(np.where(good, "yes", "no"))})
    path = tmp_path / "rows" / "melons.parquet"
    path.parent.mkdir()
    pq.write_table(table, path, row_group_size=GROUP)
    gate, cache = tmp_path / "gate", tmp_path / "cache"
    gate.mkdir()
    (gate / "sitecustomize.py").write_text(GATE)
    told = {"PYTHONPATH": os.pathsep.join([str(gate), os.environ.get("PYTHONPATH", "")]), "XDG_CACHE_HOME": str(cache),
            large_files.FOLDERS: str(path.parent)}  # fmt: skip
    server.start(**told)
    page.goto(f"{server.url}/data")
    page.get_by_text("Open a large file").first.click()
    page.get_by_label("Path on this computer").fill("melons.parquet")
    page.get_by_label("Path on this computer").press("Enter")
    settled(page)
    page.locator(".st-key-large_open button").first.click()
    expect(page.get_by_text("20,000 of 2,000,000 rows").first).to_be_visible()
    settled(page)
    page.locator(".st-key-sample_all_rows button").first.click()  # from the first screen to where it is fitted
    page.locator(".st-key-all_rows_fit button").first.click()
    counts = cache / "bayes-workbench" / "counts"
    kept = soon(page, lambda: kept_rows(counts) if (gate / "waiting").exists() else 0, lambda rows: rows >= GROUP)
    server.kill()
    soon(page, lambda: kept_rows(counts), lambda rows: rows >= kept)  # it is whole, whatever was under way
    kept = kept_rows(counts)
    before = (gate / "counted").read_text().split()
    (gate / "open").touch()
    server.start(**told)
    page.goto(server.url)
    notice = page.get_by_text("a model was being fitted to all rows of").first
    expect(notice).to_contain_text(f"{kept:,} of 2,000,000 rows are counted")
    page.get_by_role("button", name="Go on").first.click()
    expect(page.get_by_role("button", name="Download the model of all rows")).to_be_visible()
    expect(page.get_by_text("2,000,000").first).to_be_visible()
    expect(page.get_by_text("a model was being fitted to all rows of")).to_have_count(0)
    again = (gate / "counted").read_text().split()[len(before) :]
    assert len(again) == (ROWS - kept) // GROUP  # what was counted before is not counted again
    [place] = counts.iterdir()
    found = load_model(place)
    own = fit_files(type(found)(**{**found.get_params(deep=False), "schema": None}), path, target="good")
    for name, counted in own.stats_.counts.tables.items():
        np.testing.assert_array_equal(found.stats_.counts.tables[name], counted)
    X = table.slice(0, 5_000).to_pandas().drop(columns="good")
    np.testing.assert_array_equal(found.predict_joint_log_proba(X), own.predict_joint_log_proba(X))
