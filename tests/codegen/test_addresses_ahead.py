"""Loads that several products read, begun some iterations ahead; lines of few elements, which each thread loads where it
needs them.

The judge is NumPy on small whole numbers, so that every order of a sum gives the same, with the simulator's checks of
races, bounds, unwritten memory and copies that nobody waited for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl
from tiletwin import checks
from tiletwin.compiler import ASTSource
from tiletwin.launch import sim_launch
from tiletwin.sim.check_words import CHECKS

HOPPER = triton.backends.compiler.GPUTarget("cuda", 90, 32)


@pytest.fixture(autouse=True)
def all_checks(monkeypatch):
    monkeypatch.setenv("TILETWIN_BACKEND", "sim")
    monkeypatch.setattr(sim_launch, "chosen_checks", lambda _: CHECKS)
    checks.clear()
    yield
    assert not checks.findings()


def stages_of(kernel, types: dict[str, str], **options: Any) -> dict[str, str]:
    """Texts of a kernel's stages; "int" is a number that 16 divides, other words that are no types are constexprs."""
    constants = {name: value for name, value in types.items() if not isinstance(value, str)}
    types = {name: value for name, value in types.items() if name not in constants}
    signature = {name: "i32" if value == "int" else value for name, value in types.items()}
    numbers = {name: i for i, name in enumerate(kernel.arg_names)}
    attributes = {(numbers[name],): [["tt.divisibility", 16]] for name, value in types.items() if value != "i32"}
    source = ASTSource(kernel, signature | dict.fromkeys(constants, "constexpr"), constants, attributes)
    return triton.compile(source, target=HOPPER, options=options).asm


def whole(*shape: int, dtype=np.float16, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


@triton.jit
def three_products(a, b, c, o, K, N: tl.constexpr, BK: tl.constexpr):
    row, column = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    first = tl.zeros((N, N), tl.float32)
    second = tl.zeros((N, N), tl.float32)
    third = tl.zeros((N, N), tl.float32)
    for i in range(0, K, BK):
        k = i + tl.arange(0, BK)
        x = tl.load(a + row * K + k[None, :], mask=k[None, :] < K, other=0.0)
        y = tl.load(b + k[:, None] * N + column, mask=k[:, None] < K, other=0.0)
        z = tl.load(c + k[:, None] * N + column, mask=k[:, None] < K, other=0.0)
        first += tl.dot(x, y, input_precision="ieee")
        second += tl.dot(x, z, allow_tf32=False)
        third += tl.dot(x, y + z, input_precision="ieee")
    at = o + row * N + column
    tl.store(at, first)
    tl.store(at + N * N, second)
    tl.store(at + 2 * N * N, third)


@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("k", [0, 16, 48, 80])
def test_products_without_tensor_cores_share_a_tile(k: int, stages: int) -> None:
    n = 32
    a, b, c = (
        whole(n, k, dtype=np.float32),
        whole(k, n, dtype=np.float32, seed=1),
        whole(k, n, dtype=np.float32, seed=2),
    )
    o = np.full((3, n, n), 77, np.float32)
    three_products[(1,)](a, b, c, o, k, n, 32, num_stages=stages)
    assert (o == np.stack([a @ b, a @ c, a @ (b + c)])).all()


def test_a_tile_of_three_products_is_copied_ahead() -> None:
    facts = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "o": "*fp32", "K": "int", "N": 32, "BK": 32}
    ttgir = stages_of(three_products, facts, num_stages=3)["ttgir"]
    copies = [line for line in ttgir.splitlines() if "twg.async_copy" in line]
    assert len(copies) == 3  # twice in front of the loop, once in it: of x alone, which products alone read


@triton.jit
def turned(x, cosine, sine, o, H: tl.constexpr, D: tl.constexpr):
    """Every head of a row turned by the row's angles: a line of numbers beside a tile."""
    head, d = tl.arange(0, H)[:, None], tl.arange(0, D)
    at = tl.program_id(0) * H * D * 2 + head * D * 2 + d[None, :]
    c = tl.load(cosine + tl.program_id(0) * D + d, mask=d < D, other=0.0).to(tl.float32)
    s = tl.load(sine + tl.program_id(0) * D + d, mask=d < D, other=0.0)
    first = tl.load(x + at).to(tl.float32)
    second = tl.load(x + at + D).to(tl.float32)
    tl.store(o + at, first * c[None, :] - second * s[None, :])
    tl.store(o + at + D, second * c[None, :] + first * s[None, :])


@pytest.mark.parametrize(("heads", "d", "warps"), [(8, 64, 4), (32, 32, 2), (2, 16, 1), (4, 128, 8)])
def test_lines_are_loaded_where_they_are_needed(heads: int, d: int, warps: int) -> None:
    x = whole(3, heads, 2, d)
    c, s = whole(3, d, seed=1), whole(3, d, seed=2)
    o = np.full((3, heads, 2, d), 77, np.float32)
    turned[(3,)](x, c, s, o, heads, d, num_warps=warps)
    first, second, c, s = (one.astype(np.float32) for one in (x[:, :, 0], x[:, :, 1], c[:, None], s[:, None]))
    assert (o == np.stack([first * c - second * s, second * c + first * s], 2)).all()


def test_lines_take_no_way_through_shared_memory() -> None:
    facts = {"x": "*fp16", "cosine": "*fp16", "sine": "*fp16", "o": "*fp32", "H": 8, "D": 64}
    asm = stages_of(turned, facts)
    assert "convert_layout" not in asm["ttgir"] and "bar.sync" not in asm["ptx"]
    assert asm["ttgir"].count("tt.load") == 4  # none is made twice in vain
    written = stages_of(turned_in_place, facts)["ttgir"]
    assert "convert_layout" in written


@triton.jit
def turned_in_place(x, cosine, sine, o, H: tl.constexpr, D: tl.constexpr):
    """A line that the kernel writes is loaded once."""
    head, d = tl.arange(0, H)[:, None], tl.arange(0, D)
    at = head * D + d[None, :]
    c = tl.load(cosine + d)
    tl.store(o + at, tl.load(x + at) * c[None, :])
    tl.store(cosine + d, c + 1)
