"""Inline PTX: the instructions that run, against NumPy and Python integers; packing, predicates, errors; both modes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import inline_asm_kernels as kernels
import numpy as np
import pytest
import torch
import triton
from floating import F32, rounded
from kernel_cases import TORCH
from mpmath import mp, mpf

NUMPY = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64,
         "u64": np.uint64, "fp16": np.float16, "fp32": np.float32, "fp64": np.float64, "bf16": np.uint16}  # fmt: skip
M16, M32, M64 = 2**16 - 1, 2**32 - 1, 2**64 - 1


def as_signed(x: int, bits: int) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def inputs(kind: str, n: int, seed: int) -> np.ndarray:
    """Edges and random values. bf16 as bits."""
    random = np.random.default_rng(seed)
    dtype = NUMPY[kind]
    if kind.startswith("fp") or kind == "bf16":
        edges = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            math.inf,
            -math.inf,
            math.nan,
            0.5,
            2.5,
            -3.5,
            1e-41,
            65504.0,
            -1e5,
            0.1,
            448.0,
            500.0,
        ]
        values = np.concatenate([edges, random.uniform(-8, 8, n)])[:n]
        with np.errstate(over="ignore"):
            if kind == "bf16":
                return torch.from_numpy(values).to(torch.bfloat16).view(torch.uint16).numpy()
            return random.permutation(values.astype(dtype))
    info = np.iinfo(dtype)
    edges = [
        v
        for v in (info.min, info.max, 0, 1, 2, -1, 3, 31, 32, 33, 63, 64, 100, 0x3210, 0x8D9)
        if info.min <= v <= info.max
    ]
    drawn = random.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    return random.permutation(np.concatenate([np.array(edges, dtype=dtype), drawn])[:n])


def run(text: str, registers: str, arguments: list[np.ndarray], kinds: list[str], result: str, pack: int) -> np.ndarray:
    n = len(arguments[0])
    tensors = [torch.from_numpy(a.copy()).view(TORCH[k]) for a, k in zip(arguments, kinds, strict=True)]
    out = torch.zeros(n, dtype=TORCH[result])
    kernels.KERNELS[len(arguments)][(1,)](*tensors, out, text, registers, pack, n)
    return out.view(torch.uint16).numpy() if result == "bf16" else out.numpy()


def both_modes(monkeypatch: pytest.MonkeyPatch, *args: Any) -> np.ndarray:
    compiled = run(*args)
    monkeypatch.setenv("TILETWIN_EAGER", "1")
    eager = run(*args)
    monkeypatch.delenv("TILETWIN_EAGER")
    assert compiled.tobytes() == eager.tobytes()
    return compiled


def lop3(table: int) -> Callable[..., int]:
    def function(a: int, b: int, c: int) -> int:
        return sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32))

    return function


def permute(a: int, b: int, selector: int) -> int:
    source = ((b & M32) << 32 | a & M32).to_bytes(8, "little")
    picked = []
    for i in range(4):
        s = selector >> 4 * i & 15
        picked.append((255 if source[s & 7] & 128 else 0) if s & 8 else source[s & 7])
    return int.from_bytes(bytes(picked), "little")


def picked(places: Callable[[int, int], int]) -> Callable[..., int]:
    def function(a: int, b: int, c: int) -> int:
        source = ((b & M32) << 32 | a & M32).to_bytes(8, "little")
        return int.from_bytes(bytes(source[places(i, c & 3) & 7] for i in range(4)), "little")

    return function


def extract(a: int, position: int, length: int, bits: int, signed: bool) -> int:
    """As the ISA's pseudo-code has it."""
    position, length, msb = position & 255, length & 255, bits - 1
    sign = 0 if not signed or length == 0 else a >> min(position + length - 1, msb) & 1
    return sum((a >> (position + i) & 1 if i < length and position + i <= msb else sign) << i for i in range(bits))


def insert(a: int, b: int, position: int, length: int, bits: int) -> int:
    position, length = position & 255, length & 255
    for i in range(length):
        if position + i < bits:
            b = b & ~(1 << position + i) | (a >> i & 1) << position + i
    return b


def shift_left(a: int, n: int, bits: int) -> int:
    n &= M32
    return a << n if n < bits else 0


def shift_right(a: int, n: int, bits: int) -> int:
    return a >> min(n & M32, bits)


def dot4(a: int, b: int, c: int, sa: bool, sb: bool) -> int:
    for i in range(4):
        x, y = a >> 8 * i & 255, b >> 8 * i & 255
        c += (as_signed(x, 8) if sa else x) * (as_signed(y, 8) if sb else y)
    return c


def halves(f: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return lambda a, b: (f(a & M16, b & M16) & M16) | (f(a >> 16 & M16, b >> 16 & M16) & M16) << 16


def divided(a: int, b: int) -> int | None:
    return None if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int | None:
    q = divided(a, b)
    return None if q is None else a - q * b


# (text, constraints, argument types, result type, reference on Python integers)
INTEGERS: list[tuple[str, str, str, str, Callable[..., int | None]]] = [
    ("add.u16 $0, $1, $2;", "=h,h,h", "u16 u16", "u16", lambda a, b: a + b),
    ("add.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32", lambda a, b: a + b),
    ("add.s64 $0, $1, $2;", "=l,l,l", "i64 i64", "i64", lambda a, b: a + b),
    ("add.s32 $0, $1, -5;", "=r,r", "i32", "i32", lambda a: a - 5),
    ("add.s32 $0, $1, 0x7fffffff;", "=r,r", "i32", "i32", lambda a: a + 0x7FFFFFFF),
    ("add.sat.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32", lambda a, b: max(min(a + b, 2**31 - 1), -(2**31))),
    ("sub.sat.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32", lambda a, b: max(min(a - b, 2**31 - 1), -(2**31))),
    ("add.s16x2 $0, $1, $2;", "=r,r,r", "u32 u32", "u32", halves(lambda a, b: a + b)),
    ("max.s16x2 $0, $1, $2;", "=r,r,r", "u32 u32", "u32", halves(lambda a, b: max(as_signed(a, 16), as_signed(b, 16)))),
    ("min.u16x2 $0, $1, $2;", "=r,r,r", "u32 u32", "u32", halves(min)),
    ("max.relu.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32", lambda a, b: max(a, b, 0)),
    ("sub.u32 $0, $1, $2;", "=r,r,r", "u32 u32", "u32", lambda a, b: a - b),
    ("mul.lo.u32 $0, $1, $2;", "=r,r,r", "u32 u32", "u32", lambda a, b: a * b),
    ("mul.lo.s64 $0, $1, $2;", "=l,l,l", "i64 i64", "i64", lambda a, b: a * b),
    ("mul.hi.u16 $0, $1, $2;", "=h,h,h", "u16 u16", "u16", lambda a, b: a * b >> 16),
    ("mul.hi.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32", lambda a, b: a * b >> 32),
    ("mul.hi.u32 $0, $1, $2;", "=r,r,r", "u32 u32", "u32", lambda a, b: a * b >> 32),
    ("mul.hi.s64 $0, $1, $2;", "=l,l,l", "i64 i64", "i64", lambda a, b: a * b >> 64),
    ("mul.hi.u64 $0, $1, $2;", "=l,l,l", "u64 u64", "u64", lambda a, b: a * b >> 64),
    ("mul.wide.s16 $0, $1, $2;", "=r,h,h", "i16 i16", "i32", lambda a, b: a * b),
    ("mul.wide.u16 $0, $1, $2;", "=r,h,h", "u16 u16", "u32", lambda a, b: a * b),
    ("mul.wide.s32 $0, $1, $2;", "=l,r,r", "i32 i32", "i64", lambda a, b: a * b),
    ("mul.wide.u32 $0, $1, $2;", "=l,r,r", "u32 u32", "u64", lambda a, b: a * b),
    ("mul24.lo.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32", lambda a, b: as_signed(a, 24) * as_signed(b, 24)),
    ("mul24.hi.u32 $0, $1, $2;", "=r,r,r", "u32 u32", "u32", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 16),
    ("mad.lo.s32 $0, $1, $2, $3;", "=r,r,r,r", "i32 i32 i32", "i32", lambda a, b, c: a * b + c),
    ("mad.lo.u16 $0, $1, $2, $3;", "=h,h,h,h", "u16 u16 u16", "u16", lambda a, b, c: a * b + c),
    ("mad.hi.s32 $0, $1, $2, $3;", "=r,r,r,r", "i32 i32 i32", "i32", lambda a, b, c: (a * b >> 32) + c),
    ("mad.wide.s32 $0, $1, $2, $3;", "=l,r,r,l", "i32 i32 i64", "i64", lambda a, b, c: a * b + c),
    ("mad.wide.u16 $0, $1, $2, $3;", "=r,h,h,r", "u16 u16 u32", "u32", lambda a, b, c: a * b + c),
    ("mad24.lo.u32 $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c),
    ("div.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32", divided),
    ("div.u64 $0, $1, $2;", "=l,l,l", "u64 u64", "u64", lambda a, b: a // b if b else None),
    ("rem.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32", remainder),
    ("rem.u16 $0, $1, $2;", "=h,h,h", "u16 u16", "u16", lambda a, b: a % b if b else None),
    ("abs.s32 $0, $1;", "=r,r", "i32", "i32", abs),
    ("neg.s16 $0, $1;", "=h,h", "i16", "i16", lambda a: -a),
    ("neg.s64 $0, $1;", "=l,l", "i64", "i64", lambda a: -a),
    ("min.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32", min),
    ("max.u64 $0, $1, $2;", "=l,l,l", "u64 u64", "u64", max),
    ("sad.s32 $0, $1, $2, $3;", "=r,r,r,r", "i32 i32 u32", "i32", lambda a, b, c: abs(a - b) + c),
    ("sad.u16 $0, $1, $2, $3;", "=h,h,h,h", "u16 u16 u16", "u16", lambda a, b, c: abs(a - b) + c),
    ("dp4a.s32.s32 $0, $1, $2, $3;", "=r,r,r,r", "i32 i32 i32", "i32", lambda a, b, c: dot4(a, b, c, True, True)),
    ("dp4a.u32.s32 $0, $1, $2, $3;", "=r,r,r,r", "i32 i32 i32", "i32", lambda a, b, c: dot4(a, b, c, False, True)),
    ("dp2a.hi.u32.u32 $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32",
     lambda a, b, c: c + (a & M16) * (b >> 16 & 255) + (a >> 16) * (b >> 24)),
    ("dp2a.lo.s32.s32 $0, $1, $2, $3;", "=r,r,r,r", "i32 i32 i32", "i32",
     lambda a, b, c: c + as_signed(a, 16) * as_signed(b, 8) + as_signed(a >> 16, 16) * as_signed(b >> 8, 8)),
    ("and.b32 $0, $1, $2;", "=r,r,r", "u32 u32", "u32", lambda a, b: a & b),
    ("or.b64 $0, $1, $2;", "=l,l,l", "u64 u64", "u64", lambda a, b: a | b),
    ("xor.b16 $0, $1, $2;", "=h,h,h", "u16 u16", "u16", lambda a, b: a ^ b),
    ("not.b32 $0, $1;", "=r,r", "u32", "u32", lambda a: ~a),
    ("cnot.b32 $0, $1;", "=r,r", "u32", "u32", lambda a: int(a == 0)),
    ("shl.b32 $0, $1, $2;", "=r,r,r", "u32 u32", "u32", lambda a, n: shift_left(a, n, 32)),
    ("shl.b64 $0, $1, $2;", "=l,l,r", "u64 u32", "u64", lambda a, n: shift_left(a, n, 64)),
    ("shl.b16 $0, $1, 3;", "=h,h", "u16", "u16", lambda a: a << 3),
    ("shr.u32 $0, $1, $2;", "=r,r,r", "u32 u32", "u32", lambda a, n: shift_right(a, n, 32)),
    ("shr.s32 $0, $1, $2;", "=r,r,r", "i32 u32", "i32", lambda a, n: shift_right(a, n, 32)),
    ("shr.s64 $0, $1, $2;", "=l,l,r", "i64 u32", "i64", lambda a, n: shift_right(a, n, 64)),
    ("shr.b16 $0, $1, $2;", "=h,h,r", "u16 u32", "u16", lambda a, n: shift_right(a, n, 16)),
    ("shf.l.wrap.b32 $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", lambda a, b, n: ((b << 32 | a) << (n & 31)) >> 32),
    ("shf.r.wrap.b32 $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", lambda a, b, n: (b << 32 | a) >> (n & 31)),
    ("shf.l.clamp.b32 $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", lambda a, b, n: ((b << 32 | a) << min(n, 32)) >> 32),
    ("shf.r.clamp.b32 $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", lambda a, b, n: (b << 32 | a) >> min(n, 32)),
    ("popc.b32 $0, $1;", "=r,r", "u32", "u32", int.bit_count),
    ("popc.b64 $0, $1;", "=r,l", "u64", "u32", int.bit_count),
    ("clz.b32 $0, $1;", "=r,r", "u32", "u32", lambda a: 32 - a.bit_length()),
    ("clz.b64 $0, $1;", "=r,l", "u64", "u32", lambda a: 64 - a.bit_length()),
    ("brev.b32 $0, $1;", "=r,r", "u32", "u32", lambda a: int(f"{a:032b}"[::-1], 2)),
    ("brev.b64 $0, $1;", "=l,l", "u64", "u64", lambda a: int(f"{a:064b}"[::-1], 2)),
    ("bfind.u32 $0, $1;", "=r,r", "u32", "u32", lambda a: a.bit_length() - 1),
    ("bfind.s32 $0, $1;", "=r,r", "i32", "u32", lambda a: (a if a >= 0 else ~a).bit_length() - 1),
    ("bfind.u64 $0, $1;", "=r,l", "u64", "u32", lambda a: a.bit_length() - 1),
    ("bfind.shiftamt.u32 $0, $1;", "=r,r", "u32", "u32", lambda a: 32 - a.bit_length() if a else -1),
    ("bfe.u32 $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", lambda a, p, n: extract(a, p, n, 32, False)),
    ("bfe.s32 $0, $1, $2, $3;", "=r,r,r,r", "i32 u32 u32", "i32", lambda a, p, n: extract(a & M32, p, n, 32, True)),
    ("bfe.s32 $0, $1, 5, 7;", "=r,r", "i32", "i32", lambda a: extract(a & M32, 5, 7, 32, True)),
    ("bfe.s64 $0, $1, $2, $3;", "=l,l,r,r", "i64 u32 u32", "i64", lambda a, p, n: extract(a & M64, p, n, 64, True)),
    ("bfi.b32 $0, $1, $2, $3, 9;", "=r,r,r,r", "u32 u32 u32", "u32", lambda a, b, p: insert(a, b, p, 9, 32)),
    ("bfi.b64 $0, $1, $2, $3, 33;", "=l,l,l,r", "u64 u64 u32", "u64", lambda a, b, p: insert(a, b, p, 33, 64)),
    ("lop3.b32 $0, $1, $2, $3, 0xEA;", "=r,r,r,r", "u32 u32 u32", "u32", lop3(0xEA)),
    ("lop3.b32 $0, $1, $2, $3, 150;", "=r,r,r,r", "u32 u32 u32", "u32", lambda a, b, c: a ^ b ^ c),
    ("prmt.b32 $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", permute),
    ("prmt.b32 $0, $1, $2, 0x5410;", "=r,r,r", "u32 u32", "u32", lambda a, b: a & M16 | (b & M16) << 16),
    ("prmt.b32.f4e $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", picked(lambda i, c: c + i)),
    ("prmt.b32.b4e $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", picked(lambda i, c: c - i)),
    ("prmt.b32.rc8 $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", picked(lambda i, c: c)),
    ("prmt.b32.ecl $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", picked(max)),
    ("prmt.b32.ecr $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", picked(min)),
    ("prmt.b32.rc16 $0, $1, $2, $3;", "=r,r,r,r", "u32 u32 u32", "u32", picked(lambda i, c: (c & 1) * 2 + i % 2)),
    ("cvt.u32.u16 $0, $1;", "=r,h", "u16", "u32", lambda a: a),
    ("cvt.s32.s16 $0, $1;", "=r,h", "i16", "i32", lambda a: a),
    ("cvt.u16.u32 $0, $1;", "=h,r", "u32", "u16", lambda a: a),
    ("cvt.s64.s32 $0, $1;", "=l,r", "i32", "i64", lambda a: a),
    ("cvt.s32.s8 $0, $1;", "=r,r", "u32", "i32", lambda a: as_signed(a, 8)),
    ("cvt.s8.s32 $0, $1;", "=r,r", "i32", "i32", lambda a: as_signed(a, 8)),
    ("cvt.sat.s8.s32 $0, $1;", "=r,r", "i32", "i32", lambda a: max(min(a, 127), -128)),
    ("cvt.sat.u16.s32 $0, $1;", "=h,r", "i32", "u16", lambda a: max(min(a, M16), 0)),
    ("cvt.sat.s32.u64 $0, $1;", "=r,l", "u64", "i32", lambda a: min(a, 2**31 - 1)),
    ("cvt.pack.sat.s8.s32.b32 $0, $1, $2, $3;", "=r,r,r,r", "i32 i32 u32", "u32",
     lambda a, b, c: c << 16 | (max(min(a, 127), -128) & 255) << 8 | max(min(b, 127), -128) & 255),
    ("cvt.pack.sat.u16.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "u32",
     lambda a, b: max(min(a, M16), 0) << 16 | max(min(b, M16), 0)),
    ("mov.b32 $0, {$1, $2};", "=r,h,h", "u16 u16", "u32", lambda a, b: a | b << 16),
    ("mov.b64 $0, {$1, $2};", "=l,r,r", "u32 u32", "u64", lambda a, b: a | b << 32),
    ("{ .reg .b32 lo, hi; mov.b64 {lo, hi}, $1; xor.b32 $0, lo, hi; }", "=r,l", "u64", "u32", lambda a: (a ^ a >> 32) & M32),
    ("{ .reg .b32 hi; mov.b64 {_, hi}, $1; mov.u32 $0, hi; }", "=r,l", "u64", "u32", lambda a: a >> 32),
    ("{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $1, $2, p; }", "=r,r,r", "i32 i32", "i32", min),
    ("{ .reg .pred p, q; setp.hi.u32 p|q, $1, $2; @p mov.u32 $0, 1; @q mov.u32 $0, 2; }", "=r,r,r", "u32 u32", "u32",
     lambda a, b: 1 if a > b else 2),
    ("{ .reg .pred p; setp.eq.b32 p, $1, $2; mov.u32 $0, 5; @!p add.u32 $0, $0, 4; }", "=r,r,r", "u32 u32", "u32",
     lambda a, b: 5 if a == b else 9),
    ("{ .reg .pred p, q, r; setp.gt.s32 p, $1, 0; setp.lt.and.s32 q, $1, 100, p; not.pred r, q; or.pred p, q, r;"
     " and.pred p, p, q; selp.u32 $0, 1, 0, p; }", "=r,r", "i32", "u32", lambda a: int(0 < a < 100)),
    ("{ .reg .pred p, q; setp.ge.u64 p, $1, $2; setp.ne.xor.u64 q, $1, $2, !p; selp.s32 $0, -1, 1, q; }", "=r,l,l", "u64 u64",
     "i32", lambda a, b: -1 if (a != b) != (a < b) else 1),
    ("set.lt.u32.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "u32", lambda a, b: -1 if a < b else 0),
    ("slct.s32.s32 $0, $1, $2, $3;", "=r,r,r,r", "i32 i32 i32", "i32", lambda a, b, c: a if c >= 0 else b),
    ("bar.sync 0; membar.gl; fence.acq_rel.gpu; nanosleep.u32 20; mov.u32 $0, $1;", "=r,r", "u32", "u32", lambda a: a),
    # the result and an operand share a register
    ("add.s32 $0, $0, $2;", "=r,0,r", "i32 i32", "i32", lambda a, b: a + b),
    ("/* twice */ add.s32 ${0}, ${1}, ${1}; // done", "=&r,r,~{memory}", "i32", "i32", lambda a: 2 * a),
    ("mov.u32 $0, 0b101; mov.u32 $0, 0X1FU;", "=r,r", "u32", "u32", lambda a: 31),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "registers", "kinds", "result", "reference"),
    INTEGERS,
    ids=[row[0] for row in INTEGERS],
)
def test_integers(
    text: str, registers: str, kinds: str, result: str, reference: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = kinds.split()
    arguments = [inputs(kind, 256, seed) for seed, kind in enumerate(names)]
    got = both_modes(monkeypatch, text, registers, arguments, names, result, 1)
    bits = got.dtype.itemsize * 8
    for i, row in enumerate(zip(*[a.tolist() for a in arguments], strict=True)):
        want = reference(*row)
        if want is not None:
            assert (int(got[i]) - want) % (1 << bits) == 0, f"{row}: {got[i]}, not {want % (1 << bits)}"


def flush(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(x.dtype.type(0), x), x)


def directed(mode: str, exact: Callable[..., mpf]) -> Callable[..., np.ndarray]:
    """f32, rounded by mpmath; NaN and infinities by NumPy's rules for the same operation."""

    def function(*columns: np.ndarray) -> np.ndarray:
        out = []
        for row in zip(*[c.tolist() for c in columns], strict=True):
            if all(math.isfinite(v) for v in row):
                with mp.workprec(900):
                    out.append(rounded(exact(*map(mpf, row)), F32, mode))
            else:
                out.append(None)
        return np.array(out, dtype=object)

    return function


def numpy1(f: Callable[..., Any]) -> Callable[..., np.ndarray]:
    def function(*columns: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(f(*columns))

    return function


def maximum_number(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a) & np.signbit(b), a, np.abs(a)), np.fmax(a, b))


def in_f64(f: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """Computed in f64 and rounded to the first argument's type."""
    return numpy1(lambda *c: np.asarray(f(*[x.astype(np.float64) for x in c])).astype(c[0].dtype))


# (text, constraints, argument types, result type, reference on arrays (None: not compared), largest error in ULP)
FLOATS: list[tuple[str, str, str, str, Callable[..., np.ndarray], int]] = [
    ("add.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(np.add), 0),
    ("add.ftz.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(lambda a, b: flush(flush(a) + flush(b))), 0),
    ("add.rz.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", directed("rz", lambda a, b: a + b), 0),
    ("mul.rm.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", directed("rd", lambda a, b: a * b), 0),
    ("fma.rp.f32 $0, $1, $2, $3;", "=f,f,f,f", "fp32 fp32 fp32", "fp32", directed("ru", lambda a, b, c: a * b + c), 0),
    ("fma.rn.f32 $0, $1, $2, $3;", "=f,f,f,f", "fp32 fp32 fp32", "fp32", directed("rn", lambda a, b, c: a * b + c), 0),
    ("sub.rn.f64 $0, $1, $2;", "=d,d,d", "fp64 fp64", "fp64", numpy1(np.subtract), 0),
    ("mul.f64 $0, $1, 0d4004000000000000;", "=d,d", "fp64", "fp64", numpy1(lambda a: a * 2.5), 0),
    ("mul.f32 $0, $1, 0f40200000;", "=f,f", "fp32", "fp32", numpy1(lambda a: a * np.float32(2.5)), 0),
    ("mul.f32 $0, $1, -2.5;", "=r,r", "fp32", "fp32", numpy1(lambda a: a * np.float32(-2.5)), 0),
    ("mul.sat.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32",
     numpy1(lambda a, b: np.where(np.isnan(a * b), np.float32(0), np.clip(a * b, 0, 1)) + np.float32(0)), 0),
    ("div.rn.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(np.divide), 0),
    ("div.full.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(np.divide), 2),
    ("rcp.approx.ftz.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(lambda a: flush(np.float32(1) / flush(a))), 1),
    ("rcp.rn.f64 $0, $1;", "=d,d", "fp64", "fp64", numpy1(lambda a: 1 / a), 0),
    ("sqrt.rn.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.sqrt), 0),
    ("sqrt.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.sqrt), 1),
    ("rsqrt.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(lambda a: 1 / np.sqrt(a)), 1),
    ("ex2.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(np.exp2), 1),
    ("ex2.approx.ftz.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(lambda a: flush(np.exp2(a.astype(np.float64)).astype(np.float32))), 1),
    ("lg2.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(np.log2), 1),
    ("sin.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(np.sin), 1),
    ("cos.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(np.cos), 1),
    ("tanh.approx.f32 $0, $1;", "=f,f", "fp32", "fp32", in_f64(np.tanh), 1),
    ("abs.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.abs), 0),
    ("neg.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.negative), 0),
    ("max.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(maximum_number), 0),
    ("max.NaN.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32",
     numpy1(lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), maximum_number(a, b))), 0),
    ("min.f64 $0, $1, $2;", "=d,d,d", "fp64 fp64", "fp64", numpy1(lambda a, b: -maximum_number(-a, -b)), 0),
    ("copysign.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(lambda a, b: np.copysign(b, a)), 0),
    ("add.f16 $0, $1, $2;", "=h,h,h", "fp16 fp16", "fp16", numpy1(np.add), 0),
    ("mul.rn.f16 $0, $1, $2;", "=h,h,h", "fp16 fp16", "fp16", numpy1(np.multiply), 0),
    ("fma.rn.f16 $0, $1, $2, $3;", "=h,h,h,h", "fp16 fp16 fp16", "fp16", in_f64(lambda a, b, c: a * b + c), 0),
    ("fma.rn.relu.f16 $0, $1, $2, $3;", "=h,h,h,h", "fp16 fp16 fp16", "fp16",
     in_f64(lambda a, b, c: np.maximum(a * b + c, 0) + 0.0), 0),
    ("fma.rn.sat.f16 $0, $1, $2, $3;", "=h,h,h,h", "fp16 fp16 fp16", "fp16",
     in_f64(lambda a, b, c: np.nan_to_num(np.clip(a * b + c, 0, 1)) + 0.0), 0),
    ("min.f16 $0, $1, $2;", "=h,h,h", "fp16 fp16", "fp16", numpy1(lambda a, b: -maximum_number(-a, -b)), 0),
    ("ex2.approx.f16 $0, $1;", "=h,h", "fp16", "fp16", in_f64(np.exp2), 1),
    ("tanh.approx.f16 $0, $1;", "=h,h", "fp16", "fp16", in_f64(np.tanh), 1),
    ("cvt.f32.f16 $0, $1;", "=f,h", "fp16", "fp32", numpy1(lambda a: a.astype(np.float32)), 0),
    ("cvt.rn.f16.f32 $0, $1;", "=h,f", "fp32", "fp16", numpy1(lambda a: a.astype(np.float16)), 0),
    ("cvt.f64.f32 $0, $1;", "=d,f", "fp32", "fp64", numpy1(lambda a: a.astype(np.float64)), 0),
    ("cvt.rn.f32.f64 $0, $1;", "=f,d", "fp64", "fp32", numpy1(lambda a: a.astype(np.float32)), 0),
    ("cvt.rp.f32.f64 $0, $1;", "=f,d", "fp64", "fp32", directed("ru", lambda a: a), 0),
    ("cvt.rni.f32.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.rint), 0),
    ("cvt.rmi.f64.f64 $0, $1;", "=d,d", "fp64", "fp64", numpy1(np.floor), 0),
    ("cvt.rpi.f32.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(np.ceil), 0),
    ("cvt.rzi.f16.f16 $0, $1;", "=h,h", "fp16", "fp16", numpy1(np.trunc), 0),
    ("cvt.sat.f32.f32 $0, $1;", "=f,f", "fp32", "fp32", numpy1(lambda a: np.nan_to_num(np.clip(a, 0, 1)) + np.float32(0)), 0),
    ("cvt.rn.f32.s32 $0, $1;", "=f,r", "i32", "fp32", numpy1(lambda a: a.astype(np.float32)), 0),
    ("cvt.rn.f32.u64 $0, $1;", "=f,l", "u64", "fp32", numpy1(lambda a: a.astype(np.float32)), 0),
    ("cvt.rz.f32.s32 $0, $1;", "=f,r", "i32", "fp32", directed("rz", lambda a: a), 0),
    ("cvt.rm.f32.u32 $0, $1;", "=f,r", "u32", "fp32", directed("rd", lambda a: a), 0),
    ("cvt.rn.f64.s64 $0, $1;", "=d,l", "i64", "fp64", numpy1(lambda a: a.astype(np.float64)), 0),
    ("cvt.rn.f16.s16 $0, $1;", "=h,h", "i16", "fp16", numpy1(lambda a: a.astype(np.float16)), 0),
    ("set.gtu.f32.f32 $0, $1, $2;", "=f,f,f", "fp32 fp32", "fp32", numpy1(lambda a, b: (~(a <= b)).astype(np.float32)), 0),
    ("{ .reg .pred p; setp.leu.f32 p, $1, $2; selp.f32 $0, $1, $2, p; }", "=f,f,f", "fp32 fp32", "fp32",
     numpy1(lambda a, b: np.where(~(a > b), a, b)), 0),
    ("{ .reg .pred p; setp.num.f32 p, $1, $2; selp.f32 $0, 1.0, 0.0, p; }", "=f,f,f", "fp32 fp32", "fp32",
     numpy1(lambda a, b: (~(np.isnan(a) | np.isnan(b))).astype(np.float32)), 0),
    ("{ .reg .pred p; testp.subnormal.f32 p, $1; selp.f32 $0, 1.0, 0.0, p; }", "=f,f", "fp32", "fp32",
     numpy1(lambda a: (np.abs(a) < np.finfo(np.float32).tiny).astype(np.float32)), 0),
    ("slct.f32.f32 $0, $1, $2, $3;", "=f,f,f,f", "fp32 fp32 fp32", "fp32", numpy1(lambda a, b, c: np.where(c >= 0, a, b)), 0),
]  # fmt: skip


def steps(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Distance in representable values; 0 for NaN with NaN; signs of zeros count."""
    bits = {2: np.int16, 4: np.int32, 8: np.int64}[got.dtype.itemsize]

    def line(x: np.ndarray) -> np.ndarray:
        raw = x.view(bits).astype(object)
        return np.where(raw < 0, -(raw + (1 << (got.dtype.itemsize * 8 - 1))) - 1, raw)

    both = np.isnan(got) & np.isnan(want)
    return np.where(both, 0, np.abs(line(got) - line(want)))


@pytest.mark.parametrize(
    ("text", "registers", "kinds", "result", "reference", "ulp"), FLOATS, ids=[row[0] for row in FLOATS]
)
def test_floats(
    text: str, registers: str, kinds: str, result: str, reference: Any, ulp: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = kinds.split()
    arguments = [inputs(kind, 256, seed) for seed, kind in enumerate(names)]
    got = both_modes(monkeypatch, text, registers, arguments, names, result, 1)
    want = reference(*arguments)
    compared = np.array([w is not None for w in want.tolist()])
    assert compared.sum() > 100
    exact = want[compared].astype(got.dtype)
    off = steps(got[compared], exact)
    zeros = (
        (got[compared] == 0) & (exact == 0) if want.dtype == object else np.zeros(compared.sum(), bool)
    )  # sign: not kept
    bad = np.flatnonzero((off > ulp) & ~zeros)
    rows = [a[compared] for a in arguments]
    assert not len(bad), [(*(r[i] for r in rows), got[compared][i], exact[i]) for i in bad[:5]]


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize(
    ("to", "letter"), [("s32", "r"), ("u32", "r"), ("s64", "l"), ("u64", "l"), ("s16", "h"), ("u8", "h")]
)
@pytest.mark.parametrize(("source", "source_letter"), [("fp32", "f"), ("fp64", "d"), ("fp16", "h")])
def test_float_to_integer(
    mode: str, to: str, letter: str, source: str, source_letter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bits, low = int(to[1:]), -(1 << (int(to[1:]) - 1)) if to[0] == "s" else 0
    high = low + (1 << bits) - 1
    result = {"r": to[0] + "32", "l": to[0] + "64", "h": to[0] + "16"}[letter].replace("s", "i")
    x = inputs(source, 256, 3)
    more = np.array([2.0**31, -(2.0**31), 2.0**63, 1e30, -1e30, 127.5, 255.5, 32767.5, -0.5])
    with np.errstate(over="ignore"):
        x[20 : 20 + len(more)] = more.astype(x.dtype)
    name = {"fp32": "f32", "fp64": "f64", "fp16": "f16"}[source]
    got = both_modes(
        monkeypatch, f"cvt.{mode}.{to}.{name} $0, $1;", f"={letter},{source_letter}", [x], [source], result, 1
    )
    rounding = {"rni": lambda v: int(np.rint(v)), "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode]
    for value, mine in zip(x.tolist(), got.tolist(), strict=True):
        if math.isnan(value):
            wide = bits == 64 or source == "fp64"
            want = -(1 << (bits - 1)) if wide else 0
        elif math.isinf(value):
            want = high if value > 0 else low
        else:
            want = min(max(rounding(value), low), high)
        assert (mine - want) % (1 << bits) == 0, (value, mine, want)


HALVES = [("fp16", "f16x2"), ("bf16", "bf16x2")]


def to_torch(x: np.ndarray, kind: str) -> torch.Tensor:
    return torch.from_numpy(x.copy()).view(TORCH[kind])


@pytest.mark.parametrize(("kind", "name"), HALVES)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "max", "min", "fma"])
@pytest.mark.parametrize("size", [2, 64, 512])
def test_pairs(kind: str, name: str, op: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, z = (inputs(kind, size, seed) for seed in (1, 2, 3))
    form = ".rn" if op == "fma" else ""
    operands = "$0, $1, $2" + (", $3" if op == "fma" else "")
    columns = [x, y, z] if op == "fma" else [x, y]
    got = both_modes(
        monkeypatch,
        f"{op}{form}.{name} {operands};",
        "=r" + ",r" * len(columns),
        columns,
        [kind] * len(columns),
        kind,
        2,
    )
    a, b, c = (to_torch(v, kind).double() for v in (x, y, z))
    if op in ("max", "min"):
        exact = torch.fmax(a, b) if op == "max" else torch.fmin(a, b)
    else:
        exact = {"add": a + b, "sub": a - b, "mul": a * b, "fma": a * b + c}[
            op
        ]  # exact but for fma, which f64 nearly is
    want = exact.to(TORCH[kind])
    mine = to_torch(got, kind)
    same = (mine == want) | (torch.isnan(mine) & torch.isnan(want))
    assert same.all(), (mine[~same], want[~same])


@pytest.mark.parametrize(
    ("text", "source", "target", "pack"),
    [
        ("cvt.rn.f16x2.f32 $0, $2, $1;", "fp32", "fp16", 2),
        ("cvt.rn.bf16x2.f32 $0, $2, $1;", "fp32", "bf16", 2),
        ("cvt.rn.relu.bf16x2.f32 $0, $2, $1;", "fp32", "bf16", 2),
        ("{ .reg .b16 a, b; cvt.rn.satfinite.e4m3x2.f32 a, $2, $1; cvt.rn.satfinite.e4m3x2.f32 b, $4, $3; mov.b32 $0, {a, b}; }",
         "fp32", "fp8e4nv", 4),
        ("{ .reg .b16 a, b; cvt.rn.satfinite.e5m2x2.f32 a, $2, $1; cvt.rn.satfinite.e5m2x2.f32 b, $4, $3; mov.b32 $0, {a, b}; }",
         "fp32", "fp8e5", 4),
        ("{ .reg .b16 a, b; cvt.rn.satfinite.e4m3x2.f16x2 a, $1; cvt.rn.satfinite.e4m3x2.f16x2 b, $2; mov.b32 $0, {a, b}; }",
         "fp16", "fp8e4nv", 4),
    ],
)  # fmt: skip
def test_packed_narrowing(text: str, source: str, target: str, pack: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = inputs(source, 256, 9)
    registers = "=r" + (",f" * pack if source == "fp32" else ",r" * (pack // 2))
    tensor = torch.from_numpy(x.copy())
    results = []
    for eager in ("0", "1"):
        monkeypatch.setenv("TILETWIN_EAGER", eager)
        out = torch.zeros(256, dtype=TORCH[target])
        kernels.one[(1,)](tensor, out, text, registers, pack, 256)
        results.append(out)
    assert torch.equal(results[0].view(torch.uint8), results[1].view(torch.uint8))
    limit = {"fp8e4nv": 448.0, "fp8e5": 57344.0}.get(target)
    value = tensor.float().clamp(-limit, limit) if limit else tensor
    if "relu" in text:
        value = torch.where(torch.isnan(value), value, value.clamp(min=0))
    want, got = value.to(TORCH[target]).float(), results[0].float()
    same = (got == want) | (torch.isnan(got) & torch.isnan(want))
    assert same.all(), (tensor[~same], got[~same], want[~same])


@pytest.mark.parametrize(("kind", "name"), [("fp8e4nv", "e4m3x2"), ("fp8e5", "e5m2x2")])
def test_packed_widening(kind: str, name: str) -> None:
    """All 256 codes."""
    x = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(TORCH[kind])
    out = torch.zeros(256, dtype=torch.float16)
    text = f"{{ .reg .b16 a, b; mov.b32 {{a, b}}, $2; cvt.rn.f16x2.{name} $0, a; cvt.rn.f16x2.{name} $1, b; }}"
    kernels.one[(1,)](x, out, text, "=r,=r,r", 4, 256)
    want = x.to(torch.float16)
    assert ((out == want) | (torch.isnan(out) & torch.isnan(want))).all()


@pytest.mark.parametrize(("form", "how"), [("rna", "away"), ("rn", "even"), ("rz", "cut")])
def test_tf32(form: str, how: str) -> None:
    x = inputs("fp32", 256, 4)
    x[:3] = np.array([0x3F801000, 0x3F803000, 0x3F800FFF], dtype=np.uint32).view(np.float32)
    got = run(f"cvt.{form}.tf32.f32 $0, $1;", "=r,f", [x], ["fp32"], "u32", 1)
    for value, mine in zip(x.view(np.uint32).tolist(), got.tolist(), strict=True):
        if value & 0x7F800000 == 0x7F800000:
            continue
        bias = {"away": 0x1000, "even": 0xFFF + (value >> 13 & 1), "cut": 0}[how]
        assert mine == (value + bias) & ~0x1FFF & M32


@pytest.mark.parametrize(
    ("op", "mode"), [("add", "rn"), ("sub", "rz"), ("mul", "rm"), ("mul", "rn"), ("fma", "rp"), ("fma", "rn")]
)
def test_pairs_of_f32(op: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """f32x2 computes what the two f32 instructions do."""
    count = 3 if op == "fma" else 2
    columns = [inputs("fp32", 256, seed) for seed in range(count)]
    names = ["a", "b", "c"][:count]
    loads = " ".join(f"mov.b64 {name}, {{${2 * i + 2}, ${2 * i + 3}}};" for i, name in enumerate(names))
    text = f"{{ .reg .b64 a, b, c, d; {loads} {op}.{mode}.f32x2 d, {', '.join(names)}; mov.b64 {{$0, $1}}, d; }}"
    kinds = ["fp32"] * count
    pairs = both_modes(monkeypatch, text, "=f,=f" + ",f" * 2 * count, columns, kinds, "fp32", 2)
    operands = ", ".join(f"${i + 1}" for i in range(count))
    singles = run(f"{op}.{mode}.f32 $0, {operands};", "=f" + ",f" * count, columns, kinds, "fp32", 1)
    assert pairs.tobytes() == singles.tobytes()
    flushed = text.replace("f32x2", "ftz.f32x2")
    singles = run(f"{op}.{mode}.ftz.f32 $0, {operands};", "=f" + ",f" * count, columns, kinds, "fp32", 1)
    assert run(flushed, "=f,=f" + ",f" * 2 * count, columns, kinds, "fp32", 2).tobytes() == singles.tobytes()


@pytest.mark.parametrize("eager", ["0", "1"])
def test_quantized_to_nibbles_and_back(eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As kernels for microscaled formats have it: eight f32 to four bytes, low nibble first, and to f16 again."""
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    x = torch.from_numpy(inputs("fp32", 256, 3))
    packed, wide = torch.zeros(128, dtype=torch.uint8), torch.zeros(256, dtype=torch.float16)
    kernels.nibbles[(1,)](x, packed, wide, 128)
    grid = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    size = torch.where(torch.isnan(x), torch.inf, x.abs()).clamp(max=6)
    middles = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0])
    codes = torch.bucketize(size, middles)  # at a middle: the lower one
    codes += ((size[:, None] == middles) & (torch.arange(7) % 2 == 1)).any(1)  # whose code is odd: the upper
    codes |= torch.where(torch.signbit(x) & ~torch.isnan(x), 8, 0)
    assert torch.equal(packed.int(), (codes[0::2] | codes[1::2] << 4).int())
    want = grid[codes & 7] * torch.where(codes >= 8, -1, 1)
    assert torch.equal(wide.float(), want) and torch.equal(torch.signbit(wide), codes >= 8)


@pytest.mark.parametrize(
    "text",
    [
        "prefetch.global.L2 [$1]; mov.u32 $0, 7;",
        "prefetch.global.L2::evict_last [$1 + 16]; mov.u32 $0, 7;",
        "griddepcontrol.wait; mov.u32 $0, 7;",
        "griddepcontrol.launch_dependents; mov.u32 $0, 7;",
        "fence.proxy.async; fence.proxy.async.shared::cta; mov.u32 $0, 7;",
        "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned; mov.u32 $0, 7;",
    ],
)
def test_hints_and_orderings_do_nothing(text: str) -> None:
    x = np.arange(16, dtype=np.int64)
    assert (run(text, "=r,l", [x], ["i64"], "i32", 1) == 7).all()


def test_results_that_nothing_writes_are_zero() -> None:
    assert (run("nanosleep.u32 $1;", "=r, r", [np.arange(16, dtype=np.int32)], ["i32"], "i32", 1) == 0).all()


def test_largest_of_three() -> None:
    x, y, z = (inputs("fp32", 256, seed) for seed in range(3))
    kinds = ["fp32"] * 3
    got = run("max.f32 $0, $1, $2, $3;", "=f,f,f,f", [x, y, z], kinds, "fp32", 1)
    pair = run("max.f32 $0, $1, $2;", "=f,f,f", [x, y], kinds[:2], "fp32", 1)
    assert got.tobytes() == run("max.f32 $0, $1, $2;", "=f,f,f", [pair, z], kinds[:2], "fp32", 1).tobytes()


@pytest.mark.parametrize("size", [1, 2, 4, 64, 1024])
def test_four_bytes_in_a_register(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    a = torch.from_numpy(inputs("i8", size, 1))
    b = torch.from_numpy(np.random.default_rng(2).uniform(0, 255, size).astype(np.float32))
    for eager in ("0", "1"):
        monkeypatch.setenv("TILETWIN_EAGER", eager)
        c, d = torch.zeros(size, dtype=torch.int32), torch.zeros(size)
        kernels.scaled_bytes[(1,)](a, b, c, d, size)
        assert torch.equal(c, a.view(torch.uint8).int())
        assert torch.equal(d, torch.maximum(a.view(torch.uint8).float(), b))


@pytest.mark.parametrize("size", [1, 2, 8, 128])
@pytest.mark.parametrize("kind", ["i8", "i16"])
def test_packs_of_narrow_elements(kind: str, size: int) -> None:
    """The last pack may be incomplete."""
    x = inputs(kind, size, 5)
    pack = 4 if kind == "i8" else 2
    assert (run("not.b32 $0, $1;", "=r,r", [x], [kind], kind, pack) == ~x).all()


def test_pack_of_wide_elements() -> None:
    """Elements of 32 bits take a register each: neighbours are swapped."""
    x = inputs("i32", 64, 6)
    got = run("mov.b32 $0, $3; mov.b32 $1, $2;", "=r,=r,r,r", [x], ["i32"], "i32", 2)
    assert (got.reshape(-1, 2) == x.reshape(-1, 2)[:, ::-1]).all()


def test_in_two_dimensions() -> None:
    a, out = torch.linspace(-2, 2, 8 * 32), torch.zeros(8 * 32)
    kernels.in_two_dimensions[(1,)](a, out, 8, 32)
    assert torch.equal(out.view(8, 32), (a.view(8, 32) + 1) * a[:32] - 1)


@pytest.mark.parametrize("eager", ["0", "1"])
def test_scalars_and_loops(eager: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILETWIN_EAGER", eager)
    a, out = torch.tensor([-3], dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    kernels.on_scalars[(1,)](a, out)
    assert out.item() == 17
    x = torch.from_numpy(inputs("i32", 64, 8))
    out = torch.zeros(64, dtype=torch.int32)
    kernels.in_a_loop[(1,)](x, out, 3, 64)
    bits = x.numpy().view(np.uint32)
    assert (out.numpy().view(np.uint32) == (bits << 15 | bits >> 17)).all()


def test_special_registers() -> None:
    out = torch.zeros(3, 4, dtype=torch.int64)
    before = time.time_ns()
    kernels.registers[(3,)](out)
    assert out[:, 0].tolist() == [0, 1, 2]
    assert out[:, 1].tolist() == [3, 3, 3]
    assert all(0 <= sm < 132 for sm in out[:, 2].tolist())
    assert all(before - 10**9 <= t <= time.time_ns() + 10**9 for t in out[:, 3].tolist())


@pytest.mark.parametrize(
    ("text", "registers", "message"),
    [
        ("add.s32 $0, $1, $1;\n  wgmma.fence.sync.aligned;", "=r,r", r"line 2 of the text \(`wgmma.fence.sync.aligned;`\): `wgmma.fence"),
        ("ld.global.u32 $0, [$1];", "=r,r", r"`ld.global.u32` is not an instruction that runs on the CPU: memory .* use tl.load"),
        ("red.global.add.u32 [$0], $1;", "=r,r", r"`red.global.add.u32` .* tl.atomic_"),
        ("shfl.sync.bfly.b32 $0, $1, 1, 31, -1;", "=r,r", r"`shfl.sync.bfly.b32` .* no threads or warps; use tl.reduce"),
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32 $0, $1;", "=r,r", r"`mma.sync.* use tl.dot"),
        ("addc.u32 $0, $1, $1;", "=r,r", "`addc.u32` .* no carry register"),
        ("frobnicate.u32 $0, $1;", "=r,r", r"`frobnicate.u32` is not an instruction that runs on the CPU \("),
        ("add.f16x2 $0, $1, 0x3C003C00;", "=r,r", "`add.f16x2` takes registers only; move the constant into one"),
        ("vadd.u32.u32.u32.sat $0, $1, $1;", "=r,r", r"`vadd.u32.u32.u32.sat`: .sat is computed for signed results"),
        ("vadd4 $0, $1, $1, $1;", "=r,r", "`vadd4` needs the types of the result and of both operands"),
        ("{ .reg .b8 t; cvt.rz.e2m1x2.f32 t, $1, $1; }", "=r,f", r"`cvt.rz.e2m1x2.f32` needs .rn.satfinite"),
        ("{ .reg .b16 t; cvt.satfinite.ue8m0x2.f32 t, $1, $1; }", "=r,f", "needs a rounding: .rz or .rp"),
        ("cvt.rs.f16x2.f32 $0, $1, $1, $1;", "=r,r", "`cvt.rs.f16x2.f32` is not a form of `cvt` .* stochastic rounding"),
        ("mov.b32 $0, [$1];", "=r,r", "memory is not reached from inline assembly"),
        ("v_cvt_f16_f32 $0, $1", "=v,v", 'constraint "=v" names a register of an AMD GPU; the text must be PTX'),
        ("add.s31 $0, $1, $1;", "=r,r", "`add.s31` is not a form of `add` that runs on the CPU"),
        ("add.cc.s32 $0, $1, $1;", "=r,r", "`add.cc.s32` is not a form .* no carry register"),
        ("add.s32 $0, $1;", "=r,r", "`add.s32` takes 3 operands, not 2"),
        ("add.s32 $0, $1, $1", "=r,r", "`;` was expected after `add.s32`, not the end of the text"),
        ("add.s32 $0, $1, $2;", "=r,r", r"\$2 has no constraint: there are 2"),
        ("add.s32 $0, $1, t;", "=r,r", "`t` is not declared"),
        ("mov.u32 $0, %tid.x;", "=r,r", "there are no threads or warps"),
        ("add.s64 $0, $1, $1;", "=r,r", "64 bits was expected, this one has 32"),
        ("{ .reg .b32 t; mov.b32 t, $1; mov.b32 $0, t;", "=r,r", "`{` is not closed"),
        ("{ .reg .pred p; mov.b32 $0, p; }", "=r,r", "is a predicate"),
        ("cvt.s32.f32 $0, $1;", "=r,r", "needs a rounding to an integer"),
        ("cvt.f32.s32 $0, $1;", "=r,r", "needs a rounding: .rn"),
        ("mul.f32 $0, $1, 2;", "=r,r", "a float constant was expected"),
        ("loop: add.s32 $0, $1, $1;", "=r,r", "labels are not supported .*use predicates here, or a loop of the kernel"),
        ("bra loop;", "=r,r", "`bra` is not an instruction that runs on the CPU: elements may take different ways"),
        (".shared .b32 x;", "=r,r", "the directive `.shared` is not supported"),
        ("mov.b32 $0, $1;", "=r", "the constraints name 1 registers, but an operand of type i32"),
        ("mov.b32 $0, $1;", "=r,r,r", "the constraints name 3 registers, results and operands fill 2"),
        ("mov.b32 $0, $1;", "=x,r", 'constraint "=x" is not supported'),
        ("mov.b32 $0, $1;", "=h,r", "holds 16 bits, the result needs 32"),
        ("mov.b32 $0, $1;", "r,r", "stands where that of a result"),
        ("mov.b32 $0, 0xZZ;", "=r,r", "`0xZZ` is not a number"),
    ],
)  # fmt: skip
def test_errors(text: str, registers: str, message: str) -> None:
    x = torch.zeros(16, dtype=torch.int32)
    with pytest.raises(triton.CompilationError, match=message) as caught:
        kernels.one[(1,)](x, x.clone(), text, registers, 1, 16)
    assert "inline_asm_kernels.py:" in str(caught.value)
