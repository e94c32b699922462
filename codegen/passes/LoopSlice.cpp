// codegen/passes/LoopSlice.cpp -- see LoopSlice.h.
#include "codegen/passes/LoopSlice.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/WrittenMemory.h"
#include "ir/TT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tiletwin::codegen {

namespace {

/// True for what can be computed twice: it touches no memory and takes few instructions. A choice between such
/// computations is one.
bool isCheap(Operation* op) {
  if (!isMemoryEffectFree(op) || isa<tt::DotOp, twg::ConvertLayoutOp>(op)) return false;
  if (op->getNumRegions() == 0) return true;
  return isa<scf::IfOp>(op) && !op->walk([&](Operation* inner) {
                                    return inner == op || isCheap(inner) ? WalkResult::advance()
                                                                         : WalkResult::interrupt();
                                  }).wasInterrupted();
}

/// True for a number or a line of numbers that can be loaded ahead: a place in a table of blocks, for example. Nobody writes
/// them, neither the kernel nor other programs that the loop waits for.
bool canLoadAhead(tt::LoadOp load, scf::ForOp loop) {
  if (load.getIsVolatile() || mayBeWritten(load.getPtr())) return false;
  if (llvm::count_if(tt::shapeOf(load.getType()), [](int64_t extent) { return extent > 1; }) > 1) return false;
  return !mayWaitForOthers(loop);
}

/// The load's mask, and nothing where `enabled` is false.
Value maskedBy(OpBuilder& builder, tt::LoadOp load, Value enabled) {
  Value mask = load.getMask();
  if (auto tile = dyn_cast<RankedTensorType>(load.getPtr().getType()))
    enabled = tt::SplatOp::create(builder, load.getLoc(), tile.clone(builder.getI1Type()), enabled);
  return mask ? arith::AndIOp::create(builder, load.getLoc(), mask, enabled).getResult() : enabled;
}

} // namespace

bool mayWaitForOthers(scf::ForOp loop) {
  WalkResult found = loop.walk([](Operation* op) {
    const bool waits = mayTellOfOthers(op) || isa<tt::ElementwiseInlineAsmOp, ttg::BarrierOp>(op);
    return waits && !isMemoryEffectFree(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

Operation* outermostLoop(Operation* op) {
  while (auto loop = op->getParentOfType<LoopLikeOpInterface>()) op = loop;
  return op;
}

void loadOnlyIf(OpBuilder& builder, tt::LoadOp load, Value enabled) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(load);
  load.getMaskMutable().assign(maskedBy(builder, load, enabled));
}

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
    auto load = dyn_cast<tt::LoadOp>(op);
    if (load ? !canLoadAhead(load, loop_) : !isCheap(op)) return false;
    if (!operations.insert(op)) continue;
    wanted.append(op->operand_begin(), op->operand_end());
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::append_range(wanted, captured);
  }
  operations_.insert(operations.begin(), operations.end());
  carried_.insert(carried.begin(), carried.end());
  return true;
}

SmallVector<Value> LoopSlice::compute(OpBuilder& builder, Value iteration, Value enabled, ValueRange carried,
                                      IRMapping& mapping) const {
  mapping.map(loop_.getInductionVar(), iteration);
  for (auto [number, value] : llvm::zip_first(carried_, carried)) mapping.map(loop_.getRegionIterArgs()[number], value);
  for (Operation& op : *loop_.getBody())
    if (operations_.contains(&op)) {
      Operation* clone = builder.clone(op, mapping);
      if (auto load = dyn_cast<tt::LoadOp>(clone)) loadOnlyIf(builder, load, enabled);
    }
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
    carried = compute(builder, iteration, has, carried, mapping);
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
