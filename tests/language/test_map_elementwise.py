"""tl.map_elementwise: branches, loops, packs and several results, against Python per element; both modes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import map_kernels as kernels
import numpy as np
import pytest
import torch
import triton


def both(launch: Callable[[torch.Tensor], None], out: torch.Tensor, monkeypatch: pytest.MonkeyPatch) -> torch.Tensor:
    results = []
    for eager in ("0", "1"):
        monkeypatch.setenv("TILETWIN_EAGER", eager)
        results.append(out.clone())
        launch(results[-1])
    assert results[0].view(torch.uint8).equal(results[1].view(torch.uint8))
    return results[0]


SIZES = [1, 2, 64, 1024]


@pytest.mark.parametrize("size", SIZES)
def test_branches(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.linspace(-4, 4, size)
    if size > 8:
        x[:5] = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0])
    out = both(lambda o: kernels.mapped[(1,)](x, o, kernels.piecewise, size), torch.zeros(size), monkeypatch)
    want = torch.where(x > 0, torch.where(x > 2, x * 10, torch.tanh(x.double()).float()), x * 0.5)
    assert torch.allclose(out, want, rtol=2e-7, atol=0, equal_nan=True)


@pytest.mark.parametrize("size", SIZES)
def test_loop_until_it_converges(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.linspace(0, 50, size)
    out = both(lambda o: kernels.mapped[(1,)](x, o, kernels.root, size), torch.zeros(size), monkeypatch)
    assert torch.allclose(out, torch.sqrt(x), rtol=3e-7, atol=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_loops_over_integers(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    n = torch.arange(size, dtype=torch.int32) % 97
    zero = torch.zeros(size, dtype=torch.int32)
    squares = both(lambda o: kernels.mapped[(1,)](n, o, kernels.power_sum, size), zero, monkeypatch)
    assert squares.tolist() == [sum(k * k for k in range(v)) for v in n.tolist()]

    def collatz(v: int) -> int:
        count = 0
        while v > 1:
            v = v // 2 if v % 2 == 0 else 3 * v + 1
            count += 1
        return count

    lengths = both(lambda o: kernels.mapped[(1,)](n, o, kernels.collatz, size), zero, monkeypatch)
    assert lengths.tolist() == [collatz(v) for v in n.tolist()]
    total = both(lambda o: kernels.summed[(1,)](n, o, size), torch.zeros(1, dtype=torch.int32), monkeypatch)
    assert total.item() == sum(collatz(v) for v in n.tolist())


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_two_results(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    a = torch.from_numpy(random.integers(-100, 100, 64)).to(dtype)
    b = torch.from_numpy(random.integers(-3, 4, 64)).to(dtype)
    info = torch.iinfo(dtype)
    a[:2], b[:2] = torch.tensor([info.min, info.max], dtype=dtype), torch.tensor([1, -1], dtype=dtype)
    if dtype is not torch.int32:  # 0 is a 32-bit number: the arms would differ in type
        with pytest.raises(triton.CompilationError):
            kernels.mapped_two[(1,)](a, b, torch.zeros(128, dtype=dtype), kernels.quotient, 64)
        return
    out = both(
        lambda o: kernels.mapped_two[(1,)](a, b, o, kernels.quotient, 64), torch.zeros(128, dtype=dtype), monkeypatch
    )
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        q = 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        assert (out[i].item(), out[64 + i].item()) == (q, x - q * y if y else x)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int64, torch.float16, torch.bfloat16, torch.float64])
def test_element_types(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """Swapping by a comparison keeps every bit."""
    random = np.random.default_rng(4)
    a, b = (torch.from_numpy(random.uniform(-90, 90, 128)).to(dtype) for _ in range(2))
    out = both(
        lambda o: kernels.mapped_two[(1,)](a, b, o, kernels.order_two, 128), torch.zeros(256, dtype=dtype), monkeypatch
    )
    assert torch.equal(out[:128], torch.minimum(a, b))
    assert torch.equal(out[128:], torch.maximum(a, b))


@pytest.mark.parametrize("size", [4, 8, 256])
@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.float32, torch.float64])
def test_packs_of_four(size: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.from_numpy(np.random.default_rng(5).integers(-100, 100, size)).to(dtype)
    out = both(
        lambda o: kernels.mapped_pack[(1,)](x, o, kernels.order_four, 4, size),
        torch.zeros(size, dtype=dtype),
        monkeypatch,
    )
    assert torch.equal(out.view(-1, 4), x.view(-1, 4).sort(dim=1).values)


def test_results_of_one_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.arange(-8, 8, dtype=torch.int32)
    out = both(
        lambda o: kernels.mapped[(1,)](x, o, kernels.to_bool, 16), torch.zeros(16, dtype=torch.bool), monkeypatch
    )
    assert torch.equal(out, x > 1)


@pytest.mark.parametrize("rounds", [0, 1, 7])
def test_two_dimensions_in_a_loop(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.linspace(0, 3, 64)
    out = both(lambda o: kernels.with_scalar[(1,)](x, 0.25, o, rounds, 16), torch.zeros(64), monkeypatch)
    want = x.clone()
    for _ in range(rounds):
        want = torch.where(want < 1, want + 0.25, want * 0.5)
    assert torch.allclose(out, want + torch.sqrt(want), rtol=1e-6, atol=1e-6)


def test_lifted_and_looped_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pack of one over pairs of equal functions: strips of a tile, and element by element."""
    x = torch.from_numpy(np.random.default_rng(6).standard_normal(512).astype(np.float32))
    tile, looped = torch.zeros(512), torch.zeros(512)
    kernels.mapped[(1,)](x, tile, kernels.piecewise, 512)
    kernels.mapped_pack[(1,)](x, looped, twice_piecewise, 2, 512)
    assert torch.equal(tile, looped)


@triton.jit
def twice_piecewise(a, b):
    return kernels.piecewise(a), kernels.piecewise(b)


@pytest.mark.parametrize(
    ("function", "pack", "message"),
    [("order_four", 2, "missing|argument"), ("order_two", 3, "pack"), ("to_bool", 2, "multiple|argument")],
)
def test_errors(function: str, pack: int, message: str) -> None:
    x: Any = torch.zeros(16, dtype=torch.int32)
    with pytest.raises(Exception, match=message):
        kernels.mapped_pack[(1,)](x, x.clone(), getattr(kernels, function), pack, 16)
