// tests/sim/MachineTest.cpp -- the machine: operands, branches, exits, and what it says when a kernel misbehaves.
// Not here:  calls (CallsTest.cpp), threads that wait for each other (ProgressTest.cpp).
#define BOOST_TEST_MODULE machine
#include "tests/sim/Words32.h"
#include <numeric>

using namespace tiletwin;
using namespace tiletwin::sim;

BOOST_AUTO_TEST_CASE(vector_add) {
  SimRun run(ptxKernel(3, R"(
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.s32 %r3, %r0, %r1, %r2;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd0, %rd3;
    add.s64 %rd5, %rd1, %rd3;
    add.s64 %rd6, %rd2, %rd3;
    ld.global.u32 %r4, [%rd4];
    ld.global.u32 %r5, [%rd5];
    add.s32 %r6, %r4, %r5;
    st.global.u32 [%rd6], %r6;)"));
  std::vector<uint32_t> a(512), b(512), c(512);
  std::iota(a.begin(), a.end(), 0);
  std::iota(b.begin(), b.end(), 1000);
  run.buffer(a).buffer(b).buffer(c);
  const Result result = run.launch(4, 128);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  for (uint32_t i = 0; i < 512; ++i) BOOST_REQUIRE_EQUAL(c[i], 1000 + 2 * i);
  BOOST_CHECK_EQUAL(result.laneInstructions, result.instructions * 32);
}

BOOST_AUTO_TEST_CASE(special_registers) {
  SimRun run(ptxKernel(1, R"(
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    mov.u32 %r2, %tid.z;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %ntid.y;
    mad.lo.u32 %r5, %r2, %r4, %r1;
    mad.lo.u32 %r5, %r5, %r3, %r0;      // linear thread
    mov.u32 %r6, %ctaid.y;
    mov.u32 %r7, %nctaid.x;
    mov.u32 %r8, %ctaid.x;
    mad.lo.u32 %r9, %r6, %r7, %r8;      // linear CTA
    mad.lo.u32 %r10, %r9, 96, %r5;
    mul.wide.u32 %rd1, %r10, 16;
    add.s64 %rd2, %rd0, %rd1;
    mov.u32 %r11, %laneid;
    mov.u32 %r12, %warpid;
    mov.u32 %r13, %lanemask_lt;
    mov.u32 %r14, %ntid.z;
    st.global.v4.u32 [%rd2], {%r11, %r12, %r13, %r14};)"));
  std::vector<uint32_t> words(6 * 96 * 4);
  run.buffer(words);
  const Result result = run.launch({3, 2, 1}, {8, 4, 3});
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  for (uint32_t i = 0; i < 6 * 96; ++i) {
    const uint32_t thread = i % 96, lane = thread % 32;
    BOOST_REQUIRE_EQUAL(words[4 * i], lane);
    BOOST_REQUIRE_EQUAL(words[4 * i + 1], thread / 32);
    BOOST_REQUIRE_EQUAL(words[4 * i + 2], (1u << lane) - 1);
    BOOST_REQUIRE_EQUAL(words[4 * i + 3], 3u);
  }
}

BOOST_AUTO_TEST_CASE(predicates_negated_as_operands_and_guards) {
  check(Words32(R"(
    setp.lt.u32 %p0, %r63, 10;
    and.pred %p1, !%p0, %p0;
    or.pred %p2, %p0, !%p1;
    selp.u32 %r0, 1, 0, %p2;
    @!%p0 mov.u32 %r0, 5;
    @%p0 setp.eq.u32 %p0, %r63, 3;      // writes its own guard
    @%p0 mov.u32 %r0, 7;
    st.global.u32 [%rd0], %r0;)"),
        [](uint32_t i) { return i == 3   ? 7
                                : i < 10 ? 1
                                         : 5; });
}

BOOST_AUTO_TEST_CASE(branches_part_and_meet) {
  const Words32 got(R"(
    mov.u32 %r0, 0;
    and.b32 %r1, %r63, 1;
    setp.eq.u32 %p0, %r1, 0;
    @%p0 bra EVEN;
    add.u32 %r0, %r0, 100;
    bra MET;
EVEN:
    add.u32 %r0, %r0, 200;
MET:
    activemask.b32 %r2;
    popc.b32 %r3, %r2;
    add.u32 %r0, %r0, %r3;
    st.global.u32 [%rd0], %r0;)");
  check(got, [](uint32_t i) { return (i % 2 ? 100 : 200) + 32; });
}

BOOST_AUTO_TEST_CASE(loops_of_different_lengths_meet_behind) {
  check(Words32(R"(
    mov.u32 %r0, 0;
    mov.u32 %r1, 0;
LOOP:
    setp.ge.u32 %p0, %r1, %r63;
    @%p0 bra DONE;
    add.u32 %r1, %r1, 1;
    and.b32 %r2, %r1, 3;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra LOOP;                      // continue
    add.u32 %r0, %r0, %r1;
    setp.gt.u32 %p2, %r0, 150;
    @%p2 bra DONE;                      // break
    bra LOOP;
DONE:
    activemask.b32 %r2;
    popc.b32 %r3, %r2;
    mad.lo.u32 %r0, %r3, 1000, %r0;
    st.global.u32 [%rd0], %r0;)"),
        [](uint32_t i) {
          uint32_t sum = 0;
          for (uint32_t n = 0; n < i;) {
            if (++n % 4 == 0) continue;
            sum += n;
            if (sum > 150) break;
          }
          return 32000 + sum;
        });
}

BOOST_AUTO_TEST_CASE(branch_tables) {
  check(Words32(R"(
    rem.u32 %r1, %r63, 3;
TARGETS: .branchtargets ZERO, ONE, TWO;
    brx.idx %r1, TARGETS;
ZERO:
    mov.u32 %r0, 10;
    bra END;
ONE:
    mov.u32 %r0, 11;
    bra END;
TWO:
    mov.u32 %r0, 12;
END:
    activemask.b32 %r2;
    setp.ne.u32 %p0, %r2, 0xffffffff;
    @%p0 mov.u32 %r0, 0;
    st.global.u32 [%rd0], %r0;)"),
        [](uint32_t i) { return 10 + i % 3; });
  const Words32 outside("TARGETS: .branchtargets ZERO;\nbrx.idx %r63, TARGETS;\nZERO:\n");
  checkTrap(outside.result, TrapKind::InvalidValue, "index 1 of a list of 1 labels");
}

BOOST_AUTO_TEST_CASE(exits_and_returns_of_some_lanes) {
  check(Words32(R"(
    setp.lt.u32 %p0, %r63, 4;
    @%p0 exit;
    setp.lt.u32 %p1, %r63, 8;
    @%p1 bra OUT;
    st.global.u32 [%rd0], 2;
    setp.lt.u32 %p1, %r63, 16;
    @%p1 ret;
    activemask.b32 %r2;
    st.global.u32 [%rd0], %r2;
    bra END;
OUT:
    st.global.u32 [%rd0], 1;
    ret;
END:)",
                1, 30),
        [](uint32_t i) {
          return i < 4 ? 0 : i < 8 ? 1 : i < 16 ? 2 : 0x3fff0000;
        });
}

// ---- Traps and texts that do not load --------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(trap_says_where) {
  const Words32 got("setp.eq.u32 %p0, %r63, 70;\n@%p0 trap;\n", 2, 64);
  checkTrap(got.result, TrapKind::Assert,
            "kernel.ptx:23:6: trap: CTA (1, 0, 0), warp 0, lane 6: the kernel ended itself");
  BOOST_CHECK_EQUAL(got.result.trap.operation, "trap");
  BOOST_CHECK_EQUAL(got.result.trap.program[0], 1);
  BOOST_CHECK_EQUAL(got.result.trap.where.line, 23);
}

BOOST_AUTO_TEST_CASE(loc_names_the_source) {
  const std::string text = ptxKernel(0, ".loc 1 53 14\ntrap;\n") + ".file 1 \"k.py\"\n";
  const Result result = SimRun(text).launch(1, 1);
  BOOST_CHECK_EQUAL(result.trap.where.file, "k.py");
  BOOST_CHECK_EQUAL(result.trap.where.line, 53);
  BOOST_CHECK_EQUAL(result.trap.where.column, 14);
  BOOST_CHECK(contains(result.trap.message, "(k.py:53:14)"));
}

BOOST_AUTO_TEST_CASE(what_does_not_load) {
  const auto error = [](const std::string& body) { return SimRun::loadError(ptxKernel(0, body)); };
  BOOST_CHECK(contains(error("frobnicate.b32 %r1, %r2;"),
                       "kernel.ptx:14:1: instruction frobnicate.b32 is unknown, or not implemented"));
  BOOST_CHECK(contains(
      error("multimem.st.relaxed.sys.global.f32 [%rd1], %f1;"),
      "virtual devices do not have (CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0): build the code without it"));
  BOOST_CHECK(contains(error("mov.b32.nonsense %r1, %r2;"), "modifier .nonsense is not implemented here"));
  BOOST_CHECK(
      contains(error("add.u32 %r1, %rd2, %r3;"), "kernel.ptx:14:14: register %rd2 of type .b64 does not fit .u32"));
  BOOST_CHECK(contains(error("mov.u32 %r1, %p0;"), "register %p0 is .pred, wanted .u32"));
  BOOST_CHECK(contains(error("mov.u32 %r1;"), "wants 2 operands, got 1"));
  BOOST_CHECK(contains(error("mov.f32 %f1, 1;"), "the constant 1 does not fit .f32"));
  BOOST_CHECK(contains(error("st.global.u32 [%h1], %r1;"), "an address is a register of 32 or 64 bits"));
  BOOST_CHECK(contains(error("ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];"), "2 elements are wanted here, got 3"));
  BOOST_CHECK(SimRun::loadError(ptxKernel(0, "mov.u32 %r1, 5;")).empty());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_launched) {
  SimRun run(ptxHeader() + ".entry k(.param .u32 n) .reqntid 64 { ret; }\n");
  run.scalar(1u);
  checkTrap(run.launch(1, 32), TrapKind::InvalidValue,
            "the block (32, 1, 1) is not what .reqntid asks for, (64, 1, 1)");
  checkTrap(run.launch(0, 64), TrapKind::InvalidValue, "has no CTA");
  BOOST_CHECK(!run.launch(1, 64).trap);
  run.params.dynamicShared = 300'000;
  checkTrap(run.launch(1, 64), TrapKind::InvalidValue, "shared memory of 300000 bytes, there are 232448");
  run.params.dynamicShared = 0;
  run.params.cluster = {2, 1, 1};
  checkTrap(run.launch(3, 64), TrapKind::InvalidValue, "no multiple of the cluster");
}
