"""The file of a workspace: a container of `bayes_engine.store` of the kind "workspace".

    content   {"form": 1, "program": "0.1.0", "page": "model", "state": {…}, "files": {role: {"name", "digest"}}}
    blobs     role: the bytes of the file, unless it was left out

`state` holds what differs from the start (`pages.runtime.state.changed_fields`), and is read by the rules for links. A
role is "table" (the table in use), "second" (the file to classify), "network" (a BIF file) or "lesson" (one's own
list); a file is there only where the state speaks of it. `digest` is the beginning of its SHA-256.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

from bayes_engine import __version__
from bayes_engine.errors import StoreError
from bayes_engine.store import MOST_BYTES, pack, unpack
from pages.active.files import LESSONS, NETWORK, SECOND_FILE, TABLE, Role, digest
from pages.runtime.escape import clean
from pages.runtime.state import State, changed_fields, state_from_json

FORM = 1
"""The version of the content."""
ROLES: Mapping[str, Role[Any]] = {role.name: role for role in (TABLE, SECOND_FILE, NETWORK, LESSONS)}
"""What the files in it are given for."""
LONGEST_NAME = 255


class GivenFile(NamedTuple):
    """A file that a person gave: its name, the digest of its content, and the content, None where it is not at hand."""

    name: str
    digest: str
    content: bytes | None = None

    def with_content(self, content: bytes) -> GivenFile:
        """With its content. Raises StoreError where that is not what the digest speaks of."""
        if digest(content) != self.digest:
            raise StoreError("the file '{name}' in the workspace is not the one it was saved with", name=self.name)
        return self._replace(content=content)


class Workspace(NamedTuple):
    """All that a session shows: the page, the state, the files that it speaks of, and the version of the program."""

    page: str
    state: State
    files: Mapping[str, GivenFile]
    program: str = __version__


def data_of(workspace: Workspace) -> dict[str, GivenFile]:
    """The files in it that hold a person's data: a list of lessons is none."""
    return {role: given for role, given in workspace.files.items() if role != LESSONS.name}


def without_data(workspace: Workspace) -> Workspace:
    """The workspace without the files of data, which are named only, and without texts of a case, which may be cells of
    one."""
    state = workspace.state
    if any(isinstance(cell, str) for cell in state.case) and "table" in workspace.files:
        state = replace(state, case=(), row=-1)
    return workspace._replace(state=state, files={**workspace.files, **names_only(data_of(workspace))})


def names_only(files: Mapping[str, GivenFile]) -> dict[str, GivenFile]:
    return {role: given._replace(content=None) for role, given in files.items()}


def size(workspace: Workspace) -> int:
    """The bytes of the files in it: what the workspace takes, but for a few thousand."""
    return sum(len(given.content or b"") for given in workspace.files.values())


def write(workspace: Workspace) -> bytes:
    """The file of a workspace. Raises StoreError where it would have more than `MOST_BYTES`.

    >>> read(write(Workspace("model", State(table="iris"), {})), {"model"}).state.table
    'iris'
    """
    content = {
        "form": FORM,
        "program": workspace.program,
        "page": workspace.page,
        "state": changed_fields(workspace.state),
        "files": {role: {"name": given.name, "digest": given.digest} for role, given in workspace.files.items()},
    }
    blobs = {role: given.content for role, given in workspace.files.items() if given.content is not None}
    return pack("workspace", content, blobs)


def read(data: bytes, pages: Container[str], *, limit: int = MOST_BYTES) -> Workspace:
    """The workspace in a file that `write` made. Raises StoreError, with the reason, on everything else."""
    content, blobs = unpack(data, "workspace", limit=limit)
    if not isinstance(content, dict) or type(content.get("form")) is not int:
        raise _misshapen()
    if content["form"] != FORM:
        raise StoreError(
            "the workspace was saved by another version of the program, in form {form}; this one reads form {known}",
            form=content["form"],
            known=FORM,
        )
    if content.keys() != {"form", "program", "page", "state", "files"}:
        raise _misshapen()
    page, program = content["page"], content["program"]
    if not isinstance(page, str) or page not in pages:
        raise StoreError("the workspace was left on the page {page}, which is not here", page=_short(page))
    if not isinstance(program, str) or not re.fullmatch(r"[0-9A-Za-z.+!_-]{1,40}", program):
        raise StoreError("the workspace does not say which version of the program saved it")
    state = _state(content["state"])
    files = _files(content["files"], blobs)
    for role, given in files.items():
        if given.digest != ROLES[role].named(state):
            raise StoreError("the workspace brings the file '{name}', which its state does not use", name=given.name)
    return Workspace(page, state, files, program)


def _misshapen() -> StoreError:
    return StoreError("the file does not consist of the parts of a workspace: form, program, page, state and files")


def _short(value: Any) -> str:
    return clean(repr(value), 40)


def _state(values: Any) -> State:
    known = {f.name for f in fields(State)}
    if not isinstance(values, dict):
        raise StoreError("the workspace holds no state")
    if unknown := sorted(values.keys() - known):
        raise StoreError(
            "the workspace holds '{name}', which this program does not know; was it saved by a newer one?",
            name=clean(unknown[0], 40),
        )
    state = state_from_json(json.dumps(values))
    if state is None:
        raise StoreError("the workspace holds a state that no page makes; it was changed after it was saved")
    return state


def _files(described: Any, blobs: Mapping[str, Any]) -> dict[str, GivenFile]:
    """What is said of the files, with their content; raises where that is another one than it says."""
    if not isinstance(described, dict) or not described.keys() <= ROLES.keys() or not blobs.keys() <= described.keys():
        raise _misshapen()
    files = {}
    for role, named in described.items():
        if not isinstance(named, dict) or named.keys() != {"name", "digest"}:
            raise _misshapen()
        name, mark, blob = named["name"], named["digest"], blobs.get(role)
        if not isinstance(name, str) or not isinstance(mark, str) or not re.fullmatch(r"[0-9a-f]{16}", mark):
            raise _misshapen()
        if blob is not None and not isinstance(blob, memoryview):
            raise _misshapen()
        given = GivenFile(clean(name, LONGEST_NAME), mark)
        files[role] = given if blob is None else given.with_content(bytes(blob))
    return files
