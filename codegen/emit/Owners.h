// codegen/emit/Owners.h -- what one thread has computed for several that hold the same element.
#pragma once
#include "codegen/emit/Emitter.h"

namespace tiletwin::codegen {

/// i1: this thread is the one that acts for all holders of its elements of a value (the first thread, for a scalar);
/// null if every thread acts for itself.
llvm::Value* ownerOf(Emitter& e, mlir::Value value);
/// Bits of the register's number that only repeat elements: registers with one of them set need no action.
uint32_t repeatedRegisters(mlir::Value value);

/// The values that owners have, in all threads and registers that hold the element. `like`: a value of the layout.
/// All threads of the CTA take part.
Values shareOwned(Emitter& e, mlir::Value like, Values values);

} // namespace tiletwin::codegen
