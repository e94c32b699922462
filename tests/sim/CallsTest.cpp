// tests/sim/CallsTest.cpp -- calls: arguments in memory and in registers, recursion, functions by address.
#define BOOST_TEST_MODULE calls
#include "tests/sim/Words32.h"

using namespace tiletwin;
using namespace tiletwin::sim;

const std::string kFunctions = R"(
.func (.param .b32 result) twice(.param .b32 value, .param .align 8 .b8 pair[16])
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.b32 %r1, [value];
  ld.param.b64 %rd1, [pair+8];
  mov.b64 {%r2, _}, %rd1;
  mad.lo.u32 %r3, %r1, 2, %r2;
  st.param.b32 [result], %r3;
  ret;
}
.func (.reg .b32 result) less(.reg .b32 value, .reg .pred take)
{
  mov.u32 result, value;
  @take sub.u32 result, value, 1;
  ret;
}
.func (.param .b32 result) fibonacci(.param .b32 n)
{
  .reg .b32 %r<8>;
  .reg .pred %p<2>;
  .local .align 4 .b8 kept[8];
  ld.param.b32 %r0, [n];
  setp.lt.u32 %p0, %r0, 2;
  mov.u32 %r5, %r0;
  @%p0 bra DONE;
  st.local.u32 [kept+4], %r0;
  {
  .param .b32 a;
  .param .b32 r;
  sub.u32 %r1, %r0, 1;
  st.param.b32 [a], %r1;
  call (r), fibonacci, (a);
  ld.param.b32 %r2, [r];
  }
  {
  .param .b32 a;
  .param .b32 r;
  ld.local.u32 %r3, [kept+4];
  sub.u32 %r3, %r3, 2;
  st.param.b32 [a], %r3;
  call (r), fibonacci, (a);
  ld.param.b32 %r4, [r];
  }
  add.u32 %r5, %r2, %r4;
DONE:
  st.param.b32 [result], %r5;
  ret;
}
)";

BOOST_AUTO_TEST_CASE(calls_with_parameters_in_memory_and_in_registers) {
  check(Words32(R"(
    { .param .b32 a; .param .align 8 .b8 b[16]; .param .b32 r;
    st.param.b32 [a], %r63;
    mov.u64 %rd5, 1000;
    st.param.b64 [b+8], %rd5;
    call.uni (r), twice, (a, b);
    ld.param.b32 %r1, [r]; }
    setp.gt.u32 %p0, %r63, 20;
    call (%r2), less, (%r1, %p0);
    @%p0 call (%r2), less, (%r2, 1);    // only some lanes call
    st.global.u32 [%rd0], %r2;)",
                2, 48, kFunctions),
        [](uint32_t i) { return 1000 + 2 * i - (i > 20 ? 2 : 0); });
}

BOOST_AUTO_TEST_CASE(recursion_of_different_depths) {
  check(Words32(R"(
    rem.u32 %r1, %r63, 11;
    { .param .b32 a; .param .b32 r;
    st.param.b32 [a], %r1;
    call (r), fibonacci, (a);
    ld.param.b32 %r2, [r]; }
    activemask.b32 %r3;
    setp.ne.u32 %p0, %r3, 0xffffffff;
    @%p0 mov.u32 %r2, 77777;
    st.global.u32 [%rd0], %r2;)",
                1, 64, kFunctions),
        [](uint32_t i) {
          uint32_t a = 0, b = 1;
          for (uint32_t n = i % 11; n; --n) b = std::exchange(a, b) + b;
          return a;
        });
}

BOOST_AUTO_TEST_CASE(calls_through_registers) {
  const std::string functions = R"(
.func (.reg .b32 r) plus(.reg .b32 v) { add.u32 r, v, 5; ret; }
.func (.reg .b32 r) times(.reg .b32 v) { mul.lo.u32 r, v, 3; ret; }
.global .u64 table[2] = {plus, times};
)";
  check(Words32(R"(
    and.b32 %r1, %r63, 1;
    mul.wide.u32 %rd1, %r1, 8;
    mov.u64 %rd2, table;
    add.s64 %rd2, %rd2, %rd1;
    ld.global.u64 %rd3, [%rd2];
KIND: .callprototype (.reg .b32 _) _ (.reg .b32 _);
    call (%r2), %rd3, (%r63), KIND;
    mov.u64 %rd4, plus;
    call (%r2), %rd4, (%r2), KIND;
    st.global.u32 [%rd0], %r2;)",
                1, 32, functions),
        [](uint32_t i) { return (i % 2 ? i * 3 : i + 5) + 5; });
  const Words32 wrong("KIND: .callprototype _ ();\nmov.u64 %rd5, 12345;\ncall %rd5, (), KIND;\n");
  checkTrap(wrong.result, TrapKind::InvalidValue, "calls 12345, which is no function's address");
}

BOOST_AUTO_TEST_CASE(endless_recursion_is_a_trap) {
  const Words32 got("call down, ();\n", 1, 32, ".func down() { call down, (); ret; }\n");
  checkTrap(got.result, TrapKind::OutOfMemory, "the call stack needs more than the 524288 bytes");
}
