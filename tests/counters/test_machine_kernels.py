"""Machine code of kernels by hand: what ptxas makes loops or several instructions of, and copies of tiles."""

from __future__ import annotations

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
.visible .entry k(.param .u64 a, .param .align 8 .b8 q[16], .param .align 64 .b8 map[128])
{{
  .reg .pred %p<8>;
  .reg .b16 %h<8>;
  .reg .b32 %r<32>;
  .reg .b64 %rd<32>;
  .shared .align 128 .b8 sh[4096];
  ld.param.u64 %rd20, [a];
  mov.u32 %r20, %tid.x;
  mul.wide.u32 %rd21, %r20, 8;
  add.s64 %rd21, %rd20, %rd21;
  mov.u32 %r21, sh;
  mad.lo.u32 %r22, %r20, 8, %r21;
  st.shared.v2.u32 [%r22], {{0, 0}};
  bar.sync 0;
{body}
  ret;
}}
"""
KERNELS = {
    "sums in shared memory": """
        red.shared.add.f32 [sh], 0f3FC00000
        mov.b32 %r3, 0x3c003c00; red.shared.add.noftz.f16x2 [sh+4], %r3
        cvt.rn.f64.u32 %rd3, %r20; red.shared.add.f64 [sh+8], %rd3
        cvt.u64.u32 %rd4, %r20; atom.shared.max.s64 %rd5, [sh+16], %rd4
        bar.sync 0; ld.shared.u64 %rd6, [%r22]; st.global.u64 [%rd21], %rd6
    """,
    "votes at barriers": """
        and.b32 %r3, %r20, 3; setp.eq.u32 %p0, %r3, 1
        bar.red.popc.u32 %r4, 0, %p0; bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, %p0
        selp.u32 %r5, 128, 256, %p1; selp.u32 %r6, 512, 1024, %p2; add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6
        st.global.u32 [%rd21], %r4
    """,
    "addresses of any space": """
        cvt.u64.u32 %rd3, %r22; cvta.shared.u64 %rd3, %rd3
        setp.lt.u32 %p0, %r20, 40; selp.b64 %rd4, %rd3, %rd21, %p0
        st.u32 [%rd4], %r20; ld.u32 %r3, [%rd4]; atom.add.u32 %r5, [%rd4], 3
        isspacep.shared %p1, %rd4; selp.u32 %r4, 128, 256, %p1; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5
        st.global.u32 [%rd21+4], %r3
    """,
    "a parameter by index": """
        and.b32 %r6, %r20, 3; mul.wide.u32 %rd3, %r6, 4; mov.b64 %rd4, q; add.s64 %rd4, %rd4, %rd3
        ld.param.u32 %r7, [%rd4]; st.global.u32 [%rd21], %r7
    """,
    "products and matrices of a warp": """
        mad.lo.u32 %r3, %r20, 77777, 5; movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r3
        mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%r6, %r7, %r8, %r9}, {%r3, %r4, %r3, %r4},
          {%r4, %r3}, {%r20, %r3, 0x7FFFFFF0, 7}
        xor.b32 %r6, %r6, %r8; st.global.v2.u32 [%rd21], {%r4, %r6}
    """,
    "several sums of an instruction": """
        red.global.v4.f32.add [%rd20], {0f3F800000, 0f3F800000, 0f3F800000, 0f40000000}
        mov.b32 %r3, 0x3c003c00; red.global.add.noftz.v2.f16x2 [%rd20+32], {%r3, %r3}
    """,
    "tiles that are stored and added": """
        st.shared.v2.u32 [%r22], {%r20, 7}; fence.proxy.async.shared::cta; bar.sync 0
        elect.sync %r3|%p1, -1; setp.lt.u32 %p0, %r20, 32; and.pred %p0, %p0, %p1
        mov.b64 %rd3, map; cvta.param.u64 %rd3, %rd3; @%p0 prefetch.tensormap [%rd3]
        @%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {8, 4}], [sh]
        @%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0
        @%p0 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd3, {0, 2}], [sh]
        @%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0
    """,
}


@pytest.mark.parametrize("body", KERNELS.values(), ids=KERNELS)
def test_results_are_those_of_the_text(body):
    lines = [part.strip() for line in body.strip().splitlines() for part in line.split("; ")]
    text = "\n".join(f"  {part}{'' if part[-1] == ',' else ';'}" for part in lines)
    memory, tiles = np.zeros(1024, np.uint32), np.zeros((16, 32), np.int32)
    kernel = sim.load(TEXT.format(body=text), file="k.ptx")["k"]
    with counters.collect(machine_code=True) as launches:
        kernel(memory, np.arange(5, 9, dtype=np.uint32).tobytes(), sim.tensor_map(tiles, (8, 16)), grid=1, block=128)
    ran = launches[0].machine
    assert ran is not None and (ran.note, bool(ran.instructions)) == ("", True)
    assert memory.any() or tiles.any()
