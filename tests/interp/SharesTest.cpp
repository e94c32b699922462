// tests/interp/SharesTest.cpp -- parts of a launch: whose they are, and that each position is handed out once.
// Not here: traps and interruption (SchedulerTest.cpp).
#include "interp/run/Shares.h"
#include <boost/test/unit_test.hpp>
#include <set>
#include <thread>
#include <vector>

using namespace tiletwin::interp;

namespace {

constexpr auto kNever = [](int64_t) { return false; };

} // namespace

BOOST_AUTO_TEST_CASE(a_thread_begins_in_each_launch_where_it_began_in_the_last) {
  const auto first = [] {
    Shares shares(103, 4);
    int part = shares.home();
    int64_t begin = -1, end;
    BOOST_TEST(shares.claim(part, 1, 1, kNever, begin, end));
    return begin;
  };
  std::set<int64_t> firsts;
  for (int i = 0; i < 4; ++i) // threads that are new one after the other have numbers that follow each other
    std::thread([&] {
      const int64_t before = first();
      BOOST_TEST(first() == before);
      firsts.insert(before);
    }).join();
  BOOST_TEST(firsts.size() == 4u);
}

BOOST_AUTO_TEST_CASE(each_thread_begins_with_a_part_of_its_own) {
  Shares shares(103, 4);
  std::vector<int64_t> firsts;
  for (int i = 0; i < 4; ++i)
    std::thread([&] {
      int part = shares.home();
      int64_t begin, end;
      if (shares.claim(part, 1, 1, kNever, begin, end)) firsts.push_back(begin);
    }).join();
  std::sort(firsts.begin(), firsts.end());
  BOOST_TEST(firsts == (std::vector<int64_t>{0, 26, 52, 78}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(each_position_is_handed_out_once) {
  for (const int64_t count : {1, 3, 64, 1000, 100'000})
    for (const int threads : {1, 2, 7, 16, 100}) {
      Shares shares(count, threads);
      std::vector<std::atomic<int>> taken(static_cast<size_t>(count));
      std::vector<std::thread> all;
      for (int t = 0; t < std::min(threads, 8); ++t)
        all.emplace_back([&] {
          int part = shares.home();
          for (int64_t begin, end; shares.claim(part, 1, 16, kNever, begin, end); shares.finish(part, end - begin))
            for (int64_t position = begin; position < end; ++position) taken[size_t(position)]++;
        });
      for (std::thread& t : all) t.join();
      for (auto& n : taken) BOOST_REQUIRE(n == 1);
      BOOST_TEST(shares.finished() == count);
    }
}

BOOST_AUTO_TEST_CASE(what_is_cancelled_is_left_and_what_is_below_is_not) {
  Shares shares(100, 4);
  int part = shares.home();
  std::vector<int64_t> taken;
  const auto cancelled = [](int64_t position) { return position > 30; };
  for (int64_t begin, end; shares.claim(part, 1, 1, cancelled, begin, end);) taken.push_back(begin);
  std::sort(taken.begin(), taken.end());
  BOOST_TEST(taken.size() == 31u);
  BOOST_TEST(taken.front() == 0);
  BOOST_TEST(taken.back() == 30);
}
