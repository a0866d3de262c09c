"""The words of a lesson as Markdown: what has an index is a formula, all else stands as it is written."""

from __future__ import annotations

import pytest

from pages.components.lesson_words import lesson_markdown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("λ_ij is the loss", "$λ_{ij}$ is the loss"),
        ("P(x_j|c, x_i), then", r"P($x_{j}$\|c, $x_{i}$), then"),
        ("θ_cj^x_j, by θ_cj", "$θ_{cj}^{x_j}$, by $θ_{cj}$"),
        ("类间散度：S_t = S_w + S_b", r"类间散度：$S_{t}$ \= $S_{w}$ \+ $S_{b}$"),
        ("credit_amount, a_b_c, a $ sign", r"credit_amount, a_b_c, a \$ sign"),
    ],
)
def test_an_index_is_set_as_one(text: str, shown: str) -> None:
    assert lesson_markdown(text, 80).strip("\u2060") == shown
