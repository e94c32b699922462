// diff/bounds/Builder.cpp -- see Builder.h: arithmetic on shadows, units of the last place, shadow memory, reasons.
#include "diff/bounds/Builder.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace tiletwin::diff {

bool isFloat(Type type) { return isa<FloatType>(tt::elementTypeOf(type)); }
bool isBool(Type type) { return tt::elementTypeOf(type).isInteger(1); }
bool isAddress(Type type) { return isa<tt::PointerType, tt::TensorDescType>(tt::elementTypeOf(type)); }

const char* textOf(Reason reason) {
  switch (reason) {
  case Reason::Branch: return "a branch or a loop was decided by numbers that may differ";
  case Reason::Address: return "an address or a mask was computed from numbers that may differ";
  case Reason::AtomicOrder: return "the order of atomic operations";
  case Reason::NoRule: return "an operation of which no bound is known";
  case Reason::Undefined: return "lanes of a load that are masked off and have no `other`";
  case Reason::Count: break;
  }
  return "";
}

// ---- arithmetic ----

Type Builder::shadowType(Type like) {
  MLIRContext* context = like.getContext();
  Type f32 = Float32Type::get(context);
  if (auto descriptor = dyn_cast<tt::TensorDescType>(like)) return tt::TensorDescType::get(descriptor.getShape(), f32);
  if (isBool(like)) return tt::i1TypeLike(like);
  if (isAddress(like)) return tt::withShapeOf(like, tt::PointerType::get(f32));
  return tt::withShapeOf(like, f32);
}

Value Builder::infinity(Type like) { return constant(like, std::numeric_limits<double>::infinity()); }
Value Builder::constant(Type like, double value) { return TileBuilder::constant(getF32FloatAttr(float(value)), like); }

Value Builder::add(Value a, Value b) { return !a || !b ? (a ? a : b) : Value(arith::AddFOp::create(*this, a, b)); }
Value Builder::sub(Value a, Value b) { return b ? Value(arith::SubFOp::create(*this, a, b)) : a; }
Value Builder::mul(Value a, Value b) { return !a || !b ? Value() : Value(arith::MulFOp::create(*this, a, b)); }
Value Builder::mul(Value a, double b) { return a ? mul(a, constant(a.getType(), b)) : a; }
Value Builder::div(Value a, Value b) { return a ? Value(arith::DivFOp::create(*this, a, b)) : a; }
Value Builder::max(Value a, Value b) { return !a || !b ? (a ? a : b) : Value(arith::MaximumFOp::create(*this, a, b)); }
Value Builder::abs(Value a) { return a ? Value(math::AbsFOp::create(*this, a)) : a; }
Value Builder::select(Value condition, Value a, Value b) { return arith::SelectOp::create(*this, condition, a, b); }

Value Builder::number(Value value, bool isUnsigned) {
  Type type = value.getType(), element = tt::elementTypeOf(type), f32 = tt::withShapeOf(type, getF32Type());
  if (element.isF32()) return value;
  if (isa<FloatType>(element)) {
    const unsigned width = element.getIntOrFloatBitWidth();
    if (width > 32) return arith::TruncFOp::create(*this, f32, value);
    if (width == 16) return arith::ExtFOp::create(*this, f32, value);
    return tt::FpToFpOp::create(*this, f32, value, tt::RoundingModeAttr());
  }
  if (element.isInteger(1) || isUnsigned) return arith::UIToFPOp::create(*this, f32, value);
  return arith::SIToFPOp::create(*this, f32, value);
}

Value Builder::amount(Value value) {
  Value shadow = of(value);
  if (!shadow || isAddress(value.getType())) return {};
  return isBool(value.getType()) ? select(shadow, constant(value.getType(), 1), zero(value.getType())) : shadow;
}

Value Builder::mayDiffer(Value value) {
  Value shadow = of(value);
  if (!shadow || isAddress(value.getType())) return {};
  if (isBool(value.getType())) return shadow;
  return compare(Predicate::UNE, shadow, zero(value.getType())); // NaN too
}

double unitOfOne(Type type) {
  const auto& format = cast<FloatType>(tt::elementTypeOf(type)).getFloatSemantics();
  return std::ldexp(1.0, 1 - int(llvm::APFloat::semanticsPrecision(format)));
}

Value Builder::rounding(Value result, double units) {
  auto type = cast<FloatType>(tt::elementTypeOf(result.getType()));
  const llvm::fltSemantics& format = type.getFloatSemantics();
  const double unit = unitOfOne(type);
  // The unit of subnormal results; a GPU's approximate units have 0 for f32's.
  double least = std::max(0x1p-149, std::ldexp(unit, llvm::APFloat::semanticsMinExponent(format)));
  if (type.isF32() && latitude_.approximates && units > 1) least = std::ldexp(1.0, -126);
  return add(mul(magnitude(result), unit * units), constant(result.getType(), least * units));
}

Value Builder::rounded(Value result, Value passedOn) {
  if (!passedOn) return {};
  Value none = zero(result.getType()), bound = add(passedOn, rounding(result));
  return select(compare(Predicate::OEQ, passedOn, none), none, bound);
}

Value Builder::isFinite(Value number) {
  // Numbers of f64 beyond f32 are finite, though their bounds are not.
  const bool isWide = tt::elementTypeOf(number.getType()).isF64();
  Value size = isWide ? abs(number) : magnitude(number);
  return compare(Predicate::OLT, size, floating(size.getType(), std::numeric_limits<double>::infinity()));
}

Value Builder::mayBeZero(Value number) {
  Value e = of(number);
  if (!e) return {};
  return both(compare(Predicate::OLE, magnitude(number), e), compare(Predicate::UNE, e, zero(e.getType())));
}

Value Builder::unlessInfinite(Value result, Value bound, ValueRange operandShadows) {
  if (!bound) return {};
  Value unknown; // 0, or NaN if a bound is infinite
  for (Value shadow : operandShadows)
    if (shadow) unknown = add(unknown, mul(shadow, 0.0));
  return select(isFinite(result), bound, orZero(unknown, result.getType()));
}

Value Builder::anyLane(Value lanes) {
  while (auto tile = lanes ? dyn_cast<RankedTensorType>(lanes.getType()) : RankedTensorType())
    lanes = reduce<arith::OrIOp>(lanes, int(tile.getRank()) - 1);
  return lanes;
}

void Builder::noteAt(Value condition, int slot) {
  if (!condition || isInScalarCode_) return;
  Value at = tt::AddPtrOp::create(*this, reasons_.getType(), reasons_, integer(slot));
  tt::StoreOp::create(*this, at, integer(1), anyLane(condition), tt::CachePolicyAttr());
}

void Builder::noteOpen(Value condition, const llvm::BitVector& arguments) {
  if (arguments.test(arguments.size() - 1)) return noteEverything(condition);
  for (auto [i, argument] : llvm::enumerate(out_.shadowed))
    if (arguments.test(argument)) noteAt(condition, BoundsKernel::kEverything + 1 + int(i));
}

void Builder::forget(Value address, Type like, Value condition) {
  if (!condition) return;
  Value shadow = of(address);
  if (!shadow) return noteEverything(condition);
  // As a sum, which stays infinite whatever other programs add at the same time.
  Value term = infinity(like);
  tt::AtomicRMWOp::create(*this, term.getType(), tt::RmwKind::FAdd, tt::MemSemantic::Relaxed, tt::MemScope::Gpu, shadow,
                          term, condition);
}

Value Builder::infiniteWhere(Value condition, Value otherwise, Type like) {
  if (!condition) return otherwise;
  return select(condition, infinity(like), orZero(otherwise, like));
}

Value Builder::unknownWhere(Value condition, Reason reason, Value otherwise, Type like) {
  note(condition, reason);
  return infiniteWhere(condition, otherwise, like);
}

// ---- shapes ----

Value Builder::splat(Value scalar, Type like) {
  return tt::SplatOp::create(*this, tt::withShapeOf(like, scalar.getType()), scalar);
}

Value Builder::spread(Value scalar, Type like) {
  const bool isTile = scalar && isa<RankedTensorType>(scalar.getType());
  return scalar && isa<RankedTensorType>(like) && !isTile ? splat(scalar, like) : scalar;
}

// ---- shadow memory ----

Value Builder::plane(Value pointer, unsigned number, Type element) {
  if (number) {
    Value distance = planeDistance_;
    if (number > 1) distance = arith::MulIOp::create(*this, distance, integer(number, 64));
    if (isa<RankedTensorType>(pointer.getType())) distance = splat(distance, pointer.getType());
    pointer = tt::AddPtrOp::create(*this, pointer.getType(), pointer, distance);
  }
  if (!element) return pointer;
  return tt::BitcastOp::create(*this, tt::withShapeOf(pointer.getType(), tt::PointerType::get(element)), pointer);
}

Value Builder::describe(Value descriptor, Value base, ValueRange extents, ValueRange strides) {
  Type type = shadowType(descriptor.getType());
  auto over = [&](Value memory) -> Value {
    return tt::MakeTensorDescriptorOp::create(*this, type, memory, extents, strides);
  };
  writers_[descriptor] = over(plane(base, 3));
  return over(base);
}

int Builder::storeNumber(Operation* store) { return stores_.lookup(store); }

Value Builder::writer(Operation* store) {
  auto id = [&](tt::ProgramDim axis) -> Value { return tt::GetProgramIdOp::create(*this, getI32Type(), axis); };
  auto extent = [&](tt::ProgramDim axis) -> Value { return tt::GetNumProgramsOp::create(*this, getI32Type(), axis); };
  auto sum = [&](Value a, Value b) -> Value { return arith::AddIOp::create(*this, a, b); };
  auto product = [&](Value a, Value b) -> Value { return arith::MulIOp::create(*this, a, b); };
  Value linear = sum(id(tt::ProgramDim::Y), product(extent(tt::ProgramDim::Y), id(tt::ProgramDim::Z)));
  linear = sum(id(tt::ProgramDim::X), product(extent(tt::ProgramDim::X), linear));
  return sum(product(linear, integer(storeCount())), integer(storeNumber(store) + 1));
}

} // namespace tiletwin::diff
