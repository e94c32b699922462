// codegen/ptx/Fences.cpp -- see Fences.h.
#include "codegen/ptx/Fences.h"
#include "codegen/ptx/Words.h"
#include "llvm/ADT/STLExtras.h"
#include <array>

namespace tiletwin::codegen {
namespace {

bool isFence(const llvm::Instruction& one) { return wordsOf(one) == "fence.proxy.async.shared::cta;"; }

/// True for what tells nobody that the thread's stores are done.
bool isQuiet(const llvm::Instruction& one) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&one); call && call->isConvergent()) return false;
  constexpr std::array kAccesses{"ld.global", "ld.shared", "st.global", "st.shared"};
  const llvm::StringRef words = wordsOf(one);
  return !one.mayHaveSideEffects() ||
         llvm::any_of(kAccesses, [&](const char* access) { return words.starts_with(access); });
}

} // namespace

llvm::PreservedAnalyses MergeFences::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  for (llvm::BasicBlock& block : function) {
    llvm::Instruction* open = nullptr;
    for (llvm::Instruction& one : block) {
      if (isFence(one)) {
        if (open) open->eraseFromParent();
        open = &one;
      } else if (!isQuiet(one)) {
        open = nullptr;
      }
    }
  }
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace tiletwin::codegen
