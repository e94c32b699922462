"""TILETWIN_CHECK=uninitialized: reads of memory that nobody has written."""

from __future__ import annotations

import gc

import children
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from memory_findings import findings_of, source


@triton.jit
def copy(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0)
    tl.store(o_ptr + offs, x, mask=offs < n)


@triton.jit
def add_to(o_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(o_ptr + offs, 1, mask=offs < n)


def copied(x, o, n, block=64):
    copy[(triton.cdiv(n, block),)](x, o, n, BLOCK=block)


MAKERS = {
    "torch.empty": lambda n, dtype: torch.empty(n, dtype=dtype),
    "torch.empty_like": lambda n, dtype: torch.empty_like(torch.zeros(n, dtype=dtype)),
    "torch.empty_strided": lambda n, dtype: torch.empty_strided((n,), (1,), dtype=dtype),
    "Tensor.new_empty": lambda n, dtype: torch.zeros(2, dtype=dtype).new_empty(n),
    "numpy.empty": lambda n, dtype: np.empty(n, dtype=str(dtype).split(".")[1]),
    "numpy.empty_like": lambda n, dtype: np.empty_like(np.zeros(n, dtype=str(dtype).split(".")[1])),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_both_places(maker: str) -> None:
    (found,) = findings_of("uninitialized", lambda: copied(MAKERS[maker](100, torch.float32), torch.zeros(100), 100))
    assert found.operation == "tl.load" and found.variable == "x" and found.program == (0, 0, 0) and found.programs == 2
    assert found.count == 64 and found.shape == (64,)
    assert "reads memory that nobody has written: 4 bytes at offset 0 of x_ptr" in found.message
    assert found.second.file == __file__ and maker in found.second.operation
    assert f'"{maker}"' in source(found.second)


@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.bfloat16, torch.int32, torch.float64, torch.bool])
def test_every_width(dtype) -> None:
    def run():
        copied(torch.empty(100, dtype=dtype), torch.zeros(100, dtype=dtype), 100)

    assert [source(f) for f in findings_of("uninitialized", run)] == [
        "x = tl.load(x_ptr + offs, mask=offs < n, other=0)"
    ]


WRITERS = {
    "fill": lambda x: x.fill_(3),
    "copy": lambda x: x.copy_(torch.arange(100.0)),
    "slice": lambda x: x.__setitem__(slice(None), 1.5),
    "out": lambda x: torch.add(torch.ones(100), torch.ones(100), out=x),
    "numpy": lambda x: x.numpy().fill(2.0),
    "data": lambda x: x.data.zero_(),
    "random": lambda x: x.normal_(),
    "kernel": lambda x: copied(torch.arange(100.0), x, 100),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_whoever_writes_it(writer: str) -> None:
    o = torch.zeros(100)

    def run():
        x = torch.empty(100)
        WRITERS[writer](x)
        copied(x, o, 100)

    assert findings_of("uninitialized", run) == []


@pytest.mark.parametrize(("dtype", "count"), [(torch.float32, 1), (torch.float16, 2), (torch.int64, 1)])
def test_one_element_is_left_out(dtype, count: int) -> None:
    def run():
        x = torch.empty(100, dtype=dtype)
        copied(torch.zeros(100, dtype=dtype), x, 100 - count)
        copied(x, torch.zeros(100, dtype=dtype), 100)

    (found,) = findings_of("uninitialized", run)
    assert found.program == (1, 0, 0) and found.count == count and found.elements[0] == (36 - count,)


def test_what_is_masked_off_is_not_read() -> None:
    def run(n):
        x = torch.empty(100)
        x[:40] = 1
        copied(x, torch.zeros(100), n)

    assert findings_of("uninitialized", lambda: run(40)) == []
    assert len(findings_of("uninitialized", lambda: run(41))) == 1


def test_random_numbers_are_never_taken_for_fresh_memory() -> None:
    def run():
        for dtype in (torch.uint8, torch.int16, torch.int32):
            x = torch.empty(1 << 20, dtype=dtype)
            x[: 1 << 19].random_(0, 255)
            copied(x, torch.zeros_like(x), (1 << 19) - 3, block=1 << 15)

    assert findings_of("uninitialized", run) == []


def test_atomics_read() -> None:
    def run(make):
        add_to[(2,)](make(100, dtype=torch.int32), 100, BLOCK=64)

    (found,) = findings_of("uninitialized", lambda: run(torch.empty))
    assert "updates memory that nobody has written" in found.message and found.count == 64
    assert findings_of("uninitialized", lambda: run(torch.zeros)) == []


def test_memory_that_is_used_again_is_somebody_elses() -> None:
    def run():
        for _ in range(50):
            x = torch.empty(1000)
            del x
            gc.collect()
            copied(torch.full((1000,), 2.0), torch.zeros(1000), 1000)
            y = np.empty(1000, dtype=np.float32)
            del y
            copied(np.ones(1000, dtype=np.float32), torch.zeros(1000), 1000)

    assert findings_of("uninitialized", run) == []


def test_views_outlive_the_tensor_that_was_made() -> None:
    def run():
        x = torch.empty(1000)[500:]
        gc.collect()
        copied(x, torch.zeros(500), 500)

    assert len(findings_of("uninitialized", run)) == 1


def test_pointers_in_memory() -> None:
    @triton.jit
    def through(table_ptr, o_ptr):
        offs = tl.arange(0, 64)
        pointer = tl.load(table_ptr).to(tl.pointer_type(tl.float32))
        tl.store(o_ptr + offs, tl.load(pointer + offs))

    def run(make):
        x = make(64)
        through[(1,)](torch.tensor([x.data_ptr()]), torch.zeros(64))

    assert [f.operation for f in findings_of("uninitialized", lambda: run(torch.empty))] == ["tl.load"]
    assert findings_of("uninitialized", lambda: run(torch.zeros)) == []


def test_two_dimensions_by_columns() -> None:
    @triton.jit
    def transposed(x_ptr, o_ptr, R: tl.constexpr, C: tl.constexpr):
        r, c = tl.arange(0, R)[None, :], tl.arange(0, C)[:, None]
        tl.store(o_ptr + c * R + r, tl.load(x_ptr + r * C + c))

    def run():
        x = torch.empty(16, 32, dtype=torch.float16)
        x[:, 1:] = 1
        transposed[(1,)](x, torch.zeros(32, 16, dtype=torch.float16), R=16, C=32)

    def fresh():
        transposed[(1,)](torch.empty(16, 32, dtype=torch.float16), torch.zeros(32, 16, dtype=torch.float16), R=16, C=32)

    assert findings_of("uninitialized", run) == []  # two bytes each, beside written ones: they could be a value
    assert len(findings_of("uninitialized", fresh)) == 1


def test_results_keep_their_bits_and_empty_tensors_are_fine() -> None:
    results = []

    def run():
        x, o = torch.linspace(0, 1, 999), torch.empty(999)
        copied(x, o, 999)
        results.append(o.clone())
        assert torch.empty(0).numel() == 0 and np.empty((0, 4)).size == 0

    run()
    assert findings_of("uninitialized", run) == []
    assert torch.equal(*results)


def test_a_context_of_a_device_is_for_wrapped_functions_too() -> None:
    """In a new process: what the context is for is listed once."""
    made = "torch.empty(2).device, torch.nn.Linear(2, 2).bias.device"
    text = f"import tiletwin, torch\nwith torch.device('meta'): print({made})"
    done = children.run_code(text, TILETWIN_CHECK="all", TILETWIN_INTERPRET="1")
    assert done.stdout.split() == ["meta", "meta"], done.stderr
