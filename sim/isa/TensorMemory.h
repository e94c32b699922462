// sim/isa/TensorMemory.h -- the tensor memory of a CTA: 128 lanes of 512 columns of 32 bits, which tcgen05 uses.
//
// Here:      cells, allocations, which cells have been written, addresses and what is checked of them.
// Not here:  products and copies from shared memory (TensorWork.h), loads and stores (TensorTransfer.cpp), the text of the
//            instructions (Tcgen05Decode.cpp).
// Source:    PTX ISA, "Tensor Memory" and the sections of tcgen05.alloc, .dealloc and .relinquish_alloc_permit.
// Idea:      each CTA has a whole multiprocessor's tensor memory for itself: on a GPU, CTAs that share one wait for each other.
// Invariant: used by the one thread that runs the cluster. No instruction reads or writes a cell without reaches().
#pragma once
#include "sim/isa/TensorWork.h"
#include "sim/machine/Warp.h"
#include <bitset>
#include <cstdint>
#include <deque>
#include <vector>

namespace tiletwin::sim {

inline constexpr int kTensorLanes = 128, kTensorColumns = 512;

/// An address in tensor memory: the lane in the upper half, the column in the lower one.
struct TensorAddress {
  int lane = 0, column = 0;
  TensorAddress() = default;
  explicit TensorAddress(uint32_t bits) : lane(int(bits >> 16)), column(int(bits & 0xFFFF)) {}
};

/// A rectangle of cells.
struct TensorRange {
  int lane = 0, lanes = 0, column = 0, columns = 0;
  bool meets(const TensorRange& other) const {
    return lane < other.lane + other.lanes && other.lane < lane + lanes && column < other.column + other.columns &&
           other.column < column + columns;
  }
};

class TensorMemory {
public:
  struct Allocation {
    int first = 0, columns = 0;
    const Warp* warp = nullptr;
    const Inst* inst = nullptr;
  };
  /// A load or a store that its warp has not waited for.
  struct Access {
    const Warp* warp = nullptr;
    const Inst* inst = nullptr;
    TensorRange range;
  };

  uint32_t* row(int lane) { return &cells_[size_t(lane) * kTensorColumns]; }
  /// The first column of a free range that begins at a multiple of its length, or -1.
  int findFree(int columns) const;
  void allocate(const Allocation& allocation);
  /// False: there is no such allocation.
  bool free(int first, int columns);
  bool isAllocated(int column, int columns) const;
  void wrote(const TensorRange& range);
  bool isWritten(const TensorRange& range) const;

  std::vector<Allocation> allocations;
  bool mayAllocate = true;     ///< no tcgen05.relinquish_alloc_permit so far
  std::deque<TensorWork> work; ///< that the CTA's threads have issued and that has not landed, in the order of issue
  std::vector<Access> loads, stores;
  uint32_t issued = 0; ///< pieces of work so far

private:
  std::vector<uint32_t> cells_ = std::vector<uint32_t>(size_t(kTensorLanes) * kTensorColumns);
  std::vector<std::bitset<kTensorColumns>> written_ = std::vector<std::bitset<kTensorColumns>>(kTensorLanes);
};

/// Made by the first instruction that needs it.
TensorMemory& tensorMemoryOf(Cta& cta);

/// Are all these cells allocated? False: a trap was raised, on behalf of `lane` of the warp (-1: all lanes).
bool reaches(Warp& warp, Cta& cta, const TensorRange& range, int lane);

/// Inst::data of tcgen05.alloc and tcgen05.dealloc.
struct TensorAllocationForm {
  AddressOperand to; ///< alloc: where the address goes
  Slot address;      ///< dealloc
  Slot columns;
};
Step runTensorAlloc(const Inst& in, Warp& warp, LaneMask active);
Step runTensorDealloc(const Inst& in, Warp& warp, LaneMask active);
Step runTensorRelinquish(const Inst& in, Warp& warp, LaneMask active);

/// What tcgen05.ld and .st move: `lanes` lanes of `columns` columns, taken `count` times. Inst::data.
struct TensorTransfer {
  enum class Shape : uint8_t { Lanes32, Lanes16x64, Lanes16x128, Lanes16x256, Halves16x32 };
  Shape shape = Shape::Lanes32;
  int count = 1;
  bool packs = false;     ///< a register holds the low halves of two neighbouring columns
  int64_t secondHalf = 0; ///< Halves16x32: columns between what the lower and the upper half of the warp take
  AddressOperand address;
  std::vector<Slot> registers;

  int lanes() const { return shape == Shape::Lanes32 ? 32 : 16; }
  /// Of 32 bits, of one of the two halves in Halves16x32.
  int columns() const;
  struct Cell {
    int lane, column; ///< from the address on
  };
  /// The first of the columns (two if `packs`) that a register of a thread of the warp has its bits from.
  Cell cell(int thread, int reg) const;
};
Step runTensorLoad(const Inst& in, Warp& warp, LaneMask active);
Step runTensorStore(const Inst& in, Warp& warp, LaneMask active);
Step runTensorWaitLoad(const Inst& in, Warp& warp, LaneMask active);
Step runTensorWaitStore(const Inst& in, Warp& warp, LaneMask active);

} // namespace tiletwin::sim
