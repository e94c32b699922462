// codegen/emit/Atomics.h -- one atomic instruction, and the words of PTX that atomic operations share.
#pragma once
#include "codegen/emit/Emitter.h"

namespace tiletwin::codegen {

/// ".gpu", ".cta", ".sys"; ".relaxed", ".acquire", ".release", ".acq_rel".
inline std::string scopeWord(tt::MemScope scope) { return "." + stringifyMemScope(scope).str(); }
inline std::string semanticWord(tt::MemSemantic semantic) { return "." + stringifyMemSemantic(semantic).str(); }

/// An instruction whose first operand is memory: atom, red, ld, st.
struct AtomicInstruction {
  std::string opcode;
  llvm::Value* address;
  llvm::Value* predicate;                      ///< null: always
  llvm::SmallVector<llvm::Value*, 8> operands; ///< integers of `bits`, `count` for each operand
  unsigned bits = 32, count = 1;               ///< of the registers, and how many one operand has
  bool returns = true;
  /// The result: `count` integers, 0 where the predicate is false; none if it does not return.
  Values emit(Emitter& e) const;
};

/// True if an instruction of the target adds floats of this type in memory.
bool hasAtomicSum(const Emitter& e, mlir::Type element);
/// A sum of 16-bit floats without one: compared and swapped until nobody has come between. words:
/// ".relaxed.gpu.global". Returns the number that was there; 0 where the predicate (null: always) is false.
llvm::Value* addUntilSame(Emitter& e, const std::string& words, llvm::Value* address, llvm::Value* predicate,
                          llvm::Value* number);

/// A float or pointer as an integer of its width; the low bits of an integer as a value of `type`.
llvm::Value* asBits(Emitter& e, llvm::Value* value);
llvm::Value* fromBits(Emitter& e, llvm::Value* bits, llvm::Type* type);

} // namespace tiletwin::codegen
