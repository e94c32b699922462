// codegen/passes/AtomicLayout.cpp -- see AtomicLayout.h.
#include "codegen/passes/AtomicLayout.h"

using namespace mlir;

namespace tiletwin::codegen {

Value atomicPointers(Operation* op) {
  if (!op->hasTrait<tt::Atomic>()) return {};
  Value pointers = cast<tt::MemoryAccess>(op).getAddress();
  return isa<RankedTensorType>(pointers.getType()) ? pointers : Value();
}

Value atomicMask(Operation* op) { return op->hasTrait<tt::Atomic>() ? cast<tt::MemoryAccess>(op).getMask() : Value(); }

unsigned atomicElements(Operation* op, const Target& target) {
  auto rmw = dyn_cast<tt::AtomicRMWOp>(op);
  if (!rmw || rmw.getAtomicRmwOp() != tt::RmwKind::FAdd) return 1;
  mlir::Type element = tt::elementTypeOf(rmw.getVal().getType());
  const tt::GpuFeatures features = target.features();
  if (element.isF32()) return features.vectorAtomics ? 4 : 1;
  if (element.isBF16() && !features.bf16Atomics) return 1;
  if (element.isF16() || element.isBF16()) return features.vectorAtomics ? 8 : 2;
  return 1;
}

} // namespace tiletwin::codegen
