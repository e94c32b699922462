// tests/sim/MbarrierTest.cpp -- mbarrier: the object's arithmetic against a plain model, and the instructions.
#define BOOST_TEST_MODULE sim_mbarrier
#include "sim/isa/MbarrierState.h"
#include "tests/sim/SimRun.h"
#include "tests/sim/Text.h"
#include <boost/test/unit_test.hpp>
#include <random>

using namespace tiletwin;
using namespace tiletwin::sim;
using Outcome = MbarrierState::Outcome;

namespace {

/// The same object in plain fields.
struct Model {
  int64_t expected, pending, bytes = 0;
  int phase = 0;
  explicit Model(int64_t count) : expected(count), pending(count) {}
  void settle() {
    if (pending || bytes) return;
    ++phase;
    pending = expected;
  }
  void agree(MbarrierState state) const {
    BOOST_REQUIRE(state.isLive());
    BOOST_REQUIRE_EQUAL(int64_t(state.pending()), pending);
    BOOST_REQUIRE_EQUAL(int64_t(state.expected()), expected);
    BOOST_REQUIRE_EQUAL(int64_t(state.bytes()), bytes);
    BOOST_REQUIRE_EQUAL(state.parity(), phase % 2 == 1);
    BOOST_REQUIRE(!state.hasEnded(phase % 2 == 1));
    BOOST_REQUIRE(state.hasEnded(phase % 2 == 0));
  }
};

} // namespace

BOOST_AUTO_TEST_CASE(random_histories_agree_with_a_model) {
  std::mt19937 random(7);
  for (int history = 0; history < 200; ++history) {
    Model model(1 + int64_t(random() % 40));
    MbarrierState state = MbarrierState::init(uint32_t(model.expected));
    for (int step = 0; step < 200; ++step) {
      switch (random() % 5) {
      case 0:
      case 1: {
        const int64_t count = 1 + int64_t(random() % 3);
        if (count > model.pending) {
          BOOST_REQUIRE(state.arrive(count) == Outcome::TooManyArrivals);
          break;
        }
        const int phase = model.phase;
        model.pending -= count;
        model.settle();
        BOOST_REQUIRE((state.arrive(count) == Outcome::PhaseEnds) == (model.phase != phase));
        break;
      }
      case 2: {
        if (model.expected < 2 || model.pending < 1) break;
        --model.expected;
        --model.pending;
        model.settle();
        state.arrive(1, true);
        break;
      }
      case 3: {
        const int64_t count = int64_t(random() % 1000);
        if (model.pending == 0) break;
        model.bytes += count;
        BOOST_REQUIRE(state.expectBytes(count) == Outcome::None);
        break;
      }
      case 4: {
        const int64_t count = int64_t(random() % 1000);
        const int phase = model.phase;
        model.bytes -= count;
        model.settle();
        BOOST_REQUIRE((state.completeBytes(count) == Outcome::PhaseEnds) == (model.phase != phase));
        break;
      }
      }
      model.agree(state);
      BOOST_REQUIRE(MbarrierState(state.bits()).bits() == state.bits());
    }
  }
}

BOOST_AUTO_TEST_CASE(limits_and_mistakes_change_nothing) {
  BOOST_TEST(!MbarrierState(0).isLive());
  BOOST_TEST(!MbarrierState(~uint64_t(0)).isLive());
  MbarrierState none;
  BOOST_CHECK(none.arrive(1) == Outcome::NoObject);
  BOOST_CHECK(none.expectBytes(1) == Outcome::NoObject);
  BOOST_CHECK(none.completeBytes(1) == Outcome::NoObject);
  BOOST_TEST(none.bits() == 0u);

  BOOST_TEST(MbarrierState::isCount(1));
  BOOST_TEST(!MbarrierState::isCount(0));
  BOOST_TEST(MbarrierState::isCount(1048575));
  BOOST_TEST(!MbarrierState::isCount(1048576));
  MbarrierState state = MbarrierState::init(1048575);
  BOOST_TEST(state.pending() == 1048575u);
  const uint64_t before = state.bits();
  BOOST_CHECK(state.arrive(0) == Outcome::BadCount);
  BOOST_CHECK(state.arrive(1048576) == Outcome::BadCount);
  BOOST_CHECK(state.expectBytes(1048576) == Outcome::TooManyBytes);
  BOOST_CHECK(state.completeBytes(1048576) == Outcome::TooManyBytes);
  BOOST_CHECK(state.addPending(1) == Outcome::BadCount);
  BOOST_TEST(state.bits() == before);
  BOOST_CHECK(state.expectBytes(1048575) == Outcome::None);
  BOOST_CHECK(state.expectBytes(1) == Outcome::TooManyBytes);
  BOOST_CHECK(state.arrive(1048575) == Outcome::None);
  BOOST_TEST(state.bytes() == 1048575);
  BOOST_CHECK(state.completeBytes(1048575) == Outcome::PhaseEnds);
  BOOST_TEST(state.pending() == 1048575u);
  BOOST_CHECK(state.completeBytes(1048575) == Outcome::None);
  BOOST_TEST(state.bytes() == -1048575);
  BOOST_CHECK(state.completeBytes(1) == Outcome::TooManyBytes);
}

// ---- Instructions

namespace {

constexpr std::string_view kShared =
    ".shared .align 8 .b64 bar;\n.shared .align 8 .b64 other;\n.shared .align 4 .b8 s[512];\n";

std::vector<uint32_t> runKernel(std::string_view body, size_t words, uint32_t block, uint32_t grid = 1,
                                uint32_t cluster = 1) {
  SimRun run(ptxKernel(1, body, kShared));
  std::vector<uint32_t> out(words, 0xDEAD);
  run.buffer(out);
  run.params.cluster = {cluster, 1, 1};
  const Result result = run.launch(grid, block);
  BOOST_REQUIRE_MESSAGE(!result.trap, result.trap.message);
  return out;
}
std::string trapOf(std::string_view body, uint32_t block) {
  SimRun run(ptxKernel(1, body, kShared));
  std::vector<uint32_t> out(64);
  run.buffer(out);
  return run.launch(1, block).trap.message;
}

} // namespace

BOOST_AUTO_TEST_CASE(counts_are_those_of_an_h200) {
  // The sequence of tools/record_async.cu: counts of pending arrivals, and whether the phase of the last token has ended.
  int at = 0;
  const auto count = [&] {
    const std::string offset = std::to_string(4 * at++);
    return "mbarrier.pending_count.b64 %r1, %rd5;\nst.global.u32 [%rd0+" + offset + "], %r1;\n";
  };
  const auto test = [&] {
    const std::string offset = std::to_string(4 * at++);
    return "mbarrier.test_wait.shared::cta.b64 %p1, [%r10], %rd5;\nselp.u32 %r1, 1, 0, %p1;\nst.global.u32 [%rd0+" +
           offset + "], %r1;\n";
  };
  std::string body = "mov.u32 %r10, bar;\nmbarrier.init.shared::cta.b64 [%r10], 5;\n";
  body += "mbarrier.arrive.shared::cta.b64 %rd5, [%r10];\n" + count() + test();
  body += "mbarrier.arrive_drop.shared::cta.b64 %rd5, [%r10];\n" + count();
  body += "mbarrier.arrive.noComplete.shared::cta.b64 %rd5, [%r10], 2;\n" + count() + test();
  body += "mbarrier.arrive.shared::cta.b64 %rd5, [%r10];\n" + count() + test();
  body += "mbarrier.arrive.expect_tx.shared::cta.b64 %rd5, [%r10], 48;\n" + count();
  body += "mbarrier.arrive.shared::cta.b64 %rd5, [%r10], 3;\n" + count() + test();
  body += "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r10], 48;\n" + test();
  body += "mbarrier.arrive.shared::cta.b64 %rd5, [%r10];\n" + count();
  const auto out = runKernel(body, 12, 1);
  const std::vector<uint32_t> recorded{5, 0, 4, 3, 0, 1, 1, 4, 3, 0, 1, 4};
  BOOST_TEST(out == recorded, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(warps_pass_values_through_two_mbarriers) {
  // Warp 0 fills, warp 1 reads, ten times over, by parity; the last time by token.
  const auto out = runKernel(R"(
  mov.u32 %r10, bar; mov.u32 %r11, other; mov.u32 %r12, s;
  mov.u32 %r60, %tid.x; and.b32 %r1, %r60, 31; shl.b32 %r1, %r1, 2; add.s32 %r13, %r12, %r1;
  mul.wide.u32 %rd10, %r60, 4; add.s64 %rd11, %rd0, %rd10;
  setp.ne.u32 %p1, %r60, 0;
  @%p1 bra Ready;
  mbarrier.init.shared.b64 [%r10], 32; mbarrier.init.shared.b64 [%r11], 32;
  fence.mbarrier_init.release.cluster;
Ready:
  bar.sync 0;
  mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r7, 0;
  setp.ge.u32 %p2, %r60, 32; @%p2 bra Reader;
Fill:
  mad.lo.u32 %r4, %r2, 100, %r60; st.shared.u32 [%r13], %r4;
  mbarrier.arrive.release.cta.shared::cta.b64 _, [%r10];
Empty: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r11], %r3, 1000; @!%p3 bra Empty;
  xor.b32 %r3, %r3, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, 10; @%p4 bra Fill;
  ret;
Reader:
Full: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r10], %r3;
  @%p3 bra Got;
  bra Full;
Got:
  ld.shared.u32 %r5, [%r13]; add.u32 %r7, %r7, %r5;
  mbarrier.arrive.shared::cta.b64 %rd5, [%r11];
  xor.b32 %r3, %r3, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, 10; @%p4 bra Reader;
Last: mbarrier.try_wait.shared::cta.b64 %p3, [%r11], %rd5; selp.u32 %r8, 1, 0, %p3; setp.eq.u32 %p5, %r8, 0; @%p5 bra Last;
  st.global.u32 [%rd11], %r7;)",
                             64, 64);
  for (uint32_t i = 0; i < 32; ++i) BOOST_TEST(out[32 + i] == 4500 + 10 * i);
}

BOOST_AUTO_TEST_CASE(arrivals_from_another_cta) {
  // Every CTA of the cluster arrives at the mbarrier of CTA 0, and brings bytes.
  const auto out = runKernel(R"(
  mov.u32 %r10, bar; mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p1, %r1, 0;
  @!%p1 mbarrier.init.shared::cta.b64 [%r10], 4;
  @!%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r10], 12;
  barrier.cluster.arrive; barrier.cluster.wait;
  mapa.shared::cluster.u32 %r2, %r10, 0;
  @%p1 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r2], 4;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
  @%p1 bra End;
W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r10], 0; @!%p2 bra W;
  st.global.u32 [%rd0], %r1;
End:
  barrier.cluster.arrive; barrier.cluster.wait;)",
                             1, 1, 4, 4);
  BOOST_TEST(out[0] == 0u);
}

BOOST_AUTO_TEST_CASE(mistakes_with_mbarriers_are_traps) {
  const std::string init = "mov.u32 %r10, bar;\nmbarrier.init.shared::cta.b64 [%r10], 2;\n";
  has(trapOf("mov.u32 %r10, bar;\nmbarrier.arrive.shared::cta.b64 _, [%r10];", 1), "no mbarrier there");
  has(trapOf("mov.u32 %r10, bar;\nmbarrier.init.shared::cta.b64 [%r10], 0;", 1), "gives the count 0");
  has(trapOf(init + "mbarrier.arrive.shared::cta.b64 _, [%r10], 3;", 1),
      "arrives 3 times at an mbarrier whose phase waits for 2");
  has(trapOf(init + "mbarrier.arrive.noComplete.shared::cta.b64 %rd5, [%r10], 2;", 1), "which .noComplete says");
  has(trapOf(init + "mbarrier.inval.shared::cta.b64 [%r10];\nmbarrier.test_wait.parity.shared::cta.b64 %p1, [%r10], 0;",
             1),
      "no mbarrier there");
  has(trapOf(init + "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r10], 2;", 1), "a phase of parity 2");
  has(trapOf(init + "mov.b64 %rd5, 0;\nmbarrier.test_wait.shared::cta.b64 %p1, [%r10], %rd5;", 1),
      "no mbarrier.arrive has returned");
  has(trapOf(init + "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r10], 1048576;", 1), "adds 1048576 bytes");
  has(trapOf(init + "mbarrier.arrive.shared::cta.b64 _, [%r10+4];", 1), "no multiple of 8");
  has(trapOf(init + "mbarrier.arrive.shared::cta.b64 _, [%r10];\nL: mbarrier.try_wait.parity.shared::cta.b64 %p1, "
                    "[%r10], 0;\n"
                    "@!%p1 bra L;",
             1),
      "no thread of this cluster can go on");
  has(trapOf("mbarrier.arrive.b64 _, [%rd0];", 1), "outside of shared memory");
}

BOOST_AUTO_TEST_CASE(a_try_that_has_something_else_to_do_is_answered) {
  // The thread tries before it arrives itself: waiting there for ever would be wrong.
  const auto out = runKernel(R"(
  mov.u32 %r10, bar; mbarrier.init.shared::cta.b64 [%r10], 1;
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r10], 0;
  selp.u32 %r1, 1, 0, %p1; st.global.u32 [%rd0], %r1;
  mbarrier.arrive.shared::cta.b64 _, [%r10];
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r10], 0;
  selp.u32 %r1, 1, 0, %p1; st.global.u32 [%rd0+4], %r1;)",
                             2, 1);
  BOOST_TEST(out[0] == 0u);
  BOOST_TEST(out[1] == 1u);
}

BOOST_AUTO_TEST_CASE(mbarrier_forms_that_do_not_exist_do_not_load) {
  const auto errorOf = [](std::string_view text) { return SimRun::loadError(ptxKernel(1, text, kShared)); };
  has(errorOf("mbarrier.arrive.shared.b32 %rd5, [%r10];"), "mbarrier wants .b64");
  has(errorOf("mbarrier.leave.shared.b64 [%r10];"), "mbarrier wants an operation");
  has(errorOf("mbarrier.arrive.shared::cluster.b64 %rd5, [%r10];"), "wants _");
  has(errorOf("mbarrier.try_wait.shared::cluster.b64 %p1, [%r10], %rd5;"), "its own CTA");
  has(errorOf("mbarrier.arrive.acquire.cta.shared.b64 %rd5, [%r10];"), "is .release or .relaxed");
  has(errorOf("mbarrier.arrive.noComplete.shared.b64 %rd5, [%r10];"), "operands");
}
