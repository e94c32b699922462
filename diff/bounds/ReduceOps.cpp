// diff/bounds/ReduceOps.cpp -- sums in any order, minima and maxima, the place of an extremum, running sums.
// Rule:      n numbers summed in two orders lie within n ulp (sum of |x|) of each other, ulp being that of the result's type.
#include "diff/bounds/Builder.h"
#include <algorithm>
#include <limits>

using namespace mlir;

namespace tiletwin::diff {
namespace {

/// The only operation of a combine function of two scalars; null: it has several.
Operation* onlyStep(Operation* op) {
  Region& region = op->getRegion(0);
  if (op->getNumOperands() != 1 || !region.hasOneBlock()) return nullptr;
  Operation* first = &region.front().front();
  return first->getNextNode() == region.front().getTerminator() ? first : nullptr;
}

bool computesFloats(Operation* op) {
  bool found = false;
  op->getRegion(0).walk([&](Operation* inner) {
    found |= isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, math::FmaOp>(inner) ||
             inner->getDialect()->getNamespace() == "math" || isa<tt::ExternElementwiseOp>(inner);
  });
  return found;
}

int64_t extent(Operation* op, int axis) { return cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(axis); }

bool dependsOnOrder(const Builder&, Operation* op) {
  if (!computesFloats(op)) return false;
  const int axis = int(cast<IntegerAttr>(op->getAttr("axis")).getInt());
  return extent(op, axis) > 2 || !onlyStep(op);
}

Value unknown(Builder& b, Operation* op, OpResult result) {
  b.without(op);
  b.noteAlways(Reason::NoRule);
  return b.anything(result.getType());
}

/// The sizes of the numbers of a tile; of those that are not finite, 0.
Value finiteSizes(Builder& b, Value tile) {
  return b.select(b.isFinite(tile), b.magnitude(tile), b.zero(tile.getType()));
}

/// `bound`, infinite where a sum may pass the largest number in one order and not in another. terms: the sum of the sizes of
/// its finite terms.
Value unlessOverflows(Builder& b, Value terms, Value bound, OpResult result) {
  const llvm::fltSemantics& type = cast<FloatType>(tt::elementTypeOf(result.getType())).getFloatSemantics();
  llvm::APFloat most = llvm::APFloat::getLargest(type);
  bool inexact;
  most.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmTowardZero, &inexact);
  // Bounds are f32: of f64 no more is known. Sums round, so some room is left.
  const double limit = std::min(most.convertToDouble(), double(std::numeric_limits<float>::max())) * 0.99;
  Value overflows = b.compare(Predicate::OGT, terms, b.constant(result.getType(), limit));
  return b.unknownWhere(overflows, Reason::NoRule, bound, result.getType());
}

Value sum(Builder& b, Operation* op, OpResult result, int axis) {
  Value source = op->getOperand(0), e = b.of(source);
  if (e) e = b.reduce<arith::AddFOp>(e, axis);
  Value terms = b.reduce<arith::AddFOp>(b.magnitude(source), axis);
  // In units of the result's last place: rounding() of a number of the size of `terms`.
  Value order = b.mul(terms, double(extent(op, axis)) * unitOfOne(result.getType()));
  Value bound = b.unlessInfinite(result, b.add(b.add(e, order), b.rounding(result, 0x1p-10)), {e});
  return unlessOverflows(b, b.reduce<arith::AddFOp>(finiteSizes(b, source), axis), bound, result);
}

/// argmax and the like: results are chosen among the operands, the first float decides.
Value chosen(Builder& b, Operation* op, OpResult result, int axis) {
  const unsigned number = result.getResultNumber();
  Value source = op->getOperand(number);
  if (!isFloat(op->getOperand(0).getType()) || computesFloats(op)) return unknown(b, op, result);
  if (isFloat(source.getType())) {
    Value e = b.of(source);
    return e ? b.reduce<arith::MaximumFOp>(e, axis) : Value();
  }
  // Another element may win on the other side if it is as good as the winner, within both bounds.
  Value key = op->getOperand(0), e = b.of(key);
  if (!e) return {};
  Value best = b.stretch(op->getResult(0), axis, key.getType());
  Value mostE = b.stretch(b.reduce<arith::MaximumFOp>(e, axis), axis, key.getType());
  Value apart = b.magnitude(arith::SubFOp::create(b, key, best));
  Value near = b.compare(Predicate::ULE, apart, b.add(e, mostE));
  Value other = b.compare(arith::CmpIPredicate::ne, source, b.stretch(result, axis, source.getType()));
  return b.exactBut(b.reduce<arith::OrIOp>(b.both(near, other), axis), Reason::NoRule, result.getType());
}

Value reduced(Builder& b, tt::ReduceOp op, OpResult result) {
  const int axis = int(op.getAxis());
  Operation* step = onlyStep(op);
  if (!step) return chosen(b, op, result, axis);
  Value source = op->getOperand(0);
  if (isa<arith::AddFOp>(step)) return sum(b, op, result, axis);
  if (isa<arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp, arith::MinSIOp,
          arith::MaxUIOp, arith::MinUIOp>(step) &&
      !isBool(source.getType())) {
    Value e = b.of(source);
    if (!e) return {};
    Value bound = b.reduce<arith::MaximumFOp>(e, axis);
    Value ends =
        isFloat(source.getType()) ? Value() : apartByRange(b, source, isa<arith::MaxUIOp, arith::MinUIOp>(step));
    return ends ? b.unknownWhere(b.reduce<arith::OrIOp>(ends, axis), Reason::NoRule, bound, result.getType()) : bound;
  }
  if (isa<arith::AddIOp>(step) && !isBool(source.getType())) {
    Value e = b.of(source);
    return e ? b.reduce<arith::AddFOp>(e, axis) : Value();
  }
  if (isa<arith::OrIOp, arith::AndIOp, arith::XOrIOp>(step)) {
    Value lanes = b.mayDiffer(source);
    if (!lanes) return {};
    return b.exactBut(b.reduce<arith::OrIOp>(lanes, axis), Reason::NoRule, result.getType());
  }
  return unknown(b, op, result);
}

/// The running sum of a shadow along the scan's axis.
Value running(Builder& b, tt::ScanOp op, Value tile) { return b.scan<arith::AddFOp>(tile, op); }

Value scanned(Builder& b, tt::ScanOp scan, OpResult result) {
  Operation* step = onlyStep(scan);
  Value source = scan->getOperand(0), e = b.of(source);
  if (step && isa<arith::AddIOp>(step) && !isBool(source.getType())) return e ? running(b, scan, e) : Value();
  if (!step || !isa<arith::AddFOp>(step)) return unknown(b, scan, result);
  Value order = b.mul(running(b, scan, b.magnitude(source)),
                      double(extent(scan, int(scan.getAxis()))) * unitOfOne(result.getType()));
  Value carried = e ? running(b, scan, e) : Value();
  Value bound = b.unlessInfinite(result, b.add(carried, order), {carried});
  return unlessOverflows(b, running(b, scan, finiteSizes(b, source)), bound, result);
}

bool mapComputes(const Builder&, Operation* op) { return computesFloats(op); }

/// Scalar code with effects; what only computes is followed like a branch (Control.cpp).
Value mapped(Builder& b, Operation* op, OpResult result) { return unknown(b, op, result); }

} // namespace

BOUNDS_RULE(tt::MapElementwiseOp, mapped, mapComputes)
BOUNDS_RULE(tt::ReduceOp, reduced, dependsOnOrder)
BOUNDS_RULE(tt::ScanOp, scanned, dependsOnOrder)

} // namespace tiletwin::diff
