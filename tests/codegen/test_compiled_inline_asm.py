"""Inline PTX and functions on elements as compiled: packs, registers of several widths, results, effects, mistakes."""

from __future__ import annotations

import numpy as np
import pytest
import small_kernels as sk
from tiletwin import _codegen

COUNTS = (16, 128, 1024)
"""Fewer elements than threads, as many, more."""


def asm(text: str, constraints: str, operands: str, results: str, pack: int = 1, pure: bool = True) -> str:
    names = ", ".join(f"%{name}" for name in "abcdefgh"[: len(operands.split())])
    types = ", ".join(f"T{kind}>" for kind in operands.split())
    count = len(results.split())
    target = "%r0" if count == 1 else f"%r:{count}"
    text = text.replace('"', '\\"').replace("\n", "\\0A")
    outputs = ", ".join(f"T{r}>" for r in results.split())
    attributes = f'constraints = "{constraints}", packed_element = {pack} : i32, pure = {str(pure).lower()}'
    body = f'{target} = tt.elementwise_inline_asm "{text}" {{{attributes}}} {names} : {types} -> {outputs}'
    if count > 1:
        body += "".join(f"\n%r{i} = arith.bitcast %r#{i} : T{r}> to T{r}>" for i, r in enumerate(results.split()))
    return body


def bits(kind: str, count: int, seed: int) -> np.ndarray:
    held = sk.numpy_type(kind)
    return np.random.default_rng(seed).integers(0, 1 << (8 * held.itemsize), count, np.uint64).astype(held)


CASES = {
    "one": (asm("add.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32"), "i32 i32", lambda a, b: [a + b]),
    "two_results": (
        asm("and.b32 $0, $2, 0xffff;\nshr.u32 $1, $2, 16;", "=r,=r,r", "i32", "i32 i32"),
        "i32",
        lambda a: [a & 0xFFFF, a >> 16],
    ),
    "early_clobber": (
        asm("not.b32 $0, $2;\nxor.b32 $1, $2, $3;", "=&r,=r,r,r", "i32 i32", "i32 i32"),
        "i32 i32",
        lambda a, b: [~a, a ^ b],
    ),
    "tied": (asm("add.u32 $0, $1, $2;", "=r,0,r", "i32 i32", "i32"), "i32 i32", lambda a, b: [a + b]),
    "wide": (asm("mul.lo.u64 $0, $1, $2;", "=l,l,l", "i64 i64", "i64"), "i64 i64", lambda a, b: [a * b]),
    "mixed": (
        asm("cvt.u64.u32 $0, $1;\nadd.u64 $0, $0, $2;", "=&l,r,l", "i32 i64", "i64"),
        "i32 i64",
        lambda a, b: [a.astype(np.uint64) + b],
    ),
    "half_register": (asm("add.u16 $0, $1, $2;", "=h,h,h", "i16 i16", "i16"), "i16 i16", lambda a, b: [a + b]),
    "narrow_in_wide": (asm("add.u32 $0, $1, 1;", "=r,r", "i8", "i8"), "i8", lambda a: [a + 1]),
    "bytes_by_four": (asm("not.b32 $0, $1;", "=r,r", "i8", "i8", 4), "i8", lambda a: [~a]),
    "bytes_by_two": (
        asm("xor.b16 $0, $1, 0x00ff;", "=h,h", "i8", "i8", 2),
        "i8",
        lambda a: [a ^ np.resize([255, 0], len(a)).astype(np.uint8)],
    ),
    "bytes_by_eight": (
        asm("mov.b32 $0, $3;\nmov.b32 $1, $2;", "=&r,=r,r,r", "i8", "i8", 8),
        "i8",
        lambda a: [a.reshape(-1, 2, 4)[:, ::-1].ravel()],
    ),
    "halves_by_two": (
        asm("prmt.b32 $0, $1, 0, 0x1032;", "=r,r", "f16", "f16", 2),
        "f16",
        lambda a: [a.reshape(-1, 2)[:, ::-1].ravel()],
    ),
    "words_by_two": (
        asm("mov.b32 $0, $3;\nmov.b32 $1, $2;", "=&r,=r,r,r", "i32", "i32", 2),
        "i32",
        lambda a: [a.reshape(-1, 2)[:, ::-1].ravel()],
    ),
    "bytes_to_halves": (
        asm("prmt.b32 $0, $2, 0, 0x4140;\nprmt.b32 $1, $2, 0, 0x4342;", "=&r,=r,r", "i8", "i16", 4),
        "i8",
        lambda a: [a.astype(np.uint16)],
    ),
    "floats": (
        asm("mul.rn.f32 $0, $1, $2;", "=f,f,f", "f32 f32", "f32"),
        "f32 f32",
        lambda a, b: [(a.view(np.float32) * b.view(np.float32)).view(np.uint32)],
    ),
    "scope": (
        asm("{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $1, $2, p; }", "=r,r,r", "i32 i32", "i32"),
        "i32 i32",
        lambda a, b: [np.minimum(a.view(np.int32), b.view(np.int32)).view(np.uint32)],
    ),
    "effects": (asm("add.s32 $0, $1, 7;", "=r,r", "i32", "i32", 1, False), "i32", lambda a: [a + 7]),
}


@pytest.mark.parametrize("case", CASES)
def test_asm(case: str) -> None:
    body, operands, reference = CASES[case]
    for count in COUNTS:
        inputs = [bits(kind, count, seed) for seed, kind in enumerate(operands.split())]
        if case == "floats":
            inputs = [(x & 0x3FFFFFFF) + 0x20000000 for x in inputs]
        wanted = reference(*inputs)
        results = [f"i{8 * w.itemsize}" for w in wanted]
        if "f16" in operands or "f32" in operands:
            results = ["f16" if "f16" in operands else "f32"]
        got = sk.run_elementwise(body, list(zip(operands.split(), inputs, strict=True)), results, "sm_80")
        for g, w in zip(got, wanted, strict=True):
            assert (g == w).all(), (count, g[:8], w[:8])


def test_pack_of_a_transposed_tile() -> None:
    """A pack takes neighbours of the tile, wherever a load has put them."""
    text = """
tt.func public @kernel(%p: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %row = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %column = tt.expand_dims %i {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %w = arith.constant dense<32> : tensor<1x32xi32>
  %far = arith.muli %column, %w : tensor<1x32xi32>
  %r = tt.broadcast %row : tensor<32x1xi32> -> tensor<32x32xi32>
  %c = tt.broadcast %far : tensor<1x32xi32> -> tensor<32x32xi32>
  %at = arith.addi %r, %c : tensor<32x32xi32>
  %base = tt.splat %p : !tt.ptr<i32> -> tensor<32x32x!tt.ptr<i32>>
  %ptr = tt.addptr %base, %at : tensor<32x32x!tt.ptr<i32>>, tensor<32x32xi32>
  %x = tt.load %ptr : tensor<32x32x!tt.ptr<i32>>
  %y = tt.elementwise_inline_asm "mov.b32 $0, $3; mov.b32 $1, $2;" {constraints = "=&r,=r,r,r",
       packed_element = 2 : i32, pure = true} %x : tensor<32x32xi32> -> tensor<32x32xi32>
  %out = tt.splat %o : !tt.ptr<i32> -> tensor<32x32x!tt.ptr<i32>>
  %out_at = tt.addptr %out, %at : tensor<32x32x!tt.ptr<i32>>, tensor<32x32xi32>
  tt.store %out_at, %y : tensor<32x32x!tt.ptr<i32>>
  tt.return
}"""
    x, out = np.arange(1024, dtype=np.uint32), np.zeros(1024, np.uint32)
    sk.launch(sk.compiled(text, "sm_80"), x, out)
    tile = x.reshape(32, 32).T  # what the load makes of it
    assert (out.reshape(32, 32).T == tile.reshape(32, 16, 2)[:, :, ::-1].reshape(32, 32)).all()


def test_one_value_for_all() -> None:
    """A clock is not pure: all threads go on with what one of them read."""
    text = """
tt.func public @kernel(%o: !tt.ptr<i64>) {
  %t = tt.elementwise_inline_asm "mov.u64 $0, %clock64;" {constraints = "=l",
       packed_element = 1 : i32, pure = false} -> i64
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %b = tt.splat %o : !tt.ptr<i64> -> tensor<256x!tt.ptr<i64>>
  %at = tt.addptr %b, %i : tensor<256x!tt.ptr<i64>>, tensor<256xi32>
  %v = tt.splat %t : i64 -> tensor<256xi64>
  tt.store %at, %v : tensor<256x!tt.ptr<i64>>
  tt.return
}"""
    for warps in (1, 8):
        out = np.zeros(256, np.uint64)
        sk.launch(sk.compiled(text, "sm_80", num_warps=warps), out)
        assert out[0] != 0 and (out == out[0]).all()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (asm("mov.b32 $0, $4;", "=r,r", "i32", "i32"), r"\(4\) in its text; there are 2"),
        (asm("mov.b32 $0, $x;", "=r,r", "i32", "i32"), "names an operand `\\$x`"),
        (asm("mov.b32 $0, $1;", "=r", "i32", "i32"), "has constraints for 1 registers, but the operand"),
        (asm("mov.b32 $0, $1;", "=r,r,r", "i32", "i32"), "has constraints for 3 registers, but needs 2"),
        (asm("mov.b32 $0, $1;", "r,r", "i32", "i32"), "where that of a result"),
        (asm("mov.b32 $0, $1;", "=r,=r", "i32", "i32"), "where that of an operand"),
        (asm("mov.b32 $0, $1;", "=v,v", "i32", "i32"), '"=v", which is not one of'),
        (asm("mov.b32 $0, $1;", "=h,r", "i32", "i32"), "holds 16 bits; the result needs 32"),
        (asm("mov.b32 $0, $1;", "=r,n", "i32", "i32"), "for an operand that is not a constant"),
        (asm("mov.b32 $0, $1;", "=r,r", "i8", "i8", 3), "not a power of two"),
    ],
)
def test_mistakes(body: str, message: str) -> None:
    with pytest.raises(_codegen.Error, match=message):
        sk.compiled(
            sk.elementwise(body, ["i8" if "Ti8" in body else "i32"], ["i8" if "Ti8" in body else "i32"], 64), "sm_80"
        )


def mapped(body: str, operands: str, results: str, pack: int) -> str:
    types = [kind for kind in operands.split() for _ in range(pack)]
    arguments = ", ".join(f"%x{i}: {kind}" for i, kind in enumerate(types))
    names = ", ".join(f"%{name}" for name in "abcdefgh"[: len(operands.split())])
    target = "%r0" if len(results.split()) == 1 else f"%r:{len(results.split())}"
    text = (
        f'{target} = "tt.map_elementwise"({names}) <{{pack = {pack} : i32}}> ({{\n^bb0({arguments}):\n{body}\n}}) : ('
    )
    text += f"{', '.join(f'T{k}>' for k in operands.split())}) -> ({', '.join(f'T{k}>' for k in results.split())})"
    if len(results.split()) > 1:
        text += "".join(f"\n%r{i} = arith.bitcast %r#{i} : T{k}> to T{k}>" for i, k in enumerate(results.split()))
    return text


def test_map() -> None:
    """Loops and branches that each element takes for itself."""
    collatz = """%zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %out:2 = scf.while (%n = %x0, %steps = %zero) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ugt, %n, %one : i32
    scf.condition(%more) %n, %steps : i32, i32
  } do {
  ^bb0(%n: i32, %steps: i32):
    %odd = arith.andi %n, %one : i32
    %is_odd = arith.cmpi ne, %odd, %zero : i32
    %next = scf.if %is_odd -> i32 {
      %t = arith.muli %n, %three : i32
      %u = arith.addi %t, %one : i32
      scf.yield %u : i32
    } else {
      %h = arith.shrui %n, %one : i32
      scf.yield %h : i32
    }
    %s = arith.addi %steps, %one : i32
    scf.yield %next, %s : i32, i32
  }
  tt.map_elementwise.return %out#1, %x1 : i32, i64"""

    def steps(n: int) -> int:
        count = 0
        while n > 1:
            n, count = (3 * n + 1 if n & 1 else n >> 1), count + 1
        return count

    for count in COUNTS:
        x, y = np.arange(count, dtype=np.uint32), bits("i64", count, 1)
        got = sk.run_elementwise(
            mapped(collatz, "i32 i64", "i32 i64", 1), [("i32", x), ("i64", y)], ["i32", "i64"], "sm_80"
        )
        assert got[0].tolist() == [steps(int(n)) for n in x] and (got[1] == y).all()


def test_map_pack() -> None:
    body = """%s = arith.addi %x0, %x7 : i32
  tt.map_elementwise.return %x3, %x2, %s, %x0, %x4, %x5, %x6, %x7 : i32, i32, i32, i32, i32, i32, i32, i32"""
    for count in COUNTS:
        a, b = bits("i32", count, 1), bits("i32", count, 2)
        got = sk.run_elementwise(
            mapped(body, "i32 i32", "i32 i32", 4), [("i32", a), ("i32", b)], ["i32", "i32"], "sm_80"
        )
        x, y = a.reshape(-1, 4), b.reshape(-1, 4)
        assert (got[0].reshape(-1, 4) == np.stack([x[:, 3], x[:, 2], x[:, 0] + y[:, 3], x[:, 0]], 1)).all()
        assert (got[1] == b).all()


def test_map_refuses_effects() -> None:
    body = """%p = tt.int_to_ptr %x0 : i64 -> !tt.ptr<i64>
  tt.store %p, %x0 : !tt.ptr<i64>
  tt.map_elementwise.return %x0 : i64"""
    with pytest.raises(_codegen.Error, match=r"'tt.store' op in a function of tl.map_elementwise is not compiled"):
        sk.compiled(sk.elementwise(mapped(body, "i64", "i64", 1), ["i64"], ["i64"], 64), "sm_80")
