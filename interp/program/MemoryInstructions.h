// interp/program/MemoryInstructions.h -- where operands are, and the operand structs of instructions that access memory.
//
// Here:      cells, tiles and views; affine accesses, gathers, tensor descriptors.
// Not here:  the functions that run them, and all other operand structs (Instructions.h); atomics (WaitInstructions.h).
// Invariant: an Off is an arena offset once the plan is final; offsets of tiles are multiples of 64.
#pragma once
#include "interp/program/Plan.h"
#include <cstdint>
#include <vector>

namespace tiletwin::interp {

inline constexpr int kMaxRank = 24;

/// Arena offset; the planner patches it when registers get their places.
struct Off {
  uint32_t v = 0;
};

/// A launch-, program- or loop-uniform integer: a constant or an 8-byte cell.
struct UniformOperand {
  bool constant = true;
  int64_t value = 0;
  Off cell;
  int64_t get(Frame& f) const; // run/Execute.h
};

/// Byte stride along one dimension: a constant, or the cell-th stride of a memory view's descriptor.
struct DimStride {
  int64_t value = 0;
  int32_t cell = -1;
};

/// What a load leaves for its readers, in the arena: where the tile is. Strides (int64 each) follow.
struct ViewDescriptor {
  static constexpr int64_t kWhole = INT64_MAX;
  std::byte* data;
  uintptr_t lo, hi;        ///< user memory the view covers; lo == hi: the tile is a copy
  const std::byte* source; ///< a copy: where the first element would be in user memory; null: nowhere that would help
  uint64_t fill;           ///< one element: the value of a load that reads nothing, and of what is not there
  /// Elements of a row that a mask has cut, in memory one after the other; the others are `fill`. kWhole: all there are.
  int64_t there;
  int64_t* strides() { return reinterpret_cast<int64_t*>(this + 1); }
};

struct LoadOp;

/// A tile somewhere: dense or strided in the arena, or behind a ViewDescriptor.
struct TileOperand {
  Off base;                     ///< the tile, or the descriptor if `view`
  const LoadOp* view = nullptr; ///< the load that fills the descriptor
  int64_t offset = 0;           ///< bytes added to the first element's address
  std::vector<DimStride> strides;
};

/// Offsets whose type may wrap around: inside the box of their access they must not.
struct OffsetGuard {
  UniformOperand base;
  std::vector<UniformOperand> strides; ///< per dimension of the access
  int64_t min = 0, max = 0;            ///< of their type
};

/// One affine access: element i of the tile is at base + sum_d strides[d] * i_d, inside box lo[d] <= i_d < hi[d].
struct Access {
  UniformOperand base;
  std::vector<UniformOperand> strides; ///< bytes
  std::vector<int64_t> shape;
  bool masked = false;
  std::vector<UniformOperand> lo, hi; ///< if masked; may lie outside [0, shape[d])
  int32_t elementBytes = 0;
  int32_t root = -1; ///< argument the pointer comes from, or -1
  const char* operation = "tt.load";
  const OffsetGuard* guard = nullptr;
};

struct LoadOp {
  Access access;
  Off descriptor;
  Off tile;               ///< reserved space, dense
  bool forceCopy = false; ///< a reader may run after memory was written, or `dense`
  bool dense = false;     ///< readers look into `tile` itself, not through the descriptor
  bool hasOther = false;
  Off other; ///< cell with the fill value
  bool otherIsTile = false;
  Off otherTile;         ///< dense, if otherIsTile
  bool kept = false;     ///< each program of a launch reads the same: `state` is a cell, not 0 once that is there
  Off state;             ///< the cell, the descriptor and the tile outlive the program
  int32_t tableDim = -1; ///< execRowsLoad: the dimension along which addresses have a table's entry added
  Off table;             ///< dense i64
};

/// table[i at dim] + base + sum strides[d] * i_d stays inside [min, max]; else the program leaves, as restart() says.
struct RowsCheckOp {
  UniformOperand base;
  std::vector<UniformOperand> strides;
  std::vector<int64_t> shape;
  Off table;
  int64_t entries = 0, min = 0, max = 0;
  int32_t dim = 0;
};

struct GatherOp { ///< load or store with materialised addresses, all dense
  std::vector<int64_t> shape;
  int64_t elements = 0;
  int32_t elementBytes = 0;
  int32_t root = -1;
  bool isStore = false;
  Off address, data;
  bool hasMask = false;
  Off mask;
  int otherKind = 0; ///< 0 none, 1 cell, 2 tile
  Off other;
  bool dataIsCell = false; ///< store of one uniform value
  TwGatherFn gather = nullptr;
  TwScatterFn scatter = nullptr;
  const char* operation = "tt.load";
};

// ---- tensor descriptors ----

/// A descriptor's base and strides (elements) are as the hardware needs them; else the program traps.
struct DescriptorCheckOp {
  UniformOperand base;
  std::vector<UniformOperand> strides;
  int32_t elementBytes = 0;
};

/// What a load left is rounded to the 10 mantissa bits of tf32, in a copy of its own.
struct RoundLoadedOp {
  TileOperand tile;      ///< of f32: the load's view, or a dense tile
  UniformOperand rounds; ///< 0: nothing is done
  int64_t elements = 0;
};

/// Rows of a tensor of two dimensions by number: tile row i is row rows[i], from column `column` on.
struct DescriptorRowsOp {
  std::vector<int64_t> shape;                         ///< of the tile
  UniformOperand base, rowStride, extents[2], column; ///< rowStride in bytes
  int32_t elementBytes = 0, indexBytes = 4;
  int32_t root = -1;
  bool isStore = false;
  Off rows, data; ///< dense
  bool hasFill = false;
  Off fill; ///< cell: what elements outside read as; zero without it
  TwStridedCopyFn copy = nullptr;
  const char* operation = "tt.descriptor_gather";
};

/// memory[i] = kind(memory[i], source[i]) for n elements `stride` bytes apart; each atomically, source contiguous.
using DescriptorReduceFn = void (*)(int64_t n, std::byte* memory, int64_t stride, const std::byte* source);
/// As in the IR (tt::DescriptorReduceKind).
enum class DescriptorReduceKind : uint8_t { Add = 1, Min, Max, Inc, Dec, And, Or, Xor };
/// Null if the combination does not exist.
DescriptorReduceFn descriptorReduceFn(DescriptorReduceKind kind, DType type, bool isUnsigned);

struct DescriptorReduceOp {
  Access access;
  DescriptorReduceFn fn = nullptr;
  Off data; ///< dense
};

struct ScalarAccessOp {
  Off address, data;
  bool hasMask = false, hasOther = false, signExtend = false;
  Off mask, other;
  int32_t bytes = 0;
  int32_t root = -1;
  const char* operation = "tt.load";
};

} // namespace tiletwin::interp
