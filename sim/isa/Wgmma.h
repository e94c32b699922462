// sim/isa/Wgmma.h -- wgmma: products of a warpgroup whose operands lie in shared memory and whose results come later.
//
// Here:      WarpProducts, a warp's products on their way, which a check may ask who uses a register or a byte of shared memory.
// Not here:  the text of the instructions (WgmmaDecode.cpp), the sums (numerics/TensorCore.h), layouts of registers (MatrixFragment.h).
// Idea:      wgmma.mma_async only queues a product. By default it is computed at the latest moment that is allowed, when a wait_group
//            wants its group: until then accumulators hold what they held, and what is written to shared memory in between is
//            what the product sees. A in registers is copied when the product is queued, since registers that are not used
//            any more may be given to others. Each warp of the warpgroup computes its 16 rows.
// Invariant: products of a warp are computed in the order in which they were queued.
#pragma once
#include "sim/isa/Decode.h"
#include "sim/isa/MmaSparse.h"
#include "sim/machine/Warp.h"
#include "sim/numerics/TensorCore.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tiletwin::sim {

/// A matrix in shared memory, as a descriptor gives it; all in bytes.
struct MatrixDescriptor {
  uint32_t start = 0;   ///< offset in the CTA's shared memory
  uint32_t leading = 0; ///< leading dimension byte offset
  uint32_t stride = 0;  ///< stride dimension byte offset
  uint8_t baseOffset = 0;
  uint8_t swizzleBytes = 0; ///< 128, 64, 32, or 0: none
};
MatrixDescriptor decodeDescriptor(uint64_t bits);

/// Where 16 bytes of a matrix lie. Along k: line (row of A, column of B) `line`, `unit` from 0 on. Across: lines 8 * unit to
/// 8 * unit + 7 of element k.
uint32_t unitAlongK(const MatrixDescriptor& descriptor, int line, int unit);
uint32_t unitAcross(const MatrixDescriptor& descriptor, int unit, int k);

/// What an instruction says; Inst::data.
struct WgmmaPlan {
  enum class Unit : uint8_t { Float, Integer, Bits };
  Unit unit = Unit::Float;
  TensorFloat aFormat = TensorFloat::F16, bFormat = TensorFloat::F16;
  IntegerFormat aInteger, bInteger;
  Accumulator accumulator = Accumulator::F32;
  bool saturate = false;
  bool aInRegisters = false, aAcross = false, bAcross = false; ///< across: M- or N-major
  bool negateA = false, negateB = false;
  bool isSparse = false; ///< half of A is there
  SparseForm sparse;     ///< ... and this says which
  Slot metadata;
  uint16_t n = 8;
  uint8_t k = 16;      ///< elements of a row of A; b1: words
  std::vector<Slot> d; ///< n / 2 registers, f16: n / 4
  /// Numbers of the registers of D and, if they are registers, of A among those that wgmma names in this function.
  std::vector<uint16_t> dNumbers, aNumbers;
  Slot a[4];   ///< four registers, or a descriptor in a[0]
  Slot b;      ///< descriptor
  Slot scaleD; ///< predicate: whether D is added

  int unitsOfB() const { return isSparse ? 4 : 2; } ///< of 16 bytes along k
};

struct WarpProducts {
  struct Product {
    const Inst* inst = nullptr;
    const WgmmaPlan* plan = nullptr;
    std::byte* registers = nullptr; ///< of the call that queued it
    uint64_t group = 0;
    MatrixDescriptor a, b;
    bool addsToD = true;
    uint64_t due = 0; ///< the cluster's turn at which it lands, waited for or not
    /// All that is read of shared memory lies between these offsets: [0] B, [1] A, empty if it was in registers.
    std::array<uint32_t, 2> low{}, high{};
    bool isNear(uint64_t offset, uint64_t bytes) const {
      return (offset < high[0] && low[0] < offset + bytes) || (offset < high[1] && low[1] < offset + bytes);
    }
    std::byte rows[16][32];            ///< A, if it was in registers
    std::array<uint64_t, 16> metadata; ///< of rows, if A is sparse
  };
  /// What the check of asynchronous operations knows of a register that wgmma names.
  struct Register {
    const Inst* touched = nullptr;     ///< used by this instruction since the last wgmma.fence; null: by none
    uint16_t writers = 0, readers = 0; ///< products on their way
  };
  std::vector<Product> pending;     ///< oldest first
  uint64_t group = 0;               ///< groups committed so far; new products belong to the next one
  bool isFenced = false;            ///< there was a wgmma.fence
  const std::byte* frame = nullptr; ///< registers of the call that `registers` is about
  std::vector<Register> registers;  ///< by number; empty: nobody looks on

  /// The pending product that reads any of these bytes of its CTA's shared memory, or null.
  const Product* reader(const Warp& warp, uint32_t offset, uint32_t bytes) const;
  /// Adds to the products that are on their way to a product's registers; check/ProductCheck.cpp.
  void count(const Product& product, int by);
};

WarpProducts& productsOf(Warp& warp);
/// Inst::run of wgmma.mma_async; Inst::data is a WgmmaPlan.
Step runWgmmaProduct(const Inst& in, Warp& warp, LaneMask active);
Step runWgmmaCommit(const Inst& in, Warp& warp, LaneMask active);
Step runWgmmaWait(const Inst& in, Warp& warp, LaneMask active); ///< immediate: groups that may remain
Step runWgmmaFence(const Inst& in, Warp& warp, LaneMask active);

/// Lands the products of a warp that are due at a turn, and those in front of them; returns when the next one is.
uint64_t landDueProducts(Warp& warp, uint64_t turn);

/// Registers of wgmma that an instruction of another kind reads or writes.
struct ProductRegisterUses {
  std::vector<uint16_t> reads, writes; ///< numbers among those that wgmma names
};
/// An instruction in front of that one, for the check of asynchronous operations; Inst::data is a ProductRegisterUses.
Step runProductRegisterUses(const Inst& in, Warp& warp, LaneMask active);

} // namespace tiletwin::sim
