// tests/sim/MbarrierTest.cpp -- mbarrier: the object's arithmetic against a plain model, and the instructions.
#define BOOST_TEST_MODULE sim_mbarrier
#include "sim/isa/MbarrierState.h"
#include "tests/sim/SimRun.h"
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
