"""Inline PTX on integers, against Python's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from inline_asm_inputs import M16, M32, M64, NUMPY, as_signed, both_modes, inputs


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


def field(number: int, bits: int) -> int:
    """A position or length: instructions on 32 bits read its low byte; GPUs make others of those on 64, which read all of it."""
    return number & 255 if bits == 32 else number & M32


def extract(a: int, position: int, length: int, bits: int, signed: bool) -> int:
    """As the ISA's pseudo-code has it."""
    position, length, msb = field(position, bits), field(length, bits), bits - 1
    sign = 0 if not signed or length == 0 else a >> min(position + length - 1, msb) & 1
    return sum((a >> (position + i) & 1 if i < length and position + i <= msb else sign) << i for i in range(bits))


def insert(a: int, b: int, position: int, length: int, bits: int) -> int:
    position, length = field(position, bits), field(length, bits)
    for i in range(min(length, bits)):
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


def divided(a: int, b: int) -> int:
    """Towards zero. All bits are set where the divisor is 0."""
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    return -1 if b == 0 else a - divided(a, b) * b


# (text, constraints, argument types, result type, reference on Python integers)
INTEGERS: list[tuple[str, str, str, str, Callable[..., int]]] = [
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
    ("div.u64 $0, $1, $2;", "=l,l,l", "u64 u64", "u64", divided),
    ("rem.s32 $0, $1, $2;", "=r,r,r", "i32 i32", "i32", remainder),
    ("rem.u16 $0, $1, $2;", "=h,h,h", "u16 u16", "u16", remainder),
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
        assert (int(got[i]) - want) % (1 << bits) == 0, f"{row}: {got[i]}, not {want % (1 << bits)}"


def check_rows(text: str, registers: str, rows: list[tuple[int, ...]], kinds: list[str], result: str,
               reference: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    rows = rows + rows[:1] * ((1 << (len(rows) - 1).bit_length()) - len(rows))
    columns = [np.array(column, dtype=NUMPY[kind]) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    got = both_modes(monkeypatch, text, registers, columns, kinds, result, 1)
    bits = got.dtype.itemsize * 8
    for row, mine in zip(rows, got.tolist(), strict=True):
        want = reference(*row)
        assert (mine - want) % (1 << bits) == 0, f"{row}: {mine}, not {want % (1 << bits)}"


@pytest.mark.parametrize(("name", "reference"), [("div", divided), ("rem", remainder)])
@pytest.mark.parametrize(("bits", "letter"), [(16, "h"), (32, "r"), (64, "l")])
@pytest.mark.parametrize("signed", [False, True], ids=["u", "s"])
def test_quotients(
    name: str, reference: Any, bits: int, letter: str, signed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every edge by every edge: 0 and -1 are divisors, and the least number of a signed type is divided by -1."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    edges = [low, low + 1, high, high - 1, high // 2, 0, 1, 2, 3, 7, 100]
    edges += [-1, -2, -3, -7] if signed else [1 << bits - 1, (1 << bits - 1) + 1]
    kind = ("i" if signed else "u") + str(bits)
    text = f"{name}.{'s' if signed else 'u'}{bits} $0, $1, $2;"
    rows = list(itertools.product(edges, edges))
    check_rows(text, f"={letter},{letter},{letter}", rows, [kind, kind], kind, reference, monkeypatch)


PLACES = [0, 1, 7, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 2**31, 2**32 - 1]


@pytest.mark.parametrize(("bits", "letter"), [(32, "r"), (64, "l")])
@pytest.mark.parametrize("signed", [False, True], ids=["u", "s"])
def test_fields_beyond_the_width(bits: int, letter: str, signed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [0x8123_4567_89AB_CDEF >> 64 - bits, 0x7EDC_BA98_7654_3210 >> 64 - bits]
    if signed:
        rows = [(as_signed(a, bits), p, n) for a, p, n in itertools.product(words, PLACES, PLACES)]
    else:
        rows = list(itertools.product(words, PLACES, PLACES))
    kind = ("i" if signed else "u") + str(bits)
    check_rows(
        f"bfe.{'s' if signed else 'u'}{bits} $0, $1, $2, $3;", f"={letter},{letter},r,r", rows, [kind, "u32", "u32"], kind,
        lambda a, p, n: extract(a & (1 << bits) - 1, p, n, bits, signed), monkeypatch,
    )  # fmt: skip
    if signed:
        return
    check_rows(
        f"{{ .reg .b{bits} t; not.b{bits} t, $1; bfi.b{bits} $0, $1, t, $2, $3; }}", f"={letter},{letter},r,r", rows,
        [kind, "u32", "u32"], kind, lambda a, p, n: insert(a, ~a, p, n, bits), monkeypatch,
    )  # fmt: skip
