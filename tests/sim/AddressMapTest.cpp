// tests/sim/AddressMapTest.cpp -- ranges of memory, found as by looking at each of them.
#define BOOST_TEST_MODULE sim_addressmap
#include "sim/machine/AddressMap.h"
#include <boost/test/unit_test.hpp>
#include <random>

using tiletwin::sim::AddressMap;
using tiletwin::sim::MemoryRange;

/// Buffers in order with others behind them, as a launch has them; all out of order; none.
BOOST_AUTO_TEST_CASE(found_as_by_looking_at_each) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const size_t sorted = random() % 20, others = random() % 5;
    std::vector<MemoryRange> ranges;
    for (size_t i = 0; i < sorted + others; ++i) {
      const uint64_t begin = i < sorted ? 20 * i : random() % 400;
      ranges.push_back({begin, begin + 1 + random() % 40, false, "range"});
    }
    AddressMap map;
    for (const MemoryRange& range : ranges) map.add(range);
    map.sort();
    BOOST_TEST(map.size() == ranges.size());
    for (uint64_t low = 0; low < 420; low += 1 + random() % 7) {
      const uint64_t high = low + 1 + random() % 16;
      const bool isThere =
          std::any_of(ranges.begin(), ranges.end(), [&](const MemoryRange& r) { return r.contains(low, high); });
      const int found = map.find(low, high);
      BOOST_TEST((found >= 0) == isThere);
      if (found >= 0) BOOST_TEST(map[size_t(found)].contains(low, high));
    }
  }
}
