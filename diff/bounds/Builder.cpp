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

Value Builder::create(StringRef name, ValueRange operands, TypeRange results, ArrayRef<NamedAttribute> attributes) {
  OperationState state(location_, name, operands, results, attributes);
  Operation* op = builder_.create(state);
  return op->getNumResults() ? op->getResult(0) : Value();
}

Value Builder::integer(int64_t value, unsigned bits) {
  return arith::ConstantOp::create(builder_, location_, builder_.getIntegerAttr(builder_.getIntegerType(bits), value));
}
Value Builder::truth(Type like, bool value) {
  TypedAttr attribute = builder_.getBoolAttr(value);
  if (auto tile = dyn_cast_or_null<RankedTensorType>(like))
    attribute = DenseElementsAttr::get(cast<RankedTensorType>(tt::i1TypeLike(tile)), value);
  return arith::ConstantOp::create(builder_, location_, attribute);
}

Value Builder::infinity(Type like) { return constant(like, std::numeric_limits<double>::infinity()); }
Value Builder::constant(Type like, double value) {
  Type type = tt::withShapeOf(like, builder_.getF32Type());
  TypedAttr attribute = builder_.getF32FloatAttr(float(value));
  if (auto tile = dyn_cast<RankedTensorType>(type)) attribute = DenseElementsAttr::get(tile, Attribute(attribute));
  return arith::ConstantOp::create(builder_, location_, attribute);
}

Value Builder::add(Value a, Value b) {
  return !a || !b ? (a ? a : b) : Value(arith::AddFOp::create(builder_, location_, a, b));
}
Value Builder::sub(Value a, Value b) { return b ? Value(arith::SubFOp::create(builder_, location_, a, b)) : a; }
Value Builder::mul(Value a, Value b) {
  return !a || !b ? Value() : Value(arith::MulFOp::create(builder_, location_, a, b));
}
Value Builder::mul(Value a, double b) { return a ? mul(a, constant(a.getType(), b)) : a; }
Value Builder::div(Value a, Value b) { return a ? Value(arith::DivFOp::create(builder_, location_, a, b)) : a; }
Value Builder::max(Value a, Value b) {
  return !a || !b ? (a ? a : b) : Value(arith::MaximumFOp::create(builder_, location_, a, b));
}
Value Builder::abs(Value a) { return a ? Value(math::AbsFOp::create(builder_, location_, a)) : a; }
Value Builder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder_, location_, condition, a, b);
}
Value Builder::compare(Predicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder_, location_, predicate, a, b);
}
Value Builder::both(Value a, Value b) {
  return !a || !b ? (a ? a : b) : Value(arith::AndIOp::create(builder_, location_, a, b));
}
Value Builder::either(Value a, Value b) {
  return !a || !b ? (a ? a : b) : Value(arith::OrIOp::create(builder_, location_, a, b));
}
Value Builder::invert(Value condition) {
  return arith::XOrIOp::create(builder_, location_, condition, truth(condition.getType(), true));
}

Value Builder::number(Value value, bool isUnsigned) {
  Type type = value.getType(), element = tt::elementTypeOf(type), f32 = tt::withShapeOf(type, builder_.getF32Type());
  if (element.isF32()) return value;
  if (isa<FloatType>(element)) {
    const unsigned width = element.getIntOrFloatBitWidth();
    if (width > 32) return arith::TruncFOp::create(builder_, location_, f32, value);
    if (width == 16) return arith::ExtFOp::create(builder_, location_, f32, value);
    return create(tt::FpToFpOp::getOperationName(), value, f32);
  }
  if (element.isInteger(1) || isUnsigned) return arith::UIToFPOp::create(builder_, location_, f32, value);
  return arith::SIToFPOp::create(builder_, location_, f32, value);
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
  TypedAttr infinity = FloatAttr::get(tt::elementTypeOf(size.getType()), std::numeric_limits<double>::infinity());
  if (auto tile = dyn_cast<RankedTensorType>(size.getType()))
    infinity = DenseElementsAttr::get(tile, Attribute(infinity));
  return compare(Predicate::OLT, size, arith::ConstantOp::create(builder_, location_, infinity));
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
  Value at = tt::AddPtrOp::create(builder_, location_, reasons_.getType(), reasons_, integer(slot));
  create(tt::StoreOp::getOperationName(), {at, integer(1), anyLane(condition)});
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
  tt::AtomicRMWOp::create(builder_, location_, term.getType(), tt::RmwKind::FAdd, tt::MemSemantic::Relaxed,
                          tt::MemScope::Gpu, shadow, term, condition);
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
  return tt::SplatOp::create(builder_, location_, tt::withShapeOf(like, scalar.getType()), scalar);
}

Value Builder::spread(Value scalar, Type like) {
  const bool isTile = scalar && isa<RankedTensorType>(scalar.getType());
  return scalar && isa<RankedTensorType>(like) && !isTile ? splat(scalar, like) : scalar;
}

Value Builder::stretch(Value tile, int axis, Type like) {
  auto type = cast<RankedTensorType>(tt::withShapeOf(like, tt::elementTypeOf(tile.getType())));
  if (!isa<RankedTensorType>(tile.getType())) return tt::SplatOp::create(builder_, location_, type, tile);
  SmallVector<int64_t> shape(cast<RankedTensorType>(tile.getType()).getShape());
  shape.insert(shape.begin() + axis, 1);
  Value line = tt::ExpandDimsOp::create(builder_, location_, RankedTensorType::get(shape, type.getElementType()), tile,
                                        uint32_t(axis));
  return line.getType() == type ? line : Value(tt::BroadcastOp::create(builder_, location_, type, line));
}

Operation* Builder::cloneFor(Operation* op, ValueRange operands, TypeRange results) {
  OperationState state(location_, op->getName().getStringRef());
  state.addOperands(operands);
  state.addAttributes(op->getAttrs());
  state.addTypes(results);
  return builder_.create(state);
}

// ---- shadow memory ----

Value Builder::plane(Value pointer, unsigned number, Type element) {
  if (number) {
    Value distance = planeDistance_;
    if (number > 1) distance = arith::MulIOp::create(builder_, location_, distance, integer(number, 64));
    if (isa<RankedTensorType>(pointer.getType())) distance = splat(distance, pointer.getType());
    pointer = tt::AddPtrOp::create(builder_, location_, pointer.getType(), pointer, distance);
  }
  if (!element) return pointer;
  return create(tt::BitcastOp::getOperationName(), pointer,
                tt::withShapeOf(pointer.getType(), tt::PointerType::get(element)));
}

Value Builder::describe(Value descriptor, Value base, ValueRange extents, ValueRange strides) {
  Type type = shadowType(descriptor.getType());
  auto over = [&](Value memory) -> Value {
    return tt::MakeTensorDescriptorOp::create(builder_, location_, type, memory, extents, strides);
  };
  writers_[descriptor] = over(plane(base, 3));
  return over(base);
}

int Builder::storeNumber(Operation* store) { return stores_.lookup(store); }

Value Builder::writer(Operation* store) {
  auto id = [&](tt::ProgramDim axis) -> Value {
    return tt::GetProgramIdOp::create(builder_, location_, builder_.getI32Type(), axis);
  };
  auto extent = [&](tt::ProgramDim axis) -> Value {
    return tt::GetNumProgramsOp::create(builder_, location_, builder_.getI32Type(), axis);
  };
  auto sum = [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder_, location_, a, b); };
  auto product = [&](Value a, Value b) -> Value { return arith::MulIOp::create(builder_, location_, a, b); };
  Value linear = sum(id(tt::ProgramDim::Y), product(extent(tt::ProgramDim::Y), id(tt::ProgramDim::Z)));
  linear = sum(id(tt::ProgramDim::X), product(extent(tt::ProgramDim::X), linear));
  return sum(product(linear, integer(storeCount())), integer(storeNumber(store) + 1));
}

} // namespace tiletwin::diff
