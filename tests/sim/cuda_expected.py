"""What some of the programs of tests/sim/cuda compute, by NumPy: a second witness for what a GPU gave.

Here:      a function for each launch whose result does not hang on the rounding of long sums.
Not here:  the launches (cuda_programs.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

i32, u32, i64, u64, f32 = np.int32, np.uint32, np.int64, np.uint64, np.float32


def reduce(a):
    found = a["x"].max()
    return {"result": [None, a["x"].min(), found, int(a["x"].argmax())]}


def scan(a):
    x = a["into"].astype(u64)
    tiles = np.add.reduceat(x, np.arange(0, len(x), 512))
    return {"out": np.cumsum(x) - x, "states": np.cumsum(tiles) | u64(2 << 32), "next": [10]}


def _transposed(a):
    return {"out": np.swapaxes(a["into"], 0, 1)}


transposeF32 = transposeF64 = transposeRgb = _transposed


def histogramBytes(a):
    return {"bins": a["bins"] + np.bincount(a["bytes"], minlength=256)}


def histogramKeys(a):
    return {"counts": np.bincount(a["keys"] & 63, minlength=64)}


def bitonicSort(a):
    keys, values, count = a["keys"].copy(), a["values"].copy(), int(a["count"])
    for at in range(0, len(keys), count):
        bits = keys[at : at + count].view(i32)
        order = np.argsort(np.where(bits < 0, -1 - (bits & 0x7FFFFFFF).astype(i64), bits), kind="stable")
        keys[at : at + count], values[at : at + count] = keys[at : at + count][order], values[at : at + count][order]
    return {"keys": keys, "values": values}


bitonicSort64K = bitonicSort


def radixSort(a):
    return {"keys": np.sort(a["keys"])}


def life(a):
    cells = np.unpackbits(a["into"].view(np.uint8), axis=1, bitorder="little").astype(int)
    around = sum(np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - cells
    alive = (around == 3) | ((around == 2) & (cells == 1))
    return {"out": np.packbits(alive, axis=1, bitorder="little").view(u32)}


def bulkReverse(a):
    turned = a["into"].reshape(3, -1)[:, ::-1]
    return {"out": turned.reshape(-1), "total": a["total"] + turned.sum(0)}


def bulkRing(a):
    exact = np.float64(a["scale"]) * a["x"].astype(float) + a["y"]
    return {"y": exact.astype(f32)}


def tensorTranspose(a):
    padded = np.zeros((96, 64), i64)
    padded[:72, :44] = a["x"]
    return {"y": a["x"].T + 1, "sums": padded.reshape(3, 32, 2, 32).sum((1, 3)).reshape(-1)}


def clusterHistogram(a):
    return {"counts": np.bincount(np.clip(a["values"], 0, 199), minlength=200)}


def clusterSend(a):
    both = a["into"].reshape(2, 2, 64).astype(i64)
    return {"out": (both[:, 0] * both[:, 1, ::-1]).reshape(-1)}


def shortestWays(a):
    distance = a["distance"].copy()
    for via in range(len(distance)):
        distance = np.minimum(distance, distance[:, via : via + 1] + distance[via])
    return {"distance": distance}


def groups(a):
    rows = a["into"].reshape(-1, 8)
    odd = [np.arange(128) < np.count_nonzero(part & 1) for part in a["into"].reshape(2, 128)]
    return {"sums": rows.sum(1), "largest": rows.max(1), "odd": np.concatenate(odd)}


def recursion(a):
    rows = a["into"].copy()
    for at, row in enumerate(rows):
        row[: 32 - at % 5].sort()

    def ackermann(m, n):
        return n + 1 if m == 0 else ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))

    at = range(len(rows))
    return {"sorted": rows, "ackermanns": [ackermann(i % 3, i % 7) for i in at], "evens": [i % 19 % 2 == 0 for i in at]}


def laneLock(a):
    slots = np.zeros((3, 4), i32)
    for thread in range(128):
        for turn in range(2):
            slots[(thread + turn) % 3, 1:3] += 1, thread * (turn + 1)
    return {"slots": slots}


def spinFirst(a):
    return {"slot": [0, 2 * sum(thread % 3 != 1 for thread in range(64)), 0, 4]}


def tickets(a):
    return {"next": [6], "serving": [6], "log": 6 + np.arange(6), "position": [6]}


def lanesInTurn(a):
    lane = np.arange(128) % 32
    return {"out": np.where(lane % 2, lane * 10, lane + 1)}


def atomicFloats(a):
    x, at = a["into"] & 15, np.arange(256)
    sums = [(x - 7)[at % 3 == i].sum() for i in range(3)], [x[at % 3 == i].sum() / 8 for i in range(3)]
    return {"f32": sums[0], "f64": sums[1], "f16x2": [(x & 1).sum(), -(x & 2).sum()],
            "locks": [x[at % 5 == i].sum() for i in range(5)]}  # fmt: skip


def machine(a):
    n = a["into"][:90].astype(i64)
    kinds = [np.maximum(0, -(-n // 3)), np.where(n > 0, n * (n + 1) // 2, n), (n * n) ** 2 % 251 - 7]
    return {"out": np.concatenate([np.choose(np.arange(90) % 3, kinds), np.zeros(6, i64)])}


def bfs(a):
    levels = np.full(500, -1)
    levels[17], front, level = 0, [17], 0
    while front:
        level += 1
        near = {int(to) for i in front for to in a["neighbours"][a["starts"][i] : a["starts"][i + 1]]}
        front = [to for to in near if levels[to] < 0]
        levels[front] = level
    return {"levels": levels}


def bfsLevel(a):
    near = np.unique(a["neighbours"][: a["starts"][200]])
    levels = a["levels"].copy()
    near = near[levels[near] < 0]
    levels[near] = 4
    return {"levels": levels, "foundCount": [len(near)]}


def wmmaMatmul(a):
    return {"d": ("near", np.maximum(a["a"].astype(float) @ a["b"].astype(float) + a["c"], -1), 2e-4)}


def mmaMatmul(a):
    wide = [(a[k].astype(u32) << 16).view(f32).astype(float) for k in "ab"]
    x = wide[0] @ wide[1].T + a["bias"]
    return {"d": ("near bf16", x / (1 + np.exp(-x)), 2e-2)}


def functions(a):
    with np.errstate(all="ignore"):
        d = a["d"]
        return {"wide": ("near", np.stack([np.exp(d), np.log(abs(d)), np.sin(d), abs(d) ** 0.3], 1), 1e-12)}


def problems(program: Any, got: dict[str, np.ndarray]) -> list[str]:
    """What differs from NumPy; empty also where there is no function."""
    function = globals().get(program.name)
    lines = []
    for name, want in (function(program.arguments) if function else {}).items():
        have = got[name]
        if isinstance(want, tuple):
            how, want, tolerance = want
            have = (have.astype(u32) << 16).view(f32) if how == "near bf16" else have
            same = np.isclose(have, want, tolerance, tolerance, equal_nan=True)
        elif name == "result":
            bits = np.array([*want[1:3], 0], f32)
            same = have[1:4].view(i32) == np.array([*bits[:2].view(i32), want[3]])
        else:
            same = have.reshape(-1) == np.asarray(want).reshape(-1)
        if not same.all():
            at = int(np.argmin(same))
            lines.append(f"{program.name}: {name}: {int((~same).sum())} of {same.size} are not NumPy's, first [{at}]: "
                         f"{have.reshape(-1)[at]!r}")  # fmt: skip
    return lines
