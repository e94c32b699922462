// sim/isa/MatrixFragment.h -- which lane of a warp holds which element of a matrix: the layouts that mma.sync, wmma and wgmma share.
//
// Here:      fragments to lines and sums (numerics/TensorCore.h), and back; TileProduct, a product of whole fragments.
// Not here:  the text of instructions (Mma.cpp, Wmma.cpp, Wgmma.cpp), the sums (numerics/).
// Idea:      lane 4 * g + t holds, of each group of eight rows of A (columns of B), row g, and of 16 bytes along k the bytes 4 * t
//            to 4 * t + 3. So a row's 16 bytes are the same register of four neighbouring lanes, in order.
// Source:    PTX ISA, "Warp-level matrix instructions", matrix fragments for mma.
#pragma once
#include "sim/isa/Decode.h"
#include "sim/machine/Warp.h"
#include "sim/numerics/TensorCore.h"
#include <array>
#include <string_view>

namespace tiletwin::sim {

inline constexpr int kMaxFragment = 8; ///< registers of one operand of mma and wmma
using FragmentSlots = std::array<Slot, kMaxFragment>;

/// Registers of a fragment, in the order of the text: `{...}`, or one register without braces. False: fail() was called.
bool decodeFragment(Decoder& decoder, const ptx::Operand& operand, ptx::Type type, int count, FragmentSlots& slots,
                    bool isDestination = false);

/// All 32 lanes of the warp, which `.sync.aligned` instructions of matrices need. Next: they are in `active`.
Step gatherWarp(Warp& warp, LaneMask& active);

/// 8 * groups rows (columns): register r holds rows of group r % groups and the bytes from 16 * (r / groups) on.
void gatherLines(Warp& warp, const Slot* slots, int groups, int blocks, TileLine* lines);

/// One 8 x 8 block of an accumulator: lane 4 * g + t holds columns 2 * t and 2 * t + 1 of row g; two registers.
template <class T> void gatherBlock(Warp& warp, const Slot* slots, T (*rows)[kTileColumns]) {
  const T *even = warp.lanes<T>(slots[0]), *odd = warp.lanes<T>(slots[1]);
  T* flat = rows[0];
  for (int lane = 0; lane < kLanes; ++lane) flat[2 * lane] = even[lane], flat[2 * lane + 1] = odd[lane];
}
template <class T> void scatterBlock(Warp& warp, const Slot* slots, const T (*rows)[kTileColumns]) {
  T *even = warp.lanes<T>(slots[0]), *odd = warp.lanes<T>(slots[1]);
  const T* flat = rows[0];
  for (int lane = 0; lane < kLanes; ++lane) even[lane] = flat[2 * lane], odd[lane] = flat[2 * lane + 1];
}
/// The same for floats of either type of accumulator: two registers of f32, or one of f16x2.
void gatherFloats(Warp& warp, Accumulator type, const Slot* slots, float (*rows)[kTileColumns]);
void scatterFloats(Warp& warp, Accumulator type, const Slot* slots, const float (*rows)[kTileColumns]);
/// Registers of a block.
inline int registersOf(Accumulator type) { return type == Accumulator::F16 ? 1 : 2; }

/// x + y as an instruction outside of the tensor cores gives it: to the nearest f32 or f16, NaN as ever.
float addPlainly(float x, float y, Accumulator type);

/// d = a * b + c over a warp's fragments. Inst::data of mma.sync and wmma.mma.
struct TileProduct {
  enum class Unit : uint8_t {
    Float,
    /// sm_90 has no mma of fp8: ptxas makes two products of f16 that start from zero (of each four elements along k the first
    /// two are in one, the others in the next), and adds C to their sum.
    WidenedFp8,
    Integer,
    Bits,
    Double
  };
  Unit unit = Unit::Float;
  TensorFloat aFormat = TensorFloat::F16, bFormat = TensorFloat::F16;
  Accumulator c = Accumulator::F32, d = Accumulator::F32;
  IntegerFormat aInteger, bInteger;
  bool saturate = false;
  BitOperation bits = BitOperation::Xor;
  DoubleRounding rounding = DoubleRounding::Nearest;
  uint8_t rowGroups = 2, columnGroups = 1; ///< of eight
  uint8_t blocks = 1;                      ///< of 16 bytes along k; Double: of four elements
  bool oneBlockAtATime = false;            ///< tf32 of wmma: four products and the accumulator, then the next four
  FragmentSlots aSlots, bSlots, cSlots, dSlots;

  /// Registers that the operands take.
  int aRegisters() const { return rowGroups * blocks; }
  int bRegisters() const { return columnGroups * blocks; }
  int accumulatorRegisters(Accumulator type) const { return rowGroups * columnGroups * registersOf(type); }
};
/// Execute of all of them.
Step runTileProduct(const Inst& in, Warp& warp, LaneMask active);
/// d, a, b, c of a product whose shape and types are set.
bool decodeTileProduct(Decoder& decoder, const ptx::Instruction& in, int aRegisters, int bRegisters, TileProduct& p,
                       Inst& out);

/// A type of operands: "f16", "e4m3", "s8", ...
struct TileType {
  std::string_view name;
  TileProduct::Unit unit;
  TensorFloat format; ///< Float, WidenedFp8
  IntegerFormat integer;
  int bits;
};
/// Null if `name` is no type of operands of mma.
const TileType* findTileType(std::string_view name);
/// Fills units, formats and blocks; k: elements along k. False: the two types do not go together.
bool setOperandTypes(TileProduct& product, const TileType& a, const TileType& b, int k);

} // namespace tiletwin::sim
