"""The programs of tests/sim/cuda/*.cu: how each is launched, and on what.

Here:      a row for each launch, with inputs from fixed seeds.
Not here:  runs on a GPU (tools/record_cuda.py) and on the simulator (test_cuda.py); what they compute
           (cuda_expected.py).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Triple = tuple[int, int, int]


class TensorMap(NamedTuple):
    """What cuTensorMapEncodeTiled is given, fastest dimension first."""

    array: str
    """The argument that it describes; it is no parameter of the kernel."""
    type: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    """Bytes, of all dimensions but the first."""
    box: tuple[int, ...]
    swizzle: int
    """0: none; 32, 64, 128: bytes."""


class Program(NamedTuple):
    name: str
    source: str
    """Of tests/sim/cuda, without .cu."""
    entry: str
    grid: Triple
    block: Triple
    arguments: dict[str, Any]
    """In order: an array is a pointer, a 0-d structure is passed by value, NumPy's scalars are numbers."""
    outputs: tuple[str, ...]
    """Arrays whose contents afterwards are the same in every run."""
    cluster: Triple = (1, 1, 1)
    shared: int = 0
    cooperative: bool = False
    """All CTAs have to run at the same time."""
    hidden: tuple[str, ...] = ()
    """Arrays that only a TensorMap points to."""


_rows: list[tuple[str, Callable[[np.random.Generator], Program]]] = []


def _triple(sizes: int | tuple[int, ...]) -> Triple:
    return (*((sizes,) if isinstance(sizes, int) else sizes), 1, 1)[:3]  # type: ignore[return-value]


def _row(source: str, grid: Any, block: Any, outputs: str, name: str = "", **options: Any) -> Callable:
    """The function below gives the arguments of the entry that it is named for."""

    def add(arguments: Callable[[np.random.Generator], dict[str, Any]]) -> Callable:
        entry = options.pop("entry", arguments.__name__)

        def make(random: np.random.Generator) -> Program:
            return Program(name or entry, source, entry, _triple(grid), _triple(block), arguments(random),
                           tuple(outputs.split()), **options)  # fmt: skip

        _rows.append((name or entry, make))
        return arguments

    return add


def programs() -> dict[str, Program]:
    return {name: make(np.random.default_rng(zlib.crc32(name.encode()))) for name, make in _rows}


i32, u32, i64, u64, f32, f64 = np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64


def specials(random: np.random.Generator, dtype: Any, count: int) -> np.ndarray:
    """Half of them any bits at all, a quarter edge values, a quarter of ordinary size."""
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    wild = random.integers(0, np.iinfo(bits).max, count, bits, endpoint=True).view(dtype)
    tiny = np.finfo(dtype).tiny
    edges = np.array(
        [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, tiny, -tiny, tiny / 4, np.finfo(dtype).max, 0.5, 2.5, -1.5]
    )
    values = np.where(random.random(count) < 0.5, wild, edges.astype(dtype)[random.integers(0, len(edges), count)])
    ordinary = (random.standard_normal(count) * 8).astype(dtype)
    return np.where(random.random(count) < 0.25, ordinary, values).astype(dtype)


def bf16(values: np.ndarray) -> np.ndarray:
    """The bits of values cut to bf16."""
    return (np.asarray(values, f32).view(u32) >> 16).astype(np.uint16)


@_row("reduce", 7, 192, "partial result")
def reduce(random):
    x = random.standard_normal(5000).astype(f32)
    x[[77, 4321]] = 9.5
    return dict(x=x, n=i32(5000), partial=np.zeros((7, 4), f32), result=np.zeros(4, f32))


@_row("scan", 10, 128, "out states next")
def scan(random):
    return dict(into=random.integers(0, 1000, 5000).astype(u32), out=np.zeros(5000, u32), n=i32(5000),
                states=np.zeros(10, u64), next=np.zeros(1, i32))  # fmt: skip


@_row("transpose", (2, 3), (32, 8), "out")
def transposeF32(random):
    return dict(into=random.random((70, 45), f32), out=np.zeros((45, 70), f32), rows=i32(70), columns=i32(45))


@_row("transpose", (2, 2), (32, 8), "out")
def transposeF64(random):
    return dict(into=random.random((33, 64)), out=np.zeros((64, 33)), rows=i32(33), columns=i32(64))


@_row("transpose", (2, 2), (32, 8), "out")
def transposeRgb(random):
    into = random.integers(0, 256, (40, 50, 3)).astype(np.uint8)
    return dict(into=into, out=np.zeros((50, 40, 3), np.uint8), rows=i32(40), columns=i32(50))


@_row("histogram", 3, 256, "bins")
def histogramBytes(random):
    data = (random.standard_normal(10007) * 40 + 128).astype(np.uint8)
    return dict(bytes=data, n=u32(len(data)), bins=np.arange(256, dtype=u32))


@_row("histogram", 2, 128, "counts")
def histogramKeys(random):
    keys = np.repeat(random.integers(-50, 50, 200), 5).astype(i64) << 3
    keys[256:320] = 1 << 40
    return dict(keys=keys, n=u32(len(keys)), counts=np.zeros(64, u64), mask=u32(63))


def _pairs(random, n, count):
    keys = (random.integers(-999, 999, n) / 8).astype(f32)
    keys[[3, 5]], keys[[4, 9]] = 0.0, -0.0
    return dict(keys=keys, values=np.arange(n, dtype=u32) * 3, n=u32(n), count=u32(count))


@_row("bitonic", 3, 64, "keys values", shared=8192)
def bitonicSort(random):
    return _pairs(random, 2500, 1024)


@_row("bitonic", 1, 512, "keys values", name="bitonicSort64K", entry="bitonicSort", shared=65536)
def bitonicSort64K(random):
    return _pairs(random, 8000, 8192)


@_row("radix", 1, 256, "keys")
def radixSort(random):
    keys = random.integers(-(1 << 62), 1 << 62, 1500)
    keys[::7] >>= 50
    return dict(keys=keys, other=np.zeros(1500, i64), n=i32(1500))


@_row("stencil2d", (4, 3), (16, 8), "out")
def heat(random):
    return dict(into=random.random((37, 50), f32), out=np.zeros((37, 50), f32), width=i32(50), height=i32(37),
                rate=f32(0.1), border=f32(0.25))  # fmt: skip


@_row("stencil2d", (1, 5), (32, 8), "out")
def life(random):
    cells = random.integers(0, 1 << 32, (40, 5), u32) & random.integers(0, 1 << 32, (40, 5), u32)
    return dict(into=cells, out=np.zeros((40, 5), u32), words=i32(5), rows=i32(40))


@_row("stencil3d", (2, 2), (16, 8), "before")
def wave(random):
    now, before = (random.integers(-99, 99, (12, 14, 20)) / 16.0 for _ in range(2))
    return dict(now=now, before=before, nx=i32(20), ny=i32(14), nz=i32(12), rate=f64(0.07))


@_row("wmma", (1, 2), 128, "d", shared=3 * (64 * 40 + 32 * 72) * 2)
def wmmaMatmul(random):
    a, b = random.standard_normal((128, 160)).astype(np.float16), random.standard_normal((160, 64)).astype(np.float16)
    c = (random.integers(-99, 99, (128, 64)) / 8).astype(f32)
    return dict(a=a, b=b, c=c, d=np.zeros((128, 64), f32), n=i32(64), k=i32(160))


@_row("mma", (2, 2), 128, "d")
def mmaMatmul(random):
    a, b = bf16(random.standard_normal((100, 120)) / 4), bf16(random.standard_normal((50, 120)))
    bias = (random.integers(-99, 99, 50) / 32).astype(f32)
    return dict(a=a, b=b, bias=bias, d=np.zeros((100, 50), np.uint16), m=i32(100), n=i32(50), k=i32(120))


@_row("bulk", 3, 160, "y")
def bulkRing(random):
    x, y = ((random.integers(-9999, 9999, 10000) / 64).astype(f32) for _ in range(2))
    return dict(x=x, y=y, n=i32(10000), scale=f32(1.7))


@_row("bulk", 3, 96, "out total")
def bulkReverse(random):
    return dict(
        into=random.integers(-9999, 9999, 3072).astype(i32), out=np.zeros(3072, i32), total=np.arange(1024, dtype=i32)
    )


@_row("tensormap", (2, 3), 128, "y sums", hidden=("x", "y"))
def tensorTranspose(random):
    x = random.integers(-9999, 9999, (72, 44)).astype(i32)
    return dict(into=TensorMap("x", "int32", (44, 72), (176,), (32, 32), 128),
                out=TensorMap("y", "int32", (72, 44), (288,), (32, 32), 0),
                sums=np.zeros(6, i32), x=x, y=np.zeros((44, 72), i32))  # fmt: skip


@_row("cluster", 8, 128, "counts", cluster=(4, 1, 1), shared=200)
def clusterHistogram(random):
    values = (random.standard_normal(3000) * 50 + 100).astype(i32)
    return dict(values=values, n=i32(3000), bins=i32(200), counts=np.zeros(200, i32))


@_row("cluster", 8, 128, "out", cluster=(4, 1, 1))
def clusterRing(random):
    return dict(into=random.integers(0, 1 << 16, 1024).astype(i32), out=np.zeros(1024, i32), rounds=i32(5))


@_row("cluster", 4, 64, "out", cluster=(2, 1, 1))
def clusterSend(random):
    return dict(into=random.integers(-9999, 9999, 256).astype(i32), out=np.zeros(128, i64))


@_row("cooperative", 5, 64, "distance state", cooperative=True)
def shortestWays(random):
    distance = np.where(random.random((40, 40)) < 0.15, random.integers(1, 100, (40, 40)), 1000000).astype(i32)
    np.fill_diagonal(distance, 0)
    return dict(distance=distance, n=i32(40), state=np.zeros(1, u32))


@_row("cooperative", 2, 128, "sums largest running odd labels")
def groups(random):
    return dict(into=random.integers(-20, 99, 256).astype(i32), sums=np.zeros(32, i32), largest=np.zeros(32, i32),
                running=np.zeros(256, i32), odd=np.zeros(256, i32), labels=np.zeros(256, u32))  # fmt: skip


@_row("recursion", 2, 48, "sorted ackermanns boards evens")
def recursion(random):
    return dict(into=random.integers(-99, 99, (96, 32)).astype(np.int16), sorted=np.zeros((96, 32), np.int16),
                ackermanns=np.zeros(96, u32), boards=np.zeros(96, i32), evens=np.zeros(96, i32))  # fmt: skip


@_row("prints", 3, 5, "printed", cooperative=True)
def prints(random):
    weights = random.standard_normal(15) * 10.0 ** random.integers(-9, 9, 15)
    weights[[1, 5, 7]] = np.inf, -0.0, np.nan
    return dict(weights=weights, printed=np.full(15, -1, i32))


@_row("locks", 2, 64, "slots", cooperative=True)
def laneLock(random):
    return dict(slots=np.zeros((3, 4), i32), slotCount=i32(3), rounds=i32(2))


@_row("locks", 2, 64, "slot", cooperative=True)
def spinFirst(random):
    return dict(slot=np.zeros(4, i32))


@_row("locks", 6, 96, "next serving log position", cooperative=True)
def tickets(random):
    return dict(next=np.zeros(1, u32), serving=np.zeros(1, u32), log=np.zeros(6, i32), position=np.zeros(1, i32))


@_row("locks", 1, 128, "out")
def lanesInTurn(random):
    return dict(out=np.zeros(128, i32))


SCENE = np.dtype(
    [("scale", f32, 3), ("count", np.int16), ("mode", np.int8), ("bias", f64), ("offsets", i32, 4)], align=True
)


@_row("virtuals", 2, 64, "out folded")
def virtuals(random):
    scene = np.array(([0.5, 2, -1.25], 90, 4, 0.375, [3, -1, 1 << 20, 7]), SCENE)
    return dict(
        scene=scene, sizes=random.random(128, f32), out=np.zeros((128, 16), np.uint8), folded=np.zeros(128, i32)
    )


@_row("atomics", 4, 64, "cells32 cells64 shared32 swapped")
def atomics(random):
    start = [5, -5, 1 << 30, 0, -1, 0, 0x55, 9, 3, -(1 << 31)]
    cells64 = np.array([5, 7, (1 << 62), 0, (1 << 64) - 1, 0, 0x55, 0, 0, 1], u64)
    return dict(into=random.integers(0, 1 << 32, 256, u32), cells32=np.array(start * 2, i32), cells64=cells64,
                shared32=np.zeros(10, i32), swapped=np.zeros(14, u64))  # fmt: skip


@_row("atomics", 4, 64, "f32 f64 f16x2 bf16x2 locks")
def atomicFloats(random):
    return dict(into=random.integers(0, 99, 256).astype(i32), f32=np.zeros(3, f32), f64=np.zeros(3),
                f16x2=np.zeros(2, np.float16), bf16x2=np.zeros(2, np.uint16), locks=np.zeros(5, np.uint16))  # fmt: skip


@_row("atomics", 4, 1, "boxes flags out", cooperative=True)
def messages(random):
    return dict(
        boxes=random.integers(-9, 9, (2, 4)).astype(i32), flags=np.zeros(2, i32), out=np.zeros(6, i64), rounds=i32(6)
    )


@_row("floats", 4, 128, "out wide")
def halves(random):
    a, b = specials(random, np.float16, 1024), specials(random, np.float16, 1024)
    return dict(a=a, b=b, out=np.zeros((512, 6), u32), wide=np.zeros(512, f32), n=i32(500))


@_row("floats", 4, 128, "out")
def brains(random):
    a, b = bf16(specials(random, f32, 1024)), bf16(specials(random, f32, 1024))
    return dict(a=a, b=b, out=np.zeros((512, 4), u32), f=specials(random, f32, 512), n=i32(500))


@_row("floats", 4, 128, "out ints")
def singles(random):
    return dict(a=specials(random, f32, 512), b=specials(random, f32, 512), out=np.zeros((512, 16), f32),
                ints=np.zeros((512, 4), u32), n=i32(500))  # fmt: skip


@_row("floats", 4, 64, "out ints")
def doubles(random):
    return dict(a=specials(random, f64, 256), b=specials(random, f64, 256), out=np.zeros((256, 12)),
                ints=np.zeros((256, 3), i64), n=i32(250))  # fmt: skip


@_row("floats", 2, 64, "out wide")
def functions(random):
    x = (random.standard_normal(128) * 10.0 ** random.integers(-3, 3, 128)).astype(f32)
    x[:6] = 0, -0.0, np.inf, -np.inf, np.nan, 1e-42
    return dict(x=x, d=x.astype(f64) * 1.000000123, out=np.zeros((128, 12), f32), wide=np.zeros((128, 4)), n=i32(128))


@_row("integers", 4, 128, "out out64")
def integers(random):
    a, b = (random.integers(0, 1 << 32, 512, u32) >> random.integers(0, 32, 512).astype(u32) for _ in range(2))
    a[:8], b[:8] = [0, 1, 1 << 31, (1 << 32) - 1] * 2, [0, (1 << 32) - 1, 1, 1 << 31] * 2
    return dict(a=a, b=b, out=np.zeros((512, 8), u32), out64=np.zeros(512, u64), n=i32(500))


@_row("machine", 3, 32, "out steps")
def machine(random):
    return dict(
        into=random.integers(-50, 200, 96).astype(i32), out=np.zeros(96, i32), steps=np.zeros(96, i32), n=i32(90)
    )


@_row("machine", (3, 4), (16, 8), "out")
def mandelbrot(random):
    return dict(out=np.zeros((32, 48), np.uint8), width=i32(48), height=i32(32), limit=i32(64))


def _graph(random, n):
    degree = random.integers(0, 7, n)
    starts = np.concatenate([[0], np.cumsum(degree)]).astype(i32)
    return dict(starts=starts, neighbours=random.integers(0, n, starts[-1]).astype(i32))


@_row("bfs", 2, 64, "levels foundCount")
def bfsLevel(random):
    levels = np.full(600, -1, i32)
    levels[:200] = 3
    return dict(**_graph(random, 600), places=np.arange(200, dtype=i32), count=i32(200), levels=levels, level=i32(3),
                found=np.zeros(600, i32), foundCount=np.zeros(1, i32))  # fmt: skip


@_row("bfs", 1, 96, "levels")
def bfs(random):
    return dict(**_graph(random, 500), levels=np.zeros(500, i32), first=i32(17), n=i32(500))


@_row("bfs", 8, 64, "y")
def sparseTimesVector(random):
    graph = _graph(random, 16)
    starts = (graph["starts"] * 9).astype(i32)
    columns = random.integers(0, 300, starts[-1]).astype(i32)
    values, x = random.standard_normal(starts[-1]).astype(f32), random.standard_normal(300).astype(f32)
    return dict(starts=starts, columns=columns, values=values, x=x, y=np.zeros(16, f32), rows=i32(16))
