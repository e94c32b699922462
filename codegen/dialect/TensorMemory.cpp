// codegen/dialect/TensorMemory.cpp -- verifiers of tiles in tensor memory and of the operations on them.
#include "codegen/layout/TensorMemory.h"
#include "codegen/dialect/TWG.h"
#include "ir/TT.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tiletwin::twg {

LogicalResult TmemType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element) {
  const bool arePowers =
      llvm::all_of(shape, [](int64_t extent) { return extent > 0 && llvm::isPowerOf2_64(uint64_t(extent)); });
  if (!arePowers || !codegen::TensorMemoryLayout::fits(shape))
    return emitError()
           << "tensor memory holds two dimensions, powers of two: 64 rows of 8 columns or more, or rows of 16 "
              "columns or more, in at most 512 columns of 128 rows";                            // C1
  if (!element.isF32()) return emitError() << "sums in tensor memory are f32, not " << element; // C2
  return success();
}

namespace {

LogicalResult verifyAll(Operation* op, Value all) {
  return all.getDefiningOp<TmemOpenOp>() ? success()
                                         : op->emitOpError("needs tensor memory that a twg.tmem_open gives"); // C1
}

LogicalResult verifySameTile(Operation* op, Type registers, TmemType memory) {
  auto tile = cast<RankedTensorType>(registers);
  if (tile.getShape() == memory.getShape() && tile.getElementType() == memory.getElementType()) return success();
  return op->emitOpError() << "needs one shape and element type, got " << tile << " and " << memory; // C1
}

} // namespace

LogicalResult TmemOpenOp::verify() {
  Block* block = getOperation()->getBlock();
  if (!block->isEntryBlock() || !isa<tt::FuncOp>(block->getParentOp()))
    return emitOpError("stands in the first block of the kernel");                                    // C1
  if (llvm::count_if(*block, llvm::IsaPred<TmemOpenOp>) > 1) return emitOpError("stands there once"); // C1
  const auto columns = uint32_t(getColumns());
  if (columns >= 32 && columns <= codegen::TensorMemoryLayout::kColumns && llvm::isPowerOf2_32(columns))
    return success();
  return emitOpError() << "needs a power of two from 32 to 512 columns, got " << columns; // C2
}

LogicalResult TmemCloseOp::verify() { return verifyAll(*this, getAll()); }
LogicalResult TmemAllocOp::verify() { return verifyAll(*this, getAll()); }
LogicalResult TmemStoreOp::verify() { return verifySameTile(*this, getSrc().getType(), getDst().getType()); }
LogicalResult TmemLoadOp::verify() { return verifySameTile(*this, getResult().getType(), getSrc().getType()); }

LogicalResult TmemDotOp::verify() {
  const MemDescType a = getA().getType(), b = getB().getType();
  ArrayRef<int64_t> d = getD().getType().getShape();
  const bool areMatrices = a.getShape().size() == 2 && b.getShape().size() == 2;
  const int64_t ctas = getTogether() ? 2 : 1;
  if (!areMatrices || a.getShape() != ArrayRef<int64_t>{d[0], b.getShape()[0]} || b.getShape()[1] * ctas != d[1])
    return emitOpError() << "needs shapes of a matrix product, got " << a << ", " << b << " and "
                         << getD().getType(); // C1
  for (auto [matrix, k] : {std::pair(a, 1u), std::pair(b, 0u)}) {
    if (matrix.getLayout().getSwizzle() == 0 || matrix.getLayout().getPiece() != 16)
      return emitOpError() << "needs swizzled rows, got " << matrix; // C2
    if (matrix.getElementType().getIntOrFloatBitWidth() == 32 && matrix.getLayout().getContiguous() != k)
      return emitOpError() << "needs K as the contiguous dimension of " << matrix; // C3
  }
  return success();
}

} // namespace tiletwin::twg
