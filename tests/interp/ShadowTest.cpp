// tests/interp/ShadowTest.cpp -- what checks remember about memory: cells, races with and without order, fresh memory, views.
#define BOOST_TEST_MODULE shadow
#include "interp/check/AccessRuns.h"
#include "interp/check/FreshMemory.h"
#include "interp/check/RaceOrder.h"
#include "interp/check/RaceSet.h"
#include "runtime/ViewShape.h"
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <set>
#include <thread>

using namespace tiletwin;
using namespace tiletwin::interp;

namespace {

struct alignas(128) Memory {
  uint8_t bytes[4096] = {};
  uintptr_t at(size_t offset) { return reinterpret_cast<uintptr_t>(bytes) + offset; }
};

struct Access {
  size_t lo, hi;
  RaceKind kind;
  uint64_t program;
};

bool conflicts(RaceKind a, RaceKind b) {
  auto writes = [](RaceKind k) { return k == RaceKind::Write || k == RaceKind::AtomicWrite; };
  auto plain = [](RaceKind k) { return k == RaceKind::Read || k == RaceKind::Write; };
  return (writes(a) || writes(b)) && (plain(a) || plain(b));
}

/// Bytes with a race, by comparing every access with every other.
std::set<size_t> racyBytes(const std::vector<Access>& accesses) {
  std::set<size_t> bytes;
  for (const Access& a : accesses)
    for (const Access& b : accesses)
      if (a.program != b.program && conflicts(a.kind, b.kind))
        for (size_t i = std::max(a.lo, b.lo); i < std::min(a.hi, b.hi); ++i) bytes.insert(i);
  return bytes;
}

template <class Set> std::set<size_t> bytesOf(Set& races, Memory& memory, bool* sameValue = nullptr) {
  std::set<size_t> bytes;
  races.races([&](const RacePair& pair) {
    for (uintptr_t i = pair.begin; i < pair.end; ++i) bytes.insert(i - memory.at(0));
    if (sameValue) *sameValue = pair.sameValue;
  });
  return bytes;
}

} // namespace

BOOST_AUTO_TEST_CASE(sets_find_exactly_the_bytes_that_race_whatever_the_order) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Access> accesses;
    for (int i = 0, n = 2 + int(random() % 12); i < n; ++i) {
      const size_t grain = size_t(1) << random() % 8, lo = random() % 8 * grain, hi = lo + (1 + random() % 4) * grain;
      accesses.push_back({lo, hi, RaceKind(random() % 8 < 6 ? random() % 2 : random() % 4), random() % 4});
    }
    const std::set<size_t> expected = racyBytes(accesses);
    std::vector<std::tuple<uint64_t, uint64_t, uintptr_t>> first;
    for (int order = 0; order < 3; ++order) {
      Memory memory;
      RaceSet races;
      auto* region = races.map().add(memory.at(0), memory.at(4096));
      std::shuffle(accesses.begin(), accesses.end(), random);
      for (const Access& a : accesses)
        races.access(*region, memory.at(a.lo), memory.at(a.hi), a.kind, RaceStamp::of(a.program, 1 + uint32_t(a.kind)));
      BOOST_TEST(bytesOf(races, memory) == expected, boost::test_tools::per_element());
      // The same pairs of programs each time.
      std::vector<std::tuple<uint64_t, uint64_t, uintptr_t>> pairs;
      races.races([&](const RacePair& p) {
        for (uintptr_t i = p.begin; i < p.end; ++i) pairs.emplace_back(p.first.bits, p.second.bits, i - memory.at(0));
      });
      std::sort(pairs.begin(), pairs.end());
      if (order == 0) first = pairs;
      BOOST_TEST((pairs == first));
    }
  }
}

BOOST_AUTO_TEST_CASE(sets_are_the_same_from_many_threads) {
  for (int round = 0; round < 20; ++round) {
    Memory memory;
    RaceSet races;
    auto* region = races.map().add(memory.at(0), memory.at(4096));
    auto work = [&](uint64_t from) {
      for (uint64_t program = from; program < 64; program += 2) {
        races.access(*region, memory.at(0), memory.at(512), RaceKind::Read, RaceStamp::of(program, 1));
        races.access(*region, memory.at(1024 + program * 32), memory.at(1056 + program * 32), RaceKind::Write,
                     RaceStamp::of(program, 2));
        races.access(*region, memory.at(1024 + program * 4), memory.at(1032 + program * 4), RaceKind::Read,
                     RaceStamp::of(program, 3));
        races.access(*region, memory.at(3200), memory.at(3204), RaceKind::AtomicWrite, RaceStamp::of(program, 4));
      }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    std::vector<Access> all;
    for (uint64_t p = 0; p < 64; ++p) {
      all.push_back({1024 + p * 32, 1056 + p * 32, RaceKind::Write, p});
      all.push_back({1024 + p * 4, 1032 + p * 4, RaceKind::Read, p});
    }
    BOOST_TEST(bytesOf(races, memory) == racyBytes(all), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(equal_values_are_told_from_different_ones) {
  for (bool different : {false, true}) {
    Memory memory;
    RaceSet races;
    auto* region = races.map().add(memory.at(0), memory.at(4096));
    for (uint64_t program = 0; program < 3; ++program) {
      std::memset(memory.bytes, different ? int(program) : 5, 128);
      races.access(*region, memory.at(0), memory.at(128), RaceKind::Write, RaceStamp::of(program, 0));
    }
    bool same = different;
    BOOST_TEST(bytesOf(races, memory, &same).size() == 128u);
    BOOST_TEST(same == !different);
  }
}

BOOST_AUTO_TEST_CASE(memory_of_a_launch_before_counts_for_nothing) {
  Memory memory;
  for (uint64_t program = 0; program < 4; ++program) {
    RaceSet races;
    auto* region = races.map().add(memory.at(0), memory.at(4096));
    races.access(*region, memory.at(0), memory.at(4000), RaceKind::Write, RaceStamp::of(program, 0));
    BOOST_TEST(bytesOf(races, memory).empty());
  }
}

namespace {
/// Programs that hand data over through a flag.
struct Ordered {
  Memory memory;
  RaceOrder races;
  RaceOrder::Map::Region* region = races.map().add(memory.at(0), memory.at(4096));
  void plain(uint64_t program, size_t lo, size_t hi, bool writes) {
    races.access(*region, memory.at(lo), memory.at(hi), writes ? RaceKind::Write : RaceKind::Read,
                 RaceStamp::of(program, writes ? 2 : 1));
  }
  void atomic(uint64_t program, size_t at, RaceSync sync, bool writes) {
    races.access(*region, memory.at(at), memory.at(at + 4), writes ? RaceKind::AtomicWrite : RaceKind::AtomicRead,
                 RaceStamp::of(program, 3));
    if (sync.acquires) {
      races.acquire(*region, memory.at(at), memory.at(at + 4));
      races.acquired(program);
    }
    if (writes) races.release(*region, memory.at(at), memory.at(at + 4), sync, program);
    if (sync.releases) races.released(program);
  }
  size_t count() { return bytesOf(races, memory).size(); }
};
constexpr RaceSync kAcqRel{true, true, true}, kRelaxed{false, false, true}, kRelease{false, true, true},
    kAcquireLoad{true, false, false}, kRelaxedStore{false, false, false}, kReleaseStore{false, true, false};
} // namespace

BOOST_AUTO_TEST_CASE(release_and_acquire_order_what_lies_around_them) {
  Ordered o;
  o.plain(0, 0, 256, true);
  o.atomic(0, 1024, kReleaseStore, true);
  o.atomic(1, 1024, kAcquireLoad, false);
  o.plain(1, 0, 256, false);
  o.plain(1, 0, 256, true);
  BOOST_TEST(o.count() == 0u);
  o.plain(2, 8, 12, false); // has acquired nothing
  BOOST_TEST(o.count() > 0u);
}

BOOST_AUTO_TEST_CASE(relaxed_operations_order_nothing) {
  for (bool release : {false, true}) {
    Ordered o;
    o.plain(0, 0, 4, true);
    o.atomic(0, 1024, release ? kReleaseStore : kRelaxedStore, true);
    o.atomic(1, 1024, release ? kRelaxed : kAcquireLoad, release);
    o.plain(1, 0, 4, false);
    BOOST_TEST(o.count() == 4u);
  }
}

BOOST_AUTO_TEST_CASE(a_release_is_handed_on_by_updates_and_ended_by_stores) {
  Ordered on;
  on.plain(0, 0, 4, true);
  on.atomic(0, 1024, kRelease, true);
  on.atomic(1, 1024, kRelaxed, true);
  on.atomic(2, 1024, kAcquireLoad, false);
  on.plain(2, 0, 4, false);
  BOOST_TEST(on.count() == 0u);
  Ordered off;
  off.plain(0, 0, 4, true);
  off.atomic(0, 1024, kRelease, true);
  off.atomic(1, 1024, kRelaxedStore, true);
  off.atomic(2, 1024, kAcquireLoad, false);
  off.plain(2, 0, 4, false);
  BOOST_TEST(off.count() == 4u);
}

BOOST_AUTO_TEST_CASE(a_barrier_of_many_programs_orders_all_of_them) {
  constexpr uint64_t kPrograms = 300;
  Ordered o;
  for (uint64_t p = 0; p < kPrograms; ++p) {
    o.plain(p, p * 4, p * 4 + 4, true);
    o.atomic(p, 2048, kAcqRel, true);
  }
  for (uint64_t p = 0; p < kPrograms; ++p) {
    o.atomic(p, 2048, kAcquireLoad, false);
    o.plain(p, 0, kPrograms * 4, false);
  }
  BOOST_TEST(o.count() == 0u);
  o.plain(0, 0, 4, true); // others have read it since, without order
  BOOST_TEST(o.count() == 4u);
}

BOOST_AUTO_TEST_CASE(a_chain_of_locks_orders_what_is_inside) {
  Ordered o;
  for (uint64_t p = 0; p < 2000; ++p) {
    o.atomic(p, 1024, kAcqRel, true); // takes the lock
    o.plain(p, 0, 128, false);
    o.plain(p, 0, 128, true);
    o.atomic(p, 1024, kRelease, true); // gives it back
  }
  BOOST_TEST(o.count() == 0u);
}

BOOST_AUTO_TEST_CASE(blocks_are_merged_to_runs) {
  struct Row {
    std::vector<std::array<int64_t, 3>> dims; ///< first, last, stride
    size_t runs, bytes;
  };
  const Row rows[] = {
      {{{0, 8, 4}}, 1, 32},                // contiguous
      {{{0, 4, 64}, {0, 16, 4}}, 1, 256},  // rows without a hole
      {{{0, 4, 128}, {0, 16, 4}}, 4, 256}, // with holes
      {{{0, 16, 4}, {0, 4, 128}}, 4, 256}, // transposed
      {{{0, 8, 0}}, 1, 4},                 // one element
      {{{0, 8, -4}}, 1, 32},               // backwards
      {{{0, 4, 2}}, 1, 10},                // overlapping
      {{{2, 4, 256}, {1, 3, 16}, {0, 4, 4}}, 2, 64},
  };
  for (const Row& row : rows) {
    BlockRuns runs(1 << 20, 4);
    std::set<uintptr_t> expected, found;
    std::vector<uintptr_t> starts{1 << 20};
    for (auto [first, last, stride] : row.dims) {
      runs.addDim(first, last, stride);
      std::vector<uintptr_t> next;
      for (uintptr_t start : starts)
        for (int64_t i = first; i < last; ++i) next.push_back(start + uintptr_t(i * stride));
      starts = next;
    }
    for (uintptr_t start : starts)
      for (uintptr_t i = 0; i < 4; ++i) expected.insert(start + i);
    runs.merge();
    size_t count = 0;
    runs.each([&](uintptr_t lo, uintptr_t hi) {
      ++count;
      for (uintptr_t i = lo; i < hi; ++i) found.insert(i);
    });
    BOOST_TEST(count == row.runs);
    BOOST_TEST(found.size() == row.bytes);
    BOOST_TEST(found == expected, boost::test_tools::per_element());
    BOOST_TEST(runs.begin() == *found.begin());
    BOOST_TEST(runs.end() == *found.rbegin() + 1);
  }
}

BOOST_AUTO_TEST_CASE(lists_of_addresses_are_joined_where_they_touch) {
  const uint64_t address[] = {100, 104, 108, 200, 204, 300};
  const uint8_t mask[] = {1, 1, 0, 1, 1, 1};
  std::vector<std::pair<uintptr_t, uintptr_t>> found;
  AddressRuns{address, mask, 6, 4}.each([&](uintptr_t lo, uintptr_t hi) { found.emplace_back(lo, hi); });
  const std::vector<std::pair<uintptr_t, uintptr_t>> expected{{100, 108}, {200, 208}, {300, 304}};
  BOOST_TEST((found == expected));
}

BOOST_AUTO_TEST_CASE(fresh_memory_is_unwritten_until_somebody_writes) {
  Memory memory;
  FreshMemory fresh;
  fresh.add(memory.at(5), memory.at(2000), "torch.empty", {"a.py", 3, 1, ""});
  auto regions = fresh.overlapping(memory.at(0), memory.at(4096));
  BOOST_REQUIRE(regions.size() == 1u);
  FreshRegion& r = *regions[0];
  BOOST_TEST(r.isUnwritten(memory.at(5), memory.at(2000)));
  r.write(memory.at(100), memory.at(300)); // by a kernel that left the bytes as they were
  BOOST_TEST(!r.maybeUnwritten(memory.at(100), memory.at(300)));
  BOOST_TEST(r.maybeUnwritten(memory.at(99), memory.at(300)));
  BOOST_TEST(r.maybeUnwritten(memory.at(100), memory.at(301)));
  BOOST_TEST(r.isUnwritten(memory.at(300), memory.at(304)));
  std::memset(memory.bytes + 300, 0, 100); // by something else
  BOOST_TEST(!r.isUnwritten(memory.at(300), memory.at(304)));
  BOOST_TEST(!r.maybeUnwritten(memory.at(300), memory.at(400)));
  BOOST_TEST(r.isUnwritten(memory.at(400), memory.at(404)));
  BOOST_TEST(r.isOpen(memory.at(300), memory.at(301)));
  r.write(memory.at(0), memory.at(4096)); // clipped
  BOOST_TEST(!r.isOpen(memory.at(5), memory.at(2000)));
  fresh.add(memory.at(1000), memory.at(3000), "torch.empty", {}); // the memory has come to be something else
  BOOST_TEST(fresh.overlapping(memory.at(0), memory.at(900)).empty());
  fresh.remove(memory.at(1000));
  BOOST_TEST(fresh.empty());
}

BOOST_AUTO_TEST_CASE(views_know_their_bytes) {
  struct Row {
    std::vector<int64_t> shape, strides;
    int64_t bytes;
  };
  const Row rows[] = {{{10}, {4}, 4},
                      {{4, 5}, {64, 4}, 4},
                      {{5, 4}, {4, 64}, 4},
                      {{3, 4}, {-64, 8}, 4},
                      {{2, 3, 4}, {400, 40, 4}, 4},
                      {{4, 1, 7}, {100, 3, 2}, 2},
                      {{6}, {0}, 8},
                      {{}, {}, 2},
                      {{0, 4}, {16, 4}, 4},
                      {{5}, {3}, 1}};
  for (const Row& row : rows) {
    const uintptr_t first = 1 << 16;
    ViewShape view(first, row.shape, row.strides, row.bytes);
    std::set<uintptr_t> bytes, starts{first};
    for (size_t d = 0; d < row.shape.size(); ++d) {
      std::set<uintptr_t> next;
      for (uintptr_t s : starts)
        for (int64_t i = 0; i < row.shape[d]; ++i) next.insert(s + uintptr_t(i * row.strides[d]));
      starts = next;
    }
    for (uintptr_t s : starts)
      for (int64_t i = 0; i < row.bytes; ++i) bytes.insert(s + uintptr_t(i));
    for (uintptr_t at = first - 200; at < first + 1400; ++at) {
      BOOST_TEST(view.contains(at, at + 1) == bytes.contains(at));
      bool all = true;
      for (uintptr_t i = at; i < at + 4; ++i) all &= bytes.contains(i);
      BOOST_TEST(view.contains(at, at + 4) == all);
    }
  }
  // Overlapping dimensions without a simple form: extents.
  const int64_t shape[] = {3, 3}, strides[] = {24, 16};
  ViewShape odd(1 << 16, shape, strides, 4);
  BOOST_TEST(odd.isDense());
  BOOST_TEST(odd.contains(1 << 16, (1 << 16) + 84));
  BOOST_TEST(!odd.contains(1 << 16, (1 << 16) + 85));
}
