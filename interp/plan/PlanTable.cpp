// interp/plan/PlanTable.cpp -- which function plans which operation. It is made from the lists of ir/Registry.h: an operation
// without a function ends the build with its name.
#include "interp/plan/ElementwiseOps.h"
#include "ir/LLVMOps.h"

namespace tiletwin::interp {

using mlir::Operation;

/// Operations that no plan is made of.
// clang-format off: one reason a paragraph
using NotPlanned = OpList<
    // They end regions, and are planned with those.
    tt::MapElementwiseReturnOp, tt::ReduceReturnOp, tt::ReturnOp, tt::ScanReturnOp,
    // It is what is planned.
    tt::FuncOp>;
// clang-format on

/// Operations that change no result; of promises nobody wants to know whether they hold.
using Hints = OpList<mlir::LLVM::AssumeOp, tt::GridDependencyLaunchDependentsOp, tt::GridDependencyWaitOp,
                     tt::PrefetchOp, tt::PromiseOp>;

const PlanFn* findPlanFn(Operation* op) {
  static const auto kTable =
      OpTable<PlanFn>::of<NotPlanned, TTOps, TTGOps, TWOps, ArithOps, MathOps, ControlOps, OtherOps, LLVMOps>(
          []<class Op>() -> PlanFn {
            if constexpr (isListed<Op, Hints>)
              return [](PlanBuilder&, Operation*) { return mlir::success(); };
            else if constexpr (stripOf<Op>() != TwElementwise::Count)
              return [](PlanBuilder& b, Operation* op) { return planElementwise(b, op, stripOf<Op>()); };
            else if constexpr (isListed<Op, Casts>)
              return planCast;
            else if constexpr (isListed<Op, Bitcasts>)
              return planBitcast;
            else if constexpr (isListed<Op, Approximations>)
              return planApproximation;
            else
              return [](PlanBuilder& b, Operation* op) { return plan(b, llvm::cast<Op>(op)); };
          });
  return kTable.find(op);
}

} // namespace tiletwin::interp
