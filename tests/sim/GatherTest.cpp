// tests/sim/GatherTest.cpp -- lanes that parted and are named together by one instruction; threads that wait for ever.
#define BOOST_TEST_MODULE gather
#include "tests/sim/SimRun.h"
#include <boost/test/unit_test.hpp>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

struct Words32 {
  explicit Words32(const std::string& body, uint32_t block = 32, const std::string& before = {})
      : run(ptxKernel(1, "mov.u32 %r63, %tid.x;\nmul.wide.u32 %rd60, %r63, 4;\nadd.s64 %rd0, %rd0, %rd60;\n" + body,
                      before)),
        words(block) {
    run.buffer(words);
    run.params.instructionLimit = 10'000'000;
    result = run.launch(1, block);
  }
  SimRun run;
  std::vector<uint32_t> words;
  Result result;
};

template <class Expected> void check(const Words32& got, Expected&& expected) {
  BOOST_REQUIRE_MESSAGE(!got.result.trap, got.result.trap.message);
  for (uint32_t i = 0; i < got.words.size(); ++i) BOOST_REQUIRE_EQUAL(got.words[i], uint32_t(expected(i)));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

BOOST_AUTO_TEST_CASE(lanes_come_to_a_shuffle_one_after_the_other) {
  // Each lane goes around the loop another number of times before it comes to the instruction that names all of them.
  check(Words32(R"(
    and.b32 %r1, %r63, 7;
    mov.u32 %r2, 0;
LOOP:
    setp.lt.u32 %p0, %r2, %r1;
    @!%p0 bra READY;
    add.u32 %r2, %r2, 1;
    bra LOOP;
READY:
    shfl.sync.bfly.b32 %r3, %r63, 1, 31, 0xffffffff;
    st.global.u32 [%rd0], %r3;)"),
        [](uint32_t i) { return i ^ 1; });
}

BOOST_AUTO_TEST_CASE(halves_that_name_themselves_only) {
  check(Words32(R"(
    setp.lt.u32 %p0, %r63, 16;
    selp.b32 %r1, 0x0000ffff, 0xffff0000, %p0;
    @%p0 bra LOW;
    shfl.sync.bfly.b32 %r3, %r63, 2, 31, %r1;
    bra MET;
LOW:
    shfl.sync.bfly.b32 %r3, %r63, 4, 31, %r1;
MET:
    shfl.sync.idx.b32 %r4, %r3, 0, 31, 0xffffffff;
    mad.lo.u32 %r4, %r4, 100, %r3;
    st.global.u32 [%rd0], %r4;)"),
        [](uint32_t i) { return 400 + (i ^ (i < 16 ? 4 : 2)); });
}

BOOST_AUTO_TEST_CASE(lanes_whose_guard_is_false_are_not_waited_with) {
  check(Words32(R"(
    setp.lt.u32 %p0, %r63, 16;
    mov.u32 %r3, 77;
    @%p0 shfl.sync.bfly.b32 %r3, %r63, 1, 31, 0xffff;
    st.global.u32 [%rd0], %r3;)"),
        [](uint32_t i) { return i < 16 ? i ^ 1 : 77; });
}

BOOST_AUTO_TEST_CASE(exited_lanes_are_not_waited_for) {
  check(Words32(R"(
    setp.lt.u32 %p0, %r63, 4;
    @%p0 exit;
    vote.sync.ballot.b32 %r3, 1, 0xffffffff;
    st.global.u32 [%rd0], %r3;)"),
        [](uint32_t i) { return i < 4 ? 0u : 0xfffffff0u; });
}

BOOST_AUTO_TEST_CASE(warp_barriers_at_two_places) {
  // The lower half waits inside of its branch for what the upper half writes in front of its own barrier.
  check(Words32(R"(
    setp.lt.u32 %p0, %r63, 16;
    xor.b32 %r1, %r63, 16;
    mul.wide.u32 %rd1, %r1, 4;
    mov.u64 %rd2, cells;
    add.u64 %rd3, %rd2, %rd1;
    mul.wide.u32 %rd4, %r63, 4;
    add.u64 %rd5, %rd2, %rd4;
    @%p0 bra LOW;
    st.shared.u32 [%rd5], %r63;
    bar.warp.sync 0xffffffff;
    mov.u32 %r2, 5;
    bra MET;
LOW:
    bar.warp.sync 0xffffffff;
    ld.shared.u32 %r2, [%rd3];
MET:
    st.global.u32 [%rd0], %r2;)",
                32, ".shared .align 8 .b8 cells[128];\n"),
        [](uint32_t i) { return i < 16 ? i + 16 : 5; });
}

BOOST_AUTO_TEST_CASE(a_barrier_that_some_never_come_to) {
  const Words32 got(R"(
    setp.lt.u32 %p0, %r63, 32;
    @%p0 bra FIRST;
    bar.sync 1, 64;
    bra END;
FIRST:
    bar.sync 2, 64;
END:)",
                    64);
  BOOST_REQUIRE(got.result.trap.kind == TrapKind::Deadlock);
  BOOST_CHECK_MESSAGE(contains(got.result.trap.message, "no thread of this cluster can go on:"),
                      got.result.trap.message);
  BOOST_CHECK_EQUAL(got.result.trap.waiting.size(), 2u);
  BOOST_CHECK_MESSAGE(contains(got.result.trap.message, "warp 0, all lanes of CTA (0, 0, 0): bar.sync"),
                      got.result.trap.message);
  BOOST_CHECK_MESSAGE(contains(got.result.trap.message, "warp 1, all lanes of CTA (0, 0, 0): bar.sync"),
                      got.result.trap.message);
}

BOOST_AUTO_TEST_CASE(barriers_order_warps) {
  check(Words32(R"(
    mov.u32 %r1, cells;
    shl.b32 %r2, %r63, 2;
    add.u32 %r3, %r1, %r2;
    mul.lo.u32 %r4, %r63, 3;
    st.shared.u32 [%r3], %r4;
    bar.sync 0;
    sub.u32 %r5, 127, %r63;
    shl.b32 %r5, %r5, 2;
    add.u32 %r5, %r1, %r5;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%rd0], %r6;)",
                128, ".shared .u32 cells[128];\n"),
        [](uint32_t i) { return (127 - i) * 3; });
}
