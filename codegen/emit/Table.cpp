// codegen/emit/Table.cpp -- which operations have code, and for which GPUs. The table is made from the lists of ir/Registry.h and
// of twg's definitions: an operation without an emitter ends the build with its name.
#include "codegen/emit/Elementwise.h"
#include "codegen/emit/TargetCode.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

using TWGOps = OpList<
#define GET_OP_LIST
#include "codegen/dialect/TWGOps.cpp.inc"
    >;

/// Operations of MLIR's dialects that passes make, and the front end does not.
using MadeByPasses = OpList<arith::IndexCastOp, cf::BranchOp, cf::CondBranchOp>;

/// Operations that code is not made of.
// clang-format off: one reason a paragraph
using NotEmitted = OpList<
    // They are tw's operations and calls of the library by now (ir/Numerics.h).
    arith::DivFOp, arith::RemFOp, math::CosOp, math::ErfOp, math::Exp2Op, math::ExpOp, math::Log2Op, math::LogOp,
    math::RsqrtOp, math::SinOp, math::SqrtOp, tt::ApproxDivFOp, tt::PreciseDivFOp, tt::PreciseSqrtOp,
    // It is a product of widened operands (passes/DotScaled.cpp).
    tt::DotScaledOp,
    // They are inlined.
    tt::CallOp, tt::FuncOp,
    // They are parts of other operations.
    tt::MapElementwiseReturnOp, tt::ReduceReturnOp, tt::ScanReturnOp, twg::ProducerEndOp,
    // The interpreter checks and shows with them.
    tt::BornOp, tt::DebugBindOp, tt::DebugConstantOp, tt::DebugLineOp, tt::NonFiniteOp, tt::ProbeCallOp,
    tt::ProbeLanesOp, tt::PromiseOp>;
// clang-format on

/// Operations whose emitters write PTX themselves, beside those of twg and the atomic ones.
using WrittenInPtx =
    OpList<tt::AssertOp, tt::DescriptorGatherOp, tt::DescriptorLoadOp, tt::DescriptorReduceOp, tt::DescriptorScatterOp,
           tt::DescriptorStoreOp, tt::ElementwiseInlineAsmOp, tt::GridDependencyLaunchDependentsOp,
           tt::GridDependencyWaitOp, tt::HistogramOp, tt::MakeTensorDescriptorOp, tt::PrefetchOp, tt::PrintOp>;

template <class Op> constexpr bool isOfEveryFamily() {
  if constexpr (isListed<Op, TWGOps>) return std::is_same_v<Op, twg::ConvertLayoutOp>;
  return !isListed<Op, WrittenInPtx> && !Op::template hasTrait<tt::Atomic>();
}

template <class Op> LogicalResult emitAs(Emitter& e, Operation* op) {
  if (!isOfEveryFamily<Op>() && e.target().backend != "cuda") return notCompiled(op, e);
  if constexpr (isListed<Op, TWOps>)
    return emitPerRegister(e, op, [&](ArrayRef<llvm::Value*> in) { return e.code().tw(e, op, in); });
  else
    return emit(e, cast<Op>(op));
}

using EmitFn = LogicalResult (*)(Emitter&, Operation*);

const OpTable<EmitFn>& table() {
  static const auto kTable =
      OpTable<EmitFn>::of<NotEmitted, TTOps, TTGOps, TWOps, TWGOps, ArithOps, MathOps, ControlOps, OtherOps, LLVMOps,
                          MadeByPasses>([]<class Op>() -> EmitFn { return emitAs<Op>; });
  return kTable;
}

} // namespace

LogicalResult emitAny(Emitter& e, Operation* op) {
  const EmitFn* emitter = table().find(op);
  return emitter ? (*emitter)(e, op) : notCompiled(op, e);
}

const std::vector<std::string_view>& emittedOperations() { return table().names(); }

} // namespace tiletwin::codegen
