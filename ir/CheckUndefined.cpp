// ir/CheckUndefined.cpp -- lanes that a load masked off without `other`: on a GPU they hold whatever a register held.
// Here:      where such lanes begin; reductions and products, which make one value of many lanes.
// Not here:  elementwise operations, shapes, control flow, stores (CheckPaths, CheckShadows .cpp).
// Rule:      a line that is undefined as a whole (a row behind the last one) has an undefined sum, which may go nowhere. A line of
//            which some lanes are defined is wrong at once: the finding names the reduction, and its result counts as defined.
#include "ir/CheckShadows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tiletwin::tt {
namespace {

constexpr StringLiteral kAdvice = "give the load an `other`, or keep those lanes out with tl.where or a mask";

class UndefinedCheck final : public ShadowCheck {
public:
  StringRef name() const override { return "undefined"; }

  bool begins(Operation* op) override {
    Value mask = maskOf(op);
    if (!mask || matchPattern(mask, m_One())) return false;
    if (auto load = dyn_cast<LoadOp>(op)) return !load.getOther();
    return isa<AtomicRMWOp, AtomicLoadOp>(op) && !op->use_empty();
  }

  bool follows(Operation* op, OpResult) override { return true; }

  OriginText textOf(Operation*) override { return {"leaves its masked-off lanes undefined: there is no `other`", ""}; }

  Value shadowOf(Shadows& s, Operation* op, OpResult result) override {
    if (s.idOf(op)) {
      Type type = s.typeFor(maskOf(op).getType());
      return s.choose(maskOf(op), {}, s.integer(type, s.idOf(op)), type);
    }
    if (auto load = dyn_cast<LoadOp>(op)) // `other` goes where the mask is off
      return load.getOther() ? s.choose(load.getMask(), {}, s.of(load.getOther()), result.getType()) : Value();
    if (isa<HistogramOp>(op)) return {}; // reported where it counts
    if (auto reduction = dyn_cast<ReduceOp>(op)) return ofLines(s, s.ofAll(op), int(reduction.getAxis()));
    if (isa<ScanOp>(op)) return s.ofAll(op); // those behind an undefined one are reported
    if (auto dot = dyn_cast<DotOp>(op)) {
      const int rank = int(cast<RankedTensorType>(dot.getType()).getRank());
      Value rows = ofLines(s, s.of(dot.getA()), rank - 1), columns = ofLines(s, s.of(dot.getB()), rank - 2);
      return s.combine(s.of(dot.getC()), s.combine(s.stretch(rows, rank - 1, dot.getType()),
                                                   s.stretch(columns, rank - 2, dot.getType())));
    }
    return s.passedOn(op, result);
  }

  void look(Shadows& s, Operation* op) override {
    lookAtAccess(s, op, /*atOrigin=*/false, kAdvice, /*onlyValues=*/false);
    lookAtControl(s, op, /*atOrigin=*/false, kAdvice);
    if (isa<ReduceOp>(op) && !op->use_empty())
      lookAtLines(s, op, s.ofAll(op), op->getOperand(0), int(cast<ReduceOp>(op).getAxis()),
                  "combines undefined lanes with others");
    if (isa<ScanOp>(op) && s.ofAll(op)) {
      Value own = s.ofAll(op), before = s.passedOn(op, op->getResult(0));
      s.probe(op, op->getOperand(0), s.where(before, own, /*whereZero=*/true), {},
              "combines undefined lanes with those behind them", kAdvice, false);
    }
    if (auto dot = dyn_cast<DotOp>(op)) {
      const int rank = int(cast<RankedTensorType>(dot.getType()).getRank());
      lookAtLines(s, op, s.of(dot.getA()), dot.getA(), rank - 1, "multiplies undefined lanes of its first operand");
      lookAtLines(s, op, s.of(dot.getB()), dot.getB(), rank - 2, "multiplies undefined lanes of its second operand");
    }
    if (auto histogram = dyn_cast<HistogramOp>(op))
      s.probe(op, histogram.getSrc(), s.of(histogram.getSrc()), histogram.getMask(), "counts undefined lanes",
              "give tl.histogram the mask", false);
  }

private:
  /// Lines that are undefined as a whole.
  static Value ofLines(Shadows& s, Value shadow, int axis) {
    return shadow ? s.reduce<arith::MinUIOp>(shadow, axis) : Value();
  }
  static void lookAtLines(Shadows& s, Operation* op, Value shadow, Value operand, int axis, StringRef message) {
    if (!shadow || shapeOf(shadow.getType())[size_t(axis)] == 1) return;
    Value whole = s.stretch(ofLines(s, shadow, axis), axis, operand.getType());
    s.probe(op, operand, s.where(shadow, whole, /*whereZero=*/true), {}, message, kAdvice, false);
  }
};

} // namespace

std::unique_ptr<ShadowCheck> makeUndefinedCheck() { return std::make_unique<UndefinedCheck>(); }

} // namespace tiletwin::tt
