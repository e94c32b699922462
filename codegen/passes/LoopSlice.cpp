// codegen/passes/LoopSlice.cpp -- see LoopSlice.h.
#include "codegen/passes/LoopSlice.h"
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

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

SmallVector<Value> LoopSlice::computeFirst(OpBuilder& builder, int count,
                                           llvm::function_ref<void(int, const IRMapping&, Value)> begin) const {
  Location where = loop_.getLoc();
  Value first = loop_.getLowerBound();
  SmallVector<Value> carried;
  for (unsigned number : carried_) carried.push_back(loop_.getInitArgs()[number]);
  auto less = loop_.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value any = arith::CmpIOp::create(builder, where, less, first, loop_.getUpperBound());
  for (int i = 0; i < count; ++i) {
    IRMapping mapping;
    Value iteration = iterationAfter(builder, first, i), has = any;
    if (i) has = arith::AndIOp::create(builder, where, isWithin(builder, first, i), any);
    carried = compute(builder, iteration, carried, mapping);
    begin(i, mapping, has);
  }
  return carried;
}

scf::ForOp LoopSlice::carryOn(RewriterBase& rewriter, ValueRange initial, const NewYieldValuesFn& extend) const {
  auto attributes = llvm::to_vector(loop_->getDiscardableAttrs());
  auto replaced = loop_.replaceWithAdditionalYields(rewriter, initial, false, extend);
  auto made = cast<scf::ForOp>(replaced->getOperation());
  for (NamedAttribute attribute : attributes) made->setDiscardableAttr(attribute.getName(), attribute.getValue());
  return made;
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
  return arith::CmpIOp::create(builder, where, arith::CmpIPredicate::ugt, left, distance(builder, ahead));
}

/// Unsigned; the largest number, which no loop is longer than, stands for distances that the type does not hold.
Value LoopSlice::distance(OpBuilder& builder, int64_t ahead) const {
  Location where = loop_.getLoc();
  Value step = loop_.getStep();
  mlir::Type type = step.getType();
  auto most = llvm::APInt::getAllOnes(type.getIntOrFloatBitWidth());
  auto largest = most.udiv(uint64_t(ahead));
  auto number = [&](const llvm::APInt& bits) {
    return arith::ConstantOp::create(builder, where, builder.getIntegerAttr(type, bits));
  };
  llvm::APInt known;
  if (matchPattern(step, m_ConstantInt(&known))) return number(known.ugt(largest) ? most : known * uint64_t(ahead));
  Value product = arith::MulIOp::create(builder, where, step, constant(builder, type, ahead));
  Value isLong = arith::CmpIOp::create(builder, where, arith::CmpIPredicate::ugt, step, number(largest));
  return arith::SelectOp::create(builder, where, isLong, number(most), product);
}

} // namespace tiletwin::codegen
