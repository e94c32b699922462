// codegen/layout/TensorMemory.cpp -- see TensorMemory.h. Source: PTX ISA, "tcgen05 Data Path Layout Organization" and "Tensor
// Memory Access Restrictions".
#include "codegen/layout/TensorMemory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace tiletwin::codegen {

using llvm::ArrayRef;

constexpr unsigned kRowBits = 7, kHalfRowBits = 6; ///< of an instruction with 128 rows, and of one with 64
constexpr unsigned kHalfLaneBits = 4;              ///< of an instruction with 64 rows: lanes of a warp

bool TensorMemoryLayout::fits(ArrayRef<int64_t> shape) {
  constexpr int64_t kRows = 1 << kRowBits, kHalf = 1 << kHalfRowBits;
  if (shape.size() != 2 || shape[0] < kHalf) return false;
  return shape[1] >= (shape[0] == kHalf ? 8 : 16) && std::max(shape[0], kRows) / kRows * shape[1] <= kColumns;
}

uint32_t TensorMemoryLayout::columns() const {
  return 1u << (columnBits() + (rowBits() > kRowBits ? rowBits() - kRowBits : 0));
}

uint32_t TensorMemoryLayout::cellOf(uint32_t element) const {
  const llvm::SmallVector<int64_t, 5> at = tile_.coordinates(element);
  const auto row = uint32_t(at[0]), column = uint32_t(at[1]);
  constexpr uint32_t kWarpRows = 1 << kHalfLaneBits;
  if (rowBits() < kRowBits) return (row / kWarpRows * 2 * kWarpRows + row % kWarpRows) << kLaneShift | column;
  return (row & ((1 << kRowBits) - 1)) << kLaneShift | (row >> kRowBits << columnBits()) | column;
}

LinearLayout TensorMemoryLayout::inMemory(const LinearLayout& registers) const {
  std::array<LinearLayout::Bases, 4> bases;
  for (Part part : kParts)
    for (uint32_t basis : registers.bases(part)) bases[size_t(part)].push_back(cellOf(basis));
  return LinearLayout({int64_t(1) << (kLaneShift + kRowBits)}, std::move(bases));
}

LinearLayout TensorMemoryLayout::registers(unsigned warpBits) const {
  const unsigned rowShift = tile_.dimensionShift(0);
  auto rowBit = [&](unsigned bit) { return 1u << (rowShift + bit); };
  std::array<LinearLayout::Bases, 4> bases;
  LinearLayout::Bases &registers = bases[size_t(Part::Register)], &lanes = bases[size_t(Part::Lane)],
                      &warps = bases[size_t(Part::Warp)];
  unsigned row = 0, columnEnd = columnBits();
  const bool isHalf = rowBits() < kRowBits;
  for (; row < (isHalf ? kHalfLaneBits : kWarpLaneBits); ++row) lanes.push_back(rowBit(row));
  for (; row < (isHalf ? kHalfRowBits : kRowBits); ++row) warps.push_back(rowBit(row));
  while (warps.size() < warpBits) warps.push_back(row < rowBits() ? rowBit(row++) : 1u << --columnEnd);
  if (isHalf) lanes.push_back(1u << --columnEnd);
  for (unsigned column = 0; column < columnEnd; ++column) registers.push_back(1u << column);
  for (; row < rowBits(); ++row) registers.push_back(rowBit(row));
  return LinearLayout(tile_.shape(), std::move(bases));
}

std::optional<TensorMemoryAccess> TensorMemoryAccess::of(const LinearLayout& inMemory, unsigned atMost) {
  const LinearLayout::Bases &registers = inMemory.bases(Part::Register), &lanes = inMemory.bases(Part::Lane),
                            &warps = inMemory.bases(Part::Warp);
  constexpr uint32_t kLane = 1u << TensorMemoryLayout::kLaneShift;
  auto isColumns = [&](uint32_t basis) { return llvm::has_single_bit(basis) && basis < kLane; };
  if (lanes.size() != TensorMemoryLayout::kWarpLaneBits || warps.size() < 2) return std::nullopt;
  TensorMemoryAccess access;
  for (unsigned bit = 0; bit < lanes.size(); ++bit) {
    if (lanes[bit] == kLane << bit) continue;
    if (bit != kHalfLaneBits || !isColumns(lanes[bit])) return std::nullopt;
    access.isSplit = true, access.half = lanes[bit];
  }
  for (unsigned bit = 0; bit < warps.size(); ++bit)
    if (bit < 2 ? warps[bit] != kLane << (TensorMemoryLayout::kWarpLaneBits + bit) : !isColumns(warps[bit]))
      return std::nullopt;
  if (!llvm::all_of(registers, isColumns)) return std::nullopt;
  while (access.countBits < std::min<size_t>(registers.size(), atMost) &&
         registers[access.countBits] == 1u << access.countBits)
    ++access.countBits;
  return access;
}

} // namespace tiletwin::codegen
