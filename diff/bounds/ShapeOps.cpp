// diff/bounds/ShapeOps.cpp -- shadows move with their elements.
#include "diff/bounds/Builder.h"

using namespace mlir;

namespace tiletwin::diff {
Value moved(Builder& b, Operation* op, OpResult result) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value shadow = b.of(operand);
    if (isAddress(operand.getType()) && !shadow) return {};
    operands.push_back(shadow ? shadow : b.noShadow(operand.getType()));
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) types.push_back(Builder::shadowType(type));
  return b.cloneFor(op, operands, types)->getResult(result.getResultNumber());
}

namespace {

Value gathered(Builder& b, tt::GatherOp gather, OpResult result) {
  Value source = b.of(gather.getSrc()), doubt = b.mayDiffer(gather.getIndices());
  if (source)
    source = b.cloneFor(gather, {source, gather.getIndices()}, Builder::shadowType(result.getType()))->getResult(0);
  if (isBool(result.getType())) return b.either(source, doubt);
  return b.unknownWhere(doubt, Reason::Address, source, result.getType());
}

} // namespace

BOUNDS_RULE(tt::GatherOp, gathered)

} // namespace tiletwin::diff
