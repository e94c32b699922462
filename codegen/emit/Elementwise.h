// codegen/emit/Elementwise.h -- an operation that does the same in every register.
#pragma once
#include "codegen/emit/Emitter.h"
#include "codegen/emit/Narrow.h"

namespace tiletwin::codegen {

/// Emits an operation of one result whose operands have its layout: `make` gets the operands' values of one register
/// and gives the result's. A mask's registers that hold the same are emitted once. Fails if `make` gives null (it has
/// reported why).
template <class Make> mlir::LogicalResult emitPerRegister(Emitter& e, mlir::Operation* op, Make make) {
  Values results;
  llvm::SmallVector<llvm::Value*, 4> operands(op->getNumOperands());
  mlir::Type type = op->getResult(0).getType();
  unsigned count = Emitter::registersOf(type);
  llvm::SmallVector<uint32_t, 8> first;
  if (count > 1 && tt::elementTypeOf(type).isInteger(1)) first = e.firstEqualRegisters(op->getResult(0));
  for (unsigned r = 0; r < count; ++r) {
    if (!first.empty() && first[r] < r) {
      results.push_back(results[first[r]]);
      continue;
    }
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

/// The same for an operation on floats: those of 8 bits are computed in f32. `make` gives a number that the result's format
/// holds, or an infinity that it had.
template <class Make> mlir::LogicalResult emitPerFloat(Emitter& e, mlir::Operation* op, Make make) {
  mlir::Type format = tt::elementTypeOf(op->getOperand(0).getType());
  if (!isF8(format)) return emitPerRegister(e, op, make);
  llvm::SmallVector<Values, 4> operands;
  for (mlir::Value operand : op->getOperands())
    operands.push_back(widenF8(e, format, e.values(operand), e.ir().getFloatTy()));
  Values results, one(operands.size());
  for (unsigned r = 0; r < operands.front().size(); ++r) {
    for (auto [i, operand] : llvm::enumerate(operands)) one[i] = operand[r];
    llvm::Value* value = make(llvm::ArrayRef<llvm::Value*>(one));
    if (!value) return mlir::failure();
    results.push_back(value);
  }
  if (isF8(tt::elementTypeOf(op->getResult(0).getType())))
    results = narrowToF8(e, format, results, NarrowRounding::TowardZero);
  e.define(op->getResult(0), std::move(results));
  return mlir::success();
}

} // namespace tiletwin::codegen
