// tests/sim/RaceClocksTest.cpp -- the clocks of the check of races against vector clocks of single threads, on random accesses.
// Not here: kernels that race (RaceCheckTest.cpp).
#define BOOST_TEST_MODULE sim_raceclocks
#include "sim/check/WarpOrder.h"
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

using namespace tiletwin;
using namespace tiletwin::sim;

namespace {

constexpr size_t kWarps = 4, kThreads = kWarps * kLanes, kPlaces = 3;
using Known = std::vector<uint32_t>; // of each thread: how many of its accesses

void join(Known& a, const Known& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
}

/// Both sides of the comparison: WarpOrder and its companions, and one vector clock for each thread.
struct Both {
  std::vector<WarpOrder> warps;
  SyncPhases phases;
  SyncPlaces places{2};
  std::vector<Known> known{kThreads, Known(kThreads)}, fence{kThreads, Known(kThreads)},
      found{kThreads, Known(kThreads)};
  std::map<size_t, Known> place;
  struct Access {
    size_t thread;
    uint32_t number, time;
  };
  std::vector<Access> accesses;

  Both() {
    for (uint32_t w = 0; w < kWarps; ++w) warps.emplace_back(w, w / 2, UINT32_MAX);
  }
  void access(size_t thread) { accesses.push_back({thread, ++known[thread][thread], warps[thread / kLanes].time()}); }
  void barrier(LaneMask whichWarps, const void* object) {
    Known all(kThreads);
    for (size_t w = 0; w < kWarps; ++w)
      if (whichWarps >> w & 1) {
        phases.arrive(object, warps[w], kAllLanes, kAllLanes);
        warps[w].tick();
        for (size_t i = 0; i < kLanes; ++i) join(all, known[w * kLanes + i]);
      }
    phases.end(object, false);
    for (size_t w = 0; w < kWarps; ++w)
      if (whichWarps >> w & 1) {
        warps[w].acquire(kAllLanes, phases.ended(object).clock);
        for (size_t i = 0; i < kLanes; ++i) join(known[w * kLanes + i], all);
      }
  }
  void meet(size_t w, LaneMask lanes) {
    warps[w].acquire(lanes, warps[w].known(lanes, kAllLanes));
    warps[w].tick();
    Known all(kThreads);
    eachLane(lanes, [&](int i) { join(all, known[w * kLanes + size_t(i)]); });
    eachLane(lanes, [&](int i) { join(known[w * kLanes + size_t(i)], all); });
  }
  LaneMask laneOf(size_t thread) const { return LaneMask(1) << thread % kLanes; }
  void release(size_t thread, size_t at) {
    WarpOrder& warp = warps[thread / kLanes];
    places.release(at, {warp.known(laneOf(thread), kAllLanes), true}, warp.cta());
    warp.tick();
    join(place.try_emplace(at, kThreads).first->second, known[thread]);
  }
  void acquire(size_t thread, size_t at) {
    WarpOrder& warp = warps[thread / kLanes];
    warp.acquire(laneOf(thread), places.acquire(at, warp.cta(), true));
    join(known[thread], place.try_emplace(at, kThreads).first->second);
  }
  void fenceOf(size_t thread) {
    warps[thread / kLanes].fence(laneOf(thread), true, true, true);
    join(known[thread], found[thread]);
    fence[thread] = known[thread];
  }
  void relaxedWrite(size_t thread, size_t at) {
    WarpOrder& warp = warps[thread / kLanes];
    places.release(at, warp.knownAtFence(int(thread % kLanes)), warp.cta());
    join(place.try_emplace(at, kThreads).first->second, fence[thread]);
  }
  void relaxedRead(size_t thread, size_t at) {
    WarpOrder& warp = warps[thread / kLanes];
    warp.foundByRelaxed(laneOf(thread), nullptr, places.acquire(at, warp.cta(), true));
    join(found[thread], place.try_emplace(at, kThreads).first->second);
  }
  /// (both say so, only the clocks of warps, only those of threads) of every access and every thread.
  std::array<size_t, 3> compare() const {
    std::array<size_t, 3> counts{};
    for (const Access& a : accesses)
      for (size_t t = 0; t < kThreads; ++t) {
        if (t == a.thread) continue;
        const Clock* clock = warps[t / kLanes].clockOf(int(t % kLanes));
        const bool ours = clock && clock->of(uint32_t(a.thread / kLanes)).of(int(a.thread % kLanes)) >= a.time;
        const bool theirs = known[t][a.thread] >= a.number;
        counts[0] += ours && theirs;
        counts[1] += ours && !theirs;
        counts[2] += !ours && theirs;
      }
    return counts;
  }
};

/// `isExact`: warps meet as a whole, and of each warp only one lane synchronises alone.
std::array<size_t, 3> compareRandom(uint32_t seed, bool isExact) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  Both both;
  const int object = 0;
  const auto alone = [&] { return size_t(below(kWarps) * kLanes + (isExact ? 5 : below(kLanes))); };
  for (int step = 0; step < 150; ++step) {
    const size_t at = 64 + 8 * below(kPlaces);
    switch (below(12)) {
    case 0: both.barrier(1 + below((1 << kWarps) - 1), &object); break;
    case 1: both.meet(below(kWarps), isExact ? kAllLanes : LaneMask(random()) | 1); break;
    case 2: both.release(alone(), at); break;
    case 3: both.acquire(alone(), at); break;
    case 4: both.fenceOf(alone()); break;
    case 5: both.relaxedWrite(alone(), at); break;
    case 6: both.relaxedRead(alone(), at); break;
    default: both.access(below(3) ? alone() : below(kThreads)); break;
    }
  }
  return both.compare();
}

} // namespace

BOOST_AUTO_TEST_CASE(clocks_of_warps_are_those_of_threads) {
  std::array<size_t, 3> exact{}, others{};
  for (uint32_t seed = 0; seed < 60; ++seed)
    for (size_t i = 0; i < 3; ++i) exact[i] += compareRandom(seed, true)[i];
  BOOST_TEST(exact[0] > 10000u);
  BOOST_TEST(exact[1] == 0u);
  BOOST_TEST(exact[2] == 0u);
  // Lanes that synchronise one by one: order may be taken to be more than it is, never less.
  for (uint32_t seed = 0; seed < 60; ++seed)
    for (size_t i = 0; i < 3; ++i) others[i] += compareRandom(seed, false)[i];
  BOOST_TEST(others[0] > 10000u);
  BOOST_TEST(others[2] == 0u);
  BOOST_TEST(others[1] < others[0] / 4);
}

BOOST_AUTO_TEST_CASE(a_clock_that_grows_too_large_covers_all) {
  Clock clock, other;
  for (uint32_t warp = 0; warp <= Clock::kMostEntries; ++warp) {
    BOOST_REQUIRE(!clock.coversAll());
    clock.join(warp, {1, 0, 0});
  }
  BOOST_TEST(clock.coversAll());
  BOOST_TEST(clock.of(1u << 30).of(3) == UINT32_MAX);
  other.join(7, {9, 0, 0});
  BOOST_TEST(clock.covers(other));
  BOOST_TEST(!other.covers(clock));
  other.join(clock);
  BOOST_TEST(other.coversAll());
}
