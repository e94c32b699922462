// codegen/layout/TensorCores.h -- the tensor cores' instructions, and where their operands and results live.
//
// Here:      one row for each mma.sync shape and operand format, the layouts of a whole dot that is made of them.
// Not here:  which dots take which row (passes/DotLayouts.h), the instructions' text (emit/DotMma.cpp).
//
// Idea: a warp's matrix fragments obey one rule for all formats. Lanes 0-3 of a group take neighbours (along N for
//       results, along K for operands, so many that a 32-bit register is full), the eight groups take rows (of B:
//       columns), and what is left of the instruction's shape are further registers. Warps tile M, N and the batch; what
//       is left of the tile are registers again.
// Invariant: tiles smaller than the instruction along M or N repeat elements; along K they are never smaller.
#pragma once
#include "codegen/layout/LinearLayout.h"
#include "ir/GpuFeatures.h"
#include "llvm/ADT/StringRef.h"

namespace tiletwin::codegen {

/// Number formats that tensor cores multiply.
enum class Multiplied : uint8_t { F16, BF16, TF32, S8, E4M3, E5M2, F64 };

/// One shape of mma.sync. N is 8 for all.
struct MmaShape {
  llvm::StringLiteral name;        ///< "m16n8k16"
  Multiplied format;               ///< E4M3 stands for both f8 formats
  bool tt::GpuFeatures::* feature; ///< what the GPU must have
  uint8_t mBits, kBits;            ///< log2 of the extents
  uint8_t packedBits;              ///< log2 of the operand elements in one register

  static constexpr unsigned kNBits = 3;
};

/// The best shape for a format whose K fits into `k`; null if a GPU has none.
const MmaShape* findMmaShape(Multiplied format, const tt::GpuFeatures& features, int64_t k);
/// The shape of this name and format, or null.
const MmaShape* mmaShapeOf(llvm::StringRef name, Multiplied format);

/// The shape of one warp's part of a wgmma of this format: its M, K and fragments are those of mma.sync; null: none.
const MmaShape* wgmmaShape(Multiplied format);
/// Bits of d's flat index for the warps of warpgroups: a group's four warps take 16 rows each, groups rows, then columns.
LinearLayout::Bases warpsOfWgmma(llvm::ArrayRef<int64_t> dShape, unsigned warpBits);

/// Which matrices wgmma multiplies for a dot, and which rows of the first one are whose.
struct WgmmaForm {
  bool isTransposed = false;          ///< the first matrix is b, its rows are N; else a and M
  llvm::SmallVector<int32_t, 8> rows; ///< bit i of an instruction's row is bit rows[i] of a tile's; empty: the same
};
/// Rows of a first matrix that registers read from shared memory, where it is contiguous along the rows: threads hold
/// neighbours, as many as one access takes, and the lanes of an access find each bank once, of 8-bit elements twice.
/// extent: rows.
llvm::SmallVector<int32_t, 8> rowsReadFromMemory(const MmaShape& shape, int64_t extent, unsigned elementBytes,
                                                 unsigned warpBits);

/// The layouts of a dot's operands and result.
struct DotLayouts {
  LinearLayout a, b, d;
};

/// In which order the elements along K are taken: bit i of a position is bit `order[i]` of k. The first bits are what one
/// instruction multiplies.
using KOrder = llvm::SmallVector<int32_t, 8>;
/// Ascending.
KOrder ascendingOrder(int64_t k);
/// So that each thread takes `elementsPerThread` neighbours along K (more than fill a register of the shape, because they
/// come from a narrower format), or as many as a short K has.
KOrder interleavedOrder(const MmaShape& shape, int64_t k, unsigned elementsPerThread);

/// Layouts of d[..., m, n] += a[..., m, k] * b[..., k, n] made of `shape`. `warps`: the bits of d's flat index that the
/// bits of the warp's number stand for; 0 repeats.
DotLayouts mmaLayouts(const MmaShape& shape, const KOrder& order, llvm::ArrayRef<int64_t> dShape,
                      const LinearLayout::Bases& warps);
/// Layouts of d[m, n] += a[m, k] * b[k, n] by wgmma, K ascending, in the tiles' own dimensions: registers have the numbers
/// that they have in wgmmaInstruction.
DotLayouts wgmmaLayouts(const MmaShape& shape, const WgmmaForm& form, llvm::ArrayRef<int64_t> dShape, int64_t k,
                        unsigned warpBits);
/// The same as the instruction sees them: rows by columns of its own result, its first matrix, its second.
DotLayouts wgmmaInstruction(const MmaShape& shape, const WgmmaForm& form, llvm::ArrayRef<int64_t> dShape, int64_t k,
                            unsigned warpBits);
/// Layouts of a dot without tensor cores: operands in the threads that need them, all of K in registers.
DotLayouts fmaLayouts(const LinearLayout& d, int64_t k);
/// A layout of a result for fmaLayouts: small blocks in each thread.
LinearLayout fmaResult(llvm::ArrayRef<int64_t> shape, unsigned laneBits, unsigned warpBits);

/// Bits of d's flat index for the warps of a dot: batches first; then rows and columns so that a warp's part is as square
/// as the shape allows, or rows
/// as long as there are any.
LinearLayout::Bases warpsOfDot(const MmaShape& shape, llvm::ArrayRef<int64_t> dShape, unsigned warpBits,
                               bool rowsFirst);

} // namespace tiletwin::codegen
