// codegen/layout/LinearLayout.cpp -- the map, its inverse by elimination, and what shape operations do to it.
#include "codegen/layout/LinearLayout.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cassert>

using llvm::ArrayRef;
using llvm::SmallVector;

namespace tiletwin::codegen {

const char* partName(Part part) {
  constexpr const char* kNames[] = {"register", "lane", "warp", "block"};
  return kNames[size_t(part)];
}

LinearLayout::LinearLayout(ArrayRef<int64_t> shape, std::array<Bases, 4> bases)
    : shape_(shape.begin(), shape.end()), bases_(std::move(bases)) {}

unsigned LinearLayout::elementBits() const {
  unsigned bits = 0;
  for (int64_t extent : shape_) bits += llvm::Log2_64(uint64_t(extent));
  return bits;
}
unsigned LinearLayout::dimensionBits(unsigned dimension) const { return llvm::Log2_64(uint64_t(shape_[dimension])); }
unsigned LinearLayout::dimensionShift(unsigned dimension) const {
  unsigned shift = 0;
  for (unsigned d = dimension + 1; d < rank(); ++d) shift += dimensionBits(d);
  return shift;
}
uint32_t LinearLayout::dimensionMask(unsigned dimension) const {
  return ((1u << dimensionBits(dimension)) - 1) << dimensionShift(dimension);
}

uint32_t LinearLayout::freeMask(Part part) const {
  uint32_t mask = 0;
  for (auto [bit, basis] : llvm::enumerate(bases(part)))
    if (basis == 0) mask |= 1u << bit;
  return mask;
}

uint32_t LinearLayout::elementOf(Part part, uint32_t index) const {
  uint32_t element = 0;
  for (auto [bit, basis] : llvm::enumerate(bases(part)))
    if (index >> bit & 1) element ^= basis;
  return element;
}

uint32_t LinearLayout::elementAt(const Place& place) const {
  return elementOf(Part::Register, place.registerIndex) ^ elementOf(Part::Lane, place.lane) ^
         elementOf(Part::Warp, place.warp) ^ elementOf(Part::Block, place.block);
}

Place LinearLayout::placeOf(uint32_t element) const {
  // Gauss: rows are (basis, the hardware bits that give it), reduced so that each has a leading bit of its own.
  struct Row {
    uint32_t basis;
    std::array<uint32_t, 4> bits;
  };
  SmallVector<Row, 20> rows;
  auto reduce = [&](Row row) {
    for (const Row& other : rows)
      if (row.basis & llvm::bit_floor(other.basis)) {
        row.basis ^= other.basis;
        for (size_t p = 0; p < 4; ++p) row.bits[p] ^= other.bits[p];
      }
    return row;
  };
  for (Part part : kParts)
    for (auto [bit, basis] : llvm::enumerate(bases(part))) {
      Row row{basis, {}};
      row.bits[size_t(part)] = 1u << bit;
      row = reduce(row);
      if (row.basis) rows.push_back(row);
    }
  // A row holds no leading bit of the rows before it, so going through them once clears all.
  Row wanted = reduce({element, {}});
  assert(wanted.basis == 0 && "the layout does not cover the element");
  return {wanted.bits[0], wanted.bits[1], wanted.bits[2], wanted.bits[3]};
}

SmallVector<int64_t, 5> LinearLayout::coordinates(uint32_t element) const {
  SmallVector<int64_t, 5> result(rank());
  for (unsigned d = 0; d < rank(); ++d) result[d] = (element & dimensionMask(d)) >> dimensionShift(d);
  return result;
}

uint32_t LinearLayout::flatIndex(ArrayRef<int64_t> coordinates) const {
  uint32_t element = 0;
  for (unsigned d = 0; d < rank(); ++d) element |= uint32_t(coordinates[d]) << dimensionShift(d);
  return element;
}

std::string LinearLayout::fault() const {
  SmallVector<uint32_t, 20> reduced;
  unsigned total = elementBits();
  for (Part part : kParts)
    for (uint32_t basis : bases(part)) {
      if (basis == 0) continue;
      if (basis >> total) return std::string("a basis of ") + partName(part) + " lies outside of the tile";
      for (uint32_t other : reduced)
        if (basis & llvm::bit_floor(other)) basis ^= other;
      if (basis == 0) return std::string("a basis of ") + partName(part) + " is the sum of others";
      reduced.push_back(basis);
    }
  if (reduced.size() != total)
    return "it holds " + std::to_string(1u << reduced.size()) + " of the tile's " + std::to_string(1u << total) +
           " elements";
  return {};
}

std::string LinearLayout::text() const {
  std::string result;
  llvm::raw_string_ostream out(result);
  for (Part part : kParts) {
    out << (part == Part::Register ? "" : ", ") << partName(part) << " = [";
    for (auto [bit, basis] : llvm::enumerate(bases(part))) {
      out << (bit ? ", [" : "[");
      for (auto [d, coordinate] : llvm::enumerate(coordinates(basis))) out << (d ? ", " : "") << coordinate;
      out << ']';
    }
    out << ']';
  }
  return result;
}

namespace {

/// Applies a function to every basis.
template <class Change> std::array<LinearLayout::Bases, 4> mapBases(const LinearLayout& layout, Change change) {
  std::array<LinearLayout::Bases, 4> bases;
  for (Part part : kParts)
    for (uint32_t basis : layout.bases(part)) bases[size_t(part)].push_back(change(basis));
  return bases;
}

} // namespace

LinearLayout LinearLayout::reshaped(ArrayRef<int64_t> shape) const {
  LinearLayout result(shape, bases_);
  assert(result.elementBits() == elementBits());
  return result;
}

LinearLayout LinearLayout::transposed(ArrayRef<int32_t> order) const {
  SmallVector<int64_t, 5> shape;
  for (int32_t d : order) shape.push_back(shape_[d]);
  LinearLayout result(shape, {});
  result.bases_ = mapBases(*this, [&](uint32_t basis) {
    SmallVector<int64_t, 5> from = coordinates(basis), to;
    for (int32_t d : order) to.push_back(from[d]);
    return result.flatIndex(to);
  });
  return result;
}

LinearLayout LinearLayout::withoutDimension(unsigned axis) const {
  SmallVector<int64_t, 5> ones(shape_.begin(), shape_.end()), shape(ones);
  ones[axis] = 1;
  shape.erase(shape.begin() + axis);
  return beforeBroadcast(ones).reshaped(shape);
}

LinearLayout LinearLayout::beforeBroadcast(ArrayRef<int64_t> shape) const {
  LinearLayout result(shape, {});
  result.bases_ = mapBases(*this, [&](uint32_t basis) {
    SmallVector<int64_t, 5> at = coordinates(basis);
    for (unsigned d = 0; d < rank(); ++d)
      if (shape[d] == 1) at[d] = 0;
    return result.flatIndex(at);
  });
  return result;
}

LinearLayout LinearLayout::joined() const {
  SmallVector<int64_t, 5> shape(shape_.begin(), shape_.end());
  shape.push_back(2);
  LinearLayout result(shape, mapBases(*this, [](uint32_t basis) { return basis << 1; }));
  Bases& registers = result.bases_[size_t(Part::Register)];
  registers.insert(registers.begin(), 1u);
  return result;
}

std::optional<LinearLayout> LinearLayout::split() const {
  SmallVector<int64_t, 5> shape(shape_.begin(), shape_.end() - 1);
  LinearLayout result(shape, mapBases(*this, [](uint32_t basis) { return basis >> 1; }));
  Bases& registers = result.bases_[size_t(Part::Register)];
  auto found = llvm::find(bases(Part::Register), 1u);
  if (shape_.back() != 2 || found == bases(Part::Register).end()) return std::nullopt;
  registers.erase(registers.begin() + (found - bases(Part::Register).begin()));
  if (!result.fault().empty()) return std::nullopt;
  return result;
}

LinearLayout LinearLayout::concatenated() const {
  LinearLayout result = *this;
  result.shape_[0] *= 2;
  result.bases_[size_t(Part::Register)].push_back(1u << elementBits());
  return result;
}

LinearLayout LinearLayout::firstHalf() const {
  LinearLayout result = *this;
  result.shape_[0] /= 2;
  assert(bases(Part::Register).back() == 1u << result.elementBits() && "not a layout that concatenated() gave");
  result.bases_[size_t(Part::Register)].pop_back();
  return result;
}

LinearLayout LinearLayout::withoutRepeatedRegisters() const {
  LinearLayout result = *this;
  llvm::erase(result.bases_[size_t(Part::Register)], 0u);
  return result;
}

uint32_t LinearLayout::distinctRegister(uint32_t number) const {
  uint32_t distinct = 0, place = 0;
  for (auto [bit, basis] : llvm::enumerate(bases(Part::Register)))
    if (basis) distinct |= (number >> bit & 1) << place++;
  return distinct;
}

LinearLayout LinearLayout::blocked(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizePerThread, ArrayRef<int64_t> lanes,
                                   ArrayRef<int64_t> warps, ArrayRef<int32_t> order) {
  LinearLayout result(shape, {});
  SmallVector<unsigned, 5> used(shape.size(), 0); // bits of each dimension that have an owner
  auto take = [&](Part part, int32_t d, int64_t count, bool repeat) {
    for (int64_t i = 1; i < count; i *= 2) {
      bool left = used[d] < result.dimensionBits(d);
      if (left)
        result.bases_[size_t(part)].push_back(1u << (result.dimensionShift(d) + used[d]++));
      else if (repeat)
        result.bases_[size_t(part)].push_back(0);
    }
  };
  for (int32_t d : order) take(Part::Register, d, sizePerThread[d], false);
  for (int32_t d : order) take(Part::Lane, d, lanes[d], true);
  for (int32_t d : order) take(Part::Warp, d, warps[d], true);
  for (int32_t d : order) take(Part::Register, d, shape[d], false);
  return result;
}

LinearLayout LinearLayout::coalesced(ArrayRef<int64_t> shape, int64_t elementsPerThread, ArrayRef<int32_t> order,
                                     unsigned laneBits, unsigned warpBits, Warps placed) {
  unsigned n = shape.size();
  SmallVector<int64_t, 5> perThread(n, 1), lanes(n, 1), warps(n, 1), left(shape.begin(), shape.end());
  auto give = [&](SmallVector<int64_t, 5>& counts, int32_t d, int64_t& budget) {
    int64_t count = std::min(left[d], budget);
    counts[d] *= count, left[d] /= count, budget /= count;
  };
  int64_t elements = elementsPerThread, threads = int64_t(1) << laneBits, groups = int64_t(1) << warpBits;
  for (int32_t d : order) give(perThread, d, elements);
  for (int32_t d : order) give(lanes, d, threads);
  SmallVector<int32_t, 5> warpOrder(order);
  if (placed == Warps::OnRows) std::reverse(warpOrder.begin(), warpOrder.end());
  for (int32_t d : warpOrder) give(warps, d, groups);
  // What is left over repeats elements.
  lanes[order.back()] *= threads, warps[order.back()] *= groups;
  if (placed == Warps::BesideLanes) // a thread's elements are neighbours along the other dimensions
    for (int32_t d : order.drop_front()) perThread[d] *= left[d];
  return blocked(shape, perThread, lanes, warps, order);
}

} // namespace tiletwin::codegen
