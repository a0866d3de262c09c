"""Derivations about the scatter of classes: S_t = S_w + S_b; ratio-trace by diagonalizing two matrices at once;
trace-ratio by its iteration.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayes_engine.errors import TableError
from bayes_engine.language import Listing, Message
from bayes_engine.logspace import Array
from bayes_engine.models.discriminant_directions import signed, trace_ratio
from bayes_engine.models.projection import NumericRows
from bayes_engine.workbench.derivation.chains.chain import (
    ROUNDING,
    Chain,
    Line,
    checked,
    counted,
    fraction,
    label,
    listed,
    matrix,
    plus,
    value,
    vector,
)
from bayes_engine.workbench.derivation.chains.estimates import WithinClasses

MOST_COLUMNS = 4
"""Matrices of more columns are not written out."""
MOST_STEPS = 4
"""Of the trace-ratio iteration so many steps are lines of their own."""


class Scattered(WithinClasses):
    """With the scatter between the classes: `mean` (d,), `between` S_b and `total` S_t (d, d)."""

    def __init__(self, data: NumericRows) -> None:
        super().__init__(data)
        self.mean = self.n_c @ self.means / self.n
        away = self.means - self.mean
        self.away = away
        self.between = (away.T * self.n_c) @ away
        centred = data.X - self.mean
        self.total = (centred.T * data.weight) @ centred


def _rows(data: NumericRows, columns: Sequence[str], labels: Sequence[str]) -> Message:
    return Message(
        "{n} rows with all cells of {columns}; classes: {classes}.",
        {"n": counted(data.weight.sum()), "columns": Listing(columns), "classes": Listing(labels)},
    )


def scatter_chain(data: NumericRows, columns: Sequence[str], labels: Sequence[str]) -> Chain:
    """S_t = S_w + S_b (Zhou, eq. 3.40), for at most MOST_COLUMNS columns."""
    s = Scattered(data)
    names, w, first = [label(name) for name in labels], data.weight, int(data.y[0])
    own, away = s.deviations[0], s.away[first]
    sums = np.array([w[data.y == c] @ s.deviations[data.y == c] for c in range(len(names))])
    cross = sum(np.outer(total, apart) for total, apart in zip(sums, s.away, strict=True))
    size = s.n * float(np.abs(data.X).max()) ** 2
    parts = [m * np.outer(v, v) for m, v in zip(s.n_c, s.away, strict=True)]
    lines = [
        Line(
            (r"S_t=\sum_i(x_i-\mu)(x_i-\mu)^{\top}",),
            (rf"\mu={vector(s.mean)},\quad S_t={matrix(s.total)}",),
            Message("The total scatter: all rows around the mean of all rows."),
            checked(s.total, np.cov(data.X.T, aweights=w, ddof=0).reshape(s.total.shape) * s.n, size),
        ),
        Line(
            (r"x_i-\mu=(x_i-\mu_c)+(\mu_c-\mu)",),
            (rf"x_1:\;{vector(data.X[0] - s.mean)}={vector(own)}+{vector(away)}",),
            Message(
                "From the mean of all to the row by way of the mean of its class; the numbers are those of the "
                "first row."
            ),
            checked(data.X - s.mean, s.deviations + s.away[data.y], np.abs(data.X).max()),
        ),
        Line(
            (
                r"S_t=\sum_c\sum_{i\in c}\big[(x_i-\mu_c)(x_i-\mu_c)^{\top}+(\mu_c-\mu)(\mu_c-\mu)^{\top}\big]",
                r"\quad+\,C+C^{\top},\quad C=\sum_c\sum_{i\in c}(x_i-\mu_c)(\mu_c-\mu)^{\top}",
            ),
            listed(
                [rf"\sum_{{i\in {name}}}(x_i-\mu_c)={vector(v, size)}" for name, v in zip(names, sums, strict=True)]
            ),
            Message(
                "Multiplied out. In the mixed terms $\\mu_c-\\mu$ is the same for a whole class, and the deviations "
                "from a class's own mean sum to zero: $C=0$."
            ),
            checked(cross, np.zeros_like(s.total), size),
        ),
        Line(
            (r"S_w=\sum_c\sum_{i\in c}(x_i-\mu_c)(x_i-\mu_c)^{\top}",),
            (rf"S_w={matrix(s.scatter)}",),
            Message(
                "Within the classes: every row around the mean of its class. (In one sentence lecture notes swap the "
                "words for $S_w$ and $S_b$.)"
            ),
            checked(s.scatter, sum(_scatter_of(data, c) for c in range(len(names))), size),
        ),
        Line(
            (r"S_b=\sum_c n_c(\mu_c-\mu)(\mu_c-\mu)^{\top}",),
            (rf"S_b={matrix(s.between)}",),
            Message("Between the classes: their means around the mean of all, each with its $n_c$ rows."),
            checked(s.between, sum(parts), size),
        ),
        Line(
            (r"S_t=S_w+S_b",),
            (rf"{matrix(s.total)}=", rf"{matrix(s.scatter)}+{matrix(s.between)}"),
            Message("What is left of the product: the scatter splits into two, and so does its trace."),
            checked(s.total, s.scatter + s.between, size),
        ),
    ]
    if len(names) == 2:
        apart = s.means[1] - s.means[0]
        share = s.n_c[0] * s.n_c[1] / s.n
        lines.append(
            Line(
                (r"S_b=\frac{n_1n_2}{n}(\mu_2-\mu_1)(\mu_2-\mu_1)^{\top}",),
                (
                    rf"\frac{{{counted(s.n_c[0])}\cdot {counted(s.n_c[1])}}}{{{counted(s.n)}}}\,\Delta\Delta^{{\top}}",
                    rf"\Delta=\mu_2-\mu_1={vector(apart)}",
                ),
                Message("With two classes $S_b$ has rank 1: it has one direction, that from mean to mean."),
                checked(s.between, share * np.outer(apart, apart), size),
            )
        )
    else:
        values = np.linalg.eigvalsh(s.between)[::-1]
        most = min(len(names) - 1, len(columns))
        lines.append(
            Line(
                (r"\sum_c n_c(\mu_c-\mu)=0\;\Rightarrow\;\operatorname{rank}S_b\le K-1",),
                (r"\sigma(S_b):\;" + ",\\;".join(value(v, size) for v in values),),
                Message(
                    "The weighted deviations of the class means sum to zero, so at most K − 1 eigenvalues of $S_b$ "
                    "are not zero: K classes have at most K − 1 Fisher directions."
                ),
                checked(values[most:], np.zeros(len(values) - most), size),
            )
        )
    return Chain("scatter", _rows(data, columns, labels), tuple(lines), "3.40")


def _scatter_of(data: NumericRows, c: int) -> Array:
    own, w = data.X[data.y == c], data.weight[data.y == c]
    centred = own - np.average(own, axis=0, weights=w)
    return np.asarray((centred.T * w) @ centred)


# two objectives -------------------------------------------------------------------------------------------------------


def _standardized(data: NumericRows) -> NumericRows:
    """The columns in units of their spread around their mean."""
    mean = np.average(data.X, axis=0, weights=data.weight)
    spread = np.sqrt(np.average((data.X - mean) ** 2, axis=0, weights=data.weight))
    return NumericRows(
        data.names,
        data.classes,
        (data.X - mean) / np.where(spread > 0, spread, 1.0),
        data.y,
        data.weight,
        data.groups,
        data.rows,
        data.left_out,
    )


def ratio_trace_chain(data: NumericRows, columns: Sequence[str], labels: Sequence[str]) -> Chain:
    """tr((WᵀS_bW)⁻¹WᵀS_wW) is least where S_bw = J S_ww: L⁻¹S_bL⁻ᵀ is diagonalized, S_w = LLᵀ. In units of the columns'
    spread. Raises TableError where S_w cannot be inverted, or all class means are one."""
    s = Scattered(_standardized(data))
    q = min(len(labels) - 1, len(columns))
    L = np.linalg.cholesky(s.scatter)
    A = np.linalg.solve(L, np.linalg.solve(L, s.between).T)
    J, V = np.linalg.eigh((A + A.T) / 2)
    J, V = J[::-1], V[:, ::-1]
    W = np.linalg.solve(L.T, V)
    W = W * np.where(W[np.abs(W).argmax(axis=0), np.arange(W.shape[1])] < 0, -1.0, 1.0)
    q = int((J[:q] > ROUNDING * s.condition * max(J[0], 1.0)).sum())
    if q == 0:
        raise TableError(
            "the means of all classes are one and the same in {columns}; choose others", columns=", ".join(data.names)
        )
    top, within, between = W[:, :q], s.scatter, s.between
    middle, inner = top.T @ between @ top, top.T @ within @ top
    least = float(np.trace(np.linalg.solve(middle, inner)))
    scale = s.condition * max(float(J[0]), 1.0 / float(J[q - 1]), 1.0) * s.n
    turn = signed(np.linalg.qr(np.cos(np.arange(q * q, dtype=float)).reshape(q, q) + np.eye(q))[0])
    turned = top @ turn
    lines = [
        Line(
            (r"\min_W\;f(W)=\operatorname{tr}\big((W^{\top}S_bW)^{-1}\,W^{\top}S_wW\big)",),
            (rf"S_w={matrix(within)},", rf"S_b={matrix(between)}"),
            Message(
                "Little scatter within the classes for much between them. f does not change when W is multiplied by an "
                "invertible matrix: only the plane counts."
            ),
            checked(np.trace(np.linalg.solve(turned.T @ between @ turned, turned.T @ within @ turned)), least, scale),
        ),
        Line(
            (r"S_wW=S_bW\,(W^{\top}S_bW)^{-1}(W^{\top}S_wW)",),
            (rf"S_wW={matrix(within @ top)}",),
            Message("The gradient is zero. (Lecture notes put the factors in an order whose shapes do not fit.)"),
            checked(within @ top, between @ top @ np.linalg.solve(middle, inner), scale),
        ),
        Line(
            (r"S_w=LL^{\top}",),
            (rf"L={matrix(L)}",),
            Message("Cholesky: $S_w$ is symmetric and positive definite."),
            checked(L @ L.T, within, s.n),
        ),
        Line(
            (r"A=L^{-1}S_bL^{-\top}=VJV^{\top},\quad V^{\top}V=I",),
            (rf"J:\;{','.join(value(v, scale) for v in J)}",),
            Message(
                "A is symmetric, which $L^{{-1}}S_b L$ would not be: so its eigenvectors are orthogonal and its "
                "eigenvalues real."
            ),
            checked(V @ np.diag(J) @ V.T, A, scale),
        ),
        Line(
            (r"W=L^{-\top}V",),
            (rf"W={matrix(top)}",),
            Message("Back to the columns; the columns of W belong to the largest J."),
            checked(L.T @ W @ np.diag(np.sign(np.sum((L.T @ W) * V, axis=0))), V, s.condition),
        ),
        Line(
            (r"W^{\top}S_wW=I,\quad W^{\top}S_bW=J",),
            (rf"W^{{\top}}S_wW={matrix(inner, 1.0)},", rf"W^{{\top}}S_bW={matrix(middle, 1.0)}"),
            Message("One W makes both matrices diagonal at once: $V^{{\\top}}L^{{-1}}(LL^{{\\top}})L^{{-\\top}}V=I$."),
            checked([inner, middle], [np.eye(q), np.diag(J[:q])], scale),
        ),
        Line(
            (r"S_bw_k=J_kS_ww_k,\quad f(W)=\sum_k\frac{1}{J_k}",),
            ("f=" + plus(rf"\frac{{1}}{{{value(v)}}}" for v in J[:q]) + f"={value(least)}",),
            Message("The generalized eigenproblem. f is least with the largest J; at most K − 1 of them are not zero."),
            checked([least, np.abs(between @ top - within @ top * J[:q]).max()], [(1.0 / J[:q]).sum(), 0.0], scale),
        ),
    ]
    subject = Message("{rows} The columns are in units of their spread.", {"rows": _rows(data, columns, labels)})
    return Chain("ratio-trace", subject, tuple(lines))


def trace_ratio_chain(data: NumericRows, columns: Sequence[str], labels: Sequence[str]) -> Chain:
    """ρ = tr(WᵀS_bW)/tr(WᵀS_wW) under WᵀW = I is largest where g(ρ) = max tr(Wᵀ(S_b − ρS_w)W) is zero: ρ from W, W from
    ρ, in turn. In units of the columns' spread. Raises TableError where S_w cannot be inverted."""
    s = Scattered(_standardized(data))
    q = min(len(labels) - 1, len(columns))
    within, between = s.scatter, s.between
    trace = trace_ratio(within, between, q)[1]
    best = trace[-1]

    def step(ratio: float) -> tuple[float, Array]:
        values, vectors = np.linalg.eigh(between - ratio * within)
        return float(values[::-1][:q].sum()), vectors[:, ::-1][:, :q]

    scale = s.n * max(best, 1.0) * len(columns)
    all_b, all_w = float(np.trace(between)), float(np.trace(within))
    lines = [
        Line(
            (r"\max_{W^{\top}W=I}\;\rho(W)=\frac{\operatorname{tr}(W^{\top}S_bW)}{\operatorname{tr}(W^{\top}S_wW)}",),
            (
                rf"\frac{{\operatorname{{tr}}S_b}}{{\operatorname{{tr}}S_w}}={fraction(all_b, all_w)}",
                rf"={value(all_b / all_w)}\le\rho^*",
            ),
            Message(
                "A ratio of two numbers, not of matrices. It needs $W^{{\\top}}W=I$: else one column of W could be "
                "made large and the others would not count. The numbers are those of all directions together."
            ),
            checked(all_b / all_w, best, scale, at_most=True),
        ),
        Line(
            (r"g(\rho)=\max_{W^{\top}W=I}\operatorname{tr}\big(W^{\top}(S_b-\rho S_w)W\big)=\sum_{k\le q}\sigma_k",),
            (rf"g(0)={value(step(0.0)[0])},\quad q={q}",),
            Message(
                "For a fixed ρ the best W is known (Ky Fan): the eigenvectors of the q largest eigenvalues σ of "
                "$S_b-\\rho S_w$. The largest ratio is the root of g, which falls in ρ."
            ),
            checked(np.trace(step(0.0)[1].T @ between @ step(0.0)[1]), step(0.0)[0], scale),
        ),
    ]
    ratio = 0.0
    begin = Message("The iteration begins with ρ₀ = 0; as $g\\ge 0$ up to the root, the ratio cannot fall.")
    again = Message("Once more: eigenvectors at the ratio reached, then the ratio of these.")
    for t, reached in enumerate(trace[:MOST_STEPS]):
        gap, directions = step(ratio)
        above, below = (float(np.trace(directions.T @ m @ directions)) for m in (between, within))
        lines.append(
            Line(
                (
                    rf"W_{{{t + 1}}}=\arg\max g(\rho_{{{t}}}),\quad\rho_{{{t + 1}}}=\rho(W_{{{t + 1}}})",
                    rf"\quad=\rho_{{{t}}}+g(\rho_{{{t}}})/\operatorname{{tr}}(W_{{{t + 1}}}^{{\top}}S_wW_{{{t + 1}}})",
                ),
                (
                    rf"g(\rho_{{{t}}})={value(gap, scale)}",
                    rf"\rho_{{{t + 1}}}={fraction(above, below)}={value(reached)}",
                ),
                begin if t == 0 else again,
                checked([reached, reached], [above / below, ratio + gap / below], scale),
            )
        )
        ratio = reached
    ratio_trace = np.linalg.qr(_generalized(within, between)[:, :q])[0]
    other = float(np.trace(ratio_trace.T @ between @ ratio_trace) / np.trace(ratio_trace.T @ within @ ratio_trace))
    lines += [
        Line(
            (r"g(\rho^*)=0",),
            (rf"\rho^*={value(best)},\quad g(\rho^*)={value(step(best)[0], scale)}",),
            Message("After {n} step(s) the root is reached.", {"n": len(trace)}),
            checked(step(best)[0], 0.0, scale),
        ),
        Line(
            (r"\rho(W_J)\le\rho^*,\quad S_bw_k=J_kS_ww_k",),
            (rf"{value(other)}\le {value(best)}",),
            Message(
                "The plane of the generalized eigenproblem solves ratio-trace, another problem: made orthonormal, "
                "its trace-ratio is no larger."
            )
            if q > 1
            else Message("With one direction the two objectives are one."),
            checked(other, best, scale * s.condition, at_most=q > 1),
        ),
    ]
    subject = Message("{rows} The columns are in units of their spread.", {"rows": _rows(data, columns, labels)})
    return Chain("trace-ratio", subject, tuple(lines))


def _generalized(within: Array, between: Array) -> Array:
    """Eigenvectors of S_b w = J S_w w, largest J first."""
    L = np.linalg.cholesky(within)
    A = np.linalg.solve(L, np.linalg.solve(L, between).T)
    return np.asarray(np.linalg.solve(L.T, np.linalg.eigh((A + A.T) / 2)[1][:, ::-1]))
