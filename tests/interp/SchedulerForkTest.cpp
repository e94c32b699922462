// tests/interp/SchedulerForkTest.cpp -- children of forks: they start helpers of their own, and do not wait for the parent's.
#include "FakeLaunch.h"
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tiletwin;
using namespace tiletwin::interp;

BOOST_AUTO_TEST_CASE(the_child_of_a_fork_starts_new_helpers) {
  if (threadSanitizer()) return; // it follows no threads of a child
  BOOST_TEST(threadsThatTakePart() == 4);
  for (int round = 0; round < 2; ++round) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      int threads = threadsThatTakePart();
      if (threads == 4 && fork() == 0) _exit(threadsThatTakePart()); // and the child's child
      int status = 0;
      wait(&status);
      _exit(WIFEXITED(status) ? std::min(threads, WEXITSTATUS(status)) : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    BOOST_TEST(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == 4);
    BOOST_TEST(threadsThatTakePart() == 4); // the parent goes on
  }
}

/// A launch on four threads whose hook forks while helpers run and print; what the child's launch gives.
static void forkInHook(bool inPoll, bool waits, bool openMp = false) {
  FakeLaunch launch(4);
  launch.options.openMp = openMp;
  launch.options.pollMilliseconds = 1;
  launch.options.waits = waits;
  launch.options.resident = 8;
  std::atomic<int> ended{0};
  launch.program = [&](const ProgramId&, FakeFrame& frame, Trap&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    frame.printed = "text";
    return ++ended, true;
  };
  launch.advance = [&](const ProgramId&, bool, bool, Trap&, WaitState&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ++ended, Advance::Done;
  };
  pid_t child = -1;
  const auto forkOnce = [&] {
    if (child >= 0 || ended < 20) return;
    child = fork();
    if (child == 0) alarm(20);
  };
  launch.hooks.poll = [&](int64_t, int64_t) {
    if (inPoll) forkOnce();
    return true;
  };
  launch.hooks.print = [&](const std::string&) {
    if (!inPoll) forkOnce();
  };
  const Trap trap = launch.run(ProgramOrder({400, 1, 1}));
  if (child == 0) {
    const bool refused = trap.kind == TrapKind::Unsupported && trap.message.find("forked") != std::string::npos;
    _exit(refused && threadsThatTakePart() == 4 ? 0 : 1); // the child's own launches have helpers again
  }
  BOOST_TEST(!trap, trap.message);
  BOOST_TEST(ended == 400); // the parent goes on
  BOOST_REQUIRE(child > 0);
  int status = 0;
  waitpid(child, &status, 0);
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 0);
}

BOOST_AUTO_TEST_CASE(the_child_of_a_fork_in_a_hook_does_not_wait_for_helpers) {
  if (threadSanitizer()) return; // it follows no threads of a child
  for (int round = 0; round < 5; ++round) {
    forkInHook(/*inPoll=*/true, /*waits=*/false);
    forkInHook(/*inPoll=*/false, /*waits=*/false);
    forkInHook(/*inPoll=*/true, /*waits=*/true);
  }
}

BOOST_AUTO_TEST_CASE(the_child_of_a_fork_leaves_a_region_whose_threads_it_does_not_have) {
  if (threadSanitizer()) return; // it follows no threads of a child
  setenv("OMP_NUM_THREADS", "4", 1);
  BOOST_REQUIRE(dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL));
  for (int round = 0; round < 5; ++round) {
    forkInHook(/*inPoll=*/true, /*waits=*/false, /*openMp=*/true);
    forkInHook(/*inPoll=*/false, /*waits=*/false, /*openMp=*/true);
  }
}
