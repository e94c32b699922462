"""Writes what ApproxTest.cpp and ConvertTest.cpp compare with, from recordings of single operations on an H200.

usage: python tools/convert_truth.py FOLDER tests/data/sim
(FOLDER: special_functions.npz, unary_f32.npz, binary_f32.npz, cast_f32.npz)
  special_h200.txt   a hash of each function's results over a whole range of inputs: "name hash", 32-bit words
  sines_h200.bin     angles up to the largest number, 0 or 1 for sine or cosine, results
  NAME_h200.bin      columns of 32-bit words, after two such words with the number of rows and columns
"""

import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "sim" / "data"))
from fit_special import recorded, sampled_tables, second_recording


def fingerprint(words):
    w = words.astype(np.uint64)
    factors = (np.arange(len(w), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
    return int((w * factors).sum(dtype=np.uint64))


def table(path, columns):
    head = np.array([len(columns[0]), len(columns)], np.uint32)
    path.write_bytes(head.tobytes() + b"".join(np.ascontiguousarray(c).astype(np.uint32).tobytes() for c in columns))


def bits(a):
    if a.dtype in (np.float32, np.int32, np.uint32):
        return a.view(np.uint32)
    return a.view(np.uint16).astype(np.uint32) if a.dtype.itemsize == 2 else a.view(np.uint8).astype(np.uint32)


def main():
    source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    z = np.load(source / "special_functions.npz")
    k = np.arange(1 << 23)
    m = 1 + k / 2.0**23

    def of(exact, key):
        return (exact.astype(np.float32).view(np.int32) + z[key]).view(np.uint32)

    results = {
        "ex2_0_1": of(np.exp2(m - 1), "ex2__0..1_ulp"),
        "ex2_-1_0": of(np.exp2(1 - m), "ex2__-1..0_ulp"),
        "rcp_1_2": of(1 / m, "rcp__1..2_ulp"),
        "rsqrt_1_2": of(1 / np.sqrt(m), "rsqrt__1..2_ulp"),
        "rsqrt_2_4": of(1 / np.sqrt(2 * m), "rsqrt__2..4_ulp"),
        "sqrt_1_2": of(np.sqrt(m), "sqrt__1..2_ulp"),
        "sqrt_2_4": of(np.sqrt(2 * m), "sqrt__2..4_ulp"),
        "sin": z["sin_bits"],
        "cos": z["cos_bits"],
    }
    extra, sines = second_recording(), []
    for name, x, got in recorded(extra, sampled_tables(z)):
        if name.startswith(("sin", "cos")):
            # What the sample alone does not tell, and a few of the others.
            chosen = np.flatnonzero(np.isin(x, extra[f"{name}_x"]) | (np.arange(len(x)) % 4096 == 0))
            sines.append([x[chosen], np.full(len(chosen), int(name.startswith("cos")), np.uint32), got[chosen]])
        else:
            results[name] = got
    table(out / "sines_h200.bin", [np.concatenate(c) for c in zip(*sines)])
    (out / "special_h200.txt").write_text("".join(f"{n} {fingerprint(w):016x}\n" for n, w in results.items()))
    few = slice(0, None, 31)
    table(
        out / "angles_h200.bin", [bits(z["x_trig"])[few], z["sin_bits"][few], z["cos_bits"][few], z["tanh_bits"][few]]
    )
    some = slice(0, None, 4)
    for name, keys in {
        "unary_f32": ("exp2", "sqrt", "sqrt_rn", "rsqrt", "recip", "fast_sinf"),
        "binary_f32": ("y", "add", "sub", "mul", "div", "div_rn", "min", "max", "min_nan", "max_nan", "fma", "muladd"),
        "cast_f32": ("f16", "bf16", "f16_rtz", "bf16_rtz", "e4nv", "e5", "i32", "u32", "i16", "u16"),
    }.items():
        t = np.load(source / f"{name}.npz")
        # Numbers that are not finite, zeros and subnormal ones first: there are few.
        x = t["x"]
        odd = ~np.isfinite(x) | (np.abs(x) < 1.2e-38)
        if "y" in t:
            odd |= ~np.isfinite(t["y"]) | (np.abs(t["y"]) < 1.2e-38)
        order = np.concatenate([np.flatnonzero(odd), np.flatnonzero(~odd)[some]])
        table(out / f"{name}_h200.bin", [bits(t[c][order]) for c in ("x", *keys)])


main()
