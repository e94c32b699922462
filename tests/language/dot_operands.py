"""Operands and accumulators of dots, as codes and as the numbers that they stand for."""

from __future__ import annotations

import dot_kernels
import formats
import numpy as np
import torch
from test_casts import DTYPES, array

FP8 = ("fp8e5", "fp8e4nv", "fp8e4b15", "fp8e4b8", "fp8e5b16")
SAME = tuple((t, t) for t in ("fp16", "bf16", "fp32", "fp64", "int8"))
MIXED = tuple((a, b) for a in FP8 for b in FP8)
RESULT = {"int8": "int32", "fp64": "fp64"}
EPSILON = {"fp16": 2.0**-10, "fp32": 2.0**-23, "fp64": 2.0**-52}


def make(name: str, shape: tuple[int, ...], seed: int, whole: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(codes, their values) of random numbers; `whole`: small integers, whose products every format sums exactly."""
    random = np.random.default_rng(seed)
    if name.startswith("int"):
        x = random.integers(-128, 128, shape)
        return x.astype(np.int8).view(np.uint8), x.astype(np.float64)
    x = random.integers(-3, 4, shape).astype(np.float64) if whole else random.standard_normal(shape)
    if name in ("fp32", "fp64"):
        kind = np.float32 if name == "fp32" else np.float64
        x = x.astype(kind)
        return x.view(np.uint32 if name == "fp32" else np.uint64), x.astype(np.float64)
    if whole and name == "fp8e4b15":
        x = x / 8
    codes = formats.encode(name, x)
    return codes, formats.values(name)[codes]


def empty(name: str, shape: tuple[int, ...]) -> torch.Tensor:
    kinds = {"fp16": torch.float16, "fp32": torch.float32, "fp64": torch.float64, "int32": torch.int32}
    return torch.full(shape, 77, dtype=kinds[name])


def tf32(x: np.ndarray) -> np.ndarray:
    return (x.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)


def run_dot(a, b, shape, types, precision=None, out=None, acc=None, transposed=False) -> np.ndarray:
    """The kernel's result as float64. a, b, acc: codes; acc has the result's type."""
    m, n, k = shape
    name = out or RESULT.get(types[0], "fp32")
    d = empty(name, (m, n))
    b = np.ascontiguousarray(b.T) if transposed else b
    dot_kernels.dot[(1,)](
        array(a, types[0]),
        array(b, types[1]),
        acc,
        d,
        M=m,
        N=n,
        K=k,
        PRECISION=precision,
        OUT=DTYPES[name],
        BT=transposed,
    )
    return d.numpy().astype(np.float64)
