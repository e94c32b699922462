// codegen/emit/ProgramOps.cpp -- where a program is in the grid; barriers.
#include "codegen/emit/Emitters.h"
#include "codegen/emit/TargetCode.h"

using namespace mlir;

namespace tiletwin::codegen {

LogicalResult emitProgramId(Emitter& e, Operation* op) {
  e.define(op->getResult(0), e.code().programId(e, unsigned(cast<tt::GetProgramIdOp>(op).getAxis())));
  return success();
}

LogicalResult emitNumPrograms(Emitter& e, Operation* op) {
  e.define(op->getResult(0), e.code().numPrograms(e, unsigned(cast<tt::GetNumProgramsOp>(op).getAxis())));
  return success();
}

LogicalResult emitBarrier(Emitter& e, Operation*) {
  e.barrier();
  return success();
}

} // namespace tiletwin::codegen
