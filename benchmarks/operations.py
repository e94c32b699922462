"""Scans, sorts, selections, histograms, gathers and functions on one tile a program, against torch in the same run.

Ratios are torch's time / our time, so more is better; medians over alternating pairs; both sides get the same number of
threads and outputs allocated beforehand. `--only NAME` runs the rows whose name holds NAME.

    benchmarks/operations.py [--only NAME] [--threads N] [--repeats N]
"""

import functools
import statistics

import timing

arguments = timing.options(__doc__, threads=1).parse_args()

timing.interpret(arguments.threads)

import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.language.extra import libdevice  # noqa: E402

torch.set_num_threads(arguments.threads)


@triton.jit
def tile(M: tl.constexpr, N: tl.constexpr):
    """Offsets of this program's M x N tile."""
    return tl.program_id(0) * M * N + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def scan(x_ptr, out_ptr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tile(M, N)
    tl.store(out_ptr + at, tl.cumsum(tl.load(x_ptr + at), AXIS))


@triton.jit
def product_scan(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tile(M, N)
    tl.store(out_ptr + at, tl.cumprod(tl.load(x_ptr + at), 1))


@triton.jit
def recurrence(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def custom_scan(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tile(M, N)
    _, b = tl.associative_scan((tl.load(x_ptr + at), tl.load(y_ptr + at)), 1, recurrence)
    tl.store(out_ptr + at, b)


@triton.jit
def sort(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tile(M, N)
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at)))


@triton.jit
def topk(x_ptr, out_ptr, K: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    best = tl.topk(tl.load(x_ptr + tile(M, N)), K)
    tl.store(out_ptr + tile(M, K), best)


@triton.jit
def argmax(x_ptr, out_ptr, FIRST: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tile(M, N))
    tl.store(out_ptr + tl.program_id(0) * M + tl.arange(0, M), tl.argmax(x, 1, tie_break_left=FIRST))


@triton.jit
def flip(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tile(M, N)
    tl.store(out_ptr + at, tl.flip(tl.load(x_ptr + at), 1))


@triton.jit
def histogram(x_ptr, out_ptr, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(tl.load(x_ptr + tl.arange(0, N)), BINS))


@triton.jit
def gather(x_ptr, index_ptr, out_ptr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tile(M, N)
    tl.store(out_ptr + at, tl.gather(tl.load(x_ptr + at), tl.load(index_ptr + at), AXIS))


@triton.jit
def transpose(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tile(M, N))
    tl.store(out_ptr + tl.program_id(0) * M * N + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :], x.T)


@triton.jit
def unary(x_ptr, out_ptr, FUNCTION: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out_ptr + at, FUNCTION(tl.load(x_ptr + at)))


@triton.jit
def binary(x_ptr, y_ptr, out_ptr, FUNCTION: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out_ptr + at, FUNCTION(tl.load(x_ptr + at), tl.load(y_ptr + at)))


def pair(name, ours, theirs):
    if arguments.only not in name:
        return
    a, b = timing.in_turns(ours, theirs, arguments.repeats, warm=3, rest=0.01)
    ratio = statistics.median(y / x for x, y in zip(a, b))
    ours_us, torch_us = statistics.median(a) * 1e6, statistics.median(b) * 1e6
    print(f"{name:34} {ours_us:12.1f} us   torch {torch_us:12.1f} us   ratio {ratio:8.3f}", flush=True)


def main():
    x = torch.randn(1024, 1024)
    out, out_torch = torch.empty_like(x), torch.empty_like(x)
    for axis in (0, 1):
        pair(
            f"cumsum f32 1024 x 1024, axis {axis}",
            lambda axis=axis: scan[(1,)](x, out, axis, 1024, 1024),
            lambda axis=axis: torch.cumsum(x, axis, out=out_torch),
        )
    rows = torch.randint(-9, 9, (1024, 1024), dtype=torch.int32)
    out_i, out_i_torch = torch.empty_like(rows), torch.empty_like(rows, dtype=torch.int64)
    pair(
        "cumsum i32, 64 programs of 16 x 1024",
        lambda: scan[(64,)](rows, out_i, 1, 16, 1024),
        lambda: torch.cumsum(rows, 1, out=out_i_torch),
    )
    near_one = 1 + x * 1e-4
    pair(
        "cumprod f32 1024 x 1024",
        lambda: product_scan[(1,)](near_one, out, 1024, 1024),
        lambda: torch.cumprod(near_one, 1, out=out_torch),
    )
    pair(
        "recurrence f32 64 x 1024 (torch: cumsum)",
        lambda: custom_scan[(1,)](near_one, x, out, 64, 1024),
        lambda: torch.cumsum(x[:64], 1, out=out_torch[:64]),
    )
    line, positions = torch.randn(1, 1024), torch.empty(1, 1024, dtype=torch.int64)
    sorted_line = torch.empty_like(line)
    for dtype in (torch.float32, torch.int32, torch.int16):
        values = (line * 1000).to(dtype)
        ours, theirs = torch.empty_like(values), torch.empty_like(values)
        pair(
            f"sort {str(dtype)[6:]} 1024",
            lambda v=values, o=ours: sort[(1,)](v, o, 1, 1024),
            lambda v=values, o=theirs: torch.sort(v, out=(o, positions)),
        )
    block, positions = x[:64].clone(), torch.empty(64, 1024, dtype=torch.int64)
    pair(
        "sort f32 64 x 1024",
        lambda: sort[(1,)](block, out, 64, 1024),
        lambda: torch.sort(block, out=(out_torch[:64], positions)),
    )
    best, at = torch.empty(1, 8), torch.empty(1, 8, dtype=torch.int64)
    pair(
        "topk 8 of f32 1024",
        lambda: topk[(1,)](line, sorted_line, 8, 1, 1024),
        lambda: torch.topk(line, 8, out=(best, at)),
    )
    index_out, index_torch = torch.empty(1024, dtype=torch.int32), torch.empty(1024, dtype=torch.int64)
    for first in (True, False):
        pair(
            f"argmax f32 1024 x 1024, {'first' if first else 'any'} of ties",
            lambda first=first: argmax[(1,)](x, index_out, first, 1024, 1024),
            lambda: torch.argmax(x, 1, out=index_torch),
        )
    pair("flip f32 1024 x 1024", lambda: flip[(1,)](x, out, 1024, 1024), lambda: out_torch.copy_(torch.flip(x, [1])))
    pair("transpose f32 1024 x 1024", lambda: transpose[(1,)](x, out, 1024, 1024), lambda: out_torch.copy_(x.T))
    numbers = torch.randint(0, 256, (65536,), dtype=torch.int32)
    counts = torch.empty(256, dtype=torch.int32)
    pair(
        "histogram i32 65536 in 256",
        lambda: histogram[(1,)](numbers, counts, 65536, 256),
        lambda: torch.bincount(numbers, minlength=256),
    )
    for axis in (0, 1):
        index = torch.randint(0, 1024, (1024, 1024), dtype=torch.int32)
        wide = index.to(torch.int64)
        pair(
            f"gather f32 1024 x 1024, axis {axis}",
            lambda index=index, axis=axis: gather[(1,)](x, index, out, axis, 1024, 1024),
            lambda wide=wide, axis=axis: torch.gather(x, axis, wide, out=out_torch),
        )
    functions()


UNARY = {
    name: (getattr(module, name), getattr(torch, name))
    for module, names in {
        tl: "exp exp2 log log2 sin cos sqrt rsqrt erf sigmoid",
        libdevice: "tanh tan expm1 log1p log10 erfc sinh cosh asin acos atan asinh lgamma erfinv",
    }.items()
    for name in names.split()
} | {"round": (libdevice.round, torch.trunc), "rint": (libdevice.rint, torch.round)}
BINARY = {name: (getattr(libdevice, name), getattr(torch, name)) for name in ("pow", "atan2", "fmod", "hypot")}
BINARY["div_rn"] = tl.div_rn, torch.div


def functions():
    """Elementwise functions on 64 programs of 4096 numbers in (0, 1)."""
    for dtype in (torch.float32, torch.float64):
        x, y = torch.rand(64, 4096, dtype=dtype), torch.rand(64, 4096, dtype=dtype)
        out, out_torch = torch.empty_like(x), torch.empty_like(x)
        for table, kernel, operands in ((UNARY, unary, (x,)), (BINARY, binary, (x, y))):
            for name, (ours, theirs) in table.items():
                if name == "div_rn" and dtype == torch.float64:
                    continue
                pair(
                    f"{name} {str(dtype)[6:]}",
                    functools.partial(kernel[(64,)], *operands, out, ours, 4096),
                    functools.partial(theirs, *operands, out=out_torch),
                )


main()
