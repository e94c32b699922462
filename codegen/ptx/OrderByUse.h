// codegen/ptx/OrderByUse.h -- values where they are needed: in blocks that hold more of them than a thread has registers, and
// behind barriers.
// Idea: emission writes an operation for all registers of a tile before the next one, so that a tile of 256 elements a
//       thread has 256 values of every intermediate result. The assembler moves instructions by some dozens, not by
//       thousands; what does not fit it keeps in memory. Element by element only inputs and outputs are held.
#pragma once
#include "llvm/IR/PassManager.h"

namespace tiletwin::codegen {

/// In a block that holds more than `kHeldMuch` registers' worth of values at once, what touches memory keeps its order, and
/// everything else stands before its first use, if that needs less; before a wait for products of warpgroups stands what
/// stood there. In kernels without products, what is first used behind a barrier of its block stands behind it in any case, but
/// for `kHeldMore`.
struct OrderByUse : llvm::PassInfoMixin<OrderByUse> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// From here on the order decides how many CTAs have registers beside each other: a loss over rows of 16,384 elements, whose
/// blocks hold 103, needs 82 registers as it is emitted and 64 ordered by use, so that two CTAs of 512 threads run instead of
/// one (one H200: 307 and 246 us).
inline constexpr unsigned kHeldMuch = 100;
/// Twice the registers that a thread can have: the assembler cannot help itself any more.
inline constexpr unsigned kHeldMost = 2 * 255;
/// What only loads, computes and stores is ordered up to `kHeldMost` only if it needs no more than that then: of SwiGLU with
/// 128 elements a thread the assembler makes 116 registers as it is emitted, and 172 of what was ordered.
inline constexpr unsigned kHeldWell = 128;
/// What stands behind a barrier instead of in front of it may take so many registers more there.
inline constexpr unsigned kHeldMore = 4;

} // namespace tiletwin::codegen
