"""BIF, XMLBIF and frames: there and back, what others write, and every fault with its line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_engine.errors import ParameterError, ReadError
from bayes_engine.exchange import (
    from_frames,
    network_frames,
    read_bif,
    read_xmlbif,
    write_bif,
    write_xmlbif,
)
from bayes_engine.exchange.csv_tables import write_csv
from bayes_engine.exchange.tables import MOST_TABLE
from bayes_engine.factors.network import CPT, Network
from bayes_engine.table.schema import Variable
from tests.conftest import examples

TWO = """variable rain { type discrete [ 2 ] { no, yes }; }
variable wet { type discrete [ 3 ] { dry, damp, wet }; }
"""
RAIN = "probability ( rain ) { table 0.75, 0.25; }\n"


def networks(names: st.SearchStrategy[str]) -> st.SearchStrategy[Network]:
    """Three nodes in a collider, with names and levels from anywhere, probabilities k/64: their sums are exactly 1."""

    def build(words: list[str], seed: int) -> Network:
        rng = np.random.default_rng(seed)
        a, b, c = (Variable(words[i], "categorical", tuple(words[3 + i : 5 + i + i]), declared=True) for i in range(3))

        def rows(*shape: int) -> np.ndarray:
            return rng.multinomial(64, np.ones(shape[-1]) / shape[-1], size=shape[:-1]) / 64

        sizes = [len(v.levels) for v in (a, b, c)]
        return Network(
            [CPT(c, (b, a), rows(sizes[1], sizes[0], sizes[2])), CPT(a, (), rows(sizes[0])), CPT(b, (), rows(sizes[1]))]
        )

    words = st.lists(names, min_size=9, max_size=9, unique=True)
    return st.builds(build, words, st.integers(0, 2**32 - 1))


def same(a: Network, b: Network) -> bool:
    return a.graph == b.graph and all(
        x.variable == y.variable and x.parents == y.parents and x.p.tobytes() == y.p.tobytes()
        for x, y in zip(a.cpts, b.cpts, strict=True)
    )


anything = st.text(min_size=0, max_size=8).filter(lambda s: not any("\ud800" <= c <= "\udfff" for c in s))
awkward = st.sampled_from(
    ['"', "\\", '\\"', "//", "/*", "*/", "a b", "a,b", "{", "};", "|", "property", "table", "default", "(", "<5",
     ">=7.5", "5-12", "12+", "Asy/Patch", "0", "1e-3", "é", "湿", "\n", "\t ", "a\rb", "&amp;", "<a>", "]]>", ""]
)  # fmt: skip


@examples(100)
@given(networks(anything | awkward))
def test_bif_comes_back_bit_for_bit_whatever_the_names(network: Network) -> None:
    text = write_bif(network, 'a "name"; {')
    assert same(network, read_bif(text))
    assert same(network, read_bif(text.encode()))
    assert write_bif(read_bif(text), 'a "name"; {') == text


@examples(100)
@given(networks(anything | awkward))
def test_xmlbif_comes_back_bit_for_bit_or_names_what_it_cannot_hold(network: Network) -> None:
    words = [*network.names, *(str(level) for cpt in network.cpts for level in cpt.variable.levels)]
    control = any((ord(c) < 32 and c not in "\t\n") or c in "\ufffe\uffff" for word in words for c in word)
    if control or any(word != word.strip() or not word for word in words):
        with pytest.raises(ParameterError, match="XMLBIF cannot hold the name"):
            write_xmlbif(network)
    else:
        assert same(network, read_xmlbif(write_xmlbif(network)))


@examples(50)
@given(networks(anything | awkward))
def test_frames_come_back_bit_for_bit(network: Network) -> None:
    assert same(network, from_frames(network_frames(network)))


# ---------------------------------------------------------------------- BIF


def test_what_others_write() -> None:
    network = read_bif(
        """// published 1998
        network "Dog Problem" { property credal-set constant-density-bounded 1.1; /* 5 nodes
        here; "unclosed */ }
        variable  "light-on" { //2 values
            type discrete[2] {  "true"  "false" };
            property position = (218, 195) ; property it's "a; b" free text;
        }
        variable out { type discrete[2]{true,false}; }
        variable bowel { type discrete[3] { a b c }; }
        property author someone;
        probability (  "light-on"  "out" bowel ) { //3 variables
            property p = 1;
            table 0.5 0.25 1.0 0 0.125 0.5   .5 .75 0e0 1. 0.875 5e-1;
        }
        probability(out){ table 1 0; }
        probability(bowel){ default 0.5, 0.25, 0.25; }
        """
    )
    assert [v.name for v in network["light-on"].parents] == ["out", "bowel"]
    # the node's own axis is the slowest in a table
    assert network["light-on"].p[..., 0].tolist() == [[0.5, 0.25, 1.0], [0.0, 0.125, 0.5]]
    assert network["bowel"].p.tolist() == [0.5, 0.25, 0.25]


def test_the_words_of_the_format_are_quoted_where_they_are_names() -> None:
    """pyAgrum and others refuse `network network {`; as a quoted name it is none of the format's words."""
    kind = Variable("table", "categorical", ("default", "type"), declared=True)
    network = Network([CPT(kind, (), [0.25, 0.75])])
    text = write_bif(network, "network")
    assert 'network "network" {' in text and 'variable "table" {' in text and '{ "default", "type" }' in text
    assert same(read_bif(text), network)
    assert write_bif(network).startswith("network unknown {")


@pytest.mark.parametrize("write", [write_bif, write_xmlbif, write_csv])
def test_levels_that_are_one_word_in_a_file_are_refused(write: Callable[[Network], str]) -> None:
    either = Variable("rain", "categorical", (1, "1"), declared=True)
    with pytest.raises(ParameterError, match=r"two levels of 'rain' are the same word in a file \(1, 1\)"):
        write(Network([CPT(either, (), [0.25, 0.75])]))


def test_default_fills_what_no_row_gives_wherever_it_stands() -> None:
    network = read_bif(TWO + RAIN + "probability (wet|rain) { default 1, 0, 0; (yes) 0.25, 0.25, 0.5; }")
    assert network["wet"].p.tolist() == [[1, 0, 0], [0.25, 0.25, 0.5]]


def test_rounded_rows_are_divided_by_their_sum() -> None:
    network = read_bif(TWO + "probability (rain) {table 0.333, 0.666;} probability (wet) {table 0.333 0.333 0.333;}")
    assert network["rain"].p.tolist() == pytest.approx([1 / 3, 2 / 3])
    assert network["wet"].p.tolist() == pytest.approx([1 / 3] * 3)


def test_files_gzipped_or_with_a_mark_in_front(tmp_path: Path) -> None:
    text = TWO + RAIN + "probability (wet) { table 0.5, 0.25, 0.25; }"
    want = read_bif(text)
    path = tmp_path / "rain.bif"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert same(read_bif(path), want)
    assert same(read_bif(str(path)), want)
    assert same(read_bif(gzip.compress(text.encode())), want)


WET = TWO + RAIN + "probability ( wet | rain ) {\n"
FAULTS = {
    "": "declares no variable",
    "size;city\n1;2\n": "line 1: 'size' stands where one of these words is due: network, variable, probability",
    TWO + RAIN: "the variable 'wet' has no table",
    TWO + RAIN + RAIN: "line 4: 'rain' has two tables",
    TWO + "variable wet { type discrete [ 2 ] { a, b }; }": "line 3: the variable 'wet' is declared twice",
    "variable a {\n type discrete [ 3 ] { x, y }; }": r"line 2: the variable 'a' declares \[3\] levels and lists 2",
    "variable a {\n type discrete [ 2 ] { x, x }; }": r"line 2: the variable 'a' declares \[2\] levels and lists 1",
    "variable a { }": "line 1: 'a' has no levels",
    "variable a { type continuous; }": "line 1: 'continuous' stands where one of these words is due: discrete",
    WET + "(no) 0.5, 0.25, 0.25; }": "line 4: the table of 'wet' lacks 1 row, the first P.wet . rain = yes.",
    WET + "(no) 0.5, 0.25, 0.25;\n(no) 0.5, 0.25, 0.25; }": "line 6: numbers of 'wet' that were given before",
    WET + "(maybe) 0.5, 0.25, 0.25; }": "line 5: 'maybe' is no level of 'rain'; its levels are 'no', 'yes'",
    WET + "(no, yes) 0.5, 0.25, 0.25; }": "line 5: the row of 'wet' gives 2 levels for 1 parents",
    WET + "(no) 0.5, 0.5; }": "line 5: the table of 'wet' needs 3 numbers here and has 2",
    WET + "(no) 0.5, 0.5, x; }": "line 5: 'x' is no probability",
    WET + "(no) 0.5, 0.5, nan; }": "line 5: 'nan' is no probability",
    WET + "(no) 1.5, -0.5, 0; }": "line 5: '-0.5' is no probability",
    WET + "(no) 1, 0, 0;\n(yes) 0.5, 0.2, 0.2; }": r"line 6: P\(wet \| rain = yes\) sums to 0.9, not 1",
    WET + "table 1 0 0; }": "line 5: the table of 'wet' needs 6 numbers here and has 3",
    WET + "default 1 0 0; default 1 0 0; }": "line 5: numbers of 'wet' that were given before",
    WET + "(no) 0.5, 0.25, 0.25;": "line 5: the file ends in the middle of a statement",
    WET + "(no) 0.5, {": "line 5: '{' stands where a name or a number is due",
    WET + "row 0.5; }": "line 5: 'row' stands where one of these words is due: table, default, property",
    WET + '"table" 0.5; }': "line 5: 'table' stands where one of these words is due: table",
    TWO + "probability ( fog ) { }": "line 3: the variable 'fog' is not declared",
    TWO + "probability ( wet | wet ) { }": "line 3: a name stands twice over the table of 'wet'",
    TWO + "probability ( ) { }": "line 3: 'probability . .' names no variable",
    TWO + 'network "never closed {': "line 3: a quotation mark or a comment is opened here and never closed",
    TWO + "/* never closed {": "line 3: a quotation mark or a comment is opened here and never closed",
    TWO + "property nothing {": "line 3: a property has no ';'",
    TWO + "probability (rain|wet) {default 1 0;} probability (wet|rain) {default 1 0 0;}": "the arcs close a cycle",
}


@pytest.mark.parametrize("text", FAULTS)
def test_faults_of_bif_are_named(text: str) -> None:
    with pytest.raises(ReadError, match=FAULTS[text]):
        read_bif(text.encode())


def test_a_table_that_would_fill_the_memory_is_refused() -> None:
    names = [f"x{i}" for i in range(40)]
    declared = "".join(f"variable {name} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for name in names)
    with pytest.raises(ReadError, match=f"line 41: the table of 'x0' would have {2**40} cells; {MOST_TABLE} are"):
        read_bif(declared + f"probability ( {' '.join(names)} ) {{ default 0.5, 0.5; }}")
    with pytest.raises(ReadError, match="larger than 0 MB"):
        read_bif(b"variable" * 100, max_bytes=500)
    with pytest.raises(ReadError, match="not UTF-8"):
        read_bif(b"network \xff\xfe {")


@examples(200)
@given(st.text(alphabet='variableproty(){}[];,|"\\/* 01.5\n', max_size=60), st.integers(0, 200))
def test_no_text_is_more_than_a_read_error(noise: str, at: int) -> None:
    whole = WET + "(no) 0.5, 0.25, 0.25; (yes) 1, 0, 0; }"
    with suppress(ReadError):
        read_bif((whole[:at] + noise + whole[at:]).encode())


# ---------------------------------------------------------------------- XMLBIF

DTD = """<?xml version="1.0"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
]>
"""
XML = """<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME> a </NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME><PROPERTY>p</PROPERTY></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><OUTCOME>u</OUTCOME><OUTCOME>v</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>
<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN><TABLE>0.75 <!-- a = x --> 0.25
 0 1</TABLE></DEFINITION>
</NETWORK></BIF>"""


@pytest.mark.parametrize("text", [XML, DTD + XML])
def test_xmlbif_runs_over_the_node_fastest(text: str) -> None:
    assert read_xmlbif(text)["b"].p.tolist() == [[0.75, 0.25], [0.0, 1.0]]


BOMB = '<!DOCTYPE b [<!ENTITY a "aaaa">\n<!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB + XML.replace(" a ", "&b;"), "line 1: the file declares an entity"),
        ('<!DOCTYPE b [<!ENTITY a SYSTEM "file:///etc/hostname">]>' + XML, "line 1: the file declares an entity"),
        ('<!DOCTYPE b [\n<!ENTITY % a SYSTEM "http://localhost/x.dtd"> %a;]>' + XML, "line 2: the file declares"),
        (XML.replace("</BIF>", ""), "line 7: this is no XML"),
        (XML.replace("<NAME>b</NAME>", ""), "line 3: one <NAME> is due in this element"),
        (XML.replace("<OUTCOME>v</OUTCOME>", "<OUTCOME>u</OUTCOME>"), "line 3: the variable 'b' needs"),
        (XML.replace("<FOR>b", "<FOR>c"), "line 5: the variable 'c' is not declared"),
        (XML.replace("<FOR>b", "<FOR>a"), "line 5: 'a' has two tables"),
        (XML.replace("0 1", "0 1 1"), "line 6: the table of 'b' needs 4 numbers here and has 5"),
        (XML.replace("0 1", "0 inf"), "line 6: 'inf' is no probability"),
        (XML.replace("0 1", "0.5 1"), r"line 6: P\(b \| a = y\) sums to 1.5"),
        ("<a></a>", "declares no variable"),
    ],
)
def test_faults_of_xmlbif_are_named(text: str, said: str) -> None:
    with pytest.raises(ReadError, match=said):
        read_xmlbif(text)


@pytest.mark.parametrize("encoding", ["UTF-7", "idna", "punycode", "hex", "rot13", "utf-32", "gb18030", "big5",
                                      "undefined", "no-such", "cp037", "x" * 500])  # fmt: skip
def test_a_declared_encoding_that_is_not_read_is_said(encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    with pytest.raises(ReadError, match=rf"declares the encoding '{encoding[:40]}'.*save it as UTF-8|this is no XML"):
        read_xmlbif(head.encode() + XML.encode())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252", "koi8-r"])
def test_a_declared_encoding_is_followed(encoding: str) -> None:
    level = "да" if encoding == "koi8-r" else "é"
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + XML.replace("<OUTCOME>v<", f"<OUTCOME>{level}<")
    assert level in read_xmlbif(text.encode(encoding))["b"].variable.levels


@pytest.mark.parametrize("read", [read_bif, read_xmlbif])
def test_half_a_surrogate_pair_is_no_text(read: Callable[[str], Network]) -> None:
    with pytest.raises(ReadError):
        read("<{\ud800\n")


# ---------------------------------------------------------------------- frames


@pytest.fixture
def rain() -> Network:
    return read_bif(WET + "(no) 0.5, 0.25, 0.25; (yes) 1, 0, 0; }")


def test_frames_are_tidy(rain: Network) -> None:
    frames = network_frames(rain)
    assert frames.edges.to_dict("records") == [{"parent": "rain", "child": "wet"}]
    table = frames.cpts["wet"]
    assert table.columns.tolist() == ["rain", "wet", "p"]
    assert len(table) == 6
    assert table[(table["rain"] == "yes") & (table["wet"] == "dry")]["p"].tolist() == [1.0]
    assert network_frames(Network([rain["rain"]])).edges.columns.tolist() == ["parent", "child"]


def test_frames_of_plain_columns_in_any_order(rain: Network) -> None:
    frames = network_frames(rain)
    shuffled = frames.cpts["wet"].sample(frac=1.0, random_state=0).astype({"rain": str})
    assert same(rain, from_frames(frames._replace(cpts={**frames.cpts, "wet": shuffled})))


def test_faults_of_frames_are_named(rain: Network) -> None:
    edges, cpts = network_frames(rain)

    def again(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Network:
        return from_frames(network_frames(rain)._replace(cpts={**cpts, "wet": change(cpts["wet"])}))

    with pytest.raises(ParameterError, match=r"'wet' has 5 rows and needs 6, .* missing: yes, wet"):
        again(lambda f: f.iloc[:-1])
    with pytest.raises(ParameterError, match="'wet' has 7 rows and needs 6"):
        again(lambda f: pd.concat([f, f.iloc[:1]]))
    with pytest.raises(ParameterError, match=r"needs a column for each parent.*it has fog, wet, p"):
        again(lambda f: f.rename(columns={"rain": "fog"}))
    with pytest.raises(ParameterError, match="sums to"):
        again(lambda f: f.assign(p=0.5))
    with pytest.raises(ParameterError, match="disagree about rain → wet"):
        from_frames(network_frames(rain)._replace(edges=edges.iloc[:0]))
