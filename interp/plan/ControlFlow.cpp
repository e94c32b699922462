// interp/plan/ControlFlow.cpp -- scf.for, scf.while, scf.if, scf.execute_region.
// Here:      jumps and labels, bounds, which way out writes what.
// Not here:  the forms of carried values and their copies (Carried.cpp), blocks (Blocks.cpp).
#include "interp/plan/Carried.h"
#include "ir/TT.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Region.h"
#include <algorithm>

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

template <> LogicalResult plan(PlanBuilder& plan, scf::ForOp op) {
  plan.flushAll();
  mlir::Block& body = *op.getBody();
  Value iv = op.getInductionVar();
  DType type = plan.dtypeOf(iv.getType());
  mlir::ValueRange inits = op.getInitArgs(), next = op.getYieldedValues();
  Uniform lower = plan.uniformOf(op.getLowerBound()), upper = plan.uniformOf(op.getUpperBound()),
          step = plan.uniformOf(op.getStep());
  std::vector<Carried> carried(inits.size());
  std::vector<uint8_t>& forms = formsOf(plan, op, inits.size());
  int64_t isUnsigned = op.getUnsignedCmp() ? 1 : 0;

  auto before = plan.snapshot();
  for (;;) {
    int level = plan.level() + 1;
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = carry(plan, inits[i], forms[i], level);
    enter(plan, carried, inits);
    plan.beginLoopDots(op, llvm::map_to_vector(carried, [](const Carried& c) { return c.reg; }));
    Reg ivCell = plan.newReg(8, level);
    plan.pushScope(op);
    int top = plan.newLabel(), exit = plan.newLabel();
    BuildInstruction& head = plan.emitJump(execForEnter, exit, "For");
    plan.read(head, head.in.r[1], plan.cell(lower));
    plan.read(head, head.in.r[2], plan.cell(upper));
    plan.write(head, head.in.r[0], ivCell);
    head.in.r[3] = uint32_t(isUnsigned);
    if (!step.constant) {
      BuildInstruction& check = plan.emit(execForStep, "ForStep");
      plan.read(check, check.in.r[0], plan.cell(step));
      check.in.r[1] = uint32_t(isUnsigned);
    }
    plan.placeLabel(top);
    uint64_t start = plan.sequence();
    plan.set(iv, plan.scalarRep(type, Uniform::in(ivCell)));
    for (size_t i = 0; i < carried.size(); ++i) plan.set(op.getRegionIterArg(unsigned(i)), carried[i].rep);
    if (failed(plan.planBlock(body))) return mlir::failure();
    plan.comeBackTo(op);
    plan.flushAll();
    if (!matches(plan, carried, next, forms)) {
      plan.rollback(before);
      continue;
    }
    advance(plan, carried, next, start);
    BuildInstruction& tail = plan.emitJump(execForNext, top, "Next");
    plan.read(tail, tail.in.r[0], ivCell);
    plan.read(tail, tail.in.r[1], plan.cell(step));
    plan.read(tail, tail.in.r[2], plan.cell(upper));
    tail.in.r[3] = uint32_t(isUnsigned) | uint32_t(PlanBuilder::widthOf(type)) << 1;
    plan.placeLabel(exit);
    plan.append(plan.popScope());
    break;
  }
  plan.endLoopDots(op);
  leave(plan, carried, op->getResults());
  return success();
}

template <> LogicalResult plan(PlanBuilder& plan, scf::WhileOp op) {
  plan.flushAll();
  mlir::Block &before = *op.getBeforeBody(), &after = *op.getAfterBody();
  mlir::ValueRange inits = op.getInits(), next = op.getYieldOp().getResults();
  scf::ConditionOp condition = op.getConditionOp();
  mlir::ValueRange passed = condition.getArgs();
  std::vector<uint8_t>& forms = formsOf(plan, op, inits.size());
  std::vector<Carried> first(inits.size()), second(passed.size());
  const WaitCause cause = whileWaitsOn(op);
  auto undo = plan.snapshot();
  for (;;) {
    int level = plan.level() + 1;
    for (size_t i = 0; i < first.size(); ++i) first[i] = carry(plan, inits[i], forms[i], level);
    enter(plan, first, inits);
    WaitLoop wait = enterWait(plan, op, cause, first);
    plan.pushScope(op);
    int top = plan.newLabel(), exit = plan.newLabel();
    plan.placeLabel(top);
    uint64_t start = plan.sequence();
    for (size_t i = 0; i < first.size(); ++i) plan.set(before.getArgument(unsigned(i)), first[i].rep);
    if (failed(plan.planBlock(before))) return mlir::failure();
    plan.comeBackTo(op);
    plan.flushAll();
    for (size_t i = 0; i < second.size(); ++i) second[i] = carry(plan, passed[i], Carried::BaseVaries, level);
    enter(plan, second, passed);
    BuildInstruction& test = plan.emitJump(execBranchIfNot, exit, "While");
    plan.read(test, test.in.r[0], plan.cell(plan.uniformOf(condition.getCondition())));
    for (size_t i = 0; i < second.size(); ++i) plan.set(after.getArgument(unsigned(i)), second[i].rep);
    if (failed(plan.planBlock(after))) return mlir::failure();
    plan.comeBackTo(op);
    plan.flushAll();
    plan.leaveWaitLoop(wait);
    if (!matches(plan, first, next, forms)) {
      plan.rollback(undo);
      continue;
    }
    advance(plan, first, next, start);
    plan.emitBackEdge(top, wait);
    plan.placeLabel(exit);
    plan.append(plan.popScope());
    break;
  }
  leave(plan, second, op->getResults());
  return success();
}

template <> LogicalResult plan(PlanBuilder& plan, scf::IfOp op) {
  plan.flushAll();
  Uniform condition = plan.uniformOf(op.getCondition());
  bool hasElse = !op.getElseRegion().empty();
  size_t count = op->getNumResults();
  std::vector<uint8_t>& forms = formsOf(plan, op, count);
  auto undo = plan.snapshot();
  const int outside = plan.level();
  for (;;) {
    int other = plan.newLabel(), end = plan.newLabel();
    std::vector<Carried> results;
    std::vector<int> roots(count, -1);
    bool fits = true;
    auto arm = [&](mlir::Region& region, bool isThen) -> LogicalResult {
      plan.pushScope();
      if (isThen) {
        BuildInstruction& test = plan.emitJump(execBranchIfNot, hasElse ? other : end, "If");
        plan.read(test, test.in.r[0], plan.cell(condition));
      } else {
        plan.placeLabel(other);
      }
      uint64_t start = plan.sequence();
      mlir::Block& block = region.front();
      if (failed(plan.planBlock(block))) return mlir::failure();
      plan.comeBackTo(op);
      plan.flushAll();
      mlir::ValueRange values = block.getTerminator()->getOperands();
      for (size_t i = 0; i < count; ++i) {
        int root = plan.rep(values[i]).root;
        if (isThen) {
          roots[i] = root;
          results.push_back(carry(plan, values[i], forms[i] | Carried::Rootless, outside));
        } else {
          roots[i] = roots[i] == root ? root : -1;
          fits &= matches(plan, results[i], values[i], forms[i]);
        }
      }
      for (size_t i = 0; i < count && fits; ++i) {
        Rep r = plan.rep(values[i]);
        Carried& c = results[i];
        if (c.symbolic) {
          auto parts = partsOf(r);
          for (size_t p = 0; p < parts.size(); ++p)
            if (c.cells[p] != kNoReg) plan.move(c.cells[p], *parts[p]);
          continue;
        }
        bool shared = false;
        for (size_t j = 0; j < count; ++j) shared |= j != i && values[j] == values[i];
        bool own = r.kind == Rep::Tile && !r.tile.view && PlanBuilder::isDense(r.tile, r.type, r.shape) && !shared &&
                   plan.info(plan.root(r.tile.base)).firstWrite > start;
        if (!own || !plan.coalesceArm(r.tile.base, c.reg, start)) plan.writeTo(values[i], c.reg);
      }
      if (isThen && hasElse) plan.emitJump(execJump, end, "Jump");
      return success();
    };
    if (failed(arm(op.getThenRegion(), true))) return mlir::failure();
    auto thenCode = plan.popScope();
    std::vector<std::unique_ptr<BuildInstruction>> elseCode;
    if (hasElse) {
      if (failed(arm(op.getElseRegion(), false))) return mlir::failure();
      elseCode = plan.popScope();
    }
    if (!fits) {
      plan.rollback(undo);
      continue;
    }
    plan.append(std::move(thenCode));
    plan.append(std::move(elseCode));
    plan.placeLabel(end);
    for (size_t i = 0; i < count; ++i) {
      results[i].rep.root = roots[i];
      plan.set(op->getResult(unsigned(i)), results[i].rep);
    }
    return success();
  }
}

LogicalResult planInPlace(PlanBuilder& plan, Operation* op, mlir::Region& region, const HandedOver& handedOver) {
  plan.flushAll();
  std::vector<Carried> results;
  for (mlir::OpResult result : op->getResults()) {
    results.push_back(carryUnknown(plan, result.getType(), handedOver(result)));
    if (!results.back().symbolic) plan.claim(results.back().reg);
  }
  int end = plan.newLabel();
  plan.pushScope();
  auto leaveRegion = [&](Operation* yield) {
    plan.flushAll();
    advance(plan, results, yield->getOperands(), UINT64_MAX);
    plan.emitJump(execJump, end, "Jump");
    return success();
  };
  if (failed(plan.planBlocks(region, leaveRegion))) return mlir::failure();
  plan.append(plan.popScope());
  plan.placeLabel(end);
  for (size_t i = 0; i < results.size(); ++i) plan.set(op->getResult(unsigned(i)), results[i].rep);
  return success();
}

/// A callee that returns early, inside a loop or branch.
template <> LogicalResult plan(PlanBuilder& plan, scf::ExecuteRegionOp op) {
  return planInPlace(plan, op, op.getRegion(), [](mlir::OpResult result) { return llvm::SmallVector<Value>{result}; });
}

} // namespace tiletwin::interp
