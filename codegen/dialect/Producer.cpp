// codegen/dialect/Producer.cpp -- the verifier of twg.producer.
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tiletwin::twg {
namespace {

constexpr int kWarpsOfGroup = 4;

/// What one thread can do.
bool isForOneThread(Operation* op) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  if (llvm::any_of(op->getOperandTypes(), isTile) || llvm::any_of(op->getResultTypes(), isTile)) return false;
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::YieldOp, scf::ConditionOp>(op)) return true;
  if (isa<ProducerEndOp, tt::LoadOp, BarrierWaitOp, BarrierArriveOp, BarrierExpectOp, PairArriveOp, TensorLoadOp>(op))
    return true;
  return op->getNumRegions() == 0 && isMemoryEffectFree(op);
}

} // namespace

LogicalResult ProducerOp::verify() {
  auto kernel = dyn_cast<tt::FuncOp>((*this)->getParentOp());
  if (!kernel || !(*this)->getBlock()->isEntryBlock())
    return emitOpError("stands in the first block of a kernel"); // C1
  for (auto other : (*this)->getBlock()->getOps<ProducerOp>())
    if (other != *this && other->isBeforeInBlock(*this)) return emitOpError("is the second one of its kernel"); // C1
  if (int32_t(getWarps()) <= 0 || getWarps() % kWarpsOfGroup)
    return emitOpError() << "has warps in groups of four, not " << getWarps(); // C3
  if (std::optional<ArrayRef<int32_t>> registers = getRegisters()) {
    bool areTwo = registers->size() == 2;
    if (!areTwo || llvm::any_of(*registers, [](int32_t one) { return one % 8 || one < 24 || one > 256; }))
      return emitOpError("needs two numbers of registers, multiples of 8 from 24 to 256"); // C4
  }
  WalkResult walked = getBody().walk([](Operation* op) -> WalkResult {
    if (isForOneThread(op)) return WalkResult::advance();
    return op->emitOpError("is for the warps of a program, not for those of a twg.producer"); // C2
  });
  return failure(walked.wasInterrupted());
}

} // namespace tiletwin::twg
