// diff/bounds/ShapeOps.cpp -- shadows move with their elements.
#include "diff/bounds/Builder.h"

using namespace mlir;

namespace tiletwin::diff {
namespace {

/// A shadow for every operand: those that have none are exact.
Value orExact(Builder& b, Value operand) {
  if (Value shadow = b.of(operand)) return shadow;
  if (!isBool(operand.getType())) return b.zero(operand.getType());
  TypedAttr no = b.ops().getBoolAttr(false);
  if (auto tile = dyn_cast<RankedTensorType>(operand.getType())) no = DenseElementsAttr::get(tile, false);
  return arith::ConstantOp::create(b.ops(), b.location(), no);
}

Value moved(Builder& b, Operation* op, OpResult result) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (isAddress(operand.getType()) && !b.of(operand)) return {};
    operands.push_back(orExact(b, operand));
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) types.push_back(Builder::shadowType(type));
  return b.cloneFor(op, operands, types)->getResult(result.getResultNumber());
}

Value gathered(Builder& b, Operation* op, OpResult result) {
  auto gather = cast<tt::GatherOp>(op);
  Value source = b.of(gather.getSrc()), doubt = b.mayDiffer(gather.getIndices());
  if (source)
    source = b.cloneFor(op, {source, gather.getIndices()}, Builder::shadowType(result.getType()))->getResult(0);
  if (isBool(result.getType())) return b.either(source, doubt);
  return b.unknownWhere(doubt, Reason::Address, source, result.getType());
}

constexpr Rule kRules[] = {
    {"tt.broadcast", nullptr, moved}, {"tt.cat", nullptr, moved},     {"tt.expand_dims", nullptr, moved},
    {"tt.gather", nullptr, gathered}, {"tt.join", nullptr, moved},    {"tt.make_range", nullptr, nullptr},
    {"tt.reshape", nullptr, moved},   {"tt.splat", nullptr, moved},   {"tt.split", nullptr, moved},
    {"tt.trans", nullptr, moved},     {"tt.unsplat", nullptr, moved},
};

} // namespace

ArrayRef<Rule> shapeRules() { return kRules; }

} // namespace tiletwin::diff
