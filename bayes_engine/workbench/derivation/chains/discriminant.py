"""Derivations of two classes' line: Fisher's direction is LDA's, and what that needs; the boundary wᵀx + b and what b
is made of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayes_engine.errors import TableError
from bayes_engine.factors import LOG_2PI
from bayes_engine.language import Listing, Message
from bayes_engine.logspace import Array, exp, log
from bayes_engine.models.projection import NumericRows
from bayes_engine.workbench.derivation.chains.chain import (
    Chain,
    Line,
    checked,
    counted,
    label,
    matrix,
    plus,
    value,
    vector,
)
from bayes_engine.workbench.derivation.chains.estimates import WithinClasses
from bayes_engine.workbench.derivation.chains.scatter import Scattered


def two_classes(data: NumericRows, first: int, second: int) -> NumericRows:
    """The rows of two of the classes, in this order."""
    kept = (data.y == first) | (data.y == second)
    groups = None if data.groups is None else data.groups[kept]
    classes = (data.classes[first], data.classes[second])
    y = (data.y[kept] == second).astype(np.intp)
    return NumericRows(data.names, classes, data.X[kept], y, data.weight[kept], groups, data.rows[kept], data.left_out)


def gaussian_logs(X: Array, mean: Array, covariance: Array) -> Array:
    """(n,) ln N(x; μ, Σ), by Cholesky."""
    root = np.linalg.cholesky(covariance)
    white = np.linalg.solve(root, (X - mean).T)
    return np.asarray(-0.5 * (len(mean) * LOG_2PI + (white**2).sum(axis=0)) - log(np.diagonal(root)).sum())


def _subject(data: NumericRows, columns: Sequence[str], labels: Sequence[str]) -> Message:
    return Message(
        "{n} rows with all cells of {columns}; class 1 is {first}, class 2 is {second}.",
        {"n": counted(data.weight.sum()), "columns": Listing(columns), "first": labels[0], "second": labels[1]},
    )


def fisher_lda_chain(data: NumericRows, columns: Sequence[str], labels: Sequence[str], prior: Any) -> Chain:
    """Fisher's w ∝ S_w⁻¹(μ₂ − μ₁) (Zhou, eq. 3.39) is the normal of LDA's boundary; the lines are one where the priors
    are equal. `data` has two classes with `labels` and the `prior` (2,). Raises TableError where S_w cannot be
    inverted."""
    s, prior = Scattered(data), np.asarray(prior, dtype=float)
    first, second = s.means
    apart, n1, n2, n = second - first, float(s.n_c[0]), float(s.n_c[1]), s.n
    if float(np.abs(apart).max()) == 0.0:
        raise TableError(
            "the means of both classes are one and the same in {columns}; choose others", columns=", ".join(data.names)
        )
    w = np.linalg.solve(s.scatter, apart)
    J = n1 * n2 / n * float(apart @ w)
    above, below = float(w @ s.between @ w), float(w @ s.scatter @ w)
    lda, middle = n * w, (first + second) / 2.0
    shift = math.log(prior[1] / prior[0])
    length = float(np.linalg.norm(lda))
    covariance = s.scatter / n
    scores = (data.X - middle) @ lda
    odds = gaussian_logs(data.X, second, covariance) - gaussian_logs(data.X, first, covariance) + shift
    size = s.condition * n * float(np.abs(data.X).max())
    far = s.condition * float(1.0 + np.abs(odds).max() + (np.abs(data.X).max() / s.spread.min()) ** 2 * n)
    on_fisher, on_lda = middle, middle - shift * lda / length**2
    lines = [
        Line(
            (r"\max_w\;J(w)=\frac{w^{\top}S_bw}{w^{\top}S_ww}",),
            (rf"J=\frac{{{value(above)}}}{{{value(below)}}}={value(J)}",),
            Message("Fisher: means far apart on the line, for the scatter within the classes along it."),
            checked(above / below, J, s.condition * max(J, 1.0)),
        ),
        Line(
            (r"\frac{\partial J}{\partial w}=0\;\Rightarrow\;S_bw=J\,S_ww",),
            (rf"S_bw={vector(s.between @ w)}",),
            Message("The quotient's derivative is zero. J does not change when w is made longer."),
            checked(s.between @ w, J * (s.scatter @ w), size * max(J, 1.0) * np.abs(w).max()),
        ),
        Line(
            (r"S_bw=\frac{n_1n_2}{n}\,\Delta\,(\Delta^{\top}w),\quad\Delta=\mu_2-\mu_1",),
            (rf"\Delta={vector(apart)},\quad\Delta^{{\top}}w={value(apart @ w)}",),
            Message("With two classes $S_bw$ points from mean to mean, whatever w is."),
            checked(s.between @ w, n1 * n2 / n * apart * float(apart @ w), size * np.abs(apart).max()),
        ),
        Line(
            (r"w=S_w^{-1}\Delta",),
            (rf"w={vector(w)}",),
            Message("So $S_ww$ is a multiple of Δ; its length is free."),
            checked(s.scatter @ w, apart, size),
        ),
        Line(
            (r"\hat\Sigma=\tfrac1n S_w\;\Rightarrow\;w_{\mathrm{LDA}}=\hat\Sigma^{-1}\Delta=n\,S_w^{-1}\Delta",),
            (rf"w_{{\mathrm{{LDA}}}}={counted(n)}\,w={vector(lda)}",),
            Message(
                "LDA's covariance is the pooled $S_w/n$: its direction is Fisher's. With a covariance of "
                "another kind (shrunk, diagonal) it is not."
            ),
            checked(np.linalg.solve(covariance, apart), lda, s.condition * n * np.abs(w).max()),
        ),
        Line(
            (
                r"\text{Fisher: }w^{\top}\big(x-\tfrac{\mu_1+\mu_2}{2}\big)>0",
                r"\text{LDA: }w^{\top}\big(x-\tfrac{\mu_1+\mu_2}{2}\big)+\ln\tfrac{\pi_2}{\pi_1}>0",
            ),
            (
                rf"\ln\tfrac{{\pi_2}}{{\pi_1}}=\ln\tfrac{{{value(prior[1])}}}{{{value(prior[0])}}}={value(shift)}",
                rf"x_1:\;{value(scores[0])},\quad {value(odds[0], far)}",
            ),
            Message(
                "Fisher cuts midway between the projected means, LDA where the log-odds are zero: they differ "
                "by the log of the priors' ratio alone; below, the first row's two numbers."
            ),
            checked(odds - scores, np.full(len(odds), shift), far),
        ),
        Line(
            (r"\delta=\frac{|\ln(\pi_2/\pi_1)|}{\lVert w_{\mathrm{LDA}}\rVert}",),
            (rf"\frac{{{value(abs(shift))}}}{{{value(length)}}}={value(abs(shift) / length)}",),
            Message("The priors are equal here: the two boundaries are one line.")
            if abs(shift) < 1e-12
            else Message(
                "So far apart are the two parallel lines; with equal priors they are one, whatever the true "
                "covariances."
            ),
            checked(
                np.linalg.norm(on_fisher - on_lda), abs(shift) / length, np.abs(middle).max() + abs(shift) / length
            ),
        ),
    ]
    curved = _curved(data, s, prior)
    if curved is not None:
        lines.append(curved)
    return Chain("fisher-lda", _subject(data, columns, labels), tuple(lines), "3.39")


def _curved(data: NumericRows, s: Scattered, prior: Array) -> Line | None:
    """What a covariance for each class adds; None where a class has none that can be inverted."""
    own = []
    for c in range(2):
        rows, w = s.deviations[data.y == c], data.weight[data.y == c]
        own.append((rows.T * w) @ rows / s.n_c[c])
    conditions = [float(np.linalg.cond(m / np.outer(s.spread, s.spread))) for m in own]
    if not max(conditions) < 1e8:
        return None
    inverse = [np.linalg.inv(m) for m in own]
    A = -0.5 * (inverse[1] - inverse[0])
    pull = [p @ mean for p, mean in zip(inverse, s.means, strict=True)]
    log_det = np.linalg.slogdet(np.array(own))[1]
    level = [-0.5 * (float(v @ m) + float(d)) for v, m, d in zip(pull, s.means, log_det, strict=True)]
    shift = math.log(prior[1] / prior[0])
    odds = gaussian_logs(data.X, s.means[1], own[1]) - gaussian_logs(data.X, s.means[0], own[0]) + shift
    by_form = np.einsum("ni,ij,nj->n", data.X, A, data.X) + data.X @ (pull[1] - pull[0]) + level[1] - level[0] + shift
    scale = max(conditions) * float((np.abs(data.X).max() / s.spread.min()) ** 2 * s.n + np.abs(odds).max() + 1.0)
    return Line(
        (r"x^{\top}Ax+\dots,\quad A=-\tfrac12(\hat\Sigma_2^{-1}-\hat\Sigma_1^{-1})",),
        (rf"A={matrix(A)}",),
        Message(
            "What it needs: two classes, the pooled covariance, equal priors, the cut midway. Equal true "
            "covariances are needed for something else, that the line be optimal: with its own covariance "
            "for each class the log-odds have this quadratic term, which Fisher and LDA leave out."
        ),
        checked(odds, by_form, scale),
    )


# the boundary ---------------------------------------------------------------------------------------------------------


def boundary_chain(
    data: NumericRows, columns: Sequence[str], labels: Sequence[str], prior: Any, losses: Any, x: Any = None
) -> Chain:
    """Decide class 2 where wᵀx + b > 0: w = Σ⁻¹(μ₂ − μ₁), and b has a term of the means, one of the `prior` (2,), one
    of the `losses` (2, 2), λ_ij of deciding i where j is true; at the case `x` (d,), or the mean of the rows. Raises
    TableError where S_w cannot be inverted, or where the losses make one decision the better one always."""
    losses, prior = np.asarray(losses, dtype=float), np.asarray(prior, dtype=float)
    right = (float(losses[0, 1] - losses[1, 1]), float(losses[1, 0] - losses[0, 0]))
    if not min(right) > 0:
        raise TableError(
            "with these losses one of the two decisions never costs less than the other, whatever the "
            "case: there is no boundary. An error must cost more than being right"
        )
    s = WithinClasses(data)
    x = s.n_c @ s.means / s.n if x is None else np.asarray(x, dtype=float)
    (first, second), covariance = s.means, s.scatter / s.n
    inverse = np.linalg.inv(covariance)
    w = inverse @ (second - first)
    squares = float(second @ inverse @ second), float(first @ inverse @ first)
    of_means, of_prior = -0.5 * (squares[0] - squares[1]), math.log(prior[1] / prior[0])
    of_losses = math.log(right[0] / right[1])
    b = of_means + of_prior + of_losses
    middle = (first + second) / 2.0
    point = middle - (float(w @ middle) + b) * w / float(w @ w)

    def joint(place: Array) -> Array:
        logs = [float(gaussian_logs(place[None], m, covariance)[0]) for m in (first, second)]
        return np.asarray(exp(np.array(logs) + log(prior)))

    def risks(place: Array) -> Array:
        both = joint(place)
        return np.asarray(losses @ (both / both.sum()))

    at_x = joint(x)
    posterior = at_x / at_x.sum()
    likelihood = float(gaussian_logs(x[None], second, covariance)[0] - gaussian_logs(x[None], first, covariance)[0])
    parts = [float(m @ inverse @ m) for m in (x - first, x - second)]
    total = float(w @ x) + b
    regret = right[0] * posterior[1], right[1] * posterior[0]
    scale = s.condition * (max(*squares, *parts, float(x @ inverse @ x)) + abs(b) + 1.0)
    names = [label(name) for name in labels]
    here = risks(x)
    on_it = risks(point)
    lines = [
        Line(
            (
                r"R(1\mid x)>R(2\mid x)\iff",
                r"(\lambda_{12}-\lambda_{22})P(2\mid x)>(\lambda_{21}-\lambda_{11})P(1\mid x)",
            ),
            (
                rf"({counted(losses[0, 1])}-{counted(losses[1, 1])})\times {value(posterior[1])}={value(regret[0])}",
                rf"({counted(losses[1, 0])}-{counted(losses[0, 0])})\times {value(posterior[0])}={value(regret[1])}",
            ),
            Message(
                "Decide class 2 where its conditional risk is the smaller one; $λ_{{ij}}$ is the loss of "
                "deciding i where j is true."
            ),
            checked(here[0] - here[1], regret[0] - regret[1], np.abs(losses).max()),
        ),
        Line(
            (
                r"\ln\frac{p(x\mid 2)}{p(x\mid 1)}+\ln\frac{\pi_2}{\pi_1}",
                r"\quad+\ln\frac{\lambda_{12}-\lambda_{22}}{\lambda_{21}-\lambda_{11}}>0",
            ),
            (plus([value(likelihood, scale), value(of_prior), value(of_losses)]) + f"={value(total, scale)}",),
            Message(
                "Divided, by Bayes' theorem, and in logarithms: three terms, of the case, of the prior and of "
                "the losses."
            ),
            checked(math.log(regret[0]) - math.log(regret[1]), likelihood + of_prior + of_losses, scale)
            if min(posterior) > 1e-200
            else checked(likelihood, total - of_prior - of_losses, scale),
        ),
        Line(
            (
                r"\ln\frac{p(x\mid 2)}{p(x\mid 1)}=\tfrac12(x-\mu_1)^{\top}\Sigma^{-1}(x-\mu_1)",
                r"\quad-\tfrac12(x-\mu_2)^{\top}\Sigma^{-1}(x-\mu_2)",
            ),
            (rf"\tfrac12({value(parts[0])}-{value(parts[1])})={value(likelihood, scale)}",),
            Message("One covariance for both classes: the constants of the densities are the same and cancel."),
            checked((parts[0] - parts[1]) / 2.0, likelihood, scale),
        ),
        Line(
            (
                r"=w^{\top}x-\tfrac12(\mu_2^{\top}\Sigma^{-1}\mu_2-\mu_1^{\top}\Sigma^{-1}\mu_1)",
                r"w=\Sigma^{-1}(\mu_2-\mu_1)",
            ),
            (rf"w={vector(w)},\quad w^{{\top}}x={value(w @ x)}",),
            Message(
                "Multiplied out; $x^{{\\top}}\\Sigma^{{-1}}x$ stands on both sides and cancels: what is left "
                "is linear in x."
            ),
            checked(float(w @ x) + of_means, likelihood, scale),
        ),
        Line(
            (
                r"b=-\tfrac12(\mu_2^{\top}\Sigma^{-1}\mu_2-\mu_1^{\top}\Sigma^{-1}\mu_1)",
                r"\quad+\ln\frac{\pi_2}{\pi_1}+\ln\frac{\lambda_{12}-\lambda_{22}}{\lambda_{21}-\lambda_{11}}",
            ),
            ("b=" + plus([value(of_means), value(of_prior), value(of_losses)]), f"={value(b)}"),
            Message(
                "b is the sum of a term of the means, one of the prior and one of the losses: with equal "
                "priors and 0-1 loss the last two are 0, and the boundary passes midway between the means."
            ),
            checked(float(w @ middle) + b, of_prior + of_losses, scale),
        ),
        Line(
            (r"w^{\top}x+b>0\;\Rightarrow\;\text{2}",),
            (plus([value(w @ x), value(b)]) + rf"={value(total, scale)}\;\Rightarrow\;{names[int(total > 0)]}",),
            Message("The rule, for the case: at {x}.", {"x": Listing([f"{v:.6g}" for v in x])}),
            checked(total, likelihood + of_prior + of_losses, scale),
        ),
        Line(
            (r"w^{\top}x+b=0\iff R(1\mid x)=R(2\mid x)",),
            (rf"x={vector(point)}:\;R={value(on_it[0])}",),
            Message(
                "On the boundary both decisions have the same risk; this is its point nearest to the middle of "
                "the means."
            ),
            checked(on_it[0], on_it[1], scale * np.abs(losses).max()),
        ),
    ]
    return Chain("boundary", _subject(data, columns, labels), tuple(lines))
