"""Record what a GPU's tensor cores make of edge values: fragments in, fragments out.

usage: python tools/record_tensor_cores.py OUT.npz [CASES]        (a GPU of sm_90a; about two minutes)
       python tools/record_tensor_cores.py OUT.npz CASES rest     (REST in place of all else, and results only)
       python tools/record_tensor_cores.py --simulate OUT.npz     (runs the same texts on the simulator: what differs)

Keys of OUT.npz: NAME_a, NAME_b, NAME_c, NAME_d: registers as [case, register, lane] (uint32; f64: uint64) of
  mma.sync NAME, "m16n8k16.row.col.f32.f16.f16.f32". Operands are random codes with many zeros, subnormals, extremes,
  infinities and NaNs: the first half of the cases has none of the last two, so that sums stay finite.
wgmma_NAME_a [case, 64, 32 bytes], _b [case, N = 8, 32 bytes], _c and _d [case, register, thread of 128]:
  wgmma.mma_async, no swizzle, both operands along k.
layout_SWIZZLE_TRANS_LBO_SBO_BASE_START: for each row and each k the 16-bit element of shared memory that the unit read
  for A; the descriptor's fields in bytes, START the offset of the matrix.
meta: JSON bytes: device, driver.
"""

from __future__ import annotations

import json
import sys

import cuda_driver
import numpy as np

MMA = [  # name, registers of A, B, C, D; format of A, B and C
    ("m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, "f16", "f16", "f32"),
    ("m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, "f16", "f16", "f16"),
    ("m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, "f16", "f16", "f32"),
    ("m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, "f16", "f16", "f16"),
    ("m8n8k4.row.col.f32.f16.f16.f32", 2, 2, 8, "f16", "f16", "f32"),
    ("m8n8k4.row.col.f16.f16.f16.f16", 2, 2, 4, "f16", "f16", "f16"),
    ("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, "bf16", "bf16", "f32"),
    ("m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, "bf16", "bf16", "f32"),
    ("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, "tf32", "tf32", "f32"),
    ("m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, "tf32", "tf32", "f32"),
    ("m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, "e4m3", "e4m3", "f32"),
    ("m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 2, 4, "e4m3", "e5m2", "f32"),
    ("m16n8k32.row.col.f16.e5m2.e5m2.f16", 4, 2, 2, "e5m2", "e5m2", "f16"),
    ("m16n8k16.row.col.f32.e4m3.e4m3.f32", 2, 1, 4, "e4m3", "e4m3", "f32"),
    ("m16n8k16.row.col.f32.e5m2.e5m2.f32", 2, 1, 4, "e5m2", "e5m2", "f32"),
    ("m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4, "i8", "i8", "s32"),
    ("m16n8k32.row.col.satfinite.s32.s8.s8.s32", 4, 2, 4, "i8", "i8", "s32"),
    ("m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4, 2, 4, "i8", "i8", "s32"),
    ("m16n8k64.row.col.s32.s4.u4.s32", 4, 2, 4, "i8", "i8", "s32"),
    ("m16n8k64.row.col.satfinite.s32.s4.s4.s32", 4, 2, 4, "i8", "i8", "s32"),
    ("m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 4, "i8", "i8", "s32"),
    ("m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 2, 4, "i8", "i8", "s32"),
    ("m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2, "f64", "f64", "f64"),
    ("m16n8k4.row.col.f64.f64.f64.f64", 2, 1, 4, "f64", "f64", "f64"),
    ("m16n8k8.row.col.f64.f64.f64.f64", 4, 2, 4, "f64", "f64", "f64"),
    ("m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4, "f64", "f64", "f64"),
]
REST = [  # the other shapes and pairs of types
    ("m8n8k16.row.col.s32.s8.u8.s32", 1, 1, 2, "i8", "i8", "s32"),
    ("m8n8k16.row.col.satfinite.s32.u8.u8.s32", 1, 1, 2, "i8", "i8", "s32"),
    ("m16n8k16.row.col.s32.s8.s8.s32", 2, 1, 4, "i8", "i8", "s32"),
    ("m16n8k16.row.col.satfinite.s32.u8.s8.s32", 2, 1, 4, "i8", "i8", "s32"),
    ("m16n8k32.row.col.s32.u8.u8.s32", 4, 2, 4, "i8", "i8", "s32"),
    ("m8n8k32.row.col.s32.s4.u4.s32", 1, 1, 2, "i8", "i8", "s32"),
    ("m8n8k32.row.col.satfinite.s32.s4.s4.s32", 1, 1, 2, "i8", "i8", "s32"),
    ("m16n8k32.row.col.s32.u4.s4.s32", 2, 1, 4, "i8", "i8", "s32"),
    ("m16n8k64.row.col.satfinite.s32.u4.u4.s32", 4, 2, 4, "i8", "i8", "s32"),
    *((f"m8n8k128.row.col.s32.b1.b1.s32.{op}.popc", 1, 1, 2, "i8", "i8", "s32") for op in ("xor", "and")),
    *((f"m16n8k128.row.col.s32.b1.b1.s32.{op}.popc", 2, 1, 4, "i8", "i8", "s32") for op in ("xor", "and")),
    *((f"m16n8k32.row.col.f32.e5m2.{b}.f32", 4, 2, 4, "e5m2", b, "f32") for b in ("e4m3", "e5m2")),
    ("m16n8k16.row.col.f32.e4m3.e5m2.f32", 2, 1, 4, "e4m3", "e5m2", "f32"),
    ("m16n8k16.row.col.f16.e4m3.e4m3.f16", 2, 1, 2, "e4m3", "e4m3", "f16"),
    ("m16n8k32.row.col.f16.e4m3.e5m2.f16", 4, 2, 2, "e4m3", "e5m2", "f16"),
    *((f"m8n8k4.{layouts}.{t}.f16.f16.{t}", 2, 2, registers, "f16", "f16", t)
      for layouts in ("row.row", "col.row", "col.col") for t, registers in (("f32", 8), ("f16", 4))),
]  # fmt: skip
WGMMA = [  # name, format of A, B and D, registers of D
    ("m64n8k16.f32.f16.f16", "f16", "f16", "f32", 4),
    ("m64n8k16.f16.f16.f16", "f16", "f16", "f16", 2),
    ("m64n8k16.f32.bf16.bf16", "bf16", "bf16", "f32", 4),
    ("m64n8k8.f32.tf32.tf32", "tf32", "tf32", "f32", 4),
    ("m64n8k32.f32.e4m3.e4m3", "e4m3", "e4m3", "f32", 4),
    ("m64n8k32.f32.e5m2.e4m3", "e5m2", "e4m3", "f32", 4),
    ("m64n8k32.f16.e4m3.e5m2", "e4m3", "e5m2", "f16", 2),
    ("m64n8k32.s32.s8.u8", "i8", "i8", "s32", 4),
    ("m64n8k32.satfinite.s32.s8.s8", "i8", "i8", "s32", 4),
    ("m64n8k256.s32.b1.b1.and.popc", "i8", "i8", "s32", 4),
]
# bits of an element, of its fraction; whether its top exponent means infinity or NaN
FORMATS = {
    "f16": (16, 10),
    "bf16": (16, 7),
    "tf32": (32, 23),
    "f32": (32, 23),
    "e4m3": (8, 3),
    "e5m2": (8, 2),
    "f64": (64, 52),
}
HEAD = ".version 8.7\n.target sm_90a\n.address_size 64\n"


def codes(rng, fmt, shape, specials):
    """Random codes of a format; infinities and NaNs only if `specials`, and then seldom."""
    if fmt == "i8":
        x = rng.integers(0, 256, shape)
        return np.where(rng.random(shape) < 0.3, rng.choice([0x7F, 0x80, 0xFF, 0], shape), x).astype(np.uint8)
    if fmt == "s32":
        edge = rng.choice(np.array([0x7FFFFF00, 0x80000010, 0x7FFFFFFF, 0x80000000], np.uint32), shape)
        return np.where(rng.random(shape) < 0.6, edge, rng.integers(0, 1 << 32, shape, np.uint32)).astype(np.uint32)
    bits, fraction = FORMATS[fmt]
    dtype = np.dtype(f"uint{bits}")
    one = dtype.type(1)
    x = rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    sign = x & (one << dtype.type(bits - 1))
    low = x & ((one << dtype.type(fraction)) - one)
    top = ((one << dtype.type(bits - 1)) - one) & ~((one << dtype.type(fraction)) - one)
    near = sign | ((one << dtype.type(bits - 2)) + (x & (dtype.type(4) << dtype.type(fraction)) - one))
    kind = rng.integers(0, 8, shape)
    x = np.choose(kind, [sign, sign | low, x, near, near, x, x, near]).astype(dtype)
    magnitude = x & ~(one << dtype.type(bits - 1))
    special = magnitude >= top if fmt != "e4m3" else magnitude == 0x7F
    x = np.where(special, sign | near, x).astype(dtype)
    if specials:
        what = np.where(rng.random(shape) < 0.5, top, top | one | low).astype(dtype)
        if fmt == "e4m3":
            what = np.full(shape, 0x7F, dtype)
        x = np.where(rng.random(shape) < 1 / 48, sign | what, x).astype(dtype)
    return x


def fragments(rng, fmt, cases, registers, lanes=32):
    word = np.uint64 if fmt == "f64" else np.uint32
    each = np.dtype(word).itemsize // codes(rng, fmt, (1,), False).itemsize
    parts = [codes(rng, fmt, (registers, lanes, each), i >= cases // 2) for i in range(cases)]
    return np.stack(parts).view(word)[..., 0]


class Gpu:
    def __init__(self):
        self.gpu, self.kernels = cuda_driver.Gpu(), {}

    def meta(self):
        return {"device": self.gpu.name, "driver": self.gpu.version}

    def __call__(self, text, args, threads):
        """args: arrays, which the kernel changes, and numbers."""
        if text not in self.kernels:
            self.kernels[text] = self.gpu.function(text.encode(), "k", 0)
        held = [self.gpu.upload(x) if isinstance(x, np.ndarray) else int(x) for x in args]
        parameters = [x.to_bytes(8, "little") for x in held]
        self.gpu.launch(self.kernels[text], (1, 1, 1), (threads, 1, 1), (1, 1, 1), 0, False, parameters)
        for host, device in zip(args, held, strict=True):
            if isinstance(host, np.ndarray):
                host[...] = self.gpu.download(device, host)
                self.gpu.free(device)


class Simulator:
    def __init__(self):
        self.kernels = {}

    def __call__(self, text, args, threads):
        import tiletwin.sim

        if text not in self.kernels:
            self.kernels[text] = tiletwin.sim.load(text, file="k.ptx")["k"]
        self.kernels[text](*(x if isinstance(x, np.ndarray) else int(x) for x in args), grid=1, block=threads)


def params(count):
    return ", ".join(f".param .u64 p{i}" for i in range(count))


def mma_text(name, na, nb, nc, wide):
    size, reg, kind = (8, "%fd", "f64") if wide else (4, "%r", "b32")
    body, offset = [], 0
    for p, count in ((0, na), (1, nb), (2, nc)):
        for i in range(count):
            body.append(f"ld.global.{kind} {reg}{offset + i}, [%rd{p}+{i * 32 * size}];")
        offset += count

    def names(first, count):
        return "{" + ",".join(f"{reg}{first + i}" for i in range(count)) + "}"

    body.append(f"mma.sync.aligned.{name} {names(offset, nc)}, {names(0, na)}, {names(na, nb)}, {names(na + nb, nc)};")
    body += [f"st.global.{kind} [%rd3+{i * 32 * size}], {reg}{offset + i};" for i in range(nc)]
    loads = "\n".join(f"ld.param.u64 %rd{i}, [p{i}]; mad.wide.u32 %rd{i}, %t, {size}, %rd{i};" for i in range(4))
    return (
        HEAD + f".visible .entry k({params(4)}) {{\n.reg .b32 %r<64>, %t;\n.reg .b64 %rd<8>;\n.reg .f64 %fd<64>;\n"
        f"mov.u32 %t, %tid.x;\n{loads}\n" + "\n".join(body) + "\nret;\n}\n"
    )


def record_mma(launch, out, cases, forms=MMA, kept="abcd"):
    for name, na, nb, nc, fa, fb, fc in forms:
        rng = np.random.default_rng(1)
        a, b, c = (fragments(rng, f, cases, n) for f, n in ((fa, na), (fb, nb), (fc, nc)))
        d = np.zeros_like(c)
        text = mma_text(name, na, nb, nc, fa == "f64")
        for i in range(cases):
            launch(text, [np.ascontiguousarray(a[i]), np.ascontiguousarray(b[i]), np.ascontiguousarray(c[i]), d[i]], 32)
        for key, x in zip("abcd", (a, b, c, d)):
            if key in kept:
                out[f"{name}_{key}"] = x


def wgmma_text(name, nd, tail):
    """Shared memory is filled from p0 (32 KB); descriptors' upper fields and offsets come as p3 and p4."""
    regs = ",".join(f"%r{i}" for i in range(nd))
    load = "\n".join(f"ld.global.b32 %r{i}, [%rd1+{i * 512}];" for i in range(nd))
    store = "\n".join(f"st.global.b32 [%rd2+{i * 512}], %r{i};" for i in range(nd))
    return (
        HEAD
        + f""".visible .entry k({params(5)}) {{
.reg .b32 %r<64>, %t, %s, %a, %v;
.reg .b64 %rd<16>;
.reg .pred %p<2>;
.shared .align 1024 .b8 image[32768];
mov.u32 %t, %tid.x;
ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; ld.param.u64 %rd2, [p2]; ld.param.u64 %rd3, [p3];
ld.param.u64 %rd4, [p4];
mad.wide.u32 %rd0, %t, 4, %rd0; mad.wide.u32 %rd1, %t, 4, %rd1; mad.wide.u32 %rd2, %t, 4, %rd2;
mov.u32 %s, image;
mad.lo.u32 %a, %t, 4, %s;
mov.u32 %r40, 0;
FILL:
ld.global.b32 %v, [%rd0]; st.shared.b32 [%a], %v;
add.u64 %rd0, %rd0, 512; add.u32 %a, %a, 512; add.u32 %r40, %r40, 1;
setp.lt.u32 %p0, %r40, 64;
@%p0 bra FILL;
{load}
shr.u32 %s, %s, 4;
cvt.u64.u32 %rd5, %s;
add.u64 %rd3, %rd3, %rd5; add.u64 %rd4, %rd4, %rd5;
fence.proxy.async;
bar.sync 0;
setp.eq.u32 %p1, 0, 0;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.{name} {{{regs}}}, %rd3, %rd4, %p1{tail};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{store}
ret;
}}
"""
    )


def descriptor(start, leading, stride, base=0, swizzle=0):
    return np.uint64(start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | base << 49 | swizzle << 62)


def core_matrices(rows):
    """[8 * n, 32 bytes] as core matrices of 8 x 16 bytes: the two along k are neighbours, then the next 8 rows."""
    return rows.reshape(-1, 8, 2, 16).transpose(0, 2, 1, 3).reshape(-1)


def run_wgmma(launch, text, image, c, desc_a, desc_b):
    full = np.zeros(32768, np.uint8)
    full[: image.size] = image
    d = np.zeros_like(c)
    launch(text, [full, np.ascontiguousarray(c), d, desc_a, desc_b], 128)
    return d


def record_wgmma(launch, out, cases):
    for name, fa, fb, fd, nd in WGMMA:
        rng = np.random.default_rng(2)

        def bytes_of(fmt, rows, rng=rng):
            def one(case):  # draws a number more than it keeps, as when the recording was made
                columns = 32 // codes(rng, fmt, (1,), False).itemsize
                return codes(rng, fmt, (rows, columns), case >= cases // 2)

            return np.stack([one(case) for case in range(cases)]).view(np.uint8)

        a, b, c = bytes_of(fa, 64), bytes_of(fb, 8), fragments(rng, fd, cases, nd, 128)
        d = np.zeros_like(c)
        tail = "" if fd == "s32" else ", 1, 1, 0, 0" if fa in ("f16", "bf16") else ", 1, 1"
        text = wgmma_text(name, nd, tail)
        for i in range(cases):
            image = np.concatenate([core_matrices(a[i]), core_matrices(b[i])])
            d[i] = run_wgmma(launch, text, image, c[i], descriptor(0, 128, 256), descriptor(2048, 128, 256))
        for key, x in zip("abcd", (a, b, c, d)):
            out[f"wgmma_{name}_{key}"] = x


def record_layouts(launch, out):
    """Which element of shared memory the unit reads as A[row][k]: B picks one k a column, elements are below 2048."""
    elements = np.arange(8192)
    modes = [
        (s, t, lbo, sbo, base, start)
        for s, pitch in ((0, 16), (1, 128), (2, 64), (3, 32))
        for t in (0, 1)
        for lbo, sbo, base, start in (
            (1024, 2048, 0, 0),
            (2048, 1024, 0, 0),
            (2048, 1024, 0, 32),
            (2048, 1024, 0, 256),
            (2048, 1024, 2, 256),
            (2048, 1024, 5, 0),
        )
    ]
    for swizzle, trans, lbo, sbo, base, start in modes:
        text = wgmma_text("m64n8k16.f32.f16.f16", 4, f", 1, 1, {trans}, 0")
        found = np.zeros((2, 64, 16), np.int64)
        for half in range(2):
            for part, number in enumerate((elements % 2048, elements // 2048)):
                image = np.zeros(32768, np.uint8)
                image[:16384] = number.astype(np.float16).view(np.uint8)
                pick = np.zeros((8, 16), np.float16)
                pick[np.arange(8), np.arange(8) + 8 * half] = 1
                image[16384 : 16384 + 256] = core_matrices(pick.view(np.uint8).reshape(8, 32))
                d = run_wgmma(
                    launch,
                    text,
                    image,
                    np.zeros((4, 128), np.float32),
                    descriptor(start, lbo, sbo, base, swizzle),
                    descriptor(16384, 128, 256),
                )
                for reg in range(4):
                    for thread in range(128):
                        row = thread // 32 * 16 + thread % 32 // 4 + 8 * (reg // 2)
                        found[part, row, thread % 4 * 2 + reg % 2 + 8 * half] = d[reg, thread]
        out[f"layout_{swizzle}_{trans}_{lbo}_{sbo}_{base}_{start}"] = (found[0] + 2048 * found[1]).astype(np.uint16)


def record(launch, cases, rest=False):
    out = {}
    if rest:
        record_mma(launch, out, cases, REST, kept="d")
        return out
    record_mma(launch, out, cases)
    record_wgmma(launch, out, cases)
    record_layouts(launch, out)
    return out


def differences(path):
    """Runs the recorded texts on the simulator: a line for each instruction whose results differ from the recorded."""
    recorded = np.load(path)
    cases = next(recorded[key].shape[0] for key in recorded.files if key.endswith("_d"))
    lines = []
    rest = f"{REST[0][0]}_d" in recorded
    for key, got in record(Simulator(), cases, rest).items():
        differ = got != recorded[key]
        if differ.any() and key.endswith(("_a", "_b", "_c")):
            raise ValueError(f"{key}: the recording has other inputs")
        if differ.any():
            first = tuple(int(i) for i in np.argwhere(differ)[0])
            lines.append(
                f"{key}: {differ.sum()} of {differ.size} differ, first {first}: "
                f"{got[first]:#x}, recorded {recorded[key][first]:#x}"
            )
    return lines


def main():
    if sys.argv[1] == "--simulate":
        print(*differences(sys.argv[2]) or ["no result differs"], sep="\n")
        return
    gpu = Gpu()
    out = record(gpu, int(sys.argv[2]) if len(sys.argv) > 2 else 16, sys.argv[-1] == "rest")
    np.savez_compressed(sys.argv[1], meta=np.frombuffer(json.dumps(gpu.meta()).encode(), np.uint8), **out)


if __name__ == "__main__":
    main()
