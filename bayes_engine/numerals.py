"""Numbers as they are written for a person: by one rule wherever they stand."""

from __future__ import annotations

import math

DIGITS = 4


def number(value: float, digits: int = DIGITS) -> str:
    """As a textbook prints it: `digits` decimals from a hundredth up to ten, `digits` significant digits elsewhere, as
    a power of ten where that would be long.

    >>> number(0.375), number(1.95899), number(0.0662198), number(6.8584e-05), number(0.0523787, 6), number(0.0)
    ('0.3750', '1.9590', '0.0662', '6.858e-05', '0.052379', '0')
    """
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "–"
    place = math.floor(math.log10(abs(value)))
    if place < -3 or place > 6:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(digits + 2 if place == -3 else digits - max(place, 0), 0)}f}"


def number_of_log(log_value: float, digits: int = DIGITS) -> str:
    """`number` of exp(log_value), also where that is too small or too large for a float.

    >>> number_of_log(-1000.0), number_of_log(0.0), number_of_log(-float("inf"))
    ('5.076e-435', '1.0000', '0')
    """
    from bayes_engine.logspace import exp  # it takes NumPy, which whoever writes a number need not have

    if abs(log_value) < 700 or math.isinf(log_value):
        return number(float(exp(log_value)), digits)
    power = math.floor(log_value / math.log(10))
    mantissa = f"{float(exp(log_value - power * math.log(10))):.{digits - 1}f}"
    return f"{mantissa}e{power:+03d}"


def certain(p: float, digits: int = DIGITS) -> str:
    """A probability: as many digits as asked for, and more where it would be rounded to 1.

    >>> certain(0.998692), certain(0.9999998029), certain(1.0)
    ('0.9987', '0.9999998', '1.0000')
    """
    text = number(p, digits)
    if p < 1 and float(text) == 1:
        return f"{p:.{math.ceil(-math.log10(1.0 - p))}f}"
    return text


def p_value(p: float, *, is_bound: bool = False, equals: str = "") -> str:
    """A p-value; a bound where no resample came to as much as what was observed. `equals` stands before another.

    >>> p_value(0.04361), p_value(0.0005, is_bound=True), p_value(0.0)
    ('0.0436', '≤ 0.0005', '< 1e-300')
    """
    return ("≤ " if is_bound else equals) + f"{p:.3g}" if p > 0 else "< 1e-300"


def signed(nats: float, decimals: int = 2) -> str:
    """A weight or a difference with its sign, in so many decimals; a power of ten where it would be long.

    >>> signed(1.2), signed(-0.40547, 3), signed(float("-inf")), signed(12345.6)
    ('+1.20', '−0.405', '−∞', '+1.2e+04')
    """
    if math.isinf(nats):
        return "+∞" if nats > 0 else "−∞"
    return (f"{nats:+.{decimals}f}" if abs(nats) < 1e4 else f"{nats:+.{decimals}g}").replace("-", "−")


def plain(value: float) -> str:
    """A measured number or a moment: six significant digits, no needless zeros.

    >>> plain(110.0), plain(0.57375), plain(0.01669535714), plain(2975.0)
    ('110', '0.57375', '0.0166954', '2975')
    """
    return f"{value:.6g}"


def near(value: float, scale: float) -> str:
    """`value` to four digits of the `scale` it varies on: what a mean needs beside its standard deviation.

    >>> near(0.57375, 0.12921), near(1e9 + 0.25, 1.0), near(110.0, 54.5436)
    ('0.57375', '1000000000.25', '110')
    """
    places = 4 - math.floor(math.log10(scale)) if scale > 0 else 99
    text = f"{value:.{max(places, 0)}f}" if places <= 15 else f"{value:.10g}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def count(value: float) -> str:
    """A count without a needless decimal point.

    >>> count(3.0), count(2.5)
    ('3', '2.5')
    """
    return f"{value:.10g}"
