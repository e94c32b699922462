// codegen/passes/LoopSlice.cpp -- see LoopSlice.h.
#include "codegen/passes/LoopSlice.h"
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tiletwin::codegen {

bool LoopSlice::add(ValueRange values) {
  llvm::SetVector<Operation*> operations;
  llvm::SetVector<unsigned> carried;
  SmallVector<Value> wanted(values);
  while (!wanted.empty()) {
    Value value = wanted.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != loop_.getBody() || argument == loop_.getInductionVar()) continue;
      unsigned number = argument.getArgNumber() - 1;
      if (carried.insert(number)) wanted.push_back(loop_.getYieldedValues()[number]);
      continue;
    }
    Operation* op = value.getDefiningOp();
    if (op->getBlock() != loop_.getBody()) continue;
    bool isCheap = op->getNumRegions() == 0 && isMemoryEffectFree(op) && !isa<tt::DotOp, twg::ConvertLayoutOp>(op);
    if (!isCheap) return false;
    if (operations.insert(op)) wanted.append(op->operand_begin(), op->operand_end());
  }
  operations_.insert(operations.begin(), operations.end());
  carried_.insert(carried.begin(), carried.end());
  return true;
}

SmallVector<Value> LoopSlice::initial() const {
  SmallVector<Value> values;
  for (unsigned number : carried_) values.push_back(loop_.getInitArgs()[number]);
  return values;
}

SmallVector<Value> LoopSlice::compute(OpBuilder& builder, Value iteration, ValueRange carried,
                                      IRMapping& mapping) const {
  mapping.map(loop_.getInductionVar(), iteration);
  for (auto [number, value] : llvm::zip_first(carried_, carried)) mapping.map(loop_.getRegionIterArgs()[number], value);
  for (Operation& op : *loop_.getBody())
    if (operations_.contains(&op)) builder.clone(op, mapping);
  SmallVector<Value> next;
  for (unsigned number : carried_) next.push_back(mapping.lookupOrDefault(loop_.getYieldedValues()[number]));
  return next;
}

Value LoopSlice::constant(OpBuilder& builder, mlir::Type type, int64_t number) const {
  return arith::ConstantOp::create(builder, loop_.getLoc(), builder.getIntegerAttr(type, number));
}

Value LoopSlice::iterationAfter(OpBuilder& builder, Value from, int64_t ahead) const {
  Value count = constant(builder, from.getType(), ahead);
  Value distance = arith::MulIOp::create(builder, loop_.getLoc(), loop_.getStep(), count);
  return arith::AddIOp::create(builder, loop_.getLoc(), from, distance);
}

Value LoopSlice::isWithin(OpBuilder& builder, Value from, int64_t ahead) const {
  Location where = loop_.getLoc();
  Value left = arith::SubIOp::create(builder, where, loop_.getUpperBound(), from);
  Value distance = arith::MulIOp::create(builder, where, loop_.getStep(), constant(builder, from.getType(), ahead));
  return arith::CmpIOp::create(builder, where, arith::CmpIPredicate::ugt, left, distance);
}

Value LoopSlice::hasAny(OpBuilder& builder) const {
  auto less = loop_.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  return arith::CmpIOp::create(builder, loop_.getLoc(), less, loop_.getLowerBound(), loop_.getUpperBound());
}

} // namespace tiletwin::codegen
