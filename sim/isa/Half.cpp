// sim/isa/Half.cpp -- f16, f16x2, bf16 and bf16x2: which operations and modifiers there are.
// Not here:  what they compute (numerics/Half.h), operands and words (Float.cpp).
// Source:    PTX ISA, 9.7.4: .ftz and .sat are f16's alone; .relu and .oob are fma's.
#include "sim/numerics/Half.h"
#include "sim/isa/Float.h"
#include "sim/isa/Forms.h"

namespace tiletwin::sim {
namespace {

using half::BF16;
using half::Clamp;
using half::F16;
using ptx::Type;

/// An operation on single codes, or on both halves of 32 bits.
template <auto kShape, int kSources> Execute chooseWidth(bool isPacked) {
  return isPacked ? runAlike<half::kPacked<kShape>, uint32_t, kSources> : runAlike<kShape, uint16_t, kSources>;
}

/// .ftz is f16's alone.
template <class F, auto kOp, int operands, Clamp C = Clamp::None>
Execute chooseFlush(const FloatWords& w, bool isPacked) {
  if constexpr (std::is_same_v<F, F16>)
    if (w.ftz) return chooseWidth<half::kShaped<F, kOp, true, C>, operands>(isPacked);
  return w.ftz ? nullptr : chooseWidth<half::kShaped<F, kOp, false, C>, operands>(isPacked);
}

template <class F, auto kOp> Execute chooseArithmetic(const FloatWords& w, bool isPacked) {
  if (w.relu || w.oob) return nullptr;
  if constexpr (std::is_same_v<F, F16>)
    if (w.sat) return chooseFlush<F, kOp, 2, Clamp::Sat>(w, isPacked);
  return w.sat ? nullptr : chooseFlush<F, kOp, 2>(w, isPacked);
}

template <bool kProduct, bool kAddend>
constexpr auto kNegatedHalfFma =
    []<class F>(F, float a, float b, float c) -> float { return kNegatedFma<F::fma, kProduct, kAddend>(a, b, c); };

/// .sat is f16's alone.
template <class F, auto kOp> Execute chooseSaturated(const FloatWords& w, bool isPacked) {
  if constexpr (std::is_same_v<F, F16>)
    if (w.sat) return chooseFlush<F, kOp, 3, Clamp::Sat>(w, isPacked);
  return w.sat ? nullptr : chooseFlush<F, kOp, 3>(w, isPacked);
}

template <class F> Execute chooseFma(const FloatWords& w, bool isPacked) {
  if (w.negates())
    return forNegations(w, [&](auto product, auto addend) -> Execute {
      return chooseSaturated<F, kNegatedHalfFma<decltype(product)::value, decltype(addend)::value>>(w, isPacked);
    });
  if (w.sat && (w.relu || w.oob)) return nullptr;
  if (w.oob) {
    if (w.ftz) return nullptr;
    return forFlag(w.relu, [&](auto relu) -> Execute {
      constexpr Clamp kClamp = decltype(relu)::value ? Clamp::Relu : Clamp::None;
      return chooseWidth<half::kOutOfBoundsZero<half::kShaped<F, half::kFma, false, kClamp>>, 3>(isPacked);
    });
  }
  if (w.relu) return chooseFlush<F, half::kFma, 3, Clamp::Relu>(w, isPacked);
  return chooseSaturated<F, half::kFma>(w, isPacked);
}

template <class F, bool Maximum> Execute chooseExtremum(const FloatWords& w, bool isPacked) {
  return forFlag(w.nan, [&](auto nan) -> Execute {
    return forFlag(w.xorsign, [&](auto sign) -> Execute {
      return chooseFlush<F, half::kExtremum<Maximum, decltype(nan)::value, decltype(sign)::value>, 2>(w, isPacked);
    });
  });
}

template <class F> Execute chooseFormat(FloatOperation operation, const FloatWords& w, bool isPacked) {
  using Op = FloatOperation;
  if (w.round != Round::NearestEven) return nullptr;
  const bool isExtremum = operation == Op::Min || operation == Op::Max;
  if ((w.nan || w.xorsign) && !isExtremum) return nullptr;
  switch (operation) {
  case Op::Add: return chooseArithmetic<F, half::kAdd>(w, isPacked);
  case Op::Sub: return chooseArithmetic<F, half::kSub>(w, isPacked);
  case Op::Mul: return chooseArithmetic<F, half::kMul>(w, isPacked);
  case Op::Fma: return chooseFma<F>(w, isPacked);
  default: break;
  }
  if (w.isRounded || w.sat || w.relu || w.oob) return nullptr;
  switch (operation) {
  case Op::Neg: return chooseFlush<F, half::kNeg, 1>(w, isPacked);
  case Op::Abs: return chooseFlush<F, half::kAbs, 1>(w, isPacked);
  case Op::Min: return chooseExtremum<F, false>(w, isPacked);
  case Op::Max: return chooseExtremum<F, true>(w, isPacked);
  default: return nullptr;
  }
}

} // namespace

Execute chooseHalf(FloatOperation operation, const FloatWords& words, Type type) {
  const bool isPacked = type == Type::F16x2 || type == Type::BF16x2;
  return type == Type::F16 || type == Type::F16x2 ? chooseFormat<F16>(operation, words, isPacked)
                                                  : chooseFormat<BF16>(operation, words, isPacked);
}

} // namespace tiletwin::sim
