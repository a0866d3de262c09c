"""Derivations of estimates: the class prior by Lagrange's multiplier, mean and covariance by matrix calculus, Laplace's
correction as the mean of a Dirichlet posterior.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln, xlogy

from bayes_engine.errors import TableError
from bayes_engine.factors import LOG_2PI
from bayes_engine.factors.sources import Fraction, Source
from bayes_engine.language import Listing, Message
from bayes_engine.logspace import Array, exp
from bayes_engine.models.projection import NumericRows
from bayes_engine.numerals import number
from bayes_engine.workbench.derivation.chains.chain import (
    Chain,
    Line,
    checked,
    counted,
    label,
    listed,
    matrix,
    plus,
    value,
    vector,
)

SINGULAR = 1e12
"""A scatter with a larger condition number is not inverted."""
MOST_DRAWS = 1_000_000
"""Up to so many rows are drawn one after the other in a check."""


def class_prior_chain(counts: Sequence[float], labels: Sequence[str], used: Sequence[Source]) -> Chain:
    """π̂_c = n_c/n maximizes Σ n_c ln π_c under Σ π_c = 1 (Zhou, eq. 7.16), of classes with `counts` (K,) and `labels`;
    `used` says where the model has its prior from.

    >>> chain = class_prior_chain([8, 9], ["good", "bad"], [Fraction(8, 17, 0, 2), Fraction(9, 17, 0, 2)])
    >>> len(chain.lines), chain.lines[-1].numbers[0], all(line.check.holds for line in chain.lines)
    (6, '\\\\hat\\\\pi_{\\\\text{good}}=\\\\frac{8}{17}=0.4706', True)
    """
    n_c = np.asarray(counts, dtype=float)
    n, K = float(n_c.sum()), len(n_c)
    names, best, seen = [label(name) for name in labels], n_c / n, np.flatnonzero(n_c > 0)
    likelihood = float(xlogy(n_c, best).sum())
    even = -n * math.log(K)
    apart = float(xlogy(n_c, best * K).sum())
    fractions = [source for source in used if isinstance(source, Fraction)]
    plain = fractions if len(fractions) == K and not any(f.pseudo_total > 0 for f in fractions) else []
    pi = [rf"\pi_{{{name}}}" for name in names]
    lines = [
        Line(
            (r"\ell(\pi)=\sum_c n_c\ln\pi_c",),
            (r"\ell=" + plus(rf"{counted(m)}\ln {p}" for m, p in zip(n_c, pi, strict=True)),),
            Message("The log-likelihood of the rows' classes: each row of a class brings one factor $\\pi_c$."),
            checked(likelihood, sum(float(xlogy(m, p)) for m, p in zip(n_c, best, strict=True)), n),
        ),
        Line(
            (r"\mathcal{L}(\pi,\nu)=\ell(\pi)-\nu\left(\textstyle\sum_c\pi_c-1\right)",),
            (r"\mathcal{L}=\ell-\nu\,(" + plus(pi) + "-1)",),
            Message(
                "The shares must sum to 1: the multiplier $\\nu$ takes that in. (Lecture notes call it λ, which here "
                "is a loss.)"
            ),
            checked(best.sum(), 1.0),
        ),
        Line(
            (r"\frac{\partial\mathcal{L}}{\partial\pi_c}=\frac{n_c}{\pi_c}-\nu=0",),
            listed([rf"\frac{{{counted(n_c[k])}}}{{{pi[k]}}}-\nu=0" for k in seen]),
            Message("At the maximum the gradient is zero; all quotients $n_c/\\pi_c$ are the same number."),
            checked(n_c[seen] / best[seen], np.full(len(seen), n), n),
        ),
        Line(
            (r"1=\sum_c\pi_c=\frac{1}{\nu}\sum_c n_c\;\Rightarrow\;\nu=n",),
            (rf"\frac{{{plus(map(counted, n_c))}}}{{\nu}}=1\;\Rightarrow\;\nu={counted(n)}",),
            Message("Solved for $\\pi_c$ and put into the constraint: the multiplier is the number of rows."),
            checked(n_c.sum() / n, 1.0),
        ),
        Line(
            (r"\ell(\hat\pi)-\ell(\pi)=n\sum_c\hat\pi_c\ln\frac{\hat\pi_c}{\pi_c}\ge 0",),
            (rf"\pi_c=\tfrac{{1}}{{{K}}}:\;{value(likelihood)}-({value(even)})={value(likelihood - even, abs(even))}",),
            Message(
                "It is the maximum: against any other shares, here equal ones, the log-likelihood loses n times a "
                "Kullback–Leibler divergence."
            ),
            checked(likelihood - even, apart, n * math.log(max(K, 2))),
        ),
        Line(
            (r"\hat\pi_c=\frac{n_c}{n}",),
            listed(
                [
                    rf"\hat\pi_{{{name}}}=\frac{{{counted(m)}}}{{{counted(n)}}}={value(p)}"
                    for name, m, p in zip(names, n_c, best, strict=True)
                ]
            ),
            Message("Maximum likelihood estimates the prior by the shares of the classes."),
            checked(best, [f.value for f in plain] if plain else n_c / n_c.sum()),
        ),
    ]
    if len(fractions) == K and not plain:
        lines.append(_smoothed_prior(n_c, names, fractions))
    subject = Message("{n} rows of {k} classes.", {"n": counted(n), "k": K})
    if not fractions:
        subject = Message(
            "{n} rows of {k} classes. The model in use does not count its prior; it was set.", {"n": counted(n), "k": K}
        )
    return Chain("prior", subject, tuple(lines), "7.16")


def _smoothed_prior(n_c: Array, names: Sequence[str], fractions: Sequence[Fraction]) -> Line:
    n, added = float(n_c.sum()), np.array([f.added for f in fractions])
    total = n + fractions[0].pseudo_total
    smoothed = (n_c + added) / total
    return Line(
        (r"\hat\pi_c=\frac{n_c+\alpha}{n+K\alpha},\quad\nu=n+K\alpha",),
        listed(
            [
                rf"\hat\pi_{{{name}}}=\frac{{{counted(m)}+{counted(a)}}}{{{counted(n)}+{counted(f.pseudo_total)}}}={value(p)}"
                for name, m, a, f, p in zip(names, n_c, added, fractions, smoothed, strict=True)
            ]
        ),
        Message(
            "The model in use adds α to each class: the same steps with $\\ell+\\alpha\\sum_c\\ln\\pi_c$ in the place "
            "of $\\ell$."
        ),
        checked(smoothed, [f.value for f in fractions]),
    )


# a Gaussian -----------------------------------------------------------------------------------------------------------


class WithinClasses:
    """Counts, means and the scatter within the classes of some columns' rows, as the derivations need them: `n_c` (C,),
    `means` (C, d), `deviations` (n, d) of each row from its class's mean, `scatter` S_w (d, d) and its `condition`.

    Raises TableError where S_w cannot be inverted.
    """

    def __init__(self, data: NumericRows) -> None:
        one = np.eye(len(data.classes))[data.y] * data.weight[:, None]
        self.data, self.n_c = data, one.sum(axis=0)
        self.n = float(self.n_c.sum())
        self.means = (one.T @ data.X) / self.n_c[:, None]
        self.deviations = data.X - self.means[data.y]
        self.scatter = (self.deviations.T * data.weight) @ self.deviations
        spread = np.sqrt(np.diagonal(self.scatter))
        self.condition = math.inf
        if (spread > 0).all():
            self.condition = float(np.linalg.cond(self.scatter / np.outer(spread, spread)))
        if not self.condition < SINGULAR:
            raise TableError(
                "the scatter within the classes of {columns} cannot be inverted: a column has one value in each class, "
                "or one is a combination of the others; choose others",
                columns=", ".join(data.names),
            )
        self.spread = spread


def gaussian_chain(data: NumericRows, columns: Sequence[str], labels: Sequence[str]) -> Chain:
    """μ̂_c = x̄_c and Σ̂ = S_w/n maximize the likelihood of classes that share one covariance (`columns` (d,) and `labels`
    (C,) as they are called on screen). Raises TableError where S_w cannot be inverted."""
    rows = WithinClasses(data)
    n, d, S, names = rows.n, len(data.names), rows.scatter, [label(name) for name in labels]
    inverse = np.linalg.inv(S / n)
    squares = np.einsum("ni,ij,nj->n", rows.deviations, inverse, rows.deviations)
    total, log_det = float(data.weight @ squares), float(np.linalg.slogdet(S / n)[1])
    top = -0.5 * (n * d * LOG_2PI + n * log_det + n * d)
    root = np.linalg.cholesky(S / n)
    white = np.linalg.solve(root, rows.deviations.T)
    by_row = -0.5 * (d * LOG_2PI + (white**2).sum(axis=0)) - np.log(np.diagonal(root)).sum()
    sums = np.array([data.weight[data.y == c] @ rows.deviations[data.y == c] for c in range(len(names))])
    size = rows.condition * np.abs(data.X).max() * n
    scale = rows.condition * np.outer(rows.spread, rows.spread)
    unbiased = n - len(names)
    lines = [
        Line(
            (
                r"\ell=-\tfrac12\sum_i\Big[d\ln 2\pi+\ln|\Sigma|",
                r"\quad+(x_i-\mu_{c_i})^{\top}\Sigma^{-1}(x_i-\mu_{c_i})\Big]",
            ),
            (rf"n={counted(n)},\quad d={d}",),
            Message(
                "The log-likelihood of Gaussian classes with one covariance. The constant has the dimension in it: "
                "$(2\\pi)^{{d/2}}|\\Sigma|^{{1/2}}$, which lecture notes leave out."
            ),
            checked(data.weight @ by_row, top, rows.condition * n * (d * LOG_2PI + abs(log_det) + d)),
        ),
        Line(
            (r"\frac{\partial\ell}{\partial\mu_c}=\Sigma^{-1}\sum_{i\in c}(x_i-\mu_c)=0",),
            listed(
                [rf"\sum_{{i\in {name}}}(x_i-\hat\mu)={vector(s, size)}" for name, s in zip(names, sums, strict=True)]
            ),
            Message(
                "As $\\partial(a^{{\\top}}Pa)/\\partial a=2Pa$ for a symmetric P; lecture notes have the sign wrong, "
                "which does no harm where it is set to 0."
            ),
            checked(sums @ inverse, np.zeros_like(sums), size * np.abs(inverse).max()),
        ),
        Line(
            (r"\hat\mu_c=\frac{1}{n_c}\sum_{i\in c}x_i",),
            listed(
                [
                    rf"\hat\mu_{{{name}}}=\frac{{1}}{{{counted(m)}}}{vector(mu * m)}={vector(mu)}"
                    for name, m, mu in zip(names, rows.n_c, rows.means, strict=True)
                ]
            ),
            Message("$\\Sigma^{{-1}}$ can be inverted, so the sum itself is zero: the mean of the class's rows."),
            checked(
                rows.means,
                [np.average(data.X[data.y == c], axis=0, weights=data.weight[data.y == c]) for c in range(len(names))],
                np.abs(data.X).max(),
            ),
        ),
        Line(
            (
                r"\sum_i(x_i-\hat\mu_{c_i})^{\top}P\,(x_i-\hat\mu_{c_i})=\operatorname{tr}(P\,S_w)",
                r"S_w=\sum_i(x_i-\hat\mu_{c_i})(x_i-\hat\mu_{c_i})^{\top}",
            ),
            (rf"S_w={matrix(S)}",),
            Message(
                "A number is its own trace, and $\\operatorname{{tr}}(AB)=\\operatorname{{tr}}(BA)$; "
                "$P=\\Sigma^{{-1}}$."
            ),
            checked(total, np.trace(inverse @ S), rows.condition * n * d),
        ),
        Line(
            (
                r"\ell=\tfrac{n}{2}\ln|P|-\tfrac12\operatorname{tr}(P\,S_w)+\text{const}",
                r"\frac{\partial\ell}{\partial P}=\tfrac{n}{2}P^{-1}-\tfrac12 S_w=0",
            ),
            (rf"{counted(n)}\,\Sigma={matrix(S)}",),
            Message(
                "As $\\partial\\ln|P|/\\partial P=P^{{-1}}$ and $\\partial\\operatorname{{tr}}(PS)/\\partial P=S$ for "
                "symmetric matrices."
            ),
            checked(n * np.linalg.inv(inverse), S, scale),
        ),
        Line(
            (r"\hat\Sigma=\frac{S_w}{n}",),
            (rf"\hat\Sigma={matrix(S / n)}",),
            Message("The pooled scatter within the classes over n; lecture notes write $\\Sigma_k=S_k$."),
            checked(S / n, np.cov(rows.deviations.T, aweights=data.weight, ddof=0).reshape(d, d), scale),
        ),
        Line(
            (r"\hat\ell=-\tfrac{n}{2}\left[d\ln 2\pi+\ln|\hat\Sigma|+d\right]",),
            (rf"\operatorname{{tr}}(\hat\Sigma^{{-1}}S_w)={counted(n)}\cdot {d},\quad \hat\ell={value(top)}",),
            Message("At the maximum the squared distances sum to $nd$."),
            checked(total, n * d, rows.condition * n * d),
        ),
    ]
    if unbiased > 0:
        lines.append(
            Line(
                (r"\frac{S_w}{n-K}=\frac{n}{n-K}\,\hat\Sigma",),
                (rf"\frac{{S_w}}{{{counted(n)}-{len(names)}}}={matrix(S / unbiased)}",),
                Message(
                    "Divided by $n-K$ it has no bias: K means were fitted. The worked examples do that in each "
                    "class, with $n_c-1$."
                ),
                checked(S / unbiased, n / unbiased * S / n, scale),
            )
        )
    subject = Message(
        "{n} rows with all cells of {columns}; classes: {classes}. The covariance is shared by the classes.",
        {"n": counted(n), "columns": Listing(columns), "classes": Listing(labels)},
    )
    return Chain("gaussian", subject, tuple(lines), "7.12–7.13" if d == 1 else "")


# Laplace --------------------------------------------------------------------------------------------------------------


def laplace_chain(
    fractions: Sequence[Fraction], s: int, levels: Sequence[str], column: str, class_: str, *, model: float
) -> Chain:
    """(n_s + α_s)/(n + Σα) is the mean of the Dirichlet posterior of a class's level probabilities (Zhou, eq. 7.20 for
    α = 1). `fractions` (S,) say how each level was counted, `s` is the level looked at, `model` its probability in the
    model; where that adds nothing, α = 1 is shown.

    >>> crisp = [Fraction(count, 8, 1, 3) for count in (6, 2, 0)]
    >>> chain = laplace_chain(crisp, 2, ["dull", "muffled", "crisp"], "knock", "good", model=1 / 11)
    >>> chain.lines[5].numbers[0], all(line.check.holds for line in chain.lines)
    ('\\\\frac{0+1}{8+3}=0.0909', True)
    """
    n_s = np.array([f.count for f in fractions])
    bare = not fractions[0].pseudo_total > 0
    a = np.ones(len(n_s)) if bare else np.array([f.added for f in fractions])
    kept = a > 0  # a level to which nothing is added stays where it is
    n, A, after = float(n_s.sum()), float(a.sum()), n_s + a
    mean, even = after / after.sum(), a / A
    theta = [rf"\theta_{{{label(level)}}}" for level in levels]
    beta = _log_beta
    points = np.array([mean, np.full(len(n_s), 1.0 / len(n_s))])
    by_bayes = [_dirichlet(a[kept], t[kept]) + float(xlogy(n_s, t).sum()) for t in points]
    at_once = [_dirichlet(after[kept | (n_s > 0)], t[kept | (n_s > 0)]) for t in points]
    evidence = beta(after) - beta(a)
    up = after.copy()
    up[s] += 1.0

    def gamma(v: float) -> str:
        return rf"\Gamma({counted(v)})"

    size = 1.0 + n * (abs(math.log(max(n + A, 2.0))) + 1.0)
    lines = [
        Line(
            (r"p(\theta)=\frac{1}{B(\alpha)}\prod_s\theta_s^{\alpha_s-1}",),
            (rf"\theta\sim\mathrm{{Dir}}({', '.join(_short(a))})",),
            Message("Before any row: a Dirichlet prior of the level probabilities; with $\\alpha_s=1$ it is uniform."),
            checked(_ratio(beta(_one_more(a, s)) - beta(a)), even[s], size),
        ),
        Line(
            (r"P(D\mid\theta)=\prod_s\theta_s^{n_s}",),
            (
                r"\,".join([rf"{t}^{{{counted(m)}}}" for t, m in zip(theta, n_s, strict=True)][:4])
                + (r"\cdots" if len(theta) > 4 else ""),
            ),
            Message("The rows of the class, independent given θ: one factor for each."),
            checked(
                xlogy(n_s, mean).sum(), math.fsum(m * math.log(p) for m, p in zip(n_s, mean, strict=True) if m), size
            ),
        ),
        Line(
            (r"p(\theta\mid D)\propto\prod_s\theta_s^{n_s+\alpha_s-1}",),
            (rf"\theta\mid D\sim\mathrm{{Dir}}({', '.join(_short(after))})",),
            Message("Prior times likelihood has the form of the prior again: the counts are added to its parameters."),
            checked(by_bayes[0] - by_bayes[1], at_once[0] - at_once[1], size),
        ),
        Line(
            (
                r"P(D)=\frac{B(\alpha+n)}{B(\alpha)}",
                r"B(\alpha)=\textstyle\prod_s\Gamma(\alpha_s)\,/\,\Gamma(\sum_s\alpha_s)",
            ),
            (rf"\ln P(D)={value(evidence, size)}",),
            Message(
                "What normalizes it. The same number comes out when the rows are predicted one after the other, "
                "each from those before it."
            ),
            checked(evidence, _one_by_one(n_s, a), size),
        ),
        Line(
            (r"\mathbb{E}[\theta_s\mid D]=\frac{B(\alpha+n+e_s)}{B(\alpha+n)}",),
            (rf"\frac{{{gamma(up[s])}\,{gamma(n + A)}}}{{{gamma(after[s])}\,{gamma(n + A + 1)}}}={value(mean[s])}",),
            Message(
                "The integral of $\\theta_s$ under the posterior: one more row of the level {level}; $e_s$ is 1 "
                "there and 0 elsewhere.",
                {"level": levels[s]},
            ),
            checked(_ratio(beta(up) - beta(after)), mean[s], size),
        ),
        Line(
            (r"\mathbb{E}[\theta_s\mid D]=\frac{n_s+\alpha_s}{n+\sum_t\alpha_t}",),
            (rf"\frac{{{counted(n_s[s])}+{counted(a[s])}}}{{{counted(n)}+{counted(A)}}}={value(mean[s])}",),
            Message(
                "As $\\Gamma(x+1)=x\\,\\Gamma(x)$. The model in use adds nothing and has {p}; this is Laplace's α = 1.",
                {"p": number(model)},
            )
            if bare
            else Message("As $\\Gamma(x+1)=x\\,\\Gamma(x)$. This is the number of the model in use."),
            checked(mean[s], (n_s[s] + 1.0) / (n + len(n_s)) if bare else model),
        ),
    ]
    if n > 0:
        share = A / (n + A)
        lines.append(
            Line(
                (r"=\frac{n}{n+A}\cdot\frac{n_s}{n}+\frac{A}{n+A}\cdot\frac{\alpha_s}{A}",),
                (
                    rf"{value(1 - share)}\times {value(n_s[s] / n)}+{value(share)}\times {value(even[s])}",
                    rf"={value(mean[s])}",
                ),
                Message(
                    "A mean of the rows' share and the prior's, $A=\\sum_t\\alpha_t$ being worth so many rows; as "
                    "rows come, the prior washes out."
                ),
                checked((1 - share) * n_s[s] / n + share * even[s], mean[s]),
            )
        )
    subject = Message(
        "{column} within {class_}: {n} rows; looked at is {level}.",
        {"column": column, "class_": class_, "n": counted(n), "level": levels[s]},
    )
    return Chain("laplace", subject, tuple(lines), "7.20" if bool((a == 1).all()) else "")


def _short(numbers: Array, most: int = 6) -> list[str]:
    shown = [counted(v) for v in numbers[:most]]
    return [*shown, r"\dots"] if len(numbers) > most else shown


def _one_more(a: Array, s: int) -> Array:
    up = a.copy()
    up[s] += 1.0
    return up


def _log_beta(a: Array) -> float:
    """ln B(α) of the parameters above 0."""
    a = a[a > 0]
    return float(gammaln(a).sum() - gammaln(a.sum()))


def _ratio(log_value: float) -> float:
    return float(exp(log_value))


def _dirichlet(a: Array, theta: Array) -> float:
    """ln of the Dirichlet density but for what does not depend on θ."""
    return float(xlogy(a - 1.0, theta).sum())


def _one_by_one(n_s: Array, a: Array) -> float:
    """Σ ln P(row | rows before it), the rows sorted by their level; weights that are no counts by the gamma function of
    the standard library."""
    whole = bool((n_s == np.round(n_s)).all()) and n_s.sum() <= MOST_DRAWS
    if not whole:
        return sum(math.lgamma(v + m) - math.lgamma(v) for v, m in zip(a, n_s, strict=True) if m > 0) - (
            math.lgamma(a.sum() + n_s.sum()) - math.lgamma(a.sum())
        )
    above = sum(float(np.log(v + np.arange(int(m))).sum()) for v, m in zip(a, n_s, strict=True) if m > 0)
    return above - float(np.log(a.sum() + np.arange(int(n_s.sum()))).sum())
