// codegen/dialect/SharedOps.cpp -- verifiers of tiles in shared memory and of the operations that move tiles there and back.
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tiletwin::twg {

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned, unsigned swizzle,
                                 unsigned piece) {
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "swizzle is 0, 32, 64 or 128 bytes, not " << swizzle; // C1
  if (piece == 16 || piece == 32) return success();
  return emitError() << "a piece has 16 or 32 bytes, not " << piece; // C2
}

LogicalResult MemDescType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                                  SharedAttr layout) {
  if (shape.size() < 2) return emitError() << "a tile in shared memory has two dimensions or more"; // C1
  for (int64_t extent : shape.take_back(2))
    if (extent < 1 || !llvm::isPowerOf2_64(uint64_t(extent)))
      return emitError() << "extents in shared memory are powers of two, not " << extent; // C1
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8)
    return emitError() << "elements in shared memory are numbers of 8 bits or more, not " << element; // C2
  unsigned contiguous = layout.getContiguous(), rank = unsigned(shape.size());
  if (contiguous + 2 < rank || contiguous >= rank)
    return emitError() << "the contiguous dimension is one of the last two, not " << contiguous; // C3
  uint64_t row = uint64_t(shape[contiguous]) * (element.getIntOrFloatBitWidth() / 8);
  if (row < layout.getSwizzle())
    return emitError() << "rows of " << row << " bytes are shorter than the swizzle of " << layout.getSwizzle(); // C3
  return success();
}

namespace {

/// A tile of registers and one in shared memory of one shape and element type.
LogicalResult verifySameTile(Operation* op, Type registers, MemDescType memory) {
  auto tile = cast<RankedTensorType>(registers);
  if (tile.getShape() == memory.getShape() && tile.getElementType() == memory.getElementType()) return success();
  return op->emitOpError() << "needs one shape and element type, got " << tile << " and " << memory;
}

} // namespace

LogicalResult LocalAllocOp::verify() {
  return getSrc() ? verifySameTile(*this, getSrc().getType(), getResult().getType()) : success(); // C1
}

LogicalResult LocalLoadOp::verify() {
  return verifySameTile(*this, getResult().getType(), getSrc().getType()); // C1
}

LogicalResult LocalStoreOp::verify() { return verifySameTile(*this, getSrc().getType(), getDst().getType()); } // C1

LogicalResult MemDescIndexOp::verify() {
  MemDescType all = getSrc().getType(), one = getResult().getType();
  bool isOne = all.getShape().size() == one.getShape().size() + 1 && all.getShape().drop_front() == one.getShape() &&
               all.getElementType() == one.getElementType();
  if (!isOne) return emitOpError() << "needs a result that is one buffer of " << all << ", got " << one; // C2
  SharedAttr from = all.getLayout(), to = one.getLayout();
  if (from.getContiguous() != to.getContiguous() + 1 || from.getSwizzle() != to.getSwizzle() ||
      from.getPiece() != to.getPiece())
    return emitOpError() << "needs the order of elements of " << all << ", got " << one; // C2
  return success();
}

LogicalResult AsyncCopyOp::verify() {
  auto pointers = cast<RankedTensorType>(getPtr().getType());
  auto pointer = dyn_cast<tt::PointerType>(pointers.getElementType());
  if (!pointer) return emitOpError() << "needs a tile of pointers, got " << pointers; // C2
  if (failed(verifySameTile(*this, pointers.clone(pointer.getPointeeType()), getDst().getType())))
    return failure(); // C2
  if (!getMask()) return success();
  auto mask = cast<RankedTensorType>(getMask().getType());
  if (mask.getShape() == pointers.getShape() && mask.getElementType().isInteger(1)) return success();
  return emitOpError() << "needs a mask of i1 in the shape of its pointers, got " << mask; // C2
}

LogicalResult WarpgroupFenceOp::verify() {
  if (getTiles().empty() || getTiles().size() > 2) return emitOpError("needs a sum and at most one tile more"); // C2
  for (Operation* user : getOperation()->getUsers())
    if (!isa<WarpgroupDotOp>(user))
      return emitOpError() << "has a result that " << user->getName() << " uses; it is for twg.warpgroup_dot"; // C1
  return success();
}

LogicalResult WarpgroupDotOp::verify() {
  auto isInMemory = [](OpOperand& matrix) { return isa<MemDescType>(matrix.get().getType()); };
  for (Type type : {getA().getType(), getB().getType()})
    if (auto memory = dyn_cast<MemDescType>(type); memory && memory.getLayout().getPiece() != 16)
      return emitOpError() << "reads pieces of 16 bytes, got " << memory; // C5
  if (!isInMemory(second())) return emitOpError() << "needs `" << (getTransposed() ? "a" : "b") << "` in shared memory";
  if (std::optional<ArrayRef<int32_t>> rows = getRows()) {
    const int64_t extent = tt::shapeOf(getD().getType())[getTransposed() ? 1 : 0];
    SmallVector<int32_t> sorted(*rows);
    llvm::sort(sorted);
    const bool isWhole = int64_t(1) << sorted.size() == extent;
    if (!isWhole || llvm::any_of(llvm::enumerate(sorted), [](auto bit) { return int64_t(bit.index()) != bit.value(); }))
      return emitOpError() << "needs `rows` that name each bit of " << extent << " rows once"; // C4
  }
  if (!getInFlight()) return success();
  if (tt::elementTypeOf(getD().getType()).getIntOrFloatBitWidth() != 32)
    return emitOpError("in flight needs sums of 32 bits"); // C3
  for (OpOperand& use : getD().getUses()) {
    Operation* user = use.getOwner();
    auto dot = dyn_cast<WarpgroupDotOp>(user);
    bool isNext = dot && dot.getInFlight() && use.getOperandNumber() == dot.getCMutable().getOperandNumber();
    if (!isNext && !isa<WarpgroupFenceOp, WarpgroupWaitOp>(user) && !user->hasTrait<OpTrait::IsTerminator>())
      return emitOpError() << "in flight has a result that " << user->getName()
                           << " uses; it wants that of twg.warpgroup_wait"; // C3
  }
  return success();
}

} // namespace tiletwin::twg
