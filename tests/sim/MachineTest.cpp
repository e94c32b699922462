// tests/sim/MachineTest.cpp -- the machine: operands, branches, calls, locks, and what it says when a kernel misbehaves.
#define BOOST_TEST_MODULE machine
#include "tests/sim/SimRun.h"
#include <boost/test/unit_test.hpp>
#include <numeric>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

/// Adds 4 bytes times the thread's number in the grid to %rd0: where a thread's result goes.
const std::string kOwnWord = "mov.u32 %r60, %ctaid.x;\nmov.u32 %r61, %ntid.x;\nmov.u32 %r62, %tid.x;\n"
                             "mad.lo.s32 %r63, %r60, %r61, %r62;\nmul.wide.u32 %rd60, %r63, 4;\n"
                             "add.s64 %rd0, %rd0, %rd60;\n";

/// Runs `body` on so many threads; each has its word of the result, zero at first, at %rd0 and its number in %r63.
struct Words32 {
  explicit Words32(const std::string& body, uint32_t grid = 1, uint32_t block = 32, const std::string& before = {})
      : run(ptxKernel(1, kOwnWord + body, before)), words(size_t(grid) * block) {
    run.buffer(words);
    result = run.launch(grid, block);
  }
  SimRun run;
  std::vector<uint32_t> words;
  Result result;
};

template <class Expected> void check(const Words32& got, Expected&& expected) {
  BOOST_REQUIRE_MESSAGE(!got.result.trap, got.result.trap.message);
  for (uint32_t i = 0; i < got.words.size(); ++i) BOOST_REQUIRE_EQUAL(got.words[i], uint32_t(expected(i)));
}

void checkTrap(const Result& result, TrapKind kind, const std::string& text) {
  BOOST_REQUIRE(result.trap.kind == kind);
  BOOST_CHECK_MESSAGE(result.trap.message.find(text) != std::string::npos, result.trap.message);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

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

// ---- Progress ----------------------------------------------------------------------------------------------------------------

namespace {
/// A counter at p0 + 4 that only the holder of the lock at p0 changes. Lanes that have left the loop wait for those in it, which
/// need what they hold: somebody has to go on alone.
const std::string kLocked = R"(
AGAIN:
    atom.global.cas.b32 %r1, [%rd0], 0, 1;
    setp.ne.u32 %p0, %r1, 0;
    @%p0 bra AGAIN;
    ld.volatile.global.u32 %r2, [%rd0+4];
    add.u32 %r2, %r2, 1;
    st.volatile.global.u32 [%rd0+4], %r2;
    atom.global.exch.b32 %r3, [%rd0], 0;)";
} // namespace

BOOST_AUTO_TEST_CASE(spin_locks_between_lanes_warps_and_ctas_end) {
  SimRun run(ptxKernel(1, kLocked));
  std::vector<uint32_t> words(2);
  run.buffer(words);
  run.params.instructionLimit = 100'000'000;
  const Result result = run.launch(8, 64);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  BOOST_CHECK_EQUAL(words[1], 512u);
}

BOOST_AUTO_TEST_CASE(a_barrier_of_the_whole_grid_ends) {
  SimRun run(ptxKernel(1, R"(
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 ret;
    atom.global.add.u32 %r1, [%rd0], 1;
WAIT:
    ld.acquire.gpu.global.u32 %r2, [%rd0];
    setp.lt.u32 %p1, %r2, 600;
    @%p1 bra WAIT;)"));
  std::vector<uint32_t> words(1);
  run.buffer(words);
  run.params.instructionLimit = 500'000'000;
  const Result result = run.launch(600, 32);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  BOOST_CHECK_EQUAL(words[0], 600u);
}

BOOST_AUTO_TEST_CASE(warps_of_a_cta_that_wait_for_each_other) {
  check(Words32(R"(
    mov.u32 %r0, %warpid;
    setp.eq.u32 %p0, %r0, 1;
    @%p0 bra.uni SET;
WAIT:
    ld.volatile.shared.u32 %r1, [flag];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra WAIT;
    bra.uni END;
SET:
    mov.u32 %r1, 9;
    st.volatile.shared.u32 [flag], %r1;
END:
    st.global.u32 [%rd0], %r1;)",
                1, 64, ".shared .u32 flag;\n"),
        [](uint32_t) { return 9; });
}

BOOST_AUTO_TEST_CASE(the_instruction_limit_ends_a_loop) {
  SimRun run(ptxKernel(0, "LOOP: bra LOOP;"));
  run.params.instructionLimit = 10'000;
  const Result result = run.launch(1, 64);
  checkTrap(result, TrapKind::Deadlock, "has run 10000 instructions, the limit");
  BOOST_CHECK(result.instructions <= 12'000);
  BOOST_CHECK_EQUAL(result.trap.waiting.size(), 2u);
  BOOST_CHECK(contains(result.trap.message, "warp 1, all lanes, running of CTA (0, 0, 0): bra"));
}

BOOST_AUTO_TEST_CASE(the_user_stops_a_launch) {
  SimRun run(ptxKernel(0, "LOOP: bra LOOP;"));
  int calls = 0;
  run.params.poll = [&] { return ++calls < 2; };
  const Result result = run.launch(4, 32);
  checkTrap(result, TrapKind::Interrupted, "interrupted");
  BOOST_CHECK_EQUAL(calls, 2);
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
  BOOST_CHECK(
      contains(error("frobnicate.b32 %r1, %r2;"), "kernel.ptx:14:1: instruction frobnicate.b32 is not implemented"));
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
  checkTrap(run.launch(1, 32), TrapKind::InvalidValue, "the block (32, 1, 1) is not what .reqntid asks for, (64, 1, 1)");
  checkTrap(run.launch(0, 64), TrapKind::InvalidValue, "has no CTA");
  BOOST_CHECK(!run.launch(1, 64).trap);
  run.params.dynamicShared = 300'000;
  checkTrap(run.launch(1, 64), TrapKind::InvalidValue, "shared memory of 300000 bytes, there are 232448");
  run.params.dynamicShared = 0;
  run.params.cluster = {2, 1, 1};
  checkTrap(run.launch(3, 64), TrapKind::InvalidValue, "no multiple of the cluster");
}
