// tests/codegen/LinearLayoutTest.cpp -- every operation on layouts against the map itself, element by element, over random layouts.
#define BOOST_TEST_MODULE codegen_linear_layout
#include "RandomLayout.h"
#include "codegen/layout/ReductionOrder.h"
#include "codegen/layout/ScanOrder.h"
#include "codegen/layout/Span.h"
#include <boost/test/unit_test.hpp>
#include <set>

using namespace tiletwin::codegen;
using namespace tiletwin::codegen::testing;

namespace {

constexpr LayoutKind kKind{3, 2, false, true};

/// Calls visit(random, layout) for layouts of many shapes.
template <class Visit> void forEachLayout(unsigned seed, unsigned count, Visit visit) {
  Random random(seed);
  for (unsigned i = 0; i < count; ++i) {
    LayoutKind kind = kKind;
    kind.mixes = i % 2 == 1;
    LinearLayout layout = randomLayout(random, randomShape(random, below(random, 9)), kind);
    BOOST_REQUIRE_EQUAL(layout.fault(), "");
    visit(random, layout);
  }
}

template <class Visit> void forEachPlace(const LinearLayout& layout, Visit visit) {
  for (uint32_t r = 0; r < layout.registers(); ++r)
    for (uint32_t lane = 0; lane < layout.size(Part::Lane); ++lane)
      for (uint32_t warp = 0; warp < layout.size(Part::Warp); ++warp) visit(Place{r, lane, warp, 0});
}

llvm::SmallVector<int64_t, 5> at(const LinearLayout& layout, const Place& place) {
  return layout.coordinates(layout.elementAt(place));
}

} // namespace

BOOST_AUTO_TEST_CASE(places_and_elements_are_inverse) {
  forEachLayout(1, 600, [](Random&, const LinearLayout& layout) {
    std::set<uint32_t> held;
    forEachPlace(layout, [&](const Place& place) {
      uint32_t element = layout.elementAt(place);
      held.insert(element);
      // The XOR of the bases, written out.
      uint32_t expected = 0;
      for (auto [part, index] : {std::pair(Part::Register, place.registerIndex), std::pair(Part::Lane, place.lane),
                                 std::pair(Part::Warp, place.warp)})
        for (unsigned bit = 0; bit < layout.bits(part); ++bit)
          if (index >> bit & 1) expected ^= layout.bases(part)[bit];
      BOOST_REQUIRE_EQUAL(element, expected);
      BOOST_REQUIRE_EQUAL(layout.flatIndex(layout.coordinates(element)), element);
      Place back = layout.placeOf(element);
      BOOST_REQUIRE_EQUAL(layout.elementAt(back), element);
      BOOST_REQUIRE_EQUAL(back.registerIndex & layout.freeMask(Part::Register), 0u);
      BOOST_REQUIRE_EQUAL(back.lane & layout.freeMask(Part::Lane), 0u);
      BOOST_REQUIRE_EQUAL(back.warp & layout.freeMask(Part::Warp), 0u);
      if (!(place.registerIndex & layout.freeMask(Part::Register)) && !(place.lane & layout.freeMask(Part::Lane)) &&
          !(place.warp & layout.freeMask(Part::Warp)))
        BOOST_REQUIRE(back == place);
    });
    BOOST_REQUIRE_EQUAL(held.size(), size_t(1) << layout.elementBits());
  });
}

BOOST_AUTO_TEST_CASE(dimensions_are_row_major) {
  LinearLayout layout({4, 1, 8}, {});
  BOOST_TEST(layout.elementBits() == 5u);
  BOOST_TEST(layout.dimensionShift(0) == 3u);
  BOOST_TEST(layout.dimensionMask(0) == 24u);
  BOOST_TEST(layout.dimensionMask(1) == 0u);
  BOOST_TEST(layout.dimensionMask(2) == 7u);
  BOOST_TEST(layout.flatIndex({3, 0, 5}) == 29u);
}

BOOST_AUTO_TEST_CASE(reshaped_keeps_the_flat_index) {
  forEachLayout(2, 200, [](Random& random, const LinearLayout& layout) {
    LinearLayout result = layout.reshaped(randomShape(random, layout.elementBits()));
    forEachPlace(layout, [&](const Place& p) { BOOST_REQUIRE_EQUAL(result.elementAt(p), layout.elementAt(p)); });
  });
}

BOOST_AUTO_TEST_CASE(transposed_permutes_coordinates) {
  forEachLayout(3, 300, [](Random& random, const LinearLayout& layout) {
    llvm::SmallVector<int32_t> order;
    for (unsigned d = 0; d < layout.rank(); ++d) order.push_back(int32_t(d));
    std::shuffle(order.begin(), order.end(), random);
    LinearLayout result = layout.transposed(order);
    BOOST_REQUIRE_EQUAL(result.fault(), "");
    for (unsigned i = 0; i < order.size(); ++i) BOOST_REQUIRE_EQUAL(result.shape()[i], layout.shape()[order[i]]);
    forEachPlace(layout, [&](const Place& place) {
      auto from = at(layout, place), to = at(result, place);
      for (unsigned i = 0; i < order.size(); ++i) BOOST_REQUIRE_EQUAL(to[i], from[order[i]]);
    });
  });
}

BOOST_AUTO_TEST_CASE(without_dimension_forgets_a_coordinate) {
  forEachLayout(4, 300, [](Random& random, const LinearLayout& layout) {
    unsigned axis = below(random, layout.rank());
    LinearLayout result = layout.withoutDimension(axis);
    BOOST_REQUIRE_EQUAL(result.rank() + 1, layout.rank());
    forEachPlace(layout, [&](const Place& place) {
      auto expected = at(layout, place);
      expected.erase(expected.begin() + axis);
      BOOST_REQUIRE(at(result, place) == expected);
    });
  });
}

BOOST_AUTO_TEST_CASE(before_broadcast_has_coordinate_0_where_it_repeats) {
  forEachLayout(5, 300, [](Random& random, const LinearLayout& layout) {
    llvm::SmallVector<int64_t> shape(layout.shape());
    for (int64_t& extent : shape)
      if (below(random, 2)) extent = 1;
    LinearLayout result = layout.beforeBroadcast(shape);
    forEachPlace(layout, [&](const Place& place) {
      auto expected = at(layout, place);
      for (unsigned d = 0; d < shape.size(); ++d)
        if (shape[d] == 1) expected[d] = 0;
      BOOST_REQUIRE(at(result, place) == expected);
    });
  });
}

BOOST_AUTO_TEST_CASE(joined_and_split_add_and_remove_the_lowest_register) {
  unsigned splits = 0;
  forEachLayout(6, 300, [&](Random& random, const LinearLayout& layout) {
    LinearLayout both = layout.joined();
    BOOST_REQUIRE_EQUAL(both.fault(), "");
    BOOST_REQUIRE_EQUAL(both.shape().back(), 2);
    forEachPlace(layout, [&](const Place& place) {
      for (uint32_t half : {0u, 1u}) {
        auto expected = at(layout, place);
        expected.push_back(half);
        Place joined = place;
        joined.registerIndex = place.registerIndex * 2 + half;
        BOOST_REQUIRE(at(both, joined) == expected);
      }
    });
    BOOST_REQUIRE(both.split() == layout);
    // A layout of its own: what split gives is the half's map, or the last dimension is not in a register alone.
    llvm::SmallVector<int64_t> shape(layout.shape());
    shape.push_back(2);
    LinearLayout whole = randomLayout(random, shape, kKind);
    std::optional<LinearLayout> half = whole.split();
    const LinearLayout::Bases& registers = whole.bases(Part::Register);
    const uint32_t* found = std::find(registers.begin(), registers.end(), 1u);
    BOOST_REQUIRE_EQUAL(half.has_value(), found != registers.end());
    if (!half) return;
    ++splits;
    unsigned bit = unsigned(found - registers.begin());
    forEachPlace(*half, [&](const Place& place) {
      Place inWhole = place;
      inWhole.registerIndex = (place.registerIndex >> bit << (bit + 1)) | (place.registerIndex & ((1u << bit) - 1));
      auto expected = at(whole, inWhole);
      BOOST_REQUIRE_EQUAL(expected.pop_back_val(), 0);
      BOOST_REQUIRE(at(*half, place) == expected);
    });
  });
  BOOST_TEST(splits > 50u);
}

BOOST_AUTO_TEST_CASE(concatenated_puts_the_second_half_into_the_highest_register) {
  forEachLayout(7, 200, [](Random&, const LinearLayout& layout) {
    LinearLayout both = layout.concatenated();
    BOOST_REQUIRE_EQUAL(both.fault(), "");
    BOOST_REQUIRE(both.firstHalf() == layout);
    forEachPlace(both, [&](const Place& place) {
      Place inHalf = place;
      inHalf.registerIndex %= layout.registers();
      auto expected = at(layout, inHalf);
      if (place.registerIndex >= layout.registers()) expected[0] += layout.shape()[0];
      BOOST_REQUIRE(at(both, place) == expected);
    });
  });
}

BOOST_AUTO_TEST_CASE(without_repeated_registers_keeps_the_others_in_order) {
  forEachLayout(8, 200, [](Random&, const LinearLayout& layout) {
    LinearLayout result = layout.withoutRepeatedRegisters();
    BOOST_REQUIRE_EQUAL(result.freeMask(Part::Register), 0u);
    uint32_t next = 0;
    for (uint32_t r = 0; r < layout.registers(); ++r)
      if (!(r & layout.freeMask(Part::Register))) {
        BOOST_REQUIRE_EQUAL(result.elementOf(Part::Register, next), layout.elementOf(Part::Register, r));
        ++next;
      }
    BOOST_REQUIRE_EQUAL(next, result.registers());
  });
}

BOOST_AUTO_TEST_CASE(faults_are_found) {
  auto fault = [](LinearLayout::Bases registers, LinearLayout::Bases lanes) {
    return LinearLayout({4, 2}, {registers, lanes, {}, {}}).fault();
  };
  BOOST_TEST(fault({1, 2}, {4}) == "");
  BOOST_TEST(fault({1, 2}, {4, 0}) == "");
  BOOST_TEST(fault({1, 8}, {4}) == "a basis of register lies outside of the tile");
  BOOST_TEST(fault({1, 2}, {4, 3}) == "a basis of lane is the sum of others");
  BOOST_TEST(fault({1}, {4}) == "it holds 4 of the tile's 8 elements");
}

BOOST_AUTO_TEST_CASE(text_gives_coordinates) {
  LinearLayout layout({4, 2}, {LinearLayout::Bases{1, 6}, {2, 0}, {}, {}});
  BOOST_TEST(layout.text() == "register = [[0, 1], [3, 0]], lane = [[1, 0], [0, 0]], warp = [], block = []");
}

BOOST_AUTO_TEST_CASE(blocked_is_the_usual_distribution) {
  // Against its definition: along each dimension an element's index is thread-local, then lane, then warp, then repetition.
  Random random(9);
  for (unsigned i = 0; i < 300; ++i) {
    llvm::SmallVector<int64_t> shape = randomShape(random, below(random, 10));
    unsigned rank = shape.size();
    llvm::SmallVector<int64_t> perThread(rank, 1), lanes(rank, 1), warps(rank, 1);
    llvm::SmallVector<int32_t> order;
    for (unsigned d = 0; d < rank; ++d) order.push_back(int32_t(d)), perThread[d] = 1 << below(random, 3);
    for (unsigned bit = 0; bit < 5; ++bit) lanes[below(random, rank)] *= 2;
    for (unsigned bit = 0; bit < 2; ++bit) warps[below(random, rank)] *= 2;
    std::shuffle(order.begin(), order.end(), random);
    LinearLayout layout = LinearLayout::blocked(shape, perThread, lanes, warps, order);
    BOOST_REQUIRE_EQUAL(layout.fault(), "");
    BOOST_REQUIRE_EQUAL(layout.bits(Part::Lane), 5u);
    BOOST_REQUIRE_EQUAL(layout.bits(Part::Warp), 2u);
    forEachPlace(layout, [&](const Place& place) {
      auto coordinates = at(layout, place);
      // Numbers of lane and warp, taken apart in the order of dimensions.
      uint32_t lane = place.lane, warp = place.warp;
      for (int32_t d : order) {
        int64_t inThread = std::min(perThread[d], shape[d]), extent = shape[d] / inThread;
        int64_t lanePart = lane % lanes[d], warpPart = warp % warps[d];
        lane /= lanes[d], warp /= warps[d];
        int64_t laneCount = std::min(lanes[d], extent), warpCount = std::min(warps[d], extent / laneCount);
        int64_t index = coordinates[d] / inThread;
        BOOST_REQUIRE_EQUAL(index % laneCount, lanePart % laneCount);
        BOOST_REQUIRE_EQUAL(index / laneCount % warpCount, warpPart % warpCount);
      }
    });
  }
}

BOOST_AUTO_TEST_CASE(coalesced_gives_neighbours_to_neighbours) {
  LinearLayout layout = LinearLayout::coalesced({16, 128}, 4, {1, 0}, 5, 2);
  BOOST_TEST(layout.text() ==
             "register = [[0, 1], [0, 2], [4, 0], [8, 0]], "
             "lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[1, 0], [2, 0]], block = []");
  // Too small for its threads: they repeat elements.
  layout = LinearLayout::coalesced({2, 8}, 1, {1, 0}, 5, 2);
  BOOST_TEST(layout.fault() == "");
  BOOST_TEST(layout.registers() == 1u);
  BOOST_TEST(layout.freeMask(Part::Lane) == 16u);
  BOOST_TEST(layout.freeMask(Part::Warp) == 3u);
  layout = LinearLayout::coalesced({128, 16}, 8, {0, 1}, 5, 2);
  BOOST_TEST(layout.bases(Part::Register)[0] == 16u); // along dimension 0
}

BOOST_AUTO_TEST_CASE(warps_beside_lanes_leave_a_thread_few_lines) {
  constexpr auto kBeside = LinearLayout::Warps::BesideLanes;
  LinearLayout layout = LinearLayout::coalesced({128, 8}, 1, {0, 1}, 5, 2, kBeside);
  BOOST_TEST(layout.text() ==
             "register = [[0, 1], [0, 2], [0, 4]], "
             "lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []");
  // Fewer lines than threads: the others share what is beside.
  layout = LinearLayout::coalesced({64, 8}, 1, {0, 1}, 5, 2, kBeside);
  BOOST_TEST(layout.text() == "register = [[0, 1], [0, 2]], "
                              "lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [0, 4]], block = []");
  // More: a thread has several.
  layout = LinearLayout::coalesced({256, 2}, 1, {0, 1}, 5, 2, kBeside);
  BOOST_TEST(layout.text() ==
             "register = [[0, 1], [128, 0]], "
             "lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []");
  layout = LinearLayout::coalesced({8, 2}, 1, {0, 1}, 5, 2, kBeside);
  BOOST_TEST(layout.fault() == "");
  BOOST_TEST(layout.freeMask(Part::Warp) == 3u);
}

BOOST_AUTO_TEST_CASE(spans_over_f2) {
  Random random(10);
  for (unsigned i = 0; i < 500; ++i) {
    Vectors one, other;
    for (unsigned k = below(random, 6); k-- > 0;) one.push_back(below(random, 64));
    for (unsigned k = below(random, 6); k-- > 0;) other.push_back(below(random, 64));
    Span a(one), b(other);
    auto all = [](const Span& span) {
      std::set<uint32_t> elements;
      for (uint32_t k = 0; k < 1u << span.dimension(); ++k) elements.insert(span.sum(k));
      return elements;
    };
    std::set<uint32_t> inA = all(a), inB = all(b), inBoth;
    BOOST_REQUIRE_EQUAL(inA.size(), size_t(1) << a.dimension());
    for (uint32_t vector : one) BOOST_REQUIRE(inA.count(vector));
    for (uint32_t vector = 0; vector < 64; ++vector) {
      BOOST_REQUIRE_EQUAL(a.contains(vector), inA.count(vector) == 1);
      BOOST_REQUIRE_EQUAL(a.coordinates(vector).has_value(), inA.count(vector) == 1);
      if (a.contains(vector)) BOOST_REQUIRE_EQUAL(a.sum(*a.coordinates(vector)), vector);
      if (inA.count(vector) && inB.count(vector)) inBoth.insert(vector);
    }
    Span common(intersection(a, b));
    BOOST_REQUIRE(all(common) == inBoth);
    BOOST_REQUIRE_EQUAL(common.dimension(), intersection(a, b).size());
    Vectors unit{1, 2, 4, 8, 16, 32};
    uint32_t outside = outsideOfBoth(a, b, unit);
    BOOST_REQUIRE_EQUAL(outside == 0, inA.size() == 64 || inB.size() == 64);
    if (outside) BOOST_REQUIRE(!inA.count(outside) && !inB.count(outside));
  }
}

BOOST_AUTO_TEST_CASE(scan_orders_are_those_of_blocked_layouts) {
  Random random(12);
  unsigned refused = 0, inRuns = 0;
  for (unsigned i = 0; i < 400; ++i) {
    LinearLayout layout = randomLayout(random, randomShape(random, 1 + below(random, 9)), {3, 2, i % 4 == 0, true});
    llvm::SmallVector<int32_t> fastest;
    for (unsigned d = layout.rank(); d-- > 0;) fastest.push_back(int32_t(d));
    if (i % 2) layout = LinearLayout::coalesced(layout.shape(), 1 << below(random, 3), fastest, 3, 2);
    unsigned axis = below(random, layout.rank());
    std::optional<ScanOrder> order = ScanOrder::of(layout, axis);
    if (i % 2) BOOST_REQUIRE(order);
    if (!order) {
      ++refused;
      continue;
    }
    // From the lowest bit up: the bits that it names have exactly the axis' bits as bases.
    unsigned bit = layout.dimensionShift(axis);
    auto next = [&](Part part, unsigned number) { BOOST_REQUIRE_EQUAL(layout.bases(part)[number], 1u << bit++); };
    for (unsigned r : order->low) next(Part::Register, r);
    for (unsigned k = 0; k < order->laneBits; ++k) next(Part::Lane, order->laneShift + k);
    for (unsigned w : order->warps) next(Part::Warp, w);
    for (unsigned r : order->high) next(Part::Register, r);
    BOOST_REQUIRE_EQUAL(bit, layout.dimensionShift(axis) + layout.dimensionBits(axis));
    // With one run each part has as many bits of the axis, and what lies across it stays.
    std::optional<LinearLayout> inRun = withOneRun(layout, axis);
    BOOST_REQUIRE_EQUAL(bool(inRun), !order->high.empty() && (order->laneBits || !order->warps.empty()));
    if (!inRun) continue;
    BOOST_REQUIRE(inRun->fault().empty());
    BOOST_REQUIRE(inRun->withoutDimension(axis) == layout.withoutDimension(axis));
    std::optional<ScanOrder> after = ScanOrder::of(*inRun, axis);
    BOOST_REQUIRE(after && after->high.empty() && after->low.size() == order->low.size() + order->high.size());
    BOOST_REQUIRE(after->laneBits == order->laneBits && after->warps == order->warps);
    ++inRuns;
  }
  BOOST_TEST(inRuns > 20u);
  BOOST_TEST(refused > 50u);
}

BOOST_AUTO_TEST_CASE(reduction_orders_go_down_registers_and_up_threads) {
  LinearLayout layout({4, 32}, {LinearLayout::Bases{1, 32, 8}, {2, 64}, {4, 16}, {}});
  std::optional<ReductionOrder> order = ReductionOrder::of(layout, 1);
  BOOST_REQUIRE(order);
  llvm::SmallVector<int32_t> expected{3, 0, 1, 2, 4};
  BOOST_TEST(order->bits == expected, boost::test_tools::per_element());
  // A bit that changes both dimensions has no place in such an order.
  BOOST_TEST(!ReductionOrder::of(LinearLayout({2, 2}, {LinearLayout::Bases{3, 1}, {}, {}, {}}), 1));
}
