"""What stands on a page before the engine is there, and how the engine is loaded: once, in one thread."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.workbench import loading
from pages.runtime.state import Spec, State, encode
from pages.shell import frame
from tests.conftest import ROOT

MODULE = """
import threading, time
time.sleep(0.1)
threads = [*globals().get("threads", []), threading.current_thread().name]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where modules may be put that are loaded."""
    monkeypatch.syspath_prepend(str(tmp_path))
    turn = sys.getswitchinterval()
    yield tmp_path
    sys.setswitchinterval(turn)
    loading.imported.cache_clear()


def test_whoever_asks_waits_for_the_same_import(folder: Path) -> None:
    (folder / "slow_to_load.py").write_text(MODULE)
    together = threading.Barrier(8)

    def ask(_: int) -> list[str]:
        together.wait()
        found: list[str] = loading.imported("slow_to_load").result().threads
        return found

    with ThreadPoolExecutor(8) as pool:
        seen = [*pool.map(ask, range(8))]
    assert seen == [["import_0"]] * 8


def test_an_import_that_fails_says_so_to_everybody(folder: Path) -> None:
    (folder / "broken_module.py").write_text("raise RuntimeError('a library is missing')")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="a library is missing"):
            loading.imported("broken_module").result()


def test_a_module_that_nothing_was_asked_of_is_not_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = folder / "large_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "part.py").write_text("import time; time.sleep(0.1); size = 3; loaded.append(1)")
    (package / "user.py").write_text("import large_package.part as part\nfrom large_package import part as same")
    monkeypatch.setattr(loading, "UNUSED", ("large_package.part",))
    loaded = list[int]()
    monkeypatch.setattr("builtins.loaded", loaded, raising=False)
    user = loading.imported("large_package.user").result()
    assert user.same is user.part and not hasattr(user.part, "__file__") and not loaded
    with ThreadPoolExecutor(8) as pool:
        sizes = [*pool.map(lambda _: user.part.size, range(8))]
    assert sizes == [3] * 8 and loaded == [1]
    assert sys.modules["large_package.part"] is sys.modules["large_package"].part is not user.part
    with pytest.raises(AttributeError, match="colour"):
        _ = user.part.colour
    assert loading.imported("large_package.part").result().size == 3 and loaded == [1]


@pytest.mark.slow
def test_the_first_page_uses_none_of_what_is_imported_after_it() -> None:
    code = """if True:
        import sys
        from streamlit.testing.v1 import AppTest
        from bayes_engine.workbench import loading
        loading.imported(loading.PAGES).result()
        app = AppTest.from_file("app.py", default_timeout=120).run()
        assert app.title[0].value and not app.exception
        nothing = loading.Unused("")
        late = [n for n in loading.OTHERS if not isinstance(sys.modules.get(n, nothing), loading.Unused)]
        loading.imported(*loading.OTHERS).result()
        print(late, all(hasattr(sys.modules[name], "__file__") for name in loading.OTHERS))
    """
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[0] == "[] True"


def test_the_frame_needs_no_engine() -> None:
    """While one thread loads it no other may import a part of it: each could wait for the other for ever."""
    code = (
        "import sys; from pages.shell import router, frame; from pages.runtime.state import State\n"
        "print(frame.place_of('start').asks(State())); print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert {"numpy", "pandas", "scipy", "sklearn", "pyarrow", "pages.shell.run"}.isdisjoint(loaded)
    ours = {module.split(".")[1] for module in loaded if module.startswith("bayes_engine.")}
    assert {"factors", "models", "exchange", "stats", "decision"}.isdisjoint(ours)
    assert "Is this melon good?" in ran.stdout


class Coming(Future[object]):
    """An engine that is there as soon as somebody waits for it."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error, self.asked = error, list[tuple[str, ...]]()

    def result(self, timeout: float | None = None) -> object:
        if self.error is not None:
            raise self.error
        if not self.done():
            self.set_result(None)
        return None


def opened(state: State, coming: Coming, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app as a server runs it whose engine is coming."""
    monkeypatch.setattr("pages.shell.router.private", SimpleNamespace(running=object))
    monkeypatch.setattr(loading, "imported", lambda *names: (coming.asked.append(names), coming)[1])
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    if token := encode(state):
        app.query_params["s"] = token
    return app.run()


@pytest.mark.parametrize(
    ("state", "asks", "sentence", "menu"),
    [
        (State(language="en"), "Is this melon good?", "Opening the page …", "Start"),
        (State(language="zh", table="loan"), "这位申请人会不会违约？", "正在打开页面……", "开始"),
        (State(language="en", table="upload:1234"), "What should be decided here?", "Opening the page …", "Start"),
        (State(language="en", table="../datasets/iris"), "What should be decided here?", "Opening the page …", "Start"),
        (State(language="en", columns=((0, "target", "", ()),)), "What should be decided here?", "Opening", "Start"),
    ],
)
def test_the_frame_stands_before_the_engine_does(
    state: State, asks: str, sentence: str, menu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(state, Coming(ImportError("stopped here")), monkeypatch)
    assert app.title[0].value.strip("\u2060") == asks and app.main.caption[0].value.startswith(sentence)
    assert app.get("page_link")[0].proto.label == menu and len(app.get("page_link")) == len(frame.places())
    assert len(app.exception) == 1


def test_the_page_follows_in_the_same_places(monkeypatch: pytest.MonkeyPatch) -> None:
    coming, drawn = Coming(), []
    draw = frame.draw
    monkeypatch.setattr(frame, "draw", lambda run: (drawn.append(run.here), draw(run)))
    app = opened(State(language="en", shelf=(Spec("laplace"),)), coming, monkeypatch)
    assert drawn == ["start"] and coming.asked.count(loading.OTHERS) == 3 and not app.exception
    assert app.title[0].value.strip("\u2060") == "Is this melon good?" and len(app.get("page_link")) > len(
        frame.places()
    )
    assert "Opening the page …" not in [caption.value for caption in app.caption]
    app.run()
    assert drawn == ["start"]


def test_the_first_page_waits_for_no_more_than_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    coming = Coming()
    app = opened(State(language="zh"), coming, monkeypatch)
    assert not app.exception and coming.asked == [(loading.PAGES,), (loading.PAGES,), loading.OTHERS]


def test_every_page_has_the_title_that_the_frame_has() -> None:
    scripts = [(ROOT / place.file).read_text(encoding="utf-8") for place in frame.places()]
    assert len(scripts) >= 11
    for script in scripts:
        assert script.count("\ntitle(") == 1 and "st.title" not in script
