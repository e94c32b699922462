"""Inputs of the kernels' tests, and how far a result may be from its reference.

Here:      seeded inputs, `assert_close`, the bytes of results.
Not here:  kernels, references.
Invariant: bounds are counted in roundings of the result's type (or of the one the caller names), never a loose number.
"""

from __future__ import annotations

import os

import torch

ON_TRITON = os.environ.get("TILETWIN_TEST_TRITON", "0") == "1"
ON_GPU = os.environ.get("TILETWIN_TEST_DEVICE", "cpu") == "cuda"
"""Our compiled code on a GPU."""
DEVICE = "cuda" if ON_GPU or (ON_TRITON and torch.cuda.is_available()) else "cpu"
"""The CPU also where there is a GPU, unless real Triton or our compiled code is to run the kernels."""
COMPILED = ON_GPU or os.environ.get("TILETWIN_BACKEND") == "sim"
"""Kernels run as code for a GPU, whose functions are approximate: eager mode has other bits."""
ROUNDING = {
    torch.float64: 2.0**-53,
    torch.float32: 2.0**-24,
    torch.float16: 2.0**-11,
    torch.bfloat16: 2.0**-8,
    torch.float8_e4m3fn: 2.0**-4,
    torch.float8_e5m2: 2.0**-3,
}
"""Largest relative error of one rounding to a type."""
TF32 = 2.0**-10
"""Largest relative error of dropping the bits that tf32 lacks."""


def normal(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0, scale: float = 1.0) -> torch.Tensor:
    """Gaussian numbers, the same in every call with these arguments."""
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return (torch.randn(shape, generator=generator) * scale).to(dtype).to(DEVICE)


def integers(low: int, high: int, *shape: int, dtype: torch.dtype = torch.int32, seed: int = 0) -> torch.Tensor:
    """Integers in [low, high), the same in every call with these arguments."""
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return torch.randint(low, high, shape, generator=generator).to(dtype).to(DEVICE)


def assert_close(
    actual: torch.Tensor, expected: torch.Tensor, *, units: float = 8.0, unit: float | None = None
) -> None:
    """Each element lies within `units` roundings of the expected value plus the typical (root mean square) one.

    `unit`: relative size of a rounding; by default that of actual's dtype. NaN and infinities must be equal.
    """
    assert actual.shape == expected.shape, f"{tuple(actual.shape)} is not {tuple(expected.shape)}"
    unit = ROUNDING[actual.dtype] if unit is None else unit
    units *= 4 if COMPILED else 1  # a GPU's exp2, division and square root are not correctly rounded
    a = actual.detach().cpu().to(torch.float64)
    e = expected.detach().cpu().to(torch.float64)
    finite = torch.isfinite(e)
    assert torch.equal(a[e.isnan()].isnan(), e[e.isnan()].isnan()), "a number where NaN is expected"
    infinite = torch.isinf(e)
    assert torch.equal(a[infinite], e[infinite])
    a, e = a[finite], e[finite]
    if not e.numel():
        return
    bound = units * unit * (e.abs() + e.square().mean().sqrt()) + 1e-30
    excess = (a - e).abs() / bound
    assert not excess.isnan().any(), "NaN where a number is expected"
    worst = int(excess.argmax())
    assert excess[worst] <= 1, (
        f"element {worst} of {e.numel()}: {a[worst].item()} instead of {e[worst].item()}, "
        f"{excess[worst].item() * units:.1f} units apart (allowed {units})"
    )


def bits(results: torch.Tensor | tuple) -> list[bytes]:
    """The bytes of a tensor, or of each one of a tuple."""
    tensors = results if isinstance(results, (tuple, list)) else (results,)
    return [t.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes() for t in tensors if t is not None]
