"""The language at a prompt: values at once, pointers, programs by hand, jit functions called directly."""

from __future__ import annotations

import doctest
import gc
import sys
import types
from pathlib import Path

import children
import numpy as np
import pytest
import tiletwin
import tiletwin.language as tl
import torch

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "debugging" / "python.md"


def test_values_at_once() -> None:
    assert (tl.arange(0, 8) * 2).tolist() == list(range(0, 16, 2))
    assert tl.sum(tl.arange(0, 8), 0).tolist() == 28
    assert tl.dot(tl.full((16, 16), 1.0, tl.float32), tl.full((16, 16), 2.0, tl.float32))[0, 0].tolist() == 32
    assert tl.cdiv(7, 2) == 4


@pytest.mark.parametrize("make", [lambda: np.arange(16, dtype=np.float32), lambda: torch.arange(16.0)])
def test_pointers_read_write_and_are_checked(make) -> None:
    x = make()
    pointer = tiletwin.pointer(x)
    offs = tl.arange(0, 16)
    assert tl.load(pointer + offs).tolist() == list(range(16))
    tl.store(pointer + offs, offs * 2, mask=offs < 4)
    assert x.tolist() == [0, 2, 4, 6, *range(4, 16)]
    with pytest.raises(tiletwin.OutOfBoundsError, match="x"):
        tl.load(pointer + offs + 1)
    assert tl.load(pointer + offs + 1, mask=offs < 15, other=-1.0)[15].tolist() == -1


def test_memory_is_forgotten_with_its_array() -> None:
    x = np.zeros(1 << 20, np.int32)
    pointer = tiletwin.pointer(x)
    assert repr(pointer) == "<x + 0, int32>"
    del x
    gc.collect()
    assert not repr(pointer).startswith("<x ")  # other memory may lie near enough to be named instead
    with pytest.raises(tiletwin.OutOfBoundsError):
        tl.load(pointer)


def test_registered_memory_stays_registered() -> None:
    x = np.zeros(4, np.int32)
    address = x.ctypes.data
    tiletwin.register(x, "kept")
    tiletwin.pointer(x, name="other")
    tiletwin.unregister(x)
    assert address


@pytest.mark.parametrize("bad", [3, "x", None, [1, 2]])
def test_pointers_need_arrays(bad: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        tiletwin.pointer(bad)


def test_programs_by_hand() -> None:
    def ids() -> list[int]:
        return [tl.program_id(a).tolist() for a in range(3)] + [tl.num_programs(a).tolist() for a in range(3)]

    with tiletwin.program(pid=(1, 0, 0), grid=(4, 1, 1)):
        assert ids() == [1, 0, 0, 4, 1, 1]
        with tiletwin.program(pid=3):
            assert ids() == [3, 0, 0, 4, 1, 1]
        assert ids() == [1, 0, 0, 4, 1, 1]
    with tiletwin.program(pid=(2, 5)):
        assert ids() == [2, 5, 0, 3, 6, 1]
    with pytest.raises(ZeroDivisionError), tiletwin.program(pid=7):
        1 / 0
    assert tiletwin._C.eager_program() is None or tiletwin._C.eager_program()[0] != (7, 0, 0)


@pytest.mark.parametrize(
    ("pid", "grid"), [(4, 4), ((0, 1), (4, 1, 1)), (-1, 4), ((1, 2, 3, 4), None), ((), None)], ids=str
)
def test_programs_that_a_grid_does_not_have(pid, grid) -> None:
    with pytest.raises(ValueError, match=r"has no program|one to three"), tiletwin.program(pid, grid):
        pass


@tiletwin.jit
def halves(x, SIZE: tl.constexpr = 2):
    if SIZE > 1:
        x = x // SIZE
    return x, SIZE


@tiletwin.jit
def mine(SIZE: tl.constexpr):
    return tl.program_id(0) * SIZE + tl.arange(0, SIZE)


@tiletwin.jit
def writes(x_ptr, n, SIZE: tl.constexpr):
    offs = mine(SIZE)
    tl.store(x_ptr + offs, offs, mask=offs < n)


def test_jit_functions_called_directly() -> None:
    x, size = halves(tl.arange(0, 8))
    assert x.tolist() == [0, 0, 1, 1, 2, 2, 3, 3] and size == 2
    assert halves(7, SIZE=1)[0] == 7
    with tiletwin.program(pid=2, grid=4):
        assert mine(4).tolist() == [8, 9, 10, 11]
    memory = np.zeros(16, np.int32)
    with tiletwin.program(pid=1, grid=2):
        writes(tiletwin.pointer(memory), 14, SIZE=8)
    assert memory.tolist() == [0] * 8 + [8, 9, 10, 11, 12, 13, 0, 0]
    with pytest.raises(RuntimeError, match=r"writes is a kernel: launch it with a grid, writes\[grid\]"):
        writes(memory, 14, SIZE=8)


def test_the_document_says_what_happens() -> None:
    examples = doctest.DocTestParser().get_doctest(
        DOCUMENT.read_text(), {"__name__": "__main__"}, "python.md", str(DOCUMENT), 0
    )
    assert len(examples.examples) >= 6
    shown: list[str] = []
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples, out=shown.append)
    assert result.failed == 0, "".join(shown)


def test_the_package_is_light() -> None:
    assert isinstance(sys.modules["tiletwin"], types.ModuleType)
    code = "import tiletwin, sys; print([m for m in sys.modules if m.startswith('tiletwin.eager')])"
    done = children.run_code(code)
    assert done.returncode == 0, done.stderr
    assert "html" not in done.stdout and "stops" not in done.stdout
