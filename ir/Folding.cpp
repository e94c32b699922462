// ir/Folding.cpp -- folders and canonicalisation of the shape operations: constants and splats move through them.
// Invariant: no fold rounds a number or changes a NaN; only whole elements move.
#include "ir/TT.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tiletwin::tt {

// A constant tile with equal elements, under the shape of `type`; null for anything else.
static Attribute respread(Attribute constant, Type type) {
  auto splat = dyn_cast_if_present<SplatElementsAttr>(constant);
  if (!splat) return {};
  return splat.resizeSplat(cast<ShapedType>(type));
}

// A constant tile in row-major order under another shape of as many elements; null for anything else.
static Attribute reshapeConstant(Attribute constant, Type type) {
  if (auto dense = dyn_cast_if_present<DenseElementsAttr>(constant)) return dense.reshape(cast<ShapedType>(type));
  return {};
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (!isa_and_present<IntegerAttr, FloatAttr>(adaptor.getSrc())) return {};
  return DenseElementsAttr::get(getType(), adaptor.getSrc());
}

OpFoldResult UnsplatOp::fold(FoldAdaptor adaptor) {
  if (auto splat = getSrc().getDefiningOp<SplatOp>()) return splat.getSrc();
  if (auto constant = dyn_cast_if_present<SplatElementsAttr>(adaptor.getSrc()))
    return constant.getSplatValue<Attribute>();
  return {};
}

OpFoldResult ExpandDimsOp::fold(FoldAdaptor adaptor) { return reshapeConstant(adaptor.getSrc(), getType()); }

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType()) return getSrc();
  return respread(adaptor.getSrc(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType()) return getSrc();
  return reshapeConstant(adaptor.getSrc(), getType());
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  bool identity = true;
  for (auto [d, from] : llvm::enumerate(getOrder())) identity &= int32_t(d) == from;
  if (identity) return getSrc();
  return respread(adaptor.getSrc(), getType());
}

LogicalResult SplitOp::fold(FoldAdaptor adaptor, SmallVectorImpl<OpFoldResult>& results) {
  if (auto join = getSrc().getDefiningOp<JoinOp>()) {
    results.assign({join.getLhs(), join.getRhs()});
    return success();
  }
  Attribute half = respread(adaptor.getSrc(), getOutLHS().getType());
  if (!half) return failure();
  results.assign({half, half});
  return success();
}

// op(splat x) = splat x for every operation that only moves elements.
template <class Op> static LogicalResult moveSplat(Op op, PatternRewriter& rewriter) {
  auto splat = op.getSrc().template getDefiningOp<SplatOp>();
  if (!splat) return failure();
  rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSrc());
  return success();
}

// op(op(x)) = op(x)
static LogicalResult mergeBroadcasts(BroadcastOp op, PatternRewriter& rewriter) {
  auto inner = op.getSrc().getDefiningOp<BroadcastOp>();
  if (!inner) return failure();
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getSrc());
  return success();
}

static LogicalResult mergeReshapes(ReshapeOp op, PatternRewriter& rewriter) {
  auto inner = op.getSrc().getDefiningOp<ReshapeOp>();
  if (!inner || inner.getAllowReorder() || op.getEfficientLayout() || inner.getEfficientLayout()) return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getSrc(), op.getAllowReorder(), false);
  return success();
}

static LogicalResult mergeTransposes(TransOp op, PatternRewriter& rewriter) {
  auto inner = op.getSrc().getDefiningOp<TransOp>();
  if (!inner) return failure();
  SmallVector<int32_t> order;
  for (int32_t d : op.getOrder()) order.push_back(inner.getOrder()[d]);
  rewriter.replaceOpWithNewOp<TransOp>(op, op.getType(), inner.getSrc(), order);
  return success();
}

void ExpandDimsOp::getCanonicalizationPatterns(RewritePatternSet& patterns, MLIRContext*) {
  patterns.add(moveSplat<ExpandDimsOp>);
}
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet& patterns, MLIRContext*) {
  patterns.add(moveSplat<BroadcastOp>);
  patterns.add(mergeBroadcasts);
}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet& patterns, MLIRContext*) {
  patterns.add(moveSplat<ReshapeOp>);
  patterns.add(mergeReshapes);
}
void TransOp::getCanonicalizationPatterns(RewritePatternSet& patterns, MLIRContext*) {
  patterns.add(moveSplat<TransOp>);
  patterns.add(mergeTransposes);
}

} // namespace tiletwin::tt
