// codegen/emit/ProgramOps.cpp -- where a program is in the grid; barriers.
#include "codegen/emit/TargetCode.h"

using namespace mlir;

namespace tiletwin::codegen {

template <> LogicalResult emit(Emitter& e, tt::GetProgramIdOp op) {
  e.define(op->getResult(0), e.code().programId(e, unsigned(op.getAxis())));
  return success();
}

template <> LogicalResult emit(Emitter& e, tt::GetNumProgramsOp op) {
  e.define(op->getResult(0), e.code().numPrograms(e, unsigned(op.getAxis())));
  return success();
}

template <> LogicalResult emit(Emitter& e, ttg::BarrierOp) {
  e.code().barrier(e);
  return success();
}

} // namespace tiletwin::codegen
