"""The derivation of EM's lower bound, with the numbers of one step of a Gaussian mixture: it touches the log-likelihood
after a soft E step, and rises with the M step; after a hard one a gap is left.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import xlogy

from bayes_engine.em import EMTrace
from bayes_engine.errors import TableError
from bayes_engine.language import Listing, Message
from bayes_engine.logspace import Array, log, log_sum, normalize
from bayes_engine.models.mixture_components import MixtureParameters
from bayes_engine.workbench.derivation.chains.chain import Chain, Line, checked, plus, value
from bayes_engine.workbench.derivation.chains.discriminant import gaussian_logs


def mixture_joint(theta: MixtureParameters, X: Array) -> Array:
    """(n, K) ln p(x, k) of rows whose missing cells (NaN) are integrated out."""
    joint = np.zeros((len(X), len(theta.weights)))
    seen = ~np.isnan(X)
    for pattern in np.unique(seen, axis=0):
        rows = (seen == pattern).all(axis=1)
        if pattern.any():
            for k, (mean, covariance) in enumerate(zip(theta.means, theta.full(), strict=True)):
                own = covariance[np.ix_(pattern, pattern)]
                joint[rows, k] = gaussian_logs(X[rows][:, pattern], mean[pattern], own)
    return np.asarray(joint + log(theta.weights))


def em_chain(trace: EMTrace[MixtureParameters], X: Array, columns: Sequence[str], t: int) -> Chain:
    """From step `t` of a run to the next, on the rows X (n, d). Raises TableError where no step leads on from there."""
    if not 0 <= t < len(trace.steps) - 1:
        raise TableError("this run of EM has no step to follow: it ends where it begins")
    now, after = trace.steps[t], trace.steps[t + 1]
    joint, later = mixture_joint(now.parameters, X), mixture_joint(after.parameters, X)
    n, K = joint.shape
    logs, later_logs = log_sum(joint, axis=1), log_sum(later, axis=1)
    exact, later_exact = normalize(joint), normalize(later)
    even = np.full((n, K), 1.0 / K)
    q, later_q = (_hard(joint), _hard(later)) if trace.hard else (exact, later_exact)
    total, later_total = float(logs.sum()), float(later_logs.sum())

    def expected(q_: Array, of: Array) -> float:
        return float(np.where(q_ > 0, q_ * np.where(q_ > 0, of, 0.0), 0.0).sum())

    def entropy(q_: Array) -> float:
        return -float(xlogy(q_, q_).sum())

    def divergence(q_: Array, p_log: Array) -> float:
        return float((xlogy(q_, q_) - np.where(q_ > 0, q_ * np.where(q_ > 0, p_log, 0.0), 0.0)).sum())

    given, later_given = joint - logs[:, None], later - later_logs[:, None]
    Q, Q_after, H = expected(q, joint), expected(q, later), entropy(q)
    bound, risen = Q + H, Q_after + H
    prior, prior_after = now.log_prior, after.log_prior
    gap = divergence(q, given)
    later_gap = divergence(q, later_given)
    even_Q, even_H, even_gap = expected(even, joint), entropy(even), divergence(even, given)
    size = n * (1.0 + max(float(np.abs(logs).max()), float(np.abs(joint[np.isfinite(joint)]).max())))
    size *= float(max(np.linalg.cond(c) for c in (*now.parameters.full(), *after.parameters.full())))
    with_prior = bool(prior or prior_after)
    lines = [
        Line(
            (r"\log p(X\mid\Theta)", r"\quad=\sum_i\ln\sum_k\pi_k\,N(x_i;\mu_k,\Sigma_k)"),
            (rf"\log p(X\mid\Theta_{{{t}}})={value(total)}",),
            Message(
                "What is to be made large: the sum over the hidden component stands inside the logarithm, so "
                "the zeros of its derivative have no closed form."
            ),
            checked(total, now.log_likelihood, size),
        ),
        Line(
            (
                r"\log p(X\mid\Theta)=F(q,\Theta)",
                r"\quad+\,\mathrm{KL}\big(q\,\Vert\,P(Z\mid X,\Theta)\big)",
                r"F=\mathbb{E}_q[\ln p(X,Z\mid\Theta)]+H(q)",
            ),
            (rf"q=\tfrac1{{{K}}}:\;{plus([value(even_Q), value(even_H), value(even_gap)])}", rf"={value(total)}"),
            Message(
                "For any distribution q of the hidden components, as $p(X,Z)=P(Z\\mid X)\\,p(X)$; here with q "
                "the same for all."
            ),
            checked(even_Q + even_H + even_gap, total, size),
        ),
        Line(
            (r"\mathrm{KL}\ge 0\;\Rightarrow\;F(q,\Theta)\le\log p(X\mid\Theta)",),
            (rf"{value(even_Q + even_H)}\le {value(total)}",),
            Message("So F is a lower bound, whatever q is; what is missing is the divergence."),
            checked(even_Q + even_H, total, size, at_most=True),
        ),
        _touching(t, K, (Q, H, total, gap), size, hard=trace.hard),
        Line(
            (
                r"\Theta_{t+1}=\arg\max_\Theta\;Q(\Theta)" + (r"+\log p(\Theta)" if with_prior else ""),
                r"Q(\Theta)=\mathbb{E}_{q_t}[\ln p(X,Z\mid\Theta)]",
            ),
            (
                (rf"Q(\Theta_{{{t + 1}}})={value(Q_after)}\ge {value(Q)}",)
                if not with_prior
                else (rf"{value(Q_after)}+({value(prior_after)})", rf"\ge {value(Q)}+({value(prior)})")
            ),
            Message(
                "M step: q stays, Θ moves. Q is a supervised log-likelihood with rows counted in shares; H "
                "does not depend on Θ."
            ),
            checked(Q + prior, Q_after + prior_after, size, at_most=True),
        ),
    ]
    if trace.hard:
        lines += _hard_rise(t, (bound, risen, expected(later_q, later)), (prior, prior_after), size)
    else:
        rise, kl = Q_after - Q, later_gap
        lines += [
            Line(
                (
                    r"\log p(X\mid\Theta_{t+1})\ge F(q_t,\Theta_{t+1})",
                    r"\quad\ge F(q_t,\Theta_t)=\log p(X\mid\Theta_t)",
                )
                if not with_prior
                else (r"\log p(X\mid\Theta_{t+1})\ge F(q_t,\Theta_{t+1})",),
                (rf"{value(later_total)}\ge {value(risen)}" + ("" if with_prior else rf"\ge {value(total)}"),),
                Message(
                    "The bound has risen, and the log-likelihood lies above it, so it has risen too: EM never falls."
                )
                if not with_prior
                else Message(
                    "The bound with the prior's logarithm has risen, and the posterior's lies above it: what never "
                    "falls is log p(X | Θ) + log p(Θ)."
                ),
                checked([risen, total + prior], [later_total, later_total + prior_after], size, at_most=True),
            ),
            Line(
                (
                    r"\log p(X\mid\Theta_{t+1})-\log p(X\mid\Theta_t)",
                    r"\quad=Q(\Theta_{t+1})-Q(\Theta_t)+\mathrm{KL}(q_t\,\Vert\,q_{t+1})",
                ),
                (rf"{value(later_total - total, size)}={plus([value(rise, size), value(kl, size)])}",),
                Message("By how much: the rise of Q, and the gap that the next E step closes."),
                checked(later_total - total, rise + kl, size),
            ),
        ]
    subject = Message(
        "{n} rows of {columns}, K = {k} components; iteration {t}, as the player above stands (the "
        "first where it stands at its end). Nats.",
        {"n": n, "columns": Listing(columns), "k": K, "t": t},
    )
    return Chain("em", subject, tuple(lines), "7.36–7.37")


def _touching(t: int, K: int, terms: tuple[float, float, float, float], size: float, *, hard: bool) -> Line:
    Q, H, total, gap = terms
    if hard:
        return Line(
            (r"q_t:\;z^*_i=\arg\max_k P(k\mid x_i,\Theta_t),\quad H=0", r"\log p-F=-\sum_i\ln P(z^*_i\mid x_i)"),
            (rf"{value(total)}-({value(Q)})={value(gap, size)}",),
            Message(
                "Hard E step: all of q on the best component. The bound does not touch: the gap is what the "
                "best component leaves open."
            ),
            checked(total - Q, gap, size),
        )
    return Line(
        (r"q_t=P(Z\mid X,\Theta_t)\;\Rightarrow", r"F(q_t,\Theta_t)=\log p(X\mid\Theta_t)"),
        (rf"Q+H={plus([value(Q), value(H)])}={value(Q + H)}",),
        Message("E step: with the true posterior as q the divergence is 0, and the bound touches."),
        checked(Q + H, total, size),
    )


def _hard_rise(t: int, bounds: tuple[float, float, float], priors: tuple[float, float], size: float) -> list[Line]:
    bound, risen, again = bounds
    prior, prior_after = priors
    return [
        Line(
            (r"F(q_{t+1},\Theta_{t+1})\ge F(q_t,\Theta_{t+1})\ge F(q_t,\Theta_t)",),
            (rf"{value(again)}\ge {value(risen)}\ge {value(bound)}",)
            if not (prior or prior_after)
            else (rf"{value(again + prior_after)}\ge {value(risen + prior_after)}\ge {value(bound + prior)}",),
            Message(
                "The M step and the next hard E step each raise F, the classification likelihood: that never "
                "falls. Of log p(X | Θ) nothing is promised."
            ),
            checked([bound + prior, risen], [risen + prior_after, again], size, at_most=True),
        )
    ]


def _hard(joint: Array) -> Array:
    q = np.zeros(joint.shape)
    q[np.arange(len(joint)), joint.argmax(axis=1)] = 1.0
    return q
