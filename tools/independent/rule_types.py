"""Types of formulas and the arithmetic of each (docs/spec/rules.md, Types, Uniform numbers, Operators and functions)."""

import math
import operator
from typing import NamedTuple

import nearest
from arithmetic import ONE, Fault, f32, fits, fixed_div, fixed_mod, fixed_mul, fixed_sqrt
from murk import Refused

# Where a part of a formula stands: at the cell; in a neighbour term; in `at`; in `own` in one of the two; in a let that a
# neighbour term uses.
CELL, TERM, AT, OWN, LET = "cell", "term", "at", "own", "let"


class Type(NamedTuple):
    """What a formula gives. A uniform number is a float64, any other a float32; a category is its number."""

    kind: str               # number, fixed, category, boolean
    uniform: bool = False
    n: int = 0              # how many components a vector has; 0: it is none
    values: tuple = ()      # the names of a category


NUMBER, FIXED, BOOLEAN = Type("number"), Type("fixed"), Type("boolean")


def is_category(x, n):
    return 0 <= x < n and x == int(x)


def rounded(value):
    """A function that gives float32 numbers."""
    return lambda here, own, step: f32(value(here, own, step))


def fixed_from(x):
    """fixed(x)."""
    if not math.isfinite(x) or not math.isfinite(x * ONE):
        raise Fault(f"{x} is no fixed number")
    return fits(round(x * ONE))


def converted(value):
    """A function that gives fixed numbers."""
    return lambda here, own, step: fixed_from(value(here, own, step))


def single(pair):
    """A number as it meets one that is not uniform."""
    type, value = pair
    if type.kind == "number" and type.uniform:
        value = rounded(value)
    return type._replace(uniform=False), value


def unify(pairs, what, uniform=True):
    """The type in which several meet, and all in that type. If one is not uniform, none is."""
    types = [type for type, _ in pairs]
    if any(type.kind == "fixed" for type in types):
        pairs = [(FIXED, converted(value)) if type == Type("number", True) else (type, value) for type, value in pairs]
    elif not uniform or not all(type.uniform for type in types):
        pairs = [single(pair) for pair in pairs]
    types = {type._replace(uniform=False) for type, _ in pairs}
    if len(types) != 1:
        raise Refused(f"{what}: the types {types} do not meet")
    return pairs[0][0], pairs


# Numbers. In float64; who computes with float32 rounds the result.

def divide(a, b):
    if b:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def remainder(a, b):
    """mod(a, b)."""
    if b == 0 or math.isinf(a) or a != a or b != b:
        return math.nan
    r = math.fmod(a, b)
    if r == 0:
        return math.copysign(0.0, b)
    return r + b if (r < 0) != (b < 0) else r


def floor(x):
    return float(math.floor(x)) if x and math.isfinite(x) else x


def root(x):
    return math.nan if x < 0 else math.sqrt(x)


def least(a, b):
    return b if b < a else a


def most(a, b):
    return b if b > a else a


def whole_float32(x):
    """The float32 nearest to a fixed number."""
    drop = max(abs(x).bit_length() - 24, 0)
    if drop:
        whole, rest = divmod(x, 1 << drop)
        half = 1 << drop - 1
        x = (whole + (rest > half or rest == half and whole & 1)) << drop
    return x / ONE


REAL = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": divide, "negative": operator.neg, "mod": remainder,
        "abs": abs, "floor": floor, "sqrt": root, "min": least, "max": most}
WHOLE = {"+": lambda a, b: fits(a + b), "-": lambda a, b: fits(a - b), "*": fixed_mul, "/": fixed_div,
         "negative": lambda a: fits(-a), "mod": fixed_mod, "abs": lambda a: fits(abs(a)),
         "floor": lambda a: a >> 16 << 16, "sqrt": fixed_sqrt, "min": least, "max": most}


def arithmetic(op, type):
    """The operation on numbers of a type, each result rounded to it."""
    if type.kind == "fixed":
        return WHOLE[op]
    real = REAL[op]
    if type.uniform:
        return real
    return lambda *arguments: f32(real(*arguments))


def dot(element, u, v):
    """From component 0, added from the left."""
    plus, times = arithmetic("+", element), arithmetic("*", element)
    total = times(u[0], v[0])
    for a, b in zip(u[1:], v[1:]):
        total = plus(total, times(a, b))
    return total


ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
NEAREST = {"exp": 1, "log": 1, "sin": 1, "cos": 1, "tanh": 1, "pow": 2}


def function(name):
    """One of the functions that give the nearest float32."""
    return lambda *arguments: nearest.function(name, *arguments)
