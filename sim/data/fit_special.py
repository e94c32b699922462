"""Finds the special function unit's coefficients from recorded results, and writes them as special_tables.bin.

usage: python fit_special.py special_functions.npz OUT.bin   (special_h200.npz lies beside this file; about 10 minutes)

The unit splits a 23-bit fraction into a segment (6 bits, 7 for the reciprocal, fewer for tanh) and X, the next 17 bits,
and computes
    C0 + C1 * X + C2 * square(X)
with coefficients of the segment; square() drops the partial products whose weight is below 2^-15 of X's unit squared
(sim/numerics/Special.h has it in C++). Everything else is exact, and the result is truncated. Each recorded result is
an interval for the exact sum, so that whatever coefficients fit all of them reproduce all of them: this script finds
such ones and fails if there are none. Source of the structure: S. Oberman, M. Siu, "A high-performance area-efficient
multifunction interpolator", ARITH 2005.

Two recordings, because a result that a coefficient gives already need not be kept. special_functions.npz has all
results of most functions, and a sample of lg2, sin and cos. special_h200.npz has
    lg2_half_1, lg2_1_2, sin, cos, sin_large, cos_large
                                 NAME_x, NAME_bits: inputs and results of all that differ from what the coefficients of
                                 that sample give (first_lg2, first_sine); inputs_of() says which were tried
    tanh, rcp64, rsqrt64         distance from the rounded true value: see recorded()
    ex2_f16, ex2_bf16, tanh_f16, tanh_bf16       results by 16-bit code
    rcp64_ends, rsqrt64_ends     upper words of the results for upper words exponent << 20 | i << 16
"""

import pathlib
import sys

import numpy as np

UNIT = 2.0**23  # results are counted in units of the last place of [1, 2)
FRACTION = (1 << 23) - 1
SEGMENT = np.dtype([("c0", "<i8"), ("c1", "<i4"), ("c2", "<i4")])  # as sim/numerics/SpecialTables.h has it
# Segments of each table, in the order of the file.
ROWS = dict.fromkeys(("kEx2", "kRcp", "kRsqEven", "kRsqOdd", "kSqrtEven", "kSqrtOdd", "kLg2", "kSin", "kTanh"), 64)
ROWS |= {"kRcp": 128, "kTanh": 51}
TANH_SEGMENT_BITS = {-8: 0, -7: 0, -6: 0, -5: 1, -4: 1, -3: 2, -2: 2, -1: 2, 0: 3, 1: 4, 2: 3}  # by exponent


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


def interpolate(rows, fraction):
    """The sums for fractions of 23 bits, in 2^-43, with 64 segments."""
    s, x = np.array(rows)[fraction >> 17], fraction & 0x1FFFF
    return s[:, 0] + s[:, 1] * x * 4 + s[:, 2] * SQUARE[x] * 16


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


def last_place(values):
    return 2.0 ** (np.floor(np.log2(values)) - 23)


def floats(values, x, unit=UNIT, quantum=1):
    """Results as floats, each truncated to 24 bits."""
    return segment(values * unit, (values + last_place(values)) * unit, x, quantum)


def logarithm(bits):
    v, x, rows = bits.view(np.float32).astype(float), np.arange(0, 1 << 17, 8), []
    for s in range(64):
        part, first = v[s << 14 : (s + 1) << 14], 1 if s == 0 else 0
        rows.append(floats(part[first:], x[first:]))
    return rows


def phase_of(x, quarters):
    """(quadrant, fraction of 23 bits) of an angle; `quarters`: 0 for sine, 1 for cosine."""
    turns = x.astype(float) * float(np.uint32(0x3E22F983).view(np.float32))
    near = turns.astype(np.float32)
    near = np.where(np.abs(near.astype(float)) > np.abs(turns), near.view(np.uint32) - 1, near.view(np.uint32))
    phase = np.fmod(np.floor(np.abs(near.view(np.float32).astype(float)) * 2.0**25), 2.0**25)
    p = (phase.astype(np.int64) + (quarters << 23)) & (2**25 - 1)
    return p >> 23, p & FRACTION


def positive_sines(x, bits, quarters):
    """Fractions of a quarter turn, and the sines there, from recorded results."""
    quadrant, f = phase_of(x, quarters)
    sign = np.where(quadrant >= 2, -1, 1) * np.where((quarters == 0) & (x < 0), -1, 1)
    v = bits.view(np.float32).astype(float) * sign
    use = (f != 0) & (v > 0)
    return np.where(quadrant & 1, FRACTION - f, f)[use], v[use]


def sine(x, sine_bits, cosine_bits):
    parts = [positive_sines(x, bits, quarters) for bits, quarters in ((sine_bits, 0), (cosine_bits, 1))]
    at, value = (np.concatenate(c) for c in zip(*parts, strict=True))
    return [floats(value[at >> 17 == s], at[at >> 17 == s] & 0x1FFFF) for s in range(64)]


# ---- The second recording --------------------------------------------------------------------------------------------


def truncated(v, negative):
    """int64 in 2^-43 to the bits of f32, toward zero."""
    top = np.floor(np.log2(np.maximum(v, 1).astype(np.longdouble))).astype(np.int64)
    m = np.where(top > 23, v >> np.maximum(top - 23, 0), v << np.maximum(23 - top, 0))
    bits = np.where(v == 0, 0, (top - 43 + 127) << 23 | (m & FRACTION))
    return (bits | np.where(negative, 1 << 31, 0)).astype(np.uint32)


def first_lg2(rows, bits):
    e, fraction = (bits >> 23).astype(np.int64) - 127, (bits & FRACTION).astype(np.int64)
    total = (e << 43) + np.where(fraction == 0, 0, interpolate(rows, fraction))
    return truncated(np.abs(total), total < 0)


def first_sine(rows, bits, quarters):
    x = bits.view(np.float32)
    quadrant, f = phase_of(x, quarters)
    negative = (quadrant >= 2) ^ ((quarters == 0) & np.signbit(x))
    v = interpolate(rows, np.where(quadrant & 1, FRACTION - f, f))
    return truncated(np.where(f == 0, np.where(quadrant & 1, 1 << 43, 0), v), negative)


def inputs_of():
    """(name, bits of f32) of lg2, sin and cos."""
    k = np.arange(1 << 23, dtype=np.uint32)
    yield "lg2_half_1", 0x3F000000 + k
    yield "lg2_1_2", 0x3F800000 + k
    random = np.random.default_rng(1)
    for suffix, low, high in (("", 0x33000000, 0x41000000), ("_large", 0x41000000, 0x7F800000)):
        bits = random.integers(low, high, 1 << 23, np.uint32)
        bits |= random.integers(0, 2, 1 << 23, np.uint32) << np.uint32(31)
        yield "sin" + suffix, bits
        yield "cos" + suffix, bits


def recorded(z, tables):
    """(name, inputs, results) of the second recording as bits; `tables`: coefficients of the first one."""
    for name, bits in inputs_of():
        if name.startswith("lg2"):
            result = first_lg2(tables["kLg2"], bits)
        else:
            result = first_sine(tables["kSin"], bits, int(name.startswith("cos")))
        if name.startswith("lg2"):
            result[z[f"{name}_x"] - bits[0]] = z[f"{name}_bits"]
        else:
            order = np.argsort(bits, kind="stable")
            first = np.searchsorted(bits[order], z[f"{name}_x"], "left")
            last = np.searchsorted(bits[order], z[f"{name}_x"], "right")
            for a, b, wanted in zip(first, last, z[f"{name}_bits"], strict=True):
                result[order[a:b]] = wanted
        yield name, bits, result
    bits = np.arange(0x39000000, 0x41800000, 64, dtype=np.uint32)
    true = np.tanh(bits.view(np.float32).astype(float)).astype(np.float32).view(np.int32)
    yield "tanh", bits, (true + z["tanh"]).view(np.uint32)
    for name in ("ex2_f16", "ex2_bf16", "tanh_f16", "tanh_bf16"):
        yield name, np.arange(1 << 16, dtype=np.uint32), z[name].astype(np.uint32)
    words = 0x3FF00000 + np.arange(1 << 21, dtype=np.uint64)
    value = (words << np.uint64(32)).view(float)
    ends = (np.arange(4096)[:, None] << 20 | np.arange(0, 1 << 20, 1 << 16)).ravel()
    for name, true in (("rcp64", 1 / value), ("rsqrt64", 1 / np.sqrt(value))):
        upper = (true.view(np.uint64) >> np.uint64(32)).astype(np.int64) + z[name]
        yield name, words.astype(np.uint32), upper.astype(np.uint32)
        yield f"{name}_ends", ends.astype(np.uint32), z[f"{name}_ends"]


def shifted(rows, parts):
    """The rows with the C0 nearest to their own for which low <= sum < high, in 2^-43; parts: (fraction, low, high)."""
    least, most = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    for fraction, low, high in parts:
        sums, at = interpolate(rows, fraction), fraction >> 17
        np.maximum.at(least, at, low - sums)
        np.minimum.at(most, at, high - sums)
    least, most = np.ceil(least), np.ceil(most) - 1
    if (least > most).any():
        raise ValueError(f"no C0 fits beside C1 and C2 in segments {np.flatnonzero(least > most)}")
    return [(int(c0 + min(max(a, 0), b)), c1, c2) for (c0, c1, c2), a, b in zip(rows, least, most, strict=True)]


def refined_logarithm(rows, results):
    """Below 1 the unit adds -1 and takes the complement in units of 2^-36: one unit less than the magnitude."""

    def part(name, bits, result):
        use = (bits & FRACTION) != 0
        v = np.abs(result.view(np.float32).astype(float))[use]
        step = np.maximum(last_place(v), 2.0**-36)
        low, high = (v, v + step) if name == "lg2_1_2" else (1 - v - step, 1 - v)
        return (bits & FRACTION).astype(np.int64)[use], low * 2.0**43, high * 2.0**43

    return shifted(rows, (part(*r) for r in results))


def refined_sine(rows, results):
    def part(name, bits, result):
        f, v = positive_sines(bits.view(np.float32), result, int(name.startswith("cos")))
        return f, v * 2.0**43, (v + last_place(v)) * 2.0**43

    return shifted(rows, (part(*r) for r in results))


def hyperbolic_tangent(bits, result):
    value, rows = result.view(np.float32).astype(float), []
    for exponent, segment_bits in TANH_SEGMENT_BITS.items():
        here = (bits >> 23).astype(int) == exponent + 127
        fraction, v = (bits[here] & FRACTION).astype(np.int64), value[here]
        x, number = (fraction << segment_bits & FRACTION) >> 6, fraction >> (23 - segment_bits)
        for s in range(1 << segment_bits):
            rows.append(floats(v[number == s], x[number == s], 2.0 ** (23 - exponent), 0.5))
    return rows


# ---- Output ----------------------------------------------------------------------------------------------------------


def sampled_tables(z):
    """Of the functions that special_functions.npz has a sample of."""
    return {"kLg2": logarithm(z["lg2__1..2_bits"]), "kSin": sine(z["x_trig"], z["sin_bits"], z["cos_bits"])}


def first_tables(z):
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
        **sampled_tables(z),
    }


def refine(tables, z):
    results = list(recorded(z, tables))
    tables["kLg2"] = refined_logarithm(tables["kLg2"], [r for r in results if r[0].startswith("lg2")])
    tables["kSin"] = refined_sine(tables["kSin"], [r for r in results if r[0].startswith(("sin", "cos"))])
    tables["kTanh"] = hyperbolic_tangent(*next(r[1:] for r in results if r[0] == "tanh"))


def second_recording():
    return np.load(pathlib.Path(__file__).resolve().parent / "special_h200.npz")


def main():
    tables = first_tables(np.load(sys.argv[1]))
    refine(tables, second_recording())
    np.concatenate([np.array(tables[name], SEGMENT) for name in ROWS]).tofile(sys.argv[2])


if __name__ == "__main__":
    main()
