"""A block of losses from a spreadsheet: with and without labels, in any order, refused by the name of the cell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_engine.errors import LossError
from bayes_engine.workbench.incoming.pasted_losses import read_block

NAMES = ["ill", "well"]
BOTH = ((0.0, 5.0), (1.0, 0.0))


@pytest.mark.parametrize(
    "text",
    [
        "0\t5\n1\t0",
        "0\t5\r\n1\t0\r\n",
        "0,0\t5,0\n1,0\t0,0",
        "0;5\n1;0",
        "0,5\n1,0",
        "\till\twell\nill\t0\t5\nwell\t1\t0",
        "\twell\till\nwell\t0\t1\nill\t5\t0",
        "ill\twell\n0\t5\n1\t0",
        "ill\t0\t5\nwell\t1\t0",
        "λ\ttruth is ill\ttruth is well\ndecide ill\t0\t5\ndecide well\t1\t0",
        "\tILL\tWell\nill\t0\t5\nwell\t1\t0",
    ],
)
def test_the_same_losses_however_they_are_written(text: str) -> None:
    assert read_block(text, NAMES, NAMES).table == BOTH


def test_truth_in_rows_turns_the_block() -> None:
    assert read_block("0\t1\n5\t0", NAMES, NAMES, truth_in_rows=True).table == BOTH
    assert read_block("\twell\till\nwell\t0\t5\nill\t1\t0", NAMES, NAMES, truth_in_rows=True).table == BOTH


def test_a_further_row_comes_along_with_its_name() -> None:
    block = read_block("\till\twell\nask\t2\t2\nwell\t1\t0\nill\t0\t5", NAMES, NAMES)
    assert block.table == (*BOTH, (2.0, 2.0))
    assert block.extra == "ask"
    assert read_block("0\t5\n1\t0\n2\t2", NAMES, NAMES).table == (*BOTH, (2.0, 2.0))
    assert read_block("ask\t2\t2\nwell\t1\t0\nill\t0\t5", [*NAMES, "ask"], NAMES).table == (*BOTH, (2.0, 2.0))


def test_classes_that_are_numbers_are_told_from_losses() -> None:
    assert read_block("\t1\t0\n1\t0\t3\n0\t7\t0", ["0", "1"], ["0", "1"]).table == ((0.0, 7.0), (3.0, 0.0))


@pytest.mark.parametrize("classes", [["0", "1"], ["0.0", "1.0"]])
@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("0,1\n0,5\n1,0", BOTH),
        ("1,0\n5,0\n0,1", BOTH),
        ("0,1\n0,5\n1,0\n2,2", (*BOTH, (2.0, 2.0))),
        ("decision,0,1\n0,0,5\n1,1,0", BOTH),
        ("decision,1,0\nask,2,2\n1,0,1\n0,5,0", (*BOTH, (2.0, 2.0))),
        ("0,0,5\n1,1,0", BOTH),
        ("ask,0,1\n1,1,0\n0,0,5", (*BOTH, (0.0, 1.0))),
        ("0,1\n1,0\n0.3,0.3", ((0.0, 1.0), (1.0, 0.0), (0.3, 0.3))),
        ("0,1\n1,0", ((0.0, 1.0), (1.0, 0.0))),
    ],
)
def test_a_first_line_of_numbers_is_the_classes_or_losses(
    classes: list[str], text: str, table: tuple[tuple[float, ...], ...]
) -> None:
    assert read_block(text, [*classes, "ask"], classes).table == table
    turned = "\n".join(map(",".join, zip(*(line.split(",") for line in text.split("\n")), strict=True)))
    assert read_block(turned, [*classes, "ask"], classes, truth_in_rows=True).table == table


@pytest.mark.parametrize("text", ["0,1\n0.5,0.5\n1,0", "0,1\n0,9\n0,9"])
def test_a_first_line_that_may_be_both_or_neither_is_refused(text: str) -> None:
    with pytest.raises(LossError, match="the first line '0 1' may be the names of the classes or losses"):
        read_block(text, ["0", "1"], ["0", "1"])


def test_blank_lines_are_passed_over() -> None:
    assert read_block("\n,ill,well\n\nill,0,5\n,,\nwell,1,0\n\n", NAMES, NAMES).table == BOTH


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0\t\n1\t0", "the loss of deciding 'ill' when the truth is 'well' is blank"),
        ("0\t5\nNaN\t0", "the loss of deciding 'well' when the truth is 'ill' is 'NaN', not a number"),
        ("0\t5\ninf\t0", "'well' when the truth is 'ill' is 'inf'"),
        ("0\t5e10\n1\t0", "is '5e10', not a number up to 1e9"),
        ("0\t5\t1\n1\t0\t1", "2 rows and 3 columns"),
        ("0\t5", "1 rows and 2 columns"),
        ("\till\tcured\nill\t0\t5\nwell\t1\t0", "the truth 'cured', which is no class here"),
        ("\till\till\nill\t0\t5\nwell\t1\t0", "one column for the truth 'ill'"),
        ("\till\twell\nill\t0\t5\nill\t1\t0", "one row for the decision 'ill'"),
        ("", "no block of losses"),
        ("1" * 200_000, "no block of losses"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(text: str, said: str) -> None:
    with pytest.raises(LossError) as error:
        read_block(text, NAMES, NAMES)
    assert said in str(error.value)


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=3, max_size=3), st.permutations("abc"))
def test_labels_carry_a_block_in_any_order(table: list[list[float]], order: list[str]) -> None:
    names = list("abc")
    head = "\t".join(["", *order])
    lines = ["\t".join([a, *(repr(table[names.index(a)][names.index(c)]) for c in order)]) for a in order]
    assert read_block("\n".join([head, *lines]), names, names).table == tuple(map(tuple, table))
