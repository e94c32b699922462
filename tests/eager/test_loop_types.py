"""Variables that loops carry keep their types in eager mode, too (rule 52): the same error at the same place."""

from __future__ import annotations

import numpy as np
import pytest
import tiletwin
import tiletwin.language as tl
from tiletwin.errors import CompilationError


@tiletwin.jit
def for_changes_dtype(o_ptr, n):
    total = 0
    for _ in range(n):
        total = total + 1.5
    tl.store(o_ptr, total)


@tiletwin.jit
def for_changes_shape(o_ptr, n):
    total = 0.0
    for _ in range(n):
        total = total + tl.arange(0, 8)
    tl.store(o_ptr + tl.arange(0, 8), total)


@tiletwin.jit
def while_changes_dtype(o_ptr, n):
    i = 0
    while i < n:
        i += n.to(tl.int64)
    tl.store(o_ptr, i)


@tiletwin.jit
def inner_changes_dtype(o_ptr, n):
    x = tl.full((8,), 1, tl.int32)
    for _ in range(n):
        for _ in range(n):
            x = x.to(tl.float32) + 1
    tl.store(o_ptr + tl.arange(0, 8), x)


@tiletwin.jit
def tuple_changes_dtype(o_ptr, n):
    pair = (n, n)
    for _ in range(n):
        pair = (pair[0], pair[1] + 0.5)
    tl.store(o_ptr, pair[0])


@tiletwin.jit
def constant_changes(o_ptr, n, B: tl.constexpr):
    for _ in range(n):
        B = B + 1
    tl.store(o_ptr, B)


REFUSED = [
    for_changes_dtype, for_changes_shape, while_changes_dtype, inner_changes_dtype, tuple_changes_dtype,
]  # fmt: skip


def error_of(fn, eager: str, monkeypatch: pytest.MonkeyPatch, *constants: int) -> CompilationError:
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    with pytest.raises(CompilationError) as caught:
        fn[(1,)](np.zeros(8, np.float32), 5, *constants)
    return caught.value


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_both_modes_refuse_alike(fn, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, eager = (error_of(fn, mode, monkeypatch) for mode in "01")
    assert "must keep its type" in str(eager)
    assert (eager.error_message, eager.file, eager.line) == (compiled.error_message, compiled.file, compiled.line)


def test_compile_time_values(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, eager = (error_of(constant_changes, mode, monkeypatch, 4) for mode in "01")
    assert eager.error_message == compiled.error_message and "compile-time value" in str(eager)
    assert eager.line == compiled.line


@tiletwin.jit
def allowed(o_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    pair = (total, n)
    for k in range(n):
        fresh = k * 2.0
        total += fresh
        pair = (total, k)
        for j in tl.static_range(3):
            last = j
            total += last
    k = 0
    while k < n:
        k += 1
        if k == 2:
            total = total * 2
        inner = 0
        while inner < k:
            inner += 1
    tl.store(o_ptr + i, total + pair[0] + pair[1])


def test_what_is_allowed_stays_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for mode in "01":
        monkeypatch.setenv("TILETWIN_EAGER", mode)
        o = np.zeros(8, np.float32)
        allowed[(1,)](o, 4, 8)
        results.append(o.tobytes())
    assert results[0] == results[1]
