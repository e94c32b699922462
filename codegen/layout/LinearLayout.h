// codegen/layout/LinearLayout.h -- where the elements of a tile live: a linear map over F2 from hardware bits to element bits.
//
// Here:      the map, how shape operations change it, its inverse, ways to make it.
// Not here:  the attribute that a tensor type carries (dialect/), which layout is chosen (passes/), code (emit/).
//
// Idea: extents are powers of two, so an element is named by the bits of its flat row-major index. Each bit of the
// register number, lane, warp and CTA contributes one vector of such bits, its *basis*; the element held by
// (register, lane, warp, block) is the XOR of the bases of the bits that are set. expand_dims and reshape leave the map
// as it is, trans permutes bits. After "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2".
//
// Invariant: the bases that are not zero are linearly independent and span all element bits. A zero basis means that
// the element is held once more by the hardware that differs in that bit.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace tiletwin::codegen {

/// What a bit of the hardware's index numbers.
enum class Part : uint8_t { Register, Lane, Warp, Block };
inline constexpr std::array<Part, 4> kParts{Part::Register, Part::Lane, Part::Warp, Part::Block};
/// "register", "lane", "warp", "block".
const char* partName(Part part);

/// A place in the hardware: which register of which thread.
struct Place {
  uint32_t registerIndex = 0, lane = 0, warp = 0, block = 0;
  bool operator==(const Place&) const = default;
};

class LinearLayout {
public:
  using Bases = llvm::SmallVector<uint32_t, 8>; ///< one flat element index for each bit, lowest bit first

  LinearLayout() = default;
  /// Shape: extents, powers of two. The bases must obey the invariant; isValid() says whether they do.
  LinearLayout(llvm::ArrayRef<int64_t> shape, std::array<Bases, 4> bases);

  llvm::ArrayRef<int64_t> shape() const { return shape_; }
  unsigned rank() const { return shape_.size(); }
  /// log2 of the number of elements.
  unsigned elementBits() const;
  /// log2 of the extent of a dimension, and where its bits begin in the flat index (the last dimension's at 0).
  unsigned dimensionBits(unsigned dimension) const;
  unsigned dimensionShift(unsigned dimension) const;
  /// The flat-index bits of a dimension, as a mask.
  uint32_t dimensionMask(unsigned dimension) const;

  const Bases& bases(Part part) const { return bases_[size_t(part)]; }
  unsigned bits(Part part) const { return bases(part).size(); }
  uint32_t size(Part part) const { return 1u << bits(part); }
  /// Registers that a thread holds.
  uint32_t registers() const { return size(Part::Register); }
  /// Bits of a part whose basis is zero: hardware that differs in these holds the same elements.
  uint32_t freeMask(Part part) const;

  /// The flat index of the element at a place.
  uint32_t elementAt(const Place& place) const;
  uint32_t elementOf(Part part, uint32_t index) const;
  /// The place, with all free bits 0, that holds an element.
  Place placeOf(uint32_t element) const;
  /// Coordinates of a flat index.
  llvm::SmallVector<int64_t, 5> coordinates(uint32_t element) const;
  uint32_t flatIndex(llvm::ArrayRef<int64_t> coordinates) const;

  bool operator==(const LinearLayout& other) const = default;
  /// Why the invariant does not hold; empty if it does.
  std::string fault() const;
  /// "register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [], block = []".
  std::string text() const;

  // How shape operations of the language change it. Each gives the result's layout from the operand's.
  /// Row-major reshape, expand_dims, unsplat: the flat index stays.
  LinearLayout reshaped(llvm::ArrayRef<int64_t> shape) const;
  /// result dimension i is operand dimension order[i] (tt.trans).
  LinearLayout transposed(llvm::ArrayRef<int32_t> order) const;
  /// One dimension less: what differs along `axis` only is held more than once (result of a reduction).
  LinearLayout withoutDimension(unsigned axis) const;
  /// The operand of a broadcast that gives this layout: `shape` has 1 where the broadcast repeats.
  LinearLayout beforeBroadcast(llvm::ArrayRef<int64_t> shape) const;
  /// tt.join: a new last dimension of 2, as the lowest register bit. tt.split takes it away; null if it is no register.
  LinearLayout joined() const;
  std::optional<LinearLayout> split() const;
  /// tt.cat: dimension 0 twice as long, its highest bit the highest register bit; and the layout of one half.
  LinearLayout concatenated() const;
  LinearLayout firstHalf() const;
  /// Without register bits that only repeat elements.
  LinearLayout withoutRepeatedRegisters() const;
  /// The number that a register has in withoutRepeatedRegisters().
  uint32_t distinctRegister(uint32_t number) const;

  /// The usual distribution: each thread holds sizePerThread elements, threads of a warp and warps tile the rest in
  /// `order` (fastest dimension first); where the tile is larger the pattern repeats in registers, where it is smaller
  /// hardware repeats elements. All lists have one entry a dimension, powers of two.
  static LinearLayout blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> sizePerThread,
                              llvm::ArrayRef<int64_t> lanes, llvm::ArrayRef<int64_t> warps,
                              llvm::ArrayRef<int32_t> order);
  /// Where a coalesced layout's warps go: along the slowest dimension first, so that each works on whole rows, or on from where
  /// lanes end. What is left of the other dimensions then lies beside each other in a thread's registers.
  enum class Warps { OnRows, BesideLanes };
  /// A blocked layout with consecutive elements along `order[0]` in each thread and lanes filling the fastest dimension
  /// first. elementsPerThread: of consecutive elements (a vector access).
  static LinearLayout coalesced(llvm::ArrayRef<int64_t> shape, int64_t elementsPerThread, llvm::ArrayRef<int32_t> order,
                                unsigned laneBits, unsigned warpBits, Warps placed = Warps::OnRows);

private:
  llvm::SmallVector<int64_t, 5> shape_;
  std::array<Bases, 4> bases_;
};

} // namespace tiletwin::codegen
