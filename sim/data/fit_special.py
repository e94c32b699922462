"""Finds the coefficients of the special function unit's interpolator from recorded results, and writes them as C++.

usage: python fit_special.py special_functions.npz OUT.cpp

The unit splits a 23-bit fraction into a segment (6 bits, 7 for the reciprocal) and X, the rest, and computes
    C0 + C1 * X + C2 * square(X)
with coefficients of the segment; square() drops the partial products whose weight is below 2^-15 of X's unit squared
(sim/numerics/Special.h has it in C++). Everything else is exact, and the result is truncated. Each recorded result is an
interval for the exact sum, so that whatever coefficients fit all of them reproduce all of them: this script finds such ones and
fails if there are none. Source of the structure: S. Oberman, M. Siu, "A high-performance area-efficient multifunction
interpolator", ARITH 2005.
"""
import sys

import numpy as np

UNIT = 2.0**23  # results are counted in units of the last place of [1, 2)


def squares():
    x = np.arange(1 << 17)
    bits = [(x >> i) & 1 for i in range(17)]
    total = np.zeros(len(x), np.int64)
    for i in range(17):
        for j in range(i, 17):
            place = (2 * i if i == j else i + j + 1) - 34 + 15
            if place >= 0:
                total += (bits[i] & bits[j]) << place
    return total


SQUARE = squares()


def segment(low, high, x, quantum):
    """(C0 in 2^-20, C1 and C2 in halves) with low <= sum < high at every x, or an error."""
    d, q, weight = x / 2.0**17, SQUARE[x] / 2.0**15, 1 / (high - low)
    rows, middle = np.stack([np.ones(len(x)), d, q], 1) * weight[:, None], (low + high) / 2
    guess = np.linalg.lstsq(rows, middle * weight, rcond=None)[0]
    best = None
    for k2 in range(-3, 4):
        c2 = (np.rint(guess[2] / quantum) + k2) * quantum
        slope = np.linalg.lstsq(rows[:, :2], (middle - c2 * q) * weight, rcond=None)[0][1]
        for k1 in range(-3, 4):
            c1 = (np.rint(slope / quantum) + k1) * quantum
            t = c1 * d + c2 * q
            a, b = (low - t).max(), (high - t).min()
            if best is None or b - a > best[0]:
                best = (b - a, a, b, c1, c2)
    _, a, b, c1, c2 = best
    c0 = np.ceil(a * 2.0**20)
    if not a <= c0 / 2.0**20 < b:
        raise ValueError(f"no coefficients fit: {best}")
    return int(c0), int(2 * c1), int(2 * c2)


def dense(values, bits, quantum):
    """One result for each fraction; the first one of all, an exact power of two, is left out."""
    n = 1 << bits
    rows = []
    for s in range(len(values) // n):
        x = np.arange(1 if s == 0 else 0, n)
        y = values[s * n + x].astype(float)
        rows.append(segment(y, y + 1, x << (17 - bits), quantum))
    return rows


def floats(values, x):
    """Results as floats, each truncated to 24 bits."""
    last = 2.0**(np.floor(np.log2(values)) - 23)
    return segment(values * UNIT, (values + last) * UNIT, x, 1)


def logarithm(bits):
    v, x, rows = bits.view(np.float32).astype(float), np.arange(0, 1 << 17, 8), []
    for s in range(64):
        part, first = v[s << 14:(s + 1) << 14], 1 if s == 0 else 0
        rows.append(floats(part[first:], x[first:]))
    return rows


def sine(x, sine_bits, cosine_bits):
    turns = x.astype(float) * float(np.uint32(0x3E22F983).view(np.float32))
    nearest = turns.astype(np.float32)
    nearest = np.where(np.abs(nearest) > np.abs(turns), nearest.view(np.uint32) - 1, nearest.view(np.uint32)).view(np.float32)
    phase, mask = np.floor(np.abs(nearest.astype(float)) * 2.0**25).astype(np.int64), (1 << 23) - 1
    at, value = [], []
    for bits, shift, odd in ((sine_bits, 0, True), (cosine_bits, 1 << 23, False)):
        p = phase + shift
        quadrant, f = (p >> 23) & 3, p & mask
        sign = np.where(quadrant >= 2, -1, 1) * np.where(odd & (x < 0), -1, 1)
        v = bits.view(np.float32).astype(float) * sign
        use = (f != 0) & (v > 0)
        at.append(np.where(quadrant & 1, mask - f, f)[use])
        value.append(v[use])
    at, value = np.concatenate(at), np.concatenate(value)
    return [floats(value[at >> 17 == s], at[at >> 17 == s] & 0x1FFFF) for s in range(64)]


def tables(z):
    x = 1 + np.arange(1 << 23) / UNIT

    def of(exact, key, one):
        return exact.astype(np.float32).view(np.int32).astype(np.int64) + z[key] - one + (1 << 23)

    half, unit = 0x3F000000, 0x3F800000
    return {
        "kEx2": dense(of(np.exp2(x - 1), "ex2__0..1_ulp", unit), 17, 1),
        "kRcp": dense(of(1 / x, "rcp__1..2_ulp", half), 16, 1),
        "kRsqEven": dense(of(1 / np.sqrt(x), "rsqrt__1..2_ulp", half), 17, 1),
        "kRsqOdd": dense(of(1 / np.sqrt(2 * x), "rsqrt__2..4_ulp", half), 17, 1),
        "kSqrtEven": dense(of(np.sqrt(x), "sqrt__1..2_ulp", unit), 17, 0.5),
        "kSqrtOdd": dense(of(np.sqrt(2 * x), "sqrt__2..4_ulp", unit), 17, 0.5),
        "kLg2": logarithm(z["lg2__1..2_bits"]),
        "kSin": sine(z["x_trig"], z["sin_bits"], z["cos_bits"]),
    }


def main():
    z = np.load(sys.argv[1])
    lines = [
        "// sim/numerics/SpecialTables.cpp -- coefficients of the special function unit. Written by sim/data/fit_special.py from what an H200",
        "// gave; do not edit. {C0 in 2^-20, C1 and C2 in halves} of a unit in the last place, segment by segment.",
        '#include "sim/numerics/SpecialTables.h"', "", "// clang-format off", "namespace tiletwin::sim::special {", ""
    ]
    for name, rows in tables(z).items():
        lines.append(f"const Segment {name}[{len(rows)}] = {{")
        lines += ["    " + " ".join("{%d, %d, %d}," % r for r in rows[i:i + 3]) for i in range(0, len(rows), 3)]
        lines += ["};", ""]
    lines += ["} // namespace tiletwin::sim::special", ""]
    with open(sys.argv[2], "w") as f:
        f.write("\n".join(lines))


main()
