"""Random kernels of typed expressions against NumPy and mpmath, with TILETWIN_NUMERICS=ieee; and eager mode's bits.

300 kernels of about twenty operations; 10,000 with TILETWIN_TEST_ALL. A failure prints the shrunk kernel's source.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import elementwise_expressions  # noqa: F401  registers operations
import numpy as np
import pytest
import shape_expressions  # noqa: F401
import torch
from expressions import Kernel, Value
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from kernel_cases import TORCH
from number_formats import bits_of, from_bits, held, is_float, to_bits
from program_files import load

PARTS, EXAMPLES = (40, 250) if os.environ.get("TILETWIN_TEST_ALL") else (6, 50)
EAGER_EVERY = 8
names = itertools.count()


def tensor(elements: np.ndarray, type: str) -> torch.Tensor:
    flat = np.ascontiguousarray(elements).reshape(-1)
    bits = torch.from_numpy(to_bits(flat, type).copy())
    return bits.view(TORCH[type])


def results(function: Any, kernel: Kernel, stored: list[Value]) -> list[np.ndarray]:
    """The bits of every output after a launch."""
    inputs = [tensor(elements, type) for _, type, elements in kernel.inputs]
    outputs = [torch.zeros(max(v.elements.size, 1), dtype=TORCH[v.type]) for v in stored]
    function[(1,)](*inputs, *outputs)
    unsigned = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}
    return [o.view(unsigned[o.element_size()]).numpy() for o in outputs]


def difference(value: Value, bits: np.ndarray) -> str:
    """Empty, or what is wrong with an output."""
    got = from_bits(bits, value.type).reshape(-1)
    want = value.elements.reshape(-1)
    if value.bound is not None:
        with np.errstate(all="ignore"):
            wrong = ~(np.abs(got.astype(np.float64) - want.astype(np.float64)) <= np.broadcast_to(value.bound, value.shape).reshape(-1))
            wrong &= ~(got == want)
    else:
        wrong = to_bits(got, value.type) != to_bits(want, value.type)
    if is_float(value.type):
        wrong &= ~(np.isnan(got) & np.isnan(want))
    at = np.flatnonzero(wrong & value.defined.reshape(-1))
    if not at.size:
        return ""
    i = at[0]
    return f"{value.text} ({value.type}{list(value.shape)}): {at.size} of {got.size}, first at {i}: got {got[i]!r}, want {want[i]!r}"


def check(pick: Any, number: int, folder: Path, monkeypatch: pytest.MonkeyPatch, eager: bool) -> None:
    kernel = Kernel(pick, number)
    kernel.grow(18)
    stored = kernel.stored()
    if not stored:
        return
    source = kernel.source(stored)
    function = load(folder, f"expression_{next(names)}", source).kernel
    try:
        made = results(function, kernel, stored)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n{source}") from error
    problems = [text for value, bits in zip(stored, made) if (text := difference(value, bits))]
    assert not problems, "\n".join([*problems, *inputs_text(kernel), source])
    if eager:
        monkeypatch.setenv("TILETWIN_EAGER", "1")
        again = results(function, kernel, stored)
        monkeypatch.delenv("TILETWIN_EAGER")
        for value, a, b in zip(stored, made, again):
            assert (a == b).all(), f"eager mode: {value.text}: {a} and {b}\n{source}"


def inputs_text(kernel: Kernel) -> list[str]:
    return [f"{name}: {type}{list(e.shape)} = {e.reshape(-1).tolist()}" for name, type, e in kernel.inputs]


@pytest.mark.parametrize("part", range(PARTS))
def test_like_numpy(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("TILETWIN_NUMERICS", "ieee")
    counter = itertools.count()

    @seed(part)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data(), number=st.integers(0, 2**20))
    def run(data: st.DataObject, number: int) -> None:
        def pick(n: int) -> int:
            return data.draw(st.integers(0, n - 1)) if n > 1 else 0

        check(pick, number, tmp_path, monkeypatch, next(counter) % EAGER_EVERY == 0)

    run()


def test_the_reference_rounds_as_the_formats_say() -> None:
    """number_formats against torch and NumPy, over every 16-bit pattern and many others."""
    x = np.random.default_rng(1).integers(0, 2**32, 100_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = x[np.isfinite(x)]
    from number_formats import convert

    for type, dtype in (("fp16", torch.float16), ("bf16", torch.bfloat16)):
        ours = convert(x, "fp32", type)[0]
        assert (ours == torch.from_numpy(x).to(dtype).to(torch.float32).numpy()).all(), type
    for type, dtype in (("fp8e5", torch.float8_e5m2), ("fp8e4nv", torch.float8_e4m3fn)):
        small = x[np.abs(x) < 400]
        ours = convert(small, "fp32", type)[0]
        assert (ours == torch.from_numpy(small).to(dtype).to(torch.float32).numpy()).all(), type
    for type in ("fp16", "bf16", "fp8e5", "fp8e4nv"):
        patterns = np.arange(2 ** bits_of(type), dtype=f"u{bits_of(type) // 8}")
        decoded = from_bits(patterns, type)
        exact = torch.from_numpy(patterns).view(TORCH[type]).to(torch.float32).numpy()
        assert np.array_equal(decoded, exact, equal_nan=True), type
        numbers = ~np.isnan(decoded)
        assert (to_bits(decoded, type) == patterns)[numbers].all(), type
        assert decoded.dtype == held(type)
