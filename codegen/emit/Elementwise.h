// codegen/emit/Elementwise.h -- an operation that does the same in every register.
#pragma once
#include "codegen/emit/Emitter.h"

namespace tiletwin::codegen {

/// Emits an operation of one result whose operands have its layout: `make` gets the operands' values of one register
/// and gives the result's. Fails if `make` gives null (it has reported why).
template <class Make> mlir::LogicalResult emitPerRegister(Emitter& e, mlir::Operation* op, Make make) {
  Values results;
  llvm::SmallVector<llvm::Value*, 4> operands(op->getNumOperands());
  unsigned count = Emitter::registersOf(op->getResult(0).getType());
  for (unsigned r = 0; r < count; ++r) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      llvm::ArrayRef<llvm::Value*> all = e.values(operand);
      operands[i] = all.size() == 1 ? all.front() : all[r]; // a scalar beside tiles (arith.select's condition)
    }
    llvm::Value* value = make(llvm::ArrayRef<llvm::Value*>(operands));
    if (!value) return mlir::failure();
    results.push_back(value);
  }
  e.define(op->getResult(0), std::move(results));
  return mlir::success();
}

} // namespace tiletwin::codegen
