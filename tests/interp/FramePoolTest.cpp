// tests/interp/FramePoolTest.cpp -- arenas: alignment, reuse, bounds.
#include "interp/run/FramePool.h"
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <thread>
#include <vector>

using namespace tiletwin::interp;

BOOST_AUTO_TEST_CASE(arenas_are_aligned_and_reused) {
  FramePool pool;
  Frame* first = pool.acquire(10'000);
  BOOST_REQUIRE(first);
  BOOST_TEST(reinterpret_cast<uintptr_t>(first->arena) % 64 == 0u);
  first->printed = "left over";
  std::byte* arena = first->arena;
  pool.release(first);
  BOOST_TEST(pool.idleBytes() >= 10'000u);
  Frame* second = pool.acquire(9'000);
  BOOST_TEST(second->arena == arena);
  BOOST_TEST(second->printed == "");
  pool.release(second);
}

BOOST_AUTO_TEST_CASE(the_smallest_arena_that_fits_is_taken) {
  FramePool pool;
  Frame *large = pool.acquire(1 << 20), *small = pool.acquire(1 << 14);
  std::byte* arena = small->arena;
  pool.release(small);
  pool.release(large);
  Frame* again = pool.acquire(1 << 13);
  BOOST_TEST(again->arena == arena);
  pool.release(again);
}

BOOST_AUTO_TEST_CASE(idle_memory_is_bounded) {
  FramePool pool;
  std::vector<Frame*> frames;
  for (int i = 0; i < 20; ++i) frames.push_back(pool.acquire(size_t(4) << 20));
  for (Frame* frame : frames) pool.release(frame);
  BOOST_TEST(pool.idleBytes() <= FramePool::kArenaBudget);
  Frame* huge = pool.acquire(size_t(40) << 20); // idle ones make room
  BOOST_TEST(pool.idleBytes() <= size_t(8) << 20);
  pool.release(huge); // larger than kLargestKept
  BOOST_TEST(pool.idleBytes() <= size_t(8) << 20);
}

BOOST_AUTO_TEST_CASE(a_thread_gets_the_frame_back_that_it_had) {
  FramePool pool;
  Frame *mine = pool.acquire(5'000), *other = nullptr;
  std::thread([&] {
    other = pool.acquire(5'000);
    pool.release(other);
  }).join();
  pool.release(mine);
  std::thread([&] { pool.release(pool.acquire(5'000)); }).join();
  Frame* again = pool.acquire(4'000);
  BOOST_TEST(again == mine);
  pool.release(again);
}

BOOST_AUTO_TEST_CASE(frames_that_other_threads_have_left_make_room) {
  FramePool pool;
  std::thread([&] { pool.release(pool.acquire(size_t(30) << 20)); }).join();
  BOOST_TEST(pool.idleBytes() == size_t(30) << 20);
  Frame* large = pool.acquire(size_t(31) << 20);
  BOOST_TEST(pool.idleBytes() == 0u);
  pool.release(large);
}

BOOST_AUTO_TEST_CASE(large_arenas_mean_fewer_threads) {
  BOOST_TEST(FramePool::mostThreads(0) == 4096);
  BOOST_TEST(FramePool::mostThreads(size_t(1) << 20) == 48);
  BOOST_TEST(FramePool::mostThreads(size_t(20) << 20) == 2);
  BOOST_TEST(FramePool::mostThreads(size_t(4) << 30) == 1);
}

#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer) // they end the process instead
BOOST_AUTO_TEST_CASE(no_memory_is_reported) {
  FramePool pool;
  BOOST_TEST(!pool.acquire(size_t(1) << 60));
}
#endif
