"""The workspace of this session, and a session put into one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, cast

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.table.read import read_table
from pages.shared import data
from pages.shared.state import START, State, change
from pages.shared.workspace.form import ROLES, Given, Workspace, spoken_of


def present(session: Mapping[str, Any] | None = None) -> Workspace:
    """What a session (this one) shows, with the files that it holds; one it does not hold is named, if its name is
    known."""
    session = cast(Mapping[str, Any], st.session_state) if session is None else session
    state: State = session.get("state", START)
    names: dict[str, str] = session.get("files_asked", {})
    files = {}
    for role in ROLES:
        if not (mark := spoken_of(state, role)):
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
            files[role] = Given(names[mark], mark, content)
    return Workspace(session.get("page") or "start", state, files)


def reopen(found: Workspace) -> None:
    """Put the session into a workspace, on its page; for widget callbacks.

    Raises BayesEngineError where one of its files cannot be read; then nothing has changed.
    """
    from pages.shared.network import exchange
    from pages.shared.network import source as networks
    from pages.shared.second import SecondFile

    files, session = found.files, st.session_state
    held = {role: given for role, given in files.items() if given.content is not None}
    table = _upload(held["table"], found) if "table" in held else None
    second = network = None
    if "second" in held:
        second = SecondFile.of(held["second"].name, held["second"].content or b"")
    if "network" in held:
        network = exchange.read(held["network"].name, held["network"].content or b"")
    if table is not None:
        data.keep_upload(table)
    if second is not None:
        session["second"] = (held["second"].digest, second)
    if network is not None:
        given = held["network"]
        networks.keep(given.name, given.digest, network, given.content or b"")
    session["files_asked"] = {given.digest: given.name for given in files.values()}
    session["workspace_page"] = found.page
    session["workspace_program"] = found.program
    change(lambda _state: found.state)


def _upload(given: Given, found: Workspace) -> data.Upload:
    """The table, read as the state wants it; where that does not fit, as it seems to be written."""
    content, wanted = given.content or b"", data.overrides(found.state)
    if wanted:
        try:
            return data.Upload(given.name, content, wanted, read_table(content, name=given.name, **dict(wanted)))
        except BayesEngineError:
            pass
    return data.Upload(given.name, content, (), read_table(content, name=given.name))


def file_name(workspace: Workspace) -> str:
    """What the workspace is called as a file: by its table, in letters that every system takes."""
    given = workspace.files.get("table")
    stem = PurePath(given.name).stem if given else workspace.state.table
    kept = "".join(c if c.isalnum() or c in "-_" else "-" for c in stem)[:60].strip("-")
    return f"{kept or 'workspace'}.workspace.bayes"
