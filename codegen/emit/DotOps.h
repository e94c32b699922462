// codegen/emit/DotOps.h -- what the ways to emit a dot share.
#pragma once
#include "codegen/emit/Emitter.h"
#include "codegen/layout/TensorCores.h"

namespace tiletwin::codegen {

/// Which register of a layout holds an element, among those that the thread of lane 0 and warp 0 has.
class RegisterMap {
public:
  explicit RegisterMap(const LinearLayout& layout);
  uint32_t at(uint32_t element) const {
    auto found = numbers_.find(element);
    assert(found != numbers_.end() && "the element is not in a register of the first thread");
    return found->second;
  }

private:
  llvm::DenseMap<uint32_t, uint32_t> numbers_;
};

/// The format's name in instructions: "f16".
llvm::StringRef ptxTypeOf(mlir::Type element);

/// A piece of inline PTX through which sums go: constraints for them as outputs and, in the same registers, as inputs.
Values throughPtx(Emitter& e, llvm::StringRef text, llvm::StringRef inputConstraints, Values inputs,
                  llvm::ArrayRef<llvm::Value*> sums);

mlir::LogicalResult emitMma(Emitter& e, tt::DotOp dot); ///< DotMma.cpp

} // namespace tiletwin::codegen
