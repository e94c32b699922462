// codegen/emit/Issuer.h -- what one thread of a CTA begins for all: copies of blocks, products in tensor memory.
#pragma once
#include "codegen/emit/Emitter.h"

namespace tiletwin::codegen {

/// i1: this thread issues copies and products, if they are enabled (null: they are): always the same one of the first warp. Null:
/// it does.
llvm::Value* isIssuer(Emitter& e, mlir::Value enabled = {});

/// PTX without results. predicate: null if it always holds.
void issue(Emitter& e, llvm::Value* predicate, const std::string& text, std::string constraints, Values inputs);

} // namespace tiletwin::codegen
