"""A page of the app as a link opens it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages import active
from pages.active import model_settings
from pages.active.files import TABLE, File, Role, Upload
from pages.components.film import read_play
from pages.components.losses import read_edit, with_edit
from pages.runtime.addresses import note
from pages.runtime.state import START, Spec, State, encode
from pages.runtime.view_keys import KEYS
from tests.conftest import PATIENCE

Losses = tuple[tuple[float, ...], ...]
SESSION = "test session id"
"""What Streamlit's AppTest calls its session."""
APP = str(Path(__file__).parents[2] / "app.py")


def step_to(app: AppTest, token: str) -> None:
    """A person goes Back or Forward to this address; the next run is the one that Streamlit's page asks for."""
    app.query_params["s"] = token
    note(SESSION, {}, {}, f"s={token}")


def opened(page: str, state: State = START) -> AppTest:
    """`pages/<page>.py` in this state, run once, without an exception."""
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    if token := encode(state):
        app.query_params["s"] = token
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def shelf_in(state: State) -> tuple[Spec, ...]:
    """The models on the shelf that a page shows in this state, without opening one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_settings, "current", lambda: state)
        return active.shelf_of(active.in_use(state))


def showing(state: State, **settings: object) -> State:
    """With settings of a page under the names that an address has for them."""
    return replace(state, view=tuple(sorted({**dict(state.view), **settings}.items())))


def seen(state: State, name: str) -> Any:
    """A page's setting, by the name that an address has for it."""
    return state.seen(KEYS[name])


def edited(
    app: AppTest, losses: Losses, prior: tuple[float, ...] = (), by: tuple[tuple[bool, ...], ...] = ()
) -> AppTest:
    """After an edit of the losses came back from the browser, as `pages.components.losses` takes it."""
    state = app.session_state["state"]
    sent = {"table": [list(row) for row in losses], "prior": list(prior) or None, "name": None}
    sent["by"] = [list(row) for row in by] or None
    edit = read_edit(sent, len(losses), len(losses[0]))
    assert edit is not None
    app.session_state["state"] = with_edit(state, active.in_use(state), edit)
    return app.run()


def filmed(app: AppTest, film: str, step: int, *, plays: bool = False) -> AppTest:
    """After a step came back from the bar of a film (`tree`, `learn`), as `pages.components.film` takes it."""
    chosen = read_play({"step": step, "plays": plays}, sent_to(app, "bayes_film")["last"])
    assert chosen is not None
    state = showing(app.session_state["state"], **{f"{film}_step": chosen[0], f"{film}_plays": chosen[1]})
    app.session_state["state"] = state
    return app.run()


def sent_to(app: AppTest, component: str) -> dict[str, Any]:
    """What the page last sent to a component of this name."""
    found = [e.proto for e in app.get("bidi_component") if e.proto.component_name == component]
    return dict(json.loads(found[0].json or found[0].mixed.json))


def listed(app: AppTest, key: str) -> pd.DataFrame:
    """The cells of the table that `pages.components.tables.word_table` drew under this key, with its heads."""
    found = [e.proto for e in app.get("bidi_component") if e.proto.id.endswith(f"-{key}")]
    sent = json.loads(found[0].json or found[0].mixed.json)
    cells = [[cell["text"] if isinstance(cell, dict) else cell for cell in row] for row in sent["rows"]]
    return pd.DataFrame(cells, columns=[head["text"] for head in sent["heads"]])


def behind(app: AppTest) -> pd.DataFrame:
    """The rows behind a number, as `pages.components.tables.rows` drew them, under their numbers."""
    grids = [e.value for e in app.dataframe if e.value.index.name in ("row", "行")]
    if grids:
        return grids[0]
    shown = listed(app, "rows_counted")
    return shown.set_index(shown[shown.columns[0]].astype(int)).iloc[:, 1:]


def written(app: AppTest, head: str) -> pd.DataFrame:
    """The table that `pages.components.tables.markdown_table` drew, whose first head is this one."""
    drawn = next(e.value for e in app.markdown if e.value.startswith(f"| {head} |"))
    read = drawn.replace("\\", "").replace("\u2060", "")  # what `md` puts in
    heads, _rule, *rest = (line.strip("| ").split(" | ") for line in read.split("\n"))
    return pd.DataFrame(rest, columns=heads)


def give(app: AppTest, role: Role[Any], name: str, content: bytes) -> str:
    """Give the session this file; the digest that a state names it by."""
    file = File.of(name, content)
    if "files" not in app.session_state:
        app.session_state["files"] = {}
    app.session_state["files"][role.name] = {file.digest: Upload(role, file, (), role.read(file, ()))}
    return file.digest


def uploaded(content: bytes, *, page: str = "dependence", state: State = START, **view: object) -> AppTest:
    """A page with a file, in this state and view, run once, without an exception."""
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    mark = give(app, TABLE, "t.csv", content)
    app.query_params["s"] = encode(showing(replace(state, table=f"upload:{mark}", language="en"), **view))
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app
