"""A fitted model of the shelf as a file, and the lines of Python that use it."""

from __future__ import annotations

import re

import streamlit as st

from bayes_engine import save_model
from bayes_engine.language import _
from pages import active
from pages.active import large_files
from pages.runtime import view_keys as keys
from pages.runtime.state import current
from pages.runtime.widgets import bound_to

MIME = "application/octet-stream"


def download_model(table: active.FittableTable, fitted: active.Fitted) -> None:
    """The model as `save_model` writes it, calibrated where the shelf says so."""
    called = re.sub(r"[^\w.-]+", "-", fitted.spec.name).strip("-.")
    name = f"{called or fitted.spec.family}.model.bayes"
    is_open = current().seen(keys.SAVE_OPEN)
    with st.expander(_("Save this model"), icon=":material/download:", **bound_to(keys.SAVE_OPEN)):
        left, right = st.columns([1, 2], gap="medium")
        with left:
            st.download_button(
                _("Download"), lambda: save_model(fitted.judging) or b"", name, MIME, key="model_save",
                icon=":material/download:", on_click="ignore",
            )  # fmt: skip
            st.caption(
                _(
                    "The fitted model with its statistics, without the rows. Loaded, it gives the same posteriors to "
                    "the last bit, and can be updated, merged and smoothed anew."
                )
            )
            if large_files.sample_in_use() is not None:
                st.caption(_("Of the sample alone: the model of *all rows* is saved above."))
        if not is_open:  # what colours the lines is 0.5 MB to load
            return
        with right:
            frame = _("a pandas table with {n} columns by their names").format(n=len(table.features))
            st.code(
                f'from bayes_engine import load_model\n\nmodel = load_model("{name}")\n'
                f"model.predict_proba(frame)  # {frame}",
                language="python",
            )
