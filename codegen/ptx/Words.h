// codegen/ptx/Words.h -- what an instruction of LLVM is in PTX, where emission wrote it as text.
#pragma once
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

namespace tiletwin::codegen {

/// The words of assembly, behind a predicate; of other instructions none.
inline llvm::StringRef wordsOf(const llvm::Instruction& one) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&one);
  const auto* text = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  llvm::StringRef words = text ? text->getAsmString() : llvm::StringRef();
  return words.starts_with("@") ? words.split(' ').second : words;
}

} // namespace tiletwin::codegen
