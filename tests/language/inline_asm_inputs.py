"""Operands for inline PTX, and running a text of it in both modes."""

from __future__ import annotations

import math
from typing import Any

import inline_asm_kernels as kernels
import numpy as np
import pytest
import torch
from kernel_cases import TORCH

NUMPY = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
    "i64": np.int64, "u64": np.uint64, "fp16": np.float16, "fp32": np.float32, "fp64": np.float64, "bf16": np.uint16,
}  # fmt: skip
M16, M32, M64 = 2**16 - 1, 2**32 - 1, 2**64 - 1


def as_signed(x: int, bits: int) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def inputs(kind: str, n: int, seed: int) -> np.ndarray:
    """Edges and random values. bf16 as bits."""
    random = np.random.default_rng(seed)
    dtype = NUMPY[kind]
    if kind.startswith("fp") or kind == "bf16":
        edges = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            math.inf,
            -math.inf,
            math.nan,
            0.5,
            2.5,
            -3.5,
            1e-41,
            65504.0,
            -1e5,
            0.1,
            448.0,
            500.0,
        ]
        values = np.concatenate([edges, random.uniform(-8, 8, n)])[:n]
        with np.errstate(over="ignore"):
            if kind == "bf16":
                return torch.from_numpy(values).to(torch.bfloat16).view(torch.uint16).numpy()
            return random.permutation(values.astype(dtype))
    info = np.iinfo(dtype)
    edges = [
        v
        for v in (info.min, info.max, 0, 1, 2, -1, 3, 31, 32, 33, 63, 64, 100, 0x3210, 0x8D9)
        if info.min <= v <= info.max
    ]
    drawn = random.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    return random.permutation(np.concatenate([np.array(edges, dtype=dtype), drawn])[:n])


def run(text: str, registers: str, arguments: list[np.ndarray], kinds: list[str], result: str, pack: int) -> np.ndarray:
    n = len(arguments[0])
    tensors = [torch.from_numpy(a.copy()).view(TORCH[k]) for a, k in zip(arguments, kinds, strict=True)]
    out = torch.zeros(n, dtype=TORCH[result])
    kernels.KERNELS[len(arguments)][(1,)](*tensors, out, text, registers, pack, n)
    return out.view(torch.uint16).numpy() if result == "bf16" else out.numpy()


def both_modes(monkeypatch: pytest.MonkeyPatch, *args: Any) -> np.ndarray:
    compiled = run(*args)
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    eager = run(*args)
    monkeypatch.delenv("TILETWIN_EAGER")
    assert compiled.tobytes() == eager.tobytes()
    return compiled
