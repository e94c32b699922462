// codegen/ptx/OrderByUse.h -- values where they are needed, in blocks that hold more of them than a thread has registers.
// Idea: emission writes an operation for all registers of a tile before the next one, so that a tile of 256 elements a
//       thread has 256 values of every intermediate result. The assembler moves instructions by some dozens, not by
//       thousands; what does not fit it keeps in memory. Element by element only inputs and outputs are held.
#pragma once
#include "llvm/IR/PassManager.h"

namespace tiletwin::codegen {

/// In a block that holds more than `kHeldMost` registers' worth of values at once, what touches memory keeps its order, and
/// everything else stands before its first use, if that needs less.
struct OrderByUse : llvm::PassInfoMixin<OrderByUse> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Twice the registers that a thread can have. A block that holds less is left to the assembler, which moves loads to where
/// they are used: of SwiGLU with 128 elements a thread it makes 118 registers, and 186 of what was ordered before.
inline constexpr unsigned kHeldMost = 2 * 255;

} // namespace tiletwin::codegen
