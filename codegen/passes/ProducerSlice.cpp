// codegen/passes/ProducerSlice.cpp -- see ProducerSlice.h.
#include "codegen/passes/ProducerSlice.h"
#include "codegen/dialect/TWG.h"
#include "codegen/passes/Pairs.h"
#include "codegen/passes/TileLoop.h"
#include "codegen/passes/WrittenMemory.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// True for what one thread can compute once more: a number from numbers, or a number in memory that nobody writes.
bool isForOneThread(Operation* op) {
  auto isTile = [](mlir::Type type) { return isa<RankedTensorType>(type); };
  if (llvm::any_of(op->getResultTypes(), isTile) || llvm::any_of(op->getOperandTypes(), isTile)) return false;
  if (auto load = dyn_cast<tt::LoadOp>(op)) return !ownerReads(load);
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) && !isa<tt::ElementwiseInlineAsmOp>(op);
}

} // namespace

bool ProducerSlice::add(Operation* at, ValueRange operands) {
  return addControl(at) && llvm::all_of(operands, [&](Value operand) { return addValue(operand); });
}

/// All that decides whether, and how often, an operation runs.
bool ProducerSlice::addControl(Operation* op) {
  Operation* parent = op->getParentOp();
  if (auto kernel = dyn_cast<tt::FuncOp>(parent)) return kernel.getBody().hasOneBlock();
  if (!isa<scf::ForOp, scf::WhileOp, scf::IfOp>(parent)) return false;
  if (!branches_.insert(parent).second) return true;
  if (!addControl(parent)) return false;
  if (auto branch = dyn_cast<scf::IfOp>(parent)) return addValue(branch.getCondition());
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) return addValue(loop.getConditionOp().getCondition());
  auto loop = cast<scf::ForOp>(parent);
  return addValue(loop.getLowerBound()) && addValue(loop.getUpperBound()) && addValue(loop.getStep());
}

bool ProducerSlice::addValue(Value value) {
  if (values_.contains(value)) return true;
  values_.insert(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation* parent = argument.getOwner()->getParentOp();
    if (isa<tt::FuncOp>(parent)) return true;
    if (isa<RankedTensorType>(argument.getType()) || !addControl(&argument.getOwner()->front())) return false;
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      const unsigned number = argument.getArgNumber();
      if (argument.getOwner() == loop.getAfterBody()) return addValue(loop.getConditionOp().getArgs()[number]);
      return addValue(loop.getInits()[number]) && addValue(loop.getYieldOp()->getOperand(number));
    }
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop) return false;
    if (argument == loop.getInductionVar()) return true;
    const unsigned number = argument.getArgNumber() - 1;
    return addValue(loop.getInitArgs()[number]) && addValue(loop.getYieldedValues()[number]);
  }
  Operation* op = value.getDefiningOp();
  if (isa<twg::LocalAllocOp>(op)) return true; // stands in front of the copy
  if (!addControl(op)) return false;
  const unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) return addValue(loop.getRegionIterArg(number));
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return addControl(&loop.getAfterBody()->front()) && addValue(loop.getConditionOp().getArgs()[number]);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    branches_.insert(op);
    return addValue(branch.getCondition()) && addValue(branch.thenYield().getOperand(number)) &&
           addValue(branch.elseYield().getOperand(number));
  }
  return isForOneThread(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return addValue(operand); });
}

void ProducerSlice::copyFor(OpBuilder& builder, scf::ForOp loop, const llvm::DenseSet<Operation*>& operations,
                            IRMapping& mapping) const {
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    if (values_.contains(argument)) {
      carried.push_back(unsigned(number));
      inits.push_back(mapping.lookupOrDefault(loop.getInitArgs()[number]));
    }
  auto made = scf::ForOp::create(
      builder, loop.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
      mapping.lookupOrDefault(loop.getUpperBound()), mapping.lookupOrDefault(loop.getStep()), inits,
      [](OpBuilder&, Location, Value, ValueRange) {}, loop.getUnsignedCmp());
  if (isTileLoop(loop)) markTileLoop(made);
  mapping.map(loop.getInductionVar(), made.getInductionVar());
  for (auto [number, argument] : llvm::zip_equal(carried, made.getRegionIterArgs()))
    mapping.map(loop.getRegionIterArg(number), argument);
  OpBuilder inside(builder.getContext());
  inside.setInsertionPointToEnd(made.getBody());
  copyBlock(inside, *loop.getBody(), operations, mapping);
  SmallVector<Value> yielded;
  for (unsigned number : carried) yielded.push_back(mapping.lookupOrDefault(loop.getYieldedValues()[number]));
  scf::YieldOp::create(inside, loop.getLoc(), yielded);
  for (auto [number, result] : llvm::zip_equal(carried, made.getResults())) mapping.map(loop.getResult(number), result);
}

void ProducerSlice::copyWhile(OpBuilder& builder, scf::WhileOp loop, const llvm::DenseSet<Operation*>& operations,
                              IRMapping& mapping) const {
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<unsigned> given, passed; // of what it begins an iteration with, and of what it goes into one or ends with
  SmallVector<Value> inits, passedOn, yielded;
  for (BlockArgument argument : loop.getBeforeArguments())
    if (values_.contains(argument)) {
      given.push_back(argument.getArgNumber());
      inits.push_back(mapping.lookupOrDefault(loop.getInits()[given.back()]));
    }
  for (auto [argument, result] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults()))
    if (values_.contains(argument) || values_.contains(result)) passed.push_back(argument.getArgNumber());
  SmallVector<mlir::Type> types;
  for (unsigned number : passed) types.push_back(loop.getResult(number).getType());
  auto made = scf::WhileOp::create(builder, loop.getLoc(), types, inits);
  OpBuilder inside(builder.getContext());
  SmallVector<Location> wheres(std::max(given.size(), passed.size()), loop.getLoc());
  inside.createBlock(&made.getBefore(), {}, ValueRange(inits).getTypes(), ArrayRef(wheres).take_front(given.size()));
  for (auto [number, argument] : llvm::zip_equal(given, made.getBeforeArguments()))
    mapping.map(loop.getBeforeArguments()[number], argument);
  copyBlock(inside, *loop.getBeforeBody(), operations, mapping);
  for (unsigned number : passed) passedOn.push_back(mapping.lookupOrDefault(condition.getArgs()[number]));
  scf::ConditionOp::create(inside, loop.getLoc(), mapping.lookupOrDefault(condition.getCondition()), passedOn);
  inside.createBlock(&made.getAfter(), {}, types, ArrayRef(wheres).take_front(passed.size()));
  for (auto [number, argument] : llvm::zip_equal(passed, made.getAfterArguments()))
    mapping.map(loop.getAfterArguments()[number], argument);
  copyBlock(inside, *loop.getAfterBody(), operations, mapping);
  for (unsigned number : given) yielded.push_back(mapping.lookupOrDefault(loop.getYieldOp()->getOperand(number)));
  scf::YieldOp::create(inside, loop.getLoc(), yielded);
  for (auto [number, result] : llvm::zip_equal(passed, made.getResults())) mapping.map(loop.getResult(number), result);
}

void ProducerSlice::copyIf(OpBuilder& builder, scf::IfOp branch, const llvm::DenseSet<Operation*>& operations,
                           IRMapping& mapping) const {
  SmallVector<Value> results;
  for (Value result : branch.getResults())
    if (values_.contains(result)) results.push_back(result);
  auto made = scf::IfOp::create(builder, branch.getLoc(), ValueRange(results).getTypes(),
                                mapping.lookupOrDefault(branch.getCondition()),
                                /*addThenBlock=*/false, /*addElseBlock=*/false);
  copyPairMarks(branch, made);
  for (auto [from, to] : llvm::zip_equal(branch->getRegions(), made->getRegions())) {
    if (from.empty()) continue;
    OpBuilder inside(builder.getContext());
    inside.createBlock(&to);
    copyBlock(inside, from.front(), operations, mapping);
    SmallVector<Value> yielded;
    for (Value result : results)
      yielded.push_back(
          mapping.lookupOrDefault(from.front().getTerminator()->getOperand(cast<OpResult>(result).getResultNumber())));
    scf::YieldOp::create(inside, branch.getLoc(), yielded);
  }
  for (auto [from, to] : llvm::zip_equal(results, made.getResults())) mapping.map(from, to);
}

void ProducerSlice::copyBlock(OpBuilder& builder, Block& block, const llvm::DenseSet<Operation*>& operations,
                              IRMapping& mapping) const {
  for (Operation& op : block.without_terminator()) {
    if (isa<twg::LocalAllocOp>(op)) continue;
    auto isWanted = [&](Value result) { return values_.contains(result); };
    if (branches_.contains(&op)) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) copyFor(builder, loop, operations, mapping);
      if (auto loop = dyn_cast<scf::WhileOp>(op)) copyWhile(builder, loop, operations, mapping);
      if (auto branch = dyn_cast<scf::IfOp>(op)) copyIf(builder, branch, operations, mapping);
    } else if (operations.contains(&op) || (op.getNumRegions() == 0 && llvm::any_of(op.getResults(), isWanted))) {
      builder.clone(op, mapping);
    }
  }
}

void ProducerSlice::copyTo(OpBuilder& builder, Block& block, const llvm::DenseSet<Operation*>& operations) const {
  IRMapping mapping;
  copyBlock(builder, block, operations, mapping);
}

} // namespace tiletwin::codegen
