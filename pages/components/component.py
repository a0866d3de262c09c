"""The app's own drawings in the browser: the script and the style sheet of each stand beside its module. Before the
script come `calls.js` and `component.js`, which all of them share, and what else of this folder a drawing names.

What a person does in a drawing comes back under a number, `{…, n}` (stage.js); what is sent to the drawing says which
number was heard last, `seen`, so that no older answer undoes what a person does meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard, TypeVar

import streamlit as st

from bayes_engine.workbench.figures.theme import colour_of
from pages.runtime.private import kept_value
from pages.runtime.state import State, current
from pages.runtime.widgets import widget_message

Known = TypeVar("Known")
_HERE = Path(__file__).parent
COMMENT = re.compile(r"(^|\s)\s*// .*$|^//$")
"""A comment in a script, to the end of its line; in no text of a script is there anything like it."""


class Source(NamedTuple):
    """What a drawing is made of: its element, its style sheet and its script, a module that exports one function."""

    html: str
    style: str
    script: str


class Sent(NamedTuple):
    """What the drawing of a component was sent last."""

    component: str
    data: Any


SOURCES: dict[str, Source] = {}
"""All drawings by the names of their components; a saved file brings those that it shows."""


@dataclass(frozen=True)
class Drawing:
    """A component of ours, called as Streamlit's own; what it is sent is kept for this run."""

    name: str
    call: Any

    def __call__(self, *, key: str, **given: Any) -> Any:
        if (run := kept_value("drawn")) is not None and "data" in given:
            run.sent[key] = Sent(self.name, given["data"])
        return self.call(key=key, **given)


@dataclass
class DrawnRun:
    """What a run of the script on a page has drawn under a state, by the keys of the drawings, and what a saved file
    needs besides; `whole` once the page has ended."""

    page: str
    state: State
    sent: dict[str, Sent] = field(default_factory=dict)
    besides: dict[str, Callable[[], Any]] = field(default_factory=dict)
    whole: bool = False


def begin_drawing(page: str) -> None:
    """A run begins. The last whole one is kept: what stands before the page speaks of it."""
    last = st.session_state.get("drawn")
    if last is not None and last.whole:
        st.session_state["drawn_last"] = last
    st.session_state["drawn"] = DrawnRun(page, current())


def end_drawing() -> None:
    """The page has ended, and all that it draws is drawn."""
    st.session_state["drawn"].whole = True


def needs_besides(key: str, what: Callable[[], Any]) -> None:
    """A file with the drawing of this key needs more than the drawing was sent; asked for only when one is saved."""
    if (run := st.session_state.get("drawn")) is not None:
        run.besides[key] = what


def on_screen() -> DrawnRun | None:
    """What stands on the page: of this run, or before the page has ended of the last one under the same state."""
    now: DrawnRun | None = st.session_state.get("drawn")
    last: DrawnRun | None = st.session_state.get("drawn_last")
    if now is None or now.whole or last is None or (last.page, last.state) != (now.page, now.state):
        return now
    return last


PRINTED = (
    "@media print { button, input[type=range], [role=status], [role=alert] { display: none !important } "
    "*:not(.right), ::before, ::after { box-shadow: none !important; text-shadow: none !important; "
    "filter: none !important } }"
)
"""Of every drawing: on paper nothing can be clicked, and a shadow would be pixels."""


def component(module: str, name: str, html: str = "", *, uses: Sequence[str] = (), draws: str = "") -> Any:
    """The component drawn by `x.js` and `x.css` beside the module `x.py`; without `html` it draws nothing itself. It
    `uses` scripts of this folder, by their names in the order in which they are read, with their style sheets. A script
    that others use as well exports nothing: its function `draws` it."""
    script = "\n".join(bare(text) for text in _texts(("calls", "component", *uses), module, ".js"))
    if draws:
        script += f"\nexport default drawnBy({draws})\n"
    style = "\n".join([*_texts(uses, module, ".css"), PRINTED]) if html else ""
    return _registered(name, Source(html or "<span></span>", style, script))


def _registered(name: str, source: Source) -> Drawing:
    SOURCES[name] = source
    call = st.components.v2.component(name, html=source.html, css=source.style or None, js=source.script)
    return Drawing(name, call)


def bare(script: str) -> str:
    """Without the comments and the indents, which every visit would load.

    >>> bare("// A word.\\n  f()     // and another\\n\\n  g('http://x')")
    "f()\\ng('http://x')"
    """
    lines = (COMMENT.sub("", line).strip() for line in script.splitlines())
    return "\n".join(filter(None, lines))


def _texts(shared: Sequence[str], module: str, kind: str) -> list[str]:
    files = [_HERE / f"{name}{kind}" for name in shared]
    return [file.read_text(encoding="utf-8") for file in (*files, Path(module).with_suffix(kind)) if file.exists()]


_FOLLOWS = """
export default function (component) {
  const root = component.parentElement, show = () => {
    if (!globalThis.DRAWS) return
    root.drawn ??= globalThis.DRAWS(root.querySelector("[data-testid]"))
    root.drawn.update(component)
  }
  const ended = called(root, show, () => {
    window.removeEventListener("TOLD", root.again)
    root.drawn?.destroy()
    delete root.drawn
    delete root.again
  })
  if (!root.again && (EVERY || !root.drawn)) {
    root.again = () => root.calls.at(-1)()
    window.addEventListener("TOLD", root.again, { once: !EVERY })
  }
  return ended
}
"""


def follower(
    module: str, name: str, html: str, *, draws: str, event: str, every: bool = False, uses: Sequence[str] = ()
) -> Any:
    """The light part of a drawing whose heavy part is a `component` of its own, sent once: it is drawn by the function
    `draws` that the heavy part's script brings, as soon as the event `event` says so, or at every such event. Of the
    scripts that the heavy part uses it needs the style sheets."""
    follows = _FOLLOWS.replace("DRAWS", draws).replace("TOLD", event).replace("EVERY", "true" if every else "false")
    script = bare((_HERE / "calls.js").read_text(encoding="utf-8")) + follows
    return _registered(name, Source(html, "\n".join([*_texts(uses, module, ".css"), PRINTED]), script))


def packed(head: Mapping[str, Any], body: bytes, size: int = 4) -> tuple[str, bytes]:
    """The heavy part of a drawing as bytes, and its digest, which stands in the head as `id`: the head's length in
    `size` bytes, little-endian, the head as JSON, padded to a multiple of `size`, then the body."""
    digest = hashlib.blake2b(json.dumps(head).encode() + body, digest_size=8).hexdigest()
    text = json.dumps({**head, "id": digest}, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % size)
    return digest, len(text).to_bytes(size, "little") + text + body


def ink(label: str, k: int) -> dict[str, Any]:
    """What a script draws the class at this place with: its label, its colours on light and on dark ground."""
    return {"label": label, "light": colour_of(k), "dark": colour_of(k, dark=True)}


def read_message(key: str, name: str, read: Callable[[Mapping[str, Any]], Known]) -> Known | None:
    """What came from the drawing of this key under a name, as `read` understands it; for its callback. None for what
    has no number, or what `read` does not know: a browser may send anything."""
    value = widget_message(key, name)
    n = value.get("n") if isinstance(value, Mapping) else None
    if type(n) is not int or not 0 < n < 2**53:
        return None
    st.session_state[f"{key}-seen"] = n
    return read(value)


def last_message(key: str) -> int:
    """The number of what was heard last from the drawing of this key; what is sent to it says so."""
    return int(st.session_state.get(f"{key}-seen", 0))


def read_position(value: object, size: int) -> int | None:
    """The position, of so many, that a browser named; None for anything else.

    >>> [read_position(v, 3) for v in (2, 3, -1, True, "1", 1.0)]
    [2, None, None, None, None, None]
    """
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size else None


def is_number(value: object) -> TypeGuard[float]:
    """Whether a browser sent a finite number.

    >>> [is_number(v) for v in (1, 2.5, True, "1", float("nan"))]
    [True, True, False, False, False]
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
