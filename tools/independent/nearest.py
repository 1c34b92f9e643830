"""exp, log, sin, cos, tanh and pow of float32: the float32 nearest to the true value (docs/spec/rules.md, Operators and
functions).

The library's float64 decides, if all numbers within 2^-40 of it round to the same float32; else as many digits as are
needed. They are other functions than those of arithmetic.py, which other components use.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from arithmetic import f32

DIGITS = 90
NEAR = 2.0**-40
EXACT = Fraction(1, 10**60)  # nearer to a tie than this is a tie


def _sides(y, bound):
    """The float32 of the least and the greatest number that y can mean."""
    return f32(y - abs(y) * bound), f32(y + abs(y) * bound)


def nearest(exact):
    """The float32 nearest to a fraction, ties to even."""
    if exact < 0:
        return -nearest(-exact)
    if exact == 0:
        return 0.0
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if exact < Fraction(2)**exponent:
        exponent -= 1
    unit = Fraction(2)**(max(exponent, -126) - 23)
    whole, rest = divmod(exact / unit, 1)
    off = rest - Fraction(1, 2)
    up = whole % 2 == 1 if abs(off) < EXACT * max(whole, 1) else off > 0
    value = (whole + up) * unit
    return math.inf if value >= 2**128 else float(value)


@lru_cache
def _pi():
    """π, by Machin's formula, with digits for the reduction of the greatest float32."""
    def arctan_of_inverse(n):
        total, power, k = 0, 10**(2 * DIGITS) // n, 1
        while power:
            total += power // k if k % 4 == 1 else -(power // k)
            power, k = power // (n * n), k + 2
        return total
    return Fraction(4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)), 10**(2 * DIGITS))


def _sine(x, quarter):
    """sin(x + quarter·π/2), from its series."""
    turns = round(Fraction(x) / (_pi() / 2))
    r = Fraction(x) - turns * (_pi() / 2)
    r = Fraction(round(r * 10**(DIGITS + 30)), 10**(DIGITS + 30))
    quarter = (turns + quarter) % 4
    total, term, k = Fraction(0), Fraction(1) if quarter % 2 else r, 1 if quarter % 2 else 2
    while abs(term) > Fraction(1, 10**DIGITS) * abs(total):
        total += term
        term = Fraction(round(-term * r * r / (k * (k + 1)) * 10**(DIGITS + 80)), 10**(DIGITS + 80))
        k += 2
    return -total if quarter >= 2 else total


def _decimal(compute):
    """A fraction that is computed with Python's decimal numbers."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = DIGITS, -10**6, 10**6
        return Fraction(compute())


def _tanh(x):
    double = (Decimal(x) * 2).exp()
    return (double - 1) / (double + 1)


def _power(a, b):
    y = _decimal(lambda: Decimal(abs(a)) ** Decimal(b))
    return -y if a < 0 and b % 2 == 1 else y


_SLOW = {"exp": lambda x: _decimal(Decimal(x).exp), "log": lambda x: _decimal(Decimal(x).ln),
         "sin": lambda x: _sine(x, 0), "cos": lambda x: _sine(x, 1), "tanh": lambda x: _decimal(lambda: _tanh(x)),
         "pow": _power}


def _library(name, arguments):
    """The result in about float64, with the special cases of C99."""
    try:
        return getattr(math, name)(*arguments)
    except OverflowError:
        return -math.inf if name == "pow" and arguments[0] < 0 and arguments[1] % 2 == 1 else math.inf
    except ValueError:  # a pole or no number
        if name == "log":
            return -math.inf if arguments[0] == 0 else math.nan
        if name == "pow" and arguments[0] == 0:
            return math.copysign(math.inf, arguments[0]) if arguments[1] % 2 == 1 else math.inf
        return math.nan


@lru_cache(1 << 16)
def _compute(name, arguments, signs):
    y = _library(name, arguments)
    low, high = _sides(y, NEAR)
    if low == high or y != y or math.isinf(y):
        return f32(y)
    return nearest(_SLOW[name](*arguments))


def function(name, *arguments):
    """The function of numbers, which are rounded to float32 first."""
    arguments = tuple(map(f32, arguments))
    return _compute(name, arguments, tuple(math.copysign(1, x) for x in arguments))
