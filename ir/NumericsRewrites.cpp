// ir/NumericsRewrites.cpp -- one row for each operation whose rounding a target would choose.
//
// Rules, those of Triton for NVIDIA GPUs unless said otherwise (f16, bf16 and f8 first become f32, the result goes back):
//   x / y      f32: div_full; by a constant c: x * div_approx(1, c) if 2^-126 <= |c| <= 2^126, which for powers of two is the
//              exact x * (1 / c)      f64: div_rn
//   x % y      fma(-trunc(div_rn(x, y)), y, x); x itself if y is infinite
//   exp        f32: ex2_approx of x * log2(e), rounded      exp2   f32: ex2_approx ftz
//   sqrt       f32: sqrt_approx ftz, f64: sqrt_rn           rsqrt  f32: rsqrt_approx ftz, f64: rsqrt_approx
//   other functions, and exp and exp2 of f64: __nv_NAME of libdevice (f for f32)
//   precise_*, approx_divf: the operation of tw that they name
//   + - * fma  f8, and bf16 below sm_80: in f32. For + - * the second rounding changes nothing, because f32 has more than
//              twice the digits plus two; fma is hereby defined as fma of f32, rounded again.
//   int to bf16, below sm_90: through f64, which rounds once. Integers of 64 bits first lose the bits that f64 has no place
//              for, and keep whether they were zero. (Triton rounds to f32 in between, and so twice.)
// On AMD GPUs x / y and sqrt are correctly rounded, nothing flushes denormals, log and log2 of f32 are llvm.log and llvm.log2
// (which LLVM expands), and other functions are __ocml_NAME_f32 or _f64, of AMD's device library.
// floor, ceil, abs, min, max, comparisons and conversions between float formats are exact or round once everywhere.
#include "ir/NumericsRewrites.h"
#include "ir/GpuFeatures.h"
#include "ir/OpTable.h"
#include "ir/TW.h"
#include "ir/TileBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tiletwin::tt {
namespace {

/// The operation that is rewritten, and a builder in front of it.
struct Site : TileBuilder {
  Operation* op;
  const NumericsTarget& target;
  Site(Operation* op, const NumericsTarget& target) : TileBuilder(op->getLoc(), op), op(op), target(target) {}

  Value x() const { return op->getOperand(0); }
  Value y() const { return op->getOperand(1); }
  Type type() const { return op->getResult(0).getType(); }
  Type element() const { return elementTypeOf(type()); }
  bool isF32() const { return element().isF32(); }

  template <class Op, class... Args> Value make(Args&&... args) {
    return Op::create(*this, std::forward<Args>(args)...);
  }
  void replaceBy(Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
};

bool isF8(Type element) { return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8; }
bool isNarrow(Type element) { return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32; }

Value widened(Site& s, Value value) {
  Type wide = withShapeOf(value.getType(), s.getF32Type());
  if (isF8(elementTypeOf(value.getType()))) return s.make<FpToFpOp>(wide, value, RoundingModeAttr());
  return s.make<arith::ExtFOp>(wide, value);
}
Value narrowed(Site& s, Value value, Type type) {
  if (isF8(elementTypeOf(type)))
    return s.make<FpToFpOp>(type, value, RoundingModeAttr::get(s.getContext(), RoundingMode::RTNE));
  return s.make<arith::TruncFOp>(type, value);
}

/// The operation on f32 in place of the one on a narrower format; that one is returned.
Operation* inF32(Operation* op, const NumericsTarget& target) {
  Site s(op, target);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) operands.push_back(widened(s, operand));
  OperationState state(s.getLoc(), op->getName(), operands, withShapeOf(s.type(), s.getF32Type()));
  Operation* wide = s.create(state);
  s.replaceBy(narrowed(s, wide->getResult(0), s.type()));
  return wide;
}

// --- division ---------------------------------------------------------------------------------------------------------

/// The number that every element is divided by, if one may multiply by its reciprocal instead.
std::optional<APFloat> constantDivisor(Value divisor) {
  FloatAttr number;
  DenseFPElementsAttr elements;
  if (matchPattern(divisor, m_Constant(&elements)) && elements.isSplat())
    number = elements.getSplatValue<FloatAttr>();
  else if (!matchPattern(divisor, m_Constant(&number)))
    return std::nullopt;
  const APFloat value = abs(number.getValue());
  if (value < APFloat(0x1p-126f) || value > APFloat(0x1p126f) || value.isNaN()) return std::nullopt;
  return number.getValue();
}

void rewriteDivision(Site& s) {
  if (!s.isF32()) return s.replaceBy(s.make<tw::DivRnOp>(s.x(), s.y()));
  std::optional<APFloat> divisor = constantDivisor(s.y());
  if (!divisor) return s.replaceBy(s.make<tw::DivFullOp>(s.x(), s.y()));
  APFloat inverse(divisor->getSemantics());
  if (divisor->getExactInverse(&inverse))
    return s.replaceBy(s.make<arith::MulFOp>(s.x(), s.floating(s.type(), inverse)));
  Value one = s.floating(s.element(), APFloat(1.0f)), scalar = s.floating(s.element(), *divisor);
  Value reciprocal = s.make<tw::DivApproxOp>(one, scalar);
  if (s.type() != s.element()) reciprocal = s.make<SplatOp>(s.type(), reciprocal);
  s.replaceBy(s.make<arith::MulFOp>(s.x(), reciprocal));
}

void rewriteRemainder(Site& s) {
  Value quotient = s.make<tw::TruncOp>(s.make<tw::DivRnOp>(s.x(), s.y()));
  Value rest = s.make<math::FmaOp>(s.make<arith::NegFOp>(quotient), s.y(), s.x());
  Value infinity = s.floating(s.type(), APFloat::getInf(cast<FloatType>(s.element()).getFloatSemantics()));
  Value size = s.make<math::AbsFOp>(s.y());
  Value isInfinite = s.compare(arith::CmpFPredicate::OEQ, size, infinity);
  s.replaceBy(s.make<arith::SelectOp>(isInfinite, s.x(), rest));
}

void rewriteApproxDivision(Site& s) { s.replaceBy(s.make<tw::DivApproxOp>(s.x(), s.y())); }
void rewritePreciseDivision(Site& s) { s.replaceBy(s.make<tw::DivRnOp>(s.x(), s.y())); }

// --- roots and exponentials -------------------------------------------------------------------------------------------

void rewritePreciseSqrt(Site& s) { s.replaceBy(s.make<tw::SqrtRnOp>(s.x())); }
void rewriteSqrt(Site& s) {
  s.replaceBy(s.isF32() ? s.make<tw::SqrtApproxOp>(s.x(), s.target.flushDenormals) : s.make<tw::SqrtRnOp>(s.x()));
}
void rewriteRsqrt(Site& s) { s.replaceBy(s.make<tw::RsqrtApproxOp>(s.x(), s.isF32() && s.target.flushDenormals)); }

void call(Site& s, StringRef symbol) {
  s.replaceBy(s.make<ExternElementwiseOp>(s.type(), s.op->getOperands(), /*libname=*/"", /*libpath=*/"", symbol,
                                          /*pure=*/true));
}

/// A function of the device library: `stem` with the type in the library's way.
void callLibrary(Site& s, StringRef stem) {
  if (s.target.family == GpuFamily::Amd) return call(s, ("__ocml_" + stem + (s.isF32() ? "_f32" : "_f64")).str());
  call(s, ("__nv_" + stem + (s.isF32() ? "f" : "")).str());
}

void rewriteExp(Site& s) {
  if (!s.isF32()) return callLibrary(s, "exp");
  constexpr float kLog2E = 0x1.715476p+0f;
  Value scaled = s.make<arith::MulFOp>(s.x(), s.floating(s.type(), APFloat(kLog2E)));
  s.replaceBy(s.make<tw::Ex2ApproxOp>(scaled, /*ftz=*/false));
}
void rewriteExp2(Site& s) {
  if (!s.isF32()) return callLibrary(s, "exp2");
  s.replaceBy(s.make<tw::Ex2ApproxOp>(s.x(), s.target.flushDenormals));
}
/// The function of the library that is called as the operation is; of f32 LLVM's own where `expanded` says so.
template <bool expanded = false> void rewriteNamesake(Site& s) {
  StringRef name = s.op->getName().stripDialect();
  expanded&& s.isF32() ? call(s, ("llvm." + name + ".f32").str()) : callLibrary(s, name);
}

/// How an operation whose rounding the target chooses is rewritten; null: the target has no choice.
using Rewrite = void (*)(Site&);
Rewrite rewriteOf(Operation* op, const NumericsTarget& target) {
  const bool isAmd = target.family == GpuFamily::Amd;
  return llvm::TypeSwitch<Operation*, Rewrite>(op)
      .Case([&](arith::DivFOp) { return isAmd ? rewritePreciseDivision : rewriteDivision; })
      .Case([](arith::RemFOp) { return rewriteRemainder; })
      .Case<math::CosOp, math::ErfOp, math::SinOp>([](auto) { return rewriteNamesake<>; })
      .Case([](math::ExpOp) { return rewriteExp; })
      .Case([](math::Exp2Op) { return rewriteExp2; })
      .Case<math::LogOp, math::Log2Op>([&](auto) { return isAmd ? rewriteNamesake<true> : rewriteNamesake<>; })
      .Case([](math::RsqrtOp) { return rewriteRsqrt; })
      .Case([&](math::SqrtOp) { return isAmd ? rewritePreciseSqrt : rewriteSqrt; })
      .Case([](ApproxDivFOp) { return rewriteApproxDivision; })
      .Case([](PreciseDivFOp) { return rewritePreciseDivision; })
      .Case([](PreciseSqrtOp) { return rewritePreciseSqrt; })
      .Default(Rewrite());
}

// --- formats without instructions -------------------------------------------------------------------------------------

/// Arithmetic that the target has in no instruction for this format.
bool needsF32(Operation* op, const NumericsTarget& target) {
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp>(op)) return false;
  Type element = elementTypeOf(op->getResult(0).getType());
  return isF8(element) || (element.isBF16() && !featuresOf(target.capability).bf16Arithmetic);
}

/// A conversion that would round to f32 on its way to bf16.
bool roundsTwice(Operation* op, const NumericsTarget& target) {
  return isa<arith::SIToFPOp, arith::UIToFPOp>(op) && !featuresOf(target.capability).bf16FromIntegers &&
         elementTypeOf(op->getResult(0).getType()).isBF16() &&
         elementTypeOf(op->getOperand(0).getType()).getIntOrFloatBitWidth() >= 32;
}

/// x, of 64 bits, or where f64 cannot hold it the next multiple of 2^11 (unsigned: 2^12) below, plus half of that if bits
/// were lost. It is rounded to bf16 as x is: no number halfway between two of bf16 lies strictly between them.
Value withStickyBit(Site& s, bool isSigned) {
  const unsigned lostBits = isSigned ? 11 : 12;
  Type type = s.x().getType();
  auto number = [&](uint64_t value) { return s.integer(type, APInt(64, value)); };
  Value low = s.make<arith::AndIOp>(s.x(), number((uint64_t(1) << lostBits) - 1));
  Value isLossy = s.compare(arith::CmpIPredicate::ne, low, number(0));
  Value sticky = s.make<arith::SelectOp>(isLossy, number(uint64_t(1) << (lostBits - 1)), number(0));
  Value rounded = s.make<arith::OrIOp>(s.make<arith::XOrIOp>(s.x(), low), sticky);
  Value distance = isSigned ? s.make<arith::AddIOp>(s.x(), number(uint64_t(1) << 53)) : s.x();
  Value isSmall = s.compare(arith::CmpIPredicate::ult, distance, number(uint64_t(1) << (isSigned ? 54 : 53)));
  return s.make<arith::SelectOp>(isSmall, s.x(), rounded);
}

void convertThroughF64(Site& s) {
  const bool isSigned = isa<arith::SIToFPOp>(s.op);
  Value x = elementTypeOf(s.x().getType()).isInteger(64) ? withStickyBit(s, isSigned) : s.x();
  Type f64 = withShapeOf(s.type(), s.getF64Type());
  Value exact = isSigned ? s.make<arith::SIToFPOp>(f64, x) : s.make<arith::UIToFPOp>(f64, x);
  s.replaceBy(s.make<arith::TruncFOp>(s.type(), exact));
}

// --- what may stay ----------------------------------------------------------------------------------------------------

/// Operations of arith and math on floats that are exact or round once, to nearest even.
using OneMeaning =
    OpList<arith::AddFOp, arith::BitcastOp, arith::CmpFOp, arith::ConstantOp, arith::ExtFOp, arith::FPToSIOp,
           arith::FPToUIOp, arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp, arith::MinNumFOp, arith::MulFOp,
           arith::NegFOp, arith::SelectOp, arith::SIToFPOp, arith::SubFOp, arith::TruncFOp, arith::UIToFPOp,
           math::AbsFOp, math::CeilOp, math::FloorOp, math::FmaOp>;

bool touchesFloats(Operation* op) {
  auto isFloat = [](Type type) { return isa<FloatType>(elementTypeOf(type)); };
  return llvm::any_of(op->getOperandTypes(), isFloat) || llvm::any_of(op->getResultTypes(), isFloat);
}

} // namespace

void rewriteFunction(Operation* op, const NumericsTarget& target) {
  const Rewrite rewrite = rewriteOf(op, target);
  if (!rewrite) return;
  if (isNarrow(elementTypeOf(op->getResult(0).getType()))) op = inF32(op, target);
  Site site(op, target);
  rewrite(site);
}

void widenArithmetic(Operation* op, const NumericsTarget& target) {
  if (needsF32(op, target)) {
    inF32(op, target);
  } else if (roundsTwice(op, target)) {
    Site site(op, target);
    convertThroughF64(site);
  }
}

const char* choiceOf(Operation* op, const NumericsTarget& target) {
  if (rewriteOf(op, target)) return "leaves its rounding to the target";
  const StringRef dialect = op->getName().getDialectNamespace();
  if ((dialect == "arith" || dialect == "math") && touchesFloats(op) && !isAnyOf(op, OneMeaning{}))
    return "is no operation of the language, and its rounding is the target's choice";
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    if (fast.getFastMathFlagsAttr() && fast.getFastMathFlagsAttr().getValue() != arith::FastMathFlags::none)
      return "has fast-math flags, which allow the target several results";
  if (needsF32(op, target)) return "has no instruction on the target, which would choose how to round in between";
  if (roundsTwice(op, target)) return "may be rounded twice on the target";
  return nullptr;
}

} // namespace tiletwin::tt
