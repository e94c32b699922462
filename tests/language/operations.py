"""Running the functions of operation_kernels.py on NumPy arrays of any shape, in compiled and eager mode.

Here:      launches; the two modes' bits are compared on the way.
Not here:  what is tested (test_reductions.py, test_scans.py, test_sorting.py, test_shapes.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import operation_kernels as kernels
import torch
from kernel_cases import TORCH
from number_formats import FLOATS, INTS, from_bits, to_bits

ELEMENTS = ("i1", *INTS, *FLOATS)
SHAPES = [(1,), (2,), (64,), (1024,), (1, 1), (8, 4), (1, 16), (2, 128), (64, 1), (2, 4, 8), (4, 1, 2), (2, 2, 4, 4)]
SMALL = [(1,), (8,), (4, 8), (2, 1, 4), (2, 2, 4, 2)]


def values(element: str, shape: tuple[int, ...], seed: int = 0, special: bool = False) -> np.ndarray:
    """Held values: small numbers; `special` adds NaN, infinities, both zeros and extremes."""
    r = np.random.default_rng([seed, *shape])
    count = int(np.prod(shape))
    if element == "i1":
        return r.integers(0, 2, shape).astype(bool)
    if element in INTS:
        info = np.iinfo(element.replace("i", "int").replace("u", "uint") if element[0] == "i" else "uint" + element[1:])
        x = r.integers(max(info.min, -20), 21, count).astype(info.dtype)
        if special:
            x[r.random(count) < 0.2] = info.max
            x[r.random(count) < 0.2] = info.min
        return x.reshape(shape)
    x = np.round(r.standard_normal(count) * 8) / 4
    if special:
        for number in (np.nan, np.inf, -np.inf, -0.0):
            x[r.random(count) < 0.12] = number
    return x.astype(np.float64 if element == "fp64" else np.float32).reshape(shape)


def tensor(x: np.ndarray, element: str) -> torch.Tensor:
    return torch.from_numpy(to_bits(np.ascontiguousarray(x).reshape(-1), element).copy()).view(TORCH[element])


def array(t: torch.Tensor, element: str, shape: tuple[int, ...]) -> np.ndarray:
    unsigned = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}
    return from_bits(t.view(unsigned[t.element_size()]).numpy(), element).reshape(shape)


def in_both_modes(run: Callable[[], list[torch.Tensor]]) -> list[torch.Tensor]:
    """Outputs of a compiled launch; an eager one must leave the same bits."""
    compiled = run()
    os.environ["TILETWIN_EAGER"] = "1"
    try:
        eager = run()
    finally:
        del os.environ["TILETWIN_EAGER"]
    for a, b in zip(compiled, eager):
        same = a.view(torch.uint8).numpy() == b.view(torch.uint8).numpy()
        assert same.all(), f"eager mode differs: {a} and {b}"
    return compiled


def apply(
    function: Any, x: np.ndarray, element: str, argument: Any, result: str, shape: tuple[int, ...], eager: bool = True
) -> np.ndarray:
    """FUNCTION(x, argument), an array of `shape` of element type `result`."""

    def run() -> list[torch.Tensor]:
        out = torch.zeros(max(int(np.prod(shape)), 1), dtype=TORCH[result])
        kernels.one[(1,)](tensor(x, element), out, function, argument, x.shape, x.size)
        return [out]

    return array(in_both_modes(run)[0] if eager else run()[0], result, shape)


def apply_two(
    function: Any, x: np.ndarray, element: str, argument: Any, results: tuple[str, str], shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """FUNCTION(x, argument), a pair of arrays of one shape."""

    def run() -> list[torch.Tensor]:
        outs = [torch.zeros(max(int(np.prod(shape)), 1), dtype=TORCH[result]) for result in results]
        kernels.two_results[(1,)](tensor(x, element), *outs, function, argument, x.shape, x.size)
        return outs

    a, b = in_both_modes(run)
    return array(a, results[0], shape), array(b, results[1], shape)


def combine(
    function: Any, x: np.ndarray, element: str, y: np.ndarray, other: str, argument: Any, shape: tuple[int, ...],
    result: str = "",
) -> np.ndarray:  # fmt: skip
    """FUNCTION(x, y, argument)."""
    result = result or element

    def run() -> list[torch.Tensor]:
        out = torch.zeros(max(int(np.prod(shape)), 1), dtype=TORCH[result])
        kernels.two_operands[(1,)](
            tensor(x, element), tensor(y, other), out, function, argument, x.shape, x.size, y.shape, y.size
        )
        return [out]

    return array(in_both_modes(run)[0], result, shape)


def without(shape: tuple[int, ...], axis: int | None) -> tuple[int, ...]:
    if axis is None:
        return ()
    return tuple(s for i, s in enumerate(shape) if i != axis % len(shape))


def axes(shape: tuple[int, ...]) -> list[int]:
    return [*range(len(shape)), -1]
