"""The second file, whose rows are classified: its cells, which are read a block at a time."""

from __future__ import annotations

from bayes_engine.workbench.incoming.file_blocks import CellBlocks, FileForm, open_cells
from pages.active.files import Overrides, Role
from pages.runtime import view_keys as keys
from pages.runtime.state import State


def look(name: str, content: bytes, wanted: Overrides = ()) -> CellBlocks:
    """The cells of a file, read under these overrides. Raises ReadError where it is no table."""
    return open_cells(content, _form(wanted), name=name)


def named(state: State) -> str:
    """The digest of the second file that the state names; "" where it names none."""
    return state.seen(keys.SECOND)


def _form(wanted: Overrides) -> FileForm:
    """Those overrides that say how a file is taken apart: all but the decimal mark, and its types are the model's."""
    return FileForm(**{name: value for name, value in wanted if name in FileForm.__dataclass_fields__})


SECOND_FILE = Role("second", 1, named, look, overrides=keys.READ_SECOND, form=_form, apart=True)
