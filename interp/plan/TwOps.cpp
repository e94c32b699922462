// interp/plan/TwOps.cpp -- operations of tw, the explicit form of a target's numerics.
// Here:      those whose definition is exact or correctly rounded.
// Not here:  approximations stand for the bits of a GPU's tables (ir/TWOps.td): they are refused, not guessed. The
//            simulator has the tables.
#include "interp/plan/ElementwiseOps.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;

static LogicalResult applyStrip(PlanBuilder& plan, Operation* op, TwElementwise strip) {
  const DType type = plan.dtypeOf(op->getResult(0).getType());
  return applyStrips(plan, op, op->getOperands(), StripStep{stripFunction(plan, strip, type), type, {}});
}

template <> LogicalResult plan(PlanBuilder& plan, tw::DivRnOp op) { return applyStrip(plan, op, TwElementwise::DivF); }

template <> LogicalResult plan(PlanBuilder& plan, tw::SqrtRnOp op) { return applyStrip(plan, op, TwElementwise::Sqrt); }

template <> LogicalResult plan(PlanBuilder& plan, tw::TruncOp op) {
  const DType type = plan.dtypeOf(op->getResult(0).getType());
  const TwLibraryRow* row = plan.tiles().library(type == DType::F64 ? "trunc" : "truncf");
  return applyStrips(plan, op, op->getOperands(), StripStep{row->fn, type, {}});
}

LogicalResult planApproximation(PlanBuilder&, Operation* op) {
  return op->emitError() << "interpreter: " << op->getName().getStringRef()
                         << " stands for the bits that a GPU's unit gives, which the simulator has "
                            "(TILETWIN_BACKEND=sim); the interpreter runs the module as it was before tt-numerics";
}

} // namespace tiletwin::interp
