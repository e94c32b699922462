"""Real Triton's code for sm_100, with tensor memory and tcgen05, on the simulator, against exact results by NumPy.

The interpreter is no reference here: operands are small integers, whose sums are exact in any order.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import children
import numpy as np
import pytest
import tensor_memory_kernels as kernels
import tiletwin.language as tl
import torch
from tiletwin import checks, diff, sim
from tiletwin.diff import triton_process, triton_sim

pytestmark = pytest.mark.skipif(
    triton_process.python() is None, reason="real Triton is not installed; TILETWIN_TRITON names a Python that has it"
)
KINDS = {
    "f16": (torch.float16, tl.float32, "kind::f16"),
    "bf16": (torch.bfloat16, tl.float32, "kind::f16"),
    "tf32": (torch.float32, tl.float32, "kind::tf32"),
    "e4m3": (torch.float8_e4m3fn, tl.float32, "kind::f8f6f4"),
    "e5m2": (torch.float8_e5m2, tl.float32, "kind::f8f6f4"),
    "i8": (torch.int8, tl.int32, "kind::i8"),
    "f16 in f16": (torch.float16, tl.float16, "kind::f16"),
}


def ran(kernel: Any, grid: tuple, args: dict[str, Any], **options: Any) -> tuple[str, list[np.ndarray]]:
    """The PTX, and the arrays afterwards. Fails if a check of the simulator finds something."""
    launch = diff.launch_of(kernel, grid, args, **options)
    backend = triton_sim.TritonSimBackend("sm_100")
    ptx = backend._answer(launch)["ptx"]
    outcome = backend.run(launch)
    assert not outcome.error and not outcome.unsupported and not outcome.findings, outcome
    return ptx, outcome.memory


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-3, 4, shape)


@pytest.mark.parametrize("shape", [(128, 128, 64, 4), (64, 64, 64, 4), (128, 256, 32, 8), (256, 64, 32, 8)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_products_of_every_type(kind: str, shape: tuple[int, int, int, int]) -> None:
    element, total, word = KINDS[kind]
    m, n, k, warps = shape
    a, b = drawn(m, 4 * k), drawn(4 * k, n, seed=1)
    of_sum = {tl.float32: torch.float32, tl.float16: torch.float16, tl.int32: torch.int32}[total]
    c = torch.zeros(m, n, dtype=of_sum)
    args = {"a": torch.tensor(a).to(element), "b": torch.tensor(b).to(element), "c": c, "K": 4 * k, "BM": m, "BN": n,
            "BK": k, "SUM": total}  # fmt: skip
    ptx, memory = ran(kernels.matmul, (1,), args, num_warps=warps, num_stages=3)
    assert f"tcgen05.mma.cta_group::1.{word}" in ptx
    got = torch.frombuffer(memory[2], dtype=of_sum).reshape(m, n).double().numpy()
    np.testing.assert_array_equal(got, a @ b)


def of_persistent(split: bool, ctas: int) -> tuple[dict[str, Any], np.ndarray]:
    """Arguments of the persistent product, and what it has to give."""
    m, n, k = 512 * ctas, 384, 256
    a, b, c = drawn(m, k), drawn(n, k, seed=1), np.zeros((m, n), np.float16)
    args = {"a": a.astype(np.float16), "b": b.astype(np.float16), "c": c, "M": m, "N": n, "K": k, "BM": 128 * ctas,
            "BN": 128, "BK": 64, "SPLIT": split}  # fmt: skip
    return args, a @ b.T


@pytest.mark.parametrize("split", [False, True], ids=["one role", "warps specialised"])
@pytest.mark.parametrize("ctas", [1, 2])
def test_persistent_products_by_descriptors(split: bool, ctas: int) -> None:
    args, want = of_persistent(split, ctas)
    ptx, memory = ran(kernels.persistent, (3,), args, num_warps=4, num_stages=3, num_ctas=ctas)
    assert "tcgen05.mma" in ptx and split == ("setmaxnreg" in ptx)
    np.testing.assert_array_equal(memory[2].view(np.float16).reshape(want.shape), want)


@pytest.mark.parametrize("split", [False, True], ids=["one role", "warps specialised"])
def test_commits_and_waits_that_are_left_out_are_found(split: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one of them alone."""
    args, _ = of_persistent(split, 1)
    launch = diff.launch_of(kernels.persistent, (3,), args, num_warps=4, num_stages=3)
    backend = triton_sim.TritonSimBackend("sm_100")
    answer = backend._answer(launch)
    lines = answer["ptx"].splitlines()
    places = [i for i, line in enumerate(lines) if "tcgen05.commit" in line or "tcgen05.wait" in line]
    assert len(places) >= 4
    for place in places:
        ptx = "\n".join(lines[:place] + lines[place + 1 :])
        monkeypatch.setattr(backend, "_answer", lambda _, ptx=ptx: {**answer, "ptx": ptx})
        outcome = backend.run(launch)
        assert outcome.error or outcome.findings, lines[place]


@pytest.mark.parametrize("split", [False, True], ids=["one role", "warps specialised"])
def test_attention(split: bool) -> None:
    t, d = 384, 64
    draws = np.random.default_rng(0).standard_normal((3, t, d))
    q, k, v = (draws / [[[8]], [[1]], [[1]]]).astype(np.float16)
    args = {"q": q, "k": k, "v": v, "o": np.zeros_like(q), "T": t, "BM": 128, "BN": 64, "D": d, "SPLIT": split}
    ptx, memory = ran(kernels.attention, (t // 128,), args, num_warps=4, num_stages=3)
    assert split == ("setmaxnreg" in ptx)
    s = q.astype(np.float64) @ k.astype(np.float64).T
    p = 2.0 ** (s - s.max(1, keepdims=True))
    want = p @ v.astype(np.float64) / p.sum(1, keepdims=True)
    # p and the result have f16's 11 bits; weights sum up to 1 over values of size 1.
    np.testing.assert_allclose(memory[-1].view(np.float16).reshape(t, d), want, atol=4 * 2.0**-11, rtol=0)


def test_softmax() -> None:
    x = np.random.default_rng(0).standard_normal((4, 1024)).astype(np.float32)
    ptx, memory = ran(kernels.softmax, (4,), {"x": x, "o": np.zeros_like(x), "N": 1024}, num_warps=4)
    assert "redux.sync.max" in ptx and ".f32 " in ptx
    weights = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    want = weights / weights.sum(1, keepdims=True)
    np.testing.assert_allclose(memory[1].view(np.float32).reshape(x.shape), want, rtol=2.0**-19)


def test_rows_that_an_index_names() -> None:
    x = np.arange(64 * 64, dtype=np.float16).reshape(64, 64)
    rows = np.random.default_rng(0).permutation(64)[:32].astype(np.int32)
    args = {"x": x, "rows": rows, "o": np.zeros_like(x), "M": 64, "N": 64, "COUNT": 32}
    ptx, memory = ran(kernels.moved_rows, (1,), args, num_warps=4)
    assert "tile::gather4" in ptx and "tile::scatter4" in ptx
    want = np.zeros_like(x)
    want[rows] = x[rows[::-1]]
    np.testing.assert_array_equal(memory[2].view(np.float16).reshape(x.shape), want)


@pytest.mark.parametrize("m", [128, 256])
def test_products_of_two_ctas(m: int, tmp_path: Path) -> None:
    """With M of 128 the columns of a CTA's half of D lie in two halves of its lanes."""
    python, out = triton_process.python(), tmp_path / "product.ptx"
    assert python
    environment = children.environment(package=False, TRITON_CACHE_DIR=str(tmp_path / "cache"))
    program = Path(__file__).with_name("two_cta_product.py")
    shared = subprocess.run([python, str(program), str(out), str(m)], env=environment, check=True, text=True,
                            capture_output=True).stdout  # fmt: skip
    assert "tcgen05.mma.cta_group::2" in out.read_text()
    a, b, c = drawn(m, 64), drawn(64, 128, seed=1), np.zeros((m, 128), np.float32)
    checks.clear()
    sim.load(out)["product"](
        a.astype(np.float16), b.astype(np.float16), c, None, None, grid=2, cluster=2, block=128, shared=int(shared),
        checks="all",
    )  # fmt: skip
    assert not checks.findings()
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("n", [64, 128, 256])
@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
def test_products_with_block_scales(kind: str, n: int) -> None:
    m, k = 128, 256
    a, b, c = drawn(m, k), drawn(k, n, seed=1), np.zeros((m, n), np.float32)
    of_a, of_b = (np.random.default_rng(i).integers(125, 130, (lines, k // 32)).astype(np.uint8)
                  for i, lines in enumerate((m, n)))  # fmt: skip
    element = KINDS[kind][0]
    args = {"a": torch.tensor(a).to(element), "of_a": of_a, "b": torch.tensor(b).to(element), "of_b": of_b, "c": c,
            "K": k, "BM": m, "BN": n, "BK": 128, "KIND": kind}  # fmt: skip
    ptx, memory = ran(kernels.scaled, (1,), args, num_warps=4, num_stages=2)
    assert "kind::mxf8f6f4.block_scale" in ptx
    x, y = (np.repeat(2.0 ** (scales.astype(int) - 127), 32, 1) for scales in (of_a, of_b))
    np.testing.assert_array_equal(memory[4].view(np.float32).reshape(m, n), (a * x) @ (b * y.T))
