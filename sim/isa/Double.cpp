// sim/isa/Double.cpp -- f64: which operations and modifiers there are.
// Not here:  what they compute (numerics/Double.h), operands and words (Float.cpp).
#include "sim/numerics/Double.h"
#include "sim/isa/Float.h"
#include "sim/isa/Forms.h"

namespace tiletwin::sim {
namespace {

template <auto kOp, int kSources> Execute chooseRounded(Round round) {
  return forRound(round, [](auto r) { return runAlike<kBound<kOp, decltype(r){}>, double, kSources>; });
}

Execute chooseFma(const FloatWords& words) {
  if (!words.negates()) return chooseRounded<binary64::kFma, 3>(words.round);
  return forNegations(words, [](auto product, auto addend) {
    constexpr auto kFma = kBound<binary64::kFma, kNearest>;
    return runAlike<kNegatedFma<kFma, decltype(product)::value, decltype(addend)::value>, double, 3>;
  });
}

} // namespace

Execute chooseDouble(FloatOperation operation, const FloatWords& words) {
  using Op = FloatOperation;
  if (words.ftz || words.sat || words.relu || words.oob || words.nan || words.xorsign) return nullptr;
  switch (operation) {
  case Op::Add: return chooseRounded<binary64::kAdd, 2>(words.round);
  case Op::Sub: return chooseRounded<binary64::kSub, 2>(words.round);
  case Op::Mul: return chooseRounded<binary64::kMul, 2>(words.round);
  case Op::Fma: return chooseFma(words);
  case Op::Div: return chooseRounded<binary64::kDiv, 2>(words.round);
  case Op::Rcp: return chooseRounded<binary64::kRcp, 1>(words.round);
  case Op::Sqrt: return chooseRounded<binary64::kSqrt, 1>(words.round);
  default: break;
  }
  if (words.isRounded) return nullptr;
  switch (operation) {
  case Op::Neg: return runAlike<binary64::kNeg, double, 1>;
  case Op::Abs: return runAlike<binary64::kAbs, double, 1>;
  case Op::Min: return runAlike<binary64::kExtremum<false>, double, 2>;
  case Op::Max: return runAlike<binary64::kExtremum<true>, double, 2>;
  default: return nullptr;
  }
}

} // namespace tiletwin::sim
