// codegen/emit/ProgramOps.cpp -- where a program is in the grid; barriers.
#include "codegen/emit/Emitters.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace mlir;
using namespace llvm::Intrinsic;

namespace tiletwin::codegen {

LogicalResult emitProgramId(Emitter& e, Operation* op) {
  constexpr ID kIds[] = {nvvm_read_ptx_sreg_ctaid_x, nvvm_read_ptx_sreg_ctaid_y, nvvm_read_ptx_sreg_ctaid_z};
  auto axis = cast<tt::GetProgramIdOp>(op).getAxis();
  e.define(op->getResult(0), e.intrinsic(kIds[size_t(axis)], {}, {}));
  return success();
}

LogicalResult emitNumPrograms(Emitter& e, Operation* op) {
  constexpr ID kIds[] = {nvvm_read_ptx_sreg_nctaid_x, nvvm_read_ptx_sreg_nctaid_y, nvvm_read_ptx_sreg_nctaid_z};
  auto axis = cast<tt::GetNumProgramsOp>(op).getAxis();
  e.define(op->getResult(0), e.intrinsic(kIds[size_t(axis)], {}, {}));
  return success();
}

LogicalResult emitBarrier(Emitter& e, Operation*) {
  e.barrier();
  return success();
}

} // namespace tiletwin::codegen
