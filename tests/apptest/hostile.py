"""A table whose every name is an attack on what shows it, and the marks by which one knows that it got through."""

from __future__ import annotations

import csv
import io

MARK = "Zq"
"""Stands right after what would be interpreted in each name, and nowhere else."""
IMAGE = "<img src=http://127.0.0.1:9/z onerror=window.__pwned=1>"
COLUMNS = {
    f"{IMAGE}{MARK}": [f"**{MARK}**", f"[{MARK}](http://127.0.0.1:9)", f"![{MARK}](http://127.0.0.1:9/x.png)"],
    f":red[{MARK}] {{name}} %({MARK})s": [f"$\\alpha ${MARK}", f":material/home:{MARK}", f":smile:{MARK}"],
    f"%{{{MARK}}} {{{MARK}}} {{0}}": [f"`{MARK}`", f"~~{MARK}~~", f"- {MARK}"],
    "constructor": [f"<a href='http://127.0.0.1:9'>{MARK}</a>", f"&copy;{MARK}", f"_{MARK}_ -> x"],
    f"# {MARK}": None,
    "__proto__": None,
    f"a\u202e|{MARK}\u200b|\nb": None,
    f"$$\\frac{{1}}{{2}}$${MARK}" + "x" * 300: None,
}
TARGET = f"**{MARK}** `class`"
CLASSES = [f"<b>{MARK}</b> https://x.test", f":streamlit:{MARK} $a$", f"|{MARK}|  [a]({MARK})"]
FILE = f"![{MARK}](http://127.0.0.1:9/f.png) <b>{MARK}.csv"


def table(n: int = 60, *, numbers: bool = True, classes: int = 3) -> bytes:
    """The table as CSV."""
    chosen = {name: levels for name, levels in COLUMNS.items() if levels or numbers}
    out = io.StringIO()
    write = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    write.writerow([*chosen, TARGET])
    for i in range(n):
        k = (i * 7 + i // 9) % classes
        cells = [
            levels[(i * (j + 2) + k * (i % 3 > 0)) % 3] if levels else f"{k + (i * (j + 3) % 17) / 5:.2f}"
            for j, levels in enumerate(chosen.values())
        ]
        write.writerow([*cells, CLASSES[k]])
    return out.getvalue().encode()


BREAKING = [
    f"</script><script>window.__pwned=1</script>{MARK}",
    f"\"'><img src=http://127.0.0.1:9/z onerror=window.__pwned=1>{MARK}",
    f"<!--{MARK}--><script>{MARK}",
    f"a\u2028b\u2029{MARK}",
    f"\u202eabc\u2066{MARK}",
    f"\u05d0\u200f`${{1}}`{MARK}\\",
]
"""What would end a script, a text or a line in a file that a picture is saved as."""


def scripted(n: int = 60) -> bytes:
    """A table whose columns, levels and classes are all such names, as CSV."""
    out = io.StringIO()
    write = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    write.writerow([f"{name}{j}" for j, name in enumerate(BREAKING)] + [f"class {BREAKING[0]}"])
    for i in range(n):
        k = (i * 7 + i // 9) % 3
        write.writerow([BREAKING[(i * (j + 2) + k * (i % 3 > 0)) % (3 + j % 3)] for j in range(6)] + [BREAKING[k]])
    return out.getvalue().encode()
