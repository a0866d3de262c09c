"""A whole workspace, saved and reopened: `form` (the file), `session` (from a session and back), `disk` (what is saved
by itself on one's own computer), `widgets`.

A workspace is a recipe: the state, the page, and the files that the state speaks of, as they were uploaded. Models are
not in it. They are fitted again from the same bytes by the same program, which gives them to the last bit; a fitted
model travels by `save_model` (`pages.views.model.saved_model`).
"""

from pages.shell.workspace.widgets import begin, chip, notice, save_button, save_if_changed

__all__ = ["begin", "chip", "notice", "save_button", "save_if_changed"]
