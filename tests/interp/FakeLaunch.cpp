// tests/interp/FakeLaunch.cpp -- the executor behind FakeLaunch.
#include "FakeLaunch.h"
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TILETWIN_TSAN 1
#endif
#endif

namespace tiletwin::interp {

static void* enter(void* context, Seat& seat) {
  auto& launch = *static_cast<FakeLaunch*>(context);
  if (launch.framesLeft.fetch_sub(1) <= 0) return nullptr;
  return new FakeFrame{&seat, {}, {}};
}
static void leave(void*, void* frame) { delete static_cast<FakeFrame*>(frame); }
static bool runOne(void* context, void* frame, const ProgramId& id, Trap& trap) {
  return static_cast<FakeLaunch*>(context)->program(id, *static_cast<FakeFrame*>(frame), trap);
}
static std::string& printed(void* frame) { return static_cast<FakeFrame*>(frame)->printed; }

static Advance advanceOne(void* context, void* frameOfProgram, Seat&, const ProgramId* id, bool timeIsOver, Trap& trap,
                          WaitState& wait) {
  auto& frame = *static_cast<FakeFrame*>(frameOfProgram);
  if (id) frame.id = *id;
  return static_cast<FakeLaunch*>(context)->advance(frame.id, id != nullptr, timeIsOver, trap, wait);
}
static void describeWait(void*, void* frame, WaitingProgram& waiting) {
  waiting.operation = "program " + std::to_string(static_cast<FakeFrame*>(frame)->id[0]);
}

Trap FakeLaunch::run(const ProgramOrder& order) {
  Executor executor{this, enter, leave, runOne, printed, advanceOne, describeWait};
  Scheduler scheduler(executor, order, hooks, options);
  return scheduler.run();
}

int threadsThatTakePart() {
  FakeLaunch launch(4);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  launch.program = [&](const ProgramId&, FakeFrame&, Trap&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
    return true;
  };
  return launch.run(ProgramOrder({100, 1, 1})) ? 0 : int(ids.size());
}

bool threadSanitizer() {
#ifdef TILETWIN_TSAN
  return true;
#else
  return false;
#endif
}

void spin(int microseconds) {
  auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < end) {}
}

} // namespace tiletwin::interp
