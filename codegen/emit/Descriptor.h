// codegen/emit/Descriptor.h -- a tensor descriptor in registers: address, extents, strides, how it reads.
// Idea: in PTX a descriptor is scalars, carried through control flow like others; who reads or writes a block makes the
//       addresses of its elements and asks which of them lie inside the tensor (DescriptorOps.cpp).
//
// As an argument of a kernel it is 64 bits, the address, with notes in the lowest bits: + 1 if elements outside the tensor read
// as NaN, + 2 if loads round to tf32. Extents (i32) and strides (i64) follow as arguments of their own.
#pragma once
#include "codegen/emit/Emitter.h"

namespace tiletwin::codegen {

struct Descriptor {
  enum Note : uint32_t { kNanOutside = 1, kRoundsToTf32 = 2, kNotes = 15 };

  llvm::Value* base = nullptr;  ///< multiple of 16 bytes
  Values extents;               ///< i32, not negative
  Values strides;               ///< i64, in elements; the last one is 1
  llvm::Value* notes = nullptr; ///< i32

  /// How many registers, and of which types: address, extents, strides, notes.
  static unsigned parts(unsigned rank) { return 2 + 2 * rank; }
  static llvm::SmallVector<llvm::Type*, 8> partTypes(llvm::IRBuilder<>& b, unsigned rank);
  static Descriptor of(Emitter& e, mlir::Value descriptor);
  void define(Emitter& e, mlir::Value descriptor) const;

  /// Fails with a diagnostic if an argument's extents and strides do not follow it, or if it is a tensor map that is none.
  static mlir::LogicalResult verifyArgument(mlir::BlockArgument argument);
  /// `word`: what the kernel gets for it.
  static Descriptor ofArgument(Emitter& e, mlir::BlockArgument argument, llvm::Value* word);
};

} // namespace tiletwin::codegen
