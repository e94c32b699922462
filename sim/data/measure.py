"""Compares the model of the special function unit with a GPU, on a machine that has one.

usage: python sim/data/measure.py OUT.npz        (NumPy and the CUDA driver; about a minute)

OUT holds, for each row of checks(), NAME_wrong (how many results differ, of how many) and NAME_x and NAME_bits (inputs
and results of the first that do). special_h200.npz began as such a file: fit_special.py says what it holds. The model
is written down here a second time, in NumPy, after sim/numerics/Special.h.
"""

import ctypes
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parents[1] / "tools")]
from fit_special import FRACTION, ROWS, SEGMENT, SQUARE, TANH_SEGMENT_BITS, inputs_of, phase_of  # noqa: E402
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
    def map(self, instruction, values):
        """The instruction on every element, whose bits `values` holds."""
        kind = {2: "b16", 4: "f32", 8: "f64"}[values.itemsize]
        text = KERNEL.format(instruction=instruction, type=kind, bytes=values.itemsize)
        module, function = self.module(text.encode() + b"\0"), ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
        pointers = [ctypes.c_uint64(), ctypes.c_uint64()]
        for p in pointers:
            self.call("cuMemAlloc_v2", ctypes.byref(p), ctypes.c_size_t(values.nbytes))
        data, result, n = np.ascontiguousarray(values), np.empty_like(values), ctypes.c_uint32(len(values))
        size, host = ctypes.c_size_t(data.nbytes), ctypes.c_void_p
        self.call("cuMemcpyHtoD_v2", pointers[0], data.ctypes.data_as(host), size)
        arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(a) for a in (*pointers, n)))
        blocks = (len(values) + 255) // 256
        self.call("cuLaunchKernel", function, blocks, 1, 1, 256, 1, 1, 0, None, arguments, None)
        self.call("cuMemcpyDtoH_v2", result.ctypes.data_as(host), pointers[1], size)
        for p in pointers:
            self.call("cuMemFree_v2", p)
        return result


# ---- The model -------------------------------------------------------------------------------------------------------

NAN32, NAN16, INFINITY = 0x7FFFFFFF, 0x7FFF, 0x7F800000


def coefficients():
    rows = np.fromfile(HERE / "special_tables.bin", SEGMENT)
    ends = np.cumsum(list(ROWS.values()))
    columns = np.stack([rows[c].astype(np.int64) for c in SEGMENT.names], 1)
    return dict(zip(ROWS, np.split(columns, ends[:-1]), strict=True))


TABLES = coefficients()


def interpolate(name, fraction, bits=6, first=0):
    s, x = TABLES[name][first + (fraction >> (23 - bits))], (fraction << bits & FRACTION) >> 6
    return s[:, 0] + s[:, 1] * x * 4 + s[:, 2] * SQUARE[x] * 16


def truncated(v, unit, negative):
    """int64 in 2^unit to the bits of f32, toward zero."""
    top = np.floor(np.log2(np.maximum(v, 1).astype(np.longdouble))).astype(np.int64)
    m = np.where(top > 23, v >> np.maximum(top - 23, 0), v << np.maximum(23 - top, 0))
    bits = np.where(v == 0, 0, (top + unit + 127) << 23 | (m & FRACTION))
    return bits | np.where(negative, 1 << 31, 0)


def parts_of(bits):
    b = bits.astype(np.int64)
    return b >> 31, (b >> 23 & 0xFF) - 127, b & FRACTION


def lg2(bits):
    """Of positive normal numbers."""
    _, e, f = parts_of(bits)
    total = ((e << 43) + interpolate("kLg2", f)) >> 7
    return np.where(bits == 0x3F800000, 0, truncated(np.where(total < 0, ~total, total), -36, total < 0))


def sine(bits, quarters):
    x = bits.view(np.float32)
    quadrant, f = phase_of(x, quarters)
    negative = (quadrant >= 2) ^ ((quarters == 0) & np.signbit(x))
    v = interpolate("kSin", np.where(quadrant & 1, FRACTION - f, f))
    return truncated(np.where(f == 0, np.where(quadrant & 1, 1 << 43, 0), v), -43, negative)


def tanh(bits):
    sign, e, f = parts_of(bits)
    result, first = np.where(e < -8, bits, sign << 31 | 0x3F800000), 0
    for exponent, segment_bits in TANH_SEGMENT_BITS.items():
        here = e == exponent
        v = interpolate("kTanh", f[here], segment_bits, first)
        result[here] = truncated(v, exponent - 43, sign[here])
        first += 1 << segment_bits
    return np.where((e == 128) & (f != 0), NAN32, result)


def ex2(bits):
    """Without subnormal results."""
    x = bits.view(np.float32).astype(float)
    q = (np.minimum(np.nan_to_num(np.abs(x)), 1024) * 2.0**23).astype(np.int64)
    fixed = np.where(x < 0, np.where(q & FRACTION, ~q, -q), q)
    y = interpolate("kEx2", fixed & FRACTION) >> 20
    result = np.where(x >= 128, INFINITY, ((fixed >> 23) + 127) << 23 | y & FRACTION)
    return np.where(np.isnan(x), NAN32, np.where(x < -126, 0, result))


def f16_of(bits):
    """f32 to f16, truncated; from 2^16 on infinity."""
    sign, e, f = parts_of(bits)
    m, shift = f | 0x800000, np.clip(-1 - e, 0, 63)  # subnormal: in 2^-24
    small = np.where(e >= -24, m >> shift, 0)
    code = np.where(e >= 16, 0x7C00, np.where(e >= -14, (e + 15) << 10 | f >> 13, small))
    return np.where((e == 128) & (f != 0), NAN16, sign << 15 | code)


def bf16_of(bits):
    _, e, f = parts_of(bits)
    return np.where((e == 128) & (f != 0), NAN16, bits.astype(np.int64) >> 16)


def rcp64(words):
    sign, e, f = words >> 31, (words >> 20) & 0x7FF, words & 0xFFFFF
    y = np.where(f == 0, 0, interpolate("kRcp", f << 3, 7) >> 23 & 0xFFFFF)
    field = np.where(f == 0, 2046, 2045) - e
    value = np.where(field < 1, 0, field << 20 | y)
    value = np.where(e == 0, 0x7FF00000, np.where(e == 0x7FF, 0, value))
    return np.where((e == 0x7FF) & (f != 0), NAN32, sign << 31 | value)


def rsqrt64(words):
    sign, e, f = words >> 31, ((words >> 20) & 0x7FF) - 1023, words & 0xFFFFF
    odd, half = e & 1, e >> 1
    y = np.where(odd, interpolate("kRsqOdd", f << 3), interpolate("kRsqEven", f << 3)) >> 23 & 0xFFFFF
    value = np.where((odd == 0) & (f == 0), (1023 - half) << 20, (1022 - half) << 20 | y)
    value = np.where(sign | ((e == 1024) & (f != 0)), NAN32, np.where(e == 1024, 0, value))
    return np.where(e == -1023, sign << 31 | 0x7FF00000, value)


# ---- What is run -----------------------------------------------------------------------------------------------------


def checks():
    """(name, instruction, inputs, what the model gives); inputs have the instruction's size."""
    for name, bits in inputs_of():
        operation, model = name[:3], lg2(bits) if name.startswith("lg2") else sine(bits, int(name.startswith("cos")))
        yield name, f"{operation}.approx{'.ftz' if operation == 'lg2' else ''}.f32", bits, model
    fraction = np.arange(4096, dtype=np.uint32) * 2039 & FRACTION
    every = (np.arange(1, 255, dtype=np.uint32)[:, None] << 23 | fraction).ravel()
    yield "lg2_all", "lg2.approx.ftz.f32", every, lg2(every)
    k = np.arange(1 << 23, dtype=np.uint32)
    for exponent in range(-9, 3):  # every mantissa
        bits = (exponent + 127 << 23) + k
        yield f"tanh_{exponent}", "tanh.approx.f32", bits, tanh(bits)
    both = np.concatenate([every, every | 1 << 31, k[::509], k[::509] | 1 << 31, INFINITY + k[::4099]]).astype(
        np.uint32
    )
    yield "tanh_all", "tanh.approx.f32", both, tanh(both)
    codes = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        halves = codes.view(np.float16).astype(np.float32).view(np.uint32)
    brains = codes.astype(np.uint32) << 16
    yield "ex2_f16", "ex2.approx.f16", codes, f16_of(ex2(halves))
    yield "ex2_bf16", "ex2.approx.ftz.bf16", codes, bf16_of(ex2(brains))
    yield "tanh_f16", "tanh.approx.f16", codes, f16_of(tanh(halves))
    yield "tanh_bf16", "tanh.approx.bf16", codes, bf16_of(tanh(brains))
    ends = np.arange(4096)[:, None] << 20 | np.arange(0, 1 << 20, 1 << 12)
    words = np.concatenate([0x3FF00000 + np.arange(1 << 21), ends.ravel()])
    for name, model in (("rcp64", rcp64), ("rsqrt64", rsqrt64)):
        for low in (0, 0xFFFFFFFF):
            inputs = words.astype(np.uint64) << np.uint64(32) | np.uint64(low)
            wanted = model(words).astype(np.uint64) << np.uint64(32)
            yield f"{name}_{low & 1}", f"{name[:-2]}.approx.ftz.f64", inputs, wanted


def main():
    gpu, kept = Gpu(), {}
    print(gpu.name)
    kept["device"] = np.array(gpu.name)
    for name, instruction, inputs, model in checks():
        got = gpu.map(instruction, inputs)
        wrong = np.flatnonzero(got != model.astype(got.dtype))
        kept[f"{name}_wrong"] = np.array([len(wrong), len(got)])
        kept[f"{name}_x"], kept[f"{name}_bits"] = inputs[wrong[:100000]], got[wrong[:100000]]
        print(f"{name}: {len(wrong)} of {len(got)} differ from the model", flush=True)
    np.savez_compressed(sys.argv[1], **kept)


if __name__ == "__main__":
    main()
