// ir/MemoryOps.cpp -- verifiers, memory effects and canonicalisation of tt.load and tt.store.
#include "ir/TT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tiletwin::tt {

LogicalResult LoadOp::verify() {
  if (getOther() && !getMask()) return emitOpError() << "has `other` without a mask"; // C1
  return success();
}

void LoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>& effects) {
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
  if (getIsVolatile()) effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

// A mask that is all ones says nothing.
static LogicalResult dropTrueLoadMask(LoadOp op, PatternRewriter& rewriter) {
  if (!op.getMask() || !matchPattern(op.getMask(), m_One())) return failure();
  rewriter.modifyOpInPlace(op, [&] {
    op.getMaskMutable().clear();
    op.getOtherMutable().clear();
  });
  return success();
}

// A mask that is all zeros leaves `other`, or 0.
static LogicalResult dropFalseLoad(LoadOp op, PatternRewriter& rewriter) {
  if (!op.getMask() || op.getIsVolatile() || !matchPattern(op.getMask(), m_Zero())) return failure();
  if (op.getOther()) {
    rewriter.replaceOp(op, op.getOther());
    return success();
  }
  TypedAttr zero = rewriter.getZeroAttr(op.getResult().getType());
  if (!zero || !elementTypeOf(op.getResult().getType()).isIntOrFloat()) return failure();
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, zero);
  return success();
}

void LoadOp::getCanonicalizationPatterns(RewritePatternSet& patterns, MLIRContext*) {
  patterns.add(dropTrueLoadMask);
  patterns.add(dropFalseLoad);
}

LogicalResult StoreOp::verify() {
  if (cast<PointerType>(elementTypeOf(getPtr().getType())).getAddressSpace() == AddressSpace::Constant)
    return emitOpError() << "writes through a pointer into constant memory"; // C1
  return success();
}

static LogicalResult simplifyStoreMask(StoreOp op, PatternRewriter& rewriter) {
  if (!op.getMask()) return failure();
  if (matchPattern(op.getMask(), m_One())) {
    rewriter.modifyOpInPlace(op, [&] { op.getMaskMutable().clear(); });
    return success();
  }
  if (!matchPattern(op.getMask(), m_Zero())) return failure();
  rewriter.eraseOp(op);
  return success();
}

void StoreOp::getCanonicalizationPatterns(RewritePatternSet& patterns, MLIRContext*) {
  patterns.add(simplifyStoreMask);
}

LogicalResult PrefetchOp::verify() {
  if (cast<PointerType>(elementTypeOf(getPtr().getType())).getAddressSpace() == AddressSpace::Constant)
    return emitOpError() << "names constant memory, which has caches of its own"; // C1
  return success();
}

OpFoldResult AddPtrOp::fold(FoldAdaptor) {
  return matchPattern(getOffset(), m_Zero()) ? OpFoldResult(getPtr()) : OpFoldResult();
}
OpFoldResult PtrToIntOp::fold(FoldAdaptor) {
  auto source = getSrc().getDefiningOp<IntToPtrOp>();
  return source ? OpFoldResult(source.getSrc()) : OpFoldResult();
}
OpFoldResult IntToPtrOp::fold(FoldAdaptor) {
  auto source = getSrc().getDefiningOp<PtrToIntOp>();
  return source && source.getSrc().getType() == getType() ? OpFoldResult(source.getSrc()) : OpFoldResult();
}

} // namespace tiletwin::tt
