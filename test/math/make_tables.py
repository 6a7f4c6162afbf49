#!/usr/bin/env python3
"""Exact values for the tests of trigonometry and of the exponential map, as headers: make_tables.py FOLDER

trig_table.h   arguments of sine, cosine and atan2 with their values as sums of two doubles. The arguments are the hard ones (next to
               multiples of pi/2, at the seams of the methods, tiny, huge) and random ones from a fixed seed.
so3_table.h    the coefficients of the exponential map; angles are doubles and taken exactly, values are rounded once.

Python's decimals alone, with digits enough: sin(2^1023) takes 308 of pi before the point and 20 for the nearest approach to a
multiple of pi/2, before the 32 of the result.
"""
import decimal
import math
import os
import random
import sys
from decimal import Decimal as D

decimal.getcontext().prec = 440
DRAW = random.Random(20)


# ---- Functions of decimals -----------------------------------------------------------------------------------------------

def series(term, factor):
    """term (1 + f(1) (1 + f(2) (1 + ...))), where factor(k) = f(k)."""
    total, k = D(0), 0
    while term and (not total or term.adjusted() > total.adjusted() - 440):
        total += term
        k += 1
        term = term * factor(k)
    return total


def arctan(z):
    """By halving, atan z = 2 atan(z / (1 + sqrt(1 + z^2))), until its series is quick."""
    halvings = 0
    while abs(z) > D("0.05"):
        z = z / (1 + (1 + z * z).sqrt())
        halvings += 1
    return 2 ** halvings * series(z, lambda k: -z * z * (2 * k - 1) / (2 * k + 1))


def machin(n):
    """atan(1 / n) to all digits."""
    total, term, k = D(0), D(1) / n, 0
    while total + term / (2 * k + 1) != total:
        total += (-1) ** k * term / (2 * k + 1)
        term /= n * n
        k += 1
    return total


PI = 16 * machin(5) - 4 * machin(239)


def sin_cos(x):
    x = D(x)
    quarter = int((x * 2 / PI).to_integral_value())
    r = x - quarter * PI / 2
    sine = series(r, lambda k: -r * r / (2 * k * (2 * k + 1)))
    cosine = series(D(1), lambda k: -r * r / (2 * k * (2 * k - 1)))
    return [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][quarter % 4]


def atan2(y, x):
    y, x = D(y), D(x)
    if abs(y) <= abs(x):
        return arctan(y / x) + (0 if x > 0 else PI.copy_sign(y))
    return (PI / 2).copy_sign(y) - arctan(x / y)


# ---- Arguments -----------------------------------------------------------------------------------------------------------

def uniform(lower, upper):
    return lower + (upper - lower) * (DRAW.getrandbits(53) / 2 ** 53)


def any_in_binade(e):
    return math.ldexp(2 ** 52 + DRAW.getrandbits(52), e - 52) * DRAW.choice((1, -1))


def neighbours(x, reach):
    """The doubles from reach below to reach above the double next to x."""
    x = float(x)
    unit = math.ldexp(1.0, math.frexp(x)[1] - 53)
    return [float(D(x) + k * D(unit)) for k in range(-reach, reach + 1)]


def hardest_in_binades(first, last):
    """For each e the m < 2^53 for which m 2^e comes nearest to a multiple of pi/2: convergents of 2^e 2/pi."""
    found = set()
    for e in range(first, last + 1):
        alpha = D(2) ** e * 2 / PI
        p0, q0, p1, q1, x = 0, 1, 1, 0, alpha
        while q1 < 2 ** 53:
            best = (p1, q1)
            a = int(x.to_integral_value(decimal.ROUND_FLOOR))
            p0, q0, p1, q1 = p1, q1, a * p1 + p0, a * q1 + q0
            x = 1 / (x - a)
        if best[0] > 0 and abs(best[1] * alpha - best[0]) < D(2) ** -56:
            found.add(math.ldexp(best[1], e))
    return sorted(found)


def angles():
    x = [0.0, 5e-324, 2.0 ** -1022, 1e-310, 1e-300, 1e-160, 1e-20, 1e-10, 1e-8, 2.0 ** -27, 2.0 ** -26, 1e-5]
    x += [1.7976931348623157e308]
    x += [any_in_binade(e) for e in range(-30, 40)] + [any_in_binade(e) for e in range(41, 1024, 5)]
    x += hardest_in_binades(-53, 971)
    for k in range(1, 25):
        x += neighbours(k * PI / 4, 1)
    limit = 8192 * PI / 2  # the fast reduction ends here
    for k in (D("-0.5"), 0, D("0.5")):
        x += neighbours(limit + k * PI / 2, 1) + neighbours(-(limit + k * PI / 2), 1)
    x += [float(limit + D(uniform(-4, 4))) for _ in range(20)]
    x += [uniform(-3.2, 3.2) for _ in range(150)] + [uniform(-12860, 12860) for _ in range(100)]
    # the least accurate place: reduced arguments next to pi/4
    x += [float((DRAW.randrange(-4000, 4000) + D("0.5")) * PI / 2 * (1 + D(uniform(-1e-6, 1e-6)))) for _ in range(200)]
    return x


def points():
    yx = [(uniform(-1, 1), uniform(-1, 1)) for _ in range(200)]
    yx += [(uniform(-1, 1), uniform(-1, 1) * 2.0 ** DRAW.randrange(-70, 70)) for _ in range(150)]
    yx += [(any_in_binade(DRAW.randrange(-1022, 1024)), any_in_binade(DRAW.randrange(-1022, 1024))) for _ in range(40)]
    yx += [(any_in_binade(DRAW.randrange(1020, 1024)), any_in_binade(DRAW.randrange(1020, 1024))) for _ in range(30)]
    for _ in range(60):  # subnormal
        y, x = DRAW.getrandbits(DRAW.randrange(1, 52)), 1 + DRAW.getrandbits(DRAW.randrange(1, 52))
        yx.append((y * 5e-324, x * -5e-324))
    for k in range(34):  # both ends of each interval of the table
        for edge in (k / 32, (k + 0.4999999) / 32, (k + 0.5000001) / 32):
            x = uniform(0.5, 1)
            yx += [(x * edge, x), (x, -x * edge)]
    return yx


SWITCH = 2.5  # between series and closed form in src/num/rotation.c
ROTATIONS = sorted(
    [10.0 ** -n for n in (100, 9, 5, 4, 3, 2, 1)]
    + [0.05 * n for n in range(1, 126)]
    + [math.pi / 2, math.nextafter(SWITCH, 0), math.nextafter(SWITCH, 9)]
    + [math.pi - 1e-6, math.nextafter(math.pi, 0), math.pi, math.nextafter(math.pi, 9), math.pi + 1e-6]
    + [2 * math.pi - 1e-3, 2 * math.pi - 1e-6, math.nextafter(2 * math.pi, 0)]
)


def coefficients(angle):
    """a = sin t / t, b = (1 - cos t) / t^2, c = (t - sin t) / t^3, db and dc of num/rotation.h, and t/2 cot(t/2)."""
    t = D(angle)
    x = t * t

    def taylor(first, weight):
        """sum_j (-1)^j t^(2j) weight(j) / (2j + first)!: nothing cancels"""
        return series(D(weight(0)) / math.factorial(first),
                      lambda j: -x * weight(j) / weight(j - 1) / ((2 * j + first) * (2 * j + first - 1)))

    sine, cosine = sin_cos(t / 2)
    return [float(value) for value in (taylor(1, lambda j: 1), taylor(2, lambda j: 1), taylor(3, lambda j: 1),
                                       taylor(4, lambda j: -2 * (j + 1)), taylor(5, lambda j: -2 * (j + 1)), t / 2 * cosine / sine)]


# ---- Headers -------------------------------------------------------------------------------------------------------------

def two_doubles(value):
    high = float(value)
    return high, float(value - D(high))


def write(folder, name, rows):
    """A table of each (declaration, rows of doubles)."""
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        guard = "TEST_" + name.upper().replace(".", "_")
        print(f"// Written by test/math/make_tables.py.\n#ifndef {guard}\n#define {guard}", file=file)
        for declaration, table in rows:
            print(f"\nstatic const {declaration} = {{", file=file)
            for row in table:
                print("    {" + ", ".join(float(value).hex() for value in row) + "},", file=file)
            print("};", file=file)
        print("\n#endif", file=file)


def main(folder):
    write(folder, "trig_table.h", [
        ("struct {\n    double x, sine, sine_lo, cosine, cosine_lo;\n} SINCOS_TABLE[]",
         [(x, *two_doubles(sine), *two_doubles(cosine)) for x in angles() for sine, cosine in [sin_cos(x)]]),
        ("struct {\n    double y, x, angle, angle_lo;\n} ATAN2_TABLE[]", [(y, x, *two_doubles(atan2(y, x))) for y, x in points()]),
    ])
    write(folder, "so3_table.h", [("double so3_table[][7]",
                                   [(angle, *coefficients(angle)) for angle in ROTATIONS])])


if __name__ == "__main__":
    main(sys.argv[1])
