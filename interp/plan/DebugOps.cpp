// interp/plan/DebugOps.cpp -- print, assert, calls of debugging helpers, hints, grid queries.
#include "interp/plan/Builder.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

template <> LogicalResult plan(PlanBuilder& plan, tt::GetProgramIdOp op) {
  int64_t axis = int64_t(op.getAxis());
  std::string key = "ProgramId" + std::to_string(axis);
  const int place = plan.debug() ? plan.level() : 1;
  Reg dst = plan.remembered(place, key);
  if (dst == kNoReg) {
    dst = plan.newReg(8, place);
    BuildInstruction& in = plan.emitAt(place, execProgramId, "ProgramId");
    in.in.imm = axis;
    plan.write(in, in.in.r[0], dst);
    plan.remember(place, key, dst);
  }
  return plan.bind(op->getResult(0), plan.scalarRep(DType::I32, Uniform::in(dst)));
}

template <> LogicalResult plan(PlanBuilder& plan, tt::GetNumProgramsOp op) {
  Uniform u = plan.pureScalar(execNumPrograms, "NumPrograms", {}, int64_t(op.getAxis()));
  return plan.bind(op->getResult(0), plan.scalarRep(DType::I32, u));
}

template <> LogicalResult plan(PlanBuilder& plan, tt::AssertOp op) {
  Value condition = op.getCondition();
  plan.flushAll();
  Shape shape = PlanBuilder::shapeOf(condition.getType());
  Rep& r = plan.rep(condition);
  bool single = r.isUniform();
  Reg reg = single ? plan.cell(r.base) : plan.denseOf(condition);
  BuildInstruction& in = plan.emit(execAssert, "Assert");
  AssertOp& data = plan.newData<AssertOp>(in);
  data.message = op.getMessage().str();
  data.elements = single ? 1 : elementsOf(shape);
  data.shape.assign(shape.begin(), shape.end());
  plan.read(in, data.condition, reg);
  return success();
}

template <> LogicalResult plan(PlanBuilder& plan, tt::PrintOp op) {
  plan.flushAll();
  std::vector<Reg> regs;
  for (Value v : op->getOperands())
    regs.push_back(plan.rep(v).kind == Rep::Scalar ? plan.cell(plan.rep(v).base) : plan.denseOf(v));
  plan.plan().prints = true;
  BuildInstruction& in = plan.emit(execPrint, "Print");
  PrintOp& data = plan.newData<PrintOp>(in);
  data.prefix = op.getPrefix().split('\0').first.str(); // as C would
  data.hex = op.getHex();
  llvm::ArrayRef<int32_t> isSigned = op.getIsSigned();
  data.items.resize(regs.size());
  for (size_t i = 0; i < regs.size(); ++i) {
    PrintOp::Item& item = data.items[i];
    Value v = op->getOperand(unsigned(i));
    Shape shape = PlanBuilder::shapeOf(v.getType());
    item.type = plan.dtypeOf(v.getType());
    item.isSigned = i < isSigned.size() && isSigned[i];
    item.isTile = !shape.empty();
    item.shape.assign(shape.begin(), shape.end());
    plan.read(in, item.at, regs[i]);
  }
  return success();
}

// A branch around the values: where the condition does not hold, nothing is computed or copied for the call. The kernel's
// own groups stay open across it, as if it were not there; only stores that are pending come first.
template <> LogicalResult plan(PlanBuilder& plan, tt::ProbeCallOp op) {
  constexpr size_t kCheap = 6; // nodes of a group that may be computed a second time for the condition
  plan.flushSinks();
  Value condition = op.getCondition();
  mlir::ValueRange values = op.getValues();
  for (Value v : values)
    if (plan.rep(v).pending() && !plan.isStrip(v)) plan.denseOf(v);
  const bool single = plan.rep(condition).isUniform();
  Uniform holds = single ? plan.rep(condition).base : Uniform();
  if (!single) {
    Reg any = plan.newReg(8), tile = plan.denseAside(condition, kCheap);
    BuildInstruction& look = plan.emit(execProbeCondition, "ProbeCondition");
    look.in.imm = elementsOf(PlanBuilder::shapeOf(condition.getType()));
    plan.read(look, look.in.r[1], tile);
    plan.write(look, look.in.r[0], any);
    holds = Uniform::in(any);
  }
  const int end = plan.newLabel();
  plan.pushScope();
  if (!holds.constant || !(holds.value & 1)) {
    BuildInstruction& test = plan.emitJump(execBranchIfNot, end, "ProbeIf");
    plan.read(test, test.in.r[0], plan.cell(holds));
  }
  const bool isBreak = op.isBreak();
  llvm::ArrayRef<int32_t> isSigned = op.getIsSigned();
  std::vector<Reg> regs;
  for (Value v : values)
    regs.push_back(plan.rep(v).kind == Rep::Scalar ? plan.cell(plan.rep(v).base) : plan.denseAside(v));
  BuildInstruction& in = plan.emit(execProbeCall, "ProbeCall");
  ProbeCallOp& data = plan.newData<ProbeCallOp>(in);
  data.site.owner = plan.options().owner;
  data.site.number = int32_t(op.getSite());
  data.site.isBreak = isBreak;
  data.site.where = plan.sourceOf(op);
  data.site.items.resize(regs.size());
  data.values.resize(regs.size());
  for (size_t i = 0; i < regs.size(); ++i) {
    ProbeSite::Item& item = data.site.items[i];
    Shape shape = PlanBuilder::shapeOf(values[i].getType());
    item.type = plan.dtypeOf(values[i].getType());
    item.isSigned = isSigned[i];
    item.shape.assign(shape.begin(), shape.end());
    item.bytes = sizeOf(item.type) * size_t(elementsOf(shape));
    plan.read(in, data.values[i], regs[i]);
  }
  plan.append(plan.popScope());
  plan.placeLabel(end);
  plan.plan().prints = true;
  if (isBreak) plan.plan().breaks = true;
  return success();
}

} // namespace tiletwin::interp
