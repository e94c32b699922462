// codegen/ptx/LoopPointers.h -- pointers that a loop moves together, as one pointer and constants.
// Idea: a thread's copies in a pipelined loop read rows that lie a constant distance apart. A pointer for each is two
//       registers and an addition for each; the assembler puts a constant into the instruction that reads.
#pragma once
#include "llvm/IR/PassManager.h"

namespace tiletwin::codegen {

/// Of carried pointers whose distance is a known constant, on each way into their block, the first one stays.
struct ShareLoopPointers : llvm::PassInfoMixin<ShareLoopPointers> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

} // namespace tiletwin::codegen
