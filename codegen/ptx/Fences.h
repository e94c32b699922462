// codegen/ptx/Fences.h -- one fence in front of a barrier, where emission wrote one behind each tile that it stored.
// Idea: `fence.proxy.async` makes a thread wait for all of its accesses, loads from global memory among them. Between two
//       tiles for one product it makes the second one's stores wait for more than their own loads.
#pragma once
#include "llvm/IR/PassManager.h"

namespace tiletwin::codegen {

/// Removes a fence of shared memory in front of another one, if between them the thread only computes, loads and stores.
struct MergeFences : llvm::PassInfoMixin<MergeFences> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

} // namespace tiletwin::codegen
