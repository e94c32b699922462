"""Records what is not yet known of the special function unit, on a machine with a GPU.

usage: python sim/data/measure.py OUT.npz        (NumPy and the CUDA driver; about 20 s on an H200, OUT.npz has a few MB)

Where sim/numerics/Special.h has an exact model, OUT holds what differs from it: NAME_wrong (how many), NAME_x and NAME_bits (the
first ones' inputs and results). Where it has none, OUT holds the results:
    ex2_f16, ex2_bf16, tanh_f16, tanh_bf16     by 16-bit code
    tanh                                       every 64th f32 in [2^-13, 16), as distance in bits from the rounded true value
    rcp64, rsqrt64                             upper words of results for upper words 0x3FF00000 + i, as distance from the rounded one;
                                               NAME_low: how many change if the operand's lower word is all ones; NAME_ends: the
                                               same for 16 fractions of every exponent, as they are
"""
import ctypes
import pathlib
import re
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "sim"))
from record_forms import Driver  # noqa: E402

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{{
.reg .b64 %a, %b, %o;
.reg .b32 %i, %n, %t;
.reg .pred %p;
.reg .{type} %x, %y;
ld.param.u64 %a, [in];
ld.param.u64 %b, [out];
ld.param.u32 %n, [n];
mov.u32 %i, %ctaid.x;
mov.u32 %t, %tid.x;
mad.lo.u32 %i, %i, 256, %t;
setp.ge.u32 %p, %i, %n;
@%p ret;
mul.wide.u32 %o, %i, {bytes};
add.u64 %a, %a, %o;
add.u64 %b, %b, %o;
ld.global.{type} %x, [%a];
{instruction} %y, %x;
st.global.{type} [%b], %y;
ret;
}}
"""


class Gpu(Driver):
    def map(self, instruction, values, kind):
        """The instruction on every element; kind: b16, f32 or f64."""
        text = KERNEL.format(instruction=instruction, type=kind, bytes=values.itemsize)
        module, function = self.module(text.encode() + b"\0"), ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
        pointers = [ctypes.c_uint64(), ctypes.c_uint64()]
        for p in pointers:
            self.call("cuMemAlloc_v2", ctypes.byref(p), ctypes.c_size_t(values.nbytes))
        data, result, n = np.ascontiguousarray(values), np.empty_like(values), ctypes.c_uint32(len(values))
        self.call("cuMemcpyHtoD_v2", pointers[0], data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(data.nbytes))
        arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(a) for a in (*pointers, n)))
        self.call("cuLaunchKernel", function, (len(values) + 255) // 256, 1, 1, 256, 1, 1, 0, None, arguments, None)
        self.call("cuMemcpyDtoH_v2", result.ctypes.data_as(ctypes.c_void_p), pointers[1], ctypes.c_size_t(data.nbytes))
        for p in pointers:
            self.call("cuMemFree_v2", p)
        return result


# ---- The model, as Special.h has it ----------------------------------------------------------------------------------------------


def coefficients():
    text = (HERE.parent / "numerics" / "SpecialTables.cpp").read_text()
    tables = {}
    for name, body in re.findall(r"Segment (k\w+)\[\d+\] = \{(.*?)\n\};", text, re.S):
        tables[name] = np.array([[int(v) for v in row.split(",")] for row in re.findall(r"\{(.*?)\}", body)], np.int64)
    return tables


def squares():
    table = np.zeros(1 << 17, np.int64)
    for h in range(17):
        low = np.arange(1 << h)
        products = ((low >> max(18 - h, 0) << max(18 - h, 0)) << (h + 1)) + ((1 << 2 * h) if 2 * h >= 19 else 0)
        table[1 << h | low] = table[low] + (products >> 19)
    return table


TABLES, SQUARES = coefficients(), squares()


def interpolate(name, fraction):
    s, x = TABLES[name][fraction >> 17], fraction & 0x1FFFF
    return s[:, 0] + s[:, 1] * x * 4 + s[:, 2] * SQUARES[x] * 16


def truncated(v, negative):
    """int64 in 2^-43 to the bits of f32, toward zero."""
    top = np.floor(np.log2(np.maximum(v, 1).astype(np.longdouble))).astype(np.int64)
    m = np.where(top > 23, v >> np.maximum(top - 23, 0), v << np.maximum(23 - top, 0))
    bits = np.where(v == 0, 0, (top - 43 + 127) << 23 | (m & 0x7FFFFF))
    return (bits | np.where(negative, 1 << 31, 0)).astype(np.uint32)


def lg2(bits):
    e, fraction = (bits >> 23).astype(np.int64) - 127, (bits & 0x7FFFFF).astype(np.int64)
    total = (e << 43) + np.where(fraction == 0, 0, interpolate("kLg2", fraction))
    return truncated(np.abs(total), total < 0)


def sine(x, quarters):
    turns = x.astype(float) * float(np.uint32(0x3E22F983).view(np.float32))
    near = turns.astype(np.float32)
    near = np.where(np.abs(near.astype(float)) > np.abs(turns), near.view(np.uint32) - 1, near.view(np.uint32)).view(np.float32)
    phase = np.floor(np.abs(near.astype(float)) * 2.0**25)
    p = (np.fmod(phase, 2.0**25).astype(np.int64) + (quarters << 23)) & (2**25 - 1)
    quadrant, f = p >> 23, p & 0x7FFFFF
    negative = (quadrant >= 2) ^ ((quarters == 0) & np.signbit(x))
    v = interpolate("kSin", np.where(quadrant & 1, 0x7FFFFF - f, f))
    return truncated(np.where(f == 0, np.where(quadrant & 1, 1 << 43, 0), v), negative)


def compare(kept, name, x, got, want):
    wrong = np.flatnonzero(got != want)
    kept[f"{name}_wrong"] = np.array([len(wrong), len(got)])
    kept[f"{name}_x"], kept[f"{name}_bits"] = x[wrong[:100000]], got[wrong[:100000]]
    print(f"{name}: {len(wrong)} of {len(got)} differ from the model")


# ---- What is run ---------------------------------------------------------------------------------------------------------------


def known(gpu, kept):
    k = np.arange(1 << 23, dtype=np.uint32)
    every = (np.arange(1, 255, dtype=np.uint32)[:, None] << 23 | (np.arange(4096, dtype=np.uint32) * 2039 & 0x7FFFFF)).ravel()
    for name, bits in (("lg2_half_1", 0x3F000000 + k), ("lg2_1_2", 0x3F800000 + k), ("lg2_all", every)):
        got = gpu.map("lg2.approx.ftz.f32", bits.view(np.float32), "f32").view(np.uint32)
        compare(kept, name, bits, got, lg2(bits))
    random = np.random.default_rng(1)
    ranges = {"": (0x33000000, 0x41000000), "_large": (0x41000000, 0x7F800000)}
    for suffix, (low, high) in ranges.items():
        bits = random.integers(low, high, 1 << 23, np.uint32) | (random.integers(0, 2, 1 << 23, np.uint32) << np.uint32(31))
        x = bits.view(np.float32)
        for name, quarters in (("sin", 0), ("cos", 1)):
            got = gpu.map(f"{name}.approx.f32", x, "f32").view(np.uint32)
            compare(kept, name + suffix, bits, got, sine(x, quarters))


def unknown(gpu, kept):
    codes = np.arange(1 << 16, dtype=np.uint16)
    for name, instruction in (("ex2_f16", "ex2.approx.f16"), ("ex2_bf16", "ex2.approx.ftz.bf16"), ("tanh_f16", "tanh.approx.f16"),
                              ("tanh_bf16", "tanh.approx.bf16")):
        kept[name] = gpu.map(instruction, codes, "b16")
    bits = np.arange(0x39000000, 0x41800000, 64, dtype=np.uint32)
    x = bits.view(np.float32)
    got = gpu.map("tanh.approx.f32", x, "f32").view(np.int32)
    kept["tanh"] = got - np.tanh(x.astype(float)).astype(np.float32).view(np.int32)

    def upper(instruction, words, low=0):
        return (gpu.map(instruction, (words.astype(np.uint64) << np.uint64(32) | np.uint64(low)).view(float), "f64").view(np.uint64) >>
                np.uint64(32)).astype(np.int64)

    exact = {"rcp64": lambda v: 1 / v, "rsqrt64": lambda v: 1 / np.sqrt(v)}
    for name, true in exact.items():
        instruction = f"{name[:-2]}.approx.ftz.f64"
        words = 0x3FF00000 + np.arange(1 << 21, dtype=np.uint64)
        value = (words << np.uint64(32)).view(float)
        got = upper(instruction, words)
        kept[name] = (got - (true(value).view(np.uint64) >> np.uint64(32)).astype(np.int64)).astype(np.int32)
        kept[f"{name}_low"] = np.array([(upper(instruction, words, 0xFFFFFFFF) != got).sum()])
        ends = (np.arange(4096, dtype=np.uint64)[:, None] << np.uint64(20) | np.arange(0, 1 << 20, 1 << 16, dtype=np.uint64)).ravel()
        kept[f"{name}_ends"] = upper(instruction, ends).astype(np.uint32)


def main():
    gpu, kept = Gpu(), {}
    print(gpu.name)
    kept["device"] = np.array(gpu.name)
    known(gpu, kept)
    unknown(gpu, kept)
    np.savez_compressed(sys.argv[1], **kept)


if __name__ == "__main__":
    main()
