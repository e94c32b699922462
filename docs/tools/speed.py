"""The pictures of docs/speed.md, drawn from benchmarks/results/gpu_h200.json: `speed.py [FOLDER]`.

Here:      what a row computes and moves, what an H200 could do at most, the two pictures.
Not here:  measuring (benchmarks/gpu.py), shapes and files (svg.py).
Invariant: a row that the file has and `work_of` does not know is an error.
"""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from svg import FAINT, INK, Drawing

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "gpu_h200.json"
BANDWIDTH = 4.8e12
"""Bytes a second, as NVIDIA's data sheet of the H200 (SXM) has it."""
PEAKS = {"f16": 989e12, "bf16": 989e12, "tf32": 495e12, "fp8": 1979e12, "int8": 1979e12, "f32": 67e12}
"""Operations a second without sparsity, from the same sheet; an addition and a multiplication are two."""
OURS, TRITON, LIBRARY = "#2a9d78", "#e0a63c", "#6a8fd8"


@dataclass(frozen=True)
class Work:
    """Operations, the type they have, and the bytes that memory must move at least: each operand and result once."""

    operations: float
    dtype: str
    bytes: float

    @property
    def least_seconds(self) -> float:
        return max(self.operations / PEAKS[self.dtype], self.bytes / BANDWIDTH)

    @property
    def is_memory(self) -> bool:
        return self.bytes / BANDWIDTH > self.operations / PEAKS[self.dtype]


def _product(m: int, n: int, k: int, dtype: str, a: float, b: float, c: float) -> Work:
    return Work(2.0 * m * n * k, dtype, m * k * a + k * n * b + m * n * c)


def _attention(width: int, dtype: str, tokens: int, causal: bool) -> Work:
    heads = 4 * 32 * 4096 // tokens
    return Work(4.0 * heads * tokens**2 * width * (0.5 if causal else 1), dtype, 4 * heads * tokens * width * 2)


def work_of(name: str) -> Work:
    """What a row of benchmarks/gpu_rows.py does. Raises KeyError for a name that has no rule."""
    if found := re.fullmatch(r"vadd f32 2\^(\d+)", name):
        return Work(2 ** int(found[1]), "f32", 12 * 2 ** int(found[1]))
    if found := re.fullmatch(r"(softmax|layer_norm|rms_norm|cross_entropy) (f32|f16|bf16) (\d+)x(\d+)( loops)?", name):
        elements = int(found[3]) * int(found[4])
        size = 4 if found[2] == "f32" else 2
        return Work(5.0 * elements, "f32", elements * size * (1 if found[1] == "cross_entropy" else 2))
    if found := re.fullmatch(r"matmul (f16|tf32|fp8|int8) (\d+)", name):
        size = {"f16": 2, "tf32": 4, "fp8": 1, "int8": 1}[found[1]]
        n = int(found[2])
        return _product(n, n, n, found[1], size, size, 4 if found[1] in ("tf32", "int8") else 2)
    if found := re.fullmatch(r"(epilogue|stream_k) matmul f16 (\d+)", name):
        n = int(found[2])
        return _product(n, n, n, "f16", 2, 2, 4 if found[1] == "stream_k" else 2)
    if found := re.fullmatch(r"int4 matmul (\d+)x(\d+)x(\d+)", name):
        m, n, k = (int(found[i]) for i in (1, 2, 3))
        return _product(m, n, k, "f16", 2, 0.5 + 2 / 128, 2)
    if name == "grouped matmul f16":
        rows = sum((1000, 24, 2048, 512, 77, 1500, 640, 2391))
        return Work(2.0 * rows * 4096 * 2048, "f16", 2.0 * (rows * 2048 + 8 * 2048 * 4096 + rows * 4096))
    if found := re.fullmatch(r"attention backward f16 D(\d+)", name):
        # Five products of which the two kernels compute the scores twice: seven.
        return Work(14.0 * 32 * 4096**2 * int(found[1]), "f16", 8 * 32 * 4096 * int(found[1]) * 2)
    if found := re.fullmatch(r"attention (f16|bf16) D(\d+)( causal)?(?: T(\d+))?", name):
        return _attention(int(found[2]), found[1], int(found[4] or 4096), bool(found[3]))
    raise KeyError(f"{name}: docs/tools/speed.py has no rule for what this row computes; add one to work_of")


def shares(picture_rows: dict[str, Any], path: Path) -> None:
    """A bar for each row: how much of the H200's limit it reaches, with Triton's and the library's mark."""
    step, left, wide = 22, 250, 420
    picture = Drawing(left + wide + 110, 92 + step * len(picture_rows), "How much of an H200's limit each row reaches")
    picture.text(16, 26, "Share of the H200's published limit", 15, bold=True)
    for x, colour, words in ((16, OURS, "tiletwin"), (120, TRITON, "Triton 3.6"), (224, LIBRARY, "library")):
        picture.box(x, 40, 12, 12, colour)
        picture.text(x + 18, 51, words)
    for tenth in range(0, 11, 2):
        x = left + wide * tenth / 10
        picture.line(x, 64, x, 72 + step * len(picture_rows), "#e4e7eb")
        picture.text(x, 62, f"{tenth * 10} %", 10, FAINT, anchor="middle")
    for row, (name, found) in enumerate(picture_rows.items()):
        y, work = 74 + row * step, work_of(name)
        picture.text(left - 8, y + 12, name, 11, anchor="end")
        reached = work.least_seconds / (found["tiletwin"]["ms"] * 1e-3)
        picture.box(left, y + 2, wide * reached, 13, OURS)
        for side, colour in (("triton", TRITON), ("library", LIBRARY)):
            if found.get(side, {}).get("ms"):
                x = left + wide * work.least_seconds / (found[side]["ms"] * 1e-3)
                picture.line(x, y - 1, x, y + 18, colour, 3)
        words = f"{reached:.0%} of {'memory' if work.is_memory else work.dtype}"
        picture.text(left + wide + 6, y + 12, words, 10, FAINT)
    picture.write(path)


def roofline(picture_rows: dict[str, Any], path: Path) -> None:
    """Operations a second over operations a byte, both logarithmic, under the limits of memory and tensor cores."""
    low_x, high_x, low_y, high_y, left, top, wide, high = -1.5, 4.0, 11.0, 15.5, 70, 50, 620, 380
    picture = Drawing(left + wide + 24, top + high + 50, "A roofline of an H200 with the rows of the benchmark")

    def at(intensity: float, rate: float) -> tuple[float, float]:
        x = left + wide * (math.log10(intensity) - low_x) / (high_x - low_x)
        return x, top + high * (1 - (math.log10(rate) - low_y) / (high_y - low_y))

    picture.text(16, 26, "Operations a second, by operations for each byte of memory", 15, bold=True)
    for power in range(-1, 5):
        x, _ = at(10.0**power, 1e12)
        picture.line(x, top, x, top + high, "#e4e7eb")
        picture.text(x, top + high + 18, f"{10.0**power:g}", 10, FAINT, anchor="middle")
    for power in range(11, 16):
        _, y = at(1, 10.0**power)
        picture.line(left, y, left + wide, y, "#e4e7eb")
        picture.text(left - 6, y + 4, f"{10.0 ** (power - 12):g} T/s", 10, FAINT, anchor="end")
    for dtype in ("f32", "tf32", "f16", "fp8"):
        knee = PEAKS[dtype] / BANDWIDTH
        x1, y1 = at(knee, PEAKS[dtype])
        x2, _ = at(10**high_x, PEAKS[dtype])
        picture.line(x1, y1, x2, y1, INK, 1.5)
        words = {"f16": "f16, bf16", "fp8": "fp8, int8"}.get(dtype, dtype)
        picture.text(x2 - 4, y1 - 4, words, 10, anchor="end")
    first, knee = 10**low_x * 1.3, PEAKS["fp8"] / BANDWIDTH
    picture.line(*at(first, first * BANDWIDTH), *at(knee, PEAKS["fp8"]), INK, 1.5)
    for name, found in picture_rows.items():
        work = work_of(name)
        for side, colour, size in (("triton", TRITON, 4), ("tiletwin", OURS, 6)):
            x, y = at(work.operations / work.bytes, work.operations / (found[side]["ms"] * 1e-3))
            picture.box(x - size / 2, y - size / 2, size, size, colour, radius=size / 2)
    picture.text(left + wide / 2, top + high + 38, "operations a byte", 11, FAINT, anchor="middle")
    picture.box(left + 16, top + 12, 10, 10, OURS, radius=5)
    picture.text(left + 32, top + 21, "tiletwin")
    picture.box(left + 16, top + 30, 10, 10, TRITON, radius=5)
    picture.text(left + 32, top + 39, "Triton 3.6")
    picture.write(path)


def draw(folder: Path) -> None:
    rows = json.loads(RESULTS.read_text())["rows"]
    shares(rows, folder / "speed_shares.svg")
    roofline(rows, folder / "speed_roofline.svg")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
