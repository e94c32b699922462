// tests/interp/WaitingTest.cpp -- launches whose programs wait for each other: who goes on when, deadlocks, memory that
// runs out, time limits.
#include "FakeLaunch.h"
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>
#include <vector>

using namespace tiletwin;
using namespace tiletwin::interp;

namespace {

struct WaitingLaunch : FakeLaunch {
  WaitingLaunch(int threads, int64_t resident) : FakeLaunch(threads) {
    options.waits = true;
    options.resident = resident;
    options.deadlockMilliseconds = 50;
    options.restlessMilliseconds = 50;
  }
};

/// Waits until `cell` holds something else than now.
Advance watch(WaitState& wait, const std::atomic<int64_t>& cell, int64_t seen, bool progressed) {
  wait.progressed = progressed;
  wait.sure = true;
  wait.address = &cell;
  wait.bytes = 8;
  wait.bits = uint64_t(seen);
  return Advance::Waits;
}

} // namespace

BOOST_AUTO_TEST_SUITE(waiting)

BOOST_AUTO_TEST_CASE(a_barrier_of_many_programs_takes_few_looks) {
  constexpr int64_t kPrograms = 1000, kRounds = 5;
  for (int threads : {1, 2}) {
    std::atomic<int64_t> count{0}, looks{0}, ended{0};
    std::vector<int64_t> round(kPrograms, 0);
    WaitingLaunch launch(threads, kPrograms);
    launch.advance = [&](const ProgramId& id, bool begins, bool, Trap&, WaitState& wait) {
      ++looks;
      bool arrived = begins;
      if (begins) ++count;
      int64_t& r = round[size_t(id[0])];
      for (;;) {
        int64_t seen = count.load();
        if (seen < (r + 1) * kPrograms) return watch(wait, count, seen, arrived);
        if (++r == kRounds) break;
        arrived = true;
        ++count;
      }
      ++ended;
      return Advance::Done;
    };
    BOOST_TEST(!launch.run(ProgramOrder({int32_t(kPrograms), 1, 1}, {}, {})));
    BOOST_TEST(ended.load() == kPrograms);
    BOOST_TEST(looks.load() < kPrograms * (20 + 4 * kRounds)); // not kPrograms a program and round
  }
}

BOOST_AUTO_TEST_CASE(whoever_waits_for_the_next_looks_when_that_is_done) {
  constexpr int64_t kPrograms = 500;
  for (int threads : {1, 2}) {
    std::vector<std::atomic<int64_t>> flags(kPrograms + 1);
    flags[kPrograms] = 1;
    std::atomic<int64_t> looks{0};
    WaitingLaunch launch(threads, kPrograms);
    launch.advance = [&](const ProgramId& id, bool, bool, Trap&, WaitState& wait) {
      ++looks;
      if (!flags[size_t(id[0]) + 1].load()) return watch(wait, flags[size_t(id[0]) + 1], 0, false);
      flags[size_t(id[0])] = 1;
      return Advance::Done;
    };
    BOOST_TEST(!launch.run(ProgramOrder({int32_t(kPrograms), 1, 1}, {}, {})));
    BOOST_TEST(looks.load() <= 2 * kPrograms + 2);
  }
}

BOOST_AUTO_TEST_CASE(restless_programs_are_asked_again_without_a_change) {
  constexpr int64_t kPrograms = 64;
  for (int threads : {1, 2}) {
    std::atomic<int64_t> arrived{0};
    WaitingLaunch launch(threads, kPrograms);
    launch.advance = [&](const ProgramId&, bool begins, bool, Trap&, WaitState& wait) {
      if (begins) ++arrived;
      wait.progressed = begins; // nothing is said about what it looks at
      return arrived.load() < kPrograms ? Advance::Waits : Advance::Done;
    };
    BOOST_TEST(!launch.run(ProgramOrder({int32_t(kPrograms), 1, 1}, {}, {})));
  }
}

BOOST_AUTO_TEST_CASE(a_deadlock_names_all_that_wait_by_position) {
  for (int threads : {1, 2}) {
    std::atomic<int64_t> never{0};
    WaitingLaunch launch(threads, 100);
    launch.advance = [&](const ProgramId& id, bool begins, bool, Trap&, WaitState& wait) {
      return id[0] % 2 ? Advance::Done : watch(wait, never, 0, begins);
    };
    Trap trap = launch.run(ProgramOrder({9, 1, 1}, {}, {}));
    BOOST_TEST((trap.kind == TrapKind::Deadlock));
    BOOST_REQUIRE(trap.waiting.size() == 5u);
    for (size_t i = 0; i < 5; ++i) {
      BOOST_TEST(trap.waiting[i].program[0] == int32_t(2 * i));
      BOOST_TEST(trap.waiting[i].operation == "program " + std::to_string(2 * i));
    }
    BOOST_TEST(trap.notStarted == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_deadlock_names_programs_that_look_while_it_is_found) {
  for (int threads : {2, 3}) {
    WaitingLaunch launch(threads, 10);
    launch.advance = [&](const ProgramId& id, bool begins, bool, Trap&, WaitState& wait) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3 + id[0])); // so that somebody is always at it
      wait.progressed = begins;                                          // nothing is said about what it looks at
      return Advance::Waits;
    };
    Trap trap = launch.run(ProgramOrder({4, 1, 1}, {}, {}));
    BOOST_TEST((trap.kind == TrapKind::Deadlock));
    BOOST_TEST(trap.waiting.size() == 4u);
  }
}

BOOST_AUTO_TEST_CASE(programs_that_cannot_begin_are_counted) {
  std::atomic<int64_t> count{0};
  WaitingLaunch launch(1, 3);
  launch.advance = [&](const ProgramId&, bool begins, bool, Trap&, WaitState& wait) {
    if (begins) ++count;
    return count < 10 ? watch(wait, count, count, begins) : Advance::Done;
  };
  Trap trap = launch.run(ProgramOrder({10, 1, 1}, {}, {}));
  BOOST_TEST((trap.kind == TrapKind::Deadlock));
  BOOST_TEST(trap.waiting.size() == 3u);
  BOOST_TEST(trap.notStarted == 7);
  BOOST_TEST(trap.resident == 3);
}

BOOST_AUTO_TEST_CASE(fewer_begin_when_memory_runs_out) {
  constexpr int64_t kPrograms = 40;
  std::vector<std::atomic<int64_t>> flags(kPrograms + 1);
  flags[0] = 1;
  WaitingLaunch launch(1, kPrograms);
  launch.framesLeft = 2;
  launch.advance = [&](const ProgramId& id, bool begins, bool, Trap&, WaitState& wait) {
    // Each waits once for nothing but its turn, and for the one before it.
    if (begins || !flags[size_t(id[0])].load()) {
      wait.progressed = begins;
      return Advance::Waits;
    }
    flags[size_t(id[0]) + 1] = 1;
    return Advance::Done;
  };
  BOOST_TEST(!launch.run(ProgramOrder({int32_t(kPrograms), 1, 1}, {}, {})));
  BOOST_TEST(flags[kPrograms].load() == 1);
}

BOOST_AUTO_TEST_CASE(in_order_a_timed_wait_ends_when_nothing_else_can_go_on) {
  std::atomic<int64_t> flag{0};
  std::vector<int32_t> ended;
  WaitingLaunch launch(1, 10);
  launch.options.inOrder = true;
  launch.advance = [&](const ProgramId& id, bool begins, bool timeIsOver, Trap&, WaitState& wait) {
    if (id[0] == 2 || timeIsOver || flag.load()) {
      ended.push_back(timeIsOver ? -id[0] - 1 : id[0]);
      return Advance::Done;
    }
    wait.timed = true;
    return watch(wait, flag, 0, begins);
  };
  BOOST_TEST(!launch.run(ProgramOrder({4, 1, 1}, {}, {})));
  BOOST_TEST((ended == std::vector<int32_t>{2, -1, -2, -4}));
}

BOOST_AUTO_TEST_CASE(a_trap_wins_over_those_that_wait_for_who_trapped) {
  for (int threads : {1, 2}) {
    std::atomic<int64_t> flag{0};
    WaitingLaunch launch(threads, 10);
    launch.advance = [&](const ProgramId& id, bool begins, bool, Trap& trap, WaitState& wait) {
      if (id[0] != 1) return watch(wait, flag, 0, begins);
      trap.kind = TrapKind::Assert;
      return Advance::Trapped;
    };
    Trap trap = launch.run(ProgramOrder({3, 1, 1}, {}, {}));
    BOOST_TEST((trap.kind == TrapKind::Assert));
    BOOST_TEST(trap.program[0] == 1);
  }
}

BOOST_AUTO_TEST_CASE(waiting_programs_are_interrupted) {
  for (int threads : {1, 2}) {
    std::atomic<int64_t> flag{0};
    WaitingLaunch launch(threads, 10);
    launch.options.deadlockMilliseconds = 60'000;
    launch.options.pollMilliseconds = 5;
    int polls = 0;
    launch.hooks.poll = [&](int64_t, int64_t) { return ++polls < 3; };
    launch.advance = [&](const ProgramId&, bool begins, bool, Trap&, WaitState& wait) {
      return watch(wait, flag, 0, begins);
    };
    auto start = std::chrono::steady_clock::now();
    BOOST_TEST((launch.run(ProgramOrder({3, 1, 1}, {}, {})).kind == TrapKind::Interrupted));
    BOOST_TEST((std::chrono::steady_clock::now() - start < std::chrono::seconds(10)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
