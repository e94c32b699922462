// codegen/layout/SharedLayout.cpp -- see SharedLayout.h.
#include "codegen/layout/SharedLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

namespace tiletwin::codegen {

using llvm::ArrayRef, llvm::SmallVector;

constexpr uint32_t kPiece = SharedLayout::kPiece, kWord = 4, kBanks = 32; // bytes, but for the banks

SharedLayout::SharedLayout(ArrayRef<int64_t> shape, unsigned elementBytes, unsigned contiguous, unsigned swizzle,
                           unsigned piece)
    : shape_(shape.begin(), shape.end()), elementBytes_(elementBytes), contiguous_(contiguous), swizzle_(swizzle),
      piece_(piece) {
  rowBytes_ = uint32_t(shape_[contiguous]) * elementBytes;
  if (swizzle) rowBytes_ = std::min(rowBytes_, swizzle);
  bytes_ = elementBytes;
  for (int64_t extent : shape_) bytes_ *= uint32_t(extent);
}

unsigned SharedLayout::widestSwizzle(ArrayRef<int64_t> shape, unsigned elementBytes, unsigned contiguous) {
  uint64_t row = uint64_t(shape[contiguous]) * elementBytes;
  return row >= 128 ? 128 : row >= 32 ? unsigned(row) : 0;
}

uint32_t SharedLayout::offsetOf(uint32_t element) const {
  if (shape_.size() == 1) return element * elementBytes_;
  llvm::SmallVector<int64_t, 5> at = LinearLayout(shape_, {}).coordinates(element);
  unsigned rank = unsigned(shape_.size()), other = contiguous_ == rank - 1 ? rank - 2 : rank - 1;
  uint32_t along = uint32_t(at[contiguous_]) * elementBytes_, rows = uint32_t(shape_[other]);
  uint32_t offset = along / rowBytes_ * rows * rowBytes_ + uint32_t(at[other]) * rowBytes_ + along % rowBytes_;
  if (swizzle_) offset ^= (offset >> 7 & (swizzle_ / piece_ - 1)) * piece_;
  uint32_t tile = uint32_t(shape_[rank - 1] * shape_[rank - 2]) * elementBytes_;
  uint32_t number = element >> llvm::Log2_64(uint64_t(shape_[rank - 1] * shape_[rank - 2]));
  return number * tile + offset;
}

LinearLayout SharedLayout::inMemory(const LinearLayout& registers) const {
  std::array<LinearLayout::Bases, 4> bases;
  for (Part part : kParts)
    for (uint32_t basis : registers.bases(part)) bases[size_t(part)].push_back(offsetOf(basis));
  return LinearLayout({int64_t(bytes_)}, std::move(bases));
}

bool readsWordsApart(const LinearLayout& inMemory, unsigned elementBytes) {
  if (elementBytes != kWord) return false;
  llvm::SmallSet<uint32_t, kBanks> banks{0};
  for (uint32_t basis : inMemory.bases(Part::Lane)) {
    SmallVector<uint32_t, kBanks> others;
    for (uint32_t bank : banks) others.push_back(bank ^ basis / kWord % kBanks);
    banks.insert_range(others);
  }
  return banks.size() == kBanks;
}

std::optional<MatrixLoad> MatrixLoad::of(const LinearLayout& inMemory, unsigned elementBytes) {
  const LinearLayout::Bases &registers = inMemory.bases(Part::Register), &lanes = inMemory.bases(Part::Lane);
  if (lanes.size() != 5 || elementBytes > kWord) return std::nullopt;
  MatrixLoad load;
  auto isRow = [&](auto rows) { // whole pieces of 16 bytes lie behind all bits but those inside a piece
    return llvm::all_of(rows, [](uint32_t basis) { return basis % kPiece == 0; });
  };
  for (uint32_t bytes = elementBytes; bytes < kWord; bytes *= 2) {
    const auto* found = llvm::find(registers, bytes);
    if (found == registers.end()) break;
    load.packed.push_back(uint32_t(found - registers.begin()));
  }
  bool isWhole = elementBytes << load.packed.size() == kWord;
  if (!isWhole || lanes[0] != kWord || lanes[1] != 2 * kWord) {
    // Transposed: a lane's word are two elements of different rows.
    if (elementBytes != 2 || registers.empty() || registers[0] == 0) return std::nullopt;
    if (lanes[2] != 2 || lanes[3] != 4 || lanes[4] != 8) return std::nullopt;
    load.transposed = true;
    load.packed.assign(1, 0);
    if (!isRow(ArrayRef<uint32_t>(lanes).take_front(2))) return std::nullopt;
  } else if (!isRow(ArrayRef<uint32_t>(lanes).drop_front(2))) {
    return std::nullopt;
  }
  for (uint32_t bit = 0; bit < registers.size(); ++bit)
    if (!llvm::is_contained(load.packed, bit)) {
      if (registers[bit] % kPiece) return std::nullopt;
      load.words.push_back(bit);
    }
  if (load.transposed && registers[0] % kPiece) return std::nullopt;
  return isRow(inMemory.bases(Part::Warp)) ? std::optional(load) : std::nullopt;
}

} // namespace tiletwin::codegen
