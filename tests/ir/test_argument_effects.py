"""Which parameters of a kernel lead to memory that it reads or writes (ir/ArgumentEffects.h)."""

from __future__ import annotations

import numpy as np
import pytest
import tiletwin as triton
import tiletwin.language as tl


@triton.jit
def put(p, value, mask):
    tl.store(p, value, mask)


@triton.jit(noinline=True)
def put_apart(p, q):
    tl.store(p, tl.load(q))
    return q


@triton.jit
def loop(x, y, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p, q = o + i, x + i
    for _ in range(n):
        put(p, tl.load(q, i < n), i < n)
        p, q = p + B, q + B
    tl.store(o, tl.load(y))


@triton.jit
def swapped(x, y, o, n, B: tl.constexpr):
    p, q = x, y
    for _ in range(n):
        p, q = q, p
    tl.store(p, tl.load(o))


@triton.jit
def handed_on(x, y, o, n, B: tl.constexpr):
    p, q, r = x, x, x
    for _ in range(n):
        tl.store(r, 1.0)
        p, q, r = y, p, q


@triton.jit
def chosen(x, y, o, n, B: tl.constexpr):
    p = x
    if n > 5:
        p = y
    tl.store(p, tl.load(o))


@triton.jit
def one_of_two(x, y, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(tl.where(i < n, x + i, y + i), tl.load(o + i))


@triton.jit
def branches(x, y, o, n, B: tl.constexpr):
    total = 0.0
    if n > 5:
        total += tl.load(x)
        tl.store(y, total)
    else:
        total += tl.sum(tl.load(x + tl.arange(0, B)))
    tl.store(o, total)


@triton.jit
def counted(x, y, o, n, B: tl.constexpr):
    tl.atomic_add(x, tl.load(y))


@triton.jit
def looked_up(x, y, o, n, B: tl.constexpr):
    tl.store(o + tl.load(y).to(tl.int32), tl.load(x + tl.load(y).to(tl.int32)))


@triton.jit
def waiting(x, y, o, n, B: tl.constexpr):
    while tl.load(x) == 0:
        tl.store(o, 1)
        o += 1


@triton.jit
def apart(x, y, o, n, B: tl.constexpr):
    tl.store(put_apart(x, y), 1.0)


@triton.jit
def described(x, y, o, n, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [n, B], [B, 1], [1, B])
    target = tl.make_tensor_descriptor(y, [n, B], [B, 1], [1, B])
    target.store([0, 0], source.load([0, 0]))
    target.atomic_add([1, 0], tl.zeros([1, B], tl.float32))


@triton.jit
def through_blocks(x, y, o, n, B: tl.constexpr):
    source = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    target = tl.make_block_ptr(y, (n,), (1,), (0,), (B,), (0,))
    tl.store(tl.advance(target, (B,)), tl.load(source), boundary_check=(0,))


@triton.jit
def nothing(x, y, o, n, B: tl.constexpr):
    pass


@triton.jit
def of_a_number(x, y, o, n, B: tl.constexpr):
    tl.store(n.to(tl.int64).to(tl.pointer_type(tl.float32)), tl.load(x))


@triton.jit
def of_loaded(x, y, o, n, B: tl.constexpr):
    tl.store(tl.load(x.to(tl.pointer_type(tl.pointer_type(tl.float32)))), 1.0)


@triton.jit
def by_number(x, y, o, n, B: tl.constexpr):
    address = x.to(tl.int64) + n
    tl.store(address.to(tl.pointer_type(tl.float32)), tl.load(y))


@triton.jit
def by_text(x, y, o, n, B: tl.constexpr):
    code: tl.constexpr = "st.global.b32 [$1], 0; mov.b32 $0, 0;"
    tl.store(y, tl.inline_asm_elementwise(code, "=r,l", [x], tl.int32, is_pure=False, pack=1))


@triton.jit
def by_text_of_number(x, y, o, n, B: tl.constexpr):
    tl.store(y, tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [n], tl.int32, is_pure=False, pack=1))


@triton.jit
def by_pure_text_of_number(x, y, o, n, B: tl.constexpr):
    tl.store(y, tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [n], tl.int32, is_pure=True, pack=1))


@pytest.mark.parametrize(
    ("kernel", "read", "written"),
    [
        (loop, "xy", "o"),
        (swapped, "o", "xy"),
        (handed_on, "", "xy"),
        (chosen, "o", "xy"),
        (one_of_two, "o", "xy"),
        (branches, "x", "yo"),
        (counted, "xy", "x"),
        (looked_up, "xy", "o"),
        (waiting, "x", "o"),
        (apart, "y", "xy"),
        (described, "xy", "y"),
        (through_blocks, "x", "y"),
        (nothing, "", ""),
        (by_pure_text_of_number, "", "y"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_effects(kernel, read: str, written: str) -> None:
    found = effects_of(kernel)
    assert found is not None
    names = "xyon"
    assert {name for name, (reads, _) in zip(names, found) if reads} == set(read)
    assert {name for name, (_, writes) in zip(names, found) if writes} == set(written)


@pytest.mark.parametrize(
    "kernel", [of_a_number, of_loaded, by_number, by_text, by_text_of_number], ids=lambda kernel: kernel.__name__
)
def test_what_is_not_known_is_not_told(kernel) -> None:
    assert effects_of(kernel) is None


@pytest.mark.parametrize(
    "kernel", [loop, swapped, handed_on, chosen, one_of_two, branches, counted, apart, through_blocks]
)
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_a_run_changes_no_other(kernel, n: int) -> None:
    arrays = {name: np.full(512, value, np.float32) for name, value in zip("xyo", (3.0, 5.0, 7.0))}
    before = {name: array.copy() for name, array in arrays.items()}
    kernel[(1,)](*arrays.values(), n, B=16)
    changed = {name for name, array in arrays.items() if (array != before[name]).any()}
    assert changed <= {name for name, (_, writes) in zip("xyo", effects_of(kernel) or ()) if writes}


def effects_of(kernel) -> list[tuple[bool, bool]] | None:
    types = dict.fromkeys(("x", "y", "o"), "*fp32") | {"n": "i32", "B": "constexpr"}
    return triton.compile(triton.compiler.ASTSource(kernel, types, {"B": 16})).module.argument_effects()
