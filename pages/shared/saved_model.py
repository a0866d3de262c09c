"""A fitted model of the shelf as a file, and the lines of Python that use it."""

from __future__ import annotations

import streamlit as st

from bayes_engine import save_model
from bayes_engine.language import _
from pages.shared import data

MIME = "application/octet-stream"


def to_keep(table: data.InUse, fitted: data.Fitted) -> None:
    """The model as `save_model` writes it, calibrated where the shelf says so."""
    name = f"{fitted.spec.family}.model.bayes"
    with st.expander(_("Save this model"), icon=":material/download:"):
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
        with right:
            st.code(
                "from bayes_engine import load_model\n\n"
                f'model = load_model("{name}")\n'
                f"model.predict_proba(frame)  # a pandas table with {len(table.features)} columns by their names",
                language="python",
            )
