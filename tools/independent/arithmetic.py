"""Numbers: float32, float64, fixed-point (docs/spec/arithmetic.md); how elements store them (state.md)."""

import math
import operator
import struct
from array import array
from ctypes import c_float
from itertools import repeat

ONE = 65536


class Fault(Exception):
    """Something that fails a tick (arithmetic.md, What stops a tick)."""


# One float32, and whole columns of them. Python computes in float64 and each result is rounded: that gives
# the same bits (arithmetic.md, Every operation is rounded by itself).

def f32(x):
    return c_float(x).value


def next_below(x):
    """The next lower float32 of one above 0."""
    return struct.unpack("<f", struct.pack("<I", struct.unpack("<I", struct.pack("<f", x))[0] - 1))[0]


def add(a, b):
    return array("f", map(operator.add, a, b))


def sub(a, b):
    return array("f", map(operator.sub, a, b))


def mul(a, b):
    return array("f", map(operator.mul, a, b))


def div(a, b):
    return array("f", map(operator.truediv, a, b))


def scale(k, a):
    return array("f", map(operator.mul, a, repeat(k)))


def signed(x):
    """A key that sorts -0 before +0."""
    return x, math.copysign(1, x)


def clamp(x, low, high):
    return min(max(x, low, key=signed), high, key=signed)


_EXP_TABLE = [tuple(map(float.fromhex, line.split())) for line in """
    0x1.0000000000000p+0 0
    0x1.059b0d3158574p+0 0x1.d73e2a475b465p-55
    0x1.0b5586cf9890fp+0 0x1.8a62e4adc610bp-54
    0x1.11301d0125b51p+0 -0x1.6c51039449b3ap-54
    0x1.172b83c7d517bp+0 -0x1.19041b9d78a76p-55
    0x1.1d4873168b9aap+0 0x1.e016e00a2643cp-54
    0x1.2387a6e756238p+0 0x1.9b07eb6c70573p-54
    0x1.29e9df51fdee1p+0 0x1.612e8afad1255p-55
    0x1.306fe0a31b715p+0 0x1.6f46ad23182e4p-55
    0x1.371a7373aa9cbp+0 -0x1.63aeabf42eae2p-54
    0x1.3dea64c123422p+0 0x1.ada0911f09ebcp-55
    0x1.44e086061892dp+0 0x1.89b7a04ef80d0p-59
    0x1.4bfdad5362a27p+0 0x1.d4397afec42e2p-56
    0x1.5342b569d4f82p+0 -0x1.07abe1db13cadp-55
    0x1.5ab07dd485429p+0 0x1.6324c054647adp-54
    0x1.6247eb03a5585p+0 -0x1.383c17e40b497p-54
    0x1.6a09e667f3bcdp+0 -0x1.bdd3413b26456p-54
    0x1.71f75e8ec5f74p+0 -0x1.16e4786887a99p-55
    0x1.7a11473eb0187p+0 -0x1.41577ee04992fp-55
    0x1.82589994cce13p+0 -0x1.d4c1dd41532d8p-54
    0x1.8ace5422aa0dbp+0 0x1.6e9f156864b27p-54
    0x1.93737b0cdc5e5p+0 -0x1.75fc781b57ebcp-57
    0x1.9c49182a3f090p+0 0x1.c7c46b071f2bep-56
    0x1.a5503b23e255dp+0 -0x1.d2f6edb8d41e1p-54
    0x1.ae89f995ad3adp+0 0x1.7a1cd345dcc81p-54
    0x1.b7f76f2fb5e47p+0 -0x1.5584f7e54ac3bp-56
    0x1.c199bdd85529cp+0 0x1.11065895048ddp-55
    0x1.cb720dcef9069p+0 0x1.503cbd1e949dbp-56
    0x1.d5818dcfba487p+0 0x1.2ed02d75b3707p-55
    0x1.dfc97337b9b5fp+0 -0x1.1a5cd4f184b5cp-54
    0x1.ea4afa2a490dap+0 -0x1.e9c23179c2893p-54
    0x1.f50765b6e4540p+0 0x1.9d3e12dd8a18bp-54
""".strip().splitlines()]


def exp(x):
    """arithmetic.md, exp."""
    if x > 709.782712893383973096:
        return math.inf
    if x < -745.2:
        return 0.0
    k = math.trunc(min(x, 710) * float.fromhex("0x1.71547652b82fep+5") + math.copysign(0.5, x))
    n, j = divmod(k, 32)
    r = (x - k * float.fromhex("0x1.62e42fefa0000p-6")) - k * float.fromhex("0x1.cf79abc9e3b3ap-45")
    p = 1 / 720 + r * (1 / 5040)
    for c in (1 / 120, 1 / 24, 1 / 6, 1 / 2):
        p = c + r * p
    p = r + (r * r) * p
    high, low = _EXP_TABLE[j]
    return math.ldexp(high + (low + high * p), n)


def log(x):
    """arithmetic.md, log, for x > 0."""
    m, k = math.frexp(x)
    if m < float.fromhex("0x1.6a09e667f3bcdp-1"):
        m, k = 2 * m, k - 1
    f = m - 1
    s = f / (2 + f)
    z = s * s
    w = z * z
    odd = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01
               + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)))
    even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    r = odd + even
    half = (0.5 * f) * f
    return k * 6.93147180369123816490e-01 - ((half - (s * (half + r) + k * 1.90821492927058770002e-10)) - f)


# Fixed-point numbers are ints in units of 1/65,536 (arithmetic.md, Fixed-point numbers).

def fits(x):
    """The number, if an int64 holds it."""
    if not -2**63 <= x < 2**63:
        raise Fault("a fixed-point number overflows")
    return x


def fixed_mul(x, y):
    return fits(x * y >> 16)


def fixed_div(x, y):
    if y == 0:
        raise Fault("a fixed-point number is divided by zero")
    return fits((x << 16) // y)


def fixed_mod(x, y):
    if y == 0:
        raise Fault("a fixed-point number is divided by zero")
    return x % y


def lerp(x, y, t):
    return fits(x + ((y - x) * t >> 16))


def fixed_sqrt(x):
    if x < 0:
        raise Fault("the square root of a fixed-point number below zero")
    return fits(math.isqrt(x << 16))


def hypot(x, y):
    return fits(math.isqrt(x * x + y * y))


def fixed_of(x):
    """A float64 in units, to the nearest, ties to even."""
    return round(x * ONE)


def quotient(x, y):
    """Division that drops the fraction, toward zero."""
    return x // y if (x >= 0) == (y > 0) else -(-x // y)


# Numbers in elements (state.md).

TYPECODES = {"float32": "f", "fixed": "q", "int32": "i", "uint64": "Q"}


def store(x, element, categories=0):
    """The float64 x as an element stores it, or None if it is refused."""
    if not math.isfinite(x):
        return None
    if categories and not (x == int(x) and 0 <= x < categories):
        return None
    if element == "float32":
        x = f32(x)
        return x if math.isfinite(x) else None
    if element == "fixed":
        x = round(float(x) * ONE) if abs(x) < 2**50 else int(x) * ONE
        return x if -2**63 <= x < 2**63 else None
    return int(x) if x == int(x) and -2**31 <= x < 2**31 else None


def bound(v, low, high, mode, element):
    """The element v within its bounds."""
    if low <= v and (v < high if mode == "wrap" else v <= high):
        return v
    real = element == "float32"
    if mode == "reflect":
        if v < low:
            v = f32(low + f32(low - v)) if real else 2 * low - v
        else:
            v = f32(high - f32(v - high)) if real else 2 * high - v
    elif mode == "wrap" and real:
        width, over = high - low, v - low
        over = over - math.floor(over / width) * width
        v = f32(low + over)
        v = low if v >= high else v
    elif mode == "wrap":
        v = low + (v - low) % (high - low)
    return clamp(v, low, high) if real else min(max(v, low), high)
