"""Machine code as PTX, opcode by opcode: what ptxas makes of single operations gives what their PTX gives, on edge
values."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tiletwin import counters, sim
from tiletwin.cuda import ptxas, sass

pytestmark = pytest.mark.skipif(
    ptxas.find() is None or sass.find(sass.TOOLS[:1]) is None, reason="there is no ptxas, or no nvdisasm"
)

TEXT = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{{
  .reg .pred %p<8>;
  .reg .b16 %h<5000>;
  .reg .b32 %r<5000>;
  .reg .b64 %rd<5000>;
  ld.param.u64 %rd20, [a];
  ld.param.u64 %rd21, [b];
  ld.param.u64 %rd22, [c];
  mov.u32 %r20, %tid.x;
  mul.wide.u32 %rd23, %r20, 8;
  add.s64 %rd24, %rd20, %rd23;
  add.s64 %rd25, %rd21, %rd23;
  mad.lo.s64 %rd26, %rd23, {count}, %rd22;
  ld.global.u64 %rd0, [%rd24];
  ld.global.u64 %rd1, [%rd25];
  cvt.u32.u64 %r0, %rd0;
  cvt.u32.u64 %r1, %rd1;
  mov.b32 {{%h0, %h1}}, %r0;
  mov.b32 {{%h2, %h3}}, %r1;
{body}
  ret;
}}
"""
INTEGERS = {
    "sums": """
        add.s32 %r2, %r0, %r1
        sub.s32 %r2, %r0, %r1
        add.s64 %rd2, %rd0, %rd1
        sub.s64 %rd2, %rd0, %rd1
        add.u16x2 %r2, %r0, %r1
        add.sat.s32 %r2, %r0, %r1
        shl.b64 %rd4, %rd0, 3; sub.s64 %rd2, %rd1, %rd4
        sad.s32 %r2, %r0, %r1, %r0
    """,
    "products": """
        mul.lo.s32 %r2, %r0, %r1
        mul.hi.s32 %r2, %r0, %r1
        mul.hi.u32 %r2, %r0, %r1
        mul.wide.s32 %rd2, %r0, %r1
        mul.wide.u32 %rd2, %r0, %r1
        mad.wide.u32 %rd2, %r0, %r1, %rd1
        mul.lo.s64 %rd2, %rd0, %rd1
        mul.hi.u64 %rd2, %rd0, %rd1
        mul.hi.s64 %rd2, %rd0, %rd1
        mad.lo.s32 %r2, %r0, %r1, %r0
        mul.lo.s32 %r2, %r0, 7
        dp4a.s32.u32 %r2, %r0, %r1, %r0
        dp2a.lo.s32.s32 %r2, %r0, %r1, %r0
        dp2a.hi.u32.s32 %r2, %r0, %r1, %r0
    """,
    "quotients": """
        div.s32 %r2, %r0, %r1
        rem.s32 %r2, %r0, %r1
        div.u32 %r2, %r0, %r1
        rem.u32 %r2, %r0, 7
        div.s64 %rd2, %rd0, %rd1
        rem.u64 %rd2, %rd0, %rd1
    """,
    "shifts": """
        shl.b32 %r2, %r0, %r1
        shr.s32 %r2, %r0, %r1
        shr.u32 %r2, %r0, 7
        shl.b64 %rd2, %rd0, %r1
        shr.s64 %rd2, %rd0, %r1
        shr.u64 %rd2, %rd0, 40
        shf.l.wrap.b32 %r2, %r0, %r1, %r1
        shf.r.clamp.b32 %r2, %r0, %r1, %r0
        shf.r.wrap.b32 %r2, %r0, %r1, 9
        shl.b64 %rd2, %rd0, 3
    """,
    "bits": """
        and.b32 %r2, %r0, %r1
        lop3.b32 %r2, %r0, %r1, 77, 0x6a
        not.b64 %rd2, %rd0
        popc.b32 %r2, %r0
        clz.b32 %r2, %r0
        brev.b32 %r2, %r0
        bfind.u32 %r2, %r0
        bfind.s32 %r2, %r0
        bfe.u32 %r2, %r0, 5, 9
        bfe.s32 %r2, %r0, 5, 9
        prmt.b32 %r2, %r0, %r1, 0x3715
        prmt.b32 %r2, %r0, %r1, 0x9c81
        bfi.b32 %r2, %r0, %r1, 4, 7
        popc.b64 %r2, %rd0
        bmsk.clamp.b32 %r2, %r0, %r1
        bmsk.wrap.b32 %r2, %r0, %r1
        szext.clamp.s32 %r2, %r0, %r1
        szext.wrap.u32 %r2, %r0, %r1
        bfi.b32 %r2, %r0, %r1, %r1, 7
        prmt.b32.f4e %r2, %r0, %r1, %r1
        prmt.b32.rc16 %r2, %r0, %r1, %r1
    """,
    "extremes": """
        min.s32 %r2, %r0, %r1
        max.u32 %r2, %r0, %r1
        min.u64 %rd2, %rd0, %rd1
        max.s64 %rd2, %rd0, %rd1
        abs.s32 %r2, %r0
        neg.s64 %rd2, %rd0
        abs.s64 %rd2, %rd0
        min.s16x2 %r2, %r0, %r1
        max.u16x2 %r2, %r0, %r1
        min.relu.s16x2 %r2, %r0, %r1
        min.s16 %h4, %h0, %h2; mov.b32 %r2, {%h4, %h4}
    """,
    "predicates": """
        setp.lt.s32 %p0, %r0, %r1; setp.gt.and.u32 %p1, %r0, 5, %p0; selp.u32 %r2, 1, 2, %p1
        setp.lt.or.s32 %p0|%p1, %r0, %r1, %p0; selp.u32 %r2, 1, 2, %p0; selp.u32 %r3, 4, 8, %p1; or.b32 %r2, %r2, %r3
        setp.eq.u32 %p0, %r0, %r1; setp.lt.s32 %p1, %r0, 0; xor.pred %p2, %p0, %p1; @%p2 add.u32 %r2, %r0, 3
        setp.lt.s32 %p0, %r0, %r1; vote.sync.ballot.b32 %r2, %p0, -1
        setp.lt.s32 %p0, %r0, %r1; vote.sync.any.pred %p1, %p0, -1; selp.u32 %r2, 3, 4, %p1
        shfl.sync.bfly.b32 %r2|%p1, %r0, 5, 31, -1; @%p1 add.u32 %r2, %r2, 1
        shfl.sync.idx.b32 %r2, %r0, %r1, 31, -1
        shfl.sync.up.b32 %r2|%p1, %r0, 3, 0, -1; @%p1 add.u32 %r2, %r2, 1
        redux.sync.add.s32 %r2, %r0, -1
        redux.sync.max.u32 %r2, %r0, -1
        redux.sync.xor.b32 %r2, %r0, -1
        match.any.sync.b32 %r2, %r0, -1
        match.any.sync.b64 %r2, %rd0, -1
        match.all.sync.b64 %r3|%p0, %rd1, -1; selp.u32 %r2, %r3, 4, %p0
    """,
}
"""An operation a line, of one instruction or of several with ; between them. Results: %rd2, or %r2."""
COMPARISONS = "\n".join(
    f"setp.{how}.{kind} %p0, {sides}; selp.u32 %r2, 1, 2, %p0"
    for kind, sides in (("s32", "%r0, %r1"), ("u32", "%r0, %r1"), ("s64", "%rd0, %rd1"), ("u64", "%rd0, %rd1"))
    for how in ("lt", "ge", "eq", "ne", "le", "gt")
)
FLOATS = {
    "arithmetic": """
        add.rn.f32 %r2, %r0, %r1
        sub.rn.ftz.f32 %r2, %r0, %r1
        mul.rn.f32 %r2, %r0, %r1
        fma.rn.f32 %r2, %r0, %r1, %r0
        fma.rz.f32 %r2, %r0, %r1, %r1
        add.rp.f32 %r2, %r0, %r1
        mul.rn.sat.f32 %r2, %r0, %r1
        mul.rm.ftz.f32 %r2, %r0, %r1
        neg.f32 %r2, %r0; add.rn.f32 %r2, %r2, %r1
        abs.f32 %r2, %r0; mul.rn.f32 %r2, %r2, %r1
        add.rn.f32 %r2, %r0, 0f3F800000
    """,
    "choices": """
        min.f32 %r2, %r0, %r1
        max.f32 %r2, %r0, %r1
        min.NaN.f32 %r2, %r0, %r1
        max.ftz.f32 %r2, %r0, %r1
        setp.lt.f32 %p0, %r0, %r1; selp.u32 %r2, 1, 2, %p0
        setp.geu.f32 %p0, %r0, %r1; selp.u32 %r2, 1, 2, %p0
        setp.neu.f32 %p0, %r0, %r1; selp.u32 %r2, 1, 2, %p0
        setp.nan.f32 %p0, %r0, %r1; selp.u32 %r2, 1, 2, %p0
        set.lt.f32.f32 %r2, %r0, %r1
        set.ltu.u32.f32 %r2, %r0, %r1
        max.xorsign.abs.f32 %r2, %r0, %r1
        setp.eq.xor.f32 %p0, %r0, %r1, !%p0; selp.u32 %r2, 1, 2, %p0
    """,
    "special": """
        ex2.approx.f32 %r2, %r0
        sin.approx.f32 %r2, %r0
        cos.approx.f32 %r2, %r1
        sin.approx.ftz.f32 %r3, %r1; cos.approx.ftz.f32 %r4, %r1; mul.rn.f32 %r2, %r3, %r4
        lg2.approx.f32 %r2, %r0
        rcp.approx.ftz.f32 %r2, %r0
        rsqrt.approx.f32 %r2, %r0
        sqrt.approx.f32 %r2, %r0
        tanh.approx.f32 %r2, %r0
        div.full.f32 %r2, %r0, %r1
        div.approx.f32 %r2, %r0, %r1
        neg.f32 %r3, %r0; sin.approx.f32 %r2, %r3
        ex2.approx.f16x2 %r2, %r0
        tanh.approx.bf16x2 %r2, %r0
        ex2.approx.ftz.bf16x2 %r2, %r0
        rcp.approx.ftz.f64 %rd2, %rd0
        rsqrt.approx.ftz.f64 %rd2, %rd0
    """,
    "fused quotients": """
        div.full.f32 %r3, %r0, %r1; add.f32 %r2, %r3, %r0
        div.full.f32 %r4, %r0, %r1; sub.f32 %r2, %r0, %r4
        div.full.f32 %r5, %r0, %r1; neg.f32 %r6, %r5; add.sat.f32 %r2, %r6, %r0
        div.approx.f32 %r7, %r0, %r1; mul.f32 %r8, %r0, %r0; add.f32 %r2, %r7, %r8
        div.approx.ftz.f32 %r9, %r0, %r1; sub.ftz.f32 %r2, %r9, %r1
        div.full.f32 %r10, %r0, %r1; div.full.f32 %r11, %r1, %r0; add.f32 %r2, %r10, %r11
        div.full.f32 %r2, %r0, 0f437F0000
        mov.b32 %r12, 0f42FE0000; div.approx.f32 %r13, %r0, %r12; add.f32 %r2, %r13, %r1
        div.full.f32 %r2, %r0, 0f7F61B1E6
        div.full.f32 %r2, %r0, 0f000116C2
    """,
    "what ptxas joins": """
        mov.b32 %r12, 1123942400; div.approx.f32 %r2, %r0, %r12
        mov.b32 %r12, 1123942400; mov.b32 %r13, %r12; div.full.f32 %r2, %r0, %r13
        div.full.f32 %r2, 0f3F800000, %r1
        div.full.f32 %r2, 0f40000000, %r1
        neg.f32 %r3, %r1; div.full.f32 %r2, %r0, %r3
        div.full.f32 %r3, %r0, %r1; fma.rn.f32 %r2, %r3, %r1, %r0
        rcp.approx.f32 %r3, %r1; mul.f32 %r4, %r0, %r3; add.f32 %r2, %r4, %r1
        sqrt.approx.f32 %r3, %r0; div.full.f32 %r2, %r1, %r3
        rsqrt.approx.f32 %r3, %r0; mul.f32 %r4, %r3, %r1; add.f32 %r2, %r4, %r0
        mul.f32 %r3, %r0, %r1; add.f32 %r2, %r3, %r3
        mul.f32 %r3, %r0, %r1; mul.f32 %r4, %r1, %r1; sub.f32 %r2, %r3, %r4
        mul.f64 %rd3, %rd0, %rd1; add.f64 %rd2, %rd3, %rd0
        mul.f16x2 %r3, %r0, %r1; add.f16x2 %r2, %r3, %r0
        mul.bf16x2 %r3, %r0, %r1; sub.bf16x2 %r2, %r0, %r3
    """,
    "exact quotients": """
        rcp.rn.f32 %r2, %r0
        sqrt.rn.f32 %r2, %r0
        rcp.rn.f64 %rd2, %rd0
        sqrt.rn.f64 %rd2, %rd0
        div.rn.f64 %rd2, %rd0, %rd1
    """,
    "conversions": """
        cvt.rzi.s32.f32 %r2, %r0
        cvt.rni.u32.f32 %r2, %r0
        cvt.rmi.s32.f32 %r2, %r0
        cvt.rn.f32.s32 %r2, %r0
        cvt.rn.f32.u32 %r2, %r0
        cvt.rp.f32.s32 %r2, %r0
        cvt.rmi.f32.f32 %r2, %r0
        cvt.rzi.f32.f32 %r2, %r0
        cvt.f32.f16 %r2, %h0
        cvt.f32.f16 %r2, %h1
        cvt.rn.f16x2.f32 %r2, %r0, %r1
        cvt.rn.bf16x2.f32 %r2, %r0, %r1
        cvt.rn.f16.f32 %h4, %r0; mov.b32 %r2, {%h4, %h0}
        cvt.rzi.s64.f32 %rd2, %r0
        cvt.rn.f32.s64 %r2, %rd0
        cvt.rn.f64.s32 %rd2, %r0
        cvt.f64.f32 %rd2, %r0
        cvt.rn.f32.f64 %r2, %rd0
        cvt.rn.satfinite.e4m3x2.f32 %h4, %r0, %r1; mov.b32 %r2, {%h4, %h4}
        cvt.rni.f16.f16 %h4, %h1; mov.b32 %r2, {%h4, %h4}
        cvt.rmi.f64.f64 %rd2, %rd0
        cvt.rzi.s32.f16 %r2, %h0
        cvt.rzi.s16.f16 %h4, %h0; mov.b32 %r2, {%h4, %h4}
        cvt.rzi.s64.f16 %rd2, %h1
        cvt.rzi.s32.f64 %r2, %rd0
        cvt.rzi.u8.f32 %r2, %r0
        cvt.rn.bf16.s16 %h4, %h0; mov.b32 %r2, {%h4, %h4}
        cvt.rn.f16.s64 %h4, %rd0; mov.b32 %r2, {%h4, %h4}
        cvt.rn.f16.f64 %h4, %rd0; mov.b32 %r2, {%h4, %h4}
        cvt.f64.f16 %rd2, %h0
        cvt.rn.bf16.f16 %h4, %h1; mov.b32 %r2, {%h4, %h0}
        cvt.rn.relu.bf16.f32 %h4, %r0; mov.b32 %r2, {%h4, %h0}
        cvt.rn.tf32.f32 %r2, %r0
        cvt.rn.satfinite.e5m2x2.f16x2 %h4, %r0; mov.b32 %r2, {%h4, %h1}
        cvt.rn.f16x2.e4m3x2 %r2, %h1
        cvt.rn.relu.f16x2.e5m2x2 %r2, %h1
        cvt.sat.s8.s32 %r2, %r0
        cvt.sat.u16.u32 %h4, %r0; mov.b32 %r2, {%h4, %h0}
        cvt.pack.sat.s16.s32 %r2, %r0, %r1
        cvt.pack.sat.u8.s32.b32 %r2, %r0, %r1, %r0
    """,
    "halves": """
        add.rn.f16x2 %r2, %r0, %r1
        mul.rn.f16x2 %r2, %r0, %r1
        fma.rn.f16x2 %r2, %r0, %r1, %r0
        fma.rn.bf16x2 %r2, %r0, %r1, %r0
        mul.rn.bf16x2 %r2, %r0, %r1
        add.rn.f16 %h4, %h0, %h3; mov.b32 %r2, {%h4, %h4}
        add.rn.bf16x2 %r2, %r0, %r1
        mov.b32 %r3, 0x3FC04120; fma.rn.bf16x2 %r2, %r0, %r1, %r3
        mov.b32 %r3, 0x3E005120; fma.rn.f16x2 %r2, %r0, %r1, %r3
        fma.rn.relu.bf16x2 %r2, %r0, %r1, %r0
        min.f16x2 %r2, %r0, %r1
        max.NaN.bf16x2 %r2, %r0, %r1
        max.ftz.f16x2 %r2, %r0, %r1
        max.xorsign.abs.f16x2 %r2, %r0, %r1
        setp.lt.f16x2 %p0|%p1, %r0, %r1; selp.u32 %r2, 1, 2, %p0; selp.u32 %r3, 4, 8, %p1; or.b32 %r2, %r2, %r3
        setp.neu.bf16 %p0, %h1, %h2; selp.u32 %r2, 1, 2, %p0
        set.gt.f16x2.f16x2 %r2, %r0, %r1
        set.nan.bf16x2.bf16x2 %r2, %r0, %r1
        set.gt.u32.f16 %r2, %h0, %h2
    """,
    "doubles": """
        add.rn.f64 %rd2, %rd0, %rd1
        mul.rn.f64 %rd2, %rd0, %rd1
        fma.rn.f64 %rd2, %rd0, %rd1, %rd1
        setp.lt.f64 %p0, %rd0, %rd1; selp.u32 %r2, 1, 2, %p0
        setp.neu.f64 %p0, %rd0, %rd1; selp.u32 %r2, 1, 2, %p0
        min.f64 %rd2, %rd0, %rd1
        max.f64 %rd2, %rd0, %rd1
        abs.f64 %rd2, %rd0
        neg.f64 %rd3, %rd0; add.rn.f64 %rd2, %rd3, %rd1
        mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd2, %rd3}, {%rd0}, {%rd1}, {%rd0, %rd1}
        mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%rd3,%rd4,%rd5,%rd2},{%rd0,%rd1},{%rd1},{%rd0,%rd1,%rd1,%rd1}
    """,
}
EDGES = np.array(
    [0, 1, 2, 3, 7, 31, 32, 33, 255, 65535, 1 << 31, (1 << 31) - 1, (1 << 32) - 1, 1 << 32, 1 << 40, (1 << 63) - 1,
     1 << 63, (1 << 64) - 1, 0x7FF0000000000000, 0xFFF8000000000001, 0x3FF00000, 0x40490FDB3F800000, 0xBF800000,
     0x7F800000, 0xFF800000, 0x7FC00001, 0x00400000, 0x80000001, 0x7F7FFFFF, 0x4F800000, 0x3C003C00, 0xC2F70000],
    np.uint64,
)  # fmt: skip


def ran(text: str) -> counters.Launch:
    """All pairs of edge values through the operations."""
    operations = [line.strip() for line in text.splitlines() if line.strip()]
    stores = []
    for place, operation in enumerate(operations):
        # Registers that several places write are not joined (sim/isa/Contract.h): each operation has its own.
        operation = re.sub(r"%(r|rd|h)([4-9]|1\d|(?<!h)3)\b", rf"%\g<1>{place + 10}\2", operation)
        value = "%rd2" if "%rd2" in operation else "%r2"
        made = "\n  ".join(f"{part.strip()};" for part in operation.split(";"))
        stores.append(
            f"  mov.b{'64' if value == '%rd2' else '32'} {value}, 9;\n  {made}\n"
            f"  st.global.b{'64' if value == '%rd2' else '32'} [%rd26 + {8 * place}], {value};"
        )
    a, b = (side.ravel().copy() for side in np.meshgrid(EDGES, EDGES))
    results = np.zeros(len(operations) * a.size, np.uint64)
    kernel = sim.load(TEXT.format(body="\n".join(stores), count=len(operations)), file="k.ptx")["k"]
    with counters.collect(machine_code=True) as launches:
        kernel(a, b, results, grid=1, block=a.size)
    assert results.any()
    return launches[0]


@pytest.mark.parametrize(("operation", "missing"), [("div.rn.f32 %r2, %r0, %r1", "FCHK")])
def test_what_has_no_meaning_is_said(operation, missing):
    launch = ran(operation)
    assert launch.machine is not None and not launch.machine.instructions
    assert re.fullmatch(rf"machine code was not run: no meaning yet of .*{missing}.*", launch.machine.note)
    assert counters.metrics_of(launch)["smsp__inst_executed.sum"].accuracy == "estimate"


@pytest.mark.parametrize("operations", [*INTEGERS.values(), COMPARISONS], ids=[*INTEGERS, "comparisons"])
def test_integers(operations):
    launch = ran(operations)
    assert launch.machine is not None and launch.machine.note == ""


@pytest.mark.parametrize("operations", FLOATS.values(), ids=FLOATS)
def test_floats(operations):
    launch = ran(operations)
    assert launch.machine is not None and launch.machine.note == ""
