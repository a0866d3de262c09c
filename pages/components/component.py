"""The app's own drawings in the browser: the script and the style sheet of each stand beside its module. Before the
script comes `component.js`, which all of them share, and what else of this folder a drawing names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent


def component(module: str, name: str, html: str = "", *, uses: Sequence[str] = ()) -> Any:
    """The component drawn by `x.js` and `x.css` beside the module `x.py`; without `html` it draws nothing itself. It
    `uses` scripts of this folder, by their names in the order in which they are read, with their style sheets."""
    script = "\n".join(_texts(("component", *uses), module, ".js"))
    style = "\n".join(_texts(uses, module, ".css")) if html else None
    return st.components.v2.component(name, html=html or "<span></span>", css=style, js=script)


def _texts(shared: Sequence[str], module: str, kind: str) -> list[str]:
    files = [_HERE / f"{name}{kind}" for name in shared]
    return [file.read_text(encoding="utf-8") for file in (*files, Path(module).with_suffix(kind)) if file.exists()]


_FOLLOWS = """
export default function (component) {
  const root = component.parentElement, first = !root.latest
  root.latest = component
  root.show ??= () => {
    if (!globalThis.DRAWS) return
    root.drawn ??= globalThis.DRAWS(root.querySelector("[data-testid]"))
    root.drawn.update(root.latest)
  }
  root.show()
  if (first && (EVERY || !root.drawn)) window.addEventListener("TOLD", root.show, { once: !EVERY })
  return () => {
    window.removeEventListener("TOLD", root.show)
    root.drawn?.destroy()
    delete root.drawn
    delete root.latest
  }
}
"""


def follower(module: str, name: str, html: str, *, draws: str, told: str, every: bool = False) -> Any:
    """The light part of a drawing whose heavy part is a `component` of its own, sent once: it is drawn by the function
    `draws` that the heavy part's script brings, as soon as the event `told` says so, or at every such event."""
    script = _FOLLOWS.replace("DRAWS", draws).replace("TOLD", told).replace("EVERY", "true" if every else "false")
    style = Path(module).with_suffix(".css").read_text(encoding="utf-8")
    return st.components.v2.component(name, html=html, css=style, js=script)
