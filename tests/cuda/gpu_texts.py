"""PTX for tests on a GPU: small entries, each with one thing in it that a launch has to get right.

Every pointer is a .u64; block sizes are .reqntid where a test does not choose them.
"""

from __future__ import annotations

HEADER = ".version 7.8\n.target {target}\n.address_size 64\n"


def text(body: str, target: str = "sm_80") -> str:
    return HEADER.format(target=target) + body


# out[i] = x[i] + y[i] for i < n
ADD = text("""
.visible .entry add(.param .u64 .ptr .global .align 4 x, .param .u64 .ptr .global .align 4 y,
                    .param .u64 .ptr .global .align 4 out, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r0, %r1, %r2;
  ld.param.u32 %r4, [n];
  setp.ge.u32 %p, %r3, %r4;
  @%p ret;
  ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [out];
  mul.wide.u32 %rd3, %r3, 4;
  add.u64 %rd4, %rd0, %rd3; add.u64 %rd5, %rd1, %rd3; add.u64 %rd6, %rd2, %rd3;
  ld.global.f32 %f0, [%rd4]; ld.global.f32 %f1, [%rd5];
  add.rn.f32 %f2, %f0, %f1;
  st.global.f32 [%rd6], %f2;
  ret;
}
""")

# The bytes of every parameter, one after the other: i8, u16, f16 as bits, i32, f32, f64.
WORDS = text("""
.visible .entry words(.param .u64 out, .param .u8 a, .param .u16 b, .param .b16 c, .param .u32 d, .param .f32 e,
                      .param .f64 f)
{
  .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %e; .reg .f64 %f;
  ld.param.u64 %rd0, [out];
  ld.param.u8 %h0, [a]; ld.param.u16 %h1, [b]; ld.param.b16 %h2, [c]; ld.param.u32 %r0, [d];
  ld.param.f32 %e, [e]; ld.param.f64 %f, [f];
  st.global.f64 [%rd0], %f; st.global.f32 [%rd0+8], %e; st.global.u32 [%rd0+12], %r0;
  st.global.b16 [%rd0+16], %h2; st.global.u16 [%rd0+18], %h1; st.global.u8 [%rd0+20], %h0;
  ret;
}
""")

# Stores 7 at the address: what an address that is not allocated, or that is odd, does.
STORE = text("""
.visible .entry store(.param .u64 address) .reqntid 1
{
  .reg .b32 %r; .reg .b64 %rd;
  ld.param.u64 %rd, [address];
  mov.u32 %r, 7;
  st.global.u32 [%rd], %r;
  ret;
}
.visible .entry stop() .reqntid 1 { trap; ret; }
""")

# Thread 0 writes the last word of `bytes` dynamic bytes, and one of 1024 of its own, and adds both up in out[ctaid].
SHARED = text("""
.extern .shared .align 16 .b8 dynamic[];
.visible .entry touch(.param .u64 out, .param .u32 bytes) .reqntid 32
{
  .shared .align 16 .b8 own[1024];
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p, %r0, 0;
  @%p ret;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, own;
  st.shared.u32 [%r2], %r1;
  ld.param.u32 %r3, [bytes];
  mov.u32 %r4, dynamic;
  add.u32 %r5, %r4, %r3;
  st.volatile.shared.u32 [%r5+-4], %r1;
  ld.volatile.shared.u32 %r6, [%r5+-4];
  ld.shared.u32 %r7, [%r2];
  add.u32 %r6, %r6, %r7;
  ld.param.u64 %rd0, [out];
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r6;
  ret;
}
""")

# out[ctaid] = 16 * blocks of the cluster + rank in it
CLUSTER = text(
    """
.visible .entry ranks(.param .u64 out) .reqntid 32
{
  .reg .b32 %r<6>; .reg .b64 %rd<4>;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %cluster_nctarank; mov.u32 %r2, %cluster_ctarank;
  mad.lo.u32 %r3, %r1, 16, %r2;
  ld.param.u64 %rd0, [out];
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r3;
  ret;
}
""",
    "sm_90",
)

# Waits for `clocks` of the GPU's clock, then adds 1 to *out; what is not ordered by a stream shows.
SLOW = text("""
.visible .entry slow(.param .u64 out, .param .u64 clocks) .reqntid 1
{
  .reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<6>;
  ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [clocks];
  mov.u64 %rd2, %clock64;
AGAIN:
  mov.u64 %rd3, %clock64;
  sub.u64 %rd4, %rd3, %rd2;
  setp.lt.u64 %p, %rd4, %rd1;
  @%p bra AGAIN;
  ld.global.u32 %r0, [%rd0];
  add.u32 %r1, %r0, 1;
  st.global.u32 [%rd0], %r1;
  ret;
}
""")

# A module variable that counts launches.
COUNTER = text("""
.visible .global .align 4 .u32 counter = 5;
.visible .entry count() .reqntid 1
{
  .reg .b32 %r<2>;
  ld.global.u32 %r0, [counter];
  add.u32 %r1, %r0, 1;
  st.global.u32 [counter], %r1;
  ret;
}
""")

ALL = {
    "add": ADD,
    "words": WORDS,
    "store": STORE,
    "shared": SHARED,
    "cluster": CLUSTER,
    "slow": SLOW,
    "counter": COUNTER,
}
