// diff/bounds/LibraryErrors.cpp -- what functions of libdevice may be off themselves, and where nothing is known of them.
// Not here:  what their arguments may be off (FunctionOps.cpp).
// Sources:   the tables of maximum errors in NVIDIA's CUDA Math API (functions, intrinsics).
#include "diff/bounds/Builder.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tiletwin::diff {
namespace {

/// What an implementation of a function may be off beside kFunctionUnits: `units` of the last place of the result, `steep` more
/// for each 1 of |x|; an absolute error, `growing` more for each 1 of |x|, of arguments from `from` on.
struct Accuracy {
  StringLiteral symbol;
  double units, steep, absolute, growing, from;
};
/// Functions that CUDA's tables give more than kFunctionUnits, or an absolute error, sorted.
constexpr Accuracy kAccuracies[] = {
    {"cyl_bessel_i0", 8, 0, 0, 0, 0},    {"cyl_bessel_i0f", 8, 0, 0, 0, 0},  {"cyl_bessel_i1", 8, 0, 0, 0, 0},
    {"cyl_bessel_i1f", 8, 0, 0, 0, 0},   {"erfcinv", 8, 0, 0, 0, 0},         {"erfcinvf", 8, 0, 0, 0, 0},
    {"erfcxf", 8, 0, 0, 0, 0},           {"erfinv", 8, 0, 0, 0, 0},          {"fast_cosf", 2, 0, 0x1p-20, 0x1p-22, 0},
    {"fast_exp10f", 6, 6, 0, 0, 0},      {"fast_expf", 6, 2.4, 0, 0, 0},     {"fast_log10f", 6, 0, 0x1p-22, 0, 0},
    {"fast_log2f", 6, 0, 0x1p-21, 0, 0}, {"fast_logf", 6, 0, 0x1p-21, 0, 0}, {"fast_sinf", 2, 0, 0x1p-20, 0x1p-22, 0},
    {"j0", 9, 0, 5e-12, 0, 8},           {"j0f", 11, 0, 2.2e-6, 0, 8},       {"j1", 9, 0, 5e-12, 0, 8},
    {"j1f", 11, 0, 2.2e-6, 0, 8},        {"normcdf", 8, 0, 0, 0, 0},         {"normcdff", 8, 0, 0, 0, 0},
    {"normcdfinv", 9, 0, 0, 0, 0},       {"normcdfinvf", 8, 0, 0, 0, 0},     {"powf", 11, 0, 0, 0, 0},
    {"tgamma", 12, 0, 0, 0, 0},          {"tgammaf", 13, 0, 0, 0, 0},        {"y0", 9, 0, 5e-12, 0, 8},
    {"y0f", 11, 0, 2.2e-6, 0, 8},        {"y1", 9, 0, 5e-12, 0, 8},          {"y1f", 11, 0, 2.2e-6, 0, 8},
};

const Accuracy* accuracyOf(StringRef symbol) {
  const Accuracy* row =
      llvm::lower_bound(kAccuracies, symbol, [](const Accuracy& a, StringRef n) { return a.symbol < n; });
  return row != std::end(kAccuracies) && row->symbol == symbol ? row : nullptr;
}

/// sin / cos: both are off by an absolute error e. |sin| <= 1 and |cos| = 1 / sqrt(1 + tan^2) >= 1 / (1 + |tan|) =: c, so that
/// the quotient is off by e (1 + |tan|) / (c - e). Where cos may be 0, nothing is known.
LibraryError fastTangent(Builder& b, Operation* op, OpResult r) {
  Type type = r.getType();
  Value off = b.add(b.mul(b.magnitude(x(op)), 0x1p-22), b.constant(type, 0x1p-20));
  Value slope = b.add(b.magnitude(r), b.constant(type, 1));
  Value share = b.mul(off, slope), rest = b.max(b.sub(b.constant(type, 1), share), b.zero(type));
  Value bound = b.add(b.rounding(r, kFunctionUnits), b.div(b.mul(share, slope), rest));
  Value reach = b.mul(b.add(off, b.of(x(op))), slope);
  return {bound, b.compare(Predicate::UGE, reach, b.constant(type, 1))};
}

/// Where a power of f32 with the logarithm `log`, which may be off by 16, is at the end of the range: one side may overflow on
/// its way, or at the end.
Value nearOverflow(Builder& b, OpResult r, Value log) {
  Type type = r.getType();
  return b.both(b.compare(Predicate::OGT, b.magnitude(r), b.constant(type, 0x1p125)),
                b.compare(Predicate::OLT, b.abs(log), b.constant(type, 150)));
}

/// 2^(y log2 x): what the logarithm is off by, and the rounding of the product, are the exponent's. The power is not that of a
/// function: of numbers below 0, and of products like 0 * infinity, it is NaN, and it has no sign.
LibraryError fastPower(Builder& b, Operation* op, OpResult r) {
  Type type = r.getType();
  Value zero = b.zero(type), size = b.magnitude(y(op));
  Value log = math::Log2Op::create(b, x(op)), exponent = b.mul(y(op), log);
  Value off = b.mul(b.mul(size, b.add(b.abs(log), b.constant(type, 2))), 0x1p-22);
  Value least = b.sub(x(op), b.of(x(op))), leastY = b.sub(y(op), b.of(y(op)));
  Value unknown = b.either(b.compare(Predicate::UNO, exponent, exponent), b.compare(Predicate::ULT, least, zero));
  unknown = b.either(unknown, b.both(b.compare(Predicate::ULE, least, zero), b.compare(Predicate::ULE, leastY, zero)));
  // An infinite exponent of a number near 1, whose logarithm may be 0.
  unknown = b.either(
      unknown, b.both(b.invert(b.isFinite(y(op))), b.compare(Predicate::OLT, b.abs(log), b.constant(type, 0x1p-20))));
  // Beyond twice its error the exponent leads to zero or infinity.
  Value reach = b.add(b.mul(off, 2), b.constant(type, 256));
  unknown = b.either(unknown, b.both(b.compare(Predicate::OGT, off, b.constant(type, 16)),
                                     b.compare(Predicate::OLT, b.abs(exponent), reach)));
  unknown = b.either(unknown, nearOverflow(b, r, exponent));
  // 2^t - 1 loses digits where t is small; there it is at most t.
  Value some = arith::MinNumFOp::create(b, off, b.constant(type, 16));
  Value grown = b.sub(math::Exp2Op::create(b, some), b.constant(type, 1));
  Value growth = b.select(b.compare(Predicate::OLT, some, b.constant(type, 0x1p-8)), some, grown);
  return {b.add(b.rounding(r, kFunctionUnits), b.mul(b.magnitude(r), growth)), unknown};
}

/// x^n by products of products: (1 + u)^n - 1 <= 2 n u, while n u is at most 1.
LibraryError wholePower(Builder& b, Operation* op, OpResult r) {
  Type type = r.getType();
  const bool isF64 = tt::elementTypeOf(type).isF64();
  Value off = b.mul(b.magnitude(y(op)), isF64 ? 0x1p-52 : 0x1p-23);
  Value unknown = b.compare(Predicate::OGT, off, b.constant(type, 2));
  if (!isF64) {
    Value log = math::Log2Op::create(b, b.magnitude(x(op)));
    unknown = b.either(unknown, nearOverflow(b, r, b.mul(b.number(y(op)), log)));
  }
  return {b.add(b.rounding(r, kFunctionUnits), b.mul(b.magnitude(r), off)), unknown};
}

/// Divisors beyond 2^126 give 0, and NaN for an infinite dividend.
LibraryError fastQuotient(Builder& b, Operation* op, OpResult r) {
  return {quotientBy(b, op, r, kFunctionUnits), hugeDivisorOfInfinity(b, op)};
}

/// The upper half of a float64 whose mantissa has 20 bits, that are cut off on one side and looked up on the other.
LibraryError reciprocalHigh(Builder& b, Operation*, OpResult r) {
  return {b.add(b.rounding(r), b.mul(b.magnitude(r), 0x1p-19)), {}};
}

/// Between its poles a logarithm of |gamma| is a difference of numbers like |x| log |x|.
LibraryError logGamma(Builder& b, Operation* op, OpResult r) {
  Type type = r.getType();
  const double unit = tt::elementTypeOf(type).isF64() ? 0x1p-52 : 0x1p-23;
  Value isBetween = b.compare(Predicate::OLT, b.number(x(op)), b.constant(type, -2));
  Value size = b.magnitude(x(op));
  Value log = math::Log2Op::create(b, b.max(size, b.constant(type, 1)));
  Value terms = b.mul(b.mul(size, b.add(log, b.constant(type, 1))), 4 * unit);
  return {b.add(b.rounding(r, 8), b.select(isBetween, terms, b.zero(type))), {}};
}

/// Functions of an order n, the first operand: by recurrence over it.
LibraryError ofOrder(Builder& b, Operation* op, OpResult r) {
  Type type = r.getType();
  const bool isF64 = tt::elementTypeOf(type).isF64();
  Value order = b.add(b.mul(b.magnitude(x(op)), 2.5), b.constant(type, 11));
  Value unit = b.rounding(r);
  return {b.add(b.mul(unit, order), b.constant(type, isF64 ? 5e-12 : 2.2e-6)), {}};
}

} // namespace

LibraryError errorOfLibrary(Builder& b, Operation* op, OpResult r) {
  StringRef symbol = cast<tt::ExternElementwiseOp>(op).getSymbol();
  symbol.consume_front("__nv_");
  using Own = LibraryError (*)(Builder&, Operation*, OpResult);
  if (Own own = llvm::StringSwitch<Own>(symbol)
                    .Case("fast_fdividef", fastQuotient)
                    .Case("fast_powf", fastPower)
                    .Case("fast_tanf", fastTangent)
                    .Cases({"jn", "jnf", "yn", "ynf"}, ofOrder)
                    .Cases({"lgamma", "lgammaf"}, logGamma)
                    .Cases({"powi", "powif"}, wholePower)
                    .Case("rcp64h", reciprocalHigh)
                    .Default(nullptr))
    return own(b, op, r);
  const Accuracy* row = accuracyOf(symbol);
  if (!row) return {b.rounding(r, kFunctionUnits), {}};
  Type type = r.getType();
  Value size = b.magnitude(x(op)), bound = b.rounding(r, row->units);
  if (row->steep > 0) {
    // Beyond 1024 the result is 0 or infinite, and 0 * infinity would be no bound.
    Value least = arith::MinNumFOp::create(b, size, b.constant(type, 1024));
    bound = b.add(bound, b.mul(b.rounding(r), b.mul(least, row->steep)));
  }
  if (row->absolute <= 0) return {bound, {}};
  Value absolute = b.constant(type, row->absolute);
  if (row->growing > 0) absolute = b.add(absolute, b.mul(size, row->growing));
  if (row->from > 0)
    absolute = b.select(b.compare(Predicate::OGE, size, b.constant(type, row->from)), absolute, b.zero(type));
  return {b.add(bound, absolute), {}};
}

static Value isHuge(Builder& b, Value divisor) {
  Value most = b.add(b.magnitude(divisor), b.of(divisor));
  return b.compare(Predicate::OGT, most, b.constant(divisor.getType(), 0x1p126));
}
Value quotientBy(Builder& b, Operation* op, OpResult r, double units) {
  return b.select(isHuge(b, y(op)), b.magnitude(r), b.rounding(r, units));
}
Value hugeDivisorOfInfinity(Builder& b, Operation* op) { return b.both(isHuge(b, y(op)), b.invert(b.isFinite(x(op)))); }

} // namespace tiletwin::diff
