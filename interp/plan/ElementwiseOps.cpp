// interp/plan/ElementwiseOps.cpp -- arith, math and tt operations that work element by element.
// Here:      the table from operation to tile function; uniform, affine and box results; joining a group otherwise.
// Not here:  arithmetic (interp/tile), groups (Groups.cpp).
// Invariant: an affine result equals, in the type's wrap-around arithmetic, what the strip function would compute.
#include "interp/plan/ElementwiseOps.h"
#include "interp/plan/Builder.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tiletwin::interp {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::success;
using mlir::Value;

namespace {
using arith::CmpFPredicate;
using arith::CmpIPredicate;

// Comparisons stand in the order of arith's predicates; those of floats begin with "false" and end with "true".
TwElementwise stripOf(CmpIPredicate p) { return TwElementwise(int(TwElementwise::CmpEQ) + int(p)); }
TwElementwise stripOf(CmpFPredicate p) {
  return TwElementwise(int(TwElementwise::CmpFOEQ) + int(p) - int(CmpFPredicate::OEQ));
}
static_assert(int(TwElementwise::CmpUGE) - int(TwElementwise::CmpEQ) == int(CmpIPredicate::uge));
static_assert(int(TwElementwise::CmpFUNO) - int(TwElementwise::CmpFOEQ) ==
              int(CmpFPredicate::UNO) - int(CmpFPredicate::OEQ));

/// Integer operations that have a scalar instruction.
std::optional<ScalarOp> scalarOpOf(TwElementwise op, DType type) {
  if (!isInteger(type)) return std::nullopt;
  bool bit = type == DType::I1;
  switch (op) {
  case TwElementwise::AndI: return ScalarOp::And;
  case TwElementwise::OrI: return ScalarOp::Or;
  case TwElementwise::XorI: return ScalarOp::Xor;
  case TwElementwise::CmpEQ: return ScalarOp::Eq;
  case TwElementwise::CmpNE: return ScalarOp::Ne;
  default: break;
  }
  if (bit) return std::nullopt;
  static constexpr ScalarOp kOrders[] = {ScalarOp::Slt, ScalarOp::Sle, ScalarOp::Sgt, ScalarOp::Sge,
                                         ScalarOp::Ult, ScalarOp::Ule, ScalarOp::Ugt, ScalarOp::Uge};
  switch (op) {
  case TwElementwise::AddI: return ScalarOp::Add;
  case TwElementwise::SubI: return ScalarOp::Sub;
  case TwElementwise::MulI: return ScalarOp::Mul;
  case TwElementwise::DivSI: return ScalarOp::DivS;
  case TwElementwise::DivUI: return ScalarOp::DivU;
  case TwElementwise::RemSI: return ScalarOp::RemS;
  case TwElementwise::RemUI: return ScalarOp::RemU;
  case TwElementwise::MinSI: return ScalarOp::MinS;
  case TwElementwise::MaxSI: return ScalarOp::MaxS;
  case TwElementwise::MinUI: return ScalarOp::MinU;
  case TwElementwise::MaxUI: return ScalarOp::MaxU;
  default: break;
  }
  if (op < TwElementwise::CmpSLT || op > TwElementwise::CmpUGE) return std::nullopt;
  return kOrders[int(op) - int(TwElementwise::CmpSLT)];
}

/// base and strides of `a op b` where that is affine again.
bool affineArithmetic(PlanBuilder& plan, TwElementwise op, const Rep& a, const Rep& b, Rep& out) {
  int width = PlanBuilder::widthOf(a.type);
  out = a;
  switch (op) {
  case TwElementwise::AddI:
  case TwElementwise::SubI: {
    ScalarOp s = op == TwElementwise::AddI ? ScalarOp::Add : ScalarOp::Sub;
    out.base = plan.scalar(s, width, a.base, b.base);
    for (size_t d = 0; d < a.strides.size(); ++d) out.strides[d] = plan.scalar(s, width, a.strides[d], b.strides[d]);
    return true;
  }
  case TwElementwise::MulI: {
    if (!a.isUniform() && !b.isUniform()) return false;
    const Rep& tile = a.isUniform() ? b : a;
    const Uniform& factor = a.isUniform() ? a.base : b.base;
    if (factor.constant && (factor.value > (1 << 24) || factor.value < -(1 << 24)))
      return false; // a hash, not an index
    out = tile;
    out.base = plan.mul(width, tile.base, factor);
    for (size_t d = 0; d < a.strides.size(); ++d) out.strides[d] = plan.mul(width, tile.strides[d], factor);
    return true;
  }
  case TwElementwise::ShlI: {
    if (!b.isUniform() || !b.base.constant || b.base.value < 0 || b.base.value >= std::min(24, width - 1)) return false;
    Uniform factor = Uniform::of(int64_t(1) << b.base.value);
    out.base = plan.mul(width, a.base, factor);
    for (size_t d = 0; d < a.strides.size(); ++d) out.strides[d] = plan.mul(width, a.strides[d], factor);
    return true;
  }
  default: return false;
  }
}

/// A comparison of affine tiles whose difference runs along one dimension at most: a box.
bool boxComparison(PlanBuilder& plan, Operation* op, TwElementwise what, const Rep& a, const Rep& b, Rep& out) {
  if (a.type == DType::I1 || !isInteger(a.type)) return false;
  BoxPredicate predicate;
  switch (what) {
  case TwElementwise::CmpEQ: predicate = BoxPredicate::Eq; break;
  case TwElementwise::CmpSLT: predicate = BoxPredicate::Lt; break;
  case TwElementwise::CmpSLE: predicate = BoxPredicate::Le; break;
  case TwElementwise::CmpSGT: predicate = BoxPredicate::Gt; break;
  case TwElementwise::CmpSGE: predicate = BoxPredicate::Ge; break;
  default: return false;
  }
  int dim = -1;
  for (size_t d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] > 1 && !(a.strides[d] == b.strides[d])) {
      if (dim >= 0) return false;
      dim = int(d);
    }
  if (dim < 0) return false; // equal strides everywhere: leave it to the strips
  // Steps known now and small: plain index arithmetic. Others may be meant to wrap around: compare their elements.
  // After a write a check that fails cannot be made good: only masks of accesses stay boxes then, and of smaller steps.
  bool late = plan.checkIsLate(a) || plan.checkIsLate(b);
  if (late && (!plan.feedsAccess(op->getResult(0)) || PlanBuilder::widthOf(a.type) < 32))
    return false; // narrow numbers wrap around again and again
  int64_t largest = late ? 1 << 10 : 1 << 16;
  for (const Rep* r : {&a, &b})
    for (size_t d = 0; d < r->shape.size(); ++d)
      if (r->shape[d] > 1 &&
          (!r->strides[d].constant || r->strides[d].value > largest || r->strides[d].value < -largest))
        return false;
  // A mask along one dimension is looked at again when its values wrap around: it is as a rule an interval still.
  bool exact = late;
  for (size_t d = 0; d < a.shape.size(); ++d)
    exact &= int(d) == dim || a.shape[d] == 1 || (a.strides[d].is(0) && b.strides[d].is(0));
  if (!exact) {
    plan.checkRange(a);
    plan.checkRange(b);
  }
  // a.base + i*sa  pred  b.base + i*sb   <=>   a.base + i*(sa - sb)  pred  b.base, in 64 bits.
  Uniform stride = plan.scalar(ScalarOp::SatSub, 64, a.strides[dim], b.strides[dim]);
  out = Rep();
  out.kind = Rep::Box;
  out.type = DType::I1;
  out.shape = a.shape;
  out.lo.assign(a.shape.size(), Uniform::of(0));
  for (int64_t s : a.shape) out.hi.push_back(Uniform::of(s));
  if (!exact && stride.is(1) && predicate == BoxPredicate::Lt) {
    out.hi[dim] = plan.scalar(ScalarOp::SatSub, 64, b.base, a.base);
    return true;
  }
  if (!exact && stride.is(1) && predicate == BoxPredicate::Ge) {
    out.lo[dim] = plan.scalar(ScalarOp::SatSub, 64, b.base, a.base);
    return true;
  }
  llvm::SmallVector<Uniform, 5> srcs = {a.base, stride, b.base};
  int place = exact ? plan.level() : plan.placeFor(srcs);
  std::string name = exact ? "ExactBoxBound" : "BoxBound";
  if (exact) srcs.append({a.strides[dim], b.strides[dim], Uniform::of(PlanBuilder::widthOf(a.type))});
  std::string key = PlanBuilder::keyOf(name + std::to_string(int(predicate)), srcs, a.shape[dim]);
  Reg lo = plan.remembered(place, key), hi = plan.remembered(place, key + "h");
  if (lo == kNoReg) {
    lo = plan.newReg(8, place);
    hi = plan.newReg(8, place);
    BuildInstruction& in = plan.emitAt(place, exact ? execExactBoxBound : execBoxBound, name);
    BoxBoundOp& data = plan.newData<BoxBoundOp>(in);
    data.size = a.shape[dim];
    if (exact) {
      data.leftStride = a.strides[dim].value;
      data.rightStride = b.strides[dim].value;
      data.width = PlanBuilder::widthOf(a.type);
      plan.needFallback();
    }
    data.predicate = predicate;
    plan.read(in, data.base, a.base);
    plan.read(in, data.stride, stride);
    plan.read(in, data.bound, b.base);
    plan.write(in, data.lo, lo);
    plan.write(in, data.hi, hi);
    plan.remember(place, key, lo);
    plan.remember(place, key + "h", hi);
  }
  out.lo[dim] = Uniform::in(lo);
  out.hi[dim] = Uniform::in(hi);
  return true;
}

/// x % d and x / d of an affine tile that stays inside one multiple of d: checked at run time, else the fallback plan. Tiles
/// across a multiple are common, so this form is taken only where the program can still start again.
bool affineDivision(PlanBuilder& plan, TwElementwise op, const Rep& a, const Rep& b, Rep& out) {
  if ((op != TwElementwise::RemSI && op != TwElementwise::DivSI) || !b.isUniform() || a.isUniform() ||
      PlanBuilder::widthOf(a.type) < 32)
    return false;
  // Only worth it where the strides are small against typical divisors: plain index arithmetic.
  for (size_t d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] > 1 && (!a.strides[d].constant || a.strides[d].value < 0 || a.strides[d].value > 1)) return false;
  if (b.base.constant) return false; // a known divisor is as a rule smaller than the tile (col // 8): compute it
  llvm::SmallVector<Uniform, 4> srcs = {a.base, b.base};
  std::vector<int64_t> extents;
  for (size_t d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] > 1 && !a.strides[d].is(0)) {
      srcs.push_back(a.strides[d]);
      extents.push_back(a.shape[d] - 1);
    }
  int place = std::max(1, plan.placeFor(srcs));
  std::string name = "UniformQuotient";
  for (int64_t e : extents) name += " " + std::to_string(e);
  std::string key = PlanBuilder::keyOf(name, srcs);
  Reg quotient = plan.remembered(place, key);
  if (quotient == kNoReg) {
    if (plan.writeMayPrecede(place)) return false;
    quotient = plan.newReg(8, place);
    BuildInstruction& in = plan.emitAt(place, execUniformQuotient, "UniformQuotient");
    UniformQuotientOp& data = plan.newData<UniformQuotientOp>(in);
    data.extents = extents;
    plan.read(in, data.base, srcs[0]);
    plan.read(in, data.divisor, srcs[1]);
    plan.read(in, data.strides, llvm::ArrayRef(srcs).drop_front(2));
    plan.write(in, data.dst, quotient);
    plan.remember(place, key, quotient);
    plan.needFallback();
  }
  if (op == TwElementwise::DivSI) {
    out = plan.splatRep(a.type, a.shape, Uniform::in(quotient));
  } else {
    out = a;
    out.base = plan.sub(64, a.base, plan.mul(64, Uniform::in(quotient), b.base));
  }
  return true;
}

bool boxAnd(PlanBuilder& plan, const Rep& a, const Rep& b, Rep& out) {
  Rep x = a, y = b;
  for (Rep* r : {&x, &y})
    if (r->isSplat()) {
      Rep box = *r;
      box.kind = Rep::Box;
      box.lo.assign(r->shape.size(), Uniform::of(0));
      box.hi.clear();
      for (int64_t s : r->shape) box.hi.push_back(Uniform::of(s));
      if (!r->base.is(1))
        box.hi[0] = plan.scalar(ScalarOp::Select, 64, r->base, Uniform::of(r->shape[0]), Uniform::of(0));
      *r = box;
    }
  if (x.kind != Rep::Box || y.kind != Rep::Box) return false;
  out = x;
  for (size_t d = 0; d < x.shape.size(); ++d) {
    auto loosest = [&](const Uniform& u, int64_t v) { return u.is(v); };
    out.lo[d] = loosest(x.lo[d], 0)   ? y.lo[d]
                : loosest(y.lo[d], 0) ? x.lo[d]
                                      : plan.scalar(ScalarOp::MaxS, 64, x.lo[d], y.lo[d]);
    out.hi[d] = loosest(x.hi[d], x.shape[d])   ? y.hi[d]
                : loosest(y.hi[d], x.shape[d]) ? x.hi[d]
                                               : plan.scalar(ScalarOp::MinS, 64, x.hi[d], y.hi[d]);
  }
  return true;
}
} // namespace

TwStripFn stripFunction(PlanBuilder& plan, TwElementwise op, DType type) {
  if (plan.options().numerics == Numerics::Ieee)
    if (TwStripFn fn = plan.tiles().elementwiseIeee(op, type)) return fn;
  return plan.tiles().elementwise(op, type);
}

/// What the steps after one another yield; `operand(value)`, `constant(bits, type)` and `compute(step, srcs)` say how.
template <class Source, class FromValue, class FromConstant, class Compute>
static Source runSteps(mlir::ValueRange operands, llvm::ArrayRef<StripStep> steps, FromValue fromValue,
                       FromConstant fromConstant, Compute compute) {
  Source current{};
  for (size_t i = 0; i < steps.size(); ++i) {
    llvm::SmallVector<Source, 3> srcs;
    if (i > 0)
      srcs.push_back(current);
    else
      for (Value v : operands) srcs.push_back(fromValue(v));
    if (steps[i].operand) srcs.push_back(fromValue(steps[i].operand));
    if (steps[i].extra) srcs.push_back(fromConstant(*steps[i].extra, steps[i].type));
    current = compute(steps[i], srcs);
  }
  return current;
}

LogicalResult applyStrips(PlanBuilder& plan, Operation* op, mlir::ValueRange operands,
                          llvm::ArrayRef<StripStep> steps) {
  Value result = op->getResult(0);
  DType type = plan.dtypeOf(result.getType());
  Shape shape = PlanBuilder::shapeOf(result.getType());
  llvm::StringRef name = op->getName().getStringRef();
  bool allUniform = true;
  for (Value v : op->getOperands()) allUniform &= plan.has(v) && plan.rep(v).isUniform();
  const bool isBody = plan.bodyGroup() >= 0 && shape.empty();
  if (allUniform) {
    Uniform value = runSteps<Uniform>(
        operands, steps, [&](Value v) { return plan.rep(v).base; },
        [&](int64_t bits, DType) { return Uniform::of(bits); },
        [&](const StripStep& step, llvm::ArrayRef<Uniform> srcs) {
          return plan.stripScalar(step.fn, name, srcs, step.type);
        });
    return plan.bind(result, shape.empty() ? plan.scalarRep(type, value) : plan.splatRep(type, shape, value));
  }
  // Operands first: taking one may flush groups.
  if (!isBody)
    for (Value v : op->getOperands())
      if (plan.rep(v).pending() && plan.group(plan.rep(v).group).shape != shape) plan.flush(plan.rep(v).group);
  const int group = isBody ? plan.bodyGroup() : plan.groupFor(shape);
  int stream = runSteps<int>(
      operands, steps, [&](Value v) { return plan.streamFor(group, v); },
      [&](int64_t bits, DType t) { return plan.cellStream(group, bits, t); },
      [&](const StripStep& step, llvm::ArrayRef<int> srcs) {
        return plan.addStrip(group, step.fn, srcs, step.type, name);
      });
  plan.bindValue(group, stream, result, type);
  return success();
}

LogicalResult planElementwise(PlanBuilder& plan, Operation* op, TwElementwise what) {
  Value result = op->getResult(0);
  Shape shape = PlanBuilder::shapeOf(result.getType());
  DType resultType = plan.dtypeOf(result.getType());
  DType type = plan.dtypeOf(op->getOperand(op->getNumOperands() - 1).getType());

  bool isBody = plan.bodyGroup() >= 0 && shape.empty();
  auto known = [&](unsigned i) -> Rep* { return plan.has(op->getOperand(i)) ? &plan.rep(op->getOperand(i)) : nullptr; };
  bool allUniform = true;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) allUniform &= known(i) && known(i)->isUniform();
  auto setUniform = [&](Uniform u, int root = -1) {
    return plan.bind(result,
                     shape.empty() ? plan.scalarRep(resultType, u, root) : plan.splatRep(resultType, shape, u, root));
  };
  if (what == TwElementwise::Select && known(1) && known(1)->kind == Rep::Descriptor) {
    Rep out = *known(1), b = *known(2);
    Uniform condition = known(0)->base;
    auto choose = [&](Uniform& a, const Uniform& other) { a = plan.scalar(ScalarOp::Select, 64, condition, a, other); };
    out.root = out.root == b.root ? out.root : -1;
    choose(out.base, b.base);
    choose(out.lo[0], b.lo[0]);
    for (size_t d = 0; d < out.hi.size(); ++d) choose(out.hi[d], b.hi[d]), choose(out.strides[d], b.strides[d]);
    return plan.bind(result, out);
  }
  if (allUniform) {
    if (what == TwElementwise::Select) {
      int root = known(1)->root == known(2)->root ? known(1)->root : -1;
      return setUniform(plan.scalar(ScalarOp::Select, 64, known(0)->base, known(1)->base, known(2)->base), root);
    }
    if (auto scalar = scalarOpOf(what, type))
      return setUniform(plan.scalar(*scalar, PlanBuilder::widthOf(type), known(0)->base, known(1)->base));
  } else if (!isBody && plan.options().symbolic && op->getNumOperands() == 2) {
    Rep a = *known(0), b = *known(1), out;
    if (a.kind == Rep::Affine && b.kind == Rep::Affine && isInteger(a.type) && a.type != DType::I1 &&
        (affineArithmetic(plan, what, a, b, out) || boxComparison(plan, op, what, a, b, out) ||
         affineDivision(plan, what, a, b, out)))
      return plan.bind(result, out);
    bool sum = what == TwElementwise::AddI || what == TwElementwise::SubI;
    if (sum && isInteger(type) && plan.feedsAccess(result) && plan.addRows(a, b, what == TwElementwise::SubI, 1, out))
      return plan.bind(result, out);
    if (what == TwElementwise::AndI && type == DType::I1 && boxAnd(plan, a, b, out)) return plan.bind(result, out);
  }
  // A select between equally placed symbolic tiles by a uniform condition, pointers included.
  if (!allUniform && !isBody && what == TwElementwise::Select && known(0)->isUniform() &&
      known(1)->kind == Rep::Affine && known(2)->kind == Rep::Affine && plan.options().symbolic) {
    Rep a = *known(1), b = *known(2);
    Uniform condition = known(0)->base;
    Rep out = a;
    out.root = a.root == b.root ? a.root : -1;
    out.base = plan.scalar(ScalarOp::Select, 64, condition, a.base, b.base);
    for (size_t d = 0; d < a.strides.size(); ++d)
      out.strides[d] = plan.scalar(ScalarOp::Select, 64, condition, a.strides[d], b.strides[d]);
    return plan.bind(result, out);
  }
  if (type == DType::Ptr) type = DType::I64;
  TwStripFn fn = stripFunction(plan, what, type);
  if (!fn) return plan.unsupported(op, std::string("for elements of type ") + nameOf(type));
  StripStep step{fn, resultType, std::nullopt};
  int root = -1;
  if (resultType == DType::Ptr)
    for (unsigned i = 1; i < op->getNumOperands(); ++i)
      root = i == 1 ? known(i)->root : root == known(i)->root ? root : -1;
  if (failed(applyStrips(plan, op, op->getOperands(), step))) return mlir::failure();
  plan.rep(result).root = root;
  return success();
}

template <> LogicalResult plan(PlanBuilder& plan, arith::CmpIOp op) {
  return planElementwise(plan, op, stripOf(op.getPredicate()));
}

template <> LogicalResult plan(PlanBuilder& plan, arith::CmpFOp op) {
  const CmpFPredicate predicate = op.getPredicate();
  if (predicate != CmpFPredicate::AlwaysFalse && predicate != CmpFPredicate::AlwaysTrue)
    return planElementwise(plan, op, stripOf(predicate));
  const Uniform value = Uniform::of(predicate == CmpFPredicate::AlwaysTrue);
  Shape shape = PlanBuilder::shapeOf(op.getType());
  return plan.bind(op, shape.empty() ? plan.scalarRep(DType::I1, value) : plan.splatRep(DType::I1, shape, value));
}

template <> LogicalResult plan(PlanBuilder& plan, tt::ClampFOp op) {
  const bool propagates = op.getPropagateNan() == tt::PropagateNan::All;
  return planElementwise(plan, op, propagates ? TwElementwise::ClampFPropagateNan : TwElementwise::ClampF);
}

} // namespace tiletwin::interp
