// tests/sim/ProgressTest.cpp -- threads that wait for each other go on, and launches that do not end are ended.
#define BOOST_TEST_MODULE progress
#include "tests/sim/Words32.h"

using namespace tiletwin;
using namespace tiletwin::sim;

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

/// The memory at p0 after a launch, which has to end.
std::vector<uint32_t> wordsOf(const std::string& body, size_t count, uint32_t grid, uint32_t block) {
  SimRun run(ptxKernel(1, body));
  std::vector<uint32_t> words(count);
  run.buffer(words);
  run.params.instructionLimit = 500'000'000;
  const Result result = run.launch(grid, block);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  return words;
}
} // namespace

BOOST_AUTO_TEST_CASE(spin_locks_between_lanes_warps_and_ctas_end) {
  BOOST_CHECK_EQUAL(wordsOf(kLocked, 2, 8, 64)[1], 512u);
}

BOOST_AUTO_TEST_CASE(a_barrier_of_the_whole_grid_ends) {
  const auto words = wordsOf(R"(
    mov.u32 %r0, %tid.x;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 ret;
    atom.global.add.u32 %r1, [%rd0], 1;
WAIT:
    ld.acquire.gpu.global.u32 %r2, [%rd0];
    setp.lt.u32 %p1, %r2, 600;
    @%p1 bra WAIT;)",
                             1, 600, 32);
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
