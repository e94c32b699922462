// codegen/passes/DotPrecision.cpp -- f32 operands as sums of two or three narrower numbers.
// Idea: x = x0 + x1 [+ x2] + a small rest, each part the rounded rest of those before it. A product of two such sums is
//       the sum of the parts' products; the smallest are left out, the others added from the smallest to the largest in
//       one accumulator. A NaN among them (infinity times zero, infinities of different signs) is dropped before the
//       largest product, which tells whether the result is one. The dot's own accumulator comes last.
// Idea: tf32 has all numbers of f16 and of bf16. A tf32 product of two tiles that were widened from one of them is the
//       product of the narrow tiles, which takes half the time and half the memory, and whose second operand needs no
//       order of its own. Its products are exact, too; the sums are f32 in both.
#include "codegen/passes/DotPrecision.h"
#include "codegen/dialect/TWG.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tiletwin::codegen {
namespace {

/// How many parts, and which products in which order: numbers of the parts of a and b.
struct Split {
  unsigned parts;
  bool isTf32;
  SmallVector<std::pair<unsigned, unsigned>, 6> products;
};

std::optional<Split> splitOf(tt::InputPrecision precision) {
  switch (precision) {
  case tt::InputPrecision::TF32x3: return Split{2, true, {{1, 0}, {0, 1}, {0, 0}}};
  case tt::InputPrecision::BF16x3: return Split{2, false, {{1, 0}, {0, 1}, {0, 0}}};
  case tt::InputPrecision::BF16x6: return Split{3, false, {{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}, {0, 0}}};
  default: return std::nullopt;
  }
}

SmallVector<Value, 3> partsOf(OpBuilder& builder, Location where, Value x, const Split& split) {
  auto type = cast<RankedTensorType>(x.getType());
  mlir::Type narrow = type.clone(builder.getBF16Type());
  SmallVector<Value, 3> parts;
  for (unsigned i = 0; i < split.parts; ++i) {
    bool isLast = i + 1 == split.parts;
    if (split.isTf32) {
      // The last part needs no rounding: tensor cores drop what tf32 has no bits for.
      parts.push_back(isLast ? x : Value(twg::RoundToTf32Op::create(builder, where, type, x)));
      if (!isLast) x = arith::SubFOp::create(builder, where, x, parts.back());
      continue;
    }
    parts.push_back(arith::TruncFOp::create(builder, where, narrow, x));
    if (isLast) break;
    Value back = arith::ExtFOp::create(builder, where, type, parts.back());
    x = arith::SubFOp::create(builder, where, x, back);
  }
  return parts;
}

void rewriteSplit(tt::DotOp dot, const Split& split) {
  OpBuilder builder(dot);
  Location where = dot.getLoc();
  SmallVector<Value, 3> a = partsOf(builder, where, dot.getA(), split), b = partsOf(builder, where, dot.getB(), split);
  auto type = cast<RankedTensorType>(dot.getD().getType());
  Value zero = arith::ConstantOp::create(builder, where, type, DenseElementsAttr::get(type, 0.0f));
  Value sum = zero;
  auto precision = split.isTf32 ? tt::InputPrecision::TF32 : tt::InputPrecision::IEEE;
  for (auto [i, pair] : llvm::enumerate(split.products)) {
    if (i + 1 == split.products.size()) {
      Value isNan = arith::CmpFOp::create(builder, where, arith::CmpFPredicate::UNO, sum, sum);
      sum = arith::SelectOp::create(builder, where, isNan, zero, sum);
    }
    sum = tt::DotOp::create(builder, where, type, a[pair.first], b[pair.second], sum, precision, 0);
  }
  Value result = arith::AddFOp::create(builder, where, sum, dot.getC());
  dot.getD().replaceAllUsesWith(result);
  dot.erase();
}

/// The type that all of a tile's numbers have without rounding, if that is one of 16 bits. Null: it is not known.
mlir::Type narrowTypeOf(Value tile) {
  if (auto trans = tile.getDefiningOp<tt::TransOp>()) return narrowTypeOf(trans.getSrc());
  auto widened = tile.getDefiningOp<arith::ExtFOp>();
  mlir::Type from = widened ? tt::elementTypeOf(widened.getIn().getType()) : mlir::Type();
  return from && (from.isF16() || from.isBF16()) ? from : mlir::Type();
}

/// The tile before it was widened.
Value narrow(OpBuilder& builder, Value tile) {
  if (auto widened = tile.getDefiningOp<arith::ExtFOp>()) return widened.getIn();
  auto trans = tile.getDefiningOp<tt::TransOp>();
  Value source = narrow(builder, trans.getSrc());
  mlir::Type type = cast<RankedTensorType>(trans.getType()).clone(tt::elementTypeOf(source.getType()));
  return tt::TransOp::create(builder, trans.getLoc(), type, source, trans.getOrder());
}

/// A tf32 product of tiles that were both widened from the same type becomes one of that type.
void multiplyNarrow(tt::DotOp dot) {
  if (dot.getInputPrecision() != tt::InputPrecision::TF32) return;
  mlir::Type type = narrowTypeOf(dot.getA());
  if (!type || type != narrowTypeOf(dot.getB())) return;
  OpBuilder builder(dot);
  for (OpOperand* operand : {&dot.getAMutable(), &dot.getBMutable()}) {
    Value wide = operand->get();
    operand->set(narrow(builder, wide));
    if (auto trans = wide.getDefiningOp<tt::TransOp>(); trans && trans.use_empty()) trans.erase();
  }
}

bool isOfF32(tt::DotOp dot) {
  return tt::elementTypeOf(dot.getA().getType()).isF32() && tt::elementTypeOf(dot.getD().getType()).isF32();
}

} // namespace

LogicalResult rewriteDots(tt::FuncOp kernel, const Target& target) {
  SmallVector<Operation*> dots;
  kernel.walk([&](Operation* op) {
    if (isa<tt::DotOp, tt::DotScaledOp>(op)) dots.push_back(op);
  });
  for (Operation* op : dots) {
    if (auto scaled = dyn_cast<tt::DotScaledOp>(op)) {
      if (failed(rewriteScaledDot(scaled))) return failure();
      continue;
    }
    auto dot = cast<tt::DotOp>(op);
    if (!isOfF32(dot)) continue;
    std::optional<Split> split = splitOf(dot.getInputPrecision());
    bool hasTf32 = target.features().mmaAmpere;
    if (split && (!split->isTf32 || hasTf32))
      rewriteSplit(dot, *split);
    else if (!hasTf32)
      dot.setInputPrecision(tt::InputPrecision::IEEE);
    else
      multiplyNarrow(dot);
  }
  kernel.walk([](arith::ExtFOp widened) {
    if (isOpTriviallyDead(widened)) widened.erase();
  });
  return success();
}

} // namespace tiletwin::codegen
