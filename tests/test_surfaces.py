"""What users' data may not do on screen, read from the source: no text of theirs reaches a call that interprets it.

`tests/surfaces.py` follows what stands on every Markdown surface, and in every text of a figure, back to words, numbers
and the escapes of `pages/runtime/escape.py`. What it cannot prove stands below with the reason, no longer than that.
"""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.catalogue import sources
from tests.surfaces import DRAWN, FIGURES, FORBIDDEN, PLAIN_OPTIONS, ROOT, Place, Project, figure_texts

BROWSER = sorted(p for kind in ("*.js", "*.css") for p in (ROOT / "pages").rglob(kind))

OURS = "a class of the laboratory: A, B or C"
WORDS = "a dict of the app's own words"
PLACE = "the place of a family, NB … network: a key of the app's own"
SHEET = "a style sheet of the app's own"
INDEXED = "through md; what is then set as a formula are letters and their indices"
LIKELIHOOD = "numbers, and names that stand in the module of a likelihood"
HTML = "words and options go through html.escape, the rest are numbers"
REVIEWED = {  # (file, function, how the expression begins): why it is safe
    ("pages/views/model/compare/curves.py", "curves", "sentence"): "the five drawings give words and md",
    ("pages/views/dependence/spanning_tree.py", "_roots_differ", "sentence.format("): "alpha is formatted as a number",
    ("pages/views/dependence/families.py", "_controls", "name_of"): PLACE,
    ("pages/views/dependence/families.py", "_words", "_verdicts("): PLACE,
    ("pages/views/dependence/families.py", "compare_families", 'f"{name_of(place)}'): PLACE,
    ("pages/views/hidden/mixture.py", "_how_many", "':material/info: K = '"): "a number; the note goes through md",
    ("pages/views/laboratory/sandbox.py", "_cells", "f'{label} · {names[cell]}'"): OURS,
    ("pages/views/laboratory/sandbox.py", "_pen", "lambda k: setup.classes[k]"): OURS,
    ("pages/views/laboratory/setup.py", "_choose_losses", "_('truth is"): OURS,
    ("pages/views/laboratory/setup.py", "_choose_losses", "action"): OURS,
    ("pages/views/laboratory/setup.py", "_choose_losses", "f'λ · {action}"): OURS,
    ("pages/components/blanks.py", "colour_marks", "private.style("): "keys and colours of the app's own",
    ("pages/views/case/derivation.py", "style", "_SHEET"): SHEET,
    ("pages/views/case/ask.py", "interview", "_STYLE"): SHEET,
    ("pages/shell/frame.py", "heading", "_STYLE"): SHEET,
    ("pages/shell/lesson_bar.py", "lesson_bar", "_STYLE"): SHEET,
    ("pages/shell/presenter.py", "bar", "_style("): "keys of the app's own",
    ("pages/shell/presenter.py", "_own_smoothing", "own.label"): WORDS,
    ("pages/shell/presenter.py", "_own_smoothing", "f\"**{_('Smoothing')}**"): "the app's own words, and a number",
    ("pages/chapter.py", "", "CALLED"): WORDS,
    ("pages/shell/printed.py", "sheet", "_STYLE"): SHEET,
    ("pages/shell/printed.py", "sheet", "f'<div"): "a QR code in base64, and words of the app's own",
    ("pages/views/chapter/lessons.py", "section", "_STYLE"): SHEET,
    ("pages/views/chapter/own.py", "_open", "private.style("): SHEET,
    ("pages/components/derivations.py", "_line", "_rows("): "numbers, and labels that went through tex",
    ("pages/components/derivations.py", "_shown", "f'**{TITLES"): "a number of the book that stands in the code",
    ("pages/components/derivations.py", "_elsewhere", "words"): "a place's own words, a column's name through md",
    ("pages/components/derivations.py", "derivations", "_STYLE"): SHEET,
    ("pages/views/chapter/exercises.py", "section", "_STYLE"): SHEET,
    ("pages/views/network/hidden_node.py", "_matches", "lines"): "counts, a number, and levels through md",
    ("pages/shell/class_question.py", "of_teacher", "_STYLE"): SHEET,
    ("pages/shell/class_question.py", "line", "_STYLE"): SHEET,
    ("pages/shell/class_question.py", "draw", "self.text()"): HTML,
    ("pages/shell/lesson_question.py", "question", "_STYLE"): SHEET,
    ("pages/components/lesson_words.py", "formula", "lesson.formula"): "its reader lets it hold no sign that ends it",
    ("pages/shell/lesson_bar.py", "_read_and_try", "f\"**{_('Try')}**"): INDEXED,
    ("pages/shell/lesson_bar.py", "_read_and_try", "lesson_markdown("): INDEXED,
    ("pages/views/chapter/lessons.py", "_card", 'f"**{_('): INDEXED,
    ("pages/views/chapter/lessons.py", "_card", "lesson_markdown("): INDEXED,
    ("pages/views/chapter/lessons.py", "errata", 'f"**{where}**'): INDEXED,
    ("pages/views/case/factor_table.py", "factor_table", "label"): LIKELIHOOD,
    ("pages/views/case/factor_sources.py", "behind", "formulas"): LIKELIHOOD,
    ("pages/views/model/discriminating_words.py", "word_chart", "note.format("): LIKELIHOOD,
    ("pages/runtime/logs.py", "_warned", 'f"{filename}'): "a line of the log, not of a page",
    ("pages/views/network/beliefs.py", "_about", "':material/info: ' + line"): "words and md, line by line",
    ("pages/views/network/beliefs.py", "_about", "info.text('story'"): "an embedded data set's own story",
    ("pages/views/network/learn_film.py", "_score_by_families", "now.families"): "numbers, and names through md",
    ("pages/views/network/learn_hand.py", "_offer", "weighed.families"): "numbers, and names through md",
    ("pages/views/network/tables.py", "_editor", "f'{words.format(node"): "node and parents are made with md",
    (
        "pages/shell/frame.py",
        "title",
        "question or place_of(",
    ): "a page's question has gone through md, as a table's has",
    ("pages/shell/frame.py", "menu", "group"): WORDS,
    ("pages/shell/frame.py", "menu", "place.icon"): WORDS,
    ("pages/shell/frame.py", "menu", "place.title"): WORDS,
    ("pages/views/classify/rows.py", "row_table", "_('Row {n} is now"): "the number of a row",
    ("pages/views/model/parameters.py", "_largest", "words.option('leave_one_out'"): WORDS,
    ("pages/active/shelf.py", "edit_shelf", "' '.join(about)"): "reasons made with md, and the app's own words",
    ("pages/views/model/likelihood_choice.py", "_why", "name + "): "the word goes through md, the rest are numbers",
    ("pages/views/case/factor_sources.py", "behind", "_origin("): "names go through md, the rest are numbers",
}
REVIEWED_IN_FIGURES = {
    ("pages/views/dependence/families.py", "_trust", "[(readings.name_of(p)"): PLACE,
    ("pages/views/dependence/families.py", "_figure", "[readings.name_of(p)"): PLACE,
    ("bayes_engine/workbench/figures/conditionals.py", "prior_bars", "[f'{fraction(s)}"): LIKELIHOOD,
    ("bayes_engine/workbench/figures/conditionals.py", "rate_bars", "f'{rates.mark}"): LIKELIHOOD,
    ("bayes_engine/workbench/figures/conditionals.py", "level_bars", "written[k]"): LIKELIHOOD,
    ("bayes_engine/workbench/figures/conditionals.py", "level_bars", "[_bar_hover("): LIKELIHOOD,
    ("pages/views/model/discriminating_words.py", "word_chart", "hover"): LIKELIHOOD,
    (
        "bayes_engine/workbench/figures/contributions.py",
        "waterfall",
        "towards",
    ): "the labels of both sides, made by the page",
    (
        "bayes_engine/workbench/figures/contributions.py",
        "waterfall",
        "why",
    ): "the label of a side, made by the page",
    (
        "bayes_engine/workbench/figures/contributions.py",
        "waterfall",
        "unseen.name",
    ): "the label of a side, made by the page",
    ("bayes_engine/workbench/figures/contributions.py", "waterfall", "{'text': towards"): "the labels of both sides",
    ("bayes_engine/workbench/figures/laboratory.py", "cells", "'%{x}: %{text}"): OURS,
    ("bayes_engine/workbench/figures/laboratory.py", "cells", "'%{x}: %{y:.4f}"): OURS,
    ("bayes_engine/workbench/figures/laboratory.py", "cells", "label + "): OURS,
    ("bayes_engine/workbench/figures/laboratory.py", "cells", "str(label)"): OURS,
    ("bayes_engine/workbench/figures/graph_layout.py", "_depths", "error.args"): "a layout of names, drawn by nobody",
    (
        "bayes_engine/workbench/figures/weights_and_selection.py",
        "weight_bars",
        "[name for name",
    ): "labels made with plotly_text",
    ("pages/views/laboratory/sandbox.py", "_cells", "actions"): OURS,
}
STYLES = {
    (
        "pages/shell/class_question.py",
        "_Answers",
    ): "words and options through html.escape, shares and counts as numbers",
    ("pages/shell/frame.py", "heading"): WORDS,
    ("pages/shell/printed.py", "sheet"): "style sheets, a QR code in base64, and words of the app's own",
    ("pages/components/blanks.py", "colour_marks"): "keys and colours of the app's own",
    ("pages/shell/presenter.py", "bar"): "keys of the app's own",
    ("pages/views/chapter/own.py", "_open"): "a number, and words of the app's own",
}
"""Where `st.html` is given more than a constant."""


@cache
def project(kind: str) -> Project:
    codes = sources()
    written = (
        "bayes_engine/numerals.py",
        "bayes_engine/workbench/derivation/factor_names.py",
        "bayes_engine/workbench/derivation/render.py",
        "bayes_engine/workbench/derivation/latex.py",
    )
    rooms = ("app.py", "pages/", *written)
    if kind == "figures":
        chosen = {path: code for path, code in codes.items() if path.startswith((*rooms, FIGURES))}
        return Project(chosen, codes.values(), guard="plotly_text", shown=figure_texts)
    return Project({path: code for path, code in codes.items() if path.startswith(rooms)}, codes.values())


def is_reviewed(place: Place, entry: tuple[str, str, str]) -> bool:
    """Python 3.12 writes an expression with other quotes than 3.11."""
    expression, begun = (text.replace('"', "'") for text in (place.expression, entry[2]))
    return (place.file, place.function) == entry[:2] and expression.startswith(begun)


@pytest.mark.parametrize(("kind", "reviewed"), [("pages", REVIEWED), ("figures", REVIEWED_IN_FIGURES)])
def test_what_is_interpreted_is_words_numbers_or_escaped(kind: str, reviewed: dict[tuple[str, str, str], str]) -> None:
    found = project(kind).unproven()
    said = [
        f"{place.file}, {place.function}: {place.expression[:200]} ← {why}"
        for place, why in found.items()
        if not any(is_reviewed(place, entry) for entry in reviewed)
    ]
    assert not said, "\n".join(said)
    idle = [entry for entry in reviewed if not any(is_reviewed(place, entry) for place in found)]
    assert not idle, f"no longer needed: {idle}"


HEAD = "import streamlit as st\nfrom bayes_engine.language import _\nfrom pages.runtime.escape import md, clean\n"


def judged(body: str) -> int:
    return len(Project({"pages/x.py": HEAD + body}).unproven())


@pytest.mark.parametrize(
    "body",
    [
        "def show(name):\n    st.markdown(f'**{name}**')\nshow(open('x').read())",
        "def show(table):\n    st.caption(_('Column {c}').format(c=table.name))",
        "def show(table):\n    st.button(clean(table.name))",
        "def show(table):\n    st.slider(_('α'), 0, 1, help=table.name)",
        "def show(table):\n    st.radio(_('Which'), table.names)",
        "def show(table):\n    st.pills(_('Which'), [1], format_func=lambda k: table.names[k])",
        "def show(table):\n    st.tabs([table.a, table.b])",
        "def show(error):\n    st.error(str(error))",
        "def show(error):\n    st.error(error.message.local())",
        "def show(table):\n    for name in table.names:\n        st.write(name)",
        "def show(t):\n    said = [md(n) for n in t.names]\n    said.append(t.name)\n    st.info(' '.join(said))",
        "def named(x):\n    return x\ndef show(table):\n    st.title(named(table.name))",
        "def show(table):\n    st.metric(_('mean'), table.name)",
        "def show(table):\n    st.column_config.TextColumn(_('a'), help=table.name)",
        "def show(table):\n    st.caption(f'P({md(table.name)} | {{c}})'.format(c=1))",
        "def show(table):\n    st.select_slider(_('Which'), table.names)",
    ],
)
def test_an_unescaped_text_is_found(body: str) -> None:
    assert judged(body) == 1


@pytest.mark.parametrize(
    "body",
    [
        "def show(table):\n    st.markdown(_('Column **{c}**').format(c=md(table.name)))",
        "def show(name):\n    st.markdown(f'**{name}**')\nshow(md(open('x').read()))",
        "def show(table, n: int):\n    st.caption(f'{n} · {len(table.names)} · {table.share:.3f}')",
        "def show(table):\n    st.radio(_('Which'), range(3), format_func=lambda k: md(table.names[k]))",
        "def show(table):\n    st.selectbox(_('Which'), table.names)",
        "def show(table):\n    st.dataframe(table.frame)",
        "def show(error):\n    st.error(error.message.local(md))",
        "def show(t):\n    for n, name in enumerate(map(md, t.names)):\n        st.text(t.raw)\n        st.write(name)",
        "def named(x):\n    return f'<{x}>'\ndef show(table):\n    st.title(named(md(table.name)))",
    ],
)
def test_words_numbers_and_escaped_text_pass(body: str) -> None:
    assert judged(body) == 0


def test_a_figure_given_a_bare_name_is_found() -> None:
    figure = (
        "from bayes_engine.workbench.figures.figure import Figure\n"
        "def bars(labels):\n    figure = Figure()\n    figure.add_bar(text=labels)\n    return figure"
    )
    drawn = "class Figure:\n    def add_bar(self, **properties):\n        self.traces = [properties]"
    page = (
        "from bayes_engine.workbench.figures.bars import bars\n"
        "def show(t):\n    return bars([{guard}(n) for n in t.names])"
    )
    for guard, faults in (("plotly_text", 0), ("md", 1), ("clean", 1)):
        files = {FIGURES + "bars.py": figure, DRAWN: drawn, "pages/x.py": page.format(guard=guard)}
        assert len(Project(files, guard="plotly_text", shown=figure_texts).unproven()) == faults


# calls that are not for data at all ---------------------------------------------------------------------------------


def faults(path: str, tree: ast.Module) -> list[str]:
    """What a file does that nothing may do with text from users."""
    found = []
    for part in tree.body:
        where = getattr(part, "name", "")
        for node in ast.walk(part):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name, on_st = node.func.attr, ast.unparse(node.func.value) == "st"
                if on_st and name in FORBIDDEN:
                    found.append(f"st.{name}")
                constant = all(isinstance(a, ast.Name) and a.id.isupper() for a in node.args)
                if on_st and name == "html" and not constant and (path, where) not in STYLES:
                    found.append(f"st.html with more than a constant: {ast.unparse(node)}")
                shown = next((k.value for k in node.keywords if k.arg == "format_func"), None)
                if name in PLAIN_OPTIONS and shown is not None and "md(" in ast.unparse(shown):
                    found.append(f"options of {name} are shown as they are; md would be seen: {ast.unparse(shown)}")
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="unsafe_allow_html" | "unsafe_allow_javascript", value=value):
                found.append(f"unsafe: {ast.unparse(value)}")
            case ast.Name(id="eval" | "exec" | "__import__"):
                found.append(node.id)
            case ast.Attribute(attr="v1", value=ast.Attribute(attr="components")):
                found.append("streamlit.components.v1")
    return found


def test_no_call_that_interprets_html() -> None:
    pages = {path: tree for path, tree in sources().items() if path.startswith("pages/")}
    assert len(pages) > 100
    found = {path: faults(path, tree) for path, tree in pages.items()}
    assert not {path: wrong for path, wrong in found.items() if wrong}


@pytest.mark.parametrize(
    "code",
    [
        "st.table(frame)",
        "def f(name):\n    st.html(f'<p>{name}</p>')",
        "st.markdown(x, unsafe_allow_html=True)",
        "st.selectbox('a', names, format_func=lambda n: md(n))",
        "st.exception(error)",
        "import streamlit.components.v1\nstreamlit.components.v1.html(x)",
    ],
)
def test_what_may_not_be_is_found(code: str) -> None:
    assert faults("pages/x.py", ast.parse(code))


INTERPRETS = re.compile(
    r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\s*\.\s*write|srcdoc|DOMParser|createContextualFragment|setHTML\w*"
    r"|eval\s*\(|Function\s*\(|fetch\s*\(|XMLHttpRequest|sendBeacon|WebSocket|EventSource|importScripts|import\s*\(|Worker\s*\("
    r"|window\s*\.\s*open|location\s*(\.\s*href\s*)?=[^=]|setTimeout\s*\(\s*[\"'`])"
    r"|\.(src|href|action|formAction)\s*=[^=]|setAttribute\(\s*[\"'](on\w+|src|href|style|xlink:href)[\"']"
    r"|@import|url\(|expression\("
)
NAMESPACES = ("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink")


def browser_faults(code: str) -> list[str]:
    """What a script or a style sheet of ours does that would interpret text, or fetch."""
    for known in NAMESPACES:
        code = code.replace(known, "")
    return [found[0] for found in INTERPRETS.finditer(code)] + re.findall(r"(?:https?:)?//[a-z0-9][\w.-]*\.\w+", code)


def test_scripts_write_text_only_and_fetch_nothing() -> None:
    assert len(BROWSER) > 20
    found = {path.relative_to(ROOT).as_posix(): browser_faults(path.read_text(encoding="utf-8")) for path in BROWSER}
    assert not {path: wrong for path, wrong in found.items() if wrong}


@pytest.mark.parametrize(
    "code",
    [
        "box.innerHTML = name", "box.insertAdjacentHTML('beforeend', name)", "document.write(name)", "eval(name)",
        "new Function(name)()", "fetch('/x')", "new XMLHttpRequest()", "img.src = name", "a.href = name",
        "a.setAttribute('onclick', name)", "import('https://cdn.test/x.js')", "@import 'x.css'",
        "background: url(x.png)", "navigator.sendBeacon(name)", "window.open(name)", "location.href = name",
        "const cdn = 'https://cdn.test/x.js'",
    ],
)  # fmt: skip
def test_a_script_that_interprets_is_found(code: str) -> None:
    assert browser_faults(code)
