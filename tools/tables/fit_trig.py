#!/usr/bin/env python3
"""Print the constants of src/num/trig_kernel.h and the error bounds that its comments state.

    tools/tables/fit_trig.py

Needs mpmath. Everything is computed here with hundreds of bits; no constant is taken from another library.
"""
from mpmath import mp, mpf, pi, sin, cos, atan, sqrt, floor, nint, ldexp, log, lu_solve, matrix

COUNT_BITS = 13  # the fast reduction serves |n| <= 2^13 quarter turns
PART_BITS = 40   # bits in the first two parts of pi/2: 40 + 13 = 53, so n * part is exact
REDUCED = mpf("0.7854")  # |r| after the reduction: a little over pi/4
ARC_FIRST = 6    # atan(k/32) stands in the table from this k; below, the polynomial alone serves
ARC_REACH = mpf("0.172")  # and this is how far it reaches: (ARC_FIRST - 1/2)/32 = 0.1719


def to_double(x):
    """x rounded to the nearest double, as an mpf."""
    return mpf(float(x))


def hexfloat(x):
    return float(x).hex()


def power(x):
    """x as a power of two, rounded up, for a comment."""
    return "2^%.2f" % (float(log(x, 2)) + 0.005)


def round_to_bits(x, bits):
    """x rounded to the given number of significant bits."""
    unit = ldexp(mpf(1), int(floor(log(abs(x), 2))) - bits + 1)
    return nint(x / unit) * unit


def equal_ripple(f, weight, powers, nodes):
    """c and the level E for which weight (f - sum c_k z^powers[k]) is +E, -E, +E, ... at the nodes."""
    count = len(powers)
    A, b = matrix(count + 1, count + 1), matrix(count + 1, 1)
    for i, z in enumerate(nodes):
        for k, p in enumerate(powers):
            A[i, k] = z ** p
        A[i, count] = (-1) ** i / weight(z)
        b[i] = f(z)
    solution = lu_solve(A, b)
    return [solution[k] for k in range(count)]


def extrema(points, error):
    """The largest |error| in each run of equal sign, as (point, error)."""
    peaks = []
    for z, e in zip(points, error):
        if peaks and (e > 0) == (peaks[-1][1] > 0):
            if abs(e) > abs(peaks[-1][1]):
                peaks[-1] = (z, e)
        else:
            peaks.append((z, e))
    return peaks


def minimax(f, weight, powers, upper):
    """c that minimises max |weight (f - sum c_k z^powers[k])| on (0, upper], by the exchange algorithm of Remez (1934)."""
    count = len(powers)
    nodes = [upper * (1 - cos(pi * (k + mpf(1) / 2) / (count + 1))) / 2 for k in range(count + 1)]
    grid = [upper * (1 - cos(pi * (k + mpf(1)) / 1500)) / 2 for k in range(1500)]
    values = [(z, f(z), weight(z)) for z in grid]
    for _ in range(12):
        c = equal_ripple(f, weight, powers, nodes)
        error = [w * (fz - sum(ck * z ** p for ck, p in zip(c, powers))) for z, fz, w in values]
        peaks = extrema(grid, error)
        while len(peaks) > count + 1:
            peaks.pop(0 if abs(peaks[0][1]) < abs(peaks[-1][1]) else -1)
        worst, least = max(abs(e) for e in error), min(abs(e) for _, e in peaks)
        if len(peaks) < count + 1 or worst < mpf("1.0001") * least:
            break
        nodes = [z for z, _ in peaks]
    return c


def print_polynomial(name, f, weight, count, upper):
    """Minimax coefficients that are doubles: round the first, fit the others again around it, and so on."""
    fixed = []
    for k in range(count):
        def rest(z, known=tuple(fixed)):
            return f(z) - sum(c * z ** p for p, c in enumerate(known))
        fixed.append(to_double(minimax(rest, weight, list(range(k, count)), upper)[0]))
    grid = [upper * k / 4000 for k in range(1, 4001)]
    worst = max(abs(weight(z) * (f(z) - sum(c * z ** p for p, c in enumerate(fixed)))) for z in grid)
    print(f"{name}: relative error below {power(worst)}\n    " + "\n    ".join(hexfloat(c) for c in fixed))


def polynomials():
    """S, C and A of trig.c.

    S and C are functions of t = T (1 + d), where T = r^2/6 and d is the error of the double next to 1/3, which the code has
    in its place: so that error costs nothing.
    """
    third = to_double(mpf(1) / 3)

    def r(t):
        return sqrt(2 * t / third)

    print_polynomial("S, sin r = r (1 - T) + r/3 t^2 S(t)",
                     lambda t: (sin(r(t)) - r(t) + r(t) ** 3 / 6) / (r(t) * third * t ** 2),
                     lambda t: r(t) * third * t ** 2 / sin(r(t)), 5, REDUCED ** 2 / 6)
    print_polynomial("C, cos r = 1 - 3 T + t^2 C(t)",
                     lambda t: (cos(r(t)) - 1 + r(t) ** 2 / 2) / t ** 2,
                     lambda t: t ** 2 / cos(r(t)), 6, REDUCED ** 2 / 6)
    print_polynomial("A, atan u = u + u^3 A(u^2)",
                     lambda z: (atan(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3,
                     lambda z: sqrt(z) ** 3 / atan(sqrt(z)), 7, ARC_REACH ** 2)


def closest_approach(e):
    """Least |m 2^e - n pi/2| over integers 0 < m < 2^53 and n > 0.

    A convergent p/q of the continued fraction of 2^e 2/pi attains it: m = q, n = p (Kahan; Muller 2006, on range reduction).
    """
    alpha = ldexp(2 / pi, e)
    p0, q0, p1, q1 = 0, 1, 1, 0
    x, best = alpha, mpf(1)
    while True:
        a = int(floor(x))
        p0, q0, p1, q1 = p1, q1, a * p1 + p0, a * q1 + q0
        if q1 >= 2 ** 53:
            return best * pi / 2
        if p1 > 0:
            best = min(best, abs(q1 * alpha - p1))
        x = 1 / (x - a)


def reduction():
    """pi/2 in three parts, and how near a double comes to a multiple of pi/2."""
    part1 = round_to_bits(pi / 2, PART_BITS)
    part2 = round_to_bits(pi / 2 - part1, PART_BITS)
    part3 = to_double(pi / 2 - part1 - part2)
    for name, value in (("HALF_PI_1", part1), ("HALF_PI_2", part2), ("HALF_PI_3", part3), ("TWO_OVER_PI", 2 / pi),
                        ("PI_HI", pi), ("PI_LO", pi - to_double(pi)), ("THIRD", mpf(1) / 3)):
        print(f"{name} {hexfloat(value)}")
    # |x| <= (2^13 + 1/2) pi/2 < 2^14
    nearest = min(closest_approach(e) for e in range(-53, COUNT_BITS + 1 - 52))
    print("a double in the fast range keeps at least this distance from a multiple of pi/2:", power(nearest))
    print("and any double:", power(min(closest_approach(e) for e in range(-53, 972))))
    # the product n part3, the sum and part3 itself are rounded: three times 2^-53 of |n part3| at most
    print("error of the reduced angle where it is small:", power(3 * 2 ** COUNT_BITS * abs(part3) * mpf(2) ** -53))


def tables():
    """2/pi after 64 zero bits, and atan(k/32) = hi + lo."""
    number = int(floor(ldexp(2 / pi, 64 * 19)))
    words = [0] + [(number >> (64 * (18 - k))) & (2 ** 64 - 1) for k in range(19)]
    print("TWO_OVER_PI_BITS\n    " + "\n    ".join("UINT64_C(0x%016x)," % w for w in words))
    print("ARC")
    for k in range(ARC_FIRST, 33):
        value = atan(mpf(k) / 32)
        print("    {%s, %s}," % (hexfloat(value), hexfloat(value - to_double(value))))


def main():
    mp.prec = 1400
    reduction()
    tables()
    mp.dps = 60
    polynomials()


if __name__ == "__main__":
    main()
