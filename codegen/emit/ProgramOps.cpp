// codegen/emit/ProgramOps.cpp -- where a program is in the grid; barriers.
#include "codegen/emit/Emitters.h"
#include "codegen/emit/TargetCode.h"

using namespace mlir;

namespace tiletwin::codegen {

LogicalResult emitProgramId(Emitter& e, tt::GetProgramIdOp op) {
  e.define(op->getResult(0), e.code().programId(e, unsigned(op.getAxis())));
  return success();
}

LogicalResult emitNumPrograms(Emitter& e, tt::GetNumProgramsOp op) {
  e.define(op->getResult(0), e.code().numPrograms(e, unsigned(op.getAxis())));
  return success();
}

LogicalResult emitBarrier(Emitter& e, ttg::BarrierOp) {
  e.code().barrier(e);
  return success();
}

} // namespace tiletwin::codegen
