// diff/bounds/ShapeOps.cpp -- shadows move with their elements.
#include "diff/bounds/Builder.h"

using namespace mlir;

namespace tiletwin::diff {
namespace {

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
