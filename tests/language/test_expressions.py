"""Random kernels of typed expressions against NumPy and mpmath, with TILETWIN_NUMERICS=ieee; and eager mode's bits.

300 kernels of about twenty operations; 10,000 with TILETWIN_TEST_ALL, always the same ones. A failure prints the shrunk
kernel as a script that can be pasted and run.
"""

from __future__ import annotations

import itertools
import os
import random
import re
from pathlib import Path
from typing import Any

import control_expressions  # noqa: F401  registers operations, as do the others
import elementwise_expressions
import library_expressions
import memory_expressions  # noqa: F401
import numpy as np
import product_expressions  # noqa: F401
import pytest
import shape_expressions  # noqa: F401
import torch
from expression_values import Value
from expressions import METHODS, OPERATIONS, Choices, Kernel
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from kernel_cases import TORCH, load_json
from number_formats import FP8, TYPES, bits_of, from_bits, held, is_float, to_bits
from program_files import load

PARTS, EXAMPLES = (40, 250) if os.environ.get("TILETWIN_TEST_ALL") else (6, 50)
EAGER_EVERY = 8
SETTINGS = settings(
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
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
            bound = np.broadcast_to(value.bound, value.shape).reshape(-1)
            wrong = ~(np.abs(got.astype(np.float64) - want.astype(np.float64)) <= bound) & ~(got == want)
    else:
        wrong = to_bits(got, value.type) != to_bits(want, value.type)
    if is_float(value.type):
        wrong &= ~(np.isnan(got) & np.isnan(want))
    at = np.flatnonzero(wrong & value.defined.reshape(-1))
    if not at.size:
        return ""
    i = at[0]
    what = f"{at.size} of {got.size}, first at {i}: got {got[i]!r}, want {want[i]!r}"
    return f"{value.text} ({value.type}{list(value.shape)}): {what}"


STEPS = 18
BEGIN, STEP, END = 24, 16, 32  # bytes of choices
Plan = tuple[int, bytes, list[tuple[int, bytes]], bytes]
"""Seed of the elements, choices of the inputs, steps, choices of what is stored."""


def plans() -> st.SearchStrategy[Plan]:
    def exactly(count: int) -> st.SearchStrategy[bytes]:
        return st.binary(min_size=count, max_size=count)

    step = st.tuples(st.integers(0, len(OPERATIONS)), exactly(STEP))
    steps = st.lists(step, min_size=STEPS, max_size=STEPS)
    return st.tuples(st.integers(0, 2**20), exactly(BEGIN), steps, exactly(END))


def plan(number: int) -> Plan:
    """One without hypothesis."""
    r = random.Random(number)
    steps = [(r.randint(1, len(OPERATIONS)), r.randbytes(STEP)) for _ in range(STEPS)]
    return number, r.randbytes(BEGIN), steps, r.randbytes(END)


def made_of(chosen: Plan) -> tuple[Kernel, list[Value]]:
    number, begin, steps, end = chosen
    kernel = Kernel(Choices(begin), number)
    kernel.grow(steps)
    return kernel, kernel.stored(end)


def check(chosen: Plan, folder: Path, monkeypatch: pytest.MonkeyPatch, eager: bool) -> None:
    kernel, stored = made_of(chosen)
    if not stored:
        return
    source = kernel.source(stored)
    function = load(folder, f"expression_{next(names)}", source).kernel
    try:
        made = results(function, kernel, stored)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n{script(kernel, stored)}") from error
    problems = [text for value, bits in zip(stored, made) if (text := difference(value, bits))]
    assert not problems, "\n".join([*problems, "", script(kernel, stored)])
    if eager:
        monkeypatch.setenv("TILETWIN_EAGER", "1")
        again = results(function, kernel, stored)
        monkeypatch.delenv("TILETWIN_EAGER")
        for value, a, b in zip(stored, made, again):
            unlike = (a != b) & value.defined.reshape(-1)
            if is_float(value.type):  # a NaN made while compiling may have another sign
                unlike &= ~(np.isnan(from_bits(a, value.type)) & np.isnan(from_bits(b, value.type)))
            assert not unlike.any(), f"eager mode: {value.text}: {a} and {b}\n{script(kernel, stored)}"


def script(kernel: Kernel, stored: list[Value]) -> str:
    """The kernel with a launch on the same bits."""
    lines = ["# TILETWIN_INTERPRET=1 TILETWIN_NUMERICS=ieee python this.py", "import torch", kernel.source(stored), ""]
    for name, type, elements in kernel.inputs:
        bits = to_bits(elements.reshape(-1), type)
        numbers = bits.view(f"i{bits.dtype.itemsize}").tolist()
        lines.append(f"{name} = torch.tensor({numbers}, dtype=torch.int{8 * bits.dtype.itemsize}).view({TORCH[type]})")
    outputs = [f"o{i}" for i in range(len(stored))]
    for name, value in zip(outputs, stored):
        lines.append(f"{name} = torch.zeros({max(value.elements.size, 1)}, dtype={TORCH[value.type]})")
    lines.append(f"kernel[(1,)]({', '.join([*(name for name, _, _ in kernel.inputs), *outputs])})")
    lines += [f'print("{value.text}:", {name})' for name, value in zip(outputs, stored)]
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("part", range(PARTS))
def test_like_numpy(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("TILETWIN_NUMERICS", "ieee")
    counter = itertools.count()

    @seed(part)
    @settings(SETTINGS, max_examples=EXAMPLES)
    @given(chosen=plans())
    def run(chosen: Plan) -> None:
        check(chosen, tmp_path, monkeypatch, next(counter) % EAGER_EVERY == 0)

    run()


# Names of triton.language that no expression uses, and what covers them instead.
NOT_GENERATED = {
    "aggregate_replace": "objects, not tensors: tests/data/kernels/k13_func.py",
    "device_print": "prints: tests/eager, tests/language/test_constructs.py",
    "static_assert": "makes no value: tests/data/kernels/k13_func.py",
    "static_print": "makes no value: tests/data/kernels/k13_func.py",
}


def test_kernels_use_every_name_of_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions, tensor methods and loops of Triton 3.9, and all element types."""
    for module in (elementwise_expressions, library_expressions):  # what takes long is of no interest here
        monkeypatch.setattr(module, "mathematical", lambda function, x, t: x)
    monkeypatch.setattr(elementwise_expressions, "fused", lambda a, b, c, t: a + b + c)
    monkeypatch.setattr(library_expressions, "philox_words", lambda counter, key, rounds, bits: counter)
    monkeypatch.setattr(library_expressions, "correctly_rounded", lambda function, bits, t: 1.0)
    used: set[str] = set()
    types: set[str] = set()
    for number in range(700):
        kernel, _ = made_of(plan(number))
        used |= kernel.names()
        types |= {value.type for value in kernel.values}
    modules = load_json("api.json")["modules"]
    functions = ("builtin function", "jit function", "function")
    names = {name for name, entry in modules["triton.language"].items() if entry["kind"] in functions}
    names |= {"range", "static_range", "condition"}
    names |= {f"math.{name}" for name in modules["triton.language.math"]}
    of_pointers = {name for name in METHODS if name in ("advance", "store") or name.startswith("atomic_")}
    names |= {f"tensor.{name}" for name in METHODS - of_pointers}
    assert names - used == set(NOT_GENERATED), sorted((names - used) ^ set(NOT_GENERATED))
    assert types == {*TYPES, *FP8}


def test_a_printed_kernel_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_NUMERICS", "ieee")
    kernel, stored = made_of(plan(5))
    module = load(tmp_path, "printed", script(kernel, stored))
    unsigned = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}
    for i, value in enumerate(stored):
        made = getattr(module, f"o{i}")
        assert not difference(value, made.view(unsigned[made.element_size()]).numpy())


@pytest.mark.slow
def test_a_failure_shrinks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a wrong reference planted, what is left is the one operation on the least operands."""
    monkeypatch.setenv("TILETWIN_NUMERICS", "ieee")
    monkeypatch.setitem(elementwise_expressions.COMPARE, "<", np.greater_equal)  # wrong for any operands

    @seed(0)
    @settings(SETTINGS, max_examples=200)
    @given(chosen=plans())
    def run(chosen: Plan) -> None:
        check(chosen, tmp_path, monkeypatch, False)

    with pytest.raises(AssertionError) as caught:
        run()
    body = str(caught.value).split("def kernel(")[1].split("import torch")[0]
    made = [line for line in re.findall(r"v\d+ = .*", body) if "tl.load(p" not in line]
    assert len(made) == 1 and " < " in made[0], body


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
