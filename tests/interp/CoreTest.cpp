// tests/interp/CoreTest.cpp -- a thread that leaves a core.
#include "interp/run/Core.h"
#include <boost/test/unit_test.hpp>
#include <thread>

using namespace tiletwin::interp;

namespace {

cpu_set_t allowedCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  return cores;
}

/// What `run` does on a thread of its own, whose cores nobody else shares.
template <class Run> void onThread(const Run& run) { std::thread(run).join(); }

} // namespace

BOOST_AUTO_TEST_CASE(a_thread_that_leaves_its_core_may_come_back) {
  onThread([] {
    const cpu_set_t before = allowedCores();
    if (CPU_COUNT(&before) < 2) return;
    // Where it is afterwards is the kernel's choice at any time, so it is looked at right behind the call, and a few times.
    bool left = false;
    for (int i = 0; i < 100 && !left; ++i) {
      const int core = sched_getcpu();
      leaveCore(core);
      left = sched_getcpu() != core;
    }
    BOOST_TEST(left);
    const cpu_set_t after = allowedCores();
    BOOST_TEST(CPU_EQUAL(&before, &after));
  });
}

BOOST_AUTO_TEST_CASE(a_thread_with_one_core_stays) {
  onThread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    BOOST_REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    const int core = sched_getcpu();
    leaveCore(core);
    BOOST_TEST(sched_getcpu() == core);
    leaveCore(-1);
    leaveCore(CPU_SETSIZE);
    const cpu_set_t after = allowedCores();
    BOOST_TEST(CPU_EQUAL(&one, &after));
  });
}
