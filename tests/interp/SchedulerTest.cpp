// tests/interp/SchedulerTest.cpp -- who runs what: every program once, the lowest trap, interruption, no allocation.
// Not here: children of forks (SchedulerForkTest.cpp).
#define BOOST_TEST_MODULE scheduler
#include "FakeLaunch.h"
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>
#include <xmmintrin.h>

using namespace tiletwin;
using namespace tiletwin::interp;
using Clock = std::chrono::steady_clock;

namespace {

std::atomic<int64_t> allocations{0};
thread_local bool outOfMemory = false; ///< allocations of this thread fail

int64_t millisecondsSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
}

int64_t linear(const ProgramId& id, const ProgramId& grid) {
  return id[0] + int64_t(grid[0]) * (id[1] + int64_t(grid[1]) * id[2]);
}

bool fail(Trap& trap, TrapKind kind = TrapKind::Assert) {
  trap.kind = kind;
  return false;
}

} // namespace

// Counts allocations of the whole test program; sanitizers bring their own operators.
#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (outOfMemory) throw std::bad_alloc();
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

BOOST_AUTO_TEST_CASE(every_program_runs_exactly_once) {
  for (int threads : {1, 2, 8})
    for (ProgramId grid : {ProgramId{1, 1, 1}, ProgramId{7, 1, 1}, ProgramId{5, 3, 2}, ProgramId{1000, 3, 7}}) {
      std::vector<std::atomic<int>> runs(size_t(grid[0]) * grid[1] * grid[2]);
      FakeLaunch launch(threads);
      launch.program = [&](const ProgramId& id, FakeFrame&, Trap&) { return runs[linear(id, grid)]++, true; };
      BOOST_TEST(!launch.run(ProgramOrder(grid)));
      for (auto& n : runs) BOOST_REQUIRE(n == 1);
    }
}

BOOST_AUTO_TEST_CASE(one_thread_runs_in_ascending_order) {
  ProgramId grid{4, 3, 2};
  std::vector<int64_t> order;
  FakeLaunch launch(1);
  launch.program = [&](const ProgramId& id, FakeFrame&, Trap&) { return order.push_back(linear(id, grid)), true; };
  BOOST_TEST(!launch.run(ProgramOrder(grid)));
  BOOST_TEST(order.size() == 24u);
  BOOST_TEST(std::is_sorted(order.begin(), order.end()));
}

BOOST_AUTO_TEST_CASE(helpers_take_part) { BOOST_TEST(threadsThatTakePart() == 4); }

/// Whether helpers take part in so many programs, which took 50 ns in earlier launches and take `milliseconds` now.
static bool getHelpers(int programs, int milliseconds) {
  FakeLaunch launch(4);
  launch.options.programNanoseconds = 50;
  std::atomic<bool> elsewhere{false};
  const auto self = std::this_thread::get_id();
  launch.program = [&](const ProgramId&, FakeFrame&, Trap&) {
    if (std::this_thread::get_id() != self) elsewhere = true;
    if (milliseconds) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return true;
  };
  BOOST_TEST(!launch.run(ProgramOrder({programs, 1, 1})));
  return elsewhere;
}

BOOST_AUTO_TEST_CASE(work_that_is_known_to_be_tiny_stays_on_the_launching_thread) { BOOST_TEST(!getHelpers(8, 0)); }

BOOST_AUTO_TEST_CASE(work_that_turns_out_long_gets_helpers) { BOOST_TEST(getHelpers(100, 2)); }

BOOST_AUTO_TEST_CASE(the_lowest_trap_wins_and_everything_below_it_runs) {
  for (int round = 0; round < 60; ++round) {
    std::vector<std::atomic<int>> runs(1000);
    FakeLaunch launch(8);
    launch.program = [&](const ProgramId& id, FakeFrame&, Trap& trap) {
      if ((id[0] * 2654435761u + unsigned(round)) % 7 == 0) spin(20);
      runs[id[0]]++;
      if (id[0] == 300) std::this_thread::sleep_for(std::chrono::milliseconds(1)); // the others are found first
      return id[0] == 300 || id[0] == 301 || id[0] == 310 || id[0] == 900 ? fail(trap) : true;
    };
    Trap trap = launch.run(ProgramOrder({1000, 1, 1}));
    BOOST_REQUIRE(trap.kind == TrapKind::Assert);
    BOOST_REQUIRE(trap.program[0] == 300);
    for (int i = 0; i <= 300; ++i) BOOST_REQUIRE(runs[i] == 1);
    for (auto& n : runs) BOOST_REQUIRE(n <= 1);
  }
}

BOOST_AUTO_TEST_CASE(a_trap_cancels_loops_of_higher_programs_only) {
  FakeLaunch launch(4);
  std::atomic<bool> lowFinished{false}, highRunning{false};
  launch.program = [&](const ProgramId& id, FakeFrame& frame, Trap& trap) {
    if (id[0] == 0) { // still in a loop when program 1 traps
      for (int i = 0; i < 30; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (!Seat::poll(frame.seat)) return fail(trap, TrapKind::Interrupted);
      }
      lowFinished = true;
      return true;
    }
    if (id[0] == 1) {
      while (!highRunning) std::this_thread::yield();
      return fail(trap);
    }
    highRunning = true;
    while (Seat::poll(frame.seat)) std::this_thread::yield(); // would never end by itself
    return fail(trap, TrapKind::Interrupted);
  };
  Trap trap = launch.run(ProgramOrder({3, 1, 1}));
  BOOST_TEST(bool(trap.kind == TrapKind::Assert));
  BOOST_TEST(trap.program[0] == 1);
  BOOST_TEST(lowFinished);
}

BOOST_AUTO_TEST_CASE(poll_interrupts_a_loop_within_100_ms) {
  for (int threads : {1, 4}) {
    FakeLaunch launch(threads);
    std::atomic<bool> pressed{false};
    Clock::time_point when;
    auto self = std::this_thread::get_id();
    int64_t lastTotal = 0;
    auto start = Clock::now();
    launch.hooks.poll = [&](int64_t done, int64_t total) {
      BOOST_REQUIRE(std::this_thread::get_id() == self);
      BOOST_REQUIRE(done <= total);
      lastTotal = total;
      if (millisecondsSince(start) < 50) return true;
      if (!pressed.exchange(true)) when = Clock::now();
      return false;
    };
    launch.program = [&](const ProgramId&, FakeFrame& frame, Trap& trap) {
      while (Seat::poll(frame.seat)) std::this_thread::yield();
      return fail(trap, TrapKind::Interrupted);
    };
    Trap trap = launch.run(ProgramOrder({64, 1, 1}));
    BOOST_TEST(bool(trap.kind == TrapKind::Interrupted));
    BOOST_TEST(lastTotal == 64);
    BOOST_TEST(millisecondsSince(when) < 100);
  }
}

BOOST_AUTO_TEST_CASE(poll_is_called_between_programs_and_reports_progress) {
  FakeLaunch launch(1);
  int64_t last = -1;
  int calls = 0;
  launch.hooks.poll = [&](int64_t done, int64_t total) {
    BOOST_TEST(done >= last);
    BOOST_TEST(total == 100);
    last = done;
    return ++calls < 1000;
  };
  launch.program = [&](const ProgramId&, FakeFrame&, Trap&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return true;
  };
  BOOST_TEST(!launch.run(ProgramOrder({100, 1, 1})));
  BOOST_TEST(calls >= 4);
  BOOST_TEST(calls <= 20);
  BOOST_TEST(last > 0);
}

BOOST_AUTO_TEST_CASE(poll_is_called_while_the_launching_thread_only_waits) {
  FakeLaunch launch(2);
  auto self = std::this_thread::get_id();
  std::atomic<bool> helperRuns{false};
  int calls = 0;
  launch.hooks.poll = [&](int64_t, int64_t) { return ++calls, true; };
  launch.program = [&](const ProgramId&, FakeFrame&, Trap&) {
    if (std::this_thread::get_id() == self) {
      while (!helperRuns) std::this_thread::yield(); // leave one for the helper
      return true;
    }
    helperRuns = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return true;
  };
  BOOST_TEST(!launch.run(ProgramOrder({2, 1, 1})));
  BOOST_TEST(calls >= 4);
}

BOOST_AUTO_TEST_CASE(exceptions_become_traps) {
  for (int threads : {1, 4}) {
    FakeLaunch launch(threads);
    launch.program = [&](const ProgramId& id, FakeFrame&, Trap&) -> bool {
      if (id[0] == 3) throw std::bad_alloc();
      if (id[0] == 5) throw std::runtime_error("broken");
      return true;
    };
    Trap trap = launch.run(ProgramOrder({100, 1, 1}));
    BOOST_TEST(bool(trap.kind == TrapKind::OutOfMemory));
    BOOST_TEST(trap.program[0] == 3);
    int64_t only[] = {5};
    trap = launch.run(ProgramOrder({100, 1, 1}, only));
    BOOST_TEST(bool(trap.kind == TrapKind::Unsupported));
    BOOST_TEST(trap.message == "broken");
  }
}

BOOST_AUTO_TEST_CASE(a_hook_that_throws_ends_the_launch) {
  FakeLaunch launch(2);
  launch.hooks.poll = [](int64_t, int64_t) -> bool { throw std::runtime_error("no"); };
  launch.program = [&](const ProgramId&, FakeFrame& frame, Trap& trap) {
    while (Seat::poll(frame.seat)) std::this_thread::yield();
    return fail(trap, TrapKind::Interrupted);
  };
  BOOST_TEST(bool(launch.run(ProgramOrder({4, 1, 1})).kind == TrapKind::Interrupted));
}

BOOST_AUTO_TEST_CASE(helpers_without_memory_leave_the_work_to_others) {
  FakeLaunch launch(8);
  launch.framesLeft = 1;
  std::atomic<int> runs{0};
  launch.program = [&](const ProgramId&, FakeFrame&, Trap&) { return spin(50), ++runs, true; };
  // Whoever asks first gets the frame: without one the launching thread reports it.
  Trap trap = launch.run(ProgramOrder({100, 1, 1}));
  BOOST_TEST(!trap);
  BOOST_TEST(runs == 100);
  launch.framesLeft = 0;
  trap = launch.run(ProgramOrder({100, 1, 1}));
  BOOST_TEST(bool(trap.kind == TrapKind::OutOfMemory));
}

BOOST_AUTO_TEST_CASE(empty_grids_run_nothing) {
  FakeLaunch launch(4);
  std::atomic<int> runs{0};
  launch.program = [&](const ProgramId&, FakeFrame&, Trap&) { return ++runs, true; };
  for (ProgramId grid : {ProgramId{0, 1, 1}, ProgramId{5, 0, 1}, ProgramId{5, 5, 0}})
    BOOST_TEST(!launch.run(ProgramOrder(grid)));
  BOOST_TEST(runs == 0);
}

BOOST_AUTO_TEST_CASE(the_floating_point_state_is_set_and_restored) {
  const unsigned flushing = 0x9fc0; // FTZ and DAZ on
  unsigned before = _mm_getcsr();
  FakeLaunch launch(4);
  std::atomic<bool> wrong{false};
  launch.program = [&](const ProgramId&, FakeFrame&, Trap&) {
    if ((_mm_getcsr() & ~0x3fu) != 0x1f80) wrong = true;
    return spin(20), true;
  };
  _mm_setcsr(flushing);
  Trap trap = launch.run(ProgramOrder({200, 1, 1}));
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  BOOST_TEST(!trap);
  BOOST_TEST(!wrong);
  BOOST_TEST((after & ~0x3fu) == flushing);
}

BOOST_AUTO_TEST_CASE(launches_from_several_threads_do_not_disturb_each_other) {
  std::vector<std::thread> launchers;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i)
    launchers.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        FakeLaunch launch(3);
        std::atomic<int> runs{0};
        launch.program = [&](const ProgramId& id, FakeFrame&, Trap& trap) {
          spin(3);
          ++runs;
          return id[0] == 50 + i ? fail(trap) : true;
        };
        Trap trap = launch.run(ProgramOrder({200, 1, 1}));
        if (trap.program[0] != 50 + i || runs < 51 + i) ++wrong;
      }
    });
  for (auto& thread : launchers) thread.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(more_launches_at_a_time_than_the_board_has_entries) {
  std::atomic<int> inside{0}, ran{0};
  std::vector<std::thread> launching;
  for (int i = 0; i < 40; ++i)
    launching.emplace_back([&] {
      FakeLaunch launch(3);
      std::atomic<bool> begun{false};
      launch.program = [&](const ProgramId&, FakeFrame&, Trap&) {
        if (!begun.exchange(true)) { // the first program ends once every launch has begun
          ++inside;
          while (inside < 40) std::this_thread::yield();
        }
        return ++ran, true;
      };
      launch.run(ProgramOrder({64, 1, 1}));
    });
  for (std::thread& thread : launching) thread.join();
  BOOST_TEST(ran == 40 * 64);
}

BOOST_AUTO_TEST_CASE(a_launch_allocates_nothing) {
  if (threadSanitizer()) return;
  for (int threads : {1, 4}) {
    FakeLaunch launch(threads);
    FakeFrame frames[8];
    static std::atomic<int> taken;
    launch.program = [&](const ProgramId&, FakeFrame&, Trap&) { return spin(2), true; };
    Executor executor{&launch, nullptr, [](void*, void*) {},
                      [](void* context, void*, const ProgramId& id, Trap& trap) {
                        FakeFrame none;
                        return static_cast<FakeLaunch*>(context)->program(id, none, trap);
                      },
                      nullptr};
    static FakeFrame* pool;
    pool = frames;
    executor.enter = [](void*, Seat&) -> void* { return &pool[taken++ & 7]; };
    int64_t before = 0;
    for (int round = 0; round < 50; ++round) {
      if (round == 40) before = allocations; // by then the helpers are there
      ProgramOrder order({64, 1, 1});
      Scheduler scheduler(executor, order, launch.hooks, launch.options);
      BOOST_REQUIRE(!scheduler.run());
    }
    BOOST_TEST(allocations - before == 0);
  }
}

#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
BOOST_AUTO_TEST_CASE(texts_are_delivered_without_memory) {
  // No memory from a poll on, until a text arrives or the launching thread runs another program.
  FakeLaunch launch(2);
  launch.options.pollMilliseconds = 0;
  const auto self = std::this_thread::get_id();
  std::atomic<int> printed{0};
  int arrived = 0;
  launch.program = [&](const ProgramId&, FakeFrame& frame, Trap&) {
    if (std::this_thread::get_id() == self) {
      outOfMemory = false;
    } else {
      frame.printed = "text";
      ++printed;
    }
    spin(200);
    return true;
  };
  launch.hooks.poll = [&](int64_t, int64_t) { return outOfMemory = true; };
  launch.hooks.print = [&](const std::string&) {
    outOfMemory = false;
    ++arrived;
  };
  const Trap trap = launch.run(ProgramOrder({400, 1, 1}));
  outOfMemory = false;
  BOOST_TEST(!trap, trap.message);
  BOOST_TEST(printed > 0);
  BOOST_TEST(arrived == printed);
}
#endif

BOOST_AUTO_TEST_CASE(a_single_tiny_launch_costs_less_than_a_microsecond) {
  FakeLaunch launch(8);
  static FakeFrame frame;
  Executor executor{&launch, [](void*, Seat&) -> void* { return &frame; }, [](void*, void*) {},
                    [](void*, void*, const ProgramId&, Trap&) { return true; }, nullptr};
  int64_t best = 1 << 30;
  for (int round = 0; round < 20; ++round) {
    auto start = Clock::now();
    for (int i = 0; i < 1000; ++i) {
      ProgramOrder order({1, 1, 1});
      Scheduler scheduler(executor, order, launch.hooks, launch.options);
      BOOST_REQUIRE(!scheduler.run());
    }
    best = std::min<int64_t>(best, (Clock::now() - start).count() / 1000);
  }
  BOOST_TEST_MESSAGE("one launch of one empty program: " << best << " ns");
#if defined(NDEBUG) && !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
  BOOST_TEST(best < 1000);
#endif
}
