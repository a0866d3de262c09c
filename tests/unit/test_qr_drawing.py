"""The QR codes that pages are printed with are those that segno makes, and are read by another library."""

from __future__ import annotations

import random

import numpy as np
import pytest
import segno
import zxingcpp

from bayes_engine.workbench.qr_drawing import modules, qr_drawn
from tests.conftest import slowly

SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/?=&%"


def an_address(n: int) -> str:
    return "h" + "".join(random.Random(n).choices(SIGNS, k=n - 1))


@pytest.mark.parametrize("n", [31, 436, *(slowly(n) for n in (1, 2, 17, 18, *range(40, 2953, 97), 2952, 2953))])
def test_a_code_is_the_one_that_segno_makes(n: int) -> None:
    address = an_address(n)
    code = segno.make(address, micro=False, error="l", mask=3)
    own = modules(address)
    assert own is not None and np.array_equal(own, [list(row) for row in code.matrix])
    assert qr_drawn(address) == code.svg_inline(border=3, omitsize=True)


def test_an_address_that_no_code_holds_has_none() -> None:
    assert modules(an_address(2954)) is None and qr_drawn(an_address(2954)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 700, 2900])
def test_a_code_is_read(n: int) -> None:
    own = modules(an_address(n))
    assert own is not None
    picture = np.kron(np.pad(1 - own, 4, constant_values=1), np.ones((4, 4), np.uint8)) * np.uint8(255)
    (found,) = zxingcpp.read_barcodes(picture)
    assert found.text == an_address(n)
