"""Both languages say everything, and the pages say nothing outside them."""

from __future__ import annotations

import ast
import gettext
import re
from collections.abc import Iterator
from io import BytesIO
from string import Formatter

import pytest
from babel.messages.catalog import Message

from tests.catalogue import MO, PO, UPDATE, as_mo, as_po, calls, extracted, sources, stored

SHOWN = {  # Streamlit's calls whose first argument a person reads
    "title", "header", "subheader", "markdown", "caption", "write", "text", "metric", "info", "warning", "error",
    "success", "toast", "button", "download_button", "link_button", "form_submit_button", "number_input", "slider",
    "select_slider", "selectbox", "multiselect", "radio", "segmented_control", "pills", "toggle", "checkbox",
    "text_input", "text_area", "file_uploader", "date_input", "tabs", "expander", "popover", "dialog", "spinner",
    "status", "progress", "feedback", "Page",
}  # fmt: skip
WORDS = {"label", "help", "placeholder", "caption", "captions", "body", "alt", "text", "title", "name", "title_text"}
"""Keywords that hold words: of Streamlit's widgets on a page, of Plotly's traces and titles in a figure."""


def sentences() -> Iterator[Message]:
    """The sentences of the catalogue, without its header."""
    return (message for message in stored() if message.id)


def both_sides(message: Message) -> tuple[list[str], list[str]]:
    ids = list(message.id) if isinstance(message.id, tuple) else [message.id]
    strings = list(message.string) if isinstance(message.string, tuple) else [message.string]
    return ids, strings


def fields_of(text: str) -> set[str]:
    """The fields of a sentence; one with braces in a formula is not formatted, and has none there."""
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        return {name for _, name, _, _ in Formatter().parse(re.sub(r"\$[^$]*\$", "", text)) if name is not None}


def entries(mo: bytes) -> dict[object, str]:
    """What a compiled catalogue says; its header names the Babel that wrote it, so bytes are not compared."""
    catalogue: dict[object, str] = vars(gettext.GNUTranslations(BytesIO(mo)))["_catalog"]
    return {key: text for key, text in catalogue.items() if key}


def test_the_catalogue_holds_the_sentences_of_the_code() -> None:
    ours = stored()
    code, kept = ({str(m.id) for m in catalogue if m.id} for catalogue in (extracted(), ours))
    assert not code - kept, f"not in the catalogue: {UPDATE}"
    assert not kept - code, f"in the catalogue, no longer in the code: {UPDATE}"
    assert not ours.obsolete, f"obsolete entries: {UPDATE}"


def test_every_sentence_is_translated() -> None:
    empty = [m.id for m in sentences() if m.fuzzy or not all(both_sides(m)[1])]
    assert not empty, f"{len(empty)} without 中文: {UPDATE}"


def test_a_translation_keeps_the_fields_of_its_source() -> None:
    for message in sentences():
        ids, strings = both_sides(message)
        for string in filter(None, strings):
            assert fields_of(string) == fields_of(ids[-1]), message.id


def test_the_po_is_in_its_own_form() -> None:
    assert as_po(stored()) == PO.read_text(encoding="utf-8"), UPDATE


def test_the_mo_is_the_compiled_po() -> None:
    assert entries(MO.read_bytes()) == entries(as_mo(stored())), UPDATE


def test_every_sentence_stands_written_out_at_its_call() -> None:
    """What is put together elsewhere is never extracted, so it would stay English without anyone noticing."""
    assert not [call.place for call in calls() if not call.whole]


VOCABULARY = """
    loss 误判损失 · decide 判为 · truth 真实类别 · conditional risk 条件风险 · overall risk 总体风险 ·
    estimated risk 估计风险 · expected loss 期望损失 · Bayes risk 贝叶斯风险 ·
    Bayes optimal classifier 贝叶斯最优分类器 · decision rule 判定准则 · refus 拒判 · flip margin 翻转界限 ·
    prior of use 使用场合的先验 · class prior 类先验 · evidence 证据因子 · contribution 对数几率贡献 ·
    class-conditional 类条件概率 · attribute conditional independence 属性条件独立性假设 ·
    Laplace correction 拉普拉斯修正 · marginal likelihood 边际似然 · semi-naive 半朴素 ·
    one-dependence estimator 独依赖估计 · super-parent 超父 · conditional mutual information 条件互信息 ·
    maximum spanning tree 最大带权生成树 · Bayesian network 贝叶斯网 · common parent 同父结构 ·
    V-structure V型结构 · chain 顺序结构 · d-separat 有向分离 · stationary distribution 平稳分布 ·
    semi-supervised 半监督 · look-up table 查表 · lazy 懒惰学习 · incremental 增量学习 ·
    generalized Rayleigh quotient 广义瑞利商
"""
"""A term of the field in English and 中文; a stem where its forms differ."""


def test_the_field_s_terms_are_known_in_both_languages() -> None:
    texts = [(" ".join(ids).lower(), " ".join(strings)) for ids, strings in map(both_sides, sentences())]
    for term in VOCABULARY.split("·"):
        english, chinese = term.strip().rsplit(" ", 1)
        assert any(english.lower() in source and chinese in target for source, target in texts), term


def test_one_word_for_the_reader_in_chinese() -> None:
    assert not [strings for _, strings in map(both_sides, sentences()) if "您" in "".join(strings)]


# --- nothing on screen outside the catalogue ------------------------------------------------------------------------


def bare_words(path: str, tree: ast.AST) -> list[str]:
    """Words shown by a page or a figure without `_()`."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if isinstance(of := getattr(node.func, "value", None), ast.Name) and of.id == "_log":
            continue  # of the server, for whoever runs it
        shown = [k.value for k in node.keywords if k.arg in WORDS]
        if path.startswith("pages/"):
            own = name == "text" and len(node.args) > 1  # a data set's words, `info.text("title", language)`
            shown = node.args[:1] + shown if name in SHOWN and not own else []
        found += [
            f"{path}:{node.lineno}: {text!r}" for argument in shown for text in literals(argument) if has_words(text)
        ]
    return found


def literals(node: ast.AST) -> Iterator[str]:
    """The literal text an expression shows, leaving out what goes through a call (`_("…")`, `md(x)`)."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Call(func=ast.Attribute(attr="format" | "join", value=inner)):
            yield from literals(inner)
        case ast.Call():
            return
        case ast.IfExp(body=body, orelse=orelse):
            yield from literals(body)
            yield from literals(orelse)
        case ast.JoinedStr(values=parts):  # one text, its fields left out, so that a formula across them is still one
            yield "".join(part.value if isinstance(part, ast.Constant) else "0" for part in parts)
            for part in parts:
                if isinstance(part, ast.FormattedValue):
                    yield from literals(part.value)
        case ast.BinOp() | ast.List() | ast.Tuple() | ast.BoolOp():
            for part in ast.iter_child_nodes(node):
                yield from literals(part)


def has_words(text: str) -> bool:
    """Two letters in a row, icons, colours, pseudo-HTML, Plotly's %{fields}, LaTeX and addresses aside."""
    plain = re.sub(r":[\w/-]+(:|\[)|<[^>]*>|%\{[^}]*\}|\$\$[^$]*\$\$|\$[^$]*\$|https?://\S+", "", text)
    return bool(re.search(r"[A-Za-z]{2}|[\u4e00-\u9fff]", plain))


def test_no_words_on_screen_outside_the_catalogue() -> None:
    screens = {p: t for p, t in sources().items() if p.startswith(("pages/", "bayes_engine/workbench/figures/"))}
    assert len(screens) > 100
    assert not [words for path, tree in screens.items() for words in bare_words(path, tree)]


@pytest.mark.parametrize(
    ("path", "code", "caught"),
    [
        ("pages/x.py", "st.button('Fit')", True),
        ("pages/x.py", "left.caption(f'{n} rows')", True),
        ("pages/x.py", "st.markdown('**good** ' + md(x))", True),
        ("pages/x.py", "st.markdown('{} rows'.format(n))", True),
        ("pages/x.py", "st.tabs(['Fit', _('Compare')])", True),
        ("pages/x.py", "st.slider(_('α'), help='smoothing')", True),
        ("pages/x.py", "st.button('数据')", True),
        ("pages/x.py", "st.caption(f'n = {n}, Σx = {x}, $\\\\frac{{{a}}}{{{b}}}$')", False),
        ("pages/x.py", "st.caption(f'{n} {x if x else \"none\"}')", True),
        ("pages/x.py", "st.button(_('Fit'), icon=':material/home:', key='fit')", False),
        ("pages/x.py", "st.markdown(f'**{md(x)}** · $\\\\lambda$ :material/home: {n}')", False),
        ("bayes_engine/workbench/figures/x.py", "go.Scatter(x=x, name='posterior', mode='lines')", True),
        ("bayes_engine/workbench/figures/x.py", "fig.update_layout(title=dict(text='Risk'))", True),
        (
            "bayes_engine/workbench/figures/x.py",
            "go.Scatter(x=x, name=_('posterior'), hovertemplate='%{x}<extra></extra>')",
            False,
        ),
    ],
)
def test_the_rule_bites(path: str, code: str, caught: bool) -> None:
    assert bool(bare_words(path, ast.parse(code))) == caught


def test_lambda_stands_for_losses_alone() -> None:
    """A rate is μ, an eigenvalue J, a multiplier ν, pooling ρ."""
    for message in sentences():
        source = both_sides(message)[0][-1]
        assert r"\lambda" not in source or "R(" in source, source
        if "λ" in source:
            assert re.search(r"loss|risk|decid|decision|the file names", source, re.IGNORECASE), source
