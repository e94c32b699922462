// tests/interp/OpenMpTest.cpp -- launches on the threads of an OpenMP runtime that is loaded while the process runs.
#include "interp/run/OpenMp.h"
#include "FakeLaunch.h"
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <set>
#include <thread>

using namespace tiletwin::interp;

namespace {

/// Loads GCC's runtime as PyTorch does, for four threads.
void loadRuntime() {
  setenv("OMP_NUM_THREADS", "4", 1);
  BOOST_REQUIRE(dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL));
}

struct Threads {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  void add() {
    std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  }
};

std::set<std::thread::id> threadsOfRegion() {
  Threads threads;
  const auto add = [](void* to) { static_cast<Threads*>(to)->add(); };
  openmp::region(add, add, &threads);
  return threads.ids;
}

} // namespace

BOOST_AUTO_TEST_CASE(helpers_are_the_threads_of_a_runtime_that_is_loaded) {
  if (threadSanitizer()) return; // it does not see how the runtime's threads wait for each other
  loadRuntime();
  BOOST_TEST(openmp::threads() == 4);
  const std::set<std::thread::id> team = threadsOfRegion();
  BOOST_TEST(team.size() == 4u);
  FakeLaunch launch(4);
  launch.options.openMp = true;
  Threads threads;
  launch.program = [&](const ProgramId&, FakeFrame&, tiletwin::Trap&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return threads.add(), true;
  };
  BOOST_TEST(!launch.run(ProgramOrder({100, 1, 1})));
  BOOST_TEST((threads.ids == team));
}

BOOST_AUTO_TEST_CASE(regions_are_for_the_first_thread_outside_of_regions) {
  if (threadSanitizer()) return;
  loadRuntime();
  int elsewhere = 0, inside = 0;
  std::thread([&] { elsewhere = openmp::threads(); }).join();
  BOOST_TEST(elsewhere == 1);
  openmp::region([](void* to) { *static_cast<int*>(to) = openmp::threads(); }, [](void*) {}, &inside);
  BOOST_TEST(inside == 1);
}

BOOST_AUTO_TEST_CASE(after_a_region_that_came_late_launches_use_their_own_threads) {
  if (threadSanitizer()) return;
  loadRuntime();
  Workers workers;
  BOOST_TEST(workers.regionThreads() == 4);
  Workers::Call call;
  call.work = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  workers.share(call, 1, true,
                [](void*) {}); // it does not wait for its helper, as one does that has another process's core
  BOOST_TEST(workers.regionThreads() == 1);
}

BOOST_AUTO_TEST_CASE(a_region_that_came_a_little_late_is_tolerated) {
  if (threadSanitizer()) return;
  loadRuntime();
  bool tolerated = false;
  for (int i = 0; i < 20 && !tolerated; ++i) { // on a busy machine it may come very late
    Workers workers;
    Workers::Call call;
    call.work = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
    workers.share(call, 1, true, [](void*) {});
    tolerated = workers.regionThreads() == 4;
  }
  BOOST_TEST(tolerated);
}
