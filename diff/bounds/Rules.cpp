// diff/bounds/Rules.cpp -- which operations have a rule. The table is made from the lists of ir/Registry.h: an operation without
// a rule that does not stand here ends the build with its name.
#include "diff/bounds/Builder.h"
#include "ir/Registry.h"

using namespace mlir;

namespace tiletwin::diff {

// clang-format off: one reason a paragraph
using WithoutRule = OpList<
    // No bound is known: nothing is, unless all operands are exact.
    arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp,
    tt::HistogramOp, tt::MulhiUIOp,
    // They have no results.
    tt::AssertOp, tt::DebugConstantOp, tt::DebugLineOp, tt::GridDependencyLaunchDependentsOp, tt::GridDependencyWaitOp,
    tt::PrefetchOp, tt::PrintOp, tt::ProbeCallOp, tt::ProbeLanesOp, tt::PromiseOp,
    // They are parts of others, or inlined.
    tt::CallOp, tt::FuncOp, tt::MapElementwiseReturnOp, tt::ReduceReturnOp, tt::ReturnOp, tt::ScanReturnOp,
    // Kernels that are compared have none.
    tt::BornOp, tt::DebugBindOp, tt::NonFiniteOp>;
// clang-format on

/// Operations that compute nothing of what may differ.
using Exact = OpList<arith::ConstantOp, tt::GetNumProgramsOp, tt::GetProgramIdOp, tt::IntToPtrOp, tt::MakeRangeOp,
                     tt::PtrToIntOp>;
using Moves = OpList<tt::BroadcastOp, tt::CatOp, tt::ExpandDimsOp, tt::JoinOp, tt::ReshapeOp, tt::SplatOp, tt::SplitOp,
                     tt::TransOp, tt::UnsplatOp>;

const Rule* ruleFor(Operation* op) {
  static const auto kTable = OpTable<Rule>::of<WithoutRule, TTOps, ArithOps, MathOps>([]<class Op>() -> Rule {
    if constexpr (isListed<Op, Exact>)
      return {};
    else if constexpr (isListed<Op, Moves>)
      return makeRule<Op, moved>();
    else
      return ruleOf<Op>();
  });
  return kTable.find(op);
}

} // namespace tiletwin::diff
