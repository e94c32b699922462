"""Exhaustive tuning and the search, for kernels of several families: time of tuning, and how good the choice is.

    python benchmarks/tuner.py OUT.json

Each kernel is tuned twice from empty caches: TILETWIN_TUNING=every, then search.
ratio: time of the search over that of measuring all (compiling included; "measuring": both with everything compiled).
over best: the search's choice and the fastest of the exhaustive timings, measured again in turns.

Here:      the kernels, both ways of tuning, the comparison of their choices.
Not here:  how the search works (tiletwin/launch/tuning_search.py).
"""

import json
import os
import statistics
import sys
import tempfile
import time
from typing import Any

os.environ.setdefault("TILETWIN", "1")
import tiletwin as triton
import tiletwin.language as tl
import torch
from tiletwin import gpu_timing
from tiletwin.launch.tuning_clock import EventClock

BUDGET = float(os.environ.get("TUNER_SECONDS", "125"))
C = triton.Config


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    nm, nn = tl.cdiv(M, BM), tl.cdiv(N, BN)
    width = GROUP * nn
    group = pid // width
    size = min(nm - group * GROUP, GROUP)
    pm = group * GROUP + (pid % width) % size
    pn = (pid % width) // size
    rm, rn, rk = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa, pb = a + rm[:, None] * K + rk[None, :], b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * N
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))


@triton.jit
def attention(q, k, v, o, T, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    at, head = tl.program_id(0), tl.program_id(1)
    base = head * T * D
    rm, rn, rd = at * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    x = tl.load(q + base + rm[:, None] * D + rd[None, :])
    m = tl.full((BM,), float("-inf"), tl.float32)
    s = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n in range(0, T, BN):
        y = tl.load(k + base + (n + rn)[None, :] * D + rd[:, None])
        z = tl.dot(x, y) * scale
        new = tl.maximum(m, tl.max(z, 1))
        p = tl.exp2(z - new[:, None])
        old = tl.exp2(m - new)
        s = s * old + tl.sum(p, 1)
        w = tl.load(v + base + (n + rn)[:, None] * D + rd[None, :])
        acc = tl.dot(p.to(tl.float16), w, acc * old[:, None])
        m = new
    tl.store(o + base + rm[:, None] * D + rd[None, :], (acc / s[:, None]).to(tl.float16))


@triton.jit
def layer_norm(x, w, b, o, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    square = tl.zeros((BLOCK,), tl.float32)
    for n in range(0, N, BLOCK):
        at = n + tl.arange(0, BLOCK)
        y = tl.load(x + row * N + at, at < N, 0.0).to(tl.float32)
        total += y
        square += y * y
    mean = tl.sum(total, 0) / N
    scale = tl.rsqrt(tl.sum(square, 0) / N - mean * mean + 1e-5)
    for n in range(0, N, BLOCK):
        at = n + tl.arange(0, BLOCK)
        y = tl.load(x + row * N + at, at < N, 0.0).to(tl.float32)
        z = (y - mean) * scale * tl.load(w + at, at < N, 0.0) + tl.load(b + at, at < N, 0.0)
        tl.store(o + row * N + at, z.to(tl.float16), at < N)


@triton.jit
def softmax(x, o, M, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    mask = (row < M)[:, None] & (at < N)[None, :]
    y = tl.load(x + row[:, None] * N + at[None, :], mask, float("-inf"))
    y = tl.exp(y - tl.max(y, 1)[:, None])
    tl.store(o + row[:, None] * N + at[None, :], y / tl.sum(y, 1)[:, None], mask)


@triton.jit
def row_sum(x, o, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for n in range(0, N, BLOCK):
        at = n + tl.arange(0, BLOCK)
        total += tl.load(x + row * N + at, at < N, 0.0)
    tl.store(o + row, tl.sum(total, 0))


@triton.jit
def column_sum(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    col = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for m in range(0, M, BM):
        row = m + tl.arange(0, BM)
        total += tl.load(x + row[:, None] * N + col[None, :], (row < M)[:, None] & (col < N)[None, :], 0.0)
    tl.store(o + col, tl.sum(total, 0), col < N)


@triton.jit
def gelu_add(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, at < n) + tl.load(y + at, at < n)
    tl.store(o + at, 0.5 * a * (1 + tl.erf(a * 0.7071067811865476)), at < n)


@triton.jit
def transpose(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    y = tl.load(x + m[:, None] * N + n[None, :], (m < M)[:, None] & (n < N)[None, :])
    tl.store(o + n[:, None] * M + m[None, :], tl.trans(y), (n < N)[:, None] & (m < M)[None, :])


@triton.jit
def cumsum(x, o, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, BLOCK)
    tl.store(o + row[:, None] * N + at[None, :], tl.cumsum(tl.load(x + row[:, None] * N + at[None, :]), 1))


TILES = [(64, 64, 32, 4, 3), (64, 128, 32, 4, 3), (128, 64, 32, 4, 3), (128, 128, 32, 4, 3), (128, 128, 32, 8, 3),
         (128, 128, 64, 4, 3), (128, 128, 64, 8, 3), (128, 256, 64, 8, 3), (256, 128, 64, 8, 3), (64, 256, 32, 4, 4),
         (32, 64, 64, 4, 4), (128, 64, 64, 4, 4), (64, 64, 64, 4, 5)]  # fmt: skip
MATMUL = [C({"BM": m, "BN": n, "BK": k, "GROUP": 8}, num_warps=w, num_stages=s) for m, n, k, w, s in TILES]
FLASH = [C({"BM": m, "BN": n}, num_warps=w, num_stages=s)
         for m, n, w, s in [(64, 32, 4, 3), (64, 64, 4, 3), (128, 32, 4, 3), (128, 64, 4, 3), (128, 64, 8, 3),
                            (128, 128, 8, 2), (128, 128, 8, 3), (64, 128, 4, 2)]]  # fmt: skip


def blocks(sizes, warps):
    return [C({"BLOCK": size}, num_warps=w) for size in sizes for w in warps]


def tiles(sizes, warps, a="BM", b="BN"):
    return [C({a: m, b: n}, num_warps=w) for m, n in sizes for w in warps]


def one_for_each_tile(e):
    return (triton.cdiv(e["M"], e["BM"]) * triton.cdiv(e["N"], e["BN"]),)


def cases():
    """(name, kernel, configurations, arguments, grid)"""

    def new(*shape, dtype=torch.float32):
        return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)

    half = torch.float16
    for m, n, k in ((4096, 4096, 4096), (512, 512, 2048)):
        x, y, z = new(m, k, dtype=half), new(k, n, dtype=half), new(m, n, dtype=half)
        yield f"matmul {m}x{n}x{k}", matmul, MATMUL, (x, y, z, m, n, k), one_for_each_tile
    q = [new(32, 2048, 64, dtype=half) for _ in range(4)]
    yield "attention", attention, FLASH, (*q, 2048, 0.18, 64), lambda e: (2048 // e["BM"], 32)
    x = new(8192, 4096, dtype=half)
    yield (
        "layer norm",
        layer_norm,
        blocks((512, 1024, 2048, 4096), (4, 8, 16)),
        (x, new(4096), new(4096), torch.empty_like(x), 4096),
        (8192,),
    )
    x = new(16384, 1000)
    yield (
        "softmax",
        softmax,
        tiles([(1, 1024), (2, 1024), (4, 1024), (8, 1024)], (2, 4, 8), "ROWS", "BLOCK"),
        (x, torch.empty_like(x), 16384, 1000),
        lambda e: (triton.cdiv(e["M"], e["ROWS"]),),
    )
    x = new(1024, 65536)
    yield "row sum", row_sum, blocks((512, 1024, 2048, 4096, 8192), (4, 8)), (x, new(1024), 65536), (1024,)
    yield (
        "column sum",
        column_sum,
        tiles([(32, 32), (32, 128), (8, 256), (64, 64), (128, 32)], (4, 8)),
        (x, new(65536), 1024, 65536),
        lambda e: (triton.cdiv(e["N"], e["BN"]),),
    )
    x = new(1 << 24)
    yield (
        "elementwise",
        gelu_add,
        blocks((128, 256, 512, 1024, 2048, 4096), (2, 4, 8)),
        (x, new(1 << 24), torch.empty_like(x), 1 << 24),
        lambda e: (triton.cdiv(e["n"], e["BLOCK"]),),
    )
    x = new(100_000)
    yield (
        "elementwise, small",
        gelu_add,
        blocks((128, 256, 512, 1024, 4096, 32768), (4, 8)),
        (x, new(100_000), torch.empty_like(x), 100_000),
        lambda e: (triton.cdiv(e["n"], e["BLOCK"]),),
    )
    x = new(4096, 8192)
    yield (
        "transpose",
        transpose,
        tiles([(32, 32), (64, 64), (32, 128), (128, 32), (16, 64)], (4, 8)),
        (x, torch.empty_like(x), 4096, 8192),
        lambda e: (triton.cdiv(e["M"], e["BM"]), triton.cdiv(e["N"], e["BN"])),
    )
    x = new(8192, 2048)
    yield (
        "cumsum",
        cumsum,
        tiles([(1, 2048), (2, 2048), (4, 2048)], (2, 4, 8), "ROWS", "BLOCK"),
        (x, torch.empty_like(x), 2048),
        lambda e: (8192 // e["ROWS"],),
    )


def tuned(kernel, configs, args, grid, way, folder) -> tuple[Any, float, Any]:
    """Seconds of tuning, and the tuner. A fresh jit function: nothing is compiled in memory."""
    os.environ["TILETWIN_TUNING"], os.environ["TRITON_CACHE_DIR"] = way, folder
    kernel.clear_cache()
    tuner = triton.autotune(configs, key=[])(kernel)
    torch.cuda.synchronize()
    started = time.perf_counter()
    tuner[grid](*args)
    torch.cuda.synchronize()
    return tuner.bench_time, time.perf_counter() - started, tuner


def against(kernel, one, other, args, grid):
    """Time of configuration `one` over that of `other`, in turns."""
    if one == other:
        return 1.0
    runs, found = gpu_timing.Runs(), {one: [], other: []}
    for _ in range(6):
        for config, times in found.items():
            times += runs.times(lambda config=config: kernel[grid](*args, **config.all_kwargs()), 30, warm=True)
    return statistics.median(found[one]) / statistics.median(found[other])


def main(out):
    began, rows = time.perf_counter(), []
    print(torch.cuda.get_device_name(), os.cpu_count(), "cores")
    header = (
        "kernel",
        "configs",
        "every s",
        "search s",
        "ratio",
        "measuring",
        "over best",
        "runs of",
        "best ms",
        "choice",
    )
    print("{:22} {:>7} {:>8} {:>8} {:>6} {:>9} {:>9} {:>8} {:>8} {}".format(*header), flush=True)
    x = torch.zeros(4096, device="cuda")
    for way in ("every", "search"):  # imports, the driver and ptxas are found once: before the clock runs
        with tempfile.TemporaryDirectory() as folder:
            tuned(
                gelu_add,
                blocks((64, 32), (1,)),
                (x, x, x, 4096),
                lambda e: (triton.cdiv(e["n"], e["BLOCK"]),),
                way,
                folder,
            )
    for name, kernel, configs, args, grid in cases():
        if time.perf_counter() - began > BUDGET:
            print(f"{name}: no time left")
            continue
        try:
            with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
                every, _, truth = tuned(kernel, configs, args, grid, "every", a)
                search, _, ours = tuned(kernel, configs, args, grid, "search", b)
                warm, _, again = tuned(kernel, configs, args, grid, "search", b)
                # Of measuring alone, all compiled.
                clock = EventClock(lambda config: None, ())
                whole = sum(clock.whole(times[0]) for times in truth.configs_timings.values() if times[0] < 1e9) / 1e3
            finite = {c: t for c, t in truth.configs_timings.items() if t[0] < 1e9}
            best = min(finite, key=lambda c: finite[c][0])
            over = max(against(kernel, choice, best, args, grid) for choice in {ours.best_config, again.best_config})
            measured = sum(t[0] < 1e9 for t in ours.configs_timings.values())
            row = dict(kernel=name, configs=len(configs), every=every, search=search, ratio=search / every,
                       measuring=warm / whole, over=over, measured=measured, fits=len(finite), best=finite[best][0],
                       choice=str(ours.best_config), truth=str(best), warm=warm, whole=whole,
                       by_truth=finite[ours.best_config][0] / finite[best][0],
                       timings={str(c): (t[0], ours.configs_timings[c][0]) for c, t in truth.configs_timings.items()},
                       failures={str(c): str(e)[:200] for c, e in truth.failures.items()})  # fmt: skip
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:500]}", flush=True)
            continue
        rows.append(row)
        print(f"{name:22} {len(configs):7} {every:8.2f} {search:8.2f} {search / every:6.3f} {warm / whole:9.3f} "
              f"{over:9.4f} {measured:3}/{len(finite):<4} {finite[best][0]:8.4f} "
              f"{ours.best_config}", flush=True)  # fmt: skip
        with open(out, "w") as file:
            json.dump(rows, file, indent=1)
    if rows:
        total = sum(r["search"] for r in rows) / sum(r["every"] for r in rows)
        print(f"worst over best {max(r['over'] for r in rows):.4f}; worst ratio "
              f"{max(r['ratio'] for r in rows):.3f}, of all {total:.3f}; "
              f"worst ratio of measuring {max(r['measuring'] for r in rows):.3f}; "
              f"{time.perf_counter() - began:.0f} s")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
