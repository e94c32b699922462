// sim/isa/Double.cpp -- f64: which operations and modifiers there are.
// Not here:  what they compute (numerics/Double.h), operands and words (Float.cpp).
#include "sim/numerics/Double.h"
#include "sim/isa/Float.h"
#include "sim/isa/Forms.h"

namespace tiletwin::sim {
namespace {

template <template <Round> class Operation, int operands> Execute chooseRounded(Round round) {
  return forRound(round, [](auto r) -> Execute {
    using Op = Operation<decltype(r)::value>;
    if constexpr (operands == 1)
      return runUnary<Op, double, double>;
    else if constexpr (operands == 2)
      return runBinary<Op, double, double, double>;
    else
      return runTernary<Op, double, double, double, double>;
  });
}

template <bool Product, bool Addend> struct NegatedFma {
  static double apply(double a, double b, double c) {
    return binary64::Fma<Round::NearestEven>::apply(Product ? -a : a, b, Addend ? -c : c);
  }
};

Execute chooseFma(const FloatWords& words) {
  if (!words.negates()) return chooseRounded<binary64::Fma, 3>(words.round);
  return forNegations(words, [](auto product, auto addend) -> Execute {
    return runTernary<NegatedFma<decltype(product)::value, decltype(addend)::value>, double, double, double, double>;
  });
}

} // namespace

Execute chooseDouble(FloatOperation operation, const FloatWords& words) {
  using Op = FloatOperation;
  if (words.ftz || words.sat || words.relu || words.oob || words.nan || words.xorsign) return nullptr;
  switch (operation) {
  case Op::Add: return chooseRounded<binary64::Add, 2>(words.round);
  case Op::Sub: return chooseRounded<binary64::Sub, 2>(words.round);
  case Op::Mul: return chooseRounded<binary64::Mul, 2>(words.round);
  case Op::Fma: return chooseFma(words);
  case Op::Div: return chooseRounded<binary64::Div, 2>(words.round);
  case Op::Rcp: return chooseRounded<binary64::Rcp, 1>(words.round);
  case Op::Sqrt: return chooseRounded<binary64::Sqrt, 1>(words.round);
  default: break;
  }
  if (words.isRounded) return nullptr;
  switch (operation) {
  case Op::Neg: return runUnary<binary64::Neg, double, double>;
  case Op::Abs: return runUnary<binary64::Abs, double, double>;
  case Op::Min: return runBinary<binary64::Extremum<false>, double, double, double>;
  case Op::Max: return runBinary<binary64::Extremum<true>, double, double, double>;
  default: return nullptr;
  }
}

} // namespace tiletwin::sim
