"""The workspace of this session, and a session put into one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, cast

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.factors.network import Network
from bayes_engine.table.read import Reading
from bayes_engine.workbench.incoming.pieces import Cells
from pages import active
from pages.active import network_file, second_file
from pages.runtime.state import START, State, change
from pages.shell.workspace.form import ROLES, GivenFile, Workspace, file_digest


def current_workspace(session: Mapping[str, Any] | None = None) -> Workspace:
    """What a session (this one) shows, with the files that it holds; one it does not hold is named, if its name is
    known."""
    session = cast(Mapping[str, Any], st.session_state) if session is None else session
    state: State = session.get("state", START)
    names: dict[str, str] = session.get("files_asked", {})
    files = {}
    for role in ROLES:
        if not (mark := file_digest(state, role)):
            continue
        content: bytes | None = None
        if role == "table" and mark in session.get("uploads", {}):
            upload = session["uploads"][mark]
            names, content = {mark: upload.name, **names}, upload.content
        elif role == "second" and session.get("second", ("",))[0] == mark:
            upload = session["second"][1]
            names, content = {**names, mark: upload.name}, upload.content
        elif role == "network" and mark in session.get("networks", {}):
            names = {**names, mark: session["networks"][mark][0]}
            content = session.get("network_files", {}).get(mark)
        if mark in names:
            files[role] = GivenFile(names[mark], mark, content)
    return Workspace(session.get("page") or "start", state, files)


@dataclass(frozen=True)
class OpenedWorkspace:
    """A workspace, and what its files hold, those that it has with it; the table under the overrides `wanted`."""

    workspace: Workspace
    wanted: active.Overrides = ()
    table: Reading | None = None
    second: Cells | None = None
    network: Network | None = None


def open_workspace(found: Workspace) -> OpenedWorkspace:
    """Read the files of a workspace. Raises BayesEngineError where one cannot be read."""
    opened = OpenedWorkspace(found)
    held = {role: (given.name, given.content) for role, given in found.files.items() if given.content is not None}
    if "table" in held:
        wanted, table = _table(*held["table"], active.overrides(found.state))
        opened = replace(opened, wanted=wanted, table=table)
    if "second" in held:
        opened = replace(opened, second=second_file.look(*held["second"]))
    if "network" in held:
        opened = replace(opened, network=network_file.read(*held["network"]))
    return opened


def reopen(opened: OpenedWorkspace) -> None:
    """Put the session into a workspace, on its page; for callbacks."""
    found, session = opened.workspace, st.session_state
    files = found.files
    if opened.table is not None:
        given = files["table"]
        active.keep_upload(active.Upload(given.name, given.content or b"", opened.wanted, opened.table))
    if opened.second is not None:
        given = files["second"]
        session["second"] = (given.digest, second_file.SecondFile(given.name, given.content or b"", (), opened.second))
    if opened.network is not None:
        given = files["network"]
        network_file.keep(given.name, given.digest, opened.network, given.content or b"")
    session["files_asked"] = {given.digest: given.name for given in files.values()}
    session["workspace_page"] = found.page
    session["workspace_program"] = found.program
    change(lambda _state: found.state)


def _table(name: str, content: bytes, wanted: active.Overrides) -> tuple[active.Overrides, Reading]:
    """The table, read as the state wants it; where that does not fit, as it seems to be written."""
    if wanted:
        with suppress(BayesEngineError):
            return wanted, active.look(name, content, wanted)
    return (), active.look(name, content)


def file_name(workspace: Workspace) -> str:
    """What the workspace is called as a file: by its table, in letters that every system takes."""
    given = workspace.files.get("table")
    stem = PurePath(given.name).stem if given else workspace.state.table
    kept = "".join(c if c.isalnum() or c in "-_" else "-" for c in stem)[:60].strip("-")
    return f"{kept or 'workspace'}.workspace.bayes"
