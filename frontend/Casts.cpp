// frontend/Casts.cpp -- conversions between element types (rules 20 to 25) and the truth of a condition (rule 50).
// Not here: which type to convert to (Promotion.cpp). Shapes never change here.
#include "frontend/Emit.h"
#include "frontend/PackageObject.h"
#include "frontend/Raise.h"
#include "frontend/Semantic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

namespace tiletwin::frontend {
namespace {

Value notZero(Builder& b, Value x) {
  if (x.type.isFloat())
    return compareFloats(b, mlir::arith::CmpFPredicate::UNE, x, splat(b, floatConstant(b, x.type, 0.0), x.type.shape));
  return compareInts(b, mlir::arith::CmpIPredicate::ne, x, splat(b, integerConstant(b, x.type, 0), x.type.shape));
}

Raised noCast(const Type& from, const Type& to, const llvm::Twine& instead) {
  return raiseValue(from.str() + " cannot be cast to " + to.str() + "; " + instead);
}

Value castPointer(Builder& b, Value x, const Type& to) {
  const Type& from = x.type;
  if (from.isPointer() && to.isPointer()) return b.create1("tt.bitcast", x, to);
  if (from.isPointer()) {
    Value address = to.isInt() ? b.create1("tt.ptr_to_int", x, scalarType(Scalar::I64).withShape(from.shape)) : Value();
    if (!address)
      return to.isInt() ? Value(raised())
                        : Value(noCast(from, to, "a pointer converts to int64, int1 and other pointers"));
    if (to.isBool()) return notZero(b, address);
    if (to.bits() == 64) return cast(b, address, to);
    return noCast(from, to, "a pointer converts to int64, int1 and other pointers");
  }
  if (!from.isInt()) return noCast(from, to, "only integers convert to pointers");
  return b.create1("tt.int_to_ptr", from.bits() == 64 ? x : cast(b, x, scalarType(Scalar::I64)), to);
}

/// fp8e4b15 travels as i8 and goes through fp16, whose exponent has the same bias: e4m3 is fp16's layout with one
/// exponent bit less. Out of range saturates at 1.75; halves round away from zero.
struct E4B15 {
  Builder& b;
  llvm::ArrayRef<int64_t> shape;
  Type i16 = scalarType(Scalar::U16).withShape(shape);

  Value op(llvm::StringRef name, Value x, int64_t constant) {
    return b.create1(name, {x, splat(b, integerConstant(b, i16, constant), shape)}, i16);
  }
  Value decode(Value x) {
    Value wide = b.create1("arith.extui", x, i16);
    Value magnitude = op("arith.shli", op("arith.andi", wide, 0x7f), 7);
    Value sign = op("arith.shli", op("arith.andi", wide, 0x80), 8);
    Value bits = b.create1("arith.ori", {sign, magnitude}, i16);
    return b.create1("tt.bitcast", bits, scalarType(Scalar::F16).withShape(shape));
  }
  Value encode(Value half, const Type& to) {
    Value bits = b.create1("tt.bitcast", half, i16);
    Value magnitude = op("arith.minui", op("arith.andi", bits, 0x7fff), 0x3f00);
    Value rounded = op("arith.shrui", op("arith.addi", magnitude, 0x40), 7);
    Value sign = op("arith.andi", op("arith.shrui", bits, 8), 0x80);
    return b.create1("arith.trunci", b.create1("arith.ori", {sign, rounded}, i16), to);
  }
};

Value castFloat(Builder& b, Value x, const Type& to, std::optional<llvm::StringRef> rounding) {
  const Type& from = x.type;
  bool narrows = to.bits() < from.bits();
  if (from.scalar == Scalar::F8E4B15) return cast(b, E4B15{b, from.shape}.decode(x), to.element(), rounding);
  if (to.scalar == Scalar::F8E4B15) {
    Type f16 = scalarType(Scalar::F16).withShape(from.shape);
    Value half = from.scalar == Scalar::F16 ? x : castFloat(b, x, f16, from.isFp8() ? "rtne" : "rtz");
    return E4B15{b, from.shape}.encode(half, to);
  }
  bool halves = from.bits() == 16 && to.bits() == 16; // fp16 and bf16: neither holds the other
  llvm::SmallVector<mlir::NamedAttribute, 1> attributes;
  bool towardZero = rounding && *rounding == "rtz";
  if (narrows || halves)
    attributes.push_back(integer(b, "rounding", towardZero ? 0 : 1)); // tt.rounding: rtz = 0, rtne = 1
  if (from.isFp8() || to.isFp8() || halves || towardZero) return b.create1("tt.fp_to_fp", x, to, attributes);
  if (from.bits() == 16 && to.bits() == 64) // as TTIR has it: by way of fp32
    x = b.create1("arith.extf", x, scalarType(Scalar::F32).withShape(to.shape));
  return b.create1(narrows ? "arith.truncf" : "arith.extf", x, to);
}

} // namespace

bool checkSupported(const Builder& b, const Type& type) {
  if (type.scalar < Scalar::F8E5 || type.scalar > Scalar::F8E5B16) return true;
  const SemanticOptions& options = b.options();
  if (llvm::is_contained(options.supportedFp8, scalarName(type.scalar).str())) return true;
  return raiseValue(type.element().str() + ": " + scalarName(type.scalar).str() + " is not supported on sm_" +
                    llvm::Twine(options.capability) + ", whose fp8 types are " +
                    llvm::join(options.supportedFp8, ", ") +
                    "; use one of them, or name the types you need in the option supported_fp8_dtypes");
}

bool checkComputes(const Type& type, const llvm::Twine& what) {
  if (type.isPointer() || type.scalar != Scalar::F8E4B15) return true;
  return raiseType(what + " does not take fp8e4b15, which is for storage only; convert first, as in x.to(tl.float16)");
}

Value cast(Builder& b, Value x, Type element, std::optional<llvm::StringRef> rounding) {
  if (!x) return x;
  Type from = x.type, to = element.element().withShape(x.type.shape);
  if (!checkSupported(b, to)) return raised();
  if (rounding && from != to) { // a cast to the type that x has is none, however it would round
    if (*rounding != "rtne" && *rounding != "rtz")
      return raiseValue("fp_downcast_rounding must be 'rtne' or 'rtz', got '" + *rounding + "'");
    if (!from.isFloat() || !to.isFloat() || to.bits() >= from.bits())
      return raiseValue("fp_downcast_rounding is for casts to a narrower float; this cast is from " +
                        from.element().str() + " to " + to.element().str());
  }
  if (from == to) return x;
  if (from.isDescriptor() || to.isDescriptor() || to.scalar == Scalar::Void || from.scalar == Scalar::Void)
    return noCast(from, to, "only numbers and pointers can be cast");
  if (from.isPointer() || to.isPointer()) return castPointer(b, x, to);
  if (from.isFloat() && to.isFloat()) return castFloat(b, x, to, rounding);
  if (from.isFp8() || to.isFp8())
    return noCast(from, to, "fp8 converts to and from other floats only: go through tl.float32");
  if (from.isFloat()) {
    if (from.bits() == 16 && !(x = cast(b, x, scalarType(Scalar::F32)))) return x;
    if (to.isBool()) return notZero(b, x);
    return b.create1(to.isSigned() ? "arith.fptosi" : "arith.fptoui", x, to);
  }
  if (to.isFloat()) return b.create1(from.isSigned() ? "arith.sitofp" : "arith.uitofp", x, to);
  if (to.isBool()) return notZero(b, x);
  if (from.bits() == to.bits()) return b.create1("arith.bitcast", x, to);
  if (to.bits() < from.bits()) return b.create1("arith.trunci", x, to);
  return b.create1(from.isSigned() ? "arith.extsi" : "arith.extui", x, to);
}

Value bitcast(Builder& b, Value x, Type element) {
  Type to = element.element().withShape(x.type.shape);
  if (x.type == to || !x) return x;
  if (x.type.isPointer() || to.isPointer()) return cast(b, x, to);
  if (x.type.bits() != to.bits())
    return raiseValue("a bitcast keeps the bits, so both types need one width; " + x.type.element().str() + " has " +
                      llvm::Twine(x.type.bits()) + " bits, " + to.element().str() + " has " + llvm::Twine(to.bits()));
  return b.create1("tt.bitcast", x, to);
}

Value truth(Builder& b, PyObject* condition) {
  if (!isTensor(condition)) {
    int yes = PyObject_IsTrue(unwrap(condition));
    return yes < 0 ? Value() : integerConstant(b, scalarType(Scalar::I1), yes);
  }
  Value x = tensorValue(condition);
  if (x.type.isBlock() && x.type.numel() == 1) x = b.create1("tt.unsplat", x, x.type.element());
  if (x && x.type.isBlock()) {
    PyRef unsupported = packageObject("UnsupportedLanguageConstruct");
    if (!unsupported) return raised();
    return raise(unsupported.get(),
                 "Boolean value of Tensor with more than one value is ambiguous: a block (" + x.type.str() +
                     ") is neither true nor false as a whole; reduce it first, as in tl.max(x, 0), or use tl.where");
  }
  return x ? cast(b, x, scalarType(Scalar::I1)) : Value();
}

} // namespace tiletwin::frontend
