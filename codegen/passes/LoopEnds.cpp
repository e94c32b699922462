// codegen/passes/LoopEnds.cpp -- see LoopEnds.h.
#include "codegen/passes/LoopEnds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

class LoopEnds {
public:
  explicit LoopEnds(scf::ForOp loop) : loop_(loop), builder_(loop) {}
  void run();

private:
  Value added(Operation* step);
  Value inFront(Value scalar);
  Value count();
  Value endOf(unsigned number, Operation* step, Value amount);

  scf::ForOp loop_;
  OpBuilder builder_;
  Value count_;
};

/// The scalar in front of the loop; null: it is none, or changes.
Value LoopEnds::inFront(Value scalar) {
  if (loop_.isDefinedOutsideOfLoop(scalar)) return scalar;
  Operation* op = scalar.getDefiningOp();
  if (!op || op->getBlock() != loop_.getBody() || !isPure(op) || op->getNumRegions()) return {};
  if (!llvm::all_of(op->getOperands(), [&](Value operand) { return loop_.isDefinedOutsideOfLoop(operand); })) return {};
  op->moveBefore(loop_);
  return scalar;
}

/// What a step adds, as a scalar in front of the loop; null: it is not the same number everywhere.
Value LoopEnds::added(Operation* step) {
  Value amount = step->getOperand(1);
  if (!isa<RankedTensorType>(amount.getType())) return inFront(amount);
  if (auto splat = amount.getDefiningOp<tt::SplatOp>()) return inFront(splat.getSrc());
  DenseIntElementsAttr tile;
  if (!matchPattern(amount, m_Constant(&tile)) || !tile.isSplat()) return {};
  builder_.setInsertionPoint(loop_);
  return arith::ConstantOp::create(builder_, loop_.getLoc(), tile.getSplatValue<IntegerAttr>());
}

/// How often the loop runs: (upper - lower + step - 1) / step in 64 bits, which hold it.
Value LoopEnds::count() {
  if (count_) return count_;
  Location where = loop_.getLoc();
  mlir::Type wide = builder_.getI64Type();
  auto number = [&](int64_t value) {
    return arith::ConstantOp::create(builder_, where, builder_.getI64IntegerAttr(value)).getResult();
  };
  APInt step;
  matchPattern(loop_.getStep(), m_ConstantInt(&step));
  Value lower = arith::ExtSIOp::create(builder_, where, wide, loop_.getLowerBound());
  Value upper = arith::ExtSIOp::create(builder_, where, wide, loop_.getUpperBound());
  Value length = builder_.createOrFold<arith::SubIOp>(where, upper, lower);
  if (!step.isOne()) {
    length = builder_.createOrFold<arith::AddIOp>(where, length, number(step.getSExtValue() - 1));
    length = builder_.createOrFold<arith::DivSIOp>(where, length, number(step.getSExtValue()));
  }
  return count_ = builder_.createOrFold<arith::MaxSIOp>(where, length, number(0));
}

Value LoopEnds::endOf(unsigned number, Operation* step, Value amount) {
  builder_.setInsertionPoint(loop_);
  Location where = loop_.getLoc();
  Value first = loop_.getInitArgs()[number], times = count();
  const bool isPointer = isa<tt::AddPtrOp>(step);
  mlir::Type scalar = isPointer ? times.getType() : amount.getType();
  if (amount.getType() != scalar) amount = arith::ExtSIOp::create(builder_, where, scalar, amount);
  if (times.getType() != scalar) times = arith::TruncIOp::create(builder_, where, scalar, times);
  Value all = arith::MulIOp::create(builder_, where, times, amount);
  if (auto tile = dyn_cast<RankedTensorType>(first.getType()))
    all = tt::SplatOp::create(builder_, where, RankedTensorType::get(tile.getShape(), scalar), all);
  if (isPointer) return tt::AddPtrOp::create(builder_, where, first.getType(), first, all);
  return arith::AddIOp::create(builder_, where, first, all);
}

void LoopEnds::run() {
  APInt step;
  if (!matchPattern(loop_.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive()) return;
  if (loop_.getUnsignedCmp() || !loop_.getInductionVar().getType().isInteger(32)) return;
  for (OpResult result : loop_.getResults()) {
    const unsigned number = result.getResultNumber();
    auto isLoop = [](Operation* user) { return isa<scf::ForOp>(user); };
    if (result.use_empty() || !llvm::all_of(result.getUsers(), isLoop)) continue;
    Operation* last = loop_.getYieldedValues()[number].getDefiningOp();
    if (!isa_and_nonnull<tt::AddPtrOp, arith::AddIOp>(last) ||
        last->getOperand(0) != loop_.getRegionIterArgs()[number] || last->getBlock() != loop_.getBody())
      continue;
    mlir::Type amountType = tt::elementTypeOf(last->getOperand(1).getType());
    if (!amountType.isInteger(32) && !amountType.isInteger(64)) continue;
    if (Value amount = added(last)) result.replaceAllUsesWith(endOf(number, last, amount));
  }
}

} // namespace

void replaceLoopEnds(tt::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) LoopEnds(loop).run();
}

} // namespace tiletwin::codegen
