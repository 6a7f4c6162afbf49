#!/usr/bin/env python3
"""Exact values of the coefficients of the exponential map, for test/math/test_so3.c.

make_so3_table.py | clang-format > test/math/so3_table.h       (needs mpmath)

Angles are doubles and taken exactly; values are computed with 60 digits and rounded once.
"""
import math
import sys

from mpmath import cos, mp, mpf, sin, tan

mp.dps = 60

PI = math.pi
SWITCH = 2.5  # between series and closed form in src/num/rotation.c

ANGLES = sorted(
    [10.0 ** -n for n in (100, 9, 5, 4, 3, 2, 1)]
    + [0.05 * n for n in range(1, 126)]
    + [PI / 2, math.nextafter(SWITCH, 0), math.nextafter(SWITCH, 9)]
    + [PI - 1e-6, math.nextafter(PI, 0), PI, math.nextafter(PI, 9), PI + 1e-6]
    + [2 * PI - 1e-3, 2 * PI - 1e-6, math.nextafter(2 * PI, 0)]
)

HEADER = """\
// Made by tools/tables/make_so3_table.py; do not edit.
#ifndef POISE_TEST_SO3_TABLE_H
#define POISE_TEST_SO3_TABLE_H

// theta; a, b, c, db, dc as in num/rotation.h; theta/2 cot(theta/2). Correctly rounded.
static const double so3_table[][7] = {"""


def taylor(theta, first, weight):
    """sum_j (-1)^j theta^(2j) weight(j) / (2j + first)!: no cancellation for small angles."""
    total, j = mpf(0), 0
    while True:
        term = (-1) ** j * theta ** (2 * j) * weight(j) / mp.factorial(2 * j + first)
        if abs(term) < mpf(10) ** -70:
            return total
        total, j = total + term, j + 1


def row(angle):
    t = mpf(angle)
    x = t * t
    if t < 1:
        a = taylor(t, 1, lambda j: 1)
        b = taylor(t, 2, lambda j: 1)
        c = taylor(t, 3, lambda j: 1)
        db = taylor(t, 4, lambda j: -2 * (j + 1))
        dc = taylor(t, 5, lambda j: -2 * (j + 1))
    else:
        a = sin(t) / t
        b = (1 - cos(t)) / x
        c = (t - sin(t)) / (x * t)
        db = (a - 2 * b) / x
        dc = (b - 3 * c) / x
    return [angle] + [float(value) for value in (a, b, c, db, dc, t / 2 / tan(t / 2))]


def main():
    print(HEADER)
    for angle in ANGLES:
        print("    {" + ", ".join(repr(value) for value in row(angle)) + "},")
    print("};\n\n#endif")
    return 0


if __name__ == "__main__":
    sys.exit(main())
