// codegen/ptx/OrderByUse.h -- values where they are needed, in blocks that hold more of them than a thread has registers.
// Idea: emission writes an operation for all registers of a tile before the next one, so that a tile of 256 elements a
//       thread has 256 values of every intermediate result. The assembler moves instructions by some dozens, not by
//       thousands; what does not fit it keeps in memory. Element by element only inputs and outputs are held.
#pragma once
#include "llvm/IR/PassManager.h"

namespace tiletwin::codegen {

/// In a block that holds more than `kThreadRegisters` registers' worth of values at once, what touches memory keeps its
/// order, and everything else stands before its first use, if that needs less.
struct OrderByUse : llvm::PassInfoMixin<OrderByUse> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Registers of 32 bits that a thread can have.
inline constexpr unsigned kThreadRegisters = 255;

} // namespace tiletwin::codegen
