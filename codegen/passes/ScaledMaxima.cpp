// codegen/passes/ScaledMaxima.cpp -- see ScaledMaxima.h.
#include "codegen/passes/ScaledMaxima.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <limits>

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// A tile times a number.
struct Scaled {
  arith::MulFOp product;
  Value tile, factor;
};

std::optional<Scaled> scaledOf(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || !tt::hasOneUse(product)) return std::nullopt;
  for (unsigned side : {0u, 1u})
    if (auto splat = product->getOperand(side).getDefiningOp<tt::SplatOp>())
      return Scaled{product, product->getOperand(1 - side), splat.getSrc()};
  return std::nullopt;
}

bool isOfMaximum(tt::ReduceOp reduce) {
  Block& combine = reduce.getCombineOp().front();
  if (combine.getNumArguments() != 2 || combine.getOperations().size() != 2) return false;
  Operation& op = combine.front();
  return isa<arith::MaxNumFOp, arith::MaximumFOp, arith::MinNumFOp, arith::MinimumFOp>(op) &&
         llvm::equal(op.getOperands(), combine.getArguments()) &&
         llvm::equal(combine.getTerminator()->getOperands(), op.getResults());
}

/// A scalar of the branch, computed in front of it; null if the loop changes it.
Value inFrontOf(scf::IfOp branch, Value value, OpBuilder& builder) {
  if (!branch->isAncestor(value.getParentRegion()->getParentOp())) return value;
  Operation* op = value.getDefiningOp();
  if (!op || op->getNumRegions() || !isMemoryEffectFree(op)) return {};
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value outside = inFrontOf(branch, operand, builder);
    if (!outside) return {};
    mapping.map(operand, outside);
  }
  return builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
}

void scaleLast(tt::ReduceOp reduce, Scaled scaled) {
  OpBuilder builder(reduce);
  reduce->setOperand(0, scaled.tile);
  scaled.product->erase();
  builder.setInsertionPointAfter(reduce);
  Value largest = reduce->getResult(0), factor = scaled.factor;
  if (isa<RankedTensorType>(largest.getType()))
    factor = tt::SplatOp::create(builder, reduce.getLoc(), largest.getType(), factor);
  auto product = arith::MulFOp::create(builder, reduce.getLoc(), largest, factor);
  largest.replaceAllUsesExcept(product, product);
}

} // namespace

void scaleMaximaLast(scf::ForOp loop, scf::IfOp branch) {
  OpBuilder builder(branch);
  Location where = loop.getLoc();
  SmallVector<tt::ReduceOp> all(loop.getBody()->getOps<tt::ReduceOp>());
  for (tt::ReduceOp reduce : all) {
    if (reduce->getNumOperands() != 1 || !isOfMaximum(reduce)) continue;
    std::optional<Scaled> scaled = scaledOf(reduce->getOperand(0));
    if (!scaled || !scaled->factor.getType().isF32()) continue;
    Value factor = inFrontOf(branch, scaled->factor, builder);
    if (!factor) continue;
    auto andIs = [&](arith::CmpFPredicate how, float number) {
      Value bound = arith::ConstantOp::create(builder, where, builder.getF32FloatAttr(number));
      Value holds = arith::CmpFOp::create(builder, where, how, factor, bound);
      branch.getConditionMutable().assign(arith::AndIOp::create(builder, where, branch.getCondition(), holds));
    };
    andIs(arith::CmpFPredicate::OGT, 0.0f);
    andIs(arith::CmpFPredicate::OLT, std::numeric_limits<float>::infinity());
    scaleLast(reduce, *scaled);
  }
}

} // namespace tiletwin::codegen
