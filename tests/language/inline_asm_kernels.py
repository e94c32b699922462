"""Kernels around one text of inline assembly; test_inline_asm*.py launch them."""

import triton
import triton.language as tl
from triton.language.extra import cuda


@triton.jit
def one(a_ptr, out_ptr, TEXT: tl.constexpr, REGISTERS: tl.constexpr, PACK: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(a_ptr + i)
    tl.store(out_ptr + i, tl.inline_asm_elementwise(TEXT, REGISTERS, [a], out_ptr.dtype.element_ty, True, PACK))


@triton.jit
def two(a_ptr, b_ptr, out_ptr, TEXT: tl.constexpr, REGISTERS: tl.constexpr, PACK: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(a_ptr + i), tl.load(b_ptr + i)
    tl.store(out_ptr + i, tl.inline_asm_elementwise(TEXT, REGISTERS, [a, b], out_ptr.dtype.element_ty, True, PACK))


@triton.jit
def three(
    a_ptr, b_ptr, c_ptr, out_ptr, TEXT: tl.constexpr, REGISTERS: tl.constexpr, PACK: tl.constexpr, B: tl.constexpr
):
    i = tl.arange(0, B)
    a, b, c = tl.load(a_ptr + i), tl.load(b_ptr + i), tl.load(c_ptr + i)
    tl.store(out_ptr + i, tl.inline_asm_elementwise(TEXT, REGISTERS, [a, b, c], out_ptr.dtype.element_ty, True, PACK))


KERNELS = {1: one, 2: two, 3: three}


@triton.jit
def scaled_bytes(a_ptr, b_ptr, c_ptr, d_ptr, B: tl.constexpr):
    """Four int8 of `a` go through one register; two results of different types."""
    i = tl.arange(0, B)
    c, d = tl.inline_asm_elementwise(
        asm="""
        {
            // bytes of $8 to words
            .reg .b8 t<4>;
            mov.b32 {t0, t1, t2, t3}, $8;
            cvt.u32.u8 $0, t0;
            cvt.u32.u8 $1, t1;
            cvt.u32.u8 $2, t2;
            cvt.u32.u8 $3, t3;
        }
        cvt.rn.f32.s32 $4, $0;
        cvt.rn.f32.s32 $5, $1;
        cvt.rn.f32.s32 $6, $2;
        cvt.rn.f32.s32 $7, $3;
        max.f32 $4, $4, $9;
        max.f32 $5, $5, $10;
        max.f32 $6, $6, $11;
        max.f32 $7, $7, $12;
        """,
        constraints="=r,=r,=r,=r,=r,=r,=r,=r,r,r,r,r,r",
        args=[tl.load(a_ptr + i), tl.load(b_ptr + i)],
        dtype=(tl.int32, tl.float32),
        is_pure=True,
        pack=4,
    )
    tl.store(c_ptr + i, c)
    tl.store(d_ptr + i, d)


@triton.jit
def in_two_dimensions(a_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    """A block times a row, in a text, among other operations."""
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    row = tl.load(a_ptr + tl.arange(0, N))[None, :]
    y = tl.inline_asm_elementwise("mul.f32 $0, $1, $2;", "=f,f,f", [tl.load(a_ptr + i) + 1.0, row], tl.float32, True, 1)
    tl.store(out_ptr + i, y - 1.0)


@triton.jit
def on_scalars(a_ptr, out_ptr):
    x = tl.load(a_ptr)
    y = tl.inline_asm_elementwise("mad.lo.s32 $0, $1, $2, 7;", "=r,r,r", [x, x], tl.int32, True, 1)
    tl.store(out_ptr, y + 1)


@triton.jit
def in_a_loop(a_ptr, out_ptr, n, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(a_ptr + i)
    for _ in range(n):
        x = tl.inline_asm_elementwise("shf.l.wrap.b32 $0, $1, $1, 5;", "=r,r", [x], tl.int32, False, 1)
    tl.store(out_ptr + i, x)


@triton.jit
def registers(out_ptr):
    pid = tl.program_id(0)
    x = tl.inline_asm_elementwise("mov.u32 $0, %ctaid.x;", "=r", [], tl.int32, True, 1)
    n = tl.inline_asm_elementwise("mov.u32 $0, %nctaid.x;", "=r", [], tl.int32, True, 1)
    tl.store(out_ptr + 4 * pid, x.to(tl.int64))
    tl.store(out_ptr + 4 * pid + 1, n.to(tl.int64))
    tl.store(out_ptr + 4 * pid + 2, cuda.smid().to(tl.int64))
    tl.store(out_ptr + 4 * pid + 3, cuda.globaltimer())


@triton.jit
def nibbles(x_ptr, packed_ptr, wide_ptr, B: tl.constexpr):
    """Pairs of f32 to e2m1 in bytes, four bytes a register, and those to f16."""
    i = tl.arange(0, B)
    packed = tl.inline_asm_elementwise(
        """
        {
        .reg .b8 b0, b1, b2, b3;
        cvt.rn.satfinite.e2m1x2.f32 b0, $5, $1;
        cvt.rn.satfinite.e2m1x2.f32 b1, $6, $2;
        cvt.rn.satfinite.e2m1x2.f32 b2, $7, $3;
        cvt.rn.satfinite.e2m1x2.f32 b3, $8, $4;
        mov.b32 $0, {b0, b1, b2, b3};
        }
        """,
        "=r,r,r,r,r,r,r,r,r",
        [tl.load(x_ptr + 2 * i), tl.load(x_ptr + 2 * i + 1)],
        tl.uint8,
        True,
        4,
    )
    tl.store(packed_ptr + i, packed)
    low, high = tl.inline_asm_elementwise(
        """
        {
        .reg .b8 %b;
        .reg .b16 lo, hi;
        .reg .f16x2 both;
        mov.b16 {%b, _}, $2;
        cvt.rn.f16x2.e2m1x2 both, %b;
        mov.b32 {lo, hi}, both;
        mov.b16 $0, lo;
        mov.b16 $1, hi;
        }
        """,
        "=h,=h,h",
        [packed.to(tl.int16)],
        (tl.float16, tl.float16),
        True,
        1,
    )
    tl.store(wide_ptr + 2 * i, low)
    tl.store(wide_ptr + 2 * i + 1, high)
