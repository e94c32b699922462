// ir/AtomicOps.cpp -- verifiers of the atomic operations.
#include "ir/TT.h"

using namespace mlir;

namespace tiletwin::tt {

static LogicalResult verifyPointee(Operation* op, Type pointer, Type type, const char* what) {
  if (type == pointeeTypeLike(pointer)) return success();
  return op->emitOpError() << what << " needs type " << pointeeTypeLike(pointer) << ", got " << type;
}

static LogicalResult verifyNotConstant(Operation* op, Type pointer) {
  if (cast<PointerType>(elementTypeOf(pointer)).getAddressSpace() != AddressSpace::Constant) return success();
  return op->emitOpError() << "writes through a pointer into constant memory";
}

static bool suits(RmwKind kind, Type element) {
  if (kind == RmwKind::FAdd) return isa<FloatType>(element);
  if (kind == RmwKind::Exch) return isa<FloatType, IntegerType>(element);
  return isa<IntegerType>(element);
}

LogicalResult AtomicRMWOp::verify() {
  if (failed(verifyPointee(*this, getPtr().getType(), getVal().getType(), "val")) ||
      failed(verifyPointee(*this, getPtr().getType(), getResult().getType(), "result"))) // C1
    return failure();
  RmwKind kind = getAtomicRmwOp();
  Type element = elementTypeOf(getVal().getType());
  if (!suits(kind, element)) return emitOpError() << "cannot do " << stringifyRmwKind(kind) << " on " << element; // C2
  if (auto integer = dyn_cast<IntegerType>(element)) {
    unsigned width = integer.getWidth();
    if (width != 32 && width != 64 && !(width == 16 && kind == RmwKind::Exch))
      return emitOpError() << "needs integers of 32 or 64 bits, got " << element; // C3
  }
  return verifyNotConstant(*this, getPtr().getType());
}

LogicalResult AtomicCASOp::verify() {
  Type pointer = getPtr().getType();
  if (failed(verifyPointee(*this, pointer, getCmp().getType(), "cmp")) ||
      failed(verifyPointee(*this, pointer, getVal().getType(), "val")) ||
      failed(verifyPointee(*this, pointer, getResult().getType(), "result"))) // C1
    return failure();
  Type element = elementTypeOf(getVal().getType());
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (width != 16 && width != 32 && width != 64)
    return emitOpError() << "needs elements of 16, 32 or 64 bits, got " << element; // C2
  return verifyNotConstant(*this, pointer);
}

LogicalResult AtomicLoadOp::verify() {
  if (failed(verifyPointee(*this, getPtr().getType(), getResult().getType(), "result"))) return failure(); // C1
  if (getSem() != MemSemantic::Relaxed && getSem() != MemSemantic::Acquire)
    return emitOpError() << "needs sem relaxed or acquire, got " << stringifyMemSemantic(getSem()); // C2
  return success();
}

LogicalResult AtomicStoreOp::verify() {
  if (getSem() != MemSemantic::Relaxed && getSem() != MemSemantic::Release)
    return emitOpError() << "needs sem relaxed or release, got " << stringifyMemSemantic(getSem()); // C1
  return verifyNotConstant(*this, getPtr().getType());
}

LogicalResult AtomicPollOp::verify() {
  if (failed(verifyPointee(*this, getPtr().getType(), getExpected().getType(), "expected"))) return failure(); // C1
  unsigned width = getExpected().getType().getIntOrFloatBitWidth();
  if (width != 16 && width != 32 && width != 64)
    return emitOpError() << "needs an integer of 16, 32 or 64 bits, got " << getExpected().getType(); // C2
  if (getSem() != MemSemantic::Relaxed && getSem() != MemSemantic::Acquire)
    return emitOpError() << "needs sem relaxed or acquire, got " << stringifyMemSemantic(getSem()); // C3
  return success();
}

} // namespace tiletwin::tt
