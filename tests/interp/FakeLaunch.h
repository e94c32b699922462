// tests/interp/FakeLaunch.h -- a launch whose programs are C++ functions, run by the real scheduler.
#pragma once
#include "interp/run/Scheduler.h"
#include <functional>
#include <string>

namespace tiletwin::interp {

/// One thread's frame.
struct FakeFrame {
  Seat* seat = nullptr;
  std::string printed;
  ProgramId id{}; ///< of a program that may wait
};

struct FakeLaunch {
  /// Runs program `id`; false: it trapped, `trap` is filled.
  std::function<bool(const ProgramId& id, FakeFrame& frame, Trap& trap)> program;
  /// The same for launches whose programs may wait (options.waits): `begins`, or it goes on after it said Advance::Waits.
  std::function<Advance(const ProgramId& id, bool begins, bool timeIsOver, Trap& trap, WaitState& wait)> advance;
  /// Frames that enter() grants in all; the rest get none.
  std::atomic<int> framesLeft{1 << 20};
  Hooks hooks;
  ScheduleOptions options;

  explicit FakeLaunch(int threads) { options.threads = threads; }
  Trap run(const ProgramOrder& order);
};

/// How many threads take part in 100 programs of 2 ms, launched on four; 0: the launch trapped.
int threadsThatTakePart();
/// True under ThreadSanitizer, which cannot follow forks.
bool threadSanitizer();
/// A busy wait of about n microseconds.
void spin(int microseconds);

} // namespace tiletwin::interp
