// tests/codegen/TensorMemoryTest.cpp -- cells of tiles in tensor memory, and who loads them, over all shapes and numbers of warps.
#define BOOST_TEST_MODULE codegen_tensor_memory
#include "codegen/layout/TensorMemory.h"
#include <boost/test/unit_test.hpp>
#include <set>

using namespace tiletwin::codegen;

namespace {

/// Calls visit(rows, columns, layout) for all tiles that tensor memory holds.
template <class Visit> void forEachTile(Visit visit) {
  for (int64_t rows = 1; rows <= 8192; rows *= 2)
    for (int64_t columns = 1; columns <= 1024; columns *= 2)
      if (TensorMemoryLayout::fits({rows, columns})) visit(rows, columns, TensorMemoryLayout({rows, columns}));
}

} // namespace

BOOST_AUTO_TEST_CASE(what_fits) {
  BOOST_TEST(TensorMemoryLayout::fits({64, 8}));
  BOOST_TEST(TensorMemoryLayout::fits({64, 512}));
  BOOST_TEST(TensorMemoryLayout::fits({128, 512}));
  BOOST_TEST(TensorMemoryLayout::fits({4096, 16}));
  BOOST_TEST(!TensorMemoryLayout::fits({32, 64}));
  BOOST_TEST(!TensorMemoryLayout::fits({64, 4}));
  BOOST_TEST(!TensorMemoryLayout::fits({128, 8}));
  BOOST_TEST(!TensorMemoryLayout::fits({256, 512}));
  BOOST_TEST(!TensorMemoryLayout::fits({64, 1024}));
  BOOST_TEST(!TensorMemoryLayout::fits({2, 64, 64}));
}

/// PTX ISA: a row of 128 in its lane; of 64 in the lower half of its warp's lanes.
BOOST_AUTO_TEST_CASE(each_element_has_a_cell_of_its_own) {
  forEachTile([](int64_t rows, int64_t columns, const TensorMemoryLayout& layout) {
    std::set<uint32_t> cells;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        const uint32_t cell = layout.cellOf(uint32_t(row * columns + column));
        const int64_t lane = rows == 64 ? row / 16 * 32 + row % 16 : row % 128;
        BOOST_REQUIRE_EQUAL(cell >> 16, lane);
        BOOST_REQUIRE_EQUAL(cell & 0xFFFF, row / 128 * columns + column);
        BOOST_REQUIRE(cells.insert(cell).second);
      }
    BOOST_TEST(layout.columns() == std::max<int64_t>(rows / 128, 1) * columns);
    BOOST_TEST(layout.columns() <= TensorMemoryLayout::kColumns);
  });
}

BOOST_AUTO_TEST_CASE(warps_load_their_own_lanes) {
  forEachTile([](int64_t rows, int64_t columns, const TensorMemoryLayout& layout) {
    for (unsigned warpBits = 2; warpBits <= 5 && rows * columns >= int64_t(32) << warpBits; ++warpBits)
      BOOST_TEST_CONTEXT(rows << " x " << columns << ", " << (1 << warpBits) << " warps") {
        const LinearLayout tile = layout.registers(warpBits);
        BOOST_REQUIRE_EQUAL(tile.fault(), "");
        BOOST_REQUIRE_EQUAL(tile.bits(Part::Warp), warpBits);
        BOOST_REQUIRE_EQUAL(tile.freeMask(Part::Warp) | tile.freeMask(Part::Lane) | tile.freeMask(Part::Register), 0);
        const LinearLayout cells = layout.inMemory(tile);
        const auto access = TensorMemoryAccess::of(cells, 7);
        BOOST_REQUIRE(access.has_value());
        BOOST_TEST(access->isSplit == (rows == 64));
        for (uint32_t warp = 0; warp < 1u << warpBits; ++warp)
          for (uint32_t first = 0; first < tile.registers(); first += 1u << access->countBits)
            for (uint32_t lane : {0u, 1u, 15u, 16u, 31u})
              for (uint32_t i : {0u, (1u << access->countBits) - 1}) {
                // 32x32b: a thread's lane; 16x32bx2: lanes 0 to 15 twice.
                const uint32_t start = cells.elementAt({first, 0, warp, 0});
                const uint32_t upper = access->isSplit && lane >= 16 ? access->half - (16u << 16) : 0;
                BOOST_REQUIRE_EQUAL(cells.elementAt({first | i, lane, warp, 0}), start + (lane << 16) + i + upper);
                BOOST_REQUIRE_EQUAL(start >> 16, warp % 4 * 32);
              }
      }
  });
}

BOOST_AUTO_TEST_CASE(other_layouts_are_not_reached) {
  const TensorMemoryLayout layout({128, 32});
  const LinearLayout rows = layout.registers(2);
  std::array<LinearLayout::Bases, 4> bases;
  for (Part part : kParts) bases[size_t(part)] = rows.bases(part);
  std::swap(bases[size_t(Part::Lane)][0], bases[size_t(Part::Warp)][0]);
  BOOST_TEST(!TensorMemoryAccess::of(layout.inMemory(LinearLayout({128, 32}, bases)), 7));
  std::swap(bases[size_t(Part::Lane)][0], bases[size_t(Part::Warp)][0]);
  std::swap(bases[size_t(Part::Register)][0], bases[size_t(Part::Register)][2]); // one column an access
  BOOST_TEST(TensorMemoryAccess::of(layout.inMemory(LinearLayout({128, 32}, bases)), 7)->countBits == 0);
  std::swap(bases[size_t(Part::Lane)][4], bases[size_t(Part::Register)][1]); // a split of an instruction with 128 rows
  BOOST_TEST(!TensorMemoryAccess::of(layout.inMemory(LinearLayout({128, 32}, bases)), 7));
}
