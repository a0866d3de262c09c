"""The workspace of this session, and a session put into one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath
from typing import Any, TypeVar

import streamlit as st

from bayes_engine.errors import BayesEngineError
from pages.active import files
from pages.active.files import File, Role, Upload
from pages.runtime.state import State, change, current
from pages.shell.workspace.form import ROLES, GivenFile, Workspace

T = TypeVar("T")


def current_workspace() -> Workspace:
    """What this session shows, with the files that it holds; one it does not hold is named, if its name is known."""
    session, state = st.session_state, current()
    names: Mapping[str, str] = session.get("files_asked", {})
    given = {}
    for name, role in ROLES.items():
        digest = role.named(state)
        upload = files.held(role).get(digest)
        if upload is not None:
            given[name] = GivenFile(upload.name, digest, upload.file.content)
        elif digest in names:
            given[name] = GivenFile(names[digest], digest)
    return Workspace(session.get("page") or "start", state, given)


def read_files(workspace: Workspace) -> tuple[Upload[Any], ...]:
    """Those files of a workspace that it has with it, read. Raises BayesEngineError where one cannot be read."""
    return tuple(
        _read(ROLES[role], File(given.name, given.content, given.digest), workspace.state)
        for role, given in workspace.files.items()
        if given.content is not None
    )


def reopen(workspace: Workspace, uploads: tuple[Upload[Any], ...]) -> None:
    """Put the session into a workspace with its files, on its page; for callbacks."""
    session = st.session_state
    for upload in uploads:
        files.keep(replace(upload))  # who opens the same workspace at the same time has an upload of their own
    session["files_asked"] = {given.digest: given.name for given in workspace.files.values()}
    session["page_wanted"] = workspace.page
    session["workspace_program"] = workspace.program
    change(lambda _state: workspace.state)


def _read(role: Role[T], file: File, state: State) -> Upload[T]:
    """The file, read as the state wants it; where that does not fit, as it seems to be written."""
    if wanted := role.wanted(state):
        with suppress(BayesEngineError):
            return Upload(role, file, wanted, role.read(file, wanted))
    return Upload(role, file, (), role.read(file, ()))


def file_name(workspace: Workspace) -> str:
    """What the workspace is called as a file: by its table, in letters that every system takes."""
    given = workspace.files.get("table")
    stem = PurePath(given.name).stem if given else workspace.state.table
    kept = "".join(c if c.isalnum() or c in "-_" else "-" for c in stem)[:60].strip("-")
    return f"{kept or 'workspace'}.workspace.bayes"
