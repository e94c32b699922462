// tests/codegen/ConversionTest.cpp -- plans of conversions, carried out on numbers of elements for every thread, against the
// layouts themselves; bank conflicts counted access by access.
#define BOOST_TEST_MODULE codegen_conversion
#include "RandomLayout.h"
#include "codegen/layout/SharedConversion.h"
#include "codegen/layout/WarpConversion.h"
#include "llvm/Support/MathExtras.h"
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

using namespace tiletwin::codegen;
using namespace tiletwin::codegen::testing;

namespace {

uint32_t parity(const ThreadParity& p, uint32_t lane, uint32_t warp) {
  return (llvm::popcount(p.lanes & lane) + llvm::popcount(p.warps & warp)) & 1;
}

using Elements = std::vector<uint32_t>;

void exchange(std::vector<Elements>& words, const llvm::SmallVectorImpl<ThreadParity>& parities, uint32_t lane,
              uint32_t warp) {
  for (unsigned bit = 0; bit < parities.size(); ++bit) {
    if (!parity(parities[bit], lane, warp)) continue;
    for (uint32_t i = 0; i < words.size(); ++i)
      if (!(i >> bit & 1)) std::swap(words[i], words[i | 1u << bit]);
  }
}

/// The words that a lane has to send.
std::vector<Elements> wordsOf(const WarpConversion& plan, const LinearLayout& from, uint32_t lane, uint32_t warp) {
  Elements registers;
  for (uint32_t r = 0; r < from.registers(); ++r)
    if (!(r & from.freeMask(Part::Register))) registers.push_back(from.elementAt({r, lane, warp, 0}));
  for (const WarpConversion::Kept& kept : plan.kept) {
    Elements half;
    for (uint32_t r = 0; r < registers.size(); ++r)
      if ((r >> kept.bit & 1) == parity(kept.parity, lane, warp)) half.push_back(registers[r]);
    registers = half;
  }
  std::vector<Elements> words;
  for (const Vectors& places : plan.words) {
    Elements& word = words.emplace_back();
    for (uint32_t place : places) word.push_back(registers.at(place));
  }
  exchange(words, plan.send, lane, warp);
  return words;
}

/// Carries the plan out for one warp; the number of registers of the result with a wrong element.
unsigned wrongAfter(const WarpConversion& plan, const LinearLayout& from, const LinearLayout& to, uint32_t warp) {
  std::vector<std::vector<Elements>> sent;
  for (uint32_t lane = 0; lane < from.size(Part::Lane); ++lane) sent.push_back(wordsOf(plan, from, lane, warp));
  unsigned wrong = 0;
  for (uint32_t lane = 0; lane < from.size(Part::Lane); ++lane) {
    uint32_t source = 0;
    for (unsigned bit = 0; bit < plan.source.size(); ++bit) source |= parity(plan.source[bit], lane, warp) << bit;
    if (plan.isOwnLane) BOOST_REQUIRE_EQUAL(source, lane);
    std::vector<Elements> received(plan.rounds.size());
    for (const WarpConversion::Round& round : plan.rounds)
      received.at(round.place) = sent.at(source ^ round.flip).at(round.word);
    exchange(received, plan.receive, lane, warp);
    for (uint32_t r = 0; r < to.registers(); ++r)
      wrong += received.at(plan.results[r].place).at(plan.results[r].part) != to.elementAt({r, lane, warp, 0});
  }
  return wrong;
}

/// True if every warp of `to` needs elements only that the same warp of `from` has.
bool staysInWarps(const LinearLayout& from, const LinearLayout& to) {
  for (uint32_t warp = 0; warp < from.size(Part::Warp); ++warp) {
    std::set<uint32_t> has;
    for (uint32_t lane = 0; lane < from.size(Part::Lane); ++lane)
      for (uint32_t r = 0; r < from.registers(); ++r) has.insert(from.elementAt({r, lane, warp, 0}));
    for (uint32_t lane = 0; lane < to.size(Part::Lane); ++lane)
      for (uint32_t r = 0; r < to.registers(); ++r)
        if (!has.count(to.elementAt({r, lane, warp, 0}))) return false;
  }
  return true;
}

/// Another layout with the same warps: registers and lanes dealt anew.
LinearLayout dealtAnew(Random& random, const LinearLayout& layout, bool mixes) {
  std::array<LinearLayout::Bases, 4> bases;
  bases[size_t(Part::Warp)] = layout.bases(Part::Warp);
  LinearLayout::Bases inWarp;
  for (Part part : {Part::Register, Part::Lane})
    for (uint32_t basis : layout.bases(part))
      if (basis) inWarp.push_back(basis);
  std::shuffle(inWarp.begin(), inWarp.end(), random);
  for (unsigned i = 0; mixes && inWarp.size() > 1 && i < 2 * inWarp.size(); ++i) {
    unsigned a = below(random, inWarp.size()), b = below(random, inWarp.size());
    if (a != b) inWarp[a] ^= inWarp[b];
  }
  for (unsigned bit = 0; bit < layout.bits(Part::Lane); ++bit) {
    bool repeat = inWarp.empty() || below(random, 8) == 0;
    bases[size_t(Part::Lane)].push_back(repeat ? 0 : inWarp.pop_back_val());
  }
  bases[size_t(Part::Register)] = inWarp;
  return LinearLayout(layout.shape(), std::move(bases));
}

} // namespace

BOOST_AUTO_TEST_CASE(warp_conversions_move_every_element_to_its_place) {
  Random random(7);
  unsigned planned = 0, moved = 0, refused = 0;
  for (unsigned i = 0; i < 4000; ++i) {
    unsigned bits = below(random, 12);
    llvm::SmallVector<int64_t> shape = randomShape(random, bits);
    LayoutKind kind{i % 5 < 2 ? 6u : 5u, below(random, 4), i % 2 == 1, i % 3 != 0};
    LinearLayout from = randomLayout(random, shape, kind);
    LinearLayout to = i % 4 == 0 ? randomLayout(random, shape, kind) : dealtAnew(random, from, i % 2 == 1);
    BOOST_REQUIRE_EQUAL(from.fault(), "");
    BOOST_REQUIRE_EQUAL(to.fault(), "");
    for (unsigned parts : {1u, 2u, 4u}) {
      std::optional<WarpConversion> plan = WarpConversion::plan(from, to, parts);
      BOOST_REQUIRE_EQUAL(plan.has_value(), staysInWarps(from, to));
      if (!plan) {
        ++refused;
        continue;
      }
      ++planned, moved += plan->shuffles() > 0;
      BOOST_REQUIRE_LE(plan->words.front().size(), parts);
      for (uint32_t warp = 0; warp < from.size(Part::Warp); ++warp)
        BOOST_REQUIRE_MESSAGE(wrongAfter(*plan, from, to, warp) == 0,
                              "from " << from.text() << "\nto " << to.text() << "\nparts " << parts);
    }
  }
  BOOST_TEST(planned > 6000u);
  BOOST_TEST(moved > 3000u);
  BOOST_TEST(refused > 500u);
}

BOOST_AUTO_TEST_CASE(warp_conversions_cost_no_more_than_they_need) {
  auto layout = [](LinearLayout::Bases registers, LinearLayout::Bases lanes) {
    return LinearLayout({int64_t(1) << (registers.size() + 5)}, {registers, lanes, {}, {}});
  };
  // Registers renamed: nothing moves.
  auto renamed = WarpConversion::plan(layout({1, 2}, {4, 8, 16, 32, 64}), layout({2, 1}, {4, 8, 16, 32, 64}), 1);
  BOOST_TEST(renamed->shuffles() == 0u);
  BOOST_TEST(renamed->selects() == 0u);
  // One bit of a lane exchanged with one of the register: two shuffles of a butterfly, a select before and behind each.
  auto swapped = WarpConversion::plan(layout({1}, {2, 4, 8, 16, 32}), layout({2}, {1, 4, 8, 16, 32}), 1);
  BOOST_TEST(swapped->shuffles() <= 2u);
  BOOST_TEST(swapped->selects() <= 4u);
  // 16-bit elements that stay together move in pairs.
  auto paired = WarpConversion::plan(layout({1, 2}, {4, 8, 16, 32, 64}), layout({1, 4}, {2, 8, 16, 32, 64}), 2);
  BOOST_TEST(paired->rounds.size() == 2u);
  // All lanes have everything: each keeps its own.
  LinearLayout everywhere({32}, {LinearLayout::Bases{1, 2, 4, 8, 16}, {0, 0, 0, 0, 0}, {}, {}});
  LinearLayout spread({32}, {LinearLayout::Bases{}, {1, 2, 4, 8, 16}, {}, {}});
  BOOST_TEST(WarpConversion::plan(everywhere, spread, 1)->shuffles() == 0u);
  auto collected = WarpConversion::plan(spread, everywhere, 1);
  BOOST_TEST(collected->shuffles() == 32u);
  BOOST_TEST(collected->selects() == 0u);
}

namespace {

/// One side's accesses: for each access of a thread its lowest offset. Checks that a vector's elements follow each other.
std::vector<uint32_t> accessesOf(const SharedConversion& plan, const LinearLayout& layout, unsigned vector,
                                 uint32_t lane, uint32_t warp) {
  std::map<uint32_t, uint32_t> registers; // by offset of the register's part
  LinearLayout inMemory = plan.inMemory(layout);
  for (uint32_t r = 0; r < layout.registers(); ++r)
    if (!(r & layout.freeMask(Part::Register))) registers[inMemory.elementOf(Part::Register, r)] = r;
  std::vector<uint32_t> starts;
  for (auto [offset, r] : registers) {
    if (offset & ((1u << vector) - 1)) continue;
    uint32_t start = inMemory.elementAt({r, lane, warp, 0});
    BOOST_REQUIRE_EQUAL(start & ((1u << vector) - 1), 0u);
    for (uint32_t i = 0; i < 1u << vector; ++i) {
      auto found = registers.find(offset | i);
      BOOST_REQUIRE(found != registers.end());
      BOOST_REQUIRE_EQUAL(plan.offsetOf(layout.elementAt({found->second, lane, warp, 0})), start + i);
    }
    starts.push_back(start);
  }
  BOOST_REQUIRE_EQUAL(starts.size() << vector, registers.size());
  return starts;
}

/// The most lines that lanes which are served together touch at one bank of 4 bytes.
unsigned conflictsOf(const SharedConversion& plan, const LinearLayout& layout, unsigned vector, unsigned elementBytes) {
  unsigned worst = 1, bytes = elementBytes << vector, together = lanesTogether(bytes);
  for (uint32_t warp = 0; warp < layout.size(Part::Warp); ++warp) {
    std::vector<std::vector<uint32_t>> all;
    for (uint32_t lane = 0; lane < layout.size(Part::Lane); ++lane)
      all.push_back(accessesOf(plan, layout, vector, lane, warp));
    for (size_t access = 0; access < all[0].size(); ++access)
      for (uint32_t first = 0; first < all.size(); first += together) {
        std::map<uint32_t, std::set<uint32_t>> lines; // by bank
        for (uint32_t lane = first; lane < first + together && lane < all.size(); ++lane)
          for (uint32_t at = all[lane][access] * elementBytes, end = at + bytes; at < end; at += std::min(bytes, 4u))
            lines[at / 4 % 32].insert(at / 128);
        for (auto& [bank, touched] : lines) worst = std::max(worst, unsigned(touched.size()));
      }
  }
  return worst;
}

} // namespace

BOOST_AUTO_TEST_CASE(shared_conversions_have_no_bank_conflicts) {
  Random random(11);
  unsigned wide = 0, bothWide = 0;
  for (unsigned i = 0; i < 1500; ++i) {
    unsigned bits = 3 + below(random, 10);
    llvm::SmallVector<int64_t> shape = randomShape(random, bits);
    LayoutKind kind{i % 5 < 2 ? 6u : 5u, below(random, 4), i % 2 == 1, i % 3 == 0};
    LinearLayout from = randomLayout(random, shape, kind), to = randomLayout(random, shape, kind);
    unsigned bytes = 1u << below(random, 4);
    SharedConversion plan = SharedConversion::plan(from, to, bytes, 1u << 20);
    // Offsets are a permutation.
    std::set<uint32_t> seen;
    for (uint32_t element = 0; element < 1u << bits; ++element) seen.insert(plan.offsetOf(element));
    BOOST_REQUIRE_EQUAL(seen.size(), size_t(1) << bits);
    BOOST_REQUIRE_LT(*seen.rbegin(), 1u << bits);
    BOOST_REQUIRE_LE(bytes << std::max(plan.storeVector, plan.loadVector), 16u);
    wide += std::max(plan.storeVector, plan.loadVector) > 0;
    bothWide += std::min(plan.storeVector, plan.loadVector) > 0;
    std::string which = "from " + from.text() + "\nto " + to.text() + "\nbytes " + std::to_string(bytes);
    BOOST_REQUIRE_MESSAGE(conflictsOf(plan, from, plan.storeVector, bytes) == 1, "stores: " << which);
    BOOST_REQUIRE_MESSAGE(conflictsOf(plan, to, plan.loadVector, bytes) == 1, "loads: " << which);
  }
  BOOST_TEST(wide > 500u);
  BOOST_TEST(bothWide > 100u);
}

BOOST_AUTO_TEST_CASE(shared_conversions_use_vectors_and_fit_in_passes) {
  // A transposition: rows in registers and lanes, then columns. One side has vectors of 16 bytes.
  LinearLayout rows = LinearLayout::coalesced({64, 64}, 4, {1, 0}, 5, 2);
  LinearLayout columns = LinearLayout::coalesced({64, 64}, 4, {0, 1}, 5, 2);
  SharedConversion plan = SharedConversion::plan(rows, columns, 4, 1u << 20);
  BOOST_TEST(std::max(plan.storeVector, plan.loadVector) == 2u);
  BOOST_TEST(plan.passBits == 0u);
  // Both sides hold four elements side by side: both have vectors.
  LinearLayout other = LinearLayout::blocked({64, 64}, {1, 4}, {32, 1}, {1, 4}, {1, 0});
  plan = SharedConversion::plan(rows, other, 4, 1u << 20);
  BOOST_TEST(plan.storeVector == 2u);
  BOOST_TEST(plan.loadVector == 2u);
  plan = SharedConversion::plan(rows, columns, 4, 5000);
  BOOST_TEST(plan.passBits == 2u);
}

namespace {

/// What shared memory holds after a pass of the stores, by offset; -1: nothing.
std::vector<int64_t> storedBy(const SharedConversion& plan, const LinearLayout& from) {
  std::vector<int64_t> memory(size_t(1) << from.elementBits(), -1);
  LinearLayout inMemory = plan.inMemory(from);
  for (uint32_t warp = 0; warp < from.size(Part::Warp); ++warp)
    for (uint32_t lane = 0; lane < from.size(Part::Lane); ++lane)
      for (uint32_t r = 0; r < from.registers(); ++r)
        memory.at(inMemory.elementAt({r, lane, warp, 0})) = from.elementAt({r, lane, warp, 0});
  return memory;
}

/// Registers of `to` that read another element than theirs.
unsigned wrongIn(const std::vector<int64_t>& memory, const SharedConversion& plan, const LinearLayout& to) {
  unsigned wrong = 0;
  LinearLayout inMemory = plan.inMemory(to);
  for (uint32_t warp = 0; warp < to.size(Part::Warp); ++warp)
    for (uint32_t lane = 0; lane < to.size(Part::Lane); ++lane)
      for (uint32_t r = 0; r < to.registers(); ++r)
        wrong += memory.at(inMemory.elementAt({r, lane, warp, 0})) != to.elementAt({r, lane, warp, 0});
  return wrong;
}

/// The layouts that tiles of a shape get from accesses: both orders, all vectors.
std::vector<LinearLayout> accessLayouts(llvm::ArrayRef<int64_t> shape, unsigned laneBits, unsigned warpBits) {
  std::vector<LinearLayout> layouts;
  for (bool rowsFirst : {false, true})
    for (int64_t perThread = 1; perThread <= 16; perThread *= 2)
      layouts.push_back(LinearLayout::coalesced(
          shape, perThread, rowsFirst ? llvm::SmallVector<int32_t>{0, 1} : llvm::SmallVector<int32_t>{1, 0}, laneBits,
          warpBits));
  return layouts;
}

} // namespace

BOOST_AUTO_TEST_CASE(wavefronts_of_64_lanes_convert_between_all_layouts_of_accesses) {
  unsigned inWarps = 0, inMemory = 0;
  for (unsigned rows : {1u, 6u})
    for (unsigned columns = 0; columns <= 6; columns += 3)
      for (unsigned warps : {0u, 2u}) {
        std::vector<LinearLayout> layouts = accessLayouts({int64_t(1) << rows, int64_t(1) << columns}, 6, warps);
        for (const LinearLayout& from : layouts) {
          BOOST_REQUIRE_EQUAL(from.fault(), "");
          BOOST_REQUIRE_EQUAL(from.size(Part::Lane), 64u);
          for (const LinearLayout& to : layouts) {
            std::string which = "from " + from.text() + "\nto " + to.text();
            std::optional<WarpConversion> plan = WarpConversion::plan(from, to, 1);
            BOOST_REQUIRE_EQUAL(plan.has_value(), staysInWarps(from, to));
            for (uint32_t warp = 0; plan && warp < from.size(Part::Warp); ++warp)
              BOOST_REQUIRE_MESSAGE(wrongAfter(*plan, from, to, warp) == 0, which);
            inWarps += plan.has_value();
            SharedConversion shared = SharedConversion::plan(from, to, 4, 1u << 16);
            BOOST_REQUIRE_MESSAGE(wrongIn(storedBy(shared, from), shared, to) == 0, which);
            ++inMemory;
          }
        }
      }
  BOOST_TEST(inWarps > 250u);
  BOOST_TEST(inMemory == 2u * 3 * 2 * 10 * 10);
}
