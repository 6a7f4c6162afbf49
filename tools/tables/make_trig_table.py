#!/usr/bin/env python3
"""Write test/math/trig_table.h: arguments of sine, cosine and atan2 with their exact values as sums of two doubles.

    tools/tables/make_trig_table.py > test/math/trig_table.h

Needs mpmath. The arguments are the hard ones (next to multiples of pi/2, at the seams of the methods, tiny, huge) and
random ones from a fixed seed.
"""
import random
from mpmath import mp, mpf, pi, sin, cos, atan2, floor, ldexp

mp.prec = 1400  # a double of 2^1023 needs 1024 bits of pi before the point, 60 for the nearest approach, 106 for the result
DRAW = random.Random(20)


def uniform(lower, upper):
    return lower + (upper - lower) * (DRAW.getrandbits(53) / 2 ** 53)


def any_in_binade(e):
    return float(ldexp(mpf(2 ** 52 + DRAW.getrandbits(52)), e - 52)) * DRAW.choice((1, -1))


def neighbours(x, reach):
    """The doubles from reach below to reach above the double next to x."""
    x = float(x)
    unit = mpf(2) ** (int(floor(mp.log(abs(mpf(x)), 2))) - 52)
    return [float(mpf(x) + k * unit) for k in range(-reach, reach + 1)]


def hardest_in_binades(first, last):
    """For each e the m < 2^53 for which m 2^e comes nearest to a multiple of pi/2: convergents of 2^e 2/pi."""
    found = set()
    for e in range(first, last + 1):
        alpha = ldexp(2 / pi, e)
        p0, q0, p1, q1, x = 0, 1, 1, 0, alpha
        while q1 < 2 ** 53:
            best = (p1, q1)
            a = int(floor(x))
            p0, q0, p1, q1 = p1, q1, a * p1 + p0, a * q1 + q0
            x = 1 / (x - a)
        if best[0] > 0 and abs(best[1] * alpha - best[0]) < mpf(2) ** -56:
            found.add(float(ldexp(mpf(best[1]), e)))
    return sorted(found)


def angles():
    x = [0.0, 5e-324, 2.0 ** -1022, 1e-310, 1e-300, 1e-160, 1e-20, 1e-10, 1e-8, 2.0 ** -27, 2.0 ** -26, 1e-5]
    x += [1.7976931348623157e308]
    x += [any_in_binade(e) for e in range(-30, 40)] + [any_in_binade(e) for e in range(41, 1024, 5)]
    x += hardest_in_binades(-53, 971)
    for k in range(1, 25):
        x += neighbours(k * pi / 4, 1)
    limit = 8192 * pi / 2  # the fast reduction ends here
    for k in (-0.5, 0, 0.5):
        x += neighbours(limit + k * pi / 2, 1) + neighbours(-(limit + k * pi / 2), 1)
    x += [float(limit + uniform(-4, 4)) for _ in range(20)]
    x += [uniform(-3.2, 3.2) for _ in range(150)] + [uniform(-12860, 12860) for _ in range(100)]
    # the least accurate place: reduced arguments next to pi/4
    x += [float((DRAW.randrange(-4000, 4000) + mpf(1) / 2) * pi / 2 * (1 + mpf(uniform(-1e-6, 1e-6)))) for _ in range(200)]
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


def two_doubles(value):
    hi = float(value)
    return hi, float(value - mpf(hi))


def number(x):
    """Hexadecimal, without the zeros at the end of the digits."""
    digits, exponent = float(x).hex().split("p")
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + "p" + exponent


def row(values):
    text = "    {" + ", ".join(number(v) for v in values) + "},"
    if len(text) > 125:
        cut = text.rindex(", ", 0, 110) + 1
        text = text[:cut] + "\n    " + text[cut:]
    return text


def main():
    print("// Written by tools/tables/make_trig_table.py. Exact values as sums of two doubles: value + value_lo.\n"
          "#ifndef POISE_TEST_TRIG_TABLE_H\n#define POISE_TEST_TRIG_TABLE_H\n\n// clang-format off\n\n"
          "static const struct {\n    double x, sine, sine_lo, cosine, cosine_lo;\n} SINCOS_TABLE[] = {")
    for x in angles():
        print(row((x, *two_doubles(sin(mpf(x))), *two_doubles(cos(mpf(x))))))
    print("};\n\nstatic const struct {\n    double y, x, angle, angle_lo;\n} ATAN2_TABLE[] = {")
    for y, x in points():
        print(row((y, x, *two_doubles(atan2(mpf(y), mpf(x))))))
    print("};\n\n// clang-format on\n\n#endif")


if __name__ == "__main__":
    main()
