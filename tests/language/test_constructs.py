"""Constructs of the language give what Python gives for the same text, in both modes."""

from __future__ import annotations

import construct_kernels as k
import function_kernels as functions
import numpy as np
import pytest
import triton.language as tl


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def sign(x: int) -> int:
    return (x > 0) - (x < 0)


def first_or(x: int, limit: int) -> tuple[int, int]:
    if x <= limit:
        return x, 3
    return (x * 2, 1) if x * 2 > 30 else (x * 2 + 1, 2)


def loops_with_returns(n: int) -> list[int]:
    out = [-1] * 10
    total = 0
    for i in range(n):
        total = total * 3 + sign(i - 2)
        if i != 1:
            out[i] = i
        if i > 3:
            total += sign(total)
            for j in range(2):
                a, b = first_or(i * 5 + j, 22)
                total += a * b
    out[8:] = [total, n]
    return out


def blocks_with_returns(n: int) -> list[int]:
    i = np.arange(8)
    acc = np.zeros(8, np.int64)
    for step in range(n):
        acc = (acc + (i + step) * (step % 3)) * (step < 4)
    return list(acc)


def counters(n: int) -> list[int]:
    c, w = n, n
    for i in range(n):
        c = c + 3 if i % 2 == 0 else c + c
        w = 2 * w
    first = c
    while c < 1000:
        c += 3 * c
    return [first, 7 * w, c]


def logic(n: int, m: int) -> list[int]:
    i = np.arange(8)
    big = n > 3
    return [
        *(((i > 2) & (i < n)) | ~(i < m)),
        (big and not n < m) or not big,
        1 < n < m <= 7,
        8 * (3 < n <= m),
        4 * (n > 3),
        max(n, m) + 100,
        1 if big else 2,
        n != m,
    ]


def loops(n: int, step: int) -> list[int]:
    a = b = c = d = e = 0
    for i in range(n, 0, -2):
        a = a * 10 + i
    for i in range(1, n, step):
        b = b * 10 + i
    for k_ in range(6, 0, -2):
        c += sum(j * k_ for j in range(k_))
    while d < n:
        d += 4
    for i in range(n):
        e += i if i % 2 else 100 if i > 3 else 0
    f = n
    while f > 1:
        g = f
        while g > 2:
            g -= 2
        f -= g
    return [a, b, c, d, e, f + sum(range(2, n))]


def assigned(n: int) -> list[int]:
    a, b, c = n + 1, n, n + 2
    d = a + 1
    w = d + 1
    return [a * 100 + b * 10 + c, d * w + c, a + b + c + w, 8 + 2, w, sum(range(16))]


X = np.arange(1, 65)
CASES = [
    *[
        (k.carried_tuples, (n,), [fibonacci(n), 0, 2 * n + n * (n - 1) // 2, 2 * n, int(1.5 * 2**n), n - 1])
        for n in (2, 5, 9)
    ],
    (k.carried_pointers, (X, "o", 4, 8), [1, 2, 3, 4, 2, 4, 6, 8, sum(range(1, 33)), 12]),
    *[(k.carried_aggregate, (n,), counters(n)) for n in (2, 3, 6)],
    (k.aggregates, (6,), [10, -6, 63, 4, 30, 5, 7, 10]),
    *[(functions.early_returns_in_loops, (n,), loops_with_returns(n)) for n in (2, 3, 7)],
    *[(functions.early_returns_of_blocks, (n,), blocks_with_returns(n)) for n in (0, 3, 4, 6)],
    (functions.leave_early, (5, "all"), [1, -1]),
    (functions.leave_early, (12, "some"), [1, 11, -1]),
    (functions.leave_early, (5, "some"), [1, 4, 0, 1, 2, 3, 7]),
    (functions.leave_early, (2, "some"), [1, -1, 0, 1, -1, -1, -1]),
    (functions.functions, (6,), [7, 7, 432, 212, 71, 978, 30, 6, 56, 23]),
    (functions.compile_time_values, (5, 6, "exp", tl.int64), [207, 0, 3, 6, 9, 8, 54, 6, 13, 100]),
    (functions.powers, (3, 8), [3**8]),
    (functions.powers, (3, 0), [1]),
    (k.annotated_locals, (5, 3.0), [37, 8, 8]),
    *[(k.logic, (n, m), logic(n, m)) for n in (2, 5, 9) for m in (3, 5, 7)],
    *[(k.loops, (n, step), loops(n, step)) for n in (2, 7, 12) for step in (2, 3)],
    (k.assignments, (4,), assigned(4)),
    (k.named_tuples, (7,), [907, 16, 2]),
    (k.named_tuples, (2,), [209, 11, 2]),
    (k.tuple_arguments, ((X, (X,)), (7, 1, None), k.Span(20, 3), "o"), [74, 23]),
    (k.many_arguments, ("o", 1, 2, 3), [123]),
    (k.many_arguments, ("o",), [0]),
    (k.decorated_below, (7,), [21]),
]


@pytest.mark.parametrize("eager", ["0", "1"])
@pytest.mark.parametrize(("kernel", "arguments", "expected"), CASES, ids=lambda v: getattr(v, "__name__", None))
def test_construct(kernel, arguments, expected, eager, monkeypatch, capfd) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    o = np.full(16, -1)
    if not any(isinstance(a, str) and a == "o" for a in arguments):
        arguments = ("o", *arguments)
    kernel[(1,)](*[o if isinstance(a, str) and a == "o" else a for a in arguments])
    assert list(o[: len(expected)]) == list(expected)


def test_variadic_kernels_are_specialized_by_what_they_get() -> None:
    o = np.zeros(1, np.int64)
    first = k.many_arguments[(1,)](o, 5, 6, scale=2)
    assert o[0] == 112
    assert first.src.signature == {"o_ptr": "*i64", "numbers": ("i32", "i32"), "scale": "constexpr"}
    assert k.many_arguments[(1,)](o, 7, 8, scale=2) is first and o[0] == 156
    assert k.many_arguments[(1,)](o, 7, 8, 9, scale=2) is not first
